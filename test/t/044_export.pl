# The page of Python in docs/export.md says what the server says, of every kind of released model and
# feature, on random rows, bounds, cuts and NULL; and it refuses what the server refuses.
use strict;
use warnings;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = slurp_file('docs/export.md');
my @blocks = $page =~ /^```python\n(.*?)^```$/msg;
is(scalar @blocks, 1, 'docs/export.md has one program');

my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/evaluate.py", $blocks[0]);

my $node = PostgreSQL::Test::Cluster->new('export');
$node->init;
# The export does not depend on how sessions write times and numbers.
$node->append_conf('postgresql.conf', "timezone = 'Asia/Kolkata'\ndatestyle = 'German'\nextra_float_digits = 0\n");
$node->start;

my %features = (
	all => q({"age": {"min": 18, "max": 80, "null": {"fill": 33}}, "dose": {"min": -0.1, "max": 11.7, "cuts": [0.3, 2.7, 5], "null": "none"},
		"since": {"min": "2000-02-29", "max": "2012-12-31", "cuts": ["2002-02-02", "2003-03-02"], "null": {"fill": "2003-03-03"}}, "seen": {"min": "2020-01-01 00:00:00.5", "max": "2020-07-01", "cuts": 7},
		"at": {"min": "2020-01-01 12:00:00+05", "max": "2020-06-30 23:59:59.999999Z", "null": {"fill": "2020-02-02 02:02:02Z"}},
		"ward": {"levels": ["A", "B", "C", "D"], "null": {"fill": "C"}}, "bed": {"levels": [0, 1, 2, 3], "null": "none"}, "smoker": {"null": {"fill": true}}, "mood": {}}),
	few => q({"age": {"min": 0, "max": 100, "null": {"fill": 33}}, "dose": {"min": -0.1, "max": 11.7}, "smoker": {}, "ward": {"levels": ["A", "B", "C"]}}),
	missing => q({"age": {"min": 0, "max": 100, "null": "missing"}, "dose": {"min": -0.1, "max": 11.7}, "smoker": {}, "ward": {"levels": ["A", "B", "C"], "null": "missing"}}),
	box => q({"age": {"min": 0, "max": 90}, "since": {"min": "2000-01-01", "max": "2013-12-31"}, "smoker": {}}),
	plane => q({"age": {"min": 0, "max": 90}, "dose": {"min": 0, "max": 12}, "smoker": {}}),
	age => q({"age": {"min": 0, "max": 90}}),
	ward => q({"ward": {"levels": ["A", "B", "C"]}}));

# Name, label, features, mechanism, options.
my @models = (
	[ 'logistic', 'two', 'all', 'gradient' ],
	[ 'softmax', 'three', 'all', 'gradient' ],
	[ 'huber', 'height', 'all', 'gradient', '{"target": {"min": 60.5, "max": 190}}' ],
	[ 'thresholds', 'two', 'age', 'cover', '{"class": "thresholds"}' ],
	[ 'intervals', 'middling', 'age', 'cover', '{"class": "intervals"}' ],
	[ 'stumps', 'two', 'few', 'cover', '{"class": "stumps"}' ],
	[ 'rectangles', 'middling', 'box', 'cover', '{"class": "rectangles"}' ],
	[ 'halfspaces', 'two', 'plane', 'cover', '{"class": "halfspaces"}' ],
	[ 'a cut of three', 'three', 'few', 'cover', '{"class": "stumps"}' ],
	[ 'a box of three', 'three', 'box', 'cover', '{"class": "rectangles"}' ],
	[ 'a halfspace of three', 'three', 'plane', 'cover', '{"class": "halfspaces"}' ],
	[ 'points of three', 'mood', 'ward', 'cover', '{"class_table": "public.numbered"}' ],
	[ 'levels', 'in_b', 'ward', 'littlestone', '{"class_table": "public.singles"}' ],
	[ 'parts', 'two', 'age', 'littlestone', '{"class": "thresholds", "points": 16}' ],
	[ 'teachers', 'two', 'few', 'vote' ], [ 'of three', 'three', 'few', 'vote' ], [ 'of missing', 'three', 'missing', 'vote' ],
	[ 'of height', 'height', 'few', 'average', '{"target": {"min": 50, "max": 250}}' ]);
my %classes = (three => '{low,"mid \"dle\"",high}', height => undef, mood => undef);

