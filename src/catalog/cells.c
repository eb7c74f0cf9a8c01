/*
 * cells.c
 *		Values of columns as cells of histograms.
 *
 * A number's cell takes two bytes, of which 0xFFFF is NULL.  A text takes a byte that says what it
 * is and, if it is a level, its length and its bytes.
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"

#include "catalog/cells.h"
#include "catalog/features.h"

#define NULL_CELL 0xFFFF

enum
{
	TEXT_NULL,
	TEXT_LEVEL,
	TEXT_TOO_LONG
};

bool
described_kind(Oid type, DescribedKind *kind)
{
	if (type == INT2OID || type == INT4OID || type == INT8OID)
		*kind = DESCRIBED_INTEGER;
	else if (number_type_ok(type))
		*kind = DESCRIBED_NUMBER;
	else if (time_type_ok(type))
		*kind = type == DATEOID ? DESCRIBED_DATE : DESCRIBED_TIME;
	else if (type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == NAMEOID)
		*kind = DESCRIBED_CATEGORY;
	else
		return false;
	return true;
}

static void
append_number(StringInfo bytes, DescribedKind kind, double value, bool isnull)
{
	int		   cell = isnull || isnan(value) ? NULL_CELL : described_cell(kind, value);
	const char both[] = {(char) (cell >> 8), (char) (cell & 0xFF)};

	appendBinaryStringInfo(bytes, both, sizeof(both));
}

static void
append_level(StringInfo bytes, const char *level, int length)
{
	bool fits = length <= DESCRIBED_LEVEL_BYTES;

	appendStringInfoChar(bytes, fits ? TEXT_LEVEL : TEXT_TOO_LONG);
	if (!fits)
		return;
	appendStringInfoChar(bytes, (char) length);
	appendBinaryStringInfo(bytes, level, length);
}

static void
append_text(StringInfo bytes, Oid type, Datum value)
{
	text *string;
	int	  length;

	if (type == NAMEOID)
	{
		append_level(bytes, NameStr(*DatumGetName(value)), strlen(NameStr(*DatumGetName(value))));
		return;
	}
	/* A long text need not be fetched; blanks at the end of a bpchar do not count. */
	if (type != BPCHAROID && toast_raw_datum_size(value) > VARHDRSZ + DESCRIBED_LEVEL_BYTES)
	{
		append_level(bytes, NULL, DESCRIBED_LEVEL_BYTES + 1);
		return;
	}
	string = DatumGetTextPP(value);
	length = VARSIZE_ANY_EXHDR(string);
	if (type == BPCHAROID)
		length = bpchartruelen(VARDATA_ANY(string), length);
	append_level(bytes, VARDATA_ANY(string), length);
}

void
cell_append(StringInfo bytes, DescribedKind kind, Oid type, Datum value, bool isnull)
{
	if (kind != DESCRIBED_CATEGORY)
		append_number(bytes, kind, isnull ? 0 : number_of_datum(value, type), isnull);
	else if (isnull)
		appendStringInfoChar(bytes, TEXT_NULL);
	else
		append_text(bytes, type, value);
}

Cell
cell_read(const char **bytes, DescribedKind kind)
{
	const unsigned char *at = (const unsigned char *) *bytes;
	Cell				 cell = {0};

	if (kind != DESCRIBED_CATEGORY)
	{
		cell.number = at[0] << 8 | at[1];
		cell.isnull = cell.number == NULL_CELL;
		*bytes += 2;
		return cell;
	}
	cell.isnull = at[0] == TEXT_NULL;
	*bytes += 1;
	if (at[0] == TEXT_LEVEL)
	{
		cell.length = at[1];
		cell.level = *bytes + 1;
		*bytes += 1 + cell.length;
	}
	return cell;
}

void
row_hash_put(StringInfo bytes, uint64 seed)
{
	unsigned char *row = (unsigned char *) bytes->data;
	uint64 hash = hash_bytes_extended(row + ROW_HASH_BYTES, bytes->len - ROW_HASH_BYTES, seed);

	hash = pg_hton64(hash);
	memcpy(row, &hash, sizeof(hash));
}
