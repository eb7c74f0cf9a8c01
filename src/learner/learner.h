/*
 * learner.h
 *		Learners fit one teacher to one chunk of rows; predictors are what they
 *		leave behind.
 *
 * registry.c			names to learners
 * options.c			parsing and checking of options
 * labels.c				label values to class numbers
 * training.c			the aggregate state: classes, sums or rows, combine
 * training_portable.c	its form as bytes, between processes and between nodes
 * state_format.c		the portable form, byte by byte (no server needed)
 * training_fit.c		canonical order, fit, result
 * bytes.h				numbers in both forms
 * predictor_format.c	the stored form, byte by byte (no server needed)
 * predictor.c			the stored form inside the server: building, packing, in, out
 * predictor_json.c		the same in words
 * predictor_eval.c		evaluation
 * predictor_facts.c	what is known of an ensemble
 * forest.c				trees: stored form and evaluation (no server needed)
 * explain.c			trees in words
 * liblinear.c			logistic, svm
 * linear.c, naive_bayes.c, centroid.c, stump.c, tree.c, knn.c	one learner each
 * boost.c				boost, forest: by XGBoost, in a module of its own (boost_module.h)
 * threshold.c			the aggregate threshold; sorting and loading of walks
 * threshold_walk.c		the walk over sorted rows (no server needed)
 * sql_functions.c		the user's own functions: finding them
 * sql_binding.c		the same: whose they are, and whether unchanged
 * sql_learner.c		the user's own aggregate as a learner
 * sql_predict.c		the user's own function as a predictor
 * teacher.c			units to teachers
 */
#ifndef PRIVPRED_LEARNER_H
#define PRIVPRED_LEARNER_H

#include "learner/predictor_format.h"
#include "learner/threshold_walk.h"
#include "lib/stringinfo.h"
#include "server/options.h"
#include "server/privpred.h"
#include "utils/array.h"

/*
 * ---------- stored predictors ----------
 *
 * A varlena with a versioned header that rejects what it does not know
 * (predictor_format.h).  It holds one member (a teacher) or many (an
 * ensemble).  Every byte is checked before it is used, because any user can
 * write one as text.
 */
typedef struct varlena Predictor;

/* A checked predictor, laid out for evaluation. */
typedef struct Ensemble Ensemble;

/*
 * Checks the bytes and builds the evaluation layout in the current memory
 * context.  Raises 22P03 (invalid binary representation) on anything unknown
 * or inconsistent.  nclasses and width come from the bytes.  The caller
 * detoasts; the bytes are not needed afterwards.
 */
extern Ensemble *ensemble_load(const Predictor *stored);

extern int ensemble_members(const Ensemble *ensemble);

/* Members that are not constant: the others had nothing to learn, or could not be fitted. */
extern int		   ensemble_fitted(const Ensemble *ensemble);
extern int		   ensemble_classes(const Ensemble *ensemble);
extern int		   ensemble_width(const Ensemble *ensemble);
extern int		   ensemble_default_class(const Ensemble *ensemble);
extern const char *ensemble_class_name(const Ensemble *ensemble, int class_index);

/* Index of a class by its name, or -1. */
extern int ensemble_class_index(const Ensemble *ensemble, const char *name, int length);

/* Whether a feature may be missing (NaN): all members are trees or constants. */
extern bool ensemble_accepts_missing(const Ensemble *ensemble);

/* Does voting run a user's function (learner "sql")? */
extern bool ensemble_runs_sql(const Ensemble *ensemble);

/*
 * Adds each member's vote for x (width doubles, finite or, where the ensemble
 * accepts it, NaN for missing) to votes[nclasses].  A member votes for the class
 * with the highest score; ties go to the lowest class.  Every member casts
 * exactly one vote for any x, whatever its weights: scores that are not finite
 * never win, and if no other is left, the vote goes to the default class.  Native
 * members allocate nothing.
 *
 * Members of learner "sql" run as the current user, in subtransactions.
 * Before PostgreSQL 17 that is impossible in a parallel query; call
 * ensemble_check_callable() before paying for an answer: it raises 0A000 there.
 */
extern void ensemble_vote(const Ensemble *ensemble, const double *x, int32 *votes);
extern void ensemble_check_callable(const Ensemble *ensemble);

/* Raises an error if a member of learner "sql" cannot be called as the current user. */
extern void ensemble_check_functions(const Ensemble *ensemble);

