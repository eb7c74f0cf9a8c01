/*
 * draw.c
 *		A hypothesis drawn from those that a fresh sample of the units suggests
 *		(Dagan, Feldman 2020, section 3).
 *
 * T has each unit with probability q, independently; h in H_T is drawn with
 * weight exp(-rate * err_S(h)), where err_S counts wrong rows of all units.
 * Both draws are exact: coins in parallel for T, rejection for h.
 *
 * The caller records what goes in (draw/record.h; inputs: drawn.c).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "mechanism/stable/draw.h"

StableSampler *
stable_sampler_create(HypothesisSpace *space, const LabelledUnits *units, Share q, uint64 numerator,
					  uint128 denominator)
{
	StableSampler *sampler = palloc0(sizeof(StableSampler));
	int32		   words = units->nunits / 64 + 1;

	sampler->space = space;
	sampler->units = units;
	sampler->q = q;
	sampler->numerator = numerator;
	sampler->denominator = denominator;
	for (int level = 1; level <= WEIGHT_LEVELS; level++)
	{
		uint128 start = (level * denominator + numerator - 1) / numerator;

		sampler->level_start[level - 1] = (int64) Min(start, (uint128) PG_INT64_MAX);
	}
	sampler->chosen = palloc_extended(sizeof(uint64) * words, MCXT_ALLOC_HUGE);
	sampler->errors =
		palloc_extended(sizeof(int32) * (Size) hypotheses_block_size(space), MCXT_ALLOC_HUGE);
	sampler->block_weight =
		palloc_extended(sizeof(uint64) * (Size) hypotheses_max_blocks(space), MCXT_ALLOC_HUGE);
	return sampler;
}

/* ---------- T ---------- */

void
stable_choose_these(StableSampler *sampler, const uint64 *units)
{
	hypotheses_choose(sampler->space, units);
	sampler->listed_block = -1;
}

void
stable_choose(StableSampler *sampler)
{
	int32 nunits = sampler->units->nunits;

	for (int32 first = 0; first < nunits; first += 64)
	{
		uint64 coins = sample_bernoulli_word(sampler->q);

		if (nunits - first < 64)
			coins &= (UINT64CONST(1) << (nunits - first)) - 1;
		sampler->chosen[first / 64] = coins;
	}
	stable_choose_these(sampler, sampler->chosen);
}

/* Fills errors[] with those of one block, unless it holds them. */
static int32
list_block(StableSampler *sampler, int block)
{
	/* An answer may list thousands, of thousands each. */
	CHECK_FOR_INTERRUPTS();
	if (sampler->listed_block != block)
		sampler->listed_count = hypotheses_errors(sampler->space, block, sampler->errors);
	sampler->listed_block = block;
	return sampler->listed_count;
}

/*
 * ---------- h ----------
 *
 * The weight relative to the best hypothesis is exp(-g), g = excess * rate.  With
 * l = floor(g), or WEIGHT_LEVELS if that is less, propose a hypothesis with
 * probability proportional to 2^-l, in integers, and accept it with
 * probability 2^l exp(-g) = (2/e)^l exp(-(g - l)), by exact coins.  What is
 * accepted has weight exp(-g) exactly.  If M are listed, the number of
 * proposals is at most about M^0.31 on average: both sums are at least one,
 * and 2^-l is at most e^-l to the power of ln 2.
 */

