/*
 * expanded.h
 *		Types whose values are states of aggregates.
 *
 * Inside an aggregate a state is an expanded object; it becomes portable bytes
 * when it leaves, and base64 where it is text.
 */
#ifndef PRIVPRED_EXPANDED_H
#define PRIVPRED_EXPANDED_H

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "server/privpred.h"

typedef struct ExpandedKind
{
	const char *type; /* its name */
	bytea *(*write)(void *state);
	void *(*read)(const char *bytes, Size size); /* in the current context */
	/* Raises this SQLSTATE unless the bytes are sound. */
	void (*check)(const char *bytes, Size size, int sqlstate);
} ExpandedKind;

typedef struct ExpandedState
{
	ExpandedObjectHeader header;
	const ExpandedKind	*kind;
	void				*state; /* in header.eoh_context */
	bytea				*flat;	/* its bytes; NULL: not written since it changed */
} ExpandedState;

/* One that lives as long as its aggregate; the caller fills in the state. */
extern ExpandedState *expanded_create(const ExpandedKind *kind, MemoryContext aggregate);

/* The state that an aggregate has so far, to be changed. */
extern ExpandedState *
expanded_to_change(const ExpandedKind *kind, Datum datum, MemoryContext aggregate);

/* A state to be looked at, or, if it is not expanded, read into the current context. */
extern void *expanded_state(const ExpandedKind *kind, Datum datum);

#define EXPANDED_DATUM(expanded) EOHPGetRWDatum(&(expanded)->header)

/* The functions of such a type. */
extern Datum expanded_in(FunctionCallInfo fcinfo, const ExpandedKind *kind);
extern Datum expanded_out(FunctionCallInfo fcinfo, const ExpandedKind *kind);
extern Datum expanded_recv(FunctionCallInfo fcinfo, const ExpandedKind *kind);

#endif /* PRIVPRED_EXPANDED_H */
