/*
 * verify.c
 *		Recomputes the chain and every sum from the first entry on, or from where that was last
 *		done.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/snapmgr.h"

#include "account/accountant.h"
#include "account/terms.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "ledger/walk.h"
#include "server/progress.h"
#include "server/query.h"
#include "server/session.h"

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
check_accounts(LedgerWalk *walk)
{
	query_read("SELECT " ACCOUNT_COLUMNS " FROM privpred.account a ORDER BY a.account_id");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Account account;
		Tally  *tally;
		char   *found;

		account_from_row(&account, row, InvalidOid);
		tally = hash_search(walk->tallies, &account.account_id, HASH_REMOVE, NULL);
		found = account_problem(&account, tally);
		if (found != NULL)
			walk_problem(walk, 0,
						 psprintf("account " INT64_FORMAT " %s", account.account_id, found));
		if (account_left(&account) < 0)
			walk->verdict->frozen_accounts++;
	}
	if (hash_get_num_entries(walk->tallies) > 0)
		walk_problem(walk, 0, "entries name accounts that do not exist");
}

/* Whoever is said to have paid was charged, the cap with one of its roles. */
static void
check_releases(LedgerWalk *walk)
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
		"SELECT account_id FROM (SELECT account_id, training_id::text FROM privpred.release "
		"WHERE account_id <> 0 EXCEPT SELECT account_id, training FROM paid "
		"EXCEPT SELECT cap.account_id, p.training FROM paid p "
		"JOIN privpred.account o USING (account_id) "
		"JOIN privpred.account cap ON cap.relation_id = o.relation_id AND cap.role = 0) unpaid "
		"ORDER BY account_id LIMIT 1");
	if (SPI_processed > 0)
		walk_problem(walk, 0,
					 psprintf("account " INT64_FORMAT
							  " is said to have paid for a model and was not charged",
							  row_int8(0, 1)));
}

/* Before the mark at which the walk began, where all was right. */
static bool
was_seen_before(const uint8 *expected, int64 mark)
{
	bytea *head = palloc(VARHDRSZ + HEAD_SIZE);

	SET_VARSIZE(head, VARHDRSZ + HEAD_SIZE);
	memcpy(VARDATA(head), expected, HEAD_SIZE);
	query_read("SELECT FROM privpred.ledger_entry e WHERE e.head = $1 AND e.id <= $2 "
			   "UNION ALL SELECT FROM privpred.ledger_fold f WHERE f.head = $1 AND f.last <= $2",
			   ARG_POINTER(BYTEAOID, head), ARG_INT8(mark));
	return SPI_processed > 0;
}

static void
check_expected(LedgerWalk *walk, int64 mark)
{
	if (walk->expected == NULL || walk->seen || (mark > 0 && was_seen_before(walk->expected, mark)))
		return;
	walk_problem(walk, 0,
				 walk->nfolds == 0
					 ? "the chain never had the expected head: an older state was restored, or "
					   "entries were rewritten"
					 : "the expected head is not one of those that are left: an older state was "
					   "restored, entries were rewritten, or they were folded");
}

static void
verify(LedgerWalk *walk, bool incremental)
{
	LedgerVerdict *verdict = walk->verdict;
	LedgerMark	  *mark = NULL;
	int64		   begin;
	bool		   moved;

	walk_begin(walk);
	if (incremental)
		mark_resume(walk);
	begin = verdict->entries;
	query_read("SELECT max(id) FROM privpred.ledger_entry");
	progress_phase("verifying entries", row_int8(0, 1));
	walk_chain(walk);
	if (walk->keeps)
		mark = mark_take(walk);
	walk_outbox(walk);
	walk_check_folds(walk);
	check_expected(walk, begin);
	check_accounts(walk);
	check_releases(walk);
	if (!RecoveryInProgress() && !ledger_is_ours(&moved))
		walk_problem(walk, 0, "the ledger was restored from a dump or cloned, and not adopted");
	query_read("SELECT count(*) FROM privpred.open_lease o WHERE o.incarnation <> $1",
			   ARG_INT8(ledger_incarnation()));
	verdict->orphaned_leases = row_int8(0, 1);
	memcpy(verdict->head, walk->head, HEAD_SIZE);
	if (mark != NULL && verdict->problem == NULL)
		mark_keep(mark);
}

/* Whoever keeps the ledger may say where it was right, where that can be written down. */
static bool
may_mark(void)
{
	return ledger_is_kept_by(GetUserId()) && !RecoveryInProgress() && !XactReadOnly &&
		   !IsolationUsesXactSnapshot();
}

LedgerVerdict
ledger_verify(const uint8 *expected_head, bool incremental)
{
	LedgerVerdict  verdict = {0};
	LedgerWalk	   walk = {.verdict = &verdict,
						   .context = CurrentMemoryContext,
						   .expected = expected_head,
						   .keeps = incremental && may_mark()};
	CatalogSession session;

	ledger_sync();
	progress_begin("", InvalidOid);
	progress_show_to(asking_role());

	/* One snapshot for entries and accounts. */
	PushActiveSnapshot(GetTransactionSnapshot());
	catalog_begin(&session);
	verify(&walk, incremental);
	catalog_end(&session);
	PopActiveSnapshot();
	progress_end();
	return verdict;
}
