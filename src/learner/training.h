/*
 * training.h
 *		Inside of the aggregate state; for training*.c and labels.c alone.
 */
#ifndef PRIVPRED_TRAINING_H
#define PRIVPRED_TRAINING_H

#include "learner/learners.h"

/* ---------- labels.c ---------- */

typedef enum LabelKind
{
	LABEL_BOOL,
	LABEL_INT2,
	LABEL_INT4,
	LABEL_INT8,
	LABEL_ENUM,
	LABEL_TEXT,	  /* also varchar */
	LABEL_BPCHAR, /* without trailing blanks */
	LABEL_NAME
} LabelKind;

/* Raises 42804 for types that cannot be labels; takes a base type. */
extern LabelKind label_kind(Oid base_type);

/* Class names in order of appearance, found by hash once there are many. */
typedef struct ClassNames
{
	int	   n;
	int	   capacity;
	char **names;
	int	   table_size; /* power of two, or 0 */
	int32 *table;	   /* index + 1 */
} ClassNames;

extern int class_names_find(const ClassNames *classes, const char *name, int length);
extern int class_names_add(ClassNames *classes, const char *name, int length);

/*
 * Labels that are passed by value go through a tiny direct-mapped cache, so
 * that the usual row needs no text at all.  It is small because there is one per
 * teacher.
 */
#define LABEL_CACHE_SIZE 16

typedef struct LabelCacheEntry
{
	int64 key;
	int32 class_index;
	bool  used;
} LabelCacheEntry;

/* ---------- training.c ---------- */

struct TrainingState
{
	const Learner *learner;
	LearnerOptions options;
	Oid			   label_type; /* base type */
	LabelKind	   kind;
	int			   width;
	Size		   memory_limit;
	Size		   memory_used;

	ClassNames		classes;
	LabelCacheEntry cache[LABEL_CACHE_SIZE];
	int				class_capacity; /* of the next two */
	int64		   *class_rows;
	int128		  **of_class; /* additive */
	int64			nrows;

	/* buffered */
	int64	capacity;
	double *values;
	int32  *row_class;

	/* additive */
	int64	shared_sums;
	int64	class_sums;
	int128 *shared;
	int64  *fixed;	 /* one row */
	int32  *small;	 /* the same, if it is small */
	int64  *pending; /* shared sums of the last small rows */
	int		pending_rows;
};

/* Moves pending sums to where they belong; changes no value. */
extern void training_settle(const TrainingState *state);

/* The class of a label, -1 if it is none of the declared ones. */
extern int training_resolve_label(TrainingState *state, Datum label);

/* Finds a class, or adds it with empty sums, whatever was declared. */
extern int training_ensure_class(TrainingState *state, const char *name, int length);

/* Raises 53200 unless a state may have this much more memory. */
extern void training_check_memory(const TrainingState *state, Size more);

/* Makes room for more rows. */
extern void training_reserve_rows(TrainingState *state, int64 more);

#endif /* PRIVPRED_TRAINING_H */
