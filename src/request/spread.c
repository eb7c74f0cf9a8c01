/*
 * spread.c
 *		Rows of a table that Citus spreads over nodes, moved to where they are needed.
 *
 * The rows of a teacher lie on all nodes, and those of a unit may.  Each node encodes its own;
 * Citus then moves them, from node to node, to where their teacher is fitted, or their unit
 * is added up, and the coordinator gets fitted teachers, or sums, alone.
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

/* Units are moved by this much of their hash. */
#define UNIT_SHARES (1 << 30)

/*
 * What goes to the coordinator, about: a number of a row; a sum of a state, and what stands before
 * its sums; one of very many sums of units, which are counts.  Sums are text on their way, a digit
 * for six bits.
 */
#define NUMBER_BYTES 12
#define SUM_BYTES 8
#define STATE_HEADER_BYTES 200
#define COUNT_BYTES 0.75
#define TEXT_PER_BYTE (4.0 / 3)

/* Of the rows; and so few bytes that nothing is worth being done about them. */
#define SMALL_SHARE 0.01
#define SMALL_BYTES (1024.0 * 1024)

/* ---------- what nodes must not log ---------- */

/*
 * Citus writes parameters into the text of a query for many shards, and a node that fails
 * logs the text.  What a CTE returns is sent like rows, if Citus runs it here: a query that
 * one shard can answer goes there whole, with its CTEs and parameters, unless one of them
 * reads a table that Citus does not know.
 */
char *
secrets_sql(int count, const int *parameters)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < count; i++)
		appendStringInfo(&columns, "%s$%d AS p%d", i > 0 ? ", " : "", parameters[i], parameters[i]);
	return psprintf("WITH secrets AS MATERIALIZED (SELECT %s FROM pg_catalog.pg_extension e"
					" WHERE e.extname OPERATOR(pg_catalog.=) 'privpred') ",
					columns.data);
}

char *
secret_sql(int parameter)
{
	return psprintf("(SELECT secrets.p%d FROM secrets)", parameter);
}

/* ---------- what can be moved ---------- */

