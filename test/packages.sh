#!/bin/bash
# Makes sure that what the tests need is installed.
#
# usage: test/packages.sh [PACKAGE=COMMAND]...
#
# Looks for the things themselves, not for packages.  What is missing is
# installed when this runs as root, after every package has been named, and only
# named otherwise.  NO_INSTALL=1 installs nothing, whoever asks.  XGBoost is wanted, not
# needed: without it two learners, and their tests, say that it is not there
# (XGBOOST=no does not even look for it).  So is clang-format 14, without which
# check_style does not look at the format.  A further need is
# given as a Debian package and the shell command that succeeds when it is there, for
# example: test/packages.sh 'python3-sklearn=python3 -c "import sklearn"'
. "$(dirname "$0")/lib/common.sh"

missing=()

# need PACKAGE COMMAND...
need() {
	local package=$1
	shift
	if ! "$@" >/dev/null 2>&1 && [[ " ${missing[*]-} " != *" $package "* ]]; then
		missing+=("$package")
	fi
}

have_header() { echo "#include <$1>" | cc -E -x c - ; }

have_formatter() { { clang-format-14 --version || clang-format --version; } 2>/dev/null | grep -q ' version 14\.'; }

# What only root gets, if it can be had.
find_wanted() {
	wanted=()
	[ "${XGBOOST:-}" = no ] || have_header xgboost/c_api.h >/dev/null 2>&1 || wanted+=(libxgboost-dev)
	have_formatter || wanted+=(clang-format-14)
}

find_missing() {
	local major=$1 extra libdir
	shift
	missing=()
	need gcc command -v cc
	need libc6-dev have_header stdio.h
	need liblinear-dev have_header linear.h
	need perl perl -MTest::More -MJSON::PP -MTime::HiRes -e 1
	need perl command -v prove
	need libipc-run-perl perl -MIPC::Run -e 1
	need util-linux command -v setpriv
	need patch command -v patch
	need python3-minimal command -v python3
	if [ -n "$major" ]; then
		libdir=/usr/lib/postgresql/$major/lib
		need "postgresql-$major" test -x "/usr/lib/postgresql/$major/bin/postgres"
		need "postgresql-client-$major" test -x "/usr/lib/postgresql/$major/bin/psql"
		need "postgresql-client-$major" test -x "$libdir/pgxs/src/test/isolation/pg_isolation_regress"
		need "postgresql-client-$major" test -d "$libdir/pgxs/src/test/perl/PostgreSQL/Test"
		need "postgresql-server-dev-$major" test -f "$libdir/pgxs/src/makefiles/pgxs.mk"
		need "postgresql-server-dev-$major" test -f "/usr/include/postgresql/$major/server/postgres.h"
	fi
	for extra in "$@"; do
		need "${extra%%=*}" bash -c "${extra#*=}"
	done
}

# Which major version to complete when none is.
pick_major() {
	local major
	for major in $supported_majors; do
		if [ -x "/usr/lib/postgresql/$major/bin/postgres" ]; then
			echo "$major"
			return
		fi
	done
	for major in $supported_majors; do
		if apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1; then
			echo "$major"
			return
		fi
	done
	echo "${supported_majors%% *}"
}

# Debian makes and starts a "main" cluster with the first server package; this
# one is only wanted for its files.
without_main_cluster() {
	local dir=${CREATECLUSTER_DIR:-/etc/postgresql-common/createcluster.d}
	local undo="rm -f $dir/privpred-test.conf"
	[ -d "$dir" ] || undo="rm -rf $dir"
	# shellcheck disable=SC2064
	trap "$undo" EXIT
	mkdir -p "$dir"
	echo "create_main_cluster = false" >"$dir/privpred-test.conf"
	"$@"
	$undo
	trap - EXIT
}

# Everything that apt-get would bring, on lines of their own.
brought_along() {
	apt-get -q -s -o Debug::NoLocking=1 install --no-install-recommends "$@" 2>/dev/null </dev/null |
		sed -n 's/^Inst \([^ ]*\).*/\1/p'
}

# Says what is coming before it comes.
announce() {
	local others
	note "apt-get will install: $*"
	others=$(brought_along "$@" | grep -vxF "$(printf '%s\n' "$@")" | tr '\n' ' ') || true
	[ -z "$others" ] || note "    and what these need: $others"
	note "    (NO_INSTALL=1 installs nothing)"
}

install_packages() {
	announce "$@"
	DEBIAN_FRONTEND=noninteractive without_main_cluster apt-get -q -y -o DPkg::Lock::Timeout=300 \
		-o Acquire::Retries=3 install --no-install-recommends "$@" </dev/null >&2
}

update_lists() { apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update </dev/null >&2; }

# One at a time: what cannot be had must not keep the rest away.
install_wanted() {
	local package
	for package in "${wanted[@]}"; do
		install_packages "$package" || note "going on without $package"
	done
}

# The major version whose Debian packages we may add to; empty for a server of
# the user's own making, which has to be complete as it is.
choose_major() {
	if [ -n "${PG_CONFIG:-}" ]; then
		major=$(debian_major "$PG_CONFIG")
		[ -n "$major" ] || pg_config_is_complete "$PG_CONFIG" ||
			die "PG_CONFIG=$PG_CONFIG names no server with its development files (PGXS)"
		[[ " $supported_majors " == *" ${major:-$(pg_major "$PG_CONFIG")} "* ]] ||
			die "PG_CONFIG=$PG_CONFIG is not of PostgreSQL 14 to 18"
	elif pg_config=$(find_pg_config); then
		major=$(debian_major "$pg_config")
	else
		major=$(pick_major)
	fi
}

may_install() { [ "$(id -u)" -eq 0 ] && [ "${NO_INSTALL:-0}" = 0 ] && command -v apt-get >/dev/null; }

choose_major
find_missing "$major" "$@"
find_wanted
if [ ${#missing[@]} -eq 0 ] && [ ${#wanted[@]} -gt 0 ]; then
	if ! may_install; then
		note "going on without ${wanted[*]}"
	else
		apt-cache show "${wanted[@]}" >/dev/null 2>&1 || update_lists || true
		install_wanted
	fi
fi
[ ${#missing[@]} -gt 0 ] || exit 0

command -v apt-get >/dev/null || die "not installed (by their Debian names): ${missing[*]}"
if ! may_install; then
	note "error: not installed: ${missing[*]}"
	[ "${NO_INSTALL:-0}" = 0 ] || note "NO_INSTALL is set, so nothing is installed here."
	note "Run this as root, then try again:"
	note "    apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
	exit 1
fi
note "not installed: ${missing[*]}; apt-get update brings the lists of packages first"
update_lists
choose_major				# apt may know better now
find_missing "$major" "$@"
install_packages "${missing[@]}"
find_wanted
install_wanted
find_missing "$major" "$@"
[ ${#missing[@]} -eq 0 ] || die "still missing after installation: ${missing[*]}"
