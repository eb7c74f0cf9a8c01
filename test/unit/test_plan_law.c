/*
 * test_plan_law.c
 *		The planner's law of votes: its draws are the mechanism's, its limits are
 *		the obvious ones, and it gives what was measured on real tables.
 *
 * sources: src/mechanism/plan_law.c src/mechanism/sparse/draw.c src/mechanism/vote/draw.c
 * sources: src/mechanism/vote/gaussian.c src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/sparse/draw.h"
#include "mechanism/vote/draw.h"
#include "mechanism/plan_law.h"
#include "unit.h"

#define MAX_CLASSES 12

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* The mechanism's own distribution, where all votes go to two classes. */
static double
true_draw(VoteDraw draw, double epsilon, int classes, int teachers, int right)
{
	int32  votes[MAX_CLASSES] = {right, teachers - right};
	double probability[MAX_CLASSES];

	if (draw == DRAW_GAUSSIAN)
		vote_distribution_gaussian(units_of(epsilon), classes, votes, probability);
	else
		vote_distribution(draw == DRAW_PERMUTE_AND_FLIP, units_of(epsilon), classes, votes,
						  teachers, probability);
	return probability[0];
}

static void
draws_agree(void)
{
	static const char *const names[] = {"permute-and-flip", "exponential", "Gaussian"};
	static const double		 epsilons[] = {0.02, 0.1, 0.5, 2};
	static const int		 ensembles[] = {5, 10, 51, 100};

	for (VoteDraw draw = DRAW_PERMUTE_AND_FLIP; draw <= DRAW_GAUSSIAN; draw++)
	{
		double worst = 0;

		/* Gaussian noise is for small epsilons; there ties, which the law leaves out, are rare. */
		for (int e = 0; e < (draw == DRAW_GAUSSIAN ? 2 : lengthof(epsilons)); e++)
			for (int k = 0; k < lengthof(ensembles); k++)
				for (int classes = 2; classes <= MAX_CLASSES; classes += 5)
					for (int right = 0; right <= ensembles[k]; right += 1 + ensembles[k] / 10)
					{
						double known = true_draw(draw, epsilons[e], classes, ensembles[k], right);
						double planned = law_draw(draw, epsilons[e], classes, ensembles[k], right);

						worst = fmax(worst, fabs(known - planned));
					}
		ok(worst < (draw == DRAW_GAUSSIAN ? 0.03 : 1e-3), "%s draws as the mechanism does: %g",
		   names[draw], worst);
	}
}

static void
normal_functions(void)
{
	double worst = 0;

	for (double p = 1e-6; p < 1; p += 0.01)
		worst = fmax(worst, fabs(normal_cdf(normal_quantile(p)) - p));
	ok(worst < 1e-12, "the quantile inverts the distribution: %g", worst);
	ok(fabs(normal_cdf(1.959963985) - 0.975) < 1e-9, "a known value");
}

static void
limits(void)
{
	TeacherLaw law = teacher_law(&plan_logistic, 0.85, 10, 2, 1e9);
	TeacherLaw ten = teacher_law(&plan_logistic, 0.85, 10, 10, 1e9);
	TeacherLaw poor = teacher_law(&plan_logistic, 0.85, 10, 2, 10);
	double	   stable;
	double	   right;

	ok(fabs(law_vote(&law, DRAW_EXPONENTIAL, 101, 10) - 0.85) < 1e-3,
	   "large epsilon, many rows: the plain accuracy");
	ok(fabs(law_vote(&law, DRAW_EXPONENTIAL, 101, 1e-7) - 0.5) < 1e-3, "no epsilon: a guess");
	ok(fabs(law_vote(&ten, DRAW_EXPONENTIAL, 101, 1e-7) - 0.1) < 1e-3, "among ten, too");
	ok(fabs(law_average(&law, 1001, 1) - 0.85) < 2e-3, "the average of teachers that agree");
	ok(law_average(&poor, 1001, 1) < law_vote(&poor, DRAW_PERMUTE_AND_FLIP, 1001, 1) - 0.01,
	   "a vote beats one opinion where teachers differ");
	ok(law_vote(&law, DRAW_PERMUTE_AND_FLIP, 25, 0.2) > law_vote(&law, DRAW_EXPONENTIAL, 25, 0.2),
	   "permute-and-flip beats the exponential mechanism");
	law_stream(&law, 10001, units_of(1), 1e-8, &stable, &right);
	ok(stable > 0.999 && fabs(right - 0.85) < 2e-3, "teachers that agree are stable: %g, %g",
	   stable, right);
	law_stream(&law, 25, units_of(1), 1e-8, &stable, &right);
	ok(stable < 1e-4, "so few are not: %g", stable);
	ok(law_gradient(0.85, 10, 2, 1e9, 0) > 0.8499, "no noise: the plain accuracy");
	ok(law_gradient(0.85, 10, 2, 1e4, 0.01) > law_gradient(0.85, 10, 2, 1e4, 0.02) &&
		   law_gradient(0.85, 10, 2, 1e4, 0.02) > law_gradient(0.85, 10, 10, 1e4, 0.02),
	   "noise and classes cost");
}

