/*
 * readout.h
 *		Trees out of XGBoost's text dump.
 */
#ifndef PRIVPRED_READOUT_H
#define PRIVPRED_READOUT_H

#include "learner/forest.h"

typedef enum ReadoutResult
{
	READOUT_OK,
	READOUT_NOT_FINITE, /* a leaf or threshold is no number */
	READOUT_UNKNOWN		/* the dump is not of the form we know */
} ReadoutResult;

/* Writes one dumped tree to a place in the forest. */
extern ReadoutResult readout_tree(const char *dump, uint32_t width, Forest *forest, uint32_t tree);

#endif /* PRIVPRED_READOUT_H */
