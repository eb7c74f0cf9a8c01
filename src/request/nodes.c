/*
 * nodes.c
 *		Teachers from tables on several nodes.
 *
 * A foreign table of a server that knows privpred (postgres_fdw's option
 * "extensions") is asked for training states, one per teacher, instead of rows.
 * The query per table is made so that postgres_fdw sends it as it is: one table, nothing
 * but immutable functions, no text constants (their collation would keep it
 * here), no CASE (servers before 15).  Should it not be sent, for whatever
 * reason, the same functions run here over the rows that are fetched; the result
 * is the same, bit for bit.
 *
 * Units are the same on all nodes because their hash is: a unit whose rows lie
 * on several nodes has one teacher.  privpred.node_agrees() makes sure.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "catalog/store.h"
#include "request/train.h"

/* Of postgres_fdw, which holds as many rows in memory, as text. */
#define FETCH_SIZE 100
#define TEXT_PER_BYTE (4.0 / 3)

/* Bytes of a number as text, and rows of a table of unknown size. */
#define NUMBER_TEXT 18
#define UNKNOWN_ROWS 1e6

#define MAX_CHUNK_ROWS 1000

static bool train_by_states = false;

/* ---------- which tables ---------- */

static bool
server_knows_privpred(Oid relid)
{
	ForeignServer *server = GetForeignServer(GetForeignTable(relid)->serverid);
	ListCell	  *cell;
	ListCell	  *name;

	foreach(cell, server->options)
	{
		DefElem *option = lfirst(cell);
		List	*extensions;

		if (strcmp(option->defname, "extensions") != 0 ||
			!SplitIdentifierString(pstrdup(defGetString(option)), ',', &extensions))
			continue;
		foreach(name, extensions)
			if (strcmp(lfirst(name), "privpred") == 0)
				return true;
	}
	return false;
}

static double
known_rows(Oid relid)
{
	Relation relation = open_relation(relid, AccessShareLock);
	double	 rows = relation->rd_rel->reltuples;

	table_close(relation, NoLock);
	return rows <= 0 ? UNKNOWN_ROWS : rows;
}

/*
 * Do states take less than the rows, and not too much memory?  Rows that a
 * learner keeps take less room encoded and packed than as text.
 */
static bool
states_pay(const ModelRecord *model, Oid relid)
{
	const Learner *learner = model->learner;
	int			   width = model->features->width;
	double		   bytes;

	if (!learner->additive)
		return true;
	bytes =
		TEXT_PER_BYTE * sizeof(int128) *
		(learner->shared_sums(width) + (double) model->spec.nclasses * learner->class_sums(width));
	return bytes * FETCH_SIZE <= maintenance_work_mem * 1024.0 &&
		   bytes * model->spec.teachers <=
			   known_rows(relid) * (model->features->nfeatures + 2.0) * NUMBER_TEXT;
}

/*
 * Is the table to be asked for states?  On request every table is: it may look
 * like any other, and have its rows on other nodes (Citus).
 */
static bool
asks_for_states(const ModelRecord *model, Oid relid)
{
	if (train_by_states)
		return get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE;
	return get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE && server_knows_privpred(relid) &&
		   states_pay(model, relid);
}

NodeTables *
nodes_find(const ModelRecord *model)
{
	NodeTables *tables = palloc0_object(NodeTables);
	List	   *all;
	ListCell   *cell;

	/* what cannot be sent: the user's code; a row of so many columns; text made of bins */
	if (model->learner->runs_user_code || model->features->nfeatures >= FUNC_MAX_ARGS - 1 ||
		model->nbins > 0)
		return tables;
	all = find_all_inheritors(model->relid, AccessShareLock, NULL);
	foreach(cell, all)
	{
		Oid relid = lfirst_oid(cell);

		/* by itself, another owner's table may show other rows, or none */
		if (relation_owner(relid) != relation_owner(model->relid))
			return palloc0_object(NodeTables);
		if (asks_for_states(model, relid))
		{
			tables->nodes = lappend_oid(tables->nodes, relid);
			tables->rows += known_rows(relid);
		}
		else if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
			tables->others = lappend_oid(tables->others, relid);
	}
	return tables;
}

/* ---------- the query ---------- */

/* Every column that the query reads: units, label, features. */
static List *
columns_read(const ModelRecord *model, const ProtectedRelation *protected)
{
	List *columns = NIL;

	for (int i = 0; i < protected->nunits; i++)
		columns = lappend(columns, protected->unit_columns[i]);
	columns = lappend(columns, model->label);
	for (int i = 0; i < model->features->nfeatures; i++)
		columns = lappend(columns, model->features->features[i].name);
	return columns;
}

static void
append_columns(StringInfo text, List *columns, int from, int to)
{
	for (int i = from; i < to; i++)
		appendStringInfo(text, "%sr.%s", i > from ? ", " : "",
						 quote_identifier(list_nth(columns, i)));
}

