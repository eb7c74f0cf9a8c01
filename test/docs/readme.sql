-- What README.md supposes: a table of patients, an analyst with a table of her own.
\i test/demo/patients.sql
\i test/demo/new_patients.sql
GRANT SELECT ON new_patients TO analyst;
