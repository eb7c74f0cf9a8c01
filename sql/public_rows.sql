-- What may be taken for public: nothing that shares rows with a protected table, whichever way.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
CREATE ROLE shared_owner;
CREATE SCHEMA shared AUTHORIZATION shared_owner;
SET ROLE shared_owner;
SET search_path = shared, public;

-- a model to distill, and one of each kind that reads a public table, on a table of its own
CREATE TABLE study (id int PRIMARY KEY, x float8, point text, label boolean);
INSERT INTO study SELECT i, (i % 100) / 100.0, (ARRAY['A', 'B'])[1 + i % 2], i % 100 >= 50 FROM generate_series(1, 2000) i;
SELECT privpred.protect('study', declared_units => 2000);
SELECT privpred.create_model('shared teacher', 'study', label => 'label', features => '{"x": {"min": 0, "max": 1}}', learner => 'stump', teachers => 10) -> 'version' AS version;

-- every way of sharing: partitions of a protected table at two depths, and what a protected partition is part of
CREATE TABLE whole (id int NOT NULL, x float8, hypothesis text, point text, label boolean) PARTITION BY RANGE (id);
CREATE TABLE whole_a PARTITION OF whole FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
CREATE TABLE whole_a1 PARTITION OF whole_a FOR VALUES FROM (0) TO (5);
CREATE TABLE whole_b PARTITION OF whole FOR VALUES FROM (10) TO (20);
CREATE TABLE tree (LIKE whole) PARTITION BY RANGE (id);
CREATE TABLE tree_a PARTITION OF tree FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
CREATE TABLE tree_leaf PARTITION OF tree_a FOR VALUES FROM (0) TO (5);
CREATE TABLE tree_sibling PARTITION OF tree_a FOR VALUES FROM (5) TO (10);
-- children and parents
CREATE TABLE elders (LIKE whole);
CREATE TABLE young () INHERITS (elders);
CREATE TABLE younger () INHERITS (young);
CREATE TABLE family (LIKE whole);
CREATE TABLE branch () INHERITS (family);
CREATE TABLE branch_leaf () INHERITS (branch);
CREATE TABLE other_elders (LIKE whole);
CREATE TABLE of_both () INHERITS (elders, other_elders);
-- all of them with rows that would do in any place
CREATE TABLE fine (LIKE whole);
INSERT INTO fine SELECT row_number() OVER (), 0.5, h, p, h = p FROM unnest('{A,B}'::text[]) h, unnest('{A,B}'::text[]) p;
INSERT INTO whole SELECT id + 9, x, hypothesis, point, label FROM fine;
INSERT INTO whole_a1 SELECT * FROM fine;
INSERT INTO tree_leaf SELECT * FROM fine;
INSERT INTO younger SELECT * FROM fine;
INSERT INTO branch_leaf SELECT * FROM fine;
INSERT INTO of_both SELECT * FROM fine;
SELECT privpred.protect(t, unit => 'id') FROM unnest('{whole,tree_leaf,elders,branch_leaf}'::regclass[]) t;
-- views
CREATE VIEW seen AS SELECT * FROM whole;
CREATE VIEW seen_twice AS SELECT * FROM seen WHERE id > 0;
CREATE VIEW seen_part AS SELECT * FROM whole_a1;
CREATE VIEW seen_from_above AS SELECT * FROM tree;
CREATE VIEW seen_child AS SELECT * FROM younger;
CREATE VIEW seen_inside AS SELECT g AS id, (SELECT w.x FROM whole_b w WHERE w.id = g) AS x, 'h' AS hypothesis, 'A' AS point, true AS label FROM generate_series(1, 5) g;
CREATE VIEW seen_with AS WITH w AS (SELECT * FROM elders) SELECT u.* FROM (SELECT * FROM w UNION ALL SELECT * FROM other_elders) u WHERE EXISTS (SELECT FROM w);
CREATE MATERIALIZED VIEW kept AS SELECT * FROM whole;
CREATE MATERIALIZED VIEW kept_twice AS SELECT * FROM seen_twice;
CREATE VIEW seen_kept AS SELECT * FROM kept;
-- functions, which cannot be seen through, and catalogs
CREATE FUNCTION rows_of_whole() RETURNS SETOF whole LANGUAGE sql STABLE AS 'SELECT * FROM shared.whole';
CREATE FUNCTION one_of_whole(int) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT max(x) FROM shared.whole';
CREATE FUNCTION equal_in_whole(text, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT EXISTS (SELECT FROM shared.whole)';
CREATE OPERATOR === (LEFTARG = text, RIGHTARG = int, FUNCTION = equal_in_whole);
CREATE VIEW called AS SELECT * FROM rows_of_whole();
CREATE VIEW called_immutable AS SELECT g AS id, one_of_whole(g) AS x, 'h' AS hypothesis, 'A' AS point, true AS label FROM generate_series(1, 5) g;
CREATE VIEW called_by_operator AS SELECT g AS id, g / 5.0 AS x, 'h' AS hypothesis, 'A' AS point, 'a' === g AS label FROM generate_series(1, 5) g;
CREATE VIEW called_query AS SELECT g AS id, length(query_to_xml('SELECT * FROM shared.whole', true, true, '')::text)::float8 AS x, 'h' AS hypothesis, 'A' AS point, true AS label FROM generate_series(1, 5) g;
CREATE VIEW called_deep AS SELECT * FROM called WHERE id > 0;
CREATE VIEW statistics AS SELECT row_number() OVER () AS id, s.null_frac AS x, 'h' AS hypothesis, 'A' AS point, true AS label FROM pg_stats s;
CREATE VIEW sizes AS SELECT row_number() OVER () AS id, c.reltuples AS x, 'h' AS hypothesis, 'A' AS point, true AS label FROM pg_class c;
-- public: tables and views of rows that nobody protects
INSERT INTO tree_sibling SELECT id + 4, x, hypothesis, point, label FROM fine;
CREATE VIEW fine_seen AS SELECT f.id, f.x + 0.001 * random() AS x, 'h' || f.id % 2 AS hypothesis, f.point, f.label AND now() > '2000-01-01' AND to_char(now(), 'YYYY') > '2000' AS label
FROM (SELECT row_number() OVER (ORDER BY hypothesis, point) / 3 AS id, x, hypothesis, point, label FROM fine) f;
CREATE MATERIALIZED VIEW fine_kept AS SELECT avg(x) AS x, hypothesis, point, bool_or(label) AS label FROM fine GROUP BY hypothesis, point;

CREATE VIEW fine_sampled AS SELECT * FROM fine TABLESAMPLE bernoulli (100);
-- rows that a policy chooses by looking at protected ones, or by a function; one that does not concern its owner
CREATE TABLE watched AS TABLE fine;
ALTER TABLE watched ALTER id SET NOT NULL;
CREATE POLICY watching ON watched USING (id IN (SELECT s.id FROM seen_twice s));
ALTER TABLE watched ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE VIEW watched_seen AS SELECT * FROM watched;
CREATE TABLE called_for AS TABLE fine;
CREATE POLICY calling ON called_for FOR SELECT USING (one_of_whole(id) > 0);
ALTER TABLE called_for ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE TABLE own_watched AS TABLE fine;
CREATE POLICY watching ON own_watched USING (id IN (SELECT s.id FROM seen_twice s));
ALTER TABLE own_watched ENABLE ROW LEVEL SECURITY;
CREATE TABLE harmless AS TABLE fine;
CREATE POLICY harmless ON harmless FOR SELECT USING (id > 0 AND current_user <> 'nobody');
CREATE POLICY for_others ON harmless FOR UPDATE USING (id IN (SELECT s.id FROM seen_twice s));
ALTER TABLE harmless ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE FUNCTION outcome(use text, relation text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  CASE use
    WHEN 'distill' THEN
      PERFORM privpred.distill('shared student', 'shared teacher', ('shared.' || relation)::regclass, labels => 4);
    WHEN 'reference' THEN
      PERFORM privpred.create_model('shared student', 'shared.study', label => 'label', features => '{"x": {"min": 0, "max": 1}}', mechanism => 'cover', epsilon => 5,
        options => jsonb_build_object('class', 'thresholds', 'accuracy', 1, 'reference', 'shared.' || relation));
    WHEN 'class_table' THEN
      PERFORM privpred.create_model('shared student', 'shared.study', label => 'label', features => '{"point": {"levels": ["A", "B"]}}', mechanism => 'cover', epsilon => 5,
        options => jsonb_build_object('accuracy', 1, 'class_table', 'shared.' || relation));
    WHEN 'protect' THEN
      PERFORM privpred.protect(('shared.' || relation)::regclass, unit => 'id');
      RETURN 'accepted';
  END CASE;
  PERFORM privpred.drop_model('shared student');
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM);
END $$;

CREATE TABLE kinds (n int, what text, relation text PRIMARY KEY);
INSERT INTO kinds SELECT row_number() OVER (), w, r FROM (VALUES
('itself', 'whole'), ('partition', 'whole_b'), ('partitioned partition', 'whole_a'), ('sub-partition', 'whole_a1'),
('partitioned parent', 'tree_a'), ('partitioned grandparent', 'tree'), ('inheritance child', 'young'), ('inheritance grandchild', 'younger'),
('inheritance parent', 'branch'), ('inheritance grandparent', 'family'), ('parent of a common child', 'other_elders'), ('common child', 'of_both'),
('view', 'seen'), ('view of view', 'seen_twice'), ('view over partition', 'seen_part'), ('view over partitioned parent', 'seen_from_above'),
('view over grandchild', 'seen_child'), ('view with it in a subquery', 'seen_inside'), ('view with it in a CTE', 'seen_with'),
('matview', 'kept'), ('matview of view', 'kept_twice'), ('view of matview', 'seen_kept'),
('function', 'called'), ('immutable function', 'called_immutable'), ('operator', 'called_by_operator'), ('query in a string', 'called_query'), ('view of function', 'called_deep'),
('statistics', 'statistics'), ('catalog', 'sizes')) k(w, r);
-- none of them passes, in any place
SELECT what, outcome('distill', relation) FROM kinds ORDER BY n;
SELECT use, count(*) AS kinds, count(*) FILTER (WHERE outcome(use, relation) = outcome('distill', relation)) AS alike
FROM kinds, unnest('{reference,class_table}'::text[]) use GROUP BY use ORDER BY use;
-- a second protection of the same rows; protecting the same table again is no second one
SELECT what, outcome('protect', relation) FROM kinds WHERE n <= 12 ORDER BY n;
-- views are those of the same budget, if they are proved to keep units apart (docs/views.md)
SELECT what, outcome('protect', relation) FROM kinds WHERE n > 12 ORDER BY n;
-- catalogs, our own tables and what is no table at all
RESET ROLE;
CREATE VIEW shared.models_seen AS SELECT model_id AS id, teachers::float8 AS x, 'h' AS hypothesis, 'A' AS point, true AS label FROM privpred.model;
SELECT outcome('distill', 'models_seen');
SELECT outcome('distill', relation) FROM unnest('{study_pkey}'::text[]) relation;
DROP VIEW shared.models_seen;
SET ROLE shared_owner;
-- what is public passes
SELECT relation, use, outcome(use, relation) FROM unnest('{fine,fine_seen,fine_kept,fine_sampled,tree_sibling,own_watched,harmless}'::text[]) relation, unnest('{distill,reference,class_table}'::text[]) use
ORDER BY relation, use;
-- what is chosen by protected rows does not; but it shares none with them
SELECT relation, use, outcome(use, relation) FROM unnest('{watched,watched_seen,called_for}'::text[]) relation, unnest('{distill,reference,class_table}'::text[]) use
ORDER BY relation, use;
-- policies that hold for the owner would choose what is learnt from
SELECT outcome('protect', 'watched');

-- a table that becomes part of a protected one later: the next training, and the next student, notice
SELECT privpred.create_model('shared reference', 'study', label => 'label', features => '{"x": {"min": 0, "max": 1}}', mechanism => 'cover', epsilon => 5,
  options => '{"class": "thresholds", "accuracy": 1, "reference": "shared.fine"}') -> 'version' AS version;
SELECT privpred.create_model('shared class', 'study', label => 'label', features => '{"point": {"levels": ["A", "B"]}}', mechanism => 'cover', epsilon => 5,
  options => '{"accuracy": 1, "class_table": "shared.fine"}') -> 'version' AS version;
CREATE FUNCTION retrained(model text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN privpred.retrain(model) -> 'version';
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM);
END $$;
ALTER TABLE fine ALTER id SET NOT NULL;
UPDATE fine SET id = id + 20;
ALTER TABLE whole ATTACH PARTITION fine FOR VALUES FROM (20) TO (30);
SELECT retrained('shared reference') AS reference, retrained('shared class') AS class, outcome('distill', 'fine') AS distill, outcome('distill', 'fine_seen') AS seen;
ALTER TABLE whole DETACH PARTITION fine;
SELECT retrained('shared reference') AS reference, retrained('shared class') AS class, outcome('distill', 'fine') AS distill, outcome('distill', 'fine_seen') AS seen;
ALTER TABLE fine INHERIT elders;
SELECT retrained('shared reference') AS reference, retrained('shared class') AS class, outcome('distill', 'fine') AS distill, outcome('distill', 'fine_seen') AS seen;
ALTER TABLE fine NO INHERIT elders;
ALTER TABLE branch_leaf INHERIT fine;
SELECT retrained('shared reference') AS reference, retrained('shared class') AS class, outcome('distill', 'fine') AS distill, outcome('distill', 'fine_seen') AS seen;
ALTER TABLE branch_leaf NO INHERIT fine;
-- and a protected table that becomes a part of another
ALTER TABLE study ADD hypothesis text;
ALTER TABLE study INHERIT elders;
SELECT retrained('shared teacher');
ALTER TABLE study NO INHERIT elders;
SELECT retrained('shared teacher');
-- what is not protected any more is public
SELECT outcome('distill', 'tree_leaf');
SELECT privpred.unprotect('tree_leaf');
SELECT outcome('distill', 'tree_leaf'), outcome('distill', 'tree'), outcome('distill', 'seen_from_above');

SET client_min_messages = error;
RESET ROLE;
RESET search_path;
DROP SCHEMA shared CASCADE;
DROP OWNED BY shared_owner;
DROP ROLE shared_owner;
