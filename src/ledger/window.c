/*
 * window.c
 *		Budgets that refresh: which window a moment is in.
 *
 * Windows begin at anchor + n * refresh.  The arithmetic is done in UTC, so
 * that every session sees the same windows, whatever its time zone; months
 * are calendar months, counted from the anchor.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "ledger/internal.h"

#define SHORTEST_US USECS_PER_MINUTE
#define LONGEST_MONTHS (100 * MONTHS_PER_YEAR)

/* Nothing negative inside, so that boundaries only grow. */
void
ledger_check_refresh(const Interval *refresh)
{
	double length = (double) refresh->time + (double) refresh->day * USECS_PER_DAY +
					(double) refresh->month * DAYS_PER_MONTH * USECS_PER_DAY;

	if (refresh->month < 0 || refresh->day < 0 || refresh->time < 0 || length < SHORTEST_US ||
		length > (double) LONGEST_MONTHS * DAYS_PER_MONTH * USECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("refresh must be between one minute and a hundred years"),
				 errhint("Use for example '1 day' or '1 month', or '0' to end refreshing.")));
}

static TimestampTz
boundary(TimestampTz anchor, const Interval *refresh, int64 n)
{
	Datum length =
		DirectFunctionCall2(interval_mul, IntervalPGetDatum(refresh), Float8GetDatum((double) n));

	/* Without time zone: that is UTC. */
	return DatumGetTimestamp(
		DirectFunctionCall2(timestamp_pl_interval, TimestampGetDatum(anchor), length));
}

/* Doubles, then bisects: a window of a minute may have been open for years. */
void
ledger_window(TimestampTz anchor, const Interval *refresh, TimestampTz at, TimestampTz *start,
			  TimestampTz *end)
{
	int64 low = 0;	/* begins at or before "at" */
	int64 high = 1; /* begins after it */

	while (boundary(anchor, refresh, high) <= at)
	{
		low = high;
		high *= 2;
	}
	while (high - low > 1)
	{
		int64 middle = low + (high - low) / 2;

		if (boundary(anchor, refresh, middle) <= at)
			low = middle;
		else
			high = middle;
	}
	*start = boundary(anchor, refresh, low);
	*end = boundary(anchor, refresh, high);
}

/* A clock that goes back opens no window twice. */
bool
account_roll_window(Account *account, TimestampTz now)
{
	TimestampTz start;
	TimestampTz end;

	if (!account->has_window || now < account->window_end)
		return false;
	ledger_window(account->window_anchor, &account->refresh, now, &start, &end);
	if (start <= account->window_start)
		return false;
	account->window_start = start;
	account->window_end = end;
	account->window_spent = 0;
	return true;
}
