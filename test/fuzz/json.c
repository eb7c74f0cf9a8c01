/*
 * json.c
 *		What people write as JSON: features, options, questions.
 */
#include "fuzz.h"

#include <float.h>
#include <math.h>

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "account/charge.h"
#include "catalog/features.h"
#include "catalog/models.h"
#include "learner/learners.h"
#include "mechanism/mechanism.h"
#include "request/request.h"
#include "server/json_text.h"

static const struct
{
	const char *name;
	Oid			type;
} table[] = {
	{"a", INT4OID},	   {"b", FLOAT8OID},	  {"c", TEXTOID}, {"d", BOOLOID},	{"e", DATEOID},
	{"f", NUMERICOID}, {"g", TIMESTAMPTZOID}, {"h", INT8OID}, {"i", FLOAT4OID}, {"j", INT2OID},
};

#define COLUMNS lengthof(table)

static TupleDesc
table_columns(void)
{
	TupleDesc result = CreateTemplateTupleDesc(COLUMNS);

	for (int i = 0; i < COLUMNS; i++)
		TupleDescInitEntry(result, i + 1, table[i].name, table[i].type, -1, 0);
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(result);
#endif
	return result;
}

/* Learners see numbers from 0 to 1, and NaN where that was declared. */
static void
check_encoded(const FeatureSpec *spec, const double *x)
{
	for (int i = 0; i < spec->nfeatures; i++)
	{
		const Feature *feature = &spec->features[i];

		for (int j = feature->offset; j < feature->offset + feature->width; j++)
			promise((x[j] >= 0 && x[j] <= 1) || (isnan(x[j]) && feature->missing));
	}
}

static Datum
extreme(Oid type, int which)
{
	static const double doubles[] = {0, -0.0, 1e308, -1e308, 4.9e-324, INFINITY, -INFINITY, NAN};
	double				x = doubles[which];

	switch (type)
	{
		case INT2OID:
			return Int16GetDatum(which % 2 ? PG_INT16_MIN : PG_INT16_MAX);
		case INT4OID:
			return Int32GetDatum(which % 2 ? PG_INT32_MIN : PG_INT32_MAX);
		case INT8OID:
			return Int64GetDatum(which % 2 ? PG_INT64_MIN : PG_INT64_MAX);
		case FLOAT4OID:
			return Float4GetDatum((float) (which == 2 ? FLT_MAX : which == 3 ? -FLT_MAX : x));
		case FLOAT8OID:
			return Float8GetDatum(x);
		case NUMERICOID:
			return DirectFunctionCall1(float8_numeric, Float8GetDatum(isinf(x) ? NAN : x));
		case BOOLOID:
			return BoolGetDatum(which % 2);
		case DATEOID:
			return DateADTGetDatum(which % 3 == 0	? DATEVAL_NOBEGIN
								   : which % 3 == 1 ? DATEVAL_NOEND
													: 0);
		case TIMESTAMPTZOID:
			return TimestampTzGetDatum(which % 3 == 0 ? DT_NOBEGIN : which % 3 == 1 ? DT_NOEND : 0);
		default:
			return CStringGetTextDatum(which % 2 ? "" : "x");
	}
}

/* No row raises an error in training, whatever is in it. */
static void
encode_extremes(const FeatureSpec *spec, TupleDesc columns)
{
	RowEncoder *encoder = row_encoder_create(spec, columns, false);
	double	   *x = palloc(sizeof(double) * spec->width);
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS];

	for (int round = 0; round < 9; round++)
	{
		for (int i = 0; i < COLUMNS; i++)
		{
			nulls[i] = round == 8;
			values[i] = nulls[i] ? (Datum) 0 : extreme(table[i].type, round);
		}
		encode_values(encoder, values, nulls, ENCODE_TRAINING, x);
		check_encoded(spec, x);
	}
}

void
fuzz_features(const uint8 *data, Size size)
{
	Datum		 json = DirectFunctionCall1(json_in, CStringGetDatum(fuzz_text(data, size)));
	TupleDesc	 columns = table_columns();
	FeatureSpec *spec = feature_spec_declare(json, columns, "table");
	Jsonb		*stored = feature_spec_write(spec);
	Jsonb		*again = feature_spec_write(feature_spec_read(stored));

	promise(VARSIZE(stored) == VARSIZE(again) && memcmp(stored, again, VARSIZE(stored)) == 0);
	encode_extremes(spec, columns);
}

/* ---------- options ---------- */

