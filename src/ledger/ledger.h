/*
 * ledger.h
 *		Spend, commit, flush: then, and only then, sample.
 *
 * Three rooms: src/account is arithmetic on budgets, this folder is what sessions
 * do, worker/ is what the ledger's process does.  A file runs in one of them, but
 * for those that say "both".
 *
 * ledger.c		settings and start-up (both)
 * shmem.c		request slots between sessions and the ledger's process (both)
 * queue.c		databases in line for a process (both)
 * waits.c		names of what is waited for (both)
 * answers.c	whether this server answers at all (both)
 * client.c		one round trip to it
 * lease.c		reserve answers ahead, hand out receipts
 * refusal.c	errors for what is not granted
 * statement.c	how many answers a statement may take
 * stream.c		streams, see stream.h
 * board.c		their noisy thresholds in shared memory (both)
 * stream_run.c	one noisy threshold after the other (both)
 * memo.c		answers that are kept for good
 * release.c	what everybody pays for: exports, descriptions, accuracies
 * accounts.c	reading accounts (both)
 * quote.c		what answers would cost
 * budgets.c	what is left of budgets
 * grants.c		grants, revocations, caps: the owner's side
 * exports.c	what new budgets pay for what was exported before
 * upkeep.c		adopting a copied ledger, forgiving leases
 * holders.c	roles that hold budgets, as the server knows them (both)
 * gate.c		what must not happen to a relation's accounts at the same time (both)
 * certificates.c	entries of units that were forgotten
 * chain.c		entries and their hash (both)
 * walk.c		recomputing the chain and its sums
 * fold.c		runs of entries that were folded into sums
 * marks.c		where the chain was last found to be right
 * verify.c		recomputing all of it
 * monitor.c	how it is doing
 * compact.c	folding old entries
 * archive.c	checking what was set aside of them
 */
#ifndef PRIVPRED_LEDGER_H
#define PRIVPRED_LEDGER_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/jsonb.h"

#include "account/accountant.h"
#include "account/quote.h"
#include "account/terms.h"
#include "mechanism/mechanism.h"
#include "server/privpred.h"
#include "server/stats.h"

/* What one purchase from a model costs, in public terms. */
typedef struct LedgerPrice
{
	int64		relation_id; /* the population, whose accounts pay: see catalog/by_id.h */
	int64		asked_id;	 /* the protected relation that is asked, for its name */
	int64		model_id;
	int32		version;
	int64		training_id; /* what was drawn, even if its version was rolled back */
	const char *model_name;	 /* for the ledger and messages */
	ChargeKind	kind;		 /* when it is paid */
	Charge		finite;		 /* by an account of finite order */
	Charge		infinite;	 /* what it pays; void if it cannot */
	int64		remembered;	 /* answers that the session will remember; 0: none */
	StatSite   *stats;		 /* where refusals and round trips are counted, or NULL */
} LedgerPrice;

/*
 * Raises 55000 if privpred.answers is off.  Only what is given without a round trip to
 * the ledger's process needs it, and not for each answer: leases end with the setting.
 */
extern void ledger_check_answers(void);

/*
 * A lease is a block of answers already debited.  It belongs to one call site
 * of one statement and lives in a memory context; when that context goes, for
 * whatever reason, unused answers are returned.
 */
typedef struct LedgerLease LedgerLease;

/* Opens an empty lease for the role that asks; debits nothing yet. */
extern LedgerLease *ledger_open(MemoryContext context, const LedgerPrice *price);

/*
 * What takes the place of an error for a caller who wants an answer or none: why
 * there is none, because a budget or a stream is used up.  Everything else raises.
 */
typedef const char *LedgerRefusal;

/*
 * Pays for one answer and returns its receipt, or raises: 53400 exhausted,
 * 55000 a budget of a kind that cannot pay, 42501 no budget, 25006 standby,
 * 54000 too many answers for one statement, and so on.  The receipt stays valid
 * until the next call on the same lease.  If refusal is not NULL, it is set and
 * there is no receipt where the budget is exhausted.
 */
