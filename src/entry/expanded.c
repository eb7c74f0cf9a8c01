/*
 * expanded.c
 *		Types whose values are states of aggregates.
 */
#include "postgres.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "utils/memutils.h"

#include "entry/expanded.h"

/* ---------- a state inside an aggregate ---------- */

static Size
expanded_size(ExpandedObjectHeader *header)
{
	ExpandedState *expanded = (ExpandedState *) header;

	if (expanded->flat == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(header->eoh_context);

		expanded->flat = expanded->kind->write(expanded->state);
		MemoryContextSwitchTo(caller);
	}
	return VARSIZE(expanded->flat);
}

static void
expanded_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	memcpy(result, ((ExpandedState *) header)->flat, size);
}

static const ExpandedObjectMethods expanded_methods = {expanded_size, expanded_flatten};

ExpandedState *
expanded_create(const ExpandedKind *kind, MemoryContext aggregate)
{
	MemoryContext context =
		AllocSetContextCreate(aggregate, "privpred state", ALLOCSET_START_SMALL_SIZES);
	ExpandedState *expanded = MemoryContextAllocZero(context, sizeof(ExpandedState));

	EOH_init_header(&expanded->header, &expanded_methods, context);
	expanded->kind = kind;
	return expanded;
}

static ExpandedState *
as_expanded(const ExpandedKind *kind, Datum datum)
{
	ExpandedState *expanded;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	expanded = (ExpandedState *) DatumGetEOHP(datum);
	if (expanded->header.eoh_methods != &expanded_methods || expanded->kind != kind)
		elog(ERROR, "not a value of type %s", kind->type);
	return expanded;
}

/* In the current context. */
static void *
read_state(const ExpandedKind *kind, Datum datum)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(datum);

	return kind->read(VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat));
}

ExpandedState *
expanded_to_change(const ExpandedKind *kind, Datum datum, MemoryContext aggregate)
{
	ExpandedState *expanded = as_expanded(kind, datum);

	if (expanded == NULL || !VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
	{
		MemoryContext caller;

		expanded = expanded_create(kind, aggregate);
		caller = MemoryContextSwitchTo(expanded->header.eoh_context);
		expanded->state = read_state(kind, datum);
		MemoryContextSwitchTo(caller);
	}
	if (expanded->flat != NULL)
		pfree(expanded->flat);
	expanded->flat = NULL;
	return expanded;
}

void *
expanded_state(const ExpandedKind *kind, Datum datum)
{
	ExpandedState *expanded = as_expanded(kind, datum);

	return expanded ? expanded->state : read_state(kind, datum);
}

/*
 * ---------- the type ----------
 *
 * Text is base64: PostgreSQL's own way between servers is text.
 */

static Datum
checked_state(const ExpandedKind *kind, const char *bytes, Size size, int sqlstate)
{
	struct varlena *result;

	kind->check(bytes, size, sqlstate);
	result = palloc(VARHDRSZ + size);
	SET_VARSIZE(result, VARHDRSZ + size);
	memcpy(VARDATA(result), bytes, size);
	PG_RETURN_POINTER(result);
}

Datum
expanded_in(FunctionCallInfo fcinfo, const ExpandedKind *kind)
{
	const char *input = PG_GETARG_CSTRING(0);
	int			length = strlen(input);
	int			room = pg_b64_dec_len(length);
	char	   *bytes = palloc(room + 1);
	int			size = pg_b64_decode(input, length, (void *) bytes, room);

	if (size < 0)
		ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				errmsg("invalid input syntax for type %s", kind->type),
				errdetail("A training state is written in base64."));
	return checked_state(kind, bytes, size, ERRCODE_INVALID_TEXT_REPRESENTATION);
}

Datum
expanded_out(FunctionCallInfo fcinfo, const ExpandedKind *kind)
{
	struct varlena *state = PG_GETARG_VARLENA_PP(0);
	int				size = VARSIZE_ANY_EXHDR(state);
	int				room;
	char		   *output;
	int				length;

	/* four characters for three bytes */
	if (size > MaxAllocSize / 4 * 3 - 8)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("training state is too large to be written as text"));
	room = pg_b64_enc_len(size);
	output = palloc(room + 1);
	length = pg_b64_encode((const void *) VARDATA_ANY(state), size, output, room);
	if (length < 0)
		elog(ERROR, "could not write a value of type %s as text", kind->type);
	output[length] = '\0';
	PG_RETURN_CSTRING(output);
}

Datum
expanded_recv(FunctionCallInfo fcinfo, const ExpandedKind *kind)
{
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	int		   size = message->len - message->cursor;

	return checked_state(kind, pq_getmsgbytes(message, size), size,
						 ERRCODE_INVALID_BINARY_REPRESENTATION);
}
