/*
 * teach.c
 *		SQL entry points of the training query: teachers, each with the digest of
 *		what it was fitted on, and without those that are known already.
 *
 * A teacher leaves as bytes: its digest, then its predictor, or nothing if the digest
 * was among the known ones, which come as one string in order.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "entry/entry.h"
#include "entry/states.h"
#include "learner/learner.h"
#include "server/digest.h"
#include "server/progress.h"

PG_FUNCTION_INFO_V1(teach_transition);
PG_FUNCTION_INFO_V1(teach_combine);
PG_FUNCTION_INFO_V1(teach_serialize);
PG_FUNCTION_INFO_V1(teach_deserialize);
PG_FUNCTION_INFO_V1(teach_finish);
PG_FUNCTION_INFO_V1(privpred_teach_state);

typedef struct TeachState
{
	TrainingState *training;
	const bytea	  *known; /* NULL: none, or the state came from another process */
} TeachState;

/* One copy for all states of a query: there may be as many known digests as states. */
static const bytea *
known_argument(FunctionCallInfo fcinfo, int number)
{
	if (PG_ARGISNULL(number))
		return NULL;
	if (fcinfo->flinfo->fn_extra == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra = PG_GETARG_BYTEA_P_COPY(number);
		MemoryContextSwitchTo(caller);
	}
	return fcinfo->flinfo->fn_extra;
}

static const Learner *
learner_argument(FunctionCallInfo fcinfo, int number)
{
	const Learner *learner =
		PG_ARGISNULL(number) ? NULL : learner_lookup(text_to_cstring(PG_GETARG_TEXT_PP(number)));

	if (learner == NULL || learner->aggregate_only)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no such learner"),
				errhint("Learners are: %s.", learner_names()));
	return learner;
}

static TeachState *
create_state(FunctionCallInfo fcinfo, int width)
{
	const Learner *learner = learner_argument(fcinfo, 3);
	Oid			   label_type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	TeachState	  *state = palloc_object(TeachState);
	LearnerOptions options;

	learner_parse_options(learner, PG_ARGISNULL(4) ? NULL : PG_GETARG_JSONB_P(4), &options);
	if (learner->runs_user_code)
		learner_check_sql_functions(&options, label_type);
	if (learner->prepare)
		learner->prepare();
	state->training = training_create(learner, &options,
									  OidIsValid(label_type) ? getBaseType(label_type) : InvalidOid,
									  width, (Size) maintenance_work_mem * 1024);
	state->known = known_argument(fcinfo, 5);
	return state;
}

/* teach(label, features, learner, options, known) */
Datum
teach_transition(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	TeachState	 *state = pointer_argument(fcinfo, 0);
	MemoryContext caller;
	const double *features;
	ArrayType	 *array;
	int			  width;

	require_row_features(fcinfo, 2);
	array = PG_GETARG_ARRAYTYPE_P(2);
	if (state == NULL)
	{
		width = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
		caller = MemoryContextSwitchTo(context);
		state = create_state(fcinfo, width);
		MemoryContextSwitchTo(caller);
	}
	features =
		features_from_array(array, training_learner(state->training)->accepts_missing, &width);
	caller = MemoryContextSwitchTo(context);
	training_check_width(state->training, width);
	training_add(state->training, PG_GETARG_DATUM(1), PG_ARGISNULL(1), features);
	MemoryContextSwitchTo(caller);
	PG_RETURN_POINTER(state);
}

Datum
teach_combine(PG_FUNCTION_ARGS)
{
	MemoryContext	  context = aggregate_context(fcinfo);
	TeachState		 *target = pointer_argument(fcinfo, 0);
	const TeachState *source = pointer_argument(fcinfo, 1);

	if (source != NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		if (target == NULL)
		{
			target = palloc0_object(TeachState);
			target->training = training_create_like(source->training);
		}
		training_merge(target->training, source->training);
		MemoryContextSwitchTo(caller);
	}
	return pointer_result(fcinfo, target);
}

Datum
teach_serialize(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(training_serialize(((TeachState *) PG_GETARG_POINTER(0))->training));
}

Datum
teach_deserialize(PG_FUNCTION_ARGS)
{
	TeachState *state = palloc0_object(TeachState);

	(void) aggregate_context(fcinfo);
	state->training = training_deserialize(PG_GETARG_BYTEA_PP(0));
	PG_RETURN_POINTER(state);
}

/* NULL if no class is known at all. */
static bytea *
teach(const TrainingState *state, const bytea *known)
{
	uint8	   digest[DIGEST_BYTES] = {0};
	Size	   nknown = known ? VARSIZE_ANY_EXHDR(known) / DIGEST_BYTES : 0;
	Predictor *predictor = training_finish_unless(
		state, known ? (const uint8 *) VARDATA_ANY(known) : NULL, nknown, digest);
	Size   size = predictor ? VARSIZE_ANY_EXHDR(predictor) : 0;
	bytea *result = palloc(VARHDRSZ + DIGEST_BYTES + size);

	SET_VARSIZE(result, VARHDRSZ + DIGEST_BYTES + size);
	memcpy(VARDATA(result), digest, DIGEST_BYTES);
	if (predictor != NULL)
		memcpy(VARDATA(result) + DIGEST_BYTES, VARDATA_ANY(predictor), size);
	progress_step();
	return result;
}

Datum
teach_finish(PG_FUNCTION_ARGS)
{
	const TeachState *state = pointer_argument(fcinfo, 0);

	(void) aggregate_context(fcinfo);
	return pointer_result(fcinfo, state ? teach(state->training, state->known) : NULL);
}

/* The same of a state that came from other nodes. */
Datum
privpred_teach_state(PG_FUNCTION_ARGS)
{
	const TrainingState *state;
	const Learner		*learner;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = training_state_of(PG_GETARG_DATUM(0));
	learner = training_learner(state);
	if (learner->prepare)
		learner->prepare();
	PG_RETURN_BYTEA_P(teach(state, PG_ARGISNULL(1) ? NULL : PG_GETARG_BYTEA_PP(1)));
}
