/*
 * audit.h
 *		What audit cases of "stable_flip", "stable" and "relabel" share.
 */
#ifndef PRIVPRED_STABLE_AUDIT_H
#define PRIVPRED_STABLE_AUDIT_H

#include "mechanism/audit.h"

/* What a mechanism draws with. */
typedef struct DrawnParts
{
	double alpha;
	double q;
	double e; /* of the draw and, of "relabel", of the vote: kappa */
} DrawnParts;

/* Which of them a case is about. */
typedef enum DrawnPart
{
	DRAWN_ALL,
	DRAWN_SAMPLE,
	DRAWN_FLIP,
	DRAWN_HYPOTHESIS,
	DRAWN_VOTE
} DrawnPart;

#define DRAWN_ALWAYS 0.999999 /* as good as a sample of all units */

extern const AuditUnit drawn_says_b;
extern const AuditUnit drawn_says_a;

/* One unit lies at 1/2 and says b, or is not there; what is said of 1/2? */
#define DRAWN_CASE(function, number) \
	.complete = function, .part = number, .table = {{1, &drawn_says_b}}, .cut_rows = true, \
	.question = {0.5}, .class = 1, .infinite = true
#define DRAWN_SAMPLE_PAIR "sample: a unit says b, or is not there"
#define DRAWN_FLIP_PAIR "flip: always b, or never, but for it"

/*
 * Puts all parts but the case's out of the way; what is claimed of samples and
 * flips is filled in.
 */
extern void drawn_audit_part(AuditCase *audit, DrawnParts *parts);

#endif /* PRIVPRED_STABLE_AUDIT_H */
