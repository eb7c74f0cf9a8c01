/*
 * view_walk.h
 *		What the files share that prove a view unit-local (section 19 of
 *		docs/mechanisms.md has the definition and the rules).
 *
 * view_check.c			the check of a view from the outside; what it reads; digests
 * view_query.c			queries: grouping, windows, DISTINCT, LIMIT, their columns
 * view_from.c			members of FROM, joins, WITH
 * view_setops.c		UNION, INTERSECT, EXCEPT
 * view_keys.c			key expressions, unit equalities, and what they tie together
 * view_expr.c			expressions, and the columns known up to equality
 * view_sublink.c		subqueries in expressions
 * view_functions.c		functions and types
 * view_aggregates.c	aggregates and window functions
 * view_order.c			types with identity, and total orders
 * view_rows.c			columns that no two rows share
 * view_refuse.c		refusals, with their place in the view's text
 *
 * The walk knows a list of nodes, and refuses all others.
 */
#ifndef PRIVPRED_VIEW_WALK_H
#define PRIVPRED_VIEW_WALK_H

#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"

#include "catalog/relations.h"
#include "server/privpred.h"

/* Whose rows decide what a part of a query returns, given the rows of outer queries. */
typedef enum Locality
{
	VIEW_PUBLIC, /* nobody's: a function of public tables */
	VIEW_LOCAL,	 /* rows of owner v depend on v's rows alone; the keys say whose a row is */
	VIEW_PINNED	 /* all rows depend on the owner of outer rows alone: see pins */
} Locality;

/* What is known of a member of FROM, or of a query. */
typedef struct Finding
{
	Locality	locality;
	Bitmapset  *keys;	 /* local: columns; those that are not NULL are equal, to the row's owner */
	List	   *pins;	 /* pinned: of Pin */
	Bitmapset  *loose;	 /* columns known up to equality only: 1.0 or 1.00, 0 or -0 */
	const char *name;	 /* local, pinned: a protected table below, for messages */
	Bitmapset  *single;	 /* columns that no two rows share, unless they are NULL */
	bool		one_row; /* there is one at most, given the rows of outer queries */
} Finding;

/* A rule: where a column of the region is not NULL, neither are those of never_null. */
typedef struct NullRule
{
	Bitmapset *region;
	Bitmapset *never_null;
} NullRule;

/* A query that is being walked. */
typedef struct Scope
{
	struct Scope *outer;
	Query		 *query;   /* join aliases flattened */
	Finding		**members; /* by range table index; NULL: not in FROM, or not reached yet */
	Bitmapset	 *keys;	   /* of all local members, as key numbers */
	List		 *null_rules;
	List		 *pins;		   /* of members and subqueries, to this scope and further out */
	List		 *ctes;		   /* findings of WITH, NULL if not walked yet */
	List		 *group_exprs; /* grouping expressions */
	bool		  grouped;	   /* what is walked now are groups, not rows */
	bool		  public_only; /* inside functions and VALUES: no private subqueries */
	bool		  case_loose;  /* what CaseTestExpr stands for is known up to equality */
	Finding		 *sublink;	   /* what sublink parameters stand for */
} Scope;

/* The row of an outer query whose owner's rows alone are read: the row of one member of it. */
typedef struct Pin
{
	Scope *scope;
	int	   member;
} Pin;

typedef struct ViewWalk
{
	Oid				   view;	  /* the one to be proved */
	Oid				   owner;	  /* of it, and of every protected table and view below */
	List			  *publics;	  /* OIDs of the tables that are declared public */
	List			  *tables;	  /* OIDs of protected tables that were found */
	Oid				   current;	  /* the view whose tree is walked */
	const char		  *text;	  /* the text that the tree was parsed from; NULL: it was stored */
	List			  *views;	  /* OIDs of views that were walked, */
	List			  *findings;  /* and what was found */
	List			  *functions; /* OIDs of those that were checked */
	ProtectedRelation *first;	  /* of the protected tables that were reached */
	bool			   one_row_a_unit; /* no two rows of the view have one unit */
	int				   body;		   /* how deep we are in bodies of SQL functions */
	StringInfo		   digest;		   /* of everything that was walked */
} ViewWalk;

/* A key column of a scope as one number. */
#define KEY_NUMBER(member, column) ((member) *2048 + (column))
#define KEY_MEMBER(number) ((number) / 2048)

#define scope_of_level(scope, level) outer_scope(scope, level)

static inline Scope *
outer_scope(Scope *scope, int level)
{
	while (level-- > 0 && scope != NULL)
		scope = scope->outer;
	return scope;
}

/* ---------- view_check.c ---------- */

/* The member of FROM that a relation is. */
extern Finding *view_relation(ViewWalk *walk, RangeTblEntry *entry);

/* ---------- view_query.c ---------- */

extern Finding *view_query(ViewWalk *walk, Query *query, Scope *outer);

/* ---------- view_from.c ---------- */

/* Walks FROM and WHERE; sets what the scope knows of its members, and says what they are. */
extern Finding *view_from(ViewWalk *walk, Scope *scope);

