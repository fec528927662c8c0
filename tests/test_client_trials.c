/* test_client_trials.c - clients of several layers in trials: how many attempts a call comes to. */
#include <check.h>
#include <stdio.h>

#include "tests/model.h"
#include "tests/suites.h"

struct seen {
    uint64_t attempts, most, timeouts, abandoned, deferred;
};

static void attempted(void *context, const struct attempt_record *record)
{
    struct seen *seen = context;

    seen->attempts++;
    seen->most = record->call->attempt > seen->most ? record->call->attempt : seen->most;
    seen->timeouts += record->verdict == ATTEMPT_TIMEOUT;
    seen->abandoned += record->verdict == ATTEMPT_ABANDONED;
    seen->deferred += record->verdict == ATTEMPT_DEFERRED;
}

static struct seen trial(const char *yaml, const char *client_text, const char *plugin, double *v)
{
    char text[2048];
    char wrong[512] = "";
    struct seen seen = {0};
    struct trial_watch watch = {.attempted = attempted, .context = &seen, .wrong = wrong, .wrong_size = sizeof wrong};

    snprintf(text, sizeof text, yaml, client_text);
    struct plan plan = plugin ? model_plan_with(text, plugin) : model_plan(text);
    ck_assert_msg(trial_simulate(plan.points[0].scenario, 1, &watch, v) == TRIAL_ENDED, "%s", wrong);
    plan_fini(&plan);
    return seen;
}

static const char three_of_three[] = "[{attempts: 3, backoff: constant, base: 1 s, jitter: none},"
                                     " {attempts: 3, backoff: constant, base: 10 s, jitter: none},"
                                     " {attempts: 3, backoff: constant, base: 100 s, cap: 100 s, jitter: none}]";

/* Every attempt of ten calls is refused. */
START_TEST(attempts_of_calls_that_are_always_refused)
{
    static const char yaml[] = "study: {until: done, most: 24 h}\n"
                               "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                               "agents: {a: {arrivals: all_at(0 s), runs: 10, client: %s}}\n"
                               "policies: [script: {gate: d, times: 1000}]\n";
    double v[METRIC_COUNT];

    ck_assert_uint_eq(trial(yaml, "{preset: none}", "script", v).attempts, 10);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 0);
    ck_assert_uint_eq(trial(yaml, three_of_three, "script", v).attempts, 270);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 18 * 1 + 6 * 10 + 2 * 100);
    ck_assert_uint_eq(trial(yaml, "{preset: grpc, attempts: inf}", "script", v).attempts, 50);
}
END_TEST

/* In overload a call is answered early or late: without retries each makes one attempt, else 27 at most. */
START_TEST(amplification_is_bounded)
{
    static const char yaml[] = "study: {horizon: 3000 s}\n"
                               "backends: {b: {kind: slots, servers: 2, service: exponential(9 s)}}\n"
                               "agents: {a: {population: 30, think: exponential(9 s), client: %s}}\n"
                               "policies: [fixed_cap: {cap: 3}]\n";
    double v[METRIC_COUNT];
    struct seen once = trial(yaml, "[{attempts: 1}, {attempts: 1}, {attempts: 1}]", NULL, v);

    ck_assert_uint_eq(once.most, 1);
    ck_assert_uint_gt(once.deferred, 100);
    struct seen retried = trial(yaml, "[{attempts: 3}, {attempts: 3}, {attempts: 3}]", NULL, v);
    ck_assert_uint_eq(retried.most, 27);
}
END_TEST

/* Two layers of two: of four attempts that time out the last is the one that ends the call. */
START_TEST(timeouts_through_layers)
{
    static const char yaml[] = "study: {horizon: 900 s}\n"
                               "backends: {b: {kind: slots, servers: 1, service: constant(800 s)}}\n"
                               "agents: {a: {arrivals: all_at(0 s), runs: 1, client: %s}}\n";
    double v[METRIC_COUNT];
    struct seen seen = trial(yaml,
                             "[{attempts: 2, timeout: 10 s, backoff: constant, base: 1 s, jitter: none},"
                             " {attempts: 2, backoff: constant, base: 5 s, jitter: none}]",
                             NULL, v);

    ck_assert_uint_eq(seen.timeouts, 3);
    ck_assert_uint_eq(seen.abandoned, 1);
    ck_assert_double_eq_tol(v[METRIC_LOST_TURNS], 4, 1e-12); /* 3,600 / 900 */
}
END_TEST

Suite *client_trials_suite(void)
{
    Suite *suite = suite_create("client_trials");
    TCase *test = tcase_create("client_trials");

    tcase_add_test(test, attempts_of_calls_that_are_always_refused);
    tcase_add_test(test, amplification_is_bounded);
    tcase_add_test(test, timeouts_through_layers);
    suite_add_tcase(suite, test);
    return suite;
}
