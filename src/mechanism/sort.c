/*
 * sort.c
 *		Sorting and searching of many numbers.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "mechanism/sort.h"

#define ST_SORT sort_doubles
#define ST_ELEMENT_TYPE double
#define ST_COMPARE(a, b) ((*(a) > *(b)) - (*(a) < *(b)))
#define ST_SCOPE
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static inline int64
count_values(const double *values, int64 n, double bound, bool and_equal)
{
	int64 low = 0;
	int64 high = n;

	while (low < high)
	{
		int64 middle = low + (high - low) / 2;

		if (values[middle] < bound || (and_equal && values[middle] == bound))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64
count_below(const double *values, int64 n, double bound)
{
	return count_values(values, n, bound, false);
}

int64
count_up_to(const double *values, int64 n, double bound)
{
	return count_values(values, n, bound, true);
}
