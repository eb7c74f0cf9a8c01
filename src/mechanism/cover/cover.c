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
#include "mechanism/cover/cover.h"
#include "mechanism/cover/draw.h"
#include "mechanism/cover/limits.h"
#include "mechanism/mechanism.h"
#include "mechanism/released.h"
#include "server/progress.h"

#define USUAL_ACCURACY 0.1

/* Halfspaces of more numbers would take long to project rows on. */
#define MAX_HALFSPACE_WIDTH 64

enum
{
	CLASS,
	ACCURACY,
	BETA,
	REALIZABLE,
	CLASS_TABLE,
	REFERENCE
};

#define SHARED_OPTIONS \
	[CLASS] = CHOICE_OPTION("class", candidate_class_names), \
	[ACCURACY] = {"accuracy", OPTION_NUMBER, 1e-4, 1}, \
	[BETA] = {"beta", OPTION_NUMBER, 1e-12, 0.5, 0.05}, \
	[REALIZABLE] = {"realizable", OPTION_FLAG}, [CLASS_TABLE] = {"class_table", OPTION_NAME}

static const Option cover_options[] = {
	SHARED_OPTIONS,
	[REFERENCE] = {"reference", OPTION_NAME},
	{NULL},
};

static const Option label_private_options[] = {SHARED_OPTIONS, {NULL}};

typedef struct CoverDeclaration
{
	CandidateClass class;
	CoverPlan plan;
	bool	  own_features; /* label_private */
	Reference reference;	/* public */
} CoverDeclaration;

/* ---------- what is declared ---------- */

static void
check_columns(const MechanismSpec *spec, CandidateClass class)
{
	int most = class == CLASS_RECTANGLES ? MAX_SIDES : 1;

	if (class == CLASS_HALFSPACES && spec->width > MAX_HALFSPACE_WIDTH)
		refuse(errmsg("halfspaces need at most %d encoded numbers, not %d", MAX_HALFSPACE_WIDTH,
					  spec->width),
			   errhint("Declare fewer columns or levels, or use the class \"stumps\"."));
	if (class == CLASS_HALFSPACES || class == CLASS_STUMPS)
		return;
	for (int i = 0; i < spec->width; i++)
		if (spec->width > most || spec->columns[i].level != NULL)
			refuse(
				errmsg("the class \"%s\" needs %s", candidate_class_names[class],
					   most == 1 ? "one feature that is a number"
								 : "at most three features, all of them numbers"),
				errhint("Declare other features, or use the class \"stumps\" or \"halfspaces\"."));
}

static void
read_class(const MechanismSpec *spec, CoverDeclaration *declaration)
{
	if (option_given(spec->options, "class_table"))
	{
		if (option_given(spec->options, "class") || option_given(spec->options, "reference"))
			refuse(
				errmsg(
					"option \"class_table\" cannot be combined with \"class\" and \"reference\""),
				errhint("A finite class is taken as it is and needs no cover."));
		declaration->class = CLASS_FINITE;
		return;
	}
	declaration->class =
		(CandidateClass) option_or(spec->options, &cover_options[CLASS], CLASS_STUMPS);
	check_columns(spec, declaration->class);
}

/* ---------- how many candidates ---------- */

/* As many candidates as the declared units allow. */
static int64
candidate_limit(const MechanismSpec *spec, const CoverDeclaration *declaration)
{
	double limit = exp(Min(cover_log_limit(&declaration->plan, spec->declared_units), 40));

	return (int64) Min(limit, (double) MAX_CANDIDATES);
}

/* The fewest candidates with which the accuracy can be promised. */
static int64
candidates_needed(const MechanismSpec *spec, const CoverDeclaration *declaration)
{
	CandidateClass class = declaration->class;
	int64 shapes;

	if (class == CLASS_FINITE)
		return spec->finite_class->nhypotheses;
	if (class == CLASS_HALFSPACES)
		shapes = 2 * (spec->width + 1); /* any number will do: the radius is added */
	else
		shapes = candidates_shapes(
			class, &declaration->reference,
			candidates_resolution_within(class, spec->width, declaration->plan.accuracy / 4));
	return shapes * class_pairs(spec->nclasses);
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
		if (candidates_needed(spec, &other) <= candidate_limit(spec, &other))
			high = other.plan.accuracy;
		else
			low = other.plan.accuracy;
	}
	return ceil(high * 1000) / 1000;
}

