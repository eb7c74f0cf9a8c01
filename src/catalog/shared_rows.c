/*
 * shared_rows.c
 *		Which relations may have rows of a protected one: the one rule for which
 *		relations are public, and which may be protected beside each other.
 *
 * A relation is read together with its partitions and children and, if it is a
 * view, with the relations in its query, and so on down.  Protected rows must not
 * decide which rows are public, so there the tables of a policy count, too.  What
 * is read may be part of other tables: its parents, and theirs.  If any of all
 * these is protected, rows may be shared.  Two children of one parent share none,
 * so from parents we do not go down again.
 *
 * A view's query is examined as it is stored.  We cannot see what a function in it
 * reads, so a view that calls one is public only if the function is the server's
 * own and known to read nothing.  Nor can we know what is behind a foreign table,
 * or which table is a copy of another.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/prs2lock.h"
#include "rewrite/rowsecurity.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "catalog/relations.h"
#include "server/citus.h"
#include "server/privpred.h"
#include "server/query.h"
#include "server/session.h"

/* What is read with a relation. */
typedef struct RowSources
{
	List *relids;	/* itself first */
	bool  policies; /* some of them decide which rows are read */
	Oid	  opaque;	/* a function that may read anything, or invalid */
} RowSources;

/* How a protected relation's rows come into another, the plainest first. */
typedef enum Sharing
{
	SHARES_NOTHING,
	SHARES_ITSELF,
	SHARES_AS_PART,	   /* of the protected one */
	SHARES_BY_READING, /* the protected one, as a child or through a view */
	SHARES_SOME		   /* both have a child in common, or read a part of it */
} Sharing;

/* ---------- functions inside views ---------- */

/* Values that can hold neither the name of a relation nor a query's result. */
static bool
is_plain_type(Oid type)
{
	static const Oid plain[] = {
		BOOLOID,	INT2OID,	   INT4OID,		   INT8OID,		   FLOAT4OID,	FLOAT8OID,
		NUMERICOID, TEXTOID,	   CSTRINGOID,	   VARCHAROID,	   BPCHAROID,	DATEOID,
		TIMEOID,	TIMETZOID,	   TIMESTAMPOID,   TIMESTAMPTZOID, INTERVALOID, UUIDOID,
		ANYOID,		ANYELEMENTOID, ANYNONARRAYOID,
	};

	for (int i = 0; i < lengthof(plain); i++)
		if (type == plain[i])
			return true;
	return false;
}

/*
 * A stable function of plain values reads settings and the clock at most, unless it
 * is one of those named pg_..., which look at the system.
 */
static bool
is_plain_function(Form_pg_proc function)
{
	if (function->provolatile != PROVOLATILE_STABLE || function->proretset ||
		!is_plain_type(function->prorettype) || strncmp(NameStr(function->proname), "pg_", 3) == 0)
		return false;
	for (int i = 0; i < function->pronargs; i++)
		if (!is_plain_type(function->proargtypes.values[i]))
			return false;
	return true;
}

/* The volatile functions with which samples and made-up rows are made. */
static bool
is_random(Form_pg_proc function)
{
	return strcmp(NameStr(function->proname), "random") == 0 ||
		   strcmp(NameStr(function->proname), "gen_random_uuid") == 0 ||
		   strcmp(NameStr(function->proname), "clock_timestamp") == 0;
}

/* For check_functions_in_node(): true stops the walk. */
static bool
is_opaque(Oid function, void *argument)
{
	RowSources	*sources = argument;
	HeapTuple	 tuple;
	Form_pg_proc form;
	bool		 clear = false;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (HeapTupleIsValid(tuple))
	{
		form = (Form_pg_proc) GETSTRUCT(tuple);
		/* Functions that others have declared immutable need not be so. */
		clear = function < FirstNormalObjectId && (form->provolatile == PROVOLATILE_IMMUTABLE ||
												   is_plain_function(form) || is_random(form));
		ReleaseSysCache(tuple);
	}
	if (!clear)
		sources->opaque = function;
	return !clear;
}

/* ---------- what is read ---------- */

static bool
add_sources_of_node(Node *node, RowSources *sources)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *entry = (RangeTblEntry *) node;

		if (entry->rtekind == RTE_RELATION)
			sources->relids = list_append_unique_oid(sources->relids, entry->relid);
		return false; /* what is inside it comes next */
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, add_sources_of_node, sources,
								 QTW_EXAMINE_RTES_BEFORE);
	if (IsA(node, TableSampleClause) &&
		((TableSampleClause *) node)->tsmhandler >= FirstNormalObjectId)
	{
		sources->opaque = ((TableSampleClause *) node)->tsmhandler;
		return true;
	}
	if (check_functions_in_node(node, is_opaque, sources))
		return true;
	return expression_tree_walker(node, add_sources_of_node, sources);
}

