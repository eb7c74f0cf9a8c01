# Crashes, round after round: clients ask and write down every answer that they get; something
# happens to the server; then what they got is compared with what is paid.  docs/crashes.md says
# what must hold.  For test/t/013_ledger_crashes.pl and test/crash/crash.pl.
package CrashTest;

use strict;
use warnings;
use Exporter 'import';
use LedgerTest;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time usleep);

our @EXPORT = qw(crash_new crash_round crash_finish crash_kinds crash_points crash_clients);

my $patience = $PostgreSQL::Test::Utils::timeout_default;

# ---------- who asks ----------

# "lines" is what counts as an answer; "at_once" how many may be on their way to the client, or
# reserved for it without being listed, when a statement breaks off.
my $many = 1000;
my %client = (
	single => { at_once => 1, script => "SELECT probe('m');\n" x 20 },
	rollback => {
		at_once => 1,
		script => "BEGIN; SELECT probe('m'); SAVEPOINT s; SELECT probe('m'); ROLLBACK TO s; SELECT probe('m'); ROLLBACK;\n" x 6 },
	cursor => {
		at_once => 10,
		script => ("BEGIN; DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 1000);\n" . "FETCH 10 FROM c;\n" x 12 . "CLOSE c; COMMIT;\n") },
	big => { at_once => $many, script => "COPY (SELECT probe('m') FROM generate_series(1, $many)) TO STDOUT;\n" x 2 },
	memo => { at_once => 1, lines => qr/^q(\d+) ([tf])$/ },
	unstable => {
		stream => 'u', at_once => 4,
		script => "SELECT coalesce(private_predict('u', ARRAY[0.5]), 'NULL');\n" x 8
		  . "BEGIN; DECLARE c CURSOR FOR SELECT coalesce(private_predict('u', ARRAY[i / 100.0]), 'NULL') FROM generate_series(1, 100) i;\n"
		  . "FETCH 1 FROM c;\n" x 6 . "ROLLBACK;\n",
		lines => qr/^(NULL|[tf])$/ },
	stable => {
		stream => 's', at_once => 40,
		script => "SELECT private_predict('s', ARRAY[i / 100.0]) FROM generate_series(1, 40) i;\n" x 3 },
	release => { at_once => 0, lines => qr/^version (\d+): (\w+)$/ },
	elsewhere => { db => 'other', at_once => 1, script => "SELECT probe('m');\n" x 20 },
	elsewhere_big => { db => 'other', at_once => $many, script => "COPY (SELECT probe('m') FROM generate_series(1, $many)) TO STDOUT;\n" x 2 });
my @clients = sort keys %client;

my @databases = qw(postgres other);

# The released model's version, and what it answers.
my $ask_version = q{SELECT 'version ' || (SELECT version FROM privpred.models WHERE name = 'g') || ': ' || string_agg(left(private_predict('g', ARRAY[a]), 1), '') FROM generate_series(0.0, 100, 4) a};

# Errors that a client may see.
my $harmless = join '|', 'the privacy ledger became unavailable', 'the privacy ledger did not reply in time',
  'terminating connection', 'server closed the connection', 'connection to server was lost', 'connection to server on socket', 'Is the server running',
  'This probably means', 'before or while processing', 'No such file or directory', 'the database system is', 'could not send data', 'could not receive data',
  'No space left', 'could not extend file', 'fault at', 'no COPY in progress', 'SSL', 'unexpected EOF', 'Connection refused', 'Broken pipe', 'Connection reset',
  'the privacy ledger could not', 'shutting down', 'starting up', 'canceling statement', 'cursor "c" does not exist', 'current transaction is aborted', 'savepoint "s" does not exist', 'ledger failed';

# What follows from another error.
my $follows = join '|', 'current transaction is aborted', 'cursor "c" does not exist', 'savepoint "s" does not exist', 'no COPY in progress';

# ---------- what happens ----------

# Who may be killed or stopped.
my $the_ledger = q{backend_type = 'privpred ledger'};
my $a_session = q{usename LIKE 'r\_%' AND state = 'active' AND application_name <> 'holder'};

# Where a process may fail, and how: see test/crash/fault.c.
my %points = (
	debit_taken => [qw(kill kill_all stop fatal)],
	debit_written => [qw(kill kill_all stop fatal error)],
	debit_committed => [qw(kill kill_all stop fatal)],
	debit_published => [qw(kill kill_all stop fatal)],
	ask_posted => [qw(kill kill_all stop error)],
	ask_answered => [qw(kill kill_all stop error)],
	answer_paid => [qw(kill kill_all stop error)],
	block_returned => [qw(kill kill_all stop)],
	stream_marked => [qw(kill kill_all stop error)]);

