-- For test/t/022_matrix.pl: every mechanism, learner, kind of label, shape of table and form of question.
-- Written in plain SQL, beside the product: teachers are trained one by one and asked one by one.
CREATE EXTENSION privpred;
CREATE SCHEMA matrix;
SET search_path = matrix, public;
CREATE ROLE pure;
CREATE ROLE approximate;
GRANT USAGE ON SCHEMA matrix TO pure, approximate;

-- ---------- tables ----------

CREATE TYPE colour AS ENUM ('c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9');
CREATE TYPE coin AS ENUM ('heads', 'tails');

-- class: from 0, what all labels of a row say; x, w and s tell about it.
CREATE TABLE rows_of (shape text, unit int, class int, i int);
INSERT INTO rows_of
  SELECT 'one class', i, 1, i FROM generate_series(1, 42) i
  UNION ALL SELECT 'rare first class', i, CASE WHEN i IN (7, 30) THEN 0 ELSE 1 END, i FROM generate_series(1, 60) i
  UNION ALL SELECT 'rare last class', i, CASE WHEN i IN (7, 30) THEN 1 ELSE 0 END, i FROM generate_series(1, 60) i
  UNION ALL SELECT 'five rows', i, i % 2, i FROM generate_series(1, 5) i
  UNION ALL SELECT 'many rows a unit', i / 4, (i * 7 % 20 > 9)::int, i FROM generate_series(1, 59) i
  UNION ALL SELECT 'ten classes', i, i * 7 % 20 / 2, i FROM generate_series(1, 100) i;
CREATE TABLE shape (name text, relation regclass, of_labels regclass, classes int);
CREATE TABLE question (q int, x float8, w text, s boolean);
INSERT INTO question VALUES (1, 1, 'A', false), (2, 9, 'C', true), (3, 5.5, 'B', true);
CREATE TABLE public_row AS SELECT i / 2.0 AS x, chr(65 + i / 7) AS w, i > 10 AS s FROM generate_series(0, 20) i;
GRANT SELECT ON ALL TABLES IN SCHEMA matrix TO pure, approximate;

DO $$
DECLARE
  s text;
  relation text;
  n int := 0;
  label_type text;
BEGIN
  FOREACH s IN ARRAY '{one class,rare first class,rare last class,five rows,empty,many rows a unit,ten classes}'::text[] LOOP
    n := n + 1;
    label_type := CASE s WHEN 'ten classes' THEN 'colour' ELSE 'coin' END;
    FOREACH relation IN ARRAY ARRAY['t' || n, 'l' || n] LOOP
      EXECUTE format('CREATE TABLE %I (unit int NOT NULL, x float8, w text, s boolean, "boolean" boolean, "integer" int, "text" text, "enum" %s, "number" float8)', relation, label_type);
      EXECUTE format('INSERT INTO %I SELECT unit, 10 * (class + (i * 37 %% 100) / 100.0) / $2, chr(65 + 3 * class / $2), class * 2 >= $2, '
        'class * 2 >= $2, class, chr(97 + class), (enum_range(NULL::%s))[1 + class], class + (i * 41 %% 100) / 100.0 FROM rows_of WHERE shape = $1 ORDER BY i', relation, label_type)
        USING s, CASE s WHEN 'ten classes' THEN 10 ELSE 2 END;
      -- features that are missing, labels that are missing or not declared
      EXECUTE format('UPDATE %I SET x = NULL WHERE unit %% 20 = 11', relation);
      EXECUTE format('UPDATE %I SET "boolean" = NULL, "integer" = 99, "text" = NULL, "enum" = NULL, "number" = NULL WHERE unit = 4', relation);
      PERFORM privpred.protect(relation::regclass, unit => 'unit', protects => CASE left(relation, 1) WHEN 'l' THEN 'labels' ELSE 'rows' END,
        declared_units => 10000, max_rows_per_unit => 4);
      PERFORM privpred.grant_budget('pure', relation::regclass, epsilon => 1e6);
      PERFORM privpred.grant_budget('approximate', relation::regclass, epsilon => 1e6, delta => 0.5, force => true);
    END LOOP;
    INSERT INTO shape VALUES (s, ('t' || n)::regclass, ('l' || n)::regclass, CASE s WHEN 'ten classes' THEN 10 ELSE 2 END);
  END LOOP;
END $$;

