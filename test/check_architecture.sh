#!/bin/bash
# docs/architecture.md names files and functions that exist, and its walks never go up a floor.
# Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

page=docs/architecture.md

# From the top, as in test/check_floors.sh.
floors=$(sed -n 's/^floors=(\(.*\))$/\1/p' test/check_floors.sh)

named_files() {
	sed 's,https\?://[^ )]*,,g' "$page" CONTRIBUTING.md |
		grep -oE '\b(src|install|boost|test|docs)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' | grep -v NAME | sort -u
}

missing_files() {
	local file
	for file in $(named_files); do
		[ -e "$file" ] || echo "$file does not exist"
	done
}

# "`file` `function()`, `function()`": pairs of file and function.
named_functions() {
	perl -ne 'while (/`(src\/[\w\/.]+\.[ch])`((?:,? `\w+\(\)`)+)/g)
		{ my ($file, $list) = ($1, $2); print "$file $_\n" foreach $list =~ /`(\w+)\(\)`/g; }' "$page" | grep -v NAME | sort -u
}

missing_functions() {
	local file function
	named_functions | while read -r file function; do
		[ ! -e "$file" ] || grep -qE "^([A-Z_]+\\()?$function[(,]" "$file" || echo "$file does not define $function()"
	done
}

# "`caller` ... → `callee`": never to a floor above.
upward_steps() {
	FLOORS=$floors perl -ne '
		BEGIN { my $height = 0; $height{$_} = --$height foreach split / /, $ENV{FLOORS} }
		sub floor_of { my ($file) = @_; return $file =~ m{^src/(\w+)/} ? $1 : "." }
		next unless /^[0-9]+\. `(src\/[\w\/.]+)`[^→]*→ `(src\/[\w\/.]+)`/;
		print "$1 → $2\n" if $height{ floor_of($2) } > $height{ floor_of($1) };' "$page"
}

steps() { grep -cE '^[0-9]+\. .*→' "$page"; }

ok "every file that is named exists" says_nothing missing_files
ok "every function that is named is defined in its file" says_nothing missing_functions
ok "there are two walks" test "$(steps)" -ge 16
ok "no step of a walk goes up" says_nothing upward_steps
done_testing
