/*
 * plan.h
 *		What a mechanism makes of declared numbers: its part of privpred.plan().
 *
 * Each mechanism defines a MechanismPlan in its folder's plan.c: arithmetic
 * alone, which looks at no row, count or estimate.  They share:
 *
 * plan.c			prices, the best of several parameters, single features
 * plan_teachers.c	the best ensemble
 * plan_law.h		how accurate votes are
 */
#ifndef PRIVPRED_MECHANISM_PLAN_H
#define PRIVPRED_MECHANISM_PLAN_H

#include "account/renyi.h"
#include "mechanism/mechanism.h"
#include "mechanism/plan_law.h"

/* How far below a plain model the target lies. */
#define PLAN_LOSS 0.02

#define PLAN_PRICES 8
#define PLAN_NEVER 0.0 /* no number of rows is enough */

/* What is declared. */
typedef struct PlanQuestion
{
	double		 units;	   /* 0: not known */
	int			 features; /* encoded, without cuts */
	int			 cuts;	   /* numbers that cuts would add to them */
	int			 classes;
	EpsilonUnits epsilon;
	double		 delta;
	int64		 answers;
	double		 accuracy; /* of plain logistic regression */
	double		 baseline; /* share of the commonest class; 1 / classes if not declared */
	bool		 baseline_declared;
	int			 rows_per_unit; /* at most */
	bool		 protects_labels;
	const char	*learner; /* NULL: the planner chooses */
} PlanQuestion;

/* One mechanism's plan; zero at first, but for accuracy, which is NaN. */
typedef struct PlanResult
{
	const Mechanism *mechanism;
	const char		*why;				/* it cannot be used; NULL: it can */
	double			 accuracy;			/* at the declared units; NaN: no figure */
	double			 rows_needed;		/* or PLAN_NEVER */
	EpsilonUnits	 per_answer;		/* 0: not charged by answers */
	bool			 order_is_infinite; /* of the account */
	EpsilonUnits	 total;
	double			 total_delta;
	double			 answers_bought; /* unless the mechanism is charged once */

	/* parameters of create_model */
	const PlanLearner *learner;	 /* NULL: none */
	int				   teachers; /* 0: none */
	bool			   cuts;	 /* features are declared with cuts */
	EpsilonUnits	   epsilon;	 /* 0: there is nothing to create */
	const char		  *options;	 /* a JSON object, or NULL */

	/* of a stream, whose epsilon is the model's; of a student */
	int	   unstable;
	double stream_delta;
	int	   labels;

	/* what does not depend on the size, computed once by price() */
	EpsilonUnits prices[PLAN_PRICES];
	bool		 prices_infinite[PLAN_PRICES];
} PlanResult;

struct MechanismPlan
{
	const char *grounds; /* theorem or measurement */
	char *(*rates)(const PlanQuestion *question, const PlanResult *result); /* added to them */
	const char *virtue;		 /* "Use it, because ..."; NULL: by when it is charged */
	const char *created_as;	 /* the mechanism that create_model is told; NULL: itself */
	bool		wants_units; /* declared, though it can do without */
	double		preference;	 /* what it may lack in accuracy and still come first */

	bool		one_feature;
	const char *scope;		 /* what it is made for, if not just two classes */
	bool		needs_delta; /* in the budget */

	/* which lower bounds bind it */
	bool one_rule;	   /* what it learns is a rule of one feature, not a linear classifier */
	bool pure_release; /* it releases a classifier of its class under pure privacy */

	/* What else rules it out, whatever the size; returns NULL if nothing does. */
	const char *(*unsuitable)(const PlanQuestion *question);

	/* What the budget buys: fills in prices.  False: nothing, and why. */
	bool (*price)(const PlanQuestion *question, PlanResult *result);

	/* Expected accuracy with so many units, and the parameters for it. */
	double (*accuracy)(const PlanQuestion *question, double units, PlanResult *result);

	/* The least number of units that a theorem asks for; NULL: search. */
	double (*units_needed)(const PlanQuestion *question, const PlanResult *result);
};

static inline double
plan_epsilon(EpsilonUnits units)
{
	return (double) units / EPSILON_UNITS_PER_ONE;
}

/* ---------- plan.c ---------- */

/* Sets the largest per_answer for so many answers, and the account; false: there is none. */
extern bool plan_per_answer(const PlanQuestion *question, const Mechanism *mechanism, int64 answers,
							PlanResult *result);
extern bool plan_price_answers(const PlanQuestion *question, PlanResult *result);

/* All of the budget for one model, which then answers any number of questions. */
extern bool plan_price_once(const PlanQuestion *question, PlanResult *result);

/* Sets the parameters of one choice and returns their value; -1: not possible. */
typedef double (*PlanChoice)(const PlanQuestion *question, double units, int choice,
							 PlanResult *result);

/* The highest value of so many choices, whose parameters the result keeps; -1: none. */
extern double plan_best(const PlanQuestion *question, double units, int choices, PlanChoice choose,
						PlanResult *result);

/* Accuracy of the best single feature, and what a choice among so many rules loses on average. */
extern double plan_stump_accuracy(const PlanQuestion *question);
extern double plan_choice_loss(double candidates, double epsilon, double units);

/* ---------- plan_teachers.c ---------- */

/* NULL: no measurements were made with that learner. */
extern const PlanLearner *plan_learner(const char *name);

/* Accuracy of the answers of so many teachers; -1: not possible. */
typedef double (*EnsembleAccuracy)(const PlanQuestion *question, const TeacherLaw *law,
								   int teachers, PlanResult *result);

/* Chooses learner and number of teachers; the result keeps what was best. */
extern double plan_best_ensemble(const PlanQuestion *question, double units,
								 EnsembleAccuracy accuracy, PlanResult *result);

/* As mechanism/vote draws, and the accuracy of what teachers have learnt. */
extern VoteDraw plan_vote_draw(const PlanQuestion *question, const PlanResult *result);
extern double plan_vote_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
								 PlanResult *result);

/* ---------- sparse/plan.c: what streams share ---------- */

extern bool plan_price_stream(const PlanQuestion *question, PlanResult *result);

/* Right answers among all that are asked, as a stream may end before. */
extern double plan_stream_accuracy(const PlanQuestion *question, double units, PlanResult *result);

#endif /* PRIVPRED_MECHANISM_PLAN_H */
