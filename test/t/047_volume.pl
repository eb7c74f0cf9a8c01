# privpred in a directory of its own (pack/volume.sh), beside a server that knows nothing of it.
# Before PostgreSQL 18 a server looks for extensions in its own directories alone; the
# directory is tested there, not the server.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $volume = PostgreSQL::Test::Utils::tempdir_short() . '/volume';
my $boost = ($ENV{XGBOOST} // '') ne 'no';

command_ok([ "$top/pack/volume.sh", $volume ], 'the directory is made');
chomp(my $version = `sed -n "s/^default_version *= *'\\(.*\\)'/\\1/p" $top/privpred.control`);
ok(-f "$volume/share/extension/privpred.control", 'it has the control file');
ok(-f "$volume/share/extension/privpred--$version.sql", 'the install script');
ok(-f "$volume/lib/$_.so", "the module $_") foreach 'privpred', $boost ? 'privpred_boost' : ();

# Libraries that only we use come from beside the module.
foreach my $module (glob "$volume/lib/privpred*.so")
{
	my @needed = grep { /=>/ && !m{lib(?:c|m|pthread|dl|rt|gcc_s|stdc\+\+)\.so} } split /\n/, `ldd $module`;
	is(join("\n", grep { !m{=> \Q$volume\E/lib/} } @needed), '', "$module brings what it needs");
}

# The server as its makers left it, not the copy that has privpred (test/stage.sh).
chomp(my $bin = `$ENV{PG_CONFIG} --bindir`);
chomp(my $share = `$ENV{PG_CONFIG} --sharedir`);
chomp(my $text = `$ENV{PG_CONFIG} --version`);
my ($major) = $text =~ /(\d+)/;
if ($major < 18)
{
	note "left out: a server with privpred in a directory of its own, as $text has no extension_control_path";
	done_testing();
	exit;
}
ok(!-e "$share/extension/privpred.control", 'the server itself has no privpred');
$ENV{PATH} = "$bin:$ENV{PATH}";
my $node = PostgreSQL::Test::Cluster->new('volume');
$node->init;
$node->append_conf('postgresql.conf', qq{
extension_control_path = '\$system:$volume/share'
dynamic_library_path = '\$libdir:$volume/lib'
});
$node->start;
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extension_versions WHERE name = 'privpred' AND NOT installed AND version = '} . $version . q{'}),
	'1', 'the server finds it');
$node->safe_psql('postgres', q{
CREATE EXTENSION privpred;
CREATE TABLE rows AS SELECT i AS id, i % 90 AS age, i % 90 > 45 AS ill FROM generate_series(1, 1000) i;
ALTER TABLE rows ADD PRIMARY KEY (id);
SELECT privpred.protect('rows');
SELECT privpred.create_model('m', 'rows', label => 'ill', features => '{"age": {"min": 0, "max": 90}}', learner => 'logistic', teachers => 21, epsilon => 1);
SELECT privpred.grant_budget(current_user::regrole, 'rows', 100)});

sub asks
{
	my ($model, $what) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT private_predict('$model', ARRAY[80]) IN ('true', 'false')");
	is("$out$err", 't', $what);
}
asks('m', 'a question is answered, and its ledger process started');
like($node->safe_psql('postgres', q{SELECT pg_read_file('/proc/self/maps', 0, 1000000) FROM privpred.build()}), qr{\Q$volume\E/lib/privpred\.so}, 'by that module');
is($node->safe_psql('postgres', q{SELECT DISTINCT probin FROM pg_proc WHERE probin LIKE '%privpred%'}), '$libdir/privpred', 'which a dump names as ever');
if ($boost)
{
	$node->safe_psql('postgres', q{SELECT privpred.create_model('b', 'rows', label => 'ill', features => '{"age": {"min": 0, "max": 90}}', learner => 'boost', teachers => 3, epsilon => 1)});
	asks('b', 'XGBoost is found there as well');
}
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'privpred'\n");
$node->restart;
asks('m', 'it can be preloaded');
$node->stop;
done_testing();
