/*
 * compact.c
 *		SQL entry points of the ledger's compaction.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "entry/entry.h"
#include "ledger/ledger.h"

PG_FUNCTION_INFO_V1(privpred_compact);
PG_FUNCTION_INFO_V1(privpred_set_retention);
PG_FUNCTION_INFO_V1(privpred_verify_archive);

#define MOST_YEARS 1000 /* now less that is still a timestamp */

static void
check_keeper(void)
{
	if (!ledger_is_kept_by(GetUserId()))
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("only superusers and the owner of the extension can compact a ledger"));
}

static bool
is_shorter(const Interval *one, const Interval *two)
{
	return DatumGetBool(
		DirectFunctionCall2(interval_lt, IntervalPGetDatum(one), IntervalPGetDatum(two)));
}

static void
check_age(const Interval *age)
{
	const Interval none = {0};
	const Interval most = {.month = MOST_YEARS * MONTHS_PER_YEAR};

	if (is_shorter(age, &none))
		refuse(errmsg("older_than must not be negative"), errhint("Use for example '90 days'."));
	if (is_shorter(&most, age))
		refuse(errmsg("older_than must be at most %d years", MOST_YEARS),
			   errhint("A ledger that is not compacted keeps its entries for ever."));
}

/* What the caller wants, as far as what was set allows. */
static void
read_retention(FunctionCallInfo fcinfo, LedgerRetention *retention)
{
	LedgerRetention set = {0};
	bool			is_set = ledger_retention(&set);

	*retention = set;
	if (!PG_ARGISNULL(0))
		retention->older_than = *PG_GETARG_INTERVAL_P(0);
	else if (!is_set)
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("older_than must be given, because no retention is set"),
				errhint("Use for example older_than => '90 days', or call "
						"privpred.set_retention()."));
	check_age(&retention->older_than);
	if (is_set && is_shorter(&retention->older_than, &set.older_than))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("entries of the ledger are kept for longer than that"),
				errdetail("The retention is %s.",
						  DatumGetCString(DirectFunctionCall1(interval_out,
															  IntervalPGetDatum(&set.older_than)))),
				errhint("See privpred.set_retention()."));
	if (!PG_ARGISNULL(1))
		retention->archive |= PG_GETARG_BOOL(1);
}

/* compact(older_than, archive, at_most) */
Datum
privpred_compact(PG_FUNCTION_ARGS)
{
	LedgerRetention	 retention;
	LedgerCompaction compaction;
	int64			 at_most = PG_ARGISNULL(2) ? PG_INT64_MAX : PG_GETARG_INT64(2);
	Rows			*row = row_begin(fcinfo);

	check_keeper();
	PreventCommandIfReadOnly("privpred.compact()");
	if (at_most < 1)
		refuse(errmsg("at_most must be positive"), errhint("Give NULL to fold all that are old."));
	read_retention(fcinfo, &retention);
	compaction = ledger_compact(&retention, at_most);
	put_int8(row, compaction.folded);
	put_int8(row, compaction.runs);
	put_int8(row, compaction.sums);
	put_int8(row, compaction.entries);
	PG_RETURN_DATUM(row_end(row));
}

/* set_retention(older_than, archive); NULL: none */
Datum
privpred_set_retention(PG_FUNCTION_ARGS)
{
	LedgerRetention retention = {.archive = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1)};

	check_keeper();
	PreventCommandIfReadOnly("privpred.set_retention()");
	if (PG_ARGISNULL(0))
		ledger_set_retention(NULL);
	else
	{
		retention.older_than = *PG_GETARG_INTERVAL_P(0);
		check_age(&retention.older_than);
		ledger_set_retention(&retention);
	}
	PG_RETURN_VOID();
}

/* verify_archive(relation); NULL: privpred.ledger_archive */
Datum
privpred_verify_archive(PG_FUNCTION_ARGS)
{
	Oid					 relid = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	LedgerArchiveVerdict verdict;
	Rows				*row = row_begin(fcinfo);

	check_keeper();
	/* Code of others that hangs on a view would run with the caller's rights. */
	if (OidIsValid(relid) && get_rel_relkind(relid) != RELKIND_RELATION &&
		get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("an archive must be a table"),
				errhint("Load it into one with COPY; see docs/compaction.md."));
	verdict = ledger_verify_archive(relid);
	put_bool(row, verdict.problem == NULL);
	put_text(row, verdict.problem);
	put_int8_if(row, verdict.entry != 0, verdict.entry);
	put_int8(row, verdict.entries);
	put_int8(row, verdict.runs);
	put_int8(row, verdict.absent);
	PG_RETURN_DATUM(row_end(row));
}
