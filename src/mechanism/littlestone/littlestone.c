/*
 * littlestone.c
 *		The "littlestone" mechanism: a hypothesis that many batches agree on,
 *		released.
 *
 * Units are split into batches by a hash.  Each batch is learnt by a globally
 * stable learner (stable_learner.c), hypotheses that enough batches gave are
 * kept by the stable histogram at half of epsilon, and one of those is chosen by
 * the exponential mechanism at the other half (Bun, Livni and Moran 2020;
 * Xie and Sun, theorem 8).  Privacy needs nothing of the learner but that a
 * batch's result is a function of its own rows and fresh randomness.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "draw/record.h"
#include "mechanism/audit.h"
#include "mechanism/candidates.h"
#include "mechanism/cover/draw.h"
#include "mechanism/littlestone/littlestone.h"
#include "mechanism/mechanism.h"
#include "mechanism/released.h"
#include "server/progress.h"

#define MAX_BATCHES 100000

/* Parts of a batch that a tournament works with have about that many examples. */
#define LEAST_PART 8

enum
{
	CLASS,
	POINTS,
	BATCHES,
	DELTA,
	CLASS_TABLE
};

static const char *const class_names[] = {"thresholds", NULL};

static const Option options_of[] = {
	[CLASS] = CHOICE_OPTION("class", class_names),
	[POINTS] = {"points", OPTION_COUNT, 2, FINITE_MAX_POINTS, 16},
	[BATCHES] = {"batches", OPTION_COUNT}, /* epsilon, delta and units say how many */
	[DELTA] = {"delta", OPTION_NUMBER, 1e-15, 0.5, 1e-7},
	[CLASS_TABLE] = {"class_table", OPTION_NAME},
	{NULL},
};

typedef struct Declaration
{
	const FiniteClass *finite;
	bool			   points_are_columns;
	EpsilonUnits	   half; /* of epsilon: for the histogram, and for the choice */
	int64			   threshold;
	int				   batches;
	int				   dimension;
	int				   depth; /* of tournaments */
	int64			   part;
} Declaration;

/* ---------- what is declared ---------- */

/* In how many ways classes can rise over points; saturates above the limit. */
static int
count_rising(int npoints, int nclasses)
{
	int64 count = 1;

	for (int i = 1; i < nclasses && count <= FINITE_MAX_HYPOTHESES; i++)
		count = count * (npoints + i) / i; /* of npoints from npoints + i */
	return (int) Min(count, FINITE_MAX_HYPOTHESES + 1);
}

/* Hypotheses that say no earlier class of a later point: of two classes, a threshold each. */
static FiniteClass *
make_thresholds(int npoints, int nclasses)
{
	int		 count = count_rising(npoints, nclasses);
	uint64 **rows = palloc_array(uint64 *, count);
	int		*says = palloc0_array(int, npoints);

	for (int h = 0; h < count; h++)
	{
		int p = npoints - 1;

		rows[h] = palloc0_array(uint64, LABELS_WORDS(npoints, nclasses));
		for (int i = 0; i < npoints; i++)
			labels_set(rows[h], npoints, nclasses, i, says[i]);
		while (p > 0 && says[p] == nclasses - 1)
			p--;
		for (int next = says[p] + 1; p < npoints; p++)
			says[p] = next;
	}
	return finite_class_of(count, npoints, nclasses, rows);
}

/* As many points as asked for, by default 16 or as many as make no too large class. */
static int
read_points(const MechanismSpec *spec)
{
	Option option = options_of[POINTS];
	int	   most = (int) option.max;
	int	   points;

	while (most > 1 && count_rising(most, spec->nclasses) > FINITE_MAX_HYPOTHESES)
		most--;
	option.fallback = Max(Min(option.fallback, most), option.min);
	points = (int) option_number(spec->options, &option);
	if (points > most)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("thresholds between %d classes over %d points are more than %d hypotheses",
					   spec->nclasses, points, FINITE_MAX_HYPOTHESES),
				most >= option.min ? errhint("Use fewer classes, or at most %d points.", most)
								   : errhint("Use fewer classes, or name a finite class by option "
											 "\"class_table\"."));
	return points;
}

static void
read_class(const MechanismSpec *spec, Declaration *declaration)
{
	if (option_given(spec->options, "class_table"))
	{
		if (option_given(spec->options, "class") || option_given(spec->options, "points"))
			refuse(
				errmsg("option \"class_table\" cannot be combined with \"class\" and \"points\""),
				errhint("The table says what the points are."));
		declaration->finite = spec->finite_class;
		declaration->points_are_columns = true;
		return;
	}
	if (spec->width != 1 || spec->columns[0].level != NULL)
		refuse(
			errmsg("thresholds need one feature that is a number"),
			errhint("Declare one such feature, or name a finite class by option \"class_table\"."));
	declaration->finite = make_thresholds(read_points(spec), spec->nclasses);
}

