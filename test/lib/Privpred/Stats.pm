# Exact binomial statistics for audits, in core Perl alone.
#
# An audit draws n answers from each of two neighbouring tables and asks how
# small epsilon could be, given the counts.  Everything here errs towards a
# smaller epsilon, so that a right mechanism fails with probability at most
# alpha, whatever n is.
package Privpred::Stats;

use strict;
use warnings;
use Carp qw(croak);
use Exporter qw(import);
use List::Util qw(max min sum0);

our @EXPORT_OK = qw(
  log_gamma incomplete_beta
  binomial_upper_tail binomial_lower_tail
  clopper_pearson_lower clopper_pearson_upper
  least_count most_count expected_counts miss least_telling enough_draws sized_counts
  audit_epsilon audit_range $RISK
);

# Lanczos' approximation, g = 7, relative error below 1e-14 for x > 0.
my @LANCZOS = (
	0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
	771.32342877765313,   -176.61502916214059,   12.507343278686905,
	-0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7);

sub log_gamma
{
	my ($x) = @_;
	my $series = $LANCZOS[0];
	my $base   = $x + 6.5;

	$series += $LANCZOS[$_] / ($x + $_ - 1) for 1 .. $#LANCZOS;
	return 0.5 * log(8 * atan2(1, 1)) + ($x - 0.5) * log($base) - $base + log($series);
}

# The continued fraction of the incomplete beta function (DLMF 8.17.22), by
# Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
sub _beta_fraction
{
	my ($a, $b, $x) = @_;
	my $tiny   = 1e-300;
	my $ratio  = 1;
	my $inverse = 1 / (1 - ($a + $b) * $x / ($a + 1) || $tiny);
	my $value  = $inverse;

	for my $m (1 .. 100_000)
	{
		my $even = $m * ($b - $m) * $x / (($a + 2 * $m - 1) * ($a + 2 * $m));
		my $odd  = -($a + $m) * ($a + $b + $m) * $x / (($a + 2 * $m) * ($a + 2 * $m + 1));
		my $change;

		for my $term ($even, $odd)
		{
			$inverse = 1 / (1 + $term * $inverse || $tiny);
			$ratio   = 1 + $term / $ratio || $tiny;
			$change  = $inverse * $ratio;
			$value *= $change;
		}
		return $value if abs($change - 1) < 1e-15;
	}
	croak "incomplete beta function did not converge at ($a, $b, $x)";
}

# I_x(a, b), regularised
sub incomplete_beta
{
	my ($a, $b, $x) = @_;

	return 0 if $x <= 0;
	return 1 if $x >= 1;
	my $front = exp(log_gamma($a + $b) - log_gamma($a) - log_gamma($b)
		  + $a * log($x) + $b * log(1 - $x));
	return $x < ($a + 1) / ($a + $b + 2)
	  ? $front * _beta_fraction($a, $b, $x) / $a
	  : 1 - $front * _beta_fraction($b, $a, 1 - $x) / $b;
}

sub _check_counts
{
	my ($k, $n) = @_;
	croak "bad counts: $k of $n" if $n < 1 || $k < 0 || $k > $n;
	return;
}

# Pr[X >= k] and Pr[X <= k] for X binomial (n, p)
sub binomial_upper_tail
{
	my ($k, $n, $p) = @_;
	return 1 if $k <= 0;
	return 0 if $k > $n;
	return incomplete_beta($k, $n - $k + 1, $p);
}

sub binomial_lower_tail
{
	my ($k, $n, $p) = @_;
	return 0 if $k < 0;
	return 1 if $k >= $n;
	return incomplete_beta($n - $k, $k + 1, 1 - $p);
}

# One-sided bounds: the true p is below (above) them with probability at most
# alpha.  Newton's method on the logarithm of the tail, within a bracket; what is
# returned is on the careful side.
sub clopper_pearson_lower
{
	my ($k, $n, $alpha) = @_;
	my ($low, $high) = (0, 1);
	my $p = $k / $n;

	_check_counts($k, $n);
	return 0 if $k == 0;
	return $alpha**(1 / $n) * (1 - 1e-12) if $k == $n;
	my $log_front = log_gamma($n + 1) - log_gamma($k) - log_gamma($n - $k + 1);
	$p = max($p - sqrt(2 * log(1 / $alpha) * $p * (1 - $p) / $n), $p / 100);
	for (1 .. 200)
	{
		my $tail = binomial_upper_tail($k, $n, $p);
		if ($tail <= $alpha) { $low = $p }
		else                 { $high = $p }
		return $low if $high - $low <= 1e-12 * $high;
		my $slope = $tail > 0 ? exp($log_front + ($k - 1) * log($p) + ($n - $k) * log(1 - $p)) / $tail : 0;
		my $next = $slope > 0 ? $p - log($tail / $alpha) / $slope : 0;
		# Near enough: a little below is careful, and closes the bracket.
		$next *= 1 - 5e-13 if abs($next - $p) < 1e-12 * $p && $low < $next * (1 - 1e-12);
		$p = $next > $low && $next < $high ? $next : ($low + $high) / 2;
	}
	return $low;
}

sub clopper_pearson_upper
{
	my ($k, $n, $alpha) = @_;

	_check_counts($k, $n);
	return 1 - clopper_pearson_lower($n - $k, $n, $alpha);
}

# ---------- tests that are sized before they are run ----------

# Every statistical assertion: a right product fails it, and the mistake that it
# names passes it, with probability below this.
our $RISK = 1e-7;

