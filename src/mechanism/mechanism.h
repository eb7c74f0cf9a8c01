/*
 * mechanism.h
 *		Mechanisms turn teachers' opinions into private answers.
 *
 * registry.c	names to mechanisms
 * vote.c		subsample and aggregate
 * average.c	a random teacher's opinion
 * *_draw.c		their draws, from counts alone
 */
#ifndef PRIVPRED_MECHANISM_H
#define PRIVPRED_MECHANISM_H

#include "learner/learner.h"
#include "privpred.h"

/* Made by the ledger alone (ledger/ledger.h), after the debit is durable. */
typedef struct LedgerReceipt LedgerReceipt;

/* The paying account decides between draws of different shapes (ledger). */
extern bool ledger_order_is_infinite(const LedgerReceipt *receipt);

/* The public side of a trained model: what a mechanism may look at. */
typedef struct MechanismModel
{
	EpsilonUnits epsilon;		/* per answer */
	int			teachers;		/* declared, and members of the ensemble */
	int			nclasses;
	const Ensemble *ensemble;
} MechanismModel;

/*
 * answer() returns the index of a class.  It needs a receipt, so that nothing
 * can be drawn that was not paid for, and must be given the receipt of the
 * debit for this very answer.  It is total: it raises no error.  All its
 * randomness comes from the sampler.
 *
 * distribution() fills probability[nclasses] with the exact distribution of
 * answer() in doubles.  It is not private: owner's functions and tests only.
 */
typedef struct Mechanism
{
	const char *name;
	const char *charge_kind;	/* per_answer, per_stream or once */

	/* Raises 22023 unless the declared parameters go together; NULL: they do. */
	void		(*validate) (int teachers, int nclasses, EpsilonUnits epsilon);
	/* The shape of the charge against an account of finite or infinite order. */
	ChargeShape (*shape) (bool order_is_infinite);
	int			(*answer) (const LedgerReceipt *receipt, const MechanismModel *model,
						   const double *x);
	void		(*distribution) (bool order_is_infinite, const MechanismModel *model,
								 const double *x, double *probability);
	/* The plain majority, not private. */
	int			(*majority) (const MechanismModel *model, const double *x);
} Mechanism;

extern const Mechanism *mechanism_lookup(const char *name); /* NULL if unknown */
extern char *mechanism_names(void);

/* The majority of mechanisms that ask teachers (vote.c). */
extern int	teachers_majority(const MechanismModel *model, const double *x);

extern const Mechanism average_mechanism;
extern const Mechanism vote_mechanism;

#endif							/* PRIVPRED_MECHANISM_H */
