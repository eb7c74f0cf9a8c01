# The blind audit of docs/blind.md on a server that is up.  usage: blind.pl DIRECTORY-FOR-RESULTS
#
#	SEED=1			of the pairs; others are tried by another seed
#	MINUTES=10		about how long
#	JOBS=2			processes
#	CASES="a; b"	only cases whose names begin like this
use strict;
use warnings;
use Chart;
use List::Util qw(max sum0);
use Privpred::Blind qw(session prepare cases uncovered refused_unpaid run_case booked_words run_canaries);
use Storable qw(store retrieve);
use Time::HiRes qw(time);

my ($results) = @ARGV;
my $seed = $ENV{SEED} // int(rand(1e9));
my $jobs = $ENV{JOBS} // 2;
my $seconds = 60 * ($ENV{MINUTES} // 10);
my $ALARM = 1e-6;
my @psql = ('psql', '-d', $ENV{PGDATABASE} // 'postgres');

# ---------- what there is to do ----------

my @cases = (cases(), { name => 'gradient, canaries: one', canaries => 1, family => { name => 'gradient, canaries', drawn => 'training' }, scenario => 'one' });
$cases[$_]{number} = $_ for 0 .. $#cases;
my $alpha = $ALARM / @cases;
if (defined $ENV{CASES})
{
	my @wanted = map { s/^\s+|\s+$//gr } split /;/, $ENV{CASES};
	@cases = grep { my $name = $_->{name}; grep { index($name, $_) == 0 } @wanted } @cases;
	die "no such case: $ENV{CASES}\n" unless @cases;
}
# Where each draw is a training there are fewer of them.
$_->{weight} = $_->{family}{drawn} eq 'answer' ? 1 : $_->{scenario} eq 'one' ? 10 : 5 foreach @cases;
my $weights = sum0(map { $_->{weight} } @cases);
# The longest first, each to the process that has least to do.
my @load = (0) x $jobs;
foreach my $case (sort { $b->{weight} <=> $a->{weight} } @cases)
{
	my ($job) = sort { $load[$a] <=> $load[$b] } 0 .. $jobs - 1;
	$case->{job} = $job;
	$load[$job] += $case->{weight};
}

sub look
{
	my ($sql, $case) = @_;
	my $share = $seconds * $jobs * $case->{weight} / $weights;
	my $answers = $case->{family}{drawn} eq 'answer';

	# pairs depend on the seed and the case alone
	srand($seed + $case->{number});
	if ($case->{canaries})
	{
		my $begun = time;
		run_canaries($sql, 2, 60, 20, 1e-10, 0.1);
		my $trainings = max(6, 2 * int($share / (time - $begun)));
		local $Privpred::Blind::PREFIX = "${Privpred::Blind::PREFIX}_long";
		return { %{ run_canaries($sql, $trainings > 200 ? 200 : $trainings, 60, 20, 1e-10, $alpha) }, seconds => time - $begun, pairs => 1 };
	}
	return run_case($sql, $case, pairs => $answers ? 16 : 10, search => $answers ? 250 : 12, seconds => $share, alpha => $alpha, clock => sub { time });
}

# A process takes its cases, and leaves what it finds in files.
sub work
{
	my ($job) = @_;
	my $sql = session(@psql);
	$Privpred::Blind::PREFIX = "job$job";
	foreach my $i (grep { $cases[$_]{job} == $job } 0 .. $#cases)
	{
		my $found = eval { look($sql, $cases[$i]) };
		$found = { ok => 0, wrong => "it ended in an error: $@", ratio => 0, charge => { loss => 0, delta => 0 } } unless $found;
		my $pair = $found->{pair};
		my %plain = map { $_ => $found->{$_} } qw(n k l charge ratio wrong pairs ok seconds guesses right);
		$plain{words} = $pair ? "$pair->{change}; " . join(' and ', map { s/^.*?mechanism => //r } @{ $pair->{models} }) : '60 canaries, labels by a coin';
		$plain{name} = $cases[$i]{name};
		store \%plain, "$results/case.$i";
		printf "%-32s %5.2f of what was booked (%s), %s%s\n", $cases[$i]{name}, $plain{ratio}, booked_words($plain{charge}),
		  defined $plain{guesses} ? "$plain{right} of $plain{guesses} guesses in $plain{n} trainings" : sprintf('%d and %d of %d', map { $_ // 0 } @plain{qw(k l n)}),
		  $plain{ok} ? '' : '  VIOLATED' . ($plain{wrong} ? ": $plain{wrong}" : '');
		$sql = session(@psql) if ($plain{wrong} // '') =~ /session ended/;
	}
	return;
}

# ---------- the report ----------

sub report
{
	my (@found) = @_;
	my @scenarios = ('one', 'several', 'versions', 'two models');
	my (%cell, %best, @bars);
	foreach my $i (0 .. $#cases)
	{
		my $name = $cases[$i]{family}{name};
		$cell{$name}{ $cases[$i]{scenario} } = $found[$i];
		$best{$name} = $i if !defined $best{$name} || $found[$i]{ratio} > $found[ $best{$name} ]{ratio};
	}
	my $table = "| mechanism | one question | several, adaptive | two versions | two models | booked for one | draws of each table |\n|---|---|---|---|---|---|---|\n";
	foreach my $name (sort keys %cell)
	{
		my ($any) = grep { $_ } map { $cell{$name}{$_} } @scenarios;
		my @ratios = map { my $of = $cell{$name}{$_}; $of ? sprintf('%.2f', $of->{ratio}) . ($of->{ok} ? '' : ' **violated**') : '–' } @scenarios;
		$table .= sprintf "| `%s` | %s | %s | %s |\n", $name, join(' | ', @ratios), booked_words($any->{charge}), defined $any->{guesses} ? "$any->{n} trainings, $any->{guesses} guesses" : $any->{n} // 0;
		push @bars, [ "$name: $cases[$best{$name}]{scenario}", $found[ $best{$name} ]{ratio}, 1 ];
	}
	open my $out, '>', "$results/table.md" or die "table.md: $!\n";
	print $out $table;
	close $out or die "table.md: $!\n";
	Chart::bars("$results/blind.svg", 'What neighbours show, in parts of what the ledger booked', @bars);
	return $table;
}

my $begun = time;
$| = 1;
print "seed $seed\n";
my $sql = session(@psql);
prepare($sql);
my @failures = map { "no neighbours are known for mechanism $_" } uncovered($sql);
push @failures, map { "$_ was paid for, which is not private" } refused_unpaid($sql);
my @children;
foreach my $job (0 .. $jobs - 1)
{
	my $child = fork() // die "fork: $!\n";
	if (!$child) { work($job); exit 0 }
	push @children, $child;
}
local $SIG{TERM} = sub { kill TERM => @children; exit 143 };
foreach my $child (@children)
{
	waitpid $child, 0;
	push @failures, 'a process ended early' if $?;
}
my @found = map { -e "$results/case.$_" ? retrieve("$results/case.$_") : { ok => 0, wrong => 'not looked at', ratio => 0, charge => { loss => 0, delta => 0 } } } 0 .. $#cases;
push @failures, map { "$cases[$_]{name}: " . ($found[$_]{wrong} // sprintf '%.2f of what was booked: %s', $found[$_]{ratio}, $found[$_]{words}) } grep { !$found[$_]{ok} } 0 .. $#cases;
push @failures, 'the ledger does not hold' if $sql->('SELECT ok FROM privpred.verify_ledger()') ne "t\n";
print "\n", report(@found);
printf "\n%d cases, %d pairs, %d seconds, seed %d; false alarm below %g\n", scalar @cases, sum0(map { $_->{pairs} // 0 } @found), time - $begun, $seed, $ALARM;
print map { "FAILED: $_\n" } @failures;
exit(@failures ? 1 : 0);
