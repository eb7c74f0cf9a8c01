/*
 * cover.h
 *		What the files of "cover" and "label_private" share.
 *
 * cover.c			the mechanisms
 * own_features.c	the rows' own features as a reference
 * halfspaces.c		candidates for halfspaces
 * radius.c			what is proved of the distance to the nearest candidate
 *
 * Unit tests drive the last two without a server.
 */
#ifndef PRIVPRED_COVER_H
#define PRIVPRED_COVER_H

#include "mechanism/candidates.h"
#include "mechanism/mechanism.h"

/*
 * ---------- halfspaces.c ----------
 *
 * At most limit candidates.  Nothing is known of all halfspaces: the radius is
 * the distance of the farthest of some fresh halfspaces, on fresh points.
 */
#define MAX_HALFSPACES 2048
#define FRESH_HALFSPACES 2048
#define FRESH_POINTS 4096

extern Candidates *halfspaces_build(const Reference *reference, int64 limit);

/*
 * ---------- radius.c ----------
 *
 * Neither for halfspaces nor for finite classes.
 */
typedef struct RadiusCounts RadiusCounts;

/* A bound on the radius under all rows that are added, with their weights. */
extern RadiusCounts *radius_create(const Candidates *candidates, const bool *binary);
extern void			 radius_add(RadiusCounts *counts, const double *x, int64 weight);
extern double		 radius_finish(const RadiusCounts *counts, double total);

/*
 * What must be added to the radius under a reference's rows to have that under
 * the distribution from which the rows are independent draws, except with
 * probability beta.
 */
extern double
radius_beyond_reference(const Candidates *candidates, const Reference *reference, double beta);

/* ---------- own_features.c ---------- */

/* A sample of the rows' features: those of the units with the smallest hashes. */
extern void
own_reference(const MechanismSpec *spec, UnitSource *units, Size memory, Reference *reference);

/* The radius under all rows' features, each unit weighing the same as in the errors. */
extern double own_radius(const Candidates *candidates, const bool *binary, UnitSource *units);

#endif /* PRIVPRED_COVER_H */
