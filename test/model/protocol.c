/*
 * protocol.c
 *		The steps.  Each is atomic in the product, under the ledger's lock, in one
 *		transaction or within one process.
 */
#include "model.h"

Setting	 setting;
Mistake	 mistake;
unsigned violated;
bool	 lossy;

static bool
account_is_locked(const State *s, int account)
{
	return account == 0 && s->owner == LOCKS;
}

/* ---------- slots: shmem.c ---------- */

int
slots_of_role(const State *s, int role)
{
	int n = 0;

	for (int i = 0; i < setting.slots; i++)
		n += s->slots[i].state != SLOT_FREE && s->slots[i].request.role == role;
	return n;
}

/* shmem.c may_take_slot(), shared.h share_allows() */
static bool
may_take_slot(const State *s, int role)
{
	int unused = 0;

	for (int i = 0; i < setting.slots; i++)
		unused += s->slots[i].state == SLOT_FREE;
	if (mistake == NO_QUOTA || mistake == RETURNS_STAY_NO_QUOTA)
		return unused > 0;
	return slots_of_role(s, role) < unused && setting.slots - unused < 3 * unused;
}

/* shmem.c slot_set_free() */
static void
slot_set_free(Slot *slot)
{
	memset(slot, 0, sizeof(Slot));
}

/* shmem.c slot_post() */
static int
slot_post(State *s, const Request *request, bool wants_reply)
{
	if (!may_take_slot(s, request->role))
		return -1;
	for (int i = 0; i < setting.slots; i++)
		if (s->slots[i].state == SLOT_FREE)
		{
			s->slots[i].state = SLOT_PENDING;
			s->slots[i].wants_reply = wants_reply;
			s->slots[i].request = *request;
			return i;
		}
	return -1;
}

/* shmem.c slot_give_back() */
static void
slot_give_back(Slot *slot)
{
	Request *request = &slot->request;

	request->fresh = request->kind == REQUEST_LEASE && request->lease == 0;
	request->leaves = request->kind == REQUEST_STREAM_TAKE;
	request->kind = request->leaves ? REQUEST_STREAM_LEAVE : REQUEST_GIVE_BACK;
	request->lease = slot->lease;
	request->answers = request->leaves ? 0 : slot->granted;
	slot->granted = slot->lease = slot->run = slot->over = 0;
	slot->wants_reply = false;
	slot->state = SLOT_PENDING;
}

/* ---------- sessions: client.c, lease.c, stream.c ---------- */

/*
 * client.c post_patiently() of lease.c ledger_open(), ledger_spend(), request_block(), stream.c
 * ledger_stream_use(), take_block(), have_test_recorded()
 */
bool
session_posts(State *s, int who)
{
	Session *me = &s->sessions[who];
	Request	 request = {.role = who, .lease = me->lease, .want = me->used > 1 ? me->used : 1};
	bool	 more = me->state == HOLDS && !uses_stream(who) && me->unused == 0;
	int		 slot;

	if (me->state == RECORDS)
		request.kind = REQUEST_STREAM_FAILED;
	else if (me->state == IDLE || me->state == WANTS || more)
		request.kind = uses_stream(who) ? REQUEST_STREAM_TAKE : REQUEST_LEASE;
	else
		return false;
	slot = slot_post(s, &request, true);
	if (slot < 0)
		return false;
	if (mistake == DRAW_FIRST && request.kind == REQUEST_LEASE)
		s->answered[account_of(who)]++;
	if (me->state == IDLE || more) /* as it was before the block is asked for */
		me->epoch = s->epoch;
	me->recording = me->state == RECORDS;
	me->state = WAITS;
	me->slot = slot;
	return true;
}

/* A failure of ours is durable before anybody hears of it. */
static void
check_record(const State *s, Session *me)
{
	if (me->failed > 0 && s->durable.failed < me->failed && !s->durable.closed)
		violated |= DEBIT_IS_DURABLE;
	me->failed = 0;
}

/* A block of one that is used up is closed already. */
static bool
has_something(const Session *me, int who)
{
	return me->granted > 1 || me->unused > 0 || (uses_stream(who) && me->granted > 0);
}

