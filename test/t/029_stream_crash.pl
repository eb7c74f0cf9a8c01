# A stream's threshold that has seen a failure never comes back: not after kill -9
# between failure and redraw, not after a cancel there, not in another session,
# not in a clone.  A crash can only cost an unstable answer.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use IPC::Run ();
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = PostgreSQL::Test::Cluster->new('stream_crash');
$node->init;
$node->append_conf('postgresql.conf', q{
restart_after_crash = on
privpred.repeat_memory = 0
client_min_messages = error
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# Three teachers never agree enough: every answer is unstable.  The noise is so
# wide that no two thresholds are the same.
sql(q{
CREATE EXTENSION privpred;
CREATE TABLE patients (id int PRIMARY KEY, x float8, y text);
SELECT privpred.protect('patients');
SELECT privpred.create_model('m', 'patients', label => 'y', classes => '{t,f}', features => '["x"]', mechanism => 'sparse', teachers => 3);
CREATE ROLE ann LOGIN;
SELECT privpred.grant_budget('ann', 'patients', epsilon => 1, delta => 1e-6);
});
as($node, 'ann', q{SELECT privpred.open_stream('m', 1000, 1e-6, 1e-10)});

sub threshold { return sql(q{SELECT threshold FROM privpred.stream WHERE status = 'open'}) }

# After what sessions leave behind has been served.
sub unstable
{
	sql(q{SELECT privpred.verify_ledger()});
	return sql(q{SELECT unstable_used FROM privpred.streams ORDER BY stream DESC LIMIT 1});
}

sub ask { return as($node, 'ann', q{SELECT coalesce(private_predict('m', ARRAY[0.5]), 'NULL')}) }

# A session that stays: what it is told, and its process.
sub session
{
	my ($user) = @_;
	my %session = (in => '', out => '', err => '');
	$session{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') . " user=$user" ],
		'<', \$session{in}, '>', \$session{out}, '2>', \$session{err});
	say_to(\%session, "SELECT 'pid ' || pg_backend_pid();\n", qr/pid (\d+)/);
	($session{pid}) = $session{out} =~ /pid (\d+)/;
	return \%session;
}

# Sends, and waits for what comes back if something is to.
sub say_to
{
	my ($session, $text, $until) = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
	$session->{in} .= $text;
	$session->{run}->pump_nb;
	while (defined $until && "$session->{out}$session->{err}" !~ $until)
	{
		die "no $until: $session->{out}$session->{err}" if time > $deadline;
		$session->{run}->pump_nb;
		usleep(5_000);
	}
}

# A session that has had three unstable answers and may have another without
# asking the ledger for it: it asks for one, one more, then two.
sub cursor
{
	my $session = session('ann');
	say_to($session, qq{BEGIN; DECLARE c CURSOR FOR SELECT coalesce(private_predict('m', ARRAY[i / 1000.0]), 'NULL') FROM generate_series(1, 100) i;
FETCH 3 FROM c;\n}, qr/(NULL\s+){3}/);
	return $session;
}

# Somebody with a lock on the row: failures cannot be recorded.
my $locker = session('postgres');

sub lock_row
{
	$locker->{out} = '';
	say_to($locker, "BEGIN; SELECT 'locked' FROM privpred.stream WHERE status = 'open' FOR UPDATE;\n", qr/locked/);
}

sub unlock_row { $locker->{out} = ''; say_to($locker, "ROLLBACK; SELECT 'free';\n", qr/free/) }

# The sessions' questions have failed, and they wait for the ledger, which gives up
# after two seconds: false if they did not get there in time.
sub wait_together
{
	my (@sessions) = @_;
	my $pids = join(', ', map { $_->{pid} } @sessions);
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
	while (time < $deadline)
	{
		my $waiting = sql("SELECT count(*) FILTER (WHERE wait_event_type = 'Extension'), count(*) FILTER (WHERE state <> 'active') FROM pg_stat_activity WHERE pid IN ($pids)");
		return 1 if $waiting eq @sessions . '|0';
		return 0 if $waiting !~ /\|0$/;
		usleep(10_000);
	}
	die 'does not wait';
}

sub finish { my ($session) = @_; $session->{in} .= "\\q\n"; eval { $session->{run}->finish }; return }

# ---------- a failure is recorded before its answer leaves ----------

my %seen = (threshold() => 1);
my ($rc, $out) = ask();
is($out, 'NULL', 'an unstable answer');
is(unstable(), 1, 'is counted');
ok(!$seen{ threshold() }++, 'and has another threshold after it');

lock_row();
my ($state) = map { sqlstate_of((as($node, 'ann', q{SELECT private_predict('m', ARRAY[0.5])}))[2]) } 1;
is($state, '55P03', 'no stream while its row is locked');
unlock_row();
is(unstable(), 1, 'and nothing is counted');

# ---------- kill -9 between failure and redraw ----------

# Stopped while it waits, it will not go on before it is killed.
my ($session, $before, $used);
for (1 .. 100)
{
	$session = cursor();
	$used = unstable();
	lock_row();
	say_to($session, "FETCH c;\n");
	last if wait_together($session) && stop_process($node, $session->{pid}) && wait_together($session);
	kill 'CONT', $session->{pid};
	finish($session);
	unlock_row();
	$node->poll_query_until('postgres', 'SELECT holders = 0 FROM privpred.stream') or die 'in use';
}
$before = threshold();
my $incarnation = incarnation($node);
ok(kill(9, $session->{pid}), 'kill -9 of a backend that waits');
ok(back_since($node, $incarnation), 'the server restarts after kill -9 of a backend whose failure is not recorded');
finish($_) for $session, $locker;
unlike($session->{out}, qr/(NULL\s+){4}/, 'the answer never left');
$locker = session('postgres');
is(threshold(), $before, 'the old threshold is still in the table');
is(unstable(), $used, 'and the failure is not');
ask();
is(unstable(), $used + 2, 'the next question finds it out: a failure for the crash, and its own');
ok(!$seen{ threshold() }++, 'with another threshold');
is(sql(q{SELECT count(*) FROM privpred.ledger WHERE detail LIKE '%in use when the server stopped'}), 1, 'the ledger says why');

# ---------- a cancel between failure and redraw ----------

# A session asks the ledger again every second, and may be cancelled there, before
# its question; then it tries again.
my $tries = 0;
$used = unstable();
do
{
	$session = cursor();
	$used += 3;
	$before = threshold();
	lock_row();
	say_to($session, "SET LOCAL statement_timeout = '300ms'; FETCH c;\n", qr/57014|55P03/);
	finish($session);
	unlock_row();
	$node->poll_query_until('postgres', 'SELECT holders = 0 FROM privpred.stream') or die 'in use';
} while (unstable() == $used && $tries++ < 100);
is(unstable(), ++$used, "a failure is recorded when its session leaves (tries: $tries)");
isnt(threshold(), $before, 'and the threshold drawn anew');

# ---------- two sessions ----------

my @sessions;
for (1 .. 100)
{
	@sessions = (cursor(), cursor());
	$used = unstable();
	$before = threshold();
	lock_row();
	foreach my $one (@sessions)
	{
		$one->{out} = $one->{err} = '';
		say_to($one, "FETCH c;\n");
	}
	my $together = wait_together(@sessions);
	unlock_row();
	say_to($_, "SELECT 'done';\n", qr/done|ERROR/) for @sessions;
	last if $together && !grep { $_->{err} =~ /55P03/ } @sessions;
	finish($_) for @sessions;
	$node->poll_query_until('postgres', 'SELECT holders = 0 FROM privpred.stream') or die 'in use';
}
like($_->{out}, qr/^NULL/, 'each gets its answer') for @sessions;
is(unstable(), $used += 2, 'and each failure is counted, the second against another threshold');
isnt(threshold(), $before, 'which is not the first');
finish($_) for @sessions, $locker;

# ---------- restarts ----------

ok($node->poll_query_until('postgres', 'SELECT holders = 0 FROM privpred.stream'), 'nobody uses the stream');
$before = threshold();
$node->restart;
is(threshold(), $before, 'a restart changes nothing');
ask();
is(unstable(), $used += 1, 'and costs nothing');
$session = cursor();
$node->stop('immediate');
$node->start;
finish($session);
ask();
is(unstable(), $used += 5, 'a crash costs an unstable answer where the stream was in use');
$session = cursor();
is(unstable(), $used += 3, 'in use again');
$node->restart;
finish($session);
ask();
my $now = unstable();
cmp_ok($now - $used, '<=', 2, 'a fast shutdown costs no more, and nothing if sessions have time to leave');
$used = $now;
$session = cursor();
sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privpred ledger'});
$session->{out} = '';
say_to($session, "FETCH c;\n", qr/NULL|ERROR/);
like($session->{out}, qr/^NULL/, 'another ledger process goes on');
finish($session);
is(unstable(), $used += 4, 'and counts');

# ---------- copies ----------

my ($dump) = run_command([ 'pg_dump', '-a', '-t', 'privpred.*', $node->connstr('postgres') ]);
unlike($dump, qr/COPY privpred\.stream /, 'streams are left out of dumps');
like($dump, qr/COPY privpred\.ledger_entry /, 'though the ledger is not');
$node->poll_query_until('postgres', q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = 'postgres' AND pid <> pg_backend_pid())});
$node->safe_psql('template1', 'CREATE DATABASE clone TEMPLATE postgres');
($rc, $out, my $err) = as($node, 'ann', q{SELECT private_predict('m', ARRAY[0.5])}, db => 'clone');
is(sqlstate_of($err), '55000', 'a clone does not answer');
$node->safe_psql('clone', 'SELECT privpred.adopt_ledger()');
($rc, $out, $err) = as($node, 'ann', q{SELECT private_predict('m', ARRAY[0.5])}, db => 'clone');
is(sqlstate_of($err), '55000', 'nor, once adopted, through the old stream');
is($node->safe_psql('clone', q{SELECT status, threshold FROM privpred.stream}), 'ledger adopted|', 'which is closed');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger adds up');
$node->stop;
done_testing();
