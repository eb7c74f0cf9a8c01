/*
 * aggregates.c
 *		SQL entry points of learners: the type predictor, aggregates, teacher_of,
 *		predict and votes.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "catalog/features.h"
#include "entry/entry.h"
#include "learner/learners.h"
#include "server/progress.h"

PG_FUNCTION_INFO_V1(predictor_in);
PG_FUNCTION_INFO_V1(predictor_out);
PG_FUNCTION_INFO_V1(predictor_recv);
PG_FUNCTION_INFO_V1(learner_combine);
PG_FUNCTION_INFO_V1(learner_serialize);
PG_FUNCTION_INFO_V1(learner_deserialize);
PG_FUNCTION_INFO_V1(learner_finish);
PG_FUNCTION_INFO_V1(ensemble_transition);
PG_FUNCTION_INFO_V1(ensemble_combine);
PG_FUNCTION_INFO_V1(ensemble_serialize);
PG_FUNCTION_INFO_V1(ensemble_deserialize);
PG_FUNCTION_INFO_V1(ensemble_finish);
PG_FUNCTION_INFO_V1(teacher_of);
PG_FUNCTION_INFO_V1(privpred_unit_hash);
PG_FUNCTION_INFO_V1(predictor_predict);
PG_FUNCTION_INFO_V1(predictor_votes);

/* ---------- the type predictor ---------- */

Datum
predictor_in(PG_FUNCTION_ARGS)
{
	const char *input = PG_GETARG_CSTRING(0);
	Size		length = strlen(input);
	Size		size;
	char	   *bytes;

	if (length < 2 || length % 2 != 0 || strncmp(input, "\\x", 2) != 0 ||
		strspn(input + 2, "0123456789abcdefABCDEF") != length - 2)
		ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				errmsg("invalid input syntax for type %s", "privpred.predictor"),
				errdetail("A predictor is written like bytea, as \\x and hexadecimal digits."));
	bytes = palloc(length / 2);
	size = hex_decode(input + 2, length - 2, bytes);
	PG_RETURN_POINTER(predictor_from_bytes(bytes, size, ERRCODE_INVALID_TEXT_REPRESENTATION));
}

Datum
predictor_out(PG_FUNCTION_ARGS)
{
	Predictor *predictor = (Predictor *) PG_GETARG_VARLENA_PP(0);
	Size	   size = VARSIZE_ANY_EXHDR(predictor);
	char	  *output;

	if (size > (MaxAllocSize - 3) / 2)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("predictor is too large to be written as text"));
	output = palloc(2 * size + 3);
	output[0] = '\\';
	output[1] = 'x';
	hex_encode(VARDATA_ANY(predictor), size, output + 2);
	output[2 + 2 * size] = '\0';
	PG_RETURN_CSTRING(output);
}

Datum
predictor_recv(PG_FUNCTION_ARGS)
{
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	int		   size = message->len - message->cursor;

	PG_RETURN_POINTER(predictor_from_bytes(pq_getmsgbytes(message, size), size,
										   ERRCODE_INVALID_BINARY_REPRESENTATION));
}

/* ---------- learner aggregates ---------- */

static TrainingState *
create_state(FunctionCallInfo fcinfo, const Learner *learner, int width)
{
	Jsonb		  *json = PG_NARGS() > 3 && !PG_ARGISNULL(3) ? PG_GETARG_JSONB_P(3) : NULL;
	LearnerOptions options;
	Oid			   label_type = get_fn_expr_argtype(fcinfo->flinfo, 1);

	learner_parse_options(learner, json, &options);
	if (learner->runs_user_code)
		learner_check_sql_functions(&options, label_type);
	if (learner->prepare)
		learner->prepare();
	return training_create(learner, &options,
						   OidIsValid(label_type) ? getBaseType(label_type) : InvalidOid, width,
						   (Size) maintenance_work_mem * 1024);
}

/* The second argument of threshold(label, x), of any type that is ordered like numbers. */
static const double *
ordered_argument(FunctionCallInfo fcinfo)
{
	Oid		type = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 2));
	double *x = palloc_object(double);

	if (!number_type_ok(type) && !time_type_ok(type))
		ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("a threshold cannot be found on a column of type %s", format_type_be(type)),
				errhint("Use a number, a date or a timestamp; cast the column if need be."));
	require_row_features(fcinfo, 2);
	*x = number_of_datum(PG_GETARG_DATUM(2), type);
	if (!isfinite(*x))
		refuse(errmsg("features must be finite numbers"),
			   errdetail("One of them is NaN or infinite."));
	return x;
}

