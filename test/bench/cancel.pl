# Reports cancel.sh.
use strict;
use warnings;
use Report;

my @statements = map { m{^cancel/whole/(.*)} } names(qr{^cancel/whole/});
my @latest = map { { name => $_, longest => (sort { $b <=> $a } all("cancel/$_"))[0], whole => median("cancel/whole/$_") } }
	grep { has("cancel/$_") } @statements;

if (@latest)
{
	heading('Cancelling');
	paragraph('The table shows milliseconds from the signal to the error, the longest of several attempts spread over the statement, in one process with maintenance_work_mem 1 GB and '
		. '1,000,000 rows unless stated otherwise. Single teachers of 100,000 rows are larger than any that one would train; a teacher of 1,000,000 rows takes longer.');
	table([ 'statement', 'takes, left alone', 'ends after' ],
		map { [ $_->{name}, number($_->{whole}, 0), number($_->{longest}, 1) ] } sort { $b->{longest} <=> $a->{longest} } @latest);
	target('a statement ends after it was cancelled, the longest of ' . @latest . ' statements',
		[ (sort { $b <=> $a } map { $_->{longest} } @latest)[0] ], 0, ' ms', '<=', 200, 'headline');
}
1;
