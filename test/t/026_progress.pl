# privpred.progress: it moves, it is for the owner alone, and it ends with the
# request, however that ends.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('progress');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = warning\n");
$node->start;
sub sql { return $node->safe_psql('postgres', $_[0]) }

sub sql_as
{
	my ($role, $query) = @_;
	return $node->safe_psql('postgres', $query, extra_params => [ '-U', $role ]);
}

# A learner that takes its time, so that counts can be watched; rows enough for
# steps that can.
sql(q{
CREATE EXTENSION privpred;
CREATE ROLE owner LOGIN;
CREATE ROLE analyst LOGIN;
GRANT CREATE ON SCHEMA public TO owner;
SET ROLE owner;
CREATE FUNCTION slow_step(state text, label text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$SELECT label FROM pg_sleep(0.0005)$$;
CREATE AGGREGATE slow_train(text, float8[]) (SFUNC = slow_step, STYPE = text);
CREATE FUNCTION slow_predict(state text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state';
CREATE TABLE patients (id int PRIMARY KEY, x float8, y boolean);
INSERT INTO patients SELECT i, i / 200000.0, i % 2 = 0 FROM generate_series(1, 200000) i;
ANALYZE patients;
SELECT privpred.protect('patients', declared_units => 200000);
SELECT privpred.grant_budget('analyst', 'patients', epsilon => 1, delta => 1e-6);
});
is(sql('SELECT count(*) FROM privpred.progress'), '0', 'nothing goes on at first');

my %training = (
	'gradient steps' => q{SELECT privpred.create_model('m', 'patients', label => 'y', features => '["x"]', mechanism => 'gradient', epsilon => 1, options => '{"steps": 10000}')},
	'training teachers' => q{SELECT privpred.create_model('m', 'patients', label => 'y', features => '["x"]', teachers => 10, epsilon => 1,
		learner => 'sql', options => '{"train": "public.slow_train", "predict": "public.slow_predict"}')},
);

# Waits until the owner has seen so many counts of one phase; the total, and these.
sub watch
{
	my ($phase, $counts) = @_;
	my %seen;
	my $total;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $line = sql_as('owner', qq{SELECT done, total FROM privpred.progress WHERE phase = '$phase' AND model = 'm' AND started_at <= now() AND relation = 'patients'::regclass});
		if ($line =~ /^(\d+)\|(\d*)$/)
		{
			$seen{$1} = 1;
			$total = $2;
			return ($total, sort { $a <=> $b } keys %seen) if keys %seen == $counts;
		}
		usleep(100_000);
	}
	return ($total, keys %seen);
}

foreach my $phase (sort keys %training)
{
	my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'owner' ]);
	my $pid = $session->query('SELECT pg_backend_pid()');
	$session->query_until(qr/begun/, "\\echo begun\n$training{$phase};\n\\echo over\n");
	# Rows that are sorted by teacher have all been read before the first is learnt: their count may have stopped.
	my ($total, @seen) = watch($phase, $phase eq 'gradient steps' ? 2 : 1);
	ok($phase eq 'gradient steps' ? @seen == 2 && $seen[0] < $seen[1] : @seen == 1, "$phase: the owner sees it (@seen)");
	is($total, $phase eq 'gradient steps' ? 10000 : 200000, "$phase: and how far it has to go");
	is(sql("SELECT pid FROM privpred.progress"), $pid, "$phase: a superuser sees it, too");
	is(sql_as('analyst', 'SELECT count(*) FROM privpred.progress'), '0', "$phase: an analyst does not");
	is(sql_as('analyst', 'SELECT count(*) FROM privpred.progress_entries()'), '0', "$phase: not by the function either");
	is($node->safe_psql('template1', q{CREATE EXTENSION IF NOT EXISTS privpred; SELECT count(*) FROM privpred.progress}), '0', "$phase: nor does another database");
	sql("SELECT pg_cancel_backend($pid)");
	$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM privpred.progress') or die;
	pass("$phase: cancelled, the entry is gone");
	is($session->query('SELECT 40 + 2'), "over\n42", "$phase: and the session goes on");
	is(sql(q{SELECT count(*) FROM privpred.model}), '0', "$phase: without a model");
	$session->quit;
}

# Teachers count as they are fitted: with little memory, one after the other.
{
	my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'owner' ]);
	my $pid = $session->query('SELECT pg_backend_pid()');
	$session->query("SET maintenance_work_mem = '1MB'");
	$session->query_until(qr/begun/, "\\echo begun\n" . $training{'training teachers'} =~ s/teachers => 10,/teachers => 100000,/r . ";\n");
	ok($node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM privpred.progress WHERE steps > 0 AND steps_total = 100000)}), 'teachers are counted');
	sql("SELECT pg_cancel_backend($pid)");
	$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM privpred.progress') or die;
	$session->quit;
}

# What counts nothing secret is shown to whoever runs it, and to no other analyst.  The public
# rows come from a view without end: what calls functions that wait is refused.
sql(q{
CREATE ROLE other LOGIN;
GRANT CREATE ON SCHEMA public TO analyst;
SELECT privpred.create_model('teacher', 'patients', label => 'y', features => '["x"]', teachers => 10, epsilon => 0.000001, learner => 'linear');
CREATE TABLE questions AS SELECT i, i / 200000.0 AS x FROM generate_series(1, 100000) i;
CREATE VIEW held_questions AS SELECT i, x FROM questions WHERE i < (
	SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 100000) c);
GRANT SELECT ON held_questions TO analyst;
});
my $asker = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'analyst' ]);
my $asker_pid = $asker->query('SELECT pg_backend_pid()');
$asker->query_until(qr/begun/, "\\echo begun\nSELECT privpred.distill('student', 'teacher', 'held_questions');\n");
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM privpred.progress WHERE phase = 'reading public rows')}) or die;
is(sql_as($_->[0], q{SELECT model || ' ' || done FROM privpred.progress}), $_->[1], "distilling: what $_->[0] sees")
	foreach [ 'analyst', 'student 0' ], [ 'other', '' ], [ 'owner', 'student 0' ];
sql("SELECT pg_cancel_backend($asker_pid)");
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM privpred.progress') or die;
$asker->quit;
sql(q{SELECT privpred.drop_model(name) FROM privpred.model});

# In a subtransaction that is rolled back, and in a session that is killed.
is(sql_as('owner', qq{
CREATE FUNCTION patient() RETURNS bigint LANGUAGE plpgsql AS \$f\$
BEGIN
	BEGIN
		PERFORM set_config('statement_timeout', '2s', true);
		EXECUTE \$q\$$training{'gradient steps'}\$q\$;
	EXCEPTION WHEN query_canceled THEN NULL;
	END;
	RETURN (SELECT count(*) FROM privpred.progress);
END \$f\$;
SET statement_timeout = '2s';
SELECT patient();
}), '0', 'nothing is left of a subtransaction');

my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'owner' ]);
my $pid = $session->query('SELECT pg_backend_pid()');
$session->query_until(qr/begun/, "\\echo begun\n$training{'gradient steps'};\n");
watch('gradient steps', 2);
sql("SELECT pg_terminate_backend($pid)");
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM privpred.progress') or die;
pass('nothing is left of a session');
eval { $session->quit };

$node->stop;
done_testing();
