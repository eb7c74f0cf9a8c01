# describe() against crashes, cancels and others who do something at the same time: what is
# charged stays charged, whoever comes later pays, and what fails before the debit costs nothing.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('describe');
$node->init;
$node->append_conf('postgresql.conf', "client_min_messages = error\nprivpred.ledger_idle_timeout = '60s'\n");
$node->start;
sub sql { return $node->safe_psql('postgres', $_[0]) }
sub state_of { my (undef, undef, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$_[0]"); return $err =~ /ERROR:  (\w{5})/ ? $1 : 'none' }
sub paid { return sql(q{SELECT string_agg(role_name || ' ' || n, ', ' ORDER BY role_name) FROM (SELECT role_name, (SELECT count(*) FROM privpred.ledger l WHERE l.account_id = b.account_id AND l.kind = 'describe') AS n FROM privpred.budgets b WHERE role IS NOT NULL) s}) }

sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (id int PRIMARY KEY, x float8, y text);
INSERT INTO people SELECT i, i, 'l' || i % 3 FROM generate_series(1, 5000) i;
CREATE TABLE slow (id int PRIMARY KEY, x float8);
CREATE ROLE ann; CREATE ROLE bob; CREATE ROLE cat;
SELECT privpred.protect('people', declared_units => 5000);
SELECT privpred.grant_budget(r, 'people', 3, delta => 1e-4, per_answer => 0.01) FROM unnest('{ann,bob}'::regrole[]) r;
});

# Whoever waits behind a lock is waited for here.
sub session { my $s = $node->background_psql('postgres', on_error_stop => 0); return $s }
sub wait_until { my ($what, $query) = @_; ok($node->poll_query_until('postgres', $query), $what); return }
my $describing = q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '%privpred.describe(%' AND pid <> pg_backend_pid() AND wait_event_type = 'Lock' AND query NOT LIKE '%poll%'};

# ---------- a crash after the debit ----------

my $holder = session();
$holder->query_safe('BEGIN; LOCK privpred.description IN EXCLUSIVE MODE');
my $describer = session();
$describer->query_until(qr/begun/, "\\echo begun\nSELECT privpred.describe('people');\n");
wait_until('it has drawn, and waits to write it down', $describing);
is(paid(), 'ann 1, bob 1', 'everybody has paid before anybody knows');
is(sql(q{SELECT phase FROM privpred.progress}), 'storing', 'progress shows it');
$node->stop('immediate');
$node->start;
is(paid(), 'ann 1, bob 1', 'a crash takes nothing back');
is(sql('SELECT count(*) FROM privpred.descriptions'), '0', 'although nobody has the description');
sql(q{SELECT privpred.grant_budget('cat', 'people', 3, delta => 1e-4, per_answer => 0.01)});
is(paid(), 'ann 1, bob 1, cat 1', 'whoever comes later pays for it, too');
is(sql('SELECT ok, problem FROM privpred.verify_ledger()'), 't|', 'the ledger adds up');
eval { $_->quit } foreach $holder, $describer;

# ---------- a cancel before the debit ----------

# The table is locked by somebody else, so that rows cannot be read.
$holder = session();
$holder->query_safe('BEGIN; LOCK people IN ACCESS EXCLUSIVE MODE');
is(state_of(q{SET statement_timeout = '500ms'; SELECT privpred.describe('people')}), '57014', 'cancelled before rows are read');
$holder->query_safe('ROLLBACK');
# A view takes its time.
sql(q{INSERT INTO slow SELECT i, i FROM generate_series(1, 1000) i;
	CREATE ROLE owner; ALTER TABLE slow OWNER TO owner;
	CREATE VIEW slow_view AS SELECT s.id, s.x FROM slow s, (SELECT generate_series(1, 2000000000) AS g) q WHERE q.g < 0;
	ALTER VIEW slow_view OWNER TO owner;
	SELECT privpred.protect('slow', declared_units => 5000);
	SELECT privpred.protect('slow_view', unit => 'id', declared_units => 5000);
	SELECT privpred.grant_budget('ann', 'slow', 3, delta => 1e-4, per_answer => 0.01)});
