/*
 * units.c
 *		Rows of the protected table, unit by unit, for mechanisms that learn
 *		from units themselves.
 *
 * If a key says that a unit is one row, or a view's proof, the relation is read as it
 * lies; else the server groups it by unit.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "request/train.h"
#include "server/citus.h"

#define ROWS_PER_FETCH 1000

typedef struct UnitScan
{
	UnitSource		   source;
	const ModelRecord *model;
	TrainingQuery	   query;
	QueryScan		   tuples; /* a unit each */
	bool			   unit_is_row;
	bool			   keeps_unlabelled; /* labels alone are protected */
	bool			   held_out;		 /* units that do not train, in an order of their own */
	RowCounts		   rows;
	MemoryContext	   scratch; /* arrays unpacked from a tuple */

	/* the current unit */
	int		capacity; /* rows */
	double *label;
	double *x;
	uint64 *rank; /* for choosing among too many rows */
} UnitScan;

/* ---------- is a unit one row? ---------- */

static bool
key_within_units(Relation index, Relation relation, const ProtectedRelation *protected)
{
	Form_pg_index form = index->rd_index;

	if (!index_is_key(index, relation))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber attnum = form->indkey.values[i];
		bool	   found = false;

		for (int j = 0; j < protected->nunits && !found; j++)
			found = get_attnum(RelationGetRelid(relation), protected->unit_columns[j]) == attnum;
		if (!found)
			return false;
	}
	return true;
}

bool
units_are_rows(const ProtectedRelation *protected, const ViewProof *proof)
{
	Relation  relation;
	bool	  result = proof != NULL && proof->one_row_a_unit;
	List	 *indexes;
	ListCell *cell;

	if (protected->keys_known)
	{
		/* A table under the view may have got children after the rows were held. */
		if (protected->units_are_rows && proof != NULL && !proof->one_row_a_unit)
			view_has_changed(proof->view);
		return protected->units_are_rows;
	}
	relation = open_relation(protected->relid, AccessShareLock);
	/* A key of a parent says nothing about the rows of its children. */
	if ((relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		 (relation->rd_rel->relkind == RELKIND_RELATION && !relation->rd_rel->relhassubclass)) &&
		citus_place(protected->relid) != CITUS_APPENDED)
	{
		indexes = RelationGetIndexList(relation);
		foreach(cell, indexes)
		{
			Relation index = index_open(lfirst_oid(cell), AccessShareLock);

			result = result || key_within_units(index, relation, protected);
			index_close(index, AccessShareLock);
		}
		list_free(indexes);
	}
	table_close(relation, NoLock);
	return result;
}

void
note_units_are_rows(ProtectedRelation *protected, const ViewProof *proof)
{
	protected->units_are_rows = units_are_rows(protected, proof);
	protected->keys_known = true;
}

/* ---------- the query ---------- */

enum
{
	COLUMN_LABELS = 1,
	COLUMN_FEATURES,
	COLUMN_HASH
};

static bool
wants_order(const ModelRecord *model)
{
	return model->mechanism->wants_order != NULL && model->mechanism->wants_order(&model->spec);
}

/*
 * Inner columns are the label, the features and u0, u1, ..., which identify the
 * unit.  The hash is that of teachers' queries.
 */
