# Every mechanism x every learner x every kind of label x tables of awkward shape x every form of
# a question: each cell trains or says clearly why not, the forms agree, and answers are what
# teachers say who are trained and asked one by one (test/lib/matrix.sql).  Mechanisms and learners are those
# that the product names, so that a new one takes part by itself.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $no_boost = ($ENV{XGBOOST} // '') eq 'no';
my $node = PostgreSQL::Test::Cluster->new('matrix');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nlog_line_prefix = '%e '\nclient_min_messages = error\n");
$node->start;

sub run_script
{
	my ($script) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET search_path = matrix, public;\n$script", on_error_stop => 1);
	die "the matrix did not run: $err" if $rc != 0;
	return $out;
}

run_script(slurp_file(abs_path(dirname(__FILE__)) . '/../lib/matrix.sql'));
my @labels = split /\n/, run_script('SELECT name FROM label');
my @shapes = split /\n/, run_script('SELECT name FROM shape');
my @mechanisms = split /\n/, run_script('SELECT name FROM mechanism');
my @learners = split /\n/, run_script('SELECT name FROM learner');
cmp_ok(scalar @mechanisms, '>=', 15, "mechanisms: @mechanisms");
cmp_ok(scalar @learners, '>=', 11, "learners: @learners");
# The aggregates beside them are found in the catalog: what is no learner of models is known by name.
is(run_script(q{
	SELECT string_agg(DISTINCT proname, ' ') FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
	 WHERE prokind = 'a' AND nspname = 'privpred' AND proname NOT IN (SELECT replace(name, 'sql', 'sql_learner') FROM learner)}),
	'ensemble least_row merge_states merge_sums partial_state sum_sorted_units sum_units teach threshold', 'every learner of the catalog takes part');

my $script = '';
for my $shape (@shapes)
{
	$script .= "CALL look_at('$_', '$shape');\n" for @labels;
}
run_script($script);

# ---------- cell by cell ----------

my %cells = map { split /\|/ } split /\n/, run_script(q{SELECT mechanism || ' ' || learner, count(*) FROM cell GROUP BY 1});
my %problems;
for (split /\n/, run_script(q{SELECT mechanism || ' ' || learner, concat_ws(', ', label, shape) || ': ' || replace(problem, E'\n', ' ') FROM cell WHERE problem IS NOT NULL}))
{
	my ($where, $problem) = split /\|/, $_, 2;
	push @{ $problems{$where} }, $problem;
}
for my $mechanism (@mechanisms, 'student')
{
	my $expected = @labels * @shapes;
	for my $learner (map { "$mechanism $_" } @learners)
	{
		my @problems = @{ $problems{$learner} // [] };
		unshift @problems, "$cells{$learner} cells instead of $expected" if $cells{$learner} != $expected;
		is(join("\n", grep { defined } @problems[0 .. 4]), '', "$learner: answers are as they should be, refusals are clear");
	}
}

# ---------- all of it ----------

# Every mechanism trains somewhere on any two classes, whatever the rows.
my $without = $no_boost ? q{AND learner NOT IN ('boost', 'forest')} : '';
is(run_script(qq{
	SELECT concat_ws(', ', mechanism, learner, label, shape) FROM cell WHERE learner = 'logistic' AND mechanism <> 'distill' AND NOT trained
	   AND label <> 'number' AND (shape <> 'ten classes' OR label = 'boolean') LIMIT 5}), '', 'every mechanism trains on two classes');
# Those that ask teachers do so with every learner, by as many classes as they take; of numbers, with those that learn them.
is(run_script(qq{
	SELECT concat_ws(', ', mechanism, learner, label, shape, refusal) FROM cell c
	 WHERE NOT trained AND learner <> 'logistic' AND NOT (mechanism = 'student' AND learner = 'sql') $without
	   AND NOT (label = 'number' AND learner IN ('centroid', 'naive_bayes', 'svm') AND refusal LIKE '%learns classes, not numbers%')
	   AND EXISTS (SELECT FROM cell o WHERE o.mechanism = c.mechanism AND o.learner = 'linear' AND o.label = c.label AND o.shape = c.shape AND o.trained) LIMIT 5}),
	'', 'whoever takes one learner takes all');
is(run_script(qq{SELECT count(DISTINCT mechanism) FROM cell WHERE learner = 'tree' AND trained}), 6, 'six kinds of models have teachers');
if ($no_boost)
{
	note('left out on purpose (XGBOOST=no): learners boost and forest');
	is(run_script(q{SELECT count(*) FROM cell WHERE learner IN ('boost', 'forest') AND trained}), 0, 'without XGBoost its learners refuse');
}
# Walks take any classes, and columns of numbers beside each other.
is(run_script(q{SELECT count(*) FROM cell WHERE mechanism = 'threshold' AND learner = 'logistic' AND label <> 'number' AND NOT trained}), 0, 'threshold trains on ten classes, too');
# A stream of scores serves any classes.
is(run_script(qq{SELECT count(*) FROM cell WHERE mechanism = 'soft' AND label <> 'number' AND NOT trained $without}), 0, 'soft trains on ten classes, too');
is(run_script(q{SELECT count(*) FROM cell WHERE mechanism = 'littlestone' AND learner = 'logistic' AND label <> 'number' AND NOT trained}), 0, 'and so does littlestone');
# Whether a model can be had is a matter of what was declared.
is(run_script(q{
	SELECT concat_ws(', ', mechanism, learner, label) FROM cell JOIN shape ON shape.name = shape
	 GROUP BY mechanism, learner, label, classes HAVING count(DISTINCT (trained, coalesce(refusal, ''))) > 1 LIMIT 5}), '', 'rows decide about no refusal');
is(run_script('SELECT ok FROM privpred.verify_ledger()'), 't', 'the ledger is whole');
unlike(slurp_file($node->logfile), qr/^XX|PANIC|TRAP/m, 'nothing internal went wrong');
note(run_script(q{SELECT format('%s cells, %s trained, %s ms each', count(*), count(*) FILTER (WHERE trained), round(avg(milliseconds)::numeric, 1)) FROM cell}));
$node->stop;
done_testing();
