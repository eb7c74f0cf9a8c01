/*
 * sort.h
 *		Sorting of many numbers that can be interrupted.
 */
#ifndef PRIVPRED_SORT_H
#define PRIVPRED_SORT_H

/* Rising; there must be no NaN. */
extern void sort_doubles(double *values, size_t n);

#endif /* PRIVPRED_SORT_H */
