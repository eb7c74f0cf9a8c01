# Dump and restore, copies, and an extension that goes and comes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dump');
$node->init;
$node->append_conf('postgresql.conf', "client_min_messages = warning\n");
$node->start;

sub sql { my ($sql, $db) = @_; return $node->safe_psql($db // 'postgres', $sql) }

# As a role, what comes back or the error.
sub ask
{
	my ($role, $sql, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'postgres', "SET ROLE $role; $sql");
	return $rc == 0 ? $out : $err;
}

sql(q{
CREATE ROLE owner;
CREATE ROLE "Ann O'Lyst";
CREATE EXTENSION privpred;
CREATE SCHEMA ward AUTHORIZATION owner;
GRANT USAGE ON SCHEMA ward TO "Ann O'Lyst";
SET ROLE owner;
CREATE TYPE ward.outcome AS ENUM ('home', 'ward', 'other ward');
CREATE TABLE ward."The Patients" (id int PRIMARY KEY, age float8, smoker boolean, outcome ward.outcome);
INSERT INTO ward."The Patients" SELECT i, i % 90, i % 2 = 0, CASE WHEN i % 90 > 45 THEN 'ward' ELSE 'home' END::ward.outcome FROM generate_series(1, 2000) i;
SELECT privpred.protect('ward."The Patients"', declared_units => 2000, epsilon_cap => 50);
SELECT privpred.create_model('m', 'ward."The Patients"', label => 'outcome', features => '{"age": {"min": 0, "max": 90}, "smoker": {}}', teachers => 20, epsilon => 2);
SELECT privpred.grant_budget('"Ann O''Lyst"', 'ward."The Patients"', epsilon => 10);
CREATE TYPE ward."A Teacher" AS (labels text[]);
CREATE FUNCTION ward.keep(t ward."A Teacher", label text, x float8[]) RETURNS ward."A Teacher" LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
  $$ SELECT ROW(array_append((t).labels, label))::ward."A Teacher" $$;
CREATE AGGREGATE ward."Train (it)"(text, float8[]) (SFUNC = ward.keep, STYPE = ward."A Teacher", INITCOND = '({})');
CREATE FUNCTION ward.answer(t ward."A Teacher", x float8[]) RETURNS ward.outcome LANGUAGE sql SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC; SELECT CASE WHEN x[1] > 0.5 AND cardinality((t).labels) > 0 THEN 'ward' ELSE 'home' END::ward.outcome; END;
SELECT privpred.create_model('own', 'ward."The Patients"', label => 'outcome', features => '{"age": {"min": 0, "max": 90}}', teachers => 20, epsilon => 2,
  learner => 'sql', options => '{"train": "ward.\"Train (it)\"", "predict": "ward.answer"}');
});
# Of another table there is a description, and nobody has a budget yet.
sql(q{
SET ROLE owner;
CREATE TABLE ward.visits (id int PRIMARY KEY, days int, ward text);
INSERT INTO ward.visits SELECT i, i % 30, 'w' || i % 3 FROM generate_series(1, 2000) i;
SELECT privpred.protect('ward.visits', declared_units => 2000);
SELECT privpred.describe('ward.visits', epsilon => 0.5);
});
# And two tables about the same people have one budget; one of them was protected apart before.
sql(q{
SET ROLE owner;
CREATE TABLE ward.beds (id int PRIMARY KEY, age float8, outcome ward.outcome);
CREATE TABLE ward.meals (id int PRIMARY KEY, age float8, outcome ward.outcome);
SELECT privpred.protect('ward.beds'), privpred.protect('ward.meals');
SELECT privpred.create_model('beds', 'ward.beds', label => 'outcome', features => '{"age": {"min": 0, "max": 90}}', teachers => 20, epsilon => 1),
  privpred.create_model('meals', 'ward.meals', label => 'outcome', features => '{"age": {"min": 0, "max": 90}}', teachers => 20, epsilon => 1);
SELECT privpred.grant_budget('"Ann O''Lyst"', 'ward.beds', epsilon => 6), privpred.grant_budget('"Ann O''Lyst"', 'ward.meals', epsilon => 6);
});
ask(q{"Ann O'Lyst"}, q{SELECT private_predict('beds', ARRAY[80]), private_predict('meals', ARRAY[80])});
sql(q{SET ROLE owner; SELECT privpred.protect('ward.meals', same_units_as => 'ward.beds')});
my $population = q{SELECT role, relation, population, epsilon_limit, epsilon_spent, epsilon_left, status FROM privpred.budgets WHERE population @> '{ward.beds}'};
is(sql($population), q{"Ann O'Lyst"|ward.beds|{ward.beds,ward.meals}|6|2|4|active}, 'a population before the dump');
my $descriptions = q{SELECT id, relation, at, epsilon, delta, charge, columns, features::text, null_shares, left_out, described_by FROM privpred.descriptions ORDER BY id};
my $ann = q{"Ann O'Lyst"};
is(ask($ann, q{SELECT private_predict('m', ARRAY[80, 1])}), 'ward', 'answer before the dump');
my $budget = q{SELECT role, relation, epsilon_limit, epsilon_spent, epsilon_left FROM privpred.budgets WHERE role IS NOT NULL AND relation = 'ward."The Patients"'::regclass};
my $models = q{SELECT name, relation, label, classes, features, teachers, epsilon, version, options FROM privpred.models ORDER BY name};
is(sql($budget), q{"Ann O'Lyst"|ward."The Patients"|10|2|8}, 'budget before the dump');

# ---------- dump and restore into another database ----------

my $dump = $node->basedir . '/dump.sql';
command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', $dump, 'postgres' ], 'pg_dump');
sql(q{CREATE DATABASE restored TEMPLATE template0});
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-d', 'restored', '-f', $dump ], 'restore');
is(sql($budget, 'restored'), sql($budget), 'the budget is restored, and what was spent');
is(sql($models, 'restored'), sql($models), 'the model is restored');
is(sql($descriptions, 'restored'), sql($descriptions), 'the description is restored');
is(sql($population, 'restored'), sql($population), 'the population is restored');
is(sql(q{SELECT md5(predictor::text) FROM privpred.model ORDER BY name}, 'restored'), sql(q{SELECT md5(predictor::text) FROM privpred.model ORDER BY name}), 'bit for bit');
like(ask($ann, q{SELECT private_predict('m', ARRAY[80, 1])}, 'restored'), qr/^\S*\s*ERROR:  .*adopt|ERROR:.*ledger/s, 'a restored ledger does not answer by itself');
sql(q{SELECT privpred.adopt_ledger()}, 'restored');
is(ask($ann, q{SELECT private_predict('m', ARRAY[80, 1])}, 'restored'), 'ward', 'answers once it is adopted');
is(sql($budget, 'restored'), q{"Ann O'Lyst"|ward."The Patients"|10|4|6}, 'and charges');
like(ask($ann, q{SELECT private_predict('beds', ARRAY[80]), private_predict('meals', ARRAY[80])}, 'restored'), qr/^\w[\w ]*\|\w[\w ]*$/, 'both tables are answered for');
is(sql($population, 'restored'), q{"Ann O'Lyst"|ward.beds|{ward.beds,ward.meals}|6|4|2|active}, 'from one account');
sql(q{BEGIN; DROP TABLE ward.beds; SET LOCAL ROLE "Ann O'Lyst"; SELECT private_predict('meals', ARRAY[80]); ROLLBACK}, 'restored');
is(sql($population, 'restored'), q{"Ann O'Lyst"|ward.beds|{ward.beds,ward.meals}|6|5|1|active}, 'whose holders were made known for each table');
is(sql(q{SELECT ok FROM privpred.verify_ledger()}, 'restored'), 't', 'the chain holds');
is(ask('owner', q{SELECT privpred.retrain('m') ->> 'version'}, 'restored'), '2', 'the owner can retrain');
is(ask('owner', q{SELECT privpred.create_model('n', 'ward."The Patients"', label => 'outcome', features => '{"smoker": {}}') ->> 'name'}, 'restored'), 'n', 'and create: sequences are restored');
is(sql($budget), q{"Ann O'Lyst"|ward."The Patients"|10|2|8}, 'the original is as it was');

# What was described there is known to whoever gets a budget here, and another draw is another number.
my $start = q{SELECT count(*), max(e.detail) FROM privpred.ledger e WHERE e.kind = 'describe' AND e.relation = 'ward.visits'::regclass};
like(ask('owner', q{SELECT privpred.grant_budget('"Ann O''Lyst"', 'ward.visits', epsilon => 3)}, 'restored'), qr/ERROR:  the budget cannot pay for description/, 'a budget without delta cannot pay for the description');
ask('owner', q{SELECT privpred.grant_budget('"Ann O''Lyst"', 'ward.visits', epsilon => 3, delta => 1e-5)}, 'restored');
is(sql($start, 'restored'), '1|description ' . sql(q{SELECT id FROM privpred.descriptions}), 'one with delta starts with its charge');
ask('owner', q{SELECT privpred.describe('ward.visits', epsilon => 0.1)}, 'restored');
is(sql(q{SELECT count(DISTINCT id) FROM privpred.descriptions}, 'restored'), '2', 'and pays for the next');

# Functions of learner sql are known by names and a digest without OIDs.
is(ask($ann, q{SELECT private_predict('own', ARRAY[80])}, 'restored'), 'ward', 'functions of the owner are the same after a restore');
is(ask('owner', q{SELECT privpred.retrain('own') ->> 'version'}, 'restored'), '2', 'and can be trained with');
sql(q{ALTER FUNCTION ward.answer OWNER TO CURRENT_USER}, 'restored');
like(ask($ann, q{SELECT private_predict('own', ARRAY[80])}, 'restored'), qr/ERROR:  functions of model "own" are not those that it was trained with/, 'unless another role owns them there');

# ---------- custom format, schema and data apart ----------

command_ok([ 'pg_dump', '-Fc', '-h', $node->host, '-p', $node->port, '-f', "$dump.c", 'postgres' ], 'pg_dump -Fc');
sql(q{CREATE DATABASE again TEMPLATE template0});
command_ok([ 'pg_restore', '-e', '-j', '2', '-h', $node->host, '-p', $node->port, '-d', 'again', "$dump.c" ], 'pg_restore -j');
is(sql($budget, 'again'), sql($budget), 'the budget is restored in parallel');

# ---------- a ledger without budgets, in which something was described ----------

sql(q{CREATE DATABASE bare TEMPLATE template0});
sql(q{CREATE EXTENSION privpred; CREATE TABLE t (id int PRIMARY KEY, x int)}, 'bare');
sql(q{SELECT privpred.protect('t', declared_units => 10)}, 'bare');
sql(q{SELECT privpred.describe('t')}, 'bare');
sql(q{SELECT privpred.describe('t')}, 'bare');
command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', "$dump.bare", 'bare' ], 'pg_dump of it');
sql(q{CREATE DATABASE bare2 TEMPLATE template0});
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-d', 'bare2', '-f', "$dump.bare" ], 'restore of it');
like(ask('postgres', q{SELECT privpred.describe('t')}, 'bare2'), qr/ERROR:  the privacy ledger of this database is a copy/, 'what was restored describes nothing by itself');
like(ask('postgres', q{SELECT privpred.grant_budget('owner', 't', 3, delta => 1e-5)}, 'bare2'), qr/ERROR:  the privacy ledger of this database is a copy/, 'nor grants');
sql(q{SELECT privpred.adopt_ledger()}, 'bare2');
sql(q{SELECT privpred.grant_budget('owner', 't', 3, delta => 1e-5)}, 'bare2');
is(sql(q{SELECT count(*) FROM privpred.ledger WHERE kind = 'describe'}, 'bare2'), '2', 'once it is adopted, budgets start with both charges');

# ---------- a dump without the role fails closed ----------

my $text = slurp_file($dump);
$text =~ s/Ann O'Lyst/Nobody Here/g;
append_to_file("$dump.norole", $text);
sql(q{CREATE DATABASE norole TEMPLATE template0});
$node->command_fails([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-d', 'norole', '-f', "$dump.norole" ], 'restore without the role');
$node->psql('norole', q{SELECT privpred.adopt_ledger()});
like(ask($ann, q{SELECT private_predict('m', ARRAY[80, 1])}, 'norole'), qr/ERROR/, 'nobody may ask there');

# ---------- the extension goes and comes: nothing is left, nothing is granted ----------

sql(q{DROP EXTENSION privpred CASCADE}, 'again');
is(sql(q{SELECT count(*) FROM pg_namespace WHERE nspname = 'privpred'}, 'again'), '0', 'DROP EXTENSION leaves nothing');
sql(q{DROP TABLE ward."The Patients"}, 'again');
sql(q{CREATE EXTENSION privpred SCHEMA ward}, 'again');
is(sql(q{SELECT count(*) FROM pg_proc WHERE proname = 'private_predict' AND pronamespace = 'ward'::regnamespace}, 'again'), '10',
	'private_predict goes to the schema that was named');
is(sql(q{SELECT count(*) FROM privpred.budgets}, 'again'), '0', 'a new extension starts empty');

$node->stop;
done_testing();
