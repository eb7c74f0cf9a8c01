/*
 * protect_past.c
 *		Accounts of tables that are no longer protected, or that are gone: what was
 *		spent on rows stays spent, whatever table they are in next.
 */
#include "postgres.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/protect.h"
#include "request/request.h"
#include "server/citus.h"

/* ---------- tables with the same rows ---------- */

void
check_spent_once(Oid relid, int64 population, int64 joined)
{
	ListCell *cell;

	foreach(cell, relation_family(relid))
	{
		const Relative *relative = lfirst(cell);

		if (relative->relid != relid && relative->relation_id != 0 && !relative->is_protected &&
			relative->population != population && relative->population != joined &&
			ledger_relation_spent(relative->population) > 0)
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("relation \"%s\" shares rows with \"%s\", which was protected before, "
						   "and has been asked",
						   get_rel_name(relid), get_rel_name(relative->relid)),
					errdetail("What was spent on these rows is in an account that \"%s\" would "
							  "not pay from.",
							  get_rel_name(relid)),
					errhint("Detach \"%s\", and protect it by itself. If \"%s\" is to take its "
							"place, copy its rows, drop it, and give \"%s\" its name before it is "
							"protected: then it goes on with the account.",
							get_rel_name(relative->relid), get_rel_name(relid),
							get_rel_name(relid)));
	}
}

void
check_view_paid_once(const ViewProof *proof)
{
	ListCell *table;
	ListCell *cell;

	if (proof == NULL)
		return;
	foreach(table, proof->tables)
		foreach(cell, relation_family(lfirst_oid(table)))
		{
			const Relative *relative = lfirst(cell);

			if (relative->relation_id != 0 && relative->population != proof->population &&
				(relative->is_protected || ledger_relation_spent(relative->population) > 0))
				ereport(
					ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("relation \"%s\" under view \"%s\" shares rows with \"%s\", which has "
						   "another account",
						   get_rel_name(lfirst_oid(table)), get_rel_name(proof->view),
						   get_rel_name(relative->relid)),
					errdetail("Two budgets would pay for the same rows."),
					errhint("Detach \"%s\", or protect it with same_units_as => '%s'.",
							get_rel_name(relative->relid), get_rel_name(lfirst_oid(table))));
		}
}

/* ---------- tables of the same name ---------- */

/* A table that has another name by now, and an account: which of the two is meant? */
static void
refuse_second(Relation relation, const PastRelation *past)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("relation \"%s\" was protected under the name of \"%s\", and has been asked",
				   past->name, RelationGetRelationName(relation)),
			errdetail("If \"%s\" replaces it, it must go on with its account.",
					  RelationGetRelationName(relation)),
			errhint("If it does, drop \"%s\" first. If both are to stay, with an account each, run "
					"SELECT privpred.protect('%s') first.",
					past->name, past->name));
}

static void
warn_about_other_unit(Relation relation)
{
	ereport(WARNING,
			errmsg("a relation \"%s\" that was dropped was protected with another unit or promise",
				   RelationGetRelationName(relation)),
			errdetail("What was spent on it is not counted for this one."),
			errhint("If the rows are about the same people, protect the relation again with the "
					"earlier unit and promise, before anything is asked."));
}

/* Of tables of the same name that were dropped after something was spent. */
typedef struct PastAccount
{
	int64 relation_id; /* 0: none */
	int64 population;
	bool  has_others; /* relations about the same units that are there */
	bool  other_unit; /* one was protected with another unit or promise */
} PastAccount;

/*
 * The declaration of a table of this name that was dropped after something was spent for its
 * units, or while others are about them.  If there are several, the one with most spent.
 * What belongs to the population (0: none) is no other account; "elsewhere" leaves it out.
 */
static PastAccount
find_account(Relation relation, ArrayType *units, const ProtectOptions *options, int64 population,
			 bool elsewhere)
{
	PastAccount found = {0};
	int64		most = 0;
	ListCell   *cell;

	foreach(cell, past_relations(relation, units, options->protects_labels))
	{
		const PastRelation *past = lfirst(cell);
		int64				spent = ledger_relation_spent(past->population);

		if (elsewhere && past->population == population)
			continue;
		if (OidIsValid(past->relid))
		{
			if (spent > 0 && past->is_renamed && past->population != population)
				refuse_second(relation, past);
		}
		else if (!past->same_declaration)
			found.other_unit |= spent > 0 && past->population != population;
		else if (spent > most || (found.relation_id == 0 && past->has_others))
		{
			most = spent;
			found.relation_id = past->relation_id;
			found.population = past->population;
			found.has_others = past->has_others;
		}
	}
	return found;
}

