/* Simulation against closed forms, and where there is none against an independent recursion with other random numbers.
 * Fixed seeds; tolerances are those promised or four standard errors. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>

#include "sim/stats/output.h"
#include "sim/stats/theory.h"
#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"

static void expect(const struct plan *plan, size_t point, unsigned replications, enum metric_index metric,
                   double theory)
{
    struct model_estimate ours = model_metric(plan, point, replications, metric);

    ck_assert_msg(fabs(ours.mean - theory) <= 4 * ours.error, "%s: %g, theory %g, standard error %g",
                  metrics[metric].name, ours.mean, theory, ours.error);
    ck_assert_double_lt(ours.error, 0.03 * fabs(theory)); /* or the test says nothing */
}

/* M/M/8//N on the card: throughput within 0.5 %, mean wait and p99 wait within 2 %. */
START_TEST(finite_source_on_the_card)
{
    struct plan plan = model_plan("study: {horizon: 62000 s, warmup: 2000 s}\n"
                                  "backends: {b: {kind: slots, servers: 8, service: exponential(9.0769 s)}}\n"
                                  "agents: {a: {population: 12, think: exponential(4.5 s)}}\n"
                                  "sweep: {agents.a.population: [12, 16, 20, 24]}\n");

    for (size_t point = 0; point < 4; point++) {
        struct finite_source exact = theory_finite_source(12 + 4 * point, 8, 9.0769, 4.5);
        double goodput = model_metric(&plan, point, 16, METRIC_GOODPUT).mean;
        double wait = model_metric(&plan, point, 16, METRIC_WAIT_MEAN).mean;
        double p99 = model_metric(&plan, point, 16, METRIC_WAIT_P99).mean;

        ck_assert_double_eq_tol(goodput, exact.throughput, 0.005 * exact.throughput);
        ck_assert_double_eq_tol(wait, exact.wait_mean, 0.02 * exact.wait_mean);
        ck_assert_double_eq_tol(p99, exact.wait_p99, 0.02 * exact.wait_p99);
    }
    plan_fini(&plan);
}
END_TEST

/* In a saturated closed loop no policy changes the mean wait since the first attempt: W = N/X - S - Z, by each
 * replication's own means. (Not so under `lifo`: whoever is overtaken for ever is in N and in no wait; see the column
 * censored.) */
START_TEST(response_time_law_under_every_policy)
{
    struct plan plan = model_plan("study: {horizon: 62000 s, warmup: 2000 s}\n"
                                  "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
                                  "agents: {a: {population: 20, think: exponential(4.5 s),\n"
                                  "  output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 lognormal(900 cv 0.35)),\n"
                                  "  client: {base: 16 s, cap: 120 s, retry_after: ignore}}}\n"
                                  "policies: [unbounded, fixed_cap: {cap: 12},\n"
                                  "  p: [codel: {law: persist, sheds_at: submission, target: 8 s, interval: 15 s}],\n"
                                  "  r: [codel: {preset: slots}]]\n"
                                  "sweep: {agents.a.population: [20, 24]}\n");
    double v[METRIC_COUNT];

    ck_assert_uint_eq(plan.point_count, 8);
    for (size_t point = 0; point < plan.point_count; point++) {
        double population = (double)plan.points[point].scenario->classes[0].population;

        for (uint32_t replication = 1; replication <= 3; replication++) {
            model_trial(&plan, point, replication, v);
            ck_assert_double_eq_tol(v[METRIC_TOTAL_WAIT_MEAN],
                                    population / v[METRIC_GOODPUT] - v[METRIC_SERVICE_MEAN] - v[METRIC_THINK_MEAN],
                                    0.1);
        }
    }
    plan_fini(&plan);
}
END_TEST

#define OPEN(servers, service, rate) \
    "study: {horizon: 41000 s, warmup: 1000 s}\n" \
    "backends: {b: {kind: slots, servers: " servers ", service: " service "}}\n" \
    "agents: {a: {arrivals: poisson(" rate ")}}\n"

START_TEST(one_server)
{
    struct plan mm1 = model_plan(OPEN("1", "exponential(1 s)", "0.7/s"));
    struct plan md1 = model_plan(OPEN("1", "constant(1 s)", "0.7/s"));
    struct plan mg1 = model_plan(OPEN("1", "lognormal(1 s cv 1.5)", "0.6/s"));

    expect(&mm1, 0, 20, METRIC_WAIT_MEAN, theory_mmc_wait(1, 0.7, 1));
    expect(&mm1, 0, 20, METRIC_WAIT_P99, theory_mmc_wait_quantile(1, 0.7, 1, 0.99));
    expect(&mm1, 0, 20, METRIC_UTILISATION, 0.7);
    expect(&mm1, 0, 20, METRIC_GOODPUT, 0.7);
    expect(&mm1, 0, 20, METRIC_IN_SYSTEM_MEAN, 0.7 / 0.3);
    expect(&md1, 0, 20, METRIC_WAIT_MEAN, theory_mg1_wait(0.7, 1, 0));
    expect(&mg1, 0, 20, METRIC_WAIT_MEAN, theory_mg1_wait(0.6, 1, 1.5));
    plan_fini(&mm1);
    plan_fini(&md1);
    plan_fini(&mg1);
}
END_TEST

