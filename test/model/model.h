/*
 * model.h
 *		A small model of the ledger's protocol, for exhaustive search.  Every step
 *		names the function of src/ledger that it stands for; docs/model.md says what
 *		is left out.  check_model.sh compares the enums with those of the source.
 *
 * protocol.c	what sessions, the ledger's process, an owner and fate can do
 * explore.c	all orders in which they can do it; properties; mistakes
 */
#ifndef PRIVPRED_MODEL_H
#define PRIVPRED_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---------- as in ledger/shared.h and ledger/stream.h ---------- */

typedef enum SlotState
{
	SLOT_FREE,
	SLOT_PENDING,
	SLOT_TAKEN,
	SLOT_ABANDONED,
	SLOT_DONE
} SlotState;

typedef enum RequestKind
{
	REQUEST_LEASE,
	REQUEST_RELEASE,  /* not modelled: a lease that is never given back */
	REQUEST_EXPORT,	  /* not modelled: the same to all accounts, behind a gate */
	REQUEST_DESCRIBE, /* not modelled: likewise */
	REQUEST_ACCURACY, /* not modelled: likewise */
	REQUEST_SETTLE,
	REQUEST_GIVE_BACK,
	REQUEST_MARK_PAID,	 /* not modelled: changes no account */
	REQUEST_MEMO,		 /* not modelled: changes no account */
	REQUEST_SYNC,		 /* not modelled: changes no account */
	REQUEST_MAY_ANSWER,	 /* not modelled: changes no account */
	REQUEST_STREAM_OPEN, /* not modelled: the stream is there from the beginning */
	REQUEST_STREAM_TAKE,
	REQUEST_STREAM_FAILED,
	REQUEST_STREAM_LEAVE,
	REQUEST_STREAM_CLOSE /* not modelled: the last failure closes it */
} RequestKind;

typedef enum BoardState
{
	BOARD_OPEN,
	BOARD_FAILED,
	BOARD_OVER
} BoardState;

/* Of LedgerOutcome, those that sessions tell apart. */
typedef enum Outcome
{
	OUTCOME_GRANTED,
	OUTCOME_REFUSED,
	OUTCOME_LOCKED,
	OUTCOME_FAILED,
	OUTCOME_LOST
} Outcome;

/* ---------- sizes ---------- */

#define SLOTS_MAX 3
#define SESSIONS 3 /* 0 and 1 draw on account 0, each in a role of its own; 2 on account 1 */
#define ACCOUNTS 2
#define KEPT 2
#define KEPT_RELATION 1
#define LEASES 12
#define MANY 4 /* holders of a stream that went without leave: counted up to here, then for ever */

typedef struct Setting
{
	const char *name;
	bool		streams;  /* sessions 0 and 1 use one stream, else leases */
	bool		stranger; /* session 2 acts; else it is only asked whether it could */
	bool		begun;	  /* sessions 0 and 1 have used one answer and hold another */
	int			slots;
	int			limit[ACCOUNTS];
	int			unstable; /* failures that the stream was bought for */
	int			crashes;
	int			deaths;
	int			revokes;
} Setting;

extern Setting setting;

/* ---------- mistakes that can be switched on ---------- */

typedef enum Mistake
{
	NONE,
	NOT_FLUSHED,
	DRAW_FIRST,
	RECEIPT_REUSED,
	GIVE_BACK_REPEATED,
	SETTLE_UNCHECKED,
	WHOLE_BLOCK_RETURNED,
	HANDED_ON_TWICE,
	ORPHANS_REFUNDED,
	ALL_AT_ONCE,
	EPOCH_READ_LATE,
	EPOCH_NOT_RAISED,
	THRESHOLD_KEPT,
	MARK_LATE,
	LEAVER_FORGETS,
	USE_NOT_WRITTEN,
	RETURNS_STAY,
	NO_QUOTA,
	RETURNS_STAY_NO_QUOTA,
	WAITS_IN_SLOT,
	LOST_LEAVE
} Mistake;

extern Mistake mistake;

/* ---------- the state: bytes only, so that states can be compared as such ---------- */