/*
 * Fills scores[members] with each member's score for a class, in no particular
 * order.  Members with sums (linear, naive Bayes) give the class's share of all
 * e^sum, of two classes 1 / (1 + exp(-margin)); neighbours give the class's share; of
 * two classes, a user's function that returns a number gives that number for the
 * second (NULL or NaN counts as the default class); the others give their vote, 0
 * or 1.  Returns how many scores it filled; the caller uses no more of them, and
 * checks that there is one for every member.
 *
 * For one class, the numbers that members give, in [0, 1].
 */
extern int
ensemble_scores(const Ensemble *ensemble, const double *x, int class_index, double *scores);

/* Text and binary input: checked completely; raises the given SQLSTATE. */
extern Predictor *predictor_from_bytes(const char *bytes, Size size, int sqlstate);

/*
 * Packs the members of n predictors into one ensemble, in an order that
 * depends on their bytes alone.  They must agree on classes, width and default
 * (predictor_same_shape).
 */
extern Predictor *predictor_pack(int n, Predictor *const *predictors);

/* Classes, width, default and members as a JSON object. */
extern char *predictor_json(const Predictor *stored);

extern bool predictor_same_shape(const Predictor *a, const Predictor *b);

/*
 * ---------- learners ----------
 *
 * A learner is a deterministic function from a multiset of (class, x) rows to a
 * predictor.  Deterministic means: whatever the order of the rows, the plan,
 * the number of parallel workers.  Otherwise one unit, by moving the
 * physical order, could change more than one teacher, and the privacy proof
 * (one unit, one vote) would be void.  There are two families:
 *
 *  - additive: the state is integer sums (fixed point), a shared block and one
 *	  block per class; merging two states adds them.  One pass, constant memory.
 *  - buffered: the state is the rows; before fit they are put into a canonical
 *	  order that depends on their content alone.
 *
 * In both families, accumulating two halves and merging them gives the same bits
 * as accumulating the whole.
 *
 * A chunk without rows votes the declared default class, and one whose rows are
 * all of one class votes that class; fit() is not called.  fit() is total: on too
 * few rows or a numerical failure it returns false and the teacher votes the
 * default.  It allocates in the current context, which the caller resets, checks for
 * interrupts, and never raises an error that depends on the rows, except for
 * memory.
 *
 * Numbers.  Teachers of numbers in [0, 1] have the option "numbers".  The number is one more
 * feature of a row, the last, so that sums, rows, merging and the order of rows are as they
 * are; all rows are of one class, NUMBERS_CLASS, and so is the predictor, whose members have
 * scores (ensemble_scores) in place of votes.  A chunk without rows says one half.
 */

#define NUMBERS_CLASS "number"

#define LEARNER_MAX_OPTIONS 5

/* Values of the options.  A learner finds its own by their positions in its table. */
typedef struct LearnerOptions
{
	char  *json; /* as they were given */
	double number[LEARNER_MAX_OPTIONS];
	char  *name[LEARNER_MAX_OPTIONS];
	char  *default_class; /* vote of a teacher that could not be fitted; NULL: first */
	int	   nclasses;	  /* declared classes, or 0 to collect them */
	char **classes;
	bool   numbers; /* teachers give numbers: see below */
} LearnerOptions;

/* What fit() sees: rows in canonical order, or sums; classes in final order. */
typedef struct TrainingData
{
	int			 nclasses;
	char	   **classes;
	int			 width;
	int			 stride;	 /* of a row: its width, and one more for a number */
	Oid			 label_type; /* base type of the label column */
	int64		 nrows;
	const int64 *class_rows; /* rows of each class */

	/* buffered */
	const double *values;	 /* width per row, in order of arrival */
	const int32	 *row_class; /* in order of arrival */
	const int64	 *order;	 /* canonical position to arrival; NULL if sorts_rows */

	/* additive */
	const int128 *shared;
	const int128 *of_class; /* nclasses blocks */
} TrainingData;

typedef struct PredictorBuilder PredictorBuilder;

