/*
 * test_forest.c
 *		Forests: evaluation against a plain walk, the stored form, and 100,000
 *		mutations of it, each parsed and evaluated in a block of its own for the
 *		address sanitizer.
 *
 * sources: src/learner/predictor_format.c src/learner/forest.c
 */
#include "c.h"

#include <float.h>
#include <math.h>

#include "learner/forest.h"
#include "learner/predictor_format.h"
#include "unit.h"

#define ROUNDS 100000
#define WIDTH 7

static float
draw_float(void)
{
	return (float) arbitrary(64) / 64;
}

static void
allocate(Forest *forest)
{
	forest->splits = calloc(forest_splits(forest), sizeof(ForestSplit));
	forest->leaves = calloc(forest_leaves(forest), sizeof(float));
}

static void
release(Forest *forest)
{
	free(forest->splits);
	free(forest->leaves);
}

/* A tree with leaves at all levels. */
static void
grow(Forest *forest, uint32 tree, uint32 node, uint32 level)
{
	float values[8];

	if (level < forest->depth && arbitrary(5) > 0)
	{
		forest_set_split(forest, tree, node, arbitrary(WIDTH), draw_float(), arbitrary(2));
		grow(forest, tree, 2 * node + 1, level + 1);
		grow(forest, tree, 2 * node + 2, level + 1);
		return;
	}
	for (uint32 i = 0; i < forest->outputs; i++)
		values[i] = draw_float() - 0.5f;
	forest_set_leaf(forest, tree, node, level, values);
}

static Forest
make_forest(uint32 depth, uint32 trees, uint32 scores, uint32 outputs)
{
	Forest forest = {.depth = depth, .trees = trees, .scores = scores, .outputs = outputs};

	allocate(&forest);
	for (uint32 tree = 0; tree < trees; tree++)
		grow(&forest, tree, 0, 0);
	return forest;
}

static void
draw_features(double *x, bool missing)
{
	for (int i = 0; i < WIDTH; i++)
		x[i] = missing && arbitrary(4) == 0 ? NAN : draw_float();
}

/* The definition, one tree and one step at a time. */
static void
plain_scores(const Forest *forest, const double *x, float *scores)
{
	uint32 splits = (1u << forest->depth) - 1;

	for (uint32 tree = 0; tree < forest->trees; tree++)
	{
		uint32		 node = 0;
		const float *leaf;

		while (node < splits)
		{
			const ForestSplit *split = &forest->splits[tree * splits + node];
			double			   value = x[split->feature];
			bool			   left = isnan(value) ? split->missing_left : value < split->threshold;

			node = left ? 2 * node + 1 : 2 * node + 2;
		}
		leaf = forest->leaves + ((Size) tree * (splits + 1) + node - splits) * forest->outputs;
		if (forest->outputs == 1)
			scores[tree % forest->scores] += leaf[0];
		else
			for (uint32 s = 0; s < forest->scores; s++)
				scores[s] += leaf[s];
	}
}

static void
test_evaluation(void)
{
	int different = 0;
	int compared = 0;

	for (uint32 depth = 1; depth <= FOREST_MAX_DEPTH; depth++)
		for (int shape = 0; shape < 4; shape++)
		{
			uint32 scores = shape < 2 ? 1 : 3;
			uint32 outputs = shape == 3 ? 3 : 1;
			Forest forest = make_forest(depth, shape == 0 ? 1 : 21, scores, outputs);

			for (int i = 0; i < 200; i++)
			{
				double x[WIDTH];
				float  features[WIDTH];
				float  expected[3] = {0};
				float  got[3] = {0};
				bool   missing;

				draw_features(x, i % 2);
				missing = forest_features(x, WIDTH, features);
				plain_scores(&forest, x, expected);
				forest_add_scores(&forest, features, missing, got);
				different += memcmp(expected, got, scores * sizeof(float)) != 0;
				compared++;
			}
			release(&forest);
		}
	ok(different == 0 && compared == 6400,
	   "scores are those of a plain walk, missing features included");
}

