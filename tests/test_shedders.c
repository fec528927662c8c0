/* test_shedders.c - folly_codel and pid on the bench, step by step as worked out by hand. */
#include <check.h>
#include <math.h>

#include "tests/client_bench.h"
#include "tests/limiter_bench.h"
#include "tests/suites.h"

/* --- folly_codel ------------------------------------------------------------------------------------------------- */

/* At this millisecond a server takes calls that have waited so long, in milliseconds. */
static const struct taken {
    int64_t at, sojourn;
    bool served;
    int overloaded; /* afterwards */
} life[] = {
    {1000, 50, true, 0},  /* the first interval is that of the first call */
    {1001, 50, true, 1},  /* and ends with the second, whose least was 50 ms; the first of an interval is served */
    {1001, 11, false, 1}, /* longer than twice 5 ms */
    {1001, 10, true, 1},  /* not longer */
    {1050, 200, false, 1}, {1101, 200, false, 1}, /* the end itself */
    {1102, 200, true, 1},                         /* the least was 10 ms */
    {1103, 6, true, 1},    {1202, 90, false, 1},
    {1203, 90, true, 1}, /* the least was 6 ms */
    {1204, 5, true, 1},    {1303, 90, false, 1},
    {1304, 90, true, 0},                        /* the least was 5 ms, and that is no longer than the target */
    {1400, 900, true, 0},  {9000, 12, true, 1}, /* nobody came for seconds; the least was 90 ms */
    {9000, 12, false, 1},  {9100, 0, true, 1},  /* who does not wait is served */
    {9101, 80, true, 0},
};

START_TEST(folly_by_hand)
{
    struct bench bench = bench_of("folly_codel", NULL);
    double refused = 0;
    for (size_t i = 0; i < sizeof life / sizeof *life; i++) {
        bool served = bench_takes(&bench, life[i].at * MS, life[i].sojourn * MS, 1);
        ck_assert_msg(served == life[i].served, "at %d ms", (int)life[i].at);
        limiter_gauge(&bench, "overloaded", life[i].overloaded);
        limiter_gauge(&bench, "sojourn", (double)life[i].sojourn / 1000);
        limiter_gauge(&bench, "refused", refused += !served);
    }
    limiter_gauge(&bench, "taken", sizeof life / sizeof *life);
    limiter_gauge(&bench, "intervals", 7);
    bench_free(&bench);
}
END_TEST

START_TEST(folly_sheds_a_line_at_once)
{
    struct bench bench = bench_of("folly_codel", NULL);
    bench_takes(&bench, S, S, 60);
    bench_takes(&bench, 2 * S, S, 60);
    ck_assert(bench_takes(&bench, 3 * S, S, 60));
    for (int i = 0; i < 3; i++)
        ck_assert(!bench_takes(&bench, 3 * S + 98 * MS, S, 60));
    limiter_gauge(&bench, "most_at_once", 3);
    for (uint64_t i = 0; i < 60; i++)
        ck_assert(!bench_takes(&bench, 3 * S + 99 * MS, S, 59 - i));
    limiter_gauge(&bench, "most_at_once", 60);
    ck_assert(!bench_takes(&bench, 3 * S + 100 * MS, S, 0));
    limiter_gauge(&bench, "most_at_once", 60);
    bench_free(&bench);
}
END_TEST

START_TEST(folly_settings)
{
    struct bench bench = bench_of("folly_codel", "target", "8 s", "interval", "15 s", "retry_after", "9 s", NULL);
    ck_assert_ptr_null(bench_checked(&bench));
    bench_takes(&bench, 0, 30 * S, 1);
    bench_takes(&bench, S, 30 * S, 1);
    struct policy_call *call = bench_call(&bench, 0, 0, 0);
    call->joined = 0;
    bench.view.now = 16 * S + 1;
    ck_assert_int_eq(bench.ops->start(&bench.self, &bench.view, call).action, POLICY_ADMIT);
    bench.view.now++;
    struct policy_answer answer = bench.ops->start(&bench.self, &bench.view, call);
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, 9 * S);
    bench.view.servers = 0; /* a metered pool has no line */
    ck_assert_int_eq(bench.ops->start(&bench.self, &bench.view, call).action, POLICY_ADMIT);
    bench_set(&bench, "interval", "8 s");
    ck_assert_str_eq(bench_checked(&bench),
                     "the least of one call says nothing: expected interval: longer than target:");
    bench_set(&bench, "target", "inf"); /* never, then */
    ck_assert_ptr_null(bench_checked(&bench));
    bench_free(&bench);
}
END_TEST

/* --- pid --------------------------------------------------------------------------------------------------------- */

static struct bench pid(const char *key, const char *text)
{
    struct bench bench = bench_of("pid", key, text, NULL);
    client_init(&bench);
    client_draws(1);
    bench.view.servers = SERVERS;
    return bench;
}

