/*
 * registry.c
 *		Names to learners.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "learner/learners.h"

/* In alphabetical order, for hints. */
static const Learner *const learners[] = {
	&boost_learner,	   &centroid_learner,	 &forest_learner, &linear_learner,
	&logistic_learner, &naive_bayes_learner, &sql_learner,	  &stump_learner,
	&svm_learner,	   &threshold_learner,	 &tree_learner,
};

const Learner *
learner_lookup(const char *name)
{
	for (int i = 0; i < lengthof(learners); i++)
		if (strcmp(learners[i]->name, name) == 0)
			return learners[i];
	return NULL;
}

char *
learner_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(learners); i++)
		if (!learners[i]->aggregate_only)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", learners[i]->name);
	return names.data;
}
