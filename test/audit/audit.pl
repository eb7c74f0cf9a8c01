# privpred.audit() of every mechanism: no claim is violated.  Run by "make audit".
#
#	AUDIT_MODELS="a; b"		only these
#	AUDIT_MUTANT=name		the server is this mutant
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('audit');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = error\n");
$node->start;
sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (id int PRIMARY KEY, x float8, x2 float8, x3 float8, y text);
CREATE TABLE visits (visit int PRIMARY KEY, patient int NOT NULL, x float8, y text);
CREATE TABLE labels (LIKE people INCLUDING ALL);
CREATE TABLE public_points AS SELECT i / 10.0 AS x FROM generate_series(0, 10) i;
SELECT privpred.protect('people', declared_units => 2000);
SELECT privpred.protect('visits', unit => 'patient', declared_units => 2000, max_rows_per_unit => 3);
SELECT privpred.protect('labels', declared_units => 2000, protects => 'labels');
});

# name, mechanism, options, relation, epsilon, teachers, classes, columns, learner of a number
my @models = (
	[ 'vote', 'vote' ],
	[ 'vote, odd', 'vote', '{}', 'people', 1, 31 ],
	[ 'noisy max', 'vote', '{"noise": "gaussian"}' ],
	[ 'average', 'average' ],
	[ 'average, three', 'average', '{}', 'people', 0.6, 30, 'no,yes,perhaps' ],
	[ 'average, number', 'average', '{"target": {"min": 0, "max": 1}}', 'people', 1, 30, undef, undef, 'stump' ],
	[ 'median', 'median' ],
	[ 'sparse', 'sparse', '{}', 'people', 2 ],
	[ 'soft', 'soft', '{}', 'people', 2 ],
	[ 'soft, three', 'soft', '{}', 'people', 2, 30, 'no,yes,perhaps' ],
	[ 'threshold', 'threshold' ],
	[ 'threshold of visits', 'threshold', '{}', 'visits' ],
	[ 'threshold of three classes', 'threshold', '{}', 'people', 1, 0, 'no,yes,perhaps' ],
	[ 'threshold by vote', 'threshold', '{"combine": "vote"}', 'people', 1, 0, 'no,yes', 3 ],
	[ 'threshold by sum', 'threshold', '{"combine": "sum"}', 'people', 1, 0, 'no,yes', 3 ],
	[ 'stable_flip', 'stable_flip' ],
	[ 'relabel', 'relabel' ],
	[ 'cover', 'cover' ],
	[ 'cover of visits', 'cover', '{}', 'visits' ],
	[ 'label_private', 'label_private', '{}', 'labels' ],
	[ 'littlestone', 'littlestone' ],
	[ 'stable_erm', 'stable_erm' ],
	[ 'stable_erm, one pass', 'stable_erm', '{"solver": "sgd"}' ],
	[ 'gradient', 'gradient', '{"delta": 0.02}', 'people', 4 ],
	[ 'student', 'distill' ]);
my $total = 0;

if (defined $ENV{AUDIT_MODELS})
{
	my %wanted = map { s/^\s+|\s+$//gr => 1 } split /;/, $ENV{AUDIT_MODELS};
	@models = grep { delete $wanted{ $_->[0] } } @models;
	die "no such model: " . join('; ', keys %wanted) . "\n" if %wanted;
}
foreach my $model (@models)
{
	my ($name, $mechanism, $options, $relation, $epsilon, $teachers, $classes, $columns, $learner) = @$model;
	my ($compared, $start) = (0, 0);
	$options //= '{}';
	$relation //= 'people';
	$epsilon //= 1;
	$teachers ||= 30;
	$classes //= 'no,yes';
	my $features = join(', ', map { qq{"$_": {"min": 0, "max": 1}} } (qw(x x2 x3))[ 0 .. ($columns // 1) - 1 ]);
	if ($mechanism eq 'distill')
	{
		sql(q{SELECT privpred.create_model('teacher', 'people', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}', epsilon => 1);
			SELECT privpred.distill('student', 'teacher', 'public_points', 'stump')});
	}
	else
	{
		my $label = $learner ? "label => 'x', learner => '$learner'" : "label => 'y', classes => '{$classes}'";
		sql(qq{SELECT privpred.create_model('$name', '$relation', $label, features => '{$features}',
			mechanism => '$mechanism', teachers => $teachers, epsilon => $epsilon, options => '$options')});
	}
	$start = time;
	foreach my $line (split /\n/, sql(qq{SELECT pair, event, compared, claimed_epsilon, claimed_delta, epsilon_lower_bound, verdict FROM privpred.audit('$name')}))
	{
		my ($pair, $event, $how, $claim, $delta, $bound, $verdict) = split /\|/, $line;
		isnt($verdict, 'violated', "$name: $pair, $event: $how $claim" . ($delta > 0 ? " delta $delta" : '') . " (at least $bound, $verdict)");
		$compared++ if $verdict eq 'consistent';
	}
	$total += time - $start;
	cmp_ok($compared, '>', 0, "$name: something was compared") unless $ENV{AUDIT_MUTANT};
}
note(sprintf('%.0f s in privpred.audit', $total));
$node->stop;
done_testing();
