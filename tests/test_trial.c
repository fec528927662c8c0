/* Whole trials against what they must be: path oracles customer by customer, hand-worked cases, and what may not change
 * a path. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define CUSTOMERS 50000

/* Arrivals and services in the order in which service began, with the wait that the simulation gave. */
struct path {
    sim_time joined[CUSTOMERS], service[CUSTOMERS], wait[CUSTOMERS];
    size_t count;
};

static struct path path;

static void started(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct path *p = context;

    ck_assert_uint_eq(gate, 0);
    if (p->count == CUSTOMERS)
        return;
    p->joined[p->count] = call->joined;
    p->wait[p->count] = call->started - call->joined;
    p->service[p->count++] = service;
}

static void follow(const struct plan *plan, size_t point)
{
    static double values[METRIC_COUNT * 8];
    struct trial_watch watch = {.started = started, .context = &path};

    memset(&path, 0, sizeof path);
    ck_assert_int_eq(trial_simulate(plan->points[point].scenario, 1, &watch, values), TRIAL_ENDED);
}

/* First come, first served: joined in order, and every wait is the oracle's to the nanosecond. */
static void check_path(const char *yaml, uint32_t servers)
{
    static sim_time waits[CUSTOMERS];
    struct plan plan = model_plan(yaml);

    follow(&plan, 0);
    ck_assert_uint_eq(path.count, CUSTOMERS);
    if (servers == 1)
        oracle_lindley(path.joined, path.service, path.count, waits);
    else
        oracle_kiefer_wolfowitz(path.joined, path.service, path.count, servers, waits);
    for (size_t i = 0; i < path.count; i++) {
        ck_assert(i == 0 || path.joined[i] >= path.joined[i - 1]);
        ck_assert_int_eq(path.wait[i], waits[i]);
    }
    plan_fini(&plan);
}

START_TEST(lindley_open)
{
    check_path("study: {horizon: 100000 s}\nbackends: {b: {kind: slots, servers: 1, service: exponential(0.9 s)}}\n"
               "agents: {a: {arrivals: poisson(1/s)}}\n",
               1);
}
END_TEST

START_TEST(kiefer_wolfowitz_open)
{
    check_path("study: {horizon: 100000 s}\n"
               "backends: {b: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
               "agents: {a: {arrivals: poisson(0.85/s), output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 "
               "lognormal(900 cv 0.35))}}\n",
               8);
}
END_TEST

START_TEST(kiefer_wolfowitz_closed)
{
    check_path("study: {horizon: 100000 s}\n"
               "backends: {b: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
               "agents: {a: {population: 20, think: exponential(4.5 s), output: exponential(354)}}\n",
               8);
}
END_TEST

/* --- hand-worked ------------------------------------------------------------------------------------------------- */

START_TEST(three_runs_one_server)
{
    struct plan plan = model_plan("study: {until: done, most: 1 h}\n"
                                  "backends: {b: {kind: slots, servers: 1, service: constant(2 s)}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n");
    double v[METRIC_COUNT];

    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 6);
    ck_assert_double_eq(v[METRIC_GOODPUT], 0.5);
    ck_assert_double_eq(v[METRIC_WAIT_MEAN], 2);
    ck_assert_double_eq(v[METRIC_RESPONSE_MEAN], 4);
    ck_assert_double_eq(v[METRIC_UTILISATION], 1);
    ck_assert_double_eq(v[METRIC_IN_SYSTEM_MEAN], 2); /* 3, 2, 1 for two seconds each */
    ck_assert_double_eq(v[METRIC_UNFINISHED], 0);
    ck_assert(isnan(v[METRIC_WAIT_P99])); /* three calls are no ground for a p99 */
    plan_fini(&plan);
}
END_TEST

START_TEST(most_ends_a_terminating_study)
{
    struct plan plan = model_plan("study: {until: done, most: 3 s}\n"
                                  "backends: {b: {kind: slots, servers: 1, service: constant(2 s)}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n");
    double v[METRIC_COUNT];

    model_trial(&plan, 0, 1, v);
    ck_assert(isnan(v[METRIC_MAKESPAN]));
    ck_assert_double_eq(v[METRIC_UNFINISHED], 2);
    ck_assert_double_eq(v[METRIC_CENSORED], 1); /* one waits, one is being served */
    ck_assert_double_eq(v[METRIC_CENSORED_AGE], 3);
    plan_fini(&plan);
}
END_TEST

/* A finite job of 10 runs of 3 turns, by 2 agents, thinking 1 s before each turn and served 2 s without queueing. */
START_TEST(finite_job_of_a_population)
{
    struct plan plan = model_plan("study: {until: done}\n"
                                  "backends: {b: {kind: slots, servers: 2, service: constant(2 s)}}\n"
                                  "agents: {a: {population: 2, runs: 10, turns: constant(3), think: constant(1 s)}}\n");
    double v[METRIC_COUNT];

    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 45);
    ck_assert_double_eq_tol(v[METRIC_GOODPUT], 30.0 / 45, 1e-12);
    ck_assert_double_eq_tol(v[METRIC_RUNS_PER_H], 10 * 3600.0 / 45, 1e-9);
    plan_fini(&plan);
}
END_TEST

