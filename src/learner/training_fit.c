/*
 * training_fit.c
 *		From a finished state to a stored teacher.
 *
 * Everything that fit() sees depends on the multiset of rows alone: classes
 * are put into a fixed order, and so are rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "learner/training.h"
#include "server/digest.h"

typedef struct ClassKey
{
	const char *name;
	int64		number; /* of integer labels */
	int			arrival;
} ClassKey;

static int
compare_classes(const void *a, const void *b)
{
	const ClassKey *ka = a;
	const ClassKey *kb = b;

	if (ka->number != kb->number)
		return ka->number < kb->number ? -1 : 1;
	return strcmp(ka->name, kb->name);
}

/*
 * Final position to arrival.  Declared classes keep their declared order, which
 * is also the order of arrival; collected ones are sorted.
 */
static int *
order_classes(const TrainingState *state)
{
	int	 n = state->classes.n;
	bool integers =
		state->kind == LABEL_INT2 || state->kind == LABEL_INT4 || state->kind == LABEL_INT8;
	ClassKey *keys = palloc(n * sizeof(ClassKey));
	int		 *order = palloc(n * sizeof(int));

	for (int i = 0; i < n; i++)
	{
		keys[i].name = state->classes.names[i];
		keys[i].number = integers ? strtoll(keys[i].name, NULL, 10) : 0;
		keys[i].arrival = i;
	}
	if (state->options.nclasses == 0)
		qsort(keys, n, sizeof(ClassKey), compare_classes);
	for (int i = 0; i < n; i++)
		order[i] = keys[i].arrival;
	return order;
}

/* ---------- canonical order of rows ---------- */

typedef struct RowKey
{
	uint64 hash;
	int64  arrival;
} RowKey;

typedef struct RowOrder
{
	const double *values;
	const int32	 *row_class;
	int			  width;
} RowOrder;

/* Any fixed mixing will do: it only has to depend on the content. */
static inline uint64
mix(uint64 hash, uint64 word)
{
	hash = (hash ^ word) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash ^ (hash >> 29);
}

static uint64
hash_row(const double *row, int width, int32 row_class)
{
	uint64 hash = mix(UINT64CONST(0x70726976), (uint64) row_class);

	for (int i = 0; i < width; i++)
	{
		uint64 word;

		memcpy(&word, &row[i], sizeof(word));
		hash = mix(hash, word);
	}
	return hash;
}

static inline int
compare_rows(const RowKey *ka, const RowKey *kb, const RowOrder *rows)
{
	int result;

	if (ka->hash != kb->hash)
		return ka->hash < kb->hash ? -1 : 1;
	result = memcmp(rows->values + ka->arrival * rows->width,
					rows->values + kb->arrival * rows->width, rows->width * sizeof(double));
	if (result == 0)
		result = rows->row_class[ka->arrival] - rows->row_class[kb->arrival];
	return result;
}

#define ST_SORT sort_row_keys
#define ST_ELEMENT_TYPE RowKey
#define ST_COMPARE(a, b, rows) compare_rows(a, b, rows)
#define ST_COMPARE_ARG_TYPE const RowOrder
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

static int64 *
order_rows(const double *values, const int32 *row_class, int width, int64 nrows)
{
	RowOrder rows = {values, row_class, width};
	RowKey	*keys = palloc_huge(nrows * sizeof(RowKey) + 1);
	int64	*order;

	for (int64 i = 0; i < nrows; i++)
	{
		keys[i].hash = hash_row(values + i * width, width, row_class[i]);
		keys[i].arrival = i;
	}
	sort_row_keys(keys, nrows, &rows);
	/* in place: the result is half as wide as the keys */
	order = (int64 *) keys;
	for (int64 i = 0; i < nrows; i++)
		order[i] = keys[i].arrival;
	return order;
}

/* ---------- fit ---------- */

static void
prepare_data(const TrainingState *state, TrainingData *data)
{
	int	   n = state->classes.n;
	int	  *order = order_classes(state);
	int64 *class_rows = palloc(n * sizeof(int64));

	memset(data, 0, sizeof(*data));
	data->nclasses = n;
	data->classes = palloc(n * sizeof(char *));
	data->width = state->options.numbers ? state->width - 1 : state->width;
	data->stride = state->width;
	data->label_type = state->label_type;
	data->nrows = state->nrows;
	data->class_rows = class_rows;
	for (int i = 0; i < n; i++)
	{
		data->classes[i] = state->classes.names[order[i]];
		class_rows[i] = state->class_rows[order[i]];
	}

	if (state->learner->additive)
	{
		Size  block = state->class_sums * sizeof(int128);
		char *of_class = palloc_huge(n * block + 1);

		training_settle(state);
		for (int i = 0; i < n; i++)
			memcpy(of_class + i * block, state->of_class[order[i]], block);
		data->shared = state->shared;
		data->of_class = (int128 *) of_class;
	}
	else
	{
		int32 *row_class = palloc_huge(state->nrows * sizeof(int32) + 1);
		int	  *final = palloc(n * sizeof(int));

		for (int i = 0; i < n; i++)
			final[order[i]] = i;
		for (int64 i = 0; i < state->nrows; i++)
			row_class[i] = final[state->row_class[i]];
		data->values = state->values;
		data->row_class = row_class;
		if (!state->learner->sorts_rows)
			data->order = order_rows(state->values, row_class, state->width, state->nrows);
	}
}

