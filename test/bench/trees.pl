# Reports trees.sh.
use strict;
use warnings;
use Report;

my @models = map { [ (split m{/})[ 2 .. 5 ] ] } names(qr{^trees/private/});

if (@models)
{
	heading('Trees');
	paragraph('The table shows the accuracy on rows that were not trained on (expectation over the noise), and the time of training.'
		. (has('trees/answer') ? ' An answer of the 100 boosted teachers takes ' . number(median('trees/answer'), 1) . ' us.' : ''));
	table([ 'data, learner', 'teachers', 'epsilon', 'accounts with delta', 'without', 'seconds' ],
		map {
			my ($data, $learner, $teachers, $epsilon) = @$_;
			my $of = join '/', @$_;
			[ "$data, $learner", $teachers, $epsilon, number(median("trees/approximate/$of"), 4), number(median("trees/private/$of"), 4), number(median("trees/seconds/$of"), 1) ]
		} @models);
}
target('accuracy on Adult, 25 boosted teachers, epsilon 0.5, accounts with delta', [ median('trees/approximate/adult/boost/25/0.5') ], 4, '', '>=', 0.856, 'headline');
target('the same, 100 teachers, epsilon 0.1', [ median('trees/approximate/adult/boost/100/0.1') ], 4, '', '>=', 0.843);
target('training these 100 teachers, 30 rounds of depth 4', [ median('trees/seconds/adult/boost/100/0.1') ], 1, ' s', '<', 10);
target('an answer of theirs', [ all('trees/answer') ], 1, ' us', '<', 50);
if (has('trees/private/mnist7x7/boost/50/1', 'trees/private/mnist7x7/logistic/50/1'))
{
	target('accuracy on mnist7x7, 50 teachers, epsilon 1: boosted above logistic',
		[ 100 * (median('trees/private/mnist7x7/boost/50/1') - median('trees/private/mnist7x7/logistic/50/1')) ], 1, ' points', '>=', 5);
}
1;
