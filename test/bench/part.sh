#!/bin/bash
# usage: part.sh PART SECONDS: runs one part of "make bench", which began so many seconds ago
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/alternatives.sh"
. "$(dirname "$0")/measure.sh"
SECONDS=$2
# shellcheck disable=SC1090
. "test/bench/$1.sh"
