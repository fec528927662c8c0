/* unit.h - numbers with units: "8 s", "39 tokens/s", "2M/min", "31 %", "12". Units are never guessed.
 *
 * Base units: seconds for times, a second for rates, 1 for counts and shares. Refused: nan, hex, decimal commas, a
 * sign, numbers past 1e18, anything that is not wholly understood. `inf` is a number. */
#ifndef SIM_UNIT_H
#define SIM_UNIT_H

#include <stdbool.h>
#include <stddef.h>

enum quantity {
    QUANTITY_NUMBER, /* bare, with k or M */
    QUANTITY_TIME,   /* ns us ms s min h d */
    QUANTITY_RATE,   /* NUMBER [noun] / time unit */
    QUANTITY_SHARE,  /* % */
    QUANTITY_COUNT,  /* NUMBER noun: "302921 tokens" */
};

struct number {
    double value; /* in base units */
    enum quantity quantity;
    const char *noun; /* of a count or rate: "tokens", "requests", ...; a constant of unit.c; NULL: none */
};

/* Reads one number with its unit from text; *end is where it stopped. False and *why (a constant text saying what was
 * expected) if there is none. */
bool unit_read(const char *text, const char **end, struct number *number, const char **why);

/* NAME, one of the time units: its length in seconds; 0: no such unit. */
double unit_time(const char *name);

/* The shortest text that reads back as the same value: "8 s", "250 ms", "1 h", "39/s". At most 40 bytes. */
void unit_print_time(double seconds, char *text, size_t size);
void unit_print_number(double value, char *text, size_t size);

/* Locale-free ground for everything that reads or prints numbers: the decimal separator is a dot. */
double unit_decimal(const char *digits);                 /* digits[.digits][e[sign]digits], checked by the caller */
void unit_digits(double value, char *text, size_t size); /* fewest digits that read back; whole numbers to 1e15 bare */
int unit_format(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4))); /* snprintf */

#endif
