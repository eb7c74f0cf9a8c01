#!/bin/bash
# make demo: every step does what it says, with the library that was just built.  Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

# A sandbox of its own within ours; the demo removes it.
work=$(mktemp -d)
mkdir "$work/log"
demo() { env -u KEEP PRIVPRED_SANDBOX="$work" bash test/demo/run.sh >"$work.out" 2>&1 || { tail -n 60 "$work.out"; return 1; }; }
ok "every step" demo
checked() { grep -qE 'All [0-9]+ steps' "$work.out"; }
ok "to the end" checked
rm -f "$work.out"
done_testing
