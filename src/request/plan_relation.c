/*
 * plan_relation.c
 *		What a table's catalog entries declare: columns, bounds, classes.
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
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "server/number_text.h"
#include "request/plan.h"
#include "request/request.h"
#include "request/train.h"

/* What constraints say of one column. */
typedef struct ColumnFacts
{
	AttrNumber attnum;
	bool	   has_min;
	bool	   has_max;
	double	   min;
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
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, ArrayCoerceExpr))
			node = (Node *) ((ArrayCoerceExpr *) node)->arg;
		else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid < FirstNormalObjectId &&
				 ((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CALL &&
				 list_length(((FuncExpr *) node)->args) == 1)
			node = linitial(((FuncExpr *) node)->args);
		else
			return node;
	}
}

static bool
is_column(Node *node, AttrNumber attnum)
{
	return IsA(node, Var) && ((Var *) node)->varattno == attnum;
}

static bool
constant_number(Node *node, double *number)
{
	Const *constant = (Const *) node;

	if (!IsA(node, Const) || constant->constisnull)
		return false;
	if (time_type_ok(constant->consttype))
		*number = time_of_datum(constant->constvalue, constant->consttype);
	else if (number_type_ok(constant->consttype))
		*number = number_of_datum(constant->constvalue, constant->consttype);
	else
		return false;
	return isfinite(*number);
}

static void
bound_above(ColumnFacts *facts, double number)
{
	facts->max = facts->has_max ? Min(facts->max, number) : number;
	facts->has_max = true;
}

static void
bound_below(ColumnFacts *facts, double number)
{
	facts->min = facts->has_min ? Max(facts->min, number) : number;
	facts->has_min = true;
}

/* column < number and its relatives, either way round. */
static void
read_comparison(OpExpr *comparison, ColumnFacts *facts)
{
	char  *operator= get_opname(comparison->opno);
	Node  *left;
	Node  *right;
	double number;
	bool   less;

	if (comparison->opno >= FirstNormalObjectId || list_length(comparison->args) != 2 ||
		(operator[0] != '<' && operator[0] != '>') ||
		(operator[1] != '\0' && strcmp(operator+ 1, "=") != 0))
		return;
	left = without_casts(linitial(comparison->args));
	right = without_casts(lsecond(comparison->args));
	less = operator[0] == '<';
	if (!is_column(left, facts->attnum))
	{
		Node *swap = left;

		left = right;
		right = swap;
		less = !less;
	}
	if (!is_column(left, facts->attnum) || !constant_number(right, &number))
		return;
	if (less)
		bound_above(facts, number);
	else
		bound_below(facts, number);
}

static void
add_level(ColumnFacts *facts, Datum value, Oid type)
{
	Oid	 output;
	bool is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	facts->levels = lappend(facts->levels, OidOutputFunctionCall(output, value));
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
		Node *element = without_casts(lfirst(cell));

		if (!IsA(element, Const) || ((Const *) element)->constisnull ||
			!category_type_ok(((Const *) element)->consttype))
		{
			facts->levels = NIL;
			return;
		}
		add_level(facts, ((Const *) element)->constvalue, ((Const *) element)->consttype);
	}
}

static void
read_constraint(Node *node, ColumnFacts *facts)
{
	ListCell *cell;

	if (node == NULL)
		return;
	if (IsA(node, List))
	{
		foreach(cell, (List *) node)
			read_constraint(lfirst(cell), facts);
	}
	else if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop == AND_EXPR)
		read_constraint((Node *) ((BoolExpr *) node)->args, facts);
	else if (IsA(node, OpExpr))
		read_comparison((OpExpr *) node, facts);
	else if (IsA(node, ScalarArrayOpExpr))
		read_list((ScalarArrayOpExpr *) node, facts);
}

static ColumnFacts
column_facts(Relation relation, AttrNumber attnum)
{
	ColumnFacts	 facts = {.attnum = attnum};
	TupleConstr *constraints = RelationGetDescr(relation)->constr;

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
		read_constraint(stringToNode(constraints->check[i].ccbin), &facts);
	return facts;
}

/* ---------- columns ---------- */

static char **
levels_of(const ColumnFacts *facts, Oid type, int *nlevels)
{
	char	**levels;
	ListCell *cell;
	int		  i = 0;

	if (type == BOOLOID)
	{
		levels = palloc_array(char *, 2);
		levels[0] = "false";
		levels[1] = "true";
		*nlevels = 2;
		return levels;
	}
	if (get_typtype(type) == TYPTYPE_ENUM)
		return enum_levels(type, nlevels);
	*nlevels = category_type_ok(type) ? list_length(facts->levels) : 0;
	levels = palloc_array(char *, Max(*nlevels, 1));
	foreach(cell, facts->levels)
	{
		if (i < *nlevels)
			levels[i++] = lfirst(cell);
	}
	return levels;
}

static char *
json_text(const char *text)
{
	StringInfoData json;

	initStringInfo(&json);
	escape_json(&json, text);
	return json.data;
}

/* A number, or a time in a string. */
static char *
json_number(double value, Oid type)
{
	return time_type_ok(type) ? json_text(time_to_text(value, type))
							  : number_text(value, palloc(NUMBER_TEXT_SIZE));
}

