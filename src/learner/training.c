/*
 * training.c
 *		The aggregate state shared by all learners.
 *
 * There may be a hundred thousand states at once, one per teacher, so a state
 * is small, owns no memory context and grows geometrically.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/float.h"

#include "learner/training.h"

#ifndef HAVE_INT128
#error "privpred needs a compiler with 128-bit integers"
#endif

#define FIRST_ROWS 16

int64
no_sums(int width)
{
	return 0;
}

int64
feature_sums(int width)
{
	return width;
}

void
add_features(int128 *of_class, const int64 *x, int width)
{
	for (int i = 0; i < width; i++)
		of_class[i] += x[i];
}

/* Called before the memory is taken. */
void
training_check_memory(const TrainingState *state, Size more)
{
	if (more > state->memory_limit || state->memory_used > state->memory_limit - more)
		ereport(
			ERROR, errcode(ERRCODE_OUT_OF_MEMORY),
			errmsg("one teacher of learner \"%s\" needs more than maintenance_work_mem (%zu kB)",
				   state->learner->name, state->memory_limit / 1024),
			state->learner->aggregate_only ? errhint("Raise maintenance_work_mem.")
			: state->learner->additive
				? errhint("Raise maintenance_work_mem, or use fewer features or classes.")
				: errhint("Use more teachers, raise maintenance_work_mem, or choose a learner "
						  "that keeps no rows: linear, naive_bayes or centroid."));
}

static void
price_memory(TrainingState *state, Size more)
{
	training_check_memory(state, more);
	state->memory_used += more;
}

TrainingState *
training_create(const Learner *learner, const LearnerOptions *options, Oid label_type, int width,
				Size memory_limit)
{
	TrainingState *state = palloc0(sizeof(TrainingState));

	state->learner = learner;
	state->options = *options;
	state->label_type = label_type;
	state->kind = label_kind(label_type);
	state->width = width;
	state->memory_limit = memory_limit;
	if (options->numbers && width < 2)
		refuse(errmsg("a row of numbers needs a feature, and its number as the last one"),
			   errhint("Append the number, in [0, 1], to the features."));

	if (learner->additive)
	{
		state->shared_sums = learner->shared_sums(width);
		state->class_sums = learner->class_sums(width);
		price_memory(state, state->shared_sums * (sizeof(int128) + sizeof(int64)) +
								width * (sizeof(int64) + sizeof(int32)));
		state->shared = palloc0_huge(state->shared_sums * sizeof(int128));
		state->fixed = palloc(width * sizeof(int64));
		state->small = palloc(width * sizeof(int32));
		if (learner->add_small_to_shared)
			state->pending = palloc0_huge(state->shared_sums * sizeof(int64));
	}
	for (int i = 0; i < options->nclasses; i++)
		training_ensure_class(state, options->classes[i], strlen(options->classes[i]));
	if (options->default_class)
		training_ensure_class(state, options->default_class, strlen(options->default_class));
	return state;
}

TrainingState *
training_create_like(const TrainingState *source)
{
	LearnerOptions options;

	/* the source may go away before we do */
	learner_parse_options_text(source->learner, source->options.json, &options);
	return training_create(source->learner, &options, source->label_type, source->width,
						   source->memory_limit);
}

void
training_check_width(const TrainingState *state, int width)
{
	if (width != state->width)
		refuse(errmsg("features must always have the same length"),
			   errdetail("There are rows with %d and with %d features.", state->width, width));
}

const Learner *
training_learner(const TrainingState *state)
{
	return state->learner;
}

/* The array may be NULL. */
static void *
repalloc_or_palloc(void *array, Size size)
{
	return array ? repalloc_huge(array, size) : palloc_huge(size);
}

/* The same; new bytes are zero. */
static void *
grow_zeroed(void *array, Size old_size, Size new_size)
{
	char *grown = repalloc_or_palloc(array, new_size);

	memset(grown + old_size, 0, new_size - old_size);
	return grown;
}

