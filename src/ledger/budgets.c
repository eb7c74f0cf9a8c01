/*
 * budgets.c
 *		Budgets as people see them: what privpred.budgets shows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"

#include "account/terms.h"
#include "catalog/by_id.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

/* A budget, and the trainings that it has paid for once. */
typedef struct BudgetRow
{
	LedgerBudget shown;
	ArrayType	*paid; /* int8[] */
} BudgetRow;

/* What the budgets of a relation have in common. */
typedef struct BudgetRelation
{
	int64			relation_id;
	PopulationBrief brief;
	bool			owned; /* one of them, by who looks */
	BudgetRow	   *cap;   /* NULL: none */
	List		   *sales;
	Purchase	   *purchases;
} BudgetRelation;

static bool
has_paid(const BudgetRow *budget, int64 training_id)
{
	const int64 *paid = (const int64 *) ARR_DATA_PTR(budget->paid);
	int			 npaid = ArrayGetNItems(ARR_NDIM(budget->paid), ARR_DIMS(budget->paid));

	for (int i = 0; i < npaid; i++)
		if (paid[i] == training_id)
			return true;
	return false;
}

Purchase *
ledger_purchases(List *sales)
{
	Purchase *purchases = palloc0_array(Purchase, list_length(sales) + 1);

	for (int i = 0; i < list_length(sales); i++)
	{
		const ModelSale *sale = list_nth(sales, i);

		purchases[i].once = sale->kind == CHARGE_ONCE;
		if (sale->charge != NULL && !charge_from_text(sale->charge, &purchases[i].finite))
			memset(&purchases[i].finite, 0, sizeof(Charge));
		if (sale->pure_charge != NULL &&
			!charge_from_text(sale->pure_charge, &purchases[i].infinite))
			memset(&purchases[i].infinite, 0, sizeof(Charge));
	}
	return purchases;
}

static void
enter_relation(BudgetRelation *relation, int64 relation_id, Oid asker)
{
	if (relation->relation_id == relation_id)
		return;
	*relation = (BudgetRelation){.relation_id = relation_id};
	relation->brief = population_brief(relation_id);
	relation->owned = population_is_partly_owned(relation_id, asker);
}

/* Only once there is a budget to be shown: others' models are none of the asker's business. */
static void
read_sales_once(BudgetRelation *relation)
{
	if (relation->purchases != NULL)
		return;
	relation->sales = population_sales(relation->relation_id);
	relation->purchases = ledger_purchases(relation->sales);
}

#define BUDGET_COLUMNS \
	ACCOUNT_COLUMNS ", a.role_name, a.granted_by, a.granted_at, " \
					"least(coalesce(o.reserved, 0), 9223372036854775807)::int8, " \
					"least(coalesce(o.orphaned, 0), 9223372036854775807)::int8, " \
					"ARRAY(SELECT p.training_id FROM privpred.release p " \
					"WHERE p.account_id = a.account_id)"

/* In the current context; the columns are BUDGET_COLUMNS. */
static BudgetRow *
budget_from_row(uint64 row, const BudgetRelation *relation, TimestampTz now, bool settled)
{
	BudgetRow	 *budget = palloc0_object(BudgetRow);
	LedgerBudget *shown = &budget->shown;
	int			  column = ACCOUNT_NEXT_COLUMN;
	bool		  isnull;

	account_from_row(&shown->account, row, relation->brief.relid);
	(void) account_roll_window(&shown->account, now);
	/* The server knows holders once the ledger is this database's own. */
	shown->account.live_role |= !settled;
	shown->relation_name = relation->brief.last_seen;
	shown->role_name = row_text(row, column++);
	shown->granted_by = row_text(row, column++);
	shown->granted_at = row_time(row, column++);
	shown->reserved = row_int8(row, column++);
	shown->orphaned = row_int8(row, column++);
	budget->paid = DatumGetArrayTypePCopy(row_value(row, column++, &isnull));
	return budget;
}

/* What is left, why and until when. */
static void
work_out(BudgetRow *budget, const BudgetRelation *relation, TimestampTz now)
{
	LedgerBudget  *shown = &budget->shown;
	const Account *account = &shown->account;
	const Account *cap = relation->cap != NULL ? &relation->cap->shown.account : NULL;
	int			   nmodels = list_length(relation->sales);
	Purchase	   typical = terms_typical(account, relation->purchases, nmodels);

	shown->status = account_status(account, now);
	shown->bound = budget_bound(account, cap, &typical);
	shown->epsilon_left = shown->status == BUDGET_ACTIVE ? budget_epsilon_left(account, cap) : 0;
	for (int i = 0; i < nmodels; i++)
	{
		const ModelSale *sale = list_nth(relation->sales, i);
		LedgerAnswers	*answers = palloc_object(LedgerAnswers);
		Purchase		 purchase = relation->purchases[i];

		purchase.paid = has_paid(budget, sale->training_id);
		purchase.cap_paid = cap != NULL && has_paid(relation->cap, sale->training_id);
		answers->model = sale->name;
		answers->left =
			shown->status == BUDGET_ACTIVE ? budget_answers_left(account, cap, &purchase) : 0;
		shown->answers = lappend(shown->answers, answers);
	}
}

/* A cap, whose role is 0, comes before the accounts under it. */
List *
ledger_budgets(Oid asker)
{
	TimestampTz	   now = GetCurrentTimestamp();
	MemoryContext  caller = CurrentMemoryContext;
	BudgetRelation relation = {0};
	List		  *budgets = NIL;
	CatalogSession session;
	MemoryContext  spi;
	bool		   moved;
	bool		   settled;

	catalog_begin(&session);
	settled = ledger_is_ours(&moved) && !moved;
	query_read("SELECT " BUDGET_COLUMNS " FROM privpred.account a "
			   "LEFT JOIN (SELECT l.account_id, "
			   "sum(l.answers::numeric * l.charge) FILTER (WHERE l.incarnation = $1) AS reserved, "
			   "sum(l.answers::numeric * l.charge) FILTER (WHERE l.incarnation <> $1) AS orphaned "
			   "FROM privpred.open_lease l GROUP BY l.account_id) o USING (account_id) "
			   "ORDER BY a.relation_id, a.role::oid",
			   ARG_INT8(ledger_incarnation()));
	spi = MemoryContextSwitchTo(caller);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Oid		   role = row_oid(row, 3);
		BudgetRow *budget;
		bool	   visible;

		CHECK_FOR_INTERRUPTS();
		enter_relation(&relation, row_int8(row, 2), asker);
		/* Its population was joined with another, which has all that was spent. */
		if (relation.brief.population != relation.relation_id)
			continue;
		visible = relation.owned || has_privs_of_role(asker, role);
		if (!visible && role != CAP_ROLE)
			continue;
		budget = budget_from_row(row, &relation, now, settled);
		if (role == CAP_ROLE)
			relation.cap = budget;
		if (!visible)
			continue;
		budget->shown.yours =
			role != CAP_ROLE && (role == asker || role_inherits_budget_of(asker, role));
		read_sales_once(&relation);
		work_out(budget, &relation, now);
		budgets = lappend(budgets, &budget->shown);
	}
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	return budgets;
}
