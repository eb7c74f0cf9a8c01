#!/bin/bash
# Runs tests against a product that is right, but slow in one place: a test that fails then
# has passed by luck.  A perturbation is a patch; its first line says what it does.
#
# usage: test/perturb.sh NAME [TEST...]		all SQL files, specs and TAP files, or these
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:?"usage: test/perturb.sh NAME [TEST...]"}
shift
copy=$(mktemp -d /tmp/perturbed.XXXXXX)
trap 'rm -rf "$copy"' EXIT
tar -c --exclude=./.git --exclude='*.o' --exclude='*.so' . | tar -x -C "$copy"
patch -d "$copy" -p1 --fuzz=0 <"test/perturbations/$name.patch"
if [ $# -eq 0 ]; then
	mapfile -t tests < <(basename -a -s .sql sql/*.sql; basename -a -s .spec test/specs/*.spec; basename -a -s .pl test/t/*.pl)
	set -- "${tests[@]}"
fi
make -C "$copy" test TESTS="$*"
