/*
 * chain.h
 *		Entries of the ledger and the hash that chains them.  For both sides: the
 *		ledger's process appends, a session verifies.
 */
#ifndef PRIVPRED_LEDGER_CHAIN_H
#define PRIVPRED_LEDGER_CHAIN_H

#include "datatype/timestamp.h"

#include "account/renyi.h"

#define HEAD_SIZE 32

typedef struct LedgerEntry
{
	int64		 id;
	TimestampTz	 at;
	const char	*kind;
	int64		 account_id;	/* 0: none */
	int64		 cap_id;		/* 0: none */
	const char	*role_name;		/* who asked or was granted; NULL: unknown */
	int64		 relation_id;	/* 0: none */
	const char	*relation_name; /* NULL: unknown */
	int64		 model_id;		/* 0: none */
	const char	*model;			/* NULL: none or unknown */
	int32		 version;
	int64		 lease; /* 0: none */
	int64		 answers;
	EpsilonUnits units;
	EpsilonUnits cap_units;
	bool		 has_limit;
	EpsilonUnits limit;
	const char	*actor; /* who did it */
	int			 pid;
	RenyiOrder	 order;		   /* of the account */
	EpsilonUnits window_units; /* change of what its window has spent */
	bool		 has_window;
	EpsilonUnits window_limit;
	double		 delta;	 /* added to delta_spent, of the cap as well */
	const char	*detail; /* terms of a grant; NULL: none */
	uint8		 head[HEAD_SIZE];
} LedgerEntry;

/* head = sha256(previous head, entry) */
extern void chain_hash(LedgerEntry *entry, const uint8 *previous);

#endif /* PRIVPRED_LEDGER_CHAIN_H */
