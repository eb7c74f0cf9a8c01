/*
 * repeat.c
 *		What a session was told before.
 *
 * One memory per version of a model, in a ring: the oldest answer makes room
 * for the newest.  A hash table over the ring finds a question in well under
 * the time that it takes to count votes.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "request/repeat.h"

#define DEFAULT_REPEAT_KB 4096
#define MAX_REPEAT_KB (1024 * 1024)
#define MAX_MEMORIES 16
#define FIRST_CAPACITY 64
#define NOBODY (-1) /* end of a chain */

/* A revocation is noticed by the epoch, an expiry within this time. */
#define RIGHTS_MAX_AGE_US INT64CONST(1000000)

/* Apart from the entries: a search that fails, as most do, looks at nothing else. */
typedef struct RepeatLink
{
	uint32 hash;
	int32  next; /* in the chain of its bucket */
} RepeatLink;

typedef struct RepeatEntry
{
	Oid	   role;
	Wish   wish;
	Answer answer;
	double x[FLEXIBLE_ARRAY_MEMBER];
} RepeatEntry;

typedef struct RepeatMemory
{
	uint64		  serial; /* 0: unused */
	MemoryContext context;
	int64		  model_id;
	int64		  training_id; /* of the version */
	int			  width;
	Size		  entry_size;
	int			  maximum; /* entries */
	int			  capacity;
	int			  count;
	int			  oldest; /* once the ring is full */
	char		 *entries;
	RepeatLink	 *links;   /* of each entry */
	int32		 *buckets; /* as many as capacity, a power of two */

	/* who may ask, as last seen */
	Oid			role;
	uint64		epoch;
	TimestampTz good_until;
} RepeatMemory;

static int			repeat_memory_kb = DEFAULT_REPEAT_KB;
static RepeatMemory memories[MAX_MEMORIES];
static uint64		next_serial = 1;

static RepeatEntry *
entry_at(const RepeatMemory *memory, int position)
{
	return (RepeatEntry *) (memory->entries + position * memory->entry_size);
}

static RepeatMemory *
memory_of(const RepeatHandle *handle)
{
	if (handle->slot < 0 || memories[handle->slot].serial != handle->serial)
		return NULL;
	return &memories[handle->slot];
}

/* ---------- opening ---------- */

static void
forget(RepeatMemory *memory)
{
	if (memory->context != NULL)
		MemoryContextDelete(memory->context);
	memset(memory, 0, sizeof(RepeatMemory));
}

/* The slot of this model, whatever version it holds; else the one used longest ago. */
static int
choose_slot(const ModelRecord *model)
{
	int oldest = 0;

	for (int i = 0; i < MAX_MEMORIES; i++)
	{
		if (memories[i].serial != 0 && memories[i].model_id == model->model_id)
			return i;
		if (memories[i].serial < memories[oldest].serial)
			oldest = i;
	}
	return oldest;
}

RepeatHandle
repeat_open(const ModelRecord *model)
{
	RepeatHandle handle = {.slot = -1};
	Size entry_size = MAXALIGN(offsetof(RepeatEntry, x) + model->spec.width * sizeof(double));
	Size maximum =
		(Size) repeat_memory_kb * 1024 / (entry_size + sizeof(RepeatLink) + sizeof(int32));
	RepeatMemory *memory;

	/* Released models answer for nothing, and owners pay nothing. */
	if (maximum < 1 || model->mechanism->charge_kind == CHARGE_ONCE || model->mechanism->owner_only)
		return handle;
	handle.slot = choose_slot(model);
	memory = &memories[handle.slot];
	if (memory->serial == 0 || memory->model_id != model->model_id ||
		memory->training_id != model->training_id || memory->maximum != maximum)
	{
		forget(memory);
		memory->context =
			AllocSetContextCreate(CacheMemoryContext, "privpred repeats", ALLOCSET_DEFAULT_SIZES);
		memory->serial = next_serial++;
		memory->model_id = model->model_id;
		memory->training_id = model->training_id;
		memory->width = model->spec.width;
		memory->entry_size = entry_size;
		memory->maximum = maximum;
	}
	handle.serial = memory->serial;
	return handle;
}

/* ---------- the table ---------- */

static uint32
hash_question(const RepeatMemory *memory, Oid role, const Wish *wish, const double *x)
{
	uint64 seed = hash_combine64(role, wish->score);

	if (wish->precision != 0)
		seed = hash_bytes_extended((const unsigned char *) &wish->precision, sizeof(double), seed);
	return (uint32) hash_bytes_extended((const unsigned char *) x, memory->width * sizeof(double),
										seed);
}

static int32 *
bucket_of(const RepeatMemory *memory, uint32 hash)
{
	return &memory->buckets[hash & (memory->capacity - 1)];
}

