# Audit of Gaussian noisy max through the real SQL path.  An answer costs at
# most a epsilon^2 / 8 at every order a, so in the limit a = 1 the relative
# entropy between neighbours is at most epsilon^2 / 8, and that of the event
# "the label is a" no more.  The mutant has half the noise and must be caught.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Privpred::Stats qw(clopper_pearson_lower clopper_pearson_upper);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# False alarms: at most this often for each bound.
my $alpha = 1e-8;
my $draws = 20000;
my $epsilon = 1;

my $node = PostgreSQL::Test::Cluster->new('audit_gaussian');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.max_answers_per_statement = 1000000
privpred.repeat_memory = 0
fsync = off
client_min_messages = warning
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# A unit for each of four teachers; each says the label of its unit's row.  The
# other row is there because a teacher with one class only is not asked.
sql(q{
CREATE EXTENSION privpred;
CREATE FUNCTION echo_step(state text, label text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT CASE WHEN x[1] = 1 THEN label ELSE state END';
CREATE AGGREGATE echo_train(text, float8[]) (SFUNC = echo_step, STYPE = text);
CREATE FUNCTION echo_predict(state text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT state';
CREATE TABLE people (id int NOT NULL, x float8 NOT NULL, y text);
SELECT privpred.protect('people', unit => 'id');
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1e6, delta => 1e-6, per_answer => 0.1);
});

sub make_model
{
	my ($name, $price) = @_;
	sql(qq{SELECT privpred.create_model('$name', 'people', label => 'y', classes => '{a,b}', features => '["x"]',
		teachers => 4, epsilon => $price, learner => 'sql',
		options => '{"noise": "gaussian", "train": "public.echo_train", "predict": "public.echo_predict"}')});
}

# Of four teachers, so many say a; how often does the answer?
sub count_a
{
	my ($name, $votes) = @_;
	sql(qq{
TRUNCATE people;
INSERT INTO people SELECT c.id, r.x, CASE WHEN (c.t < $votes) = (r.x = 1) THEN 'a' ELSE 'b' END
FROM (SELECT DISTINCT ON (t) id, t FROM (SELECT id, privpred.teacher_of(id, m.salt, m.teachers) AS t
	FROM generate_series(1, 1000) id, privpred.model m WHERE m.name = '$name') s ORDER BY t, id) c,
	(VALUES (1), (0)) r (x);
SELECT privpred.retrain('$name')});
	return sql(qq{SELECT count(*) FROM (SELECT private_predict('$name', ARRAY[0.0]) a
		FROM generate_series(1, $draws)) s WHERE a = 'a'});
}

# A lower bound on the relative entropy of a coin to another, given what was counted.
sub entropy_bound
{
	my ($from, $to) = @_;
	my $p = clopper_pearson_lower($from, $draws, $alpha);
	my $q = clopper_pearson_upper($to, $draws, $alpha);

	return 0 if $p <= $q;
	return $p * log($p / $q) + (1 - $p) * log((1 - $p) / (1 - $q));
}

sub audit
{
	my ($name, $price) = @_;
	make_model($name, $price);
	my ($tie, $flip, $back) = map { count_a($name, $_) } 2, 3, 1;
	my $bound = entropy_bound($flip, $tie);
	my $other = entropy_bound($draws - $back, $draws - $tie);

	return ($bound > $other ? $bound : $other, $tie);
}

is(sql(q{SELECT renyi_order < 'Infinity' FROM privpred.budgets}), 't', 'the account has a finite order');

my ($bound, $tie) = audit('gaussian', $epsilon);
cmp_ok($bound, '<=', $epsilon**2 / 8, "epsilon $epsilon: the price holds (relative entropy at least $bound)");
is(sql(q{SELECT charge FROM privpred.models WHERE name = 'gaussian'}), 'gaussian 2/8', 'the price is that of variance 8');

my ($mutant) = audit('half the noise', 2 * $epsilon);
cmp_ok($mutant, '>', $epsilon**2 / 8, "half the noise is caught (relative entropy at least $mutant)");

# The law: at a tie, a wins what the noise leaves tied.
my $tied = 0;
my $total = 0;
foreach my $z (-60 .. 60)
{
	my $weight = exp(-$z**2 / 16);
	$total += $weight;
	$tied += $weight**2;
}
my $expected = (1 + $tied / $total**2) / 2;
cmp_ok(clopper_pearson_lower($tie, $draws, $alpha), '<=', $expected, "a tie goes to the first label, not too rarely ($tie)");
cmp_ok(clopper_pearson_upper($tie, $draws, $alpha), '>=', $expected, 'nor too often');

# What evaluate says is what is drawn.
is(sql(q{SELECT approximate_accuracy = gaussian_accuracy AND gaussian_accuracy <> exponential_accuracy
	FROM privpred.evaluate('gaussian', 'people')}), 't', 'evaluate shows the noise that the model has');

$node->stop;
done_testing();
