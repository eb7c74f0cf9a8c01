/*
 * cover.c
 *		The "cover" and "label_private" mechanisms: one classifier of a class,
 *		chosen by its errors and released.
 *
 * Chaudhuri and Hsu (2011), algorithms A1, A1r and A2.  The candidates are a
 * cover of the class: under a public reference, or, if labels alone are
 * protected, under the rows' own features.  The choice among them is one draw
 * of the exponential mechanism, whoever pays for it.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "mechanism/audit.h"
#include "mechanism/candidates.h"
#include "mechanism/cover/draw.h"
#include "mechanism/cover/limits.h"
#include "mechanism/mechanism.h"
#include "mechanism/released.h"
#include "server/progress.h"

#define DEFAULT_ACCURACY 0.1

/* Halfspaces of more numbers would take long to project rows on. */
#define MAX_HALFSPACE_WIDTH 64

/* Rows whose features the cover of label_private is made from. */
#define MIN_REFERENCE_ROWS 256
#define MAX_REFERENCE_ROWS 16384

typedef struct CoverDeclaration
{
	CandidateClass class;
	CoverPlan plan;
	bool	 *binary;		/* of each column */
	bool	  own_features; /* label_private */
	Reference reference;	/* public */
} CoverDeclaration;

/* ---------- what is declared ---------- */

static const char *const	class_choices[] = {"stumps",	 "thresholds", "intervals",
											   "rectangles", "halfspaces", NULL};
static const CandidateClass chosen_class[] = {CLASS_STUMPS, CLASS_THRESHOLDS, CLASS_INTERVALS,
											  CLASS_RECTANGLES, CLASS_HALFSPACES};

static void
check_columns(const MechanismSpec *spec, CandidateClass class, const char *name)
{
	int most = class == CLASS_RECTANGLES ? MAX_SIDES : 1;

	if (class == CLASS_HALFSPACES && spec->width > MAX_HALFSPACE_WIDTH)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("halfspaces need at most %d encoded numbers, not %d",
							   MAX_HALFSPACE_WIDTH, spec->width),
						errhint("Declare fewer columns or levels, or use the class \"stumps\".")));
	if (class == CLASS_HALFSPACES || class == CLASS_STUMPS)
		return;
	for (int i = 0; i < spec->width; i++)
		if (spec->width > most || spec->columns[i].level != NULL)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the class \"%s\" needs %s", name,
						most == 1 ? "one feature that is a number"
								  : "at most three features, all of them numbers"),
				 errhint(
					 "Declare other features, or use the class \"stumps\" or \"halfspaces\".")));
}

static void
read_class(const MechanismSpec *spec, CoverDeclaration *declaration)
{
	int choice = option_choice(spec, "class", class_choices);

	if (option_given(spec, "class_table"))
	{
		if (option_given(spec, "class") || option_given(spec, "reference"))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"class_table\" goes without \"class\" and \"reference\""),
					 errhint("A finite class is taken as it is and needs no cover.")));
		declaration->class = CLASS_FINITE;
		return;
	}
	declaration->class = chosen_class[choice];
	check_columns(spec, declaration->class, class_choices[choice]);
}

/* ---------- how many candidates ---------- */

/* As many as the units allow, and we. */
static int64
candidate_limit(const CoverDeclaration *declaration, int64 units)
{
	double limit = exp(Min(cover_log_limit(&declaration->plan, units), 40));

	return (int64) Min(limit, (double) MAX_CANDIDATES);
}

/* The fewest candidates with which the accuracy can be promised. */
static int64
candidates_needed(const MechanismSpec *spec, const CoverDeclaration *declaration)
{
	CandidateClass class = declaration->class;

	if (class == CLASS_FINITE)
		return spec->finite_class->nhypotheses;
	if (class == CLASS_HALFSPACES)
		return 4 * (spec->width + 1); /* nothing is promised of them */
	return candidates_count(
		class, &declaration->reference,
		candidates_resolution_within(class, spec->width, declaration->plan.accuracy / 4));
}

