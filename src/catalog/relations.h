/*
 * relations.h
 *		Relations of users: which are protected, and which are public.
 *
 * relations.c		rows of privpred.protected_relation
 * populations.c	which of them are about the same units
 * past.c			tables that were dropped, and may come back
 * units.c			tables, their owners, and the columns that say whose a row is
 * shared_rows.c	which relations may have rows of a protected one
 * family.c			the same for tables that inherit from one another, without locks
 * view_*.c			which views keep units apart (view_walk.h)
 */
#ifndef PRIVPRED_RELATIONS_H
#define PRIVPRED_RELATIONS_H

#include "access/attnum.h"
#include "access/htup.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "server/privpred.h"

/* ---------- relations.c ---------- */

typedef struct ProtectedRelation
{
	int64  relation_id;
	int64  population; /* whose accounts pay: the relation_id of the first about the same units */
	Oid	   relid;
	int	   nunits; /* columns that identify the unit */
	char **unit_columns;
	AttrNumber *unit_numbers; /* the same by number; NULL: the names alone are known here */
	bool		protects_labels;
	int64		declared_units;	   /* 0: not declared */
	int32		max_rows_per_unit; /* 0: not declared */
	bool		keys_known;		   /* note_units_are_rows() was called */
	bool		units_are_rows;
} ProtectedRelation;

extern bool is_unit_column(const ProtectedRelation *protected, const char *column);

/* What protect() declares, besides the relation itself. */
typedef struct ProtectOptions
{
	const char *unit; /* NULL: the primary key */
	bool		protects_labels;
	int64		declared_units;	   /* 0: not declared */
	int32		max_rows_per_unit; /* 0: not declared */
	Oid			same_units_as;	   /* a protected relation; InvalidOid: not given */
	ArrayType  *public_tables;	   /* regclass[], of a view; NULL: not given */
} ProtectOptions;

/* Raises 55000 unless the relation is protected. */
extern ProtectedRelation *protected_relation_get(Oid relid);

/*
 * The same, and the relation stays protected until the transaction ends: for
 * whatever makes models or budgets.  Many may hold it; whoever seizes it waits for
 * them and keeps others out.  Locks are taken in one order: the relation itself,
 * then this.
 */
extern ProtectedRelation *protected_relation_hold(Oid relid);
extern ProtectedRelation *protected_relation_seize(Oid relid);

/* The same, or NULL. */
extern ProtectedRelation *protected_relation_hold_if_any(Oid relid);

/* Is the relation itself protected?  For its rows, see check_public_rows(). */
extern bool relation_is_protected(Oid relid);

/* All relations that are protected now, as a list of OIDs. */
extern List *protected_relations(void);

/*
 * Declaring: opens a relation that may be protected, and locks it so that nobody
 * else declares it, or a part of it, before the transaction ends.
 */
extern Relation protected_relation_open(Oid relid);

/* As it was declared before, even if protection has ended; NULL if it never was. */
extern ProtectedRelation *protected_relation_declared(Oid relid);

/* The same, and nobody makes models or budgets before the transaction ends. */
extern ProtectedRelation *protected_relation_declared_seize(Oid relid);

/* Its unit, as resolve_unit() returns it. */
extern ArrayType *unit_array(const ProtectedRelation *protected);
extern bool
same_declaration(const ProtectedRelation *protected, ArrayType *units, bool protects_labels);

/* Is a unit's column the one that had its name when it was declared? */
extern bool unit_column_is_same(const ProtectedRelation *protected, int number);

/* Within catalog_begin(), of a ledger that was adopted: the names say which columns units are. */
extern void protected_relations_adopt(void);

/*
 * Writes a declaration; relation_id is that of the same one before, or 0.  A new one belongs to the
 * population that is given, or, if that is 0, begins one.
 */
extern void
protected_relation_write(Relation relation, ArrayType *units, const ProtectOptions *options,
						 int64 relation_id, int64 population);

/* A table has another OID now, which takes the declaration over unless it has one itself. */
extern bool protected_relation_follow(Oid from, Oid to);

/* Ends a declaration for good, so that the relation may be declared in another way. */
extern void protected_relation_retire(const ProtectedRelation *protected);
extern void protected_relation_remove(const ProtectedRelation *protected);

/* ---------- populations.c ---------- */

/* The number of the population that a protected relation belongs to; 0: it is not protected. */
extern int64 population_of_relation(Oid relid);

/* Its relations that are protected, always in the same order. */
extern List *population_protected(int64 population);

/* All numbers that accounts and entries of it may have, as bigint[]; NULL: none. */
extern ArrayType *population_numbers(int64 population);

/* Is one of its relations protected? */
extern bool population_is_active(int64 population);

/* Are there others about the same units?  Those that are protected, or all that are left. */
extern bool population_has_others(const ProtectedRelation *protected, bool active);

/* Raises 42501 unless the current user owns all of its relations that are protected. */
extern void check_population_owner(int64 population);

/* Relations of one population are those of another from now on. */
extern void populations_merge(int64 from, int64 into);

/* Raises unless the units of a relation may be those of another. */
extern void check_same_units(Relation relation, ArrayType *units, bool protects_labels,
							 const ProtectedRelation *other);

/* A row of privpred.protected_relation that is to be inserted, with its population. */
extern HeapTuple population_begin(Relation table, HeapTuple row);

/* ---------- past.c ---------- */

/* A relation that was protected before. */
typedef struct PastRelation
{
	int64 relation_id;
	int64 population;
	Oid	  relid;			/* InvalidOid: it was dropped */
	char *name;				/* what it is called now, or was when it was dropped */
	bool  is_renamed;		/* and was not protected again under its new name */
	bool  same_declaration; /* its unit and promise are those that were asked for */
	bool  has_others;		/* relations about the same units are left */
} PastRelation;

