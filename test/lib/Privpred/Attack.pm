# A membership inference attack through the front door; docs/attack.md explains it.
#
# Each training is on the same people and a random half of the canaries, rows that are
# chosen to be remembered.  The attacker knows everybody's row, asks for labels
# alone, and wants to know which canaries were in.  From the first trainings (the shadow
# half) it learns how often each canary's own label is answered when the canary
# is in and when it is out; the others are attacked by the ratio of the two.
package Privpred::Attack;

use strict;
use warnings;
use Carp qw(croak);
use Exporter qw(import);
use List::Util qw(max min sum0);
use Privpred::Stats qw(clopper_pearson_lower clopper_pearson_upper least_count most_count enough_draws $RISK);

our @EXPORT_OK = qw(synthetic_people set_up trainings attack epsilon_shown size_attack auc_bound tpr_bound);

# ---------- people ----------

# Four numbers, the first of which decides the label, without noise.  Canaries for trees have the wrong
# label.  Canaries for linear models have a tag of their own, on which such
# a model can hang their label.
sub synthetic_people
{
	my ($people, $canaries, $clean) = @_;
	my @names = qw(a b c d);
	my @rows;

	# a sequence that fills the cube evenly, the same in every run
	my @step = map { my $g = 1.1673039782614187; my $v = $g**-$_; $v - int $v } 1 .. 4;
	my $number = 0;
	my $next = sub {
		my ($least) = @_;
		while (1)
		{
			$number++;
			my @x = map { my $v = 0.5 + $number * $_; $v - int $v } @step;
			my $margin = $x[0] - 0.5;
			return (\@x, $margin > 0 ? 1 : 0) if abs($margin) >= $least;
		}
	};
	for my $kind (('person') x $people, ('mislabelled') x $canaries, ('tagged') x $canaries, ('clean') x $clean)
	{
		my ($x, $y) = $next->($kind eq 'person' ? 0 : 0.15);
		my $is_canary = $kind eq 'mislabelled' || $kind eq 'tagged';
		push @rows, { kind => $kind, x => $x, y => $is_canary ? 1 - $y : $y };
	}
	return { names => \@names, least => [ (0) x 4 ], most => [ (1) x 4 ], rows => \@rows };
}

sub _tag { my ($row, $number) = @_; return $row->{kind} eq 'tagged' ? "t$number" : 'none' }

# ---------- tables, models, roles ----------

