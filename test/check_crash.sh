#!/bin/bash
# Named points of faults (src/server/fault.h): the driver of crashes knows them all, and the product has
# none.  Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

in_source() { grep -rhoE 'FAULT_POINT\("[a-z_]+"\)' src | sed 's/.*"\(.*\)".*/\1/' | sort; }

in_driver() { sed -n '/^my %points = (/,/);/s/^\t\([a-z_]*\) => .*/\1/p' test/lib/CrashTest.pm | sort; }

# The macro without its flag is nothing: no name is left.
left_in_object() {
	local object file
	for file in $(grep -rl 'FAULT_POINT(' src --include='*.c'); do
		object=${file%.c}.o
		[ -e "$object" ] || { echo "$object is not built"; continue; }
		! grep -qE "$(in_source | paste -sd'|')" "$object" || echo "$object has named points"
	done
}

# Only files of the ledger, where a debit is.
elsewhere() { grep -rl 'FAULT_POINT(' src --include='*.c' | grep -v '^src/ledger/' || true; }

ok "points are found" test "$(in_source | wc -l)" -ge 8
ok "each stands in one place" says_nothing eval 'in_source | uniq -d'
ok "the driver knows those of the source, and no others" diff <(in_source) <(in_driver)
ok "they are in the ledger alone" says_nothing elsewhere
if [ "${FAULTS:-no}" = no ]; then
	ok "the product has none" says_nothing left_in_object
fi
done_testing