static void
append_units_query(UnitScan *scan, const ProtectedRelation *protected)
{
	const ModelRecord *model = scan->model;
	const char *known = psprintf("%s IS NOT NULL", units_sql(protected, " IS NOT NULL AND "));
	bool		one_table = scan->unit_is_row && get_rel_relkind(model->relid) == RELKIND_RELATION;
	StringInfoData inner;
	StringInfoData outer;

	initStringInfo(&inner);
	initStringInfo(&outer);
	for (int i = 0; i < protected->nunits; i++)
	{
		appendStringInfo(&inner, ", r.%s AS u%d", quote_identifier(protected->unit_columns[i]), i);
		appendStringInfo(&outer, "%ss.u%d", i > 0 ? ", " : "", i);
	}
	appendStringInfoString(&scan->query.text,
						   scan->unit_is_row
							   ? "SELECT s.label, s.x"
							   : "SELECT pg_catalog.array_agg(s.label), pg_catalog.array_agg(s.x)");
	appendStringInfo(
		&scan->query.text,
		", privpred.unit_hash(%s%s%s, $%d)"
		" FROM (SELECT CASE WHEN %s THEN %s END::pg_catalog.float8 AS label, %s AS x%s",
		protected->nunits > 1 ? "ROW(" : "", outer.data, protected->nunits > 1 ? ")" : "",
		PARAMETER_SALT, known, label_number_sql(model),
		encoding_sql(model->features, PARAMETER_FEATURES), inner.data);
	/* A key holds for the table's own rows; children may have been added since it was found. */
	appendStringInfo(&scan->query.text, " FROM %s%s r", one_table ? "ONLY " : "",
					 scan->query.relation);
	appendStringInfo(&scan->query.text, " WHERE %s",
					 scan->held_out ? held_out_sql(protected) : trains_sql(model, protected));
	/* Else rows without a unit have no label, and are left out for that. */
	if (scan->keeps_unlabelled)
		appendStringInfo(&scan->query.text, " AND %s", known);
	appendStringInfoString(&scan->query.text, ") s");
	if (!scan->unit_is_row)
		appendStringInfo(&scan->query.text, " GROUP BY %s", outer.data);
	/* The units' ids tell those apart whose hashes are the same. */
	if (scan->held_out || wants_order(model))
		appendStringInfo(&scan->query.text, " ORDER BY %d, %s", COLUMN_HASH, outer.data);
}

/* ---------- one unit ---------- */

/* Makes room for the rows of one unit; those of the last one are lost. */
static void
reserve_rows(UnitScan *scan, int rows)
{
	Size		  width = scan->model->spec.width;
	MemoryContext context = GetMemoryChunkContext(scan);

	if (rows <= scan->capacity)
		return;
	scan->capacity = Max(rows, 2 * scan->capacity);
	if (scan->label != NULL)
	{
		pfree(scan->label);
		pfree(scan->x);
		pfree(scan->rank);
	}
	scan->label = MemoryContextAllocHuge(context, scan->capacity * sizeof(double));
	scan->x = MemoryContextAllocHuge(context, scan->capacity * width * sizeof(double));
	scan->rank = MemoryContextAllocHuge(context, scan->capacity * sizeof(uint64));
}

static void
swap_rows(UnitScan *scan, int a, int b)
{
	int	   width = scan->model->spec.width;
	double label = scan->label[a];
	uint64 rank = scan->rank[a];

	scan->label[a] = scan->label[b];
	scan->label[b] = label;
	scan->rank[a] = scan->rank[b];
	scan->rank[b] = rank;
	for (int i = 0; i < width; i++)
	{
		double x = scan->x[(Size) a * width + i];

		scan->x[(Size) a * width + i] = scan->x[(Size) b * width + i];
		scan->x[(Size) b * width + i] = x;
	}
}

static bool
precedes(const UnitScan *scan, int a, int b)
{
	if (scan->rank[a] != scan->rank[b])
		return scan->rank[a] < scan->rank[b];
	/* Rows without a label come last, so that no tie is left to the table's order. */
	return scan->label[a] < scan->label[b] || (isnan(scan->label[b]) && !isnan(scan->label[a]));
}

/*
 * Keeps a pseudo-random choice of the unit's rows that depends on their
 * content and the model's salt alone: on nothing that another unit could
 * change, such as the order of the table.
 */
static int
choose_rows(UnitScan *scan, int nrows)
{
	int	   cap = scan->model->spec.max_rows_per_unit;
	int	   width = scan->model->spec.width;
	uint64 seed;

	if (cap == 0 || nrows <= cap)
		return nrows;
	memcpy(&seed, scan->model->salt, sizeof(seed));
	for (int i = 0; i < nrows; i++)
	{
		uint64 of_label =
			scan->keeps_unlabelled
				? seed
				: hash_bytes_extended((unsigned char *) &scan->label[i], sizeof(double), seed);

		scan->rank[i] = hash_bytes_extended((unsigned char *) &scan->x[(Size) i * width],
											width * sizeof(double), of_label);
	}
	for (int kept = 0; kept < cap; kept++)
	{
		int least = kept;

		CHECK_FOR_INTERRUPTS();
		for (int i = kept + 1; i < nrows; i++)
			if (precedes(scan, i, least))
				least = i;
		swap_rows(scan, kept, least);
	}
	return cap;
}

