# shellcheck shell=bash disable=SC2154
# 100 teachers on n rows x 20 columns, against reading the same rows for avg(), and
# against taking them out of the database for one model: by COPY BINARY into
# numpy, by fetchall(), by a file for liblinear's own program.  What is slow is
# measured less often, and above 1,000,000 rows by growth.sh.

# measure_training NAME SETUP SIZE LEARNER
measure_training() {
	sample "$1/$3" "$(milliseconds "$2" "$(train training "rows_$3" "$4" 100)")"
	forget training
}

# liblinear_route SIZE: the same with a file in its format, and its program
liblinear_route() {
	local file=$sandbox/tmp/liblinear start=${EPOCHREALTIME/./} out line="CASE WHEN y THEN '+1' ELSE '-1' END" i
	for i in {1..20}; do
		line+=", '$i:' || f$i"
	done
	sql -o "$file" -c "COPY (SELECT concat_ws(' ', $line) FROM rows_$1) TO STDOUT"
	out=${EPOCHREALTIME/./}
	liblinear-train -q -s 0 -B 1 "$file" "$file.model" >/dev/null
	sample "file for liblinear/$1" $(((out - start) / 1000))
	sample "liblinear/$1" $(((${EPOCHREALTIME/./} - start) / 1000))
	rm -f "$file" "$file.model"
}

have_sklearn || sample fact:left_out "scikit-learn, which is not installed"
have_liblinear || sample fact:left_out "liblinear's program, which is not installed"
for size in $sizes; do
	[ "$size" -le 1000000 ] || continue
	chapter "training on $size rows"
	need_rows "$size"
	sample fact:size "$size"
	milliseconds "$serial" "$avg rows_$size;" >/dev/null
	for ((i = 0; i < repeat; i++)); do
		sample "avg/$size" "$(milliseconds "$serial" "$avg rows_$size;")"
		measure_training logistic "$serial" "$size" logistic
		measure_training "logistic, 1 GB" "$serial SET maintenance_work_mem = '1GB';" "$size" logistic
		measure_training linear "$serial" "$size" linear
		sample "avg, parallel/$size" "$(milliseconds "$parallel" "$avg rows_$size;")"
		measure_training "logistic, parallel" "$parallel" "$size" logistic
		measure_training "logistic, 1 GB, parallel" "$parallel SET maintenance_work_mem = '1GB';" "$size" logistic
		measure_training "linear, parallel" "$parallel" "$size" linear
		! have_sklearn || sklearn_route "$size" copy
		[ $((i * size)) -lt 1000000 ] || continue
		! have_sklearn || sklearn_route "$size" fetchall
		! have_liblinear || liblinear_route "$size"
	done
done
