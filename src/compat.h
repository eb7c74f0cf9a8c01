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

#include "storage/shmem.h"		/* mul_size */

#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

#ifndef palloc_object
#define palloc_object(type) ((type *) palloc(sizeof(type)))
#define palloc0_object(type) ((type *) palloc0(sizeof(type)))
#define palloc_array(type, count) ((type *) palloc(mul_size(sizeof(type), count)))
#define palloc0_array(type, count) ((type *) palloc0(mul_size(sizeof(type), count)))
#define repalloc_array(pointer, type, count) \
	((type *) repalloc(pointer, mul_size(sizeof(type), count)))
#endif

#if PG_VERSION_NUM < 160000
#define object_ownercheck(classid, objectid, roleid) \
	pg_class_ownercheck(objectid, roleid)
#endif

#endif							/* PRIVPRED_COMPAT_H */
