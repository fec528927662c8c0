/* test_bounds.c - approximations, mean value analysis and the retrial balance of `weir bounds`: against special cases,
 * other algorithms, and simulation. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/balance.h"
#include "models/client.h"
#include "sim/stats/theory.h"
#include "tests/command_fixture.h"
#include "tests/model.h"
#include "tests/suites.h"

#define ck_assert_close(actual, expected, relative) \
    ck_assert_double_eq_tol(actual, expected, (relative)*fabs(expected) + 1e-300)

/* M/D/c exactly (Crommelin 1932): what was in the system a service time ago is gone, but for what waited, and what has
 * come since is Poisson. Mean wait by Little's law of the line. */
static double crommelin(size_t servers, double arrivals, double service)
{
    enum { STATES = 600 };
    static double poisson[STATES], now[STATES], next[STATES];
    double load = arrivals * service, line = 0, before = -1;

    poisson[0] = exp(-load);
    for (size_t n = 1; n < STATES; n++)
        poisson[n] = poisson[n - 1] * load / (double)n;
    memset(now, 0, sizeof now);
    now[0] = 1;
    while (fabs(line - before) > 1e-12 * line || line == 0) {
        before = line;
        line = 0;
        memset(next, 0, sizeof next);
        for (size_t n = 0; n < STATES; n++) {
            size_t left = n > servers ? n - servers : 0;

            line += (double)left * now[n];
            for (size_t more = 0; left + more < STATES; more++)
                next[left + more] += now[n] * poisson[more];
        }
        memcpy(now, next, sizeof now);
    }
    return line / arrivals;
}

START_TEST(approximations_where_they_are_exact)
{
    for (size_t servers = 1; servers < 40; servers += 6)
        for (double use = 0.1; use < 1; use += 0.2) {
            double arrivals = use * (double)servers / 2;

            ck_assert_close(theory_mgc_wait_lee_longton(servers, arrivals, 2, 1), theory_mmc_wait(servers, arrivals, 2),
                            1e-12);
            ck_assert_close(theory_mgc_wait_cosmetatos(servers, arrivals, 2, 1), theory_mmc_wait(servers, arrivals, 2),
                            1e-12);
        }
    for (double cv = 0; cv < 3; cv += 0.5) {
        ck_assert_close(theory_mgc_wait_lee_longton(1, 0.4, 2, cv), theory_mg1_wait(0.4, 2, cv), 1e-12);
        ck_assert_close(theory_mgc_wait_cosmetatos(1, 0.4, 2, cv), theory_mg1_wait(0.4, 2, cv), 1e-12);
    }
    ck_assert(isinf(theory_mgc_wait_cosmetatos(4, 2, 2, 0.5)) && isinf(theory_mgc_wait_lee_longton(4, 2, 2, 0.5)));
}
END_TEST

/* Cosmetatos' M/D/c within 2 % of the exact one, where there is a wait to speak of; Lee and Longton's half of M/M/c is
 * further away. */
START_TEST(constant_service)
{
    for (size_t servers = 2; servers <= 8; servers += 3)
        for (double use = 0.6; use < 0.95; use += 0.1) {
            double arrivals = use * (double)servers, exact = crommelin(servers, arrivals, 1);

            ck_assert_close(theory_mdc_wait(servers, arrivals, 1), exact, 0.02);
            ck_assert_double_lt(fabs(theory_mgc_wait_cosmetatos(servers, arrivals, 1, 0) - exact),
                                fabs(theory_mgc_wait_lee_longton(servers, arrivals, 1, 0) - exact));
        }
}
END_TEST

/* Exact mean value analysis for a delay and a station of c servers (Reiser and Lavenberg 1980), vector by vector. */
enum { A_MOST = 12, B_MOST = 9, ALL_MOST = A_MOST + B_MOST };

