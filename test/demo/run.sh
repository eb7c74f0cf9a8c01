#!/bin/bash
# make demo: a data owner, an analyst, and a budget that runs out.
# Every step is checked; the first that misbehaves ends the demo with an error.
#
#	KEEP=1		leaves the server up and prints how to reach and stop it
. "$(dirname "$0")/../lib/common.sh"
enter_sandbox test/demo/run.sh "$@"

if [ -t 1 ]; then
	bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
	bold='' dim='' plain=''
fi

chapter=0
checks=0

heading() {
	chapter=$((chapter + 1))
	printf '\n\n%s%d. %s%s\n' "$bold" "$chapter" "$*" "$plain"
}

say() {
	echo
	fmt -w 88
}

misbehaved() {
	printf '\n%sdemo failed in step %d: %s%s\n' "$bold" "$chapter" "$*" "$plain"
	printf '%s\n' "-- end of the server's log"
	tail -n 25 "$sandbox/log/demo.log"
	exit 1
}

# Everything runs in a session of its own; results and errors come out in order.
client() { stdbuf -o0 psql -X -q -d demo -v ON_ERROR_STOP=1 "$@"; }

# Makes psql show each statement (it ends with a line's last semicolon), behind the
# name of the role, before it is run.
with_echo() {
	awk -v before="$dim$1>$plain $bold" -v after="$plain" -v quote="'" '
		{
			shown = $0
			gsub(quote, quote quote, shown)
			echo = echo "\\echo " quote before shown after quote "\n"
			statement = statement $0 "\n"
		}
		/;$/ { printf "\\echo\n%s%s", echo, statement; echo = statement = "" }'
}

# run ROLE [SQLSTATE] <<SQL: shows the SQL and what it gives.  With a SQLSTATE
# the SQL has to fail with exactly that.
run() {
	local role=$1 expected=${2:-00000} state
	rm -f "$sandbox/state"
	{
		with_echo "$role"
		printf '\\o %s\n\\qecho :LAST_ERROR_SQLSTATE\n' "$sandbox/state"
	} | client -U "$role" -v ON_ERROR_STOP=0 -P footer=off 2>&1 | cat -s | sed '${/^$/d;}' || true
	state=$(cat "$sandbox/state" 2>/dev/null || true)
	[ "$state" = "$expected" ] ||
		misbehaved "expected SQLSTATE $expected from the statement above, got ${state:-a lost connection}"
	checks=$((checks + 1))
}

refused() { run "$1" "$2"; }

# check ROLE WHAT SQL: SQL is a boolean, asked as ROLE behind the scenes.  Gives the
# ledger a moment, because unused reservations come back after the statement.
check() {
	local try answer
	for try in 1 2 3 4 5 6 7 8 9; do
		answer=$(client -U "$1" -At -c "SELECT $3" 2>&1) || true
		if [ "$answer" = t ]; then
			checks=$((checks + 1))
			return
		fi
		sleep "0.$try"
	done
	misbehaved "not true: $2 (${answer:-NULL})"
}

budget_is() {	# budget_is ROLE EPSILON-LEFT
	check dr_owner "$1 has $2 left" "round(epsilon_left::numeric, 6) = $2
		FROM privpred.budgets WHERE role = '$1'::regrole AND relation = 'patients'::regclass"
}

fmt -w 88 <<'TEXT'
privpred demo: a hospital lets an analyst ask for predictions without letting anybody look at a patient.
TEXT
printf '\nBuilding, and starting a throw-away server ...\n'
build
stage
start_server demo
psql -X -q -d postgres <<'SQL'
CREATE ROLE dr_owner LOGIN;
CREATE ROLE analyst LOGIN;
CREATE ROLE intern LOGIN;
CREATE DATABASE demo OWNER dr_owner;
SQL

# ----------------------------------------------------------------------
heading "A hospital has a table"
say <<'TEXT'
A superuser runs CREATE EXTENSION once. dr_owner is an ordinary role that owns the table "patients": 50,000
patients, one row for each of their stays. The analyst and the intern may not read it.
TEXT
run postgres <<'SQL'
CREATE EXTENSION privpred;
CREATE SCHEMA AUTHORIZATION analyst;
SQL
client -U dr_owner -o /dev/null -f test/demo/patients.sql || misbehaved "test/demo/patients.sql"
client -U analyst -f test/demo/new_patients.sql || misbehaved "test/demo/new_patients.sql"
run dr_owner <<'SQL'
SELECT count(DISTINCT patient_id) AS patients, count(*) AS stays,
       round(100.0 * avg((readmitted = 'yes')::int), 1) AS percent_readmitted
  FROM patients;
