/*
 * predict.c
 *		One private answer: find the model, encode the question, pay, draw.
 *
 * Nothing here reads the protected table.  The question is checked before it
 * is paid for, so that bad input costs nothing; after the debit nothing can
 * fail.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "mechanism/sparse/sparse.h"
#include "request/foresee.h"
#include "request/repeat.h"
#include "request/request.h"

/* What one call site of one statement remembers about one model. */
typedef struct PredictSite
{
	CachedModel	 *model;
	Oid			  asker; /* who may know of it */
	Size		  name_length;
	LedgerPrice	  price;
	StatSite	 *stats;
	LedgerLease	 *lease;	/* NULL: answers come through a stream */
	LedgerStream *stream;	/* or NULL */
	LedgerLease	 *fallback; /* for votes in place of unstable answers; or NULL */
	TimestampTz	  foreseen; /* the statement whose cost was looked at */
	RepeatHandle  repeats;
	int			  memo_limit;	 /* answers to keep for good; 0: none */
	Oid			  memo_full_for; /* the role that has that many */
	double		 *x;			 /* the encoded question */
	text		**answers;		 /* the classes, as they are returned */

	RowEncoder	 *row_encoder; /* for the row type last seen; NULL: none */
	MemoryContext row_context; /* in which it is */
	Oid			  row_type;
	int32		  row_typmod;

	struct PredictSite *next; /* other models at the same call site */
} PredictSite;

/* What a vote in place of an unstable answer costs. */
static LedgerPrice
fallback_price(const ModelRecord *model)
{
	LedgerPrice price = request_price(model);

	price.kind = vote_mechanism.charge_kind;
	(void) mechanism_charge(&vote_mechanism, &model->spec, false, &price.finite);
	(void) mechanism_charge(&vote_mechanism, &model->spec, true, &price.infinite);
	return price;
}

/* Opens the accounts that will pay for answers; nothing is paid yet. */
static void
open_accounts(PredictSite *predict, MemoryContext context)
{
	const ModelRecord *record = predict->model->record;

	predict->price = request_price(record);
	predict->price.stats = predict->stats;
	predict->price.remembered = repeat_capacity(&predict->repeats);
	if (record->mechanism->charge_kind != CHARGE_PER_STREAM)
	{
		predict->lease = ledger_open(context, &predict->price);
		return;
	}
	predict->stream = ledger_stream_use(context, &predict->price);
	if (stream_falls_back(&record->spec))
	{
		LedgerPrice price = fallback_price(record);

		price.stats = predict->stats;
		predict->fallback = ledger_open(context, &price);
	}
}

static PredictSite *
open_site(FmgrInfo *site, text *name)
{
	MemoryContext caller = MemoryContextSwitchTo(site->fn_mcxt);
	PredictSite	 *result = palloc0_object(PredictSite);
	uint64		  loads = model_cache_loads();
	ModelRecord	 *record;

	result->asker = asking_role();
	result->model = known_model_decoded(text_to_cstring(name), site->fn_mcxt, result->asker);
	record = result->model->record;
	result->stats = request_stats(record, site->fn_mcxt);
	stats_count(result->stats, model_cache_loads() == loads ? STAT_CACHE_HITS : STAT_CACHE_MISSES,
				1);
	if (result->model->mechanism_model.ensemble != NULL)
		ensemble_check_callable(result->model->mechanism_model.ensemble);
	result->repeats = repeat_open(record);
	open_accounts(result, site->fn_mcxt);
	result->memo_limit = model_memo_limit(record);
	result->name_length = strlen(record->name);
	result->x = palloc0_array(double, record->features->width);
	result->answers = palloc_array(text *, record->spec.nclasses);
	for (int i = 0; i < record->spec.nclasses; i++)
		result->answers[i] = cstring_to_text(record->spec.classes[i]);
	result->next = site->fn_extra;
	site->fn_extra = result;
	MemoryContextSwitchTo(caller);
	return result;
}

