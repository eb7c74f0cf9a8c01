/*
 * drawn_limits.c
 *		What "stable_flip", "stable" and "relabel" can draw from, by what is
 *		declared: nothing here depends on rows.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/drawn.h"

/* Rows of a sample: more intervals take too long to list for one answer. */
#define INTERVAL_SAMPLE 2000.0

/* Rows of a sample and rows beside lines through two of them: what an answer may look at. */
#define PLANE_SAMPLE 2000.0
#define PLANE_PAIRS 1e7

/* Hyperplanes and rows beside them. */
#define SPACE_PAIRS 1e8

#define MAX_ROWS 1000000.0

/* Points of a sample: so many have some million boxes, or a quarter of a million labelings. */
static const double box_points[] = {[1] = 64, [2] = 64, [3] = 24};
static const double space_points[] = {[3] = 48, [4] = 24};

HypothesisClass
drawn_class(const MechanismSpec *spec, const Option *option, int halfspace)
{
	static const HypothesisClass classes[] = {HYPOTHESES_STUMP, HYPOTHESES_STUMP,
											  HYPOTHESES_INTERVAL, HYPOTHESES_HALFSPACE,
											  HYPOTHESES_RECTANGLE};
	static const int			 least[] = {1, 1, 1, 2, 1};
	const int					 most[] = {PG_INT32_MAX, 1, 1, halfspace, BOX_MAX_SIDES};
	int							 choice = option_number(spec->options, option);

	if (names_finite_class(spec))
	{
		if (option_given(spec->options, option->key))
			refuse(errmsg("option \"class_table\" cannot be combined with \"%s\"", option->key),
				   errhint("The hypotheses of a finite class are those of its table."));
		return HYPOTHESES_FINITE;
	}
	if (spec->width < least[choice] || spec->width > most[choice])
		refuse(errmsg("hypotheses \"%s\" need %s%d encoded %s, not %d", option->choices[choice],
					  least[choice] < most[choice] ? psprintf("%d to ", least[choice]) : "",
					  most[choice], most[choice] == 1 ? "feature" : "features", spec->width),
			   errdetail("A number or a boolean is one feature, a category one for each level."),
			   errhint("Declare other features, or use hypotheses \"stump\"."));
	if (classes[choice] == HYPOTHESES_HALFSPACE && spec->width > 2)
		return HYPOTHESES_SPACE;
	return classes[choice];
}

/* As many points as keep hyperplanes through them, with the corners, few enough. */
static double
space_sample(int width, double rows)
{
	double points = space_points[width];

	for (; points > 1; points--)
	{
		double planes = 1;

		for (int i = 0; i < width; i++)
			planes *= (points + width + 1 - i) / (i + 1);
		if (planes * rows <= SPACE_PAIRS)
			break;
	}
	return points;
}

double
drawn_most_sample(const MechanismSpec *spec, HypothesisClass class, int64 units)
{
	double rows = (double) units * spec->max_rows_per_unit;

	switch (class)
	{
		case HYPOTHESES_STUMP:
		case HYPOTHESES_FINITE:
			break;
		case HYPOTHESES_INTERVAL:
			return INTERVAL_SAMPLE;
		case HYPOTHESES_HALFSPACE:
			return Min(PLANE_SAMPLE, PLANE_PAIRS / Max(rows, 1));
		case HYPOTHESES_SPACE:
			return space_sample(spec->width, rows);
		case HYPOTHESES_RECTANGLE:
			return box_points[spec->width];
	}
	return INFINITY;
}

int64
drawn_most_units(const MechanismSpec *spec, HypothesisClass class)
{
	return isinf(drawn_most_sample(spec, class, spec->declared_units)) ? 0 : spec->declared_units;
}

void
drawn_check_sample(const MechanismSpec *spec, HypothesisClass class, int64 units, Share q)
{
	double most = drawn_most_sample(spec, class, units);
	double rows = (double) units * spec->max_rows_per_unit;

	if (isinf(most))
		return;
	if (units == 0)
		refuse(errmsg("these hypotheses need a declared number of units"),
			   errdetail("The time of an answer grows with the square of the rows."),
			   errhint("Declare it by privpred.protect(..., declared_units => N); of more units, N "
					   "are used."));
	if (rows > MAX_ROWS && class != HYPOTHESES_INTERVAL)
		refuse(
			errmsg("too many rows are declared for these hypotheses"),
			errdetail("%.0f units of at most %d rows are declared; they may have %.0f rows.",
					  (double) units, spec->max_rows_per_unit, MAX_ROWS),
			errhint("Declare fewer units, so that fewer are used, or use hypotheses \"stump\"."));
	if (rows * share_to_double(q) > most + 1)
		refuse(errmsg("the sample would be too large for these hypotheses"),
			   errdetail("With q = %.6g it has %.0f rows on average; it may have %.0f.",
						 share_to_double(q), rows * share_to_double(q), floor(most)),
			   errhint("Leave out q, declare fewer units, or use hypotheses \"stump\"."));
}
