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
 * on several nodes has one teacher.  privpred.node_agrees() checks that.
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
#include "server/citus.h"

/* postgres_fdw fetches so many rows at a time, and holds them in memory as text. */
#define FETCH_SIZE 100
#define TEXT_PER_BYTE (4.0 / 3)

/* Bytes of a number as text, and rows of a table of unknown size. */
#define NUMBER_TEXT 18
#define UNKNOWN_ROWS 1e6

#define MAX_CHUNK_ROWS 1000

static bool train_by_states = false;

typedef struct NodeTables
{
	List  *nodes;  /* to be asked for states */
	List  *others; /* to be read row by row */
	bool   spread; /* is one of nodes? */
	double rows;   /* of nodes, about */
} NodeTables;

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
	double	 counted = citus_rows(relid);
	double	 rows = counted >= 0 ? counted : relation->rd_rel->reltuples;

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

/* On request every table is taken for one that another extension spreads over nodes. */
static bool
is_spread(Oid relid)
{
	return train_by_states || citus_spreads(relid);
}

bool
server_can_be_asked(const ModelRecord *model, Oid relid)
{
	return server_knows_privpred(relid) && model->features->nfeatures < FUNC_MAX_ARGS - 1;
}

/*
 * A unit is added up as a whole, so all its rows must lie on one node, or be moved there.  A view
 * may read tables of other nodes, and gets their rows.
 */
bool
rows_are_far(const ModelRecord *model, const ProtectedRelation *protected, bool one_row_each,
			 bool *apart)
{
	ListCell *cell;

	*apart = false;
	if (model->made_up_rows != NULL || get_rel_relkind(model->relid) == RELKIND_VIEW)
		return false;
	foreach(cell, find_all_inheritors(model->relid, AccessShareLock, NULL))
		if (is_spread(lfirst_oid(cell)))
		{
			*apart =
				!one_row_each && !train_by_states &&
				!citus_keeps_together(lfirst_oid(cell), protected->nunits, protected->unit_columns);
			return !*apart || units_can_move(model);
		}
	return false;
}

/* Is the table to be asked for states? */
static bool
asks_for_states(const ModelRecord *model, Oid relid)
{
	if (is_spread(relid))
		return get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE;
	/* Bins are made into text, which is not sent. */
	return get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE && model->nbins == 0 &&
		   server_can_be_asked(model, relid) && states_pay(model, relid);
}

/* The tables that a relation consists of.  Locks them. */
static NodeTables
find_tables(const ModelRecord *model)
{
	NodeTables tables = {0};
	ListCell  *cell;

	/* The user's code cannot be sent, nor can labels that are numbers. */
	if (model->learner->runs_user_code || model->spec.nclasses == 0)
		return tables;
	/* An audit has rows of its own; a view may read tables of other nodes, and gets their rows. */
	if (model->made_up_rows != NULL || get_rel_relkind(model->relid) == RELKIND_VIEW)
		return tables;
	foreach(cell, find_all_inheritors(model->relid, AccessShareLock, NULL))
	{
		Oid relid = lfirst_oid(cell);

		/* A table of another owner, read by itself, may show other rows, or none. */
		if (relation_owner(relid) != relation_owner(model->relid))
			return (NodeTables){0};
		if (asks_for_states(model, relid))
		{
			tables.nodes = lappend_oid(tables.nodes, relid);
			tables.spread = tables.spread || is_spread(relid);
			tables.rows += known_rows(relid);
		}
		else if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
			tables.others = lappend_oid(tables.others, relid);
	}
	return tables;
}

/* ---------- the query ---------- */

List *
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

/* What limits values is part of their type: a foreign table rounds what it fetches to its own. */
char *
node_type_name(Oid type, int32 typmod)
{
	return format_type_extended(
		type, typmod, FORMAT_TYPE_FORCE_QUALIFY | (typmod >= 0 ? FORMAT_TYPE_TYPEMOD_GIVEN : 0));
}

/* Calls of node_agrees(): as many as it takes for so many columns. */
char *
agreement_sql(const ModelRecord *model, const ProtectedRelation *protected)
{
	List		  *columns = columns_read(model, protected);
	int			   each = FUNC_MAX_ARGS - 1;
	StringInfoData calls;

	initStringInfo(&calls);
	for (int from = 0; from < list_length(columns); from += each)
	{
		StringInfoData expected;
		StringInfoData values;

		initStringInfo(&expected);
		initStringInfo(&values);
		appendStringInfoString(&expected, "[");
		escape_json(&expected, PRIVPRED_VERSION);
		appendStringInfoString(&expected, ", ");
		escape_json(&expected, GetDatabaseEncodingName());
		for (int i = from; i < Min(from + each, list_length(columns)); i++)
		{
			const char *column = list_nth(columns, i);
			Oid			type;
			int32		typmod;
			Oid			collation;

			get_atttypetypmodcoll(model->relid, get_attnum(model->relid, column), &type, &typmod,
								  &collation);
			appendStringInfoString(&expected, ", ");
			escape_json(&expected, node_type_name(type, typmod));
			appendStringInfo(&values, ", r.%s", quote_identifier(column));
		}
		appendStringInfoString(&expected, "]");
		appendStringInfo(&calls, "%sprivpred.node_agrees(%s::pg_catalog.jsonb%s)",
						 from > 0 ? " AND " : "", quote_literal_cstr(expected.data), values.data);
	}
	return calls.data;
}

