#!/bin/bash
# What the tests executed, by floor; test/run.sh calls it after a run with COVERAGE=yes.
#
# usage: test/coverage.sh		in a tree that was built with COVERAGE=yes, and used
set -euo pipefail
cd "$(dirname "$0")/.."

# FILE EXECUTED LINES, for every source file.
lines() {
	local object
	find src boost -name '*.gcno' | sort | while read -r object; do
		gcov -n -o "$(dirname "$object")" "${object%.gcno}.c" 2>/dev/null | awk -v file="${object%.gcno}.c" '
			/^File / { ours = index($0, file) > 0 }
			ours && /^Lines executed:/ {
				sub(/^Lines executed:/, ""); split($0, part, "% of ")
				printf "%s %d %d\n", file, part[1] * part[2] / 100 + 0.5, part[2]
				ours = 0
			}'
	done
}

lines | awk '
	{
		n = split($1, part, "/")
		folder = n > 2 ? part[1] "/" part[2] : part[1]
		executed[folder] += $2; all[folder] += $3
		executed["all"] += $2; all["all"] += $3
		if ($2 < 0.85 * $3)
			low[$1] = sprintf("%5.1f %%  %s", 100 * $2 / $3, $1)
	}
	END {
		for (folder in all)
			if (folder != "all")
				printf "%5.1f %%  of %6d lines  %s\n", 100 * executed[folder] / all[folder], all[folder], folder | "sort -k 6"
		close("sort -k 6")
		printf "%5.1f %%  of %6d lines\n", 100 * executed["all"] / all["all"], all["all"]
		for (file in low) {
			if (!said++)
				print "below 85 %:"
			print low[file] | "sort -n"
		}
	}'
