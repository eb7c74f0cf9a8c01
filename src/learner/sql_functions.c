/*
 * sql_functions.c
 *		The functions of learner "sql": how they are found.
 *
 * They run with the rights of whoever owns the protected relation, in the
 * session of whoever asks.  So they are looked up by name only once, when a
 * model is declared; from then on by their signature, which nobody can
 * overload.  Only code that belongs to that owner or to a superuser runs.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "learner/learners.h"

char *
sql_signature(Oid function)
{
	return format_procedure_qualified(function);
}

bool
sql_may_run_as(Oid author, Oid role)
{
	return author == role || superuser_arg(author);
}

HeapTuple
sql_catalog_row(int cache, Oid oid)
{
	HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(oid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for object %u", oid);
	return tuple;
}

Oid
sql_author(Oid function)
{
	HeapTuple tuple = sql_catalog_row(PROCOID, function);
	Oid		  author = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;

	ReleaseSysCache(tuple);
	return author;
}

void
sql_check_author(Oid function, Oid role)
{
	const char *role_name = quote_identifier(GetUserNameFromId(role, false));
	const char *name = sql_signature(function);

	if (!sql_may_run_as(sql_author(function), role))
		ereport(
			ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			errmsg(
				"function %s belongs neither to role %s, as whom it would run, nor to a superuser",
				name, role_name),
			errhint("If it is to be trusted, let that role own it (ALTER ROUTINE); or use SET ROLE "
					"to become its owner."));
}

static List *
qualified_name(const char *name)
{
	List *names = parse_qualified_name(name);

	if (list_length(names) != 2)
		ereport(
			ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
			errmsg("function name \"%s\" must have the form schema.name", name),
			errhint("A name without its schema would mean different things to different users."));
	return names;
}

/* The length of the name before the types; 0: it is not a signature. */
static Size
signature_name_length(const char *signature)
{
	Size length = strlen(signature);
	bool quoted = false;

	if (length == 0 || signature[length - 1] != ')')
		return 0;
	for (Size i = 0; i < length; i++)
	{
		if (signature[i] == '"')
			quoted = !quoted;
		else if (signature[i] == '(' && !quoted)
			return i;
	}
	return 0;
}

/* Compares with what sql_signature() writes, so that no type needs to be looked up. */
static Oid
find_signature(const char *signature, List *names)
{
	for (FuncCandidateList candidate = functions_of_name(names, 2); candidate != NULL;
		 candidate = candidate->next)
		if (strcmp(sql_signature(candidate->oid), signature) == 0)
			return candidate->oid;
	return InvalidOid;
}

/* As a parser would choose for these types of arguments. */
static Oid
find_overload(List *names, bool aggregate, const Oid *arguments)
{
	Oid			   types[2] = {arguments[0], arguments[1]};
	Oid			   function;
	Oid			   result;
	Oid			  *declared;
	bool		   retset;
	int			   nvariadic;
	Oid			   variadic;
	FuncDetailCode code;

	code = function_detail(names, 2, types, &function, &result, &retset, &nvariadic, &variadic,
						   &declared);
	return code == (aggregate ? FUNCDETAIL_AGGREGATE : FUNCDETAIL_NORMAL) ? function : InvalidOid;
}

/* Fills in how a function is called; false if it cannot be. */
static bool
describe_function(Oid function, bool aggregate, Oid first, SqlFunction *found)
{
	Oid	 actual[2] = {first, FLOAT8ARRAYOID};
	Oid *declared;
	int	 nargs;

	found->function = function;
	found->result = get_func_signature(function, &declared, &nargs);
	if (nargs != 2 || get_func_retset(function) ||
		get_func_prokind(function) != (aggregate ? PROKIND_AGGREGATE : PROKIND_FUNCTION))
		return false;
	for (int i = 0; i < 2; i++)
	{
		bool polymorphic = IsPolymorphicType(declared[i]);

		/* we call it without a parser, so nothing can be converted */
		if (!polymorphic && !IsBinaryCoercible(actual[i], declared[i]))
			return false;
		found->arguments[i] = polymorphic ? actual[i] : declared[i];
	}
	found->result = enforce_generic_type_consistency(actual, declared, 2, found->result, false);
	return get_typtype(found->result) != TYPTYPE_PSEUDO; /* else it has no text to be read again */
}

bool
sql_function_find(const char *name, bool aggregate, Oid first, SqlFunction *found)
{
	Oid	  arguments[2] = {first, FLOAT8ARRAYOID};
	Size  length = signature_name_length(name);
	List *names = qualified_name(length > 0 ? pnstrdup(name, length) : name);
	Oid	  function =
		  length > 0 ? find_signature(name, names) : find_overload(names, aggregate, arguments);

	if (!OidIsValid(function) || !describe_function(function, aggregate, first, found))
		return false;
	if (function_aclcheck(function, GetUserId(), ACL_EXECUTE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, aggregate ? OBJECT_AGGREGATE : OBJECT_FUNCTION, name);
	sql_check_author(function, GetUserId());
	return true;
}

/* The aggregate for the label's own type, or else for its text. */
bool
sql_train_find(const char *name, Oid label_type, SqlFunction *found)
{
	return sql_function_find(name, true, label_type, found) ||
		   (label_type != TEXTOID && sql_function_find(name, true, TEXTOID, found));
}

void
sql_functions_find(const LearnerOptions *options, Oid label_type, SqlFunction *train,
				   SqlFunction *predict)
{
	Oid			base_type = options->numbers ? FLOAT8OID : getBaseType(label_type);
	const char *aggregate = options->name[SQL_TRAIN];
	const char *function = options->name[SQL_PREDICT];

	if (!sql_train_find(aggregate, base_type, train))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				signature_name_length(aggregate) > 0
					? errmsg("aggregate %s does not exist", aggregate)
					: errmsg("aggregate %s(%s, double precision[]) does not exist", aggregate,
							 format_type_be(base_type)),
				errhint("Option \"train\" must name an aggregate over the label, or its text, "
						"and an array of features."));
	if (!sql_function_find(function, false, train->result, predict))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
				signature_name_length(function) > 0
					? errmsg("function %s does not exist, or does not take a %s", function,
							 format_type_be(train->result))
					: errmsg("function %s(%s, double precision[]) does not exist", function,
							 format_type_be(train->result)),
				errhint("Option \"predict\" must name a function of the aggregate's result "
						"and an array of features."));
}

void
learner_check_sql_functions(const LearnerOptions *options, Oid label_type)
{
	SqlFunction train;
	SqlFunction predict;

	sql_functions_find(options, label_type, &train, &predict);
}

Oid
sql_signature_find(const char *signature)
{
	Size length = signature_name_length(signature);

	return length == 0 ? InvalidOid
					   : find_signature(signature, qualified_name(pnstrdup(signature, length)));
}

/* Training calls the aggregate through a parser, which knows names only. */
void
sql_check_not_hidden(const SqlFunction *train)
{
	char *signature = sql_signature(train->function);
	List *names = qualified_name(pnstrdup(signature, signature_name_length(signature)));

	if (find_overload(names, true, train->arguments) != train->function)
		ereport(ERROR, errcode(ERRCODE_AMBIGUOUS_FUNCTION),
				errmsg("aggregate %s is hidden by another function of the same name", signature),
				errhint("Drop or rename the other one."));
}
