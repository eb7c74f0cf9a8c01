/*
 * test_halfspaces.c
 *		What is promised of candidates for halfspaces is true: searched for
 *		otherwise, with other numbers and other arithmetic.
 *
 * sources: src/mechanism/candidates.c src/mechanism/sort.c
 * sources: src/mechanism/cover/halfspaces.c src/mechanism/cover/halfspace_probes.c
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/cover/cover.h"
#include "server_stubs.h"
#include "unit.h"

/* A generator of its own. */
static uint64 state = 7;

static double
uniform(void)
{
	state = state * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return ((double) (state >> 11) + 0.5) / (double) (UINT64CONST(1) << 53);
}

static void
random_direction(double *direction, int width)
{
	double norm = 0;

	for (int i = 0; i < width; i++)
	{
		direction[i] = sqrt(-2 * log(uniform())) * sin(2 * M_PI * uniform());
		norm += direction[i] * direction[i];
	}
	for (int i = 0; i < width; i++)
		direction[i] /= sqrt(norm);
}

static double
score(const double *direction, const double *x, int width)
{
	double sum = 0;

	for (int i = 0; i < width; i++)
		sum += direction[i] * x[i];
	return sum;
}

static const bool numeric_columns[16] = {false};
static const bool mixed_columns[16] = {false, true, false, true};

/* ---------- the plane: areas of polygons ---------- */

typedef struct Polygon
{
	int	   n;
	double x[16];
	double y[16];
} Polygon;

static const Polygon square = {4, {0, 1, 1, 0}, {0, 0, 1, 1}};

/* What of a convex polygon is in the halfspace. */
static Polygon
cut_off(const Polygon *polygon, const double *d, double cut)
{
	Polygon result = {0};

	for (int i = 0; i < polygon->n; i++)
	{
		int	   j = (i + 1) % polygon->n;
		double a = d[0] * polygon->x[i] + d[1] * polygon->y[i] - cut;
		double b = d[0] * polygon->x[j] + d[1] * polygon->y[j] - cut;

		if (a >= 0)
		{
			result.x[result.n] = polygon->x[i];
			result.y[result.n++] = polygon->y[i];
		}
		if ((a >= 0) != (b >= 0))
		{
			result.x[result.n] = polygon->x[i] + (polygon->x[j] - polygon->x[i]) * a / (a - b);
			result.y[result.n++] = polygon->y[i] + (polygon->y[j] - polygon->y[i]) * a / (a - b);
		}
	}
	return result;
}

static double
area(const Polygon *polygon)
{
	double twice = 0;

	for (int i = 0; i < polygon->n; i++)
	{
		int j = (i + 1) % polygon->n;

		twice += polygon->x[i] * polygon->y[j] - polygon->x[j] * polygon->y[i];
	}
	return twice / 2;
}

/* The area between a halfspace and the nearest candidate or its complement. */
static double
to_nearest(const Candidates *candidates, const double *d, double cut)
{
	Polygon mine = cut_off(&square, d, cut);
	double	nearest = Min(area(&mine), 1 - area(&mine)); /* constants */

	for (int i = 0; i < candidates->ngrids; i++)
		for (int j = 0; j < candidates->grids[i].ncuts; j++)
		{
			const double *other = candidates->direction + 2 * i;
			Polygon		  theirs = cut_off(&square, other, candidates->grids[i].cut[j]);
			Polygon		  both = cut_off(&mine, other, candidates->grids[i].cut[j]);
			double		  differ = area(&mine) + area(&theirs) - 2 * area(&both);

			nearest = Min(nearest, Min(differ, 1 - differ));
		}
	return nearest;
}

static double
to_nearest_of_angle(const Candidates *candidates, double angle, double place)
{
	double d[2] = {cos(angle), sin(angle)};
	double least = Min(d[0], 0) + Min(d[1], 0);

	return to_nearest(candidates, d, least + place * (fabs(d[0]) + fabs(d[1])));
}

/* Looks everywhere between candidates, and climbs from the farthest that were found. */
static double
farthest_of_plane(const Candidates *candidates)
{
	double farthest = 0;
	int	   steps = candidates->ngrids;
	int	   places = 3 * candidates->grids[0].ncuts;

	for (int i = 0; i < steps; i++)
	{
		double best = 0;
		double angle = M_PI * (i + 0.5) / steps;
		double place = 0;

		for (int j = 0; j < places; j++)
		{
			double found = to_nearest_of_angle(candidates, angle, (j + 0.5) / places);

			if (found > best)
				place = (j + 0.5) / places;
			best = Max(best, found);
		}
		for (int trial = 0; trial < 60 && best > 0.9 * farthest; trial++)
		{
			double other_angle = angle + (uniform() - 0.5) / steps;
			double other_place = place + (uniform() - 0.5) / places;
			double found = to_nearest_of_angle(candidates, other_angle, other_place);

			if (found <= best)
				continue;
			best = found;
			angle = other_angle;
			place = other_place;
		}
		farthest = Max(farthest, best);
	}
	return farthest;
}

