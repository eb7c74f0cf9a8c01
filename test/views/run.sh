#!/bin/bash
# make views-sound: the experiment on the soundness of unit-local views at length (sound.pl); test/t/045_views_sound.pl
# is its short form.
#
#	TRIALS=200000	comparisons of accepted views
#	SEED=1			another number, another experiment
#	ROUNDS=4		how many schemas near misses are tried in
#	KEEP=1			leaves the work directory, with scripts of violations in tmp/
. "$(dirname "$0")/../lib/common.sh"
enter_sandbox test/views/run.sh "$@"

build
stage
# Statistics are those that the experiment makes.
start_server views "autovacuum = off
	fsync = off
	max_worker_processes = 8"
createdb views
PGDATABASE=views perl test/views/sound.pl --trials "${TRIALS:-200000}" --seed "${SEED:-1}" \
	--near-misses "${ROUNDS:-4}" 2>"$sandbox/log/sound.log" || { tail -n 20 "$sandbox/log/sound.log"; exit 1; }
stop_server views
