/*
 * unit.c
 *		TAP, a host for the samplers, statistics, and an enumerator.
 */
#include "c.h"

#include <math.h>
#include <setjmp.h>
#include <sys/random.h>

#include "draw/sampler.h"
#include "unit.h"

/* ---------- TAP ---------- */

static int tests_run = 0;
static int tests_failed = 0;

void
ok(bool passed, const char *format, ...)
{
	char	name[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	printf("%sok %d - %s\n", passed ? "" : "not ", ++tests_run, name);
	if (!passed)
		tests_failed++;
	fflush(stdout);
}

void
note(const char *format, ...)
{
	char	text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("# %s\n", text);
}

int
done(void)
{
	printf("1..%d\n", tests_run);
	return tests_failed > 0 || tests_run == 0;
}

/* ---------- the same numbers every time ---------- */

/* Marsaglia's xorshift. */
uint32
arbitrary(uint32 n)
{
	static uint64 state = UINT64CONST(88172645463325252);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32) (state >> 33) % n;
}

static void
put_number(unsigned char *bytes, uint32 number)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char) (number >> 8 * i);
}

size_t
mutate(unsigned char *bytes, size_t size)
{
	for (uint32 n = 1 + arbitrary(4); n > 0; n--)
	{
		size_t at = arbitrary(size);

		switch (arbitrary(6))
		{
			case 0:
				bytes[at] ^= 1 << arbitrary(8);
				break;
			case 1:
				bytes[at] = arbitrary(256);
				break;
			case 2:
				put_number(bytes + Min(at, size - 4),
						   arbitrary(2) ? arbitrary(64) : UINT32_MAX - arbitrary(64));
				break;
			case 3:
				size = 4 + arbitrary(size - 3);
				break;
			case 4:
				memmove(bytes + at, bytes + at / 2, size - at);
				break;
			case 5:
				/* near the beginning, where a number has most power */
				put_number(bytes + Min(4 * arbitrary(16), size - 4), arbitrary(12));
				break;
		}
	}
	return size;
}

/* ---------- the samplers' host ---------- */

static EntropySource entropy_source = NULL;
static jmp_buf		*no_entropy = NULL;
static jmp_buf		*out_of_range = NULL;

void
unit_entropy_source(EntropySource source)
{
	entropy_source = source;
}

