/*
 * rng.c
 *		Uniform integers, exactly, from a buffered pg_strong_random.
 *
 * pg_strong_random costs a library or system call, so bytes are fetched 4 kB
 * at a time.  The buffer is private to one process: backends and workers, also
 * parallel ones, are forked from the postmaster, which never draws, and whoever
 * else may fork a process that has drawn (a procedural language, say) leaves
 * its child an empty buffer.  No two processes share a byte.
 */
#include "c.h"

#ifndef WIN32
#include <pthread.h>
#endif

#include "draw/record.h"
#include "draw/sampler.h"

#define BUFFERED_WORDS 512

static uint64 buffer[BUFFERED_WORDS];
static int	  next_word = BUFFERED_WORDS; /* empty */

static void
forget_words(void)
{
	memset(buffer, 0, sizeof(buffer));
	next_word = BUFFERED_WORDS;
}

/* False: a child could not be kept from sharing words, so there must be none. */
static bool
child_forgets(void)
{
#ifndef WIN32
	static bool arranged = false;

	if (!arranged)
		arranged = pthread_atfork(NULL, NULL, forget_words) == 0;
	return arranged;
#else
	return true;
#endif
}

static void
fetch_words(void)
{
	if (!child_forgets() || !pg_strong_random(buffer, sizeof(buffer)))
		sampler_no_entropy();
	next_word = 0;
}

#ifdef PRIVPRED_RECORD_INPUTS
void
record_coins(uint64 number)
{
	forget_words();
	record_coins_at(number);
}
#endif

uint64
sample_uint64(void)
{
	uint64 word;

	if (next_word == BUFFERED_WORDS)
		fetch_words();
	word = buffer[next_word];

	/* A later leak of this memory must not tell which noise was drawn. */
	buffer[next_word++] = 0;
	return word;
}

/*
 * Multiply and shift (Lemire 2019).  A word w gives floor(w * n / 2^64); the
 * 2^64 mod n words whose low product half is smallest are rejected, which
 * leaves exactly floor(2^64 / n) words for each result.
 */
uint64
sample_uniform(uint64 n)
{
	uint128 product;

	if (unlikely(n == 0))
		sampler_out_of_range("sample_uniform");

	product = (uint128) sample_uint64() * n;
	if (unlikely((uint64) product < n))
	{
		uint64 surplus = -n % n; /* 2^64 mod n */

		while ((uint64) product < surplus)
			product = (uint128) sample_uint64() * n;
	}
	return (uint64) (product >> 64);
}

/* As many random bits as n - 1 has, again until they fall below n. */
uint128
sample_uniform_wide(uint128 n)
{
	uint64	high_mask;
	uint128 drawn;

	if (n <= PG_UINT64_MAX)
		return sample_uniform((uint64) n);

	high_mask = (uint64) ((n - 1) >> 64);
	for (int shift = 1; shift < 64; shift *= 2)
		high_mask |= high_mask >> shift;

	do
	{
		drawn = (uint128) (sample_uint64() & high_mask) << 64;
		drawn |= sample_uint64();
	} while (drawn >= n);
	return drawn;
}
