/*
 * store.h
 *		The catalog: privpred's own tables, and the encoding of rows.
 *
 * relations.h	protected relations, their units, and what is public
 * models.h		models: stored, and decoded
 * forgettings.h	certificates of what was forgotten
 * features.h	feature specifications, classes, and encoding
 * by_id.h		relations and models by their numbers, for the ledger
 *
 * Nothing outside this floor names privpred.protected_relation or privpred.model
 * in SQL, except the views of the install script.
 */
#ifndef PRIVPRED_STORE_H
#define PRIVPRED_STORE_H

#include "catalog/features.h"
#include "catalog/models.h"
#include "catalog/relations.h"
#include "server/session.h"

#endif /* PRIVPRED_STORE_H */
