/*
 * test_threshold_draw.c
 *		The draw of the threshold mechanism, along every path of its coins.
 *
 * sources: src/mechanism/threshold/draw.c src/mechanism/vote/draw.c
 */
#include "c.h"

#include "fake_coins.h"
#include "mechanism/threshold/draw.h"
#include "mechanism/vote/draw.h"
#include "unit.h"

typedef struct Case
{
	WalkLink	  link;
	ThresholdStep step;
	int32		  steps;
} Case;

static int64
draw(const void *argument)
{
	const Case *c = argument;

	return threshold_draw(c->link, &c->step, c->steps);
}

/* ---------- several classes or columns ---------- */

typedef struct ManyCase
{
	bool  infinite;
	int64 most;
	int32 scores[3];
} ManyCase;

static int64
draw_many(const void *argument)
{
	const ManyCase *c = argument;

	trials_left = c->infinite ? -1 : 1;
	return score_draw_within(c->infinite, EPSILON_UNITS_PER_ONE, c->most, 3, c->scores);
}

static void
test_many(bool infinite, int64 most)
{
	int wrong = 0;

	for (int32 second = 0; second <= 12; second += 3)
		for (int32 third = -4; third <= 12; third += 4)
		{
			ManyCase	c = {infinite, most, {0, second, third}};
			double		probability[3];
			Enumeration found;

			enumerate(draw_many, &c, 1e-12, &found);
			score_distribution_within(infinite, EPSILON_UNITS_PER_ONE, most, 3, c.scores,
									  probability);
			for (int i = 0; i < 3; i++)
				wrong += !agrees(&found, i, probability[i]);
		}
	trials_left = -1;
	ok(wrong == 0, "three classes, scores that move by " INT64_FORMAT ", %s: drawn as claimed",
	   most, infinite ? "permute-and-flip" : "exponential");
}

int
main(void)
{
	for (int64 most = 1; most <= 4; most += 3)
	{
		test_many(true, most);
		test_many(false, most);
	}
	for (int link = 0; link < WALK_LINKS; link++)
		for (int rows = 1; rows <= 4; rows += 3)
		{
			int wrong = 0;

			for (int32 steps = -30; steps <= 30; steps++)
			{
				Case		c = {link, {EPSILON_UNITS_PER_ONE / 5, rows}, steps};
				double		yes = threshold_probability(link, &c.step, steps);
				Enumeration found;

				enumerate(draw, &c, 1e-12, &found);
				wrong += !agrees(&found, 1, yes) || !agrees(&found, 0, 1 - yes) ||
						 found.unresolved > 1e-11;
			}
			ok(wrong == 0, "%s link, %d rows a unit: drawn as claimed",
			   link == WALK_LAPLACE ? "Laplace" : "logistic", rows);
		}
	return done();
}
