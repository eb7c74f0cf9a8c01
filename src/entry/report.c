/*
 * report.c
 *		SQL entry point of the report.
 */
#include "postgres.h"

#include "fmgr.h"

#include "request/request.h"

PG_FUNCTION_INFO_V1(privpred_report);

Datum
privpred_report(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(request_report());
}
