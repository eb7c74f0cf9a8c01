/*
 * states.c
 *		SQL entry points for training on several nodes: the type training_state,
 *		its aggregates, and what makes sure that all nodes mean the same.
 */
#include "postgres.h"

#include "catalog/partition.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "entry/entry.h"
#include "entry/expanded.h"
#include "entry/states.h"
#include "request/train.h"

PG_FUNCTION_INFO_V1(training_state_in);
PG_FUNCTION_INFO_V1(training_state_out);
PG_FUNCTION_INFO_V1(training_state_recv);
PG_FUNCTION_INFO_V1(state_transition);
PG_FUNCTION_INFO_V1(state_merge);
PG_FUNCTION_INFO_V1(privpred_finish_state);
PG_FUNCTION_INFO_V1(privpred_unit_share);
PG_FUNCTION_INFO_V1(privpred_node_agrees);
PG_FUNCTION_INFO_V1(privpred_hash_partition_has);
PG_FUNCTION_INFO_V1(privpred_belongs_here);

/* ---------- the type ---------- */

static bytea *
write_state(void *state)
{
	return portable_write(state);
}

static void *
read_state(const char *bytes, Size size)
{
	return portable_read(bytes, size, (Size) maintenance_work_mem * 1024);
}

static const ExpandedKind training_kind = {"privpred.training_state", write_state, read_state,
										   portable_check};

Datum
training_state_in(PG_FUNCTION_ARGS)
{
	return expanded_in(fcinfo, &training_kind);
}

Datum
training_state_out(PG_FUNCTION_ARGS)
{
	return expanded_out(fcinfo, &training_kind);
}

Datum
training_state_recv(PG_FUNCTION_ARGS)
{
	return expanded_recv(fcinfo, &training_kind);
}

/* ---------- aggregates ---------- */

static ExpandedState *
first_state(FunctionCallInfo fcinfo, MemoryContext aggregate, int width)
{
	ExpandedState *expanded;
	MemoryContext  caller;
	Oid			   label_type = get_fn_expr_argtype(fcinfo->flinfo, 1);

	if (PG_ARGISNULL(3))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("options must not be null"));
	expanded = expanded_create(&training_kind, aggregate);
	caller = MemoryContextSwitchTo(expanded->header.eoh_context);
	/* a call that does not say the type is one of the function for text */
	expanded->state = portable_create(PG_GETARG_JSONB_P(3),
									  OidIsValid(label_type) ? getBaseType(label_type) : TEXTOID,
									  width, (Size) maintenance_work_mem * 1024);
	MemoryContextSwitchTo(caller);
	return expanded;
}

Datum
state_transition(PG_FUNCTION_ARGS)
{
	MemoryContext  aggregate = aggregate_context(fcinfo);
	MemoryContext  caller;
	ExpandedState *expanded;
	const double  *features;
	ArrayType	  *array;
	int			   width;

	require_row_features(fcinfo, 2);
	array = PG_GETARG_ARRAYTYPE_P(2);
	/* whether they may be missing is not known before there is a state */
	width = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	expanded = PG_ARGISNULL(0) ? first_state(fcinfo, aggregate, width)
							   : expanded_to_change(&training_kind, PG_GETARG_DATUM(0), aggregate);
	features =
		features_from_array(array, training_learner(expanded->state)->accepts_missing, &width);
	training_check_width(expanded->state, width);
	caller = MemoryContextSwitchTo(expanded->header.eoh_context);
	training_add(expanded->state, PG_GETARG_DATUM(1), PG_ARGISNULL(1), features);
	MemoryContextSwitchTo(caller);
	PG_RETURN_DATUM(EXPANDED_DATUM(expanded));
}

/* Adds the second state to the first, which an aggregate owns. */
Datum
state_merge(PG_FUNCTION_ARGS)
{
	MemoryContext  aggregate = aggregate_context(fcinfo);
	MemoryContext  caller;
	ExpandedState *target;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	target =
		expanded_to_change(&training_kind, PG_GETARG_DATUM(PG_ARGISNULL(0) ? 1 : 0), aggregate);
	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
	{
		TrainingState *source = expanded_state(&training_kind, PG_GETARG_DATUM(1));

		caller = MemoryContextSwitchTo(target->header.eoh_context);
		portable_merge(target->state, source);
		MemoryContextSwitchTo(caller);
	}
	PG_RETURN_DATUM(EXPANDED_DATUM(target));
}

