/*
 * protect.h
 *		What the files of protect() share.
 */
#ifndef PRIVPRED_PROTECT_H
#define PRIVPRED_PROTECT_H

#include "catalog/relations.h"
#include "utils/rel.h"

/*
 * The declaration whose account a table goes on with that is declared for the first
 * time, or anew; 0: none.  The population is the one that was named, or 0.
 */
extern int64
first_account(Relation relation, ArrayType *units, const ProtectOptions *options, int64 population);

/*
 * A table that was protected under another name has an account by now.  If it has
 * taken the name of one that was dropped after something was spent, it goes on
 * with the other's, unless something was spent on its own.
 */
extern int64 present_account(Relation relation, const ProtectedRelation *before, ArrayType *units,
							 const ProtectOptions *options, bool has_cap);

/*
 * Raises 55000 if a dropped relation of this name, unit and owner has another account than
 * that of the population.  Had the relation been protected under its name, by itself, it
 * would have gone on with it.
 */
extern void check_no_past_account(Relation relation, ArrayType *units,
								  const ProtectOptions *options, int64 population);

/* A relation's declaration and budgets go over to another, if both are there; InvalidOid: not. */
extern void follow_relation(Oid from, Oid to);

#endif
