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

# labelled_lines FILE TITLE OF_X OF_Y LOW HIGH STEP [LABEL, line|level, [X, Y]...]...: x on
# a logarithmic scale; each line is named where it ends, levels are dashed, points below LOW
# are left out; light and dark
sub labelled_lines
{
	my ($file, $title, $of_x, $of_y, $low, $high, $step, @lines) = @_;
	my ($left, $right, $top, $bottom, $width, $height) = (70, 170, 56, 56, 880, 500);
	my @light = ('#3566c5', '#d3722c', '#2f8f6b', '#a64ca6', '#a88a10', '#2a8ba8', '#b8455f', '#5b6478');
	my @dark = ('#6f9cf0', '#f09a5a', '#57c79b', '#d083d0', '#e0c64f', '#5cc6e0', '#ef7f98', '#a9b3c7');
	my @x = sort { $a <=> $b } keys %{ { map { my (undef, undef, @p) = @$_; map { $_->[0] => 1 } @p } @lines } };
	@lines = grep { @$_ > 2 } map { my ($name, $kind, @p) = @$_; [ $name, $kind, grep { $_->[1] >= $low } @p ] } @lines;
	my $px = sub { $left + log($_[0] / $x[0]) / log($x[-1] / $x[0]) * ($width - $left - $right) };
	my $py = sub { $height - $bottom - ($_[0] - $low) / ($high - $low) * ($height - $top - $bottom) };
	my $style = sub { join '', map { ".l$_\{stroke:$_[$_]\}.t$_\{fill:$_[$_]\}" } 0 .. $#_ };
	my $body = '';

	for (my $y = $low; $y <= $high + $step / 2; $y += $step)
	{
		$body .= sprintf qq{<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>\n}, $left, $py->($y), $width - $right, $py->($y);
		$body .= label($left - 8, $py->($y) + 4, sprintf('%.2f', $y), 'class="muted" text-anchor="end"');
	}
	$body .= label($px->($_), $height - $bottom + 20, $_ =~ s/(?<=\d)(?=(\d{3})+$)/,/gr, 'class="muted" text-anchor="middle"') for @x;
	$body .= label(($left + $width - $right) / 2, $height - 12, $of_x, 'text-anchor="middle"');
	$body .= sprintf qq{<text transform="translate(22 %.1f) rotate(-90)" text-anchor="middle">%s</text>\n}, ($top + $height - $bottom) / 2, escape($of_y);

	# Names as near to the ends as 17 pixels between them allow.
	my @ends = sort { $a->[1] <=> $b->[1] } map { [ $_, $py->($lines[$_][-1][1]) ] } 0 .. $#lines;
	my $free = $top - 10;
	for my $end (@ends) { $end->[2] = $end->[1] > $free ? $end->[1] : $free; $free = $end->[2] + 17 }
	my $limit = $height - $bottom + 8;
	for my $end (reverse @ends) { $end->[2] = $limit if $end->[2] > $limit; $limit = $end->[2] - 17 }
	my $colours = 0;
	my %class;
	for my $i (0 .. $#lines)
	{
		my ($name, $kind, @p) = @{ $lines[$i] };
		my $c = $kind eq 'level' ? 'level' : 'l' . $colours;
		$class{$i} = $kind eq 'level' ? 'muted' : 't' . $colours++;
		$body .= sprintf qq{<polyline class="%s" fill="none" stroke-width="%s" points="%s"/>\n}, $c, $kind eq 'level' ? '1.5" stroke-dasharray="7 5' : '2.25',
			join ' ', map { sprintf '%.1f,%.1f', $px->($_->[0]), $py->($_->[1]) } @p;
		next if $kind eq 'level';
		$body .= sprintf qq{<circle class="%s" cx="%.1f" cy="%.1f" r="3"/>\n}, $class{$i}, $px->($_->[0]), $py->($_->[1]) for @p;
	}
	for my $end (@ends)
	{
		my ($i, $from, $to) = @$end;
		my $x = $px->($lines[$i][-1][0]);
		$body .= sprintf qq{<path class="grid" fill="none" d="M%.1f %.1fL%.1f %.1f"/>\n}, $x + 5, $from, $width - $right + 20, $to;
		$body .= label($width - $right + 24, $to + 4, $lines[$i][0], qq{class="$class{$i}"});
	}
	open(my $out, '>', $file) or die "$file: $!\n";
	print $out qq{<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" }
		. qq{font-family="sans-serif" font-size="13" role="img">\n<title>@{[ escape($title) ]}</title>\n<style>\n}
		. '.page{fill:#fff}text{fill:#1a1f2b}.muted{fill:#667085}.grid{stroke:#e3e6ed}.level{stroke:#98a1b2}' . $style->(@light) . "\n"
		. '@media (prefers-color-scheme:dark){.page{fill:#1b1f28}text{fill:#e4e8f0}.muted{fill:#98a2b5}.grid{stroke:#2d3341}.level{stroke:#7d8798}' . $style->(@dark) . "}\n"
		. qq{</style>\n<rect class="page" width="$width" height="$height"/>\n} . label(16, 28, $title, 'font-size="15" font-weight="bold"') . $body . "</svg>\n";
	close $out or die "$file: $!\n";
}

1;
