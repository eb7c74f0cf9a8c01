/*
 * test_receipt.c
 *		Receipts: nothing is drawn without one, and a stream's carries its test.
 *
 * sources: src/draw/receipt.c src/mechanism/answer.c
 */
#include "postgres.h"

#include <setjmp.h>

#include "draw/receipt_maker.h"
#include "mechanism/accuracy/accuracy.h"
#include "mechanism/describe/describe.h"
#include "mechanism/mechanism.h"
#include "unit.h"

/* ---------- errors, which are caught here ---------- */

static jmp_buf	   caught;
static const char *message;

bool
errstart(int elevel, const char *domain)
{
	return true;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return true;
}

int
errmsg_internal(const char *format, ...)
{
	message = format;
	return 0;
}

void
errfinish(const char *file, int line, const char *function)
{
	longjmp(caught, 1);
}

#define RAISES(expression, text, name) \
	do \
	{ \
		message = ""; \
		if (setjmp(caught) == 0) \
			(void) (expression); \
		ok(strcmp(message, text) == 0, name); \
	} while (0)

/* ---------- a mechanism and a stream ---------- */

static int draws;

static int
count_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	draws++;
	return receipt_order_is_infinite(receipt) ? 1 : 0;
}

static bool
count_score(const Receipt *receipt, const MechanismModel *model, const double *x, double precision,
			double *score)
{
	draws++;
	*score = precision;
	return receipt_stable(receipt, (int64) x[0]);
}

void
describe_draw(const DescribeNoise *noise, int count, Histogram *histograms, LevelSource *levels)
{
	draws++;
}

int64
accuracy_draw(int64 mean, int64 sensitivity, EpsilonUnits epsilon)
{
	draws++;
	return mean;
}

static const Mechanism counts = {.answer = count_answer, .score = count_score};

static bool
above_run(void *run, int64 distance)
{
	return distance > *(int64 *) run;
}

static int64
run_itself(void *run)
{
	return *(int64 *) run;
}

int
main(void)
{
	static const StabilityTest test = {above_run, run_itself};
	int64					   run = 3;
	Receipt					   finite = {.order_is_infinite = false};
	Receipt					   infinite = {.order_is_infinite = true};
	Receipt					   stream = {.test = &test, .run = &run};
	MechanismModel			   model = {0};
	double					   x = 3;
	double					   score = 0;

	RAISES(mechanism_answer(&counts, NULL, &model, &x), "an answer needs a receipt",
		   "no answer without a receipt");
	RAISES(mechanism_score(&counts, NULL, &model, &x, 0, &score), "an answer needs a receipt",
		   "no score without a receipt");
	RAISES((mechanism_describe(NULL, NULL, 0, NULL, NULL), 0), "an answer needs a receipt",
		   "no description without a receipt");
	RAISES(mechanism_accuracy(NULL, 0, 1, 1), "an answer needs a receipt",
		   "no accuracy without a receipt");
	ok(draws == 0, "nothing was drawn");
	mechanism_describe(&finite, NULL, 0, NULL, NULL);
	ok(draws == 1, "a description with one");
	ok(mechanism_accuracy(&infinite, 5, 1, 1) == 5 && draws == 2, "an accuracy with one");
	ok(mechanism_answer(&counts, &finite, &model, &x) == 0, "a receipt of finite order");
	ok(mechanism_answer(&counts, &infinite, &model, &x) == 1, "a receipt of infinite order");
	RAISES(receipt_stable(&finite, 1), "a stability test needs a stream",
		   "a receipt of a lease has no stability test");
	RAISES(receipt_failures_left(&infinite), "a stability test needs a stream",
		   "nor failures that are left");
	ok(!mechanism_score(&counts, &stream, &model, &x, 0.25, &score), "the stream's test is asked");
	x = 4;
	ok(mechanism_score(&counts, &stream, &model, &x, 0.25, &score) && score == 0.25,
	   "about the distance that it is given");
	ok(receipt_failures_left(&stream) == 3, "and for its failures");
	return done();
}
