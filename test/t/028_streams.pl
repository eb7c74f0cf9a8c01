# Streams through the real SQL path: as many unstable answers as were bought, soft
# scores, more streams than boards.  (What a run loses is in test/audit/.)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Privpred::Conformance ();
use Privpred::Stats qw(sized_counts);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $teachers = 41;
my $epsilon = 2;
my $delta = 0.02;		# of a run; tiny ones cannot be audited

my $node = PostgreSQL::Test::Cluster->new('streams');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.max_answers_per_statement = -1
privpred.repeat_memory = 0
fsync = off
client_min_messages = error
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# Each teacher is a stump with a threshold of its own, so that the question
# chooses how many say b.  Some may be turned round.
sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (visit int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, id int NOT NULL, x float8 NOT NULL, y text NOT NULL);
SELECT privpred.protect('people', unit => 'id');
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1e6, delta => 0.99, force => true);
CREATE FUNCTION fill(model text, turned int[]) RETURNS void LANGUAGE sql AS $$
TRUNCATE people;
WITH chosen AS (
	SELECT DISTINCT ON (t) id, t, 100 + 10 * t AS threshold
	FROM (SELECT id, privpred.teacher_of(id, m.salt, m.teachers) AS t
	      FROM generate_series(1, 2000) id, privpred.model m WHERE m.name = $1) s
	ORDER BY t, id)
INSERT INTO people (id, x, y)
SELECT id, threshold + side, CASE WHEN (side > 0) <> (t = ANY ($2)) THEN 'b' ELSE 'a' END
FROM chosen, unnest(ARRAY[-1, 1]) side;
SELECT privpred.retrain($1);
$$;
-- in how many of n runs a tie, asked first, has a label
CREATE FUNCTION stable_ties(question text, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	events int := 0;
	stable bool;
BEGIN
	FOR i IN 1 .. n LOOP
		EXECUTE question INTO stable;
		CONTINUE WHEN NOT stable;
		events := events + 1;
		WHILE stable LOOP
			EXECUTE question INTO stable;
		END LOOP;
	END LOOP;
	RETURN events;
END $$;
});

sub make_model
{
	my ($name, $mechanism, %more) = @_;
	my $options = $more{options} // '{}';
	sql(qq{SELECT privpred.create_model('$name', 'people', label => 'y', classes => '{a,b}',
		features => '{"x": {"min": 0, "max": 1000}}', mechanism => '$mechanism', learner => 'stump',
		teachers => $teachers, epsilon => $epsilon, options => '$options')});
}


# No budget has room for thousands of runs with such a delta: one run is bought,
# and the number of them changed behind everybody's back.
sub open_endless
{
	my ($name, $of_run) = @_;
	sql(qq{SELECT privpred.open_stream('$name', 1, $epsilon, $of_run);
		UPDATE privpred.stream SET unstable_limit = 1000000 WHERE status = 'open'});
}

# ---------- ties ----------

# At 305, 21 teachers say b and 20 a; one of them turned, the other way round.
sub stable_ties
{
	my ($name, $call, $of_run, $n) = @_;
	open_endless($name, $of_run);
	my $labels = sql(qq{SELECT stable_ties('SELECT $call(''$name'', ARRAY[305.0]) IS NOT NULL', $n)});
	sql(qq{SELECT privpred.close_stream('$name')});
	return $labels;
}
make_model('tie', 'sparse');
sql(q{SELECT fill('tie', '{}')});
is(sql(q{SELECT privpred.votes(predictor, ARRAY[0.305]) FROM privpred.model WHERE name = 'tie'}), '{"a": 20, "b": 21}', 'a tie, but for one');

# ---------- as many unstable answers as were bought ----------

# How often a question is answered, with or without a label, before it is refused.
sub answers_until_refused
{
	my ($call) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set FETCH_COUNT 1\nSELECT 'answer' FROM generate_series(1, 100) WHERE $call IS NULL");
	my $answers = () = $out =~ /answer/g;
	return "$answers, " . ($err =~ /is used up/ ? 'used up' : "not used up: $err");
}
sql(q{SELECT privpred.open_stream('tie', 5, 2, 1e-12)});
is(answers_until_refused(q{private_predict('tie', ARRAY[305.0])}), '5, used up', 'all ties: 5 unstable answers and no more');
is(sql(q{SELECT unstable_used, unstable_limit, status FROM privpred.streams ORDER BY stream DESC LIMIT 1}), '5|5|used up', 'as the view says');
is(sql(q{SELECT count(*) FROM privpred.ledger WHERE kind = 'unstable' AND detail LIKE 'stream % of 5 unstable answers'}), 5, 'and the ledger');