static int
default_class(const TrainingData *data, const LearnerOptions *options)
{
	if (options->default_class)
		for (int c = 0; c < data->nclasses; c++)
			if (strcmp(data->classes[c], options->default_class) == 0)
				return c;
	return 0;
}

/* Memory that was priced for rows that did not come can be used for the rest. */
static void
check_fit_memory(const TrainingState *state, const TrainingData *data)
{
	Size needed = state->learner->fit_bytes(data, &state->options);
	Size unused = (state->capacity - state->nrows) *
				  state->learner->fit_row_bytes(state->classes.n, state->width);

	training_check_memory(state, needed > unused ? needed - unused : 0);
}

/*
 * Returns the vote of a teacher that needs no fit, or -1 if there is something to
 * learn: without rows it is the declared default, with rows of one class that class.
 */
static int
only_vote(const TrainingState *state, const TrainingData *data, int fallback)
{
	int seen = -1;

	if (state->options.numbers)
		return state->nrows > 0 ? -1 : fallback;
	if (state->learner->learns_one_class)
		return -1;
	for (int c = 0; c < data->nclasses; c++)
		if (data->class_rows[c] > 0)
		{
			if (seen >= 0)
				return -1;
			seen = c;
		}
	return seen >= 0 ? seen : fallback;
}

/* ---------- digest ---------- */

#define DIGEST_BUFFER 8192

/* Rows in canonical order; buffered, because a row is short. */
static void
digest_rows(Digest *digest, const TrainingData *data)
{
	char *buffer = palloc(DIGEST_BUFFER);
	Size  filled = 0;

	for (int64 i = 0; i < data->nrows; i++)
	{
		int32		  row_class = training_class(data, i);
		const double *row = training_row(data, i);
		Size		  size = data->stride * sizeof(double);

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (filled + sizeof(row_class) + size > DIGEST_BUFFER)
		{
			digest_add(digest, buffer, filled);
			filled = 0;
		}
		memcpy(buffer + filled, &row_class, sizeof(row_class));
		filled += sizeof(row_class);
		if (filled + size > DIGEST_BUFFER) /* a row that is longer than the buffer */
		{
			digest_add(digest, buffer, filled);
			digest_add(digest, row, size);
			filled = 0;
			continue;
		}
		memcpy(buffer + filled, row, size);
		filled += size;
	}
	digest_add(digest, buffer, filled);
	pfree(buffer);
}

/*
 * Of everything that fit() sees, and of the code that fits: teachers of equal digests
 * are equal, but for collisions of SHA-256.  Rows are in canonical order and sums
 * are exact, so that it does not depend on the order in which rows came.
 */
static void
data_digest(const TrainingState *state, const TrainingData *data, uint8 *result)
{
	Digest digest;
	int64  numbers[] = {data->nclasses, data->width, data->label_type, data->nrows};

	digest_begin(&digest);
	digest_add_piece(&digest, PRIVPRED_VERSION, strlen(PRIVPRED_VERSION));
	digest_add_piece(&digest, state->learner->name, strlen(state->learner->name));
	digest_add_piece(&digest, state->options.json, strlen(state->options.json));
	digest_add(&digest, numbers, sizeof(numbers));
	for (int c = 0; c < data->nclasses; c++)
		digest_add_piece(&digest, data->classes[c], strlen(data->classes[c]));
	digest_add(&digest, data->class_rows, data->nclasses * sizeof(int64));
	if (state->learner->additive)
	{
		digest_add(&digest, data->shared, state->shared_sums * sizeof(int128));
		digest_add(&digest, data->of_class, data->nclasses * state->class_sums * sizeof(int128));
	}
	else
		digest_rows(&digest, data);
	digest_end(&digest, result);
}

static int
compare_digests(const void *a, const void *b)
{
	return memcmp(a, b, DIGEST_BYTES);
}

/* ---------- the teacher ---------- */

static Predictor *
fit_data(const TrainingState *state, const TrainingData *data, MemoryContext caller)
{
	int				  fallback = default_class(data, &state->options);
	PredictorBuilder *builder;
	int				  vote;
	bool (*fit)(const TrainingData *, const LearnerOptions *, PredictorBuilder *) =
		state->options.numbers ? state->learner->fit_numbers : state->learner->fit;

	if (state->learner->fit_bytes)
		check_fit_memory(state, data);
	builder = builder_create(data->nclasses, data->classes, data->width, fallback);
	vote = only_vote(state, data, fallback);
	if (vote >= 0)
		builder_constant(builder, vote);
	else if (!fit(data, &state->options, builder))
		builder_constant(builder, fallback);
	MemoryContextSwitchTo(caller);
	return builder_finish(builder);
}

Predictor *
training_finish_unless(const TrainingState *state, const uint8 *known, Size nknown, uint8 *digest)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work;
	TrainingData  data;
	Predictor	 *result = NULL;

	if (state->classes.n == 0)
		return NULL;
	work = AllocSetContextCreate(caller, "privpred fit", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(work);
	prepare_data(state, &data);
	if (digest != NULL)
		data_digest(state, &data, digest);
	if (nknown == 0 || bsearch(digest, known, nknown, DIGEST_BYTES, compare_digests) == NULL)
		result = fit_data(state, &data, caller);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	return result;
}

Predictor *
training_finish(const TrainingState *state)
{
	return training_finish_unless(state, NULL, 0, NULL);
}
