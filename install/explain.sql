----------------------------------------------------------------------
-- Models that can be read: read_model, explain
----------------------------------------------------------------------

CREATE FUNCTION privpred.read_model(name text)
RETURNS json AS 'MODULE_PATHNAME', 'privpred_read_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.read_model(text) IS
'owner, or anyone with a budget: a released model (a student, or any model that is charged once) as JSON; who has not paid for it pays as for a first answer';

CREATE FUNCTION privpred.predictor_json(predictor privpred.predictor) RETURNS json
	AS 'MODULE_PATHNAME', 'privpred_predictor_json' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.predictor_json(privpred.predictor) IS
'a predictor as JSON: its classes, and the numbers of its members; NOT private';

-- ---------- the rules of a predictor in words ----------

CREATE FUNCTION privpred._indent(lines text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.concat('  ',
		pg_catalog.replace(pg_catalog.rtrim(lines, e'\n'), e'\n', e'\n  '), e'\n') $$;
COMMENT ON FUNCTION privpred._indent(text) IS 'lines, two spaces further to the right; for explain()';

-- tree: which one it is, from 0; of more than two classes, each tree may be for one of them.
CREATE FUNCTION privpred._explain_leaf(leaf float4[], shares boolean, tree int, classes text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE
		WHEN shares AND classes OPERATOR(pg_catalog.=) ARRAY['number']
			THEN (0.5::pg_catalog.float8 OPERATOR(pg_catalog.+) leaf[1])::pg_catalog.text
		WHEN shares AND pg_catalog.cardinality(classes) OPERATOR(pg_catalog.=) 2
			THEN pg_catalog.format('%s (%s%%)',
				classes[CASE WHEN leaf[1] OPERATOR(pg_catalog.>) 0 THEN 2 ELSE 1 END],
				pg_catalog.round(100 OPERATOR(pg_catalog.*) (0.5::pg_catalog.float8
					OPERATOR(pg_catalog.+) pg_catalog.abs(leaf[1]::pg_catalog.float8))))
		WHEN shares THEN (
			SELECT pg_catalog.format('%s (%s%%)', classes[l.place],
				pg_catalog.round(100 OPERATOR(pg_catalog.*) l.share::pg_catalog.float8))
			FROM pg_catalog.unnest(leaf) WITH ORDINALITY l(share, place)
			ORDER BY l.share DESC, l.place LIMIT 1)
		WHEN pg_catalog.cardinality(leaf) OPERATOR(pg_catalog.=) 1
			THEN pg_catalog.format('%s for %s', leaf[1],
				classes[CASE WHEN pg_catalog.cardinality(classes) OPERATOR(pg_catalog.=) 2 THEN 2
					ELSE 1 OPERATOR(pg_catalog.+) pg_catalog.mod(tree,
						pg_catalog.cardinality(classes)) END])
		ELSE (
			SELECT pg_catalog.string_agg(pg_catalog.format('%s for %s', l.score, classes[l.place]),
				', ' ORDER BY l.place)
			FROM pg_catalog.unnest(leaf) WITH ORDINALITY l(score, place)) END $$;
COMMENT ON FUNCTION privpred._explain_leaf(float4[], boolean, int, text[]) IS
'what a leaf of a tree says; for explain()';

-- From the leaves up: node n has the nodes 2n and 2n + 1 below it.  A leaf above the bottom is
-- a node below which all leaves are the same.
CREATE FUNCTION privpred._explain_tree(member jsonb, tree int, names text[], classes text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
	outputs pg_catalog.int4 := member OPERATOR(pg_catalog.->) 'outputs';
	splits pg_catalog.jsonb := member OPERATOR(pg_catalog.#>) ARRAY['trees', tree::pg_catalog.text,
		'splits'];
	leaves pg_catalog.float4[] := ARRAY(
		SELECT l::pg_catalog.float4 FROM pg_catalog.jsonb_array_elements_text(
			member OPERATOR(pg_catalog.#>) ARRAY['trees', tree::pg_catalog.text, 'leaves']) l);
	bottom pg_catalog.int4 := pg_catalog.cardinality(leaves) OPERATOR(pg_catalog./) outputs;
	said pg_catalog.text[] := pg_catalog.array_fill(NULL::pg_catalog.text,
		ARRAY[2 OPERATOR(pg_catalog.*) bottom]);
	alike pg_catalog.text[] := said;
	first pg_catalog.int4;
	split pg_catalog.jsonb;
BEGIN
	FOR node IN REVERSE 2 OPERATOR(pg_catalog.*) bottom OPERATOR(pg_catalog.-) 1 .. 1 LOOP
		first := 2 OPERATOR(pg_catalog.*) node;
		IF node OPERATOR(pg_catalog.>=) bottom THEN
			first := (node OPERATOR(pg_catalog.-) bottom) OPERATOR(pg_catalog.*) outputs;
			alike[node] := leaves[first OPERATOR(pg_catalog.+) 1
				: first OPERATOR(pg_catalog.+) outputs]::pg_catalog.text;
			said[node] := pg_catalog.concat(privpred._explain_leaf(
				alike[node]::pg_catalog.float4[],
				(member OPERATOR(pg_catalog.->) 'shares')::pg_catalog.bool, tree, classes), e'\n');
		ELSIF alike[first] OPERATOR(pg_catalog.=) alike[first OPERATOR(pg_catalog.+) 1] THEN
			alike[node] := alike[first];
			said[node] := said[first];
		ELSE
			split := splits OPERATOR(pg_catalog.->) (node OPERATOR(pg_catalog.-) 1);
			said[node] := pg_catalog.concat('if ',
				names[(split OPERATOR(pg_catalog.->) 'feature')::pg_catalog.int4
					OPERATOR(pg_catalog.+) 1], ' < ',
				(split OPERATOR(pg_catalog.->>) 'below')::pg_catalog.float4,
				CASE WHEN split OPERATOR(pg_catalog.->>) 'missing' OPERATOR(pg_catalog.=) 'left'
					THEN ' or missing' END, e':\n', privpred._indent(said[first]), e'else:\n',
				privpred._indent(said[first OPERATOR(pg_catalog.+) 1]));
		END IF;
	END LOOP;
	RETURN said[1];
END $$;
COMMENT ON FUNCTION privpred._explain_tree(jsonb, int, text[], text[]) IS
'the rules of one tree in words; for explain()';

CREATE FUNCTION privpred._explain_member(member jsonb, names text[], classes text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE
		WHEN k.kind OPERATOR(pg_catalog.=) 'forest' THEN (
			SELECT pg_catalog.string_agg(CASE
				WHEN pg_catalog.jsonb_array_length(member OPERATOR(pg_catalog.->) 'trees')
					OPERATOR(pg_catalog.=) 1
					THEN privpred._explain_tree(member, tree, names, classes)
				ELSE pg_catalog.concat('tree ', tree OPERATOR(pg_catalog.+) 1, e':\n',
					privpred._indent(privpred._explain_tree(member, tree, names, classes))) END, ''
				ORDER BY tree)
			FROM pg_catalog.generate_series(0, pg_catalog.jsonb_array_length(
				member OPERATOR(pg_catalog.->) 'trees') OPERATOR(pg_catalog.-) 1) tree)
		WHEN k.kind OPERATOR(pg_catalog.=) 'stump' THEN pg_catalog.format(e'if %s <= %s:\n  %s\nelse:\n  %s\n',
			names[(member OPERATOR(pg_catalog.->) 'feature')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1],
			(member OPERATOR(pg_catalog.->>) 'threshold')::pg_catalog.float8,
			classes[(member OPERATOR(pg_catalog.->) 'class_below')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1],
			classes[(member OPERATOR(pg_catalog.->) 'class_above')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1])
		WHEN k.kind OPERATOR(pg_catalog.=) 'constant' AND classes OPERATOR(pg_catalog.=) ARRAY['number'] THEN e'always 0.5\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'constant' THEN pg_catalog.format(e'always %s\n',
			classes[(member OPERATOR(pg_catalog.->) 'class')::pg_catalog.int4
				OPERATOR(pg_catalog.+) 1])
		WHEN k.kind OPERATOR(pg_catalog.=) 'linear' THEN e'a linear score, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'gaussian' THEN e'a naive Bayes score, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'threshold' THEN e'a walk along one feature, without rules\n'
		WHEN k.kind OPERATOR(pg_catalog.=) 'neighbours' THEN pg_catalog.format(
			e'the %s of the %s nearest of %s rows, without rules\n',
			CASE WHEN classes OPERATOR(pg_catalog.=) ARRAY['number'] THEN 'mean' ELSE 'majority' END,
			member OPERATOR(pg_catalog.->) 'k',
			pg_catalog.jsonb_array_length(member OPERATOR(pg_catalog.->) 'rows'))
		WHEN k.kind OPERATOR(pg_catalog.=) 'sql' THEN e'a function of its own\n' END
	FROM (SELECT member OPERATOR(pg_catalog.->>) 'kind' AS kind) k $$;
COMMENT ON FUNCTION privpred._explain_member(jsonb, text[], text[]) IS
'the rules of one member of a predictor in words; for explain()';

CREATE FUNCTION privpred.explain(predictor privpred.predictor, features text[] DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1 AS $$
DECLARE
	stored pg_catalog.jsonb := privpred.predictor_json(predictor);
	width pg_catalog.int4 := stored OPERATOR(pg_catalog.->) 'width';
	classes pg_catalog.text[] := ARRAY(
		SELECT pg_catalog.jsonb_array_elements_text(stored OPERATOR(pg_catalog.->) 'classes'));
	members pg_catalog.int4 := pg_catalog.jsonb_array_length(
		stored OPERATOR(pg_catalog.->) 'members');
	said pg_catalog.text;
BEGIN
	IF pg_catalog.array_position(features, NULL) IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE := 'null_value_not_allowed',
			MESSAGE := 'names of features must not be null';
	ELSIF pg_catalog.cardinality(features) OPERATOR(pg_catalog.<>) width THEN
		RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
			MESSAGE := pg_catalog.format('there are %s names, but the predictor has %s features',
				pg_catalog.cardinality(features), width),
			HINT := 'Name every number of a row as the learner saw it; a category has one per level.';
	END IF;
	-- numbered from one, whatever the subscripts of the array are
	features := COALESCE(ARRAY(SELECT pg_catalog.unnest(features) WHERE features IS NOT NULL),
		'{}');
	IF pg_catalog.cardinality(features) OPERATOR(pg_catalog.=) 0 THEN
		features := ARRAY(SELECT pg_catalog.concat('f', i)
			FROM pg_catalog.generate_series(1, width) i);
	END IF;
	SELECT pg_catalog.string_agg(CASE WHEN members OPERATOR(pg_catalog.=) 1
		THEN privpred._explain_member(m.member, features, classes)
		ELSE pg_catalog.concat('member ', m.place, e':\n',
			privpred._indent(privpred._explain_member(m.member, features, classes))) END, ''
		ORDER BY m.place) INTO said
	FROM pg_catalog.jsonb_array_elements(stored OPERATOR(pg_catalog.->) 'members')
		WITH ORDINALITY m(member, place);
	RETURN said;
END $$;
COMMENT ON FUNCTION privpred.explain(privpred.predictor, text[]) IS
	'the rules of a predictor''s trees in words, with names for the features; NOT private';

-- ---------- the shape functions of a released model ----------

-- A row for each number that features are encoded as: whose it is, and from which value to
-- which.  A level goes from itself to itself, and so does true.
CREATE FUNCTION privpred._encoded(features jsonb, OUT place bigint, OUT column_place bigint,
	OUT feature text, OUT kind text, OUT type text, OUT low text, OUT high text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.row_number() OVER (ORDER BY f.place, e.place), f.place,
		f.spec OPERATOR(pg_catalog.->>) 'name', f.spec OPERATOR(pg_catalog.->>) 'kind',
		f.spec OPERATOR(pg_catalog.->>) 'type', e.low, e.high
	FROM pg_catalog.jsonb_array_elements(features) WITH ORDINALITY f(spec, place),
	LATERAL (
		SELECT k.place, n.knot AS low, pg_catalog.lead(n.knot) OVER (ORDER BY k.place) AS high
		FROM pg_catalog.jsonb_array_elements_text(
			pg_catalog.jsonb_build_array(f.spec OPERATOR(pg_catalog.->) 'min')
			OPERATOR(pg_catalog.||) COALESCE(f.spec OPERATOR(pg_catalog.->) 'cuts', '[]')
			OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_array(
				f.spec OPERATOR(pg_catalog.->) 'max')) WITH ORDINALITY k(knot, place),
			LATERAL (SELECT CASE WHEN f.spec OPERATOR(pg_catalog.->) 'type' IS NULL
				THEN k.knot::pg_catalog.float8::pg_catalog.text ELSE k.knot END AS knot) n
		WHERE f.spec OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'numeric'
		UNION ALL
		SELECT l.place, l.level, l.level
		FROM pg_catalog.jsonb_array_elements_text(
			CASE WHEN f.spec OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'category'
				THEN f.spec OPERATOR(pg_catalog.->) 'levels'
				WHEN f.spec OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'boolean'
				THEN '["true"]' ELSE '[]' END) WITH ORDINALITY l(level, place)) e
	WHERE e.high IS NOT NULL $$;
COMMENT ON FUNCTION privpred._encoded(jsonb) IS
'the numbers that features are encoded as, in the columns'' own units; for explain()';

-- What a linear score adds up to.  The pieces of a number add up from its least value on.
CREATE FUNCTION privpred._effects(features jsonb, weights jsonb, classes text[], unit float8,
	zero float8, noise float8, OUT class text, OUT feature text, OUT low text, OUT high text,
	OUT effect_low float8, OUT effect_high float8, OUT noise_low float8, OUT noise_high float8)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100 SET search_path TO pg_catalog, pg_temp AS $$
	WITH output AS (
		SELECT o.place, classes[o.place] AS class, o.weights
		FROM pg_catalog.jsonb_array_elements(weights) WITH ORDINALITY o(weights, place)
	), term AS (
		SELECT o.place AS output, o.class, e.place, e.column_place, e.feature, e.kind, e.low,
			e.high, unit OPERATOR(pg_catalog.*) w.weight::pg_catalog.float8 AS weight,
			pg_catalog.row_number() OVER (PARTITION BY o.place, e.column_place ORDER BY e.place)
				AS piece
		FROM output o,
			pg_catalog.jsonb_array_elements_text(o.weights) WITH ORDINALITY w(weight, place)
			LEFT JOIN privpred._encoded(features) e ON e.place OPERATOR(pg_catalog.=) w.place
	)
	SELECT r.class, r.feature, r.low, r.high, r.effect_low, r.effect_high, r.noise_low, r.noise_high
	FROM (
		-- the intercept comes first of all
		SELECT t.output, 0 AS place, t.class, NULL::pg_catalog.text AS feature,
			NULL::pg_catalog.text AS low, NULL::pg_catalog.text AS high,
			zero OPERATOR(pg_catalog.+) t.weight AS effect_low,
			zero OPERATOR(pg_catalog.+) t.weight AS effect_high,
			NULL::pg_catalog.float8 AS noise_low, NULL::pg_catalog.float8 AS noise_high
		FROM term t WHERE t.place IS NULL
		UNION ALL
		SELECT t.output, t.place, t.class, t.feature, t.low, t.high,
			COALESCE(pg_catalog.sum(t.weight) OVER before, 0),
			COALESCE(pg_catalog.sum(t.weight) OVER before, 0) OPERATOR(pg_catalog.+) t.weight,
			noise OPERATOR(pg_catalog.*) pg_catalog.sqrt(
				(t.piece OPERATOR(pg_catalog.-) 1)::pg_catalog.float8),
			noise OPERATOR(pg_catalog.*) pg_catalog.sqrt(t.piece::pg_catalog.float8)
		FROM term t WHERE t.kind OPERATOR(pg_catalog.=) 'numeric'
		WINDOW before AS (PARTITION BY t.output, t.column_place ORDER BY t.place
			ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)
		UNION ALL
		SELECT t.output, t.place, t.class, t.feature, v.level, v.level, v.effect, v.effect,
			v.noise, v.noise
		FROM term t, LATERAL (
			VALUES (t.kind, t.low, t.weight, noise),
				('boolean', 'false', 0, CASE WHEN noise IS NOT NULL THEN 0 END))
			v(kind, level, effect, noise)
		WHERE t.kind OPERATOR(pg_catalog.<>) 'numeric'
			AND t.kind OPERATOR(pg_catalog.=) v.kind) r
	ORDER BY r.output, r.place, r.low $$;
COMMENT ON FUNCTION privpred._effects(jsonb, jsonb, text[], float8, float8, float8) IS
'the effects of a linear score, feature by feature; for explain()';

-- From [0, 1] to the column's own units.
CREATE FUNCTION privpred._own_units(type text, low text, high text, x float8) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN type OPERATOR(pg_catalog.=) '' THEN (low::pg_catalog.float8 OPERATOR(pg_catalog.+)
			(x OPERATOR(pg_catalog.*) (high::pg_catalog.float8 OPERATOR(pg_catalog.-)
			low::pg_catalog.float8)))::pg_catalog.text
		WHEN type OPERATOR(pg_catalog.=) 'timestamptz' THEN (low::pg_catalog.timestamptz OPERATOR(pg_catalog.+)
			(x OPERATOR(pg_catalog.*) (high::pg_catalog.timestamptz OPERATOR(pg_catalog.-)
			low::pg_catalog.timestamptz)))::pg_catalog.text
		ELSE pg_catalog.regexp_replace((low::pg_catalog.timestamp OPERATOR(pg_catalog.+)
			(x OPERATOR(pg_catalog.*) (high::pg_catalog.timestamp OPERATOR(pg_catalog.-)
			low::pg_catalog.timestamp)))::pg_catalog.text, ' 00:00:00$', '') END $$;
COMMENT ON FUNCTION privpred._own_units(text, text, text, float8) IS
'a share of the way from one value of a column to another; for explain()';

-- Where a classifier that is no sum says a class: in all of the ranges that it lists.
CREATE FUNCTION privpred._regions(features jsonb, predictor jsonb, classes text[], OUT class text,
	OUT feature text, OUT low text, OUT high text, OUT place bigint)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 SET search_path TO pg_catalog, pg_temp AS $$
	WITH part AS (
		-- of a box, the ranges; of a cut in one column, from it on; of points, each of them
		SELECT e.place, e.feature, e.kind, e.type, e.low, e.high,
			(predictor OPERATOR(pg_catalog.->) 'inside')::pg_catalog.int4 AS label,
			CASE WHEN predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'box'
				THEN predictor OPERATOR(pg_catalog.#>>) ARRAY['low', i.i]
				ELSE predictor OPERATOR(pg_catalog.->>) 'cut' END::pg_catalog.float8 AS x_low,
			(predictor OPERATOR(pg_catalog.#>>) ARRAY['high', i.i])::pg_catalog.float8 AS x_high
		FROM privpred._encoded(features) e,
			LATERAL (SELECT (e.place OPERATOR(pg_catalog.-) 1)::pg_catalog.text AS i) i
		WHERE predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'box'
			OR (predictor OPERATOR(pg_catalog.#>>) ARRAY['weights', i.i])::pg_catalog.float8
				OPERATOR(pg_catalog.<>) 0
		UNION ALL
		SELECT l.place, e.feature, e.kind, e.type, e.low, e.high, l.label::pg_catalog.int4,
			n.x_low, n.x_high
		FROM pg_catalog.jsonb_array_elements_text(predictor OPERATOR(pg_catalog.->) 'labels')
			WITH ORDINALITY l(label, place)
		JOIN privpred._encoded(features) e ON e.place OPERATOR(pg_catalog.=) CASE
			WHEN predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'levels'
			THEN l.place ELSE 1 END,
		LATERAL (SELECT (l.place OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) d.count AS x_low,
			l.place OPERATOR(pg_catalog./) d.count AS x_high
			FROM (SELECT pg_catalog.jsonb_array_length(predictor OPERATOR(pg_catalog.->) 'labels')
				::pg_catalog.float8 AS count) d) n
	)
	SELECT classes[p.label OPERATOR(pg_catalog.+) 1], p.feature,
		CASE WHEN p.kind OPERATOR(pg_catalog.=) 'numeric' THEN COALESCE(
			privpred._own_units(COALESCE(p.type, ''), p.low, p.high, p.x_low), p.low)
			ELSE b.said END,
		CASE WHEN p.kind OPERATOR(pg_catalog.=) 'numeric' THEN COALESCE(
			privpred._own_units(COALESCE(p.type, ''), p.low, p.high, p.x_high), p.high)
			ELSE b.said END, p.place
	FROM part p, LATERAL (
		-- a box may ask that a level or a boolean is not there, or not ask at all
		SELECT CASE WHEN p.x_low OPERATOR(pg_catalog.>) 0 THEN p.low
			WHEN p.x_high OPERATOR(pg_catalog.<=) 1 THEN pg_catalog.concat('not ', p.low)
			END AS said, predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=) 'levels'
			AS listed) l, LATERAL (SELECT CASE WHEN l.listed THEN p.low ELSE l.said END AS said) b
	WHERE p.kind OPERATOR(pg_catalog.=) 'numeric' OR b.said IS NOT NULL
	UNION ALL
	-- always the same
	SELECT classes[(predictor OPERATOR(pg_catalog.->) 'inside')::pg_catalog.int4
		OPERATOR(pg_catalog.+) 1], NULL, NULL, NULL, 0
	WHERE NOT EXISTS (SELECT FROM part) $$;
COMMENT ON FUNCTION privpred._regions(jsonb, jsonb, text[]) IS
'where a classifier says which class, in the columns'' own units; for explain()';

CREATE FUNCTION privpred.explain(model text, OUT class text, OUT feature text, OUT low text,
	OUT high text, OUT effect_low float8, OUT effect_high float8, OUT noise_low float8,
	OUT noise_high float8)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE ROWS 100
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1
SET DateStyle TO 'ISO, YMD' SET TimeZone TO 'UTC' AS $$
DECLARE
	features pg_catalog.jsonb;
	predictor pg_catalog.jsonb;
	classes pg_catalog.text[];
	weights pg_catalog.jsonb;
	target pg_catalog.jsonb;
	unit pg_catalog.float8;
	otherwise pg_catalog.text;
BEGIN
	-- Whoever may not see it is refused here, and whoever has not paid for it pays.
	SELECT m.stored OPERATOR(pg_catalog.->) 'features',
		m.stored OPERATOR(pg_catalog.->) 'predictor',
		ARRAY(SELECT pg_catalog.jsonb_array_elements_text(
			m.stored OPERATOR(pg_catalog.->) 'classes'))
	INTO features, predictor, classes
	FROM (SELECT privpred.read_model(model)::pg_catalog.jsonb AS stored OFFSET 0) m;
	IF pg_catalog.jsonb_array_length(predictor OPERATOR(pg_catalog.->) 'members')
		OPERATOR(pg_catalog.=) 1
	THEN
		predictor := predictor OPERATOR(pg_catalog.#>) '{members,0}'::pg_catalog.text[];
	END IF;
	-- Of two classes it is the other one; a cut that is null is always reached.
	IF pg_catalog.cardinality(classes) OPERATOR(pg_catalog.>) 2 AND COALESCE(
		predictor OPERATOR(pg_catalog.->) 'cut', 'true') OPERATOR(pg_catalog.<>) 'null'
	THEN
		otherwise := classes[(predictor OPERATOR(pg_catalog.->) 'outside')::pg_catalog.int4
			OPERATOR(pg_catalog.+) 1];
	END IF;
	target := predictor OPERATOR(pg_catalog.->) 'target';
	weights := predictor OPERATOR(pg_catalog.->) 'weights';
	IF predictor OPERATOR(pg_catalog.->>) 'class' OPERATOR(pg_catalog.=) 'halfspaces' THEN
		weights := pg_catalog.jsonb_build_array(weights OPERATOR(pg_catalog.||)
			pg_catalog.to_jsonb(COALESCE(0 OPERATOR(pg_catalog.-) (predictor
				OPERATOR(pg_catalog.->>) 'cut')::pg_catalog.float8, 0)));
		classes := ARRAY[classes[(predictor OPERATOR(pg_catalog.->) 'inside')::pg_catalog.int4
			OPERATOR(pg_catalog.+) 1]];
	ELSIF predictor OPERATOR(pg_catalog.->>) 'kind' OPERATOR(pg_catalog.=)
		ANY ('{cut,box,levels,parts}'::pg_catalog.text[])
	THEN
		RETURN QUERY SELECT r.class, r.feature, r.low, r.high, NULL::pg_catalog.float8,
			NULL::pg_catalog.float8, NULL::pg_catalog.float8, NULL::pg_catalog.float8
			FROM privpred._regions(features, predictor, classes) r ORDER BY r.place;
		RETURN QUERY SELECT otherwise, NULL, NULL, NULL, NULL::pg_catalog.float8,
			NULL::pg_catalog.float8, NULL::pg_catalog.float8, NULL::pg_catalog.float8
			WHERE otherwise IS NOT NULL;
		RETURN;
	ELSIF COALESCE(predictor OPERATOR(pg_catalog.->>) 'kind', '') OPERATOR(pg_catalog.<>) 'linear' THEN
		RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state',
			MESSAGE := pg_catalog.format('model "%s" is not a sum of effects', model),
			DETAIL := pg_catalog.format('It is of kind "%s".', COALESCE(
				predictor OPERATOR(pg_catalog.->>) 'kind', 'ensemble')),
			HINT := 'privpred.read_model shows it as JSON.';
	END IF;
	IF target IS NOT NULL THEN
		unit := (target OPERATOR(pg_catalog.->>) 'max')::pg_catalog.float8
			OPERATOR(pg_catalog.-) (target OPERATOR(pg_catalog.->>) 'min')::pg_catalog.float8;
	-- Of two classes, the one sum is for the second.
	ELSIF pg_catalog.jsonb_array_length(weights) OPERATOR(pg_catalog.=) 1
		AND pg_catalog.cardinality(classes) OPERATOR(pg_catalog.=) 2
	THEN
		classes := classes[2:2];
	END IF;
	RETURN QUERY SELECT e.* FROM privpred._effects(features, weights, classes, COALESCE(unit, 1),
		COALESCE((target OPERATOR(pg_catalog.->>) 'min')::pg_catalog.float8, 0),
		COALESCE(unit, 1) OPERATOR(pg_catalog.*) (predictor
			OPERATOR(pg_catalog.->>) 'noise')::pg_catalog.float8) e;
	RETURN QUERY SELECT otherwise, NULL, NULL, NULL, NULL::pg_catalog.float8,
		NULL::pg_catalog.float8, NULL::pg_catalog.float8, NULL::pg_catalog.float8
		WHERE otherwise IS NOT NULL;
END $$;
COMMENT ON FUNCTION privpred.explain(text) IS
'owner, or anyone with a budget: what each value of each feature adds to the score of a released model, with its noise, or where a released classifier says which class; who has not paid for the model pays as for a first answer';
