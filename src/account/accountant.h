/*
 * accountant.h
 *		Pure arithmetic on epsilon: no server, no floats that decide.
 *
 * Apart from ledger.h so that unit tests can drive it alone.
 */
#ifndef PRIVPRED_ACCOUNTANT_H
#define PRIVPRED_ACCOUNTANT_H

#include "server/privpred.h"

/*
 * Reads an epsilon as the shortest decimal that prints it and rounds it down
 * to units.  Returns false unless EPSILON_MIN <= epsilon <= maximum, where
 * maximum is at most EPSILON_MAX; NaN is outside every range.
 */
extern bool epsilon_to_units(double epsilon, double maximum, EpsilonUnits *units);

/* Prints units exactly, as the shortest decimal; returns the buffer. */
#define EPSILON_TEXT_SIZE 24
extern char *epsilon_to_text(EpsilonUnits units, char buffer[EPSILON_TEXT_SIZE]);

#endif /* PRIVPRED_ACCOUNTANT_H */
