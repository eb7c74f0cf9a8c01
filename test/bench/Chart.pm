# Plain pictures in SVG, for docs/benchmarks.md.
package Chart;
use strict;
use warnings;
use POSIX qw(ceil floor log10);

my @colours = ('#1f6f8b', '#c8553d', '#588157', '#6d597a', '#b08900', '#3d405b', '#8a8a8a');

sub escape
{
	my ($text) = @_;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	return $text;
}

sub label
{
	my ($x, $y, $text, $more) = @_;
	return sprintf qq{<text x="%.1f" y="%.1f" %s>%s</text>\n}, $x, $y, $more // '', escape($text);
}

sub write_picture
{
	my ($file, $width, $height, $title, $body) = @_;
	open(my $out, '>', $file) or die "$file: $!\n";
	print $out qq{<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" }
		. qq{font-family="sans-serif" font-size="13" role="img">\n}
		. qq{<title>@{[ escape($title) ]}</title>\n<rect width="$width" height="$height" fill="white"/>\n}
		. label(10, 22, $title, 'font-weight="bold"') . $body . "</svg>\n";
	close $out or die "$file: $!\n";
}

# bars FILE TITLE [LABEL, VALUE, MOST]...: horizontal, with a mark at the most it may be, if any
sub bars
{
	my ($file, $title, @bars) = @_;
	my ($left, $top, $step, $width) = (270, 40, 26, 900);
	my $height = $top + $step * @bars + 10;
	my ($max) = sort { $b <=> $a } map { grep { defined } @$_[ 1, 2 ] } @bars;
	my $scale = ($width - $left - 130) / $max;
	my $body = '';

	for my $i (0 .. $#bars)
	{
		my ($name, $value, $most) = @{ $bars[$i] };
		my $y = $top + $step * $i;
		my $end = $left + $scale * (defined $most && $most > $value ? $most : $value);
		$body .= label($left - 8, $y + 16, $name, 'text-anchor="end"');
		$body .= sprintf qq{<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>\n},
			$left, $y + 3, $value * $scale, $step - 8, $name =~ /teachers/ ? $colours[0] : $colours[6];
		$body .= sprintf qq{<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="3"/>\n},
			$left + $most * $scale, $y + 1, $left + $most * $scale, $y + $step - 3, $colours[1] if defined $most;
		$body .= label($end + 6, $y + 16, sprintf('%.2f', $value) . (defined $most ? ", at most $most" : ''));
	}
	write_picture($file, $width, $height, $title, $body);
}

# lines FILE TITLE LABEL_OF_X [LABEL, [X, Y]...]...: x on a logarithmic scale, y from 0.1 steps to 1
sub lines
{
	my ($file, $title, $of_x, @lines) = @_;
	my ($low) = sort { $a <=> $b } map { my (undef, @p) = @$_; map { $_->[1] } @p } @lines;
	$low = int($low * 10) / 10;
	draw($file, $title, $of_x, [ map { sprintf '%.1f', $low + $_ / 10 } 0 .. (1 - $low) * 10 + 0.001 ], sub { $_[0] }, @lines);
}

# log_lines: the same with both on logarithmic scales, y at 1, 2 and 5 times powers of ten
sub log_lines
{
	my ($file, $title, $of_x, @lines) = @_;
	my ($low, @rest) = sort { $a <=> $b } map { my (undef, @p) = @$_; map { $_->[1] } @p } @lines;
	my $high = $rest[-1] // $low;
	my @grid = map { my $power = $_; map { $_ * 10**$power } 1, 2, 5 } floor(log10($low)) .. ceil(log10($high));
	shift @grid while @grid > 2 && $grid[1] <= $low;
	pop @grid while @grid > 2 && $grid[-2] >= $high;
	draw($file, $title, $of_x, \@grid, sub { log $_[0] }, @lines);
}

# draw ... [Y OF GRID]... SCALE_OF_Y ...
sub draw
{
	my ($file, $title, $of_x, $grid, $scale, @lines) = @_;
	my ($longest) = sort { $b <=> $a } map { length $_->[0] } @lines;
	my ($left, $right, $top, $bottom, $width, $height) = (60, 40 + 7.5 * $longest, 45, 45, 900, 420);
	my @points = map { my (undef, @p) = @$_; @p } @lines;
	my @x = sort { $a <=> $b } keys %{ { map { $_->[0] => 1 } @points } };
	my ($low, $high) = map { $scale->($_) } @$grid[ 0, -1 ];
	my $span = @x > 1 ? log($x[-1] / $x[0]) : 1;
	my $px = sub { $left + log($_[0] / $x[0]) / $span * ($width - $left - $right) };
	my $py = sub { $height - $bottom - ($scale->($_[0]) - $low) / ($high - $low) * ($height - $top - $bottom) };
	my $body = '';

	for my $y (@$grid)
	{
		$body .= sprintf qq{<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>\n}, $left, $py->($y), $width - $right, $py->($y);
		$body .= label($left - 8, $py->($y) + 4, $y < 0.001 ? sprintf('%.10f', $y) =~ s/0+$//r : $y, 'text-anchor="end"');
	}
	$body .= label($px->($_), $height - $bottom + 20, $_ =~ s/(?<=\d)(?=(\d{3})+$)/,/gr, 'text-anchor="middle"') for @x;
	$body .= label(($left + $width - $right) / 2, $height - 8, $of_x, 'text-anchor="middle"');
	for my $i (0 .. $#lines)
	{
		my ($name, @p) = @{ $lines[$i] };
		my $colour = $colours[ $i % @colours ];
		$body .= sprintf qq{<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>\n}, $colour,
			join ' ', map { sprintf '%.1f,%.1f', $px->($_->[0]), $py->($_->[1]) } @p;
		$body .= sprintf qq{<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>\n}, $px->($_->[0]), $py->($_->[1]), $colour for @p;
		$body .= label($width - $right + 20, $top + 12 + 20 * $i, $name, qq{fill="$colour"});
	}
	write_picture($file, $width, $height, $title, $body);
}

1;
