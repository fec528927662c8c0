/* test_distribution.c - expressions of a scenario as distributions: their moments, and what is said about wrong ones.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "models/distribution.h"
#include "tests/plan_file.h"
#include "tests/suites.h"

static struct plan_file file;
static struct columns columns;
static struct diag diag;

static void setup(void)
{
    plan_file_init(&file);
    columns = (struct columns){.arena = &file.arena};
    diag = (struct diag){0};
    plan_file_write(&file, "t.csv", "wait,n\n4000,1\n2000,2\n3000,9\n");
}

static void teardown(void)
{
    diag_fini(&diag);
    plan_file_fini(&file);
}

static bool read_it(const char *text, enum measure measure, struct dist *dist)
{
    const struct expr *expr = expr_parse(text, (struct place){file.path, 3, 10}, &file.arena, &diag);
    return expr && distribution_read(expr, measure, &columns, dist, &diag);
}

static struct dist read_as(const char *text, enum measure measure)
{
    struct dist dist;
    bool done = read_it(text, measure, &dist);
    ck_assert_msg(done, "%s: %s", text, diag.count > 0 ? diag.messages[0].text : "no message");
    return dist;
}

static const struct good {
    const char *text;
    enum measure measure;
    enum dist_kind kind;
    double mean, cv; /* NAN: not compared */
} goods[] = {
    {"4 s", MEASURE_TIME, DIST_CONSTANT, 4, 0},
    {"0 s", MEASURE_TIME, DIST_CONSTANT, 0, NAN},
    {"constant(250 ms)", MEASURE_TIME, DIST_CONSTANT, 0.25, 0},
    {"120", MEASURE_TOKENS, DIST_CONSTANT, 120, 0},
    {"1.5k tokens", MEASURE_TOKENS, DIST_CONSTANT, 1500, 0},
    {"constant(10 turns)", MEASURE_TURNS, DIST_CONSTANT, 10, 0},
    {"uniform(0.5 s 1.5 s)", MEASURE_TIME, DIST_UNIFORM, 1, 0.28867513459481287},
    {"uniform(0.5 s, 1.5 s)", MEASURE_TIME, DIST_UNIFORM, 1, 0.28867513459481287},
    {"uniform(from 1 to 3)", MEASURE_TOKENS, DIST_UNIFORM, 2, NAN},
    {"exponential(4.5 s)", MEASURE_TIME, DIST_EXPONENTIAL, 4.5, 1},
    {"exponential(mean 1 min)", MEASURE_TIME, DIST_EXPONENTIAL, 60, 1},
    {"lognormal(120 cv 0.45)", MEASURE_TOKENS, DIST_LOGNORMAL, 120, 0.45},
    {"lognormal(mean 4 s cv 1)", MEASURE_TIME, DIST_LOGNORMAL, 4, 1},
    {"lognormal(cv 1 mean 4 s)", MEASURE_TIME, DIST_LOGNORMAL, 4, 1},
    {"lognormal(median 4 s sigma 1.1)", MEASURE_TIME, DIST_LOGNORMAL, 7.325008836,
     1.534107119}, /* 4 e^(1.1^2/2), sqrt(e^(1.1^2) - 1) */
    {"lognormal(4 s sigma 0.8325546111576977)", MEASURE_TIME, DIST_LOGNORMAL, 4, 1},
    {"lognormal(median 2 s cv 1)", MEASURE_TIME, DIST_LOGNORMAL, 2.8284271247461903, 1},
    {"gamma(4 s cv 0.5)", MEASURE_TIME, DIST_GAMMA, 4, 0.5},
    {"weibull(4 s cv 2)", MEASURE_TIME, DIST_WEIBULL, 4, 2},
    {"pareto(1 s shape 3)", MEASURE_TIME, DIST_PARETO, 1.5, 0.5773502691896258},
    {"pareto(1 s 3)", MEASURE_TIME, DIST_PARETO, 1.5, NAN},
    {"pareto(1 s shape 0.5)", MEASURE_TIME, DIST_PARETO, INFINITY, NAN},
    {"geometric(8)", MEASURE_TURNS, DIST_GEOMETRIC, 8, 0.9354143466934853},
    {"mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35))", MEASURE_TOKENS, DIST_MIXTURE, 354, NAN},
    {"mixture(70 % 10 tokens | 30 % 20)", MEASURE_TOKENS, DIST_MIXTURE, 13, NAN},
    {"mixture(0.1 1 s|0.2 2 s|0.7 3 s)", MEASURE_TIME, DIST_MIXTURE, 2.6, NAN},
    {"mixture(1 exponential(2 s))", MEASURE_TIME, DIST_MIXTURE, 2, 1},
    {"empirical(t.csv wait ms)", MEASURE_TIME, DIST_EMPIRICAL, 3, 0.27216552697590873},
    {"empirical('t.csv' n)", MEASURE_TOKENS, DIST_EMPIRICAL, 4, NAN},
    {"empirical(t.csv wait ms most 3.5 s)", MEASURE_TIME, DIST_EMPIRICAL, 8.5 / 3, NAN},
    {"exponential(4.5 s most 1 h)", MEASURE_TIME, DIST_EXPONENTIAL, 4.5, NAN},
    {"constant(4 s most 1 s)", MEASURE_TIME, DIST_CONSTANT, 1, NAN},
    {"mixture(0.5 2 s | 0.5 6 s most 4 s)", MEASURE_TIME, DIST_MIXTURE, 3, NAN},
};

