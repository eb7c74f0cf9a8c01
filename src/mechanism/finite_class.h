/*
 * finite_class.h
 *		Finitely many hypotheses over finitely many points, as bits.
 */
#ifndef PRIVPRED_FINITE_CLASS_H
#define PRIVPRED_FINITE_CLASS_H

#include "port/pg_bitutils.h"

#include "server/privpred.h"

#define FINITE_MAX_HYPOTHESES 4096
#define FINITE_MAX_POINTS 1024

/* 64-bit words of a set of that many members. */
#define BITS_WORDS(members) (((members) + 63) / 64)

/*
 * Bit h of column p is the label that hypothesis h gives to point p.  All public.
 * Labels of more than two classes are numbers: a plane of columns for each of
 * their bits, the lowest first.
 */
typedef struct FiniteClass
{
	int		nhypotheses;
	int		npoints;
	char  **names;	 /* of hypotheses, or NULL */
	uint64 *columns; /* npoints times BITS_WORDS(nhypotheses), for each plane */
	int		planes;	 /* 0: one */
} FiniteClass;

/* How many bits the number of a class has. */
static inline int
class_bits(int nclasses)
{
	return nclasses <= 2 ? 1 : pg_leftmost_one_pos32(nclasses - 1) + 1;
}

/* So many classes have as many planes. */
static inline int
finite_class_classes(const FiniteClass *finite)
{
	return finite->planes <= 1 ? 2 : 1 << finite->planes;
}

static inline const uint64 *
finite_class_column(const FiniteClass *finite, int point)
{
	return finite->columns + (size_t) point * BITS_WORDS(finite->nhypotheses);
}

static inline bool
bits_member(const uint64 *bits, int member)
{
	return (bits[member / 64] >> (member % 64)) & 1;
}

static inline void
bits_add(uint64 *bits, int member)
{
	bits[member / 64] |= UINT64CONST(1) << (member % 64);
}

/* How many members a set of this many words has. */
static inline int
bits_count(const uint64 *bits, int words)
{
	return (int) pg_popcount((const char *) bits, words * sizeof(uint64));
}

static inline int
finite_class_label(const FiniteClass *finite, int hypothesis, int point)
{
	int label = bits_member(finite_class_column(finite, point), hypothesis);

	for (int i = 1; i < finite->planes; i++)
		label |= bits_member(finite_class_column(finite, i * finite->npoints + point), hypothesis)
				 << i;
	return label;
}

/* The labels of points in planes, as one hypothesis gives them. */
#define LABELS_WORDS(npoints, nclasses) (BITS_WORDS(npoints) * class_bits(nclasses))

static inline int
labels_get(const uint64 *labels, int npoints, int nclasses, int point)
{
	int label = 0;

	for (int i = 0; i < class_bits(nclasses); i++)
		label |= bits_member(labels + i * BITS_WORDS(npoints), point) << i;
	return label;
}

static inline void
labels_set(uint64 *labels, int npoints, int nclasses, int point, int label)
{
	for (int i = 0; i < class_bits(nclasses); i++)
	{
		uint64 *word = labels + i * BITS_WORDS(npoints) + point / 64;

		*word &= ~(UINT64CONST(1) << (point % 64));
		*word |= (uint64) (label >> i & 1) << (point % 64);
	}
}

#endif /* PRIVPRED_FINITE_CLASS_H */
