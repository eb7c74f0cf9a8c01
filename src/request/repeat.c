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
#define MAX_SLOTS_PER_ENTRY 3
#define HASH_FACTOR UINT64CONST(0x9E3779B97F4A7C15)

/* A revocation is noticed by the epoch, an expiry within this time. */
#define RIGHTS_MAX_AGE_US INT64CONST(1000000)

/* Apart from the entries: a search that fails, as most do, looks at nothing else. */
typedef struct RepeatSlot
{
	uint32 hash;
	uint32 entry; /* its number, from 1; 0: a free slot */
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
	Size		count;
	Size		capacity; /* 0: not allocated yet */
	Size		nslots;	  /* half as many again at least, a power of two */
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
	Size		  capacity; /* entries of a table that is fully grown */
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
	Size capacity =
		(Size) repeat_memory_kb * 1024 / (entry_size + MAX_SLOTS_PER_ENTRY * sizeof(RepeatSlot));
	RepeatMemory *memory;

	/* Answers of released models are free, and owners pay nothing. */
	if (capacity < 2 || model->mechanism->charge_kind == CHARGE_ONCE ||
		model->mechanism->owner_only)
		return handle;
	capacity /= 2;
	handle.slot = choose_slot(model);
	memory = &memories[handle.slot];
	if (memory->serial == 0 || memory->model_id != model->model_id ||
		memory->training_id != model->training_id || memory->capacity != capacity)
	{
		forget(memory);
		memory->context =
			AllocSetContextCreate(CacheMemoryContext, "privpred repeats", ALLOCSET_DEFAULT_SIZES);
		memory->serial = next_serial++;
		memory->model_id = model->model_id;
		memory->training_id = model->training_id;
		memory->width = model->spec.width;
		memory->entry_size = entry_size;
		memory->capacity = capacity;
	}
	handle.serial = memory->serial;
	return handle;
}

/* ---------- the table ---------- */

/* Takes a few cycles for each number, because every answer pays for it. */
static uint32
hash_question(const RepeatMemory *memory, Oid role, const Wish *wish, const double *x)
{
	uint64 hash = hash_combine64(role, wish->score + 2 * (uint64) wish->of_class);
	uint64 word;

	memcpy(&word, &wish->precision, sizeof(word));
	hash = hash_combine64(hash, word);
	for (int i = 0; i < memory->width; i++)
	{
		memcpy(&word, &x[i], sizeof(word));
		hash = hash_combine64(hash, word);
	}
	hash = (hash ^ (hash >> 32)) * HASH_FACTOR;
	hash = (hash ^ (hash >> 29)) * HASH_FACTOR;
	return (uint32) (hash >> 32);
}

static RepeatEntry *
entry_at(const RepeatMemory *memory, const RepeatTable *table, Size number)
{
	return (RepeatEntry *) (table->entries + (number - 1) * memory->entry_size);
}

/* From a place on, the first slot that is free or holds a question with this hash. */
static inline RepeatSlot *
probe(const RepeatTable *table, uint32 hash, Size place)
{
	Size mask = table->nslots - 1;

	for (place &= mask; table->slots[place].entry != 0; place = (place + 1) & mask)
		if (table->slots[place].hash == hash)
			break;
	return &table->slots[place];
}

static const RepeatEntry *
find_entry(const RepeatMemory *memory, const RepeatTable *table, uint32 hash, Oid role,
		   const Wish *wish, const double *x)
{
	RepeatSlot *slot;

	if (table->count == 0)
		return NULL;
	for (slot = probe(table, hash, hash); slot->entry != 0;
		 slot = probe(table, hash, slot - table->slots + 1))
	{
		const RepeatEntry *entry = entry_at(memory, table, slot->entry);

		if (entry->role == role && entry->wish.score == wish->score &&
			entry->wish.precision == wish->precision && entry->wish.of_class == wish->of_class &&
			memcmp(entry->x, x, memory->width * sizeof(double)) == 0)
			return entry;
	}
	return NULL;
}

/* Doubles a table, so that memory is taken for answers that were paid for, and no other. */
static void
grow_table(const RepeatMemory *memory, RepeatTable *table)
{
	Size		capacity = Min(Max(2 * table->capacity, FIRST_CAPACITY), memory->capacity);
	Size		nslots = pg_nextpower2_64(capacity + (capacity + 1) / 2);
	RepeatSlot *slots = MemoryContextAllocExtended(memory->context, nslots * sizeof(RepeatSlot),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	table->entries = table->entries != NULL
						 ? repalloc_huge(table->entries, capacity * memory->entry_size)
						 : MemoryContextAllocHuge(memory->context, capacity * memory->entry_size);
	for (Size i = 0; i < table->nslots; i++)
	{
		Size place = table->slots[i].hash;

		if (table->slots[i].entry == 0)
			continue;
		while (slots[place & (nslots - 1)].entry != 0)
			place++;
		slots[place & (nslots - 1)] = table->slots[i];
	}
	if (table->slots != NULL)
		pfree(table->slots);
	table->slots = slots;
	table->nslots = nslots;
	table->capacity = capacity;
}

/* Once the newer table is fully grown, the older one is forgotten and becomes the newer one. */
static void
make_room(RepeatMemory *memory)
{
	if (memory->newer.capacity == memory->capacity)
	{
		RepeatTable table = memory->older;

		if (table.slots != NULL)
			memset(table.slots, 0, table.nslots * sizeof(RepeatSlot));
		table.count = 0;
		memory->older = memory->newer;
		memory->newer = table;
	}
	if (memory->newer.count == memory->newer.capacity)
		grow_table(memory, &memory->newer);
}

/* ---------- asking ---------- */

/* A role that has lost its budget is refused even answers that it knows. */
static bool
may_still_ask(RepeatMemory *memory, const LedgerPrice *price, Oid role)
{
	uint64 epoch = ledger_epoch();

	if (memory->role == role && memory->epoch == epoch && !ledger_time_has_come(memory->good_until))
		return true;
	if (!ledger_quote(price, role, 1).has_account)
		return false;
	ledger_check_answers();
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
	RepeatTable	 *table;
	RepeatSlot	 *slot;
	RepeatEntry	 *entry;

	if (memory == NULL)
		return;
	if (memory->newer.count == memory->newer.capacity)
		make_room(memory);
	table = &memory->newer;
	slot = probe(table, handle->hash, handle->hash);
	while (slot->entry != 0)
		slot = probe(table, handle->hash, slot - table->slots + 1);
	slot->hash = handle->hash;
	slot->entry = ++table->count;
	entry = entry_at(memory, table, slot->entry);
	entry->role = asking_role();
	entry->wish = *wish;
	entry->answer = *answer;
	memcpy(entry->x, x, memory->width * sizeof(double));
}

bool
repeat_remembers(void)
{
	return repeat_memory_kb > 0;
}

int64
repeat_count(const RepeatHandle *handle)
{
	const RepeatMemory *memory = memory_of(handle);

	return memory != NULL ? memory->newer.count + memory->older.count : 0;
}

int64
repeat_capacity(const RepeatHandle *handle)
{
	const RepeatMemory *memory = memory_of(handle);

	return memory != NULL ? memory->capacity : 0;
}

void
repeat_init(void)
{
	DefineCustomIntVariable(
		"privpred.repeat_memory", "Memory for the answers of one model that a session has had.",
		"The same question again is answered from it, free of charge; 0 is none, so that each "
		"call is charged and drawn anew.",
		&repeat_memory_kb, DEFAULT_REPEAT_KB, 0, MAX_REPEAT_KB, PGC_USERSET, GUC_UNIT_KB, NULL,
		NULL, NULL);
}
