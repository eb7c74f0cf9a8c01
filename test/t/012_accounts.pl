# Accounts of finite order, caps and windows: random adaptive sequences against
# a model in Perl, leases across windows, what is drawn against what is
# charged, dump and restore.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest qw(as sqlstate_of);
use List::Util qw(min max);
use Privpred::Blind qw(session);
use Privpred::Stats qw(audit_epsilon audit_range enough_draws least_telling sized_counts);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('accounts');
$node->init;
$node->append_conf('postgresql.conf', q{
privpred.max_answers_per_statement = 1000000
fsync = off
client_min_messages = error
});
$node->start;

# The owner's session; who asks has one of his own.
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
my $session;

sub sql
{
	$session //= session($node->installed_command('psql'), '-d', 'postgres');
	my $said = $session->("$_[0];\nDISCARD ALL");
	chomp $said;
	return $said;
}

# All that was reserved and not used is back.
sub settled
{
	my $leases = 'EXISTS (SELECT FROM privpred.leases WHERE NOT orphaned)';
	die 'leases stay open' if sql("DO \$\$ BEGIN FOR i IN 1 .. 30000 LOOP EXIT WHEN NOT $leases; PERFORM pg_sleep(0.02); END LOOP; END \$\$; SELECT $leases") ne 'f';
}

