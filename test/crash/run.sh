#!/bin/bash
# make crash: the server is killed, stopped, filled up and failed over, again and again, while
# clients ask; docs/crashes.md says what must hold.  The product is built with named points at which
# its processes fail (src/server/fault.h).
#
#	ROUNDS=N		how many (100)
#	SEED=N			the order of what happens, and where (1)
#	KINDS="a; b"	only these
#	CLIENTS=N		that ask at the same time (4, of ten)
#	MINUTES=N		no further round after so many
#	SAVE=1			writes the table and the picture of docs/crashes.md
#	KEEP=1			leaves the work directory with all logs
. "$(dirname "$0")/../lib/common.sh"

# enter_sandbox never comes back, and what it leaves is swept away.
if [ -z "${CRASH_RESULTS:-}" ]; then
	CRASH_RESULTS=$(mktemp -d /tmp/privpred-crash.XXXXXX)
	export CRASH_RESULTS
	trap 'rm -rf "$CRASH_RESULTS"' EXIT
	[ "$(id -u)" -ne 0 ] || chown "$(test_user)" "$CRASH_RESULTS"
	status=0
	bash "$0" "$@" || status=$?
	if [ "${SAVE:-0}" = 1 ] && [ -f "$CRASH_RESULTS/table.md" ]; then
		cat "$CRASH_RESULTS/crashes.svg" >"$privpred_top/docs/crashes.svg"
		perl -0pi -e 'BEGIN { local $/; open my $f, "<", "$ENV{CRASH_RESULTS}/table.md" or die; $t = <$f> }
			s/(<!-- table -->\n).*?(<!-- end -->)/$1$t$2/s' "$privpred_top/docs/crashes.md"
		note "written: docs/crashes.md, docs/crashes.svg"
	fi
	exit "$status"
fi

enter_sandbox test/crash/run.sh "$@"
export PG_TEST_TIMEOUT_DEFAULT=180 PGCTLTIMEOUT=180 FAULTS=yes
build
stage
grep -q ' fault_point$' <(nm privpred.so) || die "the module has no named points"
dir=$sandbox/crash
mkdir -p "$dir" "$sandbox/ports"
status=0
PG_REGRESS=$pgxs/src/test/regress/pg_regress PG_TEST_PORT_DIR=$sandbox/ports TEMP_CONFIG=$sandbox/src/test/tap.conf \
	TESTDIR=$dir TESTDATADIR=$dir/tmp_check TESTLOGDIR=$dir/tmp_check/log \
	perl -I "$pgxs/src/test/perl" -I test/lib test/crash/crash.pl "$CRASH_RESULTS" || status=$?
exit "$status"
