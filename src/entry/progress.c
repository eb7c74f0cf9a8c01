/*
 * progress.c
 *		What training, distilling and auditing sessions are at.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "entry/entry.h"
#include "server/progress.h"

PG_FUNCTION_INFO_V1(privpred_progress_entries);

/* How many rows there are is for those who may read them. */
static bool
may_see(const ProgressReport *report)
{
	if (OidIsValid(report->role) && has_privs_of_role(GetUserId(), report->role))
		return true;
	return OidIsValid(report->relation) ? caller_owns(report->relation) : superuser();
}

static RowList *
list_visible(FunctionCallInfo fcinfo)
{
	RowList		   *list = palloc0_object(RowList);
	ProgressReport *reports = palloc0_array(ProgressReport, PROGRESS_ENTRIES);
	int				count = progress_list(reports);

	for (int i = 0; i < count; i++)
		if (may_see(&reports[i]))
			reports[list->count++] = reports[i];
	list->rows = reports;
	return list;
}

static HeapTuple
report_row(TupleDesc columns, const RowList *list, int number)
{
	const ProgressReport *report = (const ProgressReport *) list->rows + number;
	Datum				  values[9];
	bool				  nulls[lengthof(values)] = {false};

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
	return next_row(fcinfo, list_visible, report_row);
}