static Datum
learner_transition(FunctionCallInfo fcinfo, const Learner *learner)
{
	MemoryContext  context = aggregate_context(fcinfo);
	TrainingState *state = pointer_argument(fcinfo, 0);
	MemoryContext  caller;
	const double  *features;
	int			   width = 1;

	/* copies go with the row: the caller's context is reset */
	if (learner->aggregate_only)
		features = ordered_argument(fcinfo);
	else
	{
		require_row_features(fcinfo, 2);
		features = features_from_array(PG_GETARG_ARRAYTYPE_P(2), learner->accepts_missing, &width);
	}
	caller = MemoryContextSwitchTo(context);
	if (state == NULL)
		state = create_state(fcinfo, learner, width);
	training_check_width(state, width);
	training_add(state, PG_GETARG_DATUM(1), PG_ARGISNULL(1), features);
	MemoryContextSwitchTo(caller);
	PG_RETURN_POINTER(state);
}

#define DEFINE_TRANSITION(name) \
	PG_FUNCTION_INFO_V1(name##_transition); \
	Datum name##_transition(PG_FUNCTION_ARGS) \
	{ \
		return learner_transition(fcinfo, &name##_learner); \
	}

LEARNERS(DEFINE_TRANSITION)

Datum
learner_combine(PG_FUNCTION_ARGS)
{
	MemoryContext		 context = aggregate_context(fcinfo);
	TrainingState		*target = pointer_argument(fcinfo, 0);
	const TrainingState *source = pointer_argument(fcinfo, 1);

	if (source != NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		if (target == NULL)
			target = training_create_like(source);
		training_merge(target, source);
		MemoryContextSwitchTo(caller);
	}
	return pointer_result(fcinfo, target);
}

Datum
learner_serialize(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(training_serialize((TrainingState *) PG_GETARG_POINTER(0)));
}

Datum
learner_deserialize(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	PG_RETURN_POINTER(training_deserialize(PG_GETARG_BYTEA_PP(0)));
}

Datum
learner_finish(PG_FUNCTION_ARGS)
{
	const TrainingState *state = pointer_argument(fcinfo, 0);
	Predictor			*result = NULL;

	(void) aggregate_context(fcinfo);
	if (state != NULL)
	{
		result = training_finish(state);
		progress_step();
	}
	return pointer_result(fcinfo, result);
}

/* ---------- ensemble ---------- */

typedef struct EnsembleState
{
	int			n;
	int			capacity;
	Predictor **predictors;
} EnsembleState;

/* Adds copies to a state, which is created if need be, in the aggregate's context. */
static EnsembleState *
ensemble_append(MemoryContext context, EnsembleState *state, int n, Predictor *const *predictors)
{
	MemoryContext caller = MemoryContextSwitchTo(context);

	if (state == NULL)
	{
		state = palloc_object(EnsembleState);
		state->n = 0;
		state->capacity = 16;
		state->predictors = palloc_array(Predictor *, state->capacity);
	}
	for (int i = 0; i < n; i++)
	{
		Predictor *copy = (Predictor *) PG_DETOAST_DATUM_COPY(PointerGetDatum(predictors[i]));

		if (state->n == state->capacity)
		{
			state->capacity *= 2;
			state->predictors =
				repalloc_huge(state->predictors, state->capacity * sizeof(Predictor *));
		}
		state->predictors[state->n++] = copy;
		if (!predictor_same_shape(state->predictors[0], copy))
			refuse(errmsg("predictors of an ensemble must have the same classes and features"),
				   errhint("Declare the classes in the learner's options: "
						   "{\"classes\": [\"a\", \"b\"]}."));
	}
	MemoryContextSwitchTo(caller);
	return state;
}

Datum
ensemble_transition(PG_FUNCTION_ARGS)
{
	MemoryContext  context = aggregate_context(fcinfo);
	EnsembleState *state = pointer_argument(fcinfo, 0);
	Predictor	  *predictor = pointer_argument(fcinfo, 1);

	if (predictor != NULL)
		state = ensemble_append(context, state, 1, &predictor);
	return pointer_result(fcinfo, state);
}

Datum
ensemble_combine(PG_FUNCTION_ARGS)
{
	MemoryContext		 context = aggregate_context(fcinfo);
	EnsembleState		*target = pointer_argument(fcinfo, 0);
	const EnsembleState *source = pointer_argument(fcinfo, 1);

	if (source != NULL)
		target = ensemble_append(context, target, source->n, source->predictors);
	return pointer_result(fcinfo, target);
}

Datum
ensemble_finish(PG_FUNCTION_ARGS)
{
	const EnsembleState *state = pointer_argument(fcinfo, 0);

	(void) aggregate_context(fcinfo);
	return pointer_result(fcinfo, state ? predictor_pack(state->n, state->predictors) : NULL);
}

/* What has been collected so far is an ensemble itself. */
Datum
ensemble_serialize(PG_FUNCTION_ARGS)
{
	return ensemble_finish(fcinfo);
}

Datum
ensemble_deserialize(PG_FUNCTION_ARGS)
{
	Predictor *packed = pointer_argument(fcinfo, 0);

	(void) aggregate_context(fcinfo);
	PG_RETURN_POINTER(ensemble_append(CurrentMemoryContext, NULL, 1, &packed));
}

/* ---------- teacher_of, unit_hash ---------- */

/* Of the type of argument 0. */
static UnitHasher *
site_hasher(FunctionCallInfo fcinfo)
{
	if (fcinfo->flinfo->fn_extra == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra =
			unit_hasher_create(get_fn_expr_argtype(fcinfo->flinfo, 0), PG_GET_COLLATION());
		MemoryContextSwitchTo(caller);
	}
	return fcinfo->flinfo->fn_extra;
}

Datum
teacher_of(PG_FUNCTION_ARGS)
{
	const unsigned char *salt = salt_argument(fcinfo, 1);
	int					 teachers = PG_GETARG_INT32(2);

	if (teachers < 1 || teachers > PRIVPRED_MAX_TEACHERS)
		refuse(errmsg("number of teachers must be between 1 and %d", PRIVPRED_MAX_TEACHERS));
	PG_RETURN_INT32(unit_teacher(site_hasher(fcinfo), PG_GETARG_DATUM(0), salt, teachers));
}

Datum
privpred_unit_hash(PG_FUNCTION_ARGS)
{
	const unsigned char *salt = salt_argument(fcinfo, 1);

	PG_RETURN_INT64((int64) unit_hash(site_hasher(fcinfo), PG_GETARG_DATUM(0), salt));
}

/* ---------- predict, votes ---------- */

/* The last predictor of a call site, so that a constant is loaded once. */
typedef struct LoadedPredictor
{
	MemoryContext	context;
	struct varlena *key; /* the argument as it came, maybe a toast pointer */
	Ensemble	   *ensemble;
	int32		   *votes;
} LoadedPredictor;

static LoadedPredictor *
load_predictor(FunctionCallInfo fcinfo)
{
	struct varlena	*argument = (struct varlena *) PG_GETARG_POINTER(0);
	LoadedPredictor *loaded = fcinfo->flinfo->fn_extra;
	MemoryContext	 caller;

	if (loaded == NULL)
	{
		loaded = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(LoadedPredictor));
		loaded->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "privpred predictor",
												ALLOCSET_DEFAULT_SIZES);
		fcinfo->flinfo->fn_extra = loaded;
	}
	if (loaded->key != NULL && VARSIZE_ANY(loaded->key) == VARSIZE_ANY(argument) &&
		memcmp(loaded->key, argument, VARSIZE_ANY(argument)) == 0)
		return loaded;

	loaded->key = NULL;
	MemoryContextReset(loaded->context);
	caller = MemoryContextSwitchTo(loaded->context);
	loaded->ensemble = ensemble_load(PG_DETOAST_DATUM_PACKED(PointerGetDatum(argument)));
	ensemble_check_functions(loaded->ensemble);
	loaded->votes = palloc(ensemble_classes(loaded->ensemble) * sizeof(int32));
	loaded->key = memcpy(palloc(VARSIZE_ANY(argument)), argument, VARSIZE_ANY(argument));
	MemoryContextSwitchTo(caller);
	return loaded;
}

