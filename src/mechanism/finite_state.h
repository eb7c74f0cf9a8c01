/*
 * finite_state.h
 *		Rows of a model whose hypotheses are a finite class: a number each, of the
 *		point that they are, behind the class.
 */
#ifndef PRIVPRED_FINITE_STATE_H
#define PRIVPRED_FINITE_STATE_H

#include "mechanism/unit_table.h"

/* Was a class named?  It is read in training, and afterwards it is in the state. */
static inline bool
names_finite_class(const MechanismSpec *spec)
{
	return option_given(spec->options, "class_table");
}

/* The functions of unit_table.h, for models with a class and without. */
extern void finite_state_validate(const MechanismSpec *spec, int64 most_units);
extern bytea *
finite_state_train(const MechanismSpec *spec, UnitSource *source, Size memory, int64 most_units);
extern UnitTable *finite_state_load(const MechanismSpec *spec, bytea *state);

/*
 * The class that is named, or NULL if none is, or neither is at hand: the spec's, or as
 * it was in training.  Labels are
 * as the rows' are, told from the default class.
 */
extern const FiniteClass *finite_state_class(const MechanismSpec *spec, bytea *state);

/* A question as the rows are; room is for one number. */
extern const double *
finite_state_question(const MechanismSpec *spec, const double *x, double *room);

#endif /* PRIVPRED_FINITE_STATE_H */
