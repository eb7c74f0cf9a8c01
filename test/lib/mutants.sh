# shellcheck shell=bash
# Mutants: known mistakes, each a patch of the source (docs/audit.md).  Source it from the top of
# the tree.  A patch begins with
#
#	# what the mistake is, in one line, as in the table of test/audit/mutants/README.md
#	# caught-by rows: a; b		rows of conformance.txt, in their short form
#	# caught-by audit: a; b		models of audit/audit.pl whose privpred.audit() says "violated"
#	# caught-by: sql/streams	tests: sql/NAME, specs/NAME, t/NAME, unit/NAME, check_NAME
#	# caught-by model: a		the same mistake in the model of the ledger (test/model), found by "make model"
mutants=test/audit/mutants

list_mutants() { basename -s .patch -a "$mutants"/*.patch; }

mutant_says() { sed -n '1s/^# //p' "$mutants/$1.patch"; }

# mutant_field NAME [rows|audit]: what catches it; nothing if nothing of that kind does.
mutant_field() { sed -n "s/^# caught-by${2:+ $2}: *//p" "$mutants/$1.patch"; }

# patch_mutant NAME [OPTION...]: the context must match; the place in the file need not.
patch_mutant() { patch -p1 --fuzz=0 --no-backup-if-mismatch "${@:2}" <"$mutants/$1.patch"; }
