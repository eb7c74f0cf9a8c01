/*
 * passes.c
 *		Passes over all units, wherever their rows are (mechanism/unit_sums.h): sums of
 *		gradients, of curvatures, or of curvatures times a vector; and of units.
 *
 * Gradients are the integers that erm_add_unit() adds up.  A row's curvature is at
 * most 1, and |x| <= R; so its parts are rounded to multiples of R^2/2^40.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "utils/memutils.h"

#include "learner/linalg.h"
#include "mechanism/stable_erm/rows.h"
#include "mechanism/unit_sums.h"

#define CURVATURE_ONE 0x1p40

/* Whoever adds a field to it must send it, or say why not. */
StaticAssertDecl(sizeof(ErmProblem) == 4 * sizeof(int) + 7 * sizeof(double),
				 "put_parameter() and get_problem() know all fields of ErmProblem");

typedef struct Pass
{
	UnitSummer	  summer;
	ErmPass		  pass;
	ErmProblem	  problem;
	MechanismSpec spec; /* as much of it as labels need */
	double		 *w;
	double		 *vector;
	double		  scale;   /* integers to one, of what is rounded here */
	int128		 *total;   /* summer.count */
	int128		 *of_unit; /* dimension */
	MemoryContext context;
	char		 *unit; /* the current one */
	Size		  unit_bytes;
} Pass;

static bool
is_packed(ErmPass pass)
{
	return pass == ERM_CURVATURES || pass == ERM_MAJORANTS;
}

/* Sums of a pass; one more counts units. */
static int64
sums_of(const ErmProblem *problem, ErmPass pass)
{
	return (is_packed(pass) ? PACKED_SIZE(problem->dimension) : problem->dimension) + 1;
}

/* By how much curvatures are multiplied before they are rounded. */
static double
scale_of(const ErmProblem *problem, ErmPass pass, const double *vector)
{
	double most = problem->norm * problem->norm;

	if (pass == ERM_PRODUCTS)
		most *= sqrt(erm_dot(vector, vector, problem->dimension));
	return most > 0 && isfinite(CURVATURE_ONE / most) ? CURVATURE_ONE / most : 0;
}

/* ---------- the parameter ---------- */

static void
put_parameter(StringInfo bytes, const ErmProblem *problem, ErmPass pass, const double *w,
			  const double *vector)
{
	initStringInfo(bytes);
	pq_sendbyte(bytes, pass);
	pq_sendbyte(bytes, problem->loss);
	/* The rest of the problem does not matter to a row. */
	pq_sendfloat8(bytes, problem->norm);
	pq_sendfloat8(bytes, problem->lipschitz);
	pq_sendint32(bytes, problem->one_class ? problem->class : 0);
	for (int i = 0; i < problem->dimension; i++)
		pq_sendfloat8(bytes, w[i]);
	for (int i = 0; i < problem->dimension && pass == ERM_PRODUCTS; i++)
		pq_sendfloat8(bytes, vector[i]);
}

static double *
get_vector(StringInfo bytes, int count)
{
	double *vector = palloc_array(double, count);

	for (int i = 0; i < count; i++)
	{
		vector[i] = pq_getmsgfloat8(bytes);
		if (!isfinite(vector[i]))
			parameter_damaged();
	}
	return vector;
}

static void
get_problem(StringInfo bytes, const UnitForm *form, ErmProblem *problem)
{
	problem->loss = pq_getmsgbyte(bytes);
	problem->dimension = form->width + 1;
	problem->norm = pq_getmsgfloat8(bytes);
	problem->lipschitz = pq_getmsgfloat8(bytes);
	problem->one_class = form->nclasses > 2;
	problem->class = (int) pq_getmsgint(bytes, 4);
	if (problem->loss > ERM_SQUARED || !(problem->norm > 0 && isfinite(problem->norm)) ||
		!(problem->lipschitz > 0 && isfinite(problem->lipschitz)) || problem->class < 0 ||
		problem->class >= Max(form->nclasses, 1))
		parameter_damaged();
}

/* ---------- adding up ---------- */

/* Whatever the argument is: a damaged parameter has no bounds. */
static int64
rounded(double x)
{
	return x >= -0x1p62 && x <= 0x1p62 ? (int64) rint(x) : 0;
}

