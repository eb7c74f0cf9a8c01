# Maintenance runs other people's code: ANALYZE, REINDEX, REFRESH MATERIALIZED VIEW
# and autovacuum, which is a superuser, call functions of a table's owner, as that
# owner, in a session with more rights.  The owner must get nothing by those rights;
# what he has a budget for, he pays himself: see 036_payers.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('askers');
$node->init;
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
client_min_messages = warning
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(q{
CREATE EXTENSION privpred;
CREATE ROLE eve LOGIN;
GRANT CREATE ON SCHEMA public TO eve;
CREATE TABLE people (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO people SELECT i, i / 1000.0, CASE WHEN i > 500 THEN 'b' ELSE 'a' END FROM generate_series(1, 1000) i;
SELECT privpred.protect('people');
SELECT privpred.create_model('robust', 'people', label => 'y', classes => '{a,b}',
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'stable');
SELECT privpred.create_model('paid', 'people', label => 'y', classes => '{a,b}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote');
SELECT privpred.create_model('streamed', 'people', label => 'y', classes => '{a,b}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'sparse');
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 100, delta => 0.1, force => true);
SET SESSION AUTHORIZATION eve;
-- from 17 on, maintenance sets a search_path without public
CREATE TABLE points AS SELECT 0.9::float8 AS x;
CREATE TABLE loot (what text, outcome text);
CREATE FUNCTION take(what text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	outcome text;
BEGIN
	EXECUTE what INTO outcome;
	INSERT INTO public.loot VALUES (what, 'got ' || coalesce(outcome, 'NULL'));
EXCEPTION WHEN OTHERS THEN
	INSERT INTO public.loot VALUES (what, SQLSTATE);
END $$;
CREATE FUNCTION take_all(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM public.take($q$SELECT public.private_predict('robust', ARRAY[0.9])$q$);
	PERFORM public.take($q$SELECT public.private_predict('paid', ARRAY[0.9])$q$);
	PERFORM public.take($q$SELECT privpred.distill('student', 'paid', 'public.points', 'stump') ->> 'agreement'$q$);
	PERFORM public.take($q$SELECT privpred.open_stream('streamed', 1, 1, 0.01)$q$);
	RETURN $1;
END $$;
CREATE TABLE bait (id int);
INSERT INTO bait VALUES (1);
CREATE INDEX bait_index ON bait (take_all(id));
});

my $spent = q{SELECT epsilon_spent FROM privpred.budgets WHERE role = 'postgres'::regrole};
my $before = sql($spent);

# Runs a command and returns what it brought, in words.
sub loot
{
	my ($command) = @_;
	sql('TRUNCATE loot');
	sql($command);
	return sql(q{SELECT string_agg(DISTINCT outcome, ', ' ORDER BY outcome), count(*) > 3 FROM loot});
}

is(loot('ANALYZE bait'), '42501|t', 'ANALYZE by a superuser');
is(loot('REINDEX TABLE bait'), '42501|t', 'REINDEX by a superuser');
is(loot('CLUSTER bait USING bait_index'), '42501|t', 'CLUSTER by a superuser');
is(loot('VACUUM FULL bait'), '42501|t', 'VACUUM FULL by a superuser');
sql(q{SET SESSION AUTHORIZATION eve; CREATE MATERIALIZED VIEW lure AS SELECT public.take_all(1)});
is(loot('REFRESH MATERIALIZED VIEW lure'), '42501|t', 'REFRESH MATERIALIZED VIEW by a superuser');
is(sql($spent), $before, 'the budget of the superuser is as it was');

# The same for whoever asks in their own name.
is($node->safe_psql('postgres', q{
CREATE MATERIALIZED VIEW own AS SELECT private_predict('robust', ARRAY[0.9]) AS robust, private_predict('paid', ARRAY[0.9]) AS paid;
REFRESH MATERIALIZED VIEW own;
SELECT robust IN ('a', 'b'), paid IN ('a', 'b') FROM own}), 't|t', 'a materialized view of one\'s own');
isnt(sql($spent), $before, 'is charged');

$node->stop;
done_testing();
