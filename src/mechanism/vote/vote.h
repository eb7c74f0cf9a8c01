/*
 * vote.h
 *		The "vote" mechanism, for those who answer by it.
 */
#ifndef PRIVPRED_VOTE_H
#define PRIVPRED_VOTE_H

#include "mechanism/mechanism.h"

/* Are votes drawn with Gaussian noise at finite orders, by option or by the number of classes? */
extern bool vote_noise_is_gaussian(const MechanismSpec *spec);

#endif /* PRIVPRED_VOTE_H */