static void
add_curvatures(Pass *pass, const ErmUnit *unit, int64 i)
{
	int			 n = pass->problem.dimension;
	const float *x = unit->x + i * n;
	double		 weight = erm_row_curvature(&pass->problem, pass->w, unit, i,
										pass->pass == ERM_MAJORANTS ? ERM_MAJORANT : ERM_CURVATURE);

	weight *= pass->scale;
	for (int j = 0; j < n && weight > 0; j++)
	{
		int128 *row = pass->total + PACKED_ROW(j);
		double	factor = weight * x[j];

		for (int k = 0; k <= j; k++)
			row[k] += rounded(factor * x[k]);
	}
}

static void
add_products(Pass *pass, const ErmUnit *unit, int64 i)
{
	int			 n = pass->problem.dimension;
	const float *x = unit->x + i * n;
	double		 factor = erm_row_curvature(&pass->problem, pass->w, unit, i, ERM_CURVATURE) *
					erm_score(&pass->problem, pass->vector, x) * pass->scale;

	for (int j = 0; j < n; j++)
		pass->total[j] += rounded(factor * x[j]);
}

static char *
room_for(Pass *pass, Size bytes)
{
	if (bytes > pass->unit_bytes)
	{
		if (pass->unit != NULL)
			pfree(pass->unit);
		pass->unit = MemoryContextAllocHuge(pass->context, bytes);
		pass->unit_bytes = bytes;
	}
	return pass->unit;
}

static void
add_unit(UnitSummer *summer, const UnitRows *rows)
{
	Pass   *pass = (Pass *) summer;
	ErmUnit unit;
	ErmSums sums = {pass->total, pass->of_unit};

	erm_unit_write(&pass->problem, &pass->spec, rows,
				   room_for(pass, erm_unit_size(&pass->problem, rows->nrows)), &unit);
	pass->total[summer->count - 1]++;
	if (pass->pass == ERM_GRADIENTS)
		erm_add_unit(&pass->problem, pass->w, &unit, &sums);
	else
		for (int64 i = 0; i < unit.nrows; i++)
		{
			if (pass->pass == ERM_PRODUCTS)
				add_products(pass, &unit, i);
			else
				add_curvatures(pass, &unit, i);
		}
}

static void
flush(UnitSummer *summer, int128 *sums)
{
	Pass *pass = (Pass *) summer;

	for (int64 i = 0; i < summer->count; i++)
		sums[i] += pass->total[i];
	memset(pass->total, 0, summer->count * sizeof(int128));
}

static UnitSummer *
open_pass(const UnitForm *form, StringInfo bytes)
{
	Pass *pass = palloc0_object(Pass);

	pass->pass = pq_getmsgbyte(bytes);
	if (pass->pass > ERM_PRODUCTS || form->width < 0 || form->keeps_unlabelled)
		parameter_damaged();
	get_problem(bytes, form, &pass->problem);
	if (is_packed(pass->pass) && pass->problem.dimension > ERM_MAX_DENSE)
		parameter_damaged();
	pass->spec = (MechanismSpec){.width = form->width,
								 .nclasses = form->nclasses,
								 .label_min = form->label_min,
								 .label_max = form->label_max};
	pass->w = get_vector(bytes, pass->problem.dimension);
	if (pass->pass == ERM_PRODUCTS)
		pass->vector = get_vector(bytes, pass->problem.dimension);
	pass->scale = scale_of(&pass->problem, pass->pass, pass->vector);
	pass->context = CurrentMemoryContext;
	pass->summer.count = sums_of(&pass->problem, pass->pass);
	pass->summer.add = add_unit;
	pass->summer.flush = flush;
	pass->total =
		palloc_extended(pass->summer.count * sizeof(int128), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	pass->of_unit = palloc0_array(int128, pass->problem.dimension);
	return &pass->summer;
}

const UnitSum stable_erm_unit_sum = {"stable_erm", open_pass};

int64
erm_pass(const ErmProblem *problem, UnitSource *units, ErmPass pass, const double *w,
		 const double *vector, int128 *total, double *curvature)
{
	int64		   count = sums_of(problem, pass);
	double		   scale = scale_of(problem, pass, vector);
	int128		  *sums = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(int128));
	StringInfoData parameter;
	int64		   result;

	put_parameter(&parameter, problem, pass, w, vector);
	unit_sums(units, &stable_erm_unit_sum, &parameter, count, sums);
	for (int64 i = 0; i < count - 1; i++)
	{
		if (pass == ERM_GRADIENTS)
			total[i] = sums[i];
		else
			curvature[i] = scale > 0 ? (double) sums[i] / scale : 0;
	}
	result = (int64) sums[count - 1];
	pfree(parameter.data);
	pfree(sums);
	return result;
}