static void
test_plane(void)
{
	Reference line = {.width = 1, .binary = numeric_columns};
	Reference plane = {.width = 2, .binary = numeric_columns};

	for (int shapes = 8; shapes <= 512; shapes *= 4)
	{
		Candidates *candidates = halfspaces_build(&plane, shapes, 2);
		double		farthest = farthest_of_plane(candidates);

		ok(candidates->share == 1 && farthest <= candidates->radius,
		   "plane, %d shapes: no halfspace is farther than %g", shapes, candidates->radius);
		/* It could fail: what is promised is not much more than what there is. */
		ok(farthest >= 0.4 * candidates->radius, "and one is %g away", farthest);
	}
	for (int shapes = 2; shapes <= 200; shapes *= 10)
	{
		Candidates *candidates = halfspaces_build(&line, shapes, 2);
		double		half = 0.5 / shapes;

		ok(candidates->share == 1 && candidates->grids[0].ncuts == shapes - 1 &&
			   fabs(candidates->radius - half) < 1e-8,
		   "line, %d shapes: a cut is at most %g away", shapes, candidates->radius);
		for (int i = 0; i < shapes - 1; i++)
			if (fabs(candidates->grids[0].cut[i] - (i + 1.0) / shapes) > 1e-12)
				ok(false, "cut %d is not at an equal share", i);
	}
}

/* ---------- more columns: fresh halfspaces ---------- */

#define LOOKS 1024
#define FRESH 1000

/*
 * How far fresh halfspaces are, on some points, from the candidate that is nearest
 * on others.  The function makes a point of the reference.
 */
typedef void (*MakePoint)(int width, double *x);

static double distances[FRESH];

static void
measure(const Candidates *candidates, MakePoint point)
{
	int		width = candidates->width;
	double *x = palloc(2 * LOOKS * width * sizeof(double));
	int		nshapes = 1;
	uint64 *labels;
	int		words = 2 * LOOKS / 64;

	for (int i = 0; i < candidates->ngrids; i++)
		nshapes += candidates->grids[i].ncuts;
	labels = palloc0(nshapes * words * sizeof(uint64));
	for (int i = 0; i < 2 * LOOKS; i++)
		point(width, x + i * width);
	nshapes = 1;
	for (int i = 0; i < candidates->ngrids; i++)
		for (int k = 0; k < 2 * LOOKS; k++)
		{
			double s = score(candidates->direction + i * width, x + k * width, width);

			for (int j = 0; j < candidates->grids[i].ncuts; j++)
				if (s >= candidates->grids[i].cut[j])
					bits_add(labels + (1 + i * candidates->grids[i].ncuts + j) * words, k);
			nshapes = 1 + (i + 1) * candidates->grids[i].ncuts;
		}
	for (int probe = 0; probe < FRESH; probe++)
	{
		double	d[16];
		double	through[16];
		uint64 *mine = palloc0(words * sizeof(uint64));
		int		nearest = LOOKS;

		random_direction(d, width);
		point(width, through);
		for (int k = 0; k < 2 * LOOKS; k++)
			if (score(d, x + k * width, width) >= score(d, through, width))
				bits_add(mine, k);
		for (int i = 0; i < nshapes; i++)
		{
			int differ[2] = {0, 0};

			for (int k = 0; k < words; k++)
				differ[k >= words / 2] += pg_popcount64(mine[k] ^ labels[i * words + k]);
			for (int negated = 0; negated < 2; negated++)
			{
				if (differ[0] < nearest)
				{
					nearest = differ[0];
					distances[probe] = (double) differ[1] / LOOKS;
				}
				differ[0] = LOOKS - differ[0];
				differ[1] = LOOKS - differ[1];
			}
		}
		pfree(mine);
	}
	pfree(labels);
	pfree(x);
}

static int
beyond(double radius)
{
	int result = 0;

	for (int i = 0; i < FRESH; i++)
		result += distances[i] > radius;
	return result;
}

static void
uniform_point(int width, double *x)
{
	for (int i = 0; i < width; i++)
		x[i] = uniform();
}

static void
mixed_point(int width, double *x)
{
	for (int i = 0; i < width; i++)
		x[i] = mixed_columns[i] ? uniform() < 0.5 : uniform();
}

