/* test_run_budget.c - run_budget on the bench at every edge: both readings, deadlines, what is released when; and that
 * reservations come back to nothing in random lives. */
#include <math.h>

#include "tests/oracles.h"
#include "tests/run_budget_bench.h"
#include "tests/suites.h"

/* Let in here and held by a later member, until it gives up: what was reserved for it is free. */
START_TEST(a_held_run_that_gives_up_is_released)
{
    struct policy_run *a;
    BUDGET("estimate", "curve");
    a = run_of(LIVE, INFINITY, 0);
    ck_assert(begins(a, 0));
    gauges(3000, 1000, 1);
    bench.ops->run_withdrawn(&bench.self, &bench.view, a);
    gauges(0, 0, 0);
}
END_TEST

/* A call of a turn, with a memory of its own: the turn's, or a part of it. */
static struct policy_call *calls(struct policy_run *run, uint64_t turn, policy_time now)
{
    struct policy_call *call = bench_call(&bench, 100, 0, 0);
    call->turn = turn;
    call->run_state = run->run_state;
    call->class_state = run->class_state;
    call->first_attempt = call->started = now;
    ck_assert_int_eq(bench.ops->admit(&bench.self, &bench.view, call).action, POLICY_ADMIT);
    return call;
}

/* Ten turns of 100 tokens, by the minute's reading; parts are none, and what another gate answers is over, too. */
START_TEST(turns_are_released_whatever_became_of_them)
{
    struct policy_run *run;
    struct policy_call *own, *part;
    struct policy_answer refusal = policy_defer(POLICY_NONE, "full");
    BUDGET("reading", "minute", "estimate", "history", "learn", "1");
    run = run_of(LIVE, 10, 1000);
    ck_assert(begins(run, 0));
    gauges(1000, 1000, 1);
    own = calls(run, 7, 0);
    bench_ends(&bench, own, 2 * S, POLICY_DONE);
    gauges(900, 900, 1);
    for (int i = 0; i < 5; i++) {
        part = calls(run, 7, 2 * S);
        bench_ends(&bench, part, 4 * S, POLICY_DONE);
        gauges(900, 900, 1);
    }
    own = calls(run, 8, 4 * S);
    bench_ends(&bench, own, 4 * S, POLICY_SHED); /* and answered elsewhere */
    gauges(900, 900, 1);
    part = calls(run, 8, 5 * S);
    bench_ends(&bench, part, 5 * S, POLICY_DONE);
    gauges(900, 900, 1);
    own = calls(run, 9, 6 * S);
    gauges(800, 800, 1);
    own = bench_call(&bench, 100, 0, 0);
    own->turn = 10;
    own->run_state = run->run_state;
    bench.ops->refused(&bench.self, &bench.view, own, &refusal); /* by a member before it, and answered elsewhere */
    gauges(700, 700, 1);
    bench.view.now = 12 * S;
    run_ends(run, true);
    gauges(0, 0, 0);
    /* Four turns, one answer of 100 tokens here, 12 s with the parts. */
    run = run_of(LIVE, 10, 1000);
    ck_assert(begins(run, 12 * S));
    gauges(100, 100, 1);
    own = calls(run, 11, 12 * S);
    bench_ends(&bench, own, 12 * S, POLICY_DONE);
    gauges(75, 75, 1);
    bench_free(&bench);
}
END_TEST

/* --- quota ---------------------------------------------------------------------------------------------------------
 */

START_TEST(the_sum_of_rates_is_within_the_quota)
{
    struct policy_run *a, *b, *c;
    BUDGET("estimate", "curve");
    a = run_of(LIVE, INFINITY, 0);
    b = run_of(BATCH, 3, 0);
    c = run_of(LIVE, 1, 0);
    gauges(0, 0, 0);
    ck_assert(begins(a, 0));
    gauges(3000, 1000, 1);
    ck_assert(begins(b, 0)); /* to the last token */
    gauges(6000, 2000, 2);
    is_deferred(c, 0, "quota");
    gauges(6000, 2000, 2);
    for (int i = 0; i < 9; i++) {
        turn_done(a, i * S); /* as long as it runs it uses as much a minute */
        gauges(6000, 1900 - i * 100, 2);
    }
    is_deferred(c, 20 * S, "quota");
    turn_done(a, 20 * S); /* its tenth of ten: it goes on, and keeps what one turn is */
    gauges(6000, 1100, 2);
    turn_done(a, 22 * S);
    gauges(6000, 1100, 2);
    run_ends(a, true);
    gauges(3000, 1000, 1);
    run_ends(a, true); /* once is enough */
    gauges(3000, 1000, 1);
    ck_assert(begins(c, 90 * S));
    run_ends(b, false);
    run_ends(c, false);
    gauges(0, 0, 0);
    ck_assert_double_eq(bench_gauge(&bench, "over_quota"), 2);
    run_ends(run_of(LIVE, 1, 0), false); /* of one that was never let in */
    gauges(0, 0, 0);
    bench_free(&bench);
}
END_TEST

