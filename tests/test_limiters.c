/* test_limiters.c - aimd, vegas and gradient2 on the bench, step by step as worked out by hand. */
#include <check.h>

#include "tests/client_bench.h"
#include "tests/limiter_bench.h"
#include "tests/suites.h"

static struct bench limiter(struct bench bench)
{
    client_init(&bench); /* for its host */
    client_draws(0);
    bench_begins(&bench);
    return bench;
}

/* What is a drop, and what says nothing at all. */
static const struct {
    enum policy_end end;
    bool drop;
} ends[] = {{POLICY_SHED, true},    {POLICY_DISPLACED, true}, {POLICY_OVERLOAD, true},
            {POLICY_TIMEOUT, true}, {POLICY_ERROR, false},    {POLICY_ABANDONED, false}};

/* --- aimd -------------------------------------------------------------------------------------------------------- */

START_TEST(aimd_by_hand)
{
    struct bench bench = limiter(bench_of("aimd", NULL));
    limiter_gauge(&bench, "limit", 20);
    ck_assert(limiter_admits(&bench, 0, 19));
    ck_assert(!limiter_admits(&bench, 0, 20));
    limiter_gauge(&bench, "refused", 1);
    limiter_call(&bench, 0, 5 * S, 9, POLICY_DONE); /* 2 x 9 < 20 */
    limiter_gauge(&bench, "limit", 20);
    limiter_call(&bench, 0, 5 * S, 10, POLICY_DONE); /* the timeout itself is in time */
    limiter_gauge(&bench, "limit", 21);
    limiter_call(&bench, 0, 5 * S, 10, POLICY_DONE); /* 2 x 10 < 21 */
    limiter_gauge(&bench, "limit", 21);
    limiter_call(&bench, 0, 4 * S, 11, POLICY_DONE);
    limiter_gauge(&bench, "limit", 22);
    limiter_gauge(&bench, "rtt", 4);
    limiter_gauge(&bench, "drops", 0);
    limiter_call(&bench, 0, 5 * S + 1, 11, POLICY_DONE); /* 19.8, and the least is 20 */
    limiter_gauge(&bench, "limit", 20);
    limiter_gauge(&bench, "answers", 5);
    limiter_gauge(&bench, "late", 1);
    limiter_gauge(&bench, "drops", 1);
    bench_free(&bench);
}
END_TEST

START_TEST(aimd_falls_by_a_tenth_rounded_down)
{
    static const double limits[] = {18, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1};
    struct bench bench = limiter(bench_of("aimd", "least", "1", NULL));
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        limiter_call(&bench, 0, 9 * S, 1, POLICY_DONE);
        limiter_gauge(&bench, "limit", limits[i]);
    }
    bench_free(&bench);
}
END_TEST

START_TEST(aimd_ends)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct bench bench = limiter(bench_of("aimd", "initial", "100", NULL));
        struct policy_call *held = bench_call(&bench, 0, 0, 0);
        limiter_call(&bench, 0, 100 * S, 90, ends[i].end); /* even a late one */
        limiter_gauge(&bench, "limit", ends[i].drop ? 90 : 100);
        limiter_gauge(&bench, "answers", 0);
        bench_attempts(&bench, held, 0); /* and it ends at the gate */
        bench_ends(&bench, held, S, ends[i].end);
        limiter_gauge(&bench, "limit", ends[i].drop ? 90 : 100);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(aimd_keeps_within_its_bounds)
{
    struct bench bench = limiter(bench_of("aimd", "initial", "7", "least", "10", "most", "12", NULL));
    limiter_gauge(&bench, "limit", 10);
    for (int i = 0; i < 4; i++)
        limiter_call(&bench, 0, S, 10, POLICY_DONE);
    limiter_gauge(&bench, "limit", 12);
    bench_steers(&bench, 0, "most", 11);
    limiter_gauge(&bench, "limit", 11);
    bench_free(&bench);
    limiter_common("aimd");
}
END_TEST

/* --- vegas ------------------------------------------------------------------------------------------------------- */

/* A sample of so many milliseconds, and what it makes of the limit. */
static void vegas_sample(struct bench *bench, int64_t ms, uint64_t number, double limit)
{
    limiter_call(bench, 0, ms * MS, number, POLICY_DONE);
    limiter_gauge(bench, "limit", limit);
}

