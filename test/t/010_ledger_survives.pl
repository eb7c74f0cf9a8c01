# Nothing that a session does to its transaction refunds or multiplies a charge.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = ledger_node('survives');

# ---------- transactions ----------

charges($node, 'alice', 3, q{BEGIN; SELECT probe('m') FROM generate_series(1, 3); ROLLBACK},
	'ROLLBACK');
charges($node, 'alice', 2, q{BEGIN; SAVEPOINT s; SELECT probe('m'); ROLLBACK TO s;
	SELECT probe('m'); COMMIT}, 'ROLLBACK TO SAVEPOINT');
charges($node, 'alice', 1, q{DO $$ BEGIN PERFORM probe('m'); RAISE EXCEPTION 'x';
	EXCEPTION WHEN OTHERS THEN NULL; END $$}, 'EXCEPTION block');
charges($node, 'alice', 7, q{SELECT probe('m'), 1 / (7 - g) FROM generate_series(1, 100) g},
	'error after rows', state => '22012');
charges($node, 'alice', 5, q{BEGIN; DECLARE c CURSOR FOR SELECT probe('m')
	FROM generate_series(1, 100); FETCH 5 FROM c; CLOSE c; COMMIT}, 'cursor closed half-way');
charges($node, 'alice', 9, q{BEGIN; DECLARE c CURSOR FOR SELECT probe('m')
	FROM generate_series(1, 100); FETCH 9 FROM c; ROLLBACK}, 'cursor ended by ROLLBACK');
charges($node, 'alice', 3, q{SELECT probe('m') FROM generate_series(1, 100) LIMIT 3}, 'LIMIT');
charges($node, 'alice', 1, q{SELECT probe('m')}, 'one answer');
is($node->safe_psql('postgres',
		q{SELECT answers FROM privpred.ledger ORDER BY id DESC LIMIT 1}),
	'1', 'one answer is a lease of one, with nothing to settle');
charges($node, 'alice', 0, q{EXPLAIN SELECT probe('m') FROM generate_series(1, 100)}, 'EXPLAIN');
charges($node, 'alice', 4, q{EXPLAIN ANALYZE SELECT probe('m') FROM generate_series(1, 4)},
	'EXPLAIN ANALYZE');
charges($node, 'alice', 2, q{BEGIN; SELECT probe('m') FROM generate_series(1, 2);
	PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'}, 'PREPARE, ROLLBACK PREPARED');
refused($node, 'postgres', '0A000', q{BEGIN;
	SELECT privpred.grant_budget('alice', 'patients', 100); PREPARE TRANSACTION 'p'},
	'PREPARE of a grant', payer => 'alice');
charges($node, 'alice', 2, q{BEGIN READ ONLY; SELECT probe('m') FROM generate_series(1, 2); COMMIT},
	'READ ONLY');
charges($node, 'alice', 1, q{BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
	SELECT probe('m'); COMMIT}, 'SERIALIZABLE READ ONLY DEFERRABLE');
charges($node, 'alice', 2, q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT probe('m');
	SELECT probe('m'); COMMIT}, 'REPEATABLE READ');
charges($node, 'alice', 3, q{SET synchronous_commit = off; SELECT probe('m')
	FROM generate_series(1, 3)}, 'synchronous_commit = off');
charges($node, 'alice', 40, q{DO $$ BEGIN FOR i IN 1..40 LOOP PERFORM probe('m'); END LOOP; END $$},
	'plpgsql loop');

# ---------- interrupts: a sequence, which no abort takes back, counts the calls ----------

my $counted = q{SELECT probe('m'), nextval('calls'), pg_sleep(0.01) FROM generate_series(1, 1000)};
sub calls { return $node->safe_psql('postgres', q{SELECT last_value FROM calls}) }
sub restart_calls { $node->safe_psql('postgres', q{SELECT setval('calls', 1); SELECT nextval('calls')}) }

# The calls since restart_calls(), which leaves the sequence at 2.
my $since = sub { return calls() - 2 };

# As long as this machine needs to give some.
for my $timeout ('300ms', '1s', '3s')
{
	restart_calls();
	charges($node, 'alice', $since, "SET statement_timeout = '$timeout'; $counted", "statement_timeout $timeout",
		state => '57014');
	last if $since->() > 2;
}
cmp_ok($since->(), '>', 2, 'statement_timeout: some were given');

for my $case ([ 'pg_cancel_backend', '57014' ], [ 'pg_terminate_backend', '57P01' ])
{
	my ($function, $state) = @$case;
	restart_calls();
	my $killer = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
			"DO \$\$ BEGIN LOOP PERFORM $function(pid) FROM pg_stat_activity WHERE usename = 'alice' "
			  . "AND query LIKE '%calls%' AND (SELECT last_value FROM calls) > 10; "
			  . "EXIT WHEN FOUND; PERFORM pg_sleep(0.02); PERFORM pg_stat_clear_snapshot(); "
			  . "END LOOP; END \$\$" ],
		'>', \my $out, '2>', \my $err);
	charges($node, 'alice', $since, $counted, $function, state => $state);
	cmp_ok($since->(), '>', 2, "$function: some were given");
	$killer->finish;
}

