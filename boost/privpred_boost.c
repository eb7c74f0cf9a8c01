/*
 * privpred_boost.c
 *		The module that holds XGBoost: grows trees through its C interface.
 *
 * Nothing here may jump over the library's C++ frames: it is called, returns,
 * and only then do we look for interrupts or raise an error.  Its objects are
 * freed whichever way fit is left.
 */
#include "postgres.h"

#include <math.h>
#include <omp.h>
#include <xgboost/c_api.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "learner/boost_module.h"
#include "readout.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT bool privpred_boost_fit_2(const BoostTask *task, Forest *forest);

/* Handles of the library. */
typedef struct Library
{
	DMatrixHandle rows;
	BoosterHandle booster;
} Library;

/* The library turns exceptions into a status, those of operator new included. */
static void
check(int status)
{
	const char *message;

	if (status == 0)
		return;
	message = XGBGetLastError();
	if (strstr(message, "bad_alloc") != NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
						errdetail("XGBoost could not train a teacher."),
						errhint("Use more teachers or smaller trees.")));
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("XGBoost could not train a teacher"), errdetail_internal("%s", message)));
}

static void
check_readout(ReadoutResult result)
{
	if (result == READOUT_UNKNOWN)
		ereport(ERROR, (errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
						errmsg("this version of XGBoost writes trees in an unknown form"),
						errhint("privpred is tested with XGBoost %d.%d.", 1, 7)));
}

/* The server's log and a client's terminal are not the library's. */
static void
ignore_message(const char *message)
{
}

static void
set_text(Library *library, const char *name, const char *value)
{
	check(XGBoosterSetParam(library->booster, name, value));
}

static void
set_number(Library *library, const char *name, double value)
{
	set_text(library, name, psprintf("%.9g", value));
}

/*
 * One thread and a fixed seed: the same rows in the same order give the same
 * trees.  On Adult and mnist7x7 as many cuts as this lose nothing against all
 * of them, and take a quarter of the time.
 */
static void
configure(Library *library, const BoostTask *task, const Forest *forest)
{
	bool multi = forest->scores > 1;

	set_text(library, "nthread", "1");
	set_text(library, "verbosity", "0");
	set_text(library, "seed", "0");
	set_text(library, "booster", "gbtree");
	set_text(library, "tree_method", "hist");
	set_number(library, "max_bin", BOOST_MAX_BINS);
	set_text(library, "objective",
			 multi				   ? "multi:softprob"
			 : task->nclasses == 1 ? "reg:squarederror"
								   : "binary:logistic");
	if (multi)
		set_number(library, "num_class", forest->scores);
	/* scores start at zero, as they do where the trees are evaluated; numbers at one half */
	set_text(library, "base_score", multi ? "0" : "0.5");
	set_text(library, "disable_default_eval_metric", "1");
	set_number(library, "max_depth", forest->depth);
	set_number(library, "eta", task->rate);
	set_number(library, "subsample", task->subsample);
	set_number(library, "colsample_bynode", task->columns);
	set_number(library, "min_child_weight", task->min_weight);
	set_number(library, "lambda", task->penalty);
}

/*
 * First and second derivatives of the loss where all scores are zero, as
 * XGBoost defines them.  Of numbers, those of half the squared error.
 */
static void
derivatives_at_zero(const BoostTask *task, uint32 scores, float *first, float *second)
{
	float p = scores == 1 ? 0.5f : 1.0f / scores;
	float curvature = (scores == 1 ? 1 : 2) * p * (1 - p);

	for (int64 row = 0; row < task->rows && task->nclasses == 1; row++)
	{
		first[row] = 0.5f - task->classes[row];
		second[row] = 1;
	}
	for (int64 row = 0; row < task->rows && task->nclasses > 1; row++)
		for (uint32 s = 0; s < scores; s++)
		{
			bool hit = task->classes[row] == (scores == 1 ? 1 : s);

			first[row * scores + s] = hit ? p - 1 : p;
			second[row * scores + s] = curvature;
		}
}

/*
 * A random forest: every tree answers the same derivatives.  Grown one by one
 * rather than as one round of parallel trees, so that it can be interrupted.
 */
static void
grow_independent(Library *library, const BoostTask *task, const Forest *forest)
{
	Size   n = task->rows * forest->scores;
	float *first = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(float));
	float *second = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(float));

	derivatives_at_zero(task, forest->scores, first, second);
	for (int round = 0; round < task->rounds; round++)
	{
		CHECK_FOR_INTERRUPTS();
		check(XGBoosterBoostOneIter(library->booster, library->rows, first, second, n));
	}
}

static void
grow(Library *library, const BoostTask *task, const Forest *forest)
{
	check(XGDMatrixCreateFromMat_omp(task->features, task->rows, task->width, NAN, &library->rows,
									 1));
	check(XGDMatrixSetFloatInfo(library->rows, "label", task->classes, task->rows));
	check(XGBoosterCreate(&library->rows, 1, &library->booster));
	configure(library, task, forest);
	if (task->independent)
		grow_independent(library, task, forest);
	else
		for (int round = 0; round < task->rounds; round++)
		{
			CHECK_FOR_INTERRUPTS();
			check(XGBoosterUpdateOneIter(library->booster, round, library->rows));
		}
}

static bool
read_trees(Library *library, const BoostTask *task, Forest *forest)
{
	bst_ulong	 n;
	const char **dumps;
	bool		 finite = true;

	check(XGBoosterDumpModelEx(library->booster, "", 0, "text", &n, &dumps));
	if (n != forest->trees)
		check_readout(READOUT_UNKNOWN);
	for (uint32 tree = 0; tree < forest->trees; tree++)
	{
		ReadoutResult result = readout_tree(dumps[tree], task->width, forest, tree);

		check_readout(result);
		finite &= result == READOUT_OK;
	}
	return finite;
}

bool
privpred_boost_fit_2(const BoostTask *task, Forest *forest)
{
	static Library library;
	volatile bool  finite = false;

	omp_set_num_threads(1);
	check(XGBRegisterLogCallback(ignore_message));
	memset(&library, 0, sizeof(library));
	PG_TRY();
	{
		grow(&library, task, forest);
		finite = read_trees(&library, task, forest);
	}
	PG_FINALLY();
	{
		if (library.booster != NULL)
			(void) XGBoosterFree(library.booster);
		if (library.rows != NULL)
			(void) XGDMatrixFree(library.rows);
		memset(&library, 0, sizeof(library));
	}
	PG_END_TRY();
	return finite;
}
