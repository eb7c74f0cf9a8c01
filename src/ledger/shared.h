/*
 * shared.h
 *		Shared memory between sessions and the ledger's processes: requests, replies,
 *		boards.  For both sides.
 */
#ifndef PRIVPRED_LEDGER_SHARED_H
#define PRIVPRED_LEDGER_SHARED_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "utils/timestamp.h"

#include "account/account.h"
#include "ledger/ledger.h"
#include "ledger/stream.h"
#include "server/slack.h"

#define LEASE_SHARE 8 /* a block takes at most 1/8 of what is left */
#define NO_CEILING PG_INT64_MAX

/* ---------- ledger.c: settings ---------- */

extern int64 ledger_max_answers(void); /* of a statement; PG_INT64_MAX: no limit */
extern int	 ledger_timeout_ms;
extern int	 ledger_idle_timeout_ms;
extern int	 ledger_head_log_interval_s; /* negative: never */

/* ---------- shmem.c ---------- */

/*
 * A slot goes FREE > PENDING (client) > TAKEN (worker) > DONE (worker) > FREE
 * (client).  A client that gives up makes PENDING FREE and TAKEN ABANDONED;
 * the worker then returns what it granted.  Slots without reply go from TAKEN
 * to FREE directly.  Transitions happen under the lock.
 */
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
	REQUEST_LEASE,		   /* debit up to "want" answers */
	REQUEST_RELEASE,	   /* debit a version that is charged once, unless it is paid for */
	REQUEST_EXPORT,		   /* debit it to every account */
	REQUEST_DESCRIBE,	   /* debit a description to every account */
	REQUEST_ACCURACY,	   /* debit an accuracy, and what it tells of, to every account */
	REQUEST_SETTLE,		   /* a lease ended, "answers" of it unused */
	REQUEST_GIVE_BACK,	   /* granted, but the client had gone */
	REQUEST_MARK_PAID,	   /* a version that was made of paid answers */
	REQUEST_MEMO,		   /* keep an answer for good */
	REQUEST_SYNC,		   /* bring the chain up to date */
	REQUEST_MAY_ANSWER,	   /* is privpred.answers on? */
	REQUEST_STREAM_OPEN,   /* buy a stream */
	REQUEST_STREAM_TAKE,   /* up to "want" answers of a stream */
	REQUEST_STREAM_FAILED, /* a failure is to be recorded */
	REQUEST_STREAM_LEAVE,  /* "answers" of a stream are unused */
	REQUEST_STREAM_CLOSE
} RequestKind;

/* Which account has paid for a block of answers, and what for each of them. */
typedef struct LedgerPayment
{
	int64		 lease;		   /* 0: a new one */
	Oid			 generation;   /* OID of privpred.account at the debit */
	Oid			 account_role; /* CAP_ROLE: the relation-wide cap */
	int64		 account_id;
	int64		 cap_id; /* 0: none was charged */
	EpsilonUnits charge;
	EpsilonUnits cap_charge;
	TimestampTz	 window; /* start of the window that was charged */
} LedgerPayment;

typedef struct LedgerRequest
{
	RequestKind kind;
	int			pid;
	Oid			role;		 /* who asks */
	int64		relation_id; /* the population */
	int64		asked_id;	 /* a relation of it; 0: none in particular */
	int64		model_id;
	int32		version;
	int64		training_id;
	Charge		finite;	  /* if the payer's order is finite */
	Charge		infinite; /* and if it is not; void: it cannot pay */

	/* an accuracy's: the version that it tells of, if that is charged once; 0: none */
	int64  told_of;
	Charge told_finite;
	Charge told_infinite;

	int32 want;
	int64 taken; /* by the statement before */

	/* what is settled or given back; of a lease that goes on, its number */
	LedgerPayment paid;
	int32		  answers;
	bool		  fresh; /* the first block of a lease, of which nothing was used */

	StreamRequest stream;
	LedgerMemo	  memo; /* at most "want" of them */
} LedgerRequest;

typedef enum LedgerOutcome
{
	OUTCOME_GRANTED,
	OUTCOME_EXHAUSTED,
	OUTCOME_CANNOT_PAY, /* for such a draw, whatever is left */
	OUTCOME_NO_BUDGET,
	OUTCOME_REVOKED,
	OUTCOME_EXPIRED,
	OUTCOME_NO_STREAM,
	OUTCOME_STREAM_USED_UP, /* too many unstable answers */
	OUTCOME_STREAM_ANSWERS, /* too many answers */
	OUTCOME_STREAM_VERSION, /* of the model is another */
	OUTCOME_STREAM_EXISTS,
	OUTCOME_STREAM_OF_OTHERS,
	OUTCOME_CEILING, /* too many answers for one statement */
	OUTCOME_OFF,	 /* privpred.answers is */
	OUTCOME_LOCKED,
	OUTCOME_FOREIGN, /* ledger cloned or restored */
	OUTCOME_FAILED,	 /* nothing recorded; see sqlstate */
	OUTCOME_LOST	 /* the worker went away: recorded or not */
} LedgerOutcome;

#define UNABLE_NAMED 8

