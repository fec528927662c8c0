/* test_agent_presets.c - measured agents: the figures of their page, its arithmetic, what a scenario writes beside
 * them, and that they do in a trial what the page says. */
#include <stdlib.h>
#include <string.h>

#include "models/agent_presets.h"
#include "models/describe.h"
#include "models/input.h"
#include "models/provider_presets.h"
#include "tests/model.h"
#include "tests/provider_fixture.h"
#include "tests/suites.h"

/* For its table alone. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "policies/planner_demand.h"
#pragma GCC diagnostic pop

/* The page, typed again from it. */
static const struct published {
    const char *preset;
    double a, b, output, i, s, period, tools, hold_cap;
} published[] = {
    {"laguna_opencode", 17784, 616, 185, 0.577, 0.00631, 4.54, 2.79, 240},
    {"laguna_claude_code", 34388, 719, 150, 0.799, 0.00619, 3.73, 2.00, 100},
    {"laguna_codex", 29115, 271, 73, 0.784, 0.00622, 6.10, 4.87, 240},
    {"laguna_custom", 21314, 934, 255, 0.711, 0.00605, 7.68, 5.43, 100},
    {"laguna_mini_swe", 3609, 850, 123, 0.728, 0.00584, 6.01, 4.56, 240},
    {"cheap_oss_mini_swe", 4419, 1089, 258, 3.909, 0.00822, 7.50, 1.47, 240},
    {"cheap_oss_opencode", 15003, 997, 236, 0.463, 0.02016, 7.58, 2.37, 240},
    {"pooled", 25948, 482, 132, 1.07, 0.00882, 5.81, 3.57, 45},
};
enum { PUBLISHED = sizeof published / sizeof *published };

static const char *fleet(const char *preset, const char *more)
{
    return arena_format(&file.arena,
                        "study: {horizon: 100000 s}\nbackends: {pool: {kind: provider, preset: %s}}\n"
                        "agents: {task: {preset: %s, population: 4%s}}\n",
                        preset, preset, more);
}

START_TEST(figures)
{
    const struct published *row = &published[_i];
    const struct scenario *scenario = read_text(fleet(row->preset, ""));
    const struct agent_class *task = &scenario->classes[0];
    const struct latency_spec *latency = &scenario->backends[0].provider->latency;

    ck_assert_str_eq(agent_presets[_i].name, row->preset);
    ck_assert_double_eq(dist_mean(task->input->start), row->a);
    ck_assert_double_eq(dist_mean(task->input->per_turn), row->b);
    ck_assert(dist_is_constant(task->input->start) && dist_is_constant(task->input->per_turn));
    ck_assert_double_eq(task->input->most, 235929);
    ck_assert(task->input->cached_previous);
    ck_assert_double_eq(dist_quantile(task->output, 0.5), row->output);
    ck_assert(dist_is_exponential(task->think));
    ck_assert_double_eq(dist_mean(task->think), row->tools);
    ck_assert_int_eq(task->client.hold_cap, (sim_time)row->hold_cap * SIM_SECOND);
    ck_assert_int_eq(task->client.layers[0].attempts, 1);
    expect_near(latency->base, row->i);
    expect_near(latency->per_output, row->s);
    ck_assert_uint_eq(scenario->backends[0].provider->meter_count, 0);
    ck_assert_int_eq(scenario->backends[0].provider->retry_after, RETRY_NONE);
    /* The page's own arithmetic closes, but for rounding: nothing of a turn is left over. */
    ck_assert_double_eq_tol(row->i + row->s * row->output + row->tools, row->period, 0.012);
}
END_TEST

/* The planner has the page a third time, as it may include nothing of models/: the same rows in the same order, and
 * what it works with is what the agents do and the pools take. */
START_TEST(the_planner_has_the_same)
{
    const struct published *row = &published[_i];
    const struct planner_measured *curve = &planner_measured[_i];
    const struct scenario *scenario = read_text(fleet(row->preset, ""));
    const struct agent_class *task = &scenario->classes[0];
    const struct latency_spec *latency = &scenario->backends[0].provider->latency;

    ck_assert_ptr_null(planner_measured[PUBLISHED].name);
    ck_assert_str_eq(curve->name, row->preset);
    ck_assert_int_eq(curve->a, (int64_t)dist_mean(task->input->start));
    ck_assert_int_eq(curve->b, (int64_t)dist_mean(task->input->per_turn));
    ck_assert_int_eq(curve->output, (int64_t)dist_quantile(task->output, 0.5));
    ck_assert_int_eq(curve->latency_base, sim_from_seconds(latency->base));
    ck_assert_int_eq(curve->latency_per_output, sim_from_seconds(latency->per_output));
    ck_assert_int_eq(curve->period, sim_from_seconds(row->period));
    ck_assert_int_eq(curve->own, strcmp(row->preset, "pooled") != 0);
}
END_TEST

