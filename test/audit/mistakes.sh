#!/bin/bash
# Prints test/audit/mistakes.md: mistakes, and what catches each, as the mutants' patches say.
# After adding a mutant: test/audit/mistakes.sh >test/audit/mistakes.md
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/lib/mutants.sh

# rows NAME...: a line of the table for each
rows() {
	perl -e '
		my @columns = (qr{^t/[0-9]*_attack$}, qr{^t/[0-9]*_blind$}, qr{inputs}, qr{^t/(013_ledger_crashes|029_stream_crash)$});
		for my $name (@ARGV)
		{
			open my $patch, "<", "test/audit/mutants/$name.patch" or die "$name: $!";
			my (%said, @found);
			while (<$patch>) { push @{ $said{$1} }, $2 if /^# caught-by *(\w*): *(.*)/ }
			for my $test (map { split } @{ $said{""} })
			{
				my ($column) = grep { $test =~ $columns[$_] } 0 .. $#columns;
				push @{ $found[$column // @columns] }, "`$test`";
			}
			unshift @{ $found[1] }, "`privpred.audit`" if $said{audit};
			unshift @{ $found[4] }, "conformance" if $said{rows};
			$found[5] = [map { "`$_`" } @{ $said{model} }];
			print "| ", join(" | ", "`$name`", map { join ", ", @{ $found[$_] // [] } } 0, 1, 2, 5, 4, 3), " |\n";
		}' "$@"
}

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
rows erm_half_sensitivity gaussian_sensitivity_one gradient_clip_sensitivity vote_without_half teachers_by_position \
	receipt_reused debit_after_draw lease_returned_twice threshold_kept ledger_not_flushed
cat <<'TEXT'

The first four halve a sensitivity; `teachers_by_position` splits a unit over several teachers.

## All

TEXT
heading
# shellcheck disable=SC2046
rows $(list_mutants)
