/*
 * candidates.c
 *		Finite sets of classifiers: grids of cuts, counting, building, one
 *		candidate in full.
 */
#include "postgres.h"

#include <math.h>

#include "server/compat.h"
#include "mechanism/candidates.h"
#include "mechanism/sort.h"

/* ---------- counting ---------- */

static int
column_cuts(const Reference *reference, int column, int resolution)
{
	return reference->binary[column] ? 1 : resolution;
}

/* Intervals [a, b) with a < b among the inner cuts and both infinities. */
static int64
intervals_of(int ncuts)
{
	return ((int64) ncuts + 1) * (ncuts + 2) / 2;
}

int64
candidates_shapes(CandidateClass class, const Reference *reference, int resolution)
{
	int64 shapes = 1;

	for (int i = 0; i < reference->width; i++)
	{
		int ncuts = column_cuts(reference, i, resolution);

		if (class_has_boxes(class))
			shapes *= intervals_of(ncuts);
		else
			shapes += ncuts;
		if (shapes > MAX_CANDIDATES)
			return MAX_CANDIDATES + 1;
	}
	return shapes;
}

int
candidates_resolution(CandidateClass class, const Reference *reference, int64 limit)
{
	int low = -1;
	int high = (int) MAX_CANDIDATES;

	/* Without a numeric column every resolution is the same. */
	limit = Min(limit, MAX_CANDIDATES);
	if (candidates_shapes(class, reference, high) <= limit)
		return 1;
	while (high - low > 1)
	{
		int middle = low + (high - low) / 2;

		if (candidates_shapes(class, reference, middle) <= limit)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* How many cuts one classifier has, each of which may be off. */
static int
faces(CandidateClass class, int width)
{
	return class_has_boxes(class) ? 2 * width : 1;
}

int
candidates_resolution_within(CandidateClass class, int width, double radius)
{
	/* n inner cuts of [0, 1] leave gaps of 1/(n + 1), and a cut is half of one away. */
	double gaps = faces(class, width) / (2 * radius);

	return (int) Max(0, ceil(Min(gaps, (double) MAX_CANDIDATES) - 1e-9) - 1);
}

/* ---------- grids ---------- */

static void
uniform_grid(int ncuts, Grid *grid)
{
	grid->ncuts = ncuts;
	grid->cut = palloc_array(double, Max(ncuts, 1));
	for (int i = 0; i < ncuts; i++)
		grid->cut[i] = (i + 1.0) / (ncuts + 1);
	grid->radius = 0.5 / (ncuts + 1);
}

/*
 * The radius of a grid on sorted values.  Cuts that differ on the values are
 * at values; the mass between a cut at value i and one at value j is the
 * number of values from one to the other.
 */
static double
grid_radius(const Grid *grid, int64 n, const double *sorted)
{
	int64 below = 0; /* rank of the last cut at or before the value */
	int64 worst = 0;
	int	  next = 0;

	for (int64 i = 0; i < n; i++)
	{
		int64 above = n;

		if (i > 0 && sorted[i] == sorted[i - 1])
			continue; /* a cut here is a cut at the first of them */
		while (next < grid->ncuts && grid->cut[next] <= sorted[i])
		{
			below = i;
			next++;
		}
		if (next < grid->ncuts)
			above = count_below(sorted, n, grid->cut[next]);
		worst = Max(worst, Min(i - below, above - i));
	}
	return (double) worst / n;
}

/* Cuts at equal shares of the values, as far as the values allow. */
static void
reference_grid(int64 n, double *values, int ncuts, Grid *grid)
{
	sort_doubles(values, n);
	grid->ncuts = 0;
	grid->cut = palloc_array(double, Max(ncuts, 1));
	for (int i = 0; i < ncuts; i++)
	{
		double cut = values[(int64) ((i + 1.0) * n / (ncuts + 1))];

		if (cut > values[0] && (grid->ncuts == 0 || cut > grid->cut[grid->ncuts - 1]))
			grid->cut[grid->ncuts++] = cut;
	}
	grid->radius = grid_radius(grid, n, values);
}

static void
column_grid(const Reference *reference, int column, int resolution, Grid *grid)
{
	double *values;

	if (reference->binary[column])
	{
		uniform_grid(1, grid); /* at 1/2, the only cut there is */
		grid->radius = 0;
		return;
	}
	if (reference->npoints == 0)
	{
		uniform_grid(resolution, grid);
		return;
	}
	values = palloc_array(double, reference->npoints);
	for (int64 i = 0; i < reference->npoints; i++)
		values[i] = reference->x[i * reference->width + column];
	reference_grid(reference->npoints, values, resolution, grid);
	pfree(values);
}

/* ---------- building ---------- */

Candidates *
candidates_build(CandidateClass class, const Reference *reference, int resolution, int nclasses)
{
	Candidates *result = palloc0_object(Candidates);
	int64		shapes = 1;

	result->class = class;
	result->share = 1;
	result->nclasses = nclasses;
	result->width = result->ngrids = reference->width;
	result->grids = palloc0_array(Grid, reference->width);
	for (int i = 0; i < reference->width; i++)
	{
		Grid *grid = &result->grids[i];

		column_grid(reference, i, resolution, grid);
		if (class_has_boxes(class))
		{
			shapes *= intervals_of(grid->ncuts);
			result->radius += 2 * grid->radius;
		}
		else
		{
			shapes += grid->ncuts;
			result->radius = Max(result->radius, grid->radius);
		}
	}
	result->count = class_pairs(nclasses) * shapes;
	return result;
}

Candidates *
candidates_of_finite(const FiniteClass *finite, int nclasses)
{
	Candidates *result = palloc0_object(Candidates);

	result->class = CLASS_FINITE;
	result->share = 1;
	result->nclasses = nclasses;
	result->width = 1;
	result->count = finite->nhypotheses;
	result->finite = finite;
	return result;
}

/* ---------- one candidate ---------- */

/* The cut-th cut of all, counted through directions; the 0th is no cut. */
static void
get_cut(const Candidates *candidates, int64 cut, Classifier *classifier)
{
	int direction = 0;

	classifier->cut = -INFINITY;
	classifier->weight = palloc0_array(double, candidates->width);
	if (cut == 0)
		return;
	cut--;
	while (cut >= candidates->grids[direction].ncuts)
		cut -= candidates->grids[direction++].ncuts;
	classifier->cut = candidates->grids[direction].cut[cut];
	if (candidates->direction == NULL)
		classifier->weight[direction] = 1;
	else
		memcpy(classifier->weight, candidates->direction + (Size) direction * candidates->width,
			   candidates->width * sizeof(double));
}

static double
boundary(const Grid *grid, int number)
{
	if (number == 0)
		return -INFINITY;
	return number > grid->ncuts ? INFINITY : grid->cut[number - 1];
}

/* Boxes are counted by their lower and upper boundaries, the last side fastest. */
static void
get_box(const Candidates *candidates, int64 box, Classifier *classifier)
{
	for (int i = candidates->width - 1; i >= 0; i--)
	{
		const Grid *grid = &candidates->grids[i];
		int64		rest = box % intervals_of(grid->ncuts);
		int			low = 0;

		box /= intervals_of(grid->ncuts);
		for (; rest > grid->ncuts - low; low++)
			rest -= grid->ncuts - low + 1;
		classifier->low[i] = boundary(grid, low);
		classifier->high[i] = boundary(grid, low + 1 + (int) rest);
	}
}

/* Of two classes: the second inside, then the first. */
static void
get_pair(int pair, int nclasses, Classifier *classifier)
{
	int rest = pair % (nclasses - 1);

	classifier->inside = nclasses - 1 - pair / (nclasses - 1);
	classifier->outside = rest < classifier->inside ? rest : rest + 1;
}

void
candidate_get(const Candidates *candidates, int64 index, Classifier *classifier)
{
	int64 pairs = class_pairs(candidates->nclasses);

	memset(classifier, 0, sizeof(Classifier));
	classifier->class = candidates->class;
	if (candidates->class == CLASS_FINITE)
	{
		classifier->hypothesis = (int) index;
		return;
	}
	get_pair((int) (index % pairs), candidates->nclasses, classifier);
	if (class_has_boxes(candidates->class))
		get_box(candidates, index / pairs, classifier);
	else
		get_cut(candidates, index / pairs, classifier);
}

int
classifier_says(const Classifier *classifier, int width, const double *x)
{
	bool inside = true;

	if (class_has_boxes(classifier->class))
	{
		for (int i = 0; i < width; i++)
			inside = inside && classifier->low[i] <= x[i] && x[i] < classifier->high[i];
	}
	else if (classifier->cut != -INFINITY)
	{
		double score = 0;

		for (int i = 0; i < width; i++)
			score += classifier->weight[i] * x[i];
		inside = score >= classifier->cut;
	}
	return inside ? classifier->inside : classifier->outside;
}
