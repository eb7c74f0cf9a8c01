# Runs rows of test/audit/conformance.txt, which says what its columns mean,
# from CREATE TABLE to the last answer, with real accounts.
package Privpred::Conformance;

use strict;
use warnings;
use Carp qw(croak);
use Exporter qw(import);
use List::Util qw(max min sum0);
use POSIX qw(ceil);
use Privpred::Stats qw(audit_epsilon audit_range clopper_pearson_lower clopper_pearson_upper
  enough_draws least_count least_telling most_count $RISK);

our @EXPORT_OK = qw(read_rows read_mutants prepare size_row run_row);

# False alarms: at most this often for each row, so below 1e-6 for all of them.
# Mistakes that a row names are missed less often than $RISK.
my $ALARM = 1e-8;

# ---------- set-ups ----------

# With learner "echo" a teacher repeats the last label with x = 1.  One with a
# single class would not be asked, hence the other rows.
# Columns of the table, arguments of protect and of create_model, whose options
# come from the row; rows: of a unit, unless the row says how many.
my %SETUPS = (
	votes => {
		x       => 'float8',
		model   => q{features => '["x"]'},
		classes => 'a,b',
		learner => 'echo',
		fill    => \&_fill_votes
	},
	echo => {
		x       => 'float8',
		model   => q{features => '["x"]'},
		classes => 'a,b',
		learner => 'echo',
		fill    => \&_fill_echo
	},
	stumps => {
		x       => 'float8',
		model   => q{features => '{"x": {"min": 0, "max": 1000}}', learner => 'stump', teachers => 41},
		classes => 'a,b',
		fill    => \&_fill_stumps
	},
	numbers => {
		x       => 'float8',
		protect => 'declared_units => 1000',
		model   => q{features => '{"x": {"min": 0, "max": 10}}'},
		classes => 'no,yes',
		rows    => 1
	},
	# three columns that say the same
	copies => {
		x       => 'float8, x2 float8 GENERATED ALWAYS AS (x) STORED, x3 float8 GENERATED ALWAYS AS (x) STORED',
		protect => 'declared_units => 1000',
		model   => q{features => '{"x": {"min": 0, "max": 10}, "x2": {"min": 0, "max": 10}, "x3": {"min": 0, "max": 10}}'},
		classes => 'no,yes',
		rows    => 1,
		copies  => 'x2 x3'
	},
	levels => {
		x       => 'text',
		protect => 'declared_units => 10000',
		model   => q{features => '{"x": {"levels": ["a", "b"]}}'},
		classes => '0,1'
	},
	labels => {
		x       => 'text',
		protect => q{declared_units => 10000, protects => 'labels'},
		model   => q{features => '{"x": {"levels": ["a", "b"]}}'},
		classes => '0,1'
	},
	batches => {
		x       => 'text',
		protect => 'declared_units => 220',
		model   => q{features => '{"x": {"levels": ["a", "b"]}}'},
		classes => '0,1',
		fill    => \&_fill_batches
	},
	single => {
		x       => 'float8',
		protect => 'declared_units => 1',
		model   => q{features => '["x"]'},
		classes => 'a,b'
	},
	corner => {
		x       => 'float8',
		y       => 'float8',
		protect => 'declared_units => 10',
		model   => q{features => '["x"]'},
		rows    => 1
	},
	number => {
		x     => 'float8',
		y     => 'float8',
		model => q{features => '["x"]', learner => 'stump'}
	},
	held => {
		x        => 'text',
		protect  => 'declared_units => 4',
		model    => q{features => '{"x": {"levels": ["a", "b"]}}', holdout => 0.5},
		classes  => '0,1',
		fill     => \&_fill_held,
		releases => 1
	},
	described => {
		fill      => \&_fill_described,
		describes => 1
	});

my %CHARGED_ONCE = map { $_ => 1 } qw(cover label_private littlestone gradient);

