/*
 * cover.h
 *		What the files of "cover" and "label_private" share.
 *
 * cover.c			the mechanisms
 * own_features.c	the rows' own features as a reference
 * halfspaces.c		candidates for halfspaces
 * halfspace_probes.c	how many halfspaces are near a candidate
 * radius.c			what is proved of the distance to the nearest candidate
 *
 * Unit tests drive the last three without a server.
 */
#ifndef PRIVPRED_COVER_H
#define PRIVPRED_COVER_H

#include "mechanism/candidates.h"
#include "mechanism/mechanism.h"

/*
 * ---------- halfspaces.c ----------
 *
 * At most limit shapes, the constant among them.  With a uniform reference of one
 * or two numbers the radius is proved of all halfspaces; otherwise its share is 0.
 */
#define MAX_HALFSPACES 32768
#define LEAST_OFFSETS 3 /* of a direction */

extern Candidates *halfspaces_build(const Reference *reference, int64 limit, int nclasses);

/* Memory for them and for probes: of each shape, and of all. */
#define HALFSPACE_BYTES(width) (PROBE_BYTES + ((width) + 4) * sizeof(double) / LEAST_OFFSETS)
#define HALFSPACES_BYTES(width) ((PROBES + 1024) * ((width) + 8) * sizeof(double))

/*
 * ---------- halfspace_probes.c ----------
 *
 * Random halfspaces, and for each a candidate that is near it.  The reference is
 * the one that the candidates were made from.
 */
#define PROBES 2048
#define PROBE_BYTES 64	  /* for each shape */
#define PROBED_SHARE 0.99 /* of all halfspaces, that are within the radius */
#define PROBED_ODDS 1e-6  /* that the probes are so odd that fewer are */

typedef struct HalfspaceProbes HalfspaceProbes;

extern HalfspaceProbes *probes_create(const Candidates *candidates, const Reference *reference);

/* A radius under all points that are added, with their weights. */
extern void	  probes_add(HalfspaceProbes *probes, const double *x, int64 weight);
extern double probes_finish(const HalfspaceProbes *probes, double total);

/*
 * A radius under the reference, or under what its rows are independent draws of,
 * except with probability beta; instead of adding points.
 */
extern double probes_radius(HalfspaceProbes *probes, const Reference *reference, double beta);

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

/*
 * The radius under all rows' features, each unit weighing the same as in the
 * errors; of halfspaces, those of PROBED_SHARE.
 */
extern double
own_radius(const Candidates *candidates, const Reference *reference, UnitSource *units);

#endif /* PRIVPRED_COVER_H */