static PredictSite *
find_site(FmgrInfo *site, text *name)
{
	for (PredictSite *candidate = site->fn_extra; candidate; candidate = candidate->next)
	{
		const char *known = candidate->model->record->name;

		if (candidate->model->valid && candidate->name_length == VARSIZE_ANY_EXHDR(name) &&
			memcmp(known, VARDATA_ANY(name), candidate->name_length) == 0)
		{
			/* A plpgsql function may change roles under a call site. */
			if (unlikely(candidate->asker != asking_role()))
			{
				check_model_known(known, asking_role());
				candidate->asker = asking_role();
			}
			return candidate;
		}
	}
	return open_site(site, name);
}

static void
encode_row_input(FmgrInfo *site, PredictSite *predict, HeapTupleHeader row)
{
	Oid			  type = HeapTupleHeaderGetTypeId(row);
	int32		  typmod = HeapTupleHeaderGetTypMod(row);
	MemoryContext caller;
	TupleDesc	  columns;

	if (predict->row_encoder == NULL || predict->row_type != type || predict->row_typmod != typmod)
	{
		predict->row_encoder = NULL;
		if (predict->row_context == NULL)
			predict->row_context =
				AllocSetContextCreate(site->fn_mcxt, "privpred row encoder", ALLOCSET_SMALL_SIZES);
		MemoryContextReset(predict->row_context);
		caller = MemoryContextSwitchTo(predict->row_context);
		columns = lookup_rowtype_tupdesc_copy(type, typmod);
		predict->row_encoder = row_encoder_create(predict->model->record->features, columns, false);
		predict->row_type = type;
		predict->row_typmod = typmod;
		MemoryContextSwitchTo(caller);
	}
	if (predict->row_encoder != NULL)
		encode_row(predict->row_encoder, row, ENCODE_PREDICTION, predict->x);
}

static void
encode_input(FmgrInfo *site, PredictSite *predict, InputForm form, Datum input)
{
	const FeatureSpec *features = predict->model->record->features;

	form = question_read(form, &input);
	if (form == INPUT_ARRAY)
		encode_array(features, DatumGetArrayTypeP(input), predict->x);
	else if (form == INPUT_JSONB)
		encode_jsonb(features, DatumGetJsonbP(input), predict->x);
	else if (form == INPUT_ROW)
		encode_row_input(site, predict, DatumGetHeapTupleHeader(input));
}

/* The same for an asker who wants no error; false: the question is refused. */
static bool
encode_softly(FmgrInfo *site, PredictSite *predict, InputForm form, Datum input)
{
	volatile bool good = false;

	question_note_problems(true);
	PG_TRY();
	{
		encode_input(site, predict, form, input);
		good = question_problem() == NULL;
		if (!good)
			unanswered_problem(question_problem());
	}
	PG_FINALLY();
	{
		question_note_problems(false);
	}
	PG_END_TRY();
	return good;
}

/* ---------- answers ---------- */

static void
check_wish(const ModelRecord *model, const Wish *wish)
{
	const Mechanism *mechanism = model->mechanism;

	if (wish->score && !mechanism_gives_scores(mechanism, &model->spec) && model->nbins == 0)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("model \"%s\" gives classes, not scores", model->name),
						errhint("Use private_predict, or a model whose mechanism gives scores.")));
	if (!wish->score && (!mechanism_gives_answers(mechanism) || model->spec.nclasses == 0))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("model \"%s\" gives scores, not classes", model->name),
						errhint("Use private_score.")));
	if (wish->score && wish->of_class == 0 && model->spec.nclasses > 2 &&
		mechanism_scores_classes(mechanism, &model->spec))
		refuse(errmsg("model \"%s\" has a score for each of its %d classes", model->name,
					  model->spec.nclasses),
			   errhint("Name one: private_score(model, features, precision, class); a precision of "
					   "NULL is the model's own."));
	if (wish->precision == 0)
		return;
	if (!mechanism_gives_scores(mechanism, &model->spec) || mechanism->check_precision == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("scores of model \"%s\" have a fixed precision", model->name),
						errhint("Leave the argument precision out.")));
	mechanism->check_precision(&model->spec, wish->precision);
}