static void
session_fails(Session *me, int who)
{
	me->slot = me->recording = me->failed = 0;
	me->state = LEAVES;
	if (!has_something(me, who))
		memset(me, 0, sizeof(Session));
}

/* client.c call_once(), ledger_call(), refusal.c ledger_call_granted() */
bool
session_takes_reply(State *s, int who)
{
	Session *me = &s->sessions[who];
	Slot	*slot = &s->slots[me->slot];
	Slot	 reply = *slot;

	if (me->state != WAITS || slot->state != SLOT_DONE)
		return false;
	slot_set_free(slot);
	me->slot = 0;
	if (reply.outcome == OUTCOME_LOCKED) /* and waits, but not in a slot */
		me->state = me->recording ? RECORDS : WANTS;
	else if (reply.outcome != OUTCOME_GRANTED)
		session_fails(me, who);
	else
	{
		me->state = HOLDS;
		if (me->recording)
			check_record(s, me);
		else if (uses_stream(who))
			me->granted = 1;
		else
		{
			me->granted = me->unused = reply.granted;
			me->lease = reply.lease;
			if (mistake == DRAW_FIRST)
				me->unused--;
		}
		if (mistake == EPOCH_READ_LATE)
			me->epoch = s->epoch;
	}
	me->recording = 0;
	return true;
}

/* client.c abandon(), on an error, a cancel or the end of the session */
bool
session_gives_up(State *s, int who)
{
	Session *me = &s->sessions[who];
	Slot	*slot = &s->slots[me->slot];

	if (me->state != WANTS && me->state != RECORDS && me->state != WAITS)
		return false;
	if (me->state == WAITS)
	{
		if (slot->state == SLOT_PENDING)
			slot_set_free(slot);
		else if (slot->state == SLOT_TAKEN)
			slot->state = SLOT_ABANDONED;
		else if (slot->outcome == OUTCOME_GRANTED && slot->granted > 0)
			slot_give_back(slot);
		else
			slot_set_free(slot);
	}
	session_fails(me, who);
	return true;
}

/* lease.c ledger_spend() with a block at hand; stream.c stream_stable(), board.c board_compare() */
bool
session_answers(State *s, int who, bool passes)
{
	Session *me = &s->sessions[who];

	if (me->state != HOLDS || me->epoch != s->epoch)
		return false;
	if (!uses_stream(who))
	{
		if (me->unused == 0 || passes)
			return false;
		if (mistake != RECEIPT_REUSED)
			me->unused--;
		me->used++;
		s->answered[account_of(who)]++;
	}
	else if (s->board_state == BOARD_OVER)
		return false;
	else if (s->board_state == BOARD_FAILED)
	{
		me->state = RECORDS; /* somebody else's */
		return !passes;
	}
	else
	{
		if (!s->board || s->failed_runs & 1 << s->board_run)
			violated |= FAILED_IS_GONE;
		if (!passes)
		{
			s->failed_runs |= 1 << s->board_run;
			s->failures++;
			if (mistake != MARK_LATE)
				s->board_state = BOARD_FAILED;
			me->failed = 1 + s->board_run;
			me->state = RECORDS;
		}
	}
	if (s->revocation_over && account_of(who) == 0)
		violated |= REVOKED_IS_OVER;
	return true;
}

/* board.c board_lose_user() */
static void
board_lose_user(State *s)
{
	if (--s->board_users == 0 && (s->board_state != BOARD_FAILED || mistake == LEAVER_FORGETS))
		s->board = s->board_state = s->board_run = 0;
}

/* board.c board_leave_unserved() */
static void
board_leave_unserved(State *s, const Request *request)
{
	if (s->board && request->leaves && mistake != LOST_LEAVE)
		board_lose_user(s);
}

