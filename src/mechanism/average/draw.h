/*
 * draw.h
 *		From the share of teachers that say yes to a private yes or no.
 *
 * Unit tests drive this without mechanism.h.  yes is in
 * [0, teachers]; one unit moves it by at most one.
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

#endif /* PRIVPRED_AVERAGE_DRAW_H */
