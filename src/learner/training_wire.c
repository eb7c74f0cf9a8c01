/*
 * training_wire.c
 *		The serialized form of a state, between processes of one server.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "learner/training.h"

static void
send_string(StringInfo out, const char *string)
{
	pq_sendbyte(out, string != NULL);
	/* not pq_sendstring, which converts to the client's encoding */
	if (string)
		pq_sendbytes(out, string, strlen(string) + 1);
}

static char *
receive_string(StringInfo in)
{
	return pq_getmsgbyte(in) ? pstrdup(pq_getmsgrawstring(in)) : NULL;
}

static void
send_sums(StringInfo out, const int128 *sums, int64 n)
{
	for (int64 i = 0; i < n; i++)
	{
		pq_sendint64(out, (uint64) ((uint128) sums[i] >> 64));
		pq_sendint64(out, (uint64) sums[i]);
	}
}

static void
receive_sums(StringInfo in, int128 *sums, int64 n)
{
	for (int64 i = 0; i < n; i++)
	{
		uint64 high = pq_getmsgint64(in);
		uint64 low = pq_getmsgint64(in);

		sums[i] = (int128) ((uint128) high << 64 | low);
	}
}

static void
send_options(StringInfo out, const LearnerOptions *options)
{
	pq_sendfloat8(out, options->cost);
	pq_sendfloat8(out, options->tolerance);
	pq_sendfloat8(out, options->ridge);
	pq_sendfloat8(out, options->smoothing);
	pq_sendint32(out, options->rounds);
	pq_sendint32(out, options->depth);
	pq_sendfloat8(out, options->rate);
	pq_sendfloat8(out, options->subsample);
	pq_sendfloat8(out, options->columns);
	pq_sendint32(out, options->min_rows);
	pq_sendfloat8(out, options->epsilon);
	pq_sendfloat8(out, options->alpha);
	send_string(out, options->train);
	send_string(out, options->predict);
	send_string(out, options->default_class);
	pq_sendint32(out, options->nclasses);
	for (int i = 0; i < options->nclasses; i++)
		send_string(out, options->classes[i]);
}

static void
receive_options(StringInfo in, LearnerOptions *options)
{
	options->cost = pq_getmsgfloat8(in);
	options->tolerance = pq_getmsgfloat8(in);
	options->ridge = pq_getmsgfloat8(in);
	options->smoothing = pq_getmsgfloat8(in);
	options->rounds = pq_getmsgint(in, 4);
	options->depth = pq_getmsgint(in, 4);
	options->rate = pq_getmsgfloat8(in);
	options->subsample = pq_getmsgfloat8(in);
	options->columns = pq_getmsgfloat8(in);
	options->min_rows = pq_getmsgint(in, 4);
	options->epsilon = pq_getmsgfloat8(in);
	options->alpha = pq_getmsgfloat8(in);
	options->train = receive_string(in);
	options->predict = receive_string(in);
	options->default_class = receive_string(in);
	options->nclasses = pq_getmsgint(in, 4);
	if (options->nclasses < 0 || options->nclasses > PRIVPRED_MAX_CLASSES)
		elog(ERROR, "invalid number of classes in a training state");
	options->classes = palloc(options->nclasses * sizeof(char *) + 1);
	for (int i = 0; i < options->nclasses; i++)
		options->classes[i] = receive_string(in);
}

bytea *
training_serialize(const TrainingState *state)
{
	StringInfoData out;

	training_settle(state);
	pq_begintypsend(&out);
	send_string(&out, state->learner->name);
	send_options(&out, &state->options);
	pq_sendint32(&out, state->label_type);
	pq_sendint32(&out, state->width);
	pq_sendint64(&out, state->memory_limit);
	pq_sendint32(&out, state->classes.n);
	for (int c = 0; c < state->classes.n; c++)
	{
		send_string(&out, state->classes.names[c]);
		pq_sendint64(&out, state->class_rows[c]);
		if (state->learner->additive)
			send_sums(&out, state->of_class[c], state->class_sums);
	}
	pq_sendint64(&out, state->nrows);
	if (state->learner->additive)
		send_sums(&out, state->shared, state->shared_sums);
	else if (state->nrows > 0)
	{
		pq_sendbytes(&out, (const char *) state->values,
					 state->nrows * state->width * sizeof(double));
		pq_sendbytes(&out, (const char *) state->row_class, state->nrows * sizeof(int32));
	}
	return pq_endtypsend(&out);
}

static void
receive_classes(StringInfo in, TrainingState *state)
{
	int n = pq_getmsgint(in, 4);

	for (int c = 0; c < n; c++)
	{
		char *name = receive_string(in);

		if (name == NULL || training_ensure_class(state, name, strlen(name)) != c)
			elog(ERROR, "invalid class in a training state");
		state->class_rows[c] = pq_getmsgint64(in);
		if (state->learner->additive)
			receive_sums(in, state->of_class[c], state->class_sums);
	}
	if (n != state->classes.n)
		elog(ERROR, "invalid number of classes in a training state");
}

static void
receive_rows(StringInfo in, TrainingState *state, int64 nrows)
{
	Size row_bytes = state->width * sizeof(double) + sizeof(int32);

	if (nrows < 0 || (Size) nrows > (Size) (in->len - in->cursor) / row_bytes)
		elog(ERROR, "invalid number of rows in a training state");
	if (nrows == 0)
		return;
	training_reserve_rows(state, nrows);
	pq_copymsgbytes(in, (char *) state->values, nrows * state->width * sizeof(double));
	pq_copymsgbytes(in, (char *) state->row_class, nrows * sizeof(int32));
	for (int64 i = 0; i < nrows; i++)
		if (state->row_class[i] < 0 || state->row_class[i] >= state->classes.n)
			elog(ERROR, "invalid class number in a training state");
}

TrainingState *
training_deserialize(bytea *wire)
{
	StringInfoData in;
	LearnerOptions options;
	const Learner *learner;
	TrainingState *state;
	char		  *name;
	Oid			   label_type;
	int			   width;
	int64		   nrows;

	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(wire), VARSIZE_ANY_EXHDR(wire));
	name = receive_string(&in);
	learner = name ? learner_lookup(name) : NULL;
	if (learner == NULL)
		elog(ERROR, "unknown learner in a training state");
	receive_options(&in, &options);
	label_type = pq_getmsgint(&in, 4);
	width = pq_getmsgint(&in, 4);
	if (width < 1 || width > PRIVPRED_MAX_WIDTH)
		elog(ERROR, "invalid width in a training state");
	state = training_create(learner, &options, label_type, width, pq_getmsgint64(&in));
	receive_classes(&in, state);
	nrows = pq_getmsgint64(&in);
	if (learner->additive)
		receive_sums(&in, state->shared, state->shared_sums);
	else
		receive_rows(&in, state, nrows);
	state->nrows = nrows;
	pq_getmsgend(&in);
	pfree(in.data);
	return state;
}
