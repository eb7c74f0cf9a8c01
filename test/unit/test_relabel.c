/*
 * test_relabel.c
 *		relabel: what is proved holds for all small tables and all their
 *		neighbours; its parts, the sample, the chunks, the private vote, are what
 *		the proof needs; and the formula is that of section 5 of docs/mechanisms.md.
 *
 * End to end the bound is far from what small tables lose, so each part has a test
 * of its own that catches it when wrong.
 *
 * sources: src/mechanism/hypotheses.c src/mechanism/plane.c src/mechanism/stable/draw.c
 * sources: src/mechanism/relabel/draw.c src/mechanism/sort.c src/mechanism/vote/draw.c
 * sources: src/mechanism/solve.c
 * sources: src/draw/rng.c src/draw/bernoulli.c
 */
#include "postgres.h"

#include "mechanism/relabel/draw.h"
#include "mechanism/solve.h"
#include "small_tables.h"

#define ROUNDING 1e-9

static const double	  line[3][2] = {{0.2, 0}, {0.5, 0}, {0.8, 0}};
static const double	  square[3][2] = {{0.2, 0.7}, {0.5, 0.3}, {0.8, 0.5}};
static const UnitKind single[6] = {{1, {0}}, {1, {1}}, {1, {2}}, {1, {3}}, {1, {4}}, {1, {5}}};
static const UnitKind pairs[] = {{1, {0}},	  {1, {3}},	   {2, {0, 2}}, {2, {1, 3}},
								 {2, {0, 5}}, {2, {1, 4}}, {2, {2, 5}}};

static const Domain on_line = {1, 3, line, 6, single};
static const Domain on_two = {1, 2, line, 4, single};
static const Domain on_square = {2, 3, square, 6, single};
static const Domain with_units = {1, 3, line, lengthof(pairs), pairs};

/* ---------- all small tables ---------- */

typedef struct Vote
{
	const Chunks *chunks;
	EpsilonUnits  kappa;
} Vote;

static double
given_sample(StableSampler *sampler, const void *argument, const double *x)
{
	const Vote *vote = argument;

	return relabel_probability(sampler, vote->chunks, vote->kappa, x);
}

/* The unit at place i is in chunk i modulo their number, there or not. */
static Chunks *
chunks_by_place(const LabelledUnits *units, int n, const int *kind, int nchunks)
{
	int32	chunk_of[SMALL_UNITS];
	int		count = 0;
	Chunks *chunks;

	for (int i = 0; i < n; i++)
		if (kind[i] >= 0)
			chunk_of[count++] = i % nchunks;
	chunks = chunks_create(units, nchunks, chunk_of);
	for (int i = 0; i < units->width; i++)
		chunks_prepare(chunks, i);
	return chunks;
}

static double *
all_probabilities(const Domain *domain, int n, int nchunks, const RelabelParameters *parameters)
{
	int64	count = count_tables(domain, n);
	double *p = malloc(sizeof(double) * count * domain->npoints);

	for (int64 i = 0; i < count; i++)
	{
		int			   kind[SMALL_UNITS];
		SmallTable	   table;
		StableSampler *sampler;
		Vote		   vote = {.kappa = parameters->kappa};

		table_digits(domain, n, i, kind);
		fill_table(domain, n, kind, &table);
		vote.chunks = chunks_by_place(&table.units, n, kind, nchunks);
		sampler = stable_sampler_create(prepared_space(HYPOTHESES_STUMP, &table.units),
										&table.units, parameters->q, parameters->kappa,
										(uint64) parameters->rows_per_unit * EPSILON_UNITS_PER_ONE);
		for (int j = 0; j < domain->npoints; j++)
			p[i * domain->npoints + j] = mean_over_samples(sampler, share_to_double(parameters->q),
														   given_sample, &vote, domain->point[j]);
		arena_reset();
	}
	return p;
}

/* By how much a probability exceeds e^eps1 times the neighbour's. */
static double
excess(double p, double p_neighbour, const void *eps1)
{
	double factor = exp(*(const double *) eps1);

	return Max(p - factor * p_neighbour, (1 - p) - factor * (1 - p_neighbour));
}

