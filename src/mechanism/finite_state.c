/*
 * finite_state.c
 *		Rows of a model whose hypotheses are a finite class: a number each, of the
 *		point that they are, behind the class.
 *
 * The class is public, and so is the size of its part of the state.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "mechanism/finite_state.h"
#include "mechanism/released.h"

#define STATE_MAGIC 0x46435031 /* "FCP1" */

typedef struct ClassHeader
{
	uint32 magic;
	int32  nhypotheses;
	int32  npoints;
	int32  default_class;
} ClassHeader;

#define HEADER_AT MAXALIGN(VARHDRSZ)
#define COLUMNS_AT (HEADER_AT + MAXALIGN(sizeof(ClassHeader)))

static Size
class_bytes(int nhypotheses, int npoints)
{
	return COLUMNS_AT + sizeof(uint64) * npoints * BITS_WORDS(nhypotheses);
}

/* ---------- points ---------- */

/* Rows have one number, of which every point but the unknown one is less than 1. */
static MechanismSpec
of_points(const MechanismSpec *spec)
{
	MechanismSpec result = *spec;

	if (names_finite_class(spec))
		result.width = 1;
	return result;
}

const double *
finite_state_question(const MechanismSpec *spec, const double *x, double *room)
{
	int point;

	if (!names_finite_class(spec))
		return x;
	point = released_point(true, spec->width, spec->width, x);
	*room = point < 0 ? 1 : point / POINT_SCALE;
	return room;
}

typedef struct PointSource
{
	UnitSource			 source;
	const MechanismSpec *spec;
	UnitSource			*rows;
	int					 room;
	double				*x;
} PointSource;

static bool
next_points(UnitSource *source, UnitRows *unit)
{
	PointSource *points = (PointSource *) source;

	if (!points->rows->next(points->rows, unit))
		return false;
	if (unit->nrows > points->room)
	{
		points->room = Max(unit->nrows, 2 * points->room);
		pfree(points->x);
		points->x = palloc_array(double, points->room);
	}
	for (int i = 0; i < unit->nrows; i++)
		(void) finite_state_question(points->spec, unit->x + (Size) i * points->spec->width,
									 &points->x[i]);
	unit->x = points->x;
	return true;
}

static void
rewind_points(UnitSource *source)
{
	PointSource *points = (PointSource *) source;

	points->rows->rewind(points->rows);
}

/* ---------- training ---------- */

void
finite_state_validate(const MechanismSpec *spec, int64 most_units)
{
	MechanismSpec narrow = of_points(spec);

	unit_table_validate(&narrow, most_units);
}

/* Half of the memory is for the rows, which are then put behind the class. */
bytea *
finite_state_train(const MechanismSpec *spec, UnitSource *source, Size memory, int64 most_units)
{
	const FiniteClass *finite = spec->finite_class;
	MechanismSpec	   narrow = of_points(spec);
	PointSource		   points = {{next_points, rewind_points}, spec, source, 1, NULL};
	MemoryContext	   outer = CurrentMemoryContext;
	MemoryContext	   work;
	ClassHeader		  *header;
	bytea			  *rows;
	bytea			  *state;
	Size			   before;

	if (!names_finite_class(spec))
		return unit_table_train(spec, source, memory, most_units);
	before = class_bytes(finite->nhypotheses, finite->npoints);
	check_training_memory(2 * before, memory);
	work = AllocSetContextCreate(outer, "privpred points", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(work);
	points.x = palloc_array(double, points.room);
	rows = unit_table_train(&narrow, &points.source, memory / 2 - before, most_units);
	check_training_memory(before + VARSIZE(rows), MaxAllocSize);
	MemoryContextSwitchTo(outer);
	state = palloc0(before + VARSIZE(rows));
	SET_VARSIZE(state, before + VARSIZE(rows));
	header = (ClassHeader *) ((char *) state + HEADER_AT);
	*header = (ClassHeader){STATE_MAGIC, finite->nhypotheses, finite->npoints, spec->default_class};
	memcpy((char *) state + COLUMNS_AT, finite->columns, before - COLUMNS_AT);
	memcpy((char *) state + before, rows, VARSIZE(rows));
	MemoryContextDelete(work);
	return state;
}

/* ---------- loading ---------- */

/* The class part, checked. */
static const ClassHeader *
header_of(const MechanismSpec *spec, bytea *state)
{
	const ClassHeader *header = (const ClassHeader *) ((char *) state + HEADER_AT);
	Size			   size = VARSIZE(state);
	Size			   before;

	if (size < COLUMNS_AT || header->magic != STATE_MAGIC || header->nhypotheses < 1 ||
		header->nhypotheses > FINITE_MAX_HYPOTHESES || header->npoints < 1 ||
		header->npoints > FINITE_MAX_POINTS || header->npoints > spec->width ||
		header->default_class != spec->default_class)
		state_damaged();
	before = class_bytes(header->nhypotheses, header->npoints);
	if (size < before + VARHDRSZ || VARSIZE((char *) state + before) != size - before)
		state_damaged();
	return header;
}

UnitTable *
finite_state_load(const MechanismSpec *spec, bytea *state)
{
	MechanismSpec	   narrow = of_points(spec);
	const ClassHeader *header;

	if (!names_finite_class(spec))
		return unit_table_load(spec, state);
	header = header_of(spec, state);
	return unit_table_load(
		&narrow, (bytea *) ((char *) state + class_bytes(header->nhypotheses, header->npoints)));
}

static FiniteClass *
copy_class(int nhypotheses, int npoints, const uint64 *columns, bool turned)
{
	FiniteClass *result = palloc0_object(FiniteClass);
	int			 words = BITS_WORDS(nhypotheses);

	result->nhypotheses = nhypotheses;
	result->npoints = npoints;
	result->columns = palloc0_array(uint64, npoints * (Size) words);
	for (int p = 0; p < npoints; p++)
		for (int h = 0; h < nhypotheses; h++)
			if (bits_member(columns + p * (Size) words, h) != turned)
				bits_add(result->columns + p * (Size) words, h);
	return result;
}

const FiniteClass *
finite_state_class(const MechanismSpec *spec, bytea *state)
{
	bool			   turned = spec->default_class == 1;
	const ClassHeader *header;

	if (!names_finite_class(spec) || (state == NULL && spec->finite_class == NULL))
		return NULL;
	if (state == NULL)
		return copy_class(spec->finite_class->nhypotheses, spec->finite_class->npoints,
						  spec->finite_class->columns, turned);
	header = header_of(spec, state);
	return copy_class(header->nhypotheses, header->npoints,
					  (const uint64 *) ((char *) state + COLUMNS_AT), turned);
}
