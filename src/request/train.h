/*
 * train.h
 *		What the files that declare and train models share.
 *
 * model_declare.c	what an owner may declare
 * public_tables.c	references and other public tables that options name
 * finite_classes.c	finite classes, which are such tables
 * train.c			create_model, retrain, drop_model; what training queries share
 * train_report.c	what an owner is told of training
 * holdout.c		units that never train
 * teachers.c		teachers
 * refit.c			teachers of the version before that can stay
 * nodes.c			teachers from tables on several nodes
 * spread.c			rows of tables that Citus spreads, moved by teacher or by unit
 * distill.c		distill
 * units.c			rows for mechanisms that learn from units themselves
 */
#ifndef PRIVPRED_TRAIN_H
#define PRIVPRED_TRAIN_H

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "request/request.h"
#include "server/query.h"

/* model_declare.c */

/* Checks a declaration against the columns; trains nothing. */
extern ModelRecord *model_declare(const CreateModelRequest *request,
								  const ProtectedRelation *protected, const ViewProof *proof);

/* Raises 42602 or 42710 unless a new model may have this name. */
extern void check_model_name(const char *name);

/* Raises 42704 if there is no such learner. */
extern const Learner *find_learner(const char *name);

/* Raises 22023 or 54000 unless a student may be declared so, before labels are paid for. */
extern void check_student(const ModelRecord *student);

/* Takes over the sizes that are declared now, and checks that they are sufficient. */
extern void
model_declare_sizes(ModelRecord *model, const ProtectedRelation *protected, const ViewProof *proof);

/* The options and the classes, as the learner's aggregate wants them. */
extern Jsonb *learner_options(const ModelRecord *model);

/* owner_code.c */

/*
 * Fixes which functions of the owner's the model will run; raises an error if they
 * cannot be run, see sql_binding_create(), and 55000 in a session with temporary
 * objects.
 */
extern void owner_code_bind(ModelRecord *model, const LearnerOptions *options, Oid label_type);

/* public_tables.c */

/* Reads the public tables that options name, as the owner of the relation. */
extern void declare_public_tables(ModelRecord *model);

/* The table that an option names, inside a session of the owner. */
extern Oid option_relation(const char *option, const char *name);

/* Raises 42703 with a hint unless the relation has the column, or columns of all features. */
extern void require_column(Oid relid, const char *column, const char *hint);
extern void require_features(Oid relid, const FeatureSpec *features, const char *hint);

/*
 * Encodes the rows of a public table, inside a session that may read it: all of
 * them, or the first ones up to a limit if that is not 0.  Sets *count to
 * room + 1 if there are more than there is room for.
 */
extern double *read_public_rows(Oid relid, const FeatureSpec *features, int64 limit, int64 room,
								MemoryContext context, int64 *count);

/* finite_classes.c */
extern void declare_finite_class(ModelRecord *model, const char *name);

/* The encoded features in a column of a scan's current row. */
extern const double *scan_features(const QueryScan *scan, int column);

/* model_features.c */

/* The features of a model whose mechanism and learner are known. */
extern void declare_features(ModelRecord *model, Datum json, Relation relation);

/* Raises 22023 if a feature may be missing and the learner cannot leave it so. */
extern void check_missing(const ModelRecord *model);

/* train.c */

/* A model of the current user's; raises like known_model(), or 42501. */
extern ModelRecord *own_model(const char *name);

/* Keys that are made, or proofs that are found, after rows are held say nothing about them. */
extern const ViewProof *before_rows_are_held(ProtectedRelation *protected);

/* Has the owner changed the functions of learner "sql" since the model was trained? */
extern bool functions_have_changed(const ModelRecord *model);

/* Was it trained on another definition of its view, or on units of other types? */
extern bool definition_has_changed(const ModelRecord *model, const ProtectedRelation *protected);

/* Instead of the number of a teacher. */
#define TEACHERS_ALL -1
#define TEACHERS_NONE -2

/*
 * Trains and stores a new version of a model whose relation is held, of all its teachers or
 * of one of them; what was remembered of the version before is dropped.
 */
struct RowCounts;
extern struct RowCounts
model_renew(ModelRecord *model, const ProtectedRelation *protected, int teacher);

/* train.c: parameters of queries over the protected relation r */

typedef enum TrainingParameter
{
	PARAMETER_SALT = 1,
	PARAMETER_TEACHERS,
	PARAMETER_FEATURES, /* for encoding_sql() */
	PARAMETER_OPTIONS,
	PARAMETER_CLASSES,
	PARAMETER_LABEL, /* feature specification of a label that is a number */
	PARAMETER_EDGES, /* inner edges of bins, scaled to [0, 1] */
	PARAMETER_HOLDOUT_SALT,
	PARAMETER_HOLDOUT, /* hashes below this never train */
	PARAMETER_KNOWN,   /* digests of teachers that need not be fitted */
	PARAMETER_TEACHER, /* the only one to be fitted */
	PARAMETER_SUMS,	   /* which sums are wanted of units */
	TRAINING_PARAMETERS = PARAMETER_SUMS
} TrainingParameter;

