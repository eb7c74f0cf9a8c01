# Reports threshold.sh.
use strict;
use warnings;
use Report;

if (has('threshold/pure'))
{
	target('an answer of threshold on ' . number(fact('threshold_rows'), 0) . ' rows, beyond a vote of one teacher',
		[ all('threshold/pure') ], 2, ' us', '<=', 3);
	target('the same, to an account with delta', [ all('threshold/finite') ], 2, ' us', '<=', 3);
}
target('an answer of stable_flip that samples 10,000 of 20,000 units', [ all('stable_flip/answer') ], 2, ' ms', '<', 2);
1;
