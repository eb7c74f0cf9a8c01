/*
 * server_stubs.h
 *		What code with CHECK_FOR_INTERRUPTS() and palloc() needs outside the
 *		server.  palloc itself comes from libpgcommon.
 */
#ifndef PRIVPRED_SERVER_STUBS_H
#define PRIVPRED_SERVER_STUBS_H

#include <signal.h>

extern volatile sig_atomic_t InterruptPending;
extern void					 ProcessInterrupts(void);

volatile sig_atomic_t InterruptPending = 0;

void
ProcessInterrupts(void)
{
}

/* There are no memory contexts here, so what they would free is not a leak. */
extern const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

#endif /* PRIVPRED_SERVER_STUBS_H */