const TrainingState *
training_state_of(Datum datum)
{
	return expanded_state(&training_kind, datum);
}

Datum
privpred_finish_state(PG_FUNCTION_ARGS)
{
	const TrainingState *state = training_state_of(PG_GETARG_DATUM(0));
	const Learner		*learner = training_learner(state);

	if (learner->prepare)
		learner->prepare();
	return pointer_result(fcinfo, training_finish(state));
}

/* ---------- one meaning on all nodes ---------- */

/* The types of the arguments from number first on. */
static Oid *
argument_types(FunctionCallInfo fcinfo, int first)
{
	Oid *types = palloc_array(Oid, Max(PG_NARGS() - first, 1));

	for (int i = first; i < PG_NARGS(); i++)
		types[i - first] = get_fn_expr_argtype(fcinfo->flinfo, i);
	return types;
}

/* NULL if part of the unit is null, else what teacher_of() returns for so many teachers. */
Datum
privpred_unit_share(PG_FUNCTION_ARGS)
{
	UnitHasher *hasher = fcinfo->flinfo->fn_extra;
	Datum		values[FUNC_MAX_ARGS];

	for (int i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_NULL();
	if (get_fn_expr_variadic(fcinfo->flinfo) || PG_NARGS() < 3 || PG_GETARG_INT32(1) < 1)
		refuse(errmsg("at least one unit column and one share are needed"));
	if (hasher == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		hasher =
			unit_hasher_of_columns(PG_NARGS() - 2, argument_types(fcinfo, 2), PG_GET_COLLATION());
		fcinfo->flinfo->fn_extra = hasher;
		MemoryContextSwitchTo(caller);
	}
	for (int i = 2; i < PG_NARGS(); i++)
		values[i - 2] = PG_GETARG_DATUM(i);
	PG_RETURN_INT32(unit_hash_columns(hasher, values, salt_argument(fcinfo, 0)) %
					PG_GETARG_INT32(1));
}

pg_noreturn static void
refuse_node(const char *detail)
{
	ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("the node and the coordinator disagree"), errdetail_internal("%s", detail),
			errhint("Declare the foreign table's columns with the types they have on the node, or "
					"take privpred out of the server's option \"extensions\"."));
}

static bool
is_expected(JsonbValue *expected, const char *found)
{
	return expected != NULL && expected->type == jbvString &&
		   expected->val.string.len == strlen(found) &&
		   memcmp(expected->val.string.val, found, strlen(found)) == 0;
}

static void
check_agreement(const char *what, JsonbValue *expected, const char *found)
{
	bool is_string = expected != NULL && expected->type == jbvString;

	if (!is_expected(expected, found))
		refuse_node(psprintf("%s is \"%s\" on the node, but was expected to be \"%.*s\".", what,
							 found, is_string ? expected->val.string.len : 0,
							 is_string ? expected->val.string.val : ""));
}

/* Equal values of a column must be equal byte by byte wherever they lie, and round alike. */
static void
check_column(FunctionCallInfo fcinfo, int i, JsonbValue *expected)
{
	FuncExpr   *call = (FuncExpr *) fcinfo->flinfo->fn_expr;
	Node	   *column = list_nth(call->args, i);
	Oid			collation = exprCollation(column);
	Oid			type = exprType(column);
	const char *what = psprintf("The type of column %d", i);

	/* What the node limits more than the coordinator is the same on both. */
	if (!is_expected(expected, node_type_name(type, -1)))
		check_agreement(what, expected, node_type_name(type, exprTypmod(column)));
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		refuse_node(psprintf("The collation of column %d is not deterministic on the node.", i));
}

/*
 * Returns true if the columns have the given types here and text has the same
 * encoding, and raises an error otherwise.  A unit of another type would have another
 * hash, and so, with rows on several nodes, more than one teacher.
 */