/* Skewed, and with columns that go together. */
static void
skewed_point(int width, double *x)
{
	double shared = uniform();

	for (int i = 0; i < width; i++)
		x[i] = i % 2 ? shared * uniform() : pow(uniform(), 3);
}

/*
 * Of 1000 halfspaces of which one in a hundred is beyond, 30 or more are with
 * probability 1e-7.
 */
static void
check_share(const Candidates *candidates, double radius, MakePoint point, const char *name)
{
	measure(candidates, point);
	ok(beyond(radius) < 30,
	   "%s, %d columns, " INT64_FORMAT " candidates: %d of %d halfspaces are beyond %g", name,
	   candidates->width, candidates->count, beyond(radius), FRESH, radius);
	/* It could fail. */
	ok(beyond(radius / 2) >= 30, "and %d beyond half of it", beyond(radius / 2));
}

static void
test_shares(void)
{
	static const int widths[] = {3, 10};
	static double	 rows[20000 * 10];

	for (int i = 0; i < lengthof(widths); i++)
	{
		Reference	reference = {.width = widths[i], .binary = numeric_columns};
		Candidates *candidates = halfspaces_build(&reference, 512, 2);

		ok(candidates->share == 0, "of all halfspaces in %d columns nothing is proved", widths[i]);
		check_share(candidates,
					probes_radius(probes_create(candidates, &reference), &reference, 0.05),
					uniform_point, "uniform");
		reference.binary = mixed_columns;
		candidates = halfspaces_build(&reference, 512, 3);
		check_share(candidates,
					probes_radius(probes_create(candidates, &reference), &reference, 0.05),
					mixed_point, "two columns binary");
		/* What some rows were drawn from. */
		for (int row = 0; row < 20000; row++)
			skewed_point(widths[i], rows + row * widths[i]);
		reference = (Reference){widths[i], numeric_columns, 20000, rows};
		candidates = halfspaces_build(&reference, 512, 2);
		check_share(candidates,
					probes_radius(probes_create(candidates, &reference), &reference, 0.05),
					skewed_point, "rows of a reference");
	}
}

/* With few rows, little is known of what they were drawn from. */
static void
test_few_rows(void)
{
	static double rows[400 * 5];

	for (int row = 0; row < 400; row++)
		skewed_point(5, rows + row * 5);
	for (int n = 1; n <= 400; n *= 20)
	{
		Reference	reference = {5, numeric_columns, n, rows};
		Candidates *candidates = halfspaces_build(&reference, 200, 2);
		double		radius = probes_radius(probes_create(candidates, &reference), &reference, 0.05);

		ok(radius >= Min(1, sqrt(log(1000 / 0.05) / (2.0 * n))), "%d rows: within %g", n, radius);
	}
}

/* The very rows: no term for what is not known of them. */
static void
test_own_rows(void)
{
	static double	 rows[3000 * 4];
	Reference		 reference = {4, numeric_columns, 3000, rows};
	Candidates		*candidates;
	HalfspaceProbes *probes;
	double			 radius;
	int				 farther = 0;

	for (int row = 0; row < 3000; row++)
		skewed_point(4, rows + row * 4);
	candidates = halfspaces_build(&reference, 300, 2);
	probes = probes_create(candidates, &reference);
	for (int row = 0; row < 3000; row++)
		probes_add(probes, rows + row * 4, ERROR_ONE);
	radius = probes_finish(probes, 3000.0 * ERROR_ONE);
	for (int probe = 0; probe < 300; probe++)
	{
		double d[4];
		double cut;
		int	   nearest = 3000;

		random_direction(d, 4);
		cut = score(d, rows + 4 * (int) (uniform() * 3000), 4);
		for (int i = 0; i < candidates->ngrids && nearest > radius * 3000; i++)
			for (int j = 0; j < candidates->grids[i].ncuts; j++)
			{
				int differ = 0;

				for (int row = 0; row < 3000; row++)
					differ += (score(d, rows + row * 4, 4) >= cut) !=
							  (score(candidates->direction + i * 4, rows + row * 4, 4) >=
							   candidates->grids[i].cut[j]);
				nearest = Min(nearest, Min(differ, 3000 - differ));
			}
		farther += nearest > radius * 3000;
	}
	/* Of 300, 15 or more with probability 3e-7 at most. */
	ok(farther < 15 && radius < 0.3, "%d of 300 halfspaces are beyond %g of the rows themselves",
	   farther, radius);
}

int
main(void)
{
	test_plane();
	test_shares();
	test_few_rows();
	test_own_rows();
	return done();
}
