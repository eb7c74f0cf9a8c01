/*
 * audit.c
 *		Audit cases of "littlestone": one batch more or less gives a hypothesis.
 *
 * The class has two points, a and b, and all labellings of them: four of two classes,
 * and once more nine of three.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/audit.h"
#include "mechanism/littlestone/littlestone.h"

#define HISTOGRAM_DELTA 0.05
#define MOST_UNITS 1000 /* of a made-up table */

static uint64			 all_labellings[] = {0xa, 0xc};
static const FiniteClass two_points = {.nhypotheses = 4, .npoints = 2, .columns = all_labellings};

static uint64			 nine_labellings[] = {0x92, 0x38, 0x124, 0x1c0};
static const FiniteClass three_classes = {
	.nhypotheses = 9, .npoints = 2, .columns = nine_labellings, .planes = 2};

/* The first unit says "first_says" of b; the others say the class of a point. */
static AuditTable
table(int nunits, int first_says, double point, int class)
{
	AuditUnit *units = palloc_array(AuditUnit, nunits);

	for (int i = 0; i < nunits; i++)
		units[i] = (AuditUnit) AUDIT_UNIT(1, i == 0 ? 1 : point, i == 0 ? first_says : class);
	return (AuditTable){nunits, units};
}

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	EpsilonUnits half = model->spec->epsilon / 2;
	double		 rate = (double) half / 2 / EPSILON_UNITS_PER_ONE; /* of the choice */
	int			 threshold = (int) histogram_threshold(half, HISTOGRAM_DELTA);
	double		 of_one_batch = 1 + ceil(10 / rate);
	int			 nunits = audit->one_place ? (int) Min(of_one_batch, MOST_UNITS) : threshold + 1;
	Charge		*charge = palloc_object(Charge);

	*charge = model->finite;
	charge->delta = HISTOGRAM_DELTA;
	audit->charge = charge;
	if (of_one_batch > MOST_UNITS)
	{
		audit->pair = "one batch has rows";
		audit->not_compared = "needs too many units";
		return audit->one_place;
	}
	audit->places = audit->declared_units = threshold + (audit->one_place ? 1 : 2);
	audit->table[0] = table(nunits, audit->class, audit->one_place ? 0 : 1, audit->class);
	audit->table[1] = table(nunits, 0, audit->one_place ? 0 : 1, audit->class);
	audit->options = psprintf("{\"class_table\": \"made up\", \"batches\": %d, \"delta\": %g}",
							  audit->places, HISTOGRAM_DELTA);
	return true;
}

#define ASK_B .complete = complete, .finite_class = &two_points, .question = {1}, .class = 1

/*
 * One unit alone says b of b: that hypothesis is given by one batch or by none.  If
 * it is kept, it is chosen, as all others are wrong about the many units that say b
 * of a.  The other case is what the threshold's noise is for.
 */
const AuditCase littlestone_audit_cases[] = {
	{ASK_B, .pair = "one batch has rows, and one of its units tells its hypothesis",
	 .one_place = true},
	{ASK_B, .pair = "batches that give a hypothesis: one more than the threshold, or as many"},
	{.pair = "one batch has rows, and a unit tells its hypothesis of three classes",
	 .complete = complete,
	 .finite_class = &three_classes,
	 .nclasses = 3,
	 .question = {1},
	 .class = 2,
	 .one_place = true},
	{0},
};
