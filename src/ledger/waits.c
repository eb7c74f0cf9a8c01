/*
 * waits.c
 *		What processes of privpred wait for, by name in pg_stat_activity (both).
 */
#include "postgres.h"

#include "pgstat.h"
#include "utils/wait_event.h"

#include "ledger/shared.h"

uint32
ledger_wait_event(LedgerWait wait)
{
	static const char *const names[] = {
		[WAIT_FOR_REPLY] = "PrivpredLedgerReply",	[WAIT_FOR_PROCESS] = "PrivpredLedgerProcess",
		[WAIT_FOR_SLOT] = "PrivpredRequestSlot",	[WAIT_FOR_ACCOUNT] = "PrivpredAccountLock",
		[WAIT_FOR_REQUESTS] = "PrivpredLedgerMain",
	};
	static uint32 events[lengthof(names)]; /* 0: not asked for yet */

	if (unlikely(events[wait] == 0))
		events[wait] = WAIT_EVENT_NEW(names[wait]);
	return events[wait];
}