typedef struct Learner
{
	const char *name;
	const char *aggregate; /* in schema privpred; NULL: its name */
	bool		additive;
	bool		runs_user_code;	 /* as the owner of the relation */
	bool		accepts_missing; /* features may be NaN */
	bool		finds_cuts;		 /* of features, by itself: declared ones are left out */
	bool		aggregate_only; /* takes one column; not for teachers: its size tells of the rows */
	bool		learns_one_class; /* fit() is also called without rows, or with one class */
	bool		sorts_rows;		  /* fit() puts rows into an order of its own */

	const Option *options; /* its own; NULL: none */

	/* optional: raises an error if the options do not go together */
	void (*check_options)(const LearnerOptions *options);

	/* additive: how many int128 sums, as a function of the width */
	int64 (*shared_sums)(int width);
	int64 (*class_sums)(int width);
	/* additive: add one row (fixed-point features) to the sums */
	void (*add_to_class)(int128 *of_class, const int64 *x, int width);
	void (*add_to_shared)(int128 *shared, const int64 *x, int width);

	/*
	 * additive, optional: the same for rows whose features are small, into
	 * 64-bit sums that cannot overflow within SMALL_ROWS rows.
	 */
	void (*add_small_to_shared)(int64 *shared, const int32 *x, int width);

	/* optional: raises an error, before any row is read, if fit() could not work */
	void (*prepare)(void);

	/* bytes of a fitted teacher; NULL: they depend on the rows */
	Size (*member_size)(int nclasses, int width, const LearnerOptions *options);

	/* buffered: working memory of fit(), per row */
	Size (*fit_row_bytes)(int nclasses, int width);

	/* optional: further working memory of fit(), for these rows */
	Size (*fit_bytes)(const TrainingData *data, const LearnerOptions *options);

	/* both: fit and describe the result through the builder; false = default */
	bool (*fit)(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result);

	/* the same for numbers; NULL: learns classes alone */
	bool (*fit_numbers)(const TrainingData *data, const LearnerOptions *options,
						PredictorBuilder *result);
} Learner;

/*
 * Builds an ensemble of exactly this many members: the packed ones (NULL: none)
 * and constants for the teachers that saw no row.  The size of the result is fixed by its arguments
 * other than packed, because anybody may see how large our tables are; only
 * learner "sql" cannot promise that.  The options declare the classes.
 */
extern Predictor *
predictor_complete(const Learner *learner, const LearnerOptions *options, const Predictor *packed,
				   int teachers, int width, int default_class);

/* The members as they are stored, but for the room after a constant; within its bytes. */
extern PredictorMember *predictor_members(const Predictor *stored, int *nmembers);

/*
 * The ensemble of these teachers (kind 0: one that saw no row), byte for byte what
 * predictor_pack() and then predictor_complete() make of those that saw rows.  Sets which
 * member each is.
 */
extern Predictor *
predictor_assemble(const Learner *learner, const LearnerOptions *options, int teachers,
				   const PredictorMember *members, int width, int default_class, uint32 *positions);

extern const Learner *learner_lookup(const char *name); /* NULL if unknown */
extern char			 *learner_names(void);				/* "centroid, linear, ...", for hints */
extern char			 *learner_names_of_numbers(void);	/* those that learn numbers */

/*
 * Parses and checks an options object for one learner.  Unknown keys, wrong
 * types, non-finite or non-positive numbers: 22023 with the key's name.
 * "classes" and "default" are accepted for every learner.  NULL: defaults.
 */
extern void learner_parse_options(const Learner *learner, Jsonb *json, LearnerOptions *options);
extern void
learner_parse_options_text(const Learner *learner, const char *json, LearnerOptions *options);

/*
 * Learner "sql": raises 42883 unless both functions exist for this type of
 * label and 42501 unless the current user may execute them, and owns them if no
 * superuser does.
 */
extern void learner_check_sql_functions(const LearnerOptions *options, Oid label_type);

/*
 * ---------- sql_binding.c ----------
 *
 * The functions that a model of learner "sql" runs, fixed when it is trained.  They
 * are stored by name, so that they survive a dump: pg_upgrade refuses tables with
 * regprocedure.
 */
typedef struct SqlBinding
{
	char  *train; /* signature: schema.name(types), everything qualified */
	char  *predict;
	bytea *digest; /* sha256 of definitions and owners */

	uint64 checked_at; /* when it was last found to hold, and for whom */
	Oid	   checked_for;
} SqlBinding;

/*
 * Finds the functions that the options name, by name or by signature.  The caller
 * runs as the owner of the relation, with a search_path that nobody can influence.
 * Raises 42883 if there are none; 42501 unless all of them, the functions that make
 * up the aggregate and its result type belong to the owner or a superuser; 42P13
 * unless they are compiled or fix a search_path that ends in pg_temp.
 */
extern SqlBinding *sql_binding_create(const LearnerOptions *options, Oid label_type, Oid owner);

/* Are the functions unchanged, and may they still run as the owner?  Called likewise. */
extern bool sql_binding_check(SqlBinding *binding, Oid owner);

