#!/bin/bash
# make audit: the conformance table at length, or known mistakes (docs/audit.md).
#
#	make audit						all rows, and privpred.audit of all mechanisms
#	make audit ROWS="run; tie"		only these
#	make audit MUTANT=name			builds that mistake, and fails if it is caught, by what
#	make audit MUTANTS=all			builds every mistake, and fails unless each is caught
#	make audit MUTANTS="a b"		some of them
#	make audit BLIND=1				random neighbours for every mechanism, held against the ledger (docs/blind.md):
#		SEED=n MINUTES=10 JOBS=2 CASES="vote; sparse" MUTANT=name SAVE=1 (the page's table and picture)
#	KEEP=1							leaves the work directory with all logs
. "$(dirname "$0")/../lib/common.sh"

# enter_sandbox never comes back, and what it leaves is swept away.
if [ "${BLIND:-0}" = 1 ] && [ -z "${BLIND_RESULTS:-}" ]; then
	BLIND_RESULTS=$(mktemp -d /tmp/privpred-blind.XXXXXX)
	export BLIND_RESULTS
	trap 'rm -rf "$BLIND_RESULTS"' EXIT
	[ "$(id -u)" -ne 0 ] || chown "$(test_user)" "$BLIND_RESULTS"
	status=0
	bash "$0" "$@" || status=$?
	if [ "${SAVE:-0}" = 1 ] && [ -f "$BLIND_RESULTS/table.md" ]; then
		cat "$BLIND_RESULTS/blind.svg" >"$privpred_top/docs/blind.svg"
		perl -0pi -e 'BEGIN { local $/; open my $f, "<", "$ENV{BLIND_RESULTS}/table.md" or die; $t = <$f> }
			s/(<!-- table -->\n).*?(<!-- end -->)/$1$t$2/s' "$privpred_top/docs/blind.md"
		note "written: docs/blind.md, docs/blind.svg"
	fi
	exit "$status"
fi

enter_sandbox test/audit/run.sh "$@"

log=$sandbox/log
export PG_TEST_TIMEOUT_DEFAULT=600 PGCTLTIMEOUT=600
started=$SECONDS

# tap FILE LOG: FILE is below test/.  With impatient=yes it ends at the first failure: what a mistake
# holds up may be waited for very long.
tap() {
	local dir job
	dir=$sandbox/tap/$(basename "$1")
	rm -rf "$dir"
	mkdir -p "$dir" "$sandbox/ports"
	PG_REGRESS=$pgxs/src/test/regress/pg_regress PG_TEST_PORT_DIR=$sandbox/ports \
		TEMP_CONFIG=$sandbox/src/test/tap.conf TESTDIR=$dir TESTDATADIR=$dir/tmp_check TESTLOGDIR=$dir/tmp_check/log \
		JOB_TIMEOUT=7200 start_job "$2" perl -I "$pgxs/src/test/perl" -I test/lib "test/$1.pl"
	while [ "${impatient:-}" = yes ] && kill -0 "$job" 2>/dev/null; do
		! grep -q '^not ok' "$2" || kill -TERM "$job" 2>/dev/null || true
		sleep 1
	done
	wait "$job"
}

failures() { { grep -h '^not ok' "$1" || true; } | sed 's/^not ok [0-9]* - //'; }

# ---------- mutants ----------

. test/lib/mutants.sh

# regress SUITE PROGRAM INPUTDIR TEST LOG: one test of sql/ or specs/, as TAP.  A difference is a
# finding; an error, such as a server that does not start, is none.
regress() {
	local out=$sandbox/$1 words
	rm -rf "$out"
	mkdir -p "$out"
	run_job "$5.raw" "$pgxs/src/test/$2" --temp-instance="$out/instance" --bindir="$bin" --inputdir="$3" \
		--outputdir="$out" --encoding=UTF8 --no-locale --temp-config="$sandbox/src/test/regress.conf" \
		--dbname="privpred_$1" "$4" || true
	cat "$5.raw" >"$5"
	[ -s "$out/regression.diffs" ] || return 0
	words=$(grep -m 1 '^[-+][^-+]' "$out/regression.diffs" || true)
	printf 'not ok 1 - %s: %s\n' "$4" "$words" >>"$5"
	cat "$out/regression.diffs" >>"$5"
}

