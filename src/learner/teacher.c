/*
 * teacher.c
 *		Which teacher sees a unit: h(salt, unit) mod k.
 *
 * The hash is our own, because it must never change: a unit that moved to
 * another teacher between two versions of the server would be in two.  It is
 * SipHash-2-4 (Aumasson and Bernstein 2012) over canonical bytes, so that
 * values that are equal in the unit column are equal here.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "learner/learner.h"

/* Stands for the length of a null field of a record; no field is that long. */
#define NULL_FIELD_LENGTH UINT64CONST(0xFFFFFFFFFFFFFFFF)

struct UnitHasher
{
	Oid			   type;	 /* base type */
	int			   ncolumns; /* of a unit that comes in columns */
	Oid			  *columns;	 /* their base types */
	StringInfoData bytes;	 /* kept between calls */
};

/* ---------- SipHash-2-4 ---------- */

static inline uint64
rotate_left(uint64 x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void
sip_round(uint64 *v)
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate_left(v[1], 13) ^ v[0];
	v[3] = rotate_left(v[3], 16) ^ v[2];
	v[0] = rotate_left(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate_left(v[1], 17) ^ v[2];
	v[3] = rotate_left(v[3], 21) ^ v[0];
	v[2] = rotate_left(v[2], 32);
}

/* Up to eight bytes, little endian, as the paper has it. */
static inline uint64
read_word(const unsigned char *p, int n)
{
	uint64 word = 0;

	memcpy(&word, p, n);
#ifdef WORDS_BIGENDIAN
	word = pg_bswap64(word);
#endif
	return word;
}

static inline void
sip_begin(uint64 *v, const unsigned char *key)
{
	uint64 k0 = read_word(key, 8);
	uint64 k1 = read_word(key + 8, 8);

	v[0] = k0 ^ UINT64CONST(0x736f6d6570736575);
	v[1] = k1 ^ UINT64CONST(0x646f72616e646f6d);
	v[2] = k0 ^ UINT64CONST(0x6c7967656e657261);
	v[3] = k1 ^ UINT64CONST(0x7465646279746573);
}

static inline void
sip_add(uint64 *v, uint64 word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

static inline uint64
sip_end(uint64 *v)
{
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64
siphash24(const unsigned char *key, const unsigned char *data, Size size)
{
	uint64 v[4];
	Size   whole = size / 8 * 8;

	sip_begin(v, key);
	for (Size i = 0; i < whole; i += 8)
		sip_add(v, read_word(data + i, 8));
	/* the last word carries the length in its top byte */
	sip_add(v, read_word(data + whole, size - whole) | (uint64) size << 56);
	return sip_end(v);
}

/* Of the eight bytes that write_int64() writes: a scan does this for each row. */
static inline uint64
siphash24_of_int64(const unsigned char *key, int64 value)
{
	uint64 v[4];

	sip_begin(v, key);
	sip_add(v, pg_bswap64((uint64) value));
	sip_add(v, UINT64CONST(8) << 56);
	return sip_end(v);
}

/* ---------- canonical bytes ---------- */

static bool
collation_is_deterministic(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

bool
teacher_unit_type_ok(Oid type, Oid collation)
{
	Oid base_type = getBaseType(type);

	switch (base_type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case UUIDOID:
		case BYTEAOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case NUMERICOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
			/* equal strings could have different bytes */
			return collation_is_deterministic(collation);
	}
	return get_typtype(base_type) == TYPTYPE_ENUM;
}

pg_noreturn static void
refuse_type(Oid type, Oid collation)
{
	if (!collation_is_deterministic(collation))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("a unit cannot have a nondeterministic collation"),
				errhint("Use a column whose equal values are equal byte by byte."));
	ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("a unit cannot be of type %s", format_type_be(type)),
			errhint("Use an identifier of type integer, text, uuid, bytea, numeric, date, "
					"timestamp or an enum, or a row of those."));
}

static void
write_int64(char *p, int64 value)
{
	for (int i = 0; i < 8; i++)
		p[i] = (char) ((uint64) value >> (56 - 8 * i));
}

static void
append_int64(StringInfo bytes, int64 value)
{
	char buffer[8];

	write_int64(buffer, value);
	appendBinaryStringInfo(bytes, buffer, 8);
}

static void
append_varlena(StringInfo bytes, Datum value, bool trim)
{
	struct varlena *plain = PG_DETOAST_DATUM_PACKED(value);
	int				length = VARSIZE_ANY_EXHDR(plain);

	if (trim)
		while (length > 0 && VARDATA_ANY(plain)[length - 1] == ' ')
			length--;
	appendBinaryStringInfo(bytes, VARDATA_ANY(plain), length);
	if ((Pointer) plain != DatumGetPointer(value))
		pfree(plain);
}

static void
append_numeric(StringInfo bytes, Datum value)
{
	char *digits = numeric_normalize(DatumGetNumeric(value));

	appendStringInfoString(bytes, digits);
	pfree(digits);
}

/* Its label: the number differs from one database to the next. */
static void
append_enum(StringInfo bytes, Oid value)
{
	HeapTuple tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				errmsg("invalid internal value for enum: %u", value));
	appendStringInfoString(bytes, NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel));
	ReleaseSysCache(tuple);
}

