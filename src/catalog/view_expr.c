/*
 * view_expr.c
 *		Expressions: functions of their row, bit for bit.
 *
 * A value that was picked from equal ones may be any of them: 1.0 or 1.00, 0 or -0.
 * Such a value, known up to equality, may be compared, counted, returned, and cast
 * to what has one form for equal values.  Nothing else: 1.0/3 has another scale than
 * 1.00/3.  view_expr() returns true for such an expression.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "catalog/view_walk.h"

static bool
any_loose(ViewWalk *walk, Scope *scope, List *nodes)
{
	bool	  loose = false;
	ListCell *cell;

	foreach(cell, nodes)
		if (lfirst(cell) != NULL && view_expr(walk, scope, lfirst(cell)))
			loose = true;
	return loose;
}

void
view_exact(ViewWalk *walk, Scope *scope, Node *node)
{
	if (node != NULL && view_expr(walk, scope, node))
		view_disorder(walk, node,
					  "A number was picked from equal ones (by min, max, GROUP BY, DISTINCT or "
					  "UNION), which may be written in different ways, and is computed with.",
					  "Cast it to float8 or integer first: max(x)::float8. If it is a float, take "
					  "max(x::numeric)::float8.");
}

void
view_exact_list(ViewWalk *walk, Scope *scope, List *nodes)
{
	ListCell *cell;

	foreach(cell, nodes)
		view_exact(walk, scope, lfirst(cell));
}

/* ---------- columns ---------- */

/* Columns of groups are picked from equal ones. */
static bool
is_picked(Scope *scope, Node *node)
{
	return scope->grouped && list_member(scope->group_exprs, node) && !has_identity(node);
}

static bool
column_is_loose(ViewWalk *walk, Scope *scope, Var *var)
{
	Scope	*own = outer_scope(scope, var->varlevelsup);
	Finding *member = own != NULL && own->members != NULL ? own->members[var->varno] : NULL;
	Var		 here = *var;

	if (member == NULL)
		view_unknown(walk, (Node *) var, "A column belongs to nothing that was checked.",
					 "Name the columns of tables in FROM.");
	if (var->varattno < 0)
		view_disorder(walk, (Node *) var,
					  "System columns say where a row lies, which may depend on rows of others.",
					  "Use columns of the table itself.");
	if (var->varattno == 0)
		return member->loose != NULL;
	here.varlevelsup = 0;
	return bms_is_member(var->varattno, member->loose) || is_picked(own, (Node *) &here);
}

/* ---------- operators and casts ---------- */

/* In the default btree of its left type, or the negator of its equality. */
bool
is_comparison(Oid opno)
{
	Oid left;
	Oid right;
	Oid opclass;
	Oid negator = get_negator(opno);

	op_input_types(opno, &left, &right);
	if (!OidIsValid(left))
		return false;
	opclass = GetDefaultOpClass(left, BTREE_AM_OID);
	return OidIsValid(opclass) &&
		   (get_op_opfamily_strategy(opno, get_opclass_family(opclass)) != 0 ||
			(OidIsValid(negator) &&
			 get_op_opfamily_strategy(negator, get_opclass_family(opclass)) ==
				 BTEqualStrategyNumber));
}

/* Returns whether the first argument is known up to equality. */
static bool
check_operator(ViewWalk *walk, Scope *scope, Node *node, Oid opno, List *arguments)
{
	bool first;

	view_function(walk, scope, node, get_opcode(opno), arguments);
	if (!is_comparison(opno))
	{
		view_exact_list(walk, scope, arguments);
		return false;
	}
	first = view_expr(walk, scope, linitial(arguments));
	(void) any_loose(walk, scope, list_copy_tail(arguments, 1));
	return first;
}

/* Casts that have one result for equal numbers. */
static bool
forgets_form(Oid function)
{
	switch (function)
	{
		case F_FLOAT8_NUMERIC:
		case F_INT2_NUMERIC:
		case F_INT4_NUMERIC:
		case F_INT8_NUMERIC:
		case F_INT2_FLOAT4:
		case F_INT4_FLOAT4:
		case F_INT8_FLOAT4:
		case F_INT2_FLOAT8:
		case F_INT4_FLOAT8:
		case F_INT8_FLOAT8:
			return true;
	}
	return false;
}

