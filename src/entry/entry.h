/*
 * entry.h
 *		What entry points share.
 */
#ifndef PRIVPRED_ENTRY_H
#define PRIVPRED_ENTRY_H

#include "privpred.h"

/* Raises 22023 unless delta is 0 or a normal number below 1 (accounting.c). */
extern void check_delta(double delta, const char *name);

/* Units as an exact numeric (accounting.c). */
extern Datum units_to_numeric(EpsilonUnits units);

#endif							/* PRIVPRED_ENTRY_H */
