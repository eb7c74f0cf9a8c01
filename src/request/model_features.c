/*
 * model_features.c
 *		The features of a model, as its mechanism and learner take them.
 *
 * All of it follows from declarations and the catalog, so it may be told.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "catalog/store.h"
#include "request/train.h"

/* "learner" or "mechanism": what learns from the features. */
static const char *
learns(const ModelRecord *model)
{
	return model->learner ? "learner" : "mechanism";
}

static const char *
learns_name(const ModelRecord *model)
{
	return model->learner ? model->learner->name : model->mechanism->name;
}

/* Trees have a direction for missing values; all other learners need a number. */
void
check_missing(const ModelRecord *model)
{
	for (int i = 0; i < model->features->nfeatures; i++)
		if (model->features->features[i].missing &&
			(model->learner == NULL || !model->learner->accepts_missing))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s \"%s\" cannot leave feature \"%s\" missing", learns(model),
							learns_name(model), model->features->features[i].name),
					 errhint("Declare {\"null\": {\"fill\": value}}, or use learner boost, forest "
							 "or tree.")));
}

/* Whoever finds cuts gets the number itself, which says the same in fewer columns. */
static void
leave_cuts_out(ModelRecord *model)
{
	char *names;

	if (model->learner ? !model->learner->finds_cuts : !model->mechanism->finds_cuts)
		return;
	names = feature_spec_drop_cuts(model->features);
	if (names != NULL)
		ereport(NOTICE, (errmsg("cuts of feature%s %s are not used by %s \"%s\"",
								strstr(names, "\", \"") ? "s" : "", names, learns(model),
								learns_name(model)),
						 errdetail("It divides numbers where it needs to.")));
}

/* By its own constraint or that of its domain; never by looking at rows. */
static bool
may_be_null(Relation relation, const char *column)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(relation),
												get_attnum(RelationGetRelid(relation), column) - 1);
	bool			  not_null = attribute->attnotnull;

	for (Oid type = attribute->atttypid; !not_null && get_typtype(type) == TYPTYPE_DOMAIN;)
	{
		HeapTuple	 tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Form_pg_type domain = (Form_pg_type) GETSTRUCT(tuple);

		not_null = domain->typnotnull;
		type = domain->typbasetype;
		ReleaseSysCache(tuple);
	}
	return !not_null;
}

/* Training takes NULL, whatever is declared; questions do not. */
static void
tell_of_null(const ModelRecord *model, Relation relation)
{
	StringInfoData names;
	int			   count = 0;

	initStringInfo(&names);
	for (int i = 0; i < model->features->nfeatures; i++)
	{
		const Feature *feature = &model->features->features[i];

		if (!feature->null_declared && may_be_null(relation, feature->name))
			appendStringInfo(&names, "%s\"%s\"", count++ > 0 ? ", " : "", feature->name);
	}
	if (count > 0)
		ereport(
			NOTICE,
			(errmsg_plural("questions in which column %s is NULL will be refused",
						   "questions in which one of columns %s is NULL will be refused", count,
						   names.data),
			 errdetail("Nothing is declared of NULL there."),
			 errhint("Declare {\"null\": {\"fill\": value}} or {\"null\": \"none\"} to take such "
					 "questions, or {\"null\": \"error\"} to refuse them.")));
}

void
declare_features(ModelRecord *model, Datum json, Relation relation)
{
	model->features =
		feature_spec_declare(json, RelationGetDescr(relation), RelationGetRelationName(relation));
	leave_cuts_out(model);
	tell_of_null(model, relation);
	model->spec.width = model->features->width;
	model->spec.columns = feature_columns(model->features);
}
