/* privpred--0.1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION privpred" to load this file. \quit

CREATE SCHEMA privpred;
COMMENT ON SCHEMA privpred IS 'private predictions: models, budgets and their ledger';
GRANT USAGE ON SCHEMA privpred TO PUBLIC;

----------------------------------------------------------------------
-- Learners: the predictor type, aggregates, teacher_of, ensemble
----------------------------------------------------------------------
CREATE TYPE privpred.predictor;

CREATE FUNCTION privpred.predictor_in(cstring) RETURNS privpred.predictor
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.predictor_in(cstring) IS 'I/O';

CREATE FUNCTION privpred.predictor_out(privpred.predictor) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.predictor_out(privpred.predictor) IS 'I/O';

CREATE FUNCTION privpred.predictor_recv(internal) RETURNS privpred.predictor
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.predictor_recv(internal) IS 'I/O';

CREATE FUNCTION privpred.predictor_send(privpred.predictor) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.predictor_send(privpred.predictor) IS 'I/O';

CREATE TYPE privpred.predictor (
	INPUT = privpred.predictor_in,
	OUTPUT = privpred.predictor_out,
	RECEIVE = privpred.predictor_recv,
	SEND = privpred.predictor_send,
	ALIGNMENT = int4,
	STORAGE = extended
);
COMMENT ON TYPE privpred.predictor IS 'a trained teacher, or an ensemble of them';

CREATE FUNCTION privpred.learner_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.learner_combine(internal, internal) IS 'merges two states of a learner';

CREATE FUNCTION privpred.learner_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.learner_serialize(internal) IS 'state of a learner to bytes';

CREATE FUNCTION privpred.learner_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.learner_deserialize(bytea, internal) IS 'state of a learner from bytes';

CREATE FUNCTION privpred.learner_finish(internal) RETURNS privpred.predictor
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.learner_finish(internal) IS 'fits a teacher';

CREATE FUNCTION privpred.logistic_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.logistic_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.logistic(anyelement, double precision[]) (
	SFUNC = privpred.logistic_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.logistic(anyelement, double precision[]) IS
	'one teacher over (label, features): logistic regression (LIBLINEAR); not private by itself';

CREATE FUNCTION privpred.logistic_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.logistic_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.logistic(anyelement, double precision[], jsonb) (
	SFUNC = privpred.logistic_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.logistic(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): logistic regression (LIBLINEAR); not private by itself';

CREATE FUNCTION privpred.svm_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.svm_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.svm(anyelement, double precision[]) (
	SFUNC = privpred.svm_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.svm(anyelement, double precision[]) IS
	'one teacher over (label, features): linear support vector machine (LIBLINEAR); not private by itself';

CREATE FUNCTION privpred.svm_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.svm_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.svm(anyelement, double precision[], jsonb) (
	SFUNC = privpred.svm_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.svm(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): linear support vector machine (LIBLINEAR); not private by itself';

CREATE FUNCTION privpred.linear_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.linear_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.linear(anyelement, double precision[]) (
	SFUNC = privpred.linear_transition,
	STYPE = internal,
	SSPACE = 8192,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.linear(anyelement, double precision[]) IS
	'one teacher over (label, features): ridge least squares, from sums in one pass; not private by itself';

CREATE FUNCTION privpred.linear_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.linear_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.linear(anyelement, double precision[], jsonb) (
	SFUNC = privpred.linear_transition,
	STYPE = internal,
	SSPACE = 8192,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.linear(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): ridge least squares, from sums in one pass; not private by itself';

CREATE FUNCTION privpred.naive_bayes_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.naive_bayes_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.naive_bayes(anyelement, double precision[]) (
	SFUNC = privpred.naive_bayes_transition,
	STYPE = internal,
	SSPACE = 4096,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.naive_bayes(anyelement, double precision[]) IS
	'one teacher over (label, features): Gaussian naive Bayes, from sums in one pass; not private by itself';

CREATE FUNCTION privpred.naive_bayes_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.naive_bayes_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.naive_bayes(anyelement, double precision[], jsonb) (
	SFUNC = privpred.naive_bayes_transition,
	STYPE = internal,
	SSPACE = 4096,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.naive_bayes(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): Gaussian naive Bayes, from sums in one pass; not private by itself';

CREATE FUNCTION privpred.centroid_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.centroid_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.centroid(anyelement, double precision[]) (
	SFUNC = privpred.centroid_transition,
	STYPE = internal,
	SSPACE = 4096,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.centroid(anyelement, double precision[]) IS
	'one teacher over (label, features): nearest class mean, from sums in one pass; not private by itself';

CREATE FUNCTION privpred.centroid_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.centroid_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.centroid(anyelement, double precision[], jsonb) (
	SFUNC = privpred.centroid_transition,
	STYPE = internal,
	SSPACE = 4096,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.centroid(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): nearest class mean, from sums in one pass; not private by itself';

CREATE FUNCTION privpred.stump_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.stump_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.stump(anyelement, double precision[]) (
	SFUNC = privpred.stump_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.stump(anyelement, double precision[]) IS
	'one teacher over (label, features): best split of one feature; not private by itself';

CREATE FUNCTION privpred.stump_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.stump_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.stump(anyelement, double precision[], jsonb) (
	SFUNC = privpred.stump_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.stump(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): best split of one feature; not private by itself';

-- Runs the user's own aggregate, in a subtransaction: hence never in parallel.
CREATE FUNCTION privpred.sql_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.sql_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE FUNCTION privpred.sql_finish(internal) RETURNS privpred.predictor
	AS 'MODULE_PATHNAME', 'learner_finish' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.sql_finish(internal) IS 'fits a teacher with the user''s own aggregate';

CREATE AGGREGATE privpred.sql_learner(anyelement, double precision[], jsonb) (
	SFUNC = privpred.sql_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.sql_finish,
	PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE privpred.sql_learner(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): the aggregate and the function named by options "train" and "predict"; not private by itself';

CREATE FUNCTION privpred.ensemble_transition(internal, privpred.predictor) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.ensemble_transition(internal, privpred.predictor) IS 'adds a predictor';

CREATE FUNCTION privpred.ensemble_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.ensemble_combine(internal, internal) IS 'merges two states of ensemble';

CREATE FUNCTION privpred.ensemble_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.ensemble_serialize(internal) IS 'state of ensemble to bytes';

CREATE FUNCTION privpred.ensemble_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.ensemble_deserialize(bytea, internal) IS 'state of ensemble from bytes';

CREATE FUNCTION privpred.ensemble_finish(internal) RETURNS privpred.predictor
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.ensemble_finish(internal) IS 'packs predictors into one';

CREATE AGGREGATE privpred.ensemble(privpred.predictor) (
	SFUNC = privpred.ensemble_transition,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = privpred.ensemble_finish,
	COMBINEFUNC = privpred.ensemble_combine,
	SERIALFUNC = privpred.ensemble_serialize,
	DESERIALFUNC = privpred.ensemble_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.ensemble(privpred.predictor) IS
	'packs predictors of the same classes and features into one ensemble';

CREATE FUNCTION privpred.teacher_of(unit anyelement, salt bytea, k integer) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teacher_of(anyelement, bytea, integer) IS
	'which of k teachers sees a unit: a keyed hash that never changes';

-- A predictor of learner "sql" runs the user's function.
CREATE FUNCTION privpred.predict(predictor privpred.predictor, features double precision[]) RETURNS text
	AS 'MODULE_PATHNAME', 'predictor_predict' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.predict(privpred.predictor, double precision[]) IS
	'the plain majority of a predictor''s members; NOT private: use private_predict for protected tables';

CREATE FUNCTION privpred.votes(predictor privpred.predictor, features double precision[]) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'predictor_votes' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.votes(privpred.predictor, double precision[]) IS
	'how many members of a predictor vote for each class; NOT private';

----------------------------------------------------------------------
-- Catalog: protected relations and models
----------------------------------------------------------------------

CREATE TABLE privpred.protected_relation (
	relation_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation		regclass UNIQUE,	-- NULL once the table was dropped
	relation_name	text NOT NULL,		-- as it was last seen
	unit_columns	name[] NOT NULL,
	protects		text NOT NULL CHECK (protects IN ('rows', 'labels')),
	declared_units	bigint CHECK (declared_units > 0),
	max_rows_per_unit int CHECK (max_rows_per_unit > 0),
	active			boolean NOT NULL DEFAULT true,	-- false: unprotected or dropped
	protected_at	timestamptz NOT NULL DEFAULT pg_catalog.now(),
	dropped_at		timestamptz
);
COMMENT ON TABLE privpred.protected_relation IS 'tables whose rows are protected, and what a unit is in them';

CREATE TABLE privpred.model (
	model_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	name			text NOT NULL UNIQUE,
	relation_id		bigint NOT NULL REFERENCES privpred.protected_relation,
	label			name NOT NULL,
	classes			text[] NOT NULL,
	features		jsonb NOT NULL,		-- an array in declared order, kinds and levels spelled out
	mechanism		text NOT NULL,
	learner			text NOT NULL,
	teachers		int NOT NULL,
	epsilon_units	bigint NOT NULL CHECK (epsilon_units > 0),	-- 10^-12 each
	options			jsonb NOT NULL,
	salt			bytea NOT NULL CHECK (pg_catalog.length(salt) = 16),
	version			int NOT NULL,
	status			text NOT NULL CHECK (status IN ('ready')),
	created_at		timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by		name NOT NULL,
	trained_at		timestamptz NOT NULL DEFAULT pg_catalog.now(),
	predictor		privpred.predictor	-- NULL if no teacher saw a row
);
COMMENT ON TABLE privpred.model IS 'models and their trained predictors; readable by the extension''s owner alone';

SELECT pg_catalog.pg_extension_config_dump('privpred.protected_relation', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.protected_relation_relation_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model_model_id_seq', '');

----------------------------------------------------------------------
-- Ledger: accounts, entries, budgets
----------------------------------------------------------------------
-- [ledger section]

----------------------------------------------------------------------
-- Accounting: what a budget buys
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
-- Owner's and analyst's functions
----------------------------------------------------------------------

CREATE FUNCTION privpred.protect(relation regclass, unit name DEFAULT NULL, protects text DEFAULT 'rows',
	declared_units bigint DEFAULT NULL, max_rows_per_unit int DEFAULT NULL,
	epsilon_cap float8 DEFAULT NULL, delta_cap float8 DEFAULT 0)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.protect(regclass, name, text, bigint, int, float8, float8) IS
'owner: declares that a table''s rows are protected, and which column says whose row it is (default: the primary key); sizes and caps may be declared again later';

CREATE FUNCTION privpred.unprotect(relation regclass)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_unprotect' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.unprotect(regclass) IS
'owner: ends protection; refused while models or budgets exist; what was spent is remembered';

CREATE FUNCTION privpred.create_model(name text, relation regclass, label name, features json,
	classes text[] DEFAULT NULL, mechanism text DEFAULT 'vote', learner text DEFAULT 'logistic',
	teachers int DEFAULT 100, epsilon float8 DEFAULT 0.1, options jsonb DEFAULT '{}')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_create_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.create_model(text, regclass, name, json, text[], text, text, int, float8, jsonb) IS
'owner: trains a model on a protected table and returns its public card; bounds, levels and classes are declared, epsilon is the price of one answer';

CREATE FUNCTION privpred.retrain(name text)
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_retrain' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.retrain(text) IS
'owner: trains a new version of a model on today''s rows, with the same declarations and the same budgets';

CREATE FUNCTION privpred.drop_model(name text)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_drop_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.drop_model(text) IS
'owner: removes a model; what was spent on it stays spent';

CREATE FUNCTION privpred.evaluate(model text, test regclass, OUT rows bigint,
	OUT private_accuracy float8, OUT majority_accuracy float8, OUT baseline_accuracy float8)
AS 'MODULE_PATHNAME', 'privpred_evaluate' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.evaluate(text, regclass) IS
'owner: accuracy on labelled rows: the expectation of the private answers, the teachers'' plain majority, and always the most common class; exact, not private, costs nothing';

CREATE FUNCTION privpred.encode(features jsonb, row_of_features record)
RETURNS float8[] AS 'MODULE_PATHNAME', 'privpred_encode' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION privpred.encode(jsonb, record) IS
'one training row as learners see it, from a stored feature specification and ROW(...) in its order; never fails on a value';

CREATE FUNCTION @extschema@.private_predict(model text, features float8[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, float8[]) IS
'one private answer, paid from the caller''s budget; numbers in their own units, levels one-hot, booleans 0/1, in declared order';

CREATE FUNCTION @extschema@.private_predict(model text, features jsonb)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_jsonb'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, jsonb) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION @extschema@.private_predict(model text, features record)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_row'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, record) IS
'one private answer, paid from the caller''s budget; a row whose columns are matched by name';

CREATE VIEW privpred.models WITH (security_barrier) AS
SELECT m.name, r.relation, m.mechanism, m.learner, m.version, m.status, m.classes, m.features,
	m.teachers, pg_catalog.trim_scale(m.epsilon_units / 1000000000000.0) AS epsilon,
	'per_answer'::text AS charge_kind, m.created_at, m.created_by, m.label, m.options, m.trained_at
FROM privpred.model m
	JOIN privpred.protected_relation r USING (relation_id)
	JOIN pg_catalog.pg_class c ON c.oid = r.relation
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b WHERE b.relation = r.relation);
COMMENT ON VIEW privpred.models IS
'models of the tables you own and of those you hold a budget for';

CREATE FUNCTION privpred.on_sql_drop()
RETURNS event_trigger AS 'MODULE_PATHNAME', 'privpred_on_sql_drop' LANGUAGE C;
COMMENT ON FUNCTION privpred.on_sql_drop() IS
'forgets protected tables that are dropped, so that a re-used identity inherits nothing';

CREATE EVENT TRIGGER privpred_on_sql_drop ON sql_drop EXECUTE FUNCTION privpred.on_sql_drop();

----------------------------------------------------------------------
-- Privileges: everything is closed, then opened by name
----------------------------------------------------------------------

REVOKE ALL ON ALL TABLES IN SCHEMA privpred FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA privpred FROM PUBLIC;
-- learners: they read only what their caller may read already
GRANT EXECUTE ON FUNCTION
	privpred.logistic(anyelement, double precision[]),
	privpred.logistic(anyelement, double precision[], jsonb),
	privpred.svm(anyelement, double precision[]),
	privpred.svm(anyelement, double precision[], jsonb),
	privpred.linear(anyelement, double precision[]),
	privpred.linear(anyelement, double precision[], jsonb),
	privpred.naive_bayes(anyelement, double precision[]),
	privpred.naive_bayes(anyelement, double precision[], jsonb),
	privpred.centroid(anyelement, double precision[]),
	privpred.centroid(anyelement, double precision[], jsonb),
	privpred.stump(anyelement, double precision[]),
	privpred.stump(anyelement, double precision[], jsonb),
	privpred.sql_learner(anyelement, double precision[], jsonb),
	privpred.ensemble(privpred.predictor),
	privpred.teacher_of(anyelement, bytea, integer),
	privpred.predict(privpred.predictor, double precision[]),
	privpred.votes(privpred.predictor, double precision[])
	TO PUBLIC;
-- [grants: ledger]
GRANT EXECUTE ON FUNCTION privpred.answers_for, privpred.epsilon_for TO PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.protect, privpred.unprotect, privpred.create_model,
	privpred.retrain, privpred.drop_model, privpred.evaluate, privpred.encode TO PUBLIC;
GRANT SELECT ON privpred.models TO PUBLIC;
