# pg_upgrade of a server with populations in use: joined budgets, caps, releases, an open stream, a view that was trained on, and a
# table that was dropped.  Everything is as it was, what is joined stays joined, and the chain holds.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $old = PostgreSQL::Test::Cluster->new('old');
$old->init;
$old->append_conf('postgresql.conf', "client_min_messages = error\n");
$old->start;
if ($old->safe_psql('postgres', q{SHOW server_version_num}) < 150000)
{
	$old->stop;
	SKIP: { skip 'a database keeps its oid since 15', 1 }
	done_testing();
	exit;
}
my $node = $old;
sub sql { return $node->safe_psql('postgres', $_[0]) }

# as ROLE SQL: what it returns, or its error
sub as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE $role; $sql", on_error_stop => 1);
	return $rc == 0 ? $out : $err;
}

# ---------- in use ----------

sql(q{CREATE EXTENSION privpred; CREATE ROLE owner; CREATE ROLE ann; CREATE ROLE ben; GRANT ALL ON SCHEMA public TO owner});
sql(qq{SET ROLE owner;
	CREATE TABLE $_ (u int PRIMARY KEY, x float8 NOT NULL, y boolean NOT NULL);
	INSERT INTO $_ SELECT i, i / 60.0, i > 30 FROM generate_series(1, 60) i;}) foreach qw(person visit other gone);
my $feature = q{'{"x": {"min": 0, "max": 1}}'};
sql(qq{SET ROLE owner;
	SELECT privpred.protect('person', declared_units => 60, epsilon_cap => 50, delta_cap => 1e-3), privpred.protect('visit', declared_units => 60), privpred.protect('other', declared_units => 60);
	SELECT privpred.protect('gone', same_units_as => 'person');
	CREATE VIEW history AS SELECT p.u, p.x, v.y FROM person p LEFT JOIN visit v ON v.u = p.u;
	SELECT privpred.create_model('m', 'person', 'y', $feature, teachers => 5, epsilon => 0.5), privpred.create_model('r', 'visit', 'y', $feature, mechanism => 'gradient', epsilon => 1),
		privpred.create_model('s', 'person', 'y', $feature, mechanism => 'sparse', teachers => 5), privpred.create_model('o', 'other', 'y', $feature, teachers => 5, epsilon => 0.5);
	SELECT privpred.grant_budget('ann', t, epsilon => 10, delta => 1e-4) FROM unnest('{person,visit,other}'::regclass[]) t;
	SELECT privpred.grant_budget('ben', 'visit', epsilon => 3, delta => 1e-5)});
is(as('ann', q{SELECT count(private_predict('m', ARRAY[x])) + count(private_predict('r', ARRAY[x])) + count(private_predict('o', ARRAY[x])) FROM generate_series(0, 0.3, 0.1) x}), '12', 'ann asks tables that are apart');
is(as('ben', q{SELECT private_predict('r', ARRAY[0.1]) IS NULL}), 'f', 'so does ben');
sql(q{SET ROLE owner; SELECT privpred.protect('visit', same_units_as => 'person'); SELECT privpred.grant_budget('ann', 'visit', epsilon => 20, delta => 5e-4); SELECT privpred.protect('history', unit => 'u', declared_units => 60)});
sql(qq{SET ROLE owner; SELECT privpred.create_model('h', 'history', 'y', $feature, teachers => 5, epsilon => 0.5); DROP TABLE gone});
is(as('ann', q{SELECT count(private_predict('h', ARRAY[x])) FROM generate_series(0, 0.3, 0.1) x}), '4', 'and the view, after two were joined');
is(as('ann', q{SELECT privpred.open_stream('s', unstable => 9, epsilon => 0.01, delta => 1e-8) IS NULL; SELECT private_predict('s', ARRAY[0.1]) IS DISTINCT FROM 'x'}), "f\nt", 'ann has a stream');

# ---------- moved ----------

# All that is shown of accounts, populations, releases and streams, and of what was written in the chain.
my $shown = q{
SELECT role, relation, population, epsilon_limit, delta_limit, epsilon_spent, delta_spent, epsilon_left, renyi_order, answers_left, binding_cap, status FROM privpred.budgets ORDER BY account_id;
SELECT relation_id, relation, population, unit_columns, active, known_as, dropped_owner_name FROM privpred.protected_relation ORDER BY 1;
SELECT name, relation, version, training_id, md5(concat(m.predictor::text, m.state::text)), definition FROM privpred.model m JOIN privpred.protected_relation USING (relation_id) ORDER BY 1;
SELECT r.account_id, r.training_id, r.relation_id, r.model FROM privpred.release r ORDER BY 1, 2;
SELECT s.stream_id, s.relation_id, s.status FROM privpred.stream s ORDER BY 1;
SELECT id, kind, account_id, relation_id, units, delta, detail, head FROM privpred.ledger_entry WHERE kind <> 'server' ORDER BY id};
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'the chain holds before');
my $head = sql(q{SELECT head FROM privpred.ledger_entry ORDER BY id DESC LIMIT 1});
my $before = sql($shown);
like($before, qr/\{person,visit,history\}/, 'one population, with a view');
is(sql(q{SELECT count(*) > 3 FROM privpred.ledger_entry WHERE kind = 'join'}), 't', 'joins are written down');
$old->stop;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
chomp(my $bin = `dirname \$(command -v postgres)`);
command_ok([ 'pg_upgrade', '--no-sync', '-b', $bin, '-B', $bin, '-d', $old->data_dir, '-D', $new->data_dir, '-s', $new->host, '-p', $old->port, '-P', $new->port ], 'pg_upgrade');
$new->append_conf('postgresql.conf', "client_min_messages = error\n");
$new->start;
$node = $new;

# ---------- as it was ----------

is(sql($shown), $before, 'everything is as it was');
is(sql(qq{SELECT ok, problem FROM privpred.verify_ledger('$head')}), 't|', 'the chain holds after');
my $spent = q{SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ann'::regrole AND relation = 'person'::regclass};
my $amount = sql($spent);
is(as('ann', q{SELECT count(private_predict('r', ARRAY[x])) FROM generate_series(0, 0.3, 0.1) x}), '4', 'what was released is');
is(as('ann', q{SELECT private_predict('s', ARRAY[0.2]) IS DISTINCT FROM 'x'}), 't', 'the stream goes on');
is(sql($spent), $amount, 'and nothing was paid again');
foreach my $model (qw(m h))
{
	is(as('ann', qq{SELECT private_predict('$model', ARRAY[0.77]) IS NULL}), 'f', "model $model is asked");
	my $now = sql($spent);
	cmp_ok($now, '>', $amount, 'and the joined budget pays');
	$amount = $now;
}
is(as('owner', q{SELECT privpred.retrain('h') ->> 'version'}), '2', 'the view is proved and trained on again');
sql(qq{SET ROLE owner; CREATE TABLE gone (LIKE person INCLUDING ALL); SELECT privpred.protect('gone')});
like(sql(q{SELECT population FROM privpred.budgets WHERE role = 'ann'::regrole AND 'gone'::regclass = ANY (population)}), qr/person.*gone|gone.*person/, 'a table that was dropped comes back to its population');
is(sql(qq{SELECT ok, problem FROM privpred.verify_ledger('$head')}), 't|', 'and the chain holds');
$new->stop;
done_testing();
