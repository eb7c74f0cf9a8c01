/*
 * check.c
 *		Would a question be accepted?  From the declaration alone, free of charge.
 *
 * The question is encoded as private_predict would, for whoever may ask it there, and what
 * that raises is told.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/elog.h"
#include "utils/typcache.h"

#include "catalog/store.h"
#include "learner/learners.h"
#include "request/request.h"

typedef struct Question
{
	const FeatureSpec *features;
	InputForm		   form;
	Datum			   input;
} Question;

static void
encode_question(void *argument)
{
	Question		  *question = argument;
	const FeatureSpec *features = question->features;
	double			  *x = palloc_array(double, features->width);
	InputForm		   form = question_read(question->form, &question->input);

	if (form == INPUT_ARRAY)
		encode_array(features, DatumGetArrayTypeP(question->input), x);
	else if (form == INPUT_JSONB)
		encode_jsonb(features, DatumGetJsonbP(question->input), x);
	else
	{
		HeapTupleHeader row = DatumGetHeapTupleHeader(question->input);
		TupleDesc		columns = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(row),
															  HeapTupleHeaderGetTypMod(row));

		encode_row(row_encoder_create(features, columns, false), row, ENCODE_PREDICTION, x);
	}
}

QuestionCheck
request_check(const char *name, InputForm form, Datum input)
{
	CachedModel	 *model = known_model_decoded(name, CurrentMemoryContext, asking_role());
	Question	  question = {model->record->features, form, input};
	QuestionCheck result = {.accepted = true};
	ErrorData	 *error = sql_try(encode_question, &question, CurrentMemoryContext);

	if (error == NULL)
		return result;
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
		ReThrowError(error);
	result.accepted = false;
	result.problem =
		error->detail ? psprintf("%s: %s", error->message, error->detail) : error->message;
	result.hint = error->hint;
	return result;
}
