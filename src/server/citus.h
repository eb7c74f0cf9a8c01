/*
 * citus.h
 *		Tables whose rows Citus keeps on other nodes.
 *
 * Budgets are kept on the coordinator, so a table of Citus is protected there and
 * nowhere else, and answers are given there and nowhere else.
 */
#ifndef PRIVPRED_CITUS_H
#define PRIVPRED_CITUS_H

#include "postgres_ext.h"

typedef enum CitusPlace
{
	CITUS_ELSEWHERE, /* not a table of Citus, or there is no Citus */
	CITUS_SHARD,	 /* a part of one, with a name of its own */
	CITUS_HERE,		 /* all of its rows are on this node, too: a local or reference table */
	CITUS_SPREAD,	 /* its rows are on the nodes */
	CITUS_APPENDED	 /* the same, and Citus enforces no key of it */
} CitusPlace;

extern bool citus_is_installed(void);

extern CitusPlace citus_place(Oid relid);

/* Of a table of Citus: do all rows with the same values of these columns lie on one node? */
extern bool citus_keeps_together(Oid relid, int ncolumns, char *const *columns);

/* Are its rows on the nodes? */
extern bool citus_spreads(Oid relid);

/* Are its budgets kept elsewhere?  Those of a shard are, and of any table on a worker. */
extern bool citus_pays_elsewhere(Oid relid);

/* Raises 55000 if they are. */
extern void check_citus_place(Oid relid);

/*
 * Inside a session: what reading rows needs, or moving them, whatever the user has set.  They may
 * come to the coordinator, however many they are.
 */
extern void citus_settings(bool moves_rows);

/* Raises 0A000 in a session that Citus has opened to run a part of somebody's statement. */
extern void check_citus_session(void);

/*
 * A table that Citus has taken over becomes a shard, with its OID and another name, and another
 * table gets its name.  Each finds the other, or InvalidOid.
 */
extern Oid citus_only_shard(Oid table);
extern Oid citus_table_of_only_shard(Oid shard);

/* About how many rows a table has on all nodes; less than 0: nobody knows. */
extern double citus_rows(Oid relid);

/* How many parts a table of Citus has; how many nodes new tables are spread over. */
extern int citus_shards(Oid relid);
extern int citus_workers(void);

#endif
