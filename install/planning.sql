----------------------------------------------------------------------
-- Accounting: how many answers a budget pays for
----------------------------------------------------------------------

CREATE FUNCTION privpred.answers_for(epsilon float8, delta float8, per_answer float8,
	mechanism text DEFAULT 'vote', OUT answers bigint, OUT renyi_order float8,
	OUT limit_at_order numeric, OUT charge numeric, OUT answers_by_summation bigint)
AS 'MODULE_PATHNAME', 'privpred_answers_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.answers_for(float8, float8, float8, text) IS
'anyone: how many answers a budget (epsilon, delta) buys at a given epsilon per answer, at which order of account, and how many it would buy if epsilons were simply added; costs nothing';

CREATE FUNCTION privpred.epsilon_for(epsilon float8, delta float8, answers bigint,
	mechanism text DEFAULT 'vote', OUT per_answer numeric, OUT renyi_order float8,
	OUT answers_it_buys bigint)
AS 'MODULE_PATHNAME', 'privpred_epsilon_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.epsilon_for(float8, float8, bigint, text) IS
'anyone: the largest epsilon per answer, in multiples of 1e-9, at which a budget (epsilon, delta) buys that many answers; costs nothing';

----------------------------------------------------------------------
-- Solvers: parameters of stable_flip and relabel, and the epsilon that they prove
----------------------------------------------------------------------

CREATE FUNCTION privpred.solve_stable_flip(epsilon float8, alpha float8 DEFAULT 0.1,
	OUT q float8, OUT e numeric, OUT proved_epsilon numeric, OUT gamma float8)
AS 'MODULE_PATHNAME', 'privpred_solve_stable_flip' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.solve_stable_flip(float8, float8) IS
'anyone: the parameters of mechanism stable_flip for an epsilon and a share alpha of flipped answers, and the epsilon proved of them; costs nothing';

CREATE FUNCTION privpred.solve_relabel(epsilon float8, alpha float8, n_max bigint,
	max_rows_per_unit int DEFAULT 1, features int DEFAULT 1,
	OUT j bigint, OUT kappa numeric, OUT q float8, OUT eps1 float8, OUT delta1 float8,
	OUT proved_epsilon numeric, OUT units_needed bigint)
AS 'MODULE_PATHNAME', 'privpred_solve_relabel' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.solve_relabel(float8, float8, bigint, int, int) IS
'anyone: the parameters of mechanism relabel for an epsilon, a share alpha of flipped answers and at most n_max units, the epsilon proved of them, and the least n_max that would do; costs nothing';

----------------------------------------------------------------------
-- Planning: which mechanism, from declared numbers alone
----------------------------------------------------------------------

CREATE FUNCTION privpred.plan(n bigint DEFAULT NULL, features int DEFAULT NULL, classes int DEFAULT NULL,
	epsilon float8 DEFAULT 1, delta float8 DEFAULT 0, answers bigint DEFAULT 1,
	accuracy float8 DEFAULT NULL, relation regclass DEFAULT NULL, label name DEFAULT NULL,
	learner text DEFAULT NULL, baseline float8 DEFAULT NULL, OUT rank int, OUT mechanism text, OUT recommended boolean,
	OUT feasible boolean, OUT why text, OUT rows_needed bigint, OUT expected_accuracy float8,
	OUT expected_error float8, OUT per_answer_epsilon numeric, OUT total_epsilon numeric,
	OUT total_delta float8, OUT answers_bought bigint, OUT charged text, OUT parameters text,
	OUT statements text, OUT grounds text, OUT lower_bound text, OUT advice text)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_plan' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 14;
COMMENT ON FUNCTION privpred.plan(bigint, int, int, float8, float8, bigint, float8, regclass, name, text, float8) IS
'anyone: which mechanism suits n units, so many features and classes, a budget and a number of answers; best first, with expected accuracy, rows needed and statements to paste; looks at declarations, never at rows; costs nothing';
