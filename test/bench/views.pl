# The report of part views.
use strict;
use warnings;
use Report;

my @kinds = grep { has("views/view/$_") } qw(vote gradient);
if (@kinds)
{
	heading('Training through a view');
	paragraph('100,000 persons, 300,000 visits and 1,000,000 measurements, and a view that makes a row of each person: training on the view, beside training '
		. 'on a table that was made of it by hand, and the view\'s own SELECT. Milliseconds.');
	table([ 'mechanism', 'flat table', 'SELECT of the view', 'view', 'view / (table + SELECT)', '(view - SELECT) / table' ],
		map { [ $_, map({ number($_, 0) } median("views/flat/$_"), median("views/select/$_"), median("views/view/$_")), number(ratio("views/view/$_", "views/sum/$_"), 2),
			number((median("views/view/$_") - median("views/select/$_")) / median("views/flat/$_"), 2) ] } @kinds);
	target("training through a view, to a flat table and the view's SELECT, $_", [ ratios("views/view/$_", "views/sum/$_") ], 2, ' x', '<=', 1.3) foreach @kinds;
}
1;
