#!/bin/bash
# Runs the whole of "make test" again and again on a busy machine: what passes by
# luck does not do so twenty times.
#
# usage: test/repeat.sh [TIMES [BUSY [ABREAST]]]	20 runs with 2 busy loops beside them,
#												1 run at a time
#
# Where ccache is installed, what has been compiled once is not compiled again: luck is in
# the tests.  LOGS=DIR keeps what the runs print.
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-20}
busy=${2:-2}
abreast=${3:-1}
work=$(mktemp -d)
logs=${LOGS:-$work/logs}
children=()
mkdir -p "$logs" "$work/results"
trap 'kill "${children[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# The tests run as another user, in a copy of the source whose name is new every time.
if [ -d /usr/lib/ccache ]; then
	mkdir -m 1777 "$work/cache"
	chmod 755 "$work"
	export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$work/cache CCACHE_UMASK=000 CCACHE_BASEDIR=/tmp CCACHE_NOHASHDIR=1
fi

for ((i = 0; i < busy; i++)); do
	(while :; do :; done) &
	children+=($!)
done

run() {
	local log=$logs/$1 started=$SECONDS colour=red
	# In the background, so that a signal reaches it through its lane.
	make test >"$log" 2>&1 </dev/null &
	! wait $! || colour=green
	[ $colour = green ] || grep -E 'FAILED|not ok' "$log" || tail -n 20 "$log"
	printf 'run %d of %d: %s in %d s\n' "$1" "$times" "$(grep -E '^[0-9]+ passed' "$log" || echo 'no result')" \
		"$((SECONDS - started))"
	echo $colour >"$work/results/$1"
}

# Each lane runs every ABREAST-th.
lanes=()
for ((lane = 1; lane <= abreast; lane++)); do
	(
		trap 'kill "$!" 2>/dev/null; wait; exit 143' TERM
		for ((i = lane; i <= times; i += abreast)); do run "$i"; done
	) &
	lanes+=($!)
	children+=($!)
done
wait "${lanes[@]}"
green=$(cat "$work"/results/* | grep -c green || true)
printf '%d of %d runs were green\n' "$green" "$times"
[ "$green" -eq "$times" ]
