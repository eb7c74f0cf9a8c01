/*
 * released.c
 *		A classifier that is released as a whole: stored, asked.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "mechanism/released.h"

#define RELEASED_VERSION 2
#define TWO_CLASSES_VERSION 1 /* of 0.1.0: what is said outside follows, and no share */

/* Bytes before what depends on the class. */
#define HEADER_BYTES (4 * 4 + 8 + 4 * 8)
#define TWO_CLASSES_HEADER_BYTES (3 * 4 + 8 + 3 * 8)

/* ---------- the stored form ---------- */

static Size
body_bytes(const MechanismSpec *spec, CandidateClass class, int npoints)
{
	if (class == CLASS_FINITE)
		return 2 * 4 + LABELS_WORDS(npoints, spec->nclasses) * sizeof(uint64) + NAMEDATALEN;
	return (class_has_boxes(class) ? 2 * MAX_SIDES : spec->width + 1) * sizeof(double);
}

bytea *
released_write(const MechanismSpec *spec, const Released *released)
{
	const Classifier *classifier = &released->classifier;
	StringInfoData	  bytes;

	pq_begintypsend(&bytes);
	pq_sendint32(&bytes, RELEASED_VERSION);
	pq_sendint32(&bytes, classifier->class);
	pq_sendint32(&bytes, classifier->inside);
	pq_sendint32(&bytes, classifier->outside);
	pq_sendint64(&bytes, released->candidates);
	pq_sendfloat8(&bytes, released->radius);
	pq_sendfloat8(&bytes, released->smoothness);
	pq_sendfloat8(&bytes, released->accuracy);
	pq_sendfloat8(&bytes, released->share);
	if (classifier->class == CLASS_FINITE)
	{
		pq_sendint32(&bytes, released->npoints);
		pq_sendint32(&bytes, released->points_are_columns);
		for (int i = 0; i < LABELS_WORDS(released->npoints, spec->nclasses); i++)
			pq_sendint64(&bytes, released->labels[i]);
		pq_sendbytes(&bytes, released->name, NAMEDATALEN);
		return pq_endtypsend(&bytes);
	}
	for (int i = 0; i < MAX_SIDES && class_has_boxes(classifier->class); i++)
	{
		pq_sendfloat8(&bytes, classifier->low[i]);
		pq_sendfloat8(&bytes, classifier->high[i]);
	}
	if (!class_has_boxes(classifier->class))
	{
		pq_sendfloat8(&bytes, classifier->cut);
		for (int i = 0; i < spec->width; i++)
			pq_sendfloat8(&bytes, classifier->weight[i]);
	}
	return pq_endtypsend(&bytes);
}

static void
check(bool good)
{
	if (!good)
		state_damaged();
}

/* A number below the limit; of a flag, 0 or 1. */
static int
get_below(StringInfo bytes, int limit)
{
	uint32 number = pq_getmsgint(bytes, 4);

	check(number < (uint32) limit);
	return (int) number;
}

static void
read_points(const MechanismSpec *spec, StringInfo bytes, Released *released)
{
	int words;

	released->npoints = pq_getmsgint(bytes, 4);
	check(released->npoints >= 1 && released->npoints <= FINITE_MAX_POINTS &&
		  bytes->len - bytes->cursor + 4 == body_bytes(spec, CLASS_FINITE, released->npoints));
	released->points_are_columns = get_below(bytes, 2);
	check(spec->width == (released->points_are_columns ? released->npoints : 1));
	words = LABELS_WORDS(released->npoints, spec->nclasses);
	released->labels = palloc_array(uint64, words);
	for (int i = 0; i < words; i++)
		released->labels[i] = pq_getmsgint64(bytes);
	for (int i = 0; i < released->npoints; i++)
		check(labels_get(released->labels, released->npoints, spec->nclasses, i) < spec->nclasses);
	memcpy(released->name, pq_getmsgbytes(bytes, NAMEDATALEN), NAMEDATALEN);
	check(memchr(released->name, '\0', NAMEDATALEN) != NULL);
}

static void
read_box(StringInfo bytes, Classifier *classifier)
{
	for (int i = 0; i < MAX_SIDES; i++)
	{
		classifier->low[i] = pq_getmsgfloat8(bytes);
		classifier->high[i] = pq_getmsgfloat8(bytes);
		check(!isnan(classifier->low[i]) && !isnan(classifier->high[i]));
	}
}

