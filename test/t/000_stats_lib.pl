# The statistics that audits rest on, against known values.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Test::More;

use Privpred::Stats qw(
  log_gamma binomial_upper_tail binomial_lower_tail
  clopper_pearson_lower clopper_pearson_upper audit_epsilon audit_range
  least_count most_count expected_counts miss least_telling enough_draws sized_counts $RISK);
use Privpred::Conformance qw(read_rows size_row);

sub near
{
	my ($got, $expected, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(abs($got - $expected) <= 1e-10 * abs($expected), $name)
	  || diag("got $got, expected $expected");
}

# Reference values by exact rational arithmetic.
near(log_gamma(0.5), 0.5 * log(4 * atan2(1, 1)), 'gamma(1/2) is the root of pi');
near(log_gamma(11), log(3628800), 'gamma(11) is 10!');
near(binomial_upper_tail(60, 100, 0.5), 0.028443966820490395, 'upper tail, 60 of 100 at 0.5');
near(binomial_upper_tail(12, 100, 0.1), 0.2969668997112462, 'upper tail, 12 of 100 at 0.1');
near(binomial_upper_tail(5300, 10000, 0.5), 1.0380168479603624e-09, 'a tail of 1e-9');
near(binomial_lower_tail(3, 50, 0.2), 0.0056563610121553075, 'lower tail, 3 of 50 at 0.2');
is(binomial_upper_tail(0, 10, 0.3), 1, 'at least none is certain');
is(binomial_lower_tail(10, 10, 0.3), 1, 'at most all is certain');

near(clopper_pearson_upper(0, 10, 0.025), 1 - 0.025**0.1, 'none of 10: 1 - alpha^(1/n)');
near(clopper_pearson_lower(10, 10, 0.025), 0.025**0.1, 'all of 10: alpha^(1/n)');
near(clopper_pearson_lower(1, 20, 0.05), 0.0025613787765302798, 'lower bound, 1 of 20');
near(clopper_pearson_lower(5, 10, 0.025), 0.18708602844739852, 'lower bound, 5 of 10');
near(clopper_pearson_lower(5, 10, 0.0005), 0.07732535492721446, 'lower bound at 0.05%');
near(clopper_pearson_lower(70, 100, 0.0005), 0.5333135794551582, 'lower bound, 70 of 100');
near(clopper_pearson_upper(30, 100, 0.0005), 0.4666864205448418, 'upper bound, 30 of 100');
is(clopper_pearson_lower(0, 10, 0.05), 0, 'none: no lower bound');
is(clopper_pearson_upper(10, 10, 0.05), 1, 'all: no upper bound');

# Coverage, exactly: the bounds miss with probability at most alpha.
for my $p (0.02, 0.3, 0.5, 0.9)
{
	my ($n, $alpha) = (60, 0.01);
	my ($low_misses, $high_misses) = (0, 0);

	for my $k (0 .. $n)
	{
		my $mass = binomial_upper_tail($k, $n, $p) - binomial_upper_tail($k + 1, $n, $p);
		$low_misses += $mass if clopper_pearson_lower($k, $n, $alpha) > $p;
		$high_misses += $mass if clopper_pearson_upper($k, $n, $alpha) < $p;
	}
	ok($low_misses <= $alpha && $high_misses <= $alpha, "bounds cover p = $p");
}

# ---------- tests that are sized ----------

for my $case ([ 1000, 0.5, 1e-3 ], [ 50, 0.02, 1e-7 ], [ 20000, 0.93, 1e-8 ])
{
	my ($n, $p, $alpha) = @$case;
	my ($least, $most) = (least_count(@$case), most_count(@$case));
	ok(binomial_lower_tail($least - 1, $n, $p) <= $alpha && binomial_lower_tail($least, $n, $p) > $alpha, "$n of $p: at least $least");
	ok(binomial_upper_tail($most + 1, $n, $p) <= $alpha && binomial_upper_tail($most, $n, $p) > $alpha, "$n of $p: at most $most");
}
is(least_count(10, 0, 1e-7), 0, 'nothing is the least of what never happens');
is(most_count(10, 0, 1e-7), 0, 'and the most');
is(least_count(10, 1, 1e-7), 10, 'all is the least of what always does');

# By summing up what is accepted.
{
	my ($n, $p, $wrong) = (400, 0.3, 0.5);
	my ($least, $most) = expected_counts($n, $p, 'both');
	my ($alarm, $missed) = (0, 0);
	for my $k (0 .. $n)
	{
		my @mass = map { exp(log_gamma($n + 1) - log_gamma($k + 1) - log_gamma($n - $k + 1) + $k * log($_) + ($n - $k) * log(1 - $_)) } $p, $wrong;
		if ($k >= $least && $k <= $most) { $missed += $mass[1] }
		else                             { $alarm += $mass[0] }
	}
	ok($alarm <= $RISK && $alarm > $RISK / 20, "false alarms are as rare as said ($alarm)");
	ok(abs(miss($n, $wrong, $least, $most) / $missed - 1) < 1e-6, "and misses ($missed)");
	is(join(' ', expected_counts($n, $p, 'most')), '0 ' . most_count($n, $p, $RISK / 2), 'one side');
}
is(join(' ', sized_counts('fair', 40000, 0.5, 'both', 0.47, 0.53)), join(' ', expected_counts(40000, 0.5, 'both')), 'enough draws');
ok(!eval { sized_counts('fair', 6000, 0.5, 'both', 0.47); 1 }, 'too few are refused');
like($@, qr/^fair, 0.5 from 0.47: 6000 draws are too few, 3\d{4} suffice/, 'with how many it takes');
ok(!eval { sized_counts('fair', 6000, 0.5, 'most', 0.47); 1 }, 'what cannot be told is refused');
like($@, qr/no number of draws tells/, 'and says so');
ok(!eval { sized_counts('fair', 6000, 0.5, 'both'); 1 }, 'so is a test without a mistake');
is(scalar(() = least_telling(100, 0.5, 0.4)), 0, 'counts that may cross tell nothing');
is(join(' ', least_telling(9000, 0.2, 0.5)), join(' ', reverse least_telling(9000, 0.5, 0.2)), 'either way round');

# The row that missed once in a thousand runs: 6,000 draws of gaps 1 and 3.
{
	my ($row) = grep { $_->{name} eq 'odd, gap 1 to 3' } read_rows("$FindBin::RealBin/../audit/conformance.txt");
	ok(eval { size_row($row, $row->{short}); 1 }, 'as many draws as the table says tell') or diag $@;
	ok(!eval { size_row($row, 6000); 1 }, '6,000 do not');
	ok(!eval { size_row($row, $row->{short}, 'some_mutant'); 1 }, 'a row must say what its mutants answer');
	ok(!eval { size_row({ %$row, mistakes => [] }, $row->{short}); 1 }, 'and name a mistake');
}

# Audits of a tie against one flipped vote, at the counts one expects: the
# other label has probability 1/2, then exp(-epsilon)/2.
sub flip_counts
{
	my ($n, $epsilon) = @_;
	my $rare = int($n * exp(-$epsilon) / 2 + 0.5);
	return { no => $n - $rare, yes => $rare };
}

my $tie = { no => 1000, yes => 1000 };
my $honest = audit_epsilon(2000, $tie, flip_counts(2000, 1), 0.004);
ok($honest > 0.7 && $honest < 1, "an honest epsilon of 1 is bounded from below by $honest");
ok(audit_epsilon(2000, $tie, flip_counts(2000, 2), 0.004) > 1, 'a loss of 2 is caught');
is(audit_epsilon(2000, $tie, $tie, 0.004), 0, 'no difference, no loss');
is( audit_epsilon(2000, $tie, flip_counts(2000, 2), 0.004),
	audit_epsilon(2000, flip_counts(2000, 2), $tie, 0.004),
	'both directions are looked at');
ok( audit_epsilon(2000, $tie, { no => 2000 }, 0.004) > 4,
	'an output that never shows up on one side is counted as zero');
ok( audit_epsilon(2000, $tie, { no => 2000 }, 0.004, delta => 0.6) == 0,
	'a delta forgives');
ok( audit_epsilon(2000, $tie, flip_counts(2000, 2), 0.004, outputs => 100) <
	  audit_epsilon(2000, $tie, flip_counts(2000, 2), 0.004),
	'more outputs, more care');
ok(!eval { audit_epsilon(1999, $tie, $tie, 0.004); 1 }, 'counts that do not add up are refused');
ok( !eval { audit_epsilon(2000, $tie, $tie, 0.004, outputs => 1); 1 },
	'more outputs than declared are refused');

# Gap -1 against +1: the exponential mechanism's odds move by exp(epsilon),
# permute-and-flip's by more.  The bound tells them apart where epsilon cannot.
sub gap_counts
{
	my ($n, $loser) = @_;
	my $rare = int($n * $loser + 0.5);
	return ({ no => $n - $rare, yes => $rare }, { yes => $n - $rare, no => $rare });
}

my $n = 5000;
my @exponential = gap_counts($n, 1 / (1 + exp(0.5)));
my @permuted    = gap_counts($n, exp(-0.5) / 2);
ok(audit_range($n, @exponential, 0.004) < 1, 'the exponential mechanism keeps its range');
ok(audit_range($n, @permuted, 0.004) > 1 , 'permute-and-flip does not');
ok(audit_epsilon($n, @permuted, 0.004) < 1, 'though it keeps its epsilon');

done_testing();
