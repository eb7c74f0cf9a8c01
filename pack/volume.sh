#!/bin/bash
# privpred in a directory of its own, for servers that nobody writes to: PostgreSQL 18 and later
# find it by extension_control_path and dynamic_library_path.  CloudNativePG mounts such a
# directory as an image volume.
#
# usage: pack/volume.sh DIR	(PG_CONFIG=... chooses the server it is for)
#
#	DIR/share/extension		control file and scripts
#	DIR/lib					the modules, and the libraries that a server's image does not have
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: pack/volume.sh DIR" >&2; exit 1; }
mkdir -p "$1/share/extension" "$1/lib"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
pg_config=${PG_CONFIG:-pg_config}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Linked in a copy, because the modules look for libraries beside themselves, and those do as
# well (DT_RPATH, not DT_RUNPATH, which the library of a library does not inherit).
cp -a . "$work/src"
rm -f "$work/src"/*.so "$work/src"/boost/*.so
rpath="-Wl,--disable-new-dtags,-rpath,'\$\$ORIGIN'"
# A server that was built with paths of its own would add them, and make them DT_RUNPATH.
for target in all install; do
	make -s -C "$work/src" with_llvm=no PG_CONFIG="$pg_config" PG_LDFLAGS="$rpath" rpath="$rpath" \
		${XGBOOST:+XGBOOST="$XGBOOST"} DESTDIR="$work/root" "$target" >&2
done

cp "$work/root$("$pg_config" --sharedir)"/extension/* "$out/share/extension/"
cp "$work/root$("$pg_config" --pkglibdir)"/*.so "$out/lib/"

# Of what they need, the C and C++ libraries are the server's own.
for module in "$out"/lib/privpred*.so; do
	ldd "$module" | sed -n 's/^[ \t]*\(lib[^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p'
done | sort -u | while read -r name path; do
	case $name in
	libc.so.*|libm.so.*|libpthread.so.*|libdl.so.*|librt.so.*|libgcc_s.so.*|libstdc++.so.*) ;;
	*) [ -e "$out/lib/$name" ] || cp -L "$path" "$out/lib/$name" ;;
	esac
done