extern const Receipt *ledger_spend(LedgerLease *lease, LedgerRefusal *refusal);

/* How many more answers the current statement may take, if that role pays. */
extern int64 ledger_allowance(Oid payer);

/* Raises 54000 unless the current statement may take so many more answers, if that role pays. */
extern void ledger_check_allowance(int64 answers, Oid payer);

/*
 * A model was made of answers that this lease has paid for: its account has
 * paid for the model.  Not if several accounts have paid for parts of it.
 */
extern void ledger_mark_paid(const LedgerPrice *price, const LedgerLease *lease);

/*
 * ---------- stream.c ----------
 *
 * A stream is bought for a number of unstable answers, and kept by the ledger;
 * ledger/stream.h says how.
 */
typedef struct StreamTerms
{
	int32		 unstable; /* answers until it closes */
	EpsilonUnits epsilon;  /* of each run of the threshold */
	double		 delta;	   /* likewise */
	int64		 answers;  /* 0: no limit */
	bool		 uniform;  /* what is written for an answer does not tell it */
} StreamTerms;

/* Buys one for the role that asks, at a price for all of it; returns its number. */
extern int64 ledger_stream_open(const LedgerPrice *price, const StreamTerms *terms);
extern void	 ledger_stream_close(const LedgerPrice *price);

/* The use of a stream by a call site of a statement, as a lease is of a budget. */
typedef struct LedgerStream LedgerStream;

extern LedgerStream *ledger_stream_use(MemoryContext context, const LedgerPrice *price);

/*
 * Takes one answer and returns its receipt, or raises: 55000 no open stream,
 * 53400 it is used up, and what ledger_spend() raises; refusal is as there.
 */
extern const Receipt *ledger_stream_answer(LedgerStream *stream, LedgerRefusal *refusal);

/* After a draw for which a refusal was wanted: why there was none after all, or NULL. */
extern LedgerRefusal ledger_stream_refusal(const LedgerStream *stream);

/*
 * After the draw, before the answer leaves: a uniform stream writes as much for
 * it as it would for the most unstable one, of "tests" tests.
 */
extern void ledger_stream_even_out(LedgerStream *stream, int tests);
extern bool ledger_stream_is_uniform(const LedgerStream *stream);

/* What the stream in use was bought for, without its quota; 55000 if there were several. */
extern void ledger_stream_terms(const LedgerStream *stream, StreamTerms *terms);

/* As ledger_mark_paid(). */
extern void ledger_stream_mark_paid(const LedgerPrice *price, const LedgerStream *stream);

/*
 * Stands in for a receipt where no account pays: the owner of the relation
 * asks; the caller vouches for that.
 */
extern const Receipt *ledger_owner_receipt(void);

/*
 * Makes every session drop its leases at its next answer, from the commit of
 * the current transaction on.  To be called by whatever changes what an answer
 * costs or who may have it: grants, revocations, retraining, dropping.
 */
extern void ledger_invalidate_leases(void);

/* Changes whenever that happens. */
extern uint64 ledger_epoch(void);

/* GetCurrentTimestamp() >= when, but cheaper. */
extern bool ledger_time_has_come(TimestampTz when);

/* ---------- release.c ---------- */

/*
 * What is exported in the clear is released to everybody: charges all budgets
 * on the relation, and its cap, for a version that is charged once, all or
 * nothing and durably, and budgets that are granted later from the start.
 * Raises 53400 naming those who cannot pay.  To be called before the export.
 */
extern void ledger_release_to_all(const LedgerPrice *price);

/*
 * The same for a description, whose number stands in training_id and whose relation's name
 * stands in model_name; there is no model.  Returns the receipt to draw it with.  Raises also
 * 55000: a budget or the cap has no delta, or the relation's protection is not committed.
 */
extern const Receipt *ledger_describe(const LedgerPrice *price);

/*
 * The same for the accuracy of a model, whose number stands in training_id.  What it tells of
 * a model that is charged once has to be paid for, too, by whoever has not: all of it or nothing.
 */
