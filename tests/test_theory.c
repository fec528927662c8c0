/* test_theory.c - closed forms against published numbers, special cases, and an independent computation (logarithms of
 * all states, GSL's incomplete gamma function for Erlang tails). */
#include <check.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stdlib.h>

#include "sim/stats/theory.h"
#include "tests/suites.h"

#define CARD_SERVICE 9.0769 /* 354 tokens at 39 tokens/s */
#define CARD_THINK 4.5

#define ck_assert_close(actual, expected, relative) \
    ck_assert_double_eq_tol(actual, expected, (relative)*fabs(expected) + 1e-300)

/* pi(n) = binomial(N, n) (s/z)^n * n! / (min(n, c)! c^(n - c)), through logarithms. Caller frees. */
static double *all_states(size_t agents, size_t servers, double service, double think)
{
    double *share = calloc(agents + 1, sizeof *share), most = -INFINITY, sum = 0;

    for (size_t n = 0; n <= agents; n++) {
        share[n] = lgamma((double)agents + 1) - lgamma((double)(agents - n) + 1) + (double)n * log(service / think);
        share[n] -= n <= servers ? lgamma((double)n + 1)
                                 : lgamma((double)servers + 1) + (double)(n - servers) * log((double)servers);
        most = fmax(most, share[n]);
    }
    for (size_t n = 0; n <= agents; n++)
        sum += share[n] = exp(share[n] - most);
    for (size_t n = 0; n <= agents; n++)
        share[n] /= sum;
    return share;
}

/* P(W > t), a mixture of Erlang tails over what an arriving call finds. */
static double exceeds(size_t agents, size_t servers, double service, double think, double t)
{
    double *found = all_states(agents - 1, servers, service, think), sum = 0;

    for (size_t n = servers; n < agents; n++)
        sum += found[n] * gsl_cdf_gamma_Q(t, (double)(n - servers + 1), service / (double)servers);
    free(found);
    return sum;
}

START_TEST(card_with_exponential_service)
{
    static const struct {
        size_t agents;
        double throughput, wait, p99;
    } rows[] = {{12, 0.821, 1.04, 7.11}, {16, 0.878, 4.64, 13.66}, {20, 0.881, 9.12, 19.88}, {24, 0.881, 13.65, 25.84}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct finite_source f = theory_finite_source(rows[i].agents, 8, CARD_SERVICE, CARD_THINK);
        ck_assert_double_eq_tol(f.throughput, rows[i].throughput, 0.0005);
        ck_assert_double_eq_tol(f.wait_mean, rows[i].wait, 0.005);
        ck_assert_double_eq_tol(f.wait_p99, rows[i].p99, 0.005);
    }
}
END_TEST

START_TEST(published_finite_sources)
{
    struct finite_source small = theory_finite_source(24, 8, 9.1, 4.5);
    struct finite_source idle = theory_finite_source(10000, 8000, 9.1, 4.5);
    struct finite_source busy = theory_finite_source(10000, 3333, 9.1, 4.5);

    ck_assert_double_eq_tol(small.throughput, 0.879121, 5e-7);
    ck_assert_double_eq_tol(small.wait_mean, 13.7, 5e-5);
    ck_assert_double_eq_tol(idle.throughput, 735.294, 5e-4);
    ck_assert_double_eq_tol(busy.throughput, 366.264, 5e-4);
    ck_assert_double_eq_tol(busy.wait_mean, 13.7027, 5e-5);
}
END_TEST

