# The blind audit (docs/blind.md): random neighbours for every mechanism, through the front door, and
# what their answers tell apart, held against what the ledger has booked for them.
package Privpred::Blind;

use strict;
use warnings;
use Carp qw(croak);
use Exporter qw(import);
use IPC::Open2;
use List::Util qw(max min sum0);
use Privpred::Blind::Pairs qw(families scenarios random_pair);
use Privpred::Stats qw(clopper_pearson_lower clopper_pearson_upper binomial_upper_tail);

our @EXPORT_OK = qw(session prepare cases uncovered refused_unpaid run_case draw charge_of ratio coin_loss booked_words
  run_canaries guesses_bound);

# What can be told at best is told by few bins.
my $BINS = 24;
# How often a stream is asked at most, if its last question does not fail.
my $LONGEST = 8;

my $SQL = q{
CREATE EXTENSION privpred;
CREATE TABLE blind_constants (hypothesis text, point text, label int);
INSERT INTO blind_constants SELECT h, p, h FROM unnest('{0,1}'::int[]) h, unnest('{low,high}'::text[]) p;
CREATE TABLE blind_labellings (hypothesis text, point text, label int);
INSERT INTO blind_labellings SELECT h, p, CASE p WHEN 'low' THEN h & 1 ELSE h >> 1 END FROM generate_series(0, 3) h, unnest('{low,high}'::text[]) p;

-- All mechanisms that there are, by the hint that lists them.
CREATE TABLE blind_any (id int PRIMARY KEY, y text);
SELECT privpred.protect('blind_any');
CREATE FUNCTION blind_mechanisms() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	PERFORM privpred.create_model('none', 'blind_any', 'y', '["id"]', classes => '{a,b}', mechanism => 'none');
EXCEPTION WHEN undefined_object THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;

-- Roles that nobody has used: all that they have in the ledger is what is asked now.
CREATE PROCEDURE blind_roles(prefix text, n int, relation regclass, account text) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		EXECUTE format('CREATE ROLE %I', prefix || '_' || i);
		CASE account
			WHEN 'pure' THEN PERFORM privpred.grant_budget((prefix || '_' || i)::regrole, relation, epsilon => 1e6);
			WHEN 'finite' THEN PERFORM privpred.grant_budget((prefix || '_' || i)::regrole, relation, epsilon => 1e6, delta => 0.9, per_answer => 0.1, force => true);
			WHEN 'wide' THEN PERFORM privpred.grant_budget((prefix || '_' || i)::regrole, relation, epsilon => 1e6, delta => 0.9, per_answer => 100, force => true);
		END CASE;
		COMMIT;
	END LOOP;
END $$;

-- What the ledger says that they have paid, once everything that was reserved and not used is back: the sum of its entries, which
-- must be what their accounts say.  In units of 1e-12; orders, delta.
CREATE FUNCTION blind_booked(prefix text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	of_accounts numeric;
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXIT WHEN NOT EXISTS (SELECT FROM privpred.open_lease l JOIN privpred.account a USING (account_id) WHERE a.role_name LIKE prefix || '\_%');
		PERFORM pg_sleep(0.1);
	END LOOP;
	SELECT sum(a.spent_units) INTO of_accounts FROM privpred.account a WHERE a.role_name LIKE prefix || '\_%';
	SELECT concat_ws(' ', round(sum(l.epsilon::numeric) * 1e12), sum(l.delta), min(l.renyi_order), max(l.renyi_order), (round(sum(l.epsilon::numeric) * 1e12) = of_accounts)::int)
	  INTO said FROM privpred.ledger l JOIN privpred.account a USING (account_id) WHERE a.role_name LIKE prefix || '\_%';
	RETURN said;
END $$;

-- Is a role with a budget refused?
CREATE FUNCTION blind_refused(role text, relation regclass, question text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('role', role, true);
	EXECUTE question;
	RETURN false;
EXCEPTION WHEN insufficient_privilege THEN
	RETURN SQLERRM !~ 'permission denied for';
END $$;

-- n times: the owner's statements and the role's question, for each version; then the owner cleans up.  Each time by itself, committed.
CREATE PROCEDURE blind_runs(n int, prefix text, each int, make text[], ask text[], clean text) LANGUAGE plpgsql AS $$
DECLARE
	said text;
	part text;
BEGIN
	CREATE TEMP TABLE IF NOT EXISTS blind_said (i int, said text);
	DELETE FROM blind_said;
	FOR i IN 0 .. n - 1 LOOP
		said := '';
		FOR v IN 1 .. cardinality(ask) LOOP
			IF make[v] <> '' THEN
				EXECUTE make[v];
				COMMIT;
			END IF;
			PERFORM set_config('role', prefix || '_' || (i / each + 1), false);
			EXECUTE ask[v] INTO part;
			COMMIT;
			PERFORM set_config('role', 'none', false);
			said := said || part;
		END LOOP;
		IF clean <> '' THEN
			EXECUTE clean;
		END IF;
		INSERT INTO blind_said VALUES (i, said);
		COMMIT;
	END LOOP;
END $$;

-- Canaries, each with one of two labels by a coin: what is said of each of them by n trainings, each paid for by a role with just that budget.
CREATE PROCEDURE blind_canaries(n int, prefix text, relation regclass, model text, canaries int, epsilon float8, delta float8) LANGUAGE plpgsql AS $$
DECLARE
	role text;
BEGIN
	CREATE TEMP TABLE IF NOT EXISTS blind_canary (training int, canary int, label text, score float8);
	DELETE FROM blind_canary;
	FOR i IN 1 .. n LOOP
		role := prefix || '_' || i;
		EXECUTE format('CREATE ROLE %I', role);
		PERFORM privpred.grant_budget(role::regrole, relation, epsilon => epsilon, delta => delta);
		EXECUTE format('DELETE FROM %s', relation);
		EXECUTE format('INSERT INTO %s SELECT c, ''c'' || c, CASE WHEN random() < 0.5 THEN ''a'' ELSE ''b'' END FROM generate_series(1, %s) c', relation, canaries);
		PERFORM privpred.retrain(model);
		COMMIT;
		EXECUTE format('INSERT INTO blind_canary SELECT %s, id, y FROM %s', i, relation);
		EXECUTE format('GRANT UPDATE (score), SELECT ON blind_canary TO %I', role);
		PERFORM set_config('role', role, false);
		UPDATE blind_canary c SET score = private_score(model, jsonb_build_object('w', 'c' || canary)) WHERE training = i;
		COMMIT;
		PERFORM set_config('role', 'none', false);
	END LOOP;
END $$;

-- All that one stream says: its questions in turn, the last of them until it fails.
CREATE FUNCTION blind_stream(model text, scores bool, epsilon float8, delta float8, questions float8[], longest int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text := '';
	part text;
BEGIN
	PERFORM privpred.open_stream(model, 1, epsilon, delta);
	FOR i IN 1 .. longest LOOP
		BEGIN
			IF scores THEN
				part := private_score(model, ARRAY[questions[least(i, cardinality(questions))]]);
			ELSE
				part := private_predict(model, ARRAY[questions[least(i, cardinality(questions))]]);
			END IF;
		EXCEPTION WHEN object_not_in_prerequisite_state OR configuration_limit_exceeded THEN
			-- it is used up
			EXIT;
		END;
		said := said || coalesce(part, '-') || ',';
	END LOOP;
	PERFORM privpred.close_stream(blind_stream.model) FROM privpred.streams s WHERE s.model = blind_stream.model AND s.status = 'open';
	RETURN said;
END $$;
};

# session(psql, arguments...): a function that runs statements in one session, and returns what they print; it dies if one fails.
sub session
{
	my (@command) = @_;
	my $ended = 0;
	my $pid = open2(my $from, my $to, @command, '-XAtq', '-v', 'ON_ERROR_STOP=1');
	return sub {
		my ($statements) = @_;
		my $said = '';
		my $end = 'end of statements ' . ++$ended;
		print $to "$statements\n;\n\\echo $end\n";
		$to->flush;
		while (my $line = <$from>)
		{
			return $said if $line eq "$end\n";
			$said .= $line;
		}
		waitpid $pid, 0;
		croak "the session ended: $statements\n$said";
	};
}

sub prepare { my ($sql) = @_; $sql->($SQL); return }

# ---------- cases ----------

# A mechanism that is not in the list has no neighbours.
sub uncovered
{
	my ($sql) = @_;
	my %known = map { $_->{mechanism} => 1 } families();
	my @there = split /\n/, $sql->('SELECT blind_mechanisms()');
	croak 'no list of mechanisms' unless @there > 10;
	my %there = map { $_ => 1 } @there;
	return ((grep { !$known{$_} } @there), (map { "$_, which does not exist," } grep { !$there{$_} } sort keys %known));
}

sub cases
{
	return map { my $family = $_; map { { family => $family, scenario => $_, name => "$family->{name}: $_" } } scenarios($family) } families();
}

# ---------- one pair ----------

# Processes that share a server have prefixes of their own.
our $PREFIX = 'blind';
my $number = 0;

sub _values
{
	my ($rows) = @_;
	return join ', ', map { my ($unit, $x, $y) = @$_; sprintf "(%d, %s, '%s', '%s', %s)", $unit, $x, $x < 0.5 ? 'low' : 'high', $y, $y eq 'a' ? 1 : -1 } @$rows;
}

sub _fill
{
	my ($pair, $rows) = @_;
	return "DELETE FROM $pair->{table};" . (@$rows ? " INSERT INTO $pair->{table} (id, x, w, y, z) VALUES " . _values($rows) . ';' : '');
}

# The table and its models, which are trained again on either table with the salts that they have.
sub _create
{
	my ($sql, $pair) = @_;
	my $family = $pair->{family};
	my $table = $pair->{table} = "${PREFIX}_" . ++$number;
	my $n = 0;
	my $y = $family->{integer} ? 'int' : 'text';

	$pair->{names} = [ map { "${table}_" . ++$n } @{ $pair->{models} } ];
	my $made = join '', map { "SELECT privpred.create_model('$pair->{names}[$_]', '$table', $pair->{models}[$_]);\n" } 0 .. $#{ $pair->{models} };
	$sql->(qq{
CREATE TABLE $table (visit int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id int NOT NULL, x float8 NOT NULL, w text NOT NULL, y $y NOT NULL, z float8 NOT NULL);
SELECT privpred.protect('$table', unit => 'id', $pair->{protect});
$made});
	$sql->("CREATE TABLE ${table}_public (x float8, w text);\nINSERT INTO ${table}_public VALUES " . join(', ', map { "($_, 'low')" } @{ $pair->{public} })) if $pair->{public};
	return;
}

sub drop_pair
{
	my ($sql, $pair) = @_;
	return unless $pair->{table};
	$sql->(join ' ', map { "SELECT privpred.drop_model('$_');" } @{ $pair->{names} });
	return;
}

sub _question
{
	my ($pair, $x) = @_;
	return $pair->{models}[0] =~ /levels/ ? sprintf(q{jsonb_build_object('w', CASE WHEN (%s) < 0.5 THEN 'low' ELSE 'high' END)}, $x) : "ARRAY[($x)::float8]";
}

# A query of g rows, each all that is said to one asker.
sub _said
{
	my ($pair, $steps, $rows) = @_;
	my $family = $pair->{family};
	my $call = ($family->{question} // '') eq 'score' ? 'private_score' : 'private_predict';
	my ($from, @parts) = ($rows);
	my $first = $family->{classes}[0];

	foreach my $i (0 .. $#$steps)
	{
		my ($model, $x, $otherwise) = @{ $steps->[$i] };
		my $at = defined $otherwise ? sprintf('(CASE WHEN s%d.said = \'%s\' THEN %s ELSE %s END)', $i - 1, $first, $x, $otherwise) : $x;
		# g: no subquery is the same as one before, whose answer the executor might take again
		$from .= sprintf ' CROSS JOIN LATERAL (SELECT %s(\'%s\', %s)::text AS said OFFSET 0) s%d', $call, $pair->{names}[$model], _question($pair, "$at + 0 * g"), $i;
		push @parts, "s$i.said";
	}
	return 'SELECT ' . join(" || ',' || ", @parts) . " || ',' AS said FROM $from";
}

# Answers are drawn many at a time; those of two versions are independent given the models, and stand side by side.
sub _draw_answers
{
	my ($pair, $side, $n, $role) = @_;
	my $script = '';
	foreach my $v (0 .. $#{ $pair->{$side} })
	{
		$script .= _fill($pair, $pair->{$side}[$v]) . "\n" . join('', map { "DO \$\$ BEGIN PERFORM privpred.retrain('$_'); END \$\$;\n" } @{ $pair->{names} });
		$script .= "SET ROLE ${role}_1;\nSELECT 'said ' || string_agg(said, ' ') FROM (" . _said($pair, $pair->{steps}[$v], "generate_series(1, $n) g") . ") s;\nRESET ROLE;\n";
	}
	return $script;
}

sub _quoted { return join(', ', map { "\$q\$$_\$q\$" } @_) }

# How many draws a role's delta is enough for.
sub _each { my ($pair, $n) = @_; return $pair->{family}{delta} ? int(0.44 / $pair->{family}{delta} / @{ $pair->{models} } / @{ $pair->{a} }) : $n }

sub _draw_runs
{
	my ($pair, $side, $n, $role) = @_;
	my $family = $pair->{family};
	my @versions = @{ $pair->{$side} };
	my $retrain = join ' ', map { "SELECT privpred.retrain('$_');" } @{ $pair->{names} };
	my $clean = '';
	my (@make, @ask);

	if ($family->{drawn} eq 'stream')
	{
		my ($epsilon) = $pair->{models}[0] =~ /epsilon => ([\d.]+)/;
		my $questions = join ', ', map { $_->[1] } @{ $pair->{steps}[0] };
		@make = ('');
		@ask = (sprintf q{SELECT blind_stream('%s', %s, %s, %s, ARRAY[%s], %d)}, $pair->{names}[0], ($family->{question} // '') eq 'score' ? 'true' : 'false',
			$epsilon, $family->{delta}, $questions, $LONGEST);
	}
	elsif ($family->{drawn} eq 'student')
	{
		my ($learner, $options) = @{ $pair->{learner} };
		my $json = '{' . join(', ', map { qq{"$_": $options->{$_}} } sort keys %$options) . '}';
		my $student = { %$pair, names => ["$pair->{table}_student"] };
		@make = ("SELECT privpred.distill('$pair->{table}_student', '$pair->{names}[0]', '$pair->{table}_public', '$learner', options => '$json')");
		@ask = (_said($student, $pair->{steps}[0], 'generate_series(1, 1) g'));
		$clean = "SELECT privpred.drop_model('$pair->{table}_student')";
	}
	else
	{
		@make = map { (@versions > 1 ? _fill($pair, $_) . ' ' : '') . $retrain } @versions;
		@ask = map { _said($pair, $_, 'generate_series(1, 1) g') } @{ $pair->{steps} };
	}
	my $each = _each($pair, $n);
	my $script = _fill($pair, $versions[0]) . "\n";
	$script .= join('', map { "DO \$\$ BEGIN PERFORM privpred.retrain('$_'); END \$\$;\n" } @{ $pair->{names} });
	$script .= sprintf "CALL blind_runs(%d, '%s', %d, ARRAY[%s], ARRAY[%s], %s);\n", $n, $role, $each, _quoted(@make), _quoted(@ask), _quoted($clean);
	return $script . "SELECT 'said ' || string_agg(said, ' ' ORDER BY i) FROM blind_said;\n";
}

# draw(sql, pair, side, n): a hash of said, what n askers are told each; units, delta: what the ledger has booked for all of them; order
my $asked = 0;

sub draw
{
	my ($sql, $pair, $side, $n) = @_;
	my $role = "${PREFIX}_asker_" . ++$asked;
	my $account = $pair->{family}{account};
	my $roles = int(($n + _each($pair, $n) - 1) / _each($pair, $n));
	my $answers = $pair->{family}{drawn} eq 'answer';

	_create($sql, $pair) unless $pair->{table};
	my $said = $sql->("CALL blind_roles('$role', $roles, '$pair->{table}', '$account');\n"
		  . ($answers ? _draw_answers($pair, $side, $n, $role) : _draw_runs($pair, $side, $n, $role)) . "SELECT 'booked ' || blind_booked('$role');\n");
	my @versions = map { [ split ' ', $_ ] } $said =~ /^said (.*)$/mg;
	my ($units, $delta, $order, $largest, $agree) = $said =~ /^booked (\S+) (\S+) (\S+) (\S+) (\d)$/m or croak "nothing booked: $said";
	croak "$pair->{table}: not $n answers" if grep { @$_ != $n } @versions;
	croak "$pair->{table}: roles have accounts of several orders" if $order ne $largest;
	my @told = @{ $versions[0] };
	for my $other (@versions[ 1 .. $#versions ]) { $told[$_] .= $other->[$_] for 0 .. $#told }
	return { n => $n, said => \@told, units => $units, delta => $delta, order => $order eq 'Infinity' ? undef : $order, agree => $agree };
}

# Mechanisms that nobody can pay for: those of them that answer a role with a budget all the same.
sub refused_unpaid
{
	my ($sql) = @_;
	my @answered;
	foreach my $family (grep { $_->{unpaid} } families())
	{
		my $pair = random_pair($family, 'one');
		my $role = "${PREFIX}_asker_" . ++$asked;
		_create($sql, $pair);
		my $refused = $sql->("CALL blind_roles('$role', 1, '$pair->{table}', 'wide');\n" . sprintf q{SELECT blind_refused('%s_1', '%s', 'SELECT private_predict(''%s'', ARRAY[0.5])')}, $role, $pair->{table}, $pair->{names}[0]);
		push @answered, $family->{name} if $refused ne "t\n";
		drop_pair($sql, $pair);
	}
	return @answered;
}

# ---------- events ----------

# Scores are told by where they lie among those of the first half; answers by themselves.  Of several scores, each counts as far as
# it points from one table's mean to the other's, in parts of its spread, and not without limit.
sub _tokens
{
	my ($from, $to) = @_;
	my $number = qr/-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/i;
	my %seen = map { $_ => 1 } @{ $from->{said} }, @{ $to->{said} };
	return sub { $_[0] }
	  if keys %seen <= $BINS || grep { !/^(?:$number,)+$/ } keys %seen;

	my (@sums, @squares);
	foreach my $side (0, 1)
	{
		foreach my $said (@{ ($from, $to)[$side]{said} })
		{
			my @scores = split /,/, $said;
			$sums[$_][$side] += $scores[$_] for 0 .. $#scores;
			$squares[$_] += $scores[$_]**2 for 0 .. $#scores;
		}
	}
	my $n = $from->{n};
	my @middle = map { ($_->[0] + $_->[1]) / (2 * $n) } @sums;
	my @spread = map { sqrt(max(1e-30, $squares[$_] / (2 * $n) - $middle[$_]**2)) } 0 .. $#sums;
	my @points = map { $_->[0] > $_->[1] ? 1 : -1 } @sums;
	my $alone = @sums == 1;
	my $project = sub {
		my @scores = split /,/, $_[0];
		return $scores[0] if $alone;
		return sum0(map { $points[$_] * max(-1.5, min(1.5, ($scores[$_] - $middle[$_]) / $spread[$_])) } 0 .. $#scores);
	};
	my @sorted = sort { $a <=> $b } map { $project->($_) } @{ $from->{said} }, @{ $to->{said} };
	# fine at the ends, where what one table rarely says is
	my @cuts = map { $sorted[ int($_ * $#sorted) ] } (0.005, 0.01, 0.02, map({ $_ / $BINS } 1 .. $BINS - 1), 0.98, 0.99, 0.995);
	return sub {
		my $value = $project->($_[0]);
		my ($low, $high) = (0, scalar @cuts);
		while ($low < $high) { my $middle = int(($low + $high) / 2); if ($cuts[$middle] < $value) { $low = $middle + 1 } else { $high = $middle } }
		return $low;
	};
}

sub _count { my ($token, $draw) = @_; my %counts; $counts{ $token->($_) }++ foreach @{ $draw->{said} }; return \%counts }

# What telling p from q, or less, costs at least: logarithm of their ratio, or Rényi divergence at the account's order.
sub coin_loss
{
	my ($p, $q, $delta, $order) = @_;
	$p -= $delta;
	$q = min(1, $q / (1 - $delta)) if defined $order;
	return 0 if $p <= $q || $p <= 0;
	return 1e9 if $q <= 0;
	return log($p / $q) unless defined $order;
	my $rest = $p < 1 ? (1 - $p)**$order * (1 - $q)**(1 - $order) : 0;
	return log($p**$order * $q**(1 - $order) + $rest) / ($order - 1);
}

# For each draw, what was booked: epsilon, or divergence; delta.
sub charge_of
{
	my ($draw) = @_;
	return { loss => $draw->{units} * 1e-12 / $draw->{n}, delta => $draw->{delta} / $draw->{n}, order => $draw->{order} };
}

# The loss that counts prove, but for probability alpha, in parts of what was booked.
sub ratio
{
	my ($charge, $k, $l, $n, $alpha) = @_;
	my $loss = coin_loss(clopper_pearson_lower($k, $n, $alpha / 2), clopper_pearson_upper($l, $n, $alpha / 2), $charge->{delta}, $charge->{order});
	return $charge->{loss} > 0 ? $loss / $charge->{loss} : $loss > 0 ? 1e9 : 0;
}

# choose_event(from, to, alpha): the set of what may be said, and the side on which it is likelier, that would prove most if the next half were as this one.
sub choose_event
{
	my ($from, $to, $alpha) = @_;
	my $token = _tokens($from, $to);
	my @counts = map { _count($token, $_) } $from, $to;
	my %all = (%{ $counts[0] }, %{ $counts[1] });
	my %best = (ratio => -1);

	foreach my $side (0, 1)
	{
		my ($p, $q) = @counts[ $side, 1 - $side ];
		my %likelier = map { $_ => (($p->{$_} // 0) + 0.5) / (($q->{$_} // 0) + 0.5) } keys %all;
		my ($k, $l, @event) = (0, 0);
		my $charge = charge_of($side ? $to : $from);
		my @order = sort { $likelier{$b} <=> $likelier{$a} || $a cmp $b } keys %all;
		foreach my $word (@order[ 0 .. min($#order, 200) ])
		{
			push @event, $word;
			$k += $p->{$word} // 0;
			$l += $q->{$word} // 0;
			my $ratio = ratio($charge, $k, $l, $from->{n}, $alpha);
			%best = (ratio => $ratio, side => $side, event => { map { $_ => 1 } @event }, token => $token, k => $k, l => $l) if $ratio > $best{ratio};
		}
	}
	return \%best;
}

# How often the event happened: on the side where it is likelier, and on the other.
sub _happened
{
	my ($event, @draws) = @_;
	my @k = map { my $draw = $_; scalar grep { $event->{event}{ $event->{token}->($_) } } @{ $draw->{said} } } @draws;
	return @k[ $event->{side}, 1 - $event->{side} ];
}

# ---------- one case ----------

# What is wrong with what was booked, whatever was said.
sub _booked_wrongly
{
	my (@draws) = @_;
	return 'entries of the ledger are not what the accounts have spent' if grep { !$_->{agree} } @draws;
	my %booked = map { join(' ', $_->{units} / $_->{n}, $_->{delta} / $_->{n}) => 1 } @draws;
	return 'what was booked depends on the rows' if keys %booked > 1;
	return;
}

# run_case(sql, case, options): pairs are searched with few draws each, the best few with more, and the worst is drawn anew, in two
# halves: one chooses the event, the other is counted.  Options: pairs, search, refine (how many times as many), draws (of each table, for each half), alpha; or seconds, of which
# the search takes about a third.  A hash of ratio, loss, charge, counts and words.
sub run_case
{
	my ($sql, $case, %o) = @_;
	my $clock = $o{clock} // sub { time };
	my $begun = $clock->();
	my @pairs = map { random_pair($case->{family}, $case->{scenario}) } 1 .. $o{pairs};
	my $drawn = 0;
	my $look = sub {
		my ($pair, $n) = @_;
		my @draws = map { draw($sql, $pair, $_, $n) } 'a', 'b';
		$drawn += 2 * $n;
		$pair->{score} = choose_event(@draws, 0.1)->{ratio};
	};

	foreach my $i (0 .. $#pairs)
	{
		last if $o{seconds} && $i > 2 && $clock->() - $begun > $o{seconds} / 5;
		$look->($pairs[$i], $o{search});
	}
	my @ranked = sort { $b->{score} <=> $a->{score} } grep { defined $_->{score} } @pairs;
	foreach my $i (0 .. min(2, $#ranked))
	{
		my $pair = $ranked[$i];
		last if $o{seconds} && $i > 0 && $clock->() - $begun > $o{seconds} / 3;
		$look->($pair, ($o{refine} // 4) * $o{search});
	}
	my ($worst) = sort { $b->{score} <=> $a->{score} } @ranked[ 0 .. min(2, $#ranked) ];
	my $n = $o{draws};
	if ($o{seconds})
	{
		my $spent = max(0.01, $clock->() - $begun);
		$n = max($o{search}, min($o{most} // 50_000, int($drawn / $spent * max($o{seconds} - $spent, $o{seconds} / 3) / 4)));
	}
	my @first = map { draw($sql, $worst, $_, $n) } 'a', 'b';
	my @second = map { draw($sql, $worst, $_, $n) } 'a', 'b';
	my $event = choose_event(@first, $o{alpha});
	my ($k, $l) = _happened($event, @second);
	my $charge = charge_of($second[ $event->{side} ]);
	my $wrong = _booked_wrongly(@first, @second);
	my $ratio = ratio($charge, $k, $l, $n, $o{alpha});
	drop_pair($sql, $_) foreach @pairs;
	return {
		case => $case, pair => $worst, n => $n, k => $k, l => $l, charge => $charge, ratio => $ratio, wrong => $wrong, pairs => scalar @ranked,
		ok => !defined $wrong && $ratio <= 1, seconds => $clock->() - $begun
	};
}

# ---------- many canaries in one training ----------

# guesses_bound(canaries, guesses, right, delta, alpha): the least epsilon at which so many of the guesses may be right, but for probability
# alpha (Steinke, Nasr, Jagielski: Privacy auditing with one training run, 2023, theorem 5.2).  At (epsilon, delta) their number is, but for
# 2 m delta max_i Pr[v - i <= W < v] / i, at most as large as W, binomial with a chance of 1/(1 + exp(-epsilon)).
# Trainings on canaries of their own count as one: a canary is in one of them.
sub guesses_bound
{
	my ($m, $r, $v, $delta, $alpha) = @_;
	my $chance = sub {
		my ($epsilon) = @_;
		my $p = 1 / (1 + exp(-$epsilon));
		my $tail = binomial_upper_tail($v, $r, $p);
		my $most = max(0, map { (binomial_upper_tail($v - $_, $r, $p) - $tail) / $_ } 1 .. $v);
		return $tail + 2 * $m * $delta * $most;
	};
	my ($low, $high) = (0, 30);
	return 0 if $v == 0 || $chance->(0) > $alpha;
	for (1 .. 40)
	{
		my $middle = ($low + $high) / 2;
		if ($chance->($middle) <= $alpha) { $low = $middle }
		else                              { $high = $middle }
	}
	return $low;
}

# run_canaries(sql, trainings, canaries, epsilon, delta, alpha): which canaries to guess, those of the surest scores, and which label a score
# stands for, is learnt from the first half of the trainings; the others are counted.
sub run_canaries
{
	my ($sql, $trainings, $canaries, $epsilon, $delta, $alpha) = @_;
	my ($table, $role) = ("${PREFIX}_canaries", "${PREFIX}_canary_asker");
	my $levels = join ', ', map { qq{"c$_"} } 1 .. $canaries;
	my $n = int($trainings / 2);

	my $said = $sql->(qq{
CREATE TABLE $table (id int PRIMARY KEY, w text NOT NULL, y text NOT NULL);
SELECT privpred.protect('$table', declared_units => $canaries);
DO \$\$ BEGIN PERFORM privpred.create_model('$table', '$table', label => 'y', classes => '{a,b}', mechanism => 'gradient', features => '{"w": {"levels": [$levels]}}',
	epsilon => $epsilon, options => '{"delta": $delta, "steps": 1, "clip": 0.2}'); END \$\$;
CALL blind_canaries(2 * $n, '$role', '$table', '$table', $canaries, $epsilon, $delta);
SELECT 'said ' || training || ' ' || label || ' ' || score FROM blind_canary;
SELECT 'booked ' || max(epsilon_spent) || ' ' || max(delta_spent) || ' ' || count(*) FROM privpred.budgets WHERE role_name LIKE '$role\\_%';
});
	my ($booked, $booked_delta, $roles) = $said =~ /^booked (\S+) (\S+) (\d+)$/m or croak "nothing booked: $said";
	my (@halves, %of_training);
	while ($said =~ /^said (\d+) ([ab]) (\S+)$/mg)
	{
		my $score = max(1e-15, min(1 - 1e-15, $3));
		push @{ $of_training{$1} }, [ $2 eq 'b' ? 1 : 0, log($score / (1 - $score)) ];
	}
	# what a training says of all of them alike, its intercept, tells nothing of one
	foreach my $training (keys %of_training)
	{
		my @own = @{ $of_training{$training} };
		my $mean = sum0(map { $_->[1] } @own) / @own;
		push @{ $halves[ $training > $n ] }, map { [ $_->[0], $_->[1] - $mean ] } @own;
	}
	croak 'not all canaries are there' if $roles != 2 * $n || grep { @$_ != $n * $canaries } @halves;
	my $right = sub { my ($turn, @guessed) = @_; return scalar grep { ($_->[1] > 0) == ($turn ? !$_->[0] : $_->[0]) } @guessed };
	my @sure = sort { abs($b->[1]) <=> abs($a->[1]) } @{ $halves[0] };
	my ($limit, $turn, $best) = (0, 0, -1);
	foreach my $share (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1)
	{
		my @guessed = @sure[ 0 .. max(1, int($share * @sure)) - 1 ];
		foreach my $turned (0, 1)
		{
			my $bound = guesses_bound(scalar @sure, scalar @guessed, $right->($turned, @guessed), $booked_delta, $alpha);
			($limit, $turn, $best) = (abs($guessed[-1][1]), $turned, $bound) if $bound > $best;
		}
	}
	my @guessed = grep { abs($_->[1]) >= $limit } @{ $halves[1] };
	my $hits = $right->($turn, @guessed);
	my $bound = @guessed ? guesses_bound($n * $canaries, scalar @guessed, $hits, $booked_delta, $alpha) : 0;
	$sql->("SELECT privpred.drop_model('$table')");
	return { n => $n, guesses => scalar @guessed, right => $hits, charge => { loss => $booked, delta => $booked_delta }, ratio => $bound / $booked, ok => $bound <= $booked };
}

sub booked_words
{
	my ($charge) = @_;
	my $loss = sprintf '%.4g', $charge->{loss};
	return ($charge->{order} ? sprintf('divergence %s at order %.4g', $loss, $charge->{order}) : "epsilon $loss") . ($charge->{delta} > 0 ? sprintf(', delta %.3g', $charge->{delta}) : '');
}

1;
