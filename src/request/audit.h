/*
 * audit.h
 *		What the files behind privpred.audit() share.
 *
 * audit.c			the request: who may, which cases, the verdicts
 * audit_rows.c		made-up tables, and models trained on them by the real code
 * audit_teachers.c	cases of mechanisms that ask teachers, and of students
 * audit_streams.c	cases of streams
 * audit_units.c	cases of mechanisms that answer from units
 * audit_released.c	cases of released models
 * audit_bounds.c	what counts say about a claim (audit_bounds.h)
 *
 * An audit takes a model's declaration and its stored charges, and nothing
 * that was learnt: it makes up small tables that differ in one unit, trains on
 * them as create_model() would, draws as private_predict() would, and compares.
 * It writes nothing, and no account pays: see ledger/audit.c for why that is no
 * way round the ledger.
 */
#ifndef PRIVPRED_AUDIT_H
#define PRIVPRED_AUDIT_H

#include "request/audit_bounds.h"
#include "request/request.h"

#define AUDIT_FALSE_ALARM 1e-6 /* of a whole audit, at most */
#define AUDIT_MAX_BOUNDS 512   /* that an audit may take */
#define AUDIT_ALPHA (AUDIT_FALSE_ALARM / AUDIT_MAX_BOUNDS)
#define AUDIT_MAX_DRAWS INT64CONST(1000000000)

/* How many draws at most by default: of an answer, of a model or a whole stream. */
#define AUDIT_MOST_ANSWERS 1000000
#define AUDIT_MANY_ANSWERS 200000
#define AUDIT_MOST_MODELS 20000

typedef struct AuditResult
{
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
	const ModelRecord *model;		 /* what is audited: its declaration, not what it learnt */
	LedgerPrice		   price;		 /* as stored */
	int64			   draws;		 /* asked for; 0: as many as are needed */
	int64			   drawn;		 /* so far, for privpred.progress */
	int				   bounds;		 /* taken so far */
	MemoryContext	   context;		 /* of the results */
	MemoryContext	   draw_context; /* reset after every draw */
	List			  *results;		 /* of AuditResult */
} Audit;

/* ---------- audit.c ---------- */

/* One draw from a table: the number of its outcome. */
typedef int (*AuditDraw)(void *table);

typedef struct AuditCase
{
	const char		  *pair;
	const char *const *events; /* what the outcomes mean */
	int				   outputs;
	const Charge	  *charge;	/* what is claimed for one draw */
	double			   likely;	/* how often the first outcome comes, or would by mistake */
	double			   mistake; /* loss that would do; 0: twice the claim */
	int64			   least;	/* draws, by default */
	int64			   most;
	AuditDraw		   draw;
	void			  *table[2];
} AuditCase;

extern void audit_compare(Audit *audit, const AuditCase *compare);

/* The same where the claim is not a charge but a part of a proof, which "what" names. */
extern void audit_compare_claim(Audit *audit, const AuditCase *compare, const AuditClaim *claim,
								const char *what);

/* What was not compared, and why it has no power. */
extern void
audit_not_compared(Audit *audit, const char *pair, const char *why, const Charge *charge);

/* A result that is no matter of chance. */
extern void audit_counted(Audit *audit, const char *pair, const char *event, const Charge *charge,
						  double loss, int64 draws);

extern AuditClaim audit_claim(const Charge *charge);

/* ---------- audit_rows.c ---------- */

typedef struct MadeUpUnits MadeUpUnits;

/* A made-up table and what was trained on it. */
typedef struct MadeUp
{
	ModelRecord		  record; /* never stored */
	ProtectedRelation units;  /* of the made-up rows */
	bool			  levels; /* the feature is a level, not a number */
	StringInfoData	  rows;	  /* their SQL */
	int64			  nrows;
	MadeUpUnits		 *source;
	MechanismModel	  model; /* once trained */
	const Receipt	 *receipt;
	double			 *x; /* the question */
	int32			  votes[AUDIT_MAX_OUTPUTS];
} MadeUp;

/*
 * A table without rows of one feature: a number in [0, 1], or a level "a" or
 * "b".  Classes are a, b, c, ..., 0 of them: a number in [-1, 1].  Options are a
 * JSON object.
 */
extern MadeUp *made_up_create(const Audit *audit, const Mechanism *mechanism, bool levels,
							  int nclasses, const char *options);

/* The same declaration, without rows. */
extern MadeUp *made_up_like(const MadeUp *other);

/* x is a level's index, and label a class's, where there are such. */
extern void made_up_row(MadeUp *table, int64 unit, double x, double label);

/* Ids of a unit for each of n teachers, batches or chunks. */
extern int64 *made_up_ids(const MadeUp *table, int n);

/* Of several units that share the first of them. */
extern int64 *made_up_ids_of_first(const MadeUp *table, int n, int count);

/* Trains teachers, by a learner, and counts their votes on x. */
extern void made_up_teach(MadeUp *table, const Learner *learner, double x);
extern void made_up_ask(MadeUp *table, double x);

/* Reads the units as training does; then trains on them, in the current context. */
extern void made_up_read(MadeUp *table);
extern void made_up_train(MadeUp *table);
extern void made_up_load(MadeUp *table);

/* The answer, or what of it is left if the model gives scores. */
extern int made_up_answer(MadeUp *table);

/* ---------- cases ---------- */

extern void audit_vote(Audit *audit, const Charge *finite, const Charge *infinite, bool gaussian);
extern void audit_average(Audit *audit);
extern void audit_student(Audit *audit);
extern void audit_streams(Audit *audit, EpsilonUnits epsilon);
extern void audit_threshold(Audit *audit);
extern void audit_stable_flip(Audit *audit);
extern void audit_stable(Audit *audit);
extern void audit_relabel(Audit *audit);
extern void audit_stable_erm(Audit *audit);
extern void audit_cover(Audit *audit);
extern void audit_littlestone(Audit *audit);
extern void audit_gradient(Audit *audit);

#endif /* PRIVPRED_AUDIT_H */
