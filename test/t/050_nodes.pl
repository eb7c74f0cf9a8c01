# A coordinator and two data nodes: foreign partitions through postgres_fdw give the models that one table gives.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use MIME::Base64;
use Test::More;

my $coordinator = PostgreSQL::Test::Cluster->new('coordinator');
$coordinator->init;
$coordinator->start;
if ($coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0')
{
	plan skip_all => 'postgres_fdw is not installed';
}

# One of them writes numbers and times in its own way.
my @nodes = map { PostgreSQL::Test::Cluster->new("node$_") } 1, 2;
$_->init for @nodes;
$_->append_conf('postgresql.conf', "log_statement = all\n") for @nodes;
$nodes[0]->append_conf('postgresql.conf', "timezone = 'America/New_York'\ndatestyle = 'SQL, DMY'\nextra_float_digits = -5\n");
$_->start for @nodes;

my $people = 'id int NOT NULL, ward text, x float8, z numeric, seen timestamptz, y boolean';
my $pairs = 'born date NOT NULL, name text NOT NULL, place int, x float8, y text';
for my $node (@nodes)
{
	$node->safe_psql('postgres', "CREATE EXTENSION privpred; CREATE TABLE people ($people); CREATE TABLE pairs ($pairs)");
}

# ---------- as docs/scale.md has it ----------

my $setup = "CREATE EXTENSION privpred; CREATE EXTENSION postgres_fdw;\n";
for my $i (0, 1)
{
	my ($n, $host, $port) = ($i + 1, $nodes[$i]->host, $nodes[$i]->port);
	$setup .= "CREATE SERVER node$n FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'privpred', async_capable 'true');\n"
	  . "CREATE USER MAPPING FOR CURRENT_USER SERVER node$n;\n";
}
$coordinator->safe_psql('postgres', $setup . qq{
CREATE TABLE people ($people) PARTITION BY HASH (x);
CREATE FOREIGN TABLE people_1 PARTITION OF people FOR VALUES WITH (MODULUS 3, REMAINDER 0) SERVER node1 OPTIONS (table_name 'people');
CREATE FOREIGN TABLE people_2 PARTITION OF people FOR VALUES WITH (MODULUS 3, REMAINDER 1) SERVER node2 OPTIONS (table_name 'people');
CREATE TABLE people_3 PARTITION OF people FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO people SELECT i % 1000, chr(65 + i % 3), (i * 7919 % 10007) / 10007.0, (i % 97) / 97.0, '2020-01-01'::timestamptz + i * '1 hour 0.000001 s'::interval,
	CASE WHEN i % 50 > 0 THEN (i * 7919 % 10007) > 5000 END FROM generate_series(1, 6000) i;
CREATE TABLE whole (LIKE people);
INSERT INTO whole SELECT * FROM people ORDER BY y, z;
CREATE TABLE pairs ($pairs) PARTITION BY LIST (place);
CREATE FOREIGN TABLE pairs_1 PARTITION OF pairs FOR VALUES IN (1) SERVER node1 OPTIONS (table_name 'pairs');
CREATE FOREIGN TABLE pairs_2 PARTITION OF pairs FOR VALUES IN (2) SERVER node2 OPTIONS (table_name 'pairs');
INSERT INTO pairs SELECT '1950-01-01'::date + i % 60, 'Zoë ' || i % 7, 1 + i % 2, (i * 7919 % 10007) / 10007.0, CASE WHEN (i * 7919 % 10007) > 5000 THEN 'größer' ELSE 'kleiner' END FROM generate_series(1, 4000) i;
CREATE TABLE whole_pairs (LIKE pairs);
INSERT INTO whole_pairs SELECT * FROM pairs ORDER BY x;
});
is($coordinator->safe_psql('postgres', q{SELECT count(*) > 900 FROM (SELECT FROM people GROUP BY id HAVING count(DISTINCT tableoid) > 1) s}), 't', 'units have rows on several nodes');
$coordinator->safe_psql('postgres', q{
SELECT privpred.protect('people', unit => 'id', max_rows_per_unit => 2);
SELECT privpred.protect('whole', unit => 'id', max_rows_per_unit => 2);
});

# ---------- the same models ----------

my $features = '{"ward": {"levels": ["A","B","C"]}, "x": {"min": 0, "max": 1, "cuts": 4}, "z": {"min": 0, "max": 1}, "seen": {"min": "2020-01-01", "max": "2021-01-01", "cuts": ["2020-07-01"]}}';
my @learners = qw(linear naive_bayes centroid logistic svm stump tree knn);
for my $learner (@learners)
{
	$coordinator->safe_psql('postgres', "SELECT privpred.create_model('${learner}_$_', '$_', label => 'y', features => '$features', learner => '$learner', teachers => 10, epsilon => 1)")
	  for qw(people whole);
}
$coordinator->safe_psql('postgres', "SELECT privpred.create_model('threshold_$_', '$_', label => 'y', features => '{\"x\": {\"min\": 0, \"max\": 1}}', mechanism => 'threshold', epsilon => 1)") for qw(people whole);
$coordinator->safe_psql('postgres', "SELECT privpred.create_model('walks_$_', '$_', label => 'y', features => '{\"x\": {\"min\": 0, \"max\": 1}, \"z\": {\"min\": 0, \"max\": 1}}', mechanism => 'threshold', epsilon => 1)") for qw(people whole);

# Nodes know which units are held out.
$coordinator->safe_psql('postgres', "SELECT privpred.create_model('held_$_', '$_', label => 'y', features => '$features', learner => 'linear', teachers => 10, epsilon => 1, holdout => 0.3)") for qw(people whole);

# Teachers differ by salt alone.
$coordinator->safe_psql('postgres', q{UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f'});

sub retrain_and_compare
{
	my ($how) = @_;
	my @offsets = map { -s $_->logfile } @nodes;
	my ($rc, $out, $err) = $coordinator->psql('postgres', q{SELECT count(privpred.retrain(name)) FROM privpred.model WHERE name LIKE '%\_people'});
	is($rc, 0, "$how: trained") or diag $err;
	like($err, qr/120 rows were left out/, "$how: rows without a label are counted");
	$coordinator->safe_psql('postgres', q{SELECT count(privpred.retrain(name)) FROM privpred.model WHERE name LIKE '%\_whole'});
	is($coordinator->safe_psql('postgres', q{SELECT string_agg(replace(a.name, '_whole', ''), ' ' ORDER BY a.name) FROM privpred.model a JOIN privpred.model b ON b.name = replace(a.name, '_whole', '_people')
		WHERE a.name LIKE '%\_whole' AND a.predictor::text IS NOT DISTINCT FROM b.predictor::text AND a.state IS NOT DISTINCT FROM b.state}),
		join(' ', sort(@learners, 'held', 'threshold', 'walks')), "$how: the same models, bit for bit");
	return map { my $log = slurp_file($nodes[$_]->logfile, $offsets[$_]); $log } 0, 1;
}

my @logs = retrain_and_compare('states');
for my $i (0, 1)
{
	my $asked = () = $logs[$i] =~ /privpred\.partial_state\(/g;
	is($asked, 1 + @learners, "node $i was asked for states by every learner");
	my $rows = () = $logs[$i] =~ /DECLARE c\d+ CURSOR FOR\s+SELECT (?!privpred)/g;
	is($rows, 2, "and for rows by the mechanism that learns from units alone");
}

# Without the extension among the server's, rows are fetched.
$coordinator->safe_psql('postgres', "ALTER SERVER node1 OPTIONS (DROP extensions)");
@logs = retrain_and_compare('rows of one node, states of the other');
unlike($logs[0], qr/partial_state/, 'a server that is not said to know privpred is asked for rows');
like($logs[1], qr/partial_state/, 'the other one for states');
$coordinator->safe_psql('postgres', "ALTER SERVER node2 OPTIONS (DROP extensions)");
@logs = retrain_and_compare('rows');
unlike("@logs", qr/partial_state/, 'no states');
$coordinator->safe_psql('postgres', "ALTER SERVER node$_ OPTIONS (ADD extensions 'privpred')") for 1, 2;

# Sorted instead of hashed; many small states of learners that keep rows.
$coordinator->safe_psql('postgres', "ALTER SYSTEM SET maintenance_work_mem = '1MB'; SELECT pg_reload_conf()");
@logs = retrain_and_compare('little memory');
like($logs[0], qr/partial_state/, 'states in little memory, too');
$coordinator->safe_psql('postgres', "ALTER SYSTEM RESET maintenance_work_mem; SELECT pg_reload_conf()");

# A unit of two columns, labels and names that are not ASCII.
for my $table (qw(pairs whole_pairs))
{
	$coordinator->safe_psql('postgres', qq{
	INSERT INTO privpred.protected_relation (relation, relation_name, unit_columns, protects) VALUES ('$table', '$table', '{born,name}', 'rows');
	SELECT privpred.create_model('$table', '$table', label => 'y', classes => '{größer,kleiner}', features => '["x"]', learner => 'linear', teachers => 20, epsilon => 1);
	UPDATE privpred.model SET salt = '\\x000102030405060708090a0b0c0d0e0f' WHERE name = '$table';});
}
my $offset = -s $nodes[1]->logfile;
is($coordinator->safe_psql('postgres', q{SELECT count(privpred.retrain(name)) FROM privpred.model WHERE name LIKE '%pairs'; SELECT count(DISTINCT predictor::text) FROM privpred.model WHERE name LIKE '%pairs'}), "2\n1",
	'a unit of two columns');
like(slurp_file($nodes[1]->logfile, $offset), qr/partial_state/, 'by states');

# ---------- what goes wrong ----------

sub refused
{
	my ($what, $pattern, $setting) = @_;
	my $before = $coordinator->safe_psql('postgres', q{SELECT version, md5(predictor::text) FROM privpred.model WHERE name = 'linear_people'});
	my ($rc, $out, $err) = $coordinator->psql('postgres', ($setting // '') . q{SELECT privpred.retrain('linear_people')});
	isnt($rc, 0, "$what: refused");
	like($err, $pattern, "$what: and it says why");
	is($coordinator->safe_psql('postgres', q{SELECT version, md5(predictor::text) FROM privpred.model WHERE name = 'linear_people'}), $before, "$what: nothing is lost");
}

# Another type on the node would be another hash, and one unit would teach two teachers.
$nodes[0]->safe_psql('postgres', 'ALTER TABLE people ALTER id TYPE text');
refused('another type', qr/The type of column 1 is "pg_catalog.text" on the node, but was expected to be "integer"/);
$nodes[0]->safe_psql('postgres', 'ALTER TABLE people ALTER id TYPE int USING id::int');

# A node that is locked is waited for, and the wait can be cancelled.
my $blocker = $nodes[1]->background_psql('postgres') if $nodes[1]->can('background_psql');
my ($in, $out, $timer) = ('', '', IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default // 180));
my $session = ref $blocker ? undef : IPC::Run::start([ 'psql', '-XAtq', '-d', $nodes[1]->connstr('postgres'), '-f', '-' ], '<', \$in, '>', \$out, $timer);
if (!$session)
{
	$blocker->query_safe('BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE; SELECT 1');
}
else
{
	$in .= "BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n";
	$session->pump until $out =~ /locked/;
}
refused('cancel', qr/canceling statement due to statement timeout/, q{SET statement_timeout = '500ms'; });
ok($nodes[1]->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%partial_state%' AND state = 'active' AND pid <> pg_backend_pid()}), 'the node does not go on');
if ($session)
{
	$in .= "ROLLBACK;\n\\q\n";
	$session->finish;
}
else
{
	$blocker->query_safe('ROLLBACK');
	$blocker->quit;
}

$nodes[1]->stop('fast');
refused('a node is down', qr/could not connect to server "node2"/);
is($coordinator->safe_psql('postgres', q{SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 5); SELECT private_predict('linear_people', '{"ward": "A", "x": 0.9, "z": 0.5, "seen": "2020-06-01"}'::jsonb) IS NOT NULL}),
	"\nt", 'answers need no node');
$nodes[1]->start;
retrain_and_compare('the node is back');

# ---------- states that somebody made up ----------

# The checksum of the format, so that more than it is tried.
my @table = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;
sub crc32c
{
	my $crc = 0xFFFFFFFF;
	$crc = $table[($crc ^ $_) & 0xFF] ^ ($crc >> 8) for unpack('C*', $_[0]);
	return $crc ^ 0xFFFFFFFF;
}
my $state = 42;
sub arbitrary { $state = ($state * 1103515245 + 12345) & 0x7FFFFFFF; return ($state >> 8) % $_[0]; }
my $tried = '';
for my $learner (@learners)
{
	my $valid = decode_base64($coordinator->safe_psql('postgres', "SELECT privpred.partial_state(y, ARRAY[x, z, (ward = 'A')::int], '{\"learner\": \"$learner\"}') FROM whole WHERE id < 3"));
	is(unpack('V', substr($valid, 8, 4)), crc32c(substr($valid, 12)), "the checksum is CRC-32C: $learner");
	for (1 .. 700)
	{
		my $bytes = $valid;
		for (0 .. arbitrary(3))
		{
			my $at = 12 + arbitrary(length($bytes) - 12);
			my $how = arbitrary(4);
			substr($bytes, $at, 1) = chr(arbitrary(256)) if $how == 0;
			substr($bytes, $at, 1) = chr(ord(substr($bytes, $at, 1)) ^ (1 << arbitrary(8))) if $how == 1;
			substr($bytes, 12 + 4 * arbitrary(16), 4) = pack('V', arbitrary(2) ? arbitrary(12) : 0xFFFFFFFF - arbitrary(12)) if $how == 2;
			substr($bytes, $at, 8) = pack('d<', (0, -1e300, 1e300, 1e-310, 'NaN')[arbitrary(5)]) if $how == 3 && $at + 8 <= length($bytes);
		}
		substr($bytes, 8, 4) = pack('V', crc32c(substr($bytes, 12)));
		$tried .= encode_base64($bytes, '') . "\n";
	}
}
my $file = $coordinator->basedir . '/states';
append_to_file($file, $tried);
my $started = $coordinator->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $fuzzed = $coordinator->safe_psql('postgres', qq{
CREATE TABLE made_up (bytes text);
COPY made_up FROM '$file';
CREATE FUNCTION try(bytes text) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	RETURN CASE WHEN privpred.finish_state(bytes::privpred.training_state)::text::privpred.predictor IS NULL THEN 'null' ELSE 'fitted' END;
EXCEPTION WHEN invalid_text_representation OR invalid_binary_representation OR character_not_in_repertoire OR invalid_parameter_value OR out_of_memory THEN
	RETURN 'refused';
END \$\$;
SET statement_timeout = '1200s';
SELECT count(*) FILTER (WHERE try = 'refused') > 1000, count(*) FILTER (WHERE try <> 'refused') > 100 FROM (SELECT try(bytes) FROM made_up OFFSET 0) s});
is($fuzzed, 't|t', 'made-up states are refused or fitted');
is($coordinator->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'and the server goes on');
unlike(slurp_file($coordinator->logfile), qr/was terminated by signal|server process .* exited with exit code [^01]/, 'nothing crashed');

$_->stop for @nodes, $coordinator;
done_testing();
