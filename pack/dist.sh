#!/bin/bash
# make dist: a distribution for PGXN, privpred-VERSION.zip.
#
# usage: pack/dist.sh [DIR]	(the current directory by default; prints the file's name)
#
# What is committed, or without git what is there and was not built, and the install script,
# which is joined from its parts.
set -euo pipefail
out=$(cd "${1:-.}" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)
name=privpred-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"

if [ -e .git ]; then
	git archive HEAD | tar -x -C "$work/$name"
else
	tar -c --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude=./results --exclude=./output_iso \
		--exclude=./tmp_check --exclude=./test/unit/bin --exclude='regression.*' --exclude='./privpred-*.zip' . |
		tar -x -C "$work/$name"
fi
"$work/$name/install/join.sh" >"$work/$name/privpred--$version.sql"
perl pack/meta.pl "$work/$name"

rm -f "$out/$name.zip"
(cd "$work" && python3 -m zipfile -c "$out/$name.zip" "$name")
echo "$out/$name.zip"
