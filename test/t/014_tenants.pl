# Tenants of one server: what one of them holds, fills or gives up, the others do
# not notice.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('tenants', qq{
max_connections = 120
wal_level = replica
max_wal_senders = 4		# without them, no commit waits for a standby
client_min_messages = error
privpred.repeat_memory = 0
}, allows_streaming => 1);
$node->safe_psql('postgres', q{CREATE DATABASE other});
ledger_setup($node, 'other');
my $setup = q{
SELECT privpred.grant_budget('bob', 'patients', 100);
SELECT privpred.grant_budget('alice', 'visits', 100);
};
$node->safe_psql($_, $setup) foreach ('postgres', 'other');
my ($rc, $out, $err);

# ask_as ROLE MODEL DATABASE: the SQLSTATE, empty if there was an answer
sub ask_as
{
	my ($role, $model, $db) = @_;
	($rc, $out, $err) = as($node, $role, "SELECT probe('$model')", db => $db // 'postgres');
	return sqlstate_of($err);
}

# session ROLE: one that goes on after errors
sub session
{
	return $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', $_[0] ]);
}

sub worker_pid
{
	return $node->safe_psql('postgres', qq{SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'privpred ledger' AND datname = '@{[ $_[0] // 'postgres' ]}'});
}

# ---------- every lock that an owner can hold ----------

$node->safe_psql('postgres', q{
CREATE ROLE olga LOGIN;
GRANT CREATE ON SCHEMA public TO olga;
CREATE TABLE public_rows AS SELECT 0.5::float8 AS x;
GRANT SELECT ON public_rows TO PUBLIC;
SELECT privpred.distill('student', 'm', 'public_rows', 'stump');
SELECT privpred.grant_budget('olga', 'patients', 50);
SELECT privpred.grant_budget('olga', 'visits', 5);
SET ROLE olga;
CREATE TABLE hers (id int PRIMARY KEY, x float8, y text);
CREATE TABLE bare (LIKE hers INCLUDING ALL);
INSERT INTO hers VALUES (1, 0.5, 't');
SELECT privpred.protect('hers', declared_units => 1);
SELECT privpred.protect('bare', declared_units => 1);
SELECT privpred.create_model('hers', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 0.1);
SELECT privpred.create_model('hers flow', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 1,
	mechanism => 'sparse');
SELECT privpred.distill('her student', 'hers', 'public_rows', 'stump');
CREATE TABLE kept (LIKE hers INCLUDING ALL);
SELECT privpred.protect('kept', declared_units => 1000);
SELECT privpred.create_model('kept', 'kept', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 0.1, holdout => 0.5);
SELECT privpred.forget('kept', 4711);
SELECT privpred.grant_budget('olga', 'hers', 50, delta => 1e-3);
SELECT privpred.grant_budget('alice', 'hers', 50);
});

# What owners, and analysts, do in transactions that stay open.
my @acts = (
	q{SELECT privpred.protect('hers')},
	q{SELECT privpred.protect('hers', epsilon_cap => 1000, delta_cap => 1e-2)},
	q{SELECT privpred.protect('bare', same_units_as => 'hers')},
	q{SELECT privpred.protect('hers', same_units_as => 'bare')},
	q{SELECT privpred.unprotect('bare')},
	q{SELECT privpred.create_model('hers too', 'hers', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10)},
	q{SELECT privpred.retrain('hers')},
	q{SELECT privpred.drop_model('hers')},
	q{SELECT privpred.distill('another student', 'hers', 'public_rows', 'stump')},
	q{SELECT privpred.export_model('her student')},
	q{SELECT privpred.read_model('her student')},
	q{SELECT privpred.describe('bare')},
	q{SELECT privpred.release_accuracy('kept', 1)},
	q{SELECT privpred.forget('hers', 1, delete_rows => true)},
	q{SELECT privpred.verify_certificate(privpred.certificate(1))},
	q{SELECT privpred.grant_budget('olga', 'hers', 60)},
	q{SELECT privpred.grant_budget('alice', 'hers', 60)},
	q{SELECT privpred.grant_budget('bob', 'hers', 60)},
	q{SELECT privpred.revoke_budget('olga', 'hers')},
	q{SELECT privpred.revoke_budget('alice', 'hers')},
	q{SELECT privpred.open_stream('hers flow', 2, 1, 1e-9)},
	q{SELECT privpred.close_stream('hers flow')},
	q{SELECT probe('hers')},
	q{SELECT privpred.private_predict('hers', ARRAY[0.5])},
	q{SELECT privpred.evaluate('hers', 'hers')},
	q{SELECT privpred.verify_ledger()},
	q{SELECT privpred.report()},
	q{SELECT privpred.cost('hers')},
	q{SELECT privpred.cost_of($$UPDATE hers h SET y = private_predict('hers', h)$$)},
	q{DECLARE c CURSOR FOR SELECT probe('hers') FROM generate_series(1, 100); FETCH 5 FROM c},
	q{LOCK TABLE hers},
	q{SELECT * FROM hers FOR UPDATE},
	q{ALTER TABLE hers ADD z int},
	q{DROP TABLE hers},
	q{REASSIGN OWNED BY olga TO olga},
	q{DROP OWNED BY olga},
);
# These only read, but for the last three: explain calls read_model, private_score goes the way of
# private_predict, and forgive_lease comes below.  A new function belongs to one list or the other.
my %harmless = map { $_ => 1 } qw(accuracy_curve confusion_matrix plot predict votes audit progress_entries stat_entries budget_entries describe_cost check chunk_index
	explain private_score forgive_lease);

my $volatile = $node->safe_psql('postgres', q{SELECT DISTINCT p.proname FROM pg_proc p
	WHERE p.pronamespace = 'privpred'::regnamespace AND p.provolatile = 'v' AND p.prokind = 'f'
		AND has_function_privilege('olga', p.oid, 'EXECUTE')
		AND p.prorettype NOT IN ('event_trigger'::regtype, 'trigger'::regtype) ORDER BY 1});
my @untried = grep { my $name = $_; !$harmless{$name} && !grep { /privpred\.\Q$name\E\(/ } @acts } split /\n/, $volatile;
is("@untried", '', 'every volatile function that an owner may call is tried');

# What must go on meanwhile, on tables of somebody else.
my @others = (
	[ 'postgres', q{SELECT privpred.grant_budget('olga', 'patients', 60)} ],
	[ 'postgres', q{SELECT privpred.grant_budget('alice', 'patients', 100)} ],
	[ 'postgres', q{SELECT privpred.grant_budget('carol', 'patients', 50)} ],
	[ 'alice', q{SELECT probe('m')} ],
	[ 'olga', q{SELECT probe('m')} ],
	[ 'carol', q{SELECT probe('m') FROM generate_series(1, 3)} ],
	[ 'postgres', q{SELECT privpred.protect('visits', epsilon_cap => 500)} ],
	[ 'postgres', q{SELECT privpred.protect('visits', epsilon_cap => 'Infinity')} ],
	[ 'postgres', q{SELECT privpred.export_model('student')} ],
	[ 'postgres', q{SELECT privpred.revoke_budget('carol', 'patients')} ],
	[ 'postgres', q{SELECT privpred.revoke_budget('olga', 'visits')} ],
	[ 'postgres', q{SELECT privpred.grant_budget('olga', 'visits', 5)} ],
);
my $olga;
foreach my $act (@acts)
{
	$olga = session('olga');
	$olga->query('BEGIN');
	$olga->query($act);
	is($olga->query(q{SELECT 'open'}), 'open', "$act: the transaction is open");
	# One session for all of them: each statement is a transaction of the role's own.
	($rc, $out, $err) = as($node, 'postgres', "SET lock_timeout = '5s';\n"
		. join('', map { "\\warn others: $_->[1]\nSET SESSION AUTHORIZATION $_->[0];\n$_->[1];\n" } @others), go_on => 1);
	my (undef, @said) = split /^others: /m, $err;
	is(scalar @said, scalar @others, "$act: all others were tried");
	my @stuck = grep { sqlstate_of($_) ne '' } @said;
	is(join("\n", @stuck), '', "$act: holds nobody else up");
	$olga->query('ROLLBACK');
	$olga->quit;
}

# Answers that are kept go with the model's training; nobody waits for that.
$node->safe_psql('postgres', q{SELECT privpred.create_model('hers memo', 'hers', label => 'y', classes => '{t,f}', features => '["x"]',
	teachers => 10, epsilon => 0.1, options => '{"memoize": true}'); SELECT privpred.grant_budget('alice', 'hers', 50)});
is(ask_as('alice', 'hers memo'), '', 'an answer is kept');
$olga = session('olga');
$olga->query('BEGIN');
$olga->query(q{SELECT privpred.drop_model('hers memo')});
($rc, $out, $err) = as($node, 'alice', q{SELECT probe('hers memo', '{0.25}')});
is(sqlstate_of($err), '', 'one more answer while the model is being dropped');
$olga->query('ROLLBACK');
$olga->quit;

# Nor for the owner who forgives what a crash has lost, when the ledger starts.
my $lost = session('alice');
$lost->query('BEGIN');
$lost->query(q{DECLARE c CURSOR FOR SELECT probe('hers') FROM generate_series(1, 100)});
$lost->query(q{MOVE 10 FROM c});
$node->stop('immediate');
eval { $lost->quit };
$node->start;
$olga = session('olga');
$olga->query('BEGIN');
$olga->query(q{SELECT privpred.forgive_lease(lease) FROM privpred.leases WHERE orphaned});
is($olga->query(q{SELECT 'open'}), 'open', 'a lease is forgiven in an open transaction');
is(ask_as('alice', 'm'), '', 'answers from other relations go on');
is(ask_as('bob', 'm'), '', 'and again');
$olga->query('COMMIT');
$olga->quit;
is($node->safe_psql('postgres', q{SELECT count(*) FROM privpred.leases}), '0', 'it is forgiven');

# ---------- what comes back to a locked account leaves the slots ----------

$node->safe_psql('postgres', q{
CREATE FUNCTION hold(times int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE c refcursor;
BEGIN
	FOR i IN 1 .. times LOOP
		c := NULL;
		OPEN c FOR SELECT probe('hers') FROM generate_series(1, 100);
		MOVE 3 FROM c;
	END LOOP;
END $$;
SELECT privpred.grant_budget('olga', 'hers', 100, delta => 1e-3)});

# fill TIMES: so many leases come back while their account is locked; returns the session that locks it
sub fill
{
	my ($times) = @_;
	my $holder = session('olga');
	my $locker = session('olga');
	$holder->query('BEGIN');
	$holder->query("SELECT hold($times)");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM privpred.leases}), $times, "$times leases are out");
	$locker->query('BEGIN');
	$locker->query(q{SELECT privpred.grant_budget('olga', 'hers', 200, delta => 1e-3)});
	$holder->query('ROLLBACK');
	$holder->quit;
	return $locker;
}