-- a learner in SQL: the most common label on the side of 0.5
CREATE FUNCTION sql_step(state jsonb, label text, x float8[]) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(state, '{}') || jsonb_build_object(k, coalesce((state ->> k)::int, 0) + 1) FROM (SELECT (x[1] > 0.5)::text || ' ' || label AS k) s $$;
CREATE AGGREGATE sql_train(text, float8[]) (SFUNC = sql_step, STYPE = jsonb);
CREATE FUNCTION sql_predict(state jsonb, x float8[]) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT split_part(key, ' ', 2) FROM jsonb_each_text(state) WHERE starts_with(key, (x[1] > 0.5)::text) ORDER BY value::int DESC, key LIMIT 1 $$;

-- ---------- what there is ----------

CREATE FUNCTION named(argument text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE format('SELECT privpred.create_model(''none'', ''t1'', ''text'', ''["s"]'', classes => ''{a,b}'', %I => ''none'')', argument);
EXCEPTION WHEN undefined_object THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;
-- and forms of them, by an option
CREATE TABLE mechanism AS SELECT m AS name FROM named('mechanism') m UNION ALL SELECT 'stable_erm, one pass';
CREATE TABLE learner AS SELECT l AS name, (CASE l WHEN 'sql' THEN '{"train": "matrix.sql_train", "predict": "matrix.sql_predict"}' WHEN 'boost' THEN '{"rounds": 3, "depth": 2}'
  WHEN 'forest' THEN '{"trees": 3, "depth": 2}' WHEN 'tree' THEN '{"min_rows": 1}' ELSE '{}' END)::jsonb AS options FROM named('learner') l;
CREATE TABLE label (name text);
INSERT INTO label VALUES ('boolean'), ('integer'), ('text'), ('enum'), ('number'), ('bins');

-- ---------- the product ----------

CREATE FUNCTION classes_of(label text, n int) RETURNS text[] LANGUAGE sql AS $$
  SELECT CASE label WHEN 'integer' THEN array_agg(c::text ORDER BY c) WHEN 'text' THEN array_agg(chr(97 + c) ORDER BY c) END FROM generate_series(0, n - 1) c $$;

-- NULL, or the refusal
CREATE FUNCTION train(mechanism text, learner text, label text, relation regclass, classes int, columns text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  options jsonb := (SELECT l.options FROM matrix.learner l WHERE l.name = learner);
  hint text;
BEGIN
  options := options || CASE label WHEN 'number' THEN jsonb_build_object('target', jsonb_build_object('min', 0, 'max', classes))
    WHEN 'bins' THEN jsonb_build_object('bins', to_jsonb(ARRAY(SELECT generate_series(0, classes)))) ELSE '{}' END;
  IF mechanism = 'soft' THEN
    options := options || '{"precision": 0.5}';
  ELSIF mechanism = 'stable_erm, one pass' THEN
    options := options || '{"solver": "sgd"}';
  END IF;
  PERFORM privpred.create_model('m', relation, CASE label WHEN 'bins' THEN 'number' ELSE label END::name,
    replace(CASE columns WHEN 'x' THEN '{"x": {"min": 0, "max": 10}}' WHEN 'numbers' THEN '{"x": {"min": 0, "max": 10}, "s": {"type": "boolean"}}'
      ELSE '{"x": {"min": 0, "max": 10}, "w": {"levels": ["A", "B", "C"]}, "s": {"type": "boolean"}}' END,
      -- numbers with cuts, one of them on a question, for half of the labels
      '10}', CASE WHEN label IN ('integer', 'enum', 'number') THEN '10, "cuts": [3, 5.5, 8]}' ELSE '10}' END)::json,
    classes => classes_of(label, classes), mechanism => split_part(mechanism, ',', 1), learner => learner, teachers => 7, epsilon => 100, options => options);
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(hint, ''));
END $$;

CREATE TYPE answers AS (q int, by_array text, by_jsonb text, by_row text);

-- Whose score a question is about, if there are more than two.
CREATE FUNCTION class_asked(classes text[], q int) RETURNS text LANGUAGE sql AS $$ SELECT classes[1 + q % cardinality(classes)] $$;

-- Three questions, in three forms each, of what the model gives: classes or scores.
CREATE FUNCTION ask(columns text, of_classes text[]) RETURNS SETOF answers LANGUAGE plpgsql AS $$
DECLARE
  form text := CASE columns WHEN 'x' THEN 'SELECT q, %1$I(''m'', ARRAY[x]%2$s)::text, %1$I(''m'', jsonb_build_object(''x'', x)%2$s)::text, %1$I(''m'', question%2$s)::text FROM matrix.question ORDER BY q'
    WHEN 'numbers' THEN 'SELECT q, %1$I(''m'', ARRAY[x, s::int]%2$s)::text, %1$I(''m'', jsonb_build_object(''s'', s, ''x'', x)%2$s)::text, %1$I(''m'', question%2$s)::text FROM matrix.question ORDER BY q'
    ELSE 'SELECT q, %1$I(''m'', ARRAY[x, (w = ''A'')::int, (w = ''B'')::int, (w = ''C'')::int, s::int]%2$s)::text, '
      '%1$I(''m'', jsonb_build_object(''s'', s, ''w'', w, ''x'', x)%2$s)::text, %1$I(''m'', question%2$s)::text FROM matrix.question ORDER BY q' END;
  hint text;
BEGIN
  BEGIN
    RETURN QUERY EXECUTE format(form, 'private_predict', '');
    RETURN;
  EXCEPTION WHEN object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    IF hint <> 'Use private_score.' THEN
      RAISE;
    END IF;
  END;
  RETURN QUERY EXECUTE format(form, 'private_score', CASE WHEN cardinality(of_classes) > 2 THEN format(', NULL, matrix.class_asked(%L, q)', of_classes) ELSE '' END);
END $$;

CREATE FUNCTION as_role(asker text, columns text, may_repeat boolean) RETURNS SETOF answers LANGUAGE plpgsql AS $$
DECLARE
  streams boolean := (SELECT charge_kind = 'per_stream' FROM privpred.model WHERE name = 'm');
  of_classes text[] := (SELECT classes FROM privpred.model WHERE name = 'm' AND mechanism = 'soft' AND bin_edges IS NULL);
BEGIN
  PERFORM set_config('role', asker, false);
  PERFORM set_config('privpred.repeat_memory', CASE WHEN may_repeat THEN '100' ELSE '0' END, false);
  IF streams THEN
    PERFORM privpred.open_stream('m', unstable => 20, epsilon => 100, delta => 1e-13);
  END IF;
  RETURN QUERY SELECT * FROM matrix.ask(columns, of_classes);
  IF streams THEN
    PERFORM privpred.close_stream('m');
  END IF;
END $$;

-- By whoever can pay: a budget without delta, one with it, or the owner.
CREATE FUNCTION answered(columns text, may_repeat boolean, OUT answers answers[], OUT problem text) LANGUAGE plpgsql AS $$
DECLARE
  asker text;
BEGIN
  FOREACH asker IN ARRAY '{pure,approximate,none}'::text[] LOOP
    BEGIN
      answers := ARRAY(SELECT a FROM as_role(asker, columns, may_repeat) a);
      problem := NULL;
    EXCEPTION WHEN OTHERS THEN
      problem := concat_ws(' | ', 'asking', SQLSTATE, SQLERRM);
    END;
    PERFORM set_config('role', 'none', false);
    EXIT WHEN problem IS NULL OR problem !~ 'cannot pay|answers the owner';
  END LOOP;
END $$;

-- ---------- the same once more, in SQL ----------

-- Rows of a table as teachers see them: unit, class, features.
CREATE FUNCTION rows_seen(of regclass, label text, model privpred.model) RETURNS TABLE (unit int, class text, f float8[]) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT unit, %s, privpred.encode($1, ROW(x, w, s)) FROM %s',
    CASE label WHEN 'bins' THEN 'CASE WHEN "number" IS NOT NULL THEN $2[least(greatest(width_bucket("number", $3), 1), cardinality($2))] END' ELSE quote_ident(label) || '::text' END, of)
    USING model.features, model.classes, model.bin_edges;
