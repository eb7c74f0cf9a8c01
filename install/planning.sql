----------------------------------------------------------------------
-- Accounting: how many answers a budget pays for
----------------------------------------------------------------------

CREATE FUNCTION privpred.answers_for(epsilon float8, delta float8, per_answer float8,
	mechanism text DEFAULT 'vote', OUT answers bigint, OUT renyi_order float8,
	OUT limit_at_order numeric, OUT charge numeric, OUT answers_by_summation bigint)
AS 'MODULE_PATHNAME', 'privpred_answers_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.answers_for(float8, float8, float8, text) IS
'anyone: how many answers a budget (epsilon, delta) buys at a given epsilon per answer, at which order of account, and how many it would buy if epsilons were simply added; costs nothing';

CREATE FUNCTION privpred.epsilon_for(epsilon float8, delta float8, answers bigint,
	mechanism text DEFAULT 'vote', OUT per_answer numeric, OUT renyi_order float8,
	OUT answers_it_buys bigint)
AS 'MODULE_PATHNAME', 'privpred_epsilon_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.epsilon_for(float8, float8, bigint, text) IS
'anyone: the largest epsilon per answer, in multiples of 1e-9, at which a budget (epsilon, delta) buys that many answers; costs nothing';

----------------------------------------------------------------------
-- Solvers: parameters of stable_flip and relabel, and the epsilon that they prove
----------------------------------------------------------------------

CREATE FUNCTION privpred.solve_stable_flip(epsilon float8, alpha float8 DEFAULT 0.1,
	OUT q float8, OUT e numeric, OUT proved_epsilon numeric, OUT gamma float8)
AS 'MODULE_PATHNAME', 'privpred_solve_stable_flip' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.solve_stable_flip(float8, float8) IS
'anyone: the parameters of mechanism stable_flip for an epsilon and a share alpha of flipped answers, and the epsilon proved of them; costs nothing';

CREATE FUNCTION privpred.solve_relabel(epsilon float8, alpha float8, n_max bigint,
	max_rows_per_unit int DEFAULT 1, features int DEFAULT 1,
	hypotheses text DEFAULT 'stump', class_size int DEFAULT 0,
	OUT j bigint, OUT kappa numeric, OUT q float8, OUT eps1 float8, OUT delta1 float8,
	OUT proved_epsilon numeric, OUT units_needed bigint)
AS 'MODULE_PATHNAME', 'privpred_solve_relabel' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.solve_relabel(float8, float8, bigint, int, int, text, int) IS
'anyone: the parameters of mechanism relabel for an epsilon, a share alpha of flipped answers and at most n_max units, for stumps or other hypotheses or a finite class of class_size, the epsilon proved of them, and the least n_max that would do; costs nothing';

----------------------------------------------------------------------
-- Planning: which mechanism, from declared numbers alone
----------------------------------------------------------------------

-- The figures are computed in C, the words around them are made here.

CREATE FUNCTION privpred._plan_table(relation regclass, label name) RETURNS json
AS 'MODULE_PATHNAME', 'privpred_plan_table' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred._plan_table(regclass, name) IS
'what types, CHECK constraints, keys and protect() tell of a table, never its rows; for plan()';

