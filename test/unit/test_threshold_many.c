/*
 * test_threshold_many.c
 *		Thresholds of several classes and on several columns: private on every small table and
 *		all its neighbours, as accurate as claimed, and the checks catch mistakes.
 *
 * sources: src/mechanism/threshold/many.c src/mechanism/vote/draw.c src/learner/threshold_walk.c
 * sources: src/learner/predictor_format.c src/learner/forest.c src/draw/rng.c src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/threshold/many.h"
#include "mechanism/vote/draw.h"
#include "unit.h"

#define ROUNDING 1e-11
#define MOST_CLASSES 5
#define MOST_COLUMNS 3
#define MOST_ROWS 240

static const char *const combination_names[] = {"vote", "sum"};

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* ---------- walks ---------- */

typedef struct Standing
{
	int32 behind[WALK_LINKS][MOST_CLASSES];
} Standing;

static int
compare(const void *a, const void *b)
{
	return walk_row_compare(a, b);
}

/* Where the walks stand at each of the points from 0, which is below all rows. */
static void
stand(WalkRow *rows, int nrows, int nclasses, const int32 *limit, int npoints, Standing *standing)
{
	int64	 count[MOST_CLASSES];
	Standing now;
	ManyWalk walk = {.rows = rows,
					 .nrows = nrows,
					 .nclasses = nclasses,
					 .limit = {limit[0], limit[1]},
					 .count = count,
					 .behind = {now.behind[0], now.behind[1]}};

	qsort(rows, nrows, sizeof(WalkRow), compare);
	memset(standing, 0, (npoints + 1) * sizeof(Standing));
	many_start(&walk);
	while (many_next(&walk))
		for (int x = (int) walk.x; x <= npoints; x++)
			standing[x] = now;
}

/* Of two classes, the walk of one number; and the definition, position by position. */
static void
test_walk(void)
{
	int wrong = 0;

	for (int i = 0; i < 3000; i++)
	{
		WalkRow	 rows[60];
		int		 nrows = arbitrary(61);
		int		 points = 1 + arbitrary(12);
		int32	 limit[WALK_LINKS] = {1 + arbitrary(6), 1 + arbitrary(12)};
		Standing standing[13];
		Walk	 walk;

		for (int j = 0; j < nrows; j++)
			rows[j] = (WalkRow){1 + arbitrary(points), arbitrary(2)};
		stand(rows, nrows, 2, limit, points, standing);
		walk_start(&walk, rows, nrows, limit);
		while (walk_next(&walk))
			for (int link = 0; link < WALK_LINKS; link++)
			{
				const int32 *behind = standing[(int) walk.x].behind[link];

				wrong +=
					behind[0] - behind[1] != walk.steps[link] || Min(behind[0], behind[1]) != 0;
			}
	}
	ok(wrong == 0, "with two classes it is the walk of one number");
}

/* ---------- scores, of small tables ---------- */

typedef struct Problem
{
	int			nclasses;
	int			ncolumns;
	int			npoints; /* of each column */
	Combination combination;
	int			rows; /* of a unit */
	double		epsilon;
	int32		limit[WALK_LINKS];
	/* what goes on */
	int kinds;
	int questions;
} Problem;

typedef struct Table
{
	int n;
	int kind[8];
} Table;

#define MOST_QUESTIONS 27

typedef struct Scores
{
	int32 score[WALK_LINKS][MOST_QUESTIONS][MOST_CLASSES];
} Scores;

static int
digit(int number, int place, int base)
{
	while (place-- > 0)
		number /= base;
	return number % base;
}

