/*
 * view_aggregates.c
 *		Aggregates and window functions: which of them give the same bits whatever the
 *		order of their rows, and which need an order.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "catalog/view_walk.h"

/* What an aggregate of the server's makes of its rows. */
typedef enum AggregateRule
{
	RULE_ORDERED, /* depends on their order, or is not known */
	RULE_COUNT,	  /* counts or compares: equal values are alike */
	RULE_SUM,	  /* exact for integers and decimals */
	RULE_PICK	  /* one of the values, or of equal ones */
} AggregateRule;

typedef struct NamedRule
{
	const char	 *name;
	AggregateRule rule;
} NamedRule;

static const NamedRule rules[] = {
	{"count", RULE_COUNT},
	{"bool_and", RULE_COUNT},
	{"bool_or", RULE_COUNT},
	{"every", RULE_COUNT},
	{"bit_and", RULE_COUNT},
	{"bit_or", RULE_COUNT},
	{"bit_xor", RULE_COUNT},
	{"rank", RULE_COUNT},
	{"dense_rank", RULE_COUNT},
	{"percent_rank", RULE_COUNT},
	{"cume_dist", RULE_COUNT},
	{"sum", RULE_SUM},
	{"avg", RULE_SUM},
	{"stddev", RULE_SUM},
	{"stddev_pop", RULE_SUM},
	{"stddev_samp", RULE_SUM},
	{"variance", RULE_SUM},
	{"var_pop", RULE_SUM},
	{"var_samp", RULE_SUM},
	{"min", RULE_PICK},
	{"max", RULE_PICK},
	{"mode", RULE_PICK},
	{"percentile_disc", RULE_PICK},
	{"percentile_cont", RULE_PICK},
};

static AggregateRule
rule_of(Oid function)
{
	const char *name = get_func_name(function);

	for (int i = 0; is_built_in(function) && name != NULL && i < lengthof(rules); i++)
		if (strcmp(rules[i].name, name) == 0)
			return rules[i].rule;
	return RULE_ORDERED;
}

static bool
is_float(Oid type)
{
	type = getBaseType(type);
	return type == FLOAT4OID || type == FLOAT8OID;
}

/* Does the sum of values of this type not depend on their order? */
static bool
sums_exactly(Oid function, Oid type)
{
	type = getBaseType(type);
	if (type == INTERVALOID || type == MONEYOID)
		return strcmp(get_func_name(function), "sum") == 0;
	return type == INT2OID || type == INT4OID || type == INT8OID || type == NUMERICOID;
}

/* ---------- aggregates ---------- */

static Node *
argument_of(Aggref *aggregate, int number)
{
	return (Node *) list_nth_node(TargetEntry, aggregate->args, number)->expr;
}

static bool
is_ordered_by(Aggref *aggregate, Node *argument, List *clauses, bool floats)
{
	ListCell *cell;

	foreach(cell, clauses)
	{
		Node *node = get_sortgroupclause_expr(lfirst(cell), aggregate->args);

		if (equal(node, argument) && is_default_equality(lfirst(cell), node) &&
			(has_identity(node) || (floats && is_float(exprType(node)))))
			return true;
	}
	return false;
}

/* One sequence of rows, because rows that tie are alike in all that is aggregated. */
static bool
has_own_order(Aggref *aggregate, bool floats)
{
	List	 *clauses = aggregate->aggdistinct ? aggregate->aggdistinct : aggregate->aggorder;
	ListCell *cell;

	foreach(cell, aggregate->args)
	{
		TargetEntry *entry = lfirst(cell);

		if (!entry->resjunk && !IsA(entry->expr, Const) &&
			!is_ordered_by(aggregate, (Node *) entry->expr, clauses, floats))
			return false;
	}
	return clauses != NIL;
}

/* Functions of an aggregate that somebody else has made. */
static void
check_functions(ViewWalk *walk, Scope *scope, Aggref *aggregate)
{
	HeapTuple		  tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate->aggfnoid));
	Form_pg_aggregate form;
	List			 *many = list_make3(aggregate, aggregate, aggregate);
	Oid				  functions[2];

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	functions[0] = form->aggtransfn;
	functions[1] = form->aggfinalfn;
	ReleaseSysCache(tuple);
	many = list_concat_copy(many, aggregate->args);
	for (int i = 0; i < lengthof(functions); i++)
		if (OidIsValid(functions[i]))
			view_function(walk, scope, (Node *) aggregate, functions[i], many);
}

