/*
 * audit.h
 *		Audit cases: two made-up tables that differ in one unit, what is asked of
 *		models trained on them, and how far the answers may differ.
 *
 * Each mechanism offers its cases as data (src/mechanism/NAME/audit.c).
 * privpred.audit() makes the tables, trains, draws, counts and compares
 * (src/request/audit.h).
 */
#ifndef PRIVPRED_MECHANISM_AUDIT_H
#define PRIVPRED_MECHANISM_AUDIT_H

#include "account/audit_bounds.h"
#include "mechanism/mechanism.h"

/* The most draws of a case: of an answer, of a student, of a model. */
#define AUDIT_MOST_ANSWERS 1000000
#define AUDIT_MANY_ANSWERS 200000
#define AUDIT_MOST_MODELS 20000

#define AUDIT_SESSION_ANSWERS 3
#define AUDIT_RUN_LABELS 5
#define AUDIT_MAX_QUESTIONS 8

/*
 * A unit has up to three different rows, several times over.  There is one
 * feature: a number in [0, 1] or, for finite classes, 0 or 1 for one of two
 * levels.  Labels are class numbers, or numbers in [-1, 1].  The first row is what
 * a teacher of this unit says of the first question.
 */
typedef struct AuditUnit
{
	int times; /* 0: the unit is not there */
	int nrows;
	struct
	{
		double x;
		double label;
	} row[3];
} AuditUnit;

/* One row, so many times. */
#define AUDIT_UNIT(times, x, label) \
	{ \
		times, 1, \
		{ \
			{ \
				x, label \
			} \
		} \
	}

typedef struct AuditTable
{
	int				 nunits;
	const AuditUnit *units;
} AuditTable;

/* What is counted.  All but the first and EVENT_STUDENT have two outcomes, yes and no. */
typedef enum AuditEvent
{
	EVENT_ANSWER,	 /* which class is answered; the case's class comes first */
	EVENT_SESSION,	 /* all answers of a session that loads the model are the case's class */
	EVENT_SCORE,	 /* the score is at least the bound */
	EVENT_RUN,		 /* a stream gives five labels of the first question, then none of the second */
	EVENT_EVER,		 /* a stream gives the case's class before it ends */
	EVENT_STUDENT,	 /* a student says 1, then 0, of the first and last question; 0, 1; the same */
	EVENT_ACCURACY,	 /* an accuracy that is released is at least the bound */
	EVENT_DESCRIBED, /* described, the cell of 1 looks fuller than that of 0 */
	EVENT_FAILURES	 /* failed tests until a stream ends, which is no matter of chance */
} AuditEvent;

/* What is known of the audited model.  Nothing of it that is used was learnt. */
typedef struct AuditedModel
{
	const Mechanism		*mechanism;
	const MechanismSpec *spec;
	bytea				*state;	 /* as it is stored, or NULL; for what is public in it */
	Charge				 finite; /* of one purchase, by an account of finite order */
	Charge				 infinite;
	EpsilonUnits		 run_epsilon; /* of a stream that a student's labels came through */
} AuditedModel;

typedef struct AuditCase AuditCase;

/* Unless noted, 0 means none, or the audited model's value. */
struct AuditCase
{
	const char *pair;		  /* what differs, and what is asked */
	const char *not_compared; /* why it is not */

	/* Completes what depends on the audited model; false: there is no such case. */
	bool (*complete)(const AuditedModel *model, AuditCase *audit);
	int				 part;	   /* for complete() to tell cases apart */
	const Mechanism *cases_of; /* all of this mechanism's cases stand here */

	/* How the models are declared. */
	const Mechanism	  *mechanism;
	int				   nclasses; /* 0: two */
	bool			   numeric;	 /* the label is a number */
	const char		  *options;
	const FiniteClass *finite_class;
	EpsilonUnits	   epsilon;
	int64			   declared_units;
	bool own_learner; /* the audited model's, if its teachers say what they should; else stumps */

	/* The tables. */
	AuditTable	table[2];
	const char *votes[2];  /* for audit_votes() */
	int			places;	   /* teachers, batches or chunks, of which each unit gets one */
	bool		one_place; /* all units get the same one */
	bool		cut_rows;  /* each unit has twice as many rows as it may have */

	/* One draw. */
	int			questions; /* 0: one */
	double		question[AUDIT_MAX_QUESTIONS];
	AuditEvent	event;
	const char *events[3];	  /* what they are called; NULL: "answer a" and so on */
	int class;				  /* that the first event is about */
	double		 bound;		  /* of scores */
	bool		 infinite;	  /* the order of the account that pays */
	bool		 gaussian;	  /* noise of votes */
	int			 unstable;	  /* answers that a stream is bought for */
	EpsilonUnits run_epsilon; /* of a stream, or of what is released */
	double		 run_delta;
	int64		 measured; /* units that an accuracy is measured on */

	/*
	 * The claim: what the account pays, unless it is a part of a proof.  Streams
	 * are charged for by their terms, students by their labels.
	 */
	const Charge *charge;  /* of a student: that of one label; of an accuracy: of an answer */
	bool		  no_ties; /* the stream's delta is not needed */
	const char	 *what;	   /* the part of a proof */
	AuditClaim	  claim;   /* which it claims */
	double		  likely;  /* how often the first event comes, or would by mistake */
	double		  mistake; /* a loss that a mistake would cause; 0: twice the claim */
	int64		  least;   /* draws, by default */
	int64		  most;	   /* 0: as many as such draws may be */
};

/*
 * Makes tables where teachers vote as "aab" and "abb" say of 1, and otherwise of
 * 0: one row of either kind each, or enough for any learner.  Then the unit that
 * differs has more rows in one table than in the other, which must not matter.
 */
extern void audit_votes(AuditCase *audit, bool enough);

/* The cases of mechanism NAME, in NAME/audit.c, unless it has those of another. */
#define DECLARE_AUDIT_CASES(name) extern const AuditCase name##_audit_cases[];
MECHANISMS(DECLARE_AUDIT_CASES)

/* Of what is released beside models: accuracies, and descriptions of the relation. */
extern const AuditCase accuracy_audit_cases[];
extern const AuditCase describe_audit_cases[];

#endif /* PRIVPRED_MECHANISM_AUDIT_H */