START_TEST(finite_source_against_all_states)
{
    static const struct {
        size_t agents, servers;
        double service, think;
    } cases[] = {{1, 1, 1, 1},         {2, 1, 3, 0.1},      {12, 8, 9.0769, 4.5},
                 {24, 8, 9.0769, 4.5}, {40, 8, 9.0769, 60}, {300, 100, 2, 4.2},
                 {1000, 1, 0.01, 9},   {2000, 900, 1, 1},   {3000, 10, 1, 1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t agents = cases[i].agents, servers = cases[i].servers;
        double service = cases[i].service, think = cases[i].think, busy = 0, waiting = 0;
        double *share = all_states(agents, servers, service, think);
        struct finite_source f = theory_finite_source(agents, servers, service, think);

        for (size_t n = 0; n <= agents; n++) {
            busy += share[n] * (double)(n < servers ? n : servers);
            waiting += n < servers ? 0 : share[n] * (double)(n - servers);
        }
        free(share);
        ck_assert_close(f.throughput, busy / service, 1e-9);
        ck_assert_close(f.wait_mean, waiting * service / busy, 1e-8);
        ck_assert_close(f.utilisation, busy / (double)servers, 1e-9);
        for (int permille = 10; permille < 1000; permille += 70) {
            double p = permille / 1000.0;
            double w = theory_finite_source_wait_quantile(agents, servers, service, think, p);
            if (w > 0)
                ck_assert_close(exceeds(agents, servers, service, think, w), 1 - p, 1e-8);
            else
                ck_assert_double_le(exceeds(agents, servers, service, think, 0), 1 - p);
        }
        ck_assert_double_eq(f.wait_p50, theory_finite_source_wait_quantile(agents, servers, service, think, 0.50));
        ck_assert_double_eq(f.wait_p95, theory_finite_source_wait_quantile(agents, servers, service, think, 0.95));
        ck_assert_double_eq(f.wait_p99, theory_finite_source_wait_quantile(agents, servers, service, think, 0.99));
    }
}
END_TEST

/* What a quantile jumps over: the mass at 0. */
START_TEST(quantile_is_zero_up_to_the_mass_at_zero)
{
    double at_zero = 1 - exceeds(12, 8, CARD_SERVICE, CARD_THINK, 0);

    ck_assert_double_eq(theory_finite_source_wait_quantile(12, 8, CARD_SERVICE, CARD_THINK, at_zero - 1e-9), 0);
    ck_assert_double_gt(theory_finite_source_wait_quantile(12, 8, CARD_SERVICE, CARD_THINK, at_zero + 1e-9), 0);
    ck_assert_double_lt(theory_finite_source_wait_quantile(12, 8, CARD_SERVICE, CARD_THINK, at_zero + 1e-9), 1e-6);
}
END_TEST

/* Past the knee the mean wait is at its bound; below it nobody waits; behind one server the line is an Erlang variable
 * of nearly a million phases. */
START_TEST(a_million_agents)
{
    const size_t agents = 1000000, servers = 600000;
    struct finite_source busy = theory_finite_source(agents, servers, 9.1, 4.5);
    struct finite_source idle = theory_finite_source(agents, 800000, 9.1, 4.5);
    struct finite_source one = theory_finite_source(agents, 1, 9.1, 4.5);

    ck_assert_close(busy.throughput, 600000 / 9.1, 1e-9);
    ck_assert_close(busy.wait_mean, theory_wait_bound(1e6, 600000, 9.1, 4.5), 1e-8);
    ck_assert_close(busy.wait_p50, busy.wait_mean, 1e-3);
    ck_assert_double_gt(busy.wait_p99, busy.wait_p95);
    ck_assert_close(busy.wait_p99, busy.wait_mean, 0.02);
    ck_assert_close(idle.throughput, 1e6 / 13.6, 1e-9);
    ck_assert_double_eq(idle.wait_p99, 0);
    ck_assert_close(one.wait_mean, 1e6 * 9.1 - 13.6, 1e-9);
    ck_assert_double_eq_tol(gsl_cdf_gamma_Q(one.wait_p99, 1e6 - 1 - 4.5 / 9.1, 9.1), 0.01, 1e-5);
}
END_TEST

START_TEST(edges_of_a_finite_source)
{
    struct finite_source none = theory_finite_source(0, 8, 1, 1);
    struct finite_source closed = theory_finite_source(20, 0, 1, 1);
    struct finite_source hasty = theory_finite_source(20, 8, 9, 0);
    struct finite_source instant = theory_finite_source(20, 8, 0, 5);
    struct finite_source ample = theory_finite_source(8, 8, 9, 1);

    ck_assert_double_eq(none.throughput, 0);
    ck_assert_double_nan(none.wait_mean);
    ck_assert_double_nan(none.wait_p99);
    ck_assert_double_eq(closed.throughput, 0);
    ck_assert_double_eq(closed.wait_mean, INFINITY);
    ck_assert_double_eq(closed.wait_p50, INFINITY);
    ck_assert_close(hasty.throughput, 8 / 9.0, 1e-12);
    ck_assert_close(hasty.wait_mean, 13.5, 1e-12);
    ck_assert_close(gsl_cdf_gamma_P(hasty.wait_p95, 12, 9.0 / 8), 0.95, 1e-10);
    ck_assert_double_eq(instant.throughput, 4);
    ck_assert_double_eq(instant.wait_mean, 0);
    ck_assert_double_eq(instant.wait_p99, 0);
    ck_assert_close(ample.throughput, 0.8, 1e-12);
    ck_assert_double_eq(ample.wait_mean, 0);
    ck_assert_double_eq(ample.wait_p99, 0);
    ck_assert_double_eq(theory_finite_source_wait_quantile(12, 8, 9, 1, 1), INFINITY);
}
END_TEST

START_TEST(bounds)
{
    ck_assert_double_eq_tol(theory_capacity(8, CARD_SERVICE), 0.8814, 5e-5);
    ck_assert_double_eq_tol(theory_knee(8, CARD_SERVICE, CARD_THINK), 11.97, 5e-3);
    ck_assert_double_eq(theory_throughput_bound(10, 8, 8, 2), 1);
    ck_assert_double_eq(theory_throughput_bound(5, 8, 8, 2), 0.5);
    ck_assert_double_eq(theory_throughput_bound(50, 8, 8, 2), 1);
    ck_assert_double_eq(theory_wait_bound(5, 8, 8, 2), 0);
    ck_assert_double_eq(theory_wait_bound(24, 8, 8, 2), 14);
    for (size_t n = 1; n < 60; n++) {
        struct finite_source f = theory_finite_source(n, 8, CARD_SERVICE, CARD_THINK);
        ck_assert_double_le(f.throughput,
                            theory_throughput_bound((double)n, 8, CARD_SERVICE, CARD_THINK) * (1 + 1e-12));
        ck_assert_double_ge(f.wait_mean, theory_wait_bound((double)n, 8, CARD_SERVICE, CARD_THINK) * (1 - 1e-12));
        ck_assert_double_eq_tol(f.wait_mean, (double)n / f.throughput - CARD_SERVICE - CARD_THINK, 1e-9);
    }
}
END_TEST

START_TEST(erlang_b)
{
    for (size_t servers = 1; servers <= 60; servers++) {
        for (double load = 0.25; load < 80; load *= 2) {
            double sum = 0;
            for (size_t k = 0; k <= servers; k++)
                sum += exp((double)k * log(load) - gsl_sf_lngamma((double)k + 1));
            ck_assert_close(theory_erlang_b(servers, load),
                            exp((double)servers * log(load) - gsl_sf_lngamma((double)servers + 1)) / sum, 1e-11);
        }
    }
    ck_assert_double_eq_tol(theory_erlang_b(10, 5), 0.018385, 5e-7);
    ck_assert_double_eq(theory_erlang_b(0, 3), 1);
    ck_assert_double_eq(theory_erlang_b(3, 0), 0);
    ck_assert_double_eq(theory_erlang_b(3, INFINITY), 1);
}
END_TEST

START_TEST(erlang_c)
{
    for (double rho = 0.05; rho < 1; rho += 0.05) {
        ck_assert_close(theory_erlang_c(1, rho), rho, 1e-13);
        ck_assert_close(theory_erlang_c(2, 2 * rho), 2 * rho * rho / (1 + rho), 1e-13);
    }
    ck_assert_double_eq(theory_erlang_c(4, 4), 1);
    ck_assert_double_eq(theory_erlang_c(4, 5), 1);
    ck_assert_double_eq(theory_erlang_c(4, 0), 0);
}
END_TEST

START_TEST(open_waits)
{
    for (double rho = 0.1; rho < 0.95; rho += 0.1) {
        ck_assert_close(theory_mmc_wait(1, rho / 2, 2), 2 * rho / (1 - rho), 1e-13);
        ck_assert_close(theory_mg1_wait(rho / 2, 2, 1), 2 * rho / (1 - rho), 1e-13);
        ck_assert_close(theory_mg1_wait(rho / 2, 2, 0), rho / (1 - rho), 1e-13);
        ck_assert_close(theory_mmc_wait(2, rho, 2), 2 * rho * rho / (1 - rho * rho), 1e-12);
    }
    ck_assert_double_eq(theory_mmc_wait(4, 4, 1), INFINITY);
    ck_assert_double_eq(theory_mmc_wait_quantile(4, 4, 1, 0.5), INFINITY);
    ck_assert_double_eq(theory_mg1_wait(1, 1, 0), INFINITY);
}
END_TEST

/* An open queue is the limit of a closed one with many agents that think long. */
START_TEST(open_quantiles)
{
    ck_assert_close(theory_mmc_wait_quantile(1, 0.8, 1, 0.99), log(0.8 / 0.01) / 0.2, 1e-12);
    ck_assert_double_eq(theory_mmc_wait_quantile(1, 0.8, 1, 0.2), 0);
    ck_assert_double_eq(theory_mmc_wait_quantile(1, 0.8, 1, 0.1), 0);
    ck_assert_double_eq(theory_mmc_wait_quantile(1, 0.8, 1, 1), INFINITY);
    for (double p = 0.5; p < 1; p += 0.07)
        ck_assert_close(theory_mmc_wait_quantile(4, 3.2, 1, p),
                        theory_finite_source_wait_quantile(100000000, 4, 1, 1e8 / 3.2, p), 1e-4);
}
END_TEST

/* Full is Erlang B, endless is M/M/c, one server has a geometric closed form, and a full room stays finite past load 1.
 */
START_TEST(room_for_some)
{
    double weights = 0, rho = 0.9;

    ck_assert_close(theory_mmck_lost(4, 4, 3.2), theory_erlang_b(4, 3.2), 1e-12);
    ck_assert_double_eq(theory_mmck_wait(4, 4, 3.2, 1), 0);
    ck_assert_close(theory_mmck_wait(4, 2000, 3.2, 1), theory_mmc_wait(4, 3.2, 1), 1e-12);
    for (int n = 0; n <= 10; n++)
        weights += pow(rho, n);
    ck_assert_close(theory_mmck_lost(1, 10, rho), pow(rho, 10) / weights, 1e-12);
    ck_assert_close(theory_mmck_lost(1, 5000, 2), 0.5, 1e-12);
    ck_assert_close(theory_mmck_wait(8, 12, 100, 9.1), 4 * 9.1 / 8, 0.01); /* always full: four wait */
}
END_TEST

/* Of one class it is Pollaczek-Khinchine; the load-weighted mean over classes is that of first come, first served. */
START_TEST(priorities)
{
    const double arrivals[] = {0.3, 0.2, 0.1}, services[] = {1, 0.5, 3}, cvs[] = {1, 0, 2};
    double load = 0, sum = 0, residual = 0;

    ck_assert_close(theory_priority_wait(arrivals, services, cvs, 1, 0), theory_mg1_wait(0.3, 1, 1), 1e-12);
    for (size_t i = 0; i < 3; i++) {
        double rho = arrivals[i] * services[i];

        load += rho;
        sum += rho * theory_priority_wait(arrivals, services, cvs, 3, i);
        residual += rho * services[i] * (1 + cvs[i] * cvs[i]) / 2;
    }
    ck_assert_close(sum, load * residual / (1 - load), 1e-12);
    ck_assert_double_lt(theory_priority_wait(arrivals, services, cvs, 3, 0),
                        theory_priority_wait(arrivals, services, cvs, 3, 2));
    ck_assert_double_eq(theory_priority_wait((double[]){1}, (double[]){1}, cvs, 1, 0), INFINITY);
    /* a class that overloads the server leaves the ones above it a wait: 1 / (1 - 0.5), and 1 / (0.5 0.1) */
    ck_assert_close(theory_priority_wait((double[]){0.5, 0.7}, (double[]){1, 1}, (double[]){1, 1}, 2, 0), 2.0, 1e-12);
    ck_assert_close(theory_priority_wait((double[]){0.5, 0.4, 0.3}, (double[]){1, 1, 1}, (double[]){1, 1, 1}, 3, 1),
                    20.0, 1e-12);
    ck_assert_double_eq(theory_priority_wait((double[]){0.5, 0.7}, (double[]){1, 1}, (double[]){1, 1}, 2, 1), INFINITY);
}
END_TEST

Suite *theory_suite(void)
{
    Suite *suite = suite_create("theory");
    TCase *closed = tcase_create("finite source");
    TCase *open = tcase_create("open arrivals");

    tcase_add_test(closed, card_with_exponential_service);
    tcase_add_test(closed, published_finite_sources);
    tcase_add_test(closed, finite_source_against_all_states);
    tcase_add_test(closed, quantile_is_zero_up_to_the_mass_at_zero);
    tcase_add_test(closed, a_million_agents);
    tcase_add_test(closed, edges_of_a_finite_source);
    tcase_add_test(closed, bounds);
    suite_add_tcase(suite, closed);
    tcase_add_test(open, erlang_b);
    tcase_add_test(open, erlang_c);
    tcase_add_test(open, open_waits);
    tcase_add_test(open, open_quantiles);
    tcase_add_test(open, room_for_some);
    tcase_add_test(open, priorities);
    suite_add_tcase(suite, open);
    return suite;
}