my %happens = (
	'kill everything' => \&kill_everything,
	'kill the postmaster' => \&kill_postmaster,
	'kill the ledger' => sub { kill_one($_[0], $the_ledger) },
	'kill a backend' => sub { kill_one($_[0], $a_session) },
	'stop the ledger' => sub { suspend($_[0], $the_ledger) },
	'stop a backend' => sub { suspend($_[0], $a_session) },
	'stop the ledger, kill everything' => sub { suspend($_[0], $the_ledger, \&kill_everything) },
	'end the ledger' => \&end_ledger,
	'end sessions' => \&end_sessions,
	'immediate shutdown' => sub { stop($_[0], 'immediate'); start($_[0]) },
	'fast shutdown' => sub { stop($_[0], 'fast'); start($_[0]) },
	'kill, then fast shutdown' => \&kill_then_stop,
	'no room for WAL' => \&full_wal,
	'no room for data' => \&full_data,
	'fault' => \&fault,
	'synchronous standby' => \&fail_over,
	'asynchronous standby' => \&fail_over);

sub crash_kinds { return sort keys %happens }
sub crash_points { return \%points }
sub crash_clients { return @clients }

# ---------- a server and its roles ----------

# crash_new(NAME, seed => N, every => rounds until there is a new server)
sub crash_new
{
	my ($name, %opt) = @_;
	my $self = { name => $name, servers => 0, dir => PostgreSQL::Test::Utils::tempdir(),
		every => $opt{every} // 40, rounds => 0, question => 0 };
	srand($opt{seed} // 1);
	system('prlimit', '--core=0', '--pid', $$);
	build_disk($self);
	new_server($self);
	return $self;
}

# The disk that can be full.
sub build_disk
{
	my ($self) = @_;
	my $source = "$FindBin::RealBin/../crash/full_disk.c";
	$source = "$FindBin::RealBin/full_disk.c" unless -e $source;
	$self->{disk} = "$self->{dir}/full_disk.so";
	system(($ENV{CC} // 'cc'), '-O1', '-shared', '-fPIC', '-o', $self->{disk}, $source, '-ldl') == 0 or die 'full_disk.c does not build';
	$self->{full} = "$self->{dir}/full";
}

# With an empty ledger: verifying a long one takes long.
sub new_server
{
	my ($self) = @_;
	if ($self->{node})
	{
		$self->{node}->stop('immediate');
		$self->{node}->clean_node;
	}
	my $node = PostgreSQL::Test::Cluster->new("$self->{name}_" . ++$self->{servers});
	$node->init(allows_streaming => 1);
	$node->append_conf('postgresql.conf', "restart_after_crash = on\nfsync = off\nmax_connections = 40\nmax_wal_senders = 4\n"
		  . "shared_buffers = 16MB\nautovacuum = off\nlog_statement = none\nprivpred.ledger_head_log_interval = -1\nwal_sender_timeout = 10min\nwal_receiver_timeout = 10min\n");
	$self->{node} = $node;
	start($self);
	set_up($self);
	$self->{since} = $self->{rounds};
	$self->{total} = {};
	$self->{may_strand} = 0;
}

sub set_up
{
	my ($self) = @_;
	my $node = $self->{node};
	$node->safe_psql('postgres', 'CREATE DATABASE other');
	for my $db (@databases)
	{
		ledger_setup($node, $db);
		my @roles = grep { ($client{$_}{db} // 'postgres') eq $db } @clients;
		$node->safe_psql($db, join '', map { qq{CREATE ROLE r_$_ LOGIN; SELECT privpred.grant_budget('r_$_', 'patients', epsilon => 1000000, delta => 1e-6);\n} } @roles);
	}
	# Answers of u are all unstable, and no two thresholds are the same; those of s are all stable;
	# answers of k are coins.  Of g every version has another place where answers change.
	$node->safe_psql('postgres', q{
SET client_min_messages = warning;
SELECT privpred.create_model('u', 'patients', label => 'y', classes => '{t,f}', features => '["x"]', mechanism => 'sparse', teachers => 3);
SELECT privpred.create_model('s', 'patients', label => 'y', classes => '{t,f}', features => '["x"]', mechanism => 'sparse', teachers => 1000);
SELECT privpred.create_model('k', 'patients', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1, epsilon => 0.1, options => '{"memoize": true}');
CREATE TABLE people (id int PRIMARY KEY, age float8, above text);
INSERT INTO people SELECT i, i % 100, 'no' FROM generate_series(1, 1000) i;
SELECT privpred.protect('people', declared_units => 1000);
SELECT privpred.create_model('g', 'people', label => 'above', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}', mechanism => 'cover', epsilon => 5, options => '{"class": "thresholds"}');
SELECT privpred.grant_budget('r_release', 'people', epsilon => 1000000);
CREATE FUNCTION retrain_g() RETURNS void LANGUAGE sql AS $$
	UPDATE people SET above = CASE WHEN age > (SELECT 7 * version % 100 FROM privpred.models WHERE name = 'g') THEN 'yes' ELSE 'no' END;
	SELECT privpred.retrain('g') $$;
});
	$self->{got} = { map { $_ => 0 } @clients };	# answers that the client has
	$self->{broken} = { map { $_ => 0 } @clients };	# statements that broke off
	$self->{base} = {};	# of accounts that a failover has rewound: what was got and paid then
	$self->{memo} = {};
	$self->{version} = {};
	$self->{threshold} = {};
	$self->{run} = {};
	$self->{versions} = [];
	$self->{crash_failures} = 0;
	$self->{offset} = {};
	unlink glob "$self->{dir}/answers.* $self->{dir}/errors.*";
	fresh_streams($self);
}

# What a role has of its streams can be used up.
sub fresh_streams
{
	my ($self, $anew) = @_;
	for my $name (grep { $client{$_}{stream} } @clients)
	{
		my $model = $client{$name}{stream};
		my $left = $self->{node}->safe_psql('postgres', qq{SELECT unstable_limit - unstable_used FROM privpred.stream WHERE model = '$model' AND status = 'open'});
		next if $left ne '' && $left > 400 && !$anew;
		as($self->{node}, "r_$name", "SELECT privpred.close_stream('$model')") if $left ne '';
		my $price = $model eq 'u' ? '1e-6, 1e-12' : '0.5, 1e-12';
		my ($rc, $out, $err) = as($self->{node}, "r_$name", "SELECT privpred.open_stream('$model', 1000, $price)");
		die "open_stream: $err" if $rc;
	}
}

# ---------- starting and stopping ----------

sub pid_of_postmaster
{
	my ($self) = @_;
	open(my $file, '<', $self->{node}->data_dir . '/postmaster.pid') or return 0;
	return (<$file> // '') =~ /^(\d+)/ ? $1 : 0;
}

# Until the last orphaned process has gone, the server refuses to start.
sub start
{
	my ($self) = @_;
	my $node = $self->{node};
	my $deadline = time + $patience;
	local %ENV = (%ENV, LD_PRELOAD => $self->{disk}, CRASH_FULL_DISK => $self->{full});
	while (time < $deadline)
	{
		if (system_log('pg_ctl', '-s', '-w', '-D', $node->data_dir, '-l', $node->logfile, 'start') == 0)
		{
			$node->_update_pid(1);
			return;
		}
		usleep(50_000);
	}
	die 'the server does not start';
}

sub stop
{
	my ($self, $mode) = @_;
	my $started = time;
	$self->{crashed} = 1 if $mode eq 'immediate';
	# The driver notices what hangs; nothing waits for ever.
	my $hung = system_log('pg_ctl', '-s', '-w', '-t', 120, '-D', $self->{node}->data_dir, '-m', $mode, 'stop') != 0;
	if ($hung)
	{
		push @{ $self->{problems} }, "$mode shutdown hangs: " . join('; ', map { chomp; $_ } `ps -o pid,stat,wchan:20,args --ppid @{[ pid_of_postmaster($self) || 0 ]} --no-headers 2>&1`);
		kill_processes($self);
	}
	$self->{node}->_update_pid(0);
	my $took = time - $started;
	$self->{slowest_stop}{$mode} = $took if $took > ($self->{slowest_stop}{$mode} // 0);
}

# The processes of the server, and the postmaster last.
sub processes
{
	my ($postmaster) = @_;
	my @children;
	opendir(my $proc, '/proc') or die;
	for my $pid (grep { /^\d+$/ } readdir $proc)
	{
		open(my $file, '<', "/proc/$pid/stat") or next;
		my ($parent) = (<$file> // '') =~ /^.*\) \S (\d+)/;
		push @children, $pid if defined $parent && $parent == $postmaster;
	}
	return (@children, $postmaster);
}

# A process that nobody has waited for has ended, too.
sub wait_for_end
{
	my ($pid) = @_;
	my $deadline = time + $patience;
	while (time < $deadline)
	{
		open(my $file, '<', "/proc/$pid/stat") or return;
		return if (<$file> // '') =~ /^.*\) [ZX] /;
		usleep(5_000);
	}
	die "process $pid does not end";
}

# Stopped first, it can start nothing meanwhile.
sub kill_processes
{
	my ($self) = @_;
	my $postmaster = pid_of_postmaster($self) or return;
	return unless kill 'STOP', $postmaster;
	$self->{crashed} = 1;
	kill 'KILL', processes($postmaster);
	wait_for_end($postmaster);
	unlink $self->{node}->data_dir . '/postmaster.pid';
}

sub kill_everything
{
	my ($self) = @_;
	kill_processes($self);
	start($self);
}

sub kill_postmaster
{
	my ($self) = @_;
	my $postmaster = pid_of_postmaster($self);
	$self->{crashed} = 1;
	kill 'KILL', $postmaster or die "kill: $!";
	wait_for_end($postmaster);
	start($self);
}

# Clients come and go: there may be nobody to kill before it is noticed.
sub kill_one
{
	my ($self, $whom) = @_;
	my $crashed = incarnation($self->{node});
	$self->{crashed} = 1;
	kill_process($self->{node}, $whom) or die "nobody to kill: $whom";
	back_since($self->{node}, $crashed) or die 'the server does not come back';
}

# Stops a process until others wait for it, or the answers that they have are used up.
sub suspend
{
	my ($self, $whom, $then) = @_;
	my $deadline = time + $patience;
	my $pid;
	while (time < $deadline)
	{
		$pid = attempt($self->{node}, "SELECT pid FROM pg_stat_activity WHERE $whom AND datname = 'postgres' LIMIT 1");
		last if $pid && stop_process($self->{node}, $pid);
		$pid = undef;
		usleep(5_000);
	}
	die "nobody to stop: $whom" unless $pid;
	if ($whom eq $the_ledger)
	{
		until ((attempt($self->{node}, q{SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres' AND usename LIKE 'r\_%' AND wait_event_type = 'Extension'}) // 1) > 0)
		{
			last if time > $deadline;
			usleep(5_000);
		}
	}
	else
	{
		wait_for_answers($self, 50);
	}
	return $then->($self) if $then;
	kill 'CONT', $pid;
}

sub end_ledger
{
	my ($self) = @_;
	$self->{may_strand} = 1;
	for (1 .. 3)
	{
		attempt($self->{node}, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privpred ledger'});
		wait_for_answers($self, 20);
	}
}

sub end_sessions
{
	my ($self) = @_;
	for (1 .. 3)
	{
		attempt($self->{node}, q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'r\_%'});
		wait_for_answers($self, 20);
		attempt($self->{node}, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'r\_%'});
		wait_for_answers($self, 20);
	}
}

# A fast shutdown after a crash, with clients that are about to come back or have just done so.
sub kill_then_stop
{
	my ($self) = @_;
	my $whom = int(rand(2)) ? $the_ledger : $a_session;
	my $when = int(rand(3));	# while it recovers, right after, or when answers flow again
	if ($when == 0)
	{
		$self->{crashed} = 1;
		kill_process($self->{node}, $whom) or die "nobody to kill: $whom";
	}
	else
	{
		kill_one($self, $whom);
		wait_for_answers($self, 1 + int(rand(30))) if $when == 2;
	}
	stop($self, 'fast');
	start($self);
}

# ---------- full disks ----------

sub log_size { return -s $_[0]{node}->logfile // 0 }

sub log_since
{
	my ($self, $offset) = @_;
	open(my $file, '<', $self->{node}->logfile) or return '';
	seek $file, $offset, 0;
	local $/;
	return <$file> // '';
}

sub wait_for_log
{
	my ($self, $offset, $pattern) = @_;
	my $deadline = time + $patience;
	usleep(5_000) until log_since($self, $offset) =~ $pattern || time > $deadline;
}

sub fill
{
	my ($self, $what) = @_;
	open(my $file, '>', "$self->{full}.new") or die;
	print $file $what;
	close $file;
	rename "$self->{full}.new", $self->{full} or die;
}

# The server panics, and often cannot even recover before there is room again.
sub full_wal
{
	my ($self) = @_;
	my $offset = log_size($self);
	my $crashed = incarnation($self->{node});
	my $postmaster = pid_of_postmaster($self);
	fill($self, 'wal');
	wait_for_log($self, $offset, qr/PANIC.*No space left/);
	$self->{crashed} = 1;
	usleep(20_000 * int(rand(5)));
	unlink $self->{full};
	my $deadline = time + $patience;
	while (time < $deadline)
	{
		return start($self) unless -e "/proc/$postmaster";
		my $now = incarnation($self->{node});
		return if $now ne '' && $now ne $crashed;
		usleep(20_000);
	}
	die 'the server does not come back';
}

# Errors, and no crash.
sub full_data
{
	my ($self) = @_;
	my $offset = log_size($self);
	fill($self, 'data');
	my $deadline = time + $patience;
	# What is left of the last pages may do for many answers.
	usleep(10_000) until log_since($self, $offset) =~ /No space left/ || time > $deadline;
	unlink $self->{full};
	die 'nobody needs room' unless log_since($self, $offset) =~ /No space left/;
}

# ---------- named points ----------

sub fault
{
	my ($self) = @_;
	my @points = sort keys %points;
	my $point = $self->{point} // $points[ rand @points ];
	my $action = $self->{action} // $points{$point}[ rand @{ $points{$point} } ];
	my $file = $self->{node}->data_dir . '/privpred.fault';
	my $postmaster = pid_of_postmaster($self);
	my $crashed = incarnation($self->{node});
	my $deadline = time + $patience;
	open(my $out, '>', "$file.new") or die;
	print $out "$point $action\n";
	close $out;
	rename "$file.new", $file or die;
	usleep(2_000) while -e $file && time < $deadline;
	die "nobody comes to $point" if unlink $file;
	$self->{crashed} = 1 if $action =~ /kill/;
	$self->{may_strand} = 1 if $action eq 'fatal';
	if ($action eq 'kill_all')
	{
		wait_for_end($postmaster);
		start($self);
	}
	elsif ($action eq 'kill')
	{
		back_since($self->{node}, $crashed) or die 'the server does not come back';
	}
	elsif ($action eq 'stop')
	{
		# Without the ledger's process nobody may get any.
		wait_for_answers($self, 20) if $point !~ /^debit/ && int(rand(2));
		return kill_everything($self) if int(rand(2));
		kill 'CONT', grep { stands_still($_) } processes($postmaster);
	}
}

sub stands_still
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/stat") or return 0;
	return (<$file> // '') =~ /^.*\) T /;
}

# ---------- standbys ----------

# Before clients ask.
sub add_standby
{
	my ($self, $kind) = @_;
	my $primary = $self->{node};
	my $standby = PostgreSQL::Test::Cluster->new("$self->{name}_" . ++$self->{servers});
	$primary->backup("b$self->{servers}");
	$standby->init_from_backup($primary, "b$self->{servers}", has_streaming => 1);
	{
		local $self->{node} = $standby;
		start($self);
	}
	$self->{standby} = $standby;
	$self->{synchronous} = $kind eq 'synchronous standby';
	$primary->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = '*'}) if $self->{synchronous};
	$primary->reload;
	my $state = $self->{synchronous} ? 'sync' : 'async';
	$primary->poll_query_until('postgres', qq{SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '$state'})
	  or die 'the standby does not follow';
}

# A synchronous standby has everything; an asynchronous one is made to be behind, and must know it.
sub fail_over
{
	my ($self) = @_;
	my ($primary, $standby) = @{$self}{qw(node standby)};
	my $lag = !$self->{synchronous};
	my $head;
	if ($lag)
	{
		$standby->safe_psql('postgres', q{ALTER SYSTEM SET primary_conninfo = ''});
		$standby->reload;
		$standby->poll_query_until('postgres', q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'walreceiver')}) or die 'the standby goes on to follow';
		wait_for_answers($self, 100);
	}
	if (!$self->{synchronous})
	{
		finish_clients($self);
		$self->{in_use} = 0;
		quiet($self);
		$head = $primary->safe_psql('postgres', q{SELECT head FROM privpred.ledger_entry ORDER BY id DESC LIMIT 1});
	}
	kill_processes($self);
	$primary->_update_pid(0);
	$self->{node} = $standby;
	system_log('pg_ctl', '-s', 'promote', '-w', '-D', $standby->data_dir) == 0 or die 'the standby cannot be promoted';
	# Copies of it must not inherit this.
	$standby->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
	$standby->reload;
	$primary->clean_node;
	return if $self->{synchronous};
	my $known = $standby->safe_psql('postgres', "SELECT ok FROM privpred.verify_ledger('$head')");
	push @{ $self->{problems} }, 'a standby that has lost a head says that it knows it' if $known eq 't';
	# As docs/ledger.md says: what is missing is known, and streams are closed.
	$self->{rewound} = 1;
}

# ---------- clients ----------

sub script_of
{
	my ($self, $name) = @_;
	my $file = "$self->{dir}/$name.sql";
	my $script = $client{$name}{script};
	if ($name eq 'memo')
	{
		# New questions, and old ones again.
		my $last = $self->{question} += 6;
		$script = join '', map { my $q = $last - int(rand(40)); $q = 1 if $q < 1; "SELECT 'q$q ' || private_predict('k', ARRAY[$q / 1000.0]);\n" } 1 .. 12;
	}
	elsif ($name eq 'release')
	{
		$script = "SELECT private_predict('g', ARRAY[1.0]);\n" x 5 . "$ask_version;\n\\c - postgres\nSELECT retrain_g();\n\\c - r_release\n$ask_version;\n" . "SELECT private_predict('g', ARRAY[1.0]);\n" x 5;
	}
	open(my $out, '>', $file) or die;
	print $out $script;
	close $out;
	return $file;
}

sub start_clients
{
	my ($self, @names) = @_;
	my $driver = $$;
	unlink "$self->{dir}/stop";
	for my $name (@names)
	{
		my $script = script_of($self, $name);
		my $node = $self->{node};
		my $pid = fork() // die "fork: $!";
		if (!$pid)
		{
			my $db = $client{$name}{db} // 'postgres';
			$ENV{PGOPTIONS} = '-c synchronous_commit=off -c client_min_messages=error -c privpred.foresee=off';
			until (-e "$self->{dir}/stop" || getppid() != $driver)
			{
				system("psql -XAtq -U r_$name -h '" . $node->host . "' -p " . $node->port
					  . " -d $db -f $script >> $self->{dir}/answers.$name 2>> $self->{dir}/errors.$name");
				usleep(20_000);
			}
			POSIX::_exit(0);
		}
		$self->{running}{$name} = $pid;
	}
}

sub finish_clients
{
	my ($self) = @_;
	append_to_file("$self->{dir}/stop", '');
	finish_holder($self);
	for my $name (sort keys %{ $self->{running} })
	{
		waitpid $self->{running}{$name}, 0;
	}
	$self->{running} = {};
}

# Somebody who uses the stream u all the time, so that a crash finds it in use for certain.
sub start_holder
{
	my ($self) = @_;
	my $node = $self->{node};
	my $file = "$self->{dir}/answers.unstable";
	my $offset = -s $file // 0;
	my $deadline = time + $patience;
	append_to_file("$self->{dir}/holder.sql", "BEGIN; DECLARE c CURSOR FOR SELECT coalesce(private_predict('u', ARRAY[0.5]), 'NULL') FROM generate_series(1, 9);\nFETCH 1 FROM c;\nSELECT pg_sleep(3600);\n")
	  unless -e "$self->{dir}/holder.sql";
	my $pid = fork() // die "fork: $!";
	if (!$pid)
	{
		$ENV{PGAPPNAME} = 'holder';
		exec("exec psql -XAtq -U r_unstable -h '" . $node->host . "' -p " . $node->port . " -d postgres -f $self->{dir}/holder.sql >> $file 2>> $self->{dir}/errors.unstable");
	}
	$self->{holder} = $pid;
	$self->{in_use} = 1;
	usleep(5_000) until (-s $file // 0) > $offset || time > $deadline;
}

sub finish_holder
{
	my ($self) = @_;
	my $pid = delete $self->{holder} or return;
	attempt($self->{node}, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'});
	waitpid $pid, 0;
}

# Reads on where it stopped: whole lines.
sub read_on
{
	my ($self, $path) = @_;
	open(my $file, '<', $path) or return ();
	seek $file, $self->{offset}{$path} // 0, 0;
	my @lines;
	while (my $line = <$file>)
	{
		last unless $line =~ s/\n$//;
		push @lines, $line;
		$self->{offset}{$path} = tell $file;
	}
	return @lines;
}

sub take_answers
{
	my ($self) = @_;
	for my $name (@clients)
	{
		my $form = $client{$name}{lines} // qr/^[tf]$/;
		for my $line (read_on($self, "$self->{dir}/answers.$name"))
		{
			next unless $line =~ $form;
			take_memo($self, $1, $2) if $name eq 'memo';
			take_version($self, $1, $2) if $name eq 'release';
			$self->{got}{$name}++ unless $name eq 'memo';
		}
		for my $line (read_on($self, "$self->{dir}/errors.$name"))
		{
			$self->{broken}{$name}++ if $line =~ /ERROR:|connection to server was lost/ && $line !~ /$follows/o;
			push @{ $self->{problems} }, "$name: $line" if $line =~ /(?:ERROR|FATAL|error):/ && $line !~ /$harmless/o;
		}
	}
}

# What was answered once is the answer for ever.
sub take_memo
{
	my ($self, $question, $answer) = @_;
	my $before = $self->{memo}{$question};
	$self->{got}{memo}++ unless defined $before;
	push @{ $self->{problems} }, "question $question is answered $before, then $answer" if defined $before && $before ne $answer;
	$self->{memo}{$question} = $answer;
}

# One version, one model.
sub take_version
{
	my ($self, $version, $answers) = @_;
	push @{ $self->{versions} }, [ $version, $answers ];
}

sub wait_for_answers
{
	my ($self, $more) = @_;
	my $deadline = time + $patience;
	my $sum = sub { my $n = 0; $n += -s "$self->{dir}/answers.$_" // 0 for keys %{ $self->{running} }; return $n };
	my $target = $sum->() + 2 * $more;
	while ($sum->() < $target)
	{
		die 'no answers come' if time > $deadline;
		usleep(5_000);
	}
}

# ---------- what must hold ----------

# What the ledgers say, in a call for each database: rows by what they are about.
my $look = q{
SELECT 'paid', a.role, coalesce(sum(e.answers) FILTER (WHERE e.kind IN ('lease', 'settle')), 0), coalesce(sum(e.answers) FILTER (WHERE e.kind = 'orphan'), 0)
FROM privpred.ledger_entry e JOIN privpred.account a USING (account_id) GROUP BY a.role;
SELECT 'stranded', role, answers FROM privpred.leases WHERE NOT orphaned;
SELECT 'verified', ok, problem, '' FROM privpred.verify_ledger();
-- of one process: a retrained model gives a call another lease
SELECT 'orphan', o.lease, o.answers, sum(l.answers) FROM privpred.ledger_entry o
JOIN privpred.ledger_entry b ON b.lease = o.lease AND b.kind = 'lease'
JOIN privpred.ledger_entry l ON l.pid = b.pid AND l.account_id = o.account_id AND l.id < o.id AND l.kind IN ('lease', 'settle')
WHERE o.kind = 'orphan' AND b.id = (SELECT max(id) FROM privpred.ledger_entry WHERE lease = o.lease AND kind = 'lease')
GROUP BY o.id, o.lease, o.answers HAVING o.answers > greatest(1, sum(l.answers) - o.answers);
SELECT CASE model WHEN 'u' THEN 'unstable' ELSE 'stable' END, stream_id, unstable_used, threshold, answers_used FROM privpred.stream;
SELECT 'counted for a crash', count(*) FROM privpred.ledger_entry WHERE kind = 'unstable' AND model = 'u' AND detail LIKE '%in use when the server stopped';
SELECT 'version', version FROM privpred.ledger_entry WHERE kind = 'release' AND role_name = 'r_release'};

# Whoever asked has gone, and what came back is put back: a request of ours is served after it.
sub quiet
{
	my ($self) = @_;
	$self->{node}->poll_query_until('postgres', q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename LIKE 'r\_%')}) or die 'sessions stay';
	$self->{node}->safe_psql($_, 'SELECT privpred.verify_ledger()') for @databases;
}

sub look
{
	my ($self) = @_;
	my %found;
	for my $db (@databases)
	{
		for my $row (split /\n/, $self->{node}->safe_psql($db, $look))
		{
			my ($what, @columns) = split /\|/, $row, -1;
			next if $what =~ /crash|version/ && $db eq 'other';
			push @{ $found{$what} }, \@columns;
		}
	}
	return \%found;
}

sub check_accounts
{
	my ($self, $found) = @_;
	my %paid = map { $_->[0] =~ /^r_(\w+)/ ? ($1 => [ @$_[ 1, 2 ] ]) : () } @{ $found->{paid} };
	my ($got_all, $paid_all, $orphaned_all) = (0, 0, 0);
	for my $stream (qw(stable unstable))
	{
		$paid{$stream} = [ 0, 0 ];
		$paid{$stream}[0] += $_->[3] for @{ $found->{$stream} };
	}
	# A block that the ledger's process had granted when it died is listed until the next start.
	for my $block (@{ $found->{stranded} // [] })
	{
		my ($role, $answers) = @$block;
		push @{ $self->{problems} }, "$role has $answers answers reserved, and no session" unless $self->{may_strand};
		$paid{$1}[1] += $answers if $role =~ /^r_(\w+)/;
	}
	for my $name (grep { $_ ne 'release' } @clients)
	{
		my ($answers, $orphaned) = @{ $paid{$name} // [ 0, 0 ] };
		my $base = { got => 0, paid => 0, orphaned => 0, broken => 0, %{ $self->{base}{$name} // {} } };
		my $got = $self->{got}{$name} - $base->{got};
		my $over = $answers - $base->{paid} - $got;
		my $most = $orphaned - $base->{orphaned} + $client{$name}{at_once} * ($self->{broken}{$name} - $base->{broken});
		push @{ $self->{problems} }, "$name got $got answers, and has paid for " . ($answers - $base->{paid}) if $over < 0 && !$self->{rewound};
		push @{ $self->{problems} }, "$name has paid for $over answers that it did not get, $most at most" if $over > $most;
		$got_all += $self->{got}{$name};
		$paid_all += $answers;
		$orphaned_all += $orphaned;
		@{ $self->{base}{$name} }{qw(got paid orphaned broken)} = ($self->{got}{$name}, $answers, $orphaned, $self->{broken}{$name}) if $self->{rewound};
	}
	$self->{total} = { got => $got_all, paid => $paid_all, orphaned => $orphaned_all };
}

# A failed threshold is never seen again, and a failure that was told is counted.
sub check_streams
{
	my ($self, $found) = @_;
	my $crashes = $found->{'counted for a crash'}[0][0];
	my $counted = -$crashes;
	push @{ $self->{problems} }, 'the stream was in use at the crash, and goes on with its threshold'
	  if $self->{in_use} && $self->{crashed} && !$self->{rewound} && $crashes <= $self->{crash_failures};
	$self->{crash_failures} = $crashes;
	for my $row (@{ $found->{unstable} })
	{
		my ($stream, $run, $threshold) = @$row;
		$counted += $run;
		next if $threshold eq '';
		my $before = $self->{threshold}{$threshold};
		push @{ $self->{problems} }, "the threshold of run $before is back in run $stream.$run" if defined $before && $before ne "$stream.$run";
		my $same = $self->{run}{"$stream.$run"};
		push @{ $self->{problems} }, "run $stream.$run has two thresholds" if defined $same && $same ne $threshold;
		$self->{threshold}{$threshold} = "$stream.$run";
		$self->{run}{"$stream.$run"} = $threshold;
	}
	my $base = $self->{base}{unstable} // {};
	my $told = $self->{got}{unstable} - ($base->{told} // 0);
	my $since = $counted - ($base->{counted} // 0);
	push @{ $self->{problems} }, "$told unstable answers were told, $since are counted" if $told > $since && !$self->{rewound};
	@{ $self->{base}{unstable} }{qw(told counted)} = ($self->{got}{unstable}, $counted) if $self->{rewound};
	@{$self}{qw(threshold run)} = ({}, {}) if $self->{rewound};
}

# The chain holds; a crash costs a call at most as much as it had used, or one answer.
sub check_ledger
{
	my ($self, $found) = @_;
	push @{ $self->{problems} }, 'a ledger was not verified' if @{ $found->{verified} } != @databases;
	push @{ $self->{problems} }, "verify_ledger: $_->[1]" for grep { $_->[0] ne 't' } @{ $found->{verified} };
	push @{ $self->{problems} }, "of lease $_->[0] a block of $_->[1] was lost, more than the call had used ($_->[2] with it)" for @{ $found->{orphan} // [] };
}

# Versions are paid for, and have one content, old or new.
sub check_versions
{
	my ($self, $found) = @_;
	my %paid = map { $_->[0] => 1 } @{ $found->{version} // [] };
	for my $seen (@{ $self->{versions} // [] })
	{
		my ($version, $answers) = @$seen;
		push @{ $self->{problems} }, "version $version is not paid for" if !$paid{$version} && !$self->{rewound};
		my $before = $self->{version}{$version};
		push @{ $self->{problems} }, "version $version answers $answers, and $before before" if defined $before && $before ne $answers;
		$self->{version}{$version} = $answers;
	}
	$self->{versions} = [];
	$self->{version} = {} if $self->{rewound};
}

# ---------- a round ----------

# crash_round(SELF, KIND, clients => [...], more => answers before it happens): what was got and
# paid in it, and what does not hold
sub crash_round
{
	my ($self, $kind, %opt) = @_;
	my @names = @{ $opt{clients} // [ @clients ] };
	my $started = time;
	new_server($self) if $self->{rounds} - $self->{since} >= $self->{every};
	my %was = %{ $self->{total} };
	$self->{rounds}++;
	@{$self}{qw(point action)} = @opt{qw(point action)};
	$self->{problems} = [];
	$self->{rewound} = 0;
	$self->{crashed} = $self->{in_use} = 0;
	fresh_streams($self);
	eval {
		add_standby($self, $kind) if $kind =~ /standby/;
		start_holder($self) if grep { $_ eq 'unstable' } @names;
		start_clients($self, @names);
		wait_for_answers($self, $opt{more} // 20 + int(rand(300)));
		$happens{$kind}->($self);
		wait_for_answers($self, 10) if %{ $self->{running} } && $kind !~ /standby/;
	};
	push @{ $self->{problems} }, "$kind: $@" if $@;
	finish_clients($self);
	eval { check_round($self) };
	push @{ $self->{problems} }, "after $kind: $@" if $@;
	my $total = $self->{total};
	return { kind => $kind, seconds => time - $started, problems => $self->{problems}, fell_back => $self->{rewound},
		map { $_ => $total->{$_} - ($was{$_} // 0) } qw(got paid orphaned) };
}

sub check_round
{
	my ($self) = @_;
	start($self) unless defined attempt($self->{node}, 'SELECT 1');
	take_answers($self);
	if ($self->{in_use})
	{
		my ($failed, undef, $error) = as($self->{node}, 'r_unstable', q{SELECT private_predict('u', ARRAY[0.5])});
		push @{ $self->{problems} }, "unstable: $error" if $failed;
		$self->{got}{unstable}++;
	}
	# The released model, as it is now.
	my ($rc, $now, $err) = as($self->{node}, 'r_release', $ask_version);
	push @{ $self->{problems} }, "release: $err" if $rc;
	take_version($self, $1, $2) if $now =~ /^version (\d+): (\w+)$/;
	quiet($self);
	my $found = look($self);
	check_ledger($self, $found);
	check_versions($self, $found);
	check_streams($self, $found);
	check_accounts($self, $found);
	fresh_streams($self, 1) if $self->{rewound};
	$self->{may_strand} = 0 if $self->{crashed};
}

sub crash_finish
{
	my ($self) = @_;
	$self->{node}->stop('immediate');
}

1;