/* lease.c lease_reset() or a new epoch, drop_block(); stream.c let_go(); client.c ledger_post() */
bool
session_leaves(State *s, int who)
{
	Session *me = &s->sessions[who];
	Request	 request = {.role = who, .lease = me->lease, .answers = me->unused};

	if (me->state != LEAVES && me->state != HOLDS)
		return false;
	if (uses_stream(who))
	{
		request.kind = REQUEST_STREAM_LEAVE;
		request.leaves = true;
	}
	else
	{
		request.kind = me->granted > 1 ? REQUEST_SETTLE : REQUEST_GIVE_BACK;
		request.fresh = me->used == 0;
		if (mistake == WHOLE_BLOCK_RETURNED)
			request.answers = me->granted;
	}
	/* If it cannot be left in time, it stays spent. */
	if (has_something(me, who) && slot_post(s, &request, false) < 0)
	{
		lossy = true;
		board_leave_unserved(s, &request);
	}
	memset(me, 0, sizeof(Session));
	return true;
}

/* ---------- returns in the worker's memory: worker/returns.c ---------- */

/* returns_keep(), find_place() */
static bool
returns_keep(State *s, const Slot *slot)
{
	int account = account_of(slot->request.role);
	int same = 0;
	int place = -1;

	for (int i = 0; i < KEPT; i++)
	{
		if (s->kept[i].state == SLOT_FREE)
			place = i;
		else
			same += account_of(s->kept[i].request.role) == account;
	}
	if (place < 0 || same >= KEPT_RELATION)
		return false;
	slot_set_free(&s->kept[place]);
	s->kept[place].request = slot->request;
	s->kept[place].state = SLOT_PENDING;
	return true;
}

/* returns_give_up(), returns_list_orphans(): an orphan, which nobody takes back */
static void
returns_give_up(State *s, const Request *request)
{
	if (request->kind == REQUEST_SETTLE)
		s->tables.listed[request->lease] = s->tables.owner[request->lease] = 0;
	lossy = true;
}

/* ---------- the ledger's process: worker/worker.c, serve.c, debit.c ---------- */

/* queue.c queue_enlist(); queue.c queue_ensure_process() has started it */
bool
worker_starts(State *s)
{
	if (s->worker != GONE)
		return false;
	s->worker = READY;
	return true;
}

/* serve.c serve_take(), is_untaken_grant(), returns.c returns_due() */
bool
worker_takes(State *s, bool all)
{
	int n = 0;

	if (s->worker != READY)
		return false;
	for (int i = 0; i < setting.slots; i++)
	{
		Slot *slot = &s->slots[i];

		if (slot->state != SLOT_PENDING)
			continue;
		n++;
		if (slot->request.kind == REQUEST_GIVE_BACK && slot->request.fresh &&
			slot->request.answers == 1 && returns_keep(s, slot))
			slot_set_free(slot);
		else
			slot->state = SLOT_TAKEN;
	}
	for (int i = 0; i < KEPT && all; i++)
		if (s->kept[i].state == SLOT_PENDING)
		{
			s->kept[i].state = SLOT_TAKEN;
			n++;
		}
	s->worker = n > 0 ? TOOK : READY;
	return n > 0;
}

static bool
lease_is_known(const State *s, int lease)
{
	bool known = s->tables.listed[lease] > 0 || s->durable.listed[lease] > 0;

	for (int i = 0; i < SLOTS_MAX; i++)
		known |= s->slots[i].request.lease == lease || s->slots[i].lease == lease;
	for (int i = 0; i < KEPT; i++)
		known |= s->kept[i].request.lease == lease;
	for (int i = 0; i < SESSIONS; i++)
		known |= s->sessions[i].lease == lease;
	return known;
}

/* A number that nothing refers to any more is as good as one that was never used. */
static int
new_lease(const State *s)
{
	int lease = 1;

	while (lease < LEASES - 1 && lease_is_known(s, lease))
		lease++;
	return lease;
}

/* debit.c hand_on(), returns.c returns_find_grant(), returns_settle() */
static bool
hand_on(State *s, Slot *slot)
{
	for (int i = 0; i < KEPT && slot->request.lease == 0; i++)
	{
		Slot *kept = &s->kept[i];

		if (kept->state != SLOT_PENDING || !kept->request.fresh ||
			kept->request.role != slot->request.role)
			continue;
		slot->granted = kept->request.answers;
		slot->lease = kept->request.lease;
		if (mistake != HANDED_ON_TWICE)
			slot_set_free(kept);
		return true;
	}
	return false;
}

