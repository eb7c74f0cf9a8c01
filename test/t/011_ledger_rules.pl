# Locks, limits, groups, caps, revocation, roles that go, tampering.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use LedgerTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = ledger_node('rules');
my ($rc, $out, $err);

# ---------- locks held by others, or by the caller itself ----------

$node->safe_psql('postgres', q{SELECT privpred.grant_budget('bob', 'patients', 10)});
my $holder = $node->background_psql('postgres', on_error_die => 1);
$holder->query_safe(q{BEGIN});
$holder->query_safe(q{SELECT 1 FROM privpred.account WHERE role = 'alice'::regrole FOR UPDATE});
$err = refused($node, 'alice', '55P03', q{SELECT probe('m')}, 'account row locked');
like($err, qr/locked by another transaction/, 'says so');
charges($node, 'bob', 1, q{SELECT probe('m')}, 'other accounts meanwhile, not held up');
$holder->query_safe(q{ROLLBACK});
charges($node, 'alice', 1, q{SELECT probe('m')}, 'row lock gone');

$holder->query_safe(q{BEGIN});
$holder->query_safe(q{LOCK TABLE privpred.account});
($rc, $out, $err) = as($node, 'alice', q{SELECT probe('m')});
is(sqlstate_of($err), '55P03', 'account table locked');
$holder->query_safe(q{ROLLBACK});

# An owner who grants and asks in one transaction waits for himself.
refused($node, 'postgres', '55P03', q{BEGIN;
	SELECT privpred.grant_budget('alice', 'patients', 200); SET ROLE alice; SELECT probe('m')},
	'grant in the same transaction', payer => 'alice');
refused($node, 'postgres', '42501', q{BEGIN;
	SELECT privpred.grant_budget('carol', 'patients', 5); SET ROLE carol; SELECT probe('m')},
	'first grant in the same transaction', payer => 'carol');
charges($node, 'alice', 2, q{SELECT probe('m') FROM generate_series(1, 2)}, 'works afterwards');

# A short lock is waited out: for two seconds.  (Where a machine takes longer to
# let it go, another try is made.)
my $patient = 0;
for (1 .. 100)
{
	$holder->query_safe(q{BEGIN});
	$holder->query_safe('SET LOCAL client_min_messages = error');	# it is much
	$holder->query_safe(q{SELECT privpred.grant_budget('alice', 'patients', 150)});
	my $started = time;
	my $asker = IPC::Run::start([ 'psql', '-XAtq', '-U', 'alice', '-h', $node->host, '-p', $node->port,
			'-d', 'postgres', '-c', q{SELECT probe('m')} ], '>', \$out, '2>', \$err);
	ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE usename = 'alice' AND wait_event_type = 'Extension'}), 'somebody waits for a lock') or last;
	$holder->query_safe(q{COMMIT});
	my $held = time - $started;
	$asker->finish;
	last if $patient = "$out$err" eq "t\n";
	last if $held < 1.5;
}
ok($patient, 'a short lock is waited out') or diag "$out$err";

# ---------- statement limit ----------

charges($node, 'alice', 5, q{SET privpred.max_answers_per_statement = 5;
	SELECT probe('m') FROM generate_series(1, 100)}, 'max_answers_per_statement',
	state => '54000');
charges($node, 'alice', 10, q{SET privpred.max_answers_per_statement = 5;
	SELECT probe('m') FROM generate_series(1, 5);
	SELECT probe('m') FROM generate_series(1, 5)}, 'per statement, not per session');
charges($node, 'alice', 4, q{SET privpred.max_answers_per_statement = 4;
	SELECT probe('m'), probe('m') FROM generate_series(1, 5)}, 'over all call sites',
	state => '54000');
charges($node, 'alice', 5, q{SET privpred.max_answers_per_statement = 5;
	BEGIN; DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 100);
	FETCH 4 FROM c; FETCH 4 FROM c; ROLLBACK}, 'a cursor is one statement', state => '54000');
# ---------- no session starves the others ----------

