/*
 * unit_table.c
 *		The rows of two classes as mechanisms keep them that draw afresh from
 *		the units at every answer.
 *
 * The state is a header, then for each unit its first row and its hash, then the
 * rows' labels and values, then zeros up to the declared size.  Units are in
 * order of their hash and content, so the state is a function of the table.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "mechanism/unit_table.h"
#include "server/progress.h"

#define STATE_MAGIC 0x55545031 /* "UTP1" */

/* Between two looks for interrupts. */
#define UNITS_PER_CHECK 65536

typedef struct StateHeader
{
	uint32 magic;
	int32  width;
	int32  nunits;
	int32  nrows;
} StateHeader;

/* ---------- sizes ---------- */

/* Bytes of a state: 8-byte parts first, so that all are aligned. */
static int64
state_bytes(int width, int64 nunits, int64 nrows)
{
	return MAXALIGN(VARHDRSZ) + MAXALIGN(sizeof(StateHeader)) + sizeof(uint64) * nunits +
		   sizeof(double) * width * nrows + sizeof(int32) * (nunits + 1) + nrows;
}

static int64
declared_bytes(const MechanismSpec *spec, int64 most_units)
{
	int64 units = Max(spec->declared_units, most_units);

	/* Beyond this it is too large anyway, and below nothing overflows. */
	if (units > UNIT_TABLE_MAX_BYTES || units * spec->max_rows_per_unit > UNIT_TABLE_MAX_BYTES)
		return PG_INT64_MAX;
	return state_bytes(spec->width, units, units * spec->max_rows_per_unit);
}

void
unit_table_validate(const MechanismSpec *spec, const char *mechanism, int64 most_units)
{
	if (spec->nclasses != 2)
		refuse_spec(errmsg("mechanism \"%s\" needs two classes, not %d", mechanism, spec->nclasses),
					errhint("Use mechanism \"vote\"."));
	if (spec->max_rows_per_unit == 0)
		refuse_spec(
			errmsg("mechanism \"%s\" needs to know how many rows a unit may have", mechanism),
			errdetail("Its privacy depends on the largest number of rows of one unit."),
			errhint(
				"Declare it by privpred.protect(..., max_rows_per_unit => R); of a unit with more, R are used."));
	if (declared_bytes(spec, most_units) > UNIT_TABLE_MAX_BYTES)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the model would need more than the limit of " INT64_FORMAT " MB",
					UNIT_TABLE_MAX_BYTES / (1024 * 1024)),
			 errdetail("Mechanism \"%s\" keeps every row.", mechanism),
			 errhint(
				 "Declare fewer units, rows per unit, columns or levels, or use mechanism \"vote\".")));
}

/* ---------- training ---------- */

typedef struct Collected
{
	int		width;
	Size	memory;
	int64	unit_capacity;
	int64	row_capacity;
	int32	nunits;
	int32	nrows;
	uint64 *hash;
	int32  *first_row; /* nunits + 1 */
	uint8  *label;
	double *x;
} Collected;

/* The arrays, their order, and the state made of them. */
static void
price_memory(const Collected *all, int64 units, int64 state)
{
	if (2 * state + (int64) sizeof(int32) * units <= (int64) all->memory && state <= MaxAllocSize)
		return;
	ereport(
		ERROR,
		(errcode(ERRCODE_OUT_OF_MEMORY),
		 errmsg("the rows need more than maintenance_work_mem (%zu kB)", all->memory / 1024),
		 errhint("Raise maintenance_work_mem, use fewer features, or use mechanism \"vote\".")));
}

#define GROW(array, type, count) \
	((array) = (array) == NULL \
				   ? MemoryContextAllocHuge(CurrentMemoryContext, sizeof(type) * (count)) \
				   : repalloc_huge((array), sizeof(type) * (count)))

