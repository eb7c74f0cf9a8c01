# What monitoring/ ships is what the server has: the queries run as the role that it makes,
# the exporter of Debian reads them if it is installed, rules and dashboard name metrics
# that exist, and who watches sees what docs/monitoring.md says, and nothing else.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use HTTP::Tiny;
use JSON::PP;
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = "$FindBin::RealBin/../../monitoring";
my $node = ledger_node('watched', "client_min_messages = error\nprivpred.repeat_memory = 0\n");
$node->safe_psql('postgres', q{
SELECT privpred.create_model('flow', 'visits', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, mechanism => 'sparse');
SELECT privpred.grant_budget('alice', 'visits', 10, delta => 0.01);
SELECT privpred.grant_budget('bob', 'patients', 1, refresh => '1 day', lifetime_epsilon => 3);
SELECT privpred.protect('patients', epsilon_cap => 200)});
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-f', "$dir/role.sql" ], 'the role is made') foreach 1, 2;

# watch SQL: as the monitoring role
sub watch { my ($rc, $out, $err) = as($node, 'privpred_monitor', $_[0]); return sqlstate_of($err) || $out }

# ---------- what is seen ----------

as($node, 'alice', q{SELECT probe('m') FROM generate_series(1, 15)});
as($node, 'bob', q{SELECT probe('m') FROM generate_series(1, 5)}, go_on => 1);
as($node, 'alice', q{SELECT privpred.open_stream('flow', 2, 1, 1e-6); SELECT probe('flow')});
settled($node);
is(watch(q{SELECT relation, role, epsilon_limit, spent_ratio, lifetime_spent_ratio FROM privpred.monitor_budgets WHERE relation = 'patients' ORDER BY role NULLS FIRST}),
	"patients||200|0.01|\npatients|alice|100|0.02|\npatients|bob|1|0.5|0.17", 'budgets, in whole percents, rounded up')
  or diag watch('TABLE privpred.monitor_budgets');
is(watch(q{SELECT relation, model, role, answers, refusals > 0 FROM privpred.monitor_stat ORDER BY role}), "patients|m|alice|15|f\npatients|m|bob|5|f",
	'counts, but not those of streams');
is($node->safe_psql('postgres', q{SELECT count(*) FROM privpred.stat WHERE model = 'flow'}), '1', 'which there are');
my $ledger = 'SELECT entries > 4, bytes > 0, leases, orphaned_leases, processes, in_line, requests, free_slots, answers_on, verified FROM privpred.monitor_ledger';
is(watch($ledger), 't|t|0|0|1|0|0|64|t|', 'the ledger');
$node->safe_psql('postgres', 'SELECT privpred.verify_ledger()');
is(watch('SELECT verified, verified_at > now() - interval \'1 hour\' FROM privpred.monitor_ledger'), 't|t', 'and that it was verified');
as($node, 'alice', q{SELECT privpred.verify_ledger('\x} . '00' x 32 . q{')});
is(watch('SELECT verified FROM privpred.monitor_ledger'), 't', 'a head that never was, given by anybody, is no alarm');
$node->safe_psql('postgres', q{SELECT privpred.verify_ledger('\x} . '00' x 32 . q{')});
is(watch('SELECT verified FROM privpred.monitor_ledger'), 'f', 'given by a superuser, it is');
$node->safe_psql('postgres', 'SELECT privpred.verify_ledger()');

# A refusal that was none before: bob's window is spent.
$node->safe_psql('postgres', q{SELECT privpred.stat_reset()});
as($node, 'bob', q{SET privpred.foresee = off; SELECT probe('m') FROM generate_series(1, 20)}, go_on => 1);
is(watch(q{SELECT role, answers, refusals FROM privpred.monitor_stat}), 'bob|5|1', 'refusals');

# ---------- and what is not ----------

is(watch("SELECT count(*) FROM privpred.$_"), '0', "$_ shows the monitoring role nothing") foreach qw(budgets my_budget ledger leases stat streams models progress);
is(watch("SELECT count(*) FROM privpred.$_"), '42501', "$_ is closed") foreach qw(account ledger_entry open_lease stream model memo release);
is(watch('SELECT count(*) FROM patients'), '42501', 'a protected table is closed');
is((as($node, 'privpred_monitor', q{SELECT probe('m')}))[2], (as($node, 'privpred_monitor', q{SELECT probe('x')}))[2] =~ s/"x"/"m"/r, 'models are unknown');
is(watch('CREATE TEMP TABLE t ()'), '25006', 'it only reads');
for my $what (qw(monitor_budgets monitor_stat monitor_ledger stat_watched() ledger_state()))
{
	my ($rc, $out, $err) = as($node, 'alice', "SELECT * FROM privpred.$what");
	is(sqlstate_of($err), '42501', "$what is not for everybody");
}

# ---------- the queries ----------

