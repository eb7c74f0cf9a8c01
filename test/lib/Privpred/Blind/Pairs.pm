# Random neighbours for every mechanism: declarations, two tables that differ in one unit, and what to ask.
# docs/blind.md says what is done with them.
#
# A pair is a hash of
#	models		[ name of the family's mechanism, arguments of create_model ]
#	protect		arguments of protect
#	account		pure; finite: of a finite order; wide: infinite, with room for deltas
#	a, b		versions, each a list of rows: unit, x, label
#	steps		for each version: [ model, question ], or [ model, question if the last answer was the first class, otherwise ]
#	drawn		how an answer comes about: answer, training, stream, student
#	words		what the pair is
package Privpred::Blind::Pairs;

use strict;
use warnings;
use Carp qw(croak);
use Exporter qw(import);

our @EXPORT_OK = qw(families scenarios random_pair);

# ---------- chance ----------

# Perl's own generator, which srand() seeds: a seed gives the same pairs on every machine.
sub _one_of { return $_[ int rand @_ ] }
sub _between { my ($least, $most) = @_; return $least + int rand($most - $least + 1) }

my @GRID = (0, 0.25, 0.5, 0.75, 1);

# ---------- tables ----------

# Units with labels by a rule: one label for all, a threshold, or a coin.
sub _random_units
{
	my ($units, $rows, @classes) = @_;
	my ($rule, $cut, $sure) = (_one_of('constant', 'threshold', 'coin'), _one_of(0.3, 0.6), _one_of(@classes));
	my @table;

	foreach my $unit (1 .. $units)
	{
		foreach (1 .. _between(1, $rows))
		{
			my $x = _one_of(@GRID);
			my $label = $rule eq 'constant' ? $sure : $rule eq 'coin' ? _one_of(@classes) : $x > $cut ? $classes[1] : $classes[0];
			push @table, [ $unit, $x, $label ];
		}
	}
	return \@table;
}

sub _other { my ($label, @classes) = @_; return _one_of(grep { $_ ne $label } @classes) }

# How one unit may differ.  Each gives the rows that it has in the other table.
my %CHANGES = (
	'labels turned' => sub { my ($own, $family) = @_; return map { [ @$_[ 0, 1 ], _other($_->[2], @{ $family->{classes} }) ] } @$own },
	'features moved' => sub { my ($own) = @_; return map { [ $_->[0], _one_of(@GRID), $_->[2] ] } @$own },
	'removed' => sub { return () },
	# as many rows as nobody declared, all of them against the unit's first
	'many rows' => sub {
		my ($own, $family) = @_;
		my $label = _other($own->[0][2], @{ $family->{classes} });
		return map { [ $own->[0][0], $own->[0][1], $label ] } 1 .. _between(8, 30);
	},
	'other rows' => sub { my ($own, $family) = @_; return map { [ $own->[0][0], _one_of(@GRID), _one_of(@{ $family->{classes} }) ] } 1 .. _between(1, 3) });

sub _neighbour
{
	my ($table, $unit, $change, $family) = @_;
	my @own = grep { $_->[0] == $unit } @$table;
	return [ (grep { $_->[0] != $unit } @$table), $CHANGES{$change}->(\@own, $family) ];
}

# ---------- mechanisms ----------

