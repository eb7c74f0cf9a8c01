/*
 * test_relabel.c
 *		relabel: what is proved holds for all small tables and all their
 *		neighbours; its parts, the sample, the chunks, the private vote, are what
 *		the proof needs; and the formula is that of section 5 of docs/mechanisms.md.
 *
 * End to end the bound is far from what small tables lose, so each part has a test
 * of its own that catches it when wrong.
 *
 * sources: src/mechanism/hypotheses.c src/mechanism/columns.c src/mechanism/plane.c
 * sources: src/mechanism/space.c src/mechanism/flats.c src/mechanism/boxes.c src/mechanism/points.c
 * sources: src/mechanism/stable/draw.c src/mechanism/relabel/chunks.c
 * sources: src/mechanism/relabel/draw.c src/mechanism/sort.c src/mechanism/vote/draw.c
 * sources: src/mechanism/solve.c
 * sources: src/draw/rng.c src/draw/bernoulli.c
 */
#include "postgres.h"

#include "mechanism/relabel/draw.h"
#include "mechanism/solve.h"
#include "small_tables.h"

#define ROUNDING 1e-9

static const double line[3][SMALL_WIDTH] = {{0.2, 0}, {0.5, 0}, {0.8, 0}};
static const double square[3][SMALL_WIDTH] = {{0.2, 0.7}, {0.5, 0.3}, {0.8, 0.5}};
static const double three[3][SMALL_WIDTH] = {{SMALL_POINT(0)}, {SMALL_POINT(1)}, {SMALL_POINT(2)}};
static const UnitKind single[6] = {{1, {0}}, {1, {1}}, {1, {2}}, {1, {3}}, {1, {4}}, {1, {5}}};
static const UnitKind pairs[] = {{1, {0}},	  {1, {3}},	   {2, {0, 2}}, {2, {1, 3}},
								 {2, {0, 5}}, {2, {1, 4}}, {2, {2, 5}}};

static const Domain on_line = {1, 3, line, 6, single};
static const Domain on_two = {1, 2, line, 4, single};
static const Domain on_square = {2, 3, square, 6, single};
static const Domain on_points = {1, 3, three, 6, single};
static const Domain points_of_units = {1, 3, three, lengthof(pairs), pairs};
static const Domain square_of_units = {2, 3, square, lengthof(pairs), pairs};
static const Domain with_units = {1, 3, line, lengthof(pairs), pairs};

static const char *const class_name[] = {[HYPOTHESES_STUMP] = "stumps",
										 [HYPOTHESES_INTERVAL] = "intervals",
										 [HYPOTHESES_HALFSPACE] = "halfspaces",
										 [HYPOTHESES_FINITE] = "points"};

/* As small_tables.h has it. */
static HypothesisSource
source_of(HypothesisClass class, const LabelledUnits *units)
{
	return (HypothesisSource){class, units, class == HYPOTHESES_FINITE ? small_class() : NULL, 0};
}

