# Reports choice.sh.
use strict;
use warnings;
use Report;

if (has('choice/plain'))
{
	my @counts = (1, 10, 100, 1000, 10000, 100000);
	my @names = ('vote, boost', 'vote, logistic', 'gradient', 'distill', 'cover', 'stable_erm', 'sparse', 'average');
	my (@lines, @rows);
	for my $name (@names)
	{
		my @points = map { [ $_, has("choice/$name/once") ? mean("choice/$name/once") : median("choice/$name/$_") ] } @counts;
		@points = grep { defined $_->[1] } @points or next;
		push @lines, [ $name, 'line', @points ];
		my %of = map { $_->[0] => $_->[1] } @points;
		push @rows, [ $name, map { number($of{$_}, 3) } @counts ];
	}
	heading('Which mechanism for how many answers');
	paragraph('The table shows the accuracy on Adult (39,074 rows to train on) of a number of answers within one budget of (1, 1e-6): expectations by privpred.evaluate(), '
		. 'each with the parameters that privpred.plan() suggests. Models that are charged once are the mean of three trainings, and answers that a stream '
		. 'does not give count as wrong. One logistic regression, not private: ' . number(median('choice/plain'), 3) . '; always giving the commonest class: '
		. number(median('choice/baseline'), 3) . '. Students learnt from 3,200 public rows.');
	table([ 'answers', map { number($_, 0) } @counts ], @rows);
	picture('Accuracy on Adult by number of answers, for each mechanism', 'choice.svg', 'labelled_lines',
		'Accuracy of the answers that one budget of (1, 1e-6) pays for, Adult', 'answers (logarithmic)', 'expected accuracy', 0.5, 0.9, 0.05,
		@lines, [ 'not private', 'level', map { [ $_, median('choice/plain') ] } @counts ],
		[ 'commonest class', 'level', map { [ $_, median('choice/baseline') ] } @counts ]);
}
1;