/* The bounds hold whatever width of the net the proof takes. */
static void
test_small_tables(const Domain *domain, int n, int rows_per_unit, int nchunks, double kappa,
				  double q, double alpha)
{
	RelabelParameters parameters = {
		.n_max = n,
		.rows_per_unit = rows_per_unit,
		.features = domain->width,
		.alpha = share_from_double(alpha),
		.kappa = units_of(kappa),
		.q = share_from_double(q),
	};
	double *p = all_probabilities(domain, n, nchunks, &parameters);
	double	found = largest_loss(domain, n, p, share_to_double(parameters.alpha));
	double	least = INFINITY;
	bool	before_flip = true;

	for (int j = 0; j <= n; j++)
	{
		RelabelProof proof;

		parameters.j = j;
		proof = relabel_prove(&parameters);
		least = Min(least, real(proof.epsilon));
		before_flip = before_flip && largest_over_neighbours(domain, n, p, excess, &proof.eps1) <=
										 proof.delta1 + ROUNDING;
	}
	ok(before_flip, "before the flip: eps1 and delta1 hold for every j");
	ok(found <= least + ROUNDING,
	   "%d units, %d rows each, %d features, %d chunks, kappa %g, q %g: at most %.4f (found %.4f)",
	   n, rows_per_unit, domain->width, nchunks, kappa, q, least, found);
	free(p);
}

/* ---------- the parts ---------- */

#define MANY 60

typedef struct ManyRows
{
	LabelledUnits units;
	int32		  first_row[MANY + 1];
	uint8		  label[MANY];
	double		  x[MANY];
	int32		  chunk_of[MANY];
} ManyRows;

static void
random_rows(ManyRows *rows, int nchunks)
{
	memset(rows, 0, sizeof(ManyRows));
	for (int i = 0; i < MANY; i++)
	{
		rows->label[i] = (uint8) sample_uniform(2);
		rows->x[i] = sample_uniform(50) / 50.0;
		rows->first_row[i + 1] = i + 1;
		rows->chunk_of[i] = (int32) sample_uniform(nchunks);
	}
	rows->units = (LabelledUnits){MANY, MANY, 1, rows->first_row, rows->label, rows->x};
}

static Chunks *
prepared_chunks(const ManyRows *rows, int nchunks)
{
	Chunks *chunks = chunks_create(&rows->units, nchunks, rows->chunk_of);

	chunks_prepare(chunks, 0);
	return chunks;
}

static Hypothesis
random_stump(void)
{
	Hypothesis stump = {.class = HYPOTHESES_STUMP};

	stump.u.interval.low = sample_uniform(60) / 50.0;
	stump.u.interval.high = INFINITY;
	stump.u.interval.inside = sample_uniform(2);
	return stump;
}

static int
chunks_touched(const ManyRows *rows, const Hypothesis *a, const Hypothesis *b)
{
	bool touched[MANY] = {false};
	int	 count = 0;

	for (int i = 0; i < MANY; i++)
		if (hypothesis_says(a, &rows->x[i]) != hypothesis_says(b, &rows->x[i]))
			touched[rows->chunk_of[i]] = true;
	for (int i = 0; i < MANY; i++)
		count += touched[i];
	return count;
}

/*
 * The vote depends on a stump through the labels of rows alone, a unit is in one
 * chunk, and a chunk agrees with what it was told.
 */
static void
test_chunks(void)
{
	bool by_labels = true;
	bool one_vote = true;
	bool consistent = true;

	for (int round = 0; round < 300; round++)
	{
		ManyRows   rows;
		int		   nchunks = 1 + (int) sample_uniform(20);
		Chunks	  *chunks;
		Hypothesis stump = random_stump();
		double	   x;
		int32	   votes;

		random_rows(&rows, nchunks);
		chunks = prepared_chunks(&rows, nchunks);
		x = sample_uniform(200) / 200.0;
		votes = chunks_vote(chunks, &stump.u.interval, &x);
		for (int i = 0; i < 50; i++)
		{
			Hypothesis other = random_stump();

			by_labels = by_labels && abs(chunks_vote(chunks, &other.u.interval, &x) - votes) <=
										 chunks_touched(&rows, &stump, &other);
		}
		for (int i = 0; i < MANY; i += 3)
		{
			double	kept = rows.x[i];
			int32	own[MANY];
			Chunks *two;
			int32	others;

			/* Of two chunks, the first has the row; its vote is its label. */
			for (int j = 0; j < MANY; j++)
				own[j] = rows.chunk_of[j] != rows.chunk_of[i];
			two = chunks_create(&rows.units, 2, own);
			chunks_prepare(two, 0);
			others = chunks_vote(two, &stump.u.interval, &kept) - hypothesis_says(&stump, &kept);
			consistent = consistent && others >= 0 && others <= 1;

			rows.x[i] = sample_uniform(50) / 50.0;
			one_vote = one_vote &&
					   abs(chunks_vote(prepared_chunks(&rows, nchunks), &stump.u.interval, &x) -
						   votes) <= 1;
			rows.x[i] = kept;
		}
		arena_reset();
	}
	ok(by_labels, "two stumps differ in at most the chunks whose rows they label differently");
	ok(one_vote, "a unit with other rows moves one vote");
	ok(consistent, "a chunk says of its rows what it was told");
}

