/*
 * compat.h
 *		Every difference between server versions, in one place.
 *
 * Call sites use the newest spelling; older servers get it from here.
 */
#ifndef PRIVPRED_COMPAT_H
#define PRIVPRED_COMPAT_H

#if PG_VERSION_NUM < 140000
#error "privpred needs PostgreSQL 14 or later"
#endif

/*
 * Modules hide their symbols since 16, and we do so everywhere (Makefile), so that
 * what would be missing there is missing here.  Before, the server marks nothing
 * for it.
 */
#if PG_VERSION_NUM < 160000 && defined(POSTGRES_H) && defined(__GNUC__)
#include "fmgr.h"
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#undef PG_FUNCTION_INFO_V1
#define PG_FUNCTION_INFO_V1(function) \
	extern PGDLLEXPORT Datum				  function(PG_FUNCTION_ARGS); \
	extern PGDLLEXPORT const Pg_finfo_record *CppConcat(pg_finfo_, function)(void); \
	const Pg_finfo_record					 *CppConcat(pg_finfo_, function)(void) \
	{ \
		static const Pg_finfo_record version = {1}; \
		return &version; \
	} \
	extern int no_such_variable
#endif

/* A prefix since 18, so that C23's attribute fits. */
#ifndef pg_noreturn
#define pg_noreturn __attribute__((noreturn))
#endif

/* Before 15 libraries requested shared memory while they were loaded. */
#if PG_VERSION_NUM < 150000
typedef void (*shmem_request_hook_type)(void);
#define SET_SHMEM_REQUEST_HOOK(hook, previous) (hook)()
#else
#define SET_SHMEM_REQUEST_HOOK(hook, previous) \
	(*(previous) = shmem_request_hook, shmem_request_hook = (hook))
#endif

/* Files that use it include catalog/pg_class.h. */
#if PG_VERSION_NUM < 150000
#define RELKIND_HAS_TABLE_AM(kind) \
	((kind) == RELKIND_RELATION || (kind) == RELKIND_TOASTVALUE || (kind) == RELKIND_MATVIEW)
#endif

#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

/* Files that know only c.h have no palloc, and use none of these. */
#if !defined(palloc_object) && defined(PALLOC_H)
#include "storage/shmem.h" /* mul_size */
#define palloc_object(type) ((type *) palloc(sizeof(type)))
#define palloc0_object(type) ((type *) palloc0(sizeof(type)))
#define palloc_array(type, count) ((type *) palloc(mul_size(sizeof(type), count)))
#define palloc0_array(type, count) ((type *) palloc0(mul_size(sizeof(type), count)))
#define repalloc_array(pointer, type, count) \
	((type *) repalloc(pointer, mul_size(sizeof(type), count)))
#endif

#if PG_VERSION_NUM < 160000
#define object_ownercheck(classid, objectid, roleid) pg_class_ownercheck(objectid, roleid)
#endif

/* Internal subtransactions became possible in parallel mode with 17. */
#if PG_VERSION_NUM < 170000
#define INTERNAL_SUBTRANSACTION_OK() (!IsInParallelMode())
#define MyLocalTransactionId() (MyProc->lxid)
#else
#define INTERNAL_SUBTRANSACTION_OK() true
#define MyLocalTransactionId() (MyProc->vxid.lxid)
#endif

#if PG_VERSION_NUM < 160000
#define function_aclcheck(function, role, mode) pg_proc_aclcheck(function, role, mode)
#define schema_aclcheck(schema, role, mode) pg_namespace_aclcheck(schema, role, mode)
#define parse_qualified_name(name) stringToQualifiedNameList(name)
#else
#define function_aclcheck(function, role, mode) \
	object_aclcheck(ProcedureRelationId, function, role, mode)
#define schema_aclcheck(schema, role, mode) object_aclcheck(NamespaceRelationId, schema, role, mode)
#define parse_qualified_name(name) stringToQualifiedNameList(name, NULL)
#endif

/* The last argument of parseTypeString() became an error context with 16. */
#if PG_VERSION_NUM < 160000
#define PARSE_TYPE_HARD_ERRORS false
#else
#define PARSE_TYPE_HARD_ERRORS NULL
#endif

/* Rights on tables are apart from the range table since 16. */
#if PG_VERSION_NUM < 160000
#define ADD_PERMISSION_INFO(query, entry) ((void) 0)
#define check_statement_rights(statement) ((void) ExecCheckRTPerms((statement)->rtable, true))
#else
#define ADD_PERMISSION_INFO(query, entry) \
	((entry)->perminfoindex = 0, (void) addRTEPermissionInfo(&(query)->rteperminfos, entry))
#define check_statement_rights(statement) \
	((void) ExecCheckPermissions((statement)->rtable, (statement)->permInfos, true))
#endif

#if PG_VERSION_NUM < 150000
#define parse_analyze_fixedparams(statement, text, types, count, environment) \
	parse_analyze(statement, text, types, count, environment)
#endif

#if PG_VERSION_NUM < 150000
#define MERGE_ACTIONS(change) NIL
#else
#define MERGE_ACTIONS(change) ((change)->mergeActionLists)
#endif

/* Of a hook on ExecutorRun(). */
#if PG_VERSION_NUM < 180000
#define EXECUTOR_RUN_ARGUMENTS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, bool execute_once
#define EXECUTOR_RUN_PASSED queryDesc, direction, count, execute_once
#else
#define EXECUTOR_RUN_ARGUMENTS QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define EXECUTOR_RUN_PASSED queryDesc, direction, count
#endif

/* Of a hook on planner(). */
#if PG_VERSION_NUM < 190000
#define PLANNER_ARGUMENTS Query *query, const char *text, int options, ParamListInfo params
#define PLANNER_PASSED query, text, options, params
#else
#define PLANNER_ARGUMENTS \
	Query *query, const char *text, int options, ParamListInfo params, struct ExplainState *es