extern const Receipt *
ledger_release_accuracy(const LedgerPrice *accuracy, const LedgerPrice *model);

/* ---------- grants.c, upkeep.c, statement.c ----------
 *
 * Ordinary writes in the caller's transaction.  The caller has checked who
 * owns the relation and that it is protected.
 */
extern void ledger_grant(LedgerGrant *grant);
extern void ledger_revoke(int64 relation_id, Oid role);

/* After DROP OWNED BY: closes all budgets of the role. */
extern void ledger_disown(Oid role);

/* Epsilon 0 removes the cap; totals are still kept. */
extern void ledger_set_cap(LedgerGrant *cap);

/* After DROP TABLE: closes all budgets of the relation, and returns how many there were. */
extern uint64 ledger_relation_dropped(int64 relation_id);

/*
 * Relations of two populations are about the same units: the accounts of one count what those of
 * the other have spent, and theirs end.  Raises 55006 while answers are reserved, or streams open,
 * in the first.
 */
extern void ledger_join(int64 from, int64 into);

/* A relation has come to a population that has others, or in place of one (else InvalidOid). */
extern void ledger_relation_added(int64 population, Oid relid, Oid instead_of);

/* Is there a budget that was not revoked? */
extern bool ledger_relation_has_budgets(int64 relation_id);
extern bool ledger_relation_has_cap(int64 relation_id);

/* Has there ever been an account? */
extern bool ledger_relation_is_used(int64 relation_id);

/* What was spent on a relation, as a sum that tells which of two has more; 0: nothing. */
extern int64 ledger_relation_spent(int64 relation_id);

/* Makes a restored or cloned ledger this database's own.  Superusers only. */
extern void ledger_adopt(void);

/* Returns an orphaned lease to its account, knowingly; see docs/ledger.md. */
extern void ledger_forgive(int64 lease);

/* Bounds a statement's answers for a role, or for all (InvalidOid); PG_INT64_MAX: no bound. */
extern void ledger_set_ceiling(Oid role, int64 answers);

/* Does the role own all that an open lease may draw on?  False if there is no such lease. */
extern bool ledger_lease_is_owned(int64 lease, Oid role, bool *owned);

/* ---------- budgets.c ---------- */

/* Answers of a model that a budget still pays for. */
typedef struct LedgerAnswers
{
	const char *model;
	int64		left;
} LedgerAnswers;

/* A budget, or a cap, as people see it. */
typedef struct LedgerBudget
{
	Account		  account; /* with its present window */
	AccountStatus status;
	bool		  yours; /* who looks may ask from it */
	EpsilonUnits  epsilon_left;
	BudgetBound	  bound;
	List		 *answers;	/* of LedgerAnswers, a model each */
	EpsilonUnits  reserved; /* by running statements, in the account's units */
	EpsilonUnits  orphaned; /* likewise, lost in a crash */
	const char	 *role_name;
	const char	 *relation_name;
	TimestampTz	  granted_at;
	const char	 *granted_by;
} LedgerBudget;

/* Those of a role and its groups, and of relations that it owns, as a list. */
extern List *ledger_budgets(Oid asker);

/* ---------- quote.c, accounts.c ---------- */

/* What answers would cost a role, without spending. */
extern LedgerQuote ledger_quote(const LedgerPrice *price, Oid role, int64 answers);

/*
 * Does a role hold a budget on a relation (0: on any), its own or one that it
 * inherits, be it expired or used up?  Not if it was revoked.
 */
extern bool ledger_role_has_budget(int64 relation_id, Oid role);

/* ---------- memo.c ---------- */

#define MEMO_QUESTION_SIZE 32

/* An answer that is kept for good. */
typedef struct LedgerMemo
{
	uint8  question[MEMO_QUESTION_SIZE]; /* its digest */
	bool   isnull;
	int32  class_index;
	double score;
} LedgerMemo;

/* Has the role had an answer to this?  Fills in the digest in any case. */
extern bool ledger_memo_find(const LedgerPrice *price, Oid role, const void *question, Size size,
							 LedgerMemo *memo);

