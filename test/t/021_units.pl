# Rows without a unit, which a foreign table can hold, are left out of training.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('units');
$node->init;
$node->start;
if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'}) eq '0')
{
	plan skip_all => 'file_fdw is not installed';
}

# Units 1 to 100 say what x says; rows of nobody say the opposite.
my $file = $node->basedir . '/rows.csv';
append_to_file($file, join('', map { "$_," . $_ / 100 . ',' . ($_ > 50 ? 't' : 'f') . "\n" } 1 .. 100));
append_to_file($file, join('', map { ',' . $_ / 100 . ',' . ($_ > 50 ? 'f' : 't') . "\n" } 1 .. 300) );
$node->safe_psql('postgres', qq{
CREATE EXTENSION privpred;
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE outside (id int NOT NULL, x float8, y boolean) SERVER files OPTIONS (filename '$file', format 'csv');
SELECT privpred.protect('outside', unit => 'id');
});
my ($rc, $out, $err) = $node->psql('postgres', q{SELECT privpred.create_model('m', 'outside', label => 'y', features => '["x"]', teachers => 1, epsilon => 1) ->> 'version'});
is($out, '1', 'a foreign table can be trained on') or diag $err;
like($err, qr/300 rows were left out/, 'the owner is told');
is($node->safe_psql('postgres', q{SELECT privpred.votes(predictor, ARRAY[0.9]) FROM privpred.model}), '{"true": 1, "false": 0}', 'it learnt from units alone');
is($node->safe_psql('postgres', q{SELECT privpred.grant_budget(current_user::regrole, 'outside', epsilon => 5); SELECT private_predict('m', ARRAY[0.9]) IS NOT NULL}), "\nt", 'and it answers');
$node->stop;
done_testing();
