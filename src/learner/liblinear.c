/*
 * liblinear.c
 *		Logistic regression and support vector machines, by LIBLINEAR (Fan et
 *		al. 2008), one class against the rest.
 *
 * Only its primal solvers (trust region Newton) are used: they draw no random
 * numbers, so that the result depends on the rows and their order alone.
 */
#include "postgres.h"

#include <limits.h>
#include <linear.h>
#include <math.h>
#include <signal.h>

#include "miscadmin.h"

#include "learner/learners.h"

/* The weight of the loss (C), and when the solver stops. */
enum
{
	COST,
	TOLERANCE
};

/* Defaults were chosen on the Adult data with a few hundred rows per teacher. */
static const Option logistic_options[] = {
	[COST] = {"cost", OPTION_NUMBER, 1e-12, 1e12, 10},
	[TOLERANCE] = {"tolerance", OPTION_NUMBER, 1e-12, 1e12, 0.1},
	{NULL},
};

static const Option svm_options[] = {
	[COST] = {"cost", OPTION_NUMBER, 1e-12, 1e12, 1},
	[TOLERANCE] = {"tolerance", OPTION_NUMBER, 1e-12, 1e12, 0.1},
	{NULL},
};

/* Beyond this, products of features overflow, and the solver never ends. */
#define LARGEST_FEATURE 1e30

/*
 * What LIBLINEAR allocates by itself.  For each row: a permutation and labels
 * (ints), two sets of pointers, and labels, costs, margins, curvatures and
 * products (doubles), of which some versions do without some.  For each weight: some
 * vectors of the Newton step and of the conjugate gradient within it.
 */
#define SOLVER_ROW_ARRAYS 8
#define SOLVER_WEIGHT_ARRAYS 12
#define SOLVER_OTHER_BYTES (256 * 1024)

/* Its arrays per row, and our sort keys and pointers. */
#define SOLVER_ROW_BYTES (SOLVER_ROW_ARRAYS * sizeof(double) + 64)

/* Between two checks for interrupts. */
#define ROWS_PER_CHECK 65536

/* How far we are in making the solver stop. */
typedef enum StopStage
{
	STOP_NONE,
	STOP_EMPTIED, /* rows have no features */
	STOP_TRYING,  /* rows agree with one weight, or with its negative */
	STOP_FOUND	  /* rows agree with the weights: it will converge */
} StopStage;

/* What the solver is working on, for callbacks, which have no argument. */
static struct problem		*current_problem = NULL;
static volatile sig_atomic_t stop_stage = STOP_NONE;
static int					 stop_attempts = 0;

/* Signals by which the server asks a session to stop, and their usual handlers. */
static const int		stop_signals[2] = {SIGINT, SIGTERM};
static struct sigaction usual_action[2];

static Size
fit_row_bytes(int nclasses, int width)
{
	return (width + 2) * sizeof(struct feature_node) + SOLVER_ROW_BYTES;
}

/* Gives every row one feature, far on its own side of weight number index. */
static void
make_rows_agree(int index, double sign)
{
	for (int row = 0; row < current_problem->l; row++)
	{
		struct feature_node *node = current_problem->x[row];

		node[0].index = index;
		node[0].value = sign * current_problem->y[row] * 1e100;
		node[1].index = -1;
	}
}

/*
 * Makes rows end where they begin, so that the rest of a step is short: a
 * conjugate gradient over many rows may take seconds.
 */
static void
stop_if_interrupted(void)
{
	if (stop_stage != STOP_NONE || !InterruptPending || !(QueryCancelPending || ProcDiePending) ||
		!INTERRUPTS_CAN_BE_PROCESSED())
		return;
	stop_stage = STOP_EMPTIED;
	for (int row = 0; row < current_problem->l; row++)
		current_problem->x[row]->index = -1;
}

/* In place of the server's own handler of SIGINT or SIGTERM, while the solver runs. */
static void
signal_callback(int number)
{
	usual_action[number == stop_signals[1]].sa_handler(number);
	stop_if_interrupted();
}

