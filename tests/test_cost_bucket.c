/* test_cost_bucket.c - what a session and what a run may use: cost_bucket and contract on the bench and in trials
 * worked out by hand. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/call_bench.h"
#include "tests/suites.h"
#include "tests/timeline.h"

static struct bench bench;

static void expect(struct policy_answer answer, enum policy_action action, policy_time after, const char *reason)
{
    ck_assert_int_eq(answer.action, action);
    ck_assert_int_eq(answer.after, after);
    ck_assert_str_eq(answer.reason, reason);
}

static double gauge(const char *name)
{
    return bench_gauge(&bench, name);
}

static struct policy_call *enter(double input, policy_time now)
{
    struct policy_call *call = bench_call(&bench, input, 0, 0);
    ck_assert(bench_enters(&bench, call, now));
    return call;
}

static struct policy_answer asks(double input, policy_time now)
{
    return bench_attempts(&bench, bench_call(&bench, input, 0, 0), now);
}

/* --- cost_bucket ----------------------------------------------------------------------------------------------------
 */

START_TEST(reserves_and_settles)
{
    struct policy_call *call;
    bench = bench_of("cost_bucket", NULL);
    bench_begins(&bench);
    call = enter(30000, 0);
    ck_assert(gauge("level") == 70000 && gauge("reserved") == 30000);
    bench_ends_with(&bench, call, 0, POLICY_DONE, 9000, 4000, 1000);
    ck_assert(gauge("level") == 90000 && gauge("reserved") == 0);
    ck_assert(gauge("spent") == 10000 && gauge("overrun") == 0);
    call = enter(30000, 0);
    bench_ends(&bench, call, 35 * S, POLICY_DONE); /* from 60,000; what is settled is no refill */
    ck_assert(gauge("level") == 95000 && gauge("spent") == 40000);
    bench_free(&bench);
}
END_TEST

/* The dear call is not stopped; the next one is, until the debt is paid. */
START_TEST(stops_the_next_call_not_this_one)
{
    struct policy_call *dear, *other;
    bench = bench_of("cost_bucket", NULL);
    bench_begins(&bench);
    dear = enter(30000, 0);
    other = enter(70000, 0);
    bench_ends_with(&bench, dear, 10 * S, POLICY_DONE, 150000, 0, 0);
    ck_assert(gauge("level") == -110000 && gauge("overrun") == 1);
    expect(asks(1000, 10 * S), POLICY_HOLD, 111 * S, "cost");
    expect(asks(1000, 121 * S - 1), POLICY_HOLD, MS, "cost"); /* 1 ns early */
    ck_assert_int_eq(asks(1000, 121 * S).action, POLICY_ADMIT);
    bench_ends(&bench, other, 121 * S, POLICY_DONE); /* as expected, so nothing moves */
    ck_assert(gauge("level") == 1000 && gauge("spent") == 220000 && gauge("overrun") == 1);
    bench_free(&bench);
}
END_TEST

START_TEST(an_estimate_above_the_burst_waits_until_it_is_full)
{
    bench = bench_of("cost_bucket", "answer", "defer", NULL);
    bench_begins(&bench);
    enter(1, 0);
    expect(asks(150000, 0), POLICY_DEFER, MS, "cost");
    enter(150000, MS);
    expect(asks(100000, MS), POLICY_DEFER, 150 * S, "cost");
    ck_assert(gauge("deferred") == 2 && gauge("held") == 0);
    bench_free(&bench);
}
END_TEST

