/*
 * declare.c
 *		What an owner may declare of "stable_erm", and what follows from it.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/stable_erm/rows.h"
#include "mechanism/stable_erm/stable_erm.h"

#define MAX_UNITS INT64CONST(1000000000000)
#define MAX_WEIGHTS (1 << 22)

/*
 * The default lambda makes the largest scale of the noise this much: of the
 * margin, found on Adult; of half the range of a number.
 */
#define MARGIN_NOISE 0.2
#define NUMBER_NOISE 0.03

#define DEFAULT_HUBER 0.25

static const char *const losses_of_classes[] = {"logistic", NULL};
static const char *const losses_of_numbers[] = {"huber", "squared", NULL};
static const char *const solvers[] = {"exact", "sgd", NULL};

enum
{
	LOSS,
	LAMBDA,
	HUBER,
	RADIUS,
	NORM,
	GRID,
	TOLERANCE,
	SOLVER
};

const Option stable_erm_options[] = {
	[LOSS] = {"loss", OPTION_CHOICE},				 /* by the kind of the label */
	[LAMBDA] = {"lambda", OPTION_NUMBER, 1e-9, 1e3}, /* default_lambda() */
	[HUBER] = {"huber", OPTION_NUMBER},				 /* in units of the label */
	[RADIUS] = {"radius", OPTION_NUMBER, 1e-3, 1e3, 1},
	[NORM] = {"norm", OPTION_NUMBER, 1e-3, 1e3},	 /* that of the encoded features */
	[GRID] = {"grid", OPTION_NUMBER, 1e-300, 1e300}, /* erm_default_grid() */
	[TOLERANCE] = {"tolerance", OPTION_NUMBER, 1e-6, 1, 0.01},
	[SOLVER] = CHOICE_OPTION("solver", solvers),
	{NULL},
};

static ErmLoss
declared_loss(const MechanismSpec *spec)
{
	Option loss = stable_erm_options[LOSS];
	bool   squared;

	loss.choices = spec->nclasses > 0 ? losses_of_classes : losses_of_numbers;
	squared = option_number(spec->options, &loss) == 1;
	return spec->nclasses > 0 ? ERM_LOGISTIC : squared ? ERM_SQUARED : ERM_HUBER;
}

/* Huber's loss becomes linear at this share of half the label's range. */
static double
declared_huber(const MechanismSpec *spec, double scale)
{
	Option huber = stable_erm_options[HUBER];

	huber.min = 1e-4 * scale;
	huber.max = 10 * scale;
	return option_or(spec->options, &huber, DEFAULT_HUBER * scale) / scale;
}

static double
default_lambda(const ErmProblem *problem, const MechanismSpec *spec)
{
	double epsilon = epsilon_real(spec->epsilon);
	double noise = problem->loss == ERM_LOGISTIC ? MARGIN_NOISE : NUMBER_NOISE;
	double lipschitz = 1;

	if (problem->loss == ERM_HUBER)
		lipschitz = problem->lipschitz;
	else if (problem->loss == ERM_SQUARED)
		lipschitz = problem->norm * problem->radius + 1;
	return 2 * lipschitz * problem->norm * problem->norm / (problem->units * epsilon * noise);
}

double
stable_erm_sensitivity(const StableErm *erm, double norm)
{
	return erm->one_pass ? erm_sgd_sensitivity(&erm->problem, &erm->sgd, norm)
						 : erm_sensitivity(&erm->problem, norm);
}

