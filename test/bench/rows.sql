-- Synthetic rows: 20 float8 columns in [0,1], of which six decide the label.
CREATE EXTENSION privpred;
CREATE ROLE analyst LOGIN;
GRANT CREATE ON SCHEMA public TO analyst;

-- how certain a label "true" is; accuracy cannot exceed the mean of greatest(p, 1 - p)
CREATE FUNCTION certainty(f1 float8, f2 float8, f3 float8, f4 float8, f5 float8, f6 float8) RETURNS float8
LANGUAGE sql IMMUTABLE RETURN 1 / (1 + exp(-8 * (f1 + f2 - f3 - f4 + (f5 - f6) / 2)));

CREATE FUNCTION make_rows(name text, n bigint, label text, seed float8 DEFAULT 0.5) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed(seed);
	EXECUTE (SELECT format('CREATE TABLE %I AS SELECT id, %s AS y, %s FROM'
						   ' (SELECT i::int AS id, %s FROM generate_series(1, %s) i OFFSET 0) s',
						   name, label, string_agg('f' || j, ', '),
						   string_agg('random() AS f' || j, ', '), n)
			   FROM generate_series(1, 20) j);
	PERFORM protect_rows(name, n);
END $$;

CREATE FUNCTION make_rows(name text, n bigint, seed float8 DEFAULT 0.5) RETURNS void
LANGUAGE sql RETURN make_rows(name, n, 'random() < certainty(f1, f2, f3, f4, f5, f6)', seed);

-- Rows of one table several times, with ids of their own: to see how time grows
-- it is enough, and faster than drawing them.
CREATE FUNCTION multiply_rows(name text, source text, n bigint, times int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE (SELECT format('CREATE TABLE %I AS SELECT (id + k * %s)::int AS id, y, %s FROM generate_series(0, %s) k, %I',
						   name, n, string_agg('f' || j, ', '), times - 1, source)
			   FROM generate_series(1, 20) j);
	PERFORM protect_rows(name, n * times);
END $$;

CREATE FUNCTION protect_rows(name text, n bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id)', name);
	EXECUTE format('ANALYZE %I', name);
	PERFORM privpred.protect(name::regclass, declared_units => n);
END $$;
