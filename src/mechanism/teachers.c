/*
 * teachers.c
 *		Votes and scores of an ensemble, for mechanisms that ask teachers.
 */
#include "postgres.h"

#include "mechanism/teachers.h"
#include "mechanism/vote/draw.h"

void
teachers_votes(const MechanismModel *model, const double *x, int32 *votes)
{
	if (model->votes != NULL)
	{
		memcpy(votes, model->votes, sizeof(int32) * model->spec->nclasses);
		return;
	}
	memset(votes, 0, sizeof(int32) * model->spec->nclasses);
	ensemble_vote(model->ensemble, x, votes);
}

int
teachers_majority(const MechanismModel *model, const double *x)
{
	int32 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	return vote_majority(model->spec->nclasses, votes);
}

/*
 * There is one score for every teacher, or no answer at all: a score that nobody
 * wrote may be what another model left in memory.  Whether this fails does not
 * depend on rows.
 */
double *
teachers_scores(const MechanismModel *model, const double *x)
{
	int		members = ensemble_members(model->ensemble);
	double *scores = palloc0_array(double, members);
	int		class_index = model->score_class > 0 ? model->score_class - 1 : 1;

	if (model->scores != NULL)
		return memcpy(scores, model->scores, sizeof(double) * members);
	if (ensemble_scores(model->ensemble, x, class_index, scores) != members ||
		members != model->spec->teachers)
		ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("the model does not have a score from each of its %d teachers",
					   model->spec->teachers),
				errhint("Train it again with privpred.retrain()."));
	return scores;
}

static double
bin_share(const MechanismSpec *spec, int bin)
{
	double middle = spec->bin_edges[bin] / 2 + spec->bin_edges[bin + 1] / 2;

	return (middle - spec->label_min) / (spec->label_max - spec->label_min);
}

double *
teachers_numbers(const MechanismModel *model, const double *x)
{
	const MechanismSpec *spec = model->spec;
	int32				 votes[PRIVPRED_MAX_CLASSES];
	double				*numbers;
	int					 filled = 0;

	if (spec->bin_edges == NULL)
		return teachers_scores(model, x);
	numbers = palloc0_array(double, spec->teachers);
	teachers_votes(model, x, votes);
	for (int bin = 0; bin < spec->nclasses; bin++)
		for (int i = 0; i < votes[bin] && filled < spec->teachers; i++)
			numbers[filled++] = bin_share(spec, bin);
	return numbers;
}

double
label_of_share(const MechanismSpec *spec, double share)
{
	if (spec->nclasses > 0 && spec->bin_edges == NULL)
		return share;
	return spec->label_min + share * (spec->label_max - spec->label_min);
}
