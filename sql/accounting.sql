-- What a budget buys: pure arithmetic, open to everybody.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
SET extra_float_digits = 0;
CREATE ROLE accounting_nobody;
SET ROLE accounting_nobody;

-- delta = 0: epsilons add up, exactly in decimal
SELECT * FROM privpred.answers_for(5, 0, 0.1);
SELECT * FROM privpred.answers_for(0.3, 0, 0.1);
SELECT * FROM privpred.answers_for(0.1, 0, 0.3);

-- a little delta buys many more small answers
SELECT * FROM privpred.answers_for(1, 1e-6, 0.01);
SELECT answers > 10 * answers_by_summation AS over_ten_times
FROM privpred.answers_for(1, 1e-6, 0.01);
SELECT * FROM privpred.answers_for(5, 1e-6, 0.1, mechanism => 'vote');

-- but nothing where answers are few and large: the account stays pure
SELECT * FROM privpred.answers_for(1, 1e-6, 0.5);

-- the largest epsilon for so many answers
SELECT * FROM privpred.epsilon_for(5, 0, 50);
SELECT * FROM privpred.epsilon_for(1, 1e-6, 1000);
SELECT * FROM privpred.epsilon_for(1, 1e-6, 1);
SELECT * FROM privpred.epsilon_for(1000000, 0, 1);		-- no answer may cost more than 100

-- one is the inverse of the other, and a little more is too much
SELECT n, e.answers_it_buys >= n AS enough,
	(privpred.answers_for(epsilon, delta, (e.per_answer * (1 + 1e-3) + delta)::float8)).answers < n AS no_more,
	(privpred.answers_for(epsilon, delta, e.per_answer::float8)).answers = e.answers_it_buys AS agree
FROM (VALUES (1, 1e-6), (0.5, 0), (10, 1e-9), (3, 0.01)) AS budget (epsilon, delta),
	(VALUES (1), (10), (12345)) AS wanted (n),
	LATERAL privpred.epsilon_for(epsilon, delta, n) e
ORDER BY epsilon, n;

-- more of anything buys no less
SELECT bool_and(answers >= before) AS monotone_in_epsilon
FROM (SELECT answers, lag(answers, 1, 0::bigint) OVER (ORDER BY i) AS before
	FROM generate_series(1, 200) i, LATERAL privpred.answers_for(i / 20.0, 1e-6, 0.05)) s;
SELECT bool_and(answers >= before) AS monotone_in_delta
FROM (SELECT answers, lag(answers, 1, 0::bigint) OVER (ORDER BY i) AS before
	FROM generate_series(0, 300) i,
		LATERAL privpred.answers_for(1, CASE i WHEN 0 THEN 0 ELSE 0.9 * 10.0 ^ (i - 300) END, 0.05)) s;

-- the ends of the ranges
SELECT * FROM privpred.answers_for(1e-9, 1e-300, 1e-9);
SELECT * FROM privpred.answers_for(1000000, 1e-300, 1e-9);
SELECT * FROM privpred.answers_for(1000000, 0.999, 100);
SELECT * FROM privpred.answers_for(1, 2.2250738585072014e-308, 0.01);

-- NULL gives NULL
SELECT privpred.answers_for(1, NULL, 0.1), privpred.epsilon_for(NULL, 0, 1);

-- refused, with what to do
SELECT privpred.answers_for(0, 0, 0.1);
\echo :LAST_ERROR_SQLSTATE
SELECT privpred.answers_for(-1, 0, 0.1);
SELECT privpred.answers_for('NaN', 0, 0.1);
SELECT privpred.answers_for('Infinity', 0, 0.1);
SELECT privpred.answers_for(1e-320, 0, 0.1);
SELECT privpred.answers_for(1, 0, 0);
SELECT privpred.answers_for(1, 0, 'NaN');
SELECT privpred.answers_for(1, 0, 101);
SELECT privpred.answers_for(1, 1, 0.1);
\echo :LAST_ERROR_SQLSTATE
SELECT privpred.answers_for(1, -1e-6, 0.1);
SELECT privpred.answers_for(1, 'NaN', 0.1);
SELECT privpred.answers_for(1, 1e-310, 0.1);
SELECT privpred.answers_for(1, 0, 0.1, 'vodka');
SELECT privpred.epsilon_for(1, 0, 0);
SELECT privpred.epsilon_for(1, 0, -5);
SELECT privpred.epsilon_for(1, 0, 2000000000);
\echo :LAST_ERROR_SQLSTATE

RESET ROLE;
DROP ROLE accounting_nobody;
