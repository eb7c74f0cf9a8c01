/*
 * unit_sums.c
 *		SQL entry points for units on other nodes: sums over them
 *		(mechanism/unit_sums.h), as the type unit_sums and its aggregates, and
 *		units themselves (mechanism/unit_rows.h).
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "entry/entry.h"
#include "entry/expanded.h"
#include "mechanism/unit_sums.h"

PG_FUNCTION_INFO_V1(unit_sums_in);
PG_FUNCTION_INFO_V1(unit_sums_out);
PG_FUNCTION_INFO_V1(unit_sums_recv);
PG_FUNCTION_INFO_V1(unit_sums_add_row);
PG_FUNCTION_INFO_V1(unit_sums_add_unit);
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

/* The sums so far, to which units can be added. */
static ExpandedState *
sums_to_add_to(FunctionCallInfo fcinfo)
{
	MemoryContext  aggregate = aggregate_context(fcinfo);
	ExpandedState *expanded = NULL;
	PartialSums	  *before = NULL;
	MemoryContext  caller;

	if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
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
	expanded->state = partial_sums_open(PG_GETARG_BYTEA_PP(3));
	if (before != NULL)
		partial_sums_merge(expanded->state, before);
	MemoryContextSwitchTo(caller);
	return expanded;
}

/* A unit of one row: sums, label, features, request. */
Datum
unit_sums_add_row(PG_FUNCTION_ARGS)
{
	ExpandedState *expanded = sums_to_add_to(fcinfo);
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
	ExpandedState *expanded = sums_to_add_to(fcinfo);
	PartialSums	  *sums = expanded->state;
	UnitRows	   unit = {0};

	if (PG_ARGISNULL(1))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("labels must not be null"));
	if (unit_read_rows(sums->reader, PG_GETARG_ARRAYTYPE_P(1), PG_GETARG_ARRAYTYPE_P(2), &unit))
		sums->summer->add(sums->summer, &unit);
	PG_RETURN_DATUM(EXPANDED_DATUM(expanded));
}

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
