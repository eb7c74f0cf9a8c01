# Audit of "gradient" through the real SQL path: two tables that differ in one
# unit, many models each, of a single step, and the question that tells the
# unit's label best.
#
# Tiny deltas cannot be audited, and the conversion from Rényi divergence leaves
# slack that would hide a doubled sensitivity.  So the claim is taken where it
# is tight: whoever pays (epsilon, delta) pays for Gaussian noise with
# (sensitivity / sigma)^2 = 2 rho, and no event may then tell the tables apart by
# more than the total variation between two such Gaussians.  rho is computed here
# anew, from the formula of the book's section 1.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use List::Util qw(max);
use Privpred::Stats qw(audit_epsilon clopper_pearson_lower clopper_pearson_upper);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# False alarms: at most this often for each bound.
my $alpha = 1e-8;
my ($epsilon, $delta, $draws) = (4, 0.02, 700);

# The standard normal distribution function, by its series.
sub normal_cdf
{
	my ($x) = @_;
	my ($term, $sum) = ($x, $x);
	for my $i (1 .. 200)
	{
		$term *= $x * $x / (2 * $i + 1);
		$sum += $term;
	}
	return 0.5 + $sum * exp(-$x * $x / 2) / sqrt(8 * atan2(1, 1));
}

# How far apart Gaussians are whose means differ by mu standard deviations.
sub total_variation { return 2 * normal_cdf($_[0] / 2) - 1 }

sub held
{
	my ($order) = @_;
	return ($epsilon + log($order / ($order - 1)) - (log(2 / $delta) - log($order)) / ($order - 1)) / $order;
}

my $rho = max(map { held(1 + 1.001**$_) } -5000 .. 10000);
my $mu = sqrt(2 * $rho);
my $claim = total_variation($mu);

my $node = PostgreSQL::Test::Cluster->new('audit_gradient');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = warning\nprivpred.max_answers_per_statement = 1000000\n");
$node->start;
sub sql { return $node->safe_psql('postgres', $_[0]) }

# A small clip, so that the unit's gradient is clipped whatever its label is;
# where it points is the same, so the question at its own features sees it
# best.
sql(q{
CREATE EXTENSION privpred;
CREATE FUNCTION draws(model text, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		PERFORM privpred.retrain(model);
		RETURN NEXT private_predict(model, ARRAY[1.0]);
	END LOOP;
END $$;
});

sub answers
{
	my ($model) = @_;
	my %counts = map { split /\|/ } split /\n/, sql(qq{SELECT a, count(*) FROM draws('$model', $draws) a GROUP BY a});
	return \%counts;
}

foreach my $rows (1, 40)
{
	sql(qq{
CREATE TABLE unit_$rows (id int NOT NULL, x float8, y text);
SELECT privpred.protect('unit_$rows', unit => 'id', declared_units => 1);
SELECT privpred.grant_budget(current_user::regrole, 'unit_$rows', epsilon => 1e6, delta => $delta);
SELECT privpred.create_model('unit_$rows', 'unit_$rows', label => 'y', classes => '{a,b}', features => '["x"]', mechanism => 'gradient',
	epsilon => $epsilon, options => '{"delta": $delta, "steps": 1, "clip": 0.05}');
});
	sql(qq{INSERT INTO unit_$rows SELECT 1, 1, 'a' FROM generate_series(1, $rows)});
	my $from = answers("unit_$rows");
	sql(qq{UPDATE unit_$rows SET y = 'b'});
	my $to = answers("unit_$rows");
	my ($kept, $changed) = ($from->{a} // 0, $to->{a} // 0);
	my $excess = audit_epsilon($draws, $from, $to, $alpha, delta => $claim);

	is($excess, 0, sprintf('a unit of %d rows: labels are told apart by %.3f, no more than %.3f', $rows, ($kept - $changed) / $draws, $claim));
	# Nor is the noise much larger than it must be.
	cmp_ok(clopper_pearson_upper($kept, $draws, $alpha) - clopper_pearson_lower($changed, $draws, $alpha), '>=', total_variation(0.95 * $mu),
		"a unit of $rows rows: nearly all that was paid for is used");
	# The mutant: noise for a sensitivity of clip instead of 2 clip.  Its events have
	# these probabilities, so this many draws are enough to catch it.
	my $likely = normal_cdf(sqrt(0.95) * $mu);
	my $mutant = int($draws * $likely - 4 * sqrt($draws * $likely * (1 - $likely)));
	cmp_ok(audit_epsilon($draws, { a => $mutant, b => $draws - $mutant }, { a => $draws - $mutant, b => $mutant }, $alpha, delta => $claim),
		'>', 0, "a unit of $rows rows: half the noise would be caught, four standard deviations away from the expected draws, too");
}

$node->stop;
done_testing();