/* Functions of learner "sql" run as the given owner, not as the asker. */
static Answer
draw(Oid owner, const Receipt *receipt, const Mechanism *mechanism, const CachedModel *model,
	 const double *x, const Wish *wish)
{
	CatalogSession session;
	MechanismModel of_class = model->mechanism_model;
	Answer		   answer = {0};

	of_class.score_class = wish->of_class;
	owner_code_enter(&session, owner);
	if (wish->score && mechanism_gives_scores(mechanism, &model->record->spec))
		answer.isnull =
			!mechanism_score(mechanism, receipt, &of_class, x, wish->precision, &answer.score);
	else
	{
		answer.class_index = mechanism_answer(mechanism, receipt, &model->mechanism_model, x);
		answer.isnull = answer.class_index < 0;
		if (wish->score && !answer.isnull)
			answer.score = bin_middle(model->record, answer.class_index);
	}
	owner_code_leave(&session, owner);
	return answer;
}

/* Answers that no account can pay for are given to the owner alone. */
static const Receipt *
pay(PredictSite *predict, LedgerRefusal *refusal)
{
	const ModelRecord *record = predict->model->record;

	if (predict->stream != NULL)
		return ledger_stream_answer(predict->stream, refusal);
	if (!record->mechanism->owner_only)
		return ledger_spend(predict->lease, refusal);
	if (!object_ownercheck(RelationRelationId, record->relid, asking_role()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("model \"%s\" answers the owner of its relation only", record->name),
				 errdetail("Answers of mechanism \"%s\" are not private enough for any budget.",
						   record->mechanism->name),
				 errhint("Ask the owner for a model with another mechanism.")));
	ledger_check_answers();
	return ledger_owner_receipt();
}

/*
 * Looks for an answer in this session's memory and, if the model memoizes, among
 * those that are kept for good; memo is for keeping a new one.
 */
static bool
recall(PredictSite *predict, const Wish *wish, Answer *answer, LedgerMemo *memo)
{
	const ModelRecord *record = predict->model->record;
	int				   width = record->spec.width;
	double			  *question; /* the same for every form in which it may be asked */

	if (repeat_find(&predict->repeats, &predict->price, wish, predict->x, answer))
		return true;
	if (predict->memo_limit == 0)
		return false;
	question = palloc_array(double, width + 2);
	question[0] = wish->score ? 1 : 0;
	question[1] = wish->precision;
	memcpy(question + 2, predict->x, width * sizeof(double));
	if (!ledger_memo_find(&predict->price, asking_role(), question, (width + 2) * sizeof(double),
						  memo) ||
		!ledger_quote(&predict->price, asking_role(), 1).has_account)
		return false;
	ledger_check_answers();
	if (!wish->score && !memo->isnull &&
		(memo->class_index < 0 || memo->class_index >= record->spec.nclasses))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("a remembered answer of model \"%s\" cannot be read", record->name),
						errhint("Retrain the model.")));
	*answer = (Answer){memo->isnull, memo->class_index, memo->score};
	repeat_remember(&predict->repeats, wish, predict->x, answer);
	return true;
}

/* Called before the answer leaves, so that no asker has an answer that is not kept. */
static void
keep(PredictSite *predict, const Wish *wish, const Answer *answer, LedgerMemo *memo)
{
	repeat_remember(&predict->repeats, wish, predict->x, answer);
	if (predict->memo_limit == 0 || predict->memo_full_for == asking_role())
		return;
	memo->isnull = answer->isnull;
	memo->class_index = answer->class_index;
	memo->score = answer->score;
	if (!ledger_memo_keep(predict->lease, memo, predict->memo_limit))
		predict->memo_full_for = asking_role();
}

