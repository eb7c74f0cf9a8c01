# Whether functions of learner sql fail for some teachers, and where, depends on
# rows.  So an asker sees the same, whatever can be set in a session, of a model some
# of whose teachers fail as of one whose teachers do not.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('silence');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nlog_min_messages = info\n");
$node->start;

# "sound" and "frail" have the same functions; one has rows for which they fail.
$node->safe_psql('postgres', q{
SET client_min_messages = error;
CREATE EXTENSION privpred;
CREATE ROLE analyst LOGIN;
CREATE SCHEMA code;
CREATE FUNCTION code.step(state text, label text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN state = 'ill' OR x[1] = 1 THEN 'ill' ELSE 'well' END $$;
CREATE AGGREGATE code.train(text, float8[]) (SFUNC = code.step, STYPE = text);
CREATE FUNCTION code.predict(state text, x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF state = 'ill' THEN
		RAISE INFO 'ill';
		RAISE EXCEPTION USING ERRCODE = CASE WHEN x[1] > 0.25 THEN 'query_canceled' ELSE 'data_exception' END, MESSAGE = 'ill';
	END IF;
	-- nobody else may interrupt a session of a superuser's
	IF x[1] = 1 THEN
		PERFORM pg_cancel_backend(pg_backend_pid());
		PERFORM pg_sleep(600);
	END IF;
	RETURN 'no';
END $$;
CREATE TABLE sound (id int PRIMARY KEY, x float8, y text);
INSERT INTO sound SELECT i, 0, CASE WHEN i % 2 = 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 400) i;
CREATE TABLE frail (LIKE sound INCLUDING ALL);
INSERT INTO frail SELECT id, CASE WHEN id <= 3 THEN 1 ELSE 0 END, y FROM sound;
SELECT privpred.protect(t), privpred.create_model(t, t::regclass, label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}', teachers => 20,
	epsilon => 100, learner => 'sql', options => '{"train": "code.train", "predict": "code.predict"}'), privpred.grant_budget('analyst', t::regclass, 1e6)
FROM unnest('{sound,frail}'::text[]) t;
});

# All that a client hears of an answer; numbers of transactions, processes and bytes differ by nature.
sub heard
{
	my ($model, $question, @settings) = @_;
	my ($stdout, $stderr) = ('', '');
	my $status = $node->psql('postgres', join(";\n", @settings, "SELECT private_predict('$model', ARRAY[$question])", "SELECT 'and on'"),
		stdout => \$stdout, stderr => \$stderr, on_error_stop => 0, extra_params => [ '-U', 'analyst' ]);
	my $all = "$status\n$stdout\n$stderr";
	$all =~ s/\b$model\b/MODEL/g;
	$all =~ s/-?\d+(?:\.\d+)?/0/g; # bytes of an OID have signs
	return $all;
}

# The teachers do fail; it is in the server's log.
sub failures
{
	my ($model) = @_;
	my $before = -s $node->logfile;

	heard($model, '0.5');
	return scalar(() = slurp_file($node->logfile, $before) =~ /INFO:  ill/g);
}
is(failures('sound'), 0, 'no teacher fails');
cmp_ok(failures('frail'), '>', 0, 'some teachers fail');

# Every setting of a session that has few values, and all that there is to hear.
my @settings = split /\n/, $node->safe_psql('postgres', q{
SELECT format('SET %I = %L', s.name, v) FROM pg_settings s, unnest(CASE WHEN s.vartype = 'bool' THEN '{on,off}' ELSE s.enumvals END) v
WHERE s.context = 'user' AND s.vartype IN ('bool', 'enum') AND s.name <> 'client_min_messages' ORDER BY 1});
cmp_ok(scalar(@settings), '>', 100, 'settings are found');
my %differ;
foreach my $setting (@settings)
{
	my @both = map { heard($_, '0.125', 'SET client_min_messages = log', $setting) } 'sound', 'frail';
	next if $both[0] eq $both[1] && $both[0] =~ /and on/;
	$differ{$setting} = 1;
	my @lines = map { [ split /\n/ ] } @both;
	my ($first) = grep { ($lines[0][$_] // '') ne ($lines[1][$_] // '') } 0 .. $#{ $lines[0] };
	diag($_->[ $first // -1 ] // 'nothing') for @lines;
}
is(join("\n", sort keys %differ), '', 'teachers that fail are not heard of, whatever is set');
foreach my $level (split /,/, $node->safe_psql('postgres', q{SELECT array_to_string(enumvals, ',') FROM pg_settings WHERE name = 'client_min_messages'}))
{
	foreach my $question ('0.125', '0.5')
	{
		my @both = map { heard($_, $question, "SET client_min_messages = $level") } 'sound', 'frail';
		is($both[1], $both[0], "nor with client_min_messages = $level, at $question");
	}
}

# A teacher that is interrupted ends the statement, and the client is told; but not where.
$node->safe_psql('postgres', q{GRANT analyst TO postgres});
foreach my $model ('sound', 'frail')
{
	my ($stdout, $stderr) = ('', '');
	$node->psql('postgres', "SET ROLE analyst; SELECT private_predict('$model', ARRAY[1])", stdout => \$stdout, stderr => \$stderr);
	like($stderr, qr/ERROR:  canceling statement due to user request/, "$model: the client hears of a cancellation");
	unlike($stderr, qr/code\.predict/, "$model: but not of the function");
	is($stdout, '', "$model: and has no answer");
}
$node->stop;
done_testing();
