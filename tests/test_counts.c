/* Every number of a trial, worked out by hand from small scenarios in which everything happens at known times. Policies
 * answer by the letter (tests/plugins/script.c). */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/plan_file.h"
#include "tests/suites.h"
#include "tests/timeline.h"

/* --- refusals -------------------------------------------------------------------------------------------------------
 */

/* One server, 10 s a call, seven runs at t = 0, two attempts, 4 s between them. At 0: 0 is served; 1 waits; 2 is
 * deferred until 4; 3 rejected; 4 held, asked at 5, at its cap of 7 for the last time, and back at 11; 5 displaces 1,
 * which comes back at 4, after 2; 6 waits and is shed at 20, when the server takes it, and back at 24.
 *   server: 0 from 0, 5 from 10, 2 from 20, 1 from 30, 4 from 40 beyond the horizon of 45; 6 is waiting then. */
START_TEST(every_kind_of_refusal)
{
    struct timeline t;

    timeline_expect("study: {horizon: 45 s}\nbackends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 7, output: 100, client: {backoff: constant, base: 4 s,\n"
                    "             jitter: none, attempts: 2, hold_cap: 7 s}}}\n"
                    "policies: [script: {gate: aadrhxa, start: aaaaaad, times: 1, hold: 5 s}]\n",
                    "script", "a0@0 a5@10 a2@20#2 a1@30#2 a4@40#2", &t);
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 4 / 45.0}, {METRIC_GOODPUT_TOKENS, 400 / 45.0}, {METRIC_RUNS_PER_H, 320},
               {METRIC_WAIT_MEAN, (0 + 10 + 16 + 26 + 29) / 5.0}, /* since 0, 0, 4, 4 and 11 */
               {METRIC_WAIT_P50, 16}, {METRIC_WAIT_P95, 29}, {METRIC_WAIT_P99, 29},
               {METRIC_TOTAL_WAIT_MEAN, (0 + 10 + 20 + 30) / 4.0}, {METRIC_TOTAL_WAIT_P99, 30},
               {METRIC_RESPONSE_MEAN, (10 + 20 + 30 + 40) / 4.0}, {METRIC_RESPONSE_P99, 40},
               {METRIC_DEFERRED_SHARE, 5 / 11.0}, /* of 7 first and 4 second attempts */
               {METRIC_REFUSALS_PER_TURN, 5 / 4.0}, {METRIC_ATTEMPTS_PER_TURN, 11 / 4.0},
               {METRIC_SHED, 2 / 4.0},                                  /* shed 6, displaced 1 */
               {METRIC_HOLD_EXPIRED, 1 / 4.0}, {METRIC_LOST_TURNS, 80}, /* one in 45 s */
               {METRIC_UTILISATION, 1},
               /* 0: 10; 1: 4 to 40; 2: 4 to 30; 4: 11 to 45; 5: 20; 6: 20, and 24 to 45 */
               {METRIC_IN_SYSTEM_MEAN, (10 + 36 + 26 + 34 + 20 + 20 + 21) / 45.0},
               {METRIC_QUEUE_AGE_P99, 29 - 0.45}, /* of 4 at 40; nothing else is above 26 */
               {METRIC_CENSORED, 1}, {METRIC_CENSORED_AGE, 45}, {METRIC_SERVICE_MEAN, 10}, {METRIC_MAKESPAN, NAN},
               {METRIC_UNFINISHED, NAN}, {METRIC_THINK_MEAN, NAN}, {METRIC_WASTED_TOKENS, 0}, {METRIC_WASTED_SHARE, 0});
}
END_TEST

/* Shed without end: at 10 and at 20 s the server takes 256 calls in vain, and serves the next unasked. Calls 0 to 599:
 * 1 to 256 are shed at 10, 258 to 513 at 20, and 515 to 599, the rest of the line, at 30. */
START_TEST(after_256_offers_the_next_is_served)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(10 s)}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 600}}\npolicies: [script: {start: r, from: 5 s}]\n",
                    "script", "a0@0 a257@10 a514@20", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 30}, {METRIC_SHED, 597 / 3.0}, {METRIC_LOST_TURNS, 597 * 120},
               {METRIC_UNFINISHED, 0});
    /* Two servers that become free together are two times 256 offers. */
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 2, service: constant(10 s)}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 600}}\npolicies: [script: {start: r, from: 5 s}]\n",
                    "script", "a0@0 a1@0 a258@10 a515@10", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 20}, {METRIC_SHED, 596 / 4.0});
}
END_TEST

