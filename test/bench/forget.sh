# shellcheck shell=bash disable=SC2154
# Forgetting one unit of 1,000,000 rows and 100 logistic teachers, with the index by teacher and without, beside retraining after all
# rows have changed, and beside scans: avg of one column and of all twenty.  One process; milliseconds that pass, and of the processor.

table=forgotten

need_forgotten() {
	table_exists $table && return
	sql -o /dev/null -c "SELECT make_rows('$table', 1000000)" -c "VACUUM $table" -c CHECKPOINT
	sql -o /dev/null <<-SQL
		CREATE FUNCTION processor_ms() RETURNS float8 LANGUAGE sql VOLATILE AS
			\$\$ SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 100), ' ', 1)::float8 / 1e6 \$\$;
	SQL
}

# both NAME STATEMENT: time and processor time, the second time that a session runs it
both() {
	sql <<-SQL | awk -v name="$1" '/^Time:/ { time = $2 } /^cpu/ { cpu = $2 } END { printf "forget/%s\t%s\nforget/cpu/%s\t%s\n", name, time, name, cpu }' >>"$samples"
		SET client_min_messages = warning;
		$serial
		${3:-$2}
		SELECT processor_ms() AS began \\gset
		\\timing on
		$2
		\\timing off
		SELECT 'cpu ' || processor_ms() - :began;
	SQL
}

# The next unit that is forgotten: each once.
unit=0
forgets() { unit=$((unit + 1)); printf "SELECT privpred.forget('%s', %d, delete_rows => true) IS NULL;" $table $unit; }

chapter "forget: 1,000,000 rows, 100 teachers"
need_forgotten
sql -o /dev/null -c "$(train forgotten $table logistic 100)"
index=$(sql -c "SELECT privpred.chunk_index('forgotten')")
for ((i = 0; i < repeat; i++)); do
	both avg1 "SELECT avg(f1) FROM $table;"
	both avg20 "SELECT $(each_column 'avg(f%g)') FROM $table;"
	both scan "$(forgets)" "$(forgets)"
	sql -c "${index/INDEX ON/INDEX forgotten_teacher ON}" -c "ANALYZE $table"
	both indexed "$(forgets)" "$(forgets)"
	sql -c "DROP INDEX forgotten_teacher"
done
# Every teacher has other rows.
for ((i = 0; i < (repeat < 2 ? repeat : 2); i++)); do
	sql -c "UPDATE $table SET f1 = 1 - f1" -c "VACUUM $table"
	both retrain "SELECT privpred.retrain('forgotten') IS NULL;" "SELECT 1;"
done
forget forgotten
