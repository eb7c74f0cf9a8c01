/*
 * internal.h
 *		What the files of the ledger share among themselves.
 */
#ifndef PRIVPRED_LEDGER_INTERNAL_H
#define PRIVPRED_LEDGER_INTERNAL_H

#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/itemptr.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "ledger/ceiling.h"
#include "account/charge.h"
#include "ledger/ledger.h"
#include "ledger/stream.h"

#define CAP_ROLE InvalidOid /* role of the account over all roles */

#define LEASE_MAX_ANSWERS 100000			 /* a million rows need 26 round trips */
#define LEASE_SHARE 8						 /* a lease takes at most 1/8 of what is left */
#define LEASE_MAX_AGE_US INT64CONST(1000000) /* bounds what a missed epoch costs */
#define ROW_LOCK_PATIENCE_US INT64CONST(2000000)
#define ROW_LOCK_RETRY_MS 20

/* ---------- settings (ledger.c) ---------- */

typedef struct LedgerSettings
{
	int64 max_answers_per_statement; /* PG_INT64_MAX: no limit */
	int	  timeout_ms;
} LedgerSettings;

extern LedgerSettings ledger_settings(void);
extern int			  ledger_idle_timeout_ms(void);
extern int			  ledger_head_log_interval_s(void);

/* ---------- shared memory (shmem.c) ---------- */

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
	REQUEST_SETTLE,		   /* a lease ended, "answers" of it unused */
	REQUEST_GIVE_BACK,	   /* granted, but the client had gone */
	REQUEST_MARK_PAID,	   /* a version that was made of paid answers */
	REQUEST_MEMO,		   /* keep an answer for good */
	REQUEST_SYNC,		   /* bring the chain up to date */
	REQUEST_STREAM_OPEN,   /* buy a stream */
	REQUEST_STREAM_TAKE,   /* up to "want" answers of a stream */
	REQUEST_STREAM_FAILED, /* a failure is to be recorded */
	REQUEST_STREAM_LEAVE,  /* "answers" of a stream are unused */
	REQUEST_STREAM_CLOSE
} RequestKind;

typedef struct LedgerRequest
{
	RequestKind kind;
	int			pid;
	Oid			role; /* who asks */
	int64		relation_id;
	int64		model_id;
	int32		version;
	int64		training_id;
	Charge		finite;	  /* if the payer's order is finite */
	Charge		infinite; /* and if it is not; void: it cannot pay */
	int32		want;
	int64		taken; /* by the statement before */
	int64		lease; /* 0: a new one */

	/* settle, give back */
	int32		 answers;
	bool		 fresh;		 /* the first block of a lease, of which nothing was used */
	Oid			 generation; /* oid of privpred.account at the debit */
	Oid			 account_role;
	int64		 account_id;
	int64		 cap_id; /* 0: none was charged */
	EpsilonUnits charge;
	EpsilonUnits cap_charge;
	TimestampTz	 window; /* start of the window that was charged */

	StreamRequest stream;
	LedgerMemo	  memo; /* at most "want" of them */
} LedgerRequest;

/* Which of the limits had no room. */
typedef enum LedgerBound
{
	BOUND_ROLE,
	BOUND_WINDOW,
	BOUND_LIFETIME,
	BOUND_RELATION,
	BOUND_DELTA /* of the role or the relation */
} LedgerBound;

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
	int64		  lease;
	Oid			  generation;
	int64		  account_id;
	int64		  cap_id;
	EpsilonUnits  charge;
	EpsilonUnits  cap_charge;
	TimestampTz	  window;
	TimestampTz	  valid_until; /* DT_NOEND: for ever */

	/* the account that pays or, in a refusal, that bound */
	Oid			 account_role; /* CAP_ROLE: the relation-wide cap */
	LedgerBound	 bound;
	RenyiOrder	 order;
	EpsilonUnits left;
	EpsilonUnits reserved; /* by running statements */
	TimestampTz	 window_end;
	double		 delta_charge;
	double		 delta_limit; /* what mechanisms may spend of the account's delta */
	double		 delta_spent;

	/* an export's: who cannot pay */
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
	TimestampTz started;	/* last attempt to start one */
	TimestampTz head_logged;
} LedgerDatabase;

