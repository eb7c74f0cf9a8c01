/*
 * knn.h
 *		Evaluation of learner "knn".
 */
#ifndef PRIVPRED_KNN_H
#define PRIVPRED_KNN_H

/* A teacher's prototypes, laid out for evaluation. */
typedef struct Neighbours
{
	int			  k;	/* at most the number of rows */
	int			  room; /* rows, and what was left for more of them */
	int			  width;
	int32		 *classes; /* of numbers: each in fixed point */
	const double *x;	   /* width per row */
} Neighbours;

/* Of a body that predictor_parse() accepted, in the current context. */
extern Neighbours *neighbours_load(const unsigned char *body, int width);

/*
 * Adds the classes of the k nearest rows to counts.  The distance is the
 * Euclidean one; features that are finite give no NaN, and rows that are
 * infinitely far are alike.
 */
extern void neighbours_count(const Neighbours *neighbours, const double *x, int32 *counts);

/* The same for numbers: their mean. */
extern double neighbours_mean(const Neighbours *neighbours, const double *x);

#endif /* PRIVPRED_KNN_H */
