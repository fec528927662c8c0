/* How clients take refusals, worked by hand, and the life of an attempt through hold, timeout and shedding. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/model.h"
#include "tests/suites.h"

/* One server, ten seconds a call, a cap of one: the second of two runs at t = 0 is refused until the first has gone. */
static void second_run(const char *client, double *v)
{
    char yaml[1024];
    struct plan plan;

    snprintf(yaml, sizeof yaml,
             "study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(10 s)}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 2, client: {%s}}}\npolicies: [fixed_cap: {cap: 1}]\n",
             client);
    plan = model_plan(yaml);
    model_trial(&plan, 0, 1, v);
    plan_fini(&plan);
}

static void expect_second(const char *client, double start, double refusals)
{
    double v[METRIC_COUNT];

    second_run(client, v);
    ck_assert_double_eq_tol(v[METRIC_TOTAL_WAIT_MEAN], start / 2, 1e-9);
    ck_assert_double_eq(v[METRIC_WAIT_MEAN], 0);
    ck_assert_double_eq_tol(v[METRIC_REFUSALS_PER_TURN], refusals / 2, 1e-12);
    ck_assert_double_eq_tol(v[METRIC_DEFERRED_SHARE], refusals / (refusals + 2), 1e-12);
    ck_assert_double_eq_tol(v[METRIC_MAKESPAN], start + 10, 1e-9);
}

START_TEST(backoff_laws)
{
    expect_second("backoff: constant, base: 4 s, jitter: none", 12, 3);              /* 4, 8, 12 */
    expect_second("backoff: linear, base: 4 s, jitter: none", 12, 2);                /* 4, 12 */
    expect_second("backoff: exponential, base: 1 s, jitter: none", 15, 4);           /* 1, 3, 7, 15 */
    expect_second("backoff: exponential, base: 1 s, cap: 2 s, jitter: none", 11, 6); /* 1, 3, 5, 7, 9, 11 */
}
END_TEST

/* Each jitter's mean and bounds, from many agents refused once. */
static void expect_jitter(const char *client, double least, double most)
{
    char yaml[1024];
    struct plan plan;
    double v[METRIC_COUNT], mean;

    /* The first of 2,001 keeps the server for 1 s; the others come back once, all of them later than that. */
    snprintf(yaml, sizeof yaml,
             "study: {until: done}\nbackends: {b: {kind: slots, servers: 3000, service: constant(0 s)}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 2000, client: {%s}}}\npolicies: [once: {}]\n",
             client);
    plan = model_plan_with(yaml, "once");
    model_trial(&plan, 0, 1, v);
    mean = v[METRIC_TOTAL_WAIT_MEAN];
    ck_assert_double_eq_tol(mean, (least + most) / 2, 4 * (most - least) / sqrt(12 * 2000.0) + 1e-9);
    ck_assert(v[METRIC_MAKESPAN] <= most + 1e-9 && v[METRIC_MAKESPAN] >= least);
    ck_assert(v[METRIC_MAKESPAN] >= most - (most - least) / 50);
    plan_fini(&plan);
}

START_TEST(jitters)
{
    expect_jitter("base: 8 s, jitter: none", 8, 8);
    expect_jitter("base: 8 s, jitter: equal", 4, 8);
    expect_jitter("base: 8 s, jitter: full", 0, 8);
    expect_jitter("base: 8 s, jitter: 25 %", 6, 10);
    expect_jitter("base: 8 s, jitter: less 25 %", 6, 8);
    expect_jitter("backoff: ub", 0.1, 1);
    /* the policy names 3 s */
    expect_jitter("base: 8 s, jitter: none, retry_after: ignore", 8, 8);
}
END_TEST

