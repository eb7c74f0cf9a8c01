/*
 * encode.c
 *		From rows, jsonb and arrays to the numbers that learners see.
 *
 * All three forms go through the same four functions (number, level, boolean,
 * null), so that they cannot disagree.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"

#include "catalog/features.h"
#include "server/privpred.h"

/* One column of a row type, and how it is read. */
typedef struct ColumnReader
{
	int attribute; /* index in the tuple descriptor */
	Oid type;	   /* base type */
} ColumnReader;

struct RowEncoder
{
	const FeatureSpec *spec;
	TupleDesc		   columns;
	ColumnReader	  *readers;
	Datum			  *values; /* work space for one row */
	bool			  *nulls;
};

static void
bad_value(const Feature *feature, const char *problem, const char *hint)
{
	question_refuse(psprintf("invalid value for feature \"%s\"", feature->name), problem, hint);
}

/* ---------- the four encodings ---------- */

static inline double
scaled_to(double min, double scale, double value)
{
	value = (value - min) * scale;
	return value <= 0 ? 0 : value >= 1 ? 1 : value;
}

/* One-hot; a level of -1 is none. */
static void
encode_one_hot(const Feature *feature, int level, double *x)
{
	memset(x + feature->offset, 0, feature->nlevels * sizeof(double));
	if (level >= 0)
		x[feature->offset + level] = 1;
}

static void
encode_boolean(const Feature *feature, bool value, double *x)
{
	x[feature->offset] = value ? 1 : 0;
}

static inline void
encode_finite(const Feature *feature, double value, double *x)
{
	if (feature->npieces > 0)
		encode_pieces(feature, value, x + feature->offset);
	else
		x[feature->offset] = scaled_to(feature->min, feature->scale, value);
}

static void
encode_same(const Feature *feature, double number, double *x)
{
	for (int i = 0; i < feature->width; i++)
		x[feature->offset + i] = number;
}

static void
encode_null(const Feature *feature, EncodeMode mode, double *x)
{
	if (feature->missing || feature->none)
		encode_same(feature, feature->missing ? get_float8_nan() : 0, x);
	else if (mode == ENCODE_PREDICTION && !feature->fill_declared)
		bad_value(feature, "It is NULL.",
				  "Give a value, or ask the owner to declare a fill: {\"null\": {\"fill\": ...}}.");
	else if (feature->kind == FEATURE_CATEGORY)
		encode_one_hot(feature, feature->fill_level, x);
	else if (!feature->fill_declared)
		encode_same(feature, 0.5, x);
	else if (feature->kind == FEATURE_BOOLEAN)
		encode_boolean(feature, feature->fill == 1, x);
	else
		encode_finite(feature, feature->fill, x);
}

static inline void
encode_number(const Feature *feature, double value, EncodeMode mode, double *x)
{
	if (unlikely(!isfinite(value)))
	{
		if (mode == ENCODE_PREDICTION)
			bad_value(feature, isnan(value) ? "It is NaN." : "It is infinite.",
					  "Give a finite number.");
		if (isnan(value))
		{
			encode_null(feature, mode, x);
			return;
		}
	}
	encode_finite(feature, value, x);
}

static void
encode_level(const Feature *feature, const char *level, int length, EncodeMode mode, double *x)
{
	int index = feature_level(feature, level, length);

	if (index < 0 && mode == ENCODE_PREDICTION)
		bad_value(feature, "It is not one of the declared levels.",
				  "The levels are shown in privpred.models.");
	encode_one_hot(feature, index, x);
}

/* ---------- rows ---------- */

static void
encode_level_datum(const Feature *feature, Datum value, Oid type, EncodeMode mode, double *x)
{
	char		digits[MAXINT8LEN + 1];
	const char *level = digits;
	int			length;
	HeapTuple	enum_value = NULL;

	switch (type)
	{
		case BOOLOID:
			level = DatumGetBool(value) ? "true" : "false";
			length = strlen(level);
			break;
		case INT2OID:
			length = pg_lltoa(DatumGetInt16(value), digits);
			break;
		case INT4OID:
			length = pg_lltoa(DatumGetInt32(value), digits);
			break;
		case INT8OID:
			length = pg_lltoa(DatumGetInt64(value), digits);
			break;
		case NAMEOID:
			level = NameStr(*DatumGetName(value));
			length = strlen(level);
			break;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			value = PointerGetDatum(DatumGetTextPP(value));
			level = VARDATA_ANY(DatumGetPointer(value));
			length = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
			if (type == BPCHAROID)
				length = bpchartruelen(unconstify(char *, level), length);
			break;
		default:
			/* An enum, because feature_fits() admits nothing else. */
			enum_value = SearchSysCache1(ENUMOID, value);
			level = HeapTupleIsValid(enum_value)
						? NameStr(((Form_pg_enum) GETSTRUCT(enum_value))->enumlabel)
						: "";
			length = strlen(level);
	}
	encode_level(feature, level, length, mode, x);
	if (HeapTupleIsValid(enum_value))
		ReleaseSysCache(enum_value);
}

