/*
 * teachers.c
 *		Teachers, by one query over the protected table, grouped by teacher.
 *
 * The server's own grouping gives parallelism, spilling, partitions and
 * foreign tables.  A learner that keeps sums is aggregated in parts, which are
 * small.  A learner that keeps rows would send them all through the leader, and
 * leave the fitting to it; so where the planner gives workers, each gets some of
 * the teachers, from their rows to their fit, and reads the whole table
 * for them.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"

#include "catalog/store.h"
#include "server/progress.h"
#include "request/train.h"
#include "server/citus.h"

/* The most parts that teachers are split into: each reads the whole table. */
#define MAX_SHARES 32

/* ---------- what the planner expects ---------- */

/* Plans a query; returns how many rows it expects, and how many workers it would get. */
static double
plan_query(const char *query, int *workers)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	Plan	   *node = linitial_node(PlannedStmt, cached->stmt_list)->planTree;
	double		rows = node->plan_rows;

	*workers = 0;
	for (; node != NULL; node = outerPlan(node))
		if (IsA(node, Gather))
			*workers = ((Gather *) node)->num_workers;
	ReleaseCachedPlan(cached, NULL); /* an unsaved plan has no owner */
	SPI_freeplan(plan);
	return rows;
}

static double
estimated_rows_of(const char *relation)
{
	int workers;

	return plan_query(psprintf("SELECT FROM %s r", relation), &workers);
}

double
estimated_rows(Oid relid)
{
	double counted = citus_rows(relid);

	return counted >= 0 ? counted : estimated_rows_of(relation_sql_name(relid));
}

/* ---------- choices ---------- */

/*
 * The server gives an Append of n parts that cannot be divided 1 + log2(n)
 * workers, whatever their size (add_paths_to_append_rel).
 */
static int
choose_shares(const ModelRecord *model, const char *relation)
{
	int workers;
	int shares;

	/* Each share would compute all joins of a view again. */
	if (get_rel_relkind(model->relid) == RELKIND_VIEW)
		return 1;
	/* How many workers a scan of the whole table would get. */
	(void) plan_query(psprintf("SELECT pg_catalog.count(*) FROM %s r", relation), &workers);
	if (model->learner->additive || model->learner->runs_user_code || workers == 0)
		return 1;
	shares = workers > 2 ? 1 << Min(workers - 1, 5) : workers + parallel_leader_participation;
	return Max(Min(Min(shares, MAX_SHARES), model->spec.teachers), 1);
}

/* Makes the planner give whole shares to workers, and nothing smaller. */
static void
plan_for_shares(void)
{
	session_set("parallel_setup_cost", "0");
	session_set("parallel_tuple_cost", "0");
	session_set("enable_parallel_append", "on");
	session_set("min_parallel_table_scan_size", "715827882");
	session_set("min_parallel_index_scan_size", "715827882");
}

/*
 * All teachers at once (hashing) if their states should fit into
 * maintenance_work_mem, else one teacher after the other (sorting).
 */
static void
choose_grouping(const ModelRecord *model, double rows, int shares)
{
	const Learner *learner = model->learner;
	int			   width = model->features->width + (model->spec.nclasses == 0 ? 1 : 0);
	double		   limit = maintenance_work_mem * 1024.0;
	double		   bytes;

	if (learner->additive)
		bytes = Min(rows, model->spec.teachers) * sizeof(int128) *
				(learner->shared_sums(width) +
				 (double) Max(model->spec.nclasses, 1) * learner->class_sums(width));
	else
		bytes = rows / shares * (width + 2) * sizeof(double);
	session_set("jit", "off"); /* most of the time is spent in our own code */
	/* Memory grows in steps of two, and the number of rows is an estimate. */
	if (2 * bytes > limit)
		session_set("enable_hashagg", "off");
	else
		session_set("enable_sort", "off");
	/*
	 * Hashing keeps the teachers that it has met, of whatever size, and meets all of them
	 * soon; so a view computes with what its own SELECT has.
	 */
	if (get_rel_relkind(model->relid) != RELKIND_VIEW || 2 * bytes > limit)
		session_set("work_mem", psprintf("%d", maintenance_work_mem));
	/* The user's code runs in subtransactions, which parallel mode forbids. */
	if (learner->runs_user_code)
		session_set("max_parallel_workers_per_gather", "0");
	if (shares > 1)
		plan_for_shares();
}

/* ---------- the query ---------- */

/*
 * NOT NULL is not enforced in foreign tables and can be dropped in a child
 * table; rows without a unit would form a teacher of their own, so they are left
 * out.
 */
static char *
teacher_sql(const TrainingQuery *query, const ProtectedRelation *protected)
{
	return psprintf("CASE WHEN %s IS NOT NULL THEN privpred.teacher_of(%s, %s, $%d) END",
					units_sql(protected, " IS NOT NULL AND "), unit_sql(protected),
					query_secret(query, PARAMETER_SALT), PARAMETER_TEACHERS);
}

/* As request_chunk_index() has it, so that an index serves. */
static char *
one_teacher_sql(const TrainingQuery *query, const ProtectedRelation *protected)
{
	return psprintf("%s IS NOT NULL AND privpred.teacher_of(%s, %s, $%d) = $%d",
					units_sql(protected, " IS NOT NULL AND "), unit_sql(protected),
					query_secret(query, PARAMETER_SALT), PARAMETER_TEACHERS, PARAMETER_TEACHER);
}