/* The tables to move rows from; NIL: rows stay where they are. */
static List *
tables_to_move(const ModelRecord *model)
{
	Oid		  owner = relation_owner(model->relid);
	List	 *tables = NIL;
	ListCell *cell;

	/* An audit has rows of its own. */
	if (model->made_up_rows != NULL || !citus_spreads(model->relid) ||
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

/* ---------- does it pay? ---------- */

/* Bytes of the rows, about, as the coordinator would get them. */
static double
bytes_of_rows(const ModelRecord *model)
{
	return citus_rows(model->relid) * (model->features->nfeatures + 2.0) * NUMBER_BYTES;
}

/*
 * The coordinator is one, however many workers there are: sums that every shard sends to it are
 * to be a small part of the rows.  Up to a point making a table costs more than they do.
 */
static double
bytes_allowed(const ModelRecord *model)
{
	return Max(SMALL_SHARE * bytes_of_rows(model), SMALL_BYTES);
}

static int
shards_of(List *tables)
{
	int		  shards = 0;
	ListCell *cell;

	foreach(cell, tables)
		shards += citus_shards(lfirst_oid(cell));
	return shards;
}

/* Do states of sums take too much, one for each teacher and shard? */
static bool
states_are_large(const ModelRecord *model, List *tables)
{
	const Learner *learner = model->learner;
	int			   width = model->features->width;
	double		   sums =
		learner->shared_sums(width) + (double) model->spec.nclasses * learner->class_sums(width);

	return TEXT_PER_BYTE * (SUM_BYTES * sums + STATE_HEADER_BYTES) * model->spec.teachers *
			   shards_of(tables) >
		   bytes_allowed(model);
}

/* ---------- the rows' table ---------- */

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
create_table(const char *name, const char *columns, const char *key, int shards)
{
	run(psprintf("CREATE UNLOGGED TABLE %s (%s) USING heap", name, columns));
	run(psprintf("SELECT pg_catalog.create_distributed_table(%s, %s, colocate_with => 'none',"
				 " shard_count => %d)",
				 quote_literal_cstr(name), quote_literal_cstr(key), shards));
}

/* As many shards as new tables get, or the most that there is use for. */
static int
shard_count(int most)
{
	const char *shards = GetConfigOption("citus.shard_count", true, false);

	return Max(Min(shards ? atoi(shards) : 1, most), 1);
}

/* Moves what is selected of row r that trains from all tables. */
static void
move_rows(const TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected,
		  List *tables, const char *name, const char *selected)
{
	const char *agrees = agreement_sql(model, protected);
	const char *trains = trains_by_sql(model, protected, secret_sql(PARAMETER_HOLDOUT_SALT));
	ListCell   *cell;

	foreach(cell, tables)
		query_run(NULL,
				  psprintf("INSERT INTO %s %sSELECT %s FROM ONLY %s r WHERE %s AND %s", name,
						   training_secrets_sql(), selected, relation_sql_name(lfirst_oid(cell)),
						   agrees, trains),
				  false, 0, TRAINING_PARAMETERS, query->arguments);
}

/* A number below the given one that the unit decides, or that of nobody. */
static char *
share_sql(const ProtectedRelation *protected, int shares)
{
	return psprintf("COALESCE(privpred.unit_share(%s, %d, %s), %d)", secret_sql(PARAMETER_SALT),
					shares, units_sql(protected, ", "), NOBODY);
}

void
spread_rows_end(const char *name)
{
	run(psprintf("DROP TABLE %s", name));
}

/* ---------- by teacher ---------- */

char *
spread_rows(TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected)
{
	List *tables;
	char *name;

	/* The user's code runs here. */
	if (model->learner->runs_user_code || (tables = tables_to_move(model)) == NIL)
		return NULL;
	/* Sums need not be moved, unless rows take hardly more; there are none of labels in numbers. */
	if (model->learner->additive && model->spec.nclasses > 0 && !states_are_large(model, tables))
		return NULL;
	name = free_name(model);
	create_table(name,
				 psprintf("t pg_catalog.int4 NOT NULL, y %s, x pg_catalog.float8[]",
						  class_column_sql(model)),
				 "t", shard_count(model->spec.teachers));
	move_rows(query, model, protected, tables, name,
			  psprintf("%s, %s, %s", share_sql(protected, model->spec.teachers), class_sql(model),
					   taught_sql(model)));
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
		" ($%d::%s[])) IS NOT TRUE) FROM (SELECT t, y, x FROM %s%s) q GROUP BY q.t",
		training_secrets_sql(), NOBODY, quote_literal_cstr(model->learner->name), PARAMETER_OPTIONS,
		secret_sql(PARAMETER_KNOWN), NOBODY, NOBODY, PARAMETER_CLASSES, class_type_name(model),
		name, model->learner->additive ? "" : " ORDER BY t");
}

/* ---------- by unit ---------- */

bool
units_can_move(const ModelRecord *model)
{
	return bytes_of_rows(model) > SMALL_BYTES && tables_to_move(model) != NIL;
}

/* So few shards that their sums are a small part of the rows; each node has as many. */
static int
shards_for_sums(double allowed, double bytes)
{
	int shards = shard_count((int) Min(allowed / bytes, INT_MAX));
	int workers = Max(citus_workers(), 1);

	return shards > workers ? shards - shards % workers : shards;
}

/* The columns u0, u1, ... with a unit's id, as its table has them. */
static char *
unit_columns_sql(const ModelRecord *model, const ProtectedRelation *protected)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < protected->nunits; i++)
	{
		Oid	  type;
		int32 typmod;
		Oid	  collation;

		get_atttypetypmodcoll(model->relid, get_attnum(model->relid, protected->unit_columns[i]),
							  &type, &typmod, &collation);
		appendStringInfo(&columns, ", u%d %s", i,
						 format_type_extended(
							 type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
		if (OidIsValid(collation) && collation != DEFAULT_COLLATION_OID)
			appendStringInfo(&columns, " COLLATE %s", generate_collation_name(collation));
	}
	return columns.data;
}

char *
spread_units(TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected,
			 const char *row, bool one_row_each, bool apart, int64 nsums)
{
	List  *tables = tables_to_move(model);
	double bytes = TEXT_PER_BYTE * COUNT_BYTES * nsums; /* of all sums, from one shard */
	double allowed = tables == NIL ? 0 : bytes_allowed(model);
	char  *name;

	if (tables == NIL || (!apart && bytes * shards_of(tables) <= allowed))
		return NULL;
	name = free_name(model);
	create_table(name,
				 psprintf("k pg_catalog.int4 NOT NULL, label pg_catalog.float8,"
						  " x pg_catalog.float8[]%s",
						  one_row_each ? "" : unit_columns_sql(model, protected)),
				 "k", shards_for_sums(allowed, bytes));
	move_rows(query, model, protected, tables, name,
			  psprintf("%s, %s%s%s", share_sql(protected, UNIT_SHARES), row,
					   one_row_each ? "" : ", ", one_row_each ? "" : units_sql(protected, ", ")));
	return name;
}
