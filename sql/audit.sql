-- privpred.audit(): every mechanism's claim holds on made-up tables, nobody pays,
-- nothing is left behind.  What is drawn is random, so verdicts alone are shown;
-- a false alarm is rarer than 1 in 10^6 audits.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;

CREATE ROLE audit_owner;
CREATE ROLE audit_analyst;
GRANT CREATE ON SCHEMA public TO audit_owner;
SET ROLE audit_owner;
CREATE TABLE audit_people (id int PRIMARY KEY, x float8, y text);
INSERT INTO audit_people SELECT i, (i * 7 % 100) / 100.0, CASE WHEN i * 7 % 100 > 50 THEN 'yes' ELSE 'no' END FROM generate_series(1, 300) i;
CREATE TABLE audit_visits (visit int PRIMARY KEY, patient int NOT NULL, x float8, y text);
INSERT INTO audit_visits SELECT id, id / 3, x, y FROM audit_people;
CREATE TABLE audit_labels (LIKE audit_people INCLUDING ALL);
CREATE TABLE audit_public AS SELECT i / 10.0 AS x FROM generate_series(0, 10) i;
SELECT privpred.protect('audit_people', declared_units => 2000);
SELECT privpred.protect('audit_visits', unit => 'patient', declared_units => 2000, max_rows_per_unit => 3);
SELECT privpred.protect('audit_labels', declared_units => 2000, protects => 'labels');
SELECT privpred.grant_budget('audit_analyst', 'audit_people', epsilon => 100, delta => 1e-6);

CREATE FUNCTION make(name text, mechanism text, options jsonb = '{}', relation regclass = 'audit_people', epsilon float8 = 1) RETURNS void LANGUAGE sql AS $$
SELECT privpred.create_model(name, relation, label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}',
	mechanism => mechanism, teachers => 30, epsilon => epsilon, options => options) $$;
SELECT make('vote', 'vote');
SELECT make('noisy max', 'vote', '{"noise": "gaussian"}');
SELECT make('average', 'average');
SELECT make('sparse', 'sparse');
SELECT make('soft', 'soft');
SELECT make('threshold', 'threshold');
SELECT make('visits', 'threshold', '{}', 'audit_visits');
SELECT make('stable_flip', 'stable_flip');
SELECT make('stable', 'stable');
SELECT make('relabel', 'relabel');
SELECT make('cover', 'cover');
SELECT make('label_private', 'label_private', '{}', 'audit_labels');
SELECT make('littlestone', 'littlestone');
SELECT make('stable_erm', 'stable_erm');
SELECT make('gradient', 'gradient', '{"delta": 0.02}', 'audit_people', 4);
SELECT privpred.distill('student', 'vote', 'audit_public', 'stump') IS NOT NULL AS distilled;
SELECT privpred.create_model('three', 'audit_people', label => 'y', classes => '{no,yes,perhaps}', features => '["x"]', learner => 'tree', epsilon => 0.5) IS NOT NULL AS created;
SELECT privpred.create_model('average, 3', 'audit_people', label => 'y', classes => '{no,yes,perhaps}', features => '["x"]', mechanism => 'average', epsilon => 0.6) IS NOT NULL AS created;
SELECT privpred.create_model('a number', 'audit_people', label => 'x', features => '{"x": {"min": 0, "max": 1}}', mechanism => 'average', learner => 'stump', epsilon => 1, options => '{"target": {"min": 0, "max": 1}}') IS NOT NULL AS created;

-- what is released beside models: an accuracy, and a description of the table
CREATE TABLE audit_held (LIKE audit_people INCLUDING ALL);
SELECT privpred.protect('audit_held', declared_units => 2000);
SELECT name, privpred.create_model('held ' || name, 'audit_held', label => 'y', classes => '{no,yes}', features => '["x"]', mechanism => name, teachers => 30, epsilon => epsilon, holdout => 0.5) IS NOT NULL AS created
FROM (VALUES ('vote', 0.1), ('cover', 1)) m (name, epsilon);
SELECT privpred.describe('audit_held', columns => '{x}') IS NOT NULL AS described;

-- what there is before
CREATE TEMP VIEW everything AS
SELECT (SELECT count(*) FROM privpred.ledger) AS entries, (SELECT sum(epsilon_spent) FROM privpred.budgets) AS spent,
	(SELECT count(*) FROM privpred.models) AS models, (SELECT sum(version) FROM privpred.models) AS versions,
	(SELECT count(*) FROM privpred.streams) AS streams, (SELECT count(*) FROM privpred.leases) AS leases,
	(SELECT count(*) FROM pg_class) AS relations, (SELECT count(*) FROM privpred.progress) AS progress;
CREATE TEMP TABLE before AS SELECT * FROM everything WITH NO DATA;
INSERT INTO before SELECT * FROM everything;

