/*
 * unit_rows.h
 *		The rows of one unit, as mechanisms that learn from units get them.
 *
 * What is kept of a unit follows from its rows and from declared numbers alone, so it
 * is the same wherever the rows are read: here, by a parallel worker, or on
 * another node.
 */
#ifndef PRIVPRED_UNIT_ROWS_H
#define PRIVPRED_UNIT_ROWS_H

#include "utils/array.h"

#include "mechanism/mechanism.h"

typedef struct UnitReader
{
	UnitForm form;
	int64	 rows;	 /* read so far */
	int64	 unused; /* of them: without a label */

	/* private: the current unit */
	MemoryContext context;
	int			  nrows;
	int			  capacity;
	double		 *label;
	double		 *x;
	uint64		 *rank; /* for choosing among too many rows */
} UnitReader;

/* Lives in the current context. */
extern UnitReader *unit_reader_create(const UnitForm *form);

/*
 * Reads a unit of one row, or of several: an array of labels, and as many times width
 * features.  Raises 22023 if there are not.  Returns false if no row can be used.
 */
extern bool
unit_read_row(UnitReader *reader, double label, bool unlabelled, ArrayType *x, UnitRows *unit);
extern bool unit_read_rows(UnitReader *reader, ArrayType *labels, ArrayType *x, UnitRows *unit);

/* The same row by row; what has no unit is counted alone. */
extern void unit_begin(UnitReader *reader);
extern void unit_add_row(UnitReader *reader, double label, bool unlabelled, ArrayType *x);
extern void unit_count_row(UnitReader *reader);
extern bool unit_end(UnitReader *reader, UnitRows *unit);

/*
 * The same of a unit of one row in as few bytes as it takes, for rows that come from other nodes:
 * its hash, 8 bytes; its label, which is a class (1 byte), or nothing, or a number (9); then 8
 * bytes a number.
 */
extern bytea *unit_pack(double label, bool unlabelled, ArrayType *x, uint64 unit_hash);
extern bool	  unit_read_packed(UnitReader *reader, const bytea *packed, UnitRows *unit);

#endif /* PRIVPRED_UNIT_ROWS_H */
