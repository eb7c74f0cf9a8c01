/*
 * verify.c
 *		Recomputes the chain and every sum from the first entry on.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "account/accountant.h"
#include "account/terms.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "ledger/chain.h"
#include "server/query.h"
#include "server/session.h"
#include "server/progress.h"

#define FETCH_ROWS 1000

/* What the entries say about an account. */
typedef struct Tally
{
	int64		 account_id;
	EpsilonUnits spent;
	EpsilonUnits window_spent;
	double		 delta_spent;
	bool		 has_limit;
	EpsilonUnits limit;
	bool		 has_window;
	EpsilonUnits window_limit;
	char		*terms; /* of the last grant; NULL: none */

	/* of an account whose population was joined: what has left it, and has not arrived yet */
	EpsilonUnits leaving;
	double		 leaving_delta;
} Tally;

typedef struct Verification
{
	LedgerVerdict *verdict;
	MemoryContext  context; /* outlives the session with our tables */
	HTAB		  *tallies;
	uint8		   head[HEAD_SIZE];
	const uint8	  *expected;
	bool		   seen; /* the expected head */
} Verification;

/* The first problem counts. */
static void
problem(Verification *verification, int64 entry, const char *text)
{
	LedgerVerdict *verdict = verification->verdict;

	if (verdict->problem != NULL)
		return;
	verdict->problem = MemoryContextStrdup(verification->context, text);
	verdict->entry = entry;
}

static Tally *
tally_of(Verification *verification, int64 account_id)
{
	bool   found;
	Tally *tally = hash_search(verification->tallies, &account_id, HASH_ENTER, &found);

	if (!found)
	{
		memset(tally, 0, sizeof(Tally));
		tally->account_id = account_id;
	}
	return tally;
}

/* The terms that entries recorded last. */
static void
note_terms(Verification *verification, Tally *tally, const LedgerEntry *entry, const char *terms)
{
	tally->has_limit = entry->has_limit;
	tally->limit = entry->limit;
	tally->has_window = entry->has_window;
	tally->window_limit = entry->window_limit;
	if (tally->terms != NULL)
		pfree(tally->terms);
	tally->terms = terms == NULL ? NULL : MemoryContextStrdup(verification->context, terms);
}

/* All that an account had spent leaves it, and nothing else. */
static void
leave(Verification *verification, Tally *tally, const LedgerEntry *entry)
{
	if (tally->spent != 0 || tally->window_spent != 0 || tally->delta_spent != -entry->delta)
		problem(verification, entry->id,
				psprintf("account " INT64_FORMAT " was joined with another, and not as a whole",
						 entry->account_id));
	tally->delta_spent = 0;
	tally->leaving = -entry->units;
	tally->leaving_delta = -entry->delta;
}

/* It arrives at another, and its delta with more where an order has changed. */
static void
arrive(Verification *verification, int64 whence, const LedgerEntry *entry)
{
	Tally *tally = tally_of(verification, whence);

	if (entry->delta < tally->leaving_delta ||
		(entry->units != tally->leaving &&
		 tally_of(verification, entry->account_id)->spent != PG_INT64_MAX))
		problem(verification, entry->id,
				psprintf("what account " INT64_FORMAT " had spent was lost when it was joined",
						 whence));
	tally->leaving = 0;
	tally->leaving_delta = 0;
}

/* See src/ledger/join.c; what was exported before is charged under the same kind. */
static void
follow_join(Verification *verification, const LedgerEntry *entry)
{
	const char *terms = entry->detail == NULL ? NULL : strstr(entry->detail, ": ");
	int64		whence;

	if (entry->detail == NULL)
		problem(verification, entry->id, "an entry about a join does not say with what");
	else if (strncmp(entry->detail, "to ", 3) == 0)
		leave(verification, tally_of(verification, entry->account_id), entry);
	else if (strncmp(entry->detail, "from ", 5) == 0)
	{
		if (sscanf(entry->detail, "from account " INT64_FORMAT ":", &whence) == 1)
			arrive(verification, whence, entry);
		note_terms(verification, tally_of(verification, entry->account_id), entry,
				   terms == NULL ? NULL : terms + 2);
	}
}

static bool
is_charge(const LedgerEntry *entry)
{
	static const char *const kinds[] = {"lease",  "stream",	  "release",
										"export", "describe", "accuracy"};

	for (int i = 0; i < lengthof(kinds); i++)
		if (strcmp(entry->kind, kinds[i]) == 0)
			return true;
	return false;
}

