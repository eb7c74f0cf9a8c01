/*
 * query.h
 *		SQL statements with typed arguments, inside a session (session.h).
 *
 *	query_read("SELECT a, b FROM privpred.t WHERE id = $1 AND name = "
			   "$2", ARG_INT8(id), ARG_TEXT(name));
 *	if (SPI_processed > 0)
 *		a = row_int8(0, 1);
 */
#ifndef PRIVPRED_QUERY_H
#define PRIVPRED_QUERY_H

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

typedef struct QueryArgument
{
	Oid	  type;
	Datum value;
	bool  isnull;
} QueryArgument;

#define ARG(type, value) ((QueryArgument){type, value, false})
#define ARG_OR_NULL(type, value, isnull) ((QueryArgument){type, value, isnull})
#define ARG_BOOL(value) ARG(BOOLOID, BoolGetDatum(value))
#define ARG_INT4(value) ARG(INT4OID, Int32GetDatum(value))
#define ARG_INT8(value) ARG(INT8OID, Int64GetDatum(value))
#define ARG_FLOAT8(value) ARG(FLOAT8OID, Float8GetDatum(value))
#define ARG_OID(value) ARG(OIDOID, ObjectIdGetDatum(value))
#define ARG_TIME(value) ARG(TIMESTAMPTZOID, TimestampTzGetDatum(value))
#define ARG_NAME(string) ARG(NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(string)))
/* A C string, evaluated twice; NULL is NULL. */
#define ARG_TEXT(string) \
	ARG_OR_NULL(TEXTOID, (string) == NULL ? (Datum) 0 : CStringGetTextDatum(string), \
				(string) == NULL)
/* An argument, or NULL unless it is present. */
#define ARG_IF(present, argument) query_argument_if(present, argument)
/* A count for which 0 means NULL, evaluated twice. */
#define ARG_INT4_OR_NULL(value) ARG_OR_NULL(INT4OID, Int32GetDatum(value), (value) == 0)
#define ARG_INT8_OR_NULL(value) ARG_OR_NULL(INT8OID, Int64GetDatum(value), (value) == 0)
/* A varlena of the given type, evaluated twice; NULL is NULL. */
#define ARG_POINTER(type, pointer) ARG_OR_NULL(type, PointerGetDatum(pointer), (pointer) == NULL)

static inline QueryArgument
query_argument_if(bool present, QueryArgument argument)
{
	argument.isnull |= !present;
	return argument;
}

/*
 * Runs a statement and leaves its result in SPI_processed and SPI_tuptable.  A
 * statement that writes cannot be read-only.  limit 0 means all rows.  If plan is
 * not NULL the statement is prepared once and kept there for the session.
 */
extern void query_run(SPIPlanPtr *plan, const char *sql, bool read_only, int64 limit, int nargs,
					  const QueryArgument *args);

#define QUERY_ARGUMENTS(...) \
	(int) (sizeof((QueryArgument[]){__VA_ARGS__}) / sizeof(QueryArgument)), (QueryArgument[]) \
	{ \
		__VA_ARGS__ \
	}

/* Where the plan of the statement at this place is kept: to plan it takes longer than to run it. */
#define PLAN_HERE \
	({ \
		static SPIPlanPtr plan_here = NULL; \
		&plan_here; \
	})

/* Statements that are typed out, and so are the same each time; others are run by query_run(). */
#define query_read(sql, ...) query_run(PLAN_HERE, "" sql, true, 0, QUERY_ARGUMENTS(__VA_ARGS__))
#define query_write(sql, ...) query_run(PLAN_HERE, "" sql, false, 0, QUERY_ARGUMENTS(__VA_ARGS__))

/*
 * The same in a session of its own (catalog_begin() to catalog_end()), if the
 * number of rows says everything: were there any, and how many were written?
 */
extern uint64 query_alone(SPIPlanPtr *plan, const char *sql, bool read_only, int nargs,
						  const QueryArgument *args);

#define catalog_finds(sql, ...) \
	(query_alone(PLAN_HERE, "" sql, true, QUERY_ARGUMENTS(__VA_ARGS__)) > 0)
#define catalog_write(sql, ...) query_alone(PLAN_HERE, "" sql, false, QUERY_ARGUMENTS(__VA_ARGS__))

/* Frees all plans that this process keeps, as after an error that may be due to one. */
extern void query_forget_plans(void);

/* A column of a row of the result, rows from 0 and columns from 1. */
extern Datum row_value(uint64 row, int column, bool *isnull);
extern bool	 row_isnull(uint64 row, int column);

/* The same where NULL means 0, false or no string; strings are copied to the current context. */
extern bool		   row_bool(uint64 row, int column);
extern int32	   row_int4(uint64 row, int column);
extern int64	   row_int8(uint64 row, int column);
extern double	   row_float8(uint64 row, int column);
extern Oid		   row_oid(uint64 row, int column);
extern TimestampTz row_time(uint64 row, int column);
extern char		  *row_text(uint64 row, int column);

/* A detoasted copy of a varlena, in the current context; NULL if it is NULL. */
extern void *row_varlena(uint64 row, int column);

/* The same where NULL means something else. */
extern int64 row_int8_or(uint64 row, int column, int64 absent);

/* A column of all rows, which outlives other queries. */
extern List *rows_oids(int column);

/*
 * A scan of a large result, a batch at a time.  After scan_next() has returned true, scan_value()
 * reads the current row, which lasts until the next call.
 */
typedef struct QueryScan
{
	Portal		   portal;
	SPITupleTable *batch;
	uint64		   count; /* rows of the batch */
	uint64		   next;  /* of them */
	long		   fetch; /* rows at a time */
} QueryScan;

extern void
scan_open(QueryScan *scan, long fetch, const char *sql, int nargs, const QueryArgument *args);
extern bool	 scan_next(QueryScan *scan);
extern Datum scan_value(const QueryScan *scan, int column, bool *isnull);

/* Must precede the end of the session: a cursor outlives it, and keeps its tables in use. */
extern void scan_close(QueryScan *scan);

#endif /* PRIVPRED_QUERY_H */
