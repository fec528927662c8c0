/* test_stats.c - tallies, levels, and estimates against numbers worked by hand. */
#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "sim/stats/level.h"
#include "sim/stats/output.h"
#include "sim/stats/tally.h"
#include "tests/suites.h"

START_TEST(tally_counts_and_sums)
{
    struct tally tally = {0};

    ck_assert_double_nan(tally_mean_seconds(&tally));
    tally_add(&tally, 0);
    tally_add(&tally, 3 * SIM_SECOND);
    tally_add(&tally, SIM_SECOND);
    ck_assert_uint_eq(tally.count, 3);
    ck_assert_int_eq(tally.largest, 3 * SIM_SECOND);
    ck_assert_double_eq(tally_mean_seconds(&tally), 4.0 / 3.0);
}
END_TEST

START_TEST(tally_sum_passes_64_bits)
{
    struct tally tally = {0};

    for (int i = 0; i < 8; i++)
        tally_add(&tally, INT64_MAX);
    ck_assert(tally.sum == (sim_sum)INT64_MAX * 8);
    ck_assert_double_eq(tally_mean_seconds(&tally), (double)INT64_MAX / 1e9);
}
END_TEST

START_TEST(tally_merge_equals_whole)
{
    struct tally whole = {0}, left = {0}, right = {0};

    for (sim_time i = 0; i < 100; i++) {
        tally_add(&whole, i * i);
        tally_add(i % 3 ? &left : &right, i * i);
    }
    tally_merge(&left, &right);
    ck_assert_uint_eq(left.count, whole.count);
    ck_assert(left.sum == whole.sum);
    ck_assert_int_eq(left.largest, whole.largest);
}
END_TEST

START_TEST(level_integrates)
{
    struct level level = {0};

    ck_assert_double_nan(level_mean(&level, 0));
    level_change(&level, 10, 3);
    level_change(&level, 14, -1);
    ck_assert(level_area(&level, 14) == 12);
    ck_assert(level_area(&level, 20) == 24);
    ck_assert_double_eq(level_mean(&level, 20), 24.0 / 20.0);
    ck_assert_int_eq(level.largest, 3);
}
END_TEST

START_TEST(level_restart_keeps_value)
{
    struct level level = {0};

    level_change(&level, 5, 7);
    level_change(&level, 6, -3);
    level_restart(&level, 10);
    ck_assert_int_eq(level.value, 4);
    ck_assert_int_eq(level.largest, 4);
    ck_assert_double_nan(level_mean(&level, 10));
    ck_assert(level_area(&level, 10) == 0);
    ck_assert_double_eq(level_mean(&level, 25), 4.0);
    level_change(&level, 15, 2);
    ck_assert_double_eq(level_mean(&level, 20), (4.0 * 5 + 6 * 5) / 10);
}
END_TEST

START_TEST(t_quantiles)
{
    ck_assert_double_nan(output_t(0.95, 0));
    ck_assert_double_eq_tol(output_t(0.95, 1), 12.7062047362, 1e-8);
    ck_assert_double_eq_tol(output_t(0.95, 2), 4.3026527297, 1e-9);
    ck_assert_double_eq_tol(output_t(0.95, 4), 2.7764451052, 1e-9);
    ck_assert_double_eq_tol(output_t(0.95, 19), 2.0930240544, 1e-9);
    ck_assert_double_eq_tol(output_t(0.99, 10), 3.1692726726, 1e-9);
    for (size_t degrees = 1; degrees <= 2000; degrees++) {
        double t = output_t(0.95, degrees);
        ck_assert_double_eq_tol(gsl_cdf_tdist_P(t, (double)degrees), 0.975, 1e-12);
        ck_assert_double_lt(output_t(0.95, degrees + 1), t);
    }
}
END_TEST

/* 1..5: mean 3, sd sqrt(2.5), half-width 2.7764451052 * sqrt(2.5 / 5). */
START_TEST(mean_and_half_width)
{
    const double values[] = {1, 2, 3, 4, 5};
    struct estimate estimate = output_mean(values, 5, 1);

    ck_assert_uint_eq(estimate.count, 5);
    ck_assert_double_eq(estimate.mean, 3);
    ck_assert_double_eq_tol(estimate.half_width, 1.9632431614, 1e-9);
}
END_TEST

