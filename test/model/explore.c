/*
 * explore.c
 *		All states that the protocol can reach, breadth first; what must hold in each;
 *		and mistakes that must be found.
 *
 * usage: model [short | full | trace MISTAKE]
 *
 * Prints TAP.  Of a state that was seen, 128 bits of a hash are kept, and where it came
 * from; the way to a state is found by going it again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

/* ---------- steps ---------- */

#define OF_SESSION 6

static const char *const step_names[] = {"posts a request",
										 "takes the reply",
										 "gives up",
										 "answers",
										 "leaves",
										 "passes a test",
										 "worker starts",
										 "worker takes a batch",
										 "worker takes all",
										 "worker commits",
										 "worker commits, last first",
										 "worker publishes",
										 "worker dies",
										 "owner locks",
										 "owner rolls back",
										 "owner revokes",
										 "owner's call ends",
										 "the log is flushed",
										 "crash"};

#define STEPS (SESSIONS * OF_SESSION + (int) (sizeof(step_names) / sizeof(char *)) - OF_SESSION)

static bool
session_step(State *s, int who, int which)
{
	switch (which)
	{
		case 0:
			return session_posts(s, who);
		case 1:
			return session_takes_reply(s, who);
		case 2:
			return session_gives_up(s, who);
		case 3:
			return session_answers(s, who, false);
		case 4:
			return session_leaves(s, who);
		default:
			return uses_stream(who) && session_answers(s, who, true);
	}
}

static bool
step(State *s, int which)
{
	violated = 0;
	lossy = false;
	if (which < SESSIONS * OF_SESSION)
		return (which / OF_SESSION < 2 || setting.stranger) &&
			   session_step(s, which / OF_SESSION, which % OF_SESSION);
	switch (which - SESSIONS * OF_SESSION)
	{
		case 0:
			return worker_starts(s);
		case 1:
			return worker_takes(s, false);
		case 2:
			return worker_takes(s, true);
		case 3:
			return worker_serves(s, false);
		case 4:
			return worker_serves(s, true);
		case 5:
			return worker_publishes(s);
		case 6:
			return worker_dies(s);
		case 7:
			return owner_locks(s);
		case 8:
			return owner_rolls_back(s);
		case 9:
			return owner_revokes(s);
		case 10:
			return owner_finishes(s);
		case 11:
			return log_flushes(s);
		default:
			return server_crashes(s);
	}
}

static void
print_step(int number, int which)
{
	if (which < SESSIONS * OF_SESSION)
		printf("#   %2d. session %d %s\n", number, which / OF_SESSION,
			   step_names[which % OF_SESSION]);
	else
		printf("#   %2d. %s\n", number, step_names[which - (SESSIONS - 1) * OF_SESSION]);
}

/* ---------- what must hold ---------- */

/* What was paid for, was not answered, and may still be answered or come back. */
static int
is_out(const State *s, int account)
{
	int out = 0;

	for (int i = 0; i < SESSIONS; i++)
		out += account_of(i) == account ? s->sessions[i].unused : 0;
	for (int i = 0; i < SLOTS_MAX + KEPT; i++)
	{
		const Slot *slot = i < SLOTS_MAX ? &s->slots[i] : &s->kept[i - SLOTS_MAX];

		if (slot->state == SLOT_FREE || account_of(slot->request.role) != account)
			continue;
		if (slot->request.kind == REQUEST_LEASE)
			out += slot->granted;
		else if (!slot->request.put_back)
			out += slot->request.answers;
	}
	return out;
}

/* What was paid for and will never be answered: a crash may add to it, nothing takes from it. */
static int
is_lost(const State *s, int account)
{
	return s->tables.spent[account] - s->answered[account] - is_out(s, account);
}

/*
 * The owner of account 0 keeps its lock, and its sessions take every place that they may
 * have: does session 2 get its reply?  Everybody else does what is to be done, in turn.
 */
static bool
stranger_is_served(const State *from)
{
	State s = *from;

	for (int round = 0; round < 12; round++)
	{
		bool paused[SESSIONS] = {false};

		for (int i = 0; i < 2; i++)
			paused[i] = session_takes_reply(&s, i);
		if (s.sessions[2].state != WAITS)
			(void) session_posts(&s, 2);
		else if (s.slots[s.sessions[2].slot].state == SLOT_DONE)
			return s.slots[s.sessions[2].slot].outcome != OUTCOME_LOCKED;
		(void) (worker_starts(&s) || worker_takes(&s, true) || worker_serves(&s, false) ||
				worker_publishes(&s));
		for (int i = 0; i < 2; i++)
			if (!paused[i])
				(void) session_posts(&s, i);
	}
	return false;
}

