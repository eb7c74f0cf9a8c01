/*
 * audit_units.c
 *		Audits of mechanisms that answer from units: thresholds, hypotheses drawn
 *		afresh, scores with noise.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/drawn.h"
#include "request/audit.h"

#define MOST_ROWS 16 /* of a made-up unit */

static const char *const answers_b_first[] = {"answer b", "answer a"};

static double
real(EpsilonUnits units)
{
	return (double) units / EPSILON_UNITS_PER_ONE;
}

static int
draw_b_first(void *table)
{
	return 1 - made_up_answer(table);
}

/* As many rows as a unit may have, and as many again, to be cut. */
static void
add_unit(MadeUp *table, int64 unit, double x, double label)
{
	for (int i = 0; i < 2 * Max(table->record.spec.max_rows_per_unit, 1); i++)
		made_up_row(table, unit, x, label);
}

static void
prepare(MadeUp *table, double x, bool order_is_infinite)
{
	made_up_read(table);
	made_up_train(table);
	made_up_load(table);
	table->x[0] = x;
	table->receipt = ledger_audit_receipt(&table->record, order_is_infinite);
}

static MadeUp *
units_table(const Audit *audit, const Mechanism *mechanism, const char *options)
{
	MadeUp *table = made_up_create(audit, mechanism, false, 2, options);

	table->record.spec.max_rows_per_unit =
		Max(1, Min(audit->model->spec.max_rows_per_unit, MOST_ROWS));
	return table;
}

/* ---------- threshold ---------- */

void
audit_threshold(Audit *audit)
{
	MadeUp *like =
		units_table(audit, &threshold_mechanism,
					psprintf("{\"alpha\": %.17g}",
							 option_number(&audit->model->spec, "alpha", WALK_DEFAULT_ALPHA,
										   WALK_MIN_ALPHA, WALK_MAX_ALPHA)));

	for (int infinite = 1; infinite >= 0; infinite--)
	{
		AuditCase compare = {.events = answers_b_first,
							 .outputs = 2,
							 .likely = 0.5,
							 .most = AUDIT_MOST_ANSWERS,
							 .draw = draw_b_first};

		/* The walk ends at 0 or at -epsilon; for odds at epsilon/2 or -epsilon/2. */
		compare.pair = infinite ? "a unit below x says b or a, another says a; pure account"
								: "the only unit below x says b or a; approximate account";
		compare.charge = infinite ? &audit->price.infinite : &audit->price.finite;
		for (int i = 0; i < 2; i++)
		{
			MadeUp *table = made_up_like(like);

			add_unit(table, 1, 0.25, i == 0 ? 1 : 0);
			if (infinite)
				add_unit(table, 2, 0.5, 0);
			prepare(table, 0.75, infinite);
			compare.table[i] = table;
		}
		audit_compare(audit, &compare);
	}
}

/* ---------- hypotheses drawn afresh ---------- */

/*
 * A proof's epsilon may be above what tables show; its parts are not.  Each is
 * asked with the others out of the way: a draw or a vote at CERTAIN is as good
 * as none, so is a flip of RARELY, and a sample of ALWAYS.
 */
#define CERTAIN 20.0
#define RARELY 1e-6
#define ALWAYS 0.999999
#define MOST_CHUNKS 1001
#define SESSION_ANSWERS 3

/* What a mechanism draws with. */
typedef struct Parts
{
	const Mechanism *mechanism;
	double			 alpha;
	double			 q;
	double			 e; /* of the draw and, of "relabel", of the vote: kappa */
	int				 chunks;
} Parts;