# set_up(sql, people, models): sql runs statements as a superuser.  A model is a hash of name,
# target (the kind of canary), epsilon, delta, and declaration, arguments of create_model.
sub set_up
{
	my ($sql, $people, $models) = @_;
	my @rows = @{ $people->{rows} };
	my @names = @{ $people->{names} };
	my $columns = join ', ', map { "$_ float8 NOT NULL" } @names;
	my @tags = map { '"' . _tag($rows[$_], $_) . '"' } grep { $rows[$_]{kind} eq 'tagged' } 0 .. $#rows;
	my $features = join ', ', (map { qq("$names[$_]": {"min": $people->{least}[$_], "max": $people->{most}[$_]}) } 0 .. $#names),
	  sprintf '"tag": {"levels": [%s]}', join ', ', '"none"', @tags;
	my $values = join ",\n", map {
		sprintf "(%d, '%s', %s, '%s', '%s')", $_, $rows[$_]{kind}, join(', ', @{ $rows[$_]{x} }), _tag($rows[$_], $_), $rows[$_]{y} ? 'yes' : 'no'
	} 0 .. $#rows;
	my $units = grep { $_->{kind} ne 'clean' } @rows;

	$sql->(qq{
CREATE EXTENSION privpred;
CREATE TABLE pool (id int PRIMARY KEY, kind text NOT NULL, $columns, tag text NOT NULL, y text NOT NULL);
CREATE TABLE people (id int PRIMARY KEY, $columns, tag text NOT NULL, y text NOT NULL);
INSERT INTO pool VALUES $values;
INSERT INTO people SELECT id, @{[ join ', ', @names ]}, tag, y FROM pool WHERE kind = 'person';
CREATE TABLE inside (training int, canary int);
CREATE TABLE answer (training int, model text, question int, answer text);
GRANT SELECT ON pool TO public;
GRANT INSERT ON answer TO public;
SELECT privpred.protect('people', declared_units => $units);
SET client_min_messages = error;
});
	for my $model (@$models)
	{
		$sql->(qq{
SET client_min_messages = error;
SELECT privpred.create_model('$model->{name}', 'people', label => 'y', classes => '{no,yes}', features => '{$features}',
	epsilon => $model->{epsilon}, $model->{declaration});
CREATE ROLE attacker_$model->{name};
SELECT privpred.grant_budget('attacker_$model->{name}', 'people', epsilon => } . ($model->{delta} ? '100, delta => 1e-6, per_answer => 0.1' : '1e6') . q{);
});
	}
	return;
}

# trainings(sql, people, models, shadow, each): shadow trainings with every canary in or out by a
# coin; then, "each" times with it in and "each" times with it out, the training of a target, which
# takes its turn, all others by a coin.  One session; every training is committed.
sub trainings
{
	my ($sql, $people, $models, $shadow, $each) = @_;
	my $names = join ', ', @{ $people->{names} };
	my $ask = join '', map { qq{
		PERFORM privpred.retrain('$_->{name}');
		COMMIT;
		SET ROLE attacker_$_->{name};
		INSERT INTO answer SELECT training, '$_->{name}', id, private_predict('$_->{name}', to_jsonb(pool) - '{id,kind,y}'::text[])
		  FROM pool WHERE kind IN ('$_->{target}', 'clean');
		COMMIT;
		RESET ROLE;} } @$models;

	$sql->(qq{
SET client_min_messages = error;
SET privpred.repeat_memory = 0;
SET privpred.max_answers_per_statement = -1;
DO \$\$
DECLARE
	shadow CONSTANT int := $shadow;
	turn int;
BEGIN
	FOR training IN 1 .. shadow + 2 * $each LOOP
		turn := (training - shadow - 1) / 2;
		DELETE FROM people USING pool WHERE people.id = pool.id AND pool.kind <> 'person';
		INSERT INTO people SELECT id, $names, tag, y FROM
			(SELECT *, row_number() OVER (PARTITION BY kind ORDER BY id) - 1 AS place, count(*) OVER (PARTITION BY kind) AS places
			   FROM pool WHERE kind IN ('mislabelled', 'tagged')) p
		 WHERE CASE WHEN training > shadow AND place = turn % places THEN (training - shadow) % 2 = 1 ELSE random() < 0.5 END;
		INSERT INTO inside SELECT training, people.id FROM people JOIN pool USING (id) WHERE kind <> 'person';
		$ask
	END LOOP;
END \$\$;
});
	return;
}

# ---------- the attack ----------

# attack(sql, people, model, shadow, each): what the answers say.  Of all canaries in the second half:
# roc, auc, tpr at 1 % false positives, advantage.  Of the target of each training alone, which is
# independent of all others: how often the event happened, with the target in and out.
sub attack
{
	my ($sql, $people, $model, $shadow, $each) = @_;
	my (%count, %place, @scored, @target, %clean);
	my @canaries = grep { $people->{rows}[$_]{kind} eq $model->{target} } 0 .. $#{ $people->{rows} };
	my @lines = split /\n/, $sql->(qq{
SELECT a.training, a.question, (i.canary IS NOT NULL)::int, (a.answer = p.y)::int, (p.kind = 'clean')::int
  FROM answer a JOIN pool p ON p.id = a.question LEFT JOIN inside i ON i.training = a.training AND i.canary = a.question
 WHERE a.model = '$model->{name}' ORDER BY 1, 2});
	my $wanted = ($shadow + 2 * $each) * (@canaries + grep { $_->{kind} eq 'clean' } @{ $people->{rows} });
	croak "$model->{name}: answers are missing" unless @lines == $wanted;

	@place{@canaries} = 0 .. $#canaries;
	for (@lines)
	{
		my ($training, $question, $in, $own, $is_clean) = split /\|/;
		if ($is_clean) { $clean{$own}++; next }
		if ($training <= $shadow) { $count{$question}[$in][$own]++; next }

		# the likelihood ratio of the answer, by what the shadow trainings said
		my $rate = sub {
			my ($inside) = @_;
			my @n = map { ($count{$question}[$inside][$_] // 0) + 0.5 } 0, 1;
			return $n[$own] / ($n[0] + $n[1]);
		};
		my $score = log($rate->(1) / $rate->(0));
		push @scored, [ $score, $in ];
		push @target, [ $score, $in ] if $place{$question} == int(($training - $shadow - 1) / 2) % @canaries;
	}
	my @sides = map { my $in = $_; scalar grep { $_->[1] == $in } @target } 0, 1;
	croak "$model->{name}: the targets are not in $each times and out $each times" if grep { $_ != $each } @sides;

	# The event is fixed before: the answer is likelier if the canary is in.
	my %result = (n => $each, hits => scalar(grep { $_->[1] && $_->[0] > 0 } @target), alarms => scalar(grep { !$_->[1] && $_->[0] > 0 } @target));
	$result{accuracy} = ($clean{1} // 0) / max(1, sum0(values %clean));
	_roc(\%result, @scored);
	return \%result;
}

sub _roc
{
	my ($result, @scored) = @_;
	my @total = map { my $in = $_; scalar grep { $_->[1] == $in } @scored } 0, 1;
	my @so_far = (0, 0);
	my @points = ([ 0, 0 ]);
	my %at;

	push @{ $at{ $_->[0] } }, $_->[1] for @scored;
	for my $score (sort { $b <=> $a } keys %at)
	{
		$so_far[$_]++ for @{ $at{$score} };
		push @points, [ $so_far[0] / $total[0], $so_far[1] / $total[1] ];
	}
	$result->{roc} = \@points;
	$result->{auc} = sum0(map { ($points[$_][0] - $points[ $_ - 1 ][0]) * ($points[$_][1] + $points[ $_ - 1 ][1]) / 2 } 1 .. $#points);
	$result->{tpr} = _at(0.01, @points);
	$result->{advantage} = max(map { $_->[1] - $_->[0] } @points);
	return;
}

# Between two points of the curve, the attacker tosses a coin.
sub _at
{
	my ($fpr, @points) = @_;
	my ($next) = grep { $points[$_][0] > $fpr } 1 .. $#points;
	my ($from, $to) = @points[ $next - 1, $next ];

	return $from->[1] + ($to->[1] - $from->[1]) * ($fpr - $from->[0]) / ($to->[0] - $from->[0]);
}

# The epsilon that the targets show, but for a false alarm of alpha: trainings are independent, and
# the event was fixed before.
sub epsilon_shown
{
	my ($n, $hits, $alarms, $alpha, $delta) = @_;
	my $likely = clopper_pearson_lower($hits, $n, $alpha / 2) - ($delta // 0);
	my $unlikely = clopper_pearson_upper($alarms, $n, $alpha / 2);

	return $likely > $unlikely ? log($likely / $unlikely) : 0;
}

# Dies unless n trainings of each side show more than epsilon, but for $RISK, of a model that is caught so often.
sub size_attack
{
	my ($what, $n, $epsilon, $hits, $alarms) = @_;
	enough_draws($what, $n, sub {
		my ($draws) = @_;
		return epsilon_shown($draws, least_count($draws, $hits, $RISK / 2), most_count($draws, $alarms, $RISK / 2), $RISK) > $epsilon;
	});
	return;
}

# ---------- what (epsilon, delta) allows ----------

sub tpr_bound
{
	my ($fpr, $epsilon, $delta) = @_;
	return min(1, exp($epsilon) * $fpr + $delta, 1 - exp(-$epsilon) * (1 - $delta - $fpr));
}

sub auc_bound
{
	my ($epsilon, $delta) = @_;
	my $steps = 10_000;
	return sum0(map { tpr_bound(($_ - 0.5) / $steps, $epsilon, $delta) } 1 .. $steps) / $steps;
}

1;
