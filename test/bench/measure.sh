# shellcheck shell=bash disable=SC2154,SC2034
# What parts measure with.  In their environment: sandbox, samples, data (a
# directory or nothing), sizes, repeat, seconds.

# sample NAME VALUE: one measurement, or a fact that the report shows
sample() { printf '%s\t%s\n' "$1" "$2" >>"$samples"; }

chapter() { note "$(printf '[%3d s] %s' "$SECONDS" "$*")"; }

sql() { psql -X -q -At -v ON_ERROR_STOP=1 -d bench "$@"; }

# milliseconds SETUP STATEMENT: of STATEMENT, in a session of its own after SETUP
milliseconds() {
	sql -o /dev/null <<-SQL | awk '/^Time:/ { time = $2 } END { print time }'
		SET client_min_messages = warning;
		$1
		\\timing on
		$2
	SQL
}

# ---------- synthetic rows ----------

each_column() { seq -s, -f "$1" 20; }	# each_column FORMAT: f1 to f20
features="[$(each_column '"f%g"')]"
array="ARRAY[$(each_column 'f%g')]"

table_exists() { [ "$(sql -c "SELECT to_regclass('$1') IS NOT NULL")" = t ]; }

# need_rows N: a protected table rows_N, for all parts; whole millions are the first one several times
need_rows() {
	local make="make_rows('rows_$1', $1)" million=1000000
	! table_exists "rows_$1" || return 0
	if [ "$1" -gt $million ] && [ $(($1 % million)) -eq 0 ]; then
		need_rows $million
		make="multiply_rows('rows_$1', 'rows_$million', $million, $(($1 / million)))"
	fi
	sql -c "SELECT $make" -c "VACUUM rows_$1" -c CHECKPOINT >/dev/null
}

# train NAME TABLE LEARNER TEACHERS [MORE]: the statement
train() {
	printf "SELECT privpred.create_model('%s', '%s', label => 'y', features => '%s', learner => '%s', teachers => %s%s);" \
		"$1" "$2" "$features" "$3" "$4" "${5:-}"
}

forget() { sql -c "SELECT privpred.drop_model('$1')" >/dev/null; }

# ---------- data sets ----------

have_data() { [ -n "$data" ] && [ -r "$data/$1_train.csv.gz" ] && [ -r "$data/$1_test.csv.gz" ]; }

# need_data STEM: tables STEM_train, protected, and STEM_test; all numbers, id first
need_data() {
	local header split
	table_exists "$1_test" && return
	for split in train test; do
		header=$(zcat "$data/$1_$split.csv.gz" 2>/dev/null | head -n 1 || true)
		header=${header#id,}
		sql -c "CREATE TABLE $1_$split (id int PRIMARY KEY, ${header//,/ float8, } int)" \
			-c "\\copy $1_$split FROM PROGRAM 'zcat $data/$1_$split.csv.gz' CSV HEADER" -c "VACUUM ANALYZE $1_$split"
	done
	sql -c "SELECT privpred.protect('$1_train', declared_units => count(*)) FROM $1_train" >/dev/null
}

# For create_model: LABEL FEATURES MORE
of_adult=(y "[$(seq -s, -f '"f%g"' 50)]" ", classes => '{0,1}'")
of_mnist7x7=(digit "{$(seq -s, -f '"p%g": {"min": 0, "max": 255}' 49)}" ", classes => '{0,1,2,3,4,5,6,7,8,9}'")

# ---------- what training is compared with ----------

serial="SET max_parallel_workers_per_gather = 0;"
parallel="SET max_parallel_workers_per_gather = 2;"
avg="SELECT $(each_column 'avg(f%g)') FROM"

# sklearn_route SIZE copy|fetchall: samples the time until the rows are in numpy, and in all
sklearn_route() {
	local out total
	"$python" test/bench/sklearn_route.py "rows_$1" "$2" >"$sandbox/tmp/sklearn"
	read -r out total <"$sandbox/tmp/sklearn"
	sample "$2 to numpy/$1" "$out"
	sample "$2, scikit-learn/$1" "$total"
}