/* privpred.evaluate() on UCI Adult, 39,074 rows, and others; docs/planning.md. */
static void
measurements(void)
{
	static const struct
	{
		double	 accuracy;
		int		 features;
		int		 classes;
		double	 units;
		int		 teachers;
		double	 epsilon;
		VoteDraw draw;
		double	 measured;
	} cells[] = {
		{0.843, 50, 2, 39074, 25, 0.05, DRAW_PERMUTE_AND_FLIP, 0.658},
		{0.843, 50, 2, 39074, 25, 0.1, DRAW_PERMUTE_AND_FLIP, 0.743},
		{0.843, 50, 2, 39074, 100, 0.05, DRAW_PERMUTE_AND_FLIP, 0.809},
		{0.843, 50, 2, 39074, 250, 0.1, DRAW_PERMUTE_AND_FLIP, 0.841},
		{0.843, 50, 2, 39074, 500, 0.5, DRAW_PERMUTE_AND_FLIP, 0.835},
		{0.843, 50, 2, 39074, 25, 0.1, DRAW_EXPONENTIAL, 0.691},
		{0.843, 50, 2, 39074, 400, 0.02, DRAW_EXPONENTIAL, 0.814},
		{0.903, 51, 2, 36169, 100, 0.05, DRAW_EXPONENTIAL, 0.838},
		{0.903, 51, 2, 36169, 25, 0.2, DRAW_EXPONENTIAL, 0.842},
		{0.882, 49, 10, 60000, 25, 0.2, DRAW_EXPONENTIAL, 0.500},
		{0.882, 49, 10, 60000, 100, 0.1, DRAW_EXPONENTIAL, 0.798},
		{0.882, 49, 10, 60000, 400, 0.05, DRAW_EXPONENTIAL, 0.845},
	};

	for (int i = 0; i < lengthof(cells); i++)
	{
		TeacherLaw law = teacher_law(&plan_logistic, cells[i].accuracy, cells[i].features,
									 cells[i].classes, cells[i].units / cells[i].teachers);
		double	   planned = law_vote(&law, cells[i].draw, cells[i].teachers, cells[i].epsilon);

		ok(fabs(planned - cells[i].measured) < 0.01,
		   "%d classes, %d teachers, epsilon %g: %.3f, measured %.3f", cells[i].classes,
		   cells[i].teachers, cells[i].epsilon, planned, cells[i].measured);
	}
}

/* Teachers that know the commonest class alone, and models that know nothing. */
static void
without_learning(void)
{
	const VoteDraw exponential = DRAW_EXPONENTIAL;

	ok(fabs(law_prior_vote(exponential, 2, 101, 50, 0.884) - 0.884) < 1e-9,
	   "certain votes for the commonest class are right as often as it comes");
	ok(fabs(law_prior_vote(exponential, 2, 101, 1e-9, 0.884) - 0.5) < 1e-6,
	   "without epsilon it is a guess");
	ok(fabs(law_prior_vote(exponential, 10, 101, 1e-9, 0.2) - 0.1) < 1e-6,
	   "among ten classes, too");
	/* By hand: e^(0.05 * 101 / 2) = 12.49 to one. */
	ok(fabs(law_prior_vote(exponential, 2, 101, 0.05, 0.884) - (0.884 * 12.49 + 0.116) / 13.49) <
		   1e-4,
	   "between them as computed by hand");
	for (int classes = 2; classes <= 10; classes += 8)
	{
		TeacherLaw none = teacher_law(&plan_logistic, 0.88, 1000000, classes, 1);
		TeacherLaw all = teacher_law(&plan_logistic, 0.88, 50, classes, 1e12);

		ok(fabs(law_single(&none) - 1.0 / classes) < 0.01,
		   "a model of one row and a million features guesses among %d classes: %.3f", classes,
		   law_single(&none));
		ok(fabs(law_single(&all) - 0.88) < 1e-3, "one of all rows is a plain model: %.3f",
		   law_single(&all));
	}
}

int
main(void)
{
	without_learning();
	normal_functions();
	draws_agree();
	limits();
	measurements();
	return done();
}
