/*
 * plan_rows.c
 *		How many rows a relation has, as the planner sees it: see plan_calls.h.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/float.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "server/plan_calls.h"
#include "server/privpred.h"

/* The planner takes a table that was never analyzed for one of that many pages at least. */
#define INVENTED_PAGES 10

bool
plan_relation_is_guess(const PlannedStmt *statement, Index relation)
{
	RangeTblEntry *entry = rt_fetch(relation, statement->rtable);
	HeapTuple	   tuple;
	Relation	   opened;
	bool		   guess;

	if (entry->rtekind != RTE_RELATION)
		return false;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(entry->relid));
	if (!HeapTupleIsValid(tuple))
		return true;
	guess = ((Form_pg_class) GETSTRUCT(tuple))->reltuples < 0;
	ReleaseSysCache(tuple);
	if (!guess || !RELKIND_HAS_STORAGE(entry->relkind))
		return guess;
	opened = table_open(entry->relid, NoLock);
	guess = RelationGetNumberOfBlocks(opened) < INVENTED_PAGES;
	table_close(opened, NoLock);
	return guess;
}

/* Nobody has counted its rows.  Wide ones are stored elsewhere, so that a page holds a few. */
double
plan_relation_sure_share(const PlannedStmt *statement, Index relation)
{
	RangeTblEntry *entry = rt_fetch(relation, statement->rtable);
	Relation	   opened;
	BlockNumber	   pages = 0;
	double		   tuples = 0;
	double		   visible;

	if (entry->rtekind != RTE_RELATION || !RELKIND_HAS_TABLE_AM(entry->relkind))
		return 1;
	opened = table_open(entry->relid, NoLock);
	if (opened->rd_rel->reltuples < 0)
		estimate_rel_size(opened, NULL, &pages, &tuples, &visible);
	table_close(opened, NoLock);
	return tuples > 0 ? Min(1, TOAST_TUPLES_PER_PAGE * (double) pages / tuples) : 1;
}

bool
plan_column_has_statistics(const PlannedStmt *statement, Index relation, AttrNumber column)
{
	Oid relid = rt_fetch(relation, statement->rtable)->relid;

	return SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(column),
								 BoolGetDatum(false)) ||
		   SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(column),
								 BoolGetDatum(true));
}

double
plan_column_values(const PlannedStmt *statement, Index relation, AttrNumber column)
{
	Oid		  relid = rt_fetch(relation, statement->rtable)->relid;
	HeapTuple tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(column),
									  BoolGetDatum(false));
	double	  values = 0;

	if (HeapTupleIsValid(tuple))
	{
		values = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
		ReleaseSysCache(tuple);
	}
	/* A negative number is a multiple of the rows. */
	if (values < 0)
		values *= -plan_relation_rows(statement, relation, NIL);
	return values > 0 ? values + 1 : get_float8_infinity();
}

/* A planner's view of one relation, as CLUSTER and CREATE INDEX make it. */
static PlannerInfo *
plan_for_relation(const PlannedStmt *statement, Index relation)
{
	RangeTblEntry *entry = copyObject(rt_fetch(relation, statement->rtable));
	PlannerInfo	  *root = makeNode(PlannerInfo);
	Query		  *query = makeNode(Query);

	query->commandType = CMD_SELECT;
	query->rtable = list_copy(statement->rtable);
	list_nth_cell(query->rtable, relation - 1)->ptr_value = entry;
	entry->inh = false;
	ADD_PERMISSION_INFO(query, entry);
	root->parse = query;
	root->glob = makeNode(PlannerGlobal);
	root->query_level = 1;
	root->planner_cxt = CurrentMemoryContext;
	root->wt_param_id = -1;
	setup_simple_rel_arrays(root);
	(void) build_simple_rel(root, relation, NULL);
	return root;
}

double
plan_relation_rows(const PlannedStmt *statement, Index relation, List *conditions)
{
	Relation	 opened;
	PlannerInfo *root;
	BlockNumber	 pages;
	double		 tuples;
	double		 visible;

	opened = table_open(rt_fetch(relation, statement->rtable)->relid, NoLock);
	estimate_rel_size(opened, NULL, &pages, &tuples, &visible);
	table_close(opened, NoLock);
	if (conditions == NIL)
		return tuples;
	root = plan_for_relation(statement, relation);
	return tuples * clauselist_selectivity(root, conditions, 0, JOIN_INNER, NULL);
}
