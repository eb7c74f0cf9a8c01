# Reports growth.sh: its memory; its times are in the tables of training.pl.
use strict;
use warnings;
use Report;

my $large = fact('large');
my @learners = qw(linear naive_bayes centroid logistic);
my @measured = grep { has("large/$_", "small/$_") } @learners;

if (@measured)
{
	my $n = number($large, 0);
	heading('Ten times the rows');
	paragraph("One process, 100 teachers, $n rows compared with 1,000,000, maintenance_work_mem " . fact('maintenance_work_mem') . " MB. The columns in MB show the growth of the backend's private memory "
		. "(RssAnon, read every 5 ms) at its peak; VmHWM also counts shared buffers. The sums of linear, naive_bayes and centroid are merged, so their memory does not grow with the rows; "
		. "logistic collects the rows of one teacher after the other if not all fit.");
	table([ 'learner', 'times the time', 'MB, 1,000,000 rows', "MB, $n rows", 'model', 'VmHWM' ],
		map { [ $_, number(ratio("large/$_", "small/$_"), 2), number(median("memory/growth/$_/1000000"), 1), number(median("memory/growth/$_/$large"), 1),
				number(median("memory/model/$_"), 2), number(median("memory/VmHWM/$_/$large"), 1) ] } @measured);
	target("growth of the time from 1,000,000 to $n rows, $_", [ ratios("large/$_", "small/$_") ], 2, ' x', '<=', 11, $_ eq 'linear') foreach @measured;
	target("memory of $_ with $n rows, beyond that with 1,000,000",
		[ median("memory/growth/$_/$large") - median("memory/growth/$_/1000000") ], 1, ' MB', '<=', 1)
		foreach grep { $_ ne 'logistic' } @measured;
	target("memory, linear on $n rows, beyond the model",
		[ median("memory/growth/linear/$large") - median('memory/model/linear') ], 1, ' MB', '<=', fact('maintenance_work_mem'), 'headline')
		if has("memory/growth/linear/$large");
}
1;
