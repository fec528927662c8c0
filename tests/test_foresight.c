/* test_foresight.c - what the door is told of runs: the means of their class, and what each is going to be. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/model.h"
#include "tests/suites.h"

static struct policy_run sum, last;
static double runs;

static struct policy_answer listens(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)self;
    (void)view;
    last = *run;
    runs++;
    sum.turns_drawn += run->turns_drawn;
    sum.input_drawn += run->input_drawn;
    sum.output_drawn += run->output_drawn;
    return policy_admit();
}

static double values[METRIC_COUNT * 8];

static void heard(const char *yaml)
{
    extern const struct policy_ops policy_unbounded;
    static struct policy_ops ops;
    const struct policy_ops *const policies[] = {&ops, &policy_unbounded, NULL};
    double without[METRIC_COUNT * 8];
    struct plan plan;

    ops = policy_unbounded;
    ops.name = "listener";
    ops.run_admit = listens;
    sum = last = (struct policy_run){0};
    runs = 0;
    plan = model_plan_of(yaml, policies);
    ck_assert_uint_le(trial_row_count(plan.points[0].scenario), 8);
    model_trial(&plan, 0, 1, values);
    model_trial(&plan, 1, 1, without); /* who looks ahead changes nothing */
    ck_assert_mem_eq(values, without, trial_row_count(plan.points[0].scenario) * METRIC_COUNT * sizeof *values);
    plan_fini(&plan);
}

#define BACKENDS "backends: {b: {kind: slots, servers: 9, service: constant(1 s)}}\npolicies: [listener, unbounded]\n"

static void foretold(const char *agents)
{
    char yaml[1024];
    double minutes;

    snprintf(yaml, sizeof yaml, "study: {until: done, most: 100 h}\n" BACKENDS "agents: %s\n", agents);
    heard(yaml);
    minutes = values[METRIC_MAKESPAN] / 60;
    ck_assert_double_eq_tol(sum.turns_drawn, values[METRIC_GOODPUT] * minutes * 60, 1e-6);
    ck_assert_double_eq_tol(sum.input_drawn, values[METRIC_INPUT_PER_MIN] * minutes, 1e-9 * (1 + sum.input_drawn));
    ck_assert_double_eq_tol(sum.output_drawn, values[METRIC_OUTPUT_PER_MIN] * minutes, 1e-9 * (1 + sum.output_drawn));
}

/* All that they are told of is what is served. */
START_TEST(what_it_is_going_to_be)
{
    struct arena arena = {0};
    char folder[4096];

    foretold("{a: {arrivals: all_at(0 s), runs: 50, turns: lognormal(9 cv 0.5), think: exponential(2 s),\n"
             "     output: lognormal(300 cv 1), input: {start: lognormal(2000 cv 0.5), per_turn: exponential(500)}}}");
    ck_assert_double_eq(runs, 50);
    foretold("{a: {population: 3, runs: 40, turns: geometric(5), think: exponential(2 s), output: exponential(90),\n"
             "     input: {start: lognormal(2000 cv 0.5), per_turn: exponential(500), most: 5k, compact_to: 1k}}}");
    ck_assert_double_eq(runs, 40);
    foretold("{a: {arrivals: all_at(0 s), runs: 20, turns: geometric(3), think: 1 s, output: exponential(90),\n"
             "     fan_out: {to: b, parts: uniform(2 6), tokens: exponential(70)}}}"); /* parts are of the run */
    foretold(arena_format(&arena,
                          "{a: {population: 3, runs: 30, think: exponential(2 s), output: exponential(90),\n"
                          "     input: {sessions: recorded(%s/scenarios/traces/claude.csv session_id input_tokens "
                          "prefix_tokens)}}}",
                          getcwd(folder, sizeof folder)));
    arena_free(&arena);
}
END_TEST

START_TEST(the_means_of_its_class)
{
    heard(
        "study: {horizon: 10 s}\n" BACKENDS
        "agents: {a: {arrivals: even(1/s), turns: 4, think: 1 s, output: 50, input: {start: 1000, per_turn: 500}}}\n");
    ck_assert_double_eq(last.turns, 4);
    ck_assert_double_eq_tol(last.input_tokens, 1000 + 1500 + 2000 + 2500, 1e-9);
    ck_assert_double_eq(last.output_tokens, 200);
    ck_assert_double_eq(last.turns_drawn, 4);
    ck_assert_double_eq(last.input_drawn, 7000);
    ck_assert_double_eq(last.output_drawn, 200);
    heard("study: {horizon: 10 s}\n" BACKENDS "agents: {a: {population: 2, think: 1 s, input: {start: 1000}}}\n");
    ck_assert(isinf(last.turns) && isinf(last.turns_drawn) && isinf(last.input_tokens) && isinf(last.input_drawn));
    ck_assert_double_eq(last.output_tokens, 0);
    ck_assert_double_eq(last.output_drawn, 0);
    /* past 100,000 turns the rest is as the first */
    heard("study: {horizon: 10 s}\n" BACKENDS
          "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: 1M, think: 1 s, output: 5}}\n");
    ck_assert_double_eq(last.output_drawn, 5e6);
}
END_TEST

Suite *foresight_suite(void)
{
    Suite *suite = suite_create("foresight");
    TCase *test = tcase_create("foresight");

    tcase_add_test(test, what_it_is_going_to_be);
    tcase_add_test(test, the_means_of_its_class);
    suite_add_tcase(suite, test);
    return suite;
}
