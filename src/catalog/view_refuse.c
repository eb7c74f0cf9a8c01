/*
 * view_refuse.c
 *		Refusals of views, with their place in the view's text.
 *
 * Stored trees do not know where in the text they came from.  So a view that is
 * refused is walked again as the server deparses it, for the place alone; the
 * verdict is that of the stored tree.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "catalog/view_walk.h"

static char *
view_text(Oid view)
{
	return TextDatumGetCString(DirectFunctionCall1(pg_get_viewdef, ObjectIdGetDatum(view)));
}

/* The same refusal, but it knows the place.  Returns if there is none, against expectation. */
static void
walk_text(const ViewWalk *walk)
{
	ViewWalk again = *walk;
	RawStmt *statement;

	again.text = view_text(walk->current);
	again.views = list_copy(walk->views);
	again.findings = list_copy(walk->findings);
	again.functions = NIL;
	again.first = NULL;
	again.body = 0;
	again.digest = makeStringInfo();
	statement = linitial_node(RawStmt, raw_parser(again.text, RAW_PARSE_DEFAULT));
	(void) view_query(&again, parse_analyze_fixedparams(statement, again.text, NULL, 0, NULL),
					  NULL);
}

static int
place_of(const ViewWalk *walk, Node *node)
{
	int location = walk->text != NULL && node != NULL ? exprLocation(node) : -1;

	return location < 0 ? 0 : pg_mbstrlen_with_len(walk->text, location) + 1;
}

void
view_refuse(ViewWalk *walk, Node *node, int code, const char *message, const char *detail,
			const char *hint)
{
	int place = place_of(walk, node);

	if (walk->text == NULL && OidIsValid(walk->current))
		walk_text(walk);
	ereport(ERROR, errcode(code), errmsg("%s", message), errdetail("%s", detail),
			errhint("%s", hint), place > 0 ? internalerrquery(walk->text) : 0,
			place > 0 ? internalerrposition(place) : 0,
			walk->current != walk->view && OidIsValid(walk->current)
				? errcontext("view \"%s\", which view \"%s\" reads", get_rel_name(walk->current),
							 get_rel_name(walk->view))
				: 0);
}

void
view_mixes(ViewWalk *walk, Node *node, const char *detail, const char *hint)
{
	view_refuse(walk, node, ERRCODE_FEATURE_NOT_SUPPORTED,
				psprintf("view \"%s\" mixes rows of different units", get_rel_name(walk->view)),
				detail, hint);
}

void
view_unpinned(ViewWalk *walk, Node *node, const char *detail, const char *hint)
{
	view_refuse(walk, node, ERRCODE_FEATURE_NOT_SUPPORTED,
				psprintf("a subquery of view \"%s\" is not restricted to the unit of the row "
						 "around it",
						 get_rel_name(walk->view)),
				detail, hint);
}

void
view_disorder(ViewWalk *walk, Node *node, const char *detail, const char *hint)
{
	view_refuse(walk, node, ERRCODE_FEATURE_NOT_SUPPORTED,
				psprintf("view \"%s\" depends on the order of rows", get_rel_name(walk->view)),
				detail, hint);
}

void
view_unknown(ViewWalk *walk, Node *node, const char *detail, const char *hint)
{
	view_refuse(
		walk, node, ERRCODE_FEATURE_NOT_SUPPORTED,
		psprintf("view \"%s\" cannot be proved to keep units apart", get_rel_name(walk->view)),
		detail, hint);
}
