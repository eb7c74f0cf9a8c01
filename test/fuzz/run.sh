#!/bin/bash
# make fuzz: coverage-guided fuzzing of what is stored or written by others, with sanitizers.
#
#	SECONDS=60			of each target (60)
#	TARGETS="charge"	some of them (test/fuzz/lib.sh has the list)
#	JOBS=2				targets at the same time
#	SAVE=1				keeps what covers something new in test/fuzz/corpus
#
# Fails if anything is found, and prints the input in base 64: a line for the target's file in the corpus.
. "$(dirname "$0")/../lib/common.sh"

# enter_sandbox never comes back, and what it leaves is swept away.
if [ -z "${FUZZ_RESULTS:-}" ]; then
	FUZZ_RESULTS=$(mktemp -d /tmp/privpred-fuzz.XXXXXX)
	export FUZZ_RESULTS
	trap 'rm -rf "$FUZZ_RESULTS"' EXIT
	[ "$(id -u)" -ne 0 ] || chown "$(test_user)" "$FUZZ_RESULTS"
	status=0
	bash "$0" "$@" || status=$?
	if [ "${SAVE:-0}" = 1 ]; then
		cp "$FUZZ_RESULTS"/*.txt "$privpred_top/test/fuzz/corpus/"
	fi
	exit "$status"
fi

# Debian's runtime is a package of its own, named after the version.
version=$(clang -dumpversion 2>/dev/null | cut -d. -f1 || true)
PACKAGES=("clang=command -v clang" "libclang-rt-${version:-14}-dev=. test/fuzz/lib.sh; fuzz_clang")
cd "$privpred_top"
enter_sandbox test/fuzz/run.sh "$@"
. test/fuzz/lib.sh
fuzz_build "$sandbox/fuzz"
[ "$fuzz_with" != gcc ] || die "no clang with libFuzzer"

one() {
	local target=$1 status=0
	fuzz_run "$target" "-max_total_time=${FUZZ_SECONDS:-60}" || status=1
	printf '%-10s %s: %s\n' "$target" "$([ $status = 0 ] && echo "nothing found" || echo FOUND)" "$(fuzz_summary "$target")"
	# what there was, and the shortest of what is new, up to 25 kB
	if [ $status = 0 ] && [ "${SAVE:-0}" = 1 ]; then
		{ cat "test/fuzz/corpus/$target.txt" && fuzz_pack "$fuzz_dir/$target"/*; } |
			awk '!seen[$0]++ && ((size += length + 1) < 25000)' >"$FUZZ_RESULTS/$target.txt"
	fi
	return $status
}

status=0
pids=()
for target in ${TARGETS:-$fuzz_targets}; do
	[ -f "test/fuzz/corpus/$target.txt" ] || die "there is no target \"$target\""
	while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$cores}" ]; do
		wait -n || true
	done
	one "$target" &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid" || status=1
done
for file in "$fuzz_dir"/found/*; do
	[ -f "$file" ] || continue
	target=$(basename "${file%%-*}")
	printf '\n%s: %s\n' "$(basename "$file")" "$(base64 -w 0 "$file")"
	grep -vE '^#[0-9]+|^INFO' "$fuzz_dir/$target.log" | tail -n 40
done
exit $status
