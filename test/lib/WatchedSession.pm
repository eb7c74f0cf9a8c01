# A session of psql whose backend is watched while it runs a statement.
package WatchedSession;
use strict;
use warnings;
use IO::Select;
use IPC::Open2;
use Time::HiRes qw(sleep time);

# new WatchedSession DATABASE SETUP
sub new
{
	my ($class, $database, $setup) = @_;
	my $self = bless {}, $class;
	# Errors are told by their SQLSTATE.
	$self->{psql} = open2($self->{from}, $self->{to}, 'sh', '-c', 'exec psql -X -q -At -d "$0" 2>/dev/null', $database);
	$self->{to}->autoflush(1);
	$self->{answer} = IO::Select->new($self->{from});
	print { $self->{to} } "SET client_min_messages = error;\n$setup\n\\o\n\\echo\nSELECT pg_backend_pid();\n";
	do { $self->{pid} = readline $self->{from}; die "no session\n" unless defined $self->{pid} } until $self->{pid} =~ s/^(\d+)\n/$1/;
	return $self;
}

sub pid { return $_[0]{pid} }

# begin STATEMENT: sends it, and notes the time
sub begin
{
	my ($self, $statement) = @_;
	$self->{start} = time;
	print { $self->{to} } "\\o /dev/null\n$statement\n\\o\n\\echo :SQLSTATE\n";
}

sub seconds { return time - $_[0]{start} }

# Is it over, or within so many seconds?
sub over { my ($self, $within) = @_; return $self->{answer}->can_read($within // 0) ? 1 : 0 }

# Waits for its SQLSTATE.
sub state
{
	my ($self) = @_;
	my $state = readline $self->{from};
	die "the session is gone\n" unless defined $state;
	chomp $state;
	return $state;
}

sub quit
{
	my ($self) = @_;
	close $self->{to};
	waitpid $self->{psql}, 0;
}

1;
