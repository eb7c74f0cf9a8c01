/*
 * unit_encoding.c
 *		What decides which bytes stand for a unit.
 *
 * Hashes are of bytes (teacher.c): of an integer's value, a numeric's digits, a string in the
 * server's encoding, or an enum's label.  A collation decides nothing, as it must be
 * deterministic.  A modifier may have rounded or cut ids when it changed.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "server/query.h"

/* Labels can be renamed, and swapped. */
static char *
enum_labels(Oid type)
{
	CatalogSession session;
	char		  *digest;

	catalog_begin(&session);
	query_read("SELECT encode(sha256(convert_to(string_agg(quote_literal(enumlabel), ','"
			   " ORDER BY enumsortorder), 'UTF8')), 'hex') FROM pg_enum WHERE enumtypid = $1",
			   ARG_OID(type));
	session_keep(&session);
	digest = row_text(0, 1);
	catalog_end(&session);
	return digest;
}

char *
unit_encoding(const ProtectedRelation *protected)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = 0; i < protected->nunits; i++)
	{
		int32 typmod;
		Oid	  collation;
		Oid	  type;
		bool  is_enum;

		get_atttypetypmodcoll(protected->relid,
							  get_attnum(protected->relid, protected->unit_columns[i]), &type,
							  &typmod, &collation);
		type = getBaseTypeAndTypmod(type, &typmod);
		is_enum = get_typtype(type) == TYPTYPE_ENUM;
		appendStringInfo(&result, "%s%s", i > 0 ? ", " : "",
						 format_type_extended(
							 type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
		if (is_enum || type_is_collatable(type))
			appendStringInfo(&result, " in %s", GetDatabaseEncodingName());
		if (is_enum)
			appendStringInfo(&result, " labels %s", enum_labels(type));
	}
	return result.data;
}