static void
check_tenants(const State *s)
{
	unsigned before = violated;
	int		 wants = s->sessions[2].state;

	for (int role = 0; role < SESSIONS; role++)
		if (slots_of_role(s, role) > (setting.slots + 1) / 2)
			violated |= SLOTS_ARE_SHARED;
	if (s->owner == LOCKS && (wants == IDLE || wants == WANTS || wants == WAITS) &&
		!stranger_is_served(s))
		before |= NO_TENANT_WAITS;
	violated |= before;
}

/* Those who use the stream's board, or have to say that they do so no more. */
static int
users_of_board(const State *s)
{
	int users = 0;

	for (int i = 0; i < SESSIONS; i++)
		users += uses_stream(i) && s->sessions[i].granted > 0;
	for (int i = 0; i < setting.slots; i++)
	{
		const Slot *slot = &s->slots[i];
		bool		granted = slot->state == SLOT_DONE && slot->granted > 0;

		users += slot->request.leaves;
		users += granted && slot->request.kind == REQUEST_STREAM_TAKE;
	}
	for (int i = 0; i < KEPT; i++)
		users += s->kept[i].request.leaves;
	return users;
}

static void
check(const State *before, const State *after, unsigned wanted)
{
	for (int i = 0; i < ACCOUNTS; i++)
	{
		int lost = is_lost(after, i) - is_lost(before, i);

		if (after->answered[i] > setting.limit[i] || after->tables.spent[i] > setting.limit[i])
			violated |= NEVER_OVERSPENT;
		if (after->answered[i] > after->durable.spent[i])
			violated |= DEBIT_IS_DURABLE;
		if (lost < 0)
			violated |= CRASH_OVERCHARGES;
		if (lost != 0 && !lossy)
			violated |= NOTHING_VANISHES;
	}
	if (setting.streams && after->failures > setting.unstable)
		violated |= NEVER_OVERSPENT;
	if (setting.streams && after->board_users != users_of_board(after))
		violated |= BOARDS_ARE_FREED;
	if (wanted & (NO_TENANT_WAITS | SLOTS_ARE_SHARED))
		check_tenants(after);
}

/* ---------- the search ---------- */

typedef struct Seen
{
	uint64_t hash[2];
	uint32_t from;
	uint8_t	 step;
} Seen;

#define MOST_STATES (1u << 24)

static Seen		*seen;
static uint32_t	 nseen;
static uint32_t *table; /* 1 + index in seen */
static uint32_t	 table_size;
static State	*frontier[2];
static uint32_t	 nfrontier[2];
static uint32_t	 frontier_size[2];
static uint32_t *frontier_index[2];

static void *
resize(void *old, size_t size)
{
	void *new = realloc(old, size);

	if (new == NULL)
	{
		printf("Bail out! out of memory\n");
		exit(2);
	}
	return new;
}

static void
hash_state(const State *s, uint64_t hash[2])
{
	uint64_t words[sizeof(State) / 8 + 1] = {0};

	memcpy(words, s, sizeof(State));
	hash[0] = UINT64_C(0x9E3779B97F4A7C15);
	hash[1] = UINT64_C(0xC2B2AE3D27D4EB4F);
	for (size_t i = 0; i < sizeof(words) / 8; i++)
	{
		hash[0] = (hash[0] ^ words[i]) * UINT64_C(0x9FB21C651E98DF25);
		hash[0] ^= hash[0] >> 31;
		hash[1] = (hash[1] + words[i] + 1) * UINT64_C(0xD6E8FEB86659FD93);
		hash[1] ^= hash[1] >> 32;
	}
}

static uint32_t *
find(const uint64_t hash[2])
{
	uint32_t place = hash[0] & (table_size - 1);

	while (table[place] != 0 && memcmp(seen[table[place] - 1].hash, hash, 16) != 0)
		place = (place + 1) & (table_size - 1);
	return &table[place];
}

