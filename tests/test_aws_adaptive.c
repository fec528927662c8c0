/* test_aws_adaptive.c - aws_adaptive on the bench: the tables of its steps that the SDKs test themselves with, the
 * steps by hand, its floor and its ceiling. */
#include <check.h>
#include <math.h>

#include "tests/client_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static policy_time asks(struct bench *bench, policy_time now)
{
    return client_asks(bench, &bench->call, now);
}

static void ends(struct bench *bench, policy_time now, enum policy_end end)
{
    client_ends(bench, &bench->call, now, end);
}

static void expect_gauge(const struct bench *bench, const char *name, double value)
{
    double found = bench_gauge(bench, name);
    ck_assert_msg(fabs(found - value) < 1e-9, "%s is %.12g, expected %.12g", name, found, value);
}

static struct bench limiter(void)
{
    struct bench bench = bench_of("aws_adaptive", NULL);
    client_init(&bench);
    return bench;
}

/* So many answers at one moment, all of calls in flight since before: tokens do not matter. */
static void answers(struct bench *bench, policy_time now, int count, enum policy_end end)
{
    for (int i = 0; i < count; i++) {
        bench->view.now = now;
        bench->ops->admitted(&bench->self, &bench->view, &bench->call);
        client_ends(bench, &bench->call, now, end);
    }
}

static void expect_rate(const struct bench *bench, double rate)
{
    double found = bench_gauge(bench, "rate");
    ck_assert_msg(fabs(found - rate) < 1e-6, "the rate is %.9f, expected %.9f", found, rate);
}

/* The end-to-end table that the SDKs test themselves with: time, end, measured rate, rate. */
START_TEST(limiter_end_to_end)
{
    static const struct {
        int ms;
        bool throttled;
        double measured, rate;
    } rows[] = {
        {200, false, 0, 0.5},
        {400, false, 0, 0.5},
        {600, false, 4.8, 0.5},
        {800, false, 4.8, 0.5},
        {1000, false, 4.16, 0.5},
        {1200, false, 4.16, 0.6912},
        {1400, false, 4.16, 1.0976},
        {1600, false, 5.632, 1.6384},
        {1800, false, 5.632, 2.3328},
        {2000, true, 4.3264, 3.02848},
        {2200, false, 4.3264, 3.486639},
        {2400, false, 4.3264, 3.821874},
        {2600, false, 5.66528, 4.053386},
        {2800, false, 5.66528, 4.200373},
        {3000, false, 4.333056, 4.282037},
        {3200, true, 4.333056, 2.997426},
        {3400, false, 4.333056, 3.452226},
    };
    struct bench bench = limiter();
    ck_assert_int_eq(asks(&bench, 0), LET_IN); /* its time begins */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answers(&bench, rows[i].ms * MS, 1, rows[i].throttled ? POLICY_OVERLOAD : POLICY_DONE);
        expect_gauge(&bench, "measured", rows[i].measured);
        expect_rate(&bench, rows[i].rate);
    }
    expect_gauge(&bench, "throttles", 2);
    bench_free(&bench);
}
END_TEST

/* A first throttle at 5 s that was measured at exactly 10 calls a second: ten answers in the four seconds before make
 * 2/s, and twelve in the next one 0.8 x 12 + 0.2 x 2. Then so many answers that the measured rate never binds. */
static struct bench throttled_at_ten(void)
{
    struct bench bench = limiter();
    ck_assert_int_eq(asks(&bench, 0), LET_IN);
    answers(&bench, 100 * MS, 9, POLICY_DONE);
    answers(&bench, 4 * S, 1, POLICY_DONE);
    expect_gauge(&bench, "measured", 2);
    answers(&bench, 4 * S, 11, POLICY_DONE);
    answers(&bench, 5 * S, 1, POLICY_OVERLOAD);
    expect_gauge(&bench, "measured", 10);
    return bench;
}

