# Audits of "stable_flip" through the real SQL path: neighbouring tables, many
# answers each, and a lower bound on epsilon that must not exceed the claim; repeated
# against a mutant, a model that spends twice what the audit is told, which must
# be caught.  The answers' exact probabilities are known for so small a table, so a
# sample, a draw or a flip that is not as declared is told, too.  For "relabel"
# epsilon cannot be audited end to end (the bound is far from what any table of
# practical size shows): the flip, the vote and the sample have laws of their own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Privpred::Stats qw(audit_epsilon clopper_pearson_lower clopper_pearson_upper);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# False alarms: at most this often for each bound.
my $alarm = 1e-8;
my $draws = 6000;

my $node = PostgreSQL::Test::Cluster->new('audit');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.max_answers_per_statement = 1000000
privpred.repeat_memory = 0
fsync = off
client_min_messages = warning
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(q{
CREATE EXTENSION privpred;
CREATE TABLE people (id int PRIMARY KEY, x float8 NOT NULL, y text);
SELECT privpred.protect('people', declared_units => 1000);
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1e6);
CREATE TABLE visits (visit serial PRIMARY KEY, id int NOT NULL, x float8 NOT NULL, y text);
SELECT privpred.protect('visits', unit => 'id', max_rows_per_unit => 4, declared_units => 1000);
SELECT privpred.grant_budget(current_user::regrole, 'visits', epsilon => 1e6);
});

sub make_model
{
	my ($name, $epsilon, $options, $mechanism, $table) = @_;
	$mechanism //= 'stable_flip';
	$table //= 'people';
	sql(qq{SELECT privpred.create_model('$name', '$table', label => 'y', classes => '{no,yes}',
		features => '{"x": {"min": 0, "max": 10}}', mechanism => '$mechanism', epsilon => $epsilon, options => '$options')});
}

# Rows are "id x y".
sub set_rows
{
	my ($name, $table, @rows) = @_;
	my $values = join(', ', map { my ($id, $x, $y) = split; "($id, $x, '$y')" } @rows);
	sql(qq{TRUNCATE $table; INSERT INTO $table (id, x, y) VALUES $values; SELECT privpred.retrain('$name')});
}

sub answers
{
	my ($name, $x, $n) = @_;
	my %counts;
	foreach my $line (split /\n/, sql(qq{SELECT a, count(*) FROM
			(SELECT private_predict('$name', ARRAY[$x]) a FROM generate_series(1, $n)) s GROUP BY a}))
	{
		my ($answer, $count) = split /\|/, $line;
		$counts{$answer} = $count;
	}
	return \%counts;
}

# Is this many of n plausible for a probability?
sub follows
{
	my ($count, $n, $p, $what) = @_;
	cmp_ok(clopper_pearson_lower($count, $n, $alarm), '<=', $p, "$what: not too often ($count of $n, expected " . sprintf('%.1f', $p * $n) . ')');
	cmp_ok(clopper_pearson_upper($count, $n, $alarm), '>=', $p, "$what: not too rarely");
}

# ---------- stable_flip: epsilon ----------

# Of all tables of four units on four points, this pair loses most (test_stable.c):
# without the first unit in the sample, nothing says "yes" so far to the left.
my @all = ('1 1 yes', '2 2 yes', '3 4 yes', '4 4 yes');
my %neighbours = (
	'first unit removed' => [ @all[ 1 .. 3 ] ],
	'first unit moved' => [ '1 4 yes', @all[ 1 .. 3 ] ]);

