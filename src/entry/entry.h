/*
 * entry.h
 *		What entry points share (arguments.c).
 */
#ifndef PRIVPRED_ENTRY_H
#define PRIVPRED_ENTRY_H

#include "access/tupdesc.h"
#include "datatype/timestamp.h"
#include "fmgr.h"

#include "server/privpred.h"
#include "server/rows.h"

/* Raises 22004 if the argument is NULL: even one without a default may be passed as NULL. */
extern void require_argument(FunctionCallInfo fcinfo, int number, const char *name);

/* The same of the first arguments, named in order; "" stands for one that may be NULL. */
extern void require_each(FunctionCallInfo fcinfo, int count, const char *const names[]);

#define require_arguments(fcinfo, ...) \
	require_each(fcinfo, lengthof(((const char *const[]){__VA_ARGS__})), \
				 (const char *const[]){__VA_ARGS__})

/* Raises 22023 unless epsilon is a number from EPSILON_MIN to maximum. */
extern EpsilonUnits read_epsilon(double epsilon, double maximum, const char *name);

/* Raises 22023 unless delta is 0 or a normal number below 1. */
extern void check_delta(double delta, const char *name);

/* Raises 22023 if delta would let anybody be seen, unless that is forced. */
extern void check_delta_is_small(double delta, const char *name, bool force);

/* Raises 22023 unless budgets can refresh that often. */
extern void check_refresh(const Interval *refresh);

/* "Infinity" or "-Infinity". */
extern Datum infinite_numeric(const char *text);

/* Units as an exact numeric. */
extern Datum units_to_numeric(EpsilonUnits units);

/* The context in which an aggregate's state lives; raises unless an aggregate calls. */
extern MemoryContext aggregate_context(FunctionCallInfo fcinfo);

/* A pointer, such as an aggregate's state, that may be NULL. */
static inline void *
pointer_argument(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL : PG_GETARG_POINTER(number);
}

static inline Datum
pointer_result(FunctionCallInfo fcinfo, void *pointer)
{
	fcinfo->isnull = pointer == NULL;
	return PointerGetDatum(pointer);
}

/* Raises 22004 if the features of a training row are NULL. */
extern void require_row_features(FunctionCallInfo fcinfo, int number);

/* The salt of a hash of units; 22023 unless it has the right length. */
extern const unsigned char *salt_argument(FunctionCallInfo fcinfo, int number);

/* The next column of a result (server/rows.h): epsilon as an exact numeric. */
#define put_epsilon(rows, units) put_datum(rows, units_to_numeric(units))

#endif /* PRIVPRED_ENTRY_H */