static void
grow_table(void)
{
	table_size *= 2;
	table = resize(table, table_size * sizeof(uint32_t));
	memset(table, 0, table_size * sizeof(uint32_t));
	seen = resize(seen, (table_size / 2) * sizeof(Seen));
	for (uint32_t i = 0; i < nseen; i++)
		*find(seen[i].hash) = i + 1;
}

/* Notes a state unless it was seen, and puts it into the next frontier. */
static void
reach(const State *s, uint32_t from, int which, int next)
{
	uint64_t  hash[2];
	uint32_t *place;
	uint32_t  n = nfrontier[next];

	hash_state(s, hash);
	if (nseen >= table_size / 2)
		grow_table();
	place = find(hash);
	if (*place != 0)
		return;
	seen[nseen] = (Seen){{hash[0], hash[1]}, from, which};
	*place = ++nseen;
	if (n == frontier_size[next])
	{
		frontier_size[next] = n < 1024 ? 1024 : 2 * n;
		frontier[next] = resize(frontier[next], frontier_size[next] * sizeof(State));
		frontier_index[next] = resize(frontier_index[next], frontier_size[next] * sizeof(uint32_t));
	}
	frontier[next][n] = *s;
	frontier_index[next][n] = nseen - 1;
	nfrontier[next]++;
}

static int
print_way(uint32_t to, int last, bool print)
{
	int number = to == 0 ? 0 : print_way(seen[to].from, seen[to].step, print);

	if (print)
		print_step(number + 1, last);
	return number + 1;
}

static State
first_state(void)
{
	State s = {0};

	for (int i = 0; i < 2 && setting.begun; i++)
	{
		s.sessions[i] = (Session){.state = HOLDS, .granted = 1, .unused = 1, .used = 1};
		s.sessions[i].lease = 1 + i;
		s.tables.spent[0] += 2;
		s.answered[0]++;
	}
	s.durable = s.tables;
	return s;
}

/* The length of the shortest way to a violation; 0: there is none, -1: too many states. */
static int
explore(unsigned wanted, bool print)
{
	State state = first_state();
	int	  now = 0;

	nseen = 0;
	table_size = 1u << 15;
	grow_table();
	nfrontier[0] = nfrontier[1] = 0;
	reach(&state, 0, 0, now);
	for (; nfrontier[now] > 0; now = 1 - now)
	{
		nfrontier[1 - now] = 0;
		for (uint32_t i = 0; i < nfrontier[now]; i++)
			for (int which = 0; which < STEPS; which++)
			{
				State *from = &frontier[now][i];

				state = *from;
				if (!step(&state, which))
					continue;
				check(from, &state, wanted);
				if (violated & wanted)
					return print_way(frontier_index[now][i], which, print);
				reach(&state, frontier_index[now][i], which, 1 - now);
			}
		if (nseen > MOST_STATES)
			return -1;
	}
	return 0;
}

/* ---------- what is run ---------- */

/* name, streams, stranger, begun, slots, limits, unstable, crashes, deaths, revokes */
static const Setting settings[] = {
	{"leases, crash", false, false, false, 2, {4, 1}, 0, 1, 0, 0},
	{"leases, process dies", false, false, false, 2, {4, 1}, 0, 0, 1, 0},
	{"leases, lock and revocation", false, false, false, 2, {2, 1}, 0, 0, 0, 1},
	{"leases, half way", false, false, true, 2, {4, 1}, 0, 0, 0, 1},
	{"streams, crash", true, false, false, 2, {0, 1}, 2, 1, 0, 0},
	{"streams, lock and revocation", true, false, false, 2, {0, 1}, 1, 0, 0, 1},
};

static const Setting full_settings[] = {
	{"leases, all", false, false, false, 2, {3, 1}, 0, 1, 1, 1},
	{"leases, three slots", false, false, false, 3, {4, 1}, 0, 1, 1, 0},
	{"streams, three slots", true, false, false, 3, {0, 1}, 2, 1, 1, 0},
	{"leases, a stranger", false, true, false, 2, {1, 1}, 0, 0, 0, 1},
};

typedef struct Seeded
{
	Mistake		mistake;
	const char *name;
	unsigned	property;
	int			setting; /* of settings above */
} Seeded;