static void
reserve(Collected *all, int more_rows)
{
	if (all->nunits + 2 > all->unit_capacity)
	{
		int64 units = Max(1024, 2 * all->unit_capacity);

		price_memory(all, units, state_bytes(all->width, units, all->row_capacity));
		all->unit_capacity = units;
		GROW(all->hash, uint64, units);
		GROW(all->first_row, int32, units);
	}
	if (all->nrows + (int64) more_rows > all->row_capacity)
	{
		int64 rows = Max(1024, 2 * Max(all->row_capacity, more_rows));

		price_memory(all, all->unit_capacity, state_bytes(all->width, all->unit_capacity, rows));
		all->row_capacity = rows;
		GROW(all->label, uint8, rows);
		GROW(all->x, double, rows * all->width);
	}
}

/* Rows of a unit come in any order; ours is by value, then label. */
static bool
row_precedes(const Collected *all, const double *x, uint8 label, int32 row)
{
	int order = memcmp(x, all->x + (Size) row * all->width, sizeof(double) * all->width);

	return order < 0 || (order == 0 && label < all->label[row]);
}

static void
collect_unit(Collected *all, const MechanismSpec *spec, const UnitRows *unit)
{
	Size  row_bytes = sizeof(double) * all->width;
	int32 first;

	reserve(all, unit->nrows);
	first = all->nrows;
	all->hash[all->nunits] = unit->unit_hash;
	all->first_row[all->nunits++] = first;
	for (int i = 0; i < unit->nrows; i++)
	{
		const double *x = unit->x + (Size) i * all->width;
		uint8		  label = ((int) unit->label[i] == 1) != (spec->default_class == 1);
		int32		  at = all->nrows++;

		for (; at > first && row_precedes(all, x, label, at - 1); at--)
		{
			all->label[at] = all->label[at - 1];
			memcpy(all->x + (Size) at * all->width, all->x + (Size) (at - 1) * all->width,
				   row_bytes);
		}
		all->label[at] = label;
		memcpy(all->x + (Size) at * all->width, x, row_bytes);
	}
	all->first_row[all->nunits] = all->nrows;
}

/*
 * By hash; should two ids have the same, by content.  So the first N units are
 * the same but for one if one unit is changed, added or removed.
 */
static int
compare_units(int32 left, int32 right, const Collected *all)
{
	int32 rows = all->first_row[left + 1] - all->first_row[left];
	int32 other_rows = all->first_row[right + 1] - all->first_row[right];
	int	  order;

	if (all->hash[left] != all->hash[right])
		return all->hash[left] < all->hash[right] ? -1 : 1;
	if (rows != other_rows)
		return rows < other_rows ? -1 : 1;
	order = memcmp(all->x + (Size) all->first_row[left] * all->width,
				   all->x + (Size) all->first_row[right] * all->width,
				   sizeof(double) * all->width * rows);
	if (order == 0)
		order = memcmp(all->label + all->first_row[left], all->label + all->first_row[right], rows);
	return order;
}

#define ST_SORT sort_units
#define ST_ELEMENT_TYPE int32
#define ST_COMPARE_ARG_TYPE const Collected
#define ST_COMPARE(a, b, all) compare_units(*(a), *(b), all)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Where the parts of a state are. */
typedef struct StateParts
{
	StateHeader *header;
	uint64		*hash;
	double		*x;
	int32		*first_row;
	uint8		*label;
} StateParts;

static StateParts
parts_of(char *state, int width, int64 nunits, int64 nrows)
{
	StateParts parts;

	parts.header = (StateHeader *) (state + MAXALIGN(VARHDRSZ));
	parts.hash = (uint64 *) ((char *) parts.header + MAXALIGN(sizeof(StateHeader)));
	parts.x = (double *) (parts.hash + nunits);
	parts.first_row = (int32 *) (parts.x + nrows * width);
	parts.label = (uint8 *) (parts.first_row + nunits + 1);
	return parts;
}