static MadeUp *
parts_table(const Audit *audit, const Parts *parts, int most_units)
{
	StringInfoData options;
	MadeUp		  *table;

	initStringInfo(&options);
	appendStringInfo(&options, "{\"q\": %.17g", parts->q);
	if (parts->mechanism != &stable_mechanism)
		appendStringInfo(&options, ", \"alpha\": %.17g", parts->alpha);
	if (parts->mechanism == &relabel_mechanism)
		appendStringInfo(&options, ", \"kappa\": %.17g, \"j\": 1, \"n_max\": %d, \"chunks\": %d}",
						 parts->e, most_units, parts->chunks);
	else
		appendStringInfo(&options, ", \"e\": %.17g}", parts->e);
	table = units_table(audit, parts->mechanism, options.data);
	/* What no epsilon of the model would allow is asked, too. */
	table->record.spec.epsilon = EPSILON_PER_ANSWER_MAX * EPSILON_UNITS_PER_ONE;
	return table;
}

/* One unit, which says b of itself, or does not, or is not there. */
static MadeUp *
one_unit(const Audit *audit, const Parts *parts, bool there, bool says_b)
{
	MadeUp *table = parts_table(audit, parts, 1);

	if (there)
		add_unit(table, 1, 0.5, says_b ? 1 : 0);
	prepare(table, 0.5, true);
	return table;
}

static AuditCase
case_of_b(const char *pair, MadeUp *first, MadeUp *second, double likely)
{
	AuditCase compare = {.pair = pair,
						 .events = answers_b_first,
						 .outputs = 2,
						 .likely = likely,
						 .most = AUDIT_MOST_ANSWERS,
						 .draw = draw_b_first,
						 .table = {first, second}};

	return compare;
}

/* Are all answers of a session b?  It loads the model, so nothing is left of others. */
static int
draw_session(void *argument)
{
	MadeUp *table = argument;
	int		others = 0;

	made_up_load(table);
	for (int i = 0; i < SESSION_ANSWERS; i++)
		others += made_up_answer(table) != 1 ? 1 : 0;
	return others > 0 ? 1 : 0;
}

/* Of no unit an answer is b by the flip alone; of one, with its share of samples. */
static void
audit_sample(Audit *audit, const Parts *parts)
{
	static const char *const sessions[] = {"three answers b", "anything else"};
	Parts					 certain = *parts;
	double					 moved = (1 - 2 * parts->alpha) * parts->q;
	bool					 flips = parts->alpha > 0;
	AuditClaim				 claim = {.test = TEST_RATIO,
									  .epsilon = flips ? log1p(moved / parts->alpha) : 0,
									  .delta = flips ? 0 : parts->q};
	const char				*what = psprintf("at most the share q = %.4g is sampled", parts->q);
	AuditCase				 compare;

	certain.e = CERTAIN;
	certain.chunks = 1;
	compare =
		case_of_b("sample: a unit says b, or is not there", one_unit(audit, &certain, true, true),
				  one_unit(audit, &certain, false, false), parts->alpha + moved);
	audit_compare_claim(audit, &compare, &claim, what);
	if (parts->mechanism != &stable_flip_mechanism)
		return;

	/* Answers are drawn afresh, or composition does not cover them. */
	claim.epsilon *= SESSION_ANSWERS;
	compare.mistake = log1p(parts->q * (pow(1 / parts->alpha - 1, SESSION_ANSWERS) - 1));
	compare.pair = "sample: the same, asked three times in a session";
	compare.events = sessions;
	compare.likely = moved;
	compare.least = compare.most = AUDIT_MOST_MODELS;
	compare.draw = draw_session;
	audit_compare_claim(audit, &compare, &claim, "three times that");
}

static void
audit_flip(Audit *audit, const Parts *parts)
{
	Parts	   certain = *parts;
	AuditClaim claim = {.test = TEST_RATIO, .epsilon = log((1 - parts->alpha) / parts->alpha)};
	AuditCase  compare;

	certain.e = CERTAIN;
	certain.q = ALWAYS;
	certain.chunks = 1;
	compare =
		case_of_b("flip: always b, or never, but for it", one_unit(audit, &certain, true, true),
				  one_unit(audit, &certain, false, false), 1 - parts->alpha);
	audit_compare_claim(audit, &compare, &claim,
						psprintf("at least the share alpha = %.4g is flipped", parts->alpha));
}