static void
read_cut(const MechanismSpec *spec, StringInfo bytes, Classifier *classifier)
{
	classifier->cut = pq_getmsgfloat8(bytes);
	check(!isnan(classifier->cut));
	classifier->weight = palloc_array(double, spec->width);
	for (int i = 0; i < spec->width; i++)
	{
		classifier->weight[i] = pq_getmsgfloat8(bytes);
		check(isfinite(classifier->weight[i]));
	}
}

/* What all classes begin with; returns the class. */
static CandidateClass
read_header(const MechanismSpec *spec, StringInfo bytes, Released *released)
{
	uint32 version = pq_getmsgint(bytes, 4);
	bool   two = version == TWO_CLASSES_VERSION;
	uint32 class = pq_getmsgint(bytes, 4);
	Classifier *classifier = &released->classifier;

	check((version == RELEASED_VERSION && bytes->len >= HEADER_BYTES) ||
		  (two && spec->nclasses == 2));
	check(class <= CLASS_FINITE && (class != CLASS_RECTANGLES || spec->width <= MAX_SIDES) &&
		  (class != CLASS_INTERVALS || spec->width == 1));
	classifier->class = class;
	classifier->inside = get_below(bytes, spec->nclasses);
	classifier->outside = two ? 1 - classifier->inside : get_below(bytes, spec->nclasses);
	released->candidates = pq_getmsgint64(bytes);
	released->radius = pq_getmsgfloat8(bytes);
	released->smoothness = pq_getmsgfloat8(bytes);
	released->accuracy = pq_getmsgfloat8(bytes);
	/* Of halfspaces 0.1.0 proved nothing, and promised nothing. */
	released->share = class == CLASS_HALFSPACES ? 0 : 1;
	if (!two)
		released->share = pq_getmsgfloat8(bytes);
	check(released->share >= 0 && released->share <= 1);
	if (released->share == 0)
		released->accuracy = released->smoothness = 0;
	return class;
}

void *
released_load(const MechanismSpec *spec, bytea *state)
{
	Released	  *released = palloc0_object(Released);
	int			   size = VARSIZE_ANY_EXHDR(state);
	StringInfoData bytes = {.data = VARDATA_ANY(state), .len = size, .maxlen = size};
	CandidateClass class;
	Size least;

	check(size >= TWO_CLASSES_HEADER_BYTES && spec->nclasses >= 2);
	class = read_header(spec, &bytes, released);
	least = bytes.cursor + body_bytes(spec, class, 0);
	check(size == least || (class == CLASS_FINITE && size > least));
	if (class == CLASS_FINITE)
		read_points(spec, &bytes, released);
	else if (class_has_boxes(class))
		read_box(&bytes, &released->classifier);
	else
		read_cut(spec, &bytes, &released->classifier);
	return released;
}

/* ---------- answers ---------- */

int
released_point(bool points_are_columns, int npoints, int width, const double *x)
{
	if (!points_are_columns)
		return Min((int) (x[0] * npoints), npoints - 1);
	for (int i = 0; i < width; i++)
		if (x[i] > 0.5)
			return i;
	return -1;
}

void
released_count(ErrorCounts *counts, const Candidates *candidates, bool points_are_columns,
			   int width, const UnitRows *unit)
{
	for (int i = 0; i < unit->nrows; i++)
	{
		const double *x = unit->x + (Size) i * width;
		double		  point;

		if (isnan(unit->label[i]))
			continue;
		if (candidates->class == CLASS_FINITE)
		{
			point = released_point(points_are_columns, candidates->finite->npoints, width, x);
			x = &point;
		}
		errors_add(counts, x, (int) unit->label[i], ERROR_ONE / unit->nrows);
	}
}

int64 *
released_errors(const MechanismSpec *spec, const Candidates *candidates, bool points_are_columns,
				UnitSource *units)
{
	ErrorCounts *counts = errors_create(candidates);
	UnitRows	 unit;

	if (!units->far || !released_pass(units, candidates, points_are_columns, counts))
		while (units->next(units, &unit))
		{
			CHECK_FOR_INTERRUPTS();
			released_count(counts, candidates, points_are_columns, spec->width, &unit);
		}
	return errors_finish(counts);
}

int
released_majority(const MechanismModel *model, const double *x)
{
	const Released *released = model->state;
	int				width = model->spec->width;
	int				point;

	if (released->classifier.class != CLASS_FINITE)
		return classifier_says(&released->classifier, width, x);
	point = released_point(released->points_are_columns, released->npoints, width, x);
	if (point < 0)
		return 0;
	return labels_get(released->labels, released->npoints, model->spec->nclasses, point);
}