static void
read_batches(const MechanismSpec *spec, Declaration *declaration)
{
	int64  threshold = declaration->threshold;
	int64  least = threshold + 1;
	int64  usual = Min(3 * threshold, MAX_BATCHES);
	Option batches = options_of[BATCHES];

	if (least > MAX_BATCHES || least > spec->declared_units)
		refuse(
			errmsg("mechanism \"littlestone\" needs at least " INT64_FORMAT
				   " batches of units at this epsilon and delta",
				   least),
			errdetail("There can be %d, and no more than the " INT64_FORMAT " declared units.",
					  MAX_BATCHES, spec->declared_units),
			errhint(
				"If there are more units, declare them; otherwise use a larger epsilon or delta."));
	batches.min = least;
	batches.max = Min(MAX_BATCHES, spec->declared_units);
	batches.fallback = Max(Min(usual, spec->declared_units), least);
	declaration->batches = (int) option_number(spec->options, &batches);
}

/* As deep as batches of the declared size have parts for (2^(depth+1) - 1 of them). */
static void
plan_tournament(const MechanismSpec *spec, Declaration *declaration)
{
	int64 size = spec->declared_units / declaration->batches;

	declaration->depth = 0;
	while (declaration->depth < declaration->dimension &&
		   (INT64CONST(4) << declaration->depth) * LEAST_PART <= size)
		declaration->depth++;
	declaration->part = Max(size / ((INT64CONST(2) << declaration->depth) - 1), 1);
}

static double
option_delta(const MechanismSpec *spec)
{
	return option_number(spec->options, &options_of[DELTA]);
}

static void
declaration_read(const MechanismSpec *spec, Declaration *declaration)
{
	memset(declaration, 0, sizeof(Declaration));
	read_class(spec, declaration);
	declaration->half = spec->epsilon / 2;
	if (declaration->half == 0)
		refuse(errmsg("epsilon is too small to be halved"),
			   errhint("Useful values lie between 0.1 and 10."));
	declaration->threshold = histogram_threshold(declaration->half, option_delta(spec));
	read_batches(spec, declaration);
	declaration->dimension = littlestone_dimension_of_class(declaration->finite, LITTLESTONE_WORK);
	if (declaration->dimension < 0)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("the Littlestone dimension of the class takes too long to compute"),
				errhint("Use fewer hypotheses, points or classes, or mechanism \"cover\", "
						"which does not need it."));
	plan_tournament(spec, declaration);
}

static void
littlestone_validate(const MechanismSpec *spec)
{
	Declaration declaration;

	declaration_read(spec, &declaration);
}

/* Whether an account has room for delta is the ledger's to decide. */
static bool
littlestone_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	charge->part[0] = (ChargePart){CHARGE_PURE, 1, spec->epsilon / 2};
	charge->part[1] = (ChargePart){CHARGE_BOUNDED_RANGE, 1, spec->epsilon / 2};
	charge->delta = option_delta(spec);
	return true;
}

/* ---------- batches ---------- */

/* Examples that there are. */
static int
count_kinds(const FiniteClass *finite)
{
	return finite->npoints * finite_class_classes(finite);
}

static int
label_words(const FiniteClass *finite)
{
	return LABELS_WORDS(finite->npoints, finite_class_classes(finite));
}

/* Counts, what batches give and what is kept of it, the search: by declarations alone. */
static void
check_memory(const Declaration *declaration, Size memory)
{
	const FiniteClass *finite = declaration->finite;

	Size each = count_kinds(finite) * sizeof(uint32) + 2 * label_words(finite) * sizeof(uint64);

	check_training_memory(
		declaration->batches * each +
			littlestone_memory(finite->nhypotheses, finite->npoints, finite_class_classes(finite)),
		memory);
}

/* How often each example occurs in each batch. */
static uint32 *
count_examples(const MechanismSpec *spec, const Declaration *declaration, UnitSource *units)
{
	int		 nclasses = finite_class_classes(declaration->finite);
	Size	 per_batch = count_kinds(declaration->finite);
	Size	 bytes = declaration->batches * per_batch * sizeof(uint32);
	UnitRows unit;
	uint32	*counts =
		MemoryContextAllocExtended(CurrentMemoryContext, bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	while (units->next(units, &unit))
	{
		uint32 *batch = counts + unit.unit_hash % declaration->batches * per_batch;

		for (int i = 0; i < unit.nrows; i++)
		{
			int point =
				released_point(declaration->points_are_columns, declaration->finite->npoints,
							   spec->width, unit.x + (Size) i * spec->width);
			uint32 *count;

			if (point < 0 || isnan(unit.label[i]))
				continue;
			count = &batch[nclasses * point + (int) unit.label[i]];
			if (*count < PG_UINT32_MAX)
				(*count)++;
		}
	}
	units->rewind(units);
	return counts;
}

static void
expand_batch(const uint32 *counts, int kinds, Batch *batch)
{
	int64 n = 0;

	for (int i = 0; i < kinds; i++)
		n += counts[i];
	batch->nexamples = n;
	batch->examples = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * sizeof(int32));
	n = 0;
	for (int i = 0; i < kinds; i++)
		for (uint32 j = 0; j < counts[i]; j++)
			batch->examples[n++] = i;
}