static void
catch_signals(void)
{
	for (int i = 0; i < lengthof(stop_signals); i++)
	{
		struct sigaction ours;

		(void) sigaction(stop_signals[i], NULL, &usual_action[i]);
		if (usual_action[i].sa_handler == SIG_IGN || usual_action[i].sa_handler == SIG_DFL)
			continue; /* some background worker's */
		ours = usual_action[i];
		ours.sa_handler = signal_callback;
		(void) sigaction(stop_signals[i], &ours, NULL);
	}
}

static void
leave_signals(void)
{
	for (int i = 0; i < lengthof(stop_signals); i++)
		(void) sigaction(stop_signals[i], &usual_action[i], NULL);
}

/*
 * The solver prints once per Newton step.  It is C++ with memory of its own, so
 * an error must not jump over it; it has no other way out than convergence; and
 * it forgets no function value it has seen.  So we change the problem into one
 * that is easy and better than anything seen: rows without loss, which leaves
 * only the regularizer.  For that every row gets a single huge feature on the
 * right side of some weight.  We do not see the weights, but a step that the
 * solver rejects ("act" not positive) tells us to try the other sign, then the
 * next weight.  Some hundred cheap steps later it has converged to nothing.
 */
static void
print_callback(const char *message)
{
	int	   iteration;
	double reduction;

	if (stop_stage == STOP_NONE)
	{
		stop_if_interrupted(); /* the signal may have come before our handlers were set */
		return;
	}
	if (stop_stage == STOP_FOUND || sscanf(message, "iter %d act %lf", &iteration, &reduction) != 2)
		return;
	if (reduction > 0)
	{
		if (stop_stage == STOP_TRYING)
			stop_stage = STOP_FOUND;
		return;
	}
	/* the bias first: it is rarely zero */
	stop_stage = STOP_TRYING;
	make_rows_agree(current_problem->n - stop_attempts / 2 % current_problem->n,
					stop_attempts % 2 == 0 ? 1 : -1);
	stop_attempts++;
}

/* Positions of rows, in canonical order within each class. */
static int *
group_by_class(const TrainingData *data)
{
	int64 *next = palloc_array(int64, data->nclasses);
	int	  *grouped = palloc_huge(data->nrows * sizeof(int));
	int64  start = 0;

	for (int c = 0; c < data->nclasses; c++)
	{
		next[c] = start;
		start += data->class_rows[c];
	}
	for (int64 row = 0; row < data->nrows; row++)
		grouped[next[training_class(data, row)]++] = row;
	pfree(next);
	return grouped;
}

/*
 * Rows without zeros: features are often one-hot.  The solver goes through
 * them label by label, again and again, so they lie in memory class by class:
 * with more rows than a cache holds it is four times as fast.  False if they are
 * too large to be fitted.
 */
static bool
make_nodes(const TrainingData *data, struct problem *problem)
{
	struct feature_node *node;
	int					*grouped;
	Size				 nonzero = 0;
	bool				 too_large = false;

	for (int64 i = 0; i < data->nrows * data->width; i++)
	{
		nonzero += data->values[i] != 0;
		too_large |= fabs(data->values[i]) > LARGEST_FEATURE;
	}
	if (too_large)
		return false;
	/* each row also has a bias and an end */
	node = palloc_huge((nonzero + 2 * data->nrows) * sizeof(struct feature_node));
	grouped = group_by_class(data);
	for (int row = 0; row < problem->l; row++)
	{
		const double *x = training_row(data, grouped[row]);

		if (row % ROWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		problem->x[row] = node;
		for (int i = 0; i < data->width; i++)
			if (x[i] != 0)
			{
				node->index = i + 1;
				node++->value = x[i];
			}
		node->index = data->width + 1;
		node++->value = problem->bias;
		node->index = -1;
		node++->value = 0;
	}
	pfree(grouped);
	return true;
}

/* Gets arrays from the C library, and remembers them in a list; false if there are none. */
static bool
try_arrays(int n, Size size, void **list)
{
	size = Max(size, sizeof(void *));
	for (int i = 0; i < n; i++)
	{
		void **array = malloc(size);

		if (array == NULL)
			return false;
		*array = *list;
		*list = array;
	}
	return true;
}

/*
 * The solver does not check what malloc() returns, and its exceptions would end
 * the server.  So we first allocate arrays of the same sizes, all at once, to see
 * whether there is enough memory, and free them again.
 */
static void
check_solver_memory(const struct problem *problem)
{
	void *arrays = NULL;
	bool  enough;

	enough = try_arrays(SOLVER_ROW_ARRAYS, problem->l * sizeof(double), &arrays) &&
			 try_arrays(SOLVER_WEIGHT_ARRAYS, problem->n * sizeof(double), &arrays) &&
			 try_arrays(1, SOLVER_OTHER_BYTES, &arrays);
	while (arrays != NULL)
	{
		void *next = *(void **) arrays;

		free(arrays);
		arrays = next;
	}
	if (!enough)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
				errdetail("LIBLINEAR needs %zu bytes for %d rows.",
						  (SOLVER_ROW_ARRAYS * (Size) problem->l +
						   SOLVER_WEIGHT_ARRAYS * (Size) problem->n) *
								  sizeof(double) +
							  SOLVER_OTHER_BYTES,
						  problem->l),
				errhint("Use more teachers, so that each has fewer rows."));
}

