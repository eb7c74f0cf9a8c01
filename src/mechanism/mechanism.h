/*
 * mechanism.h
 *		Mechanisms turn what was learnt from rows into private answers.
 *
 * registry.c	names to mechanisms
 * answer.c		drawing, with a receipt
 * options.c	reading a model's options
 * vote.c		subsample and aggregate
 * average.c	a random teacher's opinion
 * cover.c		cover, label_private: one of many candidates, released
 * littlestone.c	a hypothesis that many batches agree on, released
 * released.h	what these leave behind
 * distill.c	a student of private labels
 * gradient.h	a released linear model, see there
 * sparse.c		teachers that agree, through a stream
 * soft.c		scores that agree, through a stream
 * stable.c		a hypothesis drawn for each answer: stable_flip, stable
 * relabel.c	the same, and a vote of what it relabels
 * threshold.c	one numeric feature: thresholds and unions of intervals
 * *_draw.c		their draws, from counts alone
 * stable_erm.c	noise on the scores of a regularised fit; see erm.h
 */
#ifndef PRIVPRED_MECHANISM_H
#define PRIVPRED_MECHANISM_H

#include "draw/receipt.h"
#include "learner/learner.h"
#include "mechanism/finite_class.h"
#include "server/privpred.h"

/*
 * ---------- what was declared ----------
 *
 * All of it is public, and fixed for a version of a model.
 */

/* What one encoded number stands for. */
typedef struct SpecColumn
{
	const char *name;	/* of the feature */
	const char *level;	/* the number says whether it has this level; NULL: not a level */
	bool		binary; /* 0 or 1: levels and booleans */
	double		min;	/* of a number, in the column's own units: what is 0 and 1 here */
	double		max;
} SpecColumn;

typedef struct MechanismSpec
{
	EpsilonUnits	  epsilon;
	int				  teachers; /* 0 unless the mechanism asks teachers */
	int				  nclasses; /* 0: the label is a number */
	char			**classes;
	int				  default_class;
	double			  label_min; /* of a number; labels are clamped */
	double			  label_max;
	int				  width;			 /* encoded features, in [0, 1] */
	const SpecColumn *columns;			 /* width of them */
	int64			  declared_units;	 /* 0: not declared */
	int				  max_rows_per_unit; /* 0: not declared */
	bool			  protects_labels;	 /* and nothing else */
	Jsonb			 *options;

	/*
	 * Public tables that options name (option keys "class_table" and
	 * "reference"), read while a model is declared and trained; NULL later, and
	 * if none is named.
	 */
	const FiniteClass *finite_class; /* its points are the columns, in order */
	const double	  *reference;	 /* width numbers a row */
	int64			   nreference;
} MechanismSpec;

/* A trained model as a mechanism sees it. */
typedef struct MechanismModel
{
	const MechanismSpec *spec;
	const Ensemble		*ensemble;		 /* NULL unless the mechanism asks teachers */
	bool				 gaussian_noise; /* of votes, at finite orders: vote_noise_is_gaussian() */
	const int32			*votes;			 /* teachers' on the very x, if they are counted already */
	int					 estimate_draws; /* behind distribution(), if that is an estimate; 0: one */
	void				*state;			 /* what load() made, else NULL */
} MechanismModel;

/*
 * ---------- protected rows ----------
 *
 * All rows of one unit at a time, in no particular order of units: nothing
 * that is learnt may depend on it.  Rows whose label is NULL or not declared are
 * left out; no more than max_rows_per_unit are given, chosen by a rule that
 * sees that unit alone.  Labels are class numbers, or numbers within bounds.
 *
 * If labels alone are protected, a mechanism may use features as it likes, so
 * no label may decide which features it sees: rows without a usable label are
 * given, too, with a label of NaN, and labels do not take part in the choice.
 */
typedef struct UnitRows
{
	int			  nrows; /* at least 1 */
	const double *label;
	const double *x;		 /* width numbers a row */
	uint64		  unit_hash; /* of the unit's id, salted */
} UnitRows;

typedef struct UnitSource UnitSource;