double
cover_beta(const MechanismSpec *spec)
{
	return option_number(spec->options, &cover_options[BETA]);
}

static void
declaration_read(const MechanismSpec *spec, CoverDeclaration *declaration)
{
	bool *binary = palloc_array(bool, spec->width);

	memset(declaration, 0, sizeof(CoverDeclaration));
	read_class(spec, declaration);
	declaration->own_features = spec->mechanism->labels_only;
	declaration->plan.epsilon = epsilon_real(spec->epsilon);
	declaration->plan.beta = cover_beta(spec);
	declaration->plan.realizable = option_number(spec->options, &cover_options[REALIZABLE]);
	for (int i = 0; i < spec->width; i++)
		binary[i] = spec->columns[i].binary;
	declaration->reference = (Reference){spec->width, binary, spec->nreference, spec->reference};
	/* The default is the usual accuracy, or the least that can be promised. */
	declaration->plan.accuracy =
		option_or(spec->options, &cover_options[ACCURACY],
				  Min(1, Max(USUAL_ACCURACY, least_accuracy(spec, declaration))));
}

pg_noreturn static void
refuse_accuracy(const MechanismSpec *spec, const CoverDeclaration *declaration, int64 needed)
{
	double accuracy = least_accuracy(spec, declaration);
	double units = cover_units_for(&declaration->plan, needed);

	if (needed > MAX_CANDIDATES)
		ereport(
			ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("accuracy %g needs more than " INT64_FORMAT " candidates",
				   declaration->plan.accuracy, MAX_CANDIDATES),
			accuracy <= 1
				? errhint("Declare fewer columns, a simpler class, or an accuracy of %g or more.",
						  accuracy)
				: errhint("Declare fewer columns or a simpler class."));
	refuse(
		errmsg("accuracy %g cannot be promised with " INT64_FORMAT " declared units",
			   declaration->plan.accuracy, spec->declared_units),
		errdetail("At this epsilon it takes %.0f units to choose among " INT64_FORMAT
				  " candidates.",
				  units, needed),
		accuracy <= 1
			? errhint("If there are that many units, declare them; otherwise use a larger epsilon, "
					  "or an accuracy of %g or more.",
					  accuracy)
			: errhint(
				  "If there are that many units, declare them; otherwise use a larger epsilon."));
}

static Candidates *
build_candidates(const MechanismSpec *spec, const CoverDeclaration *declaration,
				 const Reference *reference, int64 limit)
{
	int resolution;

	if (declaration->class == CLASS_FINITE)
		return candidates_of_finite(spec->finite_class, spec->nclasses);
	limit /= class_pairs(spec->nclasses);
	if (declaration->class == CLASS_HALFSPACES)
		return halfspaces_build(reference, limit, spec->nclasses);
	/* As fine as the units allow; rows' own features need no reserve. */
	if (declaration->own_features)
		resolution = candidates_resolution_within(declaration->class, spec->width,
												  declaration->plan.accuracy / 4);
	else
		resolution = candidates_resolution(declaration->class, reference, limit);
	if (reference->npoints > 0)
		resolution = (int) Min(resolution, reference->npoints);
	return candidates_build(declaration->class, reference, resolution, spec->nclasses);
}

static void
cover_validate(const MechanismSpec *spec)
{
	CoverDeclaration declaration;
	int64			 needed;

	declaration_read(spec, &declaration);
	needed = candidates_needed(spec, &declaration);
	if (needed > candidate_limit(spec, &declaration))
		refuse_accuracy(spec, &declaration, needed);
}

/* Sets what is proved of the class: the radius, and the share of it that is within. */
static void
prove_radius(const CoverDeclaration *declaration, const Reference *reference, UnitSource *units,
			 Candidates *candidates)
{
	bool probing = candidates->class == CLASS_HALFSPACES;

	if (candidates->class == CLASS_FINITE)
		return;
	if (declaration->own_features)
		candidates->radius = own_radius(candidates, reference, units);
	else if (probing && candidates->share == 0)
		candidates->radius =
			probes_radius(probes_create(candidates, reference), reference, declaration->plan.beta);
	else if (probing)
		return;
	else
		candidates->radius +=
			radius_beyond_reference(candidates, &declaration->reference, declaration->plan.beta);
	if (probing)
		candidates->share = PROBED_SHARE;
}

/* ---------- training ---------- */

