/*
 * prototype.c
 *		What private_predict() would be without a server: the same teachers, the
 *		same questions and the same draw, with no budget, no catalog, no executor.
 *
 * Reads two files of COPY ... (FORMAT binary): the predictor of a model with two
 * classes and linear teachers, and the questions, all float8 in [0, 1].  Then
 * answers each question: scales and checks the features, evaluates the teachers,
 * counts votes, and draws by permute-and-flip with exact coins (Canonne, Kamath,
 * Steinke 2020) from bits of getrandom(), 4 kB at a time.
 *
 * The teachers are evaluated in one of two ways, which give the same votes:
 *
 *	plain		teacher by teacher, as anybody writes it
 *	lanes		the weights turned round, 16 teachers at a time, votes counted by
 *				comparing vectors: what one writes for one machine when it matters
 *
 * usage: prototype PREDICTOR QUESTIONS WIDTH EPSILON {plain|lanes}
 * prints: milliseconds, questions, questions that most teachers answer with the
 *		second class, answers with the second class
 */
#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define LANES 16
#define FOUR 4 /* vectors of so many numbers stay in registers */
#define MAX_WIDTH 1024
#define UNITS UINT64_C(1000000000000) /* epsilon in units of 10^-12 */

typedef double	Vector __attribute__((vector_size(FOUR * sizeof(double))));
typedef int64_t Counts __attribute__((vector_size(FOUR * sizeof(int64_t))));

static int	   width;
static int	   teachers;
static double *weights; /* teacher by teacher: width numbers, then the bias */
static Vector *turned;	/* the same, LANES teachers at a time */
static double *questions;
static long	   nquestions;

static void
fail(const char *what)
{
	fprintf(stderr, "prototype: %s\n", what);
	exit(1);
}

/* ---------- reading ---------- */

static unsigned char *
read_file(const char *name, size_t *size)
{
	FILE		  *file = fopen(name, "rb");
	unsigned char *bytes;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		fail(name);
	*size = ftell(file);
	rewind(file);
	bytes = malloc(*size);
	if (bytes == NULL || fread(bytes, 1, *size, file) != *size)
		fail(name);
	fclose(file);
	return bytes;
}

static uint32_t
little(const unsigned char *p)
{
	uint32_t value;

	memcpy(&value, p, 4);
	return le32toh(value);
}

static size_t
turned_size(void)
{
	return sizeof(double) * ((teachers + LANES - 1) / LANES) * LANES * (width + 1);
}

/* Skips the header of COPY and of its only field. */
static void
read_predictor(const char *name)
{
	size_t		   size;
	unsigned char *bytes = read_file(name, &size);
	unsigned char *at = bytes + 19 + 2 + 4;

	if (memcmp(at, "PPRD", 4) != 0 || little(at + 8) != 2 || little(at + 12) != (uint32_t) width)
		fail("not a predictor of two classes and so many features");
	teachers = little(at + 16);
	at += 24;
	for (int i = 0; i < 2; i++)
		at += 4 + little(at);
	weights = malloc(sizeof(double) * teachers * (width + 1));
	for (int t = 0; t < teachers; t++, at += 8 + 8 * (width + 1))
	{
		if (little(at) != 2 || little(at + 4) != 8 * (uint32_t) (width + 1))
			fail("not all teachers are linear");
		memcpy(weights + t * (width + 1), at + 8, 8 * (width + 1));
	}
	free(bytes);

	turned = aligned_alloc(64, turned_size());
	memset(turned, 0, turned_size());
	for (int t = 0; t < teachers; t++)
		for (int i = 0; i <= width; i++)
			((double *) turned)[(t / LANES * (width + 1) + i) * LANES + t % LANES] =
				weights[t * (width + 1) + i];
}

static void
read_questions(const char *name)
{
	size_t		   size;
	unsigned char *bytes = read_file(name, &size);
	size_t		   row = 2 + 12 * (size_t) width;

	nquestions = (size - 19) / row;
	questions = malloc(sizeof(double) * nquestions * width);
	for (long q = 0; q < nquestions; q++)
		for (int i = 0; i < width; i++)
		{
			uint64_t bits;

			memcpy(&bits, bytes + 19 + q * row + 2 + 12 * i + 4, 8);
			bits = be64toh(bits);
			memcpy(&questions[q * width + i], &bits, 8);
		}
	free(bytes);
}

/* ---------- drawing ---------- */

