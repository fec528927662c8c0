/* test_deadlines.c - deadlines of turns and runs, worked by hand: what is in time, what policies see, what becomes of a
 * run that is given up wherever it is; and shares of tenants. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "tests/plan_file.h"
#include "tests/suites.h"
#include "tests/timeline.h"

static struct timeline t;

/* Turns of 10 tokens, 1 s. */
static void trial(const char *study, const char *servers, const char *class, const char *policies, const char *starts)
{
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: {%s}\nbackends: {b: {kind: slots, servers: %s, rate: 10 tokens/s}}\n"
             "agents: {a: {output: 10, client: {jitter: none}, %s}}\npolicies: [%s]\n",
             study, servers, class, policies);
    timeline_expect(yaml, "script", starts, &t);
}

/* --- in time ----------------------------------------------------------------------------------------------------- */

START_TEST(turns_in_time)
{
    /* answered at 1, 2, and 3; the very moment is in time */
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 3, deadline: {turn: 2 s}", "unbounded", "a0@0 a1@1 a2@2");
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 1}, {METRIC_GOODPUT_IN_TIME, 2.0 / 3}, {METRIC_DEADLINE_MET_SHARE, 2.0 / 3},
               {METRIC_RUNS_IN_TIME_SHARE, NAN}, {METRIC_WASTED_TOKENS, 0});
    /* a refusal does not begin it anew: a1 is back at 1, and answered at 3 */
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 3, deadline: {turn: 2 s}", "script: {gate: ada, times: 1}",
          "a0@0 a2@1 a1@2#2");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 2.0 / 3});
    /* a turn that is lost misses */
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 4, deadline: {turn: 9 s}", "script: {gate: ara}",
          "a0@0 a2@1 a3@2");
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT_IN_TIME, 1}, {METRIC_DEADLINE_MET_SHARE, 0.75});
    /* and one that is open past its deadline at the end: of three answers at 1, 2 and 3, two are there, one in time */
    trial("horizon: 2.5 s", "1", "arrivals: all_at(0 s), runs: 3, deadline: {turn: 1.5 s}", "unbounded",
          "a0@0 a1@1 a2@2");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 1.0 / 3});
    trial("horizon: 2.5 s", "1", "arrivals: all_at(0 s), runs: 3, deadline: {run: 1.5 s}",
          "script: {door: aah, hold: 9 s}", "a0@0 a1@1");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 0.5}, {METRIC_RUNS_IN_TIME_SHARE, 1.0 / 3});
    trial("horizon: 2.5 s", "1", "arrivals: all_at(0 s), runs: 3, deadline: {turn: 2.7 s}", "unbounded",
          "a0@0 a1@1 a2@2");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 1});
    /* who is still before its first run has missed none */
    trial("horizon: 2.5 s", "1", "population: 1, start: 2 s, turns: 1, think: 1 s, deadline: {run: 1.5 s}", "unbounded",
          "");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, NAN});
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 3", "unbounded", "a0@0 a1@1 a2@2");
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT_IN_TIME, NAN}, {METRIC_DEADLINE_MET_SHARE, NAN}, {METRIC_RUNS_IN_TIME_SHARE, NAN},
               {METRIC_JAIN, NAN});
}
END_TEST

