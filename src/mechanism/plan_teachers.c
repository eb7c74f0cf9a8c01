/*
 * plan_teachers.c
 *		The best learner, and the best number of teachers.
 */
#include "postgres.h"

#include "mechanism/plan.h"
#include "miscadmin.h"

/* Odd, so that two classes never tie. */
static const int ensembles[] = {5,	 11,  25,	51,	  75,	101,  151,	 201,	301,
								501, 751, 1001, 2001, 4001, 8001, 16001, 32001, 64001};

static const PlanLearner *const learners[] = {&plan_boost, &plan_logistic, &plan_logistic_cuts};

/* With fewer rows teachers lack classes, and the law of votes does not hold. */
#define ROWS_OF_A_TEACHER 16
#define ROWS_OF_A_CLASS 5

/* With fewer units in all, trees were worse than linear models (Pima, German). */
#define UNITS_FOR_TREES 1000

#define CUTS_GAIN_LEAST 0.003

const PlanLearner *
plan_learner(const char *name)
{
	for (int i = 0; i < lengthof(learners); i++)
		if (strcmp(learners[i]->name, name) == 0)
			return learners[i];
	return NULL;
}

double
plan_best_ensemble(const PlanQuestion *question, double units, EnsembleAccuracy accuracy,
				   PlanResult *result)
{
	PlanResult best = *result;
	double	   highest = -1;
	double	   least = Max(ROWS_OF_A_TEACHER, ROWS_OF_A_CLASS * question->classes);

	for (int l = 0; l < lengthof(learners); l++)
	{
		PlanLearner learner = *learners[l];
		double		plain = question->accuracy;
		double		features = question->features;

		if (learner.cuts && question->cuts == 0)
			continue;
		if (learner.cuts)
		{
			plain = law_cut_accuracy(plain, units);
			features = law_cut_features(question->features, question->cuts);
		}
		if (question->learner ? strcmp(learner.name, question->learner) != 0
							  : learners[l] == &plan_boost && units < UNITS_FOR_TREES)
			continue;
		/* Whoever names a learner declares its own accuracy; one feature needs no trees. */
		if (question->learner || question->features == 1)
			learner.error_factor = 1;
		for (int i = 0; i < lengthof(ensembles) && (i == 0 || ensembles[i] * least <= units); i++)
		{
			PlanResult tried = *result;
			TeacherLaw law =
				teacher_law(&learner, plain, features, question->classes, units / ensembles[i]);
			double value;

			CHECK_FOR_INTERRUPTS();
			tried.learner = learners[l];
			tried.teachers = ensembles[i];
			tried.cuts = learner.cuts;
			value = accuracy(question, &law, ensembles[i], &tried);
			/* More teachers, or another learner, must gain something; the law of cuts is rough. */
			if (value > highest + (learner.cuts && !best.cuts ? CUTS_GAIN_LEAST : 1e-4))
			{
				highest = value;
				best = tried;
			}
		}
	}
	*result = best;
	return highest;
}

VoteDraw
plan_vote_draw(const PlanQuestion *question, const PlanResult *result)
{
	if (result->order_is_infinite)
		return DRAW_PERMUTE_AND_FLIP;
	if (question->classes >= 7 && result->per_answer <= EPSILON_UNITS_PER_ONE / 4)
		return DRAW_GAUSSIAN;
	return DRAW_EXPONENTIAL;
}

double
plan_vote_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
				   PlanResult *result)
{
	return law_vote(law, plan_vote_draw(question, result), teachers,
					plan_epsilon(result->per_answer));
}