/* The least accuracy that the same units and candidates can have; above 1: none. */
static double
least_accuracy(const MechanismSpec *spec, const CoverDeclaration *declaration)
{
	double low = 0;
	double high = 2;

	for (int i = 0; i < 30; i++)
	{
		CoverDeclaration other = *declaration;

		other.plan.accuracy = (low + high) / 2;
		if (candidates_needed(spec, &other) <= candidate_limit(&other, spec->declared_units))
			high = other.plan.accuracy;
		else
			low = other.plan.accuracy;
	}
	return ceil(high * 1000) / 1000;
}

static void
declaration_read(const MechanismSpec *spec, bool own_features, CoverDeclaration *declaration)
{
	memset(declaration, 0, sizeof(CoverDeclaration));
	released_check_spec(spec);
	read_class(spec, declaration);
	declaration->own_features = own_features;
	declaration->plan.epsilon = (double) spec->epsilon / EPSILON_UNITS_PER_ONE;
	declaration->plan.beta = cover_beta(spec);
	declaration->plan.realizable = option_flag(spec, "realizable", false);
	declaration->binary = palloc_array(bool, spec->width);
	for (int i = 0; i < spec->width; i++)
		declaration->binary[i] = spec->columns[i].binary;
	declaration->reference.width = spec->width;
	declaration->reference.binary = declaration->binary;
	declaration->reference.npoints = spec->nreference;
	declaration->reference.x = spec->reference;
	/* By default what can be promised, if not what is usual. */
	declaration->plan.accuracy =
		option_number(spec, "accuracy",
					  Min(1, Max(DEFAULT_ACCURACY, least_accuracy(spec, declaration))), 1e-4, 1);
}

pg_noreturn static void
refuse_accuracy(const MechanismSpec *spec, const CoverDeclaration *declaration, int64 needed)
{
	double accuracy = least_accuracy(spec, declaration);
	double units = cover_units_for(&declaration->plan, needed);

	if (needed > MAX_CANDIDATES)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("accuracy %g needs more than " INT64_FORMAT " candidates",
					declaration->plan.accuracy, MAX_CANDIDATES),
			 accuracy <= 1
				 ? errhint("Declare fewer columns, a simpler class, or an accuracy of %g or more.",
						   accuracy)
				 : errhint("Declare fewer columns or a simpler class.")));
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("accuracy %g cannot be promised with " INT64_FORMAT " declared units",
				declaration->plan.accuracy, spec->declared_units),
		 errdetail("At this epsilon it takes %.0f units to choose among " INT64_FORMAT
				   " candidates.",
				   units, needed),
		 accuracy <= 1
			 ? errhint(
				   "Declare so many units if there are, a larger epsilon, or an accuracy of %g or more.",
				   accuracy)
			 : errhint("Declare so many units if there are, or a larger epsilon.")));
}

static Candidates *
build_candidates(const MechanismSpec *spec, const CoverDeclaration *declaration,
				 const Reference *reference, int64 limit)
{
	int resolution;

	if (declaration->class == CLASS_FINITE)
		return candidates_of_finite(spec->finite_class);
	if (declaration->class == CLASS_HALFSPACES)
		return halfspaces_build(reference, limit);
	/* As fine as the units allow; rows' own features need no reserve. */
	if (declaration->own_features)
		resolution = candidates_resolution_within(declaration->class, spec->width,
												  declaration->plan.accuracy / 4);
	else
		resolution = candidates_resolution(declaration->class, reference, limit);
	if (reference->npoints > 0)
		resolution = (int) Min(resolution, reference->npoints);
	return candidates_build(declaration->class, reference, resolution);
}

static void
check_declaration(const MechanismSpec *spec, bool own_features)
{
	CoverDeclaration declaration;
	int64			 needed;

	declaration_read(spec, own_features, &declaration);
	needed = candidates_needed(spec, &declaration);
	if (needed > candidate_limit(&declaration, spec->declared_units))
		refuse_accuracy(spec, &declaration, needed);
}

static void
cover_validate(const MechanismSpec *spec)
{
	check_declaration(spec, false);
}

static void
label_private_validate(const MechanismSpec *spec)
{
	check_declaration(spec, true);
}

/* Always, since one draw serves accounts of both kinds. */
static ChargeShape
cover_shape(bool order_is_infinite)
{
	return CHARGE_BOUNDED_RANGE;
}

/* ---------- the rows' own features as a reference ---------- */

typedef struct SampledRow
{
	uint64	unit_hash;
	double *x;
} SampledRow;

