/*
 * training_portable.c
 *		Training states to bytes and back.
 *
 * Nothing in the portable form depends on the machine, the server's version, its
 * encoding or the OIDs of its types.  Options travel as the JSON they were given
 * as, so that they are checked like anybody's.  Between processes of one server the
 * type of the labels and the memory limit stand before it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "learner/state_format.h"
#include "learner/training.h"

/* What stands before a state between processes: label type (4), memory limit (8). */
#define WIRE_HEADER 12

/* ---------- options ---------- */

/* Can a state of this learner be understood on another node? */
static bool
travels(const Learner *learner)
{
	return !learner->runs_user_code && !learner->aggregate_only;
}

static const Learner *
portable_learner(Jsonb *options, Jsonb **of_learner)
{
	JsonbValue	   storage;
	JsonbValue	  *name = NULL;
	const Learner *learner = NULL;

	if (JB_ROOT_IS_OBJECT(options))
		name = getKeyJsonValueFromContainer(&options->root, "learner", strlen("learner"), &storage);
	if (name != NULL && name->type == jbvString)
		learner = learner_lookup(pnstrdup(name->val.string.val, name->val.string.len));
	if (learner == NULL || !travels(learner))
		refuse(
			errmsg("options must name a learner whose states can travel"),
			errdetail("There is no \"learner\" in them, or none of that name, or it runs functions "
					  "of this database."),
			errhint("For example {\"learner\": \"linear\", \"classes\": [\"a\", \"b\"]}."));
	*of_learner = DatumGetJsonbP(
		DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(options), CStringGetTextDatum("learner")));
	return learner;
}

TrainingState *
portable_create(Jsonb *options, Oid label_type, int width, Size memory_limit)
{
	LearnerOptions parsed;
	Jsonb		  *of_learner;
	const Learner *learner = portable_learner(options, &of_learner);

	learner_parse_options(learner, of_learner, &parsed);
	return training_create(learner, &parsed, label_type, width, memory_limit);
}

/* ---------- writing ---------- */

static StateLabels
labels_of(const TrainingState *state)
{
	switch (state->kind)
	{
		case LABEL_BOOL:
			return STATE_BOOLEANS;
		case LABEL_INT2:
		case LABEL_INT4:
		case LABEL_INT8:
			return STATE_INTEGERS;
		default:
			return STATE_TEXTS;
	}
}

/* Makes room for so many bytes at the end. */
static unsigned char *
append_space(StringInfo out, Size size)
{
	unsigned char *start;

	if (size >= MaxAllocSize)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("a training state is too large"));
	enlargeStringInfo(out, size);
	start = (unsigned char *) out->data + out->len;
	out->len += size;
	return start;
}

static void
append_u32(StringInfo out, uint32 value)
{
	write_u32(append_space(out, 4), value);
}

static void
append_u64(StringInfo out, uint64 value)
{
	write_u64(append_space(out, 8), value);
}

static void
append_text(StringInfo out, const char *string)
{
	char *utf8 = pg_server_to_any(string, strlen(string), PG_UTF8);

	append_u32(out, strlen(utf8));
	appendStringInfoString(out, utf8);
	if (utf8 != string)
		pfree(utf8);
}

/* All bits of numbers but their sign, or of their complements. */
static uint128
bits_of_sums(const int128 *sums, int64 n)
{
	uint128 bits = 0;

	for (int64 i = 0; i < n; i++)
		bits |= (uint128) (sums[i] ^ (sums[i] >> 127));
	return bits;
}

/* As few as all sums of the state can do with. */
static int
bytes_of_sums(const TrainingState *state)
{
	uint128 bits = bits_of_sums(state->shared, state->shared_sums);
	int		bytes = 1;

	for (int c = 0; c < state->classes.n; c++)
		bits |= bits_of_sums(state->of_class[c], state->class_sums);
	while (bits >> (8 * bytes - 1) != 0)
		bytes++;
	return bytes;
}

static void
append_sums(StringInfo out, const int128 *sums, int64 n, int bytes)
{
	unsigned char *at = append_space(out, bytes * n);

	for (int64 i = 0; i < n; i++, at += bytes)
		write_sum(at, sums[i], bytes);
}

