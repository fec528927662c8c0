/* test_envoy.c - envoy_gradient and envoy_admission on the bench, step by step as worked out by hand. */
#include <check.h>
#include <math.h>

#include "tests/client_bench.h"
#include "tests/limiter_bench.h"
#include "tests/suites.h"

static struct bench bench_begun(struct bench bench)
{
    client_init(&bench); /* for its host */
    client_draws(0);
    bench_begins(&bench);
    return bench;
}

/* --- envoy_gradient ---------------------------------------------------------------------------------------------- */

/* A call is let in at `from` and answered at `to`. */
static void answered(struct bench *bench, policy_time from, policy_time to)
{
    limiter_call(bench, from, to - from, 1, POLICY_DONE);
}

static struct bench gradient(const char *key, const char *text)
{
    return bench_begun(bench_of("envoy_gradient", "requests", "3", "update", "10 s", key, text, NULL));
}

/* Probes that took 2, 4 and 6 s are over at 6 s; L is 3. */
static struct bench measured(const char *key, const char *text)
{
    struct bench bench = gradient(key, text);
    for (policy_time i = 1; i <= 3; i++)
        answered(&bench, 0, 2 * i * S);
    limiter_gauge(&bench, "probing", 0);
    limiter_gauge(&bench, "limit", 3);
    return bench;
}

START_TEST(gradient_begins_with_a_probe)
{
    struct bench bench = gradient("least", "3");
    limiter_gauge(&bench, "probing", 1);
    ck_assert(limiter_admits(&bench, 0, 2));
    ck_assert(!limiter_admits(&bench, 0, 3));
    limiter_call(&bench, 0, S, 1, POLICY_ERROR);
    limiter_call(&bench, 0, S, 1, POLICY_TIMEOUT);
    limiter_call(&bench, 0, S, 1, POLICY_OVERLOAD);
    answered(&bench, 0, 6 * S);
    answered(&bench, 5 * S, 7 * S);
    limiter_gauge(&bench, "probing", 1);
    answered(&bench, 5 * S, 9 * S);
    limiter_gauge(&bench, "probing", 0);
    limiter_gauge(&bench, "min_rtt", 4); /* of 2, 4 and 6 s */
    limiter_gauge(&bench, "probe_time", 9);
    limiter_gauge(&bench, "refused", 1);
    limiter_gauge(&bench, "refused_probing", 1);
    bench_free(&bench);
}
END_TEST

START_TEST(gradient_quantiles)
{
    static const struct {
        const char *share;
        double seconds;
    } of_ten[] = {{"0", 1}, {"10%", 1}, {"11%", 2}, {"50%", 5}, {"90%", 9}, {"91%", 10}, {"1", 10}};
    for (size_t i = 0; i < sizeof of_ten / sizeof *of_ten; i++) {
        static const int order[] = {7, 3, 10, 1, 9, 5, 2, 8, 6, 4};
        struct bench bench =
            bench_begun(bench_of("envoy_gradient", "requests", "10", "percentile", of_ten[i].share, NULL));
        for (int k = 0; k < 10; k++)
            answered(&bench, 0, order[k] * S);
        limiter_gauge(&bench, "min_rtt", of_ten[i].seconds);
        bench_free(&bench);
    }
}
END_TEST