int
training_ensure_class(TrainingState *state, const char *name, int length)
{
	int class_index = class_names_find(&state->classes, name, length);

	if (class_index >= 0)
		return class_index;
	if (state->classes.n >= PRIVPRED_MAX_CLASSES)
		refuse(errmsg("labels have more than %d different values", PRIVPRED_MAX_CLASSES),
			   errhint("Declare the classes: {\"classes\": [\"a\", \"b\"]}."));
	price_memory(state, state->class_sums * sizeof(int128));
	class_index = class_names_add(&state->classes, name, length);
	if (class_index >= state->class_capacity)
	{
		int capacity = Max(4, 2 * state->class_capacity);

		state->class_rows = grow_zeroed(state->class_rows, state->class_capacity * sizeof(int64),
										capacity * sizeof(int64));
		state->of_class = grow_zeroed(state->of_class, state->class_capacity * sizeof(int128 *),
									  capacity * sizeof(int128 *));
		state->class_capacity = capacity;
	}
	if (state->learner->additive)
		state->of_class[class_index] = palloc0_huge(state->class_sums * sizeof(int128));
	return class_index;
}

void
training_reserve_rows(TrainingState *state, int64 more)
{
	int64 capacity = Max(FIRST_ROWS, state->capacity * 2);
	int64 affordable;
	Size  row_bytes;

	if (state->nrows + more <= state->capacity)
		return;
	/* what fit() will need is priced here too, so that it cannot fail later */
	row_bytes = state->width * sizeof(double) + sizeof(int32) +
				state->learner->fit_row_bytes(state->classes.n, state->width);
	affordable = state->capacity + (int64) ((state->memory_limit - state->memory_used) / row_bytes);
	capacity = Max(Min(capacity, affordable), state->nrows + more);
	price_memory(state, (capacity - state->capacity) * row_bytes);
	state->values = repalloc_or_palloc(state->values, capacity * state->width * sizeof(double));
	state->row_class = repalloc_or_palloc(state->row_class, capacity * sizeof(int32));
	state->capacity = capacity;
}

/*
 * Rounds to fixed point, ties to even.  Adding 1.5 * 2^52 leaves the rounded
 * integer in the low bits of the significand.  Returns the largest |x|.
 */
static double
fix_row(TrainingState *state, const double *features)
{
	const double magic = 6755399441055744.0;
	int64		 magic_bits;
	double		 largest = 0;

	memcpy(&magic_bits, &magic, sizeof(magic_bits));
	for (int i = 0; i < state->width; i++)
	{
		double size = fabs(features[i]);
		double shifted = features[i] * FIXED_POINT_ONE + magic;
		int64  bits;

		memcpy(&bits, &shifted, sizeof(bits));
		state->fixed[i] = bits - magic_bits;
		largest = size > largest ? size : largest;
	}
	if (largest > FIXED_POINT_MAX)
		ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("features of learner \"%s\" must lie between -%.0f and %.0f",
					   state->learner->name, FIXED_POINT_MAX, FIXED_POINT_MAX),
				errhint("Scale the features, preferably to the range from 0 to 1."));
	return largest;
}

/* A state is the same before and after, but for where its sums are. */
void
training_settle(const TrainingState *const_state)
{
	TrainingState *state = unconstify(TrainingState *, const_state);

	if (state->pending_rows == 0)
		return;
	for (int64 i = 0; i < state->shared_sums; i++)
		state->shared[i] += state->pending[i];
	memset(state->pending, 0, state->shared_sums * sizeof(int64));
	state->pending_rows = 0;
}

static void
add_to_sums(TrainingState *state, const double *features, int class_index)
{
	const Learner *learner = state->learner;
	double		   largest = fix_row(state, features);

	learner->add_to_class(state->of_class[class_index], state->fixed, state->width);
	if (learner->add_small_to_shared && largest <= SMALL_MAX)
	{
		for (int i = 0; i < state->width; i++)
			state->small[i] = (int32) state->fixed[i];
		learner->add_small_to_shared(state->pending, state->small, state->width);
		if (++state->pending_rows == SMALL_ROWS)
			training_settle(state);
	}
	else if (learner->add_to_shared)
		learner->add_to_shared(state->shared, state->fixed, state->width);
}

void
training_add(TrainingState *state, Datum label, bool label_isnull, const double *features)
{
	int class_index = label_isnull ? -1 : training_resolve_label(state, label);

	if (class_index < 0)
		return;
	if (state->learner->additive)
		add_to_sums(state, features, class_index);
	else
	{
		double *row;

		training_reserve_rows(state, 1);
		row = state->values + state->nrows * state->width;
		/* adding zero turns -0.0 into 0.0: equal rows have equal bytes */
		for (int i = 0; i < state->width; i++)
			row[i] = features[i] + 0.0;
		state->row_class[state->nrows] = class_index;
	}
	state->class_rows[class_index]++;
	state->nrows++;
}

