/*
 * predictor_facts.c
 *		What is known of a decoded ensemble, and whether it can be asked here.
 */
#include "postgres.h"

#include "access/xact.h"

#include "learner/ensemble.h"

void
ensemble_check_callable(const Ensemble *ensemble)
{
	if (ensemble->nsql > 0 && !INTERNAL_SUBTRANSACTION_OK())
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("a predictor of learner \"sql\" cannot be used in a parallel query"),
				errhint("Set max_parallel_workers_per_gather to 0."));
}

void
ensemble_check_functions(const Ensemble *ensemble)
{
	if (ensemble->nsql == 0)
		return;
	ensemble_check_callable(ensemble);
	sql_members_check(ensemble->sql);
}

int
ensemble_members(const Ensemble *ensemble)
{
	return ensemble->nmembers;
}

int
ensemble_fitted(const Ensemble *ensemble)
{
	int fitted = ensemble->nmembers;

	for (int i = 0; i < ensemble->nclasses; i++)
		fitted -= ensemble->constant_votes[i];
	return fitted;
}

int
ensemble_classes(const Ensemble *ensemble)
{
	return ensemble->nclasses;
}

int
ensemble_width(const Ensemble *ensemble)
{
	return ensemble->width;
}

int
ensemble_default_class(const Ensemble *ensemble)
{
	return ensemble->default_class;
}

const char *
ensemble_class_name(const Ensemble *ensemble, int class_index)
{
	return ensemble->names[class_index];
}

int
ensemble_class_index(const Ensemble *ensemble, const char *name, int length)
{
	for (int i = 0; i < ensemble->nclasses; i++)
		if (strncmp(ensemble->names[i], name, length) == 0 && ensemble->names[i][length] == '\0')
			return i;
	return -1;
}

bool
ensemble_accepts_missing(const Ensemble *ensemble)
{
	return ensemble->linear.n == 0 && ensemble->gaussian.n == 0 && ensemble->nstumps == 0 &&
		   ensemble->nthresholds == 0 && ensemble->nneighbours == 0 && ensemble->nsql == 0;
}

bool
ensemble_runs_sql(const Ensemble *ensemble)
{
	return ensemble->nsql > 0;
}
