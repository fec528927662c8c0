/* test_param_plain.c - values of parameters as a log's column has them. */
#include <check.h>
#include <math.h>

#include "sim/io/param.h"
#include "tests/suites.h"

/* A log's column: one unit a key, whatever the value, no multiples, nine digits. */
START_TEST(test_plain)
{
    static const struct option plain[] = {
        {"r_qps", OPTION_RATE, 0, .initial = "1.5 requests/s", .measures = "requests"},
        {"r_hour", OPTION_RATE, 0, .initial = "30/h"},
        {"limit", OPTION_RATE, 0, .initial = "", .measures = "requests"},
        {"wait", OPTION_TIME, 0, .initial = "300 s"},
        {"age", OPTION_TIME, 0, .initial = "6 h"},
        {"none", OPTION_TIME, 0, .initial = "inf"},
        {"share", OPTION_SHARE, 0, .initial = "5 %"},
        {"weight", OPTION_REAL, 0, .initial = "1"},
        {"burst", OPTION_COUNT, 0, .initial = "500k"},
        {.key = NULL},
    };
    static const struct {
        const char *key;
        double number;
        const char *printed;
    } rows[] = {
        {"r_qps", 1.48, "1.48 requests/s"},
        {"r_qps", 3876.0 / 3600, "1.07666667 requests/s"},
        {"r_qps", 0.7791666666666666, "0.779166667 requests/s"},
        {"r_qps", INFINITY, "inf"},
        {"r_qps", 64965.91500000001, "64965.915 requests/s"},
        {"r_qps", 105e3, "105000 requests/s"},
        {"r_hour", 1.0 / 60, "60/h"},
        {"limit", 0.9, "54 requests/min"},
        {"wait", 90, "90 s"},
        {"wait", 0.0025, "0.0025 s"},
        {"age", 5400, "1.5 h"},
        {"none", 90, "90 s"},
        {"none", INFINITY, "inf"},
        {"share", 1.0 / 3, "33.3333333 %"},
        {"weight", 2.0 / 3, "0.666666667"},
        {"weight", -0.0, "0"},
        {"burst", 500000, "500000"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct option *option = param_find(plain, rows[i].key);
        double number = rows[i].number;
        bool counted = option->type == OPTION_TIME || option->type == OPTION_COUNT;
        double scale = option->type == OPTION_TIME ? 1e9 : 1;
        int64_t whole = isinf(number) ? INT64_MAX : (int64_t)(number * scale + 0.5);
        const void *at = counted ? (const void *)&whole : &number;
        ck_assert_str_eq(param_plain(option, at, &arena), rows[i].printed);
    }
    arena_free(&arena);
}
END_TEST

Suite *param_plain_suite(void)
{
    Suite *suite = suite_create("param_plain");
    TCase *cases = tcase_create("param_plain");

    tcase_add_test(cases, test_plain);
    suite_add_tcase(suite, cases);
    return suite;
}