static bool
same_string(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Compares values, not the JSON that they were given as. */
static bool
same_options(const LearnerOptions *a, const LearnerOptions *b)
{
	if (a->nclasses != b->nclasses || !same_string(a->default_class, b->default_class))
		return false;
	for (int i = 0; i < LEARNER_MAX_OPTIONS; i++)
		if (a->number[i] != b->number[i] || !same_string(a->name[i], b->name[i]))
			return false;
	for (int i = 0; i < a->nclasses; i++)
		if (!same_string(a->classes[i], b->classes[i]))
			return false;
	return true;
}

static void
merge_rows(TrainingState *target, const TrainingState *source, const int *class_map)
{
	training_reserve_rows(target, source->nrows);
	memcpy(target->values + target->nrows * target->width, source->values,
		   source->nrows * source->width * sizeof(double));
	for (int64 i = 0; i < source->nrows; i++)
		target->row_class[target->nrows + i] = class_map[source->row_class[i]];
}

static void
merge_sums(TrainingState *target, const TrainingState *source, const int *class_map)
{
	training_settle(source);
	for (int64 i = 0; i < source->shared_sums; i++)
		target->shared[i] += source->shared[i];
	for (int c = 0; c < source->classes.n; c++)
		for (int64 i = 0; i < source->class_sums; i++)
			target->of_class[class_map[c]][i] += source->of_class[c][i];
}

void
training_merge(TrainingState *target, const TrainingState *source)
{
	int *class_map;

	if (target->learner != source->learner || target->width != source->width ||
		target->label_type != source->label_type ||
		!same_options(&target->options, &source->options))
		refuse(errmsg("rows with %d and %d features, or with different options, "
					  "cannot train one teacher",
					  target->width, source->width));

	class_map = palloc(source->classes.n * sizeof(int) + 1);
	for (int c = 0; c < source->classes.n; c++)
	{
		const char *name = source->classes.names[c];

		class_map[c] = training_ensure_class(target, name, strlen(name));
	}
	if (target->learner->additive)
		merge_sums(target, source, class_map);
	else if (source->nrows > 0)
		merge_rows(target, source, class_map);
	for (int c = 0; c < source->classes.n; c++)
		target->class_rows[class_map[c]] += source->class_rows[c];
	target->nrows += source->nrows;
	pfree(class_map);
}

pg_noreturn static void
refuse_not_finite(void)
{
	refuse(errmsg("features must be finite numbers"), errdetail("One of them is NaN or infinite."));
}

/* A copy of the elements in which NaN stands for NULL. */
static double *
elements_or_nan(ArrayType *array, int width)
{
	double *values = palloc_array(double, width);
	Datum  *elements;
	bool   *nulls;
	int		n;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements,
					  &nulls, &n);
	for (int i = 0; i < width; i++)
	{
		values[i] = nulls[i] ? get_float8_nan() : DatumGetFloat8(elements[i]);
		if (!nulls[i] && !isfinite(values[i]))
			refuse_not_finite();
	}
	pfree(elements);
	pfree(nulls);
	return values;
}

const double *
features_from_array(ArrayType *array, bool accept_missing, int *width)
{
	const double *values;
	const uint64  exponent = UINT64CONST(0x7FF0000000000000);
	bool		  finite = true;

	if (ARR_NDIM(array) != 1)
		refuse(ARR_NDIM(array) == 0 ? errmsg("features must not be empty")
									: errmsg("features must be a one-dimensional array"));
	*width = ARR_DIMS(array)[0];
	if (*width > PRIVPRED_MAX_WIDTH)
		refuse(errmsg("there must be at most %d features", PRIVPRED_MAX_WIDTH));
	if (ARR_HASNULL(array) && accept_missing)
		return elements_or_nan(array, *width);
	if (ARR_HASNULL(array) && array_contains_nulls(array))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("features must not contain nulls"),
				errhint("Replace nulls by a fixed value, for example with coalesce."));
	values = (const double *) ARR_DATA_PTR(array);
	/* NaN and infinities have all bits of the exponent set */
	for (int i = 0; i < *width; i++)
	{
		uint64 bits;

		memcpy(&bits, &values[i], sizeof(bits));
		finite &= (bits & exponent) != exponent;
	}
	if (!finite)
		refuse_not_finite();
	return values;
}
