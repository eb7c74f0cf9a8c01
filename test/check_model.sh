#!/bin/bash
# The model of the ledger's protocol: its names are those of the source, and every order of
# events keeps what docs/model.md promises.  Prints TAP.  "make model" searches further.
. "$(dirname "$0")/lib/tap.sh"

# enumerators FILE TYPE
enumerators() { sed -n "/^typedef enum $2\$/,/^}/s/^[[:blank:]]*\([A-Z][A-Z_]*\).*/\1/p" "$1"; }

# agrees TYPE FILE: the same, in the same order, and found at all
agrees() {
	[ "$(enumerators "$2" "$1" | wc -l)" -ge 3 ] && diff <(enumerators "$2" "$1") <(enumerators test/model/model.h "$1")
}

# Outcomes that sessions do not tell apart are one in the model.
unknown_outcomes() {
	enumerators test/model/model.h Outcome | grep -vx OUTCOME_REFUSED |
		grep -vxF "$(enumerators src/ledger/shared.h LedgerOutcome)" || true
}

# "file.c name(), name()" in comments of the steps, as "file name"
named() {
	tr '\n\t' '  ' <test/model/protocol.c | grep -oE '/\*[^/]*\*/' | sed 's/ \* / /g' |
		grep -oE '[a-z_]+\.[ch] [a-z_]+\(\)(,? (and )?[a-z_]+\(\))*' |
		while read -r file names; do
			for name in $names; do
				echo "$file ${name%%(*}"
			done
		done | sort -u
}

missing() {
	local file name
	named | while read -r file name; do
		grep -qE "(^|[ *])$name\(" $(find src/ledger -name "$file") /dev/null || echo "$file has no $name()"
	done
}

# What is not in the model says why.
unexplained() {
	local kind
	for kind in $(enumerators test/model/model.h RequestKind); do
		grep -q "$kind" test/model/protocol.c || grep -qE "$kind,? +/\* not modelled: |$kind,?[[:blank:]]+/\* not modelled: " test/model/model.h ||
			echo "$kind is neither modelled nor left out"
	done
}

build() { ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -o "$program" test/model/protocol.c test/model/explore.c; }

program=$(mktemp)
trap 'rm -f "$program"' EXIT
ok "SlotState agrees with the source" agrees SlotState src/ledger/shared.h
ok "RequestKind agrees with the source" agrees RequestKind src/ledger/shared.h
ok "BoardState agrees with the source" agrees BoardState src/ledger/stream.h
ok "outcomes are in the source" says_nothing unknown_outcomes
ok "every kind of request is modelled, or it is said why not" says_nothing unexplained
ok "steps name at least thirty functions of src/ledger" test "$(named | wc -l)" -ge 30
ok "and all of them exist" says_nothing missing
ok "the model compiles" build
done_testing
"$program" "${@:-short}"
