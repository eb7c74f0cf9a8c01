/*
 * early.c
 *		Preloaded beside the address sanitizer, to be the first that allocates.
 *
 * Otherwise that is a library which does it while it holds a lock of gettext's, which the
 * sanitizer takes when it starts (libgpg-error, glibc 2.36).
 */
#include <stdlib.h>

static void *volatile first;

__attribute__((constructor)) static void
allocate(void)
{
	first = malloc(1);
	free(first);
}
