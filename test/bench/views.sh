# shellcheck shell=bash disable=SC2154
# Training through a view over normalised tables (100,000 persons, 1,000,000 measurements), beside a flat table made of it
# by hand and the time of the view's own SELECT.

persons=100000

need_history() {
	table_exists history_flat && return
	sql <<-SQL
		CREATE TABLE person (person_id int PRIMARY KEY, year_of_birth int NOT NULL, readmitted boolean NOT NULL);
		CREATE TABLE visit_occurrence (visit_occurrence_id int PRIMARY KEY, person_id int NOT NULL, visit_concept_id int NOT NULL);
		CREATE TABLE measurement (measurement_id int PRIMARY KEY, person_id int NOT NULL, measurement_concept_id int NOT NULL, value_as_number numeric);
		CREATE TABLE concept (concept_id int PRIMARY KEY, concept_code text NOT NULL);
		SELECT setseed(0.5);
		INSERT INTO concept VALUES (3004410, '4548-4'), (3004249, '8480-6'), (9201, 'IP'), (9202, 'OP'), (9203, 'ER');
		INSERT INTO person SELECT i, 1930 + i % 70, random() < 0.3 FROM generate_series(1, $persons) i;
		INSERT INTO visit_occurrence SELECT i, 1 + i % $persons, 9201 + i % 3 FROM generate_series(1, 3 * $persons) i;
		INSERT INTO measurement SELECT i, 1 + floor($persons * random())::int, CASE WHEN i % 2 = 0 THEN 3004410 ELSE 3004249 END,
			round((5 + 5 * random())::numeric, 1) FROM generate_series(1, 10 * $persons) i;
		CREATE INDEX ON visit_occurrence (person_id);
		CREATE INDEX ON measurement (person_id);
		CREATE VIEW history AS
			SELECT p.person_id, 2026 - p.year_of_birth AS age, v.visits, v.emergency, m.hba1c, p.readmitted
			FROM person p
			LEFT JOIN (SELECT person_id, count(*) AS visits, bool_or(visit_concept_id = 9203) AS emergency
				FROM visit_occurrence GROUP BY person_id) v ON v.person_id = p.person_id
			LEFT JOIN (SELECT m.person_id, avg(m.value_as_number) AS hba1c
				FROM measurement m JOIN concept c ON c.concept_id = m.measurement_concept_id
				WHERE c.concept_code = '4548-4' GROUP BY m.person_id) m ON m.person_id = p.person_id;
		CREATE TABLE history_flat AS SELECT * FROM history;
		ALTER TABLE history_flat ADD PRIMARY KEY (person_id);
		VACUUM ANALYZE person, visit_occurrence, measurement, concept, history_flat;
	SQL
	sql -o /dev/null -c "SELECT privpred.protect('person', unit => 'person_id', declared_units => $persons)" \
		-c "SELECT privpred.protect(t, unit => 'person_id', same_units_as => 'person') FROM unnest('{visit_occurrence,measurement}'::regclass[]) t" \
		-c "SELECT privpred.protect('history', unit => 'person_id', public_tables => '{concept}', declared_units => $persons)" \
		-c "SELECT privpred.protect('history_flat', declared_units => $persons)"
}

# history_model RELATION MORE: the statement
history_model() {
	printf "SELECT privpred.create_model('history', '%s', label => 'readmitted', features => '%s'%s);" "$1" \
		'{"age": {"min": 0, "max": 100}, "visits": {"min": 0, "max": 10}, "emergency": {"type": "boolean"}, "hba1c": {"min": 4, "max": 14}}' "$2"
}

# every column of the view, computed and thrown away
whole="SELECT count(age), count(visits), count(emergency), count(hba1c), count(readmitted) FROM history;"

declare -A of_kind=([vote]=", learner => 'logistic', teachers => 100" [gradient]=", mechanism => 'gradient', epsilon => 1")

chapter "views: $persons persons, $((10 * persons)) measurements"
need_history
for ((i = 0; i <= repeat; i++)); do
	for kind in vote gradient; do
		flat=$(milliseconds "$serial" "$(history_model history_flat "${of_kind[$kind]}")")
		forget history
		read_view=$(milliseconds "$serial" "$whole")
		view=$(milliseconds "$serial" "$(history_model history "${of_kind[$kind]}")")
		forget history
		[ $i -gt 0 ] || continue	# the first run warms up
		sample "views/flat/$kind" "$flat"
		sample "views/select/$kind" "$read_view"
		sample "views/view/$kind" "$view"
		sample "views/sum/$kind" "$(awk -v a="$flat" -v b="$read_view" 'BEGIN { print a + b }')"
	done
done
