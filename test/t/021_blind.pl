# The blind audit of docs/blind.md, in short: what neighbours show is no more than the ledger booked, and of some whose law is known it is
# not much less either, so that a debit of half as much would be noticed.  "make audit BLIND=1" does it at length.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Privpred::Stats qw(clopper_pearson_lower clopper_pearson_upper enough_draws least_telling $RISK);
use Privpred::Blind qw(session prepare cases uncovered refused_unpaid run_case draw charge_of ratio coin_loss booked_words guesses_bound);

my @cases = grep { $_->{family}{drawn} eq 'answer' || $_->{scenario} eq 'one' } cases();

# ---------- pairs whose law is known ----------

# One unit that says a, or b; one teacher, which repeats it, is drawn with the odds of e^epsilon.  All answers are a: p and q.
my $vote = q{label => 'y', classes => '{a,b}', mechanism => 'vote', features => '{"x": {"min": 0, "max": 1}}', learner => 'stump', teachers => 1, epsilon => };
my $cover = q{label => 'y', classes => '{a,b}', mechanism => 'cover', features => '{"w": {"levels": ["low", "high"]}}', options => '{"class_table": "public.blind_constants", "accuracy": 1}', epsilon => };
sub odds { my ($epsilon) = @_; return 1 / (1 + exp -$epsilon) }

# name, how it is drawn, declarations, versions, questions of each, p, draws, what part of the charge is to be seen at least
my @known = (
	[ 'an answer', 'answer', ["$vote 1"], 1, [ [ [ 0, 0.5 ] ] ], odds(1), 2500, 0.5 ],
	[ 'three answers', 'answer', ["$vote 1"], 1, [ [ [ 0, 0.5 ], [ 0, 0.5, 0.25 ], [ 0, 0, 1 ] ] ], odds(1)**3, 2600, 0.5, (1 - odds(1))**3 ],
	[ 'two versions', 'answer', ["$vote 1"], 2, [ [ [ 0, 0.5 ] ], [ [ 0, 0.5 ] ] ], odds(1)**2, 2200, 0.5, (1 - odds(1))**2 ],
	[ 'two models', 'answer', [ "$vote 1", "$vote 2" ], 1, [ [ [ 0, 0.5 ], [ 1, 0.5 ] ] ], odds(1) * odds(2), 1500, 0.5, (1 - odds(1)) * (1 - odds(2)) ],
	# The exponential mechanism, by which the owner's labels are drawn; of these pairs it shows half of epsilon.
	[ 'a student of one label', 'student', ["$vote 6"], 1, [ [ [ 0, 0 ] ] ], odds(3), 430, 0.2 ],
	[ 'a released model', 'training', ["$cover 6"], 1, [ [ [ 0, 0.25 ] ] ], odds(3), 430, 0.2 ]);

foreach my $known (@known)
{
	my ($name, undef, undef, undef, undef, $p, $n, $least, $q) = @$known;
	$known->[8] = $q //= 1 - $p;
	my $charge = { loss => log($p / $q) * ($least < 0.5 ? 2 : 1), delta => 0 };
	enough_draws("$name, seen", $n, sub {
		my ($draws) = @_;
		my ($k, $l) = least_telling($draws, $p, $q) or return 0;
		return ratio($charge, $k, $l, $draws, $RISK / (@known + @cases)) > $least;
	});
}

my $node = PostgreSQL::Test::Cluster->new('blind');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nprivpred.max_answers_per_statement = -1\nclient_min_messages = error\n");
$node->start;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
my $sql = session($node->installed_command('psql'), '-d', 'postgres');
my $alpha = $RISK / (@known + @cases);

prepare($sql);
is(join(', ', uncovered($sql)), '', 'neighbours are known for every mechanism that there is');
is(join(', ', uncovered(sub { return $sql->($_[0]) . "newest\n" })), 'newest', 'and one that has none would be named');
is(join(', ', refused_unpaid($sql)), '', 'nobody can pay for what is not private');

foreach my $known (@known)
{
	my ($name, $drawn, $models, $versions, $steps, undef, $n, $least) = @$known;
	my $pair = {
		family => { account => 'pure', drawn => $drawn, classes => [qw(a b)] }, models => $models, steps => $steps, public => [0], learner => [ 'tree', { min_rows => 1 } ],
		protect => 'declared_units => 10000, max_rows_per_unit => 1', map({ my $label = $_; $label => [ map { [ [ 1, 0, $label ] ] } 1 .. $versions ] } qw(a b)) };
	my @draws = map { draw($sql, $pair, $_, $n) } qw(a b);
	my ($k, $l) = map { my $draw = $_; scalar grep { !/b/ } @{ $draw->{said} } } @draws;
	my $ratio = ratio(charge_of($draws[0]), $k, $l, $n, $alpha);
	my $words = sprintf '%d and %d of %d show %.2f of %s', $k, $l, $n, $ratio, booked_words(charge_of($draws[0]));
	cmp_ok($ratio, '<=', 1, "$name: shows no more than was booked ($words)");
	cmp_ok($ratio, '>', $least, "$name: and not much less, so that a smaller debit would be noticed");
	ok($draws[0]{agree} && $draws[0]{units} == $draws[1]{units} && $draws[0]{delta} == $draws[1]{delta}, "$name: booked the same for either table");
}

# ---------- random pairs ----------

# Too few draws to show much, but for mistakes that tell nearly everything.
my $seed = $ENV{SEED} // 1;
note("seed $seed");
srand($seed);
foreach my $case (@cases)
{
	my $answers = $case->{family}{drawn} eq 'answer';
	my $found = run_case($sql, $case, pairs => 2, search => $answers ? 100 : 8, refine => 1, draws => $answers ? 1000 : 24, alpha => $alpha);
	ok($found->{ok}, sprintf '%s: %d and %d of %d show %.2f of %s (%s)%s', $case->{name}, @$found{qw(k l n ratio)}, booked_words($found->{charge}), $found->{pair}{change},
		defined $found->{wrong} ? ": $found->{wrong}" : '');
}
is($sql->('SELECT ok, problem FROM privpred.verify_ledger()'), "t|\n", 'the ledger adds up');

# ---------- arithmetic ----------

my $p = clopper_pearson_lower(750, 1000, 1e-8);
cmp_ok(abs(guesses_bound(1000, 1000, 750, 0, 1e-8) - log($p / (1 - $p))), '<', 1e-6, 'guesses without delta: the bound of Clopper and Pearson');
cmp_ok(guesses_bound(1000, 1000, 750, 1e-10, 1e-6), '<', guesses_bound(1000, 1000, 750, 0, 1e-6), 'a delta allows for more right guesses');
is(guesses_bound(1000, 1000, 750, 1e-3, 1e-8), 0, 'a large one for all of them');
cmp_ok(abs(coin_loss(0.5, 0.25, 0) - log 2), '<', 1e-12, 'the loss of an event');
cmp_ok(abs(coin_loss(0.5, 0.25, 0.25)), '<', 1e-12, 'of which delta is taken off');
cmp_ok(abs(coin_loss(0.5, 0.25, 0, 2) - log(0.5**2 / 0.25 + 0.5**2 / 0.75)), '<', 1e-12, 'its divergence of order 2');
$node->stop;
done_testing();
