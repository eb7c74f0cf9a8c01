/*
 * features.h
 *		Feature specifications and the encoding of inputs.
 *
 * features.c		the stored specification
 * declare.c		what an owner may write, checked against the table's columns
 * levels.c			levels of categories, listed or read from a public table
 * cuts.c			numbers with cuts: pieces of a column's range
 * classes.c		the classes of a label
 * numbers.c		values of columns as numbers, dates and timestamps included
 * encode.c			from rows, jsonb and arrays to what learners see
 */
#ifndef PRIVPRED_FEATURES_H
#define PRIVPRED_FEATURES_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "utils/array.h"
#include "utils/jsonb.h"

typedef enum FeatureKind
{
	FEATURE_NUMERIC,  /* clamped to [min, max], scaled to [0, 1], as a whole or by pieces */
	FEATURE_CATEGORY, /* one-hot over declared levels */
	FEATURE_BOOLEAN	  /* 0 or 1 */
} FeatureKind;

typedef struct Feature
{
	char	   *name;
	FeatureKind kind;
	Oid			time_type; /* numeric: of a date or timestamp, else invalid */
	double		min;	   /* numeric; of times, see numbers.c */
	double		max;
	double		scale; /* 1 / (max - min) */

	/* A number with cuts (cuts.c): piece i lies between knots i and i + 1. */
	int		npieces; /* 0: no cuts */
	double *knots;	 /* npieces + 1, from min to max */
	double *piece_scale;

	int	   nlevels; /* category */
	char **levels;
	int	  *level_order; /* levels sorted, for searching */

	/*
	 * What NULL becomes.  If nothing is declared, it is an error at prediction; at
	 * training, where nothing may fail, it is the middle of the range, or no level at
	 * all.
	 */
	bool   null_declared; /* anything, an error included; known while it is declared */
	bool   missing;		  /* NaN */
	bool   none;		  /* zeros */
	bool   fill_declared;
	double fill;	   /* numeric, boolean: in the column's own units */
	int	   fill_level; /* category; -1: none */

	int offset; /* of the first number in the encoded array */
	int width;	/* how many numbers */
	int place;	/* of the first number in a question that is an array */
} Feature;

typedef struct FeatureSpec
{
	int		 nfeatures;
	int		 width;	 /* total: what learners see */
	int		 places; /* what a question has as an array: a number with cuts takes one */
	Feature *features;

	/* If all features are numbers without cuts: minima and scales side by side; else NULL. */
	double *minima;
	double *scales;
} FeatureSpec;

/* features.c */

/* Reads a stored specification; allocates in the current context. */
extern FeatureSpec *feature_spec_read(Jsonb *stored);

/* The stored form of a specification. */
extern Jsonb *feature_spec_write(const FeatureSpec *spec);

/* Fills in what follows from the declared parts: offsets, order of levels. */
extern void feature_spec_complete(FeatureSpec *spec);

/* Takes all cuts away; returns the quoted names of the columns that had some, or NULL. */
extern char *feature_spec_drop_cuts(FeatureSpec *spec);

/* Index of a level, or -1. */
extern int feature_level(const Feature *feature, const char *level, int length);

/* Can a column of this base type be read as the feature? */
extern bool feature_fits(const Feature *feature, Oid type);

/* declare.c */

/*
 * Reads what the owner wrote (a JSON object of columns, or an array of column
 * names) against the columns of the table.  Levels of enums come from the
 * type, others may come from a public table; nothing is ever read from protected rows.
 */
extern FeatureSpec *feature_spec_declare(Datum json, TupleDesc columns, const char *relation_name);

/* Raises 22023: the declaration of a feature is wrong. */
extern void bad_feature(const char *feature, const char *problem, const char *hint);

/* A number of the feature, or a time in a string; NaN if it is neither. */
extern double declared_number(const Feature *feature, const JsonbValue *value);

/* Text of a JSON string, number or boolean, as levels and classes are written; or NULL. */
extern char *json_scalar_text(const JsonbValue *value);

/* Whether values of a base type can be levels or classes. */
extern bool category_type_ok(Oid type);

/* classes.c */

/* The declared classes (NULL: from the type) in the label column's own spelling. */
extern char **
classes_declare(ArrayType *declared, const char *label, Oid label_type, int *nclasses);

/* Levels of an enum type, in its order. */
extern char **enum_levels(Oid enum_type, int *nlevels);

/* levels.c */

/* What the owner wrote; a table is read with the rights of the relation's owner. */
extern void levels_declare(Feature *feature, const JsonbValue *value, Oid relid);

/* Raises 22023 if a level is there twice. */
extern void levels_check(const Feature *feature);

/* cuts.c */

#define MIN_PIECES 2
#define MAX_PIECES 256

/* What the owner wrote: cuts in increasing order, or how many pieces of equal width. */
extern void cuts_declare(Feature *feature, const JsonbValue *value);

/* Could a number without cuts be cut into so many pieces of equal width? */
extern bool cuts_have_room(const Feature *feature, int npieces);

/*
 * Lays out the pieces between so many cuts, which are knots[1] and so on.  Returns NULL, or what
 * is wrong with them.
 */
extern char *cuts_complete(Feature *feature, int ncuts);

/*
 * The pieces of a value that is not NaN, each in [0, 1]: how much of it lies below the value.
 * They increase with it, and times their widths they add up to what it is above min.
 */
extern void encode_pieces(const Feature *feature, double value, double *x);

/* numbers.c */

/* Base types whose values are numbers.  Their values, and those of dates and timestamps. */
extern bool	  number_type_ok(Oid type);
extern double number_of_datum(Datum value, Oid type);

/*
 * A date is its number of days since 1970-01-01, a timestamp its number of
 * seconds, as EXTRACT(EPOCH ...) gives it; infinity is infinite.
 */
extern bool	  time_type_ok(Oid type);
extern double time_of_datum(Datum value, Oid type);

/* Reads text as the type does; raises 22023 with the feature's name. */
extern double time_of_text(const char *feature, const char *text, int length, Oid type);

/* A finite time in ISO 8601, which time_of_text() reads whatever the settings are. */
extern char *time_to_text(double value, Oid type);

/* problem.c */

/* Raises 22023; but if problems are noted, it notes the first one and returns.  detail: or NULL. */
extern void question_refuse(const char *message, const char *detail, const char *hint);

/* Begins to note problems, or ends it; whoever begins must end, come what may. */
extern void question_note_problems(bool wanted);

/* The problem that was noted since it began; NULL: none. */
extern const char *question_problem(void);

/* encode.c */

typedef enum EncodeMode
{
	ENCODE_TRAINING,  /* total: never an error that depends on a row */
	ENCODE_PREDICTION /* strict: 22023 with the feature's name */
} EncodeMode;

/* How the columns of one row type feed the features. */
typedef struct RowEncoder RowEncoder;

/*
 * By name: each feature from the column of that name, others ignored.  By
 * position: the row has exactly the features, in order.  NULL if problems are
 * noted, and there is one.
 */
extern RowEncoder *row_encoder_create(const FeatureSpec *spec, TupleDesc columns, bool by_position);
extern void		   encode_row(RowEncoder *encoder, HeapTupleHeader row, EncodeMode mode, double *x);

/* The same for values that are not in a row yet, one per column of the row type. */
extern void encode_values(const RowEncoder *encoder, const Datum *values, const bool *nulls,
						  EncodeMode mode, double *x);
extern void encode_jsonb(const FeatureSpec *spec, Jsonb *object, double *x);
extern void encode_array(const FeatureSpec *spec, ArrayType *array, double *x);

#endif /* PRIVPRED_FEATURES_H */