# Of queries.yaml as we write it: name, query, metrics.
my (%queries, $name, $in);
for (split /\n/, slurp_file("$dir/queries.yaml"))
{
	next if /^\s*#|^\s*$/;
	if (/^(\w+):$/) { $name = $1 }
	elsif (/^  query: \|$/) { $in = 'query' }
	elsif (/^  metrics:$/) { $in = 'metrics' }
	elsif ($in eq 'query' && /^    (.*)/) { $queries{$name}{query} .= "$1\n" }
	elsif ($in eq 'metrics' && /^    - (\w+): \{usage: "(LABEL|GAUGE|COUNTER)", description: "[^"]+"\}$/) { push @{ $queries{$name}{metrics} }, $1; $queries{$name}{usage}{$1} = $2 }
	else { fail("queries.yaml: $_") }
}
is(join(' ', sort keys %queries), 'privpred_budget privpred_ledger privpred_model', 'three queries');
my %metrics;
for my $query (sort keys %queries)
{
	my ($rc, $out, $err) = as($node, 'privpred_monitor', "\\pset tuples_only off\n\\pset footer off\n$queries{$query}{query};");
	is($err, '', "$query runs");
	my ($head, @rows) = split /\n/, $out;
	is($head, join('|', @{ $queries{$query}{metrics} }), "$query: its columns are its metrics");
	cmp_ok(scalar(@rows), '>', 0, "$query: there are some");
	unlike($out, qr/^\||\|\||\|$/m, "$query: none is NULL");
	$metrics{"${query}_$_"} = 1 foreach grep { $queries{$query}{usage}{$_} ne 'LABEL' } @{ $queries{$query}{metrics} };
	$metrics{"label $_"} = 1 foreach grep { $queries{$query}{usage}{$_} eq 'LABEL' } @{ $queries{$query}{metrics} };
}

# ---------- rules and dashboard ----------

# unknown TEXT: metrics that it names and the queries do not
sub unknown { return join ' ', grep { !$metrics{$_} } $_[0] =~ /\b(privpred_\w+)/g }
my $rules = join "\n", slurp_file("$dir/rules.yml") =~ /expr: (.*)/g;
is(unknown($rules), '', 'rules name metrics that exist');
cmp_ok(scalar(() = $rules =~ /privpred_/g), '>', 12, 'and there are some');

my $dashboard = decode_json(slurp_file("$dir/dashboard.json"));
is($dashboard->{uid}, 'privpred', 'a dashboard');
ok(exists $dashboard->{$_}, "it has $_") foreach qw(title schemaVersion panels templating time timezone annotations __inputs __requires);
my (%ids, @cells);
for my $panel (@{ $dashboard->{panels} })
{
	my $at = $panel->{gridPos};
	is(unknown(join ' ', map { $_->{expr} } @{ $panel->{targets} }), '', "$panel->{title}: its metrics exist");
	is_deeply([ grep { !$metrics{"label $_"} } map { $_->{legendFormat} =~ /\{\{(\w+)\}\}/g } @{ $panel->{targets} } ], [], "$panel->{title}: so do its labels");
	like($panel->{type}, qr/^(timeseries|stat)$/, "$panel->{title}: a type that the dashboard requires");
	is($panel->{datasource}{uid}, '${DS_PROMETHEUS}', "$panel->{title}: its data source is chosen at import");
	ok(!$ids{ $panel->{id} }++, "$panel->{title}: its id is its own");
	my $overlap = 0;
	for my $y ($at->{y} .. $at->{y} + $at->{h} - 1) { $overlap += $cells[$y][$_]++ // 0 for $at->{x} .. $at->{x} + $at->{w} - 1 }
	is($overlap, 0, "$panel->{title}: lies beside the others");
	cmp_ok($at->{x} + $at->{w}, '<=', 24, "$panel->{title}: within 24 columns");
}
for my $metric (qw(privpred_budget_spent_ratio privpred_model_refusals_total privpred_model_ledger_seconds_total privpred_ledger_orphaned_leases))
{
	like(join(' ', map { map { $_->{expr} } @{ $_->{targets} } } @{ $dashboard->{panels} }), qr/$metric/, "the dashboard shows $metric");
}

# ---------- with Prometheus' own tools, where they are ----------

SKIP:
{
	skip 'promtool is not installed', 2 unless `promtool --version 2>&1` =~ /promtool/;
	command_ok([ 'promtool', 'check', 'rules', "$dir/rules.yml" ], 'promtool reads the rules');
	command_ok([ 'promtool', 'test', 'rules', "$dir/rules_test.yml" ], 'and they fire when they should, and not else');
}
SKIP:
{
	skip 'prometheus-postgres-exporter is not installed', 5 unless `prometheus-postgres-exporter --version 2>&1` =~ /postgres_exporter/;
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	local $ENV{DATA_SOURCE_NAME} = 'user=privpred_monitor dbname=postgres sslmode=disable port=' . $node->port . ' host=' . $node->host;
	my $exporter = IPC::Run::start([ 'prometheus-postgres-exporter', "--web.listen-address=127.0.0.1:$port", "--extend.query-path=$dir/queries.yaml",
			'--disable-default-metrics', '--disable-settings-metrics' ], '>', \my $said, '2>', \my $logged);
	my $page;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$page = HTTP::Tiny->new(timeout => 60)->get("http://127.0.0.1:$port/metrics");
		last if $page->{success};
		select(undef, undef, undef, 0.1);
	}
	ok($page->{success}, 'the exporter answers') or diag $logged;
	like($page->{content}, qr/^pg_exporter_last_scrape_error 0$/m, 'without an error');
	my %scraped = map { $_ => 1 } $page->{content} =~ /^(privpred_\w+)\{/mg;
	is(join(' ', sort keys %scraped), join(' ', sort grep { /^privpred/ } keys %metrics), 'it has every metric');
	like($page->{content}, qr/^privpred_model_refusals_total\{datname="postgres",model="m",relation="patients",role="bob",server="[^"]*"\} 1$/m, 'refusals');
	like($page->{content}, qr/^privpred_budget_spent_ratio\{datname="postgres",relation="patients",role="bob",server="[^"]*"\} 1$/m, 'a budget that is spent');
	$exporter->signal('TERM');
	$exporter->finish;
}

$node->stop;
done_testing();
