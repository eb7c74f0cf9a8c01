/*
 * spread.c
 *		Teachers that keep rows, from a table that Citus spreads over nodes.
 *
 * The rows of a teacher lie on all nodes.  Each node encodes its own; Citus then moves
 * them, from node to node, to where their teacher is fitted, and the coordinator gets
 * fitted teachers alone.
 *
 * Rows that are moved are as sensitive as the table.  They lie in a table of the same
 * owner, which is made and dropped by the transaction that trains: nobody else ever
 * sees it or its shards, whatever rights new tables are given, and an error, a cancel,
 * a lost connection and a crash of any node take it back with everything else.  It is
 * unlogged, so that recovery from a crash empties what files are left of it.  Files of rows
 * under way are Citus's, which removes them when the transaction ends, or the server starts.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "catalog/store.h"
#include "request/train.h"
#include "server/citus.h"
#include "server/compat.h"

/* Instead of a teacher's number: rows of nobody, which Citus must put somewhere, too. */
#define NOBODY -1

/* ---------- what nodes must not log ---------- */

/*
 * Citus writes parameters into the text of a query for many shards, and a node that fails
 * logs the text.  What a CTE returns is sent like rows.
 */
char *
secrets_sql(void)
{
	static const int parameters[] = {PARAMETER_SALT, PARAMETER_HOLDOUT_SALT, PARAMETER_KNOWN};
	StringInfoData	 columns;

	initStringInfo(&columns);
	for (int i = 0; i < lengthof(parameters); i++)
		appendStringInfo(&columns, "%s$%d AS p%d", i > 0 ? ", " : "", parameters[i], parameters[i]);
	return psprintf("WITH secrets AS MATERIALIZED (SELECT %s) ", columns.data);
}

char *
secret_sql(TrainingParameter parameter)
{
	return psprintf("(SELECT secrets.p%d FROM secrets)", parameter);
}

/* ---------- the rows' table ---------- */

/* The tables to move rows from; NIL: rows stay where they are. */
static List *
tables_to_move(const ModelRecord *model)
{
	Oid		  owner = relation_owner(model->relid);
	List	 *tables = NIL;
	ListCell *cell;

	/*
	 * Sums need not be moved, the user's code runs here, an audit has rows of its own, and labels
	 * that are numbers have no column there.
	 */
	if (model->learner->additive || model->spec.nclasses == 0 || model->learner->runs_user_code ||
		model->made_up_rows != NULL || !citus_spreads(model->relid) ||
		schema_aclcheck(get_rel_namespace(model->relid), owner, ACL_CREATE) != ACLCHECK_OK)
		return NIL;
	foreach(cell, find_all_inheritors(model->relid, AccessShareLock, NULL))
	{
		Oid relid = lfirst_oid(cell);

		/* A table of another owner, read by itself, may show other rows, or none. */
		if (relation_owner(relid) != owner || !citus_spreads(relid))
			return NIL;
		if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
			tables = lappend_oid(tables, relid);
	}
	return tables;
}

/* A name in the schema of the model's relation that no table has. */
static char *
free_name(const ModelRecord *model)
{
	Oid	  schema = get_rel_namespace(model->relid);
	char *name;
	int	  number = 0;

	do
		name = psprintf("privpred_rows_%d_%d", MyProcPid, number++);
	while (OidIsValid(get_relname_relid(name, schema)));
	return quote_qualified_identifier(get_namespace_name(schema), name);
}

/* Classes are compared as the label's column compares them. */
static char *
class_column_sql(const ModelRecord *model)
{
	Oid	  type;
	int32 typmod;
	Oid	  collation;

	get_atttypetypmodcoll(model->relid, get_attnum(model->relid, model->label), &type, &typmod,
						  &collation);
	if (model->nbins > 0 || !OidIsValid(collation) || collation == DEFAULT_COLLATION_OID)
		return pstrdup(class_type_name(model));
	return psprintf("%s COLLATE %s", class_type_name(model), generate_collation_name(collation));
}

static void
run(const char *sql)
{
	query_run(NULL, sql, false, 0, 0, NULL);
}

static void
create_table(const ModelRecord *model, const char *name)
{
	const char *shards = GetConfigOption("citus.shard_count", true, false);

	run(psprintf("CREATE UNLOGGED TABLE %s (t pg_catalog.int4 NOT NULL, y %s,"
				 " x pg_catalog.float8[]) USING heap",
				 name, class_column_sql(model)));
	run(psprintf("SELECT pg_catalog.create_distributed_table(%s, 't', colocate_with => 'none',"
				 " shard_count => %d)",
				 quote_literal_cstr(name),
				 Max(Min(shards ? atoi(shards) : 1, model->spec.teachers), 1)));
}

static void
move_rows(const TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected,
		  Oid relid, const char *name)
{
	const char *secret = secret_sql(PARAMETER_HOLDOUT_SALT);
	const char *sql =
		psprintf("INSERT INTO %s (t, y, x) %sSELECT COALESCE(privpred.unit_share(%s, %d, %s), %d),"
				 " %s, %s FROM ONLY %s r WHERE %s AND %s",
				 name, secrets_sql(), secret_sql(PARAMETER_SALT), model->spec.teachers,
				 units_sql(protected, ", "), NOBODY, class_sql(model),
				 encoding_sql(model->features, PARAMETER_FEATURES), relation_sql_name(relid),
				 agreement_sql(model, protected), trains_by_sql(model, protected, secret));

	query_run(NULL, sql, false, 0, TRAINING_PARAMETERS, query->arguments);
}

char *
spread_rows(TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected)
{
	List	 *tables = tables_to_move(model);
	char	 *name;
	ListCell *cell;

	if (tables == NIL)
		return NULL;
	name = free_name(model);
	create_table(model, name);
	foreach(cell, tables)
		move_rows(query, model, protected, lfirst_oid(cell), name);
	return name;
}

/*
 * All rows of a teacher are in one shard, so that Citus leaves the whole of it to the
 * node.  Rows in order let the node fit one teacher after the other: all of them may not
 * fit into its memory.
 */
void
append_spread_query(TrainingQuery *query, const ModelRecord *model, const char *name)
{
	appendStringInfo(
		&query->text,
		"%sSELECT NULLIF(q.t, %d), privpred.teach(q.y, q.x, %s, $%d, %s) FILTER (WHERE q.t <> %d),"
		" pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE q.t = %d OR (q.y = ANY"
		" ($%d::%s[])) IS NOT TRUE) FROM (SELECT t, y, x FROM %s ORDER BY t) q GROUP BY q.t",
		secrets_sql(), NOBODY, quote_literal_cstr(model->learner->name), PARAMETER_OPTIONS,
		secret_sql(PARAMETER_KNOWN), NOBODY, NOBODY, PARAMETER_CLASSES, class_type_name(model),
		name);
}

void
spread_rows_end(const char *name)
{
	run(psprintf("DROP TABLE %s", name));
}
