#!/bin/bash
# Copies the server's own files into a private tree and installs privpred
# there, so that tests never write to the system's installation and need no
# root.  PostgreSQL finds its files relative to the running binary.
#
# usage: test/stage.sh DIR   (prints the private bin directory last)
. "$(dirname "$0")/lib/common.sh"
[ $# -eq 1 ] || die "usage: test/stage.sh DIR"
stage=$1
pg_config=$(find_pg_config) || die "no PostgreSQL server with its development files; run test/packages.sh"
for dir in $("$pg_config" --bindir) $("$pg_config" --pkglibdir) $("$pg_config" --sharedir); do
	if [ ! -e "$stage$dir" ]; then
		mkdir -p "$stage$dir"
		tar -C "$dir" -ch --exclude=./bitcode --exclude=./pgxs . | tar -C "$stage$dir" -x --no-same-owner
	fi
done
make -s -C "$privpred_top" install PG_CONFIG="$pg_config" DESTDIR="$stage" with_llvm=no >&2
echo "$stage$("$pg_config" --bindir)"