$node->safe_psql('postgres', q{SELECT privpred.grant_budget('bob', 'visits', 8)});
charges($node, 'bob', 40, q{BEGIN; DECLARE c CURSOR FOR SELECT probe('v') FROM generate_series(1, 100);
	MOVE 40 FROM c; CLOSE c; COMMIT}, 'half of a budget of 80', relation => 'visits');
is($node->safe_psql('postgres', q{SELECT max(answers) FROM privpred.ledger
		WHERE relation = 'visits'::regclass AND kind = 'lease'}), '8',
	'a lease takes at most an eighth of what is left');
$node->safe_psql('postgres', q{SELECT privpred.revoke_budget('bob', 'visits')});

# ---------- revocation and expiry, under a lease ----------

my $analyst = $node->background_psql('postgres', on_error_stop => 0,
	extra_params => [ '-U', 'alice', '-v', 'VERBOSITY=sqlstate' ]);
sub open_cursor
{
	$analyst->query(q{BEGIN});
	$analyst->query(q{DECLARE c CURSOR FOR SELECT probe('m') FROM generate_series(1, 1000)});
	$analyst->query(q{MOVE 100 FROM c});
	$analyst->{stderr} = '';
}
open_cursor();
cmp_ok($node->safe_psql('postgres', q{SELECT sum(answers) FROM privpred.leases}), '>', 10,
	'a lease is out');
$node->safe_psql('postgres', q{SELECT privpred.revoke_budget('alice', 'patients')});
$out = $analyst->query(q{FETCH 1 FROM c});
like($analyst->{stderr}, qr/42501/, 'revoked: the next answer is refused, lease or not');
is($out, '', 'revoked: no answer');
$analyst->{stderr} = '';	# what is left there confuses the next query in PostgreSQL 17.5
$analyst->query(q{ROLLBACK});
refused($node, 'alice', '42501', q{SELECT probe('m')}, 'revoked: new statements');
is($node->safe_psql('postgres', q{SELECT status FROM privpred.budgets WHERE role = 'alice'::regrole}),
	'revoked', 'shown as revoked');

# As long as this machine needs for two answers before the end.
my $expires;
for my $seconds (1, 3, 10, 30, 100)
{
	$node->safe_psql('postgres', "SELECT privpred.grant_budget('alice', 'patients', 100, valid_until => clock_timestamp() + '$seconds s')");
	$expires = $node->safe_psql('postgres', q{SELECT valid_until FROM privpred.account WHERE role = 'alice'::regrole});
	cmp_ok(spent($node, 'alice'), '>', 100, 'a new grant remembers what was spent');
	open_cursor();
	$out = $analyst->query(q{FETCH 1 FROM c});
	last if $out eq 't';
	$analyst->{stderr} = '';
	$analyst->query(q{ROLLBACK});
}
is($out, 't', 'before expiry');
$node->poll_query_until('postgres', "SELECT clock_timestamp() > '$expires'") or die 'time stands still';
$out = $analyst->query(q{FETCH 1 FROM c});
like($analyst->{stderr}, qr/42501/, 'expired: the next answer is refused, lease or not');
is($out, '', 'expired: no answer');
$analyst->{stderr} = '';	# what is left there confuses the next query in PostgreSQL 17.5
$analyst->query(q{ROLLBACK});
$err = refused($node, 'alice', '42501', q{SELECT probe('m')}, 'expired: new statements');
like($err, qr/has expired/, 'says so');
$analyst->quit;
$node->safe_psql('postgres', q{SELECT privpred.grant_budget('alice', 'patients', 100,
	valid_until => 'infinity')});
charges($node, 'alice', 1, q{SELECT probe('m')}, 'granted again');

# Nor does it trust its memory if a row was changed by hand.
$node->safe_psql('postgres', q{UPDATE privpred.account SET limit_units = spent_units WHERE role = 'alice'::regrole});
refused($node, 'alice', '53400', q{SELECT probe('m')}, 'limit lowered by hand');
$node->safe_psql('postgres', q{UPDATE privpred.account SET limit_units = 1000000000000 * 100 WHERE role = 'alice'::regrole});
charges($node, 'alice', 1, q{SELECT probe('m')}, 'limit raised by hand');

