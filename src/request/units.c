/*
 * units.c
 *		Rows of the protected table, unit by unit, for mechanisms that learn
 *		from units themselves.
 *
 * If a key says that a unit is one row, or a view's proof, the relation is read as it
 * lies; else the server groups it by unit.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "mechanism/unit_sums.h"
#include "request/train.h"
#include "server/citus.h"

#define ROWS_PER_FETCH 1000

typedef struct UnitScan
{
	UnitSource		   source;
	const ModelRecord *model;
	const ProtectedRelation *protected;
	TrainingQuery query;
	const char	 *sums_query; /* NULL: not yet asked for */
	char		 *moved;	  /* a table of rows that were moved for it */
	bool		  apart;	  /* rows of a unit may lie on several nodes */
	List		 *foreign;	  /* tables that add up their own units */
	QueryScan	  tuples;	  /* a unit each */
	UnitReader	 *reader;
	bool		  unit_is_row;
	bool		  packed;	/* each in one column */
	bool		  held_out; /* units that do not train, in an order of their own */
	MemoryContext scratch;	/* arrays unpacked from a tuple */
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
	COLUMN_HASH,
	COLUMN_PACKED = 1
};

static bool
wants_order(const ModelRecord *model)
{
	return model->mechanism->wants_order != NULL && model->mechanism->wants_order(&model->spec);
}

/* The columns u0, u1, ..., which identify the unit. */
static char *
unit_columns(const ProtectedRelation *protected)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < protected->nunits; i++)
		appendStringInfo(&columns, "%ss.u%d", i > 0 ? ", " : "", i);
	return columns.data;
}

static char *
unit_known_sql(const ProtectedRelation *protected)
{
	return psprintf("%s IS NOT NULL", units_sql(protected, " IS NOT NULL AND "));
}

/* The label of row r; rows without a unit have none, and are left out for that. */
static char *
unit_label_sql(const ModelRecord *model, const ProtectedRelation *protected)
{
	return psprintf("CASE WHEN %s THEN %s END::pg_catalog.float8", unit_known_sql(protected),
					label_number_sql(model));
}

/* Rows s: the label, the features x, and the unit. */
static char *
rows_sql(const UnitScan *scan, const ProtectedRelation *protected)
{
	const ModelRecord *model = scan->model;
	bool one_table = scan->unit_is_row && get_rel_relkind(model->relid) == RELKIND_RELATION;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "(SELECT %s AS label, %s AS x", unit_label_sql(model, protected),
					 encoding_sql(model->features, PARAMETER_FEATURES));
	for (int i = 0; i < protected->nunits; i++)
		appendStringInfo(&text, ", r.%s AS u%d", quote_identifier(protected->unit_columns[i]), i);
	/* A key holds for the table's own rows; children may have been added since it was found. */
	appendStringInfo(&text, " FROM %s%s r WHERE %s", one_table ? "ONLY " : "", scan->query.relation,
					 scan->held_out ? held_out_sql(&scan->query, protected)
									: trains_sql(&scan->query, model, protected));
	if (scan->source.form.keeps_unlabelled)
		appendStringInfo(&text, " AND %s", unit_known_sql(protected));
	appendStringInfoString(&text, ") s");
	return text.data;
}

/* The hash is that of teachers' queries. */
static void
append_units_query(UnitScan *scan, const ProtectedRelation *protected)
{
	const char *units = unit_columns(protected);

	appendStringInfo(&scan->query.text, "%sSELECT %s%s, privpred.unit_hash(%s%s%s, %s)%s FROM %s",
					 query_secrets(&scan->query), scan->packed ? "privpred.pack_unit(" : "",
					 scan->unit_is_row ? "s.label, s.x"
									   : "pg_catalog.array_agg(s.label), pg_catalog.array_agg(s.x)",
					 protected->nunits > 1 ? "ROW(" : "", units, protected->nunits > 1 ? ")" : "",
					 query_secret(&scan->query, PARAMETER_SALT), scan->packed ? ")" : "",
					 rows_sql(scan, protected));
	if (!scan->unit_is_row)
		appendStringInfo(&scan->query.text, " GROUP BY %s", units);
	/* The units' ids tell those apart whose hashes are the same. */
	if (scan->held_out || wants_order(scan->model))
		appendStringInfo(&scan->query.text, " ORDER BY %d, %s", COLUMN_HASH, units);
}

