/*
 * rows.h
 *		Units in blocks (sums.h), added up as the blocks fill.
 */
#ifndef PRIVPRED_GRADIENT_ROWS_H
#define PRIVPRED_GRADIENT_ROWS_H

#include "mechanism/gradient/sums.h"
#include "mechanism/kept.h"
#include "mechanism/mechanism.h"

/* Units of one row, or of several. */
typedef struct GradientRowsOf
{
	bool		   shared;
	GradientBlock *buffer; /* being filled */
	Kept		  *kept;
} GradientRowsOf;

typedef struct GradientRows
{
	const GradientShape *shape;
	GradientWork		*work;
	UnitForm			 form;
	int64				 features_limit; /* norm of a unit's features where their mean is taken */
	bool				 centred;		 /* is the mean released? */
	bool				 keeps;			 /* blocks that are not centred yet */
	GradientRowsOf		 single;
	GradientRowsOf		 several;
} GradientRows;

/*
 * Fills in the buffers, in the current context.  Blocks are kept, as long as all fit, if
 * there is memory to keep them in (kept.h), which must outlive the rows; NULL: none.
 */
extern void gradient_rows_open(GradientRows *rows, Size *memory);

/* Before the mean is known units add features to the sums, then gradients. */
extern void gradient_rows_put(GradientRows *rows, const UnitRows *unit);

/* Adds what is left in the buffers. */
extern void gradient_rows_end(GradientRows *rows);

/* The shape has got its centre. */
extern void gradient_rows_centre(GradientRows *rows);

/* Adds the gradients of all blocks that are kept. */
extern void gradient_rows_visit(GradientRows *rows);

#endif /* PRIVPRED_GRADIENT_ROWS_H */
