/*
 * redzones.c
 *		The address sanitizer knows where what our code allocates ends.
 *
 * The server hands out parts of larger blocks, so that a write beyond one of them is
 * a write into the next.  The linker puts these in the place of the server's functions
 * where our own files call them (Makefile).
 */
#include "fuzz.h"

#include <sanitizer/asan_interface.h>

#include "utils/memutils.h"

#define REDZONE 16
#define MAX_ZONES 100000

extern void *__real_palloc(Size size);
extern void *__real_palloc0(Size size);
extern void *__real_palloc_extended(Size size, int flags);
extern void *__real_repalloc(void *pointer, Size size);
extern void	 __real_pfree(void *pointer);

extern void *__wrap_palloc(Size size);
extern void *__wrap_palloc0(Size size);
extern void *__wrap_palloc_extended(Size size, int flags);
extern void *__wrap_repalloc(void *pointer, Size size);
extern void	 __wrap_pfree(void *pointer);

static char *zones[MAX_ZONES];
static int	 nzones = 0;

/* Elsewhere blocks may be given back, and used again, before we hear of it. */
static bool
guarded(void)
{
	return CurrentMemoryContext == fuzz_iteration && nzones < MAX_ZONES;
}

static void *
guard(void *pointer, Size size)
{
	if (pointer == NULL)
		return NULL;
	zones[nzones++] = (char *) pointer + size;
	__asan_poison_memory_region((char *) pointer + size, REDZONE);
	return pointer;
}

/* The zone that lies in a chunk; the last is found first. */
static void
unguard(char *pointer)
{
	Size space = GetMemoryChunkSpace(pointer);

	for (int i = nzones - 1; i >= 0; i--)
		if (zones[i] >= pointer && zones[i] < pointer + space)
		{
			__asan_unpoison_memory_region(zones[i], REDZONE);
			zones[i] = zones[--nzones];
			return;
		}
}

void
fuzz_unguard_all(void)
{
	while (nzones > 0)
		__asan_unpoison_memory_region(zones[--nzones], REDZONE);
}

void *
__wrap_palloc(Size size)
{
	return guarded() ? guard(__real_palloc(size + REDZONE), size) : __real_palloc(size);
}

void *
__wrap_palloc0(Size size)
{
	return guarded() ? guard(__real_palloc0(size + REDZONE), size) : __real_palloc0(size);
}

void *
__wrap_palloc_extended(Size size, int flags)
{
	return guarded() ? guard(__real_palloc_extended(size + REDZONE, flags), size)
					 : __real_palloc_extended(size, flags);
}

void *
__wrap_repalloc(void *pointer, Size size)
{
	unguard(pointer);
	return guarded() ? guard(__real_repalloc(pointer, size + REDZONE), size)
					 : __real_repalloc(pointer, size);
}

void
__wrap_pfree(void *pointer)
{
	unguard(pointer);
	__real_pfree(pointer);
}
