/*
 * privpred.c
 *		The module: magic and start-up.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "server/privpred.h"
#include "server/progress.h"
#include "request/foresee.h"
#include "request/repeat.h"
#include "request/train.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	sql_binding_init();
	model_cache_init();
	ledger_init();
	progress_init();
	repeat_init();
	foresee_init();
	explain_privacy_init();
	unanswered_init();
	ask_here_init();
	nodes_init();
	MarkGUCPrefixReserved("privpred");
}
