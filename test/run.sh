#!/bin/bash
# make test: packages, build, then checks and unit tests beside pg_regress and isolation, then TAP.
# Ends with the line "N passed, N failed".
#
#	TESTS="streams 035_audit"	only these (regress tests, specs, TAP files,
#								checks; "unit" for all unit tests)
#	KEEP=1						leaves the work directory with all logs
#	JOBS=4						TAP files at the same time (default: cores)
#	CHECK_MEMORY=yes			make check-memory: fresh and freed memory is overwritten; unless
#								TESTS says otherwise, pg_regress and the matrix alone
#	COVERAGE=yes				make coverage: says at the end which lines were executed
#	XGBOOST=no					builds without XGBoost, and leaves its tests out
. "$(dirname "$0")/lib/common.sh"
enter_sandbox test/run.sh "$@"

log=$sandbox/log
results=$sandbox/results
: >"$results"

# What needs XGBoost is left out only where it was left out on purpose.
of_xgboost=" boost 040_boost "
left_out=

export CHECK_MEMORY=${CHECK_MEMORY:-no} COVERAGE=${COVERAGE:-no}
if [ "$CHECK_MEMORY" = yes ] && [ -z "${TESTS:-}" ]; then
	TESTS="$(basename -a -s .sql sql/*.sql | tr '\n' ' ')022_matrix"
fi

heading() { printf '\n== %s\n' "$*"; }

# ---------- which tests ----------

regress=()
specs=()
taps=()
checks=()
known=" unit "

# choose LIST NAME
choose() {
	if [[ "${XGBOOST:-}" = no && "$of_xgboost" == *" $2 "* ]]; then
		left_out+=" $2"
	else
		local -n chosen=$1
		chosen+=("$2")
	fi
}

# select_tests LIST PREFIX SUFFIX: the tests PREFIX*SUFFIX, or those of them that
# TESTS names, with or without directory and suffix.
select_tests() {
	local -n list=$1
	local file name word
	for file in "$2"*"$3"; do
		[ -e "$file" ] || continue
		name=${file##*/} name=${name%"$3"}
		[ -n "${TESTS:-}" ] || choose list "$name"
		for word in ${TESTS:-}; do
			if [[ "$word" =~ ^(.*/)?"$name"("$3")?$ ]]; then
				choose list "$name"
				known+="$word "
			fi
		done
	done
}

select_tests checks test/check_ .sh
select_tests regress sql/ .sql
select_tests specs test/specs/ .spec
select_tests taps test/t/ .pl
unit=
if [[ -x test/unit/run.sh && ( -z "${TESTS:-}" || " $TESTS " == *" unit "* ) ]]; then
	unit=yes
fi
for word in ${TESTS:-}; do
	[[ "$known" == *" $word "* ]] || die "TESTS: there is no test \"$word\""
done

# ---------- counting ----------

# count_tap NAME LOG STATUS: records what a TAP producer said.  Several plans
# may follow one another.  Silence, a wrong plan or a bad exit is a failure.
count_tap() {
	awk -v name="$1" -v status="$3" '
		/^not ok/ && !/# TODO/	{ failed++; next }
		/^ok [0-9]+ # skip /		{ skipped++; next }
		/^(not )?ok/				{ passed++; next }
		/^1\.\.[0-9]+/				{ plan += substr($1, 4); plans++ }
		/^Bail out!/				{ bailed = 1 }
		END {
			# A file that skips everything hides what should be there.
			if (failed == 0 && (status != 0 || bailed || plans == 0 ||
				plan != passed + skipped || passed == 0))
				failed = 1;
			printf "%s %d %d\n", name, passed, failed
		}' "$2" >>"$results"
	report_last "$2"
}

# count_regress SUITE LOG STATUS: the formats of PostgreSQL up to 15 and from 16 on.
count_regress() {
	awk -v suite="$1" -v status="$3" '
		/ \.\.\. ok /				{ passed++; next }
		/ \.\.\. FAILED/			{ failed++; next }
		/^ok [0-9]+ /				{ passed++; next }
		/^not ok [0-9]+ /			{ failed++; next }
		END {
			if (failed == 0 && (status != 0 || passed == 0))
				failed = 1;
			printf "%s %d %d\n", suite, passed, failed
		}' "$2" >>"$results"
}

# One line for the last result; all of its output if something failed.
report_last() {
	local name passed failed
	read -r name passed failed < <(tail -n 1 "$results")
	if [ "$failed" -eq 0 ]; then
		printf '%-40s ok (%d)\n' "$name" "$passed"
	else
		printf '%-40s FAILED (%d of %d)\n' "$name" "$failed" "$((passed + failed))"
		tail -n 100 "$1" | sed 's/^/    /'
	fi
}

finish() {
	local passed failed
	read -r passed failed < <(awk '{ p += $2; f += $3 } END { print p + 0, f + 0 }' "$results")
	if [ "$((passed + failed))" -eq 0 ]; then
		note "no tests were run"
		failed=1
	fi
	[ -z "$left_out" ] || printf '\nleft out by XGBOOST=no:%s\n' "$left_out"
	# What a TAP file could not try on this machine; none of it counts as passed.
	awk 'sub(/^(# left out: |ok [0-9]+ # skip )/, "") && !said[$0]++ {
		name = FILENAME; gsub(/.*\/|\.log$/, "", name); print "left out: " name ": " $0 }' "$log"/*.log
	printf '\n%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ] || exit 1
	exit 0
}