START_TEST(one_token_too_many)
{
    BUDGET("estimate", "curve");
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_steers(&bench, 0, "quota", 5999.0 / 60);
    is_deferred(run_of(LIVE, 1, 0), 0, "quota");
    bench_steers(&bench, 0, "quota", 6000.0 / 60);
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_steers(&bench, 0, "quota", INFINITY);
    for (int i = 0; i < 100; i++)
        ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_free(&bench);
}
END_TEST

START_TEST(a_whole_run_in_a_minutes_budget)
{
    struct policy_run *a, *b;
    BUDGET("estimate", "curve", "reading", "minute");
    a = run_of(LIVE, 1, 0);
    b = run_of(LIVE, 1, 0);
    for (int i = 0; i < 5; i++)
        ck_assert(begins(run_of(BATCH, 1, 0), 0));
    ck_assert(begins(a, 0));
    gauges(6000, 6000, 6);
    is_deferred(b, 0, "quota");
    for (int i = 1; i <= 9; i++) {
        turn_done(a, i * S);
        gauges(6000 - i * 100, 6000 - i * 100, 6); /* released turn by turn */
        is_deferred(b, i * S, "quota");
    }
    turn_done(a, 10 * S); /* one turn stays until it ends */
    gauges(5100, 5100, 6);
    is_deferred(b, 10 * S, "quota");
    run_ends(a, true);
    ck_assert(begins(b, 11 * S));
    gauges(6000, 6000, 6);
    bench_free(&bench);
}
END_TEST

/* The published numbers: 40 turns of 30,000 tokens, 15 a minute, 2 M tokens a minute in shares of 70, 20 and 10 %. */
START_TEST(both_readings_of_what_was_published)
{
    static const char *const published[] = {"interactive", "background", "batch"};
    static const int fit[2][3] = {{1, 0, 0}, {3, 0, 0}};
    for (int normalised = 0; normalised < 2; normalised++) {
        bench = bench_of("run_budget", "classes", "interactive 70 % background 20 % batch 10 %", NULL);
        for (const char *const *pair = bench.ops->presets[normalised].settings; pair[0]; pair += 2)
            bench_set(&bench, pair[0], pair[1]);
        begin();
        bench.view.class_names = published;
        for (uint32_t klass = 0; klass < CLASSES; klass++) {
            int count = 0;
            while (begins(run_of(klass, 1, 0), 0))
                count++;
            ck_assert_int_eq(count, fit[normalised][klass]);
        }
        bench_free(&bench);
    }
    /* whole, the quota carries 4.4 of them a minute */
    bench = bench_of("run_budget", "estimate", "curve", NULL);
    begin();
    for (int i = 0; i < 4; i++)
        ck_assert(begins(run_of(LIVE, 1, 0), 0));
    is_deferred(run_of(LIVE, 1, 0), 0, "quota");
    gauges(1800000, 4800000, 4);
    bench_free(&bench);
}
END_TEST

START_TEST(shares_of_the_quota)
{
    struct policy_answer answer;
    struct policy_run *run;
    BUDGET("estimate", "curve", "classes", "live 50 % batch 0 %");
    run = run_of(LIVE, 1, 0);
    ck_assert(begins(run, 0));
    is_deferred(run_of(LIVE, 1, 0), 0, "quota");
    ck_assert(begins(run_of(OTHER, 1, 0), 0));
    is_deferred(run_of(OTHER, 1, 0), 0, "quota");
    answer = asks(run_of(BATCH, 1, 0), 0);
    ck_assert_int_eq(answer.action, POLICY_REJECT);
    ck_assert_str_eq(answer.reason, "no share");
    run_ends(run, true);
    is_deferred(run_of(OTHER, 1, 0), 0, "quota"); /* what live has free is not others' */
    ck_assert(begins(run_of(LIVE, 1, 0), 0));
    bench_free(&bench);
    bench = bench_of("run_budget", "classes", "live", NULL);
    ck_assert_ptr_nonnull(bench_checked(&bench));
    bench_free(&bench);
}
END_TEST

