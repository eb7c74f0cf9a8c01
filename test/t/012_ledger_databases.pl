# Standbys, copies of databases, dumps, upgrades, worker slots.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = ledger_node('primary', "max_worker_processes = 12\n", allows_streaming => 1);
my ($rc, $out, $err);

# What a database sets must not weaken the ledger.
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET synchronous_commit = off;
	ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read';
	ALTER DATABASE postgres SET search_path = 'public'});
charges($node, 'alice', 2, q{SELECT probe('m') FROM generate_series(1, 2)}, 'settings of the database');

# ---------- standby ----------

$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
($rc, $out, $err) = as($standby, 'alice', q{SELECT probe('m')});
is(sqlstate_of($err), '25006', 'hot standby');
is($standby->safe_psql('postgres', q{SELECT epsilon_spent FROM privpred.budgets}), '0.2',
	'budgets can be read there');
is($standby->safe_psql('postgres', q{SELECT ok FROM privpred.verify_ledger()}), 't',
	'and the ledger verified');

# A synchronous standby that hangs: no answer before the charge is there.
$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'nobody';
	SELECT pg_reload_conf()});

# Nothing that is done to the ledger's process while it waits lets an answer out.
for my $act ('pg_typeof', 'pg_cancel_backend', 'pg_terminate_backend')
{
	my $asker = IPC::Run::start([ 'psql', '-XAtq', '-U', 'alice', '-h', $node->host, '-p', $node->port,
			'-d', 'postgres', '-v', 'VERBOSITY=verbose', '-c',
			q{SET synchronous_commit = off; SET privpred.ledger_timeout = '1500ms'; SELECT probe('m')} ],
		'>', \$out, '2>', \$err);
	ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE backend_type = 'privpred ledger' AND wait_event = 'SyncRep'}), "$act: waiting for a standby");
	$node->safe_psql('postgres',
		"SELECT $act(pid) FROM pg_stat_activity WHERE backend_type = 'privpred ledger'");
	$asker->finish;
	is($out, '', "$act: no answer");
	is(sqlstate_of($err), '58000', "$act: state") or diag $err;
	like($err, qr/may have been recorded/, "$act: the charge may have been recorded");
	# The next one starts afresh.
	$node->safe_psql('postgres',
		q{SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE backend_type = 'privpred ledger'});
}
my $before = spent($node, 'alice');
($rc, $out, $err) = as($node, 'alice', q{SET privpred.ledger_timeout = '500ms'; SELECT probe('m')});
is(sqlstate_of($err), '58000', 'a client that gives up');
$node->safe_psql('postgres', q{ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity
	WHERE wait_event = 'SyncRep'}), 'standby requirement lifted');
ok($node->poll_query_until('postgres', qq{SELECT round(epsilon_spent * 10) = $before FROM privpred.budgets}),
	'what it gave up comes back');
charges($node, 'alice', 1, q{SELECT probe('m')}, 'works again');

$node->wait_for_catchup($standby);
$standby->promote;
charges($standby, 'alice', 2, q{SELECT probe('m') FROM generate_series(1, 2)}, 'after promotion');
$standby->stop;

# ---------- the ledger's process ----------

charges($node, 'alice', 1, q{SELECT probe('m')}, 'a process is there');
$node->safe_psql('postgres',
	q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privpred ledger'});
charges($node, 'alice', 3, q{SELECT probe('m') FROM generate_series(1, 3)}, 'and comes again after a stop');

# ---------- databases ----------

$node->safe_psql('postgres', q{CREATE DATABASE other});
ledger_setup($node, 'other');
charges($node, 'alice', 2, q{SELECT probe('m') FROM generate_series(1, 2)}, 'another database',
	db => 'other');
my $started = time;
$node->safe_psql('postgres', q{CREATE DATABASE clone TEMPLATE other});
cmp_ok(time - $started, '<', $PostgreSQL::Test::Utils::timeout_default, 'CREATE DATABASE ... TEMPLATE with the ledger in use');
($rc, $out, $err) = as($node, 'alice', q{SELECT probe('m')}, db => 'clone');
is(sqlstate_of($err), '55000', 'a clone is refused');
like($err, qr/is a copy/, 'says why');
($rc, $out, $err) = as($node, 'postgres', q{SELECT privpred.grant_budget('alice', 'patients', 10)},
	db => 'clone');
is(sqlstate_of($err), '55000', 'also to grant');
($rc, $out, $err) = as($node, 'alice', q{SELECT privpred.adopt_ledger()}, db => 'clone');
is(sqlstate_of($err), '42501', 'not everyone adopts');
$node->safe_psql('clone', q{SELECT privpred.adopt_ledger()});
charges($node, 'alice', 1, q{SELECT probe('m')}, 'a clone, adopted', db => 'clone');
is(spent($node, 'alice', db => 'clone'), 3, 'it remembers');
is($node->safe_psql('clone', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|',
	'its ledger verifies');
$started = time;
$node->safe_psql('postgres', q{DROP DATABASE clone});
cmp_ok(time - $started, '<', $PostgreSQL::Test::Utils::timeout_default, 'DROP DATABASE with the ledger in use');

# ---------- the extension ----------

my $cursor = $node->background_psql('other', on_error_stop => 0,
	extra_params => [ '-U', 'alice', '-v', 'VERBOSITY=sqlstate' ]);
$cursor->query(q{BEGIN});
$cursor->query(q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 1000)});
$cursor->query(q{MOVE 50 FROM c});
my $drop = q{DROP EXTENSION privpred CASCADE; DROP FUNCTION probe, set_cap;
	DROP SEQUENCE calls; DROP TABLE patients, visits};