static int
find_column(TupleDesc columns, const Feature *feature)
{
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(columns, i);

		if (!attribute->attisdropped && strcmp(NameStr(attribute->attname), feature->name) == 0)
			return i;
	}
	question_refuse(psprintf("the row has no column \"%s\"", feature->name),
					"The model's features are matched to the row's columns by name.",
					"Rename the column in a subquery, or pass jsonb.");
	return -1;
}

RowEncoder *
row_encoder_create(const FeatureSpec *spec, TupleDesc columns, bool by_position)
{
	RowEncoder *encoder = palloc0_object(RowEncoder);

	if (by_position && columns->natts != spec->nfeatures)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the row has %d columns, but %d features are declared",
							   columns->natts, spec->nfeatures),
						errhint("Pass ROW(...) with the declared features in their order.")));
	encoder->spec = spec;
	encoder->columns = CreateTupleDescCopy(columns);
	encoder->readers = palloc_array(ColumnReader, spec->nfeatures);
	encoder->values = palloc_array(Datum, columns->natts);
	encoder->nulls = palloc_array(bool, columns->natts);
	for (int i = 0; i < spec->nfeatures; i++)
	{
		const Feature *feature = &spec->features[i];
		ColumnReader  *reader = &encoder->readers[i];

		reader->attribute = by_position ? i : find_column(columns, feature);
		if (reader->attribute < 0)
			return NULL;
		reader->type = getBaseType(TupleDescAttr(columns, reader->attribute)->atttypid);
		if (!feature_fits(feature, reader->type))
			bad_value(feature,
					  psprintf("A column of type %s cannot be read as this feature.",
							   format_type_be(reader->type)),
					  "Cast the column to the type of the training table's column.");
	}
	return question_problem() == NULL ? encoder : NULL;
}

void
encode_values(const RowEncoder *encoder, const Datum *values, const bool *nulls, EncodeMode mode,
			  double *x)
{
	const FeatureSpec *spec = encoder->spec;

	for (int i = 0; i < spec->nfeatures; i++)
	{
		const Feature	   *feature = &spec->features[i];
		const ColumnReader *reader = &encoder->readers[i];
		Datum				value = values[reader->attribute];

		if (nulls[reader->attribute])
			encode_null(feature, mode, x);
		else if (feature->kind == FEATURE_NUMERIC)
			encode_number(feature, number_of_datum(value, reader->type), mode, x);
		else if (feature->kind == FEATURE_BOOLEAN)
			encode_boolean(feature, DatumGetBool(value), x);
		else
			encode_level_datum(feature, value, reader->type, mode, x);
	}
}

void
encode_row(RowEncoder *encoder, HeapTupleHeader row, EncodeMode mode, double *x)
{
	HeapTupleData tuple;

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	heap_deform_tuple(&tuple, encoder->columns, encoder->values, encoder->nulls);
	encode_values(encoder, encoder->values, encoder->nulls, mode, x);
}

/* ---------- jsonb ---------- */

static void
encode_json_value(const Feature *feature, const JsonbValue *value, double *x)
{
	static const char *const problems[] = {
		[FEATURE_NUMERIC] = "It is not a JSON number.",
		[FEATURE_BOOLEAN] = "It is not true or false.",
		[FEATURE_CATEGORY] = "It is not a JSON string, number or boolean.",
	};
	bool  is_time = feature->kind == FEATURE_NUMERIC && OidIsValid(feature->time_type);
	char *level = NULL;

	if (feature->kind == FEATURE_CATEGORY && value->type != jbvNull)
		level = json_scalar_text(value);
	if (value->type == jbvNull)
		encode_null(feature, ENCODE_PREDICTION, x);
	else if (feature->kind == FEATURE_NUMERIC && value->type == jbvNumeric)
		encode_number(feature, number_of_datum(NumericGetDatum(value->val.numeric), NUMERICOID),
					  ENCODE_PREDICTION, x);
	else if (is_time && value->type == jbvString)
		encode_number(feature,
					  time_of_text(feature->name, value->val.string.val, value->val.string.len,
								   feature->time_type),
					  ENCODE_PREDICTION, x);
	else if (feature->kind == FEATURE_BOOLEAN && value->type == jbvBool)
		encode_boolean(feature, value->val.boolean, x);
	else if (level != NULL)
		encode_level(feature, level, strlen(level), ENCODE_PREDICTION, x);
	else
		bad_value(feature, is_time ? "It is not a JSON string or number." : problems[feature->kind],
				  "The kinds of the features are shown in privpred.models.");
	if (level != NULL)
		pfree(level);
}

