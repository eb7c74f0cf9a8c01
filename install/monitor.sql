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
