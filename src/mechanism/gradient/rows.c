/*
 * rows.c
 *		Units in blocks, added up as the blocks fill.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "mechanism/gradient/rows.h"

static void
open_rows(GradientRowsOf *rows, int width, bool shared, Size *memory)
{
	rows->shared = shared;
	rows->buffer = palloc(gradient_block_size(width));
	gradient_block_clear(rows->buffer, width);
	if (memory != NULL)
		rows->kept = kept_create(memory);
}

void
gradient_rows_open(GradientRows *rows, Size *memory)
{
	open_rows(&rows->single, rows->shape->width, false, memory);
	open_rows(&rows->several, rows->shape->width, true, memory);
	rows->keeps = memory != NULL;
}

/* Keeps a copy of a block, or gives up keeping any. */
static void
keep_block(GradientRows *rows, GradientRowsOf *of)
{
	Size  size = gradient_block_size(rows->shape->width);
	void *copy = kept_add(of->kept, size);

	rows->keeps = copy != NULL;
	if (copy != NULL)
		memcpy(copy, of->buffer, size);
	else
	{
		kept_free(rows->single.kept);
		kept_free(rows->several.kept);
	}
}

static void
finish_block(GradientRows *rows, GradientRowsOf *of)
{
	CHECK_FOR_INTERRUPTS();
	if (rows->centred)
	{
		gradient_block_centre(rows->shape, of->buffer, of->shared);
		gradient_add_block(rows->shape, of->buffer, of->shared, rows->work);
	}
	else
	{
		gradient_add_features(rows->shape, of->buffer, of->shared, rows->features_limit,
							  rows->work);
		if (rows->keeps)
			keep_block(rows, of);
	}
	gradient_block_clear(of->buffer, rows->shape->width);
}

static float
label_number(const UnitForm *form, double label)
{
	if (form->nclasses > 0)
		return label;
	return (label - form->label_min) / (form->label_max - form->label_min);
}

void
gradient_rows_put(GradientRows *rows, const UnitRows *unit)
{
	GradientRowsOf *of = unit->nrows == 1 ? &rows->single : &rows->several;
	int				width = rows->shape->width;

	for (int i = 0; i < unit->nrows; i++)
	{
		bool ends = of->shared && i == unit->nrows - 1;

		gradient_block_put(of->buffer, width, label_number(&rows->form, unit->label[i]),
						   unit->x + (Size) i * width, ends ? unit->nrows : 0);
		if (of->buffer->rows == GRADIENT_BLOCK_ROWS)
			finish_block(rows, of);
	}
}

void
gradient_rows_end(GradientRows *rows)
{
	finish_block(rows, &rows->single);
	finish_block(rows, &rows->several);
}

/* Centres the blocks that are kept, or adds up their gradients. */
static void
visit(GradientRows *rows, GradientRowsOf *of, bool centre)
{
	GradientBlock *block;

	kept_rewind(of->kept);
	while ((block = kept_next(of->kept)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (centre)
			gradient_block_centre(rows->shape, block, of->shared);
		else
			gradient_add_block(rows->shape, block, of->shared, rows->work);
	}
}

void
gradient_rows_centre(GradientRows *rows)
{
	rows->centred = true;
	if (!rows->keeps)
		return;
	visit(rows, &rows->single, true);
	visit(rows, &rows->several, true);
}

void
gradient_rows_visit(GradientRows *rows)
{
	visit(rows, &rows->single, false);
	visit(rows, &rows->several, false);
}