START_TEST(half_width_survives_offset)
{
    const double values[] = {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4, 1e9 + 5};
    struct estimate estimate = output_mean(values, 5, 1);

    ck_assert_double_eq(estimate.mean, 1e9 + 3);
    ck_assert_double_eq_tol(estimate.half_width, 1.9632431614, 1e-9);
}
END_TEST

START_TEST(stride_picks_a_column)
{
    const double values[] = {1, 100, 2, 700, 3, 100, 4, 900, 5, 0};
    struct estimate estimate = output_mean(values, 5, 2);

    ck_assert_double_eq(estimate.mean, 3);
    ck_assert_double_eq_tol(estimate.half_width, 1.9632431614, 1e-9);
    ck_assert_double_eq(output_mean(values + 1, 5, 2).mean, 360);
}
END_TEST

START_TEST(undefined_values_are_left_out)
{
    const double values[] = {NAN, 1, 2, NAN, 3, 4, 5, NAN};
    struct estimate estimate = output_mean(values, 8, 1);

    ck_assert_uint_eq(estimate.count, 5);
    ck_assert_double_eq(estimate.mean, 3);
    ck_assert_double_eq_tol(estimate.half_width, 1.9632431614, 1e-9);
}
END_TEST

START_TEST(too_few_values)
{
    const double values[] = {NAN, 7, NAN};

    ck_assert_uint_eq(output_mean(values, 0, 1).count, 0);
    ck_assert_double_nan(output_mean(values, 0, 1).mean);
    ck_assert_double_nan(output_mean(values, 1, 1).mean);
    ck_assert_uint_eq(output_mean(values, 3, 1).count, 1);
    ck_assert_double_eq(output_mean(values, 3, 1).mean, 7);
    ck_assert_double_nan(output_mean(values, 3, 1).half_width);
}
END_TEST

START_TEST(equal_values_have_no_spread)
{
    const double values[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

    ck_assert_double_eq_tol(output_mean(values, 7, 1).half_width, 0, 1e-16);
}
END_TEST

/* Differences 1, 2, 3, 4, 5 of series that each spread over thousands. */
START_TEST(differences_are_paired)
{
    const double a[] = {1001, 2002, 5003, NAN, -3996, 5, 8};
    const double b[] = {1000, 2000, 5000, 4, -4000, 0, NAN};
    struct estimate estimate = output_difference(a, b, 7, 1);

    ck_assert_uint_eq(estimate.count, 5);
    ck_assert_double_eq(estimate.mean, 3);
    ck_assert_double_eq_tol(estimate.half_width, 1.9632431614, 1e-9);
    ck_assert_double_eq(output_difference(b, a, 7, 1).mean, -3);
    ck_assert_double_nan(output_difference(a + 3, b + 3, 1, 1).mean);
}
END_TEST

Suite *stats_suite(void)
{
    Suite *suite = suite_create("stats");
    TCase *observed = tcase_create("tally and level");
    TCase *output = tcase_create("output");

    tcase_add_test(observed, tally_counts_and_sums);
    tcase_add_test(observed, tally_sum_passes_64_bits);
    tcase_add_test(observed, tally_merge_equals_whole);
    tcase_add_test(observed, level_integrates);
    tcase_add_test(observed, level_restart_keeps_value);
    suite_add_tcase(suite, observed);
    tcase_add_test(output, t_quantiles);
    tcase_add_test(output, mean_and_half_width);
    tcase_add_test(output, half_width_survives_offset);
    tcase_add_test(output, stride_picks_a_column);
    tcase_add_test(output, undefined_values_are_left_out);
    tcase_add_test(output, too_few_values);
    tcase_add_test(output, equal_values_have_no_spread);
    tcase_add_test(output, differences_are_paired);
    suite_add_tcase(suite, output);
    return suite;
}
