/*
 * json_text.c
 *		JSON, written member by member.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/json.h"

#include "server/json_text.h"
#include "server/number_text.h"
#include "server/privpred.h"

void
json_key(StringInfo json, const char *key)
{
	char last = json->len > 0 ? json->data[json->len - 1] : '[';

	if (last != '[' && last != '{')
		appendStringInfoString(json, ", ");
	if (key != NULL)
	{
		escape_json(json, key);
		appendStringInfoString(json, ": ");
	}
}

void
json_literal(StringInfo json, const char *key, const char *value)
{
	json_key(json, key);
	appendStringInfoString(json, value);
}

void
json_open(StringInfo json, const char *key, char bracket)
{
	json_key(json, key);
	appendStringInfoChar(json, bracket);
}

void
json_close(StringInfo json, char bracket)
{
	appendStringInfoChar(json, bracket);
}

void
json_string(StringInfo json, const char *key, const char *value)
{
	json_key(json, key);
	if (value != NULL)
		escape_json(json, value);
	else
		appendStringInfoString(json, "null");
}

void
json_number(StringInfo json, const char *key, double value)
{
	char text[NUMBER_TEXT_SIZE];

	json_literal(json, key, isfinite(value) ? number_text(value, text) : "null");
}

Jsonb *
json_to_jsonb(const char *json)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}
