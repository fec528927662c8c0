/* test_line_laws.c - what theory says of every policy that orders or bounds a line: the mean wait of an open system
 * does not move, one flow is first come, first served, no limit is no policy, and some policies are others in disguise.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/stats/theory.h"
#include "tests/model.h"
#include "tests/suites.h"

enum { REPLICATIONS = 10, ROWS_MOST = 16 };

/* --- the mean wait of an open system ----------------------------------------------------------------------------- */

/* Orders that do not look at the sizes of those that wait (for `deadline` see test_deadline.c). */
static const char *const orders[] = {
    "lifo",
    "adaptive_lifo: {switch_at: 3}",
    "by_priority",
    "fair_queue: {by: class}",
    "fair_queue: {by: class, weights: value}",
    "fq_codel: {by: class, quantum: 150, target: inf}",
    "least_attained_service: {by: class, half_life: 10 s}",
};

enum { ORDERS = sizeof orders / sizeof *orders };

/* Three classes of the same sizes, which makes one stream of them for the servers. */
static struct plan open_system(const char *servers, const char *output, const char *policy)
{
    char yaml[2048];
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 21000 s, warmup: 1000 s}\n"
             "backends: {b: {kind: slots, servers: %s, rate: 1000 tokens/s}}\n"
             "agents:\n"
             "  a: {arrivals: poisson(1.6/s), output: %s, priority: 1, value: 5}\n"
             "  b: {arrivals: poisson(0.8/s), output: %s, priority: 2}\n"
             "  c: {arrivals: poisson(0.8/s), output: %s, priority: 3}\n"
             "policies: [unbounded, o: [%s]]\n",
             servers, output, output, output, policy);
    return model_plan(yaml);
}

static void expect_theory(const struct plan *plan, size_t order, double wait)
{
    struct model_estimate goodput = model_metric(plan, 1, REPLICATIONS, METRIC_GOODPUT),
                          mean = model_metric(plan, 1, REPLICATIONS, METRIC_WAIT_MEAN);
    ck_assert_msg(fabs(mean.mean - wait) <= 4 * mean.error, "%s: mean wait %g, theory %g, error %g", orders[order],
                  mean.mean, wait, mean.error);
    ck_assert_double_lt(mean.error, 0.03 * wait);
    ck_assert_double_le(fabs(goodput.mean - 3.2), 4 * goodput.error);
}

/* The order is another one: the spread of waits is not that of first come, first served. */
static void expect_another_order(const struct plan *plan, size_t order)
{
    double first[METRIC_COUNT * ROWS_MOST], other[METRIC_COUNT * ROWS_MOST];
    model_trial(plan, 0, 1, first);
    model_trial(plan, 1, 1, other);
    ck_assert_msg(fabs(other[METRIC_WAIT_P99] / first[METRIC_WAIT_P99] - 1) > 0.02, "%s is first come, first served",
                  orders[order]);
}

START_TEST(mmc_whatever_the_order)
{
    struct plan plan = open_system("4", "exponential(1000)", orders[_i]);
    expect_theory(&plan, (size_t)_i, theory_mmc_wait(4, 3.2, 1));
    expect_another_order(&plan, (size_t)_i);
    plan_fini(&plan);
}
END_TEST

START_TEST(mg1_whatever_the_order)
{
    struct plan plan = open_system("1", "lognormal(200 cv 1.5)", orders[_i]);
    expect_theory(&plan, (size_t)_i, theory_mg1_wait(3.2, 0.2, 1.5));
    plan_fini(&plan);
}
END_TEST

/* M/G/4 has no closed form: the differences to first come, first served, under the same random numbers. */
START_TEST(mgc_whatever_the_order)
{
    struct plan plan =
        open_system("4", "mixture(0.7 lognormal(350 cv 0.45) | 0.3 lognormal(2500 cv 0.35))", orders[_i]);
    double sum = 0, squares = 0, waits = 0, first[METRIC_COUNT * ROWS_MOST], other[METRIC_COUNT * ROWS_MOST];
    for (uint32_t i = 1; i <= REPLICATIONS; i++) {
        model_trial(&plan, 0, i, first);
        model_trial(&plan, 1, i, other);
        double difference = other[METRIC_WAIT_MEAN] - first[METRIC_WAIT_MEAN];
        sum += difference;
        squares += difference * difference;
        waits += first[METRIC_WAIT_MEAN];
        ck_assert_double_le(fabs(other[METRIC_GOODPUT] / first[METRIC_GOODPUT] - 1), 0.002);
    }
    double mean = sum / REPLICATIONS;
    double error = sqrt((squares / REPLICATIONS - mean * mean) / (REPLICATIONS - 1));
    ck_assert_msg(fabs(mean) <= 4 * error, "%s: %g +- %g", orders[_i], mean, error);
    ck_assert_double_lt(error, 0.03 * waits / REPLICATIONS);
    plan_fini(&plan);
}
END_TEST

/* --- digit for digit --------------------------------------------------------------------------------------------- */