($rc, $out, $err) = as($node, 'postgres', "SET lock_timeout = '300ms'; $drop", db => 'other');
is(sqlstate_of($err), '55P03', 'DROP EXTENSION waits for running statements');
$cursor->query(q{ROLLBACK});
$node->safe_psql('other', $drop);
$cursor->quit;
ledger_setup($node, 'other');
charges($node, 'alice', 4, q{SELECT probe('m') FROM generate_series(1, 4)}, 'created anew', db => 'other');
is(spent($node, 'alice', db => 'other'), 4, 'nothing of the old lease comes back to the new account');
is($node->safe_psql('other', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|',
	'the new ledger verifies');

# ---------- dump and restore ----------

my $dump = $node->basedir . '/other.sql';
$node->command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', $dump, 'other' ], 'pg_dump');
$node->safe_psql('postgres', q{CREATE DATABASE restored});
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port,
		'-f', $dump, 'restored' ], 'restore');
($rc, $out, $err) = as($node, 'alice', q{SELECT probe('m')}, db => 'restored');
is(sqlstate_of($err), '55000', 'a restored ledger is refused');
my $head = $node->safe_psql('other', q{SELECT head FROM privpred.verify_ledger()});
like($node->safe_psql('restored', qq{SELECT problem FROM privpred.verify_ledger('$head')}),
	qr/restored from a dump or cloned, and not adopted/, 'the chain verifies, the identity does not');
$node->safe_psql('restored', q{SELECT privpred.adopt_ledger()});
charges($node, 'alice', 1, q{SELECT probe('m')}, 'restored and adopted', db => 'restored');
is(spent($node, 'alice', db => 'restored'), 5, 'it remembers');
is($node->safe_psql('restored', qq{SELECT ok, problem FROM privpred.verify_ledger('$head')}), 't|',
	'and verifies');
as($node, 'alice', q{SELECT probe('m')}, db => 'other');
$head = $node->safe_psql('other', q{SELECT head FROM privpred.verify_ledger()});
like($node->safe_psql('restored', qq{SELECT problem FROM privpred.verify_ledger('$head')}),
	qr/never had the expected head/, 'a later head proves that spending is missing');

# ---------- worker slots ----------

$node->append_conf('postgresql.conf', "max_worker_processes = 1\nmax_logical_replication_workers = 0\n");
$node->restart;
my $script = $node->basedir . '/busy.sql';
append_to_file($script, "SELECT probe('m');\n");
my $busy = IPC::Run::start([ 'pgbench', '-n', '-U', 'alice', '-h', $node->host, '-p', $node->port,
		'-T', $PostgreSQL::Test::Utils::timeout_default, '-R', '20', '-f', $script, 'other' ], '>', \$out, '2>', \my $busy_err);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE backend_type = 'privpred ledger'}), 'the only slot is in use');
charges($node, 'alice', 1, q{SELECT probe('m')}, 'databases take turns with it', db => 'restored');
$busy->kill_kill;
charges($node, 'alice', 1, q{SELECT probe('m')}, 'a slot is free again', db => 'restored');

# ---------- pg_upgrade, which keeps a database's oid since 15 ----------

if ($node->safe_psql('postgres', q{SHOW server_version_num}) < 150000)
{
	$node->stop;
	done_testing();
	exit;
}
charges($node, 'alice', 1, q{SELECT probe('m')}, 'before pg_upgrade', db => 'other');
my $spent = spent($node, 'alice', db => 'other');
$node->safe_psql('postgres', q{DROP DATABASE restored});
$node->stop;
sub identifier { return `pg_controldata -D '${\ $_[0]->data_dir}'` =~ /^Database system identifier: +(\d+)$/m ? $1 : die 'no identifier' }
my $new = PostgreSQL::Test::Cluster->new('upgraded');
{ local $ENV{OWN_IDENTIFIER} = 'yes'; $new->init }
isnt(identifier($new), identifier($node), 'another cluster');
# The staged server is found by the path of its binaries, not by pg_config.
chomp(my $bin = `dirname \$(command -v postgres)`);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 0\n");
command_ok([ 'pg_upgrade', '--no-sync', '-b', $bin, '-B', $bin, '-d', $node->data_dir, '-D', $new->data_dir,
		'-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
charges($new, 'alice', 2, q{SELECT probe('m') FROM generate_series(1, 2)}, 'after pg_upgrade', db => 'other');
is(spent($new, 'alice', db => 'other'), $spent + 2, 'nothing forgotten');
is($new->safe_psql('other', qq{SELECT ok, problem FROM privpred.verify_ledger('$head')}), 't|',
	'and it verifies');
$new->stop;
done_testing();