# What a count of n draws of probability p is at least (at most), but for
# probability alpha.
sub least_count
{
	my ($n, $p, $alpha) = @_;
	my ($low, $high) = (0, $n + 1);

	# the largest k with Pr[X < k] <= alpha
	while ($high - $low > 1)
	{
		my $k = int(($low + $high) / 2);
		if (binomial_lower_tail($k - 1, $n, $p) <= $alpha) { $low  = $k }
		else                                               { $high = $k }
	}
	return $low;
}

sub most_count
{
	my ($n, $p, $alpha) = @_;
	return $n - least_count($n, 1 - $p, $alpha);
}

# Is a count what n draws of probability p give?  At least, at most, or both.
sub expected_counts
{
	my ($n, $p, $sides) = @_;
	my $alpha = $RISK / 2 / ($sides eq 'both' ? 2 : 1);
	return ($sides eq 'most' ? 0 : least_count($n, $p, $alpha), $sides eq 'least' ? $n : most_count($n, $p, $alpha));
}

# The chance that a count of n draws of probability wrong is between the two.
sub miss
{
	my ($n, $wrong, $least, $most) = @_;
	return 0 if $least > $most;
	# whichever end is nearer decides, and is exact where it is small
	return min(binomial_lower_tail($most, $n, $wrong), binomial_upper_tail($least, $n, $wrong));
}

# enough_draws(what, n, sized): dies, and says how many were enough, unless
# sized(n).
sub enough_draws
{
	my ($what, $n, $sized) = @_;
	return if $sized->($n);
	my ($few, $many) = ($n, 2 * $n);
	while (!$sized->($many))
	{
		($few, $many) = ($many, 2 * $many);
		croak "$what: no number of draws tells" if $many > 1e8;
	}
	while ($many - $few > max(1, $few / 100))
	{
		my $middle = int(($few + $many) / 2);
		if ($sized->($middle)) { $many = $middle }
		else                   { $few  = $middle }
	}
	croak "$what: $n draws are too few, $many suffice";
}

# Of two probabilities: the counts that tell them apart least, but for $RISK; none
# if that may be not at all.  What is monotone in both counts is at least as sure
# of all others.
sub least_telling
{
	my ($n, $p, $q) = @_;
	return reverse least_telling($n, $q, $p) if $p < $q;
	my ($k, $l) = (least_count($n, $p, $RISK / 2), most_count($n, $q, $RISK / 2));
	return $k > $l ? ($k, $l) : ();
}

# sized_counts(what, n, p, sides, wrong...): which counts pass; dies unless each
# wrong probability is told.  Sides: both, least or most.
sub sized_counts
{
	my ($what, $n, $p, $sides, @wrong) = @_;
	croak "$what: nothing to tell" unless @wrong;
	foreach my $wrong (@wrong)
	{
		enough_draws("$what, $p from $wrong", $n, sub { miss($_[0], $wrong, expected_counts($_[0], $p, $sides)) < $RISK });
	}
	return expected_counts($n, $p, $sides);
}

# Bounds on every output's probability in both tables.  They all hold at once
# with probability 1 - alpha (Bonferroni over outputs, tables and sides).
sub _bounds
{
	my ($n, $counts_a, $counts_b, $alpha, $options) = @_;
	my %outputs = (%$counts_a, %$counts_b);
	my @outputs = sort keys %outputs;
	my $noutputs = $options->{outputs} // max(2, scalar @outputs);
	my $each = $alpha / (4 * $noutputs);
	my @bounds;

	croak "more outputs than declared" if @outputs > $noutputs;
	@outputs = ($options->{only}) if defined $options->{only};
	for my $counts ($counts_a, $counts_b)
	{
		croak "counts do not add up to $n" unless sum0(values %$counts) == $n;
		my %of_table;
		for my $output (@outputs)
		{
			my $k = $counts->{$output} // 0;
			$of_table{$output} = {
				low  => clopper_pearson_lower($k, $n, $each),
				high => clopper_pearson_upper($k, $n, $each)
			};
		}
		push @bounds, \%of_table;
	}
	return \@bounds;
}

# audit_epsilon(n, counts_a, counts_b, alpha [, delta => d] [, outputs => m] [, only => output])
#
# A lower bound on epsilon: the mechanism behind the counts is not
# (epsilon, delta)-DP for any smaller one, at confidence 1 - alpha.  Counts are
# hashes from output to number of draws, n of each table.  Declare how many
# outputs are possible when not all of them may show up.
sub audit_epsilon
{
	my ($n, $counts_a, $counts_b, $alpha, %options) = @_;
	my ($a, $b) = @{ _bounds($n, $counts_a, $counts_b, $alpha, \%options) };
	my $delta = $options{delta} // 0;
	my $epsilon = 0;

	for my $pair ([ $a, $b ], [ $b, $a ])
	{
		my ($p, $q) = @$pair;
		for my $output (keys %$p)
		{
			my $excess = $p->{$output}{low} - $delta;
			$epsilon = max($epsilon, log($excess / $q->{$output}{high})) if $excess > 0;
		}
	}
	return $epsilon;
}

# As audit_epsilon, for a claim of bounded range: a lower bound on the largest
# ln of (p_a(y) / p_b(y)) / (p_a(z) / p_b(z)), which for two outputs is the
# odds ratio.  It tells permute-and-flip from the exponential mechanism.
sub audit_range
{
	my ($n, $counts_a, $counts_b, $alpha, %options) = @_;
	my ($a, $b) = @{ _bounds($n, $counts_a, $counts_b, $alpha, \%options) };
	my $range = 0;

	for my $y (keys %$a)
	{
		for my $z (keys %$a)
		{
			my $low = $a->{$y}{low} * $b->{$z}{low};
			$range = max($range, log($low / ($b->{$y}{high} * $a->{$z}{high})))
			  if $y ne $z && $low > 0;
		}
	}
	return $range;
}

1;
