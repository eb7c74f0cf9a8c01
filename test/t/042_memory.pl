# Memory that runs out inside a library that a learner calls: an error, never
# the end of the server.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('memory');
$node->init;
$node->append_conf('postgresql.conf', qq{
maintenance_work_mem = '2GB'
work_mem = '1GB'
max_parallel_workers_per_gather = 0
jit = off
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION privpred;
CREATE TABLE rows AS
  SELECT i AS id, ARRAY[mod(i * 7919::bigint, 1009) / 1009.0, mod(i * 104729::bigint, 2003) / 2003.0]::float8[] AS x,
    mod(i * 15485863::bigint, 97)::int % 3 AS y
  FROM generate_series(1, 60000) i;
VACUUM ANALYZE rows;
});

# A session that was there before, and a note of when the server started.
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $pid = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/ ? $1 : die 'no postmaster.pid';

# The SQLSTATE of a training in a new session that may grow by so many bytes once everything is loaded.
sub train_within
{
	my ($call, $margin) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', qq{
\\set VERBOSITY sqlstate
SELECT $call IS NOT NULL FROM rows WHERE id <= 100;
SELECT pg_backend_pid() AS pid \\gset
\\setenv BACKEND :pid
\\! prlimit --pid \$BACKEND --as=\$((\$(sed -n 's/^VmSize:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/\$BACKEND/status) * 1024 + $margin)): || echo no limit
SELECT $call IS NOT NULL FROM rows;
\\echo state :SQLSTATE
}, stdout => \$out, stderr => \$err, on_error_stop => 0);
	return $out =~ /state (\w+)/ && $out !~ /no limit/ ? $1 : "lost: $out $err";
}

# From too little for anything to enough, in steps that are smaller than what the library asks for.
sub sweep
{
	my ($name, $call, $step) = @_;
	my %seen;

	foreach my $steps (1 .. 200)
	{
		my $state = train_within($call, $steps * $step);

		$seen{$state}++;
		last if $state !~ /^(00000|53200)$/ || $seen{'00000'};
	}
	is(join(' ', sort keys %seen), '00000 53200', "$name: out of memory until there is enough");
	cmp_ok($seen{'53200'} // 0, '>', 3, "$name: at several sizes");
	is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, "$name: the server goes on");
	return;
}

sweep('logistic', 'privpred.logistic(y, x)', 1_000_000);
sweep('svm', 'privpred.svm(y = 1, x)', 1_000_000);
SKIP:
{
	skip 'XGBOOST=no', 6 if ($ENV{XGBOOST} // '') eq 'no';
	sweep('boost', q{privpred.boost(y, x, '{"rounds": 2, "depth": 3}')}, 2_000_000);
	sweep('forest', q{privpred.forest(y, x, '{"trees": 2, "depth": 3}')}, 2_000_000);
}
unlike(slurp_file($node->logfile), qr/was terminated by signal|terminating any other active/, 'nobody died');
ok(kill(0, $pid), 'least of all the postmaster');

$node->stop;
done_testing();
