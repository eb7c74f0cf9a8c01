/*
 * unit_sums.c
 *		Sums over all units of what each adds, wherever the rows are.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "mechanism/unit_sums.h"

#define REQUEST_FORMAT 1
#define SUMS_FORMAT 2

/* So many sums are written with the same number of bits. */
#define BLOCK_SUMS 32

#define SUMS_PER_CHECK 65536

/* No kind has more: weights of all classes, with the widest rows. */
#define MOST_SUMS ((PRIVPRED_MAX_WIDTH + INT64CONST(1)) * PRIVPRED_MAX_CLASSES)

#define UNIT_SUM_ENTRY(name) &name##_unit_sum,
static const UnitSum *const kinds[] = {UNIT_SUMS(UNIT_SUM_ENTRY)};

void
parameter_damaged(void)
{
	refuse(errmsg("these sums were not asked for by a mechanism"));
}

/* ---------- here ---------- */

void
unit_sums(UnitSource *source, const UnitSum *kind, const StringInfoData *parameter, int64 count,
		  int128 *sums)
{
	MemoryContext  work;
	MemoryContext  caller;
	StringInfoData bytes = *parameter;
	UnitSummer	  *summer;
	UnitRows	   unit;

	memset(sums, 0, count * sizeof(int128));
	if (source->sum != NULL)
	{
		source->sum(source, kind, parameter, count, sums);
		return;
	}
	work = AllocSetContextCreate(CurrentMemoryContext, "privpred sums", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(work);
	bytes.cursor = 0;
	summer = kind->open(&source->form, &bytes);
	MemoryContextSwitchTo(caller);
	Assert(summer->count == count);
	source->rewind(source);
	while (source->next(source, &unit))
	{
		CHECK_FOR_INTERRUPTS();
		summer->add(summer, &unit);
	}
	summer->flush(summer, sums);
	MemoryContextDelete(work);
}

/* ---------- what is sent out ---------- */

bytea *
unit_sums_request(const UnitSum *kind, const UnitForm *form, const StringInfoData *parameter)
{
	StringInfoData bytes;

	pq_begintypsend(&bytes);
	pq_sendint32(&bytes, REQUEST_FORMAT);
	pq_sendint32(&bytes, form->width);
	pq_sendint32(&bytes, form->max_rows);
	pq_sendint64(&bytes, form->seed);
	pq_sendint32(&bytes, form->nclasses);
	pq_sendbyte(&bytes, form->keeps_unlabelled);
	pq_sendfloat8(&bytes, form->label_min);
	pq_sendfloat8(&bytes, form->label_max);
	pq_sendbyte(&bytes, strlen(kind->name));
	pq_sendbytes(&bytes, kind->name, strlen(kind->name));
	pq_sendbytes(&bytes, parameter->data, parameter->len);
	return pq_endtypsend(&bytes);
}

static const UnitSum *
get_kind(StringInfo bytes)
{
	int			length = pq_getmsgbyte(bytes);
	const char *name = pq_getmsgbytes(bytes, length);

	for (int i = 0; i < lengthof(kinds); i++)
		if (strlen(kinds[i]->name) == length && memcmp(kinds[i]->name, name, length) == 0)
			return kinds[i];
	parameter_damaged();
}

PartialSums *
partial_sums_open(bytea *request)
{
	PartialSums	  *result = palloc0_object(PartialSums);
	int			   size = VARSIZE_ANY_EXHDR(request);
	StringInfoData bytes = {.data = VARDATA_ANY(request), .len = size, .maxlen = size};
	UnitForm	   form = {0};
	const UnitSum *kind;

	if (pq_getmsgint(&bytes, 4) != REQUEST_FORMAT)
		parameter_damaged();
	form.width = pq_getmsgint(&bytes, 4);
	form.max_rows = pq_getmsgint(&bytes, 4);
	form.seed = pq_getmsgint64(&bytes);
	form.nclasses = pq_getmsgint(&bytes, 4);
	form.keeps_unlabelled = pq_getmsgbyte(&bytes) != 0;
	form.label_min = pq_getmsgfloat8(&bytes);
	form.label_max = pq_getmsgfloat8(&bytes);
	if (form.width < 0 || form.width > PRIVPRED_MAX_WIDTH || form.max_rows < 0 ||
		form.nclasses < 0 || form.nclasses > PRIVPRED_MAX_CLASSES)
		parameter_damaged();
	kind = get_kind(&bytes);
	result->request = hash_bytes_extended((unsigned char *) VARDATA_ANY(request), size, 0);
	result->reader = unit_reader_create(&form);
	result->summer = kind->open(&form, &bytes);
	pq_getmsgend(&bytes);
	result->count = result->summer->count;
	result->sum =
		palloc_extended(result->count * sizeof(int128), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return result;
}

/* ---------- sums ---------- */

void
partial_sums_end_unit(PartialSums *sums)
{
	UnitRows unit = {0};

	if (sums->in_unit && unit_end(sums->reader, &unit))
		sums->summer->add(sums->summer, &unit);
	sums->in_unit = false;
}

/* Adds what was read here since the last time. */
static void
catch_up(PartialSums *sums)
{
	if (sums->summer == NULL)
		return;
	partial_sums_end_unit(sums);
	sums->summer->flush(sums->summer, sums->sum);
	sums->rows += sums->reader->rows;
	sums->unused += sums->reader->unused;
	sums->reader->rows = sums->reader->unused = 0;
}

void
partial_sums_merge(PartialSums *target, PartialSums *source)
{
	if (target->request != source->request || target->count != source->count)
		refuse(errmsg("sums of different kinds cannot be merged"));
	catch_up(source);
	target->rows += source->rows;
	target->unused += source->unused;
	for (int64 i = 0; i < source->count; i++)
	{
		if (i % SUMS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		target->sum[i] += source->sum[i];
	}
}

/* Small numbers of either sign are small numbers without one, and back. */
static uint128
without_sign(int128 number)
{
	return (uint128) number << 1 ^ (uint128) (number >> 127);
}

static int128
with_sign(uint128 number)
{
	return (int128) (number >> 1) ^ -(int128) (number & 1);
}

/* Bits on their way to or from bytes, the lowest first. */
typedef struct BitBuffer
{
	uint128 bits;
	int		count; /* below 8 between two calls */
} BitBuffer;

static void
put_bits(StringInfo bytes, BitBuffer *buffer, uint64 number, int count)
{
	buffer->bits |= (uint128) number << buffer->count;
	for (buffer->count += count; buffer->count >= BITS_PER_BYTE; buffer->count -= BITS_PER_BYTE)
	{
		appendStringInfoCharMacro(bytes, (char) buffer->bits);
		buffer->bits >>= BITS_PER_BYTE;
	}
}

static uint64
get_bits(StringInfo bytes, BitBuffer *buffer, int count)
{
	uint64 number;

	for (; buffer->count < count; buffer->count += BITS_PER_BYTE)
		buffer->bits |= (uint128) (unsigned char) pq_getmsgbyte(bytes) << buffer->count;
	number = (uint64) buffer->bits;
	if (count < 64)
		number &= (UINT64CONST(1) << count) - 1;
	buffer->bits >>= count;
	buffer->count -= count;
	return number;
}

/* Numbers of a block have as many bits as the largest of them, after a byte that says how many. */
static void
put_block(StringInfo bytes, const int128 *sums, int n, int shift)
{
	BitBuffer buffer = {0};
	uint128	  all = 0;
	int		  width = 0;

	for (int i = 0; i < n; i++)
		all |= without_sign(sums[i] >> shift);
	for (; all != 0; all >>= 1)
		width++;
	appendStringInfoCharMacro(bytes, (char) width);
	for (int i = 0; i < n; i++)
	{
		uint128 number = without_sign(sums[i] >> shift);

		put_bits(bytes, &buffer, (uint64) number, Min(width, 64));
		put_bits(bytes, &buffer, (uint64) (number >> 64), Max(width - 64, 0));
	}
	if (buffer.count > 0)
		appendStringInfoCharMacro(bytes, (char) buffer.bits);
}

static void
get_block(StringInfo bytes, int128 *sums, int n, int shift)
{
	BitBuffer buffer = {0};
	int		  width = pq_getmsgbyte(bytes);

	if (width > 128)
		parameter_damaged();
	for (int i = 0; i < n; i++)
	{
		uint128 number = get_bits(bytes, &buffer, Min(width, 64));

		number |= (uint128) get_bits(bytes, &buffer, Max(width - 64, 0)) << 64;
		sums[i] = (int128) ((uint128) with_sign(number) << shift);
	}
	/* what fills up the last byte */
	if (buffer.bits != 0)
		parameter_damaged();
}

/* How many bits are zero at the end of all of them: what one unit adds may be a power of two. */
static int
shared_zeros(const PartialSums *sums)
{
	uint128 bits = 0;
	int		zeros = 0;

	for (int64 i = 0; i < sums->count; i++)
		bits |= (uint128) sums->sum[i];
	while (bits != 0 && (bits >> zeros & 1) == 0)
		zeros++;
	return zeros;
}

bytea *
partial_sums_write(PartialSums *sums)
{
	StringInfoData bytes;
	int			   shift;

	catch_up(sums);
	shift = shared_zeros(sums);
	pq_begintypsend(&bytes);
	pq_sendint32(&bytes, SUMS_FORMAT);
	pq_sendint64(&bytes, sums->request);
	pq_sendint64(&bytes, sums->rows);
	pq_sendint64(&bytes, sums->unused);
	pq_sendint64(&bytes, sums->count);
	pq_sendbyte(&bytes, shift);
	for (int64 i = 0; i < sums->count; i += BLOCK_SUMS)
	{
		if (i % SUMS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		put_block(&bytes, sums->sum + i, (int) Min(BLOCK_SUMS, sums->count - i), shift);
	}
	return pq_endtypsend(&bytes);
}

PartialSums *
partial_sums_read(const char *data, Size size)
{
	PartialSums	  *result = palloc0_object(PartialSums);
	StringInfoData bytes = {.data = unconstify(char *, data), .len = size, .maxlen = size};
	int			   shift;

	if (pq_getmsgint(&bytes, 4) != SUMS_FORMAT)
		parameter_damaged();
	result->request = pq_getmsgint64(&bytes);
	result->rows = pq_getmsgint64(&bytes);
	result->unused = pq_getmsgint64(&bytes);
	result->count = pq_getmsgint64(&bytes);
	shift = pq_getmsgbyte(&bytes);
	/* Each block takes a byte at least. */
	if (shift > 127 || result->count < 0 || result->count > MOST_SUMS ||
		result->count > (int64) BLOCK_SUMS * (bytes.len - bytes.cursor))
		parameter_damaged();
	result->sum = MemoryContextAllocHuge(CurrentMemoryContext, result->count * sizeof(int128));
	for (int64 i = 0; i < result->count; i += BLOCK_SUMS)
	{
		if (i % SUMS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		get_block(&bytes, result->sum + i, (int) Min(BLOCK_SUMS, result->count - i), shift);
	}
	pq_getmsgend(&bytes);
	return result;
}