/* Pays and draws; false: a refusal is wanted in place of an error, and there is one. */
static inline bool
buy(PredictSite *predict, const Wish *wish, Answer *answer, LedgerRefusal *refusal)
{
	CachedModel	  *model = predict->model;
	const Receipt *receipt;
	const Receipt *vote = NULL;
	/* for each answer: the asker's statement may run functions in between */
	Oid owner = owner_code_check(model);

	/* A stream was paid for when it was opened. */
	if (predict->stream == NULL || predict->fallback != NULL)
		check_paid_once(model);

	receipt = pay(predict, refusal);
	if (receipt == NULL)
		return false;
	stats_count(predict->stats, STAT_ANSWERS, 1);
	if (predict->fallback != NULL && ledger_stream_is_uniform(predict->stream))
	{
		vote = ledger_spend(predict->fallback, refusal);
		if (vote == NULL)
			return false;
	}
	*answer = draw(owner, receipt, model->record->mechanism, model, predict->x, wish);
	if (predict->stream != NULL)
	{
		if (refusal != NULL && (*refusal = ledger_stream_refusal(predict->stream)) != NULL)
			return false;
		ledger_stream_even_out(predict->stream, model->record->mechanism->tests);
	}
	if (answer->isnull)
		stats_count(predict->stats, STAT_UNSTABLE, 1);
	if (!answer->isnull || predict->fallback == NULL)
		return true;
	if (vote == NULL)
		vote = ledger_spend(predict->fallback, refusal);
	if (vote == NULL)
		return false;
	*answer = draw(owner, vote, &vote_mechanism, model, predict->x, wish);
	return true;
}

static Answer
ask(FmgrInfo *site, PredictSite *predict, InputForm form, Datum input, const Wish *wish)
{
	const ModelRecord *record = predict->model->record;
	bool			   or_null = unanswered_as_null();
	LedgerRefusal	   refusal = NULL;
	LedgerMemo		   memo;
	Answer			   answer = {.isnull = true};

	check_wish(record, wish);
	if (!or_null)
		encode_input(site, predict, form, input);
	else if (!encode_softly(site, predict, form, input))
		return answer;
	stats_set_role(predict->stats, asking_role());
	if (recall(predict, wish, &answer, &memo))
	{
		stats_count(predict->stats, STAT_REPEATS, 1);
		return answer;
	}
	if (unlikely(predict->foreseen != GetCurrentStatementStartTimestamp()))
	{
		foresee(site, record, &predict->price);
		predict->foreseen = GetCurrentStatementStartTimestamp();
	}
	if (!buy(predict, wish, &answer, or_null ? &refusal : NULL))
	{
		unanswered_unpaid(refusal);
		return (Answer){.isnull = true};
	}
	keep(predict, wish, &answer, &memo);
	return answer;
}

text *
request_predict(FmgrInfo *site, text *name, InputForm form, Datum input)
{
	PredictSite *predict = find_site(site, name);
	Wish		 wish = {0};
	Answer		 answer = ask(site, predict, form, input, &wish);

	return answer.isnull ? NULL : predict->answers[answer.class_index];
}

/* The number of a class, from 1. */
static int
class_named(const ModelRecord *model, text *class_name)
{
	const char *name = text_to_cstring(class_name);

	if (!mechanism_scores_classes(model->mechanism, &model->spec))
		refuse(errmsg("model \"%s\" does not have a score for each class", model->name),
			   errhint("Leave the argument class out, or pass NULL."));
	for (int i = 0; i < model->spec.nclasses; i++)
		if (strcmp(model->spec.classes[i], name) == 0)
			return i + 1;
	refuse(errmsg("model \"%s\" has no class \"%s\"", model->name, name),
		   errhint("privpred.models lists its classes."));
}

bool
request_score(FmgrInfo *site, text *name, InputForm form, Datum input, const ScoreAsked *asked,
			  double *score)
{
	PredictSite *predict = find_site(site, name);
	Wish		 wish = {.score = true, .precision = asked->precision};
	Answer		 answer;

	if (asked->class_name != NULL)
		wish.of_class = class_named(predict->model->record, asked->class_name);
	answer = ask(site, predict, form, input, &wish);
	*score = answer.score;
	return !answer.isnull;
}