CREATE FUNCTION privpred._plan_columns(told json, label name, OUT place bigint, OUT column_name text, OUT levels json,
	OUT declaration text, OUT example text, OUT width int, OUT is_label boolean, OUT asks text, OUT target text)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT c.place, c.name, c.levels,
		CASE WHEN c.listed IS NOT NULL THEN pg_catalog.format('{"levels": %s}', c.levels)
			WHEN c.levels IS NOT NULL THEN '{}'
			WHEN c.min IS NOT NULL THEN pg_catalog.format('{"min": %s, "max": %s}', c.min, c.max) END,
		CASE WHEN c.is_boolean THEN 'true'
			ELSE COALESCE(c.levels OPERATOR(pg_catalog.->) 0, c.middle)::pg_catalog.text END,
		CASE WHEN c.is_boolean OR c.min IS NOT NULL THEN 1 ELSE pg_catalog.json_array_length(c.levels) END,
		COALESCE(c.name OPERATOR(pg_catalog.=) label::pg_catalog.text, false),
		CASE WHEN c.kind OPERATOR(pg_catalog.=) 'id' THEN 'an id is no feature'
			WHEN c.kind OPERATOR(pg_catalog.=) 'number' THEN '{"min": ..., "max": ...}, or of a code {"levels": [...]}'
			WHEN c.kind OPERATOR(pg_catalog.=) 'time' THEN '{"min": "...", "max": "..."}'
			WHEN c.kind OPERATOR(pg_catalog.=) 'category' THEN '{"levels": [...]}'
			ELSE 'its type cannot be a feature' END,
		-- of a label that is a number
		CASE WHEN c.levels IS NULL AND c.kind OPERATOR(pg_catalog.=) ANY (ARRAY['id', 'number']) THEN
			pg_catalog.format('"target": {"min": %s, "max": %s}', COALESCE(c.min::pg_catalog.text, 'your_min'),
				COALESCE(c.max::pg_catalog.text, 'your_max')) END
	FROM (
		SELECT e.place, e.c OPERATOR(pg_catalog.->>) 'name' AS name,
			e.c OPERATOR(pg_catalog.->>) 'kind' AS kind, t.is_boolean,
			e.c OPERATOR(pg_catalog.->) 'levels' AS listed,
			CASE WHEN t.is_boolean THEN '["false", "true"]' ELSE COALESCE(e.c OPERATOR(pg_catalog.->) 'levels', (
				SELECT pg_catalog.json_agg(l.enumlabel ORDER BY l.enumsortorder)
				FROM pg_catalog.pg_enum l WHERE l.enumtypid OPERATOR(pg_catalog.=) t.type)) END AS levels,
			e.c OPERATOR(pg_catalog.->) 'min' AS min, e.c OPERATOR(pg_catalog.->) 'max' AS max,
			e.c OPERATOR(pg_catalog.->) 'middle' AS middle
		FROM pg_catalog.json_array_elements(told OPERATOR(pg_catalog.->) 'columns') WITH ORDINALITY AS e(c, place)
		CROSS JOIN LATERAL (SELECT (e.c OPERATOR(pg_catalog.->>) 'type')::pg_catalog.oid AS type,
			e.c OPERATOR(pg_catalog.->>) 'type' OPERATOR(pg_catalog.=) '16' AS is_boolean) t) c $$;
COMMENT ON FUNCTION privpred._plan_columns(json, name) IS
'columns that _plan_table() found: how create_model would be told of them, and an example; for plan()';

CREATE FUNCTION privpred._plan_figures(n bigint, features int, classes int, epsilon float8, delta float8,
	answers bigint, accuracy float8, learner text, baseline float8, rows_per_unit int, protects_labels boolean, cuts int,
	OUT mechanism text, OUT created_as text, OUT charge_kind text, OUT why text, OUT rows_needed bigint,
	OUT expected float8, OUT per_answer numeric, OUT total numeric, OUT total_delta float8,
	OUT answers_bought bigint, OUT model_epsilon text, OUT taught_by text, OUT teachers bigint, OUT options text,
	OUT unstable bigint, OUT stream_delta text, OUT labels bigint, OUT budget text, OUT needs_size boolean,
	OUT needs_rows boolean, OUT by_theorem boolean, OUT preference float8, OUT virtue text, OUT grounds text,
	OUT lower_bound text, OUT asked_by text, OUT numeric_labels boolean, OUT bent boolean)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_plan_figures' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 14;
COMMENT ON FUNCTION privpred._plan_figures(bigint, int, int, float8, float8, bigint, float8, text, float8, int, boolean, int) IS
'what every mechanism would reach with declared numbers, and its parameters; for plan()';

