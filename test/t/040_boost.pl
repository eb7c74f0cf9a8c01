# XGBoost inside a server: loaded late, in one thread, silent, cancelled without
# a trace.  Where it is to be left out, say XGBOOST=no: nothing here is skipped.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use WatchedSession;

my $node = PostgreSQL::Test::Cluster->new('boost');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'privpred'
maintenance_work_mem = '1GB'
});
$node->start;

# Each label depends on all columns, so that trees grow to their full depth.
$node->safe_psql('postgres', q{
CREATE EXTENSION privpred;
CREATE TABLE rows AS
  SELECT i AS id, mod(i * 7919::bigint, 1009) / 1009.0 AS a, mod(i * 104729::bigint, 2003) / 2003.0 AS b,
		 mod(i * 1299709::bigint, 4001) / 4001.0 AS c, mod(i * 15485863::bigint, 97)::int % 10 AS y
	FROM generate_series(1, 8000) i;
ALTER TABLE rows ADD PRIMARY KEY (id);
SELECT privpred.protect('rows');
});

# model NAME LEARNER OPTIONS: the statement
sub model
{
	my ($name, $learner, $options) = @_;
	return qq{SELECT privpred.create_model('$name', 'rows', label => 'y', classes => '{0,1,2,3,4,5,6,7,8,9}',
		features => '["a", "b", "c"]', learner => '$learner', teachers => 1, options => '$options') ->> 'version';};
}

my ($rc, $out, $err) = $node->psql('postgres', model('small', 'boost', '{"rounds": 2}'));
is($out, '1', 'a model is trained') or diag $err;

# ---------- what is loaded where ----------

my $maps = q{SELECT pg_read_file('/proc/self/maps', 0, 1000000) ~ 'xgboost|privpred_boost'};
my $postmaster = slurp_file('/proc/' . ($node->safe_psql('postgres', 'SELECT pg_read_file(\'postmaster.pid\')') =~ /^(\d+)/)[0] . '/maps');
like($postmaster, qr/privpred\.so/, 'the postmaster has privpred');
unlike($postmaster, qr/xgboost|privpred_boost/, 'and not XGBoost');
is($node->safe_psql('postgres', qq{
	SELECT privpred.grant_budget(current_user::regrole, 'rows', 1000) IS NULL;
	SELECT private_predict('small', '{0.1,0.2,0.3}'::float8[]) IS NOT NULL;
	SELECT privpred.tree(y, ARRAY[a, b, c]::float8[]) IS NOT NULL FROM rows WHERE id < 100;
	$maps;}), "f\nt\nt\nf", 'answers and the native tree do without it');
is($node->safe_psql('postgres', "SELECT privpred.forest(y, ARRAY[a, b, c]::float8[]) IS NOT NULL FROM rows WHERE id < 100; $maps;"),
	"t\nt", 'training loads it');

# ---------- cancel: from another session, at any time ----------

my $endless = model('endless', 'boost', '{"rounds": 1000, "depth": 8}');
my $trainer = $node->background_psql('postgres', on_error_stop => 0, on_error_die => 0);
my $pid = $trainer->query('SELECT pg_backend_pid()');
$trainer->{stdin} .= "$endless\n";
$trainer->{run}->pump_nb;
my $maps_file = "/proc/$pid/maps";
for (1 .. 1800)
{
	last if slurp_file($maps_file) =~ /libxgboost/;
	usleep(100_000);
}
like(slurp_file($maps_file), qr/libxgboost/, 'a long training has begun');
sleep 1;
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)"), 't', 'it is cancelled');
is($trainer->query('SELECT 40 + 2'), '42', 'the session lives on');
like($trainer->{stderr}, qr/canceling statement due to user request/, 'and was told why');
$trainer->quit;

# ---------- cancel again and again: nothing is left behind ----------

# One training holds half a megabyte for its rows, and several for its trees, outside of PostgreSQL's memory
# contexts.  It is cancelled when it has had more time on a processor than a small one took from beginning to
# end: it is in XGBoost, however busy the machine is.
sub processor { return (split ' ', slurp_file("/proc/$_[0]/schedstat"))[0] / 1e9 }
sub resident { return slurp_file("/proc/$_[0]/status") =~ /^VmRSS:\s+(\d+)/m ? $1 : die 'no memory' }

