-- A role that may watch privpred and nothing else.  Run it as a superuser in each database that has
-- the extension:  psql -d mydb -f role.sql
-- It can read no table, no answer and no setting; see docs/monitoring.md for what it sees.
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) 'privpred_monitor') THEN
		CREATE ROLE privpred_monitor LOGIN NOINHERIT CONNECTION LIMIT 5;
	END IF;
END $$;
ALTER ROLE privpred_monitor SET default_transaction_read_only = on;
ALTER ROLE privpred_monitor SET statement_timeout = '10s';
GRANT USAGE ON SCHEMA privpred TO privpred_monitor;
GRANT SELECT ON privpred.monitor_budgets, privpred.monitor_stat, privpred.monitor_ledger TO privpred_monitor;
GRANT EXECUTE ON FUNCTION privpred.stat_watched(), privpred.ledger_state() TO privpred_monitor;
