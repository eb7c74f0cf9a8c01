/*
 * cuts.c
 *		Numbers with cuts: between two cuts lies a piece of the column's range, and
 *		learners see how much of each piece lies below the value.
 *
 * A linear model then bends at the cuts.  A value on a cut fills the piece that
 * ends there and leaves the next one empty.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/jsonb.h"

#include "catalog/features.h"
#include "server/options.h"
#include "server/number_text.h"

static const char *const hint = "Declare cuts as in {\"age\": {\"min\": 17, \"max\": 90, \"cuts\": "
								"[25, 35, 50]}}, or as a number of pieces: \"cuts\": 16.";

/* A knot as it is declared. */
static char *
knot_text(const Feature *feature, double knot)
{
	return OidIsValid(feature->time_type) ? time_to_text(knot, feature->time_type)
										  : number_text(knot, palloc(NUMBER_TEXT_SIZE));
}

char *
cuts_complete(Feature *feature, int ncuts)
{
	double *knots = feature->knots;

	feature->npieces = ncuts + 1;
	feature->piece_scale = palloc_array(double, feature->npieces);
	knots[0] = feature->min;
	knots[feature->npieces] = feature->max;
	for (int i = 1; i <= ncuts; i++)
		if (!(knots[i] > feature->min && knots[i] < feature->max))
			return psprintf("Cut %s does not lie between \"min\" and \"max\".",
							knot_text(feature, knots[i]));
	for (int i = 0; i < feature->npieces; i++)
	{
		if (!(knots[i] < knots[i + 1]))
			return psprintf("\"cuts\" must increase, but %s comes before %s.",
							knot_text(feature, knots[i]), knot_text(feature, knots[i + 1]));
		feature->piece_scale[i] = 1 / (knots[i + 1] - knots[i]);
		if (isinf(feature->piece_scale[i]))
			return psprintf("%s and %s are too close to each other.", knot_text(feature, knots[i]),
							knot_text(feature, knots[i + 1]));
	}
	return NULL;
}

/* Where a piece of equal width begins, as the stored specification can say it. */
static double
equal_cut(const Feature *feature, int i, int npieces)
{
	double range = feature->max - feature->min;
	double cut = isinf(range * i) ? range / npieces * i : range * i / npieces;

	cut += feature->min;
	if (feature->time_type == DATEOID)
		return rint(cut);
	if (OidIsValid(feature->time_type))
	{
		char *text = time_to_text(cut, feature->time_type);

		return time_of_text(feature->name, text, strlen(text), feature->time_type);
	}
	return cut;
}

static void
place_equally(Feature *feature, int npieces)
{
	feature->knots = palloc_array(double, npieces + 1);
	for (int i = 1; i < npieces; i++)
		feature->knots[i] = equal_cut(feature, i, npieces);
}

bool
cuts_have_room(const Feature *feature, int npieces)
{
	Feature cut = *feature;

	place_equally(&cut, npieces);
	return cuts_complete(&cut, npieces - 1) == NULL;
}

static int
cut_equally(Feature *feature, const JsonbValue *value)
{
	double count = json_double(value);

	if (count != rint(count))
		bad_feature(feature->name, "A number of pieces must be whole.", hint);
	if (count < MIN_PIECES || count > MAX_PIECES)
		bad_feature(feature->name,
					psprintf("A number has %d to %d pieces, not %s.", MIN_PIECES, MAX_PIECES,
							 number_text(count, palloc(NUMBER_TEXT_SIZE))),
					hint);
	place_equally(feature, (int) count);
	return (int) count - 1;
}

static int
cut_as_listed(Feature *feature, JsonbContainer *array)
{
	int count = JsonContainerSize(array);

	if (count < MIN_PIECES - 1 || count > MAX_PIECES - 1)
		bad_feature(
			feature->name,
			psprintf("A number has %d to %d cuts, not %d.", MIN_PIECES - 1, MAX_PIECES - 1, count),
			hint);
	feature->knots = palloc_array(double, count + 2);
	for (int i = 0; i < count; i++)
	{
		feature->knots[i + 1] = declared_number(feature, getIthJsonbValueFromContainer(array, i));
		if (!isfinite(feature->knots[i + 1]))
			bad_feature(feature->name,
						OidIsValid(feature->time_type)
							? "Each cut must be a finite date or timestamp in a string."
							: "Each cut must be a finite number.",
						hint);
	}
	return count;
}

void
cuts_declare(Feature *feature, const JsonbValue *value)
{
	int	  count = 0;
	char *problem;

	if (feature->kind != FEATURE_NUMERIC)
		bad_feature(feature->name, "Only numbers, dates and timestamps have cuts.", hint);
	if (value->type == jbvNumeric)
		count = cut_equally(feature, value);
	else if (value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data))
		count = cut_as_listed(feature, value->val.binary.data);
	else
		bad_feature(feature->name, "\"cuts\" must be a JSON array or a number of pieces.", hint);
	problem = cuts_complete(feature, count);
	if (problem != NULL && value->type == jbvNumeric)
		problem =
			psprintf("There is no room for %d pieces between \"min\" and \"max\".", count + 1);
	if (problem != NULL)
		bad_feature(feature->name, problem, hint);
}

/* Pieces below a value and above it, from MAX_PIECES less their number on. */
static const double ones_and_zeros[2 * MAX_PIECES] = {[0 ... MAX_PIECES - 1] = 1};

void
encode_pieces(const Feature *feature, double value, double *x)
{
	const double *knots = feature->knots;
	int			  full = 0; /* pieces that end at the value or below it */

	for (int left = feature->npieces; left > 0;)
	{
		int half = (left + 1) / 2;

		full += knots[full + half] <= value ? half : 0;
		left -= half;
	}
	memcpy(x, ones_and_zeros + MAX_PIECES - full, feature->npieces * sizeof(double));
	if (full < feature->npieces)
	{
		double part = (value - knots[full]) * feature->piece_scale[full];

		x[full] = part <= 0 ? 0 : part >= 1 ? 1 : part;
	}
}
