# usage: perl sound.pl [--seed N] [--trials N] [--near-misses N] [--only RULE,...] [--force SHARE] [--views N] [--time N] [--first] [--verbose]
#
# An experiment on the soundness of unit-local views (docs/views.md).  It makes random schemas, random views, many of
# which are no good, and worlds that differ in one unit, and in the order of rows, statistics and planner settings.  Views
# that privpred.protect accepts must show the rows of all other units bit for bit alike in all of them.  One that does not
# is printed, with a script that shows it again, and the exit status is 1.
#
#	--seed N			another experiment
#	--trials N			ends after so many comparisons of accepted views (one view, one world, one setting each)
#	--near-misses N		before that, tries each view of near_misses.txt in N schemas or more; from the third on, within
#						something larger
#	--only RULE,RULE	only near misses of these rules
#	--force SHARE		of the refused views that are run, too: how many of them differ says what the grammar can find
#	--views N			views for each schema
#	--time N			ends after so many seconds
#	--first				ends with the first violation
#	--verbose			prints every view and its verdict
#
# The database is the one that libpq's environment names; it should be empty.  What is drawn depends on the seed alone;
# only which worker takes which rows does not.
use strict;
use warnings;
use FindBin;
use File::Spec;
use Getopt::Long;
use IPC::Open2;
use JSON::PP;
use lib $FindBin::Bin;
use Grammar qw(chance pick);

my %option = (seed => 1, trials => 2000, 'near-misses' => 0, force => 0.1, views => 120, time => 0);
GetOptions(\%option, 'seed=i', 'trials=i', 'near-misses=i', 'force=f', 'views=i', 'time=i', 'only=s', 'first', 'verbose') or die "see the top of $0\n";
srand $option{seed};
$| = 1;
my $started = time;

# ---------- the server ----------

my $psql = open2(my $from, my $to, 'psql', '-X', '-q', '-At', '-v', 'ON_ERROR_STOP=0');
binmode $_, ':utf8' for $from, $to;

# perform TEXT: statements whose results do not matter, but must be no errors
my $script = '';
sub perform
{
	my ($text) = @_;
	print $to $text, "\n\\echo ::done :ERROR :SQLSTATE\n";
	$to->flush;
	my $line;
	do { $line = readline $from; die "psql ended\n" unless defined $line } until $line =~ /^::done/;
	$script .= $text;
}

# ask STATEMENT: its one line; nothing if it failed
sub ask
{
	my ($text) = @_;
	print $to $text, ";\n\\echo ::done\n";
	$to->flush;
	my $answer;
	while (defined(my $line = readline $from))
	{
		return $answer if $line =~ /^::done/;
		chomp($answer = $line);
	}
	die "psql ended\n";
}