-- every mechanism
SELECT m.name, a.mechanism, a.pair, a.compared, round(a.claimed_delta::numeric, 4) AS delta, a.verdict
FROM (VALUES ('vote'), ('noisy max'), ('three'), ('average'), ('average, 3'), ('a number'), ('sparse'), ('soft'), ('threshold'), ('visits'), ('stable_flip'), ('stable'), ('relabel'),
	('cover'), ('label_private'), ('littlestone'), ('stable_erm'), ('gradient'), ('student')) m (name), privpred.audit(m.name) a;

SELECT m.name, a.pair, a.compared, a.claimed_epsilon, a.verdict FROM (VALUES ('held vote'), ('held cover')) m (name), privpred.audit(m.name) a WHERE a.pair ~ 'measured|cell';

-- the claim is what is stored: one that is too small is told
RESET ROLE;
UPDATE privpred.model SET charge = 'bounded range 0.4', pure_charge = 'pure 0.4' WHERE name = 'vote';
SET ROLE audit_owner;
CREATE TEMP TABLE told AS SELECT * FROM privpred.audit('vote');
SELECT pair, charge, claimed_epsilon, epsilon_lower_bound > claimed_epsilon AS above, confidence, verdict FROM told;
-- How often would it not be?  These are the probabilities of an answer at epsilon 1.  Of so many draws, shares are off by more than e with probability 10^-7 in all, by Hoeffding, and
-- bounds at 10^-6 / 512 by no more than b: those of Clopper and Pearson are narrower than Hoeffding's.  What is left must still be told.
SELECT t.pair, CASE WHEN charge LIKE 'bounded range%' THEN ln(low / (1 - low)) - ln(high / (1 - high)) ELSE ln(low / high) END > claimed_epsilon AS enough_draws
FROM told t JOIN (VALUES ('aabb or abbb', 1 / 2.0, exp(-1) / 2), ('aaaaaaaabbbbbbbb or aaaaaaabbbbbbbbb', 1 / 2.0, exp(-1) / 2), ('abb or bbb', 1 / (1 + exp(1)), exp(-1) / (1 + exp(1))),
  ('aab or abb', 1 / (1 + exp(-0.5)), 1 / (1 + exp(0.5)))) law (votes, p, q) ON split_part(t.pair, ',', 1) = 'teachers say ' || votes,
  LATERAL (SELECT sqrt(ln(4e7) / (2 * draws_each)) AS e, sqrt(ln(512e6) / (2 * draws_each)) AS b) s, LATERAL (SELECT p - e - b AS low, q + e + b AS high) l ORDER BY 1;
DROP TABLE told;
-- one that is not a charge at all is nothing to compare with
RESET ROLE;
UPDATE privpred.model SET charge = 'a lot' WHERE name = 'vote';
SET ROLE audit_owner;
SELECT verdict FROM privpred.audit('vote');
RESET ROLE;
UPDATE privpred.model SET charge = 'bounded range 1', pure_charge = 'pure 1' WHERE name = 'vote';
SET ROLE audit_owner;

-- too few draws, and an epsilon too large or too small for any number of them, are said to have no power
SELECT DISTINCT draws_each, would_detect, verdict FROM privpred.audit('vote', draws => 20);
SELECT make('large', 'vote', '{}', 'audit_people', 40);
SELECT make('small', 'vote', '{}', 'audit_people', 0.001);
SELECT DISTINCT verdict FROM privpred.audit('large');
SELECT DISTINCT would_detect > 0.002 AS more_than_twice, verdict FROM privpred.audit('small', draws => 10000);

-- what is refused
SELECT verdict FROM privpred.audit('nothing');
SELECT verdict FROM privpred.audit(NULL);
SELECT verdict FROM privpred.audit('vote', draws => 0);
SELECT verdict FROM privpred.audit('vote', draws => -5);
SELECT verdict FROM privpred.audit('vote', draws => 1000000001);
SET ROLE audit_analyst;
SELECT verdict FROM privpred.audit('vote');
SET ROLE audit_owner;

-- the table need not have rows, nor be readable, nor the transaction able to write
SELECT privpred.drop_model('large');
SELECT privpred.drop_model('small');
TRUNCATE audit_people;
REVOKE ALL ON audit_people FROM audit_owner;
BEGIN READ ONLY;
SELECT DISTINCT verdict FROM privpred.audit('vote', draws => 5000);
SELECT DISTINCT verdict FROM privpred.audit('cover', draws => 5000);
COMMIT;

-- what there is after
SELECT b = e AS unchanged FROM before b, everything e;

RESET ROLE;
DROP FUNCTION make;
DROP TABLE audit_people, audit_visits, audit_labels, audit_public, audit_held;
REVOKE CREATE ON SCHEMA public FROM audit_owner;
DROP OWNED BY audit_owner, audit_analyst;
DROP ROLE audit_owner, audit_analyst;
