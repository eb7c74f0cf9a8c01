# What the tests of the ledger share.  probe(model) is private_predict by a
# shorter name; with no rows, a thousand teachers all say t.
package LedgerTest;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

our @EXPORT = qw(ledger_node ledger_setup spent settled sqlstate_of as charges refused attempt
  incarnation back_since stop_process kill_process);

# Every answer costs 0.1; alice has 1000 of them.
sub ledger_setup
{
	my ($node, $db) = @_;
	$node->safe_psql($db, q{
CREATE EXTENSION privpred;
CREATE FUNCTION probe(model text, x float8[] DEFAULT '{0.5}') RETURNS text
	AS '$libdir/privpred', 'private_predict_array'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000;
CREATE FUNCTION set_cap(relation_id bigint, epsilon float8) RETURNS void LANGUAGE sql AS
	$$ SELECT privpred.protect(r.relation, epsilon_cap => coalesce($2, 'Infinity'))
	FROM privpred.protected_relation r WHERE r.relation_id = $1 $$;
CREATE TABLE patients (id int PRIMARY KEY, x float8, y text);
CREATE TABLE visits (LIKE patients INCLUDING ALL);
SELECT privpred.protect('patients');
SELECT privpred.protect('visits');
SET client_min_messages = warning;
SELECT privpred.create_model('m', 'patients', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, epsilon => 0.1);
SELECT privpred.create_model('v', 'visits', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, epsilon => 0.1);
CREATE SEQUENCE calls;
GRANT USAGE ON SEQUENCE calls TO PUBLIC;
DO $$ BEGIN
	CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carol LOGIN;
EXCEPTION WHEN duplicate_object THEN NULL; END $$;
SELECT privpred.grant_budget('alice', 'patients', epsilon => 100);
});
}

sub ledger_node
{
	my ($name, $conf, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(%init);
	$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\n" . ($conf // ''));
	$node->start;
	ledger_setup($node, 'postgres');
	return $node;
}

# Runs SQL as a role; returns (exit code, stdout, stderr) with SQLSTATEs.
sub as
{
	my ($node, $role, $sql, %opt) = @_;
	my ($out, $err);
	my $rc = $node->psql($opt{db} // 'postgres', $sql, stdout => \$out, stderr => \$err,
		on_error_stop => $opt{go_on} ? 0 : 1,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	return ($rc, $out, $err);
}

sub sqlstate_of
{
	my ($err) = @_;
	return $err =~ /(?:ERROR|FATAL):\s+([0-9A-Z]{5}):/ ? $1 : '';
}

my $settled = 'NOT EXISTS (SELECT FROM privpred.leases WHERE NOT orphaned)';

# Answers spent by a role on a relation, after unused ones came back.
sub spent
{
	my ($node, $role, %opt) = @_;
	my $relation = $opt{relation} // 'patients';
	my $db = $opt{db} // 'postgres';
	my $query = "SELECT coalesce(round(sum(epsilon_spent) * 10), 0) FROM privpred.budgets "
	  . "WHERE relation = '$relation'::regclass AND " . ($role eq '-' ? "role IS NULL" : "role = '$role'::regrole");
	# Mostly one session is enough to wait and to look.
	my ($rc, $out) = $node->psql($db, "DO \$\$ BEGIN FOR i IN 1 .. 100 LOOP EXIT WHEN $settled; PERFORM pg_sleep(0.02); END LOOP; END \$\$; SELECT $settled; $query");
	return $1 if $rc == 0 && $out =~ /^t\n(.*)$/;
	settled($node, $db);
	return $node->safe_psql($db, $query);
}

sub settled
{
	my ($node, $db) = @_;
	$node->poll_query_until($db // 'postgres', "SELECT $settled")
	  or die 'leases stay open';
}

# The statement ends as it may; exactly so many answers are charged.
sub charges
{
	my ($node, $role, $expected, $sql, $name, %opt) = @_;
	my $before = spent($node, $opt{payer} // $role, %opt);
	my ($rc, $out, $err) = as($node, $role, $sql, go_on => 1, %opt);
	my $state = sqlstate_of($err);
	is($state, $opt{state} // '', "$name: state") or diag $err;
	$expected = $expected->() if ref $expected;
	is(spent($node, $opt{payer} // $role, %opt) - $before, $expected, "$name: charge");
	return ($out, $err);
}

# ---------- servers that go and come ----------

# What a statement prints, or undef if there is no server that answers it.  The
# statement is an argument: psql that finds no server does not read its input, and
# to write into that would end the test.
sub attempt
{
	my ($node, $sql) = @_;
	my ($out, $err) = ('', '');
	my $done = IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $sql ], '<', '/dev/null', '>', \$out, '2>', \$err);
	chomp $out;
	return $done ? $out : undef;
}

# Identifies a start of the server; empty while there is none.
sub incarnation { return attempt($_[0], 'SELECT privpred.ledger_incarnation()') // '' }

# Waits until there is another incarnation than this one.  (The server may still
# answer before it notices that a process was killed.)
sub back_since
{
	my ($node, $crashed) = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
	while (time < $deadline)
	{
		my $now = incarnation($node);
		return 1 if $now ne '' && $now ne $crashed;
		usleep(100_000);
	}
	return 0;
}

# State and parent of a process, if there is one.
sub _process
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/stat") or return ('', 0);
	my ($state, $parent) = (<$file> // '') =~ /^.*\) (\S) (\d+)/ or return ('', 0);
	return ($state, $parent);
}

# Stops a process of the server; true if it stands still.  What does cannot end
# before it is killed, and its number is nobody else's.
sub stop_process
{
	my ($node, $pid) = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	return 0 unless kill('STOP', $pid);
	my ($state, $parent) = _process($pid);
	($state, $parent) = _process($pid) while $state =~ /[RSD]/ && time < $deadline;
	return 1 if $state eq 'T' && $parent == $postmaster;
	kill('CONT', $pid) if $state eq 'T';
	return 0;
}

# kill -9 of a process of the server that the condition chooses in pg_stat_activity.
sub kill_process
{
	my ($node, $condition) = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
	while (time < $deadline)
	{
		my $pid = attempt($node, "SELECT pid FROM pg_stat_activity WHERE $condition LIMIT 1");
		return kill('KILL', $pid) if $pid && stop_process($node, $pid);
		usleep(20_000);
	}
	return 0;
}

# Refused with this SQLSTATE, nothing charged, and not after waiting for ever.
sub refused
{
	my ($node, $role, $state, $sql, $name, %opt) = @_;
	my $started = time;
	my ($out, $err) = charges($node, $role, 0, $sql, $name, state => $state, %opt);
	cmp_ok(time - $started, '<', $opt{within} // $PostgreSQL::Test::Utils::timeout_default, "$name: in time");
	return $err;
}

1;
