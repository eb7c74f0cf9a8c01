# Reports papers.sh.
use strict;
use warnings;
use Report;

open(my $list, '<', "$FindBin::Bin/papers.txt") or die "papers.txt: $!\n";
my @forms = map { [ map { s/^\s+|\s+$//gr } (split /\|/)[ 0, 1 ] ] } grep { !/^#/ } <$list>;

if (has('papers/adult/gradient'))
{
	my %titles = ('adult' => 'Adult', 'one number' => 'Adult, years of education alone', 'two numbers' => 'Adult, age and education', 'three numbers' => 'Adult, age, education and hours', 'outcome' => 'Bank, outcome of the last campaign alone', 'five numbers' => 'Adult, its five numbers', 'few rows' => 'Adult, 2,000 rows, age and education',
		'ten features' => 'Adult, ten features', 'bank' => 'Bank', 'mnist7x7' => 'MNIST, 49 pixels, 20,000 rows', 'four pixels' => 'MNIST, four pixels', 'hours' => 'Adult, hours per week (root mean squared error)');
	heading('Forms of the papers beside vote and gradient');
	paragraph('Each table shows the accuracy of 100 answers within one budget of (1, 1e-6), the expectation on 1,000 other rows: one standard error of the rows is 0.014. "Worse" is what is below vote and gradient by more than 0.01.');
	my %seen;
	for my $problem (grep { !$seen{$_}++ } map { $_->[0] } @forms)
	{
		my @names = grep { has("papers/$problem/$_") } map { $_->[1] } grep { $_->[0] eq $problem } @forms or next;
		my $sign = $problem eq 'hours' ? -1 : 1;
		my ($vote) = sort { $b <=> $a } map { $sign * median("papers/$problem/$_") } grep { /^vote/ } @names;
		my $least = $sign * median("papers/$problem/gradient");
		$least = $vote if $vote < $least;
		table([ $titles{$problem} // $problem, 'accuracy', 'worse' ],
			map { my $value = median("papers/$problem/$_"); [ $_, number($value, 3), !/^(vote|gradient)/ && $sign * $value < $least - 0.01 ? 'than both' : '' ] } @names);
	}
	my @left = fact('papers_left_out');
	paragraph('Left out: ' . join('; ', @left) . '.') if @left;
}
1;