/* debit.c grant_block(), list_block(); payer.c payer_choose(), payer_refuses() */
static Outcome
grant_block(State *s, Slot *slot)
{
	Tables *t = &s->tables;
	int		account = account_of(slot->request.role);
	int		left = setting.limit[account] - t->spent[account];

	if (account == 0 && t->revoked)
		return OUTCOME_REFUSED;
	if (hand_on(s, slot))
		return OUTCOME_GRANTED;
	if (left <= 0)
		return OUTCOME_REFUSED;
	/* LEASE_SHARE is left out: with small budgets no block would have two answers. */
	slot->granted = slot->request.want < left ? slot->request.want : left;
	if (mistake == ALL_AT_ONCE)
		slot->granted = left;
	t->spent[account] += slot->granted;
	slot->lease = slot->request.lease != 0 ? slot->request.lease : new_lease(s);
	t->listed[slot->lease] = slot->granted > 1 ? slot->granted : 0;
	t->owner[slot->lease] = slot->granted > 1 ? account : 0;
	return OUTCOME_GRANTED;
}

/* debit.c take_back(), unlist_block() */
static Outcome
take_back(State *s, Slot *slot)
{
	Tables	*t = &s->tables;
	Request *request = &slot->request;
	int		 account = account_of(request->role);
	int		 listed = t->listed[request->lease] > 0 ? t->listed[request->lease] : -1;

	t->listed[request->lease] = t->owner[request->lease] = 0;
	if (request->kind == REQUEST_SETTLE && mistake != SETTLE_UNCHECKED && listed < request->answers)
		return OUTCOME_GRANTED;
	if (t->spent[account] < request->answers)
		return OUTCOME_GRANTED;
	t->spent[account] -= request->answers;
	request->put_back = true;
	return OUTCOME_GRANTED;
}

/* stream_book.c count_failure(), stream_run.c stream_run_next() */
static void
count_failure(Tables *t)
{
	t->failed++;
	if (t->failed >= setting.unstable)
		t->closed = true;
}

/* stream_book.c stream_book_serve(), catch_up(), grant_answers(), return_answers(), fill_reply() */
static Outcome
serve_stream(State *s, Slot *slot)
{
	Tables *t = &s->tables;
	Outcome outcome = OUTCOME_GRANTED;
	bool	crashed = t->stale && t->holders > 0;

	if (crashed)
		t->holders = t->stale = 0;
	if (slot->request.kind == REQUEST_STREAM_LEAVE && mistake == LEAVER_FORGETS)
		;
	else if (t->closed)
		;
	else if (crashed && mistake != THRESHOLD_KEPT)
		count_failure(t);
	else if (s->board && s->board_state == BOARD_FAILED && s->board_run == t->failed)
		count_failure(t);
	else if (mistake == MARK_LATE && slot->request.kind == REQUEST_STREAM_FAILED)
		count_failure(t);

	if (slot->request.kind == REQUEST_STREAM_TAKE && (t->closed || t->revoked))
		outcome = OUTCOME_REFUSED;
	else if (slot->request.kind == REQUEST_STREAM_TAKE)
	{
		slot->granted = 1;
		t->holders += mistake != USE_NOT_WRITTEN && t->holders < MANY;
	}
	else if (slot->request.kind == REQUEST_STREAM_LEAVE && t->holders > 0 && t->holders < MANY)
		t->holders--;
	slot->run = t->failed;
	slot->over = t->closed;
	return outcome;
}

/* debit.c serve(), book.c book_account(), gate.c gate_pass(): never waits for a lock */
static void
serve(State *s, Slot *slot)
{
	slot->granted = slot->lease = 0;
	if (account_is_locked(s, account_of(slot->request.role)))
		slot->outcome = OUTCOME_LOCKED;
	else if (slot->request.kind == REQUEST_LEASE)
		slot->outcome = grant_block(s, slot);
	else if (slot->request.kind == REQUEST_SETTLE || slot->request.kind == REQUEST_GIVE_BACK)
		slot->outcome = take_back(s, slot);
	else
		slot->outcome = serve_stream(s, slot);
}