static bytea *
write_state(const MechanismSpec *spec, const Collected *all, const int32 *order, int32 nunits,
			int64 most_units)
{
	int64	   nrows = 0;
	int64	   bytes;
	bytea	  *state;
	StateParts to;
	int32	   row = 0;

	for (int32 i = 0; i < nunits; i++)
		nrows += all->first_row[order[i] + 1] - all->first_row[order[i]];
	bytes = Max(state_bytes(all->width, nunits, nrows), declared_bytes(spec, most_units));
	price_memory(all, nunits, bytes);
	state = palloc0(bytes);
	SET_VARSIZE(state, bytes);
	to = parts_of((char *) state, all->width, nunits, nrows);
	to.header->magic = STATE_MAGIC;
	to.header->width = all->width;
	to.header->nunits = nunits;
	to.header->nrows = (int32) nrows;
	for (int32 i = 0; i < nunits; i++)
	{
		int32 from = all->first_row[order[i]];
		int32 rows = all->first_row[order[i] + 1] - from;

		if (i % UNITS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		to.hash[i] = all->hash[order[i]];
		to.first_row[i] = row;
		memcpy(to.label + row, all->label + from, rows);
		memcpy(to.x + (Size) row * all->width, all->x + (Size) from * all->width,
			   sizeof(double) * all->width * rows);
		row += rows;
	}
	to.first_row[nunits] = row;
	return state;
}

bytea *
unit_table_train(const MechanismSpec *spec, UnitSource *source, Size memory, int64 most_units)
{
	Collected all = {.width = spec->width, .memory = memory};
	UnitRows  unit;
	int32	 *order;

	reserve(&all, 0);
	while (source->next(source, &unit))
	{
		CHECK_FOR_INTERRUPTS();
		collect_unit(&all, spec, &unit);
	}
	progress_phase("sorting", -1);
	order = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int32) * ((Size) all.nunits + 1));
	for (int32 i = 0; i < all.nunits; i++)
		order[i] = i;
	sort_units(order, all.nunits, &all);
	return write_state(spec, &all, order,
					   most_units > 0 ? (int32) Min(all.nunits, most_units) : all.nunits,
					   most_units);
}

/* ---------- loading ---------- */

static bool
state_is_sound(const MechanismSpec *spec, bytea *state)
{
	int64		 size = VARSIZE(state);
	StateParts	 parts = parts_of((char *) state, spec->width, 0, 0);
	StateHeader *header = parts.header;

	if (size < state_bytes(spec->width, 0, 0) || header->magic != STATE_MAGIC ||
		header->width != spec->width || header->nunits < 0 || header->nrows < header->nunits ||
		size < state_bytes(header->width, header->nunits, header->nrows))
		return false;
	parts = parts_of((char *) state, header->width, header->nunits, header->nrows);
	if (parts.first_row[0] != 0 || parts.first_row[header->nunits] != header->nrows)
		return false;
	for (int32 i = 0; i < header->nunits; i++)
		if (parts.first_row[i + 1] <= parts.first_row[i])
			return false;
	for (int32 i = 0; i < header->nrows; i++)
		if (parts.label[i] > 1)
			return false;
	for (int32 row = 0; row < header->nrows; row++)
	{
		const double *x = parts.x + (Size) row * header->width;

		if (row % UNITS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < header->width; i++)
			if (!(x[i] >= 0 && x[i] <= 1))
				return false;
	}
	for (char *end = (char *) parts.label + header->nrows; end < (char *) state + size; end++)
	{
		if ((uintptr_t) end % (1024 * 1024) == 0)
			CHECK_FOR_INTERRUPTS();
		if (*end != 0)
			return false;
	}
	return true;
}

UnitTable *
unit_table_load(const MechanismSpec *spec, bytea *state)
{
	UnitTable *table = palloc0_object(UnitTable);
	StateParts parts;

	if (!state_is_sound(spec, state))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED), errmsg("the stored rows of a model are damaged"),
				 errhint("Retrain the model.")));
	parts = parts_of((char *) state, spec->width, 0, 0);
	table->units.nunits = parts.header->nunits;
	table->units.nrows = parts.header->nrows;
	parts = parts_of((char *) state, spec->width, table->units.nunits, table->units.nrows);
	table->units.width = spec->width;
	table->units.first_row = parts.first_row;
	table->units.label = parts.label;
	table->units.x = parts.x;
	table->hash = parts.hash;
	return table;
}