# check_one NAME WHAT: says in a line what WHAT finds; fails if it finds nothing.
check_one() {
	local name=$1 what=$2 out=$log/$1.${2//[^a-z0-9_]/_}.log found
	case $what in
		rows) AUDIT_MUTANT=$name AUDIT_ROWS=$(mutant_field "$name" rows) tap t/020_conformance "$out" || true ;;
		audit) AUDIT_MUTANT=$name AUDIT_MODELS=$(mutant_field "$name" audit) tap audit/audit "$out" || true ;;
		unit/*) run_job "$out" bash test/unit/run.sh "$sandbox/unit" "${what#unit/}" || true ;;
		t/*) impatient=yes tap "$what" "$out" || true ;;
		sql/*) regress regress regress/pg_regress . "${what#sql/}" "$out" ;;
		specs/*) regress isolation isolation/pg_isolation_regress test "${what#specs/}" "$out" ;;
		check_*) run_job "$out" bash "test/$what.sh" || true ;;
		*) die "$name.patch: \"$what\" is no test" ;;
	esac
	found=$(failures "$out" | wc -l)
	if [ "$found" -eq 0 ]; then
		printf '    %-24s nothing found\n' "$what"
		tail -n 5 "$out" | sed 's/^/        /'
		return 1
	fi
	failures "$out" | sed 's/^/        /' | cut -c 1-160 >>"$log/$name.findings"
	printf '    %-24s caught: %s\n' "$what" "$(failures "$out" | head -n 1 | cut -c 1-110)"
	every_name_found "$name" "$what" "$out"
}

# Each row or model that is named must be among the findings.
every_name_found() {
	local word status=0
	case $2 in rows | audit) ;; *) return 0 ;; esac
	while read -r word; do
		grep -q "^not ok [0-9]* - $word: " "$3" || { echo "        nothing found by \"$word\""; status=1; }
	done < <(mutant_field "$1" "$2" | tr ';' '\n' | sed 's/^ *//; s/ *$//')
	return $status
}

# The sandbox's copy of the source is patched, built and staged; a mistake may leave something unused.
build_mutant() {
	patch_mutant "$1" >"$log/$1.patch.log" 2>&1 || { cat "$log/$1.patch.log"; die "$1.patch does not apply"; }
	WERROR='' build && stage || die "mutant \"$1\" does not build"
}

# Everything that its patch names; fails unless all of it finds something.
check_mutant() {
	local name=$1 what status=0 checks=()
	[ -e "$mutants/$name.patch" ] || die "there is no mutant \"$name\"; $mutants has them"
	build_mutant "$name"
	printf '%s\n' "$name"
	[ -z "$(mutant_field "$name" rows)" ] || checks+=(rows)
	[ -z "$(mutant_field "$name" audit)" ] || checks+=(audit)
	read -ra more < <(mutant_field "$name"; echo)
	checks+=(${more[@]+"${more[@]}"})
	[ ${#checks[@]} -gt 0 ] || status=1
	for what in "${checks[@]}"; do
		check_one "$name" "$what" || status=1
	done
	patch_mutant "$name" --reverse >/dev/null || die "$name.patch cannot be undone"
	return $status
}

# ---------- blind ----------

if [ -n "${BLIND_RESULTS:-}" ]; then
	if [ -n "${MUTANT:-}" ]; then
		[ -e "$mutants/$MUTANT.patch" ] || die "there is no mutant \"$MUTANT\"; $mutants has them"
		build_mutant "$MUTANT"
		printf '%s: %s\n' "$MUTANT" "$(mutant_says "$MUTANT")"
	else
		build
		stage
	fi
	start_server blind "fsync = off
		shared_buffers = 128MB
		client_min_messages = error
		privpred.repeat_memory = 0
		privpred.foresee = off
		privpred.max_answers_per_statement = -1"
	# in the background, so that a signal is not waiting for it
	status=0
	perl -I test/lib -I test/bench test/audit/blind.pl "$BLIND_RESULTS" &
	wait $! || status=$?
	stop_server blind
	exit "$status"
fi

# ---------- mutants, and what is named to catch them ----------

if [ -n "${MUTANTS:-}" ]; then
	[ "$MUTANTS" != all ] || MUTANTS=$(list_mutants)
	caught=0
	escaped=()
	for name in $MUTANTS; do
		if check_mutant "$name"; then
			caught=$((caught + 1))
		else
			escaped+=("$name")
		fi
	done
	printf '\n%d mutants caught, %d escaped%s (%d s)\n' "$caught" "${#escaped[@]}" \
		"${escaped[*]:+: ${escaped[*]}}" $((SECONDS - started))
	[ ${#escaped[@]} -eq 0 ] || exit 1
	exit 0
fi

if [ -n "${MUTANT:-}" ]; then
	if check_mutant "$MUTANT"; then
		printf '\n%s is caught by:\n' "$MUTANT"
		cat "$log/$MUTANT.findings"
		exit 1
	fi
	printf '\n%s escapes\n' "$MUTANT"
	exit 0
fi

# ---------- the table at length ----------

build
stage
status=0
AUDIT_DRAWS=long
export AUDIT_DRAWS
[ -z "${ROWS:-}" ] || export AUDIT_ROWS=$ROWS
for part in t/020_conformance audit/audit; do
	[ -z "${ROWS:-}" ] || [ "$part" = t/020_conformance ] || continue
	out=$log/$(basename "$part").log
	tap "$part" "$out" || status=1
	grep -E '^(not )?ok' "$out" || true
	[ $status -eq 0 ] || tail -n 20 "$out"
done
printf '\n%d held, %d violated (%d s)\n' "$(cat "$log"/020_conformance.log "$log"/audit.log 2>/dev/null | grep -c '^ok')" \
	"$(cat "$log"/020_conformance.log "$log"/audit.log 2>/dev/null | grep -c '^not ok')" $((SECONDS - started))
exit $status
