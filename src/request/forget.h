/*
 * forget.h
 *		What the files that forget a unit share.
 *
 * forget.c			forget
 * forget_due.c		forgetting at the next retraining
 * forget_unit.c	the unit: its value, its rows, its teacher
 * certificate.c	certificates: what they say, and whether that holds
 */
#ifndef PRIVPRED_FORGET_H
#define PRIVPRED_FORGET_H

#include "catalog/forgettings.h"
#include "request/train.h"

/* forget_unit.c */

/* A unit as it was given: its columns in words. */
typedef struct UnitText
{
	int			 count;
	const char **columns;
} UnitText;

/* The same in the types of a relation's unit columns. */
typedef struct UnitValue
{
	int			n;
	Oid		   *types;
	int32	   *typmods;
	Datum	   *values;
	UnitHasher *hasher;
} UnitValue;

/* Raises 22023 or 22P02 unless it can be a unit of the relation. */
extern UnitValue *unit_value(const ProtectedRelation *protected, const UnitText *text);

/* The same in the types that a certificate remembers. */
extern UnitValue *
unit_value_of_types(int n, const Oid *types, const int32 *typmods, const UnitText *text);

/* Rows of the unit that there are now. */
extern int64 unit_rows(const ProtectedRelation *protected, const UnitValue *unit);

/* Deletes them with the caller's rights, like a statement of the caller's. */
extern int64 unit_delete(const ProtectedRelation *protected, const UnitValue *unit);

/* Whether rows of a unit with this mark are there, if its teacher is known among its rows only. */
extern bool unit_is_marked(const ModelRecord *model, const ProtectedRelation *protected,
						   const uint8 *salt, int64 mark, int teacher);

/* The teacher that sees it, TEACHERS_ALL if the model has none, TEACHERS_NONE if it is held out. */
extern int unit_teacher_of(const ModelRecord *model, const UnitValue *unit);

/* certificate.c */

/* What a model was and what it has become, for a certificate and for the owner. */
typedef struct Renewal
{
	const ModelRecord *before;
	const ModelRecord *after; /* NULL: nothing is done now */
	int				   teacher;
	bool			   one; /* that teacher alone was fitted again */
} Renewal;

/* One model of a certificate, as JSON; raises an error if another teacher has changed. */
extern char *renewal_json(const Certificate *certificate, const Renewal *renewal);

/* How a model forgets, in words. */
extern const char *renewal_how(const Renewal *renewal);

/* The document without its models; then the place of one more. */
extern char	 *certificate_document(const Certificate *certificate,
								   const ProtectedRelation *protected, const UnitValue *unit);
extern Jsonb *certificate_with_model(Jsonb *document, const char *model);

/* The salt of the marks by which rows of the unit would be found. */
extern void certificate_mark_salt(const Certificate *certificate, uint8 salt[TEACHER_SALT_BYTES]);

/* It is an entry of the ledger, too. */
extern void certificate_complete(const Certificate *certificate, Jsonb *document);

/* forget_due.c */

/* The model will forget the unit; or, done, it never saw it. */
extern void forget_later(const Certificate *certificate, const ModelRecord	 *model,
						 const ProtectedRelation *protected, const UnitValue *unit, int teacher);

/*
 * Around the training of a model, with rows held: which units it does not learn from, of those
 * that are to be forgotten.  A new model has no version before.
 */
extern List *forget_begin_dues(const ModelRecord *model, const ProtectedRelation *protected);
extern void
forget_end_dues(List *dues, const ModelRecord *before, const ModelRecord *after, int64 population);

/* Models of these relations were dropped, which so have forgotten. */
extern void forget_dropped(int64 population);

#endif /* PRIVPRED_FORGET_H */
