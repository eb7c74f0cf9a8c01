/*
 * digest.c
 *		SHA-256, plain and keyed (HMAC, RFC 2104).  The server's own HMAC came with 15.
 */
#include "postgres.h"

#include "common/sha2.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"

#include "server/digest.h"

StaticAssertDecl(DIGEST_BYTES == PG_SHA256_DIGEST_LENGTH, "a digest is a sha256");
StaticAssertDecl(sizeof(((Digest *) 0)->outer) == PG_SHA256_BLOCK_LENGTH, "a key fills a block");

void
digest_begin(Digest *digest)
{
	digest->keyed = false;
	digest->context = pg_cryptohash_create(PG_SHA256);
	if (digest->context == NULL || pg_cryptohash_init(digest->context) < 0)
		elog(ERROR, "could not begin a digest");
}

void
digest_add(Digest *digest, const void *bytes, Size size)
{
	if (pg_cryptohash_update(digest->context, bytes, size) < 0)
		elog(ERROR, "could not compute a digest");
}

void
digest_add_piece(Digest *digest, const void *bytes, Size size)
{
	uint64 length = pg_hton64(size);

	digest_add(digest, &length, sizeof(length));
	digest_add(digest, bytes, size);
}

void
digest_begin_keyed(Digest *digest, const uint8 *key, Size key_size)
{
	uint8 inner[PG_SHA256_BLOCK_LENGTH];

	if (key_size > PG_SHA256_BLOCK_LENGTH)
		elog(ERROR, "the key of a digest is too long");
	digest_begin(digest);
	digest->keyed = true;
	for (int i = 0; i < PG_SHA256_BLOCK_LENGTH; i++)
	{
		uint8 byte = i < key_size ? key[i] : 0;

		inner[i] = byte ^ 0x36;
		digest->outer[i] = byte ^ 0x5c;
	}
	digest_add(digest, inner, sizeof(inner));
}

void
digest_end(Digest *digest, uint8 result[DIGEST_BYTES])
{
	if (pg_cryptohash_final(digest->context, result, DIGEST_BYTES) < 0)
		elog(ERROR, "could not finish a digest");
	pg_cryptohash_free(digest->context);
	if (digest->keyed)
	{
		Digest outer;

		digest_begin(&outer);
		digest_add(&outer, digest->outer, sizeof(digest->outer));
		digest_add(&outer, result, DIGEST_BYTES);
		digest_end(&outer, result);
	}
}

char *
digest_text(const uint8 digest[DIGEST_BYTES], char text[DIGEST_TEXT_SIZE])
{
	hex_encode((const char *) digest, DIGEST_BYTES, text);
	text[DIGEST_TEXT_SIZE - 1] = '\0';
	return text;
}