static Parts
parts_of(const Mechanism *mechanism, const StableParameters *parameters)
{
	Parts parts = {.mechanism = mechanism,
				   .alpha = share_to_double(parameters->alpha),
				   .q = Min(share_to_double(parameters->q), ALWAYS),
				   .e = real(parameters->e)};

	return parts;
}

/* One unit with its label turned: odds move by e^e. */
static void
audit_drawn(Audit *audit, const Parts *parts)
{
	Parts	   alone = *parts;
	AuditClaim claim = {.test = TEST_RANGE, .epsilon = parts->e};
	AuditCase  compare;

	alone.alpha = RARELY;
	alone.q = ALWAYS;
	compare = case_of_b("draw: a unit says b or a", one_unit(audit, &alone, true, true),
						one_unit(audit, &alone, true, false), 0.6);
	audit_compare_claim(audit, &compare, &claim, psprintf("odds move by e = %.4g", parts->e));
}

/* ---------- stable_flip, stable ---------- */

/*
 * Of all tables of four units on four points this loses most: without the
 * first unit in the sample, nothing says b so far to the left.
 */
static MadeUp *
four_units(const MadeUp *like, bool with_first)
{
	static const double places[] = {0.1, 0.2, 0.4, 0.4};
	MadeUp			   *table = made_up_like(like);

	for (int i = with_first ? 0 : 1; i < lengthof(places); i++)
		add_unit(table, i + 1, places[i], 1);
	prepare(table, 0.1, true);
	return table;
}

void
audit_stable_flip(Audit *audit)
{
	StableParameters parameters = stable_flip_parameters(&audit->model->spec);
	Parts			 parts = parts_of(&stable_flip_mechanism, &parameters);
	MadeUp			*like = parts_table(audit, &parts, 4);
	AuditCase		 compare =
		case_of_b("four units say b; the first is there or not", four_units(like, true),
				  four_units(like, false), parts.alpha + (1 - 2 * parts.alpha) * parts.q / 2);

	compare.charge = &audit->price.infinite;
	audit_compare(audit, &compare);
	audit_sample(audit, &parts);
	audit_flip(audit, &parts);
	audit_drawn(audit, &parts);
}

/* Not an epsilon: answers' probabilities move by gamma at most. */
void
audit_stable(Audit *audit)
{
	StableParameters parameters = stable_parameters(&audit->model->spec);
	Parts			 parts = parts_of(&stable_mechanism, &parameters);
	AuditClaim		 claim = {.test = TEST_RATIO, .epsilon = 0, .delta = stable_gamma(&parameters)};
	MadeUp			*like = parts_table(audit, &parts, 4);
	AuditCase		 compare = case_of_b("four units say b; the first is there or not",
										 four_units(like, true), four_units(like, false), parts.q);

	audit_compare_claim(audit, &compare, &claim, "stability, not privacy");
	audit_sample(audit, &parts);
	audit_drawn(audit, &parts);
}

/* ---------- relabel ---------- */

/* A unit for each of some chunks; so many of them say b, and the rest a. */
static MadeUp *
chunks_table(const Audit *audit, const Parts *parts, int units, int saying_b)
{
	MadeUp *table = parts_table(audit, parts, Max(units, 1));
	int64  *ids = made_up_ids(table, parts->chunks);

	for (int i = 0; i < units; i++)
		add_unit(table, ids[i], 0.5, i < saying_b ? 1 : 0);
	prepare(table, 0.5, true);
	return table;
}

/* A group of as many units as there are chunks: kappa for each. */
static void
audit_relabel_vote(Audit *audit, const Parts *parts)
{
	Parts	   alone = *parts;
	AuditClaim claim = {.test = TEST_RATIO};
	AuditCase  compare;

	alone.alpha = RARELY;
	alone.q = ALWAYS;
	alone.chunks = (int) Min(Max(ceil(2 / parts->e), 1), MOST_CHUNKS);
	claim.epsilon = parts->e * alone.chunks;
	compare = case_of_b(psprintf("vote: all of %d chunks say b, or none", alone.chunks),
						chunks_table(audit, &alone, alone.chunks, alone.chunks),
						chunks_table(audit, &alone, 0, 0), 0.75);
	compare.least = AUDIT_MOST_MODELS;
	audit_compare_claim(audit, &compare, &claim,
						psprintf("a vote at kappa = %.4g for each chunk", parts->e));
}

