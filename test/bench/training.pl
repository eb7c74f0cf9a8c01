# Reports training.sh, and the times of growth.sh.
use strict;
use warnings;
use Report;

# What, its name, the most it may take as a multiple of avg() on 1,000,000 rows.
my @training = (
	[ 'SELECT avg(f1), ..., avg(f20)', 'avg' ],
	[ '100 linear teachers', 'linear', 3 ],
	[ '100 logistic teachers', 'logistic', 5.5 ],
	[ '100 logistic teachers, 1 GB', 'logistic, 1 GB' ],
	[ 'avg, 2 workers', 'avg, parallel' ],
	[ '100 linear teachers, 2 workers', 'linear, parallel', 2.5 ],
	[ '100 logistic teachers, 2 workers', 'logistic, parallel', 4 ],
	[ '100 logistic teachers, 2 workers, 1 GB', 'logistic, 1 GB, parallel' ],
	[ 'COPY BINARY to numpy', 'copy to numpy' ],
	[ 'COPY BINARY to numpy, scikit-learn', 'copy, scikit-learn' ],
	[ 'fetchall() to numpy', 'fetchall to numpy' ],
	[ 'fetchall() to numpy, scikit-learn', 'fetchall, scikit-learn' ],
	[ 'COPY to a file for liblinear', 'file for liblinear' ],
	[ 'COPY to a file, liblinear', 'liblinear' ],
);
my @sizes = sort { $a <=> $b } fact('size');
my $headline = 1_000_000;

# Above the headline there are too few to pair.
sub multiple
{
	my ($name, $size) = @_;
	return undef unless has("$name/$size", "avg/$size");
	return $size > $headline ? median("$name/$size") / median("avg/$size") : ratio("$name/$size", "avg/$size");
}

if (@sizes)
{
	heading('Training, 20 float8 columns');
	paragraph("The table shows milliseconds, and multiples of avg() in one process. Training uses one process unless workers are named; maintenance_work_mem is 64 MB unless 1 GB is named. "
		. "The other programs make one model, not private, of all rows, outside the server. Slow ones were measured fewer times: "
		. "fetchall() and liblinear once with 1,000,000 rows, everything but avg() once with more. The 10,000,000 rows are 1,000,000 rows ten times, each with an id of its own.");
	table([ 'what', map { my $n = number($_, 0); ("$n rows", 'x avg') } @sizes ],
		map {
			my ($what, $name) = @$_;
			[ $what, map { (number(median("$name/$_"), 0), number(multiple($name, $_), 2)) } @sizes ]
		} grep { has("$_->[1]/$sizes[0]") } @training);
	if (has("avg/$headline"))
	{
		picture('Training time as a multiple of avg()', 'benchmarks-training.svg', 'bars',
			'Training time on 1,000,000 rows, as a multiple of avg() in one process',
			map { [ $_->[0], multiple($_->[1], $headline), $_->[2] ] } grep { has("$_->[1]/$headline") } @training);
	}
	if (@sizes > 1)
	{
		picture('Training time by number of rows', 'benchmarks-growth.svg', 'log_lines',
			'Seconds by number of rows, in one process', 'rows',
			map {
				my ($what, $name) = @$_;
				[ $what, map { [ $_, median("$name/$_") / 1000 ] } grep { has("$name/$_") } @sizes ]
			} grep { has("$_->[1]/$headline") } map { my $name = $_; grep { $_->[1] eq $name } @training }
				'liblinear', 'fetchall, scikit-learn', 'copy, scikit-learn', 'logistic', 'linear', 'avg');
	}
}

foreach (grep { $_->[2] } @training)
{
	my ($what, $name, $most) = @$_;
	target("training, $what, 1,000,000 rows, against avg()", [ ratios("$name/$headline", "avg/$headline") ], 2, ' x', '<=', $most, $name !~ /parallel/);
}
target('100 logistic teachers against COPY BINARY to numpy and one scikit-learn model',
	[ ratios("logistic/$headline", "copy, scikit-learn/$headline") ], 2, ' x', '<', 1, 'headline');
1;
