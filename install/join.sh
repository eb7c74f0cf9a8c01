#!/bin/bash
# Prints the install script, privpred--VERSION.sql: the parts of this directory, in this order.
# "make" calls it; the checks in test/ read what it prints.
set -euo pipefail
cd "$(dirname "$0")"

parts=(
	begin			# the schema
	types			# the predictor type
	learners		# an aggregate for each
	ensemble		# teachers, and many predictors in one
	states			# training on several nodes
	unit_sums		# passes of training over units
	catalog			# protected tables and models
	ledger			# accounts, entries, budgets
	streams
	planning		# what a budget buys, and which mechanism to take
	owner			# functions for owners of tables
	forget			# forgetting a unit, and certificates
	analyst			# private_predict, private_score, check
	explain			# released models, and predictors, in words
	events			# what is dropped is forgotten
	monitor			# progress, counts, the build
	report			# report()
	plot			# plot()
	privileges		# everything is closed, then opened by name
)

version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" ../privpred.control)
[ "$(printf '%s.sql\n' "${parts[@]}" | sort)" = "$(ls ./*.sql | sed 's,^\./,,' | sort)" ] ||
	{ echo "install/join.sh does not name the files of install/ once each" >&2; exit 1; }
printf '/* privpred--%s.sql, made by install/join.sh */\n' "$version"
for part in "${parts[@]}"; do
	echo
	cat "$part.sql"
done
