/*
 * draw.h
 *		From the teachers' shares to a private class, and from their numbers to a
 *		private mean (docs/mechanisms.md, section 4).
 *
 * Unit tests drive this without mechanism.h.  Of two classes, yes is in
 * [0, teachers]; one unit moves it by at most one.  Of more, one unit moves one vote.
 */
#ifndef PRIVPRED_AVERAGE_DRAW_H
#define PRIVPRED_AVERAGE_DRAW_H

#include "server/privpred.h"

/*
 * The least m with 1 + 1/m <= exp(epsilon), or one more: how far from the ends
 * the count is kept.  There must be twice as many teachers.
 */
extern int64 average_margin(EpsilonUnits epsilon);

/* Answers yes with probability clip(yes, m, teachers - m) / teachers. */
extern bool average_draw(EpsilonUnits epsilon, int32 yes, int teachers);

/* That probability, in doubles; not private. */
extern double average_probability(EpsilonUnits epsilon, int32 yes, int teachers);

/*
 * ---------- more than two classes ----------
 *
 * A class is answered in proportion to its weight, in units of 1/AVERAGE_VOTE: its votes, but
 * below m votes more than these, by the least that is private.  There must be m teachers.
 */
#define AVERAGE_VOTE (INT64CONST(1) << 20)

/* Fills the weights and returns their sum. */
extern int64 average_weights(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers,
							 int64 *weights);

extern int average_class(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers);

/* Its distribution, in doubles; not private. */
extern void average_classes(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers,
							double *probability);

/*
 * ---------- numbers (numbers.c) ----------
 *
 * The sum of numbers in [0, 1], in steps of 1/AVERAGE_STEPS each: one unit changes one number.
 */
#define AVERAGE_STEPS 1024

extern int64 average_sum(int n, const double *numbers);

/* The mean that a sum stands for, in [0, 1]; and with noise for accounts of that order. */
extern double average_share(int64 sum, int teachers);
extern double average_number(bool order_is_infinite, EpsilonUnits epsilon, int64 sum, int teachers);

/* The expected squared difference of that to the truth, in doubles; not private. */
extern double average_number_error(bool order_is_infinite, EpsilonUnits epsilon, int64 sum,
								   int teachers, double truth);

#endif /* PRIVPRED_AVERAGE_DRAW_H */