/*
 * If a node made one state per teacher, it would keep all rows that a learner needs
 * in memory; so it makes many small states.
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

/* A parameter for the nodes of a table. */
static const char *
node_parameter(TrainingParameter parameter, bool spread)
{
	return spread ? secret_sql(parameter) : psprintf("$%d", parameter);
}

/* Selects share, state, rows and rows used from rows r, which are to follow. */
static void
append_states(StringInfo text, const ModelRecord *model, const ProtectedRelation *protected,
			  int chunks, bool spread)
{
	appendStringInfo(
		text,
		"%sSELECT privpred.unit_share(%s, %d, %s) AS h,"
		" privpred.partial_state(%s%s, %s, $%d || '{\"learner\": \"%s\"}'::pg_catalog.jsonb)"
		" FILTER (WHERE %s IS NOT NULL) AS state, pg_catalog.count(*) AS n,"
		" pg_catalog.count(*) FILTER (WHERE %s = ANY ($%d::%s[])) AS used FROM ",
		text->data[text->len - 1] == '(' ? "" : " UNION ALL ",
		node_parameter(PARAMETER_SALT, spread), model->spec.teachers * chunks,
		units_sql(protected, ", "), class_sql(model),
		/* Citus knows no polymorphic aggregates; postgres_fdw does not send this cast */
		spread ? "::pg_catalog.text" : "", encoding_sql(model->features, PARAMETER_FEATURES),
		PARAMETER_OPTIONS, model->learner->name, units_sql(protected, " IS NOT NULL AND "),
		class_sql(model), PARAMETER_CLASSES, class_type_name(model));
}

/* Condition on row r: it trains, all teachers or the one that is asked for. */
static char *
node_trains_sql(const ModelRecord *model, const ProtectedRelation *protected, bool one_teacher,
				bool spread)
{
	char *trains = trains_by_sql(model, protected, node_parameter(PARAMETER_HOLDOUT_SALT, spread));

	if (!one_teacher)
		return trains;
	return psprintf("%s AND privpred.unit_share(%s, $%d, %s) = $%d", trains,
					node_parameter(PARAMETER_SALT, spread), PARAMETER_TEACHERS,
					units_sql(protected, ", "), PARAMETER_TEACHER);
}

/* All other tables, as one. */
static char *
others_sql(List *others, List *columns)
{
	StringInfoData tables;
	StringInfoData names;
	ListCell	  *cell;

	initStringInfo(&tables);
	initStringInfo(&names);
	foreach(cell, columns)
		appendStringInfo(&names, "%sr.%s", names.len > 0 ? ", " : "",
						 quote_identifier(lfirst(cell)));
	foreach(cell, others)
		appendStringInfo(&tables, "%sSELECT %s FROM ONLY %s r", tables.len > 0 ? " UNION ALL " : "",
						 names.data, relation_sql_name(lfirst_oid(cell)));
	return tables.data;
}

bool
append_nodes_query(TrainingQuery *query, const ModelRecord *model,
				   const ProtectedRelation *protected, bool one_teacher, double *rows)
{
	StringInfo text = &query->text;
	NodeTables tables = find_tables(model);
	ListCell  *cell;

	if (tables.nodes == NIL)
		return false;
	*rows = Max(*rows, tables.rows);
	appendStringInfo(
		text,
		"%sSELECT s.t, s.m, s.n, CASE WHEN s.t IS NULL THEN s.n ELSE s.n - s.used END FROM"
		" (SELECT u.h %% $%d AS t, privpred.teach_state(privpred.merge_states(u.state), $%d) AS m,"
		" pg_catalog.sum(u.n)::bigint AS n, pg_catalog.sum(u.used)::bigint AS used FROM (",
		tables.spread ? training_secrets_sql() : "", PARAMETER_TEACHERS, PARAMETER_KNOWN);
	foreach(cell, tables.nodes)
	{
		bool spread = is_spread(lfirst_oid(cell));

		append_states(text, model, protected, chunks(model, lfirst_oid(cell)), spread);
		appendStringInfo(text, "ONLY %s r WHERE %s AND %s GROUP BY 1",
						 relation_sql_name(lfirst_oid(cell)), agreement_sql(model, protected),
						 node_trains_sql(model, protected, one_teacher, spread));
	}
	if (tables.others != NIL)
	{
		append_states(text, model, protected, 1, tables.spread);
		appendStringInfo(text, "(%s) r WHERE %s GROUP BY 1",
						 others_sql(tables.others, columns_read(model, protected)),
						 node_trains_sql(model, protected, one_teacher, tables.spread));
	}
	appendStringInfoString(text, ") u GROUP BY 1) s");
	return true;
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