static LoadedPredictor *
count_votes(FunctionCallInfo fcinfo)
{
	LoadedPredictor *loaded = load_predictor(fcinfo);
	Ensemble		*ensemble = loaded->ensemble;
	int				 width;
	const double	*x =
		features_from_array(PG_GETARG_ARRAYTYPE_P(1), ensemble_accepts_missing(ensemble), &width);

	if (width != ensemble_width(ensemble))
		refuse(errmsg("predictor needs %d features, not %d", ensemble_width(ensemble), width));
	memset(loaded->votes, 0, ensemble_classes(ensemble) * sizeof(int32));
	ensemble_vote(ensemble, x, loaded->votes);
	return loaded;
}

Datum
predictor_predict(PG_FUNCTION_ARGS)
{
	LoadedPredictor *loaded = count_votes(fcinfo);
	int				 best = 0;

	for (int c = 1; c < ensemble_classes(loaded->ensemble); c++)
		if (loaded->votes[c] > loaded->votes[best])
			best = c;
	PG_RETURN_TEXT_P(cstring_to_text(ensemble_class_name(loaded->ensemble, best)));
}

Datum
predictor_votes(PG_FUNCTION_ARGS)
{
	LoadedPredictor *loaded = count_votes(fcinfo);
	StringInfoData	 json;

	initStringInfo(&json);
	for (int c = 0; c < ensemble_classes(loaded->ensemble); c++)
	{
		appendStringInfoString(&json, c == 0 ? "{" : ", ");
		escape_json(&json, ensemble_class_name(loaded->ensemble, c));
		appendStringInfo(&json, ": %d", loaded->votes[c]);
	}
	appendStringInfoChar(&json, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
