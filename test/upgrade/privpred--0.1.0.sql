/* privpred--0.1.0.sql, made by install/join.sh */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION privpred" to load this file. \quit

-- Nothing here is looked up in the schema that was named at CREATE EXTENSION, where
-- others may have put operators and functions that fit better than the server's.
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA privpred;
COMMENT ON SCHEMA privpred IS 'private predictions: models, budgets and their ledger';
GRANT USAGE ON SCHEMA privpred TO PUBLIC;

----------------------------------------------------------------------
-- The predictor type, and the functions that all learners share
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
	AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
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

----------------------------------------------------------------------
-- Learners: one aggregate each, in two forms
----------------------------------------------------------------------

-- The planner assumes that every unit is a group of its own, so SSPACE is the size of
-- a state with one or two rows.
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

CREATE FUNCTION privpred.knn_transition(internal, anyelement, double precision[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.knn_transition(internal, anyelement, double precision[]) IS 'adds a row';

CREATE AGGREGATE privpred.knn(anyelement, double precision[]) (
	SFUNC = privpred.knn_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.knn(anyelement, double precision[]) IS
	'one teacher over (label, features): the majority of the nearest neighbours among some of its rows; not private by itself';

CREATE FUNCTION privpred.knn_transition(internal, anyelement, double precision[], jsonb) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.knn_transition(internal, anyelement, double precision[], jsonb) IS 'adds a row';

CREATE AGGREGATE privpred.knn(anyelement, double precision[], jsonb) (
	SFUNC = privpred.knn_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.learner_finish,
	COMBINEFUNC = privpred.learner_combine,
	SERIALFUNC = privpred.learner_serialize,
	DESERIALFUNC = privpred.learner_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.knn(anyelement, double precision[], jsonb) IS
	'one teacher over (label, features, options): the majority of the nearest neighbours among some of its rows; not private by itself';

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

-- It runs the user's own aggregate in a subtransaction, and therefore never in parallel.
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

----------------------------------------------------------------------
-- Ensembles: teacher_of, ensemble, and asking a predictor without privacy
----------------------------------------------------------------------

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
	AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
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

-- Citus calls transition functions without telling them the types of their arguments.
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
	'teacher_of for a unit of one or more columns; NULL if one of them is NULL';

CREATE FUNCTION privpred.node_agrees(expected jsonb, VARIADIC columns "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'privpred_node_agrees' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.node_agrees(jsonb, "any") IS
	'true if this node has the expected version, encoding and types of columns, else an error';

----------------------------------------------------------------------
-- Catalog: protected relations and models
----------------------------------------------------------------------

-- There are no foreign keys between our tables, because pg_restore -j loads them in any order.

CREATE TABLE privpred.protected_relation (
	relation_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation		regclass UNIQUE,	-- NULL once the table was dropped
	relation_name	text NOT NULL,		-- as it was last seen
	known_as		text[] NOT NULL DEFAULT '{}',	-- its names when it was protected and when it was dropped
	unit_columns	name[] NOT NULL,
	protects		text NOT NULL CHECK (protects OPERATOR(pg_catalog.=) ANY (ARRAY['rows', 'labels'])),
	declared_units	bigint CHECK (declared_units OPERATOR(pg_catalog.>) 0),
	max_rows_per_unit int CHECK (max_rows_per_unit OPERATOR(pg_catalog.>) 0),
	active			boolean NOT NULL DEFAULT true,	-- false: unprotected or dropped
	protected_at	timestamptz NOT NULL DEFAULT pg_catalog.now(),
	dropped_at		timestamptz,
	dropped_owner	oid,				-- whose it was then; not regrole, which cannot be restored
	dropped_owner_name text				-- where there is no such role
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
	holdout			float8 NOT NULL DEFAULT 0	-- share of the units that never train, by a hash of the salt
		CHECK (holdout OPERATOR(pg_catalog.>=) 0 AND holdout OPERATOR(pg_catalog.<) 1),
	accuracy		float8,				-- of this version, as released to everybody; NULL: it was not
	accuracy_error	float8,				-- its standard error
	accuracy_at		timestamptz,
	CHECK (predictor IS NULL OR state IS NULL),
	CHECK ((train_function IS NULL) OPERATOR(pg_catalog.=) (functions_digest IS NULL)
		AND (predict_function IS NULL) OPERATOR(pg_catalog.=) (functions_digest IS NULL))
);
-- Anybody may see how large a table is, so the size of a stored model must not depend on what was learnt.
ALTER TABLE privpred.model ALTER predictor SET STORAGE EXTERNAL, ALTER state SET STORAGE EXTERNAL;
COMMENT ON TABLE privpred.model IS 'models and their trained predictors; readable by the extension''s owner alone';

-- What privpred.describe() has told of a relation.  Nothing here has a size that rows decide, but
-- through noise that everybody has paid for.
CREATE TABLE privpred.description (
	description_id	bigint PRIMARY KEY,	-- from the numbers of trainings, as the ledger knows both
	relation_id		bigint NOT NULL,	-- of protected_relation
	at				timestamptz NOT NULL DEFAULT pg_catalog.now(),
	described_by	name NOT NULL,
	epsilon_units	bigint NOT NULL CHECK (epsilon_units OPERATOR(pg_catalog.>) 0),	-- 10^-12 each
	delta			float8 NOT NULL,
	charge			text,				-- to an account of finite order; NULL: nothing was drawn
	columns			name[] NOT NULL,
	features		json NOT NULL,		-- as create_model takes them
	null_shares		jsonb NOT NULL,
	left_out		jsonb NOT NULL		-- and why
);
COMMENT ON TABLE privpred.description IS 'what descriptions of tables have told, and what they cost';

SELECT pg_catalog.pg_extension_config_dump('privpred.protected_relation', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.protected_relation_relation_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model_model_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.model_training_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.description', '');

----------------------------------------------------------------------
-- Ledger: accounts, entries, budgets
----------------------------------------------------------------------

-- One row per role and relation, and one per relation for the cap over all
-- roles ('-').  Units are 10^-12 epsilon at the account's order, except in the
-- columns that say what was granted.  With a window, limit_units is the limit for ever and
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

-- Blocks of answers that were debited and may not all have been used.
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

-- A table and not a setting, because settings can be overridden before the library is loaded.
CREATE TABLE privpred.ceiling (
	role			regrole PRIMARY KEY,	-- 0: every role
	answers			bigint NOT NULL CHECK (answers OPERATOR(pg_catalog.>=) 0),
	set_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	set_by			text NOT NULL
);
COMMENT ON TABLE privpred.ceiling IS 'most answers that one statement of a role may take, set by superusers';

-- Answers of models with the option memoize, by the digest of the question.
-- They are not dumped: an answer that is lost has to be asked and paid for again.
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

-- Which accounts have paid for a model that was drawn in training and is charged once.  The cap of
-- a relation pays once for all roles: the roles together have seen one draw.  Account 0
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
	accuracy		boolean NOT NULL DEFAULT false,	-- not the version itself, but its accuracy, a draw of its own
	PRIMARY KEY (account_id, training_id)
);
COMMENT ON TABLE privpred.release IS 'accounts that have paid for a version of a model that is charged once';

-- It is left out of dumps on purpose: a restored ledger is recognised by its absence.
-- It has no key, because sessions that claim the ledger first must not wait for each other.
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
		per_answer float8 DEFAULT NULL, force boolean DEFAULT false) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_grant_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.grant_budget(regrole, regclass, float8, float8, timestamptz, interval, float8, float8, boolean)
	IS 'owner: sets a role''s privacy budget on a protected relation, per window if refresh is given; what is left out stays as it was (0 or none for a new budget), and what was spent is never forgotten; force grants a delta above 0.01, which is refused otherwise';

CREATE FUNCTION privpred.revoke_budget(role regrole, relation regclass) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_revoke_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.revoke_budget(regrole, regclass)
	IS 'ends a role''s privacy budget, at once and in all sessions';

CREATE FUNCTION privpred.cost(model text, answers bigint DEFAULT 1,
		OUT epsilon numeric, OUT delta numeric, OUT epsilon_left_after numeric,
		OUT fits boolean, OUT answers_left bigint)
	AS 'MODULE_PATHNAME', 'privpred_cost' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.cost(text, bigint)
	IS 'what answers of a model would cost you and whether they fit, without spending; of a model that is charged once, its price or, once it is paid, 0, and answers_left NULL, which means unlimited; Infinity if your budget cannot pay for such answers at all';

CREATE FUNCTION privpred.cost_of(statement text)
	RETURNS TABLE (model text, answers bigint, epsilon numeric, delta numeric, answers_left bigint, fits boolean,
		remark text)
	AS 'MODULE_PATHNAME', 'privpred_cost_of' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 2;
COMMENT ON FUNCTION privpred.cost_of(text)
	IS 'how many answers a statement would take of each model as the planner expects, what they would cost you, and whether they fit; plans it as you and runs nothing. The price is NULL if answers come through a stream, the model if it is not known before the statement runs';

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
COMMENT ON COLUMN privpred.ceilings.role IS 'NULL: everybody';
COMMENT ON COLUMN privpred.ceilings.answers IS 'most that one statement may take';
COMMENT ON COLUMN privpred.ceilings.set_at IS 'when it was set';
COMMENT ON COLUMN privpred.ceilings.set_by IS 'the superuser who set it';

CREATE FUNCTION privpred.forgive_lease(lease bigint) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_forgive_lease' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.forgive_lease(bigint)
	IS 'returns a lease that a crash has orphaned, although some of its answers may have been given';

-- Leases that are in use, for roles that may see the account.
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
COMMENT ON COLUMN privpred.leases.lease IS 'its number, which is that of its first entry in the ledger';
COMMENT ON COLUMN privpred.leases.at IS 'when it was taken or last grew';
COMMENT ON COLUMN privpred.leases.role IS 'whose budget pays; NULL: the cap over all roles';
COMMENT ON COLUMN privpred.leases.relation IS 'the protected table; NULL once it was dropped';
COMMENT ON COLUMN privpred.leases.answers IS 'reserved, used or not';
COMMENT ON COLUMN privpred.leases.epsilon IS 'reserved for them, in the account''s own units';
COMMENT ON COLUMN privpred.leases.pid IS 'process of the session that asked';
COMMENT ON COLUMN privpred.leases.orphaned IS 'the server crashed while it was out; it stays spent unless it is forgiven';

-- Arithmetic on accounts as they are stored, for the views.
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

CREATE FUNCTION privpred.budget_entries(OUT role regrole, OUT relation regclass,
		OUT epsilon_limit numeric, OUT delta_limit numeric, OUT epsilon_spent numeric,
		OUT delta_spent numeric, OUT epsilon_left numeric, OUT renyi_order float8,
		OUT answers_left jsonb, OUT binding_cap text, OUT valid_until timestamptz,
		OUT window_resets_at timestamptz, OUT status text, OUT epsilon_reserved numeric,
		OUT epsilon_orphaned numeric, OUT account_id bigint, OUT role_name text,
		OUT relation_name text, OUT granted_at timestamptz, OUT granted_by text,
		OUT spent_share float8, OUT lifetime_epsilon_limit numeric,
		OUT lifetime_epsilon_spent numeric, OUT refresh interval, OUT yours boolean)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_budget_entries'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 1000 ROWS 20;
COMMENT ON FUNCTION privpred.budget_entries()
	IS 'what the view privpred.budgets shows: budgets of yours and your groups'', and all of the relations that you own';

CREATE VIEW privpred.budgets WITH (security_barrier) AS
SELECT b.* FROM privpred.budget_entries() b;
COMMENT ON VIEW privpred.budgets IS 'privacy budgets: yours and your groups'', and all of the relations that you own';
COMMENT ON COLUMN privpred.budgets.role IS 'whose budget it is; NULL: the cap over all roles of the relation';
COMMENT ON COLUMN privpred.budgets.relation IS 'the protected table; NULL once it was dropped';
COMMENT ON COLUMN privpred.budgets.delta_limit IS 'as granted; half of it pays for conversion, the other half for mechanisms with a delta';
COMMENT ON COLUMN privpred.budgets.delta_spent IS 'of both halves';
COMMENT ON COLUMN privpred.budgets.valid_until IS 'when the budget ends; NULL: it does not';
COMMENT ON COLUMN privpred.budgets.window_resets_at IS 'when the present window ends and epsilon refreshes; NULL: it does not refresh';
COMMENT ON COLUMN privpred.budgets.status IS 'active, or why it cannot pay: frozen (more is spent than granted), expired, revoked, role dropped, relation dropped';
COMMENT ON COLUMN privpred.budgets.account_id IS 'number of the account, as in privpred.ledger';
COMMENT ON COLUMN privpred.budgets.role_name IS 'name of the role when the budget was granted';
COMMENT ON COLUMN privpred.budgets.relation_name IS 'name of the table when it was last protected or dropped';
COMMENT ON COLUMN privpred.budgets.granted_at IS 'time of the last grant';
COMMENT ON COLUMN privpred.budgets.granted_by IS 'who granted it last';
COMMENT ON COLUMN privpred.budgets.refresh IS 'length of a window; NULL: the budget does not refresh';
COMMENT ON COLUMN privpred.budgets.yours IS 'the budget pays for what you ask: it is yours, or of a group whose rights you inherit';
COMMENT ON COLUMN privpred.budgets.epsilon_limit IS 'as granted; of each window if the budget refreshes';
COMMENT ON COLUMN privpred.budgets.epsilon_spent IS
	'what is spent, or spent in the present window if the budget refreshes; at a finite order it is converted with half of delta, which makes it jump with the first answer';
COMMENT ON COLUMN privpred.budgets.epsilon_left IS
	'the least, over all caps, of the grant minus what is spent, converted; answers_left says what it buys';
COMMENT ON COLUMN privpred.budgets.renyi_order IS 'the order at which charges add up; Infinity: epsilons add up';
COMMENT ON COLUMN privpred.budgets.answers_left IS
	'answers of each model (streams, of one that sells them) that fit under all caps, if nobody else asks; of a model that is charged once "unlimited", if it is paid for or can be, else 0';
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
COMMENT ON COLUMN privpred.ledger.id IS 'number in the chain; NULL until the entry is chained';
COMMENT ON COLUMN privpred.ledger.at IS 'when it happened';
COMMENT ON COLUMN privpred.ledger.role IS 'whose account it is; NULL: the cap over all roles, or no account';
COMMENT ON COLUMN privpred.ledger.relation IS 'the protected table; NULL once it was dropped';
COMMENT ON COLUMN privpred.ledger.model IS 'name of the model that was asked, as it was';
COMMENT ON COLUMN privpred.ledger.version IS 'of the model';
COMMENT ON COLUMN privpred.ledger.kind IS 'what happened: grant, revoke, cap, lease, settle, release, export, stream and so on; see docs/ledger.md';
COMMENT ON COLUMN privpred.ledger.answers IS 'debited; negative: returned';
COMMENT ON COLUMN privpred.ledger.delta IS 'added to what the account has spent of delta';
COMMENT ON COLUMN privpred.ledger.head IS 'hash of the chain up to here; NULL until the entry is chained';
COMMENT ON COLUMN privpred.ledger.asked_by IS 'the role that asked, or that was granted a budget';
COMMENT ON COLUMN privpred.ledger.relation_name IS 'name of the table, as it was';
COMMENT ON COLUMN privpred.ledger.lease IS 'number of the lease that the entry is about';
COMMENT ON COLUMN privpred.ledger.epsilon_limit IS 'limit of the account at its order, as it was';
COMMENT ON COLUMN privpred.ledger.actor IS 'who granted, revoked or forgave';
COMMENT ON COLUMN privpred.ledger.pid IS 'process of the session';
COMMENT ON COLUMN privpred.ledger.account_id IS 'number of the account, as in privpred.budgets';
COMMENT ON COLUMN privpred.ledger.detail IS 'terms of a grant, and the like';
COMMENT ON COLUMN privpred.ledger.renyi_order IS 'order of the account, as it was; Infinity: epsilons add up';

-- The budgets that an analyst can use, in few columns.
CREATE VIEW privpred.my_budget WITH (security_barrier) AS
SELECT b.relation, b.role AS granted_to, b.epsilon_limit AS epsilon, b.delta_limit AS delta, b.epsilon_spent AS spent,
	b.epsilon_left AS left, b.answers_left, b.window_resets_at AS refreshes_at, b.valid_until AS expires_at, b.status
FROM privpred.budgets b
WHERE b.yours AND b.status OPERATOR(pg_catalog.=) ANY (ARRAY['active', 'frozen', 'expired']);
COMMENT ON VIEW privpred.my_budget IS 'what you may ask: your own budgets and those of your groups, what is spent, and what is left';
COMMENT ON COLUMN privpred.my_budget.relation IS 'the protected table that the budget is for';
COMMENT ON COLUMN privpred.my_budget.granted_to IS 'you, or the group whose budget you share';
COMMENT ON COLUMN privpred.my_budget.epsilon IS 'what you have; of each window if the budget refreshes';
COMMENT ON COLUMN privpred.my_budget.delta IS 'what you have';
COMMENT ON COLUMN privpred.my_budget.spent IS 'of epsilon, in the present window if the budget refreshes, by all who share the budget';
COMMENT ON COLUMN privpred.my_budget.left IS 'of epsilon, under all caps';
COMMENT ON COLUMN privpred.my_budget.answers_left IS 'answers of each model that fit under all caps, if nobody else asks; "unlimited": the model is charged once, and is paid for or can be';
COMMENT ON COLUMN privpred.my_budget.refreshes_at IS 'when the next window begins; NULL: the budget does not refresh';
COMMENT ON COLUMN privpred.my_budget.expires_at IS 'when the budget ends; NULL: it does not';
COMMENT ON COLUMN privpred.my_budget.status IS 'active, frozen (more is spent than granted) or expired';

----------------------------------------------------------------------
-- Streams
----------------------------------------------------------------------

-- Only the ledger's process writes it.  It is left out of dumps on purpose: a
-- threshold that came back after it had seen a failure would be used twice.
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
COMMENT ON COLUMN privpred.streams.stream IS 'its number';
COMMENT ON COLUMN privpred.streams.role IS 'whose budget paid';
COMMENT ON COLUMN privpred.streams.relation IS 'the protected table; NULL once it was dropped';
COMMENT ON COLUMN privpred.streams.model IS 'whose answers it sells';
COMMENT ON COLUMN privpred.streams.version IS 'of the model, for which it was bought';
COMMENT ON COLUMN privpred.streams.unstable_limit IS 'unstable answers that were bought';
COMMENT ON COLUMN privpred.streams.answers_limit IS 'most answers of both kinds; NULL: no limit';
COMMENT ON COLUMN privpred.streams.opened_at IS 'when it was bought';
COMMENT ON COLUMN privpred.streams.closed_at IS 'when it ended; NULL: it is open';
COMMENT ON COLUMN privpred.streams.opened_by IS 'the role that bought it';
COMMENT ON COLUMN privpred.streams.uniform IS 'the ledger writes the same for every answer';

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

-- The figures are computed in C, the words around them are made here.

CREATE FUNCTION privpred._plan_table(relation regclass, label name) RETURNS json
AS 'MODULE_PATHNAME', 'privpred_plan_table' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred._plan_table(regclass, name) IS
'what types, CHECK constraints, keys and protect() tell of a table, never its rows; for plan()';

CREATE FUNCTION privpred._plan_columns(told json, label name, OUT place bigint, OUT column_name text, OUT levels json,
	OUT declaration text, OUT example text, OUT width int, OUT is_label boolean, OUT asks text, OUT target text)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT c.place, c.name, c.levels,
		CASE WHEN c.listed IS NOT NULL THEN pg_catalog.format('{"levels": %s}', c.levels)
			WHEN c.levels IS NOT NULL THEN '{}'
			WHEN c.min IS NOT NULL THEN pg_catalog.format('{"min": %s, "max": %s}', c.min, c.max) END,
		CASE WHEN c.is_boolean THEN 'true'
			ELSE COALESCE(c.levels OPERATOR(pg_catalog.->) 0, c.middle)::pg_catalog.text END,
		CASE WHEN c.is_boolean OR c.min IS NOT NULL THEN 1 ELSE pg_catalog.json_array_length(c.levels) END,
		COALESCE(c.name OPERATOR(pg_catalog.=) label::pg_catalog.text, false),
		CASE WHEN c.kind OPERATOR(pg_catalog.=) 'id' THEN 'an id is no feature'
			WHEN c.kind OPERATOR(pg_catalog.=) 'number' THEN '{"min": ..., "max": ...}, or of a code {"levels": [...]}'
			WHEN c.kind OPERATOR(pg_catalog.=) 'time' THEN '{"min": "...", "max": "..."}'
			WHEN c.kind OPERATOR(pg_catalog.=) 'category' THEN '{"levels": [...]}'
			ELSE 'its type cannot be a feature' END,
		-- of a label that is a number
		CASE WHEN c.levels IS NULL AND c.kind OPERATOR(pg_catalog.=) ANY (ARRAY['id', 'number']) THEN
			pg_catalog.format('"target": {"min": %s, "max": %s}', COALESCE(c.min::pg_catalog.text, 'your_min'),
				COALESCE(c.max::pg_catalog.text, 'your_max')) END
	FROM (
		SELECT e.place, e.c OPERATOR(pg_catalog.->>) 'name' AS name,
			e.c OPERATOR(pg_catalog.->>) 'kind' AS kind, t.is_boolean,
			e.c OPERATOR(pg_catalog.->) 'levels' AS listed,
			CASE WHEN t.is_boolean THEN '["false", "true"]' ELSE COALESCE(e.c OPERATOR(pg_catalog.->) 'levels', (
				SELECT pg_catalog.json_agg(l.enumlabel ORDER BY l.enumsortorder)
				FROM pg_catalog.pg_enum l WHERE l.enumtypid OPERATOR(pg_catalog.=) t.type)) END AS levels,
			e.c OPERATOR(pg_catalog.->) 'min' AS min, e.c OPERATOR(pg_catalog.->) 'max' AS max,
			e.c OPERATOR(pg_catalog.->) 'middle' AS middle
		FROM pg_catalog.json_array_elements(told OPERATOR(pg_catalog.->) 'columns') WITH ORDINALITY AS e(c, place)
		CROSS JOIN LATERAL (SELECT (e.c OPERATOR(pg_catalog.->>) 'type')::pg_catalog.oid AS type,
			e.c OPERATOR(pg_catalog.->>) 'type' OPERATOR(pg_catalog.=) '16' AS is_boolean) t) c $$;
COMMENT ON FUNCTION privpred._plan_columns(json, name) IS
'columns that _plan_table() found: how create_model would be told of them, and an example; for plan()';

CREATE FUNCTION privpred._plan_figures(n bigint, features int, classes int, epsilon float8, delta float8,
	answers bigint, accuracy float8, learner text, baseline float8, rows_per_unit int, protects_labels boolean,
	OUT mechanism text, OUT created_as text, OUT charge_kind text, OUT why text, OUT rows_needed bigint,
	OUT expected float8, OUT per_answer numeric, OUT total numeric, OUT total_delta float8,
	OUT answers_bought bigint, OUT model_epsilon text, OUT taught_by text, OUT teachers bigint, OUT options text,
	OUT unstable bigint, OUT stream_delta text, OUT labels bigint, OUT budget text, OUT needs_size boolean,
	OUT needs_rows boolean, OUT by_theorem boolean, OUT preference float8, OUT virtue text, OUT grounds text,
	OUT lower_bound text, OUT asked_by text, OUT numeric_labels boolean)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_plan_figures' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 14;
COMMENT ON FUNCTION privpred._plan_figures(bigint, int, int, float8, float8, bigint, float8, text, float8, int, boolean) IS
'what every mechanism would reach with declared numbers, and its parameters; for plan()';

CREATE FUNCTION privpred._plan(n bigint, features int, classes int, epsilon float8, delta float8, answers bigint,
	accuracy float8, relation regclass, table_name text, label name, learner text, baseline float8, role regrole, OUT rank int,
	OUT mechanism text, OUT recommended boolean, OUT feasible boolean, OUT why text, OUT rows_needed bigint,
	OUT expected_accuracy float8, OUT expected_error float8, OUT per_answer_epsilon numeric,
	OUT total_epsilon numeric, OUT total_delta float8, OUT answers_bought bigint, OUT charged text,
	OUT parameters text, OUT statements text, OUT grounds text, OUT lower_bound text, OUT advice text)
RETURNS SETOF record LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100000 ROWS 14
SET search_path TO pg_catalog, pg_temp SET extra_float_digits TO 1 AS $$
DECLARE
	told pg_catalog.json := privpred._plan_table(relation, label);
	is_protected pg_catalog.bool := COALESCE((told OPERATOR(pg_catalog.->>) 'protected')::pg_catalog.bool, false);
	has_unit pg_catalog.bool := (told OPERATOR(pg_catalog.->>) 'has_unit')::pg_catalog.bool;
	one_row pg_catalog.bool := COALESCE((told OPERATOR(pg_catalog.->>) 'one_row_a_unit')::pg_catalog.bool, has_unit);
	declared_units pg_catalog.int8 := (told OPERATOR(pg_catalog.->>) 'declared_units')::pg_catalog.int8;
	max_rows pg_catalog.int4 := (told OPERATOR(pg_catalog.->>) 'max_rows_per_unit')::pg_catalog.int4;
	labels_only pg_catalog.bool := COALESCE((told OPERATOR(pg_catalog.->>) 'protects_labels')::pg_catalog.bool, false);
	prefix pg_catalog.text := COALESCE(told OPERATOR(pg_catalog.->>) 'name', 'my');
	-- what is not declared is assumed, and the advice says so
	units pg_catalog.int8 := COALESCE(n, declared_units);
	asked pg_catalog.int8 := COALESCE(answers, 1);
	rows_per_unit pg_catalog.int4 := CASE WHEN one_row THEN 1 ELSE COALESCE(max_rows, 1) END;
	plain pg_catalog.float8 := COALESCE(accuracy, GREATEST(0.85, baseline OPERATOR(pg_catalog.+)
		(0.25 OPERATOR(pg_catalog.*) (1 OPERATOR(pg_catalog.-) baseline))));
	col record;	-- all columns but the label
	target record;	-- the label
	m record;	-- a mechanism
	guess pg_catalog.float8;
	is_number pg_catalog.bool;	-- the label
	chosen pg_catalog.text;
	options pg_catalog.text;
	price pg_catalog.text;
	other_ids pg_catalog.text := told OPERATOR(pg_catalog.->>) 'other_ids';
	missing pg_catalog.text;
	gaps pg_catalog.text;
	class_list pg_catalog.text;
	protection pg_catalog.text;
	model pg_catalog.text;
	student pg_catalog.text;
	rho pg_catalog.float8;	-- what the budget pays for, at least
	bent pg_catalog.text;	-- features with cuts, where these help
	undescribed record;	-- columns without a declaration
BEGIN
	SELECT '{' OPERATOR(pg_catalog.||) pg_catalog.string_agg(pg_catalog.format('%s: %s', pg_catalog.to_json(c.column_name),
			c.declaration), ', ' ORDER BY c.place) FILTER (WHERE c.declaration IS NOT NULL)
			OPERATOR(pg_catalog.||) '}' AS features,
		'{' OPERATOR(pg_catalog.||) pg_catalog.string_agg(pg_catalog.format('%s: %s', pg_catalog.to_json(c.column_name),
			c.example), ', ' ORDER BY c.place) FILTER (WHERE c.declaration IS NOT NULL)
			OPERATOR(pg_catalog.||) '}' AS example,
		-- in a comment, which a line break in a name would end
		pg_catalog.string_agg(pg_catalog.format(e'--   %s: %s\n', pg_catalog.to_json(c.column_name), c.asks), ''
			ORDER BY c.place) FILTER (WHERE c.declaration IS NULL) AS left_out,
		pg_catalog.sum(c.width)::pg_catalog.int4 AS width,
		'{' OPERATOR(pg_catalog.||) pg_catalog.string_agg(pg_catalog.format('%s: %s', pg_catalog.to_json(c.column_name),
			b.declaration), ', ' ORDER BY c.place) FILTER (WHERE c.declaration IS NOT NULL)
			OPERATOR(pg_catalog.||) '}' AS bent,
		pg_catalog.count(*) FILTER (WHERE b.declaration OPERATOR(pg_catalog.<>) c.declaration) AS bends
	INTO col FROM privpred._plan_columns(told, label) c CROSS JOIN LATERAL (SELECT c.declaration::pg_catalog.json AS d) j
		-- cuts of dates lie on whole days
		CROSS JOIN LATERAL (SELECT CASE WHEN pg_catalog.json_typeof(j.d OPERATOR(pg_catalog.->) 'max') OPERATOR(pg_catalog.=) 'string'
				AND (j.d OPERATOR(pg_catalog.->>) 'max') OPERATOR(pg_catalog.!~) 'T'
			THEN ((j.d OPERATOR(pg_catalog.->>) 'max')::pg_catalog.date OPERATOR(pg_catalog.-)
				(j.d OPERATOR(pg_catalog.->>) 'min')::pg_catalog.date) OPERATOR(pg_catalog.<) 16 ELSE false END AS is_narrow) n
		CROSS JOIN LATERAL (SELECT CASE WHEN n.is_narrow THEN c.declaration
			ELSE pg_catalog.regexp_replace(c.declaration, '("max": [^{}]+)}', '\1, "cuts": 16}') END AS declaration) b
	WHERE NOT c.is_label;
	SELECT c.column_name, c.levels, c.target INTO target FROM privpred._plan_columns(told, label) c WHERE c.is_label;
	is_number := target.target IS NOT NULL AND classes IS NULL;
	classes := COALESCE(classes, pg_catalog.json_array_length(target.levels), 2);
	guess := 1 OPERATOR(pg_catalog./) GREATEST(classes, 1)::pg_catalog.float8;

	-- what neither the caller nor the catalog tells, and somebody must fill in: statements fail until it is
	missing := pg_catalog.concat_ws(', ', CASE WHEN target.column_name IS NULL THEN 'label' END,
		CASE WHEN answers IS NULL THEN 'answers' END, CASE WHEN role IS NULL THEN 'role' END);
	IF told IS NOT NULL AND missing OPERATOR(pg_catalog.<>) '' THEN
		RAISE NOTICE 'the statements are not complete without %', missing
			USING HINT := 'Call privpred.plan with label => the column that is to be predicted, answers => how many questions will be asked, and role => who will ask them.';
	END IF;
	gaps := CASE WHEN told IS NULL THEN
		e'-- replace your_table, your_label, your_classes, your_column and your_role, or call privpred.plan with relation => ''table''\n'
	ELSE pg_catalog.concat(
		CASE WHEN NOT has_unit THEN
			e'-- replace your_unit by the column that says whose row it is: the table has no primary key\n'
		WHEN other_ids IS NOT NULL THEN pg_catalog.format(
			e'-- replace your_unit by the column that says whose row it is: perhaps %s, or the primary key if there is one row per person\n',
			pg_catalog.translate(other_ids, e'\n\r', '  ')) END,
		CASE WHEN target.column_name IS NULL THEN
			e'-- replace your_label and your_classes, or call privpred.plan with label => the column that is to be predicted\n'
		WHEN is_number AND pg_catalog.strpos(target.target, 'your_min') OPERATOR(pg_catalog.>) 0 THEN
			e'-- replace your_min and your_max by the bounds of the label, which the table does not tell\n'
		WHEN target.levels IS NULL AND NOT is_number THEN
			e'-- replace your_classes, as in ARRAY[''no'', ''yes'']: the table does not tell them (an enum or CHECK (... IN (...)) would)\n' END,
		CASE WHEN role IS NULL THEN
			e'-- replace your_role by the role that will ask, or call privpred.plan with role => ''name''\n' END,
		e'-- not used, because the table does not tell what create_model has to be told of them (add to features what you know):\n'
			OPERATOR(pg_catalog.||) col.left_out) END;
	-- Cuts help where sqrt(2 (width + 1) / rho) / units * sqrt(outputs) is below 0.08, a description where units are 50 sigma.
	rho := CASE WHEN delta OPERATOR(pg_catalog.>) 0 THEN (pg_catalog.sqrt(epsilon OPERATOR(pg_catalog.-) pg_catalog.ln(delta))
		OPERATOR(pg_catalog.-) pg_catalog.sqrt(OPERATOR(pg_catalog.-) pg_catalog.ln(delta))) OPERATOR(pg_catalog.^) 2 END;
	bent := CASE WHEN pg_catalog.sqrt(2 OPERATOR(pg_catalog.*) (col.width OPERATOR(pg_catalog.+) 1 OPERATOR(pg_catalog.+)
			(15 OPERATOR(pg_catalog.*) col.bends))
			OPERATOR(pg_catalog./) rho) OPERATOR(pg_catalog.*) pg_catalog.sqrt(CASE WHEN classes OPERATOR(pg_catalog.>) 2 THEN classes ELSE 1 END::pg_catalog.float8)
			OPERATOR(pg_catalog.<) (0.08 OPERATOR(pg_catalog.*) units)
		THEN col.bent END;
	SELECT pg_catalog.array_agg(c.column_name ORDER BY c.place)::pg_catalog.text AS names, pg_catalog.count(*) AS number INTO undescribed
		FROM privpred._plan_columns(told, label) c WHERE NOT c.is_label AND c.declaration IS NULL;
	gaps := pg_catalog.concat(gaps, CASE WHEN undescribed.number OPERATOR(pg_catalog.>) 0 AND (units OPERATOR(pg_catalog.^) 2) OPERATOR(pg_catalog.*) rho
			OPERATOR(pg_catalog.>) (25000 OPERATOR(pg_catalog.*) undescribed.number) AND pg_catalog.concat(table_name, undescribed.names) OPERATOR(pg_catalog.!~) e'[\n\r]' THEN
		pg_catalog.format(e'-- or have bounds, cuts and levels found, before anybody has a budget: everybody pays a tenth of it, and %s is left for gradient\n'
			'-- SELECT privpred.describe(%L, columns => %L, epsilon => %s, delta => %s)\n',
			pg_catalog.round((0.94 OPERATOR(pg_catalog.*) epsilon)::pg_catalog.numeric, 3), table_name, undescribed.names,
			pg_catalog.round((0.27 OPERATOR(pg_catalog.*) epsilon)::pg_catalog.numeric, 3), delta) END);
	class_list := COALESCE('ARRAY[' OPERATOR(pg_catalog.||) (
		SELECT pg_catalog.string_agg(pg_catalog.quote_literal(l.level), ',' ORDER BY l.place)
		FROM pg_catalog.json_array_elements_text(target.levels) WITH ORDINALITY AS l(level, place))
		OPERATOR(pg_catalog.||) ']', 'your_classes');

	rank := 0;
	FOR m IN
		SELECT f.*, x.feasible, pg_catalog.lead(CASE WHEN x.feasible THEN f.mechanism END) OVER best AS next,
			pg_catalog.lead(f.expected) OVER best AS next_expected
		FROM privpred._plan_figures(units, COALESCE(features, col.width, 10), classes, epsilon, delta, asked, plain,
			learner, baseline, rows_per_unit, labels_only) f
		CROSS JOIN LATERAL (
			SELECT f.why IS NULL AND (f.numeric_labels OR NOT is_number)
				AND CASE WHEN units IS NULL THEN f.rows_needed IS NOT NULL
				ELSE f.charge_kind OPERATOR(pg_catalog.=) 'once'
					OR f.answers_bought OPERATOR(pg_catalog.>=) asked END AS feasible,
				-- without a size, fewer rows are better; of numbers, one price for many answers
				CASE WHEN is_number THEN CASE WHEN (f.charge_kind OPERATOR(pg_catalog.=) 'once') OPERATOR(pg_catalog.=)
					(asked OPERATOR(pg_catalog.>) 20) THEN 1 ELSE 0 END
				ELSE pg_catalog.round((COALESCE(f.expected, 1 OPERATOR(pg_catalog.-)
					(pg_catalog.ln(f.rows_needed::pg_catalog.float8) OPERATOR(pg_catalog./) 100), 0)
					OPERATOR(pg_catalog.+) f.preference)::pg_catalog.numeric, 9) END AS merit) x
		WINDOW best AS (ORDER BY x.feasible DESC, x.merit DESC, f.mechanism)
		ORDER BY x.feasible DESC, x.merit DESC, f.mechanism
	LOOP
		rank := rank OPERATOR(pg_catalog.+) 1;
		IF is_number THEN	-- accuracies are shares of right classes
			m.expected := NULL;
			m.next_expected := NULL;
			m.rows_needed := NULL;
			m.next := NULL;
			m.model_epsilon := CASE WHEN m.numeric_labels THEN m.model_epsilon END;
			m.options := COALESCE(pg_catalog.regexp_replace(m.options, '}$', ', '), '{')
				OPERATOR(pg_catalog.||) target.target OPERATOR(pg_catalog.||) '}';
			m.asked_by := 'private_score';
		END IF;
		mechanism := m.mechanism;
		feasible := m.feasible;
		-- half of what a plain model gains over a guess, and some of what it gains over a baseline
		recommended := rank OPERATOR(pg_catalog.=) 1 AND feasible AND (m.expected IS NULL
			OR (m.expected OPERATOR(pg_catalog.>) (guess OPERATOR(pg_catalog.+)
					(0.5 OPERATOR(pg_catalog.*) (plain OPERATOR(pg_catalog.-) guess)))
				AND (baseline IS NULL OR m.expected OPERATOR(pg_catalog.>) (baseline OPERATOR(pg_catalog.+)
					(0.05 OPERATOR(pg_catalog.*) (plain OPERATOR(pg_catalog.-) baseline))))));
		why := CASE WHEN is_number AND NOT m.numeric_labels THEN
				'learns classes, and the label is a number: declare bins of it by options => ''{"bins": [...]}'''
			WHEN m.why IS NOT NULL THEN m.why
			WHEN is_number AND feasible THEN 'learns numbers, of which no accuracy is foretold'
			WHEN units IS NULL AND feasible THEN 'reaches the target from rows_needed on'
			WHEN units IS NOT NULL AND m.expected IS NULL THEN
				pg_catalog.format('gives scores; it counts on %s or more teachers that agree', m.teachers)
			WHEN units IS NOT NULL AND NOT feasible THEN pg_catalog.format(
				'would end after about %s answers, as teachers do not agree enough', m.answers_bought)
			WHEN m.expected OPERATOR(pg_catalog.>=) GREATEST(plain OPERATOR(pg_catalog.-) 0.02, guess)
				THEN 'reaches the target'
			WHEN m.rows_needed IS NULL THEN 'does not reach the target with any number of rows'
			WHEN m.rows_needed OPERATOR(pg_catalog.<=) units THEN 'stays below the target on average'
			ELSE pg_catalog.format(CASE WHEN m.by_theorem THEN 'stays below the target; its theorem asks for %s rows'
				ELSE 'stays below the target; %s rows would do' END, m.rows_needed) END;
		rows_needed := m.rows_needed;
		expected_accuracy := pg_catalog.round(m.expected::pg_catalog.numeric, 4);
		expected_error := 1 OPERATOR(pg_catalog.-) pg_catalog.round(m.expected::pg_catalog.numeric, 4);
		per_answer_epsilon := m.per_answer;
		total_epsilon := m.total;
		total_delta := m.total_delta;
		answers_bought := m.answers_bought;
		charged := CASE WHEN m.model_epsilon IS NOT NULL THEN CASE
			WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once' THEN 'once, then any number of answers'
			ELSE pg_catalog.replace(m.charge_kind, '_', ' ') END END;
		grounds := m.grounds;
		lower_bound := m.lower_bound;

		-- NULL if there is nothing to create
		chosen := pg_catalog.format('mechanism => %L%s, epsilon => ', m.created_as,
				CASE WHEN m.taught_by IS NOT NULL THEN
					pg_catalog.format(', learner => %L, teachers => %s', m.taught_by, m.teachers) END);
		options := COALESCE(', options => ' OPERATOR(pg_catalog.||) pg_catalog.quote_literal(m.options), '');
		parameters := chosen OPERATOR(pg_catalog.||) m.model_epsilon OPERATOR(pg_catalog.||) options;
		-- the price of an answer depends on how many there will be
		price := CASE WHEN told IS NOT NULL AND answers IS NULL AND m.charge_kind OPERATOR(pg_catalog.<>) 'once'
			THEN 'your_epsilon' ELSE m.model_epsilon END;
		-- only what is not declared yet
		protection := pg_catalog.concat(
			CASE WHEN units IS NOT NULL AND (NOT is_protected OR (m.needs_size AND declared_units IS NULL)) THEN
				pg_catalog.format(', declared_units => %s', units) END,
			CASE WHEN m.needs_rows AND NOT one_row AND max_rows IS NULL THEN
				pg_catalog.format(', max_rows_per_unit => %s', rows_per_unit) END);
		model := pg_catalog.concat(prefix, '_', m.created_as);
		student := CASE WHEN m.labels IS NOT NULL THEN pg_catalog.concat(prefix, '_student') END;
		statements := CASE WHEN parameters IS NOT NULL THEN pg_catalog.concat(
			CASE WHEN price OPERATOR(pg_catalog.=) 'your_epsilon' THEN pg_catalog.format(
				e'-- replace your_epsilon (%s pays for one answer), or call privpred.plan with answers => how many\n',
				m.model_epsilon) END, gaps,
			CASE WHEN NOT is_protected OR protection OPERATOR(pg_catalog.<>) '' THEN
				pg_catalog.concat('SELECT privpred.protect(', pg_catalog.quote_literal(table_name),
					', unit => ' OPERATOR(pg_catalog.||) pg_catalog.quote_literal(CASE WHEN has_unit AND other_ids IS NULL
						THEN told OPERATOR(pg_catalog.->>) 'unit' WHEN told IS NOT NULL THEN 'your_unit' END),
					CASE WHEN labels_only THEN ', protects => ''labels''' END, protection, e');\n') END,
			pg_catalog.format(
				e'SELECT privpred.create_model(%L, %L,\n  label => %L, %sfeatures => %L,\n  %s);\n'
				'SELECT privpred.grant_budget(%L, %L, %s);\n', model, table_name,
				COALESCE(target.column_name, 'your_label'),
				CASE WHEN NOT is_number THEN pg_catalog.format(e'classes => %s,\n  ', class_list) END,
				COALESCE(CASE WHEN m.created_as OPERATOR(pg_catalog.=) 'gradient' THEN bent END, col.features, '{"your_column": {"min": 0, "max": 100}}'), pg_catalog.concat(chosen, price, options),
				COALESCE(role::pg_catalog.text, 'your_role'), table_name, m.budget),
			CASE WHEN m.unstable IS NOT NULL THEN pg_catalog.format(
				e'SELECT privpred.open_stream(%L, unstable => %s, epsilon => %s, delta => %s);\n',
				model, m.unstable, price, m.stream_delta) END,
			CASE WHEN student IS NOT NULL THEN pg_catalog.format(
				e'-- replace your_public_table: unlabelled rows that may be seen by all\n'
				'SELECT privpred.distill(%L, %L, ''your_public_table'', labels => %s);\n', student, model, m.labels) END,
			pg_catalog.format('SELECT %s(%L, %L::jsonb);', m.asked_by, COALESCE(student, model),
				COALESCE(col.example, '{"your_column": 50}'))) END;

		advice := CASE WHEN recommended THEN pg_catalog.concat('Take ', mechanism,
				' with learner ' OPERATOR(pg_catalog.||) m.taught_by, ', because ', COALESCE(m.virtue, CASE
					WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once'
						THEN 'it is paid for once and then answers any number of questions'
					WHEN m.taught_by OPERATOR(pg_catalog.=) 'boost' THEN
						'few answers leave each a large epsilon, and boosted trees make the most of mixed columns'
					ELSE 'few answers leave each a large epsilon' END),
				'; it is expected to be right ' OPERATOR(pg_catalog.||) pg_catalog.round(100 OPERATOR(pg_catalog.*)
					m.expected::pg_catalog.numeric, 1)::pg_catalog.text OPERATOR(pg_catalog.||) ' times in 100',
				', the next best (' OPERATOR(pg_catalog.||) m.next OPERATOR(pg_catalog.||) ') ' OPERATOR(pg_catalog.||)
					pg_catalog.round(100 OPERATOR(pg_catalog.*) m.next_expected::pg_catalog.numeric, 1)::pg_catalog.text
					OPERATOR(pg_catalog.||) ' times', '.',
				CASE WHEN m.taught_by OPERATOR(pg_catalog.=) 'boost' THEN
					' Learner boost needs XGBoost (Debian: libxgboost0); without it write learner => ''logistic''.' END,
				CASE WHEN delta OPERATOR(pg_catalog.=) 0 AND asked OPERATOR(pg_catalog.>) 100
					AND mechanism OPERATOR(pg_catalog.<>) 'threshold' THEN
					' With a delta, such as 1e-6, so many answers cost much less.' END,
				CASE WHEN answers IS NULL THEN ' It is for one answer; pass answers => if there will be more.' END,
				CASE WHEN accuracy IS NULL AND NOT is_number THEN pg_catalog.format(' All of it assumes that plain logistic regression '
					'would be right %s times in 100; pass accuracy => if you know better.',
					pg_catalog.round(100 OPERATOR(pg_catalog.*) plain::pg_catalog.numeric)) END,
				CASE WHEN features IS NULL AND col.width IS NULL THEN
					' It also assumes 10 features; pass features => if there are more or fewer.' END,
				CASE WHEN units IS NULL THEN ' Pass n => for expected accuracies.' END)
			WHEN rank OPERATOR(pg_catalog.=) 1 THEN pg_catalog.format(
				'None is %s: raise epsilon, give a delta, ask for fewer answers, or gather more rows.',
				CASE WHEN baseline IS NULL THEN 'of use here'
					ELSE 'expected to be worth more than always the commonest class' END) END;
		RETURN NEXT;
	END LOOP;
END $$;
COMMENT ON FUNCTION privpred._plan(bigint, int, int, float8, float8, bigint, float8, regclass, text, name, text, float8, regrole) IS
'what plan() returns; table_name is the relation as its caller would write it';

-- The body is bound here and now, so that it needs no search_path of its own: the table's name is printed by the caller's.
CREATE FUNCTION privpred.plan(n bigint DEFAULT NULL, features int DEFAULT NULL, classes int DEFAULT NULL,
	epsilon float8 DEFAULT 1, delta float8 DEFAULT 0, answers bigint DEFAULT NULL,
	accuracy float8 DEFAULT NULL, relation regclass DEFAULT NULL, label name DEFAULT NULL,
	learner text DEFAULT NULL, baseline float8 DEFAULT NULL, role regrole DEFAULT NULL, OUT rank int, OUT mechanism text, OUT recommended boolean,
	OUT feasible boolean, OUT why text, OUT rows_needed bigint, OUT expected_accuracy float8,
	OUT expected_error float8, OUT per_answer_epsilon numeric, OUT total_epsilon numeric,
	OUT total_delta float8, OUT answers_bought bigint, OUT charged text, OUT parameters text,
	OUT statements text, OUT grounds text, OUT lower_bound text, OUT advice text)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL UNSAFE COST 100000 ROWS 14
BEGIN ATOMIC
	SELECT p.* FROM privpred._plan(plan.n, plan.features, plan.classes, plan.epsilon, plan.delta, plan.answers, plan.accuracy,
		plan.relation, COALESCE(plan.relation::pg_catalog.text, 'your_table'), plan.label, plan.learner, plan.baseline, plan.role) p;
END;
COMMENT ON FUNCTION privpred.plan(bigint, int, int, float8, float8, bigint, float8, regclass, name, text, float8, regrole) IS
'anyone: which mechanism suits n units, so many features and classes, a budget and a number of answers; best first, with expected accuracy, rows needed and statements to paste; looks at declarations, never at rows; costs nothing';

----------------------------------------------------------------------
-- Functions for owners
----------------------------------------------------------------------

CREATE FUNCTION privpred.protect(relation regclass, unit name DEFAULT NULL, protects text DEFAULT 'rows',
	declared_units bigint DEFAULT NULL, max_rows_per_unit int DEFAULT NULL,
	epsilon_cap float8 DEFAULT NULL, delta_cap float8 DEFAULT NULL, force boolean DEFAULT false)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.protect(regclass, name, text, bigint, int, float8, float8, boolean) IS
'owner: declares that a table''s rows are protected, and which column says whose row it is (default: as before, or the primary key); sizes and caps may be declared again later, and a delta_cap that is left out stays as it was; the unit may change until something is spent; force sets a delta_cap above 0.01, which is refused otherwise';

CREATE FUNCTION privpred.unprotect(relation regclass)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_unprotect' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.unprotect(regclass) IS
'owner: ends protection; refused while models or budgets exist; what was spent is remembered';

CREATE FUNCTION privpred.create_model(name text, relation regclass, label name, features json,
	classes text[] DEFAULT NULL, mechanism text DEFAULT 'vote', learner text DEFAULT 'logistic',
	teachers int DEFAULT 100, epsilon float8 DEFAULT 0.1, options jsonb DEFAULT '{}', holdout float8 DEFAULT 0)
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_create_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.create_model(text, regclass, name, json, text[], text, text, int, float8, jsonb, float8) IS
'owner: trains a model on a protected table and returns its public card; bounds, levels and classes are declared, epsilon is the price of one answer, and holdout the share of the units that never train';

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
'anyone with a budget, or the owner: labels public rows (all, or the first so many) with a model, pays for the labels, and trains a student on them whose answers are free to whoever has paid for the labels once';

CREATE FUNCTION privpred.export_model(name text)
RETURNS json AS 'MODULE_PATHNAME', 'privpred_export_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.export_model(text) IS
'owner: a released model (a student, or any model that is charged once) as JSON, after every budget on its relation has been charged for it';

CREATE FUNCTION privpred.describe(relation regclass, columns name[] DEFAULT NULL, epsilon float8 DEFAULT 0.3,
	delta float8 DEFAULT 1e-6, cuts int DEFAULT 16, given json DEFAULT '{}')
RETURNS json AS 'MODULE_PATHNAME', 'privpred_describe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.describe(regclass, name[], float8, float8, int, json) IS
'owner: bounds, cuts and levels of a protected table''s columns, by noisy histograms, as create_model takes them, after every budget on the table has been charged for it; of columns that are given nothing is read';

CREATE FUNCTION privpred.describe_cost(relation regclass, columns name[] DEFAULT NULL, epsilon float8 DEFAULT 0.3,
	delta float8 DEFAULT 1e-6, given json DEFAULT '{}', OUT histograms int, OUT sigma float8, OUT smallest_cell bigint,
	OUT smallest_level bigint, OUT epsilon float8, OUT delta float8)
AS 'MODULE_PATHNAME', 'privpred_describe_cost' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.describe_cost(regclass, name[], float8, float8, json) IS
'what describe() would cost, and how many units a cell of a number and a level must have, about, to be seen through its noise; reads no row';

CREATE FUNCTION privpred.row_cells(seed bigint, "row" record)
RETURNS bytea AS 'MODULE_PATHNAME', 'privpred_row_cells' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.row_cells(bigint, record) IS
'internal: the cells of a row''s values in describe(), behind a hash of them';

CREATE FUNCTION privpred.lesser_row(a bytea, b bytea)
RETURNS bytea AS 'MODULE_PATHNAME', 'privpred_lesser_row' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.lesser_row(bytea, bytea) IS
'internal: step of least_row()';

CREATE AGGREGATE privpred.least_row(bytea) (
	SFUNC = privpred.lesser_row, STYPE = bytea, COMBINEFUNC = privpred.lesser_row, PARALLEL = SAFE);
COMMENT ON AGGREGATE privpred.least_row(bytea) IS
'internal: the row that speaks for a unit in describe()';

CREATE FUNCTION privpred.evaluate(model text, test regclass DEFAULT NULL, OUT rows bigint,
	OUT private_accuracy float8, OUT majority_accuracy float8, OUT baseline_accuracy float8,
	OUT approximate_accuracy float8, OUT exponential_accuracy float8, OUT gaussian_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT plain_rmse float8, OUT baseline_rmse float8,
	OUT exact boolean, OUT confusion jsonb, OUT accuracy_by_epsilon jsonb, OUT margin float8)
AS 'MODULE_PATHNAME', 'privpred_evaluate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.evaluate(text, regclass) IS
'owner: accuracy on labelled rows, or without a table on those of the units that the model holds out: the expectation of the private answers (to accounts without delta and, as approximate_accuracy, with delta), the teachers'' plain majority, always the most common class, and what accounts with delta would get by either noise of mechanism vote; for labels that are numbers the root mean squared errors of private answers (likewise), of answers without noise, and of always their mean; whether the expectations are exact or estimated by drawing, from a sample of the rows if there are many, and by how much the accuracies may be off, 99 times in 100; the tables of confusion_matrix() and accuracy_curve() as JSON; not private, costs nothing';

CREATE FUNCTION privpred.confusion_matrix(model text, test regclass DEFAULT NULL, OUT class text, OUT answer text,
	OUT rows float8, OUT share float8, OUT approximate_rows float8, OUT approximate_share float8)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_confusion_matrix'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.confusion_matrix(text, regclass) IS
'owner: of labelled rows of each class (those of a table, or of the units held out), how many are expected to be answered by each class (NULL: unstable answers of a stream), and what share of the class that is; to accounts without and with delta; not private, costs nothing';

CREATE FUNCTION privpred.accuracy_curve(model text, test regclass DEFAULT NULL, epsilons float8[] DEFAULT NULL, OUT epsilon numeric,
	OUT own boolean, OUT private_accuracy float8, OUT approximate_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT remark text)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_accuracy_curve'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.accuracy_curve(text, regclass, float8[]) IS
'owner: the expected accuracy on labelled rows (those of a table, or of the units held out) at other epsilons per answer, where the same training serves them, and at the model''s own; NULL where a model would have to be trained anew, as the remark says; not private, costs nothing';

CREATE FUNCTION privpred.release_accuracy(model text, epsilon float8, OUT accuracy float8, OUT standard_error float8, OUT units bigint)
AS 'MODULE_PATHNAME', 'privpred_release_accuracy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.release_accuracy(text, float8) IS
'owner: the expected accuracy of a model''s private answers (to accounts without delta) on so many of the units that it holds out, with exact noise for epsilon, after every budget on its relation has been charged for it, and for the model itself if that is charged once; privpred.models then shows it to everybody';

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

CREATE VIEW privpred.models WITH (security_barrier) AS
SELECT m.name, r.relation, m.mechanism, m.learner, m.version, m.status, m.classes, m.features,
	m.teachers, pg_catalog.trim_scale(m.epsilon_units OPERATOR(pg_catalog./) 1000000000000.0) AS epsilon,
	m.charge_kind, m.created_at, m.created_by, m.label, m.options, m.trained_at,
	m.charge, m.pure_charge, m.holdout, m.accuracy AS released_accuracy, m.accuracy_error AS released_accuracy_error,
	m.accuracy_at AS released_accuracy_at
FROM privpred.model m
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) m.relation_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b
		WHERE b.relation::pg_catalog.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');
COMMENT ON VIEW privpred.models IS
'models of the tables you own and of those you hold a budget for';
COMMENT ON COLUMN privpred.models.name IS 'what private_predict is asked for';
COMMENT ON COLUMN privpred.models.relation IS 'the protected table that it was trained on';
COMMENT ON COLUMN privpred.models.mechanism IS 'how answers are drawn';
COMMENT ON COLUMN privpred.models.learner IS 'how its teachers are trained; NULL: the mechanism learns by itself';
COMMENT ON COLUMN privpred.models.version IS '1, and one more after each retrain';
COMMENT ON COLUMN privpred.models.status IS 'ready';
COMMENT ON COLUMN privpred.models.classes IS 'declared classes of the label, in order; empty: the label is a number';
COMMENT ON COLUMN privpred.models.features IS 'declared features in order, with bounds and levels';
COMMENT ON COLUMN privpred.models.teachers IS 'predictors that vote; 0: none';
COMMENT ON COLUMN privpred.models.epsilon IS 'price of an answer, of an unstable answer of a stream, or of the whole model; see charge_kind';
COMMENT ON COLUMN privpred.models.charge_kind IS 'per_answer, per_stream (for unstable answers, when the stream is opened) or once (then any number of answers)';
COMMENT ON COLUMN privpred.models.created_at IS 'when it was made';
COMMENT ON COLUMN privpred.models.created_by IS 'who made it';
COMMENT ON COLUMN privpred.models.label IS 'the column that is predicted';
COMMENT ON COLUMN privpred.models.options IS 'as declared';
COMMENT ON COLUMN privpred.models.trained_at IS 'when this version was trained';
COMMENT ON COLUMN privpred.models.charge IS 'of a purchase, to an account of finite order; NULL: none can pay';
COMMENT ON COLUMN privpred.models.pure_charge IS 'of a purchase, to an account of infinite order; NULL: none can pay';
COMMENT ON COLUMN privpred.models.holdout IS 'share of the units that never train, and that evaluate(model) is for; NULL: none';
COMMENT ON COLUMN privpred.models.released_accuracy IS 'a private accuracy on the hold-out that its owner released to everybody; NULL: none';
COMMENT ON COLUMN privpred.models.released_accuracy_error IS 'by how much it may be off';
COMMENT ON COLUMN privpred.models.released_accuracy_at IS 'when it was released';

CREATE VIEW privpred.descriptions WITH (security_barrier) AS
SELECT d.description_id AS id, r.relation, d.at,
	pg_catalog.trim_scale(d.epsilon_units OPERATOR(pg_catalog./) 1000000000000.0) AS epsilon, d.delta, d.charge,
	d.columns, d.features, d.null_shares, d.left_out, d.described_by
FROM privpred.description d
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) d.relation_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b
		WHERE b.relation::pg_catalog.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');
COMMENT ON VIEW privpred.descriptions IS
'descriptions of the tables you own and of those you hold a budget for; reading them is free';
COMMENT ON COLUMN privpred.descriptions.charge IS
'what every budget was charged, and those that are granted later start with; NULL if no row was read';
COMMENT ON COLUMN privpred.descriptions.null_shares IS
'noisy numbers of units with NULL, as shares of declared_units';
COMMENT ON COLUMN privpred.descriptions.left_out IS
'columns that are not in features, and why';
COMMENT ON COLUMN privpred.descriptions.id IS 'its number';
COMMENT ON COLUMN privpred.descriptions.relation IS 'the protected table';
COMMENT ON COLUMN privpred.descriptions.at IS 'when it was described';
COMMENT ON COLUMN privpred.descriptions.epsilon IS 'that it took';
COMMENT ON COLUMN privpred.descriptions.delta IS 'that it took';
COMMENT ON COLUMN privpred.descriptions.columns IS 'that were described';
COMMENT ON COLUMN privpred.descriptions.features IS 'what create_model can be told of them';
COMMENT ON COLUMN privpred.descriptions.described_by IS 'who described it';

----------------------------------------------------------------------
-- Functions for analysts: private_predict, private_score and check
----------------------------------------------------------------------

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
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features bigint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, bigint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features int[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, int[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features smallint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, smallint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features real[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, real[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

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
'one private answer, paid from the caller''s budget; a JSON object or an array of numbers, written as text; literals without a type take this form';

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
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features numeric[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, numeric[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features bigint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features bigint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features int[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features int[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features smallint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features smallint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION @extschema@.private_score(model text, features real[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, real[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
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
'one private number, paid from the caller''s budget: a score or a predicted number; a JSON object or an array of numbers, written as text; literals without a type take this form';
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
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features bigint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, bigint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features int[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, int[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features smallint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, smallint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features real[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, real[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

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
'one private answer, paid from the caller''s budget; a JSON object or an array of numbers, written as text; literals without a type take this form';

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
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features numeric[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, numeric[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features bigint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features bigint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features int[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features int[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features smallint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features smallint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[], float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.private_score(model text, features real[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, real[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
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
'one private number, paid from the caller''s budget: a score or a predicted number; a JSON object or an array of numbers, written as text; literals without a type take this form';
CREATE FUNCTION privpred.private_score(model text, features text, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, text, float8) IS
'the same, to a precision; NULL is the model''s own';

CREATE FUNCTION privpred.check(model text, features float8[], OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_array' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, float8[]) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; an array of numbers';

CREATE FUNCTION privpred.check(model text, features jsonb, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_jsonb' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, jsonb) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; features by name';

CREATE FUNCTION privpred.check(model text, features json, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_json' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, json) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; features by name';

CREATE FUNCTION privpred.check(model text, features record, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_row' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, record) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; a row whose columns are matched by name';

CREATE FUNCTION privpred.check(model text, features text, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_text' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, text) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; a JSON object or an array of numbers, written as text';

----------------------------------------------------------------------
-- Models that can be read: read_model, explain
----------------------------------------------------------------------

CREATE FUNCTION privpred.read_model(name text)
RETURNS json AS 'MODULE_PATHNAME', 'privpred_read_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.read_model(text) IS
'owner, or anyone with a budget: a released model (a student, or any model that is charged once) as JSON; who has not paid for it pays as for a first answer';

CREATE FUNCTION privpred.predictor_json(predictor privpred.predictor) RETURNS json
	AS 'MODULE_PATHNAME', 'privpred_predictor_json' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.predictor_json(privpred.predictor) IS
'a predictor as JSON: its classes, and the numbers of its members; NOT private';

-- ---------- the rules of a predictor in words ----------

CREATE FUNCTION privpred._indent(lines text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.concat('  ',
		pg_catalog.replace(pg_catalog.rtrim(lines, e'\n'), e'\n', e'\n  '), e'\n') $$;
COMMENT ON FUNCTION privpred._indent(text) IS 'lines, two spaces further to the right; for explain()';

-- tree: which one it is, from 0; of more than two classes, each tree may be for one of them.
CREATE FUNCTION privpred._explain_leaf(leaf float4[], shares boolean, tree int, classes text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE
		WHEN shares AND pg_catalog.cardinality(classes) OPERATOR(pg_catalog.=) 2
			THEN pg_catalog.format('%s (%s%%)',
				classes[CASE WHEN leaf[1] OPERATOR(pg_catalog.>) 0 THEN 2 ELSE 1 END],
				pg_catalog.round(100 OPERATOR(pg_catalog.*) (0.5::pg_catalog.float8
					OPERATOR(pg_catalog.+) pg_catalog.abs(leaf[1]::pg_catalog.float8))))
		WHEN shares THEN (
			SELECT pg_catalog.format('%s (%s%%)', classes[l.place],
				pg_catalog.round(100 OPERATOR(pg_catalog.*) l.share::pg_catalog.float8))
			FROM pg_catalog.unnest(leaf) WITH ORDINALITY l(share, place)
			ORDER BY l.share DESC, l.place LIMIT 1)
		WHEN pg_catalog.cardinality(leaf) OPERATOR(pg_catalog.=) 1
			THEN pg_catalog.format('%s for %s', leaf[1],
				classes[CASE WHEN pg_catalog.cardinality(classes) OPERATOR(pg_catalog.=) 2 THEN 2
					ELSE 1 OPERATOR(pg_catalog.+) pg_catalog.mod(tree,
						pg_catalog.cardinality(classes)) END])
		ELSE (
			SELECT pg_catalog.string_agg(pg_catalog.format('%s for %s', l.score, classes[l.place]),
				', ' ORDER BY l.place)
			FROM pg_catalog.unnest(leaf) WITH ORDINALITY l(score, place)) END $$;
COMMENT ON FUNCTION privpred._explain_leaf(float4[], boolean, int, text[]) IS
'what a leaf of a tree says; for explain()';

-- From the leaves up: node n has the nodes 2n and 2n + 1 below it.  A leaf above the bottom is
-- a node below which all leaves are the same.
CREATE FUNCTION privpred._explain_tree(member jsonb, tree int, names text[], classes text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
	outputs pg_catalog.int4 := member OPERATOR(pg_catalog.->) 'outputs';
	splits pg_catalog.jsonb := member OPERATOR(pg_catalog.#>) ARRAY['trees', tree::pg_catalog.text,
		'splits'];
	leaves pg_catalog.float4[] := ARRAY(
		SELECT l::pg_catalog.float4 FROM pg_catalog.jsonb_array_elements_text(
			member OPERATOR(pg_catalog.#>) ARRAY['trees', tree::pg_catalog.text, 'leaves']) l);
	bottom pg_catalog.int4 := pg_catalog.cardinality(leaves) OPERATOR(pg_catalog./) outputs;
	said pg_catalog.text[] := pg_catalog.array_fill(NULL::pg_catalog.text,
		ARRAY[2 OPERATOR(pg_catalog.*) bottom]);
	alike pg_catalog.text[] := said;
	first pg_catalog.int4;
	split pg_catalog.jsonb;
BEGIN
	FOR node IN REVERSE 2 OPERATOR(pg_catalog.*) bottom OPERATOR(pg_catalog.-) 1 .. 1 LOOP
		first := 2 OPERATOR(pg_catalog.*) node;
		IF node OPERATOR(pg_catalog.>=) bottom THEN
			first := (node OPERATOR(pg_catalog.-) bottom) OPERATOR(pg_catalog.*) outputs;
			alike[node] := leaves[first OPERATOR(pg_catalog.+) 1
				: first OPERATOR(pg_catalog.+) outputs]::pg_catalog.text;
			said[node] := pg_catalog.concat(privpred._explain_leaf(
				alike[node]::pg_catalog.float4[],
				(member OPERATOR(pg_catalog.->) 'shares')::pg_catalog.bool, tree, classes), e'\n');
		ELSIF alike[first] OPERATOR(pg_catalog.=) alike[first OPERATOR(pg_catalog.+) 1] THEN
			alike[node] := alike[first];
			said[node] := said[first];
		ELSE
			split := splits OPERATOR(pg_catalog.->) (node OPERATOR(pg_catalog.-) 1);
			said[node] := pg_catalog.concat('if ',
				names[(split OPERATOR(pg_catalog.->) 'feature')::pg_catalog.int4
					OPERATOR(pg_catalog.+) 1], ' < ',
				(split OPERATOR(pg_catalog.->>) 'below')::pg_catalog.float4,
				CASE WHEN split OPERATOR(pg_catalog.->>) 'missing' OPERATOR(pg_catalog.=) 'left'
					THEN ' or missing' END, e':\n', privpred._indent(said[first]), e'else:\n',
				privpred._indent(said[first OPERATOR(pg_catalog.+) 1]));
		END IF;
	END LOOP;
	RETURN said[1];
END $$;
COMMENT ON FUNCTION privpred._explain_tree(jsonb, int, text[], text[]) IS
'the rules of one tree in words; for explain()';

CREATE FUNCTION privpred._explain_member(member jsonb, names text[], classes text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE
		WHEN k.kind OPERATOR(pg_catalog.=) 'forest' THEN (
			SELECT pg_catalog.string_agg(CASE
				WHEN pg_catalog.jsonb_array_length(member OPERATOR(pg_catalog.->) 'trees')
					OPERATOR(pg_catalog.=) 1
					THEN privpred._explain_tree(member, tree, names, classes)
				ELSE pg_catalog.concat('tree ', tree OPERATOR(pg_catalog.+) 1, e':\n',
					privpred._indent(privpred._explain_tree(member, tree, names, classes))) END, ''
				ORDER BY tree)
			FROM pg_catalog.generate_series(0, pg_catalog.jsonb_array_length(
				member OPERATOR(pg_catalog.->) 'trees') OPERATOR(pg_catalog.-) 1) tree)
		WHEN k.kind OPERATOR(pg_catalog.=) 'stump' THEN pg_catalog.format(e'if %s <= %s:\n  %s\nelse:\n  %s\n',
			names[(member OPERATOR(pg_catalog.->) 'feature')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1],
			(member OPERATOR(pg_catalog.->>) 'threshold')::pg_catalog.float8,
			classes[(member OPERATOR(pg_catalog.->) 'class_below')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1],
			classes[(member OPERATOR(pg_catalog.->) 'class_above')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1])
		WHEN k.kind OPERATOR(pg_catalog.=) 'constant' THEN pg_catalog.format(e'always %s\n',
			classes[(member OPERATOR(pg_catalog.->) 'class')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1])
		WHEN k.kind OPERATOR(pg_catalog.=) 'linear' THEN e'a linear score, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'gaussian' THEN e'a naive Bayes score, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'threshold' THEN e'a walk along one feature, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'neighbours' THEN pg_catalog.format(
			e'the majority of the %s nearest of %s rows, without rules\n',
			member OPERATOR(pg_catalog.->) 'k',
			pg_catalog.jsonb_array_length(member OPERATOR(pg_catalog.->) 'rows'))
		WHEN k.kind OPERATOR(pg_catalog.=) 'sql' THEN e'a function of its own\n' END
	FROM (SELECT member OPERATOR(pg_catalog.->>) 'kind' AS kind) k $$;
COMMENT ON FUNCTION privpred._explain_member(jsonb, text[], text[]) IS
'the rules of one member of a predictor in words; for explain()';

CREATE FUNCTION privpred.explain(predictor privpred.predictor, features text[] DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1 AS $$
DECLARE
	stored pg_catalog.jsonb := privpred.predictor_json(predictor);
	width pg_catalog.int4 := stored OPERATOR(pg_catalog.->) 'width';
	classes pg_catalog.text[] := ARRAY(
		SELECT pg_catalog.jsonb_array_elements_text(stored OPERATOR(pg_catalog.->) 'classes'));
	members pg_catalog.int4 := pg_catalog.jsonb_array_length(
		stored OPERATOR(pg_catalog.->) 'members');
	said pg_catalog.text;
BEGIN
	IF pg_catalog.array_position(features, NULL) IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE := 'null_value_not_allowed',
			MESSAGE := 'names of features must not be null';
	ELSIF pg_catalog.cardinality(features) OPERATOR(pg_catalog.<>) width THEN
		RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
			MESSAGE := pg_catalog.format('there are %s names, but the predictor has %s features',
				pg_catalog.cardinality(features), width),
			HINT := 'Name every number of a row as the learner saw it; a category has one per level.';
	END IF;
	-- numbered from one, whatever the subscripts of the array are
	features := COALESCE(ARRAY(SELECT pg_catalog.unnest(features) WHERE features IS NOT NULL),
		'{}');
	IF pg_catalog.cardinality(features) OPERATOR(pg_catalog.=) 0 THEN
		features := ARRAY(SELECT pg_catalog.concat('f', i)
			FROM pg_catalog.generate_series(1, width) i);
	END IF;
	SELECT pg_catalog.string_agg(CASE WHEN members OPERATOR(pg_catalog.=) 1
		THEN privpred._explain_member(m.member, features, classes)
		ELSE pg_catalog.concat('member ', m.place, e':\n',
			privpred._indent(privpred._explain_member(m.member, features, classes))) END, ''
		ORDER BY m.place) INTO said
	FROM pg_catalog.jsonb_array_elements(stored OPERATOR(pg_catalog.->) 'members')
		WITH ORDINALITY m(member, place);
	RETURN said;
END $$;
COMMENT ON FUNCTION privpred.explain(privpred.predictor, text[]) IS
	'the rules of a predictor''s trees in words, with names for the features; NOT private';

-- ---------- the shape functions of a released model ----------

-- A row for each number that features are encoded as: whose it is, and from which value to
-- which.  A level goes from itself to itself, and so does true.
CREATE FUNCTION privpred._encoded(features jsonb, OUT place bigint, OUT column_place bigint,
	OUT feature text, OUT kind text, OUT type text, OUT low text, OUT high text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.row_number() OVER (ORDER BY f.place, e.place), f.place,
		f.spec OPERATOR(pg_catalog.->>) 'name', f.spec OPERATOR(pg_catalog.->>) 'kind',
		f.spec OPERATOR(pg_catalog.->>) 'type', e.low, e.high
	FROM pg_catalog.jsonb_array_elements(features) WITH ORDINALITY f(spec, place),
	LATERAL (
		SELECT k.place, n.knot AS low, pg_catalog.lead(n.knot) OVER (ORDER BY k.place) AS high
		FROM pg_catalog.jsonb_array_elements_text(
			pg_catalog.jsonb_build_array(f.spec OPERATOR(pg_catalog.->) 'min')
			OPERATOR(pg_catalog.||) COALESCE(f.spec OPERATOR(pg_catalog.->) 'cuts', '[]')
			OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_array(
				f.spec OPERATOR(pg_catalog.->) 'max')) WITH ORDINALITY k(knot, place),
			LATERAL (SELECT CASE WHEN f.spec OPERATOR(pg_catalog.->) 'type' IS NULL
				THEN k.knot::pg_catalog.float8::pg_catalog.text ELSE k.knot END AS knot) n
		WHERE f.spec OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'numeric'
		UNION ALL
		SELECT l.place, l.level, l.level
		FROM pg_catalog.jsonb_array_elements_text(
			CASE WHEN f.spec OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'category'
				THEN f.spec OPERATOR(pg_catalog.->) 'levels'
				WHEN f.spec OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'boolean'
				THEN '["true"]' ELSE '[]' END) WITH ORDINALITY l(level, place)) e
	WHERE e.high IS NOT NULL $$;
COMMENT ON FUNCTION privpred._encoded(jsonb) IS
'the numbers that features are encoded as, in the columns'' own units; for explain()';

-- What a linear score adds up to.  The pieces of a number add up from its least value on.
CREATE FUNCTION privpred._effects(features jsonb, weights jsonb, classes text[], unit float8,
	zero float8, noise float8, OUT class text, OUT feature text, OUT low text, OUT high text,
	OUT effect_low float8, OUT effect_high float8, OUT noise_low float8, OUT noise_high float8)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100 SET search_path TO pg_catalog, pg_temp AS $$
	WITH output AS (
		SELECT o.place, classes[o.place] AS class, o.weights
		FROM pg_catalog.jsonb_array_elements(weights) WITH ORDINALITY o(weights, place)
	), term AS (
		SELECT o.place AS output, o.class, e.place, e.column_place, e.feature, e.kind, e.low,
			e.high, unit OPERATOR(pg_catalog.*) w.weight::pg_catalog.float8 AS weight,
			pg_catalog.row_number() OVER (PARTITION BY o.place, e.column_place ORDER BY e.place)
				AS piece
		FROM output o,
			pg_catalog.jsonb_array_elements_text(o.weights) WITH ORDINALITY w(weight, place)
			LEFT JOIN privpred._encoded(features) e ON e.place OPERATOR(pg_catalog.=) w.place
	)
	SELECT r.class, r.feature, r.low, r.high, r.effect_low, r.effect_high, r.noise_low, r.noise_high
	FROM (
		-- the intercept comes first of all
		SELECT t.output, 0 AS place, t.class, NULL::pg_catalog.text AS feature,
			NULL::pg_catalog.text AS low, NULL::pg_catalog.text AS high,
			zero OPERATOR(pg_catalog.+) t.weight AS effect_low,
			zero OPERATOR(pg_catalog.+) t.weight AS effect_high,
			NULL::pg_catalog.float8 AS noise_low, NULL::pg_catalog.float8 AS noise_high
		FROM term t WHERE t.place IS NULL
		UNION ALL
		SELECT t.output, t.place, t.class, t.feature, t.low, t.high,
			COALESCE(pg_catalog.sum(t.weight) OVER before, 0),
			COALESCE(pg_catalog.sum(t.weight) OVER before, 0) OPERATOR(pg_catalog.+) t.weight,
			noise OPERATOR(pg_catalog.*) pg_catalog.sqrt(
				(t.piece OPERATOR(pg_catalog.-) 1)::pg_catalog.float8),
			noise OPERATOR(pg_catalog.*) pg_catalog.sqrt(t.piece::pg_catalog.float8)
		FROM term t WHERE t.kind OPERATOR(pg_catalog.=) 'numeric'
		WINDOW before AS (PARTITION BY t.output, t.column_place ORDER BY t.place
			ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)
		UNION ALL
		SELECT t.output, t.place, t.class, t.feature, v.level, v.level, v.effect, v.effect,
			v.noise, v.noise
		FROM term t, LATERAL (
			VALUES (t.kind, t.low, t.weight, noise),
				('boolean', 'false', 0, CASE WHEN noise IS NOT NULL THEN 0 END))
			v(kind, level, effect, noise)
		WHERE t.kind OPERATOR(pg_catalog.<>) 'numeric'
			AND t.kind OPERATOR(pg_catalog.=) v.kind) r
	ORDER BY r.output, r.place, r.low $$;
COMMENT ON FUNCTION privpred._effects(jsonb, jsonb, text[], float8, float8, float8) IS
'the effects of a linear score, feature by feature; for explain()';

-- From [0, 1] to the column's own units.
CREATE FUNCTION privpred._own_units(type text, low text, high text, x float8) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN type OPERATOR(pg_catalog.=) '' THEN (low::pg_catalog.float8 OPERATOR(pg_catalog.+)
			(x OPERATOR(pg_catalog.*) (high::pg_catalog.float8 OPERATOR(pg_catalog.-)
			low::pg_catalog.float8)))::pg_catalog.text
		WHEN type OPERATOR(pg_catalog.=) 'timestamptz' THEN (low::pg_catalog.timestamptz OPERATOR(pg_catalog.+)
			(x OPERATOR(pg_catalog.*) (high::pg_catalog.timestamptz OPERATOR(pg_catalog.-)
			low::pg_catalog.timestamptz)))::pg_catalog.text
		ELSE pg_catalog.regexp_replace((low::pg_catalog.timestamp OPERATOR(pg_catalog.+)
			(x OPERATOR(pg_catalog.*) (high::pg_catalog.timestamp OPERATOR(pg_catalog.-)
			low::pg_catalog.timestamp)))::pg_catalog.text, ' 00:00:00$', '') END $$;
COMMENT ON FUNCTION privpred._own_units(text, text, text, float8) IS
'a share of the way from one value of a column to another; for explain()';

-- Where a classifier that is no sum says a class: in all of the ranges that it lists.
CREATE FUNCTION privpred._regions(features jsonb, predictor jsonb, classes text[], OUT class text,
	OUT feature text, OUT low text, OUT high text, OUT place bigint)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 SET search_path TO pg_catalog, pg_temp AS $$
	WITH part AS (
		-- of a box, the ranges; of a cut in one column, from it on; of points, each of them
		SELECT e.place, e.feature, e.kind, e.type, e.low, e.high,
			(predictor OPERATOR(pg_catalog.->) 'inside')::pg_catalog.int4 AS label,
			CASE WHEN predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'box'
				THEN predictor OPERATOR(pg_catalog.#>>) ARRAY['low', i.i]
				ELSE predictor OPERATOR(pg_catalog.->>) 'cut' END::pg_catalog.float8 AS x_low,
			(predictor OPERATOR(pg_catalog.#>>) ARRAY['high', i.i])::pg_catalog.float8 AS x_high
		FROM privpred._encoded(features) e,
			LATERAL (SELECT (e.place OPERATOR(pg_catalog.-) 1)::pg_catalog.text AS i) i
		WHERE predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'box'
			OR (predictor OPERATOR(pg_catalog.#>>) ARRAY['weights', i.i])::pg_catalog.float8
				OPERATOR(pg_catalog.<>) 0
		UNION ALL
		SELECT l.place, e.feature, e.kind, e.type, e.low, e.high, l.label::pg_catalog.int4,
			n.x_low, n.x_high
		FROM pg_catalog.jsonb_array_elements_text(predictor OPERATOR(pg_catalog.->) 'labels')
			WITH ORDINALITY l(label, place)
		JOIN privpred._encoded(features) e ON e.place OPERATOR(pg_catalog.=) CASE
			WHEN predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'levels'
			THEN l.place ELSE 1 END,
		LATERAL (SELECT (l.place OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) d.count AS x_low,
			l.place OPERATOR(pg_catalog./) d.count AS x_high
			FROM (SELECT pg_catalog.jsonb_array_length(predictor OPERATOR(pg_catalog.->) 'labels')
				::pg_catalog.float8 AS count) d) n
	)
	SELECT classes[p.label OPERATOR(pg_catalog.+) 1], p.feature,
		CASE WHEN p.kind OPERATOR(pg_catalog.=) 'numeric' THEN COALESCE(
			privpred._own_units(COALESCE(p.type, ''), p.low, p.high, p.x_low), p.low)
			ELSE b.said END,
		CASE WHEN p.kind OPERATOR(pg_catalog.=) 'numeric' THEN COALESCE(
			privpred._own_units(COALESCE(p.type, ''), p.low, p.high, p.x_high), p.high)
			ELSE b.said END, p.place
	FROM part p, LATERAL (
		-- a box may ask that a level or a boolean is not there, or not ask at all
		SELECT CASE WHEN p.x_low OPERATOR(pg_catalog.>) 0 THEN p.low
			WHEN p.x_high OPERATOR(pg_catalog.<=) 1 THEN pg_catalog.concat('not ', p.low)
			END AS said, predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'levels'
			AS listed) l, LATERAL (SELECT CASE WHEN l.listed THEN p.low ELSE l.said END AS said) b
	WHERE p.kind OPERATOR(pg_catalog.=) 'numeric' OR b.said IS NOT NULL
	UNION ALL
	-- always the same
	SELECT classes[(predictor OPERATOR(pg_catalog.->) 'inside')::pg_catalog.int4
		OPERATOR(pg_catalog.+) 1], NULL, NULL, NULL, 0
	WHERE NOT EXISTS (SELECT FROM part) $$;
COMMENT ON FUNCTION privpred._regions(jsonb, jsonb, text[]) IS
'where a classifier says which class, in the columns'' own units; for explain()';

CREATE FUNCTION privpred.explain(model text, OUT class text, OUT feature text, OUT low text,
	OUT high text, OUT effect_low float8, OUT effect_high float8, OUT noise_low float8,
	OUT noise_high float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE ROWS 100
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1
SET DateStyle TO 'ISO, YMD' SET TimeZone TO 'UTC' AS $$
DECLARE
	features pg_catalog.jsonb;
	predictor pg_catalog.jsonb;
	classes pg_catalog.text[];
	weights pg_catalog.jsonb;
	target pg_catalog.jsonb;
	unit pg_catalog.float8;
BEGIN
	-- Whoever may not see it is refused here, and whoever has not paid for it pays.
	SELECT m.stored OPERATOR(pg_catalog.->) 'features',
		m.stored OPERATOR(pg_catalog.->) 'predictor',
		ARRAY(SELECT pg_catalog.jsonb_array_elements_text(
			m.stored OPERATOR(pg_catalog.->) 'classes'))
	INTO features, predictor, classes
	FROM (SELECT privpred.read_model(model)::pg_catalog.jsonb AS stored OFFSET 0) m;
	IF pg_catalog.jsonb_array_length(predictor OPERATOR(pg_catalog.->) 'members')
		OPERATOR(pg_catalog.=) 1
	THEN
		predictor := predictor OPERATOR(pg_catalog.#>) '{members,0}'::pg_catalog.text[];
	END IF;
	target := predictor OPERATOR(pg_catalog.->) 'target';
	weights := predictor OPERATOR(pg_catalog.->) 'weights';
	IF predictor OPERATOR(pg_catalog.->>) 'class' OPERATOR(pg_catalog.=) 'halfspaces' THEN
		weights := pg_catalog.jsonb_build_array(weights OPERATOR(pg_catalog.||)
			pg_catalog.to_jsonb(COALESCE(0 OPERATOR(pg_catalog.-) (predictor
				OPERATOR(pg_catalog.->>) 'cut')::pg_catalog.float8, 0)));
		classes := ARRAY[classes[(predictor OPERATOR(pg_catalog.->) 'inside')::pg_catalog.int4
			OPERATOR(pg_catalog.+) 1]];
	ELSIF predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=)
		ANY ('{cut,box,levels,parts}'::pg_catalog.text[])
	THEN
		RETURN QUERY SELECT r.class, r.feature, r.low, r.high, NULL::pg_catalog.float8,
			NULL::pg_catalog.float8, NULL::pg_catalog.float8, NULL::pg_catalog.float8
			FROM privpred._regions(features, predictor, classes) r ORDER BY r.place;
		RETURN;
	ELSIF COALESCE(predictor OPERATOR(pg_catalog.->>) 'kind', '') OPERATOR(pg_catalog.<>) 'linear' THEN
		RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state',
			MESSAGE := pg_catalog.format('model "%s" is not a sum of effects', model),
			DETAIL := pg_catalog.format('It is of kind "%s".', COALESCE(
				predictor OPERATOR(pg_catalog.->>) 'kind', 'ensemble')),
			HINT := 'privpred.read_model shows it as JSON.';
	END IF;
	IF target IS NOT NULL THEN
		unit := (target OPERATOR(pg_catalog.->>) 'max')::pg_catalog.float8
			OPERATOR(pg_catalog.-) (target OPERATOR(pg_catalog.->>) 'min')::pg_catalog.float8;
	-- Of two classes, the one sum is for the second.
	ELSIF pg_catalog.jsonb_array_length(weights) OPERATOR(pg_catalog.=) 1
		AND pg_catalog.cardinality(classes) OPERATOR(pg_catalog.=) 2
	THEN
		classes := classes[2:2];
	END IF;
	RETURN QUERY SELECT e.* FROM privpred._effects(features, weights, classes, COALESCE(unit, 1),
		COALESCE((target OPERATOR(pg_catalog.->>) 'min')::pg_catalog.float8, 0),
		COALESCE(unit, 1) OPERATOR(pg_catalog.*) (predictor
			OPERATOR(pg_catalog.->>) 'noise')::pg_catalog.float8) e;
END $$;
COMMENT ON FUNCTION privpred.explain(text) IS
'owner, or anyone with a budget: what each value of each feature adds to the score of a released model, with its noise, or where a released classifier says which class; who has not paid for the model pays as for a first answer';

----------------------------------------------------------------------
-- Event triggers: tables and roles that are dropped
----------------------------------------------------------------------

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

-- This loads the library, which then notices that the extension is dropped.
CREATE EVENT TRIGGER privpred_on_drop_extension ON ddl_command_start
	WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA')
	EXECUTE FUNCTION privpred.on_drop_owned();

----------------------------------------------------------------------
-- Progress
----------------------------------------------------------------------

CREATE FUNCTION privpred.progress_entries(OUT pid integer, OUT model text, OUT phase text, OUT done bigint,
	OUT total bigint, OUT started_at timestamptz, OUT relation regclass, OUT steps bigint, OUT steps_total bigint)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_progress_entries'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.progress_entries() IS
'what the view privpred.progress shows: sessions that work on tables you own, and your own, without counts that are secret from you';

CREATE VIEW privpred.progress WITH (security_barrier) AS
SELECT p.pid, p.model, p.phase, p.done, p.total, p.started_at, p.relation, p.steps, p.steps_total
FROM privpred.progress_entries() p;
COMMENT ON VIEW privpred.progress IS
'sessions that train, evaluate, distill, verify or audit on tables you own: rows or steps done, and the planner''s estimate of how many there are';
COMMENT ON COLUMN privpred.progress.pid IS 'process of the session';
COMMENT ON COLUMN privpred.progress.model IS 'that is worked on';
COMMENT ON COLUMN privpred.progress.phase IS 'what is being done';
COMMENT ON COLUMN privpred.progress.done IS 'rows so far; NULL if it is secret from you';
COMMENT ON COLUMN privpred.progress.total IS 'rows, as the planner estimates them; NULL if it is unknown, or secret from you';
COMMENT ON COLUMN privpred.progress.started_at IS 'when the work began';
COMMENT ON COLUMN privpred.progress.relation IS 'the protected table';
COMMENT ON COLUMN privpred.progress.steps IS 'steps so far';
COMMENT ON COLUMN privpred.progress.steps_total IS 'steps in all';

----------------------------------------------------------------------
-- Counts
----------------------------------------------------------------------

CREATE FUNCTION privpred.stat_entries(OUT role regrole, OUT relation regclass, OUT model_id bigint,
	OUT answers bigint, OUT repeats bigint, OUT unstable bigint, OUT refusals bigint, OUT round_trips bigint,
	OUT ledger_ms float8, OUT cache_hits bigint, OUT cache_misses bigint, OUT since timestamptz)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_stat_entries'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.stat_entries() IS
'what the view privpred.stat shows: counts of your own answers, and of everybody''s on tables you own';

CREATE VIEW privpred.stat WITH (security_barrier) AS
SELECT s.role, s.relation, m.name AS model, s.answers, s.repeats, s.unstable, s.refusals, s.round_trips,
	s.ledger_ms, s.cache_hits, s.cache_misses, s.since
FROM privpred.stat_entries() s
LEFT JOIN privpred.model m ON m.model_id OPERATOR(pg_catalog.=) s.model_id;
COMMENT ON VIEW privpred.stat IS
'counts by role and model since the server started: those of you and your groups, and those of everybody on relations that you own';
COMMENT ON COLUMN privpred.stat.role IS 'who asked';
COMMENT ON COLUMN privpred.stat.relation IS 'the protected table';
COMMENT ON COLUMN privpred.stat.model IS 'NULL once it was dropped';
COMMENT ON COLUMN privpred.stat.answers IS 'paid for and drawn';
COMMENT ON COLUMN privpred.stat.repeats IS 'the same question again, from memory, free';
COMMENT ON COLUMN privpred.stat.unstable IS 'answers that were NULL, or a vote in place of it';
COMMENT ON COLUMN privpred.stat.refusals IS 'the budget or the stream could not, or may not, pay';
COMMENT ON COLUMN privpred.stat.round_trips IS 'to the ledger''s process';
COMMENT ON COLUMN privpred.stat.ledger_ms IS 'milliseconds of waiting for the ledger''s process';
COMMENT ON COLUMN privpred.stat.cache_hits IS 'statements that found the model decoded in their session';
COMMENT ON COLUMN privpred.stat.cache_misses IS 'statements that had to read and decode it';
COMMENT ON COLUMN privpred.stat.since IS 'when counting began';

CREATE FUNCTION privpred.stat_reset()
RETURNS void AS 'MODULE_PATHNAME', 'privpred_stat_reset' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.stat_reset() IS
'superuser: sets all counts of privpred.stat to zero, in all databases';

----------------------------------------------------------------------
-- Build
----------------------------------------------------------------------

CREATE FUNCTION privpred.build()
RETURNS text AS 'MODULE_PATHNAME', 'privpred_build' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.build() IS
'anyone: the version that the server runs';

----------------------------------------------------------------------
-- report
----------------------------------------------------------------------

-- They run with the caller's rights over the views that filter by role, so a
-- page shows nothing that its reader could not select.  Every list is bounded
-- and says what it leaves out.  Text reaches a page through _html() alone.
-- Figures are numeric, so that they are the same whatever extra_float_digits is.

-- The planner assumes strings of a thousand characters, and would compile too much: JIT is off.
CREATE FUNCTION privpred._html(value text, most int DEFAULT 200) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off AS $$
	-- Plain names are what most names are.
	SELECT CASE WHEN value OPERATOR(pg_catalog.~) '^[A-Za-z0-9_ .,:-]*$'
		AND pg_catalog.length(value) OPERATOR(pg_catalog.<=) most THEN value
		ELSE (
			SELECT pg_catalog.concat(pg_catalog.string_agg(CASE
					WHEN u.code OPERATOR(pg_catalog.=) 38 THEN '&amp;'
					WHEN u.code OPERATOR(pg_catalog.=) 60 THEN '&lt;'
					WHEN u.code OPERATOR(pg_catalog.=) 62 THEN '&gt;'
					WHEN u.code OPERATOR(pg_catalog.=) 34 THEN '&quot;'
					WHEN u.code OPERATOR(pg_catalog.=) 39 THEN '&#39;'
					-- control characters become the pictures of them
					WHEN u.code OPERATOR(pg_catalog.<) 32 THEN pg_catalog.concat('&#x',
						pg_catalog.upper(pg_catalog.to_hex(u.code OPERATOR(pg_catalog.+) 9216)),
						';')
					WHEN u.code OPERATOR(pg_catalog.<) 127 THEN c.letter
					WHEN u.code OPERATOR(pg_catalog.=) 127 THEN '&#x2421;'
					-- what HTML forbids, or what changes the order of its neighbours
					WHEN u.code OPERATOR(pg_catalog.<) 160 OR u.code OPERATOR(pg_catalog.=) 1564
						OR (u.code OPERATOR(pg_catalog.>=) 8206
							AND u.code OPERATOR(pg_catalog.<=) 8207)
						OR (u.code OPERATOR(pg_catalog.>=) 8234
							AND u.code OPERATOR(pg_catalog.<=) 8238)
						OR (u.code OPERATOR(pg_catalog.>=) 8294
							AND u.code OPERATOR(pg_catalog.<=) 8297)
						OR (u.code OPERATOR(pg_catalog.>=) 64976
							AND u.code OPERATOR(pg_catalog.<=) 65007)
						OR pg_catalog.mod(u.code, 65536) OPERATOR(pg_catalog.>=) 65534
							THEN '&#xFFFD;'
					ELSE pg_catalog.concat('&#x', pg_catalog.upper(pg_catalog.to_hex(u.code)),
						';') END,
					'' ORDER BY c.place),
				CASE WHEN pg_catalog.length(value) OPERATOR(pg_catalog.>) most THEN '&#x2026;' END)
			FROM pg_catalog.string_to_table(pg_catalog.left(value, most),
				NULL) WITH ORDINALITY c(letter, place)
			CROSS JOIN LATERAL (
				SELECT CASE
					WHEN pg_catalog.octet_length(c.letter) OPERATOR(pg_catalog.=) 1
						AND pg_catalog.ascii(c.letter) OPERATOR(pg_catalog.<) 128
						THEN pg_catalog.ascii(c.letter)
					-- nobody knows what the upper half of SQL_ASCII means
					WHEN pg_catalog.getdatabaseencoding() OPERATOR(pg_catalog.=) 'SQL_ASCII'
						THEN 65533
					ELSE (
						SELECT pg_catalog.sum((pg_catalog.get_byte(b.bytes,
							i) OPERATOR(pg_catalog.-) CASE WHEN i OPERATOR(pg_catalog.>) 0 THEN 128
								WHEN pg_catalog.octet_length(b.bytes) OPERATOR(pg_catalog.=) 2
									THEN 192
								WHEN pg_catalog.octet_length(b.bytes) OPERATOR(pg_catalog.=) 3
									THEN 224 ELSE 240 END)
							OPERATOR(pg_catalog.*) pg_catalog.power(64,
								pg_catalog.octet_length(b.bytes) OPERATOR(pg_catalog.-) 1
								OPERATOR(pg_catalog.-) i))::pg_catalog.int4
						FROM (SELECT pg_catalog.convert_to(c.letter, 'UTF8') AS bytes) b,
							pg_catalog.generate_series(0, pg_catalog.octet_length(b.bytes)
								OPERATOR(pg_catalog.-) 1) i)
					END AS code) u)
		END $$;
COMMENT ON FUNCTION privpred._html(text, int) IS
'text with the characters that HTML and XML reserve escaped, in ASCII, cut off after so many characters; for report() and plot()';

CREATE FUNCTION privpred._amount(amount numeric, up boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN amount OPERATOR(pg_catalog.=) 'Infinity' THEN '&infin;'
		WHEN up THEN pg_catalog.trim_scale(pg_catalog.round(pg_catalog.ceil(amount
			OPERATOR(pg_catalog.*) s.scale) OPERATOR(pg_catalog./) s.scale,
			s.decimals))::pg_catalog.text
		ELSE pg_catalog.trim_scale(pg_catalog.round(pg_catalog.floor(amount
			OPERATOR(pg_catalog.*) s.scale) OPERATOR(pg_catalog./) s.scale,
			s.decimals))::pg_catalog.text END
	FROM (
		SELECT d.decimals, pg_catalog.round(pg_catalog.power(10::pg_catalog.numeric,
			d.decimals)) AS scale
		FROM (
			-- small amounts keep four digits that are not zero
			SELECT CASE WHEN pg_catalog.abs(amount) OPERATOR(pg_catalog.>=) 0.1
				OR amount OPERATOR(pg_catalog.=) 0 THEN 4
				ELSE LEAST(12,
					3 OPERATOR(pg_catalog.-) pg_catalog.floor(pg_catalog.log(pg_catalog.abs(
					amount))))::pg_catalog.int4 END AS decimals) d) s $$;
COMMENT ON FUNCTION privpred._amount(numeric, boolean) IS
'an epsilon in a few digits; what is spent is rounded up and what is left down, so that rounding never flatters; for report()';

CREATE FUNCTION privpred._loss(epsilon numeric, delta numeric, pure boolean,
	up boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN pure THEN privpred._amount(epsilon, up)
		ELSE pg_catalog.concat('(', privpred._amount(epsilon, up), ', ', CASE
			WHEN delta OPERATOR(pg_catalog.=) 0 THEN '0'
			ELSE pg_catalog.regexp_replace(pg_catalog.btrim(pg_catalog.to_char(delta, '9.99EEEE')),
				'\.?0*e', 'e') END, ')') END $$;
COMMENT ON FUNCTION privpred._loss(numeric, numeric, boolean, boolean) IS
'an epsilon, or (epsilon, delta) of an account that is not pure; for report() and plot()';

CREATE FUNCTION privpred._nice_step(range numeric, pieces int) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.trim_scale(p.power OPERATOR(pg_catalog.*) CASE
		WHEN p.least OPERATOR(pg_catalog.<=) p.power THEN 1
		WHEN p.least OPERATOR(pg_catalog.<=) (2 OPERATOR(pg_catalog.*) p.power) THEN 2
		WHEN p.least OPERATOR(pg_catalog.<=) (5 OPERATOR(pg_catalog.*) p.power) THEN 5 ELSE 10 END)
	FROM (
		SELECT l.least, pg_catalog.power(10::pg_catalog.numeric,
			pg_catalog.floor(pg_catalog.log(l.least))) AS power
		FROM (SELECT range OPERATOR(pg_catalog./) pieces AS least) l) p $$;
COMMENT ON FUNCTION privpred._nice_step(numeric, int) IS
'the least of 1, 2, 5, 10, ... that cuts a range into few enough pieces: for axes of report() and plot()';

CREATE FUNCTION privpred._left_out(number bigint, what text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN number OPERATOR(pg_catalog.>) 0
		THEN pg_catalog.format(e'<p class="more">and %s more %s, not shown</p>\n',
		pg_catalog.to_char(number, 'FM999,999,999,999,999,990'), what) END $$;
COMMENT ON FUNCTION privpred._left_out(bigint, text) IS 'what a list of report() leaves out';

CREATE FUNCTION privpred._report_style() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT $css$
:root{--page:#f4f5f8;--card:#fff;--ink:#1a1f2b;--muted:#667085;--rule:#e3e6ed;--track:#eceff4;
--spent:#3566c5;--nearly:#d98a1f;--full:#c8413b;--left:#cfe3d4;--heat-rgb:53,102,197;
--bad:#c8413b;--warn:#d98a1f;--note:#5b7cb8;--good:#3c8a57;--c0:#3d4657;--c1:#3566c5;
--c2:#d3722c;--c3:#2f8f6b;--c4:#a64ca6;--c5:#c2a21b;--c6:#2a9bb8;--c7:#b8455f;--c8:#98a1b2}
@media screen and (prefers-color-scheme:dark){:root{--page:#12151b;--card:#1b1f28;--ink:#e4e8f0;
--muted:#98a2b5;--rule:#2d3341;--track:#272d39;--spent:#6f9cf0;--nearly:#e8a94a;--full:#ea6f68;
--left:#2f5a42;--heat-rgb:111,156,240;--bad:#ea6f68;--warn:#e8a94a;--note:#86a5de;
--good:#63b982;--c0:#d5dbe8;--c1:#6f9cf0;--c2:#f09a5a;--c3:#57c79b;--c4:#d083d0;--c5:#e0c64f;
--c6:#5cc6e0;--c7:#ef7f98;--c8:#7d8798}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:1120px;margin:0 auto;padding:0 24px}
header{padding-top:36px;padding-bottom:8px}
h1{font-size:28px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:18px;margin:0 0 14px}
h3{font-size:15px;margin:0}
header p,.muted,small{color:var(--muted)}
p{margin:0 0 8px}
small{display:block;font-size:12px;font-weight:400;line-height:1.35}
code{font:13px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.card{background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:22px 24px;
margin:16px 0}
.quiet{border-left:4px solid var(--good)}
.quiet h2{margin:0}
.more{color:var(--muted);font-size:13px;margin:10px 0 0}
/* warnings */
.warnings{list-style:none;margin:0;padding:0}
.warnings li{position:relative;padding:7px 0 7px 22px;border-top:1px solid var(--rule)}
.warnings li:first-child{border-top:0}
.warnings li::before{content:"";position:absolute;left:2px;top:14px;width:9px;height:9px;
border-radius:50%;background:var(--note)}
.warnings .bad::before{background:var(--bad);border-radius:2px}
.warnings .warn::before{background:var(--warn)}
/* figures */
.figures{display:grid;grid-template-columns:repeat(4,1fr);gap:16px;margin:16px 0}
.figures div{background:var(--card);border:1px solid var(--rule);border-radius:12px;
padding:14px 20px;color:var(--muted);font-size:13px}
.figures b{display:block;font-size:26px;line-height:1.2;color:var(--ink);
font-variant-numeric:tabular-nums}
/* tables */
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:9px 12px;border-top:1px solid var(--rule);vertical-align:middle}
tbody th{font-weight:600}
thead th{border-top:0;padding-top:0;color:var(--muted);font-size:12px;font-weight:500;
white-space:nowrap}
th:first-child{padding-left:0}
tr>:last-child{padding-right:0}
.number{text-align:right}
.scroll{overflow-x:auto}
.budgets th:first-child{min-width:104px}
.cap .all{font-style:italic}
.use{width:24%;min-width:150px}
.answers{max-width:280px}
.budgets td.number{white-space:nowrap}
.status{display:inline-block;font-size:11px;font-weight:600;padding:0 7px;border-radius:9px;
border:1px solid var(--bad);color:var(--bad);vertical-align:1px}
.pill{display:inline-block;font-size:12px;line-height:1.5;padding:0 8px;border-radius:9px;
background:var(--track);margin:1px 0}
/* bars */
.bar{display:flex;height:14px;border-radius:4px;overflow:hidden;background:var(--track)}
i.spent{background:var(--spent)}
i.nearly{background:var(--nearly)}
i.full{background:var(--full)}
i.closed{background:var(--c8)}
i.left{background:var(--left)}
i.reserved{background:repeating-linear-gradient(135deg,var(--spent) 0 3px,var(--card) 3px 6px)}
i.orphaned{background:repeating-linear-gradient(135deg,var(--full) 0 3px,var(--card) 3px 6px)}
i.withheld{background:repeating-linear-gradient(135deg,var(--rule) 0 3px,var(--card) 3px 6px)}
.key{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:12px;color:var(--muted);margin:12px 0 0}
.key i{display:inline-block;width:18px;height:10px;border-radius:3px;margin-right:6px}
/* chart */
.chart{margin:26px 0}
figcaption{display:flex;gap:12px;align-items:baseline;flex-wrap:wrap}
figcaption p{font-size:12px;margin:0}
.plot{position:relative;margin:14px 0 58px 66px;height:280px}
.plot svg{display:block;width:100%;height:100%;overflow:visible}
.y span{position:absolute;right:100%;margin-right:8px;transform:translateY(-50%);
white-space:nowrap;font-size:12px;color:var(--muted);font-variant-numeric:tabular-nums}
.x span{position:absolute;top:100%;margin-top:6px;transform:translateX(-50%);white-space:nowrap;
font-size:12px;color:var(--muted)}
.ytitle,.xtitle{position:absolute;font-size:12px;color:var(--muted);white-space:nowrap}
.ytitle{right:100%;top:50%;margin-right:34px;writing-mode:vertical-rl;
transform:rotate(180deg) translateY(50%)}
.xtitle{top:100%;left:50%;margin-top:28px;transform:translateX(-50%)}
.above{position:absolute;right:0;top:2px;font-size:12px;color:var(--muted)}
.mark{position:absolute;left:8px;margin-top:3px;font-size:12px;color:var(--bad)}
path{fill:none;vector-effect:non-scaling-stroke}
.grid{stroke:var(--rule)!important;stroke-width:1}
.line{stroke-width:2;stroke-linejoin:round}
.line.c0{stroke-width:1.5}
.limit{stroke-width:1.25;stroke-dasharray:5 5;opacity:.75}
.limit.total{stroke:var(--bad)!important;stroke-width:1.75;opacity:1}
.c0{stroke:var(--c0);background:var(--c0)}
.c1{stroke:var(--c1);background:var(--c1)}
.c2{stroke:var(--c2);background:var(--c2)}
.c3{stroke:var(--c3);background:var(--c3)}
.c4{stroke:var(--c4);background:var(--c4)}
.c5{stroke:var(--c5);background:var(--c5)}
.c6{stroke:var(--c6);background:var(--c6)}
.c7{stroke:var(--c7);background:var(--c7)}
.c8{stroke:var(--c8);background:var(--c8)}
.legend{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:4px 20px;
font-size:13px;font-variant-numeric:tabular-nums}
.legend i{display:inline-block;width:16px;height:3px;border-radius:2px;margin-right:7px;
vertical-align:4px}
/* who spent what */
.spenders{width:auto;min-width:60%;margin-top:8px}
.spenders td,.spenders th{white-space:nowrap}
.spenders bdi{display:inline-block;max-width:180px;white-space:normal;overflow-wrap:break-word}
.spenders th:first-child{padding-right:24px}
.heat{background:rgba(var(--heat-rgb),var(--heat));border:2px solid var(--card)}
.heat small{color:inherit;opacity:.75}
.none{color:var(--muted)}
.sum{font-weight:600}
/* models */
.models{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:16px}
.model{border:1px solid var(--rule);border-radius:10px;padding:16px 18px;min-width:0}
.model p{font-size:13px}
.version{color:var(--muted);font-weight:400;font-size:12px}
dl{display:grid;grid-template-columns:auto 1fr;gap:5px 16px;margin:10px 0;font-size:13px}
dt{color:var(--muted);white-space:nowrap}
dd{margin:0;text-align:right}
summary{cursor:pointer;font-size:13px;color:var(--muted)}
.features{font-size:12px;margin-top:6px}
.features th,.features td{padding:4px 6px 4px 0}
.head{display:inline-block;background:var(--track);border-radius:6px;padding:4px 10px}
footer{color:var(--muted);font-size:13px;padding-top:8px;padding-bottom:40px}
/* telephones */
@media screen and (max-width:760px){header,main,footer{padding-left:12px;padding-right:12px}
header{padding-top:20px}h1{font-size:22px}.card{padding:16px 14px}
.figures{grid-template-columns:repeat(2,1fr);gap:10px}.figures div{padding:10px 14px}
.budgets thead{display:none}.budgets,.budgets tbody{display:block}
.budgets tr{display:grid;grid-template-columns:repeat(4,1fr);gap:4px 10px;padding:12px 0;
border-top:1px solid var(--rule)}
.budgets tr:first-child{border-top:0}
.budgets th,.budgets td{border:0;padding:0;text-align:left;max-width:none;width:auto}
.budgets th,.budgets .use,.budgets .answers{grid-column:1/-1}
.budgets td.number{white-space:normal}
.budgets [data-label]::before{content:attr(data-label);display:block;font-size:11px;
color:var(--muted)}
.plot{height:220px;margin-left:56px}.x span:nth-child(even){display:none}
.models{grid-template-columns:1fr}}
/* paper */
@media print{:root{--page:#fff}body{font-size:11px;-webkit-print-color-adjust:exact;
print-color-adjust:exact}header,main,footer{max-width:none;padding-left:0;padding-right:0}
header{padding-top:0}small,.pill,.status,thead th,.key,.legend,.x span,.y span{font-size:9px}
th,td{padding:4px 8px}h2{font-size:14px}h3,.model p,dl{font-size:11px}code{font-size:10px}
.figures b{font-size:18px}#ledger{break-inside:avoid}.card,.figures div{padding:12px 14px}.plot{
height:200px}
figure,.model,tr,.warnings li{break-inside:avoid}h2,h3{break-after:avoid}}
$css$ $$;
COMMENT ON FUNCTION privpred._report_style() IS
'the style sheet of report(): light, dark, narrow and on paper';

CREATE FUNCTION privpred._report_warnings() RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Nothing can be done about a table that is gone, so it needs no attention.
	WITH b AS MATERIALIZED (
		SELECT b.relation::pg_catalog.text AS relation, b.role IS NULL AS is_cap, n.role, b.status,
			b.epsilon_limit AS lim, b.epsilon_spent AS spent, b.epsilon_left AS rest,
			b.delta_limit AS delta, b.refresh, b.window_resets_at, b.valid_until,
			b.lifetime_epsilon_limit AS lifetime, b.lifetime_epsilon_spent AS lifetime_spent,
			COALESCE(pg_catalog.pg_has_role(c.relowner, 'USAGE'), false) AS owned,
			CASE WHEN b.role IS NULL THEN pg_catalog.format('The cap on <b><bdi>%s</bdi></b>',
					privpred._html(b.relation::pg_catalog.text))
				ELSE pg_catalog.format('<b><bdi>%s</bdi></b> on <b><bdi>%s</bdi></b>',
					privpred._html(n.role), privpred._html(b.relation::pg_catalog.text))
						END AS account,
			pg_catalog.format('&epsilon; = %s', privpred._amount(b.epsilon_spent, true)) AS amount,
			pg_catalog.format('&epsilon; = %s of %s', privpred._amount(b.epsilon_spent, true),
				privpred._amount(b.epsilon_limit, false)) AS of_limit
		FROM privpred.budgets b
		LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) b.relation::pg_catalog.oid
		LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) b.role::pg_catalog.oid
		CROSS JOIN LATERAL (SELECT COALESCE(r.rolname::pg_catalog.text, b.role_name) AS role) n
		WHERE b.relation IS NOT NULL
	), orphan AS (
		SELECT l.relation::pg_catalog.text AS relation, l.role::pg_catalog.text AS role,
			pg_catalog.count(*) AS leases,
			pg_catalog.sum(l.epsilon) AS spent,
			pg_catalog.array_to_string((pg_catalog.array_agg(l.lease ORDER BY l.lease))[1:5],
				', ') AS which
		FROM privpred.leases l WHERE l.orphaned AND l.relation IS NOT NULL
		GROUP BY l.relation, l.role
	), together AS (
		-- What the roles of a table may learn if they share their answers: the greater of limit
		-- and spending for accounts that are open, else the spending.  Owners see every account.
		SELECT b.relation, pg_catalog.sum(CASE WHEN b.status OPERATOR(pg_catalog.=) 'active'
			THEN GREATEST(b.lim, b.spent)
				ELSE b.spent END) FILTER (WHERE NOT b.is_cap) AS total,
			pg_catalog.max(b.lim) FILTER (WHERE b.is_cap) AS cap,
			pg_catalog.format('The %s roles on <b><bdi>%s</bdi></b> hold %s%s together',
				pg_catalog.count(*) FILTER (WHERE NOT b.is_cap
					AND (b.status OPERATOR(pg_catalog.=) 'active'
					OR b.spent OPERATOR(pg_catalog.>) 0)),
				privpred._html(b.relation),
				CASE WHEN pg_catalog.sum(b.delta)
					FILTER (WHERE NOT b.is_cap) OPERATOR(pg_catalog.>) 0
					THEN '(&epsilon;, &delta;) = ' ELSE '&epsilon; = ' END,
				privpred._loss(pg_catalog.sum(CASE WHEN b.status OPERATOR(pg_catalog.=) 'active'
					THEN GREATEST(b.lim, b.spent)
						ELSE b.spent END) FILTER (WHERE NOT b.is_cap),
					pg_catalog.sum(b.delta) FILTER (WHERE NOT b.is_cap),
					pg_catalog.sum(b.delta) FILTER (WHERE NOT b.is_cap) OPERATOR(pg_catalog.=) 0,
						true)) AS said
		FROM b WHERE b.owned GROUP BY b.relation
		HAVING pg_catalog.count(*) FILTER (WHERE NOT b.is_cap
			AND (b.status OPERATOR(pg_catalog.=) 'active' OR b.spent OPERATOR(pg_catalog.>) 0))
			OPERATOR(pg_catalog.>) 1
	), warning AS (
		SELECT 1 AS place, 'bad' AS class, b.spent, b.relation, b.role,
			pg_catalog.format(
				'%s is frozen: it has spent %s. Nothing is answered until the limit is above '
				'what was spent.', b.account, b.of_limit) AS said
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'frozen'
		UNION ALL
		SELECT 2, 'bad', b.spent, b.relation, b.role, pg_catalog.format('%s is used up: %s%s.',
			b.account,
			CASE WHEN b.spent OPERATOR(pg_catalog.>=) b.lim THEN b.of_limit
				ELSE pg_catalog.format('&epsilon; = %s of %s for ever',
				privpred._amount(b.lifetime_spent, true), privpred._amount(b.lifetime, false)) END,
			CASE WHEN b.lifetime_spent OPERATOR(pg_catalog.<) b.lifetime
				THEN pg_catalog.to_char(b.window_resets_at,
					'". It is refilled at" YYYY-MM-DD HH24:MI TZ') END)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active' AND b.spent OPERATOR(pg_catalog.>) 0
			AND b.rest OPERATOR(pg_catalog.<=) 0
			AND (b.spent OPERATOR(pg_catalog.>=) b.lim
				OR b.lifetime_spent OPERATOR(pg_catalog.>=) b.lifetime)
		UNION ALL
		-- for those who do not see the cap itself
		SELECT 3, 'bad', b.spent, b.relation, b.role,
			pg_catalog.format(
				'%s gets no more answers, with %s spent: the cap over all roles is used up.',
				b.account, b.of_limit)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active' AND b.rest OPERATOR(pg_catalog.<=) 0
			AND b.spent OPERATOR(pg_catalog.<) b.lim
			AND b.lifetime_spent OPERATOR(pg_catalog.<) b.lifetime AND NOT b.owned
		UNION ALL
		SELECT 4, 'bad', o.spent, o.relation, o.role,
			pg_catalog.format(
				'<b><bdi>%s</bdi></b> on <b><bdi>%s</bdi></b> lost %s %s in a crash, &epsilon; = '
				'%s, which stays spent: some of the answers may have been given. An owner '
				'who knows '
				'better may call <code>privpred.forgive_lease</code> (%s%s).',
				privpred._html(o.role), privpred._html(o.relation), o.leases,
				CASE WHEN o.leases OPERATOR(pg_catalog.=) 1 THEN 'lease' ELSE 'leases' END,
				privpred._amount(o.spent, true), o.which, CASE
					WHEN o.leases OPERATOR(pg_catalog.>) 5 THEN ', ...' END)
		FROM orphan o
		UNION ALL
		SELECT 5, 'warn', b.spent, b.relation, b.role,
			pg_catalog.format('%s has spent %s%% of its budget: %s.',
			b.account, pg_catalog.floor(100 OPERATOR(pg_catalog.*) b.spent
				OPERATOR(pg_catalog./) b.lim), b.of_limit)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active'
			AND b.spent OPERATOR(pg_catalog.>=) (0.8 OPERATOR(pg_catalog.*) b.lim)
			AND b.spent OPERATOR(pg_catalog.<) b.lim AND b.lim OPERATOR(pg_catalog.>) 0
		UNION ALL
		SELECT 6, 'warn', t.total, t.relation, NULL,
			pg_catalog.concat(t.said,
				' if they share their answers, and no cap bounds the sum. Declare one: '
				'<code>privpred.protect(&hellip;, epsilon_cap =&gt; &hellip;)</code>.')
		FROM together t WHERE t.cap IS NULL
		UNION ALL
		SELECT 7, 'warn', b.lifetime_spent, b.relation, b.role,
			pg_catalog.format(
				'%s is refilled for ever: over time its privacy loss has no bound. So far '
				'&epsilon; '
				'= %s is spent. Grant it with a <code>lifetime_epsilon</code>.', b.account,
				privpred._amount(b.lifetime_spent, true))
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active' AND b.refresh IS NOT NULL
			AND b.lifetime OPERATOR(pg_catalog.=) 'Infinity'
		UNION ALL
		SELECT 8, 'note', t.total, t.relation, NULL,
			pg_catalog.format(
				'%s, more than the cap of %s. The cap holds: whoever asks last may be refused with '
				'budget left.', t.said, privpred._amount(t.cap, false))
		FROM together t WHERE t.cap OPERATOR(pg_catalog.<) t.total
		UNION ALL
		SELECT 9, 'note', b.spent, b.relation, b.role,
			pg_catalog.format('%s expired at %s; %s stays spent.',
			b.account, pg_catalog.to_char(b.valid_until, 'YYYY-MM-DD HH24:MI TZ'), b.amount)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'expired' AND b.spent OPERATOR(pg_catalog.>) 0
		UNION ALL
		SELECT 10, 'note', b.spent, b.relation, b.role,
			pg_catalog.format('%s is closed (%s); %s stays spent.',
			b.account, b.status, b.amount)
		FROM b WHERE (b.status OPERATOR(pg_catalog.=) 'revoked'
			OR b.status OPERATOR(pg_catalog.=) 'role dropped') AND b.spent OPERATOR(pg_catalog.>) 0
	), ranked AS (
		SELECT w.*, pg_catalog.row_number() OVER (PARTITION BY w.place ORDER BY w.spent DESC,
			w.relation COLLATE pg_catalog."C", w.role COLLATE pg_catalog."C") AS rank
		FROM warning w
	)
	SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) 0
		THEN e'<section class="card quiet" id="warnings">\n'
			'<h2>Nothing needs attention</h2>\n</section>\n'
		ELSE pg_catalog.concat(e'<section class="card" id="warnings">\n<h2>Needs attention</h2>\n'
			'<ul class="warnings">\n',
			pg_catalog.string_agg(pg_catalog.format(e'<li class="%s">%s</li>\n', r.class, r.said),
				''
				ORDER BY r.place, r.rank) FILTER (WHERE r.rank OPERATOR(pg_catalog.<=) 6),
			e'</ul>\n', privpred._left_out(pg_catalog.count(*)
				FILTER (WHERE r.rank OPERATOR(pg_catalog.>) 6), 'warnings'),
			e'</section>\n') END
	FROM ranked r $$;
COMMENT ON FUNCTION privpred._report_warnings() IS 'what in report() needs somebody''s attention';

CREATE FUNCTION privpred._report_budgets(relations text[])
RETURNS TABLE (relation text, html text)
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- In each table the cap comes first, then the fullest accounts.
	WITH b AS (
		SELECT x.relation, n.role, b.role IS NULL AS is_cap, b.status, b.epsilon_limit AS lim,
			b.epsilon_spent AS spent, b.epsilon_left AS rest, b.epsilon_reserved AS reserved,
			b.epsilon_orphaned AS orphaned, b.delta_limit AS delta, b.delta_spent, b.renyi_order,
			b.answers_left, b.binding_cap, b.valid_until, b.window_resets_at AS resets,
			b.lifetime_epsilon_limit AS lifetime, b.lifetime_epsilon_spent AS lifetime_spent,
			GREATEST(b.epsilon_limit, b.epsilon_spent) AS whole,
			pg_catalog.row_number() OVER (PARTITION BY x.relation, b.role IS NULL
				ORDER BY b.status OPERATOR(pg_catalog.<>) 'active'
					AND b.status OPERATOR(pg_catalog.<>) 'frozen',
					CASE WHEN b.epsilon_limit OPERATOR(pg_catalog.>) 0
						THEN b.epsilon_spent OPERATOR(pg_catalog./) b.epsilon_limit END
						DESC NULLS LAST, b.epsilon_spent DESC,
							n.role COLLATE pg_catalog."C") AS rank
		FROM privpred.budgets b
		LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) b.role::pg_catalog.oid
		CROSS JOIN LATERAL (
			SELECT COALESCE(b.relation::pg_catalog.text, pg_catalog.concat(b.relation_name,
				' (dropped)')) AS relation) x
		CROSS JOIN LATERAL (SELECT COALESCE(r.rolname::pg_catalog.text, b.role_name) AS role) n
		WHERE x.relation OPERATOR(pg_catalog.=) ANY (relations)
	), line AS (
		SELECT b.relation, b.is_cap, b.rank, pg_catalog.concat(
			'<tr', CASE WHEN b.is_cap THEN ' class="cap"' END, '><th scope="row">',
			CASE WHEN b.is_cap THEN '<span class="all">all roles together</span>'
				ELSE pg_catalog.format('<bdi>%s</bdi>', privpred._html(b.role)) END,
			CASE WHEN b.status OPERATOR(pg_catalog.<>) 'active'
				THEN pg_catalog.format(' <span class="status">%s</span>', privpred._html(b.status))
					END,
			pg_catalog.to_char(b.valid_until, '"<small>until" YYYY-MM-DD HH24:MI TZ"</small>"'),
			CASE WHEN b.resets IS NOT NULL
				THEN pg_catalog.format('<small>refilled at %s; for ever %s of %s</small>',
				pg_catalog.to_char(b.resets, 'YYYY-MM-DD HH24:MI TZ'),
					privpred._amount(b.lifetime_spent, true),
				privpred._amount(b.lifetime, false)) END,
			'</th><td class="use">',
			CASE WHEN b.whole OPERATOR(pg_catalog.>) 0
				THEN pg_catalog.format(
				'<div class="bar" role="img" aria-label="%s%% spent">%s</div>',
				CASE WHEN b.lim OPERATOR(pg_catalog.>) 0
					THEN LEAST(pg_catalog.floor(100 OPERATOR(pg_catalog.*) b.spent
					OPERATOR(pg_catalog./) b.lim), 100000000) ELSE 100 END,
				(SELECT pg_catalog.string_agg(pg_catalog.format(
					'<i class="%s" style="width:%s%%"></i>', s.class,
						pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) s.amount
							OPERATOR(pg_catalog./) b.whole, 2))), '' ORDER BY s.place)
					FROM (VALUES
						(1, CASE WHEN b.spent OPERATOR(pg_catalog.>=) b.lim THEN 'spent full'
							WHEN b.status OPERATOR(pg_catalog.<>) 'active' THEN 'spent closed'
							WHEN b.spent OPERATOR(pg_catalog.>=) (0.8 OPERATOR(pg_catalog.*) b.lim)
								THEN 'spent nearly'
							ELSE 'spent' END, b.spent OPERATOR(pg_catalog.-) b.reserved
								OPERATOR(pg_catalog.-) b.orphaned),
						(2, 'reserved', b.reserved), (3, 'orphaned', b.orphaned), (4, 'left',
							b.rest),
						(5, 'withheld', b.lim OPERATOR(pg_catalog.-) b.spent
							OPERATOR(pg_catalog.-) b.rest)) s(place, class, amount)
					WHERE s.amount OPERATOR(pg_catalog.>) 0)) END,
			'</td><td class="number" data-label="Spent">',
			privpred._loss(b.spent, b.delta_spent, b.delta OPERATOR(pg_catalog.=) 0, true),
			CASE WHEN b.reserved OPERATOR(pg_catalog.>) 0
				THEN pg_catalog.format('<small>%s of it reserved</small>',
				privpred._amount(b.reserved, true)) END,
			CASE WHEN b.orphaned OPERATOR(pg_catalog.>) 0
				THEN pg_catalog.format('<small>%s of it lost</small>',
				privpred._amount(b.orphaned, true)) END,
			'</td><td class="number" data-label="Limit">',
			COALESCE(privpred._loss(b.lim, b.delta, b.delta OPERATOR(pg_catalog.=) 0, false),
				'<span class="muted">none</span>'),
			'</td><td class="number" data-label="Left">',
			COALESCE(privpred._amount(b.rest, false), '<span class="muted">no limit</span>'),
			CASE WHEN b.binding_cap OPERATOR(pg_catalog.<>) 'role' AND NOT b.is_cap
				AND b.status OPERATOR(pg_catalog.=) 'active'
				THEN pg_catalog.format('<small>by the %s&#39;s cap</small>', CASE
					WHEN b.binding_cap OPERATOR(pg_catalog.=) 'relation' THEN 'table'
						ELSE privpred._html(b.binding_cap) END)
				END,
			'</td><td class="number" data-label="Order">',
				privpred._amount(b.renyi_order::pg_catalog.numeric, true),
			'</td><td class="answers" data-label="Answers left">',
			COALESCE(CASE WHEN b.rest OPERATOR(pg_catalog.>) 0 OR b.lim IS NULL THEN a.pills END,
				'<span class="muted">none</span>'),
			e'</td></tr>\n') AS html
		FROM b LEFT JOIN LATERAL (
			SELECT pg_catalog.concat(pg_catalog.string_agg(pg_catalog.format(
				'<span class="pill"><b>%s</b> <bdi>%s</bdi></span> ',
						CASE WHEN e.answers OPERATOR(pg_catalog.=) 'unlimited'
							THEN 'any number of'
							ELSE e.answers END, privpred._html(e.model)), '' ORDER BY e.place)
					FILTER (WHERE e.place OPERATOR(pg_catalog.<=) 6),
				CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 6
					THEN pg_catalog.format('<small>%s more models</small>',
					pg_catalog.count(*) OPERATOR(pg_catalog.-) 6) END)
				AS pills
			FROM (
				SELECT j.key AS model, j.value AS answers,
					pg_catalog.row_number() OVER (ORDER BY j.key COLLATE pg_catalog."C") AS place
				FROM pg_catalog.jsonb_each_text(b.answers_left) j) e
			HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0) a ON true
		WHERE b.rank OPERATOR(pg_catalog.<=) 20
	)
	SELECT l.relation,
		pg_catalog.concat(e'<table class="budgets">\n<thead><tr><th scope="col">Role</th>'
		'<th scope="col">Use</th><th scope="col" class="number">Spent</th>'
		'<th scope="col" class="number">Limit</th><th scope="col" class="number">Left</th>'
		'<th scope="col" class="number">Order</th><th scope="col">Answers left</th></tr></thead>\n'
		'<tbody>\n', pg_catalog.string_agg(l.html, '' ORDER BY l.is_cap DESC, l.rank),
		e'</tbody>\n</table>\n<p class="key"><span><i class="spent"></i>spent</span> '
		'<span><i class="reserved"></i>reserved by running statements</span> '
		'<span><i class="orphaned"></i>lost in a crash</span> '
		'<span><i class="left"></i>left</span> '
		'<span><i class="withheld"></i>not available</span></p>\n',
		privpred._left_out((SELECT pg_catalog.count(*) FROM b
			WHERE b.relation OPERATOR(pg_catalog.=) l.relation AND NOT b.is_cap)
			OPERATOR(pg_catalog.-) pg_catalog.count(*) FILTER (WHERE NOT l.is_cap), 'roles'))
	FROM line l GROUP BY l.relation $$;
COMMENT ON FUNCTION privpred._report_budgets(text[]) IS 'the budgets of each table in report()';

CREATE FUNCTION privpred._report_charts(relations text[], until timestamptz)
RETURNS TABLE (relation text, html text)
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- The loss of every account at the terms that were in force: charges are added up, and the
	-- sum is converted at the order and delta of the last grant before it, not of today's.
	WITH entry AS MATERIALIZED (
		SELECT x.relation, l.account_id, l.role, l.at, l.epsilon,
			CASE WHEN l.kind OPERATOR(pg_catalog.=) 'grant' THEN l.detail END AS terms,
			CASE WHEN l.kind OPERATOR(pg_catalog.=) 'grant' THEN l.asked_by END AS role_name,
			pg_catalog.count(*) FILTER (WHERE l.kind OPERATOR(pg_catalog.=) 'grant')
				OVER (PARTITION BY l.account_id ORDER BY l.at)
				AS grants
		FROM privpred.ledger l
		CROSS JOIN LATERAL (
			SELECT COALESCE(l.relation::pg_catalog.text, pg_catalog.concat(l.relation_name,
				' (dropped)')) AS relation) x
		WHERE l.role IS NOT NULL AND x.relation OPERATOR(pg_catalog.=) ANY (relations)
	), span AS (
		SELECT e.relation, pg_catalog.min(e.at) AS first,
			GREATEST(until, pg_catalog.max(e.at),
				pg_catalog.min(e.at) OPERATOR(pg_catalog.+) '1 s'::pg_catalog.interval) AS last
		FROM entry e GROUP BY e.relation
	), step AS MATERIALIZED (
		-- Time is cut into 200 pieces, and at each grant; each has the sum at its last entry.
		SELECT e.relation, e.account_id, p.piece, e.grants, pg_catalog.max(e.at) AS at,
			pg_catalog.sum(e.epsilon) AS epsilon,
			pg_catalog.min(e.role::pg_catalog.oid) AS role,
				pg_catalog.max(e.role_name) AS role_name, pg_catalog.max(e.terms) AS terms
		FROM entry e JOIN span s ON s.relation OPERATOR(pg_catalog.=) e.relation
		CROSS JOIN LATERAL (SELECT pg_catalog.floor(200 OPERATOR(pg_catalog.*) pg_catalog.date_part(
			'epoch', e.at OPERATOR(pg_catalog.-) s.first)
			OPERATOR(pg_catalog./) pg_catalog.date_part('epoch',
				s.last OPERATOR(pg_catalog.-) s.first)) AS piece) p
		GROUP BY e.relation, e.account_id, p.piece, e.grants
	), state AS MATERIALIZED (
		SELECT s.relation, s.account_id, s.role, s.role_name, s.at, s.epsilon,
			s.terms IS NOT NULL AS granted,
			o.renyi_order, CASE WHEN o.renyi_order IS NULL THEN s.units
				ELSE privpred.account_epsilon((1000000000000
					OPERATOR(pg_catalog.*) s.units)::pg_catalog.int8,
					pg_catalog.substring(o.terms, 'delta ([0-9.e+-]+)')::pg_catalog.float8,
						o.renyi_order) END AS spent,
			CASE WHEN o.terms OPERATOR(pg_catalog.~) ', every ' THEN pg_catalog.substring(o.terms,
				'lifetime epsilon ([0-9.e+-]+)')
				ELSE pg_catalog.substring(o.terms, '^epsilon ([0-9.e+-]+)') END::pg_catalog.numeric
					AS lim
		FROM (
			SELECT s.*, pg_catalog.sum(s.epsilon) OVER past AS units,
				pg_catalog.array_agg(s.terms) FILTER (WHERE s.terms IS NOT NULL)
					OVER past AS history
			FROM step s
			WINDOW past AS (PARTITION BY s.relation, s.account_id ORDER BY s.piece, s.grants)) s
		CROSS JOIN LATERAL (SELECT s.history[pg_catalog.cardinality(s.history)] AS terms) t
		CROSS JOIN LATERAL (SELECT t.terms,
			(1048576 OPERATOR(pg_catalog.*) pg_catalog.substring(t.terms,
				'order ([0-9.e+-]+)')::pg_catalog.numeric)::pg_catalog.int8 AS renyi_order) o
	), account AS MATERIALIZED (
		SELECT a.*, pg_catalog.row_number() OVER (PARTITION BY a.relation ORDER BY a.spent DESC,
			a.account_id)
				AS line, pg_catalog.count(*) OVER (PARTITION BY a.relation) AS accounts,
			-- losses at finite orders have no sum
			pg_catalog.bool_and(a.pure) OVER (PARTITION BY a.relation) AS adds_up
		FROM (
			SELECT s.relation, s.account_id, pg_catalog.min(s.role) AS role,
				pg_catalog.max(s.role_name) AS role_name,
				pg_catalog.bool_and(s.renyi_order IS NULL) AS pure,
				(pg_catalog.array_agg(s.spent ORDER BY s.at DESC))[1] AS spent,
				(pg_catalog.array_agg(s.lim ORDER BY s.at DESC))[1] AS lim
			FROM state s GROUP BY s.relation, s.account_id
			HAVING pg_catalog.bool_or(s.epsilon OPERATOR(pg_catalog.<>) 0)) a
	), point AS MATERIALIZED (
		SELECT s.relation, a.line, s.at, s.spent, s.lim, s.granted
		FROM state s JOIN account a ON a.relation OPERATOR(pg_catalog.=) s.relation
			AND a.account_id OPERATOR(pg_catalog.=) s.account_id
		WHERE a.line OPERATOR(pg_catalog.<=) 7
		UNION ALL
		-- line 0 is all roles together, and 8 those that have no line of their own
		SELECT s.relation, g.line, pg_catalog.max(s.at), pg_catalog.sum(pg_catalog.sum(s.epsilon))
			OVER (
				PARTITION BY s.relation, g.line ORDER BY s.piece), NULL, false
		FROM step s JOIN account a ON a.relation OPERATOR(pg_catalog.=) s.relation
			AND a.account_id OPERATOR(pg_catalog.=) s.account_id
		CROSS JOIN LATERAL (SELECT 0 AS line UNION ALL SELECT 8
			WHERE a.line OPERATOR(pg_catalog.>) 7) g
		WHERE a.adds_up AND a.accounts OPERATOR(pg_catalog.>) 1
		GROUP BY s.relation, g.line, s.piece
	), cap AS (
		SELECT b.relation::pg_catalog.text AS relation, b.epsilon_limit AS lim
			FROM privpred.budgets b
		WHERE b.role IS NULL AND b.epsilon_limit IS NOT NULL
			AND b.relation::pg_catalog.text OPERATOR(pg_catalog.=) ANY (relations)
	), line AS MATERIALIZED (
		-- What is now, for the legend.
		SELECT a.relation, a.line, a.spent, a.lim, pg_catalog.format('<bdi>%s</bdi>',
			privpred._html(COALESCE(
			(SELECT r.rolname::pg_catalog.text FROM pg_catalog.pg_roles r
				WHERE r.oid OPERATOR(pg_catalog.=) a.role), a.role_name, '?')))
			AS name
		FROM account a WHERE a.line OPERATOR(pg_catalog.<=) 7
		UNION ALL
		SELECT a.relation, 0, pg_catalog.sum(a.spent), (SELECT c.lim FROM cap c
			WHERE c.relation OPERATOR(pg_catalog.=) a.relation),
			'<b>all roles</b>'
		FROM account a WHERE a.adds_up AND a.accounts OPERATOR(pg_catalog.>) 1 GROUP BY a.relation
		UNION ALL
		SELECT a.relation, 8, CASE WHEN a.adds_up THEN pg_catalog.sum(a.spent) END, NULL,
			pg_catalog.format('%s others', pg_catalog.count(*))
		FROM account a WHERE a.line OPERATOR(pg_catalog.>) 7 GROUP BY a.relation, a.adds_up
	), level AS MATERIALIZED (
		-- Limits, from each grant to the next.
		SELECT p.relation, p.line, p.lim, p.at,
			COALESCE(pg_catalog.lead(p.at) OVER (PARTITION BY p.relation, p.line ORDER BY p.at),
				s.last) AS until
		FROM point p JOIN span s ON s.relation OPERATOR(pg_catalog.=) p.relation WHERE p.granted
		UNION ALL
		SELECT l.relation, 0, l.lim, s.first, s.last
		FROM line l JOIN span s ON s.relation OPERATOR(pg_catalog.=) l.relation
			WHERE l.line OPERATOR(pg_catalog.=) 0
	), scale AS (
		SELECT m.relation, t.step, GREATEST(m.top OPERATOR(pg_catalog.*) 1.04,
			t.step OPERATOR(pg_catalog.*) pg_catalog.ceil(m.top OPERATOR(pg_catalog./) t.step))
			AS top
		FROM (
			-- A limit belongs on the scale, unless it would flatten everything.
			SELECT p.relation, GREATEST(pg_catalog.max(p.spent), 0.000000001, (
				SELECT pg_catalog.max(l.lim) FROM level l
				WHERE l.relation OPERATOR(pg_catalog.=) p.relation
					AND l.lim OPERATOR(pg_catalog.<=) (20 OPERATOR(pg_catalog.*) pg_catalog.max(
					p.spent)))) AS top
			FROM point p GROUP BY p.relation) m
		CROSS JOIN LATERAL (SELECT privpred._nice_step(m.top, 5) AS step) t
	), frame AS MATERIALIZED (
		SELECT s.relation, s.top, s.step, n.first, n.last, pg_catalog.extract('epoch',
			n.first) AS zero,
			pg_catalog.extract('epoch', n.last) OPERATOR(pg_catalog.-) pg_catalog.extract('epoch',
				n.first) AS width
		FROM scale s JOIN span n ON n.relation OPERATOR(pg_catalog.=) s.relation
	), tick AS (
		-- Seconds, midnights and so on of the session's time zone, at most seven.
		SELECT f.relation,
			pg_catalog.string_agg(pg_catalog.format('<span style="left:%s%%">%s</span>',
			pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) (pg_catalog.extract(
				'epoch', t.at::pg_catalog.timestamptz) OPERATOR(pg_catalog.-) f.zero)
				OPERATOR(pg_catalog./) f.width, 2)),
			pg_catalog.to_char(t.at, u.format)), '' ORDER BY t.at) AS html
		FROM frame f
		CROSS JOIN LATERAL (
			SELECT pg_catalog.make_interval(secs => GREATEST(v.seconds,
				f.width OPERATOR(pg_catalog./) 7)::pg_catalog.float8) AS step, v.format
			FROM (VALUES (1, 'HH24:MI:SS'), (2, 'HH24:MI:SS'), (5, 'HH24:MI:SS'), (10,
				'HH24:MI:SS'),
				(30, 'HH24:MI:SS'), (60, 'HH24:MI'), (120, 'HH24:MI'), (300, 'HH24:MI'),
				(600, 'HH24:MI'), (1800, 'HH24:MI'), (3600, 'HH24:MI'), (7200, 'HH24:MI'),
				(10800, 'DD Mon HH24:MI'), (21600, 'DD Mon HH24:MI'), (43200, 'DD Mon HH24:MI'),
				(86400, 'DD Mon'), (172800, 'DD Mon'), (604800, 'DD Mon'), (1209600, 'DD Mon'),
				(2592000, 'DD Mon'), (7862400, 'Mon YYYY'), (15724800, 'Mon YYYY'),
				(31536000, 'Mon YYYY'), (157680000, 'Mon YYYY')) v(seconds, format)
			WHERE f.width OPERATOR(pg_catalog./) v.seconds OPERATOR(pg_catalog.<=) 7
				OR v.seconds OPERATOR(pg_catalog.=) 157680000
			ORDER BY v.seconds LIMIT 1) u
		CROSS JOIN LATERAL pg_catalog.generate_series(pg_catalog.date_bin(u.step,
			f.first::pg_catalog.timestamp,
			'2001-01-01'::pg_catalog.timestamp), f.last::pg_catalog.timestamp, u.step) t(at)
		WHERE t.at::pg_catalog.timestamptz OPERATOR(pg_catalog.>=) f.first
			AND t.at::pg_catalog.timestamptz OPERATOR(pg_catalog.<=) f.last
		GROUP BY f.relation
	), drawn AS (
		SELECT f.relation, pg_catalog.concat(
			(SELECT pg_catalog.string_agg(pg_catalog.format('<path class="grid" d="M0 %sH1000"/>',
					pg_catalog.trim_scale(pg_catalog.round(300 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (i OPERATOR(pg_catalog.*) f.step
						OPERATOR(pg_catalog./) f.top)), 1))), '' ORDER BY i)
				FROM pg_catalog.generate_series(0,
					pg_catalog.floor(f.top OPERATOR(pg_catalog./) f.step)::pg_catalog.int4) i),
					e'\n',
			(SELECT pg_catalog.string_agg(pg_catalog.format(
				'<path class="limit%s c%s" d="M%s %sH%s"/>',
					CASE WHEN l.line OPERATOR(pg_catalog.=) 0 THEN ' total' END, l.line,
					pg_catalog.trim_scale(pg_catalog.round(1000 OPERATOR(pg_catalog.*) (
						pg_catalog.extract('epoch', l.at) OPERATOR(pg_catalog.-) f.zero)
						OPERATOR(pg_catalog./) f.width, 1)),
					pg_catalog.trim_scale(pg_catalog.round(300 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (l.lim OPERATOR(pg_catalog./) f.top)), 1)),
					pg_catalog.trim_scale(pg_catalog.round(1000 OPERATOR(pg_catalog.*) (
						pg_catalog.extract('epoch', l.until) OPERATOR(pg_catalog.-) f.zero)
						OPERATOR(pg_catalog./) f.width, 1))),
					'' ORDER BY l.line, l.at)
				FROM level l WHERE l.relation OPERATOR(pg_catalog.=) f.relation
					AND l.lim OPERATOR(pg_catalog.<=) f.top), e'\n',
			(SELECT pg_catalog.string_agg(pg_catalog.format(
				e'<path class="line c%s" d="M0 300%sH1000"/>\n', d.line, d.path),
					'' ORDER BY d.line DESC)
				FROM (
					SELECT p.line, pg_catalog.string_agg(pg_catalog.format('H%sV%s',
						pg_catalog.trim_scale(pg_catalog.round(1000 OPERATOR(pg_catalog.*) (
							pg_catalog.extract('epoch', p.at) OPERATOR(pg_catalog.-) f.zero)
							OPERATOR(pg_catalog./) f.width, 1)),
						pg_catalog.trim_scale(pg_catalog.round(300 OPERATOR(pg_catalog.*) (1
							OPERATOR(pg_catalog.-) (p.spent OPERATOR(pg_catalog./) f.top)), 1))), ''
							ORDER BY p.at) AS path
					FROM point p
						WHERE p.relation OPERATOR(pg_catalog.=) f.relation GROUP BY p.line) d))
						AS svg,
			(SELECT pg_catalog.string_agg(pg_catalog.format('<span style="top:%s%%">%s</span>',
					pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (i OPERATOR(pg_catalog.*) f.step
						OPERATOR(pg_catalog./) f.top)), 2)),
					privpred._amount(i OPERATOR(pg_catalog.*) f.step, false)), '' ORDER BY i)
				FROM pg_catalog.generate_series(0,
					pg_catalog.floor(f.top OPERATOR(pg_catalog./) f.step)::pg_catalog.int4) i)
					AS labels,
			(SELECT pg_catalog.format(
				e'<span class="mark" style="top:%s%%">cap over all roles</span>\n',
					pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (l.lim OPERATOR(pg_catalog./) f.top)), 2)))
				FROM line l WHERE l.relation OPERATOR(pg_catalog.=) f.relation
					AND l.line OPERATOR(pg_catalog.=) 0
					AND l.lim OPERATOR(pg_catalog.<=) f.top) AS mark,
			(SELECT pg_catalog.string_agg(pg_catalog.format('%s %s', l.name, privpred._amount(l.lim,
				false)), ', '
					ORDER BY l.line)
				FROM line l WHERE l.relation OPERATOR(pg_catalog.=) f.relation
					AND l.lim OPERATOR(pg_catalog.>) f.top) AS above,
			(SELECT pg_catalog.string_agg(pg_catalog.format(
				e'<li><i class="c%s"></i>%s %s%s</li>\n', l.line, l.name,
					COALESCE(privpred._amount(l.spent, true),
						'<span class="muted">not drawn</span>'),
					CASE WHEN l.lim IS NOT NULL
						THEN pg_catalog.format(' <span class="muted">of %s</span>',
						privpred._amount(l.lim, false)) END), '' ORDER BY l.line)
				FROM line l WHERE l.relation OPERATOR(pg_catalog.=) f.relation) AS legend
		FROM frame f
	)
	SELECT d.relation, pg_catalog.concat(
		e'<figure class="chart">\n<figcaption><h3>Spent over time</h3>'
		'<p class="muted">dashed: limits</p></figcaption>\n<div class="plot">\n'
		'<span class="ytitle">&epsilon; spent so far</span><div class="y" aria-hidden="true">',
		d.labels, e'</div>\n<svg viewBox="0 0 1000 300" preserveAspectRatio="none" role="img" '
		'aria-label="Epsilon spent over time, one line per role">\n', d.svg, e'</svg>\n', d.mark,
		CASE WHEN d.above IS NOT NULL THEN pg_catalog.format(
			e'<span class="above">limits above this scale: %s &uarr;</span>\n', d.above) END,
		'<div class="x" aria-hidden="true">', t.html, e'</div>\n',
		pg_catalog.format(e'<span class="xtitle">time (%s)</span>\n', pg_catalog.to_char(until,
			'TZ')),
		e'</div>\n<ul class="legend">\n', d.legend, e'</ul>\n</figure>\n')
	FROM drawn d LEFT JOIN tick t ON t.relation OPERATOR(pg_catalog.=) d.relation $$;
COMMENT ON FUNCTION privpred._report_charts(text[], timestamptz) IS
'the spending on each table over time, in report()';

CREATE FUNCTION privpred._report_spenders(relations text[])
RETURNS TABLE (relation text, html text)
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Who asked may differ from who paid: members of a group spend its budget.
	WITH spent AS (
		SELECT x.relation, COALESCE(l.asked_by, '?') AS who, x.model,
			pg_catalog.sum(l.answers) AS answers, pg_catalog.sum(l.epsilon) AS epsilon,
			pg_catalog.bool_or(l.kind OPERATOR(pg_catalog.=) 'release'
				OR l.kind OPERATOR(pg_catalog.=) 'export' OR l.kind OPERATOR(pg_catalog.=) 'describe'
				OR l.kind OPERATOR(pg_catalog.=) 'accuracy') AS once
		FROM privpred.ledger l
		CROSS JOIN LATERAL (
			SELECT COALESCE(l.relation::pg_catalog.text, pg_catalog.concat(l.relation_name,
				' (dropped)')) AS relation,
				COALESCE(l.model, CASE WHEN l.kind OPERATOR(pg_catalog.=) 'describe' THEN 'description'
					ELSE 'forgiven' END) AS model) x
		WHERE l.role IS NOT NULL AND l.epsilon OPERATOR(pg_catalog.<>) 0
			AND x.relation OPERATOR(pg_catalog.=) ANY (relations)
		GROUP BY x.relation, COALESCE(l.asked_by, '?'), x.model
	), total AS (
		SELECT s.*, pg_catalog.sum(s.epsilon) OVER (PARTITION BY s.relation, s.who) AS by_who,
			pg_catalog.sum(s.epsilon) OVER (PARTITION BY s.relation, s.model) AS by_model
		FROM spent s
	), ranked AS MATERIALIZED (
		SELECT t.*, pg_catalog.dense_rank() OVER (PARTITION BY t.relation
				ORDER BY t.by_who DESC, t.who COLLATE pg_catalog."C") AS y,
			pg_catalog.dense_rank() OVER (PARTITION BY t.relation
				ORDER BY t.by_model DESC, t.model COLLATE pg_catalog."C") AS x
		FROM total t
	), cell AS MATERIALIZED (
		SELECT r.relation, LEAST(r.y, 21) AS y, LEAST(r.x, 7) AS x,
			pg_catalog.sum(r.answers) AS answers,
			pg_catalog.sum(r.epsilon) AS epsilon, pg_catalog.bool_and(r.once) AS once
		FROM ranked r GROUP BY r.relation, LEAST(r.y, 21), LEAST(r.x, 7)
	), line_of AS (
		SELECT r.relation, LEAST(r.y, 21) AS y, pg_catalog.max(r.y) AS last,
			pg_catalog.sum(r.epsilon) AS epsilon,
			pg_catalog.min(r.who) AS who
		FROM ranked r GROUP BY r.relation, LEAST(r.y, 21)
	), col AS MATERIALIZED (
		SELECT r.relation, LEAST(r.x, 7) AS x, CASE WHEN LEAST(r.x, 7) OPERATOR(pg_catalog.<) 7
			THEN pg_catalog.min(r.model)
			ELSE pg_catalog.format('%s other models', pg_catalog.max(r.x) OPERATOR(pg_catalog.-) 6)
				END AS model
		FROM ranked r GROUP BY r.relation, LEAST(r.x, 7)
	), line AS (
		SELECT r.relation, r.y, pg_catalog.concat('<tr><th scope="row"><bdi>', CASE
			WHEN r.y OPERATOR(pg_catalog.<) 21
				THEN privpred._html(r.who) ELSE pg_catalog.format('%s others',
					r.last OPERATOR(pg_catalog.-) 20) END, '</bdi></th>',
			pg_catalog.string_agg(CASE WHEN c.epsilon IS NULL
				THEN '<td class="number none">&middot;</td>'
				-- the more was spent, the darker
				ELSE pg_catalog.format(
					'<td class="number heat" style="--heat:%s">%s<small>%s</small></td>',
					pg_catalog.trim_scale(pg_catalog.round(0.08 OPERATOR(pg_catalog.+) (0.62
						OPERATOR(pg_catalog.*) LEAST(1, GREATEST(c.epsilon, 0)
						OPERATOR(pg_catalog./) GREATEST(m.most, 0.000000000001))), 2)),
							privpred._amount(c.epsilon, true),
					CASE WHEN c.once AND c.answers OPERATOR(pg_catalog.=) 0 THEN 'charged once'
						WHEN c.answers OPERATOR(pg_catalog.=) 1 THEN '1 answer'
							ELSE pg_catalog.concat(pg_catalog.to_char(c.answers,
							'FM999,999,999,999,999,990'), ' answers') END) END, '' ORDER BY o.x),
			pg_catalog.format(e'<td class="number sum">%s</td></tr>\n', privpred._amount(r.epsilon,
				true))) AS html
		FROM line_of r JOIN col o ON o.relation OPERATOR(pg_catalog.=) r.relation
		JOIN (SELECT c.relation, pg_catalog.max(c.epsilon)
			FILTER (WHERE c.y OPERATOR(pg_catalog.<) 21 AND c.x OPERATOR(pg_catalog.<) 7) AS most
			FROM cell c GROUP BY c.relation) m ON m.relation OPERATOR(pg_catalog.=) r.relation
		LEFT JOIN cell c ON c.relation OPERATOR(pg_catalog.=) r.relation
			AND c.y OPERATOR(pg_catalog.=) r.y AND c.x OPERATOR(pg_catalog.=) o.x
		GROUP BY r.relation, r.y, r.who, r.last, r.epsilon
	)
	SELECT l.relation,
		pg_catalog.concat(e'<h3>Who spent what on which model</h3>\n<p class="muted">charges, in '
		'the units of the account that paid: its order</p>\n<div class="scroll">'
		'<table class="spenders">\n<thead><tr><th scope="col">Asked by</th>',
		(SELECT pg_catalog.string_agg(pg_catalog.format(
			'<th scope="col" class="number"><bdi>%s</bdi></th>',
			privpred._html(o.model)), '' ORDER BY o.x) FROM col o
				WHERE o.relation OPERATOR(pg_catalog.=) l.relation),
		e'<th scope="col" class="number">all</th></tr></thead>\n<tbody>\n',
		pg_catalog.string_agg(l.html, '' ORDER BY l.y), e'</tbody>\n</table></div>\n')
	FROM line l GROUP BY l.relation $$;
COMMENT ON FUNCTION privpred._report_spenders(text[]) IS
'who spent what on which model of each table, in report()';

CREATE FUNCTION privpred._report_relations() RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Tables that spent most first, and those that are gone last.
	WITH ranked AS (
		SELECT x.relation, pg_catalog.row_number() OVER (
			ORDER BY pg_catalog.bool_and(b.relation IS NULL),
			pg_catalog.sum(b.epsilon_spent) DESC, x.relation COLLATE pg_catalog."C") AS place
		FROM privpred.budgets b
		CROSS JOIN LATERAL (
			SELECT COALESCE(b.relation::pg_catalog.text, pg_catalog.concat(b.relation_name,
				' (dropped)')) AS relation) x
		GROUP BY x.relation
	), shown AS MATERIALIZED (
		SELECT pg_catalog.array_agg(r.relation ORDER BY r.place)
			FILTER (WHERE r.place OPERATOR(pg_catalog.<=) 20) AS relations,
			pg_catalog.count(*) FILTER (WHERE r.place OPERATOR(pg_catalog.>) 20) AS hidden
		FROM ranked r
	)
	SELECT CASE WHEN s.relations IS NULL
		THEN e'<section class="card" id="budgets">\n<h2>Budgets</h2>\n'
			'<p class="muted">You hold no budget and own no table that has one.</p>\n</section>\n'
		ELSE pg_catalog.concat((
			SELECT pg_catalog.string_agg(pg_catalog.concat(
				e'<section class="card relation">\n<h2>Budgets on <bdi>',
					privpred._html(b.relation),
				e'</bdi></h2>\n', b.html,
				COALESCE(c.html, e'<p class="muted">Nothing was spent yet.</p>\n'), w.html,
				e'</section>\n'), '' ORDER BY pg_catalog.array_position(s.relations, b.relation))
			FROM privpred._report_budgets(s.relations) b
			LEFT JOIN privpred._report_charts(s.relations, pg_catalog.clock_timestamp()) c
				ON c.relation OPERATOR(pg_catalog.=) b.relation
			LEFT JOIN privpred._report_spenders(s.relations) w
				ON w.relation OPERATOR(pg_catalog.=) b.relation),
			privpred._left_out(s.hidden, 'tables')) END
	FROM shown s $$;
COMMENT ON FUNCTION privpred._report_relations() IS 'the part of report() about each table';

CREATE FUNCTION privpred._report_models() RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	WITH model AS (
		SELECT m.*, pg_catalog.row_number() OVER (
			ORDER BY m.relation::pg_catalog.text COLLATE pg_catalog."C",
			m.name COLLATE pg_catalog."C")
			AS place
		FROM privpred.models m
	), card AS (
		SELECT m.place, pg_catalog.concat(e'<article class="model">\n<h3><bdi>',
			privpred._html(m.name),
			'</bdi> <span class="version">version ', m.version,
				e'</span></h3>\n<p class="muted">predicts <bdi>',
			privpred._html(m.label::pg_catalog.text), '</bdi> of <bdi>',
				privpred._html(m.relation::pg_catalog.text),
			'</bdi> &middot; ', privpred._html(m.status), e'</p>\n<dl>\n',
			CASE WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once'
				THEN pg_catalog.format('<dt>charged once</dt><dd>&epsilon; = %s'
					'<small>then its answers are free</small></dd>', privpred._amount(m.epsilon,
						true))
				WHEN m.charge_kind OPERATOR(pg_catalog.=) 'per_stream'
					THEN pg_catalog.format('<dt>charged by streams</dt><dd>&epsilon; = '
					'%s<small>planned for an unstable answer; stable ones are free</small></dd>',
					privpred._amount(m.epsilon, true))
				ELSE pg_catalog.format('<dt>one answer costs</dt><dd>&epsilon; = %s</dd>',
					privpred._amount(m.epsilon, true)) END,
			CASE WHEN m.charge IS NULL AND m.pure_charge IS NULL
					THEN e'\n<dt>paid by</dt><dd>no budget: it is for its owner alone</dd>'
				WHEN m.pure_charge IS NULL THEN e'\n<dt>paid by</dt><dd>budgets with &delta;</dd>'
				WHEN m.charge IS NULL THEN e'\n<dt>paid by</dt><dd>budgets without &delta;</dd>'
					END,
			e'\n<dt>mechanism</dt><dd>', privpred._html(m.mechanism), e'</dd>\n',
			CASE WHEN m.learner IS NOT NULL THEN pg_catalog.format(
				e'<dt>learner</dt><dd>%s</dd>\n<dt>teachers</dt><dd>%s</dd>\n',
				privpred._html(m.learner), pg_catalog.to_char(m.teachers, 'FM999,999,999,990')) END,
			'<dt>trained</dt><dd>', pg_catalog.to_char(m.trained_at, 'YYYY-MM-DD HH24:MI TZ'),
			e'</dd>\n<dt>created by</dt><dd><bdi>', privpred._html(m.created_by::pg_catalog.text),
				e'</bdi></dd>\n',
			CASE WHEN m.options OPERATOR(pg_catalog.<>) '{}'
				THEN pg_catalog.format(e'<dt>options</dt><dd><code>%s</code></dd>\n',
				privpred._html(m.options::pg_catalog.text)) END,
			e'</dl>\n<p class="classes">', (
				SELECT pg_catalog.concat(pg_catalog.string_agg(pg_catalog.format(
					'<span class="pill"><bdi>%s</bdi></span> ',
						privpred._html(c.class)), '' ORDER BY c.place)
							FILTER (WHERE c.place OPERATOR(pg_catalog.<=) 12),
					CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 12
						THEN pg_catalog.format('<small>and %s more</small>',
						pg_catalog.count(*) OPERATOR(pg_catalog.-) 12) END)
				FROM pg_catalog.unnest(m.classes) WITH ORDINALITY c(class, place)),
			e'</p>\n<details><summary>', pg_catalog.jsonb_array_length(m.features),
			CASE WHEN pg_catalog.jsonb_array_length(m.features) OPERATOR(pg_catalog.=) 1
				THEN ' feature' ELSE ' features' END,
			e'</summary>\n<table class="features">\n<tbody>\n', (
				SELECT pg_catalog.string_agg(pg_catalog.format(
					e'<tr><th scope="row"><bdi>%s</bdi></th><td>%s</td><td>%s</td></tr>'
					'\n', privpred._html(f.feature OPERATOR(pg_catalog.->>) 'name'),
						privpred._html(f.feature OPERATOR(pg_catalog.->>) 'kind'),
					CASE WHEN pg_catalog.jsonb_typeof(f.feature OPERATOR(pg_catalog.->) 'levels')
						OPERATOR(pg_catalog.=) 'array' THEN (
						SELECT pg_catalog.concat(pg_catalog.string_agg(pg_catalog.format(
							'<span class="pill"><bdi>%s</bdi></span> ',
								privpred._html(v.level)), '' ORDER BY v.place)
								FILTER (WHERE v.place OPERATOR(pg_catalog.<=) 12),
							CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 12
								THEN pg_catalog.format('<small>and %s more</small>',
									pg_catalog.count(*) OPERATOR(pg_catalog.-) 12) END)
						FROM pg_catalog.jsonb_array_elements_text(f.feature
							OPERATOR(pg_catalog.->) 'levels')
							WITH ORDINALITY v(level, place))
						ELSE pg_catalog.concat_ws(' &hellip; ',
							privpred._html(f.feature OPERATOR(pg_catalog.->>) 'min'),
							privpred._html(f.feature OPERATOR(pg_catalog.->>) 'max')) END), ''
								ORDER BY f.place)
				FROM pg_catalog.jsonb_array_elements(m.features) WITH ORDINALITY f(feature, place)
				WHERE f.place OPERATOR(pg_catalog.<=) 200),
			e'</tbody>\n</table>\n', privpred._left_out(pg_catalog.jsonb_array_length(m.features)
				OPERATOR(pg_catalog.-) 200, 'features'),
			e'</details>\n</article>\n') AS html
		FROM model m WHERE m.place OPERATOR(pg_catalog.<=) 20
	)
	SELECT pg_catalog.concat(e'<section class="card" id="models">\n<h2>Models</h2>\n',
		COALESCE((SELECT pg_catalog.concat(e'<div class="models">\n', pg_catalog.string_agg(c.html,
			'' ORDER BY c.place),
				e'</div>\n') FROM card c HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0),
			e'<p class="muted">There is no model that you may ask.</p>\n'),
		privpred._left_out((SELECT pg_catalog.count(*) OPERATOR(pg_catalog.-) 20 FROM model m),
			'models'), e'</section>\n') $$;
COMMENT ON FUNCTION privpred._report_models() IS 'the cards of models in report()';

CREATE FUNCTION privpred._report_ledger(entries bigint, chained bigint, head bigint, at timestamptz)
RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Any head that the ledger ever had proves later that it was not rewound.
	SELECT pg_catalog.concat(e'<section class="card" id="ledger">\n<h2>Ledger</h2>\n<p>',
		pg_catalog.to_char(entries, 'FM999,999,999,999,999,990'),
		CASE WHEN entries OPERATOR(pg_catalog.=) 1 THEN ' entry' ELSE ' entries' END,
			' that you may see',
		pg_catalog.to_char(at, '", the last of" YYYY-MM-DD HH24:MI:SS TZ'),
		CASE WHEN entries OPERATOR(pg_catalog.>) chained
			THEN pg_catalog.format(', %s of them not chained yet',
			entries OPERATOR(pg_catalog.-) chained) END,
		e'.</p>\n',
		(SELECT pg_catalog.format(
			e'<p>Head after entry %s:</p>\n<p><code class="head">%s</code></p>\n'
				'<p class="muted">Keep it. '
				'<code>SELECT * FROM privpred.verify_ledger(&#39;\\x&hellip;&#39;)</code> '
				'with this head tells later whether the ledger was rewound or rewritten.</p>\n',
				h.id, pg_catalog.encode(h.head, 'hex'))
			FROM privpred.ledger h WHERE h.id OPERATOR(pg_catalog.=) _report_ledger.head LIMIT 1),
		e'</section>\n') $$;
COMMENT ON FUNCTION privpred._report_ledger(bigint, bigint, bigint,
	timestamptz) IS 'the ledger''s head in report()';

CREATE FUNCTION privpred._report_figures(answers numeric) RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.concat(e'<section class="figures" aria-label="In short">\n',
		pg_catalog.string_agg(
		pg_catalog.format(e'<div><b>%s</b> %s</div>\n', pg_catalog.to_char(f.number,
			'FM999,999,999,999,999,990'),
			CASE WHEN f.number OPERATOR(pg_catalog.=) 1 THEN f.one ELSE f.many END), ''
				ORDER BY f.place), e'</section>\n')
	FROM (
		SELECT 1 AS place, pg_catalog.count(DISTINCT b.relation) AS number, 'table' AS one,
			'tables' AS many
		FROM privpred.budgets b
		UNION ALL
		SELECT 2, pg_catalog.count(DISTINCT b.role), 'role with a budget', 'roles with a budget'
		FROM privpred.budgets b WHERE b.relation IS NOT NULL
		UNION ALL
		SELECT 3, pg_catalog.count(*), 'model', 'models' FROM privpred.models m
		UNION ALL
		SELECT 4, COALESCE(answers, 0), 'answer paid for', 'answers paid for') f $$;
COMMENT ON FUNCTION privpred._report_figures(numeric) IS 'report() in four figures';

-- The parts are STABLE, so all of them see the same snapshot.
CREATE FUNCTION privpred.report() RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off AS $$
	SELECT pg_catalog.concat(e'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
		'<meta http-equiv="Content-Security-Policy" '
		'content="default-src ''none''; style-src ''unsafe-inline''">\n'
		'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
		'<meta name="color-scheme" content="light dark">\n<title>Privacy budgets of ', p.database,
		e'</title>\n<style>', privpred._report_style(), e'</style>\n</head>\n<body>\n<header>\n'
		'<h1>Privacy budgets of <bdi>', p.database, e'</bdi></h1>\n<p><time>',
		pg_catalog.to_char(pg_catalog.clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS TZ'),
			'</time> &middot; as seen by <b><bdi>',
		privpred._html(CURRENT_USER::pg_catalog.text), '</bdi></b> &middot; privpred ',
		privpred._html(privpred.build()), e'</p>\n</header>\n<main>\n',
		privpred._report_warnings(), privpred._report_figures(p.answers),
			privpred._report_relations(),
		privpred._report_models(), privpred._report_ledger(p.entries, p.chained, p.head, p.at),
		e'</main>\n<footer>\n<p>Epsilon (&epsilon;) is the privacy loss of one unit, '
		'the person or thing that a table was declared to be about: one answer, or a '
		'whole account, changes the odds of anything that is learnt about a unit by a '
		'factor of at most e<sup>&epsilon;</sup>, except with probability &delta;; '
		'amounts are kept in units of 10<sup>&minus;12</sup> and rounded against the spender. '
		'Losses add up: a group of <i>g</i> units that belong together has <i>g</i> '
		'times the &epsilon; (a family of four, four times), and roles that share '
		'their answers hold the sum of their budgets, which only a cap over all '
		'roles bounds.</p>\n</footer>\n</body>\n</html>\n')
	FROM (
		SELECT privpred._html(pg_catalog.current_database()::pg_catalog.text) AS database,
			pg_catalog.sum(l.answers) AS answers,
			pg_catalog.count(*) AS entries, pg_catalog.count(l.id) AS chained,
				pg_catalog.max(l.id) AS head, pg_catalog.max(l.at) AS at
		FROM privpred.ledger l) p $$;
COMMENT ON FUNCTION privpred.report() IS
'anyone: one HTML page on the budgets, spending and models that you may see in privpred.budgets, ledger, leases and models; save it with \t \a \o report.html';

----------------------------------------------------------------------
-- plot
----------------------------------------------------------------------

CREATE FUNCTION privpred._svg_text(x numeric, y numeric, class text, value text,
	most int DEFAULT 200, angle int DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.format(CASE WHEN angle OPERATOR(pg_catalog.=) 0
		THEN e'<text class="%s" x="%s" y="%s">%s</text>\n'
		ELSE e'<text class="%s" transform="translate(%s %s) rotate(%5$s)">%4$s</text>\n' END,
		class, pg_catalog.trim_scale(pg_catalog.round(x, 1)),
			pg_catalog.trim_scale(pg_catalog.round(y, 1)), privpred._html(value, most), angle) $$;
COMMENT ON FUNCTION privpred._svg_text(numeric, numeric, text, text, int, int) IS
'text at a place in a picture of plot()';

CREATE FUNCTION privpred._plot_frame(width numeric, height numeric, title text, below text[],
	body text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- Every colour stands here twice, because not every renderer knows variables.
	SELECT pg_catalog.concat(pg_catalog.format(
		e'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$s %2$s" '
		'width="%1$s" height="%2$s" role="img">\n<title>%3$s</title>\n<style>', width, height,
		privpred._html(title)), $css$
svg{max-width:100%;height:auto}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
fill:#1a1f2b}
.title{font-size:15px;font-weight:600}.small{font-size:12px}.tiny{font-size:11px}
.end{text-anchor:end}.middle{text-anchor:middle}.italic{font-style:italic}
.line,.level,.grid,.mark{fill:none}.line{stroke-width:2.25;stroke-linejoin:round}
.level{stroke-width:1.75;stroke-dasharray:7 5}.mark{stroke-width:1.25;stroke-dasharray:2 4}
.page{fill:#fff}.muted{fill:#667085}.grid{stroke:#e3e6ed}.mark{stroke:#667085}
.s1{stroke:#3566c5}.f1{fill:#3566c5}.s2{stroke:#d3722c}.f2{fill:#d3722c}
.s3{stroke:#2f8f6b}.f3{fill:#2f8f6b}.s4{stroke:#98a1b2}.f4{fill:#98a1b2}
.s5{stroke:#a64ca6}.f5{fill:#a64ca6}.s6{stroke:#c2a21b}.f6{fill:#c2a21b}
.s7{stroke:#2a9bb8}.f7{fill:#2a9bb8}.s8{stroke:#b8455f}.f8{fill:#b8455f}
.band{stroke:none;fill-opacity:.22}.whisker{fill:none;stroke-width:5;stroke-opacity:.3}
.zero{fill:none;stroke:#98a1b2}.cell{fill:#eceff4}.heat,.shade{fill:#3566c5}.on{fill:#fff}.off{fill:#1a1f2b}
@media (prefers-color-scheme:dark){text{fill:#e4e8f0}.page{fill:#1b1f28}.muted{fill:#98a2b5}
.grid{stroke:#2d3341}.mark{stroke:#98a2b5}
.s1{stroke:#6f9cf0}.f1{fill:#6f9cf0}.s2{stroke:#f09a5a}.f2{fill:#f09a5a}
.s3{stroke:#57c79b}.f3{fill:#57c79b}.s4{stroke:#7d8798}.f4{fill:#7d8798}
.s5{stroke:#d083d0}.f5{fill:#d083d0}.s6{stroke:#e0c64f}.f6{fill:#e0c64f}
.s7{stroke:#5cc6e0}.f7{fill:#5cc6e0}.s8{stroke:#ef7f98}.f8{fill:#ef7f98}
.zero{stroke:#7d8798}.cell{fill:#272d39}.heat,.shade{fill:#6f9cf0}.on{fill:#12151b}.off{fill:#e4e8f0}}
$css$,
		pg_catalog.format(e'</style>\n<rect class="page" width="%s" height="%s"/>\n', width,
			height),
		privpred._svg_text(16, 28, 'title', title, 80),
		(SELECT pg_catalog.string_agg(privpred._svg_text(16,
			30 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) b.place), 'small muted', b.said),
			''
			ORDER BY b.place) FROM pg_catalog.unnest(below) WITH ORDINALITY b(said, place)),
		body, e'</svg>\n') $$;
COMMENT ON FUNCTION privpred._plot_frame(numeric, numeric, text, text[], text) IS
'size, colours, title and remarks of a picture of plot()';

-- lines: name, note, class, marked (the place of a point with a larger dot) and points [x, y];
-- a point that is alone and not marked is a level, all across.
CREATE FUNCTION privpred._plot_chart(title text, below text[], x_title text, y_title text,
	from_zero boolean, mark numeric, lines jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	WITH line AS (
		SELECT l.place, l.line OPERATOR(pg_catalog.->>) 'name' AS name,
			l.line OPERATOR(pg_catalog.->>) 'note' AS note,
			l.line OPERATOR(pg_catalog.->>) 'class' AS class,
				(l.line OPERATOR(pg_catalog.->>) 'marked')::pg_catalog.int4 AS marked,
			l.line OPERATOR(pg_catalog.->) 'points' AS points,
			pg_catalog.jsonb_array_length(l.line OPERATOR(pg_catalog.->) 'points')
				OPERATOR(pg_catalog.=) 1
				AND l.line OPERATOR(pg_catalog.->>) 'marked' IS NULL AS is_level
		FROM pg_catalog.jsonb_array_elements(lines) WITH ORDINALITY l(line, place)
	), point AS (
		SELECT l.place AS line, l.class, l.is_level, p.place,
			l.marked OPERATOR(pg_catalog.=) p.place AS marked,
			pg_catalog.log((p.point OPERATOR(pg_catalog.->>) 0)::pg_catalog.numeric) AS x,
				(p.point OPERATOR(pg_catalog.->>) 1)::pg_catalog.numeric AS y
		FROM line l, pg_catalog.jsonb_array_elements(l.points) WITH ORDINALITY p(point, place)
	), extent AS (
		SELECT e.x_low, e.x_high, e.y_low, e.y_high,
			privpred._nice_step(GREATEST(e.y_high OPERATOR(pg_catalog.-) e.y_low, 0.000001),
				5) AS step
		FROM (
			SELECT CASE WHEN r.x_low OPERATOR(pg_catalog.<) r.x_high THEN r.x_low
				ELSE pg_catalog.log(COALESCE(mark, 1)) OPERATOR(pg_catalog.-) 1 END AS x_low,
				CASE WHEN r.x_low OPERATOR(pg_catalog.<) r.x_high THEN r.x_high
					ELSE pg_catalog.log(COALESCE(mark, 1)) OPERATOR(pg_catalog.+) 1 END AS x_high,
				CASE WHEN from_zero THEN 0 ELSE r.y_low END AS y_low, r.y_high
			FROM (
				SELECT pg_catalog.min(p.x) FILTER (WHERE NOT p.is_level) AS x_low,
					pg_catalog.max(p.x) FILTER (WHERE NOT p.is_level) AS x_high,
						pg_catalog.min(p.y) AS y_low,
					pg_catalog.max(p.y) AS y_high
				FROM point p) r) e
	), bound AS (
		-- whole steps of y around all points; shares end at 1
		SELECT e.x_low, e.x_high, e.step,
			48 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) pg_catalog.cardinality(below))
			AS top,
			e.step OPERATOR(pg_catalog.*) pg_catalog.floor(e.y_low OPERATOR(pg_catalog./) e.step)
				OPERATOR(pg_catalog.-) CASE WHEN e.y_low OPERATOR(pg_catalog.=) e.y_high THEN e.step
				ELSE 0 END
				AS y_low,
			CASE WHEN from_zero THEN e.step OPERATOR(pg_catalog.*) pg_catalog.ceil(e.y_high
				OPERATOR(pg_catalog./) e.step)
				ELSE LEAST(1, e.step OPERATOR(pg_catalog.*) pg_catalog.ceil(e.y_high
					OPERATOR(pg_catalog./) e.step)) END AS y_high
		FROM extent e
	), scale AS MATERIALIZED (
		-- x = left + x_unit * (log x - x_low), y = bottom - y_unit * (y - y_low)
		SELECT b.*, 66 AS x_left, 620 AS x_right, b.top OPERATOR(pg_catalog.+) 280 AS bottom,
			554 OPERATOR(pg_catalog./) (b.x_high OPERATOR(pg_catalog.-) b.x_low) AS x_unit,
				280 OPERATOR(pg_catalog./) GREATEST(b.y_high OPERATOR(pg_catalog.-) b.y_low,
				0.000001) AS y_unit
		FROM bound b
	), placed AS (
		SELECT p.*, pg_catalog.trim_scale(pg_catalog.round(s.x_left OPERATOR(pg_catalog.+) (s.x_unit
			OPERATOR(pg_catalog.*) (p.x OPERATOR(pg_catalog.-) s.x_low)), 2)) AS cx,
			pg_catalog.trim_scale(pg_catalog.round(s.bottom OPERATOR(pg_catalog.-) (s.y_unit
				OPERATOR(pg_catalog.*) (p.y OPERATOR(pg_catalog.-) s.y_low)), 2)) AS cy
		FROM point p, scale s
	), x_tick AS (
		-- at 1, 2, 5 of each power of ten, at 1 alone, or at every so many of these
		SELECT pg_catalog.round(s.x_left OPERATOR(pg_catalog.+) (s.x_unit OPERATOR(pg_catalog.*) (
			pg_catalog.log(t.number) OPERATOR(pg_catalog.-) s.x_low)), 1) AS x, t.number
		FROM scale s, pg_catalog.generate_series(pg_catalog.floor(s.x_low)::pg_catalog.int4,
			pg_catalog.floor(s.x_high)::pg_catalog.int4) power,
			pg_catalog.unnest('{1,2,5}'::pg_catalog.int4[]) digit,
			LATERAL (SELECT pg_catalog.round(digit
				OPERATOR(pg_catalog.*) pg_catalog.power(10::pg_catalog.numeric, power),
				12) AS number) t
		WHERE t.number OPERATOR(pg_catalog.>) 0
			AND pg_catalog.log(t.number) OPERATOR(pg_catalog.>=) (s.x_low
			OPERATOR(pg_catalog.-) 0.000001)
			AND pg_catalog.log(t.number) OPERATOR(pg_catalog.<=) (s.x_high
				OPERATOR(pg_catalog.+) 0.000001)
			AND (digit OPERATOR(pg_catalog.=) 1 OR (s.x_high OPERATOR(pg_catalog.-) s.x_low)
				OPERATOR(pg_catalog.*) 3 OPERATOR(pg_catalog.<=) 7)
			AND pg_catalog.mod(power,
				GREATEST(pg_catalog.ceil((s.x_high OPERATOR(pg_catalog.-) s.x_low)
				OPERATOR(pg_catalog./) 7), 1)) OPERATOR(pg_catalog.=) 0
	), y_tick AS (
		SELECT pg_catalog.round(s.bottom OPERATOR(pg_catalog.-) (s.y_unit OPERATOR(pg_catalog.*) (
			s.step OPERATOR(pg_catalog.*) i)), 1) AS y,
			pg_catalog.round(s.y_low OPERATOR(pg_catalog.+) (s.step OPERATOR(pg_catalog.*) i),
				GREATEST(0, pg_catalog.ceil(0 OPERATOR(pg_catalog.-) pg_catalog.log(
				s.step)))::pg_catalog.int4) AS number
		FROM scale s, pg_catalog.generate_series(0,
			pg_catalog.round((s.y_high OPERATOR(pg_catalog.-) s.y_low)
			OPERATOR(pg_catalog./) s.step)::pg_catalog.int4) i
	)
	SELECT privpred._plot_frame(640, s.bottom OPERATOR(pg_catalog.+) 64 OPERATOR(pg_catalog.+) (38
		OPERATOR(pg_catalog.*) pg_catalog.ceil(pg_catalog.jsonb_array_length(lines)
		OPERATOR(pg_catalog./) 2.0)), title,
		below, pg_catalog.concat(
		(SELECT pg_catalog.string_agg(pg_catalog.concat(pg_catalog.format(
			e'<path class="grid" d="M%1$s %2$sL%1$s %3$s"/>\n', t.x, s.top,
				s.bottom), privpred._svg_text(t.x, s.bottom OPERATOR(pg_catalog.+) 18,
					'small muted middle',
				CASE WHEN t.number OPERATOR(pg_catalog.>=) 1000000 THEN pg_catalog.format('10^%s',
					pg_catalog.round(pg_catalog.log(t.number)))
					WHEN t.number OPERATOR(pg_catalog.>=) 1 THEN pg_catalog.to_char(t.number,
						'FM999,990')
					ELSE pg_catalog.trim_scale(t.number)::pg_catalog.text END)), '' ORDER BY t.x)
						FROM x_tick t),
		privpred._svg_text((s.x_left OPERATOR(pg_catalog.+) s.x_right) OPERATOR(pg_catalog./) 2,
			s.bottom OPERATOR(pg_catalog.+) 42, 'middle', x_title),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(pg_catalog.format(
			e'<path class="grid" d="M%1$s %2$sL%3$s %2$s"/>\n', s.x_left,
				t.y, s.x_right), privpred._svg_text(s.x_left OPERATOR(pg_catalog.-) 8,
					t.y OPERATOR(pg_catalog.+) 4, 'small muted end',
				t.number::pg_catalog.text)), '' ORDER BY t.y DESC) FROM y_tick t),
		privpred._svg_text(20, (s.top OPERATOR(pg_catalog.+) s.bottom) OPERATOR(pg_catalog./) 2,
			'middle', y_title, 48, 270),
		(SELECT pg_catalog.concat(pg_catalog.format(
			e'<path class="mark" d="M%1$s %2$sL%1$s %3$s"/>\n', pg_catalog.trim_scale(m.x), s.top,
				s.bottom), privpred._svg_text(CASE WHEN m.x OPERATOR(pg_catalog.>) 343
					THEN m.x OPERATOR(pg_catalog.-) 6 ELSE m.x OPERATOR(pg_catalog.+) 6 END,
				s.bottom OPERATOR(pg_catalog.-) 8, CASE WHEN m.x OPERATOR(pg_catalog.>) 343
					THEN 'small muted end' ELSE 'small muted' END,
				pg_catalog.format('this model: %s', pg_catalog.trim_scale(mark))))
			FROM (SELECT pg_catalog.round(s.x_left OPERATOR(pg_catalog.+) (s.x_unit
				OPERATOR(pg_catalog.*) (pg_catalog.log(mark) OPERATOR(pg_catalog.-) s.x_low)),
				1) AS x) m
			WHERE mark IS NOT NULL),
		(SELECT pg_catalog.string_agg(CASE WHEN l.is_level THEN (
				SELECT pg_catalog.format(e'<path class="level s%1$s" d="M%2$s %3$sL%4$s %3$s"/>\n',
					l.class, s.x_left,
					p.cy, s.x_right) FROM placed p WHERE p.line OPERATOR(pg_catalog.=) l.place)
			ELSE (
				SELECT pg_catalog.concat(pg_catalog.format(e'<path class="line s%s" d="M%s"/>\n',
					l.class,
						pg_catalog.string_agg(pg_catalog.concat(p.cx, ' ', p.cy), 'L'
							ORDER BY p.place)),
					pg_catalog.string_agg(pg_catalog.format(
						e'<circle cx="%s" cy="%s" r="%s" class="f%s"/>\n', p.cx, p.cy,
						CASE WHEN p.marked THEN 5 ELSE 3 END, l.class), '' ORDER BY p.place))
				FROM placed p WHERE p.line OPERATOR(pg_catalog.=) l.place) END, ''
					ORDER BY l.place DESC) FROM line l),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				pg_catalog.format(e'<path class="%s s%s" d="M%s %sH%s"/>\n', CASE WHEN l.is_level
					THEN 'level'
					ELSE 'line' END, l.class, k.x, k.y OPERATOR(pg_catalog.-) 4,
						k.x OPERATOR(pg_catalog.+) 22),
				privpred._svg_text(k.x OPERATOR(pg_catalog.+) 30, k.y, '', l.name),
				privpred._svg_text(k.x OPERATOR(pg_catalog.+) 30, k.y OPERATOR(pg_catalog.+) 15,
					'small muted', l.note)), '' ORDER BY l.place)
			FROM line l, LATERAL (SELECT s.x_left OPERATOR(pg_catalog.+) (290
				OPERATOR(pg_catalog.*) pg_catalog.mod(l.place OPERATOR(pg_catalog.-) 1, 2)) AS x,
				s.bottom OPERATOR(pg_catalog.+) 72 OPERATOR(pg_catalog.+) (38
					OPERATOR(pg_catalog.*) pg_catalog.floor((l.place OPERATOR(pg_catalog.-) 1)
					OPERATOR(pg_catalog./) 2.0)) AS y) k)))
	FROM scale s $$;
COMMENT ON FUNCTION privpred._plot_chart(text, text[], text, text, boolean, numeric, jsonb) IS
'lines over a logarithmic axis, and a legend below them: accuracy and answers of plot()';

CREATE FUNCTION privpred._plot_confusion(title text, cells jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- cells: class, answer and rows, in the order of the classes; without answer: unstable
	WITH cell AS (
		SELECT pg_catalog.dense_rank() OVER (ORDER BY c.first) OPERATOR(pg_catalog.-) 1 AS y,
			pg_catalog.row_number() OVER (PARTITION BY c.class
				ORDER BY c.place) OPERATOR(pg_catalog.-) 1 AS x,
			c.class, c.answer, c.total,
			CASE WHEN c.total OPERATOR(pg_catalog.>) 0
				THEN LEAST(GREATEST(c.rows OPERATOR(pg_catalog./) c.total, 0), 1)
				ELSE 0 END AS share
		FROM (
			SELECT e.place, e.cell OPERATOR(pg_catalog.->>) 'class' AS class,
				e.cell OPERATOR(pg_catalog.->>) 'answer' AS answer,
				(e.cell OPERATOR(pg_catalog.->>) 'rows')::pg_catalog.numeric AS rows,
				pg_catalog.min(e.place) OVER (PARTITION BY e.cell OPERATOR(pg_catalog.->>) 'class')
					AS first,
				pg_catalog.sum((e.cell OPERATOR(pg_catalog.->>) 'rows')::pg_catalog.numeric)
					OVER (PARTITION BY e.cell OPERATOR(pg_catalog.->>) 'class') AS total
			FROM pg_catalog.jsonb_array_elements(cells) WITH ORDINALITY e(cell, place)) c
	), frame AS MATERIALIZED (
		SELECT 56 OPERATOR(pg_catalog.+) (7 OPERATOR(pg_catalog.*) n.letters) AS x_left,
			100 OPERATOR(pg_catalog.+) (5 OPERATOR(pg_catalog.*) n.letters) AS top, n.across,
			n.down,
			LEAST(64, GREATEST(34, pg_catalog.floor(480.0 OPERATOR(pg_catalog./) n.across))) AS size
		FROM (
			SELECT pg_catalog.max(c.x) OPERATOR(pg_catalog.+) 1 AS across,
				pg_catalog.max(c.y) OPERATOR(pg_catalog.+) 1 AS down,
				LEAST(17, GREATEST(pg_catalog.max(pg_catalog.length(c.class)),
					pg_catalog.max(pg_catalog.length(COALESCE(c.answer, 'unstable')))))
					AS letters
			FROM cell c) n
	)
	SELECT privpred._plot_frame(GREATEST(f.x_left OPERATOR(pg_catalog.+) (f.across
		OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 90, 520),
		f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size)
			OPERATOR(pg_catalog.+) 84, title,
		ARRAY['Answers to rows of each class, in percent of the class, to accounts without delta.'],
			pg_catalog.concat(
		privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) (f.across OPERATOR(pg_catalog.*) f.size
			OPERATOR(pg_catalog./) 2), 74, 'middle', 'answer'),
		privpred._svg_text(20, f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size
			OPERATOR(pg_catalog./) 2), 'middle', 'true class', 48, 270),
		privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) (f.across OPERATOR(pg_catalog.*) f.size)
			OPERATOR(pg_catalog.+) 10, f.top OPERATOR(pg_catalog.-) 12, 'small muted', 'rows'),
		(SELECT pg_catalog.string_agg(privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) ((c.x
			OPERATOR(pg_catalog.+) 0.5) OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4,
			f.top OPERATOR(pg_catalog.-) 10,
				CASE WHEN c.answer IS NULL THEN 'small italic muted' ELSE 'small' END,
				COALESCE(c.answer, 'unstable'), 16, 315), '' ORDER BY c.x) FROM cell c
					WHERE c.y OPERATOR(pg_catalog.=) 0),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				privpred._svg_text(f.x_left OPERATOR(pg_catalog.-) 10,
					f.top OPERATOR(pg_catalog.+) ((c.y OPERATOR(pg_catalog.+) 0.5)
					OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4, 'small end', c.class,
					16),
				privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) (f.across
					OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 10,
					f.top OPERATOR(pg_catalog.+) ((c.y OPERATOR(pg_catalog.+) 0.5)
						OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4, 'small muted',
					pg_catalog.to_char(c.total, 'FM999,999,999,990'))), '' ORDER BY c.y) FROM cell c
						WHERE c.x OPERATOR(pg_catalog.=) 0),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				pg_catalog.format(
					e'<rect class="cell" x="%1$s" y="%2$s" width="%3$s" height="%3$s"/>\n'
					'<rect class="heat" x="%1$s" y="%2$s" width="%3$s" height="%3$s" '
					'fill-opacity="%4$s"/>\n', f.x_left OPERATOR(pg_catalog.+) (c.x
						OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 1,
						f.top OPERATOR(pg_catalog.+) (c.y OPERATOR(pg_catalog.*) f.size)
						OPERATOR(pg_catalog.+) 1,
					f.size OPERATOR(pg_catalog.-) 2, pg_catalog.trim_scale(pg_catalog.round(c.share,
						2))),
				privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) ((c.x OPERATOR(pg_catalog.+) 0.5)
					OPERATOR(pg_catalog.*) f.size),
					f.top OPERATOR(pg_catalog.+) ((c.y OPERATOR(pg_catalog.+) 0.5)
					OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4,
					pg_catalog.concat(CASE WHEN f.size OPERATOR(pg_catalog.<) 42 THEN 'tiny'
						ELSE 'small' END,
						CASE WHEN c.share OPERATOR(pg_catalog.>) 0.55 THEN ' middle on'
							ELSE ' middle off' END),
					pg_catalog.round(100 OPERATOR(pg_catalog.*) c.share, CASE
						WHEN f.size OPERATOR(pg_catalog.<) 42 THEN 0 ELSE 1 END)::pg_catalog.text)),
						''
				ORDER BY c.y, c.x) FROM cell c),
		(SELECT pg_catalog.string_agg(pg_catalog.format(
			e'<rect class="cell" x="%1$s" y="%2$s" width="20" height="12"/>\n'
					'<rect class="shade" x="%1$s" y="%2$s" width="20" height="12" '
					'fill-opacity="%3$s"/>\n',
					f.x_left OPERATOR(pg_catalog.+) (20 OPERATOR(pg_catalog.*) i),
						f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size)
						OPERATOR(pg_catalog.+) 30,
						pg_catalog.trim_scale(i OPERATOR(pg_catalog./) 10.0)), ''
				ORDER BY i) FROM pg_catalog.generate_series(0, 10) i),
		(SELECT pg_catalog.string_agg(privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) 10
			OPERATOR(pg_catalog.+) (2 OPERATOR(pg_catalog.*) i),
			f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size)
			OPERATOR(pg_catalog.+) 58,
				'small muted middle', pg_catalog.concat(i, '%')), '' ORDER BY i)
					FROM pg_catalog.unnest('{0,50,100}'::pg_catalog.int4[]) i)))
	FROM frame f $$;
COMMENT ON FUNCTION privpred._plot_confusion(text, jsonb) IS
'the confusion matrix of plot(): shares of each true class, as shades and figures';

CREATE FUNCTION privpred._plot_curve(curve jsonb, figure text, title text, class text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- An epsilon without a known accuracy is left out.
	SELECT pg_catalog.jsonb_build_object('name', title, 'class', class,
		'note', pg_catalog.max(pg_catalog.format('%s at epsilon %s',
			pg_catalog.trim_scale(pg_catalog.round(k.y, 4)), pg_catalog.trim_scale(k.x)))
			FILTER (WHERE k.own), 'marked', pg_catalog.max(k.place) FILTER (WHERE k.own),
		'points', pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(k.x, k.y) ORDER BY k.place))
	FROM (
		SELECT p.x, p.y, p.own, pg_catalog.row_number() OVER (ORDER BY p.x) AS place
		FROM (
			SELECT (c.point OPERATOR(pg_catalog.->>) 'epsilon')::pg_catalog.numeric AS x,
				(c.point OPERATOR(pg_catalog.->>) figure)::pg_catalog.numeric AS y,
				(c.point OPERATOR(pg_catalog.->>) 'own')::pg_catalog.bool AS own
			FROM pg_catalog.jsonb_array_elements(curve) c(point)) p
		WHERE p.y IS NOT NULL) k $$;
COMMENT ON FUNCTION privpred._plot_curve(jsonb, text, text, text) IS
'a line of _plot_chart(): a figure of accuracy_curve() against epsilon';

CREATE FUNCTION privpred._plot_answers(epsilon float8, delta float8, mechanism text)
RETURNS TABLE (answers bigint, per_answer numeric, pure boolean)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- 1, 2, 5, 10, ... up to a million, as far as the budget goes
	SELECT s.answers, e.per_answer, e.renyi_order OPERATOR(pg_catalog.=) 'Infinity'
	FROM privpred.answers_for(epsilon, delta, 0.000000001, mechanism) most,
		pg_catalog.generate_series(0, 6) power,
			pg_catalog.unnest('{1,2,5}'::pg_catalog.int4[]) digit,
		LATERAL (SELECT (digit OPERATOR(pg_catalog.*) pg_catalog.round(
			pg_catalog.power(10::pg_catalog.numeric, power)))::pg_catalog.int8 AS answers) s,
		LATERAL privpred.epsilon_for(epsilon, delta, LEAST(s.answers, most.answers), mechanism) e
	WHERE s.answers OPERATOR(pg_catalog.<=) LEAST(most.answers, 1000000)
	ORDER BY s.answers $$;
COMMENT ON FUNCTION privpred._plot_answers(float8, float8, text) IS
'at which epsilon a budget pays for how many answers, and whether its account would be pure; for plot()';

CREATE FUNCTION privpred.plot(model text, test regclass, kind text DEFAULT 'accuracy',
	epsilons float8[] DEFAULT NULL, epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0)
RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1 AS $$
DECLARE
	missing pg_catalog.text := CASE WHEN model IS NULL THEN 'model' WHEN test IS NULL THEN 'test'
		WHEN kind IS NULL THEN 'kind' WHEN delta IS NULL THEN 'delta' END;
	card pg_catalog.record;
	figures pg_catalog.record;
	cells pg_catalog.jsonb;
	curve pg_catalog.jsonb;
	lines pg_catalog.jsonb;
	pure_figure pg_catalog.text;			-- names of the figures in curve
	delta_figure pg_catalog.text;
	remark pg_catalog.text;
	refused pg_catalog.text;
BEGIN
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE := 'null_value_not_allowed',
			MESSAGE := pg_catalog.format('argument "%s" must not be NULL', missing),
			HINT := 'Give a value, or leave the argument out to get its default.';
	ELSIF kind OPERATOR(pg_catalog.<>) ALL ('{accuracy,answers,confusion}'::pg_catalog.text[]) THEN
		RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
			MESSAGE := pg_catalog.format('there is no plot of kind "%s"', kind),
			HINT := 'Use ''accuracy'', ''answers'' or ''confusion''.';
	ELSIF kind OPERATOR(pg_catalog.=) 'answers' AND epsilon IS NULL THEN
		RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
			MESSAGE := 'accuracy against answers needs a budget',
			HINT := 'Say epsilon => 1, delta => 1e-6, for example.';
	END IF;

	SELECT m.mechanism, m.teachers, pg_catalog.cardinality(m.classes) AS classes,
		m.charge_kind OPERATOR(pg_catalog.=) 'once' AS once,
		CASE WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once'
				THEN 'It is charged once, and then answers any number of questions.'
			WHEN m.charge_kind OPERATOR(pg_catalog.=) 'per_stream'
				THEN 'A stream is charged by its unstable answers.'
			WHEN m.charge IS NULL AND m.pure_charge IS NULL
				THEN 'No budget can pay for its answers.' END AS refused
	INTO card FROM privpred.models m JOIN pg_catalog.pg_class c
		ON c.oid OPERATOR(pg_catalog.=) m.relation::pg_catalog.oid
	WHERE m.name OPERATOR(pg_catalog.=) plot.model AND pg_catalog.pg_has_role(c.relowner, 'USAGE');
	IF NOT FOUND THEN
		-- This raises the error that there is no such model, or that the caller is not the owner.
		PERFORM privpred.evaluate(model, test);
	END IF;

	IF kind OPERATOR(pg_catalog.=) 'confusion' THEN
		IF card.classes OPERATOR(pg_catalog.=) 0 OR card.classes OPERATOR(pg_catalog.>) 30 THEN
			RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
				MESSAGE := pg_catalog.format(
					'a confusion matrix is drawn for 2 to 30 classes, not %s', card.classes),
				HINT := 'Use kind => ''accuracy'', or privpred.confusion_matrix().';
		END IF;
		SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('class', c.class, 'answer',
			c.answer,
			'rows', c.rows::pg_catalog.numeric) ORDER BY c.place) INTO cells
		FROM privpred.confusion_matrix(model, test) WITH ORDINALITY
			c(class, answer, rows, share, approximate_rows, approximate_share, place)
		HAVING pg_catalog.sum(c.rows) OPERATOR(pg_catalog.>) 0;
	ELSE
		IF kind OPERATOR(pg_catalog.=) 'answers' AND card.refused IS NULL THEN
			SELECT COALESCE(pg_catalog.array_agg(a.per_answer::pg_catalog.float8),
				'{}') INTO epsilons
			FROM privpred._plot_answers(epsilon, delta, card.mechanism) a;
		END IF;
		IF kind OPERATOR(pg_catalog.=) 'accuracy' OR card.refused IS NULL THEN
			SELECT e.* INTO figures FROM privpred.evaluate(model, test) e;
			curve := figures.accuracy_by_epsilon;
			IF epsilons IS NOT NULL THEN
				SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(c)) INTO curve
				FROM privpred.accuracy_curve(model, test, epsilons) c
					WHERE figures.rows OPERATOR(pg_catalog.>) 0;
			END IF;
		END IF;
	END IF;
	IF cells IS NULL AND curve IS NULL AND (kind OPERATOR(pg_catalog.<>) 'answers'
		OR card.refused IS NULL) THEN
		RAISE EXCEPTION USING ERRCODE := 'no_data_found', MESSAGE := 'there is nothing to draw',
			DETAIL := 'No row of the test table has a label that the model knows.',
			HINT := 'Give labelled rows.';
	ELSIF kind OPERATOR(pg_catalog.=) 'confusion' THEN
		RETURN privpred._plot_confusion(pg_catalog.format('Answers of model %s', model), cells);
	END IF;

	pure_figure := CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'private_accuracy'
		ELSE 'private_rmse' END;
	delta_figure := CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'approximate_accuracy'
		ELSE 'approximate_rmse' END;
	-- Errors of huge numbers are beyond all numbers.
	IF kind OPERATOR(pg_catalog.=) 'accuracy' AND NOT EXISTS (
		SELECT FROM pg_catalog.jsonb_array_elements(curve) c(point)
		WHERE c.point OPERATOR(pg_catalog.->>) pure_figure IS NOT NULL)
	THEN
		RAISE EXCEPTION USING ERRCODE := 'no_data_found', MESSAGE := 'there is nothing to draw',
			DETAIL := 'The errors are too large for numbers.',
			HINT := 'Declare a label in larger units.';
	END IF;
	IF kind OPERATOR(pg_catalog.=) 'answers' THEN
		SELECT pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object('name', 'private',
			'class', '1', 'points',
				pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(k.answers, k.y)
					ORDER BY k.answers)
					FILTER (WHERE k.y IS NOT NULL))),
			CASE WHEN pg_catalog.count(k.y) OPERATOR(pg_catalog.<) 2 THEN COALESCE(
				pg_catalog.max(pg_catalog.concat(pg_catalog.upper(pg_catalog.left(k.remark, 1)),
					pg_catalog.substring(k.remark, 2), '.'))
					FILTER (WHERE k.y IS NULL),
				'The budget does not pay for two answers at an epsilon that its declaration allows.') END
		INTO lines, refused
		FROM (
			SELECT a.answers, c.point OPERATOR(pg_catalog.->>) 'remark' AS remark,
				(c.point OPERATOR(pg_catalog.->>) CASE WHEN a.pure THEN pure_figure
					ELSE delta_figure END)::pg_catalog.numeric AS y
			FROM privpred._plot_answers(epsilon, delta, card.mechanism) a
			JOIN pg_catalog.jsonb_array_elements(curve) c(point)
				ON (c.point OPERATOR(pg_catalog.->>) 'epsilon')::pg_catalog.numeric
					OPERATOR(pg_catalog.=) a.per_answer
			WHERE card.refused IS NULL) k;
		refused := COALESCE(card.refused, refused);
		IF refused IS NOT NULL THEN
			RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
				MESSAGE := pg_catalog.format(
					'accuracy against answers cannot be drawn for model "%s"', model),
				DETAIL := refused, HINT := 'Use kind => ''accuracy''.';
		END IF;
	ELSIF figures.exact AND EXISTS (
		SELECT FROM pg_catalog.jsonb_array_elements(curve) c(point)
		WHERE pg_catalog.abs((c.point OPERATOR(pg_catalog.->>) pure_figure)::pg_catalog.numeric
			OPERATOR(pg_catalog.-) (c.point
			OPERATOR(pg_catalog.->>) delta_figure)::pg_catalog.numeric)
			OPERATOR(pg_catalog.>) 0.000000001)
	THEN
		lines := pg_catalog.jsonb_build_array(privpred._plot_curve(curve, pure_figure,
			'private, without delta', '1'),
			privpred._plot_curve(curve, delta_figure, 'private, with delta', '2'));
	ELSE
		lines := pg_catalog.jsonb_build_array(privpred._plot_curve(curve, pure_figure, 'private',
			'1'));
	END IF;
	-- What there is without privacy, and without a model.
	lines := lines OPERATOR(pg_catalog.||) (
		SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', l.name, 'class', l.class,
			'note', pg_catalog.trim_scale(pg_catalog.round(l.y::pg_catalog.numeric, 4)),
			'points', pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_array(1,
				l.y::pg_catalog.numeric))) ORDER BY l.class)
		FROM (VALUES
			-- what is charged once has no noise but in the model
			(CASE WHEN card.teachers OPERATOR(pg_catalog.>) 0
				AND card.classes OPERATOR(pg_catalog.>) 0 THEN 'teachers'' majority, no noise'
				ELSE 'without noise' END, '3', NOT card.once,
				CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN figures.majority_accuracy
					ELSE figures.plain_rmse END),
			(CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'always the commonest class'
				ELSE 'always the mean' END, '4',
				true, CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN figures.baseline_accuracy
					ELSE figures.baseline_rmse END)) l(name, class, shown, y)
		WHERE l.shown);
	remark := (SELECT c.point OPERATOR(pg_catalog.->>) 'remark'
		FROM pg_catalog.jsonb_array_elements(curve) c(point)
		WHERE (c.point OPERATOR(pg_catalog.->>) 'own')::pg_catalog.bool);
	RETURN privpred._plot_chart(
		pg_catalog.format(CASE WHEN card.classes OPERATOR(pg_catalog.>) 0
			THEN 'Accuracy of model %s' ELSE 'Error of model %s' END, model),
		pg_catalog.array_remove(ARRAY[
			pg_catalog.format('%s rows, mechanism %s%s', figures.rows, card.mechanism,
				CASE WHEN NOT figures.exact THEN ', estimated' END),
			CASE WHEN kind OPERATOR(pg_catalog.=) 'answers' THEN pg_catalog.format(
				'budget %s, each answer at the epsilon that it pays for',
				privpred._loss(epsilon::pg_catalog.numeric, delta::pg_catalog.numeric,
					delta OPERATOR(pg_catalog.=) 0, false)) END,
			remark], NULL),
		CASE WHEN kind OPERATOR(pg_catalog.=) 'answers' THEN 'answers (logarithmic)'
			WHEN card.once THEN 'epsilon of the model (logarithmic)'
			ELSE 'epsilon of one answer (logarithmic)' END,
		CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'expected accuracy'
			ELSE 'expected root mean squared error' END,
		card.classes OPERATOR(pg_catalog.=) 0,
		CASE WHEN kind OPERATOR(pg_catalog.=) 'accuracy' THEN (
			SELECT (c.point OPERATOR(pg_catalog.->>) 'epsilon')::pg_catalog.numeric
				FROM pg_catalog.jsonb_array_elements(curve) c(point)
			WHERE (c.point OPERATOR(pg_catalog.->>) 'own')::pg_catalog.bool) END,
		lines);
END $$;
COMMENT ON FUNCTION privpred.plot(text, regclass, text, float8[], float8, float8) IS
'owner: a picture (SVG): accuracy on labelled rows against epsilon per answer, against the number of answers that a budget (epsilon, delta) pays for, or the confusion matrix; not private, costs nothing';

-- Where a value lies on its axis.
CREATE FUNCTION privpred._axis_number(value text) RETURNS numeric
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp SET TimeZone TO 'UTC' AS $$
	SELECT CASE WHEN value OPERATOR(pg_catalog.~) '^[0-9]+-[0-9]+-'
		THEN pg_catalog.date_part('epoch', value::pg_catalog.timestamptz)::pg_catalog.numeric
		ELSE value::pg_catalog.numeric END $$;
COMMENT ON FUNCTION privpred._axis_number(text) IS
'a number, or a time as its number of seconds; for plot()';

-- rows: what explain() says.  Panels are 220 wide, two beside each other, and share one scale.
CREATE FUNCTION privpred._plot_shapes(title text, below text[], rows jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp SET jit TO off AS $$
	WITH said AS (
		SELECT r.place, e.class, e.feature, e.low, e.high, e.effect_low, e.effect_high,
			COALESCE(e.noise_low, 0) AS noise_low, COALESCE(e.noise_high, 0) AS noise_high,
			e.low OPERATOR(pg_catalog.=) e.high AS is_level
		FROM pg_catalog.jsonb_array_elements(rows) WITH ORDINALITY r(said, place),
			pg_catalog.jsonb_to_record(r.said) e(class text, feature text, low text, high text,
				effect_low numeric, effect_high numeric, noise_low numeric, noise_high numeric)
		WHERE e.feature IS NOT NULL
	), class AS (
		SELECT c.class, pg_catalog.row_number() OVER (ORDER BY c.place) AS place
		FROM (SELECT COALESCE(s.class, '') AS class, pg_catalog.min(s.place) AS place
			FROM said s GROUP BY COALESCE(s.class, '') ORDER BY 2 LIMIT 8) c
	), feature AS (
		-- those with the largest effects, in the order in which they were declared
		SELECT f.*, pg_catalog.row_number() OVER (ORDER BY f.place) OPERATOR(pg_catalog.-) 1
			AS panel
		FROM (
			SELECT s.feature, pg_catalog.min(s.place) AS place,
				pg_catalog.bool_and(s.is_level) AS is_level,
				pg_catalog.min(privpred._axis_number(CASE WHEN NOT s.is_level THEN s.low END))
					AS axis_low,
				pg_catalog.max(privpred._axis_number(CASE WHEN NOT s.is_level THEN s.high END))
					AS axis_high
			FROM said s GROUP BY s.feature
			ORDER BY pg_catalog.max(pg_catalog.abs(s.effect_high)) DESC, 2 LIMIT 40) f
	), shown AS (
		SELECT s.*, c.place AS colour, f.panel,
			16 OPERATOR(pg_catalog.+) (232 OPERATOR(pg_catalog.*) pg_catalog.mod(f.panel, 2))
				AS x0,
			48 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) (pg_catalog.cardinality(below)
				OPERATOR(pg_catalog.+) pg_catalog.ceil(k.classes OPERATOR(pg_catalog./) 3.0)))
				OPERATOR(pg_catalog.+) (184 OPERATOR(pg_catalog.*) pg_catalog.floor(f.panel
				OPERATOR(pg_catalog./) 2.0)) AS y0,
			CASE WHEN f.axis_high OPERATOR(pg_catalog.>) f.axis_low
				THEN (privpred._axis_number(CASE WHEN NOT s.is_level THEN s.low END)
				OPERATOR(pg_catalog.-) f.axis_low) OPERATOR(pg_catalog./) (f.axis_high
				OPERATOR(pg_catalog.-) f.axis_low) ELSE 0 END AS x_low,
			CASE WHEN f.axis_high OPERATOR(pg_catalog.>) f.axis_low
				THEN (privpred._axis_number(CASE WHEN NOT s.is_level THEN s.high END)
				OPERATOR(pg_catalog.-) f.axis_low) OPERATOR(pg_catalog./) (f.axis_high
				OPERATOR(pg_catalog.-) f.axis_low) ELSE 1 END AS x_high
		FROM said s JOIN class c ON c.class OPERATOR(pg_catalog.=) COALESCE(s.class, '')
			JOIN feature f ON f.feature OPERATOR(pg_catalog.=) s.feature,
			(SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 1
				THEN pg_catalog.count(*) ELSE 0 END AS classes FROM class c) k
	), level AS (
		-- seven of each feature, those with the largest effects
		SELECT l.feature, l.low, l.levels, pg_catalog.row_number() OVER (PARTITION BY l.feature
			ORDER BY l.place) AS line
		FROM (
			SELECT s.feature, s.low, pg_catalog.min(s.place) AS place,
				pg_catalog.count(*) OVER (PARTITION BY s.feature) AS levels,
				pg_catalog.row_number() OVER (PARTITION BY s.feature
					ORDER BY pg_catalog.max(pg_catalog.abs(s.effect_high)) DESC,
						pg_catalog.min(s.place)) AS size
			FROM shown s WHERE s.is_level GROUP BY s.feature, s.low) l
		WHERE l.size OPERATOR(pg_catalog.<=) 7
	), scale AS MATERIALIZED (
		SELECT e.step, e.step OPERATOR(pg_catalog.*) pg_catalog.floor(e.low
				OPERATOR(pg_catalog./) e.step) AS low,
			e.step OPERATOR(pg_catalog.*) GREATEST(pg_catalog.ceil(e.high
				OPERATOR(pg_catalog./) e.step),
				pg_catalog.floor(e.low OPERATOR(pg_catalog./) e.step) OPERATOR(pg_catalog.+) 1)
				AS high
		FROM (
			SELECT r.low, r.high, privpred._nice_step(GREATEST(r.high OPERATOR(pg_catalog.-) r.low,
				0.000001), 3) AS step
			FROM (
				SELECT LEAST(0, pg_catalog.min(LEAST(s.effect_low OPERATOR(pg_catalog.-)
						s.noise_low, s.effect_high OPERATOR(pg_catalog.-) s.noise_high))) AS low,
					GREATEST(0, pg_catalog.max(GREATEST(s.effect_low OPERATOR(pg_catalog.+)
						s.noise_low, s.effect_high OPERATOR(pg_catalog.+) s.noise_high))) AS high
				FROM shown s) r) e
	), tick AS (
		SELECT t.share, pg_catalog.round(s.low OPERATOR(pg_catalog.+) (t.share
				OPERATOR(pg_catalog.*) (s.high OPERATOR(pg_catalog.-) s.low)),
				GREATEST(0, pg_catalog.ceil(0 OPERATOR(pg_catalog.-) pg_catalog.log(s.step)))
				::pg_catalog.int4) AS number
		FROM scale s, LATERAL (
			SELECT i OPERATOR(pg_catalog.*) s.step OPERATOR(pg_catalog./) (s.high
				OPERATOR(pg_catalog.-) s.low) AS share
			FROM pg_catalog.generate_series(0, pg_catalog.round((s.high OPERATOR(pg_catalog.-)
				s.low) OPERATOR(pg_catalog./) s.step)::pg_catalog.int4) i) t
	), panel AS (
		SELECT f.feature, f.is_level, f.panel, s.x0, s.y0, f.place,
			(SELECT p.low FROM said p WHERE p.feature OPERATOR(pg_catalog.=) f.feature
				ORDER BY p.place LIMIT 1) AS low,
			(SELECT p.high FROM said p WHERE p.feature OPERATOR(pg_catalog.=) f.feature
				ORDER BY p.class DESC, p.place DESC LIMIT 1) AS high
		FROM feature f JOIN (SELECT DISTINCT s.panel, s.x0, s.y0 FROM shown s) s
			ON s.panel OPERATOR(pg_catalog.=) f.panel
	), point AS (
		-- of a number: the ends of its pieces, 34 to 220 across, 30 to 140 down
		SELECT DISTINCT s.panel, s.colour, s.x0 OPERATOR(pg_catalog.+) 36
				OPERATOR(pg_catalog.+) (182 OPERATOR(pg_catalog.*) v.x) AS x,
			s.y0 OPERATOR(pg_catalog.+) 140 OPERATOR(pg_catalog.-) (110 OPERATOR(pg_catalog.*) (
				(v.effect OPERATOR(pg_catalog.-) c.low) OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low))) AS y,
			110 OPERATOR(pg_catalog.*) v.noise OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low) AS noise
		FROM shown s, scale c, LATERAL (VALUES (s.x_low, s.effect_low, s.noise_low),
			(s.x_high, s.effect_high, s.noise_high)) v(x, effect, noise)
		WHERE NOT s.is_level
	), dot AS (
		-- of a level: a line of 16 each
		SELECT s.panel, s.colour, s.place,
			s.x0 OPERATOR(pg_catalog.+) 92 OPERATOR(pg_catalog.+) (124 OPERATOR(pg_catalog.*) (
				(s.effect_low OPERATOR(pg_catalog.-) c.low) OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low))) AS x,
			s.y0 OPERATOR(pg_catalog.+) 20 OPERATOR(pg_catalog.+) (16 OPERATOR(pg_catalog.*)
				l.line) OPERATOR(pg_catalog.+) (2 OPERATOR(pg_catalog.*) (s.colour
				OPERATOR(pg_catalog.-) ((n.classes OPERATOR(pg_catalog.+) 1)
				OPERATOR(pg_catalog./) 2.0))) AS y,
			124 OPERATOR(pg_catalog.*) s.noise_low OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low) AS noise
		FROM shown s JOIN level l ON l.feature OPERATOR(pg_catalog.=) s.feature
			AND l.low OPERATOR(pg_catalog.=) s.low, scale c,
			(SELECT pg_catalog.count(*) AS classes FROM class c) n
	)
	SELECT privpred._plot_frame(480, (SELECT pg_catalog.max(p.y0) FROM panel p)
		OPERATOR(pg_catalog.+) 188, title, below, pg_catalog.concat(
		-- the colours of the classes, if there are several
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				pg_catalog.format(e'<path class="line s%s" d="M%s %sh16"/>\n', c.place, k.x,
					k.y OPERATOR(pg_catalog.-) 4),
				privpred._svg_text(k.x OPERATOR(pg_catalog.+) 22, k.y, 'small', c.class, 16)), ''
				ORDER BY c.place)
			FROM class c, LATERAL (
				SELECT 16 OPERATOR(pg_catalog.+) (152 OPERATOR(pg_catalog.*) pg_catalog.mod(
						c.place OPERATOR(pg_catalog.-) 1, 3)) AS x,
					48 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) (pg_catalog.cardinality(
						below) OPERATOR(pg_catalog.+) pg_catalog.floor((c.place
						OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) 3.0))) AS y) k
			WHERE (SELECT pg_catalog.count(*) FROM class c) OPERATOR(pg_catalog.>) 1),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				privpred._svg_text(p.x0, p.y0 OPERATOR(pg_catalog.+) 14, 'title', p.feature, 24),
				CASE WHEN p.is_level THEN pg_catalog.concat(
					(SELECT pg_catalog.string_agg(pg_catalog.concat(
						pg_catalog.format(e'<path class="%s" d="M%s %sv%s"/>\n',
							CASE WHEN t.number OPERATOR(pg_catalog.=) 0 THEN 'zero' ELSE 'grid' END,
							pg_catalog.round(p.x0 OPERATOR(pg_catalog.+) 92 OPERATOR(pg_catalog.+)
								(124 OPERATOR(pg_catalog.*) t.share), 1),
							p.y0 OPERATOR(pg_catalog.+) 30, 110),
						privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 92 OPERATOR(pg_catalog.+)
							(124 OPERATOR(pg_catalog.*) t.share),
							p.y0 OPERATOR(pg_catalog.+) 155, 'small muted middle',
							t.number::pg_catalog.text)), '' ORDER BY t.share) FROM tick t),
					(SELECT pg_catalog.string_agg(privpred._svg_text(p.x0, p.y0
							OPERATOR(pg_catalog.+) 24 OPERATOR(pg_catalog.+) (16
							OPERATOR(pg_catalog.*) l.line), 'small', l.low, 12), ''
						ORDER BY l.line) FROM level l
						WHERE l.feature OPERATOR(pg_catalog.=) p.feature),
					(SELECT privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 216,
							p.y0 OPERATOR(pg_catalog.+) 14, 'tiny muted end',
							pg_catalog.format('7 of %s levels', pg_catalog.max(l.levels)))
						FROM level l WHERE l.feature OPERATOR(pg_catalog.=) p.feature
						HAVING pg_catalog.max(l.levels) OPERATOR(pg_catalog.>) 7),
					(SELECT pg_catalog.string_agg(pg_catalog.concat(
						CASE WHEN d.noise OPERATOR(pg_catalog.>) 0 THEN pg_catalog.format(
							e'<path class="whisker s%s" d="M%s %sH%s"/>\n', d.colour,
							pg_catalog.round(d.x OPERATOR(pg_catalog.-) d.noise, 1),
							pg_catalog.round(d.y, 1),
							pg_catalog.round(d.x OPERATOR(pg_catalog.+) d.noise, 1)) END,
						pg_catalog.format(e'<circle class="f%s" cx="%s" cy="%s" r="3"/>\n',
							d.colour, pg_catalog.round(d.x, 1), pg_catalog.round(d.y, 1))), ''
						ORDER BY d.place) FROM dot d
						WHERE d.panel OPERATOR(pg_catalog.=) p.panel))
				ELSE pg_catalog.concat(
					(SELECT pg_catalog.string_agg(pg_catalog.concat(
						pg_catalog.format(e'<path class="%s" d="M%s %sh182"/>\n',
							CASE WHEN t.number OPERATOR(pg_catalog.=) 0 THEN 'zero' ELSE 'grid' END,
							p.x0 OPERATOR(pg_catalog.+) 36,
							pg_catalog.round(p.y0 OPERATOR(pg_catalog.+) 140 OPERATOR(pg_catalog.-)
								(110 OPERATOR(pg_catalog.*) t.share), 1)),
						privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 31,
							p.y0 OPERATOR(pg_catalog.+) 144 OPERATOR(pg_catalog.-)
							(110 OPERATOR(pg_catalog.*) t.share), 'small muted end',
							t.number::pg_catalog.text)), '' ORDER BY t.share) FROM tick t),
					privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 36,
						p.y0 OPERATOR(pg_catalog.+) 155, 'small muted',
						pg_catalog.left(p.low, 10), 10),
					privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 218,
						p.y0 OPERATOR(pg_catalog.+) 155, 'small muted end',
						pg_catalog.left(p.high, 10), 10),
					(SELECT pg_catalog.string_agg(l.drawn, '' ORDER BY l.colour DESC)
						FROM (
							SELECT d.colour, pg_catalog.concat(
								CASE WHEN pg_catalog.max(d.noise) OPERATOR(pg_catalog.>) 0
									THEN pg_catalog.format(
									e'<path class="band f%s" d="M%sL%sZ"/>\n', d.colour,
									pg_catalog.string_agg(pg_catalog.concat(
										pg_catalog.round(d.x, 1), ' ', pg_catalog.round(d.y
										OPERATOR(pg_catalog.-) d.noise, 1)), 'L' ORDER BY d.x),
									pg_catalog.string_agg(pg_catalog.concat(
										pg_catalog.round(d.x, 1), ' ', pg_catalog.round(d.y
										OPERATOR(pg_catalog.+) d.noise, 1)), 'L'
										ORDER BY d.x DESC)) END,
								pg_catalog.format(e'<path class="line s%s" d="M%s"/>\n', d.colour,
									pg_catalog.string_agg(pg_catalog.concat(
										pg_catalog.round(d.x, 1), ' ', pg_catalog.round(d.y, 1)),
										'L' ORDER BY d.x))) AS drawn
							FROM point d WHERE d.panel OPERATOR(pg_catalog.=) p.panel
							GROUP BY d.colour) l)) END), '' ORDER BY p.panel) FROM panel p))) $$;
