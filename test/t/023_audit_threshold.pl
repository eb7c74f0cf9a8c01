# Audits of "threshold" through the real SQL path: the two neighbouring tables
# that differ most, many answers each, for both kinds of account.  Each audit is
# repeated against a mutant, a model that spends twice what the audit is told,
# and must catch it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Privpred::Stats qw(audit_epsilon audit_range clopper_pearson_lower clopper_pearson_upper);
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

# One role for each link.
sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (id int PRIMARY KEY, x int, y int);
SELECT privpred.protect('people');
CREATE TABLE visits (visit int PRIMARY KEY, patient int NOT NULL, x int, y int);
SELECT privpred.protect('visits', unit => 'patient', max_rows_per_unit => 2);
CREATE ROLE pure;
CREATE ROLE finite;
SELECT privpred.grant_budget('pure', t, epsilon => 1e6),
	privpred.grant_budget('finite', t, epsilon => 1e6, delta => 1e-6, per_answer => 0.5) FROM unnest('{people,visits}'::regclass[]) t;
});
is(sql(q{SELECT string_agg(role || ' ' || (renyi_order = 'Infinity'), ', ' ORDER BY role, relation) FROM privpred.budgets}),
	'pure true, pure true, finite false, finite false', 'one account of infinite order, one of finite order');

sub make_model
{
	my ($name, $epsilon, $table) = @_;
	sql(qq{SELECT privpred.create_model('$name', '$table', label => 'y', classes => '{0,1}',
		features => '{"x": {"min": 0, "max": 10}}', mechanism => 'threshold', epsilon => $epsilon)});
}

# Trains on rows, each "unit x label", and asks at x.
sub answers
{
	my ($name, $table, $role, $x, $n, @rows) = @_;
	my %counts = (0 => 0, 1 => 0);
	my $i = 0;
	my $values = join(', ', map { my @row = split; $i++; '(' . join(', ', $table eq 'visits' ? ($i, @row) : @row) . ')' } @rows);

	sql(qq{TRUNCATE $table; INSERT INTO $table VALUES $values; SELECT privpred.retrain('$name')});
	foreach my $line (split /\n/, sql(qq{SET ROLE $role; SELECT a, count(*) FROM
			(SELECT private_predict('$name', ARRAY[$x.0]) a FROM generate_series(1, $n)) s GROUP BY a}))
	{
		my ($answer, $count) = split /\|/, $line;
		$counts{$answer} = $count;
	}
	return \%counts;
}

# A bound on what one unit can change, in a model at epsilon.  The logistic link
# is held to the odds, since its answers are charged as of bounded range.
sub audit
{
	my ($epsilon, $table, $role, $x, $before, $after) = @_;

	make_model('audited', $epsilon, $table);
	my $from = answers('audited', $table, $role, $x, $draws, @$before);
	my $to = answers('audited', $table, $role, $x, $draws, @$after);
	sql(q{SELECT privpred.drop_model('audited')});
	return $role eq 'pure' ? audit_epsilon($draws, $from, $to, $alpha, outputs => 2) :
	  audit_range($draws, $from, $to, $alpha, outputs => 2);
}

my @cases = (
	# name, table, x, rows, rows of the neighbour
	[ 'a label changed', 'people', 2, [ '1 1 1', '2 2 0' ], [ '1 1 0', '2 2 0' ] ],
	[ 'a row moved', 'people', 3, [ '1 1 0', '2 2 0', '3 9 1' ], [ '1 1 0', '2 2 0', '3 3 1' ] ],
	[ 'a unit of two rows changed', 'visits', 3, [ '1 1 1', '1 2 1', '2 3 0', '3 3 0' ], [ '1 1 0', '1 2 0', '2 3 0', '3 3 0' ] ],
	# more rows than the declared two: the rule that sees one unit alone cuts it
	[ 'a unit of four rows changed', 'visits', 5, [ (map {"1 $_ 1"} 1 .. 4), '2 5 0', '3 5 0' ], [ (map {"1 $_ 0"} 1 .. 4), '2 5 0', '3 5 0' ] ],
);
foreach my $epsilon (1, 0.5)
{
	foreach my $case (@cases)
	{
		my ($name, $table, $x, $before, $after) = @$case;
		foreach my $role ('pure', 'finite')
		{
			my $bound = audit($epsilon, $table, $role, $x, $before, $after);
			cmp_ok($bound, '<=', $epsilon, "$name, $role: epsilon $epsilon holds (lower bound $bound)");
		}
	}
}

# The mutant's step is epsilon, not epsilon/2.
foreach my $index (0, 2, 3)
{
	my ($name, $table, $x, $before, $after) = @{ $cases[$index] };
	foreach my $role ('pure', 'finite')
	{
		my $mutant = audit(2, $table, $role, $x, $before, $after);
		cmp_ok($mutant, '>', 1, "$name, $role: a step twice as large is caught (lower bound $mutant)");
	}
}

# The law itself, below, at and between rows and at the limit, which a walk
# without a limit would leave behind: 6 steps of 1/2 for pure accounts, 8 for the
# others.
make_model('law', 1, 'people');
my @rows = map { "$_ 5 1" } 3 .. 40;
foreach my $law (
	[ 'pure', 0, 0.5 ], [ 'pure', 1, 0.5 * exp(-0.5) ], [ 'pure', 4, 0.5 * exp(-1) ], [ 'pure', 5, 1 - 0.5 * exp(-3) ],
	[ 'finite', 0, 0.5 ], [ 'finite', 1, 1 / (1 + exp(0.5)) ], [ 'finite', 4, 1 / (1 + exp(1)) ], [ 'finite', 5, 1 / (1 + exp(-4)) ])
{
	my ($role, $x, $expected) = @$law;
	my $n = 20000;
	my $count = answers('law', 'people', $role, $x, $n, '1 1 0', '2 2 0', @rows)->{1};
	cmp_ok(clopper_pearson_lower($count, $n, $alpha), '<=', $expected, "$role at $x: not too often 1 ($count of $n)");
	cmp_ok(clopper_pearson_upper($count, $n, $alpha), '>=', $expected, "$role at $x: not too rarely 1");
}

$node->stop;
done_testing();
