/*
 * statement.c
 *		How many answers a statement may take: by its own setting, and by ceilings,
 *		which superusers set.
 *
 * Ceilings are kept in a table and applied by the ledger's process.  They are no
 * settings, because what a session sets before our library is loaded, even what it
 * may not set, takes the place of what ALTER ROLE ... SET has given it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

/* Answers of the current top-level statement, over all its call sites. */
static TimestampTz statement_start = 0;
static int64	   statement_answers = 0;
static int64	   statement_charged = 0; /* of those, by a lease */

/* A cursor is one statement, however it is fetched. */
int64
statement_taken(int64 used)
{
	TimestampTz start = GetCurrentStatementStartTimestamp();

	if (start != statement_start)
	{
		statement_start = start;
		statement_answers = 0;
		statement_charged = 0;
	}
	return Max(statement_answers, used);
}

pg_noreturn static void
report_too_many(int64 limit, bool is_ceiling, bool charged)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		 errmsg("statement takes more than " INT64_FORMAT " private answers", limit),
		 errdetail("Each answer is charged to a privacy budget. %s",
				   charged ? "The answers given so far stay charged." : "Nothing was charged."),
		 is_ceiling
			 ? errhint("Add a WHERE or LIMIT clause. A superuser has set this ceiling with "
					   "privpred.set_ceiling(); see privpred.ceilings.")
			 : errhint(
				   "Add a WHERE or LIMIT clause, or raise privpred.max_answers_per_statement.")));
}

int64
statement_allowance(int64 used)
{
	int64 limit = ledger_max_answers();
	int64 taken = statement_taken(used);

	if (unlikely(taken >= limit))
		report_too_many(limit, false, true);
	return limit - taken;
}

void
statement_count_answer(bool charged)
{
	statement_answers++;
	statement_charged += charged ? 1 : 0;
}

int64
statement_paid(void)
{
	return statement_taken(0) > 0 ? statement_charged : 0;
}

void
ceiling_report(int64 ceiling)
{
	report_too_many(ceiling, true, true);
}

/* What would bind an asker and who pays, before anything is asked. */
static int64
ceiling_look_up(Oid asker, Oid payer)
{
	CatalogSession session;
	int64		   least;

	catalog_begin(&session);
	query_read("SELECT min(c.answers) FROM privpred.ceiling c WHERE c.role IN (0, $1, $2)",
			   ARG_OID(asker), ARG_OID(payer));
	least = row_int8_or(0, 1, NO_CEILING);
	catalog_end(&session);
	return least;
}

int64
ledger_allowance(Oid payer)
{
	return Min(ledger_max_answers(), ceiling_look_up(asking_role(), payer)) - statement_taken(0);
}

void
ledger_check_allowance(int64 answers, Oid payer)
{
	int64 limit = ledger_max_answers();
	int64 ceiling = ceiling_look_up(asking_role(), payer);

	if (answers > limit - statement_taken(0))
		report_too_many(limit, false, false);
	if (answers > ceiling - statement_taken(0))
		report_too_many(ceiling, true, false);
}

void
ledger_set_ceiling(Oid role, int64 answers)
{
	const char	  *set_by = GetUserNameFromId(GetUserId(), false);
	CatalogSession session;

	catalog_begin(&session);
	query_write("DELETE FROM privpred.ceiling c WHERE c.role = $1", ARG_OID(role));
	if (answers != NO_CEILING)
		query_write("INSERT INTO privpred.ceiling (role, answers, set_by) VALUES ($1, $2, $3)",
					ARG_OID(role), ARG_INT8(answers), ARG_TEXT(set_by));
	catalog_end(&session);
	ledger_invalidate_leases();
}
