/*
 * report_html.c
 *		HTML from untrusted text, and access to rows of queries.
 *
 * Names of roles, tables, models and classes are chosen by people who may wish
 * to mislead whoever opens the page.  Only here is text turned into markup.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "request/report.h"

/* Names in PostgreSQL are short; those of models and classes need not be. */
#define MAX_SHOWN_CHARACTERS 200

#define REPLACEMENT_CHARACTER	0xFFFD
#define CONTROL_PICTURES		0x2400
#define PICTURE_OF_DELETE		0x2421

/*
 * ---------- text ----------
 */

/* Characters that HTML forbids, or that change the order of their neighbours. */
static bool
is_unfit(pg_wchar c)
{
	return (c >= 0x80 && c <= 0x9F) ||	/* control characters */
		(c >= 0xD800 && c <= 0xDFFF) || /* surrogates */
		(c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE ||	/* no characters */
		(c >= 0x200E && c <= 0x200F) || c == 0x061C ||	/* directional marks */
		(c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
		c > 0x10FFFF;
}

static void
append_character(StringInfo page, pg_wchar c)
{
	switch (c)
	{
		case '<':
			appendStringInfoString(page, "&lt;");
			return;
		case '>':
			appendStringInfoString(page, "&gt;");
			return;
		case '&':
			appendStringInfoString(page, "&amp;");
			return;
		case '"':
			appendStringInfoString(page, "&quot;");
			return;
		case '\'':
			appendStringInfoString(page, "&#39;");
			return;
		case 0x7F:
			c = PICTURE_OF_DELETE;
			break;
		default:
			if (c < ' ')
				c += CONTROL_PICTURES;	/* a line feed in a name should be seen */
			else if (is_unfit(c))
				c = REPLACEMENT_CHARACTER;
	}
	if (c < 0x7F)
		appendStringInfoChar(page, (char) c);
	else
		appendStringInfo(page, "&#x%X;", (unsigned int) c);
}

void
append_text(StringInfo page, const char *text)
{
	append_text_up_to(page, text, MAX_SHOWN_CHARACTERS);
}

void
append_text_up_to(StringInfo page, const char *text, int most)
{
	bool		known = GetDatabaseEncoding() != PG_SQL_ASCII;
	const unsigned char *at;
	int			shown = 0;

	/* In SQL_ASCII nobody knows what the upper half means. */
	at = (const unsigned char *)
		(known ? pg_server_to_any(text, strlen(text), PG_UTF8) : text);
	while (*at != '\0')
	{
		if (shown++ == most)
		{
			appendStringInfoString(page, "&#x2026;");	/* SVG has no name for it */
			break;
		}
		if (known)
		{
			append_character(page, utf8_to_unicode(at));
			at += pg_utf_mblen(at);
		}
		else
		{
			append_character(page, IS_HIGHBIT_SET(*at) ? REPLACEMENT_CHARACTER : *at);
			at++;
		}
	}
}

void
append_name(StringInfo page, const char *name)
{
	append_html(page, "<bdi>%s</bdi>", name);
}

void
append_html(StringInfo page, const char *format,...)
{
	va_list		args;

	va_start(args, format);
	for (const char *at = format; *at != '\0'; at++)
	{
		if (*at != '%')
		{
			appendStringInfoChar(page, *at);
			continue;
		}
		switch (*++at)
		{
			case 's':
				append_text(page, va_arg(args, const char *));
				break;
			case 'd':
				appendStringInfo(page, "%d", va_arg(args, int));
				break;
			case 'l':
				appendStringInfo(page, INT64_FORMAT, va_arg(args, int64));
				break;
			case '%':
				appendStringInfoChar(page, '%');
				break;
			default:
				elog(ERROR, "unknown conversion in \"%s\"", format);
		}
	}
	va_end(args);
}

/*
 * ---------- numbers ----------
 */

double
nice_step(double range, int pieces)
{
	double		least = range / pieces;
	double		power = pow(10, floor(log10(least)));

	if (least <= power)
		return power;
	if (least <= 2 * power)
		return 2 * power;
	if (least <= 5 * power)
		return 5 * power;
	return 10 * power;
}

void
append_number(StringInfo page, double number)
{
	char		digits[64];
	int			length = snprintf(digits, sizeof(digits), "%.2f", number);

	while (digits[length - 1] == '0')
		length--;
	if (digits[length - 1] == '.')
		length--;
	if (length == 2 && digits[0] == '-' && digits[1] == '0')
		appendStringInfoChar(page, '0');
	else
		appendBinaryStringInfo(page, digits, length);
}

void
append_count(StringInfo page, int64 count)
{
	char		digits[32];
	int			length = snprintf(digits, sizeof(digits), INT64_FORMAT, count);

	for (int i = 0; i < length; i++)
	{
		appendStringInfoChar(page, digits[i]);
		if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0)
			appendStringInfoChar(page, ',');
	}
}

void
append_epsilon(StringInfo page, double epsilon, RoundTo direction)
{
	int			decimals = 4;
	double		scale;
	double		scaled;
	char		digits[64];
	int			length;

	if (isinf(epsilon))
	{
		appendStringInfoString(page, "&infin;");
		return;
	}
	/* Small amounts keep four digits that are not zero. */
	if (epsilon != 0 && fabs(epsilon) < 0.1)
		decimals = Min(12, 3 - (int) floor(log10(fabs(epsilon))));
	scale = pow(10, decimals);
	scaled = epsilon * scale;
	/* 0.3 * 10000 need not be 3000: what is within a double's error is exact. */
	if (fabs(scaled - rint(scaled)) <= 1e-9 * Max(1, fabs(scaled)))
		scaled = rint(scaled);
	scaled = direction == ROUND_UP ? ceil(scaled) : floor(scaled);
	length = snprintf(digits, sizeof(digits), "%.*f", decimals, scaled / scale);
	while (digits[length - 1] == '0')
		length--;
	if (digits[length - 1] == '.')
		length--;
	appendBinaryStringInfo(page, digits, length);
}

void
append_loss(StringInfo page, double epsilon, double delta, bool pure, RoundTo direction)
{
	if (pure)
		append_epsilon(page, epsilon, direction);
	else
	{
		appendStringInfoChar(page, '(');
		append_epsilon(page, epsilon, direction);
		appendStringInfo(page, ", %.3g)", delta);
	}
}

void
append_left_out(StringInfo page, int64 count, const char *what)
{
	if (count <= 0)
		return;
	appendStringInfoString(page, "<p class=\"more\">and ");
	append_count(page, count);
	append_html(page, " more %s, not shown</p>\n", what);
}

/*
 * ---------- rows ----------
 */

ReportRows
report_query(const char *query, int nargs, Oid *types, Datum *values)
{
	ReportRows	rows;

	CHECK_FOR_INTERRUPTS();
	if (SPI_execute_with_args(query, nargs, types, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "query of the report failed: %s", query);
	rows.table = SPI_tuptable;
	rows.count = SPI_processed;
	return rows;
}

ReportRow
report_row(const ReportRows *rows, uint64 index)
{
	ReportRow	row;

	CHECK_FOR_INTERRUPTS();
	row.tuple = rows->table->vals[index];
	row.columns = rows->table->tupdesc;
	return row;
}

static Datum
row_datum(ReportRow row, int column, Oid type, bool *isnull)
{
	Datum		value = SPI_getbinval(row.tuple, row.columns, column, isnull);

	if (SPI_gettypeid(row.columns, column) != type)
		elog(ERROR, "column %d of a query of the report has an unexpected type", column);
	return value;
}

bool
row_is_null(ReportRow row, int column)
{
	bool		isnull;

	(void) SPI_getbinval(row.tuple, row.columns, column, &isnull);
	return isnull;
}

char *
row_text(ReportRow row, int column)
{
	bool		isnull;
	Datum		value = row_datum(row, column, TEXTOID, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

double
row_double(ReportRow row, int column)
{
	bool		isnull;
	Datum		value = row_datum(row, column, FLOAT8OID, &isnull);

	return isnull ? 0 : DatumGetFloat8(value);
}

int64
row_int64(ReportRow row, int column)
{
	bool		isnull;
	Datum		value = row_datum(row, column, INT8OID, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

bool
row_bool(ReportRow row, int column)
{
	bool		isnull;
	Datum		value = row_datum(row, column, BOOLOID, &isnull);

	return isnull ? false : DatumGetBool(value);
}

int
row_texts(ReportRow row, int column, char ***texts)
{
	bool		isnull;
	Datum		value = row_datum(row, column, TEXTARRAYOID, &isnull);
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	if (isnull)
		return 0;
	deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &count);
	*texts = palloc(sizeof(char *) * Max(count, 1));
	for (int i = 0; i < count; i++)
		(*texts)[i] = nulls[i] ? pstrdup("") : TextDatumGetCString(elements[i]);
	return count;
}