static bool
check_call(ViewWalk *walk, Scope *scope, FuncExpr *call)
{
	view_function(walk, scope, (Node *) call, call->funcid, call->args);
	if (forgets_form(call->funcid))
	{
		(void) any_loose(walk, scope, call->args);
		return false;
	}
	if (call->funcid == F_FLOAT8_FLOAT4 || call->funcid == F_FLOAT4_FLOAT8)
		return any_loose(walk, scope, call->args);
	view_exact_list(walk, scope, call->args);
	return false;
}

/* Input and output functions of types may look names up. */
static bool
check_conversion(ViewWalk *walk, Scope *scope, CoerceViaIO *cast)
{
	Oid	 input;
	Oid	 output;
	Oid	 parameter;
	bool is_varlena;

	if (!is_plain_value_type(cast->resulttype) ||
		!is_plain_value_type(exprType((Node *) cast->arg)))
	{
		getTypeInputInfo(cast->resulttype, &input, &parameter);
		getTypeOutputInfo(exprType((Node *) cast->arg), &output, &is_varlena);
		view_function(walk, scope, (Node *) cast, output, list_make1(cast->arg));
		view_function(walk, scope, (Node *) cast, input,
					  list_make3(cast->arg, cast->arg, cast->arg));
	}
	view_exact(walk, scope, (Node *) cast->arg);
	return false;
}

static bool
check_domain(ViewWalk *walk, Scope *scope, CoerceToDomain *cast)
{
	if (domain_has_constraints(cast->resulttype))
		view_unknown(walk, (Node *) cast,
					 psprintf("Constraints of domain %s may call anything.",
							  format_type_be(cast->resulttype)),
					 "Cast to the type under the domain.");
	return view_expr(walk, scope, (Node *) cast->arg);
}

/* The value that is compared stands in the conditions as a CaseTestExpr. */
static bool
check_case(ViewWalk *walk, Scope *scope, CaseExpr *choice)
{
	bool	  before = scope->case_loose;
	bool	  value = choice->arg != NULL && view_expr(walk, scope, (Node *) choice->arg);
	bool	  loose = false;
	ListCell *cell;

	foreach(cell, choice->args)
	{
		CaseWhen *when = lfirst_node(CaseWhen, cell);

		scope->case_loose = value;
		view_exact(walk, scope, (Node *) when->expr);
		scope->case_loose = before;
		loose |= view_expr(walk, scope, (Node *) when->result);
	}
	if (choice->defresult != NULL)
		loose |= view_expr(walk, scope, (Node *) choice->defresult);
	return loose;
}

/* Elements stand in the cast as a CaseTestExpr, too; they are part of what was checked. */
static void
check_array_cast(ViewWalk *walk, Scope *scope, ArrayCoerceExpr *cast)
{
	bool before = scope->case_loose;

	view_exact(walk, scope, (Node *) cast->arg);
	scope->case_loose = false;
	view_exact(walk, scope, (Node *) cast->elemexpr);
	scope->case_loose = before;
}

static void
check_subscripts(ViewWalk *walk, Scope *scope, SubscriptingRef *reference)
{
	view_exact(walk, scope, (Node *) reference->refexpr);
	view_exact_list(walk, scope, reference->refupperindexpr);
	view_exact_list(walk, scope, reference->reflowerindexpr);
	view_exact(walk, scope, (Node *) reference->refassgnexpr);
}

static void
check_row_comparison(ViewWalk *walk, Scope *scope, RowCompareExpr *comparison)
{
	ListCell *cell;

	foreach(cell, comparison->opnos)
		view_function(walk, scope, (Node *) comparison, get_opcode(lfirst_oid(cell)), NIL);
	(void) any_loose(walk, scope, comparison->largs);
	(void) any_loose(walk, scope, comparison->rargs);
}

static bool
check_parameter(ViewWalk *walk, Scope *scope, Param *parameter)
{
	if (parameter->paramkind == PARAM_EXTERN && walk->body > 0)
		return false; /* an argument of a function, which was exact at its call */
	if (parameter->paramkind != PARAM_SUBLINK || scope->sublink == NULL)
		view_unknown(walk, (Node *) parameter, "It has a parameter.", "Write the value itself.");
	return bms_is_member(parameter->paramid, scope->sublink->loose);
}

static void
check_clock(ViewWalk *walk, SQLValueFunction *function)
{
	if (function->op > SVFOP_LOCALTIMESTAMP_N)
		view_unknown(walk, (Node *) function, "It asks for a role, a schema or a database.",
					 "Use values of the row.");
}

