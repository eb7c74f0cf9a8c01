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

-- The planner takes every unit for a group of its own, so SSPACE is the size of
-- a state with a row or two.
CREATE FUNCTION privpred.logistic_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.logistic_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.logistic(anyelement, double precision[]) (
	SFUNC = privpred.logistic_transition,
	STYPE = internal,
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 2048,
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
	SSPACE = 2048,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	SSPACE = 1024,
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
	features		json NOT NULL,		-- canonical: kinds and levels spelled out
	mechanism		text NOT NULL,
	learner			text NOT NULL,
	teachers		int NOT NULL,
	epsilon_units	bigint NOT NULL CHECK (epsilon_units > 0),	-- 10^-12 each
	options			jsonb NOT NULL,
	salt			bytea NOT NULL CHECK (pg_catalog.length(salt) = 16),
	version			int NOT NULL,
	status			text NOT NULL CHECK (status IN ('ready', 'relation dropped')),
	created_at		timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by		name NOT NULL,
	trained_at		timestamptz NOT NULL DEFAULT pg_catalog.now(),
	predictor		privpred.predictor				-- NULL once the table was dropped
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
-- Owner's and analyst's functions
----------------------------------------------------------------------
-- [request section]

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
-- [grants: requests]
