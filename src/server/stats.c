/*
 * stats.c
 *		Counts of answers, in shared memory.
 *
 * Small enough for the slack that every server keeps.  Who finds no room is
 * counted together with all others who did not.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "utils/timestamp.h"

#include "server/slack.h"
#include "server/stats.h"

#define STATS_MAGIC 0x50505331 /* "PPS1": change with the layout */
#define STAT_ENTRIES 128
#define OTHERS STAT_ENTRIES /* the entry of those without room */

typedef struct StatEntry
{
	Oid				 database; /* InvalidOid: free */
	StatKey			 key;	   /* both under the lock */
	pg_atomic_uint64 counts[STAT_COUNTERS];
} StatEntry;

typedef struct StatShared
{
	SlackHeader header;
	TimestampTz since;
	StatEntry	entries[STAT_ENTRIES + 1];
} StatShared;

StaticAssertDecl(sizeof(StatShared) <= 16384, "counts must fit into the server's slack");

static StatShared *Shared = NULL;

/* ---------- shared memory ---------- */

/* The caller holds the lock, or is the first. */
static void
clear(StatShared *shared)
{
	for (int i = 0; i <= STAT_ENTRIES; i++)
	{
		shared->entries[i].database = InvalidOid;
		for (int c = 0; c < STAT_COUNTERS; c++)
			pg_atomic_write_u64(&shared->entries[i].counts[c], 0);
	}
	shared->since = GetCurrentTimestamp();
}

static void
initialise(void *block)
{
	StatShared *shared = block;

	for (int i = 0; i <= STAT_ENTRIES; i++)
		for (int c = 0; c < STAT_COUNTERS; c++)
			pg_atomic_init_u64(&shared->entries[i].counts[c], 0);
	clear(shared);
}

/* NULL: the block in shared memory is not this version's. */
static StatShared *
stats_shared(void)
{
	if (unlikely(Shared == NULL))
		Shared = slack_attach("privpred stat", sizeof(StatShared), STATS_MAGIC, "privpred_stat",
							  initialise);
	return Shared;
}

/* ---------- counting ---------- */

static void
site_reset(void *arg)
{
	stats_flush((StatSite *) arg);
}

StatSite *
stats_open(MemoryContext context, const StatKey *key)
{
	StatSite *site = MemoryContextAllocZero(context, sizeof(StatSite));

	/* Shared memory is attached now, because nothing may fail later. */
	(void) stats_shared();
	site->key = *key;
	site->at_reset.func = site_reset;
	site->at_reset.arg = site;
	MemoryContextRegisterResetCallback(context, &site->at_reset);
	return site;
}

static bool
is_about(const StatEntry *entry, const StatKey *key)
{
	return entry->database == MyDatabaseId && entry->key.role == key->role &&
		   entry->key.model_id == key->model_id;
}

/*
 * The entry of a key, or the free one in which it belongs, or that of the others.
 * The caller holds the lock.  Entries are only ever freed all together.
 */
static StatEntry *
find_entry(StatShared *shared, const StatKey *key)
{
	uint32 hash =
		hash_combine(hash_combine(MyDatabaseId, key->role), murmurhash32((uint32) key->model_id));

	for (int i = 0; i < STAT_ENTRIES; i++)
	{
		StatEntry *entry = &shared->entries[(hash + i) % STAT_ENTRIES];

		if (!OidIsValid(entry->database) || is_about(entry, key))
			return entry;
	}
	return &shared->entries[OTHERS];
}

static void
occupy(StatShared *shared, const StatKey *key)
{
	StatEntry *entry;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	entry = find_entry(shared, key);
	if (!OidIsValid(entry->database))
	{
		entry->database = MyDatabaseId;
		entry->key = *key;
	}
	LWLockRelease(&shared->header.lock);
}

void
stats_flush(StatSite *site)
{
	StatShared *shared = Shared;
	StatEntry  *entry;
	int64		pending = 0;

	for (int c = 0; c < STAT_COUNTERS; c++)
		pending |= site->counts[c];
	if (shared == NULL || pending == 0)
		return;
	for (;;)
	{
		LWLockAcquire(&shared->header.lock, LW_SHARED);
		entry = find_entry(shared, &site->key);
		if (OidIsValid(entry->database) || entry == &shared->entries[OTHERS])
			break;
		/* The entry may be gone again by the time that we look. */
		LWLockRelease(&shared->header.lock);
		occupy(shared, &site->key);
	}
	for (int c = 0; c < STAT_COUNTERS; c++)
	{
		if (site->counts[c] != 0)
			pg_atomic_fetch_add_u64(&entry->counts[c], site->counts[c]);
		site->counts[c] = 0;
	}
	LWLockRelease(&shared->header.lock);
}

void
stats_set_role(StatSite *site, Oid role)
{
	if (likely(site->key.role == role))
		return;
	stats_flush(site);
	site->key.role = role;
}

/* ---------- listing ---------- */

static bool
copy_counts(StatEntry *entry, StatRow *row)
{
	int64 any = 0;

	row->since = Shared->since;
	for (int c = 0; c < STAT_COUNTERS; c++)
		any |= row->counts[c] = (int64) pg_atomic_read_u64(&entry->counts[c]);
	return any != 0;
}

StatRow *
stats_list(int *nrows)
{
	StatShared *shared = stats_shared();
	StatRow	   *rows = palloc0_array(StatRow, STAT_ENTRIES + 1);

	*nrows = 0;
	if (shared == NULL)
		return rows;
	LWLockAcquire(&shared->header.lock, LW_SHARED);
	for (int i = 0; i < STAT_ENTRIES; i++)
		if (shared->entries[i].database == MyDatabaseId)
		{
			rows[*nrows].key = shared->entries[i].key;
			(void) copy_counts(&shared->entries[i], &rows[(*nrows)++]);
		}
	/* The others are those of all databases together. */
	if (copy_counts(&shared->entries[OTHERS], &rows[*nrows]))
		(*nrows)++;
	LWLockRelease(&shared->header.lock);
	return rows;
}

void
stats_reset(void)
{
	StatShared *shared = stats_shared();

	if (shared == NULL)
		return;
	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	clear(shared);
	LWLockRelease(&shared->header.lock);
}