typedef struct TrainingQuery
{
	StringInfoData text;
	const char	  *relation; /* qualified and quoted, or a subquery */
	bool		   travels;	 /* Citus sends parts of its text to nodes, which may log them */
	QueryArgument  arguments[TRAINING_PARAMETERS];
} TrainingQuery;

extern void training_query_begin(TrainingQuery *query, const ModelRecord *model);

/* Does Citus send parts of a query of the relation to nodes, which may log them? */
extern bool text_travels(Oid relid);

/*
 * What a query of rows begins with, and a parameter of it that no node may log: in a text that
 * travels it is in a CTE, see secrets_sql().
 */
extern char		  *training_secrets_sql(void);
extern const char *query_secrets(const TrainingQuery *query);
extern const char *query_secret(const TrainingQuery *query, TrainingParameter parameter);

/*
 * Parts of such queries: the columns that identify the unit, "r.a, r.b"; the
 * label as learners want it, and its type; the label as a number, which is a
 * class or lies in [0, 1], NULL if it is to be left out; and a label that is a
 * number, not NULL, scaled from its bounds to [0, 1].
 */
extern char		  *units_sql(const ProtectedRelation *protected, const char *between);
extern char		  *class_sql(const ModelRecord *model);
extern const char *label_type_name(const ModelRecord *model);
extern const char *class_type_name(const ModelRecord *model); /* of class_sql() */
extern char		  *label_number_sql(const ModelRecord *model);
extern char		  *scaled_label_sql(const ModelRecord *model);

/* The columns of row r as features; the parameter of that number specifies them. */
extern char *encoding_sql(const FeatureSpec *features, int parameter);

/* holdout.c */

/* The share of units to hold out; raises 22023 if it is none. */
extern double holdout_declare(double holdout);

/* Raises 55000 unless units are held out. */
extern void check_holds_out(const ModelRecord *model);

/* Is a unit held out whose hash, by holdout_salt(), is this? */
extern bool holdout_has(const ModelRecord *model, uint64 hash);

/* What the conditions below need. */
extern void holdout_parameters(TrainingQuery *query, const ModelRecord *model);

/*
 * Conditions on row r: it may train; it is one of a unit that is held out.  A row
 * without a unit may train, to be counted among those left out.
 */
extern char *trains_sql(const TrainingQuery *query, const ModelRecord *model,
						const ProtectedRelation *protected);
extern char *
trains_by_sql(const ModelRecord *model, const ProtectedRelation *protected, const char *salt);
extern char *held_out_sql(const TrainingQuery *query, const ProtectedRelation *protected);

/*
 * Sets the query's relation to the rows to evaluate on: those of a relation, or
 * without one those of the units held out.  Returns whose rows they are.  Raises
 * errors and warnings about relations, to their owner.
 */
extern Oid
choose_test_rows(TrainingQuery *query, const ModelRecord *model, const Oid *test_relation);

/* train_report.c */

typedef struct RowCounts
{
	int64 all;	   /* that may train */
	int64 unused;  /* of them */
	int	  changed; /* teachers whose rows are not those of the version before */
} RowCounts;

/*
 * Messages go to the session's user, who need not be the owner: training may run
 * in a SECURITY DEFINER function or a trigger.
 */
extern bool owner_listens(const ModelRecord *model);

/* Tells the owner, and nobody else, what of the rows and of the declaration is of no use. */
extern void
report_training(const ModelRecord *model, const ProtectedRelation *protected, RowCounts rows);

/* Tells the owner that a view has changed since the version before. */
extern void report_change(const ModelRecord *model);

/* teachers.c */

/*
 * Trains the model's teachers: those whose rows are not what the version before was
 * fitted on, or the given one alone (-1: all).
 */
extern RowCounts
train_teachers(ModelRecord *model, const ProtectedRelation *protected, int teacher);

/* What a teacher sees of row r; of a label that is a number, that comes last. */
extern char *taught_sql(const ModelRecord *model);

/* The unit of row r as teacher_of() wants it. */
extern char *unit_sql(const ProtectedRelation *protected);

/* Rows as the planner estimates them, inside a session; needs no scan. */
extern double estimated_rows(Oid relid);

/* refit.c */

typedef struct Refit Refit;

/*
 * Begins a new version: of all teachers, or of the given one while the others stay as they
 * are, for which the model must have chunks.
 */
