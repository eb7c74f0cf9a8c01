/*
 * drawn.c
 *		Answers by a hypothesis that is drawn anew for each.
 *
 * In the stored rows the default class is 0, so that an empty table answers it,
 * and the other class is 1.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "draw/record.h"
#include "mechanism/drawn.h"

DrawnModel *
drawn_load(const MechanismSpec *spec, bytea *state)
{
	DrawnModel *model = palloc0_object(DrawnModel);

	model->table = finite_state_load(spec, state);
	model->source.units = &model->table->units;
	model->source.finite = finite_state_class(spec, state);
	return model;
}

void
drawn_prepare(const MechanismSpec *spec, DrawnModel *model, Share q, EpsilonUnits twice_the_rate)
{
	model->sampler = stable_sampler_create(
		hypotheses_create(&model->source), model->source.units, q, twice_the_rate,
		(uint128) 2 * spec->max_rows_per_unit * EPSILON_UNITS_PER_ONE);
}

static int
class_of(const MechanismSpec *spec, bool one)
{
	return one != (spec->default_class == 1);
}

#ifdef PRIVPRED_RECORD_INPUTS
#define RECORDED_CUTS 8

/* err_S of stumps that are chosen without looking at the rows. */
static void
record_errors(const MechanismSpec *spec, const StableSampler *sampler)
{
	const LabelledUnits *units = sampler->units;

	record_open(spec->mechanism->name, INPUT_LARGEST,
				sampler->denominator / 2 / EPSILON_UNITS_PER_ONE);
	for (int i = 0; i < 2 * RECORDED_CUTS * units->width; i++)
	{
		Hypothesis stump = {.class = HYPOTHESES_STUMP};
		int64	   wrong = 0;

		stump.u.interval = (IntervalHypothesis){
			.feature = i / 2 / RECORDED_CUTS,
			.low = i / 2 % RECORDED_CUTS / (double) RECORDED_CUTS,
			.high = 2,
			.inside = i % 2 == 0,
		};
		for (int32 row = 0; row < units->nrows; row++)
			wrong += hypothesis_says(&stump, units->x + (Size) row * units->width) !=
					 (units->label[row] == 1);
		record_put(i, wrong);
	}
	record_close();
}
#else
#define record_errors(spec, sampler) ((void) 0)
#endif

/* Anew for each answer: composition covers nothing else. */
static Hypothesis
draw_hypothesis(DrawnModel *drawn)
{
	return stable_draw(drawn->sampler);
}

int
drawn_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	DrawnModel *drawn = model->state;
	double		room;
	bool		one;

	x = finite_state_question(model->spec, x, &room);
	record_errors(model->spec, drawn->sampler);
	if (drawn->chunks != NULL)
		one = relabel_draw(drawn->sampler, drawn->chunks, drawn->kappa, x);
	else
	{
		Hypothesis hypothesis = draw_hypothesis(drawn);

		one = hypothesis_says(&hypothesis, x);
	}
	if (sample_bernoulli(drawn->alpha, (uint64) SHARE_ONE))
		one = !one;
	return class_of(model->spec, one);
}

/*
 * The mean over all samples cannot be computed.  Over some of them it is unbiased,
 * so a mean over many questions is good.
 */
void
drawn_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
				   double *probability)
{
	DrawnModel *drawn = model->state;
	double		alpha = drawn->alpha / SHARE_ONE;
	int			one = class_of(model->spec, true);
	int			draws = Max(model->estimate_draws, 1);
	double		sum = 0;
	double		room;

	x = finite_state_question(model->spec, x, &room);
	for (int i = 0; i < draws; i++)
	{
		CHECK_FOR_INTERRUPTS();
		stable_choose(drawn->sampler);
		sum += drawn->chunks == NULL
				   ? stable_probability(drawn->sampler, x)
				   : relabel_estimate(drawn->sampler, drawn->chunks, drawn->kappa, x);
	}
	probability[one] = alpha + (1 - 2 * alpha) * sum / draws;
	probability[1 - one] = 1 - probability[one];
}

double
drawn_estimate_steps(const MechanismModel *model)
{
	const DrawnModel *drawn = model->state;

	return stable_steps(drawn->sampler) + (drawn->chunks != NULL ? chunks_steps(drawn->chunks) : 0);
}

int
drawn_majority(const MechanismModel *model, const double *x)
{
	DrawnModel *drawn = model->state;
	double		room;

	x = finite_state_question(model->spec, x, &room);
	if (!drawn->best_known)
		drawn->best = stable_best(drawn->sampler);
	drawn->best_known = true;
	return class_of(model->spec, hypothesis_says(&drawn->best, x));
}
