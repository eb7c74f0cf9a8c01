#!/bin/bash
# Every mutant applies to the source, names tests that exist, and is explained.  Prints TAP.
# test/README.md says how to refresh a patch.
. "$(dirname "$0")/lib/tap.sh"
. test/lib/mutants.sh

stale() {
	local name
	for name in $(list_mutants); do
		patch_mutant "$name" --dry-run --silent || echo "$mutants/$name.patch does not apply"
	done
}

stale_perturbations() {
	local file
	for file in test/perturbations/*.patch; do
		patch -p1 --fuzz=0 --dry-run --silent <"$file" || echo "$file does not apply"
	done
}

# Names of tests that are not there, and mutants that nothing is said to catch.
uncaught() {
	local name what
	for name in $(list_mutants); do
		[ -n "$(mutant_field "$name" rows)$(mutant_field "$name" audit)$(mutant_field "$name")" ] ||
			echo "$name: nothing catches it"
		for what in $(mutant_field "$name"); do
			[ -e "$what.sql" ] || [ -e "test/$what.spec" ] || [ -e "test/$what.pl" ] || [ -e "test/$what.sh" ] ||
				[ -e "test/unit/test_${what#unit/}.c" ] || echo "$name: there is no test $what"
		done
	done
}

# The table has every mutant, in its own words.
explained() {
	diff <(for name in $(list_mutants); do printf '%s | %s\n' "$name" "$(mutant_says "$name")"; done) \
		<(sed -n 's/^| `\([a-z0-9]*_[a-z0-9_]*\)` | \(.*\)/\1 | \2/p' test/audit/mutants/README.md | awk -F ' [|] ' '{ print $1 " | " $2 }' | sort)
}

# What a mutant calls a mistake of the model is one.
not_in_model() {
	local name what
	for name in $(list_mutants); do
		for what in $(mutant_field "$name" model); do
			grep -q "\"$what\"" test/model/explore.c || echo "$name: the model has no mistake $what"
		done
	done
}

# Deliberate mistakes stay out of the product.
in_product() { grep -rnwi 'mutant' src boost || true; }

ok "mutants are found at all" test "$(list_mutants | wc -l)" -ge 42
ok "every mutant applies" says_nothing stale
ok "every perturbation applies" says_nothing stale_perturbations
ok "every mutant names tests that exist" says_nothing uncaught
ok "test/audit/mutants/README.md has every mutant, in its own words" says_nothing explained
ok "mistakes of the model exist" says_nothing not_in_model
ok "test/audit/mistakes.md is what test/audit/mistakes.sh prints" diff <(test/audit/mistakes.sh) test/audit/mistakes.md
ok "no mutant is in the source" says_nothing in_product
done_testing
