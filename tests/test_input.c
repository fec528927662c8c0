/* What turns send and when they are due: by hand, and means against closed forms. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "models/input.h"
#include "tests/suites.h"
#include "tests/timeline.h"

#define ONE_RUN(input) \
    "study: {horizon: 60 s}\nbackends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n" \
    "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: 4, think: 0 s, input: {" input "}}}\n"

/* Tokens of all turns, sent and cached. */
static void sent(const char *yaml, double input, double cached)
{
    struct timeline t;

    timeline_expect(yaml, NULL, "a0@0 a0.1@1 a0.2@2 a0.3@3", &t);
    EXPECT_ROW(&t, 0, {METRIC_INPUT_PER_MIN, input}, {METRIC_CACHED_PER_MIN, cached});
}

START_TEST(context_grows)
{
    sent(ONE_RUN("start: 1000, per_turn: 500"), 1000 + 1500 + 2000 + 2500, 1000 + 1500 + 2000);
    sent(ONE_RUN("start: 1000"), 4000, 3000);
    sent(ONE_RUN("start: 1000, per_turn: 500, cached: 80 %"), 7000, 0.8 * 7000);
    sent(ONE_RUN("start: 1000, per_turn: 500, cached: 0"), 7000, 0);
    /* Cut at 1,800: what this turn brought is new. */
    sent(ONE_RUN("start: 1000, per_turn: 500, most: 1800"), 1000 + 1500 + 1800 + 1800, 1000 + 1300 + 1300);
    sent(ONE_RUN("start: 1000, per_turn: 500, most: 600"), 4 * 600, 3 * 100);
    sent(ONE_RUN("start: 1000, per_turn: 500, most: 300"), 4 * 300, 0);
    /* Compacted in the third turn. */
    sent(ONE_RUN("start: 1000, per_turn: 500, most: 1800, compact_to: 600"), 1000 + 1500 + 600 + 1100, 1000 + 600);
}
END_TEST

/* Two runs of one agent: the second begins anew. */
START_TEST(each_run_begins_anew)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
                    "agents: {a: {population: 1, runs: 2, turns: 2, think: 9 s, input: {start: 100, per_turn: 10}}}\n",
                    NULL, "a0@9 a0.1@19 a0.2@29 a0.3@39", &t);
    EXPECT_ROW(&t, 0, {METRIC_INPUT_PER_MIN, (100 + 110) * 2 * 60 / 40.0},
               {METRIC_CACHED_PER_MIN, 100 * 2 * 60 / 40.0});
}
END_TEST

/* Output is cut at max_tokens. */
START_TEST(output_is_cut)
{
    struct timeline t;

    timeline_expect("study: {horizon: 60 s}\nbackends: {b: {kind: slots, servers: 1, rate: 10 tokens/s}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 2, output: 100, max_tokens: 60}}\n",
                    NULL, "a0@0 a1@6", &t);
    EXPECT_ROW(&t, 0, {METRIC_OUTPUT_PER_MIN, 120});
}
END_TEST

/* --- means ----------------------------------------------------------------------------------------------------------
 */

static void means(const char *class, double mean, double fresh)
{
    char yaml[512];
    struct plan plan;
    const struct agent_class *spec;

    snprintf(yaml, sizeof yaml,
             "study: {horizon: 1000000 s}\nbackends: {b: {kind: slots, servers: 100, service: constant(1 s)}}\n"
             "agents: {a: {population: 4, think: 1 s, %s}}\n",
             class);
    plan = model_plan(yaml);
    spec = &plan.points[0].scenario->classes[0];
    ck_assert_double_eq_tol(input_mean(spec), mean, 1e-6 * mean);
    ck_assert_double_eq_tol(input_new_mean(spec), fresh, 1e-6 * fresh);
    plan_fini(&plan);
}

START_TEST(means_in_closed_form)
{
    /* Constant: (1000 + 1500 + ... + 5500) / 10. */
    means("turns: 10, input: {start: 1000, per_turn: 500}", 3250, (1000 + 9 * 500) / 10.0);
    /* Geometric of mean m: start + growth (m - 1), as E[K^2] = 2 m^2 - m. */
    means("turns: geometric(8), input: {start: 1000, per_turn: exponential(500)}", 4500, (1000 + 7 * 500) / 8.0);
    means("turns: geometric(8), input: {start: 1000, per_turn: 500, cached: 90 %}", 4500, 450);
    /* Endless: at the cut; between compactions 600, 1,100, 1,600. */
    means("input: {start: 1000, per_turn: 500, most: 1800}", 1800, 500);
    means("input: {start: 1000, per_turn: 500, most: 1800, compact_to: 600}", 1100, (600 + 500 + 500) / 3.0);
}
END_TEST