START_TEST(tokens_are_weighted)
{
    struct policy_call *call;
    bench = bench_of("cost_bucket", "input_weight", "2", "cached_weight", "0.1", "output_weight", "5", NULL);
    bench_begins(&bench);
    call = bench_call(&bench, 100, 80, 7);
    ck_assert(bench_enters(&bench, call, 0));
    ck_assert_double_eq_tol(gauge("reserved"), 83, 1e-9); /* 20 at 2, 80 at 0.1, 7 at 5 */
    bench_ends_with(&bench, call, 0, POLICY_DONE, 10, 0, 1);
    ck_assert_double_eq(gauge("spent"), 25);
    ck_assert_ptr_null(bench_checked(&bench));
    bench_set(&bench, "input_weight", "0");
    bench_set(&bench, "cached_weight", "0");
    ck_assert_ptr_null(bench_checked(&bench));
    bench_set(&bench, "output_weight", "0");
    ck_assert_ptr_nonnull(strstr(bench_checked(&bench), "expected one above 0"));
    bench_free(&bench);
}
END_TEST

/* What a call of 100 has paid, of a policy that settles: by how it ends, and in line or in service. */
static void check_ends(double (*paid)(bool served, enum policy_end end, double real))
{
    const double none = (double)NAN;
    ck_assert_double_eq(paid(true, POLICY_DONE, 40), 40);
    ck_assert_double_eq(paid(true, POLICY_DONE, 300), 300);
    ck_assert_double_eq(paid(true, POLICY_DONE, none), 100);
    ck_assert_double_eq(paid(true, POLICY_ERROR, 60), 60);
    ck_assert_double_eq(paid(true, POLICY_ERROR, none), 100);
    ck_assert_double_eq(paid(false, POLICY_SHED, none), 0);
    ck_assert_double_eq(paid(false, POLICY_DISPLACED, none), 0);
    ck_assert_double_eq(paid(false, POLICY_OVERLOAD, none), 0);
    ck_assert_double_eq(paid(false, POLICY_TIMEOUT, none), 0);
    ck_assert_double_eq(paid(false, POLICY_ABANDONED, none), 0);
    ck_assert_double_eq(paid(true, POLICY_TIMEOUT, none), 100);
    ck_assert_double_eq(paid(true, POLICY_ABANDONED, none), 100);
    ck_assert_double_eq(paid(true, POLICY_EXPIRED, none), 100);
}

static double cost_paid(bool served, enum policy_end end, double real)
{
    double before = gauge("spent");
    policy_time now = bench.view.now + 1000 * S;
    struct policy_call *call = enter(100, now);
    if (served)
        bench_serves(call, now);
    bench_ends_with(&bench, call, now, end, real, real * 0, real * 0);
    bench_ends(&bench, call, now, POLICY_ABANDONED); /* backing off and held again: it has nothing to end */
    ck_assert_double_eq(gauge("level"), 100000 - (gauge("spent") - before));
    ck_assert_double_eq(gauge("reserved"), 0);
    return gauge("spent") - before;
}

START_TEST(every_end_of_a_session_settles)
{
    bench = bench_of("cost_bucket", NULL);
    bench_begins(&bench);
    check_ends(cost_paid);
    bench_free(&bench);
}
END_TEST

START_TEST(refunds_up_to_full)
{
    struct policy_call *call;
    bench = bench_of("cost_bucket", NULL);
    bench_begins(&bench);
    call = enter(50000, 0);
    bench_ends_with(&bench, call, 40 * S, POLICY_DONE, 0, 0, 0);
    ck_assert_double_eq(gauge("level"), 100000);
    enter(100000, 40 * S);
    expect(asks(1, 40 * S), POLICY_HOLD, MS, "cost");
    bench_free(&bench);
}
END_TEST

START_TEST(a_session_is_steered)
{
    struct policy_call *call;
    bench = bench_of("cost_bucket", NULL);
    bench_begins(&bench);
    enter(100000, 0);
    bench_steers(&bench, 10 * S, "rate", 100); /* 10,000 by then */
    expect(asks(20000, 10 * S), POLICY_HOLD, 100 * S, "cost");
    bench_steers(&bench, 110 * S, "burst", 5000);
    call = enter(5000, 110 * S);
    call->last = true;
    expect(bench_asks_again(&bench, call, 110 * S), POLICY_DEFER, 50 * S, "cost");
    for (int action = POLICY_HOLD; action <= POLICY_REJECT; action++)
        bench_refuses(&bench, call, 110 * S, (enum policy_action)action);
    ck_assert_double_eq(gauge("level"), 0);
    bench_steers(&bench, 110 * S, "rate", (double)INFINITY);
    enter(5000, 110 * S);
    enter(1e30, 110 * S);
    bench_free(&bench);
}
END_TEST

