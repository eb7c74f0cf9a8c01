/*
 * mutant.c
 *		A build that is wrong on purpose says so, wherever it is met.
 */
#include "postgres.h"

#include "server/mutant.h"

#define MUTANT_NAME(name, what) [MUTANT_##name] = #name,
#define MUTANT_MISTAKE(name, what) [MUTANT_##name] = what,

static const char *const names[] = {[MUTANT_NONE] = "", PRIVPRED_MUTANTS(MUTANT_NAME)};
static const char *const mistakes[] = {[MUTANT_NONE] = "", PRIVPRED_MUTANTS(MUTANT_MISTAKE)};

void
mutant_warn(void)
{
	if (MUTANT_BUILD)
		ereport(
			WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("this build of privpred is not private: it is the mutant \"%s\"",
					names[MUTANT_CHOSEN]),
			 errdetail("Its mistake: %s.", mistakes[MUTANT_CHOSEN]),
			 errhint(
				 "It is for testing audits.  Build again with plain \"make\" and \"make install\".")));
}

const char *
mutant_build(void)
{
	if (!MUTANT_BUILD)
		return PRIVPRED_VERSION;
	return psprintf("%s, NOT PRIVATE: mutant %s", PRIVPRED_VERSION, names[MUTANT_CHOSEN]);
}
