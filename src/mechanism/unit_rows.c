/*
 * unit_rows.c
 *		The rows of one unit, as mechanisms that learn from units get them.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "learner/bytes.h"
#include "mechanism/unit_rows.h"

UnitReader *
unit_reader_create(const UnitForm *form)
{
	UnitReader *reader = palloc0_object(UnitReader);

	reader->form = *form;
	reader->context = CurrentMemoryContext;
	return reader;
}

static void *
enlarge(UnitReader *reader, void *array, Size size)
{
	return array == NULL ? MemoryContextAllocHuge(reader->context, size)
						 : repalloc_huge(array, size);
}

/* For so many rows of the current unit. */
static void
make_room(UnitReader *reader, int64 rows)
{
	Size width = reader->form.width;

	if (rows <= reader->capacity)
		return;
	if (rows > PG_INT32_MAX / 2)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("a unit has more than %d rows", PG_INT32_MAX / 2));
	reader->capacity = Max((int) rows, 2 * reader->capacity);
	reader->label = enlarge(reader, reader->label, reader->capacity * sizeof(double));
	reader->x = enlarge(reader, reader->x, reader->capacity * width * sizeof(double));
	reader->rank = enlarge(reader, reader->rank, reader->capacity * sizeof(uint64));
}

/* Makes room for the rows of one unit; those of the last one are lost. */
static void
begin_unit(UnitReader *reader, int rows)
{
	reader->nrows = 0;
	make_room(reader, rows);
}

/* Adds a row of the current unit, unless it has no label and needs one. */
static void
add_row(UnitReader *reader, double label, bool unlabelled, const double *x)
{
	const UnitForm *form = &reader->form;

	reader->rows++;
	reader->unused += unlabelled;
	if (unlabelled && !form->keeps_unlabelled)
		return;
	if (unlabelled)
		label = NAN;
	else if (form->nclasses == 0)
		label = form->label_min + label * (form->label_max - form->label_min);
	else if (!(label >= 0 && label < form->nclasses && label == (int) label))
		refuse(errmsg("%g is not the number of a class", label));
	reader->label[reader->nrows] = label;
	memcpy(reader->x + (Size) reader->nrows * form->width, x, form->width * sizeof(double));
	reader->nrows++;
}

/* ---------- a choice of rows ---------- */

static void
swap_rows(UnitReader *reader, int a, int b)
{
	int	   width = reader->form.width;
	double label = reader->label[a];
	uint64 rank = reader->rank[a];

	reader->label[a] = reader->label[b];
	reader->label[b] = label;
	reader->rank[a] = reader->rank[b];
	reader->rank[b] = rank;
	for (int i = 0; i < width; i++)
	{
		double x = reader->x[(Size) a * width + i];

		reader->x[(Size) a * width + i] = reader->x[(Size) b * width + i];
		reader->x[(Size) b * width + i] = x;
	}
}

static bool
precedes(const UnitReader *reader, int a, int b)
{
	if (reader->rank[a] != reader->rank[b])
		return reader->rank[a] < reader->rank[b];
	/* Rows without a label come last, so that no tie is left to the table's order. */
	return reader->label[a] < reader->label[b] ||
		   (isnan(reader->label[b]) && !isnan(reader->label[a]));
}

/*
 * Keeps a pseudo-random choice of the unit's rows that depends on their
 * content and the seed alone: on nothing that another unit could change, such as
 * the order of the table.
 */
static void
choose_rows(UnitReader *reader)
{
	int cap = reader->form.max_rows;
	int width = reader->form.width;

	if (cap == 0 || reader->nrows <= cap)
		return;
	for (int i = 0; i < reader->nrows; i++)
	{
		uint64 of_label = reader->form.keeps_unlabelled
							  ? reader->form.seed
							  : hash_bytes_extended((unsigned char *) &reader->label[i],
													sizeof(double), reader->form.seed);

		reader->rank[i] = hash_bytes_extended((unsigned char *) &reader->x[(Size) i * width],
											  width * sizeof(double), of_label);
	}
	for (int kept = 0; kept < cap; kept++)
	{
		int least = kept;

		CHECK_FOR_INTERRUPTS();
		for (int i = kept + 1; i < reader->nrows; i++)
			if (precedes(reader, i, least))
				least = i;
		swap_rows(reader, kept, least);
	}
	reader->nrows = cap;
}

bool
unit_end(UnitReader *reader, UnitRows *unit)
{
	choose_rows(reader);
	unit->nrows = reader->nrows;
	unit->label = reader->label;
	unit->x = reader->x;
	return unit->nrows > 0;
}

/* ---------- units ---------- */