/* Shed with a retry-after: 1 is taken at 10, told 3 s, and back at 13, when 2 is served. */
START_TEST(shed_with_a_retry_after)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(10 s)}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 3, client: {base: 1 s, jitter: none}}}\n"
                    "policies: [script: {start: ada, times: 1, after: 3 s}]\n",
                    "script", "a0@0 a2@10 a1@20#2", &t);
    EXPECT_ROW(&t, 0, {METRIC_WAIT_MEAN, (0 + 10 + 7) / 3.0}, {METRIC_TOTAL_WAIT_MEAN, (0 + 10 + 20) / 3.0});
}
END_TEST

/* --- quantiles ------------------------------------------------------------------------------------------------------
 */

/* A hundred runs in line, 1 s each, all refused once and back after 3 s: waits of 0 to 99 s, total waits 3 s longer. */
START_TEST(quantiles_of_a_staircase)
{
    struct timeline t;
    struct plan plan = model_plan_with("study: {horizon: 1000 s}\n"
                                       "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                                       "agents: {a: {arrivals: all_at(0 s), runs: 100}}\n"
                                       "policies: [once: {after: 3 s}]\n",
                                       "once");

    timeline_of(&plan, 0, &t);
    EXPECT_ROW(&t, 0, {METRIC_WAIT_MEAN, 49.5}, {METRIC_WAIT_P50, 49}, {METRIC_WAIT_P95, 94}, {METRIC_WAIT_P99, 98},
               {METRIC_TOTAL_WAIT_MEAN, 52.5}, {METRIC_TOTAL_WAIT_P99, 101}, {METRIC_RESPONSE_MEAN, 53.5},
               {METRIC_RESPONSE_P99, 102}, {METRIC_UTILISATION, 0.1}, {METRIC_IN_SYSTEM_MEAN, 5.05},
               {METRIC_QUEUE_AGE_P99, 89}); /* grows to 99 s; 10 of 1000 s are later than at 89 */
    plan_fini(&plan);
}
END_TEST

/* A terminating study has a p99 from 2,000 calls on. */
START_TEST(least_for_a_p99)
{
    struct timeline t;
    struct plan plan = model_plan("study: {until: done}\nsweep: {agents.a.runs: [1999, 2000]}\n"
                                  "backends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                                  "agents: {a: {arrivals: all_at(0 s), runs: 1}}\n");

    timeline_of(&plan, 0, &t);
    EXPECT_ROW(&t, 0, {METRIC_WAIT_P50, 999}, {METRIC_WAIT_P95, 1899}, {METRIC_WAIT_P99, NAN},
               {METRIC_TOTAL_WAIT_P99, NAN}, {METRIC_RESPONSE_P99, NAN});
    timeline_of(&plan, 1, &t);
    EXPECT_ROW(&t, 0, {METRIC_WAIT_P50, 999}, {METRIC_WAIT_P95, 1899}, {METRIC_WAIT_P99, 1979},
               {METRIC_TOTAL_WAIT_P99, 1979}, {METRIC_RESPONSE_P99, 1980});
    plan_fini(&plan);
}
END_TEST

/* --- runs -----------------------------------------------------------------------------------------------------------
 */

#define TWO_RUNS \
    "backends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n" \
    "agents: {a: {population: 1, runs: 2, turns: constant(2), think: constant(2 s), output: 100}}\n" \
    "policies: [script: {gate: r, from: 30 s}]\n"

/* Two runs of two turns: 2 to 12, 14 to 24; 26 to 36, and at 38 the last turn is rejected, so that the one before it
 * was served for nothing. */
START_TEST(a_run_that_ends_undone)
{
    struct timeline t;

    timeline_expect("study: {until: done, most: 100 s}\n" TWO_RUNS, "script", "a0@2 a0.1@14 a0.2@26", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 38}, {METRIC_UNFINISHED, 0}, {METRIC_GOODPUT, 3 / 38.0},
               {METRIC_GOODPUT_TOKENS, 300 / 38.0}, {METRIC_RUNS_PER_H, 3600 / 38.0}, {METRIC_LOST_TURNS, 3600 / 38.0},
               {METRIC_WASTED_TOKENS, 100 / 38.0}, {METRIC_WASTED_SHARE, 1 / 3.0}, {METRIC_UTILISATION, 30 / 38.0},
               {METRIC_IN_SYSTEM_MEAN, 30 / 38.0}, {METRIC_ATTEMPTS_PER_TURN, 4 / 3.0},
               {METRIC_DEFERRED_SHARE, 1 / 4.0}, {METRIC_REFUSALS_PER_TURN, 1 / 3.0}, {METRIC_THINK_MEAN, 2},
               {METRIC_SERVICE_MEAN, 10}, {METRIC_RESPONSE_MEAN, 10});
    /* stopped within the second run */
    timeline_expect("study: {until: done, most: 35 s}\n" TWO_RUNS, "script", "a0@2 a0.1@14 a0.2@26", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, NAN}, {METRIC_UNFINISHED, 1}, {METRIC_GOODPUT, 2 / 35.0},
               {METRIC_WASTED_TOKENS, 0}, {METRIC_UTILISATION, 29 / 35.0}, {METRIC_CENSORED, 0});
}
END_TEST

