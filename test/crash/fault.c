/*
 * fault.c
 *		What happens at a named point (src/server/fault.h), linked in by FAULTS=yes alone.
 *
 * The file privpred.fault in the data directory says where and what: "debit_written kill".
 * The first process that comes there takes the file away, and does it.
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"

#include "server/fault.h"

#define FAULT_FILE "privpred.fault"

static void
act(const char *name, const char *action)
{
	if (strcmp(action, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(action, "kill_all") == 0)
	{
		kill(PostmasterPid, SIGKILL);
		kill(getpid(), SIGKILL);
	}
	else if (strcmp(action, "stop") == 0)
		kill(getpid(), SIGSTOP);
	else if (strcmp(action, "error") == 0)
		elog(ERROR, "fault at %s", name);
	else if (strcmp(action, "fatal") == 0)
		elog(FATAL, "fault at %s", name);
}

void
fault_point(const char *name)
{
	char  where[64];
	char  action[16];
	FILE *file;
	int	  nread;

	if (access(FAULT_FILE, F_OK) != 0)
		return;
	file = fopen(FAULT_FILE, "r");
	if (file == NULL)
		return;
	nread = fscanf(file, "%63s %15s", where, action);
	fclose(file);
	if (nread == 2 && strcmp(where, name) == 0 && unlink(FAULT_FILE) == 0)
		act(name, action);
}