typedef struct LedgerReply
{
	LedgerOutcome outcome;
	int			  sqlstate;
	int32		  granted;
	int64		  ceiling; /* of a statement's answers */
	bool		  order_is_infinite;
	LedgerPayment paid;		   /* in a refusal: by the account that bound */
	TimestampTz	  valid_until; /* DT_NOEND: for ever */

	/* a refusal's */
	BudgetBound	 bound; /* which limit had no room */
	RenyiOrder	 order;
	EpsilonUnits left;
	EpsilonUnits reserved; /* by running statements */
	TimestampTz	 window_end;
	double		 delta_charge;
	double		 delta_limit; /* what mechanisms may spend of the account's delta */
	double		 delta_spent;

	/* an export's or a description's: who cannot pay */
	int			nunable;
	Oid			unable[UNABLE_NAMED];
	StreamReply stream;
} LedgerReply;

typedef struct LedgerSlot
{
	pg_atomic_uint32 state;
	Oid				 database;
	bool			 wants_reply;
	int				 client; /* proc number */
	int				 attempts;
	uint64			 serial;
	TimestampTz		 not_before; /* of what waits in returns.c */
	LedgerRequest	 request;
	LedgerReply		 reply;
} LedgerSlot;

typedef struct LedgerDatabase
{
	Oid			database;	/* InvalidOid: unused */
	int			worker_pid; /* 0: none */
	int			worker;		/* proc number */
	TimestampTz head_logged;
	TimestampTz verified_at; /* 0: not since the server started */
	bool		verified;	 /* then */

	/* in line for a worker, see queue.c */
	uint64		ticket;	 /* 0: it is not */
	bool		hungry;	 /* no worker can be started, and a session waits */
	TimestampTz left_to; /* when a worker has last left for it */
	int			tries;	 /* workers that have chosen it, and did not come up */
	TimestampTz started; /* last attempt to start one */
	TimestampTz chosen;	 /* when a worker has last chosen it */

	/* what the last worker could not put back, for the next: worker/hand_over.c */
	dsm_handle	parked; /* DSM_HANDLE_INVALID: nothing */
	TimestampTz parked_until;
} LedgerDatabase;

#define LEDGER_SLOTS 64
#define LEDGER_DATABASES 80 /* more than can stand in line: each has a slot */

typedef struct LedgerShared
{
	SlackHeader		  header; /* with the lock */
	ConditionVariable slot_freed;
	pg_atomic_uint64  epoch;
	pg_atomic_uint32  answers_off;	   /* as a process has said last */
	pg_atomic_uint64  answers_said_at; /* 0: never */
	int64			  incarnation;
	uint64			  next_serial;
	uint64			  next_ticket;
	pg_atomic_uint32  hungry; /* 0: no database is */
	LedgerDatabase	  databases[LEDGER_DATABASES];
	LedgerSlot		  slots[LEDGER_SLOTS];
	StreamBoard		  boards[LEDGER_BOARDS];
} LedgerShared;

extern LedgerShared	  *ledger_shared(void);
extern void			   ledger_request_shmem(void);
extern int			   slot_post(const LedgerRequest *request, bool wants_reply);
extern void			   slot_set_free(LedgerSlot *slot);
extern void			   slot_give_back(LedgerSlot *slot);
extern void			   slot_reclaim_dropped_databases(void);
extern LedgerDatabase *database_entry(LedgerShared *shared, bool create);

/* ---------- answers.c ---------- */

extern void answers_init(void);
extern bool answers_are_on(void);

/* May the ledger's process do this? */
extern bool answers_allow(RequestKind kind);

/* The ledger's process tells sessions what it knows of the setting. */
extern void answers_publish(void);

/* Raises 55000. */
extern void answers_report_off(void);

/* ---------- queue.c ---------- */

/* Has processes started for all who are in line; false if there are no more. */
extern bool queue_start_processes(void);

/* The same, this database being in line; true if it has a process, or one is coming. */
extern bool queue_ensure_process(void);

/* For a process that has started: which database to serve; InvalidOid: none. */
extern Oid queue_choose(void);

/*
 * It is the ledger of this database from now on; false if another process is.  Takes
 * over what the one before has parked.
 */
extern bool queue_enlist(dsm_handle *parked);

/* How many databases wait for a process to leave. */
extern int queue_hungry(void);

/* One process leaves for the first of them; false if there is none any more. */
extern bool queue_leave_for_first(void);

/*
 * It is no more; false, and it stays, if requests are pending and it was to leave only if
 * it is idle.  Else they wait in line, and so does what is parked.
 */
extern bool queue_delist(bool only_if_idle, dsm_handle parked, TimestampTz parked_until);

/* ---------- waits.c ---------- */

typedef enum LedgerWait
{
	WAIT_FOR_REPLY,	  /* a session, for the ledger's process */
	WAIT_FOR_PROCESS, /* for there being one */
	WAIT_FOR_SLOT,	  /* for a request slot */
	WAIT_FOR_ACCOUNT, /* for an account that somebody has locked */
	WAIT_FOR_REQUESTS /* the ledger's process */
} LedgerWait;

/* As the functions of the server take it that wait. */
extern uint32 ledger_wait_event(LedgerWait wait);

/* ---------- board.c ---------- */

extern void board_leave_unserved(const LedgerRequest *request);

/* Of what all databases share: may a role that holds so many take another? */
static inline bool
share_allows(int of_role, int of_database, int unused)
{
	return of_role < unused && of_database < 3 * unused;
}

static inline SlotState
slot_state(LedgerSlot *slot)
{
	return (SlotState) pg_atomic_read_u32(&slot->state);
}

static inline void
slot_set_state(LedgerSlot *slot, SlotState state)
{
	pg_atomic_write_u32(&slot->state, state);
}

#endif /* PRIVPRED_LEDGER_SHARED_H */
