/*
 * plan_table.c
 *		What a table's catalog entries tell: columns, bounds, levels, units.
 *
 * Types and CHECK constraints only; rows and statistics are never looked at.
 * Constraints are read as they are written: nothing in them is executed, as
 * they may call functions of the table's owner.
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "request/plan.h"
#include "request/request.h"
#include "request/train.h"
#include "server/number_text.h"

/* What constraints say of one column. */
typedef struct ColumnFacts
{
	AttrNumber attnum;
	double	   min; /* -infinity, infinity: not bounded */
	double	   max;
	List	  *levels; /* of char *; NIL: none */
} ColumnFacts;

/* ---------- reading constraints ---------- */

/* What a cast by a function of the server's own is applied to. */
static Node *
without_casts(Node *node)
{
	for (;;)
	{
		FuncExpr *call = (FuncExpr *) node;

		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, ArrayCoerceExpr))
			node = (Node *) ((ArrayCoerceExpr *) node)->arg;
		else if (IsA(node, FuncExpr) && call->funcid < FirstNormalObjectId &&
				 call->funcformat != COERCE_EXPLICIT_CALL && list_length(call->args) == 1)
			node = linitial(call->args);
		else
			return node;
	}
}

static bool
is_column(Node *node, AttrNumber attnum)
{
	return IsA(node, Var) && ((Var *) node)->varattno == attnum;
}

/* NaN: not a number that is known. */
static double
constant_number(Node *node)
{
	Const *constant = (Const *) node;

	if (!IsA(node, Const) || constant->constisnull)
		return NAN;
	if (time_type_ok(constant->consttype))
		return time_of_datum(constant->constvalue, constant->consttype);
	if (number_type_ok(constant->consttype))
		return number_of_datum(constant->constvalue, constant->consttype);
	return NAN;
}

/* column < number and its relatives, either way round. */
static void
read_comparison(OpExpr *comparison, ColumnFacts *facts)
{
	char  *name = get_opname(comparison->opno);
	Node  *left;
	Node  *right;
	bool   swapped;
	double number;

	if (comparison->opno >= FirstNormalObjectId || list_length(comparison->args) != 2 ||
		(name[0] != '<' && name[0] != '>') || (name[1] != '\0' && strcmp(name + 1, "=") != 0))
		return;
	left = without_casts(linitial(comparison->args));
	right = without_casts(lsecond(comparison->args));
	swapped = !is_column(left, facts->attnum);
	number = constant_number(swapped ? left : right);
	if (!is_column(swapped ? right : left, facts->attnum) || !isfinite(number))
		return;
	if ((name[0] == '<') != swapped)
		facts->max = Min(facts->max, number);
	else
		facts->min = Max(facts->min, number);
}

/* column IN (...), that is column = ANY (array). */
static void
read_list(ScalarArrayOpExpr *list, ColumnFacts *facts)
{
	Node	 *array = without_casts(lsecond(list->args));
	ListCell *cell;

	if (!list->useOr || list->opno >= FirstNormalObjectId ||
		strcmp(get_opname(list->opno), "=") != 0 ||
		!is_column(without_casts(linitial(list->args)), facts->attnum) || !IsA(array, ArrayExpr))
		return;
	facts->levels = NIL;
	foreach(cell, ((ArrayExpr *) array)->elements)
	{
		Const *element = (Const *) without_casts(lfirst(cell));
		Oid	   output;
		bool   is_varlena;

		if (!IsA(element, Const) || element->constisnull || !category_type_ok(element->consttype))
		{
			facts->levels = NIL;
			return;
		}
		getTypeOutputInfo(element->consttype, &output, &is_varlena);
		facts->levels = lappend(facts->levels, OidOutputFunctionCall(output, element->constvalue));
	}
}

static bool
read_constraint(Node *node, void *facts)
{
	if (node == NULL)
		return false;
	if (IsA(node, OpExpr))
		read_comparison((OpExpr *) node, facts);
	else if (IsA(node, ScalarArrayOpExpr))
		read_list((ScalarArrayOpExpr *) node, facts);
	else if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop == AND_EXPR)
		return expression_tree_walker(node, read_constraint, facts);
	return false;
}

static ColumnFacts
column_facts(Relation relation, AttrNumber attnum)
{
	ColumnFacts	 facts = {.attnum = attnum, .min = -INFINITY, .max = INFINITY};
	TupleConstr *constraints = RelationGetDescr(relation)->constr;

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
		(void) read_constraint(stringToNode(constraints->check[i].ccbin), &facts);
	return facts;
}

/* ---------- the table in JSON ---------- */

static void
append_text(StringInfo json, const char *before, const char *text)
{
	appendStringInfoString(json, before);
	escape_json(json, text);
}

/* A number, or a time in a string. */
static void
append_number(StringInfo json, const char *name, double value, Oid type)
{
	char buffer[NUMBER_TEXT_SIZE];

	appendStringInfo(json, ", \"%s\": ", name);
	if (time_type_ok(type))
		escape_json(json, time_to_text(value, type));
	else
		appendStringInfoString(json, number_text(value, buffer));
}