/* Rows s, wherever they lie; of several of a unit, all are in one place if they were moved. */
static char *
sums_query(const UnitScan *scan)
{
	const char *units = unit_columns(scan->protected);
	const char *rows = rows_sql(scan, scan->protected);

	if (scan->foreign != NIL)
		return node_sums_sql(scan->model, scan->protected, scan->foreign);
	if (scan->moved != NULL)
	{
		units = psprintf("s.k, %s", units);
		rows = psprintf("%s s%s", scan->moved,
						scan->source.form.keeps_unlabelled ? " WHERE s.k >= 0" : "");
	}
	if (!scan->unit_is_row)
		rows = psprintf("(SELECT pg_catalog.array_agg(s.label) AS label,"
						" pg_catalog.array_agg(s.x) AS x FROM %s GROUP BY %s) s",
						rows, units);
	/* The salt does not go out with it: other nodes might write it into their logs. */
	return psprintf("%sSELECT privpred.sum_units(s.label, s.x, $%d) FROM %s",
					scan->moved != NULL ? "" : query_secrets(&scan->query), PARAMETER_SUMS, rows);
}

/* ---------- one unit ---------- */

/* Reads the current tuple as a unit, which may have no row that can be used. */
static bool
read_unit(UnitScan *scan, UnitRows *unit)
{
	bool	   isnull;
	bool	   unlabelled;
	Datum	   label;
	ArrayType *x;

	if (scan->packed)
		return unit_read_packed(
			scan->reader, DatumGetByteaPP(scan_value(&scan->tuples, COLUMN_PACKED, &isnull)), unit);
	label = scan_value(&scan->tuples, COLUMN_LABELS, &unlabelled);
	x = DatumGetArrayTypeP(scan_value(&scan->tuples, COLUMN_FEATURES, &isnull));
	unit->unit_hash = (uint64) DatumGetInt64(scan_value(&scan->tuples, COLUMN_HASH, &isnull));
	if (scan->unit_is_row)
		return unit_read_row(scan->reader, unlabelled ? 0 : DatumGetFloat8(label), unlabelled, x,
							 unit);
	return unit_read_rows(scan->reader, DatumGetArrayTypeP(label), x, unit);
}

/* ---------- the scan ---------- */

RowCounts
units_close(UnitSource *source)
{
	UnitScan *scan = (UnitScan *) source;

	scan_close(&scan->tuples);
	if (scan->moved != NULL)
		spread_rows_end(scan->moved);
	return (RowCounts){.all = scan->reader->rows, .unused = scan->reader->unused};
}

static void
units_rewind(UnitSource *source)
{
	UnitScan *scan = (UnitScan *) source;

	scan_close(&scan->tuples);
	scan->reader->rows = scan->reader->unused = 0;
	scan_open(&scan->tuples, ROWS_PER_FETCH, scan->query.text.data, TRAINING_PARAMETERS,
			  scan->query.arguments);
}

static bool
units_next(UnitSource *source, UnitRows *unit)
{
	UnitScan *scan = (UnitScan *) source;

	if (scan->tuples.portal == NULL)
		units_rewind(source);
	while (scan_next(&scan->tuples))
	{
		MemoryContext caller = MemoryContextSwitchTo(scan->scratch);
		bool		  usable = read_unit(scan, unit);

		MemoryContextSwitchTo(caller);
		MemoryContextReset(scan->scratch);
		if (usable)
			return true;
	}
	return false;
}

