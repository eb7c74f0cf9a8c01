#!/bin/bash
# How the C is written: one formatter, short lines, short functions, short files.  Prints TAP.
# "make check-style" runs it alone.
. "$(dirname "$0")/lib/tap.sh"

columns=100
function_lines=70
median_lines=12
file_lines=450
formatter=14

ours() { find src boost test -name '*.[ch]' | sort; }

# clang-format of the version that wrote what is there: others differ in details.
find_formatter() {
	local name
	for name in "clang-format-$formatter" clang-format; do
		if "$name" --version 2>/dev/null | grep -q " version $formatter\."; then
			echo "$name"
			return
		fi
	done
	return 1
}

unformatted() { ours | xargs "$(find_formatter)" --dry-run 2>&1 | sed -n 's/: warning: code should.*/: not as clang-format writes it/p'; }

long_lines() {
	local file
	for file in $(ours); do
		expand -t 4 "$file" | awk -v file="$file" -v most=$columns \
			'length($0) > most { print file ":" FNR ": " length($0) " columns" }'
	done
}

stray_blanks() { ours | xargs grep -nE '[[:blank:]]$|^ +[^ *]' /dev/null | grep -vE '^[^:]*:[0-9]+: \*' || true; }

# functions FILE...: lines between the braces, them included, and where they begin.
functions() {
	awk 'FNR == 1 { inside = 0 }
		/^\{/ && before ~ /\)$/ { begin = FNR; inside = 1 }
		/^\}/ && inside { print FNR - begin + 1, FILENAME ":" begin; inside = 0 }
		{ before = $0 }' "$@"
}

long_functions() {
	# shellcheck disable=SC2046
	functions $(ours) | awk -v most=$function_lines '$1 > most { print $2 ": a function of " $1 " lines" }'
}

median_function() {
	# shellcheck disable=SC2046
	functions $(find src -name '*.c') | sort -n | awk -v most=$median_lines '
		{ lines[NR] = $1 }
		END {
			median = lines[int((NR + 1) / 2)]
			if (NR < 100 || median > most)
				print "the median of " NR " functions has " median " lines"
		}'
}

long_files() {
	find src -name '*.[ch]' -exec wc -l {} + |
		awk -v most=$file_lines '$2 != "total" && $1 >= most { print $2 ": " $1 " lines" }'
}

if find_formatter >/dev/null; then
	ok "C is as clang-format $formatter writes it" says_nothing unformatted
else
	echo "# there is no clang-format $formatter, so the format itself is not checked"
fi
ok "lines have at most $columns columns" says_nothing long_lines
ok "no blanks end a line, and tabs indent it" says_nothing stray_blanks
ok "no function has more than $function_lines lines" says_nothing long_functions
ok "the median function has at most $median_lines lines" says_nothing median_function
ok "files of src/ have fewer than $file_lines lines" says_nothing long_files
done_testing
