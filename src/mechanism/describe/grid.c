/*
 * describe/grid.c
 *		The public cells of numbers and times, which no row has a say in.
 */
#include "c.h"

#include "mechanism/describe/describe.h"

/* Literals are the nearest doubles, which print as they are written here. */
#define TENTHS(places) 1e-##places, 2e-##places, 5e-##places
#define DECADE(zeros) 1e##zeros, 2e##zeros, 5e##zeros

static const double magnitudes[] = {
	TENTHS(6), TENTHS(5), TENTHS(4),  TENTHS(3),  TENTHS(2),  TENTHS(1), DECADE(0),
	DECADE(1), DECADE(2), DECADE(3),  DECADE(4),  DECADE(5),  DECADE(6), DECADE(7),
	DECADE(8), DECADE(9), DECADE(10), DECADE(11), DECADE(12),
};

#define BELOW_ONE 18 /* magnitudes that integers do not need */
#define FIRST_YEAR 1900
#define LAST_YEAR 2100
#define MAX_EDGES (LAST_YEAR - FIRST_YEAR + 1)
#define SECONDS_PER_DAY 86400

StaticAssertDecl(2 * lengthof(magnitudes) + 1 <= MAX_EDGES, "times have most edges");

int
described_cells(DescribedKind kind)
{
	switch (kind)
	{
		case DESCRIBED_INTEGER:
			return 2 * ((int) lengthof(magnitudes) - BELOW_ONE) + 2;
		case DESCRIBED_NUMBER:
			return 2 * (int) lengthof(magnitudes) + 2;
		case DESCRIBED_DATE:
		case DESCRIBED_TIME:
			return LAST_YEAR - FIRST_YEAR + 2;
		case DESCRIBED_CATEGORY:
			break;
	}
	return 0;
}

/* Days from 1970-01-01 to 1 January, in the Gregorian calendar. */
static double
new_year(int year)
{
	int before = year - 1;
	int leap_days = before / 4 - before / 100 + before / 400;

	return (year - 1970) * 365.0 + (leap_days - (1969 / 4 - 1969 / 100 + 1969 / 400));
}

static double
compute_edge(DescribedKind kind, int edge)
{
	int first = kind == DESCRIBED_INTEGER ? BELOW_ONE : 0;
	int of_sign = lengthof(magnitudes) - first;

	if (kind == DESCRIBED_DATE)
		return new_year(FIRST_YEAR + edge);
	if (kind == DESCRIBED_TIME)
		return new_year(FIRST_YEAR + edge) * SECONDS_PER_DAY;
	if (edge < of_sign)
		return -magnitudes[lengthof(magnitudes) - 1 - edge];
	return edge == of_sign ? 0 : magnitudes[first + edge - of_sign - 1];
}

/* All edges of a kind, computed once for the process. */
static const double *
edges_of(DescribedKind kind)
{
	static double edges[DESCRIBED_CATEGORY][MAX_EDGES];
	static bool	  known[DESCRIBED_CATEGORY];

	for (int i = 0; !known[kind] && i < described_cells(kind) - 1; i++)
		edges[kind][i] = compute_edge(kind, i);
	known[kind] = true;
	return edges[kind];
}

double
described_edge(DescribedKind kind, int edge)
{
	return edges_of(kind)[edge];
}

/* As many as there are edges up to the value. */
int
described_cell(DescribedKind kind, double value)
{
	const double *edges = edges_of(kind);
	int			  low = 0;
	int			  high = described_cells(kind) - 1;

	while (low < high)
	{
		int middle = (low + high) / 2;

		if (edges[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
