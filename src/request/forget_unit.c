/*
 * forget_unit.c
 *		A unit that is to be forgotten: its value, its rows, its teacher.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "request/forget.h"

/* A unit of several columns that was given as one text is written like an array. */
static UnitText
split_text(int n, const UnitText *given)
{
	UnitText result = *given;
	Datum	*elements;
	bool	*nulls;

	if (n > 1 && given->count == 1)
	{
		Datum array =
			OidInputFunctionCall(F_ARRAY_IN, unconstify(char *, given->columns[0]), TEXTOID, -1);

		deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &elements,
						  &nulls, &result.count);
		result.columns = palloc_array(const char *, Max(result.count, 1));
		for (int i = 0; i < result.count; i++)
			result.columns[i] = nulls[i] ? NULL : TextDatumGetCString(elements[i]);
	}
	if (result.count != n)
		refuse(errmsg("the unit has %d columns, not %d", n, result.count),
			   errhint("Give them in the order of the unit, as a row or like an array: '{1,2}'."));
	return result;
}

UnitValue *
unit_value_of_types(int n, const Oid *types, const int32 *typmods, const UnitText *given)
{
	UnitText   text = split_text(n, given);
	UnitValue *unit = palloc_object(UnitValue);

	unit->n = n;
	unit->types = palloc_array(Oid, n);
	unit->typmods = palloc_array(int32, n);
	unit->values = palloc_array(Datum, n);
	for (int i = 0; i < n; i++)
	{
		Oid input;
		Oid parameter;

		if (text.columns[i] == NULL)
			ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("a unit must not be null"));
		unit->types[i] = types[i];
		unit->typmods[i] = typmods[i];
		getTypeInputInfo(types[i], &input, &parameter);
		unit->values[i] =
			OidInputFunctionCall(input, unconstify(char *, text.columns[i]), parameter, typmods[i]);
	}
	unit->hasher = unit_hasher_of_columns(n, types, InvalidOid);
	return unit;
}

UnitValue *
unit_value(const ProtectedRelation *protected, const UnitText *given)
{
	Oid	  *types = palloc_array(Oid, protected->nunits);
	int32 *typmods = palloc_array(int32, protected->nunits);

	for (int i = 0; i < protected->nunits; i++)
	{
		Oid collation;

		get_atttypetypmodcoll(protected->relid,
							  get_attnum(protected->relid, protected->unit_columns[i]), &types[i],
							  &typmods[i], &collation);
		/* A domain's checks are an owner's code, and the caller may be a superuser. */
		types[i] = getBaseTypeAndTypmod(types[i], &typmods[i]);
	}
	return unit_value_of_types(protected->nunits, types, typmods, given);
}

/* ---------- rows ---------- */

/* "r.a OPERATOR(pg_catalog.=) $1 AND ...": nobody's operators run. */
static char *
is_unit_sql(const ProtectedRelation *protected)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < protected->nunits; i++)
		appendStringInfo(&text, "%sr.%s OPERATOR(pg_catalog.=) $%d", i > 0 ? " AND " : "",
						 quote_identifier(protected->unit_columns[i]), i + 1);
	return text.data;
}

int64
unit_rows(const ProtectedRelation *protected, const UnitValue *unit)
{
	QueryArgument *arguments = palloc_array(QueryArgument, unit->n);
	CatalogSession session;
	int64		   rows;

	for (int i = 0; i < unit->n; i++)
		arguments[i] = ARG(unit->types[i], unit->values[i]);
	relation_owner_begin(&session, protected->relid);
	query_run(NULL,
			  psprintf("SELECT pg_catalog.count(*) FROM %s r WHERE %s",
					   relation_sql_name(protected->relid), is_unit_sql(protected)),
			  true, 0, unit->n, arguments);
	rows = row_int8(0, 1);
	catalog_end(&session);
	return rows;
}

int64
unit_delete(const ProtectedRelation *protected, const UnitValue *unit)
{
	int64 rows;

	if (get_rel_relkind(protected->relid) == RELKIND_VIEW)
		return 0; /* its rows are those of tables */
	if (SPI_connect() != SPI_OK_CONNECT ||
		SPI_execute_with_args(psprintf("DELETE FROM %s r WHERE %s",
									   relation_sql_name(protected->relid), is_unit_sql(protected)),
							  unit->n, unit->types, unit->values, NULL, false, 0) != SPI_OK_DELETE)
		ereport(
			ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("rows of relation \"%s\" could not be deleted", get_rel_name(protected->relid)),
			errdetail("A rule does something else instead."),
			errhint("Delete them yourself, then call privpred.forget without delete_rows."));
	rows = SPI_processed;
	SPI_finish();
	return rows;
}

bool
unit_is_marked(const ModelRecord *model, const ProtectedRelation *protected, const uint8 *salt,
			   int64 mark, int teacher)
{
	bytea		 *of_teacher = (bytea *) cstring_to_text_with_len(model->salt, MODEL_SALT_LENGTH);
	bytea		 *of_mark = (bytea *) cstring_to_text_with_len((char *) salt, TEACHER_SALT_BYTES);
	QueryArgument arguments[] = {ARG(BYTEAOID, PointerGetDatum(of_mark)), ARG_INT8(mark),
								 ARG(BYTEAOID, PointerGetDatum(of_teacher)),
								 ARG_INT4(Max(model->spec.teachers, 1)), ARG_INT4(teacher)};
	static const int secrets[] = {1, 3};
	bool			 travels = text_travels(protected->relid);
	CatalogSession	 session;
	bool			 found;

	relation_owner_begin(&session, protected->relid);
	query_run(NULL,
			  psprintf("%sSELECT FROM %s r WHERE %s IS NOT NULL AND privpred.unit_hash(%s, %s) = $2"
					   " AND ($5 < 0 OR privpred.teacher_of(%s, %s, $4) = $5) LIMIT 1",
					   travels ? secrets_sql(lengthof(secrets), secrets) : "",
					   relation_sql_name(protected->relid),
					   units_sql(protected, " IS NOT NULL AND "), unit_sql(protected),
					   travels ? secret_sql(1) : "$1", unit_sql(protected),
					   travels ? secret_sql(3) : "$3"),
			  true, 0, lengthof(arguments), arguments);
	found = SPI_processed > 0;
	catalog_end(&session);
	return found;
}

/* ---------- its teacher ---------- */

int
unit_teacher_of(const ModelRecord *model, const UnitValue *unit)
{
	unsigned char held_out[TEACHER_SALT_BYTES];

	holdout_salt((const unsigned char *) model->salt, held_out);
	if (model->holdout > 0 &&
		holdout_has(model, unit_hash_columns(unit->hasher, unit->values, held_out)))
		return TEACHERS_NONE;
	if (!model->mechanism->asks_teachers)
		return TEACHERS_ALL;
	return unit_hash_columns(unit->hasher, unit->values, (const unsigned char *) model->salt) %
		   model->spec.teachers;
}