START_TEST(runs_in_time)
{
    const char *two = "arrivals: all_at(0 s), runs: 2, turns: 2, think: 1 s, deadline: {run: 3 s}";

    trial("until: done", "2", two, "unbounded", "a0@0 a1@0 a0.1@2 a1.1@2");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 1}, {METRIC_DEADLINE_MET_SHARE, 1});
    /* a1 is answered at 2 and at 4: the call's deadline is the run's; it goes on, and what it did is not wasted */
    trial("until: done", "1", two, "unbounded", "a0@0 a1@1 a0.1@2 a1.1@3");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0.5}, {METRIC_DEADLINE_MET_SHARE, 0.75}, {METRIC_RUNS_PER_H, 1800},
               {METRIC_WASTED_TOKENS, 0});
    /* counted from the door, where a1 is let in at 1 */
    trial("until: done", "2", two, "script: {door: ad, times: 1}", "a0@0 a1@1 a0.1@2 a1.1@3");
    EXPECT_ROW(&t, 0, {METRIC_DOOR_WAIT_MEAN, 0.5}, {METRIC_RUN_TIME_MEAN, 3.5});
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0.5}, {METRIC_DEADLINE_MET_SHARE, 0.75});
    /* turned away there it is in time neither, and its turns were never made */
    trial("until: done", "2", two, "script: {door: ar}", "a0@0 a0.1@2");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0.5}, {METRIC_DEADLINE_MET_SHARE, 1}, {METRIC_DOOR_WAIT_MEAN, 0},
               {METRIC_RUN_TIME_MEAN, 3});
}
END_TEST

START_TEST(the_earlier_of_both)
{
    /* the second turn, made at 2 and answered at 3, by min(2 + turn, run) */
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 1, turns: 2, think: 1 s, deadline: {turn: 5 s, run: 2.9 s}",
          "unbounded", "a0@0 a0.1@2");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 0.5}, {METRIC_RUNS_IN_TIME_SHARE, 0});
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 1, turns: 2, think: 1 s, deadline: {turn: 0.9 s, run: 9 s}",
          "unbounded", "a0@0 a0.1@2");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 0}, {METRIC_RUNS_IN_TIME_SHARE, 1});
}
END_TEST

/* Due at 0 and 0.5, made at 0 and 1, answered at 1 and 2. */
START_TEST(of_a_schedule_since_it_was_due)
{
    trial("until: done", "1", "population: 1, schedule: {turns: 2, over: 1 s, times: even}, deadline: {turn: 1.5 s}",
          "unbounded", "a0@0 a0.1@1");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 1});
    trial("until: done", "1", "population: 1, schedule: {turns: 2, over: 1 s, times: even}, deadline: {turn: 1.4 s}",
          "unbounded", "a0@0 a0.1@1");
    EXPECT_ROW(&t, 0, {METRIC_DEADLINE_MET_SHARE, 0.5});
}
END_TEST

/* Where the class has one, `deadline` goes by it and not by `within`; and the door sees the run's: 10 turns of 2 s take
 * 1.5 x 20 s at the least. */
START_TEST(policies_see_them)
{
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 3, deadline: {turn: 2 s}", "deadline: {within: 9 s}",
          "a0@0 a1@1");
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 3", "deadline: {within: 9 s}", "a0@0 a1@1 a2@2");
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 1, deadline: {run: 30 s}",
          "run_budget: {estimate: curve, turns: 10, period: 2 s, late: reject}", "a0@0");
    trial("until: done", "1", "arrivals: all_at(0 s), runs: 1, deadline: {run: 29.9 s}",
          "run_budget: {estimate: curve, turns: 10, period: 2 s, late: reject}", "");
}
END_TEST

/* --- given up ---------------------------------------------------------------------------------------------------- */

#define THREE "arrivals: all_at(0 s), runs: 1, turns: 3, think: 1 s, at_deadline: gives_up, deadline: "

