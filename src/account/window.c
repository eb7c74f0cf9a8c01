/*
 * window.c
 *		Budgets that refresh: which window a moment is in.
 *
 * Windows begin at anchor + n * refresh.  The arithmetic is done in UTC, so
 * that every session sees the same windows, whatever its time zone; months
 * are calendar months, counted from the anchor, and a day that a month does not
 * have is its last.
 */
#include "postgres.h"

#include "account/account.h"

#define SHORTEST_US USECS_PER_MINUTE
#define LONGEST_MONTHS (100 * MONTHS_PER_YEAR)

/* Nothing negative inside, so that boundaries only grow. */
bool
window_length_is_valid(const Interval *refresh)
{
	double length = (double) refresh->time + (double) refresh->day * USECS_PER_DAY +
					(double) refresh->month * DAYS_PER_MONTH * USECS_PER_DAY;

	return refresh->month >= 0 && refresh->day >= 0 && refresh->time >= 0 &&
		   length >= SHORTEST_US &&
		   length <= (double) LONGEST_MONTHS * DAYS_PER_MONTH * USECS_PER_DAY;
}

/* ---------- the Gregorian calendar, in years that begin in March ---------- */

#define DAYS_PER_ERA 146097 /* 400 years */
#define ERA_OF_2000 5		/* 2000-03-01 begins it */
#define MARCH_1_2000 60		/* days since 2000-01-01 */

static int64
floor_divide(int64 dividend, int64 divisor)
{
	return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

/* Days from 2000-01-01 to the first of a month, counted from March of the year 0. */
static int64
first_of_month(int64 month)
{
	int64 year = floor_divide(month, MONTHS_PER_YEAR);
	int64 month_of_year = month - year * MONTHS_PER_YEAR; /* 0 is March */
	int64 era = floor_divide(year, 400);
	int64 year_of_era = year - era * 400;

	return (era - ERA_OF_2000) * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 -
		   year_of_era / 100 + (153 * month_of_year + 2) / 5 + MARCH_1_2000;
}

/* A day, as a month and the days that have passed in it. */
static int64
month_of_day(int64 day, int64 *day_of_month)
{
	/* A month has about 30.4 days: a guess that is never too high by much, nor too low. */
	int64 month =
		floor_divide((day - MARCH_1_2000) * 4800, DAYS_PER_ERA) + ERA_OF_2000 * INT64CONST(4800);

	while (first_of_month(month) > day)
		month--;
	while (first_of_month(month + 1) <= day)
		month++;
	*day_of_month = day - first_of_month(month);
	return month;
}

/* When window n begins; what lies beyond all timestamps is their end. */
static TimestampTz
boundary(TimestampTz anchor, const Interval *refresh, int64 n)
{
	int64  day = floor_divide(anchor, USECS_PER_DAY);
	int64  time_of_day = anchor - day * USECS_PER_DAY;
	int128 begins;

	if (refresh->month > 0)
	{
		int64 day_of_month;
		int64 month = month_of_day(day, &day_of_month) + refresh->month * n;
		int64 days = first_of_month(month + 1) - first_of_month(month);

		day = first_of_month(month) + Min(day_of_month, days - 1);
	}
	begins = ((int128) day + (int128) refresh->day * n) * USECS_PER_DAY + time_of_day +
			 (int128) refresh->time * n;
	return (TimestampTz) Min(begins, (int128) DT_NOEND);
}

/* Doubles, then bisects: a window of a minute may have been open for years. */
void
window_of(TimestampTz anchor, const Interval *refresh, TimestampTz at, TimestampTz *start,
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
	window_of(account->window_anchor, &account->refresh, now, &start, &end);
	if (start <= account->window_start)
		return false;
	account->window_start = start;
	account->window_end = end;
	account->window_spent = 0;
	return true;
}
