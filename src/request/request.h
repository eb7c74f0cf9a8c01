/*
 * request.h
 *		One request from start to end: authorise, resolve, price, debit, compute.
 *		The only readers of settings.
 *
 * authorise.c	who may know of a model
 * protect.c	protect, unprotect, dropped tables
 * train.h		create_model, retrain, drop_model, see there
 * price.c		what answers cost
 * predict.c	private_predict, private_score
 * owner_code.c	functions of a relation's owner in an asker's session
 * question.c	the forms of a question
 * repeat.c		questions asked before
 * foresee.h	what a statement will cost, see there
 * stream.c		open_stream, close_stream
 * evaluate.c	evaluate, confusion_matrix, accuracy_curve
 * audit.h		audit, see there
 * export.c		export_model
 * accuracy.c	release_accuracy
 * describe.h	describe, describe_cost, see there
 * forget.h		forget, certificates, see there
 */
#ifndef PRIVPRED_REQUEST_H
#define PRIVPRED_REQUEST_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/jsonb.h"

#include "catalog/store.h"
#include "ledger/ledger.h"

/* authorise.c */

/*
 * Returns if the model exists and the role may know of it: as the owner of its
 * relation, or with a budget on it.  Else it raises the same error whether the
 * model exists or not: 42704 to those who have to do with some model, 42501 to
 * strangers.
 */
extern void check_model_known(const char *name, Oid role);

/* The model, after that check: as stored, for the current user, or decoded. */
extern ModelRecord *known_model(const char *name);
extern CachedModel *known_model_decoded(const char *name, MemoryContext context, Oid role);

/*
 * Before a model is paid for: raises 55000 if another budget pays for the same rows.
 * That was found out when tables were declared, but they may have been joined since.
 */
extern void check_paid_once(CachedModel *model);

/* Raises 42501: the role has no budget to ask a model. */
pg_noreturn extern void refuse_without_budget(const char *model, Oid role);

/* May a role know what is declared of a relation? */
extern bool relation_is_known(Oid relid, Oid role);

/* Raises 42501 unless the current user owns a protected relation or holds a budget. */
extern void check_insider(void);

/* protect.c */

/* Without a cap (NULL) the cap stays as it is; epsilon 0 takes it away. */
extern void request_protect(Oid relid, const ProtectOptions *options, LedgerGrant *cap);
extern void request_unprotect(Oid relid);

/*
 * Raises 55000 if rows of the relation are also those of one that is no longer
 * protected, and on which something was spent: they would have a second account, unless that is
 * the one of the population, or of the one that it is joined with (0: none).
 */
extern void check_spent_once(Oid relid, int64 population, int64 joined);

/* The same for tables under a view; these must not be parts of other protected ones either. */
extern void check_view_paid_once(const ViewProof *proof);

/* Raises 55000 if others have given it the name of a dropped relation that has an account. */
extern void check_name_given(Oid relid);

/* Inside a trigger on commands that may have renamed tables. */
extern void request_note_names(void);

/* Inside a sql_drop event trigger. */
extern void request_forget_dropped_relations(void);

/* train.h */

typedef struct CreateModelRequest
{
	const char *name;
	Oid			relid;
	const char *label;
	Datum		features; /* json */
	ArrayType  *classes;  /* NULL: from the label's type */
	const char *mechanism;
	const char *learner;
	int32		teachers;
	double		epsilon;
	Jsonb	   *options;
	double		holdout; /* share of the units */
} CreateModelRequest;

extern Jsonb *request_create_model(const CreateModelRequest *request);
extern Jsonb *request_retrain(const char *name);
extern void	  request_drop_model(const char *name);

typedef struct DistillRequest
{
	const char *student;
	const char *teacher;
	Oid			public_relation;
	const char *learner;
	int64		labels; /* 0: of all rows */
	Jsonb	   *options;
} DistillRequest;

/* Returns the student's card, and how it was made. */
extern Jsonb *request_distill(const DistillRequest *request);

/* What a stream on a model costs, all of it. */
extern LedgerPrice stream_price(const ModelRecord *model, const StreamTerms *terms);

/* The classes as a JSON array. */
extern char *classes_json(const MechanismSpec *spec);

/* A released model in words; charges everybody first. */
extern text *request_export(const char *name);
extern text *request_read_model(const char *name);

typedef struct ReleasedAccuracy
{
	double accuracy;
	double error; /* the standard error */
	int64  units; /* that it is about */
} ReleasedAccuracy;

/* Charges everybody before it draws. */
extern ReleasedAccuracy request_release_accuracy(const char *model, double epsilon);

/* describe.h */

typedef struct DescribeRequest
{
	Oid		   relid;
	ArrayType *columns; /* names; NULL: all but the unit */
	double	   epsilon;
	double	   delta;
	int32	   cuts;  /* of numbers; 0: none */
	Datum	   given; /* json: what is known of columns without looking at rows */
} DescribeRequest;

/* A description as create_model() takes it, in JSON; charges everybody before it is drawn. */
extern text *request_describe(const DescribeRequest *request);

/* What a description would cost and could see. */
typedef struct DescribeCost
{
	int	   histograms;
	double sigma;		   /* of the noise of each count */
	int64  smallest_cell;  /* that is seen, about; 0: there are no numbers */
	int64  smallest_level; /* 0: there are no categories */
} DescribeCost;

extern DescribeCost request_describe_cost(const DescribeRequest *request);

