/*
 * registry.c
 *		Names to mechanisms, and the guards that all of them need.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "mechanism/mechanism.h"

#define MECHANISM_ENTRY(name) &name##_mechanism,
static const Mechanism *const mechanisms[] = {MECHANISMS(MECHANISM_ENTRY)};

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

char *
mechanism_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(mechanisms); i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", mechanisms[i]->name);
	return names.data;
}

const char *
charge_kind_name(ChargeKind kind)
{
	static const char *const names[] = {
		[CHARGE_PER_ANSWER] = "per_answer",
		[CHARGE_PER_STREAM] = "per_stream",
		[CHARGE_ONCE] = "once",
	};

	return names[kind];
}

void
mechanism_validate(const Mechanism *mechanism, const MechanismSpec *spec)
{
	bool number = mechanism->numeric_labels && spec->nclasses == 0;

	if (mechanism->two_classes && spec->nclasses != 2 && !number)
		refuse(errmsg("mechanism \"%s\" needs two classes%s, not %d", mechanism->name,
					  mechanism->numeric_labels ? " or a number" : "", spec->nclasses),
			   errhint("Declare two classes, or use mechanism \"vote\" or \"sparse\"."));
	if (mechanism->needs_units && spec->declared_units == 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("mechanism \"%s\" needs the declared number of protected units",
					   mechanism->name),
				errdetail("How many units there really are is secret, so it cannot be used."),
				errhint("Declare about how many there are by "
						"privpred.protect(..., declared_units => N)."));
	if (mechanism->needs_unit_rows && spec->max_rows_per_unit == 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("mechanism \"%s\" needs a bound on the rows of a unit", mechanism->name),
				errdetail("No key of the relation says that a unit is a single row."),
				errhint("Declare it by privpred.protect(..., max_rows_per_unit => R); "
						"at most R rows of a unit are used."));
	options_check(spec->options, mechanism->options);
	if (mechanism->validate != NULL)
		mechanism->validate(spec);
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
	charge->part[0] = (ChargePart){
		.shape = order_is_infinite ? mechanism->infinite_shape : mechanism->finite_shape,
		.times = 1,
		.epsilon = spec->epsilon,
	};
	return true;
}

void
check_training_memory(Size needed, Size memory)
{
	if (needed > memory)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY),
				errmsg("training needs at least %zu kB, more than maintenance_work_mem (%zu kB)",
					   needed / 1024 + 1, memory / 1024),
				errhint("Raise maintenance_work_mem, or declare less: fewer columns, levels, "
						"classes, points, units or batches, or a larger accuracy."));
}

void
state_damaged(void)
{
	ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("the stored state of a model is damaged"),
			errhint("Train it again with privpred.retrain()."));
}