/*
 * Keeps an answer that the lease has paid for, durably, unless the role has
 * limit of them already for this version; false: it was not kept.
 */
extern bool ledger_memo_keep(const LedgerLease *lease, const LedgerMemo *memo, int limit);

/* How many are kept for the role. */
extern int64 ledger_memo_count(const LedgerPrice *price, Oid role);

/* To be called by whoever trains or drops a model: its answers will never be asked for again. */
extern void ledger_forget_memos(int64 model_id);

/* ---------- verify.c ---------- */

typedef struct LedgerVerdict
{
	const char *problem; /* NULL: none found */
	int64		entry;	 /* where; 0 if not at one entry */
	int64		entries;
	uint8		head[32];
	int			frozen_accounts; /* limit lowered below what was spent */
	int			orphaned_leases;
} LedgerVerdict;

/*
 * expected_head may be NULL; any head the chain ever had proves no rewind.  Incremental: from
 * where the chain was last found to be right; if whoever keeps the ledger asks, this is noted.
 */
extern LedgerVerdict ledger_verify(const uint8 *expected_head, bool incremental);

/* ---------- compact.c ---------- */

/* Superusers, and whoever has the rights of the extension's owner. */
extern bool ledger_is_kept_by(Oid role);

typedef struct LedgerRetention
{
	Interval older_than; /* entries that may be folded */
	bool	 archive;	 /* they are kept aside */
} LedgerRetention;

/* How long entries are kept at least; NULL: nothing is said about it. */
extern void ledger_set_retention(const LedgerRetention *retention);
extern bool ledger_retention(LedgerRetention *retention);

typedef struct LedgerCompaction
{
	int64 folded;  /* entries */
	int64 runs;	   /* that they were folded into */
	int64 sums;	   /* that are left of them */
	int64 entries; /* that are left */
} LedgerCompaction;

/*
 * Folds entries that are older than an age, at most so many, if they are right.  Raises 55000 if
 * they are not, 55006 while somebody else does so.
 */
extern LedgerCompaction ledger_compact(const LedgerRetention *retention, int64 at_most);

/* ---------- archive.c ---------- */

typedef struct LedgerArchiveVerdict
{
	const char *problem; /* NULL: none found */
	int64		entry;	 /* where; 0 if not at one entry */
	int64		entries;
	int64		runs;
	int64		absent; /* runs of which the archive has nothing */
} LedgerArchiveVerdict;

/* Compares what was set aside, here or in a table of the caller's, with what is left of it. */
extern LedgerArchiveVerdict ledger_verify_archive(Oid relid);

/* ---------- certificates.c ---------- */

/* Lets the ledger's process chain what is committed; a standby takes it as it is. */
extern void ledger_sync(void);

/* An entry for a certificate with this digest, to be chained once the transaction has committed. */
extern void ledger_put_certificate(int64 relation_id, int64 certificate_id, const char *digest);

/* Its number and head, in hexadecimal digits; false: it is not chained. */
extern bool
ledger_find_certificate(int64 certificate_id, const char *digest, int64 *entry, char **head);

/* What was told for good of relations of these numbers, as a JSON array. */
extern Jsonb *ledger_public(ArrayType *numbers);

/* Identifies this start of the server; leases of earlier ones are orphaned. */
extern int64 ledger_incarnation(void);

/* GUCs and hooks */
extern void ledger_init(void);

/* ---------- monitor.c ---------- */

typedef struct LedgerState
{
	int			process;	 /* of this database; 0: none runs */
	int			processes;	 /* of all databases */
	int			in_line;	 /* databases without a process that need one */
	int			requests;	 /* of this database, in slots */
	int			free_slots;	 /* for all databases */
	bool		answers_on;	 /* privpred.answers */
	TimestampTz verified_at; /* since the server started; 0: not */
	bool		verified;	 /* then */
} LedgerState;

extern LedgerState ledger_state(void);

/* What verify_ledger() has found, for those who watch. */
extern void ledger_note_verification(bool ok);

#endif /* PRIVPRED_LEDGER_H */
