/*
 * labels.c
 *		Label values to class numbers, without an output function per row.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "learner/training.h"

/* Up to here a scan is faster than a hash. */
#define SCAN_LIMIT 8

LabelKind
label_kind(Oid base_type)
{
	switch (base_type)
	{
		case BOOLOID:
			return LABEL_BOOL;
		case INT2OID:
			return LABEL_INT2;
		case INT4OID:
			return LABEL_INT4;
		case INT8OID:
			return LABEL_INT8;
		case TEXTOID:
		case VARCHAROID:
			return LABEL_TEXT;
		case BPCHAROID:
			return LABEL_BPCHAR;
		case NAMEOID:
			return LABEL_NAME;
	}
	if (OidIsValid(base_type) && get_typtype(base_type) == TYPTYPE_ENUM)
		return LABEL_ENUM;
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("labels cannot be of type %s",
				   OidIsValid(base_type) ? format_type_be(base_type) : "unknown"),
			errhint("Use a label of type boolean, integer, text or an enum, or cast it to text."));
}

/* ---------- class names ---------- */

static inline bool
name_equals(const char *name, const char *bytes, int length)
{
	return strncmp(name, bytes, length) == 0 && name[length] == '\0';
}

static int
table_slot(const ClassNames *classes, const char *name, int length)
{
	uint32 mask = classes->table_size - 1;
	uint32 slot = hash_bytes((const unsigned char *) name, length) & mask;

	while (classes->table[slot] != 0 &&
		   !name_equals(classes->names[classes->table[slot] - 1], name, length))
		slot = (slot + 1) & mask;
	return slot;
}

int
class_names_find(const ClassNames *classes, const char *name, int length)
{
	if (classes->table_size > 0)
		return classes->table[table_slot(classes, name, length)] - 1;
	for (int i = 0; i < classes->n; i++)
		if (name_equals(classes->names[i], name, length))
			return i;
	return -1;
}

/* Adds a name that is not there yet. */
int
class_names_add(ClassNames *classes, const char *name, int length)
{
	if (classes->n == classes->capacity)
	{
		classes->capacity = Max(4, 2 * classes->capacity);
		classes->names = classes->names
							 ? repalloc(classes->names, classes->capacity * sizeof(char *))
							 : palloc(classes->capacity * sizeof(char *));
	}
	classes->names[classes->n++] = pnstrdup(name, length);

	if (classes->n > SCAN_LIMIT && classes->n * 2 > classes->table_size)
	{
		if (classes->table)
			pfree(classes->table);
		classes->table_size = Max(4 * SCAN_LIMIT, 2 * classes->table_size);
		classes->table = palloc0(classes->table_size * sizeof(int32));
		for (int i = 0; i < classes->n; i++)
			classes->table[table_slot(classes, classes->names[i], strlen(classes->names[i]))] =
				i + 1;
	}
	else if (classes->table)
		classes->table[table_slot(classes, name, length)] = classes->n;
	return classes->n - 1;
}

/* ---------- labels ---------- */

/* Finds the class of this name; adds it if no classes were declared. */
static int
resolve_name(TrainingState *state, const char *name, int length)
{
	if (state->options.nclasses > 0)
		return class_names_find(&state->classes, name, length);
	return training_ensure_class(state, name, length);
}

static int
resolve_enum(TrainingState *state, Oid value)
{
	HeapTuple tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));
	char	  label[NAMEDATALEN];

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				errmsg("invalid internal value for enum: %u", value));
	strlcpy(label, NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel), NAMEDATALEN);
	ReleaseSysCache(tuple);
	return resolve_name(state, label, strlen(label));
}

static int
resolve_by_value(TrainingState *state, int64 key)
{
	LabelCacheEntry *entry = &state->cache[(uint64) key % LABEL_CACHE_SIZE];

	if (!entry->used || entry->key != key)
	{
		int class_index;

		if (state->kind == LABEL_BOOL)
			class_index = key ? resolve_name(state, "true", 4) : resolve_name(state, "false", 5);
		else if (state->kind == LABEL_ENUM)
			class_index = resolve_enum(state, (Oid) key);
		else
		{
			char digits[MAXINT8LEN + 1];

			pg_lltoa(key, digits);
			class_index = resolve_name(state, digits, strlen(digits));
		}
		entry->key = key;
		entry->class_index = class_index;
		entry->used = true;
	}
	return entry->class_index;
}

static int
resolve_text(TrainingState *state, Datum label)
{
	text	   *value = DatumGetTextPP(label);
	const char *bytes = VARDATA_ANY(value);
	int			length = VARSIZE_ANY_EXHDR(value);
	int			class_index;

	if (state->kind == LABEL_BPCHAR)
		while (length > 0 && bytes[length - 1] == ' ')
			length--;
	class_index = resolve_name(state, bytes, length);
	if ((Pointer) value != DatumGetPointer(label))
		pfree(value);
	return class_index;
}

int
training_resolve_label(TrainingState *state, Datum label)
{
	switch (state->kind)
	{
		case LABEL_BOOL:
			return resolve_by_value(state, DatumGetBool(label) ? 1 : 0);
		case LABEL_INT2:
			return resolve_by_value(state, DatumGetInt16(label));
		case LABEL_INT4:
			return resolve_by_value(state, DatumGetInt32(label));
		case LABEL_INT8:
			return resolve_by_value(state, DatumGetInt64(label));
		case LABEL_ENUM:
			return resolve_by_value(state, DatumGetObjectId(label));
		case LABEL_TEXT:
		case LABEL_BPCHAR:
			return resolve_text(state, label);
		case LABEL_NAME:
			return resolve_name(state, NameStr(*DatumGetName(label)),
								strlen(NameStr(*DatumGetName(label))));
	}
	pg_unreachable();
}
