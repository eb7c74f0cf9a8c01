/*
 * unit_table.c
 *		The rows of two classes, for mechanisms that draw from the units anew for
 *		every answer.
 *
 * The state is a header, then for each unit its first row and its hash, then the
 * rows' labels and values, then zeros up to the declared size.  Units are in
 * order of their hash and content, so the state is a function of the table.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "mechanism/kept.h"
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
unit_table_validate(const MechanismSpec *spec, int64 most_units)
{
	if (declared_bytes(spec, most_units) > UNIT_TABLE_MAX_BYTES)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("the model would need more than the limit of " INT64_FORMAT " MB",
					   UNIT_TABLE_MAX_BYTES / (1024 * 1024)),
				errdetail("Its mechanism keeps every row."),
				errhint("Declare fewer units, rows per unit, columns or levels, or use mechanism "
						"\"vote\"."));
}

/* ---------- training ---------- */

/* A unit as it is collected: rows by value, then label. */
typedef struct CollectedUnit
{
	uint64 hash;
	int32  nrows;
	uint8 *label;
	double x[FLEXIBLE_ARRAY_MEMBER];
} CollectedUnit;

typedef CollectedUnit *UnitPointer;

/* Rows of a unit come in any order; ours is by value, then label. */
static bool
row_precedes(const double *x, uint8 label, const CollectedUnit *unit, int row, int width)
{
	int order = memcmp(x, unit->x + (Size) row * width, sizeof(double) * width);

	return order < 0 || (order == 0 && label < unit->label[row]);
}

static void
collect_rows(CollectedUnit *unit, const MechanismSpec *spec, const UnitRows *rows)
{
	Size row_bytes = sizeof(double) * spec->width;

	for (int i = 0; i < rows->nrows; i++)
	{
		const double *x = rows->x + (Size) i * spec->width;
		uint8		  label = ((int) rows->label[i] == 1) != (spec->default_class == 1);
		int			  at = i;

		while (at > 0 && row_precedes(x, label, unit, at - 1, spec->width))
			at--;
		memmove(unit->label + at + 1, unit->label + at, i - at);
		memmove(unit->x + (Size) (at + 1) * spec->width, unit->x + (Size) at * spec->width,
				row_bytes * (i - at));
		unit->label[at] = label;
		memcpy(unit->x + (Size) at * spec->width, x, row_bytes);
	}
}

/* Keeps all units; returns how many. */
static int32
collect_units(Kept *kept, const MechanismSpec *spec, UnitSource *source, Size memory)
{
	int32	 nunits = 0;
	UnitRows rows;

	while (source->next(source, &rows))
	{
		Size		   numbers = (Size) rows.nrows * spec->width;
		Size		   bytes = offsetof(CollectedUnit, x) + numbers * sizeof(double) + rows.nrows;
		CollectedUnit *unit = kept_add(kept, bytes);

		CHECK_FOR_INTERRUPTS();
		if (unit == NULL)
			check_training_memory(memory + bytes, memory);
		unit->hash = rows.unit_hash;
		unit->nrows = rows.nrows;
		unit->label = (uint8 *) (unit->x + numbers);
		collect_rows(unit, spec, &rows);
		nunits++;
	}
	return nunits;
}

/*
 * By hash; should two ids have the same, by content.  So the first N units are
 * the same except for one if one unit is changed, added or removed.
 */
static int
compare_units(const CollectedUnit *left, const CollectedUnit *right, int width)
{
	int order;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	if (left->nrows != right->nrows)
		return left->nrows < right->nrows ? -1 : 1;
	order = memcmp(left->x, right->x, sizeof(double) * width * left->nrows);
	return order != 0 ? order : memcmp(left->label, right->label, left->nrows);
}

#define ST_SORT sort_units
#define ST_ELEMENT_TYPE UnitPointer
#define ST_COMPARE_ARG_TYPE const MechanismSpec
#define ST_COMPARE(a, b, spec) compare_units(*(a), *(b), (spec)->width)
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
write_state(int width, CollectedUnit *const *units, int32 nunits, int64 nrows, Size bytes)
{
	bytea	  *state = palloc0(bytes);
	StateParts to = parts_of((char *) state, width, nunits, nrows);
	int32	   row = 0;

	SET_VARSIZE(state, bytes);
	*to.header = (StateHeader){STATE_MAGIC, width, nunits, (int32) nrows};
	for (int32 i = 0; i < nunits; i++)
	{
		if (i % UNITS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		to.hash[i] = units[i]->hash;
		to.first_row[i] = row;
		memcpy(to.label + row, units[i]->label, units[i]->nrows);
		memcpy(to.x + (Size) row * width, units[i]->x, sizeof(double) * width * units[i]->nrows);
		row += units[i]->nrows;
	}
	to.first_row[nunits] = row;
	return state;
}

bytea *
unit_table_train(const MechanismSpec *spec, UnitSource *source, Size memory, int64 most_units)
{
	/* No more rows than a state may have, so that 32 bits count them. */
	Size			limit = Min(memory, 2 * MaxAllocSize);
	Size			left = limit;
	Kept		   *kept = kept_create(&left);
	int32			nunits = collect_units(kept, spec, source, limit);
	CollectedUnit **units;
	int64			nrows = 0;
	int64			bytes;

	progress_phase("sorting", -1);
	units = kept_add(kept, sizeof(void *) * nunits);
	if (units == NULL)
		check_training_memory(limit + sizeof(void *) * nunits, limit);
	kept_rewind(kept);
	for (int32 i = 0; i < nunits; i++)
		units[i] = kept_next(kept);
	sort_units(units, nunits, spec);
	if (most_units > 0)
		nunits = (int32) Min(nunits, most_units);
	for (int32 i = 0; i < nunits; i++)
		nrows += units[i]->nrows;
	bytes = Max(state_bytes(spec->width, nunits, nrows), declared_bytes(spec, most_units));
	check_training_memory(limit - left + bytes, limit);
	check_training_memory(bytes, MaxAllocSize);
	return write_state(spec->width, units, nunits, nrows, bytes);
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
	for (int32 row = 0; row < header->nrows; row++)
	{
		const double *x = parts.x + (Size) row * header->width;

		if (row % UNITS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (parts.label[row] > 1)
			return false;
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
		state_damaged();
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