typedef enum InputForm
{
	INPUT_ARRAY, /* of any numbers */
	INPUT_JSONB,
	INPUT_JSON,
	INPUT_ROW,
	INPUT_TEXT /* that looks like an object or an array */
} InputForm;

/* question.c */

/*
 * Reads what is neither an array of float8 nor jsonb nor a row, and returns which
 * of them it has become; INPUT_TEXT if it looks like none of them, which is refused.
 */
extern InputForm question_read(InputForm form, Datum *input);

/* check.c */

typedef struct QuestionCheck
{
	bool		accepted;
	const char *problem; /* NULL if there is none */
	const char *hint;
} QuestionCheck;

/* Whether a question would be answered, as far as it depends on how it is asked. */
extern QuestionCheck request_check(const char *model, InputForm form, Datum input);

/* predict.c */

/*
 * One private answer, NULL if it is unstable.  State lives in the call site's
 * fn_extra, and so does the answer: it is not to be freed or changed.
 */
extern text *request_predict(FmgrInfo *site, text *model, InputForm form, Datum input);

/* What number is wanted. */
typedef struct ScoreAsked
{
	double precision;  /* 0: the model's own */
	text  *class_name; /* whose score; NULL: none is named */
} ScoreAsked;

/* The same for a number; false: an unstable answer. */
extern bool request_score(FmgrInfo *site, text *model, InputForm form, Datum input,
						  const ScoreAsked *asked, double *score);

/* price.c */

/* What the ledger needs to know of a model: its price as stored. */
extern LedgerPrice request_price(const ModelRecord *model);

/* Where what the current role asks of a model is counted, while a context lives. */
extern StatSite *request_stats(const ModelRecord *model, MemoryContext context);

/* What answers would cost the asker; has_account is false without a budget. */
extern LedgerQuote request_quote(const char *model, int64 answers);

/* owner_code.c */

/*
 * Before an answer is paid for: as whom its functions run, InvalidOid if it runs
 * none.  55000 if they may not run in this session, or not any more.
 */
extern Oid owner_code_check(const CachedModel *model);

/* Around the drawing of an answer; nothing unless functions run. */
extern void owner_code_enter(CatalogSession *session, Oid owner);
extern void owner_code_leave(CatalogSession *session, Oid owner);

/* finite_classes.c */

/* The Littlestone dimension of a finite class, read as the caller. */
extern int request_littlestone_dimension(Oid relid);

/* stream.c */

extern int64 request_open_stream(const char *model, const StreamTerms *terms);
extern void	 request_close_stream(const char *model);

/* evaluate.c */

/* Accounts of infinite order, without delta, and of finite order get different answers. */
enum
{
	PURE_ACCOUNT,
	DELTA_ACCOUNT,
	ACCOUNT_KINDS
};

/* The model as it answers at one epsilon. */
typedef struct EvaluationPoint
{
	MechanismSpec  spec; /* with that epsilon */
	MechanismModel model;
	bool		   own;						/* the model's epsilon */
	bool		   known;					/* else the model would have to be trained anew */
	double		   accuracy[ACCOUNT_KINDS]; /* expectation over the answer's randomness */
	double		   rmse[ACCOUNT_KINDS];		/* root of the mean squared error of numbers */
	char		  *remark;					/* NULL: none */
} EvaluationPoint;

typedef struct Evaluation
{
	const MechanismSpec *spec;
	int64				 rows;
	bool				 exact;		  /* else the expectations are estimates */
	double				 margin;	  /* that accuracies may be off by, with ESTIMATE_CONFIDENCE */
	bool				 has_classes; /* the label has classes, or bins */
	bool				 has_numbers; /* the label is a number, or bins of one */
	bool				 has_noises;  /* the mechanism has a choice at finite orders */
	double				 noise_accuracy[2]; /* exponential, Gaussian */
	double				 majority_accuracy;
	double				 baseline_accuracy; /* of always answering the most common class */
	double				 plain_rmse;		/* of answers without noise */
	double				 baseline_rmse;		/* of always answering the mean */
	int					 npoints;
	EvaluationPoint		*points; /* by epsilon */
	EvaluationPoint		*own;	 /* the model's, one of them */

	/* Expected rows by true class and answer; a stream's unstable answers come last. */
	int		nanswers;
	int64  *of_class; /* rows of each true class */
	double *confusion[ACCOUNT_KINDS];
} Evaluation;

/*
 * Lives in the current context.  Without a relation (NULL), on the units that the
 * model holds out.  Without epsilons (NULL), at the usual ones; the model's own is
 * always among them.
 */
extern Evaluation *request_evaluate(const char *model, const Oid *test_relation,
									const EpsilonUnits *epsilons, int count);

/* forget.h */

typedef struct ForgetRequest
{
	Oid					   relid;
	const struct UnitText *unit;
	bool				   delete_rows;
	bool				   dry_run;
	const char			  *at; /* "now" or "next retrain" */
} ForgetRequest;

/* What was done, or would be. */
extern Jsonb *request_forget(const ForgetRequest *request);
extern Jsonb *request_certificate(int64 certificate_id);

/* What is wrong with a certificate, NULL if nothing; and its entry in the ledger, or 0. */
extern const char *request_verify_certificate(Jsonb *given, const char *unit, int64 *entry);

/* The statement that makes an index by teacher. */
extern char *request_chunk_index(const char *model);

/* audit.h */

/* One AuditResult for each comparison; draws 0: as many as are needed. */
extern List *request_audit(const char *model, int64 draws);

#endif /* PRIVPRED_REQUEST_H */