/* Has that been checked, and has nothing changed since?  Can be called anywhere. */
extern bool sql_binding_was_checked(const SqlBinding *binding, Oid owner);

/* Does the session have temporary objects, which a name could refer to? */
extern bool sql_session_has_temporary_objects(void);

extern void sql_binding_init(void);

/* ---------- training.c, training_fit.c ---------- */

typedef struct TrainingState TrainingState;

/*
 * Everything a state owns lives in the context that is current when it is
 * created; so it must be current whenever the state grows.
 */
extern TrainingState *training_create(const Learner *learner, const LearnerOptions *options,
									  Oid label_type, int width, Size memory_limit);
extern void
training_add(TrainingState *state, Datum label, bool label_isnull, const double *features);

/* Raises 22023 if a row with this many features cannot be added. */
extern void			  training_check_width(const TrainingState *state, int width);
extern const Learner *training_learner(const TrainingState *state);

/* Adds source to target; raises 22023 if they do not belong together. */
extern void			  training_merge(TrainingState *target, const TrainingState *source);
extern TrainingState *training_create_like(const TrainingState *source);

/* NULL if no class is known at all. */
extern Predictor *training_finish(const TrainingState *state);

/*
 * The same, and sets the digest of everything that the teacher depends on.  Returns
 * NULL if it is among the known ones, which are in order.
 */
extern Predictor *
training_finish_unless(const TrainingState *state, const uint8 *known, Size nknown, uint8 *digest);

/*
 * ---------- training_portable.c ----------
 *
 * A state as bytes.  Other nodes understand those that portable_write() makes;
 * they are as sensitive as the rows.  Options that are given together with a
 * learner name it by "learner".
 */
extern bytea		 *training_serialize(const TrainingState *state);
extern TrainingState *training_deserialize(bytea *wire);

/* Creates an empty state, in the current context.  Raises 22023 on wrong options. */
extern TrainingState *portable_create(Jsonb *options, Oid label_type, int width, Size memory_limit);

/* Adds source, which must not be used afterwards; raises 22023 like training_merge(). */
extern void portable_merge(TrainingState *target, TrainingState *source);

/* Writes a varlena; reads the bytes of one (22P03 on anything unknown or inconsistent). */
extern bytea		 *portable_write(const TrainingState *state);
extern TrainingState *portable_read(const char *bytes, Size size, Size memory_limit);

/* Raises sqlstate unless the bytes are well formed. */
extern void portable_check(const char *bytes, Size size, int sqlstate);

/*
 * Returns the elements of a one-dimensional array of finite numbers; raises 22004
 * or 22023 on anything else.  If missing features are accepted, NULL becomes NaN.
 */
extern const double *features_from_array(ArrayType *array, bool accept_missing, int *width);

/* ---------- threshold.c ---------- */

/* Sorts by walk_row_compare(); can be cancelled. */
extern void walk_sort(WalkRow *rows, int64 nrows);

/* Lays out what threshold_body_ok() accepted, in the current memory context. */
extern WalkPoints *walk_load(const unsigned char *body, Size size);

/* ---------- teacher.c ---------- */

#define TEACHER_SALT_BYTES 16

/* Can values of this type and collation identify a unit? */
extern bool teacher_unit_type_ok(Oid type, Oid collation);

/* How to turn a unit into bytes, resolved once per call site. */
typedef struct UnitHasher UnitHasher;

extern UnitHasher *unit_hasher_create(Oid type, Oid collation);
extern uint64	   unit_hash(UnitHasher *hasher, Datum unit, const unsigned char *salt);

/* The same for a unit of several columns: as if they were a row. */
extern UnitHasher *unit_hasher_of_columns(int n, const Oid *types, Oid collation);
extern uint64 unit_hash_columns(UnitHasher *hasher, const Datum *values, const unsigned char *salt);

/* What is hashed, until the next call: equal for equal units, and different for others. */
extern const unsigned char			  *
unit_bytes_of_columns(UnitHasher *hasher, const Datum *values, Size *size);
extern int unit_teacher(UnitHasher *hasher, Datum unit, const unsigned char *salt, int teachers);

/* The salt of the hash that holds units out, so that it knows nothing of the one for teachers. */
extern void holdout_salt(const unsigned char *salt, unsigned char *derived);

/* The seed of the choice among a unit's rows; other nodes may know it without knowing the salt. */
extern uint64 row_choice_seed(const unsigned char *salt);

#endif /* PRIVPRED_LEARNER_H */