SELECT * FROM patients LIMIT 4;
SQL
check dr_owner "50,000 patients" "count(DISTINCT patient_id) = 50000 FROM patients"

# ----------------------------------------------------------------------
heading "The owner says what is to be protected, and trains a model"
say <<'TEXT'
The unit is the patient, not the row: privacy holds for all stays of a patient together. Training splits the patients
among 200 teachers, and each learns from its own 250 patients. A patient can therefore change the vote of one teacher out of 200.
TEXT
run dr_owner <<'SQL'
SELECT privpred.protect('patients', unit => 'patient_id');
SELECT privpred.create_model('readmission', 'patients',
         label     => 'readmitted', classes => '{no,yes}',
         features  => '{"age":  {"min": 0, "max": 110}, "bmi": {"min": 10, "max": 60},
                        "ward": {"levels": ["A", "B", "C"]}, "smoker": {"type": "boolean"},
                        "prior_admissions": {"min": 0, "max": 10}}',
         mechanism => 'vote', learner => 'logistic', teachers => 200, epsilon => 0.1);
SQL
check dr_owner "the model is ready" "status = 'ready' AND teachers = 200 AND charge_kind = 'per_answer'
	FROM privpred.models WHERE name = 'readmission'"
say <<'TEXT'
How good is it? The owner may ask, on patients whose outcome is known (this looks behind the noise, so the owner alone may):
TEXT
run dr_owner <<'SQL'
SELECT rows, private_accuracy, majority_accuracy, baseline_accuracy FROM privpred.evaluate('readmission', 'known_outcomes');
SQL
check dr_owner "private answers beat always giving the most common one" \
	"private_accuracy > baseline_accuracy + 0.05 FROM privpred.evaluate('readmission', 'known_outcomes')"

# ----------------------------------------------------------------------
heading "The owner grants budgets"
say <<'TEXT'
Each answer costs epsilon 0.1. The analyst gets 5, enough for 50 answers; the intern gets 0.2.
TEXT
run dr_owner <<'SQL'
SELECT privpred.grant_budget('analyst', 'patients', epsilon => 5);
SELECT privpred.grant_budget('intern',  'patients', epsilon => 0.2);
SQL
budget_is analyst 5
budget_is intern 0.2

# ----------------------------------------------------------------------
heading "The analyst asks in plain SQL"
say <<'TEXT'
new_patients is the analyst's own table of twenty people. The row form matches columns by name; other columns are ignored.
TEXT
run analyst <<'SQL'
SELECT p.*, private_predict('readmission', p) AS readmitted
  FROM new_patients p;
SQL
budget_is analyst 3
say <<'TEXT'
Twenty answers, epsilon 2. The budget has fallen from 5 to 3:
TEXT
run analyst <<'SQL'
SELECT role, relation, epsilon_limit, epsilon_spent, epsilon_left, answers_left
  FROM privpred.budgets;
SQL
say <<'TEXT'
A patient can also be given as jsonb, or as an array of numbers: each in its own unit, levels one-hot, booleans 0 or 1.
TEXT
run analyst <<'SQL'
SELECT private_predict('readmission',
         '{"age": 63, "bmi": 31.2, "ward": "B", "smoker": true, "prior_admissions": 2}'::jsonb);
SELECT private_predict('readmission', ARRAY[44, 23.9, 1,0,0, 0, 0]);
SQL
budget_is analyst 2.8
say <<'TEXT'
What would it cost to ask 28 times more, and 29 times? Asking this is free.
TEXT
run analyst <<'SQL'
SELECT * FROM privpred.cost('readmission', 28);
SELECT * FROM privpred.cost('readmission', 29);
SQL
check analyst "28 more fit and 29 do not" "a.fits AND NOT b.fits
	FROM privpred.cost('readmission', 28) a, privpred.cost('readmission', 29) b"
budget_is analyst 2.8

# ----------------------------------------------------------------------
heading "No way back"
say <<'TEXT'
The debit is committed on its own before the answer is drawn. Rolling back does not unlearn the answer, so it does not refund it:
TEXT
run analyst <<'SQL'
BEGIN;
SELECT private_predict('readmission', ARRAY[71, 28.0, 0,0,1, 0, 3]);
ROLLBACK;
SELECT epsilon_spent, epsilon_left FROM privpred.budgets;
SQL
budget_is analyst 2.7
say <<'TEXT'
A mistake costs nothing, and the message says what is wrong:
TEXT
refused analyst 22023 <<'SQL'
SELECT private_predict('readmission',
         '{"age": 63, "bmi": 31.2, "ward": "X", "smoker": true, "prior_admissions": 2}'::jsonb);
