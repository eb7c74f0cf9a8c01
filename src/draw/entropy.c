/*
 * entropy.c
 *		The sampler's failures as server errors.
 *
 * Apart from the samplers themselves, so that unit tests can supply their own.
 */
#include "postgres.h"

#include "draw/sampler.h"

void
sampler_no_entropy(void)
{
	ereport(ERROR, errcode(ERRCODE_SYSTEM_ERROR),
			errmsg("could not obtain random bytes from the operating system"),
			errdetail("No private answer can be drawn without them."),
			errhint("Check the system's random number source and retry."));
}

void
sampler_out_of_range(const char *function)
{
	elog(ERROR, "argument of %s is out of range", function);
}
