-- The tables of make demo, owned by the role clinic, as docs/owner.md says.
CREATE EXTENSION privpred;
GRANT CREATE ON SCHEMA public TO clinic;
SELECT format('GRANT CREATE ON DATABASE %I TO clinic', current_database()) \gexec
SET SESSION AUTHORIZATION clinic;
\i test/demo/patients.sql
-- Fewer than the page says: the learner in SQL is slow.
DELETE FROM patients WHERE patient_id > 20000;
ANALYZE patients;
