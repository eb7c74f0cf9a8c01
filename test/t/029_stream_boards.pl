# A session that leaves a stream and cannot tell the ledger so does not keep the stream's board:
# boards are few, and belong to all databases.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('boards');
$node->init;
$node->append_conf('postgresql.conf', "privpred.repeat_memory = 0\nclient_min_messages = error\nlog_statement = none\n");
$node->start;

# As many streams as a database may use at a time: three quarters of 64 boards.
my $streams = 48;
$node->safe_psql('postgres', q{
CREATE EXTENSION privpred;
CREATE TABLE patients (id int PRIMARY KEY, x float8, y text);
SELECT privpred.protect('patients');
SELECT privpred.create_model('m', 'patients', label => 'y', classes => '{t,f}', features => '["x"]', mechanism => 'sparse', teachers => 1000);
} . join '', map { "CREATE ROLE r$_; SELECT privpred.grant_budget('r$_', 'patients', epsilon => 10, delta => 1e-6); SET ROLE r$_; SELECT privpred.open_stream('m', 10, 0.5, 1e-9); RESET ROLE;\n" } 0 .. $streams + 9);

# The cursors of a session, each a role's.
sub hold
{
	my ($session, $role, $calls) = @_;
	my $questions = join ', ', map { "private_predict('m', ARRAY[$_ / 1000.0])" } 1 .. $calls;
	$session->query_safe("SET ROLE r$role");
	$session->query_safe("DECLARE c$role CURSOR FOR SELECT $questions FROM generate_series(1, 2)");
	$session->query_safe("MOVE 1 FROM c$role");
	$session->query_safe('RESET ROLE');
}

sub session { return $node->background_psql('postgres', on_error_die => 1) }

my $full = session();
my $late = session();
my $owner = session();
$full->query_safe('BEGIN');
hold($full, 0, 256);
$late->query_safe('BEGIN');
hold($late, $_, 1) for 1 .. $streams - 1;

# Nobody can be told of by rows that are locked: the ledger's process remembers 256, and no more.
$owner->query_safe('BEGIN');
$owner->query_safe('SELECT count(*) FROM (SELECT FROM privpred.stream FOR UPDATE) s');
my $offset = -s $node->logfile;
$full->query_safe('ROLLBACK');
$late->query_safe('ROLLBACK');
ok($node->wait_for_log(qr/unused private answers were not returned|could not be returned/, $offset), 'there are more than it remembers');
$owner->query_safe('ROLLBACK');
ok($node->poll_query_until('postgres', 'SELECT holders = 0 FROM privpred.stream ORDER BY stream_id LIMIT 1'), 'those that it remembers are written');

# Others can use their streams all the same.
$late->query_safe('BEGIN');
my $held = 0;
for my $role ($streams .. $streams + 9)
{
	last unless eval { hold($late, $role, 1); 1 };
	$held++;
}
is($held, 10, 'no board is lost');
eval { $_->quit } for $full, $late, $owner;
is($node->safe_psql('postgres', 'SELECT ok, problem FROM privpred.verify_ledger()'), 't|', 'the ledger adds up');
$node->stop;
done_testing();
