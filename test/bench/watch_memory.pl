# usage: perl watch_memory.pl STATEMENT-FILE
#
# Runs the statement in a session of its own and looks at its backend every 5 ms.
# Prints, in MB, the growth of its private memory at the peak, and VmHWM, which
# also counts the shared buffers it touched; and the time in milliseconds.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use WatchedSession;

my ($file) = @ARGV;

sub status
{
	my ($pid) = @_;
	open(my $status, '<', "/proc/$pid/status") or return;
	my %kb = map { /^(\w+):\s+(\d+) kB/ ? ($1 => $2) : () } <$status>;
	return \%kb;
}

my $session = WatchedSession->new('bench', 'SET max_parallel_workers_per_gather = 0;');
my $before = status($session->pid)->{RssAnon};
my ($peak, $highest) = ($before, 0);

$session->begin("\\i $file");
until ($session->over(0.005))
{
	my $now = status($session->pid) or next;
	$peak = $now->{RssAnon} if $now->{RssAnon} > $peak;
	$highest = $now->{VmHWM};
}
my $seconds = $session->seconds;
my $state = $session->state;
$session->quit;
die "the statement failed: $state\n" unless $state eq '00000';
printf "%.1f %.1f %.1f\n", ($peak - $before) / 1024, $highest / 1024, $seconds * 1000;
