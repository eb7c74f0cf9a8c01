/*
 * sql_binding.c
 *		The functions of learner "sql": who may have written them, and whether
 *		they are still the same.
 *
 * A model is bound to its functions when it is trained.  Later it runs nothing
 * that was changed behind its back, nor anything that a former owner wrote.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "learner/learners.h"

/* The aggregate, its support functions, and the function that predicts. */
#define MAX_FUNCTIONS 10

/* Counts changes of anything that a binding depends on. */
static uint64 generation = 1;

/* ---------- rules ---------- */

/*
 * pg_temp is searched first where it is not named, and a path that the function
 * does not set would be the caller's.
 */
static bool
path_ends_in_temp(const char *path)
{
	List *schemas;

	if (!SplitIdentifierString(pstrdup(path), ',', &schemas) || schemas == NIL ||
		strcmp(llast(schemas), "pg_temp") != 0)
		return false;
	for (int i = 0; i < list_length(schemas) - 1; i++)
		if (strncmp(list_nth(schemas, i), "pg_temp", strlen("pg_temp")) == 0)
			return false;
	return true;
}

static bool
fixes_search_path(HeapTuple function)
{
	static const char setting[] = "search_path=";
	bool			  isnull;
	Datum			  config = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_proconfig, &isnull);
	Datum			 *elements;
	int				  count;

	if (isnull)
		return false;
	deconstruct_array(DatumGetArrayTypeP(config), TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL,
					  &count);
	for (int i = 0; i < count; i++)
	{
		char *element = TextDatumGetCString(elements[i]);

		if (strncmp(element, setting, strlen(setting)) == 0)
			return path_ends_in_temp(element + strlen(setting));
	}
	return false;
}

/* Compiled code and an aggregate itself have no names to look up. */
static bool
looks_up_names(Form_pg_proc function)
{
	return function->prolang != INTERNALlanguageId && function->prolang != ClanguageId &&
		   function->prokind != PROKIND_AGGREGATE && function->oid >= FirstNormalObjectId;
}

/*
 * May a function run as the owner?  It must belong to the owner or a superuser, the owner
 * must be allowed to execute it, and names in it must mean the same to everybody.  If not:
 * an error, or false.
 */
static bool
may_run(Oid function, Oid owner, bool or_error)
{
	HeapTuple tuple = sql_catalog_row(PROCOID, function);
	Oid		  author = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	bool	  fixed = !looks_up_names((Form_pg_proc) GETSTRUCT(tuple)) || fixes_search_path(tuple);
	bool	  granted = function_aclcheck(function, owner, ACL_EXECUTE) == ACLCHECK_OK;
	bool	  may = sql_may_run_as(author, owner) && granted && fixed;
	const char *role;
	const char *name;

	ReleaseSysCache(tuple);
	if (may || !or_error)
		return may;
	role = quote_identifier(GetUserNameFromId(owner, false));
	name = sql_signature(function);
	sql_check_author(function, owner);
	if (!granted)
		ereport(
			ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			errmsg("role %s may not execute function %s, which would run as that role", role, name),
			errhint("GRANT EXECUTE ON ROUTINE %s TO %s.", name, role));
	ereport(ERROR, errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
			errmsg("function %s does not fix a search_path that ends in pg_temp", name),
			errdetail("It runs in the session of whoever asks, where names could be found among "
					  "that session's own objects."),
			errhint("ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp.", name));
}

