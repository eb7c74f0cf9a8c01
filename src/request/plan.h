/*
 * plan.h
 *		privpred.plan(): which mechanism, with which parameters, how accurate.  From
 *		declarations alone: no row, count or estimate is looked at.
 *
 * plan.c		runs what mechanisms offer
 * plan_bounds.c	what no method can beat
 * plan_table.c	what a table's catalog entries tell
 */
#ifndef PRIVPRED_PLAN_H
#define PRIVPRED_PLAN_H

#include "nodes/pg_list.h"

#include "mechanism/plan.h"

/* A PlanResult for every mechanism, by name. */
extern List *request_plan(const PlanQuestion *question);

/* The accuracy that is asked for. */
extern double plan_target(const PlanQuestion *question);

/* What no method can beat: the least number of units, 0 if none is known; and in words. */
extern double plan_rows_at_least(const PlanQuestion *question, const PlanResult *result);
extern char	 *plan_lower_bound(const PlanQuestion *question, const PlanResult *result);

/*
 * Columns, units and sizes as a JSON object.  Raises 42P01 or 42809 if there is no
 * such table, 42703 if the label, unless NULL, is not a column.
 */
extern char *request_plan_table(Oid relid, const char *label);

#endif /* PRIVPRED_PLAN_H */
