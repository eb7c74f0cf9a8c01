# Crashes under load, of every kind: what a client received is paid for, and little else.
# "make crash" does this at length, with faults at named points (docs/crashes.md).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use CrashTest;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# ---------- round after round ----------

# Who asks: always some whose answers are few, so that no block hides one that is not paid for.
my @some = ([qw(single cursor unstable elsewhere)], [qw(single rollback big memo)], [qw(single stable release elsewhere_big)]);
my @rounds = (
	[ 'kill everything' ], [ 'kill the ledger' ], [ 'stop the ledger, kill everything' ], [ 'kill a backend' ],
	[ 'kill the postmaster' ], [ 'end the ledger' ], [ 'immediate shutdown' ], [ 'stop the ledger' ], [ 'no room for WAL' ],
	[ 'end sessions' ], [ 'kill, then fast shutdown' ], [ 'no room for data' ], [ 'stop the ledger, kill everything' ],
	[ 'stop a backend' ], [ 'kill the ledger' ], [ 'fast shutdown' ], [ 'kill everything' ],
	[ 'synchronous standby' ], [ 'asynchronous standby' ], [ 'kill everything' ]);

my $crash = crash_new('crashes', seed => 13);
my ($received, $paid, $round) = (0, 0, 0);
for (@rounds)
{
	my ($kind) = @$_;
	my $result = crash_round($crash, $kind, clients => $some[ $round++ % 3 ], more => 60);
	is(join("\n", @{ $result->{problems} }), '', "round $round, $kind");
	$received += $result->{got};
	$paid += $result->{paid};
}
note "received $received, paid $paid";
my %done = map { $_->[0] => 1 } @rounds;
is(join('; ', grep { !$done{$_} && $_ ne 'fault' } crash_kinds()), '', 'no kind is left out');

# ---------- blocks that were out ----------

# A session with a lease out, so that a crash leaves one behind for certain.
my $node = $crash->{node};
my $holder = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'alice' ]);
$holder->query(q{BEGIN});
$holder->query(q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 1000)});
$holder->query(q{MOVE 20 FROM c});
my $before = incarnation($node);
ok(kill_process($node, q{backend_type = 'privpred ledger' AND datname = 'postgres'}), 'kill -9 with a lease out');
ok(back_since($node, $before), 'the server is back');
eval { $holder->quit };
# The ledger's process notes them when it starts.
$node->safe_psql('postgres', 'SELECT privpred.verify_ledger()');
my $spent = spent($node, 'alice');
my $of_alice = q{FROM privpred.leases WHERE orphaned AND role = 'alice'::regrole};
my $orphaned = $node->safe_psql('postgres', "SELECT coalesce(sum(answers), 0) $of_alice");
cmp_ok($orphaned, '>', 0, 'orphaned leases are shown');
cmp_ok($orphaned, '<=', 20, 'and are no more than was used');
is($node->safe_psql('postgres', q{SELECT round(epsilon_orphaned * 10) FROM privpred.budgets WHERE role = 'alice'::regrole}), $orphaned, 'in budgets, too');
is($node->safe_psql('postgres', q{SELECT sum(answers) FROM privpred.ledger_entry e JOIN privpred.account a USING (account_id) WHERE kind = 'orphan' AND a.role = 'alice'::regrole}), $orphaned,
	'and in the ledger');

# An owner may forgive a lease; that is his act and it is written down.
my $lease = $node->safe_psql('postgres', "SELECT lease $of_alice ORDER BY lease LIMIT 1");
my ($rc, $out, $err) = as($node, 'alice', "SELECT privpred.forgive_lease($lease)");
is(sqlstate_of($err), '42501', 'only the owner forgives');
my $answers = $node->safe_psql('postgres', "SELECT answers FROM privpred.leases WHERE lease = $lease");
$node->safe_psql('postgres', "SELECT privpred.forgive_lease($lease)");
is(spent($node, 'alice'), $spent - $answers, 'forgiven');
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'and in the chain');

# A crash right after an answer, with synchronous_commit off.
charges($node, 'alice', 3, q{SET synchronous_commit = off; SELECT probe('m') FROM generate_series(1, 3)}, 'answers');
$paid = spent($node, 'alice');
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
crash_finish($crash);
done_testing();
