/*
 * chain.c
 *		Entries of the ledger as rows, and the hash chain: every entry carries
 *		sha256(previous head, entry).  For both sides.
 *
 * Entries are hashed by what they say, never by OIDs, so that a restored dump
 * verifies.  The canonical form is a sequence of netstrings "length:bytes,",
 * a null being "-,"; numbers are decimal and times are microseconds since
 * 2000-01-01 UTC.  docs/ledger.md has it in SQL.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "lib/stringinfo.h"

#include "ledger/chain.h"
#include "server/number_text.h"
#include "server/query.h"

typedef enum FieldType
{
	FIELD_TEXT, /* NULL is null */
	FIELD_INT4,
	FIELD_INT8,
	FIELD_FLOAT8
} FieldType;

typedef enum FieldNull
{
	NEVER,
	WHEN_ZERO,
	WHEN_INFINITE, /* an order */
	WHEN_LIMITLESS,
	WHEN_WINDOWLESS
} FieldNull;

/* Columns of privpred.ledger_entry without its head, in the order of the install script. */
static const struct EntryField
{
	FieldType type;
	size_t	  offset;
	FieldNull null;
} fields[] = {
	{FIELD_INT8, offsetof(LedgerEntry, id), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, at), NEVER},
	{FIELD_TEXT, offsetof(LedgerEntry, kind), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, account_id), WHEN_ZERO},
	{FIELD_INT8, offsetof(LedgerEntry, cap_id), WHEN_ZERO},
	{FIELD_TEXT, offsetof(LedgerEntry, role_name), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, relation_id), WHEN_ZERO},
	{FIELD_TEXT, offsetof(LedgerEntry, relation_name), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, model_id), WHEN_ZERO},
	{FIELD_TEXT, offsetof(LedgerEntry, model), NEVER},
	{FIELD_INT4, offsetof(LedgerEntry, version), WHEN_ZERO},
	{FIELD_INT8, offsetof(LedgerEntry, lease), WHEN_ZERO},
	{FIELD_INT8, offsetof(LedgerEntry, answers), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, units), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, cap_units), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, limit), WHEN_LIMITLESS},
	{FIELD_TEXT, offsetof(LedgerEntry, actor), NEVER},
	{FIELD_INT4, offsetof(LedgerEntry, pid), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, order), WHEN_INFINITE},
	{FIELD_INT8, offsetof(LedgerEntry, window_units), NEVER},
	{FIELD_INT8, offsetof(LedgerEntry, window_limit), WHEN_WINDOWLESS},
	{FIELD_FLOAT8, offsetof(LedgerEntry, delta), NEVER},
	{FIELD_TEXT, offsetof(LedgerEntry, detail), NEVER},
};

StaticAssertDecl(lengthof(fields) == ENTRY_COLUMN_COUNT - 1, "all columns but the head");
StaticAssertDecl(HEAD_SIZE == PG_SHA256_DIGEST_LENGTH, "a head is a sha256");

#define TEXT_OF(entry, field) (*(const char **) ((char *) (entry) + (field)->offset))
#define INT4_OF(entry, field) (*(int32 *) ((char *) (entry) + (field)->offset))
#define INT8_OF(entry, field) (*(int64 *) ((char *) (entry) + (field)->offset))
#define FLOAT8_OF(entry, field) (*(double *) ((char *) (entry) + (field)->offset))

static bool
field_is_null(const LedgerEntry *entry, const struct EntryField *field)
{
	switch (field->null)
	{
		case WHEN_ZERO:
			return field->type == FIELD_INT4 ? INT4_OF(entry, field) == 0
											 : INT8_OF(entry, field) == 0;
		case WHEN_INFINITE:
			return entry->order == RENYI_ORDER_INFINITE;
		case WHEN_LIMITLESS:
			return !entry->has_limit;
		case WHEN_WINDOWLESS:
			return !entry->has_window;
		case NEVER:
			break;
	}
	return field->type == FIELD_TEXT && TEXT_OF(entry, field) == NULL;
}

/* ---------- rows ---------- */

