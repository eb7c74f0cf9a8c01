# shellcheck shell=bash disable=SC2154
# Declared cuts and private descriptions, on the raw columns of DATA: accuracy of
# "gradient" at totals of (epsilon, 1e-6), with bounds, cuts and levels declared by
# hand, and with nothing declared, where a tenth of the budget buys a description;
# votes of logistic teachers; and what cuts cost in time.

trainings=5	# of which the mean counts

# Bounds that one would declare without looking.  Other columns are categories, whose levels
# one would know; they are read from the file here.
declare -A bounds=(
	[adult_raw]="age 17 90 fnlwgt 0 1500000 education_num 1 16 capital_gain 0 20000 capital_loss 0 5000 hours_per_week 1 99"
	[bank_raw]="age 18 95 balance -3000 20000 day 1 31 duration 0 1500 campaign 1 20 pdays -1 400 previous 0 10"
	[german_raw]="duration 4 72 amount 0 20000 rate 1 4 residence 1 4 age 18 75 credits 1 4 liable 1 2"
	[pima]="pregnant 0 17 glucose 40 200 pressure 30 120 triceps 0 60 insulin 0 500 mass 15 60 pedigree 0 2.5 age 20 80"
	[mnist7x7]="$(seq -s ' ' -f 'p%g 0 255' 49)"
)

# need_raw STEM: tables STEM_rows and STEM_other with the columns as they are, id first, label last, and a table STEM_bounds
need_raw() {
	local header column columns split
	header=$(zcat "$data/$1_train.csv.gz" 2>/dev/null | head -n 1 || true)
	columns=""
	for column in $(tr , ' ' <<<"${header#id,}"); do
		case " ${bounds[$1]} " in
			*" $column "*) columns+=", \"$column\" float8" ;;
			*) columns+=", \"$column\" text" ;;
		esac
	done
	for split in train:rows test:other; do
		sql -c "CREATE TABLE $1_${split#*:} (id int PRIMARY KEY$columns)" \
			-c "\\copy $1_${split#*:} FROM PROGRAM 'zcat $data/$1_${split%:*}.csv.gz' CSV HEADER" -c "VACUUM ANALYZE $1_${split#*:}"
	done
	sql -c "CREATE TABLE $1_bounds AS SELECT name, least, largest FROM string_to_table('${bounds[$1]}', ' ') WITH ORDINALITY w (name, n),
		LATERAL (SELECT (string_to_array('${bounds[$1]}', ' '))[n + 1] AS least, (string_to_array('${bounds[$1]}', ' '))[n + 2] AS largest) b WHERE n % 3 = 1"
}