/* By unit and content, so that the order of the table does not matter. */
static int
compare_sampled(const void *a, const void *b, void *bytes)
{
	const SampledRow *left = a;
	const SampledRow *right = b;

	if (left->unit_hash != right->unit_hash)
		return left->unit_hash < right->unit_hash ? -1 : 1;
	return memcmp(left->x, right->x, *(Size *) bytes);
}

/* A sample of rows: those of the units with the smallest hashes.  No label is looked at. */
static void
own_reference(const MechanismSpec *spec, UnitSource *units, Size memory, Reference *reference)
{
	Size		each = (spec->width + 4) * sizeof(double);
	int			most = (int) Max(MIN_REFERENCE_ROWS, Min(MAX_REFERENCE_ROWS, memory / (4 * each)));
	SampledRow *rows = palloc_array(SampledRow, 2 * most);
	Size		bytes = spec->width * sizeof(double);
	double	   *x;
	uint64		bound = PG_UINT64_MAX;
	int			count = 0;
	UnitRows	unit;

	released_check_memory(4 * most * each, memory);
	for (int i = 0; i < 2 * most; i++)
		rows[i].x = palloc(bytes);
	while (units->next(units, &unit))
	{
		for (int i = 0; i < unit.nrows && unit.unit_hash <= bound; i++)
		{
			rows[count].unit_hash = unit.unit_hash;
			memcpy(rows[count++].x, unit.x + (Size) i * spec->width, bytes);
			if (count < 2 * most)
				continue;
			qsort_arg(rows, count, sizeof(SampledRow), compare_sampled, &bytes);
			count = most;
			bound = rows[count - 1].unit_hash;
		}
	}
	qsort_arg(rows, count, sizeof(SampledRow), compare_sampled, &bytes);
	count = Min(count, most);
	x = MemoryContextAllocHuge(CurrentMemoryContext, Max(count, 1) * bytes);
	for (int i = 0; i < count; i++)
		memcpy(x + (Size) i * spec->width, rows[i].x, bytes);
	reference->npoints = count;
	reference->x = x;
	units->rewind(units);
}

/*
 * The radius under all rows' features, each unit weighing the same as in the
 * errors.  No label is looked at.
 */
static double
own_radius(const MechanismSpec *spec, const Candidates *candidates, const bool *binary,
		   UnitSource *units)
{
	RadiusCounts *counts = radius_create(candidates, binary);
	double		  nunits = 0;
	int			  most_rows = 0;
	UnitRows	  unit;

	while (units->next(units, &unit))
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < unit.nrows; i++)
			radius_add(counts, unit.x + (Size) i * spec->width, ERROR_ONE / unit.nrows);
		nunits++;
		most_rows = Max(most_rows, unit.nrows);
	}
	units->rewind(units);
	/* Weights are rounded down, a unit's by less than its number of rows. */
	return radius_finish(counts, nunits * ERROR_ONE) + (double) most_rows / ERROR_ONE;
}

/* What is proved of all the class; of halfspaces, what was found. */
static double
radius_of(const MechanismSpec *spec, const CoverDeclaration *declaration,
		  const Candidates *candidates, UnitSource *units)
{
	if (candidates->class == CLASS_FINITE || candidates->class == CLASS_HALFSPACES)
		return candidates->radius;
	if (declaration->own_features)
		return own_radius(spec, candidates, declaration->binary, units);
	return candidates->radius +
		   radius_beyond_reference(candidates, &declaration->reference, declaration->plan.beta);
}

/* ---------- training ---------- */

static int64 *
count_errors(const MechanismSpec *spec, const Candidates *candidates, UnitSource *units)
{
	ErrorCounts *counts = errors_create(candidates);
	UnitRows	 unit;

	while (units->next(units, &unit))
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < unit.nrows; i++)
		{
			const double *x = unit.x + (Size) i * spec->width;
			double		  point;

			if (isnan(unit.label[i]))
				continue;
			if (candidates->class == CLASS_FINITE)
			{
				point = released_point(true, spec->width, spec->width, x);
				x = &point;
			}
			errors_add(counts, x, unit.label[i] == 1, ERROR_ONE / unit.nrows);
		}
	}
	return errors_finish(counts);
}

