-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION privpred" to load this file. \quit

-- Nothing here is looked up in the schema that was named at CREATE EXTENSION, where
-- others may have put operators and functions that fit better than the server's.
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA privpred;
COMMENT ON SCHEMA privpred IS 'private predictions: models, budgets and their ledger';
GRANT USAGE ON SCHEMA privpred TO PUBLIC;
