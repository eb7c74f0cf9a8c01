/*
 * digest.h
 *		SHA-256, plain and keyed (HMAC).
 */
#ifndef PRIVPRED_DIGEST_H
#define PRIVPRED_DIGEST_H

#include "common/cryptohash.h"

#define DIGEST_BYTES 32
#define DIGEST_TEXT_SIZE (2 * DIGEST_BYTES + 1)

/* A digest of what is added, piece after piece; to be begun, added to and ended once. */
typedef struct Digest
{
	pg_cryptohash_ctx *context;
	uint8			   outer[64]; /* of a key */
	bool			   keyed;
} Digest;

extern void digest_begin(Digest *digest);
extern void digest_begin_keyed(Digest *digest, const uint8 *key, Size key_size);
extern void digest_add(Digest *digest, const void *bytes, Size size);
/* The same after its length, so that pieces cannot run into each other. */
extern void digest_add_piece(Digest *digest, const void *bytes, Size size);
extern void digest_end(Digest *digest, uint8 result[DIGEST_BYTES]);

/* In hexadecimal digits; returns the buffer. */
extern char *digest_text(const uint8 digest[DIGEST_BYTES], char text[DIGEST_TEXT_SIZE]);

#endif /* PRIVPRED_DIGEST_H */
