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

----------------------------------------------------------------------
-- Build
----------------------------------------------------------------------

CREATE FUNCTION privpred.build()
RETURNS text AS 'MODULE_PATHNAME', 'privpred_build' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.build() IS
'anyone: the version that the server runs';
