/*
 * describe_rows.c
 *		How many units are in which cell.
 *
 * Each unit gives one row.  If a key says that a unit is one row, the table is read as it
 * lies; else the server groups it by unit and takes the row whose keyed hash is least, in which
 * no other unit, order of rows or plan has a say.
 *
 * Levels are counted in a hash table.  Whenever it is full, what it holds goes to a sort, which
 * spills; counts of the same level are added up behind it, so that it makes no difference.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "draw/sampler.h"
#include "learner/learner.h"
#include "request/describe.h"
#include "request/train.h"
#include "server/citus.h"
#include "server/progress.h"

#define ROWS_PER_FETCH 1000

/* ---------- levels in memory ---------- */

typedef struct LevelCount
{
	const char *key; /* see level_key() */
	int			length;
	uint32		hash;
	char		status;
	int64		count;
} LevelCount;

#define SH_PREFIX levels
#define SH_ELEMENT_TYPE LevelCount
#define SH_KEY_TYPE const char *
#define SH_KEY key
#define SH_HASH_KEY(table, key) 0 /* never asked for: callers know the hash */
#define SH_EQUAL(table, a, b) \
	(memcmp(a, b, 3) == 0 && memcmp(a + 3, b + 3, (unsigned char) a[2]) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) entry->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Two bytes of the histogram's number, one of the length, and the level. */
#define KEY_SIZE (3 + DESCRIBED_LEVEL_BYTES)

typedef struct LevelCounter
{
	LevelSource		source;	 /* what it becomes */
	MemoryContext	context; /* of the table and its keys */
	levels_hash	   *table;
	Size			room;
	Tuplesortstate *sorted;

	/* while they are read */
	bytea *pending; /* the first of the next level; NULL: none is left */
	char   level[DESCRIBED_LEVEL_BYTES + 1];
} LevelCounter;

static void
table_begin(LevelCounter *counter)
{
	counter->table = levels_create(counter->context, 256, NULL);
}

/* In the sort: the key without the length, a zero, which no text holds, and the count. */
static void
flush(LevelCounter *counter)
{
	levels_iterator iterator;
	LevelCount	   *entry;
	char			buffer[VARHDRSZ + KEY_SIZE + sizeof(uint64)];

	levels_start_iterate(counter->table, &iterator);
	while ((entry = levels_iterate(counter->table, &iterator)) != NULL)
	{
		int	   length = (unsigned char) entry->key[2];
		char  *at = buffer + VARHDRSZ;
		uint64 count = pg_hton64((uint64) entry->count);

		memcpy(at, entry->key, 2);
		memcpy(at + 2, entry->key + 3, length);
		at[2 + length] = '\0';
		memcpy(at + 3 + length, &count, sizeof(count));
		SET_VARSIZE(buffer, VARHDRSZ + 3 + length + sizeof(count));
		tuplesort_putdatum(counter->sorted, PointerGetDatum(buffer), false);
	}
	MemoryContextReset(counter->context);
	table_begin(counter);
}

static void
count_level(LevelCounter *counter, int histogram, const char *level, int length)
{
	char		key[KEY_SIZE];
	LevelCount *entry;
	bool		found;

	key[0] = (char) (histogram >> 8);
	key[1] = (char) (histogram & 0xFF);
	key[2] = (char) length;
	memcpy(key + 3, level, length);
	entry = levels_insert_hash(counter->table, key, hash_bytes((unsigned char *) key, 3 + length),
							   &found);
	if (!found)
	{
		char *copy = MemoryContextAlloc(counter->context, 3 + length);

		memcpy(copy, key, 3 + length);
		entry->key = copy;
		entry->count = 0;
	}
	entry->count++;
	if (!found && counter->context->mem_allocated > counter->room)
		flush(counter);
}

/* ---------- levels, sorted ---------- */

static bytea *
next_sorted(LevelCounter *counter)
{
	Datum value;
	bool  isnull;

	if (!tuplesort_next_datum(counter->sorted, &value, &isnull))
		return NULL;
	return DatumGetByteaPP(value);
}

static int64
count_of(const bytea *entry)
{
	uint64 count;

	memcpy(&count, VARDATA_ANY(entry) + VARSIZE_ANY_EXHDR(entry) - sizeof(count), sizeof(count));
	return (int64) pg_ntoh64(count);
}

static bool
same_level(const bytea *a, const bytea *b)
{
	Size length = VARSIZE_ANY_EXHDR(a);

	return length == VARSIZE_ANY_EXHDR(b) &&
		   memcmp(VARDATA_ANY(a), VARDATA_ANY(b), length - sizeof(uint64)) == 0;
}

static bool
next_level(LevelSource *source, int *histogram, const char **level, int64 *count)
{
	LevelCounter		*counter = (LevelCounter *) source;
	bytea				*first = counter->pending;
	const unsigned char *key;

	if (first == NULL)
		return false;
	key = (const unsigned char *) VARDATA_ANY(first);
	*histogram = key[0] << 8 | key[1];
	strlcpy(counter->level, (const char *) key + 2, sizeof(counter->level));
	*level = counter->level;
	*count = count_of(first);
	while ((counter->pending = next_sorted(counter)) != NULL && same_level(first, counter->pending))
	{
		*count += count_of(counter->pending);
		pfree(counter->pending);
	}
	pfree(first);
	return true;
}

