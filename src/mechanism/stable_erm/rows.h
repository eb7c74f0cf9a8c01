/*
 * rows.h
 *		Protected rows as erm.h wants them: in memory if they fit, else scanned
 *		again for each pass.
 */
#ifndef PRIVPRED_ERM_ROWS_H
#define PRIVPRED_ERM_ROWS_H

#include "mechanism/stable_erm/erm.h"
#include "mechanism/mechanism.h"

/* Lives in the current context; takes at most memory bytes, besides one unit. */
extern ErmSource *
erm_rows_open(const ErmProblem *problem, const MechanismSpec *spec, UnitSource *units, Size memory);

/* A unit as erm.h wants it, in so many bytes. */
extern Size erm_unit_size(const ErmProblem *problem, int64 nrows);
extern void erm_unit_write(const ErmProblem *problem, const MechanismSpec *spec,
						   const UnitRows *rows, char *at, ErmUnit *unit);

/* passes.c: sums of a pass over all units, wherever their rows are, as ErmSource has it. */
extern int64 erm_pass(const ErmProblem *problem, UnitSource *units, ErmPass pass, const double *w,
					  const double *vector, int128 *total, double *curvature);

/* A label as a number in [-1, 1], and back. */
extern double erm_label(const MechanismSpec *spec, double label);
extern double erm_number(const MechanismSpec *spec, double score);

/* Half of the declared range; 1 for classes. */
extern double erm_label_scale(const MechanismSpec *spec);

#endif /* PRIVPRED_ERM_ROWS_H */
