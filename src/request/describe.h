/*
 * describe.h
 *		What the files behind privpred.describe() share.
 *
 * describe.c			the request: who may, what it costs, the draw, the result
 * describe_columns.c	which columns, and what is given of them
 * describe_rows.c		how many units are in which cell
 */
#ifndef PRIVPRED_REQUEST_DESCRIBE_H
#define PRIVPRED_REQUEST_DESCRIBE_H

#include "catalog/cells.h"
#include "request/request.h"

/* A column that may be described. */
typedef struct DescribedColumn
{
	const char *name;
	Oid			type;		/* its base type */
	const char *given;		/* what is given of it, as JSON; NULL: nothing */
	bool		given_cuts; /* and it may have cuts, which are not given */
	int			histogram;	/* -1: it needs none */
	const char *left_out;	/* why; NULL: it is not */
} DescribedColumn;

typedef struct Description
{
	const DescribeRequest *request;
	const ProtectedRelation *protected;
	const ViewProof	 *proof; /* NULL: it is a table */
	int				  ncolumns;
	DescribedColumn	 *columns; /* in the order of the relation */
	int				  nhistograms;
	Histogram		 *histograms;
	DescribedColumn **described; /* the column of each histogram */
	EpsilonUnits	  epsilon;
	DescribeNoise	  noise;
} Description;

/* ---------- describe_columns.c ---------- */

/* Raises 22023 unless all columns are there once, and what is given can be declared. */
extern void describe_columns(Description *description);

/* ---------- describe_rows.c ---------- */

/*
 * Fills the histograms, and returns the levels that occur, sorted by histogram and bytes.
 * Memory is bounded by maintenance_work_mem; beyond that, counts are sorted on disk.
 */
extern LevelSource *describe_rows(const Description *description);
extern void			describe_rows_end(LevelSource *levels);

#endif /* PRIVPRED_REQUEST_DESCRIBE_H */
