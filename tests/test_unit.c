/* test_unit.c - numbers with units: what is read, what is refused and why, and that printing comes back. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/unit.h"
#include "tests/comma.h"
#include "tests/suites.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* Reads the whole text. */
static struct number read_all(const char *text)
{
    struct number number;
    const char *end, *why;
    ck_assert_msg(unit_read(text, &end, &number, &why), "%s: %s", text, why);
    ck_assert_str_eq(end, "");
    return number;
}

static void check_refused(const char *text, const char *reason)
{
    struct number number;
    const char *end, *why;
    ck_assert_msg(!unit_read(text, &end, &number, &why), "%s is accepted", text);
    ck_assert_msg(strstr(why, reason) != NULL, "%s: '%s' does not say '%s'", text, why, reason);
}

START_TEST(test_values)
{
    static const struct {
        const char *text;
        double value;
        enum quantity quantity;
        const char *noun;
    } rows[] = {
        {"12", 12, QUANTITY_NUMBER, NULL},
        {" 0.45", 0.45, QUANTITY_NUMBER, NULL},
        {"1e6", 1e6, QUANTITY_NUMBER, NULL},
        {"1.5e-3", 0.0015, QUANTITY_NUMBER, NULL},
        {"2M", 2e6, QUANTITY_NUMBER, NULL},
        {"30k", 3e4, QUANTITY_NUMBER, NULL},
        {"2.13M", 2130000, QUANTITY_NUMBER, NULL},
        {"1e18", 1e18, QUANTITY_NUMBER, NULL},
        {"8 s", 8, QUANTITY_TIME, NULL},
        {"8s", 8, QUANTITY_TIME, NULL},
        {"4.7 ms", 0.0047, QUANTITY_TIME, NULL},
        {"3 us", 3e-6, QUANTITY_TIME, NULL},
        {"1 ns", 1e-9, QUANTITY_TIME, NULL},
        {"1.5 min", 90, QUANTITY_TIME, NULL},
        {"2 h", 7200, QUANTITY_TIME, NULL},
        {"1e1h", 36000, QUANTITY_TIME, NULL},
        {"1 d", 86400, QUANTITY_TIME, NULL},
        {"31%", 0.31, QUANTITY_SHARE, NULL},
        {"31.7 %", 0.317, QUANTITY_SHARE, NULL},
        {"39 tokens/s", 39, QUANTITY_RATE, "tokens"},
        {"1 token / s", 1, QUANTITY_RATE, "tokens"},
        {"1.48 requests/s", 1.48, QUANTITY_RATE, "requests"},
        {"50/min", 50.0 / 60, QUANTITY_RATE, NULL},
        {"2M/min", 2e6 / 60, QUANTITY_RATE, NULL},
        {"30k tokens/min", 500, QUANTITY_RATE, "tokens"},
        {"5/ms", 5000, QUANTITY_RATE, NULL},
        {"302921 tokens", 302921, QUANTITY_COUNT, "tokens"},
        {"1 turn", 1, QUANTITY_COUNT, "turns"},
        {"2k slots", 2000, QUANTITY_COUNT, "slots"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct number number = read_all(rows[i].text);
        ck_assert_msg(number.value == rows[i].value, "%s: %.17g", rows[i].text, number.value);
        ck_assert_msg(number.quantity == rows[i].quantity, "%s", rows[i].text);
        ck_assert_pstr_eq(number.noun, rows[i].noun);
    }
    ck_assert(isinf(read_all("inf").value));
}
END_TEST

START_TEST(test_refusals)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"", "expected a number"},
        {"eight", "expected a number"},
        {"-5 s", "without a sign"},
        {"+5", "without a sign"},
        {"nan", "not nan"},
        {"NaN", "not nan"},
        {"Inf", "small letters"},
        {"infinite", "expected a number"},
        {"0x10", "hexadecimal"},
        {".5", "digit before the dot"},
        {".inf", "digit before the dot"},
        {"1,5", "decimal dot"},
        {"302,921", "decimal dot"},
        {"1e19", "at most 1e18"},
        {"10000000000000000000", "at most 1e18"},
        {"1e99999999999", "at most 1e18"},
        {"2e12M", "at most 1e18"},
        {"1e13/us", "at most 1e18"},
        {"1e-999", "not so small"},
        {"11111111111111111111111111111111111111111", "40 characters"},
        {"5 m", "min for minutes, ms for milliseconds or M"},
        {"5m", "min for minutes"},
        {"5K", "k for thousands"},
        {"8 sec", "s for seconds"},
        {"8 hours", "h for hours"},
        {"50 rpm", "requests/min"},
        {"8x", "expected a unit"},
        {"8tok/s", "expected a unit"},
        {"1_000", "expected a unit"},
        {"8\xc2\xb5s", "expected a unit"},
        {"50/", "unit of time behind the /"},
        {"50/turn", "unit of time behind the /"},
        {"50 tokens/m", "min for minutes"},
        {"2k s", "counts and rates only"},
        {"2M%", "counts and rates only"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_refused(rows[i].text, rows[i].reason);
}
END_TEST

