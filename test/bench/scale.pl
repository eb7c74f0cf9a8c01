# The pictures of docs/scale.md, from the table that it has: docs/scale-bytes.svg and docs/scale-time.svg.
#
# usage: test/bench/scale.pl	(in the source directory; measuring needs Citus, which is built elsewhere)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Chart;

my (@names, %bytes, %time);
open(my $in, '<', 'docs/scale.md') or die "docs/scale.md: $!\n";
while (<$in>)
{
	next unless (/^\| rows \| workers/ .. /^$/) && /\S/;
	my (undef, $rows, $workers, @cells) = split /\s*\|\s*/;
	if ($rows eq 'rows') { @names = map { tr/`//dr } @cells; next }
	next if $rows !~ /^[\d,]+$/;
	$rows =~ tr/,//d;
	for my $i (0 .. $#names)
	{
		my ($name, $what) = $names[$i] =~ /^(.*), (s|MB)$/ or die "no unit: $names[$i]\n";
		if ($what eq 's') { push @{ $time{"$name, $workers worker" . ($workers > 1 ? 's' : '') } }, [ $rows, $cells[$i] ] }
		elsif ($workers == 2) { push @{ $bytes{$name} }, [ $rows, $cells[$i] ] }
	}
}
close $in;
die "no table in docs/scale.md\n" unless %bytes;

sub lines { my ($of) = @_; return map { [ $_, sort { $a->[0] <=> $b->[0] } @{ $of->{$_} } ] } sort keys %$of }

Chart::log_lines('docs/scale-bytes.svg', 'MB to the coordinator for one training, by number of rows', 'rows of 20 numbers in 16 shards on two workers', lines(\%bytes));
Chart::log_lines('docs/scale-time.svg', 'Seconds of one training, by number of rows', 'rows of 20 numbers in 16 shards, all nodes on one machine of two cores', lines(\%time));
