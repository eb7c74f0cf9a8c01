/*
 * head_log.c
 *		The head of the chain in the server log, for whoever keeps logs
 *		elsewhere: a head that was logged once proves a rewind.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "ledger/worker/worker.h"
#include "server/session.h"

static bool		   head_changed = false; /* since it was last logged */
static TimestampTz head_checked = 0;

void
head_log_changed(void)
{
	head_changed = true;
}

TimestampTz
head_log_last_look(void)
{
	return head_checked;
}

static void
log_if_due(bool now_or_never)
{
	LedgerShared   *shared = ledger_shared();
	TimestampTz		now = GetCurrentTimestamp();
	int				interval = ledger_head_log_interval_s;
	LedgerDatabase *entry;
	CatalogSession	session;
	ChainEnd		end;
	char			hex[2 * HEAD_SIZE + 1];
	bool			due;

	head_checked = now;
	if (!head_changed || interval < 0)
		return;
	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	entry = database_entry(shared, false);
	due = entry != NULL && (now_or_never || now - entry->head_logged >= interval * USECS_PER_SEC);
	if (due)
		entry->head_logged = now;
	LWLockRelease(&shared->header.lock);
	if (!due)
		return;

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	catalog_begin(&session);
	chain_read_end(&end, InvalidOid);
	catalog_end(&session);
	PopActiveSnapshot();
	CommitTransactionCommand();
	hex[hex_encode((char *) end.head, HEAD_SIZE, hex)] = '\0';
	ereport(LOG, errmsg("privacy ledger of database %u: entry " INT64_FORMAT ", head %s",
						MyDatabaseId, end.id, hex));
	head_changed = false;
}

/* The log is no reason to fail. */
void
head_log(bool now_or_never)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		log_if_due(now_or_never);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		HOLD_INTERRUPTS();
		FlushErrorState();
		AbortCurrentTransaction();
		debit_forget();
		RESUME_INTERRUPTS();
		head_changed = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
}