extern Refit		*refit_begin(const ModelRecord *model, int teacher);
extern QueryArgument refit_known(const Refit *refit);

/* A teacher as the aggregate "teach" returns it. */
extern void refit_take(Refit *refit, int teacher, bytea *taught);

/* Stores the ensemble in the model; returns how many teachers saw other rows than before. */
extern int refit_end(Refit *refit, ModelRecord *model);

/* distill.c */

/* Trains a student on public rows, except those whose label is -1. */
extern void student_train(ModelRecord *student, int64 nrows, const double *x, const int32 *labels);

/* The same with numbers within the student's bounds; NaN: none. */
extern void
student_train_numbers(ModelRecord *student, int64 nrows, const double *x, const double *numbers);

/* What so many labels cost, by which kind of account they were paid. */
extern Charge student_charge(const LedgerPrice *labels, int64 by_finite, int64 by_infinite);

/* audit_rows.c: the columns of rows that an audit made up. */
extern TupleDesc made_up_columns(const ModelRecord *model);

/* nodes.c */

/*
 * Writes the query that trains teachers if parts of the relation lie on nodes that
 * can be asked for states, and raises *rows to what these are known to have; else
 * returns false.  Inside a session of the relation's owner.
 */
extern bool append_nodes_query(TrainingQuery *query, const ModelRecord *model,
							   const ProtectedRelation *protected, bool one_teacher, double *rows);

/*
 * Do the rows lie on other nodes, which can add them up?  Sets *apart if rows of a unit may
 * lie on several of them, and are to be moved first.
 */
extern bool rows_are_far(const ModelRecord *model, const ProtectedRelation *protected,
						 bool one_row_each, bool *apart);

/* A type as nodes tell it each other; a modifier below 0 is none. */
extern char *node_type_name(Oid type, int32 typmod);

/* Conditions on row r that raise 42804 on a node that would take it for another. */
extern char *agreement_sql(const ModelRecord *model, const ProtectedRelation *protected);

/* Every column that training reads: units, label, features. */
extern List *columns_read(const ModelRecord *model, const ProtectedRelation *protected);

/* Does a foreign server know privpred, and can it be sent a row with so many columns? */
extern bool server_can_be_asked(const ModelRecord *model, Oid relid);

extern void nodes_init(void);

/* node_units.c */

/*
 * The tables of a relation, some of them foreign, each of which has all rows of its units, and
 * can be asked for their sums; NIL: rows have to be read.
 */
extern List *node_tables_of_units(const ModelRecord *model, const ProtectedRelation *protected);

/* The query that asks them, with the request as parameter. */
extern char *
node_sums_sql(const ModelRecord *model, const ProtectedRelation *protected, const List *tables);

/* spread.c */

/*
 * A CTE that a query begins with, and parameters as its parts that are sent to nodes have
 * them: they are in no text that a node could log.
 */
extern char *secrets_sql(int count, const int *parameters);
extern char *secret_sql(int parameter);

/*
 * Moves the rows that train to where their teachers are to be fitted, and returns the name of
 * the table that has them; NULL if they are better left where they are.  Inside a session
 * of the relation's owner, who has it dropped by spread_rows_end().
 */
extern char *
spread_rows(TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected);
extern void spread_rows_end(const char *name);

/* Writes the query that trains teachers from that table. */
extern void append_spread_query(TrainingQuery *query, const ModelRecord *model, const char *name);

/* Can rows be moved to where their units are added up, and are there enough of them for that? */
extern bool units_can_move(const ModelRecord *model);

/*
 * The same for units, into columns k, which the unit decides, label and x, which are given of row
 * r, and u0, u1, ... with its id if it has several rows.  They are moved if rows of a unit may
 * lie apart, or so many sums from each shard would take too much of what rows take.
 */
extern char *
spread_units(TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected,
			 const char *row, bool one_row_each, bool apart, int64 nsums);

/* units.c */

/*
 * Opens a scan of all units that train, or of all that are held out, by a hash of
 * their ids, inside a session of the relation's owner (relation_owner_begin), to
 * be closed before that ends.
 */
extern UnitSource *units_open(const ModelRecord *model, const ProtectedRelation *protected,
							  bool one_row_each, bool held_out);

/* Returns what was read in the last full scan. */
extern RowCounts units_close(UnitSource *source);

/*
 * Is every unit a single row, by the relation's keys?  If so they stay, and
 * hold for every row that is visible to a snapshot taken from now on, until the
 * transaction ends.  Of a view, its proof tells; without one (NULL), it is not known.
 */
extern bool units_are_rows(const ProtectedRelation *protected, const ViewProof *proof);

extern void note_units_are_rows(ProtectedRelation *protected, const ViewProof *proof);

#endif /* PRIVPRED_TRAIN_H */
