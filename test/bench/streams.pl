# Reports streams.sh.
use strict;
use warnings;
use Report;

if (has('stream/majority'))
{
	my @counts = sort { $a <=> $b } map { m{^stream/vote/(\d+)} } names(qr{^stream/vote/});
	my %of = map { my $kind = $_; ($kind => [ map { [ $_, median("stream/$kind/$_") ] } @counts ]) } qw(vote sparse);
	heading('A stream beside votes');
	paragraph('The table shows the accuracy of a number of answers within one budget of (1, 1e-6): ' . number(fact('stream_rows'), 0)
		. ' rows, 4,000 centroid teachers, two classes with a margin, 5% of the labels wrong, questions off the margin. '
		. 'Votes are drawn by the exponential mechanism, each at the largest epsilon that buys that many (expectation); '
		. 'the stream is for 20 unstable answers at epsilon ' . number(median('stream/epsilon'), 4)
		. ' and delta 2.5e-8 each (as drawn; an unstable answer counts as wrong). The accuracy of the plain majority is '
		. number(median('stream/majority'), 4) . ". The stream gave " . number(median('stream/unstable'), 0)
		. ' unstable answers and ' . number(median('stream/answered'), 0) . ' others, '
		. number(median('stream/microseconds'), 1) . " us each.");
	table([ 'answers', 'votes', 'stream' ],
		map { [ number($_, 0), number(median("stream/vote/$_"), 4), number(median("stream/sparse/$_"), 4) ] } @counts);
	picture('Accuracy by number of answers: a stream stays with the majority, votes fall', 'streams.svg', 'lines',
		'Accuracy of the answers that a budget of (1, 1e-6) buys', 'answers',
		[ 'stream, T = 20', @{ $of{sparse} } ], [ 'votes', @{ $of{vote} } ],
		[ 'plain majority', map { [ $_, median('stream/majority') ] } @counts ]);
}
target('200,000 answers of a stream against the plain majority, 4,000 teachers, (1, 1e-6)',
	[ ratios('stream/sparse/200000', 'stream/majority') ], 4, '', '>=', 0.99, 'headline');
target('the same by votes', [ all('stream/vote/200000') ], 3, '', '<', 0.9);
1;