/* Turns at 0, 2 and 4. */
START_TEST(given_up_in_service_and_while_thinking)
{
    /* the server goes on until 5 for nobody */
    trial("horizon: 10 s", "1", THREE "{run: 4.5 s}", "unbounded", "a0@0 a0.1@2 a0.2@4");
    EXPECT_ROW(&t, 0, {METRIC_WASTED_TOKENS, 3}, {METRIC_WASTED_SHARE, 1}, {METRIC_LOST_TURNS, 360},
               {METRIC_RUNS_PER_H, 0}, {METRIC_RUNS_IN_TIME_SHARE, 0}, {METRIC_DEADLINE_MET_SHARE, 2.0 / 3});
    trial("horizon: 10 s", "1", THREE "{run: 3.5 s}", "unbounded", "a0@0 a0.1@2");
    EXPECT_ROW(&t, 0, {METRIC_WASTED_TOKENS, 2}, {METRIC_WASTED_SHARE, 1}, {METRIC_LOST_TURNS, 0},
               {METRIC_RUNS_IN_TIME_SHARE, 0}, {METRIC_DEADLINE_MET_SHARE, 1});
    /* what was answered before the deadline of a run that is done is not wasted */
    trial("horizon: 10 s", "1", THREE "{run: 5.5 s}", "unbounded", "a0@0 a0.1@2 a0.2@4");
    EXPECT_ROW(&t, 0, {METRIC_WASTED_TOKENS, 0}, {METRIC_RUNS_IN_TIME_SHARE, 1}, {METRIC_RUNS_PER_H, 360});
    /* an answer at that very instant comes too late */
    trial("horizon: 10 s", "1", THREE "{run: 5 s}", "unbounded", "a0@0 a0.1@2 a0.2@4");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0});
    trial("until: done", "1", THREE "{run: 4.5 s}", "unbounded", "a0@0 a0.1@2 a0.2@4");
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 4.5});
}
END_TEST

#define FOUR "arrivals: all_at(0 s), runs: 4, at_deadline: gives_up, deadline: {run: 1.5 s}"

/* a0 is answered at 1, the others wait, are held or back off at 1.5. Nothing else begins. */
START_TEST(given_up_wherever_it_waits)
{
    static const char *const policies[] = {"script: {gate: ahhh, hold: 9 s}", "script: {gate: addd, after: 9 s}",
                                           "script: {door: ahhh, hold: 9 s}", "script: {door: addd, after: 9 s}",
                                           "script: {door: ahdh, gate: aaad, hold: 9 s, after: 9 s}"};
    static const double lost[] = {3, 3, 0, 0, 0}, refused[] = {0, 0, 3, 3, 3};

    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        trial("horizon: 100 s", "1", FOUR, policies[i], "a0@0");
        EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 0.01}, {METRIC_RUNS_IN_TIME_SHARE, 0.25}, {METRIC_LOST_TURNS, lost[i] * 36},
                   {METRIC_RUNS_REFUSED, refused[i] * 36}, {METRIC_CENSORED, 0});
        trial("until: done", "1", FOUR, policies[i], "a0@0");
        EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 1.5});
    }
    /* in the waiting line; a1 is in service */
    trial("horizon: 100 s", "1", FOUR, "unbounded", "a0@0 a1@1");
    EXPECT_ROW(&t, 0, {METRIC_GOODPUT, 0.01}, {METRIC_LOST_TURNS, 108}, {METRIC_WASTED_TOKENS, 0.1});
}
END_TEST

START_TEST(given_up_while_it_boots)
{
    trial("horizon: 10 s", "1",
          "arrivals: all_at(0 s), runs: 2, boot: 3 s, at_deadline: gives_up, deadline: {run: 2 s}", "unbounded", "");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0}, {METRIC_LOST_TURNS, 0});
    trial("horizon: 10 s", "1",
          "arrivals: all_at(0 s), runs: 2, boot: 3 s, at_deadline: gives_up, deadline: {run: 4.5 s}", "unbounded",
          "a0@3 a1@4");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0.5});
}
END_TEST

