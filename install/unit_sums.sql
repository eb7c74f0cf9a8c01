----------------------------------------------------------------------
-- Training on units: sums that the server adds up wherever the rows are
----------------------------------------------------------------------

CREATE TYPE privpred.unit_sums;

CREATE FUNCTION privpred.unit_sums_in(cstring) RETURNS privpred.unit_sums
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_in(cstring) IS 'I/O';

CREATE FUNCTION privpred.unit_sums_out(privpred.unit_sums) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_out(privpred.unit_sums) IS 'I/O';

CREATE FUNCTION privpred.unit_sums_recv(internal) RETURNS privpred.unit_sums
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_recv(internal) IS 'I/O';

CREATE FUNCTION privpred.unit_sums_send(privpred.unit_sums) RETURNS bytea
	AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_send(privpred.unit_sums) IS 'I/O';

CREATE TYPE privpred.unit_sums (
	INPUT = privpred.unit_sums_in,
	OUTPUT = privpred.unit_sums_out,
	RECEIVE = privpred.unit_sums_recv,
	SEND = privpred.unit_sums_send,
	ALIGNMENT = int4,
	STORAGE = extended
);
COMMENT ON TYPE privpred.unit_sums IS
	'what some units add to a pass of training, to be added up elsewhere; as sensitive as the rows';

CREATE FUNCTION privpred.unit_sums_add_row(privpred.unit_sums, double precision, double precision[], bytea)
	RETURNS privpred.unit_sums
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_add_row(privpred.unit_sums, double precision, double precision[], bytea) IS
	'adds a unit of one row';

CREATE FUNCTION privpred.unit_sums_add_unit(privpred.unit_sums, double precision[], double precision[], bytea)
	RETURNS privpred.unit_sums
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_add_unit(privpred.unit_sums, double precision[], double precision[], bytea) IS
	'adds a unit of several rows';

CREATE FUNCTION privpred.unit_sums_add_sorted(privpred.unit_sums, bytea, double precision, double precision[], VARIADIC "any")
	RETURNS privpred.unit_sums
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_add_sorted(privpred.unit_sums, bytea, double precision, double precision[], "any") IS
	'adds a row of a unit whose rows come one after the other';

CREATE FUNCTION privpred.unit_sums_merge(privpred.unit_sums, privpred.unit_sums) RETURNS privpred.unit_sums
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.unit_sums_merge(privpred.unit_sums, privpred.unit_sums) IS 'adds sums to sums';

CREATE AGGREGATE privpred.sum_units(label double precision, features double precision[], request bytea) (
	SFUNC = privpred.unit_sums_add_row,
	STYPE = privpred.unit_sums,
	SSPACE = 8192,
	COMBINEFUNC = privpred.unit_sums_merge,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.sum_units(double precision, double precision[], bytea) IS
	'internal: one pass of training over units of one row each; not private by itself';

CREATE AGGREGATE privpred.sum_units(labels double precision[], features double precision[], request bytea) (
	SFUNC = privpred.unit_sums_add_unit,
	STYPE = privpred.unit_sums,
	SSPACE = 8192,
	COMBINEFUNC = privpred.unit_sums_merge,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.sum_units(double precision[], double precision[], bytea) IS
	'internal: the same over units of several rows';

CREATE AGGREGATE privpred.sum_sorted_units(request bytea, label double precision, features double precision[], VARIADIC unit "any") (
	SFUNC = privpred.unit_sums_add_sorted,
	STYPE = privpred.unit_sums,
	SSPACE = 8192,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.sum_sorted_units(bytea, double precision, double precision[], "any") IS
	'internal: the same over rows in the order of their units, which foreign servers are asked for';

CREATE AGGREGATE privpred.merge_sums(privpred.unit_sums) (
	SFUNC = privpred.unit_sums_merge,
	STYPE = privpred.unit_sums,
	SSPACE = 8192,
	COMBINEFUNC = privpred.unit_sums_merge,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE privpred.merge_sums(privpred.unit_sums) IS
	'internal: sums of several parts of the units; not private by itself';

CREATE FUNCTION privpred.pack_unit(label double precision, features double precision[], hash bigint) RETURNS bytea
	AS 'MODULE_PATHNAME', 'privpred_pack_unit' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.pack_unit(double precision, double precision[], bigint) IS
	'internal: a unit of one row in few bytes; as sensitive as the row';
