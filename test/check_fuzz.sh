#!/bin/bash
# The short form of make fuzz: the corpus, and some thousand inputs made of it, the same every time.  Without
# clang the corpus alone, with gcc's sanitizers.  Prints TAP.
. "$(dirname "$0")/lib/tap.sh"
. test/fuzz/lib.sh
export PG_CONFIG=${PG_CONFIG:-pg_config}
PATH=$("$PG_CONFIG" --bindir):$PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

build() { fuzz_build "$dir"; }

# What was found, as make fuzz says it.
run() {
	local status=0 file
	fuzz_run "$@" || status=1
	if [ $status != 0 ]; then
		for file in "$dir"/found/"$1"-*; do
			[ ! -f "$file" ] || echo "$(basename "$file"): $(base64 -w 0 "$file")"
		done
		grep -vE '^#[0-9]+|^INFO' "$dir/$1.log" | tail -n 30
	fi
	return $status
}

# All targets have a corpus, and every line of it was run.
complete() { [ "$(basename -s .txt -a test/fuzz/corpus/*.txt | tr '\n' ' ')" = "$fuzz_targets " ]; }
all_run() { [ "$(sed -n 's/^Done \([0-9]*\) .*/\1/p' "$dir/$1.log")" -ge "$(wc -l <"test/fuzz/corpus/$1.txt")" ]; }

ok "every target has a corpus" complete
# ok runs in a subshell, and what this finds out is needed below
if build >"$dir/build.log" 2>&1; then
	ok "built with sanitizers, by $fuzz_with" true
else
	ok "built with sanitizers" sed 's/^/# /;$q1' "$dir/build.log"
	done_testing
	exit
fi
for target in $fuzz_targets; do
	ok "$target: nothing found" run "$target" -seed=1 -runs=5000
	ok "$target: all of its corpus was run" all_run "$target"
done
done_testing
