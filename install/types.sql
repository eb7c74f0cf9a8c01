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