/* An agent that uses 7,500 tokens/s, in turns of 30,000 that take 4 s: three at once, from 100,000, 74,000 and 48,000;
 * at 12 s there are 22,000, so the fourth waits for 8,000 more, and each later one comes 30 s after the one before. */
START_TEST(a_session_of_7500_tokens_a_second)
{
    struct timeline t;
    timeline_expect("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 1, rate: 7500 tokens/s}}\n"
                    "agents: {a: {population: 1, think: constant(0 s), output: 30000}}\n"
                    "policies: [cost_bucket: {preset: session}]\n",
                    NULL, "a0@0 a0.1@4 a0.2@8 a0.3@20 a0.4@50 a0.5@80", &t);
    ck_assert_double_eq(t.values[METRIC_DEFERRED_SHARE], 0); /* held, unseen by the agent */
    /* Each agent has its own. */
    timeline_expect("study: {horizon: 60 s}\nbackends: {b: {kind: slots, servers: 2, rate: 7500 tokens/s}}\n"
                    "agents: {a: {population: 2, think: constant(0 s), output: 30000}}\n"
                    "policies: [cost_bucket: {preset: session}]\n",
                    NULL, "a0@0 a1@0 a0.1@4 a1.1@4 a0.2@8 a1.2@8 a0.3@20 a1.3@20 a0.4@50 a1.4@50", &t);
    /* Refused with the time that is missing. */
    timeline_expect("study: {horizon: 60 s}\nbackends: {b: {kind: slots, servers: 1, rate: 7500 tokens/s}}\n"
                    "agents: {a: {population: 1, think: constant(0 s), output: 30000}}\n"
                    "policies: [cost_bucket: {preset: session, answer: defer}]\n",
                    NULL, "a0@0 a0.1@4 a0.2@8 a0.3@20#2 a0.4@50#2", &t);
}
END_TEST

/* --- contract -------------------------------------------------------------------------------------------------------
 */

/* The next turn of the run of `before`, or a first one. */
static struct policy_call *turn_after(const struct policy_call *before, double input)
{
    struct policy_call *call = bench_call(&bench, input, 0, 0);
    if (before) {
        call->run_state = before->run_state;
        call->turn = before->turn + 1;
    }
    return call;
}

static struct policy_call *turn(const struct policy_call *before, double input)
{
    struct policy_call *call = turn_after(before, input);
    ck_assert(bench_enters(&bench, call, 0));
    bench_serves(call, 0);
    bench_ends(&bench, call, 0, POLICY_DONE);
    return call;
}

static void expect_reject(struct policy_call *call, const char *reason)
{
    struct policy_answer answer = bench_attempts(&bench, call, 0);
    ck_assert_int_eq(answer.action, POLICY_REJECT);
    ck_assert_str_eq(answer.reason, reason);
}

START_TEST(three_turns_of_exactly_fifty_thousand)
{
    struct policy_call *call;
    bench = bench_of("contract", NULL);
    call = turn(turn(turn(NULL, 20000), 20000), 10000);
    expect_reject(turn_after(call, 0), "iterations");
    ck_assert(gauge("rejected_iterations") == 1 && gauge("broken") == 1 && gauge("wasted") == 50000);
    call = turn(turn(NULL, 20000), 20000);
    expect_reject(turn_after(call, 10001), "tokens");
    ck_assert(gauge("rejected_tokens") == 1 && gauge("broken") == 2 && gauge("wasted") == 90000);
    expect_reject(turn_after(call, 10001), "tokens"); /* it was counted */
    ck_assert(gauge("rejected_tokens") == 2 && gauge("broken") == 2 && gauge("wasted") == 90000);
    bench_free(&bench);
}
END_TEST

