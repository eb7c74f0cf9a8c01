/*
 * holdout.c
 *		Units that never train, so that they can tell how good a model is.
 *
 * Whether a unit is held out follows from its id and the model's salt, which all
 * versions of a model share: a unit that is held out stays so.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "request/train.h"

#define HOLDOUT_MIN 0.001
#define HOLDOUT_MAX 0.9
#define HOLDOUT_SHARES (1 << 30) /* units are held out by so many parts */

double
holdout_declare(double holdout)
{
	if (holdout != 0 && !(holdout >= HOLDOUT_MIN && holdout <= HOLDOUT_MAX))
		ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("holdout must be 0, or a number from %g to %g", HOLDOUT_MIN, HOLDOUT_MAX),
				errdetail("It is the share of the units that never train."),
				errhint("With holdout => 0.1 a tenth of them tells how good the model is."));
	return holdout;
}

void
holdout_parameters(TrainingQuery *query, const ModelRecord *model)
{
	bytea *salt = palloc(VARHDRSZ + TEACHER_SALT_BYTES);

	SET_VARSIZE(salt, VARHDRSZ + TEACHER_SALT_BYTES);
	holdout_salt((const unsigned char *) model->salt, (unsigned char *) VARDATA(salt));
	query->arguments[PARAMETER_HOLDOUT_SALT - 1] = ARG(BYTEAOID, PointerGetDatum(salt));
	query->arguments[PARAMETER_HOLDOUT - 1] =
		ARG_INT4((int32) rint(model->holdout * HOLDOUT_SHARES));
}

bool
holdout_has(const ModelRecord *model, uint64 hash)
{
	return (int32) (hash % HOLDOUT_SHARES) < (int32) rint(model->holdout * HOLDOUT_SHARES);
}

/* A unit is held out wherever it is read, also on other nodes, so nothing but its id counts. */
static char *
holdout_share_sql(const ProtectedRelation *protected, const char *salt)
{
	return psprintf("privpred.unit_share(%s, %d, %s)", salt, HOLDOUT_SHARES,
					units_sql(protected, ", "));
}

/* Written so that postgres_fdw sends it, see nodes.c. */
char *
trains_by_sql(const ModelRecord *model, const ProtectedRelation *protected, const char *salt)
{
	if (model->holdout == 0)
		return pstrdup("TRUE");
	return psprintf("(%s >= $%d OR %s IS NULL)", holdout_share_sql(protected, salt),
					PARAMETER_HOLDOUT, units_sql(protected, " IS NULL OR "));
}

char *
trains_sql(const TrainingQuery *query, const ModelRecord *model, const ProtectedRelation *protected)
{
	return trains_by_sql(model, protected, query_secret(query, PARAMETER_HOLDOUT_SALT));
}

char *
held_out_sql(const TrainingQuery *query, const ProtectedRelation *protected)
{
	return psprintf("%s < $%d",
					holdout_share_sql(protected, query_secret(query, PARAMETER_HOLDOUT_SALT)),
					PARAMETER_HOLDOUT);
}

/* ---------- rows to evaluate on ---------- */

/* The query would raise an error, too, but about a statement that the user has not seen. */
static void
check_test_columns(const ModelRecord *record, Oid test_relation)
{
	static const char *const hint = "Rows to evaluate on need the model's label and all its "
									"features, under the same names; a view can rename them.";

	LockRelationOid(test_relation, AccessShareLock); /* until the figures are there */
	(void) relation_sql_name(test_relation);
	require_column(test_relation, record->label, hint);
	require_features(test_relation, record->features, hint);
}

void
check_holds_out(const ModelRecord *model)
{
	if (model->holdout == 0)
		ereport(
			ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("model \"%s\" holds no units out", model->name),
			errdetail("All units of its relation train it."),
			errhint("Name a table of labelled rows that it was not trained on, or create a model "
					"with holdout => 0.1."));
}

static char *
held_out_rows(const TrainingQuery *query, const ModelRecord *model)
{
	ProtectedRelation *protected = protected_relation_get(model->relid);

	check_unit_columns(protected);
	(void) view_prove_protected(protected);
	check_holds_out(model);
	return psprintf("(SELECT r.* FROM %s r WHERE %s)", relation_sql_name(model->relid),
					held_out_sql(query, protected));
}

Oid
choose_test_rows(TrainingQuery *query, const ModelRecord *model, const Oid *test_relation)
{
	if (test_relation == NULL)
	{
		query->relation = held_out_rows(query, model);
		return model->relid;
	}
	check_test_columns(model, *test_relation);
	query->relation = relation_sql_name(*test_relation);
	query->travels = false; /* what it asks of these rows is no secret */
	if (relations_share_rows(*test_relation, model->relid))
		ereport(
			WARNING,
			errmsg("\"%s\" may have rows that model \"%s\" was trained on",
				   get_rel_name(*test_relation), model->name),
			errdetail("On such rows a model looks better than it is."),
			model->holdout > 0
				? errhint("privpred.evaluate('%s') takes the units that never train.", model->name)
				: errhint("Use other rows, or create a model with holdout => 0.1."));
	return *test_relation;
}
