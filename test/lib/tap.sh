# shellcheck shell=bash
# The few lines of TAP that a check script needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tap_count=0
tap_failed=0

# ok NAME COMMAND...: what the command prints is shown only if it fails.
ok() {
	local name=$1 output
	shift
	tap_count=$((tap_count + 1))
	if output=$("$@" 2>&1); then
		echo "ok $tap_count - $name"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $name"
		[ -z "$output" ] || echo "# ${output//$'\n'/$'\n'# }"
	fi
}

# says_nothing COMMAND...: succeeds if the command finds nothing to say.
says_nothing() {
	local output
	output=$("$@" 2>&1) || true
	[ -z "$output" ] || { echo "$output"; return 1; }
}

# join_install: the install script, in a file that goes when the check ends.
join_install() {
	script=$(mktemp)
	trap 'rm -f "$script"' EXIT
	install/join.sh >"$script"
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
}
