/*
 * protect.c
 *		Protecting a relation, and what happens when protection ends.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/forget.h"
#include "request/protect.h"
#include "request/request.h"
#include "server/citus.h"

/* ---------- the unit ---------- */

/*
 * Earlier charges relied on the unit and on what is protected, so these may change
 * only while nothing was spent, and while nothing is there to spend: models were
 * trained for the old unit, and budgets were granted for it.
 */
static void
check_may_change(const ProtectedRelation *protected, bool has_cap)
{
	const char *name = get_rel_name(protected->relid);

	if (ledger_relation_spent(protected->population) > 0)
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
				errmsg("relation \"%s\" was protected before with another unit or promise", name),
				errdetail("What has been spent was spent under the earlier declaration."),
				errhint("Use the same unit and protects; sizes and caps may change."));
	if (relation_has_models(protected->relation_id) ||
		ledger_relation_has_budgets(protected->population))
		ereport(
			ERROR, errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			errmsg("relation \"%s\" still has models or budgets for another unit or promise", name),
			errdetail("Nothing has been spent, so that the declaration may still change."),
			errhint("Use privpred.drop_model and privpred.revoke_budget first, and train and "
					"grant again afterwards."));
	if (!has_cap && !population_has_others(protected, false) &&
		ledger_relation_has_cap(protected->population))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("relation \"%s\" has a cap for another unit or promise", name),
				errdetail("Nothing has been spent, so that the declaration may still "
						  "change; the cap ends with it."),
				errhint("Give epsilon_cap as well, or epsilon_cap => 'Infinity'."));
}

/* Returns the population that it stays in, whatever its unit; 0: there are no others in it. */
static int64
change_declaration(Relation relation, bool has_cap)
{
	ProtectedRelation *before = protected_relation_declared_seize(RelationGetRelid(relation));
	int64			   population = population_has_others(before, false) ? before->population : 0;

	check_may_change(before, has_cap);
	protected_relation_retire(before);
	ereport(NOTICE,
			errmsg("relation \"%s\" is declared anew, with another unit or promise",
				   RelationGetRelationName(relation)),
			errdetail("Nothing was spent under the earlier declaration."));
	return population;
}

/* Keeps the unit that was declared before, unless another is given. */
static ArrayType *
choose_unit(Relation relation, const ProtectOptions *options, const ProtectedRelation *before)
{
	if (options->unit != NULL || before == NULL)
		return resolve_unit(relation, options->unit);
	check_unit_columns(before);
	return unit_array(before);
}

/* ---------- views ---------- */

static void
check_view_options(Relation view, const ProtectOptions *options)
{
	if (options->protects_labels)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("labels of view \"%s\" cannot be protected by themselves",
					   RelationGetRelationName(view)),
				errdetail("In a view, a label may decide whether a row exists."),
				errhint("Protect its rows, or a table's labels."));
	if (OidIsValid(options->same_units_as))
		refuse(errmsg("same_units_as is for tables"),
			   errdetail("A view is about the units of the tables under it."),
			   errhint("Leave it out."));
}

/* A view is proved to keep units apart, and shares the accounts of its tables.  NULL: a table. */
static ViewProof *
prove_view(Relation relation, ArrayType *units, const ProtectOptions *options,
		   const ProtectedRelation *before)
{
	List	  *publics = NIL;
	ViewProof *proof;
	Datum	  *names;
	int		   count;

	if (relation->rd_rel->relkind != RELKIND_VIEW)
	{
		if (options->public_tables != NULL)
			refuse(errmsg("public_tables is for views"),
				   errdetail("\"%s\" is a table, and all of its rows are protected.",
							 RelationGetRelationName(relation)),
				   errhint("Leave it out."));
		return NULL;
	}
	check_view_options(relation, options);
	if (options->public_tables != NULL)
		publics = public_tables_of_array(options->public_tables);
	else if (before != NULL)
		publics = public_tables_of_view(before->relation_id);
	deconstruct_array(units, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, NULL, &count);
	proof = view_prove(RelationGetRelid(relation), NameStr(*DatumGetName(names[0])), publics);
	if (before != NULL && before->population != proof->population)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("view \"%s\" was protected before over tables about other units",
					   RelationGetRelationName(relation)),
				errdetail("What was spent on it was spent for those."),
				errhint("Create a view of another name over these tables."));
	return proof;
}

/* ---------- the same units ---------- */

