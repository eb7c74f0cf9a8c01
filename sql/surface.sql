-- The shape of the extension: what is there, who may touch it, what is dumped.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;

-- every function, view and aggregate explains itself
SELECT p.oid::regprocedure AS function_without_comment
FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'privpred')
  AND obj_description(p.oid, 'pg_proc') IS NULL
  AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[]) AND p.prorettype <> 'internal'::regtype
ORDER BY 1;
SELECT c.oid::regclass AS relation_without_comment
FROM pg_class c
WHERE c.relnamespace = 'privpred'::regnamespace AND c.relkind IN ('r', 'v')
  AND obj_description(c.oid, 'pg_class') IS NULL ORDER BY 1;

SELECT c.relname AS view, a.attname AS column_without_comment
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'privpred'::regnamespace AND c.relkind IN ('v', 'm') AND col_description(c.oid, a.attnum) IS NULL ORDER BY 1, 2;

-- what everybody may call
SELECT DISTINCT p.pronamespace::regnamespace || '.' || p.proname AS open_to_everybody
FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'privpred')
  AND has_function_privilege('pg_read_all_stats', p.oid, 'EXECUTE')
ORDER BY 1;

-- what everybody may read: views that filter by role, no table
SELECT c.relname AS readable_by_everybody, c.relkind
FROM pg_class c
WHERE c.relnamespace = 'privpred'::regnamespace AND c.relkind IN ('r', 'v', 'S', 'm', 'p')
  AND has_table_privilege('pg_read_all_stats', c.oid, 'SELECT') ORDER BY 1;

-- every table and its sequence survives pg_dump
SELECT c.relname AS not_dumped
FROM pg_class c
WHERE c.relnamespace = 'privpred'::regnamespace AND c.relkind IN ('r', 'S')
  AND c.oid <> ALL (SELECT unnest(extconfig) FROM pg_extension WHERE extname = 'privpred')
ORDER BY 1;

-- functions in SQL run as their caller with a fixed search_path (or were bound when they were created), and name the schema of every operator
WITH body AS (
  SELECT p.oid, p.proname, p.prosecdef, p.proconfig, p.prosqlbody IS NOT NULL AS bound, regexp_replace(regexp_replace(p.prosrc, '\$css\$.*?\$css\$|--[^\n]*|e?''(''''|[^''])*''', '', 'g'),
    'OPERATOR\(pg_catalog\.[^)]*\)|:=|=>|::|\(\*\)|\.\*|SELECT \*', '', 'g') AS src
  FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid JOIN pg_language l ON l.oid = p.prolang
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'privpred') AND l.lanname IN ('sql', 'plpgsql'))
SELECT count(*) > 20 AS functions, bool_or(prosecdef) AS definers, bool_and(bound OR 'search_path=pg_catalog, pg_temp' = ANY (proconfig)) AS paths,
  array_agg(proname) FILTER (WHERE src ~ '[-+*/<>=~!@#%^&|]|\m(IN \(|LIKE|BETWEEN|NULLIF|DISTINCT FROM|SIMILAR)|\mCASE (?!WHEN)|JOIN [^;]*? USING \(') AS by_search_path
FROM body;

-- planner facts
SELECT oid::regprocedure, provolatile, proparallel, proleakproof, proisstrict, procost >= 1000 AS costly
FROM pg_proc WHERE proname = 'private_predict' ORDER BY 1;

-- private_predict lives where CREATE EXTENSION was told, everything else in privpred
SELECT DISTINCT n.nspname, p.proname LIKE 'private%' AS private
FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
  JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'privpred')
ORDER BY 1, 2;
