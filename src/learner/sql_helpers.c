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

/* More functions than that in one answer are not compiled anew. */
#define MAX_PENDING 64

#define MARK "privpred, compiled as "

/* What happens in the innermost call of owner's code. */
static struct
{
	Oid				  owner;
	bool			  again;	/* something was declared out of date */
	int				  npending; /* things that were, since the call began */
	PLpgSQL_function *pending[MAX_PENDING];
	char			  mark[sizeof(MARK) + 10]; /* with the number of the owner */
} present;

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
	if (!OidIsValid(function->fn_oid) || (known != NULL && strcmp(known, present.mark) == 0))
		return;
	if (is_pending(function))
	{
		MemoryContextSetIdentifier(function->fn_cxt,
								   MemoryContextStrdup(function->fn_cxt, present.mark));
		return;
	}
	if (present.npending < MAX_PENDING)
	{
		PLPGSQL_XMIN(function) = InvalidTransactionId;
		present.pending[present.npending++] = function;
		present.again = true;
	}
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
enter(void *plugin, Oid owner, bool again)
{
	*plugin_in_use() = plugin;
	present.owner = owner;
	present.again = again;
	present.npending = 0;
	snprintf(present.mark, sizeof(present.mark), MARK "%u", owner);
}

void
sql_helpers_begin(SqlHelpers *outer)
{
	*outer = (SqlHelpers){*plugin_in_use(), present.owner, present.again};
	enter(&guard, GetUserId(), false);
}

/* What was pending for the outer call may have been compiled in the inner one. */
void
sql_helpers_end(const SqlHelpers *outer)
{
	enter(outer->plugin, outer->owner, outer->again);
}

bool
sql_helpers_again(void)
{
	bool again = present.again;

	present.again = false;
	return again;
}
