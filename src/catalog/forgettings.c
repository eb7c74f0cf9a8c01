/*
 * forgettings.c
 *		Certificates of units that were forgotten, and what is still to be forgotten.
 *
 * Nothing here says who it was: of a unit there are keyed digests, and the number of the
 * chunk that it shared with many.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "catalog/forgettings.h"
#include "draw/sampler.h"
#include "mechanism/mechanism.h"
#include "server/query.h"
#include "server/session.h"

StaticAssertDecl(DIGEST_BYTES % sizeof(uint64) == 0, "a key is made of words");
StaticAssertDecl(CERTIFICATE_NONCE_BYTES % sizeof(uint64) == 0, "a nonce is made of words");

static void
draw_bytes(uint8 *bytes, Size size)
{
	for (Size i = 0; i < size; i += sizeof(uint64))
	{
		uint64 word = sample_uint64();

		memcpy(bytes + i, &word, sizeof(word));
	}
}

static bytea *
bytes_to_bytea(const uint8 *bytes, Size size)
{
	bytea *result = palloc(VARHDRSZ + size);

	SET_VARSIZE(result, VARHDRSZ + size);
	memcpy(VARDATA(result), bytes, size);
	return result;
}

static void
copy_column(int column, uint8 *bytes, Size size)
{
	bytea *value = row_varlena(0, column);

	if (value == NULL || VARSIZE_ANY_EXHDR(value) != size)
		ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED), errmsg("stored certificates are damaged"));
	memcpy(bytes, VARDATA_ANY(value), size);
}

/* The relation is locked, so that nobody else makes its key. */
static void
find_or_make_key(Certificate *certificate)
{
	query_read("SELECT k.key FROM privpred.certificate_key k WHERE k.relation_id = $1",
			   ARG_INT8(certificate->relation_id));
	if (SPI_processed > 0)
	{
		copy_column(1, certificate->key, DIGEST_BYTES);
		return;
	}
	draw_bytes(certificate->key, DIGEST_BYTES);
	query_write("INSERT INTO privpred.certificate_key (relation_id, key) VALUES ($1, $2)",
				ARG_INT8(certificate->relation_id),
				ARG_POINTER(BYTEAOID, bytes_to_bytea(certificate->key, DIGEST_BYTES)));
}

/* An enum is its label, whatever becomes of the type. */
static void
remember_unit_types(Certificate *certificate, int nunits, const Oid *types, const int32 *typmods)
{
	certificate->nunits = nunits;
	certificate->unit_types = palloc_array(Oid, nunits);
	certificate->unit_typmods = palloc_array(int32, nunits);
	for (int i = 0; i < nunits; i++)
	{
		bool is_enum = get_typtype(types[i]) == TYPTYPE_ENUM;

		certificate->unit_types[i] = is_enum ? TEXTOID : types[i];
		certificate->unit_typmods[i] = is_enum ? -1 : typmods[i];
	}
}

Certificate *
certificate_begin(int64 relation_id, int nunits, const Oid *types, const int32 *typmods)
{
	Certificate	  *certificate = palloc0_object(Certificate);
	CatalogSession session;

	certificate->relation_id = relation_id;
	remember_unit_types(certificate, nunits, types, typmods);
	catalog_begin(&session);
	find_or_make_key(certificate);
	draw_bytes(certificate->nonce, CERTIFICATE_NONCE_BYTES);
	query_write("SELECT pg_catalog.nextval('privpred.certificate_certificate_id_seq')");
	certificate->certificate_id = row_int8(0, 1);
	CommandCounterIncrement();
	catalog_end(&session);
	return certificate;
}

static void
read_unit_types(Certificate *certificate, int types_column, int typmods_column)
{
	Datum *types;
	Datum *typmods;
	int	   count;

	deconstruct_array(row_varlena(0, types_column), OIDOID, sizeof(Oid), true, TYPALIGN_INT, &types,
					  NULL, &certificate->nunits);
	deconstruct_array(row_varlena(0, typmods_column), INT4OID, sizeof(int32), true, TYPALIGN_INT,
					  &typmods, NULL, &count);
	if (count != certificate->nunits)
		ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED), errmsg("stored certificates are damaged"));
	certificate->unit_types = palloc_array(Oid, count);
	certificate->unit_typmods = palloc_array(int32, count);
	for (int i = 0; i < count; i++)
	{
		certificate->unit_types[i] = DatumGetObjectId(types[i]);
		certificate->unit_typmods[i] = DatumGetInt32(typmods[i]);
	}
}

