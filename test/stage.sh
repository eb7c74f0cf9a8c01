#!/bin/bash
# Copies the server's own files into a private tree and installs privpred
# there, so that tests never write to the system's installation and need no
# root.  PostgreSQL finds its files relative to the running binary.
#
# usage: test/stage.sh DIR   (prints the private bin directory)
set -euo pipefail
stage=$1
pg_config=${PG_CONFIG:-pg_config}
top=$(cd "$(dirname "$0")/.." && pwd)
bindir=$("$pg_config" --bindir)
pkglibdir=$("$pg_config" --pkglibdir)
sharedir=$("$pg_config" --sharedir)
for dir in "$bindir" "$pkglibdir" "$sharedir"; do
	if [ ! -e "$stage$dir" ]; then
		mkdir -p "$stage$dir"
		cp -rL "$dir/." "$stage$dir/"
	fi
done
make -s -C "$top" install DESTDIR="$stage" with_llvm=no >&2
echo "$stage$bindir"
