/*
 * plan_statement.c
 *		What to paste: from a table to a first private answer.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/json.h"

#include "account/accountant.h"
#include "server/number_text.h"
#include "request/plan.h"

static void
append_epsilon(StringInfo text, const char *before, EpsilonUnits units)
{
	char buffer[EPSILON_TEXT_SIZE];

	appendStringInfo(text, "%s%s", before, epsilon_to_text(units, buffer));
}

static void
append_number(StringInfo text, const char *before, double number)
{
	char buffer[NUMBER_TEXT_SIZE];

	appendStringInfo(text, "%s%s", before, number_text(number, buffer));
}

/* The mechanism that create_model is told: students are made of a vote. */
static const char *
created_mechanism(const PlanResult *result)
{
	return result->mechanism == &plan_distill ? "vote" : result->mechanism->name;
}

char *
plan_parameters(const PlanQuestion *question, const PlanResult *result)
{
	StringInfoData text;

	if (result->epsilon == 0)
		return NULL;
	initStringInfo(&text);
	appendStringInfo(&text, "mechanism => '%s'", created_mechanism(result));
	if (result->learner)
		appendStringInfo(&text, ", learner => '%s', teachers => %d", result->learner->name,
						 result->teachers);
	append_epsilon(&text, ", epsilon => ", result->epsilon);
	if (result->options)
		appendStringInfo(&text, ", options => '%s'", result->options);
	return text.data;
}

/* ---------- the parts ---------- */

static void
append_literal(StringInfo text, const char *value)
{
	appendStringInfoString(text, quote_literal_cstr(value));
}

/* A name in a comment, which a line break would end. */
static void
append_name_in_comment(StringInfo text, const char *name)
{
	if (strpbrk(name, "\n\r") != NULL)
		escape_json(text, name);
	else
		appendStringInfoString(text, quote_identifier(name));
}

/* What the catalog does not tell and somebody must fill in. */
static void
append_gaps(StringInfo text, const PlanRelation *relation)
{
	bool listed = false;

	if (relation == NULL)
	{
		appendStringInfoString(
			text,
			"-- replace your_table, your_label, its classes and your_column, or call privpred.plan with relation => 'table'\n");
		return;
	}
	if (!relation->has_unit)
		appendStringInfoString(
			text,
			"-- replace your_unit by the column that says whose row it is: the table has no primary key\n");
	if (relation->label == NULL || relation->nclasses == 0)
		appendStringInfoString(
			text,
			"-- replace label and classes: the table does not tell them (a boolean, an enum or CHECK (... IN (...)) would)\n");
	for (int i = 0; i < relation->ncolumns; i++)
	{
		if (relation->columns[i].declaration != NULL)
			continue;
		appendStringInfoString(
			text,
			listed ? ", " : "-- left out, as the table declares no bounds or levels for them: ");
		append_name_in_comment(text, relation->columns[i].name);
		listed = true;
	}
	if (listed)
		appendStringInfoString(text, " (add them to features if you know their range)\n");
}

/* Only what is not declared yet. */
static void
append_protect(StringInfo text, const PlanQuestion *question, const PlanResult *result,
			   const char *table)
{
	const PlanRelation *relation = question->relation;
	bool				size =
		question->units > 0 && (relation == NULL || !relation->is_protected ||
								(result->mechanism->needs_size && relation->declared_units == 0));
	bool rows = result->mechanism->needs_rows_per_unit && relation != NULL &&
				!relation->one_row_a_unit && relation->max_rows_per_unit == 0;

	if (relation != NULL && relation->is_protected && !size && !rows)
		return;
	appendStringInfo(text, "SELECT privpred.protect(%s", quote_literal_cstr(table));
	if (relation != NULL && !relation->has_unit)
		appendStringInfoString(text, ", unit => 'your_unit'");
	else if (relation != NULL && relation->unit != NULL)
		appendStringInfo(text, ", unit => %s", quote_literal_cstr(relation->unit));
	if (question->protects_labels)
		appendStringInfoString(text, ", protects => 'labels'");
	if (size)
		appendStringInfo(text, ", declared_units => %.0f", question->units);
	if (rows)
		appendStringInfo(text, ", max_rows_per_unit => %d", question->rows_per_unit);
	appendStringInfoString(text, ");\n");
}

