# What reports are made of: measurements and their medians, targets, and two
# pages.  Everything is printed and goes to results.md; the targets, pictures and
# what a part calls a headline make benchmarks.md, for people in a hurry.
package Report;
use strict;
use warnings;
use Exporter 'import';
use Chart;

our @EXPORT = qw(all fact has headline median mean middle names number paragraph picture ratio ratios heading table target text);

my (%values, %facts, @targets, @headlines, $directory);
my ($page, $short, $section) = ('', '', '');

# ---------- measurements ----------

# load SAMPLES DIRECTORY: reads "name TAB value" lines; pictures go to the directory
sub load
{
	(my $file, $directory) = @_;
	open(my $samples, '<', $file) or die "$file: $!\n";
	while (<$samples>)
	{
		chomp;
		my ($name, $value) = split /\t/;
		if ($name =~ /^fact:(.*)/) { push @{ $facts{$1} }, $value }
		elsif (defined $value && $value =~ /^-?[\d.]+(e[-+]?\d+)?$/i) { push @{ $values{$name} }, $value }
	}
}

# The last that was said; all of them for a list.
sub fact { my ($name) = @_; my $all = $facts{$name} // []; return wantarray ? @$all : $all->[-1] }

sub names { my ($pattern) = @_; return sort grep { $_ =~ $pattern } keys %values }
sub all { my ($name) = @_; return @{ $values{$name} // [] } }
sub has { return !grep { !$values{$_} } @_ }

sub middle
{
	my @sorted = sort { $a <=> $b } @_ or return undef;
	my $middle = int(@sorted / 2);
	return @sorted % 2 ? $sorted[$middle] : ($sorted[ $middle - 1 ] + $sorted[$middle]) / 2;
}

sub median { return scalar middle(all(@_)) }

sub mean { my @all = all(@_) or return undef; my $sum = 0; $sum += $_ for @all; return $sum / @all }

# Of two things measured in turn: the ratios, pair by pair, and their median.
sub ratios
{
	my ($over, $under) = map { [ all($_) ] } @_;
	my $pairs = @$over < @$under ? @$over : @$under;
	return map { $over->[$_] / $under->[$_] } 0 .. $pairs - 1;
}

sub ratio { return scalar middle(ratios(@_)) }

# ---------- what is written, to the screen and to the pages ----------

sub number
{
	my ($value, $digits) = @_;
	return '' unless defined $value;
	my $text = sprintf "%.*f", $digits, $value;
	$text =~ s/^-(?=[0.]*$)//;
	1 while $text =~ s/^(-?\d+)(\d{3})/$1,$2/;
	return $text;
}

sub text { my ($text) = @_; print $text; $page .= $text }
sub paragraph { my ($text) = @_; text("\n$text\n") }

sub heading
{
	my ($text) = @_;
	print "\n$text\n";
	$section = "\n## $text\n";
	$page .= $section;
}

# On the short page a heading waits for something to stand below it.
sub shorten { my ($text) = @_; $short .= $section . $text; $section = '' }

# headline { ... }: what is written by this goes to both pages
sub headline(&)
{
	my ($write) = @_;
	my $before = length $page;
	$write->();
	shorten(substr($page, $before));
}

# picture ALT NAME KIND ARGUMENT...: one of Chart's, for both pages; it is kept with the short one
sub picture
{
	my ($alt, $name, $kind, @arguments) = @_;
	Chart->can($kind)->("$directory/$name", @arguments);
	$page .= "\n![$alt](../../docs/$name)\n";
	shorten("\n![$alt]($name)\n");
}

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
		return join('  ', map { sprintf $_ ? "%$width[$_]s" : "%-$width[$_]s", $cells->[$_] } 0 .. $#width) . "\n";
	};
	print "\n", map { $line->($_) } $titles, @rows;
	$page .= "\n| " . join(' | ', @$titles) . " |\n|---" . '|--:' x $#width . "|\n";
	$page .= '| ' . join(' | ', @$_) . " |\n" for @rows;
}

# ---------- targets ----------

my %relations = (
	'<=' => [ 'at most', sub { $_[0] <= $_[1] } ],
	'<' => [ 'below', sub { $_[0] < $_[1] } ],
	'>=' => [ 'at least', sub { $_[0] >= $_[1] } ],
);

# target WHAT [VALUE...] DIGITS UNIT RELATION LIMIT [HEADLINE]: their median is judged; where
# some alone would meet it and others would not, that is said.  The short page has the headlines
# and whatever was missed.
sub target
{
	my ($what, $all, $digits, $unit, $relation, $limit, $headline) = @_;
	my @sorted = sort { $a <=> $b } grep { defined } @$all or return;
	my ($shown, $met) = @{ $relations{$relation} };
	my $value = middle(@sorted);
	my $range = @sorted > 1 ? number($sorted[0], $digits) . ' to ' . number($sorted[-1], $digits) : '';
	my $verdict = $met->($value, $limit) ? 'yes' : 'NO';
	$verdict .= ', range holds it' if $met->($sorted[0], $limit) != $met->($sorted[-1], $limit);
	my $row = [ $what, number($value, $digits) . $unit, $range, "$shown $limit$unit", $verdict ];
	push @targets, $row;
	push @headlines, $row if $headline || $verdict =~ /^NO/;
}

# ---------- the pages ----------

sub write_page
{
	my ($name, @text) = @_;
	open(my $out, '>', "$directory/$name") or die "$directory/$name: $!\n";
	print $out @text;
	close $out or die "$directory/$name: $!\n";
}

# finish INTRODUCTION HOW: prints the targets, and writes the pages with them on top;
# the longer one also says how it was measured
sub finish
{
	my ($introduction, $how) = @_;
	my ($body, $pictures) = ($page, $short);
	$page = "# Results of `make bench`\n\n$how\n";
	heading('Targets');
	table([ 'what', 'here', 'range', 'target', 'met' ], @targets);
	write_page('results.md', $page, $body);
	my $met = grep { $_->[4] !~ /^NO/ } @targets;
	$short = "# Benchmarks\n\n$introduction\n\n## Targets\n\n$met of " . @targets . " targets are met. The table has the main ones, and those that are not.\n"
		. "\n| what | here | target | met |\n|---|--:|--:|--:|\n";
	$short .= '| ' . join(' | ', @$_[ 0, 1, 3, 4 ]) . " |\n" for @headlines;
	write_page('benchmarks.md', $short, $pictures);
}

1;