END $$;

-- What one fit to these rows says to each question: one class seen is the vote, none is the default.
CREATE FUNCTION opinion(learner text, options jsonb, classes text[], seen text[], f float8[], questions float8[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  width int := array_length(questions, 2);
  votes text[];
  present text[] := ARRAY(SELECT DISTINCT c FROM unnest(seen) c);
BEGIN
  IF cardinality(present) < 2 THEN
    RETURN array_fill(CASE cardinality(present) WHEN 1 THEN present[1] ELSE classes[1] END, ARRAY[array_length(questions, 1)]);
  END IF;
  EXECUTE format('SELECT CASE WHEN p::text = coalesce(privpred.finish_state(z), p)::text THEN ARRAY(SELECT privpred.predict(p, ARRAY(SELECT $4[q][i] FROM generate_series(1, $5) i ORDER BY i)) FROM generate_series(1, array_length($4, 1)) q ORDER BY q) END
    FROM (SELECT privpred.%I(c, x, $3) AS p, privpred.partial_state(c, x, $3 || $6) FILTER (WHERE $6 <> ''{"learner": "sql"}'') AS z
            FROM unnest($1) WITH ORDINALITY u(c, n), LATERAL (SELECT ARRAY(SELECT $2[n][i] FROM generate_series(1, $5) i ORDER BY i) AS x) e) s',
    CASE learner WHEN 'sql' THEN 'sql_learner' ELSE learner END)
    INTO votes USING seen, f, options || jsonb_build_object('classes', classes), questions, width, jsonb_build_object('learner', learner);
  IF votes IS NULL THEN
    RAISE 'a portable state of learner % ends in another teacher', learner;
  END IF;
  RETURN votes;
END $$;

-- How many teachers say what to each question.
CREATE FUNCTION votes(model privpred.model, of regclass, label text, questions float8[]) RETURNS TABLE (q int, class text, votes int) LANGUAGE sql AS $$
  WITH row_seen AS MATERIALIZED (
    SELECT privpred.teacher_of(r.unit, model.salt, model.teachers) AS t, r.class, r.f FROM matrix.rows_seen(of, label, model) r WHERE r.class = ANY (model.classes)),
  chunk AS (
    SELECT t, ARRAY(SELECT r.class FROM row_seen r WHERE r.t = g.t) AS seen, ARRAY(SELECT r.f FROM row_seen r WHERE r.t = g.t) AS f
    FROM generate_series(0, model.teachers - 1) g(t)),
  said AS MATERIALIZED (SELECT matrix.opinion(model.learner, l.options, model.classes, seen, f, questions) AS o FROM chunk, matrix.learner l WHERE l.name = model.learner)
  SELECT u.q::int, c, count(*) FILTER (WHERE u.class = c)::int
  FROM said, unnest(o) WITH ORDINALITY u(class, q), unnest(model.classes) c GROUP BY 1, 2 $$;

-- The class with most votes, ties to the first; its lead over the second.
CREATE FUNCTION tops(model privpred.model, of regclass, label text, questions float8[]) RETURNS TABLE (q int, top text, lead int, all_tops text[], medians text[]) LANGUAGE sql AS $$
  SELECT v.q, (array_agg(class ORDER BY votes DESC, array_position(model.classes, class)))[1],
    (array_agg(votes ORDER BY votes DESC))[1] - (array_agg(votes ORDER BY votes DESC))[2],
    array_agg(class) FILTER (WHERE votes = best), array_agg(class) FILTER (WHERE greatest(upto - votes, model.teachers - upto) <= model.teachers / 2)
  FROM (SELECT *, max(votes) OVER (PARTITION BY q) AS best, sum(votes) OVER (PARTITION BY q ORDER BY array_position(model.classes, class)) AS upto FROM matrix.votes(model, of, label, questions)) v GROUP BY 1 $$;

CREATE FUNCTION questions(model privpred.model) RETURNS float8[] LANGUAGE sql AS $$
  SELECT array_agg(privpred.encode(model.features, ROW(x, w, s)) ORDER BY q) FROM matrix.question $$;

-- Does an answer fit the votes?  At epsilon 100 a lead of one decides but for 1e-21, and a distance of one is stable but for 1e-13.
CREATE FUNCTION fits(mechanism text, learner text, classes text[], answer text, top text, lead int, all_tops text[], medians text[]) RETURNS boolean LANGUAGE sql AS $$
  SELECT CASE mechanism
    WHEN 'vote' THEN answer = ANY (all_tops)
    WHEN 'median' THEN answer = ANY (medians)
    WHEN 'average' THEN answer = ANY (classes)
    WHEN 'sparse' THEN CASE WHEN lead >= 3 THEN answer = top ELSE answer IS NULL END
    -- scores of margins that do not agree may be in the middle
    WHEN 'soft' THEN CASE WHEN lead >= 3 THEN answer::float8 = CASE top WHEN classes[1] THEN 0.25 ELSE 0.75 END
      ELSE answer IS NULL OR (answer = '0.5' AND learner IN ('logistic', 'svm', 'linear', 'centroid', 'naive_bayes', 'knn')) END
    END $$;

-- Numbers within the bounds; without rows all teachers say the middle, where noise of a 700th of the range is small.
-- Of "soft", middles of halves, by as many teachers as say so, or what half-shifted ones have.
CREATE FUNCTION check_numbers(of regclass, label text, answers answers[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  model privpred.model;
  least float8;
  range float8;
  bare boolean;
BEGIN
  SELECT * INTO model FROM privpred.model WHERE name = 'm';
  least := coalesce(model.label_min, model.bin_edges[1]);
  range := coalesce(model.label_max, model.bin_edges[cardinality(model.bin_edges)]) - least;
  EXECUTE format('SELECT count(*) = 0 FROM %s', of) INTO bare;
  RETURN (SELECT string_agg(format('question %s: %s', q, answer), '; ')
    FROM unnest(answers) a CROSS JOIN LATERAL unnest(ARRAY[by_array, by_jsonb, by_row]) answer
    LEFT JOIN (SELECT v.q, sum(CASE WHEN array_position(model.classes, v.class) * 2 > cardinality(model.classes) THEN v.votes ELSE -v.votes END) AS lead
                 FROM matrix.votes(model, of, label, matrix.questions(model)) v WHERE label = 'bins' GROUP BY v.q) l USING (q)
   WHERE CASE model.mechanism
     WHEN 'soft' THEN CASE WHEN label = 'bins' AND l.lead >= 3 THEN answer::float8 = least + range * 0.75 WHEN label = 'bins' AND l.lead <= -3 THEN answer::float8 = least + range * 0.25
       ELSE answer IS NULL OR answer::float8 IN (least + range / 4, least + range / 2, least + range * 0.75) END
     ELSE answer::float8 BETWEEN least AND least + range AND (NOT bare OR abs(answer::float8 - least - range / 2) < range * 0.05) END IS NOT TRUE);
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', 'checking', SQLSTATE, SQLERRM);
END $$;

-- Scores of one of many classes, in halves: below one half by whoever votes for another; above, by those who have no scores but votes.
CREATE FUNCTION check_scores(of regclass, label text, answers answers[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  model privpred.model;
BEGIN
  SELECT * INTO model FROM privpred.model WHERE name = 'm';
  RETURN (SELECT string_agg(format('question %s: %s, but %s of %s vote for %s', q, answer, votes, model.teachers, class), '; ')
    FROM matrix.votes(model, of, label, matrix.questions(model)) v JOIN unnest(answers) a USING (q), unnest(ARRAY[by_array, by_jsonb, by_row]) answer
   WHERE class = matrix.class_asked(model.classes, q)
     AND CASE WHEN model.teachers - 2 * votes >= 3 THEN answer::float8 = 0.25
       WHEN model.learner IN ('logistic', 'svm', 'linear', 'centroid', 'naive_bayes', 'knn') THEN answer IS NULL OR answer::float8 IN (0.25, 0.5, 0.75)
       WHEN 2 * votes - model.teachers >= 3 THEN answer::float8 = 0.75 ELSE answer IS NULL END IS NOT TRUE);
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', 'checking', SQLSTATE, SQLERRM);
END $$;

CREATE FUNCTION check_teachers(of regclass, label text, answers answers[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  model privpred.model;
  problem text;
  expected float8;
  found float8;
BEGIN
  SELECT * INTO model FROM privpred.model WHERE name = 'm';
  SELECT string_agg(format('question %s: %s, but votes are for %s by %s', q, answer, top, lead), '; ') INTO problem
    FROM matrix.tops(model, of, label, matrix.questions(model)) JOIN unnest(answers) a USING (q), unnest(ARRAY[by_array, by_jsonb, by_row]) answer
   WHERE matrix.fits(model.mechanism, model.learner, model.classes, answer, top, lead, all_tops, medians) IS NOT TRUE;
  IF problem IS NULL THEN
    SELECT 'explained as ' || e INTO problem FROM privpred.explain(model.predictor) e WHERE (SELECT count(*) FROM regexp_matches(e, 'member \d+:', 'g')) <> model.teachers;
  END IF;
  -- A random teacher's opinion, of at least one for each class, so that each draw tells little: all rows, exactly.
  IF problem IS NULL AND model.mechanism = 'average' AND EXISTS (SELECT FROM matrix.rows_seen(of, label, model) WHERE class = ANY (model.classes)) THEN
    -- of more than two classes, of 2^-20 where it is none
    SELECT avg(CASE cardinality(model.classes) WHEN 2 THEN least(greatest(v.votes, 1), model.teachers - 1) / model.teachers::float8
      ELSE greatest(v.votes, 2 ^ -20) / v.sum END) INTO expected
      FROM (SELECT class, row_number() OVER () AS q FROM matrix.rows_seen(of, label, model) WHERE class = ANY (model.classes)) r
      JOIN (SELECT *, sum(greatest(votes, 2 ^ -20)) OVER (PARTITION BY q)
              FROM matrix.votes(model, of, label, (SELECT array_agg(f) FROM matrix.rows_seen(of, label, model) WHERE class = ANY (model.classes)))) v USING (q, class);
    SELECT private_accuracy INTO found FROM privpred.evaluate('m', of);
    IF abs(found - expected) > 1e-9 THEN
      problem := format('accuracy %s instead of %s', found, expected);
    END IF;
  END IF;
  RETURN problem;
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', 'checking', SQLSTATE, SQLERRM);
END $$;

-- Public rows, and the labels that teachers are sure of.
CREATE FUNCTION taught(of regclass, label text, OUT f float8[], OUT labels text[]) LANGUAGE plpgsql AS $$
DECLARE
  teacher privpred.model;
BEGIN
  SELECT * INTO teacher FROM privpred.model WHERE name = 'teacher';
  SELECT array_agg(privpred.encode(teacher.features, ROW(x, w, s))) INTO f FROM matrix.public_row;
  SELECT array_agg(top ORDER BY q) FILTER (WHERE lead > 0) INTO labels FROM matrix.tops(teacher, of, label, f);
END $$;

-- A student of such labels.
CREATE FUNCTION check_student(f float8[], labels text[], answers answers[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  student privpred.model;
  votes text[];
BEGIN
  SELECT * INTO student FROM privpred.model WHERE name = 'm';
  IF cardinality(labels) < array_length(f, 1) THEN
    RETURN NULL;
  END IF;
  votes := matrix.opinion(student.learner, (SELECT options FROM matrix.learner WHERE name = student.learner), student.classes, labels, f, matrix.questions(student));
  RETURN (SELECT string_agg(format('question %s: %s instead of %s', q, by_array, votes[q]), '; ') FROM unnest(answers) WHERE by_array IS DISTINCT FROM votes[q]);
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', 'checking', SQLSTATE, SQLERRM);
END $$;

-- ---------- the matrix ----------

CREATE TABLE cell (mechanism text, learner text, label text, shape text, trained boolean, refusal text, problem text, milliseconds float8);

CREATE FUNCTION clear_refusal(refusal text) RETURNS boolean LANGUAGE sql AS $$
  SELECT refusal !~ '^(XX|58|08)' AND refusal ~ '^\w{5} \| .+ \| .+' $$;

-- Draws that the votes do not tell are agreed upon by the session's memory, which knows questions as the mechanism sees them.
CREATE FUNCTION check_forms(mechanism text, label text, answers answers[]) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(format('question %s: %s, %s, %s', q, by_array, by_jsonb, by_row), '; ')
    FROM unnest(answers), privpred.model m
   WHERE m.name = 'm' AND
     (((by_array IS DISTINCT FROM by_jsonb OR by_array IS DISTINCT FROM by_row) AND m.charge IS NOT NULL AND mechanism NOT IN ('vote', 'median'))
      OR (by_array IS NULL AND m.charge_kind <> 'per_stream')
      OR (label <> 'number' AND mechanism <> 'soft' AND by_array <> ALL (m.classes))) $$;

-- One cell: on protected rows, with numbers alone (half of the labels), with one feature alone, on protected labels alone, whichever it takes.
CREATE PROCEDURE look(mechanism text, learner text, label text, s shape) LANGUAGE plpgsql AS $$
DECLARE
  attempt int := 0;
  forms text[] := ARRAY['all', CASE WHEN label IN ('boolean', 'text', 'bins') THEN 'numbers' ELSE 'x' END, 'x', 'x'];
  refusal text;
  refusals text[] := '{}';
  problem text;
  asks_teachers boolean;
  repeats boolean;
  a record;
  began timestamptz := clock_timestamp();
BEGIN
  LOOP
    refusal := train(mechanism, learner, label, CASE attempt WHEN 3 THEN s.of_labels ELSE s.relation END, s.classes, forms[attempt + 1]);
    COMMIT;
    EXIT WHEN refusal IS NULL;
    refusals := refusals || refusal;
    attempt := attempt + 1;
    EXIT WHEN attempt = 4;
  END LOOP;
  IF refusal IS NULL THEN
    SELECT m.teachers > 0, m.charge_kind = 'per_answer' AND m.mechanism <> 'vote' INTO asks_teachers, repeats FROM privpred.model m WHERE m.name = 'm';
    SELECT * INTO a FROM answered(forms[attempt + 1], repeats);
    problem := coalesce(a.problem, check_forms(mechanism, label, a.answers));
    IF problem IS NULL AND asks_teachers THEN
      problem := CASE WHEN label = 'number' OR (label = 'bins' AND mechanism = 'soft') THEN check_numbers(s.relation, label, a.answers)
        WHEN mechanism = 'soft' AND (SELECT cardinality(m.classes) > 2 FROM privpred.model m WHERE m.name = 'm') THEN check_scores(s.relation, label, a.answers) ELSE check_teachers(s.relation, label, a.answers) END;
    END IF;
    PERFORM privpred.drop_model('m');
  END IF;
  SELECT concat_ws('; ', problem, string_agg('refused: ' || r, '; ')) INTO problem FROM unnest(refusals) r WHERE clear_refusal(r) IS NOT TRUE;
  INSERT INTO cell VALUES (mechanism, learner, label, s.name, attempt < 4, array_to_string(refusals, '; '), nullif(problem, ''),
    1000 * extract(epoch FROM clock_timestamp() - began));
  COMMIT;
END $$;

-- Students: a teacher, all learners.
CREATE PROCEDURE look_at_students(label text, s shape) LANGUAGE plpgsql AS $$
DECLARE
  refusal text := train(CASE label WHEN 'number' THEN 'average' ELSE 'vote' END, 'linear', label, s.relation, s.classes, 'all');
  l matrix.learner;
  a record;
  t record;
  problem text;
  began timestamptz;
BEGIN
  IF refusal IS NOT NULL THEN
    RETURN;
  END IF;
  UPDATE privpred.model SET name = 'teacher' WHERE name = 'm';
  COMMIT;
  SELECT * INTO t FROM taught(s.relation, label) WHERE label <> 'number';
  FOR l IN SELECT * FROM matrix.learner LOOP
    began := clock_timestamp();
    refusal := distilled(l);
    problem := NULL;
    COMMIT;
    IF refusal IS NULL THEN
      SELECT * INTO a FROM answered('all', false);
      problem := coalesce(a.problem, check_forms('student', label, a.answers),
        CASE label WHEN 'number' THEN check_numbers(s.relation, label, a.answers) ELSE check_student(t.f, t.labels, a.answers) END);
      PERFORM privpred.drop_model('m');
    ELSIF clear_refusal(refusal) IS NOT TRUE THEN
      problem := 'refused: ' || refusal;
    END IF;
    INSERT INTO cell VALUES ('student', l.name, label, s.name, refusal IS NULL, refusal, problem,
      1000 * extract(epoch FROM clock_timestamp() - began));
  END LOOP;
  PERFORM privpred.drop_model('teacher');
  COMMIT;
END $$;

CREATE FUNCTION distilled(l learner) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  PERFORM privpred.distill('m', 'teacher', 'matrix.public_row', learner => l.name, options => l.options);
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(hint, ''));
END $$;

-- All mechanisms and learners for one kind of label on one table.
CREATE PROCEDURE look_at(label text, shape_name text) LANGUAGE plpgsql AS $$
DECLARE
  s matrix.shape := (SELECT t FROM matrix.shape t WHERE t.name = shape_name);
  m text;
  l text;
BEGIN
  FOR m IN SELECT name FROM matrix.mechanism LOOP
    FOR l IN SELECT name FROM matrix.learner LOOP
      CALL matrix.look(m, l, label, s);
    END LOOP;
  END LOOP;
  CALL matrix.look_at_students(label, s);
END $$;
