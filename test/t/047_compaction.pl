# Old entries are folded under load while processes are killed: either all of a run is folded or
# nothing, and no debit is lost.  Then copies, standbys and dumps of what is left.
#
# PRIVPRED_COMPACT_KILLS=50 PRIVPRED_COMPACT_ENTRIES=10000000 is the long form, in which only every tenth
# round verifies all of the ledger, and the others what is new.
use strict;
use warnings;
use Digest::SHA qw(sha256);
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;
use Time::HiRes qw(time usleep);

my $timeout = $PostgreSQL::Test::Utils::timeout_default;
my $kills = $ENV{PRIVPRED_COMPACT_KILLS} // 4;
my $fill = $ENV{PRIVPRED_COMPACT_ENTRIES} // 20_000;
my $clients = 3;
my $node = ledger_node('compaction', "restart_after_crash = on\nprivpred.repeat_memory = 0\nclient_min_messages = warning\n", allows_streaming => 1);
our $dir = $node->basedir;
our $parent = $$;
sub sql { my ($sql, $db) = @_; return $node->safe_psql($db // 'postgres', $sql) }

sql(q{SELECT privpred.protect('patients', epsilon_cap => 1000000); SELECT privpred.grant_budget('alice', 'patients', 1000000);
	SELECT privpred.grant_budget('bob', 'patients', 1000000); SELECT privpred.grant_budget('bob', 'visits', 1000)});
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'a new ledger');

# ---------- a large ledger ----------

# Debits of the last year, chained as the ledger's process would, without waiting for it.
sub ns { return length($_[0]) . ":$_[0]," }
my ($last, $head) = split /\|/, sql(q{SELECT id, encode(head, 'hex') FROM privpred.ledger_entry ORDER BY id DESC LIMIT 1});
$head = pack 'H*', $head;
my @accounts = map { [ split /\|/ ] } split /\n/, sql(q{SELECT account_id, role_name, limit_units FROM privpred.account WHERE role_name <> '' AND relation_id = 1 ORDER BY 1});
my $start = (time - 365 * 86400 - 946684800) * 1_000_000;
my $step = int(364 * 86400 * 1e6 / $fill);
open my $copy, '>', "$dir/entries" or die $!;
foreach my $i (1 .. $fill)
{
	my ($account, $role, $limit) = @{ $accounts[ $i % @accounts ] };
	my ($id, $us) = ($last + $i, int($start) + $i * $step);
	$head = sha256($head . ns($id) . ns($us) . ns('lease') . ns($account) . '-,' . ns($role) . ns(1) . ns('public.patients') . ns(1) . ns('m') . ns(1) . ns($id)
		  . ns(1) . ns(100_000_000_000) . ns(0) . ns($limit) . '-,' . ns(1) . '-,' . ns(0) . '-,' . ns(0) . '-,');
	print $copy join("\t", $id, $us, $account, $role, $limit, '\\\\x' . unpack 'H*', $head), "\n";
}
close $copy;
sql(qq{CREATE UNLOGGED TABLE raw (id bigint, us bigint, account_id bigint, role_name text, limit_units bigint, head bytea)});
$node->command_ok([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "\\copy raw FROM '$dir/entries'" ], "$fill entries");
sql(q{INSERT INTO privpred.ledger_entry SELECT id, timestamptz '2000-01-01 00:00:00+00' + us / 1000000 * interval '1 s' + us % 1000000 * interval '1 us', 'lease', account_id, NULL, role_name, 1,
	'public.patients', 1, 'm', 1, id, 1, 100000000000, 0, limit_units, NULL, 1, NULL, 0, NULL, 0, NULL, head FROM raw ORDER BY id;
	UPDATE privpred.account a SET spent_units = spent_units + s.units FROM (SELECT account_id, count(*) * 100000000000 AS units FROM raw GROUP BY 1) s WHERE s.account_id = a.account_id;
	DROP TABLE raw});
$node->restart;    # the ledger's process goes on from its own memory
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'a large ledger');
my $filled = sql(q{SELECT sum(answers) FROM privpred.ledger});

# ---------- under load ----------