START_TEST(retry_after_is_used_as_told)
{
    double v[METRIC_COUNT];
    struct plan plan = model_plan_with("study: {until: done}\n"
                                       "backends: {b: {kind: slots, servers: 9, service: constant(0 s)}}\n"
                                       "agents: {a: {arrivals: all_at(0 s), runs: 1, client: {base: 1 s, jitter: none, "
                                       "retry_after: honour}}}\n"
                                       "policies: [once: {after: 3 s}]\n"
                                       "sweep: {agents.a.client.retry_after: [honour, at_least, ignore]}\n",
                                       "once");

    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 3);
    model_trial(&plan, 1, 1, v);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 3);
    model_trial(&plan, 2, 1, v);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 1);
    plan_fini(&plan);
}
END_TEST

/* A base of 0 is a loop at one instant, told as such and soon; the longest time that a policy can name is one too. */
START_TEST(edges_of_a_sleep)
{
    char wrong[512] = "";
    struct trial_watch watch = {.wrong = wrong, .wrong_size = sizeof wrong};
    double v[METRIC_COUNT];
    struct plan plan =
        model_plan_warned("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 1, service: 10 s}}\n"
                          "agents: {a: {population: 2, think: 5 s, client: {base: 0 s}}}\n"
                          "policies: [fixed_cap: {cap: 1}]\n");

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, v), TRIAL_WRONG);
    ck_assert_ptr_nonnull(strstr(wrong, "events at one instant"));
    plan_fini(&plan);
    plan = model_plan_with("study: {until: done, most: 100 s}\nbackends: {b: {kind: slots, servers: 1, service: 1 s}}\n"
                           "agents: {a: {arrivals: all_at(0 s), runs: 1}}\npolicies: [once: {after: inf}]\n",
                           "once");
    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq(v[METRIC_UNFINISHED], 1);
    ck_assert_double_eq(v[METRIC_CENSORED], 1);
    plan_fini(&plan);
}
END_TEST

START_TEST(attempts_run_out)
{
    double v[METRIC_COUNT];

    second_run("backoff: constant, base: 1 s, jitter: none, attempts: 3", v);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 10);
    ck_assert_double_eq(v[METRIC_RUNS_PER_H], 360);
    ck_assert_double_eq(v[METRIC_LOST_TURNS], 360);
    ck_assert_double_eq(v[METRIC_REFUSALS_PER_TURN], 3);
    ck_assert_double_eq(v[METRIC_UNFINISHED], 0);
}
END_TEST

/* A client leaves after 4 s; the server works on for nobody. */
START_TEST(timeout_in_service)
{
    double v[METRIC_COUNT];
    struct plan plan = model_plan("study: {horizon: 100 s}\n"
                                  "backends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 1, output: 100, client: {timeout: 4 s, "
                                  "attempts: 2, base: 1 s, jitter: none}}}\n");

    /* served 0 to 10; left at 4; again at 5, waits, leaves at 9: given up */
    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq(v[METRIC_GOODPUT], 0);
    ck_assert_double_eq_tol(v[METRIC_UTILISATION], 0.1, 1e-12);
    ck_assert_double_eq_tol(v[METRIC_WASTED_TOKENS], 1, 1e-12);
    ck_assert_double_eq(v[METRIC_WASTED_SHARE], 1);
    ck_assert_double_eq_tol(v[METRIC_LOST_TURNS], 36, 1e-12);
    ck_assert_double_eq_tol(v[METRIC_IN_SYSTEM_MEAN], 0.08, 1e-12);
    ck_assert_double_eq(v[METRIC_CENSORED], 0);
    plan_fini(&plan);
}
END_TEST

/* --- at the door --------------------------------------------------------------------------------------------------
 */

static void porter_trial(const char *yaml, double *v)
{
    struct plan plan = model_plan_with(yaml, "porter");

    model_trial(&plan, 0, 1, v);
    plan_fini(&plan);
}

