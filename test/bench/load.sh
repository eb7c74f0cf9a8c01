# shellcheck shell=bash disable=SC2154
# Data sets into tables.

# load_data STEM SPLIT: STEM_SPLIT.csv.gz, all numbers, id first
load_data() {
	local header
	header=$(zcat "$data/$1_$2.csv.gz" 2>/dev/null | head -n 1 || true)
	header=${header#id,}
	sql -c "CREATE TABLE $1_$2 (id int PRIMARY KEY, ${header//,/ float8, } int)" \
		-c "\\copy $1_$2 FROM PROGRAM 'zcat $data/$1_$2.csv.gz' CSV HEADER" -c "VACUUM ANALYZE $1_$2"
}