static ArrayType *
unit_types_array(const Certificate *certificate, bool typmods)
{
	Datum *elements = palloc_array(Datum, certificate->nunits);

	for (int i = 0; i < certificate->nunits; i++)
		elements[i] = typmods ? Int32GetDatum(certificate->unit_typmods[i])
							  : ObjectIdGetDatum(certificate->unit_types[i]);
	return construct_array(elements, certificate->nunits, typmods ? INT4OID : OIDOID, sizeof(int32),
						   true, TYPALIGN_INT);
}

Certificate *
certificate_get(int64 certificate_id)
{
	Certificate	  *certificate = NULL;
	CatalogSession session;

	catalog_begin(&session);
	/* As past relations have it: of what was dropped, the owner by number and by name. */
	query_read("SELECT c.relation_id, c.nonce, c.document, c.complete, k.key,"
			   " CASE WHEN r.relation IS NOT NULL THEN (SELECT t.relowner FROM pg_class t"
			   " WHERE t.oid = r.relation) ELSE (SELECT o.oid FROM pg_roles o"
			   " WHERE o.oid = r.dropped_owner AND o.rolname = r.dropped_owner_name) END,"
			   " c.unit_types, c.unit_typmods FROM privpred.certificate c"
			   " JOIN privpred.certificate_key k ON k.relation_id = c.relation_id"
			   " JOIN privpred.protected_relation r ON r.relation_id = c.relation_id"
			   " WHERE c.certificate_id = $1",
			   ARG_INT8(certificate_id));
	if (SPI_processed > 0)
	{
		session_keep(&session);
		certificate = palloc0_object(Certificate);
		certificate->certificate_id = certificate_id;
		certificate->relation_id = row_int8(0, 1);
		copy_column(2, certificate->nonce, CERTIFICATE_NONCE_BYTES);
		certificate->document = row_varlena(0, 3);
		certificate->complete = row_bool(0, 4);
		copy_column(5, certificate->key, DIGEST_BYTES);
		certificate->owner = row_isnull(0, 6) ? InvalidOid : row_oid(0, 6);
		read_unit_types(certificate, 7, 8);
	}
	catalog_end(&session);
	return certificate;
}

#define TEXT_DIGEST(document) \
	"pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to((" document \
	")::pg_catalog.text, 'UTF8')), 'hex')"

char *
certificate_write(const Certificate *certificate, Jsonb *document, bool complete)
{
	CatalogSession session;
	char		  *digest;

	catalog_begin(&session);
	query_write("INSERT INTO privpred.certificate AS c"
				" (certificate_id, relation_id, nonce, document, complete, unit_types,"
				" unit_typmods) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (certificate_id)"
				" DO UPDATE SET document = excluded.document, complete = excluded.complete"
				" RETURNING " TEXT_DIGEST("c.document"),
				ARG_INT8(certificate->certificate_id), ARG_INT8(certificate->relation_id),
				ARG_POINTER(BYTEAOID, bytes_to_bytea(certificate->nonce, CERTIFICATE_NONCE_BYTES)),
				ARG(JSONBOID, JsonbPGetDatum(document)), ARG_BOOL(complete),
				ARG_POINTER(OIDARRAYOID, unit_types_array(certificate, false)),
				ARG_POINTER(INT4ARRAYOID, unit_types_array(certificate, true)));
	session_keep(&session);
	digest = row_text(0, 1);
	CommandCounterIncrement();
	catalog_end(&session);
	return digest;
}

char *
certificate_text_digest(Jsonb *document)
{
	CatalogSession session;
	char		  *digest;

	catalog_begin(&session);
	query_read("SELECT " TEXT_DIGEST("$1 - 'ledger'::pg_catalog.text"),
			   ARG(JSONBOID, JsonbPGetDatum(document)));
	session_keep(&session);
	digest = row_text(0, 1);
	catalog_end(&session);
	return digest;
}

void
certificate_digest_begin(Digest *digest, const Certificate *certificate, const char *what)
{
	digest_begin_keyed(digest, certificate->key, DIGEST_BYTES);
	digest_add_piece(digest, certificate->nonce, CERTIFICATE_NONCE_BYTES);
	digest_add_piece(digest, what, strlen(what));
}

