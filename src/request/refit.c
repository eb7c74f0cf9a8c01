/*
 * refit.c
 *		From teachers that were fitted, and teachers of the version before, to an
 *		ensemble.
 *
 * A teacher is a function of the digest of what it was fitted on (training_fit.c), so
 * that one whose digest is known from the version before is taken from there.  The
 * result is, byte for byte, what fitting all of them makes.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "request/train.h"

struct Refit
{
	const ModelRecord *model;
	LearnerOptions	   options;
	TeacherChunks	  *old;			/* NULL: there is none, or nothing of it is to be kept */
	PredictorMember	  *old_members; /* by position */
	const uint8		 **known;		/* digests of old, in order */
	int				  *known_teacher;
	int				   nknown;
	PredictorMember	  *members; /* by teacher, as far as they have come */
	TeacherChunks	  *chunks;
};

typedef struct KnownDigest
{
	const uint8 *digest;
	int			 teacher;
} KnownDigest;

static int
compare_known(const void *a, const void *b)
{
	return memcmp(((const KnownDigest *) a)->digest, ((const KnownDigest *) b)->digest,
				  DIGEST_BYTES);
}

static void
sort_known(Refit *refit)
{
	const TeacherChunks *old = refit->old;
	KnownDigest			*known = palloc_array(KnownDigest, old->teachers);

	for (int i = 0; i < old->teachers; i++)
		if (!chunk_is_empty(old, i))
			known[refit->nknown++] = (KnownDigest){old->digests[i], i};
	qsort(known, refit->nknown, sizeof(KnownDigest), compare_known);
	refit->known = palloc_array(const uint8 *, old->teachers);
	refit->known_teacher = palloc_array(int, old->teachers);
	for (int i = 0; i < refit->nknown; i++)
	{
		refit->known[i] = known[i].digest;
		refit->known_teacher[i] = known[i].teacher;
	}
	pfree(known);
}

Refit *
refit_begin(const ModelRecord *model, int teacher)
{
	Refit *refit = palloc0_object(Refit);
	int	   nmembers;

	refit->model = model;
	learner_parse_options(model->learner, learner_options(model), &refit->options);
	refit->members = palloc0_array(PredictorMember, model->spec.teachers);
	refit->chunks = teacher_chunks_create(model->spec.teachers);
	refit->old = teacher_chunks_read(model);
	if (refit->old == NULL)
	{
		if (teacher >= 0)
			elog(ERROR, "model \"%s\" does not say which teacher is which", model->name);
		return refit;
	}
	refit->old_members = predictor_members(model->predictor, &nmembers);
	if (nmembers != model->spec.teachers)
		elog(ERROR, "model \"%s\" has %d members", model->name, nmembers);
	/* What an owner's own code makes of the same rows may change. */
	if (!model->learner->runs_user_code)
		sort_known(refit);
	if (teacher >= 0)
		for (int i = 0; i < model->spec.teachers; i++)
			if (i != teacher && !chunk_is_empty(refit->old, i))
			{
				refit->members[i] = refit->old_members[refit->old->positions[i]];
				memcpy(refit->chunks->digests[i], refit->old->digests[i], DIGEST_BYTES);
			}
	return refit;
}

QueryArgument
refit_known(const Refit *refit)
{
	bytea *known = palloc(VARHDRSZ + refit->nknown * DIGEST_BYTES);

	SET_VARSIZE(known, VARHDRSZ + refit->nknown * DIGEST_BYTES);
	for (int i = 0; i < refit->nknown; i++)
		memcpy(VARDATA(known) + i * DIGEST_BYTES, refit->known[i], DIGEST_BYTES);
	return ARG(BYTEAOID, PointerGetDatum(known));
}

static PredictorMember
known_member(const Refit *refit, const uint8 *digest)
{
	int low = 0;
	int high = refit->nknown;

	while (low < high)
	{
		int middle = low + (high - low) / 2;
		int order = memcmp(refit->known[middle], digest, DIGEST_BYTES);

		if (order == 0)
			return refit->old_members[refit->old->positions[refit->known_teacher[middle]]];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	elog(ERROR, "a teacher is neither fitted nor known");
}

void
refit_take(Refit *refit, int teacher, bytea *taught)
{
	const uint8 *digest = (const uint8 *) VARDATA_ANY(taught);
	Size		 size = VARSIZE_ANY_EXHDR(taught);

	if (size < DIGEST_BYTES || teacher < 0 || teacher >= refit->model->spec.teachers)
		elog(ERROR, "invalid teacher");
	memcpy(refit->chunks->digests[teacher], digest, DIGEST_BYTES);
	if (size > DIGEST_BYTES)
	{
		Predictor *predictor = predictor_from_bytes((const char *) digest + DIGEST_BYTES,
													size - DIGEST_BYTES, ERRCODE_INTERNAL_ERROR);
		int		   nmembers;

		refit->members[teacher] = *predictor_members(predictor, &nmembers);
	}
	else
		refit->members[teacher] = known_member(refit, digest);
}

int
refit_end(Refit *refit, ModelRecord *model)
{
	int changed = 0;

	for (int i = 0; i < model->spec.teachers; i++)
		changed += refit->old == NULL || model->learner->runs_user_code ||
				   memcmp(refit->chunks->digests[i], refit->old->digests[i], DIGEST_BYTES) != 0;
	model->predictor = predictor_assemble(model->learner, &refit->options, model->spec.teachers,
										  refit->members, model->features->width,
										  model->spec.default_class, refit->chunks->positions);
	model->chunks = teacher_chunks_write(refit->chunks);
	return changed;
}