/*
 * The vote between neighbouring counts.  T is a row at 0.5, and its threshold is
 * all but certain, as every row from there on is labelled 1.  Of the chunks, of one
 * row each, those above say 1.
 */
static double
vote_loss(EpsilonUnits kappa, int nchunks)
{
	double largest = 0;

	for (int ones = 1; ones < nchunks; ones++)
	{
		double p[2];
		double x = 0.6;
		uint64 first = 1;

		for (int k = 0; k < 2; k++)
		{
			ManyRows	   rows;
			StableSampler *sampler;

			random_rows(&rows, 1);
			rows.units.nunits = rows.units.nrows = nchunks;
			for (int i = 0; i < nchunks; i++)
			{
				rows.chunk_of[i] = i;
				rows.x[i] = i == 0 ? 0.5 : i < ones + k ? 0.55 : 0.1;
				rows.label[i] = rows.x[i] >= 0.5;
			}
			sampler = stable_sampler_create(prepared_space(HYPOTHESES_STUMP, &rows.units),
											&rows.units, 1, units_of(50), EPSILON_UNITS_PER_ONE);
			stable_choose_these(sampler, &first);
			p[k] = relabel_probability(sampler, prepared_chunks(&rows, nchunks), kappa, &x);
			arena_reset();
		}
		largest = Max(largest, privacy_loss(p[0], p[1], 0));
	}
	return largest;
}

/* Exact against drawn, sample and vote together. */
static void
test_draw(void)
{
	int			   kind[SMALL_UNITS] = {0, 3, 5, 1, 4, 5};
	SmallTable	   table;
	StableSampler *sampler;
	Vote		   vote = {.kappa = units_of(0.7)};
	int64		   draws = 50000;

	fill_table(&on_line, SMALL_UNITS, kind, &table);
	vote.chunks = chunks_by_place(&table.units, SMALL_UNITS, kind, 3);
	sampler = stable_sampler_create(prepared_space(HYPOTHESES_STUMP, &table.units), &table.units,
									share_from_double(0.4), vote.kappa, EPSILON_UNITS_PER_ONE);
	for (int i = 0; i < 3; i++)
	{
		double exact =
			mean_over_samples(sampler, share_to_double(sampler->q), given_sample, &vote, line[i]);
		int64 ones = 0;

		for (int64 j = 0; j < draws; j++)
			ones += relabel_draw(sampler, vote.chunks, vote.kappa, line[i]);
		ok(plausible(ones, draws, exact), "x = %g: %.4f of draws are 1, exactly %.4f", line[i][0],
		   (double) ones / draws, exact);
	}
	arena_reset();
}

/* Each unit is in T with probability q, and pairs independently; not at twice q. */
static void
test_sample(void)
{
	ManyRows	   rows;
	StableSampler *sampler;
	double		   q = 0.07;
	int64		   rounds = 20000;
	int64		   each = 0;
	int64		   pairs_in = 0;

	random_rows(&rows, 1);
	sampler = stable_sampler_create(prepared_space(HYPOTHESES_STUMP, &rows.units), &rows.units,
									share_from_double(q), 1, 1);
	for (int64 i = 0; i < rounds; i++)
	{
		stable_choose(sampler);
		each += pg_popcount64(sampler->chosen[0]);
		for (int j = 0; j + 1 < MANY; j += 2)
			pairs_in += (sampler->chosen[0] >> j & 3) == 3;
	}
	ok(plausible(each, rounds * MANY, q), "a unit is sampled with probability %g", q);
	ok(told_apart(rounds * MANY, q, 2 * q) && !plausible(each, rounds * MANY, 2 * q),
	   "twice that would be noticed");
	ok(plausible(pairs_in, rounds * MANY / 2, q * q), "two are sampled independently");
	arena_reset();
}

