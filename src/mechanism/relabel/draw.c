/*
 * draw.c
 *		A private vote of chunks that were relabelled by one hypothesis (Dagan,
 *		Feldman 2020, section 4).
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/relabel/draw.h"
#include "mechanism/vote/draw.h"

static void
count_votes(const Chunks *chunks, const Hypothesis *hypothesis, const double *x, int32 votes[2])
{
	votes[1] = chunks_vote(chunks, hypothesis, x);
	votes[0] = chunks_count(chunks) - votes[1];
}

#ifdef PRIVPRED_RECORD_INPUTS
/* Given a hypothesis that is chosen without looking at the rows. */
static void
record_votes(const HypothesisSource *source, const Chunks *chunks, const double *x)
{
	const double low[] = {0.5, 0};
	const double high[] = {0.5, 1};
	Hypothesis	 fixed = {.class = source->class};
	int32		 votes[2];

	if (source->class == HYPOTHESES_FINITE)
		fixed.u.point = (PointHypothesis){source->finite, 0};
	else if (source->class == HYPOTHESES_HALFSPACE)
		fixed.u.halfspace = plane_line(low, high);
	else
		fixed.u.interval = (IntervalHypothesis){.low = 0.5, .high = 2, .inside = true};
	count_votes(chunks, &fixed, x, votes);
	RECORD_INPUT("relabel_votes", INPUT_SUM, 2, 2, votes);
}
#else
#define record_votes(source, chunks, x) ((void) 0)
#endif

bool
relabel_draw(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa, const double *x)
{
	Hypothesis hypothesis = stable_draw(sampler);
	int32	   votes[2];

	record_votes(chunks_source(chunks), chunks, x);
	count_votes(chunks, &hypothesis, x, votes);
	return vote_draw(true, kappa, 2, votes, chunks_count(chunks)) == 1;
}

typedef struct Question
{
	const Chunks *chunks;
	EpsilonUnits  kappa;
	const double *x;
} Question;

static double
answer_probability(const Hypothesis *hypothesis, const void *argument)
{
	const Question *question = argument;
	int32			votes[2];
	double			probability[2];

	count_votes(question->chunks, hypothesis, question->x, votes);
	vote_distribution(true, question->kappa, 2, votes, chunks_count(question->chunks), probability);
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
	Hypothesis hypothesis = stable_draw_chosen(sampler);

	return answer_probability(&hypothesis, &question);
}