void
encode_jsonb(const FeatureSpec *spec, Jsonb *object, double *x)
{
	if (!JB_ROOT_IS_OBJECT(object))
	{
		question_refuse(
			"features must be a JSON object", NULL,
			"Pass {\"feature\": value, ...}; the features are shown in privpred.models.");
		return;
	}
	for (int i = 0; i < spec->nfeatures; i++)
	{
		const Feature *feature = &spec->features[i];
		JsonbValue	   storage;
		JsonbValue	  *value;

		value = getKeyJsonValueFromContainer(&object->root, feature->name, strlen(feature->name),
											 &storage);
		if (value == NULL)
			bad_value(feature, "It is missing from the JSON object.",
					  "Give every feature of the model, null included; they are shown in "
					  "privpred.models.");
		if (question_problem() != NULL)
			return;
		encode_json_value(feature, value, x);
	}
}

/*
 * ---------- arrays ----------
 *
 * Numbers in their own units, with and without cuts, levels one-hot, booleans 0 or
 * 1, in declared order; dates and timestamps in days and seconds since 1970.  nulls is
 * NULL if there are none.
 */

static void
encode_level_numbers(const Feature *feature, const Datum *values, const bool *nulls, double *x)
{
	const char *hint =
		"Give one number per declared level: 1 for the level that holds, 0 for the others.";
	int hot = -1;

	for (int i = 0; i < feature->nlevels; i++)
	{
		double value;

		if (nulls && nulls[feature->place + i])
		{
			encode_null(feature, ENCODE_PREDICTION, x);
			return;
		}
		value = DatumGetFloat8(values[feature->place + i]);
		if (value != 0 && (value != 1 || hot >= 0))
			bad_value(feature, "Its numbers are not one-hot.", hint);
		if (value == 1)
			hot = i;
	}
	if (hot < 0)
		bad_value(feature, "None of the declared levels is set.", hint);
	encode_one_hot(feature, hot, x);
}

static void
encode_array_feature(const Feature *feature, const Datum *values, const bool *nulls, double *x)
{
	double value;

	if (feature->kind == FEATURE_CATEGORY)
		encode_level_numbers(feature, values, nulls, x);
	else if (nulls && nulls[feature->place])
		encode_null(feature, ENCODE_PREDICTION, x);
	else
	{
		value = DatumGetFloat8(values[feature->place]);
		if (feature->kind == FEATURE_NUMERIC)
			encode_number(feature, value, ENCODE_PREDICTION, x);
		else if (value == 0 || value == 1)
			encode_boolean(feature, value == 1, x);
		else
			bad_value(feature, "A boolean is written 0 or 1 in an array.", "Give 0 or 1.");
	}
}

/* Numbers alone; false if not all are finite. */
static bool
encode_numbers(const FeatureSpec *spec, const Datum *values, double *x)
{
	bool finite = true;

	for (int i = 0; i < spec->nfeatures; i++)
	{
		double value = DatumGetFloat8(values[i]);

		finite &= isfinite(value) != 0;
		x[i] = scaled_to(spec->minima[i], spec->scales[i], value);
	}
	return finite;
}

void
encode_array(const FeatureSpec *spec, ArrayType *array, double *x)
{
	const Datum *elements;
	const bool	*nulls = NULL;
	Datum		*deconstructed;
	bool		*deconstructed_nulls;
	int			 count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (ARR_NDIM(array) > 1)
		question_refuse("features must be a one-dimensional array", NULL,
						"Pass one array per question.");
	if (count != spec->places)
	{
		question_refuse(
			psprintf("the array has %d numbers, but the model's features need %d", count,
					 spec->places),
			psprintf("The first feature is \"%s\", the last is \"%s\".", spec->features[0].name,
					 spec->features[spec->nfeatures - 1].name),
			"Numbers take one place, booleans one (0 or 1), categories one per declared level.");
		return;
	}
#ifdef USE_FLOAT8_BYVAL
	/* An array of float8 without NULLs is already an array of Datums. */
	if (!ARR_HASNULL(array))
		elements = (const Datum *) ARR_DATA_PTR(array);
	else
#endif
	{
		deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
						  &deconstructed, &deconstructed_nulls, &count);
		elements = deconstructed;
		nulls = deconstructed_nulls;
	}
	if (spec->minima != NULL && nulls == NULL && encode_numbers(spec, elements, x))
		return;
	for (int i = 0; i < spec->nfeatures; i++)
		encode_array_feature(&spec->features[i], elements, nulls, x);
}
