# More databases than worker processes: they take turns, each has its answers, and
# nothing that is out, comes back or is locked is lost when a process leaves.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $databases = 10;
my $node = ledger_node('turns', qq{
max_worker_processes = 2
max_logical_replication_workers = 0
client_min_messages = error
privpred.repeat_memory = 0
});
$node->safe_psql('postgres', q{
SELECT privpred.create_model('flow', 'visits', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, mechanism => 'sparse');
SELECT privpred.grant_budget('alice', 'visits', 100, delta => 0.01);
CREATE FUNCTION hold(times int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE c refcursor;
BEGIN
	FOR i IN 1 .. times LOOP
		c := NULL;
		OPEN c FOR SELECT probe('m') FROM generate_series(1, 100);
		MOVE 3 FROM c;
	END LOOP;
END $$});
my @db = map { "d$_" } 1 .. $databases;
for my $db (@db)
{
	$node->safe_psql('template1', "CREATE DATABASE $db TEMPLATE postgres");
	$node->safe_psql($db, 'SELECT privpred.adopt_ledger()');
}
my $named = $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;

# start_ask DATABASE SQL: psql in the background; finish returns (out, SQLSTATE)
sub start_ask
{
	my ($db, $sql) = @_;
	my %ask = (out => '', err => '');
	$ask{run} = IPC::Run::start([ 'psql', '-XAtq', '-U', 'alice', '-h', $node->host, '-p', $node->port,
			'-d', $db, '-v', 'VERBOSITY=verbose', '-c', $sql ], '>', \$ask{out}, '2>', \$ask{err});
	return \%ask;
}
sub finish { my ($ask) = @_; $ask->{run}->finish; return ($ask->{out}, sqlstate_of($ask->{err}), $ask->{err}) }

sub processes
{
	return $node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT datname) FROM pg_stat_activity WHERE backend_type = 'privpred ledger'});
}

sub session
{
	my ($db, $role) = @_;
	return $node->background_psql($db, on_error_stop => 0, extra_params => [ '-U', $role ]);
}

# The ledger's process of a database leaves, because two others are asked until it does.
sub drive_out
{
	my ($db, @others) = @_;
	for (1 .. 40)
	{
		as($node, 'alice', q{SELECT probe('v')}, db => $_) foreach @others;
		return 1 if $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privpred ledger' AND datname = '$db'") == 0;
	}
	return 0;
}

# ---------- all at once ----------

my @asks = map { start_ask($_, q{SELECT count(probe('m')) FROM generate_series(1, 5)}) } @db;
my @got = map { my ($out, $state, $err) = finish($_); chomp $out; diag $err if $state; "$out$state" } @asks;
is("@got", join(' ', (5) x $databases), "$databases databases on two worker processes: all have their answers");
is(join(' ', map { spent($node, 'alice', db => $_) } @db), join(' ', (5) x $databases), 'and are charged for them, once');

# ---------- all at the same time, for long ----------

my $script = $node->basedir . '/ask.sql';
append_to_file($script, "SELECT probe('m');\n");
my $times = 40;
my @crowds = map {
	my %crowd = (out => '', err => '');
	$crowd{run} = IPC::Run::start([ 'pgbench', '-n', '-U', 'alice', '-h', $node->host, '-p', $node->port,
			'-c', '2', '-t', $times, '-f', $script, $_ ], '>', \$crowd{out}, '2>', \$crowd{err});
	\%crowd
} @db[0 .. 5];
my @late = map { my ($rc, $out, $err) = as($node, 'alice', q{SELECT probe('m')}, db => $_); sqlstate_of($err) } @db[6 .. 9];
is(join('', @late), '', 'six databases whose sessions never pause keep nobody else waiting without limit');
my $all = 2 * $times;
for my $crowd (@crowds)
{
	$crowd->{run}->finish;
	like($crowd->{out}, qr{processed: $all/$all}, 'nor one another') or diag $crowd->{err};
}
is(join(' ', map { spent($node, 'alice', db => $_) } @db), join(' ', (5 + $all) x 6, (6) x 4), 'every answer is charged once');

# ---------- what is out ----------

