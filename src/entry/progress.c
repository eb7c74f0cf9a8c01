/*
 * progress.c
 *		What training, distilling and auditing sessions are at.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "entry/entry.h"
#include "progress/progress.h"

PG_FUNCTION_INFO_V1(privpred_progress_entries);

static bool
owns(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return false;			/* not committed yet, or not any more */
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return has_privs_of_role(GetUserId(), owner);
}

/* How many rows there are is for those who may read them. */
static bool
may_see(const ProgressReport *report)
{
	if (OidIsValid(report->role) && has_privs_of_role(GetUserId(), report->role))
		return true;
	return OidIsValid(report->relation) ? owns(report->relation) : superuser();
}

typedef struct Listing
{
	int			count;
	int			next;
	ProgressReport reports[PROGRESS_ENTRIES];
} Listing;

static Listing *
list_visible(void)
{
	Listing    *listing = palloc0_object(Listing);
	int			count = progress_list(listing->reports);

	for (int i = 0; i < count; i++)
		if (may_see(&listing->reports[i]))
			listing->reports[listing->count++] = listing->reports[i];
	return listing;
}

static HeapTuple
report_row(TupleDesc columns, const ProgressReport *report)
{
	Datum		values[9];
	bool		nulls[lengthof(values)] = {false};

	values[0] = Int32GetDatum(report->pid);
	values[1] = CStringGetTextDatum(report->model);
	nulls[1] = report->model[0] == '\0';
	values[2] = CStringGetTextDatum(report->phase);
	values[3] = Int64GetDatum(report->done);
	values[4] = Int64GetDatum(report->total);
	nulls[4] = report->total < 0;
	values[5] = TimestampTzGetDatum(report->started_at);
	values[6] = ObjectIdGetDatum(report->relation);
	nulls[6] = !OidIsValid(report->relation);
	values[7] = Int64GetDatum(report->steps);
	values[8] = Int64GetDatum(report->steps_total);
	nulls[7] = nulls[8] = report->steps_total < 0;
	return heap_form_tuple(columns, values, nulls);
}

/* progress_entries() */
Datum
privpred_progress_entries(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	Listing    *listing;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;
		TupleDesc	columns;

		call = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "progress_entries must return rows");
		call->tuple_desc = BlessTupleDesc(columns);
		call->user_fctx = list_visible();
		MemoryContextSwitchTo(caller);
	}
	call = SRF_PERCALL_SETUP();
	listing = call->user_fctx;
	if (listing->next < listing->count)
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(report_row(call->tuple_desc,
														   &listing->reports[listing->next++])));
	SRF_RETURN_DONE(call);
}
