/*
 * unit_sums.h
 *		Sums over all units of what each adds, wherever the rows are.
 *
 * One pass of training is such a sum.  It is a function of public numbers, the
 * "parameter", and of one unit at a time, in integers: so it does not depend on
 * the order of units, nor on who adds up which of them.  The server does, as an
 * aggregate (entry/unit_sums.c): with parallel workers, or on the nodes where the
 * rows lie, from which the sums come back and no rows.
 *
 * A mechanism adds a UnitSum for each kind of pass, and a line to the registry
 * below.  unit_sums() is the only way to ask for one.
 */
#ifndef PRIVPRED_UNIT_SUMS_H
#define PRIVPRED_UNIT_SUMS_H

#include "lib/stringinfo.h"

#include "mechanism/unit_rows.h"

/* Adds up; lives in one memory context, which ends it. */
typedef struct UnitSummer UnitSummer;

struct UnitSummer
{
	int64 count; /* of sums */
	void (*add)(UnitSummer *summer, const UnitRows *unit);
	/* Adds what was added since the last time to sums[count]. */
	void (*flush)(UnitSummer *summer, int128 *sums);
};

typedef struct UnitSum
{
	const char *name;
	/* Reads the parameter with pq_getmsg...(); raises 22023 or 08P01 unless it is sound. */
	UnitSummer *(*open)(const UnitForm *form, StringInfo parameter);
} UnitSum;

#define UNIT_SUMS(entry) entry(gradient) entry(released) entry(stable_erm)

#define DECLARE_UNIT_SUM(name) extern const UnitSum name##_unit_sum;
UNIT_SUMS(DECLARE_UNIT_SUM)

/*
 * Sums over all units of a source into sums[count], which is what a summer of that
 * kind and parameter (what pq_send...() wrote) has.
 */
extern void unit_sums(UnitSource *source, const UnitSum *kind, const StringInfoData *parameter,
					  int64 count, int128 *sums);

/* Raises 22023: the parameter of a sum is not what a mechanism writes. */
pg_noreturn extern void parameter_damaged(void);

/*
 * ---------- as an aggregate ----------
 *
 * What is sent out with a query: the kind of sum, how rows are read, the parameter.
 */
extern bytea *
unit_sums_request(const UnitSum *kind, const UnitForm *form, const StringInfoData *parameter);

/* The sums so far, and how many rows were read for them. */
typedef struct PartialSums
{
	uint64		request; /* a hash: sums of another one are not added to it */
	int64		rows;
	int64		unused;
	int64		count;
	int128	   *sum;
	UnitReader *reader; /* if units are added here, else NULL */
	UnitSummer *summer;
	bool		in_unit; /* is the reader within a unit whose rows come one by one? */
	Datum	   *unit;	 /* that unit, for whoever knows its type */
} PartialSums;

/* In the current context; units can be added, through the reader and the summer. */
extern PartialSums *partial_sums_open(bytea *request);

/* Adds the unit whose rows have come one by one. */
extern void partial_sums_end_unit(PartialSums *sums);

/* Both raise 22023 if the sums are of another kind, or not sound. */
extern PartialSums *partial_sums_read(const char *bytes, Size size);
extern void			partial_sums_merge(PartialSums *target, PartialSums *source);

/* Nothing but the sums themselves, as a varlena: some bits for small ones. */
extern bytea *partial_sums_write(PartialSums *sums);

#endif /* PRIVPRED_UNIT_SUMS_H */
