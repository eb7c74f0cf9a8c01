/*
 * certificates.c
 *		Entries of certificates in the ledger.
 *
 * The transaction that stores the new versions of models also writes the entry, to
 * the outbox: there is a certificate if and only if there are the versions.  The
 * ledger's process chains it once that has committed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "catalog/by_id.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

void
ledger_sync(void)
{
	LedgerRequest request = {0};

	if (RecoveryInProgress())
		return;
	request.kind = REQUEST_SYNC;
	(void) ledger_call(&request);
}

static char *
certificate_detail(int64 certificate_id, const char *digest)
{
	return psprintf("certificate " INT64_FORMAT " sha256 %s", certificate_id, digest);
}

void
ledger_put_certificate(int64 relation_id, int64 certificate_id, const char *digest)
{
	const char	  *actor = ledger_actor();
	const char	  *name = relation_name_of(relation_id);
	CatalogSession session;

	catalog_begin(&session);
	ledger_claim();
	query_write("INSERT INTO privpred.ledger_outbox (kind, relation_id, relation_name, actor,"
				" pid, detail) VALUES ('forget', $1, $2, $3, $4, $5)",
				ARG_INT8(relation_id), ARG_TEXT(name), ARG_TEXT(actor), ARG_INT4(MyProcPid),
				ARG_TEXT(certificate_detail(certificate_id, digest)));
	CommandCounterIncrement();
	catalog_end(&session);
}

bool
ledger_find_certificate(int64 certificate_id, const char *digest, int64 *entry, char **head)
{
	const char	  *detail = certificate_detail(certificate_id, digest);
	CatalogSession session;
	bool		   found;

	ledger_sync();
	catalog_begin(&session);
	query_read("SELECT e.id, pg_catalog.encode(e.head, 'hex') FROM privpred.ledger_entry e"
			   " WHERE e.kind = 'forget' AND e.detail = $1",
			   ARG_TEXT(detail));
	found = SPI_processed > 0;
	if (found)
	{
		session_keep(&session);
		*entry = row_int8(0, 1);
		*head = row_text(0, 2);
	}
	catalog_end(&session);
	return found;
}

Jsonb *
ledger_public(ArrayType *numbers)
{
	CatalogSession session;
	Jsonb		  *list;

	catalog_begin(&session);
	query_read(
		"SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('what', x.what,"
		" 'model', x.model, 'version', x.version) ORDER BY x.model, x.version, x.what), '[]')"
		" FROM (SELECT DISTINCT CASE WHEN r.model_id = 0 THEN 'description'"
		" WHEN r.accuracy THEN 'accuracy' WHEN r.account_id = 0 THEN 'export'"
		" ELSE 'released model' END AS what, r.model,"
		" CASE WHEN r.model_id <> 0 THEN r.version END AS version"
		" FROM privpred.release r WHERE r.relation_id = ANY ($1)) x",
		ARG_POINTER(INT8ARRAYOID, numbers));
	session_keep(&session);
	list = row_varlena(0, 1);
	catalog_end(&session);
	return list;
}
