# make crash, see run.sh: round after round, a line for each; then a table and a picture.
#
# usage: crash.pl DIR		where they are written
use strict;
use warnings;

# PostgreSQL::Test::Utils takes STDOUT for its log.
my $terminal;
BEGIN { open($terminal, '>&', \*STDOUT) or die; $terminal->autoflush(1) }
use FindBin;
use lib "$FindBin::RealBin/../lib";
use CrashTest;
use List::Util qw(shuffle);
use PostgreSQL::Test::Utils;
use Test::More;

my ($dir) = @ARGV;
my $rounds = $ENV{ROUNDS} || 100;
my $seed = $ENV{SEED} || 1;
my $clients = $ENV{CLIENTS} || 4;
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
		my %round = (kind => $kind, clients => [ (shuffle crash_clients())[ 0 .. $clients - 1 ] ]);
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

my $self = crash_new('crash', seed => $seed);
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
	push @done, $name;
	append_to_file("$dir/rounds.txt", join("\t", $name, @$result{qw(got paid orphaned)}, scalar @{ $result->{problems} }) . "\n");
	print $terminal sprintf("%4d %-34s %-8s got %6d paid %6d orphaned %5d %5.1f s%s\n", $n, $name, $plan->{action} // '', @$result{qw(got paid orphaned seconds)},
		join '', map { "\n     VIOLATED: $_" } @{ $result->{problems} });
	$violations += @{ $result->{problems} } > 0;
	# What went wrong once shows in all that follows.
	CrashTest::new_server($self) if @{ $result->{problems} };
}
crash_finish($self);

print $terminal "\nslowest shutdowns: " . join(', ', map { sprintf '%s %.1f s', $_, $self->{slowest_stop}{$_} } sort keys %{ $self->{slowest_stop} // {} }) . "\n\n";
print $terminal `$^X "$FindBin::RealBin/report.pl" "$dir" "$dir/rounds.txt"`;

cmp_ok(scalar @done, '>=', 1, 'rounds were made');
is($violations, 0, scalar(@done) . ' rounds without a violation');
done_testing();
