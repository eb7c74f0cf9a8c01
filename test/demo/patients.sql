-- 50,000 made-up patients with one to three stays each.  Whether a patient is
-- readmitted follows a logistic rule of what is known at discharge, plus chance.
SET client_min_messages = warning;
SELECT setseed(0.42);

CREATE FUNCTION pg_temp.normal() RETURNS float8 LANGUAGE sql VOLATILE
	AS $$ SELECT sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) $$;

CREATE FUNCTION pg_temp.make_stays(first_id bigint, last_id bigint)
RETURNS TABLE (patient_id bigint, age int, bmi float8, ward text, smoker boolean,
			   prior_admissions int, readmitted text)
LANGUAGE plpgsql AS $$
DECLARE
	risk float8;
BEGIN
	FOR i IN first_id .. last_id LOOP
		patient_id := i;
		age := least(100, greatest(18, round(62 + 18 * pg_temp.normal())));
		bmi := least(55, greatest(14, round((27 + 5 * pg_temp.normal())::numeric, 1)));
		smoker := random() < 0.22;
		prior_admissions := floor(-1.6 * ln(1 - random()));
		FOR stay IN 1 .. 1 + floor(1.6 * random() ^ 2 * 2)::int LOOP
			ward := (ARRAY['A', 'B', 'C'])[1 + floor(3 * random() ^ 1.3)::int];
			risk := -1.7 + 0.045 * (age - 62) + 0.06 * (bmi - 27) + 0.55 * (prior_admissions - 1)
				+ CASE WHEN smoker THEN 0.9 ELSE 0 END
				+ CASE ward WHEN 'B' THEN 0.4 WHEN 'C' THEN 1.3 ELSE -0.4 END;
			readmitted := CASE WHEN random() < 1 / (1 + exp(-1.6 * risk)) THEN 'yes' ELSE 'no' END;
			RETURN NEXT;
			prior_admissions := prior_admissions + 1;
		END LOOP;
	END LOOP;
END $$;

CREATE TABLE patients (
	stay_id		bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	patient_id	bigint NOT NULL,
	age			int NOT NULL,
	bmi			float8 NOT NULL,
	ward		text NOT NULL,
	smoker		boolean NOT NULL,
	prior_admissions int NOT NULL,
	readmitted	text NOT NULL
);
INSERT INTO patients (patient_id, age, bmi, ward, smoker, prior_admissions, readmitted)
	SELECT * FROM pg_temp.make_stays(1, 50000);

-- Stays of other patients, whose outcome the owner knows: to measure accuracy.
CREATE TABLE known_outcomes (LIKE patients);
INSERT INTO known_outcomes
	SELECT row_number() OVER (), * FROM pg_temp.make_stays(50001, 52000);

ANALYZE patients, known_outcomes;
