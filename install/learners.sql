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
