# What came of rounds of crash.pl: a table, printed and in DIR/table.md, and a picture, DIR/crashes.svg.
#
# usage: report.pl DIR FILE...		rounds.txt of one run or of several
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../bench";
use Chart;
use List::Util qw(max sum);
use POSIX qw(log10);

my ($dir, @files) = @ARGV;
my (%by, @all);
for my $file (@files)
{
	open(my $in, '<', $file) or die "$file: $!\n";
	while (my $line = <$in>)
	{
		chomp $line;
		my %round;
		@round{qw(name got paid orphaned problems)} = split /\t/, $line;
		push @{ $by{ $round{name} } }, \%round;
		push @all, \%round;
	}
}
@all or die "no rounds\n";

sub with_commas { my ($n) = @_; 1 while $n =~ s/^(-?\d+)(\d{3})/$1,$2/; return $n }

# What an asynchronous standby has not got, it cannot know to be paid for.
sub row
{
	my ($name, @rounds) = @_;
	my @over = map { $_->{paid} - $_->{got} } @rounds;
	my ($mean, $most) = $name =~ /, behind$/ ? ('–', '–') : (sprintf('%.1f', sum(@over) / @over), max(@over));
	return sprintf "| %s | %d | %s | %s | %s | %s | %d |\n", $name, scalar @rounds, with_commas(sum(map { $_->{got} } @rounds)), with_commas(sum(map { $_->{paid} } @rounds)),
	  $mean, $most, scalar grep { $_->{problems} } @rounds;
}

my @names = sort keys %by;
my $table = "| what happened | rounds | answers received | paid for | overcharge, mean | most | rounds with a violation |\n|---|---|---|---|---|---|---|\n";
$table .= row($_, @{ $by{$_} }) for @names;
my @whole = grep { $_->{name} !~ /, behind$/ } @all;
$table .= row('**all, without those behind**', @whole) if @whole;
open(my $out, '>', "$dir/table.md") or die "$dir: $!\n";
print $out $table;
close $out or die;
print $table;

# A dot for each round, on a logarithmic scale.
@names = grep { !/, behind$/ } @names;
my ($left, $top, $step, $width) = (250, 60, 20, 900);
sub place { return $left + ($width - $left - 30) * log10(1 + max(0, $_[0])) / log10(5000) }
my $body = '';
for my $tick (0, 1, 10, 100, 1000)
{
	$body .= sprintf qq{<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>\n}, place($tick), $top - 8, place($tick), $top + $step * @names;
	$body .= Chart::label(place($tick), $top - 12, $tick, 'text-anchor="middle"');
}
for my $i (0 .. $#names)
{
	my $y = $top + $step * $i + $step / 2;
	$body .= Chart::label($left - 10, $y + 4, $names[$i], 'text-anchor="end"');
	$body .= sprintf qq{<circle cx="%.1f" cy="%.1f" r="2.5" fill="#1f6f8b" fill-opacity="0.4"/>\n}, place($_->{paid} - $_->{got}), $y for @{ $by{ $names[$i] } };
}
Chart::write_picture("$dir/crashes.svg", $width, $top + $step * @names + 15, 'Answers that were paid for and not received: a dot for each round', $body);
