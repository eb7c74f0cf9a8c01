-- What the experiment of sound.pl asks the server.  Worlds are schemas w0, w1, ... with the same tables and views; in
-- the text of a view "@." stands for the schema.
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA snd;
CREATE TYPE snd.mood AS ENUM ('m1', 'm2', 'm3', 'm4', 'm5');
CREATE COLLATION snd.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);

-- ---------- functions that near misses call ----------

-- Equality that is none.
CREATE FUNCTION snd.whatever(int8, int8) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN true;
CREATE FUNCTION snd.whatever(text, text) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN true;
CREATE OPERATOR snd.= (LEFTARG = int8, RIGHTARG = int8, FUNCTION = snd.whatever);
CREATE OPERATOR snd.= (LEFTARG = text, RIGHTARG = text, FUNCTION = snd.whatever);

-- They say that they are immutable, and read a table: the one that a setting names.
CREATE FUNCTION snd.peep_plpgsql(int) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
	$$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || current_setting('snd.world') || '.p1' INTO n; RETURN n; END $$;
CREATE FUNCTION snd.peep_text(int) RETURNS text IMMUTABLE LANGUAGE sql AS
	$$ SELECT query_to_xml('SELECT count(*) FROM ' || current_setting('snd.world') || '.p1', true, true, '')::text $$;
CREATE FUNCTION snd.peep_body(int) RETURNS text IMMUTABLE LANGUAGE sql
	RETURN query_to_xml('SELECT count(*) FROM ' || current_setting('snd.world') || '.p1', true, true, '')::text;
CREATE FUNCTION snd.peep_definer(int) RETURNS bigint IMMUTABLE SECURITY DEFINER LANGUAGE plpgsql AS
	$$ BEGIN RETURN snd.peep_plpgsql($1); END $$;
CREATE FUNCTION snd.twice(int) RETURNS int IMMUTABLE LANGUAGE sql RETURN 2 * $1;
CREATE FUNCTION snd.last(text, text) RETURNS text IMMUTABLE LANGUAGE sql RETURN COALESCE($2, $1);
CREATE AGGREGATE snd.latest(text) (SFUNC = snd.last, STYPE = text);

-- ---------- a trial ----------

/*
 * Columns as they are compared: bit for bit, but for numbers that are equal, which privpred.encode makes one number of.
 * With them, how a unit is spelt.
 */
CREATE FUNCTION snd.columns_of(relation regclass, OUT columns text, OUT key text) LANGUAGE sql AS $$
	SELECT string_agg(f, ', ' ORDER BY attnum), max(f) FILTER (WHERE attname = 'k')
	  FROM (SELECT attnum, attname, CASE
			WHEN atttypid = 'numeric'::regtype THEN format('trim_scale(r.%I)', attname)
			WHEN atttypid IN ('float8'::regtype, 'float4'::regtype) THEN format('CASE WHEN r.%1$I = 0 THEN 0 ELSE r.%1$I END', attname)
			ELSE format('r.%I', attname) END AS f
		  FROM pg_attribute WHERE attrelid = relation AND attnum > 0) a
$$;

-- What a view shows of each unit.
CREATE FUNCTION snd.image_sql(body text, columns text, key text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT jsonb_object_agg(k, h) FILTER (WHERE k IS NOT NULL) FROM (SELECT (%s)::text AS k,'
		' sum(hashtextextended(encode(record_send(ROW(%s)), ''hex''), 0))::text || '':'' || count(*) AS h FROM (%s) r GROUP BY 1) g',
		key, columns, body)
$$;

-- Has a unit several rows in an image?
CREATE FUNCTION snd.has_many(image jsonb) RETURNS boolean LANGUAGE sql AS $$
	SELECT EXISTS (SELECT FROM jsonb_each_text(COALESCE(image, '{}')) WHERE value NOT LIKE '%:1')
$$;

/*
 * Asks for a view's verdict and, if it was accepted or force is set, looks for a world in which another unit's rows differ
 * from those of w0.  World i differs in unit units[i]; each is seen with each of the settings.
 */
CREATE FUNCTION snd.try(body text, force boolean, publics text, worlds text[], units text[], confs text[]) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
	verdict text;
	words text := '';
	image text;
	columns text;
	key text;
	reference jsonb;
	seen jsonb;
	trials int := 0;
	errors int := 0;
	computed boolean := false;
	found jsonb;
	single boolean := false;
	conf text;
	i int;
BEGIN
	BEGIN
		EXECUTE 'CREATE VIEW w0.v AS ' || replace(body, '@.', 'w0.');
		SELECT c.columns, c.key INTO columns, key FROM snd.columns_of('w0.v') c;
		BEGIN
			PERFORM privpred.protect('w0.v', unit => 'k', public_tables => publics::regclass[]);
			verdict := 'accepted';
			single := privpred._plan_table('w0.v', NULL) ->> 'one_row_a_unit';
		EXCEPTION WHEN OTHERS THEN
			verdict := 'refused';
			words := SQLSTATE || ' ' || SQLERRM;
		END;
		RAISE EXCEPTION USING ERRCODE = 'SND01';
	EXCEPTION
		WHEN SQLSTATE 'SND01' THEN NULL;
		WHEN OTHERS THEN RETURN jsonb_build_object('verdict', 'invalid', 'words', SQLSTATE || ' ' || SQLERRM);
	END;
	IF verdict = 'accepted' OR force THEN
		image := snd.image_sql(body, columns, key);
		BEGIN
			PERFORM set_config('snd.world', 'w0', true);
			EXECUTE replace(image, '@.', 'w0.') INTO reference;
			computed := true;
			IF single AND snd.has_many(reference) THEN
				found := jsonb_build_object('world', 'w0', 'unit', 'has two rows', 'conf', '', 'reference', reference, 'image', image);
			END IF;
		EXCEPTION WHEN OTHERS THEN
			errors := 1;
			words := words || ' / ' || SQLSTATE || ' ' || SQLERRM;
		END;
		FOREACH conf IN ARRAY CASE WHEN computed AND found IS NULL THEN confs ELSE '{}' END LOOP
			EXECUTE conf;
			FOR i IN 1 .. cardinality(worlds) LOOP
				BEGIN
					PERFORM set_config('snd.world', worlds[i], true);
					EXECUTE replace(image, '@.', worlds[i] || '.') INTO seen;
					trials := trials + 1;
					IF COALESCE(seen, '{}') - units[i] <> COALESCE(reference, '{}') - units[i] OR (single AND snd.has_many(seen)) THEN
						found := jsonb_build_object('world', worlds[i], 'unit', CASE WHEN single AND snd.has_many(seen) THEN 'has two rows' ELSE units[i] END, 'conf', conf,
							'reference', reference, 'seen', seen, 'image', image);
						EXIT;
					END IF;
				EXCEPTION WHEN OTHERS THEN
					errors := errors + 1;
				END;
			END LOOP;
			EXIT WHEN found IS NOT NULL;
		END LOOP;
	END IF;
	RETURN jsonb_build_object('verdict', verdict, 'words', words, 'single', single, 'trials', trials, 'errors', errors,
		'units', (SELECT count(*) FROM jsonb_object_keys(COALESCE(reference, '{}'))), 'found', found);
END $$;
