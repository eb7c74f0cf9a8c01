/*
 * mechanism.h
 *		Mechanisms turn what was learnt from rows into private answers.
 *
 * A mechanism is a folder and a line of the registry below.  Its NAME.c holds the
 * struct, its draw.c the exact draw from counts alone.  What several share:
 *
 * registry.c		names to mechanisms, and the guards that all of them need
 * teachers.h		votes and scores of an ensemble
 * released.h		classifiers that are released as a whole
 * drawn.h			hypotheses that are drawn for each answer
 * kept.h			rows that are read more than once
 * unit_sums.h		passes over rows, wherever they are
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
	int			piece;	/* of a column with cuts, from 1: how much of it lies below; 0: no cuts */
	bool		binary; /* 0 or 1: levels and booleans */
	double		min;	/* of a number or piece, in the column's own units: what is 0 and 1 here */
	double		max;
} SpecColumn;

typedef struct MechanismSpec
{
	const struct Mechanism *mechanism; /* whose it is: for code that two of them share */
	EpsilonUnits			epsilon;
	int						teachers; /* 0 unless the mechanism asks teachers */
	int						nclasses; /* 0: the label is a number */
	char				  **classes;
	int						default_class;
	double					label_min; /* of a number; labels are clamped */
	double					label_max;
	const double		   *bin_edges;		/* of a number whose bins are the classes; else NULL */
	int						width;			/* encoded features, in [0, 1] */
	const SpecColumn	   *columns;		/* width of them */
	int64					declared_units; /* 0: not declared */
	int						max_rows_per_unit; /* 0: not declared */
	bool					protects_labels;   /* and nothing else */
	Jsonb				   *options; /* of the learner, the mechanism and the model itself */

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
	const int32			*votes;			 /* the teachers' on this very x, if already counted */
	const double		*scores;		 /* theirs, of the class that is asked, likewise */
	int					 estimate_draws; /* behind distribution(), if that is an estimate; 0: one */
	int					 score_class;	 /* whose score is asked, from 1; 0: the second's */
	void				*state;			 /* what load() made, else NULL */
} MechanismModel;

/*
 * ---------- protected rows ----------
 *
 * All rows of one unit at a time, in no particular order of units, unless the
 * mechanism wants that of their hashes: nothing that is learnt may depend on
 * another.  Rows whose label is NULL or not declared are left out; no more than
 * max_rows_per_unit are given, chosen by a rule that
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

/* How rows are read.  All of it is declared, except for the seed. */
typedef struct UnitForm
{
	int	   width;
	int	   max_rows;		 /* of a unit; 0: any number */
	uint64 seed;			 /* of the choice among more */
	int	   nclasses;		 /* 0: labels are numbers, given in [0, 1] */
	bool   keeps_unlabelled; /* labels alone are protected */
	double label_min;		 /* of a number */
	double label_max;
} UnitForm;

typedef struct UnitSource UnitSource;
struct UnitSum; /* unit_sums.h */
struct StringInfoData;

struct UnitSource
{
	/* The next unit, valid until the next call; false at the end. */
	bool (*next)(UnitSource *source, UnitRows *unit);
	/* Starts over, on the same rows. */
	void (*rewind)(UnitSource *source);

	/*
	 * For unit_sums() (unit_sums.h) alone: how rows are read, and who adds up; NULL:
	 * units are read and added up here.
	 */
	UnitForm form;
	void (*sum)(UnitSource *source, const struct UnitSum *kind,
				const struct StringInfoData *parameter, int64 count, int128 *sums);
	/* Rows lie on other nodes: whoever can do with sums should not ask for them. */
	bool far;
};

/*
 * ---------- mechanisms ----------
 *
 * A mechanism either asks teachers, an ensemble trained by a learner on chunks
 * of units, or learns from units itself through train() and load().
 *
 * train() is total: whatever the rows, it returns a state, and raises no errors
 * except about memory, which it prices before it takes it, and cancels.  If the
 * model is charged once, train() draws the model that is released, and nobody
 * sees it before paying.  Everybody sees the size of the state: it is a function
 * of the spec, or documented.
 *
 * load() checks every byte and lays the state out for answers, in the current
 * memory context; it raises XX001 (data corrupted) on anything that train() cannot
 * have written.
 *
 * answer() returns the index of a class, or -1 for an unstable answer of a
 * stream.  It is total: it raises no error, except in streams and when cancelled.
 * All its randomness comes from the sampler.  It and score() are called through
 * mechanism_answer() and mechanism_score() alone, with the receipt of the debit
 * for this very answer, so that nothing can be drawn that was not paid for.
 *
 * score() does the same for a number; it returns false for an unstable answer.
 * precision is the asker's wish, 0 if there is none, checked by
 * check_precision() before anything is paid for.
 *
 * Models that are charged once have spent their randomness in training.  Their
 * answer is majority() and their score plain_score(): they have no answer(),
 * score() or distribution() of their own.
 *
 * distribution() fills probability[nclasses] with the exact distribution of
 * answer() in doubles; the probability of an unstable answer is what is missing
 * to 1.  It is not private, nor are majority(), squared_error() and
 * plain_score(): they are for the owner's functions and for tests only.
 */
typedef struct MechanismPlan MechanismPlan; /* mechanism/plan.h */

