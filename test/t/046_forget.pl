# Forgetting: after a crash at any point there is the old version and no certificate, or the new one and its
# certificate; two sessions cannot undo each other; what analysts see over two versions; digests by another hand.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex sha256_hex);
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('forget');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'privpred'\nrestart_after_crash = on\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION privpred');
$node->safe_psql('postgres', q{
	CREATE ROLE ann LOGIN;
	CREATE TABLE people (id int NOT NULL, x float8, y text);
	INSERT INTO people SELECT i, i % 100 / 100.0, CASE WHEN i % 100 > 50 THEN 'b' ELSE 'a' END FROM generate_series(1, 1000) i;
	CREATE INDEX ON people (id);
	SET client_min_messages = error;
	SELECT privpred.protect('people', unit => 'id', declared_units => 1000, max_rows_per_unit => 1);
	SELECT privpred.create_model(n, 'people', 'y', '["x"]', classes => '{a,b}', learner => 'centroid', teachers => 10, epsilon => 0.5, options => '{"memoize": true}')
	FROM unnest('{one,two}'::text[]) n;
	SELECT privpred.grant_budget('ann', 'people', 10)});

sub sql { return $node->safe_psql('postgres', @_) }

# ---------- digests, by another hand ----------

my $number = sql(q{SELECT privpred.forget('people', 17, delete_rows => true) ->> 'certificate'});
my ($key, $nonce, $unit) = split /\|/, sql(qq{SELECT encode(k.key, 'hex'), encode(c.nonce, 'hex'), c.document ->> 'unit'
	FROM privpred.certificate c JOIN privpred.certificate_key k USING (relation_id) WHERE c.certificate_id = $number});
sub piece { my ($bytes) = @_; return pack('Q>', length($bytes)) . $bytes }
my $message = piece(pack('H*', $nonce)) . piece('unit') . piece(pack('q>', 17));
is($unit, hmac_sha256_hex($message, pack('H*', $key)), 'the unit is an HMAC with the secret key of its relation');
my $text = sql(qq{SELECT document::text FROM privpred.certificate WHERE certificate_id = $number});
is( sql(qq{SELECT privpred.certificate($number) IS NOT NULL}), 't', 'the certificate is chained');
is( sql(q{SELECT detail FROM privpred.ledger_entry WHERE kind = 'forget'}),
	"certificate $number sha256 " . sha256_hex($text),
	'its entry has the digest of its text');

# ---------- crashes ----------

# Where the session is when it is killed: a lock on one of our tables keeps it there, or nothing does.
my $victim = 100;
for my $place (qw(protected_relation model memo certificate ledger_outbox none))
{
	$victim++;
	my $before = sql(q{SELECT string_agg(version || md5(predictor::text), ' ' ORDER BY name) FROM privpred.model});
	my $certificates = sql(q{SELECT count(*) FROM privpred.certificate});
	my $keeper = $node->background_psql('postgres');
	my $mode = $place eq 'protected_relation' ? 'ACCESS EXCLUSIVE' : 'SHARE';
	$keeper->query_safe("BEGIN; LOCK TABLE privpred.$place IN $mode MODE") unless $place eq 'none';
	my $pid_file = $node->basedir . "/pid.$place";
	my $child = fork() // die "fork: $!";
	if ($child == 0)
	{
		exec('psql', '-XAtq', '-d', $node->connstr('postgres'), '-o', $pid_file,
			'-c', 'SELECT pg_backend_pid()', '-c', '\o',
			'-c', "SELECT privpred.forget('people', $victim, delete_rows => true)");
	}
	if ($place eq 'none')
	{
		waitpid($child, 0);
	}
	else
	{
		$node->poll_query_until('postgres',
			q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'SELECT privpred.forget%' AND wait_event_type = 'Lock'})
		  or die "nobody waits at $place";
	}
	my $pid = slurp_file($pid_file);
	chomp $pid;
	if ($place ne 'none')
	{
		# As kill -9 is, for everybody: the postmaster ends all sessions and recovers.
		kill 'KILL', $pid;
		waitpid($child, 0);
		eval { $keeper->quit };
	}
	else
	{
		$keeper->quit;
		$node->stop('immediate');
		$node->start;
	}
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
	my $after = sql(q{SELECT string_agg(version || md5(predictor::text), ' ' ORDER BY name) FROM privpred.model});
	my $now = sql(q{SELECT count(*) FROM privpred.certificate});
	my $rows = sql("SELECT count(*) FROM people WHERE id = $victim");
	my $chained = sql(q{SELECT (SELECT count(*) FROM privpred.ledger_entry WHERE kind = 'forget') + (SELECT count(*) FROM privpred.ledger_outbox WHERE kind = 'forget')});
	if ($place eq 'none')
	{
		isnt($after, $before, 'after it has answered: both models are new');
		is("$now $rows $chained", $certificates + 1 . ' 0 ' . ($certificates + 1), 'and there is a certificate, with its entry');
		is(sql("SELECT ok FROM privpred.verify_certificate(privpred.certificate($number)), (SELECT max(certificate_id) AS n FROM privpred.certificate) c"),
			't', 'certificates verify');
	}
	else
	{
		is($after, $before, "killed at $place: all models are as they were");
		is("$now $rows $chained", "$certificates 1 $certificates", "and nothing is certified or deleted");
	}
}
is(sql('SELECT ok FROM privpred.verify_ledger()'), 't', 'the ledger is whole');

