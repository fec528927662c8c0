/* trace_value.c - numbers and dates of traces, exactly: decimals are scaled as whole numbers, so that one moment has
 * the same nanosecond however a format writes it. */
#include <string.h>

#include "models/trace.h"

#define VALUE_MOST (INT64_MAX / 2)
#define MANTISSA_MOST (INT64_C(1000000000000000000)) /* further digits are below the last bit of a double */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* digits[.digits][e[+-]digits], at least one digit; the number is mantissa * 10^exponent. */
static bool read_decimal(const char *text, sim_sum *mantissa, int *exponent)
{
    bool any = false, point = false;
    *mantissa = 0;
    *exponent = 0;
    for (; is_digit(*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        any = true;
        if (*mantissa < MANTISSA_MOST) {
            *mantissa = *mantissa * 10 + (*text - '0');
            *exponent -= point;
        } else {
            *exponent += !point;
        }
    }
    if (!any || !*text)
        return any;
    if (*text != 'e' && *text != 'E')
        return false;
    text++;
    int sign = *text == '-' ? -1 : 1, power = 0;
    text += *text == '-' || *text == '+';
    if (!is_digit(*text))
        return false;
    for (; is_digit(*text); text++)
        power = power < 1000 ? power * 10 + (*text - '0') : power;
    *exponent += sign * power;
    return !*text;
}

/* mantissa * 10^exponent * scale to the nearest whole number. */
static const char *scaled(sim_sum mantissa, int exponent, int64_t scale, int64_t *value)
{
    sim_sum product = mantissa * scale;
    for (; exponent > 0 && product <= VALUE_MOST; exponent--)
        product = product == 0 ? 0 : product * 10;
    for (; exponent < -1 && product != 0; exponent++)
        product = product / 10; /* what is cut here is less than a tenth of the last step, which rounds */
    if (exponent == -1)
        product = (product + 5) / 10;
    if (product > VALUE_MOST)
        return "too large a number";
    *value = (int64_t)product;
    return NULL;
}

static const char *read_number(const char *text, enum trace_unit unit, int64_t *value)
{
    sim_sum mantissa;
    int exponent;
    bool negative = *text == '-';
    if (!read_decimal(text + negative, &mantissa, &exponent))
        return "no number";
    if (negative && mantissa != 0)
        return "a negative number";
    int64_t thousandths;
    if (unit != TRACE_TOKENS && unit != TRACE_COUNT)
        return scaled(mantissa, exponent, trace_unit_scale(unit), value);
    const char *wrong = scaled(mantissa, exponent, 1000, &thousandths);
    if (!wrong && thousandths % 1000 != 0)
        return "no whole number";
    *value = wrong ? 0 : thousandths / 1000;
    return wrong;
}

/* So many digits; -1: they are not there. */
static int64_t digits(const char **text, int count)
{
    int64_t value = 0;
    for (int i = 0; i < count; i++, ++*text) {
        if (!is_digit(**text))
            return -1;
        value = value * 10 + (**text - '0');
    }
    return value;
}

static bool take(const char **text, const char *any)
{
    bool found = **text && strchr(any, **text);
    *text += found;
    return found;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; years are counted from March, so that a leap day ends one.
 */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    month += month <= 2 ? 9 : -3;
    int64_t era = year / 400, of_era = year % 400;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719468;
}

static int64_t month_days(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Z, UTC, +HH, +HHMM, +HH:MM; seconds that the clock is before UTC. False: something else is there. */
static bool read_zone(const char *text, int64_t *offset, bool *zoned)
{
    *offset = 0;
    text += *text == ' ' && text[1];
    if (!*text)
        return true;
    *zoned = true;
    if (strcmp(text, "Z") == 0 || strcmp(text, "UTC") == 0)
        return true;
    int sign = *text == '-' ? -1 : 1;
    if (!take(&text, "+-"))
        return false;
    int64_t hours = digits(&text, 2), minutes = 0;
    if (hours >= 0 && *text) {
        take(&text, ":");
        minutes = digits(&text, 2);
    }
    *offset = sign * (hours * 3600 + minutes * 60);
    return hours >= 0 && hours <= 18 && minutes >= 0 && minutes < 60 && !*text;
}

/* YYYY-MM-DD, a blank or T, HH:MM:SS, up to nine decimals, a zone or none. */
static const char *read_date(const char *text, int64_t *value, bool *zoned)
{
    static const char no_date[] = "no date with a time";
    int64_t year = digits(&text, 4), month, day, hour, minute, second, fraction = 0, offset, step = SIM_SECOND;
    if (year < 0 || !take(&text, "-") || (month = digits(&text, 2)) < 1 || month > 12 || !take(&text, "-") ||
        (day = digits(&text, 2)) < 1 || day > month_days(year, month) || !take(&text, " T") ||
        (hour = digits(&text, 2)) < 0 || hour > 23 || !take(&text, ":") || (minute = digits(&text, 2)) < 0 ||
        minute > 59 || !take(&text, ":") || (second = digits(&text, 2)) < 0 || second > 60)
        return no_date;
    if (take(&text, ".") && !is_digit(*text))
        return no_date;
    for (; is_digit(*text); text++) {
        step /= 10;
        fraction += step * (*text - '0');
    }
    if (!read_zone(text, &offset, zoned))
        return no_date;
    if (year < 1970 || year > 2200)
        return "a year before 1970 or after 2200";
    *value = (days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset) * SIM_SECOND + fraction;
    return NULL;
}

const char *trace_value_read(const char *text, enum trace_unit unit, int64_t *value, bool *zoned)
{
    *value = 0;
    return unit == TRACE_DATE ? read_date(text, value, zoned) : read_number(text, unit, value);
}
