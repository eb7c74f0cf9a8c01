/*
 * accuracy.c
 *		release_accuracy: how good a model is, for everybody.
 *
 * It is measured on the units that the model holds out, noise is added, and all
 * budgets on the relation pay before the noise is drawn.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "catalog/cells.h"
#include "catalog/store.h"
#include "ledger/ledger.h"
#include "mechanism/accuracy/accuracy.h"
#include "request/train.h"
#include "server/citus.h"
#include "server/progress.h"

#define ACCURACY_EPSILON_MIN 0.001

/* ---------- which models ---------- */

/*
 * A model that is charged once is known to whoever has paid for it.  Of others each
 * answer must be as private as its pure price says, and its distribution known.
 */
static void
check_releasable(const ModelRecord *model, const ProtectedRelation *protected)
{
	const Mechanism *mechanism = model->mechanism;

	if (model->spec.nclasses == 0)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("model \"%s\" has no accuracy", model->name),
				errdetail("Its label is a number, without classes."),
				errhint("Declare bins by options => '{\"bins\": [0, 10, 100]}'."));
	if (mechanism->charge_kind != CHARGE_ONCE &&
		(mechanism->charge_kind != CHARGE_PER_ANSWER || mechanism->estimate_steps != NULL ||
		 model->pure_charge == NULL))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("the accuracy of models of mechanism \"%s\" cannot be released",
					   mechanism->name),
				errdetail("How much one unit that trains the model could move it is not known."),
				errhint("Make a student of it with privpred.distill, and release the student's "
						"accuracy."));
	check_holds_out(model);
	if (protected->declared_units == 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("an accuracy needs the declared number of protected units"),
				errdetail("How many units there really are is secret."),
				errhint("Declare about how many there are by "
						"privpred.protect(..., declared_units => N)."));
}

static int64
wanted_units(const ModelRecord *model, const ProtectedRelation *protected)
{
	int64 wanted = accuracy_units(protected->declared_units, model->holdout);

	if (wanted < 1)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("too few units are held out"),
				errdetail("Of " INT64_FORMAT " declared units %g are expected.",
						  protected->declared_units, protected->declared_units * model->holdout),
				errhint("Create a model with a larger holdout."));
	return wanted;
}

/* ---------- measuring ---------- */

/* The rows of a unit that have a label. */
static void
add_unit(AccuracySum *sum, const CachedModel *model, const UnitRows *unit)
{
	const MechanismSpec *spec = &model->record->spec;
	double				*probability = palloc_array(double, spec->nclasses);
	double				*right = palloc_array(double, unit->nrows);
	int					 nrows = 0;

	for (int i = 0; i < unit->nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (isnan(unit->label[i]))
			continue;
		mechanism_distribution(model->record->mechanism, true, &model->mechanism_model,
							   unit->x + (Size) i * spec->width, probability);
		right[nrows++] = probability[(int) unit->label[i]];
	}
	accuracy_add(sum, right, nrows);
}

static void
measure(AccuracySum *sum, const CachedModel *model, const ProtectedRelation *protected,
		const ViewProof *proof)
{
	bool one_row_each = units_are_rows(protected, proof); /* before the snapshot is taken */
	Oid	 owner = owner_code_check(model);
	MemoryContext  row_context;
	CatalogSession session;
	UnitSource	  *units;
	UnitRows	   unit;

	relation_owner_begin(&session, model->record->relid);
	citus_settings(false);
	row_context = AllocSetContextCreate(CurrentMemoryContext, "privpred held-out unit",
										ALLOCSET_DEFAULT_SIZES);
	units = units_open(model->record, protected, one_row_each, true);
	while (sum->units < sum->wanted && units->next(units, &unit))
	{
		MemoryContext  caller = MemoryContextSwitchTo(row_context);
		CatalogSession asking;

		owner_code_enter(&asking, owner);
		add_unit(sum, model, &unit);
		owner_code_leave(&asking, owner);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(row_context);
		progress_update(sum->units);
	}
	(void) units_close(units);
	catalog_end(&session);
	view_still_proved(proof);
}

/* ---------- the request ---------- */

static LedgerPrice
accuracy_price(const ModelRecord *model, EpsilonUnits epsilon)
{
	LedgerPrice price = request_price(model);

	price.kind = CHARGE_ONCE;
	price.training_id = description_number();
	price.finite = price.infinite =
		(Charge){.part[0] = {.shape = CHARGE_PURE, .times = 1, .epsilon = epsilon}};
	return price;
}

/* What the draw cannot be made with is refused before anybody pays. */
static EpsilonUnits
read_accuracy_epsilon(double epsilon)
{
	EpsilonUnits units;

	if (!(epsilon >= ACCURACY_EPSILON_MIN) ||
		!epsilon_to_units(epsilon, EPSILON_PER_ANSWER_MAX, &units))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("epsilon must be a number from %g to %g", ACCURACY_EPSILON_MIN,
					   EPSILON_PER_ANSWER_MAX),
				errdetail("It is what every budget on the relation pays."),
				errhint("Useful values lie between 0.1 and 1."));
	return units;
}

ReleasedAccuracy
request_release_accuracy(const char *name, double wanted_epsilon)
{
	const CachedModel *model = known_model_decoded(name, CurrentMemoryContext, GetUserId());
	const ModelRecord *record = model->record;
	bool			   once = record->mechanism->charge_kind == CHARGE_ONCE;
	LedgerPrice		   of_model = request_price(record);
	ReleasedAccuracy   result = {0};
	AccuracySum		   sum = {0};
	EpsilonUnits	   epsilon;
	LedgerPrice		   price;
	const Receipt	  *receipt;
	ProtectedRelation *protected;
	const ViewProof *proof;
	int64			 sensitivity;
	int64			 noisy;

	lock_own_relation(record->relid, AccessShareLock);
	PreventCommandIfReadOnly("privpred.release_accuracy()");
	epsilon = read_accuracy_epsilon(wanted_epsilon);
	protected = protected_relation_hold(record->relid);
	check_unit_columns(protected);
	check_protected_once(record->relid);
	check_spent_once(record->relid, record->population, 0);
	proof = view_prove_protected(protected);
	check_view_paid_once(proof);
	check_releasable(record, protected);
	result.units = sum.wanted = wanted_units(record, protected);
	sensitivity = accuracy_sensitivity(sum.wanted, once ? NULL : &of_model.infinite);
	progress_begin(name, record->relid);
	progress_phase("evaluating units", sum.wanted);
	measure(&sum, model, protected, proof);
	price = accuracy_price(record, epsilon);
	progress_phase("charging", -1);
	receipt = ledger_release_accuracy(&price, once ? &of_model : NULL);
	noisy = mechanism_accuracy(receipt, accuracy_mean(&sum), sensitivity, epsilon);
	result.accuracy = accuracy_number(noisy);
	result.error = accuracy_error(noisy, sum.wanted, sensitivity, epsilon);
	model_store_accuracy(record, result.accuracy, result.error);
	progress_end();
	return result;
}