sub _json { my (%options) = @_; return '{' . join(', ', map { qq{"$_": } . ($options{$_} =~ /^[-\d.]+(?:e-?\d+)?$|^\{/ ? $options{$_} : qq{"$options{$_}"}) } sort keys %options) . '}' }

sub _arguments
{
	my ($family, $mechanism, %more) = @_;
	my $options = delete $more{options} // {};
	my $features = delete $more{features} // '{"x": {"min": 0, "max": 1}}';
	my $label = $options->{target} ? q{label => 'z'} : sprintf q{label => 'y', classes => '{%s}'}, join ',', @{ $family->{classes} };
	my $rest = join '', map { ", $_ => $more{$_}" } sort keys %more;
	return qq{$label, mechanism => '$mechanism', features => '$features', options => '} . _json(%$options) . "'$rest";
}

# Small learners that follow their rows.
my @LEARNERS = ([ 'stump', {} ], [ 'centroid', {} ], [ 'tree', { min_rows => 1 } ], [ 'knn', { k => 1 } ], [ 'naive_bayes', {} ]);

sub _teachers
{
	my ($family, $mechanism, $least, $most, $epsilon, %options) = @_;
	my ($learner, $own) = @{ _one_of(@LEARNERS) };
	return _arguments($family, $mechanism, learner => "'$learner'", teachers => _between($least, $most), epsilon => $epsilon, options => { %$own, %options });
}

my $LEVELS = '{"w": {"levels": ["low", "high"]}}';
my @CLASS_TABLES = ('public.blind_constants', 'public.blind_labellings');

# account, drawn: as above.  model: arguments of create_model, at random.  units: how many at most.  rows: of a unit, at most.
# declared, protects: for protect.  question: what is asked, at x.  changes: how one unit may differ, if not in every way.
# No account can pay for "stable", which is not private.
my %FAMILIES = (
	vote => { account => 'pure', units => 6, rows => 3, model => sub { _teachers($_[0], 'vote', 1, 5, _one_of(0.7, 1, 1.5)) } },
	'vote, three classes' => { mechanism => 'vote', account => 'pure', units => 6, rows => 2, classes => [qw(a b c)], model => sub { _teachers($_[0], 'vote', 1, 4, _one_of(0.7, 1, 1.5)) } },
	'vote, exponential' => { mechanism => 'vote', account => 'finite', units => 6, rows => 3, model => sub { _teachers($_[0], 'vote', 1, 5, _one_of(0.7, 1, 1.5), noise => 'exponential') } },
	'vote, gaussian' => { mechanism => 'vote', account => 'finite', units => 6, rows => 3, model => sub { _teachers($_[0], 'vote', 1, 5, _one_of(0.7, 1, 1.5), noise => 'gaussian') } },
	average => { account => 'pure', units => 6, rows => 3, model => sub { _teachers($_[0], 'average', 2, 6, _one_of(0.7, 1)) } },
	median => { account => 'pure', units => 6, rows => 2, classes => [qw(a b c)], model => sub { _teachers($_[0], 'median', 1, 5, _one_of(0.7, 1, 1.5)) } },
	'median, exponential' => { mechanism => 'median', account => 'finite', units => 6, rows => 2, classes => [qw(a b c)], model => sub { _teachers($_[0], 'median', 1, 5, _one_of(0.7, 1, 1.5)) } },
	threshold => { account => 'pure', units => 5, rows => 2, model => sub { _arguments($_[0], 'threshold', epsilon => _one_of(0.7, 1, 1.5)) } },
	'threshold, logistic' => { mechanism => 'threshold', account => 'finite', units => 5, rows => 2, model => sub { _arguments($_[0], 'threshold', epsilon => _one_of(0.7, 1, 1.5)) } },
	stable_flip => {
		account => 'pure', units => 4, rows => 1,
		model => sub { _arguments($_[0], 'stable_flip', epsilon => _one_of(1, 1.5), options => { hypotheses => _one_of('threshold', 'stump'), alpha => _one_of(0.05, 0.1, 0.2) }) }
	},
	# What is proved of relabel is far above what small tables show, unless the flip alone keeps the promise: then all else may be as bold as can be.
	relabel => {
		account => 'pure', units => 4, rows => 1,
		model => sub {
			my $alpha = _one_of(0.2, 0.25, 0.3);
			my $epsilon = sprintf '%.6f', log((1 - $alpha) / $alpha) + 1e-6;
			_arguments($_[0], 'relabel', epsilon => $epsilon,
				options => { alpha => $alpha, n_max => _one_of(4, 20), j => 0, kappa => _one_of(2, 6), q => _one_of(0.6, 0.9), chunks => _one_of(1, 3) });
		}
	},
	stable => {
		unpaid => 1, units => 4, rows => 1,
		model => sub { _arguments($_[0], 'stable', epsilon => 1) }
	},
	stable_erm => {
		account => 'pure', units => 2, rows => 1, declared => [ 2, 10 ], question => 'score',
		model => sub {
			_arguments($_[0], 'stable_erm', epsilon => _one_of(1, 1.5),
				options => { target => '{"min": -1, "max": 1}', huber => _one_of(0.125, 0.25), lambda => _one_of(0.0625, 0.25) });
		}
	},
	'stable_erm, gaussian' => {
		mechanism => 'stable_erm', account => 'finite', units => 2, rows => 1, declared => [ 2, 10 ], question => 'score',
		model => sub {
			_arguments($_[0], 'stable_erm', epsilon => _one_of(1, 1.5),
				options => { target => '{"min": -1, "max": 1}', huber => _one_of(0.125, 0.25), lambda => _one_of(0.0625, 0.25) });
		}
	},
	gradient => {
		account => 'finite', drawn => 'training', units => 2, rows => 2, declared => [ 1, 2 ], question => 'score',
		model => sub { _arguments($_[0], 'gradient', epsilon => 4, options => { delta => 0.02, steps => _one_of(1, 2), clip => _one_of(0.02, 0.05, 0.2) }) }
	},
	cover => {
		account => 'pure', drawn => 'training', units => 4, rows => 2, declared => [ 10000, 10000 ],
		model => sub { _arguments($_[0], 'cover', epsilon => _one_of(3, 5), features => $LEVELS, options => { class_table => _one_of(@CLASS_TABLES), accuracy => 1 }) }
	},
	label_private => {
		account => 'pure', drawn => 'training', units => 4, rows => 2, declared => [ 10000, 10000 ], protects => 'labels', changes => ['labels turned'],
		model => sub { _arguments($_[0], 'label_private', epsilon => _one_of(3, 5), features => $LEVELS, options => { class_table => _one_of(@CLASS_TABLES), accuracy => 1 }) }
	},
	# Few batches and a large epsilon: then about half of the batches have to agree, and one unit decides whether they do.
	littlestone => {
		account => 'wide', drawn => 'training', units => 12, rows => 1, least => 4, declared => [ 220, 220 ], delta => 0.02,
		model => sub {
			_arguments($_[0], 'littlestone', epsilon => _one_of(6, 8), features => $LEVELS,
				options => { class_table => _one_of(@CLASS_TABLES), batches => _between(4, 7), delta => 0.02 });
		}
	},
	# About as many units as teachers.
	sparse => { account => 'wide', drawn => 'stream', units => 12, least => 6, rows => 2, delta => 0.02, both_ends => 1, model => sub { _teachers($_[0], 'sparse', 5, 9, 6) } },
	soft => {
		account => 'wide', drawn => 'stream', units => 12, least => 6, rows => 2, delta => 0.02, both_ends => 1, question => 'score',
		model => sub { _teachers($_[0], 'soft', 5, 9, 6, precision => 0.5) }
	},
	distill => { account => 'pure', drawn => 'student', units => 4, rows => 2, model => sub { _teachers($_[0], 'vote', 1, 3, _one_of(2, 4)) } });

foreach my $name (keys %FAMILIES)
{
	my $family = $FAMILIES{$name};
	$family->{name} = $name;
	$family->{mechanism} //= $name;
	$family->{classes} //= [qw(a b)];
	$family->{drawn} //= 'answer';
	$family->{changes} //= [ 'labels turned', 'labels turned', 'features moved', 'removed', 'many rows', 'other rows' ];
}

sub families { return map { $FAMILIES{$_} } sort keys %FAMILIES }

# ---------- what is asked ----------

# one: a question.  several: three, each chosen by the answer before.  versions: the model is trained again on a table that has changed.
# two models: of the same table.
sub scenarios
{
	my ($family) = @_;
	return () if $family->{unpaid};
	return ('one') if $family->{drawn} eq 'stream' || $family->{drawn} eq 'student';
	return ('one', 'versions', 'two models') if $family->{question};
	return ('one', 'several', 'versions', 'two models');
}

# A stream asks many times anyway: some questions, the last one until it fails.
sub _stream_steps { return [ map { [ 0, _one_of(0, 1) ] } 1 .. _between(1, 4) ] }

sub _steps
{
	my ($family, $scenario, @own) = @_;
	# mostly where the unit is
	my $x = sub { _one_of(@GRID, @own, @own, @own, @own, @own) };

	return (_stream_steps()) if $family->{drawn} eq 'stream';
	return ([ map { [ 0, $_ ] } @GRID[ 0, 2, 4 ] ]) if $family->{drawn} eq 'student';
	return ([ [ 0, $x->() ] ], [ [ 0, $x->() ] ]) if $scenario eq 'versions';
	return ([ [ 0, $x->() ], [ 1, $x->() ] ]) if $scenario eq 'two models';
	return ([ [ 0, $x->() ], [ 0, $x->(), $x->() ], [ 0, $x->(), $x->() ] ]) if $scenario eq 'several';
	return ([ [ 0, $x->() ] ]);
}

# Every unit has a row at either end: a at 0 and b at 1, but for some that say one of them everywhere, or are turned.  Who says a everywhere is with most
# at one end and against them at the other, so that turning him moves two distances at once, in opposite directions.
sub _units_at_both_ends
{
	my ($units) = @_;
	my $odd = _one_of(0, 0, 0.1);
	my @table;
	foreach my $unit (1 .. $units)
	{
		my $labels = $unit > 1 && rand() >= $odd ? 'ab' : _one_of('aa', 'aa', 'bb', 'ab', 'ba');
		push @table, [ $unit, 0, substr $labels, 0, 1 ], [ $unit, 1, substr $labels, 1, 1 ];
	}
	return \@table;
}

sub random_pair
{
	my ($family, $scenario) = @_;
	my $units = _between($family->{least} // 1, $family->{units});
	my @classes = @{ $family->{classes} };
	my $made = sub { $family->{both_ends} ? _units_at_both_ends($units) : _random_units($units, $family->{rows}, @classes) };
	my @a = ($made->());
	my $unit = $family->{both_ends} ? 1 : _between(1, $units);
	my $change = _one_of(@{ $family->{changes} });
	my @own = map { $_->[1] } grep { $_->[0] == $unit } @{ $a[0] };

	# the other units of a second version may be others, too
	push @a, _one_of(0, 1) ? $a[0] : $made->() if $scenario eq 'versions';
	my @b = map { _neighbour($_, $unit, $change, $family) } @a;
	# "added" is "removed", seen from the other table
	if ($change eq 'removed' && _one_of(0, 1))
	{
		my @swapped = @a;
		@a = @b;
		@b = @swapped;
		$change = 'added';
	}
	my @declared = $family->{declared} ? @{ $family->{declared} } : (20, 20);
	my $declared = _between(@declared);
	my @models = ($family->{model}->($family));
	push @models, $family->{model}->($family) if $scenario eq 'two models';
	my $public = $family->{drawn} eq 'student' ? [ map { _one_of(@GRID, @own, @own, @own) } 1 .. _between(1, 3) ] : undef;
	return {
		family => $family, scenario => $scenario, models => \@models, a => \@a, b => \@b, change => $change, steps => [ _steps($family, $scenario, @own) ], public => $public,
		protect => "declared_units => $declared, max_rows_per_unit => $family->{rows}" . ($family->{protects} ? ", protects => '$family->{protects}'" : ''),
		learner => _one_of([ 'tree', { min_rows => 1 } ], [ 'knn', { k => 1 } ], [ 'stump', {} ])
	};
}

1;