/* ---------- forgetting at the next retraining ---------- */

void
forget_due_write(const ForgetDue *due)
{
	catalog_write("INSERT INTO privpred.forget_due"
				  " (certificate_id, model_id, teacher, mark, encoding, done)"
				  " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (certificate_id, model_id)"
				  " DO UPDATE SET done = excluded.done",
				  ARG_INT8(due->certificate_id), ARG_INT8(due->model_id), ARG_INT4(due->teacher),
				  ARG_INT8(due->mark), ARG_TEXT(due->encoding), ARG_BOOL(due->done));
	CommandCounterIncrement();
}

List *
forget_dues(int64 model_id, int64 population)
{
	CatalogSession session;
	List		  *dues = NIL;

	/* Without a line of its own, the unit may be in any teacher. */
	catalog_begin(&session);
	query_read("SELECT DISTINCT ON (c.certificate_id) c.certificate_id,"
			   " CASE WHEN d.model_id = $1 THEN d.teacher ELSE -1 END, d.mark, d.encoding"
			   " FROM privpred.certificate c"
			   " JOIN privpred.protected_relation r ON r.relation_id = c.relation_id"
			   " JOIN privpred.forget_due d ON d.certificate_id = c.certificate_id"
			   " WHERE r.population = $2 AND NOT c.complete AND NOT EXISTS (SELECT"
			   " FROM privpred.forget_due o WHERE o.certificate_id = c.certificate_id"
			   " AND o.model_id = $1 AND o.done)"
			   " ORDER BY c.certificate_id, d.model_id <> $1, d.model_id",
			   ARG_INT8(model_id), ARG_INT8(population));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		ForgetDue *due = palloc_object(ForgetDue);

		due->certificate_id = row_int8(row, 1);
		due->model_id = model_id;
		due->teacher = row_int4(row, 2);
		due->mark = row_int8(row, 3);
		due->encoding = row_text(row, 4);
		due->done = false;
		dues = lappend(dues, due);
	}
	catalog_end(&session);
	return dues;
}

void
forget_dues_of_dropped(void)
{
	CommandCounterIncrement();
	catalog_write("UPDATE privpred.forget_due d SET done = true WHERE NOT EXISTS"
				  " (SELECT FROM privpred.model m WHERE m.model_id = d.model_id)");
	CommandCounterIncrement();
}

void
forget_dues_end(int64 certificate_id)
{
	catalog_write("DELETE FROM privpred.forget_due WHERE certificate_id = $1",
				  ARG_INT8(certificate_id));
}

List *
open_certificates(int64 population)
{
	CatalogSession session;
	List		  *certificates = NIL;

	catalog_begin(&session);
	query_read("SELECT c.certificate_id FROM privpred.certificate c"
			   " JOIN privpred.protected_relation r ON r.relation_id = c.relation_id"
			   " WHERE r.population = $1 AND NOT c.complete ORDER BY c.certificate_id",
			   ARG_INT8(population));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		int64 *number = palloc_object(int64);

		*number = row_int8(row, 1);
		certificates = lappend(certificates, number);
	}
	catalog_end(&session);
	return certificates;
}

List *
forget_waits_for(int64 certificate_id)
{
	CatalogSession session;
	List		  *names = NIL;

	catalog_begin(&session);
	query_read("SELECT m.name, m.mechanism FROM privpred.certificate c"
			   " JOIN privpred.protected_relation r ON r.relation_id = c.relation_id"
			   " JOIN privpred.protected_relation s ON s.population = r.population"
			   " JOIN privpred.model m ON m.relation_id = s.relation_id"
			   " WHERE c.certificate_id = $1 AND NOT EXISTS (SELECT FROM privpred.forget_due d"
			   " WHERE d.certificate_id = $1 AND d.model_id = m.model_id AND d.done)"
			   " ORDER BY m.name",
			   ARG_INT8(certificate_id));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		const Mechanism *mechanism = mechanism_lookup(row_text(row, 2));

		/* A student has seen answers, and no rows. */
		if (mechanism == NULL || !mechanism->makes_students)
			names = lappend(names, row_text(row, 1));
	}
	catalog_end(&session);
	return names;
}
