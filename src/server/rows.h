/*
 * rows.h
 *		Results of SQL functions that return a row or a set of rows.
 *
 * Columns are put in the order in which the function declares them.  A set:
 *
 *	Rows *rows = rows_begin(fcinfo);
 *
 *	for (int i = 0; i < n; i++)
 *	{
 *		put_int8(rows, thing[i].id);
 *		put_text(rows, thing[i].remark);
 *		put_float8_if(rows, thing[i].known, thing[i].figure);
 *		rows_next(rows);
 *	}
 *	return (Datum) 0;
 *
 * A single row: row_begin(), its columns, and PG_RETURN_DATUM(row_end(row)).
 */
#ifndef PRIVPRED_ROWS_H
#define PRIVPRED_ROWS_H

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

typedef struct Rows Rows;

extern Rows *rows_begin(FunctionCallInfo fcinfo);
extern void	 rows_next(Rows *rows);

extern Rows *row_begin(FunctionCallInfo fcinfo);
extern Datum row_end(Rows *row);

/* The next column: a value, or NULL unless it is known.  The value is evaluated in any case. */
extern void put_if(Rows *rows, bool known, Datum value);

/* A copy of a string; NULL is NULL. */
extern void put_text(Rows *rows, const char *string);

#define put_datum(rows, value) put_if(rows, true, value)
#define put_null(rows) put_if(rows, false, (Datum) 0)
#define put_bool(rows, value) put_datum(rows, BoolGetDatum(value))
#define put_int4(rows, value) put_datum(rows, Int32GetDatum(value))
#define put_int8(rows, value) put_datum(rows, Int64GetDatum(value))
#define put_float8(rows, value) put_datum(rows, Float8GetDatum(value))
#define put_float8_if(rows, known, value) put_if(rows, known, Float8GetDatum(value))
#define put_int8_if(rows, known, value) put_if(rows, known, Int64GetDatum(value))
#define put_oid(rows, value) put_datum(rows, ObjectIdGetDatum(value))
#define put_time(rows, value) put_datum(rows, TimestampTzGetDatum(value))

#endif /* PRIVPRED_ROWS_H */
