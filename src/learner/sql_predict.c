/*
 * sql_predict.c
 *		The user's own function as a predictor.
 *
 * The function is looked up, by its signature, once per transaction; values of
 * built-in types are read from their text once.  All members are asked in one
 * subtransaction, and after a failure the others in another: subtransactions take time,
 * and Citus announces each of them to its nodes.  No message reaches the client, because
 * messages could tell about the rows that trained the teacher.
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_type.h"
#include "storage/proc.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "learner/learners.h"

/* A function for one type of value; members share it. */
typedef struct SqlCall
{
	char			  *predict;
	char			  *type;
	LocalTransactionId resolved_in; /* when the rest was filled in */
	FmgrInfo		   function;
	Oid				   value_type;
	Oid				   result_type;
	Oid				   collation;
} SqlCall;

typedef struct SqlMember
{
	SqlCall			  *call;
	char			  *text;
	LocalTransactionId read_in;	   /* when the value was read */
	Oid				   value_type; /* as which type */
	Datum			   value;
} SqlMember;

struct SqlMembers
{
	int				   n;
	int				   ncalls;
	SqlMember		  *members;
	SqlCall			 **calls;
	MemoryContext	   own;			/* where all of this lives */
	MemoryContext	   transaction; /* what is valid for one transaction */
	LocalTransactionId current;
};

ArrayType *
sql_features(const double *x, int width)
{
	Datum	  *elements = palloc_array(Datum, width);
	ArrayType *array;

	for (int i = 0; i < width; i++)
		elements[i] = Float8GetDatum(x[i]);
	array = construct_array(elements, width, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
							TYPALIGN_DOUBLE);
	pfree(elements);
	return array;
}

