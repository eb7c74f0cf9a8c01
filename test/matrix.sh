#!/bin/bash
# make matrix: make test against every PostgreSQL from 14 to 18 that is there, one after the other.
#
#	PG_CONFIGS="a b"	these, instead of the complete ones of /usr/lib/postgresql
#	TESTS="..."			as for make test
. "$(dirname "$0")/lib/common.sh"

if [ -z "${PG_CONFIGS:-}" ]; then
	for major in 14 15 16 17 18; do
		candidate=/usr/lib/postgresql/$major/bin/pg_config
		! pg_config_is_complete "$candidate" || PG_CONFIGS+=" $candidate"
	done
fi
[ -n "${PG_CONFIGS:-}" ] || die "no PostgreSQL with its development files; name some in PG_CONFIGS"

# For pg_upgrade from one to the other (test/t/048_pg_upgrade.pl).
export OTHER_SERVERS=$PG_CONFIGS

# row OUTPUT: a line of the table, from what make test said.
row() {
	local counts warnings=none
	grep -qx 'no warnings' "$1" || warnings='the build failed'
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 | \2/p' "$1" | tail -n 1)
	printf '| %s | %s | %s | %s |\n' "$version" "$warnings" "${counts:-did not end | }" \
		"$(sed -n 's/^left out: //p' "$1" | sort | paste -s -d ';' | sed 's/;/; /g')"
}

results=()
status=0
for pg_config in $PG_CONFIGS; do
	version=$("$pg_config" --version | sed 's/^PostgreSQL //')
	out=$(mktemp)
	PG_CONFIG=$pg_config "$privpred_top/test/run.sh" 2>&1 | tee "$out" || status=1
	results+=("$(row "$out")")
	rm -f "$out"
done
printf '\n| server | warnings | passed | failed | left out |\n|---|---|---|---|---|\n'
printf '%s\n' "${results[@]}"
exit $status
