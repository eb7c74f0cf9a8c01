# Whoever may create objects in the schema that is named at CREATE EXTENSION, or
# in a schema of a superuser's search_path, plants operators, functions, casts,
# types and tables there that fit better than the server's.  Then a superuser
# installs the extension, reads every view and calls every function.  Nothing that
# was planted may ever run.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('capture');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = warning\nmax_locks_per_transaction = 1000\n");
$node->start;

# Names that our SQL uses: whatever stands before a parenthesis in the install
# script or in a string of the source, if the server has such a function.
my $text = join '', map { slurp_file($_) } glob('install/*.sql'), glob('src/*/*.c'), glob('src/*/*/*.c');
my %words = map { lc($_) => 1 } $text =~ /\b([a-z_]\w*)\s*\(/gi;
my $words = join ',', sort keys %words;

my $mallory = [ '-U', 'mallory' ];
my $plant = sprintf(q{
SET check_function_bodies = off;
SET search_path = pg_catalog;
DO $do$
DECLARE
	types regtype[] := '{oid,regclass,regrole,text,name,"char",int2,int4,int8,float4,float8,numeric,bool,timestamptz,interval,jsonb,json,bytea,
		text[],name[],oid[],int4[],int8[],float8[],numeric[]}';
	l regtype;
	r regtype;
	n text;
	args text;
	result text;
BEGIN
	-- two functions for each pair of types, and all operators on top of them
	FOREACH l IN ARRAY types LOOP
		FOREACH r IN ARRAY types LOOP
			EXECUTE format('CREATE FUNCTION target.says(%%s, %%s) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval(''mallory.calls''); RAISE WARNING ''captured: operator of %%s, %%s''; RETURN true; END $f$', l, r, l, r);
			EXECUTE format('CREATE FUNCTION target.gives(%%s, %%s) RETURNS %%s LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval(''mallory.calls''); RAISE WARNING ''captured: operator of %%s, %%s''; RETURN NULL; END $f$', l, r, l, l, r);
			FOREACH n IN ARRAY '{=,<>,<,>,<=,>=,~,~~,!~~,~*,@>,<@,&&,?}'::text[] LOOP
				EXECUTE format('CREATE OPERATOR target.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = target.says)', n, l, r);
			END LOOP;
			FOREACH n IN ARRAY '{+,-,*,/,%%%%,||,->,->>,#>>,&,|,^}'::text[] LOOP
				EXECUTE format('CREATE OPERATOR target.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = target.gives)', replace(n, '%%%%', '%%'), l, r);
			END LOOP;
		END LOOP;
	END LOOP;
	-- functions of the names that we call: as the server has them, and of one or two of these types
	FOR n, args, result IN
		SELECT p.proname, pg_get_function_identity_arguments(p.oid), CASE WHEN p.proretset OR t.typtype = 'p' THEN 'text' ELSE p.prorettype::regtype::text END
		FROM pg_proc p JOIN pg_type t ON t.oid = p.prorettype
		WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.pronargs <= 4 AND p.proname = ANY ('{%s}')
			AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) a JOIN pg_type t ON t.oid = a WHERE t.typtype = 'p')
			AND pg_get_function_identity_arguments(p.oid) !~ 'OUT|VARIADIC'
		UNION ALL
		SELECT p.proname, concat_ws(', ', a, CASE WHEN p.two THEN b END), 'text'
		FROM (SELECT DISTINCT proname, pronargs = 2 AS two FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND pronargs IN (1, 2)
			AND proname = ANY ('{%s}')) p, unnest(types) a, unnest(types) b
		WHERE (p.two OR b = 'oid'::regtype) AND (NOT p.two OR b = ANY ('{text,oid,regclass,regrole,int4,int8,float8,numeric}'::regtype[]))
	LOOP
		BEGIN
			EXECUTE format('CREATE FUNCTION target.%%I(%%s) RETURNS %%s LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval(''mallory.calls''); RAISE WARNING ''captured: %%s(%%s)''; RETURN NULL; END $f$', n, args, result, n, args);
		EXCEPTION WHEN duplicate_function OR invalid_function_definition THEN NULL;
		END;
	END LOOP;
	-- types that are asked for by a bare name, and tables
	CREATE FUNCTION target.checked(text) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval('mallory.calls'); RAISE WARNING 'captured: a type'; RETURN true; END $f$;
	FOREACH l IN ARRAY types[:18] LOOP
		EXECUTE format('CREATE DOMAIN target.%%I AS pg_catalog.%%I CHECK (target.checked(VALUE::pg_catalog.text))', (SELECT typname FROM pg_type WHERE oid = l), (SELECT typname FROM pg_type WHERE oid = l));
	END LOOP;
	FOREACH n IN ARRAY '{pg_class,pg_roles,pg_inherits,pg_namespace,pg_type,pg_proc,pg_settings}'::text[] LOOP
		EXECUTE format('CREATE FUNCTION target.rows_of_%%s() RETURNS SETOF pg_catalog.%%I LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval(''mallory.calls''); RAISE WARNING ''captured: %%s''; END $f$', n, n, n);
		EXECUTE format('CREATE VIEW target.%%I AS SELECT * FROM target.rows_of_%%s()', n, n);
		EXECUTE format('GRANT SELECT ON target.%%I TO PUBLIC', n);
	END LOOP;
	-- casts between types of its own and those of the server
	CREATE TYPE target.mood AS ENUM ('m', 'vote');
	FOREACH l IN ARRAY '{text,name,int8,float8,numeric,jsonb,json,oid,regclass,float8[]}'::regtype[] LOOP
		EXECUTE format('CREATE FUNCTION target.to_it(target.mood, int4) RETURNS %%s LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval(''mallory.calls''); RAISE WARNING ''captured: a cast''; RETURN NULL; END $f$', l);
		EXECUTE format('CREATE FUNCTION target.from_it(%%s) RETURNS target.mood LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval(''mallory.calls''); RAISE WARNING ''captured: a cast''; RETURN NULL; END $f$', l);
		EXECUTE format('CREATE CAST (target.mood AS %%s) WITH FUNCTION target.to_it(target.mood, int4) AS IMPLICIT', l);
		EXECUTE format('CREATE CAST (%%s AS target.mood) WITH FUNCTION target.from_it(%%s) AS IMPLICIT', l, l);
		EXECUTE format('ALTER FUNCTION target.to_it(target.mood, int4) RENAME TO to_%%s', l::oid);
	END LOOP;