/* --- rows -----------------------------------------------------------------------------------------------------------
 */

/* p, of tenant red, on x: thinks 6 s, served 6 to 16, 22 to 32, 38 to 48.
 * r, of tenant blue, on x, 20 s a call: served from 0, leaves at 7; tries again at 11, is served from 16 and leaves for
 * good at 18. Its servers work on until 20 and 36.
 * q, of tenant blue, on y: q0 served 1 to 5 and, after 3 s of thought and a wait, 9 to 13; q1 5 to 9 and 13 to 17. */
START_TEST(two_classes_tenants_and_backends)
{
    struct timeline t;

    timeline_expect("study: {horizon: 50 s}\n"
                    "backends:\n"
                    "  x: {kind: slots, servers: 2, rate: 10 tokens/s}\n"
                    "  y: {kind: slots, servers: 1, service: constant(4 s)}\n"
                    "agents:\n"
                    "  p: {population: 1, think: constant(6 s), output: 100, backend: x, tenant: red}\n"
                    "  q: {arrivals: all_at(1 s), runs: 2, turns: constant(2), think: constant(3 s), output: 50,\n"
                    "      backend: y, tenant: blue}\n"
                    "  r: {arrivals: all_at(0 s), runs: 1, output: 200, backend: x, tenant: blue,\n"
                    "      client: {timeout: 7 s, attempts: 2, base: 4 s, jitter: none}}\n",
                    NULL, "r0@0 q0@1 q1@5 p0@6 q0.1@9 q1.1@13 r0@16#2 p0.1@22 p0.2@38", &t);
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 7 / 50.0}, {METRIC_GOODPUT_TOKENS, 500 / 50.0}, {METRIC_RUNS_PER_H, 2 * 72},
               {METRIC_WAIT_MEAN, (0 + 4 + 1 + 1 + 0 + 0 + 0 + 0 + 5) / 9.0},
               {METRIC_TOTAL_WAIT_MEAN, (0 + 4 + 1 + 1 + 0 + 0 + 0) / 7.0},
               {METRIC_RESPONSE_MEAN, (10 + 10 + 10 + 4 + 8 + 5 + 5) / 7.0}, {METRIC_ATTEMPTS_PER_TURN, 9 / 7.0},
               {METRIC_LOST_TURNS, 72}, {METRIC_WASTED_TOKENS, 400 / 50.0}, {METRIC_WASTED_SHARE, 400 / 900.0},
               {METRIC_SERVICE_MEAN, (10 + 10 + 10 + 4 + 4 + 4 + 4 + 20 + 20) / 9.0},
               {METRIC_THINK_MEAN, (6 + 6 + 6 + 3 + 3) / 5.0}, {METRIC_CENSORED, 0},
               /* a backend's own */
               {METRIC_UTILISATION, NAN}, {METRIC_IN_SYSTEM_MEAN, NAN}, {METRIC_QUEUE_AGE_P99, NAN});