COMMENT ON FUNCTION privpred._plot_shapes(text, text[], jsonb) IS
'the effects of a released model as small multiples, one panel for each feature; for plot()';

CREATE FUNCTION privpred.plot(model text) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1 AS $$
DECLARE
	-- Whoever may not see it is refused here, and whoever has not paid for it pays.
	rows pg_catalog.jsonb := (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(e))
		FROM privpred.explain(model) e);
	facts pg_catalog.record;
BEGIN
	SELECT pg_catalog.count(DISTINCT e.class) AS classes, pg_catalog.max(e.class) AS class,
		pg_catalog.count(DISTINCT e.feature) AS features, pg_catalog.count(e.effect_low) AS effects,
		pg_catalog.count(e.noise_high) AS noises
	INTO facts FROM pg_catalog.jsonb_to_recordset(rows) e(class text, feature text,
		effect_low numeric, noise_high numeric);
	IF facts.effects OPERATOR(pg_catalog.=) 0 THEN
		RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state',
			MESSAGE := pg_catalog.format('model "%s" has no effects to draw', model),
			DETAIL := 'It says a class in a range, and another elsewhere.',
			HINT := 'privpred.explain lists the ranges.';
	END IF;
	RETURN privpred._plot_shapes(pg_catalog.format('Effects in model %s', model),
		pg_catalog.array_remove(ARRAY[
			CASE WHEN facts.classes OPERATOR(pg_catalog.=) 0
				THEN 'What each feature adds to the number, in its own unit'
				WHEN facts.classes OPERATOR(pg_catalog.=) 1 THEN pg_catalog.format(
				'What each feature adds to the score of %s', pg_catalog.left(facts.class, 24))
				ELSE 'What each feature adds to the score of each class' END,
			CASE WHEN facts.noises OPERATOR(pg_catalog.>) 0
				THEN 'Shaded: one standard deviation of the noise, at most' END,
			CASE WHEN facts.features OPERATOR(pg_catalog.>) 40 THEN pg_catalog.format(
				'40 of %s features, those with the largest effects', facts.features) END,
			CASE WHEN facts.classes OPERATOR(pg_catalog.>) 8 THEN pg_catalog.format(
				'8 of %s classes', facts.classes) END], NULL), rows);