START_TEST(retries_are_the_same_iteration)
{
    struct policy_call *call;
    bench = bench_of("contract", "iterations", "2", NULL);
    call = bench_call(&bench, 10000, 0, 0);
    for (int action = POLICY_HOLD; action <= POLICY_REJECT; action++) {
        ck_assert_int_eq(bench_attempts(&bench, call, 0).action, POLICY_ADMIT);
        bench_refuses(&bench, call, 0, (enum policy_action)action);
    }
    for (int i = 0; i < 5; i++) {
        ck_assert(bench_enters(&bench, call, 0));
        bench_serves(call, 0);
        bench_ends(&bench, call, 0, POLICY_TIMEOUT); /* a server has worked: 10,000 each */
    }
    expect_reject(call, "tokens");
    call = turn(call, 0); /* and yet it was one iteration */
    expect_reject(turn_after(call, 0), "iterations");
    bench_free(&bench);
}
END_TEST

static double contract_paid(bool served, enum policy_end end, double real)
{
    struct policy_call *call = bench_call(&bench, 100, 0, 0);
    double used = 1000;
    ck_assert(bench_enters(&bench, call, 0));
    if (served)
        bench_serves(call, 0);
    bench_ends_with(&bench, call, 0, end, real, 0, real * 0);
    bench_ends(&bench, call, 0, POLICY_ABANDONED); /* held again: it has nothing to end */
    while (used > -1000 && bench_attempts(&bench, turn_after(call, 100000 - used), 0).action == POLICY_ADMIT)
        used--;
    return used + 1; /* 100,000 less what is left */
}

START_TEST(every_end_of_a_run_settles)
{
    bench = bench_of("contract", "tokens", "100k", NULL);
    check_ends(contract_paid);
    bench_free(&bench);
}
END_TEST

/* Fanned out: what is under way when the run is rejected is wasted too, by what it takes in the end. */
START_TEST(waste_is_settled_too)
{
    struct policy_call *one, *other;
    bench = bench_of("contract", NULL);
    one = bench_call(&bench, 20000, 0, 0);
    other = turn_after(one, 30000);
    other->turn = one->turn;
    ck_assert(bench_enters(&bench, one, 0) && bench_enters(&bench, other, 0));
    bench_serves(one, 0);
    bench_ends_with(&bench, one, 0, POLICY_DONE, 70000, 0, 5000); /* above its tokens: it is not stopped */
    expect_reject(turn_after(one, 1), "tokens");
    ck_assert_double_eq(gauge("wasted"), 105000);
    bench_ends(&bench, other, 0, POLICY_SHED);
    ck_assert_double_eq(gauge("wasted"), 75000);
    bench_free(&bench);
}
END_TEST

/* A run without end has a contract for each turn. */
START_TEST(an_endless_run)
{
    struct policy_run run = {.turns = (double)INFINITY};
    struct policy_call *call;
    bench = bench_of("contract", "tokens", "20k", "iterations", "1", NULL);
    call = bench_call(&bench, 15000, 0, 0);
    run.run_state = call->run_state;
    ck_assert_int_eq(bench.ops->run_admit(&bench.self, &bench.view, &run).action, POLICY_ADMIT);
    for (int i = 0; i < 20; i++) {
        ck_assert(bench_enters(&bench, call, 0));
        bench_serves(call, 0);
        bench_ends(&bench, call, 0, POLICY_TIMEOUT);
        expect_reject(call, "tokens");
        call = turn_after(call, 15000);
    }
    ck_assert(gauge("broken") == 20 && gauge("wasted") == 300000);
    run.turns = 30;
    bench.ops->run_admit(&bench.self, &bench.view, &run);
    expect_reject(call, "iterations");
    bench_free(&bench);
}
END_TEST

