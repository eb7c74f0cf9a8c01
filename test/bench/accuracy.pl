# Reports accuracy.sh.
use strict;
use warnings;
use Report;

my @datasets = grep { has("baseline/$_") } qw(synthetic adult mnist7x7);
my @lines;

for my $data (@datasets)
{
	my (%epsilons, %teachers, %learners);
	for (names(qr{^accuracy/\Q$data\E/}))
	{
		my (undef, undef, $learner, $k, $epsilon) = split m{/};
		next unless $k > 1;
		if ($learner eq 'logistic') { $epsilons{$epsilon} = $teachers{$k} = 1 }
		$learners{$learner} = 1;
	}
	my @epsilons = sort { $a <=> $b } keys %epsilons;
	my @teachers = sort { $a <=> $b } keys %teachers;

	heading("Accuracy on $data");
	paragraph("The table shows the accuracy of logistic teachers by the epsilon of one answer (the exact expectation over the noise), and that of their plain majority. Always giving the most common class: "
		. number(median("baseline/$data"), 3)
		. (has("majority/$data/logistic/1") ? "; one logistic regression on all rows, not private: " . number(median("majority/$data/logistic/1"), 3) : '')
		. (has("best/$data") ? "; the best possible: " . number(median("best/$data"), 3) : '') . ".");
	table([ 'teachers', @epsilons, 'no noise' ],
		map { my $k = $_; [ $k, (map { number(median("accuracy/$data/logistic/$k/$_"), 3) } @epsilons),
				number(median("majority/$data/logistic/$k"), 3) ] } @teachers);
	table([ '100 teachers, epsilon 0.5', 'private', 'no noise' ],
		map { [ $_, number(median("accuracy/$data/$_/100/0.5"), 3), number(median("majority/$data/$_/100"), 3) ] }
			sort grep { has("accuracy/$data/$_/100/0.5") } keys %learners);
	for my $k ($data eq 'synthetic' && @datasets > 1 ? () : @teachers)
	{
		push @lines, [ "$data, $k teachers", map { [ $_, median("accuracy/$data/logistic/$k/$_") ] }
				grep { has("accuracy/$data/logistic/$k/$_") } @epsilons ];
	}
}
if (@lines)
{
	heading('Accuracy by epsilon');
	picture('Accuracy by epsilon', 'benchmarks-accuracy.svg', 'lines', 'Accuracy of private answers by the epsilon of one answer',
		'epsilon of one answer', @lines);
}

target('accuracy on Adult, 100 logistic teachers, epsilon 0.5', [ median('accuracy/adult/logistic/100/0.5') ], 4, '', '>=', 0.835, 'headline');
1;