/* So many calls are let in and taken; then the interval is over, with so many servers busy. */
static void interval(struct bench *bench, int in, int out, uint64_t busy)
{
    limiter_crowd(bench, busy);
    for (int i = 0; i < in; i++)
        ck_assert(bench_enters(bench, bench_call(bench, 0, 0, 0), bench->view.now));
    for (int i = 0; i < out; i++)
        bench->ops->start(&bench->self, &bench->view, bench_call(bench, 0, 0, 0));
    ck_assert_int_eq(client_ticks(bench, bench->view.now + 500 * MS), bench->view.now + 500 * MS);
}

START_TEST(pid_by_hand)
{
    static const struct {
        int in, out;
        uint64_t busy;
        double error, share;
    } intervals[] = {{0, 0, 8, 0, 0},    {5, 4, 8, 0.25, 0.125}, {7, 4, 6, 0.25, 0.125}, {4, 5, 8, -0.2, 0},
                     {5, 5, 7, -0.2, 0}, {2, 0, 8, 0.25, 0.125}, {2, 0, 6, 0, 0},        {6, 4, 8, 0.5, 0.25},
                     {0, 0, 0, -1, 0},   {9, 4, 8, 1.25, 0.625}, {20, 4, 8, 4, 1}};
    struct bench bench = pid("gain", "0.5");
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        interval(&bench, intervals[i].in, intervals[i].out, intervals[i].busy);
        limiter_gauge(&bench, "error", intervals[i].error);
        limiter_gauge(&bench, "share", intervals[i].share);
    }
    limiter_gauge(&bench, "intervals", sizeof intervals / sizeof *intervals);
    limiter_gauge(&bench, "quiet", 2);
    bench_free(&bench);
}
END_TEST

/* Servers that are idle while somebody waits lack memory for a context, and are not free. */
START_TEST(pid_beside_a_line)
{
    struct bench bench = pid("gain", "0.5");
    bench.view.busy = 6;
    bench.view.waiting.calls = 1;
    for (int i = 0; i < 5; i++)
        bench_enters(&bench, bench_call(&bench, 0, 0, 0), 0);
    for (int i = 0; i < 4; i++)
        bench.ops->start(&bench.self, &bench.view, bench_call(&bench, 0, 0, 0));
    client_ticks(&bench, 500 * MS);
    limiter_gauge(&bench, "error", 0.25);
    bench_free(&bench);
}
END_TEST

START_TEST(pid_refuses_its_share)
{
    struct bench bench = pid("most", "25%");
    struct policy_call *call = bench_call(&bench, 0, 0, 0);
    ck_assert(limiter_admits(&bench, 0, 8)); /* of nothing, nothing is drawn */
    uint64_t drawn = client_drawn();
    interval(&bench, 3, 0, 8);
    ck_assert_uint_eq(client_drawn(), drawn);
    interval(&bench, 5, 2, 8);
    limiter_gauge(&bench, "share", 0.25);
    client_draws(nextafter(0.25, 0));
    ck_assert(!limiter_admits(&bench, 0, 8));
    ck_assert(!limiter_admits(&bench, 0, 8)); /* it stays till the next time */
    limiter_gauge(&bench, "refused", 2);
    client_draws(0.25);
    ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_ADMIT);
    client_draws(0);
    ck_assert_int_eq(bench_asks_again(&bench, call, S).action, POLICY_ADMIT); /* another member held it */
    bench_ends(&bench, call, S, POLICY_TIMEOUT);
    bench_set(&bench, "retry_after", "3 s");
    ck_assert_int_eq(bench_attempts(&bench, call, 2 * S).after, 3 * S);
    interval(&bench, 0, 0, 8); /* what is refused does not come in */
    limiter_gauge(&bench, "share", 0);
    bench_free(&bench);
}
END_TEST

START_TEST(pid_at_a_metered_pool)
{
    struct bench bench = pid("gain", "1000");
    bench.view.servers = bench.view.busy = 0;
    for (int i = 0; i < 9; i++)
        bench_enters(&bench, bench_call(&bench, 0, 0, 0), 0);
    client_ticks(&bench, S);
    limiter_gauge(&bench, "share", 0);
    bench_free(&bench);
}
END_TEST

Suite *shedders_suite(void)
{
    Suite *suite = suite_create("shedders");
    TCase *folly_case = tcase_create("folly_codel"), *pid_case = tcase_create("pid");
    tcase_add_test(folly_case, folly_by_hand);
    tcase_add_test(folly_case, folly_sheds_a_line_at_once);
    tcase_add_test(folly_case, folly_settings);
    suite_add_tcase(suite, folly_case);
    tcase_add_test(pid_case, pid_by_hand);
    tcase_add_test(pid_case, pid_beside_a_line);
    tcase_add_test(pid_case, pid_refuses_its_share);
    tcase_add_test(pid_case, pid_at_a_metered_pool);
    suite_add_tcase(suite, pid_case);
    return suite;
}
