/*
 * draw.h
 *		From counts of votes for classes in an order to a private median.
 *
 * Unit tests drive this without mechanism.h.  votes[nclasses] add up to teachers, which is
 * declared and public; one unit moves one vote from a class to another.
 */
#ifndef PRIVPRED_MEDIAN_DRAW_H
#define PRIVPRED_MEDIAN_DRAW_H

#include "server/privpred.h"

/* How many teachers, at least, would have to vote otherwise for a class to be a median. */
extern int32 median_distance(int nclasses, const int32 *votes, int teachers, int class);

/* The first median; not private. */
extern int median_plain(int nclasses, const int32 *votes, int teachers);

/*
 * Draws a class: epsilon-DP for an account of infinite order, of bounded range epsilon for one
 * of finite order.
 */
extern int median_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
					   const int32 *votes, int teachers);

/* The distribution of median_draw(); not private. */
extern void median_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
								const int32 *votes, int teachers, double *probability);

#endif /* PRIVPRED_MEDIAN_DRAW_H */