START_TEST(moments)
{
    const struct good *good = &goods[_i];
    struct dist dist = read_as(good->text, good->measure);
    ck_assert_int_eq(dist.kind, good->kind);
    if (isinf(good->mean))
        ck_assert(isinf(dist_mean(&dist)));
    else
        ck_assert_double_eq_tol(dist_mean(&dist), good->mean, 1e-8 * (1 + good->mean));
    if (!isnan(good->cv))
        ck_assert_double_eq_tol(dist_cv(&dist), good->cv, 1e-6);
}
END_TEST

static const struct bad {
    const char *text;
    enum measure measure;
    int column;
    const char *words;
} bads[] = {
    {"4", MEASURE_TIME, 10, "a time with its unit"},
    {"120 tokens", MEASURE_TIME, 10, "a time with its unit"},
    {"4 s", MEASURE_TOKENS, 10, "a number of tokens"},
    {"4 turns", MEASURE_TOKENS, 10, "a number of tokens"},
    {"3 tokens", MEASURE_TURNS, 10, "a number of turns"},
    {"50/min", MEASURE_TURNS, 10, "a number of turns"},
    {"inf", MEASURE_TIME, 10, "a time with its unit"},
    {"slow", MEASURE_TIME, 10, "a distribution such as"},
    {"exponental(4 s)", MEASURE_TIME, 10, "did you mean exponential?"},
    {"sum(4 s)", MEASURE_TIME, 10, "expected constant, uniform"},
    {"exponential()", MEASURE_TIME, 10, "exponential(MEAN)"},
    {"exponential(4 s 5 s)", MEASURE_TIME, 26, "one too many"},
    {"exponential(4 s cv 1)", MEASURE_TIME, 26, "exponential(MEAN)"},
    {"exponential(4 s | 5 s)", MEASURE_TIME, 28, "one too many"},
    {"exponential(0 s)", MEASURE_TIME, 10, "above 0"},
    {"exponential(mean)", MEASURE_TIME, 22, "a value behind it"},
    {"exponential(exponential(4 s))", MEASURE_TIME, 22, "a time with its unit"},
    {"exponential(4 s most)", MEASURE_TIME, 26, "a value behind it"},
    {"exponential(4 s most 3)", MEASURE_TIME, 31, "a time with its unit"},
    {"uniform(3 s)", MEASURE_TIME, 10, "uniform(FROM TO)"},
    {"uniform(3 s 1 s)", MEASURE_TIME, 10, "smaller end first"},
    {"lognormal(4 s)", MEASURE_TIME, 10, "lognormal(MEAN cv C)"},
    {"lognormal(4 s cv 1 sigma 2)", MEASURE_TIME, 10, "lognormal(MEAN cv C)"},
    {"lognormal(4 s median 3 s cv 2)", MEASURE_TIME, 10, "lognormal(MEAN cv C)"},
    {"lognormal(4 s cv 0)", MEASURE_TIME, 27, "above 0"},
    {"lognormal(4 s cv 1 s)", MEASURE_TIME, 27, "bare number"},
    {"lognormal(4 s cv inf)", MEASURE_TIME, 27, "bare number"},
    {"lognormal(median 0 s cv 1)", MEASURE_TIME, 10, "above 0"},
    {"gamma(4 s cv)", MEASURE_TIME, 20, "a value behind it"},
    {"geometric(0.5)", MEASURE_TURNS, 10, "at least 1"},
    {"geometric(8 s)", MEASURE_TIME, 10, "whole numbers"},
    {"mixture(0.7 1 s | 0.2 2 s)", MEASURE_TIME, 10, "sum to 0.9"},
    {"mixture(0.7 1 s | 0.300000002 2 s)", MEASURE_TIME, 10, "sum to 1.000000002"},
    {"mixture(1 s | 2 s)", MEASURE_TIME, 18, "a weight"},
    {"mixture(0 1 s | 1 2 s)", MEASURE_TIME, 18, "a weight"},
    {"mixture(0.5 1 s 2 s | 0.5 1 s)", MEASURE_TIME, 18, "one distribution"},
    {"mixture(0.5 1 s | 0.5 2)", MEASURE_TIME, 32, "a time with its unit"},
    {"mixture()", MEASURE_TIME, 10, "mixture(0.7 A | 0.3 B)"},
    {"empirical(t.csv)", MEASURE_TOKENS, 10, "empirical(FILE COLUMN)"},
    {"empirical(t.csv n s)", MEASURE_TOKENS, 10, "empirical(FILE COLUMN)"},
    {"empirical(t.csv wait)", MEASURE_TIME, 10, "empirical(FILE COLUMN UNIT)"},
    {"empirical(t.csv wait sec)", MEASURE_TIME, 31, "a unit of time"},
    {"empirical(t.csv wiat ms)", MEASURE_TIME, 20, "wiat"},
    {"empirical(x.csv wait ms)", MEASURE_TIME, 20, "x.csv"},
};