static int
power(int base, int exponent)
{
	return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

static void
scores_of(const Problem *p, const Table *table, Scores *scores)
{
	Standing standing[MOST_COLUMNS][4];

	for (int j = 0; j < p->ncolumns; j++)
	{
		WalkRow rows[8];

		for (int i = 0; i < table->n; i++)
			rows[i] = (WalkRow){1 + digit(table->kind[i] / p->nclasses, j, p->npoints),
								table->kind[i] % p->nclasses};
		stand(rows, table->n, p->nclasses, p->limit, p->npoints, standing[j]);
	}
	for (int q = 0; q < p->questions; q++)
		for (int link = 0; link < WALK_LINKS; link++)
		{
			const int32 *behind[MOST_COLUMNS];
			int32		 scratch[3 * MOST_COLUMNS];

			for (int j = 0; j < p->ncolumns; j++)
				behind[j] = standing[j][digit(q, j, p->npoints + 1)].behind[link];
			many_scores(p->combination, p->nclasses, p->ncolumns, behind, scratch,
						scores->score[link][q]);
		}
}

/* The largest loss of an answer, and range of the loss over answers, if scores move by most. */
typedef struct Loss
{
	double pure;
	double range;
	int64  pairs;
} Loss;

static void
compare_scores(const Problem *p, int64 most, const Scores *a, const Scores *b, Loss *loss)
{
	loss->pairs++;
	for (int link = 0; link < WALK_LINKS; link++)
		for (int q = 0; q < p->questions; q++)
		{
			bool   infinite = link == WALK_LAPLACE;
			double pa[MOST_CLASSES];
			double pb[MOST_CLASSES];
			double high = -INFINITY;
			double low = INFINITY;

			if (memcmp(a->score[link][q], b->score[link][q], p->nclasses * sizeof(int32)) == 0)
				continue;
			score_distribution_within(infinite, units_of(p->epsilon), most, p->nclasses,
									  a->score[link][q], pa);
			score_distribution_within(infinite, units_of(p->epsilon), most, p->nclasses,
									  b->score[link][q], pb);
			for (int i = 0; i < p->nclasses; i++)
			{
				high = Max(high, log(pa[i] / pb[i]));
				low = Min(low, log(pa[i] / pb[i]));
			}
			if (infinite)
				loss->pure = Max(loss->pure, Max(high, -low));
			else
				loss->range = Max(loss->range, high - low);
		}
}

/* The next multiset of at most so many rows; false after the last. */
static bool
next_table(const Problem *p, Table *table, int most)
{
	int i = table->n - 1;

	while (i >= 0 && table->kind[i] == p->kinds - 1)
		i--;
	if (i < 0)
	{
		if (++table->n > most)
			return false;
		memset(table->kind, 0, sizeof(table->kind));
		return true;
	}
	table->kind[i]++;
	for (int j = i + 1; j < table->n; j++)
		table->kind[j] = table->kind[i];
	return true;
}

#define MOST_UNITS 400

/* Any rows of others, and any two units of at most p->rows rows beside them, also none. */
static Loss
units_and_neighbours(const Problem *p, int others_rows, int64 most)
{
	static Scores scores[MOST_UNITS];
	Table		  others = {0};
	Loss		  loss = {0};

	do
	{
		int	  units = 0;
		Table unit = {0};

		do
		{
			Table table = others;

			for (int i = 0; i < unit.n; i++)
				table.kind[table.n++] = unit.kind[i];
			scores_of(p, &table, &scores[units++]);
		} while (next_table(p, &unit, p->rows));
		for (int i = 0; i < units; i++)
			for (int j = 0; j < i; j++)
				compare_scores(p, most, &scores[i], &scores[j], &loss);
	} while (next_table(p, &others, others_rows));
	return loss;
}

static void
test_privacy_of(int nclasses, int ncolumns, int npoints, Combination combination, int rows,
				double epsilon, int others_rows, double alpha)
{
	Problem p = {.nclasses = nclasses,
				 .ncolumns = ncolumns,
				 .npoints = npoints,
				 .combination = combination,
				 .rows = rows,
				 .epsilon = epsilon};
	int64	most = many_most(p.combination, p.ncolumns, p.rows);
	Loss	loss;
	Loss	mutant;

	p.kinds = p.nclasses * power(p.npoints, p.ncolumns);
	p.questions = power(p.npoints + 1, p.ncolumns);
	many_limits(p.combination, p.nclasses, p.ncolumns, alpha, p.epsilon / 2 / p.rows, p.limit);
	loss = units_and_neighbours(&p, others_rows, most);
	ok(loss.pure <= p.epsilon + ROUNDING && loss.range <= p.epsilon + ROUNDING,
	   "%d classes, %d columns by %s, %d rows a unit, epsilon %g: private in all " INT64_FORMAT
	   " pairs",
	   p.nclasses, p.ncolumns, combination_names[p.combination], p.rows, p.epsilon, loss.pairs);
	/* Limits that are near leave something over. */
	if (alpha > 0.05)
		return;
	/* Permute-and-flip comes as near as it likes as further classes fall behind. */
	ok(loss.range >= p.epsilon - 1e-9 &&
		   loss.pure >= (p.nclasses == 2 ? p.epsilon - 1e-9 : 0.75 * p.epsilon),
	   "and attained: %.4f, %.4f", loss.pure, loss.range);
	if (most == 1)
		return;
	mutant = units_and_neighbours(&p, others_rows, most / 2);
	ok(mutant.pure > p.epsilon + 1e-9 && mutant.range > p.epsilon + 1e-9,
	   "caught: scores that are thought to move half as far");
}

static void
test_privacy(void)
{
	static const double epsilons[] = {0.5, 2};

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		double e = epsilons[i];

		test_privacy_of(3, 1, 3, COMBINE_SUM, 1, e, 3, 0.05);
		test_privacy_of(4, 1, 2, COMBINE_SUM, 1, e, 3, 0.05);
		test_privacy_of(3, 1, 2, COMBINE_SUM, 2, e, 3, 0.05);
		for (Combination c = COMBINE_VOTE; c <= COMBINE_SUM; c++)
		{
			test_privacy_of(2, 2, 2, c, 1, e, 3, 0.05);
			test_privacy_of(3, 2, 2, c, 1, e, 3, 0.05);
			test_privacy_of(2, 3, 2, c, 1, e, 2, 0.05);
			test_privacy_of(3, 3, 2, c, 1, e, 1, 0.05);
			test_privacy_of(2, 2, 2, c, 2, e, 2, 0.05);
		}
	}
}

