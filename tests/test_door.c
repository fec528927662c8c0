/* The door, worked by hand: whole runs that are held, deferred, rejected, and what the door hears of their end. The
 * answers come from tests/plugins/script.c, a letter an agent: a admit, h hold, l hold until the last time of asking,
 * d defer, r reject, s reject where three turns and more are expected, t a turnstile. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "tests/suites.h"
#include "tests/timeline.h"

/* Runs at t = 0 that would all be served at once, 1 s each. */
static void arrivals(const char *runs, const char *client, const char *script, const char *starts,
                     struct timeline *timeline)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: {until: done, most: 100 s}\nbackends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: %s, client: {jitter: none%s}}}\npolicies: [script: {%s}]\n",
             runs, client, script);
    timeline_expect(yaml, "script", starts, timeline);
}

START_TEST(held_and_asked_again)
{
    struct timeline t;

    /* asked at 0, 2, 4 and, after it is all over, at 6 */
    arrivals("2", "", "door: ah, hold: 2 s, until: 5 s", "a0@0 a1@6", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 7);
    ck_assert_double_eq(t.values[METRIC_DOOR_WAIT_MEAN], 3); /* 0 and 6 s, which are in no other wait */
    ck_assert_double_eq_tol(t.values[METRIC_DOOR_WAIT_P95], 6, 0.03);
    ck_assert_double_eq(t.values[METRIC_TOTAL_WAIT_MEAN], 0);
}
END_TEST

START_TEST(hold_cap)
{
    struct timeline t;

    /* asked at 0, 2, 4, 6 and for the last time at 7; there 0 may come in, 1 is refused and comes back 4 s later */
    arrivals("2", ", base: 4 s, hold_cap: 7 s", "door: lh, hold: 2 s, times: 1", "a0@7 a1@11", &t);
    /* A cap that falls together with a time of asking is the last time. */
    arrivals("2", ", base: 4 s, hold_cap: 6 s", "door: lh, hold: 2 s, times: 1", "a0@6 a1@10", &t);
    /* The cap runs from each attempt: 0 to 7, 11 to 18. */
    arrivals("1", ", base: 4 s, hold_cap: 7 s", "door: h, hold: 2 s, until: 17.5 s", "a0@18", &t);
    /* the same at the gate */
    arrivals("2", ", base: 4 s, hold_cap: 7 s", "gate: lh, hold: 2 s, times: 1", "a0@7 a1@11#2", &t);
    ck_assert_double_eq(t.values[METRIC_HOLD_EXPIRED], 0.5);
}
END_TEST

START_TEST(deferred)
{
    struct timeline t;

    /* without a retry-after 1 + 2 + 4 s, with one 3 times that */
    arrivals("2", "", "door: ad, times: 3", "a0@0 a1@7", &t);
    ck_assert_double_eq(t.values[METRIC_DOOR_WAIT_MEAN], 3.5);
    arrivals("2", "", "door: ad, times: 3, after: 5 s", "a0@0 a1@15", &t);
    arrivals("2", ", retry_after: ignore", "door: ad, times: 3, after: 5 s", "a0@0 a1@7", &t);
    arrivals("2", ", retry_after_most: 4 s", "door: ad, times: 3, after: 5 s", "a0@0 a1@12", &t);
    /* and at the gate */
    arrivals("2", "", "gate: ad, times: 3", "a0@0 a1@7#4", &t);
    ck_assert_double_eq(t.values[METRIC_DOOR_WAIT_MEAN], 0);
    arrivals("2", "", "gate: ad, times: 3, after: 5 s", "a0@0 a1@15#4", &t);
}
END_TEST

START_TEST(attempts_at_the_door_run_out)
{
    struct timeline t;

    arrivals("2", ", attempts: 3", "door: ad, times: 2", "a0@0 a1@3", &t);
    arrivals("2", ", attempts: 3", "door: ad, times: 3", "a0@0", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 3);
    ck_assert_double_eq(t.values[METRIC_UNFINISHED], 0);
    ck_assert_double_eq(t.values[METRIC_RUNS_REFUSED], 1200);
}
END_TEST

