/*
 * view_check.c
 *		Proves that a view is unit-local, from its stored query.
 *
 * Whatever the view reads is locked until the transaction ends, so that no table or
 * view changes after it was looked at.  Functions cannot be locked: whoever reads rows
 * proves the view again afterwards, and compares digests.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "catalog/view_walk.h"

/* ---------- declared public tables ---------- */

/* Before it is locked, or anything is told of it. */
static void
check_may_read(const ViewWalk *walk, Oid relid)
{
	if (pg_class_aclcheck(relid, walk->owner, ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, walk->owner, ACL_SELECT, ACLMASK_ANY) != ACLCHECK_OK)
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("permission denied for table %s", get_rel_name(relid)),
				errdetail("The owner of view \"%s\" may not read it, and cannot declare it public.",
						  get_rel_name(walk->view)),
				errhint("Its owner can grant SELECT."));
}

static void
check_publics(const ViewWalk *walk)
{
	ListCell *cell;

	foreach(cell, walk->publics)
	{
		Oid	 relid = lfirst_oid(cell);
		char kind = get_rel_relkind(relid);

		check_may_read(walk, relid);
		if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE &&
			kind != RELKIND_FOREIGN_TABLE)
			ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("public table \"%s\" of view \"%s\" is not a table",
						   get_rel_name(relid) ? get_rel_name(relid) : "?",
						   get_rel_name(walk->view)),
					errdetail("Views are looked into, and matter by the tables that they read."),
					errhint("Declare those tables."));
		check_public_rows(relid, "Tables that are declared public decide what is learnt of "
								 "every unit.");
	}
}

/* ---------- relations ---------- */

/* What decides how the relation is read, besides the query. */
static void
note_relation(ViewWalk *walk, Relation relation)
{
	appendStringInfo(walk->digest, "r%u %u %d %d %d\n", RelationGetRelid(relation),
					 relation->rd_rel->relowner, relation->rd_rel->relhassubclass,
					 relation->rd_rel->relrowsecurity, relation->rd_rel->relforcerowsecurity);
}

static void
check_owner(ViewWalk *walk, Relation relation)
{
	if (relation->rd_rel->relowner != walk->owner)
		view_refuse(
			walk, NULL, ERRCODE_INSUFFICIENT_PRIVILEGE,
			psprintf("the owner of view \"%s\" does not own relation \"%s\" under it",
					 get_rel_name(walk->view), RelationGetRelationName(relation)),
			"Only the owner of a protected table decides what is learnt from it, even where "
			"others may read it.",
			"The view and all protected tables and views under it need one owner.");
}

/* All protected tables are about the same units, and have one account. */
static void
note_protected(ViewWalk *walk, ProtectedRelation *protected)
{
	if (walk->first != NULL && walk->first->population != protected->population)
		view_refuse(walk, NULL, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					psprintf("tables \"%s\" and \"%s\" are not known to be about the same units",
							 get_rel_name(walk->first->relid), get_rel_name(protected->relid)),
					"Their budgets do not know of each other.",
					psprintf("Protect one of them with same_units_as => '%s'.",
							 get_rel_name(walk->first->relid)));
	if (walk->first == NULL)
		walk->first = protected;
}

static Finding *
protected_member(ViewWalk *walk, Relation relation, ProtectedRelation *protected,
				 bool with_children)
{
	Finding	   *finding = palloc0_object(Finding);
	const char *name = RelationGetRelationName(relation);

	check_owner(walk, relation);
	if (protected->protects_labels || protected->nunits != 1)
		view_refuse(walk, NULL, ERRCODE_FEATURE_NOT_SUPPORTED,
					psprintf("relation \"%s\" cannot be read by a protected view", name),
					protected->protects_labels
						? "Only its labels are protected, and a view may make anything of them."
						: "Its unit is several columns.",
					protected->protects_labels
						? "Protect its rows."
						: "Protect it with one column that says whose a row is.");
	check_unit_columns(protected);
	note_protected(walk, protected);
	walk->tables = list_append_unique_oid(walk->tables, protected->relid);
	finding->locality = VIEW_LOCAL;
	finding->name = name;
	finding->keys =
		bms_make_singleton(get_attnum(RelationGetRelid(relation), protected->unit_columns[0]));
	finding->single = single_columns(relation, with_children);
	return finding;
}

/* Policies decide which rows are read, by whatever they look at. */
static void
check_public_policies(ViewWalk *walk, Relation relation)
{
	if (relation->rd_rel->relrowsecurity &&
		(relation->rd_rel->relforcerowsecurity || relation->rd_rel->relowner != walk->owner))
		view_refuse(walk, NULL, ERRCODE_FEATURE_NOT_SUPPORTED,
					psprintf("relation \"%s\" has row security", RelationGetRelationName(relation)),
					"Its policies decide which rows are read, and may look at rows of anybody.",
					"Disable row security, or read a copy of the table.");
}

static Finding *
table_member(ViewWalk *walk, Relation relation, bool with_children)
{
	Oid			relid = RelationGetRelid(relation);
	const char *name = RelationGetRelationName(relation);
	Finding	   *finding;
	ProtectedRelation *protected;

	if (relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP || IsCatalogRelation(relation) ||
		RelationGetNamespace(relation) == get_namespace_oid(PRIVPRED_SCHEMA, false))
		view_unknown(
			walk, NULL,
			psprintf("\"%s\" is a temporary table or a catalog, which may depend on rows of "
					 "anybody.",
					 name),
			"Read ordinary tables.");
	protected = protected_relation_hold_if_any(relid);
	if (protected != NULL)
		return protected_member(walk, relation, protected, with_children);
	if (!list_member_oid(walk->publics, relid))
		view_refuse(
			walk, NULL, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
			psprintf("relation \"%s\" is neither protected nor declared public", name),
			psprintf("View \"%s\" reads it.", get_rel_name(walk->view)),
			psprintf("If it is about the same units, run privpred.protect('%s', unit => ..., "
					 "same_units_as => ...); if it is about nobody, name it in "
					 "public_tables.",
					 name));
	check_public_policies(walk, relation);
	finding = palloc0_object(Finding);
	finding->single = single_columns(relation, with_children);
	return finding;
}

