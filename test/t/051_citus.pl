# A coordinator and two workers of Citus: one budget for a table wherever its rows are, the models that one
# table gives, and answers from the coordinator alone.  Citus is not in Debian: this runs where it is installed.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($library, undef) = run_command([ 'pg_config', '--pkglibdir' ]);
unless (-e "$library/citus.so")
{
	# What looks like Citus is nothing without it.
	my $node = PostgreSQL::Test::Cluster->new('plain');
	$node->init;
	$node->start;
	$node->safe_psql('postgres', q{CREATE EXTENSION privpred; CREATE TABLE visit_102008 (id int PRIMARY KEY, x float8, ill boolean);
		INSERT INTO visit_102008 SELECT i, 0.5, true FROM generate_series(1, 100) i;
		SELECT privpred.protect('visit_102008', unit => 'id', declared_units => 100);
		SELECT privpred.grant_budget('pg_monitor', 'visit_102008', epsilon => 5);
		SELECT FROM privpred.create_model('m', 'visit_102008', label => 'ill', features => '{"x": {"min": 0, "max": 1}}', learner => 'linear', teachers => 10, epsilon => 1)});
	is($node->safe_psql('postgres', q{SET application_name = 'citus_internal gpid=1'; SET ROLE pg_monitor; SELECT count(private_predict('m', ARRAY[0.5]))}),
		1, 'names alone make neither a shard nor a session of Citus');
	$node->stop;
	SKIP: { skip 'Citus is not installed', 1 }
	done_testing();
	exit;
}

# Workers are reached through a process for each connection, which counts what they send to the coordinator.
my $counts = PostgreSQL::Test::Utils::tempdir();
my @proxies;

sub relay
{
	my ($client, $server) = @_;
	open(my $file, '>', "$counts/$$") or return;
	my ($select, $sent, $asked) = (IO::Select->new($client, $server), 0, '');
	while (1)
	{
		for my $from ($select->can_read)
		{
			my $to = $from == $client ? $server : $client;
			sysread($from, my $bytes, 1 << 18) or return;
			if ($from == $server) { sysseek($file, 0, 0); syswrite($file, sprintf('%20d', $sent += length $bytes)) }
			# A worker that fetches rows from another.
			elsif ($asked ne 'others')
			{
				$asked = substr($asked, -100) . substr($bytes, 0, 65536);
				if ($asked =~ /TO STDOUT WITH \(format result\)/) { unlink "$counts/$$"; $asked = 'others' }
			}
			while (length $bytes)
			{
				my $written = syswrite($to, $bytes) or return;
				substr($bytes, 0, $written, '');
			}
		}
	}
}

sub proxy
{
	my ($port) = @_;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64) or die "no socket: $!";
	my $pid = fork // die "no process: $!";
	if ($pid)
	{
		push @proxies, $pid;
		return $listener->sockport;
	}
	local $SIG{CHLD} = 'IGNORE';
	while (my $client = $listener->accept)
	{
		next if fork;
		my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
		relay($client, $server) if $server;
		POSIX::_exit(0);
	}
	POSIX::_exit(0);
}
END { kill 'KILL', @proxies if @proxies }

sub bytes_sent
{
	my $sum = 0;
	$sum += slurp_file($_) || 0 for glob "$counts/*";
	return $sum;
}

# Citus connects by TCP, also to the coordinator.
local $PostgreSQL::Test::Cluster::use_tcp = 1;
local $PostgreSQL::Test::Cluster::test_pghost = '127.0.0.1';
my @nodes = map { PostgreSQL::Test::Cluster->new($_) } qw(coordinator worker1 worker2);
my ($coordinator, @workers) = @nodes;
for my $node (@nodes)
{
	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'citus, privpred'\nmax_worker_processes = 16\ncitus.shard_count = 4\nlog_statement = all\ncitus.distributed_deadlock_detection_factor = -1\n"
		. "listen_addresses = '127.0.0.1'\ncitus.local_hostname = '127.0.0.1'\ncitus.node_conninfo = 'sslmode=disable'\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus; CREATE EXTENSION IF NOT EXISTS privpred');
}
my $port = $coordinator->port;
$coordinator->safe_psql('postgres', "SELECT citus_set_coordinator_host('127.0.0.1', $port)");
$coordinator->safe_psql('postgres', "SELECT citus_add_node('127.0.0.1', " . proxy($_->port) . ')') for @workers;
$coordinator->safe_psql('postgres', q{
CREATE ROLE hospital LOGIN; CREATE ROLE analyst LOGIN; GRANT CREATE, USAGE ON SCHEMA public TO hospital;
});