/* The same means out of a simulation: geometric turns, growth and start with a spread. */
START_TEST(means_of_a_trial)
{
    double v[METRIC_COUNT], requests;
    struct plan plan = model_plan("study: {horizon: 1000000 s}\n"
                                  "backends: {b: {kind: slots, servers: 4, service: constant(1 s)}}\n"
                                  "agents: {a: {population: 4, runs: 1000000, think: 1 s, turns: geometric(8),\n"
                                  "             input: {start: lognormal(1000 cv 1), per_turn: exponential(500)}}}\n");
    const struct agent_class *spec = &plan.points[0].scenario->classes[0];

    model_trial(&plan, 0, 1, v);
    requests = v[METRIC_REQUESTS_PER_MIN];
    /* 2 million turns, 250,000 runs: the mean is known to about 0.5 %. */
    ck_assert_double_eq_tol(v[METRIC_INPUT_PER_MIN] / requests, input_mean(spec), 0.02 * input_mean(spec));
    ck_assert_double_eq_tol((v[METRIC_INPUT_PER_MIN] - v[METRIC_CACHED_PER_MIN]) / requests, input_new_mean(spec),
                            0.01 * input_new_mean(spec));
    plan_fini(&plan);
}
END_TEST

/* --- schedules ------------------------------------------------------------------------------------------------------
 */

/* Two turns each, due at 0 and 10, and 3 and 13; services of 12 s make the second ones late. */
START_TEST(turns_are_due)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 2, service: constant(12 s)}}\n"
                    "agents: {a: {population: 2, schedule: {turns: 4, over: 20 s, times: even, offset: 3 s}}}\n",
                    NULL, "a0@0 a1@3 a0.1@12 a1.1@15", &t);
    EXPECT_ROW(&t, 0, {METRIC_LATENESS_MEAN, (12 + 12 + 14 + 14) / 4.0}, {METRIC_RESPONSE_MEAN, 12},
               {METRIC_MAKESPAN, 27}, {METRIC_UNFINISHED, 0}, {METRIC_THINK_MEAN, NAN});
    /* Seven turns of three agents: 3, 2 and 2; they begin at 0, 4 and 8 mod 6 = 2. */
    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\n"
                    "agents: {a: {population: 3, schedule: {turns: 7, over: 30 s, times: even, offset: 4 s,\n"
                    "             offset_wraps: 6 s}}}\n",
                    NULL, "a0@0 a2@2 a1@4 a0.1@10 a2.1@17 a1.1@19 a0.2@20", &t);
}
END_TEST

/* More agents than turns: who has none does nothing, and the study ends. */
START_TEST(agents_without_turns)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\n"
                    "agents: {a: {population: 5, schedule: {turns: 2, over: 30 s, times: even}}}\n",
                    NULL, "a0@0 a1@0", &t);
    EXPECT_ROW(&t, 0, {METRIC_UNFINISHED, 0}, {METRIC_MAKESPAN, 1});
}
END_TEST

/* A lost turn leaves the next ones alone: of three due at 0, 10 and 20 the first finds the server taken and is given up
 * at 5. */
START_TEST(a_lost_turn_of_a_schedule)
{
    struct timeline t;

    timeline_expect(
        "study: {until: done}\nbackends: {b: {kind: slots, servers: 1, service: constant(8 s)}}\n"
        "agents:\n  other: {arrivals: all_at(0 s), runs: 1}\n"
        "  a: {population: 1, schedule: {turns: 3, over: 30 s, times: even}, client: {timeout: 5 s, attempts: 1}}\n",
        NULL, "other0@0 a0.1@10 a0.2@20", &t);
}
END_TEST

/* Uniform times: in order, inside [0, over), and their mean is half of it. */
START_TEST(uniform_times)
{
    double v[METRIC_COUNT], sum = 0;
    struct plan plan = model_plan("study: {until: done, most: 10 d}\n"
                                  "backends: {b: {kind: slots, servers: 20, service: constant(0.001 s)}}\n"
                                  "agents: {a: {population: 20, schedule: {turns: 20000, over: 1000 s}}}\n");

    for (uint32_t r = 1; r <= 10; r++) {
        model_trial(&plan, 0, r, v);
        ck_assert_double_lt(v[METRIC_MAKESPAN], 1000.1);
        ck_assert_double_gt(v[METRIC_MAKESPAN], 999);
        sum += v[METRIC_LATENESS_MEAN];
    }
    /* Due times of one agent are independent: 1 turn a second, 1 ms of service, so hardly ever late. */
    ck_assert_double_eq_tol(sum / 10, 0.001, 0.00001);
    plan_fini(&plan);
}
END_TEST

Suite *input_suite(void)
{
    Suite *suite = suite_create("input");
    TCase *test = tcase_create("input");

    tcase_add_test(test, context_grows);
    tcase_add_test(test, each_run_begins_anew);
    tcase_add_test(test, output_is_cut);
    tcase_add_test(test, means_in_closed_form);
    tcase_add_test(test, means_of_a_trial);
    tcase_add_test(test, turns_are_due);
    tcase_add_test(test, agents_without_turns);
    tcase_add_test(test, a_lost_turn_of_a_schedule);
    tcase_add_test(test, uniform_times);
    suite_add_tcase(suite, test);
    return suite;
}
