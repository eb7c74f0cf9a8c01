/*
 * parts.c
 *		Hypotheses of a finite class, told apart by what they say.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "server/compat.h"
#include "mechanism/littlestone/littlestone.h"

/* ---------- distinct hypotheses ---------- */

static int
compare_rows(const void *a, const void *b, void *words)
{
	const uint64 *x = *(uint64 *const *) a;
	const uint64 *y = *(uint64 *const *) b;

	for (int i = 0; i < *(int *) words; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

FiniteClass *
finite_class_of(int nhypotheses, int npoints, int nclasses, uint64 *const *labels)
{
	FiniteClass *result = palloc0_object(FiniteClass);
	int			 words = BITS_WORDS(nhypotheses);

	result->nhypotheses = nhypotheses;
	result->npoints = npoints;
	result->planes = class_bits(nclasses);
	result->columns = palloc0_array(uint64, result->planes * npoints * (Size) words);
	for (int h = 0; h < nhypotheses; h++)
		for (int i = 0; i < result->planes; i++)
			for (int p = 0; p < npoints; p++)
				if (bits_member(labels[h] + i * BITS_WORDS(npoints), p))
					bits_add(result->columns + (i * npoints + p) * (Size) words, h);
	return result;
}

/* Sorted, so that sets that a few points tell apart are often ranges. */
FiniteClass *
finite_class_distinct(const FiniteClass *finite)
{
	uint64 **rows = palloc_array(uint64 *, finite->nhypotheses);
	int		 nclasses = finite_class_classes(finite);
	int		 words = LABELS_WORDS(finite->npoints, nclasses);
	int		 n = 0;

	for (int h = 0; h < finite->nhypotheses; h++)
	{
		rows[h] = palloc0_array(uint64, words);
		for (int p = 0; p < finite->npoints; p++)
			labels_set(rows[h], finite->npoints, nclasses, p, finite_class_label(finite, h, p));
	}
	qsort_arg(rows, finite->nhypotheses, sizeof(uint64 *), compare_rows, &words);
	for (int h = 0; h < finite->nhypotheses; h++)
		if (h == 0 || compare_rows(&rows[n - 1], &rows[h], &words) != 0)
			rows[n++] = rows[h];
	return finite_class_of(n, finite->npoints, nclasses, rows);
}

/* ---------- parts ---------- */

/*
 * Which labels a point has, in the order of the first hypotheses that give them: their
 * number.  number[] of a label is its place, from 1.
 */
static int
find_labels(const FiniteClass *finite, int point, int *number, int *labels)
{
	int nlabels = 0;

	memset(number, 0, finite_class_classes(finite) * sizeof(int));
	for (int h = 0; h < finite->nhypotheses; h++)
	{
		int label = finite_class_label(finite, h, point);

		if (number[label] == 0)
		{
			labels[nlabels++] = label;
			number[label] = nlabels;
		}
	}
	return nlabels;
}

PointParts *
finite_class_parts(const FiniteClass *finite)
{
	int			nclasses = finite_class_classes(finite);
	int			words = BITS_WORDS(finite->nhypotheses);
	int		   *number = palloc_array(int, nclasses);
	int		   *labels = palloc_array(int, nclasses);
	int64		left = LITTLESTONE_WORDS;
	PointParts *result = palloc_array(PointParts, finite->npoints);

	for (int p = 0; p < finite->npoints; p++)
	{
		PointParts *parts = &result[p];

		CHECK_FOR_INTERRUPTS();
		parts->nlabels = find_labels(finite, p, number, labels);
		left -= parts->nlabels * (int64) words;
		if (left < 0)
			return NULL;
		parts->label = palloc_array(int, parts->nlabels);
		memcpy(parts->label, labels, parts->nlabels * sizeof(int));
		parts->sets = palloc0_array(uint64, parts->nlabels * (Size) words);
		for (int h = 0; h < finite->nhypotheses; h++)
		{
			int i = number[finite_class_label(finite, h, p)] - 1;

			bits_add(parts->sets + i * (Size) words, h);
		}
	}
	return result;
}