/* Weights of class against the rest; false if they are not numbers. */
static bool
train_one(const TrainingData *data, struct problem *problem, const struct parameter *parameter,
		  int class_index, double *weights)
{
	struct model *model;
	bool		  finite = true;
	double		 *y = problem->y;

	for (int c = 0; c < data->nclasses; c++)
		for (int64 i = 0; i < data->class_rows[c]; i++)
			*y++ = c == class_index ? 1 : -1;

	check_solver_memory(problem);
	current_problem = problem;
	stop_stage = STOP_NONE;
	stop_attempts = 0;
	set_print_string_function(print_callback);
	catch_signals();
	model = train(problem, parameter);
	leave_signals();
	current_problem = NULL;

	/* its weights point to the label it met first, or to +1 */
	for (int i = 0; i <= data->width; i++)
	{
		weights[i] = model->label[0] == 1 ? model->w[i] : -model->w[i];
		finite &= isfinite(weights[i]) != 0;
	}
	free_and_destroy_model(&model);
	CHECK_FOR_INTERRUPTS();
	/* if that returned nevertheless, the weights are still useless */
	if (stop_stage != STOP_NONE)
		ereport(ERROR, errcode(ERRCODE_QUERY_CANCELED),
				errmsg("canceling training due to an interrupt"));
	return finite;
}

static bool
fit_with(int solver, const TrainingData *data, const LearnerOptions *options,
		 PredictorBuilder *result)
{
	int				 vectors = LINEAR_VECTORS(data->nclasses);
	int				 stride = data->width + 1;
	double			*weights = palloc0((Size) vectors * stride * sizeof(double));
	struct problem	 problem = {.l = data->nrows, .n = stride, .bias = 1.0};
	struct parameter parameter = {
		.solver_type = solver, .eps = options->number[TOLERANCE], .C = options->number[COST]};

	if (data->nrows > INT_MAX)
		return false;
	problem.y = palloc_huge(data->nrows * sizeof(double));
	problem.x = palloc_huge(data->nrows * sizeof(struct feature_node *));
	if (!make_nodes(data, &problem))
		return false;

	for (int v = 0; v < vectors; v++)
	{
		/* of two classes, the second is the positive one */
		int c = vectors == 1 ? 1 : v;

		if (data->class_rows[c] == 0)
			weights[v * stride + data->width] = -INFINITY;
		else if (!train_one(data, &problem, &parameter, c, weights + v * stride))
			return false;
	}
	builder_linear(result, weights);
	return true;
}

static bool
fit_logistic(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	return fit_with(L2R_LR, data, options, result);
}

static bool
fit_svm(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	return fit_with(L2R_L2LOSS_SVC, data, options, result);
}

const Learner logistic_learner = {
	.name = "logistic",
	.options = logistic_options,
	.fit_row_bytes = fit_row_bytes,
	.member_size = linear_member_size,
	.fit = fit_logistic,
};

const Learner svm_learner = {
	.name = "svm",
	.options = svm_options,
	.fit_row_bytes = fit_row_bytes,
	.member_size = linear_member_size,
	.fit = fit_svm,
};