static LevelCounter *
counter_create(void)
{
	LevelCounter *counter = palloc0_object(LevelCounter);

	counter->context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred levels", ALLOCSET_DEFAULT_SIZES);
	counter->room = (Size) maintenance_work_mem * 1024 / 2;
	counter->source.next = next_level;
	counter->sorted = tuplesort_begin_datum(BYTEAOID, ByteaLessOperator, InvalidOid, false,
											Max(maintenance_work_mem / 2, 64), NULL, 0);
	table_begin(counter);
	return counter;
}

void
describe_rows_end(LevelSource *levels)
{
	tuplesort_end(((LevelCounter *) levels)->sorted);
}

/* ---------- rows ---------- */

static void
count_cells(const Description *description, LevelCounter *counter, const char *cells)
{
	for (int i = 0; i < description->nhistograms; i++)
	{
		Histogram *histogram = &description->histograms[i];
		Cell	   cell = cell_read(&cells, histogram->kind);

		if (cell.isnull)
			histogram->nulls++;
		else if (histogram->kind != DESCRIBED_CATEGORY)
			histogram->cells[cell.number]++;
		else if (cell.level != NULL)
			count_level(counter, i, cell.level, cell.length);
	}
}

/* The columns of all histograms. */
static char *
columns_sql(const Description *description)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < description->nhistograms; i++)
		appendStringInfo(&columns, "%sr.%s", i > 0 ? ", " : "",
						 quote_identifier(description->described[i]->name));
	return columns.data;
}

/* A key holds for the table's own rows; children may have been added since it was found. */
static char *
rows_sql(const Description *description, bool unit_is_row)
{
	static const int salt = 1;
	const ProtectedRelation *protected = description->protected;
	const char *known = psprintf("%s IS NOT NULL", units_sql(protected, " IS NOT NULL AND "));
	const char *units = units_sql(protected, ", ");
	bool		one_table = get_rel_relkind(protected->relid) == RELKIND_RELATION;
	bool		travels = !unit_is_row && text_travels(protected->relid);

	if (unit_is_row)
		return psprintf("SELECT %s FROM %s%s r WHERE %s", columns_sql(description),
						one_table ? "ONLY " : "", relation_sql_name(protected->relid), known);
	return psprintf("%sSELECT privpred.least_row(privpred.row_cells(privpred.unit_hash(%s%s%s, %s),"
					" ROW(%s))) FROM %s r WHERE %s GROUP BY %s",
					travels ? secrets_sql(1, &salt) : "", protected->nunits > 1 ? "ROW(" : "",
					units, protected->nunits > 1 ? ")" : "", travels ? secret_sql(salt) : "$1",
					columns_sql(description), relation_sql_name(protected->relid), known, units);
}

static void
count_rows(const Description *description, LevelCounter *counter, QueryScan *scan, bool unit_is_row)
{
	MemoryContext  scratch = AllocSetContextCreate(CurrentMemoryContext, "privpred described row",
												   ALLOCSET_DEFAULT_SIZES);
	StringInfoData cells;
	int			   rows = 0;

	initStringInfo(&cells);
	while (scan_next(scan))
	{
		MemoryContext caller = MemoryContextSwitchTo(scratch);
		bool		  isnull;

		if (!unit_is_row)
			count_cells(description, counter,
						VARDATA_ANY(DatumGetByteaPP(scan_value(scan, 1, &isnull))) +
							ROW_HASH_BYTES);
		else
		{
			resetStringInfo(&cells);
			for (int i = 0; i < description->nhistograms; i++)
			{
				Datum value = scan_value(scan, i + 1, &isnull);

				cell_append(&cells, description->histograms[i].kind,
							description->described[i]->type, value, isnull);
			}
			count_cells(description, counter, cells.data);
		}
		MemoryContextSwitchTo(caller);
		MemoryContextReset(scratch);
		if (unit_is_row && ++rows == ROWS_PER_FETCH)
		{
			progress_rows(rows);
			rows = 0;
		}
	}
}

/* A fresh key: which row speaks for a unit is nobody's to choose. */
static Datum
fresh_salt(void)
{
	char bytes[TEACHER_SALT_BYTES];

	for (int i = 0; i < TEACHER_SALT_BYTES; i += sizeof(uint64))
	{
		uint64 word = sample_uint64();

		memcpy(bytes + i, &word, sizeof(word));
	}
	return PointerGetDatum(cstring_to_text_with_len(bytes, TEACHER_SALT_BYTES));
}

LevelSource *
describe_rows(const Description *description)
{
	LevelCounter  *counter = counter_create();
	Oid			   relid = description->protected->relid;
	bool		   unit_is_row; /* known before the snapshot is taken */
	QueryArgument  salt = ARG(BYTEAOID, fresh_salt());
	CatalogSession session;
	MemoryContext  spi;
	QueryScan	   scan;

	unit_is_row = units_are_rows(description->protected, description->proof);
	relation_owner_begin(&session, relid);
	session_set("work_mem", psprintf("%d", maintenance_work_mem));
	session_set("jit", "off");
	citus_settings(false);
	if (client_min_messages < WARNING)
		session_set("client_min_messages", "warning");
	progress_phase_rows("reading rows", estimated_rows(relid));
	scan_open(&scan, ROWS_PER_FETCH, rows_sql(description, unit_is_row), 1, &salt);
	spi = MemoryContextSwitchTo(session.outside);
	count_rows(description, counter, &scan, unit_is_row);
	MemoryContextSwitchTo(spi);
	scan_close(&scan);
	catalog_end(&session);
	view_still_proved(description->proof);
	flush(counter);
	tuplesort_performsort(counter->sorted);
	counter->pending = next_sorted(counter);
	return &counter->source;
}
