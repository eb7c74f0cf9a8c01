/*
 * limits.c
 *		How many candidates a declared number of units can choose among.
 */
#include "c.h"

#include <math.h>

#include "mechanism/cover/limits.h"

/* By what the logarithms of the two limits grow with each unit. */
static double
sampling_rate(const CoverPlan *plan)
{
	return plan->realizable ? plan->accuracy / 32 : plan->accuracy * plan->accuracy / 8;
}

static double
privacy_rate(const CoverPlan *plan)
{
	return plan->epsilon * plan->accuracy / 8;
}

double
cover_log_limit(const CoverPlan *plan, double units)
{
	return Min(units * sampling_rate(plan) - log(4 / plan->beta),
			   units * privacy_rate(plan) - log(2 / plan->beta));
}

double
cover_units_for_log(const CoverPlan *plan, double log_candidates)
{
	double units = ceil(Max((log_candidates + log(4 / plan->beta)) / sampling_rate(plan),
							(log_candidates + log(2 / plan->beta)) / privacy_rate(plan)));

	/* Rounding must not make a hint that does not help. */
	return units * (1 + 1e-12) + 1;
}

double
cover_units_for(const CoverPlan *plan, double candidates)
{
	return cover_units_for_log(plan, log(candidates));
}

double
cover_units_for_dimension(const CoverPlan *plan, double dimension)
{
	return cover_units_for_log(plan, dimension * log(16 / plan->accuracy));
}