START_TEST(rejected)
{
    struct timeline t;

    arrivals("3", "", "door: ara", "a0@0 a2@0", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 1);
    ck_assert_double_eq(t.values[METRIC_UNFINISHED], 0);
    ck_assert_double_eq(t.values[METRIC_GOODPUT], 2);
    ck_assert_double_eq(t.values[METRIC_RUNS_PER_H], 7200);
    ck_assert_double_eq(t.values[METRIC_RUNS_REFUSED], 3600);
    ck_assert_double_eq(t.values[METRIC_LOST_TURNS], 0); /* no turn began */
}
END_TEST

/* An agent of a population whose run is turned away goes on with its next run after a think time. */
START_TEST(rejected_runs_of_a_population)
{
    struct timeline t;

    /* 0 asks at 0 and 2 in vain, thinks twice for that, and at 4 may begin its third run; 1 has its first three. */
    timeline_expect("study: {until: done, most: 100 s}\n"
                    "backends: {b: {kind: slots, servers: 2, service: constant(1 s)}}\n"
                    "agents: {a: {population: 2, runs: 6, turns: constant(1), think: constant(2 s)}}\n"
                    "policies: [script: {door: ra, until: 3 s}]\n",
                    "script", "a1@2 a1.1@5 a0.2@6 a1.2@8", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 9);
    ck_assert_double_eq(t.values[METRIC_RUNS_REFUSED], 800);
    ck_assert_double_eq(t.values[METRIC_RUNS_PER_H], 1600);
    ck_assert_double_eq(t.values[METRIC_UNFINISHED], 0);
}
END_TEST

/* The same with a run that never ends: it asks until it may, and then goes on for ever. */
START_TEST(rejected_endless_run)
{
    struct timeline t;

    timeline_expect("study: {horizon: 14 s}\n"
                    "backends: {b: {kind: slots, servers: 2, service: constant(1 s)}}\n"
                    "agents: {a: {population: 1, think: constant(2 s)}}\n"
                    "policies: [script: {door: r, until: 3 s}]\n",
                    "script", "a0.2@6 a0.3@9 a0.4@12", &t);
    ck_assert_double_eq_tol(t.values[METRIC_RUNS_REFUSED], 2 * 3600.0 / 14, 1e-9);
    ck_assert_double_eq_tol(t.values[METRIC_GOODPUT], 3 / 14.0, 1e-12);
    ck_assert_double_eq_tol(t.values[METRIC_THINK_MEAN], 2, 1e-12);
}
END_TEST

/* Deferred and held, an agent of a population asks for the same run again. */
START_TEST(deferred_runs_of_a_population)
{
    struct timeline t;

    timeline_expect("study: {until: done, most: 100 s}\n"
                    "backends: {b: {kind: slots, servers: 2, service: constant(1 s)}}\n"
                    "agents: {a: {population: 2, runs: 4, turns: constant(1), think: constant(2 s),\n"
                    "             client: {base: 5 s, jitter: none}}}\n"
                    "policies: [script: {door: dh, hold: 4 s, times: 1, until: 3 s}]\n",
                    "script", /* 1 is held until 4, 0 sleeps until 5; then each thinks 2 s */
                    "a1@6 a0@7 a1.1@9 a0.1@10", &t);
}
END_TEST

/* One run inside at a time: who is held is asked every 2 s, so each of them needs the door to hear of the end of the
 * one before. A run takes 2 + 1 + 2 s. */
#define ONE_INSIDE \
    "study: {until: done, most: 100 s}\nbackends: {b: {kind: slots, servers: 3, service: constant(2 s)}}\n" \
    "agents: {a: {arrivals: all_at(0 s), runs: 3, turns: constant(2), think: constant(1 s)}}\n"

START_TEST(the_door_hears_of_every_end)
{
    struct timeline t;

    timeline_expect(ONE_INSIDE "policies: [script: {door: t, hold: 2 s, rest: 4 s}]\n", "script",
                    "a0@0 a0.1@3 a1@6 a1.1@9 a2@12 a2.1@15", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 17);
    /* The second is turned away at the gate at 9: an end undone, after which the door rests until 13. */
    timeline_expect(ONE_INSIDE "policies:\n  - chain: [script: {name: one, door: t, hold: 2 s, rest: 4 s},\n"
                               "            script: {name: two, gate: ara, from: 7 s}]\n",
                    "script", "a0@0 a0.1@3 a1@6 a2@14 a2.1@17", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 19);
    ck_assert_double_eq_tol(t.values[METRIC_RUNS_PER_H], 2 * 3600.0 / 19, 1e-9);
}
END_TEST

