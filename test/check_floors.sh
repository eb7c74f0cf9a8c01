#!/bin/bash
# src/ is a house: a file includes its own floor and those below it, never one
# above (docs/architecture.md).  Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

# From the top.  src/ itself is start-up, which calls every floor.
floors=(. entry request ledger catalog mechanism learner account draw server)

# What unit tests drive alone may use the C library and postgres.h, not the server.
alone='^src/(draw/|account/)'
harmless='^(datatype/.*|postgres\.h|postgres_fe\.h|c\.h|port/.*|common/.*|fmgr\.h|miscadmin\.h)$'

included() { sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$1"; }

floor_of() {	# of a path below src/
	case $1 in */*) echo "${1%%/*}" ;; *) echo . ;; esac
}

height_of() {	# of a floor; nothing if there is none of that name
	local i
	for ((i = 0; i < ${#floors[@]}; i++)); do
		[ "${floors[i]}" != "$1" ] || echo $((${#floors[@]} - i))
	done
}

# Prints the upward includes of one file.
upward() {
	local file=$1 from header path
	from=$(height_of "$(floor_of "${file#src/}")")
	for header in $(included "$file"); do
		# The server has headers of the same style: ours are those that exist.
		if [ -e "src/$header" ]; then
			path=$header
		else
			[[ ! $file =~ $alone || $header =~ $harmless ]] ||
				echo "$file includes $header, but must work without a server"
			continue
		fi
		[ "$(height_of "$(floor_of "$path")")" -le "$from" ] ||
			echo "$file includes $path, which is above it"
	done
}

for folder in src/*/; do
	name=$(basename "$folder")
	if [ -z "$(height_of "$name")" ]; then
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

# Prints the files of src/ that match a pattern, but for those named after it.
others_with() {
	local pattern=$1
	shift
	grep -rlE --include='*.[ch]' "$pattern" src | grep -vxF "$(printf 'src/%s\n' "$@")" || true
}

receipts() {
	# Made by the ledger after a debit, and by the audit for made-up rows.
	others_with '#include "draw/receipt_maker\.h' draw/receipt.c ledger/{lease,stream}.c request/audit_receipt.c
	others_with '\bstruct Receipt\b' draw/receipt.h draw/receipt_maker.h
	# Owners ask without an account; audits ask without anybody's rows.
	others_with 'ledger_owner_receipt' ledger/lease.c ledger/ledger.h request/{predict,distill}.c
	others_with 'audit_receipt_create' request/audit_{receipt,rows}.c request/audit.h
	others_with 'made_up_rows *=[^=]' request/audit_rows.c
}
ok "the ledger and the audit make receipts, and nobody else" says_nothing receipts

draws() {
	others_with '(->|\.)(answer|score)\)? *\(' mechanism/answer.c
}
ok "every draw goes through mechanism_answer() or mechanism_score()" says_nothing draws
done_testing
