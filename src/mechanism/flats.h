/*
 * flats.h
 *		Flats through points on a grid, in three and four dimensions: exact.
 */
#ifndef PRIVPRED_FLATS_H
#define PRIVPRED_FLATS_H

#include "mechanism/hypotheses.h"

typedef struct GridPoint
{
	int64 x[SPACE_MAX_WIDTH];
} GridPoint;

extern int64 flats_grid(int width); /* steps from 0 to 1 */
extern void	 flats_point(int width, const double *x, GridPoint *point);

/*
 * The normal of the flat through n points within the flat before it, which is told
 * from its image in the given columns, n of them, each a bit; false if they
 * span less.
 */
extern bool flats_normal(const GridPoint *const *points, int n, uint32 columns, int64 *normal);

/* Without the first column in which the flat's normal is not 0, its points differ as before. */
extern uint32 flats_without_column(uint32 columns, const int64 *normal);

/* Above, below or on the flat: its sign. */
extern int64 flats_side(const int64 *normal, const int64 *base, const GridPoint *point);

/* Fills in the flats of a chain of points; false if two of them are the same. */
extern bool
flats_of_chain(int width, const GridPoint *pool, const uint8 *chain, SpaceHypothesis *hypothesis);
extern bool flats_say(const SpaceHypothesis *hypothesis, const GridPoint *point);

#endif /* PRIVPRED_FLATS_H */