append_to_file("$dir/single.sql", "SELECT probe('m');\n" x 100);
my $at_most = int($fill / $kills / 2) + 1;
append_to_file("$dir/compact.sql", "SELECT folded FROM privpred.compact('0', archive => true, at_most => $at_most);\n");

# What a process does again and again until it is told to stop.
sub child
{
	my ($command) = @_;
	my $pid = fork() // die "fork: $!";
	return $pid if $pid;
	until (-e "$dir/stop")
	{
		system($command);
		usleep(50_000);
	}
	POSIX::_exit(0);
}
sub psql_of { my ($role, $file, $out) = @_; return "PGAPPNAME=$role psql -XAtq -U $role -h '" . $node->host . "' -p " . $node->port . " -d postgres -f $dir/$file.sql >> $dir/$out 2>> $dir/$out.err" }

sub received
{
	my $n = 0;
	foreach my $i (1 .. $clients)
	{
		$n += () = slurp_file("$dir/answers.$i") =~ /^t$/mg if -e "$dir/answers.$i";
	}
	return $n;
}

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

my %victim = ('the ledger' => q{backend_type = 'privpred ledger'}, 'a backend' => q{usename = 'alice' AND state = 'active'}, 'whoever compacts' => q{query LIKE '%privpred.compact(%' AND usename = 'postgres' AND pid <> pg_backend_pid() AND state <> 'idle'});
my @whom = ('whoever compacts', 'the ledger', 'the postmaster', 'a backend');
my $superuser = sql('SELECT current_user');
$victim{'whoever compacts'} =~ s/'postgres'/'$superuser'/;
my @children = map { child(psql_of('alice', 'single', "answers.$_")) } 1 .. $clients;
push @children, child(psql_of($superuser, 'compact', 'compactions'));
END { append_to_file("$dir/stop", '') if $dir && $$ == $parent }
my $folds = 0;
foreach my $round (1 .. $kills)
{
	my $whom = $whom[ $round % @whom ];
	my $before = received();
	my $crashed = incarnation($node);
	my $deadline = time + $timeout;
	usleep(50_000) while received() < $before + 50 && time < $deadline;
	cmp_ok(received(), '>=', $before + 50, "round $round: answers flow");
	# A compaction that is not over yet, and never will be.
	my $open = $node->background_psql('postgres', on_error_stop => 0);
	$open->query(q{BEGIN});
	$open->query(q{SELECT privpred.compact('0', at_most => 500)});
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
	eval { $open->quit };
	my $received = received();
	my $new_alone = $fill > 100_000 && $round % 10 ? 'true' : 'false';
	is(attempt($node, qq{SELECT ok, problem FROM privpred.verify_ledger(incremental => $new_alone)}), 't|', "round $round: the chain is right");
	my $spent = attempt($node, q{SELECT round(sum(spent_units) / 1e11) FROM privpred.account WHERE role_name <> ''}) // 0;
	cmp_ok($spent, '>=', $received + $filled, "round $round: all $received received answers are paid for");
}
append_to_file("$dir/stop", '');
waitpid($_, 0) for @children;

settled($node);
sql(q{SELECT privpred.compact('0', archive => true, at_most => NULL)});
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'at the end the chain is right');
is(sql(q{SELECT ok, problem FROM privpred.verify_archive()}), 't|', 'and so is the archive');
my $spent = sql(q{SELECT round(sum(spent_units) / 1e11) FROM privpred.account WHERE role_name <> ''});
my $received = received();
note "received $received, debited " . ($spent - $filled) . ', kills ' . $kills . ', folded ' . sql(q{SELECT sum(last - first + 1) FROM privpred.ledger_fold}) . ' in ' . sql(q{SELECT count(*) FROM privpred.ledger_fold}) . ' runs';
cmp_ok($spent, '>=', $received + $filled, 'no debit is lost');
is(sql(q{SELECT sum(answers) FROM privpred.ledger WHERE kind <> 'orphan'}), $spent, 'entries and sums are all there');
is(sql(q{SELECT (SELECT count(*) FROM privpred.ledger_entry) + (SELECT sum(last - first + 1) FROM privpred.ledger_fold) = (SELECT max(id) FROM privpred.ledger_entry)}), 't', 'each entry once');
is(sql(q{SELECT count(*) FROM privpred.ledger_archive a JOIN privpred.ledger_entry e USING (id)}), '0', 'and not in two places');
cmp_ok(sql(q{SELECT count(*) FROM privpred.ledger_entry}), '<', $fill / 2, 'most of them are folded');
my %error;
my $errors = slurp_file("$dir/compactions.err");
$error{$1}++ while $errors =~ /ERROR:  (.*)/g;
is_deeply([ grep { !/being compacted|ledger became unavailable|ledger did not reply/ } keys %error ], [], 'no error but those of a lost ledger, or of two at the same time');

