#!/bin/bash
# Links every test/unit/test_*.c with the files its "sources:" line names (relative to
# the top of the repository; each is compiled once) and the libraries that its
# "libraries:" line names, and runs them; one whose "needs:" header is not there is
# skipped.  Each test is a program that prints TAP, so prove can run it too.
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

# objects_of TEST: the objects that it is linked from, each named after its source.
objects_of() {
	local source
	objects=()
	for source in "test/unit/$1.c" test/unit/unit.c $(sed -n 's/^ \* sources: *//p' "$top/test/unit/$1.c"); do
		objects+=("$out/${source//\//-}.o")
		source_of[${objects[-1]}]=$top/$source
	done
}

declare -A source_of
names=()
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
	names+=("$name")
	objects_of "$name"
done

if [ ${#names[@]} -eq 0 ] && [ -z "$skipped" ]; then
	echo "no such unit test: $*" >&2
	exit 1
fi
for object in "${!source_of[@]}"; do
	printf '%s\0' "$object" "${source_of[$object]}"
done | xargs -0 -r -n 2 -P "$(nproc)" "$cc" "${flags[@]}" -c -o
for name in ${names[@]+"${names[@]}"}; do
	objects_of "$name"
	read -ra extra < <(sed -n 's/^ \* libraries: *//p' "$top/test/unit/$name.c"; echo)
	"$cc" "${flags[@]}" -o "$out/$name" "${objects[@]}" ${extra[@]+"${extra[@]}"} "${libraries[@]}"
done

# A broken sampler may never accept, hence the time limit.
failed=0
for name in ${names[@]+"${names[@]}"}; do
	echo "# $name"
	timeout 300 "$out/$name" || failed=1
done
exit $failed
