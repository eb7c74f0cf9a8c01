/*
 * registry.c
 *		Names to mechanisms.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "mechanism/mechanism.h"

/* In alphabetical order, as hints print them. */
static const Mechanism *const mechanisms[] = {
	&average_mechanism,		  &cover_mechanism,		  &distill_mechanism,	 &gradient_mechanism,
	&label_private_mechanism, &littlestone_mechanism, &relabel_mechanism,	 &soft_mechanism,
	&sparse_mechanism,		  &stable_mechanism,	  &stable_erm_mechanism, &stable_flip_mechanism,
	&threshold_mechanism,	  &vote_mechanism,
};

const Mechanism *
mechanism_number(int number)
{
	return number < lengthof(mechanisms) ? mechanisms[number] : NULL;
}

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

const char *
charge_kind_name(ChargeKind kind)
{
	switch (kind)
	{
		case CHARGE_PER_ANSWER:
			return "per_answer";
		case CHARGE_PER_STREAM:
			return "per_stream";
		case CHARGE_ONCE:
			return "once";
	}
	return NULL; /* not reached */
}

bool
mechanism_charge(const Mechanism *mechanism, const MechanismSpec *spec, bool order_is_infinite,
				 Charge *charge)
{
	memset(charge, 0, sizeof(Charge));
	if (mechanism->owner_only)
		return false;
	if (mechanism->charge != NULL)
		return mechanism->charge(spec, order_is_infinite, charge);
	charge->part[0].shape = mechanism->shape(order_is_infinite);
	charge->part[0].times = 1;
	charge->part[0].epsilon = spec->epsilon;
	return true;
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
