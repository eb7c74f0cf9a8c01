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

CREATE FUNCTION privpred.teach_state(state privpred.training_state, known bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'privpred_teach_state' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teach_state(privpred.training_state, bytea) IS
	'internal: what teach makes of the same rows; not private by itself';

CREATE FUNCTION privpred.unit_share(salt bytea, shares integer, VARIADIC unit "any") RETURNS integer
	AS 'MODULE_PATHNAME', 'privpred_unit_share' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_share(bytea, integer, "any") IS
	'teacher_of for a unit of one or more columns; NULL if one of them is NULL';

CREATE FUNCTION privpred.node_agrees(expected jsonb, VARIADIC columns "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'privpred_node_agrees' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.node_agrees(jsonb, "any") IS
	'true if this node has the expected version, encoding and types of columns, else an error';

CREATE FUNCTION privpred.hash_partition_has(modulus integer, remainder integer, VARIADIC key "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'privpred_hash_partition_has' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.hash_partition_has(integer, integer, "any") IS
	'whether a row with this key belongs into that partition of a table partitioned by hash';

CREATE FUNCTION privpred.belongs_here(belongs boolean) RETURNS boolean
	AS 'MODULE_PATHNAME', 'privpred_belongs_here' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.belongs_here(boolean) IS
	'true, or an error: a row does not lie in the partition that its unit belongs into';
