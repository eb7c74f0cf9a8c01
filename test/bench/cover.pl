# Reports cover.sh.
use strict;
use warnings;
use Report;

my @measured = map { [ (split m{/})[ 2, 3 ] ] } names(qr{^cover/mean/});
@measured = sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } @measured;

if (@measured)
{
	heading('Covers of thresholds');
	paragraph('The table shows the error beyond that of the best threshold, with one label in ten wrong: the mean and the worst of 20 trainings, beside the least accuracy that is promised '
		. '(with probability 0.95) for that many units, and what the constants of the paper would promise.');
	table([ 'epsilon, units', 'mean', 'worst of 20', 'promised', "the paper's" ],
		map {
			my ($epsilon, $units) = @$_;
			[ "$epsilon, " . number($units, 0), map { number(median("cover/$_/$epsilon/$units"), 4) } qw(mean worst promised paper) ]
		} @measured);
	# An excess of nothing has no logarithm.
	picture('Error of covers by number of units, below what is promised', 'cover.svg', 'log_lines',
		'Excess error of a threshold chosen by cover, epsilon 1', 'units',
		map {
			my ($what, $kind) = @$_;
			[ $what, map { [ $_->[1], median("cover/$kind/1/$_->[1]") ] } grep { $_->[0] == 1 && (median("cover/$kind/1/$_->[1]") // 0) > 0 } @measured ]
		} [ "promised by the paper's constants", 'paper' ], [ 'promised', 'promised' ], [ 'worst of 20', 'worst' ], [ 'mean of 20', 'mean' ]);
	target('excess error of cover on thresholds against what is promised, all sizes',
		[ map { my $of = join '/', @$_; ratios("cover/mean/$of", "cover/promised/$of") } @measured ], 2, ' x', '<=', 1, 'headline');
}
1;
