/*
 * plot.c
 *		privpred.plot(): accuracy against epsilon, or against how many answers a
 *		budget pays for.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "request/plan.h"
#include "request/plot.h"
#include "request/report.h"

/* ---------- names and figures ---------- */

static char *
title_of(const PlotRequest *request, const char *what)
{
	return psprintf("%s of model %s", what, request->model);
}

/* Accuracy, or root mean squared error of a number. */
static double
figure_of(const Evaluation *evaluation, const EvaluationPoint *point, bool approximate)
{
	if (evaluation->has_classes)
		return approximate ? point->approximate_accuracy : point->private_accuracy;
	return approximate ? point->approximate_rmse : point->private_rmse;
}

static PlotLine *
add_line(PlotChart *chart, const char *name, const char *class, int capacity)
{
	PlotLine   *line = &chart->lines[chart->nlines++];

	line->name = name;
	line->class = class;
	line->marked = -1;
	line->x = palloc_array(double, capacity);
	line->y = palloc_array(double, capacity);
	return line;
}

static void
add_point(PlotLine *line, double x, double y)
{
	line->x[line->npoints] = x;
	line->y[line->npoints++] = y;
}

static void
add_level(PlotChart *chart, const char *name, const char *class, double y)
{
	PlotLine   *line = add_line(chart, name, class, 1);

	add_point(line, 1, y);
	line->note = psprintf("%.4g", y);
}

/* What there is without privacy, and without a model. */
static void
add_levels(PlotChart *chart, const Evaluation *evaluation)
{
	const Mechanism *mechanism = evaluation->record->mechanism;

	/* What is charged once has no noise but in the model. */
	if (mechanism->charge_kind != CHARGE_ONCE)
		add_level(chart, mechanism->asks_teachers && evaluation->has_classes ?
				  "teachers' majority, no noise" : "without noise", "3",
				  evaluation->has_classes ? evaluation->majority_accuracy : evaluation->plain_rmse);
	if (evaluation->has_classes)
		add_level(chart, "always the commonest class", "4", evaluation->baseline_accuracy);
	else
		add_level(chart, "always the mean", "4", evaluation->baseline_rmse);
}

static void
describe_axes(PlotChart *chart, const Evaluation *evaluation)
{
	chart->from_zero = !evaluation->has_classes;
	chart->y_label = evaluation->has_classes ? "expected accuracy" :
		"expected root mean squared error";
	chart->below = psprintf(INT64_FORMAT " rows, mechanism %s%s", evaluation->rows,
							evaluation->record->mechanism->name,
							evaluation->exact ? "" : ", estimated");
}

/* ---------- against epsilon ---------- */

static void
add_curve(PlotChart *chart, const Evaluation *evaluation, bool approximate, const char *name,
		  const char *class)
{
	PlotLine   *line = add_line(chart, name, class, evaluation->npoints);
	double		own = plan_epsilon(evaluation->own->epsilon);

	for (int i = 0; i < evaluation->npoints; i++)
	{
		const EvaluationPoint *point = &evaluation->points[i];

		if (!point->known)
			continue;
		if (point->own)
			line->marked = line->npoints;
		add_point(line, plan_epsilon(point->epsilon), figure_of(evaluation, point, approximate));
	}
	line->note = psprintf("%.4g at epsilon %.6g",
						  figure_of(evaluation, evaluation->own, approximate), own);
}

static bool
accounts_differ(const Evaluation *evaluation)
{
	for (int i = 0; i < evaluation->npoints; i++)
	{
		const EvaluationPoint *point = &evaluation->points[i];

		if (point->known && evaluation->exact &&
			fabs(figure_of(evaluation, point, true) - figure_of(evaluation, point, false)) > 1e-9)
			return true;
	}
	return false;
}

static void
plot_against_epsilon(StringInfo svg, const PlotRequest *request, const Evaluation *evaluation)
{
	PlotChart	chart = {0};
	bool		once = evaluation->record->mechanism->charge_kind == CHARGE_ONCE;

	chart.title = title_of(request, evaluation->has_classes ? "Accuracy" : "Error");
	describe_axes(&chart, evaluation);
	if (evaluation->remark != NULL)
		chart.below = psprintf("%s; %s", chart.below, evaluation->remark);
	chart.x_label = once ? "epsilon of the model (logarithmic)" :
		"epsilon of one answer (logarithmic)";
	chart.mark = plan_epsilon(evaluation->own->epsilon);
	chart.mark_label = psprintf("this model: %.6g", chart.mark);
	if (accounts_differ(evaluation))
	{
		add_curve(&chart, evaluation, false, "private, without delta", "1");
		add_curve(&chart, evaluation, true, "private, with delta", "2");
	}
	else
		add_curve(&chart, evaluation, false, "private", "1");
	add_levels(&chart, evaluation);
	plot_chart(svg, &chart);
}

/* ---------- against answers ---------- */

/* 1, 2, 5, 10, ... up to a million. */
#define MOST_STEPS	19

typedef struct AnswersStep
{
	int64		answers;
	EpsilonUnits epsilon;
	bool		pure;			/* the account that is best for them */
} AnswersStep;

