# usage: perl watch_memory.pl STATEMENT-FILE
#
# Runs the statement in a session of its own and looks at its backend every 5 ms.
# Prints, in MB, the growth of its private memory at the peak, and VmHWM, which
# also counts the shared buffers it touched; and the time in milliseconds.
use strict;
use warnings;
use IPC::Open2;
use IO::Select;
use Time::HiRes qw(sleep time);

my ($file) = @ARGV;
my $psql = open2(my $from, my $to, qw(psql -X -q -At -v ON_ERROR_STOP=1 -d bench));
$to->autoflush(1);

sub status
{
	my ($pid) = @_;
	open(my $status, '<', "/proc/$pid/status") or return;
	my %kb = map { /^(\w+):\s+(\d+) kB/ ? ($1 => $2) : () } <$status>;
	return \%kb;
}

print $to "SET max_parallel_workers_per_gather = 0;\nSET client_min_messages = warning;\nSELECT pg_backend_pid();\n";
chomp(my $pid = <$from>);
my $before = status($pid)->{RssAnon};
my ($peak, $highest) = ($before, 0);

my $start = time;
print $to "\\o /dev/null\n\\i $file\n\\o\n\\echo done\n";
my $answer = IO::Select->new($from);
until ($answer->can_read(0))
{
	if (my $now = status($pid))
	{
		$peak = $now->{RssAnon} if $now->{RssAnon} > $peak;
		$highest = $now->{VmHWM};
	}
	sleep 0.005;
}
my $done = <$from>;
my $time = time - $start;
close $to;
waitpid $psql, 0;
die "the statement failed\n" unless defined $done && $done eq "done\n" && $? == 0;
printf "%.1f %.1f %.1f\n", ($peak - $before) / 1024, $highest / 1024, $time * 1000;