# ---------- suites ----------

# Checks and unit tests, one after the other, keep one core busy while the servers of pg_regress
# keep the other.
start_checks() {
	# shellcheck disable=SC2016
	start_job "$log/checks.log" bash -c '
		dir=$1; shift
		for name; do
			status=0
			if [ "$name" = unit ]; then
				bash test/unit/run.sh "$dir/../unit"
			else
				bash "test/$name.sh"
			fi >"$dir/$name.log" 2>&1 || status=$?
			echo "$status" >"$dir/$name.status"
		done' checks "$log" "$@"
	checks_job=$job
}

finish_checks() {
	local name
	wait "$checks_job" || true
	heading "checks and unit tests"
	for name; do
		touch "$log/$name.log"
		count_tap "$name" "$log/$name.log" "$(cat "$log/$name.status" 2>/dev/null || echo 1)"
	done
}

# pg_regress_run SUITE PROGRAM INPUTDIR TEST...
pg_regress_run() {
	local suite=$1 program=$2 input=$3 out=$sandbox/$1 status=0
	shift 3
	mkdir -p "$out"
	run_job "$log/$suite.log" "$program" --temp-instance="$out/instance" --bindir="$bin" \
		--inputdir="$input" --outputdir="$out" --encoding=UTF8 --no-locale \
		--temp-config="$sandbox/src/test/regress.conf" --dbname="privpred_$suite" "$@" || status=$?
	count_regress "$suite" "$log/$suite.log" "$status"
	grep -E '(\.\.\. |^(not )?ok )' "$log/$suite.log" || true
	[ "$status" -ne 0 ] || return 0
	echo
	if [ -s "$out/regression.diffs" ]; then
		head -n 400 "$out/regression.diffs"
	else
		tail -n 40 "$log/$suite.log"
	fi
	if grep -qE 'PANIC|terminated by signal|TRAP:' "$out"/log/postmaster.log 2>/dev/null; then
		echo "-- end of the server's log"
		tail -n 60 "$out/log/postmaster.log"
	fi
}

# Several TAP files at a time; each in a directory of its own.
run_taps() {
	local name
	declare -gA tap_of_job=()
	export PG_REGRESS=$pgxs/src/test/regress/pg_regress PG_TEST_PORT_DIR=$sandbox/ports
	export TEMP_CONFIG=$sandbox/src/test/tap.conf
	mkdir -p "$sandbox/ports"
	for name in "${taps[@]}"; do
		[ ${#tap_of_job[@]} -lt "${JOBS:-$cores}" ] || finish_one_tap
		mkdir -p "$sandbox/tap/$name"
		start_job "$log/$name.log" env TESTDIR="$sandbox/tap/$name" \
			TESTDATADIR="$sandbox/tap/$name/tmp_check" TESTLOGDIR="$sandbox/tap/$name/tmp_check/log" \
			perl -I "$pgxs/src/test/perl" -I test/lib "test/t/$name.pl"
		tap_of_job[$job]=$name
	done
	while [ ${#tap_of_job[@]} -gt 0 ]; do
		finish_one_tap
	done
}

# Waits for whichever ends first; shows the servers' logs if it failed.
finish_one_tap() {
	local status=0 name failed file ended
	wait -n -p ended "${!tap_of_job[@]}" || status=$?
	name=${tap_of_job[$ended]}
	unset "tap_of_job[$ended]"
	count_tap "$name" "$log/$name.log" "$status"
	read -r _ _ failed < <(tail -n 1 "$results")
	[ "$failed" -gt 0 ] || return 0
	for file in "$sandbox/tap/$name"/tmp_check/log/*; do
		[ -e "$file" ] || continue
		echo "    -- end of $(basename "$file")"
		tail -n 60 "$file" | sed 's/^/    /'
	done
}

# ---------- the run ----------

# A busy machine is slow, not wrong: what waits for something waits for it this long.
export PG_TEST_TIMEOUT_DEFAULT=600 PGCTLTIMEOUT=600

heading "build ($("$PG_CONFIG" --version), as $(id -un))"
if build && stage; then
	echo "build 1 0" >>"$results"
	echo "no warnings"
else
	echo "build 0 1" >>"$results"
	finish
fi

# Not for the build: compilers take twice the time.
if [ "$CHECK_MEMORY" = yes ]; then
	grep -q ' __wrap_palloc$' <(nm privpred.so) || die "the module does not overwrite memory"
	echo "fresh and freed memory is overwritten"
	export MALLOC_PERTURB_=165
fi

[ -z "$unit" ] || checks+=(unit)
[ ${#checks[@]} -eq 0 ] || start_checks "${checks[@]}"
if [ ${#regress[@]} -gt 0 ]; then
	heading "pg_regress"
	pg_regress_run regress "$pgxs/src/test/regress/pg_regress" . "${regress[@]}"
fi
if [ ${#specs[@]} -gt 0 ]; then
	heading "isolation"
	pg_regress_run isolation "$pgxs/src/test/isolation/pg_isolation_regress" test "${specs[@]}"
fi
[ ${#checks[@]} -eq 0 ] || finish_checks "${checks[@]}"
if [ ${#taps[@]} -gt 0 ]; then
	heading "TAP"
	run_taps
fi
if [ "$COVERAGE" = yes ]; then
	heading "lines executed"
	stop_all_servers
	test/coverage.sh
fi
finish