/*
 * Relations that once had the name that this one has now, and belonged to a role whose rights its
 * owner has; those that still exist first, then the last that was dropped.
 */
extern List *past_relations(Relation relation, ArrayType *units, bool protects_labels);

/* Relations, protected once, that now have a name that is not known yet; and makes it known. */
extern List *relations_renamed(void);
extern void	 relation_note_name(Oid relid);

/* Has it another name than when it was protected last? */
extern bool relation_is_renamed(Oid relid);

/* Inside a sql_drop event trigger: forgets tables that are gone, and returns them as they were. */
extern List *protected_relations_dropped(void);

/* Within catalog_begin(): of a ledger that was adopted. */
extern void past_relations_adopt(void);

/* ---------- units.c ---------- */

/* A relation's name in SQL; raises 42P01 if no relation has this OID. */
extern char *relation_sql_name(Oid relid);

/* Raises 42501 unless the current user owns the relation. */
extern void check_relation_owner(Oid relid);

/*
 * Opens a table.  Raises 42P01 if it was dropped, even while we waited for the lock,
 * and 42809 if it is not a table.
 */
extern Relation open_relation(Oid relid, LOCKMODE lock);

/*
 * Takes a lock on a relation until the transaction ends.  Raises 42P01 or 42501
 * unless, once it is locked, it exists and belongs to the current user.
 */
extern void lock_own_relation(Oid relid, LOCKMODE lock);

/* The names of the unit's columns: the given one, or the primary key's.  Raises unless they fit. */
extern ArrayType *resolve_unit(Relation relation, const char *unit);

/* Is the index a key that holds now, by the equality of its columns' types? */
extern bool index_is_key(Relation index, Relation table);

/* Is it NOT NULL, and a foreign key or named like an id? */
extern bool looks_like_an_id(Relation relation, AttrNumber attnum);

/* Columns beside a primary key, or in it, that may say whose a row is, in words; NULL: none. */
extern char *other_ids(Relation relation);

/* Warns if the primary key is taken for the unit, and other columns may say whose a row is. */
extern void warn_about_unit(Relation relation);

/*
 * Raises unless every unit column still exists, is NOT NULL (in tables), and is hashable, and the
 * table's owner reads all of its rows.
 */
extern void check_unit_columns(const ProtectedRelation *relation);

/* ---------- view_check.c ---------- */

/* A view that was proved to be unit-local. */
typedef struct ViewProof
{
	Oid	  view;
	char *unit;
	List *publics;
	List *tables;		  /* protected ones under it */
	int64 population;	  /* of the protected tables under it */
	bool  one_row_a_unit; /* as long as the locks are held, by a snapshot from now on */
	char *digest;		  /* of all that was looked at */
	char *definition;	  /* as the server prints it */
} ViewProof;

/*
 * Proves that rows of a unit in a view depend on that unit's rows in protected tables
 * alone, from its stored query; raises an error that says why it cannot, and what would
 * help.  Locks what it reads until the transaction ends.
 */
extern ViewProof *view_prove(Oid view, const char *unit, const List *publics);

/* The same as it was declared; NULL for a table. */
extern ViewProof *view_prove_protected(const ProtectedRelation *protected);

/* After rows were read: raises 40001 if what was proved is no longer what is there. */
extern void view_still_proved(const ViewProof *proof);

/* The same error, where something else shows it. */
pg_noreturn extern void view_has_changed(Oid view);

/* ---------- view_store.c ---------- */

/* A protected view that reads a protected relation, or a view that does, and so on. */
extern Oid protected_view_over(const ProtectedRelation *protected);

extern List *public_tables_of_view(int64 relation_id);
extern List *public_tables_of_array(ArrayType *array);
extern void	 public_tables_write(int64 relation_id, const List *tables);

/* Within catalog_begin(), inside a sql_drop event trigger: what was dropped is no longer public. */
extern void public_tables_forget(void);

/* How a view is defined, and how units are encoded: it decides on their teachers. */
extern char *definition_now(const ProtectedRelation *protected);

/* The same when the stored version of a model was trained; NULL: nobody wrote it down. */
extern char *model_definition(const char *name);
extern void	 model_store_definition(const char *name, const char *definition);

/* ---------- unit_encoding.c ---------- */

/*
 * All that decides which bytes stand for a unit, in words.  While it stays the same, so do
 * the bytes of every id, and with them its hashes.
 */
extern char *unit_encoding(const ProtectedRelation *protected);

/* ---------- shared_rows.c ---------- */

/*
 * Raises 22023, with a detail, if any row of a table or view may be a row of a
 * protected relation.  Its locks keep it so until the transaction ends.
 */
extern void check_public_rows(Oid relid, const char *detail);

/*
 * The relation that a name with its schema means to the current user, if its rows are public.
 * The subject is what gave the name, for the message.
 */
extern Oid public_relation(const char *subject, const char *detail, const char *name);

/* May rows of a relation be rows of another, as far as their definitions tell? */
extern bool relations_share_rows(Oid relid, Oid other);

/* Raises 55000 if a protected relation shares rows with another: they would have two budgets. */
extern void check_protected_once(Oid relid);

/* ---------- family.c ---------- */

/* A table that may have rows in common with another by inheritance. */
typedef struct Relative
{
	Oid	  relid;
	int64 relation_id; /* 0: it was never protected */
	int64 population;
	bool  is_protected; /* now */
} Relative;

/*
 * A table, its partitions and children, and whatever these are parts of; by relid.
 * Whether something joins them changes only when one of them is altered.
 */
extern List *relation_family(Oid relid);

/* A protected one besides the table itself, or NULL. */
extern const Relative *protected_relative(const List *family, Oid relid);

#endif /* PRIVPRED_RELATIONS_H */
