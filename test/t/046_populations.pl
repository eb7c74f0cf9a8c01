# Two tables about the same people: however many sessions ask either, the budget is spent once.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use IPC::Run ();
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('populations', qq{
max_connections = 150
client_min_messages = error
privpred.repeat_memory = 0
restart_after_crash = on
});
my ($rc, $out, $err);

sub sql { return $node->safe_psql('postgres', $_[0]) }

# How many answers of 64 sessions were given; they ask both tables in turn.
sub race
{
	my ($role, %opt) = @_;
	my @scripts = map { my $s = $node->basedir . "/ask_$_.sql"; append_to_file($s, "SELECT probe('$_');\n") unless -e $s; $s } qw(m v);
	my ($out, $err) = ('', '');
	$node->run_log([ 'pgbench', '-n', '-U', $role, '-h', $node->host, '-p', $node->port,
			'-c', '64', '-j', '2', '-t', $opt{each} // 1, (map { ('-f', $_) } @scripts), 'postgres' ], '>', \$out, '2>', \$err);
	my ($given) = $out =~ /actually processed: (\d+)\//;
	return ($given // 0, $err);
}

# ---------- one budget ----------

sql(q{SELECT privpred.protect('visits', same_units_as => 'patients'); SELECT privpred.grant_budget('bob', 'visits', 1)});
my ($given, $errors) = race('bob');
is($given, 10, '64 sessions on two tables, 10 answers: 10 are given');
is(() = $errors =~ /privacy budget of role "bob" is exhausted/g, 54, '54 are refused');
is(spent($node, 'bob'), 10, '10 are charged');
is(sql(q{SELECT count(DISTINCT relation_name) BETWEEN 1 AND 2, sum(answers) FROM privpred.ledger WHERE asked_by = 'bob' AND answers <> 0}), 't|10', 'and ten are in the ledger');
sql(q{SELECT privpred.grant_budget('bob', 'patients', 31)});
($given, $errors) = race('bob', each => 5);
is($given, 300, '300 more, of 320 that are asked for');
is(spent($node, 'bob'), 310, 'they are charged');
sql(q{SELECT privpred.protect('visits', epsilon_cap => 131.5)});	# what all roles have spent is 31
sql(q{SELECT privpred.grant_budget('bob', 'patients', 100)});
sql(q{SELECT privpred.grant_budget('carol', 'visits', 32)});
sql(q{SELECT privpred.protect('patients', epsilon_cap => 32.5)});
($given, $errors) = race('carol');
is($given, 15, 'the cap of one table is the cap of the other');
is(spent($node, '-'), 325, 'and counts what was asked of both');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger verifies');
sql(q{SELECT privpred.protect('patients', epsilon_cap => 'Infinity')});

# ---------- kill -9 ----------

# What was answered was charged before: charges never fall behind answers, whatever is killed.
sql(q{
CREATE ROLE dave LOGIN;
SELECT privpred.grant_budget('dave', 'patients', 20);
});
my $crashed = incarnation($node);
my %many = map { $_ => $node->basedir . "/many_$_.sql" } qw(m v);
append_to_file($many{$_}, "SELECT probe('$_');\n" x 40) foreach qw(m v);
my @procs = map {
	my ($said, $complained) = ('', '');
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-U', 'dave', '-d', $node->connstr('postgres'), '-f', $many{ $_ % 2 ? 'm' : 'v' } ],
		'<', '/dev/null', '>', \$said, '2>', \$complained);
	{ run => $run, said => \$said };
} 1 .. 16;
$node->poll_query_until('postgres', q{SELECT coalesce(sum(epsilon_spent), 0) >= 2 FROM privpred.budgets WHERE role = 'dave'::regrole}) or die 'nobody asks';
ok(kill_process($node, q{backend_type = 'privpred ledger'}), 'kill -9 of the ledger');
foreach my $proc (@procs) { eval { IPC::Run::finish($proc->{run}) } }
ok(back_since($node, $crashed), 'the server is back');
my $told = 0;
$told += () = (${ $_->{said} } // '') =~ /^[tf]$/mg foreach @procs;
my $charged = spent($node, 'dave');
cmp_ok($charged, '>=', $told, "charged $charged for $told answers that were told, of either table");
cmp_ok($charged, '<=', 200, 'and never more than the budget');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger verifies after it');
($given, $errors) = race('dave', each => 4);
is($given, 200 - $charged, 'what is left is given, and nothing else');

# ---------- joined while they are asked ----------

sql(q{
CREATE ROLE erin LOGIN;
CREATE TABLE letters (LIKE patients INCLUDING ALL);
SELECT privpred.protect('letters');
SELECT privpred.create_model('l', 'letters', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, epsilon => 0.1);
SELECT privpred.grant_budget('erin', 'letters', 3), privpred.grant_budget('erin', 'patients', 5);
});
my $letters = $node->basedir . '/ask_l.sql';
append_to_file($letters, "SELECT probe('l');\n");
my ($bench_out, $bench_err) = ('', '');
my $bench = IPC::Run::start([ 'pgbench', '-n', '-U', 'erin', '-h', $node->host, '-p', $node->port, '-c', '16', '-j', '2', '-t', '10',
		'-f', $letters, '-f', $node->basedir . '/ask_m.sql', 'postgres' ], '<', '/dev/null', '>', \$bench_out, '2>', \$bench_err);
$node->poll_query_until('postgres', q{SELECT sum(epsilon_spent) >= 1 FROM privpred.budgets WHERE role = 'erin'::regrole}) or die 'erin does not ask';
# A statement that has answers reserved at that moment refuses it.
my $joined = 0;
for (1 .. 50)
{
	($rc, $out, $err) = as($node, $node->safe_psql('postgres', 'SELECT current_user'), q{SELECT privpred.protect('letters', same_units_as => 'patients')});
	$joined = $rc == 0 and last;
	last unless sqlstate_of($err) eq '55006';
}
ok($joined, 'letters are joined with patients') or diag $err;
eval { IPC::Run::finish($bench) };
my ($processed) = $bench_out =~ /actually processed: (\d+)\//;
is(spent($node, 'erin'), $processed, "both tables' answers are charged to one account: $processed of them");
cmp_ok($processed, '<=', 80, 'no more than both budgets together');
is(sql(q{SELECT population FROM privpred.budgets WHERE role = 'erin'::regrole}), '{patients,visits,letters}', 'erin has one budget');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger verifies a join');

# ---------- dropped while they are asked ----------

sql(q{SELECT privpred.grant_budget('erin', 'visits', 100)});
my $before = spent($node, 'erin');
sql(q{DROP TABLE patients});
charges($node, 'erin', 1, q{SELECT probe('v')}, 'the first table is dropped', relation => 'visits');
is(spent($node, 'erin', relation => 'visits'), $before + 1, 'the account goes on');
$node->restart;
charges($node, 'erin', 1, q{SELECT probe('l')}, 'after a restart', relation => 'visits');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger verifies at the end');
$node->stop;
done_testing();
