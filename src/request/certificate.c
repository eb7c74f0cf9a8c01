/*
 * certificate.c
 *		Certificates: what they say of models that have forgotten a unit, and
 *		whether that holds.
 *
 * All digests have the relation's key and the certificate's nonce: whoever is handed a certificate
 * learns nothing from them of anybody's rows, nor from two of them what else has
 * changed.  The owner can have them checked.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/forget.h"

/* ---------- digests ---------- */

static char *
end_digest(Digest *digest)
{
	uint8 result[DIGEST_BYTES];

	digest_end(digest, result);
	return digest_text(result, palloc(DIGEST_TEXT_SIZE));
}

static char *
unit_digest(const Certificate *certificate, const UnitValue *unit)
{
	Size		 size;
	const uint8 *bytes = unit_bytes_of_columns(unit->hasher, unit->values, &size);
	Digest		 digest;

	certificate_digest_begin(&digest, certificate, "unit");
	digest_add_piece(&digest, bytes, size);
	return end_digest(&digest);
}

static void
add_member(Digest *digest, const PredictorMember *member)
{
	digest_add(digest, &member->kind, sizeof(member->kind));
	digest_add_piece(digest, member->body, member->size);
}

/* All that a version has learnt. */
static char *
version_digest(const Certificate *certificate, const ModelRecord *model)
{
	const struct varlena *learnt =
		model->predictor ? (const struct varlena *) model->predictor : model->state;
	Digest digest;

	certificate_digest_begin(&digest, certificate, "version");
	digest_add_piece(&digest, model->name, strlen(model->name));
	digest_add_piece(&digest, VARDATA_ANY(learnt), VARSIZE_ANY_EXHDR(learnt));
	return end_digest(&digest);
}

/* One teacher; or all others, which are stored in the order of their bytes. */
static char *
teachers_digest(const Certificate *certificate, const ModelRecord *model, int teacher, bool others)
{
	int				 nmembers;
	PredictorMember *members = predictor_members(model->predictor, &nmembers);
	uint32			 position = teacher_chunks_read(model)->positions[teacher];
	Digest			 digest;

	certificate_digest_begin(&digest, certificate, others ? "other teachers" : "teacher");
	for (int i = 0; i < nmembers; i++)
		if ((i == position) != others)
			add_member(&digest, &members[i]);
	return end_digest(&digest);
}

/* ---------- the document ---------- */

static void
append_pair(StringInfo json, const char *key, const char *value)
{
	appendStringInfo(json, "%s\"%s\": ", json->data[json->len - 1] == '{' ? "" : ", ", key);
	if (value == NULL)
		appendStringInfoString(json, "null");
	else
		escape_json(json, value);
}

const char *
renewal_how(const Renewal *renewal)
{
	const ModelRecord *model = renewal->before;

	if (renewal->before == renewal->after)
		return "created since, from rows without the unit";
	if (renewal->teacher == TEACHERS_NONE)
		return "held out: the model never sees the unit";
	if (!model->mechanism->asks_teachers)
		return model->mechanism->charge_kind == CHARGE_ONCE
				   ? "trained again: a new draw, which is charged anew"
				   : "trained again";
	if (renewal->one)
		return "the unit's teacher is fitted again";
	return "all teachers whose rows have changed are fitted again";
}

static void
append_teachers(StringInfo json, const Certificate *certificate, const Renewal *renewal)
{
	const ModelRecord *before = renewal->before;
	const ModelRecord *after = renewal->after;
	char			  *others = teachers_digest(certificate, after, renewal->teacher, true);

	if (teacher_chunks_read(before) == NULL)
		return;
	append_pair(json, "teacher_before",
				teachers_digest(certificate, before, renewal->teacher, false));
	append_pair(json, "teacher_after",
				teachers_digest(certificate, after, renewal->teacher, false));
	if (!renewal->one)
		return;
	if (strcmp(others, teachers_digest(certificate, before, renewal->teacher, true)) != 0)
		elog(ERROR, "teachers of model \"%s\" that never saw the unit have changed", after->name);
	appendStringInfo(json, ", \"other_teachers\": %d", after->spec.teachers - 1);
	append_pair(json, "others_before_and_after", others);
}

