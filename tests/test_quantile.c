/* test_quantile.c - histograms against exact selection in a sorted array; ramps against the exact, piecewise linear
 * time below a value. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "sim/stats/quantile.h"
#include "tests/suites.h"

#define MOST 5000

static const int permilles[] = {1, 5, 50, 70, 250, 500, 750, 900, 950, 990, 999, 1000};
#define PERMILLES (sizeof permilles / sizeof *permilles)

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return ((double)(next_random(state) >> 11) + 0.5) * 0x1p-53;
}

static sim_time always_zero(uint64_t *state)
{
    (void)state;
    return 0;
}

static sim_time small(uint64_t *state)
{
    return (sim_time)(next_random(state) % 512);
}

static sim_time mostly_zero(uint64_t *state)
{
    return uniform(state) < 0.9 ? 0 : (sim_time)(-9e9 * log(uniform(state)));
}

static sim_time exponential(uint64_t *state)
{
    return (sim_time)(-9e9 * log(uniform(state)));
}

static sim_time one_cell(uint64_t *state)
{
    return (INT64_C(1) << 40) + (sim_time)(next_random(state) % (1 << 20));
}

static sim_time every_octave(uint64_t *state)
{
    return (sim_time)(next_random(state) >> (2 + next_random(state) % 62));
}

static sim_time edges(uint64_t *state)
{
    return (INT64_C(1) << (next_random(state) % 63)) - (sim_time)(next_random(state) % 2);
}

static sim_time up_to_the_end(uint64_t *state)
{
    return INT64_MAX - (sim_time)(next_random(state) % 1000);
}

static sim_time (*const shapes[])(uint64_t *) = {always_zero, small,        mostly_zero, exponential,
                                                 one_cell,    every_octave, edges,       up_to_the_end};
#define SHAPES (int)(sizeof shapes / sizeof *shapes)

static int ascending(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

/* The width of the cell that holds a value. */
static double width_at(double value)
{
    return value < 512 ? 1 : ldexp(1, ilogb(value) - 8);
}

START_TEST(histogram_against_selection)
{
    static sim_time values[MOST];
    static const size_t counts[] = {1, 2, 3, 10, 100, 1000, MOST};
    uint64_t state = (uint64_t)_i;

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct histogram histogram = {0};
        size_t count = counts[c];

        for (size_t i = 0; i < count; i++) {
            values[i] = shapes[_i](&state);
            histogram_add(&histogram, values[i]);
        }
        qsort(values, count, sizeof *values, ascending);
        ck_assert_uint_eq(histogram.count, count);
        ck_assert_int_eq(histogram.largest, values[count - 1]);
        for (size_t p = 0; p < PERMILLES; p++) {
            size_t rank = ((size_t)permilles[p] * count + 999) / 1000;
            double exact = (double)values[rank - 1];
            double quantile = histogram_quantile(&histogram, permilles[p] / 1000.0);

            if (exact < 512)
                ck_assert_double_eq(quantile, exact);
            ck_assert_double_lt(fabs(quantile - exact), width_at(exact));
            ck_assert_double_le(quantile, (double)histogram.largest);
        }
        ck_assert_double_eq(histogram_quantile(&histogram, 1), (double)values[count - 1]);
        histogram_fini(&histogram);
    }
}
END_TEST

/* In 0, 1, ..., n - 1 the r-th smallest is r - 1: decimal p must not be off by one through binary rounding. */
START_TEST(rank_is_exact)
{
    for (size_t n = 10; n <= 500; n += 10) {
        struct histogram histogram = {0};

        for (size_t i = 0; i < n; i++)
            histogram_add(&histogram, (sim_time)i);
        for (size_t permille = 1; permille <= 1000; permille++) {
            size_t rank = (permille * n + 999) / 1000;
            ck_assert_double_eq(histogram_quantile(&histogram, (double)permille / 1000), (double)(rank - 1));
        }
        histogram_fini(&histogram);
    }
}
END_TEST

