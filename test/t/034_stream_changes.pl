# Streams that change under those who use them: one that is closed while a student
# is being taught through it, and more in use than there is room for.
use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('changes');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.repeat_memory = 0
fsync = off
client_min_messages = error
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO people SELECT i, i / 100.0, CASE WHEN i > 50 THEN 'b' ELSE 'a' END FROM generate_series(1, 100) i;
SELECT privpred.protect('people');
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1e6, delta => 0.9, force => true);
CREATE TABLE points AS SELECT i / 10.0 AS x FROM generate_series(1, 9) i;
-- teachers that wait for a lock at 0.5
CREATE FUNCTION step(state float8, label text, x float8[]) RETURNS float8 IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT 1';
CREATE AGGREGATE train(text, float8[]) (SFUNC = step, STYPE = float8);
CREATE FUNCTION answer(state float8, x float8[]) RETURNS text IMMUTABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF x[1] = 0.5 THEN
		PERFORM pg_advisory_xact_lock_shared(1);
	END IF;
	RETURN 'a';
END $$;
SELECT privpred.create_model('waits', 'people', label => 'y', classes => '{a,b}', teachers => 9, mechanism => 'sparse',
	features => '{"x": {"min": 0, "max": 1}}', learner => 'sql', options => '{"train": "public.train", "predict": "public.answer"}');
SELECT privpred.open_stream('waits', 100, 5, 0.001);
});

# ---------- a stream that is closed, and another that takes its place ----------

my ($in, $out, $err) = ('', '', '');
my $holder = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \my $ignored);
$in = "SELECT pg_advisory_lock(1); SELECT 'held';\n";
IPC::Run::pump($holder) until $out =~ /held/;
my $teaching = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
	q{SELECT privpred.distill('student', 'waits', 'points', 'stump') ->> 'labels'} ],
	'>', \my $taught, '2>', \$err);
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}),
	'a student is being taught');
sql(q{SELECT privpred.close_stream('waits'); SELECT privpred.open_stream('waits', 1, 0.001, 1e-18)});
$in = "SELECT pg_advisory_unlock(1);\n\\q\n";
$holder->finish;
$teaching->finish;
like($err, qr/another took its place/, 'a student of two streams is not priced as one of the last');
is($taught, '', 'nor made');
is(sql(q{SELECT count(*) FROM privpred.models WHERE name = 'student'}), 0, 'nor kept');
# the other was used up at once
sql(q{SELECT privpred.open_stream('waits', 100, 5, 0.001)});
like(sql(q{SELECT privpred.distill('student', 'waits', 'points', 'stump') ->> 'labels'}), qr/^\d$/, 'one of one stream is');
is(sql(q{SELECT charge FROM privpred.models WHERE name = 'student'}), '100 x pure 5, delta 0.1', 'at the price of the stream');

# ---------- more streams than boards for one role ----------

my $boards = 32;		# what a role may have of 64
sql(qq{SELECT privpred.create_model('m' || i, 'people', label => 'y', classes => '{a,b}', teachers => 3, mechanism => 'sparse',
	features => '{"x": {"min": 0, "max": 1}}', learner => 'centroid') FROM generate_series(0, $boards) i});
sql(qq{SELECT count(privpred.open_stream('m' || i, 10, 1, 0.0001)) FROM generate_series(0, $boards) i});
sql(q{CREATE FUNCTION ask(tries int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcomes text[];
	answer text;
BEGIN
	FOR i IN 1 .. tries LOOP
		BEGIN
			answer := private_predict('m0', ARRAY[0.1]);
			outcomes := outcomes || text 'answered';
		EXCEPTION WHEN OTHERS THEN
			outcomes := outcomes || SQLSTATE::text;
		END;
	END LOOP;
	RETURN array_to_string(outcomes, ' ');
END $$});
my $cursors = join('', map {
	qq{DECLARE c$_ CURSOR FOR SELECT private_predict('m$_', ARRAY[0.1]) FROM generate_series(1, 3); MOVE 1 FROM c$_;\n}
} 1 .. $boards);
is(sql(qq{BEGIN; $cursors SELECT ask(3); CLOSE c1; SELECT ask(3); COMMIT}),
	"53000 53000 53000\nanswered answered answered", 'a call site that found no room asks again');
is(sql(q{SELECT ask(1)}), 'answered', 'later, too');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger is sound');
$node->stop;
done_testing();
