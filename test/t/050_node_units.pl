# Passes of training over foreign partitions: each server adds up the units that lie whole in its partition.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $coordinator = PostgreSQL::Test::Cluster->new('coordinator');
my @nodes = map { PostgreSQL::Test::Cluster->new("node$_") } 1, 2;
$_->init for @nodes, $coordinator;
$_->append_conf('postgresql.conf', "log_statement = all\n") for @nodes;
$_->start for @nodes, $coordinator;
$coordinator->safe_psql('postgres', 'CREATE EXTENSION privpred; CREATE EXTENSION postgres_fdw');
for my $i (0, 1)
{
	my ($n, $host, $port) = ($i + 1, $nodes[$i]->host, $nodes[$i]->port);
	$coordinator->safe_psql('postgres', qq{
	CREATE SERVER node$n FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'privpred', async_capable 'true');
	CREATE USER MAPPING FOR CURRENT_USER SERVER node$n;});
}

my $visits = 'id int NOT NULL, x float8, z float8, y boolean, bill float8, sort int';
my $stays = 'born date NOT NULL, ward text NOT NULL, x float8, z float8, y boolean, bill float8, sort int';
for my $node (@nodes)
{
	$node->safe_psql('postgres', "CREATE EXTENSION privpred; CREATE TABLE visits ($visits); CREATE TABLE stays ($stays); CREATE TABLE late_stays ($stays)");
}
$coordinator->safe_psql('postgres', qq{
CREATE TABLE visits ($visits) PARTITION BY HASH (id);
CREATE FOREIGN TABLE visits_1 PARTITION OF visits FOR VALUES WITH (MODULUS 3, REMAINDER 0) SERVER node1 OPTIONS (table_name 'visits');
CREATE FOREIGN TABLE visits_2 PARTITION OF visits FOR VALUES WITH (MODULUS 3, REMAINDER 1) SERVER node2 OPTIONS (table_name 'visits');
CREATE TABLE visits_3 PARTITION OF visits FOR VALUES WITH (MODULUS 3, REMAINDER 2);
-- a unit of two columns, partitioned by one of them, and then by both
CREATE TABLE stays ($stays) PARTITION BY RANGE (born);
CREATE FOREIGN TABLE stays_1 PARTITION OF stays FOR VALUES FROM ('1950-01-01') TO ('1960-01-01') SERVER node1 OPTIONS (table_name 'stays');
CREATE TABLE stays_late PARTITION OF stays DEFAULT PARTITION BY HASH (ward, born);
CREATE FOREIGN TABLE stays_2 PARTITION OF stays_late FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER node1 OPTIONS (table_name 'late_stays');
CREATE FOREIGN TABLE stays_3 PARTITION OF stays_late FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER node2 OPTIONS (table_name 'late_stays');
INSERT INTO visits SELECT i % 700, (i * 7919 % 10007) / 10007.0, (i % 97) / 97.0, CASE WHEN i % 50 > 0 THEN (i * 7919 % 10007) > 5000 END, i % 13, i * 7919 % 10007 / 3400 FROM generate_series(1, 3000) i;
INSERT INTO stays SELECT '1950-01-01'::date + 366 * (id % 20), 'Nord ' || id / 20, x, z, y, bill, sort FROM visits;
CREATE TABLE whole_visits (LIKE visits);
CREATE TABLE whole_stays (LIKE stays);
INSERT INTO whole_visits TABLE visits;
INSERT INTO whole_stays TABLE stays;
ANALYZE;
SELECT privpred.protect(t, unit => 'id', declared_units => 700, max_rows_per_unit => 3) FROM unnest('{visits, whole_visits}'::regclass[]) t;
INSERT INTO privpred.protected_relation (relation, relation_name, unit_columns, protects, declared_units, max_rows_per_unit) SELECT t, t::text, '{born,ward}', 'rows', 700, 3 FROM unnest('{stays, whole_stays}'::regclass[]) t;
});
is($coordinator->safe_psql('postgres', q{SELECT count(DISTINCT s.tableoid), max(n) > 3 FROM stays s JOIN (SELECT born, ward, count(*) AS n FROM stays GROUP BY 1, 2) u USING (born, ward)}), '3|t', 'units with several rows in all partitions');