/* Two alternatives of one world agree in every number of every row. */
static void expect_equal(const char *world, const char *one, const char *other)
{
    static double a[METRIC_COUNT * ROWS_MOST], b[METRIC_COUNT * ROWS_MOST];
    char yaml[4096];
    struct plan plan;
    snprintf(yaml, sizeof yaml, "%spolicies: [a: [%s], b: [%s]]\n", world, one, other);
    plan = model_plan(yaml);
    ck_assert_uint_le(trial_row_count(plan.points[0].scenario), ROWS_MOST);
    for (uint32_t replication = 1; replication <= 2; replication++) {
        model_trial(&plan, 0, replication, a);
        model_trial(&plan, 1, replication, b);
        for (size_t k = 0; k < METRIC_COUNT * trial_row_count(plan.points[0].scenario); k++)
            ck_assert_msg(a[k] == b[k] || (isnan(a[k]) && isnan(b[k])), "%s, %s: %s: %.17g and %.17g", one, other,
                          metrics[k % METRIC_COUNT].name, a[k], b[k]);
    }
    ck_assert(a[METRIC_WAIT_MEAN] > 0.1 || a[METRIC_DEFERRED_SHARE] > 0.1);
    ck_assert_double_gt(a[METRIC_LOST_TURNS], 1);
    plan_fini(&plan);
}

/* Clients give up in line and in service, and try again. */
#define ALONE \
    "study: {horizon: 6000 s, warmup: 300 s}\n" \
    "backends: {card: {kind: slots, servers: 3, rate: 40 tokens/s}}\n" \
    "agents:\n" \
    "  coder: {population: 14, turns: geometric(9), think: exponential(3 s), output: exponential(200),\n" \
    "          input: {start: 900, per_turn: 300}, client: {base: 2 s, timeout: 25 s, attempts: 3}}\n"

#define CROWD \
    "study: {horizon: 3000 s, warmup: 300 s}\n" \
    "backends:\n" \
    "  card: {kind: slots, servers: 3, rate: 40 tokens/s}\n" \
    "  other: {kind: slots, servers: 2, step_time: {base: 10 ms, per_busy_slot: 5 ms}}\n" \
    "agents:\n" \
    "  endless: {population: 12, think: exponential(3 s), output: exponential(200), backend: card, tenant: red,\n" \
    "            client: {base: 2 s, timeout: 25 s, attempts: 5}}\n" \
    "  runs: {population: 6, turns: geometric(4), think: exponential(2 s), output: exponential(150), backend: card,\n" \
    "         tenant: blue, priority: 2, client: {base: 1 s, timeout: 20 s, attempts: 4}}\n" \
    "  arriving: {arrivals: poisson(1/s), turns: constant(2), think: constant(1 s), output: exponential(100),\n" \
    "             backend: other, tenant: red, client: {base: 1 s, timeout: 6 s, attempts: 3}}\n"

START_TEST(one_flow_is_first_come_first_served)
{
    static const char *const policies[] = {
        "by_priority",
        "fair_queue: {by: class}",
        "fair_queue: {by: tenant, weights: value}",
        "fq_codel: {by: class, target: inf}",
        "fq_codel: {by: tenant, quantum: 1, interval: inf}",
        "least_attained_service: {by: class}",
        "least_attained_service: {by: tenant, half_life: 1 s}",
        "adaptive_lifo: {switch_at: inf}",
        "deadline",
    };
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        expect_equal(ALONE, "unbounded", policies[i]);
}
END_TEST

START_TEST(no_limit_is_no_policy)
{
    static const char *const policies[] = {
        "bounded_queue: {calls: inf}",
        "adaptive_lifo: {switch_at: inf}",
        "deadline",
        "deadline: {refuse: false}",
        "fq_codel: {by: class, target: inf, at: other}",
        "fair_queue: {by: class, at: other}",
    };
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        expect_equal(CROWD, "unbounded", policies[i]);
}
END_TEST

START_TEST(policies_in_disguise)
{
    /* Three servers, and so many in line; with retries and timeouts. */
    expect_equal(ALONE, "fixed_cap: {cap: 3}", "bounded_queue: {calls: 0}");
    expect_equal(ALONE, "fixed_cap: {cap: 8}", "bounded_queue: {calls: 5}");
    /* The newest always. */
    expect_equal(CROWD, "lifo", "adaptive_lifo: {switch_at: 0}");
    /* A single flow has the CoDel of a whole line. */
    expect_equal(ALONE, "codel: {preset: slots}", "fq_codel: {preset: slots, by: class}");
    expect_equal(ALONE, "codel: {target: 3 s, interval: 5 s}",
                 "fq_codel: {target: 3 s, interval: 5 s, by: tenant, quantum: 7}");
    expect_equal(ALONE, "codel", "fq_codel: {by: class}");
}
END_TEST

Suite *line_laws_suite(void)
{
    Suite *suite = suite_create("line_laws");
    TCase *test = tcase_create("line_laws");
    tcase_add_loop_test(test, mmc_whatever_the_order, 0, ORDERS);
    tcase_add_loop_test(test, mg1_whatever_the_order, 0, ORDERS);
    tcase_add_loop_test(test, mgc_whatever_the_order, 0, ORDERS);
    tcase_add_test(test, one_flow_is_first_come_first_served);
    tcase_add_test(test, no_limit_is_no_policy);
    tcase_add_test(test, policies_in_disguise);
    suite_add_tcase(suite, test);
    return suite;
}
