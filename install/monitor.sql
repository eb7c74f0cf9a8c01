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
-- For a monitoring role, to whom a superuser grants EXECUTE: docs/monitoring.md
----------------------------------------------------------------------

CREATE FUNCTION privpred.stat_watched(OUT role regrole, OUT relation regclass, OUT model_id bigint,
	OUT answers bigint, OUT repeats bigint, OUT unstable bigint, OUT refusals bigint, OUT round_trips bigint,
	OUT ledger_ms float8, OUT cache_hits bigint, OUT cache_misses bigint, OUT since timestamptz)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_stat_watched'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.stat_watched() IS
'what privpred.monitor_stat() shows: counts of all roles, without those that tell of answers';

CREATE FUNCTION privpred.ledger_state(OUT process int, OUT processes int, OUT in_line int, OUT requests int,
	OUT free_slots int, OUT answers boolean, OUT verified_at timestamptz, OUT verified boolean)
RETURNS record AS 'MODULE_PATHNAME', 'privpred_ledger_state' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.ledger_state() IS
'part of privpred.monitor_ledger(): what the server has in memory of the ledger';

-- Whole percents: who watches need not see each answer that somebody pays for.
CREATE FUNCTION privpred.monitor_budgets(OUT relation text, OUT role text, OUT epsilon_limit float8,
	OUT spent_ratio float8, OUT lifetime_spent_ratio float8, OUT valid_until timestamptz)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 100
BEGIN ATOMIC
	SELECT COALESCE(p.relation::pg_catalog.text, 'population ' OPERATOR(pg_catalog.||) a.relation_id::pg_catalog.text),
		CASE WHEN a.role OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN a.role_name END,
		a.epsilon_units OPERATOR(pg_catalog./) 1e12::pg_catalog.float8,
		pg_catalog.ceil(100::pg_catalog.float8 OPERATOR(pg_catalog.*) CASE
			WHEN a.refresh IS NULL THEN a.spent_units OPERATOR(pg_catalog./) NULLIF(a.limit_units, 0)::pg_catalog.float8
			WHEN a.window_start OPERATOR(pg_catalog.=) w.starts
				THEN a.window_spent_units OPERATOR(pg_catalog./) NULLIF(a.window_limit_units, 0)::pg_catalog.float8
			ELSE 0 END) OPERATOR(pg_catalog./) 100::pg_catalog.float8,
		CASE WHEN a.refresh IS NOT NULL THEN pg_catalog.ceil(100::pg_catalog.float8 OPERATOR(pg_catalog.*)
			a.spent_units OPERATOR(pg_catalog./) NULLIF(a.limit_units, 0)::pg_catalog.float8) OPERATOR(pg_catalog./) 100::pg_catalog.float8 END,
		NULLIF(a.valid_until, 'infinity')
	FROM privpred.account a
	LEFT JOIN privpred.populations p ON p.number OPERATOR(pg_catalog.=) a.relation_id
	LEFT JOIN LATERAL privpred.account_window(a.window_anchor, a.refresh, pg_catalog.now()) w ON true
	WHERE a.revoked_at IS NULL
	ORDER BY 1, 2 NULLS FIRST;
END;
COMMENT ON FUNCTION privpred.monitor_budgets() IS
'monitoring role: the share of every budget that is spent, in whole percents, rounded up; of the present window if it refreshes, and for ever; role NULL is the cap over all roles';

CREATE FUNCTION privpred.monitor_stat(OUT relation text, OUT model text, OUT role text, OUT answers bigint,
	OUT repeats bigint, OUT refusals bigint, OUT round_trips bigint, OUT ledger_seconds float8)
RETURNS SETOF record LANGUAGE sql VOLATILE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp ROWS 100
BEGIN ATOMIC
	SELECT s.relation::pg_catalog.text, m.name, s.role::pg_catalog.text, s.answers, s.repeats, s.refusals, s.round_trips,
		s.ledger_ms OPERATOR(pg_catalog./) 1000::pg_catalog.float8
	FROM privpred.stat_watched() s
	LEFT JOIN privpred.model m ON m.model_id OPERATOR(pg_catalog.=) s.model_id
	WHERE s.answers IS NOT NULL
	ORDER BY 1, 2, 3;
END;
COMMENT ON FUNCTION privpred.monitor_stat() IS
'monitoring role: counts by table, model and role since the server started, but for models that answer through streams, whose counts tell of answers; model NULL: it was dropped';

CREATE FUNCTION privpred.monitor_ledger(OUT entries bigint, OUT bytes bigint, OUT unchained bigint, OUT leases bigint,
	OUT orphaned_leases bigint, OUT oldest_lease timestamptz, OUT process int, OUT processes int, OUT in_line int,
	OUT requests int, OUT free_slots int, OUT answers boolean, OUT verified_at timestamptz, OUT verified boolean)
RETURNS record LANGUAGE sql VOLATILE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT (SELECT COALESCE(pg_catalog.max(e.id), 0) FROM privpred.ledger_entry e),
		pg_catalog.pg_total_relation_size('privpred.ledger_entry'::pg_catalog.regclass),
		(SELECT pg_catalog.count(*) FROM privpred.ledger_outbox),
		l.leases, l.orphaned, l.oldest, s.*
	FROM privpred.ledger_state() s,
		(SELECT pg_catalog.count(*) FILTER (WHERE o.incarnation OPERATOR(pg_catalog.=) privpred.ledger_incarnation()) AS leases,
			pg_catalog.count(*) FILTER (WHERE o.incarnation OPERATOR(pg_catalog.<>) privpred.ledger_incarnation()) AS orphaned,
			pg_catalog.min(o.at) FILTER (WHERE o.incarnation OPERATOR(pg_catalog.=) privpred.ledger_incarnation()) AS oldest
		FROM privpred.open_lease o) l;
END;
COMMENT ON FUNCTION privpred.monitor_ledger() IS
'monitoring role: the ledger of this database: its size, leases, process, and what verify_ledger has said since the server started; processes, in_line and free_slots are of all databases';

----------------------------------------------------------------------
-- Build
----------------------------------------------------------------------

CREATE FUNCTION privpred.build()
RETURNS text AS 'MODULE_PATHNAME', 'privpred_build' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privpred.build() IS
'anyone: the version that the server runs';
