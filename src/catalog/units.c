/*
 * units.c
 *		Tables, their owners, and the columns that say whose a row is.
 */
#include "postgres.h"

#include <ctype.h>

#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "learner/learner.h"

static void
no_such_relation(Oid relid)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
			errmsg("relation with OID %u does not exist", relid),
			errhint("It may have been dropped meanwhile."));
}

char *
relation_sql_name(Oid relid)
{
	char *name = get_rel_name(relid);

	if (name == NULL)
		no_such_relation(relid);
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

Relation
open_relation(Oid relid, LOCKMODE lock)
{
	char	*name = get_rel_name(relid);
	Relation relation = try_relation_open(relid, lock);

	if (relation == NULL && name != NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation \"%s\" does not exist", name),
				errhint("It was dropped meanwhile."));
	if (relation == NULL)
		no_such_relation(relid);
	if (relation->rd_rel->relkind == RELKIND_INDEX ||
		relation->rd_rel->relkind == RELKIND_PARTITIONED_INDEX ||
		relation->rd_rel->relkind == RELKIND_COMPOSITE_TYPE)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table", RelationGetRelationName(relation)),
				errhint("Name a table."));
	return relation;
}

void
check_relation_owner(Oid relid)
{
	(void) relation_sql_name(relid);
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		ereport(
			ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			errmsg("must be owner of relation \"%s\"", get_rel_name(relid)),
			errhint("Only the owner of a table or a superuser may decide what is learnt from it."));
}

/* While we wait for the lock, the relation may be dropped or given to somebody else. */
void
lock_own_relation(Oid relid, LOCKMODE lock)
{
	check_relation_owner(relid);
	relation_close(open_relation(relid, lock), NoLock);
	check_relation_owner(relid);
}

/* ---------- units ---------- */

/* A unit column must identify a unit for good: it exists, is NOT NULL, and is hashable. */
static void
check_unit_column(Relation relation, const char *column)
{
	AttrNumber		  attnum = get_attnum(RelationGetRelid(relation), column);
	Form_pg_attribute attribute;

	if (attnum == InvalidAttrNumber)
		ereport(
			ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
			errmsg("unit column \"%s\" of relation \"%s\" does not exist", column,
				   RelationGetRelationName(relation)),
			errhint("Name the column that says whose row it is; if it was renamed since, rename it "
					"back."));
	if (attnum < 0)
		refuse(errmsg("system column \"%s\" cannot be the unit", column),
			   errdetail("It does not identify a person permanently."),
			   errhint("Name the column that says whose row it is."));
	attribute = TupleDescAttr(RelationGetDescr(relation), attnum - 1);
	if (!attribute->attnotnull && relation->rd_rel->relkind != RELKIND_VIEW)
		refuse(
			errmsg("unit column \"%s\" of relation \"%s\" may be NULL", column,
				   RelationGetRelationName(relation)),
			errdetail("A row without a unit would belong to nobody and be protected for nobody."),
			errhint("Run ALTER TABLE %s ALTER COLUMN %s SET NOT NULL first.",
					quote_identifier(RelationGetRelationName(relation)), quote_identifier(column)));
	if (!teacher_unit_type_ok(attribute->atttypid, attribute->attcollation))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("unit column \"%s\" has type %s, which has no stable identity", column,
					   format_type_be(attribute->atttypid)),
				errhint("Use an integer, text, uuid, date, timestamp, numeric or bytea id."));
}

/* Columns were renamed, or one was dropped and another added. */
static void
refuse_other_column(Relation opened, const ProtectedRelation *protected, int number)
{
	Form_pg_attribute column =
		TupleDescAttr(RelationGetDescr(opened), protected->unit_numbers[number] - 1);
	const char *relation = get_rel_name(protected->relid);
	const char *name = column->attisdropped ? NULL : NameStr(column->attname);

	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("column \"%s\" of relation \"%s\" is not the one that was declared as its unit",
				   protected->unit_columns[number], relation),
			name != NULL ? errdetail("That one is called \"%s\" now.", name)
						 : errdetail("That one was dropped."),
			name != NULL
				? errhint("Rename the columns back. While nothing was spent, privpred.protect() "
						  "with unit => declares another.")
				: errhint("While nothing was spent, privpred.protect() with unit => declares "
						  "it. Else, if the column has the same values, copy the rows into "
						  "a new table, drop \"%s\", give the new one its name, and protect it: it "
						  "goes on with the account.",
						  relation));
}

/* Policies may look at rows of others, so that one unit's rows decide which of another are read. */
static void
check_row_security(Oid relid)
{
	ListCell *cell;

	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Relation relation = table_open(lfirst_oid(cell), NoLock);

		if (relation->rd_rel->relrowsecurity && relation->rd_rel->relforcerowsecurity)
			ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("relation \"%s\" forces row security on its owner",
						   RelationGetRelationName(relation)),
					errdetail("Its policies would decide which rows are learnt from, and may look "
							  "at rows of other units."),
					errhint("Run ALTER TABLE %s NO FORCE ROW LEVEL SECURITY first.",
							relation_sql_name(lfirst_oid(cell))));
		table_close(relation, NoLock);
	}
}

void
check_unit_columns(const ProtectedRelation *protected)
{
	Relation relation = open_relation(protected->relid, AccessShareLock);

	check_row_security(protected->relid);
	for (int i = 0; i < protected->nunits; i++)
	{
		check_unit_column(relation, protected->unit_columns[i]);
		if (!unit_column_is_same(protected, i))
			refuse_other_column(relation, protected, i);
	}
	table_close(relation, AccessShareLock);
}