/* A JSON object of what each column declares, or of an example. */
static char *
columns_json(const PlanRelation *relation, bool example)
{
	StringInfoData json;

	if (relation == NULL || relation->width == 0)
		return example ? "{\"your_column\": 50}" : "{\"your_column\": {\"min\": 0, \"max\": 100}}";
	initStringInfo(&json);
	for (int i = 0; i < relation->ncolumns; i++)
	{
		const PlanColumn *column = &relation->columns[i];

		if (column->declaration == NULL)
			continue;
		appendStringInfoString(&json, json.len > 0 ? ", " : "{");
		escape_json(&json, column->name);
		appendStringInfo(&json, ": %s", example ? column->example : column->declaration);
	}
	appendStringInfoChar(&json, '}');
	return json.data;
}

static void
append_classes(StringInfo text, const PlanQuestion *question)
{
	const PlanRelation *relation = question->relation;
	bool				known = relation != NULL && relation->nclasses > 0;

	appendStringInfoString(text, ", classes => ARRAY[");
	for (int i = 0; i < (known ? relation->nclasses : question->classes); i++)
	{
		appendStringInfoString(text, i > 0 ? "," : "");
		append_literal(text, known ? relation->classes[i] : psprintf("class %d", i + 1));
	}
	appendStringInfoChar(text, ']');
}

static void
append_create(StringInfo text, const PlanQuestion *question, const PlanResult *result,
			  const char *table, const char *model)
{
	const PlanRelation *relation = question->relation;

	appendStringInfo(text, "SELECT privpred.create_model(%s, %s,\n  label => ",
					 quote_literal_cstr(model), quote_literal_cstr(table));
	append_literal(text, relation && relation->label ? relation->label : "your_label");
	append_classes(text, question);
	appendStringInfo(text, ",\n  features => %s,\n  %s);\n",
					 quote_literal_cstr(columns_json(relation, false)),
					 plan_parameters(question, result));
}

static void
append_grant(StringInfo text, const PlanQuestion *question, const char *table)
{
	appendStringInfo(text, "SELECT privpred.grant_budget(current_user::regrole, %s",
					 quote_literal_cstr(table));
	append_epsilon(text, ", epsilon => ", question->epsilon);
	if (question->delta > 0)
		append_number(text, ", delta => ", question->delta);
	appendStringInfoString(text, ");\n");
}

char *
plan_statements(const PlanQuestion *question, const PlanResult *result)
{
	const PlanRelation *relation = question->relation;
	const char		   *table = relation ? relation->name : "your_table";
	char			   *model =
		psprintf("%s_%s", relation ? relation->model_prefix : "my", created_mechanism(result));
	StringInfoData text;

	if (result->epsilon == 0)
		return NULL;
	initStringInfo(&text);
	append_gaps(&text, relation);
	append_protect(&text, question, result, table);
	append_create(&text, question, result, table, model);
	append_grant(&text, question, table);
	if (result->unstable > 0)
	{
		appendStringInfo(&text, "SELECT privpred.open_stream(%s, unstable => %d",
						 quote_literal_cstr(model), result->unstable);
		append_epsilon(&text, ", epsilon => ", result->stream_epsilon);
		append_number(&text, ", delta => ", result->stream_delta);
		appendStringInfoString(&text, ");\n");
	}
	if (result->labels > 0)
	{
		char *student = psprintf("%s_student", relation ? relation->model_prefix : "my");

		appendStringInfo(
			&text,
			"-- replace your_public_table: unlabelled rows that may be seen by all\n"
			"SELECT privpred.distill(%s, %s, 'your_public_table', labels => " INT64_FORMAT ");\n",
			quote_literal_cstr(student), quote_literal_cstr(model), result->labels);
		model = student;
	}
	appendStringInfo(&text, "SELECT %s(%s, %s::jsonb);",
					 result->mechanism == &plan_soft ? "private_score" : "private_predict",
					 quote_literal_cstr(model), quote_literal_cstr(columns_json(relation, true)));
	return text.data;
}