$node->safe_psql('postgres', q[
SET client_min_messages = error;
CREATE EXTENSION privpred;
CREATE TYPE mood AS ENUM ('sad', 'all right', 'happy');
CREATE TABLE people (id int PRIMARY KEY, age int, dose float8, since date, seen timestamp, at timestamptz, ward text,
	bed int, smoker bool, mood mood, two text, three text, middling text, in_b text, height float8);
INSERT INTO people SELECT i, age, dose, DATE '2000-01-01' + i % 5000, TIMESTAMP '2020-01-01' + i * interval '1.25 hours',
	TIMESTAMPTZ '2020-01-01Z' + i * interval '61 minutes', chr(65 + i % 3), i % 4, i % 5 = 0, (enum_range(NULL::mood))[1 + i % 3],
	CASE WHEN age > 45 THEN 'yes' ELSE 'no' END, (ARRAY['low', 'mid "dle"', 'high'])[1 + age / 30],
	CASE WHEN age BETWEEN 20 AND 60 THEN 'yes' ELSE 'no' END, CASE WHEN i % 3 = 1 THEN 'yes' ELSE 'no' END, 100 + age - dose
	FROM (SELECT i, i % 90 AS age, i % 37 / 3.0 AS dose FROM generate_series(1, 20000) i) s;
CREATE TABLE singles AS SELECT h AS hypothesis, p AS point, (h = p)::int AS label FROM unnest('{A,B,C}'::text[]) h, unnest('{A,B,C}'::text[]) p;
CREATE TABLE numbered AS SELECT h AS hypothesis, p AS point, (h / 3 ^ (ascii(p) - 65))::int % 3 AS label FROM generate_series(0, 26) h, unnest('{A,B,C}'::text[]) p;
SELECT privpred.protect('people', declared_units => 20000);
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1e6, delta => 0.01);
CREATE TABLE pool AS SELECT age, dose, smoker, ward FROM people WHERE id <= 500;
CREATE TABLE gaps AS SELECT NULLIF(age, 7) AS age, dose, smoker, NULLIF(ward, 'B') AS ward FROM pool;
CREATE FUNCTION ask(model text, question jsonb) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	score float8;
BEGIN
	IF model !~ 'huber|height' THEN answer := private_predict(model, question); END IF;
	IF model IN ('logistic', 'softmax', 'huber') OR model ~ 'height' THEN score := private_score(model, question); END IF;
	RETURN json_build_array(answer, score);
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN json_build_object('refused', SQLERRM);
END $$;
] . join('', map {
	my ($name, $label, $features, $mechanism, $options) = @$_;
	my $classes = exists $classes{$label} ? $classes{$label} : '{no,yes}';
	"SELECT privpred.create_model('$name', 'people', label => '$label', classes => " . ($classes ? "'$classes'" : 'NULL') . ", features => '$features{$features}', mechanism => '$mechanism',"
	. " options => '" . ($options || '{}') . "', epsilon => 5" . ($mechanism eq 'vote' ? ", teachers => 100, learner => 'tree'" : $mechanism eq 'average' ? ", teachers => 100, learner => 'linear'" : '') . ");\n"
} @models));

my $boost = $node->psql('postgres', q[SELECT privpred.boost(two, ARRAY[age]::float8[]) FROM people WHERE id < 100]) == 0;
my @students = ((map { [ $_, 'teachers', 'pool' ], [ $_, 'of three', 'pool' ] } qw(logistic linear svm centroid naive_bayes stump knn tree), $boost ? qw(boost forest) : ()),
	(map { [ $_, 'of height', 'pool' ] } qw(linear stump knn tree), $boost ? qw(boost forest) : ()),
	(map { [ $_, 'of missing', 'gaps' ] } 'tree', $boost ? 'boost' : ()));
$node->safe_psql('postgres', join('', map { my ($learner, $teacher, $rows) = @$_; "SELECT privpred.distill('$learner $teacher', '$teacher', '$rows', '$learner');\n" } @students));

srand(44);
my $coder = JSON::PP->new->allow_nonref->canonical;

