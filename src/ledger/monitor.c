/*
 * monitor.c
 *		How the ledger of this database is doing, for whoever watches the server.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "ledger/shared.h"

void
ledger_note_verification(bool ok)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	entry = database_entry(shared, true);
	if (entry != NULL)
	{
		entry->verified_at = GetCurrentTimestamp();
		entry->verified = ok;
	}
	LWLockRelease(&shared->header.lock);
}

LedgerState
ledger_state(void)
{
	LedgerShared   *shared = ledger_shared();
	LedgerState		state = {.answers_on = answers_are_on()};
	LedgerDatabase *entry;

	LWLockAcquire(&shared->header.lock, LW_SHARED);
	for (int i = 0; i < LEDGER_DATABASES; i++)
	{
		state.processes += shared->databases[i].worker_pid != 0;
		state.in_line += shared->databases[i].ticket != 0;
	}
	for (int i = 0; i < LEDGER_SLOTS; i++)
	{
		LedgerSlot *slot = &shared->slots[i];

		if (slot_state(slot) == SLOT_FREE)
			state.free_slots++;
		else if (slot->database == MyDatabaseId)
			state.requests++;
	}
	entry = database_entry(shared, false);
	if (entry != NULL)
	{
		state.process = entry->worker_pid;
		state.verified_at = entry->verified_at;
		state.verified = entry->verified;
	}
	LWLockRelease(&shared->header.lock);
	if (pg_atomic_read_u32(&shared->answers_off) != 0)
		state.answers_on = false;
	return state;
}
