/*
 * stat.c
 *		Counts of answers, to whom they concern.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "entry/entry.h"
#include "ledger/ledger.h"
#include "server/session.h"
#include "server/stats.h"

PG_FUNCTION_INFO_V1(privpred_stat_entries);
PG_FUNCTION_INFO_V1(privpred_stat_reset);
PG_FUNCTION_INFO_V1(privpred_stat_watched);
PG_FUNCTION_INFO_V1(privpred_ledger_state);

/* Does the row concern the caller: as the asker, or as the relation's owner? */
static bool
concerns_caller(const StatKey *key)
{
	if (superuser())
		return true;
	if (key->model_id == 0)
		return false; /* of several roles */
	return has_privs_of_role(GetUserId(), key->role) || role_owns(GetUserId(), key->relation);
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

static void
put_stat(Rows *rows, const StatRow *row, bool concerned)
{
	bool of_several = row->key.model_id == 0;

	put_if(rows, !of_several, ObjectIdGetDatum(row->key.role));
	put_if(rows, !of_several, ObjectIdGetDatum(row->key.relation));
	put_int8_if(rows, !of_several, row->key.model_id);
	for (int c = 0; c < STAT_COUNTERS; c++)
		put_if(rows, concerned || !tells_answers(&row->key, c),
			   c == STAT_LEDGER_US ? Float8GetDatum(row->counts[c] / 1000.0)
								   : Int64GetDatum(row->counts[c]));
	put_time(rows, row->since);
	rows_next(rows);
}

/* stat_entries() */
Datum
privpred_stat_entries(PG_FUNCTION_ARGS)
{
	Rows	*rows = rows_begin(fcinfo);
	bool	 sees_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	int		 count;
	StatRow *stats = stats_list(&count);

	for (int i = 0; i < count; i++)
	{
		bool concerned = concerns_caller(&stats[i].key);

		if (sees_all || concerned)
			put_stat(rows, &stats[i], concerned);
	}
	return (Datum) 0;
}

/* stat_watched(): all rows, as those see them whom none concerns, whoever calls */
Datum
privpred_stat_watched(PG_FUNCTION_ARGS)
{
	Rows	*rows = rows_begin(fcinfo);
	int		 count;
	StatRow *stats = stats_list(&count);

	for (int i = 0; i < count; i++)
		put_stat(rows, &stats[i], false);
	return (Datum) 0;
}

/* ledger_state() */
Datum
privpred_ledger_state(PG_FUNCTION_ARGS)
{
	Rows	   *row = row_begin(fcinfo);
	LedgerState state = ledger_state();

	put_if(row, state.process != 0, Int32GetDatum(state.process));
	put_int4(row, state.processes);
	put_int4(row, state.in_line);
	put_int4(row, state.requests);
	put_int4(row, state.free_slots);
	put_bool(row, state.answers_on);
	put_if(row, state.verified_at != 0, TimestampTzGetDatum(state.verified_at));
	put_if(row, state.verified_at != 0, BoolGetDatum(state.verified));
	PG_RETURN_DATUM(row_end(row));
}

/* stat_reset() */
Datum
privpred_stat_reset(PG_FUNCTION_ARGS)
{
	stats_reset();
	PG_RETURN_VOID();
}
