/*
 * threshold.h
 *		What the files of mechanism "threshold" share.
 */
#ifndef PRIVPRED_THRESHOLD_H
#define PRIVPRED_THRESHOLD_H

#include "mechanism/mechanism.h"
#include "mechanism/threshold/draw.h"
#include "mechanism/threshold/many.h"

/* Two classes and one column have a walk of one number. */
static inline bool
threshold_is_single(const MechanismSpec *spec)
{
	return spec->nclasses == 2 && spec->width == 1;
}

extern void		   threshold_limits(const MechanismSpec *spec, int32 *limit);
extern const char *threshold_combine(const MechanismSpec *spec); /* the option's value */

/* ---------- train.c ---------- */

#define THRESHOLD_STATE_HEADER 20
#define THRESHOLD_LEAST_POINTS 1024

/* The most points of a column that a stored value has room for, a power of two. */
extern int64 threshold_most_points(const MechanismSpec *spec);

extern void	  threshold_write_header(unsigned char *state, const MechanismSpec *spec);
extern bytea *threshold_train(const MechanismSpec *spec, UnitSource *units, Size memory);

#endif /* PRIVPRED_THRESHOLD_H */
