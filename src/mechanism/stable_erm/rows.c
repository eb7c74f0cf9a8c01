/*
 * rows.c
 *		Protected rows as erm.h wants them.
 *
 * The first pass keeps what it reads, in single precision, until the memory is
 * used up; then it is given back and later passes are added up by the server, as are
 * all passes over rows that lie on other nodes (passes.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "mechanism/kept.h"
#include "mechanism/stable_erm/rows.h"
#include "server/progress.h"

typedef enum RowMode
{
	ROWS_COLLECTED, /* during the first pass */
	ROWS_KEPT,
	ROWS_SCANNED /* or added up elsewhere */
} RowMode;

typedef struct ErmRows
{
	ErmSource			 source;
	const ErmProblem	*problem;
	const MechanismSpec *spec;
	UnitSource			*units;
	RowMode				 mode;
	int64				 passes; /* begun so far */
	Size				 memory; /* left */
	Kept				*kept;
	char				*unit; /* the current one, unless it is kept */
	Size				 unit_bytes;
} ErmRows;

/* ---------- labels ---------- */

double
erm_label_scale(const MechanismSpec *spec)
{
	return spec->nclasses > 0 ? 1 : spec->label_max / 2 - spec->label_min / 2;
}

static double
label_centre(const MechanismSpec *spec)
{
	return spec->label_max / 2 + spec->label_min / 2;
}

double
erm_label(const MechanismSpec *spec, double label)
{
	double scaled;

	if (spec->nclasses > 2)
		return label;
	if (spec->nclasses > 0)
		return label > 0 ? 1 : -1;
	scaled = (label - label_centre(spec)) / erm_label_scale(spec);
	return Max(-1, Min(scaled, 1));
}

double
erm_number(const MechanismSpec *spec, double score)
{
	double number = label_centre(spec) + erm_label_scale(spec) * score;

	return Max(spec->label_min, Min(number, spec->label_max));
}

/* ---------- the layout of a unit ---------- */

Size
erm_unit_size(const ErmProblem *problem, int64 nrows)
{
	return sizeof(int64) + nrows * (sizeof(double) + problem->dimension * sizeof(float));
}

static void
unit_at(const char *at, ErmUnit *unit)
{
	memcpy(&unit->nrows, at, sizeof(int64));
	unit->label = (const double *) (at + sizeof(int64));
	unit->x = (const float *) (unit->label + unit->nrows);
}

void
erm_unit_write(const ErmProblem *problem, const MechanismSpec *spec, const UnitRows *rows, char *at,
			   ErmUnit *unit)
{
	int64	nrows = rows->nrows;
	double *label = (double *) (at + sizeof(int64));
	float  *x = (float *) (label + nrows);

	memcpy(at, &nrows, sizeof(int64));
	for (int64 i = 0; i < nrows; i++)
	{
		label[i] = erm_label(spec, rows->label[i]);
		(void) erm_features(problem, rows->x + i * spec->width, x + i * problem->dimension);
	}
	unit_at(at, unit);
}

/* ---------- reading ---------- */

static char *
scratch_room(ErmRows *rows, Size bytes)
{
	if (bytes > rows->unit_bytes)
	{
		if (rows->unit != NULL)
			pfree(rows->unit);
		rows->unit = MemoryContextAllocHuge(GetMemoryChunkContext(rows), bytes);
		rows->unit_bytes = bytes;
	}
	return rows->unit;
}

static bool
next_scanned(ErmRows *rows, ErmUnit *unit)
{
	UnitRows found;
	Size	 bytes;
	char	*at = NULL;

	if (!rows->units->next(rows->units, &found))
	{
		if (rows->mode == ROWS_COLLECTED)
			rows->mode = ROWS_KEPT;
		return false;
	}
	bytes = erm_unit_size(rows->problem, found.nrows);
	if (rows->mode == ROWS_COLLECTED)
	{
		at = kept_add(rows->kept, bytes);
		if (at == NULL)
		{
			kept_free(rows->kept);
			rows->mode = ROWS_SCANNED;
		}
	}
	if (at == NULL)
		at = scratch_room(rows, bytes);
	erm_unit_write(rows->problem, rows->spec, &found, at, unit);
	return true;
}

static bool
next_kept(ErmRows *rows, ErmUnit *unit)
{
	char *at = kept_next(rows->kept);

	if (at == NULL)
		return false;
	unit_at(at, unit);
	return true;
}

static bool
rows_next(ErmSource *source, ErmUnit *unit)
{
	ErmRows *rows = (ErmRows *) source;

	CHECK_FOR_INTERRUPTS();
	return rows->mode == ROWS_KEPT ? next_kept(rows, unit) : next_scanned(rows, unit);
}

static int64
rows_sum(ErmSource *source, ErmPass pass, const double *w, const double *vector, int128 *total,
		 double *curvature)
{
	ErmRows *rows = (ErmRows *) source;

	return erm_pass(rows->problem, rows->units, pass, w, vector, total, curvature);
}

static void
rows_rewind(ErmSource *source)
{
	ErmRows *rows = (ErmRows *) source;

	/* The first pass is told by the rows it reads. */
	if (rows->passes == 1)
		progress_phase("solving", -1);
	if (rows->passes > 0)
		progress_update(rows->passes);
	if (rows->mode == ROWS_KEPT)
		kept_rewind(rows->kept);
	else if (rows->passes > 0)
		rows->source.sum = rows_sum;
	rows->passes++;
}

static void
rows_pause(void)
{
	CHECK_FOR_INTERRUPTS();
}

ErmSource *
erm_rows_open(const ErmProblem *problem, const MechanismSpec *spec, UnitSource *units, Size memory)
{
	ErmRows *rows = palloc0_object(ErmRows);

	rows->source.rewind = rows_rewind;
	rows->source.next = rows_next;
	rows->source.pause = rows_pause;
	rows->problem = problem;
	rows->spec = spec;
	rows->units = units;
	rows->mode = units->far ? ROWS_SCANNED : ROWS_COLLECTED;
	if (units->far)
		rows->source.sum = rows_sum;
	rows->memory = memory;
	rows->kept = kept_create(&rows->memory);
	return &rows->source;
}