sql(q{
CREATE EXTENSION privpred;
CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE eve LOGIN;
CREATE FUNCTION ask(model text, n bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
	$$ SELECT count(private_predict(model, ARRAY[0.5])) FROM generate_series(1, n) $$;
});

# ---------- docs/accounts.md, in Perl ----------

sub charge
{
	my ($epsilon, $payer_order, $order) = @_;
	return $epsilon if $order == 9**9**9;
	return min($epsilon, $order * $epsilon**2 / ($payer_order == 9**9**9 ? 2 : 8));
}

sub converted
{
	my ($spent, $delta, $order) = @_;
	return 0 if $spent == 0;
	return $spent if $order == 9**9**9;
	return max(0, $spent + log(($order - 1) / $order) - (log($delta / 2) + log($order)) / ($order - 1));
}

# ---------- random adaptive sequences ----------

# The same sequences every time; others with PRIVPRED_SEED.
my $seed = $ENV{PRIVPRED_SEED} // 20261117;
srand($seed);
note "PRIVPRED_SEED=$seed";

sub pick { return $_[ int rand @_ ] }

my %price = (fine => 0.01, middling => 0.07, coarse => 0.4);
my @roles = qw(ann bob eve);

# What the model believes.
my %spent;		# relation, account: at its order

# One row per account: order, grant, what is spent at the order, ...
sub accounts
{
	my ($relation) = @_;
	my %accounts;
	foreach my $row (split /\n/, sql(qq{
SELECT coalesce(b.role::text, 'cap'), b.renyi_order, b.epsilon_limit, b.delta_limit, b.epsilon_spent,
	b.lifetime_epsilon_limit, b.lifetime_epsilon_spent, b.refresh IS NOT NULL, a.spent_units, b.status, b.epsilon_left, b.spent_share
FROM privpred.budgets b JOIN privpred.account a USING (account_id) WHERE b.relation = '$relation'::regclass}))
	{
		my %account;
		(my $name, @account{qw(order epsilon delta spent lifetime lifetime_spent window units status left share)}) =
		  map { $_ eq 'Infinity' ? 9**9**9 : $_ } split /\|/, $row;
		$accounts{$name} = \%account;
	}
	return \%accounts;
}

sub random_grant
{
	my ($relation, $role) = @_;
	my @arguments = ("'$role'", "'$relation'", 'epsilon => ' . pick(0.5, 1, 2, 4));
	push @arguments, 'delta => ' . pick(0, '1e-9', '1e-6', '1e-3') if rand() < 0.7;
	push @arguments, 'per_answer => ' . pick(0.01, 0.01, 0.1) if rand() < 0.7;
	push @arguments, "refresh => '" . pick('1 day', '1 hour') . "', lifetime_epsilon => " . pick(3, 6) if rand() < 0.25;
	# What cannot be carried is refused; that is tested in sql/accounts.sql.
	return as($node, 'postgres', 'SELECT privpred.grant_budget(' . join(', ', @arguments) . ')');
}

# Every cap, against the grant and against the model.
sub check
{
	my ($relation, $before, $what) = @_;
	my $accounts = accounts($relation);
	my @wrong;
	foreach my $name (sort keys %$accounts)
	{
		my $account = $accounts->{$name};
		my $was = $before->{$name};
		my $spent = $spent{$relation}{$name} // 0;
		my $expected = converted($spent, $account->{delta}, $account->{order});
		my $units = $account->{units} * 1e-12;

		push @wrong, "$name: $units spent, the model says $spent"
		  if $units < $spent * (1 - 1e-9) - 1e-12 || $units > $spent * (1 + 1e-9) + 1e-8;
		push @wrong, "$name: epsilon $account->{lifetime_spent} is reported, docs/accounts.md says $expected"
		  if abs($account->{lifetime_spent} - $expected) > 1e-8 || $account->{lifetime_spent} < $expected - 1e-11;
		next if !$was;
		# A grant may have been lowered below what was spent; asking never goes beyond.
		push @wrong, "$name: epsilon $account->{spent} of $account->{epsilon}"
		  if $account->{spent} > $account->{epsilon} && $account->{units} > $was->{units};
		push @wrong, "$name: lifetime epsilon $account->{lifetime_spent} of $account->{lifetime}"
		  if $account->{lifetime_spent} > $account->{lifetime} && $account->{units} > $was->{units};
	}
	is(join('; ', @wrong), '', $what);
	return $accounts;
}

# Asks for up to a little more than there is room for.
sub random_question
{
	my ($relation, $accounts) = @_;
	my $role = pick(@roles);
	my $model = pick(keys %price);
	my $name = "$relation $model";
	my ($rc, $out, $err) = as($node, $role, qq{SELECT answers_left FROM privpred.cost('$name')});
	my $left = $rc == 0 ? $out : undef;
	return "$role has no budget" if !defined $left;
	my $n = 1 + int rand($left > 300 ? 300 : $left + 2);
	$n = $left + 1 if rand() < 0.15 && $left < 5000;
	($rc, $out, $err) = as($node, $role, qq{SELECT ask('$name', $n)});
	my $given = min($n, $left);
	is($n <= $left ? $out : sqlstate_of($err), $n <= $left ? $n : '53400',
		"$relation: $role asks $n of $left answers of $model") or diag $err;
	settled();
	my $payer = $accounts->{$role}{order};
	foreach my $account ($role, 'cap')
	{
		$spent{$relation}{$account} += $given * charge($price{$model}, $payer, $accounts->{$account}{order})
		  if $accounts->{$account};
	}
	return "$role asked $model $n times";
}

# A little more than a window, so that no two begin at the same time.
sub pass_time
{
	my ($relation) = @_;
	sql(qq{UPDATE privpred.account a SET window_anchor = window_anchor - refresh - interval '1 second', window_start = window_start - refresh - interval '1 second'
		FROM privpred.protected_relation r WHERE a.relation_id = r.relation_id AND r.relation = '$relation'::regclass AND refresh IS NOT NULL});
	return 'a window passed';
}

foreach my $round (1 .. 6)
{
	my $relation = "round$round";
	my $cap = $round == 1 ? '' : ', epsilon_cap => ' . pick(1, 3, 5) . ', delta_cap => ' . pick('0', '1e-6', '1e-5');
	sql(qq{CREATE TABLE $relation (id int PRIMARY KEY, x float8, y text); SELECT privpred.protect('$relation'$cap)});
	foreach my $model (sort keys %price)
	{
		sql(qq{SELECT privpred.create_model('$relation $model', '$relation', label => 'y', classes => '{a,b,c}',
			features => '["x"]', teachers => 9, epsilon => $price{$model})});
	}
	random_grant($relation, $_) foreach @roles;
	my $accounts = check($relation, {}, "$relation: granted");
	foreach my $step (1 .. 18)
	{
		my $what =
			rand() < 0.75 ? random_question($relation, $accounts)
		  : rand() < 0.5 ? do { random_grant($relation, my $role = pick(@roles)); "a grant to $role" }
		  : pass_time($relation);
		$accounts = check($relation, $accounts, "$relation, $step: $what");
	}
	is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', "$relation: verifies");
}

# A cap that opens late has seen everything; later it is charged like any other.  Its delta has room for
# what changes of orders have cost, half of 1e-3 each.
{
	my ($rc, $out, $err) = as($node, 'postgres', q{SELECT privpred.protect('round1', epsilon_cap => 50, delta_cap => 0.1, force => true)});
	is($rc, 0, 'a cap opens on spent accounts') or diag $err;
	my $accounts = accounts('round1');
	$spent{round1}{cap} = 0;
	$spent{round1}{cap} += $spent{round1}{$_} // 0 foreach @roles;
	check('round1', $accounts, 'a late cap counts everything');
	cmp_ok($accounts->{cap}{order}, '<=', $accounts->{$_}{order}, "at an order not above that of $_")
	  foreach grep { ($accounts->{$_}{units} // 0) > 0 } @roles;
	foreach my $step (1 .. 4)
	{
		my $what = random_question('round1', $accounts);
		$accounts = check('round1', $accounts, "late cap, $step: $what");
	}
	is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'late cap: verifies');
}

# ---------- as many answers as answers_for() says, ten times plain summation ----------

sql(q{CREATE TABLE many (id int PRIMARY KEY, x float8, y text); SELECT privpred.protect('many');
SELECT privpred.create_model('many', 'many', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 10, epsilon => 0.01);
SELECT privpred.grant_budget('ann', 'many', 1, 1e-6)});
{
	my ($answers, $summation) = split /\|/, sql(q{SELECT answers, answers_by_summation FROM privpred.answers_for(1, 1e-6, 0.01)});
	my ($rc, $out) = as($node, 'ann', "SELECT ask('many', $answers)");
	is($out, $answers, "(1, 1e-6) gives $answers answers at 0.01");
	cmp_ok($out, '>', 10 * $summation, 'over ten times plain summation');
	my (undef, undef, $err) = as($node, 'ann', q{SELECT ask('many', 1)});
	is(sqlstate_of($err), '53400', 'and not one more');
}

# ---------- grants that change under load ----------

sql(q{CREATE TABLE busy (id int PRIMARY KEY, x float8, y text); SELECT privpred.protect('busy');
SELECT privpred.create_model('busy', 'busy', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 10, epsilon => 0.01);
SELECT privpred.grant_budget(r::regrole, 'busy', 5) FROM unnest('{ann,bob}'::text[]) r});
{
	my @sessions = map {
		my ($in, $output) = (join('', map { "SELECT ask('busy', $_);\n" } map { 1 + int rand 60 } 1 .. 60), '');
		IPC::Run::start([ 'psql', '-XAtq', '-U', $_, '-h', $node->host, '-p', $node->port, '-d', 'postgres' ], '<', \$in, '>', \$output, '2>', \my $ignored)
	} qw(ann ann bob);
	foreach my $step (1 .. 12)
	{
		my $role = pick(qw(ann bob));
		as($node, 'postgres', $step == 6
			? q{SELECT privpred.protect('busy', epsilon_cap => 12, delta_cap => 1e-4)}
			: "SELECT privpred.grant_budget('$role', 'busy', " . pick(5, 8) . ', delta => ' . pick('1e-6', '1e-5', '1e-4')
			  . pick('', q{, refresh => '1 hour', lifetime_epsilon => 9}) . ')');
		usleep(20_000);
	}
	$_->finish foreach @sessions;
	settled();
	is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'grants under load: verifies');
	my $accounts = accounts('busy');
	cmp_ok($accounts->{$_}{units}, '>', 0, "$_ was charged") foreach qw(ann bob cap);
	cmp_ok($accounts->{$_}{lifetime_spent}, '<=', 12, "$_ stays within the largest grant") foreach qw(ann bob cap);
	is(sql(q{SELECT cap.spent_units >= 0 AND cap.renyi_order IS NOT NULL FROM privpred.account cap
		WHERE role = 0 AND relation_id = (SELECT relation_id FROM privpred.protected_relation WHERE relation = 'busy'::regclass)}),
		't', 'the cap opened under load');
}

# ---------- leases and windows ----------

sql(q{CREATE TABLE daily (id int PRIMARY KEY, x float8, y text); SELECT privpred.protect('daily');
SELECT privpred.create_model('daily', 'daily', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 10, epsilon => 0.01);
SELECT privpred.grant_budget('eve', 'daily', 10, refresh => '1 day', lifetime_epsilon => 20)});

sub daily
{
	settled();
	return sql(q{SELECT window_spent_units / 10000000000, spent_units / 10000000000 FROM privpred.account WHERE role = 'eve'::regrole
		AND relation_id = (SELECT relation_id FROM privpred.protected_relation WHERE relation = 'daily'::regclass)});
}

my $eve = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'eve' ]);
$eve->query(q{BEGIN});
$eve->query(q{DECLARE c CURSOR FOR SELECT private_predict('daily', ARRAY[0.5]) FROM generate_series(1, 1000)});
$eve->query(q{MOVE 40 FROM c});
cmp_ok(sql(q{SELECT sum(answers) FROM privpred.open_lease}), '>', 1, 'a lease is out');
pass_time('daily');
as($node, 'eve', q{SELECT ask('daily', 200)});
$eve->query(q{ROLLBACK});
is(daily(), '200|240', 'what comes back from an earlier window is the lifetime\'s, not the new window\'s');

