# usage: perl report.pl SAMPLES DIRECTORY
#
# Reads "name TAB value" lines, takes medians, prints the report, and writes it
# as DIRECTORY/benchmarks.md with its pictures.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Chart;

my ($file, $directory) = @ARGV;
my (%values, %facts, @sizes);

open(my $samples, '<', $file) or die "$file: $!\n";
while (<$samples>)
{
	chomp;
	my ($name, $value) = split /\t/;
	if ($name eq 'fact:size') { push @sizes, $value }
	elsif ($name =~ /^fact:(.*)/) { $facts{$1} = $value }
	elsif (defined $value && $value =~ /^-?[\d.]+(e[-+]?\d+)?$/i) { push @{ $values{$name} }, $value }
}

sub has { return !grep { !$values{$_} } @_ }

sub middle
{
	my @sorted = sort { $a <=> $b } @_;
	my $middle = int(@sorted / 2);
	return @sorted % 2 ? $sorted[$middle] : ($sorted[ $middle - 1 ] + $sorted[$middle]) / 2;
}

sub median { my ($name) = @_; return $values{$name} ? middle(@{ $values{$name} }) : undef }

# Of two things measured in turn: the ratios, pair by pair, and their median.
sub ratios
{
	my ($over, $under) = map { $values{$_} } @_;
	return () unless $over && $under;
	my $pairs = @$over < @$under ? @$over : @$under;
	return map { $over->[$_] / $under->[$_] } 0 .. $pairs - 1;
}

sub ratio { my @ratios = ratios(@_); return @ratios ? middle(@ratios) : undef }

sub number
{
	my ($value, $digits) = @_;
	return '' unless defined $value;
	my $text = sprintf "%.*f", $digits, $value;
	1 while $text =~ s/^(-?\d+)(\d{3})/$1,$2/;
	return $text;
}

# ---------- what is written, to the screen and to the page ----------

my $page = '';

sub say_both { my ($text) = @_; print "$text\n"; $page .= "$text\n" }
sub heading { my ($text) = @_; print "\n$text\n"; $page .= "\n## $text\n\n" }
sub picture { my ($alt, $name) = @_; $page .= "\n![$alt]($name)\n" }

