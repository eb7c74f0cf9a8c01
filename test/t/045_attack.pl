# The membership attack of docs/attack.md, in short: a tree that remembers everybody is found out, and the same
# tree sold at epsilon 1 is not.  "make attack" does it at length.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Privpred::Stats qw($RISK);
use Privpred::Attack qw(synthetic_people set_up trainings attack epsilon_shown size_attack auc_bound);

my ($shadow, $each) = (40, 200);
my $tree = q{learner => 'tree', teachers => 1, options => '{"depth": 8, "min_rows": 1}'};
my @models = (
	{ name => 'plain', target => 'mislabelled', epsilon => 20, declaration => $tree },
	{ name => 'private', target => 'mislabelled', epsilon => 1, declaration => $tree });

# A right "private" shows more than 1 with probability $RISK at most, by Clopper and Pearson.  One whose answers
# are not drawn at all is "plain", of which the next line says that it would be noticed.
size_attack('trees that remember', $each, 1, 0.98, 0.02);

my $node = PostgreSQL::Test::Cluster->new('attack');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = on");
$node->start;
my $sql = sub { return $node->safe_psql('postgres', $_[0]) };
my $people = synthetic_people(60, 5, 2);
set_up($sql, $people, \@models);
trainings($sql, $people, \@models, $shadow, $each);
my %found = map { $_->{name} => attack($sql, $people, $_, $shadow, $each) } @models;
my %shown = map { $_ => epsilon_shown($each, $found{$_}{hits}, $found{$_}{alarms}, $RISK) } keys %found;
note sprintf '%s: AUC %.3f, accuracy %.2f, caught %d and falsely %d of %d, epsilon at least %.2f', $_, @{ $found{$_} }{qw(auc accuracy hits alarms n)}, $shown{$_}
  for sort keys %found;

cmp_ok($shown{plain}, '>', 1, 'a tree that remembers is found out, more than epsilon 1 allows');
cmp_ok($shown{private}, '<=', 1, 'at epsilon 1 no more is found out than that');
is($sql->(q{SELECT answers = 7 * (40 + 2 * 200) FROM (SELECT sum(e.answers) AS answers FROM privpred.ledger_entry e WHERE e.model = 'private') s}), 't',
	'and every answer was charged');
is($sql->(q{SELECT ok FROM privpred.verify_ledger()}), 't', 'in a ledger that holds');
cmp_ok(abs(auc_bound(1, 0) - exp(1) / (1 + exp(1))), '<', 1e-6, 'the area that epsilon 1 allows');
$node->stop;
done_testing();
