/*
 * chunks.c
 *		What chunks of rows say of a question, after one hypothesis has labelled
 *		their rows.
 *
 * The proof (docs/mechanisms.md) needs two things of the vote.  A unit is in one
 * chunk, by its id, so it moves one vote.  And two hypotheses of one class (stumps:
 * and of one feature) that label a chunk's rows alike get the same vote from it:
 * a chunk sees labels, never the hypothesis.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "mechanism/relabel/draw.h"
#include "mechanism/sort.h"

/* Steps of a search, and of a tangent for each row. */
#define SEARCH_STEPS 32
#define TANGENT_STEPS 10

struct Chunks
{
	HypothesisSource source;
	int				 nchunks;
	int32			*first; /* of each chunk's rows; nchunks + 1 */
	int32			*rows;	/* by chunk */

	/* stumps and intervals */
	double **values; /* of each feature: by chunk, then rising */

	/* finite classes */
	int		words;
	uint64 *points; /* of each chunk */
	uint64 *ones;	/* of each hypothesis: the points that it labels 1 */
};

static const double *
row_of(const Chunks *chunks, int32 row)
{
	return chunks->source.units->x + (Size) row * chunks->source.units->width;
}

/* ---------- preparing ---------- */

static void
collect_rows(Chunks *chunks, const int32 *chunk_of)
{
	const LabelledUnits *units = chunks->source.units;
	int32				*next = TAKE(int32, chunks->nchunks);

	memset(chunks->first, 0, sizeof(int32) * (chunks->nchunks + 1));
	for (int32 i = 0; i < units->nunits; i++)
		chunks->first[chunk_of[i] + 1] += units->first_row[i + 1] - units->first_row[i];
	for (int i = 0; i < chunks->nchunks; i++)
		chunks->first[i + 1] += chunks->first[i];
	memcpy(next, chunks->first, sizeof(int32) * chunks->nchunks);
	for (int32 i = 0; i < units->nunits; i++)
		for (int32 row = units->first_row[i]; row < units->first_row[i + 1]; row++)
			chunks->rows[next[chunk_of[i]]++] = row;
	pfree(next);
}

static void
sort_feature(Chunks *chunks, int feature)
{
	double *values = TAKE(double, chunks->source.units->nrows);

	for (int32 i = 0; i < chunks->source.units->nrows; i++)
		values[i] = row_of(chunks, chunks->rows[i])[feature];
	for (int i = 0; i < chunks->nchunks; i++)
		sort_doubles(values + chunks->first[i], chunks->first[i + 1] - chunks->first[i]);
	chunks->values[feature] = values;
}

static void
collect_points(Chunks *chunks)
{
	const FiniteClass *finite = chunks->source.finite;

	chunks->words = BITS_WORDS(finite->npoints);
	chunks->points = palloc0(sizeof(uint64) * chunks->nchunks * chunks->words);
	chunks->ones = palloc0(sizeof(uint64) * finite->nhypotheses * chunks->words);
	for (int i = 0; i < chunks->nchunks; i++)
		for (int32 j = chunks->first[i]; j < chunks->first[i + 1]; j++)
		{
			int point = point_of(finite, row_of(chunks, chunks->rows[j]));

			if (point >= 0)
				bits_add(chunks->points + (Size) i * chunks->words, point);
		}
	for (int h = 0; h < finite->nhypotheses; h++)
		for (int p = 0; p < finite->npoints; p++)
			if (finite_class_label(finite, h, p))
				bits_add(chunks->ones + (Size) h * chunks->words, p);
}

Chunks *
chunks_create(const HypothesisSource *source, int nchunks, const int32 *chunk_of)
{
	Chunks				*chunks = palloc0(sizeof(Chunks));
	const LabelledUnits *units = source->units;

	chunks->source = *source;
	chunks->nchunks = nchunks;
	chunks->first = TAKE(int32, nchunks + 1);
	chunks->rows = TAKE(int32, units->nrows);
	collect_rows(chunks, chunk_of);
	if (source->class == HYPOTHESES_FINITE)
		collect_points(chunks);
	if (source->class != HYPOTHESES_STUMP && source->class != HYPOTHESES_INTERVAL)
		return chunks;
	chunks->values = palloc0(sizeof(double *) * units->width);
	for (int i = 0; i < units->width; i++)
	{
		CHECK_FOR_INTERRUPTS();
		sort_feature(chunks, i);
	}
	return chunks;
}

int
chunks_count(const Chunks *chunks)
{
	return chunks->nchunks;
}

const HypothesisSource *
chunks_source(const Chunks *chunks)
{
	return &chunks->source;
}

double
chunks_steps(const Chunks *chunks)
{
	if (chunks->source.class == HYPOTHESES_FINITE)
		return (double) chunks->nchunks * chunks->source.finite->nhypotheses * chunks->words;
	if (chunks->source.class == HYPOTHESES_HALFSPACE)
		return (double) TANGENT_STEPS * chunks->source.units->nrows;
	return (double) SEARCH_STEPS * chunks->nchunks;
}

