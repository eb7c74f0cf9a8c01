/*
 * citus.c
 *		Tables whose rows Citus keeps on other nodes.
 *
 * Citus is asked through its own catalog.  It stands in pg_catalog, where only
 * superusers create anything, so that its names can be trusted.  Without Citus, all
 * of this is one look for the extension.
 */
#include "postgres.h"

#include "commands/extension.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "server/citus.h"
#include "server/privpred.h"
#include "server/query.h"
#include "server/rows.h"
#include "server/session.h"

/* pg_dist_partition.partmethod of tables to which rows are appended. */
#define METHOD_APPEND 'a'

bool
citus_is_installed(void)
{
	return OidIsValid(get_extension_oid("citus", true));
}

/* ---------- tables ---------- */

/* A table without a distribution column is a reference table, or has one shard. */
static CitusPlace
place_of_table(char method, bool is_here)
{
	if (method == METHOD_APPEND)
		return CITUS_APPENDED;
	return is_here ? CITUS_HERE : CITUS_SPREAD;
}

CitusPlace
citus_place(Oid relid)
{
	CitusPlace	   place = CITUS_ELSEWHERE;
	CatalogSession session;

	if (!citus_is_installed())
		return CITUS_ELSEWHERE;
	catalog_begin(&session);
	query_read("SELECT pg_catalog.relation_is_a_known_shard($1)", ARG_OID(relid));
	if (SPI_processed > 0 && row_bool(0, 1))
		place = CITUS_SHARD;
	else
	{
		query_read("SELECT partmethod::pg_catalog.text, partmethod = 'n' AND (repmodel = 't'"
				   " OR colocationid = 0) FROM pg_catalog.pg_dist_partition"
				   " WHERE logicalrelid = $1",
				   ARG_OID(relid));
		if (SPI_processed > 0)
			place = place_of_table(row_text(0, 1)[0], row_bool(0, 2));
	}
	catalog_end(&session);
	return place;
}

/* Tables without a distribution column have one shard.  Appended rows may lie anywhere. */
bool
citus_keeps_together(Oid relid, int ncolumns, char *const *columns)
{
	bool		   together = false;
	CatalogSession session;

	catalog_begin(&session);
	query_read("SELECT partmethod = 'n', CASE WHEN partmethod = 'h' THEN"
			   " pg_catalog.column_to_column_name(logicalrelid, partkey) END"
			   " FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1",
			   ARG_OID(relid));
	if (SPI_processed > 0)
	{
		const char *column = row_text(0, 2);

		together = row_bool(0, 1);
		for (int i = 0; i < ncolumns && column != NULL; i++)
			together = together || strcmp(columns[i], column) == 0;
	}
	catalog_end(&session);
	return together;
}

bool
citus_spreads(Oid relid)
{
	CitusPlace place = citus_place(relid);

	return place == CITUS_SPREAD || place == CITUS_APPENDED;
}

static bool
is_coordinator(void)
{
	return catalog_finds("SELECT FROM pg_catalog.pg_dist_local_group WHERE groupid = 0");
}

bool
citus_pays_elsewhere(Oid relid)
{
	CitusPlace place = citus_place(relid);

	return place == CITUS_SHARD || (place != CITUS_ELSEWHERE && !is_coordinator());
}

void
check_citus_place(Oid relid)
{
	if (!citus_pays_elsewhere(relid))
		return;
	if (citus_place(relid) == CITUS_SHARD)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("relation \"%s\" is a shard of a table of Citus", get_rel_name(relid)),
				errdetail("The same rows would be paid for by the budgets of that table, and by "
						  "others that do not know of them."),
				errhint("Protect the table itself, on the coordinator."));
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("relation \"%s\" is a table of Citus, and this is not its coordinator",
				   get_rel_name(relid)),
			errdetail("Each node has a ledger of its own, and the same rows would be paid for on "
					  "each of them."),
			errhint("Connect to the coordinator, where the table's budgets are kept."));
}

/* ---------- tables that were taken over ---------- */

