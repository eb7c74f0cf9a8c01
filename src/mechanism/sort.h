/*
 * sort.h
 *		Sorting and searching of many numbers.
 */
#ifndef PRIVPRED_SORT_H
#define PRIVPRED_SORT_H

/* Sorts in rising order and can be cancelled.  There must be no NaN. */
extern void sort_doubles(double *values, size_t n);

/* The number of sorted values below the bound, and of those at or below it. */
extern int64 count_below(const double *values, int64 n, double bound);
extern int64 count_up_to(const double *values, int64 n, double bound);

#endif /* PRIVPRED_SORT_H */