# A window that ends in less than the second for which leases are kept: the
# first answer after its end belongs to the next.  (A slow machine asks all of
# them then, which the test allows.)
sql(q{UPDATE privpred.account a SET window_anchor = clock_timestamp() - refresh + interval '600 ms', window_start = clock_timestamp() - refresh + interval '600 ms'
	WHERE role = 'eve'::regrole AND refresh IS NOT NULL
	AND relation_id = (SELECT relation_id FROM privpred.protected_relation WHERE relation = 'daily'::regclass)});
$eve->query(q{BEGIN});
$eve->query(q{DECLARE c CURSOR FOR SELECT private_predict('daily', ARRAY[0.5]) FROM generate_series(1, 1000)});
$eve->query(q{MOVE 20 FROM c});
usleep(650_000);
$eve->query(q{MOVE 1 FROM c});
$eve->query(q{ROLLBACK});
$eve->quit;
my ($window, $lifetime) = split /\|/, daily();
cmp_ok($window, '>=', 1, "no lease survives the end of its window ($window in the new one)");
cmp_ok($window, '<=', 21, 'a new window starts from nothing');
is($lifetime, 261, 'the lifetime counts both');
is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'windows verify');
# A crash orphans a lease; forgiving it gives back to its window and to the lifetime.
{
	my $lost = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'eve' ]);
	$lost->query(q{BEGIN});
	$lost->query(q{DECLARE c CURSOR FOR SELECT private_predict('daily', ARRAY[0.5]) FROM generate_series(1, 1000)});
	$lost->query(q{MOVE 40 FROM c});
	undef $session;
	$node->stop('immediate');
	eval { $lost->quit };
	$node->start;
	my ($lease, $answers) = split /\|/, sql(q{SELECT lease, answers FROM privpred.leases WHERE orphaned});
	cmp_ok($answers // 0, '>', 1, 'a crash orphans a lease');
	my @before = split /\|/, daily();
	sql("SELECT privpred.forgive_lease($lease)");
	is(daily(), join('|', map { $_ - $answers } @before), 'forgiven, it comes back to its window and to the lifetime');
	is(sql(q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'and verifies');
}
my (undef, $out, $err) = as($node, 'eve', q{SELECT ask('daily', 10000)});
like($err, qr/53400: privacy budget of role "eve" for the present window.*The budget refreshes at \d{4}-/s, 'the window binds');
settled();
pass_time('daily');
(undef, $out, $err) = as($node, 'eve', q{SELECT ask('daily', 10000)});
like($err, qr/53400: lifetime privacy budget of role "eve".*It does not refresh/s, 'the lifetime binds');
like(daily(), qr/\|2000$/, 'to the last answer');

# ---------- what is charged is what is drawn ----------

# A teacher repeats the label of its row with x = 1, as in Privpred::Conformance.
sql(q{
CREATE FUNCTION echo_step(state text, label text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT CASE WHEN x[1] = 1 THEN label ELSE state END';
CREATE AGGREGATE echo_train(text, float8[]) (SFUNC = echo_step, STYPE = text);
CREATE FUNCTION echo_predict(state text, x float8[]) RETURNS text IMMUTABLE LANGUAGE internal AS 'btrim1';
CREATE TABLE votes (id int NOT NULL, x float8 NOT NULL, y text);
SELECT privpred.protect('votes', unit => 'id');
SELECT privpred.create_model('vote', 'votes', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 4, epsilon => 1,
	learner => 'sql', options => '{"train": "public.echo_train", "predict": "public.echo_predict"}');
SELECT privpred.grant_budget('ann', 'votes', 1e6, delta => 1e-6);
SELECT privpred.grant_budget('bob', 'votes', 1e6);
});
is(sql(q{SELECT string_agg(role || ' ' || (renyi_order < 'Infinity'), ', ' ORDER BY role_name) FROM privpred.budgets WHERE relation = 'votes'::regclass}),
	'ann true, bob false', 'ann\'s order is finite, bob\'s is not');

sub draws
{
	my ($role, $n, @labels) = @_;
	my %counts;
	my $list = join(',', @labels);
	sql(qq{
TRUNCATE votes;
WITH chosen AS (
SELECT DISTINCT ON (t) id, (string_to_array('$list', ','))[t + 1] AS label
FROM (SELECT id, privpred.teacher_of(id, m.salt, m.teachers) AS t FROM generate_series(1, 1000) id, privpred.model m WHERE m.name = 'vote') s
ORDER BY t, id)
INSERT INTO votes SELECT id, 1, label FROM chosen UNION ALL SELECT id, 0, CASE label WHEN 'a' THEN 'b' ELSE 'a' END FROM chosen;
SELECT privpred.retrain('vote')});
	my ($rc, $out, $err) = as($node, $role, qq{SELECT a, count(*) FROM
		(SELECT private_predict('vote', ARRAY[0.5]) a FROM generate_series(1, $n)) s GROUP BY a});
	foreach my $line (split /\n/, $out)
	{
		my ($answer, $count) = split /\|/, $line;
		$counts{$answer} = $count;
	}
	return \%counts;
}

# The loser of 2 : 2 and of 3 : 1 is drawn with probability 1/2 and this; n draws
# tell one mechanism from the other, and either from one of twice the epsilon.
my $alpha = 1e-8;
my $n = 12000;
my ($exponential, $permuted) = (1 / (1 + exp(1)), exp(-1) / 2);

sub told
{
	my ($what, $audit, $loser) = @_;
	enough_draws($what, $n, sub {
		my ($m) = @_;
		my ($k, $l) = least_telling($m, 0.5, $loser) or return 0;
		return $audit->($m, { b => $k, a => $m - $k }, { b => $l, a => $m - $l }, $alpha, outputs => 2) > 1;
	});
}
told('permute-and-flip is not of bounded range', \&audit_range, $permuted);
told('a range of two', \&audit_range, 1 / (1 + exp(2)));
told('an epsilon of two', \&audit_epsilon, exp(-2) / 2);
my (undef, $most) = sized_counts('permute-and-flip', $n, $permuted, 'most', $exponential);
my ($least) = sized_counts('the exponential mechanism', $n, $exponential, 'least', $permuted);
my %ann = map { $_ => draws('ann', $n, split //, $_) } qw(aabb aaab);
my %bob = map { $_ => draws('bob', $n, split //, $_) } qw(aabb aaab);
cmp_ok(audit_range($n, @ann{qw(aabb aaab)}, $alpha, outputs => 2), '<=', 1,
	'a finite order gets a draw of bounded range: charged as such');
cmp_ok(audit_epsilon($n, @bob{qw(aabb aaab)}, $alpha, outputs => 2), '<=', 1, 'an infinite order gets an epsilon-DP draw');
my $range = audit_range($n, @bob{qw(aabb aaab)}, $alpha, outputs => 2);
cmp_ok($range, '>', 1, "charging that as bounded range would be noticed (range at least $range)");
# Permute-and-flip errs less: that it is drawn where it may be, and only there.
cmp_ok($bob{aaab}{b}, '<=', $most, "permute-and-flip errs less ($bob{aaab}{b} of $n)");
cmp_ok($ann{aaab}{b}, '>=', $least, "than the exponential mechanism ($ann{aaab}{b} of $n)");
settled();
is(join(' ', map { int(0.5 + 1e6 * ($_ // 0)) } split /\|/, sql(q{
SELECT sum(epsilon) FILTER (WHERE role = 'ann'::regrole) / (1e12 * 24000) * 1e12, sum(epsilon) FILTER (WHERE role = 'bob'::regrole) / 24000
FROM privpred.ledger WHERE relation = 'votes'::regclass})),
	join(' ', int(0.5 + 1e6 * charge(1, 2, accounts('votes')->{ann}{order})), 1000000), 'and each was charged for its own');

# ---------- dump and restore ----------

settled();
my $dump = $node->basedir . '/accounts.sql';
my $state = q{SELECT role, relation, epsilon_limit, delta_limit, epsilon_spent, delta_spent, epsilon_left, renyi_order, answers_left, binding_cap,
	window_resets_at, status, spent_share, lifetime_epsilon_limit, lifetime_epsilon_spent, refresh FROM privpred.budgets ORDER BY relation_name, role_name};
command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', $dump, 'postgres' ], 'pg_dump');
sql(q{CREATE DATABASE restored TEMPLATE template0});
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-d', 'restored', '-f', $dump ], 'restore');
is($node->safe_psql('restored', $state), sql($state), 'orders, limits and windows are restored');
$node->safe_psql('restored', q{SELECT privpred.adopt_ledger()});
is($node->safe_psql('restored', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'and verify');
(undef, $out, $err) = as($node, 'ann', q{SELECT ask('vote', 3)}, db => 'restored');
is($out, '3', 'and pay') or diag $err;

$node->stop;
done_testing();
