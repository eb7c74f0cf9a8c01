#!/bin/bash
# make bench: speed, memory and accuracy, each beside what it is compared with,
# measured in one run on this machine.  Prints every target and whether it was
# met; missing one is no failure.
#
#	SAVE=1			writes docs/benchmarks.md and its pictures
#	DATA=DIR		accuracy also on adult_{train,test}.csv.gz and
#					mnist7x7_{train,test}.csv.gz in DIR (header row, id first, label last)
#	PARTS="..."		some of: training prediction threshold ledger memory accuracy streams gradient trees rates distill
#	DIFFPRIVLIB=DIR	its source, to compare mechanism gradient with (needs DATA)
#	SIZES="..."		rows to train on (100000 1000000)
#	BIG=1			memory with 10,000,000 rows instead of 2,000,000
#	REPEAT=N		repetitions, interleaved, of which the median counts (3)
#	SECONDS_EACH=N	seconds of each pgbench run (2)
# shellcheck disable=SC2034 # the parts are sourced and use what is set here
. "$(dirname "$0")/../lib/common.sh"

# Debian's own interpreter: its packages are not seen by any other.
python=/usr/bin/python3
sklearn_route=("python3-sklearn=$python -c 'import sklearn'" "python3-psycopg2=$python -c 'import psycopg2'")

have_sklearn() { "$python" -c 'import sklearn, psycopg2' >/dev/null 2>&1; }

# Outside the sandbox: the packages that are not essential, and a place for
# the results, because enter_sandbox never comes back.
if [ -z "${BENCH_RESULTS:-}" ]; then
	"$privpred_top/test/packages.sh"
	have_sklearn || "$privpred_top/test/packages.sh" "${sklearn_route[@]}" ||
		note "going on without the comparison with scikit-learn"
	BENCH_RESULTS=$(mktemp -d /tmp/privpred-bench.XXXXXX)
	export BENCH_RESULTS
	trap 'rm -rf "$BENCH_RESULTS"' EXIT
	[ "$(id -u)" -ne 0 ] || chown "$(test_user)" "$BENCH_RESULTS"
	bash "$0" "$@" &
	child=$!
	trap 'kill -TERM "$child" 2>/dev/null' HUP INT TERM
	status=0
	wait "$child" || status=$?
	while kill -0 "$child" 2>/dev/null; do
		wait "$child" || status=$?
	done
	if [ "$status" -eq 0 ] && [ "${SAVE:-0}" = 1 ]; then
		mkdir -p "$privpred_top/docs"
		for file in benchmarks.md benchmarks-training.svg benchmarks-accuracy.svg streams.svg rates.svg; do
			[ ! -f "$BENCH_RESULTS/$file" ] || cat "$BENCH_RESULTS/$file" >"$privpred_top/docs/$file"
		done
		note "written: docs/benchmarks.md"
	fi
	exit "$status"
fi

enter_sandbox test/bench/run.sh "$@"

parts=${PARTS:-training prediction threshold ledger memory accuracy streams gradient trees rates distill}
sizes=${SIZES:-100000 1000000}
repeat=${REPEAT:-3}
seconds=${SECONDS_EACH:-2}
data=${DATA:-}
samples=$BENCH_RESULTS/samples
: >"$samples"

[ -z "$data" ] || [ -r "$data/adult_train.csv.gz" ] ||
	die "$(id -un) cannot read $data/adult_train.csv.gz"

# ---------- measuring ----------

# sample NAME VALUE: one measurement, or a fact that the report shows
sample() { printf '%s\t%s\n' "$1" "$2" >>"$samples"; }

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

each_column() { seq -s, -f "$1" 20; }	# each_column FORMAT: f1 to f20
features="[$(each_column '"f%g"')]"
array="ARRAY[$(each_column 'f%g')]"

# train NAME TABLE LEARNER TEACHERS [MORE]: the statement
train() {
	printf "SELECT privpred.create_model('%s', '%s', label => 'y', features => '%s', learner => '%s', teachers => %s%s);" \
		"$1" "$2" "$features" "$3" "$4" "${5:-}"
}

chapter() { note "$(printf '[%3d s] %s' "$SECONDS" "$*")"; }

# ---------- the run ----------

chapter "building, starting a server"
build
stage
# What differs from the defaults is what a larger table would make anybody set.
# fsync, synchronous_commit, maintenance_work_mem (64 MB) and JIT are as shipped.
# Every answer is to be drawn, so none comes from memory.
start_server bench "shared_buffers = 512MB
	max_wal_size = 8GB
	checkpoint_timeout = 30min
	privpred.repeat_memory = 0"
createdb bench
sql -f test/bench/rows.sql

sample fact:version "$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)"
sample fact:server "$(sql -c 'SHOW server_version')"
sample fact:cores "$cores"
sample fact:processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
sample fact:load "$(cut -d' ' -f1 /proc/loadavg)"
sample fact:repeat "$repeat"
sample fact:parts "$parts"

for part in $parts; do
	[ -f "test/bench/$part.sh" ] || die "no such part: $part"
	# shellcheck disable=SC1090
	. "test/bench/$part.sh"
done

sample fact:seconds "$SECONDS"
stop_server bench
perl test/bench/report.pl "$samples" "$BENCH_RESULTS"
