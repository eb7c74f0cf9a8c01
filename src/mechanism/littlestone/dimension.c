/*
 * dimension.c
 *		Littlestone's dimension of a finite class, by search.
 *
 * A set of hypotheses has dimension k or more if some point splits it into two
 * sets of dimension k - 1 or more.  A set of dimension k has at least 2^k
 * members, so only points that leave 2^(k-1) on either side are tried, the most
 * even first.  Sets that were settled are remembered.  The search is
 * exponential at worst, hence the limit on work; it counts steps, not time, so
 * that its outcome is the same everywhere.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "server/compat.h"
#include "mechanism/littlestone/littlestone.h"

#define REMEMBERED 4096 /* sets, a power of two */

/* What is known of a set, in the search of that number. */
typedef struct Remembered
{
	uint64 search;
	int	   at_least;
	int	   less_than;
} Remembered;

/* A point that splits a set, and how evenly. */
typedef struct Split
{
	int point;
	int smaller;
} Split;

struct LittlestoneSearch
{
	const FiniteClass *finite;
	int				   words;
	int				   npoints; /* that split the class, no two in the same way */
	int				  *points;
	int64			   work;   /* left */
	uint64			   number; /* of the search */
	Remembered		  *remembered;
	uint64			  *remembered_sets;
	/* for each level of recursion: */
	int	   *active[LITTLESTONE_MAX_DIMENSION + 2]; /* points that split the set */
	Split  *splits[LITTLESTONE_MAX_DIMENSION + 2];
	uint64 *halves[LITTLESTONE_MAX_DIMENSION + 2]; /* two sets */
};

/* A set with the range of words outside of which it is empty. */
typedef struct Range
{
	const uint64 *set;
	int			  first;
	int			  end;
	int			  size;
} Range;

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
finite_class_of(int nhypotheses, int npoints, uint64 *const *labels)
{
	FiniteClass *result = palloc0_object(FiniteClass);
	int			 words = BITS_WORDS(nhypotheses);

	result->nhypotheses = nhypotheses;
	result->npoints = npoints;
	result->columns = palloc0_array(uint64, npoints * (Size) words);
	for (int h = 0; h < nhypotheses; h++)
		for (int p = 0; p < npoints; p++)
			if (bits_member(labels[h], p))
				bits_add(result->columns + (Size) p * words, h);
	return result;
}

/* Sorted, so that sets that a few points tell apart are often ranges. */
FiniteClass *
finite_class_distinct(const FiniteClass *finite)
{
	uint64 **rows = palloc_array(uint64 *, finite->nhypotheses);
	int		 words = BITS_WORDS(finite->npoints);
	int		 n = 0;

	for (int h = 0; h < finite->nhypotheses; h++)
	{
		rows[h] = palloc0_array(uint64, words);
		for (int p = 0; p < finite->npoints; p++)
			if (finite_class_label(finite, h, p))
				bits_add(rows[h], p);
	}
	qsort_arg(rows, finite->nhypotheses, sizeof(uint64 *), compare_rows, &words);
	for (int h = 0; h < finite->nhypotheses; h++)
		if (h == 0 || compare_rows(&rows[n - 1], &rows[h], &words) != 0)
			rows[n++] = rows[h];
	return finite_class_of(n, finite->npoints, rows);
}

/* ---------- the search ---------- */

/* Do two points split the class in the same way, up to exchanging labels? */
static bool
same_split(const FiniteClass *finite, int p, int q)
{
	const uint64 *a = finite_class_column(finite, p);
	const uint64 *b = finite_class_column(finite, q);
	int			  last = finite->nhypotheses - 1;
	bool		  exchanged = bits_member(a, last) != bits_member(b, last);

	for (int h = 0; h < last; h += 64)
	{
		uint64 differ = a[h / 64] ^ b[h / 64] ^ (exchanged ? PG_UINT64_MAX : 0);

		if (last - h < 64)
			differ &= (UINT64CONST(1) << (last - h)) - 1;
		if (differ != 0)
			return false;
	}
	return true;
}

static void
choose_points(LittlestoneSearch *search)
{
	search->points = palloc_array(int, search->finite->npoints);
	for (int p = 0; p < search->finite->npoints; p++)
	{
		bool known = false;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < search->npoints && !known; i++)
			known = same_split(search->finite, search->points[i], p);
		if (!known)
			search->points[search->npoints++] = p;
	}
}

LittlestoneSearch *
littlestone_search(const FiniteClass *distinct)
{
	LittlestoneSearch *search = palloc0_object(LittlestoneSearch);

	search->finite = distinct;
	search->words = BITS_WORDS(distinct->nhypotheses);
	choose_points(search);
	search->remembered = palloc0_array(Remembered, REMEMBERED);
	search->remembered_sets = palloc_array(uint64, REMEMBERED * (Size) search->words);
	for (int i = 0; i < lengthof(search->active); i++)
	{
		search->active[i] = palloc_array(int, search->npoints);
		search->splits[i] = palloc_array(Split, search->npoints);
		search->halves[i] = palloc_array(uint64, 2 * search->words);
	}
	return search;
}

static int
compare_splits(const void *a, const void *b)
{
	const Split *x = a;
	const Split *y = b;

	if (x->smaller != y->smaller)
		return x->smaller > y->smaller ? -1 : 1;
	return (x->point > y->point) - (x->point < y->point);
}

