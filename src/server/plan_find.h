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
 * The plan that the call site belongs to, and how many rows are fetched by the
 * statement; NULL if it cannot be told.
 */
extern PlannedStmt *plan_of_caller(const FmgrInfo *site, ParamListInfo *params, double *rows);

/* Where the running statement begins in what the client has sent; -1 if that is not known. */
extern int plan_location(void);

/*
 * Plans one statement as the current user, and runs nothing; rules may make several
 * of it.  NIL if it is not one of those that take answers.
 */
extern List *plan_of_text(const char *text, ParamListInfo params);

#endif /* PRIVPRED_PLAN_FIND_H */