/* Limits of two or three steps, which these tables reach. */
static void
test_limits(void)
{
	test_privacy_of(2, 1, 2, COMBINE_SUM, 1, 2, 4, 0.5);
	test_privacy_of(3, 1, 2, COMBINE_SUM, 1, 2, 5, 0.5);
	test_privacy_of(3, 2, 2, COMBINE_VOTE, 1, 2, 3, 0.5);
	test_privacy_of(2, 2, 2, COMBINE_VOTE, 1, 2, 4, 0.5);
	test_privacy_of(2, 2, 2, COMBINE_SUM, 1, 6, 4, 0.5);
}

/* A vote on three equal columns is the walk itself; a sum of columns of which one moves, too. */
static void
test_nothing_is_lost(void)
{
	int wrong = 0;

	for (int i = 0; i < 2000; i++)
	{
		int			 nclasses = 2 + arbitrary(4);
		int32		 one[MOST_CLASSES];
		const int32 *behind[3] = {one, one, one};
		int32		 scratch[9];
		int32		 scores[MOST_CLASSES];
		int			 front = arbitrary(nclasses);
		int32		 second = PG_INT32_MAX;
		int32		 next = PG_INT32_MIN;

		for (int c = 0; c < nclasses; c++)
			one[c] = c == front ? 0 : arbitrary(9);
		many_scores(COMBINE_VOTE, nclasses, 3, behind, scratch, scores);
		for (int c = 0; c < nclasses; c++)
			if (c != front)
			{
				second = Min(second, one[c]);
				next = Max(next, scores[c]);
			}
		/* steps of epsilon/2R, here in eighths of epsilon/R */
		wrong += scores[front] - next != 4 * second;
	}
	ok(wrong == 0, "where columns agree, a vote leads by as many steps as each of them");
}

/* ---------- accuracy ---------- */

