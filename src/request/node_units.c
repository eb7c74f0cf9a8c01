/*
 * node_units.c
 *		Sums over units whose rows lie on foreign servers that know privpred.
 *
 * postgres_fdw sends an aggregate over one table, with an order, but nothing grouped below it: so
 * each table is asked for the sums of its rows in the order of their units.  That takes all rows of
 * a unit to be of one table.  They are if the columns that choose a partition are
 * the unit's; but nothing makes a foreign table keep to its bounds, so the query checks each row.
 *
 * As in nodes.c the query is made to be sent as it is, and means the same if it is not.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "catalog/store.h"
#include "request/train.h"

/* ---------- does the unit decide the table? ---------- */

/* Is what is equal as a unit equal as a key?  Servers may order strings differently. */
static bool
key_column_is_of_unit(const PartitionKeyData *key, int i, Oid parent,
					  const ProtectedRelation *protected)
{
	Oid am = key->strategy == PARTITION_STRATEGY_HASH ? HASH_AM_OID : BTREE_AM_OID;
	Oid opclass = GetDefaultOpClass(key->parttypid[i], am);

	return key->partattrs[i] != 0 &&
		   is_unit_column(protected, get_attname(parent, key->partattrs[i], false)) &&
		   key->partcollation[i] == key->parttypcoll[i] &&
		   (key->strategy != PARTITION_STRATEGY_RANGE || !OidIsValid(key->parttypcoll[i])) &&
		   OidIsValid(opclass) && get_opclass_family(opclass) == key->partopfamily[i];
}

/* Is the partition decided by the unit, among those of its parent, and that one's, and so on? */
static bool
unit_decides_table(Oid relid, Oid root, const ProtectedRelation *protected)
{
	bool result = true;

	while (result && relid != root)
	{
		Oid			 parent;
		Relation	 relation;
		PartitionKey key;

		if (!get_rel_relispartition(relid))
			return false;
		parent = get_partition_parent(relid, true);
		relation = table_open(parent, AccessShareLock);
		key = RelationGetPartitionKey(relation);
		for (int i = 0; i < key->partnatts; i++)
			result = result && key_column_is_of_unit(key, i, parent, protected);
		table_close(relation, NoLock);
		relid = parent;
	}
	return result;
}

/* Will postgres_fdw send the query?  Otherwise rows would be fetched again for each pass. */
static bool
query_is_sent(const ModelRecord *model, const ProtectedRelation *protected)
{
	ListCell *cell;

	foreach(cell, columns_read(model, protected))
		if (get_atttype(model->relid, get_attnum(model->relid, lfirst(cell))) >=
			FirstGenbkiObjectId)
			return false;
	/* Labels in bins or numbers take a CASE. */
	return PG_VERSION_NUM >= 150000 || (model->spec.nclasses > 0 && model->nbins == 0);
}

List *
node_tables_of_units(const ModelRecord *model, const ProtectedRelation *protected)
{
	List	 *tables = NIL;
	bool	  foreign = false;
	ListCell *cell;

	/* A partition has bounds of tables above it, which nobody has looked at. */
	if (model->made_up_rows != NULL || get_rel_relkind(model->relid) == RELKIND_VIEW ||
		get_rel_relispartition(model->relid) || !query_is_sent(model, protected))
		return NIL;
	foreach(cell, find_all_inheritors(model->relid, AccessShareLock, NULL))
	{
		Oid	 relid = lfirst_oid(cell);
		char kind = get_rel_relkind(relid);

		if (kind == RELKIND_PARTITIONED_TABLE)
			continue;
		/* A table of another owner, read by itself, may show other rows, or none. */
		if (relation_owner(relid) != relation_owner(model->relid) ||
			!unit_decides_table(relid, model->relid, protected) ||
			(kind == RELKIND_FOREIGN_TABLE && !server_can_be_asked(model, relid)))
			return NIL;
		foreign = foreign || kind == RELKIND_FOREIGN_TABLE;
		tables = lappend_oid(tables, relid);
	}
	return foreign ? tables : NIL;
}

/* ---------- does a row lie where it belongs? ---------- */

/* On another server the partitioned table is not known. */
static Node *
without_parent(Node *node, void *context)
{
	FuncExpr *call;

	if (node == NULL)
		return NULL;
	if (!IsA(node, FuncExpr) || castNode(FuncExpr, node)->funcid != F_SATISFIES_HASH_PARTITION)
		return expression_tree_mutator(node, without_parent, context);
	call = copyObject(castNode(FuncExpr, node));
	call->funcid = *(Oid *) context;
	call->args = list_delete_first(call->args);
	return (Node *) call;
}

/*
 * A condition on row r that is true, or raises 23514.  Rows of no unit may lie anywhere; but from
 * 17 on the planner believes NOT NULL of a foreign table, and such rows are refused, too.
 */
static char *
belongs_sql(Oid relid, const ProtectedRelation *protected)
{
	static const Oid argument_types[] = {INT4OID, INT4OID, ANYOID};
	List *name = list_make2(makeString(PRIVPRED_SCHEMA), makeString("hash_partition_has"));
	Oid	  function = LookupFuncName(name, lengthof(argument_types), argument_types, false);
	Expr *bound = get_partition_qual_relid(relid);
	char *condition;
	int	  guc_level;

	if (bound == NULL)
		return pstrdup("TRUE");
	/* In other styles a time zone may be read as another one. */
	guc_level = NewGUCNestLevel();
	session_set("DateStyle", "ISO, YMD");
	condition = deparse_expression(without_parent((Node *) bound, &function),
								   deparse_context_for("r", relid), true, false);
	AtEOXact_GUC(true, guc_level);
	return psprintf("privpred.belongs_here(%s OR %s IS NULL)", condition,
					units_sql(protected, " IS NULL OR "));
}

/* ---------- the query ---------- */

static void
append_sums(StringInfo text, const ModelRecord *model, const ProtectedRelation *protected,
			Oid relid)
{
	appendStringInfo(
		text,
		"%sSELECT privpred.sum_sorted_units($%d, (%s)::pg_catalog.float8, %s, %s ORDER BY %s) AS s"
		" FROM ONLY %s r WHERE %s",
		text->data[text->len - 1] == '(' ? "" : " UNION ALL ", PARAMETER_SUMS,
		label_number_sql(model), encoding_sql(model->features, PARAMETER_FEATURES),
		units_sql(protected, ", "), units_sql(protected, ", "), relation_sql_name(relid),
		trains_by_sql(model, protected, psprintf("$%d", PARAMETER_HOLDOUT_SALT)));
	if (model->mechanism->labels_only)
		appendStringInfo(text, " AND %s IS NOT NULL", units_sql(protected, " IS NOT NULL AND "));
	if (get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE)
		appendStringInfo(text, " AND %s AND %s", agreement_sql(model, protected),
						 belongs_sql(relid, protected));
}

char *
node_sums_sql(const ModelRecord *model, const ProtectedRelation *protected, const List *tables)
{
	StringInfoData	text;
	const ListCell *cell;

	initStringInfo(&text);
	appendStringInfoString(&text, "SELECT privpred.merge_sums(p.s) FROM (");
	foreach(cell, tables)
		append_sums(&text, model, protected, lfirst_oid(cell));
	appendStringInfoString(&text, ") p");
	return text.data;
}
