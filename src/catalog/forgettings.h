/*
 * forgettings.h
 *		Certificates of units that were forgotten (forgettings.c).
 */
#ifndef PRIVPRED_FORGETTINGS_H
#define PRIVPRED_FORGETTINGS_H

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#include "server/digest.h"

#define CERTIFICATE_NONCE_BYTES 16

typedef struct Certificate
{
	int64  certificate_id;
	int64  relation_id;
	Oid	   owner;			  /* of the relation, or of what it was; InvalidOid: there is none */
	uint8  key[DIGEST_BYTES]; /* of the relation: never leaves the server */
	uint8  nonce[CERTIFICATE_NONCE_BYTES];
	int	   nunits; /* columns of the unit, and their types when it was forgotten */
	Oid	  *unit_types;
	int32 *unit_typmods;
	Jsonb *document;
	bool   complete;
} Certificate;

/* The number that the next certificate will have is taken; nothing is written but the key. */
extern Certificate *
certificate_begin(int64 relation_id, int nunits, const Oid *types, const int32 *typmods);

/* NULL: there is none of that number. */
extern Certificate *certificate_get(int64 certificate_id);

/* Writes it with this document; returns the digest of its text, in hexadecimal digits. */
extern char *certificate_write(const Certificate *certificate, Jsonb *document, bool complete);

/* The digest of a document's text without what certificate() has added. */
extern char *certificate_text_digest(Jsonb *document);

/* A digest with the certificate's key and nonce: it says nothing to those without the key. */
extern void
certificate_digest_begin(Digest *digest, const Certificate *certificate, const char *what);

/* ---------- forgetting at the next retraining ---------- */

typedef struct ForgetDue
{
	int64 certificate_id;
	int64 model_id;
	int32 teacher; /* TEACHERS_ALL, TEACHERS_NONE or a number */
	int64 mark;
	char *encoding; /* in which it is a hash of the unit */
	bool  done;
} ForgetDue;

/* Adds one, or writes that it is done. */
extern void forget_due_write(const ForgetDue *due);

/*
 * What a model still has to forget.  For a model that was created later, or whose relation
 * joined the others later, that is every unit that the others have to forget.
 */
extern List *forget_dues(int64 model_id, int64 population);

/* Models that do not exist have forgotten. */
extern void forget_dues_of_dropped(void);
extern void forget_dues_end(int64 certificate_id);

/* Certificates that are not complete, of all relations about these units. */
extern List *open_certificates(int64 population);

/*
 * Names of models of the population that may have learnt from the unit: they have not been
 * trained without it since it was to be forgotten.
 */
extern List *forget_waits_for(int64 certificate_id);

#endif /* PRIVPRED_FORGETTINGS_H */