static void
link_entry(RepeatMemory *memory, int position)
{
	RepeatLink *link = &memory->links[position];
	int32	   *bucket = bucket_of(memory, link->hash);

	link->next = *bucket;
	*bucket = position;
}

static void
unlink_entry(RepeatMemory *memory, int position)
{
	int32 *link = bucket_of(memory, memory->links[position].hash);

	while (*link != position)
		link = &memory->links[*link].next;
	*link = memory->links[position].next;
}

/* Doubles the room, up to the largest power of two within the maximum. */
static bool
grow(RepeatMemory *memory)
{
	int capacity = memory->capacity > 0 ? 2 * memory->capacity : FIRST_CAPACITY;

	if (memory->capacity == 0 && capacity > memory->maximum)
		capacity = pg_prevpower2_32(memory->maximum);
	if (capacity > memory->maximum)
		return false;
	if (memory->buckets == NULL)
	{
		memory->entries = MemoryContextAllocHuge(memory->context, capacity * memory->entry_size);
		memory->links = MemoryContextAllocHuge(memory->context, capacity * sizeof(RepeatLink));
		memory->buckets = MemoryContextAllocHuge(memory->context, capacity * sizeof(int32));
	}
	else
	{
		memory->entries = repalloc_huge(memory->entries, capacity * memory->entry_size);
		memory->links = repalloc_huge(memory->links, capacity * sizeof(RepeatLink));
		memory->buckets = repalloc_huge(memory->buckets, capacity * sizeof(int32));
	}
	memory->capacity = capacity;
	for (int i = 0; i < capacity; i++)
		memory->buckets[i] = NOBODY;
	for (int i = 0; i < memory->count; i++)
		link_entry(memory, i);
	return true;
}

static RepeatEntry *
find_entry(RepeatMemory *memory, uint32 hash, Oid role, const Wish *wish, const double *x)
{
	if (memory->count == 0)
		return NULL;
	for (int32 i = *bucket_of(memory, hash); i != NOBODY; i = memory->links[i].next)
	{
		RepeatEntry *entry = entry_at(memory, i);

		if (memory->links[i].hash == hash && entry->role == role &&
			entry->wish.score == wish->score && entry->wish.precision == wish->precision &&
			memcmp(entry->x, x, memory->width * sizeof(double)) == 0)
			return entry;
	}
	return NULL;
}

/* ---------- asking ---------- */

/* Whoever has lost the budget is refused, even what is known already. */
static bool
may_still_ask(RepeatMemory *memory, const LedgerPrice *price, Oid role)
{
	uint64 epoch = ledger_epoch();

	if (memory->role == role && memory->epoch == epoch && !ledger_time_has_come(memory->good_until))
		return true;
	if (!ledger_quote(price, role, 1).has_account)
		return false;
	memory->role = role;
	memory->epoch = epoch;
	memory->good_until = GetCurrentTimestamp() + RIGHTS_MAX_AGE_US;
	return true;
}

bool
repeat_find(RepeatHandle *handle, const LedgerPrice *price, const Wish *wish, const double *x,
			Answer *answer)
{
	RepeatMemory *memory = memory_of(handle);
	RepeatEntry	 *entry;
	Oid			  role;

	if (memory == NULL)
		return false;
	role = asking_role();
	handle->hash = hash_question(memory, role, wish, x);
	entry = find_entry(memory, handle->hash, role, wish, x);
	if (entry == NULL || !may_still_ask(memory, price, asking_role()))
		return false;
	*answer = entry->answer;
	return true;
}

void
repeat_remember(const RepeatHandle *handle, const Wish *wish, const double *x, const Answer *answer)
{
	RepeatMemory *memory = memory_of(handle);
	RepeatEntry	 *entry;
	int			  position;

	if (memory == NULL)
		return;
	if (memory->count < memory->capacity || grow(memory))
		position = memory->count++;
	else
	{
		position = memory->oldest;
		memory->oldest = (memory->oldest + 1) % memory->capacity;
		unlink_entry(memory, position);
	}
	entry = entry_at(memory, position);
	memory->links[position].hash = handle->hash;
	entry->role = asking_role();
	entry->wish = *wish;
	entry->answer = *answer;
	memcpy(entry->x, x, memory->width * sizeof(double));
	link_entry(memory, position);
}

void
repeat_init(void)
{
	DefineCustomIntVariable(
		"privpred.repeat_memory", "Memory for the answers of one model that a session has had.",
		"The same question again is answered from it, free of charge; 0 is none, so that each call is charged and drawn anew.",
		&repeat_memory_kb, DEFAULT_REPEAT_KB, 0, MAX_REPEAT_KB, PGC_USERSET, GUC_UNIT_KB, NULL,
		NULL, NULL);
}
