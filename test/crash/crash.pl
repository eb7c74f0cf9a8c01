# make crash, see run.sh: round after round, a line for each; then a table and a picture.
#
# usage: crash.pl DIR		where they are written
use strict;
use warnings;

# PostgreSQL::Test::Utils takes STDOUT for its log.
my $terminal;
BEGIN { open($terminal, '>&', \*STDOUT) or die; $terminal->autoflush(1) }
use FindBin;
use lib "$FindBin::RealBin/../lib", "$FindBin::RealBin/../bench";
use Chart;
use CrashTest;
use List::Util qw(max min sum shuffle);
use POSIX qw(log10);
use Test::More;

my ($dir) = @ARGV;
my $rounds = $ENV{ROUNDS} || 100;
my $seed = $ENV{SEED} || 1;
my $ends = time + 60 * ($ENV{MINUTES} || 1e6);
my $points = crash_points();

# Failover takes long, and faults have many places.
my @kinds = $ENV{KINDS} ? split(/\s*;\s*/, $ENV{KINDS}) : ((grep { !/standby|fault/ } crash_kinds()) x 2, ('fault') x 12, grep { /standby/ } crash_kinds());
my %known = map { $_ => 1 } crash_kinds();
$known{$_} or die "there is no \"$_\"; there are: " . join('; ', crash_kinds()) . "\n" for @kinds;

# Everything before anything again, in an order that the seed gives.
srand($seed);
my (@plan, @faults);
while (@plan < $rounds)
{
	for my $kind (shuffle @kinds)
	{
		my %round = (kind => $kind, clients => [ (shuffle CrashTest::crash_clients())[ 0 .. 4 ] ]);
		if ($kind eq 'fault')
		{
			@faults = shuffle map { my $point = $_; map { [ $point, $_ ] } @{ $points->{$point} } } sort keys %$points unless @faults;
			@round{qw(point action)} = @{ shift @faults };
			# Somebody must come there.
			push @{ $round{clients} }, $round{point} eq 'stream_marked' ? 'unstable' : $round{point} eq 'block_returned' ? 'cursor' : 'single';
		}
		push @plan, \%round;
	}
}
splice @plan, $rounds;

my $self = crash_new('crash', seed => $seed, faults => 1);
my @done;
my $violations = 0;
for my $n (1 .. @plan)
{
	last if time > $ends;
	my $plan = $plan[ $n - 1 ];
	my %seen;
	my @clients = grep { !$seen{$_}++ } @{ $plan->{clients} };
	my $result = crash_round($self, $plan->{kind}, %$plan, clients => \@clients);
	my $name = $plan->{kind} eq 'fault' ? "fault: $plan->{point}" : $plan->{kind};
	$name .= ', behind' if $result->{fell_back};
	push @done, { %$result, name => $name };
	print $terminal sprintf("%4d %-34s %-8s got %6d paid %6d orphaned %5d %5.1f s%s\n", $n, $name, $plan->{action} // '', @$result{qw(got paid orphaned seconds)},
		join '', map { "\n     VIOLATED: $_" } @{ $result->{problems} });
	$violations += @{ $result->{problems} } > 0;
	if (@{ $result->{problems} } && !$ENV{GO_ON})
	{
		# What went wrong once shows in all that follows.
		eval { CrashTest::new_server($self); 1 } or last;
	}
}
crash_finish($self);

# ---------- the table and the picture ----------

my %by;
push @{ $by{ $_->{name} } }, $_ for @done;
my $table = "| what happens | rounds | answers received | paid | overcharge: mean | most | violations |\n|---|---|---|---|---|---|---|\n";
my $row = sub {
	my ($name, @rounds) = @_;
	my @over = map { $_->{paid} - $_->{got} } @rounds;
	my $lost = $name =~ /behind/;
	return sprintf "| %s | %d | %d | %d | %s | %s | %d |\n", $name, scalar @rounds, sum(map { $_->{got} } @rounds), sum(map { $_->{paid} } @rounds),
	  $lost ? '–' : sprintf('%.1f', sum(@over) / @over), $lost ? '–' : max(@over), scalar grep { @{ $_->{problems} } } @rounds;
};
$table .= $row->($_, @{ $by{$_} }) for sort keys %by;
$table .= $row->('**all, but for what was behind**', grep { $_->{name} !~ /behind/ } @done) if @done;
open(my $out, '>', "$dir/table.md") or die;
print $out $table;
close $out;
print $terminal "\n$table";
print $terminal "\nslowest shutdowns: " . join(', ', map { sprintf '%s %.1f s', $_, $self->{slowest_stop}{$_} } sort keys %{ $self->{slowest_stop} // {} }) . "\n";

# A dot for each round, on a logarithmic scale.
my @names = grep { !/behind/ } sort keys %by;
my ($left, $top, $step, $width) = (250, 60, 20, 900);
my $place = sub { $left + ($width - $left - 30) * log10(1 + max(0, $_[0])) / 4 };
my $body = '';
for my $tick (0, 1, 10, 100, 1000, 9999)
{
	$body .= sprintf qq{<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>\n}, $place->($tick), $top - 8, $place->($tick), $top + $step * @names;
	$body .= Chart::label($place->($tick), $top - 12, $tick == 9999 ? '10,000' : $tick, 'text-anchor="middle"');
}
for my $i (0 .. $#names)
{
	my $y = $top + $step * $i + $step / 2;
	$body .= Chart::label($left - 10, $y + 4, $names[$i], 'text-anchor="end"');
	$body .= sprintf qq{<circle cx="%.1f" cy="%.1f" r="2.5" fill="#1f6f8b" fill-opacity="0.4"/>\n}, $place->($_->{paid} - $_->{got}), $y for @{ $by{ $names[$i] } };
}
Chart::write_picture("$dir/crashes.svg", $width, $top + $step * @names + 15, 'Answers paid for and not received, a dot for each round', $body);

cmp_ok(scalar @done, '>=', 1, 'rounds were made');
is($violations, 0, scalar(@done) . ' rounds without a violation');
done_testing();
