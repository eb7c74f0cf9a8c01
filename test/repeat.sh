#!/bin/bash
# Runs the whole of "make test" again and again on a busy machine: what passes by
# luck does not do so twenty times.
#
# usage: test/repeat.sh [TIMES [BUSY]]		20 runs with 2 busy loops beside them
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-20}
busy=${2:-2}
loops=()
log=$(mktemp)
trap 'kill "${loops[@]}" 2>/dev/null || true; rm -f "$log"' EXIT
for ((i = 0; i < busy; i++)); do
	(while :; do :; done) &
	loops+=($!)
done

green=0
for ((i = 1; i <= times; i++)); do
	started=$SECONDS
	if make test >"$log" 2>&1; then
		green=$((green + 1))
	else
		grep -E 'FAILED|not ok' "$log" || tail -n 20 "$log"
	fi
	printf 'run %d of %d: %s in %d s\n' "$i" "$times" "$(grep -E '^[0-9]+ passed' "$log" || echo 'no result')" \
		"$((SECONDS - started))"
done
printf '%d of %d runs were green\n' "$green" "$times"
[ "$green" -eq "$times" ]
