/* test_fairness.c - shares and bounds, call by call: what fair_queue, fq_codel and bounded_queue promise of every
 * interval is computed from the order in which servers took the calls of a simulation. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/metrics.h"
#include "tests/model.h"
#include "tests/suites.h"
#include "tests/taken.h"

/* --- bounds over every interval ---------------------------------------------------------------------------------- */

struct bounds {
    double widest;     /* difference in tokens / weight, over all intervals in which both had calls in line */
    double largest[2]; /* call / weight */
    size_t intervals, inside;
};

/* Of tenants 0 and 1. An interval goes from one start to another; between them neither's line is ever empty. */
static struct bounds compare(const double weights[2])
{
    static size_t joining[TAKEN_MOST];
    static bool in_line[TAKEN_MOST];
    struct bounds bounds = {0};
    long waiting[2] = {0};
    double sum = 0, low = 0, high = 0;
    bool both = false;
    memset(in_line, 0, sizeof in_line);
    taken_by_joining(joining);
    for (size_t k = 0, next = 0; k < taken_starts; k++) {
        const struct taken *taken = &taken_calls[k];
        /* Who joined at this very instant may have come after the start, so is not in line yet. */
        for (; next < taken_count && taken_calls[joining[next]].joined < taken->started; next++)
            if (taken_calls[joining[next]].order >= (int)k) {
                in_line[joining[next]] = true;
                waiting[taken_calls[joining[next]].tenant]++;
            }
        double part = taken->tokens / weights[taken->tenant];
        bounds.largest[taken->tenant] = fmax(bounds.largest[taken->tenant], part);
        if (both) {
            sum += taken->tenant == 0 ? part : -part;
            low = fmin(low, sum);
            high = fmax(high, sum);
            bounds.widest = fmax(bounds.widest, high - low);
            bounds.inside++;
        }
        waiting[taken->tenant] -= in_line[k];
        bool were = both;
        both = waiting[0] > 0 && waiting[1] > 0;
        if (both && !were) {
            bounds.intervals++;
            sum = low = high = 0;
        }
    }
    return bounds;
}

/* Two tenants with calls of very different sizes: red always has calls in line, blue comes and goes. */
static struct plan two_tenants(const char *servers, const char *rate, const char *policy)
{
    char yaml[2048];
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 60000 s}\n"
             "backends: {card: {kind: slots, servers: %s, rate: %s}}\n"
             "agents:\n"
             "  red: {population: 40, think: exponential(4 s), tenant: red, value: 3, client: {timeout: inf},\n"
             "        output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35))}\n"
             "  blue: {population: 22, think: exponential(20 s), output: exponential(150), tenant: blue,\n"
             "         client: {timeout: inf}}\n"
             "policies: [%s]\n",
             servers, rate, policy);
    return model_plan(yaml);
}

static struct bounds measure(const char *servers, const char *rate, const char *policy, double red)
{
    struct plan plan = two_tenants(servers, rate, policy);
    taken_keep(&plan, 0);
    plan_fini(&plan);
    struct bounds bounds = compare((const double[]){red, 1});
    ck_assert(bounds.intervals > 0 && bounds.inside > 50000);
    return bounds;
}

static const char *const sizes[][2] = {{"8", "39 tokens/s"}, {"1", "312 tokens/s"}};

/* Start-time fair queueing: at most the sum of the largest calls. Without it: far more. */
START_TEST(fair_queue_keeps_its_bound)
{
    const char *servers = sizes[_i][0], *rate = sizes[_i][1];
    struct bounds equal = measure(servers, rate, "fair_queue: {by: tenant}", 1),
                  weighted = measure(servers, rate, "fair_queue: {by: class, weights: value}", 3),
                  none = measure(servers, rate, "unbounded", 1);
    ck_assert(equal.intervals > 1000);
    ck_assert_double_le(equal.widest, equal.largest[0] + equal.largest[1]);
    ck_assert_double_gt(equal.widest, 0.5 * (equal.largest[0] + equal.largest[1])); /* the bound is of that size */
    ck_assert_double_le(weighted.widest, weighted.largest[0] + weighted.largest[1] + 1e-3); /* tags are rounded */
    ck_assert_double_gt(none.widest, 5 * (none.largest[0] + none.largest[1]));
}
END_TEST

/* Deficit round robin: at most the quantum and twice the largest call. */
START_TEST(fq_codel_keeps_its_bound)
{
    static const char *const quanta[] = {"1", "200", "1514", "20k"};
    static const double quantum[] = {1, 200, 1514, 20000};
    const char *servers = sizes[_i / 4][0], *rate = sizes[_i / 4][1];
    char policy[128];
    snprintf(policy, sizeof policy, "fq_codel: {by: tenant, target: inf, quantum: %s}", quanta[_i % 4]);
    struct bounds bounds = measure(servers, rate, policy, 1);
    ck_assert(bounds.intervals > 1000);
    double most = quantum[_i % 4] + 2 * fmax(bounds.largest[0], bounds.largest[1]);
    ck_assert_msg(bounds.widest <= most, "%g, at most %g", bounds.widest, most);
    ck_assert_double_gt(bounds.widest, 0.25 * most);
}
END_TEST

/* --- equal tenants ------------------------------------------------------------------------------------------------ */