/* A layer of the client begins a run again 4 s after it failed at 0, and again; the deadline stays that of the run. */
START_TEST(restarts_are_within_it)
{
#define AGAIN(deadline, more, script, starts) \
    do { \
        timeline_expect("study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n" \
                        "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: 2, think: 0 s, deadline: {run: " deadline \
                        "}" more \
                        ",\n  client: [{jitter: none}, {restarts: run, base: 4 s, backoff: constant, jitter: " \
                        "none}]}}\npolicies: [script: {" script "}]\n", \
                        "script", starts, &t); \
    } while (0)
    AGAIN("7 s", "", "gate: r, until: 3 s", "a0.1@4 a0.2@5");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 1});
    AGAIN("5.5 s", "", "gate: r, until: 3 s", "a0.1@4 a0.2@5");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0}, {METRIC_RUNS_PER_H, 36});
    AGAIN("5.5 s", ", at_deadline: gives_up", "gate: r, until: 3 s", "a0.1@4 a0.2@5");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0}, {METRIC_RUNS_PER_H, 0}, {METRIC_LOST_TURNS, 72});
    AGAIN("2 s", ", at_deadline: gives_up", "gate: r, until: 3 s", "");
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 0}, {METRIC_LOST_TURNS, 36}, {METRIC_CENSORED, 0});
}
END_TEST

/* Asked at 0 and, as its first run was given up then, at 4; made at 2 and 6, answered at 5 and 9. */
START_TEST(a_population_goes_on)
{
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(3 s)}}\n"
                    "agents: {a: {population: 1, runs: 2, turns: 2, think: 2 s, at_deadline: gives_up,\n"
                    "             deadline: {run: 4 s}}}\n",
                    NULL, "a0@2 a0.1@6", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 8}, {METRIC_RUNS_IN_TIME_SHARE, 0});
    /* While it thinks its turn counts as made: the next run has numbers of its own. */
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                    "agents: {a: {population: 1, runs: 2, turns: 2, think: 2 s, at_deadline: gives_up,\n"
                    "             deadline: {run: 4 s}}}\n",
                    NULL, "a0@2 a0.2@6", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 8});
    /* refused by its own patience at the door, it thinks */
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                    "agents: {a: {population: 1, runs: 2, turns: 1, think: 2 s, at_deadline: gives_up,\n"
                    "             deadline: {run: 4 s}}}\npolicies: [script: {door: d, after: 9 s, until: 3 s}]\n",
                    "script", "a0.1@8", &t);
}
END_TEST

/* The second and third run have the memory of the first, whose timer is not theirs. */
START_TEST(a_run_that_is_done_has_none)
{
    timeline_expect("study: {horizon: 10 s}\nbackends: {b: {kind: slots, servers: 1, service: constant(0.5 s)}}\n"
                    "agents: {a: {arrivals: even(1/s), runs: 3, at_deadline: gives_up, deadline: {run: 0.7 s}}}\n",
                    NULL, "a0@0 a1@1 a2@2", &t);
    EXPECT_ROW(&t, 0, {METRIC_RUNS_IN_TIME_SHARE, 1});
}
END_TEST

/* --- shares ------------------------------------------------------------------------------------------------------ */

/* In 10 s: 10 turns of 10 + 20 tokens, 5 turns of 40; b has no deadline. */
START_TEST(tenants)
{
    timeline_expect(
        "study: {horizon: 10 s}\nbackends: {c: {kind: slots, servers: 9, service: constant(1 s)}}\n"
        "agents:\n"
        "  a: {tenant: x, arrivals: even(1/s), runs: 9, output: 10, input: {start: 20}, deadline: {turn: 1 s}}\n"
        "  b: {tenant: y, arrivals: even(1/s), runs: 3, output: 30}\n",
        NULL, "a0@0 b0@0 a1@1 b1@1 a2@2 b2@2 a3@3 a4@4 a5@5 a6@6 a7@7 a8@8", &t);
    EXPECT_ROW(&t, 0, {METRIC_JAIN, 360.0 * 360 / (2 * (270.0 * 270 + 90 * 90))}, {METRIC_PROVIDER_SHARE, NAN},
               {METRIC_GOODPUT_IN_TIME, 0.9});
    EXPECT_ROW(&t, 1, {METRIC_JAIN, NAN}, {METRIC_PROVIDER_SHARE, 0.75}, {METRIC_GOODPUT_IN_TIME, 0.9});
    EXPECT_ROW(&t, 2, {METRIC_PROVIDER_SHARE, 0.25}, {METRIC_GOODPUT_IN_TIME, NAN}, {METRIC_DEADLINE_MET_SHARE, NAN});
    EXPECT_ROW(&t, 3, {METRIC_JAIN, NAN}, {METRIC_PROVIDER_SHARE, 0.75});
    EXPECT_ROW(&t, 4, {METRIC_PROVIDER_SHARE, 0.25});
}
END_TEST