static void
declare_number(PlanColumn *column, const ColumnFacts *facts, Oid type)
{
	double middle = (facts->min + facts->max) / 2;

	if (type == INT2OID || type == INT4OID || type == INT8OID || time_type_ok(type))
		middle = floor(middle);
	column->declaration = psprintf("{\"min\": %s, \"max\": %s}", json_number(facts->min, type),
								   json_number(facts->max, type));
	column->example = json_number(middle, type);
	column->width = 1;
}

static void
declare_category(PlanColumn *column, Oid type, char **levels, int nlevels)
{
	StringInfoData json;

	column->width = type == BOOLOID ? 1 : nlevels;
	column->example = type == BOOLOID ? "true" : json_text(levels[0]);
	column->declaration = "{}";
	if (type == BOOLOID || get_typtype(type) == TYPTYPE_ENUM)
		return;
	initStringInfo(&json);
	appendStringInfoString(&json, "{\"levels\": [");
	for (int i = 0; i < nlevels; i++)
	{
		appendStringInfoString(&json, i > 0 ? ", " : "");
		escape_json(&json, levels[i]);
	}
	appendStringInfoString(&json, "]}");
	column->declaration = json.data;
}

static PlanColumn
plan_column(const char *name, const ColumnFacts *facts, Oid type)
{
	PlanColumn column = {.name = pstrdup(name)};
	int		   nlevels;
	char	 **levels = levels_of(facts, type, &nlevels);

	if (nlevels > 0)
		declare_category(&column, type, levels, nlevels);
	else if ((number_type_ok(type) || time_type_ok(type)) && facts->has_min && facts->has_max &&
			 facts->min < facts->max)
		declare_number(&column, facts, type);
	return column;
}

/* ---------- the table ---------- */

static void
read_protection(PlanRelation *plan, Oid relid, Bitmapset **unit)
{
	Oid constraint;

	/* To others it is a table like any other. */
	if (relation_is_protected(relid) && relation_is_known(relid, GetUserId()))
	{
		ProtectedRelation *protected = protected_relation_get(relid);

		plan->is_protected = plan->has_unit = true;
		plan->one_row_a_unit = units_are_rows(protected);
		plan->protects_labels = protected->protects_labels;
		plan->declared_units = protected->declared_units;
		plan->max_rows_per_unit = protected->max_rows_per_unit;
		plan->unit = protected->nunits == 1 ? protected->unit_columns[0] : NULL;
		for (int i = 0; i < protected->nunits; i++)
			*unit = bms_add_member(*unit, get_attnum(relid, protected->unit_columns[i]));
	}
	else
	{
		Bitmapset *key = get_primary_key_attnos(relid, false, &constraint);
		int		   position = -1;

		plan->has_unit = plan->one_row_a_unit = key != NULL;
		while ((position = bms_next_member(key, position)) >= 0)
			*unit = bms_add_member(*unit, position + FirstLowInvalidHeapAttributeNumber);
	}
}

/* The named label, or the last column whose classes the catalog tells. */
static AttrNumber
choose_label(Relation relation, const char *label, const Bitmapset *unit)
{
	TupleDesc columns = RelationGetDescr(relation);

	if (label != NULL)
	{
		AttrNumber attnum = get_attnum(RelationGetRelid(relation), label);

		if (attnum <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist", label,
							RelationGetRelationName(relation)),
					 errhint("Name the column that is to be predicted, or leave label out.")));
		return attnum;
	}
	for (int i = columns->natts; i > 0; i--)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i - 1);
		ColumnFacts		  facts = column_facts(relation, i);
		int				  nlevels;

		if (column->attisdropped || bms_is_member(i, unit))
			continue;
		(void) levels_of(&facts, getBaseType(column->atttypid), &nlevels);
		if (nlevels >= PRIVPRED_MIN_CLASSES)
			return i;
	}
	return InvalidAttrNumber;
}

static void
read_columns(PlanRelation *plan, Relation relation, AttrNumber label, const Bitmapset *unit)
{
	TupleDesc columns = RelationGetDescr(relation);

	plan->columns = palloc0_array(PlanColumn, Max(columns->natts, 1));
	for (int i = 1; i <= columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i - 1);
		ColumnFacts		  facts;
		Oid				  type;

		if (column->attisdropped || bms_is_member(i, unit))
			continue;
		type = getBaseType(column->atttypid);
		facts = column_facts(relation, i);
		if (i == label)
		{
			plan->label = pstrdup(NameStr(column->attname));
			plan->classes = levels_of(&facts, type, &plan->nclasses);
			continue;
		}
		plan->columns[plan->ncolumns] = plan_column(NameStr(column->attname), &facts, type);
		plan->width += plan->columns[plan->ncolumns++].width;
	}
}

PlanRelation *
plan_relation(Oid relid, const char *label)
{
	PlanRelation *plan = palloc0_object(PlanRelation);
	Relation	  relation = open_relation(relid, AccessShareLock);
	Bitmapset	 *unit = NULL;
	char		  kind = relation->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE &&
		kind != RELKIND_FOREIGN_TABLE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a table", RelationGetRelationName(relation)),
						errhint("Name the table that is to be protected, or leave relation out.")));
	plan->name = DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid)));
	plan->model_prefix = pstrdup(RelationGetRelationName(relation));
	read_protection(plan, relid, &unit);
	read_columns(plan, relation, choose_label(relation, label, unit), unit);
	table_close(relation, AccessShareLock);
	return plan;
}