sub literal { my ($text) = @_; $text =~ s/'/''/g; return "'$text'" }
sub array { return 'ARRAY[' . join(', ', map { literal($_) } @_) . ']::text[]' }

# ---------- worlds ----------

my @switches = qw(enable_hashjoin enable_mergejoin enable_nestloop enable_hashagg enable_sort enable_seqscan enable_indexscan enable_bitmapscan
	enable_material enable_memoize enable_incremental_sort enable_partitionwise_join enable_partitionwise_aggregate);

my $force_parallel;	# as this server calls it

# Planner settings, as a statement that sets all of them.
sub settings
{
	my %off = map { $_ => chance(0.25) } @switches;
	my %set = map { $_ => $off{$_} ? 'off' : 'on' } @switches;
	my $parallel = chance(0.04);
	$set{max_parallel_workers_per_gather} = $parallel ? 2 : 0;
	$set{$force_parallel} = $parallel && chance(0.2) ? 'on' : 'off';
	$set{work_mem} = chance(0.5) ? '64kB' : '4MB';
	$set{join_collapse_limit} = $set{from_collapse_limit} = chance(0.2) ? 1 : 8;
	$set{hash_mem_multiplier} = chance(0.5) ? 1 : 2;
	$set{random_page_cost} = chance(0.5) ? 0.1 : 4;
	$set{seq_page_cost} = 1;
	return 'SELECT ' . join(', ', map { "set_config('$_', '$set{$_}', true)" } sort keys %set);
}

my ($schema, @worlds, @units);
my $worlds_per_schema = 8;
my $serial = 0;

sub begin_schema
{
	my ($class) = @_;
	perform(join '', map { "DROP SCHEMA IF EXISTS w$_ CASCADE;\n" } 0 .. $worlds_per_schema - 1) if $schema;
	# what was dropped and rolled back
	perform(join '', map { "VACUUM $_;\n" } qw(pg_class pg_attribute pg_type pg_depend pg_rewrite pg_index pg_constraint pg_statistic pg_shdepend pg_attrdef privpred.protected_relation))
		if ++$serial % 4 == 0;
	$script = "SET client_min_messages = error;\n";
	$schema = Grammar::new_schema($class);
	Grammar::add_views();
	@worlds = @units = ();
	for my $i (0 .. $worlds_per_schema - 1)
	{
		my $unit = $i < 2 ? -1 : int rand 5;
		my ($sql, $after) = Grammar::world_sql("w$i", $unit);
		perform("BEGIN;\n${sql}COMMIT;\n$after");
		next unless $i;
		push @worlds, "w$i";
		push @units, $unit;
	}
	# how units are spelt when they are compared
	my $type = $schema->{tables}{p1}{type};
	my @spelt = map { ask('SELECT ' . ($type eq 'numeric' ? 'trim_scale(' : '(') . "$_->[0]::$type)::text") } @{ $schema->{units} };
	@units = map { $_ < 0 ? '' : $spelt[$_] } @units;
	perform("SELECT privpred.protect('w0.p1', unit => 'u');\n" . join '', map { "SELECT privpred.protect('w0.$_', unit => 'u', same_units_as => 'w0.p1');\n" } grep { $_ ne 'p1' } @{ $schema->{private} });
}

# ---------- trials ----------

my %sum = map { $_ => 0 } qw(views accepted single refused invalid trials errors empty ran differed violations timeouts);
my (%reasons, %near);

sub show_violation
{
	my ($body, $found, $rule) = @_;
	$sum{violations}++;
	my $file = File::Spec->catfile(File::Spec->tmpdir, "violation.$$.$sum{violations}.sql");
	(my $image0 = $found->{image}) =~ s/\@\./w0./g;
	(my $image1 = $found->{image}) =~ s/\@\./$found->{world}./g;
	(my $view = $body) =~ s/\@\./w0./g;
	print "VIOLATION" . ($rule ? " ($rule)" : '') . ", seed $option{seed}, unit $found->{unit}, world $found->{world}\n  $body\n";
	print "  w0:              " . encode_json($found->{reference} // {}) . "\n  $found->{world}:              " . encode_json($found->{seen} // {}) . "\n";
	if (open my $out, '>:utf8', $file)
	{
		print $out "-- in an empty database, after \\i driver.sql; the two last statements differ in a unit that is not $found->{unit}\n$script\nCREATE VIEW w0.v AS $view;\n"
			. "SELECT privpred.protect('w0.v', unit => 'k', public_tables => '{w0.c1,w0.c2}');\nBEGIN;\nSET LOCAL snd.world = 'w0';\n$image0;\n$found->{conf};\nSET LOCAL snd.world = '$found->{world}';\n$image1;\nROLLBACK;\n";
		print "  script: $file\n";
	}
}

sub try_view
{
	my ($body, $force, $rule) = @_;
	my $answer = ask("SELECT snd.try(" . join(', ', literal($body), $force ? 'true' : 'false', "'{w0.c1,w0.c2}'", array(@worlds), array(@units), array(map { settings() } 1 .. 3)) . ')');
	$sum{views}++;
	if (!defined $answer)
	{
		$sum{timeouts}++;
		return '';
	}
	my $result = JSON::PP->new->decode($answer);
	$sum{ $result->{verdict} }++;
	print "$result->{verdict}: $result->{words}\n    $body\n" if $option{verbose};
	if ($result->{verdict} eq 'invalid')
	{
		$reasons{"invalid: $result->{words}"}++;
		print "near miss \"$rule\" is invalid: $result->{words}\n$body\n" if $rule && $option{verbose};
	}
	elsif ($result->{verdict} eq 'refused')
	{
		$reasons{ $result->{words} =~ s/"[^"]*"/"..."/gr =~ s,/.*,,r }++;
		if ($force)
		{
			$sum{ran}++;
			$sum{differed}++ if $result->{found};
		}
	}
	else
	{
		$sum{single}++ if $result->{single};
		$sum{trials} += $result->{trials};
		$sum{errors} += $result->{errors};
		$sum{empty}++ if !$result->{units};
		show_violation($body, $result->{found}, $rule) if $result->{found};
	}
	return $result;
}

sub near_misses
{
	open my $in, '<', "$FindBin::Bin/near_misses.txt" or die "near_misses.txt: $!\n";
	my (@list, $current);
	while (<$in>)
	{
		next if /^--/ || /^\s*$/;
		if (/^\[(\w+)\]\s*(\w*)$/) { push @list, $current = { rule => $1, class => $2, text => '' } }
		else { chomp; $current->{text} .= ($current->{text} eq '' ? '' : ' ') . s/^\s+//r }
	}
	return @list;
}

perform("SET statement_timeout = '10min'; SET client_min_messages = warning; SET max_parallel_workers = 4; SET min_parallel_table_scan_size = 0;"
	. "SET min_parallel_index_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET jit = off;");
perform("\\i $FindBin::Bin/driver.sql");

$force_parallel = ask("SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')");

my %only = map { $_ => 1 } split /,/, $option{only} // '';
my @list = $option{'near-misses'} ? grep({ !%only || $only{ $_->{rule} } } near_misses()) : ();
for my $round (1 .. $option{'near-misses'})
{
	last if $option{first} && $sum{violations};
	for my $class ($round % 2 ? 'int' : 'text', 'numeric')
	{
		last if $option{first} && $sum{violations};
		begin_schema($class);
		for my $miss (@list)
		{
			next if $miss->{class} ne $class && ($miss->{class} ne '' || ($class eq 'numeric' && chance(0.7)));
			my $body = Grammar::near_miss($miss->{text});
			$body = Grammar::in_context($body) if $round > 2;
			my $result = try_view($body, 1, $miss->{rule}) or next;
			$miss->{differed}++ if $result->{found};
			my $tally = $near{ $miss->{rule} } //= { map { $_ => 0 } qw(accepted refused invalid differed) };
			$tally->{ $result->{verdict} }++;
			$tally->{differed}++ if $result->{found};
			$tally->{words} = $result->{words};
			last if $option{first} && $sum{violations};
		}
	}
}
if (%near)
{
	printf "%-32s %8s %8s %8s %8s\n", 'near miss', qw(accepted refused invalid differed);
	printf "%-32s %8d %8d %8d %8d%s\n", $_, @{ $near{$_} }{qw(accepted refused invalid differed)}, $option{verbose} ? "  $near{$_}{words}" : '' for sort keys %near;
	my @toothless = grep { !$near{$_}{differed} } sort keys %near;
	print "rules whose near misses never differed: @toothless\n" if @toothless;
	print "never differed: $_->{rule}: $_->{text}\n" for grep { $option{verbose} && !$_->{differed} } @list;
}

until ($sum{trials} >= $option{trials} || ($option{first} && $sum{violations}) || ($option{time} && time - $started > $option{time}))
{
	begin_schema();
	for (1 .. $option{views})
	{
		my $view = Grammar::new_view(pick(0, 1, 1, 2));
		try_view($view->{sql}, chance($option{force}));
	}
	printf "# %d s: %d views, %d accepted, %d trials, %d violations\n", time - $started, @sum{qw(views accepted trials violations)} if -t STDOUT || $serial % 20 == 0;
}

print "\n";
my @reasons = sort { $reasons{$b} <=> $reasons{$a} || $a cmp $b } keys %reasons;
splice @reasons, 15 unless $option{verbose} || @reasons < 16;
printf "%7d %s\n", $reasons{$_}, $_ for @reasons;
printf "\nseed %d: %d views: %d accepted (%d with no rows), %d refused, %d invalid, %d timed out\n", $option{seed}, @sum{qw(views accepted empty refused invalid timeouts)};
printf "%d of the accepted have one row for each unit, by their proof\n", $sum{single};
printf "of %d refused views that were run, %d differed\n", @sum{qw(ran differed)};
my $pid = ask('SELECT pg_backend_pid()');
if (open my $stat, '<', "/proc/$pid/stat") { my @field = split ' ', readline $stat; printf "the server's process took %.1f s\n", ($field[13] + $field[14]) / 100 }
printf "%d trials of accepted views, %d errors: %d violations (%d s)\n", @sum{qw(trials errors violations)}, time - $started;
close $to;
waitpid $psql, 0;
exit($sum{violations} ? 1 : 0);