START_TEST(limiter_recovers_along_the_published_cubic)
{
    static const double rates[] = {7.0,
                                   9.64893600966,
                                   10.000030849917364,
                                   10.453284520772092,
                                   13.408697022224185,
                                   21.26626835427364,
                                   36.425998516920465};
    struct bench bench = throttled_at_ten();
    for (int i = 0; i < 7; i++) {
        answers(&bench, (5 + i) * S, 200, POLICY_DONE);
        expect_rate(&bench, rates[i]);
    }
    bench_free(&bench);
}
END_TEST

START_TEST(limiter_throttled_anew)
{
    static const double rates[] = {7.0,
                                   9.64893600966,
                                   6.754255206761999,
                                   4.727978644733399,
                                   6.606547753887045,
                                   6.763279816944947,
                                   7.598174833907107,
                                   11.511232804773524};
    struct bench bench = throttled_at_ten();
    for (int i = 0; i < 8; i++) {
        bool again = i == 2 || i == 3;
        answers(&bench, (5 + i) * S, again ? 1 : 200, again ? POLICY_OVERLOAD : POLICY_DONE);
        expect_rate(&bench, rates[i]);
        if (i == 2) /* so that the next throttle is not measured low */
            answers(&bench, (5 + i) * S, 200, POLICY_DONE);
    }
    bench_free(&bench);
}
END_TEST

START_TEST(limiter_limits_from_the_first_throttle_on)
{
    struct bench bench = limiter();
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(asks(&bench, 200 * MS), LET_IN);
        ends(&bench, 200 * MS, POLICY_DONE);
    }
    ck_assert_int_eq(asks(&bench, 200 * MS), LET_IN);
    ends(&bench, 200 * MS, POLICY_OVERLOAD); /* nothing is measured yet */
    expect_rate(&bench, 0.5);
    expect_gauge(&bench, "tokens", 0);
    for (int i = 0; i < 3; i++) {
        policy_time now = (200 + 2000 * i) * MS + 2 * i, wait = asks(&bench, now);
        ck_assert_int_ge(wait, 2 * S);
        ck_assert_int_le(wait, 2 * S + 2);
        expect_gauge(&bench, "held_by", 1);
        ck_assert_int_eq(asks(&bench, now + 2 * S - 1000), POLICY_LEAST);
        ck_assert_int_eq(asks(&bench, now + 2 * S + 2), LET_IN);
        expect_gauge(&bench, "held_by", 0);
    }
    expect_gauge(&bench, "holds", 6);
    bench_free(&bench);
}
END_TEST

/* The bucket holds what comes in a second, and at least one. */
START_TEST(limiter_lets_bursts_of_a_second_through)
{
    struct bench fast = throttled_at_ten(), slow = limiter();
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(asks(&fast, 60 * S), LET_IN);
    ck_assert_int_gt(asks(&fast, 60 * S), 0);
    ck_assert_int_eq(asks(&slow, 0), LET_IN);
    ends(&slow, 0, POLICY_SHED);
    ck_assert_int_eq(asks(&slow, 60 * S), LET_IN);
    ck_assert_int_gt(asks(&slow, 60 * S), 0);
    bench_free(&fast);
    bench_free(&slow);
}
END_TEST

/* An answer in a hundred seconds, then one in a thousand: the cubic is far above, and at most twice what is measured is
 * sent, but never less than the floor. */
START_TEST(limiter_ceiling_and_floor)
{
    struct bench bench = throttled_at_ten();
    expect_rate(&bench, 7);
    answers(&bench, 105 * S, 1, POLICY_DONE);
    expect_gauge(&bench, "measured", 0.8 * 1 / 100 + 0.2 * 10);
    expect_rate(&bench, 2 * 2.008);
    answers(&bench, 1105 * S, 1, POLICY_DONE);
    expect_rate(&bench, 2 * 0.4024);
    answers(&bench, 2105 * S, 1, POLICY_DONE);
    expect_gauge(&bench, "measured", 0.08128);
    expect_rate(&bench, 0.5);
    bench_free(&bench);
}
END_TEST