/* A view below, or the view itself: its own query, whether it is protected or not. */
static Finding *
view_member(ViewWalk *walk, Relation relation)
{
	Oid			relid = RelationGetRelid(relation);
	Oid			before = walk->current;
	const char *text = walk->text;
	Query	   *query = get_view_query(relation);
	Finding	   *finding;

	for (int i = 0; i < list_length(walk->views); i++)
		if (list_nth_oid(walk->views, i) == relid)
			return list_nth(walk->findings, i);
	check_owner(walk, relation);
	appendStringInfo(walk->digest, "v%u %s\n", relid, nodeToString(query));
	walk->current = relid;
	walk->text = NULL;
	finding = view_query(walk, query, NULL);
	walk->current = before;
	walk->text = text;
	walk->views = lappend_oid(walk->views, relid);
	walk->findings = lappend(walk->findings, finding);
	return finding;
}

Finding *
view_relation(ViewWalk *walk, RangeTblEntry *entry)
{
	Relation relation = table_open(entry->relid, AccessShareLock);
	Finding *finding = NULL;

	note_relation(walk, relation);
	switch (relation->rd_rel->relkind)
	{
		case RELKIND_VIEW:
			finding = view_member(walk, relation);
			break;
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
			finding = table_member(walk, relation, entry->inh);
			break;
		default:
			view_unknown(
				walk, NULL,
				psprintf("\"%s\" is neither a table nor a view.",
						 RelationGetRelationName(relation)),
				"A materialized view holds rows of an earlier time, of units that may have "
				"left; read the tables under it.");
	}
	table_close(relation, NoLock);
	return finding;
}

/* ---------- the proof ---------- */

static void
check_unit(ViewWalk *walk, const Finding *finding, const char *unit)
{
	AttrNumber column = get_attnum(walk->view, unit);

	if (finding->locality == VIEW_LOCAL && bms_is_member(column, finding->keys))
	{
		walk->one_row_a_unit = bms_is_member(column, finding->single);
		appendStringInfo(walk->digest, "o%d\n", walk->one_row_a_unit);
		return;
	}
	refuse(errmsg("column \"%s\" of view \"%s\" is not its unit", unit, get_rel_name(walk->view)),
		   finding->locality != VIEW_LOCAL
			   ? errdetail("The view reads no protected table.")
			   : errdetail("It is not known to be the unit column of the protected tables under "
						   "the view in every row."),
		   errhint("Select the unit column itself; after FULL JOIN, COALESCE of both."));
}

/* The tables below need not be part of one another, as accounts are shared. */
static ViewWalk
walk_view(Oid view, const char *unit, const List *publics)
{
	ViewWalk walk = {.view = view,
					 .owner = relation_owner(view),
					 .publics = list_copy(publics),
					 .digest = makeStringInfo()};
	Relation relation = table_open(view, AccessShareLock);

	check_publics(&walk);
	check_unit(&walk, view_member(&walk, relation), unit);
	table_close(relation, NoLock);
	return walk;
}

ViewProof *
view_prove(Oid view, const char *unit, const List *publics)
{
	CatalogSession session;
	ViewProof	  *proof = palloc0_object(ViewProof);
	ViewWalk	   walk;
	MemoryContext  caller = CurrentMemoryContext;

	/* Names are deparsed and parsed with a search_path that nobody else decides. */
	catalog_begin(&session);
	session_keep(&session);
	walk = walk_view(view, unit, publics);
	MemoryContextSwitchTo(caller);
	proof->view = view;
	proof->unit = pstrdup(unit);
	proof->publics = list_copy(publics);
	proof->tables = list_copy(walk.tables);
	proof->population = walk.first->population;
	proof->one_row_a_unit = walk.one_row_a_unit;
	proof->digest = walk.digest->data;
	proof->definition =
		TextDatumGetCString(DirectFunctionCall1(pg_get_viewdef, ObjectIdGetDatum(view)));
	catalog_end(&session);
	return proof;
}

ViewProof *
view_prove_protected(const ProtectedRelation *protected)
{
	ViewProof *proof;

	if (get_rel_relkind(protected->relid) != RELKIND_VIEW)
		return NULL;
	proof = view_prove(protected->relid, protected->unit_columns[0],
					   public_tables_of_view(protected->relation_id));
	if (proof->population != protected->population)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("view \"%s\" was protected over tables about other units",
					   get_rel_name(protected->relid)),
				errdetail("Its accounts are theirs."),
				errhint("Create a view of another name over these tables, and protect it."));
	return proof;
}

void
view_has_changed(Oid view)
{
	ereport(
		ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
		errmsg("what view \"%s\" reads was changed while its rows were read", get_rel_name(view)),
		errdetail("A function that it calls was replaced, or a table got children."),
		errhint("Try again."));
}

void
view_still_proved(const ViewProof *proof)
{
	if (proof == NULL)
		return;
	AcceptInvalidationMessages();
	if (strcmp(view_prove(proof->view, proof->unit, proof->publics)->digest, proof->digest) != 0)
		view_has_changed(proof->view);
}
