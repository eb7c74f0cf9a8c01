# shellcheck shell=bash disable=SC2154
# What durability costs: against a one-row UPDATE that commits, on the same
# server with the same fsync.

chapter "ledger"
sql >/dev/null <<-SQL
	SELECT make_rows('ledger_rows', 20000);
	SELECT privpred.grant_budget('analyst', 'ledger_rows', epsilon => 1000000);
	SET client_min_messages = warning;
	$(train debit ledger_rows logistic 100 ", epsilon => 0.01")
	CREATE TABLE counter (id int PRIMARY KEY, n bigint);
	INSERT INTO counter VALUES (1, 0);
	GRANT SELECT, UPDATE ON counter TO analyst;
	VACUUM ANALYZE counter;
SQL
# A new question each time: none may be answered from memory.
cat >"$sandbox/tmp/debit.sql" <<-SQL
	\\set x random(0, 1000000000)
	SELECT private_predict('debit', ARRAY[:x / 1e9, $(seq -s, -f '0.%02g' 11 29)]);
SQL
cat >"$sandbox/tmp/update.sql" <<-SQL
	UPDATE counter SET n = n + 1 WHERE id = 1;
SQL

# transactions_per_second CLIENTS SCRIPT
transactions_per_second() {
	pgbench -n -M prepared -c "$1" -j "$(($1 < cores ? $1 : cores))" -T "$seconds" \
		-f "$sandbox/tmp/$2.sql" -U analyst bench 2>"$sandbox/log/pgbench.log" |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}

sql -c CHECKPOINT
transactions_per_second 1 debit >/dev/null
# Many short runs: other load on the machine then falls on both alike.
for ((i = 0; i < 3 * repeat; i++)); do
	for clients in 1 8 32; do
		[ "$clients" != 8 ] || [ "$i" -lt "$repeat" ] || continue
		for script in update debit; do
			sample "tps/$script/$clients" "$(transactions_per_second $clients $script)"
		done
	done
done

chapter "ledger: first debit after idle"
question="SELECT private_predict('debit', ARRAY[0.5, $(seq -s, -f '0.%02g' 11 29)]);"
idle=$(sql -c "LOAD 'privpred'" -c "SELECT setting::float8 / 1000 + 1 FROM pg_settings WHERE name = 'privpred.ledger_idle_timeout'")
for ((i = 0; i < repeat; i++)); do
	sample idle/first "$(milliseconds "SET ROLE analyst; $question SELECT pg_sleep($idle);" "$question")"
	sample idle/next "$(milliseconds "SET ROLE analyst; $question" "$question")"
done

# Time in the ledger of one long statement.  Asleep: wall time less the time on a
# processor and in the queue for one (/proc/PID/schedstat); the table is in
# memory, so there is nothing else to sleep for.  Awake: samples of perf in
# the ledger's functions, and in those of the server that it alone calls there.
chapter "ledger: share of a million answers"
need_rows 1000000
sql -c "CREATE TABLE million AS SELECT * FROM rows_1000000" -c "VACUUM ANALYZE million" \
	-c "GRANT SELECT ON million TO analyst" -c CHECKPOINT >/dev/null
schedstat="SELECT pg_read_file('/proc/' || pg_backend_pid() || '/schedstat');"

# ledger_share: "wall asleep in_ledger", fractions of wall; in_ledger may be missing
ledger_share() {
	local perf=$sandbox/tmp/perf.data
	rm -f "$perf" "$sandbox/tmp/pid"
	sql >"$sandbox/tmp/share" <<-SQL
		SET max_parallel_workers_per_gather = 0;
		SET privpred.max_answers_per_statement = -1;
		SELECT count($array) FROM million;
		\\o $sandbox/tmp/pid
		SELECT pg_backend_pid();
		\\o
		\\! command -v perf >/dev/null && { perf record -q -e cpu-clock:u -F 997 -p \$(cat $sandbox/tmp/pid) -o $perf >/dev/null 2>&1 & } ; sleep 0.5
		SET ROLE analyst;
		SELECT count(private_predict('debit', $array)) FROM (SELECT * FROM million LIMIT 100) s;
		RESET ROLE;
		\\echo before
		$schedstat
		SET ROLE analyst;
		\\timing on
		SELECT count(private_predict('debit', $array)) FROM million;
		\\timing off
		RESET ROLE;
		\\echo after
		$schedstat
	SQL
	awk -v samples="$(perf_share "$perf")" '
		/^before/ { getline; cpu = -$1; queue = -$2 }
		/^Time:/ { wall = $2 }
		/^after/ { getline; cpu += $1; queue += $2 }
		END {
			asleep = 1 - (cpu + queue) / 1e6 / wall
			print wall, asleep < 0 ? 0 : asleep, samples == "" ? "" : samples * cpu / 1e6 / wall
		}' "$sandbox/tmp/share"
}

# Fraction of the samples that fell into the ledger; nothing without perf.
perf_share() {
	[ -s "$1" ] || return 0
	sleep 0.2		# perf ends with the process it watches
	perf report -i "$1" --sort symbol --stdio -g none 2>/dev/null | awk '
		/^#/ || NF == 0 { next }
		{ sub("%", "", $1); all += $1 }
		$3 ~ /^(ledger_|request_block|statement_allowance|drop_block|GetCurrentTimestamp|GetCurrentStatementStartTimestamp|GetOuterUserId|.*clock_gettime|.*gettimeofday)/ { ours += $1 }
		END { if (all > 50) print ours / all }'
}

if [ -r /proc/self/schedstat ]; then
	for ((i = 0; i < repeat; i++)); do
		read -r wall asleep awake < <(ledger_share)
		sample share/wall "$wall"
		sample share/asleep "$asleep"
		[ -z "$awake" ] || sample share/awake "$awake"
	done
else
	sample fact:no_schedstat 1
fi
