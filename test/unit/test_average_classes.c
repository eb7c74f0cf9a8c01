/*
 * test_average_classes.c
 *		The average of more than two classes: private for every pair of neighbours, drawn as
 *		claimed along every path of coins, exact wherever a private rule can be; and the checks
 *		reject weights that are too small.
 *
 * sources: src/mechanism/average/draw.c
 */
#include "c.h"

#include <math.h>

#include "fake_coins.h"
#include "mechanism/average/draw.h"
#include "vote_vectors.h"

#define ROUNDING 1e-10
#define MORE_TEACHERS 9

static const double epsilons[] = {0.15, 0.3, 0.4054652, 0.6931472, 1, 2, 6};

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

typedef void (*Rule)(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers,
					 double *probability);

/* Wrong: no class weighs more than its votes. */
static void
shares(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers, double *probability)
{
	for (int i = 0; i < nclasses; i++)
		probability[i] = (double) votes[i] / teachers;
}

/* Wrong: what is below the margin weighs a little less. */
static void
a_little_less(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers,
			  double *probability)
{
	double sum = 0;

	average_classes(epsilon, nclasses, votes, teachers, probability);
	for (int i = 0; i < nclasses; i++)
		sum += probability[i] *= votes[i] < average_margin(epsilon) ? 0.999 : 1;
	for (int i = 0; i < nclasses; i++)
		probability[i] /= sum;
}

/* Wrong: what is given to small classes is taken from the one with most votes alone. */
static void
taken_from_winner(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers,
				  double *probability)
{
	int64 weights[SMALL_CLASSES];
	int64 sum = average_weights(epsilon, nclasses, votes, teachers, weights);
	int	  winner = 0;

	for (int i = 0; i < nclasses; i++)
		winner = votes[i] > votes[winner] ? i : winner;
	weights[winner] -= sum - teachers * AVERAGE_VOTE;
	for (int i = 0; i < nclasses; i++)
		probability[i] = (double) weights[i] / AVERAGE_VOTE / teachers;
}

/* The largest ratio of an answer's probabilities over all neighbouring votes. */
static double
worst_ratio(Rule rule, EpsilonUnits epsilon, int nclasses, int teachers)
{
	int32  votes[SMALL_CLASSES] = {0};
	double worst = 1;

	first_votes(nclasses, teachers, votes);
	do
	{
		double p[SMALL_CLASSES];
		double q[SMALL_CLASSES];

		rule(epsilon, nclasses, votes, teachers, p);
		for (int from = 0; from < nclasses; from++)
			for (int to = 0; to < nclasses && votes[from] > 0; to++)
			{
				votes[from]--;
				votes[to]++;
				rule(epsilon, nclasses, votes, teachers, q);
				for (int i = 0; i < nclasses; i++)
					worst = Max(worst, q[i] > 0 ? p[i] / q[i] : p[i] > 0 ? INFINITY : 1);
				votes[to]--;
				votes[from]++;
			}
	} while (next_votes(nclasses, votes));
	return worst;
}

/* Is the random teacher's answer as it is wherever each class has the margin's votes? */
static bool
exact_above_margin(EpsilonUnits epsilon, int nclasses, int teachers)
{
	int32 votes[SMALL_CLASSES] = {0};
	bool  exact = true;

	first_votes(nclasses, teachers, votes);
	do
	{
		double p[SMALL_CLASSES];
		bool   above = true;

		average_classes(epsilon, nclasses, votes, teachers, p);
		for (int i = 0; i < nclasses; i++)
			above = above && votes[i] >= average_margin(epsilon);
		for (int i = 0; i < nclasses && above; i++)
			exact = exact && fabs(p[i] - (double) votes[i] / teachers) < ROUNDING;
	} while (next_votes(nclasses, votes));
	return exact;
}

static void
test_private(double epsilon)
{
	EpsilonUnits units = units_of(epsilon);
	double		 bound = exp(epsilon) * (1 + ROUNDING);
	int			 margin = (int) average_margin(units);
	double		 worst = 0;
	bool		 exact = true;

	for (int nclasses = 3; nclasses <= SMALL_CLASSES; nclasses++)
		for (int teachers = margin; teachers <= margin + MORE_TEACHERS; teachers++)
		{
			worst = Max(worst, worst_ratio(average_classes, units, nclasses, teachers));
			exact = exact && exact_above_margin(units, nclasses, teachers);
		}
	ok(worst <= bound, "epsilon %g: private from %d teachers on, exp(%g) at most", epsilon, margin,
	   log(worst));
	ok(exact, "epsilon %g: exact where all classes have the margin", epsilon);
	ok(worst_ratio(shares, units, 3, margin + 2) > bound, "epsilon %g: caught with plain shares",
	   epsilon);
	if (margin > 6)
		return;
	/* From here on every weight is the least. */
	worst = worst_ratio(average_classes, units, 3, 3 * margin + 1);
	ok(worst <= bound && worst > exp(epsilon) * (1 - 1e-4), "epsilon %g: attained", epsilon);
	ok(worst_ratio(a_little_less, units, 3, 3 * margin + 1) > bound,
	   "epsilon %g: caught with less weight", epsilon);
}

static void
test_wrong(void)
{
	EpsilonUnits units = units_of(log(1.5));

	ok(worst_ratio(average_classes, units, 4, 7) <= 1.5 * (1 + ROUNDING), "private");
	ok(worst_ratio(taken_from_winner, units, 4, 7) > 1.5 * (1 + ROUNDING),
	   "caught if the winner pays for all");
}

/* ---------- the draw ---------- */

typedef struct Question
{
	EpsilonUnits epsilon;
	int			 nclasses;
	int32		 votes[SMALL_CLASSES];
} Question;

static int64
draw(const void *argument)
{
	const Question *question = argument;

	return average_class(question->epsilon, question->nclasses, question->votes, SMALL_TEACHERS);
}

static void
test_draw(void)
{
	double off = 0;

	for (int e = 0; e < lengthof(epsilons); e++)
		for (int nclasses = 3; nclasses <= SMALL_CLASSES; nclasses++)
		{
			Question question = {units_of(epsilons[e]), nclasses, {0}};

			first_votes(nclasses, SMALL_TEACHERS, question.votes);
			do
			{
				double		p[SMALL_CLASSES];
				Enumeration drawn;

				average_classes(question.epsilon, nclasses, question.votes, SMALL_TEACHERS, p);
				enumerate(draw, &question, 0, &drawn);
				off = Max(off, drawn.elsewhere + drawn.unresolved + drawn.started_over);
				for (int i = 0; i < nclasses; i++)
					off = Max(off, fabs(drawn.weight[32 + i] - p[i]));
			} while (next_votes(nclasses, question.votes));
		}
	ok(off < 1e-12, "the draw follows its distribution along every path");
}

int
main(void)
{
	for (int i = 0; i < lengthof(epsilons); i++)
		test_private(epsilons[i]);
	test_wrong();
	test_draw();
	return done();
}