/*
 * ---------- one feature ----------
 *
 * Between two values of the chunk that are labelled differently its threshold lies
 * midway; elsewhere it says what the values beside x say; if it is empty, 0.
 */
static bool
column_says(const Chunks *chunks, int chunk, const Hypothesis *hypothesis, const double *x)
{
	IntervalHypothesis interval = hypothesis->u.interval;
	Hypothesis		   own = {.class = hypothesis->class, .u.interval = interval};
	const double	  *values = chunks->values[interval.feature] + chunks->first[chunk];
	int32			   n = chunks->first[chunk + 1] - chunks->first[chunk];
	double			   value = x[interval.feature];
	int32			   up_to = (int32) count_up_to(values, n, value);
	double			   middle;

	own.u.interval.feature = 0;
	if (n == 0)
		return false;
	if (up_to == 0 || up_to == n)
		return hypothesis_says(&own, &values[up_to == 0 ? 0 : n - 1]);
	middle = values[up_to - 1] / 2 + values[up_to] / 2;
	if (middle <= values[up_to - 1])
		middle = values[up_to]; /* neighbours, rounded down */
	return hypothesis_says(&own, &values[value >= middle ? up_to : up_to - 1]);
}

/*
 * ---------- halfspaces ----------
 *
 * The tangent of plane.c that parts the chunk's ones from its zeros: from a point
 * p to a point r of either, each of which is moved until no other lies beyond.
 */

/* Of the rows with this label, one that the line should go through instead; or the same. */
static int32
move_end(const Chunks *chunks, int chunk, const Hypothesis *hypothesis, bool label,
		 const int32 end[2])
{
	int32 best = end[label ? 0 : 1];

	for (int32 i = chunks->first[chunk]; i < chunks->first[chunk + 1]; i++)
	{
		int32				row = chunks->rows[i];
		HalfspaceHypothesis line = plane_line(row_of(chunks, label ? best : end[0]),
											  row_of(chunks, label ? end[1] : best));

		if (hypothesis_says(hypothesis, row_of(chunks, row)) != label)
			continue;
		if (plane_says(&line, row_of(chunks, row)) != label)
			best = row;
	}
	return best;
}

static bool
halfspace_says(const Chunks *chunks, int chunk, const Hypothesis *hypothesis, const double *x)
{
	int32				end[2] = {-1, -1}; /* a one and a zero */
	int32				n = chunks->first[chunk + 1] - chunks->first[chunk];
	HalfspaceHypothesis line;

	for (int32 i = chunks->first[chunk]; i < chunks->first[chunk + 1]; i++)
		end[hypothesis_says(hypothesis, row_of(chunks, chunks->rows[i])) ? 0 : 1] = chunks->rows[i];
	if (end[0] < 0 || end[1] < 0)
		return end[0] >= 0;
	for (int32 i = 0; i <= n; i++)
	{
		int32 one;

		CHECK_FOR_INTERRUPTS();
		end[1] = move_end(chunks, chunk, hypothesis, false, end);
		one = move_end(chunks, chunk, hypothesis, true, end);
		if (one == end[0] && i > 0)
			break;
		end[0] = one;
	}
	line = plane_line(row_of(chunks, end[0]), row_of(chunks, end[1]));
	return plane_says(&line, x);
}

/* ---------- finite classes: the first hypothesis that agrees with the labels ---------- */

static bool
agrees(const Chunks *chunks, int chunk, int hypothesis, int other)
{
	const uint64 *points = chunks->points + (Size) chunk * chunks->words;
	const uint64 *left = chunks->ones + (Size) hypothesis * chunks->words;
	const uint64 *right = chunks->ones + (Size) other * chunks->words;

	for (int i = 0; i < chunks->words; i++)
		if (((left[i] ^ right[i]) & points[i]) != 0)
			return false;
	return true;
}

static bool
finite_says(const Chunks *chunks, int chunk, const Hypothesis *hypothesis, const double *x)
{
	Hypothesis own = *hypothesis;

	own.u.point.number = 0;
	while (!agrees(chunks, chunk, hypothesis->u.point.number, own.u.point.number))
		own.u.point.number++;
	return hypothesis_says(&own, x);
}

int32
chunks_vote(const Chunks *chunks, const Hypothesis *hypothesis, const double *x)
{
	int32 votes = 0;

	for (int i = 0; i < chunks->nchunks; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (hypothesis->class == HYPOTHESES_FINITE)
			votes += finite_says(chunks, i, hypothesis, x);
		else if (hypothesis->class == HYPOTHESES_HALFSPACE)
			votes += halfspace_says(chunks, i, hypothesis, x);
		else
			votes += column_says(chunks, i, hypothesis, x);
	}
	return votes;
}
