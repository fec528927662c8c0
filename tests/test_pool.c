/* A gate before a metered pool, worked out by hand: who is let in, who gets a 429, what is charged, and what clients
 * and policies make of it. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policies/registry.h"
#include "tests/suites.h"
#include "tests/timeline.h"

#define POOL(meters, more) "backends: {p: {kind: provider, meters: {" meters "}" more "}}\n"
#define LATENCY ", latency: {base: 10 s}"

/* Two requests a window of a minute. At 0: 0 and 1 are in, 2 gets a 429 that says 60 s; it comes back at 60. */
START_TEST(refused_by_a_window)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 100 s}\n" POOL("requests: {limit: 2/min, fill: window}",
                                         LATENCY) "agents: {a: {arrivals: all_at(0 s), runs: 3, output: 100}}\n",
        NULL, "a0@0 a1@0 a2@60#2", &t);
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 3 / 100.0}, {METRIC_PROVIDER_429S, 36}, {METRIC_ERRORS, 0},
               {METRIC_WAIT_MEAN, 0}, {METRIC_TOTAL_WAIT_MEAN, 20}, {METRIC_RESPONSE_MEAN, (10 + 10 + 70) / 3.0},
               {METRIC_DEFERRED_SHARE, 0}, {METRIC_ATTEMPTS_PER_TURN, 4 / 3.0}, {METRIC_SERVICE_MEAN, 10},
               {METRIC_REQUESTS_PER_MIN, 3 * 60 / 100.0}, {METRIC_OUTPUT_PER_MIN, 300 * 60 / 100.0},
               {METRIC_CHARGED + 2 * METER_REQUESTS, 3 * 60 / 100.0}, {METRIC_CHARGED + 2 * METER_REQUESTS + 1, 2},
               {METRIC_CHARGED + 2 * METER_INPUT, NAN}, {METRIC_UTILISATION, 3 / 100.0 * 60 / 2},
               {METRIC_IN_SYSTEM_MEAN, 30 / 100.0}, {METRIC_COLD_SHARE, NAN});
}
END_TEST

/* Three ways to tell when: the exact time (30 s until the bucket of 2 holds 1 again), nothing, a constant. */
START_TEST(what_a_429_says)
{
    struct timeline t;

    timeline_expect("study: {horizon: 100 s}\n" POOL("requests: {limit: 2/min, burst: 2}",
                                                     LATENCY) "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n",
                    NULL, "a0@0 a1@0 a2@30#2", &t);
    timeline_expect("study: {horizon: 100 s}\n" POOL(
                        "requests: {limit: 2/min, burst: 2}",
                        LATENCY ", retry_after: constant(42 s)") "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n",
                    NULL, "a0@0 a1@0 a2@42#2", &t);
    /* Nothing is told: the client's own pauses, 16, 32 and 64 s. */
    timeline_expect("study: {horizon: 100 s}\n" POOL("requests: {limit: 2/min, burst: 2}", LATENCY
                                                     ", retry_after: none") "agents: {a: {arrivals: all_at(0 s), runs: "
                                                                            "3, client: {base: 16 s, jitter: none}}}\n",
                    NULL, "a0@0 a1@0 a2@48#3", &t);
    EXPECT_ROW(&t, 0, {METRIC_PROVIDER_429S, 72});
}
END_TEST

/* A client that leaves after 4 s, three times: the pool works on for nobody, and charges what it wrote. */
START_TEST(the_pool_works_for_the_dead)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 100 s}\n" POOL(
            "output: {limit: 6000 tokens/min, counts: after}",
            LATENCY) "agents: {a: {arrivals: all_at(0 s), runs: 1, output: 100,\n"
                     "             client: {timeout: 4 s, base: 1 s, backoff: constant, jitter: none, attempts: 3}}}\n",
        NULL, "a0@0 a0@5#2 a0@10#3", &t);
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 0}, {METRIC_WASTED_SHARE, 1}, {METRIC_CHARGED + 2 * METER_OUTPUT, 300 * 0.6},
               {METRIC_CHARGED + 2 * METER_OUTPUT + 1, 6000});
}
END_TEST