/* Adds an entry to the sums of its accounts; deltas in the order they were spent. */
static void
add_up(Verification *verification, const LedgerEntry *entry)
{
	Tally *tally;

	if (entry->cap_id != 0)
	{
		tally = tally_of(verification, entry->cap_id);
		tally->spent += entry->cap_units;
		tally->delta_spent = delta_add(tally->delta_spent, entry->delta);
	}
	if (entry->account_id == 0)
		return;
	tally = tally_of(verification, entry->account_id);
	tally->spent += entry->units;
	if (entry->delta >= 0)
		tally->delta_spent = delta_add(tally->delta_spent, entry->delta);
	tally->window_spent += entry->window_units;
	if (strcmp(entry->kind, "grant") == 0 || strcmp(entry->kind, "cap") == 0)
		note_terms(verification, tally, entry, entry->detail);
	if (strcmp(entry->kind, "join") == 0)
		follow_join(verification, entry);
	if (is_charge(entry) && ((entry->has_limit && tally->spent > entry->limit) ||
							 (entry->has_window && tally->window_spent > entry->window_limit)))
		problem(
			verification, entry->id,
			psprintf("account " INT64_FORMAT " was charged beyond its limit", entry->account_id));
	if (tally->spent < 0 || tally->window_spent < 0)
		problem(verification, entry->id,
				psprintf("account " INT64_FORMAT " was returned more than it was charged",
						 entry->account_id));
}

static void
check_entry(Verification *verification, LedgerEntry *entry)
{
	uint8 stored[HEAD_SIZE];

	memcpy(stored, entry->head, HEAD_SIZE);
	if (entry->id != verification->verdict->entries + 1)
		problem(verification, entry->id,
				psprintf("entries are missing before entry " INT64_FORMAT, entry->id));
	chain_hash(entry, verification->head);
	if (memcmp(stored, entry->head, HEAD_SIZE) != 0)
		problem(verification, entry->id,
				psprintf("entry " INT64_FORMAT " or one before it was changed", entry->id));
	memcpy(verification->head, stored, HEAD_SIZE);
	if (verification->expected != NULL && memcmp(stored, verification->expected, HEAD_SIZE) == 0)
		verification->seen = true;
	add_up(verification, entry);
	verification->verdict->entries = entry->id;
	progress_update(entry->id);
}

static void
walk(Verification *verification, const char *query, bool chained)
{
	SPIPlanPtr	  plan = SPI_prepare(query, 0, NULL);
	Portal		  portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "privpred ledger entry",
													  ALLOCSET_DEFAULT_SIZES);

	for (;;)
	{
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			MemoryContext old = MemoryContextSwitchTo(row_context);
			LedgerEntry	  entry;

			CHECK_FOR_INTERRUPTS();
			entry_from_row(&entry, row);
			if (chained)
				check_entry(verification, &entry);
			else
				add_up(verification, &entry);
			MemoryContextSwitchTo(old);
			MemoryContextReset(row_context);
		}
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	MemoryContextDelete(row_context);
}

static bool
has_limits(const Account *account, const Tally *tally)
{
	return tally->has_limit != account->unlimited &&
		   (!tally->has_limit || tally->limit == account->limit) &&
		   tally->has_window == account->has_window &&
		   (!tally->has_window || tally->window_limit == account->window_limit);
}

/* Compares an account with what its entries add up to, if there are any. */
static char *
account_problem(const Account *account, const Tally *tally)
{
	EpsilonUnits window_spent = account->has_window ? account->window_spent : 0;
	char		 stored[EPSILON_TEXT_SIZE];
	char		 summed[EPSILON_TEXT_SIZE];
	char		 terms[TERMS_TEXT_SIZE];

	if (tally == NULL)
		return "has no entries";
	if (tally->leaving != 0 || tally->leaving_delta != 0)
		return "was joined with another, which does not count what it had spent";
	if (tally->spent != account->spent)
		return psprintf("says that epsilon %s is spent, its entries add up to %s",
						epsilon_to_text(account->spent, stored),
						epsilon_to_text(tally->spent, summed));
	if (tally->window_spent != window_spent)
		return psprintf("says that epsilon %s is spent in its window, its entries add up to %s",
						epsilon_to_text(account->window_spent, stored),
						epsilon_to_text(tally->window_spent, summed));
	if (tally->delta_spent != account->delta_spent)
		return psprintf("says that delta %.17g is spent, its entries add up to %.17g",
						account->delta_spent, tally->delta_spent);
	if (!has_limits(account, tally))
		return "has a limit that is not the one last granted";
	if (tally->terms == NULL || strcmp(tally->terms, terms_to_text(account, terms)) != 0)
		return psprintf("has terms that are not those last granted: %s",
						tally->terms ? tally->terms : "none");
	return NULL;
}