/* Reading a value runs the checks of its domains.  Whoever owns such a type could add one. */
static Oid
foreign_type(Oid type, Oid owner)
{
	HeapTuple	 tuple;
	Form_pg_type form;
	Oid			 author;
	Oid			 inner;
	Oid			 relation;
	Oid			 found = InvalidOid;

	check_stack_depth();
	if (type < FirstNormalObjectId && !OidIsValid(get_element_type(type)))
		return InvalidOid;
	tuple = sql_catalog_row(TYPEOID, type);
	form = (Form_pg_type) GETSTRUCT(tuple);
	author = form->typowner;
	inner = form->typtype == TYPTYPE_DOMAIN		  ? form->typbasetype
			: form->typtype == TYPTYPE_RANGE	  ? get_range_subtype(type)
			: form->typtype == TYPTYPE_MULTIRANGE ? get_multirange_range(type)
												  : get_element_type(type);
	relation = form->typtype == TYPTYPE_COMPOSITE ? form->typrelid : InvalidOid;
	ReleaseSysCache(tuple);
	if (!sql_may_run_as(author, owner))
		return type;
	if (OidIsValid(inner))
		return foreign_type(inner, owner);
	for (AttrNumber i = 1; OidIsValid(relation) && !OidIsValid(found); i++)
	{
		Oid column = get_atttype(relation, i);

		if (get_attname(relation, i, true) == NULL && !OidIsValid(column))
			break;
		if (OidIsValid(column))
			found = foreign_type(column, owner);
	}
	return found;
}

/* The same for the types that a function takes and returns, such as an aggregate's state. */
static Oid
foreign_type_of_function(Oid function, Oid owner)
{
	Oid *arguments;
	int	 nargs;
	Oid	 found = foreign_type(get_func_signature(function, &arguments, &nargs), owner);

	for (int i = 0; i < nargs && !OidIsValid(found); i++)
		found = foreign_type(arguments[i], owner);
	return found;
}

static void
refuse_foreign_type(Oid foreign, Oid role)
{
	if (OidIsValid(foreign))
		ereport(
			ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			errmsg(
				"type %s belongs neither to role %s, as whom it would be read, nor to a superuser",
				format_type_be_qualified(foreign),
				quote_identifier(GetUserNameFromId(role, false))),
			errdetail("Reading a teacher, or passing a value, runs the checks of its type."),
			errhint("If it is to be trusted, let that role own it (ALTER TYPE)."));
}

void
sql_check_type(Oid type, Oid role)
{
	refuse_foreign_type(foreign_type(type, role), role);
}

/* ---------- definitions ---------- */

static int
list_functions(Oid train, Oid predict, Oid *functions)
{
	HeapTuple		  tuple = sql_catalog_row(AGGFNOID, train);
	Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);
	Oid				  all[MAX_FUNCTIONS] = {
					  train,
					  predict,
					  form->aggtransfn,
					  form->aggfinalfn,
					  form->aggcombinefn,
					  form->aggserialfn,
					  form->aggdeserialfn,
					  form->aggmtransfn,
					  form->aggminvtransfn,
					  form->aggmfinalfn,
	  };
	int n = 0;

	ReleaseSysCache(tuple);
	for (int i = 0; i < MAX_FUNCTIONS; i++)
		if (OidIsValid(all[i]))
			functions[n++] = all[i];
	return n;
}

/* Describes an aggregate, which pg_get_functiondef() cannot do. */
static void
append_aggregate(StringInfo words, Oid aggregate)
{
	HeapTuple		  tuple = sql_catalog_row(AGGFNOID, aggregate);
	Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);
	Datum			  initial;
	bool			  isnull;

	appendStringInfo(words, "%c %c %c %d %d %s", form->aggkind, form->aggfinalmodify,
					 form->aggmfinalmodify, form->aggfinalextra, form->aggmfinalextra,
					 format_type_be_qualified(form->aggtranstype));
	initial = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &isnull);
	if (!isnull)
		appendStringInfo(words, " %s", quote_literal_cstr(TextDatumGetCString(initial)));
	ReleaseSysCache(tuple);
}

/*
 * The digest is taken of names, not OIDs, so that a restored dump has the same one.
 * The caller sets the search_path and whatever else the text depends on.
 */