/* What is in flight counts until the pool is done, not until the client leaves: attempts at 0, 5, 10, 15. Two fly from
 * 0 to 10 and from 5 to 15; the third attempt, at 10, comes as the first has landed. */
START_TEST(in_flight_until_it_lands)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 100 s}\n" POOL(
            "in_flight: 2",
            LATENCY) "agents: {a: {arrivals: all_at(0 s), runs: 1, output: 100,\n"
                     "             client: {timeout: 4 s, base: 1 s, backoff: constant, jitter: none, attempts: 3}}}\n",
        NULL, "a0@0 a0@5#2 a0@10#3", &t);
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 0}, {METRIC_LOST_TURNS, 36}, {METRIC_PROVIDER_429S, 0},
               {METRIC_WASTED_TOKENS, 300 / 100.0}, {METRIC_WASTED_SHARE, 1}, {METRIC_REQUESTS_PER_MIN, 3 * 60 / 100.0},
               {METRIC_SERVICE_MEAN, 10}, {METRIC_CHARGED + 2 * METER_IN_FLIGHT, 30 / 100.0},
               {METRIC_CHARGED + 2 * METER_IN_FLIGHT + 1, 2});
}
END_TEST

/* Every call fails after its latency: an error is no 429, and the client tries again at once. */
START_TEST(errors)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 100 s}\n" POOL(
            "requests: 60/min", LATENCY
            ", errors: 100 %") "agents: {a: {arrivals: all_at(0 s), runs: 1, output: 100,\n"
                               "             client: {base: 5 s, backoff: constant, jitter: none, attempts: 3}}}\n",
        NULL, "a0@0 a0@15#2 a0@30#3", &t);
    EXPECT_ROW(&t, 0, {METRIC_ERRORS, 3 * 36}, {METRIC_PROVIDER_429S, 0}, {METRIC_LOST_TURNS, 36},
               {METRIC_OUTPUT_PER_MIN, 0});
}
END_TEST

/* Input grows from turn to turn: 1,000, 1,500, 2,000 tokens, of which all but 500 were sent before. Half of what is
 * cached counts: 1,000 + 1,000 + 1,250 = 3,250 tokens charged; 10 s of latency and 1 ms a new input token. */
START_TEST(input_is_charged_by_weight)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 100 s}\n" POOL(
            "input: {limit: 1M tokens/min, cached_weight: 0.5}",
            ", latency: {base: 10 s, per_input: 1 ms, per_output: 10 ms}") "agents: {a: {arrivals: all_at(0 s), runs: "
                                                                           "1, turns: 3, think: 1 s, output: 100,\n"
                                                                           "             input: {start: 1000, "
                                                                           "per_turn: 500}}}\n"
                                                                           "prices: {p: {input: 3, cached: 0.3, "
                                                                           "output: 15, request: 0.01}}\n",
        NULL, "a0@0 a0.1@13 a0.2@25.5", &t);
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 0.03}, {METRIC_RUNS_PER_H, 36}, {METRIC_INPUT_PER_MIN, 4500 * 0.6},
               {METRIC_CACHED_PER_MIN, 2500 * 0.6}, {METRIC_OUTPUT_PER_MIN, 300 * 0.6},
               {METRIC_CHARGED + 2 * METER_INPUT, 3250 * 0.6}, {METRIC_CHARGED + 2 * METER_INPUT + 1, 1e6},
               {METRIC_SERVICE_MEAN, (12 + 11.5 + 11.5) / 3},
               {METRIC_COST, 36 * (2000 * 3 / 1e6 + 2500 * 0.3 / 1e6 + 300 * 15 / 1e6 + 3 * 0.01)});
}
END_TEST

/* Two keys of one pool: each has its own gate and line of calls, and takes from the same meter. */
START_TEST(aliases_share_meters)
{
    struct timeline t;

    timeline_expect("study: {horizon: 100 s}\n"
                    "backends:\n  p: {kind: provider, meters: {requests: {limit: 2/min, fill: window}}" LATENCY "}\n"
                    "  q: {kind: alias, of: p}\n"
                    "agents:\n  a: {arrivals: all_at(0 s), runs: 2, backend: p}\n"
                    "  b: {arrivals: all_at(1 s), runs: 1, backend: q}\n",
                    NULL, "a0@0 a1@0 b0@60#2", &t);
    /* rows: all, class a, class b, backend p, backend q */
    EXPECT_ROW(&t, 3, {METRIC_PROVIDER_429S, 0}, {METRIC_CHARGED + 2 * METER_REQUESTS, 3 * 0.6});
    EXPECT_ROW(&t, 4, {METRIC_PROVIDER_429S, 36}, {METRIC_CHARGED + 2 * METER_REQUESTS, NAN},
               {METRIC_UTILISATION, NAN});
}
END_TEST

