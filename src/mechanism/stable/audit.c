/*
 * audit.c
 *		Audit cases of "stable_flip" and "stable".
 *
 * A proof's epsilon may be above what tables show; its parts are not.  Each is
 * asked with the others out of the way: a draw or a vote at CERTAIN is as good
 * as none, and so are a flip of RARELY and a sample of DRAWN_ALWAYS.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/drawn.h"
#include "mechanism/stable/audit.h"

#define CERTAIN 20.0
#define RARELY 1e-6

const AuditUnit drawn_says_b = AUDIT_UNIT(1, 0.5, 1);
const AuditUnit drawn_says_a = AUDIT_UNIT(1, 0.5, 0);

/* ---------- parts ---------- */

/* Of no unit an answer is b by the flip alone; of one, with its share of samples. */
static void
ask_for_sample(AuditCase *audit, DrawnParts *parts)
{
	double alpha = parts->alpha;
	double moved = (1 - 2 * alpha) * parts->q;

	parts->e = CERTAIN;
	audit->what = psprintf("at most the share q = %.4g is sampled", parts->q);
	audit->likely = alpha + moved;
	if (alpha > 0)
		audit->claim.epsilon = log1p(moved / alpha);
	else
		audit->claim.delta = parts->q;
	if (audit->event != EVENT_SESSION)
		return;

	/* Answers are drawn afresh, or composition does not cover them. */
	audit->what = "three times that";
	audit->likely = moved;
	audit->claim.epsilon *= AUDIT_SESSION_ANSWERS;
	audit->mistake = log1p(parts->q * (pow(1 / alpha - 1, AUDIT_SESSION_ANSWERS) - 1));
}

static void
ask_for_flip(AuditCase *audit, DrawnParts *parts)
{
	parts->e = CERTAIN;
	parts->q = DRAWN_ALWAYS;
	audit->what = psprintf("at least the share alpha = %.4g is flipped", parts->alpha);
	audit->likely = 1 - parts->alpha;
	audit->claim.epsilon = log((1 - parts->alpha) / parts->alpha);
}

void
drawn_audit_part(AuditCase *audit, DrawnParts *parts)
{
	/* What no epsilon of the model would allow is asked, too. */
	audit->epsilon = EPSILON_PER_ANSWER_MAX * EPSILON_UNITS_PER_ONE;
	switch ((DrawnPart) audit->part)
	{
		case DRAWN_ALL:
			break;
		case DRAWN_SAMPLE:
			ask_for_sample(audit, parts);
			break;
		case DRAWN_FLIP:
			ask_for_flip(audit, parts);
			break;
		case DRAWN_HYPOTHESIS:
		case DRAWN_VOTE:
			parts->alpha = RARELY;
			parts->q = DRAWN_ALWAYS;
			break;
	}
}

/* ---------- cases ---------- */

static DrawnParts
parts_of(const StableParameters *parameters)
{
	return (DrawnParts){.alpha = share_to_double(parameters->alpha),
						.q = Min(share_to_double(parameters->q), DRAWN_ALWAYS),
						.e = (double) parameters->e / EPSILON_UNITS_PER_ONE};
}

/* One unit with its label turned: odds move by e^e. */
static void
claim_odds(AuditCase *audit, double e)
{
	audit->what = psprintf("odds move by e = %.4g", e);
	audit->claim.test = TEST_RANGE;
	audit->claim.epsilon = e;
}

static bool
complete_stable_flip(const AuditedModel *model, AuditCase *audit)
{
	StableParameters parameters = stable_flip_parameters(model->spec);
	DrawnParts		 parts = parts_of(&parameters);

	if (audit->part == DRAWN_ALL)
		audit->likely = parts.alpha + (1 - 2 * parts.alpha) * parts.q / 2;
	if (audit->part == DRAWN_HYPOTHESIS)
		claim_odds(audit, parts.e);
	drawn_audit_part(audit, &parts);
	audit->options =
		psprintf("{\"q\": %.17g, \"alpha\": %.17g, \"e\": %.17g}", parts.q, parts.alpha, parts.e);
	return true;
}

static bool
complete_stable(const AuditedModel *model, AuditCase *audit)
{
	StableParameters parameters = stable_parameters(model->spec);
	DrawnParts		 parts = parts_of(&parameters);

	if (audit->part == DRAWN_ALL)
	{
		/* Not an epsilon: answers' probabilities move by gamma at most. */
		audit->what = "stability, not privacy";
		audit->claim.delta = stable_gamma(&parameters);
		audit->likely = parts.q;
	}
	if (audit->part == DRAWN_HYPOTHESIS)
		claim_odds(audit, parts.e);
	drawn_audit_part(audit, &parts);
	audit->options = psprintf("{\"q\": %.17g, \"e\": %.17g}", parts.q, parts.e);
	return true;
}

/*
 * Of all tables of four units on four points this loses most: without the
 * first unit in the sample, nothing says b so far to the left.
 */
static const AuditUnit with_first[] = {AUDIT_UNIT(1, 0.1, 1), AUDIT_UNIT(1, 0.2, 1),
									   AUDIT_UNIT(1, 0.4, 1), AUDIT_UNIT(1, 0.4, 1)};
static const AuditUnit without_first[] = {AUDIT_UNIT(0, 0, 0), AUDIT_UNIT(1, 0.2, 1),
										  AUDIT_UNIT(1, 0.4, 1), AUDIT_UNIT(1, 0.4, 1)};

#define FOUR_UNITS(function) \
	{ \
		.pair = "four units say b; the first is there or not", .complete = function, \
		.part = DRAWN_ALL, .table = {{4, with_first}, {4, without_first}}, .cut_rows = true, \
		.question = {0.1}, .class = 1, .infinite = true \
	}
#define HYPOTHESIS(function) \
	{ \
		.pair = "draw: a unit says b or a", .table = {{1, &drawn_says_b}, {1, &drawn_says_a}}, \
		.likely = 0.6, DRAWN_CASE(function, DRAWN_HYPOTHESIS) \
	}

const AuditCase stable_flip_audit_cases[] = {
	FOUR_UNITS(complete_stable_flip),
	{DRAWN_SAMPLE_CASE(complete_stable_flip)},
	{.pair = "sample: the same, asked three times in a session",
	 .table = {{1, &drawn_says_b}},
	 .event = EVENT_SESSION,
	 .events = {"three answers b", "anything else"},
	 .least = AUDIT_MOST_MODELS,
	 .most = AUDIT_MOST_MODELS,
	 DRAWN_CASE(complete_stable_flip, DRAWN_SAMPLE)},
	{DRAWN_FLIP_CASE(complete_stable_flip)},
	HYPOTHESIS(complete_stable_flip),
	{0},
};

const AuditCase stable_audit_cases[] = {
	FOUR_UNITS(complete_stable),
	{DRAWN_SAMPLE_CASE(complete_stable)},
	HYPOTHESIS(complete_stable),
	{0},
};
