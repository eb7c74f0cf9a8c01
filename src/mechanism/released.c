/*
 * released.c
 *		A classifier that is released as a whole: stored, asked.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"

#include "mechanism/released.h"

#define RELEASED_VERSION 1

/* Bytes before what depends on the class. */
#define HEADER_BYTES (3 * 4 + 8 + 3 * 8)

/* ---------- guards ---------- */

void
released_check_spec(const MechanismSpec *spec)
{
	if (spec->nclasses != 2)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("released classifiers need two classes, not %d", spec->nclasses),
						errhint("Declare two classes, or use mechanism \"vote\".")));
	if (spec->declared_units == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the number of protected units is not declared"),
			 errdetail("What they allow to learn depends on it, and their real number is secret."),
			 errhint(
				 "Run privpred.protect(..., declared_units => n) with a number that is public.")));
}

void
released_check_memory(Size needed, Size memory)
{
	if (needed > memory)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("training needs %zu MB of memory, more than maintenance_work_mem",
					needed / (1024 * 1024) + 1),
			 errhint(
				 "Increase maintenance_work_mem, or declare less: fewer columns, points or batches, or a larger accuracy.")));
}

/* ---------- the stored form ---------- */

static Size
body_bytes(CandidateClass class, int width, int npoints)
{
	switch (class)
	{
		case CLASS_INTERVALS:
		case CLASS_RECTANGLES:
			return 2 * MAX_SIDES * sizeof(double);
		case CLASS_FINITE:
			return 2 * 4 + BITS_WORDS(npoints) * sizeof(uint64) + NAMEDATALEN;
		default:
			return (width + (Size) 1) * sizeof(double);
	}
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
	switch (classifier->class)
	{
		case CLASS_INTERVALS:
		case CLASS_RECTANGLES:
			for (int i = 0; i < MAX_SIDES; i++)
			{
				pq_sendfloat8(&bytes, classifier->low[i]);
				pq_sendfloat8(&bytes, classifier->high[i]);
			}
			break;
		case CLASS_FINITE:
			pq_sendint32(&bytes, released->npoints);
			pq_sendint32(&bytes, released->points_are_columns);
			for (int i = 0; i < BITS_WORDS(released->npoints); i++)
				pq_sendint64(&bytes, released->labels[i]);
			pq_sendbytes(&bytes, released->name, NAMEDATALEN);
			break;
		default:
			pq_sendfloat8(&bytes, classifier->cut);
			for (int i = 0; i < width; i++)
				pq_sendfloat8(&bytes, classifier->weight[i]);
			break;
	}
	return pq_endtypsend(&bytes);
}

pg_noreturn static void
corrupted(void)
{
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
					errmsg("stored classifier of a model does not fit its declaration"),
					errhint("Retrain the model.")));
}

/* A flag is 0 or 1. */
static bool
get_flag(StringInfo bytes)
{
	uint32 flag = pq_getmsgint(bytes, 4);

	if (flag > 1)
		corrupted();
	return flag;
}

static void
read_points(const MechanismSpec *spec, StringInfo bytes, Released *released)
{
	released->npoints = pq_getmsgint(bytes, 4);
	if (released->npoints < 1 || released->npoints > FINITE_MAX_POINTS ||
		bytes->len != HEADER_BYTES + body_bytes(CLASS_FINITE, spec->width, released->npoints))
		corrupted();
	released->points_are_columns = get_flag(bytes);
	if (spec->width != (released->points_are_columns ? released->npoints : 1))
		corrupted();
	released->labels = palloc_array(uint64, BITS_WORDS(released->npoints));
	for (int i = 0; i < BITS_WORDS(released->npoints); i++)
		released->labels[i] = pq_getmsgint64(bytes);
	memcpy(released->name, pq_getmsgbytes(bytes, NAMEDATALEN), NAMEDATALEN);
	if (memchr(released->name, '\0', NAMEDATALEN) == NULL)
		corrupted();
}

static void
read_body(const MechanismSpec *spec, StringInfo bytes, Released *released)
{
	Classifier *classifier = &released->classifier;

	switch (classifier->class)
	{
		case CLASS_INTERVALS:
		case CLASS_RECTANGLES:
			for (int i = 0; i < MAX_SIDES; i++)
			{
				classifier->low[i] = pq_getmsgfloat8(bytes);
				classifier->high[i] = pq_getmsgfloat8(bytes);
				if (isnan(classifier->low[i]) || isnan(classifier->high[i]))
					corrupted();
			}
			break;
		case CLASS_FINITE:
			read_points(spec, bytes, released);
			break;
		default:
			classifier->cut = pq_getmsgfloat8(bytes);
			classifier->weight = palloc_array(double, spec->width);
			for (int i = 0; i < spec->width; i++)
			{
				classifier->weight[i] = pq_getmsgfloat8(bytes);
				if (!isfinite(classifier->weight[i]))
					corrupted();
			}
			if (isnan(classifier->cut))
				corrupted();
			break;
	}
}

Released *
released_read(const MechanismSpec *spec, bytea *state)
{
	Released	  *released = palloc0_object(Released);
	StringInfoData bytes = {
		.data = VARDATA_ANY(state),
		.len = VARSIZE_ANY_EXHDR(state),
		.maxlen = VARSIZE_ANY_EXHDR(state),
	};
	uint32 class;

	if (bytes.len < HEADER_BYTES || spec->nclasses != 2 ||
		pq_getmsgint(&bytes, 4) != RELEASED_VERSION)
		corrupted();
	class = pq_getmsgint(&bytes, 4);
	if (class > CLASS_FINITE || (class == CLASS_RECTANGLES && spec->width > MAX_SIDES) ||
		(class == CLASS_INTERVALS && spec->width != 1))
		corrupted();
	released->classifier.class = class;
	released->classifier.inside = get_flag(&bytes);
	released->candidates = pq_getmsgint64(&bytes);
	released->radius = pq_getmsgfloat8(&bytes);
	released->smoothness = pq_getmsgfloat8(&bytes);
	released->accuracy = pq_getmsgfloat8(&bytes);
	if (bytes.len < HEADER_BYTES + body_bytes(class, spec->width, 0) ||
		(class != CLASS_FINITE && bytes.len != HEADER_BYTES + body_bytes(class, spec->width, 0)))
		corrupted();
	read_body(spec, &bytes, released);
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

static int
says(const MechanismModel *model, const double *x)
{
	const Released *released = model->state;
	int				width = model->spec->width;
	int				point;

	if (released->classifier.class != CLASS_FINITE)
		return classifier_says(&released->classifier, width, x);
	point = released_point(released->points_are_columns, released->npoints, width, x);
	return point >= 0 && bits_member(released->labels, point);
}

void *
released_load(const MechanismSpec *spec, bytea *state)
{
	return released_read(spec, state);
}

/* The randomness was spent when the classifier was drawn. */
int
released_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	return says(model, x);
}

void
released_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					  double *probability)
{
	int answer = says(model, x);

	probability[answer] = 1;
	probability[1 - answer] = 0;
}

int
released_majority(const MechanismModel *model, const double *x)
{
	return says(model, x);
}
