# shellcheck shell=bash
# Shared by everything in test/ that needs a server.  Source it; bash only.
#
#	test/packages.sh	pg_config and what is missing
#	test/run.sh			make test
#	test/demo/run.sh	make demo
#	test/bench/run.sh	make bench
#
# A script that needs a server begins with
#
#	. "$(dirname "$0")/../lib/common.sh"
#	enter_sandbox test/demo/run.sh "$@"
#	build
#	stage
#	start_server demo "shared_buffers = 256MB"
#
# enter_sandbox starts the script a second time inside a private copy of the
# source, as an unprivileged user: what follows it never runs as root, never
# writes to the source tree, and is swept away when the script ends.
set -euo pipefail

privpred_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Preferred first.
supported_majors="15 18 17 16 14"

note() { printf '%s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# ---------- which PostgreSQL ----------

# A server and the files to build for it.  pg_config alone proves neither: it
# comes with the client packages, and /usr/bin/pg_config may be libpq-dev's.
pg_config_is_complete() {
	local pgxs bindir
	pgxs=$("$1" --pgxs 2>/dev/null) && bindir=$("$1" --bindir) || return 1
	[ -f "$pgxs" ] && [ -x "$bindir/postgres" ] && [ -x "$bindir/initdb" ]
}

# Prints the major version if this pg_config speaks for Debian's own packages.
debian_major() { "$1" --bindir 2>/dev/null | sed -n 's,^/usr/lib/postgresql/\([0-9]*\)/bin$,\1,p'; }

pg_major() { "$1" --version | sed -n 's/^[^0-9]*\([0-9]*\).*/\1/p'; }

# Prints the pg_config to use; fails if no complete one of a supported major
# version is there.
find_pg_config() {
	local candidate major
	if [ -n "${PG_CONFIG:-}" ]; then
		command -v "$PG_CONFIG" || return 1
		return
	fi
	for major in $supported_majors; do
		candidate=/usr/lib/postgresql/$major/bin/pg_config
		if pg_config_is_complete "$candidate"; then
			echo "$candidate"
			return
		fi
	done
	candidate=$(command -v pg_config) && pg_config_is_complete "$candidate" || return 1
	[[ " $supported_majors " == *" $(pg_major "$candidate") "* ]] || return 1
	echo "$candidate"
}

# ---------- the sandbox ----------

# Root becomes the user that Debian's server packages made (TEST_USER
# overrides); anybody else stays who they are.
test_user() {
	local name
	if [ "$(id -u)" -ne 0 ]; then
		id -un
		return
	fi
	for name in "${TEST_USER:-postgres}" nobody; do
		if id "$name" >/dev/null 2>&1 && [ "$(id -u "$name")" -ne 0 ]; then
			echo "$name"
			return
		fi
	done
	die "no unprivileged user to run the server as; set TEST_USER"
}

# setpriv rather than runuser: it becomes the command instead of standing in
# front of it, so that signals reach the command's own clean-up.
as_test_user() {
	local user
	user=$(test_user)
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups -- "$@"
	else
		"$@"
	fi
}

# Nothing of the caller's session may reach the build or the server.
clean_environment() {
	local name keep=${PG_CONFIG:-}
	for name in "${!PG@}" "${!LC_@}" LANGUAGE MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TEMP_CONFIG; do
		unset "$name"
	done
	[ -z "$keep" ] || export PG_CONFIG=$keep
	export LANG=C.UTF-8 LC_ALL=C.UTF-8 TZ=UTC
	umask 022
}

# Without what was built there.
copy_source() {
	mkdir -p "$2"
	tar -C "$1" -c --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.so' \
		--exclude=./results --exclude=./output_iso --exclude=./tmp_check --exclude=./build \
		--exclude=./test/unit/bin --exclude='regression.*' . | tar -C "$2" -x --no-same-owner
	find "$2" -maxdepth 1 -name 'privpred--*.sql' ! -name 'privpred--*--*.sql' -delete
}

# enter_sandbox SCRIPT [ARGUMENT...]: SCRIPT is the caller, relative to the top.
# PACKAGES may list further needs, see test/packages.sh.
enter_sandbox() {
	local script=$1 base user
	shift
	if [ -n "${PRIVPRED_SANDBOX:-}" ]; then
		sandbox=$PRIVPRED_SANDBOX
		unset PRIVPRED_SANDBOX
		cd "$privpred_top"
		arm_cleanup
		PATH=$("$PG_CONFIG" --bindir):$PATH
		return
	fi
	clean_environment
	"$privpred_top/test/packages.sh" ${PACKAGES[@]+"${PACKAGES[@]}"}
	PG_CONFIG=$(find_pg_config)
	export PG_CONFIG
	user=$(test_user)
	base=${TMPDIR:-/tmp}
	# Socket paths are limited to about a hundred bytes.
	if [ ${#base} -gt 40 ] || ! as_test_user test -w "$base" -a -x "$base"; then
		base=/tmp
	fi
	unset TMPDIR
	sandbox=$(mktemp -d "$base/privpred.XXXXXX")
	trap 'rm -rf "$sandbox"' EXIT
	copy_source "$privpred_top" "$sandbox/src"
	mkdir "$sandbox/tmp" "$sandbox/log" "$sandbox/home"
	[ "$(id -u)" -ne 0 ] || chown -R "$user:$(id -gn "$user")" "$sandbox"
	export PRIVPRED_SANDBOX=$sandbox TMPDIR=$sandbox/tmp HOME=$sandbox/home USER=$user LOGNAME=$user
	PRIVPRED_AS_ROOT=$([ "$(id -u)" -ne 0 ] || echo "runuser -u $user -- ")
	export PRIVPRED_AS_ROOT
	cd "$sandbox"
	if [ "$(id -u)" -eq 0 ]; then
		exec setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups -- \
			bash "$sandbox/src/$script" "$@" </dev/null
	fi
	exec bash "$sandbox/src/$script" "$@" </dev/null
}

# ---------- leaving nothing behind ----------

arm_cleanup() {
	trap leave_sandbox EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# Every server below the sandbox is ours: those of start_server, of pg_regress
# and of TAP tests alike.
stop_all_servers() {
	local pidfile
	find "$sandbox" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
		pg_ctl -D "$(dirname "$pidfile")" -m immediate -w -t 30 stop >/dev/null 2>&1 || true
	done
}

leave_sandbox() {
	local status=$? job
	trap - EXIT HUP INT TERM
	set +e
	cd /
	if [ -z "${leave_running:-}" ]; then
		for job in $(jobs -p); do
			kill -TERM "$job" 2>/dev/null
		done
		wait
		stop_all_servers
		if [ "${KEEP:-0}" = 1 ]; then
			note "kept: $sandbox"
		else
			rm -rf "$sandbox"
		fi
	fi
	exit "$status"
}

# start_job LOG COMMAND...: in the background, in its own process group (timeout
# makes one), so that a signal to this script ends the whole of it.
start_job() {
	local log=$1
	shift
	timeout --kill-after=10 "${JOB_TIMEOUT:-3600}" "$@" </dev/null >"$log" 2>&1 &
	job=$!
}

# run_job LOG COMMAND...: the same, and waits; its status is the command's.
run_job() {
	start_job "$@"
	wait "$job"
}

# ---------- build, stage, serve ----------

cores=$(nproc 2>/dev/null || echo 2)

# Warnings are errors.
build() {
	if ! run_job "$sandbox/log/build.log" \
		make -s -j"$cores" PG_CONFIG="$PG_CONFIG" with_llvm=no WERROR="${WERROR--Werror}" all; then
		cat "$sandbox/log/build.log"
		return 1
	fi
}

# A private copy of the server with the extension in it, first on PATH.
stage() {
	if ! run_job "$sandbox/log/stage.log" test/stage.sh "$sandbox/stage"; then
		cat "$sandbox/log/stage.log"
		return 1
	fi
	bin=$(tail -n 1 "$sandbox/log/stage.log")
	[ -e "$bin/initdb.real" ] || mv "$bin/initdb" "$bin/initdb.real"
	cp test/lib/initdb.sh "$bin/initdb"
	PATH=$bin:$PATH
	pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
}

# start_server NAME [CONFIGURATION-LINES]: a cluster in $sandbox/NAME that
# listens on a socket in $sandbox alone.  Sets PGHOST and PGUSER.
start_server() {
	local data=$sandbox/$1
	initdb -D "$data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
		>"$sandbox/log/$1.initdb.log" 2>&1 || { cat "$sandbox/log/$1.initdb.log"; return 1; }
	cat >>"$data/postgresql.conf" <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$sandbox'
		timezone = 'UTC'
		log_timezone = 'UTC'
		lc_messages = 'C'
		${2:-}
	CONF
	pg_ctl -D "$data" -l "$sandbox/log/$1.log" -w start >/dev/null || {
		tail -n 40 "$sandbox/log/$1.log"
		return 1
	}
	export PGHOST=$sandbox PGUSER=postgres
}

stop_server() { pg_ctl -D "$sandbox/$1" -m fast -w stop >/dev/null; }
