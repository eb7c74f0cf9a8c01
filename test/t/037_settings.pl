# Settings can be put aside: what a client gives as an option takes the place of
# what ALTER ROLE or the configuration file say, before the library is loaded and can
# object.  So no setting may protect anything, and ceilings are no settings.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = ledger_node('settings', "privpred.ledger_idle_timeout = 1500\n");
$node->safe_psql('postgres', q{
SELECT privpred.grant_budget('bob', 'patients', 100);
SELECT privpred.grant_budget('bob', 'visits', 100);
CREATE ROLE team; GRANT team TO carol;
SELECT privpred.grant_budget('team', 'patients', 100);
});

sub with_options
{
	my ($options, $sub) = @_;
	local $ENV{PGOPTIONS} = $options;
	return $sub->();
}

# ---------- every setting that there is ----------

my %context = map { split /\|/ } split /\n/, $node->safe_psql('postgres',
	"SET client_min_messages = error; DO 'BEGIN PERFORM privpred.build(); END';
	SELECT name, context FROM pg_settings WHERE name LIKE 'privpred.%'");
cmp_ok(scalar(keys %context), '>', 4, 'settings are found');
for my $name (sort keys %context)
{
	my $type = $node->safe_psql('postgres', "DO 'BEGIN PERFORM privpred.build(); END'; SELECT vartype, coalesce(min_val, enumvals[2], CASE reset_val WHEN 'on' THEN 'off' ELSE 'on' END) FROM pg_settings WHERE name = '$name'");
	my ($kind, $value) = split /\|/, $type;
	my ($out, $err);
	with_options("-c $name=$value", sub {
		(undef, $out, $err) = as($node, 'bob', "DO 'BEGIN PERFORM privpred.build(); END'; SELECT setting FROM pg_settings WHERE name = '$name'", go_on => 1);
	});
	if ($context{$name} eq 'user')
	{
		is($out, $value, "$name is anybody's");
	}
	else
	{
		# Those of the configuration file are read by the ledger's process alone, which has no client.
		is($context{$name}, 'sighup', "$name is not for superusers: it could be put aside");
		isnt($out, $value, "$name cannot be set by a client before the library is loaded");
	}
}

# ---------- ceilings ----------

my $all = join(' ', '-c client_min_messages=error', map { "-c $_=" . ($_ =~ /max_answers|interval/ ? -1 : $_ =~ /states/ ? 'on' : $_ =~ /foresee/ ? 'off' : $_ =~ /refusal/ ? 'null' : $_ =~ /repeat/ ? 0 : $_ =~ /answers$/ ? 'on' : 2000) } keys %context,
	'privpred.max_answers_ceiling', 'privpred.ceiling');
my $many = q{SELECT probe('m') FROM generate_series(1, 50)};
sub ceiling { $node->safe_psql('postgres', "SELECT privpred.set_ceiling($_[0], $_[1])") }

ceiling("'bob'", 3);
charges($node, 'bob', 3, $many, 'a ceiling', state => '54000');
charges($node, 'bob', 0, "SET privpred.foresee = on; $many", 'a ceiling that is foreseen', state => '54000');
charges($node, 'bob', 3, "SET privpred.on_refusal = 'null'; $many", 'a ceiling is an error always', state => '54000');
with_options($all, sub { charges($node, 'bob', 3, $many, 'a ceiling, all settings set before', state => '54000') });
with_options($all, sub { charges($node, 'bob', 3, "DO 'BEGIN PERFORM privpred.build(); END'; ALTER ROLE bob SET privpred.max_answers_per_statement = -1; SET privpred.max_answers_per_statement = -1; $many",
	'a ceiling, and after', state => '54000') });
charges($node, 'bob', 6, q{SELECT probe('m') FROM generate_series(1, 3); SELECT probe('m') FROM generate_series(1, 3)}, 'of a statement');
charges($node, 'bob', 3, q{SELECT probe('m'), probe('m') FROM generate_series(1, 5)}, 'over all call sites', state => '54000');
charges($node, 'bob', 3, q{BEGIN; DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 100);
	FETCH 2 FROM c; FETCH 2 FROM c; ROLLBACK}, 'a cursor is one statement', state => '54000');