/* ---------- all nodes ---------- */

pg_noreturn static void
refuse_node(ViewWalk *walk, Node *node)
{
	view_unknown(walk, node,
				 psprintf("It has an expression of a kind that is not checked (node type %d).",
						  (int) nodeTag(node)),
				 "Write it with operators, CASE, COALESCE, casts and functions.");
}

/* Operators, in their kinds. */
static bool
check_operation(ViewWalk *walk, Scope *scope, Node *node)
{
	OpExpr			  *operation = (OpExpr *) node;
	ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) node;

	if (IsA(node, ScalarArrayOpExpr))
	{
		view_function(walk, scope, node, get_opcode(array->opno), array->args);
		if (!is_comparison(array->opno))
			view_exact(walk, scope, linitial(array->args));
		else
			(void) view_expr(walk, scope, linitial(array->args));
		view_exact(walk, scope, lsecond(array->args));
		return false;
	}
	return check_operator(walk, scope, node, operation->opno, operation->args) &&
		   IsA(node, NullIfExpr);
}

/* Nodes that need no function of ours; the second half of view_expr(). */
static bool
check_simple(ViewWalk *walk, Scope *scope, Node *node)
{
	switch (nodeTag(node))
	{
		case T_BoolExpr:
			view_exact_list(walk, scope, ((BoolExpr *) node)->args);
			return false;
		case T_RelabelType:
			return view_expr(walk, scope, (Node *) ((RelabelType *) node)->arg);
		case T_CollateExpr:
			return view_expr(walk, scope, (Node *) ((CollateExpr *) node)->arg);
		case T_NamedArgExpr:
			return view_expr(walk, scope, (Node *) ((NamedArgExpr *) node)->arg);
		case T_CoalesceExpr:
			return any_loose(walk, scope, ((CoalesceExpr *) node)->args);
		case T_MinMaxExpr:
			return any_loose(walk, scope, ((MinMaxExpr *) node)->args);
		case T_NullTest:
			(void) view_expr(walk, scope, (Node *) ((NullTest *) node)->arg);
			return false;
		case T_BooleanTest:
			view_exact(walk, scope, (Node *) ((BooleanTest *) node)->arg);
			return false;
		case T_ArrayExpr:
			view_exact_list(walk, scope, ((ArrayExpr *) node)->elements);
			return false;
		case T_RowExpr:
			view_exact_list(walk, scope, ((RowExpr *) node)->args);
			return false;
		case T_FieldSelect:
			view_exact(walk, scope, (Node *) ((FieldSelect *) node)->arg);
			return false;
		default:
			refuse_node(walk, node);
	}
}

bool
view_expr(ViewWalk *walk, Scope *scope, Node *node)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	/* Walked when rows became groups: once, or nested queries would take 2^depth steps. */
	if (scope->grouped && list_member(scope->group_exprs, node))
		return !has_identity(node);
	switch (nodeTag(node))
	{
		case T_Const:
			return false;
		case T_Var:
			return column_is_loose(walk, scope, (Var *) node);
		case T_Param:
			return check_parameter(walk, scope, (Param *) node);
		case T_FuncExpr:
			return check_call(walk, scope, (FuncExpr *) node);
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			return check_operation(walk, scope, node);
		case T_CoerceViaIO:
			return check_conversion(walk, scope, (CoerceViaIO *) node);
		case T_CoerceToDomain:
			return check_domain(walk, scope, (CoerceToDomain *) node);
		case T_CaseExpr:
			return check_case(walk, scope, (CaseExpr *) node);
		case T_CaseTestExpr:
			return scope->case_loose;
		case T_ArrayCoerceExpr:
			check_array_cast(walk, scope, (ArrayCoerceExpr *) node);
			return false;
		case T_SubscriptingRef:
			check_subscripts(walk, scope, (SubscriptingRef *) node);
			return false;
		case T_RowCompareExpr:
			check_row_comparison(walk, scope, (RowCompareExpr *) node);
			return false;
		case T_SQLValueFunction:
			check_clock(walk, (SQLValueFunction *) node);
			return false;
		case T_Aggref:
			return view_aggregate(walk, scope, (Aggref *) node);
		case T_WindowFunc:
			return view_window_function(walk, scope, (WindowFunc *) node);
		case T_SubLink:
			return view_sublink(walk, scope, (SubLink *) node);
		default:
			return check_simple(walk, scope, node);
	}
}
