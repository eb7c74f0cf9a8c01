# Views that are accepted show of each unit what its own rows make, whatever others do: the experiment of test/views in
# short.  "make views-sound" is the long form.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('views');
$node->init;
# Statistics are those that the experiment makes.
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_statement = none");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE views');

# Near misses, by rule: how many were accepted, refused, invalid, and how many differed when they were run.
local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
local $ENV{PGDATABASE} = 'views';
local $ENV{PGUSER} = getpwuid($<);
my $out = '';
open(my $experiment, '-|', $^X, "$FindBin::Bin/../views/sound.pl", '--seed', 1, '--near-misses', 2, '--trials', 3000, '--views', 100)
	or die "sound.pl: $!\n";
my %near;
while (<$experiment>)
{
	$out .= $_;
	# A violation is told at once.
	fail("no violation: $1") if /^VIOLATION (.*)/;
	diag($_) if /^VIOLATION/ .. /script:/;
	$near{$1} = { accepted => $2, refused => $3, invalid => $4, differed => $5 } if /^(\w+) +(\d+) +(\d+) +(\d+) +(\d+)$/;
}
close $experiment;
my $status = $?;
note($out);

is($status, 0, 'no accepted view shows of a unit what depends on another, or on the order of rows');
my ($views, $accepted, $empty) = $out =~ /^seed \d+: (\d+) views: (\d+) accepted \((\d+) with no rows\)/m;
my ($trials, $errors) = $out =~ /^(\d+) trials of accepted views, (\d+) errors: 0 violations/m;
ok($trials && $trials >= 3000, "$trials trials of $accepted views");
ok($accepted > 3 * $empty, 'most of them show rows');

my ($single) = $out =~ /^(\d+) of the accepted have one row for each unit/m;
cmp_ok($single, '>', 20, 'some are proved to have one row for each unit, and have');

# The experiment can see what it looks for.
cmp_ok(scalar keys %near, '>', 70, 'near misses of many kinds');
is(join(' ', grep { $near{$_}{accepted} + $near{$_}{invalid} } sort keys %near), '', 'all of them are refused');
is(join(' ', grep { !$near{$_}{differed} } sort keys %near), '', 'and each kind does harm');
my ($ran, $differed) = $out =~ /^of (\d+) refused views that were run, (\d+) differed/m;
ok($differed > $ran / 3, "$differed of $ran views that were refused would have done harm");
$node->stop;
done_testing();