START_TEST(no_bounds)
{
    struct policy_call *call = NULL;
    bench = bench_of("contract", "tokens", "inf", "iterations", "inf", NULL);
    for (int i = 0; i < 1000; i++)
        call = turn(call, 0x1p40);
    bench_free(&bench);
    bench = bench_of("cost_bucket", "burst", "inf", NULL);
    bench_begins(&bench);
    for (int i = 0; i < 1000; i++)
        enter(1e30, i);
    bench_free(&bench);
}
END_TEST

/* Turns of 10 s with 1 s before each; the fourth turn is rejected, and with it the run: 30,000 tokens for nothing. The
 * second run goes the same way. */
START_TEST(runs_that_break_their_contract)
{
    struct timeline t;
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, rate: 1000 tokens/s}}\n"
                    "agents: {a: {population: 1, runs: 2, turns: constant(5), think: constant(1 s), output: 10000}}\n"
                    "policies: [c: [contract,\n"
                    "  meddler: {name: a, does: read, of: contract, key: wasted, value: 0, when: 33.5 s},\n"
                    "  meddler: {name: b, does: read, of: contract, key: wasted, value: 30000, when: 60 s},\n"
                    "  meddler: {name: c, does: read, of: contract, key: broken, value: 1, when: 60 s}]]\n",
                    "meddler", "a0@1 a0.1@12 a0.2@23 a0.4@35 a0.5@46 a0.6@57", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 68);
    ck_assert_double_eq_tol(t.values[METRIC_WASTED_TOKENS], 60000.0 / 68, 1e-9);
    ck_assert_double_eq_tol(t.values[METRIC_LOST_TURNS], 2 * 3600.0 / 68, 1e-9);
    ck_assert_double_eq(t.values[METRIC_RUNS_PER_H], 0);
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, rate: 1000 tokens/s}}\n"
                    "agents: {a: {population: 1, runs: 1, turns: constant(3), think: constant(1 s), output: 10000}}\n"
                    "policies: [contract: {tokens: 29999}]\n",
                    NULL, "a0@1 a0.1@12", &t);
    timeline_expect("study: {horizon: 50 s}\nbackends: {b: {kind: slots, servers: 1, rate: 1000 tokens/s}}\n"
                    "agents: {a: {population: 1, think: constant(1 s), output: 10000}}\n" /* endless */
                    "policies: [contract: {tokens: 10000, iterations: 1}]\n",
                    NULL, "a0@1 a0.1@12 a0.2@23 a0.3@34 a0.4@45", &t);
}
END_TEST

Suite *cost_bucket_suite(void)
{
    Suite *suite = suite_create("cost_bucket");
    TCase *session = tcase_create("session"), *run = tcase_create("run"), *trials = tcase_create("trials");
    tcase_add_test(session, reserves_and_settles);
    tcase_add_test(session, stops_the_next_call_not_this_one);
    tcase_add_test(session, an_estimate_above_the_burst_waits_until_it_is_full);
    tcase_add_test(session, tokens_are_weighted);
    tcase_add_test(session, every_end_of_a_session_settles);
    tcase_add_test(session, refunds_up_to_full);
    tcase_add_test(session, a_session_is_steered);
    tcase_add_test(run, three_turns_of_exactly_fifty_thousand);
    tcase_add_test(run, retries_are_the_same_iteration);
    tcase_add_test(run, every_end_of_a_run_settles);
    tcase_add_test(run, waste_is_settled_too);
    tcase_add_test(run, an_endless_run);
    tcase_add_test(run, no_bounds);
    tcase_add_test(trials, a_session_of_7500_tokens_a_second);
    tcase_add_test(trials, runs_that_break_their_contract);
    suite_add_tcase(suite, session);
    suite_add_tcase(suite, run);
    suite_add_tcase(suite, trials);
    return suite;
}