/* Citus hides shards from queries of pg_class, and names those of schema public without it. */
Oid
citus_only_shard(Oid table)
{
	Oid			   shard = InvalidOid;
	CatalogSession session;

	if (citus_place(table) != CITUS_HERE)
		return InvalidOid;
	catalog_begin(&session);
	query_read("SELECT pg_catalog.shard_name(logicalrelid, shardid)"
			   " FROM pg_catalog.pg_dist_partition JOIN pg_catalog.pg_dist_shard"
			   " USING (logicalrelid) WHERE logicalrelid = $1 AND repmodel <> 't'",
			   ARG_OID(table));
	if (SPI_processed == 1)
	{
		List *names = parse_qualified_name(row_text(0, 1));

		shard = get_relname_relid(strVal(llast(names)), get_rel_namespace(table));
	}
	catalog_end(&session);
	return OidIsValid(shard) && citus_place(shard) == CITUS_SHARD ? shard : InvalidOid;
}

/* A shard's name ends in its number. */
Oid
citus_table_of_only_shard(Oid shard)
{
	const char	  *number = strrchr(get_rel_name(shard), '_');
	Oid			   table = InvalidOid;
	CatalogSession session;

	if (number == NULL || citus_place(shard) != CITUS_SHARD)
		return InvalidOid;
	catalog_begin(&session);
	query_read("SELECT logicalrelid::pg_catalog.oid FROM pg_catalog.pg_dist_shard"
			   " WHERE shardid::pg_catalog.text = $1",
			   ARG_TEXT(number + 1));
	if (SPI_processed == 1)
		table = row_oid(0, 1);
	catalog_end(&session);
	return OidIsValid(table) && citus_only_shard(table) == shard ? table : InvalidOid;
}

/* Shards are counted where they lie; the table itself has none here. */
double
citus_rows(Oid relid)
{
	double		   rows = -1;
	CatalogSession session;

	if (!citus_spreads(relid))
		return rows;
	relation_owner_begin(&session, relid);
	query_run(NULL,
			  psprintf("SELECT pg_catalog.count(*) FROM %s",
					   quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
												  get_rel_name(relid))),
			  true, 0, 0, NULL);
	if (SPI_processed == 1)
		rows = (double) row_int8(0, 1);
	catalog_end(&session);
	return rows;
}

static int
count_of(const char *sql, int nargs, QueryArgument argument)
{
	int			   count;
	CatalogSession session;

	catalog_begin(&session);
	query_run(NULL, sql, true, 0, nargs, &argument);
	count = SPI_processed == 1 ? (int) row_int8(0, 1) : 0;
	catalog_end(&session);
	return count;
}

int
citus_shards(Oid relid)
{
	return count_of("SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_shard"
					" WHERE logicalrelid = $1",
					1, ARG_OID(relid));
}

int
citus_workers(void)
{
	return count_of("SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_node WHERE isactive AND"
					" shouldhaveshards AND noderole = 'primary'",
					0, ARG_OID(InvalidOid));
}

/*
 * Citus refuses intermediate results beyond a limit that knows nothing of what the owner has
 * asked for, and how much memory and disk that takes.  Tables of moved rows are there once, are
 * made within the transaction, and are dropped on all nodes.  Rows that are only read need no
 * transaction there, which would be told of every subtransaction here: learner "sql" runs in
 * many of them.
 */
void
citus_settings(bool moves_rows)
{
	if (!citus_is_installed())
		return;
	session_set("citus.max_intermediate_result_size", "-1");
	session_set("citus.enable_ddl_propagation", "on");
	session_set("citus.function_opens_transaction_block", moves_rows ? "on" : "off");
	session_set("citus.shard_replication_factor", "1");
	session_set("citus.subquery_pushdown", "off"); /* gives wrong results */
}

/* ---------- sessions ---------- */

/*
 * Citus names the sessions that it opens so.  Whoever calls a session of his own so
 * gets no answers in it, and loses nothing else.
 */
void
check_citus_session(void)
{
	static const char *const names[] = {"citus_internal ", "citus_run_command ",
										"citus_rebalancer "};

	for (int i = 0; i < lengthof(names); i++)
		if (strncmp(application_name, names[i], strlen(names[i])) == 0 && citus_is_installed())
			ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("private answers are given by the coordinator of Citus alone"),
					errdetail("Citus sent this part of the statement to a worker, with the rows "
							  "that are asked about. Nothing was charged."),
					errhint("Fetch the rows first: WITH q AS MATERIALIZED (SELECT ... FROM ...) "
							"SELECT private_predict('model', ...) FROM q. If q is a plain "
							"SELECT of a distributed table, add OFFSET 0 to it."));
}
