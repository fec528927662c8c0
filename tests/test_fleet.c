/* test_fleet.c - runs that are launched evenly, agents that boot, prompts in characters, keys that share a pool: by
 * hand. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/demand.h"
#include "models/gauges.h"
#include "tests/sheet.h"
#include "tests/suites.h"
#include "tests/timeline.h"

#define CARD "backends: {b: {kind: slots, servers: 9, service: constant(2 s)}}\n"

/* --- even arrivals ------------------------------------------------------------------------------------------------ */

START_TEST(even_by_hand)
{
    struct timeline t;

    timeline_expect("study: {horizon: 200 s}\n" CARD "agents: {a: {arrivals: even(50/h), runs: 3, start: 10 s}}\n",
                    NULL, "a0@10 a1@82 a2@154", &t);
    /* Without runs it does not end; what falls on the horizon happens. */
    timeline_expect("study: {horizon: 144 s}\n" CARD "agents: {a: {arrivals: even(50 runs/h)}}\n", NULL,
                    "a0@0 a1@72 a2@144", &t);
}
END_TEST

struct starts {
    uint64_t count;
    sim_time last, sum, first_wait;
};

static void started(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct starts *starts = context;

    (void)gate, (void)service;
    starts->count++;
    starts->last = call->started;
    starts->sum += call->started;
}

static struct starts starts_of(const char *yaml)
{
    struct starts starts = {0};
    struct trial_watch watch = {.started = started, .context = &starts};
    double values[METRIC_COUNT * 8];
    struct plan plan = model_plan(yaml);

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    plan_fini(&plan);
    return starts;
}

/* 500 over ten hours, to the nanosecond; a third of a second has no whole number of them, and nothing adds up. */
START_TEST(even_does_not_drift)
{
    struct starts starts =
        starts_of("study: {until: done, most: 24 h}\n" CARD "agents: {a: {arrivals: even(50/h), runs: 500}}\n");

    ck_assert_uint_eq(starts.count, 500);
    ck_assert_int_eq(starts.last, 499 * 72 * SIM_SECOND);
    starts = starts_of("study: {until: done, most: 24 h}\n" CARD "agents: {a: {arrivals: even(3/s), runs: 30002}}\n");
    ck_assert_uint_eq(starts.count, 30002);
    ck_assert_int_eq(starts.last, INT64_C(10000333333333));
}
END_TEST

/* --- boot --------------------------------------------------------------------------------------------------------- */

/* An arriving run boots and then calls at once; nothing else is later than by that. */
START_TEST(boot_adds_itself)
{
    struct timeline without, with;

    timeline_expect("study: {until: done}\n" CARD
                    "agents: {a: {arrivals: all_at(1 s), runs: 1, turns: 2, think: 3 s}}\n",
                    NULL, "a0@1 a0.1@6", &without);
    timeline_expect("study: {until: done}\n" CARD
                    "agents: {a: {arrivals: all_at(1 s), runs: 1, turns: 2, think: 3 s, boot: 5 s}}\n",
                    NULL, "a0@6 a0.1@11", &with);
    ck_assert_double_eq(without.values[METRIC_MAKESPAN], 8);
    ck_assert_double_eq(with.values[METRIC_MAKESPAN], 8 + 5);
    ck_assert_double_eq(with.values[METRIC_RESPONSE_MEAN], without.values[METRIC_RESPONSE_MEAN]);
    ck_assert_double_eq(with.values[METRIC_THINK_MEAN], 3);
}
END_TEST

/* A population boots, then thinks, for each of its runs: 5 + 3, 2 of service, 3 + 2; from 15 on the same again. */
START_TEST(a_population_boots_before_it_thinks)
{
    struct timeline t;

    timeline_expect("study: {until: done}\n" CARD
                    "agents: {a: {population: 1, runs: 2, turns: 2, think: 3 s, boot: 5 s}}\n",
                    NULL, "a0@8 a0.1@13 a0.2@23 a0.3@28", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 30);
    /* An endless run boots once. */
    timeline_expect("study: {horizon: 18 s}\n" CARD "agents: {a: {population: 1, think: 3 s, boot: 5 s}}\n", NULL,
                    "a0@8 a0.1@13 a0.2@18", &t);
    /* A turn of a schedule that was due meanwhile is late. */
    timeline_expect("study: {until: done}\n" CARD
                    "agents: {a: {population: 1, boot: 3 s, schedule: {turns: 2, over: 12 s, times: even}}}\n",
                    NULL, "a0@3 a0.1@6", &t);
    ck_assert_double_eq(t.values[METRIC_LATENESS_MEAN], (5 + 2) / 2.0);
}
END_TEST