$node->safe_psql('postgres', q{SELECT privpred.grant_budget('carol', 'patients', 0.1)});
charges($node, 'carol', 1, q{SELECT probe('m')}, 'the last answer');
$node->safe_psql('postgres', q{UPDATE privpred.account SET limit_units = limit_units * 2 WHERE role = 'carol'::regrole});
charges($node, 'carol', 1, q{SELECT probe('m')}, 'no refusal from memory');
$node->safe_psql('postgres', q{SELECT privpred.grant_budget('carol', 'patients', 0.2);
	SELECT privpred.revoke_budget('carol', 'patients')});

# Lowering the limit below what is spent freezes, and is no discrepancy.
$node->safe_psql('postgres', q{SELECT privpred.grant_budget('alice', 'patients', 1)});
refused($node, 'alice', '53400', q{SELECT probe('m')}, 'frozen');
is($node->safe_psql('postgres', q{SELECT ok, problem, frozen_accounts FROM privpred.verify_ledger()}),
	't||1', 'frozen: verify tells');
$node->safe_psql('postgres', q{SELECT privpred.grant_budget('alice', 'patients', 100)});

# ---------- arguments ----------

for my $bad (q{'NaN'}, q{'Infinity'}, '0', '-1', '1e-10', '1e7')
{
	($rc, $out, $err) = as($node, 'postgres',
		"SELECT privpred.grant_budget('alice', 'patients', $bad)");
	is(sqlstate_of($err), '22023', "epsilon $bad");
}
for my $case ([ q{'alice', 'patients', 1, delta => -1e-6}, '22023' ],
	[ q{'alice', 'patients', 1, delta => 'NaN'}, '22023' ],
	[ q{'alice', 'patients', 1, refresh => '1 second'}, '22023' ],
	[ q{'alice', 'patients', 1, lifetime_epsilon => 3}, '22023' ],
	[ q{'alice', 'patients', 1, valid_until => now() - interval '1 s'}, '22023' ],
	[ q{'alice', 'calls', 1}, '55000' ],
	[ q{'99999', 'patients', 1}, '42704' ],
	[ q{NULL, 'patients', 1}, '22004' ])
{
	my ($args, $state) = @$case;
	($rc, $out, $err) = as($node, 'postgres', "SELECT privpred.grant_budget($args)");
	is(sqlstate_of($err), $state, "grant_budget($args)");
}
($rc, $out, $err) = as($node, 'bob', q{SELECT privpred.grant_budget('bob', 'patients', 1000)});
is(sqlstate_of($err), '42501', 'only the owner grants');
($rc, $out, $err) = as($node, 'bob', q{SELECT privpred.revoke_budget('alice', 'patients')});
is(sqlstate_of($err), '42501', 'only the owner revokes');

# ---------- groups ----------

$node->safe_psql('postgres', q{
CREATE ROLE small_team; CREATE ROLE large_team; CREATE ROLE dave LOGIN; CREATE ROLE erin LOGIN;
GRANT small_team, large_team TO dave; GRANT large_team TO erin;
SELECT privpred.grant_budget('small_team', 'patients', 0.2);
SELECT privpred.grant_budget('large_team', 'patients', 0.5);
SELECT privpred.grant_budget('dave', 'patients', 0.1)});
is($node->safe_psql('postgres', q{SELECT * FROM privpred.cost('m')}, extra_params => [ '-U', 'dave' ]),
	'0.1|0|0.7|t|8', 'cost sees own and group budgets');
charges($node, 'dave', 1, q{SELECT probe('m')}, 'own budget first');
charges($node, 'dave', 3, q{SELECT probe('m') FROM generate_series(1, 3)}, 'then the richest group',
	payer => 'large_team');
charges($node, 'erin', 1, q{SELECT probe('m')}, 'shared by members', payer => 'large_team');
charges($node, 'dave', 1, q{SELECT probe('m')}, 'now the other is richer', payer => 'small_team');
charges($node, 'dave', 1, q{SELECT probe('m') FROM generate_series(1, 3)}, 'until none is left',
	payer => 'small_team', state => '53400');
