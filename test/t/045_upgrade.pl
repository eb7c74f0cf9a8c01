# From 0.1.0 to what is here: every object is as if it had been created, and nothing that was in
# use is lost.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $fixtures = "$FindBin::RealBin/../upgrade";
chomp(my $extensions = `pg_config --sharedir`);
$extensions .= '/extension';
copy("$fixtures/privpred--0.1.0.sql", "$extensions/privpred--0.1.0.sql") or die "$extensions: $!\n";

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init;
$node->append_conf('postgresql.conf', "client_min_messages = warning\n");
$node->start;
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(fresh old);
chomp(my $version = `sed -n "s/^default_version *= *'\\(.*\\)'/\\1/p" $extensions/privpred.control`);

sub sql { my ($sql, $db) = @_; return $node->safe_psql($db // 'old', $sql) }

sub ask
{
	my ($role, $sql, $db) = @_;
	my ($rc, $out, $err) = $node->psql($db // 'old', "SET ROLE $role; $sql");
	return $rc == 0 ? $out : $err;
}

open my $file, '<', "$fixtures/objects.sql" or die "objects.sql: $!\n";
my $objects = join '', <$file>;

# What one database has and the other has not, in words.
sub differences
{
	my ($is, $should) = map { { map { $_ => 1 } split /\n/, $_ } } @_;
	return join "\n", (map { "missing in the upgrade script: $_" } grep { !$is->{$_} } sort keys %$should),
	  (map { "left over, or other than in install/: $_" } grep { !$should->{$_} } sort keys %$is);
}

# ---------- a database of 0.1.0, in use ----------

sql(q{CREATE ROLE owner; CREATE ROLE ann; CREATE ROLE ben; CREATE ROLE cleo});
sql(q{
CREATE EXTENSION privpred VERSION '0.1.0';
GRANT CREATE, USAGE ON SCHEMA public TO owner;
});
is(sql(q{SELECT extversion FROM pg_extension WHERE extname = 'privpred'}), '0.1.0', 'an old version');

# Tables, accounts and entries as a server of 0.1.0 wrote them.  It was another cluster, so that the
# ledger's process makes the server's entries of holders anew, as after pg_upgrade.
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'old', '-f', "$fixtures/used-0.1.0.sql" ], 'it was in use');
sql(q{INSERT INTO privpred.ledger_identity SELECT oid, 1 FROM pg_database WHERE datname = current_database()});

# So are its roles: the number of the one whose table was dropped was another.
sql(q{UPDATE privpred.protected_relation SET dropped_owner = 'owner'::regrole::oid WHERE dropped_owner IS NOT NULL});

my $state = q{
SELECT role, relation, epsilon_limit, delta_limit, epsilon_spent, delta_spent, epsilon_left, renyi_order, answers_left, binding_cap, status, role_name, refresh
FROM privpred.budgets ORDER BY account_id};
chomp(my $budgets_before = slurp_file("$fixtures/budgets-0.1.0.out"));
my $entries = q{SELECT id, at, kind, account_id, cap_id, relation_id, relation_name, model, answers, units, cap_units, limit_units, renyi_order, delta, detail, head FROM privpred.ledger_entry ORDER BY id};
my $entries_before = sql($entries);
my $head = sql(q{SELECT head FROM privpred.ledger_entry ORDER BY id DESC LIMIT 1});

# ---------- a new library, and old tables ----------

# Whoever asks, declares, drops a table or looks is told what to do, and whoever has nothing to do with it is left alone.
foreach my $statement (
	q{SELECT private_predict('m', ARRAY[5])}, q{SELECT privpred.protect(relation) FROM privpred.protected_relation WHERE relation IS NOT NULL LIMIT 1}, q{SELECT * FROM privpred.cost('m')}, q{SELECT privpred.retrain('v')},
	q{SELECT privpred.grant_budget('ann', relation, epsilon => 1) FROM privpred.protected_relation WHERE relation IS NOT NULL LIMIT 1}, q{BEGIN; CREATE TABLE passing (i int); DROP TABLE passing}, q{SELECT privpred.verify_ledger()})
{
	my ($status, $out, $err) = $node->psql('old', "\\set VERBOSITY verbose\n$statement", on_error_stop => 1);
	like($err, qr/55000: extension "privpred" of this database is of an earlier version.*HINT:  A superuser runs ALTER EXTENSION privpred UPDATE/s, "told: $statement");
}
is(sql(q{CREATE TABLE stays (i int); SELECT count(*) FROM stays}), '0', 'others are not');
sql(q{ALTER EXTENSION privpred UPDATE});
sql(q{DROP TABLE stays});
is(sql(q{SELECT extversion FROM pg_extension WHERE extname = 'privpred'}), $version, 'the version of the control file');
sql(q{CREATE EXTENSION privpred}, 'fresh');
is(differences(sql($objects), sql($objects, 'fresh')), '', 'an upgraded database has what a new one has, object by object');

# The comparison sees what it is for.
foreach my $change (
	'ALTER FUNCTION privpred.cost(text, bigint) COST 7', 'COMMENT ON COLUMN privpred.models.name IS NULL',
	'GRANT SELECT ON privpred.model TO PUBLIC', 'ALTER TABLE privpred.model ADD definition_of text',
	'ALTER TABLE privpred.account ALTER delta_spent DROP DEFAULT', 'DROP INDEX privpred.protected_relation_population',
	'ALTER FUNCTION privpred.cost(text, bigint) PARALLEL SAFE', 'ALTER EXTENSION privpred DROP FUNCTION privpred.build()',
	'ALTER TABLE privpred.ledger_entry DISABLE TRIGGER append_only', q{UPDATE pg_extension SET extconfig = extconfig[2:], extcondition = extcondition[2:] WHERE extname = 'privpred'},
	'ALTER EVENT TRIGGER privpred_on_sql_drop DISABLE', 'ALTER TABLE privpred.stream DISABLE ROW LEVEL SECURITY')
{
	isnt(differences(sql("BEGIN; $change; $objects; ROLLBACK", 'fresh'), sql($objects, 'fresh')), '', "it sees $change");
}

# ---------- what was in use goes on ----------

is(sql($entries), $entries_before, 'entries and their heads are as they were');
is(sql(qq{SELECT ok, problem FROM privpred.verify_ledger('$head')}), 't|', 'the chain holds, with the head that it had');
is(sql(q{SELECT count(*) FROM privpred.protected_relation WHERE population IS DISTINCT FROM relation_id}), '0', 'each table is a population of its own');
is(sql(q{SELECT DISTINCT relation = ANY (population) AND cardinality(population) = 1 FROM privpred.budgets WHERE relation IS NOT NULL}), 't', 'and its budgets say so');

is(sql($state), $budgets_before, 'budgets are as 0.1.0 showed them');
is(ask('ann', q{SELECT private_predict('m', ARRAY[5]) IN ('true', 'false')}), 't', 'ann asks');
is(ask('ann', q{SELECT private_predict('kept', ARRAY[1]) IN ('true', 'false')}), 't', 'and again what was kept');
is(ask('cleo', q{SELECT private_predict('s', ARRAY[5]) IS NOT DISTINCT FROM NULL OR true}), 't', 'an open stream goes on');
is(sql(q{SELECT a.role_name, sum(e.answers), count(*) FILTER (WHERE e.answers > 0) FROM privpred.ledger_entry e JOIN privpred.account a USING (account_id)
  WHERE e.id > (SELECT id FROM privpred.ledger_entry WHERE head = '} . $head . q{') GROUP BY 1 ORDER BY 1}), 'ann|1|1', 'one answer was charged, and the others were paid for');
is(sql(qq{SELECT ok, problem FROM privpred.verify_ledger('$head')}), 't|', 'the chain holds after it');
is(ask('owner', q{SELECT privpred.retrain('v') ->> 'version'}), '2', 'models are trained anew');
sql(q{SET ROLE owner; CREATE TABLE gone (id int PRIMARY KEY, age float8, ill boolean); SELECT privpred.protect('gone')});
is(sql(q{SELECT relation, epsilon_spent FROM privpred.budgets WHERE relation_name = 'public.gone'}), 'gone|1', 'a table that was dropped before finds its account');

# ---------- tables of 0.1.0 are joined ----------

like(ask('owner', q{SELECT privpred.protect('visits', same_units_as => 'patients')}), qr/a stream of model "s" is open/, 'a stream is open');
sql(q{SET ROLE cleo; SELECT privpred.close_stream('s')});
my $spent_units = q{SELECT a.role_name, sum(a.spent_units) FROM privpred.account a WHERE a.role <> 0 AND a.relation_id IN (1, 2) GROUP BY 1 ORDER BY 1};
my $units_before = sql($spent_units);
sql(q{SET ROLE owner; SELECT privpred.protect('visits', same_units_as => 'patients')});
is(sql(qq{SELECT string_agg(role_name, ',' ORDER BY role_name) FROM privpred.budgets WHERE population = '{patients,visits}' AND role IS NOT NULL}), 'ann,ben,cleo', 'everybody has one budget');
is(sql(q{SELECT count(*) FROM privpred.account WHERE relation_id = 2 AND (spent_units <> 0 OR revoked_at IS NULL)}), '0', 'and nobody another');
my %before = map { split /\|/ } split /\n/, $units_before;
my %after = map { split /\|/ } split /\n/, sql($spent_units);
cmp_ok($after{$_}, '>=', $before{$_}, "what $_ has spent is not lost") foreach qw(ann ben cleo);
is($after{cleo}, $before{cleo} + sql(q{SELECT coalesce(sum(units), 0) FROM privpred.ledger_outbox WHERE kind = 'join' AND detail ~ '^(training|description)' AND role_name = 'cleo'}), 'and is the sum, with what was exported');
is(sql(qq{SELECT ok, problem FROM privpred.verify_ledger('$head')}), 't|', 'the chain holds, back to the head of 0.1.0');
is(ask('ann', q{SELECT private_predict('kept', ARRAY[1]) IN ('true', 'false')}), 't', 'what was kept is kept');

# ---------- a dump of 0.1.0 is restored where this version is ----------

sql(q{CREATE DATABASE restored});
sql(q{GRANT CREATE, USAGE ON SCHEMA public TO owner; CREATE EXTENSION privpred}, 'restored');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'restored', '-f', "$fixtures/used-0.1.0.sql" ], 'rows of 0.1.0 can be loaded');
sql(q{SELECT privpred.adopt_ledger()}, 'restored');
is(sql(q{SELECT count(*), count(*) FILTER (WHERE population = relation_id) FROM privpred.protected_relation}, 'restored'), '3|3', 'each table is a population of its own');
is(ask('ann', q{SELECT private_predict('m', ARRAY[5]) IN ('true', 'false')}, 'restored'), 't', 'ann asks there');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}, 'restored'), 't|', 'and the chain holds');

$node->stop;
done_testing();
