# privpred.answers = off: a server whose place another has taken gives no answer on any
# path, whatever a session sets, and charges nothing; what is out comes back.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('fenced', "client_min_messages = error\nautovacuum = off\n", allows_streaming => 1);
$node->safe_psql('postgres', q{
CREATE ROLE olga LOGIN;
GRANT CREATE ON SCHEMA public TO olga;
SET ROLE olga;
CREATE TABLE hers (id int PRIMARY KEY, x float8, y text);
INSERT INTO hers SELECT i, i / 100.0, CASE WHEN i > 50 THEN 't' ELSE 'f' END FROM generate_series(1, 100) i;
CREATE TABLE points AS SELECT i / 10.0::float8 AS x FROM generate_series(1, 10) i;
GRANT SELECT ON points TO PUBLIC;
SELECT privpred.protect('hers', declared_units => 100);
SELECT privpred.create_model('vote', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 0.1);
SELECT privpred.create_model('kept', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 0.1, options => '{"memoize": true}');
SELECT privpred.create_model('flow', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, mechanism => 'sparse');
SELECT privpred.create_model('flow2', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, mechanism => 'sparse');
SELECT privpred.create_model('score', 'hers', label => 'id', features => '["x"]', mechanism => 'stable_erm', epsilon => 0.1, options => '{"target": {"min": 0, "max": 100}}');
SELECT privpred.create_model('line', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', epsilon => 1, mechanism => 'gradient');
SELECT privpred.create_model('held', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 0.1, holdout => 0.5);
SELECT privpred.distill('student', 'vote', 'points', 'stump');
SELECT privpred.grant_budget('alice', 'hers', 100, delta => 1e-3);
SELECT privpred.grant_budget('bob', 'hers', 100, delta => 1e-3);
});
my ($rc, $out, $err);

sub session
{
	return $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', $_[0], '-v', 'VERBOSITY=verbose' ]);
}

# What a session says to a statement: its rows, or the SQLSTATE.
sub says
{
	my ($session, $sql) = @_;
	$session->{stderr} = '';
	my $said = $session->query($sql);
	return sqlstate_of($session->{stderr}) || $said;
}

sub set_answers
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET privpred.answers = $_[0]; SELECT pg_reload_conf()");
}

sub books
{
	return $node->safe_psql('postgres', q{SELECT account_id, spent_units, delta_spent FROM privpred.account ORDER BY 1});
}

# ---------- before: everything answers, and some of it is out ----------

my %paths = (
	'vote' => q{SELECT private_predict('vote', ARRAY[0.2]) IS NOT NULL},
	'repeat' => q{SELECT private_predict('vote', ARRAY[0.5]) IS NOT NULL},
	'memo' => q{SELECT private_predict('kept', ARRAY[0.5]) IS NOT NULL},
	'score' => q{SELECT private_score('score', ARRAY[0.2]) IS NOT NULL},
	'released' => q{SELECT private_predict('line', ARRAY[0.5]) IS NOT NULL},
	'student' => q{SELECT private_predict('student', ARRAY[0.5]) IS NOT NULL},
	'read_model' => q{SELECT privpred.read_model('line') IS NOT NULL},
	'explain' => q{SELECT privpred.explain('line') IS NOT NULL},
	'stream' => q{SELECT coalesce(private_predict('flow', ARRAY[0.2]), 'unstable') IS NOT NULL},
	'open_stream' => q{SELECT privpred.open_stream('flow2', 2, 1, 1e-6) IS NOT NULL},
	'distill' => q{SELECT privpred.distill('another', 'vote', 'points', 'stump') IS NOT NULL},
);
my %owner = (
	'export' => q{SELECT privpred.export_model('line') IS NOT NULL},
	'describe' => q{SELECT privpred.describe('hers') IS NOT NULL},
	'accuracy' => q{SELECT privpred.release_accuracy('held', 0.1) IS NOT NULL},
	'distill' => q{SELECT privpred.distill('yet another', 'vote', 'points', 'stump') IS NOT NULL},
	'vote' => q{SELECT private_predict('vote', ARRAY[0.2]) IS NOT NULL},
);
$node->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO alice');
my $alice = session('alice');
is(says($alice, q{SELECT private_predict('vote', ARRAY[0.5]) IS NOT NULL}), 't', 'an answer to be repeated');
is(says($alice, q{SELECT private_predict('kept', ARRAY[0.5]) IS NOT NULL}), 't', 'an answer that is kept');
is(says($alice, q{SELECT private_predict('line', ARRAY[0.5]) IS NOT NULL}), 't', 'a released model');
is(says($alice, q{SELECT private_predict('student', ARRAY[0.5]) IS NOT NULL}), 't', 'a student');
like(says($alice, q{SELECT privpred.open_stream('flow', 3, 1, 1e-6)}), qr/^\d*$/, 'a stream');
my $lease = session('alice');
$lease->query('BEGIN');
$lease->query(q{DECLARE c CURSOR FOR SELECT private_predict('vote', ARRAY[i / 1000.0]) IS NOT NULL FROM generate_series(1, 1000) i});
$lease->query(q{MOVE 40 FROM c});
my $open = $node->safe_psql('postgres', 'SELECT sum(answers) FROM privpred.leases');
cmp_ok($open, '>', 1, 'a lease is out');
my $released = session('alice');
$released->query('BEGIN');
$released->query(q{DECLARE c CURSOR FOR SELECT private_predict('line', ARRAY[i / 1000.0]) IS NOT NULL FROM generate_series(1, 100000) i});
is(says($released, q{FETCH 1 FROM c}), 't', 'a released model in a running statement');

# ---------- off ----------

