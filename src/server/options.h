/*
 * options.h
 *		Options that are given as a JSON object, and tables that declare them.
 *
 * A learner and a mechanism have a table each, beside their code, ended by a key
 * of NULL; an enum names its positions.  A value of the wrong kind or out of range
 * is refused with 22023 and the key's name.
 */
#ifndef PRIVPRED_OPTIONS_H
#define PRIVPRED_OPTIONS_H

#include "lib/stringinfo.h"
#include "server/compat.h"
#include "utils/jsonb.h"

typedef enum OptionKind
{
	OPTION_NUMBER, /* from min to max */
	OPTION_COUNT,  /* the same, a whole number */
	OPTION_FLAG,   /* true or false */
	OPTION_CHOICE, /* the name of one of the choices; its number is their index */
	OPTION_NAME,   /* a string that is not empty; it has no default */
	OPTION_ANY	   /* its reader checks it */
} OptionKind;

typedef struct Option
{
	const char		  *key;
	OptionKind		   kind;
	double			   min; /* if min equals max, the range depends on other declarations */
	double			   max;
	double			   fallback; /* its default */
	const char *const *choices;	 /* ended by NULL */
} Option;

#define CHOICE_OPTION(key, choices) \
	{ \
		(key), OPTION_CHOICE, 0, 1, 0, (choices) \
	}

/* The entry of a table, which may be NULL, or NULL. */
extern const Option *option_find(const Option *table, const char *key);

/* Appends all keys of a table, each followed by a comma and a space. */
extern void options_append_keys(StringInfo keys, const Option *table);

pg_noreturn extern void bad_option(const char *key, const char *rule);

/* Raises 22023 unless it is an object. */
extern Jsonb *options_object(Jsonb *options);

/* The value of an option, checked: a number, an index into its choices, or a flag. */
extern double option_read_number(const Option *option, const JsonbValue *value);
extern char	 *option_read_name(const char *key, const JsonbValue *value);

/* A JSON number, infinite if it is too large; NaN if it is NULL or no number. */
extern double json_double(const JsonbValue *value);

/*
 * Reading an object key by key.  option_or() has another default than the table's;
 * option_name() is NULL if the key is absent.
 */
extern JsonbValue *option_value(Jsonb *options, const char *key, JsonbValue *storage);
extern bool		   option_given(Jsonb *options, const char *key);
extern double	   option_number(Jsonb *options, const Option *option);
extern double	   option_or(Jsonb *options, const Option *option, double absent);
extern char		  *option_name(Jsonb *options, const char *key);

/* Checks every option of the table that is given and whose range the table says. */
extern void options_check(Jsonb *options, const Option *table);

#endif /* PRIVPRED_OPTIONS_H */