/* A view's query: its rule for SELECT. */
static void
add_sources_of_view(Relation view, RowSources *sources)
{
	for (int i = 0; view->rd_rules != NULL && i < view->rd_rules->numLocks; i++)
		if (view->rd_rules->rules[i]->event == CMD_SELECT)
			(void) add_sources_of_node((Node *) view->rd_rules->rules[i]->actions, sources);
}

/*
 * Policies for SELECT.  Behind a view they may apply to its owner, so only a
 * relation that is named itself is known to be read without them.
 */
static void
add_sources_of_policies(Relation relation, bool named, RowSources *sources)
{
	ListCell *cell;

	if (relation->rd_rsdesc == NULL ||
		(named && check_enable_rls(RelationGetRelid(relation), InvalidOid, true) != RLS_ENABLED))
		return;
	sources->policies = true;
	foreach(cell, relation->rd_rsdesc->policies)
	{
		RowSecurityPolicy *policy = lfirst(cell);

		if ((policy->polcmd == '*' || policy->polcmd == ACL_SELECT_CHR) &&
			add_sources_of_node((Node *) policy->qual, sources))
			return;
	}
}

/* Partitions and children, those that are being detached as well. */
static void
add_children(Oid relid, RowSources *sources)
{
	sources->relids = list_concat_unique_oid(
		sources->relids,
		find_inheritance_children_extended(relid, false, AccessShareLock, NULL, NULL));
}

/*
 * Each source is locked, so that none becomes a part of anything else before the
 * transaction ends.
 */
static RowSources
find_sources(Oid relid, bool with_policies)
{
	RowSources sources = {.relids = list_make1_oid(relid)};

	for (int i = 0; i < list_length(sources.relids); i++)
	{
		Oid		 source = list_nth_oid(sources.relids, i);
		Relation relation = relation_open(source, AccessShareLock);
		char	 kind = relation->rd_rel->relkind;

		CHECK_FOR_INTERRUPTS();
		if (kind == RELKIND_VIEW || kind == RELKIND_MATVIEW)
			add_sources_of_view(relation, &sources);
		else
			add_children(source, &sources);
		if (with_policies)
			add_sources_of_policies(relation, i == 0, &sources);
		relation_close(relation, NoLock);
		if (OidIsValid(sources.opaque))
			break;
	}
	return sources;
}

/* ---------- what is protected ---------- */