static void
append_column(StringInfo out, const TrainingState *state, int column)
{
	const double  *x = state->values + column;
	int			   width = state->width;
	ColumnForm	   form = COLUMN_BITS;
	unsigned char *at;

	for (int64 i = 0; i < state->nrows && form == COLUMN_BITS; i++)
		if (x[i * width] != 0 && x[i * width] != 1)
			form = COLUMN_DOUBLES;
	at = append_space(out, 1 + column_size(form, state->nrows));
	*at++ = form;
	if (form == COLUMN_BITS)
	{
		memset(at, 0, column_size(form, state->nrows));
		for (int64 i = 0; i < state->nrows; i++)
			at[i / 8] |= (x[i * width] != 0) << (i % 8);
	}
	else
		for (int64 i = 0; i < state->nrows; i++)
			write_double(at + 8 * i, x[i * width]);
}

static void
append_rows(StringInfo out, const TrainingState *state)
{
	unsigned char *at;

	for (int i = 0; i < state->width; i++)
	{
		CHECK_FOR_INTERRUPTS();
		append_column(out, state, i);
	}
	at = append_space(out, 2 * state->nrows);
	for (int64 i = 0; i < state->nrows; i++)
		write_u16(at + 2 * i, state->row_class[i]);
}

/* The text form is a third larger, and must not exceed the limit either. */
static void
check_portable_size(const TrainingState *state)
{
	double bytes = state->learner->additive
					   ? 16.0 * (state->shared_sums + (double) state->classes.n * state->class_sums)
					   : (double) state->nrows * (8.0 * state->width + 2);

	if (bytes > MaxAllocSize / 2)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("a training state of learner \"%s\" is too large to travel",
					   state->learner->name),
				errhint("Use more teachers, or fewer features."));
}

static void
append_state(StringInfo out, const TrainingState *state)
{
	bool		   additive = state->learner->additive;
	int			   start = out->len;
	int			   sum_bytes;
	unsigned char *bytes;

	training_settle(state);
	sum_bytes = additive ? bytes_of_sums(state) : 0;
	appendBinaryStringInfo(out, STATE_MAGIC, 4);
	append_u32(out, STATE_VERSION | (uint32) (sum_bytes % MAX_SUM_BYTES) << 16);
	append_u32(out, 0); /* the checksum, below */
	append_u32(out, additive ? STATE_SUMS : STATE_ROWS);
	append_u32(out, labels_of(state));
	append_u32(out, state->width);
	append_u32(out, state->classes.n);
	append_u32(out, state->shared_sums);
	append_u32(out, state->class_sums);
	append_u64(out, state->nrows);
	append_text(out, state->learner->name);
	append_text(out, state->options.json);
	for (int c = 0; c < state->classes.n; c++)
		append_text(out, state->classes.names[c]);
	for (int c = 0; c < state->classes.n; c++)
		append_u64(out, state->class_rows[c]);
	append_sums(out, state->shared, state->shared_sums, sum_bytes);
	for (int c = 0; c < state->classes.n; c++)
		append_sums(out, state->of_class[c], state->class_sums, sum_bytes);
	if (!additive)
		append_rows(out, state);
	bytes = (unsigned char *) out->data + start;
	write_u32(bytes + STATE_CRC_OFFSET, state_crc(bytes, out->len - start));
}

bytea *
portable_write(const TrainingState *state)
{
	StringInfoData out;

	check_portable_size(state);
	pq_begintypsend(&out);
	append_state(&out, state);
	return pq_endtypsend(&out);
}

bytea *
training_serialize(const TrainingState *state)
{
	StringInfoData out;

	pq_begintypsend(&out);
	append_u32(&out, state->label_type);
	append_u64(&out, state->memory_limit);
	append_state(&out, state);
	return pq_endtypsend(&out);
}

/* ---------- reading ---------- */

pg_noreturn static void
refuse_bytes(const char *problem, int sqlstate)
{
	ereport(ERROR, errcode(sqlstate), errmsg("invalid training state"), errdetail("%s", problem),
			errhint("All nodes must run the same version of privpred; train again."));
}

void
portable_check(const char *bytes, Size size, int sqlstate)
{
	StateShape	shape;
	const char *problem = state_parse((const unsigned char *) bytes, size, &shape);

	if (problem != NULL)
		refuse_bytes(problem, sqlstate);
}

static void
read_sums(int128 *sums, const StateShape *shape, int64 first, int64 n)
{
	const unsigned char *at = shape->body + first * shape->sum_bytes;

	for (int64 i = 0; i < n; i++, at += shape->sum_bytes)
		sums[i] = read_sum(at, shape->sum_bytes);
}