# ---------- who pays ----------

$node->safe_psql('postgres', q{
CREATE FUNCTION wrapper() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT probe('m') $$;
CREATE FUNCTION wrapper_of_alice() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT probe('m') $$;
ALTER FUNCTION wrapper_of_alice() OWNER TO alice;
CREATE VIEW view_of_alice AS SELECT probe('m');
ALTER VIEW view_of_alice OWNER TO alice;
GRANT SELECT ON view_of_alice TO PUBLIC});
refused($node, 'alice', '42501', q{SELECT wrapper()}, 'SECURITY DEFINER: the caller does not pay');
refused($node, 'bob', '42501', q{SELECT wrapper()}, 'SECURITY DEFINER: no budget');
charges($node, 'bob', 1, q{SELECT wrapper_of_alice()}, 'SECURITY DEFINER: the definer pays',
	payer => 'alice');
refused($node, 'bob', '42501', q{SELECT * FROM view_of_alice}, "a view's owner does not pay",
	payer => 'alice');
refused($node, 'postgres', '42501', q{SELECT probe('m')}, 'a superuser without a budget');
charges($node, 'postgres', 1, q{SET ROLE alice; SELECT probe('m')}, 'SET ROLE', payer => 'alice');
$node->safe_psql('postgres', q{ALTER ROLE carol NOINHERIT; GRANT alice TO carol});
refused($node, 'carol', '42501', q{SELECT probe('m')}, 'NOINHERIT member', payer => 'alice');
charges($node, 'carol', 1, q{SET ROLE alice; SELECT probe('m')}, 'NOINHERIT member, SET ROLE',
	payer => 'alice');
charges($node, 'carol', 1, q{BEGIN; SET LOCAL ROLE alice; DO $$ BEGIN PERFORM probe('m');
	RESET ROLE; PERFORM probe('m'); END $$}, 'roles change under a call site',
	payer => 'alice', state => '42501');

# ---------- parallel plans ----------

$node->safe_psql('postgres', q{
CREATE TABLE big AS SELECT g FROM generate_series(1, 600) g;
GRANT SELECT ON big TO PUBLIC;
ALTER TABLE big SET (parallel_workers = 2);
CREATE FUNCTION probe_safe(model text, x float8[] DEFAULT '{0.5}') RETURNS text
	AS '$libdir/privpred', 'private_predict_array' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
SELECT privpred.grant_budget('alice', 'patients', 1000)});
my $parallel = q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; };
charges($node, 'alice', 600, $parallel . q{SELECT count(probe('m')) FROM big}, 'parallel plan');
charges($node, 'alice', 600, $parallel . q{SELECT count(probe_safe('m')) FROM big},
	'parallel workers with leases of their own');

# ---------- races ----------

$node->safe_psql('postgres', q{SELECT privpred.grant_budget('bob', 'visits', 1)});
my $script = $node->basedir . '/race.sql';
append_to_file($script, "SELECT probe('v');\n");
my ($out, $err) = ('', '');
$node->run_log([ 'pgbench', '-n', '-U', 'bob', '-h', $node->host, '-p', $node->port,
		'-c', '64', '-j', '2', '-t', '1', '-f', $script, 'postgres' ],
	'>', \$out, '2>', \$err);
like($out, qr/actually processed: 10\/64/, '64 sessions, 10 answers: 10 are given');
is(() = $err =~ /privacy budget of role "bob" is exhausted/g, 54, '54 are refused');
is(spent($node, 'bob', relation => 'visits'), 10, '10 are charged');
($out, $err) = charges($node, 'bob', 0, q{SELECT probe('v')}, 'exhausted', state => '53400',
	relation => 'visits');
like($err, qr/costs epsilon 0\.1; 0 is left, and 0\.1 more would be needed/, 'requested, left and missing');

is($node->safe_psql('postgres', q{SELECT ok, problem, orphaned_leases FROM privpred.verify_ledger()}),
	't||0', 'the ledger verifies');
$node->stop;
done_testing();