/* As many calls as it takes for so many columns. */
static void
append_agreement(StringInfo text, const ModelRecord *model, List *columns)
{
	int each = FUNC_MAX_ARGS - 1;

	for (int from = 0; from < list_length(columns); from += each)
	{
		int			   to = Min(from + each, list_length(columns));
		StringInfoData expected;

		initStringInfo(&expected);
		appendStringInfoString(&expected, "[");
		escape_json(&expected, PRIVPRED_VERSION);
		appendStringInfoString(&expected, ", ");
		escape_json(&expected, GetDatabaseEncodingName());
		for (int i = from; i < to; i++)
		{
			AttrNumber attnum = get_attnum(model->relid, list_nth(columns, i));

			appendStringInfoString(&expected, ", ");
			escape_json(&expected, format_type_extended(get_atttype(model->relid, attnum), -1,
														FORMAT_TYPE_FORCE_QUALIFY));
		}
		appendStringInfoString(&expected, "]");
		appendStringInfo(text, "%sprivpred.node_agrees(%s::pg_catalog.jsonb, ",
						 from > 0 ? " AND " : "", quote_literal_cstr(expected.data));
		append_columns(text, columns, from, to);
		appendStringInfoString(text, ")");
	}
}

/*
 * A node would keep all rows of a learner that needs them, if it made one state per
 * teacher; so it makes many small ones.
 */
static int
chunks(const ModelRecord *model, Oid relid)
{
	double row_bytes = TEXT_PER_BYTE * (8.0 * model->features->width + 2);
	double rows = maintenance_work_mem * 1024.0 / 4 / FETCH_SIZE / row_bytes;
	double result;

	if (model->learner->additive)
		return 1;
	rows = Max(Min(rows, MAX_CHUNK_ROWS), 1);
	result = ceil(known_rows(relid) / rows / model->spec.teachers);
	return (int) Max(Min(result, (1 << 30) / model->spec.teachers), 1);
}

/* What follows SELECT: share, state, rows, rows used; of rows r. */
static void
append_states(StringInfo text, const ModelRecord *model, const ProtectedRelation *protected,
			  int chunks)
{
	appendStringInfo(text, "privpred.unit_share($%d, %d, ", PARAMETER_SALT,
					 model->spec.teachers * chunks);
	append_units(text, protected, ", ", ") AS h, privpred.partial_state(");
	append_class(text, model);
	/* Citus knows no polymorphic aggregates; postgres_fdw does not send this cast */
	appendStringInfoString(text, train_by_states ? "::pg_catalog.text, " : ", ");
	append_encoding(text, model->features, PARAMETER_FEATURES);
	appendStringInfo(text, ", $%d || '{\"learner\": \"%s\"}'::pg_catalog.jsonb) FILTER (WHERE ",
					 PARAMETER_OPTIONS, model->learner->name);
	append_units(text, protected, " IS NOT NULL AND ", " IS NOT NULL) AS state,");
	appendStringInfoString(text, " pg_catalog.count(*) AS n, pg_catalog.count(*) FILTER (WHERE ");
	append_class(text, model);
	appendStringInfo(text, " = ANY ($%d::%s[])) AS used FROM ", PARAMETER_CLASSES,
					 label_type_name(model));
}

/* All other tables, as one. */
static void
append_others(StringInfo text, List *others, List *columns)
{
	ListCell *cell;

	appendStringInfoString(text, "(");
	foreach(cell, others)
	{
		appendStringInfo(text, "%sSELECT ", cell == list_head(others) ? "" : " UNION ALL ");
		append_columns(text, columns, 0, list_length(columns));
		appendStringInfo(text, " FROM ONLY %s r", relation_sql_name(lfirst_oid(cell)));
	}
	appendStringInfoString(text, ") r GROUP BY 1");
}

void
append_nodes_query(TrainingQuery *query, const ModelRecord				*model,
				   const ProtectedRelation *protected, const NodeTables *tables)
{
	StringInfo text = &query->text;
	List	  *columns = columns_read(model, protected);
	ListCell  *cell;

	appendStringInfo(
		text,
		"SELECT privpred.ensemble(s.m) FILTER (WHERE s.t IS NOT NULL),"
		" pg_catalog.sum(CASE WHEN s.t IS NULL THEN s.n ELSE s.n - s.used END)::bigint"
		" FROM (SELECT u.h %% $%d AS t, privpred.finish_state(privpred.merge_states(u.state)) AS m,"
		" pg_catalog.sum(u.n) AS n, pg_catalog.sum(u.used) AS used FROM (",
		PARAMETER_TEACHERS);
	foreach(cell, tables->nodes)
	{
		appendStringInfo(text, "%sSELECT ", cell == list_head(tables->nodes) ? "" : " UNION ALL ");
		append_states(text, model, protected, chunks(model, lfirst_oid(cell)));
		appendStringInfo(text, "ONLY %s r WHERE ", relation_sql_name(lfirst_oid(cell)));
		append_agreement(text, model, columns);
		appendStringInfoString(text, " GROUP BY 1");
	}
	if (tables->others != NIL)
	{
		appendStringInfoString(text, " UNION ALL SELECT ");
		append_states(text, model, protected, 1);
		append_others(text, tables->others, columns);
	}
	appendStringInfoString(text, ") u GROUP BY 1) s");
}

void
nodes_init(void)
{
	DefineCustomBoolVariable(
		"privpred.train_by_states",
		"Whether teachers are trained by way of training states wherever their rows are.",
		"For tables that another extension distributes; it changes no model.", &train_by_states,
		false, PGC_USERSET, 0, NULL, NULL, NULL);
}
