/*
 * foresee.h
 *		What a statement will cost, before it does; and what becomes of questions that
 *		are not answered.
 *
 * foresee.c	the price of the running statement, and of one that is given as text
 * explain_privacy.c	the same in EXPLAIN
 * unanswered.c	NULL in place of an error, and the warning about it
 * ask_here.c	statements that ask about rows of Citus
 */
#ifndef PRIVPRED_FORESEE_H
#define PRIVPRED_FORESEE_H

#include "fmgr.h"
#include "nodes/params.h"
#include "nodes/pg_list.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/repeat.h"

/* ---------- foresee.c ---------- */

/*
 * Before a statement's first debit of an account: raises if all models that the account
 * pays for will clearly take more answers than are left (53400) or than it may take
 * (54000).  It returns if that cannot be foreseen.
 */
extern void foresee(const FmgrInfo *site, const ModelRecord *model, const LedgerPrice *price);

/* What a statement will take of one model. */
typedef struct StatementCost
{
	const char *model;	 /* NULL: which is not known before it runs */
	double		answers; /* that it expects to take, at most */
	bool		unsure;	 /* the planner has made up some number of rows */
	ChargeKind	kind;	 /* unless model is NULL, as all that follows */
	LedgerQuote quote;
	int64		population; /* whose accounts pay */
	double		share;		/* of what they have left */
	bool		fits;		/* with other models, into what is left and what a statement may take */
} StatementCost;

/* One for each model, as a list.  22023 unless it is one statement that may take answers. */
extern List *request_cost_of(const char *statement);

/* The same for statements that are planned already, by whoever may run them. */
extern List *request_cost_of_plans(List *plans, ParamListInfo params);

/* Is it one of our functions that answer? */
extern bool is_question(Oid function);

extern void foresee_init(void);

/* ---------- explain_privacy.c ---------- */

extern void explain_privacy_init(void);

/* ---------- unanswered.c ---------- */

typedef enum OnRefusal
{
	ON_REFUSAL_ERROR,
	ON_REFUSAL_NULL
} OnRefusal;

extern int on_refusal; /* the setting */

/* Shall questions that are refused have NULL for an answer?  Every answer asks. */
static inline bool
unanswered_as_null(void)
{
	return unlikely(on_refusal == ON_REFUSAL_NULL);
}

/* Counts one that had, for the warning at the statement's end. */
extern void unanswered_unpaid(const char *why);
extern void unanswered_problem(const char *why);

extern void unanswered_init(void);

/* ---------- ask_here.c ---------- */

extern void ask_here_init(void);

#endif /* PRIVPRED_FORESEE_H */