/* A retry that bypasses is seen by the pool alone: the cap of one call in the system would refuse the second attempt of
 * 1, which comes at 5 while 0 is in service. */
START_TEST(retries_may_bypass_the_gate)
{
    struct timeline t;
    const char *yaml = "study: {horizon: 100 s}\n" POOL("requests: 60/min",
                                                        LATENCY) "agents: {a: {arrivals: all_at(0 s), runs: 2,\n"
                                                                 "             client: {base: 5 s, backoff: constant, "
                                                                 "jitter: none%s}}}\npolicies: [fixed_cap: {cap: 1}]\n";
    char text[1024];

    snprintf(text, sizeof text, yaml, "");
    timeline_expect(text, NULL, "a0@0 a1@10#3", &t);
    EXPECT_ROW(&t, 0, {METRIC_REFUSALS_PER_TURN, 2 / 2.0});
    snprintf(text, sizeof text, yaml, ", retries: bypass");
    timeline_expect(text, NULL, "a0@0 a1@5#2", &t);
    EXPECT_ROW(&t, 0, {METRIC_REFUSALS_PER_TURN, 1 / 2.0});
}
END_TEST

/* A layer above the innermost waits 12 s for each of its two tries; below it attempts come every 5 s and are refused.
 * Tries: attempts at 0, 5, 10 (cut at 12), then after 3 s at 15, 20, 25 (cut at 27); then the call is lost. */
START_TEST(patience_of_an_outer_layer)
{
    struct timeline t;

    timeline_expect(
        "study: {horizon: 100 s}\n" POOL(
            "requests: {limit: 1/min, burst: 1}", LATENCY
            ", retry_after: none") "agents:\n  first: {arrivals: all_at(0 s), runs: 1}\n"
                                   "  a: {arrivals: all_at(0 s), runs: 1, client: [{base: 5 s, backoff: constant, "
                                   "jitter: none},\n"
                                   "      {timeout: 12 s, attempts: 2, base: 3 s, backoff: constant, jitter: none}]}\n",
        NULL, "first0@0", &t);
    EXPECT_ROW(&t, 0, {METRIC_PROVIDER_429S, 6 * 36}, {METRIC_LOST_TURNS, 36});
}
END_TEST

/* The run is begun again after its third turn was lost: tokens of the two answered turns are wasted, then it ends. The
 * meter holds five requests and gives no more. */
START_TEST(a_layer_that_restarts_runs)
{
    struct timeline t;

    timeline_expect(
        "study: {until: done}\n" POOL(
            "requests: {limit: 5/h, window: 1 h, fill: window}", LATENCY
            ", retry_after: none") "agents:\n  other: {arrivals: all_at(0 s), runs: 3}\n"
                                   "  a: {arrivals: all_at(1 s), runs: 1, turns: 3, think: 1 s, output: 100,\n"
                                   "      client: [{attempts: 1}, {restarts: run, attempts: 2, base: 1 h, cap: 1 h, "
                                   "backoff: constant, jitter: none}]}\n",
        NULL, "other0@0 other1@0 other2@0 a0@1 a0.1@12 a0.3@3623 a0.4@3634 a0.5@3645", &t);
    EXPECT_ROW(&t, 0, {METRIC_UNFINISHED, 0}, {METRIC_MAKESPAN, 3655},
               {METRIC_WASTED_SHARE, 200 / 500.0}); /* the others have no output */
}
END_TEST

/* What has no default that fits. */
static const char *needs_of(const char *name)
{
    if (strcmp(name, "fixed_cap") == 0)
        return "cap: 10";
    if (strcmp(name, "exec") == 0)
        return "command: [sh, -c, 'read -r line; echo takes; read -r line']";
    return strcmp(name, "aatb") == 0 ? "server_rate: 30/min" : "";
}