/*
 * If the candidates do not cover the class within a quarter of the accuracy, a
 * larger one is promised: the whole radius in place of a quarter, or, if some
 * classifier never errs, the accuracy of which it is a quarter.  Within a half is
 * the better constant.
 */
static double
larger_accuracy(const CoverPlan *plan, double radius)
{
	double accuracy = plan->realizable ? 4 * radius : radius + 0.75 * plan->accuracy;

	return accuracy < 0.5 ? accuracy : 0;
}

static void
release(const MechanismSpec *spec, const CoverDeclaration *declaration,
		const Candidates *candidates, int64 index, Released *released)
{
	const CoverPlan *plan = &declaration->plan;
	double			 smoothness = plan->accuracy / (4 * candidates->radius);

	memset(released, 0, sizeof(Released));
	candidate_get(candidates, index, &released->classifier);
	released->candidates = candidates->count;
	released->radius = candidates->radius;
	released->share = candidates->share;
	if (declaration->own_features) /* On the rows: what the cover and the draw may lose. */
		released->accuracy = candidates->radius + plan->accuracy / 4;
	else if (smoothness >= 1)
		released->accuracy = plan->accuracy;
	else
		released->accuracy = larger_accuracy(plan, candidates->radius);
	if (!declaration->own_features && released->accuracy > 0)
		released->smoothness = Max(smoothness, 1);
	if (candidates->class != CLASS_FINITE)
		return;
	released->npoints = spec->width;
	released->points_are_columns = true;
	released->labels = palloc0_array(uint64, LABELS_WORDS(spec->width, spec->nclasses));
	for (int i = 0; i < spec->width; i++)
		labels_set(released->labels, spec->width, spec->nclasses, i,
				   finite_class_label(spec->finite_class, (int) index, i));
	strlcpy(released->name, spec->finite_class->names[index], NAMEDATALEN);
}

/* Cuts, cells and errors; no more candidates than memory has room for. */
static int64
limit_by_memory(const MechanismSpec *spec, const CoverDeclaration *declaration, Size memory)
{
	int64 needed = candidates_needed(spec, declaration);
	Size  each = 4 * sizeof(double);
	Size  all = 0;

	if (declaration->class == CLASS_HALFSPACES)
	{
		each += HALFSPACE_BYTES(spec->width) / class_pairs(spec->nclasses);
		all = HALFSPACES_BYTES(spec->width);
	}
	check_training_memory(all + each * needed, memory);
	return Min(candidate_limit(spec, declaration), (int64) ((memory - all) / each));
}

static bytea *
cover_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	CoverDeclaration declaration;
	Reference		 reference;
	Candidates		*candidates;
	Released		 released;
	int64			*errors;
	int64			 limit;

	declaration_read(spec, &declaration);
	reference = declaration.reference;
	limit = limit_by_memory(spec, &declaration, memory);
	if (declaration.own_features && declaration.class != CLASS_FINITE)
		own_reference(spec, units, memory, &reference);
	progress_phase("making candidates", -1);
	candidates = build_candidates(spec, &declaration, &reference, limit);
	check_training_memory(errors_memory(candidates), memory);
	prove_radius(&declaration, &reference, units, candidates);
	progress_phase_rows("counting errors", spec->declared_units);
	errors = released_errors(spec, candidates, true, units);
	release(spec, &declaration, candidates, cover_draw(spec->epsilon, candidates->count, errors),
			&released);
	/* What the owner is told is public, except with label_private. */
	ereport(NOTICE, errmsg("one of " INT64_FORMAT " candidates was chosen", released.candidates),
			errdetail("%s", released_promise(spec, &released)));
	return released_write(spec, &released);
}

/* One draw serves accounts of both kinds. */
#define SHARED_FACTS \
	.charge_kind = CHARGE_ONCE, .needs_units = true, .finds_cuts = true, \
	.validate = cover_validate, .finite_shape = CHARGE_BOUNDED_RANGE, \
	.infinite_shape = CHARGE_BOUNDED_RANGE, .train = cover_train, .load = released_load, \
	.majority = released_majority, .export_json = released_export, \
	.audit_cases = cover_audit_cases

const Mechanism cover_mechanism = {
	.name = "cover",
	.options = cover_options,
	.plan = &plan_cover,
	SHARED_FACTS,
};

const Mechanism label_private_mechanism = {
	.name = "label_private",
	.labels_only = true,
	.options = label_private_options,
	.plan = &plan_label_private,
	SHARED_FACTS,
};
