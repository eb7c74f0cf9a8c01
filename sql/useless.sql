-- What of a model is of no use is told to its owner, and to nobody else.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\pset format unaligned
\pset tuples_only
CREATE ROLE useless_owner;
CREATE ROLE useless_eve;
CREATE SCHEMA useless AUTHORIZATION useless_owner;
GRANT USAGE, CREATE ON SCHEMA useless TO useless_eve;
SET search_path = useless, public;
SET ROLE useless_owner;
CREATE TABLE people (id int PRIMARY KEY, code text UNIQUE, age int, share float8, ward text, born date, weight numeric, smoker boolean, y text);
INSERT INTO people SELECT i, 'c' || i, i % 100, (i % 11) / 10.0, chr(65 + i % 5), date '1950-01-01' + 10 * i, CASE i % 50 WHEN 0 THEN 1e300::numeric * 1e300 WHEN 1 THEN 'NaN' ELSE 70 END, i % 2 = 0,
  CASE WHEN i % 100 < 50 THEN 'a' ELSE 'b' END FROM generate_series(1, 2000) i;
SELECT privpred.protect('people');
CREATE FUNCTION train(features json, classes text[] DEFAULT '{a,b}', mechanism text DEFAULT 'vote', teachers int DEFAULT 51, epsilon float8 DEFAULT 0.5, holdout float8 DEFAULT 0)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = useless, pg_temp AS $$
BEGIN
  PERFORM privpred.create_model('useless', 'people', 'y', features, classes, mechanism, teachers => teachers, epsilon => epsilon, holdout => holdout);
  PERFORM privpred.drop_model('useless');
  RETURN 'trained';
END $$;

-- nothing to say
SELECT train('{"age": {"min": 0, "max": 100}, "share": {"min": 0, "max": 1}, "ward": {"levels": ["A", "B", "C", "D", "E"]}, "born": {"min": "1900-01-01", "max": "2050-01-01"}, "smoker": {"type": "boolean"}}');
-- a name alone is a number within [0, 1], which a share is and an age is not
SELECT train('["age", "share"]');
-- levels, bounds, dates, numbers beyond all bounds; NaN is like NULL
SELECT train('{"ward": {"levels": ["A", "B", "other"]}, "age": {"min": 20, "max": 60}, "born": {"min": "1960-01-01", "max": "1990-01-01"}, "weight": {"min": 0, "max": 200}}');
-- one in a hundred is worth telling, fewer are not
SELECT train('{"age": {"min": 0, "max": 98.5}}'), train('{"id": {"min": 10, "max": 2000}}');
-- other mechanisms, of units
SELECT train('["age"]', mechanism => 'stable_flip');
-- the label, and keys
SELECT train('{"y": {"levels": ["a", "b"]}, "age": {"min": 0, "max": 100}, "id": {"min": 0, "max": 10000}}');
-- all rows left out; some; no rows
SELECT train('{"age": {"min": 0, "max": 100}}', '{c,d}');
SELECT train('{"age": {"min": 0, "max": 100}}', '{c,d}', 'stable_flip');
SELECT train('{"age": {"min": 0, "max": 100}}', '{b,c}', 'stable_flip');
-- the defaults are below the guide's rule; with so many rows no teacher sees one class alone (4e-11)
INSERT INTO people SELECT i, 'c' || i, i % 100, NULL, NULL, NULL, NULL, NULL, CASE WHEN i % 100 < 50 THEN 'a' ELSE 'b' END FROM generate_series(2001, 6000) i;
SELECT train('{"age": {"min": 0, "max": 100}}', teachers => 100, epsilon => 0.1);
SELECT train('{"age": {"min": 0, "max": 100}}', '{a,b,c,d,e,f}', teachers => 100, epsilon => 0.1);
-- a sample is read, of rows that train
\set VERBOSITY terse
SELECT train('["age"]', holdout => 0.5);
\set VERBOSITY default
DELETE FROM people WHERE id > 2000;

-- nobody else hears anything: not who calls the owner's function, nor whose statement fires a trigger
RESET ROLE;
SET ROLE useless_eve;
SELECT train('["age"]', '{c,d}', teachers => 100, epsilon => 0.1);
RESET ROLE;
SET ROLE useless_owner;
CREATE TABLE board (note text);
GRANT INSERT ON board TO useless_eve;
CREATE FUNCTION on_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = useless, pg_temp AS $$ BEGIN PERFORM train('["age", "id"]', '{c,d}'); RETURN NEW; END $$;
CREATE TRIGGER on_note AFTER INSERT ON board FOR EACH ROW EXECUTE FUNCTION on_note();
RESET ROLE;
SET ROLE useless_eve;
INSERT INTO board VALUES ('hello');
RESET ROLE;
SET ROLE useless_owner;
INSERT INTO board VALUES ('hello');

-- an empty table
DELETE FROM people;
SELECT train('{"age": {"min": 0, "max": 100}}');
SELECT train('{"age": {"min": 0, "max": 100}}', mechanism => 'stable_flip');
RESET ROLE;
RESET search_path;
SET client_min_messages = error;
DROP SCHEMA useless CASCADE;
DROP OWNED BY useless_owner, useless_eve;
DROP ROLE useless_owner, useless_eve;
