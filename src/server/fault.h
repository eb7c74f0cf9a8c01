/*
 * fault.h
 *		Named points at which test/crash lets a process fail.
 *
 * They are nothing unless PRIVPRED_FAULTS is defined, which only "make crash" does.
 */
#ifndef PRIVPRED_FAULT_H
#define PRIVPRED_FAULT_H

#ifdef PRIVPRED_FAULTS
extern void fault_point(const char *name);
#define FAULT_POINT(name) fault_point(name)
#else
#define FAULT_POINT(name) ((void) 0)
#endif

#endif /* PRIVPRED_FAULT_H */
