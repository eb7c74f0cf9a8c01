/*
 * progress.c
 *		What training, distilling and auditing sessions are at.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"

#include "entry/entry.h"
#include "server/session.h"
#include "server/progress.h"

PG_FUNCTION_INFO_V1(privpred_progress_entries);

/* How many rows there are is for those who may read them. */
static bool
may_see(const ProgressReport *report)
{
	if (OidIsValid(report->role) && has_privs_of_role(GetUserId(), report->role))
		return true;
	return OidIsValid(report->relation) ? role_owns(GetUserId(), report->relation) : superuser();
}

/* progress_entries() */
Datum
privpred_progress_entries(PG_FUNCTION_ARGS)
{
	Rows		  *rows = rows_begin(fcinfo);
	ProgressReport reports[PROGRESS_ENTRIES];
	int			   count = progress_list(reports);

	for (int i = 0; i < count; i++)
	{
		const ProgressReport *report = &reports[i];

		if (!may_see(report))
			continue;
		put_int4(rows, report->pid);
		put_text(rows, report->model[0] != '\0' ? report->model : NULL);
		put_text(rows, report->phase);
		put_int8(rows, report->done);
		put_int8_if(rows, report->total >= 0, report->total);
		put_time(rows, report->started_at);
		put_if(rows, OidIsValid(report->relation), ObjectIdGetDatum(report->relation));
		put_int8_if(rows, report->steps_total >= 0, report->steps);
		put_int8_if(rows, report->steps_total >= 0, report->steps_total);
		rows_next(rows);
	}
	return (Datum) 0;
}
