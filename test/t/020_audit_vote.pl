# Audits of "vote" and "average" through the real SQL path: neighbouring tables, many
# answers each, and a lower bound on epsilon that must not exceed the claim.
# Each audit is repeated against a mutant, a model that spends twice what the
# audit is told, and must catch it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Privpred::Stats qw(audit_epsilon clopper_pearson_lower clopper_pearson_upper);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# False alarms: at most this often for each bound.
my $alpha = 1e-8;

my $node = PostgreSQL::Test::Cluster->new('audit');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.max_answers_per_statement = 1000000
fsync = off
client_min_messages = warning
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# A teacher that repeats the label of the row with x = 1, so that the votes are
# known; the other rows are there because a teacher with one class only is not
# asked.
sql(q{
CREATE EXTENSION privpred;
CREATE FUNCTION echo_step(state text, label text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT CASE WHEN x[1] = 1 THEN label ELSE state END';
CREATE AGGREGATE echo_train(text, float8[]) (SFUNC = echo_step, STYPE = text);
CREATE FUNCTION echo_predict(state text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT state';
CREATE TABLE people (id int NOT NULL, x float8 NOT NULL DEFAULT 0, y text);
SELECT privpred.protect('people', unit => 'id');
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1e6);
});

# One unit per teacher: the salt is public, so such ids can be found.
sub make_model
{
	my ($name, $teachers, $classes, $epsilon, $mechanism) = @_;
	$mechanism //= 'vote';
	sql(qq{SELECT privpred.create_model('$name', 'people', label => 'y', classes => '{$classes}', features => '["x"]',
		mechanism => '$mechanism', teachers => $teachers, epsilon => $epsilon, learner => 'sql',
		options => '{"train": "public.echo_train", "predict": "public.echo_predict"}')});
}

sub set_votes
{
	my ($name, @labels) = @_;
	my $list = join(',', @labels);
	sql(qq{
TRUNCATE people;
WITH chosen AS (
SELECT DISTINCT ON (t) id, (string_to_array('$list', ','))[t + 1] AS label
FROM (SELECT id, privpred.teacher_of(id, m.salt, m.teachers) AS t
      FROM generate_series(1, 1000) id, privpred.model m WHERE m.name = '$name') s
ORDER BY t, id)
INSERT INTO people (id, x, y)
SELECT id, 1, label FROM chosen UNION ALL SELECT id, 0, CASE label WHEN 'a' THEN 'b' ELSE 'a' END FROM chosen;
SELECT privpred.retrain('$name');
});
	is(sql(q{SELECT count(DISTINCT id) FROM people}), scalar(@labels), "$name: one unit for each teacher");
}

sub answers
{
	my ($name, $n) = @_;
	my %counts;
	foreach my $line (split /\n/, sql(qq{SELECT a, count(*) FROM
			(SELECT private_predict('$name', ARRAY[0.0]) a FROM generate_series(1, $n)) s GROUP BY a}))
	{
		my ($answer, $count) = split /\|/, $line;
		$counts{$answer} = $count;
	}
	return \%counts;
}

# Draws from a table and its neighbour, one unit's label changed.
sub audit
{
	my ($name, $epsilon, $classes, $draws, $before, $after, $mechanism) = @_;
	my @classes = split /,/, $classes;

	make_model($name, scalar(@$before), $classes, $epsilon, $mechanism);
	set_votes($name, @$before);
	my $from = answers($name, $draws);
	set_votes($name, @$after);
	my $to = answers($name, $draws);
	sql(qq{SELECT privpred.drop_model('$name')});
	return audit_epsilon($draws, $from, $to, $alpha, outputs => scalar(@classes));
}

my @cases = (
	# name, classes, votes, votes of the neighbour
	[ 'even, a tie', 'a,b', [qw(a a b b)], [qw(a a a b)] ],
	[ 'odd, gap 1 to -1', 'a,b', [qw(a a b)], [qw(a b b)] ],
	[ 'odd, gap 1 to 3', 'a,b', [qw(a a b)], [qw(a a a)] ],
	[ 'three classes', 'a,b,c', [qw(a a b b)], [qw(a a a b)] ],
	[ 'average', 'a,b', [qw(a a a b)], [qw(a a b b)], 'average' ],
);
my $epsilon = 1;
my $draws = 6000;

foreach my $case (@cases)
{
	my ($name, $classes, $before, $after, $mechanism) = @$case;
	my $bound = audit($name, $epsilon, $classes, $draws, $before, $after, $mechanism);
	cmp_ok($bound, '<=', $epsilon, "$name: epsilon $epsilon holds (lower bound $bound)");
	next if defined $mechanism;
	my $mutant = audit("$name, twice", 2 * $epsilon, $classes, $draws, $before, $after);
	cmp_ok($mutant, '>', $epsilon, "$name: spending twice is caught (lower bound $mutant)");
}

# The average's mutant has no clip: none against one of four would be told
# apart at any epsilon, so the clipped answer must not be "never".
make_model('clip', 4, 'a,b', $epsilon, 'average');
set_votes('clip', qw(a a a a));
my $never = answers('clip', 2000)->{b} // 0;
cmp_ok(clopper_pearson_upper($never, 2000, $alpha), '>=', 0.25, "average: unanimous teachers are clipped to 1/4 ($never of 2000)");
cmp_ok(clopper_pearson_lower($never, 2000, $alpha), '<=', 0.25, 'average: and no further');

# The distribution itself, at a tie and one flip away: 1/2 and exp(-epsilon)/2.
make_model('law', 4, 'a,b', $epsilon);
foreach my $law ([ [qw(a a b b)], 0.5 ], [ [qw(a a a b)], exp(-$epsilon) / 2 ], [ [qw(a a a a)], exp(-2 * $epsilon) / 2 ])
{
	my ($votes, $expected) = @$law;
	set_votes('law', @$votes);
	my $count = answers('law', 20000)->{b} // 0;
	cmp_ok(clopper_pearson_lower($count, 20000, $alpha), '<=', $expected, "@$votes: not too rarely b ($count)");
	cmp_ok(clopper_pearson_upper($count, 20000, $alpha), '>=', $expected, "@$votes: not too often b ($count)");
}

# Rows of one unit, however many, move one vote: a unit with a thousand rows in
# the place of one with one row.
sql(q{
CREATE TABLE visits (visit int PRIMARY KEY, patient int NOT NULL, x float8 NOT NULL DEFAULT 0, y text);
SELECT privpred.protect('visits', unit => 'patient');
INSERT INTO visits SELECT i, i, 1, 'a' FROM generate_series(1, 500) i;
INSERT INTO visits SELECT i, i, 0, 'b' FROM generate_series(501, 900) i;
SELECT privpred.create_model('visits', 'visits', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 50, epsilon => 1,
	learner => 'sql', options => '{"train": "public.echo_train", "predict": "public.echo_predict"}');
});
my $votes_before = sql(q{SELECT privpred.votes(predictor, ARRAY[0.0]) FROM privpred.model WHERE name = 'visits'});
sql(q{
DELETE FROM visits WHERE patient = 7;
INSERT INTO visits SELECT i, 7, 1, 'b' FROM generate_series(1000, 1999) i;
SELECT privpred.retrain('visits');
});
my $moved = sql(q{SELECT coalesce((privpred.votes(predictor, ARRAY[0.0]) ->> 'b')::int, 0) FROM privpred.model WHERE name = 'visits'});
cmp_ok($moved, '<=', 1, "a thousand rows of one unit move at most one vote ($votes_before, then $moved)");

$node->stop;
done_testing();
