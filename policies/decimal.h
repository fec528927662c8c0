/* decimal.h - numbers in texts that policies read by themselves: digits and a dot, the same under any locale.
 *
 * strtod asks the locale what a dot is, and takes hexadecimal, inf and nan besides. Up to 15 digits are a whole number
 * that a double holds, and so is the power of ten that divides it: one division, rounded as the literal would be. */
#ifndef POLICIES_DECIMAL_H
#define POLICIES_DECIMAL_H

#include <stdbool.h>

#define DECIMAL_DIGITS 15

/* Reads the number that *text begins with and moves *text behind it. False: there is none, or it has too many digits.
 */
static inline bool decimal_read(const char **text, double *value)
{
    double whole = 0, part = 1;
    int digits = 0;
    bool dot = false;
    for (const char *at = *text; (*at >= '0' && *at <= '9') || (*at == '.' && !dot); *text = ++at) {
        if (*at == '.') {
            dot = true;
            continue;
        }
        if (++digits > DECIMAL_DIGITS)
            return false;
        whole = whole * 10 + (*at - '0');
        part = dot ? part * 10 : part;
    }
    *value = whole / part;
    return digits > 0;
}

#endif
