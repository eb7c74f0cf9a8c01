/*
 * test_window.c
 *		Windows of budgets that refresh, against a calendar that is walked day by
 *		day.
 *
 * sources: src/account/window.c src/draw/rng.c
 */
#include "postgres.h"

#include "account/account.h"
#include "unit.h"

#define NOON (USECS_PER_DAY / 2)
#define FIRST_DAY -800000 /* from the year -190 */
#define LAST_DAY 800000

static int
days_in(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool			 leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month] + (leap && month == 1 ? 1 : 0);
}

/* A window of a month that begins on the 31st ends on the last day of the next one. */
static void
test_calendar(void)
{
	const Interval month = {.month = 1};
	TimestampTz	   anchor = 30 * USECS_PER_DAY + NOON; /* 2000-01-31 */
	TimestampTz	   last = anchor;
	int			   year = 2000;
	int			   number = 0;
	int			   wrong = 0;
	int64		   day = 0;

	for (int i = 0; i < 12 * 500; i++)
	{
		TimestampTz start;
		TimestampTz end;
		TimestampTz expected;

		day += days_in(year, number);
		number = (number + 1) % 12;
		year += number == 0 ? 1 : 0;
		expected = (day + days_in(year, number) - 1) * USECS_PER_DAY + NOON;
		window_of(anchor, &month, expected - 1, &start, &end);
		wrong += start != last || end != expected;
		last = expected;
	}
	ok(wrong == 0, "500 years of months, counted from the 31st");
}

/* Months that are counted from any day, over and back. */
static void
test_every_day(void)
{
	const Interval year = {.month = 12};
	int			   wrong = 0;

	for (int64 day = FIRST_DAY; day < LAST_DAY; day += 7)
	{
		TimestampTz anchor = day * USECS_PER_DAY + 1;
		TimestampTz start;
		TimestampTz end;

		window_of(anchor, &year, anchor, &start, &end);
		wrong += start != anchor || (end - anchor) / USECS_PER_DAY < 365 ||
				 (end - anchor) / USECS_PER_DAY > 366 || (end - anchor) % USECS_PER_DAY != 0;
	}
	ok(wrong == 0, "a year is 365 or 366 days, whenever it begins");
}

static void
test_lengths(void)
{
	const Interval minute = {.time = USECS_PER_MINUTE};
	const Interval mixed = {.month = 1, .day = 1, .time = USECS_PER_HOUR};
	TimestampTz	   start;
	TimestampTz	   end;

	ok(window_length_is_valid(&minute) && window_length_is_valid(&mixed) &&
		   window_length_is_valid(&(Interval){.month = 1200}) &&
		   !window_length_is_valid(&(Interval){.month = 1201}) &&
		   !window_length_is_valid(&(Interval){.time = USECS_PER_MINUTE - 1}) &&
		   !window_length_is_valid(&(Interval){.month = 1, .day = -1}),
	   "from a minute to a hundred years");
	window_of(0, &minute, 50 * 365 * USECS_PER_DAY + 1, &start, &end);
	ok(start == 50 * 365 * USECS_PER_DAY && end == start + USECS_PER_MINUTE,
	   "minutes that began fifty years ago");
	window_of(0, &mixed, 32 * USECS_PER_DAY + USECS_PER_HOUR, &start, &end);
	ok(start == 32 * USECS_PER_DAY + USECS_PER_HOUR &&
		   end == (60 + 2) * USECS_PER_DAY + 2 * USECS_PER_HOUR,
	   "months first, then days, then hours");
	window_of(MIN_TIMESTAMP, &minute, END_TIMESTAMP - 1, &start, &end);
	ok(start <= END_TIMESTAMP - 1 && end > END_TIMESTAMP - 1, "over all time there is");
}

static void
test_roll(void)
{
	Account account = {.has_window = true, .refresh = {.day = 1}, .window_end = USECS_PER_DAY};

	account.window_spent = 5;
	ok(!account_roll_window(&account, USECS_PER_DAY - 1) && account.window_spent == 5,
	   "a window lasts until its end");
	ok(account_roll_window(&account, 3 * USECS_PER_DAY) && account.window_spent == 0 &&
		   account.window_start == 3 * USECS_PER_DAY && account.window_end == 4 * USECS_PER_DAY,
	   "the next one is the one of now");
	account.window_spent = 7;
	ok(!account_roll_window(&account, USECS_PER_DAY) && account.window_spent == 7,
	   "a clock that goes back opens no window twice");
}

int
main(void)
{
	test_calendar();
	test_every_day();
	test_lengths();
	test_roll();
	return done();
}
