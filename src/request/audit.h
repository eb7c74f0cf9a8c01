/*
 * audit.h
 *		What the files behind privpred.audit() share.
 *
 * audit.c			the request: who may, which cases, the verdicts
 * audit_rows.c		made-up tables, and models trained on them by the real code
 * audit_draw.c		one draw of a case
 * audit_receipt.c	receipts that nobody pays for
 *
 * An audit takes a model's declaration and its stored charges, and nothing
 * that was learnt: it makes up small tables that differ in one unit, trains on
 * them as create_model() would, draws as private_predict() would, and compares.
 * It writes nothing, and no account pays: see audit_receipt.c for why that is no
 * way round the ledger.  The cases are the mechanism's (mechanism/audit.h).
 */
#ifndef PRIVPRED_AUDIT_H
#define PRIVPRED_AUDIT_H

#include "mechanism/audit.h"
#include "request/request.h"

#define AUDIT_FALSE_ALARM 1e-6 /* of a whole audit, at most */
#define AUDIT_MAX_DRAWS INT64CONST(1000000000)

typedef struct AuditResult
{
	const char *mechanism;
	const char *pair; /* what differs, and what is asked */
	const char *event;
	const char *charge; /* what the claim rests on, as text */
	AuditClaim	claim;
	double		loss;	 /* at least */
	double		detects; /* a loss of this much would have been seen; infinite: none */
	int64		draws;	 /* of each table */
	const char *verdict;
} AuditResult;

typedef struct Audit
{
	const ModelRecord *model;	/* what is audited: its declaration, not what it learnt */
	int64			   draws;	/* asked for; 0: as many as are needed */
	int64			   drawn;	/* so far, for privpred.progress */
	int				   bounds;	/* taken so far */
	MemoryContext	   context; /* of the results */
	List			  *results; /* of AuditResult */
} Audit;

typedef struct AuditReceipt AuditReceipt;

/* A made-up table of a case, and the model that was trained on it. */
typedef struct MadeUp
{
	UnitSource		  source; /* of its units, as training reads them */
	int				  nunits;
	int				  position;
	UnitRows		 *units;
	const AuditCase	 *plan;
	ModelRecord		  record; /* never stored */
	ModelRecord		  student;
	ProtectedRelation relation; /* stands for the made-up rows */
	int				  nrows;
	MechanismModel	  model;
	AuditReceipt	 *paid;
	double			 *x; /* the questions, encoded */
	int32			  votes[AUDIT_MAX_QUESTIONS][AUDIT_MAX_OUTPUTS];
} MadeUp;

/* ---------- audit_rows.c ---------- */

/* Both tables of a case, trained. */
extern void made_up_pair(const Audit *audit, const AuditCase *plan, MadeUp *tables[2]);
extern void made_up_train(MadeUp *table);
extern void made_up_load(MadeUp *table);

/* ---------- audit_draw.c ---------- */

/* One draw: the number of its outcome. */
extern int made_up_draw(MadeUp *table);

/* How many tests fail before a stream ends. */
extern int64 made_up_failures(MadeUp *table);

/* ---------- audit_receipt.c ---------- */

/* For a model of made-up rows that was never stored, which is checked (XX000). */
extern AuditReceipt *audit_receipt_create(const ModelRecord *made_up, const AuditCase *plan);

/* NULL: its stream is used up. */
extern const Receipt *audit_receipt(const AuditReceipt *paid);

/* Opens the stream that the case is about, anew. */
extern void		   audit_stream_open(AuditReceipt *stream);
extern StreamTerms audit_terms(const AuditCase *plan);

#endif /* PRIVPRED_AUDIT_H */
