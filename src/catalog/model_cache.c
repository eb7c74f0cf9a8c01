/*
 * model_cache.c
 *		Decoded models, one copy per backend.
 *
 * Detoasting and checking a predictor takes longer than a thousand answers, so
 * it is done once per session and version.  A change of any model invalidates
 * the relation cache entry of privpred.model in every session; that marks all
 * our copies invalid.  A copy in use by a running statement stays until
 * the statement lets go of it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "catalog/store.h"
#include "mechanism/vote/vote.h"

typedef struct CacheEntry
{
	CachedModel		   model;	/* what users see */
	MemoryContext	   context; /* holds everything, this struct included */
	int				   users;
	Oid				  *family; /* relations that may come to share rows with the model's */
	int				   nfamily;
	struct CacheEntry *next;
} CacheEntry;

static CacheEntry *entries = NULL;

/* The table whose invalidation stands for all models. */
static Oid model_table = InvalidOid;

/* Counts invalidations, to notice one that arrives while a model is read. */
static uint64 generation = 0;

/* The same for all relations. */
static uint64 alterations = 0;

static uint64 loads = 0;

static bool
is_of_family(const CacheEntry *entry, Oid relid)
{
	return relid == InvalidOid ||
		   bsearch(&relid, entry->family, entry->nfamily, sizeof(Oid), oid_cmp) != NULL;
}

static void
invalidate(Datum arg, Oid relid)
{
	alterations++;
	for (CacheEntry *entry = entries; entry != NULL; entry = entry->next)
		if (entry->model.paid_once && is_of_family(entry, relid))
			entry->model.paid_once = false;
	if (relid != InvalidOid && relid != model_table)
		return;
	for (CacheEntry *entry = entries; entry != NULL; entry = entry->next)
		entry->model.valid = false;
	generation++;
}

static void
free_unused(void)
{
	CacheEntry **link = &entries;

	while (*link != NULL)
	{
		CacheEntry *entry = *link;

		if (!entry->model.valid && entry->users == 0)
		{
			*link = entry->next;
			MemoryContextDelete(entry->context);
		}
		else
			link = &entry->next;
	}
}

static void
release(void *arg)
{
	((CacheEntry *) arg)->users--;
}

/* The stored form of teachers is not needed again, unless the model can be exported. */
static void
forget_stored(ModelRecord *record)
{
	if (record->predictor == NULL || record->mechanism->charge_kind == CHARGE_ONCE)
		return;
	pfree(record->predictor);
	record->predictor = NULL;
}

static void
decode(const ModelRecord *record, MechanismModel *model)
{
	model->spec = &record->spec;
	if (!record->mechanism->asks_teachers && record->state != NULL)
		model->state = record->mechanism->load(&record->spec, record->state);
	if (record->mechanism->asks_teachers && record->predictor != NULL)
	{
		model->ensemble = ensemble_load(record->predictor);
		model->gaussian_noise = vote_noise_is_gaussian(&record->spec);
	}
	if ((model->state == NULL && model->ensemble == NULL) ||
		(model->ensemble != NULL &&
		 (ensemble_classes(model->ensemble) != Max(record->spec.nclasses, 1) ||
		  ensemble_width(model->ensemble) != record->features->width ||
		  ensemble_members(model->ensemble) != record->spec.teachers)))
		ereport(
			ERROR, errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("stored predictor of model \"%s\" does not fit its declaration", record->name),
			errhint("Retrain the model."));
}

static CacheEntry *
load(const char *name)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred model", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	CacheEntry	 *entry = palloc0_object(CacheEntry);
	ModelRecord	 *record;

	model_table = get_relname_relid("model", get_namespace_oid(PRIVPRED_SCHEMA, false));
	entry->context = context;
	entry->model.record = record = model_get(name);
	decode(record, &entry->model.mechanism_model);
	forget_stored(record);
	MemoryContextSwitchTo(caller);
	entry->model.valid = true;
	loads++;
	return entry;
}

/*
 * If an invalidation arrives while the model is read, it may be about this very
 * model, so the model is read again.
 */
static CacheEntry *
load_latest(const char *name)
{
	CacheEntry *entry;
	uint64		before;

	do
	{
		CHECK_FOR_INTERRUPTS();
		before = generation;
		entry = load(name);
	} while (before != generation);
	MemoryContextSetParent(entry->context, CacheMemoryContext);
	entry->next = entries;
	entries = entry;
	return entry;
}

static CacheEntry *
find(const char *name)
{
	CacheEntry *entry = entries;

	while (entry != NULL && !(entry->model.valid && strcmp(entry->model.record->name, name) == 0))
		entry = entry->next;
	return entry;
}

const CachedModel *
model_cache_peek(const char *name)
{
	CacheEntry *entry = IsInParallelMode() ? NULL : find(name);

	return entry != NULL ? &entry->model : NULL;
}

CachedModel *
model_cache_get(const char *name, MemoryContext user)
{
	MemoryContextCallback *callback;
	CacheEntry			  *entry;

	/*
	 * In parallel mode our tables cannot be read as they are now, and a copy that
	 * was made from an older snapshot must not outlive this statement.
	 */
	if (IsInParallelMode())
	{
		entry = load(name);
		MemoryContextSetParent(entry->context, user);
		return &entry->model;
	}

	callback = MemoryContextAlloc(user, sizeof(MemoryContextCallback));
	free_unused();
	entry = find(name);
	if (entry == NULL)
		entry = load_latest(name);
	entry->users++;
	callback->func = release;
	callback->arg = entry;
	MemoryContextRegisterResetCallback(user, callback);
	return &entry->model;
}

bool
model_cache_paid_twice(CachedModel *model)
{
	CacheEntry *entry = (CacheEntry *) model;
	Oid			relid = model->record->relid;
	uint64		before = alterations;
	List	   *family = relation_family(relid);
	ListCell   *cell;

	if (protected_relative(family, relid) != NULL)
		return true;
	if (entry->nfamily < list_length(family))
		entry->family = MemoryContextAlloc(entry->context, list_length(family) * sizeof(Oid));
	entry->nfamily = 0;
	foreach(cell, family)
		entry->family[entry->nfamily++] = ((const Relative *) lfirst(cell))->relid;
	/* If something was altered meanwhile, the next answer looks again. */
	model->paid_once = before == alterations;
	return false;
}

uint64
model_cache_loads(void)
{
	return loads;
}

void
model_cache_init(void)
{
	CacheRegisterRelcacheCallback(invalidate, (Datum) 0);
}