#define LEARNER_NAME(name) #name,
static const char *const learners[] = {LEARNERS(LEARNER_NAME)};

/* The first byte says of whom, the second what else is declared. */
static void
declare_mechanism(const Mechanism *mechanism, uint8 declared, Jsonb *options)
{
	static char			   *classes[] = {"no", "yes", "maybe"};
	static const SpecColumn columns[] = {{.name = "a", .max = 1}, {.name = "b", .max = 9}};
	MechanismSpec			spec = {
				  .mechanism = mechanism,
				  .epsilon = EPSILON_UNITS_PER_ONE / (declared & 1 ? 1 : 1000),
				  .teachers = declared & 2 ? 1000 : 5,
				  .nclasses = declared & 4	 ? 2
							  : declared & 8 ? 3
											 : 0,
				  .classes = classes,
				  .label_max = 1,
				  .width = declared & 16 ? 2 : 1,
				  .columns = columns,
				  .declared_units = declared & 32 ? 100000 : 0,
				  .max_rows_per_unit = declared & 64 ? 10 : 1,
				  .options = options,
	  };
	Charge charge;

	mechanism_validate(mechanism, &spec);
	for (int infinite = 0; infinite < 2; infinite++)
		if (mechanism_charge(mechanism, &spec, infinite, &charge))
		{
			char   written[CHARGE_TEXT_SIZE];
			Charge read;

			promise(charge_is_valid(&charge));
			promise(charge_to_text(&charge, written) && charge_from_text(written, &read));
		}
}

void
fuzz_options(const uint8 *data, Size size)
{
	LearnerOptions options;
	Jsonb		  *json;

	if (size < 2)
		return;
	json = options_object(json_to_jsonb(fuzz_text(data + 2, size - 2)));
	if (data[0] % 2 == 0)
	{
		const Learner *learner = learner_lookup(learners[data[0] / 2 % lengthof(learners)]);

		if (learner == NULL)
			return;
		learner_parse_options(learner, json, &options);
		(void) json_to_jsonb(options.json);
		if (learner->member_size != NULL)
			promise(learner->member_size(2, 3, &options) > 0);
	}
	else
	{
		const Mechanism *mechanism = mechanism_number(data[0] / 2 % 15);

		options_check(json, model_options);
		if (mechanism != NULL)
			declare_mechanism(mechanism, data[1], json);
	}
}

/* ---------- questions ---------- */

static const char *const specs[] = {
	"[\"b\", \"d\"]",
	"{\"a\": {\"min\": 0, \"max\": 100}, \"c\": {\"levels\": [\"x\", \"y\", \"\"]}, \"d\": {}}",
	"{\"b\": {\"min\": -1e300, \"max\": 1e300, \"null\": \"missing\"},"
	" \"c\": {\"levels\": [\"x\", 1, true], \"null\": \"none\"},"
	" \"d\": {\"null\": {\"fill\": true}}}",
	"{\"e\": {\"min\": \"1900-01-01\", \"max\": \"2030-01-01\"},"
	" \"g\": {\"min\": \"1900-01-01\", \"max\": \"2030-01-01\", \"cuts\": 4},"
	" \"f\": {\"min\": 0, \"max\": 1, \"cuts\": [0.1, 0.5]}}",
	"{\"b\": {\"min\": -5, \"max\": 5}, \"i\": {\"min\": 0, \"max\": 1e-300}}",
};

/* The first byte says which features, which form, and whether problems are noted. */
void
fuzz_question(const uint8 *data, Size size)
{
	static FeatureSpec *known[lengthof(specs)];
	int					which;
	double			   *x;
	Datum				input;
	InputForm			form;

	if (size < 1)
		return;
	which = (data[0] & 15) % lengthof(specs);
	if (known[which] == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
		Datum		  json = DirectFunctionCall1(json_in, CStringGetDatum(specs[which]));

		known[which] = feature_spec_declare(json, table_columns(), "table");
		MemoryContextSwitchTo(caller);
	}
	x = palloc0(sizeof(double) * known[which]->width);
	question_note_problems(data[0] & 16);
	input = CStringGetTextDatum(fuzz_text(data + 1, size - 1));
	form = question_read(data[0] & 32 ? INPUT_JSON : INPUT_TEXT, &input);
	if (form == INPUT_ARRAY)
		encode_array(known[which], DatumGetArrayTypeP(input), x);
	else if (form == INPUT_JSONB)
		encode_jsonb(known[which], DatumGetJsonbP(input), x);
	if (question_problem() == NULL)
		check_encoded(known[which], x);
}