/* minRTT is 4 s, so g = 5 s / what an update sees. */
START_TEST(gradient_updates_by_hand)
{
    static const struct {
        policy_time rtt;
        double gradient, limit;
    } updates[] = {{5 * S, 1, 4 /* 3 + 1.73 */},       {2 * S, 2, 10 /* 8 + 2.83 */},
                   {2500 * MS, 2, 24 /* 20 + 4.47 */}, {5 * S, 1, 28 /* 24 + 4.90 */},
                   {10 * S, 0.5, 17 /* 14 + 3.74 */},  {20 * S, 0.5, 11 /* 8.5 + 2.92 */},
                   {8 * S, 0.625, 9 /* 6.875 + 2.6 */}};
    struct bench bench = measured("interval", "1 h");
    policy_time end = 16 * S;
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++, end += 10 * S) {
        answered(&bench, end - S - updates[i].rtt, end - S); /* is not looked at before the end */
        limiter_gauge(&bench, "updates", (double)i);
        limiter_admits(&bench, end - 1, 0);
        limiter_gauge(&bench, "updates", (double)i);
        limiter_admits(&bench, end, 0);
        limiter_gauge(&bench, "updates", (double)i + 1);
        limiter_gauge(&bench, "sample_rtt", (double)updates[i].rtt / S);
        limiter_gauge(&bench, "gradient", updates[i].gradient);
        limiter_gauge(&bench, "limit", updates[i].limit);
    }
    ck_assert(limiter_admits(&bench, end, 8));
    ck_assert(!limiter_admits(&bench, end, 9));
    limiter_gauge(&bench, "refused_probing", 0);
    bench_free(&bench);
}
END_TEST

/* An update without answers changes nothing; the timer goes on by its period. */
START_TEST(gradient_updates_that_see_nothing)
{
    struct bench bench = measured("interval", "1 h");
    limiter_admits(&bench, 1004 * S, 0);
    limiter_gauge(&bench, "updates", 0);
    limiter_gauge(&bench, "limit", 3);
    answered(&bench, 1000 * S, 1005 * S); /* in the interval from 996 s to 1006 s */
    limiter_admits(&bench, 1006 * S - 1, 0);
    limiter_gauge(&bench, "updates", 0);
    limiter_admits(&bench, 1006 * S, 0);
    limiter_gauge(&bench, "updates", 1);
    limiter_gauge(&bench, "limit", 4);
    bench_free(&bench);
}
END_TEST

START_TEST(gradient_keeps_within_its_bounds)
{
    struct bench bench = measured("most", "5");
    answered(&bench, 6 * S, 7 * S);
    limiter_admits(&bench, 16 * S, 0);
    limiter_gauge(&bench, "limit", 5);
    bench_steers(&bench, 16 * S, "most", 4);
    limiter_gauge(&bench, "limit", 4);
    answered(&bench, 6 * S, 17 * S);
    limiter_admits(&bench, 26 * S, 0); /* 2 + 1.41 */
    limiter_gauge(&bench, "limit", 3);
    bench_free(&bench);
    limiter_common("envoy_gradient");
}
END_TEST

/* The next probe begins an interval and its jitter after the end of the last, with L = least; what was let in before
 * says nothing, in it and behind it; then L is what it was. */
START_TEST(gradient_probes_again)
{
    struct bench bench = gradient("interval", "60 s");
    client_draws(0.5);
    for (policy_time i = 1; i <= 3; i++)
        answered(&bench, 0, 2 * i * S);
    answered(&bench, 6 * S, 8 * S);
    limiter_admits(&bench, 70 * S, 0);
    limiter_gauge(&bench, "limit", 8);         /* 6 + 2.4 */
    limiter_admits(&bench, 70500 * MS - 1, 0); /* 6 + 60 (1 + 0.15 / 2) */
    limiter_gauge(&bench, "probing", 0);
    answered(&bench, 69 * S, 70500 * MS - 1); /* is thrown away */
    limiter_admits(&bench, 70500 * MS, 0);
    limiter_gauge(&bench, "probing", 1);
    limiter_gauge(&bench, "probes", 2);
    limiter_gauge(&bench, "limit", 3);
    ck_assert(!limiter_admits(&bench, 71 * S, 3));
    for (int i = 0; i < 3; i++)
        answered(&bench, 70 * S, 72 * S);
    limiter_gauge(&bench, "probing", 1);
    for (policy_time i = 1; i <= 3; i++)
        answered(&bench, 71 * S, (80 + i) * S);
    limiter_gauge(&bench, "probing", 0);
    limiter_gauge(&bench, "min_rtt", 11);
    limiter_gauge(&bench, "limit", 8);
    limiter_gauge(&bench, "probe_time", 6 + 12.5);
    answered(&bench, 70 * S, 84 * S);
    limiter_admits(&bench, 93 * S, 0);
    limiter_gauge(&bench, "updates", 1);
    bench_free(&bench);
}
END_TEST