START_TEST(all_are_here_and_have_a_page)
{
    ck_assert_ptr_null(agent_presets[PUBLISHED].name);
    for (size_t i = 0; i < PUBLISHED; i++) {
        ck_assert_str_eq(agent_presets[i].source, "https://github.com/psdhali/agent-evals");
        ck_assert_str_eq(agent_presets[i].read, "as collected 2026-11");
        ck_assert_ptr_nonnull(provider_preset_named(agent_presets[i].name));
    }
}
END_TEST

/* Survival in windows of 40 turns, the last chance for ever. */
START_TEST(survival)
{
    const struct dist *turns = read_text(fleet("pooled", ""))->classes[0].turns;

    ck_assert_double_eq_tol(1 - dist_cdf(turns, 40.5), 0.814, 1e-9);
    ck_assert_double_eq_tol(1 - dist_cdf(turns, 80.5), 0.814 * 0.812, 1e-9);
    ck_assert_double_eq_tol(1 - dist_cdf(turns, 200.5), 0.814 * 0.812 * 0.75 * 0.647 * 0.667, 1e-9);
    ck_assert_double_eq_tol(1 - dist_cdf(turns, 240.5), 0.814 * 0.812 * 0.75 * 0.647 * 0.667 * 0.667, 1e-9);
}
END_TEST

/* In a trial: the first turn sends a, the next a + b; a turn takes its period, exponential tools and all. */
START_TEST(a_trial_has_the_period)
{
    const struct published *row = &published[_i];
    double v[METRIC_COUNT];
    struct plan plan = model_plan(arena_format(&file.arena,
                                               "study: {horizon: 400000 s}\n"
                                               "backends: {pool: {kind: provider, preset: %s}}\n"
                                               "agents: {task: {preset: %s, population: 4}}\n",
                                               row->preset, row->preset));

    model_trial(&plan, 0, 1, v);
    /* 1.6M s of agents, some 300,000 turns: their mean is known to 0.002 of itself. */
    ck_assert_double_eq_tol(4 / v[METRIC_GOODPUT], row->i + row->s * row->output + row->tools, 0.01 * row->period);
    ck_assert_double_eq_tol(v[METRIC_SERVICE_MEAN], row->i + row->s * row->output, 1e-6);
    /* Its input, by some 2,000 runs, whose lengths have a wide spread. */
    double mean = input_mean(&plan.points[0].scenario->classes[0]);
    ck_assert_double_eq_tol(v[METRIC_INPUT_PER_MIN] / v[METRIC_REQUESTS_PER_MIN], mean, 0.08 * mean);
    plan_fini(&plan);
}
END_TEST

/* What the scenario says goes before it, key by key. */
START_TEST(before_a_preset)
{
    const struct agent_class *task =
        &read_text(fleet("laguna_opencode",
                         ", turns: 7, think: 1 s, output: lognormal(median 185 cv 1.39), boot: 9 s,\n"
                         "    input: {per_turn: 10, cached: 96.3 %}, client: {hold_cap: 9 s}"))
             ->classes[0];

    ck_assert_double_eq(dist_mean(task->turns), 7);
    ck_assert_double_eq(dist_mean(task->think), 1);
    ck_assert_double_eq(dist_mean(task->boot), 9);
    ck_assert_double_eq_tol(dist_mean(task->output), 185 * sqrt(1 + 1.39 * 1.39), 1e-6);
    ck_assert_double_eq(dist_mean(task->input->start), 17784);
    ck_assert_double_eq(dist_mean(task->input->per_turn), 10);
    ck_assert_double_eq(task->input->most, 235929);
    ck_assert_double_eq(task->input->cached_share, 0.963);
    ck_assert_int_eq(task->client.hold_cap, 9 * SIM_SECOND);
    ck_assert_int_eq(task->client.layers[0].attempts, 1); /* of its client preset still */

    /* Another client preset takes the place of that of the harness; so does a list of layers, whole. */
    task = &read_text(fleet("laguna_opencode", ", client: {preset: openai}"))->classes[0];
    ck_assert_int_eq(task->client.layers[0].attempts, 3);
    ck_assert_int_eq(task->client.hold_cap, 3600 * SIM_SECOND);
    task = &read_text(fleet("laguna_opencode", ", client: [{preset: opencode}, {attempts: 5}]"))->classes[0];
    ck_assert_uint_eq(task->client.layer_count, 2);
    ck_assert_int_eq(task->client.hold_cap, 240 * SIM_SECOND);

    /* A schedule says when turns are due and how many; sessions say what they send. */
    task = &read_text(fleet("laguna_codex", ", schedule: {turns: 8, over: 60 s}"))->classes[0];
    ck_assert(!task->turns && !task->think && dist_mean(task->input->start) == 29115);
    plan_file_write(&file, "s.csv", "id,in,hit\nx,5,0\nx,6,5\ny,7,0\n");
    task = &read_text(fleet("laguna_codex", ", input: {sessions: recorded(s.csv id in hit)}"))->classes[0];
    ck_assert(!task->turns && task->input->sessions && task->input->sessions->count == 2);
    ck_assert_double_eq(dist_mean(task->think), 4.87);
}
END_TEST

