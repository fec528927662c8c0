/* test_steady.c - means over parts of a window, the truncation of a series, and the test of halves. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "sim/stats/output.h"
#include "sim/stats/series.h"
#include "sim/stats/steady.h"
#include "tests/suites.h"

/* 1 until 10, 3 until 25, 0 until 40, then 2: in the window (5, 45] of four parts of ten. */
START_TEST(parts_by_hand)
{
    sim_sum areas[4] = {0};
    struct series series;
    double means[4];

    series_init(&series, 5, 45, areas, 4);
    series_change(&series, 0, 1);
    series_change(&series, 10, 2);
    series_change(&series, 25, -3);
    series_change(&series, 40, 2);
    series_change(&series, 60, 5); /* behind the window */
    series_means(&series, means);
    ck_assert_double_eq(means[0], 2); /* 5 x 1, 5 x 3 */
    ck_assert_double_eq(means[1], 3);
    ck_assert_double_eq(means[2], 0);
    ck_assert_double_eq(means[3], 1);
}
END_TEST

START_TEST(a_value_that_stays_fills_all_parts)
{
    sim_sum areas[7] = {0};
    struct series series;
    double means[7];

    series_init(&series, 0, 100, areas, 7); /* parts end at 14, 28, 42, 57, ... */
    series_change(&series, 0, 4);
    series_means(&series, means);
    for (int i = 0; i < 7; i++)
        ck_assert_double_eq(means[i], 4);
}
END_TEST

/* Against the value at every nanosecond, for changes at any time, several at one of them and at ends of parts. */
START_TEST(parts_against_every_instant)
{
    enum { LENGTH = 5000, PARTS = 13, FROM = 700 };
    uint64_t x = (uint64_t)_i * UINT64_C(0x9e3779b97f4a7c15) + 1;
    sim_sum areas[PARTS] = {0};
    double sums[PARTS] = {0}, means[PARTS];
    struct series series;
    int64_t value = 0;
    size_t part = 0;
    sim_time begin = FROM;

    series_init(&series, FROM, LENGTH, areas, PARTS);
    for (sim_time now = 0; now < LENGTH; now++) {
        sim_time end = FROM + (LENGTH - FROM) * ((sim_time)part + 1) / PARTS;

        if (now == end) {
            sums[part++] /= (double)(end - begin);
            begin = end;
        }
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if ((x >> 40) % (uint64_t)(1 + _i % 5 * 100) == 0) {
            int64_t by = (int64_t)((x >> 60) % 5) - 2;

            series_change(&series, now, by);
            value += by;
        }
        if (now >= FROM)
            sums[part] += (double)value;
    }
    sums[part] /= (double)(LENGTH - begin);
    series_means(&series, means);
    for (size_t i = 0; i < PARTS; i++)
        ck_assert_double_eq_tol(means[i], sums[i], 1e-12 * (1 + fabs(sums[i])));
}
END_TEST

/* As it is defined, in quadratic time. */
static size_t truncation_of(const double *values, size_t count)
{
    double least = INFINITY;
    size_t best = 0;

    for (size_t d = 0; d <= count - count / 4; d++) {
        double n = (double)(count - d), mean = 0, squares = 0;

        for (size_t i = d; i < count; i++)
            mean += values[i] / n;
        for (size_t i = d; i < count; i++)
            squares += (values[i] - mean) * (values[i] - mean);
        if (squares / (n * n) < least) {
            least = squares / (n * n);
            best = d;
        }
    }
    return best;
}

/* A series that forgets its start at a rate of its own, with noise. */
static void decaying(double *values, size_t count, double start, double rate, uint64_t seed)
{
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

    for (size_t i = 0; i < count; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = 20 + start * exp(-rate * (double)i) + (double)(x >> 11) * 0x1p-53;
    }
}

START_TEST(truncation_as_it_is_defined)
{
    double values[200];

    decaying(values, 200, (_i % 3 - 1) * 15.0, 0.002 * (1 << _i % 7), (uint64_t)_i);
    ck_assert_uint_eq(steady_truncation(values, 200), truncation_of(values, 200));
}
END_TEST

START_TEST(truncation_where_it_is_known)
{
    double values[STEADY_BATCHES];

    decaying(values, STEADY_BATCHES, 0, 1, 1); /* steady from the first on */
    ck_assert_uint_le(steady_truncation(values, STEADY_BATCHES), STEADY_BATCHES / 10);
    decaying(values, STEADY_BATCHES, -15, 0.02, 1); /* 2 % of it are left behind 200 */
    ck_assert_uint_ge(steady_truncation(values, STEADY_BATCHES), 120);
    ck_assert_uint_le(steady_truncation(values, STEADY_BATCHES), STEADY_BATCHES / 2);
    decaying(values, STEADY_BATCHES, -500, 0.001, 1); /* never settles: too short */
    ck_assert_uint_gt(steady_truncation(values, STEADY_BATCHES), STEADY_BATCHES / 2);
    for (size_t i = 0; i < STEADY_BATCHES; i++)
        values[i] = 3; /* nothing moves: all of it is good */
    ck_assert_uint_eq(steady_truncation(values, STEADY_BATCHES), 0);
}
END_TEST

START_TEST(halves)
{
    /* first, second: interleaved as in a row of results */
    double values[10][2] = {{0}};

    for (int i = 0; i < 10; i++) {
        values[i][0] = 100 + i % 3;
        values[i][1] = 100 + i % 4;
    }
    ck_assert(!steady_grows(&values[0][0], &values[0][1], 10, 2)); /* chance */
    for (int i = 0; i < 10; i++)
        values[i][1] = values[i][0] + 4 + i % 2 * 0.1;
    ck_assert(!steady_grows(&values[0][0], &values[0][1], 10, 2)); /* sure, and less than 5 % */
    for (int i = 0; i < 10; i++)
        values[i][1] = values[i][0] + 6 + i % 2 * 0.1;
    ck_assert(steady_grows(&values[0][0], &values[0][1], 10, 2));
    ck_assert(!steady_grows(&values[0][1], &values[0][0], 10, 2)); /* shrinks */
    ck_assert(!steady_grows(&values[0][0], &values[0][1], 1, 2));
    for (int i = 0; i < 10; i++)
        values[i][1] = values[i][0] + (i % 2 ? 40 : -10);
    ck_assert(!steady_grows(&values[0][0], &values[0][1], 10, 2)); /* 15 on average, which may be chance */
}
END_TEST

/* The level: ten differences of mean m and deviation 1 are beyond chance from m = 4.297 / sqrt(10) on (Student's 0.1 %
 * point of 9 degrees). */
START_TEST(halves_at_their_level)
{
    double first[10], second[10], shift[] = {4.25 / sqrt(10), 4.35 / sqrt(10)};

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 10; i++) {
            first[i] = 1;
            second[i] = 1 + shift[k] + (i % 2 ? 1 : -1) * sqrt(0.9);
        }
        ck_assert_int_eq(steady_grows(first, second, 10, 1), k);
    }
}
END_TEST

Suite *steady_suite(void)
{
    Suite *suite = suite_create("steady");
    TCase *test = tcase_create("steady");

    tcase_add_test(test, parts_by_hand);
    tcase_add_test(test, a_value_that_stays_fills_all_parts);
    tcase_add_loop_test(test, parts_against_every_instant, 0, 15);
    tcase_add_loop_test(test, truncation_as_it_is_defined, 0, 42);
    tcase_add_test(test, truncation_where_it_is_known);
    tcase_add_test(test, halves);
    tcase_add_test(test, halves_at_their_level);
    suite_add_tcase(suite, test);
    return suite;
}