my $cursor = session('d1', 'alice');
my $before = spent($node, 'alice', db => 'd1');
$cursor->query('BEGIN');
$cursor->query(q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 100)});
$cursor->query(q{MOVE 6 FROM c});
is($node->safe_psql('d1', 'SELECT count(*) FROM privpred.leases WHERE NOT orphaned'), '1', 'a lease is out');
ok(drive_out('d1', 'd2', 'd3', 'd4'), 'its process leaves for others');
$cursor->query(q{MOVE 4 FROM c});
ok(drive_out('d1', 'd2', 'd3', 'd4'), 'and so does the next');
$cursor->query('COMMIT');
is(spent($node, 'alice', db => 'd1') - $before, 10, 'what was not used comes back');

# A stream, in the middle of a run.
$cursor->query(q{SELECT privpred.open_stream('flow', 5, 1, 1e-6, answers => 50)});
$cursor->query('BEGIN');
$cursor->query(q{DECLARE c CURSOR FOR SELECT probe('flow') FROM generate_series(1, 100)});
is($cursor->query(q{FETCH 3 FROM c}), "t\nt\nt", 'answers of a stream');
ok(drive_out('d1', 'd2', 'd3', 'd4'), 'its process leaves for others');
is($cursor->query(q{FETCH 3 FROM c}), "t\nt\nt", 'the stream goes on');
ok(drive_out('d1', 'd2', 'd3', 'd4'), 'its process leaves for others');
$cursor->query('COMMIT');
is($cursor->query(q{SELECT count(probe('flow')) FROM generate_series(1, 44)}), '44', 'as many answers as were bought');
$cursor->{stderr} = '';
$cursor->query(q{SELECT probe('flow')});
like($cursor->{stderr}, qr/no answers left/, 'and no more');
$cursor->quit;

# ---------- what comes back to an account that is locked ----------

$before = spent($node, 'alice', db => 'd1');
my $holder = session('d1', 'alice');
my $locker = session('d1', 'postgres');
$holder->query('BEGIN');
$holder->query('SELECT hold(20)');
$locker->query('BEGIN');
$locker->query(q{SELECT privpred.grant_budget('alice', 'patients', 150)});
$holder->query('ROLLBACK');
for my $round (1 .. 3)
{
	ok(drive_out('d1', 'd2', 'd3', 'd4'), "round $round: the lock keeps no process from leaving");
	my ($rc, $out, $err) = as($node, 'alice', q{SELECT probe('m')}, db => 'd1');
	is(sqlstate_of($err), '55P03', "round $round: the account is locked");
}
ok(drive_out('d1', 'd2', 'd3', 'd4'), 'the process leaves again');
is($node->safe_psql('d1', 'SELECT count(*), count(*) FILTER (WHERE orphaned) FROM privpred.leases'), '20|0', 'what comes back is neither lost nor given up');
$locker->query('COMMIT');
$locker->quit;
$holder->quit;
# Nobody asks there any more: whoever has a process sees to it.
my $care = IPC::Run::start([ 'pgbench', '-n', '-U', 'alice', '-h', $node->host, '-p', $node->port,
		'-c', '1', '-T', $PostgreSQL::Test::Utils::timeout_default, '-R', '20', '-f', $script, 'd2' ], '>', \my $care_out, '2>', \my $care_err);
my $left;
for (1 .. 300)
{
	$left = $node->safe_psql('d1', q{SELECT count(*) FROM privpred.leases});
	last if $left == 0;
	usleep(100_000);
}
$care->kill_kill;
is($left, 0, 'and no lease is left once the lock is gone');
if ($left > 0)
{
	$node->stop('immediate');
	done_testing();
	exit 1;
}
is(spent($node, 'alice', db => 'd1') - $before, 60, 'all of it has come back');

# ---------- no process to be had ----------

