/*
 * sparse.h
 *		What the mechanisms that answer through a stream share.
 */
#ifndef PRIVPRED_SPARSE_H
#define PRIVPRED_SPARSE_H

#include "mechanism/mechanism.h"

/* The delta of one run that evaluations and quotes assume. */
#define STREAM_TYPICAL_DELTA 1e-8

extern bool stream_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge);

/* Is an unstable answer replaced by a vote, charged for itself? */
extern bool stream_falls_back(const MechanismSpec *spec);

#endif /* PRIVPRED_SPARSE_H */