foreach my $epsilon (1, 0.5)
{
	foreach my $claim ([ 'kept', $epsilon ], [ 'spent twice', 2 * $epsilon ])
	{
		my ($what, $spent) = @$claim;
		my $largest = 0;
		my $n = $epsilon < 1 ? 40000 : $draws;

		make_model('m', $spent, '{}');
		set_rows('m', 'people', @all);
		my $from = answers('m', 1, $n);
		foreach my $change (sort keys %neighbours)
		{
			set_rows('m', 'people', @{ $neighbours{$change} });
			my $bound = audit_epsilon($n, $from, answers('m', 1, $n), $alarm, outputs => 2);
			note("epsilon $spent, $change: at least $bound");
			$largest = $bound if $bound > $largest;
		}
		sql(q{SELECT privpred.drop_model('m')});
		if ($spent == $epsilon) { cmp_ok($largest, '<=', $epsilon, "epsilon $epsilon is $what ($largest)") }
		else { cmp_ok($largest, '>', $epsilon, "epsilon $epsilon, $what, is caught ($largest)") }
	}
}

# ---------- stable_flip: the parts ----------

# The flip: an empty table says "no" but for the flip.
my ($q, $e) = (0.9, 1);
my $options = qq{{"alpha": 0.07, "q": $q, "e": $e}};
make_model('flip', 5, $options);
sql(q{TRUNCATE people; SELECT privpred.retrain('flip')});
follows(answers('flip', 5, 20000)->{yes} // 0, 20000, 0.07, 'alpha');

# The sample: one unit alone, T = {} says "no"; T = {4 yes} has "never", wrong,
# and "x >= 4", right, of weights exp(-e/2) and 1.
set_rows('flip', 'people', '1 4 yes');
my $yes = $q / (1 + exp(-$e / 2));
follows(answers('flip', 5, 20000)->{yes} // 0, 20000, 0.07 + 0.86 * $yes, 'q and e');

# ---------- a unit of four rows counts as one ----------

make_model('visits', 5, $options, 'stable_flip', 'visits');
foreach my $rows (1, 4, 9)
{
	set_rows('visits', 'visits', ('1 4 yes') x $rows);
	my $kept = $rows < 4 ? $rows : 4;
	follows(answers('visits', 5, 20000)->{yes} // 0, 20000, 0.07 + 0.86 * $q / (1 + exp(-$e / 2 * $kept / 4)), "$rows rows of a unit");
}

# ---------- relabel: flip, vote and sample ----------

# One unit in one of three chunks, at x = 4.  T = {}: all chunks say "no".  T with it:
# "x >= 4" has weight 1 and its chunk says "yes", "never" has weight exp(-kappa).
# The vote of three at gap g errs with probability exp(-kappa (g-1)/2) / (1 + exp(kappa)).
my ($kappa, $share) = (0.5, 0.3);
make_model('relabel', 2.1, qq{{"alpha": 0.11, "n_max": 1000, "j": 0, "kappa": $kappa, "q": $share, "chunks": 3}}, 'relabel');
my $of_three = exp(-$kappa) / (1 + exp($kappa));
my $of_one = 1 / (1 + exp($kappa));
sql(q{TRUNCATE people; SELECT privpred.retrain('relabel')});
follows(answers('relabel', 5, 20000)->{yes} // 0, 20000, 0.11 + 0.78 * $of_three, 'relabel, no unit');
set_rows('relabel', 'people', '1 4 yes');
my $threshold = $share / (1 + exp(-$kappa));
follows(answers('relabel', 5, 20000)->{yes} // 0, 20000, 0.11 + 0.78 * ($threshold * $of_one + (1 - $threshold) * $of_three), 'relabel, one unit');

# ---------- no two answers share a draw ----------

# With a certain hypothesis for all, neighbouring answers would agree; they are independent.
make_model('again', 5, $options);
set_rows('again', 'people', '1 4 yes');
my ($agree, $pairs) = split /\|/, sql(q{SELECT count(*) FILTER (WHERE a = b), count(*)
	FROM (SELECT private_predict('again', ARRAY[5.0]) a, private_predict('again', ARRAY[5.1]) b FROM generate_series(1, 10000)) s});
my $p = 0.07 + 0.86 * $yes;
follows($agree, $pairs, $p * $p + (1 - $p) * (1 - $p), 'two answers agree');

$node->stop;
done_testing();
