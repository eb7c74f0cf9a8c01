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

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	bool			 flips = model->mechanism == &stable_flip_mechanism;
	StableParameters parameters =
		flips ? stable_flip_parameters(model->spec) : stable_parameters(model->spec);
	DrawnParts parts = {.alpha = share_to_double(parameters.alpha),
						.q = Min(share_to_double(parameters.q), DRAWN_ALWAYS),
						.e = (double) parameters.e / EPSILON_UNITS_PER_ONE};

	if (!flips && (audit->part == DRAWN_FLIP || audit->event == EVENT_SESSION))
		return false;
	if (audit->part == DRAWN_ALL)
		audit->likely = flips ? parts.alpha + (1 - 2 * parts.alpha) * parts.q / 2 : parts.q;
	if (audit->part == DRAWN_ALL && !flips)
	{
		/* Not an epsilon: answers' probabilities move by gamma at most. */
		audit->what = "stability, not privacy";
		audit->claim.delta = stable_gamma(&parameters);
	}
	if (audit->part == DRAWN_HYPOTHESIS)
	{
		audit->what = psprintf("odds move by e = %.4g", parts.e);
		audit->claim.epsilon = parts.e;
	}
	drawn_audit_part(audit, &parts);
	audit->options = psprintf("{\"q\": %.17g, \"e\": %.17g%s}", parts.q, parts.e,
							  flips ? psprintf(", \"alpha\": %.17g", parts.alpha) : "");
	return true;
}

static const AuditUnit with_first[] = {AUDIT_UNIT(1, 0.1, 1), AUDIT_UNIT(1, 0.2, 1),
									   AUDIT_UNIT(1, 0.4, 1), AUDIT_UNIT(1, 0.4, 1)};
static const AuditUnit without_first[] = {AUDIT_UNIT(0, 0, 0), AUDIT_UNIT(1, 0.2, 1),
										  AUDIT_UNIT(1, 0.4, 1), AUDIT_UNIT(1, 0.4, 1)};

/*
 * Of all tables of four units on four points the first loses most: without that
 * unit in the sample, nothing says b so far to the left.
 */
const AuditCase stable_audit_cases[] = {
	{.complete = complete,
	 .part = DRAWN_ALL,
	 .pair = "four units say b; the first is there or not",
	 .table = {{4, with_first}, {4, without_first}},
	 .cut_rows = true,
	 .question = {0.1},
	 .class = 1,
	 .infinite = true},
	{DRAWN_CASE(complete, DRAWN_SAMPLE), .pair = DRAWN_SAMPLE_PAIR},
	{DRAWN_CASE(complete, DRAWN_SAMPLE), .pair = "sample: the same, asked three times in a session",
	 .event = EVENT_SESSION, .events = {"three answers b", "anything else"},
	 .least = AUDIT_MOST_MODELS, .most = AUDIT_MOST_MODELS},
	{DRAWN_CASE(complete, DRAWN_FLIP), .pair = DRAWN_FLIP_PAIR},
	/* The unit's label is turned: odds move by e^e. */
	{.complete = complete,
	 .part = DRAWN_HYPOTHESIS,
	 .pair = "draw: a unit says b or a",
	 .table = {{1, &drawn_says_b}, {1, &drawn_says_a}},
	 .cut_rows = true,
	 .question = {0.5},
	 .class = 1,
	 .infinite = true,
	 .claim.test = TEST_RANGE,
	 .likely = 0.6},
	{0},
};