/* Tokens are counted in whole numbers, but services take what was drawn: few tokens a turn bias nothing. */
START_TEST(few_tokens_a_turn)
{
    struct plan plan = model_plan("study: {horizon: 41000 s, warmup: 1000 s}\n"
                                  "backends: {b: {kind: slots, servers: 2, rate: 1 tokens/s}}\n"
                                  "agents: {a: {population: 4, think: exponential(1 s), output: exponential(1)}}\n");
    struct finite_source exact = theory_finite_source(4, 2, 1, 1);

    expect(&plan, 0, 20, METRIC_GOODPUT, exact.throughput);
    expect(&plan, 0, 20, METRIC_WAIT_MEAN, exact.wait_mean);
    expect(&plan, 0, 20, METRIC_WAIT_P99, exact.wait_p99);
    plan_fini(&plan);
}
END_TEST

START_TEST(several_servers)
{
    struct plan plan = model_plan(OPEN("4", "exponential(1 s)", "3.2/s"));

    expect(&plan, 0, 20, METRIC_WAIT_MEAN, theory_mmc_wait(4, 3.2, 1));
    expect(&plan, 0, 20, METRIC_WAIT_P95, theory_mmc_wait_quantile(4, 3.2, 1, 0.95));
    expect(&plan, 0, 20, METRIC_WAIT_P99, theory_mmc_wait_quantile(4, 3.2, 1, 0.99));
    plan_fini(&plan);
}
END_TEST

/* In an open M/G/c the order of service changes no mean wait, only its spread. */
START_TEST(last_come_first_served_has_the_same_mean)
{
    struct plan plan = model_plan(OPEN("4", "exponential(1 s)", "3.2/s") "policies: [unbounded, lifo]\n");
    double fifo = model_metric(&plan, 0, 20, METRIC_WAIT_P99).mean;
    double lifo = model_metric(&plan, 1, 20, METRIC_WAIT_P99).mean;

    expect(&plan, 1, 20, METRIC_WAIT_MEAN, theory_mmc_wait(4, 3.2, 1));
    ck_assert_double_gt(lifo, 1.5 * fifo);
    plan_fini(&plan);
}
END_TEST

/* M/G/8 with the card's mixture has no closed form: an independent recursion, other generator, other sampler. */
enum { CUSTOMERS = 60000, BATCHES = 20, SETTLING = 2000 };

static double lognormal(gsl_rng *rng, double mean, double cv)
{
    double variance = log1p(cv * cv);

    return gsl_ran_lognormal(rng, log(mean) - variance / 2, sqrt(variance));
}

static void recursion(gsl_rng *rng, double rate, double *mean, double *p99)
{
    static sim_time arrivals[CUSTOMERS], services[CUSTOMERS], waits[CUSTOMERS];
    static double sorted[CUSTOMERS];
    sim_time now = 0;
    double sum = 0;

    for (size_t i = 0; i < CUSTOMERS; i++) {
        double tokens = gsl_rng_uniform(rng) < 0.7 ? lognormal(rng, 120, 0.45) : lognormal(rng, 900, 0.35);

        now += sim_from_seconds(gsl_ran_exponential(rng, 1 / rate));
        arrivals[i] = now;
        services[i] = sim_from_seconds(tokens / 39);
    }
    oracle_kiefer_wolfowitz(arrivals, services, CUSTOMERS, 8, waits);
    for (size_t i = SETTLING; i < CUSTOMERS; i++) {
        sorted[i - SETTLING] = sim_seconds(waits[i]);
        sum += sim_seconds(waits[i]);
    }
    gsl_sort(sorted, 1, CUSTOMERS - SETTLING);
    *mean = sum / (CUSTOMERS - SETTLING);
    *p99 = sorted[(size_t)ceil(0.99 * (CUSTOMERS - SETTLING)) - 1];
}

START_TEST(mixture_on_eight_servers)
{
    struct plan plan = model_plan("study: {horizon: 80000 s, warmup: 3000 s}\n"
                                  "backends: {b: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
                                  "agents: {a: {arrivals: poisson(0.75/s), output: mixture(0.7 lognormal(120 cv 0.45) "
                                  "| 0.3 lognormal(900 cv 0.35))}}\n");
    struct model_estimate mean = model_metric(&plan, 0, BATCHES, METRIC_WAIT_MEAN);
    struct model_estimate p99 = model_metric(&plan, 0, BATCHES, METRIC_WAIT_P99);
    double means[BATCHES], p99s[BATCHES], t = output_t(OUTPUT_LEVEL, BATCHES - 1);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct estimate theirs;

    for (size_t i = 0; i < BATCHES; i++)
        recursion(rng, 0.75, &means[i], &p99s[i]);
    theirs = output_mean(means, BATCHES, 1);
    ck_assert_double_lt(fabs(theirs.mean - mean.mean), 4 * hypot(mean.error, theirs.half_width / t));
    ck_assert_double_lt(mean.error, 0.03 * mean.mean);
    theirs = output_mean(p99s, BATCHES, 1);
    ck_assert_double_lt(fabs(theirs.mean - p99.mean), 4 * hypot(p99.error, theirs.half_width / t));
    gsl_rng_free(rng);
    plan_fini(&plan);
}
END_TEST

Suite *laws_suite(void)
{
    Suite *suite = suite_create("laws");
    TCase *test = tcase_create("laws");

    tcase_add_test(test, finite_source_on_the_card);
    tcase_add_test(test, response_time_law_under_every_policy);
    tcase_add_test(test, one_server);
    tcase_add_test(test, few_tokens_a_turn);
    tcase_add_test(test, several_servers);
    tcase_add_test(test, last_come_first_served_has_the_same_mean);
    tcase_add_test(test, mixture_on_eight_servers);
    suite_add_tcase(suite, test);
    return suite;
}