# declared STEM [CUTS]: features, by hand
declared() {
	local cuts=${2:+, \"cuts\": $2}
	sql <<-SQL
		CREATE OR REPLACE FUNCTION pg_temp.levels(c name) RETURNS text LANGUAGE plpgsql AS \$\$
		DECLARE result text;
		BEGIN
			EXECUTE format('SELECT json_agg(DISTINCT %I)::text FROM $1_rows', c) INTO result;
			RETURN result;
		END \$\$;
		SELECT '{' || string_agg(format('%s: {%s}', to_json(attname), CASE WHEN b.name IS NOT NULL
			THEN format('"min": %s, "max": %s$cuts', least, largest) ELSE '"levels": ' || pg_temp.levels(attname) END), ', ' ORDER BY attnum) || '}'
		  FROM pg_attribute LEFT JOIN $1_bounds b ON b.name = attname
		 WHERE attrelid = '$1_rows'::regclass AND attnum > 1 AND NOT attisdropped
		   AND attnum < (SELECT max(attnum) FROM pg_attribute WHERE attrelid = '$1_rows'::regclass)
	SQL
}

# label_of STEM, classes_of STEM
label_of() { sql -c "SELECT attname FROM pg_attribute WHERE attrelid = '$1_rows'::regclass ORDER BY attnum DESC LIMIT 1"; }
classes_of() { sql -c "SELECT array_agg(DISTINCT \"$(label_of "$1")\"::text) FROM $1_rows"; }

# model STEM FEATURES MORE: the statement, of a model called "features"
model() {
	printf "SELECT privpred.create_model('features', '%s_rows', label => '%s', classes => '%s', features => '%s', %s);" \
		"$1" "$(label_of "$1")" "$(classes_of "$1")" "${2//\'/\'\'}" "$3"
}

quiet="SET client_min_messages = warning; SET maintenance_work_mem = '1GB';"

# accuracy NAME STEM FEATURES MORE: trains and samples
accuracy() {
	sql -o /dev/null -c "$quiet" -c "$(model "$2" "$3" "$4")"
	sample "features/$1" "$(sql -c "SELECT private_accuracy FROM privpred.evaluate('features', '$2_other')")"
	forget features
}

protect_rows() { sql -c "SELECT privpred.protect('$1_rows', declared_units => count(*)) FROM $1_rows" >/dev/null; }

by_hand() {	# by_hand STEM CUTS EPSILON...
	local stem=$1 cuts=$2 list epsilon i
	shift 2
	list=$(declared "$stem" "$cuts")
	for epsilon; do
		for ((i = 0; i < trainings; i++)); do
			accuracy "hand/$stem/${cuts:-none}/$epsilon" "$stem" "$list" "mechanism => 'gradient', epsilon => $epsilon"
		done
	done
}

# described STEM TOTAL OF_DESCRIPTION OF_MODEL: one budget of the total pays for both, or this fails.  A
# description is for good, so each is of a table of its own.
described() {
	local stem=$1 total=$2 i label list
	label=$(label_of "$stem")
	for ((i = 0; i < trainings; i++)); do
		sql -c "DROP TABLE IF EXISTS described_rows, described_other" -c "CREATE TABLE described_rows (LIKE ${stem}_rows INCLUDING ALL)" \
			-c "INSERT INTO described_rows SELECT * FROM ${stem}_rows" -c "CREATE TABLE described_other AS SELECT * FROM ${stem}_other" \
			-c "VACUUM ANALYZE described_rows"
		protect_rows described
		sql -o "$sandbox/tmp/description" <<-SQL | awk '/^Time:/ { print $2 }' >"$sandbox/tmp/time"
			SET client_min_messages = warning;
			\\timing on
			SELECT privpred.describe('described_rows', epsilon => $3, columns => (SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute
				WHERE attrelid = 'described_rows'::regclass AND attnum > 1 AND attname <> '$label'));
		SQL
		sample "features/describe/$stem" "$(cat "$sandbox/tmp/time")"
		list=$(cat "$sandbox/tmp/description")
		sql -o /dev/null -c "$quiet" -c "$(model described "$list" "mechanism => 'gradient', epsilon => $4")"
		sql -c "SELECT privpred.grant_budget(current_user::regrole, 'described_rows', epsilon => $total, delta => 1e-6)" >/dev/null
		# the model is paid for here
		sql -c "SELECT private_predict('features', r) FROM described_other r LIMIT 1" >/dev/null
		sample "features/described/$stem/$total" "$(sql -c "SELECT private_accuracy FROM privpred.evaluate('features', 'described_other')")"
		sql -c "SELECT privpred.revoke_budget(current_user::regrole, 'described_rows')" >/dev/null
		forget features
	done
}

# times STEM CUTS KIND MORE: with and without cuts in turn, of training per encoded number and of an answer
times() {
	local stem=$1 kind=$3 more=$4 i cuts list width asked
	asked="SELECT count(private_predict('features', r)) FROM (SELECT * FROM ${stem}_other LIMIT 2000) r;"
	sql -c "SELECT privpred.grant_budget(current_user::regrole, '${stem}_rows', epsilon => 1e6, delta => 1e-6)" >/dev/null
	for ((i = 0; i <= repeat; i++)); do
		for cuts in "" "$2"; do
			list=$(declared "$stem" "$cuts")
			train=$(milliseconds "$quiet $serial" "$(model "$stem" "$list" "$more")")
			width=$(sql -c "SELECT sum(CASE WHEN f ? 'levels' THEN jsonb_array_length(f -> 'levels') WHEN f ? 'cuts' THEN jsonb_array_length(f -> 'cuts') + 1 ELSE 1 END)
				FROM privpred.models, jsonb_array_elements(features) f WHERE name = 'features'")
			answer=$(milliseconds "SET privpred.max_answers_per_statement = -1; $asked" "$asked")
			forget features
			[ $i -gt 0 ] || continue	# the first run warms up
			sample "features/answer/$kind/${cuts:-none}" "$answer"
			sample "features/train/$kind/${cuts:-none}" "$(awk -v t="$train" -v w="$width" 'BEGIN { print t / w }')"
		done
	done
	sql -c "SELECT privpred.revoke_budget(current_user::regrole, '${stem}_rows')" >/dev/null
}

if have_data adult_raw && have_data bank_raw; then
	chapter "features: Adult"
	need_raw adult_raw
	protect_rows adult_raw
	by_hand adult_raw 16 0.5 1 8
	by_hand adult_raw "" 0.5 1 8
	for ((i = 0; i < trainings; i++)); do
		accuracy votes/16 adult_raw "$(declared adult_raw 16)" "learner => 'logistic', teachers => 100, epsilon => 0.5"
		accuracy votes/none adult_raw "$(declared adult_raw)" "learner => 'logistic', teachers => 100, epsilon => 0.5"
	done
	chapter "features: Adult, described"
	described adult_raw 0.5 0.147 0.472
	described adult_raw 1 0.295 0.945
	described adult_raw 8 2.2 7.5
	chapter "features: Bank"
	need_raw bank_raw
	protect_rows bank_raw
	by_hand bank_raw 16 1
	by_hand bank_raw "" 1
	described bank_raw 1 0.295 0.945
	chapter "features: time"
	times adult_raw 16 gradient "mechanism => 'gradient', epsilon => 1"
	times adult_raw 16 vote "learner => 'logistic', teachers => 100, epsilon => 0.5"
	for stem in german_raw pima; do
		have_data $stem || continue
		chapter "features: $stem"
		need_raw $stem
		protect_rows $stem
		by_hand $stem "" 1 8
	done
	if have_data mnist7x7; then
		chapter "features: MNIST 7 x 7"
		need_raw mnist7x7
		protect_rows mnist7x7
		by_hand mnist7x7 4 1
	fi
else
	sample fact:left_out "cuts and descriptions, without DATA"
fi