my $before = spent($node, 'olga', relation => 'hers');
my $locker = fill(80);
is(ask_as('alice', 'm', 'other'), '', 'another database has its answers');
is(ask_as('alice', 'm'), '', 'and so has another relation');
is(ask_as('olga', 'm'), '', 'and the role itself, on another relation');
is(ask_as('olga', 'hers'), '55P03', 'but not from the account that it has locked');
$locker->query('COMMIT');
$locker->quit;
is(spent($node, 'olga', relation => 'hers') - $before, 240, 'all of it comes back once the lock is gone');

# More than the ledger keeps for a relation: what is given up is orphaned, and can be forgiven.
$before = spent($node, 'olga', relation => 'hers');
$locker = fill(300);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 44 FROM privpred.leases WHERE orphaned}), 'a part of it is given up');
is(ask_as('alice', 'm', 'other'), '', 'another database has its answers');
$locker->query('COMMIT');
$locker->quit;
is(spent($node, 'olga', relation => 'hers') - $before, 944, 'the rest comes back, one answer of each lease');
($rc, $out, $err) = as($node, 'olga', q{SELECT privpred.forgive_lease(lease) FROM privpred.leases WHERE orphaned});
is(sqlstate_of($err), '', 'the owner forgives');
is(spent($node, 'olga', relation => 'hers') - $before, 900, 'what was not used, and nothing else');
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger adds up');

