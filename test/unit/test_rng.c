/*
 * test_rng.c
 *		Uniform integers: driven word by word, so that nothing is left to chance.
 *
 * sources: src/draw/rng.c
 */
#include "c.h"

#include <sys/wait.h>
#include <unistd.h>

#include "draw/sampler.h"
#include "unit.h"

/*
 * A block of random words as the sampler fetches it: those scripted, then a
 * count, which shows how many were consumed.
 */
static uint64 script[4];
static int	  script_length;

static bool
scripted(uint64 *words, int count)
{
	for (int i = 0; i < count; i++)
		words[i] = i < script_length ? script[i] : (uint64) i;
	return true;
}

static bool
exhausted(uint64 *words, int count)
{
	memset(words, 0xff, count * sizeof(uint64));
	return false;
}

static int			 block_words;
static const uint64 *block; /* the sampler's own buffer */

/* Reads to the end of the block; returns how many words were consumed before. */
static int
finish_block(void)
{
	int unread = 1;

	while (sample_uint64() != (uint64) block_words - 1)
		unread++;
	return block_words - unread;
}

/* sample_uniform(n) when the source gives first, then a word surely accepted */
static uint64
uniform_of(uint64 n, uint64 first, int *consumed)
{
	uint64 result;

	script[0] = first;
	script[1] = PG_UINT64_MAX;
	script_length = 2;
	result = sample_uniform(n);
	*consumed = finish_block();
	return result;
}

/*
 * Each of the n results must own equally many words, all others must be
 * rejected.  Words for result k form an interval; check its ends and its size.
 */
static bool
result_is_fair(uint64 n, uint64 k)
{
	uint128 whole = (uint128) 1 << 64;
	uint64	share = (uint64) (whole / n);
	uint64	surplus = (uint64) (whole % n);
	uint64	last = (uint64) ((((uint128) (k + 1) << 64) - 1) / n);
	uint64	first = last - share + 1;
	int		consumed;
	bool	fair;

	fair = uniform_of(n, first, &consumed) == k && consumed == 1;
	fair = fair && uniform_of(n, last, &consumed) == k && consumed == 1;
	if (surplus == 0 || first == 0)
		return fair;

	/* The word before: rejected, or the last of the result before. */
	if (uniform_of(n, first - 1, &consumed) == n - 1 && consumed == 2)
		return fair;
	return fair && k > 0 && consumed == 1;
}

/* How many of the words next to an interval's start are rejected */
static int
rejected_words(uint64 n)
{
	int rejected = 0;

	for (uint64 k = 0; k < n; k++)
	{
		uint64 start = (uint64) ((((uint128) k << 64) + n - 1) / n);
		int	   consumed;

		(void) uniform_of(n, start, &consumed);
		rejected += consumed == 2;
	}
	return rejected;
}

static void
draw_word(void)
{
	(void) sample_uint64();
}

static void
draw_from_none(void)
{
	(void) sample_uniform(0);
}

static bool
count_block(uint64 *words, int count)
{
	block_words = count;
	block = words;
	return scripted(words, count);
}

static void
test_blocks(void)
{
	bool in_order = true;
	bool wiped = true;

	unit_entropy_source(exhausted);
	ok(fails_no_entropy(draw_word), "no entropy is a failure");
	ok(fails_no_entropy(draw_word), "and stays one, whatever the buffer holds");

	unit_entropy_source(count_block);
	script_length = 0;
	for (int round = 0; round < 3; round++)
	{
		in_order = in_order && sample_uint64() == 0;
		for (int i = 1; i < block_words; i++)
			in_order = in_order && sample_uint64() == (uint64) i;
	}
	ok(in_order, "every word is used once, in order");
	for (int i = 0; i < block_words; i++)
		wiped = wiped && block[i] == 0;
	ok(wiped, "what was used is wiped");
	ok(block_words * sizeof(uint64) == 4096, "4 kB at a time");
}

static void
test_fairness(void)
{
	static const uint64 large[] = {UINT64CONST(1000000007),	   UINT64CONST(2000000000000),
								   (UINT64CONST(1) << 32) + 1, (UINT64CONST(1) << 60) - 1,
								   (UINT64CONST(1) << 63) - 1, UINT64CONST(1) << 63,
								   (UINT64CONST(1) << 63) + 1, PG_UINT64_MAX / 3 * 2,
								   PG_UINT64_MAX - 1,		   PG_UINT64_MAX};
	bool				fair = true;
	bool				exact = true;

	for (uint64 n = 1; n <= 100; n++)
	{
		for (uint64 k = 0; k < n; k++)
			fair = fair && result_is_fair(n, k);
		exact = exact && rejected_words(n) == (int) (((uint128) 1 << 64) % n);
	}
	ok(fair, "n <= 100: all results own equally many words");
	ok(exact, "n <= 100: exactly 2^64 mod n words are rejected");

	for (int i = 0; i < lengthof(large); i++)
	{
		uint64 n = large[i];

		fair = result_is_fair(n, 0) && result_is_fair(n, 1) && result_is_fair(n, n / 2) &&
			   result_is_fair(n, n / 3) && result_is_fair(n, n - 2) && result_is_fair(n, n - 1);
		ok(fair, "n = " UINT64_FORMAT ": results own equally many words", n);
	}
	ok(fails_out_of_range(draw_from_none), "n = 0 is out of range");
}

/* The wide draw takes bits as they come and rejects what is too large. */
static void
test_wide(void)
{
	uint128 n = ((uint128) 5 << 64) + 7;
	uint128 drawn;

	script_length = 4;
	script[0] = (UINT64CONST(1) << 63) | 5; /* bits above n's are ignored */
	script[1] = 6;
	script[2] = script[3] = 0;
	drawn = sample_uniform_wide(n);
	ok(drawn == n - 1, "wide: the largest value is drawn");
	ok(finish_block() == 2, "wide: from two words");

	script[0] = 5;
	script[1] = 7;
	script[2] = 4;
	script[3] = PG_UINT64_MAX;
	drawn = sample_uniform_wide(n);
	ok(drawn == ((uint128) 4 << 64) + PG_UINT64_MAX, "wide: n itself is rejected");
	(void) finish_block();

	script[0] = 6;
	script[1] = 0;
	script[2] = 0;
	script[3] = 9;
	ok(sample_uniform_wide(n) == 9, "wide: a larger high half is rejected");
	(void) finish_block();

	script_length = 2;
	script[0] = 1;
	script[1] = 3;
	ok(sample_uniform_wide((uint128) 1 << 64) == 3, "wide: 2^64 takes no bit of the high half");
	(void) finish_block();
}

/* ---------- fork ---------- */

static int blocks_given;

static bool
counted(uint64 *words, int count)
{
	blocks_given++;
	for (int i = 0; i < count; i++)
		words[i] = (uint64) blocks_given << 32 | i;
	return true;
}

/* A child draws from a block of its own, its parent goes on with the old one. */
static void
test_fork(void)
{
	uint64 before;
	int	   status = -1;
	pid_t  child;

	unit_entropy_source(counted);
	do
		before = sample_uint64();
	while (before != (UINT64CONST(1) << 32 | 10));
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(sample_uint64() == UINT64CONST(2) << 32 ? 0 : 1);
	ok(child > 0 && waitpid(child, &status, 0) == child && status == 0,
	   "a forked child draws no word that its parent has fetched");
	ok(sample_uint64() == before + 1, "the parent goes on where it was");
	unit_entropy_source(NULL);
}

int
main(void)
{
	test_blocks();
	test_fairness();
	test_wide();
	test_fork();
	return done();
}
