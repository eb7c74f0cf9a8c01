# Reports ledger.sh.
use strict;
use warnings;
use Report;

my $share = has('share/asleep') ? 100 * (median('share/asleep') + (median('share/awake') // 0)) : undef;

if (has('tps/debit/1'))
{
	heading('Ledger');
	paragraph("The table shows transactions a second of pgbench -M prepared on one account, and on one row; fsync and synchronous_commit are on.");
	table([ 'clients', 'SELECT private_predict()', 'UPDATE + COMMIT', 'debits / updates' ],
		map { [ $_, number(median("tps/debit/$_"), 0), number(median("tps/update/$_"), 0),
				number(ratio("tps/debit/$_", "tps/update/$_"), 2) ] } (1, 8, 32));
	paragraph("The first answer after the ledger's process has gone to rest takes " . number(median('idle/first'), 1)
		. " ms, the next statement " . number(median('idle/next'), 2) . " ms.");
}
if (defined $share)
{
	paragraph("One statement with 1,000,000 answers took " . number(median('share/wall') / 1000, 2) . " s, of which "
		. number(100 * median('share/asleep'), 1) . " % asleep (wall time less /proc/PID/schedstat: waiting for the ledger, whose process waits for a processor when the machine is busy)"
		. (has('share/awake')
			? " and " . number(100 * median('share/awake'), 1) . " % awake in the ledger's code (perf: its functions, and the clock it reads for every answer)."
			: "; perf is not there to say how much of the rest is the ledger's code."));
}
target('one durable debit against UPDATE + COMMIT, 1 client', [ ratios('tps/update/1', 'tps/debit/1') ], 2, ' x', '<=', 1.5, 'headline');
target('debits against UPDATEs of one row, 32 clients', [ ratios('tps/debit/32', 'tps/update/32') ], 1, ' x', '>=', 5, 'headline');
target('share of the ledger in 1,000,000 answers of one statement', [ $share ], 1, ' %', '<=', 10);
target('first debit after idle', [ all('idle/first') ], 1, ' ms', '<', 50);
1;