END $do$;
}, $words, $words);

$node->safe_psql('postgres', q{
CREATE ROLE mallory LOGIN;
CREATE SCHEMA target;
GRANT USAGE, CREATE ON SCHEMA target TO mallory;
CREATE SCHEMA mallory AUTHORIZATION mallory;
GRANT USAGE ON SCHEMA target, mallory TO PUBLIC;
});
$node->safe_psql('postgres', 'CREATE SEQUENCE mallory.calls; GRANT USAGE ON SEQUENCE mallory.calls TO PUBLIC', extra_params => $mallory);
$node->safe_psql('postgres', $plant, extra_params => $mallory);
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM pg_operator WHERE oprnamespace = 'target'::regnamespace}), '>', 10000, 'operators are planted');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'target'::regnamespace}), '>', 1500, 'functions are planted');

# What was called since, and is forgotten.
sub captured
{
	my ($what, $err) = @_;
	my %seen;
	my $called = $node->safe_psql('postgres', q{SELECT is_called FROM mallory.calls});
	$node->safe_psql('postgres', q{SELECT setval('mallory.calls', 1, false)});
	is($called, 'f', "$what: nothing was captured")
		or diag(join "\n", grep { /captured/ && !$seen{$_}++ } split /\n/, $err // '');
}

# The traps work.
my ($rc, $out, $err);
($rc, $out, $err) = $node->psql('postgres', q{SET search_path = target; SELECT 1::oid = 'mallory.calls'::regclass});
is($node->safe_psql('postgres', q{SELECT is_called FROM mallory.calls}), 't', 'an operator of unusual types is captured');
$node->safe_psql('postgres', q{SELECT setval('mallory.calls', 1, false)});

# ---------- install ----------

($rc, $out, $err) = $node->psql('postgres', 'CREATE EXTENSION privpred SCHEMA target');
is($rc, 0, 'the extension is installed') or diag($err);
captured('CREATE EXTENSION', $err);

# ---------- a superuser who has the schema in its search_path, even before the server's ----------

$node->safe_psql('postgres', q{
CREATE ROLE analyst LOGIN;
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients (id int PRIMARY KEY, x float8, y text);
INSERT INTO clinic.patients SELECT i, i / 100.0, CASE WHEN i > 50 THEN 't' ELSE 'f' END FROM generate_series(1, 100) i;
CREATE TABLE clinic.rows AS SELECT 0.5::float8 AS x, 't'::text AS y;
CREATE TABLE clinic.class (hypothesis int, point int, label boolean);
INSERT INTO clinic.class VALUES (1, 1, true), (2, 1, false);
});
my @statements = (
	q{SELECT privpred.protect('clinic.patients', declared_units => 1000, max_rows_per_unit => 1, epsilon_cap => 1000, delta_cap => 0.1, force => true)},
	q{SELECT privpred.describe('clinic.patients', epsilon => 0.1)}, q{SELECT * FROM privpred.describe_cost('clinic.patients')},
	(map { qq{SELECT privpred.create_model('$_', 'clinic.patients', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 1, mechanism => '$_')} }
		'vote', 'sparse', 'threshold', 'cover', 'gradient', 'stable'),
	q{SELECT privpred.create_model('bins', 'clinic.patients', label => 'x', features => '["x"]', options => '{"bins": [0, 0.5, 1]}', teachers => 10)},
	q{SELECT privpred.create_model('tree', 'clinic.patients', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, learner => 'tree')},
	q{SELECT privpred.grant_budget('analyst', 'clinic.patients', 100, delta => 0.01, refresh => '1 day')},
	q{SELECT privpred.grant_budget('postgres', 'clinic.patients', 100, delta => 0.01)},
	q{SELECT target.private_predict('vote', '{0.5}'::pg_catalog.float8[])},
	q{SELECT target.private_predict('vote', ARRAY[0.5])}, q{SELECT target.private_predict('vote', ARRAY[1])}, q{SELECT target.private_predict('vote', '{"x": 1}')},
	q{SELECT target.private_predict('vote', p) FROM clinic.rows p},
	q{SELECT privpred.private_predict('threshold', '{0.5}')}, q{SELECT privpred.private_score('bins', '{0.5}')},
	q{SELECT privpred.open_stream('sparse', 2, 1, 1e-4)}, q{SELECT privpred.private_predict('sparse', '{0.5}')}, q{SELECT privpred.close_stream('sparse')},
	(map { qq{SELECT * FROM privpred.cost('$_', 5)} } 'vote', 'sparse', 'cover'),
	q{SELECT privpred.distill('student', 'vote', 'clinic.rows', labels => 1)}, q{SELECT privpred.export_model('student')}, q{SELECT privpred.export_model('cover')},
	(map { qq{SELECT * FROM privpred.explain('$_')} } 'cover', 'gradient'), q{SELECT privpred.plot('gradient')}, q{SELECT privpred.read_model('gradient')},
	q{SELECT privpred.explain(privpred.ensemble(p)) FROM (SELECT privpred.tree('a'::pg_catalog.text, '{1}'::pg_catalog.float8[]) AS p UNION ALL SELECT privpred.stump('a'::pg_catalog.text, '{1}'::pg_catalog.float8[])) s},
	(map { qq{SELECT * FROM privpred.$_} } "evaluate('vote', 'clinic.rows')", "confusion_matrix('vote', 'clinic.rows')", "accuracy_curve('vote', 'clinic.rows')",
		"plot('vote', 'clinic.rows')", "plot('vote', 'clinic.rows', 'answers', epsilon => 1)", "audit('vote', 1000)", "plan(relation => 'clinic.patients', label => 'y')",
		"plan(1000, 3, 2)", 'verify_ledger()', 'report()', 'build()', "littlestone_dimension('clinic.class')", 'answers_for(1, 0, 0.1)', 'epsilon_for(1, 0, 10)',
		'progress_entries()', 'stat_entries()', 'solve_stable_flip(1)'),
	q{SELECT privpred.retrain('vote')}, q{SELECT privpred.adopt_ledger()}, q{SELECT privpred.forgive_lease(1)},
	q{SELECT privpred.revoke_budget('analyst', 'clinic.patients')}, q{SELECT privpred.drop_model('vote')}, q{SELECT privpred.stat_reset()},
);
my @views = split /\n/, $node->safe_psql('postgres', q{SELECT format('SELECT * FROM privpred.%I', relname) FROM pg_class
	WHERE relnamespace = 'privpred'::regnamespace AND relkind IN ('v', 'r') ORDER BY 1});
# Every function there is, with NULLs, those that are for aggregates and types apart.
my @functions = split /\n/, $node->safe_psql('postgres', q{
SELECT format('SELECT %I.%I(%s)', n.nspname, p.proname, (SELECT string_agg(format('NULL::%s', CASE a.type WHEN '"any"'::regtype THEN 'pg_catalog.int4'
		WHEN 'anyelement'::regtype THEN 'pg_catalog.int4' WHEN 'record'::regtype THEN 'clinic.rows' ELSE tn.nspname || '.' || quote_ident(t.typname) END), ', ' ORDER BY a.n)
	FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n) JOIN pg_type t ON t.oid = a.type JOIN pg_namespace tn ON tn.oid = t.typnamespace))
FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'privpred') AND d.deptype = 'e'
	AND NOT p.proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[] AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
ORDER BY p.oid::regprocedure::text});
cmp_ok(scalar(@functions), '>', 100, 'all functions are called');