START_TEST(mistakes)
{
    const struct bad *bad = &bads[_i];
    struct dist dist;
    ck_assert_msg(!read_it(bad->text, bad->measure, &dist), "%s: no message", bad->text);
    ck_assert_uint_eq(diag.errors, 1);
    const struct diag_message *message = &diag.messages[0];
    ck_assert_msg(message->place.line == 3 && message->place.column == bad->column, "%s: %s, at column %d", bad->text,
                  message->text, message->place.column);
    ck_assert_msg(strstr(message->text, bad->words) != NULL, "%s: %s: expected `%s`", bad->text, message->text,
                  bad->words);
}
END_TEST

START_TEST(columns_are_read_once)
{
    struct dist first = read_as("empirical(t.csv wait ms)", MEASURE_TIME);
    plan_file_write(&file, "t.csv", "wait,n\n9,9\n");
    struct dist again = read_as("empirical(t.csv wait ms most 1 s)", MEASURE_TIME);
    ck_assert_ptr_eq(first.values, again.values);
    ck_assert_uint_eq(again.count, 3);
    ck_assert_double_eq(first.values[0], 2);
    ck_assert_double_eq(dist_mean(&again), 1);
    struct dist other = read_as("empirical(t.csv wait s)", MEASURE_TIME);
    ck_assert_uint_eq(other.count, 1);
}
END_TEST

START_TEST(mixtures_end_at_exactly_one)
{
    struct dist dist = read_as("mixture(0.7 1 s | 0.2 2 s | 0.1 3 s)", MEASURE_TIME);
    ck_assert_uint_eq(dist.count, 3);
    ck_assert_double_eq(dist.weights[2], 1);
    ck_assert_double_eq(dist.weights[0], 0.7);
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *distribution_suite(void)
{
    Suite *suite = suite_create("distribution");
    TCase *tcase = tcase_create("distribution");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, moments, 0, COUNT_OF(goods));
    tcase_add_loop_test(tcase, mistakes, 0, COUNT_OF(bads));
    tcase_add_test(tcase, columns_are_read_once);
    tcase_add_test(tcase, mixtures_end_at_exactly_one);
    suite_add_tcase(suite, tcase);
    return suite;
}
