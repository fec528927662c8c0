/* test_token_bucket.c - token_bucket on the bench at every edge, and gcra at those that it has too. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/clock.h"
#include "tests/call_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static struct bench bench;
static const char *const both[] = {"token_bucket", "gcra"};

static void expect(struct policy_answer answer, enum policy_action action, policy_time after, const char *reason)
{
    ck_assert_int_eq(answer.action, action);
    ck_assert_int_eq(answer.after, after);
    ck_assert_str_eq(answer.reason, reason);
}

static bool enters(policy_time now, double output)
{
    return bench_enters(&bench, bench_call(&bench, 0, 0, output), now);
}

static struct policy_answer asks(policy_time now, double output)
{
    return bench_attempts(&bench, bench_call(&bench, 0, 0, output), now);
}

static double level(void)
{
    return bench_gauge(&bench, "level");
}

/* The level as it is at a time, asked by a call of nothing that is not let in. */
static double level_at(policy_time now)
{
    asks(now, 0);
    return level();
}

/* --- what fits ------------------------------------------------------------------------------------------------------
 */

START_TEST(exactly_the_level_and_one_ns_early)
{
    bench = bench_of(both[_i], "meter", "requests", "rate", "1/s", "burst", "3", NULL);
    bench_begins(&bench);
    for (int i = 0; i < 3; i++)
        ck_assert(enters(5, 9));
    expect(asks(5, 9), POLICY_HOLD, S, "requests");
    expect(asks(S + 4, 9), POLICY_HOLD, MS, "requests"); /* 1 ns early; asked again no sooner than a policy may */
    ck_assert(enters(S + 5, 9));
    expect(asks(S + 5, 9), POLICY_HOLD, S, "requests");
    for (int i = 0; i < 3; i++)
        ck_assert(enters(100 * S, 9));
    ck_assert(!enters(100 * S, 9)); /* not more than the burst, however long it slept */
    ck_assert_double_eq(bench_gauge(&bench, "held"), 4);
    bench_free(&bench);
}
END_TEST

/* At rates whose unit is no whole number of ns, too. */
START_TEST(a_burst_fits_at_every_rate)
{
    for (int per_minute = 1; per_minute <= 600; per_minute++) {
        char rate[32];
        snprintf(rate, sizeof rate, "%d/min", per_minute);
        bench = bench_of(both[_i], "meter", "requests", "rate", rate, "burst", "40", NULL);
        bench_begins(&bench);
        for (int i = 0; i < 40; i++)
            ck_assert(enters(0, 1));
        ck_assert(!enters(0, 1));
        ck_assert(!enters((60 * S + per_minute - 1) / per_minute - 1, 1));
        ck_assert(enters((60 * S + per_minute - 1) / per_minute, 1));
        bench_free(&bench);
    }
}
END_TEST

/* The n-th call behind the burst is let in n / rate after it, to the ns, whoever asks in between. */
START_TEST(nothing_drifts)
{
    uint64_t state = 3;
    policy_time now = 0;
    bench = bench_of(both[_i], "meter", "requests", "rate", "42.001/min", "burst", "2", NULL);
    bench_begins(&bench);
    ck_assert(enters(0, 1) && enters(0, 1));
    for (int64_t n = 1; n < 20000; n++) {
        policy_time at = (policy_time)(((sim_sum)n * 60 * S * 1000 + 42000) / 42001);
        while (now + MS < at) {
            expect(asks(now, 1), POLICY_HOLD, at - now, "requests");
            now += 1 + (policy_time)(oracle_random(&state) % (uint64_t)(at - now - 1));
        }
        ck_assert(!enters(at - 1, 1));
        ck_assert(enters(at, 1));
        now = at;
    }
    bench_free(&bench);
}
END_TEST

/* A call above the burst waits until the bucket is full and leaves it in debt. */
START_TEST(larger_than_the_burst)
{
    bench = bench_of(both[_i], "meter", "output", "rate", "10/s", "burst", "100", NULL);
    bench_begins(&bench);
    ck_assert(enters(0, 10));
    expect(asks(0, 250), POLICY_HOLD, S, "output");
    ck_assert(enters(S, 250)); /* -150 */
    expect(asks(S, 10), POLICY_HOLD, 16 * S, "output");
    expect(asks(S, 0), POLICY_HOLD, 15 * S, "output"); /* nothing fits into nothing, but not into a debt */
    ck_assert(enters(16 * S, 0));
    expect(asks(16 * S, 1e30), POLICY_HOLD, 10 * S, "output");
    ck_assert(enters(26 * S, 1e30));
    ck_assert_int_eq(asks(26 * S, 1).after, INT64_MAX); /* longer than times are */
    bench_free(&bench);
}
END_TEST