/* What each batch gives: label_words words each. */
static uint64 *
learn_batches(const Declaration *declaration, OptimalAlgorithm *algorithm, const uint32 *counts)
{
	int			  kinds = count_kinds(declaration->finite);
	int			  words = label_words(declaration->finite);
	uint64		 *given = palloc_array(uint64, declaration->batches * (Size) words);
	MemoryContext each =
		AllocSetContextCreate(CurrentMemoryContext, "privpred batch", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(each);

	progress_phase("learning batches", declaration->batches);
	for (int i = 0; i < declaration->batches; i++)
	{
		Batch batch;

		CHECK_FOR_INTERRUPTS();
		RECORD_COINS(i + 1);
		expand_batch(counts + i * (Size) kinds, kinds, &batch);
		stable_learner(algorithm, declaration->finite, &batch, declaration->depth,
					   declaration->part, given + i * (Size) words);
		MemoryContextReset(each);
		progress_update(i + 1);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(each);
	return given;
}

/* ---------- the histogram ---------- */

static int
compare_labels(const void *a, const void *b, void *bytes)
{
	return memcmp(a, b, *(Size *) bytes);
}

#ifdef PRIVPRED_RECORD_INPUTS
/* A unit is in one batch, whatever that gives. */
static void
record_batches(int batches, const uint64 *given, int words)
{
	record_open("littlestone", INPUT_PLACES, 1);
	for (int i = 0; i < batches; i++)
		record_put(i, (int64) record_key(given + i * (Size) words, words * sizeof(uint64)));
	record_close();
}
#else
#define record_batches(batches, given, words) ((void) 0)
#endif

/*
 * Lists the hypotheses that are kept, once each, after one that is public and
 * always there; returns how many.
 */
static int
keep_frequent(const Declaration *declaration, uint64 *given, const uint64 *always, uint64 *list)
{
	int	 words = label_words(declaration->finite);
	Size bytes = words * sizeof(uint64);
	int	 kept = 1;
	int	 count = 0;

	memcpy(list, always, bytes);
	record_batches(declaration->batches, given, words);
	qsort_arg(given, declaration->batches, bytes, compare_labels, &bytes);
	for (int i = 0; i < declaration->batches; i++)
	{
		uint64 *hypothesis = given + i * (Size) words;

		count++;
		if (i + 1 < declaration->batches && memcmp(hypothesis, hypothesis + words, bytes) == 0)
			continue;
		if (histogram_keeps(declaration->half, declaration->threshold, RECORD_FIXED(count)) &&
			memcmp(hypothesis, always, bytes) != 0)
			memcpy(list + kept++ * (Size) words, hypothesis, bytes);
		count = 0;
	}
	return kept;
}

/* ---------- the choice ---------- */

static uint64 *
choose(const MechanismSpec *spec, const Declaration *declaration, UnitSource *units, uint64 *kept,
	   int nkept)
{
	int			words = label_words(declaration->finite);
	uint64	  **rows = palloc_array(uint64 *, nkept);
	Candidates *candidates;
	int64	   *errors;

	for (int h = 0; h < nkept; h++)
		rows[h] = kept + h * (Size) words;
	candidates = candidates_of_finite(
		finite_class_of(nkept, declaration->finite->npoints, spec->nclasses, rows), spec->nclasses);
	progress_phase_rows("counting errors", spec->declared_units);
	errors = released_errors(spec, candidates, declaration->points_are_columns, units);
	return rows[cover_draw(declaration->half, nkept, errors)];
}

static bytea *
littlestone_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	Declaration		  declaration;
	OptimalAlgorithm *algorithm;
	int				  words;
	uint32			 *counts;
	uint64			 *given;
	uint64			 *list;
	uint64			 *always;
	int				  nkept;
	Released		  released = {0};

	declaration_read(spec, &declaration);
	check_memory(&declaration, memory);
	words = label_words(declaration.finite);
	algorithm = optimal_create(declaration.finite);
	counts = count_examples(spec, &declaration, units);
	given = learn_batches(&declaration, algorithm, counts);

	/* What the algorithm says before it has seen anything needs no rows. */
	always = palloc_array(uint64, words);
	optimal_labels(algorithm, optimal_start(algorithm), always);
	list = palloc_array(uint64, (declaration.batches + 1) * (Size) words);
	nkept = keep_frequent(&declaration, given, always, list);
	released.classifier.class = CLASS_FINITE;
	released.share = 1;
	released.npoints = declaration.finite->npoints;
	released.points_are_columns = declaration.points_are_columns;
	released.labels = choose(spec, &declaration, units, list, nkept);
	return released_write(spec, &released);
}

const Mechanism littlestone_mechanism = {
	.name = "littlestone",
	.charge_kind = CHARGE_ONCE,
	.needs_units = true,
	.finds_cuts = true,
	.options = options_of,
	.validate = littlestone_validate,
	.charge = littlestone_charge,
	.train = littlestone_train,
	.load = released_load,
	.majority = released_majority,
	.export_json = released_export,
	.plan = &plan_littlestone,
	.audit_cases = littlestone_audit_cases,
};
