/* test_table_cells.c - what stands in a cell: rounding at the edges, all digits, and texts with any bytes in them. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/quote.h"
#include "sim/io/table.h"
#include "tests/suites.h"

START_TEST(quoted_texts)
{
    struct arena arena = {0};
    static const char *const plain[] = {"turns/s", "wait_p99", "half-width", "a.csv", "Yesterday", "e5"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        ck_assert_str_eq(quote_yaml(plain[i], &arena), plain[i]);
    static const char *const quoted[] = {"",     "No",  "on", "TRUE", "null", "12",  "1e5", "~", "-a",
                                         ".inf", "a b", "a:", "#",    "a,",   "NaN", "*",   "=", "<<"};
    for (size_t i = 0; i < sizeof quoted / sizeof quoted[0]; i++)
        ck_assert_str_eq(quote_yaml(quoted[i], &arena), arena_format(&arena, "\"%s\"", quoted[i]));
    ck_assert_str_eq(quote_yaml("\xff\xc3(\xed\xa0\x80", &arena), "\"\\xFF\\xC3(\\xED\\xA0\\x80\"");
    ck_assert_str_eq(quote_yaml("\xc2\x85\ufeff", &arena), "\"\\x85\\uFEFF\"");
    ck_assert_str_eq(quote_csv("plain text", &arena), "plain text");
    ck_assert_str_eq(quote_csv("a\nb", &arena), "\"a\nb\"");
    ck_assert_str_eq(quote_markdown("a\\|<b>\n*c*", &arena), "a\\\\\\|\\<b> \\*c\\*");
    ck_assert_uint_eq(quote_width("1 \u00b1 2"), 5);
    arena_free(&arena);
}
END_TEST

START_TEST(numbers_and_half_widths)
{
    static const struct {
        double value, half_width;
        const char *text;
    } rows[] = {
        {12.19, 0.07, "12.190 \u00b1 0.070"},
        {12.19, 0.0714, "12.190 \u00b1 0.071"},
        {9.995, 0.05, "9.995 \u00b1 0.050"},
        {9.996, 0.5, "10.00 \u00b1 0.50"},
        {0.0996, 0.0099, "0.0996 \u00b1 0.0099"},
        {0.0996, 0.00996, "0.100 \u00b1 0.010"},
        {0.5, 0.0996, "~0.50 \u00b1 0.10"},
        {0.5, 0.9949, "~0.50 \u00b1 0.99"},
        {0.5, 0.996, "~0.5 \u00b1 1.0"},
        {123.4, 9.96, "123 \u00b1 10"},
        {1234.5, 99.6, "1230 \u00b1 100"},
        {123456, 1234, "123500 \u00b1 1200"},
        {3, 1234, "~0 \u00b1 1200"},
        {0.99999957, 0.00000054, "1.0000 \u00b1 0.0001"}, /* five digits, the half-width upwards */
        {0.99562, 0.000098, "0.99562 \u00b1 0.00010"},
        {13.66903, 0.00221, "13.669 \u00b1 0.003"},
        {13.66903, 0.003, "13.669 \u00b1 0.003"},
        {1e9, 2.5e6, "1000000000 \u00b1 2500000"},
        {1e-9, 2.5e-11, "1.000e-09 \u00b1 2.5e-11"},
        {0, 2.5e-11, "~0e+00 \u00b1 2.5e-11"},
        {1e-9, 0.5, "~0.00 \u00b1 0.50"},
        {1e300, 1e280, "1.000000000000000e+300 \u00b1 1.0e+280"},
        {-0.0312, 0.0021, "-0.0312 \u00b1 0.0021"},
        {-0.001, 0.05, "~-0.001 \u00b1 0.050"},
        {-0.0004, 0.05, "~0.000 \u00b1 0.050"},
        {-0.004, 0.5, "~0.00 \u00b1 0.50"},
        {-3, 1234, "~0 \u00b1 1200"},
        {0.02, 0.31, "~0.02 \u00b1 0.31"},
        {NAN, 0.1, ""},
        {NAN, NAN, ""},
        {24, 0, "24"},
        {24, NAN, "24"},
        {0.88123, NAN, "0.8812"},
        {0.9, 0, "0.9"},
        {0.99996, NAN, "1"},
        {9.9996, NAN, "10"},
        {999.96, NAN, "1000"},
        {1234.56, INFINITY, "1235"},
        {302921.4, 0, "302921"},
        {1e9, 0, "1000000000"},
        {1e-9, 0, "0.000000001"},
        {1.5e-12, NAN, "1.5e-12"},
        {2e18, NAN, "2e+18"},
        {0, 0, "0"},
        {-0.0, 0, "0"},
        {-0.5, NAN, "-0.5"},
        {INFINITY, 0.1, "inf"},
        {0.00012344, NAN, "0.0001234"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[128];
        table_format(rows[i].value, rows[i].half_width, false, text, sizeof text);
        ck_assert_msg(strcmp(text, rows[i].text) == 0, "%g, %g: '%s' is not '%s'", rows[i].value, rows[i].half_width,
                      text, rows[i].text);
    }
}
END_TEST

START_TEST(all_digits)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {NAN, ""},
        {0, "0"},
        {-0.0, "0"},
        {24, "24"},
        {-24, "-24"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {123456789012345.0, "123456789012345"},
        {1e15, "1000000000000000"},
        {1e16, "1e+16"},
        {1e-9, "1e-09"},
        {INFINITY, "inf"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        table_digits(rows[i].value, text, sizeof text);
        ck_assert_str_eq(text, rows[i].text);
    }
    char text[32];
    table_digits(-4.9406564584124654e-324, text, sizeof text);
    ck_assert(strtod(text, NULL) == -4.9406564584124654e-324);
}
END_TEST

Suite *table_cells_suite(void)
{
    Suite *suite = suite_create("table_cells");
    TCase *cases = tcase_create("table_cells");
    tcase_add_test(cases, quoted_texts);
    tcase_add_test(cases, numbers_and_half_widths);
    tcase_add_test(cases, all_digits);
    suite_add_tcase(suite, cases);
    return suite;
}
