# Many sessions use a model that is charged once for the first time, all at
# once: each role pays once and the cap pays once; a crash refunds nothing.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('releases');
$node->init;
$node->append_conf('postgresql.conf', q{
max_connections = 60
fsync = off
client_min_messages = error
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (id int PRIMARY KEY, x float8, y text);
CREATE TABLE questions AS SELECT 0.5 AS x FROM generate_series(1, 5);
CREATE ROLE r0; CREATE ROLE r1; CREATE ROLE r2;
SELECT privpred.protect('people', epsilon_cap => 1);
SELECT privpred.create_model('teacher', 'people', label => 'y', classes => '{a,b}', features => '{"x": {"min": 0, "max": 1}}',
	learner => 'stump', teachers => 10, epsilon => 0.1);
SELECT privpred.distill('student', 'teacher', 'questions', 'stump');
SELECT privpred.grant_budget(r, 'people', 0.9) FROM unnest('{r0,r1,r2}'::regrole[]) r;
});

# Which role a session is follows from its number.
my $script = $node->basedir . '/ask.sql';
append_to_file($script, q{
\set role :client_id % 3
SET ROLE r:role;
SELECT private_predict('student', ARRAY[0.5]);
SELECT count(private_predict('student', ARRAY[0.5])) FROM generate_series(1, 100);
RESET ROLE;
});
$node->command_ok([ 'pgbench', '-n', '-c', '24', '-j', '2', '-t', '5', '-f', $script, 'postgres' ], '24 sessions of three roles');

my $spent = sql(q{SELECT string_agg(role_name || ' ' || epsilon_spent, ', ' ORDER BY role_name) FROM privpred.budgets});
is($spent, ' 0.5, r0 0.5, r1 0.5, r2 0.5', 'each role has paid once, and the cap once');
is(sql(q{SELECT count(*), count(cap_id), sum(cap_units) / 1e12 = 0.5 FROM privpred.ledger_entry WHERE kind = 'release'}),
	'3|1|t', 'and the ledger says so');

# What is paid for stays so, through a crash.
$node->stop('immediate');
$node->start;
is(sql(q{SET ROLE r1; SELECT private_predict('student', ARRAY[0.5]) IN ('a', 'b')}), 't', 'after a crash it answers');
is(sql(q{SELECT sum(epsilon_spent) FROM privpred.budgets}), '2.0', 'for nothing');
is(sql(q{SELECT ok FROM privpred.verify_ledger()}), 't', 'and the ledger adds up');

$node->stop;
done_testing();
