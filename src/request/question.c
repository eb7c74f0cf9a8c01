/*
 * question.c
 *		The forms in which a question may be asked, brought to three: an array of
 *		float8, a jsonb object, a row.
 *
 * Nothing here knows the model, so no error tells anything of it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "request/request.h"

/* How a cast makes float8 of a number; 22003 if that is too large. */
static PGFunction
cast_to_float8(Oid type)
{
	switch (type)
	{
		case FLOAT4OID:
			return ftod;
		case INT2OID:
			return i2tod;
		case INT4OID:
			return i4tod;
		case INT8OID:
			return i8tod;
		case NUMERICOID:
			return numeric_float8;
	}
	elog(ERROR, "features cannot be an array of type %u", type);
}

static ArrayType *
numbers_to_float8(ArrayType *array)
{
	Oid		   type = ARR_ELEMTYPE(array);
	PGFunction cast = cast_to_float8(type);
	Datum	  *numbers;
	bool	  *nulls;
	int		   count;
	int16	   length;
	bool	   by_value;
	char	   alignment;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(array, type, length, by_value, alignment, &numbers, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (!nulls[i])
			numbers[i] = DirectFunctionCall1(cast, numbers[i]);
	return construct_md_array(numbers, nulls, ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array),
							  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

/*
 * Text is an object of JSON if it begins so, {"...} or {}; an array of numbers if
 * it begins with another brace.  Of [...] the reader of objects says what to do.
 */
static InputForm
form_of_text(const char *text)
{
	static const char *const space = " \t\n\r";

	text += strspn(text, space);
	if (*text == '[')
		return INPUT_JSONB;
	if (*text == '{')
	{
		text++;
		text += strspn(text, space);
		return *text == '"' || *text == '}' ? INPUT_JSONB : INPUT_ARRAY;
	}
	question_refuse("features given as text must be a JSON object or an array of numbers", NULL,
					"Write '{\"feature\": value, ...}' or '{1, 2.5, ...}', or pass a row.");
	return INPUT_TEXT;
}

InputForm
question_read(InputForm form, Datum *input)
{
	char	  *written;
	ArrayType *array;

	switch (form)
	{
		case INPUT_ARRAY:
			array = DatumGetArrayTypeP(*input);
			if (unlikely(ARR_ELEMTYPE(array) != FLOAT8OID))
				array = numbers_to_float8(array);
			*input = PointerGetDatum(array);
			return INPUT_ARRAY;
		case INPUT_JSON:
		case INPUT_TEXT:
			written = TextDatumGetCString(*input);
			form = form == INPUT_JSON ? INPUT_JSONB : form_of_text(written);
			if (form == INPUT_TEXT)
				return form;
			*input = form == INPUT_JSONB ? DirectFunctionCall1(jsonb_in, CStringGetDatum(written))
										 : OidInputFunctionCall(F_ARRAY_IN, written, FLOAT8OID, -1);
			return form;
		default:
			return form;
	}
}
