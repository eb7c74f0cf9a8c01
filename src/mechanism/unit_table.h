/*
 * unit_table.h
 *		The rows of two classes, for mechanisms that draw from the units anew for
 *		every answer.
 */
#ifndef PRIVPRED_UNIT_TABLE_H
#define PRIVPRED_UNIT_TABLE_H

#include "mechanism/hypotheses.h"
#include "mechanism/mechanism.h"

/* A limit on the size that the declared numbers give, and on what is stored. */
#define UNIT_TABLE_MAX_BYTES (INT64CONST(512) * 1024 * 1024)

typedef struct UnitTable
{
	LabelledUnits units;
	const uint64 *hash; /* of each unit's id */
} UnitTable;

/*
 * Raises 54000 if a table of the declared sizes, with at most most_units units
 * (0: any number), would be too large.
 */
extern void unit_table_validate(const MechanismSpec *spec, int64 most_units);

/*
 * Reads all units and returns them as a state.  If there are more than
 * most_units (0: any number), those with the least hash of their id are kept:
 * then neighbouring tables differ, after the choice, at one unit or have one unit
 * in the place of another.  Labels are told from the default class, which
 * becomes 0.  The state is as large as the declared sizes make it, unless there
 * are more rows than declared.
 */
extern bytea *
unit_table_train(const MechanismSpec *spec, UnitSource *source, Size memory, int64 most_units);

/* Checks every byte (XX001).  Points into the state. */
extern UnitTable *unit_table_load(const MechanismSpec *spec, bytea *state);

#endif /* PRIVPRED_UNIT_TABLE_H */