CREATE FUNCTION privpred._plan(n bigint, features int, classes int, epsilon float8, delta float8, answers bigint,
	accuracy float8, relation regclass, table_name text, label name, learner text, baseline float8, role regrole, cuts int, OUT rank int,
	OUT mechanism text, OUT recommended boolean, OUT feasible boolean, OUT why text, OUT rows_needed bigint,
	OUT expected_accuracy float8, OUT expected_error float8, OUT per_answer_epsilon numeric,
	OUT total_epsilon numeric, OUT total_delta float8, OUT answers_bought bigint, OUT charged text,
	OUT parameters text, OUT statements text, OUT grounds text, OUT lower_bound text, OUT advice text)
RETURNS SETOF record LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100000 ROWS 14
SET search_path TO pg_catalog, pg_temp SET extra_float_digits TO 1 AS $$
DECLARE
	told pg_catalog.json := privpred._plan_table(relation, label);
	is_protected pg_catalog.bool := COALESCE((told OPERATOR(pg_catalog.->>) 'protected')::pg_catalog.bool, false);
	has_unit pg_catalog.bool := (told OPERATOR(pg_catalog.->>) 'has_unit')::pg_catalog.bool;
	one_row pg_catalog.bool := COALESCE((told OPERATOR(pg_catalog.->>) 'one_row_a_unit')::pg_catalog.bool, has_unit);
	declared_units pg_catalog.int8 := (told OPERATOR(pg_catalog.->>) 'declared_units')::pg_catalog.int8;
	max_rows pg_catalog.int4 := (told OPERATOR(pg_catalog.->>) 'max_rows_per_unit')::pg_catalog.int4;
	labels_only pg_catalog.bool := COALESCE((told OPERATOR(pg_catalog.->>) 'protects_labels')::pg_catalog.bool, false);
	prefix pg_catalog.text := COALESCE(told OPERATOR(pg_catalog.->>) 'name', 'my');
	-- what is not declared is assumed, and the advice says so
	units pg_catalog.int8 := COALESCE(n, declared_units);
	asked pg_catalog.int8 := COALESCE(answers, 1);
	rows_per_unit pg_catalog.int4 := CASE WHEN one_row THEN 1 ELSE COALESCE(max_rows, 1) END;
	plain pg_catalog.float8 := COALESCE(accuracy, GREATEST(0.85, baseline OPERATOR(pg_catalog.+)
		(0.25 OPERATOR(pg_catalog.*) (1 OPERATOR(pg_catalog.-) baseline))));
	col record;	-- all columns but the label
	target record;	-- the label
	m record;	-- a mechanism
	guess pg_catalog.float8;
	is_number pg_catalog.bool;	-- the label
	chosen pg_catalog.text;
	options pg_catalog.text;
	price pg_catalog.text;
	other_ids pg_catalog.text := told OPERATOR(pg_catalog.->>) 'other_ids';
	missing pg_catalog.text;
	gaps pg_catalog.text;
	class_list pg_catalog.text;
	protection pg_catalog.text;
	model pg_catalog.text;
	student pg_catalog.text;
	rho pg_catalog.float8;	-- what the budget pays for, at least
	undescribed record;	-- columns without a declaration
