# Drivers ask for some rows of a statement (JDBC's setMaxRows, asyncpg's fetchrow) by a limit in the protocol,
# which is not in the statement.  What is foreseen is what is fetched.
use strict;
use warnings;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('limits');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nprivpred.foresee = on\n");
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION privpred;
CREATE ROLE ann LOGIN;
CREATE TABLE people (id int PRIMARY KEY, x float8 NOT NULL, y boolean NOT NULL);
INSERT INTO people SELECT i, i / 1000.0, i > 500 FROM generate_series(1, 1000) i;
SELECT privpred.protect('people', declared_units => 1000);
SELECT privpred.create_model('m', 'people', label => 'y', teachers => 9, features => '["x"]', epsilon => 0.1);
SELECT privpred.grant_budget('ann', 'people', epsilon => 10);
CREATE TABLE items AS SELECT i / 9000.0::float8 AS x FROM generate_series(1, 9000) i;
ANALYZE items;
GRANT SELECT ON items TO ann;
});

# The least of the protocol: messages out, and what comes back until the server is ready, as kinds and bodies.
sub send_messages
{
	my ($socket, @messages) = @_;
	print $socket join('', map { $_->[0] . pack('N', length($_->[1]) + 4) . $_->[1] } @messages);
	$socket->flush;
	return;
}

sub receive
{
	my ($socket) = @_;
	my @received;
	do
	{
		read($socket, my $head, 5) == 5 or die 'the server has closed the connection';
		my ($kind, $length) = unpack('a N', $head);
		my $body = '';
		read($socket, $body, $length - 4) if $length > 4;
		push @received, [ $kind, $body ];
	} until $received[-1][0] eq 'Z';
	return @received;
}

# Executes a statement once for each of the limits (0: none); returns rows, and the error or ''.
sub ask
{
	my ($portal, $query, @limits) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die $!;
	my $start = pack('N', 196608) . "user\0ann\0database\0postgres\0\0";
	print $socket pack('N', length($start) + 4) . $start;
	$socket->flush;
	receive($socket);
	send_messages($socket, [ P => "\0$query\0" . pack('n', 0) ],
		[ B => "$portal\0\0" . pack('nnn', 0, 0, 0) ],
		(map { [ E => "$portal\0" . pack('N', $_) ] } @limits), [ S => '' ]);
	my @received = receive($socket);
	send_messages($socket, [ X => '' ]);
	my ($error) = map { $_->[1] =~ /\0M([^\0]*)/ } grep { $_->[0] eq 'E' } @received;
	return (scalar(grep { $_->[0] eq 'D' } @received), $error // '');
}

sub left
{
	$node->safe_psql('postgres', 'SELECT privpred.verify_ledger()');
	return $node->safe_psql('postgres', 'SELECT answers_left FROM privpred.cost(\'m\')',
		extra_params => [ '-U', 'ann' ]);
}

my $all = q{SELECT private_predict('m', i) FROM items i};
my $too_many = qr/^statement would take about (\d+) private answers of model "m", and your budget pays for \d+$/;
foreach my $portal ('', 'named')
{
	my $before = left();
	my ($rows, $error) = ask($portal, $all, 3);
	is("$rows rows $error", '3 rows ', "portal '$portal': three rows of many are fetched");
	is(left(), $before - 3, 'and paid for');

	($rows, $error) = ask($portal, $all, 2, 4);
	is("$rows rows $error", '6 rows ', "portal '$portal': two, and then four");
	is(left(), $before - 9, 'and paid for');

	($rows, $error) = ask($portal, $all, 0);
	like($error, $too_many, "portal '$portal': all rows are too many");
	($rows, $error) = ask($portal, $all, 400);
	like($error, $too_many, "portal '$portal': so are 400 of them");
	is($error =~ $too_many && $1, 400, 'of which it says so many');
	($rows, $error) = ask($portal, $all, 1, 0);
	like($error, $too_many, "portal '$portal': and the rest after one");
	is("$rows " . left(), '1 ' . ($before - 10), 'which is paid for');

	($rows, $error) = ask($portal, "$all ORDER BY private_predict('m', i)", 1);
	like($error, $too_many, "portal '$portal': one row that needs all");
	($rows, $error) = ask($portal, "INSERT INTO items SELECT 1 FROM items i WHERE private_predict('m', i) = 'maybe' RETURNING x", 1);
	like($error, qr/permission denied/, "portal '$portal': the analyst changes nothing");
	is(left(), $before - 10, 'and pays nothing');
}
$node->safe_psql('postgres', 'CREATE TABLE mine (a text); ALTER TABLE mine OWNER TO ann');
my ($rows, $error) = ask('', "INSERT INTO mine $all RETURNING a", 1);
like($error, $too_many, 'what changes rows runs to its end, whatever the limit');
done_testing();
