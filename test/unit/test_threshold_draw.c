/*
 * test_threshold_draw.c
 *		The draw of the threshold mechanism, along every path of its coins.
 *
 * sources: src/mechanism/threshold/draw.c
 */
#include "c.h"

#include "fake_coins.h"
#include "mechanism/threshold/draw.h"
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

int
main(void)
{
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