/* What is written to tables. */
typedef struct Tables
{
	uint8_t spent[ACCOUNTS];
	uint8_t revoked;		/* account 0 */
	uint8_t listed[LEASES]; /* open_lease: answers; 0: not listed */
	uint8_t owner[LEASES];	/* the account that they are of */
	uint8_t failed;			/* stream: failures, which is also the number of its threshold */
	uint8_t holders;
	uint8_t stale; /* they are of an earlier start of the server */
	uint8_t closed;
} Tables;

typedef struct Request
{
	uint8_t kind;
	uint8_t role; /* who asks, also which session */
	uint8_t want;
	uint8_t lease; /* 0: a new one */
	uint8_t answers;
	uint8_t fresh;
	uint8_t leaves;
	uint8_t put_back; /* for the count of what is out: this came back already */
} Request;

typedef struct Slot
{
	uint8_t state;
	uint8_t wants_reply;
	Request request;
	uint8_t outcome;
	uint8_t granted;
	uint8_t lease;
	uint8_t run;
	uint8_t over;
} Slot;

typedef enum SessionState
{
	IDLE,
	WANTS,	 /* a block, or a place in the stream */
	RECORDS, /* wants a failure recorded */
	WAITS,	 /* for the reply in its slot */
	HOLDS,	 /* answers, or the stream */
	LEAVES	 /* has something to give back */
} SessionState;

typedef struct Session
{
	uint8_t state;
	uint8_t slot;
	uint8_t granted;
	uint8_t unused;
	uint8_t used;
	uint8_t lease;
	uint8_t epoch;
	uint8_t recording; /* waits for a record, not for a block */
	uint8_t failed;	   /* 1 + the run of its own failure; 0: none */
} Session;

typedef enum WorkerState
{
	GONE,
	READY,
	TOOK,	  /* a batch */
	COMMITTED /* it, and has to publish */
} WorkerState;

typedef enum OwnerState
{
	AWAY,
	LOCKS,	/* account 0 and its stream, in an open transaction */
	REVOKED /* it, but the epoch is as it was */
} OwnerState;

typedef struct State
{
	Tables	tables;	 /* as transactions see them */
	Tables	durable; /* as they are after a crash */
	Slot	slots[SLOTS_MAX];
	Slot	kept[KEPT]; /* in the worker's memory */
	Session sessions[SESSIONS];
	uint8_t worker;
	uint8_t owner;
	uint8_t epoch;
	uint8_t board; /* there is one */
	uint8_t board_users;
	uint8_t board_state;
	uint8_t board_run;

	/* for properties and bounds only */
	uint8_t answered[ACCOUNTS];
	uint8_t failed_runs; /* thresholds that somebody has seen fail, as bits */
	uint8_t failures;
	uint8_t revocation_over;
	uint8_t crashes;
	uint8_t deaths;
	uint8_t revokes;
} State;

/* ---------- properties ---------- */

#define NEVER_OVERSPENT 1
#define DEBIT_IS_DURABLE 2
#define CRASH_OVERCHARGES 4
#define FAILED_IS_GONE 8
#define NO_TENANT_WAITS 16
#define REVOKED_IS_OVER 32
#define NOTHING_VANISHES 64
#define SLOTS_ARE_SHARED 128
#define BOARDS_ARE_FREED 256

extern unsigned violated; /* by the last step */
extern bool		lossy;	  /* the last step may lose what was paid for */

static inline int
account_of(int session)
{
	return session == 2 ? 1 : 0;
}

static inline bool
uses_stream(int session)
{
	return setting.streams && session != 2;
}

/* ---------- protocol.c: each returns whether it could be done, and does it ---------- */

extern bool session_posts(State *s, int who);
extern bool session_takes_reply(State *s, int who);
extern bool session_gives_up(State *s, int who);
extern bool session_answers(State *s, int who, bool passes);
extern bool session_leaves(State *s, int who);
extern bool worker_starts(State *s);
extern bool worker_takes(State *s, bool all);
extern bool worker_serves(State *s, bool backwards);
extern bool worker_publishes(State *s);
extern bool worker_dies(State *s);
extern bool owner_locks(State *s);
extern bool owner_rolls_back(State *s);
extern bool owner_revokes(State *s);
extern bool owner_finishes(State *s);
extern bool log_flushes(State *s);
extern bool server_crashes(State *s);

extern int slots_of_role(const State *s, int role);

#endif /* PRIVPRED_MODEL_H */