static int
level_of(const StableSampler *sampler, int64 excess)
{
	int low = 0;
	int high = WEIGHT_LEVELS;

	if (excess >= sampler->level_start[WEIGHT_LEVELS - 1])
		return WEIGHT_LEVELS;
	while (low < high)
	{
		int middle = (low + high) / 2;

		if (excess >= sampler->level_start[middle])
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64
proposal_weight(const StableSampler *sampler, int32 excess)
{
	return UINT64CONST(1) << (WEIGHT_LEVELS - level_of(sampler, excess));
}

/*
 * 2/e = 1 - 1/3 + 1/(3*4) - ...: the first k with a failed coin of bias 1/(k + 2)
 * is odd with that probability (compare exp(-1) in bernoulli.c).
 */
static bool
coin_two_over_e(void)
{
	uint64 k = 1;

	while (sample_bernoulli(1, k + 2))
		k++;
	return k % 2 == 1;
}

static bool
accept_proposal(const StableSampler *sampler, int32 excess)
{
	int		level = level_of(sampler, excess);
	uint128 exponent = (uint128) excess * sampler->numerator;

	for (int i = 0; i < level; i++)
		if (!coin_two_over_e())
			return false;
	return sample_bernoulli_exp_wide(exponent - level * sampler->denominator, sampler->denominator);
}

static int32
fewest_errors(StableSampler *sampler, int blocks, int *block)
{
	int32 fewest = PG_INT32_MAX;

	for (int i = 0; i < blocks; i++)
	{
		int32 count = list_block(sampler, i);

		for (int32 j = 0; j < count; j++)
		{
			if (sampler->errors[j] >= fewest)
				continue;
			fewest = sampler->errors[j];
			*block = i;
		}
	}
	return fewest;
}

/*
 * If there are several blocks, errors are listed again for each pass, so that no
 * memory is needed for all of H_T, which for stumps and lines may be much more
 * than T.
 */
Hypothesis
stable_draw_chosen(StableSampler *sampler)
{
	int	   blocks = hypotheses_blocks(sampler->space);
	int	   best_block = 0;
	int32  fewest = fewest_errors(sampler, blocks, &best_block);
	uint64 total = 0;

	for (int i = 0; i < blocks; i++)
	{
		int32  count = list_block(sampler, i);
		uint64 weight = 0;

		for (int32 j = 0; j < count; j++)
			weight += proposal_weight(sampler, sampler->errors[j] - fewest);
		sampler->block_weight[i] = weight;
		total += weight;
	}

	for (;;)
	{
		uint64 rest = sample_uniform(total);
		int	   block = 0;
		int32  index = 0;

		for (; rest >= sampler->block_weight[block]; block++)
			rest -= sampler->block_weight[block];
		list_block(sampler, block);
		for (;; index++)
		{
			uint64 weight = proposal_weight(sampler, sampler->errors[index] - fewest);

			if (rest < weight)
				break;
			rest -= weight;
		}
		if (accept_proposal(sampler, sampler->errors[index] - fewest))
			return hypotheses_get(sampler->space, block, index);
	}
}

Hypothesis
stable_draw(StableSampler *sampler)
{
	stable_choose(sampler);
	return stable_draw_chosen(sampler);
}

/* ---------- distributions, in doubles ---------- */

/* Weights below exp(-60), of at most 2^31 beside one of 1, are lost in rounding. */
#define LEAST_LOG_WEIGHT (-60.0)

static int32
fewest_of(const int32 *errors, int32 count)
{
	int32 fewest = PG_INT32_MAX;

	for (int32 i = 0; i < count; i++)
		fewest = Min(fewest, errors[i]);
	return fewest;
}

/* Each block is listed once: sums so far are scaled when a better hypothesis turns up. */
double
stable_expectation(StableSampler *sampler, HypothesisFunction function, const void *argument)
{
	double rate = sampler->numerator / (double) sampler->denominator;
	int	   blocks = hypotheses_blocks(sampler->space);
	int32  fewest = PG_INT32_MAX;
	double total = 0;
	double sum = 0;

	for (int i = 0; i < blocks; i++)
	{
		int32 count = list_block(sampler, i);
		int32 here = fewest_of(sampler->errors, count);
		int32 most;

		if (here < fewest)
		{
			double scale = exp(-rate * ((double) fewest - here));

			total *= scale;
			sum *= scale;
			fewest = here;
		}
		most = (int32) Min(fewest - LEAST_LOG_WEIGHT / rate, (double) PG_INT32_MAX);
		for (int32 j = 0; j < count; j++)
		{
			Hypothesis hypothesis;
			double	   weight;

			if (sampler->errors[j] > most)
				continue;
			weight = exp(-rate * (sampler->errors[j] - fewest));
			hypothesis = hypotheses_get(sampler->space, i, j);
			total += weight;
			sum += weight * function(&hypothesis, argument);
		}
	}
	return sum / total;
}

static double
says(const Hypothesis *hypothesis, const void *argument)
{
	return hypothesis_says(hypothesis, (const double *) argument) ? 1 : 0;
}

double
stable_probability(StableSampler *sampler, const double *x)
{
	return stable_expectation(sampler, says, x);
}

/* A coin for each unit; H_T is listed for its least error, its weights and a few proposals. */
double
stable_steps(const StableSampler *sampler)
{
	double share = sampler->q / SHARE_ONE;

	return sampler->units->nunits + 4 * hypotheses_steps(sampler->space, share);
}

/* The first units, as many as can be gone through. */
static void
choose_many(StableSampler *sampler)
{
	const LabelledUnits *units = sampler->units;
	int32				 most = hypotheses_most_rows(sampler->space);

	memset(sampler->chosen, 0, sizeof(uint64) * (units->nunits / 64 + 1));
	for (int32 i = 0; i < units->nunits && units->first_row[i + 1] <= most; i++)
		sampler->chosen[i / 64] |= UINT64CONST(1) << (i % 64);
	stable_choose_these(sampler, sampler->chosen);
}

Hypothesis
stable_best(StableSampler *sampler)
{
	int	  best_block = 0;
	int32 fewest;
	int32 index = 0;

	choose_many(sampler);
	fewest = fewest_errors(sampler, hypotheses_blocks(sampler->space), &best_block);
	list_block(sampler, best_block);
	while (sampler->errors[index] != fewest)
		index++;
	return hypotheses_get(sampler->space, best_block, index);
}