# ---------- orphans ----------

my ($lease) = sql(q{SELECT lease FROM privpred.leases WHERE orphaned ORDER BY lease LIMIT 1});
my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'alice' ]);
$session->query($_) foreach 'BEGIN', q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 1000)}, q{MOVE 20 FROM c};
my $crashed = incarnation($node);
ok(kill_process($node, $victim{'the ledger'}), 'a crash orphans a lease');
ok(back_since($node, $crashed), 'the server is back');
eval { $session->quit };
as($node, 'alice', q{SELECT probe('m')});
sql(q{SELECT privpred.compact('0')});
$lease = sql(q{SELECT max(lease) FROM privpred.leases WHERE orphaned});
cmp_ok(sql("SELECT count(*) FROM privpred.ledger_entry WHERE lease = $lease AND kind = 'lease'"), '>', 0, 'its entries are not folded');
my $owed = sql(q{SELECT answers FROM privpred.leases WHERE lease = } . $lease);
my $before = sql(q{SELECT round(spent_units / 1e11) FROM privpred.account WHERE role_name = 'alice'});
sql("SELECT privpred.forgive_lease($lease)");
is(sql(q{SELECT round(spent_units / 1e11) FROM privpred.account WHERE role_name = 'alice'}), $before - $owed, 'it can be forgiven');
as($node, 'alice', q{SELECT probe('m') FROM generate_series(1, 30) i}) foreach 1 .. 3;
sql(q{SELECT privpred.compact('0')});
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'and then its entries may go');

# ---------- standby, dump, clone ----------

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
as($node, 'alice', q{SELECT probe('m')}) foreach 1 .. 20;
sql(q{SELECT privpred.compact('0')});
sql(q{SELECT ok FROM privpred.verify_ledger(incremental => true)});
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'a standby verifies what was folded');
is($standby->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger(incremental => true)}), 't|', 'from the mark, too');
my ($rc, $out, $err) = $standby->psql('postgres', q{\set VERBOSITY verbose
SELECT privpred.compact('0')});
is(sqlstate_of($err), '25006', 'and folds nothing');
$standby->stop;

my $dump = "$dir/dump.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dump');
sql('CREATE DATABASE copy');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copy'), '-f', $dump ], 'restore');
is(sql(q{SELECT count(*) FROM privpred.ledger_mark}, 'copy'), '0', 'marks stay behind');
like(sql(q{SELECT problem FROM privpred.verify_ledger()}, 'copy'), qr/restored from a dump/, 'a copy is a copy');
like(($node->psql('copy', q{SELECT privpred.compact('0')}))[2], qr/restored|copy|adopt/i, 'and is not compacted');
sql(q{SELECT privpred.adopt_ledger()}, 'copy');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}, 'copy'), 't|', 'sums and checkpoints were dumped');
is(sql(q{SELECT ok, problem FROM privpred.verify_archive()}, 'copy'), 't|', 'and the archive');
foreach my $table (qw(ledger_fold ledger_sum ledger_archive))
{
	my $digest = "SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM privpred.$table t";
	is(sql($digest, 'copy'), sql($digest), "$table is as it was");
}
as($node, 'alice', q{SELECT probe('m')}, db => 'copy') foreach 1 .. 20;
sql(q{SELECT privpred.compact('0')}, 'copy');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}, 'copy'), 't|', 'it goes on');
sql('DROP DATABASE copy WITH (FORCE)');
$node->stop;
done_testing;
