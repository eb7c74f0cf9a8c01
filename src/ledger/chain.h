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
	int32		 pid;
	RenyiOrder	 order;		   /* of the account */
	EpsilonUnits window_units; /* change of what its window has spent */
	bool		 has_window;
	EpsilonUnits window_limit;
	double		 delta;	 /* added to delta_spent, of the cap as well */
	const char	*detail; /* terms of a grant; NULL: none */
	uint8		 head[HEAD_SIZE];
} LedgerEntry;

/* Columns of privpred.ledger_entry after id and before head, and of privpred.ledger_outbox. */
#define ENTRY_COLUMNS \
	"at, kind, account_id, cap_id, role_name, relation_id, relation_name, model_id, model, " \
	"version, lease, answers, units, cap_units, limit_units, actor, pid, renyi_order, " \
	"window_units, window_limit_units, delta, detail"
#define ENTRY_COLUMN_COUNT 24 /* with id and head */

/*
 * A sum of entries that were folded is read and hashed like an entry, which has the number of
 * entries in place of its lease; columns of privpred.ledger_sum after first.
 */
#define SUM_COLUMNS \
	"number, at, kind, account_id, cap_id, role_name, relation_id, relation_name, model_id, " \
	"model, version, entries, answers, units, cap_units, NULL::int8, NULL::text, 0, " \
	"renyi_order, window_units, NULL::int8, delta, NULL::text"

/*
 * From a row of a query's result: an id, ENTRY_COLUMNS and, if it is chained, its head; or
 * SUM_COLUMNS.
 */
extern void entry_from_row(LedgerEntry *entry, uint64 row);

/* As a row of privpred.ledger_entry. */
extern void entry_to_row(const LedgerEntry *entry, Datum values[ENTRY_COLUMN_COUNT],
						 bool nulls[ENTRY_COLUMN_COUNT]);

/* head = sha256(previous head, entry) */
extern void chain_hash(LedgerEntry *entry, const uint8 *previous);

#endif /* PRIVPRED_LEDGER_CHAIN_H */
