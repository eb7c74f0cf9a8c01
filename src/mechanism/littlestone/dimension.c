/*
 * dimension.c
 *		Littlestone's dimension of a finite class, by search.
 *
 * A set of hypotheses has dimension k or more if some point splits it into parts,
 * one for each label, of which two have dimension k - 1 or more.  A set of
 * dimension k has at least 2^k members, so only points that leave 2^(k-1) in two
 * parts are tried, the most even first.  Sets that were settled are remembered.  The search is
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

/* A point that splits a set, and how large the second largest part is. */
typedef struct Split
{
	int point;
	int smaller;
} Split;

/* The hypotheses of a set that give a point one of its labels. */
typedef struct Part
{
	int index;
	int size;
} Part;

struct LittlestoneSearch
{
	const FiniteClass *finite;
	int				   words;
	int				   npoints; /* that split the class, no two in the same way */
	int				  *points;
	PointParts		  *parts; /* of every point */
	int				   most_labels;
	int64			   work;   /* left */
	uint64			   number; /* of the search */
	Remembered		  *remembered;
	uint64			  *remembered_sets;
	/* for each level of recursion: */
	int	   *active[LITTLESTONE_MAX_DIMENSION + 2]; /* points that split the set */
	Split  *splits[LITTLESTONE_MAX_DIMENSION + 2];
	Part   *order[LITTLESTONE_MAX_DIMENSION + 2]; /* of the parts that are tried */
	uint64 *part[LITTLESTONE_MAX_DIMENSION + 2];  /* the one that is tried */
};

/* A set with the range of words outside of which it is empty. */
typedef struct Range
{
	const uint64 *set;
	int			  first;
	int			  end;
	int			  size;
} Range;

/* ---------- the search ---------- */

const PointParts *
littlestone_parts(const LittlestoneSearch *search, int point)
{
	return &search->parts[point];
}

Size
littlestone_memory(int nhypotheses, int npoints, int nclasses)
{
	Size labels = Min(nhypotheses, nclasses);
	Size words = Min(npoints * labels * BITS_WORDS(nhypotheses), LITTLESTONE_WORDS);

	return words * sizeof(uint64) + npoints * labels * sizeof(int) +
		   REMEMBERED * (BITS_WORDS(nhypotheses) * sizeof(uint64) + sizeof(Remembered));
}

/* Do two points split the class in the same way, up to exchanging labels? */
static bool
same_split(const LittlestoneSearch *search, int p, int q)
{
	const PointParts *a = &search->parts[p];
	const PointParts *b = &search->parts[q];

	return a->nlabels == b->nlabels &&
		   memcmp(a->sets, b->sets, a->nlabels * (Size) search->words * sizeof(uint64)) == 0;
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
			known = same_split(search, search->points[i], p);
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
	search->parts = finite_class_parts(distinct);
	if (search->parts == NULL)
		return NULL;
	for (int p = 0; p < distinct->npoints; p++)
		search->most_labels = Max(search->most_labels, search->parts[p].nlabels);
	choose_points(search);
	search->remembered = palloc0_array(Remembered, REMEMBERED);
	search->remembered_sets = palloc_array(uint64, REMEMBERED * (Size) search->words);
	for (int i = 0; i < lengthof(search->active); i++)
	{
		search->active[i] = palloc_array(int, search->npoints);
		search->splits[i] = palloc_array(Split, search->npoints);
		search->order[i] = palloc_array(Part, search->most_labels);
		search->part[i] = palloc_array(uint64, search->words);
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

/*
 * How many of a set each label of a point has, in parts; returns how many have at
 * least "half".  The last label's are what others leave.
 */
static int
count_parts(LittlestoneSearch *search, const Range *range, int point, int half, Part *parts)
{
	const PointParts *labels = &search->parts[point];
	int				  left = range->size;
	int				  nparts = 0;

	for (int i = 0; i < labels->nlabels && left > 0; i++)
	{
		const uint64 *of_label = labels->sets + i * (Size) search->words;
		int			  size = i + 1 == labels->nlabels ? left : 0;

		if (size == 0)
		{
			for (int w = range->first; w < range->end; w++)
				size += pg_popcount64(range->set[w] & of_label[w]);
			search->work -= range->end - range->first + 1;
		}
		left -= size;
		if (size >= half)
			parts[nparts++] = (Part){i, size};
	}
	return nparts;
}

/* Points that leave at least "half" in two parts, most even first. */
static int
find_splits(LittlestoneSearch *search, const Range *range, int level, const int *points,
			int npoints, int half, int *nactive)
{
	Split *splits = search->splits[level];
	int	   nsplits = 0;

	*nactive = 0;
	for (int i = 0; i < npoints; i++)
	{
		Part *parts = search->order[level];
		int	  nparts = count_parts(search, range, points[i], 1, parts);
		int	  largest = 0;
		int	  second = 0;

		if (nparts < 2)
			continue;
		search->active[level][(*nactive)++] = points[i];
		for (int j = 0; j < nparts; j++)
		{
			second = Max(second, Min(largest, parts[j].size));
			largest = Max(largest, parts[j].size);
		}
		if (second >= half)
			splits[nsplits++] = (Split){points[i], second};
	}
	qsort(splits, nsplits, sizeof(Split), compare_splits);
	return nsplits;
}

static bool reaches(LittlestoneSearch *search, const Range *range, int level, const int *points,
					int npoints, int k);

static int
compare_parts(const void *a, const void *b)
{
	const Part *x = a;
	const Part *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Do two parts reach k - 1?  The largest is asked last: it alone is not enough. */
static bool
split_reaches(LittlestoneSearch *search, const Range *range, int level, int nactive, int point,
			  int k)
{
	Part   *order = search->order[level];
	uint64 *set = search->part[level];
	int		nparts = count_parts(search, range, point, 1 << (k - 1), order);
	int		reached = 0;

	qsort(order, nparts, sizeof(Part), compare_parts);
	for (int i = 1; i <= nparts && reached < 2 && reached + nparts - i >= 1; i++)
	{
		const uint64 *of_label =
			search->parts[point].sets + order[i % nparts].index * (Size) search->words;
		Range part;

		memset(set, 0, search->words * sizeof(uint64));
		for (int w = range->first; w < range->end; w++)
			set[w] = range->set[w] & of_label[w];
		measure(search, set, range->first, range->end, &part);
		reached += reaches(search, &part, level + 1, search->active[level], nactive, k - 1);
	}
	return reached == 2;
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
	uint64			  *all;

	if (search == NULL)
		return -2;
	all = palloc0_array(uint64, search->words);
	for (int h = 0; h < distinct->nhypotheses; h++)
		bits_add(all, h);
	return littlestone_dimension(search, all, work);
}