/*
 * Half of the units say b, or one more: weights of both stumps move by e^kappa.
 * At a kappa of 1, where it shows, the chunks are enough for a certain vote.
 */
static void
audit_relabel_drawn(Audit *audit, const Parts *parts)
{
	Parts	   alone = *parts;
	AuditClaim claim = {.test = TEST_RANGE, .epsilon = 2};
	AuditCase  compare;

	alone.alpha = RARELY;
	alone.q = ALWAYS;
	alone.e = 1;
	alone.chunks = 40;
	compare = case_of_b("draw: half of 40 units say b, or one more",
						chunks_table(audit, &alone, alone.chunks, alone.chunks / 2),
						chunks_table(audit, &alone, alone.chunks, alone.chunks / 2 + 1), 0.8);
	audit_compare_claim(audit, &compare, &claim, "weights move by e^kappa, kappa = 1");
}

void
audit_relabel(Audit *audit)
{
	RelabelParameters parameters = relabel_parameters(&audit->model->spec);
	Parts			  parts = {.mechanism = &relabel_mechanism,
							   .alpha = share_to_double(parameters.alpha),
							   .q = share_to_double(parameters.q),
							   .e = real(parameters.kappa)};

	audit_not_compared(audit, "any",
					   "the proof's bound is above what tables show; its parts follow",
					   &audit->price.infinite);
	audit_sample(audit, &parts);
	audit_flip(audit, &parts);
	audit_relabel_vote(audit, &parts);
	audit_relabel_drawn(audit, &parts);
}

/* ---------- stable_erm ---------- */

/*
 * Huber's loss, one unit at a corner, with its label turned: the score moves by
 * all that is charged for, from 1/2 to -1/2.  R^2 = 5/4, slopes up to 1/4.
 */
#define HUBER_CASE "{\"huber\": 0.25, \"lambda\": 0.0625}"
#define HUBER_UNITS 10

typedef struct ScoreAbove
{
	MadeUp *table;
	double	bound;
} ScoreAbove;

static int
draw_score(void *argument)
{
	ScoreAbove *above = argument;
	MadeUp	   *table = above->table;
	double		score;

	(void) mechanism_score(table->record.mechanism, table->receipt, &table->model, table->x, 0,
						   &score);
	return score >= above->bound ? 0 : 1;
}

static void
compare_scores(Audit *audit, bool infinite, double bound, const char *const *events, double likely)
{
	AuditCase compare = {.events = events,
						 .outputs = 2,
						 .likely = likely,
						 .most = AUDIT_MOST_ANSWERS,
						 .draw = draw_score};

	compare.pair = infinite ? "the only unit's label is 1 or -1; pure account"
							: "the only unit's label is 1 or -1; approximate account";
	compare.charge = infinite ? &audit->price.infinite : &audit->price.finite;
	for (int i = 0; i < 2; i++)
	{
		ScoreAbove *above = palloc0_object(ScoreAbove);

		above->bound = bound;
		above->table = made_up_create(audit, &stable_erm_mechanism, false, 0, HUBER_CASE);
		above->table->record.spec.declared_units = HUBER_UNITS;
		add_unit(above->table, 1, 1, i == 0 ? 1 : -1);
		prepare(above->table, 1, infinite);
		compare.table[i] = above;
	}
	audit_compare(audit, &compare);
}

void
audit_stable_erm(Audit *audit)
{
	static const char *const own[] = {"above the first table's score", "below it"};
	static const char *const middle[] = {"above the middle", "below it"};

	compare_scores(audit, true, 0.5, own, 0.5);
	compare_scores(audit, false, 0, middle, 0.6);
}
