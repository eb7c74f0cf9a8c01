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

#include "catalog/forgettings.h"
#include "draw/sampler.h"
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

Certificate *
certificate_begin(int64 relation_id)
{
	Certificate	  *certificate = palloc0_object(Certificate);
	CatalogSession session;

	certificate->relation_id = relation_id;
	catalog_begin(&session);
	find_or_make_key(certificate);
	draw_bytes(certificate->nonce, CERTIFICATE_NONCE_BYTES);
	query_write("SELECT pg_catalog.nextval('privpred.certificate_certificate_id_seq')");
	certificate->certificate_id = row_int8(0, 1);
	CommandCounterIncrement();
	catalog_end(&session);
	return certificate;
}

Certificate *
certificate_get(int64 certificate_id)
{
	Certificate	  *certificate = NULL;
	CatalogSession session;

	catalog_begin(&session);
	query_read("SELECT c.relation_id, c.nonce, c.document, c.complete, k.key,"
			   " r.relation FROM privpred.certificate c"
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
		certificate->relid = row_oid(0, 6);
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
				" (certificate_id, relation_id, nonce, document, complete)"
				" VALUES ($1, $2, $3, $4, $5) ON CONFLICT (certificate_id)"
				" DO UPDATE SET document = excluded.document, complete = excluded.complete"
				" RETURNING " TEXT_DIGEST("c.document"),
				ARG_INT8(certificate->certificate_id), ARG_INT8(certificate->relation_id),
				ARG_POINTER(BYTEAOID, bytes_to_bytea(certificate->nonce, CERTIFICATE_NONCE_BYTES)),
				ARG(JSONBOID, JsonbPGetDatum(document)), ARG_BOOL(complete));
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
forget_due_add(int64 certificate_id, int64 model_id, int32 teacher, int64 mark)
{
	catalog_write("INSERT INTO privpred.forget_due (certificate_id, model_id, teacher, mark)"
				  " VALUES ($1, $2, $3, $4)",
				  ARG_INT8(certificate_id), ARG_INT8(model_id), ARG_INT4(teacher), ARG_INT8(mark));
}

List *
forget_dues(int64 model_id)
{
	CatalogSession session;
	List		  *dues = NIL;

	catalog_begin(&session);
	query_read("SELECT d.certificate_id, d.teacher, d.mark FROM privpred.forget_due d"
			   " WHERE d.model_id = $1 ORDER BY d.certificate_id",
			   ARG_INT8(model_id));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		ForgetDue *due = palloc_object(ForgetDue);

		due->certificate_id = row_int8(row, 1);
		due->teacher = row_int4(row, 2);
		due->mark = row_int8(row, 3);
		dues = lappend(dues, due);
	}
	catalog_end(&session);
	return dues;
}

void
forget_due_done(int64 certificate_id, int64 model_id)
{
	catalog_write("DELETE FROM privpred.forget_due WHERE certificate_id = $1 AND model_id = $2",
				  ARG_INT8(certificate_id), ARG_INT8(model_id));
}

List *
forget_due_models(int64 certificate_id)
{
	CatalogSession session;
	List		  *names = NIL;

	catalog_begin(&session);
	query_read("SELECT m.name FROM privpred.forget_due d JOIN privpred.model m USING (model_id)"
			   " WHERE d.certificate_id = $1 ORDER BY m.name",
			   ARG_INT8(certificate_id));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
		names = lappend(names, row_text(row, 1));
	catalog_end(&session);
	return names;
}
