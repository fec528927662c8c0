/* test_run_budget_trials.c - whole runs at the door against calls held inside, simulated. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/model.h"
#include "tests/suites.h"

/* 1.5 times what 2 M tokens a minute carry. A call is held for a minute at most and tried three times; then its run is
 * lost. At the door a run tries three times, too. */
static const char load[] =
    "study: {horizon: 5 h, warmup: 2 h, replications: 1, seed: 1}\n"
    "backends: {pool: {kind: provider, meters: {input: {limit: 2M tokens/min, burst: 200k}}, latency: {base: 1.7 s}}}\n"
    "agents: {run: {arrivals: poisson(150/h), turns: lognormal(40 cv 0.5), think: exponential(2.3 s), output: 400,\n"
    "               input: {start: 30k}, client: {attempts: 3, hold_cap: 1 min}}}\n"
    "policies:\n"
    "  - inside: [token_bucket: {meter: input, rate: 2M/min, burst: 200k}]\n"
    "  - door: [run_budget: {}, token_bucket: {meter: input, rate: 2M/min, burst: 200k}]\n"
    "  - history: [run_budget: {estimate: history, error: 0.2}, token_bucket: {meter: input, rate: 2M/min, burst: "
    "200k}]\n"
    "  - minute: [run_budget: {reading: minute}, token_bucket: {meter: input, rate: 2M/min, burst: 200k}]\n";

START_TEST(the_door_makes_no_zombies)
{
    struct plan plan = model_plan(load);
    double rows[4][METRIC_COUNT * 4];
    for (size_t i = 0; i < 4; i++) {
        model_trial(&plan, i, 1, rows[i]);
        ck_assert_double_eq(rows[i][METRIC_PROVIDER_429S], 0);
    }
    ck_assert_double_gt(rows[0][METRIC_WASTED_SHARE], 0.2);
    ck_assert_double_eq(rows[0][METRIC_RUNS_REFUSED], 0);
    ck_assert_double_gt(rows[0][METRIC_TOTAL_WAIT_P99], 60);
    for (size_t i = 1; i < 4; i++) {
        ck_assert_double_eq(rows[i][METRIC_WASTED_SHARE], 0);
        ck_assert_double_gt(rows[i][METRIC_RUNS_REFUSED], 0);
        ck_assert_double_lt(rows[i][METRIC_TOTAL_WAIT_P99], 5); /* held for a moment, until the bucket is full again */
    }
    /* four runs of 15 turns a minute are the most that fit into 2 M: a turn a second, if the fourth is always there */
    ck_assert_double_gt(rows[1][METRIC_GOODPUT], 0.8);
    ck_assert_double_lt(rows[1][METRIC_GOODPUT], 1.02);
    ck_assert_double_gt(rows[1][METRIC_RUNS_PER_H], rows[0][METRIC_RUNS_PER_H]);
    ck_assert_double_lt(rows[3][METRIC_GOODPUT], 0.8 * rows[1][METRIC_GOODPUT]); /* the word of the code wastes quota */
    plan_fini(&plan);
}
END_TEST

/* With limits that never bind each of them is `unbounded`, digit for digit: here, where nobody has to be told apart. */
START_TEST(infinite_parameters_equal_unbounded)
{
    static const char *const none[] = {"shares: {rate: inf}",     "shares: {rate: inf, borrow: true, answer: defer}",
                                       "tenant_cap: {cap: inf}",  "shed_by_value: {waiting: inf}",
                                       "priority: {target: inf}", "run_budget: {quota: inf, error: 0.3}"};
    char yaml[1024];
    struct plan plan;
    double free_of[METRIC_COUNT * 8], bound[METRIC_COUNT * 8];
    size_t rows;
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 4000 s, warmup: 100 s}\nbackends: {b: {kind: slots, servers: 4, rate: 39 tokens/s}}\n"
             "agents: {a: {population: 12, think: exponential(4.5 s), output: exponential(354), tenant: x},\n"
             "         c: {arrivals: poisson(200/h), turns: constant(3), think: constant(1 s), output: "
             "exponential(100), tenant: y}}\n"
             "policies: [unbounded, %s]\n",
             none[_i]);
    plan = model_plan(yaml);
    rows = trial_row_count(plan.points[0].scenario);
    ck_assert_uint_le(rows, 8);
    model_trial(&plan, 0, 1, free_of);
    model_trial(&plan, 1, 1, bound);
    ck_assert_mem_eq(free_of, bound, rows * METRIC_COUNT * sizeof *bound);
    plan_fini(&plan);
}
END_TEST

Suite *run_budget_trials_suite(void)
{
    Suite *suite = suite_create("run_budget_trials");
    TCase *test = tcase_create("run_budget_trials");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, the_door_makes_no_zombies);
    tcase_add_loop_test(test, infinite_parameters_equal_unbounded, 0, 6);
    suite_add_tcase(suite, test);
    return suite;
}
