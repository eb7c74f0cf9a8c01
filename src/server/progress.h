/*
 * progress.h
 *		How far long requests have come, for the view privpred.progress.
 *
 * A session that trains has one entry in shared memory.  Row counts are secret:
 * whoever lists entries shows them to the relation's owner alone, and to the role
 * that the entry names if nothing that is counted is secret from it.  Progress is
 * a comfort: if no entry is free, a request runs unseen.
 *
 * No error leaves an entry behind, because it ends with its transaction,
 * subtransaction or session.
 */
#ifndef PRIVPRED_PROGRESS_H
#define PRIVPRED_PROGRESS_H

#include "datatype/timestamp.h"

#include "server/privpred.h"

#define PROGRESS_ENTRIES 32
#define PROGRESS_PHASE_LENGTH 32

typedef struct ProgressReport
{
	int			pid; /* 0: no entry */
	Oid			database;
	Oid			relation; /* protected; InvalidOid: none */
	Oid			role;	  /* may see it, too; InvalidOid: none */
	char		model[NAMEDATALEN];
	char		phase[PROGRESS_PHASE_LENGTH];
	int64		done;
	int64		total; /* an estimate; -1: unknown */
	TimestampTz started_at;
	int64		steps;		 /* within the phase: teachers that are fitted */
	int64		steps_total; /* -1: the phase has none */
} ProgressReport;

/* A request within a request has no entry of its own. */
extern void progress_begin(const char *model, Oid relation);
extern void progress_end(void);

/* Only if nothing that will be counted is secret from this role. */
extern void progress_show_to(Oid role);

/* Begins a phase, which counts rows as they are read, or what progress_update() says. */
extern void progress_phase_rows(const char *phase, double total);
extern void progress_phase(const char *phase, int64 total);
extern void progress_update(int64 done);

/*
 * A request that trains many times reports for itself which phase it is in, and how
 * much of it is done; what the trainings report is ignored until its end.
 */
extern void progress_report_as(const char *phase);
extern void progress_report(int64 done);

/* Rows were read, by this session or, in a parallel worker, for its leader. */
extern void progress_rows(int64 more);

/* The phase has steps besides rows; one of them was taken, by either of them. */
extern void progress_steps(int64 total);
extern void progress_step(void);

/* Copies the entries of this database, and returns their number. */
extern int progress_list(ProgressReport reports[PROGRESS_ENTRIES]);

extern void progress_init(void);

#endif /* PRIVPRED_PROGRESS_H */