/* Every policy that is built in stands before a pool, and before a card; the audit of each trial holds its books. */
START_TEST(every_policy_on_both_sides)
{
    static const char *const backends[] = {
        "b: {kind: provider, latency: {base: 8 s}, meters: {requests: 30/min, in_flight: 8}}",
        "b: {kind: slots, servers: 4, rate: 40 tokens/s}",
    };

    for (size_t i = 0; policy_registry[i]; i++) {
        const char *name = policy_registry[i]->name, *needs = needs_of(name);
        char yaml[1024];
        struct plan plan;
        double v[METRIC_COUNT];

        snprintf(
            yaml, sizeof yaml,
            "study: {horizon: 20000 s}\nbackends: {%s}\n"
            "agents: {a: {population: 12, think: exponential(5 s), output: exponential(300), turns: geometric(20),\n"
            "             runs: 1M, input: {start: 900, per_turn: 30}, client: {timeout: 200 s}}}\n"
            "policies: [%s: {%s}]\n",
            backends[_i], name, needs);
        plan = model_plan(yaml);
        model_trial(&plan, 0, 1, v);
        ck_assert_msg(v[METRIC_GOODPUT] > 0.001, "%s: %g turns/s", name, v[METRIC_GOODPUT]);
        ck_assert_int_eq(isnan(v[METRIC_PROVIDER_429S]), _i == 1);
        plan_fini(&plan);
    }
}
END_TEST

/* The limit halves at 100 s. Calls come every 2 s or so and are refused till the end of the burst: what is measured is
 * the time from the drop to the last 429 that a quiet minute follows. */
START_TEST(recovery_after_a_drop)
{
    struct timeline t;

    /* 60 a minute until 100 s, then none for 20 s, then 60 again: the bucket of one call is empty after the first call
     * that comes later than 100 s. Of one agent whose turns are due every 5 s: at 100 the bucket is full and lets it
     * in, at 105, 110 and 115 it does not, and each gives up at once; from 121 on there is one again. */
    timeline_expect(
        "study: {horizon: 300 s}\n"
        "backends: {p: {kind: provider, latency: {base: 1 s}, retry_after: none,\n"
        "           meters: {requests: {burst: 1, moves: steps(0 s 60/min 100 s 0/min 120 s 60/min)}}}}\n"
        "agents: {a: {population: 1, schedule: {turns: 30, over: 150 s, times: even}, client: {preset: none}}}\n",
        NULL,
        "a0@0 a0.1@5 a0.2@10 a0.3@15 a0.4@20 a0.5@25 a0.6@30 a0.7@35 a0.8@40 a0.9@45 a0.10@50 a0.11@55 "
        "a0.12@60 a0.13@65 a0.14@70 a0.15@75 a0.16@80 a0.17@85 a0.18@90 a0.19@95 a0.20@100 a0.25@125 "
        "a0.26@130 a0.27@135 a0.28@140 a0.29@145",
        &t);
    EXPECT_ROW(&t, 0, {METRIC_RECOVERY_TIME, 20}, {METRIC_PROVIDER_429S, 4 * 12}, {METRIC_LOST_TURNS, 4 * 12},
               {METRIC_429S_PER_TURN, 4 / 26.0});
}
END_TEST

Suite *pool_suite(void)
{
    Suite *suite = suite_create("pool");
    TCase *test = tcase_create("pool");

    tcase_add_test(test, refused_by_a_window);
    tcase_add_test(test, what_a_429_says);
    tcase_add_test(test, the_pool_works_for_the_dead);
    tcase_add_test(test, in_flight_until_it_lands);
    tcase_add_test(test, errors);
    tcase_add_test(test, input_is_charged_by_weight);
    tcase_add_test(test, aliases_share_meters);
    tcase_add_test(test, retries_may_bypass_the_gate);
    tcase_add_test(test, patience_of_an_outer_layer);
    tcase_add_test(test, a_layer_that_restarts_runs);
    tcase_add_loop_test(test, every_policy_on_both_sides, 0, 2);
    tcase_add_test(test, recovery_after_a_drop);
    suite_add_tcase(suite, test);
    return suite;
}