static void
read_rows(TrainingState *state, const StateShape *shape)
{
	const unsigned char *column = shape->body;
	int					 width = state->width;

	if (shape->rows == 0)
		return;
	training_reserve_rows(state, shape->rows);
	for (int i = 0; i < width; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 row = 0; row < shape->rows; row++)
		{
			double x = column_value(column, row);

			/* one zero, and one way to be missing */
			state->values[row * width + i] = isnan(x) ? get_float8_nan() : x + 0.0;
		}
		column += 1 + column_size(column[0], shape->rows);
	}
	for (uint64 row = 0; row < shape->rows; row++)
		state->row_class[row] = read_u16(shape->row_class + 2 * row);
}

static void
read_classes(TrainingState *state, const StateShape *shape)
{
	const unsigned char *position = shape->names;

	for (uint32 c = 0; c < shape->nclasses; c++)
	{
		char *name = stored_text(&position);

		if (training_ensure_class(state, name, strlen(name)) != c)
			refuse_bytes("Its classes are invalid.", ERRCODE_INVALID_BINARY_REPRESENTATION);
		state->class_rows[c] = read_u64(shape->class_rows + 8 * c);
		pfree(name);
	}
	if (state->classes.n != shape->nclasses)
		refuse_bytes("Its classes are invalid.", ERRCODE_INVALID_BINARY_REPRESENTATION);
}

/* A type whose labels are compared alike. */
static Oid
type_of_labels(uint32 labels)
{
	return labels == STATE_BOOLEANS ? BOOLOID : labels == STATE_INTEGERS ? INT8OID : TEXTOID;
}

static TrainingState *
read_state(const char *bytes, Size size, Oid label_type, Size memory_limit)
{
	const unsigned char *position;
	LearnerOptions		 options;
	const Learner		*learner;
	TrainingState		*state;
	StateShape			 shape;
	const char			*problem = state_parse((const unsigned char *) bytes, size, &shape);

	StaticAssertStmt(PRIVPRED_MAX_CLASSES == 1000 && PRIVPRED_MAX_WIDTH == 16384,
					 "limits of state_format.c");
	if (problem != NULL)
		refuse_bytes(problem, ERRCODE_INVALID_BINARY_REPRESENTATION);
	position = shape.learner;
	learner = learner_lookup(stored_text(&position));
	if (learner == NULL || (!OidIsValid(label_type) && !travels(learner)) ||
		learner->additive != (shape.kind == STATE_SUMS) ||
		(shape.has_missing && !learner->accepts_missing) ||
		(learner->additive && (learner->shared_sums(shape.width) != shape.shared_sums ||
							   learner->class_sums(shape.width) != shape.class_sums)))
		refuse_bytes("Its learner or its options are invalid.",
					 ERRCODE_INVALID_BINARY_REPRESENTATION);
	position = shape.options;
	learner_parse_options_text(learner, stored_text(&position), &options);
	state = training_create(learner, &options,
							OidIsValid(label_type) ? label_type : type_of_labels(shape.labels),
							shape.width, memory_limit);
	read_classes(state, &shape);
	if (learner->additive)
	{
		read_sums(state->shared, &shape, 0, state->shared_sums);
		for (int c = 0; c < state->classes.n; c++)
			read_sums(state->of_class[c], &shape, state->shared_sums + c * state->class_sums,
					  state->class_sums);
	}
	else
		read_rows(state, &shape);
	state->nrows = shape.rows;
	return state;
}

TrainingState *
portable_read(const char *bytes, Size size, Size memory_limit)
{
	return read_state(bytes, size, InvalidOid, memory_limit);
}

TrainingState *
training_deserialize(bytea *wire)
{
	const unsigned char *bytes = (unsigned char *) VARDATA_ANY(wire);

	if (VARSIZE_ANY_EXHDR(wire) < WIRE_HEADER)
		elog(ERROR, "invalid serialized training state");
	return read_state((const char *) bytes + WIRE_HEADER, VARSIZE_ANY_EXHDR(wire) - WIRE_HEADER,
					  read_u32(bytes), read_u64(bytes + 4));
}

/* Labels of one kind may be of several types, on several nodes. */
void
portable_merge(TrainingState *target, TrainingState *source)
{
	if (labels_of(target) == labels_of(source))
		source->label_type = target->label_type;
	if (target->nrows + source->nrows > STATE_MAX_ROWS)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("training states have too many rows together"));
	training_merge(target, source);
}