static uint64_t
random_word(void)
{
	static uint64_t buffer[512];
	static int		next = 512;

	if (next == 512)
	{
		for (size_t got = 0; got < sizeof(buffer);)
		{
			ssize_t n = getrandom((char *) buffer + got, sizeof(buffer) - got, 0);

			if (n < 0)
				fail("no random bits");
			got += n;
		}
		next = 0;
	}
	return buffer[next++];
}

/* Uniform below n (Lemire 2019). */
static uint64_t
uniform(uint64_t n)
{
	unsigned __int128 product = (unsigned __int128) random_word() * n;

	if ((uint64_t) product < n)
		while ((uint64_t) product < -n % n)
			product = (unsigned __int128) random_word() * n;
	return (uint64_t) (product >> 64);
}

/* exp(-numerator / denominator), numerator <= denominator */
static bool
coin_exp_fraction(uint64_t numerator, uint64_t denominator)
{
	uint64_t k = 1;

	while ((numerator == denominator || uniform(denominator) < numerator) &&
		   (k == 1 || uniform(k) == 0))
		k++;
	return k % 2 == 1;
}

static bool
coin_exp(uint64_t numerator, uint64_t denominator)
{
	for (uint64_t whole = numerator / denominator; whole > 0; whole--)
		if (!coin_exp_fraction(1, 1))
			return false;
	return coin_exp_fraction(numerator % denominator, denominator);
}

/* Permute-and-flip (McKenna, Sheldon 2020) for two classes. */
static int
draw(const int votes[2], uint64_t epsilon)
{
	int winner = votes[1] > votes[0];
	int first = (int) uniform(2);

	if (first == winner ||
		coin_exp((uint64_t) (votes[winner] - votes[1 - winner]) * epsilon, 2 * UNITS))
		return first;
	return winner;
}

/* ---------- teachers ---------- */

static void
encode(const double *question, double *x)
{
	for (int i = 0; i < width; i++)
	{
		double value = question[i];

		if (!isfinite(value))
			fail("a feature is not finite");
		value = (value - 0.0) * 1.0;
		x[i] = value <= 0 ? 0 : value >= 1 ? 1 : value;
	}
}

static int
votes_plain(const double *x)
{
	const double *w = weights;
	int			  votes = 0;

	for (int t = 0; t < teachers; t++, w += width + 1)
	{
		double score = w[width];

		for (int i = 0; i < width; i++)
			score += x[i] * w[i];
		votes += score > 0;
	}
	return votes;
}

static int
votes_lanes(const double *x)
{
	const Vector *w = turned;
	Counts		  count = {0};

	for (int t = 0; t < teachers; t += LANES)
	{
		const Vector *bias = w + width * (LANES / FOUR);
		Vector		  s0 = bias[0];
		Vector		  s1 = bias[1];
		Vector		  s2 = bias[2];
		Vector		  s3 = bias[3];

		for (int i = 0; i < width; i++, w += LANES / FOUR)
		{
			s0 += x[i] * w[0];
			s1 += x[i] * w[1];
			s2 += x[i] * w[2];
			s3 += x[i] * w[3];
		}
		w += LANES / FOUR;
		/* true is -1; teachers that only fill the last block score 0 */
		count -= (s0 > 0.0) + (s1 > 0.0) + (s2 > 0.0) + (s3 > 0.0);
	}
	return (int) (count[0] + count[1] + count[2] + count[3]);
}

int
main(int argc, char **argv)
{
	struct timespec start, end;
	double			x[MAX_WIDTH];
	uint64_t		epsilon;
	long			majorities = 0;
	long			answers = 0;
	bool			lanes;

	if (argc != 6)
		fail("usage: prototype PREDICTOR QUESTIONS WIDTH EPSILON {plain|lanes}");
	width = atoi(argv[3]);
	epsilon = (uint64_t) llround(atof(argv[4]) * UNITS);
	lanes = strcmp(argv[5], "lanes") == 0;
	if (width < 1 || width > MAX_WIDTH)
		fail("too many features");
	read_predictor(argv[1]);
	read_questions(argv[2]);

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long q = 0; q < nquestions; q++)
	{
		int votes[2];

		encode(questions + q * width, x);
		votes[1] = lanes ? votes_lanes(x) : votes_plain(x);
		votes[0] = teachers - votes[1];
		majorities += votes[1] > votes[0];
		answers += draw(votes, epsilon);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.3f %ld %ld %ld\n",
		   (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6, nquestions,
		   majorities, answers);
	return 0;
}
