/*
 * mutant.h
 *		Known mistakes, one of which a build can make on purpose.
 *
 * "make MUTANT=gap_minus_one" builds a server that is wrong in that one way;
 * "make audit MUTANTS=all" builds all of them in turn and fails unless each is
 * caught (docs/audit.md).  In every other build MUTANT(name) is the constant 0,
 * and nothing is left of it in the object code.
 *
 * A mutant is a short expression at the place where the mistake would be made.
 * What is listed here loses privacy, or money of the account that guards it; what
 * only costs accuracy is not.  "book" is docs/mechanisms.md.
 */
#ifndef PRIVPRED_MUTANT_H
#define PRIVPRED_MUTANT_H

#define PRIVPRED_MUTANTS(M) \
	/* vote, average */ \
	M(vote_without_half, \
	  "votes are weighed by epsilon for each vote, not epsilon/2: one vote that moves changes two counts") \
	M(vote_odd_gap, \
	  "the rule for two classes and odd teachers takes the gap for the number of flips, which is half of it") \
	M(vote_flip_as_range, \
	  "permute-and-flip for accounts that are charged for the exponential mechanism; it is not of bounded range") \
	M(gaussian_half_noise, "Gaussian noisy max with half of the noise that is charged for") \
	M(gaussian_sensitivity_one, \
	  "Gaussian noisy max charged for L2 sensitivity 1: a vote that moves changes two counts, sqrt(2)") \
	M(average_unclipped, \
	  "the teachers' share as it is, so that unanimous teachers are certain (Dwork, Feldman: noise, then clip)") \
	/* streams */ \
	M(gap_minus_one, \
	  "the distance top - second - 1, as printed in Bassily, Thakkar, Thakurta, algorithm 4; of sensitivity 2") \
	M(stream_half_width, \
	  "a threshold of half the width, as in the same paper's algorithm 6, where a factor 2 is missing") \
	M(stream_unsplit_noise, \
	  "noise of scale 1/epsilon for threshold and distances alike, as if there were one of them") \
	M(stream_one_more, \
	  "a stream ends after T + 1 failures, as \"c <= T\" does in the same paper's algorithms 1 and 3") \
	M(stream_distance_bare, \
	  "a noisy threshold, and distances without noise, as in a variant that Lyu, Su, Li 2017 found broken") \
	M(stream_delta_once, "a stream is charged the delta of one of its T runs") \
	/* threshold */ \
	M(threshold_whole_step, \
	  "steps of epsilon instead of epsilon/2, as in Dwork, Feldman's overview: right for rows added, not for changed ones") \
	M(threshold_laplace_link, \
	  "the Laplace link for accounts that are charged for bounded range, which only the logistic link has") \
	M(threshold_rows_ignored, "steps as if a unit had one row, whatever max_rows_per_unit says") \
	/* a hypothesis for each answer */ \
	M(drawn_no_flip, \
	  "answers of stable_flip and relabel are not flipped: uniform stability is not privacy (Dagan, Feldman)") \
	M(drawn_q_doubled, "twice as many units in the sample as the proof has") \
	M(drawn_not_halved, \
	  "hypotheses weighed by exp(-e err) where odds may move by e^e, so exp(-(e/2) err)") \
	M(drawn_reused, \
	  "one hypothesis for all answers of a session: composition covers fresh draws only") \
	M(relabel_kappa_doubled, "the chunks' vote at 2 kappa") \
	/* released models */ \
	M(cover_without_half, \
	  "candidates weighed by exp(-epsilon err), not epsilon/2: an error moves up while another moves down") \
	M(littlestone_half_threshold, \
	  "the stable histogram keeps what exceeds half of its threshold: delta is its square root") \
	M(littlestone_no_noise, \
	  "the stable histogram without noise: a count at the threshold tells one unit for certain") \
	M(gradient_clip_sensitivity, \
	  "sensitivity C as for a unit added or removed; one that is changed moves the sum by 2 C") \
	M(gradient_half_noise, "gradients with half of the noise that is charged for") \
	M(gradient_unclipped, "gradients of single rows are not clipped") \
	M(erm_half_sensitivity, \
	  "the score's sensitivity L R^2/(lambda n0) without its factor 2, as for a unit added or removed") \
	M(erm_half_noise, "scores with half of the noise that is charged for") \
	M(distill_one_label, "a student is charged for one label, whatever it has learnt from") \
	/* units */ \
	M(teachers_by_position, \
	  "rows go to teachers by their place in the table (\"arbitrarily split\"), so one unit teaches many") \
	M(rows_as_units, "every row counts as a unit of its own, whatever column was declared") \
	M(rows_uncut, "a unit may have more rows than max_rows_per_unit") \
	/* samplers */ \
	M(sampler_modulo, "uniform integers by the remainder of a 15-bit number, as by rand() % n") \
	M(sampler_coin_or_equal, "coins that compare by <= instead of <: 1/2 becomes certain") \
	M(sampler_double_zero, \
	  "discrete Laplace noise that keeps negative zero: zero is twice as likely (Canonne, Kamath, Steinke reject it)") \
	/* ledger */ \
	M(ledger_not_flushed, \
	  "an answer leaves before its charge is on disk, so that a crash makes it free") \
	M(ledger_rollback_refunds, "a statement that fails gets back what its answers cost") \
	M(ledger_delta_ignored, "accounts add up epsilons and forget deltas") \
	M(ledger_rounds_down, "charges are rounded in the spender's favour") \
	M(ledger_cap_ignored, "the cap over all roles is not charged") \
	M(ledger_whole_delta, "conversion takes all of delta, of which mechanisms spend half") \
	M(repeats_for_all, \
	  "an answer is repeated for free to whoever asks in the session, not only to the role that paid")

#define MUTANT_NUMBER(name, what) MUTANT_##name,
typedef enum Mutant
{
	MUTANT_NONE,
	PRIVPRED_MUTANTS(MUTANT_NUMBER) MUTANT_COUNT
} Mutant;
#undef MUTANT_NUMBER

/* A name that is not listed is an undeclared identifier here. */
#ifdef PRIVPRED_MUTANT
#define MUTANT_PASTE(name) MUTANT_##name
#define MUTANT_OF(name) MUTANT_PASTE(name)
#define MUTANT_CHOSEN MUTANT_OF(PRIVPRED_MUTANT)
#else
#define MUTANT_CHOSEN MUTANT_NONE
#endif

#define MUTANT(name) (MUTANT_##name == MUTANT_CHOSEN)
#define MUTANT_BUILD (MUTANT_CHOSEN != MUTANT_NONE)

/* Says in a WARNING that this build is wrong, and how (mutant.c). */
extern void mutant_warn(void);

/* "0.1.0", or what nobody takes for it. */
extern const char *mutant_build(void);

#endif /* PRIVPRED_MUTANT_H */
