/*
 * view_keys.c
 *		Key expressions, unit equalities, and what they tie together.
 *
 * A key is a column that says whose a row is.  Equality is strict, so wherever one
 * holds, both keys are there and name one owner: all rows that pass have it.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "catalog/view_walk.h"

/* ---------- classes of types ---------- */

Oid
unit_class(Oid type)
{
	type = getBaseType(type);
	switch (type)
	{
		case INT2OID:
		case INT4OID:
			return INT8OID;
		case VARCHAROID:
			return TEXTOID;
	}
	return type;
}

static bool
collation_is_exact(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

/* One step into a cast that changes neither value nor class; NULL: it is none. */
static Node *
cast_argument(Node *node)
{
	Node *argument = NULL;

	if (IsA(node, RelabelType))
		argument = (Node *) ((RelabelType *) node)->arg;
	else if (IsA(node, CollateExpr))
		argument = (Node *) ((CollateExpr *) node)->arg;
	else if (IsA(node, FuncExpr) && (((FuncExpr *) node)->funcid == F_INT4_INT2 ||
									 ((FuncExpr *) node)->funcid == F_INT8_INT2 ||
									 ((FuncExpr *) node)->funcid == F_INT8_INT4))
		argument = linitial(((FuncExpr *) node)->args);
	if (argument == NULL || unit_class(exprType(node)) != unit_class(exprType(argument)) ||
		!collation_is_exact(exprCollation(node)))
		return NULL;
	return argument;
}

Var *
key_column(Node *node)
{
	while (node != NULL && !IsA(node, Var))
		node = cast_argument(node);
	if (node == NULL || ((Var *) node)->varattno <= 0 || !collation_is_exact(exprCollation(node)))
		return NULL;
	return (Var *) node;
}

/* ---------- keys ---------- */

bool
key_of_member(Scope *scope, Node *node, Pin *pin)
{
	Var		*var = key_column(node);
	Finding *member;

	if (var == NULL)
		return false;
	pin->scope = outer_scope(scope, var->varlevelsup);
	pin->member = var->varno;
	if (pin->scope == NULL || pin->scope->members == NULL)
		return false;
	member = pin->scope->members[var->varno];
	return member != NULL && member->locality == VIEW_LOCAL &&
		   bms_is_member(var->varattno, member->keys);
}

Bitmapset *
key_expression(Scope *scope, Node *node)
{
	Bitmapset *keys = NULL;
	ListCell  *cell;
	Node	  *argument;
	Pin		   pin;

	if (IsA(node, CoalesceExpr))
	{
		foreach(cell, ((CoalesceExpr *) node)->args)
		{
			Bitmapset *more = key_expression(scope, lfirst(cell));

			if (more == NULL || unit_class(exprType(lfirst(cell))) != unit_class(exprType(node)))
				return NULL;
			keys = bms_add_members(keys, more);
		}
		return keys;
	}
	argument = cast_argument(node);
	if (argument != NULL)
		return key_expression(scope, argument);
	if (!key_of_member(scope, node, &pin) || pin.scope != scope)
		return NULL;
	return bms_make_singleton(KEY_NUMBER(pin.member, ((Var *) node)->varattno));
}

Bitmapset *
keys_within(Scope *scope, Bitmapset *keys)
{
	Bitmapset *result = bms_intersect(keys, scope->keys);
	bool	   grown = true;

	while (grown)
	{
		ListCell *cell;
		int		  before = bms_num_members(result);

		foreach(cell, scope->null_rules)
		{
			NullRule *rule = lfirst(cell);

			if (bms_overlap(rule->never_null, result))
				result = bms_add_members(result, rule->region);
		}
		grown = bms_num_members(result) > before;
	}
	return bms_intersect(result, scope->keys);
}

bool
is_unit_equality(Node *node, Node **left, Node **right)
{
	OpExpr *operation = (OpExpr *) node;
	Oid class;
	Oid opclass;

	if (!IsA(node, OpExpr) || list_length(operation->args) != 2)
		return false;
	*left = linitial(operation->args);
	*right = lsecond(operation->args);
	class = unit_class(exprType(*left));
	opclass = GetDefaultOpClass(class, BTREE_AM_OID);
	return class == unit_class(exprType(*right)) && OidIsValid(opclass) &&
		   get_op_opfamily_strategy(operation->opno, get_opclass_family(opclass)) ==
			   BTEqualStrategyNumber &&
		   collation_is_exact(operation->inputcollid);
}

/* ---------- ties ---------- */

/* What an equality may name: a part, the row of an outer member, or any other column. */
typedef struct Term
{
	Scope *scope;
	int	   member; /* 0: part number "column" of ours */
	int	   column; /* 0: any key of the member */
	int	   parent; /* of the forest whose trees are tied terms */
} Term;

struct Ties
{
	Scope *scope;
	List  *parts;
	Term  *terms; /* those of the parts first */
	int	   count;
	int	   room;
};

static int
find_term(Ties *ties, Term term)
{
	for (int i = 0; i < ties->count; i++)
		if (ties->terms[i].scope == term.scope && ties->terms[i].member == term.member &&
			ties->terms[i].column == term.column)
			return i;
	if (ties->count == ties->room)
	{
		ties->room *= 2;
		ties->terms = repalloc_array(ties->terms, Term, ties->room);
	}
	term.parent = ties->count;
	ties->terms[ties->count] = term;
	return ties->count++;
}

static int
root_of(const Ties *ties, int term)
{
	while (ties->terms[term].parent != term)
		term = ties->terms[term].parent;
	return term;
}

Ties *
ties_begin(Scope *scope, List *parts)
{
	Ties *ties = palloc0_object(Ties);

	ties->scope = scope;
	ties->parts = parts;
	ties->room = 8;
	ties->terms = palloc_array(Term, ties->room);
	for (int i = 0; i < list_length(parts); i++)
		(void) find_term(ties, (Term){.scope = scope, .column = i});
	return ties;
}

/* The one part whose keys these all are; -1: there is none. */
static int
part_of_keys(const Ties *ties, Bitmapset *keys)
{
	for (int i = 0; i < list_length(ties->parts); i++)
		if (bms_is_subset(keys, ((Part *) list_nth(ties->parts, i))->keys))
			return i;
	return -1;
}

/* The term that a side of an equality is; -1: none. */
static int
term_of(Ties *ties, Node *node)
{
	Bitmapset *keys = key_expression(ties->scope, node);
	Var		  *var = key_column(node);
	Pin		   pin;
	int		   part;

	if (keys != NULL)
	{
		part = part_of_keys(ties, keys);
		return part < 0 ? -1 : find_term(ties, (Term){.scope = ties->scope, .column = part});
	}
	if (var == NULL)
		return -1;
	if (key_of_member(ties->scope, node, &pin))
		return find_term(ties, (Term){.scope = pin.scope, .member = pin.member});
	return find_term(ties, (Term){.scope = outer_scope(ties->scope, var->varlevelsup),
								  .member = var->varno,
								  .column = var->varattno});
}

void
ties_add(Ties *ties, List *conjuncts)
{
	ListCell *cell;

	foreach(cell, conjuncts)
	{
		Node *left;
		Node *right;
		int	  a;
		int	  b;

		if (!is_unit_equality(lfirst(cell), &left, &right))
			continue;
		a = term_of(ties, left);
		b = term_of(ties, right);
		if (a >= 0 && b >= 0)
			ties->terms[root_of(ties, a)].parent = root_of(ties, b);
	}
}

bool
ties_hold(Ties *ties, int part, int other)
{
	return root_of(ties, part) == root_of(ties, other);
}

/* The innermost row outside: if that is of the right unit, so are those around it. */
bool
ties_to_outer(Ties *ties, int part, Pin *pin)
{
	for (Scope *scope = ties->scope->outer; scope != NULL; scope = scope->outer)
		for (int i = 0; i < ties->count; i++)
			if (ties->terms[i].scope == scope && ties->terms[i].member > 0 &&
				ties->terms[i].column == 0 && root_of(ties, i) == root_of(ties, part))
			{
				*pin = (Pin){scope, ties->terms[i].member};
				return true;
			}
	return false;
}