static const double *
features_of(const UnitReader *reader, ArrayType *x, int rows)
{
	if (ARR_HASNULL(x) || ARR_ELEMTYPE(x) != FLOAT8OID ||
		ArrayGetNItems(ARR_NDIM(x), ARR_DIMS(x)) != (int64) rows * reader->form.width)
		refuse(errmsg("expected %d rows of %d numbers", rows, reader->form.width));
	return (const double *) ARR_DATA_PTR(x);
}

bool
unit_read_row(UnitReader *reader, double label, bool unlabelled, ArrayType *x, UnitRows *unit)
{
	const double *features = features_of(reader, x, 1);

	begin_unit(reader, 1);
	add_row(reader, label, unlabelled, features);
	return unit_end(reader, unit);
}

bool
unit_read_rows(UnitReader *reader, ArrayType *labels, ArrayType *x, UnitRows *unit)
{
	Datum		 *label;
	bool		 *nulls;
	int			  count;
	const double *features;

	deconstruct_array(labels, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &label,
					  &nulls, &count);
	features = features_of(reader, x, count);
	begin_unit(reader, count);
	for (int i = 0; i < count; i++)
		add_row(reader, nulls[i] ? 0 : DatumGetFloat8(label[i]), nulls[i],
				features + (Size) i * reader->form.width);
	return unit_end(reader, unit);
}

/* ---------- row by row ---------- */

#define ROWS_BETWEEN_CHOICES 1024

void
unit_begin(UnitReader *reader)
{
	begin_unit(reader, 1);
}

/* Of many more rows than count, those that do not are dropped meanwhile: each row has its rank. */
void
unit_add_row(UnitReader *reader, double label, bool unlabelled, ArrayType *x)
{
	if (reader->nrows >= 2 * (int64) reader->form.max_rows + ROWS_BETWEEN_CHOICES)
		choose_rows(reader);
	make_room(reader, (int64) reader->nrows + 1);
	add_row(reader, label, unlabelled, features_of(reader, x, 1));
}

void
unit_count_row(UnitReader *reader)
{
	reader->rows++;
	reader->unused++;
}

/* ---------- packed ---------- */

/* Instead of the number of a class. */
#define PACKED_NUMBER 254
#define PACKED_UNLABELLED 255

/* The hash, and what stands for the label. */
#define PACKED_HEADER (sizeof(uint64) + 1)

bytea *
unit_pack(double label, bool unlabelled, ArrayType *x, uint64 unit_hash)
{
	int			   count = ArrayGetNItems(ARR_NDIM(x), ARR_DIMS(x));
	const double  *features = (const double *) ARR_DATA_PTR(x);
	bool		   is_class = label >= 0 && label < PACKED_NUMBER && label == (int) label;
	Size		   size = PACKED_HEADER + (is_class || unlabelled ? 0 : 8) + 8 * (Size) count;
	bytea		  *result = palloc(VARHDRSZ + size);
	unsigned char *at = (unsigned char *) VARDATA(result);

	if (ARR_HASNULL(x))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("features must not be null"));
	SET_VARSIZE(result, VARHDRSZ + size);
	write_u64(at, unit_hash);
	at[8] = unlabelled ? PACKED_UNLABELLED : is_class ? (unsigned char) label : PACKED_NUMBER;
	at += PACKED_HEADER;
	if (!unlabelled && !is_class)
	{
		write_double(at, label);
		at += 8;
	}
	for (int i = 0; i < count; i++, at += 8)
		write_double(at, features[i]);
	return result;
}

bool
unit_read_packed(UnitReader *reader, const bytea *packed, UnitRows *unit)
{
	const unsigned char *at = (const unsigned char *) VARDATA_ANY(packed);
	Size				 size = VARSIZE_ANY_EXHDR(packed);
	int					 width = reader->form.width;
	double				*x;
	double				 label;
	bool				 is_number;

	begin_unit(reader, 1);
	is_number = size >= PACKED_HEADER && at[8] == PACKED_NUMBER;
	if (size != PACKED_HEADER + (is_number ? 8 : 0) + 8 * (Size) width)
		refuse(errmsg("expected %d rows of %d numbers", 1, width));
	unit->unit_hash = read_u64(at);
	label = is_number ? read_double(at + PACKED_HEADER) : at[8];
	x = palloc_array(double, Max(width, 1));
	for (int i = 0; i < width; i++)
		x[i] = read_double(at + PACKED_HEADER + (is_number ? 8 : 0) + 8 * i);
	add_row(reader, label, at[8] == PACKED_UNLABELLED, x);
	pfree(x);
	return unit_end(reader, unit);
}
