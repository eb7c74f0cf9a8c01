/*
 * stat.c
 *		Counts of answers, to whom they concern.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "entry/entry.h"
#include "server/stats.h"

PG_FUNCTION_INFO_V1(privpred_stat_entries);
PG_FUNCTION_INFO_V1(privpred_stat_reset);

#define STAT_COLUMNS (4 + STAT_COUNTERS)

/* Does the row concern the caller: as the asker, or as the relation's owner? */
static bool
concerns_caller(const StatKey *key)
{
	if (superuser())
		return true;
	if (key->model_id == 0)
		return false; /* of several roles */
	return has_privs_of_role(GetUserId(), key->role) || caller_owns(key->relation);
}

static RowList *
list_visible(FunctionCallInfo fcinfo)
{
	RowList *list = palloc0_object(RowList);
	bool	 sees_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	int		 count;
	StatRow *rows = stats_list(&count);

	for (int i = 0; i < count; i++)
		if (sees_all || concerns_caller(&rows[i].key))
			rows[list->count++] = rows[i];
	list->rows = rows;
	return list;
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
stat_row(TupleDesc columns, const RowList *list, int number)
{
	const StatRow *row = (const StatRow *) list->rows + number;
	Datum		   values[STAT_COLUMNS];
	bool		   nulls[STAT_COLUMNS] = {false};
	bool		   concerned = concerns_caller(&row->key);

	values[0] = ObjectIdGetDatum(row->key.role);
	values[1] = ObjectIdGetDatum(row->key.relation);
	values[2] = Int64GetDatum(row->key.model_id);
	nulls[0] = nulls[1] = nulls[2] = row->key.model_id == 0;
	for (int c = 0; c < STAT_COUNTERS; c++)
	{
		values[3 + c] = c == STAT_LEDGER_US ? Float8GetDatum(row->counts[c] / 1000.0)
											: Int64GetDatum(row->counts[c]);
		nulls[3 + c] = !concerned && tells_answers(&row->key, c);
	}
	values[3 + STAT_COUNTERS] = TimestampTzGetDatum(row->since);
	if (columns->natts != STAT_COLUMNS)
		elog(ERROR, "stat_entries must return %d columns", STAT_COLUMNS);
	return heap_form_tuple(columns, values, nulls);
}

/* stat_entries() */
Datum
privpred_stat_entries(PG_FUNCTION_ARGS)
{
	return next_row(fcinfo, list_visible, stat_row);
}

/* stat_reset() */
Datum
privpred_stat_reset(PG_FUNCTION_ARGS)
{
	stats_reset();
	PG_RETURN_VOID();
}
