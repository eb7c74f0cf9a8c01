# usage: perl watch_cancel.pl TIMES SETUP STATEMENT CLEANUP
#
# Runs the statement once to the end, then cancels it at so many moments spread
# over that time.  Prints how long each took from the signal to the error, in
# milliseconds, and last in the line how long it takes when it is left alone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use WatchedSession;
use Time::HiRes qw(sleep time);

my ($times, $setup, $statement, $cleanup) = @ARGV;
my @latencies;

my $session = WatchedSession->new('bench', $setup);
$session->begin($statement);
1 until $session->over(1);
my $whole = $session->seconds;
my $state = $session->state;
die "left alone, the statement fails: $state\n" unless $state eq '00000';
$session->begin($cleanup);
$session->state;
$session->quit;

for my $i (1 .. $times)
{
	# A session of its own each time: nothing is in its caches.
	$session = WatchedSession->new('bench', $setup);
	$session->begin($statement);
	$session->over($whole * ($i - 0.5) / $times);
	my $signalled = time;
	kill INT => $session->pid;
	1 until $session->over(1);
	my $latency = time - $signalled;
	$state = $session->state;
	if ($state eq '57014')
	{
		push @latencies, sprintf '%.1f', $latency * 1000;
	}
	elsif ($state eq '00000')
	{
		# The signal came too late; it may even hit this one.
		do { $session->begin($cleanup) } while $session->state eq '57014';
	}
	else
	{
		die "the statement failed: $state\n";
	}
	$session->quit;
}
printf "%s %.1f\n", join(' ', @latencies), $whole * 1000;