is(state_of(q{SET ROLE owner; SET statement_timeout = '500ms'; SELECT privpred.describe('slow_view')}), '57014', 'cancelled while they are');
is(sql(q{SELECT count(*) FROM privpred.ledger WHERE relation = 'slow'::regclass AND kind = 'describe'}), '0', 'that costs nothing');

# ---------- at the same time ----------

# An open grant keeps everybody's debit out; nothing is charged then.
$holder->query_safe(q{BEGIN; SELECT privpred.grant_budget('bob', 'people', 4, delta => 1e-4)});
is(state_of(q{SELECT privpred.describe('people', epsilon => 0.1)}), '55P03', 'not while budgets are being granted');
my $entries = q{SELECT count(*) FROM privpred.ledger WHERE relation = 'people'::regclass AND kind = 'describe'};
is(sql($entries), '3', 'nothing is charged');
$holder->query_safe('COMMIT');
is(state_of(q{SELECT privpred.describe('people', epsilon => 0.1)}), 'none', 'once they are, everybody pays');
is(sql($entries), '6', 'for another draw');

# Many sessions describe and grant: every budget has paid for every description, once.
sql(q{CREATE ROLE r0; CREATE ROLE r1; CREATE ROLE r2; CREATE ROLE r3});
my $script = $node->basedir . '/describe.sql';
append_to_file($script, q{
\set what random(0, 3)
\set role random(0, 3)
\if :what
SELECT privpred.describe('people', columns => '{x}', epsilon => 0.01);
\else
SELECT privpred.grant_budget('r:role', 'people', 3, delta => 1e-4, per_answer => 0.01);
\endif
});
$node->run_log([ 'pgbench', '-n', '-c', '6', '-t', '20', '-f', $script, 'postgres' ]);
is(sql(q{SELECT count(*) FROM privpred.release e JOIN privpred.account a USING (relation_id) JOIN privpred.protected_relation r USING (relation_id)
	WHERE e.account_id = 0 AND r.relation = 'people'::regclass AND NOT EXISTS (SELECT FROM privpred.release p WHERE p.account_id = a.account_id AND p.training_id = e.training_id)}),
	'0', 'every budget has paid for every description');
cmp_ok(sql(q{SELECT count(*) FROM privpred.descriptions}), '>', 5, 'of which there are some');
is(sql(q{SELECT count(*) FROM (SELECT account_id, detail FROM privpred.ledger WHERE kind = 'describe' GROUP BY 1, 2 HAVING count(*) > 1) s}), '0', 'once');
is(sql('SELECT ok, problem FROM privpred.verify_ledger()'), 't|', 'the ledger adds up');

# A table that goes away while it is described, or is no longer protected.
$holder->query_safe('BEGIN; DROP TABLE people');
$describer = session();
$describer->query_until(qr/begun/, "\\echo begun\nSELECT privpred.describe('people', epsilon => 0.01);\n\\echo ended :SQLSTATE\n");
wait_until('it waits for the table', $describing);
$holder->query_safe('COMMIT');
like($describer->query('SELECT 1'), qr/ended 42P01/, 'it is told that the table has gone');
is(sql(q{SELECT count(*) FROM privpred.description d JOIN privpred.protected_relation r USING (relation_id) WHERE r.relation_name ~ 'people'}), '0', 'its descriptions went with it');
is(sql('SELECT ok, problem FROM privpred.verify_ledger()'), 't|', 'the ledger adds up');
$_->quit foreach $holder, $describer;
is(state_of(q{SELECT privpred.unprotect('slow')}), '2BP01', 'budgets keep a table protected');
$node->stop;
done_testing();
