/*
 * small_tables.h
 *		All small tables of a domain and all their neighbours, for exact proofs
 *		by enumeration.
 *
 * A domain has some points; a row is a point and a label; a unit is one of some
 * kinds, each a few rows; a table is some units.
 */
#ifndef PRIVPRED_SMALL_TABLES_H
#define PRIVPRED_SMALL_TABLES_H

#include <math.h>

#include "arena.h"
#include "mechanism/stable/draw.h"
#include "server_stubs.h"
#include "unit.h"

#define SMALL_UNITS 6
#define SMALL_ROWS 4 /* a unit */
#define SMALL_WIDTH 4

typedef struct UnitKind
{
	int nrows;
	int row[SMALL_ROWS]; /* 2 * point + label */
} UnitKind;

typedef struct Domain
{
	int width;
	int npoints;
	const double (*point)[SMALL_WIDTH];
	int				nkinds;
	const UnitKind *kinds;
} Domain;

typedef struct SmallTable
{
	LabelledUnits units;
	int32		  first_row[SMALL_UNITS + 1];
	uint8		  label[SMALL_UNITS * SMALL_ROWS];
	double		  x[SMALL_UNITS * SMALL_ROWS * SMALL_WIDTH];
} SmallTable;

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

static double
real(EpsilonUnits epsilon)
{
	return (double) epsilon / EPSILON_UNITS_PER_ONE;
}

/* kind[n], of which those below 0 are no unit */
static void
fill_table(const Domain *domain, int n, const int *kind, SmallTable *table)
{
	LabelledUnits *units = &table->units;

	memset(table, 0, sizeof(SmallTable));
	for (int i = 0; i < n; i++)
	{
		if (kind[i] < 0)
			continue;
		for (int j = 0; j < domain->kinds[kind[i]].nrows; j++)
		{
			int row = domain->kinds[kind[i]].row[j];

			table->label[units->nrows] = row % 2;
			memcpy(table->x + (Size) units->nrows * domain->width, domain->point[row / 2],
				   sizeof(double) * domain->width);
			units->nrows++;
		}
		table->first_row[++units->nunits] = units->nrows;
	}
	units->width = domain->width;
	units->first_row = table->first_row;
	units->label = table->label;
	units->x = table->x;
}

/* Of three points, what each of five hypotheses says of them as bits; two say the same. */
static FiniteClass *
small_class(void)
{
	static const uint64 says[] = {0, 7, 3, 3, 4};
	FiniteClass		   *finite = palloc0(sizeof(FiniteClass));

	finite->nhypotheses = lengthof(says);
	finite->npoints = 3;
	finite->columns = palloc0(sizeof(uint64) * finite->npoints);
	for (int h = 0; h < finite->nhypotheses; h++)
		for (int p = 0; p < finite->npoints; p++)
			if ((says[h] >> p) & 1)
				bits_add(finite->columns + p, h);
	return finite;
}

/* Of a sample that is cut. */
static int small_most_points = 20;

#define SMALL_POINT(number) ((number) / POINT_SCALE)

static HypothesisSpace *
prepared_space(HypothesisClass class, const LabelledUnits *units)
{
	HypothesisSource source = {class, units, NULL, small_most_points};

	if (class == HYPOTHESES_FINITE)
		source.finite = small_class();
	return hypotheses_create(&source);
}

/* The mean of a probability given T, over all T. */
typedef double (*GivenSample)(StableSampler *sampler, const void *argument, const double *x);

static double
mean_over_samples(StableSampler *sampler, double q, GivenSample given, const void *argument,
				  const double *x)
{
	int	   n = sampler->units->nunits;
	double sum = 0;

	for (uint64 chosen = 0; chosen < UINT64CONST(1) << n; chosen++)
	{
		int size = pg_popcount64(chosen);

		stable_choose_these(sampler, &chosen);
		sum += pow(q, size) * pow(1 - q, n - size) * given(sampler, argument, x);
	}
	return sum;
}

/* |ln| of the larger ratio of the two answers' probabilities, after a flip. */
static double
privacy_loss(double p, double p_neighbour, double alpha)
{
	double yes = (alpha + (1 - 2 * alpha) * p) / (alpha + (1 - 2 * alpha) * p_neighbour);
	double no = (1 - alpha - (1 - 2 * alpha) * p) / (1 - alpha - (1 - 2 * alpha) * p_neighbour);

	return Max(fabs(log(yes)), fabs(log(no)));
}

/*
 * Every table of up to n units, each as the number whose digits are its units, 0
 * being none; so all that differ in one digit are neighbours.
 */
static int64
count_tables(const Domain *domain, int n)
{
	int64 count = 1;

	for (int i = 0; i < n; i++)
		count *= domain->nkinds + 1;
	return count;
}

static void
table_digits(const Domain *domain, int n, int64 number, int *kind)
{
	for (int i = 0; i < n; i++)
	{
		kind[i] = (int) (number % (domain->nkinds + 1)) - 1;
		number /= domain->nkinds + 1;
	}
}

/* Whatever is compared of the probabilities of 1 over two neighbours. */
typedef double (*Comparison)(double p, double p_neighbour, const void *argument);

/* The largest over all tables, neighbours and points; p is by table and point. */
static double
largest_over_neighbours(const Domain *domain, int n, const double *p, Comparison compare,
						const void *argument)
{
	int64  count = count_tables(domain, n);
	double largest = -INFINITY;

	for (int64 table = 0; table < count; table++)
	{
		for (int64 place = 1; place < count; place *= domain->nkinds + 1)
		{
			int64 digit = table / place % (domain->nkinds + 1);

			for (int64 other = 0; other <= domain->nkinds; other++)
			{
				int64 neighbour = table + (other - digit) * place;

				for (int i = 0; i < domain->npoints && other != digit; i++)
					largest = Max(largest, compare(p[table * domain->npoints + i],
												   p[neighbour * domain->npoints + i], argument));
			}
		}
	}
	return largest;
}

static double
loss_after_flip(double p, double p_neighbour, const void *alpha)
{
	return privacy_loss(p, p_neighbour, *(const double *) alpha);
}

static double
largest_loss(const Domain *domain, int n, const double *p, double alpha)
{
	return largest_over_neighbours(domain, n, p, loss_after_flip, &alpha);
}

#endif /* PRIVPRED_SMALL_TABLES_H */
