/*
 * unit_sums.c
 *		SQL entry points for units on other nodes: sums over them
 *		(mechanism/unit_sums.h), as the type unit_sums and its aggregates, and
 *		units themselves (mechanism/unit_rows.h).
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "entry/entry.h"
#include "entry/expanded.h"
#include "mechanism/unit_sums.h"

PG_FUNCTION_INFO_V1(unit_sums_in);
PG_FUNCTION_INFO_V1(unit_sums_out);
PG_FUNCTION_INFO_V1(unit_sums_recv);
PG_FUNCTION_INFO_V1(unit_sums_add_row);
PG_FUNCTION_INFO_V1(unit_sums_add_unit);
PG_FUNCTION_INFO_V1(unit_sums_add_sorted);
PG_FUNCTION_INFO_V1(unit_sums_merge);
PG_FUNCTION_INFO_V1(privpred_pack_unit);

/* ---------- the type ---------- */

static bytea *
write_sums(void *state)
{
	return partial_sums_write(state);
}

static void *
read_sums(const char *bytes, Size size)
{
	return partial_sums_read(bytes, size);
}

static void
check_sums(const char *bytes, Size size, int sqlstate)
{
	PartialSums *sums = partial_sums_read(bytes, size);

	pfree(sums->sum);
	pfree(sums);
}

static const ExpandedKind sums_kind = {"privpred.unit_sums", write_sums, read_sums, check_sums};

Datum
unit_sums_in(PG_FUNCTION_ARGS)
{
	return expanded_in(fcinfo, &sums_kind);
}

Datum
unit_sums_out(PG_FUNCTION_ARGS)
{
	return expanded_out(fcinfo, &sums_kind);
}

Datum
unit_sums_recv(PG_FUNCTION_ARGS)
{
	return expanded_recv(fcinfo, &sums_kind);
}

/* ---------- aggregates ---------- */

/* The sums so far, to which units can be added; arguments are features and the request. */
static ExpandedState *
sums_to_add_to(FunctionCallInfo fcinfo, int features, int request)
{
	MemoryContext  aggregate = aggregate_context(fcinfo);
	ExpandedState *expanded = NULL;
	PartialSums	  *before = NULL;
	MemoryContext  caller;

	if (PG_ARGISNULL(features) || PG_ARGISNULL(request))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("features and what is asked for must not be null"));
	if (!PG_ARGISNULL(0))
	{
		expanded = expanded_to_change(&sums_kind, PG_GETARG_DATUM(0), aggregate);
		before = expanded->state;
	}
	if (before != NULL && before->summer != NULL)
		return expanded;
	expanded = expanded_create(&sums_kind, aggregate);
	caller = MemoryContextSwitchTo(expanded->header.eoh_context);
	expanded->state = partial_sums_open(PG_GETARG_BYTEA_PP(request));
	if (before != NULL)
		partial_sums_merge(expanded->state, before);
	MemoryContextSwitchTo(caller);
	return expanded;
}

/* A unit of one row: sums, label, features, request. */
Datum
unit_sums_add_row(PG_FUNCTION_ARGS)
{
	ExpandedState *expanded = sums_to_add_to(fcinfo, 2, 3);
	PartialSums	  *sums = expanded->state;
	UnitRows	   unit = {0};

	if (unit_read_row(sums->reader, PG_ARGISNULL(1) ? 0 : PG_GETARG_FLOAT8(1), PG_ARGISNULL(1),
					  PG_GETARG_ARRAYTYPE_P(2), &unit))
		sums->summer->add(sums->summer, &unit);
	PG_RETURN_DATUM(EXPANDED_DATUM(expanded));
}

/* The same of several rows: arrays of labels and of features. */
Datum
unit_sums_add_unit(PG_FUNCTION_ARGS)
{
	ExpandedState *expanded = sums_to_add_to(fcinfo, 2, 3);
	PartialSums	  *sums = expanded->state;
	UnitRows	   unit = {0};

	if (PG_ARGISNULL(1))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("labels must not be null"));
	if (unit_read_rows(sums->reader, PG_GETARG_ARRAYTYPE_P(1), PG_GETARG_ARRAYTYPE_P(2), &unit))
		sums->summer->add(sums->summer, &unit);
	PG_RETURN_DATUM(EXPANDED_DATUM(expanded));
}

/*
 * ---------- rows in the order of their units ----------
 *
 * A grouped query under an aggregate is not sent to a foreign server; an aggregate with an
 * order is, and its rows of a unit follow one another.
 */

/* Where the columns of the unit begin among the arguments. */
#define FIRST_UNIT_COLUMN 4

