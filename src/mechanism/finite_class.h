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

/* Bit h of column p is the label that hypothesis h gives to point p.  All public. */
typedef struct FiniteClass
{
	int		nhypotheses;
	int		npoints;
	char  **names;	 /* of hypotheses, or NULL */
	uint64 *columns; /* npoints times BITS_WORDS(nhypotheses) */
} FiniteClass;

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

static inline bool
finite_class_label(const FiniteClass *finite, int hypothesis, int point)
{
	return bits_member(finite_class_column(finite, point), hypothesis);
}

#endif /* PRIVPRED_FINITE_CLASS_H */
