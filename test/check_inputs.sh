#!/bin/bash
# What goes into draws: no input of a draw differs between neighbouring tables by more than its charge assumes,
# for every mechanism and learner.  Needs a build of its own, with what product builds have none of (src/draw/record.h).
# Prints TAP; "make inputs" runs more trials.
#
#	TRIALS=800	models trained on pairs of tables
#	SEED=1		another choice of tables
. "$(dirname "$0")/lib/tap.sh"
. test/lib/common.sh
PG_CONFIG=$(find_pg_config)
export PG_CONFIG
dir=$(mktemp -d /tmp/privpred.inputs.XXXXXX)
log=$dir/log

stop() {
	[ ! -f "$dir/data/postmaster.pid" ] || pg_ctl -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap stop EXIT

# Files that draw and do not say what goes in; "inputs:" names the file that does.
silent_files() {
	local file by
	grep -lE '\bsample_(uniform|bernoulli|discrete)[a-z_]*\(' src/mechanism/*.c src/mechanism/*/*.c | while read -r file; do
		grep -qE '\bRECORD_INPUT\(|\brecord_open\(' "$file" && continue
		by=$(sed -n 's,.*inputs: \([a-z_/]*\.c\).*,\1,p' "$file")
		{ [ -n "$by" ] && grep -qE '\bRECORD_INPUT\(|\brecord_open\(|\bgradient_record\(' "src/mechanism/$by"; } || echo "$file"
	done
}

# What the preprocessor leaves of it in a product build.
product_has_none() {
	local file
	for file in $(grep -lE 'draw/record.h' src/*/*.c src/*/*/*.c); do
		cc -E -P -std=gnu11 -Isrc -isystem "$("$PG_CONFIG" --includedir-server)" "$file" 2>&1 |
			grep -E '\b(record_(open|put|close|input|key|fixed|coins|coins_at|random|errors|batches|votes|cells|cell|level|end)|gradient_record|RECORD_[A-Z]+)\b|PRIVPRED_RECORD' |
			sed "s,^,$file: ,"
	done
}

# Sources that a build that records compiles otherwise: they name what it defines, or include, by way of whatever header, what does.
recording_files() {
	local seen='' now=PRIVPRED_RECORD
	while [ "$now" != "$seen" ]; do
		seen=$now
		now=PRIVPRED_RECORD$(cd src && grep -rlE --include='*.h' "$seen" . | sort | sed 's,^\./,|#include ",' | tr -d '\n')
	done
	grep -rlE --include='*.c' "$seen" src
}

# What the product's build has made here is taken from it, but for files that record.  Without one, all is compiled.
build() {
	copy_source . "$dir/src" &&
		find src boost \( -name '*.o' -o -name '*.so' \) -print0 | tar -c --null -T - | tar -C "$dir/src" -x &&
		recording_files | sed 's/c$/o/' | (cd "$dir/src" && xargs rm -f) && cd "$dir/src" &&
		make -s -j"$cores" PG_CONFIG="$PG_CONFIG" with_llvm=no RECORD_INPUTS=yes WERROR=-Werror all &&
		RECORD_INPUTS=yes test/stage.sh "$dir/stage"
}

serve() {
	initdb -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync || return 1
	# XGBoost's module, too, unless it was left out: every parallel worker would load it, which costs more than all else
	local boost=
	[ ! -f "$(pg_config --pkglibdir)/privpred_boost.so" ] || boost=", privpred_boost"
	printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$dir'" "shared_preload_libraries = 'privpred$boost'" "fsync = off" \
		"jit = off" "autovacuum = off" "max_worker_processes = 20" >>"$dir/data/postgresql.conf"
	PRIVPRED_RECORD_FILE=$dir/record pg_ctl -D "$dir/data" -l "$dir/server.log" -w start
}

ok "every file that draws says what goes in, or who does" says_nothing silent_files
ok "product builds have nothing of it" says_nothing product_has_none
if build >"$log" 2>&1; then
	PATH=$dir/stage$("$PG_CONFIG" --bindir):$PATH
	ok "a build that records" true
	ok "a server" bash -c "$(declare -f serve); dir=$dir; serve >'$log.server' 2>&1 || { cat '$log.server'; false; }"
	PGHOST=$dir PGUSER=postgres perl test/inputs/inputs.pl "$dir/record" "${TRIALS:-800}" "${SEED:-1}" "$tap_count" || tap_failed=1
	[ "$tap_failed" -eq 0 ] || grep -E 'PANIC|TRAP|terminated by signal' "$dir/server.log" | sed 's/^/# /' || true
	[ "$tap_failed" -eq 0 ]
else
	ok "a build that records" bash -c "tail -n 40 '$log'; false"
	done_testing
fi