static const char *described(void)
{
    char *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    describe_scenario(&file.plan, out);
    fclose(out);
    const char *copy = arena_text(&file.arena, printed);
    free(printed);
    return copy;
}

/* The effective scenario shows what is of a preset, and means the same when it is read. */
START_TEST(effective)
{
    static const char *const more[] = {
        "", "", ", input: {most: 90k, chars_per_token: uniform(3 5)}, client: {dies: 1 %}",
        ", client: [{preset: codex, dies: 3 %}, {attempts: 2}]", ", schedule: {turns: 8, over: 60 s}"};
    static const char *const sweeps[] = {"", "sweep: {agents.task.preset: [laguna_codex, pooled]}\n",
                                         "sweep: {agents.task.output: [1, 2]}\n"};

    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        for (size_t k = 0; k < sizeof sweeps / sizeof *sweeps; k++) {
            const char *text = arena_format(&file.arena, "%s%s", fleet("laguna_mini_swe", more[i]), sweeps[k]);
            if (i == 1)
                text = plan_file_with(&file, text, "population: 4", "arrivals: even(50/h), runs: 9, boot: 9 s");
            read_text(text);
            uint64_t hash = file.plan.hash;
            const char *printed = described(), *points = plan_file_points(&file);
            ck_assert_int_eq(strstr(printed, "start: 3609 ") != NULL, k != 1);
            read_text(printed);
            ck_assert_str_eq(plan_file_points(&file), points);
            ck_assert_msg(file.plan.hash == hash, "it means something else:\n%s%s", text, printed);
        }
}
END_TEST

/* Each key decides numbers, so the hash tells; without them it is what it was. */
START_TEST(the_hash_tells)
{
    static const char *const more[] = {"",
                                       ", boot: 9 s",
                                       ", boot: 8 s",
                                       ", input: {chars_per_token: 4}",
                                       ", input: {chars_per_token: uniform(4 5)}",
                                       ", client: {dies: 1 %}",
                                       ", client: {dies: 2 %}",
                                       ", client: {hold_cap: 9 s}",
                                       ", deadline: {turn: 9 s}",
                                       ", deadline: {turn: 8 s}",
                                       ", deadline: {run: 9 s}",
                                       ", deadline: {run: 9 s}, at_deadline: gives_up"};
    enum { CASES = sizeof more / sizeof *more };
    uint64_t hashes[CASES];

    for (size_t i = 0; i < CASES; i++) {
        read_text(fleet("pooled", more[i]));
        hashes[i] = file.plan.hash;
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_ne(hashes[i], hashes[k]);
    }
    read_text(
        fleet("pooled",
              ", input: {chars_per_token: 4.89}, client: {dies: 0 %}, deadline: {turn: inf}, at_deadline: goes_on"));
    ck_assert_uint_eq(file.plan.hash, hashes[0]);
}
END_TEST

Suite *agent_presets_suite(void)
{
    Suite *suite = suite_create("agent_presets");
    TCase *test = tcase_create("agent_presets");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_loop_test(test, figures, 0, PUBLISHED);
    tcase_add_loop_test(test, the_planner_has_the_same, 0, PUBLISHED);
    tcase_add_test(test, all_are_here_and_have_a_page);
    tcase_add_test(test, survival);
    tcase_add_loop_test(test, a_trial_has_the_period, 0, PUBLISHED);
    tcase_add_test(test, before_a_preset);
    tcase_add_test(test, effective);
    tcase_add_test(test, the_hash_tells);
    suite_add_tcase(suite, test);
    return suite;
}