/* A run that is restarted boots again: given up at 6, after 1 s of patience, it asks again at 10 and is up at 15. */
START_TEST(a_restarted_run_boots_again)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 9, service: constant(20 s)}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: 1, think: 0 s, boot: 5 s,\n"
                    "    client: [{attempts: 1, timeout: 1 s},\n"
                    "             {attempts: 2, restarts: run, backoff: constant, base: 4 s, jitter: none}]}}\n",
                    NULL, "a0@5 a0.1@15", &t);
}
END_TEST

static sim_time boots[4];

static void note_boot(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    (void)context, (void)gate, (void)service;
    if (call->turn < 4)
        boots[call->turn] = call->started;
}

/* and each time for another time: it is given up 1 s after it is up, and asks again at once */
START_TEST(a_restarted_run_draws_another_boot)
{
    double values[METRIC_COUNT];
    struct trial_watch watch = {.started = note_boot};
    struct plan plan =
        model_plan("study: {until: done}\nbackends: {b: {kind: slots, servers: 9, service: constant(20 s)}}\n"
                   "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: 1, think: 0 s, boot: uniform(2 s 6 s),\n"
                   "    client: [{attempts: 1, timeout: 1 s}, {attempts: 4, restarts: run, base: 0 s}]}}\n");

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    for (int i = 3; i > 0; i--) {
        boots[i] -= boots[i - 1] + SIM_SECOND;
        ck_assert(boots[i] >= 2 * SIM_SECOND && boots[i] < 6 * SIM_SECOND);
    }
    ck_assert(boots[0] != boots[1] && boots[1] != boots[2] && boots[2] != boots[3]);
    plan_fini(&plan);
}
END_TEST

/* The door comes first: a run that is held there until 6 boots from then on. */
START_TEST(the_door_is_before_the_boot)
{
    struct timeline t;

    timeline_expect("study: {until: done}\n" CARD "agents: {a: {arrivals: all_at(0 s), runs: 2, boot: 5 s}}\n"
                    "policies: [script: {door: ah, hold: 2 s, until: 5 s}]\n",
                    "script", "a0@5 a1@11", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 13);
}
END_TEST

/* Each run's own draw: uniform from 2 to 6 s, so 4 on average, whose error is 1.155 s / sqrt(4000) = 0.018. */
START_TEST(boots_are_drawn_by_run)
{
    struct starts starts = starts_of("study: {until: done}\nbackends: {b: {kind: slots, servers: 5000, service: 1 s}}\n"
                                     "agents: {a: {arrivals: all_at(0 s), runs: 4000, boot: uniform(2 s 6 s)}}\n");

    ck_assert_uint_eq(starts.count, 4000);
    ck_assert_double_eq_tol(sim_seconds(starts.sum) / 4000, 4, 0.08);
    /* of one agent's runs as well */
    starts = starts_of("study: {until: done, most: 20 d}\nbackends: {b: {kind: slots, servers: 1, service: 0 s}}\n"
                       "agents: {a: {population: 1, runs: 4000, turns: 1, think: 0 s, boot: uniform(2 s 6 s)}}\n");
    ck_assert_double_eq_tol(sim_seconds(starts.last) / 4000, 4, 0.08);
    ck_assert_double_ne(sim_seconds(starts.last) / 4000, 4);
}
END_TEST

/* In bounds a run's boot is shared by its turns, and that of an endless run is none's: 3 s of thinking, boots of 10. */
START_TEST(boots_are_in_the_bounds)
{
    static const struct {
        const char *class;
        double think;
    } cases[] = {{"turns: 5", 3 + 10 / 5.0}, {"turns: geometric(4)", 3 + 10 / 4.0}, {"tenant: x", 3}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[512];
        double values[METRIC_COUNT];
        struct plan plan;

        snprintf(yaml, sizeof yaml,
                 "study: {horizon: 50000 s}\n" CARD "agents: {a: {population: 4, think: 3 s, boot: 10 s, %s}}\n",
                 cases[i].class);
        plan = model_plan(yaml);
        ck_assert_double_eq(demand_of(plan.points[0].scenario, 0).think, cases[i].think);
        model_trial(&plan, 0, 1, values); /* nobody waits: the bound is met */
        ck_assert_double_eq_tol(values[METRIC_GOODPUT], 4 / (2 + cases[i].think), 0.003);
        plan_fini(&plan);
    }
}
END_TEST

struct seen_gauges {
    double tasks[4], booting[4];
    size_t count;
};