static bytea *
digest_definitions(Oid train, Oid predict)
{
	Oid			   functions[MAX_FUNCTIONS];
	int			   n = list_functions(train, predict, functions);
	StringInfoData words;

	initStringInfo(&words);
	for (int i = 0; i < n; i++)
	{
		appendStringInfo(&words, "%s\n%s\n", sql_signature(functions[i]),
						 quote_identifier(GetUserNameFromId(sql_author(functions[i]), false)));
		if (functions[i] == train)
			append_aggregate(&words, train);
		else
			appendStringInfoString(
				&words, TextDatumGetCString(DirectFunctionCall1(pg_get_functiondef,
																ObjectIdGetDatum(functions[i]))));
		appendStringInfoChar(&words, '\n');
	}
	return DatumGetByteaP(DirectFunctionCall1(
		sha256_bytea, PointerGetDatum(cstring_to_text_with_len(words.data, words.len))));
}

/* ---------- bindings ---------- */

SqlBinding *
sql_binding_create(const LearnerOptions *options, Oid label_type, Oid owner)
{
	SqlBinding *binding = palloc0(sizeof(SqlBinding));
	Oid			functions[MAX_FUNCTIONS];
	SqlFunction train;
	SqlFunction predict;
	int			n;

	sql_functions_find(options, label_type, &train, &predict);
	sql_check_not_hidden(&train);
	n = list_functions(train.function, predict.function, functions);
	for (int i = 0; i < n; i++)
	{
		(void) may_run(functions[i], owner, true);
		refuse_foreign_type(foreign_type_of_function(functions[i], owner), owner);
	}
	sql_check_type(train.result, owner);
	binding->train = sql_signature(train.function);
	binding->predict = sql_signature(predict.function);
	binding->digest = digest_definitions(train.function, predict.function);
	return binding;
}

static bool
digests_equal(const bytea *a, const bytea *b)
{
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		   memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

static bool
binding_holds(const SqlBinding *binding, Oid owner)
{
	Oid train = sql_signature_find(binding->train);
	Oid predict = sql_signature_find(binding->predict);
	Oid functions[MAX_FUNCTIONS];
	int n;

	if (!OidIsValid(train) || get_func_prokind(train) != PROKIND_AGGREGATE ||
		!OidIsValid(predict) || get_func_prokind(predict) != PROKIND_FUNCTION ||
		!digests_equal(digest_definitions(train, predict), binding->digest))
		return false;
	n = list_functions(train, predict, functions);
	for (int i = 0; i < n; i++)
		if (!may_run(functions[i], owner, false) ||
			OidIsValid(foreign_type_of_function(functions[i], owner)))
			return false;
	return true;
}

bool
sql_binding_was_checked(const SqlBinding *binding, Oid owner)
{
	return binding->checked_at == generation && binding->checked_for == owner;
}

bool
sql_binding_check(SqlBinding *binding, Oid owner)
{
	uint64 now = generation;

	if (!binding_holds(binding, owner))
		return false;
	binding->checked_at = now;
	binding->checked_for = owner;
	return true;
}

static void
something_changed(Datum arg, int cache, uint32 hash)
{
	generation++;
}

void
sql_binding_init(void)
{
	static const int caches[] = {PROCOID, AGGFNOID, TYPEOID, NAMESPACEOID, AUTHOID};

	for (int i = 0; i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], something_changed, (Datum) 0);
}

/* ---------- the session ---------- */

/*
 * Whatever is dropped when a session ends depends on its temporary schema;
 * the server itself finds it in this way.
 */
bool
sql_session_has_temporary_objects(void)
{
	Oid			schema;
	Oid			toast_schema;
	Relation	depend;
	SysScanDesc scan;
	ScanKeyData keys[2];
	bool		found;

	GetTempNamespaceState(&schema, &toast_schema);
	if (!OidIsValid(schema))
		return false;
	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(NamespaceRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(schema));
	depend = table_open(DependRelationId, AccessShareLock);
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, lengthof(keys), keys);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return found;
}