my $numbers = '{"x": {"min": 0, "max": 1}, "z": {"min": 0, "max": 1}}';
# how many passes each mechanism makes, at least
my %passes = (
	gradient => [ "label => 'y', mechanism => 'gradient', options => '{\"steps\": 4}'", 5 ],
	huber => [ "label => 'bill', mechanism => 'gradient', options => '{\"steps\": 4, \"target\": {\"min\": 0, \"max\": 13}}'", 5 ],
	bins => [ "label => 'bill', mechanism => 'gradient', options => '{\"steps\": 4, \"bins\": [0, 4, 8, 13]}'", 5 ],
	classes => [ "label => 'sort', classes => '{0,1,2}', mechanism => 'stable_erm'", 9 ],
	cover => [ "label => 'y', mechanism => 'cover'", 1 ],
	held => [ "label => 'y', mechanism => 'cover', holdout => 0.2", 1 ],
	cover_classes => [ "label => 'sort', classes => '{0,1,2}', mechanism => 'cover'", 1 ],
	littlestone => [ "label => 'y', mechanism => 'littlestone'", 1, '{"x": {"min": 0, "max": 1}}' ],
	one_pass => [ "label => 'y', mechanism => 'stable_erm', options => '{\"solver\": \"sgd\"}'", 0 ], # in an order of all units: rows
	stable_erm => [ "label => 'y', mechanism => 'stable_erm'", 3 ]);
