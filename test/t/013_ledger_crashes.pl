# kill -9 of a backend, of the ledger's process and of the postmaster, under load,
# ten times over: every answer that a client received is covered by what is spent.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;
use Time::HiRes qw(time usleep);

my $timeout = $PostgreSQL::Test::Utils::timeout_default;
my $clients = 8;
my $rows = 200;		# of a statement with a lease; bounds what one crash can cost a client
my $node = ledger_node('crashes', "restart_after_crash = on\n");
$node->safe_psql('postgres', q{SELECT privpred.grant_budget('alice', 'patients', 1000000)});
our $dir = $node->basedir;

# Half of the clients stream rows under a lease, half ask one by one.
append_to_file("$dir/stream.sql", "COPY (SELECT probe('m') FROM generate_series(1, $rows)) TO STDOUT;\n" x 20);
append_to_file("$dir/single.sql", "SELECT probe('m');\n" x 200);

sub client
{
	my ($i) = @_;
	my $script = $i % 2 ? 'stream' : 'single';
	my $pid = fork() // die "fork: $!";
	return $pid if $pid;
	$ENV{PGOPTIONS} = '-c synchronous_commit=off';
	until (-e "$dir/stop")
	{
		system("psql -XAtq -U alice -h '" . $node->host . "' -p " . $node->port
			  . " -d postgres -f $dir/$script.sql >> $dir/answers.$i 2>> $dir/errors.$i");
		usleep(50_000);
	}
	POSIX::_exit(0);
}

sub received
{
	my $n = 0;
	for my $i (1 .. $clients)
	{
		$n += () = slurp_file("$dir/answers.$i") =~ /^t$/mg if -e "$dir/answers.$i";
	}
	return $n;
}

# A session with a lease out, so that a crash leaves one behind for certain.
sub holder
{
	my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'alice' ]);
	$session->query(q{BEGIN});
	$session->query(q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 1000)});
	$session->query(q{MOVE 20 FROM c});
	return $session;
}

# Until the last orphaned backend has gone, the server refuses to start.
sub start_again
{
	my $deadline = time + $timeout;
	while (time < $deadline)
	{
		if (system_log('pg_ctl', '-s', '-w', '-D', $node->data_dir, '-l', $node->logfile, 'start') == 0)
		{
			$node->_update_pid(1);
			return 1;
		}
		usleep(100_000);
	}
	return 0;
}

my %victim = (
	'the ledger' => q{backend_type = 'privpred ledger'},
	'a backend' => q{usename = 'alice' AND state = 'active'});
my @rounds = ('a backend', 'the ledger', 'the postmaster') x 3;
push @rounds, 'the ledger';

our $parent = $$;
my @children = map { client($_) } 1 .. $clients;
END { append_to_file("$dir/stop", '') if $dir && $$ == $parent }
for my $round (0 .. $#rounds)
{
	my $whom = $rounds[$round];
	my $before = received();
	my $crashed = incarnation($node);
	my $holder = holder();
	my $deadline = time + $timeout;
	usleep(50_000) while received() < $before + 300 && time < $deadline;
	cmp_ok(received(), '>=', $before + 300, "round $round: answers flow");
	if ($whom eq 'the postmaster')
	{
		$node->kill9;
		ok(start_again(), "round $round: started after kill -9 of the postmaster");
	}
	else
	{
		ok(kill_process($node, $victim{$whom}), "round $round: kill -9 of $whom");
	}
	ok(back_since($node, $crashed), "round $round: server is back");
	eval { $holder->quit };
	# Received first, spent second: only more can be spent meanwhile.
	my $received = received();
	my $spent = attempt($node, q{SELECT round(sum(epsilon_spent) * 10) FROM privpred.budgets}) // 0;
	cmp_ok($spent, '>=', $received, "round $round: all $received received answers are paid for");
}
append_to_file("$dir/stop", '');
waitpid($_, 0) for @children;

my $spent = spent($node, 'alice');
my $received = received();
my $orphaned = $node->safe_psql('postgres', q{SELECT coalesce(sum(answers), 0) FROM privpred.leases WHERE orphaned});
note "received $received, spent $spent, orphaned $orphaned";
cmp_ok($spent, '>=', $received, 'at the end: every answer is paid for');
# A crash costs a client at most its block and what the socket held: a statement.
cmp_ok($spent - $received, '<=', @rounds * ($clients + 1) * $rows, 'over-charge is bounded');
cmp_ok($orphaned, '>', 0, 'orphaned leases are shown');
is($node->safe_psql('postgres', q{SELECT round(epsilon_orphaned * 10) FROM privpred.budgets}), $orphaned,
	'in budgets, too');
is($node->safe_psql('postgres', q{SELECT sum(answers) FROM privpred.ledger WHERE kind = 'orphan'}), $orphaned,
	'and in the ledger');
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|',
	'the chain survived');
my %state;
for my $i (1 .. $clients)
{
	$state{$1}++ while slurp_file("$dir/errors.$i") =~ /ERROR:  (.*)/g;
}
is_deeply([ grep { !/ledger became unavailable|ledger did not reply/ } keys %state ], [],
	'no error but those of a lost ledger');

# An owner may forgive a lease; that is his act and it is written down.
my $lease = $node->safe_psql('postgres', q{SELECT lease FROM privpred.leases ORDER BY lease LIMIT 1});
my ($rc, $out, $err) = as($node, 'alice', "SELECT privpred.forgive_lease($lease)");
is(sqlstate_of($err), '42501', 'only the owner forgives');
my $answers = $node->safe_psql('postgres', "SELECT answers FROM privpred.leases WHERE lease = $lease");
$node->safe_psql('postgres', "SELECT privpred.forgive_lease($lease)");
is(spent($node, 'alice'), $spent - $answers, 'forgiven');
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'and in the chain');

# A crash right after an answer, with synchronous_commit off.
charges($node, 'alice', 3, q{SET synchronous_commit = off; SELECT probe('m') FROM generate_series(1, 3)}, 'answers');
my $paid = spent($node, 'alice');
$node->safe_psql('postgres', q{SET synchronous_commit = off; SELECT probe('m')}, extra_params => [ '-U', 'alice' ]);
$node->stop('immediate');
$node->start;
is(spent($node, 'alice'), $paid + 1, 'flushed before the answer');

# Fast shutdown with a lease out: what is unused comes back.
my $cursor = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'alice' ]);
$cursor->query(q{BEGIN});
$cursor->query(q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 1000)});
$cursor->query(q{MOVE 100 FROM c});
$node->restart;
is(spent($node, 'alice'), $paid + 101, 'fast shutdown returns the unused part of a lease');
eval { $cursor->quit };
$node->stop;
done_testing();
