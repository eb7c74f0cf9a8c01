#!/bin/bash
# make bench: speed, memory and accuracy, each beside what it is compared with,
# measured in one run on this machine.  Prints every target and whether it was
# met; missing one is no failure, a part that fails is.
#
#	SAVE=1			writes docs/benchmarks.md, its pictures, and test/bench/results.md
#	DATA=DIR		accuracy also on adult_{train,test}.csv.gz, adult_raw, bank_raw and
#					mnist7x7_{train,test}.csv.gz in DIR (header row, id first, label last)
#	PARTS="..."		some of those below
#	DIFFPRIVLIB=DIR	its source, to compare mechanism gradient with (needs DATA)
#	SIZES="..."		rows to train on (100000 1000000 10000000)
#	REPEAT=N		repetitions, interleaved, of which the median counts (3)
#	SECONDS_EACH=N	seconds of each pgbench run (1)
#	TIME_LIMIT=N	seconds after which no part goes on (840)
#	KEEP=1			keeps the work directory, and the measurements: a file for report.pl
#
# A part is a file NAME.sh that measures and a file NAME.pl that reports.  It is
# run by part.sh, on tables that other parts may have made.
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/alternatives.sh"

all_parts="training growth prediction answers threshold ledger cancel accuracy streams gradient trees distill choice rates cover features views forget bounds papers"

# Outside the sandbox: the packages that are not essential, and a place for
# the results, because enter_sandbox never comes back.
if [ -z "${BENCH_RESULTS:-}" ]; then
	"$privpred_top/test/packages.sh"
	install_alternatives
	BENCH_RESULTS=$(mktemp -d /tmp/privpred-bench.XXXXXX)
	export BENCH_RESULTS
	[ "${KEEP:-0}" = 1 ] || trap 'rm -rf "$BENCH_RESULTS"' EXIT
	[ "$(id -u)" -ne 0 ] || chown "$(test_user)" "$BENCH_RESULTS"
	bash "$0" "$@" &
	child=$!
	trap 'kill -TERM "$child" 2>/dev/null' HUP INT TERM
	status=0
	wait "$child" || status=$?
	while kill -0 "$child" 2>/dev/null; do
		wait "$child" || status=$?
	done
	if [ -f "$BENCH_RESULTS/benchmarks.md" ] && [ "${SAVE:-0}" = 1 ]; then
		cat "$BENCH_RESULTS/results.md" >"$privpred_top/test/bench/results.md"
		for file in "$BENCH_RESULTS/benchmarks.md" "$BENCH_RESULTS"/*.svg; do
			[ ! -f "$file" ] || cat "$file" >"$privpred_top/docs/${file##*/}"
		done
		note "written: docs/benchmarks.md, test/bench/results.md"
	fi
	[ "${KEEP:-0}" != 1 ] || note "kept: $BENCH_RESULTS"
	exit "$status"
fi

enter_sandbox test/bench/run.sh "$@"

parts=${PARTS:-$all_parts}
time_limit=${TIME_LIMIT:-840}
export sandbox
export data=${DATA:-} sizes=${SIZES:-100000 1000000 10000000} repeat=${REPEAT:-3} seconds=${SECONDS_EACH:-1}
export samples=$BENCH_RESULTS/samples
: >"$samples"
. test/bench/measure.sh

for part in $parts; do
	[ -f "test/bench/$part.sh" ] || die "no such part: $part (there are: $all_parts)"
done
[ -z "$data" ] || [ -r "$data/adult_train.csv.gz" ] ||
	die "$(id -un) cannot read $data/adult_train.csv.gz"

chapter "building, starting a server"
build
stage
# What differs from the defaults is what a larger table would make anybody set,
# and wal_level, with which tables are made faster and nothing else is.
# fsync, synchronous_commit, maintenance_work_mem (64 MB) and JIT are as shipped.
# Every answer is to be drawn, so none comes from memory.
start_server bench "shared_buffers = 512MB
	max_wal_size = 8GB
	checkpoint_timeout = 30min
	wal_level = minimal
	max_wal_senders = 0
	privpred.repeat_memory = 0"
createdb bench
sql -f test/bench/rows.sql

sample fact:version "$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)"
sample fact:server "$(sql -c 'SHOW server_version')"
sample fact:cores "$cores"
sample fact:processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
sample fact:load "$(cut -d' ' -f1 /proc/loadavg)"
sample fact:repeat "$repeat"

# Each part in a process group of its own, so that what it started ends with it;
# what it measured before it failed counts.
failed=""
for part in $parts; do
	rest=$((time_limit - SECONDS))
	began=$SECONDS
	if [ "$rest" -le 0 ]; then
		note "no time is left for $part"
		failed+=" $part"
	else
		timeout --kill-after=10 "$rest" bash test/bench/part.sh "$part" "$SECONDS" </dev/null &
		wait "$!" || { note "part $part failed"; failed+=" $part"; }
	fi
	sample fact:part "$part $((SECONDS - began))"
done

sample fact:failed "${failed# }"
sample fact:seconds "$SECONDS"
stop_server bench
perl test/bench/report.pl "$samples" "$BENCH_RESULTS"
[ -z "$failed" ] || die "failed:$failed"