/* ---------- sums ---------- */

/* How many sums there are decides where they are added up. */
static void
prepare_sums(UnitScan *scan, int64 count)
{
	const ModelRecord *model = scan->model;
	MemoryContext	   caller = MemoryContextSwitchTo(GetMemoryChunkContext(scan));

	if (scan->source.far)
		scan->moved = spread_units(&scan->query, model, scan->protected,
								   psprintf("%s, %s", unit_label_sql(model, scan->protected),
											encoding_sql(model->features, PARAMETER_FEATURES)),
								   scan->unit_is_row, scan->apart, count);
	scan->sums_query = sums_query(scan);
	MemoryContextSwitchTo(caller);
}

/* One query, which adds up wherever the rows are. */
static void
units_sum(UnitSource *source, const UnitSum *kind, const StringInfoData *parameter, int64 count,
		  int128 *sums)
{
	UnitScan	 *scan = (UnitScan *) source;
	MemoryContext caller = CurrentMemoryContext;
	bytea		 *bytes;
	PartialSums	 *result;

	scan_close(&scan->tuples);
	if (scan->sums_query == NULL)
		prepare_sums(scan, count);
	scan->query.arguments[PARAMETER_SUMS - 1] =
		ARG(BYTEAOID, PointerGetDatum(unit_sums_request(kind, &source->form, parameter)));
	/* What this transaction has moved is seen by a query that may write. */
	query_run(NULL, scan->sums_query, scan->moved == NULL, 0, TRAINING_PARAMETERS,
			  scan->query.arguments);
	MemoryContextSwitchTo(scan->scratch);
	scan->reader->rows = scan->reader->unused = 0;
	bytes = SPI_processed > 0 ? row_varlena(0, 1) : NULL;
	if (bytes != NULL)
	{
		result = partial_sums_read(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
		if (result->count != count)
			elog(ERROR, "expected " INT64_FORMAT " sums, not " INT64_FORMAT, count, result->count);
		memcpy(sums, result->sum, count * sizeof(int128));
		scan->reader->rows = result->rows;
		scan->reader->unused = result->unused;
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(scan->scratch);
	SPI_freetuptable(SPI_tuptable);
}

/* ---------- opening ---------- */

static UnitForm
unit_form(const ModelRecord *model)
{
	const MechanismSpec *spec = &model->spec;

	return (UnitForm){.width = spec->width,
					  .max_rows = spec->max_rows_per_unit,
					  .seed = row_choice_seed((const unsigned char *) model->salt),
					  .nclasses = spec->nclasses,
					  .keeps_unlabelled = model->mechanism->labels_only,
					  .label_min = spec->label_min,
					  .label_max = spec->label_max};
}

UnitSource *
units_open(const ModelRecord *model, const ProtectedRelation *protected, bool one_row_each,
		   bool held_out)
{
	UnitScan *scan = palloc0_object(UnitScan);

	scan->source.next = units_next;
	scan->source.rewind = units_rewind;
	scan->source.form = unit_form(model);
	scan->source.sum = units_sum;
	scan->source.far = !held_out && rows_are_far(model, protected, one_row_each, &scan->apart);
	if (!held_out && !scan->source.far && !scan->apart)
		scan->foreign = node_tables_of_units(model, protected);
	scan->source.far = scan->source.far || scan->foreign != NIL;
	scan->model = model;
	scan->protected = protected;
	scan->unit_is_row = one_row_each;
	scan->held_out = held_out;
	scan->scratch =
		AllocSetContextCreate(CurrentMemoryContext, "privpred unit", ALLOCSET_DEFAULT_SIZES);
	scan->reader = unit_reader_create(&scan->source.form);
	training_query_begin(&scan->query, model);
	scan->packed = scan->query.travels && one_row_each && !held_out && !wants_order(model);
	append_units_query(scan, protected);
	return &scan->source;
}