START_TEST(no_bound_no_refusal)
{
    static const char *const keys[] = {"rate", "burst"};
    for (int i = 0; i < 2; i++) {
        bench = bench_of(both[_i], keys[i], "inf", NULL);
        bench_begins(&bench);
        for (int k = 0; k < 1000; k++)
            ck_assert(enters(k / 10, k % 2 ? 0x1p41 : 1e30));
        bench_free(&bench);
    }
}
END_TEST

/* --- meters and answers ---------------------------------------------------------------------------------------------
 */

START_TEST(each_meter_counts_its_own)
{
    static const struct {
        const char *meter, *weight;
        double taken;
    } rows[] = {{"requests", "1", 1}, {"input", "1", 100},   {"input", "0.25", 40},        {"output", "1", 7},
                {"total", "0.1", 35}, {"in_flight", "1", 1}, {"tokens_in_flight", "0", 27}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench =
            bench_of("token_bucket", "meter", rows[i].meter, "cached_weight", rows[i].weight, "burst", "1000", NULL);
        ck_assert_ptr_null(bench_checked(&bench));
        bench_begins(&bench);
        ck_assert_double_eq(level(), 1000);
        ck_assert(bench_enters(&bench, bench_call(&bench, 100, 80, 7), 0));
        ck_assert_double_eq_tol(level(), 1000 - rows[i].taken, 1e-9);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(answers_by_the_letter)
{
    struct policy_call *call;
    bench = bench_of(both[_i], "meter", "input", "rate", "10/s", "burst", "100", "answer", "defer", NULL);
    bench_begins(&bench);
    ck_assert(bench_enters(&bench, bench_call(&bench, 100, 0, 0), 0));
    expect(bench_attempts(&bench, bench_call(&bench, 55, 0, 0), 0), POLICY_DEFER, 5500 * MS, "input");
    ck_assert_double_eq(bench_gauge(&bench, "deferred"), 1);
    bench_set(&bench, "answer", "hold");
    call = bench_call(&bench, 55, 0, 0);
    expect(bench_attempts(&bench, call, S), POLICY_HOLD, 4500 * MS, "input");
    call->last = true; /* its hold cap has come: it leaves with what it would have waited */
    expect(bench_asks_again(&bench, call, 2 * S), POLICY_DEFER, 3500 * MS, "input");
    ck_assert_int_eq(bench_asks_again(&bench, call, 5500 * MS).action, POLICY_ADMIT);
    bench_free(&bench);
}
END_TEST

/* Another member refused, so nothing was taken. */
START_TEST(debits_in_admitted_only)
{
    struct policy_call *call;
    bench = bench_of(both[_i], "meter", "requests", "rate", "1/min", "burst", "1", NULL);
    bench_begins(&bench);
    call = bench_call(&bench, 0, 0, 1);
    for (int action = POLICY_HOLD; action <= POLICY_REJECT; action++) {
        ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_ADMIT);
        bench_refuses(&bench, call, 0, (enum policy_action)action);
    }
    ck_assert(bench_enters(&bench, call, 0));
    ck_assert(!bench_enters(&bench, call, 0));
    bench_free(&bench);
}
END_TEST

START_TEST(what_does_not_go_together)
{
    static const char *const rows[][4] = {{"meter", "in_flight", "counts", "after"},
                                          {"meter", "tokens_in_flight", "counts", "after"},
                                          {"meter", "requests", "cached_weight", "0"},
                                          {"meter", "output", "cached_weight", "0.5"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench = bench_of("token_bucket", rows[i][0], rows[i][1], rows[i][2], rows[i][3], NULL);
        ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "expected "));
        bench_free(&bench);
        if (i < 2)
            continue;
        bench = bench_of("gcra", rows[i][0], rows[i][1], rows[i][2], rows[i][3], NULL);
        ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "expected "));
        bench_free(&bench);
    }
}
END_TEST

/* --- ends -----------------------------------------------------------------------------------------------------------
 */

/* A call of 100 from a bucket of 1000 that has slept, and ends at once. */
static double after_end(bool served, enum policy_end end, double output)
{
    struct policy_call *call = bench_call(&bench, 0, 0, 100);
    bench.view.now += 1000000 * S;
    ck_assert(bench_enters(&bench, call, bench.view.now));
    if (served)
        bench_serves(call, bench.view.now);
    bench_ends_with(&bench, call, bench.view.now, end, isnan(output) ? output : 0, isnan(output) ? output : 0, output);
    bench_ends(&bench, call, bench.view.now, POLICY_TIMEOUT); /* backing off and held again: it has nothing to end */
    return level();
}