static void
test_features(void)
{
	double x[] = {0.1, -0.0, 1e300, -1e300, FLT_MAX};
	float  features[5];

	ok(!forest_features(x, 5, features) && features[0] == 0.1f && features[2] == FLT_MAX &&
		   features[3] == -FLT_MAX && features[4] == FLT_MAX,
	   "numbers beyond the floats are clamped");
	x[1] = NAN;
	ok(forest_features(x, 5, features) && isnan(features[1]), "and NaN stays what is missing");
}

/* A predictor of one forest, in a block of its own. */
static unsigned char *
make_predictor(const Forest *forest, uint32 nclasses, size_t *size)
{
	size_t		   body = forest_stored_size(forest);
	size_t		   at = PREDICTOR_HEADER_SIZE;
	unsigned char *bytes;

	*size = at + nclasses * 5 + PREDICTOR_MEMBER_HEADER + body;
	bytes = calloc(*size, 1);
	memcpy(bytes, PREDICTOR_MAGIC, 4);
	bytes[4] = PREDICTOR_VERSION;
	write_u32(bytes + 8, nclasses);
	write_u32(bytes + 12, WIDTH);
	write_u32(bytes + 16, 1);
	for (uint32 c = 0; c < nclasses; c++, at += 5)
	{
		write_u32(bytes + at, 1);
		bytes[at + 4] = 'a' + c;
	}
	write_u32(bytes + at, MEMBER_FOREST);
	write_u32(bytes + at + 4, body);
	forest_store(forest, bytes + at + PREDICTOR_MEMBER_HEADER);
	return bytes;
}

/* Parses; if accepted, evaluates every forest as the server does. */
static bool
parse_and_evaluate(const unsigned char *bytes, size_t size)
{
	PredictorShape		 shape;
	const unsigned char *position;

	if (predictor_parse(bytes, size, &shape) != NULL)
		return false;
	position = shape.members;
	for (uint32 m = 0; m < shape.nmembers; m++)
	{
		PredictorMember member;
		Forest			forest;
		double		   *x = calloc(shape.width, sizeof(double));
		float		   *features = calloc(shape.width, sizeof(float));
		float		   *scores = calloc(shape.nclasses, sizeof(float));

		position = predictor_next_member(position, &member);
		if (member.kind == MEMBER_FOREST &&
			forest_parse(member.body, member.size, shape.nclasses, shape.width, &forest))
		{
			allocate(&forest);
			forest_load(member.body, &forest);
			for (int i = 0; i < 4; i++)
			{
				for (uint32 j = 0; j < shape.width; j++)
					x[j] = i % 2 && arbitrary(4) == 0 ? NAN : draw_float();
				forest_add_scores(&forest, features, forest_features(x, shape.width, features),
								  scores);
			}
			release(&forest);
		}
		free(x);
		free(features);
		free(scores);
	}
	return true;
}

static void
test_stored(void)
{
	Forest		   forest = make_forest(3, 6, 3, 1);
	Forest		   stump = {.depth = 3, .trees = 6, .scores = 3, .outputs = 1};
	Forest		   copy;
	size_t		   size;
	size_t		   stump_size;
	unsigned char *bytes = make_predictor(&forest, 3, &size);
	unsigned char *stump_bytes;
	unsigned char *body = bytes + size - forest_stored_size(&forest);
	int			   cut_accepted = 0;

	ok(parse_and_evaluate(bytes, size), "a forest is accepted");
	ok(forest_parse(body, forest_stored_size(&forest), 3, WIDTH, &copy), "its shape is read");
	allocate(&copy);
	forest_load(body, &copy);
	ok(memcmp(copy.leaves, forest.leaves, forest_leaves(&forest) * sizeof(float)) == 0 &&
		   memcmp(copy.splits, forest.splits, forest_splits(&forest) * sizeof(ForestSplit)) == 0,
	   "and it comes back as it was");
	allocate(&stump);
	stump_bytes = make_predictor(&stump, 3, &stump_size);
	ok(stump_size == size, "trees without a split take as much space");
	for (size_t cut = 0; cut < size; cut++)
	{
		unsigned char *part = malloc(Max(cut, 1));

		memcpy(part, bytes, cut);
		cut_accepted += parse_and_evaluate(part, cut);
		free(part);
	}
	ok(cut_accepted == 0, "cut anywhere, it is refused");
	release(&forest);
	release(&stump);
	release(&copy);
	free(bytes);
	free(stump_bytes);
}

