/*
 * test_state_format.c
 *		Mutated training states must be accepted or refused, and never read
 *		beyond their end: each is a block of its own, for the address sanitizer.
 *		The checksum is made right again, so that what is behind it is tested.
 *
 * sources: src/learner/state_format.c
 */
#include "c.h"

#include <math.h>

#include "learner/state_format.h"
#include "unit.h"

#define ROUNDS 200000
#define MAX_SIZE 1024
#define ROWS 21

typedef struct Bytes
{
	unsigned char data[MAX_SIZE];
	size_t		  size;
} Bytes;

static void
put_u32(Bytes *bytes, uint32_t value)
{
	write_u32(bytes->data + bytes->size, value);
	bytes->size += 4;
}

static void
put_u64(Bytes *bytes, uint64_t value)
{
	write_u64(bytes->data + bytes->size, value);
	bytes->size += 8;
}

static void
put_string(Bytes *bytes, const char *string)
{
	put_u32(bytes, strlen(string));
	memcpy(bytes->data + bytes->size, string, strlen(string));
	bytes->size += strlen(string);
}

static void
seal(unsigned char *data, size_t size)
{
	if (size >= STATE_HEADER_SIZE)
		write_u32(data + STATE_CRC_OFFSET, state_crc(data, size));
}

/* Two features, three classes, of which the last has no rows. */
static void
begin_state(Bytes *bytes, uint32_t kind, uint32_t shared, uint32_t of_class)
{
	memset(bytes, 0, sizeof(*bytes));
	memcpy(bytes->data, STATE_MAGIC, 4);
	bytes->data[4] = STATE_VERSION;
	bytes->size = 12;
	put_u32(bytes, kind);
	put_u32(bytes, STATE_TEXTS);
	put_u32(bytes, 2);
	put_u32(bytes, 3);
	put_u32(bytes, shared);
	put_u32(bytes, of_class);
	put_u64(bytes, ROWS);
	put_string(bytes, "linear");
	put_string(bytes, "{}");
	put_string(bytes, "low");
	put_string(bytes, "");
	put_string(bytes, "high");
	put_u64(bytes, 14);
	put_u64(bytes, 7);
	put_u64(bytes, 0);
}

static void
make_sums(Bytes *bytes)
{
	begin_state(bytes, STATE_SUMS, 3, 2);
	for (int i = 0; i < 3 + 3 * 2; i++)
	{
		put_u64(bytes, (uint64_t) (i % 2 ? -i : i));
		put_u64(bytes, i % 2 ? UINT64_MAX : 0);
	}
	seal(bytes->data, bytes->size);
}

/* The same in three bytes each. */
static void
make_short_sums(Bytes *bytes)
{
	begin_state(bytes, STATE_SUMS, 3, 2);
	bytes->data[6] = 3;
	for (int i = 0; i < 3 + 3 * 2; i++, bytes->size += 3)
		write_sum(bytes->data + bytes->size, i % 2 ? -i : i, 3);
	seal(bytes->data, bytes->size);
}

/* The sums that both have. */
static void
compare_sums(void)
{
	Bytes	   wide, narrow;
	StateShape of_wide, of_narrow;
	bool	   same;

	make_sums(&wide);
	make_short_sums(&narrow);
	same = state_parse(wide.data, wide.size, &of_wide) == NULL &&
		   state_parse(narrow.data, narrow.size, &of_narrow) == NULL &&
		   of_wide.sum_bytes == MAX_SUM_BYTES && of_narrow.sum_bytes == 3;
	for (int i = 0; same && i < 3 + 3 * 2; i++)
		same = read_sum(of_wide.body + 16 * i, 16) == (i % 2 ? -i : i) &&
			   read_sum(of_narrow.body + 3 * i, 3) == (i % 2 ? -i : i);
	ok(same, "sums are the same in three bytes and in sixteen");
}

static void
check_sum_bytes(void)
{
	int wrong = 0;

	for (uint32_t bytes = 1; bytes <= MAX_SUM_BYTES; bytes++)
	{
		__int128	  most = (__int128) (((unsigned __int128) 1 << (8 * bytes - 1)) - 1);
		unsigned char at[MAX_SUM_BYTES];

		write_sum(at, most, bytes);
		wrong += read_sum(at, bytes) != most;
		write_sum(at, -most - 1, bytes);
		wrong += read_sum(at, bytes) != -most - 1;
	}
	ok(wrong == 0, "the largest and the least sum of each number of bytes");
}