static void recorded(void *context, sim_time at, const double *values)
{
    struct seen_gauges *seen = context;

    (void)at;
    if (seen->count < 4) {
        seen->tasks[seen->count] = values[0];
        seen->booting[seen->count++] = values[1];
    }
}

/* Who boots is a task, and in no other count: two at 0.5 that boot for 5 s, one at 6. Samples at 0, 4, 8 and 12. */
START_TEST(booting_is_a_gauge)
{
    static const double tasks[] = {0, 2, 1, 0}, booting[] = {0, 2, 1, 0};
    struct arena arena = {0};
    struct seen_gauges seen = {.count = 0};
    double values[METRIC_COUNT * 8];
    struct plan plan =
        model_plan("study: {horizon: 20 s}\n" CARD "agents:\n  a: {arrivals: all_at(0.5 s), runs: 2, boot: 5 s}\n"
                   "  b: {arrivals: all_at(6 s), runs: 1, boot: 3.5 s}\n"
                   "record: {every: 4 s, file: x.csv}\n");
    struct gauges gauges = gauges_of(plan.points[0].scenario, &arena);
    struct trial_watch watch = {.recorded = recorded, .gauges = &gauges, .context = &seen};

    ck_assert_str_eq(gauges.list[0].name, "tasks");
    ck_assert_str_eq(gauges.list[1].name, "booting");
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq(seen.tasks[i], tasks[i]);
        ck_assert_double_eq(seen.booting[i], booting[i]);
    }
    plan_fini(&plan);
    /* Where nobody boots there is none. */
    plan = model_plan("study: {horizon: 20 s}\n" CARD "agents: {a: {population: 1, think: 1 s}}\n");
    gauges = gauges_of(plan.points[0].scenario, &arena);
    ck_assert_str_eq(gauges.list[1].name, "held");
    plan_fini(&plan);
    arena_free(&arena);
}
END_TEST

/* --- nothing else moves ------------------------------------------------------------------------------------------- */

#define TURNS 64

static double outputs[2][8][TURNS], chars[2][8][TURNS];
static size_t which;

static void note(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    (void)context, (void)gate, (void)service;
    if (call->turn < TURNS && call->klass == 0) {
        outputs[which][call->agent][call->turn] = call->output_tokens + call->input_tokens;
        chars[which][call->agent][call->turn] = call->input_chars / call->input_tokens;
    }
}

static void note_draws(size_t into, const char *more)
{
    char yaml[1024];
    double values[METRIC_COUNT * 8];
    struct trial_watch watch = {.started = note};
    struct plan plan;

    snprintf(yaml, sizeof yaml,
             "study: {horizon: 4000 s}\nbackends: {b: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
             "agents: {a: {population: 8, think: exponential(4 s), output: exponential(300), turns: geometric(9),\n"
             "             input: {start: exponential(1000), per_turn: exponential(500)%s}\n",
             more);
    which = into;
    plan = model_plan(yaml);
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    plan_fini(&plan);
}

/* Turns are the same with boots, with noise in the characters, and with clients that (never) die. */
START_TEST(no_other_draw_moves)
{
    static const char *const with[] = {"}, boot: exponential(9 s)}", ", chars_per_token: lognormal(4.89 cv 0.3)}}",
                                       "}, client: {dies: 0 %}}", "}, client: {dies: 0.0001 %}}"};

    note_draws(0, "}}");
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        size_t same = 0;

        memset(outputs[1], 0, sizeof outputs[1]);
        note_draws(1, with[i]);
        for (size_t a = 0; a < 8; a++)
            for (size_t t = 0; t < TURNS; t++)
                if (outputs[0][a][t] > 0 && outputs[1][a][t] > 0) {
                    ck_assert_double_eq(outputs[0][a][t], outputs[1][a][t]);
                    same++;
                }
        ck_assert_uint_gt(same, 400);
    }
}
END_TEST

/* --- characters --------------------------------------------------------------------------------------------------- */

START_TEST(characters_of_a_prompt)
{
    double sum = 0, count = 0;

    note_draws(0, "}}");
    note_draws(1, ", chars_per_token: uniform(3 5)}}");
    for (size_t a = 0; a < 8; a++)
        for (size_t t = 0; t < TURNS; t++) {
            if (outputs[0][a][t] > 0)
                ck_assert_double_eq_tol(chars[0][a][t], 4.89, 1e-12);
            if (outputs[1][a][t] <= 0)
                continue;
            ck_assert(chars[1][a][t] >= 3 - 1e-12 && chars[1][a][t] < 5 &&
                      chars[1][a][t] != chars[1][a][(t + 1) % TURNS]);
            sum += chars[1][a][t];
            count++;
        }
    ck_assert_double_gt(count, 400);
    ck_assert_double_eq_tol(sum / count, 4, 4 * 0.577 / sqrt(count));
}
END_TEST