/* Mean error over many sets of five observations in one cell, for every rank, with and without the maximum in it. */
START_TEST(unbiased_within_a_cell)
{
    enum { IN_CELL = 5, SETS = 20000 };
    const sim_time low = INT64_C(1) << 30, width = INT64_C(1) << 22;
    uint64_t state = 1;

    for (int more = 0; more <= 1; more++) {
        struct histogram histogram = {0};
        double error[IN_CELL] = {0};

        for (int set = 0; set < SETS; set++) {
            sim_time values[IN_CELL];

            histogram_clear(&histogram);
            for (int i = 0; i < IN_CELL; i++) {
                values[i] = low + (sim_time)(next_random(&state) % (uint64_t)width);
                histogram_add(&histogram, values[i]);
            }
            if (more)
                histogram_add(&histogram, 4 * low);
            qsort(values, IN_CELL, sizeof *values, ascending);
            for (int i = 0; i < IN_CELL; i++)
                error[i] += histogram_quantile(&histogram, (i + 1.0) / (IN_CELL + more)) - (double)values[i];
        }
        for (int i = 0; i < IN_CELL; i++)
            ck_assert_double_lt(fabs(error[i] / SETS / (double)width), 0.005);
        histogram_fini(&histogram);
    }
}
END_TEST

START_TEST(histogram_merges)
{
    struct histogram whole = {0}, parts[3] = {{0}, {0}, {0}};
    uint64_t state = 7;

    for (int i = 0; i < 10000; i++) {
        sim_time value = every_octave(&state);
        histogram_add(&whole, value);
        histogram_add(&parts[i % 3], value);
    }
    histogram_merge(&parts[0], &parts[1]);
    histogram_merge(&parts[2], &parts[0]);
    ck_assert_uint_eq(parts[2].count, whole.count);
    ck_assert_int_eq(parts[2].largest, whole.largest);
    for (int i = 1; i <= 1000; i++)
        ck_assert_double_eq(histogram_quantile(&parts[2], i / 1000.0), histogram_quantile(&whole, i / 1000.0));
    histogram_fini(&whole);
    for (int i = 0; i < 3; i++)
        histogram_fini(&parts[i]);
}
END_TEST

START_TEST(histogram_clears)
{
    struct histogram histogram = {0};

    ck_assert_double_nan(histogram_quantile(&histogram, 0.5));
    histogram_add(&histogram, SIM_SECOND);
    histogram_clear(&histogram);
    ck_assert_double_nan(histogram_quantile(&histogram, 0.5));
    histogram_add(&histogram, 3);
    ck_assert_double_eq(histogram_quantile(&histogram, 0.5), 3);
    ck_assert_double_eq(histogram_quantile(&histogram, 1), 3);
    histogram_fini(&histogram);
}
END_TEST

struct stretch {
    sim_time from, to;
};

/* Time with value <= x, exact. */
static sim_sum time_up_to(const struct stretch *stretches, size_t count, sim_time zero, sim_time x)
{
    sim_sum time = zero;

    for (size_t i = 0; i < count; i++)
        if (x > stretches[i].from)
            time += (x < stretches[i].to ? x : stretches[i].to) - stretches[i].from;
    return time;
}

/* The smallest whole x with at least `need` of time up to it. */
static sim_time exact_ramps_quantile(const struct stretch *stretches, size_t count, sim_time zero, sim_sum need)
{
    sim_time low = -1, high = INT64_MAX / 2;

    while (high - low > 1) {
        sim_time middle = low + (high - low) / 2;
        if (time_up_to(stretches, count, zero, middle) >= need)
            high = middle;
        else
            low = middle;
    }
    return high;
}

START_TEST(ramps_against_brute_force)
{
    enum { STRETCHES = 300 };
    static struct stretch stretches[STRETCHES];
    uint64_t state = (uint64_t)_i + 100;

    for (int round = 0; round < 5; round++) {
        struct ramps ramps = {0};
        /* Round 0 has no time at 0, round 4 very much. */
        sim_time zero = round ? (sim_time)(pow(10, 3 * round) * uniform(&state)) : 0;

        ramps_zero(&ramps, zero);
        for (size_t i = 0; i < STRETCHES; i++) {
            sim_time a = shapes[_i](&state) / 1000, b = shapes[_i](&state) / 1000;
            /* Half of them begin at 0, as ages do. */
            stretches[i] = (struct stretch){i % 2 ? 0 : a < b ? a : b, a < b ? b : a};
            ramps_add(&ramps, stretches[i].from, stretches[i].to);
        }
        ck_assert(ramps.total == time_up_to(stretches, STRETCHES, zero, INT64_MAX));
        for (size_t p = 0; ramps.total && p < PERMILLES; p++) {
            sim_sum need = (ramps.total * permilles[p] + 999) / 1000;
            double exact = (double)exact_ramps_quantile(stretches, STRETCHES, zero, need);
            double quantile = ramps_quantile(&ramps, permilles[p] / 1000.0);

            ck_assert_double_le(fabs(quantile - exact), width_at(exact) + 1);
            ck_assert_double_le(quantile, (double)ramps.largest);
            if (need <= zero)
                ck_assert_double_eq(quantile, 0);
        }
        ramps_fini(&ramps);
    }
}
END_TEST

