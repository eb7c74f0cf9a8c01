/*
 * build.c
 *		SQL entry point that says what was built.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "server/compat.h"

PG_FUNCTION_INFO_V1(privpred_build);

Datum
privpred_build(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(PRIVPRED_VERSION));
}