pg_noreturn static void
refuse_aggregate(ViewWalk *walk, Aggref *aggregate)
{
	const char *name = get_func_name(aggregate->aggfnoid);
	Oid			type = aggregate->args == NIL ? InvalidOid : exprType(argument_of(aggregate, 0));

	view_disorder(
		walk, (Node *) aggregate,
		psprintf("The result of aggregate %s depends on the order of its rows, or on which "
				 "of equal values is taken.",
				 format_procedure(aggregate->aggfnoid)),
		is_float(type) && rule_of(aggregate->aggfnoid) == RULE_SUM
			? psprintf("Use %s(x::numeric)%s.", name,
					   strcmp(name, "sum") == 0 || strcmp(name, "avg") == 0
						   ? psprintf(", or %s(x ORDER BY x)", name)
						   : "")
			: psprintf("Order by all its arguments, %s(x ORDER BY x), and cast them to "
					   "types whose equal values are the same, such as text or integer.",
					   name));
}

/* A value that is picked; the arguments were checked.  True: it is known up to equality. */
static bool
check_pick(ViewWalk *walk, Aggref *aggregate)
{
	Node *value = argument_of(aggregate, 0);

	if (has_identity(value) && getBaseType(aggregate->aggtype) != FLOAT8OID)
		return false;
	if (!is_loose_type(exprType(value)) || !is_loose_type(aggregate->aggtype))
		refuse_aggregate(walk, aggregate);
	return true;
}

/* What the rule says of the values; returns whether the result is known up to equality. */
static bool
check_rule(ViewWalk *walk, Scope *scope, Aggref *aggregate, bool loose)
{
	AggregateRule rule = rule_of(aggregate->aggfnoid);
	bool		  sums =
		rule == RULE_SUM && sums_exactly(aggregate->aggfnoid, exprType(argument_of(aggregate, 0)));
	bool same = aggregate->aggdistinct == NIL || has_own_order(aggregate, false);

	if (rule == RULE_COUNT)
		return false;
	if (rule == RULE_PICK)
		return check_pick(walk, aggregate);
	if (loose)
		view_exact(walk, scope, argument_of(aggregate, 0));
	if (sums && same)
		return false;
	if (AGGKIND_IS_ORDERED_SET(aggregate->aggkind) ||
		!has_own_order(aggregate, rule == RULE_SUM && aggregate->aggdistinct == NIL &&
									  (strcmp(get_func_name(aggregate->aggfnoid), "sum") == 0 ||
									   strcmp(get_func_name(aggregate->aggfnoid), "avg") == 0)))
		refuse_aggregate(walk, aggregate);
	if (!is_built_in(aggregate->aggfnoid))
		check_functions(walk, scope, aggregate);
	return false;
}

static List *
expressions_of(List *entries)
{
	List	 *result = NIL;
	ListCell *cell;

	foreach(cell, entries)
		result = lappend(result, lfirst_node(TargetEntry, cell)->expr);
	return result;
}

bool
view_aggregate(ViewWalk *walk, Scope *scope, Aggref *aggregate)
{
	bool	  grouped = scope->grouped;
	bool	  loose = false;
	bool	  result;
	ListCell *cell;

	if (aggregate->agglevelsup > 0)
		view_unknown(walk, (Node *) aggregate, "It aggregates rows of the query around it.",
					 "Compute the aggregate in the query whose rows it is of.");
	view_exact_list(walk, scope, aggregate->aggdirectargs);
	scope->grouped = false;
	view_function(walk, scope, (Node *) aggregate, aggregate->aggfnoid,
				  expressions_of(aggregate->args));
	foreach(cell, aggregate->args)
	{
		TargetEntry *entry = lfirst(cell);
		bool		 this_one = view_expr(walk, scope, (Node *) entry->expr);

		loose |= this_one && !entry->resjunk;
	}
	if (aggregate->aggfilter != NULL)
		view_exact(walk, scope, (Node *) aggregate->aggfilter);
	result = check_rule(walk, scope, aggregate, loose);
	scope->grouped = grouped;
	return result;
}

/* ---------- windows ---------- */

static WindowClause *
window_of(Scope *scope, Index number)
{
	ListCell *cell;

	foreach(cell, scope->query->windowClause)
		if (((WindowClause *) lfirst(cell))->winref == number)
			return lfirst(cell);
	elog(ERROR, "window %u is missing", number);
}