static void
tell_of_account(Relation relation, bool has_others)
{
	ereport(NOTICE,
			errmsg("relation \"%s\" goes on with the account of one that was dropped",
				   RelationGetRelationName(relation)),
			has_others ? errdetail("It had the same name, unit and owner. The budgets of relations "
								   "about the same units pay for it again.")
					   : errdetail("It had the same name, unit and owner. What was spent on it "
								   "stays spent, and its cap holds; its budgets have ended."),
			errhint("See privpred.budgets. If the rows are about other people, give the "
					"relation another name."));
}

int64
first_account(Relation relation, ArrayType *units, const ProtectOptions *options, int64 population)
{
	PastAccount found = find_account(relation, units, options, population, false);

	if (found.relation_id != 0)
		tell_of_account(relation, found.has_others);
	else if (found.other_unit)
		warn_about_other_unit(relation);
	return found.relation_id;
}

static void
warn_about_two(Relation relation)
{
	ereport(WARNING,
			errmsg("relation \"%s\" has another account than one of that name that was dropped",
				   RelationGetRelationName(relation)),
			errdetail("Something was spent on both. What was spent on the dropped one is not "
					  "counted for it."),
			errhint("If the rows are about the same people, grant as much less."));
}

/* Nobody leaves a population; so what was spent on the dropped one comes to it. */
static void
join_past(Relation relation, const ProtectedRelation *before, const PastAccount *found)
{
	check_population_owner(before->population);
	if (found->has_others)
		check_population_owner(found->population);
	ereport(NOTICE,
			errmsg("relation \"%s\" has the name, unit and owner of one that was dropped",
				   RelationGetRelationName(relation)),
			errdetail("What was spent on that is counted for all relations about the same units."));
	ledger_join(found->population, before->population);
}

int64
present_account(Relation relation, const ProtectedRelation *before, ArrayType *units,
				const ProtectOptions *options, bool has_cap)
{
	PastAccount found = find_account(relation, units, options, before->population, true);

	if (found.relation_id == 0)
		return before->relation_id;
	if (ledger_relation_spent(before->population) > 0)
	{
		warn_about_two(relation);
		return before->relation_id;
	}
	if (population_has_others(before, false))
	{
		join_past(relation, before, &found);
		return before->relation_id;
	}
	if (relation_has_models(before->relation_id) || ledger_relation_has_budgets(before->population))
		ereport(ERROR, errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				errmsg("relation \"%s\" has another account than one of that name that was dropped",
					   RelationGetRelationName(relation)),
				errdetail("It must go on with the other's, on which something was spent."),
				errhint("Use privpred.drop_model and privpred.revoke_budget first."));
	if (!has_cap && ledger_relation_has_cap(before->population))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("relation \"%s\" has a cap of its own", RelationGetRelationName(relation)),
				errdetail("It goes on with the account of one of that name that was dropped; its "
						  "own cap ends."),
				errhint("Give epsilon_cap as well, or epsilon_cap => 'Infinity'."));
	protected_relation_retire(before);
	tell_of_account(relation, found.has_others);
	return found.relation_id;
}

void
check_no_past_account(Relation relation, ArrayType *units, const ProtectOptions *options,
					  int64 population)
{
	if (find_account(relation, units, options, population, true).relation_id != 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("\"%s\" was the name of a protected relation that has been asked",
					   RelationGetRelationName(relation)),
				errdetail("The one that gets the name has an account of its own. What was spent on "
						  "the dropped one would not be counted for it."),
				errhint("If the rows are about the same people, drop its models and budgets, "
						"run privpred.unprotect, rename it, and protect it then: it goes on with "
						"the account. If not, choose another name."));
}

static void
check_new_name(Oid relid)
{
	Relation relation = open_relation(relid, AccessShareLock);
	const ProtectedRelation *protected = protected_relation_get(relid);
	ProtectOptions options = {.protects_labels = protected->protects_labels};

	check_no_past_account(relation, unit_array(protected), &options, protected->population);
	relation_close(relation, AccessShareLock);
}

/* The owner of a schema gives tables of others new names, and is not to be stopped by them. */
void
check_name_given(Oid relid)
{
	if (relation_is_renamed(relid))
		check_new_name(relid);
}

/* Citus may have made a table its own: another has its name, and its rows are still the same. */
void
follow_relation(Oid from, Oid to)
{
	if (OidIsValid(from) && OidIsValid(to) && protected_relation_follow(from, to))
		ledger_relation_added(population_of_relation(to), to, from);
}

static void
follow_citus(void)
{
	ListCell *cell;

	foreach(cell, citus_is_installed() ? protected_relations() : NIL)
		follow_relation(lfirst_oid(cell), citus_table_of_only_shard(lfirst_oid(cell)));
}

void
request_note_names(void)
{
	ListCell *cell;

	follow_citus();
	foreach(cell, relations_renamed())
	{
		/* What others have renamed, past our trigger, is not in our way. */
		if (role_owns(GetUserId(), lfirst_oid(cell)) && relation_is_protected(lfirst_oid(cell)))
			check_new_name(lfirst_oid(cell));
		relation_note_name(lfirst_oid(cell));
	}
}
