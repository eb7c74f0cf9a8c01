/*
 * record.c
 *		What goes into draws, written down for a test: see record.h.
 *
 * A line for each draw is appended to the file that PRIVPRED_RECORD_FILE names in
 * the server's environment; without it nothing is written, and coins are coins.
 */
#include "draw/record.h"

#ifdef PRIVPRED_RECORD_INPUTS

#undef pg_strong_random

#include <stdlib.h>

static FILE	 *file = NULL;
static uint64 coins = 1;

static const char *
file_name(void)
{
	return getenv("PRIVPRED_RECORD_FILE");
}

void
record_open(const char *draw, InputNorm norm, uint64 bound)
{
	static const char *const names[] = {
		[INPUT_LARGEST] = "largest", [INPUT_SUM] = "sum",		[INPUT_SQUARES] = "squares",
		[INPUT_PLACES] = "places",	 [INPUT_STABLE] = "stable",
	};

	if (file_name() == NULL)
		return;
	file = fopen(file_name(), "a");
	if (file == NULL)
		abort();
	fprintf(file, "%s %s " UINT64_FORMAT, draw, names[norm], bound);
}

void
record_put(uint64 key, int64 value)
{
	if (file != NULL && value != 0)
		fprintf(file, " " UINT64_FORMAT ":" INT64_FORMAT, key, value);
}

void
record_close(void)
{
	if (file == NULL)
		return;
	fprintf(file, "\n");
	fclose(file);
	file = NULL;
}

void
record_input(const char *draw, InputNorm norm, uint64 bound, int64 count, const void *values,
			 size_t size)
{
	record_open(draw, norm, bound);
	for (int64 i = 0; i < count; i++)
		record_put(i, size == sizeof(int32) ? ((const int32 *) values)[i]
											: ((const int64 *) values)[i]);
	record_close();
}

uint64
record_key(const void *bytes, size_t size)
{
	uint64 key = UINT64CONST(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		key = (key ^ ((const unsigned char *) bytes)[i]) * UINT64CONST(0x100000001b3);
	return key;
}

int64
record_fixed(int64 value)
{
	return file_name() == NULL ? value : 0;
}

void
record_coins_at(uint64 number)
{
	coins = number;
}

/* SplitMix64, which is as good as any where nothing is private. */
static uint64
next_coins(void)
{
	uint64 z = (coins += UINT64CONST(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

bool
record_random(void *buffer, size_t size)
{
	uint64 *words = buffer;

	if (file_name() == NULL)
		return pg_strong_random(buffer, size);
	for (size_t i = 0; i < size / sizeof(uint64); i++)
		words[i] = next_coins();
	return true;
}

#endif