SQL
budget_is analyst 2.7

# ----------------------------------------------------------------------
heading "The budget runs out"
say <<'TEXT'
27 answers are left. The analyst takes them all, and then asks for one more.
TEXT
run analyst <<'SQL'
SELECT answer, count(*)
  FROM (SELECT private_predict('readmission', ARRAY[age, 26.5, 0,1,0, 0, 1]) AS answer
          FROM generate_series(40, 66) age) a
 GROUP BY answer ORDER BY answer;
SQL
budget_is analyst 0
refused analyst 53400 <<'SQL'
SELECT private_predict('readmission', ARRAY[90, 26.5, 0,1,0, 0, 1]);
SQL
budget_is analyst 0

# ----------------------------------------------------------------------
heading "The analyst looks for another way in"
say <<'TEXT'
The table, the trained model and the books are closed:
TEXT
refused analyst 42501 <<'SQL'
SELECT * FROM patients LIMIT 1;
SQL
refused analyst 42501 <<'SQL'
SELECT predictor FROM privpred.model;
SQL
for table in $(client -U postgres -At -c "SELECT c.oid::regclass FROM pg_class c
	WHERE relnamespace = 'privpred'::regnamespace AND relkind IN ('r', 'p')
	AND relname NOT IN ('model', 'protected_relation') ORDER BY 1"); do
	refused analyst 42501 <<-SQL
		SELECT * FROM $table;
	SQL
	ledger_table=$table
done
[ -n "${ledger_table:-}" ] || misbehaved "found no table of the ledger to try"
check postgres "no table of the extension is open to the analyst" "bool_and(NOT has_table_privilege('analyst', oid, p))
	FROM pg_class, unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) p
	WHERE relnamespace = 'privpred'::regnamespace AND relkind IN ('r', 'p')"
say <<'TEXT'
Granting oneself a budget is for the owner alone:
TEXT
refused analyst 42501 <<'SQL'
SELECT privpred.grant_budget('analyst', 'patients', epsilon => 1000);
SQL

# ----------------------------------------------------------------------
heading "Everybody sees their own account, and the owner sees all"
say <<'TEXT'
The intern asks once. In privpred.ledger the analyst finds only what the analyst spent; the owner finds everything.
TEXT
run intern <<'SQL'
SELECT private_predict('readmission', ARRAY[30, 21.0, 1,0,0, 0, 0]);
SQL
budget_is intern 0.1
run analyst <<'SQL'
SELECT role, kind, sum(answers) AS answers, sum(epsilon) AS epsilon
  FROM privpred.ledger GROUP BY role, kind ORDER BY role, kind;
SQL
run dr_owner <<'SQL'
SELECT role, kind, sum(answers) AS answers, sum(epsilon) AS epsilon
  FROM privpred.ledger GROUP BY role, kind ORDER BY role, kind;
SQL
for role in analyst intern; do
	check $role "$role sees rows of $role in privpred.ledger, and no others" \
		"count(*) > 0 AND bool_and(role::text = current_user) FROM privpred.ledger"
done
check dr_owner "the owner sees the rows of both" \
	"count(DISTINCT role::text) = 2 FROM privpred.ledger WHERE role::text IN ('analyst', 'intern')"

# ----------------------------------------------------------------------
heading "People are in many tables"
say <<'TEXT'
Records are rarely one table. Here they are as OMOP has them: persons, their visits, their measurements, and concepts, which are public.
The three tables are about the same people, so they share one budget: what is spent on one is spent on all.
TEXT
client -U dr_owner -o /dev/null -f test/demo/omop.sql || misbehaved "test/demo/omop.sql"
run dr_owner <<'SQL'
SELECT privpred.protect('person', unit => 'person_id');
SELECT privpred.protect('visit_occurrence', unit => 'person_id', same_units_as => 'person');
SELECT privpred.protect('measurement', unit => 'person_id', same_units_as => 'person');
SQL
say <<'TEXT'
A view makes features of them. This one compares people with the average of all, so each row depends on everybody. It is refused:
TEXT
refused dr_owner 0A000 <<'SQL'
CREATE VIEW history AS
  SELECT p.person_id, 2026 - p.year_of_birth AS age,
         (SELECT avg(m.value_as_number) FROM measurement m JOIN concept c ON c.concept_id = m.measurement_concept_id
           WHERE c.concept_code = '4548-4') AS hba1c, p.readmitted
    FROM person p;