refused($node, 'erin', '53400', q{SELECT probe('m')}, 'group exhausted', payer => 'large_team');
refused($node, 'dave', '53400', q{SELECT probe('m')}, 'all exhausted');
is($node->safe_psql('postgres', q{SELECT string_agg(role::text || ' ' || epsilon_left, ', ' ORDER BY role::text)
		FROM privpred.budgets}, extra_params => [ '-U', 'dave' ]),
	'dave 0, large_team 0, small_team 0', 'a member sees the budgets of its groups, and no others');
is($node->safe_psql('postgres', q{SELECT count(*) FROM privpred.ledger WHERE role <> 'bob'::regrole},
		extra_params => [ '-U', 'bob' ]),
	'0', 'a role does not see entries of others');
($rc, $out, $err) = as($node, 'bob', q{SELECT * FROM privpred.account});
is(sqlstate_of($err), '42501', 'nor the tables');

# ---------- the cap over all roles ----------

$node->safe_psql('postgres', q{
SELECT privpred.grant_budget('alice', 'visits', 10); SELECT privpred.grant_budget('bob', 'visits', 10)});
charges($node, 'alice', 3, q{SELECT probe('v') FROM generate_series(1, 3)}, 'before the cap',
	relation => 'visits');
$node->safe_psql('postgres', q{SELECT set_cap(2, 4.6)});
is(spent($node, '-', relation => 'visits'), 43, 'a cap counts from the beginning');
charges($node, 'bob', 2, q{SELECT probe('v') FROM generate_series(1, 2)}, 'under the cap',
	relation => 'visits');
is($node->safe_psql('postgres', q{SELECT epsilon_left, binding_cap, answers_left FROM privpred.budgets
		WHERE role = 'bob'::regrole AND relation = 'visits'::regclass}),
	'0.1|relation|{"v": 1}', 'budgets shows the cap that binds');
charges($node, 'alice', 1, q{SELECT probe('v')}, 'the last one', relation => 'visits');
$err = refused($node, 'bob', '53400', q{SELECT probe('v')}, 'cap reached', relation => 'visits');
like($err, qr/for all roles together/, 'the refusal names the cap');
$node->safe_psql('postgres', q{SELECT set_cap(2, NULL)});
charges($node, 'bob', 2, q{SELECT probe('v') FROM generate_series(1, 2)}, 'cap removed',
	relation => 'visits');
is(spent($node, '-', relation => 'visits'), 48, 'the total is still kept');

# ---------- cost ----------

is($node->safe_psql('postgres', q{SELECT * FROM privpred.cost('v', 100)}, extra_params => [ '-U', 'bob' ]),
	'10|0|-4.4|f|56', 'cost');
($rc, $out, $err) = as($node, 'carol', q{SELECT * FROM privpred.cost('v')});
is(sqlstate_of($err), '42501', 'cost of a model that one has no budget for');
($rc, $out, $err) = as($node, 'carol', q{SELECT * FROM privpred.cost('nothing')});
is(sqlstate_of($err), '42501', 'no such model looks the same to her');
($rc, $out, $err) = as($node, 'bob', q{SELECT * FROM privpred.cost('nothing')});
is(sqlstate_of($err), '42704', 'no such model');
($rc, $out, $err) = as($node, 'postgres', q{SELECT * FROM privpred.cost('v')});
is(sqlstate_of($err), '42501', 'an owner without a budget');

# ---------- roles that go ----------

$node->safe_psql('postgres', q{CREATE ROLE frank LOGIN;
	SELECT privpred.grant_budget('frank', 'patients', 5); SELECT privpred.grant_budget('frank', 'visits', 5)});
charges($node, 'frank', 2, q{SELECT probe('m') FROM generate_series(1, 2)}, 'frank');
($rc, $out, $err) = as($node, 'postgres', q{DROP ROLE frank});
is(sqlstate_of($err), '2BP01', 'DROP ROLE is refused while it has a budget');
$node->safe_psql('postgres', q{DROP OWNED BY frank});
refused($node, 'frank', '42501', q{SELECT probe('m')}, 'DROP OWNED BY ends budgets');
$node->safe_psql('postgres', q{SELECT privpred.grant_budget('frank', 'patients', 5)});
charges($node, 'frank', 1, q{SELECT probe('m')}, 'granted again after DROP OWNED BY');
is(spent($node, 'frank'), 3, 'and nothing forgotten');
refused($node, 'frank', '42704', q{SELECT probe('v')}, 'budgets that DROP OWNED BY ended stay so',
	relation => 'visits');
