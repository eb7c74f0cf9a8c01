# shellcheck shell=bash disable=SC2154
# Every form of the papers' mechanisms (papers.txt) beside "vote" and "gradient": accuracy of 100
# answers within a budget of (1, 1e-6), the expectation by privpred.evaluate() on 1,000 other
# rows.  Forms that this version refuses are named and left out.  Needs DATA.

papers_answers=100

# For create_model: TABLE LABEL FEATURES CLASSES; rows to test with are in TABLE_other
papers_numbers='["f1", "f2", "f3", "f4", "f5"]'
declare -A papers_of=(
	[adult]="papers_adult y ${of_adult[1]} {0,1}"
	["one number"]="papers_adult y [\"f2\"] {0,1}"
	["two numbers"]="papers_adult y [\"f1\",\"f2\"] {0,1}"
	["three numbers"]="papers_adult y [\"f1\",\"f2\",\"f5\"] {0,1}"
	["five numbers"]="papers_adult y ${papers_numbers// /} {0,1}"
	["ten features"]="papers_adult y [\"f1\",\"f2\",\"f3\",\"f4\",\"f5\",\"f15\",\"f16\",\"f40\",\"f49\",\"f50\"] {0,1}"
	["few rows"]="papers_few y [\"f1\",\"f2\"] {0,1}"
	[hours]="papers_adult f5 [\"f1\",\"f2\",\"f15\",\"f16\",\"f49\",\"f50\"] NULL"
	[bank]="papers_bank y BANK {no,yes}"
	[outcome]="papers_bank y {\"poutcome\":{\"levels\":[\"failure\",\"other\",\"success\",\"unknown\"]}} {no,yes}"
	[mnist7x7]="papers_mnist digit ${of_mnist7x7[1]// /} {0,1,2,3,4,5,6,7,8,9}"
	["four pixels"]="papers_mnist digit {\"p18\":{\"min\":0,\"max\":255},\"p24\":{\"min\":0,\"max\":255},\"p25\":{\"min\":0,\"max\":255},\"p32\":{\"min\":0,\"max\":255}} {0,1,2,3,4,5,6,7,8,9}"
)
papers_bank='{"age":{"min":18,"max":95},"balance":{"min":-3000,"max":20000},"duration":{"min":0,"max":1500},"campaign":{"min":1,"max":20},"pdays":{"min":-1,"max":400},"previous":{"min":0,"max":10},
	"default":{"levels":["no","yes"]},"housing":{"levels":["no","yes"]},"loan":{"levels":["no","yes"]},"contact":{"levels":["cellular","telephone","unknown"]},
	"marital":{"levels":["divorced","married","single"]},"education":{"levels":["primary","secondary","tertiary","unknown"]},"poutcome":{"levels":["failure","other","success","unknown"]}}'

# papers_table NAME TRAIN TEST ROWS: protected rows, at most so many, and 1,000 others
papers_table() {
	sql >/dev/null <<-SQL
		CREATE TABLE $1 AS SELECT * FROM $2 ORDER BY md5(id::text) LIMIT $4;
		ALTER TABLE $1 ADD PRIMARY KEY (id);
		CREATE TABLE $1_other AS SELECT * FROM $3 ORDER BY md5(id::text) LIMIT 1000;
		SELECT privpred.protect('$1', declared_units => count(*)) FROM $1;
	SQL
}

# papers_read NAME STEM: its rows as they are, numbers where bounds are declared
papers_read() {
	local split
	for split in train test; do
		sql -c "CREATE TABLE $1_$split (id int, age float8, job text, marital text, education text, \"default\" text, balance float8, housing text, loan text, contact text,
				day float8, month text, duration float8, campaign float8, pdays float8, previous float8, poutcome text, y text)" \
			-c "\\copy $1_$split FROM PROGRAM 'zcat $data/$2_$split.csv.gz' CSV HEADER"
	done
}