typedef struct Sample
{
	int		nclasses;
	int		npoints;
	int		nrows;
	WalkRow rows[MOST_ROWS];
	int		count[40][MOST_CLASSES]; /* by x, from 1 on */
} Sample;

static void
make_sample(Sample *s, double noise)
{
	int class;

	memset(s, 0, sizeof(Sample));
	s->nclasses = 2 + arbitrary(MOST_CLASSES - 1);
	s->npoints = 1 + arbitrary(39);
	s->nrows = 1 + arbitrary(MOST_ROWS);
	class = arbitrary(s->nclasses);
	for (int x = 1; x <= s->npoints; x++)
	{
		if (arbitrary(8) == 0)
			class = arbitrary(s->nclasses);
		for (int i = s->nrows * (x - 1) / s->npoints; i < s->nrows * x / s->npoints; i++)
		{
			int label = arbitrary(1000) < noise * 1000 ? (int) arbitrary(s->nclasses) : class;

			s->rows[i] = (WalkRow){x, label};
			s->count[x][label]++;
		}
	}
}

/* The most rows that a rule with so many switches gets right. */
static int
most_right(const Sample *s, int switches)
{
	int best[8][MOST_CLASSES] = {{0}};
	int result = 0;

	for (int x = 1; x <= s->npoints; x++)
		for (int k = switches; k >= 0; k--)
		{
			int before = 0;

			for (int c = 0; k > 0 && c < s->nclasses; c++)
				before = Max(before, best[k - 1][c]);
			for (int c = 0; c < s->nclasses; c++)
				best[k][c] = Max(best[k][c], before) + s->count[x][c];
		}
	for (int c = 0; c < s->nclasses; c++)
		result = Max(result, best[switches][c]);
	return result;
}

static double
expected_right(Sample *s, WalkLink link, double step, const int32 *limit)
{
	Standing standing[40];
	double	 right = 0;

	stand(s->rows, s->nrows, s->nclasses, limit, s->npoints, standing);
	for (int x = 1; x <= s->npoints; x++)
	{
		double probability[MOST_CLASSES];
		int32  scores[MOST_CLASSES];

		for (int c = 0; c < s->nclasses; c++)
			scores[c] = -standing[x].behind[link][c];
		score_distribution_within(link == WALK_LAPLACE, units_of(2 * step), 1, s->nclasses, scores,
								  probability);
		for (int c = 0; c < s->nclasses; c++)
			right += s->count[x][c] * probability[c];
	}
	return right;
}

static void
test_accuracy(void)
{
	int	   noisy = 0;
	int	   clean = 0;
	double closest = INFINITY;

	for (int i = 0; i < 4000; i++)
	{
		double step = i % 2 ? 0.05 : 0.5;
		double alpha = i % 3 ? 0.05 : 0.3;
		Sample s;
		int32  limit[WALK_LINKS];

		make_sample(&s, i % 4 / 4.0);
		many_limits(COMBINE_VOTE, s.nclasses, 1, alpha, step, limit);
		for (int k = 0; k < 8; k++)
		{
			double lost[WALK_LINKS];
			bool   without_noise = most_right(&s, k) == s.nrows;

			for (int link = 0; link < WALK_LINKS; link++)
				lost[link] = most_right(&s, k) - expected_right(&s, link, step, limit) -
							 (alpha / 2 * s.nrows + k * limit[link]);
			closest = Min(closest, log(s.nclasses) / step - lost[WALK_LOGISTIC]);
			noisy += lost[WALK_LOGISTIC] > log(s.nclasses) / step + 1e-9;
			clean += without_noise && lost[WALK_LAPLACE] > (k + 1) * log(s.nclasses) / step + 1e-9;
		}
	}
	ok(noisy == 0,
	   "exponential: no more than the best rule with k switches, n alpha/2 and (k L + ln C)/s "
	   "errors (nearest: %.2f)",
	   closest);
	ok(clean == 0, "permute-and-flip: the same for rows without noise, and (k + 1) ln C");
}

int
main(void)
{
	test_walk();
	test_nothing_is_lost();
	test_privacy();
	test_limits();
	test_accuracy();
	return done();
}
