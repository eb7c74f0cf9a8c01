/*
 * returns.c
 *		What comes back and is not put back yet.
 *
 * The slots in shared memory are few, and belong to all databases.  What comes
 * back to an account that somebody has locked waits here instead, in our own
 * memory, for as long as it takes.  If there is more than there is room for, a
 * lease is given up: it is listed as orphaned, and stays spent unless the owner
 * of the relation forgives it.
 *
 * A grant whose client was not there to take it waits here as well, and goes to
 * the next request like it.  So a client that gives up again and again costs
 * one entry of the ledger, not two for each time.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "ledger/worker/returns.h"
#include "server/query.h"

#define MAX_KEPT 1024
#define MAX_KEPT_RELATION 256
#define MAX_GIVEN_UP 1024

typedef struct GivenUp
{
	int64 lease;
	int32 unused;
} GivenUp;

/* In use if not SLOT_FREE; SLOT_TAKEN while in a batch. */
static LedgerSlot *kept[MAX_KEPT];
static int		   nkept = 0;		  /* places that were ever used */
static bool		   settled[MAX_KEPT]; /* by the present batch, if it commits */

static GivenUp given_up[MAX_GIVEN_UP];
static int	   ngiven_up = 0;

bool
returns_has(const LedgerSlot *slot)
{
	for (int i = 0; i < nkept; i++)
		if (kept[i] == slot)
			return true;
	return false;
}

bool
returns_none(void)
{
	for (int i = 0; i < nkept; i++)
		if (slot_state(kept[i]) != SLOT_FREE)
			return false;
	return true;
}

/* A free place, unless the relation has more than its share; -1: none. */
static int
find_place(int64 relation_id)
{
	int place = -1;
	int same = 0;

	for (int i = 0; i < nkept; i++)
	{
		if (slot_state(kept[i]) == SLOT_FREE)
			place = i;
		else if (kept[i]->request.relation_id == relation_id)
			same++;
	}
	if (same >= MAX_KEPT_RELATION)
		return -1;
	if (place < 0 && nkept < MAX_KEPT)
	{
		/* Our callers hold the ledger's lock, and must not fail. */
		kept[nkept] = MemoryContextAllocExtended(TopMemoryContext, sizeof(LedgerSlot),
												 MCXT_ALLOC_ZERO | MCXT_ALLOC_NO_OOM);
		if (kept[nkept] == NULL)
			return -1;
		pg_atomic_init_u32(&kept[nkept]->state, SLOT_FREE);
		place = nkept++;
	}
	return place;
}

bool
returns_keep(const LedgerSlot *slot, TimestampTz not_before)
{
	int			place = find_place(slot->request.relation_id);
	LedgerSlot *copy;

	if (place < 0)
		return false;
	copy = kept[place];
	copy->database = slot->database;
	copy->wants_reply = false;
	copy->client = slot->client;
	copy->attempts = slot->attempts;
	copy->serial = slot->serial;
	copy->not_before = not_before;
	copy->request = slot->request;
	settled[place] = false;
	slot_set_state(copy, SLOT_PENDING);
	return true;
}

void
returns_give_up(const LedgerRequest *request)
{
	bool lists = request->kind == REQUEST_SETTLE && ngiven_up < MAX_GIVEN_UP;

	if (lists)
	{
		given_up[ngiven_up].lease = request->paid.lease;
		given_up[ngiven_up++].unused = request->answers;
	}
	ereport(
		LOG,
		errmsg("%d unused private answers were not returned to their account", request->answers),
		errdetail("The account is locked, and the ledger's process cannot wait for it any longer."),
		lists ? errhint("The owner of the relation can forgive lease " INT64_FORMAT ".",
						request->paid.lease)
			  : 0);
}

void
returns_leave(void)
{
	for (int i = 0; i < nkept; i++)
	{
		const LedgerRequest *request = &kept[i]->request;

		if (slot_state(kept[i]) == SLOT_FREE)
			continue;
		if (request->kind == REQUEST_SETTLE || slot_post(request, false) < 0)
			returns_give_up(request);
		else
			slot_set_state(kept[i], SLOT_FREE);
	}
}

/* ---------- from one process to the next ---------- */

typedef struct Parked
{
	int		   count;
	LedgerSlot slots[FLEXIBLE_ARRAY_MEMBER];
} Parked;

