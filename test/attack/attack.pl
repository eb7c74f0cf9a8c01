# The attack of docs/attack.md on a server that is up.  usage: attack.pl DIRECTORY-FOR-RESULTS
use strict;
use warnings;
use Chart;
use Privpred::Stats qw($RISK);
use Privpred::Attack qw(synthetic_people set_up trainings attack epsilon_shown size_attack auc_bound tpr_bound);

my ($results) = @ARGV;
my ($shadow, $each) = ($ENV{SHADOW} // 60, $ENV{EACH} // 150);
my $delta = 1e-6;

my $boost = ($ENV{XGBOOST} // '') eq 'no'
  ? q{learner => 'tree', options => '{"depth": 8, "min_rows": 1}'}
  : q{learner => 'boost', options => '{"rounds": 50, "depth": 8}'};
my $linear = q{learner => 'linear', options => '{"ridge": 0.01}'};
my @models = (
	{ name => 'plain', says => 'trees, not private', target => 'mislabelled', epsilon => 20, declaration => "$boost, teachers => 1", leaks => 1 },
	{ name => 'averaged', says => 'trees of 25 teachers, not private', target => 'mislabelled', epsilon => 20, declaration => "$boost, teachers => 25" },
	{ name => 'one', says => 'the trees of the first line, epsilon 1', target => 'mislabelled', epsilon => 1, declaration => "$boost, teachers => 1", private => 1 },
	{ name => 'vote', says => 'vote of 25 teachers, epsilon 1', target => 'mislabelled', epsilon => 1, declaration => "$boost, teachers => 25", private => 1 },
	{ name => 'linear', says => 'linear, not private', target => 'tagged', epsilon => 20, declaration => "$linear, teachers => 1", leaks => 1 },
	{ name => 'gradient', says => 'gradient, epsilon 1, delta 10<sup>-6</sup>', target => 'tagged', epsilon => 1, delta => $delta,
		declaration => qq{mechanism => 'gradient', options => '{"delta": $delta}'}, private => 1 });

sub sql
{
	my ($statements) = @_;
	my $file = "$results/statements.sql";
	open my $out, '>', $file or die "$file: $!\n";
	print $out $statements;
	close $out or die "$file: $!\n";
	open my $in, '-|', 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $ENV{PGDATABASE} // 'postgres', '-f', $file or die "psql: $!\n";
	my $said = join '', <$in>;
	close $in or die "psql failed\n";
	return $said;
}

# The first people of Adult; every canary is one of those that follow, with the other label.
sub adult
{
	my ($directory, $people, $canaries, $clean) = @_;
	open my $in, '-|', 'gzip', '-dc', "$directory/adult_train.csv.gz" or die "gzip: $!\n";
	my (undef, @names) = split /,/, lc(<$in> =~ s/[\r\n"]//gr);
	my (@rows, %kinds);
	my @kinds = (('person') x $people, ('mislabelled') x $canaries, ('tagged') x $canaries, ('clean') x $clean);
	pop @names;
	@names = map { "f$_" } 1 .. @names;
	while (@rows < @kinds)
	{
		my $line = <$in> // die "Adult is too small\n";
		my (undef, @x) = split /,/, $line =~ s/[\r\n"]//gr;
		my $y = pop(@x) =~ /^(?:1|t|true|yes|>50k\.?)$/i ? 1 : 0;
		my $kind = $kinds[@rows];
		push @rows, { kind => $kind, x => \@x, y => $kind eq 'mislabelled' || $kind eq 'tagged' ? 1 - $y : $y };
	}
	my (@least, @most);
	for my $column (0 .. $#names)
	{
		my @sorted = sort { $a <=> $b } map { $_->{x}[$column] } @rows;
		push @least, $sorted[0];
		push @most, $sorted[-1] > $sorted[0] ? $sorted[-1] : $sorted[0] + 1;
	}
	return { names => \@names, least => \@least, most => \@most, rows => \@rows };
}

# ---------- the picture ----------

sub picture
{
	my (@found) = @_;
	my ($left, $top, $size, $least) = (70, 40, 420, 1e-3);
	my @colours = ('#c8553d', '#e0a458', '#1f6f8b', '#588157', '#6d597a', '#3d405b');
	my $x = sub { $left + $size * (1 + log(($_[0] > $least ? $_[0] : $least)) / -log($least)) };
	my $y = sub { $top - $size * log(($_[0] > $least ? $_[0] : $least)) / -log($least) };
	my @border = map { my $fpr = $least**(1 - $_ / 100); [ $fpr, tpr_bound($fpr, 1, $delta) ] } 0 .. 100;
	my $body = sprintf qq{<polygon points="%s" fill="#f6d5cd"/>\n}, join ' ', map { sprintf '%.1f,%.1f', $x->($_->[0]), $y->($_->[1]) } @border, [ $least, 1 ];

	$body .= Chart::label($x->(0.0015), $y->(0.08), 'forbidden at epsilon 1', 'font-size="12"');
	for my $power (0 .. 3)
	{
		my $value = 10**-$power;
		$body .= Chart::label($x->($value), $top + $size + 18, $value, 'text-anchor="middle"') . Chart::label($left - 8, $y->($value) + 4, $value, 'text-anchor="end"');
		$body .= sprintf qq{<path d="M%.1f %.1fV%.1fM%.1f %.1fH%.1f" stroke="#ddd" fill="none"/>\n}, $x->($value), $top, $top + $size, $left, $y->($value), $left + $size;
	}
	$body .= Chart::label($left + $size / 2, $top + $size + 38, 'wrongly accused of having been in', 'text-anchor="middle"');
	$body .= Chart::label(0, 0, 'found out', qq{text-anchor="middle" transform="translate(18 @{[ $top + $size / 2 ]}) rotate(-90)"});
	for my $i (0 .. $#found)
	{
		my $name = $found[$i]{model}{says} =~ s/<[^>]*>//gr;
		$name =~ s/10-6/1e-6/;
		my @line = map { my $p = $_; map { my $part = ($_ / 50)**4; [ map { $p->[0][$_] + $part * ($p->[1][$_] - $p->[0][$_]) } 0, 1 ] } 0 .. 50 }
		  map { [ @{ $found[$i]{roc} }[ $_ - 1, $_ ] ] } 1 .. $#{ $found[$i]{roc} };
		$body .= sprintf qq{<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>\n}, join(' ', map { sprintf '%.1f,%.1f', $x->($_->[0]), $y->($_->[1]) } @line), $colours[$i];
		$body .= Chart::label($left + $size + 20, $top + 20 + 22 * $i, $name, qq{fill="$colours[$i]"});
	}
	Chart::write_picture("$results/attack.svg", 830, $top + $size + 55, 'How many canaries are found out, for how many false accusations', $body);
	return;
}

# ---------- the run ----------

# A model that is found out so often is seen to leak, but for $RISK.
size_attack('models that are not private', $each, 0, 0.9, 0.1);

my $people = $ENV{DATA} ? adult($ENV{DATA}, 300, 10, 10) : synthetic_people(200, 10, 10);
my $begun = time;
set_up(\&sql, $people, \@models);
trainings(\&sql, $people, \@models, $shadow, $each);

my $private = grep { $_->{private} } @models;
my @found = map { { model => $_, %{ attack(\&sql, $people, $_, $shadow, $each) } } } @models;
my @failures;
my $table = "| model | AUC | allowed | found out at 1 % false alarms | allowed | advantage | allowed | accuracy | epsilon shown, at least |\n|---|---|---|---|---|---|---|---|---|\n";
for my $of (@found)
{
	my ($model, $epsilon) = ($of->{model}, $of->{model}{epsilon});
	my $shown = epsilon_shown($each, $of->{hits}, $of->{alarms}, $RISK / ($model->{private} ? $private : 1), $model->{delta});
	my @allowed = $model->{private}
	  ? map { sprintf '%.3f', $_ } auc_bound($epsilon, $model->{delta} // 0), tpr_bound(0.01, $epsilon, $model->{delta} // 0), tpr_bound(1 / (1 + exp $epsilon), $epsilon, $model->{delta} // 0) - 1 / (1 + exp $epsilon)
	  : ('–') x 3;
	$table .= sprintf "| %s | %.3f | %s | %.3f | %s | %.3f | %s | %.2f | %.2f |\n", $model->{says}, $of->{auc}, $allowed[0], $of->{tpr}, $allowed[1], $of->{advantage}, $allowed[2], $of->{accuracy}, $shown;
	push @failures, "$model->{says}: does not leak, so that nothing is shown" if $model->{leaks} && $shown <= 0;
	push @failures, sprintf '%s: shows epsilon %.2f, charged %g', $model->{says}, $shown, $epsilon if $model->{private} && $shown > $epsilon;
}
push @failures, 'the ledger does not hold' if sql('SELECT ok FROM privpred.verify_ledger()') ne "t\n";
print $table;
open my $out, '>', "$results/table.md" or die "table.md: $!\n";
print $out $table;
close $out or die "table.md: $!\n";
picture(@found);
printf "\n%d trainings of %d models, %d seconds\n", $shadow + 2 * $each, scalar @models, time - $begun;
print map { "FAILED: $_\n" } @failures;
exit(@failures ? 1 : 0);
