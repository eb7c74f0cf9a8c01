/*
 * registry.c
 *		Names to learners.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "learner/learners.h"

#define LEARNER_ADDRESS(name) &name##_learner,
static const Learner *const learners[] = {LEARNERS(LEARNER_ADDRESS)};

const Learner *
learner_lookup(const char *name)
{
	for (int i = 0; i < lengthof(learners); i++)
		if (strcmp(learners[i]->name, name) == 0)
			return learners[i];
	return NULL;
}

static char *
list_names(bool of_numbers)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(learners); i++)
		if (!learners[i]->aggregate_only && !(of_numbers && learners[i]->fit_numbers == NULL))
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", learners[i]->name);
	return names.data;
}

char *
learner_names(void)
{
	return list_names(false);
}

char *
learner_names_of_numbers(void)
{
	return list_names(true);
}
