/*
 * soft.c
 *		The "soft" mechanism: the score or number that teachers agree on, as the
 *		middle of a bin, where one unit cannot change the bin.
 *
 * Scores that agree may still lie on both sides of an edge; then bins shifted
 * by half are tried, as a test of its own (docs/mechanisms.md, section 6).  So is
 * each class that is asked about: one unit changes one teacher's score of it.
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/audit.h"
#include "mechanism/soft/draw.h"
#include "mechanism/sparse/draw.h"
#include "mechanism/sparse/sparse.h"
#include "mechanism/teachers.h"

static const Option options_of[] = {
	{"precision", OPTION_NUMBER, 1.0 / SOFT_MAX_BINS, 1, 0.1},
	{NULL},
};

static int
bins_of(double precision)
{
	int bins = soft_bins(precision);

	if (bins == 0)
		refuse(errmsg("precision must be 1 divided by a whole number up to %d", SOFT_MAX_BINS),
			   errhint("Ask for 0.1, 0.05 or 0.01, for example."));
	return bins;
}

static double
own_precision(const MechanismSpec *spec)
{
	return option_number(spec->options, options_of);
}

static void
soft_check_precision(const MechanismSpec *spec, double precision)
{
	(void) bins_of(precision);
}

static void
soft_validate(const MechanismSpec *spec)
{
	(void) bins_of(own_precision(spec));
}

static bool
soft_score(const Receipt *receipt, const MechanismModel *model, const double *x, double precision,
		   double *score)
{
	int		bins = bins_of(precision > 0 ? precision : own_precision(model->spec));
	int		nscores = model->spec->teachers;
	double *scores;
	int32	counts[SOFT_MAX_BINS];
	int64	distance;
	bool	stable;
	int		top;

	scores = teachers_numbers(model, x);
	soft_count(bins, nscores, scores, counts);
	distance = sparse_distance(bins, counts, &top);
	RECORD_INPUT("soft", INPUT_STABLE, 1, 2, ((int64[]){distance, top}));
	stable = receipt_stable(receipt, distance);
	*score = soft_middle(bins, top);

	/* A failed test is paid for by itself, and there may be none left. */
	if (!stable && bins > 1 && receipt_failures_left(receipt) > 0)
	{
		soft_count_shifted(bins, nscores, scores, counts);
		distance = sparse_distance(bins - 1, counts, &top);
		RECORD_INPUT("soft_shifted", INPUT_STABLE, 1, 2, ((int64[]){distance, top}));
		stable = receipt_stable(receipt, distance);
		*score = soft_middle_shifted(bins, top);
	}
	*score = label_of_share(model->spec, *score);
	pfree(scores);
	return stable;
}

const Mechanism soft_mechanism = {
	.name = "soft",
	.charge_kind = CHARGE_PER_STREAM,
	.tests = 2,
	.asks_teachers = true,
	.numeric_labels = true,
	.scores_classes = true,
	.options = options_of,
	.validate = soft_validate,
	.charge = stream_charge,
	.score = soft_score,
	.check_precision = soft_check_precision,
	.majority = teachers_majority,
	.plan = &plan_soft,
	.audit_cases = sparse_audit_cases,
};
