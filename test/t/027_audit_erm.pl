# Audit of "stable_erm" through the real SQL path: the worst case of the book, one
# unit at a corner with its label turned, where the score moves by all that is
# charged for.  A mutant that adds half of the noise must be caught.
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
my $draws = 6000;

my $node = PostgreSQL::Test::Cluster->new('audit');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.max_answers_per_statement = 1000000
fsync = off
client_min_messages = warning
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# R^2 = 5/4; Huber's loss is linear from L = 1/4 on; lambda makes the score at
# the corner L R^2/(lambda n0) = 1/2 for label 1 and -1/2 for -1.
sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (id int PRIMARY KEY, x float8 NOT NULL, y float8, c text);
SELECT privpred.protect('people', declared_units => 10);
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1e6);
});
my $number = q{label => 'y', options => '{"target": {"min": -1, "max": 1}, "huber": 0.25, "lambda": 0.0625}'};
my $class = q{label => 'c', classes => '{a,b}', options => '{"lambda": 0.25}'};

sub create
{
	my ($name, $label, $epsilon) = @_;
	sql(qq{SELECT privpred.create_model('$name', 'people', features => '["x"]', mechanism => 'stable_erm', epsilon => $epsilon, $label)});
}

sub set_rows
{
	my ($name, $rows) = @_;
	sql(qq{TRUNCATE people});
	sql(qq{INSERT INTO people VALUES $rows}) if $rows ne '';
	sql(qq{SELECT privpred.retrain('$name')});
}

# How many answers fall on which side of a threshold.
sub sides
{
	my ($answer, $condition) = @_;
	my ($yes, $no) = split /\|/, sql(qq{SELECT count(*) FILTER (WHERE $condition), count(*) FILTER (WHERE NOT ($condition))
		FROM (SELECT $answer AS answer FROM generate_series(1, $draws)) s});
	return { yes => $yes, no => $no };
}

# A lower bound on epsilon, from a model of this epsilon on two tables.
sub audit
{
	my ($epsilon, $label, $answer, $condition, $before, $after) = @_;

	create('audited', $label, $epsilon);
	set_rows('audited', $before);
	my $from = sides($answer, $condition);
	set_rows('audited', $after);
	my $to = sides($answer, $condition);
	sql(q{SELECT privpred.drop_model('audited')});
	return audit_epsilon($draws, $from, $to, $alpha, outputs => 2);
}

my $score = q{private_score('audited', ARRAY[1.0])};
my $predict = q{private_predict('audited', ARRAY[1.0])};
my @cases = (
	# name, label, answer, event, table, neighbour
	[ 'Huber, one unit turned, above the middle', $number, $score, 'answer >= 0', q{(1, 1, 1, 'b')}, q{(1, 1, -1, 'a')} ],
	[ 'Huber, one unit turned, above its score', $number, $score, 'answer >= 0.5', q{(1, 1, 1, 'b')}, q{(1, 1, -1, 'a')} ],
	[ 'Huber, one unit gone', $number, $score, 'answer >= 0.5', q{(1, 1, 1, 'b')}, '' ],
	[ 'logistic, one unit turned', $class, $predict, q{answer = 'b'}, q{(1, 1, 1, 'b')}, q{(1, 1, -1, 'a')} ],
);
foreach my $case (@cases)
{
	my ($name, @how) = @$case;
	my $bound = audit(1, @how);
	cmp_ok($bound, '<=', 1, "$name: epsilon 1 holds (lower bound $bound)");
}
foreach my $case (@cases[ 0, 1 ])
{
	my ($name, @how) = @$case;
	my $bound = audit(2, @how);
	cmp_ok($bound, '>', 1, "$name: half of the noise is caught (lower bound $bound)");
}

# The law itself: Laplace noise around 1/2, give or take the share of 1 % that
# certification may leave, of scale 1.01, and less than two steps of a grid of
# 1/512 at most.
create('law', $number, 1);
set_rows('law', q{(1, 1, 1, 'b')});
my $below = sides(q{private_score('law', ARRAY[1.0])}, 'answer < -0.5')->{yes};
cmp_ok(clopper_pearson_lower($below, $draws, $alpha), '<=', exp(-0.995 / 1.014) / 2, "not too far away too often ($below of $draws)");
cmp_ok(clopper_pearson_upper($below, $draws, $alpha), '>=', exp(-1.005 / 1.01) / 2, 'nor too rarely');

# With delta: Gaussian noise of twice that scale, at the price of bounded range.
sql(q{
CREATE ROLE approximate;
GRANT USAGE ON SCHEMA public TO approximate;
SELECT privpred.grant_budget('approximate', 'people', epsilon => 10000, delta => 1e-6);
});
$draws = 20000;
$below = (split /\n/, sql(qq{SET ROLE approximate; SELECT count(*) FILTER (WHERE private_score('law', ARRAY[1.0]) < -0.5) FROM generate_series(1, $draws)}))[-1];
sub upper_tail { my ($z) = @_; my ($sum, $step) = (0, 0.0001); for (my $t = $z + $step / 2; $t < 8; $t += $step) { $sum += exp(-$t * $t / 2) * $step } return $sum / sqrt(8 * atan2(1, 1)) }
cmp_ok(clopper_pearson_lower($below, $draws, $alpha), '<=', upper_tail(0.995 / 2.028), "Gaussian: not too far away too often ($below of $draws)");
cmp_ok(clopper_pearson_upper($below, $draws, $alpha), '>=', upper_tail(1.005 / 2.02), 'Gaussian: nor too rarely');
my ($order, $spent) = split /\|/, sql(q{SELECT b.renyi_order, sum(l.epsilon) FROM privpred.budgets b JOIN privpred.ledger l USING (account_id) WHERE b.role = 'approximate'::regrole GROUP BY 1});
cmp_ok(abs($spent / ($draws * $order / 8) - 1), '<', 1e-6, "Gaussian: each answer costs order/8 at epsilon 1 (order $order, $spent spent)");

$node->stop;
done_testing();