static const double *
array_numbers(Datum array)
{
	return (const double *) ARR_DATA_PTR(DatumGetArrayTypeP(array));
}

/* Adds a row of the current unit, unless it has no label and needs one. */
static void
add_row(UnitScan *scan, UnitRows *unit, Datum label, bool isnull, const double *x)
{
	const MechanismSpec *spec = &scan->model->spec;
	double				 number = isnull ? NAN : DatumGetFloat8(label);

	scan->rows.all++;
	scan->rows.unused += isnull;
	if (isnull && !scan->keeps_unlabelled)
		return;
	if (spec->nclasses == 0)
		number = spec->label_min + number * (spec->label_max - spec->label_min);
	scan->label[unit->nrows] = number;
	memcpy(scan->x + (Size) unit->nrows * spec->width, x, spec->width * sizeof(double));
	unit->nrows++;
}

/* Reads the current tuple as a unit, which may have no row that can be used. */
static void
read_unit(UnitScan *scan, UnitRows *unit)
{
	bool		  isnull;
	bool		  unlabelled;
	Datum		  label = scan_value(&scan->tuples, COLUMN_LABELS, &unlabelled);
	const double *x = array_numbers(scan_value(&scan->tuples, COLUMN_FEATURES, &isnull));
	Datum		 *labels;
	bool		 *nulls;
	int			  count;

	unit->unit_hash = (uint64) DatumGetInt64(scan_value(&scan->tuples, COLUMN_HASH, &isnull));
	unit->nrows = 0;
	if (scan->unit_is_row)
	{
		reserve_rows(scan, 1);
		add_row(scan, unit, label, unlabelled, x);
	}
	else
	{
		deconstruct_array(DatumGetArrayTypeP(label), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						  TYPALIGN_DOUBLE, &labels, &nulls, &count);
		reserve_rows(scan, count);
		for (int i = 0; i < count; i++)
			add_row(scan, unit, labels[i], nulls[i], x + (Size) i * scan->model->spec.width);
		unit->nrows = choose_rows(scan, unit->nrows);
	}
	unit->label = scan->label;
	unit->x = scan->x;
}

/* ---------- the scan ---------- */

RowCounts
units_close(UnitSource *source)
{
	UnitScan *scan = (UnitScan *) source;

	scan_close(&scan->tuples);
	return scan->rows;
}

static void
units_rewind(UnitSource *source)
{
	UnitScan *scan = (UnitScan *) source;

	(void) units_close(source);
	scan->rows = (RowCounts){0};
	scan_open(&scan->tuples, ROWS_PER_FETCH, scan->query.text.data, TRAINING_PARAMETERS,
			  scan->query.arguments);
}

static bool
units_next(UnitSource *source, UnitRows *unit)
{
	UnitScan *scan = (UnitScan *) source;

	while (scan_next(&scan->tuples))
	{
		MemoryContext caller = MemoryContextSwitchTo(scan->scratch);

		read_unit(scan, unit);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(scan->scratch);
		if (unit->nrows > 0)
			return true;
	}
	return false;
}

UnitSource *
units_open(const ModelRecord *model, const ProtectedRelation *protected, bool one_row_each,
		   bool held_out)
{
	UnitScan *scan = palloc0_object(UnitScan);

	scan->source.next = units_next;
	scan->source.rewind = units_rewind;
	scan->model = model;
	scan->unit_is_row = one_row_each;
	scan->held_out = held_out;
	scan->scratch =
		AllocSetContextCreate(CurrentMemoryContext, "privpred unit", ALLOCSET_DEFAULT_SIZES);
	scan->keeps_unlabelled = model->mechanism->labels_only;
	training_query_begin(&scan->query, model);
	append_units_query(scan, protected);
	units_rewind(&scan->source);
	return &scan->source;
}
