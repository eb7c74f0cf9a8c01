# pg_upgrade, with everything in use, populations included: nothing is lost, and everything goes on.
#
# From every older server that is there: OLD_PG_CONFIG, those of make matrix (OTHER_SERVERS), or
# those of /usr/lib/postgresql.  Where there is none, from this server to itself.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::RealBin/../..";

sub major_of
{
	my ($pg_config) = @_;
	my $version = -x $pg_config ? `$pg_config --version` : '';
	return $version =~ /(\d+)/ ? $1 : 0;
}

# A server that one can build for.
sub complete
{
	my ($pg_config) = @_;
	chomp(my $pgxs = `$pg_config --pgxs`);
	chomp(my $bin = `$pg_config --bindir`);
	return -f $pgxs && -x "$bin/postgres";
}

my $here = major_of($ENV{PG_CONFIG});
my %old;	# the first of each version
foreach my $candidate ($ENV{OLD_PG_CONFIG} // (), split(' ', $ENV{OTHER_SERVERS} // ''), glob '/usr/lib/postgresql/*/bin/pg_config')
{
	my $major = major_of($candidate);
	$old{$major} //= $candidate if $major >= 14 && $major < $here && complete($candidate);
}
note "left out: pg_upgrade from another version, as there is no server before $here (OLD_PG_CONFIG=...); from $here to $here instead" unless %old;
$old{$here} = $ENV{PG_CONFIG} unless %old;

# privpred for another server: the directory that has its bin/.
sub stage
{
	my ($major, $pg_config) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir_short();
	local %ENV = (%ENV, PG_CONFIG => $pg_config, XGBOOST => 'no');
	system('bash', '-c', q{. "$0/test/lib/common.sh" && copy_source "$0" "$1/src" && make -s -j2 -C "$1/src" with_llvm=no WERROR=-Werror all && "$1/src/test/stage.sh" "$1/stage"},
		$top, $dir) == 0 or die "privpred cannot be built for PostgreSQL $major\n";
	chomp(my $bin = `$pg_config --bindir`);
	return "$dir/stage$bin" =~ s{/bin$}{}r;
}

# ---------- everything, in use ----------

my $use = <<'SQL';
SET client_min_messages = warning;
CREATE ROLE owner; CREATE ROLE ann; CREATE ROLE ben; CREATE ROLE cleo;
CREATE EXTENSION privpred;
GRANT CREATE, USAGE ON SCHEMA public TO owner;
SET ROLE owner;
CREATE TABLE patients (id int PRIMARY KEY, age float8, ill boolean);
INSERT INTO patients SELECT i, i % 90, i % 90 > 45 FROM generate_series(1, 400) i;
CREATE TABLE visits (id int PRIMARY KEY, patient int NOT NULL, days int, again boolean);
INSERT INTO visits SELECT i, i % 200, i % 30, i % 30 > 15 FROM generate_series(1, 400) i;
CREATE INDEX ON visits (patient);
CREATE TABLE stays (LIKE visits INCLUDING ALL);
INSERT INTO stays SELECT * FROM visits;
CREATE TABLE wards (ward int PRIMARY KEY, beds int NOT NULL);
INSERT INTO wards SELECT i, i * 2 FROM generate_series(0, 29) i;
CREATE VIEW history AS SELECT v.patient, w.beds, v.again FROM visits v JOIN wards w ON w.ward = v.days;
CREATE TABLE gone (LIKE patients INCLUDING ALL);
CREATE TABLE gone_too (LIKE visits INCLUDING ALL);
SELECT privpred.protect('patients', declared_units => 400, epsilon_cap => 60, delta_cap => 1e-5);
SELECT privpred.protect('visits', unit => 'patient', declared_units => 200, max_rows_per_unit => 2);
SELECT privpred.protect('stays', unit => 'patient', declared_units => 200, max_rows_per_unit => 2);
SELECT privpred.protect('history', unit => 'patient', declared_units => 200, max_rows_per_unit => 2, public_tables => '{wards}');
SELECT privpred.protect('gone');
SELECT privpred.protect('gone_too', unit => 'patient', same_units_as => 'visits');
SELECT privpred.create_model('m', 'patients', label => 'ill', features => '{"age": {"min": 0, "max": 90}}', teachers => 10, epsilon => 2);
SELECT privpred.create_model('v', 'visits', label => 'again', features => '{"days": {"min": 0, "max": 30}}', teachers => 10, epsilon => 1);
SELECT privpred.create_model('t', 'stays', label => 'again', features => '{"days": {"min": 0, "max": 30}}', teachers => 10, epsilon => 1, learner => 'tree');
SELECT privpred.create_model('h', 'history', label => 'again', features => '{"beds": {"min": 0, "max": 60}}', teachers => 10, epsilon => 1);
SELECT privpred.create_model('kept', 'visits', label => 'again', features => '{"days": {"min": 0, "max": 30}}', teachers => 10, epsilon => 1, options => '{"memoize": true}');
SELECT privpred.create_model('s', 'visits', label => 'again', features => '{"days": {"min": 0, "max": 30}}', teachers => 100, mechanism => 'sparse');
SELECT privpred.create_model('g', 'patients', label => 'ill', features => '{"age": {"min": 0, "max": 90}}', mechanism => 'gradient', epsilon => 1, options => '{"delta": 1e-7}');
SELECT privpred.create_model('x', 'gone', label => 'ill', features => '{"age": {"min": 0, "max": 90}}', teachers => 10, epsilon => 1);
CREATE FUNCTION half(state float8, label text, x float8[]) RETURNS float8 LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT 0.5';
CREATE AGGREGATE train(text, float8[]) (SFUNC = half, STYPE = float8, INITCOND = '0');
CREATE FUNCTION answer(state float8, x float8[]) RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC; SELECT x[1] > state; END;
SELECT privpred.create_model('own', 'patients', label => 'ill', features => '{"age": {"min": 0, "max": 90}}', teachers => 10, epsilon => 2,
  learner => 'sql', options => '{"train": "public.train", "predict": "public.answer"}');
SELECT privpred.grant_budget('ann', 'patients', epsilon => 40, delta => 1e-5, per_answer => 0.1);
SELECT privpred.grant_budget('ben', 'patients', epsilon => 12, delta => 1e-5, per_answer => 0.1, refresh => '100 years');
SELECT privpred.grant_budget('ann', 'visits', epsilon => 30, delta => 1e-5, per_answer => 0.1);
SELECT privpred.grant_budget('cleo', 'stays', epsilon => 30, delta => 1e-5);
SELECT privpred.grant_budget('ann', 'stays', epsilon => 10, delta => 1e-4, per_answer => 0.1);
SELECT privpred.grant_budget('ann', 'gone', epsilon => 5);
SET ROLE ann;
SELECT private_predict('m', ARRAY[i]) FROM generate_series(1, 3) i;
SELECT private_predict('v', ARRAY[i]), private_predict('t', ARRAY[i]), private_predict('h', ARRAY[i]) FROM generate_series(1, 2) i;
SELECT private_predict('kept', ARRAY[1]), private_predict('x', ARRAY[1]), private_predict('own', ARRAY[1]);
SET ROLE ben;
SELECT private_predict('g', ARRAY[80]);
SET ROLE owner;
-- Two tables that ann has asked are joined.
SELECT privpred.protect('stays', same_units_as => 'visits');
SELECT privpred.grant_budget('ann', 'visits', epsilon => 60, delta => 1e-3);
SET ROLE cleo;
SELECT privpred.open_stream('s', unstable => 30, epsilon => 0.3, delta => 1e-8);
SELECT private_predict('s', ARRAY[i]) FROM generate_series(1, 3) i;
SET ROLE owner;
SELECT privpred.describe('visits', columns => '{days}', epsilon => 0.5);
SELECT privpred.export_model('g') IS NOT NULL;
SELECT privpred.forget('patients', 17, delete_rows => true) ->> 'certificate';
DROP TABLE gone;
DROP TABLE gone_too;
SQL

# What must not change.
my %state = (
	budgets => q{SELECT role, relation, population, epsilon_limit, delta_limit, epsilon_spent, delta_spent, epsilon_left, renyi_order, answers_left, binding_cap, status, role_name, refresh FROM privpred.budgets ORDER BY account_id},
	entries => q{SELECT * FROM privpred.ledger_entry ORDER BY id},
	models => q{SELECT name, relation, label, classes, features, teachers, epsilon, version, options FROM privpred.models ORDER BY name},
	predictors => q{SELECT name, md5(predictor::text) FROM privpred.model ORDER BY name},
	releases => q{SELECT account_id, training_id, relation_id, model FROM privpred.release ORDER BY 1, 2},
	streams => q{SELECT to_jsonb(s) FROM privpred.stream s ORDER BY 1},
	certificates => q{SELECT certificate_id, document, nonce FROM privpred.certificate ORDER BY 1},
	descriptions => q{SELECT * FROM privpred.descriptions ORDER BY id},
	'protected relations' => q{SELECT to_jsonb(r) FROM privpred.protected_relation r ORDER BY relation_id},
);

# ---------- from one server to the other ----------

# The new one is the private copy that the other tests run in.
chomp(my $new_bin = `pg_config --bindir`);

sub identifier { return `pg_controldata -D '${\ $_[0]->data_dir}'` =~ /^Database system identifier: +(\d+)$/m ? $1 : die 'no identifier' }

sub upgrade
{
	my ($major, $pg_config) = @_;
	my $install = $major == $here ? $new_bin =~ s{/bin$}{}r : stage($major, $pg_config);
	my $old = PostgreSQL::Test::Cluster->new("old_$major", install_path => $install);
	$old->init(extra => ['-k']);
	$old->start;
	like($old->safe_psql('postgres', 'SHOW server_version'), qr/^$major\b/, "from $major to $here");
	$old->safe_psql('postgres', $use);
	# The ledger's process has written what it was told.
	$old->safe_psql('postgres', 'SELECT privpred.verify_ledger()');
	is($old->safe_psql('postgres', q{SELECT count(*) > 1 FROM privpred.ledger_entry WHERE kind = 'join'}), 't', "from $major: joins are written down");
	my %before = map { $_ => $old->safe_psql('postgres', $state{$_}) } keys %state;
	my $head = $old->safe_psql('postgres', q{SELECT head FROM privpred.ledger_entry ORDER BY id DESC LIMIT 1});
	$old->stop;

	my $new = PostgreSQL::Test::Cluster->new("new_from_$major");
	{ local $ENV{OWN_IDENTIFIER} = 'yes'; $new->init(extra => ['-k']) }
	isnt(identifier($new), identifier($old), "from $major: to another cluster");
	chdir $new->basedir or die;
	command_ok([ 'pg_upgrade', '--no-sync', '-b', $install . '/bin', '-B', $new_bin, '-d', $old->data_dir, '-D', $new->data_dir,
			'-s', $new->host, '-p', $old->port, '-P', $new->port ], "pg_upgrade from $major")
	  or diag map { "$_:\n" . slurp_file($_) } glob $new->data_dir . '/pg_upgrade_output.d/*/log/pg_upgrade_*.log';
	chdir $top or die;
	$new->start;
	is($new->safe_psql('postgres', $state{$_}), $before{$_}, "$_ from $major are as they were") foreach sort keys %state;
	goes_on($new, $major, $head);
	$new->stop;
}

sub ask
{
	my ($node, $role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE $role; $sql");
	return $rc == 0 ? $out : $err;
}

sub goes_on
{
	my ($node, $major, $head) = @_;
	my $entries = q{SELECT sum(e.answers) FROM privpred.ledger_entry e JOIN privpred.account a USING (account_id) WHERE a.role_name = 'ann'};
	my $answers = $node->safe_psql('postgres', $entries);
	is(ask($node, 'ann', "SELECT private_predict('$_', ARRAY[5]) IN ('true', 'false')"), 't', "from $major: model $_ answers") foreach qw(m v t h own);
	is(ask($node, 'ann', q{SELECT private_predict('kept', ARRAY[1]) IN ('true', 'false')}), 't', "from $major: what was kept is kept");
	is(ask($node, 'ben', q{SELECT private_predict('g', ARRAY[70]) IN ('true', 'false')}), 't', "from $major: what was released is paid for");
	is(ask($node, 'cleo', q{SELECT coalesce(private_predict('s', ARRAY[5]), 'true') IN ('true', 'false')}), 't', "from $major: an open stream goes on");
	is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger('} . $head . q{')}), 't|', "from $major: the chain holds, back to the head of before");
	is($node->safe_psql('postgres', $entries) - $answers, 5, "from $major: five answers were charged, and the others were paid for");
	is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.certificate c, privpred.verify_certificate(privpred.certificate(c.certificate_id))}),
		't|', "from $major: the certificate verifies");
	is(ask($node, 'owner', "SELECT privpred.retrain('$_') ->> 'version'"), $_ eq 'm' || $_ eq 'own' ? 3 : 2, "from $major: model $_ is trained anew") foreach qw(m v t h own);
	is(ask($node, 'owner', q{SELECT privpred.forget('visits', 3, delete_rows => true) ->> 'certificate' IS NOT NULL}), 't', "from $major: one more is forgotten");
	like(ask($node, 'ann', q{SELECT private_predict('x', ARRAY[1])}), qr/model "x" does not exist/, "from $major: what was dropped is gone");
	is(ask($node, 'owner', q{CREATE TABLE gone (id int PRIMARY KEY, age float8, ill boolean); SELECT privpred.protect('gone') IS NULL}) =~ s/\n//r, 'f', "from $major: a table of its name");
	is($node->safe_psql('postgres', q{SELECT epsilon_spent FROM privpred.budgets WHERE relation_name = 'public.gone'}), '1', "from $major: finds the account");
	is(ask($node, 'owner', q{CREATE TABLE gone_too (LIKE visits INCLUDING ALL); SELECT privpred.protect('gone_too', unit => 'patient') IS NULL}) =~ s/\n//r, 'f', "from $major: so does one of a population");
	like($node->safe_psql('postgres', q{SELECT population FROM privpred.budgets WHERE role = 'ann'::regrole AND 'gone_too'::regclass = ANY (population)}),
		qr/^\{(?=.*visits)(?=.*stays)(?=.*history)/, "from $major: to which it belongs again");
	is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', "from $major: the chain holds to the end");
}

upgrade($_, $old{$_}) foreach sort { $a <=> $b } keys %old;
done_testing();
