-- A model that docs/analyst.md asks, a stream, and the analyst's own table.
CREATE EXTENSION privpred;
\i test/demo/patients.sql
\i test/demo/new_patients.sql
ANALYZE new_patients;
GRANT SELECT ON new_patients TO analyst, colleague;
SELECT privpred.protect('patients', unit => 'patient_id');
SELECT privpred.create_model('readmission', 'patients', label => 'readmitted', classes => '{no,yes}',
	features => '{"age":  {"min": 0, "max": 110}, "bmi": {"min": 10, "max": 60},
		"ward": {"levels": ["A","B","C"]}, "smoker": {"type": "boolean"}, "prior_admissions": {"min": 0, "max": 10}}',
	learner => 'logistic', teachers => 200, epsilon => 0.1);
SELECT privpred.create_model('readmission_sparse', 'patients', label => 'readmitted', classes => '{no,yes}',
	features => '{"age":  {"min": 0, "max": 110}, "bmi": {"min": 10, "max": 60},
		"ward": {"levels": ["A","B","C"]}, "smoker": {"type": "boolean"}, "prior_admissions": {"min": 0, "max": 10}}',
	mechanism => 'sparse', learner => 'linear', teachers => 4000);
SELECT privpred.grant_budget('analyst', 'patients', epsilon => 5);
SELECT privpred.grant_budget('colleague', 'patients', epsilon => 5, delta => 1e-6);
