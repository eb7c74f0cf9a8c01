/*
 * states.h
 *		Training states as SQL passes them around (states.c).
 */
#ifndef PRIVPRED_STATES_H
#define PRIVPRED_STATES_H

#include "learner/learner.h"

/* The state behind a datum of type training_state: an aggregate's own, or a copy. */
extern const TrainingState *training_state_of(Datum datum);

#endif /* PRIVPRED_STATES_H */