/* serve.c serve_batch(), commit_batch(); debit.c debit_batch(), serve_all() */
bool
worker_serves(State *s, bool backwards)
{
	if (s->worker != TOOK)
		return false;
	for (int replies = 0; replies < 2; replies++) /* serve.c by_urgency() */
	{
		for (int i = 0; i < KEPT && !replies; i++)
			if (s->kept[i].state == SLOT_TAKEN)
				serve(s, &s->kept[i]);
		for (int i = 0; i < setting.slots; i++)
		{
			Slot *slot = &s->slots[backwards ? setting.slots - 1 - i : i];

			if (slot->wants_reply != replies)
				continue;
			if (slot->state == SLOT_ABANDONED)
				slot->outcome = OUTCOME_FAILED;
			else if (slot->state == SLOT_TAKEN)
				serve(s, slot);
		}
	}
	if (mistake != NOT_FLUSHED)
		s->durable = s->tables;
	s->worker = COMMITTED;
	return true;
}

/* worker/board.c board_publish(), take_board(); board.c board_put_up() */
static void
board_publish(State *s, const Slot *slot)
{
	bool takes = slot->request.kind == REQUEST_STREAM_TAKE && slot->granted > 0;

	if (!uses_stream(slot->request.role) || slot->outcome == OUTCOME_FAILED)
		return;
	if (!s->board)
	{
		if (!takes)
			return;
		s->board = true;
		s->board_users = 0;
		s->board_state = BOARD_OPEN;
		s->board_run = slot->run;
	}
	if (slot->over)
		s->board_state = BOARD_OVER;
	else if (slot->run > s->board_run)
	{
		s->board_run = slot->run;
		s->board_state = BOARD_OPEN;
	}
	s->board_users += takes;
	if (slot->request.leaves)
		board_lose_user(s);
}

/* serve.c try_later() */
static void
try_later(State *s, Slot *slot, bool kept)
{
	if (kept || mistake == RETURNS_STAY || mistake == RETURNS_STAY_NO_QUOTA)
	{
		slot->outcome = 0;
		slot->state = SLOT_PENDING;
		return;
	}
	if (!returns_keep(s, slot))
	{
		returns_give_up(s, &slot->request);
		board_leave_unserved(s, &slot->request);
	}
	slot_set_free(slot);
}

static void
publish_slot(State *s, Slot *slot, bool kept)
{
	if (slot->state != SLOT_TAKEN && slot->state != SLOT_ABANDONED)
		return;
	if (slot->outcome != OUTCOME_LOCKED)
		board_publish(s, slot);
	if (slot->outcome == OUTCOME_LOCKED && !slot->wants_reply)
		try_later(s, slot, kept);
	else if (slot->outcome == OUTCOME_LOCKED && mistake == WAITS_IN_SLOT &&
			 slot->state == SLOT_TAKEN)
		slot->state = SLOT_PENDING;
	else if (slot->state == SLOT_TAKEN && slot->wants_reply)
	{
		slot->state = SLOT_DONE;
		slot->run = slot->over = slot->request.want = 0; /* of no more use */
	}
	else if (slot->wants_reply && slot->outcome == OUTCOME_GRANTED && slot->granted > 0)
		slot_give_back(slot);
	else
		slot_set_free(slot);
}

/* serve.c publish(), returns.c returns_end_batch() */
bool
worker_publishes(State *s)
{
	if (s->worker != COMMITTED)
		return false;
	for (int i = 0; i < KEPT; i++)
		publish_slot(s, &s->kept[i], true);
	for (int i = 0; i < setting.slots; i++)
		publish_slot(s, &s->slots[i], false);
	s->worker = READY;
	return true;
}

