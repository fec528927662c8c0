/* test_deadline.c - deadline on the bench, by hand; and in a simulation, call by call. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/metrics.h"
#include "tests/line_bench.h"
#include "tests/model.h"
#include "tests/suites.h"
#include "tests/taken.h"

static struct policy_answer asks(struct line *line, struct policy_call *call, policy_time now)
{
    struct bench *bench = line->bench;
    bench->view.now = now;
    call->attempt++;
    if (call->attempt == 1)
        call->first_attempt = now;
    return bench->ops->admit(&bench->self, &bench->view, call);
}

/* --- on the bench ----------------------------------------------------------------------------------------------- */

static struct policy_call *due_call(struct line *line, uint32_t owner, double tokens, policy_time deadline)
{
    struct policy_call *call = line_call(line, owner, 0, tokens);
    call->deadline = deadline;
    return call;
}

START_TEST(earliest_deadline_first)
{
    struct bench bench = bench_of("deadline", NULL);
    struct line line = line_of(&bench);
    static const policy_time deadlines[] = {5000 * S, 3000 * S, POLICY_NONE, 4000 * S, 3000 * S, POLICY_NONE};
    for (uint32_t i = 0; i < 6; i++)
        line_joins_as(&line, due_call(&line, i, 1, deadlines[i]), i);
    ck_assert_str_eq(line_order(&line, S), "143025"); /* without one: last */
    bench_free(&bench);
}
END_TEST

/* `within` runs from the first attempt, and only where the class has no deadline. */
START_TEST(a_deadline_for_those_without)
{
    struct bench bench = bench_of("deadline", "within", "100 s", NULL);
    struct line line = line_of(&bench);
    struct policy_call *call = due_call(&line, 0, 1, POLICY_NONE), *other = due_call(&line, 0, 1, 70 * S);
    call->first_attempt = 20 * S;
    call->attempted = 30 * S;
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, call, false), 120 * S);
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, other, false), 70 * S);
    bench_set(&bench, "within", "inf");
    ck_assert_int_eq(bench.ops->rank(&bench.self, &bench.view, call, false), INT64_MAX);
    bench_free(&bench);
}
END_TEST

/* Answers of 10 s and 200 tokens on eight busy servers. */
static struct bench informed(struct line *line, const char *refuse)
{
    struct bench bench = bench_of("deadline", "refuse", refuse, NULL);
    *line = line_of(&bench);
    line->bench = &bench;
    for (int i = 0; i < 3; i++) {
        struct policy_call *call = due_call(line, 0, 200, POLICY_NONE);
        line_joins_as(line, call, 0);
        ck_assert_ptr_eq(line_takes(line, 90 * S), call);
        line_ends(line, call, 100 * S, POLICY_DONE);
    }
    ck_assert_double_eq(bench_gauge(&bench, "service"), 10);
    return bench;
}

/* With n calls ahead the wait is (n + 1) 10 / 8 s; a service of 100 tokens 5 s. Due in exactly that time it is let in,
 * a nanosecond earlier it is not. */
START_TEST(who_would_miss_is_rejected)
{
    struct line line;
    struct bench bench = informed(&line, "true");
    line.bench = &bench;
    static const double needs[] = {6.25, 6.25, 7.5, 8.75, 10, 10};
    static const policy_time starts[] = {900 * S, 999 * S, 2000 * S, 3000 * S, 4000 * S, 5000 * S};
    line_joins_as(&line, due_call(&line, 1, 200, 2500 * S), 100 * S);
    line_joins_as(&line, due_call(&line, 2, 200, 4000 * S), 100 * S);
    line_joins_as(&line, due_call(&line, 1, 200, 1000 * S), 100 * S);
    bench.view.waiting.calls = 3;
    for (size_t i = 0; i < 6; i++)
        for (int early = 0; early < 2; early++) {
            struct policy_call *call = due_call(&line, 3, 100, starts[i]);
            policy_time now = starts[i] - (policy_time)(needs[i] * 1e9) + early;
            ck_assert_int_eq(asks(&line, call, now).action, early ? POLICY_REJECT : POLICY_ADMIT);
            ck_assert_double_eq_tol(bench_gauge(&bench, "wait"), needs[i] - 5, 1e-9);
        }
    ck_assert_double_eq(bench_gauge(&bench, "refused"), 6);
    /* Where three of the eight lack memory, the others end a service every 2 s. */
    bench.view.busy = 5;
    asks(&line, due_call(&line, 3, 100, 5000 * S), 900 * S);
    ck_assert_double_eq_tol(bench_gauge(&bench, "wait"), 8, 1e-9);
    /* One that a server is free for needs 5 s, and with nobody served it is let in whatever it needs. */
    bench.view.waiting = (struct policy_line){0};
    bench.view.busy = 7;
    ck_assert_int_eq(asks(&line, due_call(&line, 3, 100, 105 * S), 100 * S).action, POLICY_ADMIT);
    ck_assert_int_eq(asks(&line, due_call(&line, 3, 100, 105 * S - 1), 100 * S).action, POLICY_REJECT);
    bench.view.busy = 0;
    ck_assert_int_eq(asks(&line, due_call(&line, 3, 100, 101 * S), 100 * S).action, POLICY_ADMIT);
    bench.view.busy = 8;
    ck_assert_int_eq(asks(&line, due_call(&line, 3, 100, POLICY_NONE), 100 * S).action, POLICY_ADMIT);
    bench_free(&bench);
}
END_TEST

