# privpred.audit() on a server in use: it is seen while it runs, ends when it is
# cancelled, and neither then nor otherwise touches budgets, streams, leases, the
# ledger or the protected rows.  It works on a standby.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('audit');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = warning\nlog_min_messages = notice\nlog_statement = none\n");
$node->start;
sub sql { return $node->safe_psql('postgres', $_[0]) }
sub sql_as { return $node->safe_psql('postgres', $_[1], extra_params => [ '-U', $_[0] ]) }

sql(q{
CREATE EXTENSION privpred;
CREATE ROLE owner LOGIN;
CREATE ROLE analyst LOGIN;
GRANT CREATE ON SCHEMA public TO owner;
SET ROLE owner;
CREATE TABLE patients (id int PRIMARY KEY, x float8, y boolean);
INSERT INTO patients SELECT i, i / 300.0, i > 150 FROM generate_series(1, 300) i;
SELECT privpred.protect('patients', declared_units => 2000, epsilon_cap => 1000, delta_cap => 0.1, force => true);
SELECT privpred.grant_budget('analyst', 'patients', epsilon => 100, delta => 0.05, force => true);
SELECT privpred.create_model(m, 'patients', label => 'y', features => '{"x": {"min": 0, "max": 1}}', mechanism => m, teachers => 30, epsilon => 1)
FROM unnest('{vote,sparse,cover,gradient}'::text[]) m;
});
sql_as('analyst', q{SELECT private_predict('vote', ARRAY[0.3]); SELECT private_predict('cover', ARRAY[0.3]); SELECT privpred.open_stream('sparse', 3, 1, 0.001)});

# Everything that could change.
sub state
{
	return sql(q{
SELECT md5(string_agg(l::text, '|' ORDER BY l.id)) FROM privpred.ledger l;
SELECT md5(string_agg(a::text, '|' ORDER BY a.account_id)) FROM privpred.account a;
SELECT md5(string_agg(s::text, '|' ORDER BY s.stream_id)) FROM privpred.stream s;
SELECT md5(string_agg(m::text, '|' ORDER BY m.model_id)) FROM privpred.model m;
SELECT count(*) FROM privpred.leases;
SELECT count(*), sum(reltuples) FROM pg_class WHERE relkind IN ('r', 'v', 'i', 'S', 't');
SELECT count(*) FROM pg_proc;
SELECT md5(string_agg(p::text, '|' ORDER BY p.id)) FROM public.patients p;
SELECT ok FROM privpred.verify_ledger();
});
}
my $before = state();

# ---------- cancelled ----------

# By states, rows are fetched in another way, which must not lead to those of the table.
foreach my $case ('vote', 'sparse', 'cover', 'gradient', 'vote by states')
{
	my $model = $case =~ s/ by states//r;
	my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'owner' ]);
	my $pid = $session->query('SELECT pg_backend_pid()');
	$session->query('SET privpred.train_by_states = ' . ($case eq $model ? 'off' : 'on'));
	$session->query_until(qr/begun/, "\\echo begun\nSELECT count(*) FROM privpred.audit('$model', draws => 500000000);\n\\echo over\n");
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM privpred.progress WHERE pid = $pid AND phase = 'auditing' AND model = '$model' AND done > 1000"),
		"$case: an audit is seen, and that it gets on");
	is(sql_as('analyst', 'SELECT count(*) FROM privpred.progress'), '0', "$case: not by an analyst");
	is(sql("SELECT count(*) FROM pg_locks l WHERE l.pid = $pid AND l.relation = 'patients'::regclass"), '0', "$case: no lock on the protected table");
	my $start = time;
	sql("SELECT pg_cancel_backend($pid)");
	ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM privpred.progress'), "$case: cancelled, nothing is under way");
	note(sprintf('%s: gone after %.2f s', $model, time - $start));
	is($session->query(q{SELECT 1}) =~ /1/ ? 1 : 0, 1, "$case: the session goes on");
	$session->quit;
}
is(state(), $before, 'cancelled audits change nothing');

# ---------- beside real answers ----------

# Whoever holds a lease or a stream keeps it.
my $analyst = $node->background_psql('postgres', extra_params => [ '-U', 'analyst' ]);
$analyst->query(q{BEGIN; DECLARE c CURSOR FOR SELECT private_predict('vote', ARRAY[i / 10.0]) FROM generate_series(0, 9) i; FETCH 3 FROM c});
my $held = sql('SELECT count(*) FROM privpred.leases');
is(sql_as('owner', q{SELECT string_agg(DISTINCT verdict, ',') FROM unnest('{vote,sparse,cover}'::text[]) m, privpred.audit(m)}), 'consistent', 'audits while a lease is held');
is(sql('SELECT count(*) FROM privpred.leases'), $held, 'the lease stays');
$analyst->query(q{FETCH 3 FROM c; CLOSE c; COMMIT});
$analyst->quit;
is(sql(q{SELECT sum(answers) FROM privpred.ledger WHERE model = 'vote'}), 7, 'what was asked is charged, and no more');
is(sql_as('analyst', q{SELECT unstable_used || ' of ' || unstable_limit FROM privpred.streams}), '0 of 3', 'the stream has seen no answer');

# ---------- not for others, and not from a copy of the rights ----------

my ($rc, $out, $err) = $node->psql('postgres', q{SELECT verdict FROM privpred.audit('vote')}, extra_params => [ '-U', 'analyst' ]);
like($err, qr/must be owner of relation/, 'an analyst is refused');
is(sql(q{SELECT string_agg(DISTINCT verdict, ',') FROM privpred.audit('vote')}), 'consistent', 'a superuser is not');

# A table that cannot be read at all: nothing of it is needed.
my $locked = $node->background_psql('postgres');
$locked->query(q{BEGIN; LOCK TABLE patients IN ACCESS EXCLUSIVE MODE});
is(sql_as('owner', q{SET lock_timeout = '180s'; SELECT string_agg(DISTINCT verdict, ',') FROM privpred.audit('cover', draws => 5000)}), 'consistent', 'the protected table may be locked');
$locked->query('ROLLBACK');
$locked->quit;

# An error in a subtransaction leaves nothing either.
is(sql_as('owner', q{
CREATE FUNCTION pg_temp.tries() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM privpred.audit('vote', draws => 500000000);
	RETURN 'ended';
EXCEPTION WHEN query_canceled THEN
	RETURN current_setting('client_min_messages') || ', ' || (SELECT count(*) FROM privpred.progress);
END $$;
SET statement_timeout = '3s';
SELECT pg_temp.tries();
}), 'warning, 0', 'an audit that is caught leaves settings and progress as they were');

# ---------- a standby ----------

$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('audit_standby');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q{SELECT string_agg(DISTINCT verdict, ',') FROM unnest('{vote,sparse,cover}'::text[]) m, privpred.audit(m)}), 'consistent', 'a standby, where nothing can be asked, can be audited');
$standby->stop;
is(sql(q{SELECT ok FROM privpred.verify_ledger()}), 't', 'the ledger adds up');
$node->stop;
done_testing();
