#!/bin/bash
# Makes a mutant's patch anew, or a new one (test/README.md).
#
# usage: test/audit/refresh.sh NAME		copies the source, with as much of the mistake as applies
#        test/audit/refresh.sh NAME DIR	writes NAME.patch from that copy, and removes it
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/lib/mutants.sh
[ $# -ge 1 ] || { sed -n 's/^# \(usage.*\|       test.*\)/\1/p' "$0"; exit 1; }
name=$1
patch=$mutants/$name.patch

# The first lines of the patch, or those of one to come.
header() {
	if [ -e "$patch" ]; then
		grep '^# ' "$patch"
	else
		printf '# what the mistake is\n# caught-by: sql/NAME\n'
	fi
}

if [ $# -eq 1 ]; then
	copy=$(mktemp -d /tmp/mutant.XXXXXX)
	cp -r src boost install "$copy"
	if [ -e "$patch" ]; then
		patch -d "$copy" -p1 --no-backup-if-mismatch <"$patch" || grep -n '^[-+@]' "$patch"
	fi
	echo "make the mistake in $copy, then run: $0 $name $copy"
	exit 0
fi

copy=$2
header >"$copy/patch.new"
for file in $(cd "$copy" && find . -name '*.[ch]' -o -name '*.sql' | sed 's,^\./,,' | sort); do
	diff -U1 --label "a/$file" --label "b/$file" "$file" "$copy/$file" >>"$copy/patch.new" || true
done
cp "$copy/patch.new" "$patch"
rm -rf "$copy"
cat "$patch"
