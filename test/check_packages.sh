#!/bin/bash
# What test/packages.sh installs, it names first; with NO_INSTALL=1 it installs nothing.
# A made-up apt-get and a made-up root show it.  Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

# "make test NO_INSTALL=1" is about the packages of the tests, not about those made up here.
unset NO_INSTALL

fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT
mkdir "$fake/bin"

# Says every call; "installs" only what the test is about.
cat >"$fake/bin/apt-get" <<-'SH'
	#!/bin/sh
	echo "apt-get $*" >>"$FAKE/calls"
	echo "apt-get $*" >&2
	case " $* " in
	*" -s "*) echo "Inst made-up (1.0)"; echo "Inst made-up-data (1.0)" ;;
	*" install "*" made-up "*) touch "$FAKE/made-up" ;;
	esac
SH
printf '#!/bin/sh\nexit 0\n' >"$fake/bin/apt-cache"
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$*" = -u ] && echo "$FAKE_UID" || exec /usr/bin/id "$@"\n' >"$fake/bin/id"
chmod +x "$fake/bin"/*

# packages UID [NAME=VALUE...]: asks for a package that nobody has.
packages() {
	local uid=$1
	shift
	rm -f "$fake/made-up"
	: >"$fake/calls"
	status=0
	env FAKE="$fake" FAKE_UID="$uid" PATH="$fake/bin:$PATH" XGBOOST=no CREATECLUSTER_DIR="$fake/d" "$@" \
		test/packages.sh "made-up=test -e $fake/made-up" >"$fake/out" 2>&1 </dev/null || status=$?
}

said() { grep -qE -- "$1" "$fake/out" || { cat "$fake/out"; return 1; }; }
# Called for real; a simulation changes nothing.
called() { grep -vE ' -s ' "$fake/calls"; }
not_called() { says_nothing called; }
failed() { [ "$status" -ne 0 ] || { cat "$fake/out"; return 1; }; }
succeeded() { [ "$status" -eq 0 ] || { cat "$fake/out"; return 1; }; }
named_before() {
	[ "$(grep -nE 'apt-get will install: .*made-up' "$fake/out" | head -n 1 | cut -d : -f 1)" -lt \
		"$(grep -nE '^apt-get .* install .*made-up$' "$fake/out" | tail -n 1 | cut -d : -f 1)" ]
}

packages 0
ok "root: what is missing is installed" succeeded
ok "and named before that" named_before
ok "with what comes along" said 'what these need: made-up-data'
ok "nothing is left of what keeps the main cluster away" test ! -e "$fake/d"

packages 0 NO_INSTALL=1
ok "NO_INSTALL=1: refused" failed
ok "the package is named" said 'not installed: made-up'
ok "and why it is not installed" said 'NO_INSTALL is set'
ok "apt-get was not called" not_called

packages 1000
ok "another user: refused" failed
ok "the package is named" said 'apt-get install .*made-up'
ok "apt-get was not called" not_called

# The scripts behind make test and make demo, where a Perl module is missing.
cat >"$fake/bin/perl" <<-'SH'
	#!/bin/sh
	case "$*" in *IPC::Run*) exit 1 ;; esac
	exec /usr/bin/perl "$@"
SH
chmod +x "$fake/bin/perl"
for script in test/run.sh test/demo/run.sh; do
	: >"$fake/calls"
	status=0
	env FAKE="$fake" FAKE_UID=0 PATH="$fake/bin:$PATH" XGBOOST=no NO_INSTALL=1 \
		bash "$script" >"$fake/out" 2>&1 </dev/null || status=$?
	ok "$script with NO_INSTALL=1: refused" failed
	ok "$script: the package is named" said 'not installed: libipc-run-perl'
	ok "$script: apt-get was not called" not_called
done

# PGXS has a NO_INSTALL of its own, which would leave the extension out of the staged server.
env NO_INSTALL=1 make -n install PG_CONFIG="$PG_CONFIG" with_llvm=no >"$fake/out" 2>&1 || true
ok "NO_INSTALL=1 make install installs the extension" said 'install .*privpred\.control'
done_testing