static double jain(const char *policy)
{
    char yaml[2048];
    double values[METRIC_COUNT * 64], sum = 0, squares = 0;
    snprintf(yaml, sizeof yaml,
             "study: {horizon: 20000 s, warmup: 1000 s}\n"
             "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
             "agents:\n"
             "  a: {population: 12, think: 1 s, output: exponential(100), tenant: a, client: {timeout: inf}}\n"
             "  b: {population: 12, think: 1 s, output: exponential(200), tenant: b, client: {timeout: inf}}\n"
             "  c: {population: 24, think: 1 s, output: exponential(400), tenant: c, client: {timeout: inf}}\n"
             "  d: {population: 48, think: 1 s, output: exponential(800), tenant: d, client: {timeout: inf}}\n"
             "policies: [%s]\n",
             policy);
    struct plan plan = model_plan(yaml);
    const struct scenario *scenario = plan.points[0].scenario;
    model_trial(&plan, 0, 1, values);
    for (size_t row = 0; row < trial_row_count(scenario); row++)
        if (trial_row_at(scenario, row).scope == ROW_TENANT) {
            double tokens = values[row * METRIC_COUNT + METRIC_GOODPUT_TOKENS];
            sum += tokens;
            squares += tokens * tokens;
        }
    plan_fini(&plan);
    ck_assert_double_gt(sum, 300); /* of 312 tokens/s */
    return sum * sum / (4 * squares);
}

START_TEST(equal_tenants_get_the_same)
{
    ck_assert_double_gt(jain("fair_queue: {by: tenant}"), 0.99);
    ck_assert_double_gt(jain("fq_codel: {by: tenant, target: inf}"), 0.99);
    ck_assert_double_lt(jain("unbounded"), 0.5);
    ck_assert_double_lt(jain("fair_queue: {by: agent}"), 0.9); /* then many agents are many shares */
}
END_TEST

/* --- a bound in tokens -------------------------------------------------------------------------------------------- */

START_TEST(tokens_in_line_never_pass_the_bound)
{
    struct plan plan =
        model_plan("study: {horizon: 20000 s}\n"
                   "backends: {card: {kind: slots, servers: 4, rate: 40 tokens/s}}\n"
                   "agents: {a: {arrivals: poisson(2/s), output: exponential(100), client: {attempts: 1},"
                   " input: {start: 50}}}\n"
                   "policies: [bounded_queue: {calls: 9, tokens: 1000}]\n");
    static size_t joining[TAKEN_MOST];
    double tokens = 0, most = 0;
    size_t waiting = 0, longest = 0, next = 0;
    taken_keep(&plan, 0);
    taken_by_joining(joining);
    for (size_t k = 0; k < taken_starts; k++) {
        for (; next < taken_count && taken_calls[joining[next]].joined < taken_calls[k].started; next++) {
            tokens += taken_calls[joining[next]].tokens;
            most = fmax(most, tokens);
            waiting++;
            longest = waiting > longest ? waiting : longest;
        }
        if (taken_calls[k].joined == taken_calls[k].started) { /* it did not wait */
            ck_assert_uint_eq(joining[next], k);
            next++;
        } else {
            tokens -= taken_calls[k].tokens;
            waiting--;
        }
    }
    ck_assert_double_le(most, 1000);
    ck_assert_double_gt(most, 990);
    ck_assert_uint_eq(longest, 9);
    plan_fini(&plan);
}
END_TEST

/* One copy for two gates: that one of them has nobody to serve makes nobody at the other wait. A tenant sends 60 calls
 * at once, another has two agents at the same gate; a third comes by at the other. */
START_TEST(one_copy_for_two_gates)
{
    double wait[2];
    for (int all = 0; all < 2; all++) {
        char yaml[1024];
        struct plan plan;
        double v[64 * METRIC_COUNT];
        snprintf(
            yaml, sizeof yaml,
            "study: {horizon: 4000 s, warmup: 500 s, replications: 1}\n"
            "backends: {one: {kind: slots, servers: 2, service: 1 s}, two: {kind: slots, servers: 2, service: 1 s}}\n"
            "agents:\n"
            "  heavy: {arrivals: 'batch(60 within 0 s every even(100/h))', backend: one}\n"
            "  light: {population: 2, think: exponential(5 s), backend: one}\n"
            "  trickle: {arrivals: poisson(0.2/s), backend: two}\n"
            "policies: [f: [fair_queue: {by: class, meter: requests, scope: %s}]]\n",
            all ? "all" : "gate");
        plan = model_plan(yaml);
        ck_assert_uint_le(trial_row_count(plan.points[0].scenario), 64);
        model_trial(&plan, 0, 1, v);
        wait[all] = v[2 * METRIC_COUNT + METRIC_WAIT_P99]; /* of light */
        plan_fini(&plan);
    }
    ck_assert_double_lt(wait[0], 2);
    ck_assert_double_le(wait[1], 1.1 * wait[0]);
}
END_TEST

Suite *fairness_suite(void)
{
    Suite *suite = suite_create("fairness");
    TCase *test = tcase_create("fairness");
    tcase_add_loop_test(test, fair_queue_keeps_its_bound, 0, 2);
    tcase_add_loop_test(test, fq_codel_keeps_its_bound, 0, 8);
    tcase_add_test(test, equal_tenants_get_the_same);
    tcase_add_test(test, tokens_in_line_never_pass_the_bound);
    tcase_add_test(test, one_copy_for_two_gates);
    suite_add_tcase(suite, test);
    return suite;
}