/* Five updates in a row that leave L at `least`. */
START_TEST(gradient_probes_when_it_stays_at_least)
{
    struct bench bench = measured("interval", "1 h");
    policy_time end = 16 * S;
    for (int i = 1; i <= 8; i++, end += 10 * S) {
        answered(&bench, i == 2 ? end - 6 * S : 0, end - S); /* the second sees 5 s, and raises L */
        limiter_admits(&bench, end - 1, 0);
        limiter_gauge(&bench, "probing", 0);
        limiter_admits(&bench, end, 0);
        limiter_gauge(&bench, "limit", i == 2 ? 4 : 3);
    }
    limiter_gauge(&bench, "probing", 1); /* the third did not leave it there, but brought it */
    limiter_gauge(&bench, "updates", 8);
    bench_free(&bench);
}
END_TEST

/* --- envoy_admission --------------------------------------------------------------------------------------------- */

static struct bench admission(const char *key, const char *text)
{
    return bench_begun(bench_of("envoy_admission", key, text, NULL));
}

static void calls(struct bench *bench, policy_time now, int count, enum policy_end end)
{
    client_draws(1);
    for (int i = 0; i < count; i++)
        limiter_call(bench, now, 0, 1, end);
}

/* The next attempt is refused with exactly this probability. */
static void expect_probability(struct bench *bench, policy_time now, double p)
{
    client_draws(p);
    ck_assert(limiter_admits(bench, now, 0));
    limiter_gauge(bench, "probability", p);
    client_draws(nextafter(p, -1));
    ck_assert_int_eq(limiter_admits(bench, now, 0), p <= 0);
}

START_TEST(admission_by_hand)
{
    struct bench bench = admission("window", "30 s");
    expect_probability(&bench, 0, 0);
    calls(&bench, 0, 19, POLICY_DONE);
    calls(&bench, 0, 1, POLICY_TIMEOUT);
    expect_probability(&bench, 0, 0); /* 20 - 19 / 0.95 */
    calls(&bench, 0, 1, POLICY_TIMEOUT);
    expect_probability(&bench, 0, (21 - 19 / 0.95) / 22);
    calls(&bench, 0, 17, POLICY_OVERLOAD);
    expect_probability(&bench, 0, (38 - 19 / 0.95) / 39);
    limiter_gauge(&bench, "ended", 38); /* what is refused is not counted */
    limiter_gauge(&bench, "succeeded", 19);
    limiter_gauge(&bench, "refused", 2);
    calls(&bench, 0, 400, POLICY_SHED);
    expect_probability(&bench, 0, 0.8);
    bench_free(&bench);
}
END_TEST

START_TEST(admission_ends)
{
    static const struct {
        enum policy_end end;
        double ended, succeeded;
    } ends[] = {{POLICY_DONE, 1, 1},    {POLICY_SHED, 1, 0},  {POLICY_DISPLACED, 1, 0}, {POLICY_OVERLOAD, 1, 0},
                {POLICY_TIMEOUT, 1, 0}, {POLICY_ERROR, 1, 0}, {POLICY_ABANDONED, 0, 0}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct bench bench = admission("window", "30 s");
        struct policy_call *call = bench_call(&bench, 0, 0, 0);
        bench_attempts(&bench, call, 0);
        bench_ends(&bench, call, 0, ends[i].end); /* held by another member, and not sent */
        limiter_gauge(&bench, "ended", 0);
        limiter_call(&bench, 0, S, 1, ends[i].end);
        limiter_gauge(&bench, "ended", ends[i].ended);
        limiter_gauge(&bench, "succeeded", ends[i].succeeded);
        bench_free(&bench);
    }
}
END_TEST

