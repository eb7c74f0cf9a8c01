/*
 * number_text.h
 *		Doubles in text: the one way in which privpred writes them where they may
 *		be read again.
 *
 * The shortest decimal that reads back as the same double, as float8 prints it
 * by default; but float8out() and %g lose digits, the former as the session's
 * extra_float_digits says.  A header alone, for files that know no server.
 */
#ifndef PRIVPRED_NUMBER_TEXT_H
#define PRIVPRED_NUMBER_TEXT_H

#include "common/shortest_dec.h"

#define NUMBER_TEXT_SIZE DOUBLE_SHORTEST_DECIMAL_LEN

/* Fills a buffer of NUMBER_TEXT_SIZE, and returns it. */
static inline char *
number_text(double number, char *buffer)
{
	double_to_shortest_decimal_buf(number, buffer);
	return buffer;
}

#endif /* PRIVPRED_NUMBER_TEXT_H */
