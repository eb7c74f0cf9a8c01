/* privpred--0.1.0--0.2.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION privpred UPDATE" to load this file. \quit

SET LOCAL search_path = pg_catalog, pg_temp;

----------------------------------------------------------------------
-- Populations: accounts belong to units, not to tables
----------------------------------------------------------------------

-- Every table is the first of its own, so that accounts and entries keep their numbers.
ALTER TABLE privpred.protected_relation ADD population bigint;
UPDATE privpred.protected_relation SET population = relation_id;
ALTER TABLE privpred.protected_relation ALTER population SET NOT NULL;
CREATE INDEX protected_relation_population ON privpred.protected_relation (population);
CREATE FUNCTION privpred.begin_population() RETURNS trigger
	AS 'MODULE_PATHNAME', 'privpred_begin_population' LANGUAGE C;
COMMENT ON FUNCTION privpred.begin_population() IS 'a table that joins no others begins a population of its own';
CREATE TRIGGER begin_population BEFORE INSERT ON privpred.protected_relation
	FOR EACH ROW EXECUTE FUNCTION privpred.begin_population();
CREATE VIEW privpred.populations AS
SELECT n.relation_id AS number,
	(pg_catalog.array_agg(m.relation ORDER BY m.relation IS NULL, NOT m.active,
		m.relation_id OPERATOR(pg_catalog.<>) m.population, m.relation_id))[1] AS relation,
	COALESCE(pg_catalog.array_agg(m.relation ORDER BY NOT m.active,
		m.relation_id OPERATOR(pg_catalog.<>) m.population, m.relation_id)
		FILTER (WHERE m.relation IS NOT NULL), '{}') AS population,
	COALESCE(pg_catalog.bool_or(pg_catalog.pg_has_role(c.relowner, 'USAGE')) FILTER (WHERE m.active),
		pg_catalog.bool_or(pg_catalog.pg_has_role(c.relowner, 'USAGE')), false) AS owned
FROM privpred.protected_relation n
JOIN privpred.protected_relation m ON m.population OPERATOR(pg_catalog.=) n.population
LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) m.relation::pg_catalog.oid
GROUP BY n.relation_id;
COMMENT ON VIEW privpred.populations IS 'which tables are about the same units; for other views';
COMMENT ON COLUMN privpred.populations.number IS 'that accounts and entries have';
COMMENT ON COLUMN privpred.populations.relation IS 'the first that is left';
COMMENT ON COLUMN privpred.populations.population IS 'all that are left';
COMMENT ON COLUMN privpred.populations.owned IS 'the caller has the rights of an owner of one';
REVOKE ALL ON privpred.populations FROM PUBLIC;
REVOKE ALL ON FUNCTION privpred.begin_population() FROM PUBLIC;

DROP FUNCTION privpred.protect(regclass, name, text, bigint, int, float8, float8, boolean);
CREATE FUNCTION privpred.protect(relation regclass, unit name DEFAULT NULL, protects text DEFAULT 'rows',
	declared_units bigint DEFAULT NULL, max_rows_per_unit int DEFAULT NULL,
	epsilon_cap float8 DEFAULT NULL, delta_cap float8 DEFAULT NULL, force boolean DEFAULT false,
	same_units_as regclass DEFAULT NULL, public_tables regclass[] DEFAULT NULL)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.protect(regclass, name, text, bigint, int, float8, float8, boolean, regclass, regclass[]) IS
'owner: declares that a table''s rows are protected, and which column says whose row it is (default: as before, or the primary key); sizes and caps may be declared again later, and a delta_cap that is left out stays as it was; the unit may change until something is spent; force sets a delta_cap above 0.01, which is refused otherwise; same_units_as: another protected table about the same units, with which it shares all budgets from then on';
REVOKE ALL ON FUNCTION privpred.protect FROM PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.protect TO PUBLIC;

CREATE OR REPLACE VIEW privpred.budgets WITH (security_barrier) AS
SELECT b.*, p.population
FROM privpred.budget_entries() b
LEFT JOIN privpred.account a ON a.account_id OPERATOR(pg_catalog.=) b.account_id
LEFT JOIN privpred.populations p ON p.number OPERATOR(pg_catalog.=) a.relation_id;
COMMENT ON VIEW privpred.budgets IS 'privacy budgets: yours and your groups'', and all of the relations that you own';
COMMENT ON COLUMN privpred.budgets.relation IS 'the protected table, or the first that is left of those about the same units; NULL once it was dropped';
COMMENT ON COLUMN privpred.budgets.population IS 'all tables about the same units: the budget pays for any of them';

CREATE OR REPLACE VIEW privpred.ledger WITH (security_barrier) AS
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
			'Infinity'::pg_catalog.float8) END AS renyi_order,
	r.population
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
LEFT JOIN privpred.populations r ON r.number OPERATOR(pg_catalog.=) e.relation_id
WHERE pg_catalog.pg_has_role(COALESCE(a.role, 0::pg_catalog.oid::pg_catalog.regrole), 'USAGE') OR r.owned;
COMMENT ON VIEW privpred.ledger IS 'what happened to budgets; head is null until an entry is chained';
COMMENT ON COLUMN privpred.ledger.relation IS 'the protected table, or the first that is left of those about the same units; NULL once it was dropped';
COMMENT ON COLUMN privpred.ledger.population IS 'all tables about the same units';

CREATE OR REPLACE VIEW privpred.leases WITH (security_barrier) AS
SELECT o.lease, o.at,
	CASE WHEN a.role OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN a.role END AS role,
	r.relation, o.answers,
	pg_catalog.trim_scale(o.answers::pg_catalog.numeric OPERATOR(pg_catalog.*)
		o.charge::pg_catalog.numeric OPERATOR(pg_catalog.*) 0.000000000001) AS epsilon,
	o.pid,
	o.incarnation OPERATOR(pg_catalog.<>) privpred.ledger_incarnation() AS orphaned
FROM privpred.open_lease o
JOIN privpred.account a ON a.account_id OPERATOR(pg_catalog.=) o.account_id
JOIN privpred.populations r ON r.number OPERATOR(pg_catalog.=) o.relation_id
WHERE pg_catalog.pg_has_role(a.role, 'USAGE') OR r.owned;
CREATE OR REPLACE VIEW privpred.streams WITH (security_barrier) AS
SELECT s.stream_id AS stream, a.role, COALESCE(t.relation, r.relation) AS relation, COALESCE(m.name, s.model) AS model, s.version,
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
JOIN privpred.populations r ON r.number OPERATOR(pg_catalog.=) s.relation_id
LEFT JOIN privpred.model m ON m.model_id OPERATOR(pg_catalog.=) s.model_id
LEFT JOIN privpred.protected_relation t ON t.relation_id OPERATOR(pg_catalog.=) m.relation_id
LEFT JOIN pg_catalog.pg_roles p ON p.oid OPERATOR(pg_catalog.=) s.opened_by
WHERE pg_catalog.pg_has_role(a.role, 'USAGE') OR r.owned;
CREATE OR REPLACE VIEW privpred.models WITH (security_barrier) AS
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
		WHERE r.relation OPERATOR(pg_catalog.=) ANY (b.population)
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');
CREATE OR REPLACE VIEW privpred.descriptions WITH (security_barrier) AS
SELECT d.description_id AS id, r.relation, d.at,
	pg_catalog.trim_scale(d.epsilon_units OPERATOR(pg_catalog./) 1000000000000.0) AS epsilon, d.delta, d.charge,
	d.columns, d.features, d.null_shares, d.left_out, d.described_by
FROM privpred.description d
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) d.relation_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b
		WHERE r.relation OPERATOR(pg_catalog.=) ANY (b.population)
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');

----------------------------------------------------------------------
-- Views
----------------------------------------------------------------------

CREATE TABLE privpred.public_table (
	relation_id		bigint NOT NULL,	-- of the view, in protected_relation
	public_relation	regclass NOT NULL,
	PRIMARY KEY (relation_id, public_relation)
);
COMMENT ON TABLE privpred.public_table IS 'tables that the owner of a protected view has declared to be about nobody';
REVOKE ALL ON privpred.public_table FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('privpred.public_table', '');
ALTER TABLE privpred.model ADD definition text;

----------------------------------------------------------------------
-- Teachers fitted again where their rows changed
----------------------------------------------------------------------

ALTER TABLE privpred.model ADD chunks bytea;
ALTER TABLE privpred.model ALTER chunks SET STORAGE EXTERNAL;

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

CREATE FUNCTION privpred.teach_state(state privpred.training_state, known bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'privpred_teach_state' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.teach_state(privpred.training_state, bytea) IS
	'internal: what teach makes of the same rows; not private by itself';

----------------------------------------------------------------------
-- Forgetting a unit, and certificates of it
----------------------------------------------------------------------

-- The key of a relation's certificates: what they say of a unit and of teachers is a keyed digest.
CREATE TABLE privpred.certificate_key (
	relation_id		bigint PRIMARY KEY,	-- of protected_relation
	key				bytea NOT NULL CHECK (pg_catalog.length(key) OPERATOR(pg_catalog.=) 32)
);
COMMENT ON TABLE privpred.certificate_key IS 'secret keys of certificates; readable by the extension''s owner alone';

-- The document has no id of a unit in it.  Its entry in the ledger, with the sha256 of its text,
-- is written by the transaction that completes it.
CREATE TABLE privpred.certificate (
	certificate_id	bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	relation_id		bigint NOT NULL,	-- of protected_relation
	nonce			bytea NOT NULL,
	document		jsonb NOT NULL,		-- as far as it is known
	complete		boolean NOT NULL
);
COMMENT ON TABLE privpred.certificate IS 'what was forgotten, without saying who; readable by the extension''s owner alone';

-- Models that forget a unit when they are retrained next.
CREATE TABLE privpred.forget_due (
	certificate_id	bigint NOT NULL,
	model_id		bigint NOT NULL,
	teacher			int NOT NULL,		-- of the unit; -1: it has none, -2: it is held out
	mark			bigint NOT NULL,	-- a keyed hash of the unit, by which its rows would be found
	PRIMARY KEY (certificate_id, model_id)
);
COMMENT ON TABLE privpred.forget_due IS 'models that forget a unit when they are retrained next';

SELECT pg_catalog.pg_extension_config_dump('privpred.certificate_key', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.certificate', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.certificate_certificate_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.forget_due', '');

CREATE FUNCTION privpred.forget(relation regclass, unit text, delete_rows boolean DEFAULT false,
	dry_run boolean DEFAULT false, at text DEFAULT 'now')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_forget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.forget(regclass, text, boolean, boolean, text) IS
'owner: takes a unit out of every model of a protected table, after its rows were deleted or with delete_rows, by fitting again the one teacher that saw it; says what was done, and the number of the certificate; a unit of several columns is written like an array; dry_run says what would be done; at => ''next retrain'' leaves each model as it is until then';

CREATE FUNCTION privpred.forget(relation regclass, unit anyelement, delete_rows boolean DEFAULT false,
	dry_run boolean DEFAULT false, at text DEFAULT 'now')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_forget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.forget(regclass, anyelement, boolean, boolean, text) IS
'the same for ids that are not text; a unit of several columns is a row';

CREATE FUNCTION privpred.certificate(certificate bigint)
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_certificate' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.certificate(bigint) IS
'owner: what forget() did, as a document for the person, with its place in the ledger; it names nobody';

CREATE FUNCTION privpred.verify_certificate(certificate jsonb, unit text DEFAULT NULL,
	OUT ok boolean, OUT problem text, OUT entry bigint)
AS 'MODULE_PATHNAME', 'privpred_verify_certificate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.verify_certificate(jsonb, text) IS
'owner: checks a certificate against the ledger, whose chain it recomputes, against the models that still have the version it names, and, if a unit is given, that it is about this unit';

CREATE FUNCTION privpred.chunk_index(model text)
RETURNS text AS 'MODULE_PATHNAME', 'privpred_chunk_index' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.chunk_index(text) IS
'owner: the statement that makes an index of the table by teacher of a model, so that forget() reads one chunk instead of all rows; it shows which units share a teacher';

REVOKE ALL ON privpred.certificate_key, privpred.certificate, privpred.forget_due FROM PUBLIC;
REVOKE ALL ON FUNCTION
	privpred.teach_transition(internal, anyelement, double precision[], text, jsonb, bytea),
	privpred.teach_combine(internal, internal),
	privpred.teach_serialize(internal),
	privpred.teach_deserialize(bytea, internal),
	privpred.teach_finish(internal),
	privpred.teach(anyelement, double precision[], text, jsonb, bytea),
	privpred.teach_state(privpred.training_state, bytea),
	privpred.forget(regclass, text, boolean, boolean, text),
	privpred.forget(regclass, anyelement, boolean, boolean, text),
	privpred.certificate(bigint),
	privpred.verify_certificate(jsonb, text),
	privpred.chunk_index(text)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	privpred.teach(anyelement, double precision[], text, jsonb, bytea),
	privpred.teach_state(privpred.training_state, bytea),
	privpred.forget(regclass, text, boolean, boolean, text),
	privpred.forget(regclass, anyelement, boolean, boolean, text),
	privpred.certificate(bigint),
	privpred.verify_certificate(jsonb, text),
	privpred.chunk_index(text)
	TO PUBLIC;