/* The conditions that a condition is the conjunction of. */
extern List *conjuncts_of(Node *condition);

/* ---------- view_setops.c ---------- */

extern Finding *view_set_operations(ViewWalk *walk, Scope *scope);

/* ---------- view_keys.c ---------- */

/* A column, seen through casts that keep its class and value; NULL: it is none. */
extern Var *key_column(Node *node);

/* The key columns of the scope that an expression is one of, or COALESCE of; NULL: none. */
extern Bitmapset *key_expression(Scope *scope, Node *node);

/* The member whose key an expression is, in this scope or further out. */
extern bool key_of_member(Scope *scope, Node *node, Pin *pin);

/* Types whose equality is one: integers, texts, or the same base type.  InvalidOid: none. */
extern Oid unit_class(Oid type);

/* Is it the default equality of the class of both its arguments? */
extern bool is_unit_equality(Node *node, Node **left, Node **right);

/* The keys of the scope that are NULL only where all of these are. */
extern Bitmapset *keys_within(Scope *scope, Bitmapset *keys);

/* A part of FROM: a member, or what an outer join made of several. */
typedef struct Part
{
	Bitmapset  *keys; /* of its local members, as key numbers; NULL: it has none */
	const char *name;
} Part;

/* Parts and outer rows that equalities tie together. */
typedef struct Ties Ties;

extern Ties *ties_begin(Scope *scope, List *parts);
extern void	 ties_add(Ties *ties, List *conjuncts);
extern bool	 ties_hold(Ties *ties, int part, int other);
extern bool	 ties_to_outer(Ties *ties, int part, Pin *pin);

/* ---------- view_expr.c ---------- */

/* Raises unless an expression is a function of its row; true: it is known up to equality. */
extern bool view_expr(ViewWalk *walk, Scope *scope, Node *node);

/* The same for expressions that must be known exactly. */
extern void view_exact(ViewWalk *walk, Scope *scope, Node *node);
extern void view_exact_list(ViewWalk *walk, Scope *scope, List *nodes);

/* Is it a comparison of a btree, in which equal values are alike? */
extern bool is_comparison(Oid opno);

/* ---------- view_sublink.c ---------- */

extern bool view_sublink(ViewWalk *walk, Scope *scope, SubLink *sublink);

/* A condition of WHERE, ON or HAVING: its conjuncts, where "u IN (SELECT u ...)" may stand. */
extern void view_conjuncts(ViewWalk *walk, Scope *scope, List *conjuncts);

/* ---------- view_functions.c ---------- */

/* Raises unless a function's result depends on nothing but its arguments and settings. */
extern void view_function(ViewWalk *walk, Scope *scope, Node *call, Oid function, List *arguments);
extern bool is_plain_value_type(Oid type);
extern bool is_built_in(Oid object);

/* ---------- view_aggregates.c ---------- */

extern bool view_aggregate(ViewWalk *walk, Scope *scope, Aggref *aggregate);
extern bool view_window_function(ViewWalk *walk, Scope *scope, WindowFunc *function);
extern void view_windows(ViewWalk *walk, Scope *scope, Finding *finding, Bitmapset **keys);

/* ---------- view_order.c ---------- */

/* Are equal values of the type the same bytes? */
extern bool type_has_identity(Oid type, Oid collation);
extern bool has_identity(Node *node);

/* Does the clause tell values apart as their type itself does? */
extern bool is_default_equality(SortGroupClause *clause, Node *node);

/* Numbers whose equal values may have different bytes. */
extern bool is_loose_type(Oid type);

/* Does the order of a query's rows decide everything that it selects? */
typedef enum OrderKind
{
	ORDER_NONE,
	ORDER_COVERS, /* rows that tie are alike */
	ORDER_UNIQUE  /* no rows tie */
} OrderKind;

/* Clauses are of ORDER BY, or of a window's PARTITION BY and ORDER BY. */
extern OrderKind total_order(Scope *scope, List *clauses, bool of_window);

/* ---------- view_rows.c ---------- */

/* Columns that are keys by themselves, of a table that is open. */
extern Bitmapset *single_columns(Relation table, bool with_children);

/* Sets which columns of a query that was walked are single, and whether it has one row. */
extern void view_rows(Scope *scope, Finding *finding);

/* ---------- view_refuse.c ---------- */

/* What is wrong, and how it is put right: sentences.  The node is where. */
pg_noreturn extern void view_refuse(ViewWalk *walk, Node *node, int code, const char *message,
									const char *detail, const char *hint);
pg_noreturn extern void
view_mixes(ViewWalk *walk, Node *node, const char *detail, const char *hint);
pg_noreturn extern void
view_unpinned(ViewWalk *walk, Node *node, const char *detail, const char *hint);
pg_noreturn extern void
view_disorder(ViewWalk *walk, Node *node, const char *detail, const char *hint);
pg_noreturn extern void
view_unknown(ViewWalk *walk, Node *node, const char *detail, const char *hint);

#endif /* PRIVPRED_VIEW_WALK_H */