START_TEST(limiter_settings)
{
    struct bench bench = bench_of("aws_adaptive", "beta", "0.5", "scale", "4", "floor", "3/s", NULL);
    client_init(&bench);
    ck_assert_int_eq(asks(&bench, 0), LET_IN);
    answers(&bench, 0, 9, POLICY_DONE);
    expect_rate(&bench, 3);
    answers(&bench, 1 * S, 1, POLICY_OVERLOAD);
    expect_gauge(&bench, "measured", 8); /* 0.8 x 10 */
    expect_rate(&bench, 4);
    answers(&bench, 2 * S, 100, POLICY_DONE); /* w at t0 + 1 s, the cube root of 8 x 0.5 / 4 */
    answers(&bench, 2 * S + 500 * MS, 1, POLICY_DONE);
    expect_rate(&bench, 8 + 4 * 0.125);
    bench_free(&bench);
}
END_TEST

/* What was sent and not given up has an answer, if only a timeout. */
START_TEST(limiter_counts_answers)
{
    static const enum policy_end ends_of[] = {POLICY_DONE, POLICY_ERROR, POLICY_TIMEOUT, POLICY_ABANDONED};
    for (size_t i = 0; i < 4; i++) {
        struct bench bench = limiter();
        ck_assert_int_eq(asks(&bench, 0), LET_IN);
        ends(&bench, 600 * MS, ends_of[i]);
        expect_gauge(&bench, "measured", i < 3 ? 1.6 : 0);
        expect_gauge(&bench, "throttles", 0);
        bench_free(&bench);
    }
    struct bench bench = limiter();
    ck_assert_int_eq(asks(&bench, 0), LET_IN);
    ends(&bench, 0, POLICY_DISPLACED);
    ck_assert_int_gt(asks(&bench, 100 * MS), 0);
    ends(&bench, 600 * MS, POLICY_TIMEOUT); /* while it was held */
    expect_gauge(&bench, "measured", 0);
    bench_free(&bench);
}
END_TEST

/* Whoever is held for a token has one when it was told, and the rate stays between its bounds. */
START_TEST(limiter_in_random_lives)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct bench bench = limiter();
        uint64_t state = seed;
        policy_time now = (policy_time)seed * 700 * MS;
        unsigned held = 0;
        for (int step = 0; step < 2000; step++) {
            uint64_t word = oracle_random(&state);
            policy_time wait = asks(&bench, now);
            double measured, rate;
            if (wait != LET_IN) {
                held++;
                ck_assert_int_le(wait, 2 * S + 2);
                now += wait;
                ck_assert_int_eq(asks(&bench, now), LET_IN);
            }
            now += (policy_time)(word % (uint64_t)(word >> 50 & 15 ? S / 4 : 20 * S));
            ends(&bench, now, word >> 60 < 3 ? POLICY_OVERLOAD : POLICY_DONE);
            measured = bench_gauge(&bench, "measured");
            rate = bench_gauge(&bench, "rate");
            ck_assert_double_ge(rate, 0.5);
            ck_assert_double_le(rate, fmax(0.5, 2 * measured));
            ck_assert_double_le(bench_gauge(&bench, "tokens"), fmax(1, rate));
        }
        ck_assert_uint_gt(held, 100);
        bench_free(&bench);
    }
}
END_TEST

Suite *aws_adaptive_suite(void)
{
    Suite *suite = suite_create("aws_adaptive");
    TCase *test = tcase_create("aws_adaptive");
    tcase_add_test(test, limiter_end_to_end);
    tcase_add_test(test, limiter_recovers_along_the_published_cubic);
    tcase_add_test(test, limiter_throttled_anew);
    tcase_add_test(test, limiter_limits_from_the_first_throttle_on);
    tcase_add_test(test, limiter_lets_bursts_of_a_second_through);
    tcase_add_test(test, limiter_ceiling_and_floor);
    tcase_add_test(test, limiter_settings);
    tcase_add_test(test, limiter_counts_answers);
    tcase_add_test(test, limiter_in_random_lives);
    suite_add_tcase(suite, test);
    return suite;
}
