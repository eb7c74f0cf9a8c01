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

/* A protected relation, or one that was; nothing is set if there never was one. */
typedef struct RelationBrief
{
	Oid	  relid;	 /* InvalidOid: it was dropped */
	char *name;		 /* what it is called now or, once it was dropped, was called last */
	char *last_seen; /* what it was called when it was last protected or dropped */
} RelationBrief;

extern RelationBrief relation_brief(int64 relation_id);

/* What a model sells, and which version of it. */
typedef struct ModelSale
{
	int64	   model_id;
	int64	   relation_id;
	char	  *name;
	int32	   version;
	int64	   training_id;
	ChargeKind kind;
	char	  *charge;		/* of a purchase, by an account of finite order; NULL: it cannot pay */
	char	  *pure_charge; /* likewise, of infinite order */
} ModelSale;

/* NULL: there is no such model. */
extern ModelSale *model_sale(int64 model_id);

/* All models of a relation, in the order in which they were made. */
extern List *relation_sales(int64 relation_id);

#endif /* PRIVPRED_BY_ID_H */
