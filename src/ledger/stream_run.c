/*
 * stream_run.c
 *		Runs of a stream's threshold, one after the other.
 *
 * Nothing but arithmetic and draws: real streams (stream_book.c) and audited
 * ones (request/audit_receipt.c) go through the same.
 */
#include "postgres.h"

#include "ledger/stream.h"
#include "mechanism/sparse/draw.h"

void
stream_run_first(StreamRun *run, const StreamTerms *terms)
{
	run->unstable = terms->unstable;
	run->failed = 0;
	run->epsilon = terms->epsilon;
	run->width = sparse_width(terms->epsilon, terms->delta);
	run->threshold = sparse_threshold(run->epsilon, run->width);
}

bool
stream_run_next(StreamRun *run)
{
	run->failed++;
	if (run->failed >= run->unstable)
		return false;
	run->threshold = sparse_threshold(run->epsilon, run->width);
	return true;
}

int64
stream_noisy_distance(EpsilonUnits epsilon, int64 distance)
{
	return distance + sparse_noise(epsilon);
}
