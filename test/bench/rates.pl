# Reports rates.sh.
use strict;
use warnings;
use Report;

# Rows at which the error falls to a limit, between the neighbours on a double logarithmic scale.
my $rows_for = sub {
	my ($limit, @points) = @_;
	for my $i (1 .. $#points)
	{
		my ($n, $error, $next_n, $next) = (@{ $points[ $i - 1 ] }, @{ $points[$i] });
		next unless $error > $limit && $next <= $limit;
		return $n * ($next_n / $n)**(log($error / $limit) / log($error / $next));
	}
	return undef;
};

if (has('rate/0/vote/1000'))
{
	my @names = qw(vote threshold average stable_flip relabel);
	my @sizes = sort { $a <=> $b } map { m{^rate/0/vote/(\d+)} } names(qr{^rate/0/vote/});
	my %curve = map { my $name = $_; ($name => [ map { [ $_, mean("rate/0/$name/$_") ] } grep { has("rate/0/$name/$_") } @sizes ]) } @names;
	heading('How many rows');
	paragraph('The table shows the expected error of one answer at epsilon 0.5 by the number of rows, where the label is x > 0.4 and x is uniform; the figures are means over several tables. Parameters are declared for the number of rows. '
		. 'relabel takes ' . number(median('rate/relabel_needs'), 0) . " rows or more.");
	table([ 'rows', @names ], map { my $n = $_; [ number($n, 0), map { number(mean("rate/0/$_/$n"), 4) } @names ] } @sizes);
	paragraph("The next table shows the number of rows at which the error falls to a limit, interpolated.");
	table([ 'error', @names ], map { my $limit = $_; [ $limit, map { number($rows_for->($limit, @{ $curve{$_} }), 0) } @names ] } 0.2, 0.1, 0.06, 0.03, 0.01);
	picture('Error by number of rows: two fall as 1/n, two as its root', 'rates.svg', 'log_lines',
		'Error of one answer at epsilon 0.5, by number of rows', 'rows', map { [ $_, @{ $curve{$_} } ] } @names);
}
1;
