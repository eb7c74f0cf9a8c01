# Reports answers.sh.
use strict;
use warnings;
use Report;

my $cores = fact('cores');

if (has('answers/with', 'prototype/lanes'))
{
	heading('A million answers against a bare program');
	paragraph("SELECT count(private_predict(model, ARRAY[f1, ..., f20])) over 1,000,000 rows, 100 teachers, one session. The prototype (test/bench/prototype.c) has the same "
		. "teachers and questions in memory, and the same exact draw from getrandom(), but no server, budget or catalog; its majorities are checked against the server's. "
		. "*plain* evaluates teacher by teacher and is compiled with -O2; *lanes* evaluates 16 teachers at a time and is compiled for this very machine.");
	table([ '1,000,000 questions', 'ms', 'x plain', 'x lanes' ],
		map { [ $_->[0], number(median($_->[1]), 0), number(ratio($_->[1], 'prototype/plain'), 2), number(ratio($_->[1], 'prototype/lanes'), 2) ] } (
			[ 'SELECT count(private_predict(...))', 'answers/with' ],
			[ 'SELECT count(ARRAY[...])', 'answers/without' ],
			[ 'the difference', 'answers/net' ],
			[ 'prototype, plain', 'prototype/plain' ],
			[ 'prototype, lanes', 'prototype/lanes' ]));
	target('SELECT private_predict() of 1,000,000 rows, all of it, against the bare prototype', [ ratios('answers/with', 'prototype/plain') ], 2, ' x', '<=', 2, 'headline');
	target('the same less the statement without, against the prototype for this machine', [ ratios('answers/net', 'prototype/lanes') ], 2, ' x', '<=', 2);
}
if (has('sessions/8'))
{
	my %seen;
	my @sessions = grep { !$seen{$_}++ } (1, $cores, 8);
	paragraph("Several sessions at the same time, 200,000 answers a statement, $cores cores:");
	table([ 'sessions', 'answers a second', 'x one session' ],
		map { [ $_, number(median("sessions/$_"), 0), number(ratio("sessions/$_", 'sessions/1'), 2) ] } @sessions);
	target("$cores sessions against 1, on $cores cores", [ ratios("sessions/$cores", 'sessions/1') ], 2, ' x', '>=', 0.8 * $cores, 'headline') if $cores > 1;
	target("8 sessions against $cores", [ ratios('sessions/8', "sessions/$cores") ], 2, ' x', '>=', 0.9) if $cores < 8;
}
if (has('cold/megabyte'))
{
	paragraph("Milliseconds of the first answer of a new session while the ledger's process is running, and of the next statement; debits are durable:");
	table([ 'model', 'first', 'next' ],
		[ '100 teachers, 2 classes', number(median('cold/answers'), 1), number(median('warm/answers'), 2) ],
		[ '600 teachers, 10 classes, ' . number(fact('megabyte') / 1e6, 2) . ' MB', number(median('cold/megabyte'), 1), number(median('warm/megabyte'), 2) ]);
	target('first answer of a new session, model of 1 MB', [ all('cold/megabyte') ], 1, ' ms', '<', 10, 'headline');
}
1;