/* What create_model would have to be told of a column. */
static const char *
column_kind(Relation relation, AttrNumber attnum, Oid type)
{
	if (looks_like_an_id(relation, attnum))
		return "id";
	if (number_type_ok(type))
		return "number";
	if (time_type_ok(type))
		return "time";
	return category_type_ok(type) ? "category" : "other";
}

/* Levels of booleans and enums are left to those who know the type. */
static void
append_column(StringInfo json, Relation relation, Form_pg_attribute column)
{
	ColumnFacts facts = column_facts(relation, column->attnum);
	Oid			type = getBaseType(column->atttypid);
	bool		is_integer = type == INT2OID || type == INT4OID || type == INT8OID;
	double		middle = (facts.min + facts.max) / 2;

	append_text(json, "{\"name\": ", NameStr(column->attname));
	appendStringInfo(json, ", \"type\": %u, \"kind\": \"%s\"", type,
					 column_kind(relation, column->attnum, type));
	if (facts.levels != NIL && category_type_ok(type))
	{
		for (int i = 0; i < list_length(facts.levels); i++)
			append_text(json, i == 0 ? ", \"levels\": [" : ", ", list_nth(facts.levels, i));
		appendStringInfoChar(json, ']');
	}
	else if ((number_type_ok(type) || time_type_ok(type)) && isfinite(middle) &&
			 facts.min < facts.max)
	{
		append_number(json, "min", facts.min, type);
		append_number(json, "max", facts.max, type);
		append_number(json, "middle", is_integer || time_type_ok(type) ? floor(middle) : middle,
					  type);
	}
	appendStringInfoChar(json, '}');
}

static const char *
json_bool(bool value)
{
	return value ? "true" : "false";
}

/* A proof locks what the view reads, so it is for its owner, and where rows may be locked. */
static bool
one_row_a_unit(const ProtectedRelation *protected)
{
	bool may_prove = !XactReadOnly && !IsInParallelMode() &&
					 object_ownercheck(RelationRelationId, protected->relid, GetUserId());

	return units_are_rows(protected, may_prove ? view_prove_protected(protected) : NULL);
}

/* What protect() declared; returns the columns that identify a unit. */
static Bitmapset *
append_protection(StringInfo json, Relation relation)
{
	Oid				   relid = RelationGetRelid(relation);
	Bitmapset		  *unit = NULL;
	ProtectedRelation *known;
	Oid				   constraint;

	/* To others it is a table like any other. */
	if (!relation_is_protected(relid) || !relation_is_known(relid, GetUserId()))
	{
		warn_about_unit(relation);
		if (other_ids(relation) != NULL)
			append_text(json, ", \"other_ids\": ", other_ids(relation));
		return get_primary_key_attnos(relid, false, &constraint);
	}
	known = protected_relation_get(relid);
	appendStringInfo(json, ", \"protected\": true, \"one_row_a_unit\": %s, \"protects_labels\": %s",
					 json_bool(one_row_a_unit(known)), json_bool(known->protects_labels));
	if (known->declared_units > 0)
		appendStringInfo(json, ", \"declared_units\": " INT64_FORMAT, known->declared_units);
	if (known->max_rows_per_unit > 0)
		appendStringInfo(json, ", \"max_rows_per_unit\": %d", known->max_rows_per_unit);
	if (known->nunits == 1)
		append_text(json, ", \"unit\": ", known->unit_columns[0]);
	for (int i = 0; i < known->nunits; i++)
		unit = bms_add_member(unit, get_attnum(relid, known->unit_columns[i]) -
										FirstLowInvalidHeapAttributeNumber);
	return unit;
}

char *
request_plan_table(Oid relid, const char *label)
{
	Relation	   relation = open_relation(relid, AccessShareLock);
	TupleDesc	   columns = RelationGetDescr(relation);
	char		   kind = relation->rd_rel->relkind;
	const char	  *between = "";
	Bitmapset	  *unit;
	StringInfoData json;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE &&
		kind != RELKIND_FOREIGN_TABLE && !(kind == RELKIND_VIEW && relation_is_protected(relid)))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a table", RelationGetRelationName(relation)),
						errhint("Name the table that is to be protected, or leave relation out.")));
	if (label != NULL)
		require_column(relid, label,
					   "Name the column that is to be predicted, or leave label out.");
	initStringInfo(&json);
	append_text(&json, "{\"name\": ", RelationGetRelationName(relation));
	unit = append_protection(&json, relation);
	appendStringInfo(&json, ", \"has_unit\": %s, \"columns\": [", json_bool(unit != NULL));
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (column->attisdropped ||
			bms_is_member(column->attnum - FirstLowInvalidHeapAttributeNumber, unit))
			continue;
		appendStringInfoString(&json, between);
		append_column(&json, relation, column);
		between = ", ";
	}
	appendStringInfoString(&json, "]}");
	table_close(relation, AccessShareLock);
	return json.data;
}