/* However far the last deadline is, or where one has none, those ahead are those due before: 40 are due within a
 * minute.
 */
START_TEST(the_end_of_the_line_says_nothing)
{
    static const policy_time last[] = {POLICY_NONE, 1000 * S, 1000000 * S};
    for (size_t i = 0; i < 3; i++) {
        struct line line;
        struct bench bench = informed(&line, "true");
        struct policy_call *calls[39];
        line.bench = &bench;
        for (int k = 0; k < 39; k++)
            line_joins_as(&line, calls[k] = due_call(&line, 1, 200, 152 * S + k * S / 5), 100 * S);
        if (i > 0)
            line_joins_as(&line, due_call(&line, 2, 200, last[i]), 100 * S);
        line_joins_as(&line, due_call(&line, 2, 200, POLICY_NONE), 100 * S);
        bench.view.waiting.calls = 40 + (i > 0);
        ck_assert_int_eq(asks(&line, due_call(&line, 3, 200, 160 * S - 1), 100 * S).action, POLICY_REJECT);
        ck_assert_double_eq_tol(bench_gauge(&bench, "wait"), 40 * 10 / 8.0, 1e-9);
        ck_assert_int_eq(asks(&line, due_call(&line, 3, 200, 120 * S), 100 * S).action, POLICY_ADMIT);
        ck_assert_double_eq_tol(bench_gauge(&bench, "wait"), 10 / 8.0, 1e-9);
        for (int k = 0; k < 20; k++) /* half of them give up */
            line_ends(&line, calls[2 * k], 101 * S, POLICY_TIMEOUT);
        bench.view.waiting.calls = 20 + (i > 0);
        asks(&line, due_call(&line, 3, 200, 160 * S), 101 * S);
        ck_assert_double_eq_tol(bench_gauge(&bench, "wait"), 20 * 10 / 8.0, 1e-9);
        bench_free(&bench);
    }
}
END_TEST

/* A server takes only those that can still make it; one that did not wait and is alone is served anyway. */
START_TEST(who_will_miss_is_shed)
{
    struct line line;
    struct bench bench = informed(&line, "true");
    line.bench = &bench;
    line_joins_as(&line, due_call(&line, 1, 200, 220 * S), 200 * S);
    line_joins_as(&line, due_call(&line, 2, 100, 221 * S), 200 * S);
    line_joins_as(&line, due_call(&line, 3, 200, 400 * S), 200 * S);
    ck_assert_uint_eq(line_takes(&line, 216 * S)->agent,
                      2); /* 10 s until 220 s are too long, 5 s until 221 s are not */
    ck_assert_uint_eq(line.shed, 1);
    ck_assert_double_eq(bench_gauge(&bench, "shed"), 1);
    ck_assert_ptr_null(line_takes(&line, 400 * S));
    bench.view.busy = 0;
    struct policy_call *alone = due_call(&line, 4, 200, 501 * S);
    bench.view.now = alone->joined = 500 * S;
    ck_assert_int_eq(bench.ops->start(&bench.self, &bench.view, alone).action, POLICY_ADMIT);
    alone->joined--;
    ck_assert_int_eq(bench.ops->start(&bench.self, &bench.view, alone).action, POLICY_REJECT);
    bench_free(&bench);
}
END_TEST

START_TEST(nobody_is_refused_before_the_first_answer_or_without_leave)
{
    struct line line;
    struct bench bench = informed(&line, "false"), fresh = bench_of("deadline", NULL);
    line.bench = &bench;
    ck_assert_int_eq(asks(&line, due_call(&line, 1, 200, 101 * S), 100 * S).action, POLICY_ADMIT);
    line_joins_as(&line, due_call(&line, 1, 200, 101 * S), 100 * S);
    ck_assert_ptr_nonnull(line_takes(&line, 300 * S));
    bench_free(&bench);
    line = line_of(&fresh);
    ck_assert_int_eq(asks(&line, due_call(&line, 1, 1e9, 100 * S), 100 * S).action, POLICY_ADMIT);
    ck_assert_int_eq(asks(&line, due_call(&line, 1, 1, 100 * S - 1), 100 * S).action, POLICY_REJECT); /* it is past */
    bench_free(&fresh);
}
END_TEST