/* Tells the owner what the candidates are good for: public, but for label_private. */
static void
report_cover(const MechanismSpec *spec, const Released *released)
{
	ereport(NOTICE, (errmsg("one of " INT64_FORMAT " candidates was chosen", released->candidates),
					 errdetail("%s", released_promise(spec, released))));
}

static void
release(const MechanismSpec *spec, const CoverDeclaration *declaration,
		const Candidates *candidates, double radius, int64 index, Released *released)
{
	double smoothness = declaration->plan.accuracy / (4 * radius);

	memset(released, 0, sizeof(Released));
	candidate_get(candidates, index, &released->classifier);
	released->candidates = candidates->count;
	released->radius = radius;
	if (candidates->class == CLASS_HALFSPACES)
	{
		/* Nothing is proved, so nothing is promised. */
	}
	else if (declaration->own_features)
	{
		/* On the rows themselves: what the cover and the draw may lose. */
		released->accuracy = radius + declaration->plan.accuracy / 4;
	}
	else if (smoothness >= 1)
	{
		released->smoothness = smoothness;
		released->accuracy = declaration->plan.accuracy;
	}
	if (candidates->class != CLASS_FINITE)
		return;
	released->npoints = spec->width;
	released->points_are_columns = true;
	released->labels = palloc0_array(uint64, BITS_WORDS(spec->width));
	for (int i = 0; i < spec->width; i++)
		if (finite_class_label(spec->finite_class, (int) index, i))
			bits_add(released->labels, i);
	strlcpy(released->name, spec->finite_class->names[index], NAMEDATALEN);
}

static bytea *
train(const MechanismSpec *spec, UnitSource *units, Size memory, bool own_features)
{
	CoverDeclaration declaration;
	Reference		 reference;
	Candidates		*candidates;
	Released		 released;
	int64			*errors;
	int64			 limit;
	double			 radius;

	declaration_read(spec, own_features, &declaration);
	reference = declaration.reference;
	/* Cuts, cells and errors; no more candidates than memory has room for. */
	released_check_memory(4 * sizeof(double) * candidates_needed(spec, &declaration), memory);
	limit = Min(candidate_limit(&declaration, spec->declared_units), memory / (4 * sizeof(double)));
	if (own_features && declaration.class != CLASS_FINITE)
		own_reference(spec, units, memory, &reference);
	progress_phase("making candidates", -1);
	candidates = build_candidates(spec, &declaration, &reference, limit);
	released_check_memory(errors_memory(candidates), memory);
	radius = radius_of(spec, &declaration, candidates, units);
	progress_phase_rows("counting errors", spec->declared_units);
	errors = count_errors(spec, candidates, units);
	release(spec, &declaration, candidates, radius,
			cover_draw(spec->epsilon, candidates->count, errors), &released);
	report_cover(spec, &released);
	return released_write(&released, spec->width);
}

static bytea *
cover_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	return train(spec, units, memory, false);
}

static bytea *
label_private_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	return train(spec, units, memory, true);
}

extern const MechanismPlan plan_cover;			/* plan.c */
extern const AuditCase	   cover_audit_cases[]; /* audit.c */

const Mechanism cover_mechanism = {
	.name = "cover",
	.charge_kind = CHARGE_ONCE,
	.option_keys = "class, accuracy, beta, realizable, reference, class_table",
	.validate = cover_validate,
	.shape = cover_shape,
	.train = cover_train,
	.load = released_load,
	.answer = released_answer,
	.distribution = released_distribution,
	.majority = released_majority,
	.export_json = released_export,
	.plan = &plan_cover,
	.audit_cases = cover_audit_cases,
};

extern const MechanismPlan plan_label_private; /* plan.c */
const Mechanism			   label_private_mechanism = {
			   .name = "label_private",
			   .charge_kind = CHARGE_ONCE,
			   .labels_only = true,
			   .option_keys = "class, accuracy, beta, realizable, class_table",
			   .validate = label_private_validate,
			   .shape = cover_shape,
			   .train = label_private_train,
			   .load = released_load,
			   .answer = released_answer,
			   .distribution = released_distribution,
			   .majority = released_majority,
			   .export_json = released_export,
			   .plan = &plan_label_private,
			   .audit_cases = cover_audit_cases,
};
