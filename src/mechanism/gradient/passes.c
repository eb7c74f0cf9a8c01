/*
 * passes.c
 *		Passes over all units, wherever their rows are: the sum of their features, or
 *		of their gradients (mechanism/unit_sums.h).
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "utils/memutils.h"

#include "mechanism/gradient/gradient.h"
#include "mechanism/gradient/rows.h"
#include "mechanism/unit_sums.h"

typedef struct Pass
{
	UnitSummer	  summer;
	GradientShape shape;
	GradientWork  work;
	GradientRows  rows;
} Pass;

/* ---------- the parameter ---------- */

static void
put_parameter(StringInfo bytes, const GradientRows *rows)
{
	const GradientShape *shape = rows->shape;

	initStringInfo(bytes);
	pq_sendbyte(bytes, rows->centred);
	pq_sendbyte(bytes, shape->loss);
	pq_sendint32(bytes, shape->outputs);
	pq_sendint32(bytes, shape->clip);
	pq_sendfloat4(bytes, shape->huber);
	pq_sendint64(bytes, rows->features_limit);
	if (!rows->centred)
		return;
	pq_sendfloat4(bytes, shape->residual_one);
	for (int i = 0; i < shape->width; i++)
		pq_sendint16(bytes, shape->centre[i]);
	for (int64 i = 0; i < gradient_parameters(shape); i++)
		pq_sendfloat4(bytes, rows->work->weights[i]);
}

static void
check(bool sound)
{
	if (!sound)
		parameter_damaged();
}

/* What gradient_add_block() relies upon. */
static void
get_centre(StringInfo bytes, GradientShape *shape)
{
	int16 *centre = palloc_array(int16, shape->width);

	shape->residual_one = pq_getmsgfloat4(bytes);
	check(shape->residual_one > 0 && shape->residual_one <= GRADIENT_RESIDUAL_MAX);
	for (int i = 0; i < shape->width; i++)
	{
		centre[i] = (int16) pq_getmsgint(bytes, 2);
		check(centre[i] >= 0 && centre[i] <= GRADIENT_FEATURE_ONE);
	}
	shape->centre = centre;
}

/* ---------- adding up ---------- */

static void
add_unit(UnitSummer *summer, const UnitRows *unit)
{
	gradient_rows_put(&((Pass *) summer)->rows, unit);
}

static void
flush(UnitSummer *summer, int128 *sums)
{
	Pass *pass = (Pass *) summer;

	gradient_rows_end(&pass->rows);
	for (int64 i = 0; i < summer->count; i++)
		sums[i] += pass->work.sums[i];
	memset(pass->work.sums, 0, summer->count * sizeof(int64));
}

static UnitSummer *
open_pass(const UnitForm *form, StringInfo bytes)
{
	Pass		  *pass = palloc0_object(Pass);
	GradientShape *shape = &pass->shape;
	GradientRows  *rows = &pass->rows;

	rows->centred = pq_getmsgbyte(bytes) != 0;
	shape->loss = pq_getmsgbyte(bytes);
	shape->width = form->width;
	shape->outputs = pq_getmsgint(bytes, 4);
	shape->clip = pq_getmsgint(bytes, 4);
	shape->huber = pq_getmsgfloat4(bytes);
	rows->features_limit = pq_getmsgint64(bytes);
	check(shape->loss <= GRADIENT_HUBER && shape->outputs >= 1 &&
		  shape->outputs <= (shape->loss == GRADIENT_SOFTMAX ? PRIVPRED_MAX_CLASSES : 1) &&
		  shape->clip >= 0 && shape->clip <= GRADIENT_CLIP_MAX && rows->features_limit >= 0 &&
		  rows->features_limit <= (int64) GRADIENT_CLIP_MAX * GRADIENT_CLIP_MAX);
	/* Nothing is taken before there are as many weights; the sum of features has none. */
	if (!rows->centred)
		shape->outputs = 1;
	else
		get_centre(bytes, shape);
	check(!rows->centred ||
		  bytes->len - bytes->cursor >= gradient_parameters(shape) * (int64) sizeof(float));
	gradient_work_place(shape,
						MemoryContextAllocHuge(CurrentMemoryContext, gradient_work_size(shape)),
						&pass->work);
	pass->summer.count = rows->centred ? gradient_parameters(shape) : shape->width + 1;
	for (int64 i = 0; rows->centred && i < pass->summer.count; i++)
		pass->work.weights[i] = pq_getmsgfloat4(bytes);
	rows->shape = shape;
	rows->work = &pass->work;
	rows->form = *form;
	gradient_rows_open(rows, NULL);
	pass->summer.add = add_unit;
	pass->summer.flush = flush;
	return &pass->summer;
}

const UnitSum gradient_unit_sum = {"gradient", open_pass};

void
gradient_pass(UnitSource *units, const GradientRows *rows)
{
	int64	count = rows->centred ? gradient_parameters(rows->shape) : rows->shape->width + 1;
	int128 *sums = palloc_extended(count * sizeof(int128), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	StringInfoData parameter;

	put_parameter(&parameter, rows);
	unit_sums(units, &gradient_unit_sum, &parameter, count, sums);
	for (int64 i = 0; i < count; i++)
		rows->work->sums[i] = (int64) sums[i];
	pfree(parameter.data);
	pfree(sums);
}
