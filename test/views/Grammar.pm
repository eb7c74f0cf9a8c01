# Random schemas, worlds and views for the experiment of sound.pl.
#
# Every table has the same columns; in private tables u is the unit, elsewhere it is a value like x.  A view is text with
# "@." before the names of tables.  The grammar knows what a cautious author would write (join by units, group by the unit,
# order by everything) and does so with a probability that is drawn anew for each view; else it writes anything that parses.
package Grammar;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(new_schema new_view near_miss chance pick);

# ---------- chance ----------

sub chance { return rand() < $_[0] }
sub pick { return $_[ int rand @_ ] }

# weighted WEIGHT => THING, ...
sub weighted
{
	my @pairs = @_;
	my $sum = 0;
	$sum += $pairs[ 2 * $_ ] for 0 .. $#pairs / 2;
	my $at = rand $sum;
	while (@pairs > 2 && ($at -= $pairs[0]) >= 0) { splice @pairs, 0, 2 }
	return $pairs[1];
}

sub shuffled
{
	my @list = @_;
	for (reverse 1 .. $#list)
	{
		my $j = int rand($_ + 1);
		@list[ $_, $j ] = @list[ $j, $_ ];
	}
	return @list;
}

# ---------- schemas ----------

# Units of a class: the types that their columns have, and for each unit its spellings.
my %classes = (
	int => [ [qw(int2 int4 int8)], map { [$_] } 1 .. 5 ],
	text => [ [qw(text varchar)], map { ["'$_'"] } 'a', 'A', 'a ', 'b', 'ab' ],
	date => [ ['date'], map { ["'2020-01-0$_'"] } 1 .. 5 ],
	uuid => [ ['uuid'], map { ["'00000000-0000-0000-0000-00000000000$_'"] } 1 .. 5 ],
	bytea => [ ['bytea'], map { ["'\\x0$_'"] } 1 .. 5 ],
	timestamptz => [ ['timestamptz'], map { ["'2020-01-01 0$_:00Z'"] } 1 .. 5 ],
	numeric => [ ['numeric'], [ 1, '1.0' ], ['2'], [ '3.00', 3 ], ['4'], [ 5, '5.0', '5.00' ] ],
	mood => [ ['snd.mood'], map { ["'m$_'"] } 1 .. 5 ],
);

# Few values, so that rows are alike; equal ones that are not the same; sums that depend on their order.
my %values = (
	int => [ 0, 1, 2, 3, 'NULL' ],
	float => [ qw('0' '-0' '0.1' '0.2' '0.3' '1e16' '-1e16' '1' '3.3' NULL) ],
	num => [ qw(0 1 1.0 1.00 2.5 2.50 NULL) ],
	text => [ "'a'", "'A'", "'b'", "'a '", 'NULL' ],
	date => [ "'2021-01-01'", "'2021-01-02'", "'2021-02-01'", 'NULL' ],
	bool => [ 'true', 'false', 'NULL' ],
	ivl => [ "'1 day'", "'24 hours'", "'1 mon'", "'30 days'", 'NULL' ],
	json => [ "'1'", "'1.0'", q('{"a": 1}'), q('{"a": 1.0}'), 'NULL' ],
	char => [ "'a'", "'a '", "'b'", 'NULL' ],
	loose => [ "'a'", "'A'", "'b'", 'NULL' ],
);

my @columns = ([ u => 'unit' ], [ x => 'unit' ], [ id => 'int' ], [ i => 'int' ], [ f => 'float' ], [ n => 'num' ], [ s => 'text' ],
	[ d => 'date' ], [ b => 'bool' ], [ v => 'ivl' ], [ j => 'json' ], [ c => 'char' ], [ l => 'loose' ]);
my %ddl = (int => 'int', float => 'float8', num => 'numeric', text => 'text', date => 'date', bool => 'boolean', ivl => 'interval',
	json => 'jsonb', char => 'bpchar', loose => 'text COLLATE snd.loose');

my ($schema, $care, $aliases);

sub random_row
{
	my ($table, $unit, $id) = @_;
	my $spell = sub { pick(@{ $schema->{units}[ $_[0] ] }) };
	return [
		map {
			my ($name, $type) = @$_;
			  $name eq 'u' && ($table->{private} || chance(0.9)) ? $spell->($unit)
			: $type eq 'unit' ? (chance(0.2) ? 'NULL' : $spell->(int rand 5))
			: $name eq 'id' && $table->{key} ne 'none' ? ($table->{key} eq 'nullable' && chance(0.2) ? 'NULL' : $id)
			: pick(@{ $values{$type} })
		} @columns
	];
}

# new_schema [CLASS]: tables p1 .. p4 (private), c1, c2 (public), z (neither), and what is in them; with a class, one for near misses
sub new_schema
{
	my ($class) = @_;
	my %keys = defined $class ? (p1 => 'none', p2 => 'nullable', c1 => 'nullable', c2 => 'id') : ();
	$class //= weighted(40 => 'int', 25 => 'text', 7 => 'date', 6 => 'uuid', 5 => 'bytea', 5 => 'timestamptz', 6 => 'numeric', 6 => 'mood');
	my ($types, @units) = @{ $classes{$class} };
	$schema = { class => $class, units => \@units, views => [] };
	my @private = map { "p$_" } 1 .. 2 + int rand 3;
	for my $name (@private, 'c1', 'c2', 'z')
	{
		my $private = $name =~ /^p/;
		my $table = { name => $name, private => $private || $name eq 'z', type => pick(@$types), protected => $private,
			key => $keys{$name} // weighted(35 => 'id', 15 => 'nullable', 35 => 'none', $private ? (15 => 'unit') : ()) };
		# partitioned tables have no keys here
		$table->{partitioned} = $private && $table->{key} eq 'none' && chance(0.3);
		my @owners = $table->{key} eq 'unit' ? 0 .. 4 : map { int rand 5 } 1 .. (%keys ? 16 : 8) + int rand 6;
		$table->{rows} = [ map { random_row($table, $owners[$_], $_ + 1) } 0 .. $#owners ];
		$table->{owners} = \@owners;
		$schema->{tables}{$name} = $table;
	}
	$schema->{private} = \@private;
	return $schema;
}

# What a neighbour of the schema has in a table if unit is not what it was.
sub neighbour_rows
{
	my ($table, $unit) = @_;
	my @kept = map { $table->{rows}[$_] } grep { $table->{owners}[$_] != $unit } 0 .. $#{ $table->{rows} };
	my @own = map { $table->{rows}[$_] } grep { $table->{owners}[$_] == $unit } 0 .. $#{ $table->{rows} };
	return @{ $table->{rows} } if !$table->{private} || chance(0.15);
	return @kept if chance(0.25);
	@own = grep { chance(0.5) } @own;
	my $new = $table->{key} eq 'unit' ? (@own ? 0 : 1) : int rand 5;
	# other keys, also small ones
	my %taken = map { $_->[2] => 1 } @kept, @own;
	my @free = shuffled(grep { !$taken{$_} } -3 .. 30);
	push @own, map { random_row($table, $unit, shift @free) } 1 .. $new;
	return (@kept, @own);
}

sub create_table_sql
{
	my ($table, $world) = @_;
	my $name = "$world.$table->{name}";
	my @lines = map {
		my ($column, $type) = @$_;
		"$column " . ($type eq 'unit' ? $table->{type} : $ddl{$type}) . ($column eq 'u' && $table->{private} ? ' NOT NULL' : '')
	} @columns;
	push @lines, { id => 'PRIMARY KEY (id)', nullable => 'UNIQUE (id)', unit => 'PRIMARY KEY (u)' }->{ $table->{key} } // ();
	return "CREATE TABLE $name (" . join(', ', @lines) . ')' . ($table->{partitioned}
		? " PARTITION BY HASH (i); " . join('; ', map { "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1)
		: '') . ";\n";
}

sub insert_sql
{
	my ($table, $world, @rows) = @_;
	return '' unless @rows;
	return "INSERT INTO $world.$table->{name} VALUES " . join(', ', map { '(' . join(', ', @$_) . ')' } @rows) . ";\n";
}

# world_sql WORLD UNIT: makes a world that differs in that unit (-1: in none), laid out in one of many ways
sub world_sql
{
	my ($world, $unit) = @_;
	my $sql = "CREATE SCHEMA $world;\n";
	my $after = '';
	for my $table (map { $schema->{tables}{$_} } sort keys %{ $schema->{tables} })
	{
		my $name = "$world.$table->{name}";
		my @rows = $unit < 0 ? @{ $table->{rows} } : neighbour_rows($table, $unit);
		@rows = shuffled(@rows) if $world ne 'w0';
		$sql .= create_table_sql($table, $world);
		my $half = int(@rows / 2);
		if (chance(0.3) && $world ne 'w0')
		{
			# Holes that are filled in another order, or stay.
			$sql .= insert_sql($table, $world, @rows) . "DELETE FROM $name;\n";
			$after .= "VACUUM $name;\n" if chance(0.3);
		}
		$sql .= insert_sql($table, $world, @rows[ 0 .. $half - 1 ]);
		$sql .= "CREATE INDEX ON $name (" . pick('u', 'i', 's', 'u, i', 'd DESC', 'x', 'id DESC', 'n', 'f') . ");\n" if chance(0.3);
		$sql .= insert_sql($table, $world, @rows[ $half .. $#rows ]);
		$after .= "VACUUM FULL $name;\n" if chance(0.1) && $world ne 'w0';
		if (chance(0.08) && $world ne 'w0' && !$table->{partitioned})
		{
			$after .= "CREATE INDEX $table->{name}_order ON $name (" . pick('u', 'i', 's', 'n') . "); CLUSTER $name USING $table->{name}_order;\n";
		}
		$after .= "ANALYZE $name;\n" if chance(0.4);
	}
	$after .= join '', map { my $body = $_->{sql}; $body =~ s/\@\./$world./g; "CREATE VIEW $world.$_->{name} AS $body;\n" } @{ $schema->{views} };
	$after .= "CREATE MATERIALIZED VIEW $world.mv AS SELECT * FROM $world.p1;\nCREATE SEQUENCE $world.sq; SELECT setval('$world.sq', 1 + (SELECT count(*) FROM $world.p1));\n";
	return ($sql, $after);
}

# ---------- expressions ----------

# A scope is what can be named: items, each with alias, columns (name => type) and keys (names), and the scope around it.

sub named
{
	my ($scope, $type) = @_;
	my $of = $scope->{outer} && chance(0.15) ? $scope->{outer} : $scope;
	my @found = map { my $item = $_; map { "$item->{alias}.$_->[0]" } grep { $_->[1] eq $type } @{ $item->{columns} } } @{ $of->{items} };
	return @found ? pick(@found) : undef;
}

sub keys_of { my ($scope) = @_; return map { my $item = $_; map { "$item->{alias}.$_" } @{ $item->{keys} } } @{ $scope->{items} } }

my %constants = (
	int => [ 0, 1, 2 ], float => [ "'0.5'::float8", "'-0'::float8" ], num => [ '1.0', '2.50', '1.000' ], text => [ "'a'::text", "'b '::text" ],
	date => ["'2021-01-01'::date"], bool => [ 'true', 'false', 'NULL::boolean' ], ivl => ["'1 day'::interval"], json => [q('{"a": 1}'::jsonb)], char => ["'a'::bpchar"],
	loose => ["'A'::text COLLATE snd.loose"],
);

sub constant
{
	my ($type) = @_;
	return pick(@{ $constants{$type} }) unless $type eq 'unit';
	my $unit = pick(@{ pick(@{ $schema->{units} }) });
	return $unit . '::' . $schema->{tables}{p1}{type};
}

# Patterns: a word in braces is an expression of that type.
my %patterns = (
	int => [ '{int} + {int}', 'length({text})', 'abs({int})', '{num}::int', 'extract(day FROM {date})::int', '{int} % 3', 'strpos({text}, {text})',
		'({bool})::int', 'width_bucket({float}, 0, 1, 3)', 'jsonb_typeof({json})::text::"char"::text = \'x\' AND NULL::int', 'snd.twice({int})', 'greatest({int}, {int})', 'nullif({int}, {int})', 'scale({num})', 'date_part(\'month\', {date})::int' ],
	float => [ '{float} * 2', '{num}::float8', '{int}::float8', '- {float}', 'abs({float})', '{float} + {float}', 'extract(epoch FROM {ivl})::float8', 'atan2({float}, -1)' ],
	num => [ '{num} + {num}', '{num} / 3', '{int}::numeric', 'round({num}, 1)', '{num} * 2.00', 'trim_scale({num})', '{float}::numeric', 'greatest({num}, {num})', 'least({num}, 1.00)', 'nullif({num}, {num})' ],
	text => [ "{text} || 'z'", 'upper({text})', '{num}::text', '{float}::text', '{int}::text', '{date}::text', 'concat({text}, {int})', "to_char({date}, 'YYYYMM')",
		'{ivl}::text', '{json}::text', "{char} || '|'", '{unit}::text', "format('%s', {num})", 'to_json({num})::text', "{json} ->> 'a'", 'octet_length({char})::text', 'ROW({num}, {int})::text', 'md5({loose})' ],
	date => [ '{date} + 1', "date_trunc('month', {date})::date", 'greatest({date}, {date})' ],
	bool => [ '{int} > {int}', '{int} = {int}', '{num} = {num}', '{float} < {float}', '{text} = {text}', '{text} < {text}', '{date} >= {date}', '{unit} = {unit}', '{unit} <> {unit}', '{unit} < {unit}',
		'{int} IS NULL', '{unit} IS NULL', '{num} IS NOT NULL', '{bool} AND {bool}', '{bool} OR {bool}', 'NOT {bool}', '{int} BETWEEN 0 AND {int}', "{text} LIKE 'a%'", '{int} IN (1, 2)', '{unit} IS NOT DISTINCT FROM {unit}',
		'{bool} IS TRUE', '{char} = {char}', '{ivl} = {ivl}', '{json} = {json}', '{loose} = {loose}', '{int} = ANY (ARRAY[{int}, 1])', '({int}, {text}) < ({int}, {text})' ],
	ivl => [ '{ivl} * 2', 'justify_days({ivl})' ],
	json => [ 'to_jsonb({num})', 'to_jsonb({int})', "jsonb_build_object('a', {num})" ],
	char => [ '{char}', '{text}::bpchar' ],
	loose => [ '{text} COLLATE snd.loose', '{loose}' ],
	unit => [ '{unit}', 'nullif({unit}, {unit})' ],
);

sub fill
{
	my ($pattern, $scope, $depth) = @_;
	my $text;
	# A column beside itself says little.
	for (1 .. 4)
	{
		($text = $pattern) =~ s/\{(\w+)\}/expression($1, $scope, $depth - 1)/ge;
		last unless $text =~ /^(\S+) \S+ \g1$/;
	}
	return "($text)";
}

sub expression
{
	my ($type, $scope, $depth) = @_;
	my $column = named($scope, $type);
	return $column if defined $column && ($depth <= 0 || chance($type eq 'bool' ? 0.15 : 0.6));
	return constant($type) if $depth <= 0 || chance($type eq 'bool' ? 0.01 : 0.1);
	return subquery_expression($type, $scope, $depth) if $scope->{sublinks} > 0 && chance(0.1);
	return fill(pick("CASE WHEN {bool} THEN {$type} ELSE {$type} END", "COALESCE({$type}, {$type})"), $scope, $depth) if chance(0.12);
	return fill(pick(@{ $patterns{$type} }), $scope, $depth);
}

# ---------- aggregates and windows ----------

# By type of the result: those that depend on the multiset alone, and others.
my %aggregates = (
	int => [ [ 'count(*)', 'count({num})', 'sum({int})::int', 'min({int})', 'max({int})', 'bit_and({int})', 'count(DISTINCT {num})', 'count(*) FILTER (WHERE {bool})', 'mode() WITHIN GROUP (ORDER BY {int})',
			'percentile_disc(0.5) WITHIN GROUP (ORDER BY {int})', 'rank(1) WITHIN GROUP (ORDER BY {int})', 'count(DISTINCT {text})' ],
		[ '(array_agg({int}))[1]', 'scale(min({num}))', 'scale(sum(DISTINCT {num}))' ] ],
	num => [ [ 'sum({num})', 'avg({num})', 'avg({int})', 'min({num})', 'max({num})', 'stddev({num})', 'var_pop({int})', 'sum({float}::numeric)', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY {num})' ],
		[ 'min({num}) / 3', 'sum(DISTINCT {num})', 'round(max({num}) * 1.0, 5)' ] ],
	float => [ [ 'min({float})', 'max({float})', 'sum({float} ORDER BY {float})', 'sum(@F ORDER BY @F)', 'avg(@F ORDER BY @F)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY {float})', 'avg({num})::float8' ],
		[ 'sum({float})', 'avg({float})', 'stddev({float})', 'corr({float}, {int})', 'atan2(max({float}), -1)', 'regr_slope({float}, {int})' ] ],
	text => [ [ 'string_agg(@S, \',\' ORDER BY @S)', 'min({text})', 'max({text})', 'array_agg(@I ORDER BY @I)::text', 'string_agg(DISTINCT {text}, \'-\')', 'array_agg(DISTINCT {date})::text', 'sum({ivl})::text', 'json_agg(@I ORDER BY @I)::text' ],
		[ 'string_agg({text}, \',\')', 'array_agg({int})::text', 'json_agg({text})::text', 'min({num})::text', 'max({float})::text', 'array_agg(@N ORDER BY @N)::text', 'array_agg(@S ORDER BY {int})::text', 'string_agg(@S, {text} ORDER BY @S)',
			'min({ivl})::text', 'max({char}) || \'|\'', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY {num})::text', 'mode() WITHIN GROUP (ORDER BY {num})::text', 'array_agg(DISTINCT {num})::text', 'string_agg(@S, \',\' ORDER BY @S COLLATE snd.loose)',
			'jsonb_object_agg(COALESCE({text}, \'\'), {int})::text', 'snd.latest({text})', 'max({loose})', 'jsonb_agg(@J ORDER BY @J)::text' ] ],
	date => [ [ 'min({date})', 'max({date})' ], ['(array_agg({date}))[1]'] ],
	bool => [ [ 'bool_or({bool})', 'bool_and({bool})', 'count(*) > 1', 'every({bool})' ], ['(array_agg({bool}))[1]'] ],
	ivl => [ ['sum({ivl})'], [ 'max({ivl})', 'avg({ivl})' ] ],
	json => [ ['to_jsonb(array_agg(@I ORDER BY @I))'], [ '(array_agg({json}))[1]', 'jsonb_agg({int})', 'to_jsonb(min({num}))' ] ],
	char => [ ['min({text})::bpchar'], ['max({char})'] ],
	loose => [ ['min({text}) COLLATE snd.loose'], ['max({loose})'] ],
	unit => [ ['max({unit})'], ['(array_agg({unit}))[1]'] ],
);
my %of_letter = ('@F' => 'float', '@S' => 'text', '@I' => 'int', '@N' => 'num', '@J' => 'json');

sub aggregate
{
	my ($type, $scope) = @_;
	$type = 'int' if $type eq 'unit' && !@{ $aggregates{unit} };
	my ($exact, $others) = @{ $aggregates{$type} };
	my $pattern = pick(@{ chance($care) ? $exact : $others });
	for my $letter (keys %of_letter)
	{
		my $same = expression($of_letter{$letter}, { %$scope, sublinks => 0 }, 0);
		$pattern =~ s/\Q$letter\E/$same/g;
	}
	return fill($pattern, { %$scope, sublinks => chance(0.1) ? $scope->{sublinks} : 0 }, 1);
}

my @identity = qw(int text date bool);

# An order by these and by more columns of types with identity.
sub order_of { my ($scope, @first) = @_; return join ', ', map { $_ . (chance(0.2) ? ' DESC' : '') . (chance(0.1) ? ' NULLS FIRST' : '') } @first }

sub window
{
	my ($type, $scope) = @_;
	my @keys = keys_of($scope);
	my $partition = @keys && chance($care) ? 'PARTITION BY ' . pick(@keys) . (chance(0.3) ? ', ' . expression('int', $scope, 0) : '')
		: chance(0.5) ? 'PARTITION BY ' . expression(pick('int', 'text', 'unit'), $scope, 0) : '';
	my %plain = map { $_ => expression($_, { %$scope, sublinks => 0 }, 0) } qw(int text date float num);
	my $by = pick(qw(int text date));
	if ($type eq 'int' && chance(0.4))
	{
		return pick('rank()', 'dense_rank()') . " OVER ($partition ORDER BY " . order_of($scope, $plain{ pick(qw(int num float text)) }) . ')' if chance($care);
		return pick('row_number()', 'ntile(2)') . " OVER ($partition ORDER BY " . order_of($scope, chance(0.5) ? @plain{qw(int text)} : $plain{int}) . ')';
	}
	if ($plain{$type} && chance(0.4))
	{
		# the argument in the order, and nothing else in the select list that matters: seldom total
		my $function = pick("lag($plain{$type})", "lead($plain{$type}, 1)", "first_value($plain{$type})", "last_value($plain{$type})", "nth_value($plain{$type}, 2)");
		return "$function OVER ($partition ORDER BY " . order_of($scope, chance($care) ? @{ $scope->{everything} // [] } : (), $plain{$by}) . ')';
	}
	my $frame = !chance($care) ? pick('ROWS BETWEEN 1 PRECEDING AND CURRENT ROW', 'ROWS UNBOUNDED PRECEDING', 'RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW', 'GROUPS CURRENT ROW EXCLUDE TIES')
		: pick('', 'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING', $by eq 'int' ? 'RANGE BETWEEN 1 PRECEDING AND CURRENT ROW' : '');
	my %windowed = (int => [ 'count(*)', 'sum({int})::int', 'max({int})' ], num => [ 'sum({num})', 'avg({int})', 'max({num})' ], float => [ 'max({float})', 'avg({num})::float8' ],
		text => ['max({text})'], date => ['min({date})'], bool => ['bool_or({bool})'], ivl => ['sum({ivl})'], unit => ['max({unit})']);
	my %careless = (float => [ 'sum({float})', 'avg({float})' ], text => [ "string_agg({text}, ',')", 'max({num})::text' ]);
	my $list = (!chance($care) && $careless{$type}) || $windowed{$type} or return expression($type, $scope, 1);
	my $pattern = pick(@$list);
	$pattern =~ s/^(\w+\(.*?\))(::\w+)?$/$1 OVER ($partition ORDER BY $plain{$by} $frame)/ or return expression($type, $scope, 1);
	my $cast = $2 // '';
	$pattern =~ s/\{(\w+)\}/expression($1, { %$scope, sublinks => 0 }, 0)/ge;
	return "($pattern)$cast";
}

# ---------- FROM ----------

sub alias { return 't' . $aliases++ }

sub table_item
{
	my ($name) = @_;
	my $alias = alias();
	return { alias => $alias, text => (chance(0.04) ? 'ONLY ' : '') . "\@.$name $alias", columns => \@columns, keys => $name =~ /^p\d$/ ? ['u'] : [] };
}

sub query_item
{
	my ($query, $lateral) = @_;
	my $alias = alias();
	if (chance(0.07))
	{
		# whose rows these are is not told
		my @others = @{ $query->{columns} }[ 1 .. $#{ $query->{columns} } ];
		my $inner = alias();
		$query = { sql => 'SELECT ' . join(', ', map { "$inner.$_->[0]" } @others) . " FROM ($query->{sql}) $inner", columns => \@others, keys => [] };
	}
	return { alias => $alias, text => ($lateral ? 'LATERAL ' : '') . "($query->{sql}) $alias", columns => $query->{columns}, keys => $query->{keys}, lateral => $lateral };
}

sub item
{
	my ($depth, $scope) = @_;
	if ($scope->{with} && @{ $scope->{with} } && chance(0.4))
	{
		my ($with, $alias) = (pick(@{ $scope->{with} }), alias());
		return { alias => $alias, text => "$with->{name} $alias", columns => $with->{columns}, keys => $with->{keys} };
	}
	if ($depth > 0 && @{ $scope->{items} } && chance(0.12))
	{
		# siblings are what is around it
		return query_item(query($depth - 1, { items => $scope->{items}, outer => $scope->{outer}, sublinks => 0 }, pinned => 1), 1);
	}
	return query_item(query($depth - 1, $scope->{outer}), 0) if $depth > 0 && chance(0.15);
	my $kind = weighted(66 => 'private', 18 => 'public', 8 => 'view', 3 => 'series', 3 => 'values', chance($care) ? () : (2 => 'z', 1 => 'mv', 1 => 'sample'));
	if ($kind eq 'view' && @{ $schema->{views} })
	{
		my ($view, $alias) = (pick(@{ $schema->{views} }), alias());
		return { alias => $alias, text => "\@.$view->{name} $alias", columns => $view->{columns}, keys => ['k'] };
	}
	my $alias = alias();
	return { alias => $alias, text => "generate_series(1, 2) $alias (i)", columns => [ [ i => 'int' ] ], keys => [] } if $kind eq 'series';
	return { alias => $alias, text => "(VALUES (1, 'a'), (2, 'b'), (2, 'a')) $alias (i, s)", columns => [ [ i => 'int' ], [ s => 'text' ] ], keys => [] } if $kind eq 'values';
	return { alias => $alias, text => "\@.p1 $alias TABLESAMPLE SYSTEM (50) REPEATABLE (1)", columns => \@columns, keys => ['u'] } if $kind eq 'sample';
	return table_item($kind) if $kind eq 'z' || $kind eq 'mv';
	return table_item($kind eq 'public' ? pick('c1', 'c2') : pick(@{ $schema->{private} }));
}

sub unit_tie
{
	my ($left, $right) = @_;
	my ($a, $b) = (pick(keys_of({ items => $left })), pick(keys_of({ items => $right })));
	return undef unless defined $a && defined $b;
	return chance(0.5) ? "$a = $b" : "$b = $a";
}

# A tree of joins: its text and items.
sub joined
{
	my ($depth, $scope, $count) = @_;
	my $first = item($depth, $scope);
	my ($text, @items) = ($first->{text}, $first);
	while (@items < $count)
	{
		my $inner = { %$scope, items => [ @{ $scope->{items} }, @items ] };
		my ($next, @new);
		if ($count > 2 && chance(0.12))
		{
			($next, @new) = joined($depth - 1, { %$scope }, 2);
			$next = "($next)";
		}
		else
		{
			@new = item($depth, $inner);
			$next = $new[0]{text};
		}
		my $kind = weighted(40 => 'JOIN', 28 => 'LEFT JOIN', $new[0]{lateral} ? () : (7 => 'RIGHT JOIN', 8 => 'FULL JOIN'), 6 => 'CROSS JOIN');
		my $here = { items => [ @items, @new ], outer => $scope->{outer}, sublinks => $depth > 0 ? 1 : 0 };
		my $tie = unit_tie(\@items, \@new);
		my $both = defined $tie;
		undef $tie if $tie && !chance($care);
		if ($kind eq 'CROSS JOIN')
		{
			$text .= " CROSS JOIN $next";
			push @{ $scope->{later} }, $tie if $tie;
		}
		else
		{
			my $on = $tie && chance(0.7) ? $tie : $tie ? "$tie AND " . expression('bool', $here, 1) : $both || chance(0.5) ? expression('bool', $here, 1) : expression('int', $here, 0) . ' = ' . expression('int', $here, 0);
			$on = expression('int', { items => \@items, sublinks => 0 }, 0) . ' = ' . expression('int', { items => \@new, sublinks => 0 }, 0) if $kind eq 'FULL JOIN' && !$tie;
			$on = $tie if $kind eq 'FULL JOIN' && $tie;
			if ($tie && $on eq $tie && $kind =~ /JOIN/ && !grep({ my $i = $_; !grep { $_->[0] eq 'u' } @{ $i->{columns} } } @items, @new) && @items == 1 && @new == 1 && chance(0.2))
			{
				$text .= " $kind $next USING (u)";
			}
			else
			{
				$text .= " $kind $next ON $on";
			}
		}
		push @items, @new;
	}
	return ($text, @items);
}

sub from
{
	my ($depth, $scope, $count) = @_;
	my @parts;
	my $left = $count;
	while ($left > 0)
	{
		my $size = chance(0.25) ? 1 : $left;
		my $inner = { %$scope, later => $scope->{later} };
		my ($text, @items) = joined($depth, $inner, $size);
		if (@parts && chance($care))
		{
			my $tie = unit_tie($scope->{items}, \@items);
			push @{ $scope->{later} }, $tie if $tie;
		}
		push @parts, $text;
		push @{ $scope->{items} }, @items;
		$left -= $size;
	}
	return join ', ', @parts;
}

# ---------- subqueries in expressions ----------

sub pin
{
	my ($inner, $outer) = @_;
	my @inner = keys_of($inner);
	my @outer = keys_of($outer);
	@outer = keys_of($outer->{outer}) if $outer->{outer} && chance(0.15) && keys_of($outer->{outer});
	return undef unless @inner && @outer;
	return pick(@inner) . ' = ' . pick(@outer);
}

# The FROM and WHERE of one.
sub pinned_source
{
	my ($scope, $depth) = @_;
	my $inner = { items => [], outer => $scope, sublinks => $depth > 1 ? 1 : 0, later => [] };
	my $from = from($depth - 2, $inner, weighted(70 => 1, 30 => 2));
	my @where = @{ $inner->{later} };
	my $pin = pin($inner, $scope);
	push @where, $pin if $pin && chance($care);
	push @where, expression('bool', $inner, 1) if chance(0.4);
	return ($inner, $from . (@where ? ' WHERE ' . join(' AND ', @where) : ''));
}

sub subquery_expression
{
	my ($type, $scope, $depth) = @_;
	my ($inner, $source) = pinned_source($scope, $depth);
	if ($type eq 'bool')
	{
		my @keys = keys_of($inner);
		my @outer = keys_of($scope);
		return pick('EXISTS', 'NOT EXISTS') . " (SELECT FROM $source)" if chance(0.5);
		return pick(@outer) . pick(' IN ', ' NOT IN ') . '(SELECT ' . pick(@keys) . " FROM $source)" if @keys && @outer && chance(0.3);
		return expression('int', { %$scope, sublinks => 0 }, 0) . pick(' = ANY ', ' <> ALL ', ' > ALL ', ' < ANY ') . '(SELECT ' . expression('int', { %$inner, sublinks => 0 }, 0) . " FROM $source)";
	}
	return '(SELECT ' . aggregate($type, $inner) . " FROM $source)" if $aggregates{$type} && chance(0.7);
	return '((ARRAY(SELECT ' . expression('int', { %$inner, sublinks => 0 }, 0) . " FROM $source))[1])" if $type eq 'int' && !chance($care);
	my $value = expression($type, { %$inner, sublinks => 0 }, 0);
	return "(SELECT $value FROM $source ORDER BY " . (chance($care) ? $value : expression('int', { %$inner, sublinks => 0 }, 0)) . ' LIMIT 1)';
}

# ---------- queries ----------

# query DEPTH OUTER WANTED: SELECT k, c1, ... of these types; pinned: tries to belong to a row of OUTER
sub query
{
	my ($depth, $outer, %want) = @_;
	my @types = @{ $want{types} // [ map { weighted(30 => 'int', 14 => 'num', 12 => 'float', 18 => 'text', 6 => 'date', 8 => 'bool', 3 => 'ivl', 3 => 'json', 3 => 'char', 2 => 'loose', 4 => 'unit') } 1 .. 1 + int rand 3 ] };
	return combined($depth, $outer, \@types, %want) if $depth > 0 && chance(0.12);
	my $scope = { items => [], outer => $outer, sublinks => $depth, later => [], with => $want{with} };
	my $with = '';
	if ($depth > 0 && chance(0.1))
	{
		my $query = query($depth - 1, $outer);
		my $name = 'q' . $aliases++;
		$with = "WITH $name AS " . pick('', 'MATERIALIZED ', 'NOT MATERIALIZED ') . "($query->{sql}) ";
		$scope->{with} = [ @{ $want{with} // [] }, { name => $name, columns => $query->{columns}, keys => $query->{keys} } ];
	}
	my $from = from($depth, $scope, weighted($depth > 0 ? (35 => 1, 45 => 2, 20 => 3) : (60 => 1, 35 => 2, 5 => 3)));
	my @where = @{ $scope->{later} };
	my $pin = $want{pinned} && $outer ? pin($scope, $outer) : undef;
	push @where, $pin if $pin && chance($care);
	push @where, expression('bool', $scope, 2) if chance(0.35);
	push @where, in_keys($scope, $depth) if $depth > 0 && chance(0.06) && keys_of($scope);
	my $where = @where ? ' WHERE ' . join(' AND ', @where) : '';
	my @keys = keys_of($scope);
	my $key = @keys && chance($care) ? pick(@keys) : expression('unit', { %$scope, outer => undef, sublinks => 0 }, 1);
	$key = 'COALESCE(' . join(', ', (shuffled(@keys))[ 0, 1 ]) . ')' if @keys > 1 && $from =~ /FULL JOIN/ && chance(0.7);
	my @names = map { "c$_" } 1 .. @types;
	my $kind = weighted(45 => 'plain', 22 => 'grouped', 13 => 'window', 7 => 'distinct', 5 => 'distinct on', $outer || !chance($care) ? (8 => 'limit') : ());
	my ($select, $tail) = select_list($kind, $scope, $key, \@types, $where);
	return { sql => $with . "SELECT $select FROM $from$where$tail", columns => [ [ k => 'unit' ], map { [ $names[$_] => $types[$_] ] } 0 .. $#types ], keys => ['k'] };
}

sub in_keys
{
	my ($scope, $depth) = @_;
	my $query = query(0, $scope->{outer}, types => ['int']);
	return pick(keys_of($scope)) . " IN (SELECT k FROM ($query->{sql}) " . alias() . ')' if chance(0.7);
	return '(' . pick(keys_of($scope)) . ', ' . expression('int', { %$scope, sublinks => 0 }, 0) . ") IN ($query->{sql})";
}

# The select list and what follows WHERE.
sub select_list
{
	my ($kind, $scope, $key, $types) = @_;
	my $list = sub { my ($make) = @_; return join ', ', "$key AS k", map { $make->($types->[$_]) . ' AS c' . ($_ + 1) } 0 .. $#$types };
	my $plain = sub { expression($_[0], $scope, 2) };
	if ($kind eq 'grouped')
	{
		my @by = chance($care) ? ($key) : (expression('int', { %$scope, sublinks => 0 }, 0));
		my $second = chance(0.4) ? pick(qw(int text num float char date)) : '';
		my $extra = $second ? expression($second, { %$scope, outer => undef, sublinks => 0 }, 0) : undef;
		push @by, $extra if $extra;
		my $used = 0;
		my $text = join ', ', ($by[0] eq $key ? $key : chance(0.7) ? "max($key)" : $key) . ' AS k',
			map { ($extra && $types->[$_] eq $second && !$used++ ? $extra : aggregate($types->[$_], $scope)) . ' AS c' . ($_ + 1) } 0 .. $#$types;
		my $having = chance(0.15) ? ' HAVING ' . pick('count(*) > 1', 'min({int}) < 2', 'bool_or({bool})') : '';
		$having =~ s/\{(\w+)\}/expression($1, { %$scope, sublinks => 0 }, 0)/ge;
		return ($text, ' GROUP BY ' . join(', ', @by) . $having);
	}
	if ($kind eq 'window')
	{
		my @used = map { expression($_, { %$scope, outer => undef, sublinks => 0 }, 0) } @$types;
		my $inner = { %$scope, everything => \@used };
		my $at = int rand @$types;
		return (join(', ', "$key AS k", map { ($_ == $at ? window($types->[$_], $inner) : $used[$_]) . ' AS c' . ($_ + 1) } 0 .. $#$types), '');
	}
	return ('DISTINCT ' . $list->($plain), '') if $kind eq 'distinct';
	return ($list->($plain), '') if $kind eq 'plain';
	# Orders: by the key and every column, or by less.
	my @values = map { expression($_, { %$scope, sublinks => 0 }, 1) } @$types;
	my @by = chance($care) ? ($key, shuffled(@values)) : ($key, (shuffled(@values))[ 0 .. int rand @values ]);
	my $text = join ', ', "$key AS k", map { "$values[$_] AS c" . ($_ + 1) } 0 .. $#values;
	return ("DISTINCT ON ($key) $text", ' ORDER BY ' . join(', ', @by)) if $kind eq 'distinct on';
	return ($text, ' ORDER BY ' . join(', ', @by) . pick(' LIMIT 1', ' LIMIT 2', ' OFFSET 1', ' FETCH FIRST 2 ROWS ONLY', ' FETCH FIRST 1 ROWS WITH TIES'));
}

sub combined
{
	my ($depth, $outer, $types, %want) = @_;
	my ($a, $b) = map { query($depth - 1, $outer, %want, types => $types) } 1, 2;
	my $operation = weighted(35 => 'UNION ALL', 25 => 'UNION', 10 => 'INTERSECT', 10 => 'EXCEPT', 5 => 'EXCEPT ALL', 5 => 'INTERSECT ALL');
	return { sql => "($a->{sql}) $operation ($b->{sql})", columns => $a->{columns}, keys => ['k'] };
}

# ---------- views ----------

# new_view DEPTH: one for the current schema
sub new_view
{
	my ($depth) = @_;
	$aliases = 0;
	$care = pick(0.7, 0.9, 0.97, 1, 1);
	return query($depth, undef);
}

sub add_views
{
	for (1 .. 3)
	{
		$care = pick(0.9, 1);
		my $view = new_view(pick(0, 1));
		push @{ $schema->{views} }, { %$view, name => "nv$_" };
	}
}

# near_miss TEXT: a template, with tables put in for {A}, {B}, {C} (private), {P}, {Q} (public), {K} a unit
sub near_miss
{
	my ($text) = @_;
	# the first has several rows of a unit
	my @private = sort { ($schema->{tables}{$a}{key} eq 'unit') <=> ($schema->{tables}{$b}{key} eq 'unit') } shuffled(@{ $schema->{private} });
	my @public = shuffled('c1', 'c2');
	my %tables = (A => $private[0], B => $private[ 1 % @private ], C => $private[ 2 % @private ], P => $public[0], Q => $public[1]);
	$text =~ s/\{([ABCPQ])\}/\@.$tables{$1}/g;
	$text =~ s/\{K\}/constant('unit')/ge;
	return $text;
}

# in_context TEXT: the same within something larger
sub in_context
{
	my ($text) = @_;
	my $private = pick(@{ $schema->{private} });
	return pick(
		$text, $text,
		"SELECT * FROM ($text) q",
		"SELECT q.*, o.i AS more FROM ($text) q JOIN \@.$private o ON o.u = q.k",
		"SELECT q.*, o.i AS more FROM ($text) q LEFT JOIN \@.c1 o ON o.i = 1",
		"WITH q AS ($text) SELECT * FROM q WHERE k IS NOT NULL",
		"($text) UNION ALL ($text)",
		"SELECT o.u AS k, q::text AS whole FROM \@.$private o JOIN ($text) q ON o.u = q.k");
}

1;