/* --- reading ----------------------------------------------------------------------------------------------------- */

START_TEST(what_does_not_go_together)
{
    static const struct {
        const char *class, *said;
    } cases[] = {
        {"population: 2, think: 1 s, deadline: {run: 9 s}", "s.yaml:3:57: deadline.run: without turns a run of "
                                                            "a population never ends: expected turns beside it"},
        {"population: 2, schedule: {turns: 9, over: 9 s}, deadline: {run: 9 s}",
         "s.yaml:3:78: deadline.run: expected none beside a schedule, whose turns do not rest on one another"},
        {"population: 2, think: 1 s, deadline: {turn: 9 s}, at_deadline: gives_up",
         "s.yaml:3:77: at_deadline: a run without a deadline cannot give up at it: expected deadline: {run: 600 "
         "s} beside it"},
        {"population: 2, think: 1 s, deadline: {turns: 9 s}",
         "s.yaml:3:52: deadline: unknown key 'turns', did you mean turn?"},
        {"population: 2, think: 1 s, deadline: 9 s",
         "s.yaml:3:51: deadline: expected a mapping, such as deadline: {turn: 9 s}, not a value"},
    };
    struct plan_file file;
    char yaml[512];

    plan_file_init(&file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(yaml, sizeof yaml,
                 "study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 1, service: 1 s}}\n"
                 "agents: {a: {%s}}\n",
                 cases[i].class);
        ck_assert(!plan_file_read(&file, yaml, NULL, NULL));
        ck_assert_str_eq(plan_file_said(&file), cases[i].said);
    }
    ck_assert(plan_file_read(&file,
                             "study: {horizon: 100 s}\nbackends: {b: {kind: slots, servers: 1, service: 1 s}}\n"
                             "agents: {a: {population: 2, turns: 3, think: 1 s, deadline: {run: 9 s}}}\n"
                             "sweep: {agents.a.deadline.run: [5 s, 6 s], agents.a.at_deadline: [goes_on, gives_up]}\n",
                             NULL, NULL));
    ck_assert_uint_eq(file.plan.point_count, 4);
    ck_assert_int_eq(file.plan.points[3].scenario->classes[0].run_within, 6 * SIM_SECOND);
    ck_assert(file.plan.points[3].scenario->classes[0].gives_up);
    plan_file_fini(&file);
}
END_TEST

Suite *deadlines_suite(void)
{
    Suite *suite = suite_create("deadlines");
    TCase *test = tcase_create("deadlines");

    tcase_add_test(test, turns_in_time);
    tcase_add_test(test, runs_in_time);
    tcase_add_test(test, the_earlier_of_both);
    tcase_add_test(test, of_a_schedule_since_it_was_due);
    tcase_add_test(test, policies_see_them);
    tcase_add_test(test, given_up_in_service_and_while_thinking);
    tcase_add_test(test, given_up_wherever_it_waits);
    tcase_add_test(test, given_up_while_it_boots);
    tcase_add_test(test, restarts_are_within_it);
    tcase_add_test(test, a_population_goes_on);
    tcase_add_test(test, a_run_that_is_done_has_none);
    tcase_add_test(test, tenants);
    tcase_add_test(test, what_does_not_go_together);
    suite_add_tcase(suite, test);
    return suite;
}
