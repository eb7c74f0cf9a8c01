/*
 * store.h
 *		privpred's own tables, and the encoding of rows.
 *
 * relations.c		protected relations and who owns them
 * models.c			models: store, fetch, drop
 * model_cache.c	decoded models, one copy per backend
 * features.h		feature specifications and encoding
 */
#ifndef PRIVPRED_STORE_H
#define PRIVPRED_STORE_H

#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "catalog/features.h"
#include "mechanism/mechanism.h"
#include "server/session.h"
#include "server/privpred.h"

#define MODEL_SALT_LENGTH 16

/*
 * ---------- relations.c ----------
 */
typedef struct ProtectedRelation
{
	int64  relation_id;
	Oid	   relid;
	int	   nunits; /* columns that identify the unit */
	char **unit_columns;
	bool   protects_labels;
	int64  declared_units;	  /* 0: not declared */
	int32  max_rows_per_unit; /* 0: not declared */
} ProtectedRelation;

/* What protect() declares, besides the relation itself. */
typedef struct ProtectOptions
{
	const char *unit; /* NULL: the primary key */
	bool		protects_labels;
	int64		declared_units;	   /* 0: not declared */
	int32		max_rows_per_unit; /* 0: not declared */
} ProtectOptions;

/* A relation's name in SQL; raises 42P01 if there is none of that OID. */
extern char *relation_sql_name(Oid relid);

/* Raises 42501 unless the current user owns the relation. */
extern void check_relation_owner(Oid relid);

/*
 * Opens a table; 42P01 if it was dropped, also while we waited for the lock, 42809
 * if it is none.
 */
extern Relation open_relation(Oid relid, LOCKMODE lock);

/*
 * Takes a lock on a relation until the transaction ends; 42P01 or 42501 unless it
 * is there and the current user's even then.
 */
extern void lock_own_relation(Oid relid, LOCKMODE lock);

/* Raises 55000 unless the relation is protected. */
extern ProtectedRelation *protected_relation_get(Oid relid);

/*
 * The same, and until the transaction ends it stays protected: for whatever makes
 * models or budgets.  Many may hold it; who seizes it waits for them and keeps
 * others out.  Locks are taken in one order: the relation itself, then this.
 */
extern ProtectedRelation *protected_relation_hold(Oid relid);
extern ProtectedRelation *protected_relation_seize(Oid relid);

/* Is it protected itself?  Not whether its rows are: see shared_rows.c. */
extern bool relation_is_protected(Oid relid);

/* All that are protected now, as a list of OIDs. */
extern List *protected_relations(void);

/* Declares or re-declares a relation; returns its id. */
extern int64 protected_relation_declare(Oid relid, const ProtectOptions *options);
extern void	 protected_relation_remove(const ProtectedRelation *protected);

/* Raises unless every unit column is still there, NOT NULL and hashable. */
extern void check_unit_columns(const ProtectedRelation *relation);

/* Inside a sql_drop event trigger: forgets tables that are gone, returns their ids. */
extern int protected_relations_dropped(int64 **relation_ids);

/*
 * ---------- shared_rows.c ----------
 */

/*
 * Raises 22023, with a detail, if any row of a table or view may be a row of a
 * protected relation.  Its locks keep it so until the transaction ends.
 */
extern void check_public_rows(Oid relid, const char *detail);

/* Raises 55000 if a protected relation shares rows with another: they would have two budgets. */
extern void check_protected_once(Oid relid);

/*
 * ---------- models.c ----------
 */
typedef struct ModelRecord
{
	int64			 model_id;
	char			*name;
	int64			 relation_id;
	Oid				 relid; /* of the protected relation; invalid once dropped */
	char			*label;
	FeatureSpec		*features;
	const Mechanism *mechanism;
	const Learner	*learner;	/* NULL unless the mechanism asks teachers */
	MechanismSpec	 spec;		/* as declared when this version was trained */
	int				 nbins;		/* of a number that is predicted by its bin; 0: none */
	double			*bin_edges; /* nbins + 1 */
	char			 salt[MODEL_SALT_LENGTH];
	int32			 version;
	int64			 training_id; /* never used again, unlike a version that is rolled back */
	char			*charge;	  /* of a purchase, as text; NULL: no account can pay */
	char			*pure_charge; /* by an account of infinite order; NULL: it cannot */
	Predictor		*predictor;	  /* teachers, or NULL */
	bytea			*state;		  /* of other mechanisms, or NULL */
	SqlBinding		*functions;	  /* of learner "sql"; else NULL */

	/*
	 * An audit's: a subquery of rows that it made up, to be trained on instead of
	 * the relation's.  Such a model is never stored.  Else NULL.
	 */
	const char *made_up_rows;
} ModelRecord;

/* The number that stands for a bin. */
static inline double
bin_middle(const ModelRecord *model, int bin)
{
	return model->bin_edges[bin] / 2 + model->bin_edges[bin + 1] / 2;
}

/* Raises 42704 if there is no such model; allocates in the current context. */
extern ModelRecord	   *model_get(const char *name);
pg_noreturn extern void no_such_model(const char *name);

/* Which relation a model is about, without reading it; false if there is no such model. */
extern bool model_find_relation(const char *name, int64 *relation_id, Oid *relid);
extern bool model_exists(const char *name);
extern bool relation_has_models(int64 relation_id);

extern void model_insert(ModelRecord *model);
/* Stores a new version: what was learnt, the sizes declared by now, and what it costs. */
extern void model_update(ModelRecord *model);
extern void model_delete(const ModelRecord *model);

/* Inside a catalog session: models go with their table. */
extern void models_of_dropped_relations_delete(void);

extern ArrayType *array_of_classes(char **classes, int nclasses);

/* How many answers are kept for good for each role; 0: none. */
extern int model_memo_limit(const ModelRecord *model);

/* What everybody may know of a model. */
extern Jsonb *model_card(const char *name);

/*
 * A label that is a number, as if it were a feature: what there is to raise
 * about the column is raised here.
 */
extern FeatureSpec *
label_spec(const ModelRecord *model, TupleDesc columns, const char *relation_name);

/* What the encoded numbers stand for, as mechanisms see it. */
extern SpecColumn *feature_columns(const FeatureSpec *features);

/* Index of the class that fixed votes go to: options.default, else the first. */
extern int model_default_class(const ModelRecord *model);

/*
 * ---------- model_cache.c ----------
 */
typedef struct CachedModel
{
	ModelRecord	  *record;
	MechanismModel mechanism_model;
	bool		   valid; /* false: look it up again before the next use */
} CachedModel;

/*
 * The decoded model, kept while the given context lives, even if it is
 * replaced meanwhile.  42704 if there is none.
 */
extern CachedModel *model_cache_get(const char *name, MemoryContext user);

/* The decoded model if this session has a valid copy, else NULL; not to be kept. */
extern const CachedModel *model_cache_peek(const char *name);

/* How many models this session has decoded so far. */
extern uint64 model_cache_loads(void);
extern void	  model_cache_init(void);

#endif /* PRIVPRED_STORE_H */