/* What is not the number's stays behind it, blanks included. */
START_TEST(test_end)
{
    static const struct {
        const char *text, *rest;
    } rows[] = {
        {"120 cv 0.45", " cv 0.45"},
        {"8..24 step 2", "..24 step 2"},
        {"1.5..2", "..2"},
        {"0.814 0.812", " 0.812"},
        {"1 h 30 min", " 30 min"},
        {"8 s..24 s", "..24 s"},
        {"50/min 10 min", " 10 min"},
        {"7 sigma", " sigma"},
        {"5 s_max", " s_max"},
        {"5, 6", ", 6"},
        {"inf)", ")"},
        {"12 ", " "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct number number;
        const char *end, *why;
        ck_assert_msg(unit_read(rows[i].text, &end, &number, &why), "%s: %s", rows[i].text, why);
        ck_assert_str_eq(end, rows[i].rest);
    }
}
END_TEST

START_TEST(test_print)
{
    static const struct {
        double seconds;
        const char *text;
    } times[] = {
        {0, "0 s"},      {8, "8 s"},        {0.25, "250 ms"},   {0.0047, "4.7 ms"},
        {1e-9, "1 ns"},  {60, "60 s"},      {90, "90 s"},       {3600, "1 h"},
        {5400, "1.5 h"}, {86400, "1 d"},    {60000, "60000 s"}, {4.5, "4.5 s"},
        {0.5, "0.5 s"},  {INFINITY, "inf"}, {1.0 / 3, NULL},    {77589.123456789, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        char text[40];
        unit_print_time(times[i].seconds, text, sizeof text);
        if (times[i].text)
            ck_assert_str_eq(text, times[i].text);
        ck_assert(read_all(text).value == times[i].seconds);
    }
    static const struct {
        double value;
        const char *text;
    } numbers[] = {
        {0, "0"},           {12, "12"},   {1500, "1500"},    {30000, "30k"},  {2e6, "2M"},
        {302921, "302921"}, {0.1, "0.1"}, {INFINITY, "inf"}, {1e18, "1e+18"}, {0.1 + 0.2, "0.30000000000000004"},
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char text[40];
        unit_print_number(numbers[i].value, text, sizeof text);
        ck_assert_str_eq(text, numbers[i].text);
        ck_assert(read_all(text).value == numbers[i].value);
    }
}
END_TEST

/* Pseudo-random doubles over all magnitudes come back bit for bit. */
START_TEST(test_print_round_trip)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value = ldexp((double)(state >> 11), (int)(state >> 58) - 76);
        char text[40];
        unit_print_time(value, text, sizeof text);
        ck_assert_msg(read_all(text).value == value, "%s is not %.17g", text, value);
        unit_print_number(value, text, sizeof text);
        ck_assert_msg(read_all(text).value == value, "%s is not %.17g", text, value);
        unit_digits(-value, text, sizeof text);
        ck_assert(strtod(text, NULL) == -value);
    }
}
END_TEST

START_TEST(test_time_names)
{
    ck_assert(unit_time("ms") == 1e-3);
    ck_assert(unit_time("d") == 86400);
    ck_assert(unit_time("m") == 0);
    ck_assert(unit_time("") == 0);
}
END_TEST

static void under_comma(void)
{
    char text[40];
    ck_assert(read_all("1.5 s").value == 1.5);
    unit_print_time(1.5, text, sizeof text);
    ck_assert_str_eq(text, "1.5 s");
    unit_digits(0.1, text, sizeof text);
    ck_assert_str_eq(text, "0.1");
    unit_format(text, sizeof text, "%.2f", 1.25);
    ck_assert_str_eq(text, "1.25");
    snprintf(text, sizeof text, "%.1f", 1.5); /* it is such a locale, and ours again */
    ck_assert_str_eq(text, "1,5");
}

START_TEST(test_comma_locale)
{
    comma_run(under_comma);
}
END_TEST

Suite *unit_suite(void)
{
    Suite *suite = suite_create("unit");
    TCase *cases = tcase_create("unit");
    tcase_add_test(cases, test_values);
    tcase_add_test(cases, test_refusals);
    tcase_add_test(cases, test_end);
    tcase_add_test(cases, test_print);
    tcase_add_test(cases, test_print_round_trip);
    tcase_add_test(cases, test_time_names);
    tcase_add_test(cases, test_comma_locale);
    suite_add_tcase(suite, cases);
    return suite;
}