BEGIN
	SELECT '{' OPERATOR(pg_catalog.||) pg_catalog.string_agg(pg_catalog.format('%s: %s', pg_catalog.to_json(c.column_name),
			c.declaration), ', ' ORDER BY c.place) FILTER (WHERE c.declaration IS NOT NULL)
			OPERATOR(pg_catalog.||) '}' AS features,
		'{' OPERATOR(pg_catalog.||) pg_catalog.string_agg(pg_catalog.format('%s: %s', pg_catalog.to_json(c.column_name),
			c.example), ', ' ORDER BY c.place) FILTER (WHERE c.declaration IS NOT NULL)
			OPERATOR(pg_catalog.||) '}' AS example,
		-- in a comment, which a line break in a name would end
		pg_catalog.string_agg(pg_catalog.format(e'--   %s: %s\n', pg_catalog.to_json(c.column_name), c.asks), ''
			ORDER BY c.place) FILTER (WHERE c.declaration IS NULL) AS left_out,
		pg_catalog.sum(c.width)::pg_catalog.int4 AS width,
		'{' OPERATOR(pg_catalog.||) pg_catalog.string_agg(pg_catalog.format('%s: %s', pg_catalog.to_json(c.column_name),
			b.declaration), ', ' ORDER BY c.place) FILTER (WHERE c.declaration IS NOT NULL)
			OPERATOR(pg_catalog.||) '}' AS bent,
		pg_catalog.count(*) FILTER (WHERE b.declaration OPERATOR(pg_catalog.<>) c.declaration) AS bends
	INTO col FROM privpred._plan_columns(told, label) c CROSS JOIN LATERAL (SELECT c.declaration::pg_catalog.json AS d) j
		-- cuts of dates lie on whole days
		CROSS JOIN LATERAL (SELECT CASE WHEN pg_catalog.json_typeof(j.d OPERATOR(pg_catalog.->) 'max') OPERATOR(pg_catalog.=) 'string'
				AND (j.d OPERATOR(pg_catalog.->>) 'max') OPERATOR(pg_catalog.!~) 'T'
			THEN ((j.d OPERATOR(pg_catalog.->>) 'max')::pg_catalog.date OPERATOR(pg_catalog.-)
				(j.d OPERATOR(pg_catalog.->>) 'min')::pg_catalog.date) OPERATOR(pg_catalog.<) 16 ELSE false END AS is_narrow) n
		CROSS JOIN LATERAL (SELECT CASE WHEN n.is_narrow THEN c.declaration
			ELSE pg_catalog.regexp_replace(c.declaration, '("max": [^{}]+)}', '\1, "cuts": 16}') END AS declaration) b
	WHERE NOT c.is_label;
	SELECT c.column_name, c.levels, c.target INTO target FROM privpred._plan_columns(told, label) c WHERE c.is_label;
	is_number := target.target IS NOT NULL AND classes IS NULL;
	classes := COALESCE(classes, pg_catalog.json_array_length(target.levels), 2);
	guess := 1 OPERATOR(pg_catalog./) GREATEST(classes, 1)::pg_catalog.float8;

	-- what neither the caller nor the catalog tells, and somebody must fill in: statements fail until it is
	missing := pg_catalog.concat_ws(', ', CASE WHEN target.column_name IS NULL THEN 'label' END,
		CASE WHEN answers IS NULL THEN 'answers' END, CASE WHEN role IS NULL THEN 'role' END);
	IF told IS NOT NULL AND missing OPERATOR(pg_catalog.<>) '' THEN
		RAISE NOTICE 'the statements are not complete without %', missing
			USING HINT := 'Call privpred.plan with label => the column that is to be predicted, answers => how many questions will be asked, and role => who will ask them.';
	END IF;
	gaps := CASE WHEN told IS NULL THEN
		e'-- replace your_table, your_label, your_classes, your_column and your_role, or call privpred.plan with relation => ''table''\n'
	ELSE pg_catalog.concat(
		CASE WHEN NOT has_unit THEN
			e'-- replace your_unit by the column that says whose row it is: the table has no primary key\n'
		WHEN other_ids IS NOT NULL THEN pg_catalog.format(
			e'-- replace your_unit by the column that says whose row it is: perhaps %s, or the primary key if there is one row per person\n',
			pg_catalog.translate(other_ids, e'\n\r', '  ')) END,
		CASE WHEN target.column_name IS NULL THEN
			e'-- replace your_label and your_classes, or call privpred.plan with label => the column that is to be predicted\n'
		WHEN is_number AND pg_catalog.strpos(target.target, 'your_min') OPERATOR(pg_catalog.>) 0 THEN
			e'-- replace your_min and your_max by the bounds of the label, which the table does not tell\n'
		WHEN target.levels IS NULL AND NOT is_number THEN
			e'-- replace your_classes, as in ARRAY[''no'', ''yes'']: the table does not tell them (an enum or CHECK (... IN (...)) would)\n' END,
		CASE WHEN role IS NULL THEN
			e'-- replace your_role by the role that will ask, or call privpred.plan with role => ''name''\n' END,
		e'-- not used, because the table does not tell what create_model has to be told of them (add to features what you know):\n'
			OPERATOR(pg_catalog.||) col.left_out) END;
	-- A description helps where units are 50 sigma.
	rho := CASE WHEN delta OPERATOR(pg_catalog.>) 0 THEN (pg_catalog.sqrt(epsilon OPERATOR(pg_catalog.-) pg_catalog.ln(delta))
		OPERATOR(pg_catalog.-) pg_catalog.sqrt(OPERATOR(pg_catalog.-) pg_catalog.ln(delta))) OPERATOR(pg_catalog.^) 2 END;
	-- 16 pieces in place of each number, if an encoding may be so wide
	cuts := COALESCE(cuts, CASE WHEN (COALESCE(features, col.width) OPERATOR(pg_catalog.+) (15 OPERATOR(pg_catalog.*) col.bends)) OPERATOR(pg_catalog.<=) 16384
		THEN 15 OPERATOR(pg_catalog.*) col.bends END);
	SELECT pg_catalog.array_agg(c.column_name ORDER BY c.place)::pg_catalog.text AS names, pg_catalog.count(*) AS number INTO undescribed
		FROM privpred._plan_columns(told, label) c WHERE NOT c.is_label AND c.declaration IS NULL;
	gaps := pg_catalog.concat(gaps, CASE WHEN undescribed.number OPERATOR(pg_catalog.>) 0 AND (units OPERATOR(pg_catalog.^) 2) OPERATOR(pg_catalog.*) rho
			OPERATOR(pg_catalog.>) (25000 OPERATOR(pg_catalog.*) undescribed.number) AND pg_catalog.concat(table_name, undescribed.names) OPERATOR(pg_catalog.!~) e'[\n\r]' THEN
		pg_catalog.format(e'-- or have bounds, cuts and levels found, before anybody has a budget: everybody pays a tenth of it, and %s is left for gradient\n'
			'-- SELECT privpred.describe(%L, columns => %L, epsilon => %s, delta => %s)\n',
			pg_catalog.round((0.94 OPERATOR(pg_catalog.*) epsilon)::pg_catalog.numeric, 3), table_name, undescribed.names,
			pg_catalog.round((0.27 OPERATOR(pg_catalog.*) epsilon)::pg_catalog.numeric, 3), delta) END);
	class_list := COALESCE('ARRAY[' OPERATOR(pg_catalog.||) (
		SELECT pg_catalog.string_agg(pg_catalog.quote_literal(l.level), ',' ORDER BY l.place)
		FROM pg_catalog.json_array_elements_text(target.levels) WITH ORDINALITY AS l(level, place))
		OPERATOR(pg_catalog.||) ']', 'your_classes');

	rank := 0;
	FOR m IN
		SELECT f.*, x.feasible, pg_catalog.lead(CASE WHEN x.feasible THEN f.mechanism END) OVER best AS next,
			pg_catalog.lead(f.expected) OVER best AS next_expected
		FROM privpred._plan_figures(units, COALESCE(features, col.width, 10), classes, epsilon, delta, asked, plain,
			learner, baseline, rows_per_unit, labels_only, cuts) f
		CROSS JOIN LATERAL (
			SELECT f.why IS NULL AND (f.numeric_labels OR NOT is_number)
				AND CASE WHEN units IS NULL THEN f.rows_needed IS NOT NULL
				ELSE f.charge_kind OPERATOR(pg_catalog.=) 'once'
					OR f.answers_bought OPERATOR(pg_catalog.>=) asked END AS feasible,
				-- without a size, fewer rows are better; of numbers, one price for many answers
				CASE WHEN is_number THEN CASE WHEN (f.charge_kind OPERATOR(pg_catalog.=) 'once') OPERATOR(pg_catalog.=)
					(asked OPERATOR(pg_catalog.>) 20) THEN 1 ELSE 0 END
				ELSE pg_catalog.round((COALESCE(f.expected, 1 OPERATOR(pg_catalog.-)
					(pg_catalog.ln(f.rows_needed::pg_catalog.float8) OPERATOR(pg_catalog./) 100), 0)
					OPERATOR(pg_catalog.+) f.preference)::pg_catalog.numeric, 9) END AS merit) x
		WINDOW best AS (ORDER BY x.feasible DESC, x.merit DESC, f.mechanism)
		ORDER BY x.feasible DESC, x.merit DESC, f.mechanism
	LOOP
		rank := rank OPERATOR(pg_catalog.+) 1;
		IF is_number THEN	-- accuracies are shares of right classes
			m.expected := NULL;
			m.next_expected := NULL;
			m.rows_needed := NULL;
			m.next := NULL;
			m.model_epsilon := CASE WHEN m.numeric_labels THEN m.model_epsilon END;
			m.options := COALESCE(pg_catalog.regexp_replace(m.options, '}$', ', '), '{')
				OPERATOR(pg_catalog.||) target.target OPERATOR(pg_catalog.||) '}';
			m.asked_by := 'private_score';
		END IF;
		mechanism := m.mechanism;
		feasible := m.feasible;
		-- half of what a plain model gains over a guess, and some of what it gains over a baseline
		recommended := rank OPERATOR(pg_catalog.=) 1 AND feasible AND (m.expected IS NULL
			OR (m.expected OPERATOR(pg_catalog.>) (guess OPERATOR(pg_catalog.+)
					(0.5 OPERATOR(pg_catalog.*) (plain OPERATOR(pg_catalog.-) guess)))
				AND (baseline IS NULL OR m.expected OPERATOR(pg_catalog.>) (baseline OPERATOR(pg_catalog.+)
					(0.05 OPERATOR(pg_catalog.*) (plain OPERATOR(pg_catalog.-) baseline))))));
		why := CASE WHEN is_number AND NOT m.numeric_labels THEN
				'learns classes, and the label is a number: declare bins of it by options => ''{"bins": [...]}'''
			WHEN m.why IS NOT NULL THEN m.why
			WHEN is_number AND feasible THEN 'learns numbers, of which no accuracy is foretold'
			WHEN units IS NULL AND feasible THEN 'reaches the target from rows_needed on'
			WHEN units IS NOT NULL AND m.expected IS NULL THEN
				pg_catalog.format('gives scores; it counts on %s or more teachers that agree', m.teachers)
			WHEN units IS NOT NULL AND NOT feasible THEN pg_catalog.format(
				'would end after about %s answers, as teachers do not agree enough', m.answers_bought)
			WHEN m.expected OPERATOR(pg_catalog.>=) GREATEST(plain OPERATOR(pg_catalog.-) 0.02, guess)
				THEN 'reaches the target'
			WHEN m.rows_needed IS NULL THEN 'does not reach the target with any number of rows'
			WHEN m.rows_needed OPERATOR(pg_catalog.<=) units THEN 'stays below the target on average'
			ELSE pg_catalog.format(CASE WHEN m.by_theorem THEN 'stays below the target; its theorem asks for %s rows'
				ELSE 'stays below the target; %s rows would do' END, m.rows_needed) END;
		rows_needed := m.rows_needed;
		expected_accuracy := pg_catalog.round(m.expected::pg_catalog.numeric, 4);
		expected_error := 1 OPERATOR(pg_catalog.-) pg_catalog.round(m.expected::pg_catalog.numeric, 4);
		per_answer_epsilon := m.per_answer;
		total_epsilon := m.total;
		total_delta := m.total_delta;
		answers_bought := m.answers_bought;
		charged := CASE WHEN m.model_epsilon IS NOT NULL THEN CASE
			WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once' THEN 'once, then any number of answers'
			ELSE pg_catalog.replace(m.charge_kind, '_', ' ') END END;
		grounds := m.grounds;
		lower_bound := m.lower_bound;

		-- NULL if there is nothing to create
		chosen := pg_catalog.format('mechanism => %L%s, epsilon => ', m.created_as,
				CASE WHEN m.taught_by IS NOT NULL THEN
					pg_catalog.format(', learner => %L, teachers => %s', m.taught_by, m.teachers) END);
		options := COALESCE(', options => ' OPERATOR(pg_catalog.||) pg_catalog.quote_literal(m.options), '');
		parameters := chosen OPERATOR(pg_catalog.||) m.model_epsilon OPERATOR(pg_catalog.||) options;
		-- the price of an answer depends on how many there will be
		price := CASE WHEN told IS NOT NULL AND answers IS NULL AND m.charge_kind OPERATOR(pg_catalog.<>) 'once'
			THEN 'your_epsilon' ELSE m.model_epsilon END;
		-- only what is not declared yet
		protection := pg_catalog.concat(
			CASE WHEN units IS NOT NULL AND (NOT is_protected OR (m.needs_size AND declared_units IS NULL)) THEN
				pg_catalog.format(', declared_units => %s', units) END,
			CASE WHEN m.needs_rows AND NOT one_row AND max_rows IS NULL THEN
				pg_catalog.format(', max_rows_per_unit => %s', rows_per_unit) END);
		model := pg_catalog.concat(prefix, '_', m.created_as);
		student := CASE WHEN m.labels IS NOT NULL THEN pg_catalog.concat(prefix, '_student') END;
		statements := CASE WHEN parameters IS NOT NULL THEN pg_catalog.concat(
			CASE WHEN price OPERATOR(pg_catalog.=) 'your_epsilon' THEN pg_catalog.format(
				e'-- replace your_epsilon (%s pays for one answer), or call privpred.plan with answers => how many\n',
				m.model_epsilon) END, gaps,
			CASE WHEN NOT is_protected OR protection OPERATOR(pg_catalog.<>) '' THEN
				pg_catalog.concat('SELECT privpred.protect(', pg_catalog.quote_literal(table_name),
					', unit => ' OPERATOR(pg_catalog.||) pg_catalog.quote_literal(CASE WHEN has_unit AND other_ids IS NULL
						THEN told OPERATOR(pg_catalog.->>) 'unit' WHEN told IS NOT NULL THEN 'your_unit' END),
					CASE WHEN labels_only THEN ', protects => ''labels''' END, protection, e');\n') END,
			pg_catalog.format(
				e'SELECT privpred.create_model(%L, %L,\n  label => %L, %sfeatures => %L,\n  %s);\n'
				'SELECT privpred.grant_budget(%L, %L, %s);\n', model, table_name,
				COALESCE(target.column_name, 'your_label'),
				CASE WHEN NOT is_number THEN pg_catalog.format(e'classes => %s,\n  ', class_list) END,
				COALESCE(CASE WHEN m.bent THEN col.bent END, col.features, CASE WHEN m.bent THEN '{"your_column": {"min": 0, "max": 100, "cuts": 16}}'
					ELSE '{"your_column": {"min": 0, "max": 100}}' END), pg_catalog.concat(chosen, price, options),
				COALESCE(role::pg_catalog.text, 'your_role'), table_name, m.budget),
			CASE WHEN m.unstable IS NOT NULL THEN pg_catalog.format(
				e'SELECT privpred.open_stream(%L, unstable => %s, epsilon => %s, delta => %s);\n',
				model, m.unstable, price, m.stream_delta) END,
			CASE WHEN student IS NOT NULL THEN pg_catalog.format(
				e'-- replace your_public_table: unlabelled rows that may be seen by all\n'
				'SELECT privpred.distill(%L, %L, ''your_public_table'', labels => %s);\n', student, model, m.labels) END,
			pg_catalog.format('SELECT %s(%L, %L::jsonb);', m.asked_by, COALESCE(student, model),
				COALESCE(col.example, '{"your_column": 50}'))) END;

		advice := CASE WHEN recommended THEN pg_catalog.concat('Take ', mechanism,
				' with learner ' OPERATOR(pg_catalog.||) m.taught_by, ', because ', COALESCE(m.virtue, CASE
					WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once'
						THEN 'it is paid for once and then answers any number of questions'
					WHEN m.taught_by OPERATOR(pg_catalog.=) 'boost' THEN
						'few answers leave each a large epsilon, and boosted trees make the most of mixed columns'
					ELSE 'few answers leave each a large epsilon' END),
				'; it is expected to be right ' OPERATOR(pg_catalog.||) pg_catalog.round(100 OPERATOR(pg_catalog.*)
					m.expected::pg_catalog.numeric, 1)::pg_catalog.text OPERATOR(pg_catalog.||) ' times in 100',
				', the next best (' OPERATOR(pg_catalog.||) m.next OPERATOR(pg_catalog.||) ') ' OPERATOR(pg_catalog.||)
					pg_catalog.round(100 OPERATOR(pg_catalog.*) m.next_expected::pg_catalog.numeric, 1)::pg_catalog.text
					OPERATOR(pg_catalog.||) ' times', '.',
				CASE WHEN m.taught_by OPERATOR(pg_catalog.=) 'boost' THEN
					' Learner boost needs XGBoost (Debian: libxgboost0); without it write learner => ''logistic''.' END,
				CASE WHEN delta OPERATOR(pg_catalog.=) 0 AND asked OPERATOR(pg_catalog.>) 100
					AND mechanism OPERATOR(pg_catalog.<>) 'threshold' THEN
					' With a delta, such as 1e-6, so many answers cost much less.' END,
				CASE WHEN answers IS NULL THEN ' It is for one answer; pass answers => if there will be more.' END,
				CASE WHEN accuracy IS NULL AND NOT is_number THEN pg_catalog.format(' All of it assumes that plain logistic regression '
					'would be right %s times in 100; pass accuracy => if you know better.',
					pg_catalog.round(100 OPERATOR(pg_catalog.*) plain::pg_catalog.numeric)) END,
				CASE WHEN features IS NULL AND col.width IS NULL THEN
					' It also assumes 10 features; pass features => if there are more or fewer.' END,
				CASE WHEN units IS NULL THEN ' Pass n => for expected accuracies.' END)
			WHEN rank OPERATOR(pg_catalog.=) 1 THEN pg_catalog.format(
				'None is %s: raise epsilon, give a delta, ask for fewer answers, or gather more rows.',
				CASE WHEN baseline IS NULL THEN 'of use here'
					ELSE 'expected to be worth more than always the commonest class' END) END;
		RETURN NEXT;
	END LOOP;
