#!/bin/bash
# Compiles every test/unit/test_*.c with the files its "sources:" line names
# (relative to the top of the repository) and the libraries that its "libraries:"
# line names, and runs them; one whose "needs:" header is not there is skipped.  Each test is a
# program that prints TAP, so prove can run it too.
#
# usage: test/unit/run.sh [DIR [TEST...]]
#        DIR receives the programs (default: test/unit/bin); TEST is e.g. vote
# environment: PG_CONFIG, CC; UNIT_SEED repeats a run's randomness
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$top/test/unit/bin}
shift || true
pg_config=${PG_CONFIG:-pg_config}
cc=${CC:-cc}
mkdir -p "$out"
out=$(cd "$out" && pwd)

flags=(-std=gnu11 -O1 -g -Wall -Wextra -Wno-sign-compare -Wno-unused-parameter -Werror -fno-fast-math -ffp-contract=off
	-I"$top/src" -I"$top/test/unit" -isystem "$("$pg_config" --includedir-server)")
libraries=(-L"$("$pg_config" --pkglibdir)" -L"$("$pg_config" --libdir)" -lpgcommon -lpgport -lm)

# Some containers cannot run the address sanitizer: ask by running it.
for sanitize in undefined,address undefined; do
	if echo 'int main(void) { return 0; }' |
		"$cc" -x c -fsanitize=$sanitize -o "$out/probe" - 2>/dev/null && "$out/probe" 2>/dev/null
	then
		flags+=(-fsanitize=$sanitize -fno-sanitize-recover=all)
		break
	fi
done
rm -f "$out/probe"

programs=()
skipped=
for test in "$top"/test/unit/test_*.c; do
	name=$(basename "$test" .c)
	if [ $# -gt 0 ] && [[ " $* " != *" ${name#test_} "* ]]; then
		continue
	fi
	header=$(sed -n 's/^ \* needs: *//p' "$test")
	if [ -n "$header" ] && ! echo "#include <$header>" | "$cc" -E -x c - >/dev/null 2>&1; then
		echo "# $name"
		echo "1..0 # SKIP there is no $header"
		skipped=yes
		continue
	fi
	read -ra extra < <(sed -n 's/^ \* libraries: *//p' "$test"; echo)
	sources=()
	for source in $(sed -n 's/^ \* sources: *//p' "$test"); do
		sources+=("$top/$source")
	done
	"$cc" "${flags[@]}" -o "$out/$name" "$test" "$top/test/unit/unit.c" "${sources[@]}" ${extra[@]+"${extra[@]}"} "${libraries[@]}"
	programs+=("$out/$name")
done

if [ ${#programs[@]} -eq 0 ] && [ -z "$skipped" ]; then
	echo "no such unit test: $*" >&2
	exit 1
fi
# A broken sampler may never accept, hence the time limit.
failed=0
for program in ${programs[@]+"${programs[@]}"}; do
	echo "# $(basename "$program")"
	timeout 300 "$program" || failed=1
done
exit $failed