START_TEST(vegas_by_hand)
{
    struct bench bench = limiter(bench_of("vegas", NULL));
    ck_assert(limiter_admits(&bench, 0, 19));
    ck_assert(!limiter_admits(&bench, 0, 20));
    vegas_sample(&bench, 10000, 20, 20); /* the first is the least */
    limiter_gauge(&bench, "rtt0", 10);
    vegas_sample(&bench, 10000, 9, 20); /* 2 x 9 < 20 */
    vegas_sample(&bench, 10000, 10, 26);
    limiter_gauge(&bench, "queue", 0);
    vegas_sample(&bench, 10300, 20, 32); /* queue 0.76, so 1 */
    limiter_gauge(&bench, "queue", 1);
    vegas_sample(&bench, 10600, 20, 33); /* 1.81 */
    limiter_gauge(&bench, "queue", 2);
    vegas_sample(&bench, 11000, 20, 33); /* 3, not below 3 g */
    limiter_gauge(&bench, "queue", 3);
    vegas_sample(&bench, 12000, 20, 33); /* 5.5 */
    vegas_sample(&bench, 12500, 20, 32); /* 6.6 */
    limiter_gauge(&bench, "queue", 7);
    limiter_gauge(&bench, "rtt", 12.5);
    vegas_sample(&bench, 9000, 20, 32); /* a new least moves nothing else */
    limiter_gauge(&bench, "rtt0", 9);
    vegas_sample(&bench, 9000, 15, 32); /* 2 x 15 < 32 */
    vegas_sample(&bench, 9000, 16, 38);
    limiter_gauge(&bench, "updates", 11);
    bench_free(&bench);
}
END_TEST

/* g is 1 up to 99 and 2 from 100 on, 3 from 1,000. */
START_TEST(vegas_steps_of_larger_limits)
{
    static const struct {
        const char *initial;
        int64_t ms;
        double limit;
    } steps[] = {{"99", 1000, 105},   {"100", 1000, 112},   {"100", 1020, 112},   {"100", 1021, 102},
                 {"100", 1052, 102},  {"100", 1064, 100},   {"100", 1136, 100},   {"100", 1137, 98},
                 {"999", 1000, 1011}, {"1000", 1000, 1018}, {"1000", 1003, 1018}, {"1000", 1004, 1003}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct bench bench = limiter(bench_of("vegas", "initial", steps[i].initial, "most", "5000", NULL));
        limiter_call(&bench, 0, S, 900, POLICY_ERROR); /* no sample */
        limiter_call(&bench, 0, S, 1, POLICY_DONE);
        limiter_call(&bench, 0, steps[i].ms * MS, 999, POLICY_DONE);
        ck_assert_msg(bench_gauge(&bench, "limit") == steps[i].limit, "%s, %d ms: %g", steps[i].initial,
                      (int)steps[i].ms, bench_gauge(&bench, "limit"));
        bench_free(&bench);
    }
}
END_TEST

START_TEST(vegas_ends)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct bench bench = limiter(bench_of("vegas", NULL));
        limiter_call(&bench, 0, S, 20, POLICY_DONE);
        limiter_call(&bench, 0, S, 1, ends[i].end); /* a drop counts however few were there */
        limiter_gauge(&bench, "limit", ends[i].drop ? 19 : 20);
        limiter_call(&bench, 0, S - 1, 20, ends[i].end); /* and is a time like another */
        limiter_gauge(&bench, "limit", ends[i].drop ? 19 : 20);
        limiter_gauge(&bench, "rtt0", ends[i].drop ? (double)(S - 1) / S : 1);
        bench_free(&bench);
    }
}
END_TEST

START_TEST(vegas_keeps_within_its_bounds)
{
    struct bench bench = limiter(bench_of("vegas", "initial", "3", "most", "10", NULL));
    vegas_sample(&bench, 1000, 3, 3);
    vegas_sample(&bench, 1000, 3, 9);
    vegas_sample(&bench, 1000, 9, 10);
    bench_steers(&bench, 0, "most", 8);
    limiter_gauge(&bench, "limit", 8);
    for (int i = 0; i < 9; i++)
        limiter_call(&bench, 0, S, 1, POLICY_TIMEOUT);
    limiter_gauge(&bench, "limit", 1);
    ck_assert(limiter_admits(&bench, 0, 0));
    bench_free(&bench);
    limiter_common("vegas");
}
END_TEST

/* After u probe L samples the next one is the least, however large. */
START_TEST(vegas_probes)
{
    static const struct {
        double drawn;
        int samples; /* (0.5 + drawn / 2) 2 x 20 */
    } probes[] = {{0, 20}, {0.5, 30}, {0.99, 40}};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        struct bench bench = limiter(bench_of("vegas", "probe", "2", NULL));
        client_draws(probes[i].drawn);
        for (int k = 1; k < probes[i].samples; k++)
            vegas_sample(&bench, k == 1 ? 10000 : 11000, 1, 20); /* too few were there */
        limiter_gauge(&bench, "probes", 0);
        limiter_gauge(&bench, "rtt0", 10);
        vegas_sample(&bench, 50000, 20, 20);
        limiter_gauge(&bench, "probes", 1);
        limiter_gauge(&bench, "rtt0", 50);
        bench_free(&bench);
    }
}
END_TEST