/* (warm-up, horizon]: a turn answered at the warm-up is not counted, one answered at the horizon is. */
START_TEST(window_is_open_at_its_start)
{
    struct plan plan = model_plan("study: {horizon: 12 s, warmup: 3 s}\n"
                                  "backends: {b: {kind: slots, servers: 1, service: constant(2 s)}}\n"
                                  "agents: {a: {population: 1, think: constant(1 s)}}\n");
    double v[METRIC_COUNT];

    model_trial(&plan, 0, 1, v); /* answers at 3, 6, 9, 12 */
    ck_assert_double_eq_tol(v[METRIC_GOODPUT], 3.0 / 9, 1e-12);
    ck_assert_double_eq_tol(v[METRIC_UTILISATION], 6.0 / 9, 1e-12);
    plan_fini(&plan);
}
END_TEST

/* Speed by occupancy: alone a token takes 17 ms, two together 18 ms each. */
START_TEST(step_time_by_occupancy)
{
    struct plan plan = model_plan("study: {until: done}\n"
                                  "backends: {b: {kind: slots, servers: 2, step_time: {base: 16 ms, per_busy_slot: 1 "
                                  "ms}}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 1, output: 1000},\n"
                                  "         b: {arrivals: all_at(0 s), runs: 1, output: 500}}\n");
    double v[METRIC_COUNT * 3];

    model_trial(&plan, 0, 1, v);
    /* 500 tokens each at 18 ms, then 500 more alone at 17 ms */
    ck_assert_double_eq_tol(v[METRIC_MAKESPAN], 500 * 0.018 + 500 * 0.017, 1e-8);
    ck_assert_double_eq_tol(v[2 * METRIC_COUNT + METRIC_RESPONSE_MEAN], 9, 1e-8);
    plan_fini(&plan);
}
END_TEST

/* --- what may not change a path ------------------------------------------------------------------------------------
 */

static const char *const card = "study: {horizon: 6000 s, warmup: 100 s}\n"
                                "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
                                "agents: {coder: {population: 24, think: exponential(4.5 s), output: exponential(354), "
                                "client: {base: 16 s, cap: 120 s}}}\n";

static void same_digits(const char *policies)
{
    char yaml[2048];
    double a[METRIC_COUNT], b[METRIC_COUNT];
    struct plan plan;

    snprintf(yaml, sizeof yaml, "%spolicies: [unbounded, %s]\n", card, policies);
    plan = model_plan(yaml);
    ck_assert_uint_eq(plan.point_count, 2);
    model_trial(&plan, 0, 3, a);
    model_trial(&plan, 1, 3, b);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        ck_assert_msg(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])), "%s: %.17g and %.17g", metrics[i].name, a[i], b[i]);
    plan_fini(&plan);
}

START_TEST(infinite_parameters_equal_unbounded)
{
    same_digits("fixed_cap: {cap: inf}");
    same_digits("codel: {law: persist, sheds_at: submission, target: 1000 s, interval: 1000 s}");
    same_digits("codel: {law: rfc8289, sheds_at: dequeue, target: 1000 s, interval: 1000 s}");
    same_digits("both: [fixed_cap: {cap: inf}, unbounded]");
}
END_TEST

/* The message names the policy and whose loop it is; `calm` has had more turns than they. */
static void expect_loop(const char *backend, const char *policy, const char *turn)
{
    char yaml[1024], wrong[512] = "";
    struct trial_watch watch = {.wrong = wrong, .wrong_size = sizeof wrong};
    double v[METRIC_COUNT * 8];
    struct plan plan;

    snprintf(yaml, sizeof yaml,
             "study: {horizon: 20000 s}\n"
             "backends: {b: {kind: slots, servers: 40000, %s}, c: {kind: slots, servers: 1, service: constant(0 s)}}\n"
             "agents: {calm: {population: 20, think: constant(1 s), output: 0, backend: c},\n"
             "         hot: {population: 30, think: constant(0 s), output: 0, start: 10000.5 s, backend: b}}\n"
             "policies: [%s]\n",
             backend, policy);
    plan = model_plan_with(yaml, "porter");
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, v), TRIAL_WRONG);
    ck_assert_msg(strstr(wrong, "events at one instant, 10000.500000000 s") && strstr(wrong, "class `hot`, agent ") &&
                      strstr(wrong, turn),
                  "%s", wrong);
    plan_fini(&plan);
}

START_TEST(a_loop_without_progress_is_a_message)
{
    expect_loop("service: constant(0 s)", "unbounded", "policy `unbounded`");
    expect_loop("step_time: {base: 10 ms, per_busy_slot: 1 ms}", "unbounded", ", turn 1");
    expect_loop("service: constant(0 s)", "none: [porter: {answer: reject, at: b}]", "policy `none`");
}
END_TEST