# One that has nothing to do for two seconds ends: on a slow machine that takes some tries.
my @stopped;
for (1 .. 40)
{
	as($node, 'alice', q{SELECT probe('m')}, db => $_) foreach ('d2', 'd3');
	@stopped = grep { stop_process($node, $_) } split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'privpred ledger'});
	last if @stopped == 2;
	kill CONT => @stopped;
}
is(processes(), '2|2', 'two processes');
$before = $node->safe_psql('d4', q{SELECT sum(epsilon_spent) FROM privpred.budgets});
my $waiting = start_ask('d4', q{SELECT probe('m')});
my $event = $named ? 'PrivpredLedgerProcess' : 'Extension';
ok($node->poll_query_until('postgres', qq{SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = 'd4' AND wait_event_type = 'Extension' AND wait_event = '$event'}),
	'a session waits, and says for what');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = 'd4' AND usename = 'alice'});
is((finish($waiting))[1], '57014', 'it can be cancelled');
my ($out, $state, $err) = finish(start_ask('d4', q{SET privpred.ledger_timeout = '1500ms'; SELECT probe('m')}));
is($state, '53000', 'it does not wait for ever');
like($err, qr/max_worker_processes/, 'the hint says what to raise');
like($err, qr/Nothing was charged/, 'and that nothing was charged');
kill CONT => @stopped;
is($node->safe_psql('d4', q{SELECT sum(epsilon_spent) FROM privpred.budgets}), $before, 'nothing was');
charges($node, 'alice', 1, q{SELECT probe('m')}, 'processes go on', db => 'd4');

# ---------- a database that is locked as a whole ----------

# Who renames it takes the lock before its last session has gone, which leaves something.
$before = spent($node, 'alice', db => 'd1');
$holder = session('d1', 'alice');
$holder->query('BEGIN');
$holder->query('SELECT hold(2)');
ok(drive_out('d1', 'd2', 'd3', 'd4'), 'its process leaves for others');
$locker = session('postgres', 'postgres');
$locker->query('SELECT pg_advisory_lock(1)');
my $renamer = IPC::Run::start([ 'psql', '-XAtq', '-U', 'postgres', '-h', $node->host, '-p', $node->port, '-d', 'postgres',
		map { ('-c', $_) } 'BEGIN', 'ALTER DATABASE d1 RENAME TO renamed', 'SELECT pg_advisory_lock(1)', 'ROLLBACK' ], '>', \my $renamed, '2>', \my $not_renamed);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.objid
	WHERE l.classid = 'pg_database'::regclass AND d.datname = 'd1' AND l.mode = 'AccessExclusiveLock' AND l.granted}), 'the database is locked');
$holder->quit;
@got = map { (as($node, 'alice', q{SELECT count(probe('m')) FROM generate_series(1, 5)}, db => $_))[1] } ('d2', 'd3', 'd4') x 3;
is("@got", join(' ', (5) x 9), 'no process waits for the lock that others need');
$locker->quit;
$renamer->finish;
is($not_renamed, '', 'the database was locked all the time');
is((as($node, 'alice', q{SELECT count(probe('m'))}, db => 'd1'))[1], '1', 'it is served again');
is(spent($node, 'alice', db => 'd1') - $before, 7, 'and what was not used comes back');

# ---------- nothing is left behind ----------

# A database that is dropped while something that comes back to it waits.
$holder = session($db[-1], 'alice');
$locker = session($db[-1], 'postgres');
$holder->query('BEGIN');
$holder->query('SELECT hold(2)');
$locker->query('BEGIN');
$locker->query(q{SELECT privpred.grant_budget('alice', 'patients', 150)});
$holder->query('ROLLBACK');
$holder->quit;
ok(drive_out($db[-1], 'd2', 'd3', 'd4'), 'its process leaves');
$locker->quit;
$node->safe_psql('postgres', "DROP DATABASE $db[-1]");
pop @db;
@got = map { (as($node, 'alice', q{SELECT count(probe('m')) FROM generate_series(1, 5)}, db => $_))[1] } @db;
is("@got", join(' ', (5) x @db), 'all others have their answers');

is(join(' ', map { $node->safe_psql($_, q{SELECT ok FROM privpred.verify_ledger()}) } @db), join(' ', ('t') x @db), 'all ledgers add up');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'privpred ledger'}), 'idle processes end');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_shmem_allocations WHERE name = 'privpred ledger'}), '1', 'one block of shared memory');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|was terminated by signal|could not be returned|were not returned/, 'nothing was given up');
done_testing();