char *
renewal_json(const Certificate *certificate, const Renewal *renewal)
{
	const ModelRecord *before = renewal->before;
	const ModelRecord *after = renewal->after ? renewal->after : before;
	StringInfoData	   json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_pair(&json, "model", before->name);
	append_pair(&json, "mechanism", before->mechanism->name);
	append_pair(&json, "how", renewal_how(renewal));
	appendStringInfo(&json,
					 ", \"version_before\": %d, \"version_after\": %d"
					 ", \"training_before\": " INT64_FORMAT ", \"training_after\": " INT64_FORMAT,
					 before->version, after->version, before->training_id, after->training_id);
	append_pair(&json, "digest_before", version_digest(certificate, before));
	append_pair(&json, "digest_after", version_digest(certificate, after));
	if (renewal->after != NULL && renewal->teacher >= 0)
		append_teachers(&json, certificate, renewal);
	appendStringInfoChar(&json, '}');
	return json.data;
}

char *
certificate_document(const Certificate *certificate, const ProtectedRelation *protected,
					 const UnitValue   *unit)
{
	char		   nonce[2 * CERTIFICATE_NONCE_BYTES + 1];
	StringInfoData json;

	nonce[hex_encode((const char *) certificate->nonce, CERTIFICATE_NONCE_BYTES, nonce)] = '\0';
	initStringInfo(&json);
	appendStringInfo(&json, "{\"certificate\": " INT64_FORMAT, certificate->certificate_id);
	append_pair(&json, "relation", relation_sql_name(protected->relid));
	append_pair(&json, "forgotten_at", timestamptz_to_str(GetCurrentTimestamp()));
	append_pair(&json, "nonce", nonce);
	append_pair(&json, "unit", unit_digest(certificate, unit));
	appendStringInfoString(&json, ", \"stays\": [], \"models\": []}");
	return json.data;
}

static Datum
jsonb_of_text(const char *json)
{
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json));
}

Jsonb *
certificate_with_model(Jsonb *document, const char *model)
{
	Datum path[] = {CStringGetTextDatum("models"), CStringGetTextDatum("-1")};
	Datum array = PointerGetDatum(construct_array(path, 2, TEXTOID, -1, false, TYPALIGN_INT));

	return DatumGetJsonbP(DirectFunctionCall4(jsonb_insert, JsonbPGetDatum(document), array,
											  jsonb_of_text(model), BoolGetDatum(true)));
}

void
certificate_complete(const Certificate *certificate, Jsonb *document)
{
	char *digest = certificate_write(certificate, document, true);

	ledger_put_certificate(certificate->relation_id, certificate->certificate_id, digest);
}

void
certificate_mark_salt(const Certificate *certificate, uint8 salt[TEACHER_SALT_BYTES])
{
	uint8  result[DIGEST_BYTES];
	Digest digest;

	certificate_digest_begin(&digest, certificate, "mark");
	digest_end(&digest, result);
	memcpy(salt, result, TEACHER_SALT_BYTES);
}

/* ---------- requests ---------- */

/* The owner of the relation or, if it is no more, who was, by number and name. */
static bool
owns_certificate(const Certificate *certificate)
{
	return superuser() ||
		   (OidIsValid(certificate->owner) && has_privs_of_role(GetUserId(), certificate->owner));
}

/* Whoever does not own the relation does not learn whether there is such a certificate. */
static Certificate *
own_certificate(int64 certificate_id)
{
	Certificate *certificate = certificate_get(certificate_id);

	if (certificate == NULL || !owns_certificate(certificate))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("certificate " INT64_FORMAT " does not exist", certificate_id),
				errhint("Certificates are for the owner of the table; privpred.forget says their "
						"numbers."));
	return certificate;
}

static void
check_complete(const Certificate *certificate)
{
	StringInfoData list;
	ListCell	  *cell;

	if (certificate->complete)
		return;
	initStringInfo(&list);
	foreach(cell, forget_waits_for(certificate->certificate_id))
		appendStringInfo(&list, "%s\"%s\"", list.len > 0 ? ", " : "", (char *) lfirst(cell));
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("certificate " INT64_FORMAT " is not complete", certificate->certificate_id),
			errdetail("Models that were not trained without the unit since: %s.", list.data),
			errhint("Run privpred.retrain for each."));
}