/* A window is one sample: the mean time, the most calls, and a drop if there was one. */
START_TEST(vegas_windows)
{
    struct bench bench = limiter(bench_of("vegas", "window", "30 s", "samples", "3", NULL));
    limiter_call(&bench, 0, 10 * S, 20, POLICY_DONE); /* at 10 s; the first closes the window before it */
    limiter_gauge(&bench, "discarded", 1);
    limiter_call(&bench, 20 * S, 10 * S, 5, POLICY_DONE);
    limiter_call(&bench, 20 * S, 20 * S, 5, POLICY_DONE); /* at its end */
    limiter_gauge(&bench, "updates", 0);
    limiter_call(&bench, 20 * S, 20 * S + 1, 5, POLICY_DONE);
    limiter_gauge(&bench, "updates", 1);
    limiter_gauge(&bench, "rtt0", 50 / 3.0);
    limiter_call(&bench, 41 * S, 20 * S, 5, POLICY_DONE);
    limiter_call(&bench, 41 * S, 20 * S, 10, POLICY_DONE);
    limiter_gauge(&bench, "limit", 20);
    limiter_call(&bench, 71 * S, 10 * S + 1, 5, POLICY_DONE); /* a mean of 50 / 3 s, ten of twenty */
    limiter_gauge(&bench, "limit", 26);
    limiter_call(&bench, 82 * S, 20 * S, 5, POLICY_DONE);
    limiter_call(&bench, 82 * S, 20 * S, 5, POLICY_SHED);
    limiter_call(&bench, 82 * S, 90 * S, 5, POLICY_DONE);
    limiter_gauge(&bench, "limit", 25);
    limiter_gauge(&bench, "updates", 3);
    limiter_call(&bench, 200 * S, 90 * S, 5, POLICY_SHED); /* alone in its window */
    limiter_gauge(&bench, "discarded", 2);
    limiter_gauge(&bench, "limit", 25);
    bench_free(&bench);
}
END_TEST

/* --- gradient2 --------------------------------------------------------------------------------------------------- */

/* A window of one sample, the i-th, which ends at i hours. */
static void gradient2_sample(struct bench *bench, int *i, int64_t ms, uint64_t number, double limit)
{
    limiter_call(bench, ++*i * 3600 * S - ms * MS, ms * MS, number, POLICY_DONE);
    limiter_gauge(bench, "limit", limit);
}

START_TEST(gradient2_by_hand)
{
    struct bench bench = limiter(bench_of("gradient2", "samples", "1", "least", "1", NULL));
    int i = 0;
    gradient2_sample(&bench, &i, 1000, 9, 20); /* 9 < 20 / 2 */
    gradient2_sample(&bench, &i, 1000, 10, 0.8 * 20 + 0.2 * (20 + 4));
    limiter_gauge(&bench, "gradient", 1); /* 1.5, at most 1 */
    ck_assert(limiter_admits(&bench, 0, 19));
    ck_assert(!limiter_admits(&bench, 0, 20)); /* of 20.8 */
    gradient2_sample(&bench, &i, 4000, 20, 0.8 * 20.8 + 0.2 * (20.8 * 0.75 + 4));
    limiter_gauge(&bench, "long_rtt", 2); /* the mean of 1, 1 and 4 s */
    limiter_gauge(&bench, "short_rtt", 4);
    limiter_gauge(&bench, "gradient", 1.5 * 2 / 4);
    gradient2_sample(&bench, &i, 34000, 20, 0.8 * 20.56 + 0.2 * (20.56 * 0.5 + 4));
    limiter_gauge(&bench, "long_rtt", 10);
    limiter_gauge(&bench, "gradient", 0.5); /* 0.44, at least 0.5 */
    gradient2_sample(&bench, &i, 5000, 20, 0.8 * 19.304 + 0.2 * (19.304 + 4));
    limiter_gauge(&bench, "long_rtt", 9);
    gradient2_sample(&bench, &i, 3000, 20, 0.8 * 20.104 + 0.2 * (20.104 + 4)); /* a mean of 8 s: more than twice 3 s */
    limiter_gauge(&bench, "long_rtt", 0.95 * 8);
    bench_free(&bench);
}
END_TEST

/* Ten windows have one mean; then each counts 2 / 601 of the average. */
START_TEST(gradient2_average)
{
    struct bench bench = limiter(bench_of("gradient2", "samples", "1", NULL));
    int i = 0;
    double average = 5.5;
    while (i < 10)
        limiter_call(&bench, i * 3600 * S - i * S, (i + 1) * S, 1, POLICY_DONE), i++;
    limiter_gauge(&bench, "long_rtt", average);
    for (; i < 20; i++) {
        limiter_call(&bench, i * 3600 * S, 9 * S, 1, POLICY_DONE);
        average += (9 - average) * 2 / 601;
        limiter_gauge(&bench, "long_rtt", average);
    }
    bench_free(&bench);
}
END_TEST