#define LEDGER_SLOTS 64
#define LEDGER_DATABASES 32

typedef struct LedgerShared
{
	uint32			  magic;
	uint32			  size;
	LWLock			  lock;
	ConditionVariable slot_freed;
	pg_atomic_uint64  epoch;
	int64			  incarnation;
	uint64			  next_serial;
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

/* ---------- client.c ---------- */

extern LedgerReply ledger_call(const LedgerRequest *request);

/* The same, counted where the price says: the round trip, its time, a refusal. */
extern LedgerReply ledger_call_counted(const LedgerPrice *price, const LedgerRequest *request);
extern void		   ledger_post(const LedgerRequest *request);

/* ---------- lease.c ---------- */

/* Answers that the statement may still take, a call site having taken "used"; raises if none. */
extern int64 statement_allowance(int64 used);
extern void	 statement_count_answer(void);

/* Raises unless the request was granted. */
extern void ledger_report_refusal(const LedgerPrice *price, Oid asker, const LedgerReply *reply);

/* Warns if it is not recorded. */
extern void ledger_call_mark_paid(const LedgerPrice *price, const LedgerRequest *request);

/* What is asked for, and what it costs. */
extern void ledger_request_describe(LedgerRequest *request, const LedgerPrice *price, Oid asker);

/* Who pays for what from which account, as requests about a lease say it. */
extern void ledger_lease_describe(const LedgerLease *lease, LedgerRequest *request);

/* ---------- board.c ---------- */

extern void board_publish(LedgerSlot *slot);

/* ---------- worker.c ---------- */

extern bool				ledger_start_worker(void);
extern PGDLLEXPORT void privpred_ledger_main(Datum arg);

/* ---------- head_log.c ---------- */

extern void		   head_log_changed(void);
extern TimestampTz head_log_last_look(void);

/* Logs the head if it changed and is due, or if there is no later; never fails. */
extern void head_log(bool now_or_never);

/* ---------- debit.c ---------- */

/* Within a transaction; replies are written but not yet published. */
extern bool debit_batch(LedgerSlot **slots, int nslots, bool careful);
extern void debit_forget(void);

/* ---------- accounts.c ---------- */

typedef struct Account
{
	int64		account_id;
	int64		relation_id;
	Oid			relid; /* InvalidOid: it was dropped */
	Oid			role;
	TimestampTz valid_until; /* DT_NOEND: for ever */
	bool		revoked;
	bool		live_role; /* holders.c has an entry of it */

	/* as granted */
	EpsilonUnits epsilon; /* of each window, or for ever; 0: no limit */
	double		 delta;
	double		 delta_spent; /* beside the half that pays for conversion */
	EpsilonUnits per_answer;  /* 0: not given */
	EpsilonUnits lifetime;	  /* beside windows; 0: no limit */

	/* the same at the account's order */
	RenyiOrder	 order;
	bool		 unlimited; /* windows alone, or a cap that only counts */
	EpsilonUnits limit;		/* for ever */
	EpsilonUnits spent;

	bool		 has_window;
	Interval	 refresh;
	TimestampTz	 window_anchor; /* start of the first window */
	TimestampTz	 window_start;
	TimestampTz	 window_end; /* not stored */
	EpsilonUnits window_limit;
	EpsilonUnits window_spent;

	ItemPointerData tid;
	bool			dirty;
	bool			cached; /* from the worker's memory, not locked */
} Account;

/* What prevents an account from paying; OUTCOME_GRANTED if nothing does. */
extern LedgerOutcome account_status(const Account *account, TimestampTz now);

/*
 * The draw follows from the order of the account that pays; every account that
 * is charged for it, the cap too, is charged for that draw.
 */
static inline const Charge *
drawn_charge(const Charge *finite, const Charge *infinite, const Account *payer)
{
	return payer->order == RENYI_ORDER_INFINITE ? infinite : finite;
}

/*
 * Mechanisms may spend half of an account's delta, conversion the other.  It is
 * a limit for ever: windows refresh epsilon only, because deltas of all windows
 * add up for the same people, and there is no order at which they would add
 * more slowly.
 */
static inline double
account_delta_limit(const Account *account)
{
	return account->delta / 2;
}

extern bool role_inherits_budget_of(Oid member, Oid role);

#define ACCOUNT_COLUMNS \
	"a.account_id, a.relation_id, a.role, a.limit_units, a.spent_units, " \
	"a.valid_until, a.revoked_at, a.renyi_order, a.ctid, a.epsilon_units, a.delta_limit, " \
	"a.delta_spent, a.per_answer_units, a.lifetime_epsilon_units, a.refresh, " \
	"a.window_anchor, a.window_start, a.window_limit_units, a.window_spent_units, " \
	"(SELECT p.relation::oid FROM privpred.protected_relation p WHERE p.relation_id = a.relation_id)"
#define ACCOUNT_COLUMN_COUNT 20

/* Reads row "row" of SPI_tuptable, selected with ACCOUNT_COLUMNS. */
extern void account_from_spi(Account *account, uint64 row);

/* False if the ledger was cloned or restored; *moved: pg_upgrade has brought it here. */
extern bool ledger_is_ours(bool *moved);

/* Raises 55000 if it was; makes it ours if it is new. */
extern void ledger_claim(void);
extern void ledger_make_ours(void);

/* ---------- afford.c ---------- */

/* A cap without a limit: it refuses nothing. */
extern bool account_only_counts(const Account *account);

/* Negative after a limit was lowered below what is spent; PG_INT64_MAX: no limit. */
extern EpsilonUnits account_lifetime_left(const Account *account);
extern EpsilonUnits account_window_left(const Account *account);
extern EpsilonUnits account_left(const Account *account); /* the least of them */

/* Is there a charge for this draw at the account's order, and a delta if it needs one? */
extern bool account_can_pay(const Account *account, const Charge *charge);
extern bool account_delta_fits(const Account *account, const Charge *charge);

/* How many such purchases fit; those with a delta are counted one at a time. */
extern int64 account_affords(const Account *account, const Charge *charge);

/* Charges purchases, in memory; returns what the sum has grown by, and the window's. */
extern EpsilonUnits
account_debit(Account *account, const Charge *charge, int64 times, EpsilonUnits *window_units);

/* What comes back for answers that were charged and not given. */
extern EpsilonUnits account_owed(const Account *account, int64 answers, EpsilonUnits charge);

/* ---------- window.c ---------- */

/* Begins a new window if the account's has ended; true if it had. */
extern bool account_roll_window(Account *account, TimestampTz now);

/* ---------- terms.c ---------- */

/* What terms_apply() did beside setting limits. */
typedef struct TermsChange
{
	char		*conversion;   /* for the chain; NULL: the order stays */
	EpsilonUnits window_units; /* change of what the window has spent */
	double		 delta;		   /* what was added to delta_spent */
} TermsChange;

/* What a cap that opens counts as spent although it was not charged with it. */
typedef struct Already
{
	EpsilonUnits units; /* at no order below lowest */
	RenyiOrder	 lowest;
	double		 delta;
} Already;

/* Applies a grant to an account, in memory; already is NULL but for such a cap. */
extern void terms_apply(Account *account, const LedgerGrant *grant, const Already *already,
						TermsChange *change);

/* The terms of an account in a canonical form that people can read. */
extern char *terms_text(const Account *account);

/* ---------- grants.c ---------- */

/* What enters the chain about an account; everything else is read from it. */
typedef struct LedgerEvent
{
	const char	*kind;
	EpsilonUnits units;
	EpsilonUnits window_units;
	double		 delta;
	const char	*detail;   /* NULL: none */
	int64		 model_id; /* 0: none */
	const char	*model;	   /* NULL: none or unknown */
	int32		 version;
} LedgerEvent;

/* Into the outbox, with the caller's transaction. */
extern void ledger_put_event(int64 account_id, const LedgerEvent *event, const char *actor);

/* ---------- exports.c ---------- */

/*
 * Charges an account for all that was exported and that it has not paid for;
 * raises if it is too small.  The caller has passed the relation's gate, which
 * keeps exports out until it ends.
 */
extern void exports_charge(Account *account, const char *actor);

/* ---------- memo.c ---------- */

extern void memo_keep(const LedgerRequest *request, LedgerReply *reply);
extern void memo_forget(void);

/* ---------- chain.c ---------- */

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

/* Worker only: continue the chain where the table ends. */
typedef struct ChainEnd
{
	int64 id;
	uint8 head[HEAD_SIZE];
} ChainEnd;

extern void chain_read_end(ChainEnd *end, Oid generation);
extern void chain_append(ChainEnd *end, LedgerEntry *entry);
extern void chain_drain_outbox(ChainEnd *end);
extern void chain_forget(void);

/* ---------- book.c ---------- */

typedef struct Batch
{
	TimestampTz now;
	bool		careful; /* trust no cache, lock before deciding */
	Oid			generation;
	ChainEnd	end;
	Account	  **accounts;
	int			naccounts;
	int			size;
} Batch;

typedef enum Found
{
	ACCOUNT_FOUND,
	ACCOUNT_MISSING,
	ACCOUNT_LOCKED /* by another transaction */
} Found;

/* Runs a query, planned once. */
extern void book_run(SPIPlanPtr *plan, const char *query, int nargs, Oid *argtypes, Datum *args,
					 const char *nulls);

/* The batch's own copy of an account; *result is NULL if there is none. */
extern Found book_account(Batch *batch, int64 relation_id, Oid role, Account **result);

/* False if the row is no longer the one that we knew. */
extern bool book_write(Batch *batch, Account *account);

/* What an entry says about the account that it is charged to. */
extern void book_describe(LedgerEntry *entry, const Account *account);
extern void
book_append(Batch *batch, const char *kind, const LedgerRequest *request, LedgerEntry *entry);

extern void book_forget_rows(void);
extern void book_forget(void);

/* ---------- payer.c ---------- */

/* What the request costs if this account pays. */
extern const Charge *payer_charge(const LedgerRequest *request, const Account *payer);

/* The accounts of groups whose budgets the role inherits, as far as they may be used. */
extern Found payer_groups(Batch *batch, const LedgerRequest *request, List **groups);

/*
 * Who pays: the role's own budget, then a group's.  Sets the reply's outcome;
 * the account is the one that pays or that is exhausted.
 */
extern Found
payer_choose(Batch *batch, const LedgerRequest *request, LedgerReply *reply, Account **payer);

/* Says in the reply which limit of an account has no room for a purchase. */
extern void payer_refuse(LedgerReply *reply, const Account *bound, const Charge *drawn);

/*
 * True, with the reason in the reply, if the chosen payer or the cap (NULL:
 * none) has no room for a purchase.
 */
extern bool
payer_refuses(LedgerReply *reply, const Account *payer, const Account *cap, const Charge *drawn);

/* Charges purchases to an account and the cap, and says so in the entry. */
extern void
payer_pay(Account *payer, Account *cap, const Charge *drawn, int64 times, LedgerEntry *entry);
extern void payer_forget(void);

/* ---------- release.c ---------- */

/* False if an account is locked by another transaction. */
extern bool release_grant(Batch *batch, const LedgerRequest *request, LedgerReply *reply);
extern bool release_export(Batch *batch, const LedgerRequest *request, LedgerReply *reply);
extern void release_forget(void);
extern bool release_mark(Batch *batch, const LedgerRequest *request, LedgerReply *reply);

/* ---------- stream_book.c ---------- */

/* in privpred.stream.status */
#define STREAM_USED_UP "used up"
#define STREAM_ANSWERED "all answers given"

extern bool stream_book_serve(Batch *batch, const LedgerRequest *request, LedgerReply *reply);
extern void stream_book_forget(void);

#endif /* PRIVPRED_LEDGER_INTERNAL_H */
