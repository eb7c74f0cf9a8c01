/* privpred--0.1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION privpred" to load this file. \quit

-- Nothing here is looked up in the schema that was named at CREATE EXTENSION, where
-- others may have put operators and functions that fit better than the server's.
SET LOCAL search_path = pg_catalog, pg_temp;

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

-- x is a number, a date or a timestamp.
CREATE FUNCTION privpred.threshold_transition(internal, anyelement, "any") RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.threshold_transition(internal, anyelement, "any") IS 'adds a row';

CREATE AGGREGATE privpred.threshold(anyelement, "any") (
	SFUNC = privpred.threshold_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.threshold(anyelement, "any") IS
	'one predictor over (label, x): thresholds and intervals of one number, date or timestamp; not private by itself';

CREATE FUNCTION privpred.threshold_transition(internal, anyelement, "any", jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.threshold_transition(internal, anyelement, "any", jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.threshold(anyelement, "any", jsonb) (
	SFUNC = privpred.threshold_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.threshold(anyelement, "any", jsonb) IS
	'one predictor over (label, x, options): thresholds and intervals of one number, date or timestamp; not private by itself';

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

CREATE FUNCTION privpred.unit_hash(unit anyelement, salt bytea) RETURNS bigint
	AS 'MODULE_PATHNAME', 'privpred_unit_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_hash(anyelement, bytea) IS
	'the keyed hash of a unit itself, for mechanisms that split units by other rules than teacher_of';

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
-- Training on several nodes: states that can travel
----------------------------------------------------------------------
CREATE TYPE privpred.training_state;

CREATE FUNCTION privpred.training_state_in(cstring) RETURNS privpred.training_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.training_state_in(cstring) IS 'I/O';

CREATE FUNCTION privpred.training_state_out(privpred.training_state) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.training_state_out(privpred.training_state) IS 'I/O';

CREATE FUNCTION privpred.training_state_recv(internal) RETURNS privpred.training_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.training_state_recv(internal) IS 'I/O';

CREATE FUNCTION privpred.training_state_send(privpred.training_state) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.training_state_send(privpred.training_state) IS 'I/O';

CREATE TYPE privpred.training_state (
	INPUT = privpred.training_state_in,
	OUTPUT = privpred.training_state_out,
	RECEIVE = privpred.training_state_recv,
	SEND = privpred.training_state_send,
	ALIGNMENT = int4,
	STORAGE = extended
);
COMMENT ON TYPE privpred.training_state IS
	'what a learner knows of some rows, to be merged elsewhere; as sensitive as the rows';

CREATE FUNCTION privpred.state_transition(privpred.training_state, anyelement, double precision[], jsonb)
	RETURNS privpred.training_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.state_transition(privpred.training_state, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE FUNCTION privpred.state_merge(privpred.training_state, privpred.training_state) RETURNS privpred.training_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.state_merge(privpred.training_state, privpred.training_state) IS 'merges two states';

CREATE AGGREGATE privpred.partial_state(anyelement, double precision[], jsonb) (
	SFUNC = privpred.state_transition,
	STYPE = privpred.training_state,
	SSPACE = 1024,
	COMBINEFUNC = privpred.state_merge,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.partial_state(anyelement, double precision[], jsonb) IS
	'what the learner named in the options knows of rows (label, features, options); as sensitive as the rows';

-- Citus calls transition functions without saying the types of their arguments.
CREATE FUNCTION privpred.state_transition(privpred.training_state, text, double precision[], jsonb)
	RETURNS privpred.training_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.state_transition(privpred.training_state, text, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.partial_state(text, double precision[], jsonb) (
	SFUNC = privpred.state_transition,
	STYPE = privpred.training_state,
	SSPACE = 1024,
	COMBINEFUNC = privpred.state_merge,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.partial_state(text, double precision[], jsonb) IS
	'the same for labels that are text';

CREATE AGGREGATE privpred.merge_states(privpred.training_state) (
	SFUNC = privpred.state_merge,
	STYPE = privpred.training_state,
	SSPACE = 1024,
	COMBINEFUNC = privpred.state_merge,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.merge_states(privpred.training_state) IS
	'one state of several, of the same learner and options; as sensitive as the rows';

CREATE FUNCTION privpred.finish_state(state privpred.training_state) RETURNS privpred.predictor
	AS 'MODULE_PATHNAME', 'privpred_finish_state' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.finish_state(privpred.training_state) IS
	'fits a teacher to a state: what the learner''s own aggregate makes of the same rows; not private by itself';

CREATE FUNCTION privpred.unit_share(salt bytea, shares integer, VARIADIC unit "any") RETURNS integer
	AS 'MODULE_PATHNAME', 'privpred_unit_share' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_share(bytea, integer, "any") IS
	'teacher_of for a unit of one or more columns, NULL if one of them is';

CREATE FUNCTION privpred.node_agrees(expected jsonb, VARIADIC columns "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'privpred_node_agrees' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.node_agrees(jsonb, "any") IS
	'true if this node has the expected version, encoding and types of columns, else an error';

----------------------------------------------------------------------
-- Trees: three more learners, and their rules in words
----------------------------------------------------------------------

CREATE FUNCTION privpred.boost_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.boost_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.boost(anyelement, double precision[]) (
	SFUNC = privpred.boost_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.boost(anyelement, double precision[]) IS
	'one teacher over (label, features): gradient-boosted trees (XGBoost, if installed); not private by itself';

CREATE FUNCTION privpred.boost_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.boost_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.boost(anyelement, double precision[], jsonb) (
	SFUNC = privpred.boost_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.boost(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): gradient-boosted trees (XGBoost, if installed); not private by itself';

CREATE FUNCTION privpred.forest_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.forest_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.forest(anyelement, double precision[]) (
	SFUNC = privpred.forest_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.forest(anyelement, double precision[]) IS
	'one teacher over (label, features): a random forest (XGBoost, if installed); not private by itself';

CREATE FUNCTION privpred.forest_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.forest_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.forest(anyelement, double precision[], jsonb) (
	SFUNC = privpred.forest_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.forest(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): a random forest (XGBoost, if installed); not private by itself';

CREATE FUNCTION privpred.tree_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.tree_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.tree(anyelement, double precision[]) (
	SFUNC = privpred.tree_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.tree(anyelement, double precision[]) IS
	'one teacher over (label, features): one small classification tree; not private by itself';

CREATE FUNCTION privpred.tree_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.tree_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.tree(anyelement, double precision[], jsonb) (
	SFUNC = privpred.tree_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.tree(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): one small classification tree; not private by itself';

CREATE FUNCTION privpred.explain(predictor privpred.predictor, features text[] DEFAULT NULL) RETURNS text
	AS 'MODULE_PATHNAME', 'predictor_explain_rules' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.explain(privpred.predictor, text[]) IS
	'the rules of a predictor''s trees in words, with names for the features; NOT private';

----------------------------------------------------------------------
-- Catalog: protected relations and models
----------------------------------------------------------------------

-- No foreign keys between our tables: pg_restore -j loads them in any order.

CREATE TABLE privpred.protected_relation (
	relation_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation		regclass UNIQUE,	-- NULL once the table was dropped
	relation_name	text NOT NULL,		-- as it was last seen
	unit_columns	name[] NOT NULL,
	protects		text NOT NULL CHECK (protects OPERATOR(pg_catalog.=) ANY (ARRAY['rows', 'labels'])),
	declared_units	bigint CHECK (declared_units OPERATOR(pg_catalog.>) 0),
	max_rows_per_unit int CHECK (max_rows_per_unit OPERATOR(pg_catalog.>) 0),
	active			boolean NOT NULL DEFAULT true,	-- false: unprotected or dropped
	protected_at	timestamptz NOT NULL DEFAULT pg_catalog.now(),
	dropped_at		timestamptz
);
COMMENT ON TABLE privpred.protected_relation IS 'tables whose rows are protected, and what a unit is in them';

CREATE TABLE privpred.model (
	model_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	name			text NOT NULL UNIQUE,
	relation_id		bigint NOT NULL,	-- of protected_relation
	label			name NOT NULL,
	classes			text[] NOT NULL,	-- empty: the label is a number
	label_min		float8,				-- of a number
	label_max		float8,
	bin_edges		float8[],			-- of a number whose bins are the classes
	features		jsonb NOT NULL,		-- an array in declared order, kinds and levels spelled out
	mechanism		text NOT NULL,
	learner			text,				-- NULL: the mechanism learns by itself
	teachers		int NOT NULL,		-- 0: none
	epsilon_units	bigint NOT NULL CHECK (epsilon_units OPERATOR(pg_catalog.>) 0),	-- 10^-12 each
	charge_kind		text NOT NULL CHECK (charge_kind OPERATOR(pg_catalog.=) ANY (ARRAY['per_answer', 'per_stream', 'once'])),
	charge			text,				-- of a purchase, to an account of finite order; NULL: none can pay
	pure_charge		text,				-- to an account of infinite order; NULL: it cannot pay
	options			jsonb NOT NULL,
	salt			bytea NOT NULL CHECK (pg_catalog.length(salt) OPERATOR(pg_catalog.=) 16),
	version			int NOT NULL,
	training_id		bigint GENERATED BY DEFAULT AS IDENTITY,	-- of this version: never used again, even if it is rolled back
	status			text NOT NULL CHECK (status OPERATOR(pg_catalog.=) 'ready'),
	created_at		timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by		name NOT NULL,
	trained_at		timestamptz NOT NULL DEFAULT pg_catalog.now(),
	declared_units	bigint,				-- as declared when it was trained
	max_rows_per_unit int,
	predictor		privpred.predictor,	-- teachers
	state			bytea,				-- what other mechanisms have learnt
	train_function	text,				-- signatures of what learner sql runs: in words, because
	predict_function text,				-- pg_upgrade refuses tables with regprocedure
	functions_digest bytea,				-- of their definitions and owners
	CHECK (predictor IS NULL OR state IS NULL),
	CHECK ((train_function IS NULL) OPERATOR(pg_catalog.=) (functions_digest IS NULL)
		AND (predict_function IS NULL) OPERATOR(pg_catalog.=) (functions_digest IS NULL))
);
-- Anybody may see how large a table is, so what is stored must not shrink with what was learnt.
ALTER TABLE privpred.model ALTER predictor SET STORAGE EXTERNAL, ALTER state SET STORAGE EXTERNAL;
COMMENT ON TABLE privpred.model IS 'models and their trained predictors; readable by the extension''s owner alone';

SELECT pg_catalog.pg_extension_config_dump('privpred.protected_relation', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.protected_relation_relation_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model_model_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model_training_id_seq', '');

----------------------------------------------------------------------
-- Ledger: accounts, entries, budgets
----------------------------------------------------------------------

-- One row per role and relation, and one per relation for the cap over all
-- roles ('-').  Units are 10^-12 epsilon at the account's order, but for those
-- that are as granted.  With a window, limit_units is the limit for ever and
-- window_limit_units that of each window.  The ledger's process alone changes
-- what is spent; a row is updated in place of its predecessor (HOT), hence
-- the room.
CREATE TABLE privpred.account (
	account_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_id		bigint NOT NULL,	-- of protected_relation
	role			regrole NOT NULL,
	role_name		text NOT NULL,		-- as it was last seen
	limit_units		bigint,				-- NULL: windows alone, or a cap that only counts
	spent_units		bigint NOT NULL DEFAULT 0 CHECK (spent_units OPERATOR(pg_catalog.>=) 0),
	renyi_order		bigint CHECK (renyi_order OPERATOR(pg_catalog.>) 1048576
		AND renyi_order OPERATOR(pg_catalog.<=) 1099511627776),
										-- in units of 2^-20; NULL: infinite
	epsilon_units	bigint,				-- as granted, of each window if there are windows
	delta_limit		float8 NOT NULL DEFAULT 0,	-- as granted; half of it pays for conversion
	delta_spent		float8 NOT NULL DEFAULT 0,	-- of the other half
	per_answer_units bigint,			-- as granted; NULL: the dearest model
	refresh			interval,			-- length of a window; NULL: no windows
	lifetime_epsilon_units bigint,		-- as granted, beside windows; NULL: no limit
	window_anchor	timestamptz,		-- windows begin at anchor + n * refresh
	window_start	timestamptz,
	window_limit_units bigint,
	window_spent_units bigint NOT NULL DEFAULT 0 CHECK (window_spent_units OPERATOR(pg_catalog.>=) 0),
	valid_until		timestamptz,
	revoked_at		timestamptz,
	granted_at		timestamptz NOT NULL DEFAULT pg_catalog.now(),
	granted_by		text NOT NULL,
	UNIQUE (relation_id, role)
) WITH (fillfactor = 20);
COMMENT ON TABLE privpred.account IS 'privacy budgets: limits and what is spent';

CREATE TABLE privpred.ledger_entry (
	id				bigint PRIMARY KEY,
	at				timestamptz NOT NULL,
	kind			text NOT NULL,
	account_id		bigint,				-- that paid
	cap_id			bigint,				-- the relation-wide account charged beside it
	role_name		text,				-- who asked, or was granted
	relation_id		bigint,
	relation_name	text,
	model_id		bigint,
	model			text,
	version			int,
	lease			bigint,
	answers			bigint NOT NULL,	-- negative: returned
	units			bigint NOT NULL,
	cap_units		bigint NOT NULL,
	limit_units		bigint,
	actor			text,
	pid				int NOT NULL,
	renyi_order		bigint,				-- of the account, as there
	window_units	bigint NOT NULL,	-- change of what its window has spent
	window_limit_units bigint,
	delta			float8 NOT NULL,	-- added to delta_spent, of the cap as well
	detail			text,				-- terms of a grant
	head			bytea NOT NULL
);
COMMENT ON TABLE privpred.ledger_entry IS 'what happened to budgets, append-only and hash-chained';

CREATE FUNCTION privpred.append_only() RETURNS trigger
	AS 'MODULE_PATHNAME', 'privpred_append_only' LANGUAGE C;
COMMENT ON FUNCTION privpred.append_only() IS 'refuses changes to the ledger';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON privpred.ledger_entry
	FOR EACH STATEMENT EXECUTE FUNCTION privpred.append_only();

-- Grants and the like, until the ledger's process chains them.
CREATE TABLE privpred.ledger_outbox (
	seq				bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	at				timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	kind			text NOT NULL,
	account_id		bigint,
	cap_id			bigint,
	role_name		text,
	relation_id		bigint,
	relation_name	text,
	model_id		bigint,
	model			text,
	version			int,
	lease			bigint,
	answers			bigint NOT NULL DEFAULT 0,
	units			bigint NOT NULL DEFAULT 0,
	cap_units		bigint NOT NULL DEFAULT 0,
	limit_units		bigint,
	actor			text,
	pid				int NOT NULL,
	renyi_order		bigint,
	window_units	bigint NOT NULL DEFAULT 0,
	window_limit_units bigint,
	delta			float8 NOT NULL DEFAULT 0,
	detail			text
);
COMMENT ON TABLE privpred.ledger_outbox IS 'committed changes to budgets that are not chained yet';

-- Blocks of answers that are debited and perhaps not used.
CREATE TABLE privpred.open_lease (
	lease			bigint PRIMARY KEY,	-- id of its first entry
	relation_id		bigint NOT NULL,
	account_id		bigint NOT NULL,
	cap_id			bigint,
	answers			int NOT NULL,
	charge			bigint NOT NULL,
	cap_charge		bigint NOT NULL,
	at				timestamptz NOT NULL,
	pid				int NOT NULL,
	incarnation		bigint NOT NULL,	-- start of the server
	window_start	timestamptz,		-- that it was charged to
	orphaned_at		timestamptz
) WITH (fillfactor = 50);
COMMENT ON TABLE privpred.open_lease IS 'answers that running statements have reserved, or that a crash has lost';

-- Not a setting: those can be put aside before the library is loaded.
CREATE TABLE privpred.ceiling (
	role			regrole PRIMARY KEY,	-- 0: every role
	answers			bigint NOT NULL CHECK (answers >= 0),
	set_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	set_by			text NOT NULL
);
COMMENT ON TABLE privpred.ceiling IS 'most answers that one statement of a role may take, set by superusers';

-- Answers of models with the option memoize, by the digest of the question.
-- They are not dumped: what is lost is asked and paid again.
CREATE TABLE privpred.memo (
	model_id		bigint NOT NULL,
	training_id		bigint NOT NULL,	-- of the version
	role			regrole NOT NULL,
	question		bytea NOT NULL,
	class_index		int,				-- both NULL: an unstable answer
	score			float8,
	account_id		bigint NOT NULL,	-- that paid
	PRIMARY KEY (model_id, training_id, role, question)
);
COMMENT ON TABLE privpred.memo IS 'answers that are kept, so that their repeats are free';

CREATE TABLE privpred.memo_size (
	model_id		bigint NOT NULL,
	training_id		bigint NOT NULL,	-- of the version
	role			regrole NOT NULL,
	entries			int NOT NULL,
	PRIMARY KEY (model_id, training_id, role)
) WITH (fillfactor = 50);
COMMENT ON TABLE privpred.memo_size IS 'how many answers are kept for a role';

-- Who has paid for what was drawn in training and is charged once.  The cap of
-- a relation pays once for all roles: what it has seen is one draw.  Account 0
-- stands for everybody: the version was exported in the clear, and budgets that
-- are granted later start with its charge.
CREATE TABLE privpred.release (
	account_id		bigint NOT NULL,
	training_id		bigint NOT NULL,	-- of privpred.model
	relation_id		bigint NOT NULL,
	model_id		bigint NOT NULL,
	model			text,				-- as it was called
	version			int NOT NULL,
	at				timestamptz NOT NULL,
	charge			text,				-- as in privpred.model, then
	pure_charge		text,
	PRIMARY KEY (account_id, training_id)
);
COMMENT ON TABLE privpred.release IS 'accounts that have paid for a version of a model that is charged once';

-- Left out of dumps on purpose: a restored ledger is recognised by its absence.
-- No key, because those who claim the ledger first must not wait for each other.
CREATE TABLE privpred.ledger_identity (
	database		oid NOT NULL,
	system			bigint NOT NULL		-- identifies the cluster
);
ALTER TABLE privpred.ledger_identity REPLICA IDENTITY FULL;
COMMENT ON TABLE privpred.ledger_identity IS 'the database that this ledger belongs to';

SELECT pg_catalog.pg_extension_config_dump('privpred.account', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.account_account_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.ledger_entry', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.ledger_outbox', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.ledger_outbox_seq_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.open_lease', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.release', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.ceiling', '');

CREATE FUNCTION privpred.ledger_incarnation() RETURNS bigint
	AS 'MODULE_PATHNAME', 'privpred_ledger_incarnation'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.ledger_incarnation() IS 'identifies this start of the server';

CREATE FUNCTION privpred.grant_budget(role regrole, relation regclass, epsilon float8,
		delta float8 DEFAULT NULL, valid_until timestamptz DEFAULT NULL,
		refresh interval DEFAULT NULL, lifetime_epsilon float8 DEFAULT NULL,
		per_answer float8 DEFAULT NULL) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_grant_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.grant_budget(regrole, regclass, float8, float8, timestamptz, interval, float8, float8)
	IS 'owner: sets a role''s privacy budget on a protected relation, per window if refresh is given; what is left out stays as it was (0 or none for a new budget), and what was spent is never forgotten';

CREATE FUNCTION privpred.revoke_budget(role regrole, relation regclass) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_revoke_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.revoke_budget(regrole, regclass)
	IS 'ends a role''s privacy budget, at once and in all sessions';

CREATE FUNCTION privpred.cost(model text, answers bigint DEFAULT 1,
		OUT epsilon numeric, OUT delta numeric, OUT epsilon_left_after numeric,
		OUT fits boolean, OUT answers_left bigint)
	AS 'MODULE_PATHNAME', 'privpred_cost' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.cost(text, bigint)
	IS 'what answers of a model would cost you and whether they fit, without spending; of a model that is charged once, its price or, once it is paid, 0, and answers_left 9223372036854775807; Infinity if your budget cannot pay for such answers at all';

CREATE FUNCTION privpred.verify_ledger(expected_head bytea DEFAULT NULL,
		OUT ok boolean, OUT problem text, OUT entry bigint, OUT head bytea,
		OUT entries bigint, OUT frozen_accounts int, OUT orphaned_leases int)
	AS 'MODULE_PATHNAME', 'privpred_verify_ledger' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.verify_ledger(bytea)
	IS 'recomputes the hash chain and all sums, and reports the first discrepancy';

CREATE FUNCTION privpred.adopt_ledger() RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_adopt_ledger' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.adopt_ledger()
	IS 'accepts a restored or cloned ledger as this database''s own (superusers)';

CREATE FUNCTION privpred.set_ceiling(role regrole, answers bigint) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_set_ceiling' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.set_ceiling(regrole, bigint)
	IS 'superuser: bounds the private answers that one statement of a role may take, and one that its budget pays for; role NULL: everybody; answers NULL: no ceiling';

CREATE VIEW privpred.ceilings WITH (security_barrier) AS
SELECT CASE WHEN c.role OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN c.role END AS role,
	c.answers, c.set_at, c.set_by
FROM privpred.ceiling c
WHERE c.role OPERATOR(pg_catalog.=) 0::pg_catalog.oid OR pg_catalog.pg_has_role(c.role, 'USAGE');
COMMENT ON VIEW privpred.ceilings IS 'most private answers that one statement may take: yours, your groups'' and everybody''s; NULL role: everybody';

CREATE FUNCTION privpred.forgive_lease(lease bigint) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_forgive_lease' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.forgive_lease(bigint)
	IS 'returns a lease that a crash has orphaned, although some of its answers may have been given';

-- Leases that are out, for those who see the account.
CREATE VIEW privpred.leases WITH (security_barrier) AS
SELECT o.lease, o.at,
	CASE WHEN a.role OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN a.role END AS role,
	r.relation, o.answers,
	pg_catalog.trim_scale(o.answers::pg_catalog.numeric OPERATOR(pg_catalog.*)
		o.charge::pg_catalog.numeric OPERATOR(pg_catalog.*) 0.000000000001) AS epsilon,
	o.pid,
	o.incarnation OPERATOR(pg_catalog.<>) privpred.ledger_incarnation() AS orphaned
FROM privpred.open_lease o
JOIN privpred.account a ON a.account_id OPERATOR(pg_catalog.=) o.account_id
JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) o.relation_id
LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(a.role, 'USAGE') OR pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW privpred.leases IS 'answers reserved by running statements, or lost in a crash';

-- For views: arithmetic on accounts as they are stored.
CREATE FUNCTION privpred.account_epsilon(spent_units bigint, delta float8, renyi_order bigint)
	RETURNS numeric AS 'MODULE_PATHNAME', 'privpred_account_epsilon'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.account_epsilon(bigint, float8, bigint)
	IS 'the epsilon that units of 1e-12 spent at a Rényi order (in 2^-20; NULL is infinite) amount to beside delta, rounded up';

CREATE FUNCTION privpred.account_charge(charge text, pure_charge text,
		payer_order bigint, renyi_order bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'privpred_account_charge' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.account_charge(text, text, bigint, bigint)
	IS 'what a purchase costs an account of a Rényi order if an account of the payer''s order pays, which decides the draw; rounded up; 9223372036854775807: it cannot be paid';

CREATE FUNCTION privpred.account_purchases(charge text, pure_charge text, payer_order bigint,
		renyi_order bigint, left_units bigint, delta_left float8) RETURNS bigint
	AS 'MODULE_PATHNAME', 'privpred_account_purchases' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.account_purchases(text, text, bigint, bigint, bigint, float8)
	IS 'how many purchases fit into what is left of an account of a Rényi order if an account of the payer''s order pays; left_units NULL: no limit';

CREATE FUNCTION privpred.account_window(anchor timestamptz, refresh interval, at timestamptz,
		OUT starts timestamptz, OUT ends timestamptz)
	AS 'MODULE_PATHNAME', 'privpred_account_window' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.account_window(timestamptz, interval, timestamptz)
	IS 'the window of a refreshing budget that a time is in';

CREATE VIEW privpred.budgets WITH (security_barrier) AS
WITH now AS (
	SELECT pg_catalog.clock_timestamp() AS now
), this AS (
	SELECT b.oid FROM pg_catalog.pg_database b
	WHERE b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
), holder AS (
	-- as src/ledger/holders.c records them
	SELECT d.objid AS type, d.refobjid AS role
	FROM pg_catalog.pg_shdepend d JOIN this t ON t.oid OPERATOR(pg_catalog.=) d.dbid
	WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
		AND d.deptype OPERATOR(pg_catalog.=) 'a'
), out AS (
	SELECT o.account_id,
		pg_catalog.sum(o.answers::pg_catalog.numeric OPERATOR(pg_catalog.*) o.charge)
			FILTER (WHERE o.incarnation OPERATOR(pg_catalog.=) privpred.ledger_incarnation()) AS reserved,
		pg_catalog.sum(o.answers::pg_catalog.numeric OPERATOR(pg_catalog.*) o.charge)
			FILTER (WHERE o.incarnation OPERATOR(pg_catalog.<>) privpred.ledger_incarnation()) AS orphaned
	FROM privpred.open_lease o GROUP BY o.account_id
), visible AS (
	SELECT a.*, r.relation, r.relation_name, c.relowner, c.reltype, n.now, w.ends AS window_ends,
		a.role OPERATOR(pg_catalog.=) 0::pg_catalog.oid AS is_cap,
		CASE WHEN w.starts OPERATOR(pg_catalog.>) a.window_start THEN 0
			ELSE a.window_spent_units END AS in_window,
		p.oid IS NULL AS role_dropped,
		cap.renyi_order AS cap_order,
		cap.account_id AS cap_id,
		cap.limit_units OPERATOR(pg_catalog.-) cap.spent_units AS cap_left,
		cap.delta_limit OPERATOR(pg_catalog./) 2 OPERATOR(pg_catalog.-) cap.delta_spent AS cap_delta_left,
		cap.epsilon_units OPERATOR(pg_catalog.*) 0.000000000001 OPERATOR(pg_catalog.-)
			privpred.account_epsilon(cap.spent_units, cap.delta_limit, cap.renyi_order) AS cap_epsilon_left
	FROM now n
	CROSS JOIN privpred.account a
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) a.relation_id
	LEFT JOIN LATERAL privpred.account_window(a.window_anchor, a.refresh, n.now) w ON true
	LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
	LEFT JOIN pg_catalog.pg_roles p ON p.oid OPERATOR(pg_catalog.=) a.role::pg_catalog.oid
	LEFT JOIN privpred.account cap ON cap.relation_id OPERATOR(pg_catalog.=) a.relation_id
		AND cap.role OPERATOR(pg_catalog.=) 0::pg_catalog.oid
	WHERE pg_catalog.pg_has_role(a.role, 'USAGE') OR pg_catalog.pg_has_role(c.relowner, 'USAGE')
), account AS (
	SELECT v.*,
		v.limit_units OPERATOR(pg_catalog.-) v.spent_units AS lifetime_left,
		v.window_limit_units OPERATOR(pg_catalog.-) v.in_window AS window_left,
		v.epsilon_units OPERATOR(pg_catalog.*) 0.000000000001 AS epsilon,
		CASE WHEN v.refresh IS NULL THEN v.epsilon_units ELSE v.lifetime_epsilon_units END
			OPERATOR(pg_catalog.*) 0.000000000001 AS lifetime_epsilon,
		CASE WHEN v.refresh IS NULL THEN v.spent_units ELSE v.in_window END AS counted,
		CASE WHEN v.refresh IS NULL THEN v.limit_units ELSE v.window_limit_units END AS counted_limit,
		privpred.account_epsilon(CASE WHEN v.refresh IS NULL THEN v.spent_units ELSE v.in_window END,
			v.delta_limit, v.renyi_order) AS epsilon_spent,
		privpred.account_epsilon(v.spent_units, v.delta_limit, v.renyi_order) AS lifetime_spent,
		CASE WHEN v.relation IS NULL THEN 'relation dropped'
			WHEN v.is_cap THEN 'active'
			WHEN v.revoked_at IS NOT NULL THEN 'revoked'
			WHEN v.role_dropped THEN 'role dropped'
			-- the server's own roles cannot be dropped; a copy is not adopted yet
			WHEN v.role::pg_catalog.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
				AND EXISTS (SELECT FROM privpred.ledger_identity i
					JOIN this t ON t.oid OPERATOR(pg_catalog.=) i.database)
				AND NOT EXISTS (SELECT FROM holder h
					WHERE h.type OPERATOR(pg_catalog.=) v.reltype
						AND h.role OPERATOR(pg_catalog.=) v.role::pg_catalog.oid) THEN 'revoked'
			WHEN v.valid_until OPERATOR(pg_catalog.<=) v.now THEN 'expired'
			WHEN v.spent_units OPERATOR(pg_catalog.>) v.limit_units
				OR v.in_window OPERATOR(pg_catalog.>) v.window_limit_units THEN 'frozen'
			ELSE 'active' END AS status,
		v.delta_limit OPERATOR(pg_catalog./) 2 OPERATOR(pg_catalog.-) v.delta_spent AS delta_left
	FROM visible v
), bound AS (
	-- how many typical purchases each cap has room for, fractions included
	SELECT a.*,
		a.lifetime_left::pg_catalog.numeric OPERATOR(pg_catalog./)
			privpred.account_charge(t.charge, t.pure_charge, a.renyi_order, a.renyi_order) AS lifetime_room,
		a.window_left::pg_catalog.numeric OPERATOR(pg_catalog./)
			privpred.account_charge(t.charge, t.pure_charge, a.renyi_order, a.renyi_order) AS window_room,
		a.cap_left::pg_catalog.numeric OPERATOR(pg_catalog./)
			privpred.account_charge(t.charge, t.pure_charge, a.renyi_order, a.cap_order) AS cap_room
	FROM account a CROSS JOIN LATERAL (
		SELECT 'bounded range ' OPERATOR(pg_catalog.||) e.epsilon AS charge,
			'pure ' OPERATOR(pg_catalog.||) e.epsilon AS pure_charge
		FROM (SELECT pg_catalog.trim_scale(a.per_answer_units OPERATOR(pg_catalog.*) 0.000000000001)::pg_catalog.text
			AS epsilon) e
		WHERE a.per_answer_units IS NOT NULL
		UNION ALL
		(SELECT m.charge, m.pure_charge FROM privpred.model m
		WHERE a.per_answer_units IS NULL AND m.relation_id OPERATOR(pg_catalog.=) a.relation_id
			AND privpred.account_charge(m.charge, m.pure_charge, a.renyi_order, a.renyi_order)
				OPERATOR(pg_catalog.<) 9223372036854775807
		ORDER BY privpred.account_charge(m.charge, m.pure_charge, a.renyi_order, a.renyi_order) DESC
		LIMIT 1)
		UNION ALL
		SELECT 'bounded range 0.1', 'pure 0.1'
		LIMIT 1) t
)
SELECT CASE WHEN NOT a.is_cap THEN a.role END AS role,
	a.relation,
	pg_catalog.trim_scale(a.epsilon) AS epsilon_limit,
	a.delta_limit::pg_catalog.numeric AS delta_limit,
	pg_catalog.trim_scale(a.epsilon_spent) AS epsilon_spent,
	(a.delta_spent OPERATOR(pg_catalog.+) CASE
		WHEN a.renyi_order IS NOT NULL AND a.spent_units OPERATOR(pg_catalog.>) 0
		THEN a.delta_limit OPERATOR(pg_catalog./) 2 ELSE 0 END)::pg_catalog.numeric AS delta_spent,
	pg_catalog.trim_scale(CASE WHEN a.status OPERATOR(pg_catalog.=) 'active'
		THEN GREATEST(0, LEAST(a.epsilon OPERATOR(pg_catalog.-) a.epsilon_spent,
			a.lifetime_epsilon OPERATOR(pg_catalog.-) a.lifetime_spent, a.cap_epsilon_left))
		ELSE 0 END) AS epsilon_left,
	COALESCE(a.renyi_order OPERATOR(pg_catalog./) 1048576::pg_catalog.float8,
		'Infinity'::pg_catalog.float8) AS renyi_order,
	COALESCE((SELECT pg_catalog.jsonb_object_agg(m.name,
			CASE WHEN a.status OPERATOR(pg_catalog.<>) 'active' THEN 0
				WHEN m.charge_kind OPERATOR(pg_catalog.<>) 'once' THEN LEAST(f.own, f.cap)
				WHEN f.own_paid OR f.own OPERATOR(pg_catalog.>) 0
					AND (a.is_cap OR f.cap_paid OR COALESCE(f.cap, 1) OPERATOR(pg_catalog.>) 0)
				THEN 9223372036854775807
				ELSE 0 END)
		FROM privpred.model m CROSS JOIN LATERAL (
			-- of a cap: whatever account pays
			SELECT privpred.account_purchases(m.charge, c.pure_charge, c.payer_order, a.renyi_order,
					LEAST(a.lifetime_left, a.window_left), a.delta_left) AS own,
				CASE WHEN a.cap_id IS NOT NULL THEN privpred.account_purchases(m.charge, c.pure_charge,
					c.payer_order, a.cap_order, a.cap_left, a.cap_delta_left) END AS cap,
				EXISTS (SELECT FROM privpred.release p
					WHERE p.account_id OPERATOR(pg_catalog.=) a.account_id
						AND p.training_id OPERATOR(pg_catalog.=) m.training_id) AS own_paid,
				EXISTS (SELECT FROM privpred.release p
					WHERE p.account_id OPERATOR(pg_catalog.=) a.cap_id
						AND p.training_id OPERATOR(pg_catalog.=) m.training_id) AS cap_paid
			FROM (SELECT
				CASE WHEN a.is_cap THEN COALESCE(m.pure_charge, m.charge) ELSE m.pure_charge END AS pure_charge,
				CASE WHEN NOT a.is_cap THEN a.renyi_order END AS payer_order) c) f
		WHERE m.relation_id OPERATOR(pg_catalog.=) a.relation_id), '{}'::pg_catalog.jsonb) AS answers_left,
	CASE WHEN a.epsilon_units IS NULL THEN NULL
		WHEN a.is_cap OR a.cap_room OPERATOR(pg_catalog.<) LEAST(a.lifetime_room, a.window_room) THEN 'relation'
		WHEN a.refresh IS NULL THEN 'role'
		WHEN a.lifetime_room OPERATOR(pg_catalog.<=) a.window_room THEN 'lifetime'
		ELSE 'window' END AS binding_cap,
	a.valid_until,
	a.window_ends AS window_resets_at,
	a.status,
	pg_catalog.trim_scale(COALESCE(o.reserved, 0) OPERATOR(pg_catalog.*) 0.000000000001) AS epsilon_reserved,
	pg_catalog.trim_scale(COALESCE(o.orphaned, 0) OPERATOR(pg_catalog.*) 0.000000000001) AS epsilon_orphaned,
	a.account_id, a.role_name, a.relation_name, a.granted_at, a.granted_by,
	CASE WHEN a.counted_limit IS NULL THEN NULL
		WHEN a.counted_limit OPERATOR(pg_catalog.=) 0 THEN 1
		ELSE LEAST(1, a.counted::pg_catalog.float8 OPERATOR(pg_catalog./) a.counted_limit) END AS spent_share,
	CASE WHEN a.refresh IS NOT NULL AND a.lifetime_epsilon IS NULL THEN 'Infinity'::pg_catalog.numeric
		ELSE pg_catalog.trim_scale(a.lifetime_epsilon) END AS lifetime_epsilon_limit,
	pg_catalog.trim_scale(a.lifetime_spent) AS lifetime_epsilon_spent,
	a.refresh
FROM bound a LEFT JOIN out o ON o.account_id OPERATOR(pg_catalog.=) a.account_id;
COMMENT ON VIEW privpred.budgets IS 'privacy budgets: yours and your groups'', and all of the relations that you own';
COMMENT ON COLUMN privpred.budgets.epsilon_limit IS 'as granted; of each window if the budget refreshes';
COMMENT ON COLUMN privpred.budgets.epsilon_spent IS
	'what is spent, at a finite order converted beside half of delta: the first answer makes it jump by what conversion costs; of the present window if the budget refreshes';
COMMENT ON COLUMN privpred.budgets.epsilon_left IS
	'the least, over all caps, of the grant minus what is spent, converted; answers_left says what it buys';
COMMENT ON COLUMN privpred.budgets.renyi_order IS 'the order at which charges add up; Infinity: epsilons add up';
COMMENT ON COLUMN privpred.budgets.answers_left IS
	'answers of each model (streams, of one that sells them) that fit under all caps, if nobody else asks; 9223372036854775807 of a model that is charged once, if it is paid for or can be, else 0';
COMMENT ON COLUMN privpred.budgets.binding_cap IS
	'the cap with least room for a typical answer: role, window, lifetime, or relation for the cap over all roles';
COMMENT ON COLUMN privpred.budgets.epsilon_reserved IS 'by running statements, in the account''s own units, and counted as spent';
COMMENT ON COLUMN privpred.budgets.epsilon_orphaned IS 'lost in a crash, in the account''s own units, and counted as spent';
COMMENT ON COLUMN privpred.budgets.spent_share IS 'share of the limit at the account''s order that is spent, from 0 to 1; of the present window if the budget refreshes';
COMMENT ON COLUMN privpred.budgets.lifetime_epsilon_limit IS 'Infinity: the budget refreshes for ever, and over time the privacy loss has no bound';
COMMENT ON COLUMN privpred.budgets.lifetime_epsilon_spent IS 'what all windows together amount to, converted';

CREATE VIEW privpred.ledger WITH (security_barrier) AS
SELECT e.id, e.at,
	CASE WHEN a.role OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN a.role END AS role,
	r.relation, e.model, e.version, e.kind, e.answers,
	pg_catalog.trim_scale(e.units::pg_catalog.numeric OPERATOR(pg_catalog.*) 0.000000000001) AS epsilon,
	e.delta::pg_catalog.numeric AS delta, e.head,
	e.role_name AS asked_by, e.relation_name, e.lease,
	pg_catalog.trim_scale(e.limit_units::pg_catalog.numeric OPERATOR(pg_catalog.*) 0.000000000001) AS epsilon_limit,
	e.actor, e.pid, e.account_id, e.detail,
	CASE WHEN e.account_id IS NOT NULL THEN
		COALESCE(e.renyi_order OPERATOR(pg_catalog./) 1048576::pg_catalog.float8,
			'Infinity'::pg_catalog.float8) END AS renyi_order
FROM (
	SELECT id, at, kind, account_id, role_name, relation_id, relation_name, model, version,
		lease, answers, units, limit_units, actor, pid, delta, detail, renyi_order, head
	FROM privpred.ledger_entry
	UNION ALL
	SELECT NULL, at, kind, account_id, role_name, relation_id, relation_name, model, version,
		lease, answers, units, limit_units, actor, pid, delta, detail, renyi_order, NULL
	FROM privpred.ledger_outbox
) e
LEFT JOIN privpred.account a ON a.account_id OPERATOR(pg_catalog.=) e.account_id
LEFT JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) e.relation_id
LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(COALESCE(a.role, 0::pg_catalog.oid::pg_catalog.regrole), 'USAGE')
	OR pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW privpred.ledger IS 'what happened to budgets; head is null until an entry is chained';
COMMENT ON COLUMN privpred.ledger.epsilon IS 'the charge in the account''s own units: plain epsilon, or divergence at its renyi_order';

----------------------------------------------------------------------
-- Streams
----------------------------------------------------------------------

-- Written by the ledger's process alone.  Left out of dumps on purpose: a
-- threshold that comes back after it has seen a failure would be a rewind.
CREATE TABLE privpred.stream (
	stream_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	account_id		bigint NOT NULL,	-- that paid
	relation_id		bigint NOT NULL,
	model_id		bigint NOT NULL,
	model			text NOT NULL,		-- its name when the stream was opened
	version			int NOT NULL,		-- of the model
	opened_by		oid NOT NULL,		-- a role
	unstable_limit	int NOT NULL CHECK (unstable_limit OPERATOR(pg_catalog.>) 0),
	unstable_used	int NOT NULL DEFAULT 0 CHECK (unstable_used OPERATOR(pg_catalog.>=) 0
		AND unstable_used OPERATOR(pg_catalog.<=) unstable_limit),
	epsilon_units	bigint NOT NULL CHECK (epsilon_units OPERATOR(pg_catalog.>) 0),	-- of each run
	delta			float8 NOT NULL,	-- of each run
	width			bigint NOT NULL,	-- the threshold without its noise
	threshold		bigint,				-- with it; NULL once the stream is closed
	answers_limit	bigint CHECK (answers_limit OPERATOR(pg_catalog.>) 0),
	answers_used	bigint NOT NULL DEFAULT 0 CHECK (answers_used OPERATOR(pg_catalog.>=) 0),
	holders			int NOT NULL DEFAULT 0 CHECK (holders OPERATOR(pg_catalog.>=) 0),	-- call sites that use it
	incarnation		bigint,				-- start of the server in which they do
	status			text NOT NULL DEFAULT 'open',	-- or why it was closed
	opened_at		timestamptz NOT NULL,
	closed_at		timestamptz,
	uniform			boolean NOT NULL DEFAULT false,	-- the same is written for every answer
	CHECK ((threshold IS NULL) OPERATOR(pg_catalog.=) (status OPERATOR(pg_catalog.<>) 'open'))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX stream_open ON privpred.stream (account_id, model_id)
	WHERE status OPERATOR(pg_catalog.=) 'open';
CREATE INDEX stream_model ON privpred.stream (model_id);
-- Not even for members of pg_read_all_data.
ALTER TABLE privpred.stream ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE privpred.stream IS 'streams and their noisy thresholds; readable by the extension''s owner alone';

CREATE FUNCTION privpred.open_stream(model text, unstable int, epsilon float8, delta float8,
	answers bigint DEFAULT NULL, uniform boolean DEFAULT false)
RETURNS bigint AS 'MODULE_PATHNAME', 'privpred_open_stream' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.open_stream(text, int, float8, float8, bigint, boolean) IS
'analyst: buys a stream of a model''s answers, at once and for good: epsilon and delta are charged for each of that many unstable answers, stable ones are free; uniform: the ledger writes the same for every answer, at a round trip each; returns its number';

CREATE FUNCTION privpred.close_stream(model text)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_close_stream' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.close_stream(text) IS
'analyst: ends your open stream of a model''s answers; nothing is returned';

CREATE VIEW privpred.streams WITH (security_barrier) AS
SELECT s.stream_id AS stream, a.role, r.relation, COALESCE(m.name, s.model) AS model, s.version,
	s.unstable_limit, s.unstable_used, s.answers_limit,
	s.answers_limit OPERATOR(pg_catalog.-) s.answers_used AS answers_left,
	pg_catalog.trim_scale(s.epsilon_units OPERATOR(pg_catalog.*) 0.000000000001) AS epsilon,
	s.delta, s.opened_at, s.closed_at,
	CASE WHEN s.status OPERATOR(pg_catalog.=) 'open' AND (m.version IS NULL
			OR m.version OPERATOR(pg_catalog.<>) s.version) THEN 'model changed'
		ELSE s.status END AS status,
	p.rolname AS opened_by, s.uniform
FROM privpred.stream s
JOIN privpred.account a ON a.account_id OPERATOR(pg_catalog.=) s.account_id
JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) s.relation_id
LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
LEFT JOIN privpred.model m ON m.model_id OPERATOR(pg_catalog.=) s.model_id
LEFT JOIN pg_catalog.pg_roles p ON p.oid OPERATOR(pg_catalog.=) s.opened_by
WHERE pg_catalog.pg_has_role(a.role, 'USAGE') OR pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW privpred.streams IS 'streams: yours and your groups'', and all of the relations that you own';
COMMENT ON COLUMN privpred.streams.epsilon IS 'of each unstable answer, as all of them were charged when the stream was opened';
COMMENT ON COLUMN privpred.streams.delta IS 'of each unstable answer, as all of them were charged when the stream was opened';
COMMENT ON COLUMN privpred.streams.unstable_used IS 'unstable answers so far; a crash of the server while the stream is in use counts as one';
COMMENT ON COLUMN privpred.streams.answers_left IS 'NULL: no limit; what running statements have reserved is not left';
COMMENT ON COLUMN privpred.streams.status IS 'open, or why it is not: used up, all answers given, closed, model changed, ledger adopted';

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
-- Solvers: parameters of stable_flip and relabel, and what is proved of them
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

----------------------------------------------------------------------
-- Owner's and analyst's functions
----------------------------------------------------------------------

CREATE FUNCTION privpred.protect(relation regclass, unit name DEFAULT NULL, protects text DEFAULT 'rows',
	declared_units bigint DEFAULT NULL, max_rows_per_unit int DEFAULT NULL,
	epsilon_cap float8 DEFAULT NULL, delta_cap float8 DEFAULT NULL)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.protect(regclass, name, text, bigint, int, float8, float8) IS
'owner: declares that a table''s rows are protected, and which column says whose row it is (default: the primary key); sizes and caps may be declared again later, and a delta_cap that is left out stays as it was';

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

CREATE FUNCTION privpred.distill(student text, teacher text, public_relation regclass,
	learner text DEFAULT 'logistic', labels bigint DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_distill' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.distill(text, text, regclass, text, bigint, jsonb) IS
'anyone with a budget, or the owner: labels public rows (all, or so many) with a model, pays for the labels, and trains a student on them whose answers are free to whoever has paid for the labels once';

CREATE FUNCTION privpred.export_model(name text)
RETURNS json AS 'MODULE_PATHNAME', 'privpred_export_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.export_model(text) IS
'owner: a released model (a student, or any model that is charged once) as JSON, after every budget on its relation has been charged for it';

CREATE FUNCTION privpred.evaluate(model text, test regclass, OUT rows bigint,
	OUT private_accuracy float8, OUT majority_accuracy float8, OUT baseline_accuracy float8,
	OUT approximate_accuracy float8, OUT exponential_accuracy float8, OUT gaussian_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT plain_rmse float8, OUT baseline_rmse float8,
	OUT exact boolean, OUT confusion jsonb, OUT accuracy_by_epsilon jsonb, OUT margin float8)
AS 'MODULE_PATHNAME', 'privpred_evaluate' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.evaluate(text, regclass) IS
'owner: accuracy on labelled rows: the expectation of the private answers (to accounts without delta and, as approximate_accuracy, with delta), the teachers'' plain majority, always the most common class, and what accounts with delta would get by either noise of mechanism vote; for labels that are numbers the root mean squared errors of private answers (likewise), of answers without noise, and of always their mean; whether the expectations are exact or estimated by drawing, from a sample of the rows if there are many, and by how much the accuracies may be off, 99 times in 100; the tables of confusion_matrix() and accuracy_curve() as JSON; not private, costs nothing';

CREATE FUNCTION privpred.confusion_matrix(model text, test regclass, OUT class text, OUT answer text,
	OUT rows float8, OUT share float8, OUT approximate_rows float8, OUT approximate_share float8)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_confusion_matrix'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.confusion_matrix(text, regclass) IS
'owner: of labelled rows of each class, how many are expected to be answered by each class (NULL: unstable answers of a stream), and what share of the class that is; to accounts without and with delta; not private, costs nothing';

CREATE FUNCTION privpred.accuracy_curve(model text, test regclass, epsilons float8[] DEFAULT NULL, OUT epsilon numeric,
	OUT own boolean, OUT private_accuracy float8, OUT approximate_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT remark text)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_accuracy_curve'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.accuracy_curve(text, regclass, float8[]) IS
'owner: the expected accuracy on labelled rows at other epsilons per answer, where the same training serves them, and at the model''s own; NULL where a model would have to be trained anew, as the remark says; not private, costs nothing';

CREATE FUNCTION privpred.plot(model text, test regclass, kind text DEFAULT 'accuracy', epsilons float8[] DEFAULT NULL,
	epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0)
RETURNS text AS 'MODULE_PATHNAME', 'privpred_plot' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.plot(text, regclass, text, float8[], float8, float8) IS
'owner: a picture (SVG): accuracy on labelled rows against epsilon per answer, against the number of answers that a budget (epsilon, delta) pays for, or the confusion matrix; not private, costs nothing';

CREATE FUNCTION privpred.audit(model text, draws bigint DEFAULT NULL)
RETURNS TABLE (mechanism text, pair text, event text, charge text, compared text, claimed_epsilon float8,
	claimed_delta float8, epsilon_lower_bound float8, would_detect float8, draws_each bigint, confidence float8, verdict text)
AS 'MODULE_PATHNAME', 'privpred_audit' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10 COST 1000000;
COMMENT ON FUNCTION privpred.audit(text, bigint) IS
'owner: trains models like this one on made-up tables that differ in one unit, draws from both, and compares what is seen with what the model''s account pays: consistent, violated, or no power; reads no protected row, charges nobody, leaves nothing behind';

CREATE FUNCTION privpred.littlestone_dimension(class regclass)
RETURNS int AS 'MODULE_PATHNAME', 'privpred_littlestone_dimension' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.littlestone_dimension(regclass) IS
'anyone: the Littlestone dimension of a finite class, a table (hypothesis, point, label) that the caller may read; exact, or refused if it takes too long';

CREATE FUNCTION privpred.encode(features jsonb, row_of_features record)
RETURNS float8[] AS 'MODULE_PATHNAME', 'privpred_encode_row' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION privpred.encode(jsonb, record) IS
'one training row as learners see it, from a stored feature specification and ROW(...) in its order; never fails on a value';

CREATE FUNCTION privpred.encode(features jsonb, VARIADIC columns "any")
RETURNS float8[] AS 'MODULE_PATHNAME', 'privpred_encode_columns' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION privpred.encode(jsonb, "any") IS
'one training row as learners see it, from a stored feature specification and the columns in its order; never fails on a value';

-- One form for every type that numbers, objects and rows are written in: a call that
-- fits ours exactly cannot be caught by somebody else's function of the same name.
-- There are no defaults, because a function that needs none would be preferred.
-- The same functions stand in privpred, a schema that is closed to everybody.
CREATE FUNCTION @extschema@.private_predict(model text, features float8[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, float8[]) IS
'one private answer, paid from the caller''s budget; numbers in their own units, levels one-hot, booleans 0/1, in declared order';

CREATE FUNCTION @extschema@.private_predict(model text, features numeric[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, numeric[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features bigint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, bigint[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features int[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, int[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features smallint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, smallint[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features real[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, real[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features jsonb)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_jsonb'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, jsonb) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION @extschema@.private_predict(model text, features json)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_json'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, json) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION @extschema@.private_predict(model text, features record)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_row'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, record) IS
'one private answer, paid from the caller''s budget; a row whose columns are matched by name';

CREATE FUNCTION @extschema@.private_predict(model text, features text)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_text'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, text) IS
'one private answer, paid from the caller''s budget; a JSON object or an array of numbers, written as text: what a literal without a type is';

CREATE FUNCTION @extschema@.private_score(model text, features float8[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, float8[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; numbers in their own units, levels one-hot, booleans 0/1, in declared order';
CREATE FUNCTION @extschema@.private_score(model text, features float8[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, float8[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features numeric[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, numeric[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION @extschema@.private_score(model text, features numeric[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, numeric[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features bigint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION @extschema@.private_score(model text, features bigint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features int[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION @extschema@.private_score(model text, features int[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features smallint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION @extschema@.private_score(model text, features smallint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features real[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, real[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION @extschema@.private_score(model text, features real[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, real[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features jsonb)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, jsonb) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION @extschema@.private_score(model text, features jsonb, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, jsonb, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features json)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, json) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION @extschema@.private_score(model text, features json, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, json, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features record)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, record) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a row whose columns are matched by name';
CREATE FUNCTION @extschema@.private_score(model text, features record, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, record, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, text) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a JSON object or an array of numbers, written as text: what a literal without a type is';
CREATE FUNCTION @extschema@.private_score(model text, features text, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, text, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_predict(model text, features float8[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, float8[]) IS
'one private answer, paid from the caller''s budget; numbers in their own units, levels one-hot, booleans 0/1, in declared order';

CREATE FUNCTION privpred.private_predict(model text, features numeric[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, numeric[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION privpred.private_predict(model text, features bigint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, bigint[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION privpred.private_predict(model text, features int[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, int[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION privpred.private_predict(model text, features smallint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, smallint[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION privpred.private_predict(model text, features real[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, real[]) IS
'one private answer, paid from the caller''s budget; an array, as of float8';

CREATE FUNCTION privpred.private_predict(model text, features jsonb)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_jsonb'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, jsonb) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION privpred.private_predict(model text, features json)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_json'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, json) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION privpred.private_predict(model text, features record)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_row'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, record) IS
'one private answer, paid from the caller''s budget; a row whose columns are matched by name';

CREATE FUNCTION privpred.private_predict(model text, features text)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_text'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, text) IS
'one private answer, paid from the caller''s budget; a JSON object or an array of numbers, written as text: what a literal without a type is';

CREATE FUNCTION privpred.private_score(model text, features float8[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, float8[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; numbers in their own units, levels one-hot, booleans 0/1, in declared order';
CREATE FUNCTION privpred.private_score(model text, features float8[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, float8[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features numeric[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, numeric[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION privpred.private_score(model text, features numeric[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, numeric[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features bigint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION privpred.private_score(model text, features bigint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features int[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION privpred.private_score(model text, features int[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features smallint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION privpred.private_score(model text, features smallint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features real[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, real[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array, as of float8';
CREATE FUNCTION privpred.private_score(model text, features real[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, real[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features jsonb)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, jsonb) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION privpred.private_score(model text, features jsonb, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, jsonb, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features json)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, json) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION privpred.private_score(model text, features json, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, json, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features record)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, record) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a row whose columns are matched by name';
CREATE FUNCTION privpred.private_score(model text, features record, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, record, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, text) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a JSON object or an array of numbers, written as text: what a literal without a type is';
CREATE FUNCTION privpred.private_score(model text, features text, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, text, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE VIEW privpred.models WITH (security_barrier) AS
SELECT m.name, r.relation, m.mechanism, m.learner, m.version, m.status, m.classes, m.features,
	m.teachers, pg_catalog.trim_scale(m.epsilon_units OPERATOR(pg_catalog./) 1000000000000.0) AS epsilon,
	m.charge_kind, m.created_at, m.created_by, m.label, m.options, m.trained_at,
	m.charge, m.pure_charge
FROM privpred.model m
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) m.relation_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b
		WHERE b.relation::pg_catalog.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');
COMMENT ON VIEW privpred.models IS
'models of the tables you own and of those you hold a budget for';

CREATE FUNCTION privpred.on_sql_drop()
RETURNS event_trigger AS 'MODULE_PATHNAME', 'privpred_on_sql_drop' LANGUAGE C;
COMMENT ON FUNCTION privpred.on_sql_drop() IS
'forgets protected tables that are dropped, so that a re-used identity inherits nothing';

CREATE EVENT TRIGGER privpred_on_sql_drop ON sql_drop EXECUTE FUNCTION privpred.on_sql_drop();

CREATE FUNCTION privpred.on_drop_owned() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'privpred_on_drop_owned' LANGUAGE C;
COMMENT ON FUNCTION privpred.on_drop_owned() IS 'revokes the budgets of roles after DROP OWNED BY';

CREATE EVENT TRIGGER privpred_on_drop_owned ON ddl_command_end WHEN TAG IN ('DROP OWNED')
	EXECUTE FUNCTION privpred.on_drop_owned();

----------------------------------------------------------------------
-- Progress
----------------------------------------------------------------------

CREATE FUNCTION privpred.progress_entries(OUT pid integer, OUT model text, OUT phase text, OUT done bigint,
	OUT total bigint, OUT started_at timestamptz, OUT relation regclass, OUT steps bigint, OUT steps_total bigint)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_progress_entries'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.progress_entries() IS
'what the view privpred.progress shows: sessions that work on tables you own, and your own where nothing is counted that is secret from you';

CREATE VIEW privpred.progress WITH (security_barrier) AS
SELECT p.pid, p.model, p.phase, p.done, p.total, p.started_at, p.relation, p.steps, p.steps_total
FROM privpred.progress_entries() p;
COMMENT ON VIEW privpred.progress IS
'training, evaluating, distilling, verifying and auditing that is under way on tables you own: rows or steps done, and how many there will be by the planner''s estimate';

----------------------------------------------------------------------
-- Counts
----------------------------------------------------------------------

CREATE FUNCTION privpred.stat_entries(OUT role regrole, OUT relation regclass, OUT model_id bigint,
	OUT answers bigint, OUT repeats bigint, OUT unstable bigint, OUT refusals bigint, OUT round_trips bigint,
	OUT ledger_ms float8, OUT cache_hits bigint, OUT cache_misses bigint, OUT since timestamptz)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_stat_entries'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.stat_entries() IS
'what the view privpred.stat shows: counts of your own answers, and of all about tables you own';

CREATE VIEW privpred.stat WITH (security_barrier) AS
SELECT s.role, s.relation, m.name AS model, s.answers, s.repeats, s.unstable, s.refusals, s.round_trips,
	s.ledger_ms, s.cache_hits, s.cache_misses, s.since
FROM privpred.stat_entries() s
LEFT JOIN privpred.model m ON m.model_id OPERATOR(pg_catalog.=) s.model_id;
COMMENT ON VIEW privpred.stat IS
'counts by role and model since the server started: yours and your groups'', and all of the relations that you own';
COMMENT ON COLUMN privpred.stat.answers IS 'paid for and drawn';
COMMENT ON COLUMN privpred.stat.repeats IS 'the same question again, from memory, free';
COMMENT ON COLUMN privpred.stat.unstable IS 'answers that were NULL, or a vote in place of it';
COMMENT ON COLUMN privpred.stat.refusals IS 'the budget or the stream could not, or may not, pay';
COMMENT ON COLUMN privpred.stat.round_trips IS 'to the ledger''s process';
COMMENT ON COLUMN privpred.stat.ledger_ms IS 'milliseconds of waiting for the ledger''s process';
COMMENT ON COLUMN privpred.stat.cache_hits IS 'statements that found the model decoded in their session';
COMMENT ON COLUMN privpred.stat.cache_misses IS 'statements that had to read and decode it';

CREATE FUNCTION privpred.stat_reset()
RETURNS void AS 'MODULE_PATHNAME', 'privpred_stat_reset' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.stat_reset() IS
'superuser: sets all counts of privpred.stat to zero, in all databases';

----------------------------------------------------------------------
-- Report
----------------------------------------------------------------------

CREATE FUNCTION privpred.report()
RETURNS text AS 'MODULE_PATHNAME', 'privpred_report' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.report() IS
'anyone: one HTML page on the budgets, spending and models that you may see in privpred.budgets, ledger, leases and models; save it with \t \a \o report.html';

CREATE FUNCTION privpred.build()
RETURNS text AS 'MODULE_PATHNAME', 'privpred_build' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.build() IS
'anyone: the version that the server runs; a build that is wrong on purpose, for testing audits, says so and warns';

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
	privpred.boost(anyelement, double precision[]),
	privpred.boost(anyelement, double precision[], jsonb),
	privpred.forest(anyelement, double precision[]),
	privpred.forest(anyelement, double precision[], jsonb),
	privpred.tree(anyelement, double precision[]),
	privpred.tree(anyelement, double precision[], jsonb),
	privpred.explain(privpred.predictor, text[]),
	privpred.threshold(anyelement, "any"),
	privpred.threshold(anyelement, "any", jsonb),
	privpred.sql_learner(anyelement, double precision[], jsonb),
	privpred.ensemble(privpred.predictor),
	privpred.partial_state(anyelement, double precision[], jsonb),
	privpred.partial_state(text, double precision[], jsonb),
	privpred.merge_states(privpred.training_state),
	privpred.finish_state(privpred.training_state),
	privpred.unit_share(bytea, integer, "any"),
	privpred.node_agrees(jsonb, "any"),
	privpred.teacher_of(anyelement, bytea, integer),
	privpred.unit_hash(anyelement, bytea),
	privpred.predict(privpred.predictor, double precision[]),
	privpred.votes(privpred.predictor, double precision[])
	TO PUBLIC;
-- pure arithmetic
GRANT EXECUTE ON FUNCTION privpred.answers_for, privpred.epsilon_for, privpred.plan TO PUBLIC;
-- reads what the caller may read already
GRANT EXECUTE ON FUNCTION privpred.littlestone_dimension(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.solve_stable_flip, privpred.solve_relabel TO PUBLIC;
-- requests: each checks who owns the relation
GRANT EXECUTE ON FUNCTION privpred.protect, privpred.unprotect, privpred.create_model,
	privpred.retrain, privpred.drop_model, privpred.distill, privpred.export_model, privpred.evaluate,
	privpred.confusion_matrix, privpred.accuracy_curve, privpred.plot, privpred.audit, privpred.encode(jsonb, record),
	privpred.encode(jsonb, "any") TO PUBLIC;
GRANT SELECT ON privpred.models TO PUBLIC;
-- questions: each checks who has a budget
GRANT EXECUTE ON FUNCTION
	privpred.private_predict(text, float8[]),
	privpred.private_score(text, float8[]),
	privpred.private_score(text, float8[], float8),
	privpred.private_predict(text, numeric[]),
	privpred.private_score(text, numeric[]),
	privpred.private_score(text, numeric[], float8),
	privpred.private_predict(text, bigint[]),
	privpred.private_score(text, bigint[]),
	privpred.private_score(text, bigint[], float8),
	privpred.private_predict(text, int[]),
	privpred.private_score(text, int[]),
	privpred.private_score(text, int[], float8),
	privpred.private_predict(text, smallint[]),
	privpred.private_score(text, smallint[]),
	privpred.private_score(text, smallint[], float8),
	privpred.private_predict(text, real[]),
	privpred.private_score(text, real[]),
	privpred.private_score(text, real[], float8),
	privpred.private_predict(text, jsonb),
	privpred.private_score(text, jsonb),
	privpred.private_score(text, jsonb, float8),
	privpred.private_predict(text, json),
	privpred.private_score(text, json),
	privpred.private_score(text, json, float8),
	privpred.private_predict(text, record),
	privpred.private_score(text, record),
	privpred.private_score(text, record, float8),
	privpred.private_predict(text, text),
	privpred.private_score(text, text),
	privpred.private_score(text, text, float8)
	TO PUBLIC;
-- ledger
GRANT SELECT ON privpred.budgets, privpred.ledger, privpred.leases, privpred.ceilings TO PUBLIC;
GRANT EXECUTE ON FUNCTION
	privpred.ledger_incarnation(),
	privpred.account_epsilon(bigint, float8, bigint),
	privpred.account_charge(text, text, bigint, bigint),
	privpred.account_purchases(text, text, bigint, bigint, bigint, float8),
	privpred.account_window(timestamptz, interval, timestamptz),
	privpred.grant_budget(regrole, regclass, float8, float8, timestamptz, interval, float8, float8),
	privpred.revoke_budget(regrole, regclass),
	privpred.cost(text, bigint),
	privpred.verify_ledger(bytea),
	privpred.forgive_lease(bigint)
	TO PUBLIC;
-- streams: of the caller's own budgets
GRANT SELECT ON privpred.streams TO PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.open_stream(text, int, float8, float8, bigint, boolean),
	privpred.close_stream(text) TO PUBLIC;
-- report: shows what the caller finds in the views
GRANT EXECUTE ON FUNCTION privpred.report() TO PUBLIC;
-- build: says what everybody must know
GRANT EXECUTE ON FUNCTION privpred.build() TO PUBLIC;
-- progress: shows what goes on in tables that the caller owns
GRANT EXECUTE ON FUNCTION privpred.progress_entries() TO PUBLIC;
GRANT SELECT ON privpred.progress TO PUBLIC;
-- counts: shows what the caller asked, and what others asked of tables that the caller owns
GRANT EXECUTE ON FUNCTION privpred.stat_entries() TO PUBLIC;
GRANT SELECT ON privpred.stat TO PUBLIC;

-- A build that is wrong on purpose warns here.
SELECT privpred.build();