END $$;
COMMENT ON FUNCTION privpred._plan(bigint, int, int, float8, float8, bigint, float8, regclass, text, name, text, float8, regrole, int) IS
'what plan() returns; table_name is the relation as its caller would write it';

-- The body is bound here and now, so that it needs no search_path of its own: the table's name is printed by the caller's.
CREATE FUNCTION privpred.plan(n bigint DEFAULT NULL, features int DEFAULT NULL, classes int DEFAULT NULL,
	epsilon float8 DEFAULT 1, delta float8 DEFAULT 0, answers bigint DEFAULT NULL,
	accuracy float8 DEFAULT NULL, relation regclass DEFAULT NULL, label name DEFAULT NULL,
	learner text DEFAULT NULL, baseline float8 DEFAULT NULL, role regrole DEFAULT NULL, cuts int DEFAULT NULL, OUT rank int, OUT mechanism text, OUT recommended boolean,
	OUT feasible boolean, OUT why text, OUT rows_needed bigint, OUT expected_accuracy float8,
	OUT expected_error float8, OUT per_answer_epsilon numeric, OUT total_epsilon numeric,
	OUT total_delta float8, OUT answers_bought bigint, OUT charged text, OUT parameters text,
	OUT statements text, OUT grounds text, OUT lower_bound text, OUT advice text)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL UNSAFE COST 100000 ROWS 14
BEGIN ATOMIC
	SELECT p.* FROM privpred._plan(plan.n, plan.features, plan.classes, plan.epsilon, plan.delta, plan.answers, plan.accuracy,
		plan.relation, COALESCE(plan.relation::pg_catalog.text, 'your_table'), plan.label, plan.learner, plan.baseline, plan.role, plan.cuts) p;
END;
COMMENT ON FUNCTION privpred.plan(bigint, int, int, float8, float8, bigint, float8, regclass, name, text, float8, regrole, int) IS
'anyone: which mechanism suits n units, so many features and classes, a budget and a number of answers; best first, with expected accuracy, rows needed and statements to paste; looks at declarations, never at rows; costs nothing';