$node->safe_psql('postgres', q{SELECT privpred.revoke_budget('frank', 'patients'); DROP ROLE frank;
	CREATE ROLE grace LOGIN});
# An oid that comes round again: give frank's to grace.
$node->safe_psql('postgres', q{UPDATE privpred.account SET role = 'grace'::regrole, revoked_at = NULL
	WHERE role_name = 'frank'});
refused($node, 'grace', '42501', q{SELECT probe('m')}, 'a re-used oid inherits nothing');
$node->safe_psql('postgres', q{SELECT privpred.grant_budget('grace', 'patients', 1)});
refused($node, 'grace', '42704', q{SELECT probe('v')}, 'not even with a budget elsewhere',
	relation => 'visits');

# ---------- tampering ----------

$node->safe_psql('postgres', q{SELECT privpred.revoke_budget('grace', 'patients')});
is($node->safe_psql('postgres', q{SELECT ok, problem FROM privpred.verify_ledger()}), 't|', 'verifies');
my $head = $node->safe_psql('postgres', q{SELECT head FROM privpred.verify_ledger()});
($rc, $out, $err) = as($node, 'postgres', q{DELETE FROM privpred.ledger_entry});
is(sqlstate_of($err), '55000', 'append-only, also for its owner');

sub tampered
{
	my ($sql, $like, $name) = @_;
	# Undone by a rollback; verify sees its own transaction's changes.
	my ($rc, $out, $err) = as($node, 'postgres', "BEGIN; SET session_replication_role = replica; $sql;
		SET session_replication_role = origin;
		SELECT ok, problem FROM privpred.verify_ledger(); ROLLBACK");
	like($out, $like, $name) or diag $err;
}
tampered(q{UPDATE privpred.ledger_entry SET answers = answers - 1, units = units - 1 WHERE id = 5},
	qr/^f\|entry 5 or one before it/m, 'an edited entry');
tampered(q{UPDATE privpred.ledger_entry SET at = at - interval '1 us' WHERE id = 7},
	qr/^f\|entry 7 or/m, 'a changed time');
tampered(q{DELETE FROM privpred.ledger_entry WHERE id = 6}, qr/^f\|entries are missing before entry 7/m,
	'a removed entry');
tampered(q{DELETE FROM privpred.ledger_entry WHERE id > 20}, qr/^f\|account \d+ (says|has no)/m, 'a removed tail');
tampered(q{UPDATE privpred.account SET spent_units = 0 WHERE account_id = 1},
	qr/^f\|account 1 says that epsilon 0 is spent/m, 'spending forgotten');
tampered(q{UPDATE privpred.account SET limit_units = limit_units + 1 WHERE account_id = 1},
	qr/^f\|account 1 has a limit that is not the one last granted/m, 'a limit raised by hand');
tampered(q{DELETE FROM privpred.account WHERE account_id = 2}, qr/^f\|entries name accounts/m,
	'an account removed');
is($node->safe_psql('postgres', qq{SELECT ok FROM privpred.verify_ledger('$head')}), 't',
	'a head of the past is found');
like($node->safe_psql('postgres', q{SELECT problem FROM privpred.verify_ledger(sha256('other'))}),
	qr/never had the expected head/, 'another is not: rewound or rewritten');
# The recipe of docs/ledger.md, without our code.
my $recipe = slurp_file("$FindBin::RealBin/../../docs/ledger.md");
$recipe =~ /```sql\n(CREATE FUNCTION pg_temp\.ns.*?)```/s or die 'no recipe in docs/ledger.md';
is($node->safe_psql('postgres', $1), 't', 'anyone can recompute the chain in SQL');
is($node->safe_psql('postgres', q{SELECT ok FROM privpred.verify_ledger()}, extra_params => [ '-U', 'bob' ]),
	't', 'anyone can verify');
like(slurp_file($node->logfile), qr/privacy ledger of database \d+: entry \d+, head [0-9a-f]{64}/,
	'heads go to the server log');

$holder->quit;
$node->stop;
done_testing();
