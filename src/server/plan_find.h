/*
 * plan_find.h
 *		The plan of the running statement, and of a statement that is given as text.
 */
#ifndef PRIVPRED_PLAN_FIND_H
#define PRIVPRED_PLAN_FIND_H

#include "fmgr.h"
#include "nodes/params.h"
#include "nodes/plannodes.h"
#include "utils/portal.h"

/*
 * Does an executor with this memory run what a portal is there for?  Not if a
 * function within it does, with a statement of its own.
 */
extern bool portal_runs(Portal portal, MemoryContext executor);

/*
 * The plan that the call site belongs to, and how many rows are fetched of it at
 * this time; NULL if it cannot be told, or if it is not the client's own statement.
 */
extern const PlannedStmt *plan_of_caller(const FmgrInfo *site, ParamListInfo *params, double *rows);

/* A number for the run of that plan, which no other run has had; 0: it cannot be told. */
extern uint64 plan_run_of_caller(const FmgrInfo *site);

/*
 * Plans one statement as the current user, and runs nothing; rules may make several
 * of it.  NIL if it is not one of those that take answers.
 */
extern List *plan_of_text(const char *text, ParamListInfo params);

extern void plan_find_init(void);

#endif /* PRIVPRED_PLAN_FIND_H */
