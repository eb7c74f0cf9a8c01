# Every statement of the table of papers in docs/mechanisms.md is executed on made-up tables
# (test/docs/papers.sql), and every model that it makes answers; no mechanism is missing there.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = 'docs/mechanisms.md';
my @heading = ('item', 'statement', 'class of problems', 'limits', 'proof', 'checked by');

my $node = PostgreSQL::Test::Cluster->new('papers');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmaintenance_work_mem = '256MB'\n");
$node->start;
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', $node->connstr('postgres'), '-f', 'test/docs/papers.sql' ],
	'the tables are made');

# Rows of the table, each a list of cells.
sub papers
{
	my ($inside, @rows);
	for my $line (split /\n/, slurp_file($page))
	{
		my @cells = $line =~ /^\|/ ? map { s/^\s+|\s+$//gr } split(/\|/, substr($line, 1), -1) : ();
		pop @cells;
		if (@cells && "@cells" eq "@heading") { $inside = 1 }
		elsif (!@cells) { $inside = 0 }
		elsif ($inside && $cells[0] !~ /^-+$/) { push @rows, \@cells }
	}
	return @rows;
}

# What an answer is asked by depends on the model: a label, a score, or either from a stream.
$node->safe_psql('postgres', <<'SQL');
SET search_path = public, privpred;
CREATE FUNCTION ask(model text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	features jsonb := (SELECT jsonb_object_agg(f ->> 'name', CASE f ->> 'name' WHEN 'point' THEN '"p7"' ELSE '0.3' END::jsonb)
		FROM privpred.models m, jsonb_array_elements(m.features) f WHERE m.name = model);
	way text;
	complaints text := '';
BEGIN
	FOREACH way IN ARRAY ARRAY['SELECT private_predict($1, $2)', 'SELECT private_score($1, $2)',
		'SELECT count(privpred.open_stream($1, unstable => 1, epsilon => 0.5, delta => 1e-9))']
	LOOP
		BEGIN
			EXECUTE way USING model, features;
			IF way LIKE '%open_stream%' THEN
				RETURN 'opened';
			END IF;
			RETURN 'answered';
		EXCEPTION WHEN OTHERS THEN
			complaints := concat_ws('; ', complaints, SQLSTATE || ' ' || SQLERRM);
		END;
	END LOOP;
	RETURN complaints;
END $$;
SQL

my %seen;
my @rows = papers();
cmp_ok(scalar @rows, '>=', 30, "$page: rows are found");
for my $row (@rows)
{
	my ($item, $statement, $class, $limits, $proof, $checked) = @$row;
	is(scalar @$row, scalar @heading, "$item: all cells are there") or next;
	like($statement, qr/^`[^`]+`$/, "$item: one statement") or next;
	like($proof, qr/^[0-9\[]/, "$item: a section has its proof");
	isnt($checked, '', "$item: something checks it");
	$statement =~ tr/`//d;
	my ($status, $said, $complained) = $node->psql('postgres', "SET client_min_messages = error; SET search_path = public, privpred; SELECT count(*) FROM $statement");
	is("$status $said $complained", $status == 0 ? "$status $said " : '0', "$item: $statement");
	next unless $status == 0 && $statement =~ /^(?:create_model|distill)\('m'/;
	my ($mechanism) = $statement =~ /mechanism => '(\w+)'/;
	$seen{ $mechanism // ($statement =~ /^distill/ ? 'distill' : 'vote') } = 1;
	like($node->safe_psql('postgres', "SELECT ask('m')"), qr/^(answered|opened)$/, "$item: the model answers");
	$node->safe_psql('postgres', "SELECT privpred.drop_model('m')");
}

my @missing = grep { !$seen{$_} } split /\n/, $node->safe_psql('postgres', 'SELECT mechanism FROM privpred.plan() ORDER BY 1');
is("@missing", '', 'every mechanism of the registry has a row');

# Tests that are named exist.
my %named = map { $_ => 1 } map { $_->[5] =~ /`([^`]+)`/g } @rows;
my @invented = grep { my ($kind, $name) = split m{/}; !-e ($kind eq 'unit' ? "test/unit/test_$name.c" : $kind eq 'sql' ? "sql/$name.sql" : "test/t/$name.pl") } sort keys %named;
is("@invented", '', 'tests that are named exist');

$node->stop;
done_testing();