static void mean_values(size_t servers, const struct shared_class classes[2], double throughputs[2])
{
    static double p[A_MOST + 1][B_MOST + 1][ALL_MOST + 2];

    memset(p, 0, sizeof p);
    p[0][0][0] = 1;
    for (size_t a = 0; a <= classes[0].population; a++)
        for (size_t b = 0; b <= classes[1].population; b++) {
            size_t n[2] = {a, b}, all = a + b;
            double x[2] = {0}, rest = 1;

            for (int i = 0; i < 2; i++) {
                const double *fewer = i == 0 ? (a > 0 ? p[a - 1][b] : NULL) : b > 0 ? p[a][b - 1] : NULL;
                double response = 0;

                for (size_t j = 1; j <= all && fewer; j++)
                    response += (double)j / (double)(j < servers ? j : servers) * classes[i].service * fewer[j - 1];
                x[i] = fewer ? (double)n[i] / (classes[i].think + response) : 0;
            }
            for (size_t j = 1; j <= all; j++) {
                double rate = (double)(j < servers ? j : servers);

                p[a][b][j] = (a > 0 ? x[0] * classes[0].service / rate * p[a - 1][b][j - 1] : 0) +
                             (b > 0 ? x[1] * classes[1].service / rate * p[a][b - 1][j - 1] : 0);
                rest -= p[a][b][j];
            }
            p[a][b][0] = all > 0 ? rest : 1;
            throughputs[0] = x[0];
            throughputs[1] = x[1];
        }
}

START_TEST(classes_that_share)
{
    static const double services[] = {0.3, 1, 4}, thinks[] = {0.5, 2, 20};

    for (size_t servers = 1; servers <= 5; servers += 2)
        for (int i = 0; i < 9; i++)
            for (int k = 0; k < 9; k++) {
                struct shared_class classes[2] = {{A_MOST, services[i % 3], thinks[i / 3]},
                                                  {B_MOST, services[k % 3], thinks[k / 3]}};
                double ours[2], other[2];

                ck_assert(theory_shared(servers, classes, 2, ours));
                mean_values(servers, classes, other);
                ck_assert_close(ours[0], other[0], 1e-8);
                ck_assert_close(ours[1], other[1], 1e-8);
            }
}
END_TEST

/* One class; and two that are alike, which are one. Large and saturated, where the recursion above loses its digits. */
START_TEST(classes_that_are_one)
{
    for (size_t agents = 1; agents <= 400; agents += 57) {
        struct finite_source exact = theory_finite_source(agents, 8, 9.0769, 4.5);
        struct shared_class one = {agents, 9.0769, 4.5};
        struct shared_class two[2] = {{agents / 2, 9.0769, 4.5}, {agents - agents / 2, 9.0769, 4.5}};
        double x, xs[2];

        ck_assert(theory_shared(8, &one, 1, &x));
        ck_assert_close(x, exact.throughput, 1e-9);
        ck_assert(theory_shared(8, two, 2, xs));
        ck_assert_close(xs[0] + xs[1], exact.throughput, 1e-9);
    }
    struct shared_class idle[2] = {{5, 2, 0}, {0, 3, 1}}; /* nobody thinks: the servers are always busy */
    double xs[2];
    ck_assert(theory_shared(3, idle, 2, xs));
    ck_assert_close(xs[0], 1.5, 1e-12);
    ck_assert_double_eq(xs[1], 0);
    struct shared_class many[2] = {{3000, 1, 1}, {3000, 1, 1}};
    ck_assert(!theory_shared(3, many, 2, xs));
}
END_TEST

#define SHARED \
    "study: {horizon: 6000 s, warmup: 500 s}\n" \
    "backends: {card: {kind: slots, servers: 4, service: exponential(2 s)}}\n" \
    "agents: {quick: {population: 6, think: exponential(3 s)}, slow: {population: 9, think: gamma(12 s cv 0.5)}}\n"

/* The number behind a comma of a row that begins so, in the column of that name. */
static double number_in(const char *csv, const char *row, const char *column)
{
    const char *at = csv, *line = strstr(csv, arena_format(&file.arena, "\n%s,", row)), *end = strchr(csv, '\n');
    size_t index = 0, length = strlen(column);

    ck_assert_ptr_nonnull(line);
    while (at && at < end && !(strncmp(at, column, length) == 0 && strchr(",\n", at[length]))) {
        at = strchr(at, ',');
        at += at != NULL;
        index++;
    }
    ck_assert(at && at < end);
    for (line++; index > 0; index--)
        line = strchr(line, ',') + 1;
    return *line == ',' || *line == '\n' ? (double)NAN : atof(line);
}

