/*
 * progress.c
 *		How far long requests have come, in shared memory.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "server/progress.h"
#include "server/slack.h"

#define PROGRESS_MAGIC 0x50505232 /* "PPR2": change with the layout */

typedef struct ProgressEntry
{
	ProgressReport	 report; /* under the lock, but for done and steps */
	bool			 by_rows;
	pg_atomic_uint64 done;
	pg_atomic_uint64 steps;
} ProgressEntry;

typedef struct ProgressShared
{
	SlackHeader	  header;
	ProgressEntry entries[PROGRESS_ENTRIES];
} ProgressShared;

StaticAssertDecl(sizeof(ProgressShared) <= 8192, "progress must fit into the server's slack");

static ProgressShared *Shared = NULL;

/* This session's entry while it works, and how deep in subtransactions it began. */
static ProgressEntry *Mine = NULL;
static int			  MyLevel = 0;

/* The request reports for itself; phases within it are ignored. */
static bool reported_as_whole = false;

/* In a parallel worker: the leader's entry, looked up once. */
static ProgressEntry *Leaders = NULL;
static bool			  leader_known = false;

/* ---------- shared memory ---------- */

static void
initialise(void *block)
{
	ProgressShared *shared = block;

	for (int i = 0; i < PROGRESS_ENTRIES; i++)
	{
		pg_atomic_init_u64(&shared->entries[i].done, 0);
		pg_atomic_init_u64(&shared->entries[i].steps, 0);
	}
}

/* NULL: the block in shared memory is not this version's. */
static ProgressShared *
progress_shared(void)
{
	if (unlikely(Shared == NULL))
		Shared = slack_attach("privpred progress", sizeof(ProgressShared), PROGRESS_MAGIC,
							  "privpred_progress", initialise);
	return Shared;
}

/* ---------- the end of an entry ---------- */

void
progress_end(void)
{
	if (Mine == NULL)
		return;
	LWLockAcquire(&Shared->header.lock, LW_EXCLUSIVE);
	reported_as_whole = false;
	Mine->report.pid = 0;
	LWLockRelease(&Shared->header.lock);
	Mine = NULL;
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT)
		progress_end();
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId mySubid, SubTransactionId parentSubid,
					  void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB && MyLevel >= GetCurrentTransactionNestLevel())
		progress_end();
}

static void
at_exit(int code, Datum arg)
{
	progress_end();
}

void
progress_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}

/* ---------- one's own entry ---------- */

void
progress_begin(const char *model, Oid relation)
{
	static bool		exit_registered = false;
	ProgressShared *shared = progress_shared();

	if (shared == NULL || Mine != NULL)
		return;
	if (!exit_registered)
		before_shmem_exit(at_exit, (Datum) 0);
	exit_registered = true;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	for (int i = 0; i < PROGRESS_ENTRIES && Mine == NULL; i++)
	{
		ProgressReport *report = &shared->entries[i].report;

		if (report->pid != 0)
			continue;
		memset(report, 0, sizeof(ProgressReport));
		report->pid = MyProcPid;
		report->database = MyDatabaseId;
		report->relation = relation;
		strlcpy(report->model, model, sizeof(report->model));
		strlcpy(report->phase, "starting", sizeof(report->phase));
		report->total = -1;
		report->steps_total = -1;
		report->started_at = GetCurrentTimestamp();
		shared->entries[i].by_rows = false;
		pg_atomic_write_u64(&shared->entries[i].done, 0);
		pg_atomic_write_u64(&shared->entries[i].steps, 0);
		Mine = &shared->entries[i];
		MyLevel = GetCurrentTransactionNestLevel();
	}
	LWLockRelease(&shared->header.lock);
}

void
progress_show_to(Oid role)
{
	if (Mine == NULL)
		return;
	LWLockAcquire(&Shared->header.lock, LW_EXCLUSIVE);
	Mine->report.role = role;
	LWLockRelease(&Shared->header.lock);
}

static void
set_phase(const char *phase, int64 total, bool by_rows)
{
	if (Mine == NULL)
		return;
	LWLockAcquire(&Shared->header.lock, LW_EXCLUSIVE);
	strlcpy(Mine->report.phase, phase, sizeof(Mine->report.phase));
	Mine->report.total = total;
	Mine->report.steps_total = -1;
	Mine->by_rows = by_rows;
	pg_atomic_write_u64(&Mine->done, 0);
	pg_atomic_write_u64(&Mine->steps, 0);
	LWLockRelease(&Shared->header.lock);
}

void
progress_report_as(const char *phase)
{
	set_phase(phase, -1, false);
	reported_as_whole = Mine != NULL;
}

void
progress_phase(const char *phase, int64 total)
{
	if (!reported_as_whole)
		set_phase(phase, total, false);
}

void
progress_phase_rows(const char *phase, double total)
{
	if (!reported_as_whole)
		set_phase(phase, total < 1e18 ? (int64) total : -1, true);
}

void
progress_update(int64 done)
{
	if (!reported_as_whole)
		progress_report(done);
}

void
progress_report(int64 done)
{
	if (Mine != NULL)
		pg_atomic_write_u64(&Mine->done, done);
}

/* A leader keeps its entry for as long as its workers run. */
static void
find_leader(void)
{
	PGPROC		   *leader = MyProc->lockGroupLeader;
	ProgressShared *shared = progress_shared();

	leader_known = true;
	if (shared == NULL || leader == NULL)
		return;
	LWLockAcquire(&shared->header.lock, LW_SHARED);
	for (int i = 0; i < PROGRESS_ENTRIES; i++)
		if (shared->entries[i].report.pid != 0 && shared->entries[i].report.pid == leader->pid)
			Leaders = &shared->entries[i];
	LWLockRelease(&shared->header.lock);
}

/* The entry in which rows and steps are counted. */
static ProgressEntry *
counted(void)
{
	if (!IsParallelWorker())
		return Mine;
	if (!leader_known)
		find_leader();
	return Leaders;
}

void
progress_rows(int64 more)
{
	ProgressEntry *entry = counted();

	if (entry != NULL && entry->by_rows)
		pg_atomic_fetch_add_u64(&entry->done, more);
}

void
progress_steps(int64 total)
{
	if (Mine == NULL || reported_as_whole)
		return;
	LWLockAcquire(&Shared->header.lock, LW_EXCLUSIVE);
	Mine->report.steps_total = total;
	LWLockRelease(&Shared->header.lock);
}

void
progress_step(void)
{
	ProgressEntry *entry = counted();

	if (entry != NULL)
		pg_atomic_fetch_add_u64(&entry->steps, 1);
}

/* ---------- everybody's ---------- */

int
progress_list(ProgressReport reports[PROGRESS_ENTRIES])
{
	ProgressShared *shared = progress_shared();
	int				count = 0;

	if (shared == NULL)
		return 0;
	LWLockAcquire(&shared->header.lock, LW_SHARED);
	for (int i = 0; i < PROGRESS_ENTRIES; i++)
	{
		ProgressEntry *entry = &shared->entries[i];

		if (entry->report.pid == 0 || entry->report.database != MyDatabaseId)
			continue;
		reports[count] = entry->report;
		reports[count].steps = pg_atomic_read_u64(&entry->steps);
		reports[count++].done = pg_atomic_read_u64(&entry->done);
	}
	LWLockRelease(&shared->header.lock);
	return count;
}