/* There is no callback that says that another member has refused: when the run asks again it begins anew. */
START_TEST(a_later_member_refuses)
{
    struct policy_run *run;
    BUDGET("estimate", "curve");
    run = run_of(LIVE, 1, 0);
    for (int i = 0; i < 5; i++) {
        ck_assert(begins(run, i * S));
        gauges(3000, 1000, 1);
    }
    bench_free(&bench);
}
END_TEST

/* --- deadlines -----------------------------------------------------------------------------------------------------
 */

START_TEST(time_left)
{
    struct policy_run *run;
    struct policy_answer answer;
    BUDGET("estimate", "run");
    run = run_of(LIVE, 10, 0); /* 20 s, so 30 are needed */
    run->deadline = 130 * S;
    is_deferred(run, 100 * S + 1, "deadline");
    ck_assert_double_eq(bench_gauge(&bench, "over_deadline"), 1);
    gauges(0, 0, 0);
    ck_assert(begins(run, 100 * S));
    is_deferred(run, 131 * S, "deadline");
    gauges(0, 0, 0); /* it asked again, so it was not let in */
    bench_steers(&bench, 0, "factor", 0);
    ck_assert(begins(run, 130 * S));
    run = run_of(LIVE, 10, 0);
    run->deadline = 0;
    is_deferred(run, 1, "deadline");
    bench_set(&bench, "late", "reject");
    answer = asks(run, 1);
    ck_assert_int_eq(answer.action, POLICY_REJECT);
    ck_assert_str_eq(answer.reason, "deadline");
    bench_free(&bench);
}
END_TEST

/* --- reservations come back ----------------------------------------------------------------------------------------
 */

START_TEST(nothing_is_left_when_all_have_ended)
{
    enum { RUNS = 40, STEPS = 20000 };
    static const char *const readings[] = {"rate", "minute"}, *const sources[] = {"run", "curve", "history"};
    uint64_t random = (uint64_t)_i;
    struct policy_run *runs[RUNS] = {0};
    uint64_t inside = 0;
    BUDGET("estimate", sources[_i % 3], "reading", readings[_i / 3], "error", "0.7", "per_turn", "33", "quota",
           "12k tokens/min", "classes", "live 50 % batch 20 %", "learn", "4");
    for (int step = 0; step < STEPS; step++) {
        size_t which = oracle_random(&random) % RUNS;
        policy_time now = step * S;
        struct policy_run *run = runs[which];
        if (!run) {
            run = run_of((uint32_t)(oracle_random(&random) % CLASSES), (double)(oracle_random(&random) % 30), 0);
            run->agent = (uint32_t)which;
            run->run = (uint64_t)step;
            if (begins(run, now)) {
                runs[which] = run;
                inside++;
            }
        } else if (oracle_random(&random) % 8 == 0) {
            run_ends(run, oracle_random(&random) % 2);
            runs[which] = NULL;
            inside--;
        } else {
            turn_ends(run, now, now, now, oracle_random(&random) % 3 ? POLICY_DONE : POLICY_SHED, 77, 0, 0);
        }
        ck_assert_double_eq(bench_gauge(&bench, "inside"), (double)inside);
        ck_assert((bench_gauge(&bench, "reserved") > 0) == (inside > 0));
    }
    ck_assert_double_gt(bench_gauge(&bench, "over_quota"), 100);
    for (size_t i = 0; i < RUNS; i++)
        if (runs[i])
            run_ends(runs[i], true);
    ck_assert_double_eq(bench_gauge(&bench, "reserved"), 0);
    ck_assert_double_eq(bench_gauge(&bench, "left"), 0);
    ck_assert_double_eq(bench_gauge(&bench, "inside"), 0);
    bench_free(&bench);
}
END_TEST

Suite *run_budget_suite(void)
{
    Suite *suite = suite_create("run_budget");
    TCase *test = tcase_create("run_budget");

    tcase_add_test(test, turns_are_released_whatever_became_of_them);
    tcase_add_test(test, the_sum_of_rates_is_within_the_quota);
    tcase_add_test(test, a_held_run_that_gives_up_is_released);
    tcase_add_test(test, one_token_too_many);
    tcase_add_test(test, a_whole_run_in_a_minutes_budget);
    tcase_add_test(test, both_readings_of_what_was_published);
    tcase_add_test(test, shares_of_the_quota);
    tcase_add_test(test, a_later_member_refuses);
    tcase_add_test(test, time_left);
    tcase_add_loop_test(test, nothing_is_left_when_all_have_ended, 0, 6);
    suite_add_tcase(suite, test);
    return suite;
}
