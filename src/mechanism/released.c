/*
 * released.c
 *		A classifier that is released as a whole: stored, asked.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "mechanism/released.h"

#define RELEASED_VERSION 1

/* Bytes before what depends on the class. */
#define HEADER_BYTES (3 * 4 + 8 + 3 * 8)

/* ---------- the stored form ---------- */

static Size
body_bytes(CandidateClass class, int width, int npoints)
{
	if (class == CLASS_FINITE)
		return 2 * 4 + BITS_WORDS(npoints) * sizeof(uint64) + NAMEDATALEN;
	return (class_has_boxes(class) ? 2 * MAX_SIDES : width + 1) * sizeof(double);
}

bytea *
released_write(const Released *released, int width)
{
	const Classifier *classifier = &released->classifier;
	StringInfoData	  bytes;

	pq_begintypsend(&bytes);
	pq_sendint32(&bytes, RELEASED_VERSION);
	pq_sendint32(&bytes, classifier->class);
	pq_sendint32(&bytes, classifier->inside);
	pq_sendint64(&bytes, released->candidates);
	pq_sendfloat8(&bytes, released->radius);
	pq_sendfloat8(&bytes, released->smoothness);
	pq_sendfloat8(&bytes, released->accuracy);
	if (classifier->class == CLASS_FINITE)
	{
		pq_sendint32(&bytes, released->npoints);
		pq_sendint32(&bytes, released->points_are_columns);
		for (int i = 0; i < BITS_WORDS(released->npoints); i++)
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
		for (int i = 0; i < width; i++)
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

/* A flag is 0 or 1. */
static bool
get_flag(StringInfo bytes)
{
	uint32 flag = pq_getmsgint(bytes, 4);

	check(flag <= 1);
	return flag;
}

static void
read_points(const MechanismSpec *spec, StringInfo bytes, Released *released)
{
	released->npoints = pq_getmsgint(bytes, 4);
	check(released->npoints >= 1 && released->npoints <= FINITE_MAX_POINTS &&
		  bytes->len == HEADER_BYTES + body_bytes(CLASS_FINITE, spec->width, released->npoints));
	released->points_are_columns = get_flag(bytes);
	check(spec->width == (released->points_are_columns ? released->npoints : 1));
	released->labels = palloc_array(uint64, BITS_WORDS(released->npoints));
	for (int i = 0; i < BITS_WORDS(released->npoints); i++)
		released->labels[i] = pq_getmsgint64(bytes);
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

void *
released_load(const MechanismSpec *spec, bytea *state)
{
	Released	  *released = palloc0_object(Released);
	int			   size = VARSIZE_ANY_EXHDR(state);
	StringInfoData bytes = {.data = VARDATA_ANY(state), .len = size, .maxlen = size};
	uint32 class;
	Size least;

	check(size >= HEADER_BYTES && spec->nclasses == 2 &&
		  pq_getmsgint(&bytes, 4) == RELEASED_VERSION);
	class = pq_getmsgint(&bytes, 4);
	check(class <= CLASS_FINITE && (class != CLASS_RECTANGLES || spec->width <= MAX_SIDES) &&
		  (class != CLASS_INTERVALS || spec->width == 1));
	released->classifier.class = class;
	released->classifier.inside = get_flag(&bytes);
	released->candidates = pq_getmsgint64(&bytes);
	released->radius = pq_getmsgfloat8(&bytes);
	released->smoothness = pq_getmsgfloat8(&bytes);
	released->accuracy = pq_getmsgfloat8(&bytes);
	least = HEADER_BYTES + body_bytes(class, spec->width, 0);
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
		errors_add(counts, x, unit->label[i] == 1, ERROR_ONE / unit->nrows);
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
	return point >= 0 && bits_member(released->labels, point);
}
