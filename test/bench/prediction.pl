# Reports prediction.sh.
use strict;
use warnings;
use Report;

if (has('answer/array/2/100'))
{
	heading('Prediction, 20 features');
	headline {
		paragraph("Microseconds of one answer in a warm session, the debit included: a statement over many rows with private_predict(), minus the same without it.");
		table([ 'classes, teachers', 'array', 'jsonb', 'row' ],
			map {
				my $classes = $_;
				map {
					my $teachers = $_;
					[ "$classes classes, $teachers teachers",
						map { number(median("answer/$_/$classes/$teachers"), 2) } qw(array jsonb row) ]
				} (10, 100, 1000)
			} (2, 10));
	};
	target('an answer of 100 teachers x 20 features, array form', [ all('answer/array/2/100') ], 2, ' us', '<=', 5, 'headline');
}
1;
