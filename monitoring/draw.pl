#!/usr/bin/perl
# Draws the panels of dashboard.json from a Prometheus, without a Grafana: so we see that every
# query of it finds data, and what that looks like.
#
# usage: monitoring/draw.pl http://127.0.0.1:9090 MINUTES [END] >panels.svg
use strict;
use warnings;
use FindBin;
use HTTP::Tiny;
use JSON::PP;
use List::Util qw(max min);

my ($server, $minutes, $end) = @ARGV;
die "usage: $0 URL MINUTES [END]\n" unless $server && $minutes;
$end ||= time;
my $start = $end - 60 * $minutes;
my $step = max(1, int(60 * $minutes / 200));
my @colours = map { "#$_" } qw(3b6fb6 c4572b 4b9a57 8659a8 b59a1e 2f9a9a);

open my $file, '<', "$FindBin::RealBin/dashboard.json" or die "dashboard.json: $!\n";
my $dashboard = decode_json(join '', <$file>);

sub escaped { my ($text) = @_; $text =~ s/&/&amp;/g; $text =~ s/</&lt;/g; return $text }

# The series of a query: [name, [[time, value], ...]]
sub series
{
	my ($target) = @_;
	my $query = $target->{expr} =~ s/\$__rate_interval/1m/gr =~ s/\$datname/.*/gr;
	my $http = HTTP::Tiny->new;
	my $answer = $http->get("$server/api/v1/query_range?" . $http->www_form_urlencode({ query => $query, start => $start, end => $end, step => $step }));
	die "$query: $answer->{status} $answer->{content}\n" unless $answer->{success};
	my @series;
	foreach my $result (@{ decode_json($answer->{content})->{data}{result} })
	{
		my $name = $target->{legendFormat} =~ s/\{\{(\w+)\}\}/$result->{metric}{$1} \/\/ ''/ger;
		push @series, [ $name, [ grep { $_->[1] =~ /^[-+.\de]+$/ } @{ $result->{values} } ] ];
	}
	return sort { $a->[0] cmp $b->[0] } @series;
}

sub amount
{
	my ($value, $unit) = @_;
	return sprintf '%.0f%%', 100 * $value if $unit eq 'percentunit';
	return $value >= 3600 ? sprintf('%.1f h', $value / 3600) : $value >= 1 ? sprintf('%.0f s', $value) : sprintf('%.1f ms', 1000 * $value) if $unit eq 's';
	return $value >= 1e6 ? sprintf('%.1f MB', $value / 1e6) : sprintf('%.0f kB', $value / 1e3) if $unit eq 'bytes';
	return sprintf '%.3g', $value;
}

my ($cell, $line) = (36, 26);
my $height = max(map { $_->{gridPos}{y} + $_->{gridPos}{h} } @{ $dashboard->{panels} });
printf qq{<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">\n<rect width="100%%" height="100%%" fill="#ffffff"/>\n}, 24 * $cell, $height * $line;
my $empty = 0;
foreach my $panel (@{ $dashboard->{panels} })
{
	my ($x, $y, $w, $h) = ($panel->{gridPos}{x} * $cell + 4, $panel->{gridPos}{y} * $line + 4, $panel->{gridPos}{w} * $cell - 8, $panel->{gridPos}{h} * $line - 8);
	my $defaults = $panel->{fieldConfig}{defaults};
	my @series = map { series($_) } @{ $panel->{targets} };
	print qq{<rect x="$x" y="$y" width="$w" height="$h" fill="none" stroke="#cccccc"/>\n};
	printf qq{<text x="%d" y="%d" font-weight="bold">%s</text>\n}, $x + 8, $y + 18, escaped($panel->{title});
	if (!grep { @{ $_->[1] } } @series)
	{
		warn "no data: $panel->{title}\n";
		$empty++;
		next;
	}
	if ($panel->{type} eq 'stat')
	{
		my $last = $series[0][1][-1][1];
		my $colour = 'green';
		foreach (@{ $defaults->{thresholds}{steps} }) { $colour = $_->{color} if !defined $_->{value} || $last >= $_->{value} }
		printf qq{<text x="%d" y="%d" font-size="30" text-anchor="middle" fill="%s">%s</text>\n}, $x + $w / 2, $y + $h / 2 + 22, $colour, amount($last, $defaults->{unit});
		next;
	}
	my @values = map { map { $_->[1] } @{ $_->[1] } } @series;
	my $top = $defaults->{max} // (max(@values) || 1) * 1.1;
	my ($left, $right, $upper, $lower) = ($x + 54, $x + $w - 8, $y + 30, $y + $h - 42);
	foreach my $part (0 .. 4)
	{
		my $at = $lower - ($lower - $upper) * $part / 4;
		printf qq{<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#eeeeee"/><text x="%d" y="%.1f" text-anchor="end" font-size="10">%s</text>\n}, $left, $right, $at, $at, $left - 4, $at + 3, amount($top * $part / 4, $defaults->{unit});
		my @time = gmtime($start + ($end - $start) * $part / 4);
		printf qq{<text x="%.1f" y="%d" text-anchor="middle" font-size="10">%02d:%02d</text>\n}, $left + ($right - $left) * $part / 4, $lower + 13, @time[2, 1];
	}
	my $legend = $x + 10;
	foreach my $i (0 .. $#series)
	{
		my ($name, $points) = @{ $series[$i] };
		my $colour = $colours[ $i % @colours ];
		my ($path, $before, $seen) = ('', undef, undef);
		foreach (@$points)
		{
			my $px = sprintf '%.1f', $left + ($right - $left) * ($_->[0] - $start) / ($end - $start);
			my $py = sprintf '%.1f', $lower - ($lower - $upper) * min(1, max(0, $_->[1] / $top));
			my $gap = !defined $seen || $_->[0] - $seen > 3 * $step;
			$path .= $gap ? "M$px,$py" : $defaults->{custom}{lineInterpolation} eq 'stepAfter' ? "H${px}V$py" : "L$px,$py";
			$seen = $_->[0];
		}
		print qq{<path d="$path" fill="none" stroke="$colour" stroke-width="1.5"/>\n};
		printf qq{<text x="%d" y="%d" font-size="11" fill="%s">%s</text>\n}, $legend, $y + $h - 10, $colour, escaped($name);
		$legend += 5.7 * length($name) + 14;
	}
}
print "</svg>\n";
exit($empty ? 1 : 0);
