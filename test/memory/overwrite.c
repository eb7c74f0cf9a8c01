/*
 * overwrite.c
 *		Memory that nobody wrote, or that nobody has any more, holds nonsense.
 *
 * Linked into the module by "make check-memory" alone, where the linker puts
 * these in the place of the server's functions (Makefile).  What the server
 * allocates for itself is left alone; blocks are overwritten by the C library
 * (MALLOC_PERTURB_), and automatic variables by the compiler.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"

/* As a double, a number of 10^180; as a pointer, none; as an integer, too much. */
#define FRESH 0x65
#define FREED 0x7A

/* What the server's chunks have in front; of AllocSets only, which nearly all are. */
#if PG_VERSION_NUM < 160000
#define CHUNK_HEADER 16
#else
#define CHUNK_HEADER 8
#endif

extern void *__real_palloc(Size size);
extern void *__real_palloc_extended(Size size, int flags);
extern void *__real_repalloc(void *pointer, Size size);
extern void *__real_repalloc_huge(void *pointer, Size size);
extern void *__real_MemoryContextAlloc(MemoryContext context, Size size);
extern void *__real_MemoryContextAllocHuge(MemoryContext context, Size size);
extern void *__real_MemoryContextAllocExtended(MemoryContext context, Size size, int flags);
extern void	 __real_pfree(void *pointer);
extern void	 __real_enlargeStringInfo(StringInfo string, int needed);

/* Younger than some of the servers, which then have nobody that calls them. */
extern void *__real_palloc_mul(Size one, Size count) __attribute__((weak));
extern void *__real_repalloc_mul(void *pointer, Size one, Size count) __attribute__((weak));

extern void *__wrap_palloc(Size size);
extern void *__wrap_palloc_mul(Size one, Size count);
extern void *__wrap_repalloc_mul(void *pointer, Size one, Size count);
extern void *__wrap_palloc_extended(Size size, int flags);
extern void *__wrap_repalloc(void *pointer, Size size);
extern void *__wrap_repalloc_huge(void *pointer, Size size);
extern void *__wrap_MemoryContextAlloc(MemoryContext context, Size size);
extern void *__wrap_MemoryContextAllocHuge(MemoryContext context, Size size);
extern void *__wrap_MemoryContextAllocExtended(MemoryContext context, Size size, int flags);
extern void	 __wrap_pfree(void *pointer);
extern void	 __wrap_enlargeStringInfo(StringInfo string, int needed);

static void *
fresh(void *pointer, Size size, int flags)
{
	if (pointer != NULL && (flags & MCXT_ALLOC_ZERO) == 0)
		memset(pointer, FRESH, size);
	return pointer;
}

/* Bytes that a chunk can hold; 0 if that is not known. */
static Size
room(void *pointer)
{
	if (!IsA(GetMemoryChunkContext(pointer), AllocSetContext))
		return 0;
	return GetMemoryChunkSpace(pointer) - CHUNK_HEADER;
}

/* What was there stays; what is new has been written by nobody. */
static void *
grown(void *pointer, Size before, Size size)
{
	if (before > 0 && size > before)
		memset((char *) pointer + before, FRESH, size - before);
	return pointer;
}

void *
__wrap_palloc(Size size)
{
	return fresh(__real_palloc(size), size, 0);
}

/* The product does not overflow where the server has given as much. */
void *
__wrap_palloc_mul(Size one, Size count)
{
	void *pointer = __real_palloc_mul(one, count);

	return fresh(pointer, one * count, 0);
}

void *
__wrap_palloc_extended(Size size, int flags)
{
	return fresh(__real_palloc_extended(size, flags), size, flags);
}

void *
__wrap_MemoryContextAlloc(MemoryContext context, Size size)
{
	return fresh(__real_MemoryContextAlloc(context, size), size, 0);
}

void *
__wrap_MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return fresh(__real_MemoryContextAllocHuge(context, size), size, 0);
}

void *
__wrap_MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return fresh(__real_MemoryContextAllocExtended(context, size, flags), size, flags);
}

void *
__wrap_repalloc(void *pointer, Size size)
{
	Size before = room(pointer);

	return grown(__real_repalloc(pointer, size), before, size);
}

void *
__wrap_repalloc_huge(void *pointer, Size size)
{
	Size before = room(pointer);

	return grown(__real_repalloc_huge(pointer, size), before, size);
}

void *
__wrap_repalloc_mul(void *pointer, Size one, Size count)
{
	Size before = room(pointer);

	pointer = __real_repalloc_mul(pointer, one, count);
	return grown(pointer, before, one * count);
}

void
__wrap_pfree(void *pointer)
{
	memset(pointer, FREED, room(pointer));
	__real_pfree(pointer);
}

void
__wrap_enlargeStringInfo(StringInfo string, int needed)
{
	__real_enlargeStringInfo(string, needed);
	/* the end of the string stays */
	memset(string->data + string->len + 1, FRESH, string->maxlen - string->len - 1);
}