void
stable_erm_describe(const MechanismSpec *spec, StableErm *erm)
{
	ErmProblem *problem = &erm->problem;
	double		natural = erm_natural_norm(spec->width);
	double		scale = erm_label_scale(spec);

	memset(erm, 0, sizeof(StableErm));
	problem->loss = declared_loss(spec);
	problem->dimension = spec->width + 1;
	problem->norm = Min(option_or(spec->options, &stable_erm_options[NORM], natural), natural);
	problem->units = spec->declared_units;
	if (problem->loss == ERM_HUBER)
		problem->lipschitz = declared_huber(spec, scale);
	if (problem->loss == ERM_SQUARED)
		problem->radius = option_number(spec->options, &stable_erm_options[RADIUS]);
	problem->lambda =
		option_or(spec->options, &stable_erm_options[LAMBDA], default_lambda(problem, spec));
	erm_complete(problem, option_number(spec->options, &stable_erm_options[TOLERANCE]));
	erm->fits = spec->nclasses > 2 ? spec->nclasses : 1;
	problem->one_class = spec->nclasses > 2;
	erm->one_pass = option_number(spec->options, &stable_erm_options[SOLVER]) == 1;
	if (erm->one_pass)
		erm_sgd_complete(problem,
						 option_or(spec->options, &stable_erm_options[RADIUS], ERM_SGD_WEIGHT),
						 &erm->sgd);
	erm->grid = erm_default_grid(stable_erm_sensitivity(erm, problem->norm));
	erm->grid = option_or(spec->options, &stable_erm_options[GRID], erm->grid * scale) / scale;
}

static void
check_loss_option(const MechanismSpec *spec, const char *key, bool applies, const char *loss)
{
	if (option_given(spec->options, key) && !applies)
		refuse(errmsg("option \"%s\" is for loss \"%s\"", key, loss),
			   errhint("Leave it out, or use that loss, which is for labels that are numbers."));
}

/* A pass has no ball, in which alone the slopes of squared loss are bounded. */
static void
check_solver(const MechanismSpec *spec, const StableErm *erm)
{
	if (!erm->one_pass)
		return;
	if (erm->problem.loss == ERM_SQUARED)
		refuse(errmsg("solver \"sgd\" does not take loss \"squared\""),
			   errhint("Use loss \"huber\", whose option \"huber\" may be as large as the range."));
	if (option_given(spec->options, "tolerance"))
		refuse(errmsg("option \"tolerance\" is for solver \"exact\""),
			   errhint("Leave it out: one pass has nothing to tolerate."));
}

static void
check_sizes(const MechanismSpec *spec)
{
	int64 weights = (int64) Max(spec->nclasses, 1) * (spec->width + 1);

	if (spec->nclasses > 2 && weights > MAX_WEIGHTS)
		ereport(
			ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("mechanism \"stable_erm\" can have %d weights at most", MAX_WEIGHTS),
			errdetail("There would be %d for each of %d classes.", spec->width + 1, spec->nclasses),
			errhint("Declare fewer classes, columns or levels."));
	if (spec->declared_units > MAX_UNITS)
		refuse(errmsg("mechanism \"stable_erm\" needs declared_units of at most " INT64_FORMAT,
					  MAX_UNITS),
			   errhint("Protect the relation again, with about as many as there are."));
	if (spec->epsilon < ERM_MIN_EPSILON)
		refuse(errmsg("mechanism \"stable_erm\" needs an epsilon of at least %g",
					  epsilon_real(ERM_MIN_EPSILON)),
			   errhint("Declare a larger epsilon."));
}

void
stable_erm_validate(const MechanismSpec *spec)
{
	StableErm erm;
	double	  sensitivity;

	check_sizes(spec);
	stable_erm_describe(spec, &erm);
	check_loss_option(spec, "huber", erm.problem.loss == ERM_HUBER, "huber");
	check_loss_option(spec, "radius", erm.problem.loss == ERM_SQUARED || erm.one_pass, "squared");
	check_solver(spec, &erm);
	if (erm.problem.loss == ERM_SQUARED && erm.problem.dimension > ERM_MAX_DENSE)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("loss \"squared\" takes at most %d encoded features, not %d",
					   ERM_MAX_DENSE - 1, spec->width),
				errhint("Use loss \"huber\"."));
	sensitivity = stable_erm_sensitivity(&erm, erm.problem.norm);
	if (!(erm.grid >= sensitivity / (ERM_MAX_SHIFT - 1)))
		refuse(errmsg("option \"grid\" must be at least %g",
					  sensitivity / (ERM_MAX_SHIFT - 1) * erm_label_scale(spec) * 1.001),
			   errdetail("One unit may move a score by %g.", sensitivity * erm_label_scale(spec)),
			   errhint("Leave it out for a grid that is fine enough."));
}

bool
stable_erm_wants_order(const MechanismSpec *spec)
{
	return option_number(spec->options, &stable_erm_options[SOLVER]) == 1;
}