static double ratios[8];

static struct policy_answer twice_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self, (void)view;
    if (call->turn == 0 && call->attempt <= 8)
        ratios[call->attempt - 1] = call->input_chars / call->input_tokens;
    return call->attempt < 4 ? policy_defer(POLICY_SECOND, "again") : policy_admit();
}

static const struct policy_ops twice_ops = {POLICY_HEADER, .name = "twice", .summary = "defers a call three times",
                                            .admit = twice_admit};

/* It is the turn's, drawn once: retries see the same. Recorded sessions have it too, and no input no characters. */
START_TEST(characters_are_the_turns)
{
    const struct policy_ops *const policies[] = {&twice_ops, NULL};
    double values[METRIC_COUNT];
    struct plan plan = model_plan_of("study: {horizon: 100 s}\n" CARD "agents: {a: {arrivals: all_at(0 s), runs: 1,\n"
                                     "             input: {start: 1000, chars_per_token: uniform(3 5)}}}\n"
                                     "policies: [twice]\n",
                                     policies);

    model_trial(&plan, 0, 1, values);
    for (size_t i = 0; i < 4; i++)
        ck_assert(ratios[i] >= 3 && ratios[i] < 5 && ratios[i] == ratios[0]);
    plan_fini(&plan);
}
END_TEST

/* --- aliases ------------------------------------------------------------------------------------------------------ */

/* Two keys of a pool that lets four in a minute, each behind a bucket of its own, of three and one more in 10 s, as two
 * pacers would be. At 0 p's bucket lets three in and holds the fourth until 10. At 1 q's bucket is full, whatever p's
 * has given: it lets three in, of which the pool takes one and refuses two for 59 s. At 10 p's bucket lets its fourth
 * in, and the pool refuses it for 50 s. */
START_TEST(aliases_with_a_pacer_each)
{
    struct timeline t;
    const char *yaml = "study: {horizon: 100 s}\n"
                       "backends:\n  p: {kind: provider, meters: {requests: {limit: %d/min, fill: window}},\n"
                       "      latency: {base: 1 s}}\n"
                       "  q: {kind: alias, of: p}\n"
                       "agents:\n  a: {arrivals: all_at(0 s), runs: 4, backend: p}\n"
                       "  b: {arrivals: all_at(1 s), runs: 3, backend: q}\n"
                       "policies: [token_bucket: {meter: requests, rate: 6/min, burst: 3}]\n";
    char text[1024];

    snprintf(text, sizeof text, yaml, 4);
    timeline_expect(text, NULL, "a0@0 a1@0 a2@0 b0@1 b1@60#2 b2@60#2 a3@60#2", &t);
    /* rows: all, class a, class b, backend p, backend q */
    EXPECT_ROW(&t, 3, {METRIC_PROVIDER_429S, 36}, {METRIC_CHARGED + 2 * METER_REQUESTS, 7 * 0.6});
    EXPECT_ROW(&t, 4, {METRIC_PROVIDER_429S, 72});
    /* A pool with room for all: the buckets alone, each its own. */
    snprintf(text, sizeof text, yaml, 40);
    timeline_expect(text, NULL, "a0@0 a1@0 a2@0 b0@1 b1@1 b2@1 a3@10", &t);
    EXPECT_ROW(&t, 3, {METRIC_PROVIDER_429S, 0}, {METRIC_CHARGED + 2 * METER_REQUESTS, 7 * 0.6});
}
END_TEST

Suite *fleet_suite(void)
{
    Suite *suite = suite_create("fleet");
    TCase *test = tcase_create("fleet");

    tcase_add_test(test, even_by_hand);
    tcase_add_test(test, even_does_not_drift);
    tcase_add_test(test, boot_adds_itself);
    tcase_add_test(test, a_population_boots_before_it_thinks);
    tcase_add_test(test, a_restarted_run_boots_again);
    tcase_add_test(test, a_restarted_run_draws_another_boot);
    tcase_add_test(test, the_door_is_before_the_boot);
    tcase_add_test(test, boots_are_drawn_by_run);
    tcase_add_test(test, boots_are_in_the_bounds);
    tcase_add_test(test, booting_is_a_gauge);
    tcase_add_test(test, no_other_draw_moves);
    tcase_add_test(test, characters_of_a_prompt);
    tcase_add_test(test, characters_are_the_turns);
    tcase_add_test(test, aliases_with_a_pacer_each);
    suite_add_tcase(suite, test);
    return suite;
}