# Columns of numbers are right-aligned, the first is not.
sub table
{
	my ($titles, @rows) = @_;
	my @width = map { length } @$titles;
	for my $row (@rows)
	{
		for (0 .. $#width)
		{
			$width[$_] = length $row->[$_] if length $row->[$_] > $width[$_];
		}
	}
	my $line = sub {
		my ($cells) = @_;
		return join '  ', map { sprintf $_ ? "%$width[$_]s" : "%-$width[$_]s", $cells->[$_] } 0 .. $#width;
	};
	print $line->($titles), "\n";
	print $line->($_), "\n" for @rows;
	$page .= '| ' . join(' | ', @$titles) . " |\n|---" . '|--:' x $#width . "|\n";
	$page .= '| ' . join(' | ', @$_) . " |\n" for @rows;
}

# ---------- targets ----------

my @targets;

# target WHAT [VALUE...] DIGITS UNIT RELATION LIMIT: their median is judged
sub target
{
	my ($what, $all, $digits, $unit, $relation, $limit) = @_;
	my @sorted = sort { $a <=> $b } grep { defined } @$all or return;
	my $value = middle(@sorted);
	my $range = @sorted > 1 ? number($sorted[0], $digits) . ' to ' . number($sorted[-1], $digits) : '';
	my $met = $relation eq '<=' ? $value <= $limit : $relation eq '<' ? $value < $limit : $value >= $limit;
	my $shown = { '<=' => 'at most', '<' => 'below', '>=' => 'at least' }->{$relation};
	push @targets, [ $what, number($value, $digits) . $unit, $range, "$shown $limit$unit", $met ? 'yes' : 'NO' ];
}

my ($headline) = sort { $b <=> $a } grep { $_ <= 1_000_000 } @sizes;
if ($headline && $headline == 1_000_000)
{
	my $rows = number($headline, 0);
	target("training, 100 logistic teachers, $rows rows, one process, against avg()",
		[ ratios("logistic/$headline", "avg/$headline") ], 2, ' x', '<=', 6);
	target("the same, against COPY BINARY to numpy and one scikit-learn model",
		[ ratios("logistic/$headline", "scikit-learn/$headline") ], 2, ' x', '<', 1);
}
target('an answer of 100 teachers x 20 features, array form', $values{'answer/array/2/100'}, 2, ' us', '<=', 5);
if (has('threshold/pure'))
{
	target('an answer of threshold on ' . number($facts{threshold_rows}, 0) . ' rows, beyond a vote of one teacher',
		$values{'threshold/pure'}, 2, ' us', '<=', 3);
	target('the same, to an account with delta', $values{'threshold/finite'}, 2, ' us', '<=', 3);
}
target('one durable debit against UPDATE + COMMIT, 1 client', [ ratios('tps/update/1', 'tps/debit/1') ], 2, ' x', '<=', 1.5);
target('debits against UPDATEs of one row, 32 clients', [ ratios('tps/debit/32', 'tps/update/32') ], 1, ' x', '>=', 5);
my $share = has('share/asleep') ? 100 * (median('share/asleep') + (median('share/awake') // 0)) : undef;
target('share of the ledger in 1,000,000 answers of one statement', [ $share ], 1, ' %', '<=', 10);
target('first debit after idle', $values{'idle/first'}, 1, ' ms', '<', 50);
if (has('memory/growth/linear'))
{
	target("memory, linear on " . number($facts{memory_rows}, 0) . " rows, beyond the model",
		[ median('memory/growth/linear') - median('memory/model/linear') ], 1, ' MB', '<=', $facts{maintenance_work_mem});
}
target('200,000 answers of a stream against the plain majority, 4,000 teachers, (1, 1e-6)',
	[ ratios('stream/sparse/200000', 'stream/majority') ], 4, '', '>=', 0.99);
target('the same by votes', $values{'stream/vote/200000'}, 3, '', '<', 0.9);
target('accuracy on Adult, 100 logistic teachers, epsilon 0.5', [ median('accuracy/adult/logistic/100/0.5') ], 4, '', '>=', 0.835);
target('accuracy on Adult of a student of 1,600 private labels, (2, 1e-6) in all', $values{'distill/adult'} // [], 4, '', '>=', 0.805);
target('training with gradient, 1,000,000 rows x 20, one process, against avg()', [ ratios('gradient/train', 'gradient/avg') ], 1, ' x', '<=', 10);
target("accuracy of gradient on Adult, total epsilon $_->[0], delta 1e-6", $values{"gradient/adult/$_->[0]"} // [], 4, '', '>=', $_->[1])
	foreach [ 0.1, 0.820 ], [ 0.5, 0.841 ], [ 1, 0.843 ], [ 8, 0.844 ];
target('accuracy of gradient on MNIST 7 x 7, ten classes, total epsilon 1 (0.901 without privacy)', $values{'gradient/mnist7x7/1'} // [], 4, '', '>=', 0.871);
foreach my $epsilon (grep { has("diffprivlib/adult/$_") } 0.1, 0.5, 1, 8)
{
	target("accuracy of gradient beyond diffprivlib's logistic regression, epsilon $epsilon",
		[ median("gradient/adult/$epsilon") - median("diffprivlib/adult/$epsilon") ], 4, '', '>=', 0);
}
target('accuracy on Adult, 25 boosted teachers, epsilon 0.5, accounts with delta', [ median('trees/approximate/adult/boost/25/0.5') ], 4, '', '>=', 0.856);
target('the same, 100 teachers, epsilon 0.1', [ median('trees/approximate/adult/boost/100/0.1') ], 4, '', '>=', 0.843);
target('training these 100 teachers, 30 rounds of depth 4', [ median('trees/seconds/adult/boost/100/0.1') ], 1, ' s', '<', 10);
target('an answer of theirs', $values{'trees/answer'}, 1, ' us', '<', 50);
if (has('trees/private/mnist7x7/boost/50/1', 'trees/private/mnist7x7/logistic/50/1'))
{
	target('accuracy on mnist7x7, 50 teachers, epsilon 1: boosted above logistic',
		[ 100 * (median('trees/private/mnist7x7/boost/50/1') - median('trees/private/mnist7x7/logistic/50/1')) ], 1, ' points', '>=', 5);
}

$page .= "# Benchmarks\n\nWritten by `make bench SAVE=1`; run `make bench` for those of your machine. Everything is measured in one run; "
	. "what is compared is measured in turn, at least $facts{repeat} times. "
	. "A ratio is the median of the ratios of neighbours in time, so it is not the quotient of two medians in a table; the range is from the smallest to the largest. "
	. "Where the range holds the target, this run does not decide. Trust ratios rather than times, and neither on a busy machine.\n\n";
print "\n";
say_both("privpred $facts{version}, PostgreSQL $facts{server}, $facts{cores} cores ($facts{processor}), load at the start $facts{load}, $facts{seconds} s in all.");
heading('Targets');
table([ 'what', 'here', 'range', 'target', 'met' ], @targets);

# ---------- training ----------

my @training = (
	[ 'SELECT avg(f1), ..., avg(f20)', 'avg' ],
	[ '100 linear teachers', 'linear' ],
	[ '100 logistic teachers', 'logistic' ],
	[ '100 logistic teachers, maintenance_work_mem = 1GB', 'logistic, 1 GB' ],
	[ 'avg, 2 workers', 'avg, parallel' ],
	[ '100 linear teachers, 2 workers', 'linear, parallel' ],
	[ '100 logistic teachers, 2 workers', 'logistic, parallel' ],
	[ '100 logistic teachers, 2 workers, maintenance_work_mem = 1GB', 'logistic, 1 GB, parallel' ],
	[ 'COPY BINARY to numpy alone', 'copy to numpy' ],
	[ 'COPY BINARY to numpy, one scikit-learn logistic regression', 'scikit-learn' ],
);
if (@sizes)
{
	heading('Training, 20 float8 columns');
	say_both("Milliseconds, and multiples of avg() in one process. One process unless workers are named; maintenance_work_mem is 64 MB unless it is named.\n");
	table([ 'what', map { my $n = number($_, 0); ("$n rows", 'x avg') } @sizes ],
		map {
			my ($what, $name) = @$_;
			[ $what, map { (number(median("$name/$_"), 0), number(ratio("$name/$_", "avg/$_"), 2)) } @sizes ]
		} grep { $values{"$_->[1]/$sizes[0]"} } @training);
	say_both("\nscikit-learn is not installed and was left out.") if $facts{no_sklearn};
	my @bars = map { [ $_->[0], ratio("$_->[1]/$headline", "avg/$headline") ] }
		grep { $values{"$_->[1]/$headline"} } @training;
	Chart::bars("$directory/benchmarks-training.svg",
		'Training time on ' . number($headline, 0) . ' rows, as a multiple of avg() in one process', 6, @bars);
	picture('Training time as a multiple of avg()', 'benchmarks-training.svg');
}

# ---------- prediction ----------

if (has('answer/array/2/100'))
{
	heading('Prediction, 20 features');
	say_both("Microseconds of one answer in a warm session, debit included: a statement over many rows with private_predict(), less the same statement without.\n");
	table([ 'classes, teachers', 'array', 'jsonb', 'row' ],
		map {
			my $classes = $_;
			map {
				my $teachers = $_;
				[ "$classes classes, $teachers teachers",
					map { number(median("answer/$_/$classes/$teachers"), 2) } qw(array jsonb row) ]
			} (10, 100, 1000)
		} (2, 10));
}

# ---------- ledger ----------

if (has('tps/debit/1'))
{
	heading('Ledger');
	say_both("Transactions a second of pgbench -M prepared on one account, and on one row; fsync and synchronous_commit on.\n");
	table([ 'clients', 'SELECT private_predict()', 'UPDATE + COMMIT', 'debits / updates' ],
		map { [ $_, number(median("tps/debit/$_"), 0), number(median("tps/update/$_"), 0),
				number(ratio("tps/debit/$_", "tps/update/$_"), 2) ] } (1, 8, 32));
	say_both("\nThe first answer after the ledger's process has gone to rest takes " . number(median('idle/first'), 1)
		. " ms, the next statement " . number(median('idle/next'), 2) . " ms.");
}
if (defined $share)
{
	say_both("\nOne statement with 1,000,000 answers took " . number(median('share/wall') / 1000, 2) . " s, of which "
		. number(100 * median('share/asleep'), 1) . " % asleep (wall time less /proc/PID/schedstat: waiting for the ledger, whose process waits for a processor when the machine is busy)"
		. (has('share/awake')
			? " and " . number(100 * median('share/awake'), 1) . " % awake in the ledger's code (perf: its functions, and the clock it reads for every answer)."
			: "; perf is not there to say how much of the rest is the ledger's code."));
}

# ---------- streams ----------

if (has('stream/majority'))
{
	my @counts = sort { $a <=> $b } map { m{^stream/vote/(\d+)} ? $1 : () } keys %values;
	my %of = map { my $kind = $_; ($kind => [ map { [ $_, median("stream/$kind/$_") ] } @counts ]) } qw(vote sparse);
	heading('A stream beside votes');
	say_both('Accuracy of so many answers within one budget of (1, 1e-6), ' . number($facts{stream_rows}, 0)
		. ' rows, 4,000 centroid teachers, two classes with a margin, 5% of the labels wrong, questions off the margin. '
		. 'Votes by the exponential mechanism, each at the largest epsilon that buys so many (expectation); '
		. 'a stream for 20 unstable answers at epsilon ' . number(median('stream/epsilon'), 4)
		. ' and delta 2.5e-8 each (as drawn; an unstable answer counts as wrong). The plain majority has '
		. number(median('stream/majority'), 4) . ". The stream gave " . number(median('stream/unstable'), 0)
		. ' unstable answers and ' . number(median('stream/answered'), 0) . ' others, '
		. number(median('stream/microseconds'), 1) . " us each.\n");
	table([ 'answers', 'votes', 'stream' ],
		map { [ number($_, 0), number(median("stream/vote/$_"), 4), number(median("stream/sparse/$_"), 4) ] } @counts);
	Chart::lines("$directory/streams.svg", 'Accuracy of the answers that a budget of (1, 1e-6) buys', 'answers',
		[ 'stream, T = 20', @{ $of{sparse} } ], [ 'votes', @{ $of{vote} } ],
		[ 'plain majority', map { [ $_, median('stream/majority') ] } @counts ]);
	picture('Accuracy by number of answers: a stream stays with the majority, votes fall', 'streams.svg');
}

# ---------- rates ----------

sub mean { my ($name) = @_; my $all = $values{$name} or return undef; my $sum = 0; $sum += $_ for @$all; return $sum / @$all }

# Rows at which the error falls to a limit, between the neighbours on a double logarithmic scale.
sub rows_for
{
	my ($limit, @points) = @_;
	for my $i (1 .. $#points)
	{
		my ($n, $error, $next_n, $next) = (@{ $points[ $i - 1 ] }, @{ $points[$i] });
		next unless $error > $limit && $next <= $limit;
		return $n * ($next_n / $n)**(log($error / $limit) / log($error / $next));
	}
	return undef;
}

if (has('rate/0/vote/1000'))
{
	my @names = qw(vote threshold average stable_flip relabel);
	my @sizes_of_rates = sort { $a <=> $b } map { m{^rate/0/vote/(\d+)} ? $1 : () } keys %values;
	my %curve;
	for my $name (@names)
	{
		$curve{$name} = [ map { [ $_, mean("rate/0/$name/$_") ] } grep { has("rate/0/$name/$_") } @sizes_of_rates ];
	}
	heading('How many rows');
	say_both('Expected error of one answer at epsilon 0.5 on x > 0.4, x uniform, by number of rows; means over tables. Parameters are declared for the number of rows. '
		. 'relabel takes ' . number(median('rate/relabel_needs'), 0) . " rows or more.\n");
	table([ 'rows', @names ], map { my $n = $_; [ number($n, 0), map { number(mean("rate/0/$_/$n"), 4) } @names ] } @sizes_of_rates);
	say_both("\nRows at which the error falls to a limit, between those measured.\n");
	table([ 'error', @names ], map { my $limit = $_; [ $limit, map { number(rows_for($limit, @{ $curve{$_} }), 0) } @names ] } 0.2, 0.1, 0.06, 0.03, 0.01);
	Chart::log_lines("$directory/rates.svg", 'Error of one answer at epsilon 0.5, by number of rows', 'rows',
		map { [ $_, @{ $curve{$_} } ] } @names);
	picture('Error by number of rows: two fall as 1/n, two as its root', 'rates.svg');
}

# ---------- memory ----------

if (has('memory/growth/linear'))
{
	heading('Memory of training');
	say_both("MB, " . number($facts{memory_rows}, 0) . " rows, 100 teachers, maintenance_work_mem $facts{maintenance_work_mem} MB. Growth is that of the backend's private memory "
		. "(RssAnon, looked at every 5 ms); VmHWM also counts shared buffers.\n");
	table([ 'learner', 'growth', 'model', 'VmHWM' ],
		map { [ $_, number(median("memory/growth/$_"), 1), number(median("memory/model/$_"), 2), number(median("memory/VmHWM/$_"), 1) ] }
			grep { has("memory/growth/$_") } qw(linear naive_bayes centroid logistic));
}

# ---------- accuracy ----------

my @datasets = grep { has("baseline/$_") } qw(synthetic adult mnist7x7);
my @lines;
for my $data (@datasets)
{
	my (%epsilons, %teachers, @learners);
	for (keys %values)
	{
		my (undef, $of, $learner, $k, $epsilon) = split m{/};
		next unless m{^accuracy/} && $of eq $data && $k > 1;
		if ($learner eq 'logistic') { $epsilons{$epsilon} = $teachers{$k} = 1 }
		elsif (!grep { $_ eq $learner } @learners) { push @learners, $learner }
	}
	my @epsilons = sort { $a <=> $b } keys %epsilons;
	my @teachers = sort { $a <=> $b } keys %teachers;

	heading("Accuracy on $data");
	say_both("Logistic teachers by epsilon of one answer (the exact expectation over the noise), and their plain majority. Always the most common class: "
		. number(median("baseline/$data"), 3)
		. (has("majority/$data/logistic/1") ? "; one logistic regression on all rows, not private: " . number(median("majority/$data/logistic/1"), 3) : '')
		. (has("best/$data") ? "; the best possible: " . number(median("best/$data"), 3) : '') . ".\n");
	table([ 'teachers', @epsilons, 'no noise' ],
		map { my $k = $_; [ $k, (map { number(median("accuracy/$data/logistic/$k/$_"), 3) } @epsilons),
				number(median("majority/$data/logistic/$k"), 3) ] } @teachers);
	say_both('');
	table([ '100 teachers, epsilon 0.5', 'private', 'no noise' ],
		map { [ $_, number(median("accuracy/$data/$_/100/0.5"), 3), number(median("majority/$data/$_/100"), 3) ] }
			sort grep { has("accuracy/$data/$_/100/0.5") } 'logistic', @learners);
	for my $k ($data eq 'synthetic' && @datasets > 1 ? () : @teachers)
	{
		push @lines, [ "$data, $k teachers", map { [ $_, median("accuracy/$data/logistic/$k/$_") ] }
				grep { has("accuracy/$data/logistic/$k/$_") } @epsilons ];
	}
}
if (@lines)
{
	Chart::lines("$directory/benchmarks-accuracy.svg", 'Accuracy of private answers by the epsilon of one answer',
		'epsilon of one answer', @lines);
	picture('Accuracy by epsilon', 'benchmarks-accuracy.svg');
}

print "\n";
open(my $out, '>', "$directory/benchmarks.md") or die "$directory/benchmarks.md: $!\n";
print $out $page;
close $out or die;
