/*
 * kept.h
 *		Rows that are read more than once: kept in memory as long as they fit.
 *
 * Pieces of any size are given back in the order in which they were added.
 */
#ifndef PRIVPRED_KEPT_H
#define PRIVPRED_KEPT_H

typedef struct Kept Kept;

/* Takes no more than *memory bytes, and lessens it by what it takes. */
extern Kept *kept_create(Size *memory);

/* Room for one more piece, aligned for any number; NULL if it does not fit. */
extern void *kept_add(Kept *kept, Size bytes);

/* The first piece is next after a rewind; NULL after the last. */
extern void	 kept_rewind(Kept *kept);
extern void *kept_next(Kept *kept);

extern void kept_free(Kept *kept);

#endif /* PRIVPRED_KEPT_H */