struct UnitSource
{
	/* The next unit, valid until the next call; false at the end. */
	bool (*next)(UnitSource *source, UnitRows *unit);
	/* Starts over, on the same rows. */
	void (*rewind)(UnitSource *source);
};

/*
 * ---------- mechanisms ----------
 *
 * A mechanism either asks teachers, an ensemble trained by a learner on chunks
 * of units, or learns from units itself through train() and load().
 *
 * train() is total: whatever the rows, it returns a state, and raises no error
 * but for memory, which it prices before it takes it, and cancels.  If the
 * model is charged once, train() draws the model that is released; what
 * it returns is shown to nobody who has not paid.  The size of the state is
 * seen by everybody: it is a function of the spec, or documented.
 *
 * load() checks every byte and lays the state out for answers, in the current
 * memory context; raises XX001 (data corrupted) on what train() cannot have
 * written.
 *
 * answer() returns the index of a class, or -1 for an unstable answer of a
 * stream.  It is total: it raises no error, but for streams and cancels.  All
 * its randomness comes from the sampler.  It and score() are called through
 * mechanism_answer() and mechanism_score() alone, with the receipt of the debit
 * for this very answer, so that nothing can be drawn that was not paid for.
 *
 * score() does the same for a number; false: an unstable answer.  precision is
 * the asker's wish, 0 if there is none, checked by check_precision() before
 * anything is paid for.
 *
 * distribution() fills probability[nclasses] with the exact distribution of
 * answer() in doubles; an unstable answer is what is missing to 1.  It is not
 * private, nor are majority(), squared_error() and plain_score(): owner's
 * functions and tests only.
 */
typedef struct MechanismPlan MechanismPlan; /* mechanism/plan.h */

typedef struct Mechanism
{
	const char *name;
	ChargeKind	charge_kind;
	int			tests; /* of a stream's threshold, at most, by one answer */
	bool		asks_teachers;
	bool		owner_only;		/* no account can pay for its answers */
	bool		labels_only;	/* protects labels and nothing else */
	bool		numeric_labels; /* learns numbers, too */
	const char *option_keys;	/* its own options, "delta, steps"; NULL: none */

	/*
	 * Raises 22023 unless the declared parameters go together, and are enough;
	 * also reads all its options, so that a wrong one is refused here.  NULL:
	 * anything goes.
	 */
	void (*validate)(const MechanismSpec *spec);

	/* The shape of one draw for an account of finite or infinite order. */
	ChargeShape (*shape)(bool order_is_infinite);

	/*
	 * What one purchase costs such an account; false: it cannot pay, whatever
	 * is left in it.  NULL: one draw at the model's epsilon.
	 */
	bool (*charge)(const MechanismSpec *spec, bool order_is_infinite, Charge *charge);

	/* Unless it asks teachers.  memory is what train() may take, in bytes. */
	bytea *(*train)(const MechanismSpec *spec, UnitSource *units, Size memory);
	void *(*load)(const MechanismSpec *spec, bytea *state);

	int (*answer)(const Receipt *receipt, const MechanismModel *model,
				  const double *x); /* NULL: scores only */
	bool (*score)(const Receipt *receipt, const MechanismModel *model, const double *x,
				  double precision, double *score);						  /* NULL: none */
	void (*check_precision)(const MechanismSpec *spec, double precision); /* NULL: takes none */

	void (*distribution)(bool order_is_infinite, const MechanismModel *model, const double *x,
						 double *probability);
	/* The same for either value of the option "noise", at a finite order; NULL: it has none. */
	void (*noise_distribution)(bool gaussian, const MechanismModel *model, const double *x,
							   double *probability);

	/*
	 * distribution() is an estimate, drawn, whose mean is right: steps that one
	 * draw takes, about.  NULL: it is exact.  Then it is the same at all orders.
	 */
	double (*estimate_steps)(const MechanismModel *model);
	/* The plain answer without noise. */
	int (*majority)(const MechanismModel *model, const double *x);

	/* Labels that are numbers: score() without noise, and its expected squared error. */
	double (*plain_score)(const MechanismModel *model, const double *x);
	double (*squared_error)(bool order_is_infinite, const MechanismModel *model, const double *x,
							double truth); /* NULL: no noise */

	/*
	 * Evaluation at another epsilon without training anew: may a model of this
	 * spec, which differs from the trained one in epsilon alone, answer from
	 * the same state?  NULL: never.  What else must then be declared, in words;
	 * NULL: nothing.
	 */
	bool (*answers_at)(const MechanismSpec *spec);
	char *(*answers_at_if)(const MechanismModel *model);

	/* Charged once: the released model as a JSON object; NULL: cannot be exported. */
	char *(*export_json)(const MechanismModel *model);

	const MechanismPlan *plan; /* what privpred.plan() expects of it */
	/* Made-up tables that would show a mistake (audit.h), ended by one that is all zero. */
	const struct AuditCase *audit_cases;
} Mechanism;