# ---------- two at a time ----------

# Two units, in two chunks of either model, at the same time: neither comes back.
my ($first, $second) = split /\|/, sql(q{
	SELECT a.id, b.id FROM people a, people b WHERE NOT EXISTS (SELECT FROM privpred.model m
		WHERE privpred.teacher_of(a.id, m.salt, 10) = privpred.teacher_of(b.id, m.salt, 10)) LIMIT 1});
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN; SELECT privpred.forget('people', $first, delete_rows => true)");
my $other = $node->background_psql('postgres');
$other->query_until(qr/started/, "\\echo started\nSELECT privpred.forget('people', $second, delete_rows => true);\n");
my $third = $node->background_psql('postgres');
$third->query_until(qr/started/, "\\echo started\nSET client_min_messages = error; SELECT privpred.retrain('one');\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 2 FROM pg_stat_activity WHERE query ~ '(forget|retrain)\(' AND wait_event_type = 'Lock'})
  or die 'nobody waits';
$session->query_safe('COMMIT');
$_->query_safe('SELECT 1') for $other, $third;
$_->quit for $session, $other, $third;
my $together = sql(q{SELECT string_agg(md5(predictor::text), ' ' ORDER BY name) FROM privpred.model});
sql(q{SET client_min_messages = error; UPDATE privpred.model SET chunks = NULL; SELECT privpred.retrain(n) FROM unnest('{one,two}'::text[]) n});
is($together, sql(q{SELECT string_agg(md5(predictor::text), ' ' ORDER BY name) FROM privpred.model}), 'two who forget and one who retrains at once: nobody comes back');

# ---------- a unit that comes back in between ----------

# Its rows are committed after forget() has seen that it has none, and before the teacher is fitted; a lock on
# our keys keeps forget() there.  The certificate is about rows of one moment, and so is the model.
sql(q{
	CREATE TABLE late AS SELECT * FROM people;
	ALTER TABLE late ALTER id SET NOT NULL;
	SET client_min_messages = error;
	SELECT privpred.protect('late', unit => 'id', declared_units => 1000, max_rows_per_unit => 1);
	SELECT privpred.create_model('late', 'late', 'y', '["x"]', classes => '{a,b}', learner => 'centroid', teachers => 3, epsilon => 0.5)});
my $keeper = $node->background_psql('postgres');
$keeper->query_safe('BEGIN; LOCK TABLE privpred.certificate_key IN SHARE MODE');
my $forgets = $node->background_psql('postgres');
$forgets->query_until(qr/started/, "\\echo started\nSELECT privpred.forget('late', 500, delete_rows => true);\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'SELECT privpred.forget(''late%' AND wait_event_type = 'Lock'})
  or die 'nobody waits';
sql(q{INSERT INTO late VALUES (500, 0.0, 'b')});
$keeper->query_safe('COMMIT');
$forgets->query_safe('SELECT 1');
$_->quit for $keeper, $forgets;
my $in_between = sql(q{SELECT md5(predictor::text) FROM privpred.model WHERE name = 'late'});
my $from_scratch = q{SET client_min_messages = error; UPDATE privpred.model SET chunks = NULL WHERE name = 'late'; SELECT privpred.retrain('late') IS NULL;
	SELECT md5(predictor::text) FROM privpred.model WHERE name = 'late'};
isnt("f\n$in_between", sql($from_scratch), 'a unit that came in between is not in the model');
sql(q{DELETE FROM late WHERE id = 500});
is("f\n$in_between", sql($from_scratch), 'which is what it is without the unit');
sql(q{SELECT privpred.drop_model('late'); DROP TABLE late});

# ---------- over two versions ----------

# World 1 has the unit in its first version and forgets it; world 2 never had it, and is asked to forget it all
# the same.  Both have the same salt.  The first versions differ by one teacher's vote at most, the second ones
# by nothing; each answer is charged, in either version and in both worlds, and nothing is remembered.
sub world
{
	my ($has_unit) = @_;
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS world');
	$node->safe_psql('postgres', 'CREATE DATABASE world');
	my $seen = $node->safe_psql('world', q{
		CREATE EXTENSION privpred;
		CREATE TABLE people (id int NOT NULL, x float8, y text);
		INSERT INTO people SELECT i, i % 10 / 10.0, CASE WHEN i % 10 > 4 THEN 'b' ELSE 'a' END FROM generate_series(1, 60) i;
		INSERT INTO people SELECT 7777, 0, 'b' FROM generate_series(1, 100) } . ($has_unit ? '' : 'WHERE false') . q{;
		SET client_min_messages = error;
		SELECT privpred.protect('people', unit => 'id', declared_units => 100, max_rows_per_unit => 100);
		SELECT privpred.create_model('m', 'people', 'y', '["x"]', classes => '{a,b}', learner => 'centroid', teachers => 5, epsilon => 0.5, options => '{"memoize": true}');
		UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f';
		SELECT privpred.retrain('m');
		SELECT privpred.grant_budget('ann', 'people', 100)});
	my $votes = q{SELECT string_agg(privpred.votes(predictor, ARRAY[x::float8 / 10])::text, ' ' ORDER BY x) FROM privpred.model, generate_series(0, 10) x};
	my $members = q{SELECT predictor::text FROM privpred.model};
	my $ask = q{SET ROLE ann; SELECT count(private_predict('m', ARRAY[0.1])) FROM generate_series(1, 3)};
	my $paid = q{SELECT sum(answers) FROM privpred.ledger WHERE kind IN ('lease', 'settle')};
	my %world;
	$world{votes}[0] = $node->safe_psql('world', $votes);
	$node->safe_psql('world', $ask);
	$node->safe_psql('world', $ask);
	$world{paid}[0] = $node->safe_psql('world', $paid);
	$node->safe_psql('world', q{SELECT privpred.forget('people', 7777, delete_rows => true)});
	$world{votes}[1] = $node->safe_psql('world', $votes);
	$world{members} = $node->safe_psql('world', $members);
	$node->safe_psql('world', $ask);
	$world{paid}[1] = $node->safe_psql('world', $paid);
	$world{shown} = $node->safe_psql('world', q{SET ROLE ann; SELECT version, charge, released_accuracy FROM privpred.models});
	$world{size} = $node->safe_psql('world', q{SELECT octet_length(predictor::text), octet_length(chunks) FROM privpred.model});
	$world{ok} = $node->safe_psql('world', q{SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(1), '7777')});
	return \%world;
}
my ($with, $without) = (world(1), world(0));
sub distance	# the largest difference of votes for a class, over all questions
{
	my ($one, $two) = @_;
	my @one = $one =~ /"a": (\d+)/g;
	my @two = $two =~ /"a": (\d+)/g;
	my $most = 0;
	for my $i (0 .. $#one) { my $d = abs($one[$i] - $two[$i]); $most = $d if $d > $most }
	return $most;
}
is(distance($with->{votes}[0], $without->{votes}[0]), 1, 'first versions differ by one vote');
is($with->{votes}[1], $without->{votes}[1], 'second versions by none');
is($with->{members}, $without->{members}, 'nor by a byte');
is(distance($with->{votes}[0], $with->{votes}[1]), 1, 'in one world, versions differ by one vote: the others have stayed');
is(distance($without->{votes}[0], $without->{votes}[1]), 0, 'in the other, by none');
is($with->{$_}, $without->{$_}, "$_: the same in both") for qw(shown size ok);
is($with->{ok}, 't|', 'and the certificate verifies');
is("@{$_->{paid}}", '1 2', 'an answer is remembered within a version, and paid for again in the next') for $with, $without;

$node->stop;
done_testing();