/* Runs that the door keeps waiting, in either way, are counted among what still waits, by class, since they asked. */
START_TEST(runs_at_the_door_are_censored)
{
    static const char *const answers[] = {"hold", "defer"};
    double v[METRIC_COUNT * 3];

    for (size_t i = 0; i < 2; i++) {
        char yaml[1024];

        snprintf(yaml, sizeof yaml,
                 "study: {horizon: 100 s, warmup: 10 s}\n"
                 "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                 "agents: {a: {arrivals: all_at(20 s), runs: 3}, b: {arrivals: all_at(40 s), runs: 2}}\n"
                 "policies: [porter: {answer: %s}]\n",
                 answers[i]);
        porter_trial(yaml, v);
        ck_assert_double_eq(v[METRIC_CENSORED], 5);
        ck_assert_double_eq(v[METRIC_CENSORED_AGE], 80);
        ck_assert_double_eq(v[METRIC_COUNT + METRIC_CENSORED], 3);
        ck_assert_double_eq(v[2 * METRIC_COUNT + METRIC_CENSORED], 2);
        ck_assert_double_eq(v[2 * METRIC_COUNT + METRIC_CENSORED_AGE], 60);
        ck_assert_double_eq(v[METRIC_RUNS_REFUSED], 0);
    }
}
END_TEST