/* Of a window count ten samples or none, those behind its end for the next one. */
START_TEST(gradient2_windows)
{
    struct bench bench = limiter(bench_of("gradient2", NULL));
    limiter_call(&bench, 0, 10 * S, 20, POLICY_DONE);
    limiter_gauge(&bench, "windows", 1);
    for (int i = 0; i < 8; i++)
        limiter_call(&bench, 0, 11 * S, 20, POLICY_DONE); /* at its end, 1 s later */
    limiter_gauge(&bench, "windows", 1);
    limiter_call(&bench, 0, 12 * S, 20, POLICY_DONE); /* nine */
    limiter_gauge(&bench, "windows", 2);
    limiter_gauge(&bench, "updates", 0);
    for (int i = 0; i < 9; i++)
        limiter_call(&bench, 7 * S, 6 * S, i == 4 ? 20 : 1, i == 5 ? POLICY_TIMEOUT : POLICY_DONE);
    limiter_call(&bench, 7 * S, 16 * S, 1, POLICY_DONE);
    limiter_gauge(&bench, "updates", 1);
    limiter_gauge(&bench, "short_rtt", 7);
    limiter_gauge(&bench, "limit", 20.8);
    limiter_call(&bench, 30 * S, S, 1, POLICY_ERROR); /* no sample */
    limiter_gauge(&bench, "windows", 3);
    bench_free(&bench);
}
END_TEST

START_TEST(gradient2_keeps_within_its_bounds)
{
    struct bench bench = limiter(bench_of("gradient2", "samples", "1", "most", "21", "smoothing", "1", NULL));
    int i = 0;
    gradient2_sample(&bench, &i, 1000, 20, 21);
    gradient2_sample(&bench, &i, 20000, 20, 21 * 1.5 * 10.5 / 20 + 4);
    gradient2_sample(&bench, &i, 90000, 20, 20);
    bench_steers(&bench, 0, "least", 21);
    limiter_gauge(&bench, "limit", 21);
    bench_free(&bench);
    limiter_common("gradient2");
}
END_TEST

/* --- presets ----------------------------------------------------------------------------------------------------- */

/* The defaults are what was published, and `slots` goes together too. */
START_TEST(presets)
{
    static const char *const names[] = {"aimd",        "vegas", "gradient2",  "envoy_gradient", "envoy_admission",
                                        "folly_codel", "pid",   "breakwater", "sre_throttle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bench initial = bench_of(names[i], NULL), given = bench_of(names[i], NULL);
        ck_assert_str_eq(given.ops->presets[0].name, "published");
        ck_assert_str_eq(given.ops->presets[1].name, "slots");
        for (const char *const *setting = given.ops->presets[1].settings; setting[0]; setting += 2)
            bench_set(&given, setting[0], setting[1]);
        ck_assert_ptr_null(bench_checked(&given));
        ck_assert_mem_ne(given.params, initial.params, initial.ops->params_size);
        bench_free(&given);
        given = bench_of(names[i], NULL);
        for (const char *const *setting = given.ops->presets[0].settings; setting[0]; setting += 2)
            bench_set(&given, setting[0], setting[1]);
        ck_assert_ptr_null(bench_checked(&given));
        ck_assert_mem_eq(given.params, initial.params, initial.ops->params_size);
        bench_free(&given);
        bench_free(&initial);
    }
}
END_TEST

Suite *limiters_suite(void)
{
    Suite *suite = suite_create("limiters");
    TCase *test = tcase_create("limiters");
    tcase_add_test(test, aimd_by_hand);
    tcase_add_test(test, aimd_falls_by_a_tenth_rounded_down);
    tcase_add_test(test, aimd_ends);
    tcase_add_test(test, aimd_keeps_within_its_bounds);
    tcase_add_test(test, vegas_by_hand);
    tcase_add_test(test, vegas_steps_of_larger_limits);
    tcase_add_test(test, vegas_ends);
    tcase_add_test(test, vegas_keeps_within_its_bounds);
    tcase_add_test(test, vegas_probes);
    tcase_add_test(test, vegas_windows);
    tcase_add_test(test, gradient2_by_hand);
    tcase_add_test(test, gradient2_average);
    tcase_add_test(test, gradient2_windows);
    tcase_add_test(test, gradient2_keeps_within_its_bounds);
    tcase_add_test(test, presets);
    suite_add_tcase(suite, test);
    return suite;
}