static int
class_size(HypothesisClass class)
{
	return class == HYPOTHESES_FINITE ? small_class()->nhypotheses : 0;
}

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
chunks_by_place(HypothesisClass class, const LabelledUnits *units, int n, const int *kind,
				int nchunks)
{
	HypothesisSource source = source_of(class, units);
	int32			 chunk_of[SMALL_UNITS];
	int				 count = 0;

	for (int i = 0; i < n; i++)
		if (kind[i] >= 0)
			chunk_of[count++] = i % nchunks;
	return chunks_create(&source, nchunks, chunk_of);
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
		vote.chunks = chunks_by_place(parameters->class, &table.units, n, kind, nchunks);
		sampler = stable_sampler_create(prepared_space(parameters->class, &table.units),
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
test_small_tables(HypothesisClass class, const Domain *domain, int n, int rows_per_unit,
				  int nchunks, double kappa, double q, double alpha)
{
	RelabelParameters parameters = {
		.class = class,
		.hypotheses = class_size(class),
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
	   "%s, %d units, %d rows each, %d features, %d chunks, kappa %g, q %g: at most %.4f "
	   "(found %.4f)",
	   class_name[class], n, rows_per_unit, domain->width, nchunks, kappa, q, least, found);
	free(p);
}

/* ---------- the parts ---------- */

#define MANY 60

typedef struct ManyRows
{
	LabelledUnits units;
	int32		  first_row[MANY + 1];
	uint8		  label[MANY];
	double		  x[2 * MANY];
	int32		  chunk_of[MANY];
} ManyRows;

/* On a line, in the plane, or points of the class. */
static double
random_value(HypothesisClass class)
{
	return class == HYPOTHESES_FINITE ? SMALL_POINT(sample_uniform(4)) : sample_uniform(50) / 50.0;
}

static void
random_rows(ManyRows *rows, HypothesisClass class, int nchunks)
{
	int width = class == HYPOTHESES_HALFSPACE ? 2 : 1;

	memset(rows, 0, sizeof(ManyRows));
	for (int i = 0; i < MANY; i++)
	{
		rows->label[i] = (uint8) sample_uniform(2);
		rows->first_row[i + 1] = i + 1;
		rows->chunk_of[i] = (int32) sample_uniform(nchunks);
	}
	for (int i = 0; i < width * MANY; i++)
		rows->x[i] = random_value(class);
	rows->units = (LabelledUnits){MANY, MANY, width, rows->first_row, rows->label, rows->x};
}

static Chunks *
prepared_chunks(HypothesisClass class, const ManyRows *rows, int nchunks)
{
	HypothesisSource source = source_of(class, &rows->units);

	return chunks_create(&source, nchunks, rows->chunk_of);
}

static Hypothesis
random_hypothesis(HypothesisClass class)
{
	Hypothesis result = {.class = class};
	double	   from[2] = {random_value(class), random_value(class)};
	double	   to[2] = {random_value(class), random_value(class)};

	if (class == HYPOTHESES_HALFSPACE)
		result.u.halfspace = plane_line(from, to);
	else if (class == HYPOTHESES_FINITE)
		result.u.point = (PointHypothesis){small_class(), (int) sample_uniform(5)};
	else
	{
		result.u.interval.low = sample_uniform(60) / 50.0;
		result.u.interval.high = class == HYPOTHESES_STUMP ? INFINITY : sample_uniform(60) / 50.0;
		result.u.interval.inside = sample_uniform(2);
	}
	return result;
}

static int
chunks_touched(const ManyRows *rows, const Hypothesis *a, const Hypothesis *b)
{
	bool touched[MANY] = {false};
	int	 count = 0;

	for (int i = 0; i < MANY; i++)
		if (hypothesis_says(a, &rows->x[i * rows->units.width]) !=
			hypothesis_says(b, &rows->x[i * rows->units.width]))
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
test_chunks(HypothesisClass class)
{
	bool by_labels = true;
	bool one_vote = true;
	bool consistent = true;

	for (int round = 0; round < 100; round++)
	{
		ManyRows   rows;
		int		   nchunks = 1 + (int) sample_uniform(20);
		Chunks	  *chunks;
		Hypothesis told = random_hypothesis(class);
		double	   x[2] = {random_value(class), sample_uniform(200) / 200.0};
		int32	   votes;

		random_rows(&rows, class, nchunks);
		chunks = prepared_chunks(class, &rows, nchunks);
		votes = chunks_vote(chunks, &told, x);
		for (int i = 0; i < 50; i++)
		{
			Hypothesis other = random_hypothesis(class);

			by_labels = by_labels && abs(chunks_vote(chunks, &other, x) - votes) <=
										 chunks_touched(&rows, &told, &other);
		}
		for (int i = 0; i < MANY; i += 3)
		{
			double			*row = &rows.x[i * rows.units.width];
			double			 kept[2] = {row[0], row[1]};
			HypothesisSource source = source_of(class, &rows.units);
			int32			 own[MANY];
			int32			 others;

			/* Of two chunks, the first has the row; its vote is its label. */
			for (int j = 0; j < MANY; j++)
				own[j] = rows.chunk_of[j] != rows.chunk_of[i];
			others = chunks_vote(chunks_create(&source, 2, own), &told, kept) -
					 hypothesis_says(&told, kept);
			consistent = consistent && others >= 0 && others <= 1;

			row[0] = random_value(class);
			one_vote =
				one_vote &&
				abs(chunks_vote(prepared_chunks(class, &rows, nchunks), &told, x) - votes) <= 1;
			row[0] = kept[0];
		}
		arena_reset();
	}
	ok(by_labels, "%s: two differ in at most the chunks whose rows they label differently",
	   class_name[class]);
	ok(one_vote, "%s: a unit with other rows moves one vote", class_name[class]);
	ok(consistent, "%s: a chunk says of its rows what it was told", class_name[class]);
}

/*
 * ---------- the net ----------
 *
 * Of all samples without the first unit: how far a hypothesis of H with that unit
 * is from the one of H without it that labels the sample alike, in other units;
 * and how many belong to the same one.
 */
#define NET_UNITS 8
#define NET_LISTED 2000

typedef struct Labelled
{
	uint64 all;	   /* labels of all rows */
	uint64 sample; /* those of rows in T, others 0 */
} Labelled;

static int
list_labels(HypothesisSpace *space, const LabelledUnits *units, uint64 chosen, uint64 sample,
			Labelled *list)
{
	int32 *errors = palloc(sizeof(int32) * hypotheses_block_size(space));
	int	   count = 0;

	hypotheses_choose(space, &chosen);
	for (int block = 0; block < hypotheses_blocks(space); block++)
	{
		int32 size = hypotheses_errors(space, block, errors);

		for (int32 i = 0; i < size; i++, count++)
		{
			Hypothesis hypothesis = hypotheses_get(space, block, i);

			list[count] = (Labelled){0};
			for (int row = 0; row < units->nrows; row++)
				if (hypothesis_says(&hypothesis, units->x + row * units->width))
					list[count].all |= UINT64CONST(1) << row;
		}
	}
	FOR_CHOSEN_ROWS(row, units, &sample)
	for (int i = 0; i < count; i++)
		list[i].sample |= list[i].all & (UINT64CONST(1) << row);
	return count;
}

static int
units_between(const LabelledUnits *units, uint64 difference)
{
	int count = 0;

	for (int i = 1; i < units->nunits; i++)
	{
		int	   rows = units->first_row[i + 1] - units->first_row[i];
		uint64 own = ((UINT64CONST(1) << rows) - 1) << units->first_row[i];

		count += (difference & own) != 0;
	}
	return count;
}

/* The distance of the farthest; the largest number of new ones to one is kept in *most_added. */
static int
farthest(HypothesisSpace *space, const LabelledUnits *units, uint64 sample, int *most_added)
{
	static Labelled before[NET_LISTED];
	static Labelled after[NET_LISTED];
	int				nbefore = list_labels(space, units, sample, sample, before);
	int				nafter = list_labels(space, units, sample | 1, sample, after);
	int				result = 0;

	for (int i = 0; i < nbefore; i++)
	{
		int alike = 0;

		for (int j = 0; j < nafter; j++)
		{
			if (after[j].sample != before[i].sample)
				continue;
			alike++;
			result = Max(result, units_between(units, after[j].all ^ before[i].all));
		}
		*most_added = Max(*most_added, alike - 1);
	}
	return result;
}

/* The chance, over samples at share q, that one is farther than j units. */
static double
chance_farther(const int *distance, double q, int j)
{
	double sum = 0;

	for (uint64 rest = 0; rest < 1 << (NET_UNITS - 1); rest++)
		if (distance[rest] > j)
			sum += pow(q, pg_popcount64(rest)) * pow(1 - q, NET_UNITS - 1 - pg_popcount64(rest));
	return sum;
}

static void
test_net(HypothesisClass class, int width, int rows_per_unit)
{
	static const double shares[] = {0.3, 0.6, 0.9};
	RelabelParameters	parameters = {
		  .class = class,
		  .hypotheses = class_size(class),
		  .n_max = NET_UNITS - 1,
		  .rows_per_unit = rows_per_unit,
		  .features = 1,
		  .alpha = share_from_double(0.1),
		  .kappa = 1,
	  };
	bool   holds = true;
	int	   most_added = 0;
	double added;
	double closest = 0;

	for (int round = 0; round < 40; round++)
	{
		ManyRows		 rows;
		HypothesisSpace *space;
		int				 distance[1 << (NET_UNITS - 1)];

		random_rows(&rows, class, 1);
		for (int i = 0; i <= NET_UNITS; i++)
			rows.first_row[i] = i * rows_per_unit;
		rows.units.nunits = NET_UNITS;
		rows.units.nrows = NET_UNITS * rows_per_unit;
		space = prepared_space(class, &rows.units);
		for (uint64 rest = 0; rest < 1 << (NET_UNITS - 1); rest++)
			distance[rest] = farthest(space, &rows.units, rest << 1, &most_added);
		for (int k = 0; k < lengthof(shares); k++)
		{
			parameters.q = share_from_double(shares[k]);
			for (parameters.j = 0; parameters.j < NET_UNITS; parameters.j++)
			{
				double q = share_to_double(parameters.q);
				double found = chance_farther(distance, q, (int) parameters.j);
				double bound = relabel_prove(&parameters).delta1 / q;

				holds = holds && found <= bound + ROUNDING;
				if (bound < 1)
					closest = Max(closest, found / bound);
			}
		}
		arena_reset();
	}
	parameters.j = 0;
	parameters.q = share_from_double(0.5);
	added = expm1(relabel_prove(&parameters).eps1) - 1;
	ok(holds, "%s, %d rows a unit: T is a net as often as is proved (closest %.3f of the bound)",
	   class_name[class], rows_per_unit, closest);
	ok(most_added <= added + 1e-6, "a unit adds %d for one at most, proved %.0f", most_added,
	   added);
	ok(most_added > 0 && closest > 0, "something was tested");
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

			random_rows(&rows, HYPOTHESES_STUMP, 1);
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
			p[k] = relabel_probability(sampler, prepared_chunks(HYPOTHESES_STUMP, &rows, nchunks),
									   kappa, &x);
			arena_reset();
		}
		largest = Max(largest, privacy_loss(p[0], p[1], 0));
	}
	return largest;
}

/* Exact against drawn, sample and vote together. */
static void
test_draw(HypothesisClass class, const Domain *domain)
{
	int			   kind[SMALL_UNITS] = {0, 3, 5, 1, 4, 5};
	SmallTable	   table;
	StableSampler *sampler;
	Vote		   vote = {.kappa = units_of(0.7)};
	int64		   draws = 50000;

	fill_table(domain, SMALL_UNITS, kind, &table);
	vote.chunks = chunks_by_place(class, &table.units, SMALL_UNITS, kind, 3);
	sampler = stable_sampler_create(prepared_space(class, &table.units), &table.units,
									share_from_double(0.4), vote.kappa, EPSILON_UNITS_PER_ONE);
	for (int i = 0; i < 3; i++)
	{
		double exact = mean_over_samples(sampler, share_to_double(sampler->q), given_sample, &vote,
										 domain->point[i]);
		int64  ones = 0;

		for (int64 j = 0; j < draws; j++)
			ones += relabel_draw(sampler, vote.chunks, vote.kappa, domain->point[i]);
		ok(plausible(ones, draws, exact), "%s, point %d: %.4f of draws are 1, exactly %.4f",
		   class_name[class], i, (double) ones / draws, exact);
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

	random_rows(&rows, HYPOTHESES_STUMP, 1);
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
test_solver(HypothesisClass class, double epsilon, double alpha, int rows_per_unit, int features)
{
	RelabelParameters parameters = {
		.class = class,
		.hypotheses = 100,
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
	   "%s, epsilon %g, alpha %g, %d rows, %d features: " INT64_FORMAT " units do: j " INT64_FORMAT
	   ", kappa %.6f, q %.5f",
	   class_name[class], epsilon, alpha, rows_per_unit, features, needed, parameters.j,
	   real(parameters.kappa), share_to_double(parameters.q));
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
	test_solver(HYPOTHESES_STUMP, 1, 0.1, 1, 1);
	test_solver(HYPOTHESES_STUMP, 0.5, 0.1, 1, 10);
	test_solver(HYPOTHESES_STUMP, 0.1, 0.2, 4, 3);
	test_solver(HYPOTHESES_STUMP, 2, 0.05, 1, 1);
	test_solver(HYPOTHESES_INTERVAL, 1, 0.1, 1, 1);
	test_solver(HYPOTHESES_INTERVAL, 1, 0.1, 3, 1);
	test_solver(HYPOTHESES_HALFSPACE, 1, 0.1, 1, 2);
	test_solver(HYPOTHESES_HALFSPACE, 0.5, 0.1, 2, 2);
	test_solver(HYPOTHESES_FINITE, 1, 0.1, 1, 9);
	test_solver(HYPOTHESES_FINITE, 1, 0.1, 4, 9);
	test_chunks(HYPOTHESES_STUMP);
	test_chunks(HYPOTHESES_INTERVAL);
	test_chunks(HYPOTHESES_HALFSPACE);
	test_chunks(HYPOTHESES_FINITE);
	test_draw(HYPOTHESES_STUMP, &on_line);
	test_draw(HYPOTHESES_INTERVAL, &on_line);
	test_draw(HYPOTHESES_HALFSPACE, &on_square);
	test_draw(HYPOTHESES_FINITE, &on_points);
	test_sample();
	kept = vote_loss(units_of(0.2), 9);
	doubled = vote_loss(units_of(0.4), 9);
	ok(kept <= 0.2 + ROUNDING && kept > 0.2 - 1e-6, "the vote loses kappa = 0.2 (%.6f)", kept);
	ok(doubled > 0.2, "at twice kappa it would lose more (%.6f)", doubled);
	test_small_tables(HYPOTHESES_STUMP, &on_line, 5, 1, 2, 0.3, 0.2, 0.1);
	test_small_tables(HYPOTHESES_STUMP, &on_line, 5, 1, 5, 1, 0.5, 0.05);
	test_small_tables(HYPOTHESES_STUMP, &on_two, 6, 1, 3, 0.1, 0.05, 0.01);
	test_small_tables(HYPOTHESES_STUMP, &on_square, 4, 1, 2, 0.5, 0.3, 0.1);
	test_small_tables(HYPOTHESES_STUMP, &with_units, 4, 2, 3, 0.4, 0.1, 0.05);
	test_small_tables(HYPOTHESES_INTERVAL, &on_line, 5, 1, 2, 0.3, 0.2, 0.1);
	test_small_tables(HYPOTHESES_INTERVAL, &with_units, 4, 2, 3, 0.4, 0.1, 0.05);
	test_small_tables(HYPOTHESES_HALFSPACE, &on_square, 4, 1, 2, 0.5, 0.3, 0.1);
	test_small_tables(HYPOTHESES_HALFSPACE, &square_of_units, 3, 2, 3, 0.4, 0.1, 0.05);
	test_small_tables(HYPOTHESES_FINITE, &on_points, 5, 1, 2, 0.3, 0.2, 0.1);
	test_small_tables(HYPOTHESES_FINITE, &points_of_units, 4, 2, 3, 0.4, 0.1, 0.05);
	test_net(HYPOTHESES_STUMP, 1, 1);
	test_net(HYPOTHESES_STUMP, 1, 3);
	test_net(HYPOTHESES_INTERVAL, 1, 1);
	test_net(HYPOTHESES_INTERVAL, 1, 2);
	test_net(HYPOTHESES_INTERVAL, 1, 3);
	test_net(HYPOTHESES_HALFSPACE, 2, 1);
	test_net(HYPOTHESES_HALFSPACE, 2, 2);
	test_net(HYPOTHESES_FINITE, 1, 1);
	test_net(HYPOTHESES_FINITE, 1, 2);
	return done();
}