# So is what it keeps when it is told to go.
$before = spent($node, 'olga', relation => 'hers');
$locker = fill(20);
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . worker_pid() . ')');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 20 FROM privpred.leases WHERE orphaned}), 'a process that goes gives up what it keeps');
$locker->query('COMMIT');
$locker->quit;
($rc, $out, $err) = as($node, 'olga', q{SELECT privpred.forgive_lease(lease) FROM privpred.leases WHERE orphaned});
is(sqlstate_of($err), '', 'the owner forgives');
is(spent($node, 'olga', relation => 'hers') - $before, 60, 'what was not used, and nothing else');
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger adds up');

# ---------- one role, one database cannot have all slots ----------

is(ask_as('alice', 'm'), '', 'a process is there');
my $worker = worker_pid();
kill STOP => $worker;
my $script = $node->basedir . '/ask.sql';
append_to_file($script, "SELECT probe('m');\n");
$before = spent_now('alice');
$ENV{PGOPTIONS} = '-c privpred.ledger_timeout=10min';
my $crowd = IPC::Run::start([ 'pgbench', '-n', '-U', 'alice', '-h', $node->host, '-p', $node->port,
		'-c', '70', '-t', '1', '-f', $script, 'postgres' ], '>', \my $crowd_out, '2>', \my $crowd_err);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 70 FROM pg_stat_activity
	WHERE usename = 'alice' AND wait_event_type = 'Extension'}), '70 sessions wait for a process that is stopped');
