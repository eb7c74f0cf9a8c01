# Every statement that README, tutorial and guides show is executed, in order, and gives what the page
# shows.
#
# Each page has a database of its own, prepared by test/docs/PAGE.sql.  Comments in the page, which no
# reader sees, say what its text says in words:
#
#	<!-- as analyst -->			the statements from here on are run by that role
#	<!-- numbers vary -->		digits of the next output are not compared
#	<!-- answers vary -->		of the next output the heading alone is compared: answers are drawn
#	<!-- not run: reason -->	the next block is not a statement for this database
#
# A block of SQL without output need only succeed.  A block of shell commands must exit with 0.
use strict;
use warnings;
use FindBin;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The pages, and how many blocks of each are run at least: nobody takes a page out by breaking its marks.
my %least = ('README.md' => 2, 'docs/tutorial.md' => 11, 'docs/owner.md' => 15, 'docs/analyst.md' => 9);

my $node = PostgreSQL::Test::Cluster->new('docs');
$node->init;
# As users have it, not as test/tap.conf does.
$node->append_conf('postgresql.conf', "fsync = off\nprivpred.repeat_memory = '4MB'\nprivpred.foresee = on\ntimezone = 'UTC'\n");
$node->start;
$node->safe_psql('postgres', join('', map { "CREATE ROLE $_ LOGIN;" } qw(analyst clerk clinic colleague intern)));

# Blocks of a page: kind, text, line, role, whether it varies, and the output that follows.
sub blocks
{
	my ($page) = @_;
	my ($role, $vary, $skip, @blocks, $block) = ('postgres', '', '');
	my $number = 0;

	for my $line (split /\n/, slurp_file($page))
	{
		$number++;
		if ($block)
		{
			if ($line =~ /^\s*```$/) { undef $block }
			else { $line =~ s/^$block->{indent}//; $block->{text} .= "$line\n" }
		}
		elsif ($line =~ /^(\s*)```(\w*)$/)
		{
			$block = { kind => $2 || 'output', text => '', line => $number, role => $role, vary => $vary, skip => $skip, indent => $1 };
			my $before = $blocks[-1];
			if ($block->{kind} =~ /^(sql|sh)$/) { push @blocks, $block }
			elsif ($skip) { }
			elsif ($before && !$before->{output}) { $before->{output} = $block }
			else { fail("$page:$number: output belongs to a statement, or is marked as not run") }
			($vary, $skip) = ('', '');
		}
		elsif ($line =~ /^\s*<!-- as (\w+) -->$/) { $role = $1 }
		elsif ($line =~ /^\s*<!-- (numbers|answers) vary -->$/) { $vary = $1 }
		elsif ($line =~ /^\s*<!-- not run: .+ -->$/) { $skip = 1 }
		elsif ($line =~ /^\s*<!--/) { fail("$page:$number: unknown mark $line") }
	}
	return grep { !$_->{skip} } @blocks;
}

sub comparable
{
	my ($text, $vary) = @_;
	$text =~ s/\s+$//mg;
	$text =~ s/^\n+//;
	$text =~ s/\n\n+/\n/g;
	return $text unless $vary;
	return (split /\n/, $text)[0] =~ s/\s+/ /gr if $vary eq 'answers';
	# Columns are as wide as their numbers.
	$text =~ s/-?\d+(\.\d+)?(e[-+]?\d+)?/N/g;
	$text =~ s/-+/-/g;
	$text =~ s/[ \t]+/ /g;
	$text =~ s/^ //mg;
	return $text;
}

# One session for a page, so that settings and open transactions are as the reader has them.  Shell
# commands run in between, in the directory where psql does.
sub run_blocks
{
	my ($database, @blocks) = @_;
	my $script = '';
	for my $i (0 .. $#blocks)
	{
		my ($role, $text) = @{ $blocks[$i] }{qw(role text)};
		$script .= "\\echo \@block $i\n";
		$script .= "SET SESSION AUTHORIZATION $role;\n" if $i == 0 || $role ne $blocks[ $i - 1 ]{role};
		if ($blocks[$i]{kind} eq 'sh')
		{
			append_to_file($node->basedir . "/block$i.sh", "export PGUSER=$role PGDATABASE=$database\n$text");
			$text = "\\! bash -eu block$i.sh || echo 'ERROR:  the commands failed'\n";
		}
		$script .= $text;
	}
	my $output = '';
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port);
	IPC::Run::run([ 'stdbuf', '-o0', 'psql', '-X', '-q', '-P', 'footer=off', '-d', $node->connstr($database) ],
		'<', \$script, '>&', \$output, init => sub { chdir $node->basedir or die });
	my %of = $output =~ /^\@block (\d+)\n(.*?)(?=^\@block |\z)/msg;
	return map { $of{$_} // 'the session ended' } 0 .. $#blocks;
}

sub run_page
{
	my ($page) = @_;
	my ($name) = lc($page) =~ /(\w+)\.md$/;
	my $database = "docs_$name";
	my @blocks = blocks($page);

	cmp_ok(scalar @blocks, '>=', $least{$page}, "$page: blocks that are run");
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', $node->connstr($database), '-f', "test/docs/$name.sql" ],
		"$page: is prepared");

	my @outputs = run_blocks($database, @blocks);
	for my $block (@blocks)
	{
		my $got = shift @outputs;
		my $where = "$page:$block->{line}";
		if ($block->{output})
		{
			my $vary = $block->{output}{vary};
			is(comparable($got, $vary), comparable($block->{output}{text}, $vary), "$where gives what is shown");
		}
		else
		{
			unlike($got, qr/^(ERROR|FATAL|PANIC):|the session ended/m, "$where succeeds");
		}
	}
}

run_page($_) for sort keys %least;
# ---------- docs/first.sql, which packages bring along ----------

$node->safe_psql('postgres', 'CREATE DATABASE first');
my ($said, $complained) = ('', '');
IPC::Run::run([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('first'), '-f', "$FindBin::RealBin/../../docs/first.sql" ], '>', \$said, '2>', \$complained);
like($said, qr/^ ill\s+\n-+\n (?:true|false)\s*\n\(1 row\)/, 'docs/first.sql ends with an answer');
like($said, qr/\{"first_model": 9\}/, 'and with what is left');
is($complained, '', 'and complains of nothing');

$node->stop;
done_testing();