static const Seeded seeded[] = {
	{RECEIPT_REUSED, "receipt_reused", NEVER_OVERSPENT, 0},
	{GIVE_BACK_REPEATED, "give_back_repeated", NEVER_OVERSPENT, 1},
	{SETTLE_UNCHECKED, "settle_unchecked", NEVER_OVERSPENT, 1},
	{WHOLE_BLOCK_RETURNED, "whole_block_returned", NEVER_OVERSPENT, 0},
	{HANDED_ON_TWICE, "handed_on_twice", NEVER_OVERSPENT, 0},
	{NOT_FLUSHED, "not_flushed", DEBIT_IS_DURABLE, 0},
	{NOT_FLUSHED, "failure_not_flushed", DEBIT_IS_DURABLE, 4},
	{DRAW_FIRST, "debit_after_draw", DEBIT_IS_DURABLE, 0},
	{ORPHANS_REFUNDED, "orphans_refunded", CRASH_OVERCHARGES, 0},
	{ALL_AT_ONCE, "all_at_once", CRASH_OVERCHARGES, 0},
	{EPOCH_READ_LATE, "epoch_read_late", REVOKED_IS_OVER, 2},
	{EPOCH_NOT_RAISED, "epoch_not_raised", REVOKED_IS_OVER, 2},
	{THRESHOLD_KEPT, "threshold_kept", FAILED_IS_GONE, 4},
	{MARK_LATE, "mark_late", FAILED_IS_GONE, 4},
	{LEAVER_FORGETS, "leaver_forgets", FAILED_IS_GONE, 4},
	{USE_NOT_WRITTEN, "use_not_written", FAILED_IS_GONE, 4},
	{RETURNS_STAY, "returns_stay_in_slots", NO_TENANT_WAITS, 3},
	{RETURNS_STAY_NO_QUOTA, "before_issue_14", NO_TENANT_WAITS, 3},
	{NO_QUOTA, "no_quota", SLOTS_ARE_SHARED, 3},
	{WAITS_IN_SLOT, "waits_in_slot", NO_TENANT_WAITS, 3},
	{LOST_LEAVE, "lost_leave_keeps_board", BOARDS_ARE_FREED, 4},
};

static const char *const property_names[] = {"never overspent",
											 "the debit is durable before the answer",
											 "a crash only overcharges",
											 "a failed threshold never returns",
											 "no tenant waits for another's lock",
											 "nothing is answered after a revocation",
											 "nothing vanishes",
											 "no role takes all slots",
											 "a board is freed by its last user"};

static int ntests;
static int nfailed;

static void
ok(bool good, const char *name, const char *what)
{
	printf("%sok %d - %s: %s\n", good ? "" : "not ", ++ntests, name, what);
	fflush(stdout);
	nfailed += !good;
}

static void
run_right(const Setting *which)
{
	char what[80];
	int	 length;

	setting = *which;
	mistake = NONE;
	length = explore(~0u, true);
	snprintf(what, sizeof(what), "%s%u states%s", length < 0 ? "given up after " : "", nseen,
			 length == 0 ? ", all properties hold" : "");
	ok(length == 0, setting.name, what);
	for (unsigned i = 0; length > 0 && i < 8; i++)
		if (violated & 1u << i)
			printf("# violated: %s\n", property_names[i]);
}

static void
run_seeded(const Seeded *which, bool print)
{
	char what[120];
	int	 length;
	int	 bit = __builtin_ctz(which->property);

	setting = settings[which->setting];
	mistake = which->mistake;
	length = explore(which->property, print);
	snprintf(what, sizeof(what), "violates \"%s\" in %d steps", property_names[bit], length);
	ok(length > 0, which->name, what);
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "short";

	for (unsigned i = 0; i < sizeof(settings) / sizeof(Setting) && strcmp(how, "trace") != 0; i++)
		run_right(&settings[i]);
	for (unsigned i = 0; i < sizeof(full_settings) / sizeof(Setting) && strcmp(how, "full") == 0;
		 i++)
		run_right(&full_settings[i]);
	for (unsigned i = 0; i < sizeof(seeded) / sizeof(Seeded); i++)
		if (strcmp(how, "trace") != 0 || (argc > 2 && strcmp(argv[2], seeded[i].name) == 0))
			run_seeded(&seeded[i], strcmp(how, "trace") == 0);
	printf("1..%d\n", ntests);
	return nfailed > 0;
}