START_TEST(runs_refused_for_good)
{
    double v[METRIC_COUNT];

    porter_trial("study: {until: done}\n"
                 "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                 "agents: {a: {arrivals: all_at(0 s), runs: 5, client: {attempts: 3, backoff: constant, base: 5 s, "
                 "jitter: none}}}\npolicies: [porter: {answer: defer}]\n",
                 v);
    ck_assert_double_eq(v[METRIC_MAKESPAN], 10);
    ck_assert_double_eq(v[METRIC_RUNS_REFUSED], 5 * 360);
    ck_assert_double_eq(v[METRIC_UNFINISHED], 0);
    ck_assert_double_eq(v[METRIC_CENSORED], 0);
    ck_assert_double_eq(v[METRIC_LOST_TURNS], 0);
}
END_TEST

/* An agent whose endless run is rejected thinks and asks again, with its next run. */
START_TEST(rejected_agents_ask_again)
{
    double v[METRIC_COUNT];

    porter_trial("study: {horizon: 95 s}\n"
                 "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                 "agents: {a: {population: 2, think: constant(10 s)}}\npolicies: [porter: {answer: reject}]\n",
                 v);
    ck_assert_double_eq_tol(v[METRIC_RUNS_REFUSED], 20 * 3600 / 95.0, 1e-9); /* at 0, 10, .. 90 */
    ck_assert_double_eq(v[METRIC_THINK_MEAN], 10);
    ck_assert_double_eq(v[METRIC_CENSORED], 0);
}
END_TEST

/* The door is told what is expected of a run, never what this one will draw. */
START_TEST(runs_are_announced_by_their_means)
{
    double v[METRIC_COUNT * 3];

    porter_trial("study: {horizon: 10000 s}\n"
                 "backends: {b: {kind: slots, servers: 9, rate: 40 tokens/s}}\n"
                 "agents: {a: {population: 3, turns: geometric(8), think: exponential(1 s), output: exponential(50)}}\n"
                 "policies: [porter: {turns: 8, tokens: 400}]\n",
                 v);
    ck_assert_double_eq(v[METRIC_RUNS_REFUSED], 0);
    ck_assert_double_gt(v[METRIC_RUNS_PER_H], 10);
    porter_trial("study: {horizon: 1000 s}\n"
                 "backends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\n"
                 "agents: {a: {population: 3, think: exponential(1 s), output: 0},\n"
                 "         b: {population: 3, think: exponential(1 s), output: 5}}\n"
                 "policies: [porter: {turns: inf}]\n",
                 v);
    ck_assert_double_eq(v[METRIC_RUNS_REFUSED], 0);
    porter_trial("study: {horizon: 1000 s}\n"
                 "backends: {b: {kind: slots, servers: 9, rate: 40 tokens/s}}\n"
                 "agents: {a: {arrivals: poisson(1/s), output: exponential(50)}}\n"
                 "policies: [porter: {turns: 1, tokens: 50}]\n",
                 v);
    ck_assert_double_eq(v[METRIC_RUNS_REFUSED], 0);
}
END_TEST

/* --- shares --------------------------------------------------------------------------------------------------------
 */

/* A policy that sheds and takes back: the client sees no refusal, so none is counted, however often that happens. */
START_TEST(what_is_taken_back_is_no_refusal)
{
    double v[METRIC_COUNT];
    struct plan plan = model_plan_with(
        "study: {horizon: 3000 s}\n"
        "backends: {b: {kind: slots, servers: 3, service: exponential(4 s)}}\n"
        "agents: {a: {population: 12, think: exponential(3 s), client: {base: 2 s}}}\n"
        "policies: [exerciser: {alone: true, hold: 0, defer: 0, reject: 0, displace: 0.2, shed: 0.8, again: 0.95}]\n",
        "exerciser");

    model_trial(&plan, 0, 1, v);
    ck_assert_double_gt(v[METRIC_DEFERRED_SHARE], 0.01);
    ck_assert_double_le(v[METRIC_DEFERRED_SHARE], 1);
    plan_fini(&plan);
}
END_TEST

/* A run's first turn is answered before the warm-up, its second is refused after it: nothing that was served in the
 * window is wasted. */
START_TEST(waste_is_of_the_window)
{
    double v[METRIC_COUNT * 3];
    struct plan plan = model_plan("study: {horizon: 100 s, warmup: 12 s}\n"
                                  "backends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: constant(2), think: constant(10 "
                                  "s), output: 100, client: {attempts: 1}},\n"
                                  "         b: {arrivals: all_at(18 s), runs: 1, output: 50}}\n"
                                  "policies: [fixed_cap: {cap: 1}]\n");

    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq_tol(v[METRIC_LOST_TURNS], 3600 / 88.0, 1e-9);
    ck_assert_double_eq_tol(v[METRIC_GOODPUT_TOKENS], 50 / 88.0, 1e-9);
    ck_assert_double_eq(v[METRIC_WASTED_TOKENS], 0);
    ck_assert_double_eq(v[METRIC_WASTED_SHARE], 0);
    plan_fini(&plan);
}
END_TEST

/* The same without a warm-up: the first turn's tokens are wasted. */
START_TEST(failed_runs_waste_their_answers)
{
    double v[METRIC_COUNT * 3];
    struct plan plan = model_plan("study: {horizon: 100 s, warmup: 5 s}\n"
                                  "backends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: constant(2), think: constant(10 "
                                  "s), output: 100, client: {attempts: 1}},\n"
                                  "         b: {arrivals: all_at(18 s), runs: 1, output: 50}}\n"
                                  "policies: [fixed_cap: {cap: 1}]\n");

    model_trial(&plan, 0, 1, v);
    ck_assert_double_eq_tol(v[METRIC_WASTED_SHARE], 100.0 / 150, 1e-12);
    plan_fini(&plan);
}
END_TEST

Suite *clients_suite(void)
{
    Suite *suite = suite_create("clients");
    TCase *test = tcase_create("clients");

    tcase_add_test(test, backoff_laws);
    tcase_add_test(test, jitters);
    tcase_add_test(test, retry_after_is_used_as_told);
    tcase_add_test(test, edges_of_a_sleep);
    tcase_add_test(test, attempts_run_out);
    tcase_add_test(test, timeout_in_service);
    tcase_add_test(test, runs_at_the_door_are_censored);
    tcase_add_test(test, runs_refused_for_good);
    tcase_add_test(test, rejected_agents_ask_again);
    tcase_add_test(test, runs_are_announced_by_their_means);
    tcase_add_test(test, what_is_taken_back_is_no_refusal);
    tcase_add_test(test, waste_is_of_the_window);
    tcase_add_test(test, failed_runs_waste_their_answers);
    suite_add_tcase(suite, test);
    return suite;
}
