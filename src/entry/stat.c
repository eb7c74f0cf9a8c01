/*
 * stat.c
 *		Counts of answers, to whom they concern.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "entry/entry.h"
#include "stats/stats.h"

PG_FUNCTION_INFO_V1(privpred_stat_entries);
PG_FUNCTION_INFO_V1(privpred_stat_reset);

#define STAT_COLUMNS	(4 + STAT_COUNTERS)

typedef struct Listing
{
	int			count;
	int			next;
	StatRow    *rows;
	TimestampTz since;
} Listing;

/* Does the row concern the caller: as the asker, or as the relation's owner? */
static bool
concerns_caller(const StatKey *key)
{
	HeapTuple	tuple;
	Oid			owner;

	if (superuser())
		return true;
	if (key->model_id == 0)
		return false;			/* of several roles */
	if (has_privs_of_role(GetUserId(), key->role))
		return true;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(key->relation));
	if (!HeapTupleIsValid(tuple))
		return false;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return has_privs_of_role(GetUserId(), owner);
}

static Listing *
list_visible(void)
{
	Listing    *listing = palloc0_object(Listing);
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	int			count;

	listing->rows = stats_list(&count, &listing->since);
	for (int i = 0; i < count; i++)
		if (sees_all || concerns_caller(&listing->rows[i].key))
			listing->rows[listing->count++] = listing->rows[i];
	return listing;
}

/*
 * How many answers were unstable was paid for by the asker's budget: it is not
 * for those who merely watch the server.  Nor is what would tell it: each
 * unstable answer of a stream is one more round trip, and after the last there
 * are no more answers.
 */
static bool
tells_answers(const StatKey *key, StatCounter counter)
{
	if (counter == STAT_CACHE_HITS || counter == STAT_CACHE_MISSES)
		return false;
	return counter == STAT_UNSTABLE || key->by_stream || key->model_id == 0;
}

static HeapTuple
stat_row(TupleDesc columns, const StatRow *row, TimestampTz since)
{
	Datum		values[STAT_COLUMNS];
	bool		nulls[STAT_COLUMNS] = {false};
	bool		concerned = concerns_caller(&row->key);

	values[0] = ObjectIdGetDatum(row->key.role);
	values[1] = ObjectIdGetDatum(row->key.relation);
	values[2] = Int64GetDatum(row->key.model_id);
	nulls[0] = nulls[1] = nulls[2] = row->key.model_id == 0;
	for (int c = 0; c < STAT_COUNTERS; c++)
	{
		values[3 + c] = c == STAT_LEDGER_US ? Float8GetDatum(row->counts[c] / 1000.0) :
			Int64GetDatum(row->counts[c]);
		nulls[3 + c] = !concerned && tells_answers(&row->key, c);
	}
	values[3 + STAT_COUNTERS] = TimestampTzGetDatum(since);
	return heap_form_tuple(columns, values, nulls);
}

/* stat_entries() */
Datum
privpred_stat_entries(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	Listing    *listing;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;
		TupleDesc	columns;

		call = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE ||
			columns->natts != STAT_COLUMNS)
			elog(ERROR, "stat_entries must return rows of %d columns", STAT_COLUMNS);
		call->tuple_desc = BlessTupleDesc(columns);
		call->user_fctx = list_visible();
		MemoryContextSwitchTo(caller);
	}
	call = SRF_PERCALL_SETUP();
	listing = call->user_fctx;
	if (listing->next < listing->count)
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(stat_row(call->tuple_desc,
														 &listing->rows[listing->next++],
														 listing->since)));
	SRF_RETURN_DONE(call);
}

/* stat_reset() */
Datum
privpred_stat_reset(PG_FUNCTION_ARGS)
{
	stats_reset();
	PG_RETURN_VOID();
}