/* Think times are any, so the second class's are not exponential. */
START_TEST(shared_as_simulated)
{
    static const char *const names[] = {"quick", "slow"};
    struct plan plan = model_plan(SHARED);
    const char *csv;

    plan_file_write(&file, "s.yaml", SHARED);
    csv = SAID("bounds", file.path, "--format", "csv");
    for (size_t i = 0; i < 2; i++) {
        double values[3 * METRIC_COUNT], sum = 0, squares = 0, waits = 0, wait_squares = 0, error;
        double goodput = number_in(csv, names[i], "goodput_shared"),
               wait = number_in(csv, names[i], "wait_mean_shared");

        for (uint32_t r = 1; r <= 10; r++) {
            const double *own = values + (1 + i) * METRIC_COUNT;

            model_trial(&plan, 0, r, values);
            sum += own[METRIC_GOODPUT];
            squares += own[METRIC_GOODPUT] * own[METRIC_GOODPUT];
            waits += own[METRIC_WAIT_MEAN];
            wait_squares += own[METRIC_WAIT_MEAN] * own[METRIC_WAIT_MEAN];
        }
        error = sqrt((squares - sum * sum / 10) / 90);
        ck_assert_double_eq_tol(sum / 10, goodput, 4 * error);
        error = sqrt((wait_squares - waits * waits / 10) / 90);
        ck_assert_double_eq_tol(waits / 10, wait, 4 * error);
    }
    ck_assert_double_nan(number_in(
        SAID("bounds", file.path, "--format", "csv", "--set", "agents.slow.runs=20", "--set", "agents.slow.turns=5"),
        "quick", "goodput_shared"));
    plan_fini(&plan);
}
END_TEST

START_TEST(open_arrivals)
{
    const char *csv;

    plan_file_write(&file, "s.yaml",
                    "study: {horizon: 100 s}\n"
                    "backends: {card: {kind: slots, servers: 4, service: lognormal(1 s cv 0.5)}}\n"
                    "agents: {run: {arrivals: poisson(3/s)}}\n");
    csv = SAID("bounds", file.path, "--format", "csv");
    ck_assert_close(number_in(csv, "run", "erlang_c"), theory_erlang_c(4, 3), 1e-12);
    ck_assert_close(number_in(csv, "run", "erlang_b"), theory_erlang_b(4, 3), 1e-12);
    ck_assert_close(number_in(csv, "run", "wait_mean_lee_longton"), 0.625 * theory_mmc_wait(4, 3, 1), 1e-12);
    ck_assert_close(number_in(csv, "run", "wait_mean_cosmetatos"),
                    0.25 * theory_mmc_wait(4, 3, 1) + 0.75 * theory_mdc_wait(4, 3, 1), 1e-12);
    ck_assert_double_nan(number_in(csv, "run", "wait_mean_exact"));
    ck_assert_double_nan(number_in(csv, "run", "goodput_shared"));
    program_has(SAID("bounds", file.path), "wait_mean_cosmetatos: M/G/c approximately");
    program_lacks(SAID("bounds", file.path), "goodput_shared");
}
END_TEST

/* --- the retrial balance ------------------------------------------------------------------------------------------ */

static double pause_of(enum backoff_law backoff, enum jitter_law jitter, double share, uint32_t k)
{
    struct client_layer layer = {.backoff = backoff,
                                 .base = 16 * SIM_SECOND,
                                 .cap = 120 * SIM_SECOND,
                                 .jitter = jitter,
                                 .jitter_share = share,
                                 .attempts = INT64_MAX};

    return client_pause_mean(&layer, k);
}

START_TEST(pauses)
{
    ck_assert_double_eq(pause_of(BACKOFF_CONSTANT, JITTER_NONE, 0, 3), 16);
    ck_assert_double_eq(pause_of(BACKOFF_LINEAR, JITTER_FULL, 0, 3), 24);
    ck_assert_double_eq(pause_of(BACKOFF_EXPONENTIAL, JITTER_EQUAL, 0, 3), 48);
    ck_assert_double_eq(pause_of(BACKOFF_EXPONENTIAL, JITTER_FULL, 0, 4), 60); /* cut at the cap */
    ck_assert_double_eq(pause_of(BACKOFF_EXPONENTIAL, JITTER_SHARE, 0.25, 2), 32);
    ck_assert_double_eq(pause_of(BACKOFF_EXPONENTIAL, JITTER_LESS, 0.25, 2), 28);
    ck_assert_double_eq_tol(pause_of(BACKOFF_UB, JITTER_NONE, 0, 2), 1.55, 1e-12);  /* U(0.1, 3) */
    ck_assert_double_eq_tol(pause_of(BACKOFF_UB, JITTER_NONE, 0, 9), 16.05, 1e-12); /* U(0.1, 32) on average */
}
END_TEST

