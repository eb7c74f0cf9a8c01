# Neighbouring tables, one salt: no input of any draw may differ by more than its charge assumes.
# docs/audit.md says what this is for; src/draw/record.h what is recorded.
#
# usage: inputs.pl RECORD-FILE TRIALS [SEED [NUMBER OF TESTS BEFORE]]	(a server of a RECORD_INPUTS build in PGHOST)
use strict;
use warnings;
use FindBin;

my ($record, $wanted, $seed, $number) = @ARGV;
$number //= 0;
srand($seed // 1);
$ENV{PGOPTIONS} = '-c privpred.repeat_memory=0 -c client_min_messages=error';
my @psql = qw(psql -XAtq -v ON_ERROR_STOP=1 -d postgres);

sub psql
{
	my ($script) = @_;
	my $file = "$record.sql";
	open(my $out, '>', $file) or die "$file: $!";
	print $out $script;
	close $out;
	my $said = `@psql -f '$file' 2>&1`;
	die "psql: $said" if $?;
	return $said;
}

sub one_of { return $_[ int(rand(@_)) ] }

# ---------- rows ----------

my @extreme = qw(1e308 -1e308 4.9e-324 -0 NaN Infinity -Infinity 10 0 5);

sub literal { my ($v) = @_; return defined $v ? "'$v'" : 'NULL' }

# Columns unit, x, w, s, y, n, k.
sub row
{
	my ($unit) = @_;
	my $x = rand() < 0.25 ? one_of(@extreme, undef) : sprintf('%.4f', rand(10));
	my $high = rand() < 0.1 || (defined $x && $x =~ /^\d/ && $x > 5);
	return join(', ', $unit, map { literal($_) } $x, one_of('A', 'B', 'C', 'unknown', undef), one_of('t', 'f', undef),
		rand() < 0.1 ? one_of('else', undef) : $high ? 'yes' : 'no', rand() < 0.2 ? one_of(@extreme, undef) : sprintf('%.3f', rand(10)),
		rand() < 0.1 ? undef : 'k' . int(rand(4)));
}

# Also more rows than are declared for a unit.
sub unit { my ($id) = @_; return [ map { row($id) } 1 .. one_of(1, 1, 2, 3, 8, 30) ] }

# One row at a corner, which is also a question, with its labels at one end or the other: what moves a score most.
sub corner { my ($id, $high) = @_; return [ join(', ', $id, map { literal($_) } 10, 'C', 'f', $high ? ('yes', 10, 'k0') : ('no', 0, 'k1')) ] }

# A unit changed, added or removed.
sub pair
{
	my ($number) = @_;
	if ($number % 6 == 3)
	{
		my %a = map { $_ => unit($_) } 2 .. one_of(3, 20);
		return ('changed', { %a, 1 => corner(1, 1) }, { %a, 1 => corner(1, 0) });
	}
	my $how = (qw(changed added removed))[ $number % 3 ];
	my $units = $how eq 'changed' ? one_of(20, 40) : $number % 5 == 4 ? 1 : one_of(3, 20, 40);
	my %a = map { $_ => unit($_) } 1 .. $units;
	my %b = %a;
	my $id = $how eq 'added' ? $units + 1 + int(rand(9)) : 1 + int(rand($units));
	delete $b{$id};
	$b{$id} = unit($id) if $how ne 'removed';
	return ($how, \%a, \%b);
}

sub insert
{
	my ($side, $units) = @_;
	my @rows = map { @{ $units->{$_} } } sort { $a <=> $b } keys %$units;
	return @rows ? "INSERT INTO inputs.base VALUES " . join(",\n", map { "('$side', $_)" } @rows) . ";\n" : '';
}

# ---------- how a table is stored and read ----------

my %ways = (
	plain => '',
	states => 'SET privpred.train_by_states = on;',
	workers => 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 2;',
	little_memory => "SET work_mem = '64kB'; SET maintenance_work_mem = '16MB'; SET hash_mem_multiplier = 1;",
	sorted => 'SET enable_hashagg = off; SET enable_hashjoin = off;',
	hashed => 'SET enable_sort = off; SET enable_mergejoin = off; SET enable_indexscan = off;',
	no_scan => 'SET enable_seqscan = off; SET jit = off;',
	vacuum_full => '',);

# What mark() separates is compared.
sub mark { my ($name) = @_; return "\\! echo 'mark $name' >>'$record'\n" }

my @models;

sub side
{
	my ($side, $way, $models) = @_;
	my $script = "CALL inputs.load('$side');\n" . ($way eq 'vacuum_full' ? "VACUUM FULL inputs.loaded;\nVACUUM FULL inputs.of_labels;\n" : "ANALYZE inputs.loaded;\n");
	$script .= "$ways{$way}\n";
	for my $model (@$models)
	{
		$script .= mark("$side $model train") . "SELECT FROM privpred.retrain('$model');\n";
		$script .= mark("$side $model question $_") . "SELECT FROM inputs.ask('$model', (SELECT question[$_] FROM inputs.model WHERE name = '$model'));\n" for 1, 2;
		$script .= mark("$side $model accuracy") . "SELECT FROM privpred.release_accuracy('$model', 0.001);\n" if $model =~ /^held/;
	}
	# coins from the start: which row of a unit is described is drawn
	$script .= "\\c\n$ways{$way}\n" . mark("$side describe") . "SELECT FROM privpred.describe('inputs.described', '{x,w,s,n}', epsilon => 0.01);\n\\c\n";
	return $script;
}

# ---------- comparing ----------

sub sections
{
	my (%of, $name);
	open(my $in, '<', $record) or die "$record: $!";
	while (<$in>)
	{
		chomp;
		if (/^mark (.*)/) { $name = $1; $of{$name} = []; next }
		my ($draw, $norm, $bound, @inputs) = split ' ';
		push @{ $of{$name} }, { draw => $draw, norm => $norm, bound => $bound, inputs => { map { split /:/ } @inputs } };
	}
	close $in;
	return \%of;
}

# How far the inputs of two draws are apart, in the norm of the charge.
sub distance
{
	my ($norm, $p, $q) = @_;
	use bigint;
	my $sum = 0;
	my $largest = 0;
	if ($norm eq 'stable')
	{
		my @d = map { $_->{0} // 0 } $p, $q;
		# what is the answer of one is that of the other, unless one unit could turn it
		return 2 if ($p->{1} // 0) != ($q->{1} // 0) && ($d[0] > 0 || $d[1] > 0);
		return abs($d[0] - $d[1]);
	}
	for my $key (keys %{ { %$p, %$q } })
	{
		my ($a, $b) = ($p->{$key} // '0', $q->{$key} // '0');
		next if $a eq $b;
		my $d = abs(Math::BigInt->new($a) - Math::BigInt->new($b));
		$largest = $d if $d > $largest;
		$sum += $norm eq 'squares' ? $d * $d : $norm eq 'places' ? 1 : $d;
	}
	return $norm eq 'largest' ? $largest : $sum;
}

my (%drawn, %largest, @wrong, @unlike);

sub compare
{
	my ($what, $p, $q) = @_;
	my %of;
	push @{ $of{ $_->{draw} }[0] }, $_ for @$p;
	push @{ $of{ $_->{draw} }[1] }, $_ for @$q;
	for my $draw (sort keys %of)
	{
		my ($a, $b) = map { $_ // [] } @{ $of{$draw} }[ 0, 1 ];
		# asked only if the first test fails
		next if $draw eq 'soft_shifted' && @$a != @$b;
		push @wrong, "$what: $draw is drawn " . @$a . ' and ' . @$b . ' times' if @$a != @$b;
		for my $i (0 .. ($#$a < $#$b ? $#$a : $#$b))
		{
			my $d = distance($a->[$i]{norm}, $a->[$i]{inputs}, $b->[$i]{inputs});
			my $bound = $a->[$i]{bound};
			$drawn{$draw}++;
			my $share = "$d" / $bound;
			$largest{$draw} = $share if $share > ($largest{$draw} // 0);
			push @wrong, "$what: $draw: inputs differ by $d, the charge assumes $bound" if Math::BigInt->new("$d") > Math::BigInt->new($bound) || $b->[$i]{bound} ne $bound;
		}
	}
}

# ---------- all of it ----------

my $undeclared = psql(do { local (@ARGV, $/) = "$FindBin::Bin/inputs.sql"; scalar <> });
$undeclared =~ s/^\s*\|?\s*$//mg;
my %model = map { split /\|/ } split /\n/, psql("SELECT name, mechanism FROM inputs.model ORDER BY 1;");
@models = sort keys %model;
my $learners = psql("SELECT count(DISTINCT learner) FROM inputs.model WHERE mechanism = 'vote';") + 0;
my ($trials, $pairs, %hows, %used) = (0, 0);
# FIRST=1: no further than the first mistake
while ($trials < $wanted && !(@wrong && $ENV{FIRST}))
{
	my ($how, $a, $b) = pair($pairs);
	my @way = map { one_of(sort keys %ways) } 1, 2;
	# none twice before each once
	@way = ((sort keys %ways)[ $pairs % keys %ways ], $way[1]);
	unlink $record;
	psql("TRUNCATE inputs.base;\n" . insert('A', $a) . insert('B', $b) . side('A', $way[0], \@models) . side('B', $way[1], \@models));
	my $of = sections();
	for my $name (map { /^A (.*)/ ? $1 : () } sort keys %$of)
	{
		compare("pair $pairs, unit $how, @way, $name", $of->{"A $name"}, $of->{"B $name"});
		$used{$1}++ if $name =~ /^(\S+)/ && @{ $of->{"A $name"} };
	}
	$trials += @models + 1;
	$pairs++;
	$hows{$how}++;
	$used{$_}++ for @way;
}

# One table, read in two ways, is the same to every draw.  The solver of stable_erm rounds, within what is charged for.
my $same = 0;
for my $way ('plain', 'workers')
{
	my (undef, $a) = pair(0);
	unlink $record;
	psql("TRUNCATE inputs.base;\n" . insert('A', $a) . insert('B', $a) . side('A', $way, \@models) . side('B', 'states', \@models));
	my $of = sections();
	for my $name (map { /^A (.*)/ ? $1 : () } sort keys %$of)
	{
		my @draws = map { join "\n", map { my $d = $_; join ' ', $d->{draw}, map { "$_:$d->{inputs}{$_}" } sort keys %{ $d->{inputs} } } grep { $_->{draw} ne 'stable_erm' } @{ $of->{"$_ $name"} } } 'A', 'B';
		push @unlike, "$way and states, $name" if $draws[0] ne $draws[1];
		$same++;
	}
}

my $failed = 0;

sub ok
{
	my ($good, $what, @more) = @_;
	$number++;
	print $good ? '' : 'not ', "ok $number - $what\n";
	print map { "# $_\n" } @more unless $good;
	$failed ||= !$good;
}

ok($undeclared !~ /\S/, 'every mechanism is there', split /\n/, $undeclared);
ok(scalar(@wrong) == 0, "$trials trials, $pairs pairs of tables: no input differs by more than its charge assumes",
	@wrong > 20 ? (@wrong[ 0 .. 19 ], @wrong - 20 . ' more') : @wrong);
ok(!@unlike && $same > 0, "one table has the same inputs, added up here or as parts: $same times", @unlike);
my %silent = map { $model{$_} => 1 } grep { !$used{$_} } @models;
ok(!%silent, 'every mechanism says what goes into its draws', sort keys %silent);
ok($learners >= 11, "$learners learners of teachers");
ok(!(grep { !$hows{$_} } qw(added changed removed)), 'units added, changed and removed: ' . join(', ', map { "$_ " . ($hows{$_} // 0) } sort keys %hows));
ok(!(grep { !$used{$_} } keys %ways), 'in every way: ' . join(', ', sort keys %ways));
# A test that sees no differences sees no mistakes.
my @blind = grep { !$largest{$_} } sort keys %drawn;
ok(!@blind, 'of every draw some inputs differ', @blind);
print '# ', join(', ', map { sprintf '%s %d (%.2f)', $_, $drawn{$_}, $largest{$_} // 0 } sort keys %drawn), " (largest difference by bound)\n";
print "1..$number\n";
exit $failed;
