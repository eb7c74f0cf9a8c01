/*
 * plan.h
 *		privpred.plan(): which mechanism, with which parameters, how accurate.
 *		From declared numbers alone: no row, count or estimate is looked at.
 *
 * plan.c				what is asked, ranking, recommendation
 * plan_law.c			how accurate votes are (plan_law.h)
 * plan_teachers.c		vote, average, sparse, soft, distill
 * plan_hypotheses.c	threshold, stable_flip, stable, relabel, cover,
 *						label_private, littlestone
 * plan_linear.c		gradient, stable_erm
 * plan_relation.c		what a table's catalog entries say
 * plan_statement.c		what to paste
 */
#ifndef PRIVPRED_PLAN_H
#define PRIVPRED_PLAN_H

#include "lib/stringinfo.h"

#include "account/renyi.h"
#include "request/plan_law.h"

/* How far below a plain model the rows needed are meant to reach. */
#define PLAN_LOSS 0.02

#define PLAN_PRICES 8
#define PLAN_NEVER 0.0		 /* no number of rows is enough */
#define PLAN_ANY_NUMBER (-1) /* of answers */

/* A column that can be a feature, as far as the catalog tells. */
typedef struct PlanColumn
{
	char *name;
	char *declaration; /* its JSON object; NULL: bounds are not known */
	char *example;	   /* a JSON value; NULL likewise */
	int	  width;
} PlanColumn;

typedef struct PlanRelation
{
	char	   *name; /* qualified as need be */
	char	   *model_prefix;
	bool		is_protected;
	bool		has_unit;		/* is protected, or has a primary key */
	bool		one_row_a_unit; /* a key says so */
	char	   *unit;			/* as protected, if it is one column; else NULL */
	bool		protects_labels;
	int64		declared_units;
	int			max_rows_per_unit;
	char	   *label; /* NULL: none can be told */
	char	  **classes;
	int			nclasses;
	PlanColumn *columns; /* neither unit nor label */
	int			ncolumns;
	int			width; /* of those with a declaration */
} PlanRelation;

/* Raises 42703 if the label is not a column; NULL: guess. */
extern PlanRelation *plan_relation(Oid relid, const char *label);

/* What is declared. */
typedef struct PlanQuestion
{
	double				units;	  /* 0: not known */
	int					features; /* encoded */
	int					classes;
	EpsilonUnits		epsilon;
	double				delta;
	int64				answers;
	double				accuracy; /* of plain logistic regression */
	double				baseline; /* of always the commonest class; a guess if not declared */
	bool				baseline_declared;
	int					rows_per_unit; /* at most */
	bool				protects_labels;
	const char		   *learner; /* NULL: the planner's choice */
	bool				features_assumed;
	bool				accuracy_assumed;
	const PlanRelation *relation; /* NULL: none */
} PlanQuestion;

/* A row of the answer. */
typedef struct PlanResult
{
	const struct PlannedMechanism *mechanism;
	bool						   feasible;
	char						  *why;
	double						   accuracy;		  /* at the declared units; NaN: no figure */
	double						   rows_needed;		  /* PLAN_NEVER: no figure */
	EpsilonUnits				   per_answer;		  /* 0: not charged by answers */
	bool						   order_is_infinite; /* of the account */
	EpsilonUnits				   total;
	double						   total_delta;
	double						   answers_bought; /* or PLAN_ANY_NUMBER */

	/* parameters of create_model */
	const PlanLearner *learner;	 /* NULL: none */
	int				   teachers; /* 0: none */
	EpsilonUnits	   epsilon;
	char			  *options; /* a JSON object, or NULL */

	/* what does not depend on the size, computed once by price() */
	EpsilonUnits prices[PLAN_PRICES];
	bool		 prices_infinite[PLAN_PRICES];

	/* of a stream, or of a student */
	int			 unstable;
	EpsilonUnits stream_epsilon;
	double		 stream_delta;
	int64		 labels;

	bool  recommended;
	char *advice;
	char *lower_bound;
} PlanResult;

typedef struct PlannedMechanism
{
	const char *name;
	const char *grounds;	/* theorem or measurement */
	bool		needs_size; /* declared_units */
	bool		needs_rows_per_unit;
	bool		needs_public_rows;
	double		preference; /* what it may lack in accuracy and still come first */

	/* Why it is out of the question whatever the size; NULL: it is not. */
	char *(*unsuitable)(const PlanQuestion *question);

	/* What the budget buys: fills in prices.  False: nothing; why says it. */
	bool (*price)(const PlanQuestion *question, PlanResult *result);

	/* Expected accuracy with so many units, and the parameters for it. */
	double (*accuracy)(const PlanQuestion *question, double units, PlanResult *result);

	/* The least number of units that a theorem asks for; NULL: search. */
	double (*units_needed)(const PlanQuestion *question, const PlanResult *result);
} PlannedMechanism;

/* plan_teachers.c */
extern const PlannedMechanism plan_vote;
extern const PlannedMechanism plan_average;
extern const PlannedMechanism plan_sparse;
extern const PlannedMechanism plan_soft;
extern const PlannedMechanism plan_distill;

/* plan_hypotheses.c */
extern const PlannedMechanism plan_threshold;
extern const PlannedMechanism plan_stable_flip;
extern const PlannedMechanism plan_stable;
extern const PlannedMechanism plan_relabel;
extern const PlannedMechanism plan_cover;
extern const PlannedMechanism plan_label_private;
extern const PlannedMechanism plan_littlestone;

/* plan_linear.c */
extern const PlannedMechanism plan_gradient;
extern const PlannedMechanism plan_stable_erm;

/* plan_price.c: the largest epsilon for each of so many answers. */
extern bool	  plan_per_answer(const PlanQuestion *question, const char *mechanism, int64 answers,
							  PlanResult *result);
extern bool	  plan_price_answers(const PlanQuestion *question, PlanResult *result);
extern bool	  plan_price_once(const PlanQuestion *question, PlanResult *result);
extern double plan_epsilon(EpsilonUnits units);

/* plan.c: one row for every mechanism, best first. */
extern PlanResult		 *request_plan(const PlanQuestion *question, int *count);
extern const PlanLearner *plan_learner(const char *name); /* NULL: unknown */

/* plan_statement.c: arguments of create_model, and all there is to paste. */
extern char *plan_parameters(const PlanQuestion *question, const PlanResult *result);
extern char *plan_statements(const PlanQuestion *question, const PlanResult *result);

#endif /* PRIVPRED_PLAN_H */
