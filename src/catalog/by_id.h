/*
 * by_id.h
 *		Relations and models as the ledger knows them, which is by their numbers.
 *
 * They may be looked up within a session or outside, and are as they are now.
 */
#ifndef PRIVPRED_BY_ID_H
#define PRIVPRED_BY_ID_H

#include "nodes/pg_list.h"

#include "server/privpred.h"

/*
 * The relations about some units, or those that were, as the first that is left stands for them.
 * Nothing is set if there never was one.
 */
typedef struct PopulationBrief
{
	int64 population; /* today: what was joined with another has its number */
	Oid	  relid;	  /* InvalidOid: all were dropped */
	char *name;		  /* what it is called now or, once it was dropped, was called last */
	char *last_seen;  /* what it was called when it was last protected or dropped */
} PopulationBrief;

/* By the number that it has, or had before it was joined with another. */
extern PopulationBrief population_brief(int64 number);

/* All that are left, protected or not, in the order of their OIDs. */
extern List *population_relations(int64 population);

/* Does the role own one of those that are protected, or all of them?  If none is: of those left. */
extern bool population_is_partly_owned(int64 number, Oid role);
extern bool population_is_owned(int64 number, Oid role);

/* What a relation is called, or was. */
extern char *relation_name_of(int64 relation_id);

/* What a model sells, and which version of it. */
typedef struct ModelSale
{
	int64	   model_id;
	int64	   relation_id;
	int64	   population;
	char	  *name;
	int32	   version;
	int64	   training_id;
	ChargeKind kind;
	char	  *charge;		/* of a purchase, by an account of finite order; NULL: it cannot pay */
	char	  *pure_charge; /* likewise, of infinite order */
} ModelSale;

/* NULL: there is no such model. */
extern ModelSale *model_sale(int64 model_id);

/* All models of a population, in the order in which they were made. */
extern List *population_sales(int64 population);

#endif /* PRIVPRED_BY_ID_H */