START_TEST(every_end_settles)
{
    static const struct {
        const char *settle, *counts, *meter;
        double done, done_more, unknown, error, shed, overload, waited, in_service;
    } rows[] = {
        {"true", "estimate", "output", 960, 700, 900, 1000, 1000, 900, 1000, 900},
        {"false", "estimate", "output", 900, 900, 900, 900, 900, 900, 900, 900},
        {"true", "after", "output", 960, 700, 1000, 1000, 1000, 1000, 1000, 1000},
        {"true", "estimate", "requests", 999, 999, 999, 999, 1000, 999, 1000, 999},
        {"false", "after", "requests", 999, 999, 999, 999, 1000, 1000, 1000, 1000},
        {"true", "estimate", "in_flight", 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000},
        {"false", "estimate", "tokens_in_flight", 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench = bench_of("token_bucket", "meter", rows[i].meter, "settle", rows[i].settle, "counts", rows[i].counts,
                         "rate", "1/s", "burst", "1000", NULL);
        bench_begins(&bench);
        ck_assert_double_eq(after_end(true, POLICY_DONE, 40), rows[i].done);
        ck_assert_double_eq(after_end(true, POLICY_DONE, 300), rows[i].done_more);
        ck_assert_double_eq(after_end(true, POLICY_DONE, (double)NAN), rows[i].unknown);
        ck_assert_double_eq(after_end(true, POLICY_ERROR, 0), rows[i].error);
        ck_assert_double_eq(after_end(false, POLICY_SHED, (double)NAN), rows[i].shed);
        ck_assert_double_eq(after_end(false, POLICY_DISPLACED, (double)NAN), rows[i].shed);
        ck_assert_double_eq(after_end(false, POLICY_OVERLOAD, (double)NAN), rows[i].overload);
        ck_assert_double_eq(after_end(false, POLICY_TIMEOUT, (double)NAN), rows[i].waited);
        ck_assert_double_eq(after_end(false, POLICY_ABANDONED, (double)NAN), rows[i].waited);
        ck_assert_double_eq(after_end(true, POLICY_TIMEOUT, (double)NAN), rows[i].in_service);
        ck_assert_double_eq(after_end(true, POLICY_ABANDONED, (double)NAN), rows[i].in_service);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(debits_below_zero_and_refunds_up_to_full)
{
    struct policy_call *dear, *cheap;
    bench = bench_of("token_bucket", "meter", "output", "rate", "1/s", "burst", "100", NULL);
    bench_begins(&bench);
    dear = bench_call(&bench, 0, 0, 10);
    cheap = bench_call(&bench, 0, 0, 50);
    ck_assert(bench_enters(&bench, dear, 0) && bench_enters(&bench, cheap, 0)); /* 40 are left */
    bench_ends_with(&bench, dear, 0, POLICY_DONE, 0, 0, 500);
    ck_assert_double_eq(level(), -450);
    ck_assert_double_eq(level_at(440 * S), -10);
    bench_ends_with(&bench, cheap, 440 * S, POLICY_DONE, 0, 0, 0);
    ck_assert_double_eq(level(), 40);
    cheap = bench_call(&bench, 0, 0, 30);
    ck_assert(bench_enters(&bench, cheap, 440 * S)); /* 10, and 90 once more at 520 s */
    bench_ends_with(&bench, cheap, 520 * S, POLICY_DONE, 0, 0, 0);
    ck_assert_double_eq(level(), 100);
    ck_assert(enters(520 * S, 100) && !enters(520 * S, 1));
    bench_free(&bench);
}
END_TEST

/* Let in while anything is left, so those in flight overshoot; who comes next pays. */
START_TEST(counted_afterwards)
{
    struct policy_call *calls[3];
    bench = bench_of("token_bucket", "meter", "output", "counts", "after", "rate", "1/s", "burst", "100", NULL);
    bench_begins(&bench);
    for (int i = 0; i < 3; i++)
        ck_assert(bench_enters(&bench, calls[i] = bench_call(&bench, 0, 0, 500), 0));
    bench_ends_with(&bench, calls[0], 0, POLICY_DONE, 0, 0, 99);
    ck_assert_int_eq(asks(0, 500).action, POLICY_ADMIT);
    bench_ends_with(&bench, calls[1], 0, POLICY_DONE, 0, 0, 1);
    expect(asks(0, 500), POLICY_HOLD, MS, "output"); /* nothing is left */
    ck_assert_int_eq(asks(1, 500).action, POLICY_ADMIT);
    bench_ends_with(&bench, calls[2], 1, POLICY_DONE, 0, 0, 60);
    expect(asks(1, 500), POLICY_HOLD, 60 * S, "output"); /* 60 - 1e-9 short of 0, and 1 ns beyond it */
    bench_free(&bench);
}
END_TEST

START_TEST(what_is_in_flight)
{
    struct policy_call *calls[3], *large;
    bench = bench_of("token_bucket", "meter", "tokens_in_flight", "burst", "100", "poll", "3 s", NULL);
    bench_begins(&bench);
    for (int i = 0; i < 3; i++)
        calls[i] = bench_call(&bench, 30, 10, 10);
    ck_assert(bench_enters(&bench, calls[0], 0) && bench_enters(&bench, calls[1], 0)); /* exactly 20 are left */
    ck_assert(bench_enters(&bench, bench_call(&bench, 20, 0, 0), 0));
    expect(bench_attempts(&bench, calls[2], 1000 * S), POLICY_HOLD, 3 * S, "tokens_in_flight"); /* time fills nothing */
    bench_ends_with(&bench, calls[0], 1000 * S, POLICY_DONE, 300, 0, 10); /* it gives back what it took */
    ck_assert(bench_enters(&bench, calls[2], 1000 * S));
    bench_set(&bench, "answer", "defer");
    large = bench_call(&bench, 500, 0, 0);
    expect(bench_attempts(&bench, large, 1000 * S), POLICY_DEFER, POLICY_NONE, "tokens_in_flight");
    bench_steers(&bench, 1000 * S, "burst", 130);
    ck_assert(bench_enters(&bench, bench_call(&bench, 30, 0, 0), 1000 * S));
    ck_assert(!bench_enters(&bench, bench_call(&bench, 1, 0, 0), 1000 * S));
    bench_steers(&bench, 1000 * S, "burst", 50); /* 80 too many; none of them leaves */
    ck_assert_double_eq(level(), -80);
    bench_ends(&bench, calls[1], 1000 * S, POLICY_ERROR);
    bench_ends(&bench, calls[2], 1000 * S, POLICY_EXPIRED);
    ck_assert_double_eq(level(), 0);
    bench_free(&bench);
    bench = bench_of("token_bucket", "meter", "in_flight", "burst", "1", NULL);
    bench_begins(&bench);
    large = bench_call(&bench, 500, 0, 0);
    ck_assert(bench_enters(&bench, large, 0) && !enters(0, 1));
    bench_ends(&bench, large, 0, POLICY_ABANDONED);
    ck_assert(enters(0, 1));
    bench_free(&bench);
}
END_TEST

/* --- live values ----------------------------------------------------------------------------------------------------
 */

START_TEST(live_values_keep_the_level)
{
    bench = bench_of(both[_i], "meter", "output", "rate", "10/s", "burst", "100", NULL);
    bench_begins(&bench);
    ck_assert(enters(0, 100));
    bench_steers(&bench, 4 * S, "rate", 2); /* 40 by then */
    expect(asks(4 * S, 50), POLICY_HOLD, 5 * S, "output");
    bench_steers(&bench, 14 * S, "burst", 200); /* 60, and nothing of what it might have held */
    expect(asks(14 * S, 61), POLICY_HOLD, S / 2, "output");
    expect(asks(14 * S, 200), POLICY_HOLD, 70 * S, "output");
    bench_steers(&bench, 14 * S, "burst", 50);
    ck_assert(enters(14 * S, 50));
    expect(asks(14 * S, 1), POLICY_HOLD, S / 2, "output");
    bench_steers(&bench, 15 * S, "rate", (double)INFINITY);
    ck_assert(enters(15 * S, 50) && enters(15 * S, 50));
    bench_steers(&bench, 20 * S, "rate", 1);
    ck_assert(enters(20 * S, 50));
    expect(asks(20 * S, 1), POLICY_HOLD, S, "output");
    bench_free(&bench);
}
END_TEST

Suite *token_bucket_suite(void)
{
    Suite *suite = suite_create("token_bucket");
    TCase *fits = tcase_create("what fits"), *answers = tcase_create("meters and answers");
    TCase *ends = tcase_create("ends"), *live = tcase_create("live");
    tcase_add_loop_test(fits, exactly_the_level_and_one_ns_early, 0, 2);
    tcase_add_loop_test(fits, a_burst_fits_at_every_rate, 0, 2);
    tcase_add_loop_test(fits, nothing_drifts, 0, 2);
    tcase_add_loop_test(fits, larger_than_the_burst, 0, 2);
    tcase_add_loop_test(fits, no_bound_no_refusal, 0, 2);
    tcase_add_test(answers, each_meter_counts_its_own);
    tcase_add_loop_test(answers, answers_by_the_letter, 0, 2);
    tcase_add_loop_test(answers, debits_in_admitted_only, 0, 2);
    tcase_add_test(answers, what_does_not_go_together);
    tcase_add_test(ends, every_end_settles);
    tcase_add_test(ends, debits_below_zero_and_refunds_up_to_full);
    tcase_add_test(ends, counted_afterwards);
    tcase_add_test(ends, what_is_in_flight);
    tcase_add_loop_test(live, live_values_keep_the_level, 0, 2);
    suite_add_tcase(suite, fits);
    suite_add_tcase(suite, answers);
    suite_add_tcase(suite, ends);
    suite_add_tcase(suite, live);
    return suite;
}
