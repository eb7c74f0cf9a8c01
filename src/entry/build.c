/*
 * build.c
 *		SQL entry point that says what was built.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "server/compat.h"
#include "server/mutant.h"

PG_FUNCTION_INFO_V1(privpred_build);

Datum
privpred_build(PG_FUNCTION_ARGS)
{
	mutant_warn();
	PG_RETURN_TEXT_P(cstring_to_text(mutant_build()));
}