static void
make_rows(Bytes *bytes)
{
	begin_state(bytes, STATE_ROWS, 0, 0);
	bytes->data[bytes->size++] = COLUMN_DOUBLES;
	for (int i = 0; i < ROWS; i++, bytes->size += 8)
		write_double(bytes->data + bytes->size, i * 0.25);
	bytes->data[bytes->size++] = COLUMN_BITS;
	bytes->data[bytes->size++] = 0xA5;
	bytes->data[bytes->size++] = 0x5A;
	bytes->data[bytes->size++] = 0x15;
	for (int i = 0; i < ROWS; i++, bytes->size += 2)
		bytes->data[bytes->size] = i % 3 == 0;
	seal(bytes->data, bytes->size);
}

/* On the heap, to the byte, so that the sanitizer sees what is read beyond. */
static bool
accepted(const unsigned char *data, size_t size)
{
	unsigned char *exact = malloc(size ? size : 1);
	StateShape	   shape;
	double		   sum = 0;
	bool		   ok;

	memcpy(exact, data, size);
	ok = state_parse(exact, size, &shape) == NULL;
	if (ok && shape.kind == STATE_ROWS)
	{
		/* what a reader does with what was accepted */
		const unsigned char *column = shape.body;

		for (uint32_t i = 0; i < shape.width; i++)
		{
			for (uint64_t row = 0; row < shape.rows; row++)
				sum += column_value(column, row);
			column += 1 + column_size(column[0], shape.rows);
		}
		if (column != shape.row_class || isinf(sum))
			ok = false;
	}
	free(exact);
	return ok;
}

static void
fuzz(const char *what, void (*make)(Bytes *))
{
	int	  taken = 0;
	int	  unsealed = 0;
	Bytes valid;

	make(&valid);
	ok(accepted(valid.data, valid.size), "a state of %s is accepted", what);
	for (int round = 0; round < ROUNDS; round++)
	{
		Bytes mutant = valid;

		mutant.size = mutate(mutant.data, mutant.size);
		if (mutant.size != valid.size || memcmp(mutant.data, valid.data, valid.size) != 0)
			unsealed += accepted(mutant.data, mutant.size);
		seal(mutant.data, mutant.size);
		taken += accepted(mutant.data, mutant.size);
	}
	ok(unsealed == 0, "no mutant of a state of %s is accepted with the old checksum", what);
	ok(taken > 0 && taken < ROUNDS, "some mutants of a state of %s are, with a new one: %d of %d",
	   what, taken, ROUNDS);
}

static void
refuses(const char *what, void (*make)(Bytes *), size_t at, uint32_t value)
{
	Bytes bytes;

	make(&bytes);
	write_u32(bytes.data + at, value);
	seal(bytes.data, bytes.size);
	ok(!accepted(bytes.data, bytes.size), "refused: %s", what);
}

int
main(void)
{
	Bytes bytes;

	fuzz("sums", make_sums);
	fuzz("short sums", make_short_sums);
	fuzz("rows", make_rows);
	compare_sums();
	check_sum_bytes();
	refuses("sixteen bytes in another way", make_sums, 4, STATE_VERSION | 16 << 16);
	refuses("sums of more bytes than there are", make_short_sums, 4, STATE_VERSION | 4 << 16);
	refuses("rows with bytes of sums", make_rows, 4, STATE_VERSION | 8 << 16);
	refuses("another version", make_sums, 4, 2);
	refuses("an unknown kind", make_sums, 12, 3);
	refuses("labels of an unknown kind", make_sums, 16, 4);
	refuses("no features", make_sums, 20, 0);
	refuses("rows without end", make_rows, 40, 0x8000);
	refuses("more rows than those of its classes", make_sums, 36, ROWS + 1);
	make_sums(&bytes);
	/* the first sum is ROWS * 2^78, which is possible, and then one more */
	write_u64(bytes.data + bytes.size - 16, 0);
	write_u64(bytes.data + bytes.size - 8, (uint64_t) ROWS << 14);
	seal(bytes.data, bytes.size);
	ok(accepted(bytes.data, bytes.size), "the largest sum there can be");
	write_u64(bytes.data + bytes.size - 16, 1);
	seal(bytes.data, bytes.size);
	ok(!accepted(bytes.data, bytes.size), "refused: a larger one");
	make_rows(&bytes);
	write_double(bytes.data + bytes.size - 2 * ROWS - 4 - 8, INFINITY);
	seal(bytes.data, bytes.size);
	ok(!accepted(bytes.data, bytes.size), "refused: infinity");
	make_rows(&bytes);
	bytes.data[bytes.size - 2] = 2;
	seal(bytes.data, bytes.size);
	ok(!accepted(bytes.data, bytes.size), "refused: a row of a class that has none");
	make_rows(&bytes);
	bytes.data[bytes.size - 2 * ROWS - 1] |= 0x80;
	seal(bytes.data, bytes.size);
	ok(!accepted(bytes.data, bytes.size), "refused: bits behind the last row");
	bytes.size++;
	seal(bytes.data, bytes.size);
	ok(!accepted(bytes.data, bytes.size), "refused: bytes behind the end");
	return done();
}
