# shellcheck shell=bash
# What make fuzz and test/check_fuzz.sh share.  Run from the top of the source, with the server's programs
# on PATH and its pg_config in PG_CONFIG; everything is written to $fuzz_dir.
fuzz_targets="charge features model options predictor question state"

# The compiler whose libFuzzer works, if there is one.
fuzz_clang() {
	local clang
	for clang in clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
		if echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' |
			"$clang" -x c -fsanitize=fuzzer,address -o /dev/null - >/dev/null 2>&1; then
			echo "$clang"
			return
		fi
	done
	return 1
}

fuzz_build() {
	fuzz_dir=$1
	mkdir -p "$fuzz_dir"
	if fuzz_with=$(fuzz_clang); then
		make -s -j"$(nproc)" -f test/fuzz/Makefile OUT="$fuzz_dir" CLANG="$fuzz_with" PG_CONFIG="$PG_CONFIG" || return 1
		fuzz_preload=$("$fuzz_with" -print-file-name="libclang_rt.asan-$(uname -m).so")
		[ -f "$fuzz_preload" ] || fuzz_preload=$("$fuzz_with" -print-file-name=libclang_rt.asan.so)
	else
		fuzz_with=gcc
		make -s -j"$(nproc)" -f test/fuzz/Makefile OUT="$fuzz_dir" FUZZER=no PG_CONFIG="$PG_CONFIG" || return 1
		fuzz_preload=$(gcc -print-file-name=libasan.so)
	fi
	gcc -shared -fPIC -Wl,-z,initfirst -o "$fuzz_dir/early.so" test/fuzz/early.c
	# words of the source: names of options, learners and keys
	grep -ohE '"[a-z_]{2,20}"' src/catalog/*.c src/learner/*.[ch] src/mechanism/*.c src/mechanism/*/*.c src/account/*.c |
		sort -u >"$fuzz_dir/words"
	initdb -D "$fuzz_dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$fuzz_dir/initdb.log" 2>&1 ||
		{ cat "$fuzz_dir/initdb.log"; return 1; }
}

# One input a line, in base 64.
fuzz_unpack() { perl -MMIME::Base64 -ne 'open my $f, ">", sprintf("%s/%04d", $ENV{DIR}, $.) or die; binmode $f; print $f decode_base64($_)' "$1"; }
fuzz_pack() { perl -MMIME::Base64 -e 'undef $/; for (@ARGV) { open my $f, "<", $_ or die; push @l, encode_base64(<$f>, "") } print map { "$_\n" } sort { length $a <=> length $b || $a cmp $b } grep length, @l' "$@"; }

# fuzz_run TARGET [ARGUMENT OF LIBFUZZER]...: its status is 0 if nothing was found.  What it says is in
# $fuzz_dir/TARGET.log, its corpus in $fuzz_dir/TARGET.
fuzz_run() {
	local target=$1 work=$fuzz_dir/$1 arguments argument
	shift
	mkdir -p "$work" "$fuzz_dir/found"
	DIR=$work fuzz_unpack "test/fuzz/corpus/$target.txt"
	cp -r "$fuzz_dir/data" "$fuzz_dir/$target.data"
	arguments="$work"
	for argument in "-artifact_prefix=$fuzz_dir/found/$target-" "-dict=$fuzz_dir/words" -timeout=60 \
		-rss_limit_mb=4096 -max_len=2048 -print_final_stats=1 "$@"; do
		arguments+=",$argument"
	done
	printf '%s\n' "CREATE SCHEMA privpred" "CREATE FUNCTION pg_temp.fuzz(text, text[]) RETURNS void LANGUAGE c AS '$fuzz_dir/privpred_fuzz.so', 'fuzz'" \
		"SELECT pg_temp.fuzz('$target', '{$arguments}')" |
		ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1 \
		LD_PRELOAD="$fuzz_preload $fuzz_dir/early.so" \
		postgres --single -D "$fuzz_dir/$target.data" -c fsync=off -c log_min_messages=fatal template1 \
		>"$fuzz_dir/$target.log" 2>&1 || true
	rm -rf "$fuzz_dir/$target.data"
	grep -qE '^Done [0-9]+ (runs|)' "$fuzz_dir/$target.log"
}

# What the fuzzer did, in a line.
fuzz_summary() {
	perl -e 'undef $/; $_ = <>; my ($done, $time) = /Done (\d+) (?:runs )?in (\d+) second/; ($done) = /Done (\d+) runs/ unless $done;
		my @ft = /cov: (\d+) ft: (\d+) corp: (\d+)/g; printf "%s executions, %s s, %s edges, %s inputs kept\n", $done // "?", $time // "?", $ft[-3] // "?", $ft[-1] // "?"' \
		"$fuzz_dir/$1.log"
}
