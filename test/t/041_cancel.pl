# Whatever takes long can be cancelled: each statement runs once to its end, and
# is then cancelled after a part of the time on a processor that it took.  It
# must end before most of the rest is done, and leave nothing behind.  No clock on
# the wall is looked at.  On a busy machine a cancel may come too late, so there are
# many tries: what cannot be interrupted fails them all.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use WatchedSession;

plan skip_all => 'there is no /proc/PID/schedstat' unless -r "/proc/$$/schedstat";

my $node = PostgreSQL::Test::Cluster->new('cancel');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = error\nmaintenance_work_mem = '512MB'\nmax_parallel_workers_per_gather = 0\n");
$node->start;
sub sql { return $node->safe_psql('postgres', $_[0]) }

my @columns = map { "f$_" } 1 .. 10;
my $wide = q{label => 'y', features => '[} . join(', ', map { qq{"$_"} } @columns) . q{]'};
my $narrow = q{label => 'y', features => '["f1"]'};

sql(q{CREATE EXTENSION privpred; CREATE ROLE analyst LOGIN; SELECT setseed(0.5);});
# make_rows NAME ROWS
sub make_rows
{
	my ($name, $n) = @_;
	sql(qq{CREATE TABLE $name AS SELECT i AS id, f1 + f2 + random() > f3 + 1 AS y, s.* FROM
		(SELECT i, } . join(', ', map { "random() AS $_" } @columns) . qq{ FROM generate_series(1, $n) i OFFSET 0) s;
		ALTER TABLE $name DROP i, ADD PRIMARY KEY (id);
		ANALYZE $name;
		SELECT privpred.protect('$name', declared_units => $n);});
}
make_rows('many', 100_000);
make_rows('fewer', 20_000);
make_rows('few', 1_500);
sql(qq{
SELECT privpred.grant_budget('analyst', 'many', epsilon => 1000000);
SELECT privpred.create_model('teacher', 'fewer', $wide, teachers => 1000, learner => 'linear');
SELECT privpred.create_model('drawn', 'many', $wide, mechanism => 'stable_flip');
SELECT privpred.create_model('drawn few', 'few', $wide, mechanism => 'stable_flip');
CREATE TABLE class AS SELECT h AS hypothesis, p AS point, (hashint4(p * 1000 + h) & 1)::boolean AS label
  FROM generate_series(1, 2000) h, generate_series(1, 300) p;
CREATE TABLE questions AS SELECT * FROM fewer;
CREATE TABLE points AS SELECT id, y, f1 * 256 AS x FROM many;
ALTER TABLE points ADD PRIMARY KEY (id);
SELECT privpred.protect('points', declared_units => 100000);
});
# A ledger that is long, and wrong, but takes its time.
sql(q{
SELECT privpred.verify_ledger();
SET session_replication_role = replica;
INSERT INTO privpred.ledger_entry SELECT e.id + i, at, kind, account_id, cap_id, role_name, relation_id, relation_name, model_id, model, version,
	lease, answers, units, cap_units, limit_units, actor, pid, renyi_order, window_units, window_limit_units, delta, detail, head
	FROM (SELECT * FROM privpred.ledger_entry ORDER BY id DESC LIMIT 1) e, generate_series(1, 100000) i;
});

# create ARGUMENTS: the statement, of what follows the name
sub create { return "SELECT privpred.create_model('cancelled', $_[0])" }