END $$;
COMMENT ON FUNCTION privpred.plot(text) IS
'owner, or anyone with a budget: a picture (SVG) of what explain(model) says: what each feature of a released model adds, one panel for each; who has not paid for the model pays as for a first answer';

----------------------------------------------------------------------
-- Privileges: everything is closed, then opened by name
----------------------------------------------------------------------

REVOKE ALL ON ALL TABLES IN SCHEMA privpred FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA privpred FROM PUBLIC;
-- learners: they read nothing but what their caller passes to them
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
	privpred.knn(anyelement, double precision[]),
	privpred.knn(anyelement, double precision[], jsonb),
	privpred.boost(anyelement, double precision[]),
	privpred.boost(anyelement, double precision[], jsonb),
	privpred.forest(anyelement, double precision[]),
	privpred.forest(anyelement, double precision[], jsonb),
	privpred.tree(anyelement, double precision[]),
	privpred.tree(anyelement, double precision[], jsonb),
	privpred.explain(privpred.predictor, text[]),
	privpred.predictor_json(privpred.predictor),
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
	privpred.row_cells(bigint, record),
	privpred.lesser_row(bytea, bytea),
	privpred.least_row(bytea),
	privpred.predict(privpred.predictor, double precision[]),
	privpred.votes(privpred.predictor, double precision[])
	TO PUBLIC;