delete $ENV{PGOPTIONS};
is(ask_as('bob', 'm', 'other'), '', 'another role in another database has its answers');
kill CONT => $worker;
$crowd->finish;
like($crowd_out, qr{processed: 70/70}, 'all 70 have theirs in turn') or diag $crowd_err;
is(spent($node, 'alice') - $before, 70, 'and are charged for them');

# Without the wait for leases, for when the process is stopped.
sub spent_now
{
	return $node->safe_psql('postgres', qq{SELECT round(epsilon_spent * 10) FROM privpred.budgets
		WHERE relation = 'patients'::regclass AND role = '$_[0]'::regrole});
}

# ---------- a client that gives up costs one entry, not two each time ----------

$node->safe_psql('postgres', q{
SELECT privpred.create_model('m2', 'patients', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, epsilon => 0.1);
ALTER SYSTEM SET privpred.ledger_idle_timeout = '4s'; SELECT pg_reload_conf()});

# No commit ends any more; returns one that shows it.
my $commits = 0;

sub require_standby
{
	$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'; SELECT pg_reload_conf()});
	foreach (1 .. 1000)
	{
		my $table = 'commit_' . ++$commits;
		my $commit = IPC::Run::start([ 'psql', '-Xq', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-c', "CREATE TABLE $table ()" ]);
		my $waits = q{EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')};
		$node->poll_query_until('postgres', "SELECT $waits OR to_regclass('$table') IS NOT NULL") or die 'no commit';
		return $commit if $node->safe_psql('postgres', "SELECT $waits") eq 't';
		$commit->finish;
	}
	die 'no commit waits for a standby';
}

# give_up ROLE: asks, and goes when the charge is written and not yet on the standby
sub give_up
{
	my ($role) = @_;
	my $commit = require_standby();
	my $asker = IPC::Run::start([ 'psql', '-XAtq', '-U', $role, '-h', $node->host, '-p', $node->port,
			'-d', 'postgres', '-v', 'VERBOSITY=verbose', '-c', q{SELECT probe('m')} ], '>', \my $answer, '2>', \my $error);
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE backend_type = 'privpred ledger' AND wait_event = 'SyncRep'}) or die 'nobody waits for a standby';
	$node->safe_psql('postgres', qq{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = '$role'});
	$asker->finish;
	die "not cancelled: $answer$error" if sqlstate_of($error) ne '57014';
	$node->safe_psql('postgres', q{ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()});
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'})
	  or die 'somebody waits for a standby';
	$commit->finish;
}

# Entries that a client which gives up and asks again makes.  The ledger's process holds what nobody
# took for as long as it has something to do, or ten seconds; a try that takes longer does not count.
my $entries = q{SELECT count(*) FROM privpred.ledger_entry};
my $written;
foreach (1 .. 20)
{
	$node->safe_psql('postgres', q{SELECT privpred.grant_budget('carol', 'patients', 100); SELECT privpred.verify_ledger()});
	die "no answer: $err" if ask_as('carol', 'm2') ne '';
	my ($pid, $count) = (worker_pid(), $node->safe_psql('postgres', $entries));
	my $started = time;
	give_up('carol');
	die 'no answer' if ask_as('carol', 'm') ne '';
	next if worker_pid() ne $pid || time - $started > 8;
	$written = $node->safe_psql('postgres', $entries) - $count;
	last;
}
is($written, 1, 'what one gave up goes to who asks next');

# But within the ceiling of a statement, and not to who has left the group that paid.  (Nor if it has gone back already.)
$node->safe_psql('postgres', q{SELECT privpred.set_ceiling('carol', 1)});
give_up('carol');
($rc, $out, $err) = as($node, 'carol', q{SELECT probe('m2') UNION ALL SELECT probe('m')});
is(sqlstate_of($err), '54000', 'what was given up does not lift a ceiling');
$node->safe_psql('postgres', q{SELECT privpred.set_ceiling('carol', NULL)});
$node->safe_psql('postgres', q{CREATE ROLE eve LOGIN; CREATE ROLE first_group; CREATE ROLE second_group; GRANT first_group, second_group TO eve;
SELECT privpred.grant_budget('first_group', 'patients', 10);
SELECT privpred.grant_budget('second_group', 'patients', 10)});
$before = spent($node, 'second_group');
give_up('eve');
$node->safe_psql('postgres', q{REVOKE first_group FROM eve});
is(ask_as('eve', 'm'), '', 'who has left a group is answered');
is(spent($node, 'second_group') - $before, 1, 'and another group pays');

# It is not held back from those who need it.  (The student above was exported: a third of this is spent.)
$node->safe_psql('postgres', q{CREATE ROLE dora LOGIN; SELECT privpred.grant_budget('dora', 'patients', 0.35)});
is(ask_as('dora', 'm2'), '', 'one of two answers');
give_up('dora');
is(ask_as('dora', 'm2'), '', 'the other, of another model');
is(ask_as('dora', 'm'), '53400', 'and no third');
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger adds up');

# ---------- no role is held by budgets of an extension that is gone ----------

my $holders = q{SELECT count(*) FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = 'other' AND s.deptype = 't'};
isnt($node->safe_psql('other', $holders), '0', 'the server knows of budgets');
$node->safe_psql('other', q{BEGIN; DROP EXTENSION privpred CASCADE; ROLLBACK});
isnt($node->safe_psql('other', $holders), '0', 'also after a DROP EXTENSION that was rolled back');
$node->safe_psql('other', q{DROP EXTENSION privpred CASCADE});
is($node->safe_psql('other', $holders), '0', 'and of none after one that was not');

$node->stop;
done_testing();
