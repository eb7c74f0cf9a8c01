/*
 * chain.c
 *		The hash chain: every entry carries sha256(previous head, entry).
 *
 * Entries are hashed by what they say, never by oids, so that a restored dump
 * verifies.  The canonical form is a sequence of netstrings "length:bytes,",
 * a null being "-,"; numbers are decimal and times are microseconds since
 * 2000-01-01 UTC.  docs/ledger.md has it in SQL.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "ledger/chain.h"
#include "server/number_text.h"

static void
put_text(StringInfo form, const char *text)
{
	if (text == NULL)
		appendStringInfoString(form, "-,");
	else
		appendStringInfo(form, "%d:%s,", (int) strlen(text), text);
}

static void
put_number(StringInfo form, int64 number)
{
	char text[32];

	pg_lltoa(number, text);
	put_text(form, text);
}

static void
put_optional(StringInfo form, bool present, int64 number)
{
	if (present)
		put_number(form, number);
	else
		put_text(form, NULL);
}

/* The shortest decimal, as float8 prints it. */
static void
put_double(StringInfo form, double number)
{
	char text[NUMBER_TEXT_SIZE];

	put_text(form, number_text(number, text));
}

static void
canonical_form(StringInfo form, const LedgerEntry *entry)
{
	put_number(form, entry->id);
	put_number(form, entry->at);
	put_text(form, entry->kind);
	put_optional(form, entry->account_id != 0, entry->account_id);
	put_optional(form, entry->cap_id != 0, entry->cap_id);
	put_text(form, entry->role_name);
	put_optional(form, entry->relation_id != 0, entry->relation_id);
	put_text(form, entry->relation_name);
	put_optional(form, entry->model_id != 0, entry->model_id);
	put_text(form, entry->model);
	put_optional(form, entry->version != 0, entry->version);
	put_optional(form, entry->lease != 0, entry->lease);
	put_number(form, entry->answers);
	put_number(form, entry->units);
	put_number(form, entry->cap_units);
	put_optional(form, entry->has_limit, entry->limit);
	put_text(form, entry->actor);
	put_number(form, entry->pid);
	put_optional(form, entry->order != RENYI_ORDER_INFINITE, entry->order);
	put_number(form, entry->window_units);
	put_optional(form, entry->has_window, entry->window_limit);
	put_double(form, entry->delta);
	put_text(form, entry->detail);
}

void
chain_hash(LedgerEntry *entry, const uint8 *previous)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
	StringInfoData	   form;

	StaticAssertStmt(HEAD_SIZE == PG_SHA256_DIGEST_LENGTH, "a head is a sha256");

	initStringInfo(&form);
	canonical_form(&form, entry);
	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, previous, HEAD_SIZE) < 0 ||
		pg_cryptohash_update(context, (uint8 *) form.data, form.len) < 0 ||
		pg_cryptohash_final(context, entry->head, HEAD_SIZE) < 0)
		elog(ERROR, "could not compute the head of the ledger");
	pg_cryptohash_free(context);
	pfree(form.data);
}
