/* test_line_policies.c - bounded_queue and adaptive_lifo on the bench, by hand. */
#include <check.h>

#include "tests/line_bench.h"
#include "tests/suites.h"

static struct policy_answer asks(struct line *line, struct policy_call *call, policy_time now)
{
    struct bench *bench = line->bench;
    bench->view.now = now;
    call->attempt++;
    if (call->attempt == 1)
        call->first_attempt = now;
    return bench->ops->admit(&bench->self, &bench->view, call);
}

/* --- bounded_queue ----------------------------------------------------------------------------------------------- */

/* Of a call of 30 + 12 tokens, in front of which `calls` of `tokens` wait: NULL, or what bound. */
static const char *bound(struct bench *bench, uint64_t calls, double tokens)
{
    struct line line = line_of(bench);
    bench->view.waiting.calls = calls;
    bench->view.waiting.tokens = tokens;
    struct policy_answer answer = asks(&line, line_call(&line, 0, 30, 12), 0);
    if (answer.action == POLICY_ADMIT)
        return NULL;
    ck_assert_int_eq(answer.after, POLICY_NONE);
    return answer.reason;
}

START_TEST(bounds_are_reached_and_never_passed)
{
    struct bench bench = bench_of("bounded_queue", "calls", "3", "tokens", "100", NULL);
    ck_assert_ptr_null(bound(&bench, 0, 0));
    ck_assert_ptr_null(bound(&bench, 2, 58)); /* with it 3 calls and 100 tokens wait */
    ck_assert_str_eq(bound(&bench, 3, 3), "calls");
    ck_assert_str_eq(bound(&bench, 2, 59), "tokens");
    ck_assert_str_eq(bound(&bench, 3, 59), "calls");
    ck_assert_double_eq(bench_gauge(&bench, "refused_calls"), 2);
    ck_assert_double_eq(bench_gauge(&bench, "refused_tokens"), 1);
    bench_set(&bench, "tokens", "41"); /* less than the call: only where a server is free */
    ck_assert_str_eq(bound(&bench, 0, 0), "tokens");
    bench.view.busy = 7;
    ck_assert_ptr_null(bound(&bench, 0, 0));
    ck_assert_str_eq(bound(&bench, 1, 1), "tokens"); /* it would wait behind the other */
    bench_set(&bench, "calls", "0");
    ck_assert_ptr_null(bound(&bench, 0, 0));
    bench.view.busy = 8;
    ck_assert_str_eq(bound(&bench, 0, 0), "calls");
    bench.view.servers = 0; /* a pool: nobody waits */
    ck_assert_ptr_null(bound(&bench, 0, 0));
    bench_free(&bench);
}
END_TEST

START_TEST(no_bound_is_no_bound)
{
    struct bench bench = bench_of("bounded_queue", "calls", "inf", NULL);
    ck_assert_ptr_null(bound(&bench, UINT64_C(1) << 62, 1e300));
    bench_free(&bench);
}
END_TEST

START_TEST(refused_or_rejected)
{
    static const enum policy_action actions[] = {POLICY_DEFER, POLICY_REJECT};
    for (size_t k = 0; k < 2; k++) {
        struct bench bench = bench_of("bounded_queue", "calls", "0", "answer", k ? "reject" : "defer", NULL);
        struct line line = line_of(&bench);
        ck_assert_int_eq(asks(&line, line_call(&line, 0, 1, 1), 0).action, actions[k]);
        bench_free(&bench);
    }
}
END_TEST

/* --- adaptive_lifo ----------------------------------------------------------------------------------------------- */

/* HHVM's rule: the newest while, without it, at least switch_at wait. */
START_TEST(long_lines_are_turned_round)
{
    struct bench bench = bench_of("adaptive_lifo", "switch_at", "3", NULL);
    struct line line = line_of(&bench);
    for (uint32_t i = 0; i < 6; i++)
        line_joins(&line, i, 1, i);
    ck_assert_str_eq(line_order(&line, S), "543012"); /* 6, 5 and 4 wait; then 3 */
    ck_assert_double_eq(bench_gauge(&bench, "turns"), 2);
    ck_assert_double_eq(bench_gauge(&bench, "newest_first"), 0);
    bench_free(&bench);
}
END_TEST

START_TEST(always_or_never_the_newest)
{
    static const char *const at[] = {"0", "inf"}, *const order[] = {"3210", "0123"};
    for (size_t k = 0; k < 2; k++) {
        struct bench bench = bench_of("adaptive_lifo", "switch_at", at[k], NULL);
        struct line line = line_of(&bench);
        for (uint32_t i = 0; i < 4; i++)
            line_joins(&line, i, 1, i);
        ck_assert_str_eq(line_order(&line, S), order[k]);
        bench_free(&bench);
    }
}
END_TEST

/* The oldest is shed once it has waited for more than wait_most, whichever end is served. */
START_TEST(who_is_too_old_is_shed_first)
{
    struct bench bench = bench_of("adaptive_lifo", "switch_at", "1", "wait_most", "10 s", NULL);
    struct line line = line_of(&bench);
    for (uint32_t i = 0; i < 5; i++)
        line_joins(&line, i, 1, i * S);
    ck_assert_uint_eq(line_takes(&line, 10 * S)->agent, 4); /* nobody for more than 10 s */
    ck_assert_uint_eq(line.shed, 0);
    ck_assert_uint_eq(line_takes(&line, 11 * S + 1)->agent, 3);
    ck_assert_uint_eq(line.shed, 2);
    ck_assert_ptr_null(line_takes(&line, 12 * S + 1));
    ck_assert_uint_eq(line.shed, 1);
    ck_assert_double_eq(bench_gauge(&bench, "shed"), 3);
    line_served_at_once(&line, 0, 1, 100 * S);
    bench_free(&bench);
}
END_TEST

Suite *line_policies_suite(void)
{
    Suite *suite = suite_create("line_policies");
    TCase *test = tcase_create("line_policies");
    tcase_add_test(test, bounds_are_reached_and_never_passed);
    tcase_add_test(test, no_bound_is_no_bound);
    tcase_add_test(test, refused_or_rejected);
    tcase_add_test(test, long_lines_are_turned_round);
    tcase_add_test(test, always_or_never_the_newest);
    tcase_add_test(test, who_is_too_old_is_shed_first);
    suite_add_tcase(suite, test);
    return suite;
}