/* worker.c delist(); returns.c returns_leave() if it goes in peace, returns_are_lost() */
bool
worker_dies(State *s)
{
	if (s->worker == GONE || s->deaths >= setting.deaths)
		return false;
	s->deaths++;
	lossy = true;
	for (int i = 0; i < setting.slots; i++)
	{
		Slot *slot = &s->slots[i];

		if (slot->state == SLOT_TAKEN && slot->wants_reply)
		{
			slot->outcome = OUTCOME_LOST;
			slot->granted = slot->lease = 0;
			slot->state = SLOT_DONE;
		}
		else if (slot->state == SLOT_TAKEN &&
				 (slot->request.kind == REQUEST_SETTLE || mistake == GIVE_BACK_REPEATED))
			slot->state = SLOT_PENDING;
		else if (slot->state == SLOT_TAKEN || slot->state == SLOT_ABANDONED)
		{
			board_leave_unserved(s, &slot->request);
			slot_set_free(slot);
		}
	}
	for (int i = 0; i < KEPT; i++)
	{
		const Request *request = &s->kept[i].request;
		bool		   leaves = s->kept[i].state == SLOT_PENDING && s->worker == READY &&
					  request->kind != REQUEST_SETTLE;

		if (s->kept[i].state != SLOT_FREE && (!leaves || slot_post(s, request, false) < 0))
		{
			returns_give_up(s, request);
			board_leave_unserved(s, request);
		}
		slot_set_free(&s->kept[i]);
	}
	s->worker = GONE;
	return true;
}

/* ---------- the owner: grants.c ledger_revoke(), ledger.c on commit ---------- */

bool
owner_locks(State *s)
{
	if (s->owner != AWAY || s->revokes >= setting.revokes)
		return false;
	s->owner = LOCKS;
	return true;
}

bool
owner_rolls_back(State *s)
{
	if (s->owner != LOCKS)
		return false;
	s->owner = AWAY;
	return true;
}

bool
owner_revokes(State *s)
{
	if (s->owner != LOCKS)
		return false;
	s->tables.revoked = true;
	s->durable = s->tables;
	s->revokes++;
	s->owner = REVOKED;
	return true;
}

/* ledger.c, XACT_EVENT_COMMIT: after others can see it, before the owner hears of it */
bool
owner_finishes(State *s)
{
	if (s->owner != REVOKED)
		return false;
	s->epoch += mistake != EPOCH_NOT_RAISED;
	s->owner = AWAY;
	s->revocation_over = true;
	return true;
}

/* ---------- fate ---------- */

/* The WAL writer; only a product that does not flush depends on it. */
bool
log_flushes(State *s)
{
	if (memcmp(&s->durable, &s->tables, sizeof(Tables)) == 0)
		return false;
	s->durable = s->tables;
	return true;
}

/* A call site loses at most what it had used, or one. */
static void
check_loss(const State *s, const Session *me)
{
	int loss = me->unused;

	if (me->state == WAITS && s->slots[me->slot].state != SLOT_PENDING)
		loss += s->slots[me->slot].granted;
	if (loss > (me->used > 1 ? me->used : 1))
		violated |= CRASH_OVERCHARGES;
}

/* Processes and shared memory go; debit.c note_orphans(), stream_book.c catch_up() come after. */
bool
server_crashes(State *s)
{
	Tables *t = &s->tables;

	if (s->crashes >= setting.crashes)
		return false;
	for (int i = 0; i < SESSIONS; i++)
		check_loss(s, &s->sessions[i]);
	lossy = true;
	s->crashes++;
	*t = s->durable;
	for (int i = 0; i < LEASES; i++)
	{
		if (mistake == ORPHANS_REFUNDED && t->spent[t->owner[i]] >= t->listed[i])
			t->spent[t->owner[i]] -= t->listed[i];
		t->listed[i] = t->owner[i] = 0;
	}
	t->stale = t->holders > 0;
	s->durable = *t;
	memset(s->slots, 0, sizeof(s->slots));
	memset(s->kept, 0, sizeof(s->kept));
	memset(s->sessions, 0, sizeof(s->sessions));
	s->worker = GONE;
	s->owner = AWAY;
	s->epoch = 0;
	s->board = s->board_users = s->board_state = s->board_run = 0;
	return true;
}