START_TEST(a_population_goes_through_the_turnstile)
{
    struct timeline t;

    /* 0 is over at 3 and asks at once for its next run, so 1 comes in when nobody else is left to ask. */
    timeline_expect("study: {until: done, most: 100 s}\n"
                    "backends: {b: {kind: slots, servers: 2, service: constant(1 s)}}\n"
                    "agents: {a: {population: 2, runs: 3, turns: constant(1), think: constant(2 s)}}\n"
                    "policies: [script: {door: t, hold: 2 s}]\n",
                    "script", /* 0 is inside from 0 to 3 and to 6; 1 asks at 2, 4, 6 just before, and 8 */
                    "a0@2 a0.1@5 a1@10", &t);
    ck_assert_double_eq(t.values[METRIC_MAKESPAN], 11);
}
END_TEST

/* Two come at 2 s and are still there at 10: one is held, one sleeps after it was deferred. */
START_TEST(still_at_the_door_at_the_end)
{
    struct timeline t;

    timeline_expect("study: {horizon: 10 s}\nbackends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\n"
                    "agents: {a: {arrivals: all_at(2 s), runs: 3, client: {base: 60 s, jitter: none}}}\n"
                    "policies: [script: {door: ahd}]\n",
                    "script", "a0@2", &t);
    ck_assert_double_eq(t.values[METRIC_CENSORED], 2);
    ck_assert_double_eq(t.values[METRIC_CENSORED_AGE], 8);
    ck_assert_double_eq(t.values[METRIC_RUNS_REFUSED], 0);
}
END_TEST

/* 0 is held until it gives up at 5 s; 1 comes after that, is held as well, and finds nobody beside it. So the policy,
 * which ends the program where the door shows it other runs than those that it holds, has heard of 0. */
START_TEST(who_gives_up_is_held_no_more)
{
    struct timeline t;

    timeline_expect("study: {until: done, most: 100 s}\nbackends: {b: {kind: slots, servers: 9, service: 1 s}}\n"
                    "agents: {a: {arrivals: even(6/min), runs: 3, deadline: {run: 5 s}, at_deadline: gives_up}}\n"
                    "policies: [script: {door: hha, hold: 2 s}]\n",
                    "script", "a2@20", &t);
    ck_assert_double_eq_tol(t.values[METRIC_RUNS_REFUSED], 2 * 3600.0 / 21, 1e-9);
}
END_TEST

/* The door is told what is expected of a run, which says nothing about this one. */
START_TEST(turns_are_an_estimate)
{
    static const struct {
        const char *turns;
        double refused;
    } cases[] = {{"geometric(2)", 0}, {"geometric(4)", 40}, {"constant(2)", 0}, {"constant(3)", 40}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct timeline t;
        char yaml[512];
        struct plan plan;

        snprintf(yaml, sizeof yaml,
                 "study: {horizon: 3600 s}\nbackends: {b: {kind: slots, servers: 40, service: constant(1 s)}}\n"
                 "agents: {a: {arrivals: all_at(0 s), runs: 40, turns: %s, think: constant(1 s)}}\n"
                 "policies: [script: {door: s}]\n",
                 cases[i].turns);
        plan = model_plan_with(yaml, "script");
        timeline_of(&plan, 0, &t);
        ck_assert_double_eq(t.values[METRIC_RUNS_REFUSED], cases[i].refused);
        ck_assert_double_eq(t.values[METRIC_RUNS_PER_H], 40 - cases[i].refused);
        plan_fini(&plan);
    }
}
END_TEST

Suite *door_suite(void)
{
    Suite *suite = suite_create("door");
    TCase *test = tcase_create("door");

    tcase_add_test(test, held_and_asked_again);
    tcase_add_test(test, hold_cap);
    tcase_add_test(test, deferred);
    tcase_add_test(test, attempts_at_the_door_run_out);
    tcase_add_test(test, rejected);
    tcase_add_test(test, rejected_runs_of_a_population);
    tcase_add_test(test, rejected_endless_run);
    tcase_add_test(test, deferred_runs_of_a_population);
    tcase_add_test(test, the_door_hears_of_every_end);
    tcase_add_test(test, a_population_goes_through_the_turnstile);
    tcase_add_test(test, still_at_the_door_at_the_end);
    tcase_add_test(test, who_gives_up_is_held_no_more);
    tcase_add_test(test, turns_are_an_estimate);
    suite_add_tcase(suite, test);
    return suite;
}