static Datum
oid_array(const List *oids)
{
	Datum	 *elements = palloc_array(Datum, list_length(oids));
	ListCell *cell;
	int		  count = 0;

	foreach(cell, oids)
		elements[count++] = ObjectIdGetDatum(lfirst_oid(cell));
	return PointerGetDatum(
		construct_array(elements, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

/* A protected relation, other than besides, that shares rows with one that reads these. */
static Sharing
find_protected(Oid relid, const RowSources *sources, Oid besides, Oid *protected)
{
	CatalogSession session;
	Sharing		   result = SHARES_NOTHING;

	catalog_begin(&session);
	query_read("WITH RECURSIVE up(relid, own) AS (SELECT s, s = $1 FROM pg_catalog.unnest($2) s"
			   " UNION SELECT i.inhparent, u.own"
			   " FROM pg_catalog.pg_inherits i JOIN up u ON i.inhrelid = u.relid)"
			   " SELECT p.relation::pg_catalog.oid, CASE WHEN p.relation = $1 THEN $4"
			   " WHEN p.relation IN (SELECT u.relid FROM up u WHERE u.own) THEN $5"
			   " WHEN p.relation = ANY ($2) THEN $6 ELSE $7 END"
			   " FROM privpred.protected_relation p WHERE p.active AND p.relation <> $3"
			   " AND p.relation IN (SELECT u.relid FROM up u) ORDER BY 2, 1 LIMIT 1",
			   ARG_OID(relid), ARG(OIDARRAYOID, oid_array(sources->relids)), ARG_OID(besides),
			   ARG_INT4(SHARES_ITSELF), ARG_INT4(SHARES_AS_PART), ARG_INT4(SHARES_BY_READING),
			   ARG_INT4(SHARES_SOME));
	if (SPI_processed > 0)
	{
		*protected = row_oid(0, 1);
		result = (Sharing) row_int4(0, 2);
	}
	catalog_end(&session);
	return result;
}

static const char *
what_it_is(Oid relid)
{
	char kind = get_rel_relkind(relid);

	return kind == RELKIND_VIEW || kind == RELKIND_MATVIEW ? "view" : "relation";
}

static char *
sharing_in_words(Oid relid, const RowSources *sources, Sharing sharing, Oid protected)
{
	const char *name = get_rel_name(relid);
	const char *other = get_rel_name(protected);
	const char *what = what_it_is(relid);

	switch (sharing)
	{
		case SHARES_NOTHING:
			break;
		case SHARES_ITSELF:
			return psprintf("relation \"%s\" is protected", name);
		case SHARES_AS_PART:
			return psprintf("relation \"%s\" is part of \"%s\", which is protected", name, other);
		case SHARES_BY_READING:
			return psprintf(what[0] == 'v' || sources->policies
								? "%s \"%s\" reads \"%s\", which is protected"
								: "%s \"%s\" contains \"%s\", which is protected by itself",
							what, name, other);
		case SHARES_SOME:
			return psprintf("%s \"%s\" shares rows with \"%s\", which is protected", what, name,
							other);
	}
	return NULL;
}

/* ---------- the rules ---------- */

/* The server's catalogs hold statistics of all tables, and our own tables hold models. */
static void
check_source(Oid relid, Oid source, const char *detail)
{
	char kind = get_rel_relkind(source);

	if (source >= FirstNormalObjectId &&
		get_rel_namespace(source) != get_namespace_oid(PRIVPRED_SCHEMA, false) &&
		(kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE ||
		 kind == RELKIND_FOREIGN_TABLE || kind == RELKIND_VIEW || kind == RELKIND_MATVIEW) &&
		!citus_pays_elsewhere(source))
		return;
	refuse(source == relid
			   ? errmsg("relation \"%s\" cannot be taken for public", get_rel_name(relid))
			   : errmsg("%s \"%s\" reads \"%s\", which cannot be taken for public",
						what_it_is(relid), get_rel_name(relid), get_rel_name(source)),
		   errdetail("%s", detail),
		   errhint("Name a table or view of public rows, and of nothing else."));
}

void
check_public_rows(Oid relid, const char *detail)
{
	RowSources sources = find_sources(relid, true);
	Oid protected = InvalidOid;
	Sharing	  sharing;
	ListCell *cell;

	sharing = find_protected(relid, &sources, InvalidOid, &protected);
	if (sharing != SHARES_NOTHING)
		refuse(errmsg("%s", sharing_in_words(relid, &sources, sharing, protected)),
			   errdetail("%s", detail),
			   errhint("Name a table without protected rows, such as one of synthetic rows."));
	foreach(cell, sources.relids)
		check_source(relid, lfirst_oid(cell), detail);
	if (OidIsValid(sources.opaque))
		refuse(errmsg("%s \"%s\" calls %s, which may read anything", what_it_is(relid),
					  get_rel_name(relid), format_procedure_qualified(sources.opaque)),
			   errdetail("%s", detail),
			   errhint("If its rows are public, copy them into a table and name that."));
}

Oid
public_relation(const char *subject, const char *detail, const char *name)
{
	List *names = parse_qualified_name(name);
	Oid	  relid;

	if (list_length(names) != 2)
		refuse(errmsg("%s must name a table with its schema", subject),
			   errhint("Write \"schema.table\"."));
	relid = RangeVarGetRelid(makeRangeVarFromNameList(names), AccessShareLock, false);
	check_public_rows(relid, detail);
	return relid;
}

void
check_protected_once(Oid relid)
{
	RowSources sources;
	Oid		   other = InvalidOid;
	Sharing	   sharing;

	if (get_rel_relkind(relid) == RELKIND_VIEW)
		return; /* see view_check.c */
	check_citus_place(relid);
	sources = find_sources(relid, false);
	sharing = find_protected(relid, &sources, relid, &other);
	if (sharing != SHARES_NOTHING)
		ereport(
			ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("%s", sharing_in_words(relid, &sources, sharing, other)),
			errdetail(
				"The same rows would be paid for by two budgets that do not know of each other."),
			errhint("Protect one of the two; privpred.unprotect('%s') ends the protection of the "
					"other.",
					get_rel_name(other)));
}

bool
relations_share_rows(Oid relid, Oid other)
{
	List	 *sources = find_sources(other, false).relids;
	ListCell *cell;

	foreach(cell, find_sources(relid, false).relids)
		if (list_member_oid(sources, lfirst_oid(cell)))
			return true;
	return false;
}
