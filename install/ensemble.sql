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

-- Teachers of the training query, each with the digest of what it was fitted on.
CREATE FUNCTION privpred.teach_transition(internal, anyelement, double precision[], text, jsonb, bytea) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teach_transition(internal, anyelement, double precision[], text, jsonb, bytea) IS 'adds a row';

CREATE FUNCTION privpred.teach_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teach_combine(internal, internal) IS 'merges two states of teach';

CREATE FUNCTION privpred.teach_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teach_serialize(internal) IS 'state of teach to bytes';

CREATE FUNCTION privpred.teach_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teach_deserialize(bytea, internal) IS 'state of teach from bytes';

CREATE FUNCTION privpred.teach_finish(internal) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teach_finish(internal) IS 'fits a teacher unless it is known';

CREATE AGGREGATE privpred.teach(anyelement, double precision[], text, jsonb, bytea) (
	SFUNC = privpred.teach_transition,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = privpred.teach_finish,
	COMBINEFUNC = privpred.teach_combine,
	SERIALFUNC = privpred.teach_serialize,
	DESERIALFUNC = privpred.teach_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.teach(anyelement, double precision[], text, jsonb, bytea) IS
	'internal: the digest of what a teacher is fitted on (label, features, learner, options), and the teacher unless the digest is known; not private by itself';

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