char *
unit_sql(const ProtectedRelation *protected)
{
	const char *units = units_sql(protected, ", ");

	return protected->nunits > 1 ? psprintf("ROW(%s)", units) : pstrdup(units);
}

char *
taught_sql(const ModelRecord *model)
{
	char *features = encoding_sql(model->features, PARAMETER_FEATURES);

	if (model->spec.nclasses > 0)
		return features;
	return psprintf("pg_catalog.array_append(%s, COALESCE(%s, 0))", features,
					scaled_label_sql(model));
}

/*
 * The teachers whose number is share modulo shares; rows of nobody count in
 * share 0.  Rows are encoded before they are grouped: a sort then moves
 * one array instead of many columns.
 */
static char *
share_sql(const TrainingQuery *query, const ModelRecord *model, const char *teacher,
		  const char *trains, int share, int shares)
{
	return psprintf(
		"SELECT q.t, privpred.teach(q.y, q.x, %s, $%d, %s) AS m, pg_catalog.count(*) AS n,"
		" pg_catalog.count(*) FILTER (WHERE (q.y = ANY ($%d::%s[])) IS NOT TRUE) AS unused"
		" FROM (SELECT %s AS t, %s AS y, %s AS x FROM %s r WHERE %s%s"
		/* A constant OFFSET 0, not to be computed: else no worker may run the subquery. */
		" OFFSET '0'::pg_catalog.int8) q GROUP BY 1",
		quote_literal_cstr(model->learner->name), PARAMETER_OPTIONS,
		query_secret(query, PARAMETER_KNOWN), PARAMETER_CLASSES, class_type_name(model), teacher,
		class_sql(model), taught_sql(model), query->relation, trains,
		shares > 1 ? psprintf(" AND COALESCE(%s, 0) %% %d = %d", teacher, shares, share) : "");
}

static void
append_teachers_query(TrainingQuery *query, const ModelRecord		 *model,
					  const ProtectedRelation *protected, const char *trains, int shares)
{
	const char *teacher = teacher_sql(query, protected);

	appendStringInfo(
		&query->text,
		"%sSELECT s.t, s.m, s.n, CASE WHEN s.t IS NULL THEN s.n ELSE s.unused END FROM (",
		query_secrets(query));
	for (int share = 0; share < shares; share++)
		appendStringInfo(&query->text, "%s%s", share > 0 ? " UNION ALL " : "",
						 share_sql(query, model, teacher, trains, share, shares));
	appendStringInfoString(&query->text, ") s");
}

/*
 * The rows that train: all, or those of one teacher.  Returns the name of a table of rows
 * that were moved for it, if any were.
 */
static char *
append_query(TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected,
			 int teacher)
{
	const char *trains = trains_sql(query, model, protected);
	char	   *moved = teacher >= 0 ? NULL : spread_rows(query, model, protected);
	double		rows = model->made_up_rows != NULL ? estimated_rows_of(query->relation)
												   : estimated_rows(model->relid);
	int			shares = 1;

	if (moved != NULL)
		append_spread_query(query, model, moved);
	else if (!append_nodes_query(query, model, protected, teacher >= 0, &rows))
	{
		if (teacher >= 0)
			trains = psprintf("%s AND %s", trains, one_teacher_sql(query, protected));
		else
			shares = choose_shares(model, query->relation);
		append_teachers_query(query, model, protected, trains, shares);
	}
	if (teacher >= 0)
		rows /= model->spec.teachers;
	choose_grouping(model, rows, shares);
	progress_phase_rows("training teachers", rows);
	progress_steps(teacher >= 0 ? 1 : model->spec.teachers);
	return moved;
}

RowCounts
train_teachers(ModelRecord *model, const ProtectedRelation *protected, int teacher)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	CatalogSession session;
	TrainingQuery  query;
	Refit		  *refit = refit_begin(model, teacher);
	RowCounts	   counts = {0};
	char		  *moved;

	training_query_begin(&query, model);
	query.arguments[PARAMETER_KNOWN - 1] = refit_known(refit);
	query.arguments[PARAMETER_TEACHER - 1] = ARG_INT4(teacher);
	relation_owner_begin(&session, model->relid);
	if (model->learner->runs_user_code)
		owner_code_settings();
	citus_settings(!model->learner->runs_user_code);
	moved = append_query(&query, model, protected, teacher);
	/* What this transaction has moved is seen by a query that may write. */
	query_run(NULL, query.text.data, moved == NULL, 0, TRAINING_PARAMETERS, query.arguments);
	spi = MemoryContextSwitchTo(caller);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		bool  isnull;
		Datum taught = row_value(row, 2, &isnull);

		if (!row_isnull(row, 1) && !isnull)
			refit_take(refit, row_int4(row, 1), DatumGetByteaPP(taught));
		counts.all += row_int8(row, 3);
		counts.unused += row_int8(row, 4);
	}
	counts.changed = refit_end(refit, model);
	MemoryContextSwitchTo(spi);
	if (moved != NULL)
		spread_rows_end(moved);
	catalog_end(&session);
	return counts;
}
