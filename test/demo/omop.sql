-- Another hospital keeps its records as OMOP has them: a row for each person, tables of what happened to them, and a
-- table of concepts.  All made up: 20,000 people, about 60,000 visits and 100,000 measurements.  Who will have a
-- readmission follows from age, visits to the emergency room and HbA1c, plus chance.
SET client_min_messages = warning;
SELECT setseed(0.43);

CREATE TABLE person (
	person_id		bigint PRIMARY KEY,
	year_of_birth	int NOT NULL,
	readmitted		boolean
);
CREATE TABLE visit_occurrence (
	visit_occurrence_id	bigint PRIMARY KEY,
	person_id			bigint NOT NULL,
	visit_concept_id	int NOT NULL,
	visit_start_date	date NOT NULL
);
CREATE TABLE measurement (
	measurement_id			bigint PRIMARY KEY,
	person_id				bigint NOT NULL,
	measurement_concept_id	int NOT NULL,
	value_as_number			numeric
);
CREATE TABLE concept (
	concept_id		int PRIMARY KEY,
	concept_name	text NOT NULL,
	vocabulary_id	text NOT NULL,
	concept_code	text NOT NULL
);
INSERT INTO concept VALUES
	(9201, 'Inpatient Visit', 'Visit', 'IP'), (9202, 'Outpatient Visit', 'Visit', 'OP'), (9203, 'Emergency Room Visit', 'Visit', 'ER'),
	(3004410, 'Hemoglobin A1c in Blood', 'LOINC', '4548-4'), (3004249, 'Systolic blood pressure', 'LOINC', '8480-6'), (3038553, 'Body mass index', 'LOINC', '39156-5');

CREATE TEMP TABLE truth AS
SELECT i AS person_id, 1930 + floor(70 * random())::int AS year_of_birth, random() AS frail, 4.5 + 5 * random() ^ 2 AS hba1c
FROM generate_series(1, 20000) i;

INSERT INTO person
SELECT person_id, year_of_birth, random() < 1 / (1 + exp(-(4 * (frail - 0.5) + 0.9 * (hba1c - 6) + 0.04 * (1965 - year_of_birth))))
FROM truth;

INSERT INTO visit_occurrence
SELECT row_number() OVER (), person_id, CASE WHEN random() < frail / 2 THEN 9203 WHEN random() < 0.3 THEN 9201 ELSE 9202 END,
	DATE '2024-01-01' + floor(700 * random())::int
FROM truth, generate_series(1, 1 + floor(4 * (frail + random()))::int);

INSERT INTO measurement
SELECT row_number() OVER (), person_id, concept_id,
	round((CASE concept_id WHEN 3004410 THEN hba1c + 0.4 * (random() - 0.5) WHEN 3004249 THEN 100 + 60 * random() ELSE 18 + 20 * random() END)::numeric, 1)
FROM truth, (VALUES (3004410), (3004410), (3004249), (3004249), (3038553)) m (concept_id);

CREATE INDEX ON visit_occurrence (person_id);
CREATE INDEX ON measurement (person_id);
ANALYZE person, visit_occurrence, measurement, concept;