my $SQL = q{
CREATE EXTENSION privpred;
CREATE FUNCTION echo_step(state text, label text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT CASE WHEN x[1] = 1 THEN label ELSE state END';
CREATE AGGREGATE echo_train(text, float8[]) (SFUNC = echo_step, STYPE = text);
-- The first argument, and never mind the second.  Each answer calls it for every teacher, and SQL that sets a search_path takes forty times as long.
CREATE FUNCTION echo_predict(state text, x float8[]) RETURNS text IMMUTABLE LANGUAGE internal AS 'btrim1';
CREATE TABLE constants (hypothesis text, point text, label int);
INSERT INTO constants SELECT h, p, h FROM unnest('{0,1}'::int[]) h, unnest('{a,b}'::text[]) p;
CREATE TABLE outer_labels (hypothesis text, point text, label int);
INSERT INTO outer_labels SELECT h, p, h FROM unnest('{0,2}'::int[]) h, unnest('{a,b}'::text[]) p;
CREATE TABLE nine_labellings (hypothesis text, point text, label int);
INSERT INTO nine_labellings SELECT h, p, CASE p WHEN 'a' THEN h % 3 ELSE h / 3 END FROM generate_series(0, 8) h, unnest('{a,b}'::text[]) p;
CREATE TABLE labellings (hypothesis text, point text, label int);
INSERT INTO labellings SELECT h, p, CASE p WHEN 'a' THEN h & 1 ELSE h >> 1 END FROM generate_series(0, 3) h, unnest('{a,b}'::text[]) p;
CREATE ROLE pure;
CREATE ROLE finite;

-- One unit for each teacher: the salt is public, so such ids can be found.
CREATE FUNCTION unit_of_teacher(model text) RETURNS TABLE (t int, id int) LANGUAGE sql AS $$
SELECT DISTINCT ON (2) privpred.teacher_of(id, m.salt, m.teachers), id
FROM generate_series(1, 2000) id, privpred.model m WHERE m.name = $1 ORDER BY 2, 1
$$;

-- A released model is drawn by training.  The owner asks without an account.
CREATE TABLE question (x text, y int);
INSERT INTO question VALUES ('b', 1);
CREATE FUNCTION trained_answers(model text, role text, x jsonb, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM privpred.retrain(model);
		IF role = 'owner' THEN
			RETURN NEXT (privpred.evaluate(model, 'question')).private_accuracy::int;
			CONTINUE;
		END IF;
		PERFORM set_config('role', role, false);
		RETURN NEXT private_predict(model, x);
		PERFORM set_config('role', 'none', false);
	END LOOP;
END $$;

-- Is all that was logged on disk once an answer is there?  Nobody else logs
-- anything but now and then.
CREATE FUNCTION flushed_answers(model text, x jsonb, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		EXECUTE 'SELECT private_predict($1, $2)' USING model, x;
		RETURN NEXT CASE WHEN pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() THEN 'yes' ELSE 'no' END;
	END LOOP;
END $$;

-- Does a description, drawn anew each time, say so?
CREATE FUNCTION descriptions(relation regclass, columns name[], epsilon float8, delta float8, question text, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	f json;
	yes bool;
BEGIN
	FOR i IN 1 .. n LOOP
		f := privpred.describe(relation, columns, epsilon, delta);
		EXECUTE 'SELECT ' || question || ' FROM (SELECT $1) s(f), LATERAL (SELECT null_shares FROM privpred.description ORDER BY description_id DESC LIMIT 1) d(shares)' INTO yes USING f;
		RETURN NEXT CASE WHEN yes THEN 'yes' ELSE 'no' END;
	END LOOP;
END $$;

-- Is an accuracy that is released, drawn anew each time, at least that much?
CREATE FUNCTION accuracies(model text, epsilon float8, bound float8, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		RETURN NEXT CASE WHEN (privpred.release_accuracy(model, epsilon)).accuracy >= bound THEN 'yes' ELSE 'no' END;
	END LOOP;
END $$;

-- Units that are held out, or not: whoever is evaluated is.
CREATE FUNCTION units_held(model regclass, held bool) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
	FOR id IN 1 .. 40 LOOP
		EXECUTE format('TRUNCATE %s; INSERT INTO %s (id, x, y) VALUES (%s, ''a'', 0)', model, model, id);
		IF (SELECT (rows > 0) = held FROM privpred.evaluate(model::text)) THEN
			RETURN NEXT id;
		END IF;
	END LOOP;
	EXECUTE format('TRUNCATE %s', model);
END $$;

-- "labels labels, then NULL", from as many fresh thresholds
CREATE FUNCTION runs(model text, first float8, labels int, last float8, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	FOR i IN 1 .. n LOOP
		FOR j IN 1 .. labels LOOP
			answer := private_predict(model, ARRAY[first]);
			EXIT WHEN answer IS NULL;
		END LOOP;
		IF answer IS NOT NULL THEN
			answer := private_predict(model, ARRAY[last]);
			RETURN NEXT CASE WHEN answer IS NULL THEN 'yes' ELSE 'no' END;
		ELSE
			RETURN NEXT 'no';
		END IF;
		-- a tie ends the run; a broken threshold may let all of them pass
		FOR j IN 1 .. 20000 LOOP
			EXIT WHEN answer IS NULL;
			answer := private_predict(model, ARRAY[305.0]);
		END LOOP;
		IF answer IS NOT NULL THEN
			RETURN QUERY SELECT 'no' FROM generate_series(i + 1, n);
			RETURN;
		END IF;
	END LOOP;
END $$;

-- is a question, asked of a fresh threshold, answered?
CREATE FUNCTION first_labels(question text, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	stable bool;
BEGIN
	FOR i IN 1 .. n LOOP
		EXECUTE question INTO stable;
		RETURN NEXT CASE WHEN stable THEN 'yes' ELSE 'no' END;
		WHILE stable LOOP
			EXECUTE question INTO stable;
		END LOOP;
	END LOOP;
END $$;
};

# ---------- rows ----------

# The standard normal distribution function, by its series.
sub normal_cdf
{
	my ($x) = @_;
	my ($term, $sum) = ($x, $x);
	for my $i (1 .. 200)
	{
		$term *= $x * $x / (2 * $i + 1);
		$sum += $term;
	}
	return 0.5 + $sum * exp(-$x * $x / 2) / sqrt(8 * atan2(1, 1));
}

# The chance that the first of two counts wins by this lead, or less than none,
# with discrete Gaussian noise of this variance on each, and ties to the first.
sub first_of
{
	my ($variance, $lead) = @_;
	my %mass = map { $_ => exp(-$_ * $_ / 2 / $variance) } -60 .. 60;
	my $total = sum0(values %mass);
	my $wins = 0;

	foreach my $x (-60 .. 60)
	{
		$wins += $mass{$x} * $mass{$_} foreach grep { $x + $lead >= $_ } -60 .. 60;
	}
	return $wins / $total**2;
}

# Pr[N >= x] for discrete Gaussian noise of this variance.
sub noise_tail
{
	my ($variance, $x) = @_;
	my $reach = int(12 * sqrt($variance)) + 20;
	my @mass = map { exp(-$_ * $_ / 2 / $variance) } -$reach .. $reach;
	return sum0(map { $mass[ $_ + $reach ] } max($x, -$reach) .. $reach) / sum0(@mass);
}

# Pr[N > x] for discrete Laplace noise of this scale.
sub _noise_above
{
	my ($x, $scale) = @_;
	my $a = exp(-1 / $scale);
	return $x >= 0 ? $a**($x + 1) / (1 + $a) : 1 - $a**(-$x) / (1 + $a);
}

# The chance that a distance passes a fresh threshold: once, or so many times
# before another does not (book, section 5).
sub _passes
{
	my ($width, $scale, $distance, $times, $last) = @_;
	my $sum = 0;

	foreach my $t (-200 .. 200)
	{
		my $mass = _noise_above($t - 1, $scale) - _noise_above($t, $scale);
		$sum += $mass * _noise_above($width + $t - $distance, $scale)**$times
		  * (defined $last ? 1 - _noise_above($width + $t - $last, $scale) : 1);
	}
	return $sum;
}

sub _width
{
	my ($epsilon, $delta) = @_;
	my $width = 0;
	$width++ while _passes($width, 3 / $epsilon, 0, 1) > $delta;
	return $width;
}

# A label at a tie, where the width is divided; "labels labels, then none", with
# noise of scale split/epsilon.
sub tie_of { my ($epsilon, $delta, $divided) = @_; return _passes(int(_width($epsilon, $delta) / $divided), 3 / $epsilon, 0, 1) }

sub run_of
{
	my ($epsilon, $delta, $split, $distance, $labels, $last) = @_;
	return _passes(_width($epsilon, $delta), $split / $epsilon, $distance, $labels, $last);
}

# What (epsilon, delta) pays for: Gaussian noise with (sensitivity / sigma)^2 =
# 2 rho.  The chance of being on the right side of the middle if the noise is
# smaller by this factor.
sub right_side
{
	my ($epsilon, $delta, $factor) = @_;
	my $held = sub { my ($a) = @_; return ($epsilon + log($a / ($a - 1)) - (log(2 / $delta) - log($a)) / ($a - 1)) / $a };
	my $rho = max(map { $held->(1 + 1.001**$_) } -5000 .. 10000);
	return normal_cdf($factor * sqrt(2 * $rho) / 2);
}

# Arithmetic of a table, and nothing else.
sub _number
{
	my ($text) = @_;
	croak "not a number: $text"
	  unless $text =~ m{^(?:exp|sqrt|normal_cdf|first_of|tie_of|run_of|right_side|noise_tail|\d+[eE]-|[-+*/(),.\d\s])+$};
	## no critic
	my $value = eval $text;
	croak "not a number: $text" unless defined $value;
	return $value;
}

# "name, name: answer p [q]": what a mistake of that name, or a model of twice the
# epsilon, would answer in the table, and in the neighbour.
sub _mistake
{
	my ($text, $where) = @_;
	my ($names, $answer, $p, $q) = $text =~ /^([\w, ]+):\s*(\S+)\s+(\S+)(?:\s+(\S+))?$/ or croak "$where: not a mistake";
	return { names => [ split /,\s*/, $names ], answer => $answer, p => _number($p), q => defined $q ? _number($q) : undef };
}

# The rows that are said to catch a mutant, by the patches: pairs of mutant and row.
sub read_mutants
{
	my ($dir) = @_;
	my @pairs;

	foreach my $file (glob "$dir/*.patch")
	{
		my ($mutant) = $file =~ m{([^/]+)\.patch$};
		open my $in, '<', $file or croak "$file: $!";
		while (my $line = <$in>)
		{
			next unless $line =~ /^# caught-by rows: *(.*?)\s*$/;
			push @pairs, map { [ $mutant, $_ ] } split /\s*;\s*/, $1;
		}
		close $in;
	}
	return @pairs;
}

# Reads the table: a list of hashes.
sub read_rows
{
	my ($file) = @_;
	my @rows;

	open my $in, '<', $file or croak "$file: $!";
	while (my $line = <$in>)
	{
		next if $line =~ /^\s*(?:#|$)/;
		$line =~ s/\s+$//;
		if ($line =~ s/^\s*>\s*//)
		{
			croak "$file, line $.: mistakes of no row" unless @rows;
			push @{ $rows[-1]{mistakes} }, _mistake($line, "$file, line $.");
			next;
		}
		my @cells = map { s/^\s+|\s+$//gr } split /\|/, $line;
		croak "$file, line $.: not nine cells" unless @cells == 9;
		my %row;
		@row{qw(name setup model account table neighbour question claim draws)} = @cells;
		croak "$file, line $.: no such set-up" unless $SETUPS{ $row{setup} };
		@row{qw(short long)} = split ' ', $row{draws};
		($row{mechanism}, my @parameters) = split ' ', $row{model};
		$row{parameters} = { map { /^(.*?)=(.*)$/ ? ($1 => $2) : ($_ => 1) } @parameters };
		croak "$file: \"$row{name}\" is there twice" if grep { $_->{name} eq $row{name} } @rows;
		push @rows, \%row;
	}
	close $in;
	return @rows;
}

# Once for a database; $sql runs statements and returns what they print.
sub prepare
{
	my ($sql) = @_;
	$sql->($SQL);
	return;
}

# ---------- models ----------

my %PARAMETERS = map { $_ => 1 } qw(epsilon teachers classes rows units target cap unstable of_run release);

sub _create_model
{
	my ($sql, $row, $table, $epsilon) = @_;
	my $setup = $SETUPS{ $row->{setup} };
	my %p = %{ $row->{parameters} };
	my @options;
	my $rows = $p{rows} // $setup->{rows};
	my $protect = $setup->{protect} ? ", $setup->{protect}" : '';
	my $model = $setup->{model};
	return _protect_described($sql, $row, $table) if $setup->{describes};
	my $y = $setup->{y} // ($setup->{classes} && $setup->{classes} eq '0,1' ? 'int' : 'text');

	$protect =~ s/declared_units => \d+/declared_units => $p{units}/ if $p{units};
	$protect .= ", max_rows_per_unit => $rows" if $rows;
	$protect .= ", epsilon_cap => $p{cap}" if $p{cap};
	foreach my $key (sort grep { !$PARAMETERS{$_} } keys %p)
	{
		my $value = $key eq 'class_table' ? "public.$p{$key}" : $p{$key};
		push @options, qq{"$key": } . ($value =~ /^[\d.]+$/ ? $value : qq{"$value"});
	}
	push @options, '"target": {"min": -1, "max": 1}' if $p{target};
	push @options, '"train": "public.echo_train", "predict": "public.echo_predict"' if $setup->{learner};
	$model .= ", learner => 'sql'" if $setup->{learner};
	$model .= ", classes => '{" . ($p{classes} // $setup->{classes}) . "}'" unless $p{target};
	$model .= ", teachers => $p{teachers}" if $p{teachers};
	$model .= ", options => '{" . join(', ', @options) . "}'" if @options;

	$sql->(qq{
CREATE TABLE $table (visit int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id int NOT NULL, x $setup->{x} NOT NULL, y $y);
SELECT privpred.protect('$table', unit => 'id'$protect);
SELECT privpred.grant_budget('pure', '$table', epsilon => 1e6),
	privpred.grant_budget('finite', '$table', epsilon => 1e6, delta => 0.9, per_answer => 0.1, force => true),
	privpred.grant_budget(current_user::regrole, '$table', epsilon => 1e6, delta => 0.99, force => true);
SELECT privpred.create_model('$table', '$table', label => 'y', mechanism => '$row->{mechanism}', epsilon => $epsilon, $model);
});
	return;
}

# What is described has no model, and budgets only if they are what is looked at.
sub _protect_described
{
	my ($sql, $row, $table) = @_;
	$sql->(qq{
CREATE TABLE $table (visit int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id int NOT NULL, x text, }
		  . join(', ', map { "n$_ float8" } 1 .. 8) . qq{);
SELECT privpred.protect('$table', unit => 'id', declared_units => 1000);
});
	$sql->(qq{SELECT privpred.grant_budget('finite', '$table', epsilon => 1e6, delta => 0.9, per_answer => 0.1, force => true)}) if $row->{account} eq 'finite';
	return;
}

# ---------- tables ----------

# Rows as unit:level=null or =zero, which n1 to n8 are; and so many units more without a number.
sub _fill_described
{
	my ($table, $rows, $row) = @_;
	my $base = $row->{parameters}{base} // 0;
	my @numbers = map { "n$_" } 1 .. 8;
	my $sql = "INSERT INTO $table (id) SELECT 1000 + i FROM generate_series(1, $base) i;\n";

	return $sql if $rows eq '-';
	foreach my $item (split ' ', $rows)
	{
		my ($unit, $x, $y, $times) = $item =~ /^(\d+):([^=]+)=(null|zero)(?:\*(\d+))?$/ or croak "not a row: $item";
		my $number = $y eq 'null' ? 'NULL' : '0';
		$sql .= "INSERT INTO $table (id, x, " . join(', ', @numbers) . ") SELECT $unit, '$x', " . join(', ', ($number) x 8) . ' FROM generate_series(1, ' . ($times // 1) . ");\n";
	}
	return $sql;
}

# Rows as h1:x=y of the first unit that is held out, t1:x=y of the first that trains, and so on.
sub _fill_held
{
	my ($table, $rows) = @_;
	my $sql = "CREATE TEMP TABLE held AS SELECT h, id, row_number() OVER (PARTITION BY h ORDER BY id) AS place FROM unnest('{t,f}'::bool[]) h, units_held('$table', h) id;\n";

	return '' if $rows eq '-';
	foreach my $item (split ' ', $rows)
	{
		my ($kind, $place, $x, $y) = $item =~ /^([ht])(\d+):([^=]+)=(.*)$/ or croak "not a row: $item";
		my $held = $kind eq 'h' ? 'h' : 'NOT h';
		$sql .= "INSERT INTO $table (id, x, y) SELECT id, '$x', '$y' FROM held WHERE $held AND place = $place;\n";
	}
	return $sql;
}

sub _fill_votes
{
	my ($table, $votes) = @_;
	my $list = join(',', split //, $votes);
	return qq{INSERT INTO $table (id, x, y)
SELECT u.id, r.x, CASE WHEN r.x = 1 THEN l.label WHEN l.label = 'a' THEN 'b' ELSE 'a' END
FROM unit_of_teacher('$table') u, unnest(string_to_array('$list', ',')) WITH ORDINALITY l (label, i), (VALUES (1), (0)) r (x)
WHERE l.i = u.t + 1 ORDER BY r.x, u.id;
};
}

sub _insert_rows
{
	my ($table, $rows) = @_;
	my @values;

	return '' if $rows eq '-';
	foreach my $item (split ' ', $rows)
	{
		my ($unit, $x, $y, $times) = $item =~ /^(\d+):([^=]+)=([^*]+)(?:\*(\d+))?$/ or croak "not a row: $item";
		push @values, ("($unit, '$x', '$y')") x ($times // 1);
	}
	return "INSERT INTO $table (id, x, y) VALUES " . join(', ', @values) . ";\n";
}

# Every unit has a row of either class, which no teacher repeats.
sub _fill_echo
{
	my ($table, $rows) = @_;
	return qq{INSERT INTO $table (id, x, y) SELECT i, 0, y FROM generate_series(1, 12) i, (VALUES ('a'), ('b')) r (y);\n} . _insert_rows($table, $rows);
}

# Each teacher is a stump with a threshold of its own, so that the question
# chooses how many say b.
sub _fill_stumps
{
	my ($table, $turned) = @_;
	my $list = $turned eq '-' ? '' : $turned;
	return qq{INSERT INTO $table (id, x, y)
SELECT u.id, 100 + 10 * u.t + side, CASE WHEN (side > 0) <> (u.t = ANY ('{$list}'::int[])) THEN 'b' ELSE 'a' END
FROM unit_of_teacher('$table') u, unnest(ARRAY[-1, 1]) side;
};
}

# The unit stands for a batch, from which so many units are taken.
sub _fill_batches
{
	my ($table, $rows) = @_;
	my (@values, %taken);

	foreach my $item (split ' ', $rows)
	{
		my ($batch, $x, $y, $times) = $item =~ /^(\d+):([^=]+)=([^*]+)(?:\*(\d+))?$/ or croak "not a row: $item";
		foreach (1 .. $times // 1)
		{
			$taken{$batch}++;
			push @values, "($batch, $taken{$batch}, '$x', $y)";
		}
	}
	my $list = join(', ', @values);
	return qq{WITH units AS (SELECT id, batch, row_number() OVER (PARTITION BY batch ORDER BY id) AS place FROM
	(SELECT id, mod(CASE WHEN h < 0 THEN h + 18446744073709551616 ELSE h END, (m.options ->> 'batches')::int) AS batch
	FROM generate_series(1, 2000) id, privpred.model m, LATERAL (SELECT privpred.unit_hash(id, m.salt)::numeric AS h) s WHERE m.name = '$table') s)
INSERT INTO $table (id, x, y) SELECT u.id, v.x, v.y FROM (VALUES $list) v (batch, place, x, y) JOIN units u USING (batch, place);
};
}

# ---------- answers ----------

sub _query
{
	my ($row, $table, $n) = @_;
	my $question = $row->{question};
	my $role = $row->{account};
	my ($how) = $question =~ s/^(rolled back|failed|after pure|student|flushed) // ? $1 : '';
	return _described_query($row, $table, $n) if $SETUPS{ $row->{setup} }{describes};
	return qq{SELECT a FROM accuracies('$table', $row->{parameters}{release}, $1, $n) a} if $question =~ /^accuracy >= (\S+)$/;
	my @columns = ('x', split ' ', $SETUPS{ $row->{setup} }{copies} // '');
	my $x = sub {
		my ($value) = @_;
		$value = qq{"$value"} unless $value =~ /^[\d.]+$/;
		return "'{" . join(', ', map { qq{"$_": $value} } @columns) . "}'::jsonb";
	};

	if ($question =~ /^x = (\S+)$/)
	{
		my $at = $x->($1);
		return qq{SELECT a FROM trained_answers('$table', '$role', $at, $n) a} if $CHARGED_ONCE{ $row->{mechanism} };
		return qq{SELECT a FROM flushed_answers('$table', $at, $n) a} if $how eq 'flushed';
		# the last of them fails after it was drawn
		return qq{SELECT private_predict('$table', $at)::text || 1 / (g - $n) a FROM generate_series(1, $n) g} if $how eq 'failed';
		my $model = $how eq 'student' ? "${table}_student" : $table;
		return qq{SELECT private_predict('$model', $at) a FROM generate_series(1, $n)};
	}
	return qq{SELECT CASE WHEN private_score('$table', } . $x->($1) . qq{) >= $2 THEN 'yes' ELSE 'no' END a FROM generate_series(1, $n)}
	  if $question =~ /^(\S+) >= (\S+)$/;
	return qq{SELECT CASE WHEN private_predict('$table', } . $x->($1) . qq{) = private_predict('$table', } . $x->($2) . qq{) THEN 'yes' ELSE 'no' END a FROM generate_series(1, $n)}
	  if $question =~ /^agree (\S+) (\S+)$/;
	return qq{SELECT a FROM runs('$table', $1, $2, $3, $n) a} if $question =~ /^(\S+)\*(\d+) (\S+)$/;
	if ($question =~ /^label (\S+)(?: of (\w+))?$/)
	{
		my $call = $row->{mechanism} eq 'soft' ? 'private_score' : 'private_predict';
		my $of = defined $2 ? ", NULL, ''$2''" : '';
		return qq{SELECT a FROM first_labels('SELECT $call(''$table'', ARRAY[$1]$of) IS NOT NULL', $n) a};
	}
	croak "not a question: $question";
}

# "level a": is it listed?  "seen": is there a column?  "nulls >= k": so many NULLs, in all columns together?
sub _described_query
{
	my ($row, $table, $n) = @_;
	my %p = %{ $row->{parameters} };
	my $question = $row->{question};
	my $test = $question eq 'seen' ? "f::text <> '{}'"
	  : $question =~ /^level (\w+)$/ ? "(f::jsonb #> '{x,levels}') ? '$1'"
	  : $question =~ /^nulls >= (\d+)$/ ? "(SELECT sum(round(value::numeric * 1000)) FROM jsonb_each_text(shares)) >= $1"
	  : croak "not a question: $question";
	return qq{SELECT a FROM descriptions('$table', '{$p{columns}}', $p{epsilon}, $p{delta}, \$q\$coalesce($test, false)\$q\$, $n) a};
}

# Draws n answers of a table: a hash from answer to how often it came.
sub _counts
{
	my ($sql, $row, $table, $rows, $n) = @_;
	my $fill = $SETUPS{ $row->{setup} }{fill} // \&_insert_rows;
	my $role = $row->{account} eq 'cap' ? 'pure' : $row->{account};
	my $set_role = $role eq 'own' || $CHARGED_ONCE{ $row->{mechanism} } ? '' : "SET ROLE $role;";
	my %counts;

	my $describes = $SETUPS{ $row->{setup} }{describes};
	$set_role = '' if $describes || $SETUPS{ $row->{setup} }{releases};
	$sql->("TRUNCATE $table;\n" . $fill->($table, $rows, $row) . ($describes ? '' : "SELECT privpred.retrain('$table')"));
	# No budget has room for thousands of runs with such a delta: one run is
	# bought, and the number of them changed behind everybody's back.
	my %p = (unstable => 1, of_run => 0.02, %{ $row->{parameters} });
	$sql->(qq{SELECT privpred.open_stream('$table', $p{unstable}, $p{epsilon}, $p{of_run});
		UPDATE privpred.stream SET unstable_limit = 1000000 WHERE status = 'open'})
	  if $row->{mechanism} =~ /^(?:sparse|soft)$/;
	# Accuracies, streams and models that are trained anew are written down, time and again in the same rows: once a transaction ends, old
	# versions of them can go.
	my $batch = $SETUPS{ $row->{setup} }{releases} || $CHARGED_ONCE{ $row->{mechanism} } || $row->{mechanism} =~ /^(?:sparse|soft)$/ ? 100 : $n;
	my $query = $row->{question} =~ /^forgetting / ? '' : join(";\n", map { 'SELECT a, count(*) FROM (' . _query($row, $table, min($batch, $n - $batch * $_)) . ') s GROUP BY a' } 0 .. ceil($n / $batch) - 1);
	$query = "BEGIN; $query; ROLLBACK" if $row->{question} =~ /^rolled back/;
	$query = "DO \$do\$ BEGIN EXECUTE \$q\$$query\$q\$; EXCEPTION WHEN division_by_zero THEN NULL; END \$do\$" if $row->{question} =~ /^failed/;
	$set_role = "SET privpred.repeat_memory = '4MB'; SET ROLE pure; $query; $set_role" if $row->{question} =~ /^after pure/;
	$sql->(qq{CREATE TABLE ${table}_public AS SELECT i::float8 AS x FROM generate_series(1, 10) i;
		SELECT privpred.revoke_budget(current_user::regrole, '$table');
		SELECT privpred.distill('${table}_student', '$table', '${table}_public', 'stump')})
	  if $row->{question} =~ /^student/;
	return _over_two_versions($sql, $row, $table, $set_role, $rows, $n) if $row->{question} =~ /^forgetting /;
	foreach my $line (split /\n/, $sql->("$set_role $query"))
	{
		my ($answer, $count) = split /\|/, $line;
		$counts{$answer} += $count if defined $count;
	}
	return \%counts;
}

# Answers in pairs: one of the version before the unit of the last teacher is forgotten, one of the version after.
sub _over_two_versions
{
	my ($sql, $row, $table, $set_role, $rows, $n) = @_;
	my $last = length($rows) - 1;
	my %one = (%$row, question => $row->{question} =~ s/^forgetting //r);
	my $ask = "$set_role " . _query(\%one, $table, $n);
	my @before = split /\n/, $sql->($ask);
	$sql->("SELECT privpred.forget('$table', id, delete_rows => true) FROM unit_of_teacher('$table') WHERE t = $last");
	my @after = split /\n/, $sql->($ask);
	my %counts;
	$counts{ $before[$_] . $after[$_] }++ foreach 0 .. $n - 1;
	return \%counts;
}

# ---------- claims ----------

# A lower bound on the relative entropy of the coin "it is a", in either table,
# to that in the other.
sub _entropy
{
	my ($n, $from, $to) = @_;
	my $largest = 0;

	foreach my $answer (keys %$from)
	{
		foreach my $pair ([ $from, $to ], [ $to, $from ])
		{
			my $p = clopper_pearson_lower($pair->[0]{$answer} // 0, $n, $ALARM / 8);
			my $q = clopper_pearson_upper($pair->[1]{$answer} // 0, $n, $ALARM / 8);
			next if $p <= $q || $q >= 1;
			$largest = max($largest, $p * log($p / $q) + ($p < 1 ? (1 - $p) * log((1 - $p) / (1 - $q)) : 0));
		}
	}
	return $largest;
}

# Tiny deltas cannot be audited, and the conversion from Rényi divergence leaves
# slack that would hide a doubled sensitivity.  So the claim is taken where it is
# tight: whoever pays (epsilon, delta) pays for Gaussian noise with
# (sensitivity / sigma)^2 = 2 rho, and no event may then tell the tables apart by
# more than the total variation between two such Gaussians.  Nor by much less:
# that is with 95 % of the distance.
sub _gaussian_variation
{
	my ($epsilon, $delta) = @_;
	return map { 2 * right_side($epsilon, $delta, $_) - 1 } 1, 0.95;
}

# What an account has paid for n answers: not less than is claimed, nor more than
# rounding up each of them explains.
sub _price_result
{
	my ($sql, $row, $table, $n) = @_;
	my ($kind, $formula) = $row->{claim} =~ /^(price|delta) (.*)$/;
	# What was reserved and not used comes back soon after.
	$sql->(q{DO $$ BEGIN FOR i IN 1 .. 600 LOOP EXIT WHEN NOT EXISTS (SELECT FROM privpred.open_lease); PERFORM pg_sleep(0.1); END LOOP; END $$});
	my $role = $row->{account} eq 'cap' ? '0' : $row->{account} eq 'own' ? 'current_user' : "'$row->{account}'";
	my ($order, $spent, $delta) = split /\|/, $sql->(qq{SELECT coalesce(a.renyi_order / 1048576.0, 'Infinity'), a.spent_units * 1e-12, a.delta_spent
		FROM privpred.account a JOIN privpred.protected_relation r USING (relation_id)
		WHERE a.role = (${role})::regrole AND r.relation = '$table'::regclass});
	return { ok => $delta >= $formula, words => "$delta paid" } if $kind eq 'delta';
	my $price = _number($formula =~ s/order/$order/r);
	my $ok = $spent >= $n * $price * (1 - 1e-9) && $spent <= $n * ($price * (1 + 1e-9) + 1e-12);
	return { ok => $ok, words => sprintf('%.6g for %d answers of %.6g at order %g', $spent, $n, $price, $order) };
}

# What the counts prove, what is claimed: (bound, claim, in words).
sub _verdict
{
	my ($row, $n, $from, $to, @only) = @_;
	my @claim = split ' ', $row->{claim};
	my $kind = shift @claim;
	my $value = _number($claim[0]);

	if ($kind eq 'epsilon' || $kind eq 'range')
	{
		my %seen = (%$from, %$to);
		my @more = (outputs => max(2, scalar(split /,/, $row->{parameters}{classes} // ''), scalar keys %seen));
		push @more, (delta => $claim[2]) if @claim > 1;
		push @more, @only if $kind eq 'epsilon';
		my $bound = $kind eq 'range' ? audit_range($n, $from, $to, $ALARM, @more) : audit_epsilon($n, $from, $to, $ALARM, @more);
		return ($bound, $value, sprintf('at least %.3f of %g', $bound, $value));
	}
	if ($kind eq 'entropy')
	{
		my $bound = _entropy($n, $from, $to);
		return ($bound, $value, sprintf('relative entropy at least %.4f of %g', $bound, $value));
	}
	if ($kind eq 'gaussian')
	{
		my ($variation, $nearly) = _gaussian_variation(@claim);
		my ($label) = sort keys %$from;
		my ($a, $b) = sort { $b <=> $a } map { $_->{$label} // 0 } $from, $to;
		my $words = sprintf('told apart by %.3f, %.3f allowed', ($a - $b) / $n, $variation);
		my $unused = $nearly - clopper_pearson_upper($a, $n, $ALARM / 4) + clopper_pearson_lower($b, $n, $ALARM / 4);
		return ($unused, 0, "$words: too much noise") if $unused > 0;
		return (audit_epsilon($n, $from, $to, $ALARM / 2, delta => $variation), 0, $words);
	}
	my $count = $from->{ $claim[1] } // 0;
	my $low = clopper_pearson_lower($count, $n, $ALARM / 2);
	my $high = clopper_pearson_upper($count, $n, $ALARM / 2);
	my $words = sprintf('%d of %d, expected %.1f', $count, $n, $value * $n);
	return (max($low, 0), $value, $words) if $kind eq 'most' || $low > $value;
	return ($value - $high, 0, $words);
}

# ---------- the size of a row ----------

# Two tables: the counts of a mistake that tell least, but for probability $RISK.
# A bound moves with either count, so that whatever is not caught is beyond them.
sub _told_apart
{
	my ($row, $n, $mistake) = @_;
	my ($answer, $p, $q) = @{$mistake}{qw(answer p q)};
	my ($k, $l) = least_telling($n, $p, $q) or return 0;
	my ($bound, $claim) = _verdict($row, $n, { $answer => $k, other => $n - $k }, { $answer => $l, other => $n - $l }, only => $answer);
	return $bound > $claim;
}

# One table: likewise; in the far tail lies what is caught.
sub _told
{
	my ($row, $n, $mistake) = @_;
	my ($kind, $value) = split ' ', $row->{claim};
	my $k = $mistake->{p} > _number($value) ? least_count($n, $mistake->{p}, $RISK) : most_count($n, $mistake->{p}, $RISK);
	my ($bound, $claim) = _verdict($row, $n, { $mistake->{answer} => $k }, {});
	return $bound > $claim;
}

sub _is_priced { return $_[0]{claim} =~ /^(?:price|delta) / }

# Dies unless n draws of each table find every mistake that the row names, and the
# mutants that it is said to find are among them.
sub size_row
{
	my ($row, $n, @mutants) = @_;
	my %named = map { $_ => 1 } map { @{ $_->{names} } } @{ $row->{mistakes} // [] };

	return if _is_priced($row);
	croak "$row->{name}: names no mistake" unless %named;
	foreach my $mutant (@mutants)
	{
		croak "$row->{name}: does not say what $mutant would answer" unless $named{$mutant};
	}
	foreach my $mistake (@{ $row->{mistakes} })
	{
		my $told = defined $mistake->{q} ? \&_told_apart : \&_told;
		enough_draws("$row->{name}, @{$mistake->{names}}", $n, sub { $told->($row, $_[0], $mistake) });
	}
	return;
}

# Are these the counts that a mistake is said to give?
sub _drawn_as_said
{
	my ($n, $mistake, $from, $to) = @_;
	foreach my $pair ([ $mistake->{p}, $from ], [ $mistake->{q}, $to ])
	{
		my ($p, $counts) = @$pair;
		my $k = $counts->{ $mistake->{answer} } // 0;
		return 0 if defined $p && ($k < least_count($n, $p, $RISK / 8) || $k > most_count($n, $p, $RISK / 8));
	}
	return 1;
}

# The mistake of a name, if the row has it.
sub _mistake_named
{
	my ($row, $name) = @_;
	my ($mistake) = grep { grep { $_ eq $name } @{ $_->{names} } } @{ $row->{mistakes} // [] };
	return $mistake;
}

# run_row(sql, row, number, draws [, mistake]): a hash of ok, words, and said: are
# counts as said of the mistake?  With "twice", the model has twice the epsilon
# that the claim is about; otherwise the server is a mutant of that name.
sub run_row
{
	my ($sql, $row, $number, $n, $name) = @_;
	my $twice = ($name // '') eq 'twice';
	my $table = "row_$number" . ($twice ? '_twice' : '');
	my $has_neighbour = !_is_priced($row) && $row->{claim} !~ /^(?:law|most) /;
	my $mistake = defined $name ? _mistake_named($row, $name) : undef;
	my $to = {};

	_create_model($sql, $row, $table, $row->{parameters}{epsilon} * ($twice ? 2 : 1));
	my $from = _counts($sql, $row, $table, $row->{table}, $n);
	return _price_result($sql, $row, $table, $n) if _is_priced($row);
	croak "$row->{name}: not $n answers" unless sum0(values %$from) == $n;
	$to = _counts($sql, $row, $table, $row->{neighbour}, $n) if $has_neighbour;
	my ($bound, $claim, $words) = _verdict($row, $n, $from, $to);
	$words .= '; ' . join(' and ', map { my $c = $_; join(', ', map { "$_ $c->{$_}" } sort keys %$c) } $from, $has_neighbour ? $to : ()) . " of $n";
	return { ok => $bound <= $claim, words => $words, said => !$mistake || _drawn_as_said($n, $mistake, $from, $to) };
}

1;