-- pure arithmetic
GRANT EXECUTE ON FUNCTION privpred.answers_for, privpred.epsilon_for TO PUBLIC;
-- plans: from declarations alone; the parts run as the caller
GRANT EXECUTE ON FUNCTION privpred.plan, privpred._plan, privpred._plan_table, privpred._plan_columns,
	privpred._plan_figures TO PUBLIC;
-- reads only what the caller may read
GRANT EXECUTE ON FUNCTION privpred.littlestone_dimension(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.solve_stable_flip, privpred.solve_relabel TO PUBLIC;
-- requests: each checks who owns the relation
GRANT EXECUTE ON FUNCTION privpred.protect, privpred.unprotect, privpred.create_model,
	privpred.retrain, privpred.drop_model, privpred.distill, privpred.export_model, privpred.describe, privpred.describe_cost, privpred.release_accuracy, privpred.evaluate,
	privpred.confusion_matrix, privpred.accuracy_curve, privpred.plot(text, regclass, text, float8[], float8, float8), privpred.audit, privpred.encode(jsonb, record),
	privpred.encode(jsonb, "any") TO PUBLIC;
GRANT SELECT ON privpred.models, privpred.descriptions TO PUBLIC;
-- released models: whoever owns the relation, or pays; the parts of explain run as the caller
GRANT EXECUTE ON FUNCTION privpred.read_model, privpred.explain(text), privpred.plot(text),
	privpred._encoded, privpred._effects, privpred._own_units, privpred._regions, privpred._indent, privpred._explain_leaf, privpred._explain_tree,
	privpred._explain_member TO PUBLIC;
-- questions: each checks who has a budget
GRANT EXECUTE ON FUNCTION
	privpred.check(text, float8[]),
	privpred.check(text, jsonb),
	privpred.check(text, json),
	privpred.check(text, record),
	privpred.check(text, text),
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
GRANT SELECT ON privpred.budgets, privpred.my_budget, privpred.ledger, privpred.leases, privpred.ceilings TO PUBLIC;
GRANT EXECUTE ON FUNCTION
	privpred.ledger_incarnation(),
	privpred.budget_entries(),
	privpred.account_epsilon(bigint, float8, bigint),
	privpred.account_charge(text, text, bigint, bigint),
	privpred.account_purchases(text, text, bigint, bigint, bigint, float8),
	privpred.account_window(timestamptz, interval, timestamptz),
	privpred.grant_budget(regrole, regclass, float8, float8, timestamptz, interval, float8, float8, boolean),
	privpred.revoke_budget(regrole, regclass),
	privpred.cost(text, bigint),
	privpred.cost_of(text),
	privpred.verify_ledger(bytea),
	privpred.forgive_lease(bigint)
	TO PUBLIC;
-- streams: of the caller's own budgets
GRANT SELECT ON privpred.streams TO PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.open_stream(text, int, float8, float8, bigint, boolean),
	privpred.close_stream(text) TO PUBLIC;
-- report: shows what the caller finds in the views; its parts and those of plot run as the caller
GRANT EXECUTE ON FUNCTION privpred.report(), privpred._html, privpred._amount, privpred._loss, privpred._nice_step,
	privpred._left_out, privpred._report_style, privpred._report_warnings, privpred._report_budgets,
	privpred._report_charts, privpred._report_spenders, privpred._report_relations, privpred._report_models,
	privpred._report_ledger, privpred._report_figures, privpred._svg_text, privpred._plot_frame,
	privpred._plot_chart, privpred._plot_confusion, privpred._plot_curve, privpred._plot_answers,
	privpred._plot_shapes, privpred._axis_number TO PUBLIC;
-- build: the version, which everybody may know
GRANT EXECUTE ON FUNCTION privpred.build() TO PUBLIC;
-- progress: shows what is running on tables that the caller owns
GRANT EXECUTE ON FUNCTION privpred.progress_entries() TO PUBLIC;
GRANT SELECT ON privpred.progress TO PUBLIC;
-- counts: shows what the caller asked, and what others asked of tables that the caller owns
GRANT EXECUTE ON FUNCTION privpred.stat_entries() TO PUBLIC;
GRANT SELECT ON privpred.stat TO PUBLIC;