#define PLANNER_PASSED query, text, options, params, es
#endif

/* What a compiled function knows of its definition. */
#if PG_VERSION_NUM < 180000
#define PLPGSQL_XMIN(function) ((function)->fn_xmin)
#else
#define PLPGSQL_XMIN(function) ((function)->cfunc.fn_xmin)
#endif

/*
 * Columns of joins as those of their members; files that use it include optimizer/optimizer.h.
 * Grouping expressions have a range table entry of their own since 18.
 */
#if PG_VERSION_NUM < 160000
#define flatten_join_columns(query, node) flatten_join_alias_vars(query, node)
#else
#define flatten_join_columns(query, node) flatten_join_alias_vars(NULL, query, node)
#endif
#if PG_VERSION_NUM < 180000
#define flatten_group_columns(query) ((void) 0)
#else
#define flatten_group_columns(query) \
	((query)->hasGroupRTE \
		 ? ((query)->targetList = \
				(List *) flatten_group_exprs(NULL, query, (Node *) (query)->targetList), \
			(query)->havingQual = flatten_group_exprs(NULL, query, (query)->havingQual), (void) 0) \
		 : (void) 0)
#endif

/* A constraint NOT NULL may be not valid since 18; files that use it include access/tupdesc.h. */
#if PG_VERSION_NUM < 180000
#define column_is_not_null(columns, number) (TupleDescAttr(columns, (number) -1)->attnotnull)
#else
#define column_is_not_null(columns, number) \
	(TupleDescCompactAttr(columns, (number) -1)->attnullability == ATTNULLABLE_VALID)
#endif

/* Of Append and MergeAppend. */
#if PG_VERSION_NUM < 180000
#define PRUNES_AT_RUN_TIME(append) ((append)->part_prune_info != NULL)
#else
#define PRUNES_AT_RUN_TIME(append) ((append)->part_prune_index >= 0)
#endif

/* Whether the value is copied became an argument with 16; before, it always was. */
#if PG_VERSION_NUM < 160000
#define tuplesort_next_datum(state, value, isnull) \
	tuplesort_getdatum(state, true, value, isnull, NULL)
#else
#define tuplesort_next_datum(state, value, isnull) \
	tuplesort_getdatum(state, true, true, value, isnull, NULL)
#endif

/* Extensions name what they wait for since 17; before, all of it is called Extension. */
#if PG_VERSION_NUM < 170000
#define WAIT_EVENT_NEW(name) ((void) (name), PG_WAIT_EXTENSION)
#else
#define WAIT_EVENT_NEW(name) WaitEventExtensionNew(name)
#endif

/* A process's number in ProcGlobal->allProcs. */
#if PG_VERSION_NUM < 170000
#define MyProcNumber (MyProc->pgprocno)
#endif

/* 19 has further arguments, by which it says or takes more than we ask. */
#if PG_VERSION_NUM < 190000
#define domain_has_constraints(type) DomainHasConstraints(type)
#define functions_of_name(names, nargs) \
	FuncnameGetCandidates(names, nargs, NIL, false, false, false, true)
#define function_detail(names, nargs, types, function, ...) \
	func_get_detail(names, NIL, NIL, nargs, types, false, false, false, function, __VA_ARGS__, NULL)
#define plan_rewritten(query, text, options, params) pg_plan_query(query, text, options, params)
#define register_explain_option(name, handler) RegisterExtensionExplainOption(name, handler)
#define SIGNAL_PASSED postgres_signal_arg
#else
#define domain_has_constraints(type) DomainHasConstraints(type, NULL)
#define functions_of_name(names, nargs) \
	FuncnameGetCandidates(names, nargs, NIL, false, false, false, true, &(int){0})
#define function_detail(names, nargs, types, function, ...) \
	func_get_detail(names, NIL, NIL, nargs, types, false, false, false, &(int){0}, function, \
					__VA_ARGS__, NULL)
#define plan_rewritten(query, text, options, params) \
	pg_plan_query(query, text, options, params, NULL)
#define register_explain_option(name, handler) \
	RegisterExtensionExplainOption(name, handler, GUCCheckBooleanExplainOption)
#define SIGNAL_PASSED postgres_signal_arg, pg_siginfo
#endif

/* Every kind of process has a level of its own since 19. */
#if PG_VERSION_NUM < 190000
#define LOG_LEVEL_HERE log_min_messages
#else
#define LOG_LEVEL_HERE (log_min_messages[MyBackendType])
#endif

/* Names of locks are in shared memory since 19; before, every process registers them. */
#if PG_VERSION_NUM < 190000
#define new_lock_tranche(name) LWLockNewTrancheId()
#define register_lock_tranche(tranche, name) LWLockRegisterTranche(tranche, name)
#else
#define new_lock_tranche(name) LWLockNewTrancheId(name)
#define register_lock_tranche(tranche, name) ((void) 0)
#endif

/* Who may read a query's relations has had a list of its own since 16. */
#if PG_VERSION_NUM < 160000
#define QUERY_MOVE_PERMISSIONS(to, from) ((void) 0)
#else
#define QUERY_MOVE_PERMISSIONS(to, from) \
	((to)->rteperminfos = (from)->rteperminfos, (from)->rteperminfos = NIL)
#endif

/* Since 18, columns that a query groups by may refer to an entry of their own. */
#if PG_VERSION_NUM < 180000
#define QUERY_HAS_GROUP_RTE(query) false
#else
#define QUERY_HAS_GROUP_RTE(query) ((query)->hasGroupRTE)
#endif

#endif /* PRIVPRED_COMPAT_H */
