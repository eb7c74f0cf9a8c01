# Reports bounds.sh.
use strict;
use warnings;
use Report;

if (has('bounds/bound/vote/50/1'))
{
	my @epsilons = sort { $a <=> $b } map { m{([^/]+)$} } names(qr{^bounds/bound/vote/50/});
	my @mechanisms = qw(vote average gradient distill stable_erm cover);
	my $value = sub { my ($kind, $name, $f, $e) = @_; median("bounds/$kind/$name/$f/$e") };
	heading('Rows needed, and lower bounds');
	paragraph('The table shows, for one answer within a budget of (epsilon, 1e-6) that is to be right 93 times in 100 where a plain model is right 95 times, rows_needed of privpred.plan() divided by its rows_at_least: '
		. 'how far each mechanism is from what is proved to be impossible on some problem. The bound of cover is that of rules of one feature.');
	for my $f (5, 50)
	{
		my $factor = sub { my ($name, $e) = @_; my ($needed, $bound) = map { $value->($_, $name, $f, $e) } 'needed', 'bound'; return defined $needed ? number($needed / $bound, 0) : '' };
		table([ "$f features, epsilon", @epsilons ], [ 'bound, rows', map { number($value->('bound', 'vote', $f, $_), 0) } @epsilons ],
			map { my $name = $_; [ $name, map { $factor->($name, $_) } @epsilons ] } @mechanisms);
	}
	my $line = sub { my ($title, $kind, $name, $f) = @_; return [ "$title, $f features", map { [ $_, $value->($kind, $name, $f, $_) ] } grep { has("bounds/$kind/$name/$f/$_") } @epsilons ] };
	picture('Rows needed for one answer by epsilon, and the lower bound, for 5 and 50 features', 'bounds.svg', 'log_lines',
		'Rows for one answer that is right 93 times in 100, where 95 are possible', 'epsilon',
		$line->('vote', 'needed', 'vote', 50), $line->('gradient', 'needed', 'gradient', 50), $line->('lower bound', 'bound', 'vote', 50),
		$line->('vote', 'needed', 'vote', 5), $line->('gradient', 'needed', 'gradient', 5), $line->('lower bound', 'bound', 'vote', 5));
}
1;