#define P \
    {METRIC_GOODPUT, 3 / 50.0}, {METRIC_GOODPUT_TOKENS, 300 / 50.0}, {METRIC_RUNS_PER_H, 0}, {METRIC_WAIT_MEAN, 0}, \
        {METRIC_RESPONSE_MEAN, 10}, {METRIC_ATTEMPTS_PER_TURN, 1}, {METRIC_LOST_TURNS, 0}, {METRIC_WASTED_TOKENS, 0}, \
        {METRIC_THINK_MEAN, 6}, {METRIC_SERVICE_MEAN, 10}, {METRIC_UTILISATION, NAN}
#define Q \
    {METRIC_GOODPUT, 4 / 50.0}, {METRIC_GOODPUT_TOKENS, 200 / 50.0}, {METRIC_RUNS_PER_H, 2 * 72}, \
        {METRIC_WAIT_MEAN, 6 / 4.0}, {METRIC_RESPONSE_MEAN, 22 / 4.0}, {METRIC_ATTEMPTS_PER_TURN, 1}, \
        {METRIC_LOST_TURNS, 0}, {METRIC_WASTED_TOKENS, 0}, {METRIC_THINK_MEAN, 3}, \
    { \
        METRIC_SERVICE_MEAN, 4 \
    }
    EXPECT_ROW(&t, 1, P);
    EXPECT_ROW(&t, 2, Q, {METRIC_UTILISATION, NAN});
    EXPECT_ROW(&t, 3, {METRIC_GOODPUT, 0}, {METRIC_WAIT_MEAN, 5 / 2.0}, {METRIC_TOTAL_WAIT_MEAN, NAN},
               {METRIC_RESPONSE_MEAN, NAN}, {METRIC_ATTEMPTS_PER_TURN, NAN}, {METRIC_LOST_TURNS, 72},
               {METRIC_WASTED_TOKENS, 8}, {METRIC_WASTED_SHARE, 1}, {METRIC_SERVICE_MEAN, 20},
               {METRIC_THINK_MEAN, NAN});
    EXPECT_ROW(&t, 4, P); /* red */
    EXPECT_ROW(&t, 5, {METRIC_GOODPUT, 4 / 50.0}, {METRIC_RUNS_PER_H, 2 * 72}, {METRIC_WAIT_MEAN, 11 / 6.0},
               {METRIC_RESPONSE_MEAN, 22 / 4.0}, {METRIC_ATTEMPTS_PER_TURN, 6 / 4.0}, {METRIC_LOST_TURNS, 72},
               {METRIC_WASTED_TOKENS, 8}, {METRIC_WASTED_SHARE, 400 / 600.0},
               {METRIC_SERVICE_MEAN, (4 * 4 + 2 * 20) / 6.0}, {METRIC_UTILISATION, NAN}); /* blue */
    EXPECT_ROW(&t, 6, {METRIC_GOODPUT, 3 / 50.0}, {METRIC_WAIT_MEAN, 5 / 5.0}, {METRIC_ATTEMPTS_PER_TURN, 5 / 3.0},
               {METRIC_WASTED_SHARE, 400 / 700.0}, {METRIC_SERVICE_MEAN, (3 * 10 + 2 * 20) / 5.0},
               {METRIC_UTILISATION, 70 / 100.0}, {METRIC_IN_SYSTEM_MEAN, (3 * 10 + 7 + 7) / 50.0},
               {METRIC_QUEUE_AGE_P99, 5 - 0.5}); /* x: r, waiting 11 to 16 */
    EXPECT_ROW(&t, 7, Q, {METRIC_UTILISATION, 16 / 50.0}, {METRIC_IN_SYSTEM_MEAN, 22 / 50.0},
               {METRIC_QUEUE_AGE_P99, 4 - 0.5}); /* y: q1, waiting 1 to 5 */
}
END_TEST

