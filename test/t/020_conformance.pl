# The conformance table, test/audit/conformance.txt: what each mechanism claims,
# held against what it answers.  "make audit" runs the same at length.
#
#	AUDIT_DRAWS=long		as many draws as the table's last number
#	AUDIT_ROWS="a; b"		only these rows
#	AUDIT_MUTANT=name		the server is this mutant
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Privpred::Blind qw(session);
use Privpred::Conformance qw(read_rows read_mutants prepare size_row run_row);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $mutant = $ENV{AUDIT_MUTANT};
my $draws = $ENV{AUDIT_DRAWS} // 'short';
my @rows = read_rows("$FindBin::RealBin/../audit/conformance.txt");
my $number = 0;
$_->{number} = $number++ foreach @rows;
if (defined $ENV{AUDIT_ROWS})
{
	my %wanted = map { s/^\s+|\s+$//gr => 1 } split /;/, $ENV{AUDIT_ROWS};
	@rows = grep { delete $wanted{ $_->{name} } } @rows;
	die "no such row: " . join('; ', keys %wanted) . "\n" if %wanted;
}

# Rows that cannot tell are not run.
my @mutants = read_mutants("$FindBin::RealBin/../audit/mutants");
foreach my $row (@rows)
{
	size_row($row, $row->{$draws}, map { $_->[0] } grep { $_->[1] eq $row->{name} } @mutants);
}

my $node = PostgreSQL::Test::Cluster->new('conformance');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.max_answers_per_statement = -1
privpred.repeat_memory = 0
fsync = off
wal_writer_delay = 10s
autovacuum = off
client_min_messages = error
# as learners in SQL see them anyway, so that they are not set for each answer
datestyle = 'ISO, YMD'
default_text_search_config = 'pg_catalog.simple'
lc_monetary = 'C'
lc_numeric = 'C'
lc_time = 'C'
timezone = 'UTC'
});
$node->start;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
my $sql = sub { return $node->safe_psql('postgres', $_[0]) };
# One session serves all rows but those about prices: what it has reserved comes back when it ends.
my $session = session($node->installed_command('psql'), '-d', 'postgres');
my $stay = sub { return $session->("$_[0];\nDISCARD ALL") };

prepare($sql);
foreach my $row (@rows)
{
	my $ask = $row->{claim} =~ /^(?:price|delta) / ? $sql : $stay;
	my $result = run_row($ask, $row, $row->{number}, $row->{$draws}, $mutant);
	ok($result->{ok}, "$row->{name}: $row->{model}: $row->{claim} ($result->{words})");
	diag("$row->{name}: $mutant is not what the row says of it ($result->{words})") if $mutant && !$result->{said};
	# Two tables that can tell: a model that spends twice as much must be caught.
	next unless !$mutant && grep { $_ eq 'twice' } map { @{ $_->{names} } } grep { defined $_->{q} } @{ $row->{mistakes} // [] };
	$result = run_row($ask, $row, $row->{number}, $row->{$draws}, 'twice');
	ok(!$result->{ok}, "$row->{name}: twice as much is caught ($result->{words})");
	ok($result->{said}, "$row->{name}: and twice as much is what the row says");
}
is($sql->('SELECT ok, problem FROM privpred.verify_ledger()'), 't|', 'the ledger adds up');
$node->stop;
done_testing();