# papers_form PROBLEM FORM MECHANISM MORE: trains and samples, or says why not
papers_form() {
	local table label features classes said
	read -r table label features classes <<<"${papers_of[$1]}"
	! [ "$features" = BANK ] || features=$papers_bank
	[ "$classes" = NULL ] || classes="'$classes'"
	said=$(sql -v table="$table" -v label="$label" -v features="$features" -v mechanism="$3" <<-SQL
		SET client_min_messages = warning;
		SET maintenance_work_mem = '1GB';
		SELECT papers_try(:'table', :'label', format(\$f\$SELECT privpred.create_model('papers', %L, label => %L, features => %L, mechanism => %L, classes => $classes, epsilon => %s${4:+, $4})\$f\$,
			:'table', :'label', :'features', :'mechanism', papers_epsilon(:'mechanism')), papers_pure(:'mechanism'));
	SQL
	)
	case $said in
		[0-9]*.[0-9]* | 0 | 1) sample "papers/$1/$2" "$said" ;;
		*)
			note "left out: $2 on $1: $said"
			sample "fact:papers_left_out" "$2 on $1 ($said)"
			;;
	esac
}

if ! have_data adult || ! have_data mnist7x7 || ! have_data bank_raw; then
	chapter "papers: left out, it needs DATA"
	sample fact:left_out "forms of the papers, without DATA"
else
	chapter "papers: reading"
	need_data adult
	need_data mnist7x7
	papers_read papers_raw bank_raw
	papers_table papers_adult adult_train adult_test 40000
	papers_table papers_few adult_train adult_test 2000
	papers_table papers_mnist mnist7x7_train mnist7x7_test 20000
	papers_table papers_bank papers_raw_train papers_raw_test 40000
	sql >/dev/null <<-SQL
		-- all ways to label the four levels
		CREATE TABLE papers_class AS SELECT h AS hypothesis, point, h >> place::int & 1 AS label
		  FROM generate_series(0, 15) h, unnest('{failure,other,success,unknown}'::text[]) WITH ORDINALITY p (point, i), LATERAL (SELECT i - 1 AS place) q;
		CREATE FUNCTION papers_once(mechanism text) RETURNS boolean LANGUAGE sql AS \$\$ SELECT mechanism IN ('gradient', 'cover', 'label_private', 'littlestone') \$\$;
		CREATE FUNCTION papers_epsilon(mechanism text) RETURNS numeric LANGUAGE sql AS \$\$
			SELECT CASE WHEN papers_once(mechanism) THEN 1 ELSE (privpred.epsilon_for(1, 1e-6, $papers_answers, mechanism)).per_answer END \$\$;
		CREATE FUNCTION papers_pure(mechanism text) RETURNS boolean LANGUAGE sql AS \$\$
			SELECT papers_once(mechanism) OR (privpred.epsilon_for(1, 1e-6, $papers_answers, mechanism)).renyi_order = 'Infinity' \$\$;
		-- the accuracy, of numbers the root mean squared error, or the SQLSTATE with which the form is refused
		CREATE FUNCTION papers_try(of text, label text, statement text, pure boolean) RETURNS text LANGUAGE plpgsql AS \$\$
		DECLARE
			result float8;
		BEGIN
			EXECUTE statement;
			SELECT CASE WHEN label = 'f5' THEN CASE WHEN pure THEN private_rmse ELSE approximate_rmse END
				WHEN pure THEN private_accuracy ELSE approximate_accuracy END INTO result FROM privpred.evaluate('papers', (of || '_other')::regclass);
			PERFORM privpred.drop_model('papers');
			RETURN COALESCE(round(result::numeric, 4)::text, 'no figure');
		EXCEPTION WHEN invalid_parameter_value OR feature_not_supported OR undefined_object OR object_not_in_prerequisite_state OR program_limit_exceeded THEN
			RETURN 'refused with ' || SQLSTATE || ', ' || SQLERRM;
		END \$\$;
	SQL
	papers_last=
	while IFS='|' read -r problem form mechanism more; do
		problem=$(xargs <<<"$problem") form=$(sed 's/^ *//; s/ *$//' <<<"$form") mechanism=${mechanism// /}
		[ "$problem" = "$papers_last" ] || chapter "papers: $problem"
		papers_last=$problem
		papers_form "$problem" "$form" "$mechanism" "${more# }"
	done < <(grep -v '^#' test/bench/papers.txt)
fi