# train SESSION STATEMENT [SECONDS]: its SQLSTATE, and its time on a processor; cancelled after SECONDS of that.
sub train
{
	my ($session, $statement, $seconds) = @_;
	my $before = processor($session->pid);
	$session->begin($statement);
	until ($session->over(0.002))
	{
		next unless defined $seconds && processor($session->pid) - $before >= $seconds;
		kill INT => $session->pid;
		last;
	}
	return ($session->state, processor($session->pid) - $before);
}

for my $learner ('boost', 'forest')
{
	my $rounds = $learner eq 'boost' ? 'rounds' : 'trees';
	my $forever = model('endless', $learner, qq({"$rounds": 1000, "depth": 8}));
	my $session = WatchedSession->new($node->connstr('postgres'), '');
	# The first loads the library; the second takes the time of a training.
	my (undef, undef, undef, $small) = map { train($session, model("small_${learner}_$_", $learner, qq({"$rounds": 2}))) } 1, 2;
	my @states = map { (train($session, $forever, $small + 0.05))[0] } 1, 2;
	my $first = resident($session->pid);
	push @states, map { (train($session, $forever, $small + 0.05))[0] } 1 .. 10;
	my $last = resident($session->pid);
	is("@states", join(' ', ('57014') x 12), "$learner: each training was cancelled");
	cmp_ok($last - $first, '<', 3_000, "$learner: memory did not grow with them ($first kB, then $last kB)");
	is(scalar(() = glob '/proc/' . $session->pid . '/task/*'), 1, "$learner: no thread is left");
	is((train($session, model("after_$learner", $learner, qq({"$rounds": 2}))))[0], '00000', "$learner: and the session trains on");
	$session->quit;
}

# ---------- symbols ----------

# As from PostgreSQL 16 on, modules see nothing of one another but what is handed over.
my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
sub symbols
{
	my ($which, $module) = @_;
	my ($out, $err) = run_command([ 'nm', '-D', '-P', $which, "$libraries/$module.so" ]);
	die $err if $out eq '';
	return map { /^([^@\s]+)/ ? $1 : () } split /\n/, $out;
}
my %exported = map { $_ => 1 } symbols('--defined-only', 'privpred');
is(join(' ', grep { $exported{$_} } symbols('--undefined-only', 'privpred_boost')), '', 'the module needs nothing of privpred');
my %functions = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', q{SELECT DISTINCT prosrc FROM pg_proc WHERE probin LIKE '%privpred'});
is(join(' ', sort grep { !/^pg_finfo_/ && !$functions{$_} } keys %exported), 'Pg_magic_func _PG_init privpred_ledger_main', 'privpred shows what SQL and the server call, and nothing else');
is(join(' ', grep { !$exported{$_} } sort keys %functions), '', 'and all of it');

unlike(slurp_file($node->logfile), qr/\[\d\d:\d\d:\d\d\] (WARNING|INFO|DEBUG)/, 'the library writes nothing to the log');

# ---------- a library that cannot be loaded ----------

# Found before the real one, and none.
my ($needed) = run_command([ 'ldd', "$libraries/privpred_boost.so" ]);
my ($library) = $needed =~ /(libxgboost\S*)/;
my $broken = PostgreSQL::Test::Utils::tempdir();
append_to_file("$broken/$library", "no library\n" x 100);
{
	local $ENV{LD_LIBRARY_PATH} = $broken;
	$node->restart;
}
$node->safe_psql('postgres', 'CREATE TABLE nobody (id int PRIMARY KEY, x float8, y boolean); SELECT privpred.protect(\'nobody\')');
for my $call (q{SELECT privpred.boost(y::text, ARRAY[a]) FROM rows}, q{SELECT privpred.forest(y::text, ARRAY[a]) FROM rows},
	# not a matter of rows: without any, too
	q{SELECT privpred.create_model('m', 'nobody', label => 'y', features => '["x"]', learner => 'boost')},
	q{SELECT privpred.create_model('m', 'nobody', label => 'y', features => '["x"]', learner => 'forest')})
{
	($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$call");
	like($err, qr/ERROR:  0A000: learners "boost" and "forest" need XGBoost.*HINT:  Install XGBoost/s, "without the library: $call");
}
is($node->safe_psql('postgres', q{SELECT privpred.tree(y::text, ARRAY[a]::float8[]) IS NOT NULL FROM rows WHERE id < 100}), 't', 'everything else works');
$node->stop;
done_testing();
