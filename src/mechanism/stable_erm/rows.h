/*
 * rows.h
 *		Protected rows as erm.h wants them: in memory if they fit, else scanned
 *		again for each pass.
 */
#ifndef PRIVPRED_ERM_ROWS_H
#define PRIVPRED_ERM_ROWS_H

#include "mechanism/mechanism.h"
#include "mechanism/stable_erm/sgd.h"

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

/* A label as a number in [-1, 1], and back; one of more than two classes is its number. */
extern double erm_label(const MechanismSpec *spec, double label);
extern double erm_number(const MechanismSpec *spec, double score);

/*
 * sgd_rows.c: one pass (sgd.h) over units that come in the order of their hashes, for so
 * many classes, or a single fit.  w has dimension numbers for each.
 */
extern void erm_sgd_train(const ErmProblem *problem, const ErmSgd *sgd, const MechanismSpec *spec,
						  UnitSource *units, int fits, double *w);
extern Size erm_sgd_workspace(const ErmProblem *problem, int fits);

/* Half of the declared range; 1 for classes. */
extern double erm_label_scale(const MechanismSpec *spec);

#endif /* PRIVPRED_ERM_ROWS_H */
