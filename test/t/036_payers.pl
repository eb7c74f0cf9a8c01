# Who pays is the current user, wherever a question is asked from.  Every way in
# which PostgreSQL runs somebody's code for somebody else asks here, from each
# kind of model; ask() says as whom it runs, and that role must have paid, nobody else.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Privpred::Blind qw(session);
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('payers');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nclient_min_messages = warning\n");
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
my @models = qw(paid streamed released);
my @payers = qw(asker definer maker);

# One session looks on; whoever asks has one of his own.
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
my $session = session($node->installed_command('psql'), '-d', 'postgres');

sub sql
{
	my $said = $session->("$_[0];\nDISCARD ALL");
	chomp $said;
	return $said;
}

# Runs SQL as a login role; test.model tells ask() which model to ask.
sub as
{
	my ($role, $query, $model) = @_;
	local $ENV{PGOPTIONS} = '-c test.model=' . ($model // 'paid');
	my ($out, $err);
	$node->psql('postgres', $query, stdout => \$out, stderr => \$err, on_error_stop => 0,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	return ($out, $err);
}

sql(q{
CREATE EXTENSION privpred;
CREATE ROLE owner LOGIN;
CREATE ROLE asker LOGIN;
CREATE ROLE definer LOGIN;
CREATE ROLE maker LOGIN;
CREATE ROLE poor LOGIN;
GRANT CREATE ON SCHEMA public TO PUBLIC;
SET SESSION AUTHORIZATION owner;
CREATE TABLE people (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO people SELECT i, i / 1000.0, CASE WHEN i > 500 THEN 'b' ELSE 'a' END FROM generate_series(1, 1000) i;
SELECT privpred.protect('people', declared_units => 1000);
SELECT privpred.create_model('paid', 'people', label => 'y', classes => '{a,b}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.01);
SELECT privpred.create_model('kept', 'people', label => 'y', classes => '{a,b}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.01, options => '{"memoize": true}');
SELECT privpred.create_model('streamed', 'people', label => 'y', classes => '{a,b}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'sparse');
SELECT privpred.create_model('released', 'people', label => 'y', classes => '{a,b}',
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'cover', epsilon => 1, options => '{"class": "thresholds"}');
SELECT privpred.grant_budget(r::regrole, 'people', epsilon => 1000, delta => 0.1, force => true)
	FROM unnest('{asker,definer,maker}'::text[]) r;
RESET SESSION AUTHORIZATION;

CREATE FUNCTION ask() RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS $$
BEGIN
	RAISE WARNING 'asked as %', current_user;
	PERFORM public.private_predict(current_setting('test.model'), ARRAY[random()]);
	RETURN 1;
END $$;
CREATE FUNCTION ask_for_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM public.ask();
	RETURN coalesce(NEW, OLD);
END $$;
SET SESSION AUTHORIZATION definer;
CREATE FUNCTION service() RETURNS int LANGUAGE sql SECURITY DEFINER PARALLEL SAFE AS 'SELECT public.ask()';
CREATE FUNCTION budget_of_service() RETURNS text LANGUAGE sql SECURITY DEFINER AS
	$$ SELECT string_agg(role_name, ',') || ' ' || (SELECT (privpred.cost('paid', 1)).fits) FROM privpred.budgets $$;
CREATE TABLE child (id int, parent int);
GRANT SELECT, INSERT ON child TO maker;
CREATE TRIGGER on_delete BEFORE DELETE ON child FOR EACH ROW EXECUTE FUNCTION ask_for_row();
SET SESSION AUTHORIZATION maker;
CREATE FUNCTION trigger_of_maker() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
	$$ BEGIN PERFORM public.ask(); RETURN NULL; END $$;
CREATE FUNCTION service_of_maker() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT public.service() + public.ask()';
CREATE FUNCTION lie(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + public.ask()';
CREATE VIEW peek AS SELECT ask();
CREATE VIEW peek_invoker AS SELECT ask();
CREATE TABLE ruled (id int);
CREATE TABLE rule_log (id int);
CREATE RULE spend AS ON INSERT TO ruled DO ALSO INSERT INTO rule_log SELECT ask();
CREATE TABLE watched_before (id int);
CREATE TRIGGER spend BEFORE INSERT ON watched_before FOR EACH ROW EXECUTE FUNCTION ask_for_row();
CREATE TABLE watched_after (id int);
CREATE TRIGGER spend AFTER INSERT ON watched_after FOR EACH ROW EXECUTE FUNCTION ask_for_row();
CREATE TABLE watched_by_maker (id int);
CREATE TRIGGER spend AFTER INSERT ON watched_by_maker FOR EACH ROW EXECUTE FUNCTION trigger_of_maker();
CREATE TABLE defaulted (id int, answer int DEFAULT ask());
CREATE TABLE checked (id int CHECK (ask() = 1));
CREATE TABLE indexed (id int);
CREATE INDEX indexed_lie ON indexed (lie(id));
CREATE TABLE secret (id int);
INSERT INTO secret VALUES (1);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY spend ON secret USING (public.ask() = 1);
CREATE TABLE secret_by_service (id int);
INSERT INTO secret_by_service VALUES (1);
ALTER TABLE secret_by_service ENABLE ROW LEVEL SECURITY;
CREATE POLICY spend ON secret_by_service USING (public.service() = 1);
CREATE TABLE parent (id int PRIMARY KEY);
GRANT REFERENCES ON parent TO definer;
INSERT INTO parent SELECT generate_series(1, 100);
INSERT INTO child SELECT i, i FROM generate_series(1, 100) i;
CREATE TABLE many AS SELECT generate_series(1, 4) AS id;
GRANT ALL ON peek, peek_invoker, ruled, watched_before, watched_after, watched_by_maker, defaulted, checked, indexed,
	secret, secret_by_service, parent, many TO asker;
SET SESSION AUTHORIZATION definer;
ALTER TABLE child ADD FOREIGN KEY (parent) REFERENCES parent ON DELETE CASCADE;
SET SESSION AUTHORIZATION poor;
CREATE FUNCTION trap() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT public.ask()';
RESET SESSION AUTHORIZATION;
CREATE FUNCTION clause_role() RETURNS int LANGUAGE plpgsql SET role = definer AS 'BEGIN RETURN public.ask(); END';
CREATE FUNCTION hop(role text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('role', role, true);
	RETURN public.private_predict(current_setting('test.model'), ARRAY[random()]);
END $$;
CREATE FUNCTION on_command() RETURNS event_trigger LANGUAGE plpgsql AS
	$$ BEGIN IF current_user <> 'postgres' THEN PERFORM public.ask(); END IF; END $$;
CREATE EVENT TRIGGER spend ON ddl_command_end WHEN TAG IN ('CREATE SEQUENCE') EXECUTE FUNCTION on_command();
});
sql('ALTER VIEW peek_invoker SET (security_invoker)') if $version >= 150000;
for my $role (@payers)
{
	my (undef, $err) = as($role, q{SELECT privpred.open_stream('streamed', 2000, 0.001, 1e-6)});
	unlike($err, qr/ERROR/, "$role buys a stream");
}
sql(q{SET SESSION AUTHORIZATION maker; SET test.model = 'paid'; CREATE MATERIALIZED VIEW stored AS SELECT ask() FROM generate_series(1, 2)});

# What each role has had by now: of statistics, and of the ledger.
sub had
{
	my ($model) = @_;
	sql(q{DO $$ BEGIN FOR i IN 1 .. 30000 LOOP EXIT WHEN NOT EXISTS (SELECT FROM privpred.leases); PERFORM pg_sleep(0.02); END LOOP; END $$});
	die 'leases stay open' if sql('SELECT EXISTS (SELECT FROM privpred.leases)') eq 't';
	my %had = map { split /\|/ } split /\n/,
	  sql("SELECT role::text, answers FROM privpred.stat WHERE model = '$model'");
	my %paid = map { split /\|/ } split /\n/, sql(
		$model eq 'streamed' ?
		  "SELECT role::text, sum(unstable_used) FROM privpred.streams GROUP BY 1" :
		  "SELECT role::text, sum(answers) FROM privpred.ledger WHERE model = '$model' GROUP BY 1");
	return (\%had, \%paid);
}

sub difference
{
	my ($before, $after) = @_;
	return join(' ', map { $_ . ' ' . (($after->{$_} // 0) - ($before->{$_} // 0)) }
		grep { ($after->{$_} // 0) != ($before->{$_} // 0) } sort keys %$after);
}

# A way of asking: as whom, what, and who is to pay for how many answers.  What
# ask() said must agree, unless the way is a bare call.
sub way
{
	my ($name, $role, $query, $expected, %opt) = @_;
	for my $model (@{ $opt{models} // \@models })
	{
		my ($had, $paid) = had($model);
		my ($out, $err) = as($role, $query, $model);
		my ($had_after, $paid_after) = had($model);
		my %said;
		$said{$1}++ while $err =~ /asked as (\w+)/g;
		unlike($err, qr/ERROR/, "$name, $model: no error");
		is(join(' ', map { "$_ $said{$_}" } sort keys %said), $expected, "$name, $model: asked as")
		  unless $opt{bare};
		is(difference($had, $had_after), $expected, "$name, $model: who got answers");
		# Teachers of a table this size never agree enough: each answer is an unstable one.
		is(difference($paid, $paid_after), $expected, "$name, $model: who paid")
		  unless $model eq 'released';
	}
}

way('a call', 'asker', 'SELECT ask()', 'asker 1');
way('a DO block', 'asker', 'DO $$ BEGIN PERFORM ask(); END $$', 'asker 1');
way('SET ROLE', 'postgres', 'SET ROLE asker; SELECT ask()', 'asker 1');
way('SET SESSION AUTHORIZATION', 'postgres', 'SET SESSION AUTHORIZATION asker; SELECT ask()', 'asker 1');
way('a statement prepared before SET ROLE', 'postgres',
	'PREPARE q AS SELECT ask(); SET ROLE asker; EXECUTE q; SET ROLE definer; EXECUTE q', 'asker 1 definer 1');
way('a function with a SET clause', 'postgres', 'SELECT clause_role()', 'definer 1');

# PostgreSQL runs these as whoever runs the statement.
way('a view', 'asker', 'SELECT * FROM peek', 'asker 1');
way('a view with security_invoker', 'asker', 'SELECT * FROM peek_invoker', 'asker 1');
way('a rule', 'asker', 'INSERT INTO ruled VALUES (1)', 'asker 1');
way('a trigger before', 'asker', 'INSERT INTO watched_before VALUES (1)', 'asker 1');
way('a trigger after', 'asker', 'INSERT INTO watched_after VALUES (1)', 'asker 1');
way('a default', 'asker', 'INSERT INTO defaulted (id) VALUES (1)', 'asker 1');
way('a check', 'asker', 'INSERT INTO checked VALUES (1)', 'asker 1');
way('an index on insertion', 'asker', 'INSERT INTO indexed VALUES (1)', 'asker 1');
way('a policy', 'asker', 'SELECT * FROM secret', 'asker 1');
way('an event trigger', 'asker', 'CREATE TEMPORARY SEQUENCE fresh', 'asker 1');

# And these as somebody else.
way('SECURITY DEFINER', 'asker', 'SELECT service()', 'definer 1');
way('one within another', 'asker', 'SELECT service_of_maker()', 'definer 1 maker 1');
way('SECURITY DEFINER for whoever has no budget', 'poor', 'SELECT service()', 'definer 1');
way('a trigger with SECURITY DEFINER', 'asker', 'INSERT INTO watched_by_maker VALUES (1)', 'maker 1');
way('a policy with SECURITY DEFINER', 'asker', 'SELECT * FROM secret_by_service', 'definer 1');
way('a foreign key\'s cascade', 'asker', 'DELETE FROM parent WHERE id = (SELECT min(id) FROM parent)', 'definer 1');
way('a materialized view', 'postgres', 'REFRESH MATERIALIZED VIEW stored', 'maker 2');
sql(q{TRUNCATE indexed; SET SESSION AUTHORIZATION maker; SET test.model = 'paid'; INSERT INTO indexed VALUES (1), (2)});
way('an index that is built', 'postgres', 'REINDEX INDEX indexed_lie', 'maker 2');
way('an index that is analysed', 'postgres', 'ANALYZE indexed', 'maker 2');

# In parallel workers, if there are any.
my $parallel = q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;};
like(sql("$parallel EXPLAIN SELECT service() FROM many"), qr/Gather/, 'a parallel plan');
way('parallel workers', 'asker', "$parallel SELECT ask() FROM many", 'asker 4');
way('SECURITY DEFINER in parallel workers', 'asker', "$parallel SELECT service() FROM many", 'definer 4');

# One call site, several roles.
my $call = q{private_predict(current_setting('test.model'), ARRAY[random()])};
way('a cursor', 'postgres', "BEGIN; DECLARE c CURSOR FOR SELECT $call FROM generate_series(1, 50);
	SET ROLE asker; FETCH 7 FROM c; SET ROLE definer; FETCH 3 FROM c; SET ROLE asker; FETCH 2 FROM c; COMMIT",
	'asker 9 definer 3', bare => 1);
way('a call that changes roles', 'postgres',
	"BEGIN; SELECT hop(CASE WHEN i IN (3, 7, 8) THEN 'definer' ELSE 'asker' END) FROM generate_series(1, 12) i; COMMIT",
	'asker 9 definer 3', bare => 1);

# ---------- nobody has for nothing what another has paid for ----------

sub answers_of { return sql("SELECT coalesce(sum(answers), 0) FROM privpred.ledger WHERE model = '$_[1]' AND role = '$_[0]'::regrole") }

sql(q{CREATE FUNCTION ask_again(model text) RETURNS text LANGUAGE sql AS 'SELECT public.private_predict($1, ARRAY[0.25])';
CREATE FUNCTION service_again(model text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT public.ask_again($1)';
ALTER FUNCTION service_again(text) OWNER TO definer});
for my $model (qw(paid kept))
{
	my ($asker, $definer) = (answers_of('asker', $model), answers_of('definer', $model));
	as('asker', "SET privpred.repeat_memory = '1MB'; SELECT ask_again('$model'); SELECT service_again('$model'); SELECT ask_again('$model'), service_again('$model')");
	is(answers_of('asker', $model) - $asker, 1, "$model: the asker pays once");
	is(answers_of('definer', $model) - $definer, 1, "$model: and the definer once");
}
sql(q{SET SESSION AUTHORIZATION owner; SELECT privpred.retrain('released')});
my $buyers = q{SELECT string_agg(asked_by, ' ' ORDER BY asked_by) FROM privpred.ledger WHERE model = 'released' AND version = 2 AND kind = 'release'};
as('asker', q{SELECT service_again('released')});
is(sql($buyers), 'definer', 'a released model is bought by the definer');
as('asker', q{SELECT service_again('released'), ask_again('released')});
is(sql($buyers), 'asker definer', 'and by the asker for himself');

# ---------- a trap spends nothing of the victim's ----------

my $before = answers_of('asker', 'paid');
my (undef, $err) = as('asker', 'SELECT trap()');
like($err, qr/42501.*role "poor" has no privacy budget/, 'a definer without a budget');
is(answers_of('asker', 'paid'), $before, 'the caller does not pay for him');
my ($out) = as('asker', 'SELECT budget_of_service()');
is($out, 'definer true', 'views and cost speak of who pays');

$node->stop;
done_testing();
