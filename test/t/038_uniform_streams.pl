# What other roles can see of a stream: statistics of our tables, and what is left
# under a cap.  A uniform stream shows the same for answers that are all stable and
# for answers that are all unstable; another one does not, which is the control.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The ledger's process ends soon, and with it come its statistics.
my $node = ledger_node('uniform', "autovacuum = off\nprivpred.ledger_idle_timeout = 100\n");

# At epsilon 1 and delta 1e-12 a threshold is about 108 wide: three teachers, at
# distance 1, pass with probability below 1e-11, and two thousand that agree, at distance
# 999, fail with probability below 1e-90.
my $models = join("\n", map {
	my ($kind, $options) = @$_;
	map { sprintf(q{SELECT privpred.create_model('%s_%s', 'patients', label => 'y', classes => '{t,f}', features => '["x"]',
		teachers => %d, mechanism => '%s', epsilon => 0.1, options => '%s');}, $kind, $_ == 3 ? 'few' : 'all', $_,
		$kind eq 'soft' ? 'soft' : 'sparse', $options) } (3, 2000)
} ([ 'null', '{}' ], [ 'vote', '{"on_unstable": "vote"}' ], [ 'soft', '{}' ]));
$node->safe_psql('postgres', qq{SET client_min_messages = error;
$models
SELECT privpred.grant_budget('alice', 'patients', epsilon => 1e5, delta => 1e-3, per_answer => 0.1);
SELECT privpred.grant_budget('carol', 'patients', epsilon => 1e5, delta => 1e-3, per_answer => 0.1);
SELECT privpred.protect('patients', epsilon_cap => 1e6, delta_cap => 1e-3);
});

sub as_carol { return (as($node, 'carol', $_[0]))[1] }

# Before 15 a process collects statistics, in the order in which it is told of them: once a row that is
# written now is counted, so is all that came before.
my $fences = 0;
$node->safe_psql('postgres', 'CREATE TABLE fence ()');
sub wait_for_statistics
{
	$fences++;
	$node->safe_psql('postgres', 'INSERT INTO fence DEFAULT VALUES');
	$node->poll_query_until('postgres', "SELECT n_tup_ins = $fences FROM pg_stat_user_tables WHERE relname = 'fence'")
	  or die 'statistics stay behind';
	return;
}

# What another role sees, once the ledger's process has gone.
sub seen
{
	settled($node);
	$node->poll_query_until('postgres',
		q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'privpred ledger')})
	  or die 'the ledger stays';
	wait_for_statistics();
	my %seen = map { my ($table, @counts) = split /\|/; ($table => \@counts) } split /\n/,
	  as_carol(q{SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_all_tables WHERE schemaname = 'privpred' ORDER BY 1});
	return \%seen;
}

# What the cap was charged, which others read off privpred.cost().
sub cap { return $node->safe_psql('postgres', q{SELECT spent_units FROM privpred.account WHERE role = 0}) }

# Runs a statement on a stream and returns what others saw of it, and how many answers were stable.
sub watch
{
	my ($model, $uniform, $call) = @_;
	as($node, 'alice', "SELECT privpred.open_stream('$model', 100, 1, 1e-12, uniform => $uniform)");
	as_carol(q{SELECT privpred.cost('m', 1)});
	my $before = seen();
	my $cap = cap();
	my (undef, $out, $err) = as($node, 'alice', "SELECT count($call) FROM generate_series(1, 20) i");
	is(sqlstate_of($err), '', "$model: no error") or diag $err;
	my $after = seen();
	my $shown = join(', ', map {
		my $table = $_;
		my @change = map { $after->{$table}[$_] - ($before->{$table}[$_] // 0) } 0 .. $#{ $after->{$table} };
		(grep { $_ != 0 } @change) ? "$table @change" : ()
	} sort keys %$after);
	my $charged = cap() - $cap;
	as($node, 'alice', "SELECT privpred.close_stream('$model')");
	return ($shown, $charged, $out);
}

for my $kind (qw(null vote soft))
{
	for my $uniform (qw(true false))
	{
		my ($shown, $charged, $answers);
		my $call = $kind eq 'soft' ? q{private_score('MODEL', ARRAY[i / 20.0])} : q{probe('MODEL', ARRAY[i / 20.0])};
		my %got = map {
			my $model = "${kind}_$_";
			$_ => [ watch($model, $uniform, $call =~ s/MODEL/$model/r) ]
		} qw(few all);
		is("$got{all}[2] $got{few}[2]", $kind eq 'vote' ? '20 20' : '20 0', "$kind: all stable, none stable");
		if ($uniform eq 'true')
		{
			is($got{few}[0], $got{all}[0], "$kind, uniform: others see the same writes");
			is($got{few}[1], $got{all}[1], "$kind, uniform: others see the same left under a cap");
			like($got{all}[0], $kind eq 'soft' ? qr/ledger_entry 4[0-9] / : qr/ledger_entry [2-9][0-9] /,
				"$kind, uniform: an entry for each test");
		}
		else
		{
			isnt($got{few}[0], $got{all}[0], "$kind: others can tell by the writes, else this test is blind");
			isnt($got{few}[1], $got{all}[1], "$kind: and by the cap") if $kind eq 'vote';
		}
	}
}

# The asker still knows, and the ledger adds up.
is($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE unstable_used > 0) FROM privpred.streams WHERE uniform}), '3',
	'unstable answers are counted');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT octet_length(regexp_replace(detail, '^stream \d+', ''))) FROM privpred.ledger WHERE kind = 'tested'}), '1',
	'entries are of one length');
is($node->safe_psql('postgres', q{SELECT ok FROM privpred.verify_ledger()}), 't', 'the ledger adds up');

# A uniform stream ends like another.
as($node, 'alice', q{SELECT privpred.open_stream('null_few', 3, 1, 1e-12, uniform => true)});
my (undef, $out, $err) = as($node, 'alice', q{SELECT probe('null_few') FROM generate_series(1, 10)});
is(sqlstate_of($err), '53400', 'used up');
is($node->safe_psql('postgres', q{SELECT unstable_used, status FROM privpred.streams ORDER BY stream DESC LIMIT 1}), '3|used up',
	'after as many failures as were bought');

$node->stop;
done_testing();
