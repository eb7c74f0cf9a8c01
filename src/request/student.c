/*
 * student.c
 *		Trains a student on public rows and their private labels (docs/mechanisms.md,
 *		section 8).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "request/train.h"
#include "server/progress.h"

void
student_train(ModelRecord *student, int64 nrows, const double *x, const int32 *labels)
{
	int			   width = student->spec.width;
	LearnerOptions options;
	TrainingState *state;

	progress_phase("training the student", nrows);
	learner_parse_options(student->learner, learner_options(student), &options);
	state = training_create(student->learner, &options, TEXTOID, width,
							(Size) maintenance_work_mem * 1024);
	for (int64 i = 0; i < nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (labels[i] >= 0)
			training_add(state, CStringGetTextDatum(student->spec.classes[labels[i]]), false,
						 x + i * width);
		progress_update(i + 1);
	}
	student->predictor = predictor_complete(student->learner, &options, training_finish(state), 1,
											width, student->spec.default_class);
}

/* Their numbers are the last feature (learner.h). */
void
student_train_numbers(ModelRecord *student, int64 nrows, const double *x, const double *numbers)
{
	const MechanismSpec *spec = &student->spec;
	int					 width = spec->width;
	double				*row = palloc_array(double, width + 1);
	LearnerOptions		 options;
	TrainingState		*state;

	progress_phase("training the student", nrows);
	learner_parse_options(student->learner, learner_options(student), &options);
	state = training_create(student->learner, &options, TEXTOID, width + 1,
							(Size) maintenance_work_mem * 1024);
	for (int64 i = 0; i < nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(row, x + i * width, width * sizeof(double));
		row[width] = (numbers[i] - spec->label_min) / (spec->label_max - spec->label_min);
		if (!isnan(numbers[i]))
			training_add(state, CStringGetTextDatum(NUMBERS_CLASS), false, row);
		progress_update(i + 1);
	}
	student->predictor = predictor_complete(student->learner, &options, training_finish(state), 1,
											width, spec->default_class);
}
