/*
 * arena.h
 *		palloc for what is tested without a server: everything is freed at once by
 *		arena_reset(), and the address sanitizer sees each piece.
 */
#ifndef PRIVPRED_ARENA_H
#define PRIVPRED_ARENA_H

#include "postgres.h"

#define ARENA_PIECES 100000

static void *arena_pieces[ARENA_PIECES];
static int	 arena_used = 0;

void *
palloc_extended(Size size, int flags)
{
	void *piece = malloc(Max(size, 1));

	if (piece == NULL || arena_used == ARENA_PIECES)
		abort();
	return arena_pieces[arena_used++] = piece;
}

void *
palloc(Size size)
{
	return palloc_extended(size, 0);
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void
pfree(void *pointer)
{
	/* with the others */
}

static void
arena_reset(void)
{
	while (arena_used > 0)
		free(arena_pieces[--arena_used]);
}

#endif /* PRIVPRED_ARENA_H */