/* Functions for which rows that tie are alike. */
static bool
counts_peers(Oid function)
{
	static const char *const names[] = {"rank", "dense_rank", "percent_rank", "cume_dist"};
	const char				*name = get_func_name(function);

	for (int i = 0; is_built_in(function) && i < lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool
picks_row(Oid function)
{
	static const char *const names[] = {"row_number",  "ntile",		 "lag",		 "lead",
										"first_value", "last_value", "nth_value"};
	const char				*name = get_func_name(function);

	for (int i = 0; is_built_in(function) && i < lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Do all window functions that read rows one by one share one window? */
static bool
is_only_window(Scope *scope)
{
	return list_length(scope->query->windowClause) <= 1;
}

static void
require_order(ViewWalk *walk, Scope *scope, WindowFunc *function)
{
	WindowClause *window = window_of(scope, function->winref);
	OrderKind	  kind =
		total_order(scope, list_concat_copy(window->partitionClause, window->orderClause), true);

	if (kind == ORDER_UNIQUE || (kind == ORDER_COVERS && is_only_window(scope)))
		return;
	view_disorder(
		walk, (Node *) function,
		psprintf("Rows may tie in the order of the window that %s reads.",
				 format_procedure(function->winfnoid)),
		"Name more columns in ORDER BY of the window: a key of the table if it is the only "
		"one in FROM, or all columns that the query uses, of types whose equal values are "
		"the same.");
}

bool
view_window_function(ViewWalk *walk, Scope *scope, WindowFunc *function)
{
	WindowClause *window = window_of(scope, function->winref);
	Node		 *value = function->args == NIL ? NULL : linitial(function->args);
	AggregateRule rule = function->winagg ? rule_of(function->winfnoid) : RULE_ORDERED;
	bool		  loose = false;
	ListCell	 *cell;

	view_function(walk, scope, (Node *) function, function->winfnoid, function->args);
	foreach(cell, function->args)
		loose |= view_expr(walk, scope, lfirst(cell));
	if (function->aggfilter != NULL)
		view_exact(walk, scope, (Node *) function->aggfilter);
	if (counts_peers(function->winfnoid) && !function->winagg)
		return false;
	if (!function->winagg && picks_row(function->winfnoid))
	{
		require_order(walk, scope, function);
		return loose;
	}
	if (function->winagg && (window->frameOptions & (FRAMEOPTION_ROWS | FRAMEOPTION_EXCLUSION)))
		require_order(walk, scope, function);
	if (rule == RULE_COUNT)
		return false;
	if (rule == RULE_SUM && sums_exactly(function->winfnoid, exprType(value)) && !loose)
		return false;
	if (rule == RULE_PICK && (has_identity(value) || is_loose_type(exprType(value))))
		return !has_identity(value);
	view_disorder(walk, (Node *) function,
				  psprintf("The result of %s over a window depends on the order of rows.",
						   format_procedure(function->winfnoid)),
				  "Use count, sum, avg, min or max of integers or numeric: sum(x::numeric) OVER.");
}

/* Offsets of frames, and the functions that add them. */
static void
check_frame(ViewWalk *walk, Scope *scope, WindowClause *window)
{
	Oid functions[] = {window->startInRangeFunc, window->endInRangeFunc};

	view_exact(walk, scope, window->startOffset);
	view_exact(walk, scope, window->endOffset);
	for (int i = 0; i < lengthof(functions); i++)
		if (OidIsValid(functions[i]) && !is_built_in(functions[i]))
			view_unknown(walk, window->startOffset, "A frame has offsets of a type of its own.",
						 "Use offsets of numbers and times.");
}

void
view_windows(ViewWalk *walk, Scope *scope, Finding *finding, Bitmapset **keys)
{
	ListCell *cell;
	ListCell *part;

	foreach(cell, scope->query->windowClause)
	{
		WindowClause *window = lfirst(cell);
		Bitmapset	 *own = NULL;

		check_frame(walk, scope, window);
		foreach(part, window->partitionClause)
			own = bms_add_members(
				own, key_expression(
						 scope, get_sortgroupclause_expr(lfirst(part), scope->query->targetList)));
		if (finding->locality != VIEW_LOCAL)
			continue;
		*keys = bms_int_members(*keys, keys_within(scope, own));
		if (bms_is_empty(*keys))
			view_mixes(walk, (Node *) window->startOffset,
					   psprintf("A window has rows of different units of \"%s\".", finding->name),
					   "Add the unit column to PARTITION BY.");
	}
}
