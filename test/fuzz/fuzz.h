/*
 * fuzz.h
 *		Targets of the fuzzer: each takes any bytes, and accepts or refuses them.
 *
 * A target raises an error for what it refuses.  An internal error (class XX), a
 * broken promise() and anything that the sanitizers see is a finding.
 */
#ifndef PRIVPRED_FUZZ_H
#define PRIVPRED_FUZZ_H

#include "postgres.h"

#include "server/compat.h"

typedef void (*FuzzTarget)(const uint8 *data, Size size);

extern void fuzz_predictor(const uint8 *data, Size size);
extern void fuzz_state(const uint8 *data, Size size);
extern void fuzz_charge(const uint8 *data, Size size);
extern void fuzz_features(const uint8 *data, Size size);
extern void fuzz_options(const uint8 *data, Size size);
extern void fuzz_question(const uint8 *data, Size size);
extern void fuzz_model(const uint8 *data, Size size);

/* What must hold of whatever was accepted. */
#define promise(condition) \
	do \
	{ \
		if (!(condition)) \
			fuzz_broken(#condition); \
	} while (0)

/* What an input allocates, which goes when it is done. */
extern MemoryContext fuzz_iteration;

/* redzones.c */
extern void fuzz_unguard_all(void);

pg_noreturn extern void fuzz_broken(const char *promise);

/* The bytes as a string, up to the first zero. */
extern char *fuzz_text(const uint8 *data, Size size);

/* A block of exactly this size, whose ends the address sanitizer knows; freed at the end. */
extern unsigned char *fuzz_exact(const uint8 *data, Size size);

#endif /* PRIVPRED_FUZZ_H */
