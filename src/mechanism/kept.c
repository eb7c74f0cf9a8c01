/*
 * kept.c
 *		Rows that are read more than once: kept in memory as long as they fit.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "mechanism/kept.h"

#define BLOCK_BYTES (1024 * 1024)

/* Pieces one after the other, each after its size. */
typedef struct KeptBlock
{
	struct KeptBlock *next;
	Size			  used;
	Size			  size;
	char			  data[FLEXIBLE_ARRAY_MEMBER];
} KeptBlock;

struct Kept
{
	MemoryContext context;
	Size		 *memory; /* left */
	KeptBlock	 *first;
	KeptBlock	 *block;	/* being filled, or read */
	Size		  position; /* read up to here */
};

Kept *
kept_create(Size *memory)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred rows", ALLOCSET_DEFAULT_SIZES);
	Kept *kept = MemoryContextAllocZero(context, sizeof(Kept));

	kept->context = context;
	kept->memory = memory;
	return kept;
}

void *
kept_add(Kept *kept, Size bytes)
{
	Size  piece = MAXALIGN(sizeof(Size)) + MAXALIGN(bytes);
	char *at;

	if (kept->block == NULL || kept->block->size - kept->block->used < piece)
	{
		Size	   size = Max(piece, BLOCK_BYTES);
		KeptBlock *block;

		if (*kept->memory < size + sizeof(KeptBlock))
			return NULL;
		*kept->memory -= size + sizeof(KeptBlock);
		block = MemoryContextAllocHuge(kept->context, offsetof(KeptBlock, data) + size);
		block->next = NULL;
		block->used = 0;
		block->size = size;
		*(kept->block == NULL ? &kept->first : &kept->block->next) = block;
		kept->block = block;
	}
	at = kept->block->data + kept->block->used;
	kept->block->used += piece;
	memcpy(at, &piece, sizeof(Size));
	return at + MAXALIGN(sizeof(Size));
}

void
kept_rewind(Kept *kept)
{
	kept->block = kept->first;
	kept->position = 0;
}

void *
kept_next(Kept *kept)
{
	char *at;
	Size  piece;

	while (kept->block != NULL && kept->position >= kept->block->used)
	{
		kept->block = kept->block->next;
		kept->position = 0;
	}
	if (kept->block == NULL)
		return NULL;
	at = kept->block->data + kept->position;
	memcpy(&piece, at, sizeof(Size));
	kept->position += piece;
	return at + MAXALIGN(sizeof(Size));
}

void
kept_free(Kept *kept)
{
	MemoryContextDelete(kept->context);
}
