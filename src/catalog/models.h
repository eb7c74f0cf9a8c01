/*
 * models.h
 *		Models: rows of privpred.model, and their decoded copies.
 *
 * models.c			rows of privpred.model
 * model_record.c	what follows from a record
 * model_cache.c	decoded models, one copy per backend
 */
#ifndef PRIVPRED_MODELS_H
#define PRIVPRED_MODELS_H

#include "catalog/features.h"
#include "mechanism/mechanism.h"
#include "server/privpred.h"

#define MODEL_SALT_LENGTH 16

/*
 * A model as it is stored, or is about to be.  All of it lives in the memory
 * context in which it was made, and none of it changes while it is in use.
 */
typedef struct ModelRecord
{
	int64			 model_id;
	char			*name;
	int64			 relation_id;
	int64			 population; /* whose accounts pay */
	Oid				 relid;		 /* of the protected relation; invalid once it is dropped */
	char			*label;
	FeatureSpec		*features;
	const Mechanism *mechanism;
	const Learner	*learner;	/* NULL unless the mechanism asks teachers */
	MechanismSpec	 spec;		/* as declared when this version was trained */
	int				 nbins;		/* of a number that is predicted by its bin; 0: none */
	double			*bin_edges; /* nbins + 1 */
	char			 salt[MODEL_SALT_LENGTH];
	double			 holdout; /* the share of units that never train; 0: none */
	int32			 version;
	int64			 training_id; /* never used again, unlike a version that is rolled back */
	char			*charge;	  /* of a purchase, as text; NULL: no account can pay */
	char			*pure_charge; /* by an account of infinite order; NULL: it cannot pay */
	Predictor		*predictor;	  /* teachers, or NULL */
	bytea			*state;		  /* of other mechanisms, or NULL */
	SqlBinding		*functions;	  /* of learner "sql", or NULL */

	/*
	 * Of an audit: a subquery of made-up rows, on which the model is trained instead
	 * of the relation's.  Such a model is never stored.  Otherwise NULL.
	 */
	const char *made_up_rows;
} ModelRecord;

/* ---------- models.c ---------- */

/* Raises 42704 if there is no such model; allocates in the current context. */
extern ModelRecord	   *model_get(const char *name);
pg_noreturn extern void no_such_model(const char *name);

/* Which units and relation a model is about, without reading it; false: there is no such model. */
extern bool model_find_relation(const char *name, int64 *population, Oid *relid);
extern bool model_exists(const char *name);
extern bool relation_has_models(int64 relation_id);

/* Stores a model, and sets its id and version; raises 42710 if the name is taken. */
extern void model_insert(ModelRecord *model);

/* Stores a new version: what was learnt, the sizes declared by now, and what it costs. */
extern void model_update(ModelRecord *model);

/* What everybody may know of how good this version is. */
extern void model_store_accuracy(const ModelRecord *model, double accuracy, double error);
extern void model_delete(const ModelRecord *model);

/* Inside a catalog session: every session reads models again. */
extern void models_changed(void);

/* Inside a catalog session: models go with their table. */
extern void models_of_dropped_relations_delete(void);

/* What everybody may know of a model. */
extern Jsonb *model_card(const char *name);

/* ---------- model_record.c ---------- */

extern ArrayType *array_of_classes(char **classes, int nclasses);

/* How many answers are kept for good for each role; 0: none. */
extern int model_memo_limit(const ModelRecord *model);

/* Options of the model itself. */
extern const Option model_options[];

/*
 * The label, if it is a number, as if it were a feature.  Raises an error if the
 * column cannot be used.
 */
extern FeatureSpec *
label_spec(const ModelRecord *model, TupleDesc columns, const char *relation_name);

/* What the encoded numbers stand for, as mechanisms see it. */
extern SpecColumn *feature_columns(const FeatureSpec *features);

/* Index of the class that fixed votes go to: options.default, or the first. */
extern int model_default_class(const ModelRecord *model);

/* The number that stands for a bin. */
static inline double
bin_middle(const ModelRecord *model, int bin)
{
	return model->bin_edges[bin] / 2 + model->bin_edges[bin + 1] / 2;
}

/* ---------- model_cache.c ---------- */

typedef struct CachedModel
{
	ModelRecord	  *record;
	MechanismModel mechanism_model;
	bool		   valid; /* false: look it up again before the next use */
} CachedModel;

/*
 * The decoded model.  It is kept while the given context lives, even if it is
 * replaced meanwhile.  Raises 42704 if there is no such model.
 */
extern CachedModel *model_cache_get(const char *name, MemoryContext user);

/* The decoded model if this session has a valid copy, which must not be kept; or NULL. */
extern const CachedModel *model_cache_peek(const char *name);

/* The number of models that this session has decoded so far. */
extern uint64 model_cache_loads(void);
extern void	  model_cache_init(void);

#endif /* PRIVPRED_MODELS_H */