# ---------- soft ----------

# Stumps give 0 or 1, so that no score is in the shifted bins.
make_model('soft', 'soft');
sql(q{SELECT fill('soft', '{}')});
sql(q{SELECT privpred.open_stream('soft', 5, 2, 1e-12)});
is(answers_until_refused(q{private_score('soft', ARRAY[305.0])}), '3, used up', 'soft: each failed test counts, and the last is not followed by another');
is(sql(q{SELECT count(*) FROM privpred.ledger WHERE kind = 'unstable' AND model = 'soft'}), 5, 'soft: five in all');
my $half_width = Privpred::Conformance::tie_of($epsilon, $delta, 2);
my (undef, $most) = sized_counts('soft: a threshold of half the width', 500, 2 * $delta, 'most', 1 - (1 - $half_width)**2);
my $labels = stable_ties('soft', 'private_score', $delta, 500);
cmp_ok($labels, '<=', $most, "soft: two tests, twice delta at most ($labels of 500)");
my $tests = sql(q{SELECT unstable_used FROM privpred.streams WHERE model = 'soft' ORDER BY stream DESC LIMIT 1});
cmp_ok($tests, '>=', 900, "soft: both tests fail on a tie ($tests failures)");
open_endless('soft', $delta);
is(sql(q{SELECT string_agg(DISTINCT private_score('soft', ARRAY[90.0])::text, ',') FROM generate_series(1, 20)}), '0.05', 'soft: teachers that agree');
# One in three thousand such answers is unstable, all of five in 10^17.
is(sql(q{SELECT max(private_score('soft', ARRAY[990.0], 0.25)) FROM generate_series(1, 5)}), '0.875', 'soft: at the precision that is asked for');

# ---------- more streams than boards ----------

sql(q{SELECT count(privpred.create_model('many ' || i, 'people', label => 'y', classes => '{a,b}', features => '["x"]',
	mechanism => 'sparse', learner => 'stump', teachers => 5, epsilon => 1)) FROM generate_series(1, 65) i});
sql(q{SELECT count(privpred.open_stream('many ' || i, 5, 2, 1e-4)) FROM generate_series(1, 65) i});
# Half of the boards are what a role may have at the same time; whoever catches the error and asks
# again holds nothing, and another role has its answers.
sql(q{
CREATE ROLE neighbour LOGIN;
SELECT privpred.grant_budget('neighbour', 'people', epsilon => 1000, delta => 0.99, force => true);
CREATE FUNCTION hold(streams int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	held int := 0;
	refused int := 0;
	c refcursor;
BEGIN
	FOR i IN 1 .. streams LOOP
		BEGIN
			c := NULL;
			OPEN c FOR SELECT private_predict('many ' || i, ARRAY[990.0]);
			MOVE c;
			held := held + 1;
		EXCEPTION WHEN insufficient_resources THEN
			refused := refused + 1;
		END;
	END LOOP;
	RETURN format('%s held, %s refused', held, refused);
END $$;
SET ROLE neighbour;
SELECT privpred.open_stream('many 65', 5, 2, 1e-4);
});
my $greedy = $node->background_psql('postgres', on_error_stop => 0);
$greedy->query('BEGIN');
is($greedy->query('SELECT hold(64)'), '32 held, 32 refused', 'half of the boards for one role');
is(sql(q{SET ROLE neighbour; SELECT count(coalesce(private_predict('many 65', ARRAY[990.0]), 'unstable')) FROM generate_series(1, 3)}), 3,
	'the rest for others');
is($greedy->query('SELECT hold(65)'), '32 held, 33 refused', 'those that are in use can be used again');
$greedy->query('COMMIT');
$greedy->quit;
is(sql(q{SELECT count(coalesce(private_predict('many 65', ARRAY[990.0]), 'unstable')) FROM generate_series(1, 3)}), 3, 'and for the role itself once they are free');
# This waits for what sessions left behind.
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the ledger adds up');
is(sql(q{SELECT sum(holders) FROM privpred.stream}), 0, 'nobody holds any of them');
$node->stop;
done_testing();
