# shellcheck shell=bash disable=SC2154
# The docs' central picture: how accurate each mechanism is by the number of
# answers that one budget of (1, 1e-6) has to pay for, on Adult, with the
# parameters that privpred.plan() suggests.  Needs DATA.

choice_budget="epsilon => 1, delta => 1e-6"
choice_counts="1 10 100 1000 10000 100000"

# suggested COUNT MECHANISM [ARGUMENTS]: parameters, whether the account is pure, unstable answers, labels
suggested() {
	sql -F $'\t' -c "SELECT parameters, total_delta = 0, COALESCE(substring(statements FROM 'unstable => (\d+)'), '0'),
			COALESCE(substring(statements FROM 'labels => (\d+)'), '0')
		FROM privpred.plan(n => $choice_units, features => 50, $choice_budget, answers => $1, ${3:-accuracy => $choice_plain})
		WHERE mechanism = '$2' AND parameters IS NOT NULL"
}

# choice_train PARAMETERS: a model called choice
choice_train() {
	sql >/dev/null <<-SQL
		SET client_min_messages = warning;
		SET maintenance_work_mem = '1GB';
		SELECT privpred.create_model('choice', 'adult_train', label => '${of_adult[0]}', features => '${of_adult[1]}' ${of_adult[2]}, $1);
	SQL
}

# by_answer LINE MECHANISM ARGUMENTS: trained for each number of answers
by_answer() {
	local count parameters pure unstable labels
	for count in $choice_counts; do
		IFS=$'\t' read -r parameters pure unstable labels < <(suggested "$count" "$2" "$3") || continue
		choice_train "$parameters"
		if [ "$unstable" -gt 0 ]; then
			# A stream ends with its last unstable answer; none and those after count as wrong.
			sample "choice/$1/$count" "$(sql -c "SELECT sum(rows) FILTER (WHERE class = answer) / sum(rows)
				* least(1, $unstable.0 / $count / greatest(sum(rows) FILTER (WHERE answer IS NULL) / sum(rows), 1e-12))
				FROM privpred.confusion_matrix('choice', 'choice_test')")"
		else
			sample "choice/$1/$count" "$(sql -c "SELECT CASE WHEN '$pure' THEN private_accuracy ELSE approximate_accuracy END
				FROM privpred.evaluate('choice', 'choice_test')")"
		fi
		forget choice
	done
}

# once LINE MECHANISM: released, so trained three times
once() {
	local parameters pure unstable labels
	IFS=$'\t' read -r parameters pure unstable labels < <(suggested 1 "$2") || return 0
	for ((i = 0; i < 3; i++)); do
		choice_train "$parameters"
		if [ "$labels" -gt 0 ]; then
			sql -c "SET privpred.max_answers_per_statement = -1" -c "SET client_min_messages = warning" \
				-c "SELECT privpred.distill('choice_student', 'choice', 'choice_public', labels => least($labels, (SELECT count(*) FROM choice_public)))" >/dev/null
			sample "choice/$1/once" "$(sql -c "SELECT private_accuracy FROM privpred.evaluate('choice_student', 'choice_test')")"
			forget choice_student
		else
			sample "choice/$1/once" "$(sql -c "SELECT private_accuracy FROM privpred.evaluate('choice', 'choice_test')")"
		fi
		forget choice
	done
}

if ! have_data adult; then
	chapter "choice: left out, it needs DATA"
	sample fact:left_out "the choice of a mechanism, without DATA"
else
	chapter "choice: adult"
	need_data adult
	sql >/dev/null <<-SQL
		CREATE TABLE choice_public AS SELECT * FROM adult_test ORDER BY md5(id::text) LIMIT 3200;
		CREATE TABLE choice_test AS SELECT * FROM adult_test t WHERE NOT EXISTS (SELECT FROM choice_public p WHERE p.id = t.id);
	SQL
	choice_units=$(sql -c "SELECT count(*) FROM adult_train")
	choice_train "learner => 'logistic', teachers => 1"
	IFS='|' read -r choice_plain choice_baseline < <(sql -c "SELECT round(majority_accuracy::numeric, 3), baseline_accuracy FROM privpred.evaluate('choice', 'choice_test')")
	forget choice
	sample choice/plain "$choice_plain"
	sample choice/baseline "$choice_baseline"
	by_answer "vote, logistic" vote "accuracy => $choice_plain, learner => 'logistic'"
	if sql -c "SELECT privpred.boost(y, ARRAY[y]) FROM generate_series(1, 2) y" >/dev/null 2>&1; then
		# Its own accuracy, as the plan takes it to be.
		by_answer "vote, boost" vote "accuracy => 1 - 0.85 * (1 - $choice_plain), learner => 'boost'"
	fi
	for mechanism in average stable_erm sparse; do
		by_answer $mechanism $mechanism "accuracy => $choice_plain, learner => 'logistic'"
	done
	for mechanism in gradient distill cover; do
		once $mechanism $mechanism
	done
fi