static void
measure(LittlestoneSearch *search, const uint64 *set, int first, int end, Range *range)
{
	while (first < end && set[first] == 0)
		first++;
	while (first < end && set[end - 1] == 0)
		end--;
	*range = (Range){set, first, end, bits_count(set + first, end - first)};
	search->work -= end - first + 1;
}

/* The slot of a set; what it says is about this set if it returns true. */
static bool
recall(LittlestoneSearch *search, const Range *range, Remembered **slot)
{
	uint32 hash = hash_bytes((const unsigned char *) (range->set + range->first),
							 (range->end - range->first) * sizeof(uint64)) ^
				  range->first;
	uint64 *known;

	*slot = &search->remembered[hash % REMEMBERED];
	known = search->remembered_sets + (hash % REMEMBERED) * (Size) search->words;
	if ((*slot)->search == search->number &&
		memcmp(known, range->set, search->words * sizeof(uint64)) == 0)
		return true;
	memcpy(known, range->set, search->words * sizeof(uint64));
	(*slot)->search = search->number;
	(*slot)->at_least = 0;
	(*slot)->less_than = LITTLESTONE_MAX_DIMENSION + 1;
	return false;
}

/* Points that leave at least "half" on either side, most even first. */
static int
find_splits(LittlestoneSearch *search, const Range *range, int level, const int *points,
			int npoints, int half, int *nactive)
{
	Split *splits = search->splits[level];
	int	   nsplits = 0;

	*nactive = 0;
	for (int i = 0; i < npoints; i++)
	{
		const uint64 *column = finite_class_column(search->finite, points[i]);
		int			  ones = 0;

		for (int w = range->first; w < range->end; w++)
			ones += pg_popcount64(range->set[w] & column[w]);
		if (ones == 0 || ones == range->size)
			continue;
		search->active[level][(*nactive)++] = points[i];
		if (Min(ones, range->size - ones) < half)
			continue;
		splits[nsplits].point = points[i];
		splits[nsplits++].smaller = Min(ones, range->size - ones);
	}
	search->work -= npoints * (int64) (range->end - range->first + 1);
	qsort(splits, nsplits, sizeof(Split), compare_splits);
	return nsplits;
}

static bool reaches(LittlestoneSearch *search, const Range *range, int level, const int *points,
					int npoints, int k);

static bool
split_reaches(LittlestoneSearch *search, const Range *range, int level, int nactive, int point,
			  int k)
{
	const uint64 *column = finite_class_column(search->finite, point);
	uint64		 *ones = search->halves[level];
	uint64		 *zeros = ones + search->words;
	Range		  half[2];
	int			  smaller;

	memset(ones, 0, 2 * search->words * sizeof(uint64));
	for (int w = range->first; w < range->end; w++)
	{
		ones[w] = range->set[w] & column[w];
		zeros[w] = range->set[w] & ~column[w];
	}
	measure(search, zeros, range->first, range->end, &half[0]);
	measure(search, ones, range->first, range->end, &half[1]);
	smaller = half[1].size < half[0].size;
	return reaches(search, &half[smaller], level + 1, search->active[level], nactive, k - 1) &&
		   reaches(search, &half[1 - smaller], level + 1, search->active[level], nactive, k - 1);
}

/* Is the dimension of the set at least k?  Meaningless once work is used up. */
static bool
reaches(LittlestoneSearch *search, const Range *range, int level, const int *points, int npoints,
		int k)
{
	Remembered *slot;
	int			nsplits;
	int			nactive;
	bool		found = false;

	if (k <= 0)
		return range->size > 0;
	if (k == 1 || range->size < 1 << k)
		return range->size >= 1 << k; /* two hypotheses differ at some point */
	if (recall(search, range, &slot) && (slot->at_least >= k || slot->less_than <= k))
		return slot->at_least >= k;

	CHECK_FOR_INTERRUPTS();
	nsplits = find_splits(search, range, level, points, npoints, 1 << (k - 1), &nactive);
	for (int i = 0; i < nsplits && !found && search->work > 0; i++)
		found = split_reaches(search, range, level, nactive, search->splits[level][i].point, k);
	if (search->work > 0)
	{
		/* The slot may have been taken meanwhile. */
		(void) recall(search, range, &slot);
		if (found)
			slot->at_least = Max(slot->at_least, k);
		else
			slot->less_than = Min(slot->less_than, k);
	}
	return found;
}

int
littlestone_dimension(LittlestoneSearch *search, const uint64 *set, int64 work)
{
	Range range;
	int	  dimension = 0;

	/* Nothing of earlier searches may decide whether the work is enough. */
	search->number++;
	search->work = work;
	measure(search, set, 0, search->words, &range);
	if (range.size == 0)
		return -1;
	while (reaches(search, &range, 0, search->points, search->npoints, dimension + 1) &&
		   search->work > 0)
		dimension++;
	return search->work > 0 ? dimension : -2;
}

int
littlestone_dimension_of_class(const FiniteClass *finite, int64 work)
{
	FiniteClass		  *distinct = finite_class_distinct(finite);
	LittlestoneSearch *search = littlestone_search(distinct);
	uint64			  *all = palloc0_array(uint64, search->words);

	for (int h = 0; h < distinct->nhypotheses; h++)
		bits_add(all, h);
	return littlestone_dimension(search, all, work);
}
