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
	Oid	   relid;			  /* InvalidOid: it was dropped */
	uint8  key[DIGEST_BYTES]; /* of the relation: never leaves the server */
	uint8  nonce[CERTIFICATE_NONCE_BYTES];
	Jsonb *document;
	bool   complete;
} Certificate;

/* The number that the next certificate will have is taken; nothing is written but the key. */
extern Certificate *certificate_begin(int64 relation_id);

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
	int32 teacher; /* FORGET_NO_TEACHER, FORGET_HELD_OUT or a number */
	int64 mark;
} ForgetDue;

extern void	 forget_due_add(int64 certificate_id, int64 model_id, int32 teacher, int64 mark);
extern List *forget_dues(int64 model_id);
extern void	 forget_due_done(int64 certificate_id, int64 model_id);

/* Names of models that a certificate waits for. */
extern List *forget_due_models(int64 certificate_id);

#endif /* PRIVPRED_FORGETTINGS_H */
