/*
 * sql_helpers.c
 *		PL/pgSQL functions that run as an owner are compiled as that owner.
 *
 * A session compiles a PL/pgSQL function once.  Types of its variables are looked up
 * then, with the search_path of that moment, and some settings are taken over.  So
 * an asker who calls a function before the owner's code does, under a search_path
 * of hers, could put a domain there whose checks run as the owner.  Plans of its
 * statements are no way: the server makes them anew under another search_path.
 *
 * While the owner's code runs, we are told of each PL/pgSQL function that begins,
 * and accept only what was compiled while code of the same owner ran.  What was not
 * is declared out of date, so that PL/pgSQL compiles it again, and the call is made
 * once more.  What was accepted has a mark that no other compilation has: the
 * identifier of its memory.  A debugger of the asker's sees nothing meanwhile.
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "plpgsql.h"
#include "utils/memutils.h"

#include "learner/learners.h"

/* More functions than SQL_HELPERS_PENDING in one answer are not compiled anew. */
#define MAX_REFUSALS (4 * SQL_HELPERS_PENDING)

#define MARK "privpred, compiled as "

/* What happens in the innermost call of owner's code. */
static SqlHelpers present;
static char		  present_mark[sizeof(MARK) + 10]; /* with the number of the owner */

static void check_function(PLpgSQL_execstate *state, PLpgSQL_function *function);

static PLpgSQL_plugin guard = {.func_setup = check_function};

static bool
is_pending(const PLpgSQL_function *function)
{
	for (int i = 0; i < present.npending; i++)
		if (present.pending[i] == function)
			return true;
	return false;
}

/*
 * Called before a function begins.  One that was declared out of date and runs
 * nonetheless was compiled in between, that is, here: PL/pgSQL looks at that in each
 * call, and uses the same place again.
 */
static void
check_function(PLpgSQL_execstate *state, PLpgSQL_function *function)
{
	const char *known = function->fn_cxt != NULL ? function->fn_cxt->ident : NULL;

	/* DO is compiled for each run. */
	if (!OidIsValid(function->fn_oid) || (known != NULL && strcmp(known, present_mark) == 0))
		return;
	/* An inner call may have compiled it for another owner, and left its mark. */
	if (is_pending(function) && (known == NULL || strncmp(known, MARK, strlen(MARK)) != 0))
	{
		MemoryContextSetIdentifier(function->fn_cxt,
								   MemoryContextStrdup(function->fn_cxt, present_mark));
		return;
	}
	PLPGSQL_XMIN(function) = InvalidTransactionId;
	if (!is_pending(function) && present.npending < SQL_HELPERS_PENDING)
		present.pending[present.npending++] = function;
	present.again = is_pending(function) && present.refusals++ < MAX_REFUSALS;
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("function %s was compiled for somebody else", function->fn_signature),
			errhint("It is compiled again."));
}

static PLpgSQL_plugin **
plugin_in_use(void)
{
	return (PLpgSQL_plugin **) find_rendezvous_variable("PLpgSQL_plugin");
}

static void
enter(const SqlHelpers *call)
{
	present = *call;
	snprintf(present_mark, sizeof(present_mark), MARK "%u", present.owner);
}

void
sql_helpers_begin(SqlHelpers *outer)
{
	SqlHelpers inner = {.plugin = &guard, .owner = GetUserId()};

	*outer = present;
	outer->plugin = *plugin_in_use();
	enter(&inner);
	*plugin_in_use() = &guard;
}

/*
 * What the inner call had compiled is out of date for the outer one, which goes on with
 * what was pending for it: else it would never end.
 */
void
sql_helpers_end(const SqlHelpers *outer)
{
	if (OidIsValid(outer->owner) && outer->owner != present.owner)
		for (int i = 0; i < present.npending; i++)
			PLPGSQL_XMIN((PLpgSQL_function *) present.pending[i]) = InvalidTransactionId;
	enter(outer);
	*plugin_in_use() = outer->plugin;
}

bool
sql_helpers_again(void)
{
	bool again = present.again;

	present.again = false;
	return again;
}
