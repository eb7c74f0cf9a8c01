/*
 * request.h
 *		One request from start to end: authorise, resolve, price, debit, compute.
 *		The only readers of settings.
 *
 * protect.c	protect, unprotect, dropped tables
 * train.c		create_model, retrain, drop_model
 * predict.c	private_predict
 * evaluate.c	evaluate
 * report.c		report: a page for people, see report.h
 */
#ifndef PRIVPRED_REQUEST_H
#define PRIVPRED_REQUEST_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/jsonb.h"

#include "catalog/store.h"
#include "ledger/ledger.h"

/* protect.c */

/* A cap of 0 leaves the cap as it is. */
/* Without a cap (NULL) the cap stays as it is; epsilon 0 takes it away. */
extern void request_protect(Oid relid, const ProtectOptions *options, LedgerGrant *cap);
extern void request_unprotect(Oid relid);

/* Inside a sql_drop event trigger. */
extern void request_forget_dropped_relations(void);

/* train.c */

typedef struct CreateModelRequest
{
	const char *name;
	Oid			relid;
	const char *label;
	Datum		features;		/* json */
	ArrayType  *classes;		/* NULL: from the label's type */
	const char *mechanism;
	const char *learner;
	int32		teachers;
	double		epsilon;
	Jsonb	   *options;
} CreateModelRequest;

extern Jsonb *request_create_model(const CreateModelRequest *request);
extern Jsonb *request_retrain(const char *name);
extern void request_drop_model(const char *name);

/* The columns of row r as the model's features, in SQL; the parameter holds them. */
extern void append_encoding(StringInfo query, const FeatureSpec *features, const char *parameter);

/* predict.c */

typedef enum InputForm
{
	INPUT_ARRAY,
	INPUT_JSONB,
	INPUT_ROW
} InputForm;

/* One private answer; state lives in the call site's fn_extra. */
extern const char *request_predict(FmgrInfo *site, text *model, InputForm form, Datum input);

/* What the ledger needs to know of a model. */
extern LedgerPrice request_price(const ModelRecord *model);

/* What answers would cost the asker; has_account is false without a budget. */
extern LedgerQuote request_quote(const char *model, int64 answers);

/* evaluate.c */

typedef struct Evaluation
{
	int64		rows;
	double		private_accuracy;	/* expectation over the answer's randomness */
	double		approximate_accuracy;	/* the same, to accounts of finite order */
	double		majority_accuracy;
	double		baseline_accuracy;
} Evaluation;

extern Evaluation request_evaluate(const char *model, Oid test_relation);

/* report.c */

/* An HTML page about all that the current user may see, in ASCII. */
extern text *request_report(void);

#endif							/* PRIVPRED_REQUEST_H */