/* The population that a relation is said to belong to, as it stays until we end; 0: none. */
static int64
named_population(Relation relation, ArrayType *units, const ProtectOptions *options)
{
	ProtectedRelation *other;

	if (!OidIsValid(options->same_units_as))
		return 0;
	if (options->same_units_as == RelationGetRelid(relation))
		refuse(errmsg("same_units_as names the relation itself"),
			   errhint("Name another protected relation that is about the same units."));
	lock_own_relation(options->same_units_as, AccessShareLock);
	other = protected_relation_hold(options->same_units_as);
	check_same_units(relation, units, options->protects_labels, other);
	check_population_owner(other->population);
	return other->population;
}

/* A relation that has come to others shares their budgets, and brings its own along. */
static void
share_budgets(Oid relid, int64 population)
{
	const ProtectedRelation *protected = protected_relation_get(relid);

	if (population != 0 && protected->population != population)
	{
		check_population_owner(protected->population);
		ledger_join(protected->population, population);
	}
	else if (population_has_others(protected, false))
		ledger_relation_added(protected->population, relid, InvalidOid);
}

void
request_protect(Oid relid, const ProtectOptions *options, LedgerGrant *cap)
{
	ProtectedRelation *before;
	Relation		   relation;
	ArrayType		  *units;
	ViewProof		  *proof;
	int64			   relation_id = 0;
	int64			   population;
	int64			   stays_in = 0;

	check_relation_owner(relid);
	relation = protected_relation_open(relid);
	follow_relation(citus_only_shard(relid), relid);
	before = protected_relation_declared(relid);
	units = choose_unit(relation, options, before);
	proof = prove_view(relation, units, options, before);
	population = proof != NULL ? proof->population : named_population(relation, units, options);
	check_spent_once(relid, before != NULL ? before->population : 0, population);
	check_view_paid_once(proof);
	if (before != NULL && same_declaration(before, units, options->protects_labels))
		relation_id = proof != NULL
						  ? before->relation_id
						  : present_account(relation, before, units, options, cap != NULL);
	else
	{
		if (before != NULL)
			stays_in = change_declaration(relation, cap != NULL);
		else if (options->unit == NULL)
			warn_about_unit(relation);
		if (stays_in == 0 && proof == NULL)
			relation_id = first_account(relation, units, options, population);
		else
			check_no_past_account(relation, units, options, stays_in != 0 ? stays_in : population);
	}
	protected_relation_write(relation, units, options, relation_id,
							 relation_id != 0 ? 0
							 : stays_in != 0  ? stays_in
											  : population);
	if (proof != NULL)
		public_tables_write(protected_relation_get(relid)->relation_id, proof->publics);
	share_budgets(relid, population);
	if (cap != NULL)
	{
		const ProtectedRelation *protected = protected_relation_get(relid);

		check_population_owner(protected->population);
		cap->relation_id = protected->population;
		cap->declared_units = protected->declared_units;
		ledger_set_cap(cap);
	}
	table_close(relation, NoLock);
}

/* A view is proved from the tables that are protected. */
static void
check_no_view_reads(const ProtectedRelation *protected)
{
	Oid view = protected_view_over(protected);

	if (OidIsValid(view))
		ereport(ERROR, errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				errmsg("protected view \"%s\" reads relation \"%s\"", get_rel_name(view),
					   get_rel_name(protected->relid)),
				errdetail("It could not be trained on any more."),
				errhint("Run SELECT privpred.unprotect('%s') first.", get_rel_name(view)));
}

void
request_unprotect(Oid relid)
{
	ProtectedRelation *protected;

	lock_own_relation(relid, AccessShareLock);
	check_no_rows_held(); /* a model may be about to be stored */
	protected = protected_relation_seize(relid);
	if (relation_has_models(protected->relation_id) ||
		(!population_has_others(protected, true) &&
		 ledger_relation_has_budgets(protected->population)))
		ereport(
			ERROR, errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			errmsg("relation \"%s\" still has models or budgets", get_rel_name(relid)),
			errhint("Use privpred.drop_model and privpred.revoke_budget first; the ledger stays."));
	check_no_view_reads(protected);
	protected_relation_remove(protected);
}

void
request_forget_dropped_relations(void)
{
	ListCell *cell;

	foreach(cell, protected_relations_dropped())
	{
		const PastRelation *past = lfirst(cell);
		uint64				budgets = 0;

		forget_dropped(past->population);
		/* Budgets end with the last relation about their units. */
		if (!population_is_active(past->population))
			budgets = ledger_relation_dropped(past->population);
		if (budgets > 0)
			ereport(WARNING,
					errmsg_plural("relation %s was protected, and %lu budget on it ends",
								  "relation %s was protected, and %lu budgets on it end", budgets,
								  past->name, (unsigned long) budgets),
					errdetail("What was spent is remembered: a relation of the same name, unit and "
							  "owner that is protected later goes on with the same account."),
					errhint("If the relation is created again, protect it, train its models and "
							"grant its budgets again."));
	}
}
