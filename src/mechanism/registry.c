/*
 * registry.c
 *		Names to mechanisms.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "mechanism/mechanism.h"

/* In alphabetical order, as hints print them. */
static const Mechanism *const mechanisms[] = {
	&average_mechanism,
	&vote_mechanism,
};

const Mechanism *
mechanism_lookup(const char *name)
{
	for (int i = 0; i < lengthof(mechanisms); i++)
	{
		if (strcmp(mechanisms[i]->name, name) == 0)
			return mechanisms[i];
	}
	return NULL;
}

char *
mechanism_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(mechanisms); i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", mechanisms[i]->name);
	return names.data;
}