/* Writes a number into the body of a good forest; true if that is refused. */
static bool
refused_with(size_t at, uint32 value, int bytes_written)
{
	Forest		   forest = make_forest(2, 3, 3, 1);
	size_t		   size = forest_stored_size(&forest);
	unsigned char *body = malloc(size);
	Forest		   shape;
	bool		   accepted;

	forest_store(&forest, body);
	if (bytes_written == 4)
		write_u32(body + at, value);
	else
	{
		body[at] = (unsigned char) value;
		body[at + 1] = (unsigned char) (value >> 8);
	}
	accepted = forest_parse(body, size, 3, WIDTH, &shape);
	free(body);
	release(&forest);
	return !accepted;
}

static void
test_refusals(void)
{
	const uint32 nan_bits = 0x7fc00000;
	const uint32 infinity_bits = 0xff800000;

	ok(refused_with(0, 0, 4) && refused_with(0, 9, 4) && refused_with(0, UINT32_MAX, 4),
	   "depths out of range are refused");
	ok(refused_with(4, 0, 4) && refused_with(4, 2, 4) && refused_with(4, UINT32_MAX, 4),
	   "so are trees that are none, incomplete or too many");
	ok(refused_with(8, 0, 4) && refused_with(8, 2, 4) && refused_with(8, 3, 4) &&
		   refused_with(12, 2, 4),
	   "and wrong outputs, and a flag that is neither 0 nor 1");
	ok(refused_with(16, WIDTH, 2) && refused_with(16, WIDTH | FOREST_MISSING_LEFT, 2) &&
		   !refused_with(16, (WIDTH - 1) | FOREST_MISSING_LEFT, 2),
	   "features out of range are refused");
	ok(refused_with(18, nan_bits, 4) && refused_with(18, infinity_bits, 4),
	   "thresholds that are no numbers are refused");
	ok(refused_with(16 + 3 * 6, nan_bits, 4) && refused_with(16 + 3 * 6 + 12, infinity_bits, 4),
	   "so are leaves");
}

static void
test_mutations(void)
{
	size_t		   sizes[3];
	unsigned char *valid[3];
	int			   accepted = 0;

	for (int i = 0; i < 3; i++)
	{
		uint32 nclasses = i == 0 ? 2 : 3;
		Forest forest = make_forest(1 + i, i == 2 ? 2 : 9, nclasses == 2 ? 1 : 3, i == 2 ? 3 : 1);

		valid[i] = make_predictor(&forest, nclasses, &sizes[i]);
		release(&forest);
	}
	for (int round = 0; round < ROUNDS; round++)
	{
		int			   which = round % 3;
		unsigned char *work = malloc(sizes[which]);
		size_t		   size;
		unsigned char *copy;

		memcpy(work, valid[which], sizes[which]);
		size = mutate(work, sizes[which]);
		copy = malloc(size);
		memcpy(copy, work, size);
		accepted += parse_and_evaluate(copy, size);
		free(copy);
		free(work);
	}
	/* many mutations only change a threshold or a leaf */
	ok(accepted > ROUNDS / 100 && accepted < ROUNDS,
	   "%d mutations are refused or evaluated (%d evaluated)", ROUNDS, accepted);
	for (int i = 0; i < 3; i++)
		free(valid[i]);
}

int
main(void)
{
	test_evaluation();
	test_features();
	test_stored();
	test_refusals();
	test_mutations();
	return done();
}
