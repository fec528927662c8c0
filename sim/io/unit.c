/* unit.c - numbers with units. A number is checked by hand and only then handed to strtod in the C locale, with the
 * power of ten of its unit or multiplier written behind it: so `4.7 ms` and `0.0047 s` are the same double. */
#include "sim/io/unit.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MOST 40
#define VALUE_MOST 1e18

/* Seconds first: it wins where two units print equally short. */
static const struct time_unit {
    const char *name;
    double length; /* times 10 to the exponent, in seconds */
    int exponent;
} time_units[] = {{"s", 1, 0},    {"ms", 1, -3},  {"us", 1, -6},  {"ns", 1, -9},
                  {"min", 60, 0}, {"h", 3600, 0}, {"d", 86400, 0}};

static const char *const nouns[] = {"tokens", "requests", "calls", "turns", "runs", "agents", "slots"};

/* What people write for a unit, and what is meant. */
static const struct mistake {
    const char *word, *why;
} mistakes[] = {
    {"m", "expected min for minutes, ms for milliseconds or M for millions, not m"},
    {"K", "expected k for thousands, not K"},
    {"sec", "expected s for seconds"},
    {"secs", "expected s for seconds"},
    {"second", "expected s for seconds"},
    {"seconds", "expected s for seconds"},
    {"msec", "expected ms for milliseconds"},
    {"usec", "expected us for microseconds"},
    {"mins", "expected min for minutes"},
    {"minute", "expected min for minutes"},
    {"minutes", "expected min for minutes"},
    {"hr", "expected h for hours"},
    {"hrs", "expected h for hours"},
    {"hour", "expected h for hours"},
    {"hours", "expected h for hours"},
    {"day", "expected d for days"},
    {"days", "expected d for days"},
    {"rps", "expected requests/s, not rps"},
    {"rpm", "expected requests/min, not rpm"},
    {"tps", "expected tokens/s, not tps"},
    {"tpm", "expected tokens/min, not tpm"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* A checked decimal on its way to strtod. */
struct decimal {
    char digits[DIGITS_MOST + 16]; /* room for the exponent */
    int exponent;
    bool zero;
    bool multiplied; /* k or M */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word(at[length]))
        length++;
    return length;
}

static bool is_name(const char *at, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(at, name, length) == 0;
}

static const struct time_unit *find_time(const char *at, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(time_units); i++)
        if (is_name(at, length, time_units[i].name))
            return &time_units[i];
    return NULL;
}

/* Plural or singular. */
static const char *find_noun(const char *at, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(nouns); i++)
        if (is_name(at, length, nouns[i]) || (length + 1 == strlen(nouns[i]) && memcmp(at, nouns[i], length) == 0))
            return nouns[i];
    return NULL;
}

static const char *find_mistake(const char *at, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(mistakes); i++)
        if (is_name(at, length, mistakes[i].word))
            return mistakes[i].why;
    return NULL;
}

/* Why no number can begin here, or NULL. */
static const char *refused_start(const char *at)
{
    if (*at == '-' || *at == '+')
        return "expected a number without a sign";
    if (*at == '.' && is_word(at[1]))
        return "expected a digit before the dot";
    size_t length = word_length(at);
    if (is_name(at, length, "nan") || is_name(at, length, "NaN") || is_name(at, length, "NAN"))
        return "expected a number, not nan";
    if (is_name(at, length, "Inf") || is_name(at, length, "INF") || is_name(at, length, "infinity"))
        return "expected inf, in small letters";
    if (!is_digit(*at))
        return "expected a number";
    if (*at == '0' && (at[1] == 'x' || at[1] == 'X'))
        return "expected a decimal number, not a hexadecimal one";
    return NULL;
}

/* The digits at `at`, which begins with one; returns where they stop, or NULL and *why. A dot without a digit behind it
 * is not the number's: `8..24` is a range. */
static const char *read_decimal(const char *at, struct decimal *decimal, const char **why)
{
    size_t used = 0;
    *decimal = (struct decimal){.zero = true};
    for (bool dot = false;; at++) {
        if (*at == '.' && !dot && is_digit(at[1]))
            dot = true;
        else if (!is_digit(*at))
            break;
        if (used == DIGITS_MOST) {
            *why = "expected a number of at most 40 characters";
            return NULL;
        }
        decimal->zero &= *at == '0' || *at == '.';
        decimal->digits[used++] = *at;
    }
    if (*at == ',' && is_digit(at[1])) {
        *why = "expected a decimal dot, not a comma (numbers of a list are separated by blanks)";
        return NULL;
    }
    size_t sign = *at == 'e' && (at[1] == '+' || at[1] == '-') ? 2 : 1;
    if (*at == 'e' && is_digit(at[sign])) {
        int exponent = 0;
        bool negative = at[1] == '-';
        for (at += sign; is_digit(*at); at++)
            exponent = exponent < 10000 ? exponent * 10 + (*at - '0') : exponent;
        decimal->exponent = negative ? -exponent : exponent;
    }
    return at;
}

static double decimal_value(struct decimal *decimal, int exponent)
{
    size_t used = strlen(decimal->digits);
    unit_format(decimal->digits + used, sizeof decimal->digits - used, "e%d", decimal->exponent + exponent);
    double value = unit_decimal(decimal->digits);
    decimal->digits[used] = '\0';
    return value;
}

/* `/ TIME` behind a number or its noun; `at` is the slash. */
static const char *read_rate(const char *at, struct decimal *decimal, struct number *number, const char **why)
{
    at = skip_blanks(at + 1);
    size_t length = word_length(at);
    const struct time_unit *unit = find_time(at, length);
    if (!unit) {
        *why = length > 0 ? find_mistake(at, length) : NULL;
        if (!*why)
            *why = "expected a unit of time behind the / (ns us ms s min h d)";
        return NULL;
    }
    number->quantity = QUANTITY_RATE;
    number->value = decimal_value(decimal, -unit->exponent) / unit->length;
    return at + length;
}

