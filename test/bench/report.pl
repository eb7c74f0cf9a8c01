# usage: perl report.pl SAMPLES DIRECTORY
#
# Prints the report and writes it as DIRECTORY/benchmarks.md with its pictures.
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
paragraph('privpred ' . fact('version') . ', PostgreSQL ' . fact('server') . ', ' . fact('cores') . ' cores (' . fact('processor')
	. '), load at the start ' . fact('load') . ', ' . fact('seconds') . ' s in all: '
	. join(', ', map { "$_ $seconds{$_}" } @parts) . '.'
	. (fact('failed') ? ' Failed, so some of it is missing: ' . fact('failed') . '.' : '')
	. join('', map { " Left out: $_." } fact('left_out')));

Report::finish('Written by `make bench SAVE=1`; run `make bench` to measure your own machine. Everything is measured in one run; '
	. 'things that are compared are measured in turn, ' . fact('repeat') . ' times unless stated otherwise. '
	. 'A ratio is the median of the ratios of measurements that follow each other, so it is not the quotient of two medians in a table; the range goes from the smallest ratio to the largest. '
	. 'If the target lies within the range, this run does not decide. Trust ratios rather than times, and trust neither on a busy machine.');
print "\n";
