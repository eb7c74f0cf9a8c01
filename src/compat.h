/*
 * compat.h
 *		Every difference between server versions, in one place.
 *
 * Call sites use the newest spelling; older servers get it from here.
 */
#ifndef PRIVPRED_COMPAT_H
#define PRIVPRED_COMPAT_H

#if PG_VERSION_NUM < 140000
#error "privpred needs PostgreSQL 14 or later"
#endif

#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

#if PG_VERSION_NUM < 160000
#define object_ownercheck(classid, objectid, roleid) \
	pg_class_ownercheck(objectid, roleid)
#endif

/* A process's number in ProcGlobal->allProcs. */
#if PG_VERSION_NUM < 170000
#define MyProcNumber (MyProc->pgprocno)
#endif

#endif							/* PRIVPRED_COMPAT_H */