/* ---------- the formula and the solver ---------- */

static void
test_formula(void)
{
	RelabelParameters parameters = {
		.n_max = 2000,
		.rows_per_unit = 1,
		.features = 1,
		.alpha = share_from_double(0.1),
		.j = 200,
		.kappa = units_of(0.006),
		.q = share_from_double(0.05),
	};
	double c = 0.006 * 201;
	double eps1 = 4 * 0.006 + log(1 + (1 + exp(2 * c)) * 0.05 / 0.95);
	double delta1 = 0.05 * (1 + 0.05 * 2000) * pow(0.95, 201);
	double e = exp(eps1);
	double ratio = (0.1 + 0.8 * (e + delta1) / (e + 1)) / (0.1 + 0.8 * (1 - delta1) / (e + 1));
	RelabelProof proof = relabel_prove(&parameters);

	ok(fabs(proof.eps1 - eps1) < 1e-6 && fabs(proof.delta1 - delta1) < 1e-6 * delta1 &&
		   fabs(real(proof.epsilon) - log(ratio)) < 1e-6,
	   "by hand: eps1 %.6f, delta1 %.3g, epsilon %.6f", eps1, delta1, log(ratio));
	parameters.q = share_from_double(0.0001);
	parameters.j = 0;
	proof = relabel_prove(&parameters);
	ok(real(proof.epsilon) >= log1p(proof.delta1 * 0.8 / 0.1),
	   "a small q with a narrow net: epsilon %.6f is at least that of delta1 %.3g",
	   real(proof.epsilon), proof.delta1);
}

static void
test_solver(double epsilon, double alpha, int rows_per_unit, int features)
{
	RelabelParameters parameters = {
		.rows_per_unit = rows_per_unit,
		.features = features,
		.alpha = share_from_double(alpha),
	};
	int64 needed = relabel_n_needed(units_of(epsilon), &parameters);
	bool  enough;

	parameters.n_max = needed;
	enough = relabel_solve(units_of(epsilon), false, false, false, &parameters);
	ok(enough && relabel_prove(&parameters).epsilon <= units_of(epsilon) &&
		   real(parameters.kappa) * parameters.j >= 1,
	   "epsilon %g, alpha %g, %d rows, %d features: " INT64_FORMAT " units do: j " INT64_FORMAT
	   ", kappa %.6f, q %.5f",
	   epsilon, alpha, rows_per_unit, features, needed, parameters.j, real(parameters.kappa),
	   share_to_double(parameters.q));
	parameters.n_max = needed - 1;
	ok(!relabel_solve(units_of(epsilon), false, false, false, &parameters),
	   "one unit less does not");
	parameters.n_max = 100 * needed;
	enough = relabel_solve(units_of(epsilon), false, false, false, &parameters);
	ok(enough && relabel_prove(&parameters).delta1 <= share_to_double(parameters.alpha) *
														  share_to_double(parameters.q) *
														  (1 + ROUNDING),
	   "a hundred times as many: j " INT64_FORMAT ", kappa * j %.3f, q %.6f", parameters.j,
	   real(parameters.kappa) * parameters.j, share_to_double(parameters.q));
}

int
main(void)
{
	double kept;
	double doubled;

	test_formula();
	test_solver(1, 0.1, 1, 1);
	test_solver(0.5, 0.1, 1, 10);
	test_solver(0.1, 0.2, 4, 3);
	test_solver(2, 0.05, 1, 1);
	test_chunks();
	test_draw();
	test_sample();
	kept = vote_loss(units_of(0.2), 9);
	doubled = vote_loss(units_of(0.4), 9);
	ok(kept <= 0.2 + ROUNDING && kept > 0.2 - 1e-6, "the vote loses kappa = 0.2 (%.6f)", kept);
	ok(doubled > 0.2, "at twice kappa it would lose more (%.6f)", doubled);
	test_small_tables(&on_line, 5, 1, 2, 0.3, 0.2, 0.1);
	test_small_tables(&on_line, 5, 1, 5, 1, 0.5, 0.05);
	test_small_tables(&on_two, 6, 1, 3, 0.1, 0.05, 0.01);
	test_small_tables(&on_square, 4, 1, 2, 0.5, 0.3, 0.1);
	test_small_tables(&with_units, 4, 2, 3, 0.4, 0.1, 0.05);
	return done();
}