charges($node, 'bob', 2, q{SET privpred.max_answers_per_statement = 2; SELECT probe('m') FROM generate_series(1, 5)}, 'the lower of the two', state => '54000');
charges($node, 'alice', 50, $many, 'others have none');
charges($node, 'postgres', 3, "SET ROLE bob; $many", 'of who asks, not of the session', payer => 'bob', state => '54000');
$node->safe_psql('postgres', q{CREATE FUNCTION service() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT public.probe('m') $$;
	ALTER FUNCTION service() OWNER TO bob});
charges($node, 'alice', 3, 'SELECT service() FROM generate_series(1, 5)', 'of who pays', payer => 'bob', state => '54000');

# In a running statement, at the next block; groups; everybody.
ceiling("'bob'", 'NULL');
my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'bob', '-v', 'VERBOSITY=sqlstate' ]);
$session->query('BEGIN');
$session->query(q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 100)});
$session->query('MOVE 20 FROM c');
ceiling("'bob'", 10);
$session->{stderr} = '';
$session->query('FETCH 1 FROM c');
like($session->{stderr}, qr/54000/, 'a ceiling that is set meanwhile');
$session->quit;
ceiling("'bob'", 'NULL');
charges($node, 'bob', 50, $many, 'removed');
ceiling("'team'", 4);
charges($node, 'carol', 4, $many, 'of the group that pays', payer => 'team', state => '54000');
ceiling('NULL', 2);
charges($node, 'alice', 2, $many, 'for everybody', state => '54000');
charges($node, 'carol', 2, $many, 'the lowest', payer => 'team', state => '54000');
ceiling('NULL', 'NULL');
ceiling("'bob'", 0);
refused($node, 'bob', '54000', q{SELECT probe('m')}, 'none at all');

# Streams and students.
$node->safe_psql('postgres', q{SET client_min_messages = error;
SELECT privpred.create_model('s', 'visits', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, mechanism => 'sparse');
SELECT privpred.grant_budget('bob', 'visits', 100, delta => 0.1, force => true);
CREATE TABLE points AS SELECT i / 10.0::float8 AS x FROM generate_series(1, 10) i;
GRANT SELECT ON points TO bob, carol});
ceiling("'bob'", 3);
my (undef, $out, $err) = as($node, 'bob', q{SET client_min_messages = error; SELECT privpred.open_stream('s', 5, 1, 0.001); SELECT probe('s') FROM generate_series(1, 5)}, go_on => 1);
is(sqlstate_of($err), '54000', 'a stream');
is($node->safe_psql('postgres', q{SELECT answers FROM privpred.stat WHERE model = 's' AND role = 'bob'::regrole}), '3', 'a stream: as many');
$err = refused($node, 'bob', '54000', q{SELECT privpred.distill('student', 'm', 'points', 'stump')}, 'a student');
like($err, qr/Nothing was charged/, 'a student: says so');
$err = refused($node, 'carol', '54000', q{SELECT privpred.distill('student', 'm', 'points', 'stump')}, 'a student that a group would pay for', payer => 'team');
like($err, qr/Nothing was charged/, 'a student that a group would pay for: says so');

# Who may, and who sees.
$err = refused($node, 'bob', '42501', q{SELECT privpred.set_ceiling('bob', NULL)}, 'superusers alone');
is((as($node, 'bob', q{SELECT role, answers FROM privpred.ceilings}))[1], 'bob|3', 'one sees one\'s own');
is((as($node, 'alice', q{SELECT count(*) FROM privpred.ceilings}))[1], '0', 'and not those of others');
is((as($node, 'postgres', q{SELECT privpred.set_ceiling('bob', -1)}))[0], 3, 'not negative');

$node->stop;
done_testing();