Datum
privpred_node_agrees(PG_FUNCTION_ARGS)
{
	Jsonb *expected = PG_ARGISNULL(0) ? NULL : PG_GETARG_JSONB_P(0);

	if (fcinfo->flinfo->fn_extra != NULL)
		PG_RETURN_BOOL(true);
	if (expected == NULL || !JB_ROOT_IS_ARRAY(expected) || get_fn_expr_variadic(fcinfo->flinfo) ||
		JB_ROOT_COUNT(expected) != PG_NARGS() + 1 || fcinfo->flinfo->fn_expr == NULL ||
		!IsA(fcinfo->flinfo->fn_expr, FuncExpr))
		refuse(errmsg("expected an array of version, encoding and the type of each column"));
	check_agreement("The version of privpred", getIthJsonbValueFromContainer(&expected->root, 0),
					PRIVPRED_VERSION);
	check_agreement("The encoding", getIthJsonbValueFromContainer(&expected->root, 1),
					GetDatabaseEncodingName());
	for (int i = 1; i < PG_NARGS(); i++)
		check_column(fcinfo, i, getIthJsonbValueFromContainer(&expected->root, i + 1));
	fcinfo->flinfo->fn_extra = fcinfo->flinfo; /* any mark will do: types do not change */
	PG_RETURN_BOOL(true);
}

/* Where the columns of the key begin among the arguments. */
#define FIRST_KEY_COLUMN 2

static FmgrInfo *
key_hashes(FunctionCallInfo fcinfo)
{
	FmgrInfo *hashes = fcinfo->flinfo->fn_extra;

	if (hashes != NULL)
		return hashes;
	if (get_fn_expr_variadic(fcinfo->flinfo) || PG_NARGS() <= FIRST_KEY_COLUMN)
		refuse(errmsg("at least one column of the partition key is needed"));
	hashes = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
									(PG_NARGS() - FIRST_KEY_COLUMN) * sizeof(FmgrInfo));
	for (int i = FIRST_KEY_COLUMN; i < PG_NARGS(); i++)
	{
		Oid type = get_fn_expr_argtype(fcinfo->flinfo, i);
		Oid hash = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;

		if (!OidIsValid(hash))
			refuse(errmsg("type %s cannot be hashed", format_type_be(type)));
		fmgr_info_cxt(hash, &hashes[i - FIRST_KEY_COLUMN], fcinfo->flinfo->fn_mcxt);
	}
	fcinfo->flinfo->fn_extra = hashes;
	return hashes;
}

/*
 * What satisfies_hash_partition() says of a key whose operator classes are the default ones,
 * where the partitioned table is not known.  Strings are equal byte by byte only.
 */
Datum
privpred_hash_partition_has(PG_FUNCTION_ARGS)
{
	FmgrInfo *hashes = key_hashes(fcinfo);
	uint64	  hash = 0;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_GETARG_INT32(0) < 1)
		refuse(errmsg("modulus and remainder are needed"));
	for (int i = FIRST_KEY_COLUMN; i < PG_NARGS(); i++)
		if (!PG_ARGISNULL(i))
			hash =
				hash_combine64(hash, DatumGetUInt64(FunctionCall2Coll(
										 &hashes[i - FIRST_KEY_COLUMN], C_COLLATION_OID,
										 PG_GETARG_DATUM(i), UInt64GetDatum(HASH_PARTITION_SEED))));
	PG_RETURN_BOOL(hash % PG_GETARG_INT32(0) == (uint64) PG_GETARG_INT32(1));
}

/* Rows of a unit that lie in several tables would be taken for several units. */
Datum
privpred_belongs_here(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || !PG_GETARG_BOOL(0))
		ereport(ERROR, errcode(ERRCODE_CHECK_VIOLATION),
				errmsg("a foreign table has rows that do not belong into its partition"),
				errdetail("A unit's rows are added up where they lie, which must be one place."),
				errhint("Move the rows to the servers whose partitions' bounds have them, or take "
						"privpred out of the servers' option \"extensions\", so that rows are "
						"fetched."));
	PG_RETURN_BOOL(true);
}
