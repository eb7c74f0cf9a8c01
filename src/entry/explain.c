/*
 * explain.c
 *		explain(predictor, features): what a predictor that the caller holds has
 *		learnt, in words.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "learner/learner.h"

PG_FUNCTION_INFO_V1(predictor_explain_rules);

static char **
read_names(ArrayType *array, int *n)
{
	Datum *elements;
	bool  *nulls;
	char **names;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, n);
	names = palloc_array(char *, *n);
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("names of features must not be null")));
		names[i] = TextDatumGetCString(elements[i]);
	}
	return names;
}

Datum
predictor_explain_rules(PG_FUNCTION_ARGS)
{
	char **names = NULL;
	int	   n = 0;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
		names = read_names(PG_GETARG_ARRAYTYPE_P(1), &n);
	PG_RETURN_TEXT_P(
		cstring_to_text(predictor_explain((Predictor *) PG_GETARG_VARLENA_P(0), names, n)));
}
