/*
 * learners.h
 *		The learners there are, and what only they share.
 */
#ifndef PRIVPRED_LEARNERS_H
#define PRIVPRED_LEARNERS_H

#include <math.h>

#include "access/htup.h"
#include "utils/memutils.h"

#include "learner/forest.h"
#include "learner/learner.h"
#include "learner/predictor_format.h"

/*
 * Hot loops are compiled twice where the loader can choose.  No sum is
 * reordered, so both give the same bits.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define VECTOR_CLONES
#endif

/* All learners, in alphabetical order for hints. */
#define LEARNERS(_) \
	_(boost) \
	_(centroid) \
	_(forest) \
	_(knn) \
	_(linear) \
	_(logistic) \
	_(naive_bayes) \
	_(sql) \
	_(stump) \
	_(svm) \
	_(threshold) \
	_(tree)

#define DECLARE_LEARNER(name) extern const Learner name##_learner;
LEARNERS(DECLARE_LEARNER)

/* As palloc(), for what may be larger than a gigabyte. */
static inline void *
palloc_huge(Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, size);
}

static inline void *
palloc0_huge(Size size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Features of additive learners are integers, one unit being 2^-24. */
#define FIXED_POINT_BITS 24
#define FIXED_POINT_ONE ((double) (1 << FIXED_POINT_BITS))
#define FIXED_POINT_MAX 32768.0 /* largest |x| accepted */

/* |x| <= 2^27 in fixed point: 2^8 products of two stay below 2^62. */
#define SMALL_MAX 8.0
#define SMALL_ROWS 256

static inline const double *
training_row(const TrainingData *data, int64 position)
{
	return data->values + data->order[position] * data->stride;
}

/* Numbers in fixed point, as sums of features are. */
static inline int32
fixed_number(double number)
{
	return number > 0 ? (int32) rint(Min(number, 1.0) * FIXED_POINT_ONE) : 0;
}

/* The number of a row, in order of arrival; NaN is nothing that training gives. */
static inline int32
training_number(const TrainingData *data, int64 row)
{
	return fixed_number(data->values[row * data->stride + data->width]);
}

static inline int
training_class(const TrainingData *data, int64 position)
{
	return data->row_class[data->order[position]];
}

/*
 * ---------- building a predictor ----------
 *
 * fit() describes its teacher with one of these calls, or writes the bytes of a
 * member (predictor_format.h).  A linear teacher of two classes has one vector of
 * width + 1 weights, the last of which is the bias; a positive score means the
 * second class.  With more classes there is one vector for each, and a bias of
 * -infinity keeps a class from ever winning.
 */
#define LINEAR_VECTORS(nclasses) ((nclasses) == 2 ? 1 : (nclasses))

extern Size linear_member_size(int nclasses, int width, const LearnerOptions *options);
extern void builder_linear(PredictorBuilder *builder, const double *weights);

extern void
builder_sql(PredictorBuilder *builder, const char *predict, const char *type, const char *value);
extern void builder_constant(PredictorBuilder *builder, int class_index);

extern PredictorBuilder *builder_create(int nclasses, char **classes, int width, int default_class);
extern Predictor		*builder_finish(PredictorBuilder *builder);

/* Finds the parts of a stored predictor; raises 22P03 on anything unknown or inconsistent. */
extern void predictor_read(const Predictor *stored, PredictorShape *shape);

/* Copies the length-prefixed string at a position, and moves on; from UTF-8 if it is text. */
extern char *stored_string(const unsigned char **position);
extern char *stored_text(const unsigned char **position);

/* Returns the bytes of the member, to be filled in; a second call starts again. */
extern unsigned char *builder_member(PredictorBuilder *builder, uint32 kind, Size size);

extern void builder_forest(PredictorBuilder *builder, const Forest *forest);

/* A stored forest that predictor_parse() accepted, in the current context. */
extern Forest *forest_read(const unsigned char *body, Size size, int nclasses, int width);

/* Learner "tree" for numbers. */
extern bool
tree_fit_numbers(const TrainingData *data, int depth, int min_rows, PredictorBuilder *result);
extern Size tree_fit_row_bytes(int nclasses, int width);

/* A forest whose arrays are zero, in the current context. */
extern Forest *forest_create(int depth, int trees, int nclasses, bool leaf_per_score);

/* Additive learners that keep the sum of each feature (training.c). */
extern int64 no_sums(int width);
extern int64 feature_sums(int width);
extern void	 add_features(int128 *of_class, const int64 *x, int width);

/* ---------- sql_functions.c, sql_learner.c, sql_predict.c ---------- */

/* Positions of the options of learner "sql". */
typedef enum SqlOption
{
	SQL_TRAIN,	/* the user's aggregate */
	SQL_PREDICT /* the user's function */
} SqlOption;

/* A function of the user, looked up once. */
typedef struct SqlFunction
{
	Oid function;
	Oid arguments[2]; /* as it is called: declared types, actual ones if polymorphic */
	Oid result;		  /* never polymorphic */
} SqlFunction;

/*
 * Looks up schema.name for (first, float8[]), or a signature.  Returns false if
 * there is none, or if the arguments would need conversion; raises 42883 on a
 * name without schema and 42501 unless the current user may execute it, and
 * owns it if no superuser does.
 */
extern bool sql_function_find(const char *name, bool aggregate, Oid first, SqlFunction *found);

/* The same for an aggregate over labels of a type, or over their text. */
extern bool sql_train_find(const char *name, Oid label_type, SqlFunction *found);

/* Both functions that options name; raises 42883 if there are none. */
extern void sql_functions_find(const LearnerOptions *options, Oid label_type, SqlFunction *train,
							   SqlFunction *predict);

/* The row of an object that must exist, to be released; cache is PROCOID or the like. */
extern HeapTuple sql_catalog_row(int cache, Oid oid);

/* schema.name(types), with every schema spelled out. */
extern char *sql_signature(Oid function);

/* The only function of a signature, or InvalidOid. */
extern Oid sql_signature_find(const char *signature);

/* Raises 42725 unless a parser finds this aggregate by its name. */
extern void sql_check_not_hidden(const SqlFunction *train);

/* Code may run as a role if that role or a superuser owns it. */
extern bool sql_may_run_as(Oid author, Oid role);
extern Oid	sql_author(Oid function);
extern void sql_check_author(Oid function, Oid role);

/* Raises 42501 unless the same holds for all that reading a value of the type would run. */
extern void sql_check_type(Oid type, Oid role);

/* A row's features, as a function in SQL gets them. */
extern ArrayType *sql_features(const double *x, int width);

/*
 * Runs code of the user in a subtransaction, with scratch as its memory context, so that
 * an error leaves nothing behind.  Returns the error, in the current context, or NULL.
 */
extern ErrorData *sql_try(void (*call)(void *arg), void *arg, MemoryContext scratch);

/*
 * Around calls of functions that run as the current user in another's session: PL/pgSQL
 * functions among them were compiled as the current user, too.  After each call,
 * sql_helpers_again() says whether it must be made again, whatever came of it.
 */
#define SQL_HELPERS_PENDING 256

typedef struct SqlHelpers
{
	void *plugin; /* that was in use */
	Oid	  owner;
	bool  again;	/* something was declared out of date */
	int	  refusals; /* how often */
	int	  npending; /* things that were, since the call began */
	void *pending[SQL_HELPERS_PENDING];
} SqlHelpers;

extern void sql_helpers_begin(SqlHelpers *outer);
extern void sql_helpers_end(const SqlHelpers *outer);
extern bool sql_helpers_again(void);

/* Members of one ensemble that run a user's function. */
typedef struct SqlMembers SqlMembers;

extern SqlMembers *sql_members_create(int n);
extern void
sql_members_add(SqlMembers *members, const char *predict, const char *type, const char *value);

/* Raises an error if one of them cannot be called as the current user. */
extern void sql_members_check(SqlMembers *members);

/* Asks each member, and adds to votes or fills scores of a class, whichever is given. */
extern void sql_members_ask(SqlMembers *members, const Ensemble *ensemble, const double *x,
							int32 *votes, int class_index, double *scores);

#endif /* PRIVPRED_LEARNERS_H */
