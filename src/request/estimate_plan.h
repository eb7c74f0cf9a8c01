/*
 * estimate_plan.h
 *		How many questions, and draws for each, an estimate may take.
 *
 * Apart from mechanism.h so that unit tests can drive it alone.  What cannot be
 * summed up is estimated from draws whose mean is right.  The work is bounded:
 * with more questions than it allows, a sample of them is asked.
 */
#ifndef PRIVPRED_ESTIMATE_PLAN_H
#define PRIVPRED_ESTIMATE_PLAN_H

/* Steps of some nanoseconds; fewer questions than these would say nothing. */
#define ESTIMATE_WORK 2e9
#define ESTIMATE_LEAST_ROWS 100
#define ESTIMATE_MOST_DRAWS 8 /* for a question */
#define ESTIMATE_CONFIDENCE 0.99

typedef struct EstimatePlan
{
	int64 rows;	 /* to be asked, of all */
	int	  draws; /* for each of them */
} EstimatePlan;

/* steps: of one draw, about. */
extern EstimatePlan estimate_plan(int64 rows, double steps);

/*
 * What a mean of that many questions may be off by, with the confidence above: of
 * all questions, or of a sample.
 */
extern double estimate_margin(int64 rows, int draws, bool sampled);

#endif /* PRIVPRED_ESTIMATE_PLAN_H */
