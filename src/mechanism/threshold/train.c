/*
 * train.c
 *		From rows to the stored state of a threshold.
 *
 * The state holds a point for every x where the walk moves, so its size could
 * tell how many different values there are.  It has room for a power of two of
 * points, and for all rows of the declared units if they are declared: then
 * its size is that of the declaration.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "learner/bytes.h"
#include "mechanism/threshold/threshold.h"
#include "server/progress.h"

/*
 * The state: magic, version, epsilon, rows of a unit; then the body of a predictor's
 * member, or that of many.h in version 2.
 */
#define STATE_MAGIC "PPTH"
#define STATE_VERSION 1
#define STATE_VERSION_MANY 2

#define FIRST_ROWS 1024

/* ---------- sizes ---------- */

static Size
state_size(const MechanismSpec *spec, int64 capacity)
{
	return THRESHOLD_STATE_HEADER + (threshold_is_single(spec)
										 ? walk_body_size(capacity)
										 : many_body_size(spec->nclasses, spec->width, capacity));
}

int64
threshold_most_points(const MechanismSpec *spec)
{
	int64 points = WALK_MAX_POINTS;

	while (points > 0 && VARHDRSZ + state_size(spec, points) > MaxAllocSize)
		points /= 2;
	return points;
}

/* ---------- rows ---------- */

/* The rows as each column sees them. */
typedef struct ColumnRows
{
	int		  ncolumns;
	int64	  nrows;
	int64	  capacity;
	WalkRow **rows; /* ncolumns arrays */
} ColumnRows;

/* Grows in steps of two, up to what memory there is. */
static void
reserve_rows(ColumnRows *table, int64 nrows, Size memory)
{
	Size row = table->ncolumns * sizeof(WalkRow);

	if (nrows <= table->capacity)
		return;
	check_training_memory(nrows * row, memory);
	table->capacity = Min(Max(2 * table->capacity, nrows), (int64) (memory / row));
	for (int i = 0; i < table->ncolumns; i++)
		table->rows[i] = repalloc_huge(table->rows[i], table->capacity * sizeof(WalkRow));
}

static void
collect_rows(const MechanismSpec *spec, UnitSource *units, Size memory, ColumnRows *table)
{
	UnitRows unit;

	*table = (ColumnRows){.ncolumns = spec->width, .capacity = FIRST_ROWS};
	check_training_memory(table->ncolumns * FIRST_ROWS * sizeof(WalkRow), memory);
	table->rows = palloc_array(WalkRow *, spec->width);
	for (int i = 0; i < spec->width; i++)
		table->rows[i] = palloc_array(WalkRow, FIRST_ROWS);
	while (units->next(units, &unit))
	{
		CHECK_FOR_INTERRUPTS();
		reserve_rows(table, table->nrows + unit.nrows, memory);
		for (int i = 0; i < unit.nrows; i++, table->nrows++)
			for (int j = 0; j < spec->width; j++)
				table->rows[j][table->nrows] =
					(WalkRow){unit.x[i * (Size) spec->width + j], (int32) unit.label[i]};
	}
}

/* Room for points, as everybody may see it. */
static int64
shown_capacity(const MechanismSpec *spec, int64 points)
{
	int64 declared =
		Min(spec->declared_units, WALK_MAX_POINTS) * Min(spec->max_rows_per_unit, WALK_MAX_POINTS);
	int64 capacity = THRESHOLD_LEAST_POINTS;

	while (capacity < Max(points, Min(declared, threshold_most_points(spec))))
		capacity *= 2;
	return capacity;
}

void
threshold_write_header(unsigned char *state, const MechanismSpec *spec)
{
	memcpy(state, STATE_MAGIC, 4);
	write_u32(state + 4, threshold_is_single(spec) ? STATE_VERSION : STATE_VERSION_MANY);
	write_u32(state + 8, (uint32) spec->epsilon);
	write_u32(state + 12, (uint32) ((uint64) spec->epsilon >> 32));
	write_u32(state + 16, spec->max_rows_per_unit);
}

static ManyWalk
walk_of(const MechanismSpec *spec, const ColumnRows *table, int column, const int32 *limit)
{
	ManyWalk walk = {
		.rows = table->rows[column],
		.nrows = table->nrows,
		.nclasses = spec->nclasses,
		.count = palloc_array(int64, spec->nclasses),
	};

	for (int link = 0; link < WALK_LINKS; link++)
	{
		walk.limit[link] = limit[link];
		walk.behind[link] = palloc_array(int32, spec->nclasses);
	}
	return walk;
}

/* Of the column that has most of them. */
static int64
count_points(const MechanismSpec *spec, const ColumnRows *table, const int32 *limit)
{
	int64 most = 0;

	if (threshold_is_single(spec))
		return walk_points(table->rows[0], table->nrows, limit);
	for (int i = 0; i < table->ncolumns; i++)
	{
		ManyWalk walk = walk_of(spec, table, i, limit);

		most = Max(most, many_points(&walk));
	}
	return most;
}

static void
write_state(unsigned char *state, const MechanismSpec *spec, int64 capacity,
			const ColumnRows *table, const int32 *limit)
{
	unsigned char *body = state + THRESHOLD_STATE_HEADER;

	threshold_write_header(state, spec);
	if (threshold_is_single(spec))
	{
		walk_write(body, capacity, table->rows[0], table->nrows, limit);
		return;
	}
	many_write_header(body, capacity, limit);
	for (int i = 0; i < table->ncolumns; i++)
	{
		ManyWalk walk = walk_of(spec, table, i, limit);

		many_write_column(body, capacity, i, &walk);
	}
}

bytea *
threshold_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	int32	   limit[WALK_LINKS];
	ColumnRows table;
	int64	   points;
	int64	   capacity;
	Size	   size;
	bytea	  *state;

	/* What is declared does not depend on the rows: it is refused before they are read. */
	check_training_memory(state_size(spec, shown_capacity(spec, 0)), memory);
	collect_rows(spec, units, memory, &table);
	progress_phase("sorting", -1);
	for (int i = 0; i < table.ncolumns; i++)
		walk_sort(table.rows[i], table.nrows);
	threshold_limits(spec, limit);
	points = count_points(spec, &table, limit);
	if (points > threshold_most_points(spec))
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("mechanism \"threshold\" can keep at most " INT64_FORMAT " different values",
					   threshold_most_points(spec)),
				errhint("Round the column, in a generated column for instance."));
	capacity = shown_capacity(spec, points);
	size = state_size(spec, capacity);
	check_training_memory(size + table.nrows * table.ncolumns * sizeof(WalkRow), memory);
	state = palloc(VARHDRSZ + size);
	SET_VARSIZE(state, VARHDRSZ + size);
	write_state((unsigned char *) VARDATA(state), spec, capacity, &table, limit);
	return state;
}