/* One stretch is uniform in all its cells but the last, so it is interpolated without error. */
START_TEST(one_ramp_is_linear)
{
    struct ramps ramps = {0};

    ramps_add(&ramps, 0, 10 * SIM_SECOND);
    ck_assert_double_eq_tol(ramps_quantile(&ramps, 0.123), 1.23e9, 1e-3);
    ck_assert_double_eq_tol(ramps_quantile(&ramps, 0.5), 5e9, 1e-3);
    ramps_zero(&ramps, 10 * SIM_SECOND);
    ck_assert_double_eq(ramps_quantile(&ramps, 0.5), 0);
    ck_assert_double_eq_tol(ramps_quantile(&ramps, 0.75), 5e9, 1e-3);
    ramps_fini(&ramps);
}
END_TEST

/* [2^20, 2^21) and [2^20, 2^22): half of all time lies below 2^21, where both are passed, and half above, where one is.
 */
START_TEST(ramps_are_exact_at_edges)
{
    struct ramps ramps = {0};

    ramps_add(&ramps, 1 << 20, 1 << 21);
    ramps_add(&ramps, 1 << 20, 1 << 22);
    ck_assert_double_eq_tol(ramps_quantile(&ramps, 0.25), (1 << 20) + (1 << 19), 1e-6);
    ck_assert_double_eq_tol(ramps_quantile(&ramps, 0.5), 1 << 21, 1e-6);
    ck_assert_double_eq_tol(ramps_quantile(&ramps, 0.75), (1 << 21) + (1 << 20), 1e-6);
    ck_assert_double_eq_tol(ramps_quantile(&ramps, 1), 1 << 22, 1e-6);
    ramps_fini(&ramps);
}
END_TEST

START_TEST(empty_ramps)
{
    struct ramps ramps = {0};

    ck_assert_double_nan(ramps_quantile(&ramps, 0.99));
    ramps_add(&ramps, 5, 5);
    ck_assert_double_nan(ramps_quantile(&ramps, 0.99));
    ramps_zero(&ramps, 1);
    ck_assert_double_eq(ramps_quantile(&ramps, 1), 0);
    ramps_add(&ramps, 0, 9);
    ramps_clear(&ramps);
    ck_assert_double_nan(ramps_quantile(&ramps, 0.99));
    ck_assert(ramps.total == 0);
    ramps_fini(&ramps);
}
END_TEST

START_TEST(ramps_merge_exactly)
{
    struct ramps whole = {0}, parts[2] = {{0}, {0}};
    uint64_t state = 3;

    for (int i = 0; i < 1000; i++) {
        sim_time from = every_octave(&state) / 4, to = from + exponential(&state);
        ramps_add(&whole, from, to);
        ramps_add(&parts[i % 2], from, to);
        ramps_zero(&whole, i);
        ramps_zero(&parts[i % 2], i);
    }
    ramps_merge(&parts[1], &parts[0]);
    ck_assert(parts[1].total == whole.total);
    for (int i = 1; i <= 1000; i++)
        ck_assert_double_eq(ramps_quantile(&parts[1], i / 1000.0), ramps_quantile(&whole, i / 1000.0));
    ramps_fini(&whole);
    ramps_fini(&parts[0]);
    ramps_fini(&parts[1]);
}
END_TEST

Suite *quantile_suite(void)
{
    Suite *suite = suite_create("quantile");
    TCase *histograms = tcase_create("histogram");
    TCase *ramps = tcase_create("ramps");

    tcase_add_loop_test(histograms, histogram_against_selection, 0, SHAPES);
    tcase_add_test(histograms, rank_is_exact);
    tcase_add_test(histograms, unbiased_within_a_cell);
    tcase_add_test(histograms, histogram_merges);
    tcase_add_test(histograms, histogram_clears);
    suite_add_tcase(suite, histograms);
    tcase_add_loop_test(ramps, ramps_against_brute_force, 0, SHAPES);
    tcase_add_test(ramps, one_ramp_is_linear);
    tcase_add_test(ramps, ramps_are_exact_at_edges);
    tcase_add_test(ramps, empty_ramps);
    tcase_add_test(ramps, ramps_merge_exactly);
    suite_add_tcase(suite, ramps);
    return suite;
}
