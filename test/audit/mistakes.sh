#!/bin/bash
# Prints test/audit/mistakes.md: mistakes, and what catches each, as the mutants' patches say.
# After adding a mutant: test/audit/mistakes.sh >test/audit/mistakes.md
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/lib/mutants.sh

# of NAME PATTERN: the tests of a mutant that match
of() { { mutant_field "$1"; } | tr ' ' '\n' | grep -E "$2" | sed 's/.*/`&`/' | paste -sd, | sed 's/,/, /g' || true; }

attack='^t/[0-9]*_attack$'
blind='^t/[0-9]*_blind$'
inputs='inputs'
crash='^t/(013_ledger_crashes|029_stream_crash)$'

row() {
	local name=$1 audit rows model tests
	rows=$([ -z "$(mutant_field "$name" rows)" ] || echo conformance)
	audit=$([ -z "$(mutant_field "$name" audit)" ] || echo '`privpred.audit`')
	model=$(mutant_field "$name" model | sed 's/.\+/`&`/')
	tests=$(mutant_field "$name" | tr ' ' '\n' | grep -vE "$attack|$blind|$inputs|$crash|^\$" | sed 's/.*/`&`/' | paste -sd, | sed 's/,/, /g' || true)
	printf '| `%s` | %s | %s | %s | %s | %s | %s |\n' "$name" "$(of "$name" "$attack")" "$(join_with "$audit" "$(of "$name" "$blind")")" \
		"$(of "$name" "$inputs")" "$model" "$(join_with "$rows" "$tests")" "$(of "$name" "$crash")"
}

join_with() { printf '%s%s%s' "$1" "${1:+${2:+, }}" "$2"; }

heading() {
	printf '| mistake | attack | audits: `privpred.audit`, blind | inputs to the noise | model of the ledger | conformance, unit, SQL and other tests | crashes |\n'
	printf '|---|---|---|---|---|---|---|\n'
}

cat <<'TEXT'
# Mistakes, and what catches them

Made by `test/audit/mistakes.sh` from the [mutants](mutants/README.md), each of which names what catches it; `make audit MUTANTS=all` builds every one and fails unless
all that is named finds it. The model of the ledger is not built from the source: the column names the same mistake made in the model, which `make model` must find.

## Those that issue 22 asks for

TEXT
heading
for name in erm_half_sensitivity gaussian_sensitivity_one gradient_clip_sensitivity vote_without_half teachers_by_position \
	receipt_reused debit_after_draw lease_returned_twice threshold_kept ledger_not_flushed; do
	row "$name"
done
cat <<'TEXT'

The first four halve a sensitivity; `teachers_by_position` splits a unit over several teachers.

## All

TEXT
heading
for name in $(list_mutants); do
	row "$name"
done