static TypeCacheEntry **
unit_types(FunctionCallInfo fcinfo)
{
	TypeCacheEntry **types = fcinfo->flinfo->fn_extra;

	if (types != NULL)
		return types;
	if (get_fn_expr_variadic(fcinfo->flinfo) || PG_NARGS() <= FIRST_UNIT_COLUMN)
		refuse(errmsg("at least one unit column is needed"));
	types = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt,
							   (PG_NARGS() - FIRST_UNIT_COLUMN) * sizeof(TypeCacheEntry *));
	for (int i = FIRST_UNIT_COLUMN; i < PG_NARGS(); i++)
	{
		TypeCacheEntry *type =
			lookup_type_cache(get_fn_expr_argtype(fcinfo->flinfo, i), TYPECACHE_EQ_OPR_FINFO);

		if (!OidIsValid(type->eq_opr_finfo.fn_oid))
			refuse(errmsg("units of type %s cannot be compared", format_type_be(type->type_id)));
		types[i - FIRST_UNIT_COLUMN] = type;
	}
	fcinfo->flinfo->fn_extra = types;
	return types;
}

static bool
unit_is_known(FunctionCallInfo fcinfo)
{
	for (int i = FIRST_UNIT_COLUMN; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			return false;
	return true;
}

/* Units have no collation by which strings of other bytes are equal (teacher_unit_type_ok()). */
static bool
is_same_unit(FunctionCallInfo fcinfo, TypeCacheEntry **types, const Datum *unit)
{
	for (int i = FIRST_UNIT_COLUMN; i < PG_NARGS(); i++)
		if (!DatumGetBool(FunctionCall2Coll(&types[i - FIRST_UNIT_COLUMN]->eq_opr_finfo,
											C_COLLATION_OID, unit[i - FIRST_UNIT_COLUMN],
											PG_GETARG_DATUM(i))))
			return false;
	return true;
}

/* Remembers the unit of this row in the place of the last one. */
static void
keep_unit(FunctionCallInfo fcinfo, TypeCacheEntry **types, PartialSums *sums)
{
	bool first = sums->unit == NULL;

	if (first)
		sums->unit = palloc_array(Datum, PG_NARGS() - FIRST_UNIT_COLUMN);
	for (int i = FIRST_UNIT_COLUMN; i < PG_NARGS(); i++)
	{
		const TypeCacheEntry *type = types[i - FIRST_UNIT_COLUMN];
		Datum				 *kept = &sums->unit[i - FIRST_UNIT_COLUMN];

		if (!first && !type->typbyval)
			pfree(DatumGetPointer(*kept));
		*kept = datumCopy(PG_GETARG_DATUM(i), type->typbyval, type->typlen);
	}
}

/* Sums, request, label, features, and the columns of the unit. */
Datum
unit_sums_add_sorted(PG_FUNCTION_ARGS)
{
	ExpandedState	*expanded = sums_to_add_to(fcinfo, 3, 1);
	PartialSums		*sums = expanded->state;
	TypeCacheEntry **types = unit_types(fcinfo);
	MemoryContext	 caller;

	if (!unit_is_known(fcinfo))
	{
		unit_count_row(sums->reader);
		PG_RETURN_DATUM(EXPANDED_DATUM(expanded));
	}
	if (sums->unit == NULL || !is_same_unit(fcinfo, types, sums->unit))
	{
		partial_sums_end_unit(sums);
		caller = MemoryContextSwitchTo(expanded->header.eoh_context);
		keep_unit(fcinfo, types, sums);
		MemoryContextSwitchTo(caller);
		unit_begin(sums->reader);
		sums->in_unit = true;
	}
	else if (!sums->in_unit)
		refuse(errmsg("sums were read before all rows of a unit had come"));
	unit_add_row(sums->reader, PG_ARGISNULL(2) ? 0 : PG_GETARG_FLOAT8(2), PG_ARGISNULL(2),
				 PG_GETARG_ARRAYTYPE_P(3));
	PG_RETURN_DATUM(EXPANDED_DATUM(expanded));
}

/* ---------- sums to sums ---------- */

/* Adds the second sums to the first, which an aggregate owns. */
Datum
unit_sums_merge(PG_FUNCTION_ARGS)
{
	MemoryContext  aggregate = aggregate_context(fcinfo);
	ExpandedState *target;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	target = expanded_to_change(&sums_kind, PG_GETARG_DATUM(PG_ARGISNULL(0) ? 1 : 0), aggregate);
	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		partial_sums_merge(target->state, expanded_state(&sums_kind, PG_GETARG_DATUM(1)));
	PG_RETURN_DATUM(EXPANDED_DATUM(target));
}

/* ---------- units ---------- */

/* Label, features, hash; what has no unit has no label either, and its hash does not matter. */
Datum
privpred_pack_unit(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("features must not be null"));
	PG_RETURN_BYTEA_P(unit_pack(PG_ARGISNULL(0) ? 0 : PG_GETARG_FLOAT8(0), PG_ARGISNULL(0),
								PG_GETARG_ARRAYTYPE_P(1),
								PG_ARGISNULL(2) ? 0 : (uint64) PG_GETARG_INT64(2)));
}