static char *
unit_in_words(ArrayType *units)
{
	StringInfoData list;
	Datum		  *names;
	int			   count;

	initStringInfo(&list);
	deconstruct_array(units, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, NULL, &count);
	for (int i = 0; i < count; i++)
		appendStringInfo(&list, "%s\"%s\"", i > 0 ? ", " : "", NameStr(*DatumGetName(names[i])));
	return list.data;
}

ArrayType *
resolve_unit(Relation relation, const char *unit)
{
	Oid		   relid = RelationGetRelid(relation);
	Datum	   names[INDEX_MAX_KEYS];
	int		   count = 0;
	int		   position = -1;
	Oid		   constraint;
	Bitmapset *key;

	check_row_security(relid);
	if (unit != NULL)
		names[count++] = DirectFunctionCall1(namein, CStringGetDatum(unit));
	else
	{
		key = get_primary_key_attnos(relid, false, &constraint);
		if (key == NULL && relation->rd_rel->relkind == RELKIND_VIEW)
			refuse(errmsg("no unit was given for view \"%s\"", RelationGetRelationName(relation)),
				   errdetail("A view has no primary key."),
				   errhint("Pass unit => 'column', the unit column of the tables under the view."));
		if (key == NULL)
			refuse(errmsg("relation \"%s\" has no primary key and no unit was given",
						  RelationGetRelationName(relation)),
				   errdetail(
					   "Privacy is promised to units; the rows alone do not say which rows belong "
					   "together."),
				   errhint("Pass unit => 'column', the column that says whose row it is."));
		while ((position = bms_next_member(key, position)) >= 0)
		{
			AttrNumber attnum = position + FirstLowInvalidHeapAttributeNumber;

			names[count++] =
				DirectFunctionCall1(namein, CStringGetDatum(get_attname(relid, attnum, false)));
		}
	}
	for (int i = 0; i < count; i++)
		check_unit_column(relation, NameStr(*DatumGetName(names[i])));
	return construct_array(names, count, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

/* ---------- keys ---------- */

bool
index_is_key(Relation index, Relation table)
{
	Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisunique || !form->indimmediate ||
		!form->indisvalid || RelationGetIndexPredicate(index) != NIL ||
		RelationGetIndexExpressions(index) != NIL)
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		Form_pg_attribute column =
			TupleDescAttr(RelationGetDescr(table), form->indkey.values[i] - 1);
		Oid opclass = GetDefaultOpClass(getBaseType(column->atttypid), BTREE_AM_OID);

		/* Another equality may tell values apart that are one unit. */
		if (!OidIsValid(opclass) || get_opclass_family(opclass) != index->rd_opfamily[i] ||
			index->rd_indcollation[i] != column->attcollation)
			return false;
	}
	return true;
}

/* ---------- other ids ---------- */

/* "id", "patient_id", "patientId", and the like. */
static bool
is_named_like_an_id(const char *name)
{
	static const char *const endings[] = {"id", "uuid", "guid", "key", "no", "nr"};
	size_t					 length = strlen(name);

	for (int i = 0; i < lengthof(endings); i++)
	{
		size_t start = length - Min(length, strlen(endings[i]));

		if (pg_strcasecmp(name + start, endings[i]) == 0 &&
			(start == 0 || !isalpha((unsigned char) name[start - 1]) ||
			 (isupper((unsigned char) name[start]) && islower((unsigned char) name[start - 1]))))
			return true;
	}
	return false;
}

static bool
is_foreign_key(Relation relation, AttrNumber attnum)
{
	ListCell *cell;

	foreach(cell, RelationGetFKeyList(relation))
	{
		const ForeignKeyCacheInfo *key = lfirst(cell);

		for (int i = 0; i < key->nkeys; i++)
			if (key->conkey[i] == attnum)
				return true;
	}
	return false;
}

bool
looks_like_an_id(Relation relation, AttrNumber attnum)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), attnum - 1);

	return !column->attisdropped && column->attnotnull &&
		   teacher_unit_type_ok(column->atttypid, column->attcollation) &&
		   (is_named_like_an_id(NameStr(column->attname)) || is_foreign_key(relation, attnum));
}

char *
other_ids(Relation relation)
{
	TupleDesc	   columns = RelationGetDescr(relation);
	Oid			   constraint;
	Bitmapset	  *key = get_primary_key_attnos(RelationGetRelid(relation), false, &constraint);
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; key != NULL && i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		bool in_key = bms_is_member(column->attnum - FirstLowInvalidHeapAttributeNumber, key);

		if (!(in_key && bms_num_members(key) == 1) && looks_like_an_id(relation, column->attnum))
			appendStringInfo(&list, "%s\"%s\"", list.len > 0 ? ", " : "", NameStr(column->attname));
	}
	return list.len > 0 ? list.data : NULL;
}

void
warn_about_unit(Relation relation)
{
	char *others = other_ids(relation);
	char *unit;

	if (others == NULL)
		return;
	unit = unit_in_words(resolve_unit(relation, NULL));
	ereport(WARNING,
			errmsg("%s is the unit of relation \"%s\": is there one row per person?", unit,
				   RelationGetRelationName(relation)),
			errdetail("No unit was given, so that it is the primary key. These columns may say "
					  "whose a row is: %s.",
					  others),
			errhint("If a person may have several rows, protect the table with unit => the column "
					"that they share%s.",
					strchr(unit, ',') ? "" : "; if not, name the primary key as the unit"));
}