/* --- rows and sums -------------------------------------------------------------------------------------------------
 */

/* Each kind of row splits the same whole. */
START_TEST(rows_add_up)
{
    static const enum metric_index sums[] = {METRIC_GOODPUT,       METRIC_GOODPUT_TOKENS, METRIC_RUNS_PER_H,
                                             METRIC_LOST_TURNS,    METRIC_CENSORED,       METRIC_UNFINISHED,
                                             METRIC_WASTED_TOKENS, METRIC_RUNS_REFUSED};
    static const size_t groups[] = {4, 3, 2}; /* classes, tenants, backends */
    static double v[METRIC_COUNT * 10];
    struct plan plan = model_plan_with(
        "study: {until: done, most: 60 s}\n"
        "backends: {x: {kind: slots, servers: 1, rate: 30 tokens/s}, y: {kind: slots, servers: 2, rate: 50 tokens/s}}\n"
        "agents:\n"
        "  a: {arrivals: all_at(0 s), runs: 80, output: 200, tenant: t, backend: x, client: {attempts: 4}}\n"
        "  b: {arrivals: all_at(1 s), runs: 90, output: 100, tenant: s, backend: y}\n"
        "  c: {arrivals: all_at(2 s), runs: 70, turns: constant(3), think: 2 s, output: 300, tenant: r, backend: x}\n"
        "  d: {arrivals: all_at(3 s), runs: 60, output: 1000, tenant: t, backend: y,\n"
        "      client: {timeout: 30 s, attempts: 5}}\n"
        "policies: [both: [fixed_cap: {cap: 7}, porter: {turns: 1}]]\n",
        "porter");
    const struct scenario *scenario = plan.points[0].scenario;
    size_t row = 1;

    ck_assert_uint_eq(trial_row_count(scenario), 10);
    ck_assert_str_eq(scenario->tenants[0], "t");
    ck_assert_str_eq(scenario->tenants[1], "s");
    ck_assert_str_eq(scenario->tenants[2], "r");
    ck_assert_uint_eq(scenario->classes[3].tenant, 0);
    model_trial(&plan, 0, 1, v);
    for (size_t group = 0; group < 3; row += groups[group++])
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
            double sum = 0;

            for (size_t k = 0; k < groups[group]; k++)
                sum += v[(row + k) * METRIC_COUNT + sums[i]];
            ck_assert_double_eq_tol(sum, v[sums[i]], 1e-9 * sum + 1e-12);
            ck_assert_msg(v[sums[i]] > 0, "%s", metrics[sums[i]].name);
        }
    ck_assert_double_eq_tol(v[5 * METRIC_COUNT + METRIC_GOODPUT],
                            v[1 * METRIC_COUNT + METRIC_GOODPUT] + v[4 * METRIC_COUNT + METRIC_GOODPUT], 1e-12);
    ck_assert_double_eq(v[8 * METRIC_COUNT + METRIC_RUNS_REFUSED], v[3 * METRIC_COUNT + METRIC_RUNS_REFUSED]);
    plan_fini(&plan);
}
END_TEST

/* A turn's tokens are cut where sums of them might not be whole numbers of 63 bits any more. */
START_TEST(tokens_of_a_turn_are_bounded)
{
    double v[METRIC_COUNT];
    struct plan plan = model_plan("study: {horizon: 100000 s}\n"
                                  "backends: {b: {kind: slots, servers: 1, service: exponential(10 s)}}\n"
                                  "agents: {a: {population: 20, think: exponential(1 s),\n"
                                  "  output: mixture(0.9 0 | 0.1 constant(10000000000000))}}\n");

    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq_tol(v[METRIC_GOODPUT_TOKENS] / v[METRIC_GOODPUT], 0.1 * 0x1p40, 0.01 * 0x1p40);
    plan_fini(&plan);
}
END_TEST

Suite *trial_suite(void)
{
    Suite *suite = suite_create("trial");
    TCase *test = tcase_create("trial");

    tcase_add_test(test, lindley_open);
    tcase_add_test(test, kiefer_wolfowitz_open);
    tcase_add_test(test, kiefer_wolfowitz_closed);
    tcase_add_test(test, three_runs_one_server);
    tcase_add_test(test, most_ends_a_terminating_study);
    tcase_add_test(test, finite_job_of_a_population);
    tcase_add_test(test, window_is_open_at_its_start);
    tcase_add_test(test, step_time_by_occupancy);
    tcase_add_test(test, infinite_parameters_equal_unbounded);
    tcase_add_test(test, a_loop_without_progress_is_a_message);
    tcase_add_test(test, rows_add_up);
    tcase_add_test(test, tokens_of_a_turn_are_bounded);
    suite_add_tcase(suite, test);
    return suite;
}
