/*
 * slack.c
 *		Small blocks of shared memory.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/shmem.h"

#include "server/compat.h"
#include "server/slack.h"

void *
slack_attach(const char *name, Size size, uint32 magic, const char *tranche,
			 void (*initialise)(void *block))
{
	SlackHeader *header;
	bool		 found;

	if (!IsUnderPostmaster)
		return NULL;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	header = ShmemInitStruct(name, size, &found);
	/* If there is no magic, whoever came first failed half-way. */
	if (!found || header->magic == 0)
	{
		memset(header, 0, size);
		LWLockInitialize(&header->lock, new_lock_tranche(tranche));
		initialise(header);
		header->size = size;
		header->magic = magic;
	}
	LWLockRelease(AddinShmemInitLock);
	if (header->magic != magic || header->size != size)
		return NULL;
	register_lock_tranche(header->lock.tranche, tranche);
	return header;
}