my @statements = (
	(map { [ "$_, one teacher", create("'many', $wide, teachers => 1, learner => '$_'") ] } qw(logistic svm stump tree)),
	(map { [ "$_ teachers", create("'many', $wide, teachers => 200, learner => '$_'") ] } qw(logistic linear naive_bayes centroid)),
	[ 'average', create("'many', $wide, mechanism => 'average', teachers => 400, epsilon => 1, learner => 'stump'") ],
	[ 'soft', create("'many', $wide, mechanism => 'soft', teachers => 200") ],
	[ 'sparse', create("'many', $wide, mechanism => 'sparse', teachers => 200") ],
	[ 'threshold', create("'many', $narrow, mechanism => 'threshold'") ],
	[ 'stable_flip', create("'many', $wide, mechanism => 'stable_flip'") ],
	[ 'stable', create("'many', $wide, mechanism => 'stable'") ],
	[ 'relabel', create(q{'many', } . $narrow . q{, mechanism => 'relabel', options => '{"n_max": 100000}'}) ],
	[ 'cover, stumps', create(qq{'many', $wide, mechanism => 'cover', options => '{"class": "stumps", "accuracy": 1}'}) ],
	# of which there are so many that fewer rows will do
	[ 'cover, halfspaces', create(qq{'fewer', $wide, mechanism => 'cover', options => '{"class": "halfspaces", "accuracy": 1}'}) ],
	[ 'cover, rectangles', create(q{'many', label => 'y', features => '["f1", "f2", "f3"]', mechanism => 'cover', options => '{"class": "rectangles", "accuracy": 1}'}) ],
	[ 'littlestone', create(q{'points', label => 'y', features => '{"x": {"min": 0, "max": 256}}', mechanism => 'littlestone', epsilon => 4, options => '{"points": 128}'}) ],
	[ 'stable_erm', create("'many', $wide, mechanism => 'stable_erm'") ],
	[ 'gradient', create("'many', $wide, mechanism => 'gradient', options => '{\"steps\": 500}'") ],
	[ 'describe', q{SELECT privpred.describe('points')} ],
	[ 'littlestone_dimension', q{SELECT privpred.littlestone_dimension('class')} ],
	[ 'evaluate', q{SELECT privpred.evaluate('teacher', 'many')} ],
	[ 'evaluate, stable_flip', q{SELECT privpred.evaluate('drawn few', 'few')} ],
	[ 'distill', q{SELECT privpred.distill('cancelled', 'teacher', 'questions')} ],
	[ 'verify_ledger', q{SELECT privpred.verify_ledger()} ],
	[ 'load and answer', q{SELECT private_predict('drawn', array_fill(0.5, '{10}')) FROM generate_series(1, 50)}, 'SET ROLE analyst;' ],
);

# Seconds on a processor, of a process.
sub cpu
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/schedstat") or return 0;
	return (split ' ', <$file>)[0] / 1e9;
}

# run_for STATEMENT SETUP SECONDS: cancels it after so many on a processor, unless
# undefined; returns its SQLSTATE, how many it had at its end, and another's SQLSTATE
sub run_for
{
	my ($statement, $setup, $seconds) = @_;
	my $session = WatchedSession->new($node->connstr('postgres'), "SET privpred.max_answers_per_statement = -1; $setup");
	my $before = cpu($session->pid);
	$session->begin("$statement;");
	until ($session->over(0.002))
	{
		next unless defined $seconds && cpu($session->pid) - $before >= $seconds;
		kill INT => $session->pid;
		undef $seconds;
	}
	my @result = ($session->state, cpu($session->pid) - $before);
	# It goes on with whatever else it is asked.
	$session->begin('SELECT 40 + 2;');
	push @result, $session->state;
	$session->quit;
	return @result;
}

# cancels NAME STATEMENT SETUP PART SECONDS: is it, after a part of the seconds that it takes?
my $tries = 12;

sub cancels
{
	my ($name, $statement, $setup, $part, $whole) = @_;
	foreach my $try (1 .. $tries)
	{
		my ($state, $taken, $next) = run_for($statement, $setup, $part * $whole);
		is($next, '00000', "$name: the session goes on") if $try == 1;
		return 1 if $state eq '57014' && $taken < ($part + 0.4) * $whole;
		diag("$name: $state after $taken of $whole s, told to stop at $part of them") if $try == $tries;
		sql(q{SELECT privpred.drop_model(name) FROM privpred.model WHERE name = 'cancelled'});
		$whole = $taken if $state eq '00000';
	}
	return 0;
}

my $models = sql('SELECT count(*) FROM privpred.model');
foreach (@statements)
{
	my ($name, $statement, $setup) = (@$_, '');
	my ($state, $whole) = run_for($statement, $setup);
	is($state, '00000', "$name: left alone, it succeeds");
	sql(q{SELECT privpred.drop_model(name) FROM privpred.model WHERE name = 'cancelled'});
	ok(cancels($name, $statement, $setup, $_, $whole), "$name: cancelled after $_ of its work, before most of the rest") foreach (0.1, 0.5);
	# Of other sessions: they end a little after their clients.
	ok($node->poll_query_until('postgres', qq{SELECT (SELECT count(*) FROM privpred.model) = $models
		AND NOT EXISTS (SELECT FROM privpred.progress) AND NOT EXISTS (SELECT FROM pg_ls_tmpdir())
		AND NOT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE l.locktype = 'relation' AND a.backend_type = 'client backend' AND pid <> pg_backend_pid())}), "$name: nothing is left");
}

$node->stop;
done_testing();