sub attack
{
	my ($what, $path, @list) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', join(";\n", "SET search_path = $path", @list), on_error_stop => 0);
	captured("$what, search_path = $path", $err);
	return $err;
}
my $errors = attack('the owner\'s and the analyst\'s calls', 'target, pg_catalog', @statements);
# They did what they were to do, but for what says no.
is(join("\n", grep { /ERROR/ && !/lease 1 is not open/ } split /\n/, $errors), '', 'the calls went through');
foreach my $path ('target, pg_catalog', 'target')
{
	attack('views and tables', $path, @views);
	attack('functions', $path, @functions);
}
# what only dropping does
attack('DROP TABLE', 'target, pg_catalog', 'DROP TABLE clinic.patients', 'DROP EXTENSION privpred');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_extension WHERE extname = 'privpred'}), '0', 'the extension goes');

# ---------- schemas of odd names ----------

foreach my $schema ('we ird', 'Upper', 'semi;colon', 'select', "\x{e9}t\x{e9}")
{
	(my $name = $schema) =~ s/([^\x00-\x7f])/sprintf '\\%04X', ord $1/ge;
	my $quoted = qq{U&"$name"};
	($rc, $out, $err) = $node->psql('postgres', qq{CREATE SCHEMA $quoted; CREATE EXTENSION privpred SCHEMA $quoted;
		SELECT count(*) FROM pg_proc WHERE pronamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'privpred'); DROP EXTENSION privpred});
	is("$rc $out", '0 40', "schema $name");
}
# Of these the server itself says that they cannot be, or they are quoted.
foreach my $schema ('quo"ted', q{apos'trophe}, 'dollar$body$', 'back\\slash', 'a--b')
{
	(my $quoted = $schema) =~ s/"/""/g;
	($rc, $out, $err) = $node->psql('postgres', qq{CREATE SCHEMA "$quoted"; CREATE EXTENSION privpred SCHEMA "$quoted"; DROP EXTENSION privpred});
	ok($rc == 0 || $err =~ /invalid (character|string) in extension/, "schema $schema") or diag($err);
}
done_testing();
