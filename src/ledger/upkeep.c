/*
 * upkeep.c
 *		What is done about a ledger by hand: adopting a copy, forgiving leases.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "catalog/by_id.h"
#include "catalog/relations.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

/*
 * Roles are found by name in a restored dump; an account whose role has
 * another name here, or none, is closed.  So are all streams: the original may
 * have gone on with the same thresholds.
 */
void
ledger_adopt(void)
{
	char		  *actor = ledger_actor();
	CatalogSession session;

	catalog_begin(&session);
	(void) ledger_revoke_accounts("a.role <> 0 AND NOT EXISTS (SELECT FROM pg_roles r "
								  "WHERE r.oid = a.role AND r.rolname = a.role_name)",
								  0, InvalidOid, "revoke", actor);
	query_write("UPDATE privpred.stream SET status = 'ledger adopted', threshold = NULL, "
				"holders = 0, incarnation = NULL, closed_at = now() WHERE status = 'open'");
	holders_record_all();
	past_relations_adopt();
	ledger_make_ours();
	query_write("INSERT INTO privpred.ledger_outbox (kind, actor, pid) VALUES ('adopt', $1, $2)",
				ARG_TEXT(actor), ARG_INT4(MyProcPid));
	catalog_end(&session);
	ledger_invalidate_leases();
}

bool
ledger_lease_is_owned(int64 lease, Oid role, bool *owned)
{
	CatalogSession session;
	bool		   found;

	catalog_begin(&session);
	query_write("SELECT o.relation_id FROM privpred.open_lease o WHERE o.lease = $1",
				ARG_INT8(lease));
	found = SPI_processed > 0;
	*owned = found && population_is_owned(row_int8(0, 1), role);
	catalog_end(&session);
	return found;
}

/*
 * Some of the lease's answers may have been given before the crash; only the
 * owner can know better.  What is returned is written to the chain.
 */
void
ledger_forgive(int64 lease)
{
	char		  *actor = ledger_actor();
	char		  *relation_name = NULL;
	CatalogSession session;

	catalog_begin(&session);
	query_write("SELECT o.relation_id FROM privpred.open_lease o WHERE o.lease = $1",
				ARG_INT8(lease));
	if (SPI_processed > 0)
		relation_name = population_brief(row_int8(0, 1)).name;
	query_write(
		"WITH gone AS (DELETE FROM privpred.open_lease o WHERE o.lease = $1 "
		"AND o.incarnation <> $2 RETURNING *), "
		"paid AS (UPDATE privpred.account a SET spent_units = CASE "
		"WHEN a.spent_units = 9223372036854775807 THEN a.spent_units "
		"WHEN a.account_id = g.account_id THEN a.spent_units - g.answers * g.charge "
		"ELSE a.spent_units - g.answers * g.cap_charge END, "
		"window_spent_units = a.window_spent_units - CASE WHEN a.account_id = g.account_id "
		"AND a.window_start = g.window_start THEN g.answers * g.charge ELSE 0 END "
		"FROM gone g WHERE a.account_id IN (g.account_id, g.cap_id) "
		"RETURNING a.account_id, a.role_name, a.renyi_order, CASE WHEN a.window_start = "
		"g.window_start THEN -g.answers * g.charge ELSE 0 END AS window_units, "
		"a.spent_units = 9223372036854775807 AS beyond_counting) "
		"INSERT INTO privpred.ledger_outbox (kind, account_id, cap_id, role_name, relation_id, "
		"relation_name, lease, answers, units, cap_units, actor, pid, renyi_order, window_units) "
		"SELECT 'forgive', g.account_id, g.cap_id, a.role_name, g.relation_id, $5, g.lease, "
		"-g.answers, CASE WHEN a.beyond_counting THEN 0 ELSE -g.answers * g.charge END, "
		"CASE WHEN c.beyond_counting THEN 0 ELSE -g.answers * g.cap_charge END, "
		"$3, $4, a.renyi_order, a.window_units FROM gone g JOIN paid a USING (account_id) "
		"LEFT JOIN paid c ON c.account_id = g.cap_id",
		ARG_INT8(lease), ARG_INT8(ledger_incarnation()), ARG_TEXT(actor), ARG_INT4(MyProcPid),
		ARG_TEXT(relation_name));
	if (SPI_processed == 0)
		ereport(
			ERROR, errcode(ERRCODE_OBJECT_IN_USE),
			errmsg("lease " INT64_FORMAT " is in use", lease),
			errdetail("It was taken since the server started; what is unused of it comes back by "
					  "itself."),
			errhint("End the session that holds it; see privpred.leases."));
	catalog_end(&session);
	ledger_invalidate_leases();
}