static void
append_scalar(StringInfo bytes, Oid base_type, Datum value)
{
	switch (base_type)
	{
		case INT2OID:
			append_int64(bytes, DatumGetInt16(value));
			break;
		case INT4OID:
			append_int64(bytes, DatumGetInt32(value));
			break;
		case INT8OID:
			append_int64(bytes, DatumGetInt64(value));
			break;
		case DATEOID:
			append_int64(bytes, DatumGetDateADT(value));
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			append_int64(bytes, DatumGetTimestamp(value));
			break;
		case UUIDOID:
			appendBinaryStringInfo(bytes, (char *) DatumGetUUIDP(value)->data, UUID_LEN);
			break;
		case TEXTOID:
		case VARCHAROID:
		case BYTEAOID:
			append_varlena(bytes, value, false);
			break;
		case BPCHAROID:
			append_varlena(bytes, value, true);
			break;
		case NAMEOID:
			appendStringInfoString(bytes, NameStr(*DatumGetName(value)));
			break;
		case NUMERICOID:
			append_numeric(bytes, value);
			break;
		default:
			append_enum(bytes, DatumGetObjectId(value));
			break;
	}
}

/* A field of a composite key, after its length. */
static void
append_field(StringInfo bytes, Oid base_type, Datum value, bool isnull)
{
	int start = bytes->len;

	append_int64(bytes, NULL_FIELD_LENGTH);
	if (isnull)
		return;
	append_scalar(bytes, base_type, value);
	write_int64(bytes->data + start, bytes->len - start - 8);
}

/* A composite key: fields in order. */
static void
append_record(StringInfo bytes, Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	TupleDesc		descriptor =
		lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple;
	Datum		 *values = palloc(descriptor->natts * sizeof(Datum));
	bool		 *nulls = palloc(descriptor->natts * sizeof(bool));

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, descriptor, values, nulls);
	for (int i = 0; i < descriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);

		if (attribute->attisdropped)
			continue;
		if (!teacher_unit_type_ok(attribute->atttypid, attribute->attcollation))
			refuse_type(attribute->atttypid, attribute->attcollation);
		append_field(bytes, getBaseType(attribute->atttypid), values[i], nulls[i]);
	}
	pfree(values);
	pfree(nulls);
	ReleaseTupleDesc(descriptor);
}

UnitHasher *
unit_hasher_create(Oid type, Oid collation)
{
	UnitHasher *hasher = palloc0_object(UnitHasher);

	if (!OidIsValid(type))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("could not determine the type of the unit"));
	hasher->type = getBaseType(type);
	if (type_is_rowtype(hasher->type))
		hasher->type = RECORDOID;
	else if (!teacher_unit_type_ok(type, collation))
		refuse_type(type, collation);
	initStringInfo(&hasher->bytes);
	return hasher;
}

uint64
unit_hash(UnitHasher *hasher, Datum unit, const unsigned char *salt)
{
	if (hasher->type == INT4OID)
		return siphash24_of_int64(salt, DatumGetInt32(unit));
	if (hasher->type == INT8OID)
		return siphash24_of_int64(salt, DatumGetInt64(unit));
	resetStringInfo(&hasher->bytes);
	if (hasher->type == RECORDOID)
		append_record(&hasher->bytes, unit);
	else
		append_scalar(&hasher->bytes, hasher->type, unit);
	return siphash24(salt, (unsigned char *) hasher->bytes.data, hasher->bytes.len);
}

UnitHasher *
unit_hasher_of_columns(int n, const Oid *types, Oid collation)
{
	UnitHasher *hasher = palloc0_object(UnitHasher);

	hasher->ncolumns = n;
	hasher->columns = palloc_array(Oid, n);
	for (int i = 0; i < n; i++)
	{
		if (!OidIsValid(types[i]) || !teacher_unit_type_ok(types[i], collation))
			refuse_type(types[i], collation);
		hasher->columns[i] = getBaseType(types[i]);
	}
	initStringInfo(&hasher->bytes);
	return hasher;
}

const unsigned char *
unit_bytes_of_columns(UnitHasher *hasher, const Datum *values, Size *size)
{
	resetStringInfo(&hasher->bytes);
	if (hasher->ncolumns == 1)
		append_scalar(&hasher->bytes, hasher->columns[0], values[0]);
	else
		for (int i = 0; i < hasher->ncolumns; i++)
			append_field(&hasher->bytes, hasher->columns[i], values[i], false);
	*size = hasher->bytes.len;
	return (unsigned char *) hasher->bytes.data;
}

uint64
unit_hash_columns(UnitHasher *hasher, const Datum *values, const unsigned char *salt)
{
	Size				 size;
	const unsigned char *bytes = unit_bytes_of_columns(hasher, values, &size);

	return siphash24(salt, bytes, size);
}

int
unit_teacher(UnitHasher *hasher, Datum unit, const unsigned char *salt, int teachers)
{
	return unit_hash(hasher, unit, salt) % teachers;
}

void
holdout_salt(const unsigned char *salt, unsigned char *derived)
{
	static const char *const words[] = {"held-out units, 1", "held-out units, 2"};

	for (int i = 0; i < lengthof(words); i++)
	{
		uint64 word = siphash24(salt, (const unsigned char *) words[i], strlen(words[i]));

		for (int byte = 0; byte < 8; byte++)
			derived[8 * i + byte] = (unsigned char) (word >> (8 * byte));
	}
}

uint64
row_choice_seed(const unsigned char *salt)
{
	static const char word[] = "rows of a unit";

	return siphash24(salt, (const unsigned char *) word, strlen(word));
}
