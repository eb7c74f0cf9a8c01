/*
 * view_functions.c
 *		Which functions a view may call: those whose result is known to depend on
 *		nothing but their arguments, and on settings that training fixes.
 *
 * A function that was declared immutable need not be so, and its body may read any
 * table.  What the server and superusers have installed is trusted to be what it is
 * declared to be; bodies of SQL are read if they were stored as trees.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "catalog/view_walk.h"

/* Bodies within bodies. */
#define MAX_BODIES 32

bool
is_built_in(Oid object)
{
	return object < FirstNormalObjectId;
}

bool
is_plain_value_type(Oid type)
{
	static const Oid plain[] = {BOOLOID,	 INT2OID, INT4OID,	  INT8OID,	  FLOAT4OID,
								FLOAT8OID,	 TEXTOID, VARCHAROID, BPCHAROID,  NUMERICOID,
								CHAROID,	 DATEOID, TIMEOID,	  TIMETZOID,  TIMESTAMPOID,
								INTERVALOID, UUIDOID, BYTEAOID,	  JSONOID,	  JSONBOID,
								MONEYOID,	 BITOID,  VARBITOID,  UNKNOWNOID, TIMESTAMPTZOID};
	Oid				 element;

	type = getBaseType(type);
	element = get_element_type(type);
	if (OidIsValid(element))
		type = getBaseType(element);
	for (int i = 0; i < lengthof(plain); i++)
		if (type == plain[i])
			return true;
	return get_typtype(type) == TYPTYPE_ENUM;
}

/* ---------- one function ---------- */

pg_noreturn static void
refuse_function(ViewWalk *walk, Node *call, Oid function, const char *why, const char *hint)
{
	view_refuse(walk, call, ERRCODE_FEATURE_NOT_SUPPORTED,
				psprintf("function %s cannot be used in view \"%s\"", format_procedure(function),
						 get_rel_name(walk->view)),
				why, hint);
}

/* Stable functions of the server's that look at more than settings and the clock. */
static bool
looks_around(const char *name)
{
	static const char *const prefixes[] = {"pg_",		   "txid_", "has_", "inet_", "lo_",
										   "row_security", "ts_",	"col_", "obj_",	 "shobj_"};

	for (int i = 0; i < lengthof(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool
types_are_plain(Node *call, List *arguments)
{
	ListCell *cell;

	if (call != NULL && !is_plain_value_type(exprType(call)))
		return false;
	foreach(cell, arguments)
		if (!is_plain_value_type(exprType(lfirst(cell))))
			return false;
	return true;
}

/* One SELECT without FROM, of parameters. */
static Query *
body_as_query(Node *body)
{
	Query *query;

	if (IsA(body, List) && list_length((List *) body) == 1)
		body = linitial((List *) body);
	if (IsA(body, List) && list_length((List *) body) == 1)
		body = linitial((List *) body);
	query = (Query *) body;
	if (!IsA(query, Query) || query->commandType != CMD_SELECT || query->rtable != NIL ||
		query->cteList != NIL || query->setOperations != NULL || query->hasAggs ||
		query->hasWindowFuncs || query->hasSubLinks || query->hasTargetSRFs ||
		query->limitCount != NULL || query->limitOffset != NULL || query->havingQual != NULL ||
		list_length(query->targetList) != 1 ||
		(query->jointree != NULL && query->jointree->quals != NULL))
		return NULL;
	return query;
}

static void
check_body(ViewWalk *walk, Node *call, Oid function, HeapTuple tuple)
{
	Scope  scope = {0};
	bool   isnull;
	Datum  body = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &isnull);
	Query *query;

	if (isnull)
		refuse_function(walk, call, function,
						"Its body is a text, which is read anew at each call, and may read "
						"any table.",
						"Define it with RETURN expression, or write the expression into the view.");
	query = body_as_query(stringToNode(TextDatumGetCString(body)));
	if (query == NULL || walk->body >= MAX_BODIES)
		refuse_function(walk, call, function, "Its body is more than one expression.",
						"Define it with RETURN expression, or write the expression into the view.");
	walk->body++;
	scope.query = query;
	view_exact(walk, &scope, (Node *) linitial_node(TargetEntry, query->targetList)->expr);
	walk->body--;
}

static void
check_language(ViewWalk *walk, Node *call, Oid function, HeapTuple tuple)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);

	if (form->prolang == SQLlanguageId && !form->proretset)
		check_body(walk, call, function, tuple);
	else if ((form->prolang != ClanguageId && form->prolang != INTERNALlanguageId) ||
			 form->provolatile != PROVOLATILE_IMMUTABLE)
		refuse_function(walk, call, function,
						form->prolang == ClanguageId || form->prolang == INTERNALlanguageId
							? "It is not immutable, and may read any table."
							: "What it reads cannot be seen.",
						"Write it as an expression, or as a function of LANGUAGE sql with RETURN.");
}

/* A function may be replaced at any time: its row tells. */
static void
note_function(ViewWalk *walk, Oid function, HeapTuple tuple)
{
	walk->functions = lappend_oid(walk->functions, function);
	appendStringInfo(walk->digest, "f%u %u %u %u\n", function,
					 HeapTupleHeaderGetRawXmin(tuple->t_data),
					 ItemPointerGetBlockNumberNoCheck(&tuple->t_self),
					 ItemPointerGetOffsetNumberNoCheck(&tuple->t_self));
}

void
view_function(ViewWalk *walk, Scope *scope, Node *call, Oid function, List *arguments)
{
	HeapTuple	 tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->provolatile == PROVOLATILE_VOLATILE)
		refuse_function(walk, call, function, "It is volatile.",
						"Use values of the row, or a function that is declared IMMUTABLE.");
	if (form->prosecdef || !heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL))
		refuse_function(walk, call, function, "It changes rights or settings while it runs.",
						"Use a function without SECURITY DEFINER and SET.");
	if (is_built_in(function))
	{
		if (form->provolatile == PROVOLATILE_STABLE &&
			(looks_around(NameStr(form->proname)) || !types_are_plain(call, arguments)))
			refuse_function(walk, call, function, "It may read tables or catalogs.",
							"Use functions of numbers, texts and times.");
	}
	else
	{
		/* Defaults are filled in by the planner, and are code of their own. */
		if (form->prokind == PROKIND_FUNCTION && list_length(arguments) < form->pronargs)
			refuse_function(walk, call, function, "Defaults of its arguments are used.",
							"Give all arguments.");
		if (form->prokind == PROKIND_FUNCTION && !list_member_oid(walk->functions, function))
			check_language(walk, call, function, tuple);
	}
	if (!list_member_oid(walk->functions, function))
		note_function(walk, function, tuple);
	ReleaseSysCache(tuple);
}