/* Means with a twentieth for the newest; only answers count. */
START_TEST(means_of_services)
{
    struct line line;
    struct bench bench = informed(&line, "true");
    line.bench = &bench;
    static const enum policy_end ends[] = {POLICY_TIMEOUT, POLICY_ABANDONED, POLICY_ERROR, POLICY_DONE};
    for (size_t i = 0; i < 4; i++) {
        struct policy_call *call = due_call(&line, 0, 400, POLICY_NONE);
        line_joins_as(&line, call, 100 * S);
        line_takes(&line, 100 * S);
        line_ends(&line, call, 150 * S, ends[i]);
        ck_assert_double_eq_tol(bench_gauge(&bench, "service"), i < 3 ? 10 : 12, 1e-12);
    }
    /* 12 s for 210 tokens */
    bench.view.busy = 1;
    ck_assert_int_eq(asks(&line, due_call(&line, 1, 105, 206 * S), 200 * S).action, POLICY_ADMIT);
    ck_assert_int_eq(asks(&line, due_call(&line, 1, 105, 206 * S - 1), 200 * S).action, POLICY_REJECT);
    bench_free(&bench);
}
END_TEST

/* --- in a simulation ------------------------------------------------------------------------------------------- */

static struct plan dated(const char *servers, const char *service, const char *rate, const char *refuse)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 20000 s, warmup: 0 s}\n"
             "backends: {b: {kind: slots, servers: %s, service: %s}}\n"
             "agents:\n"
             "  urgent: {arrivals: poisson(%s), deadline: {turn: 5 s}}\n"
             "  patient: {arrivals: poisson(%s), deadline: {turn: 25 s}}\n"
             "policies: [deadline: {refuse: %s}]\n",
             servers, service, rate, rate, refuse);
    return model_plan(yaml);
}

static int by_start(const void *a, const void *b)
{
    const struct taken *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Calls of the line that were in it when call k was taken and are due earlier. */
static size_t due_earlier(size_t k)
{
    size_t found = 0;
    for (size_t i = k + 1; i < taken_count && i < k + 500; i++)
        found += taken_calls[i].joined < taken_calls[k].started && taken_calls[i].deadline < taken_calls[k].deadline;
    return found;
}

/* Load 0.9 without refusal: earliest first, and the mean wait of M/M/1. */
START_TEST(the_earliest_deadline_is_next)
{
    struct plan plan = dated("1", "exponential(1 s)", "0.45/s", "false");
    struct model_estimate wait;
    size_t overtaken = 0;
    taken_keep(&plan, 0);
    qsort(taken_calls, taken_count, sizeof *taken_calls, by_start);
    for (size_t k = 0; k < taken_starts; k++) {
        if (taken_calls[k].joined < taken_calls[k].started)
            ck_assert_uint_eq(due_earlier(k), 0);
        overtaken += k > 0 && taken_calls[k].joined < taken_calls[k - 1].joined;
    }
    ck_assert_uint_gt(overtaken, 1000);
    wait = model_metric(&plan, 0, 20, METRIC_WAIT_MEAN);
    ck_assert_double_le(fabs(wait.mean - 9), 4 * wait.error);
    plan_fini(&plan);
}
END_TEST

static size_t late(void)
{
    size_t late = 0;
    for (size_t k = 0; k < taken_starts; k++)
        late += taken_calls[k].started + POLICY_SECOND > taken_calls[k].deadline;
    return late;
}

/* Load 1.5 and services of exactly a second: an estimate that is exact, so nothing that is served comes too late. All
 * servers work nearly all the time. Without refusal hardly anybody is in time. */
START_TEST(what_is_served_is_in_time)
{
    struct plan plan = dated("4", "constant(1 s)", "3/s", "true");
    taken_keep(&plan, 0);
    ck_assert_uint_eq(late(), 0);
    ck_assert_uint_gt(taken_starts, 79000); /* of 80,000 */
    plan_fini(&plan);
    plan = dated("4", "constant(1 s)", "3/s", "false");
    taken_keep(&plan, 0);
    ck_assert_uint_gt(late(), taken_starts * 9 / 10);
    plan_fini(&plan);
}
END_TEST

Suite *deadline_suite(void)
{
    Suite *suite = suite_create("deadline");
    TCase *test = tcase_create("deadline");
    tcase_add_test(test, earliest_deadline_first);
    tcase_add_test(test, a_deadline_for_those_without);
    tcase_add_test(test, who_would_miss_is_rejected);
    tcase_add_test(test, the_end_of_the_line_says_nothing);
    tcase_add_test(test, who_will_miss_is_shed);
    tcase_add_test(test, nobody_is_refused_before_the_first_answer_or_without_leave);
    tcase_add_test(test, means_of_services);
    tcase_add_test(test, the_earliest_deadline_is_next);
    tcase_add_test(test, what_is_served_is_in_time);
    suite_add_tcase(suite, test);
    return suite;
}
