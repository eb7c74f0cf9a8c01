/*
 * json_text.h
 *		JSON, written member by member.
 *
 *	json_open(&json, NULL, '{');
 *	json_string(&json, "name", name);
 *	json_open(&json, "values", '[');
 *	for (int i = 0; i < n; i++)
 *		json_number(&json, NULL, values[i]);
 *	json_close(&json, ']');
 *	json_close(&json, '}');
 *
 * Commas are put where they belong.  Elements of an array have no key.
 */
#ifndef PRIVPRED_JSON_TEXT_H
#define PRIVPRED_JSON_TEXT_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

/* A comma if one is due, and the key. */
extern void json_key(StringInfo json, const char *key);

extern void json_open(StringInfo json, const char *key, char bracket);
extern void json_close(StringInfo json, char bracket);

/* A string; NULL is null. */
extern void json_string(StringInfo json, const char *key, const char *value);

/* A number with all its digits; null if it is not finite, because JSON has no such numbers. */
extern void json_number(StringInfo json, const char *key, double value);

/* What is JSON already. */
extern void json_literal(StringInfo json, const char *key, const char *value);

extern Jsonb *json_to_jsonb(const char *json);

#endif /* PRIVPRED_JSON_TEXT_H */