/* Runs that never end, of one class, are not missing in a terminating study; each class's are its own. */
START_TEST(unfinished_by_class)
{
    struct timeline t;

    timeline_expect("study: {until: done, most: 25 s}\n"
                    "backends: {b: {kind: slots, servers: 2, service: constant(10 s)}}\n"
                    "agents:\n"
                    "  a: {arrivals: all_at(0 s), runs: 4}\n"
                    "  b: {arrivals: all_at(1 s), runs: 2}\n",
                    NULL, "a0@0 a1@0 a2@10 a3@10 b0@20 b1@20", &t);
    EXPECT_ROW(&t, 0, {METRIC_UNFINISHED, 2}, {METRIC_MAKESPAN, NAN}, {METRIC_GOODPUT, 4 / 25.0},
               {METRIC_UTILISATION, 1});
    EXPECT_ROW(&t, 1, {METRIC_UNFINISHED, 0}, {METRIC_GOODPUT, 4 / 25.0});
    EXPECT_ROW(&t, 2, {METRIC_UNFINISHED, 2}, {METRIC_GOODPUT, 0}, {METRIC_WAIT_MEAN, 19});
}
END_TEST

/* --- sources --------------------------------------------------------------------------------------------------------
 */

#define SOURCE(arrivals) \
    "study: {until: done}\nbackends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\n" \
    "agents: {a: {arrivals: " arrivals "}}\n"

START_TEST(times_of_a_trace)
{
    struct plan_file file;
    struct timeline t;

    plan_file_init(&file);
    plan_file_write(&file, "t.csv", "at,other\n1500,1\n2500,7\n2500,8\n6000,9\n");
    ck_assert_msg(plan_file_read(&file, SOURCE("trace(t.csv at ms)"), NULL, NULL), "%s", plan_file_said(&file));
    timeline_of(&file.plan, 0, &t);
    ck_assert_str_eq(t.starts, "a0@0 a1@1 a2@1 a3@4.5"); /* the first row is t = 0 */
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 5.5);
    ck_assert_msg(plan_file_read(&file, SOURCE("trace(t.csv at s), runs: 2, start: 30 s"), NULL, NULL), "%s",
                  plan_file_said(&file));
    timeline_of(&file.plan, 0, &t);
    ck_assert_str_eq(t.starts, "a0@30 a1@1030");
    ck_assert_msg(plan_file_read(&file, SOURCE("trace(t.csv other min), start: 1 min"), NULL, NULL), "%s",
                  plan_file_said(&file));
    timeline_of(&file.plan, 0, &t);
    ck_assert_str_eq(t.starts, "a0@60 a1@420 a2@480 a3@540");
    plan_file_fini(&file);
}
END_TEST

START_TEST(all_at_one_time)
{
    struct timeline t;

    timeline_expect(SOURCE("all_at(2.5 s), runs: 3"), NULL, "a0@2.5 a1@2.5 a2@2.5", &t);
    timeline_expect(SOURCE("all_at(1 min), runs: 2, start: 7 s"), NULL, "a0@67 a1@67", &t);
}
END_TEST

/* A run that arrives makes its first call at once and thinks before each other one. */
START_TEST(turns_of_an_arriving_run)
{
    struct timeline t;

    timeline_expect(SOURCE("all_at(1 s), runs: 2, turns: constant(3), think: constant(4 s)"), NULL,
                    "a0@1 a1@1 a0.1@6 a1.1@6 a0.2@11 a1.2@11", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 12}, {METRIC_THINK_MEAN, 4}, {METRIC_RUNS_PER_H, 600}, {METRIC_GOODPUT, 0.5});
}
END_TEST

START_TEST(start_of_a_population_and_of_a_poisson_process)
{
    struct timeline now, later;
    struct plan plan = model_plan(SOURCE("poisson(2/s), runs: 5") "sweep: {agents.a.start: [0 s, 1000 s]}\n");

    timeline_of(&plan, 0, &now);
    timeline_of(&plan, 1, &later);
    ck_assert_double_gt(now.values[METRIC_MAKESPAN], 1);
    ck_assert_double_lt(now.values[METRIC_MAKESPAN], 20);
    ck_assert_double_eq_tol(later.values[METRIC_MAKESPAN], now.values[METRIC_MAKESPAN] + 1000, 1e-6);
    plan_fini(&plan);
    timeline_expect("study: {horizon: 20 s}\nbackends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\n"
                    "agents: {a: {population: 1, think: constant(5 s), start: 3 s}}\n",
                    NULL, "a0@8 a0.1@14 a0.2@20", &now);
}
END_TEST

