#!/bin/bash
# initdb in the private copy of the server: a cluster is made once for each set of arguments, and copied from
# then on, which takes a tenth of the time.  The copies have one system identifier, by which privpred knows a
# cluster that pg_upgrade has moved to another: OWN_IDENTIFIER=yes makes a cluster of its own.
# The program itself stands beside this file, as it finds the server's files by its own place.
real=$(dirname "$(readlink -f "$0")")/initdb.real
data=
others=()
while [ $# -gt 0 ]; do
	case $1 in
		-D | --pgdata) data=${2:-}; shift ;;
		--pgdata=*) data=${1#*=} ;;
		-D*) data=${1#-D} ;;
		*) others+=("$1") ;;
	esac
	shift
done
# Without a directory, or with one that is there, the program says what it thinks of that.
if [ "${OWN_IDENTIFIER:-no}" = yes ] || [ -z "$data" ] || [ -e "$data" ]; then
	exec "$real" ${data:+-D "$data"} "${others[@]}"
fi
key=$(printf '%s\n' "$(id -un)" "${LC_ALL:-}" "${LANG:-}" "${others[@]}" | sha256sum | cut -c 1-16)
template=$real.clusters/$key
if [ ! -e "$template" ]; then
	mkdir -p "$real.clusters"
	new=$(mktemp -d "$template.XXXXXX")
	"$real" -D "$new/data" "${others[@]}" >"$new/said" 2>&1 || { status=$?; cat "$new/said" >&2; rm -rf "$new"; exit "$status"; }
	# Somebody else may have been first.
	mv -T "$new" "$template" 2>/dev/null || rm -rf "$new"
fi
cat "$template/said"
cp -a "$template/data" "$data"