ErrorData *
sql_try(void (*call)(void *arg), void *arg, MemoryContext scratch)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(scratch);
	PG_TRY();
	{
		call(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

SqlMembers *
sql_members_create(int n)
{
	SqlMembers *members = palloc0(sizeof(SqlMembers));

	members->members = palloc0(n * sizeof(SqlMember));
	members->calls = palloc0(n * sizeof(SqlCall *));
	members->own = CurrentMemoryContext;
	members->transaction =
		AllocSetContextCreate(CurrentMemoryContext, "privpred sql members", ALLOCSET_SMALL_SIZES);
	return members;
}

void
sql_members_add(SqlMembers *members, const char *predict, const char *type, const char *value)
{
	SqlMember *member = &members->members[members->n++];

	member->text = pstrdup(value);
	for (int i = 0; i < members->ncalls; i++)
		if (strcmp(members->calls[i]->predict, predict) == 0 &&
			strcmp(members->calls[i]->type, type) == 0)
			member->call = members->calls[i];
	if (member->call == NULL)
	{
		member->call = palloc0(sizeof(SqlCall));
		member->call->predict = pstrdup(predict);
		member->call->type = pstrdup(type);
		members->calls[members->ncalls++] = member->call;
	}
}

/* The name of a label's class; booleans are true and false. */
static char *
label_name(Datum value, Oid type)
{
	Oid	  base_type = getBaseType(type);
	Oid	  output;
	bool  varlena;
	char *name;

	if (base_type == BOOLOID)
		return pstrdup(DatumGetBool(value) ? "true" : "false");
	getTypeOutputInfo(base_type, &output, &varlena);
	name = OidOutputFunctionCall(output, value);
	if (base_type == BPCHAROID)
	{
		size_t length = strlen(name);

		while (length > 0 && name[length - 1] == ' ')
			name[--length] = '\0';
	}
	return name;
}

/* Looks up what may be different in a new transaction. */
static void
resolve_call(SqlMembers *members, SqlCall *call)
{
	MemoryContext caller;
	SqlFunction	  found;
	Node		 *expression;
	int32		  typmod;

	if (call->resolved_in == members->current)
		return;
	parseTypeString(call->type, &call->value_type, &typmod, PARSE_TYPE_HARD_ERRORS);
	sql_check_type(call->value_type, GetUserId());
	if (!sql_function_find(call->predict, false, call->value_type, &found) ||
		strcmp(sql_signature(found.function), call->predict) != 0)
		ereport(
			ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
			errmsg("function %s does not exist, or does not take a %s", call->predict, call->type),
			errhint("A predictor names its function by its signature."));
	call->result_type = found.result;
	call->collation = get_typcollation(call->value_type);

	/* polymorphic functions ask for the types of their arguments */
	caller = MemoryContextSwitchTo(members->transaction);
	fmgr_info_cxt(found.function, &call->function, members->transaction);
	expression =
		(Node *) makeFuncExpr(found.function, found.result,
							  list_make2(makeNullConst(found.arguments[0], -1, call->collation),
										 makeNullConst(FLOAT8ARRAYOID, -1, InvalidOid)),
							  InvalidOid, call->collation, COERCE_EXPLICIT_CALL);
	fmgr_info_set_expr(expression, &call->function);
	MemoryContextSwitchTo(caller);
	call->resolved_in = members->current;
}

/* Built-in types do not change; values of others are read again. */
static void
read_value(SqlMembers *members, SqlMember *member)
{
	bool		  builtin = member->call->value_type < FirstNormalObjectId;
	MemoryContext caller;
	Oid			  input;
	Oid			  parameter;

	if (OidIsValid(member->value_type) && member->value_type == member->call->value_type &&
		(builtin || member->read_in == members->current))
		return;
	getTypeInputInfo(member->call->value_type, &input, &parameter);
	caller = MemoryContextSwitchTo(builtin ? members->own : members->transaction);
	member->value = OidInputFunctionCall(input, member->text, parameter, -1);
	MemoryContextSwitchTo(caller);
	member->value_type = member->call->value_type;
	member->read_in = members->current;
}

/* What a member says. */
typedef struct SqlOpinion
{
	int	   class_index; /* -1: none */
	double number;		/* NaN: none */
} SqlOpinion;

static double
number_from(Datum value, Oid type)
{
	switch (getBaseType(type))
	{
		case FLOAT8OID:
			return DatumGetFloat8(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case NUMERICOID:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
		default:
			return NAN;
	}
}

/* Is it the server's own cancellation, and not a function's error with the same code? */
static bool
is_cancellation(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_QUERY_CANCELED && error->funcname != NULL &&
		   strcmp(error->funcname, "ProcessInterrupts") == 0;
}

/* Without context: where in its function a teacher was interrupted must not show. */
pg_noreturn static void
rethrow_cancellation(ErrorData *error, CommandDest destination)
{
	error->context = NULL;
	error->output_to_client = destination == DestRemote;
	ReThrowError(error);
}

/* One question to all members. */
typedef struct SqlQuestion
{
	SqlMembers	   *members;
	const Ensemble *ensemble;
	Datum			features;
	int				class_index; /* whose score is asked */
	MemoryContext	scratch;	 /* of one call */
	SqlOpinion	   *opinions;
	int				answered; /* members that need not be asked again */
} SqlQuestion;

static const SqlOpinion no_opinion = {.class_index = -1, .number = NAN};

static SqlOpinion
ask_member(SqlQuestion *question, SqlMember *member)
{
	LOCAL_FCINFO(fcinfo, 2);
	SqlCall	  *call = member->call;
	SqlOpinion opinion = no_opinion;
	Datum	   result;
	char	  *name;

	resolve_call(question->members, call);
	read_value(question->members, member);
	InitFunctionCallInfoData(*fcinfo, &call->function, 2, call->collation, NULL, NULL);
	fcinfo->args[0].value = member->value;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = question->features;
	fcinfo->args[1].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	if (fcinfo->isnull)
		return opinion;
	opinion.number = number_from(result, call->result_type);
	name = label_name(result, call->result_type);
	opinion.class_index = ensemble_class_index(question->ensemble, name, strlen(name));
	return opinion;
}

/* A function may catch the error that asks for another call of it. */
static void
ask_members(void *arg)
{
	SqlQuestion *question = arg;

	for (; question->answered < question->members->n; question->answered++)
		do
		{
			CHECK_FOR_INTERRUPTS();
			question->opinions[question->answered] =
				ask_member(question, &question->members->members[question->answered]);
			MemoryContextReset(question->scratch);
		} while (sql_helpers_again());
}

/*
 * Any failure but cancellation is no opinion.  The client hears nothing:
 * client_min_messages would let INFO through, and the server's own DEBUG5 says
 * which subtransactions were rolled back.
 */
static void
try_members(SqlQuestion *question)
{
	CommandDest destination = whereToSendOutput;
	ErrorData  *error = NULL;

	whereToSendOutput = DestNone;
	PG_TRY();
	{
		error = sql_try(ask_members, question, question->scratch);
	}
	PG_FINALLY();
	{
		whereToSendOutput = destination;
	}
	PG_END_TRY();
	if (error != NULL)
	{
		if (is_cancellation(error))
			rethrow_cancellation(error, destination);
		FreeErrorData(error);
		/* All have answered if it came from the end of the subtransaction. */
		if (!sql_helpers_again() && question->answered < question->members->n)
			question->opinions[question->answered++] = no_opinion;
	}
	MemoryContextReset(question->scratch);
}

/* A number that is returned is the label, or the score of the second of two classes. */
static double
score_of_opinion(const SqlQuestion *question, const SqlOpinion *opinion)
{
	int nclasses = ensemble_classes(question->ensemble);

	if (nclasses > 2 || (nclasses == 2 && isnan(opinion->number)))
		return opinion->class_index == question->class_index;
	if (nclasses == 2 && question->class_index == 0)
		return 1 - opinion->number;
	return isnan(opinion->number) ? 0.5 : opinion->number;
}

static void
ask_all(SqlQuestion *question, int32 *votes, double *scores)
{
	int n = question->members->n;

	/* not kept: the function might come back here */
	question->scratch =
		AllocSetContextCreate(CurrentMemoryContext, "privpred sql call", ALLOCSET_DEFAULT_SIZES);
	question->opinions = palloc_array(SqlOpinion, n);
	while (question->answered < n)
		try_members(question);
	for (int i = 0; i < n; i++)
	{
		SqlOpinion *opinion = &question->opinions[i];

		if (opinion->class_index < 0)
			opinion->class_index = ensemble_default_class(question->ensemble);
		if (votes != NULL)
			votes[opinion->class_index]++;
		else
			scores[i] = score_of_opinion(question, opinion);
	}
	pfree(question->opinions);
	MemoryContextDelete(question->scratch);
}

/* What was looked up in another transaction may have changed. */
static void
enter_transaction(SqlMembers *members)
{
	if (members->current != MyLocalTransactionId())
	{
		MemoryContextReset(members->transaction);
		members->current = MyLocalTransactionId();
	}
}

void
sql_members_check(SqlMembers *members)
{
	enter_transaction(members);
	for (int i = 0; i < members->ncalls; i++)
		resolve_call(members, members->calls[i]);
}

void
sql_members_ask(SqlMembers *members, const Ensemble *ensemble, const double *x, int32 *votes,
				int class_index, double *scores)
{
	ArrayType  *features = sql_features(x, ensemble_width(ensemble));
	SqlQuestion question = {members, ensemble, PointerGetDatum(features), class_index};
	SqlHelpers	outer;

	ensemble_check_callable(ensemble);
	enter_transaction(members);
	sql_helpers_begin(&outer);
	PG_TRY();
	{
		ask_all(&question, votes, scores);
	}
	PG_FINALLY();
	{
		sql_helpers_end(&outer);
	}
	PG_END_TRY();
	pfree(features);
}
