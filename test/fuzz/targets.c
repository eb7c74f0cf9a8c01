/*
 * targets.c
 *		What is stored as bytes or text: predictors, training states, charges, and the
 *		states of models.
 */
#include "fuzz.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "account/charge.h"
#include "learner/learners.h"
#include "learner/state_format.h"
#include "mechanism/mechanism.h"
#include "server/json_text.h"

#define MEMORY_LIMIT (16 * 1024 * 1024)

/* ---------- predictors ---------- */

static void
ask(const Ensemble *ensemble, double at)
{
	int		width = ensemble_width(ensemble);
	int		nclasses = ensemble_classes(ensemble);
	int		members = ensemble_members(ensemble);
	double *x = palloc(sizeof(double) * width);
	int32  *votes = palloc0(sizeof(int32) * nclasses);
	double *scores = palloc(sizeof(double) * members);
	int64	cast = 0;

	for (int i = 0; i < width; i++)
		x[i] = i % 2 ? at : 1 - at;
	ensemble_vote(ensemble, x, votes);
	for (int i = 0; i < nclasses; i++)
	{
		promise(votes[i] >= 0);
		cast += votes[i];
	}
	promise(cast == members);
	/* Of many classes the first and the last will do. */
	for (int k = 0; k < nclasses; k += Max(nclasses - 1, 1))
	{
		promise(ensemble_scores(ensemble, x, k, scores) == members);
		for (int i = 0; i < members; i++)
			promise(scores[i] >= 0 && scores[i] <= 1);
	}
}

static void
use_predictor(const Predictor *predictor)
{
	Ensemble  *ensemble = ensemble_load(predictor);
	Predictor *packed;

	promise(ensemble_members(ensemble) >= 1 && ensemble_fitted(ensemble) >= 0);
	promise(ensemble_default_class(ensemble) < ensemble_classes(ensemble));
	if (!ensemble_runs_sql(ensemble))
	{
		ask(ensemble, 0);
		ask(ensemble, 0.3);
		ask(ensemble, 1e308);
		if (ensemble_accepts_missing(ensemble))
			ask(ensemble, NAN);
	}
	(void) json_to_jsonb(predictor_json(predictor));
	packed = predictor_pack(1, (Predictor *const[]){(Predictor *) predictor});
	promise(ensemble_members(ensemble_load(packed)) == ensemble_members(ensemble));
	promise(predictor_same_shape(packed, predictor));
}

void
fuzz_predictor(const uint8 *data, Size size)
{
	use_predictor(predictor_from_bytes((const char *) fuzz_exact(data, size), size,
									   ERRCODE_INVALID_TEXT_REPRESENTATION));
}

/* ---------- training states ---------- */

static bool
same_bytes(const bytea *a, const bytea *b)
{
	return VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

/* The checksum is made right, so that what is behind it is reached. */
void
fuzz_state(const uint8 *data, Size size)
{
	unsigned char *bytes = fuzz_exact(data, size);
	TrainingState *state;
	TrainingState *again;
	bytea		  *written;
	Predictor	  *predictor;

	if (size >= STATE_HEADER_SIZE)
		write_u32(bytes + STATE_CRC_OFFSET, state_crc(bytes, size));
	portable_check((const char *) bytes, size, ERRCODE_INVALID_TEXT_REPRESENTATION);
	state = portable_read((const char *) bytes, size, MEMORY_LIMIT);
	written = portable_write(state);
	again = portable_read(VARDATA(written), VARSIZE(written) - VARHDRSZ, MEMORY_LIMIT);
	promise(same_bytes(portable_write(again), written));
	portable_merge(again, portable_read((const char *) bytes, size, MEMORY_LIMIT));
	if (training_learner(state)->prepare == NULL)
	{
		predictor = training_finish(state);
		if (predictor != NULL)
			use_predictor(predictor);
		(void) training_finish(again);
	}
}

/* ---------- charges ---------- */

void
fuzz_charge(const uint8 *data, Size size)
{
	const char *text = fuzz_text(data, size);
	char		written[CHARGE_TEXT_SIZE];
	Charge		charge;
	int64		before = 0;

	if (!charge_from_text(text, &charge))
		return;
	promise(charge_is_valid(&charge));
	promise(charge_to_text(&charge, written) != NULL && strcmp(written, text) == 0);
	for (int order = 2; order <= 512; order *= 2)
	{
		int64 units = charge_units(&charge, (RenyiOrder) order * RENYI_ORDER_ONE);

		/* it costs something, and no less at a higher order */
		promise(units > 0 && units >= before);
		before = units;
	}
	promise(charge_units(&charge, RENYI_ORDER_INFINITE) >= before);
}

/* ---------- states of models ---------- */

static const SpecColumn columns[] = {
	{.name = "a", .min = 0, .max = 1},
	{.name = "b", .min = -5, .max = 70},
};

static const char *const option_texts[] = {
	"{}",
	"{\"class\": \"thresholds\"}",
	"{\"hypotheses\": \"interval\"}",
	"{\"hypotheses\": \"halfspace\"}",
};

/* The first byte says whose, the second what is declared. */
void
fuzz_model(const uint8 *data, Size size)
{
	static char		*classes[] = {"no", "yes"};
	MechanismSpec	 spec = {0};
	MechanismModel	 model = {.spec = &spec, .estimate_draws = 1};
	const Mechanism *mechanism;
	bytea			*state;
	double			 x[] = {0.25, 0.5};
	double			 probability[2];

	if (size < 2)
		return;
	mechanism = mechanism_number(data[0] % 16);
	if (mechanism == NULL || mechanism->load == NULL || mechanism->asks_teachers)
		return;
	spec.mechanism = mechanism;
	spec.epsilon = EPSILON_UNITS_PER_ONE;
	spec.nclasses = data[1] & 1 && mechanism->numeric_labels ? 0 : 2;
	spec.classes = classes;
	spec.label_max = 1;
	spec.width = data[1] & 2 ? 2 : 1;
	spec.columns = columns;
	spec.declared_units = data[1] & 8 ? 20 : 10000;
	spec.max_rows_per_unit = data[1] & 4 ? 3 : 1;
	spec.options = json_to_jsonb(option_texts[data[1] >> 4 & 3]);
	mechanism_validate(mechanism, &spec);
	state = palloc(VARHDRSZ + size - 2);
	SET_VARSIZE(state, VARHDRSZ + size - 2);
	memcpy(VARDATA(state), data + 2, size - 2);
	model.state = mechanism->load(&spec, state);
	if (spec.nclasses == 2 && mechanism->majority != NULL)
	{
		int answer = mechanism->majority(&model, x);

		promise(answer == 0 || answer == 1);
		if (mechanism->distribution != NULL)
		{
			mechanism_distribution(mechanism, true, &model, x, probability);
			promise(fabs(probability[0] + probability[1] - 1) < 1e-9);
		}
	}
	if (mechanism->plain_score != NULL && spec.nclasses == 0)
		promise(isfinite(mechanism->plain_score(&model, x)));
	if (mechanism->export_json != NULL)
		(void) json_to_jsonb(mechanism->export_json(&model));
}