/* --- clients --------------------------------------------------------------------------------------------------------
 */

START_TEST(the_longest_retry_after)
{
    static const char *const clients[] = {
        "retry_after: honour, retry_after_most: 5 s", "retry_after: at_least, retry_after_most: 5 s",
        "retry_after: at_least, retry_after_most: 5 s, base: 8 s", "retry_after: honour, retry_after_most: 40 s",
        "retry_after: ignore, retry_after_most: 5 s, base: 8 s"};
    static const char *const starts[] = {"a0@5#2", "a0@5#2", "a0@8#2", "a0@30#2", "a0@8#2"};

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        struct timeline t;
        char yaml[1024];

        snprintf(yaml, sizeof yaml,
                 SOURCE("all_at(0 s), runs: 1, client: {jitter: none, %s}") "policies: [once: {after: 30 s}]\n",
                 clients[i]);
        timeline_expect(yaml, "once", starts[i], &t);
    }
}
END_TEST

#define PATIENT 1000

struct sleepers {
    double started[PATIENT];
};

static void woke(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct sleepers *sleepers = context;

    (void)gate;
    (void)service;
    sleepers->started[call->agent] = sim_seconds(call->started);
}

/* When each of many agents is served that was refused so many times. */
static void refused(unsigned times, struct sleepers *sleepers)
{
    char yaml[512];
    double values[METRIC_COUNT];
    struct trial_watch watch = {.started = woke, .context = sleepers};
    struct plan plan;

    snprintf(yaml, sizeof yaml,
             "study: {until: done}\nbackends: {b: {kind: slots, servers: %d, service: constant(0 s)}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: %d, client: {backoff: ub}}}\n"
             "policies: [script: {gate: d, times: %u}]\n",
             PATIENT, PATIENT, times);
    plan = model_plan_with(yaml, "script");
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    plan_fini(&plan);
}

/* The k-th sleep of `ub` is U(0.1, min(2^k - 1, M)) s, M between 30 and 34 s, an agent's own. Sleeps are addressed, so
 * the k-th is what one more refusal adds. */
START_TEST(patience_of_ub)
{
    static struct sleepers before, after;

    for (unsigned k = 1; k <= 12; k++) {
        double most = k <= 5 ? (1 << k) - 1 : 34, mean = k < 5 ? (0.1 + most) / 2 : k == 5 ? 15.52 : 16.05;
        double longest = 0, shortest = 100, sum = 0;

        before = after;
        refused(k, &after);
        for (size_t i = 0; i < PATIENT; i++) {
            double sleep = after.started[i] - before.started[i];

            longest = sleep > longest ? sleep : longest;
            shortest = sleep < shortest ? sleep : shortest;
            sum += sleep;
        }
        ck_assert_double_ge(shortest, 0.1 - 1e-6);
        ck_assert_double_lt(shortest, 0.1 + 0.01 * most);
        ck_assert_double_le(longest, most + 1e-6);
        ck_assert_double_gt(longest, k <= 5 ? 0.96 * most : 31);
        ck_assert_double_eq_tol(sum / PATIENT, mean, 4 * most / sqrt(12.0 * PATIENT));
    }
}
END_TEST

Suite *counts_suite(void)
{
    Suite *suite = suite_create("counts");
    TCase *test = tcase_create("counts");

    tcase_add_test(test, every_kind_of_refusal);
    tcase_add_test(test, after_256_offers_the_next_is_served);
    tcase_add_test(test, shed_with_a_retry_after);
    tcase_add_test(test, quantiles_of_a_staircase);
    tcase_add_test(test, least_for_a_p99);
    tcase_add_test(test, a_run_that_ends_undone);
    tcase_add_test(test, two_classes_tenants_and_backends);
    tcase_add_test(test, unfinished_by_class);
    tcase_add_test(test, times_of_a_trace);
    tcase_add_test(test, all_at_one_time);
    tcase_add_test(test, turns_of_an_arriving_run);
    tcase_add_test(test, start_of_a_population_and_of_a_poisson_process);
    tcase_add_test(test, the_longest_retry_after);
    tcase_add_test(test, patience_of_ub);
    suite_add_tcase(suite, test);
    return suite;
}