SELECT privpred.protect('history', unit => 'person_id', public_tables => '{concept}');
SQL
say <<'TEXT'
The message says what is missing. With it, privpred can prove that a row of the view depends on one person alone:
TEXT
run dr_owner <<'SQL'
CREATE OR REPLACE VIEW history AS
  SELECT p.person_id, 2026 - p.year_of_birth AS age,
         (SELECT avg(m.value_as_number) FROM measurement m JOIN concept c ON c.concept_id = m.measurement_concept_id
           WHERE m.person_id = p.person_id AND c.concept_code = '4548-4') AS hba1c, p.readmitted,
         count(v.visit_occurrence_id) FILTER (WHERE v.visit_concept_id = 9203) AS emergencies
    FROM person p LEFT JOIN visit_occurrence v ON v.person_id = p.person_id
   GROUP BY p.person_id;
SELECT privpred.protect('history', unit => 'person_id', public_tables => '{concept}');
SELECT privpred.create_model('readmission_risk', 'history', label => 'readmitted', features => '{"age": {"min": 0, "max": 100, "null": "error"},
           "hba1c": {"min": 4, "max": 14, "null": "error"}, "emergencies": {"min": 0, "max": 6, "null": "error"}}',
         teachers => 200, epsilon => 0.2, holdout => 0.1) ->> 'version' AS version;
SELECT privpred.create_model('visit_kind', 'visit_occurrence', label => 'visit_concept_id', classes => '{9201,9202,9203}',
         features => '{"visit_start_date": {"min": "2024-01-01", "max": "2025-12-31"}}', teachers => 200, epsilon => 0.3) ->> 'version' AS version;
SELECT rows, private_accuracy, majority_accuracy, baseline_accuracy FROM privpred.evaluate('readmission_risk');
SQL
check dr_owner "a model on the view beats always giving the most common answer" \
	"private_accuracy > baseline_accuracy + 0.05 FROM privpred.evaluate('readmission_risk')"
say <<'TEXT'
The owner grants one budget, on any of the tables. A question to the model of the view and one to the model of a table are paid from it:
TEXT
run dr_owner <<'SQL'
SELECT privpred.grant_budget('analyst', 'person', epsilon => 1);
SQL
run analyst <<'SQL'
SELECT private_predict('readmission_risk', '{"age": 71, "hba1c": 7.9, "emergencies": 2}'::jsonb);
SELECT private_predict('visit_kind', '{"visit_start_date": "2025-06-01"}'::jsonb);
SELECT relation, epsilon_limit, epsilon_spent, epsilon_left FROM privpred.budgets WHERE relation = 'person'::regclass;
SQL
check dr_owner "0.2 for the view and 0.3 for the table were paid from one budget" "count(*) = 1 AND round(max(epsilon_left)::numeric, 6) = 0.5
	FROM privpred.budgets WHERE role = 'analyst'::regrole AND relation <> 'patients'::regclass"
refused analyst 42501 <<'SQL'
SELECT * FROM history LIMIT 1;
SQL

# ----------------------------------------------------------------------
heading "A patient asks to be forgotten"
say <<'TEXT'
The owner takes patient 7 out: the rows, and the one teacher that saw them. All other teachers stay byte for byte. The certificate names nobody, and its digest is in the hash chain.
TEXT
run dr_owner <<'SQL'
SELECT jsonb_pretty(privpred.forget('patients', 7, delete_rows => true));
SELECT jsonb_pretty(privpred.certificate(1) - 'models');
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(1), '7');
SQL
check dr_owner "the certificate verifies, and is about patient 7" "ok FROM privpred.verify_certificate(privpred.certificate(1), '7')"
check dr_owner "and about nobody else" "NOT ok FROM privpred.verify_certificate(privpred.certificate(1), '8')"
refused analyst 42704 <<'SQL'
SELECT privpred.certificate(1);
SQL

printf '\n%sAll %d steps behaved as they should.%s\n' "$bold" "$checks" "$plain"

if [ "${KEEP:-0}" = 1 ]; then
	leave_running=yes
	cat <<-TEXT

		The server is still up. Look around, as dr_owner, analyst, intern or postgres:
		    $bin/psql -h $sandbox -U dr_owner demo
		Stop it and remove everything:
		    $PRIVPRED_AS_ROOT$bin/pg_ctl -D $sandbox/demo stop && rm -rf $sandbox
	TEXT
else
	printf 'Stopping the server and removing its files. To explore it yourself: make demo KEEP=1\n'
	stop_server demo
fi