static int
price_steps(const PlotRequest *request, const char *mechanism, AnswersStep *steps)
{
	PlanQuestion question = {.epsilon = request->budget,.delta = request->delta};
	int			count = 0;

	for (int64 i = 0, answers = 1; i < MOST_STEPS; i++, answers = answers * (i % 3 == 2 ? 5 : 4) / 2)
	{
		PlanResult	result = {0};

		if (!plan_per_answer(&question, mechanism, answers, &result))
			break;
		steps[count].answers = answers;
		steps[count].epsilon = result.per_answer;
		steps[count++].pure = result.order_is_infinite;
	}
	return count;
}

pg_noreturn static void
refuse_answers(const char *model, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("accuracy against answers cannot be drawn for model \"%s\"", model),
			 errdetail_internal("%s", detail),
			 errhint("Use kind => 'accuracy'.")));
}

static const EvaluationPoint *
find_point(const Evaluation *evaluation, EpsilonUnits epsilon)
{
	for (int i = 0; i < evaluation->npoints; i++)
		if (evaluation->points[i].epsilon == epsilon)
			return &evaluation->points[i];
	return NULL;
}

static void
check_answers(const PlotRequest *request, const Mechanism *mechanism)
{
	if (request->budget == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("accuracy against answers needs a budget"),
				 errhint("Say epsilon => 1, delta => 1e-6, for example.")));
	if (mechanism->charge_kind == CHARGE_ONCE)
		refuse_answers(request->model, "It is charged once, and then answers any number of questions.");
	if (mechanism->charge_kind == CHARGE_PER_STREAM)
		refuse_answers(request->model, "A stream is charged by its unstable answers.");
	if (mechanism->owner_only)
		refuse_answers(request->model, "No budget can pay for its answers.");
	if (mechanism->answers_at == NULL)
		refuse_answers(request->model, "For another epsilon it must be trained anew.");
}

static Evaluation *
plot_against_answers(StringInfo svg, const PlotRequest *request)
{
	const ModelRecord *record = known_model_decoded(request->model, CurrentMemoryContext,
													GetUserId())->record;
	AnswersStep steps[MOST_STEPS];
	EpsilonUnits epsilons[MOST_STEPS];
	PlotChart	chart = {0};
	Evaluation *evaluation;
	PlotLine   *line;
	int			count;

	check_relation_owner(record->relid);
	check_answers(request, record->mechanism);
	count = price_steps(request, record->mechanism->name, steps);
	for (int i = 0; i < count; i++)
		epsilons[i] = steps[i].epsilon;
	evaluation = request_evaluate(request->model, request->test_relation, epsilons, count);
	if (evaluation->rows == 0)
		return evaluation;
	chart.title = title_of(request, evaluation->has_classes ? "Accuracy" : "Error");
	describe_axes(&chart, evaluation);
	chart.below = psprintf("%s; budget (%g, %g), each answer at the epsilon that it pays for%s%s",
						   chart.below, plan_epsilon(request->budget), request->delta,
						   evaluation->remark ? "; " : "", evaluation->remark ? evaluation->remark : "");
	chart.x_label = "answers (logarithmic)";
	line = add_line(&chart, "private", "1", MOST_STEPS);
	for (int i = 0; i < count; i++)
	{
		const EvaluationPoint *point = find_point(evaluation, steps[i].epsilon);

		if (point != NULL && point->known)
			add_point(line, (double) steps[i].answers,
					  figure_of(evaluation, point, !steps[i].pure));
	}
	if (line->npoints < 2)
		refuse_answers(request->model, "The budget does not pay for two answers at an epsilon that its declaration allows.");
	add_levels(&chart, evaluation);
	plot_chart(svg, &chart);
	return evaluation;
}

/* ---------- the request ---------- */

static void
check_rows(const Evaluation *evaluation)
{
	if (evaluation->rows == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("there is nothing to draw"),
				 errdetail("No row of the test table has a label that the model knows."),
				 errhint("Give labelled rows.")));
}

static void
check_confusion(const Evaluation *evaluation)
{
	int			nclasses = evaluation->record->spec.nclasses;

	if (nclasses == 0 || nclasses > PLOT_MAX_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a confusion matrix is drawn for 2 to %d classes, not %d", PLOT_MAX_CLASSES,
						nclasses),
				 errhint("Use kind => 'accuracy', or privpred.confusion_matrix().")));
}

text *
request_plot(const PlotRequest *request)
{
	StringInfoData svg;
	Evaluation *evaluation;
	bool		confusion = strcmp(request->kind, "confusion") == 0;

	initStringInfo(&svg);
	if (strcmp(request->kind, "answers") == 0)
		check_rows(plot_against_answers(&svg, request));
	else if (confusion || strcmp(request->kind, "accuracy") == 0)
	{
		evaluation = request_evaluate(request->model, request->test_relation, request->epsilons,
									  request->nepsilons);
		check_rows(evaluation);
		if (confusion)
		{
			check_confusion(evaluation);
			plot_confusion(&svg, evaluation, title_of(request, "Answers"));
		}
		else
			plot_against_epsilon(&svg, request, evaluation);
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no plot of kind \"%s\"", request->kind),
				 errhint("Use 'accuracy', 'answers' or 'confusion'.")));
	return cstring_to_text_with_len(svg.data, svg.len);
}