# As a role, with messages: what was printed, and the error in one line.
sub run_as
{
	my ($node, $role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE $role; SET client_min_messages = warning; $sql");
	return $rc == 0 ? $out : $err;
}

my $features = '{"x": {"min": 0, "max": 1}, "z": {"min": 0, "max": 1}}';
$coordinator->safe_psql('postgres', q{
SET ROLE hospital;
CREATE TYPE degree AS ENUM ('none', 'some', 'much');
CREATE TABLE visit (id int PRIMARY KEY, x float8, z float8, ill boolean, bill numeric(10, 2), degree degree);
INSERT INTO visit SELECT i, k / 10007.0, (i % 97) / 97.0, CASE WHEN i % 50 > 0 THEN k > 5000 END, k / 100.0, (enum_range(NULL::degree))[1 + k / 4000]
	FROM (SELECT i, i * 7919 % 10007 AS k FROM generate_series(1, 2000) i) s;
CREATE TABLE whole (LIKE visit INCLUDING ALL);
INSERT INTO whole SELECT * FROM visit;
SELECT create_distributed_table('visit', 'id');
SELECT privpred.protect(t, unit => 'id', declared_units => 2000) FROM unnest('{visit, whole}'::regclass[]) t;
SELECT privpred.grant_budget('analyst', 'visit', epsilon => 20);
GRANT SELECT ON visit TO analyst;
});

# ---------- one budget ----------

for my $worker (@workers)
{
	my $name = $worker->name;
	like(run_as($worker, 'hospital', "SELECT privpred.protect('visit', unit => 'id')"), qr/is a table of Citus, and this is not its coordinator/,
		"$name: the table is not protected a second time");
	my $shard = $worker->safe_psql('postgres', q{SET citus.override_table_visibility = off; SELECT relname FROM pg_class WHERE relname ~ '^visit_[0-9]+$' ORDER BY 1 LIMIT 1});
	like(run_as($worker, 'hospital', "SELECT privpred.protect('$shard', unit => 'id')"), qr/"$shard" is a shard of a table of Citus/, "$name: nor is a shard");
}

# ---------- the same models ----------

# Mechanisms with teachers by every learner, labels of every kind, and those that learn from units themselves.
my @models = ((map { [ $_, "label => 'ill', learner => '$_', teachers => 10, epsilon => 1" ] } qw(linear naive_bayes centroid logistic svm stump tree knn forest)),
	(map { [ "bins_$_", "label => 'bill', options => '{\"bins\": [0, 30, 60, 100]}', learner => '$_', teachers => 10, epsilon => 1" ] } qw(linear tree)),
	(map { [ "degree_$_", "label => 'degree', learner => '$_', teachers => 10, epsilon => 1" ] } qw(centroid logistic)),
	(map { [ "held_$_", "label => 'ill', learner => '$_', teachers => 10, epsilon => 1, holdout => 0.3" ] } qw(linear logistic)),
	[ 'number', "label => 'bill', mechanism => 'average', options => '{\"target\": {\"min\": 0, \"max\": 101}}', learner => 'tree', teachers => 10, epsilon => 1, holdout => 0.3" ],
	[ 'threshold', "label => 'ill', mechanism => 'threshold', epsilon => 1, holdout => 0.3" ]);
my $errors = '';
for my $model (@models)
{
	my ($name, $how) = @$model;
	my $columns = $name eq 'threshold' ? '{"x": {"min": 0, "max": 1}}' : $features;
	$errors .= run_as($coordinator, 'hospital', "SELECT FROM privpred.create_model('${name}_$_', '$_', features => '$columns', $how)") for qw(visit whole);
}
is($errors, '', 'a table\'s owner, who is no superuser, trains on nodes');
my $salt = '000102030405060708090a0b0c0d0e0f';
$coordinator->safe_psql('postgres', qq{UPDATE privpred.model SET salt = '\\x$salt'});

# Workers log all that they are sent; nothing is too much for the coordinator.
my @offsets = map { -s $_->logfile } @workers;
is(run_as($coordinator, 'hospital', q{SET citus.max_intermediate_result_size = 1; SELECT count(privpred.retrain(name)) FROM privpred.models}), 2 * @models,
	'and trains again, whatever the limit of intermediate results');
is(run_as($coordinator, 'hospital', q{SELECT count(*) FROM unnest('{held_linear_visit,number_visit,threshold_visit}'::text[]) m, privpred.evaluate(m)}), 3, 'and evaluates on units that were held out');
my $logs = join '', map { slurp_file($workers[$_]->logfile, $offsets[$_]) } 0, 1;
like($logs, qr/privpred\.unit_share\(/, 'workers are asked');
# The salt of what is held out is another one, and as long.
unlike($logs, qr/$salt|\\x[0-9a-f]{32}'/i, 'no statement that a worker is sent shows a salt');

sub same_models
{
	my ($what) = @_;
	is($coordinator->safe_psql('postgres', q{SELECT string_agg(replace(a.name, '_whole', ''), ' ' ORDER BY a.name) FROM privpred.model a JOIN privpred.model b ON b.name = replace(a.name, '_whole', '_visit')
		WHERE a.name LIKE '%\_whole' AND a.predictor::text IS NOT DISTINCT FROM b.predictor::text AND a.state IS NOT DISTINCT FROM b.state}),
		join(' ', sort map { $_->[0] } @models), $what);
}
same_models('models are those of one table, bit for bit');

# ---------- rows that are kept ----------

# What a worker is sent for a learner that keeps rows: rows are counted, or partitioned for the worker that fits their teacher.
@offsets = map { -s $_->logfile } @workers;
run_as($coordinator, 'hospital', q{SELECT privpred.retrain('tree_visit')});
$logs = join '', map { slurp_file($workers[$_]->logfile, $offsets[$_]) } 0, 1;
like($logs, qr/CREATE UNLOGGED TABLE public\.privpred_rows_/, 'rows are moved to a table without WAL');
like($logs, qr/execute <unnamed>: SELECT [^\n]*privpred\.teach\(/, 'workers fit teachers');
is(join("\n", grep { /LOG: .*(FROM|ONLY) public\.visit_[0-9]/ && !/worker_partition_query_result|SELECT count\(\*\) AS count FROM|LOG:  statement: SELECT COALESCE\(privpred\.unit_share/ } split /\n/, $logs),
	'', 'and send no row to the coordinator');

# No node has anything left of what was moved: no table, no file of rows, nothing prepared.
sub nothing_left
{
	my ($what) = @_;
	is(join(' ', map { $_->safe_psql('postgres', q{SET citus.override_table_visibility = off; SET citus.show_shards_for_app_name_prefixes = '*';
		SELECT (SELECT count(*) FROM pg_class WHERE relname LIKE 'privpred_rows%') + (SELECT count(*) FROM pg_prepared_xacts) + (SELECT count(*) FROM pg_ls_dir('base/pgsql_job_cache', true, false))}) } @nodes),
		'0 0 0', "$what: nothing is left of the rows that were moved");
}
nothing_left('trained');

my $version = q{SELECT version, md5(predictor::text) FROM privpred.model WHERE name = 'tree_visit'};
sub refused
{
	my ($what, $pattern, $setting) = @_;
	my $before = $coordinator->safe_psql('postgres', $version);
	like(run_as($coordinator, 'hospital', ($setting // '') . q{SELECT privpred.retrain('tree_visit')}), $pattern, "$what: training fails as a whole");
	is($coordinator->safe_psql('postgres', $version), $before, "$what: the model stays");
}

# Rows have been moved when a worker fails to fit them.
my $off = 'SET citus.enable_ddl_propagation = off;';
@offsets = map { -s $_->logfile } @workers;
$workers[1]->safe_psql('postgres', "$off REVOKE EXECUTE ON FUNCTION privpred.teach FROM PUBLIC");
refused('an error of a worker', qr/permission denied for/);
nothing_left('an error of a worker');
$workers[1]->safe_psql('postgres', "$off GRANT EXECUTE ON FUNCTION privpred.teach TO PUBLIC");
unlike(join('', map { slurp_file($workers[$_]->logfile, $offsets[$_]) } 0, 1), qr/$salt/i, 'a worker that fails does not log the salt');

# A worker waits for a shard: while others look, when the training is cancelled, and when the worker crashes.
my $shard = $workers[1]->safe_psql('postgres', q{SET citus.override_table_visibility = off; SELECT min(relname) FROM pg_class WHERE relname ~ '^visit_[0-9]+$'});
my $waiting = q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%privpred.unit_share%'};
for my $end ('a cancel', 'a crash')
{
	my ($in, $out) = ('', '');
	my $blocker = IPC::Run::start([ 'psql', '-XAtq', '-d', $workers[1]->connstr('postgres'), '-f', '-' ], '<', \$in, '>', \$out, '2>', \my $ignored, IPC::Run::timeout(180));
	$in .= "SET citus.enable_manual_changes_to_shards = on; BEGIN; LOCK TABLE $shard IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n";
	$blocker->pump until $out =~ /locked/;
	my $before = $coordinator->safe_psql('postgres', $version);
	my ($output, $error) = ('', '');
	my $training = IPC::Run::start([ 'psql', '-XAtq', '-d', $coordinator->connstr('postgres'), '-c', 'SET ROLE hospital', '-c', q{SELECT privpred.retrain('tree_visit')} ], '>', \$output, '2>', \$error, IPC::Run::timeout(180));
	ok($workers[1]->poll_query_until('postgres', $waiting), "$end: a worker waits");
	is(join(' ', map { $_->safe_psql('postgres', q{SET citus.override_table_visibility = off; SELECT count(*) FROM pg_class WHERE relname LIKE 'privpred_rows%'}) } @nodes), '0 0 0',
		"$end: meanwhile nobody sees a table of moved rows");
	if ($end eq 'a cancel')
	{
		$coordinator->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%privpred.retrain%' AND pid <> pg_backend_pid()});
		$training->finish;
		$in .= "ROLLBACK;\n\\q\n";
		$blocker->finish;
	}
	else
	{
		$workers[1]->stop('immediate');
		$training->finish;
		eval { $blocker->kill_kill };
		like($error, qr/ERROR/, "$end: training fails as a whole");
		refused('a worker is down', qr/ERROR/);
		is(run_as($coordinator, 'analyst', q{SELECT count(private_predict('linear_visit', ARRAY[0.5, 0.5]))}), 1, 'a worker is down: answers need none');
		$workers[1]->start;
	}
	is($coordinator->safe_psql('postgres', $version), $before, "$end: the model stays");
	ok($workers[1]->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%privpred.unit_share%' AND state = 'active' AND pid <> pg_backend_pid()}), "$end: the worker does not go on");
	nothing_left($end);
}

# An owner who may create nothing in the table's schema has rows fetched, in states; the model is the same.
$coordinator->safe_psql('postgres', 'REVOKE CREATE ON SCHEMA public FROM hospital');
is(run_as($coordinator, 'hospital', q{SELECT count(privpred.retrain('tree_visit'))}), 1, 'without a right to create tables');
$coordinator->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO hospital');
is(run_as($coordinator, 'hospital', q{SELECT count(privpred.retrain('logistic_visit'))}), 1, 'and with it');
same_models('the same models');

# ---------- answers ----------

sub spent { return $coordinator->safe_psql('postgres', "SELECT coalesce(sum(epsilon_spent), 0) FROM privpred.budgets WHERE relation = '$_[0]'::regclass") }

# Rows that are asked about are fetched first, from many shards and from one.
for my $case ([ 'many shards', q{SELECT count(private_predict('linear_visit', ARRAY[x, z])) FROM visit WHERE id < 4}, 3 ],
	[ 'one shard', q{SELECT count(private_predict('linear_visit', ARRAY[x, z])) FROM visit WHERE id = 5}, 1 ],
	[ 'whole rows', q{SELECT count(private_predict('linear_visit', v)) FROM visit v WHERE id = 6}, 1 ],
	[ 'a limit', q{SELECT count(*) FROM (SELECT private_predict('linear_visit', ARRAY[x, z]) FROM visit LIMIT 2) s}, 2 ],
	[ 'a condition', q{SELECT count(*) FROM visit WHERE id IN (7, 8) AND private_predict('linear_visit', ARRAY[x, z]) IS NOT NULL}, 2 ])
{
	my ($what, $sql, $answers) = @$case;
	my $before = spent('visit');
	is(run_as($coordinator, 'analyst', $sql), $answers, "$what: the coordinator answers");
	is(spent('visit'), $before + $answers, "$what: and charges just that");
}

# What is fetched is fetched as a whole.  Where a SELECT around it wants but some of it, nothing is: all of it would be paid for.
my $asks = q{SELECT id, private_predict('linear_visit', ARRAY[x, z]) AS a FROM visit};
for my $case ([ 'a condition outside', "SELECT count(a) FROM ($asks) s WHERE id = 9" ], [ 'a limit outside', "SELECT a FROM ($asks) s LIMIT 1" ],
	[ 'a limit of a CTE', "WITH s AS ($asks) SELECT a FROM s LIMIT 1" ], [ 'a condition of a join', "SELECT count(a) FROM ($asks) s JOIN generate_series(1, 3) i ON i = s.id" ])
{
	my ($what, $sql) = @$case;
	my $before = spent('visit');
	like(run_as($coordinator, 'analyst', $sql), qr/by the coordinator of Citus alone/, "$what: not answered");
	is(spent('visit'), $before, "$what: nor charged");
}

# What hides a question is sent to workers.
run_as($coordinator, 'hospital', q{CREATE FUNCTION ask(x float8[]) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN private_predict(''linear_visit'', x); END'});
like(run_as($coordinator, 'analyst', q{SELECT count(ask(ARRAY[x, z])) FROM visit}),
	qr/private answers are given by the coordinator of Citus alone.*MATERIALIZED/s, 'workers answer nothing, and say what to write');
is(run_as($coordinator, 'analyst', q{WITH q AS MATERIALIZED (SELECT x, z FROM visit ORDER BY id LIMIT 3) SELECT count(private_predict('linear_visit', ARRAY[x, z])) FROM q}),
	3, 'the coordinator answers what it has fetched');
is($coordinator->safe_psql('postgres', q{SELECT epsilon_spent FROM privpred.budgets WHERE role = 'analyst'::regrole AND relation = 'visit'::regclass}), '13', 'and charges just that');

# A worker that has a model of this name has another table's; it is not asked either.
$workers[0]->safe_psql('postgres', q{SET citus.enable_ddl_propagation = off; CREATE TABLE own (id int PRIMARY KEY, x float8, z float8, ill boolean);
INSERT INTO own SELECT i, 0.5, 0.5, true FROM generate_series(1, 100) i; SELECT privpred.protect('own', unit => 'id', declared_units => 100);
SELECT FROM privpred.create_model('linear_visit', 'own', label => 'ill', features => '} . $features . q{', learner => 'linear', teachers => 10, epsilon => 1);
SELECT privpred.grant_budget('analyst', 'own', epsilon => 5)});
like(run_as($coordinator, 'analyst', q{SELECT count(ask(ARRAY[x, z])) FROM visit}), qr/by the coordinator of Citus alone/, 'a model of the same name on a worker is not asked');
is($workers[0]->safe_psql('postgres', 'SELECT epsilon_spent FROM privpred.budgets'), '0', 'and nothing is charged there');

# ---------- tables that Citus re-creates ----------

$coordinator->safe_psql('postgres', q{
SET ROLE hospital;
CREATE TABLE ward (ward int PRIMARY KEY); INSERT INTO ward VALUES (1);
SELECT create_reference_table('ward');
CREATE TABLE patient (gone int, id int PRIMARY KEY, ward int, x float8, ill boolean);
ALTER TABLE patient DROP COLUMN gone;
INSERT INTO patient SELECT i, 1, i / 200.0, i > 100 FROM generate_series(1, 200) i;
SELECT privpred.protect('patient', unit => 'id', declared_units => 200);
SELECT privpred.grant_budget('analyst', 'patient', epsilon => 5);
SELECT FROM privpred.create_model('local', 'patient', label => 'ill', features => '{"x": {"min": 0, "max": 1}}', learner => 'linear', teachers => 10, epsilon => 1);
});
my $ask = q{SELECT count(private_predict('local', ARRAY[0.5]))};
is(run_as($coordinator, 'analyst', $ask), 1, 'a local table is asked');
for my $way ('by a foreign key', 'by hand')
{
	if ($way eq 'by a foreign key')
	{
		run_as($coordinator, 'hospital', 'ALTER TABLE patient ADD CONSTRAINT ward FOREIGN KEY (ward) REFERENCES ward');
	}
	else
	{
		run_as($coordinator, 'hospital', q{SELECT citus_add_local_table_to_metadata('patient'); SELECT privpred.protect('patient', unit => 'id', declared_units => 200)});
	}
	is($coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = 'patient'::regclass}), 1, "$way: Citus has the table");
	is($coordinator->safe_psql('postgres', q{SELECT count(*) FROM privpred.protected_relation WHERE active AND relation = 'patient'::regclass}), 1, "$way: it is protected as before");
	my $before = spent('patient');
	is(run_as($coordinator, 'analyst', $ask), 1, "$way: it is asked as before");
	is(spent('patient'), $before + 1, "$way: by the same budget");
	is(run_as($coordinator, 'hospital', q{SELECT count(privpred.retrain('local'))}), 1, "$way: and trained again");

	# Back: Citus drops the table, and makes another of the same name.
	my ($rc, $out, $err) = $coordinator->psql('postgres', 'SET ROLE hospital; '
		. ($way eq 'by a foreign key' ? 'ALTER TABLE patient DROP CONSTRAINT ward' : q{SELECT undistribute_table('patient')}));
	like($err, qr/WARNING: .*patient was protected, and 1 budget on it ends/, "$way: a budget that ends is told of");
	$before++;
	is(run_as($coordinator, 'hospital', q{
		SELECT privpred.protect('patient', unit => 'id', declared_units => 200);
		SELECT privpred.grant_budget('analyst', 'patient', epsilon => 5);
		SELECT FROM privpred.create_model('local', 'patient', label => 'ill', features => '{"x": {"min": 0, "max": 1}}', learner => 'linear', teachers => 10, epsilon => 1)}), "\n", "$way: protected again");
	is(run_as($coordinator, 'analyst', $ask), 1, "$way: and asked");
	is(spent('patient'), $before + 1, "$way: what was spent stays spent");
}
is($coordinator->safe_psql('postgres', q{SELECT count(*) FROM privpred.protected_relation WHERE 'public.patient' = ANY (known_as)}), 1, 'there was one account all along');

for my $change ('undistribute_table', 'alter_distributed_table')
{
	my $arguments = $change eq 'undistribute_table' ? q{'visit'} : q{'visit', shard_count := 8};
	run_as($coordinator, 'hospital', q{SELECT create_distributed_table('visit', 'id')}) unless $coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = 'visit'::regclass});
	my ($rc, $out, $err) = $coordinator->psql('postgres', "SET ROLE hospital; SELECT $change($arguments)");
	is($rc, 0, "$change ends") or diag $err;
	like($err, qr/WARNING: .*visit was protected, and 1 budget on it ends/, "$change: a budget that ends is told of");
	run_as($coordinator, 'hospital', q{SELECT privpred.protect('visit', unit => 'id', declared_units => 2000); SELECT privpred.grant_budget('analyst', 'visit', epsilon => 20)});
	is(spent('visit'), 13, "$change: what was spent stays spent");
}

# ---------- keys that are not enforced ----------

$coordinator->safe_psql('postgres', q{SET ROLE hospital; CREATE TABLE appended (id int PRIMARY KEY, x float8, ill boolean);
SELECT create_distributed_table('appended', 'id', 'append'); SELECT privpred.protect('appended', unit => 'id', declared_units => 100)});
like(run_as($coordinator, 'hospital', q{SELECT privpred.create_model('a', 'appended', label => 'ill', features => '{"x": {"min": 0, "max": 1}}', mechanism => 'threshold', epsilon => 1)}),
	qr/max_rows_per_unit/, 'the primary key of an append-distributed table is not trusted');

# ---------- passes over units ----------

# One table by its units' column, one by another column.
$coordinator->safe_psql('postgres', q{
SET ROLE hospital;
CREATE TABLE stay (patient int NOT NULL, x float8, z float8, ill boolean, bill float8, sort int);
INSERT INTO stay SELECT i % 700, (i * 7919 % 10007) / 10007.0, (i % 97) / 97.0, CASE WHEN i % 50 > 0 THEN (i * 7919 % 10007) > 5000 END, i % 13, i * 7919 % 10007 / 3400 FROM generate_series(1, 3000) i;
CREATE TABLE astray AS SELECT * FROM stay;
CREATE TABLE here AS SELECT * FROM stay;
ALTER TABLE astray ALTER patient SET NOT NULL;
ALTER TABLE here ALTER patient SET NOT NULL;
SELECT create_distributed_table('stay', 'patient'), create_distributed_table('astray', 'x');
SELECT privpred.protect(t, unit => 'patient', declared_units => 700, max_rows_per_unit => 3) FROM unnest('{stay, astray, here}'::regclass[]) t;
});
for my $node (@nodes)
{
	$node->append_conf('postgresql.conf', "log_statement = all\n");
	$node->reload;
}
my @passes = (
	[ 'gradient', "label => 'ill', mechanism => 'gradient', options => '{\"steps\": 4}'", 5 ],
	[ 'huber', "label => 'bill', mechanism => 'gradient', options => '{\"steps\": 4, \"target\": {\"min\": 0, \"max\": 13}}'", 5 ],
	[ 'cover', "label => 'ill', mechanism => 'cover'", 1 ],
	[ 'stable_erm', "label => 'ill', mechanism => 'stable_erm'", 3 ],
	[ 'classes', "label => 'sort', classes => '{0,1,2}', mechanism => 'stable_erm'", 9 ],
	[ 'cover_classes', "label => 'sort', classes => '{0,1,2}', mechanism => 'cover'", 1 ]);
for my $table (qw(stay astray))
{
	for my $pass (@passes)
	{
		my ($name, $how, $least) = @$pass;
		my @from = map { -s $_->logfile } @workers;
		is(run_as($coordinator, 'hospital', "SELECT FROM privpred.create_model('${name}_$table', '$table', features => '$features', $how, epsilon => 1, holdout => 0.1)"), '', "$table: $name is trained");
		my $salt = $coordinator->safe_psql('postgres', "SELECT encode(salt, 'hex') FROM privpred.model WHERE name = '${name}_$table'");
		for my $i (0, 1)
		{
			my $log = slurp_file($workers[$i]->logfile, $from[$i]);
			my $asked = () = $log =~ /worker_partial_agg\('privpred.sum_units/g;
			# four shards, two on each worker
			if ($table eq 'stay') { cmp_ok($asked, '>=', 2 * $least, "$table: $name: a worker adds up in each pass") }
			else { is($asked, 0, "$table: $name: units whose rows lie on several nodes are put together on the coordinator") }
			unlike($log, qr/$salt|\\x[0-9a-f]{32}'/, "$table: $name: and is not told a salt");
		}
	}
}

# The same sums: of what the first pass of "gradient" adds up, and of the errors of cuts.
my $form = q{int4send(1) || int4send(2) || int4send(3) || int8send(77) || int4send(2) || '\\x00' || float8send(0) || float8send(1)};
for my $request ("$form || '\\x08' || 'gradient'::bytea || '\\x0000' || int4send(1) || int4send(1000) || float4send(1) || int8send(5000)",
	"$form || '\\x0a' || 'candidates'::bytea || '\\x0200' || int4send(2) || int4send(99) || '\\x01' || int4send(9) || '\\x01'")
{
	my $bytes = $coordinator->safe_psql('postgres', "SELECT $request");
	my @sums = map { run_as($coordinator, 'hospital', "SELECT privpred.sum_units(y, x, '$bytes') FROM (SELECT array_agg(ill::int::float8) AS y, array_agg(ARRAY[x, z]) AS x FROM $_ GROUP BY patient) s") } qw(stay here astray);
	like($sums[0], qr{^[A-Za-z0-9+/=]{40,}$}, 'sums of a distributed table');
	is($sums[0], $sums[1], 'are those of a local one');
	is($sums[2], $sums[1], 'whatever it is distributed by');
}

# ---------- tables of one shard ----------

# Citus sends what one shard can answer there whole; what is secret stays here nonetheless.
$coordinator->safe_psql('postgres', q{
CREATE SCHEMA own AUTHORIZATION hospital;
SET ROLE hospital;
CREATE FUNCTION own.count(n float8[], label float8, x float8[]) RETURNS float8[] LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN ARRAY[n[1] + 1, n[2] + label]; END';
CREATE FUNCTION own.keep(n float8[], label text, x float8[]) RETURNS float8[] LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN ARRAY[n[1] + 1]; END';
CREATE FUNCTION own.say(n float8[], x float8[]) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN (x[1] > 0.5)::text; END';
CREATE FUNCTION own.mean(n float8[], x float8[]) RETURNS float8 LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN n[2] / n[1]; END';
CREATE AGGREGATE own.train(text, float8[]) (SFUNC = own.keep, STYPE = float8[], INITCOND = '{0}');
CREATE AGGREGATE own.average(float8, float8[]) (SFUNC = own.count, STYPE = float8[], INITCOND = '{0, 0}');
CREATE TABLE single (LIKE stay INCLUDING ALL);
CREATE TABLE alone (LIKE stay INCLUDING ALL);
INSERT INTO single SELECT * FROM stay; INSERT INTO alone SELECT * FROM stay;
SELECT create_distributed_table('single', NULL), create_distributed_table('alone', 'patient', shard_count => 1);
-- all of its rows are on every node, too, and any of them may be asked
CREATE TABLE common (LIKE stay INCLUDING ALL);
INSERT INTO common SELECT * FROM stay;
SELECT create_reference_table('common');
SELECT privpred.protect(t, unit => 'patient', declared_units => 700, max_rows_per_unit => 3) FROM unnest('{single, alone, common}'::regclass[]) t;
});
my $sql_learner = q{learner => 'sql', options => '{"train": "own.train", "predict": "own.say"}'};
my @single = ((map { [ $_, "label => 'ill', learner => '$_', teachers => 10" ] } qw(linear naive_bayes centroid logistic svm stump tree knn forest)),
	[ 'bins', "label => 'bill', options => '{\"bins\": [0, 4, 8, 13]}', learner => 'tree', teachers => 10" ],
	[ 'gaussian', "label => 'ill', learner => 'tree', options => '{\"noise\": \"gaussian\"}', teachers => 40" ],
	[ 'votes', "label => 'ill', $sql_learner, teachers => 10" ],
	[ 'numbers', q{label => 'bill', mechanism => 'average', learner => 'sql', options => '{"target": {"min": 0, "max": 13}, "train": "own.average", "predict": "own.mean"}', teachers => 10} ],
	(map { [ $_, "label => 'ill', mechanism => '$_', learner => 'logistic', teachers => 10" ] } qw(average soft sparse)),
	[ 'median', q{label => 'bill', mechanism => 'median', options => '{"bins": [0, 4, 8, 13]}', learner => 'linear', teachers => 10} ],
	[ 'average_classes', "label => 'sort', classes => '{0,1,2}', mechanism => 'average', learner => 'tree', teachers => 10" ],
	(map { [ $_, "label => 'ill', mechanism => '$_'" ] } qw(gradient stable_erm cover threshold littlestone stable stable_flip)));
# Nothing of 16 bytes is in what workers log: salts are as long, and so are seeds.
sub nothing_secret { my ($what, @from) = @_; unlike(join('', map { slurp_file($workers[$_]->logfile, $from[$_]) } 0, 1), qr/\\x[0-9a-f]{32}'/i, "$what: workers are told no salt and no seed") }
for my $table (qw(single alone common stay astray here))
{
	my $asked = $table eq 'common' ? q{SET citus.task_assignment_policy = 'round-robin'; } : '';
	my @from = map { -s $_->logfile } @workers;
	my ($errors, $trained) = ('', 0);
	for my $model (@single)
	{
		my ($name, $how) = @$model;
		my $columns = $name =~ /^(threshold|littlestone|stable|stable_flip)$/ ? '{"x": {"min": 0, "max": 1}}' : $features;
		my $made = run_as($coordinator, 'hospital', "${asked}SELECT FROM privpred.create_model('s_${name}_$table', '$table', features => '$columns', $how, epsilon => 1, holdout => 0.2);
			SELECT FROM privpred.retrain('s_${name}_$table');" . ($name eq 'soft' ? '' : "SELECT FROM privpred.evaluate('s_${name}_$table') LIMIT 1; SELECT FROM privpred.evaluate('s_${name}_$table', 'stay') LIMIT 1"));
		$errors .= "$name: $made\n" if $made =~ /ERROR/;
		$trained++;
	}
	is($errors, '', "$table: every mechanism and learner is trained twice, and evaluated");
	$errors = run_as($coordinator, 'hospital', "${asked}SELECT privpred.describe('$table', columns => '{x, ill}') IS NULL; SELECT privpred.forget('$table', unit => 17, at => 'next retrain', delete_rows => true) IS NULL;
		SELECT privpred.retrain('s_tree_$table') IS NULL; SELECT privpred.retrain('s_gradient_$table') IS NULL; SELECT privpred.release_accuracy('s_votes_$table', 1) IS NULL");
	unlike($errors, qr/ERROR/, "$table: described, forgotten from, and its accuracy released");
	nothing_secret($table, @from);
	nothing_left($table);
}
my %same = map { $_ => $coordinator->safe_psql('postgres', "UPDATE privpred.model SET salt = '\\x$salt' WHERE name LIKE 's\\_%\\_$_'") } qw(single alone here);
run_as($coordinator, 'hospital', "SELECT privpred.retrain(name) FROM privpred.models WHERE name ~ '^s_(linear|naive_bayes|centroid|logistic|svm|stump|tree|knn|forest|bins|votes|numbers|median|average_classes)_(single|alone|here)\$'");
is($coordinator->safe_psql('postgres', q{SELECT string_agg(kind, ' ') FROM (SELECT regexp_replace(name, '_[a-z]+$', '') AS kind FROM privpred.model WHERE name ~ '^s_(linear|naive_bayes|centroid|logistic|svm|stump|tree|knn|forest|bins|votes|numbers|median|average_classes)_(single|alone|here)$'
	GROUP BY 1 HAVING count(DISTINCT md5(predictor::text)) <> 1 OR count(*) <> 3) s}), '', 'models of one shard are those of a local table');

# Subtransactions are announced to workers: there is one for a row that is asked about, not one for each teacher and epsilon.
for my $model (qw(votes numbers))
{
	for my $rows ([ 'held out' ], [ 'of another table', q{, 'here'} ])
	{
		my ($what, $test) = @$rows;
		@offsets = map { -s $_->logfile } @workers;
		my $count = run_as($coordinator, 'hospital', "SELECT rows FROM privpred.evaluate('s_${model}_stay'" . ($test // '') . ') LIMIT 1');
		$logs = join '', map { slurp_file($workers[$_]->logfile, $offsets[$_]) } 0, 1;
		my $announced = () = $logs =~ /: SAVEPOINT savepoint_/g;
		# two connections for the two shards of each worker
		cmp_ok($announced, '<=', $test ? 0 : 4 * $count, "$model, rows $what: few subtransactions for $count rows");
	}
}

# ---------- few bytes to the coordinator ----------

# Rows of units in one place, and of units that lie on several nodes; each beside the same on one.
$coordinator->safe_psql('postgres', q{
SET ROLE hospital;
CREATE TABLE wide (id int PRIMARY KEY, patient int NOT NULL, x1 float8, x2 float8, x3 float8, x4 float8, x5 float8, x6 float8, x7 float8, x8 float8, flag boolean, ill boolean, grade text COLLATE "C");
INSERT INTO wide SELECT i, i % 7000, h(i, 1), h(i, 2), h(i, 3), h(i, 4), h(i, 5), h(i, 6), h(i, 7), h(i, 8), i % 2 = 0, CASE WHEN i % 50 > 0 THEN (i % 2 = 0) <> (i % 20 < 3) END, chr(97 + i % 3)
	FROM (SELECT i FROM generate_series(1, 20000) i) s;
} =~ s/h\(i, (\d)\)/((hashint4(i * 9 + $1) & 65535) \/ 65536.0)/gr . q{
CREATE TABLE wide_here (LIKE wide INCLUDING ALL);
CREATE TABLE apart (LIKE wide INCLUDING ALL);
CREATE TABLE apart_here (LIKE wide INCLUDING ALL);
INSERT INTO wide_here SELECT * FROM wide; INSERT INTO apart SELECT * FROM wide; INSERT INTO apart_here SELECT * FROM wide;
SELECT create_distributed_table('wide', 'id'), create_distributed_table('apart', 'id');
SELECT privpred.protect(t, unit => 'id', declared_units => 20000) FROM unnest('{wide, wide_here}'::regclass[]) t;
SELECT privpred.protect(t, unit => 'patient', declared_units => 7000, max_rows_per_unit => 3) FROM unnest('{apart, apart_here}'::regclass[]) t;
});
my $numbers = join ', ', map { qq{"x$_": {"min": 0, "max": 1}} } 1 .. 8;
# name, table, what is declared, features; most bytes to the coordinator, and whether rows are moved from worker to worker
my @few = ([ 'few_linear', 'wide', "label => 'ill', learner => 'linear', teachers => 500, epsilon => 1", $numbers, 300_000, 1 ],
	[ 'few_text', 'wide', "label => 'grade', classes => '{a,b,c}', learner => 'linear', teachers => 400, epsilon => 1", $numbers, 300_000, 1 ],
	[ 'few_average', 'wide', q{label => 'x8', mechanism => 'average', options => '{"target": {"min": 0, "max": 1}}', learner => 'linear', teachers => 10, epsilon => 1}, '"flag": {}', 100_000, 1 ],
	[ 'few_states', 'wide', "label => 'ill', learner => 'linear', teachers => 20, epsilon => 1", $numbers, 100_000, 0 ],
	[ 'few_cover', 'wide', "label => 'ill', mechanism => 'cover', epsilon => 100", "$numbers, \"flag\": {}", 600_000, 1 ],
	[ 'few_threshold', 'wide', "label => 'ill', mechanism => 'threshold', epsilon => 1", '"x1": {"min": 0, "max": 1}', 650_000, 0 ],
	[ 'few_units', 'apart', "label => 'ill', mechanism => 'cover', epsilon => 100", '"flag": {}, ' . join(', ', map { qq{"x$_": {"min": 0, "max": 1}} } 1 .. 4), 600_000, 1 ],
	[ 'few_steps', 'apart', "label => 'ill', mechanism => 'gradient', options => '{\"steps\": 4}', epsilon => 1", $numbers, 60_000, 1 ]);
for my $few (@few)
{
	my ($name, $table, $how, $columns, $most, $moved) = @$few;
	is(run_as($coordinator, 'hospital', join ';', map { "SELECT FROM privpred.create_model('${name}_$_', '$_', features => '{$columns}', $how)" } $table, "${table}_here"), '', "$name: trained");
	$coordinator->safe_psql('postgres', qq{UPDATE privpred.model SET salt = '\\x$salt' WHERE name LIKE 'few%'});
	@offsets = map { -s $_->logfile } @workers;
	my $before = bytes_sent();
	is(run_as($coordinator, 'hospital', "SELECT count(privpred.retrain('${name}_$table'))"), 1, "$name: trained again");
	my $bytes = bytes_sent() - $before;
	note "$name: $bytes bytes";
	ok($bytes > 0 && $bytes < $most, "$name: at most $most bytes go to the coordinator");
	$logs = join '', map { slurp_file($workers[$_]->logfile, $offsets[$_]) } 0, 1;
	is($logs =~ /CREATE UNLOGGED TABLE public\.privpred_rows_/ ? 1 : 0, $moved, "$name: rows are moved if they must be");
	unlike($logs, qr/$salt|\\x[0-9a-f]{32}'/i, "$name: no statement that a worker is sent shows a salt");
	nothing_left($name);
	next if $name eq 'few_steps'; # has noise
	run_as($coordinator, 'hospital', "SELECT count(privpred.retrain('${name}_${table}_here'))");
	is($coordinator->safe_psql('postgres', "SELECT count(DISTINCT md5(coalesce(predictor::text, '') || coalesce(state::text, ''))) FROM privpred.model WHERE name LIKE '$name%'"), 1, "$name: the model is that of one table");
}

# Settings of a session do not keep rows from being dropped, on any node.
for my $setting ('enable_ddl_propagation = off', 'function_opens_transaction_block = off', 'shard_replication_factor = 2', 'shard_count = 1', 'enable_metadata_sync = off', 'subquery_pushdown = on')
{
	is(run_as($coordinator, 'hospital', "SET citus.$setting; SELECT count(privpred.retrain(m)) FROM unnest('{few_linear_wide, few_units_apart}'::text[]) m"), 2, "citus.$setting: trained");
	nothing_left("citus.$setting");
}

# Without a right to create tables: sums of all shards, and rows of units that lie apart; the same models.
$coordinator->safe_psql('postgres', 'REVOKE CREATE ON SCHEMA public FROM hospital');
is(run_as($coordinator, 'hospital', q{SELECT count(privpred.retrain(m)) FROM unnest('{few_linear_wide, few_average_wide, few_cover_wide, few_units_apart}'::text[]) m}), 4, 'without a right to create tables');
is($coordinator->safe_psql('postgres', q{SELECT count(DISTINCT md5(coalesce(predictor::text, '') || coalesce(state::text, ''))) FROM privpred.model WHERE name ~ 'few_(linear|average|cover|units)'}), 4, 'the same models');
$coordinator->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO hospital');

# A worker that is lost: training fails as a whole, and the model stays.
$version = $coordinator->safe_psql('postgres', q{SELECT version, md5(state) FROM privpred.model WHERE name = 'gradient_stay'});
$workers[1]->stop('immediate');
like(run_as($coordinator, 'hospital', q{SELECT privpred.retrain('gradient_stay')}), qr/ERROR/, 'without a worker training fails');
is($coordinator->safe_psql('postgres', q{SELECT version, md5(state) FROM privpred.model WHERE name = 'gradient_stay'}), $version, 'and the model stays');
$workers[1]->start;
is(run_as($coordinator, 'hospital', q{SELECT count(privpred.retrain('gradient_stay'))}), 1, 'with it training goes on');

$_->stop for @nodes;
done_testing();
