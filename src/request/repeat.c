/*
 * repeat.c
 *		What a session was told before.
 *
 * One memory per version of a model, in two hash tables.  New answers go to the
 * first; when that is full it becomes the second, whose answers are forgotten.
 * So the newest half at least is remembered, and nothing has to be unlinked.
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
#define SLOTS_PER_ENTRY 2 /* in a full table */
#define FREE_SLOT (-1)

/* A revocation is noticed by the epoch, an expiry within this time. */
#define RIGHTS_MAX_AGE_US INT64CONST(1000000)

/* Apart from the entries: a search that fails, as most do, looks at nothing else. */
typedef struct RepeatSlot
{
	uint32 hash;
	int32  entry; /* its number, or FREE_SLOT */
} RepeatSlot;

typedef struct RepeatEntry
{
	Oid	   role;
	Wish   wish;
	Answer answer;
	double x[FLEXIBLE_ARRAY_MEMBER];
} RepeatEntry;

typedef struct RepeatTable
{
	int			capacity; /* entries: a power of two, or 0 */
	int			count;
	RepeatSlot *slots;
	char	   *entries;
} RepeatTable;

typedef struct RepeatMemory
{
	uint64		  serial; /* 0: unused */
	MemoryContext context;
	int64		  model_id;
	int64		  training_id; /* of the version */
	int			  width;
	Size		  entry_size;
	Size		  maximum; /* entries of a table */
	RepeatTable	  newer;
	RepeatTable	  older;

	/* who may ask, as last seen */
	Oid			role;
	uint64		epoch;
	TimestampTz good_until;
} RepeatMemory;

static int			repeat_memory_kb = DEFAULT_REPEAT_KB;
static RepeatMemory memories[MAX_MEMORIES];
static uint64		next_serial = 1;

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
	/* entries that there is room for in two tables */
	Size maximum =
		(Size) repeat_memory_kb * 1024 / (entry_size + SLOTS_PER_ENTRY * sizeof(RepeatSlot));
	RepeatMemory *memory;

	/* Released models answer for nothing, and owners pay nothing. */
	if (maximum < 2 || model->mechanism->charge_kind == CHARGE_ONCE || model->mechanism->owner_only)
		return handle;
	maximum = pg_prevpower2_size_t(maximum / 2);
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

static RepeatEntry *
entry_at(const RepeatMemory *memory, const RepeatTable *table, int number)
{
	return (RepeatEntry *) (table->entries + number * memory->entry_size);
}

/* The slot of a question with this hash that is after a given one, or a free slot. */
static inline RepeatSlot *
next_slot(const RepeatTable *table, uint32 hash, const RepeatSlot *after)
{
	uint32 mask = SLOTS_PER_ENTRY * table->capacity - 1;
	uint32 place = after == NULL ? hash & mask : (after - table->slots + 1) & mask;

	while (table->slots[place].entry != FREE_SLOT && table->slots[place].hash != hash)
		place = (place + 1) & mask;
	return &table->slots[place];
}

static const RepeatEntry *
find_entry(const RepeatMemory *memory, const RepeatTable *table, uint32 hash, Oid role,
		   const Wish *wish, const double *x)
{
	RepeatSlot *slot = NULL;

	if (table->count == 0)
		return NULL;
	while ((slot = next_slot(table, hash, slot))->entry != FREE_SLOT)
	{
		const RepeatEntry *entry = entry_at(memory, table, slot->entry);

		if (entry->role == role && entry->wish.score == wish->score &&
			entry->wish.precision == wish->precision &&
			memcmp(entry->x, x, memory->width * sizeof(double)) == 0)
			return entry;
	}
	return NULL;
}

static void
take_slot(RepeatTable *table, uint32 hash, int entry)
{
	RepeatSlot *slot = NULL;

	do
		slot = next_slot(table, hash, slot);
	while (slot->entry != FREE_SLOT);
	slot->hash = hash;
	slot->entry = entry;
}

static void
clear(RepeatTable *table)
{
	table->count = 0;
	memset(table->slots, 0xFF, SLOTS_PER_ENTRY * table->capacity * sizeof(RepeatSlot));
}

/* Makes a table, with the entries of an old one. */
static RepeatTable
make_table(const RepeatMemory *memory, int capacity, const RepeatTable *old)
{
	RepeatTable table = {.capacity = capacity};
	Size		slots = SLOTS_PER_ENTRY * (Size) capacity * sizeof(RepeatSlot);

	table.slots = MemoryContextAllocHuge(memory->context, slots);
	clear(&table);
	table.entries = MemoryContextAllocHuge(memory->context, capacity * memory->entry_size);
	for (int i = 0; i < SLOTS_PER_ENTRY * old->capacity; i++)
		if (old->slots[i].entry != FREE_SLOT)
			take_slot(&table, old->slots[i].hash, old->slots[i].entry);
	if (old->capacity > 0)
	{
		memcpy(table.entries, old->entries, old->count * memory->entry_size);
		pfree(old->slots);
		pfree(old->entries);
	}
	table.count = old->count;
	return table;
}

/* Room for one more answer: in a larger table, or else by forgetting the older one. */
static void
make_room(RepeatMemory *memory)
{
	RepeatTable full = memory->newer;

	if (full.capacity == 0)
		memory->newer = make_table(memory, Min(FIRST_CAPACITY, memory->maximum), &full);
	else if (full.capacity < memory->maximum)
		memory->newer = make_table(memory, 2 * full.capacity, &full);
	else
	{
		if (memory->older.capacity == 0)
			memory->older = make_table(memory, full.capacity, &memory->older);
		memory->newer = memory->older;
		clear(&memory->newer);
		memory->older = full;
	}
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
	RepeatMemory	  *memory = memory_of(handle);
	const RepeatEntry *entry;
	Oid				   role;

	if (memory == NULL)
		return false;
	role = asking_role();
	handle->hash = hash_question(memory, role, wish, x);
	entry = find_entry(memory, &memory->newer, handle->hash, role, wish, x);
	if (entry == NULL)
		entry = find_entry(memory, &memory->older, handle->hash, role, wish, x);
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

	if (memory == NULL)
		return;
	if (memory->newer.count == memory->newer.capacity)
		make_room(memory);
	take_slot(&memory->newer, handle->hash, memory->newer.count);
	entry = entry_at(memory, &memory->newer, memory->newer.count++);
	entry->role = asking_role();
	entry->wish = *wish;
	entry->answer = *answer;
	memcpy(entry->x, x, memory->width * sizeof(double));
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
