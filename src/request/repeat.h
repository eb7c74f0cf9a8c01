/*
 * repeat.h
 *		Questions asked before: answered from memory, free of charge.
 *
 * A role that asks the same version of a model the same question again learns
 * nothing new from the same answer (docs/mechanisms.md, section 1).  A session
 * remembers its last answers; what another role was told is not free.
 */
#ifndef PRIVPRED_REPEAT_H
#define PRIVPRED_REPEAT_H

#include "catalog/store.h"
#include "ledger/ledger.h"

/* What a mechanism is asked for, beside the features. */
typedef struct Wish
{
	bool   score;	  /* a number, not a class */
	double precision; /* of it; 0: the model's own */
	int	   of_class;  /* whose score, from 1; 0: none is named */
} Wish;

typedef struct Answer
{
	bool   isnull; /* unstable */
	int	   class_index;
	double score;
} Answer;

/* A session's memory of one version of a model, as a call site holds it. */
typedef struct RepeatHandle
{
	int	   slot; /* -1: none */
	uint64 serial;
	uint32 hash; /* of the question last looked for */
} RepeatHandle;

extern RepeatHandle repeat_open(const ModelRecord *model);

/* True if the current role has had an answer and may still ask for it. */
extern bool repeat_find(RepeatHandle *handle, const LedgerPrice *price, const Wish *wish,
						const double *x, Answer *answer);

/* The question that was just looked for. */
extern void repeat_remember(const RepeatHandle *handle, const Wish *wish, const double *x,
							const Answer *answer);

/* Are answers remembered; how many are; and how many of the last ones are at least? */
extern bool	 repeat_remembers(void);
extern int64 repeat_count(const RepeatHandle *handle);
extern int64 repeat_capacity(const RepeatHandle *handle);

extern void repeat_init(void);

#endif /* PRIVPRED_REPEAT_H */
