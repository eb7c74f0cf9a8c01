/*
 * describe.h
 *		A private description of a table: a noisy histogram of each column
 *		(docs/mechanisms.md, section 17).
 *
 * grid.c	the public cells of numbers and times
 * noise.c	how much noise, which counts are seen, what is charged: from declared numbers alone
 * draw.c	the noise, and what is read off noisy counts
 *
 * Nothing here knows the server.  Rows become cells in catalog/cells.c, and are counted in
 * request/describe_rows.c.
 */
#ifndef PRIVPRED_DESCRIBE_H
#define PRIVPRED_DESCRIBE_H

#include "draw/receipt.h"
#include "server/privpred.h"

/* ---------- grid.c ---------- */

typedef enum DescribedKind
{
	DESCRIBED_INTEGER,
	DESCRIBED_NUMBER,
	DESCRIBED_DATE,	   /* days since 1970-01-01 */
	DESCRIBED_TIME,	   /* seconds since then */
	DESCRIBED_CATEGORY /* its cells are the levels that occur */
} DescribedKind;

/*
 * Cells between public edges, closed below and open above; the first and the last have no outer
 * edge.  A category has none of them.
 */
extern int described_cells(DescribedKind kind);

/* Edge i lies between cells i and i + 1. */
extern double described_edge(DescribedKind kind, int edge);

/* The cell of a number that is not NaN. */
extern int described_cell(DescribedKind kind, double value);

/* ---------- noise.c ---------- */

#define DESCRIBED_MAX_LEVELS 1000 /* of a column */
#define DESCRIBED_LEVEL_BYTES 255 /* longer texts are no levels */

typedef struct DescribeNoise
{
	int	   histograms;
	int	   categories;		/* of them */
	uint64 variance;		/* of the noise of every count */
	int64  level_threshold; /* a level is listed from this noisy count on; 0: no categories */
	double delta;			/* that a level of one unit alone is listed in any column, at most */
} DescribeNoise;

/*
 * The least noise that a grant of (epsilon, delta) made for it pays for.  False: it would be
 * beyond what can be drawn.
 */
extern bool
describe_noise(double epsilon, double delta, int histograms, int categories, DescribeNoise *noise);

/* A cell, or NULL, is seen from this noisy count on. */
extern int64 describe_cell_threshold(const DescribeNoise *noise, DescribedKind kind);

extern Charge describe_charge(const DescribeNoise *noise);

/* ---------- draw.c ---------- */

typedef struct ListedLevel
{
	char *level;
	int64 count; /* noisy */
} ListedLevel;

/* How many units are in each cell; once it is drawn, with noise. */
typedef struct Histogram
{
	DescribedKind kind;
	int64		  nulls;
	int64		 *cells; /* NULL of a category */

	/* of a category, once it is drawn: the heaviest that are listed, sorted by name */
	int			 nlevels;
	ListedLevel *levels;
} Histogram;

/* Levels that occur, each once, and how many units have them. */
typedef struct LevelSource LevelSource;

struct LevelSource
{
	bool (*next)(LevelSource *source, int *histogram, const char **level, int64 *count);
};

/* What everybody has paid for (mechanism/answer.c). */
extern void mechanism_describe(const Receipt *receipt, const DescribeNoise *noise, int count,
							   Histogram *histograms, LevelSource *levels);

/* Called by it alone. */
extern void
describe_draw(const DescribeNoise *noise, int count, Histogram *histograms, LevelSource *levels);

/* From the first to the last cell that is seen; false: there is none.  Of numbers and times. */
extern bool histogram_bounds(const Histogram *histogram, int64 threshold, double *min, double *max);

/* The middle of the heaviest cell that has one; whole, of integers and dates. */
extern double histogram_middle(const Histogram *histogram);

/* The heaviest level; NULL: none is listed. */
extern const char *histogram_level(const Histogram *histogram);

#endif /* PRIVPRED_DESCRIBE_H */