typedef struct Mechanism
{
	const char *name;
	ChargeKind	charge_kind;
	int			tests; /* of a stream's threshold, at most, by one answer */
	bool		asks_teachers;
	bool		makes_students; /* its rows are public: distill makes it, and nothing retrains it */
	bool		owner_only;		/* no account can pay for its answers */
	bool		labels_only;	/* protects labels and nothing else */
	bool		numeric_labels; /* learns numbers, too */
	bool		scores_numbers; /* and has scores for these alone, not for classes */
	bool		two_classes;	/* of classes it learns exactly two */
	bool		needs_units;	/* their number must be declared */
	bool		needs_unit_rows; /* the largest number of rows of a unit must be declared */
	bool		finds_cuts;		 /* of features, by itself: declared ones are left out */

	bool scores_two_classes; /* score() is of two classes, or of a number */
	bool scores_classes;	 /* score() is of the class that is asked, or of a number */

	const Option *options; /* its own; NULL: none */

	/*
	 * Raises 22023 unless the declared parameters go together, and are enough.
	 * NULL: anything goes.  Called through mechanism_validate(), which has
	 * checked that each option is within the range that its table says.
	 */
	void (*validate)(const MechanismSpec *spec);

	/* The shape of one draw for accounts of finite and of infinite order; pure by default. */
	ChargeShape finite_shape;
	ChargeShape infinite_shape;

	/*
	 * What one purchase costs such an account; false: it cannot pay, whatever
	 * is left in it.  NULL: one draw at the model's epsilon.
	 */
	bool (*charge)(const MechanismSpec *spec, bool order_is_infinite, Charge *charge);

	/* Must units come in the order of their hashes, as signed numbers?  NULL: in any. */
	bool (*wants_order)(const MechanismSpec *spec);

	/* Unless it asks teachers.  memory is what train() may take, in bytes. */
	bytea *(*train)(const MechanismSpec *spec, UnitSource *units, Size memory);
	void *(*load)(const MechanismSpec *spec, bytea *state);

	/* NULL: scores only, or charged once. */
	int (*answer)(const Receipt *receipt, const MechanismModel *model, const double *x);
	bool (*score)(const Receipt *receipt, const MechanismModel *model, const double *x,
				  double precision, double *score);						  /* NULL: none */
	void (*check_precision)(const MechanismSpec *spec, double precision); /* NULL: takes none */

	void (*distribution)(bool order_is_infinite, const MechanismModel *model, const double *x,
						 double *probability);
	/* The same for either value of the option "noise", at a finite order; NULL: it has none. */
	void (*noise_distribution)(bool gaussian, const MechanismModel *model, const double *x,
							   double *probability);

	/*
	 * If distribution() is an estimate, drawn, whose mean is right: about how many
	 * steps one draw takes.  It is then the same at all orders.  NULL: it is exact.
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

/* The registry, in alphabetical order, as hints print it. */
#define MECHANISMS(entry) \
	entry(average) entry(cover) entry(distill) entry(gradient) entry(label_private) \
		entry(littlestone) entry(median) entry(relabel) entry(soft) entry(sparse) entry(stable) \
			entry(stable_erm) entry(stable_flip) entry(threshold) entry(vote)

/* Each has its plan, in its folder's plan.c. */
#define DECLARE_MECHANISM(name) \
	extern const Mechanism	   name##_mechanism; \
	extern const MechanismPlan plan_##name;
MECHANISMS(DECLARE_MECHANISM)

extern const Mechanism *mechanism_lookup(const char *name); /* NULL if unknown */
extern const Mechanism *mechanism_number(int number);		/* from 0 on, by name; NULL: no more */
extern char			   *mechanism_names(void);
extern const char	   *charge_kind_name(ChargeKind kind);

/* Raises 22023 or 55000 unless the mechanism can work with what is declared. */
extern void mechanism_validate(const Mechanism *mechanism, const MechanismSpec *spec);

/* answer() and score(), which see to it that there is a receipt (answer.c). */
extern int mechanism_answer(const Mechanism *mechanism, const Receipt *receipt,
							const MechanismModel *model, const double *x);
extern bool
mechanism_score(const Mechanism *mechanism, const Receipt *receipt, const MechanismModel *model,
				const double *x, double precision, double *score);

/* Does it give labels, and numbers? */
static inline bool
mechanism_gives_answers(const Mechanism *mechanism)
{
	return mechanism->answer != NULL || mechanism->charge_kind == CHARGE_ONCE;
}

static inline bool
mechanism_gives_scores(const Mechanism *mechanism, const MechanismSpec *spec)
{
	if (mechanism->scores_two_classes && spec->nclasses > 2)
		return false;
	if (mechanism->scores_numbers && spec->nclasses > 0)
		return false;
	return mechanism->score != NULL ||
		   (mechanism->charge_kind == CHARGE_ONCE && mechanism->plain_score != NULL);
}

/* Has each class a score of its own? */
static inline bool
mechanism_scores_classes(const Mechanism *mechanism, const MechanismSpec *spec)
{
	return mechanism->scores_classes && spec->nclasses > 0 && spec->bin_edges == NULL;
}

/* distribution(), also of models that are charged once. */
extern void
mechanism_distribution(const Mechanism *mechanism, bool order_is_infinite,
					   const MechanismModel *model, const double *x, double *probability);

/* What one purchase costs; false: an account of that kind cannot pay. */
extern bool mechanism_charge(const Mechanism *mechanism, const MechanismSpec *spec,
							 bool order_is_infinite, Charge *charge);

/* ---------- guards, for mechanisms ---------- */

/* Raises 53200 if training would take more bytes than it may. */
extern void check_training_memory(Size needed, Size memory);

/* Raises XX001: the stored state of a model is not what train() wrote. */
pg_noreturn extern void state_damaged(void);

#endif /* PRIVPRED_MECHANISM_H */
