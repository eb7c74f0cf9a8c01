/*
 * test_boost.c
 *		What we read out of XGBoost says what XGBoost says, bit for bit; and a
 *		dump that is not of the form we know is refused.
 *
 * sources: boost/readout.c src/learner/forest.c
 * needs: xgboost/c_api.h
 * libraries: -lxgboost
 */
#include "c.h"

#include <math.h>
#include <xgboost/c_api.h>

#include "../../boost/readout.h"
#include "unit.h"

#define ROWS 400
#define WIDTH 6
#define DEPTH 4
#define ROUNDS 12
#define MAX_CLASSES 5

static float features[ROWS * WIDTH];
static float labels[ROWS];

static double
uniform(void)
{
	return (double) arbitrary(1 << 30) / (1 << 30);
}

/* Rows with missing values, whose class depends on three features. */
static void
make_rows(int nclasses)
{
	for (int row = 0; row < ROWS; row++)
	{
		float *x = features + row * WIDTH;
		double sum;

		for (int i = 0; i < WIDTH; i++)
			x[i] = i == 5 ? (float) (uniform() < 0.5) : (float) uniform();
		sum = 1.5 * x[0] + (x[1] > 0.5) * x[2] + 0.2 * uniform();
		labels[row] = (float) Min(nclasses - 1, (int) (sum * nclasses / 2.7));
		for (int i = 0; i < WIDTH; i++)
			if (uniform() < 0.15)
				x[i] = NAN;
	}
}

static BoosterHandle
train(DMatrixHandle rows, int nclasses)
{
	BoosterHandle booster;
	char		  number[16];

	XGBoosterCreate(&rows, 1, &booster);
	XGBoosterSetParam(booster, "nthread", "1");
	XGBoosterSetParam(booster, "verbosity", "0");
	XGBoosterSetParam(booster, "tree_method", "hist");
	XGBoosterSetParam(booster, "objective", nclasses > 2 ? "multi:softprob" : "binary:logistic");
	XGBoosterSetParam(booster, "base_score", nclasses > 2 ? "0" : "0.5");
	snprintf(number, sizeof(number), "%d", nclasses);
	if (nclasses > 2)
		XGBoosterSetParam(booster, "num_class", number);
	snprintf(number, sizeof(number), "%d", DEPTH);
	XGBoosterSetParam(booster, "max_depth", number);
	for (int round = 0; round < ROUNDS; round++)
		if (XGBoosterUpdateOneIter(booster, round, rows) != 0)
			note("%s", XGBGetLastError());
	return booster;
}

static void
compare(int nclasses)
{
	int	   scores = nclasses == 2 ? 1 : nclasses;
	Forest forest = {.depth = DEPTH, .trees = ROUNDS * scores, .scores = scores, .outputs = 1};
	DMatrixHandle rows;
	BoosterHandle booster;
	bst_ulong	  n;
	const char	**dumps;
	const float	 *margins;
	int			  read = 0;
	int			  different = 0;
	int			  splits = 0;

	forest.splits = calloc(forest_splits(&forest), sizeof(ForestSplit));
	forest.leaves = calloc(forest_leaves(&forest), sizeof(float));
	make_rows(nclasses);
	XGDMatrixCreateFromMat_omp(features, ROWS, WIDTH, NAN, &rows, 1);
	XGDMatrixSetFloatInfo(rows, "label", labels, ROWS);
	booster = train(rows, nclasses);
	XGBoosterDumpModelEx(booster, "", 0, "text", &n, &dumps);
	ok(n == forest.trees, "%d classes: as many trees as rounds and scores", nclasses);
	for (uint32 tree = 0; tree < n; tree++)
		read += readout_tree(dumps[tree], WIDTH, &forest, tree) == READOUT_OK;
	ok(read == (int) n, "%d classes: each is read", nclasses);
	for (Size i = 0; i < forest_splits(&forest); i++)
		splits += forest.splits[i].threshold != 0;
	/* 1: margins, not probabilities */
	XGBoosterPredict(booster, rows, 1, 0, 0, &n, &margins);
	for (int row = 0; row < ROWS; row++)
	{
		float ours[MAX_CLASSES] = {0};

		forest_add_scores(&forest, features + row * WIDTH, true, ours);
		for (int s = 0; s < scores; s++)
			different += memcmp(&ours[s], &margins[row * scores + s], sizeof(float)) != 0;
	}
	ok(different == 0 && n == (bst_ulong) ROWS * scores && splits > ROUNDS,
	   "%d classes: %d margins equal XGBoost's bit for bit (%d differ)", nclasses, (int) n,
	   different);
	XGBoosterFree(booster);
	XGDMatrixFree(rows);
	free(forest.splits);
	free(forest.leaves);
}

static void
refuse(void)
{
	static const char *const malformed[] = {
		"",
		"0:leaf=",
		"0:leaf=0.5",
		"1:leaf=0.5\n",
		"0:leaf=0.5\n0:leaf=0.5\n",
		"0:[f9<0.5] yes=1,no=2,missing=1\n1:leaf=0\n2:leaf=0\n",
		"0:[f1<0.5] yes=1,no=2,missing=3\n1:leaf=0\n2:leaf=0\n",
		"0:[f1<0.5] yes=1,no=2,missing=1\n1:leaf=0\n",
		"0:[f1<0.5] yes=0,no=0,missing=0\n",
		"0:[f1<0.5] yes=1,no=99999999999,missing=1\n1:leaf=0\n",
		"0:[f1:{1,2}] yes=1,no=2,missing=1\n1:leaf=0\n2:leaf=0\n",
		"0:[f1] yes=1,no=2\n1:leaf=0\n2:leaf=0\n",
		"-1:leaf=0\n",
		"0:leaf=0.5,cover=1\n",
	};
	Forest		forest = {.depth = 2, .trees = 1, .scores = 1, .outputs = 1};
	ForestSplit splits[3];
	float		leaves[4];
	int			accepted = 0;

	forest.splits = splits;
	forest.leaves = leaves;
	for (int i = 0; i < lengthof(malformed); i++)
		accepted += readout_tree(malformed[i], WIDTH, &forest, 0) != READOUT_UNKNOWN;
	ok(accepted == 0, "dumps of another form are refused");
	ok(readout_tree("0:leaf=nan\n", WIDTH, &forest, 0) == READOUT_NOT_FINITE &&
		   readout_tree("0:[f1<inf] yes=1,no=2,missing=1\n1:leaf=0\n2:leaf=0\n", WIDTH, &forest,
						0) == READOUT_NOT_FINITE,
	   "and what is no number is told apart");
}

int
main(void)
{
	compare(2);
	compare(5);
	refuse();
	return done();
}