void
entry_from_row(LedgerEntry *entry, uint64 row)
{
	memset(entry, 0, sizeof(LedgerEntry));
	for (int i = 0; i < lengthof(fields); i++)
	{
		const struct EntryField *field = &fields[i];
		int						 column = i + 1;

		switch (field->type)
		{
			case FIELD_TEXT:
				TEXT_OF(entry, field) = row_text(row, column);
				break;
			case FIELD_INT4:
				INT4_OF(entry, field) = row_int4(row, column);
				break;
			case FIELD_INT8:
				INT8_OF(entry, field) = row_int8_or(
					row, column, field->null == WHEN_INFINITE ? RENYI_ORDER_INFINITE : 0);
				break;
			case FIELD_FLOAT8:
				FLOAT8_OF(entry, field) = row_float8(row, column);
				break;
		}
		entry->has_limit |= field->null == WHEN_LIMITLESS && !row_isnull(row, column);
		entry->has_window |= field->null == WHEN_WINDOWLESS && !row_isnull(row, column);
	}
	if (SPI_tuptable->tupdesc->natts >= ENTRY_COLUMN_COUNT)
	{
		bytea *head = row_varlena(row, ENTRY_COLUMN_COUNT);

		if (head != NULL && VARSIZE_ANY_EXHDR(head) == HEAD_SIZE)
			memcpy(entry->head, VARDATA_ANY(head), HEAD_SIZE);
	}
}

static Datum
field_datum(const LedgerEntry *entry, const struct EntryField *field)
{
	switch (field->type)
	{
		case FIELD_TEXT:
			return CStringGetTextDatum(TEXT_OF(entry, field));
		case FIELD_INT4:
			return Int32GetDatum(INT4_OF(entry, field));
		case FIELD_INT8:
			return Int64GetDatum(INT8_OF(entry, field));
		case FIELD_FLOAT8:
			return Float8GetDatum(FLOAT8_OF(entry, field));
	}
	return (Datum) 0;
}

void
entry_to_row(const LedgerEntry *entry, Datum values[ENTRY_COLUMN_COUNT],
			 bool nulls[ENTRY_COLUMN_COUNT])
{
	bytea *head = palloc(VARHDRSZ + HEAD_SIZE);

	for (int i = 0; i < lengthof(fields); i++)
	{
		nulls[i] = field_is_null(entry, &fields[i]);
		values[i] = nulls[i] ? (Datum) 0 : field_datum(entry, &fields[i]);
	}
	SET_VARSIZE(head, VARHDRSZ + HEAD_SIZE);
	memcpy(VARDATA(head), entry->head, HEAD_SIZE);
	nulls[ENTRY_COLUMN_COUNT - 1] = false;
	values[ENTRY_COLUMN_COUNT - 1] = PointerGetDatum(head);
}

/* ---------- the hash ---------- */

static void
put_field(StringInfo form, const LedgerEntry *entry, const struct EntryField *field)
{
	char		buffer[Max(NUMBER_TEXT_SIZE, 32)];
	const char *text = buffer;

	if (field_is_null(entry, field))
	{
		appendStringInfoString(form, "-,");
		return;
	}
	switch (field->type)
	{
		case FIELD_TEXT:
			text = TEXT_OF(entry, field);
			break;
		case FIELD_INT4:
			pg_lltoa(INT4_OF(entry, field), buffer);
			break;
		case FIELD_INT8:
			pg_lltoa(INT8_OF(entry, field), buffer);
			break;
		case FIELD_FLOAT8:
			(void) number_text(FLOAT8_OF(entry, field), buffer); /* as float8 prints it */
			break;
	}
	appendStringInfo(form, "%d:%s,", (int) strlen(text), text);
}

void
chain_hash(LedgerEntry *entry, const uint8 *previous)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	StringInfoData	   form;

	initStringInfo(&form);
	for (int i = 0; i < lengthof(fields); i++)
		put_field(&form, entry, &fields[i]);
	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, previous, HEAD_SIZE) < 0 ||
		pg_cryptohash_update(context, (uint8 *) form.data, form.len) < 0 ||
		pg_cryptohash_final(context, entry->head, HEAD_SIZE) < 0)
		elog(ERROR, "could not compute the head of the ledger");
	pg_cryptohash_free(context);
	pfree(form.data);
}