#define CARD(client) \
    "study: {horizon: 20000 s, warmup: 1000 s}\n" \
    "backends: {card: {kind: slots, servers: 8, service: exponential(9.0769 s)}}\n" \
    "agents: {coder: {population: 24, think: exponential(4.5 s), client: {" client "}}}\n" \
    "policies: [fixed_cap: {cap: 12}]\n"

/* With a constant pause the balance is one line: d / (1 - d) = (N - L - X Z) / (X B). */
START_TEST(a_constant_pause)
{
    struct plan plan = model_plan(CARD("backoff: constant, base: 15.5 s, jitter: none, retry_after: ignore"));
    struct balance balance;
    double x = 8 / 9.0769, ratio = (24 - 12 - x * 4.5) / (x * 15.5);

    ck_assert(balance_of(plan.points[0].scenario, 0, 12, &balance));
    ck_assert_close(balance.thinking, x * 4.5, 1e-12);
    ck_assert_close(balance.inside + balance.thinking + balance.backing_off, 24.0, 1e-12);
    ck_assert_close(balance.pause, 15.5, 1e-9);
    ck_assert_close(balance.share, ratio / (1 + ratio), 1e-6);
    ck_assert_double_eq_tol(balance.share, 0.37, 0.005); /* so a mean backoff of 15.5 s is what 37 % need */
    ck_assert(!balance_of(plan.points[0].scenario, 0, 21, &balance)); /* nobody is kept out */
    plan_fini(&plan);
}
END_TEST

/* As simulated, with what is really in the system: chances of refusals are not quite the same from one to the next. */
START_TEST(balance_as_simulated)
{
    static const char *const clients[] = {"base: 16 s, cap: 120 s, retry_after: ignore",
                                          "backoff: constant, base: 4 s, jitter: none, retry_after: ignore",
                                          "backoff: linear, base: 10 s, jitter: equal, retry_after: ignore"};

    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
        struct plan plan = model_plan(arena_format(&file.arena, CARD("%s"), clients[i]));
        struct balance balance;
        double values[METRIC_COUNT];

        model_trial(&plan, 0, 1, values);
        ck_assert(balance_of(plan.points[0].scenario, 0, values[METRIC_IN_SYSTEM_MEAN], &balance));
        ck_assert_double_eq_tol(balance.share, values[METRIC_DEFERRED_SHARE], 0.03);
        plan_fini(&plan);
    }
}
END_TEST

START_TEST(a_client_that_gives_up)
{
    struct plan plan = model_plan(CARD("base: 1 s, attempts: 2"));
    struct balance balance;

    ck_assert(balance_of(plan.points[0].scenario, 0, 12, &balance));
    ck_assert_double_nan(balance.share);
    plan_fini(&plan);
    plan_file_write(&file, "s.yaml", CARD("base: 16 s, cap: 120 s, retry_after: ignore"));
    program_has(SAID("bounds", file.path), "Retrial balance, N = L + X Z + D B");
    program_lacks(SAID("bounds", file.path, "--set", "agents.coder.population=9"), "Retrial balance");
}
END_TEST

Suite *bounds_suite(void)
{
    Suite *suite = suite_create("bounds");
    TCase *test = tcase_create("bounds");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_set_timeout(test, 0);
    tcase_add_test(test, approximations_where_they_are_exact);
    tcase_add_test(test, constant_service);
    tcase_add_test(test, classes_that_share);
    tcase_add_test(test, classes_that_are_one);
    tcase_add_test(test, shared_as_simulated);
    tcase_add_test(test, open_arrivals);
    tcase_add_test(test, pauses);
    tcase_add_test(test, a_constant_pause);
    tcase_add_test(test, balance_as_simulated);
    tcase_add_test(test, a_client_that_gives_up);
    suite_add_tcase(suite, test);
    return suite;
}
