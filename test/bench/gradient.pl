# Reports gradient.sh.
use strict;
use warnings;
use Report;

my @epsilons = (0.1, 0.5, 1, 8);
my @models = ([ 'gradient, Adult', 'gradient/adult' ], [ 'diffprivlib, Adult', 'diffprivlib/adult' ], [ 'gradient, MNIST 7 x 7', 'gradient/mnist7x7' ]);

if (has('gradient/adult/1'))
{
	heading('Released linear models');
	paragraph('The table shows the accuracy on rows that were not trained on, by total epsilon, with delta 1e-6'
		. (has('diffprivlib/adult/1') ? '; diffprivlib\'s logistic regression without delta' : '') . '. Median of ' . fact('repeat') . ' trainings.');
	table([ 'model', @epsilons ], map { my ($what, $name) = @$_; [ $what, map { number(median("$name/$_"), 4) } @epsilons ] }
			grep { has("$_->[1]/1") } @models);
}
target('training with gradient, 1,000,000 rows x 20, one process, against avg()', [ ratios('gradient/train', 'gradient/avg') ], 1, ' x', '<=', 10);
target("accuracy of gradient on Adult, total epsilon $_->[0], delta 1e-6", [ all("gradient/adult/$_->[0]") ], 4, '', '>=', $_->[1])
	foreach [ 0.1, 0.820 ], [ 0.5, 0.841 ], [ 1, 0.843 ], [ 8, 0.844 ];
target('accuracy of gradient on MNIST 7 x 7, ten classes, total epsilon 1 (0.901 without privacy)', [ all('gradient/mnist7x7/1') ], 4, '', '>=', 0.871);
foreach my $epsilon (grep { has("diffprivlib/adult/$_", "gradient/adult/$_") } @epsilons)
{
	target("accuracy of gradient beyond diffprivlib's logistic regression, epsilon $epsilon",
		[ median("gradient/adult/$epsilon") - median("diffprivlib/adult/$epsilon") ], 4, '', '>=', 0);
}
1;
