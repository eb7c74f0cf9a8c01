/*
 * cells.h
 *		Rows as cells of histograms, for descriptions of tables, and descriptions as they
 *		are stored.
 *
 * cells.c			from values to cells
 * descriptions.c	rows of privpred.description
 */
#ifndef PRIVPRED_CELLS_H
#define PRIVPRED_CELLS_H

#include "access/tupdesc.h"
#include "lib/stringinfo.h"
#include "utils/array.h"

#include "mechanism/describe/describe.h"

/* ---------- cells.c ---------- */

/* How columns of a base type are described; false: they are not. */
extern bool described_kind(Oid type, DescribedKind *kind);

/* Appends the cell of a value: equal cells are equal bytes. */
extern void cell_append(StringInfo bytes, DescribedKind kind, Oid type, Datum value, bool isnull);

/* A cell, as it is read back.  A text that is too long is neither a level nor NULL. */
typedef struct Cell
{
	bool		isnull;
	int			number; /* of numbers and times */
	const char *level;	/* of a category, without a final zero; NULL: none */
	int			length;
} Cell;

/* Reads a cell and moves past it. */
extern Cell cell_read(const char **bytes, DescribedKind kind);

/*
 * Cells of a row stand behind a hash of them with a seed that is the unit's own, and secret.  Then
 * the least of a unit's rows is one of them that nothing but its rows, its id and the salt decide;
 * and units with equal rows need not choose alike.
 */
#define ROW_HASH_BYTES 8

/* Hashes what follows the first ROW_HASH_BYTES, and puts it there. */
extern void row_hash_put(StringInfo bytes, uint64 seed);

/* ---------- descriptions.c ---------- */

typedef struct DescriptionRecord
{
	int64		 id;
	int64		 relation_id;
	EpsilonUnits epsilon;
	double		 delta;
	const char	*charge; /* NULL: nothing was drawn */
	ArrayType	*columns;
	const char	*features; /* JSON, like the next two */
	const char	*null_shares;
	const char	*left_out;
} DescriptionRecord;

/* A number that no description and no training had or will have, even if it is rolled back. */
extern int64 description_number(void);
extern void	 description_insert(const DescriptionRecord *description);

/* Was the relation ever described?  That is no secret. */
extern bool description_exists(int64 relation_id);

#endif /* PRIVPRED_CELLS_H */
