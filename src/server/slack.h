/*
 * slack.h
 *		Small blocks of shared memory.  They need no preload, because they live in
 *		the slack that every server keeps.
 */
#ifndef PRIVPRED_SLACK_H
#define PRIVPRED_SLACK_H

#include "storage/lwlock.h"

/* Every such block begins with this. */
typedef struct SlackHeader
{
	uint32 magic; /* changes with the layout; 0: not initialised */
	uint32 size;
	LWLock lock;
} SlackHeader;

/*
 * The block of that name.  Whoever comes first zeroes it, initialises its lock, and
 * calls initialise().  NULL in single-user mode, and if the block in memory is
 * another version's.
 */
extern void *slack_attach(const char *name, Size size, uint32 magic, const char *tranche,
						  void (*initialise)(void *block));

#endif /* PRIVPRED_SLACK_H */
