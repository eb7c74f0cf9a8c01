-- The analyst's own table: twenty people who are about to leave the hospital.
SET client_min_messages = warning;
CREATE TABLE new_patients (
	name text, age int, bmi float8, ward text, smoker boolean, prior_admissions int
);
INSERT INTO new_patients
SELECT 'new patient ' || i,
	20 + (i * 37) % 71,
	18 + (i * 29) % 23 + 0.5,
	(ARRAY['A', 'B', 'C'])[1 + i % 3],
	i % 4 = 0,
	(i * 7) % 5
FROM generate_series(1, 20) i;