/* Cells of a second: what ended in the first one counts for the 29 after it. */
START_TEST(admission_forgets)
{
    struct bench bench = admission("window", "30 s");
    calls(&bench, S / 2, 3, POLICY_ERROR);
    calls(&bench, 10 * S, 1, POLICY_ERROR);
    expect_probability(&bench, 30 * S - 1, 4 / 5.0 > 0.8 ? 0.8 : 4 / 5.0);
    expect_probability(&bench, 30 * S, 1 / 2.0);
    expect_probability(&bench, 40 * S, 0);
    calls(&bench, 41 * S, 1, POLICY_ERROR);
    expect_probability(&bench, 4000 * S, 0);
    limiter_gauge(&bench, "ended", 0);
    bench_free(&bench);
}
END_TEST

START_TEST(admission_settings)
{
    struct bench root = admission("aggression", "2"), rate = admission("least_rate", "0.2/s"),
                 half = admission("threshold", "50%");
    calls(&root, 0, 19, POLICY_DONE);
    calls(&root, 0, 5, POLICY_ERROR);
    client_draws(0.399999);
    ck_assert(!limiter_admits(&root, 0, 0)); /* the root of (24 - 20) / 25 */
    ck_assert_double_eq_tol(bench_gauge(&root, "probability"), 0.4, 1e-12);
    calls(&rate, 0, 5, POLICY_ERROR);
    expect_probability(&rate, 0, 0); /* 5 in 30 s */
    calls(&rate, 0, 1, POLICY_ERROR);
    expect_probability(&rate, 0, 0.8);
    calls(&half, 0, 9, POLICY_DONE);
    calls(&half, 0, 9, POLICY_ERROR);
    expect_probability(&half, 0, 0);
    calls(&half, 0, 1, POLICY_ERROR);
    expect_probability(&half, 0, 1 / 20.0);
    bench_free(&root);
    bench_free(&rate);
    bench_free(&half);
}
END_TEST

/* Held by another member it asks again, and is drawn for once; a new attempt is drawn for anew. */
START_TEST(admission_draws_once_for_an_attempt)
{
    struct bench bench = admission("window", "30 s");
    struct policy_call *call = bench_call(&bench, 0, 0, 0);
    uint64_t drawn;
    calls(&bench, 0, 4, POLICY_ERROR);
    client_draws(1);
    drawn = client_drawn();
    ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_ADMIT);
    client_draws(0);
    ck_assert_int_eq(bench_asks_again(&bench, call, S).action, POLICY_ADMIT);
    ck_assert_uint_eq(client_drawn(), drawn + 1);
    bench_set(&bench, "retry_after", "3 s");
    struct policy_answer answer = bench_attempts(&bench, call, 2 * S);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 3 * S);
    bench_free(&bench);
}
END_TEST

Suite *envoy_suite(void)
{
    Suite *suite = suite_create("envoy");
    TCase *gradient_case = tcase_create("envoy_gradient"), *admission_case = tcase_create("envoy_admission");
    tcase_add_test(gradient_case, gradient_begins_with_a_probe);
    tcase_add_test(gradient_case, gradient_quantiles);
    tcase_add_test(gradient_case, gradient_updates_by_hand);
    tcase_add_test(gradient_case, gradient_updates_that_see_nothing);
    tcase_add_test(gradient_case, gradient_keeps_within_its_bounds);
    tcase_add_test(gradient_case, gradient_probes_again);
    tcase_add_test(gradient_case, gradient_probes_when_it_stays_at_least);
    suite_add_tcase(suite, gradient_case);
    tcase_add_test(admission_case, admission_by_hand);
    tcase_add_test(admission_case, admission_ends);
    tcase_add_test(admission_case, admission_forgets);
    tcase_add_test(admission_case, admission_settings);
    tcase_add_test(admission_case, admission_draws_once_for_an_attempt);
    suite_add_tcase(suite, admission_case);
    return suite;
}