Jsonb *
request_certificate(int64 certificate_id)
{
	Certificate *certificate = own_certificate(certificate_id);
	char		*head;
	int64		 entry;

	check_complete(certificate);
	if (!ledger_find_certificate(certificate_id, certificate_text_digest(certificate->document),
								 &entry, &head))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("certificate " INT64_FORMAT " is not in the ledger", certificate_id),
				errdetail("The transaction that forgot the unit has not committed."),
				errhint("Commit it; if it is, see privpred.verify_ledger()."));
	return DatumGetJsonbP(DirectFunctionCall2(
		jsonb_concat, JsonbPGetDatum(certificate->document),
		jsonb_of_text(psprintf("{\"ledger\": {\"entry\": " INT64_FORMAT ", \"head\": \"%s\"}}",
							   entry, head))));
}

static char *
text_at(Jsonb *document, const char *key)
{
	JsonbValue	storage;
	JsonbValue *value =
		JB_ROOT_IS_OBJECT(document)
			? getKeyJsonValueFromContainer(&document->root, key, strlen(key), &storage)
			: NULL;

	if (value == NULL)
		return NULL;
	if (value->type == jbvString)
		return pnstrdup(value->val.string.val, value->val.string.len);
	if (value->type == jbvNumeric)
		return DatumGetCString(
			DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
	return NULL;
}

/* A part that is an object or an array; NULL: there is none. */
static Jsonb *
part_at(Jsonb *document, const char *key)
{
	JsonbValue	storage;
	JsonbValue *value =
		JB_ROOT_IS_OBJECT(document)
			? getKeyJsonValueFromContainer(&document->root, key, strlen(key), &storage)
			: NULL;

	return value != NULL && value->type == jbvBinary ? JsonbValueToJsonb(value) : NULL;
}

/* A model that still has the version that is certified has what was certified. */
static const char *
model_problem(const Certificate *certificate, Jsonb *entry)
{
	const char	*name = text_at(entry, "model");
	const char	*training = text_at(entry, "training_after");
	const char	*digest = text_at(entry, "digest_after");
	ModelRecord *model;

	if (name == NULL || training == NULL || digest == NULL || !model_exists(name))
		return NULL;
	model = model_get(name);
	if (strcmp(psprintf(INT64_FORMAT, model->training_id), training) != 0)
		return NULL;
	if (strcmp(version_digest(certificate, model), digest) != 0)
		return psprintf("version %d of model \"%s\" is not what was certified", model->version,
						name);
	return NULL;
}

static const char *
models_problem(const Certificate *certificate)
{
	Jsonb	   *models = part_at(certificate->document, "models");
	const char *problem = NULL;

	for (uint32 i = 0; models != NULL && problem == NULL && i < JB_ROOT_COUNT(models); i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(&models->root, i);

		if (value->type == jbvBinary)
			problem = model_problem(certificate, JsonbValueToJsonb(value));
	}
	return problem;
}

/* The first thing that is wrong; NULL: nothing. */
static const char *
certificate_problem(const Certificate *certificate, Jsonb *given, const char *unit, int64 *entry)
{
	Jsonb		 *place = part_at(given, "ledger");
	const char	 *given_head = place ? text_at(place, "head") : NULL;
	LedgerVerdict verdict;
	uint8		  bytes[DIGEST_BYTES];
	char		 *head;

	if (!ledger_find_certificate(certificate->certificate_id, certificate_text_digest(given), entry,
								 &head))
		return "the ledger has no certificate of this text: it was changed, or never given";
	if (given_head == NULL || strcmp(given_head, head) != 0)
		return "its place in the ledger is not the one it says";
	hex_decode(head, 2 * DIGEST_BYTES, (char *) bytes);
	verdict = ledger_verify(bytes, false);
	if (verdict.problem != NULL)
		return psprintf("the ledger does not verify: %s", verdict.problem);
	if (unit != NULL)
	{
		UnitText   text = {1, &unit};
		UnitValue *value = unit_value_of_types(certificate->nunits, certificate->unit_types,
											   certificate->unit_typmods, &text);

		if (strcmp(unit_digest(certificate, value), text_at(certificate->document, "unit")) != 0)
			return "it is about another unit";
	}
	return models_problem(certificate);
}

const char *
request_verify_certificate(Jsonb *given, const char *unit, int64 *entry)
{
	const char	*number = text_at(given, "certificate");
	Certificate *certificate;
	int64		 id = 0;

	if (number != NULL)
		id = strtoll(number, NULL, 10);
	certificate = certificate_get(id);
	/* An owner of what was dropped may be no insider any more. */
	if (certificate == NULL || !owns_certificate(certificate))
		check_insider();
	certificate = own_certificate(id);
	return certificate_problem(certificate, given, unit, entry);
}