static dsm_segment *
create_segment(Size size)
{
	MemoryContext context = CurrentMemoryContext;
	dsm_segment *volatile segment = NULL;

	PG_TRY();
	{
		segment = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	}
	PG_CATCH();
	{
		/* No memory: we stay. */
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	return segment;
}

bool
returns_park(dsm_handle *parked)
{
	int			 count = 0;
	dsm_segment *segment;
	Parked		*copy;

	*parked = DSM_HANDLE_INVALID;
	for (int i = 0; i < nkept; i++)
		count += slot_state(kept[i]) != SLOT_FREE;
	if (count == 0)
		return true;
	segment = create_segment(offsetof(Parked, slots) + count * sizeof(LedgerSlot));
	if (segment == NULL)
		return false;
	copy = dsm_segment_address(segment);
	copy->count = 0;
	for (int i = 0; i < nkept; i++)
		if (slot_state(kept[i]) != SLOT_FREE)
			copy->slots[copy->count++] = *kept[i];
	dsm_pin_segment(segment);
	*parked = dsm_segment_handle(segment);
	return true;
}

void
returns_unpark(dsm_handle parked)
{
	dsm_segment	 *segment = dsm_attach(parked);
	const Parked *copy;

	if (segment == NULL)
		return;
	copy = dsm_segment_address(segment);
	LWLockAcquire(&ledger_shared()->header.lock, LW_EXCLUSIVE);
	for (int i = 0; i < copy->count; i++)
		if (!returns_keep(&copy->slots[i], 0))
		{
			returns_give_up(&copy->slots[i].request);
			board_leave_unserved(&copy->slots[i].request);
		}
	LWLockRelease(&ledger_shared()->header.lock);
	dsm_unpin_segment(parked);
	dsm_detach(segment);
}

void
returns_are_lost(void)
{
	for (int i = 0; i < nkept; i++)
		if (slot_state(kept[i]) != SLOT_FREE)
			board_leave_unserved(&kept[i]->request);
}

int
returns_due(LedgerSlot **batch, int size, bool all, int64 *wait_us)
{
	TimestampTz now = GetCurrentTimestamp();
	int			n = 0;

	for (int i = 0; i < nkept; i++)
	{
		LedgerSlot *slot = kept[i];

		if (slot_state(slot) != SLOT_PENDING)
			continue;
		if (n == size || (slot->not_before > now && !all))
		{
			*wait_us = Min(*wait_us, Max(slot->not_before - now, 0));
			continue;
		}
		slot_set_state(slot, SLOT_TAKEN);
		batch[n++] = slot;
	}
	return n;
}

/* ---------- within a batch ---------- */

void
returns_begin_batch(void)
{
	memset(settled, 0, sizeof(settled));
}

/* What the batch has settled, it has settled for good. */
void
returns_end_batch(void)
{
	for (int i = 0; i < nkept; i++)
		if (settled[i])
			slot_set_state(kept[i], SLOT_FREE);
	returns_begin_batch();
	ngiven_up = 0;
}

static bool
is_at_hand(int place)
{
	return slot_state(kept[place]) == SLOT_PENDING && !settled[place];
}

int
returns_find_grant(const LedgerRequest *wanted)
{
	for (int i = 0; i < nkept; i++)
	{
		const LedgerRequest *grant = &kept[i]->request;

		if (is_at_hand(i) && grant->fresh && grant->role == wanted->role &&
			grant->relation_id == wanted->relation_id && grant->model_id == wanted->model_id &&
			grant->version == wanted->version && grant->training_id == wanted->training_id)
			return i;
	}
	return -1;
}

int
returns_find_relation(int64 relation_id, int after)
{
	for (int i = after + 1; i < nkept; i++)
		if (is_at_hand(i) && kept[i]->request.relation_id == relation_id)
			return i;
	return -1;
}

const LedgerRequest *
returns_request(int place)
{
	return &kept[place]->request;
}

void
returns_settle(int place)
{
	settled[place] = true;
}

/* Makes orphans of what was given up; only what is unused of it may be forgiven. */
void
returns_list_orphans(void)
{
	for (int i = 0; i < ngiven_up; i++)
		query_write("UPDATE privpred.open_lease SET incarnation = 0, "
					"answers = least(answers, $2) WHERE lease = $1",
					ARG_INT8(given_up[i].lease), ARG_INT4(given_up[i].unused));
}

bool
returns_have_orphans(void)
{
	return ngiven_up > 0;
}
