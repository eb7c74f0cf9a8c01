# usage: perl report.pl SAMPLES DIRECTORY
#
# Prints the report and writes it as DIRECTORY/results.md, and in short, with its
# pictures, as DIRECTORY/benchmarks.md.
# Each part that was run reports what it measured by its own file NAME.pl.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Report;

Report::load(@ARGV);

my %seconds = map { split / / } fact('part');
my @parts = map { (split / /)[0] } fact('part');

for my $part (@parts)
{
	my $file = "$FindBin::Bin/$part.pl";
	next unless -e $file;
	# What one part could not make sense of is not the end of the others.
	next if defined do $file;
	print STDERR "report of $part: ", $@ || $!, "\n";
	paragraph("The report of part $part failed.");
}

heading('This run');
my $run = 'privpred ' . fact('version') . ', PostgreSQL ' . fact('server') . ', ' . fact('cores') . ' cores (' . fact('processor')
	. '), load at the start ' . fact('load') . ', ' . fact('seconds') . ' s in all';
my $missing = (fact('failed') ? ' Failed, so some of it is missing: ' . fact('failed') . '.' : '') . join('', map { " Left out: $_." } fact('left_out'));
headline { paragraph("$run.$missing") };
paragraph('Seconds of each part: ' . join(', ', map { "$_ $seconds{$_}" } @parts) . '.');

Report::finish('Written by `make bench SAVE=1`; run `make bench` to measure your own machine. [All tables and ranges](../test/bench/results.md) are kept apart. '
	. 'Things that are compared are measured in turn, ' . fact('repeat') . ' times unless stated otherwise, and a ratio is the median of such pairs. '
	. 'Where the target lies within the range of the pairs, this run does not decide. Trust ratios rather than times, and neither on a busy machine.',
	'Written by `make bench SAVE=1`; [benchmarks.md](../../docs/benchmarks.md) has the targets and pictures. Everything is measured in one run; '
	. 'things that are compared are measured in turn, ' . fact('repeat') . ' times unless stated otherwise. '
	. 'A ratio is the median of the ratios of measurements that follow each other, so it is not the quotient of two medians in a table; the range goes from the smallest ratio to the largest.');
print "\n";