sub train_by_passes
{
	my ($table, $how, $name) = @_;
	my @from = map { -s $_->logfile } @nodes;
	my ($rc, $out, $err) = $coordinator->psql('postgres', "SELECT privpred.create_model('${name}_$table', '$table', features => '" . ($passes{$name}[2] // $numbers) . "', $passes{$name}[0], epsilon => 1)");
	is($rc, 0, "$table, $how: $name is trained") or diag $err;
	my @logs = map { slurp_file($nodes[$_]->logfile, $from[$_]) } 0, 1;
	return ($err =~ /(\d+ rows? (?:was|were) left out)/ ? $1 : 'all rows', @logs);
}
my %fetched;
for my $table (qw(visits stays))
{
	for my $name (sort keys %passes)
	{
		my ($left_out, @logs) = train_by_passes($table, 'sums', $name);
		for my $i (0, 1)
		{
			my $asked = () = $logs[$i] =~ /SELECT privpred\.sum_sorted_units\(/g;
			cmp_ok($asked, '>=', $passes{$name}[1], "$table: $name: node $i adds up in each pass");
			# "littlestone" shows the units to its learner besides
			unlike($logs[$i], qr/FOR\s+SELECT (?!privpred\.sum_sorted_units)/, "$table: $name: and gives no rows") if $name !~ /littlestone|one_pass/;
		}
		my ($here) = train_by_passes("whole_$table", 'here', $name);
		is($left_out, $here, "$table: $name: as many rows are counted") if $name ne 'held'; # which differ by salt
	}
	$fetched{$table} = $coordinator->safe_psql('postgres', "SELECT md5(string_agg(s::text, ',' ORDER BY s::text)) FROM $table s");
}

# Where labels alone are protected, rows without one tell where candidates are wanted.
$_->safe_psql('postgres', "CREATE TABLE marks ($visits)") for @nodes;
$coordinator->safe_psql('postgres', qq{
CREATE TABLE marks ($visits) PARTITION BY HASH (id);
CREATE FOREIGN TABLE marks_1 PARTITION OF marks FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER node1 OPTIONS (table_name 'marks');
CREATE FOREIGN TABLE marks_2 PARTITION OF marks FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER node2 OPTIONS (table_name 'marks');
CREATE TABLE whole_marks (LIKE marks);
INSERT INTO marks TABLE visits;
INSERT INTO whole_marks TABLE visits;
SELECT privpred.protect(t, unit => 'id', protects => 'labels', declared_units => 700, max_rows_per_unit => 3) FROM unnest('{marks, whole_marks}'::regclass[]) t;
});
$passes{labels} = [ q{label => 'y', mechanism => 'label_private', options => '{"class": "thresholds"}'}, 1, '{"x": {"min": 0, "max": 1}}' ];
my ($left_out, @asked) = train_by_passes('marks', 'sums', 'labels');
is($left_out, (train_by_passes('whole_marks', 'here', 'labels'))[0], 'labels: as many rows are counted');
like($asked[$_], qr/SELECT privpred\.sum_sorted_units\(/, "labels: node $_ adds up") for 0, 1;

# The same sums: of features, of errors of cuts, of all that "stable_erm" wants.
my $form = q{int4send(1) || int4send(2) || int4send(3) || int8send(77) || int4send(2) || '\\x00' || float8send(0) || float8send(1)};
for my $request ("$form || '\\x08' || 'gradient'::bytea || '\\x0000' || int4send(1) || int4send(1000) || float4send(1) || int8send(5000)",
	"$form || '\\x0a' || 'candidates'::bytea || '\\x0200' || int4send(2) || int4send(99) || '\\x01' || int4send(9) || '\\x01'",
	($form =~ s/x00/x01/r) . " || '\\x0a' || 'candidates'::bytea || '\\x0200' || int4send(2) || int4send(99) || '\\x01' || int4send(9) || '\\x01'")
{
	my $bytes = $coordinator->safe_psql('postgres', "SELECT $request");
	for (['visits', 'id'], ['stays', 'born, ward'])
	{
		my ($table, $unit) = @$_;
		my $grouped = $coordinator->safe_psql('postgres', "SELECT privpred.sum_units(y, x, '$bytes') FROM (SELECT array_agg(y::int::float8) AS y, array_agg(ARRAY[x, z]) AS x FROM whole_$table GROUP BY $unit) s");
		my @parts = split /\n/, $coordinator->safe_psql('postgres', "SELECT c::regclass FROM unnest(ARRAY(SELECT relid FROM pg_partition_tree('$table') WHERE isleaf)) c");
		like($grouped, qr{^[A-Za-z0-9+/=]{40,}$}, "sums of $table");
		is($coordinator->safe_psql('postgres', "SELECT privpred.sum_sorted_units('$bytes', y::int::float8, ARRAY[x, z], $unit ORDER BY $unit) FROM whole_$table"), $grouped, 'are those of its sorted rows');
		is($coordinator->safe_psql('postgres', 'SELECT privpred.merge_sums(s) FROM (' . join(' UNION ALL ', map { "SELECT privpred.sum_sorted_units('$bytes', y::int::float8, ARRAY[x, z], $unit ORDER BY $unit) AS s FROM ONLY $_" } @parts) . ') p'),
			$grouped, 'and of its partitions');
	}
}

# What the coordinator asks of a hash is what it is partitioned by.
is($coordinator->safe_psql('postgres', q{SELECT bool_and(privpred.hash_partition_has(3, i % 3, id) = satisfies_hash_partition('visits'::regclass, 3, i % 3, id)),
	bool_and(privpred.hash_partition_has(2, i % 2, 'w' || i, '1950-01-01'::date + i) = satisfies_hash_partition('stays_late'::regclass, 2, i % 2, 'w' || i, '1950-01-01'::date + i))
	FROM (SELECT i, NULLIF(i, 7) AS id FROM generate_series(1, 1000) i) s}), 't|t', 'hashes are those of partitions');

# A row that lies where it does not belong would be a second unit of its person.
for (['visits', 'id = id + 1', 'id = id - 1', 0], ['stays', q{born = born + 36600}, q{born = born - 36600}, 0], ['late_stays', q{ward = ward || '!'}, q{ward = rtrim(ward, '!')}, 1])
{
	my ($remote, $change, $back, $i) = @$_;
	(my $table = $remote) =~ s/late_//;
	$nodes[$i]->safe_psql('postgres', "UPDATE $remote SET $change");
	for my $name (qw(gradient cover stable_erm))
	{
		my ($rc, $out, $err) = $coordinator->psql('postgres', "SELECT privpred.retrain('${name}_$table')");
		isnt($rc, 0, "$remote: $name: rows that do not belong there are refused");
		like($err, qr/ERROR:  a foreign table has rows that do not belong into its partition\nDETAIL:  A unit's rows are added up where they lie, which must be one place\.\nHINT:  Move the rows/, "$remote: $name: and it says why");
	}
	$nodes[$i]->safe_psql('postgres', "UPDATE $remote SET $back");
	is($coordinator->safe_psql('postgres', "SELECT md5(string_agg(s::text, ',' ORDER BY s::text)) FROM $table s"), $fetched{$table}, "$remote: as before");
	is($coordinator->safe_psql('postgres', "SELECT privpred.retrain('gradient_$table') IS NOT NULL"), 't', "$remote: trained again");
}

# Nothing makes a foreign table keep to NOT NULL either: rows of nobody are left out, wherever they lie.
$nodes[0]->safe_psql('postgres', 'ALTER TABLE visits ALTER id DROP NOT NULL; INSERT INTO visits SELECT NULL, 0.5, 0.5, true, 1, 1 FROM generate_series(1, 7)');
like(($coordinator->psql('postgres', "SELECT privpred.retrain('gradient_visits')"))[2], qr/67 rows were left out/, 'rows of nobody are counted');
$nodes[0]->safe_psql('postgres', 'DELETE FROM visits WHERE id IS NULL; ALTER TABLE visits ALTER id SET NOT NULL');

# Constants of bounds mean the same in every session: IST is also the time of Israel.
$_->safe_psql('postgres', 'CREATE TABLE moments (id timestamptz NOT NULL, x float8, z float8, y boolean); CREATE TABLE rounded (id numeric NOT NULL, x float8, z float8, y boolean)') for @nodes;
$coordinator->safe_psql('postgres', q{
CREATE TABLE moments (id timestamptz NOT NULL, x float8, z float8, y boolean) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE moments_1 PARTITION OF moments FOR VALUES FROM (MINVALUE) TO ('2020-01-01 03:00+00') SERVER node1 OPTIONS (table_name 'moments');
CREATE TABLE moments_2 PARTITION OF moments FOR VALUES FROM ('2020-01-01 03:00+00') TO (MAXVALUE);
INSERT INTO moments SELECT '2020-01-01 02:59:59.5+00'::timestamptz + i % 100 * interval '0.01 s', i % 100 / 100.0, i % 7 / 7.0, i % 100 < 50 FROM generate_series(1, 300) i;
-- what is fetched is rounded, what is added up there is not
CREATE TABLE rounded (id numeric(10,0) NOT NULL, x float8, z float8, y boolean) PARTITION BY HASH (id);
CREATE FOREIGN TABLE rounded_1 PARTITION OF rounded FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER node1 OPTIONS (table_name 'rounded');
SELECT privpred.protect(t, unit => 'id', declared_units => 100, max_rows_per_unit => 3) FROM unnest('{moments, rounded}'::regclass[]) t;
});
my $train = sub {
	my ($table, $how) = @_;
	return ($coordinator->psql('postgres', "SET timezone = 'Asia/Kolkata'; SET datestyle = 'SQL, DMY'; SELECT FROM privpred.create_model('$how of $table', '$table', label => 'y', features => '$numbers', epsilon => 1, " .
		($how eq 'gradient' ? q{mechanism => 'gradient')} : "learner => '$how', teachers => 5)")))[2];
};
is($coordinator->safe_psql('postgres', 'SELECT count(DISTINCT tableoid) FROM moments'), '2', 'moments in two partitions');
my $from = -s $nodes[0]->logfile;
unlike($train->('moments', 'gradient'), qr/ERROR/, 'moments belong where they are');
like(slurp_file($nodes[0]->logfile, $from), qr/sum_sorted_units.*2020-01-01 08:30:00\+05:30/, 'in whatever style the session writes them');
$nodes[0]->safe_psql('postgres', q{INSERT INTO moments VALUES ('2020-01-01 05:00+00', 0, 0, true)});
$coordinator->safe_psql('postgres', q{SELECT privpred.drop_model('gradient of moments')});
like($train->('moments', 'gradient'), qr/ERROR:  a foreign table has rows that do not belong/, 'and a moment that does not is found');

$nodes[0]->safe_psql('postgres', 'INSERT INTO rounded SELECT i / 4.0, i / 100.0, 0.5, i < 50 FROM generate_series(1, 100) i');

# A type that rounds, and a collation by which other strings are equal, make other units on a node.
for my $how (qw(gradient linear logistic))
{
	like($train->('rounded', $how), qr/ERROR:  the node and the coordinator disagree\nDETAIL:  The type of column 1 is "numeric" on the node, but was expected to be "numeric\(10,0\)"\.\nHINT:  Declare the foreign table's columns/, "$how: a type that does not round is refused");
}
$nodes[0]->safe_psql('postgres', 'ALTER TABLE rounded ALTER id TYPE numeric(10,0)');
unlike($train->('rounded', $_), qr/ERROR/, "$_: the same type is not") for qw(gradient linear logistic);
$nodes[0]->safe_psql('postgres', q{CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); ALTER TABLE stays ALTER ward TYPE text COLLATE any_case});
like(($coordinator->psql('postgres', "SELECT privpred.retrain('gradient_stays')"))[2], qr/DETAIL:  The collation of column 2 is not deterministic on the node\./, 'a collation with other equals is refused');
$nodes[0]->safe_psql('postgres', 'ALTER TABLE stays ALTER ward TYPE text COLLATE "default"');
unlike(($coordinator->psql('postgres', "SELECT privpred.retrain('gradient_stays')"))[2], qr/ERROR/, 'trained again');

$nodes[0]->safe_psql('postgres', "CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE TABLE moody (id int NOT NULL, x float8, z float8, y mood); INSERT INTO moody SELECT id, x, z, 'happy' FROM visits");
# Where a unit's rows may lie in several partitions, or a server does not know privpred, rows come.
$coordinator->safe_psql('postgres', qq{
CREATE TABLE astray ($visits) PARTITION BY HASH (id, sort);
CREATE FOREIGN TABLE astray_1 PARTITION OF astray FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER node1 OPTIONS (table_name 'visits');
CREATE TABLE strange ($visits) PARTITION BY RANGE ((-id));
CREATE FOREIGN TABLE strange_1 PARTITION OF strange DEFAULT SERVER node1 OPTIONS (table_name 'visits');
-- strings may have another order on another server
CREATE TABLE strings ($stays) PARTITION BY RANGE (ward);
CREATE FOREIGN TABLE strings_1 PARTITION OF strings DEFAULT SERVER node1 OPTIONS (table_name 'stays');
CREATE TABLE listed ($stays) PARTITION BY LIST (ward);
CREATE FOREIGN TABLE listed_1 PARTITION OF listed DEFAULT SERVER node1 OPTIONS (table_name 'stays');
CREATE TABLE heirs ($visits);
CREATE FOREIGN TABLE heirs_1 () INHERITS (heirs) SERVER node1 OPTIONS (table_name 'visits');
-- postgres_fdw sends no enums: rows come, and once
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE moody (id int NOT NULL, x float8, z float8, y mood) PARTITION BY HASH (id);
CREATE FOREIGN TABLE moody_1 PARTITION OF moody FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER node1 OPTIONS (table_name 'moody');
-- a partition whose parent is not protected
CREATE TABLE above ($visits) PARTITION BY HASH (sort);
CREATE TABLE below PARTITION OF above FOR VALUES WITH (MODULUS 1, REMAINDER 0) PARTITION BY HASH (id);
CREATE FOREIGN TABLE below_1 PARTITION OF below FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER node1 OPTIONS (table_name 'visits');
CREATE FOREIGN TABLE sole ($visits) SERVER node1 OPTIONS (table_name 'visits');
SELECT privpred.protect(t, unit => 'id', declared_units => 700, max_rows_per_unit => 3) FROM unnest('{astray, strange, moody, below, heirs, sole}'::regclass[]) t;
INSERT INTO privpred.protected_relation (relation, relation_name, unit_columns, protects, declared_units, max_rows_per_unit) SELECT t, t::text, '{born,ward}', 'rows', 700, 3 FROM unnest('{strings, listed}'::regclass[]) t;
});
for (['astray', 0], ['strange', 0], ['strings', 0], ['moody', 0], ['below', 0], ['heirs', 0], ['listed', 1], ['sole', 1])
{
	my ($table, $sums) = @$_;
	my ($left_out, @logs) = train_by_passes($table, 'alone', 'gradient');
	is(scalar(() = $logs[0] =~ /FOR\s+SELECT (?!privpred)/g), $sums ? 0 : 1, "$table: rows come once, or never");
	($sums ? \&like : \&unlike)->($logs[0], qr/sum_sorted_units/, "$table: " . ($sums ? 'sums' : 'no sums') . ' for a unit that ' . ($sums ? 'lies in one place' : 'may lie apart'));
}
$coordinator->safe_psql('postgres', "ALTER SERVER node2 OPTIONS (DROP extensions)");
my (undef, @without) = train_by_passes('visits', 'one server does not know privpred', 'stable_erm') if $coordinator->safe_psql('postgres', q{SELECT privpred.drop_model('stable_erm_visits')}) eq '';
unlike("@without", qr/sum_sorted_units/, 'a server that does not know privpred is asked for rows, and so is the other');
$coordinator->safe_psql('postgres', "ALTER SERVER node2 OPTIONS (ADD extensions 'privpred')");

$_->stop for @nodes, $coordinator;
done_testing();
