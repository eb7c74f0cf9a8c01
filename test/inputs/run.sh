#!/bin/bash
# make inputs: test/check_inputs.sh at length.
#
#	TRIALS=4000		models trained on pairs of tables
#	SEED=1			another choice of tables
. "$(dirname "$0")/../lib/common.sh"
enter_sandbox test/inputs/run.sh "$@"
TRIALS=${TRIALS:-4000} bash test/check_inputs.sh
