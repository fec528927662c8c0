/* class_shares.h - who gets which share: a text such as `live 70 % batch 10 %`, for parameters that name classes or
 * tenants.
 *
 * A name and its share by turns, with blanks or commas between; a share as everywhere, 0.7 or 70 %, to a millionth. Who
 * is not named has what is left, together with all others who are not; if nothing is, they share with the last name. */
#ifndef POLICIES_CLASS_SHARES_H
#define POLICIES_CLASS_SHARES_H

#include <string.h>

#include "policies/decimal.h"
#include "policies/policy.h"

#define SHARES_MOST 15 /* names */
#define SHARES_WHOLE INT64_C(1000000)

struct class_shares {
    int count;                       /* names; share [count] is that of all others */
    const char *names[SHARES_MOST];  /* in the text */
    size_t lengths[SHARES_MOST];     /* of the names */
    int64_t shares[SHARES_MOST + 1]; /* in millionths; they add up to the whole */
};

static inline const char *shares_pass_blanks(const char *text)
{
    return text + strspn(text, " ,\t\r\n");
}

static inline const char *shares_pass_word(const char *text)
{
    return text + strcspn(text, " ,\t\r\n");
}

/* A share in millionths, and where the text goes on; -1: it is none. */
static inline int64_t shares_number(const char **text)
{
    double value, scale = (double)SHARES_WHOLE;
    bool good = decimal_read(text, &value);
    if (*shares_pass_blanks(*text) == '%') {
        *text = shares_pass_blanks(*text) + 1;
        scale /= 100;
    }
    if (!good || shares_pass_word(*text) != *text || value * scale > (double)SHARES_WHOLE)
        return -1;
    return (int64_t)(value * scale + 0.5);
}

static inline int shares_named(const struct class_shares *shares, const char *name, size_t length)
{
    int i = 0;
    while (i < shares->count && (shares->lengths[i] != length || strncmp(shares->names[i], name, length) != 0))
        i++;
    return i;
}

#define SHARES_SAY(tenants, words) ((tenants) ? "tenants: " words : "classes: " words)

/* Reads the text of `classes`, or of `tenants`; NULL, or what is wrong with it. The names stay in the text. */
static inline const char *shares_read(const char *text, bool tenants, struct class_shares *shares)
{
    int64_t rest = SHARES_WHOLE;
    shares->count = 0;
    for (text = shares_pass_blanks(text ? text : ""); *text; text = shares_pass_blanks(text)) {
        const char *name = text;
        size_t length = (size_t)(shares_pass_word(text) - text);
        int64_t share;
        text = shares_pass_blanks(text + length);
        share = shares_number(&text);
        if (share < 0)
            return SHARES_SAY(tenants, "expected names and their shares by turns, such as live 70 % batch 10 %");
        if (shares->count == SHARES_MOST)
            return SHARES_SAY(tenants, "expected at most 15 names");
        if (shares_named(shares, name, length) < shares->count)
            return SHARES_SAY(tenants, "expected each name once");
        shares->names[shares->count] = name;
        shares->lengths[shares->count] = length;
        shares->shares[shares->count++] = share;
        rest -= share;
        if (rest < 0)
            return SHARES_SAY(tenants, "expected shares of 100 % in all, or less");
    }
    shares->shares[shares->count] = rest;
    return NULL;
}

/* Which share is that of a class or tenant: an index into shares. Without names everybody is one of the others. */
static inline int shares_index(const struct class_shares *shares, const char *const *names, uint32_t index)
{
    int found = names ? shares_named(shares, names[index], strlen(names[index])) : shares->count;
    return found == shares->count && found > 0 && shares->shares[found] == 0 ? found - 1 : found;
}

#endif