extern const Mechanism *mechanism_lookup(const char *name); /* NULL if unknown */
extern const Mechanism *mechanism_number(int number);		/* from 0 on, by name; NULL: no more */
extern char			   *mechanism_names(void);
extern const char	   *charge_kind_name(ChargeKind kind);

/* answer() and score(), which see to it that there is a receipt (answer.c). */
extern int mechanism_answer(const Mechanism *mechanism, const Receipt *receipt,
							const MechanismModel *model, const double *x);
extern bool
mechanism_score(const Mechanism *mechanism, const Receipt *receipt, const MechanismModel *model,
				const double *x, double precision, double *score);

/* What one purchase costs; false: an account of that kind cannot pay. */
extern bool mechanism_charge(const Mechanism *mechanism, const MechanismSpec *spec,
							 bool order_is_infinite, Charge *charge);

/* What votes are drawn with at finite orders, by option or by the number of classes (vote.c). */
extern bool vote_noise_is_gaussian(const MechanismSpec *spec);

/* How teachers vote on x, and their majority (vote.c). */
extern void teachers_votes(const MechanismModel *model, const double *x, int32 *votes);
extern int	teachers_majority(const MechanismModel *model, const double *x);

/*
 * ---------- options.c ----------
 *
 * A model's options hold those of its learner, of its mechanism and of the
 * model itself.  A value of the wrong type or outside the range is refused
 * with 22023 and the key's name.
 */
extern bool option_given(const MechanismSpec *spec, const char *key);

/* from and to are inclusive. */
extern double
option_number(const MechanismSpec *spec, const char *key, double absent, double from, double to);
extern int64
option_integer(const MechanismSpec *spec, const char *key, int64 absent, int64 from, int64 to);
extern bool option_flag(const MechanismSpec *spec, const char *key, bool absent);

/* Index into choices, which end with NULL; the first is for absent keys. */
extern int option_choice(const MechanismSpec *spec, const char *key, const char *const *choices);

/* A string, or NULL. */
extern char *option_text(const MechanismSpec *spec, const char *key);

/*
 * ---------- sparse.c: what streams share ----------
 */

/* The delta of one run that evaluations and quotes assume. */
#define STREAM_TYPICAL_DELTA 1e-8

extern ChargeShape stream_shape(bool order_is_infinite);
extern bool		   stream_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge);

/* Is an unstable answer replaced by a vote, charged for itself? */
extern bool stream_falls_back(const MechanismSpec *spec);

extern const Mechanism average_mechanism;
extern const Mechanism cover_mechanism;
extern const Mechanism distill_mechanism;
extern const Mechanism gradient_mechanism;
extern const Mechanism label_private_mechanism;
extern const Mechanism littlestone_mechanism;
extern const Mechanism relabel_mechanism;
extern const Mechanism soft_mechanism;
extern const Mechanism sparse_mechanism;
extern const Mechanism stable_mechanism;
extern const Mechanism stable_erm_mechanism;
extern const Mechanism stable_flip_mechanism;
extern const Mechanism threshold_mechanism;
extern const Mechanism vote_mechanism;

#endif /* PRIVPRED_MECHANISM_H */
