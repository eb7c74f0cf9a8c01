/*
 * draw.c
 *		A private vote of chunks that were relabelled by one stump (Dagan, Feldman
 *		2020, section 4).
 *
 * The proof (docs/mechanisms.md) needs two things of the vote.  A unit is in one
 * chunk, by its id, so it moves one vote.  And two stumps of one feature that
 * label a chunk's rows alike get the same vote from it: a chunk sees labels,
 * never the stump.
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/relabel/draw.h"
#include "mechanism/sort.h"
#include "mechanism/vote/draw.h"

struct Chunks
{
	const LabelledUnits *units;
	int					 nchunks;
	int32				*first; /* of each chunk's values; nchunks + 1 */
	int32				*chunk_of_row;
	double			   **values; /* of each feature: by chunk, then rising */
};

#define TAKE(type, count) \
	((type *) palloc_extended(sizeof(type) * ((Size) (count) + 1), MCXT_ALLOC_HUGE))

Chunks *
chunks_create(const LabelledUnits *units, int nchunks, const int32 *chunk_of)
{
	Chunks *chunks = palloc0(sizeof(Chunks));

	chunks->units = units;
	chunks->nchunks = nchunks;
	chunks->first = TAKE(int32, nchunks + 1);
	chunks->chunk_of_row = TAKE(int32, units->nrows);
	chunks->values = palloc0(sizeof(double *) * units->width);
	memset(chunks->first, 0, sizeof(int32) * (nchunks + 1));
	for (int32 i = 0; i < units->nunits; i++)
	{
		for (int32 row = units->first_row[i]; row < units->first_row[i + 1]; row++)
			chunks->chunk_of_row[row] = chunk_of[i];
		chunks->first[chunk_of[i] + 1] += units->first_row[i + 1] - units->first_row[i];
	}
	for (int i = 0; i < nchunks; i++)
		chunks->first[i + 1] += chunks->first[i];
	return chunks;
}

void
chunks_prepare(Chunks *chunks, int feature)
{
	const LabelledUnits *units = chunks->units;
	double				*values = TAKE(double, units->nrows);
	int32				*next = TAKE(int32, chunks->nchunks);

	memcpy(next, chunks->first, sizeof(int32) * chunks->nchunks);
	for (int32 i = 0; i < units->nrows; i++)
		values[next[chunks->chunk_of_row[i]]++] = units->x[(Size) i * units->width + feature];
	for (int i = 0; i < chunks->nchunks; i++)
		sort_doubles(values + chunks->first[i], chunks->first[i + 1] - chunks->first[i]);
	chunks->values[feature] = values;
	pfree(next);
}

int
chunks_count(const Chunks *chunks)
{
	return chunks->nchunks;
}

/*
 * The stump labels the values below its threshold one way and the others the other
 * way.  If the chunk has both, its own threshold lies midway between the two
 * that part them; if it has one label, it always says that; if it is empty, 0.
 */
static bool
chunk_says(const double *values, int32 n, const IntervalHypothesis *stump, double x)
{
	int32  below = (int32) count_below(values, n, stump->low);
	double middle;

	if (n == 0)
		return false;
	if (below == 0)
		return stump->inside;
	if (below == n)
		return !stump->inside;
	middle = values[below - 1] / 2 + values[below] / 2;
	if (middle <= values[below - 1])
		middle = values[below]; /* neighbours, rounded down */
	return (x >= middle) == stump->inside;
}

int32
chunks_vote(const Chunks *chunks, const IntervalHypothesis *stump, const double *x)
{
	const double *values = chunks->values[stump->feature];
	int32		  votes = 0;

	for (int i = 0; i < chunks->nchunks; i++)
		votes += chunk_says(values + chunks->first[i], chunks->first[i + 1] - chunks->first[i],
							stump, x[stump->feature]);
	return votes;
}

static void
count_votes(const Chunks *chunks, const Hypothesis *stump, const double *x, int32 votes[2])
{
	votes[1] = chunks_vote(chunks, &stump->u.interval, x);
	votes[0] = chunks->nchunks - votes[1];
}

#ifdef PRIVPRED_RECORD_INPUTS
/* Given a stump that is chosen without looking at the rows. */
static void
record_votes(const Chunks *chunks, const double *x)
{
	Hypothesis stump = {.class = HYPOTHESES_STUMP};
	int32	   votes[2];

	stump.u.interval = (IntervalHypothesis){.low = 0.5, .high = 2, .inside = true};
	count_votes(chunks, &stump, x, votes);
	RECORD_INPUT("relabel_votes", INPUT_SUM, 2, 2, votes);
}
#else
#define record_votes(chunks, x) ((void) 0)
#endif

bool
relabel_draw(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa, const double *x)
{
	Hypothesis stump = stable_draw(sampler);
	int32	   votes[2];

	record_votes(chunks, x);
	count_votes(chunks, &stump, x, votes);
	return vote_draw(true, kappa, 2, votes, chunks->nchunks) == 1;
}

typedef struct Question
{
	const Chunks *chunks;
	EpsilonUnits  kappa;
	const double *x;
} Question;

static double
answer_probability(const Hypothesis *stump, const void *argument)
{
	const Question *question = argument;
	int32			votes[2];
	double			probability[2];

	count_votes(question->chunks, stump, question->x, votes);
	vote_distribution(true, question->kappa, 2, votes, question->chunks->nchunks, probability);
	return probability[1];
}

double
relabel_probability(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa,
					const double *x)
{
	Question question = {chunks, kappa, x};

	return stable_expectation(sampler, answer_probability, &question);
}

double
relabel_estimate(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa, const double *x)
{
	Question   question = {chunks, kappa, x};
	Hypothesis stump = stable_draw_chosen(sampler);

	return answer_probability(&stump, &question);
}
