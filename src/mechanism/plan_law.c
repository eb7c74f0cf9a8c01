/*
 * plan_law.c
 *		How accurate private answers will be, from declared numbers alone.
 */
#include "c.h"

#include <math.h>

#include "mechanism/sparse/draw.h"
#include "mechanism/plan_law.h"

/* Fitted on Adult, Bank, MNIST 7x7, German and Pima; see docs/planning.md. */
const PlanLearner plan_logistic = {"logistic", 0.246, 10, 0.062, 1, false};
const PlanLearner plan_boost = {"boost", 0.64, 0, 0.077, 0.85, false};
const PlanLearner plan_logistic_cuts = {"logistic", 0.246, 10, 0.062, 1, true};

/* Of a linear model's errors cuts avoid this share at most, half of it with so many rows. */
#define CUTS_GAIN 0.11
#define CUTS_ROWS 8000.0
#define CUTS_WEIGHT 0.2 /* of a number that cuts add, beside a feature */

#define GRADIENT_FACTOR 7.8
#define GRADIENT_POWER 1.06
#define GRADIENT_POWER_MANY 1.5 /* of more than two classes */
#define GRADIENT_CLASSES 0.94

double
normal_cdf(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

/* By bisection, from -10 to 10: a few dozen steps, and nothing to get wrong. */
double
normal_quantile(double p)
{
	double middle = 0;

	for (double step = 5; step > 1e-17; step /= 2)
		middle += normal_cdf(middle) < p ? step : -step;
	return middle;
}

/* ---------- the law ---------- */

static double
parameters_per_row(const PlanLearner *learner, double features, int classes, double rows)
{
	return learner->per_feature * (features + learner->constant) * (classes - 1) / Max(rows, 1);
}

/* No better than certain, no worse than a guess. */
static double
margin_of(double accuracy, int classes)
{
	return normal_quantile(Min(Max(accuracy, 1.0 / classes), 0.999999));
}

TeacherLaw
teacher_law(const PlanLearner *learner, double accuracy, double features, int classes, double rows)
{
	double	   variance = parameters_per_row(learner, features, classes, rows);
	double	   plain = 1 - (1 - accuracy) * learner->error_factor;
	TeacherLaw law;

	law.classes = classes;
	law.mu = margin_of(plain - learner->bias * variance / (1 + variance), classes);
	law.spread = sqrt(Max(variance, 1e-6));
	return law;
}

/* Falls from the accuracy of a plain model to that of a guess as the spread grows. */
double
law_single(const TeacherLaw *law)
{
	double plain = normal_cdf(law->mu);
	double guess = 1.0 / law->classes;
	double right = normal_cdf(law->mu / sqrt(1 + law->spread * law->spread));

	if (law->classes == 2 || plain <= 0.5)
		return right;
	return guess + (right - 0.5) * (plain - guess) / (plain - 0.5);
}

double
law_gradient(double accuracy, double features, int classes, double rows, double noise)
{
	double	   variance = parameters_per_row(&plan_logistic, features, classes, rows);
	double	   scaled = pow(classes - 1, GRADIENT_CLASSES) * noise;
	double	   power = classes > 2 ? GRADIENT_POWER_MANY : GRADIENT_POWER;
	TeacherLaw law = {.classes = classes, .mu = margin_of(accuracy, classes)};

	law.spread = sqrt(variance + GRADIENT_FACTOR * pow(scaled, power));
	return law_single(&law);
}

double
law_cut_accuracy(double accuracy, double rows)
{
	return 1 - (1 - accuracy) * (1 - CUTS_GAIN * rows / (rows + CUTS_ROWS));
}

double
law_cut_features(int features, int cuts)
{
	return features + CUTS_WEIGHT * cuts;
}

/* ---------- draws, where all votes go to two classes ---------- */

/* A class accepted with probability a wins over others accepted with b and c. */
static double
permute_and_flip(double a, double b, double c, int others)
{
	const int steps = 32;
	double	  sum = 0;

	/* The integral over t of (1 - b + b t)(1 - c + c t)^others, by Simpson's rule. */
	for (int i = 0; i <= steps; i++)
	{
		double t = (double) i / steps;
		double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;

		sum += weight * (1 - b + b * t) * pow(1 - c + c * t, others);
	}
	return a * sum / (3 * steps);
}

static double
gaussian_max(double epsilon, double right, double wrong, int others)
{
	double sigma = sqrt(8) / epsilon;
	double sum = 0;
	double total = 0;

	for (double t = -4; t <= 4.001; t += 0.4)
	{
		double weight = exp(-t * t / 2);

		sum += weight * normal_cdf(t + (right - wrong) / sigma) *
			   pow(normal_cdf(t + right / sigma), others);
		total += weight;
	}
	return sum / total;
}

double
law_draw(VoteDraw draw, double epsilon, int classes, int teachers, double right)
{
	double wrong = teachers - right;
	double top = Max(right, wrong);
	double a = exp(-epsilon / 2 * (top - right));
	double b = exp(-epsilon / 2 * (top - wrong));
	double c = exp(-epsilon / 2 * top);

	if (draw == DRAW_GAUSSIAN)
		return gaussian_max(epsilon, right, wrong, classes - 2);
	if (draw == DRAW_EXPONENTIAL)
		return a / (a + b + (classes - 2) * c);
	if (classes == 2 && teachers % 2 == 1)
	{
		/* Real gaps are odd; between two odd numbers, interpolate. */
		double gap = Max(fabs(right - wrong), 1);
		double loser = exp(-epsilon * (gap - 1) / 2) / (1 + exp(epsilon));
		double share = Min(fabs(right - wrong), 1);

		loser = share * loser + (1 - share) / 2;
		return right > wrong ? 1 - loser : loser;
	}
	return permute_and_flip(a, b, c, classes - 2);
}

/* ---------- expectations over questions and teachers ---------- */

/*
 * Margins are cut into cells, with an edge at 0 so that teachers who all agree
 * cause no trouble.  In each cell the binomial number of right votes is
 * represented by the five points of a Gauss-Hermite rule.
 */
#define CELL 0.1
#define FIRST_CELL (-80)
#define LAST_CELL 119

static const double node[] = {-2.8569700138728, -1.3556261799743, 0, 1.3556261799743,
							  2.8569700138728};
static const double weight[] = {0.011257411327721, 0.22207592200561, 0.53333333333333,
								0.22207592200561, 0.011257411327721};

/* Draws among many classes take long, so they are tabulated; linear in between. */
#define TABLE_STEPS 128

/* How votes become an answer. */
typedef struct Votes
{
	int			 teachers;
	int			 classes;
	VoteDraw	 draw;
	double		 epsilon;
	double		 table[TABLE_STEPS + 1];
	EpsilonUnits stream_epsilon;
	int64		 stream_width;
	bool		 only_right; /* stable answers that are right */
} Votes;

/* The chance of a good answer if so many votes are right. */
typedef double (*VotesFunction)(const Votes *votes, double right);

static double
expect(const TeacherLaw *law, const Votes *votes, VotesFunction function)
{
	int	   teachers = votes->teachers;
	double sum = 0;
	double below = normal_cdf(FIRST_CELL * CELL - law->mu);

	for (int i = FIRST_CELL; i <= LAST_CELL; i++)
	{
		double above = normal_cdf((i + 1) * CELL - law->mu);
		double mass = above - below;
		double share = normal_cdf((i + 0.5) * CELL / law->spread);
		double deviation = sqrt(teachers * share * (1 - share));

		below = above;
		for (int j = 0; mass >= 1e-9 && j < lengthof(node); j++)
		{
			double right = Min(Max(teachers * share + node[j] * deviation, 0), teachers);

			sum += mass * weight[j] * function(votes, right);
		}
	}
	return sum;
}

static double
drawn(const Votes *votes, double right)
{
	return law_draw(votes->draw, votes->epsilon, votes->classes, votes->teachers, right);
}

static double
tabulated(const Votes *votes, double right)
{
	double position = right / votes->teachers * TABLE_STEPS;
	int	   cell = Min((int) position, TABLE_STEPS - 1);

	position -= cell;
	return (1 - position) * votes->table[cell] + position * votes->table[cell + 1];
}

double
law_vote(const TeacherLaw *law, VoteDraw draw, int teachers, double epsilon)
{
	Votes votes = {.teachers = teachers, .classes = law->classes, .draw = draw, .epsilon = epsilon};

	if (law->classes == 2 || draw == DRAW_EXPONENTIAL)
		return expect(law, &votes, drawn);
	for (int i = 0; i <= TABLE_STEPS; i++)
		votes.table[i] = drawn(&votes, (double) teachers * i / TABLE_STEPS);
	return expect(law, &votes, tabulated);
}

double
law_prior_vote(VoteDraw draw, int classes, int teachers, double epsilon, double commonest)
{
	return commonest * law_draw(draw, epsilon, classes, teachers, teachers) +
		   (1 - commonest) * law_draw(draw, epsilon, classes, teachers, 0);
}

/* Clipped as in average/draw.h. */
static double
clipped(const Votes *votes, double right)
{
	double least = ceil(1 / expm1(votes->epsilon));

	return Min(Max(right, least), votes->teachers - least) / votes->teachers;
}

double
law_average(const TeacherLaw *law, int teachers, double epsilon)
{
	Votes votes = {.teachers = teachers, .epsilon = epsilon};

	return expect(law, &votes, clipped);
}

static double
stable(const Votes *votes, double right)
{
	double gap = fabs(2 * right - votes->teachers);

	if (votes->only_right && 2 * right <= votes->teachers)
		return 0;
	return sparse_stable_probability(votes->stream_epsilon, votes->stream_width,
									 (int64) Max(floor((gap - 1) / 2), 0));
}

void
law_stream(const TeacherLaw *law, int teachers, EpsilonUnits epsilon, double delta,
		   double *stable_share, double *right_share)
{
	Votes votes = {.teachers = teachers, .stream_epsilon = epsilon};

	votes.stream_width = sparse_width(epsilon, delta);
	*stable_share = expect(law, &votes, stable);
	votes.only_right = true;
	*right_share = expect(law, &votes, stable);
}