/* The unit behind the digits, which stop at `at`; returns where it stops. A word behind a blank that is no unit is not
 * the number's: `120 cv 0.45`. */
static const char *read_unit(const char *at, struct decimal *decimal, struct number *number, const char **why)
{
    const char *unit = skip_blanks(at);
    size_t length = word_length(unit);
    if (length == 1 && (*unit == 'k' || *unit == 'M')) {
        decimal->exponent += *unit == 'k' ? 3 : 6;
        decimal->multiplied = true;
        at = unit + 1;
        unit = skip_blanks(at);
        length = word_length(unit);
    }
    number->quantity = QUANTITY_NUMBER;
    number->value = decimal_value(decimal, 0);
    if (*unit == '/')
        return read_rate(unit, decimal, number, why);
    const struct time_unit *time = find_time(unit, length);
    if (decimal->multiplied && (time || *unit == '%')) {
        *why = "expected k or M with counts and rates only";
        return NULL;
    }
    if (*unit == '%') {
        number->quantity = QUANTITY_SHARE;
        number->value = decimal_value(decimal, -2);
        return unit + 1;
    }
    if (time) {
        number->quantity = QUANTITY_TIME;
        number->value = decimal_value(decimal, time->exponent) * time->length;
        return unit + length;
    }
    number->noun = length > 0 ? find_noun(unit, length) : NULL;
    if (number->noun) {
        number->quantity = QUANTITY_COUNT;
        const char *slash = skip_blanks(unit + length);
        return *slash == '/' ? read_rate(slash, decimal, number, why) : unit + length;
    }
    *why = length > 0 ? find_mistake(unit, length) : NULL;
    if (!*why && length > 0 && unit == at)
        *why = "expected a unit (ns us ms s min h d, %, k, M, tokens, requests, ..., or one of them a time: tokens/s)";
    return *why ? NULL : at;
}

/* The text of `scaled` with its suffix, in the fewest digits that read back as `value`. False: none does. */
static bool print_with(double scaled, const char *suffix, double value, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        struct number number;
        const char *end, *why;
        unit_format(text, size, "%.*g%s", digits, scaled, suffix);
        if (unit_read(text, &end, &number, &why) && *end == '\0' && number.value == value)
            return true;
    }
    return false;
}

/* Keeps the candidate where it is shorter, or as short and without a dot. */
static void keep_shorter(char *text, size_t size, const char *candidate)
{
    size_t old = 2 * strlen(text) + (strchr(text, '.') != NULL);
    size_t new = 2 * strlen(candidate) + (strchr(candidate, '.') != NULL);
    if (text[0] == '\0' || new < old)
        unit_format(text, size, "%s", candidate);
}

bool unit_read(const char *text, const char **end, struct number *number, const char **why)
{
    const char *at = skip_blanks(text);
    *number = (struct number){0};
    *end = at;
    *why = NULL;
    if (is_name(at, word_length(at), "inf")) {
        number->value = INFINITY;
        *end = at + 3;
        return true;
    }
    *why = refused_start(at);
    if (*why)
        return false;
    struct decimal decimal;
    at = read_decimal(at, &decimal, why);
    if (!at)
        return false;
    at = read_unit(at, &decimal, number, why);
    if (!at)
        return false;
    if (!(number->value <= VALUE_MOST))
        *why = "expected a number of at most 1e18";
    else if (number->value == 0 && !decimal.zero)
        *why = "expected 0 or a number that is not so small";
    *end = *why ? *end : at;
    return !*why;
}

double unit_time(const char *name)
{
    const struct time_unit *unit = find_time(name, strlen(name));
    if (!unit)
        return 0;
    struct decimal one = {.digits = "1"};
    return decimal_value(&one, unit->exponent) * unit->length;
}

void unit_print_time(double seconds, char *text, size_t size)
{
    text[0] = '\0';
    if (isinf(seconds)) {
        unit_format(text, size, "inf");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(time_units); i++) {
        char candidate[64], suffix[8];
        unit_format(suffix, sizeof suffix, " %s", time_units[i].name);
        if (print_with(seconds / unit_time(time_units[i].name), suffix, seconds, candidate, sizeof candidate))
            keep_shorter(text, size, candidate);
    }
}

void unit_print_number(double value, char *text, size_t size)
{
    static const struct {
        double scale;
        const char *suffix;
    } multiples[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}};
    text[0] = '\0';
    if (isinf(value)) {
        unit_format(text, size, "inf");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(multiples); i++) {
        char candidate[64];
        if (print_with(value / multiples[i].scale, multiples[i].suffix, value, candidate, sizeof candidate))
            keep_shorter(text, size, candidate);
    }
}

double unit_decimal(const char *digits)
{
    /* "C" for all categories is a constant object of the C library: nothing is allocated, and it cannot fail. */
    locale_t mine = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(mine);
    double value = strtod(digits, NULL);
    uselocale(before);
    freelocale(mine);
    return value;
}

void unit_digits(double value, char *text, size_t size)
{
    if (value == 0) {
        unit_format(text, size, "0"); /* also -0 */
        return;
    }
    if (fabs(value) <= 1e15 && value == floor(value)) {
        unit_format(text, size, "%.0f", value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        unit_format(text, size, "%.*g", digits, value);
        if (unit_decimal(text) == value)
            return;
    }
}

int unit_format(char *text, size_t size, const char *format, ...)
{
    locale_t mine = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(mine);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    uselocale(before);
    freelocale(mine);
    return length;
}
