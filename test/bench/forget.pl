# The report of part forget.
use strict;
use warnings;
use Report;

if (has('forget/scan'))
{
	my @rows = ([ 'avg1', 'SELECT avg(f1)' ], [ 'avg20', 'SELECT avg(f1), ..., avg(f20)' ], [ 'retrain', 'retrain, all rows changed' ],
		[ 'scan', 'forget, without the index' ], [ 'indexed', 'forget, with the index' ]);
	heading('Forgetting');
	paragraph('One unit of 1,000,000 rows of 20 features, 100 logistic teachers, one process. Milliseconds that pass, milliseconds of the processor, and these as multiples of one avg.');
	table([ 'what', 'ms', 'processor', 'by avg of one column', 'by avg of twenty', 'by retrain' ],
		map { my $name = $_->[0]; [ $_->[1], number(median("forget/$name"), 0), number(median("forget/cpu/$name"), 0),
			map { has("forget/cpu/$_") ? number(ratio("forget/cpu/$name", "forget/cpu/$_"), 3) : '' } qw(avg1 avg20 retrain) ] } grep { has("forget/$_->[0]") } @rows);
	target('forget without the index, to avg of one column, processor time', [ ratios('forget/cpu/scan', 'forget/cpu/avg1') ], 2, ' x', '<=', 1.2);
	target('forget without the index, to avg of one column, time', [ ratios('forget/scan', 'forget/avg1') ], 2, ' x', '<=', 1.2);
	target('forget with the index, to retrain', [ ratio('forget/indexed', 'forget/retrain') ], 3, ' x', '<=', 0.05);
}
1;
