/* privpred--0.1.0--0.2.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION privpred UPDATE" to load this file. \quit

SET LOCAL search_path = pg_catalog, pg_temp;

----------------------------------------------------------------------
-- Tables that the event triggers of this version name, before anything is dropped
----------------------------------------------------------------------

CREATE TABLE privpred.public_table (
	relation_id		bigint NOT NULL,	-- of the view, in protected_relation
	public_relation	regclass NOT NULL,
	PRIMARY KEY (relation_id, public_relation)
);
COMMENT ON TABLE privpred.public_table IS 'tables that the owner of a protected view has declared to be about nobody';
REVOKE ALL ON privpred.public_table FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('privpred.public_table', '');

-- Which columns are the unit, by number, which renaming does not change; not dumped.
CREATE TABLE privpred.unit_number (
	relation_id		bigint PRIMARY KEY,	-- of protected_relation
	relation		oid NOT NULL,		-- whose columns these are
	numbers			int2[] NOT NULL		-- in the order of unit_columns
);
COMMENT ON TABLE privpred.unit_number IS 'numbers of the columns that say whose a row is, in this database';
REVOKE ALL ON privpred.unit_number FROM PUBLIC;
INSERT INTO privpred.unit_number (relation_id, relation, numbers)
SELECT r.relation_id, r.relation, ARRAY(
	SELECT a.attnum FROM pg_catalog.unnest(r.unit_columns) WITH ORDINALITY u(name, n)
	JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
		AND a.attname OPERATOR(pg_catalog.=) u.name AND NOT a.attisdropped
	ORDER BY u.n)
FROM privpred.protected_relation r WHERE r.relation IS NOT NULL;

----------------------------------------------------------------------
-- Compaction: old entries are folded into sums
----------------------------------------------------------------------

-- Runs of entries that were folded, see docs/compaction.md.  A checkpoint in the chain vouches for each.
CREATE TABLE privpred.ledger_fold (
	first			bigint PRIMARY KEY,	-- entry of the run
	last			bigint NOT NULL,
	before			bytea NOT NULL,		-- head of the entry before the first
	head			bytea NOT NULL		-- of the last
);
COMMENT ON TABLE privpred.ledger_fold IS 'runs of entries of the ledger that were folded into sums';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON privpred.ledger_fold
	FOR EACH STATEMENT EXECUTE FUNCTION privpred.append_only();

-- What entries of a run add up to that are alike but for their time, their lease and their amounts, day by
-- day; and, as sums of no entries, what each of the accounts had spent after the run.
CREATE TABLE privpred.ledger_sum (
	first			bigint NOT NULL,	-- of ledger_fold
	number			bigint NOT NULL,
	at				timestamptz NOT NULL,	-- of the last
	kind			text NOT NULL,		-- of the entries; balance: spent after the run
	account_id		bigint,
	cap_id			bigint,
	role_name		text,
	relation_id		bigint,
	relation_name	text,
	model_id		bigint,
	model			text,
	version			int,
	entries			bigint,				-- NULL: a balance
	answers			bigint NOT NULL,
	units			bigint NOT NULL,
	cap_units		bigint NOT NULL,
	renyi_order		bigint,
	window_units	bigint NOT NULL,
	delta			float8 NOT NULL,
	PRIMARY KEY (first, number)
);
COMMENT ON TABLE privpred.ledger_sum IS 'sums of entries of the ledger that were folded';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON privpred.ledger_sum
	FOR EACH STATEMENT EXECUTE FUNCTION privpred.append_only();

-- Entries that were folded, if they are kept aside; whoever has copied them elsewhere may delete them.
CREATE TABLE privpred.ledger_archive (
	id				bigint PRIMARY KEY,
	at				timestamptz NOT NULL,
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
	answers			bigint NOT NULL,
	units			bigint NOT NULL,
	cap_units		bigint NOT NULL,
	limit_units		bigint,
	actor			text,
	pid				int NOT NULL,
	renyi_order		bigint,
	window_units	bigint NOT NULL,
	window_limit_units bigint,
	delta			float8 NOT NULL,
	detail			text,
	head			bytea NOT NULL
);
COMMENT ON TABLE privpred.ledger_archive IS 'entries of the ledger that were folded, as they were';

CREATE TABLE privpred.ledger_retention (
	older_than		interval PRIMARY KEY,	-- younger entries are not folded
	archive			boolean NOT NULL,
	set_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	set_by			text NOT NULL
);
COMMENT ON TABLE privpred.ledger_retention IS 'how long entries of the ledger are kept at least; at most one row';

-- Where the chain was last found to be right, and what its entries added up to there; not dumped.
CREATE TABLE privpred.ledger_mark (
	id				bigint PRIMARY KEY,	-- of the entry
	head			bytea NOT NULL,
	at				timestamptz NOT NULL
);
COMMENT ON TABLE privpred.ledger_mark IS 'where the ledger was last verified';
CREATE TABLE privpred.ledger_tally (
	mark			bigint NOT NULL,	-- of ledger_mark
	account_id		bigint NOT NULL,
	spent_units		bigint NOT NULL,
	window_spent_units bigint NOT NULL,
	delta_spent		float8 NOT NULL,
	limit_units		bigint,
	window_limit_units bigint,
	terms			text,
	leaving_units	bigint NOT NULL,
	leaving_delta	float8 NOT NULL,
	PRIMARY KEY (mark, account_id)
);
COMMENT ON TABLE privpred.ledger_tally IS 'what the entries of accounts added up to where the ledger was last verified';

SELECT pg_catalog.pg_extension_config_dump('privpred.ledger_fold', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.ledger_sum', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.ledger_archive', '');
SELECT pg_catalog.pg_extension_config_dump('privpred.ledger_retention', '');
REVOKE ALL ON privpred.ledger_fold, privpred.ledger_sum, privpred.ledger_archive, privpred.ledger_retention,
	privpred.ledger_mark, privpred.ledger_tally FROM PUBLIC;

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

DROP FUNCTION privpred.verify_ledger(bytea);
CREATE FUNCTION privpred.verify_ledger(expected_head bytea DEFAULT NULL, incremental boolean DEFAULT false,
		OUT ok boolean, OUT problem text, OUT entry bigint, OUT head bytea,
		OUT entries bigint, OUT frozen_accounts int, OUT orphaned_leases int)
	AS 'MODULE_PATHNAME', 'privpred_verify_ledger' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.verify_ledger(bytea, boolean)
	IS 'recomputes the hash chain and all sums, and reports the first discrepancy; incremental: from where a superuser or the extension''s owner last did so, which is noted if one of them asks';

CREATE FUNCTION privpred.compact(older_than interval DEFAULT NULL, archive boolean DEFAULT NULL, at_most bigint DEFAULT 1000000,
		OUT folded bigint, OUT checkpoints bigint, OUT sums bigint, OUT entries_left bigint)
	AS 'MODULE_PATHNAME', 'privpred_compact' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.compact(interval, boolean, bigint)
	IS 'superuser, owner of the extension: verifies entries of the ledger that are older than that, and folds debits, and what came back of them, into sums that a checkpoint in the chain vouches for; archive: keeps them in privpred.ledger_archive; what is left out is as in set_retention';

CREATE FUNCTION privpred.set_retention(older_than interval, archive boolean DEFAULT false) RETURNS void
	AS 'MODULE_PATHNAME', 'privpred_set_retention' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.set_retention(interval, boolean)
	IS 'superuser, owner of the extension: how old entries of the ledger must be before compact() may fold them, and whether they are archived then; NULL: whoever calls it decides';

CREATE FUNCTION privpred.verify_archive(relation regclass DEFAULT NULL,
		OUT ok boolean, OUT problem text, OUT entry bigint, OUT entries bigint, OUT runs bigint, OUT runs_absent bigint)
	AS 'MODULE_PATHNAME', 'privpred_verify_archive' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.verify_archive(regclass)
	IS 'superuser, owner of the extension: checks entries that were folded, in privpred.ledger_archive or a table of the same columns, against the chain and its checkpoints; runs_absent: runs of which there are none';

REVOKE ALL ON FUNCTION privpred.verify_ledger, privpred.compact, privpred.set_retention, privpred.verify_archive FROM PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.verify_ledger TO PUBLIC;

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
	r.population, e.folded
FROM (
	SELECT id, at, kind, account_id, role_name, relation_id, relation_name, model, version,
		lease, answers, units, limit_units, actor, pid, delta, detail, renyi_order, head,
		NULL::pg_catalog.int8 AS folded
	FROM privpred.ledger_entry
	UNION ALL
	SELECT NULL, at, kind, account_id, role_name, relation_id, relation_name, model, version,
		lease, answers, units, limit_units, actor, pid, delta, detail, renyi_order, NULL, NULL
	FROM privpred.ledger_outbox
	UNION ALL
	SELECT NULL, at, kind, account_id, role_name, relation_id, relation_name, model, version,
		NULL, answers, units, NULL, NULL, NULL, delta, NULL, renyi_order, NULL, entries
	FROM privpred.ledger_sum
	WHERE entries IS NOT NULL
) e
LEFT JOIN privpred.account a ON a.account_id OPERATOR(pg_catalog.=) e.account_id
LEFT JOIN privpred.populations r ON r.number OPERATOR(pg_catalog.=) e.relation_id
WHERE pg_catalog.pg_has_role(COALESCE(a.role, 0::pg_catalog.oid::pg_catalog.regrole), 'USAGE') OR r.owned;
COMMENT ON VIEW privpred.ledger IS 'what happened to budgets; head is null until an entry is chained, and of sums of entries that were folded';
COMMENT ON COLUMN privpred.ledger.folded IS 'how many entries were folded into this line, which sums them up; NULL: it is one entry';
COMMENT ON COLUMN privpred.ledger.id IS 'number in the chain; NULL until the entry is chained, and of sums';
COMMENT ON COLUMN privpred.ledger.at IS 'when it happened; of a sum, the last of its day';
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
	unit_types		oid[] NOT NULL,		-- in which the unit was encoded; the server's own, text for an enum
	unit_typmods	int[] NOT NULL,
	document		jsonb NOT NULL,		-- as far as it is known
	complete		boolean NOT NULL
);
COMMENT ON TABLE privpred.certificate IS 'what was forgotten, without saying who; readable by the extension''s owner alone';

-- Models that forget a unit when they are retrained next, until the certificate is complete.
CREATE TABLE privpred.forget_due (
	certificate_id	bigint NOT NULL,
	model_id		bigint NOT NULL,
	teacher			int NOT NULL,		-- of the unit; -1: it has none, -2: it is held out
	mark			bigint NOT NULL,	-- a keyed hash of the unit, by which its rows would be found
	encoding		text NOT NULL,		-- of units, when it was marked: under another, it would not be found
	done			boolean NOT NULL,	-- a version was trained without the unit
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

----------------------------------------------------------------------
-- Names of protected tables
----------------------------------------------------------------------

-- Names that tables have by now are theirs.
UPDATE privpred.protected_relation r SET known_as = pg_catalog.array_append(r.known_as, pg_catalog.format('%I.%I', n.nspname, c.relname))
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
	AND NOT pg_catalog.format('%I.%I', n.nspname, c.relname) OPERATOR(pg_catalog.=) ANY (r.known_as);

CREATE FUNCTION privpred.on_rename()
RETURNS event_trigger AS 'MODULE_PATHNAME', 'privpred_on_rename' LANGUAGE C;
COMMENT ON FUNCTION privpred.on_rename() IS
'remembers new names of protected tables, and refuses those of tables that have an account';
REVOKE ALL ON FUNCTION privpred.on_rename() FROM PUBLIC;

-- Every command that can give a table another name or schema.
CREATE EVENT TRIGGER privpred_on_rename ON ddl_command_end
	WHEN TAG IN ('ALTER TABLE', 'ALTER FOREIGN TABLE', 'ALTER VIEW', 'ALTER INDEX', 'ALTER SCHEMA', 'ALTER EXTENSION')
	EXECUTE FUNCTION privpred.on_rename();

----------------------------------------------------------------------
-- The solver of relabel knows more hypotheses
----------------------------------------------------------------------

DROP FUNCTION privpred.solve_relabel(float8, float8, bigint, int, int);
CREATE FUNCTION privpred.solve_relabel(epsilon float8, alpha float8, n_max bigint,
	max_rows_per_unit int DEFAULT 1, features int DEFAULT 1,
	hypotheses text DEFAULT 'stump', class_size int DEFAULT 0,
	OUT j bigint, OUT kappa numeric, OUT q float8, OUT eps1 float8, OUT delta1 float8,
	OUT proved_epsilon numeric, OUT units_needed bigint)
AS 'MODULE_PATHNAME', 'privpred_solve_relabel' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.solve_relabel(float8, float8, bigint, int, int, text, int) IS
'anyone: the parameters of mechanism relabel for an epsilon, a share alpha of flipped answers and at most n_max units, for stumps or other hypotheses or a finite class of class_size, the epsilon proved of them, and the least n_max that would do; costs nothing';
REVOKE ALL ON FUNCTION privpred.solve_relabel FROM PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.solve_relabel TO PUBLIC;

----------------------------------------------------------------------
-- Released classifiers of more than two classes, in words
----------------------------------------------------------------------

CREATE OR REPLACE FUNCTION privpred.explain(model text, OUT class text, OUT feature text, OUT low text,
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
	otherwise pg_catalog.text;
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
	-- Of two classes it is the other one; a cut that is null is always reached.
	IF pg_catalog.cardinality(classes) OPERATOR(pg_catalog.>) 2 AND COALESCE(
		predictor OPERATOR(pg_catalog.->) 'cut', 'true') OPERATOR(pg_catalog.<>) 'null'
	THEN
		otherwise := classes[(predictor OPERATOR(pg_catalog.->) 'outside')::pg_catalog.int4
			OPERATOR(pg_catalog.+) 1];
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
		RETURN QUERY SELECT otherwise, NULL, NULL, NULL, NULL::pg_catalog.float8,
			NULL::pg_catalog.float8, NULL::pg_catalog.float8, NULL::pg_catalog.float8
			WHERE otherwise IS NOT NULL;
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
	RETURN QUERY SELECT otherwise, NULL, NULL, NULL, NULL::pg_catalog.float8,
		NULL::pg_catalog.float8, NULL::pg_catalog.float8, NULL::pg_catalog.float8
		WHERE otherwise IS NOT NULL;
END $$;

----------------------------------------------------------------------
-- plan() knows cuts
----------------------------------------------------------------------

DROP FUNCTION privpred.plan(bigint, int, int, float8, float8, bigint, float8, regclass, name, text, float8, regrole);
DROP FUNCTION privpred._plan(bigint, int, int, float8, float8, bigint, float8, regclass, text, name, text, float8, regrole);
DROP FUNCTION privpred._plan_figures(bigint, int, int, float8, float8, bigint, float8, text, float8, int, boolean);
CREATE FUNCTION privpred._plan_figures(n bigint, features int, classes int, epsilon float8, delta float8,
	answers bigint, accuracy float8, learner text, baseline float8, rows_per_unit int, protects_labels boolean, cuts int,
	OUT mechanism text, OUT created_as text, OUT charge_kind text, OUT why text, OUT rows_needed bigint,
	OUT rows_at_least bigint, OUT expected float8, OUT per_answer numeric, OUT total numeric, OUT total_delta float8,
	OUT answers_bought bigint, OUT model_epsilon text, OUT taught_by text, OUT teachers bigint, OUT options text,
	OUT unstable bigint, OUT stream_delta text, OUT labels bigint, OUT budget text, OUT needs_size boolean,
	OUT needs_rows boolean, OUT by_theorem boolean, OUT preference float8, OUT virtue text, OUT grounds text,
	OUT lower_bound text, OUT asked_by text, OUT numeric_labels boolean, OUT bent boolean)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_plan_figures' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 14;
COMMENT ON FUNCTION privpred._plan_figures(bigint, int, int, float8, float8, bigint, float8, text, float8, int, boolean, int) IS
'what every mechanism would reach with declared numbers, and its parameters; for plan()';

CREATE FUNCTION privpred._plan(n bigint, features int, classes int, epsilon float8, delta float8, answers bigint,
	accuracy float8, relation regclass, table_name text, label name, learner text, baseline float8, role regrole, cuts int, OUT rank int,
	OUT mechanism text, OUT recommended boolean, OUT feasible boolean, OUT why text, OUT rows_needed bigint,
	OUT rows_at_least bigint, OUT expected_accuracy float8, OUT expected_error float8, OUT per_answer_epsilon numeric,
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
	-- A description helps where units are 50 sigma.
	rho := CASE WHEN delta OPERATOR(pg_catalog.>) 0 THEN (pg_catalog.sqrt(epsilon OPERATOR(pg_catalog.-) pg_catalog.ln(delta))
		OPERATOR(pg_catalog.-) pg_catalog.sqrt(OPERATOR(pg_catalog.-) pg_catalog.ln(delta))) OPERATOR(pg_catalog.^) 2 END;
	-- 16 pieces in place of each number, if an encoding may be so wide
	cuts := COALESCE(cuts, CASE WHEN (COALESCE(features, col.width) OPERATOR(pg_catalog.+) (15 OPERATOR(pg_catalog.*) col.bends)) OPERATOR(pg_catalog.<=) 16384
		THEN 15 OPERATOR(pg_catalog.*) col.bends END);
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
			pg_catalog.lead(f.expected) OVER best AS next_expected,
			pg_catalog.max(f.expected) FILTER (WHERE x.feasible AND f.mechanism OPERATOR(pg_catalog.=) 'vote') OVER () AS by_vote,
			pg_catalog.max(f.expected) FILTER (WHERE x.feasible AND f.mechanism OPERATOR(pg_catalog.=) 'gradient') OVER () AS by_gradient
		FROM privpred._plan_figures(units, COALESCE(features, col.width, 10), classes, epsilon, delta, asked, plain,
			learner, baseline, rows_per_unit, labels_only, cuts) f
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
			m.by_vote := NULL;
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
				CASE WHEN m.mechanism OPERATOR(pg_catalog.=) ANY (ARRAY['average', 'soft'])
				THEN 'learns numbers with learners of numbers, and is not planned for them: see owner.md'
				ELSE 'learns classes, and the label is a number: declare bins of it by options => ''{"bins": [...]}''' END
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
		-- what general mechanisms do better with these figures is said, whatever else speaks for this one
		IF feasible AND NOT recommended AND (m.expected OPERATOR(pg_catalog.+) 0.005) OPERATOR(pg_catalog.<)
			LEAST(m.by_vote, COALESCE(m.by_gradient, m.by_vote)) THEN
			why := pg_catalog.format('%s; vote%s expected to be right more often (%s in 100, this one %s)', why,
				CASE WHEN m.by_gradient IS NULL THEN ' is' ELSE ' and gradient are' END,
				pg_catalog.concat_ws(' and ', pg_catalog.round(100 OPERATOR(pg_catalog.*) m.by_vote::pg_catalog.numeric, 1),
					pg_catalog.round(100 OPERATOR(pg_catalog.*) m.by_gradient::pg_catalog.numeric, 1)),
				pg_catalog.round(100 OPERATOR(pg_catalog.*) m.expected::pg_catalog.numeric, 1));
		END IF;
		rows_needed := m.rows_needed;
		rows_at_least := CASE WHEN NOT is_number THEN m.rows_at_least END;
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
				COALESCE(CASE WHEN m.bent THEN col.bent END, col.features, CASE WHEN m.bent THEN '{"your_column": {"min": 0, "max": 100, "cuts": 16}}'
					ELSE '{"your_column": {"min": 0, "max": 100}}' END), pg_catalog.concat(chosen, price, options),
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
COMMENT ON FUNCTION privpred._plan(bigint, int, int, float8, float8, bigint, float8, regclass, text, name, text, float8, regrole, int) IS
'what plan() returns; table_name is the relation as its caller would write it';

-- The body is bound here and now, so that it needs no search_path of its own: the table's name is printed by the caller's.
CREATE FUNCTION privpred.plan(n bigint DEFAULT NULL, features int DEFAULT NULL, classes int DEFAULT NULL,
	epsilon float8 DEFAULT 1, delta float8 DEFAULT 0, answers bigint DEFAULT NULL,
	accuracy float8 DEFAULT NULL, relation regclass DEFAULT NULL, label name DEFAULT NULL,
	learner text DEFAULT NULL, baseline float8 DEFAULT NULL, role regrole DEFAULT NULL, cuts int DEFAULT NULL, OUT rank int, OUT mechanism text, OUT recommended boolean,
	OUT feasible boolean, OUT why text, OUT rows_needed bigint, OUT rows_at_least bigint, OUT expected_accuracy float8,
	OUT expected_error float8, OUT per_answer_epsilon numeric, OUT total_epsilon numeric,
	OUT total_delta float8, OUT answers_bought bigint, OUT charged text, OUT parameters text,
	OUT statements text, OUT grounds text, OUT lower_bound text, OUT advice text)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL UNSAFE COST 100000 ROWS 14
BEGIN ATOMIC
	SELECT p.* FROM privpred._plan(plan.n, plan.features, plan.classes, plan.epsilon, plan.delta, plan.answers, plan.accuracy,
		plan.relation, COALESCE(plan.relation::pg_catalog.text, 'your_table'), plan.label, plan.learner, plan.baseline, plan.role, plan.cuts) p;
END;
COMMENT ON FUNCTION privpred.plan(bigint, int, int, float8, float8, bigint, float8, regclass, name, text, float8, regrole, int) IS
'anyone: which mechanism suits n units, so many features and classes, a budget and a number of answers; best first, with expected accuracy, rows needed and statements to paste; looks at declarations, never at rows; costs nothing';

REVOKE ALL ON FUNCTION
	privpred._plan_figures(bigint, int, int, float8, float8, bigint, float8, text, float8, int, boolean, int),
	privpred._plan(bigint, int, int, float8, float8, bigint, float8, regclass, text, name, text, float8, regrole, int),
	privpred.plan(bigint, int, int, float8, float8, bigint, float8, regclass, name, text, float8, regrole, int)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	privpred._plan_figures(bigint, int, int, float8, float8, bigint, float8, text, float8, int, boolean, int),
	privpred._plan(bigint, int, int, float8, float8, bigint, float8, regclass, text, name, text, float8, regrole, int),
	privpred.plan(bigint, int, int, float8, float8, bigint, float8, regclass, name, text, float8, regrole, int)
	TO PUBLIC;

-- what has no epsilon is shown as infinite
CREATE OR REPLACE FUNCTION privpred._report_budgets(relations text[])
RETURNS TABLE (relation text, html text)
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- In each table the cap comes first, then the fullest accounts.
	WITH b AS (
		SELECT x.relation, n.role, b.role IS NULL AS is_cap, b.status, b.epsilon_limit AS lim,
			b.epsilon_spent AS spent, b.epsilon_left AS rest, b.epsilon_reserved AS reserved,
			b.epsilon_orphaned AS orphaned, b.delta_limit AS delta, b.delta_spent, b.renyi_order,
			b.answers_left, b.binding_cap, b.valid_until, b.window_resets_at AS resets,
			b.lifetime_epsilon_limit AS lifetime, b.lifetime_epsilon_spent AS lifetime_spent,
			GREATEST(b.epsilon_limit, CASE WHEN b.epsilon_spent OPERATOR(pg_catalog.<) 'Infinity'
				THEN b.epsilon_spent END) AS whole,
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
							ELSE 'spent' END, LEAST(b.spent, b.whole) OPERATOR(pg_catalog.-) b.reserved
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
-- Citus wants the right to call the parts of what it sends to workers.
GRANT EXECUTE ON FUNCTION
	privpred.state_transition(privpred.training_state, text, double precision[], jsonb),
	privpred.state_merge(privpred.training_state, privpred.training_state)
	TO PUBLIC;
----------------------------------------------------------------------
-- For a monitoring role, to whom a superuser grants them: docs/monitoring.md
----------------------------------------------------------------------

CREATE FUNCTION privpred.stat_watched(OUT role regrole, OUT relation regclass, OUT model_id bigint,
	OUT answers bigint, OUT repeats bigint, OUT unstable bigint, OUT refusals bigint, OUT round_trips bigint,
	OUT ledger_ms float8, OUT cache_hits bigint, OUT cache_misses bigint, OUT since timestamptz)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_stat_watched'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.stat_watched() IS
'what the view privpred.monitor_stat shows: counts of all roles, without those that tell of answers';

CREATE FUNCTION privpred.ledger_state(OUT process int, OUT processes int, OUT in_line int, OUT requests int,
	OUT free_slots int, OUT answers_on boolean, OUT verified_at timestamptz, OUT verified boolean)
RETURNS record AS 'MODULE_PATHNAME', 'privpred_ledger_state' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.ledger_state() IS
'part of the view privpred.monitor_ledger: what the server has in memory of the ledger';

-- Whole percents: who watches need not see each answer that somebody pays for.
CREATE VIEW privpred.monitor_budgets WITH (security_barrier) AS
SELECT COALESCE(p.relation::pg_catalog.text, 'population ' OPERATOR(pg_catalog.||) a.relation_id::pg_catalog.text) AS relation,
	CASE WHEN a.role OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN a.role_name END AS role,
	a.epsilon_units OPERATOR(pg_catalog./) 1e12::pg_catalog.float8 AS epsilon_limit,
	pg_catalog.ceil(100::pg_catalog.float8 OPERATOR(pg_catalog.*) CASE
		WHEN a.refresh IS NULL AND a.limit_units OPERATOR(pg_catalog.>) 0
			THEN a.spent_units OPERATOR(pg_catalog./) a.limit_units::pg_catalog.float8
		WHEN a.refresh IS NOT NULL AND a.window_start OPERATOR(pg_catalog.<>) w.starts THEN 0
		WHEN a.refresh IS NOT NULL AND a.window_limit_units OPERATOR(pg_catalog.>) 0
			THEN a.window_spent_units OPERATOR(pg_catalog./) a.window_limit_units::pg_catalog.float8
		END) OPERATOR(pg_catalog./) 100::pg_catalog.float8 AS spent_ratio,
	CASE WHEN a.refresh IS NOT NULL AND a.limit_units OPERATOR(pg_catalog.>) 0
		THEN pg_catalog.ceil(100::pg_catalog.float8 OPERATOR(pg_catalog.*) a.spent_units OPERATOR(pg_catalog./) a.limit_units::pg_catalog.float8)
			OPERATOR(pg_catalog./) 100::pg_catalog.float8 END AS lifetime_spent_ratio,
	a.valid_until
FROM privpred.account a
LEFT JOIN privpred.populations p ON p.number OPERATOR(pg_catalog.=) a.relation_id
LEFT JOIN LATERAL privpred.account_window(a.window_anchor, a.refresh, pg_catalog.now()) w ON true
WHERE a.revoked_at IS NULL;
COMMENT ON VIEW privpred.monitor_budgets IS 'monitoring role: the share of every budget that is spent, in whole percents, rounded up';
COMMENT ON COLUMN privpred.monitor_budgets.relation IS 'the protected table';
COMMENT ON COLUMN privpred.monitor_budgets.role IS 'whose budget it is; NULL: the cap over all roles';
COMMENT ON COLUMN privpred.monitor_budgets.epsilon_limit IS 'as granted; of each window if the budget refreshes';
COMMENT ON COLUMN privpred.monitor_budgets.spent_ratio IS 'share that is spent, of the present window if the budget refreshes; NULL: there is no limit';
COMMENT ON COLUMN privpred.monitor_budgets.lifetime_spent_ratio IS 'share of the lifetime limit that a budget that refreshes has spent';
COMMENT ON COLUMN privpred.monitor_budgets.valid_until IS 'when the budget ends; NULL: it does not';

CREATE VIEW privpred.monitor_stat WITH (security_barrier) AS
SELECT s.relation, m.name AS model, s.role, s.answers, s.repeats, s.refusals, s.round_trips,
	s.ledger_ms OPERATOR(pg_catalog./) 1000::pg_catalog.float8 AS ledger_seconds
FROM privpred.stat_watched() s
LEFT JOIN privpred.model m ON m.model_id OPERATOR(pg_catalog.=) s.model_id
WHERE s.answers IS NOT NULL;
COMMENT ON VIEW privpred.monitor_stat IS
'monitoring role: counts since the server started, but for models that answer through streams, whose counts tell of answers';
COMMENT ON COLUMN privpred.monitor_stat.relation IS 'the protected table';
COMMENT ON COLUMN privpred.monitor_stat.model IS 'NULL once it was dropped';
COMMENT ON COLUMN privpred.monitor_stat.role IS 'who asked';
COMMENT ON COLUMN privpred.monitor_stat.answers IS 'paid for and drawn';
COMMENT ON COLUMN privpred.monitor_stat.repeats IS 'the same question again, free';
COMMENT ON COLUMN privpred.monitor_stat.refusals IS 'the budget could not, or may not, pay';
COMMENT ON COLUMN privpred.monitor_stat.round_trips IS 'to the ledger''s process';
COMMENT ON COLUMN privpred.monitor_stat.ledger_seconds IS 'of waiting for it';

CREATE VIEW privpred.monitor_ledger WITH (security_barrier) AS
SELECT (SELECT COALESCE(pg_catalog.max(e.id), 0) FROM privpred.ledger_entry e) AS entries,
	pg_catalog.pg_total_relation_size('privpred.ledger_entry'::pg_catalog.regclass) AS bytes,
	(SELECT pg_catalog.count(*) FROM privpred.ledger_outbox) AS unchained,
	l.leases, l.orphaned_leases, l.oldest_lease, s.process, s.processes, s.in_line, s.requests, s.free_slots, s.answers_on,
	s.verified_at, s.verified
FROM privpred.ledger_state() s,
	(SELECT pg_catalog.count(*) FILTER (WHERE o.incarnation OPERATOR(pg_catalog.=) privpred.ledger_incarnation()) AS leases,
		pg_catalog.count(*) FILTER (WHERE o.incarnation OPERATOR(pg_catalog.<>) privpred.ledger_incarnation()) AS orphaned_leases,
		pg_catalog.min(o.at) FILTER (WHERE o.incarnation OPERATOR(pg_catalog.=) privpred.ledger_incarnation()) AS oldest_lease
	FROM privpred.open_lease o) l;
COMMENT ON VIEW privpred.monitor_ledger IS 'monitoring role: the ledger of this database';
COMMENT ON COLUMN privpred.monitor_ledger.entries IS 'that it has had';
COMMENT ON COLUMN privpred.monitor_ledger.bytes IS 'of its table and index';
COMMENT ON COLUMN privpred.monitor_ledger.unchained IS 'changes to budgets that the ledger''s process has not chained yet';
COMMENT ON COLUMN privpred.monitor_ledger.leases IS 'blocks of answers that running statements have reserved';
COMMENT ON COLUMN privpred.monitor_ledger.orphaned_leases IS 'blocks that a crash has lost';
COMMENT ON COLUMN privpred.monitor_ledger.oldest_lease IS 'when the oldest that is reserved was taken or last grew';
COMMENT ON COLUMN privpred.monitor_ledger.process IS 'the ledger''s process of this database; NULL: it is idle, and none runs';
COMMENT ON COLUMN privpred.monitor_ledger.processes IS 'of all databases';
COMMENT ON COLUMN privpred.monitor_ledger.in_line IS 'databases, of all, that need a process and have none';
COMMENT ON COLUMN privpred.monitor_ledger.requests IS 'of this database to its ledger';
COMMENT ON COLUMN privpred.monitor_ledger.free_slots IS 'places for requests of all databases';
COMMENT ON COLUMN privpred.monitor_ledger.answers_on IS 'whether this server answers: privpred.answers';
COMMENT ON COLUMN privpred.monitor_ledger.verified_at IS 'when verify_ledger last ran; NULL: not since the server started';
COMMENT ON COLUMN privpred.monitor_ledger.verified IS 'whether it found nothing wrong';

REVOKE ALL ON privpred.monitor_budgets, privpred.monitor_stat, privpred.monitor_ledger FROM PUBLIC;
REVOKE ALL ON FUNCTION privpred.stat_watched(), privpred.ledger_state() FROM PUBLIC;
----------------------------------------------------------------------
-- report() counts folded entries
----------------------------------------------------------------------

CREATE OR REPLACE FUNCTION privpred.report() RETURNS text
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
			COALESCE(pg_catalog.sum(COALESCE(l.folded, 1)), 0)::pg_catalog.int8 AS entries,
			COALESCE(pg_catalog.sum(CASE WHEN l.id IS NULL THEN l.folded ELSE 1 END),
				0)::pg_catalog.int8 AS chained,
				pg_catalog.max(l.id) AS head, pg_catalog.max(l.at) AS at
		FROM privpred.ledger l) p $$;

-- ---------- trees and neighbours of numbers in words ----------

CREATE OR REPLACE FUNCTION privpred._explain_leaf(leaf float4[], shares boolean, tree int, classes text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE
		WHEN shares AND classes OPERATOR(pg_catalog.=) ARRAY['number']
			THEN (0.5::pg_catalog.float8 OPERATOR(pg_catalog.+) leaf[1])::pg_catalog.text
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

CREATE OR REPLACE FUNCTION privpred._explain_member(member jsonb, names text[], classes text[]) RETURNS text
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
		WHEN k.kind OPERATOR(pg_catalog.=) 'constant' AND classes OPERATOR(pg_catalog.=) ARRAY['number'] THEN e'always 0.5\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'constant' THEN pg_catalog.format(e'always %s\n',
			classes[(member OPERATOR(pg_catalog.->) 'class')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1])
		WHEN k.kind OPERATOR(pg_catalog.=) 'linear' THEN e'a linear score, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'gaussian' THEN e'a naive Bayes score, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'threshold' THEN e'a walk along one feature, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'neighbours' THEN pg_catalog.format(
			e'the %s of the %s nearest of %s rows, without rules\n',
			CASE WHEN classes OPERATOR(pg_catalog.=) ARRAY['number'] THEN 'mean' ELSE 'majority' END,
			member OPERATOR(pg_catalog.->) 'k',
			pg_catalog.jsonb_array_length(member OPERATOR(pg_catalog.->) 'rows'))
		WHEN k.kind OPERATOR(pg_catalog.=) 'sql' THEN e'a function of its own\n' END
	FROM (SELECT member OPERATOR(pg_catalog.->>) 'kind' AS kind) k $$;

-- ---------- passes of training over units, added up wherever the rows are ----------

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

CREATE FUNCTION privpred.hash_partition_has(modulus integer, remainder integer, VARIADIC key "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'privpred_hash_partition_has' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.hash_partition_has(integer, integer, "any") IS
	'whether a row with this key belongs into that partition of a table partitioned by hash';

CREATE FUNCTION privpred.belongs_here(belongs boolean) RETURNS boolean
	AS 'MODULE_PATHNAME', 'privpred_belongs_here' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.belongs_here(boolean) IS
	'true, or an error: a row does not lie in the partition that its unit belongs into';

REVOKE ALL ON FUNCTION
	privpred.unit_sums_in(cstring),
	privpred.unit_sums_out(privpred.unit_sums),
	privpred.unit_sums_recv(internal),
	privpred.unit_sums_send(privpred.unit_sums),
	privpred.sum_units(double precision, double precision[], bytea),
	privpred.sum_units(double precision[], double precision[], bytea),
	privpred.sum_sorted_units(bytea, double precision, double precision[], "any"),
	privpred.merge_sums(privpred.unit_sums),
	privpred.unit_sums_add_row(privpred.unit_sums, double precision, double precision[], bytea),
	privpred.unit_sums_add_unit(privpred.unit_sums, double precision[], double precision[], bytea),
	privpred.unit_sums_add_sorted(privpred.unit_sums, bytea, double precision, double precision[], "any"),
	privpred.unit_sums_merge(privpred.unit_sums, privpred.unit_sums),
	privpred.pack_unit(double precision, double precision[], bigint),
	privpred.hash_partition_has(integer, integer, "any"),
	privpred.belongs_here(boolean)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	privpred.sum_units(double precision, double precision[], bytea),
	privpred.sum_units(double precision[], double precision[], bytea),
	privpred.sum_sorted_units(bytea, double precision, double precision[], "any"),
	privpred.merge_sums(privpred.unit_sums),
	privpred.unit_sums_add_row(privpred.unit_sums, double precision, double precision[], bytea),
	privpred.unit_sums_add_unit(privpred.unit_sums, double precision[], double precision[], bytea),
	privpred.unit_sums_add_sorted(privpred.unit_sums, bytea, double precision, double precision[], "any"),
	privpred.unit_sums_merge(privpred.unit_sums, privpred.unit_sums),
	privpred.pack_unit(double precision, double precision[], bigint),
	privpred.hash_partition_has(integer, integer, "any"),
	privpred.belongs_here(boolean)
	TO PUBLIC;

-- scores of each of several classes
CREATE FUNCTION @extschema@.private_score(model text, features float8[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, float8[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features numeric[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, numeric[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features bigint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features int[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features smallint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features real[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, real[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features jsonb, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, jsonb, float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features json, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, json, float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features record, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, record, float8, text) IS
'the same of a class: its score';
CREATE FUNCTION @extschema@.private_score(model text, features text, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, text, float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features float8[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, float8[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features numeric[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, numeric[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features bigint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features int[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features smallint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features real[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, real[], float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features jsonb, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, jsonb, float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features json, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, json, float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features record, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, record, float8, text) IS
'the same of a class: its score';
CREATE FUNCTION privpred.private_score(model text, features text, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, text, float8, text) IS
'the same of a class: its score';
REVOKE ALL ON FUNCTION
	privpred.private_score(text, float8[], float8, text),
	privpred.private_score(text, numeric[], float8, text),
	privpred.private_score(text, bigint[], float8, text),
	privpred.private_score(text, int[], float8, text),
	privpred.private_score(text, smallint[], float8, text),
	privpred.private_score(text, real[], float8, text),
	privpred.private_score(text, jsonb, float8, text),
	privpred.private_score(text, json, float8, text),
	privpred.private_score(text, record, float8, text),
	privpred.private_score(text, text, float8, text)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	privpred.private_score(text, float8[], float8, text),
	privpred.private_score(text, numeric[], float8, text),
	privpred.private_score(text, bigint[], float8, text),
	privpred.private_score(text, int[], float8, text),
	privpred.private_score(text, smallint[], float8, text),
	privpred.private_score(text, real[], float8, text),
	privpred.private_score(text, jsonb, float8, text),
	privpred.private_score(text, json, float8, text),
	privpred.private_score(text, record, float8, text),
	privpred.private_score(text, text, float8, text)
	TO PUBLIC;
