#!/bin/bash
# src/ is a house: a file includes, calls and reads what is on its own floor and on those below
# it, never on one above (docs/architecture.md).  Prints TAP.
#
# Three things are looked at: #include lines; undefined symbols of the objects, once they are
# built; and names of our tables, each of which belongs to one floor.
. "$(dirname "$0")/lib/tap.sh"

# From the top.  src/ itself is start-up, which calls every floor.
floors=(. entry request ledger catalog mechanism learner account draw server)

# What unit tests drive alone may use the C library and postgres.h, not the server.
alone='^src/(draw/|account/)'
harmless='^(datatype/.*|postgres\.h|postgres_fe\.h|c\.h|port/.*|common/.*|fmgr\.h|miscadmin\.h)$'

included() { sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$1"; }

declare -A height=()
for ((i = 0; i < ${#floors[@]}; i++)); do
	height[${floors[i]}]=$((${#floors[@]} - i))
done

# height_of PATH: sets "at" to that of a path below src/.  (Not a command substitution: there are
# thousands of calls.)
height_of() {
	case $1 in */*) at=${height[${1%%/*}]} ;; *) at=${height[.]} ;; esac
}

# Prints the upward includes of one file.
upward() {
	local file=$1 from header at
	height_of "${file#src/}"
	from=$at
	for header in $(included "$file"); do
		# The server has headers of the same style: ours are those that exist.
		if [ ! -e "src/$header" ]; then
			[[ ! $file =~ $alone || $header =~ $harmless ]] ||
				echo "$file includes $header, but must work without a server"
			continue
		fi
		height_of "$header"
		[ "$at" -le "$from" ] || echo "$file includes $header, which is above it"
	done
}

for folder in src/*/; do
	name=$(basename "$folder")
	if [ -z "${height[$name]-}" ]; then
		ok "$folder is a floor" false
		continue
	fi
	check_folder() {
		local file
		for file in $(find "$folder" -name '*.[ch]' | sort); do
			upward "$file"
		done
	}
	ok "$folder includes nothing from above" says_nothing check_folder
done

# Objects of sources that are there, and not newer.
objects() {
	local source
	find src -name '*.c' | sort | while read -r source; do
		[ ! "${source%.c}.o" -nt "$source" ] || echo "${source%.c}.o"
	done
}

# Prints what objects need of floors above: functions and data.
upward_symbols() {
	{
		objects | xargs nm -A --defined-only --extern-only | sed -n 's/^\([^:]*\):.* /has \1 /p'
		objects | xargs nm -A --undefined-only | sed -n 's/^\([^:]*\):.* /needs \1 /p'
	} | awk -v floors="${floors[*]}" '
		BEGIN { n = split(floors, name, " "); for (i = 1; i <= n; i++) height[name[i]] = n - i }
		function floor_of(object, part) { return split(object, part, "/") > 2 ? part[2] : "." }
		$1 == "has" { owner[$3] = $2 }
		$1 == "needs" && $3 in owner && height[floor_of(owner[$3])] > height[floor_of($2)] {
			print $2 " needs " $3 " of " owner[$3] ", which is above it"
		}'
}
if [ "$(objects | wc -l)" -eq "$(find src -name '*.c' | wc -l)" ]; then
	ok "no object needs a symbol from above" says_nothing upward_symbols
else
	echo "# not everything is built, so symbols are not checked"
fi

# A table belongs to the floor after which its part of the install script is named.
tables_of() { sed -n 's/^CREATE TABLE privpred\.\([a-z_]*\).*/\1/p' "$@" | paste -s -d '|'; }

# named_elsewhere FLOOR PART...: code, not comments, of other floors that names the floor's tables.
named_elsewhere() {
	local floor=$1
	shift
	# shellcheck disable=SC2016
	find src -name '*.[ch]' ! -path "src/$floor/*" | sort | TABLES=$(tables_of "$@") xargs perl -0777 -ne '
		s{(/\*.*?\*/)}{ (my $blank = $1) =~ s/[^\n]//g; $blank }gse;
		while (/(?:\bprivpred\.|get_relname_relid\(")($ENV{TABLES})\b/g)
		{
			my $line = 1 + (substr($_, 0, $-[0]) =~ tr/\n//);
			print "$ARGV:$line names the table $1\n";
		}'
}
ok "tables are found at all" test "$(tables_of install/*.sql | tr '|' '\n' | wc -l)" -ge 10
ok "only catalog/ and ledger/ have tables" test "$(tables_of install/*.sql)" = "$(tables_of install/{catalog,ledger,streams}.sql)"
ok "only src/catalog/ names the catalog's tables" says_nothing named_elsewhere catalog install/catalog.sql
ok "only src/ledger/ names the ledger's tables" says_nothing named_elsewhere ledger install/{ledger,streams}.sql

# Prints the files of src/ that match a pattern, but for those named after it.
others_with() {
	local pattern=$1
	shift
	grep -rlE --include='*.[ch]' "$pattern" src | grep -vxF "$(printf 'src/%s\n' "$@")" || true
}

receipts() {
	# Made by the ledger after a debit, and by the audit for made-up rows.
	others_with '#include "draw/receipt_maker\.h' draw/receipt.c ledger/{lease,release,stream}.c request/audit_receipt.c
	others_with '\bstruct Receipt\b' draw/receipt.h draw/receipt_maker.h
	# Owners ask without an account; audits ask without anybody's rows.
	others_with 'ledger_owner_receipt' ledger/lease.c ledger/ledger.h request/{predict,distill}.c
	others_with 'audit_receipt_create' request/audit_{receipt,rows}.c request/audit.h
	others_with 'made_up_rows *=[^=]' request/audit_rows.c
}
ok "the ledger and the audit make receipts, and nobody else" says_nothing receipts

draws() {
	others_with '(->|\.)(answer|score)\)? *\(' mechanism/answer.c
	others_with '\baccuracy_draw\(' mechanism/answer.c mechanism/accuracy/{accuracy.h,draw.c}
	others_with '\bdescribe_draw\(' mechanism/answer.c mechanism/describe/{describe.h,draw.c}
}
ok "every draw goes through mechanism_answer() or mechanism_score()" says_nothing draws
done_testing