static void
check_accounts(Verification *verification)
{
	query_read("SELECT " ACCOUNT_COLUMNS " FROM privpred.account a ORDER BY a.account_id");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Account account;
		Tally  *tally;
		char   *found;

		account_from_row(&account, row, InvalidOid);
		tally = hash_search(verification->tallies, &account.account_id, HASH_REMOVE, NULL);
		found = account_problem(&account, tally);
		if (found != NULL)
			problem(verification, 0,
					psprintf("account " INT64_FORMAT " %s", account.account_id, found));
		if (account_left(&account) < 0)
			verification->verdict->frozen_accounts++;
	}
	if (hash_get_num_entries(verification->tallies) > 0)
		problem(verification, 0, "entries name accounts that do not exist");
}

/* Whoever is said to have paid was charged, the cap with one of its roles. */
static void
check_releases(Verification *verification)
{
	query_read(
		"WITH RECURSIVE entry AS (SELECT account_id, kind, detail FROM privpred.ledger_entry "
		"WHERE kind IN ('release', 'export', 'describe', 'accuracy', 'join') "
		"UNION ALL SELECT account_id, kind, detail FROM privpred.ledger_outbox "
		"WHERE kind IN ('export', 'describe', 'accuracy', 'join')), "
		"moved AS (SELECT account_id AS into_id, "
		"substring(detail FROM '^from account (\\d+):')::int8 AS from_id "
		"FROM entry WHERE kind = 'join'), "
		"paid AS (SELECT account_id, split_part(detail, ' ', 2) AS training FROM entry "
		"UNION SELECT m.into_id, p.training FROM paid p JOIN moved m ON m.from_id = p.account_id) "
		"SELECT r.account_id FROM privpred.release r "
		"LEFT JOIN privpred.account a USING (account_id) WHERE r.account_id <> 0 "
		"AND (r.account_id, r.training_id::text) NOT IN "
		"(SELECT account_id, training FROM paid "
		"WHERE account_id IS NOT NULL AND training IS NOT NULL) "
		"AND (a.role IS DISTINCT FROM 0 OR (a.relation_id, r.training_id::text) NOT IN "
		"(SELECT o.relation_id, p.training FROM paid p JOIN privpred.account o USING (account_id) "
		"WHERE p.training IS NOT NULL)) "
		"ORDER BY r.account_id LIMIT 1");
	if (SPI_processed > 0)
		problem(verification, 0,
				psprintf("account " INT64_FORMAT
						 " is said to have paid for a model and was not charged",
						 row_int8(0, 1)));
}

LedgerVerdict
ledger_verify(const uint8 *expected_head)
{
	LedgerVerdict  verdict = {0};
	Verification   verification = {.verdict = &verdict, .context = CurrentMemoryContext};
	HASHCTL		   ctl = {.keysize = sizeof(int64), .entrysize = sizeof(Tally)};
	CatalogSession session;
	bool		   moved;

	ledger_sync();
	progress_begin("", InvalidOid);
	progress_show_to(asking_role());

	/* One snapshot for entries and accounts. */
	PushActiveSnapshot(GetTransactionSnapshot());
	catalog_begin(&session);
	ctl.hcxt = CurrentMemoryContext;
	verification.tallies =
		hash_create("privpred tallies", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	verification.expected = expected_head;
	query_read("SELECT max(id) FROM privpred.ledger_entry");
	progress_phase("verifying entries", row_int8(0, 1));
	walk(&verification, "SELECT id, " ENTRY_COLUMNS ", head FROM privpred.ledger_entry ORDER BY id",
		 true);
	walk(&verification, "SELECT seq, " ENTRY_COLUMNS " FROM privpred.ledger_outbox ORDER BY seq",
		 false);
	if (expected_head != NULL && !verification.seen)
		problem(
			&verification, 0,
			"the chain never had the expected head: an older state was restored, or entries were "
			"rewritten");
	check_accounts(&verification);
	check_releases(&verification);
	if (!RecoveryInProgress() && !ledger_is_ours(&moved))
		problem(&verification, 0, "the ledger was restored from a dump or cloned, and not adopted");
	query_read("SELECT count(*) FROM privpred.open_lease o WHERE o.incarnation <> $1",
			   ARG_INT8(ledger_incarnation()));
	verdict.orphaned_leases = row_int8(0, 1);
	memcpy(verdict.head, verification.head, HEAD_SIZE);
	catalog_end(&session);
	PopActiveSnapshot();
	progress_end();
	return verdict;
}