sub random_value
{
	my ($feature) = @_;
	my $of = sub { $_[ int rand @_ ] };

	return undef if rand() < 0.2 && ($feature->{missing} || $feature->{none} || exists $feature->{fill});
	return $of->(@{ $feature->{levels} }) if $feature->{kind} eq 'category';
	return rand() < 0.5 ? JSON::PP::true : JSON::PP::false if $feature->{kind} eq 'boolean';
	return $of->($feature->{min}, $feature->{max}, @{ $feature->{cuts} || [] }) if rand() < 0.2;
	return sprintf('%d-%02d-%02d', 1998 + rand 18, 1 + rand 12, 1 + rand 28) if ($feature->{type} || '') eq 'date';
	return sprintf('20%d-%02d-%02dT%02d:%02d:%02d.%06d%s', 19 + rand 3, 1 + rand 12, 1 + rand 28, rand 24, rand 60, rand 60, rand 1e6, $feature->{type} eq 'timestamptz' ? $of->('+00:00', '-03:30') : '')
		if $feature->{type};
	return int(rand 120) - 10 if rand() < 0.5;
	return $feature->{min} + ($feature->{max} - $feature->{min}) * (rand(1.4) - 0.2);
}

# Rows that are refused, one for each way in which a feature can be wrong.
sub wrong_rows
{
	my (@features) = @_;
	my @rows;

	for my $feature (@features)
	{
		my %good = map { $_->{name} => random_value($_) } @features;
		my @bad = $feature->{kind} eq 'category' ? ('Z', 99, [], 'a') : $feature->{kind} eq 'boolean' ? ('true', 1, 'yes') : (JSON::PP::true, $feature->{type} ? 'soon' : '12', {});

		push @bad, undef unless $feature->{missing} || $feature->{none} || exists $feature->{fill};
		push @rows, map { { %good, $feature->{name} => $_ } } @bad;
		delete $good{ $feature->{name} };
		push @rows, \%good;
	}
	return @rows;
}

my %kinds;
for my $name ((map { $_->[0] } grep { $_->[3] !~ /^(vote|average)$/ } @models), map { "$_->[0] $_->[1]" } @students)
{
	my $file = "$dir/" . $name =~ tr/ /_/r;
	my $json = $node->safe_psql('postgres', "SELECT privpred.read_model('$name')");
	my $model = $coder->decode($json);
	my $predictor = $model->{predictor};
	my @features = @{ $model->{features} };
	my @rows = map { $coder->encode($_) } (map { +{ map { $_->{name} => random_value($_) } @features } } 1 .. 200), wrong_rows(@features);
	my ($wrong, $refused, %answers) = (0, 0);

	is($node->safe_psql('postgres', "SELECT privpred.export_model('$name')"), $json, "$name: what is read is what is exported");
	$kinds{ $_->{kind} }++ for $predictor->{members} ? @{ $predictor->{members} } : $predictor;
	append_to_file("$file.json", $json);
	append_to_file("$file.rows", join('', map { "$_\n" } @rows));
	run_log([ 'python3', "$dir/evaluate.py", "$file.json" ], '<', "$file.rows", '>', "$file.out") or fail("$name: python3 failed");
	my @mine = map { $coder->decode($_) } split /\n/, slurp_file("$file.out");
	my @servers = map { $coder->decode($_) } split /\n/, $node->safe_psql('postgres', join('', "SET extra_float_digits = 1;", map { "SELECT ask('$name', \$q\$$_\$q\$);\n" } @rows));

	for my $i (0 .. $#rows)
	{
		my ($mine, $server) = ($mine[$i], $servers[$i]);

		if (ref $server eq 'HASH' || ref $mine eq 'HASH')
		{
			$refused++;
			next if ref $server eq 'HASH' && ref $mine eq 'HASH';
		}
		else
		{
			$answers{ $server->[0] // $server->[1] }++;
			next if ($mine->[0] // '') eq ($server->[0] // '') && defined $mine->[1] == defined $server->[1]
				&& (!defined $mine->[1] || abs($mine->[1] - $server->[1]) <= 1e-12 * (1 + abs $server->[1]));
		}
		$wrong++;
		diag("$name: $rows[$i] gives " . $coder->encode($mine) . ', not ' . $coder->encode($server));
	}
	is($wrong, 0, "$name: as the server says");
	is($refused, @rows - 200, "$name: wrong rows alone are refused");
	cmp_ok(scalar keys %answers, '>', 1, "$name: says more than one thing");
}
is(join(' ', sort keys %kinds), 'box cut forest gaussian levels linear neighbours parts stump', 'models of all kinds');

done_testing();
