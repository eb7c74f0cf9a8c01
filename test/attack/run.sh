#!/bin/bash
# make attack: who was in the training data?  A membership inference attack on models that are not
# private and on models that are; docs/attack.md explains it.  Fails if the former do not leak, or one of
# the latter shows more than it was charged for.
#
#	DATA=DIR		people of Adult (adult_train.csv.gz in DIR: header row, id first, label last)
#	SHADOW=N		trainings to learn from (60)
#	EACH=N			trainings with a target in, and as many with it out (150)
#	SAVE=1			writes the picture and the table of docs/attack.md
#	XGBOOST=no		a deep tree in place of XGBoost's
. "$(dirname "$0")/../lib/common.sh"

# enter_sandbox never comes back, and what it leaves is swept away.
if [ -z "${ATTACK_RESULTS:-}" ]; then
	ATTACK_RESULTS=$(mktemp -d /tmp/privpred-attack.XXXXXX)
	export ATTACK_RESULTS
	trap 'rm -rf "$ATTACK_RESULTS"' EXIT
	[ "$(id -u)" -ne 0 ] || chown "$(test_user)" "$ATTACK_RESULTS"
	status=0
	bash "$0" "$@" || status=$?
	if [ "${SAVE:-0}" = 1 ] && [ -f "$ATTACK_RESULTS/table.md" ]; then
		cat "$ATTACK_RESULTS/attack.svg" >"$privpred_top/docs/attack.svg"
		perl -0pi -e 'BEGIN { local $/; open my $f, "<", "$ENV{ATTACK_RESULTS}/table.md" or die; $t = <$f> }
			s/(<!-- table -->\n).*?(<!-- end -->)/$1$t$2/s' "$privpred_top/docs/attack.md"
		note "written: docs/attack.md, docs/attack.svg"
	fi
	exit "$status"
fi

enter_sandbox test/attack/run.sh "$@"
build
stage
start_server attack "fsync = off
	shared_buffers = 128MB
	privpred.repeat_memory = 0"
status=0
perl -I test/lib -I test/bench test/attack/attack.pl "$ATTACK_RESULTS" || status=$?
stop_server attack
exit "$status"
