/* test_chains.c - the policies of a client's side (buckets, contract, budget, breaker) in one chain: with bounds that
 * are met, and with none that is. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "tests/model.h"
#include "tests/suites.h"

#define WORLD \
    "study: {horizon: 3000 s, warmup: 300 s}\n" \
    "backends:\n" \
    "  card: {kind: slots, servers: 3, rate: 40 tokens/s}\n" \
    "  other: {kind: slots, servers: 2, step_time: {base: 10 ms, per_busy_slot: 5 ms}}\n" \
    "agents:\n" \
    "  endless: {population: 12, think: exponential(3 s), output: exponential(200), backend: card, tenant: red,\n" \
    "            client: {base: 2 s, timeout: 25 s, hold_cap: 8 s}}\n" \
    "  runs: {population: 6, turns: geometric(4), think: exponential(2 s), output: exponential(150), backend: card,\n" \
    "         tenant: blue, client: {base: 1 s, attempts: 4}}\n" \
    "  arriving: {arrivals: poisson(0.3/s), turns: constant(2), think: constant(1 s), output: exponential(100),\n" \
    "             backend: other, tenant: red, client: {base: 1 s, timeout: 6 s, attempts: 3, hold_cap: 3 s}}\n"

/* All in one chain, each with bounds that are met: the host's identities are asserted in each trial. */
START_TEST(all_in_one_chain)
{
    static const char *const chains[] = {
        "retry_budget: {preset: slots}, breaker, contract: {tokens: 700}, token_bucket: {meter: requests, rate: 40/min,"
        " burst: 6}, gcra: {meter: output, rate: 100/s, burst: 900, answer: defer}, cost_bucket: {preset: slots}",
        "cost_bucket: {rate: 20 tokens/s, burst: 900, scope: class}, gcra: {meter: requests, rate: 30/min, burst: 4,"
        " scope: tenant}, token_bucket: {meter: tokens_in_flight, burst: 1500, poll: 500 ms, scope: all}, contract:"
        " {iterations: 2, scope: all}, breaker: {failures: 2, count: within, scope: agent}, retry_budget: {least:"
        " 0.1/s, scope: class}"};
    char yaml[4096];
    double values[METRIC_COUNT * 16];
    for (size_t i = 0; i < 2; i++) {
        struct plan plan;
        snprintf(yaml, sizeof yaml, WORLD "policies: [c: [%s]]\n", chains[i]);
        plan = model_plan(yaml);
        for (uint32_t replication = 1; replication <= 3; replication++) {
            model_trial(&plan, 0, replication, values);
            ck_assert_double_gt(values[METRIC_GOODPUT], 0.05);
            ck_assert_double_gt(values[METRIC_DEFERRED_SHARE], 0.01);
            ck_assert_double_gt(values[METRIC_LOST_TURNS], 1);
        }
        plan_fini(&plan);
    }
}
END_TEST

/* And with none that is: the digits of `unbounded`, with timeouts, runs and a door. */
START_TEST(without_bounds_equal_unbounded)
{
    static const char *const chains[] = {"token_bucket: {rate: inf}",
                                         "token_bucket: {meter: tokens_in_flight, burst: inf}",
                                         "token_bucket: {meter: output, counts: after, rate: inf, scope: agent}",
                                         "gcra: {rate: inf}",
                                         "gcra: {burst: inf, scope: tenant}",
                                         "cost_bucket: {rate: inf}",
                                         "cost_bucket: {burst: inf, scope: agent}",
                                         "contract: {tokens: inf, iterations: inf}",
                                         "retry_budget: {attempts: inf, least: inf}",
                                         "breaker: {failures: inf}",
                                         ("retry_budget: {attempts: inf, least: inf}, breaker: {failures: inf}, "
                                          "contract: {tokens: inf, iterations: inf},"
                                          " token_bucket: {burst: inf}, gcra: {burst: inf}, cost_bucket: {rate: inf}")};
    static double a[METRIC_COUNT * 16], b[METRIC_COUNT * 16];
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        char yaml[4096];
        struct plan plan;
        snprintf(yaml, sizeof yaml, WORLD "policies: [unbounded, c: [%s]]\n", chains[i]);
        plan = model_plan(yaml);
        model_trial(&plan, 0, 1, a);
        model_trial(&plan, 1, 1, b);
        for (size_t k = 0; k < METRIC_COUNT * trial_row_count(plan.points[0].scenario); k++)
            ck_assert_msg(a[k] == b[k] || (isnan(a[k]) && isnan(b[k])), "%s: %s: %.17g and %.17g", chains[i],
                          metrics[k % METRIC_COUNT].name, a[k], b[k]);
        plan_fini(&plan);
    }
}
END_TEST

Suite *chains_suite(void)
{
    Suite *suite = suite_create("chains");
    TCase *test = tcase_create("chains");
    tcase_add_test(test, all_in_one_chain);
    tcase_add_test(test, without_bounds_equal_unbounded);
    suite_add_tcase(suite, test);
    return suite;
}
