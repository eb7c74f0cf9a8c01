/*
 * memo.c
 *		Answers that are kept for good: writing them.
 *
 * The ledger's process writes them, so that they outlive the transaction in
 * which they were given, as their price does.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"

#include "ledger/worker/worker.h"

static SPIPlanPtr keep_plan = NULL;
static SPIPlanPtr lock_plan = NULL;

void
memo_forget(void)
{
	SPIPlanPtr *plans[] = {&keep_plan, &lock_plan};

	for (int i = 0; i < lengthof(plans); i++)
	{
		if (*plans[i] != NULL)
			SPI_freeplan(*plans[i]);
		*plans[i] = NULL;
	}
}

/* Whoever trains or drops the model throws the answers away, and must not be waited for. */
static bool
are_thrown_away(Datum *key, Oid *argtypes)
{
	bool isnull;

	book_run(&lock_plan,
			 "WITH free AS (SELECT FROM privpred.memo_size s WHERE s.model_id = $1 "
			 "AND s.training_id = $2 AND s.role = $3 FOR NO KEY UPDATE SKIP LOCKED) "
			 "SELECT EXISTS (SELECT FROM privpred.memo_size s WHERE s.model_id = $1 "
			 "AND s.training_id = $2 AND s.role = $3) AND NOT EXISTS (SELECT FROM free)",
			 3, argtypes, key, NULL);
	return DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

void
memo_keep(const LedgerRequest *request, LedgerReply *reply)
{
	const LedgerMemo *memo = &request->memo;
	Oid argtypes[] = {INT8OID, INT8OID, REGROLEOID, BYTEAOID, INT4OID, FLOAT8OID, INT8OID, INT4OID};
	char  nulls[] = "        ";
	Datum args[lengthof(argtypes)];

	args[0] = Int64GetDatum(request->model_id);
	args[1] = Int64GetDatum(request->training_id);
	args[2] = ObjectIdGetDatum(request->role);
	args[3] = PointerGetDatum(
		cstring_to_text_with_len((const char *) memo->question, MEMO_QUESTION_SIZE));
	args[4] = Int32GetDatum(memo->class_index);
	args[5] = Float8GetDatum(memo->score);
	if (memo->isnull)
		nulls[4] = nulls[5] = 'n';
	args[6] = Int64GetDatum(request->account_id);
	args[7] = Int32GetDatum(request->want);
	reply->outcome = OUTCOME_GRANTED;
	if (are_thrown_away(args, argtypes))
		return;
	book_run(
		&keep_plan,
		"WITH room AS (INSERT INTO privpred.memo_size AS s (model_id, training_id, role, entries) "
		"VALUES ($1, $2, $3, 1) ON CONFLICT (model_id, training_id, role) "
		"DO UPDATE SET entries = s.entries + 1 WHERE s.entries < $8 RETURNING 1) "
		"INSERT INTO privpred.memo (model_id, training_id, role, question, class_index, score, "
		"account_id) SELECT $1, $2, $3, $4, $5, $6, $7 FROM room ON CONFLICT DO NOTHING",
		lengthof(argtypes), argtypes, args, nulls);
	reply->granted = SPI_processed > 0 ? 1 : 0;
}