# Who puts the setting aside before the library is loaded.
$node->safe_psql('postgres', q{ALTER ROLE bob SET privpred.answers = on; ALTER DATABASE postgres SET privpred.answers = on});
set_answers('off');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'privpred ledger'}),
	'no process is there any more');

# A running statement ends within the age of a lease, whatever it has reserved.
my $said = '';
for (1 .. 100)
{
	$said = says($lease, q{FETCH 1 FROM c});
	last if $said ne 't';
	select(undef, undef, undef, 0.1);
}
is($said, '55000', 'a lease that is out');
for (1 .. 100)
{
	$said = says($released, q{FETCH 1 FROM c});
	last if $said ne 't';
	select(undef, undef, undef, 0.1);
}
is($said, '55000', 'a released model in a running statement');
$lease->query('ROLLBACK');
$released->query('ROLLBACK');
settled($node);
my $used = books();

for my $path (sort keys %paths)
{
	is(says($alice, $paths{$path}), '55000', "$path: a session that was there");
	($rc, $out, $err) = as($node, 'alice', $paths{$path});
	is(sqlstate_of($err), '55000', "$path: a new session");
	like($err, qr/switched off on this server/, "$path: says so");
	is($out, '', "$path: no answer");
	local $ENV{PGOPTIONS} = '-c privpred.answers=on';
	($rc, $out, $err) = as($node, 'alice', "SET privpred.answers = on; $paths{$path}", go_on => 1);
	is($out, '', "$path: a session that sets it: no answer");
	is(sqlstate_of($err =~ s/.*cannot be changed now[^\n]*\n//sr), '55000', "$path: a session that sets it") or diag $err;
}
for my $path (sort keys %owner)
{
	($rc, $out, $err) = as($node, 'olga', $owner{$path});
	is(sqlstate_of($err), '55000', "$path: the owner");
	is($out, '', "$path: the owner: no answer");
}
# The setting of a role takes the file's place in that session, and in no other.
for my $path (sort grep { !/stream|distill/ } keys %paths)
{
	($rc, $out, $err) = as($node, 'bob', $paths{$path});
	is(sqlstate_of($err), '55000', "$path: a role with a setting of its own");
}
is(books(), $used, 'nothing is charged');
is($node->safe_psql('postgres', q{SELECT count(*) FROM privpred.model WHERE name LIKE '%another'}), '0', 'nothing is distilled');
is($node->safe_psql('postgres', q{SELECT count(*) FROM privpred.descriptions}), '0', 'nothing is described');

# Strangers learn nothing.
my @strange = map { ($rc, $out, $err) = as($node, 'carol', $_); $err =~ s/.*ERROR:\s*(\S+ .*?)\n.*/$1/sr } values %paths;
my @nothing = map { ($rc, $out, $err) = as($node, 'carol', s/'(vote|kept|score|line|student|flow|flow2)'/'no such'/r); $err =~ s/.*ERROR:\s*(\S+ .*?)\n.*/$1/sr =~ s/no such/NAME/r } values %paths;
s/"(vote|kept|score|line|student|flow|flow2)"/"NAME"/ foreach @strange;
is(join("\n", @strange), join("\n", @nothing), 'strangers are told what they were told before');

# What does not tell answers goes on.
is((as($node, 'olga', $_))[0], 0, "goes on: $_") foreach (
	q{SELECT privpred.evaluate('vote', 'hers')}, q{SELECT privpred.grant_budget('bob', 'hers', 90, delta => 1e-3)},
	q{SELECT * FROM privpred.budgets}, q{SELECT privpred.retrain('score')});
is((as($node, 'alice', $_))[0], 0, "goes on: $_") foreach (
	q{SELECT privpred.cost('vote')}, q{SELECT privpred.check('vote', ARRAY[0.5])}, q{SELECT privpred.close_stream('flow')}, q{SELECT * FROM privpred.my_budget});
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger adds up');

# ---------- a process that is there hears of it at once ----------

set_answers('on');
is((as($node, 'alice', $paths{vote}))[1], 't', 'on again');
$lease->query('BEGIN');
$lease->query(q{DECLARE c CURSOR FOR SELECT private_predict('vote', ARRAY[i / 1000.0]) IS NOT NULL FROM generate_series(1, 100000) i});
$lease->query(q{MOVE 40 FROM c});
set_answers('off');
# A session of its own keeps the process busy until it refuses.
ok(refuses(), 'the process has heard of it');
is(says($lease, q{FETCH 1 FROM c}), '55000', 'a lease ends with the setting');
$lease->query('ROLLBACK');

sub refuses
{
	for (1 .. 60)
	{
		($rc, $out, $err) = as($node, 'bob', q{SET privpred.repeat_memory = 0; SELECT private_predict('vote', ARRAY[0.9]) IS NOT NULL});
		return 1 if sqlstate_of($err) eq '55000';
	}
	return 0;
}

# ---------- the old primary ----------

set_answers('on');
is((as($node, 'alice', $paths{vote}))[1], 't', 'the primary answers');
$_->quit foreach ($alice, $lease, $released);
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('successor');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
$node->stop;
$standby->promote;
is((as($standby, 'alice', $paths{vote}))[1], 't', 'its successor answers');
$node->append_conf('postgresql.conf', "privpred.answers = off\n");
unlink $node->data_dir . '/postgresql.auto.conf';
append_to_file($node->data_dir . '/postgresql.auto.conf', '');
$node->start;
for my $path (sort grep { !/repeat/ } keys %paths)
{
	($rc, $out, $err) = as($node, 'alice', $paths{$path});
	is(sqlstate_of($err), '55000', "the old primary, restarted: $path");
	($rc, $out, $err) = as($node, 'bob', $paths{$path});
	is($out, '', "the old primary, restarted, a role with a setting of its own: $path");
}
$node->stop;
$standby->stop;
done_testing();
