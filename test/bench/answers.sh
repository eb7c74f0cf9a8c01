# shellcheck shell=bash disable=SC2154
# A million answers of 100 teachers x 20 features: against prototype.c, which has
# the same teachers, questions and draw but no server; by several sessions; and
# the first answer of a new session.

answers_rows=1000000
session_rows=200000
chapter "answers: the prototype, the models"
# One as anybody compiles it, one for this very machine; no sum is reordered in either.
compile_prototype() { cc -Wall -ffp-contract=off "${@:2}" -o "$sandbox/tmp/prototype_$1" test/bench/prototype.c -lm; }
compile_prototype plain -O2
compile_prototype lanes -O3 -march=native

need_rows $answers_rows
sql >/dev/null <<-SQL
	SELECT make_rows('taught', 50000);
	SELECT make_rows('taught_10', 50000, 'floor(5 * (f1 + f2))::int');
	SELECT privpred.grant_budget('analyst', t, epsilon => 1000000) FROM unnest('{taught,taught_10}'::regclass[]) t;
	GRANT SELECT ON rows_$answers_rows TO analyst;
	SET client_min_messages = warning;
	$(train answers taught logistic 100 ", epsilon => 0.05")
	$(train megabyte taught_10 linear 600 ", epsilon => 0.05, classes => '{0,1,2,3,4,5,6,7,8,9}'")
	COPY (SELECT predictor FROM privpred.model WHERE name = 'answers') TO '$sandbox/tmp/predictor' (FORMAT binary);
	COPY (SELECT $(each_column 'f%g') FROM rows_$answers_rows ORDER BY id) TO '$sandbox/tmp/questions' (FORMAT binary);
	CHECKPOINT;
SQL
sample fact:megabyte "$(sql -c "SELECT octet_length(privpred.predictor_send(predictor)) FROM privpred.model WHERE name = 'megabyte'")"

# prototype KIND: milliseconds; fails unless most teachers say what they say in the server
majorities=$(sql -c "SELECT count(*) FROM rows_$answers_rows, privpred.model WHERE name = 'answers' AND privpred.predict(predictor, $array) = 'true'")
prototype() {
	local time count majority answers
	read -r time count majority answers < <("$sandbox/tmp/prototype_$1" "$sandbox/tmp/predictor" "$sandbox/tmp/questions" 20 0.05 "$1")
	[ "$count $majority" = "$answers_rows $majorities" ] || die "the prototype's teachers are others: $count $majority $answers"
	echo "$time"
}

alone="SET ROLE analyst; SET privpred.max_answers_per_statement = -1; $serial"
without="SELECT count($array) FROM rows_$answers_rows;"
with="SELECT count(private_predict('answers', $array)) FROM rows_$answers_rows"

chapter "answers: measuring"
for ((i = 0; i < repeat; i++)); do
	warm="$alone $without $with WHERE id <= 100;"
	base=$(milliseconds "$warm" "$without")
	plain=$(prototype plain)
	asked=$(milliseconds "$warm" "$with;")
	lanes=$(prototype lanes)
	sample answers/without "$base"
	sample answers/with "$asked"
	sample answers/net "$(awk "BEGIN { print $asked - $base }")"
	sample prototype/plain "$plain"
	sample prototype/lanes "$lanes"
done

# answers_per_second SESSIONS: of all together, each asking the same number
answers_per_second() {
	pgbench -n -c "$1" -j "$1" -t 2 -f "$sandbox/tmp/session.sql" -U analyst bench 2>"$sandbox/log/pgbench.log" |
		awk -v n=$session_rows '/^tps = / { print $3 * n }'
}

chapter "answers: several sessions"
cat >"$sandbox/tmp/session.sql" <<-SQL
	SET privpred.max_answers_per_statement = -1;
	$serial
	$with WHERE id <= $session_rows;
SQL
for ((i = 0; i < repeat; i++)); do
	for sessions in 1 "$cores" 8; do
		sample "sessions/$sessions" "$(answers_per_second "$sessions")"
	done
done

chapter "answers: the first of a session"
cold_question() { echo "SELECT private_predict('$1', ARRAY[0.$RANDOM, $(seq -s, -f '0.%02g' 11 29)]);"; }
for ((i = 0; i < 5 * repeat; i++)); do
	for model in answers megabyte; do
		# the ledger's process is up
		sql -o /dev/null -c "SET ROLE analyst" -c "$(cold_question answers)"
		sample "cold/$model" "$(milliseconds "SET ROLE analyst;" "$(cold_question $model)")"
		sample "warm/$model" "$(milliseconds "SET ROLE analyst; $(cold_question $model)" "$(cold_question $model)")"
	done
done