static uint64
first_state(void)
{
	const char *given = getenv("UNIT_SEED");
	uint64		seed;

	if (given != NULL)
		seed = strtoull(given, NULL, 10);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	note("UNIT_SEED=" UINT64_FORMAT, seed);
	return seed;
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64
next_word(void)
{
	static bool	  seeded = false;
	static uint64 state;
	uint64		  z;

	if (!seeded)
		state = first_state();
	seeded = true;
	z = (state += UINT64CONST(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

bool
pg_strong_random(void *buf, size_t len)
{
	uint64 *words = buf;
	int		count = (int) (len / sizeof(uint64));

	if (entropy_source != NULL)
		return entropy_source(words, count);
	for (int i = 0; i < count; i++)
		words[i] = next_word();
	return true;
}

void
sampler_no_entropy(void)
{
	if (no_entropy != NULL)
		longjmp(*no_entropy, 1);
	abort();
}

void
sampler_out_of_range(const char *function)
{
	if (out_of_range != NULL)
		longjmp(*out_of_range, 1);
	printf("Bail out! argument of %s out of range\n", function);
	fflush(stdout);
	abort();
}

static bool
call_jumps(void (*call)(void), jmp_buf **target)
{
	jmp_buf		  here;
	volatile bool jumped = true;

	*target = &here;
	if (setjmp(here) == 0)
	{
		call();
		jumped = false;
	}
	*target = NULL;
	return jumped;
}

bool
fails_no_entropy(void (*call)(void))
{
	return call_jumps(call, &no_entropy);
}

bool
fails_out_of_range(void (*call)(void))
{
	return call_jumps(call, &out_of_range);
}

/* ---------- statistics ---------- */

#define FALSE_ALARM 1e-9
#define MISS 1e-7

/* p ln(p/q), with its limit at p = 0 */
static double
divergence_term(double p, double q)
{
	return p == 0 ? 0 : p * log(p / q);
}

/* of the share observed, from the probability */
static double
divergence(double observed, double probability)
{
	if (probability <= 0 || probability >= 1)
		return observed == probability ? 0 : INFINITY;
	return divergence_term(observed, probability) + divergence_term(1 - observed, 1 - probability);
}

/* The share nearest to what is wrong that is plausible, by bisection. */
static double
last_plausible(int64 trials, double probability, double wrong)
{
	double in = probability;
	double out = wrong;

	for (int i = 0; i < 60; i++)
	{
		double middle = (in + out) / 2;

		if (trials * divergence(middle, probability) <= log(2 / FALSE_ALARM))
			in = middle;
		else
			out = middle;
	}
	return out;
}

bool
told_apart(int64 trials, double probability, double wrong)
{
	if (trials * divergence(wrong, probability) <= log(2 / FALSE_ALARM))
		return false;
	return trials * divergence(last_plausible(trials, probability, wrong), wrong) > log(1 / MISS);
}

static bool
is_sized(int64 trials, double probability)
{
	return (probability + NOTICED > 1 || told_apart(trials, probability, probability + NOTICED)) &&
		   (probability - NOTICED < 0 || told_apart(trials, probability, probability - NOTICED));
}

bool
plausible(int64 successes, int64 trials, double probability)
{
	int64 enough = trials;

	while (!is_sized(enough, probability))
		enough += enough / 8 + 1;
	if (enough > trials)
	{
		printf("Bail out! " INT64_FORMAT " trials of probability %g are too few, " INT64_FORMAT
			   " suffice\n",
			   trials, probability, enough);
		fflush(stdout);
		exit(1);
	}
	return trials * divergence((double) successes / trials, probability) <= log(2 / FALSE_ALARM);
}

/* ---------- the enumerator ---------- */

#define MAX_DEPTH 10000

/* values of longjmp */
#define UNRESOLVED 1
#define STARTED_OVER 2

typedef struct Choice
{
	int n;
	int taken;
} Choice;

static Choice  path[MAX_DEPTH];
static int	   path_length;
static int	   depth;
static double  path_weight;
static double  weight_cutoff;
static jmp_buf leave_path;

static double
weight_of(int n, const double *weights, int choice)
{
	return weights == NULL ? 1.0 / n : weights[choice];
}

int
choose(int n, const double *weights)
{
	Choice *choice = &path[depth];

	if (depth == MAX_DEPTH || n < 1)
		abort();
	if (depth == path_length)
	{
		choice->taken = 0;
		path_length++;
	}
	choice->n = n;
	while (weight_of(n, weights, choice->taken) == 0 && choice->taken < n - 1)
		choice->taken++;
	path_weight *= weight_of(n, weights, choice->taken);
	depth++;
	if (path_weight < weight_cutoff)
		longjmp(leave_path, UNRESOLVED);
	return choice->taken;
}

void
start_over(void)
{
	longjmp(leave_path, STARTED_OVER);
}

/* The next path in order; false if there is none. */
static bool
next_path(void)
{
	while (path_length > 0 && path[path_length - 1].taken == path[path_length - 1].n - 1)
		path_length--;
	if (path_length == 0)
		return false;
	path[path_length - 1].taken++;
	return true;
}

void
enumerate(RandomFunction function, const void *argument, double cutoff, Enumeration *result)
{
	memset(result, 0, sizeof(*result));
	path_length = 0;
	weight_cutoff = cutoff;
	do
	{
		int64 index;

		depth = 0;
		path_weight = 1;
		switch (setjmp(leave_path))
		{
			case UNRESOLVED:
				result->unresolved += path_weight;
				path_length = depth;
				continue;
			case STARTED_OVER:
				result->started_over += path_weight;
				path_length = depth;
				continue;
		}
		index = function(argument) + ENUMERATED_OUTCOMES / 2;
		if (index >= 0 && index < ENUMERATED_OUTCOMES)
			result->weight[index] += path_weight;
		else
			result->elsewhere += path_weight;
	} while (next_path());
}

bool
agrees(const Enumeration *enumeration, int64 outcome, double probability)
{
	double weight = enumeration->weight[outcome + ENUMERATED_OUTCOMES / 2];
	double unresolved = enumeration->unresolved;
	double ended = 1 - enumeration->started_over;

	return probability >= weight / ended - 1e-12 &&
		   probability <= (weight + unresolved) / (ended - unresolved) + 1e-12;
}

/* Servers built with assertions leave them in the headers, too. */
#ifdef USE_ASSERT_CHECKING
#if PG_VERSION_NUM < 160000
void
ExceptionalCondition(const char *condition, const char *type, const char *file, int line)
#else
void
ExceptionalCondition(const char *condition, const char *file, int line)
#endif
{
	printf("Bail out! %s at %s:%d\n", condition, file, line);
	abort();
}
#endif
