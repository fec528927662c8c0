/* test_help.c - what the program says about itself: on standard output when asked, on standard error when misused. */
#include <check.h>
#include <string.h>

#include "models/agent_presets.h"
#include "models/distribution.h"
#include "models/metrics.h"
#include "models/provider_presets.h"
#include "models/tables.h"
#include "policies/registry.h"
#include "sim/cli/commands.h"
#include "sim/cli/version.h"
#include "sim/io/mem.h"
#include "tests/program.h"
#include "tests/suites.h"

static struct program program;
static struct arena arena;

static void teardown(void)
{
    program_fini(&program);
    arena_free(&arena);
}

#define SAID(...) (PROGRAM_RUN(&program, NULL, __VA_ARGS__), program_taken(&program, &arena))

START_TEST(help_on_standard_output)
{
    const char *usage = SAID("--help");
    program_same(SAID("-h"), usage);
    program_same(SAID("--version"), "weir " WEIR_VERSION "\n");
    program_has(SAID("help"), "weir help TOPIC");
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        program_has(usage, arena_format(&arena, "\n  %s ", command->name));
        const char *help = SAID(command->name, "--help");
        program_same(SAID(command->name, "-h"), help);
        ck_assert_int_eq(strncmp(SAID("help", command->name), help, strlen(help)), 0);
        program_has(help, arena_format(&arena, "usage: weir %s", command->name));
        for (const struct cli_option *option = command->options; option && option->name; option++)
            program_has(help, arena_format(&arena, "--%s ", option->name));
    }
}
END_TEST

/* Nothing is wider than a terminal of 100 columns, and options do not run into their explanation. */
START_TEST(help_is_readable)
{
    for (const struct cli_command *command = cli_commands; command->name; command++) {
        const char *help = SAID(command->name, "--help");
        for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
            ck_assert_msg(strcspn(line, "\n") <= 100, "%.*s", (int)strcspn(line, "\n"), line);
        for (const struct cli_option *option = command->options; option && option->name; option++)
            program_has(help, arena_format(&arena, "  %s\n", option->help));
    }
}
END_TEST

/* Keys that hold mappings are in no option table; each list of them has its rows. */
START_TEST(keys_that_hold_mappings_are_listed)
{
    static const char *const *const lists[] = {scenario_keys, slots_others, provider_others, class_others};
    const char *keys = SAID("list", "keys");
    program_has(keys, "\n  zip (list)\n");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const char *const *key = lists[i]; *key; key++) {
            const struct mapping_key *row = scenario_mappings;
            while (row->key && strcmp(row->key, *key) != 0)
                row++;
            ck_assert_msg(row->key != NULL, "%s has no row", *key);
            program_has(keys, arena_format(&arena, "\n  %s (%s)\n      %s\n", row->key, row->type, row->help));
        }
}
END_TEST

START_TEST(lists_name_everything)
{
    const char *lists = SAID("list"), *policies = SAID("list", "policies"), *named = SAID("list", "metrics");
    const char *forms = SAID("list", "distributions"), *keys = SAID("list", "keys");
    const char *providers = SAID("list", "providers");
    static const char *const names[] = {"policies", "metrics", "distributions", "keys", "agents", "providers"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        program_has(lists, arena_format(&arena, "weir list %s ", names[i]));
    for (size_t i = 0; policy_registry[i]; i++)
        program_has(policies, policy_registry[i]->summary);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        program_has(named, metrics[i].help);
    for (size_t i = 0; distribution_form(i); i++)
        program_has(forms, distribution_form(i));
    for (const struct options_room *room = scenario_rooms; room->name; room++)
        for (const struct option *option = room->table; option->key; option++)
            program_has(keys, option->help);
    const char *agents = SAID("list", "agents");
    for (const struct agent_preset *preset = agent_presets; preset->name; preset++) {
        program_has(agents, arena_format(&arena, "%s: %s\n", preset->name, preset->help));
        program_has(agents, arena_format(&arena, "source: %s, %s\n", preset->source, preset->read));
        for (const char *const *pair = preset->settings; pair[0]; pair += 2)
            program_has(agents, arena_format(&arena, " %s %s%s", pair[0], pair[1], pair[2] ? "," : "\n"));
    }
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++) {
        program_has(providers, arena_format(&arena, "%s ", preset->name));
        program_has(providers, provider_preset_meters(preset, &arena));
        program_has(providers, arena_format(&arena, "%s, %s\n", preset->source, preset->read));
    }
}
END_TEST

static void expect_helped(const char *word, const char *words)
{
    PROGRAM_RUN(&program, NULL, "help", word);
    ck_assert_msg(program.status == 0, "weir help %s: %s", word, program.err);
    program_has(program_taken(&program, &arena), words);
}

START_TEST(help_knows_every_policy)
{
    for (size_t i = 0; policy_registry[i]; i++) {
        const struct policy_ops *ops = policy_registry[i];
        expect_helped(ops->name, ops->summary);
        for (const struct option *option = ops->params; option && option->key; option++) {
            expect_helped(ops->name, option->help);
            expect_helped(option->key, arena_format(&arena, "a parameter of the policy %s", ops->name));
        }
        for (const struct policy_preset *preset = ops->presets; preset && preset->name; preset++)
            expect_helped(ops->name, preset->help);
    }
}
END_TEST

START_TEST(help_knows_every_metric)
{
    for (size_t i = 0; i < METRIC_COUNT; i++)
        expect_helped(metrics[i].name, metrics[i].help);
}
END_TEST

START_TEST(help_knows_every_distribution)
{
    for (size_t i = 0; distribution_form(i); i++) {
        const char *form = distribution_form(i);
        expect_helped(arena_text_of(&arena, form, strcspn(form, "(")), form);
    }
}
END_TEST

START_TEST(help_knows_every_key)
{
    for (size_t i = 0; scenario_keys[i]; i++)
        expect_helped(scenario_keys[i], scenario_keys[i]);
    for (const struct options_room *room = scenario_rooms; room->name; room++) {
        expect_helped(room->name, room->help);
        for (const struct option *option = room->table; option->key; option++)
            expect_helped(option->key, option->help);
    }
}
END_TEST

START_TEST(help_knows_every_provider)
{
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++) {
        expect_helped(preset->name, preset->help);
        expect_helped(preset->name, preset->source);
        for (const struct provider_setting *setting = preset->settings; setting->key; setting++)
            expect_helped(preset->name, arena_format(&arena, "  %s: %s\n", setting->key, setting->value));
    }
}
END_TEST

/* Whatever a table has in its head or its cells. */
START_TEST(help_knows_words_of_tables)
{
    static const char *const words[] = {
        "\u00b1",          "+-",         "~",          "policy", "class",   "tenant",    "backend", "replications",
        "factor",          "mark",       "same",       "unsure", "DIFFERS", "published", "ours",    "within",
        "metric",          "law",        "theory",     "z",      "verdict", "agrees",    "FAR",     "holds",
        "BROKEN",          "simulation", "half-width", "wait",   "p99",     "p95",       "p50",     "quantile",
        "goodput_in_time", "censored",   "d_",         "_hw",    "knee",    "capacity",
    };
    const char *name, *unit, *help;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        expect_helped(words[i], words[i]);
    for (size_t i = 0; (name = cmd_bounds_column(i, &unit, &help)); i++)
        expect_helped(name, help);
    for (const struct metric *metric = metrics; metric->name; metric++) {
        expect_helped(arena_format(&arena, "%s_hw", metric->name), metric->help);
        expect_helped(arena_format(&arena, "d_%s", metric->name), metric->help);
    }
}
END_TEST

START_TEST(help_suggests)
{
    static const char *const pairs[][2] = {
        {"wait_p9", "`wait_p95`"},
        {"hysteresis", "`weir list`"},
        {"lognormall", "`lognormal`"},
        {"cdel", "`codel`"},
        {"horizn", "`horizon`"},
        {"claude_tier4", "`claude_tier_4`"},
        {"cached_wieght", "`cached_weight`"},
        {"intervall", "`interval`"},
        {"halfwidth", "`half-width`"},
        {"chek", "`check`"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        PROGRAM_RUN(&program, NULL, "help", pairs[i][0]);
        ck_assert_int_eq(program.status, 2);
        ck_assert_str_eq(program.out, "");
        program_has(program.err, pairs[i][1]);
        program_fini(&program);
    }
}
END_TEST

/* Usage follows the message, on standard error. */
static const struct misuse {
    const char *words[4], *place, *said;
} misuses[] = {
    {{"run"}, "weir run: expected FILE\nusage: weir run FILE", ""},
    {{"run", "a.yaml", "b.yaml"}, "weir run: `b.yaml` is one word too many\nusage: ", ""},
    {{"run", "a.yaml", "--columms", "all"}, "weir run: unknown option `--columms`; did you mean `--columns`?\n", ""},
    {{"run", "a.yaml", "--col", "all"}, "weir run: unknown option `--col`\nusage: ", ""},
    {{"run", "a.yaml", "-z"}, "weir run: unknown option `-z`\nusage: ", ""},
    {{"run", "a.yaml", "-o"}, "weir run: `-o` needs a value: -o OUT.csv\n", ""},
    {{"run", "a.yaml", "--output"}, "weir run: `--output` needs a value: --output OUT.csv\n", ""},
    {{"rum", "a.yaml"}, "weir: there is no command `rum`; did you mean `run`?\n", ""},
    {{"list", "polices"}, "weir list: there is no list `polices`; did you mean `policies`?", ""},
    {{"help", "unbonded"}, "weir help: nothing is known about `unbonded`; did you mean `unbounded`?", ""},
    {{NULL}, "weir simulates", "usage: weir COMMAND"},
};

START_TEST(misused)
{
    const char *const *given = misuses[_i].words;
    PROGRAM_RUN(&program, NULL, given[0], given[1], given[2], given[3]);
    ck_assert_int_eq(program.status, 2);
    ck_assert_str_eq(program.out, "");
    ck_assert_msg(strncmp(program.err, misuses[_i].place, strlen(misuses[_i].place)) == 0, "%s", program.err);
    ck_assert_msg(strstr(program.err, misuses[_i].said) != NULL, "%s", program.err);
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *help_suite(void)
{
    Suite *suite = suite_create("help");
    TCase *tcase = tcase_create("help");
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, help_on_standard_output);
    tcase_add_test(tcase, help_is_readable);
    tcase_add_test(tcase, lists_name_everything);
    tcase_add_test(tcase, keys_that_hold_mappings_are_listed);
    tcase_add_test(tcase, help_knows_every_policy);
    tcase_add_test(tcase, help_knows_every_metric);
    tcase_add_test(tcase, help_knows_every_distribution);
    tcase_add_test(tcase, help_knows_every_key);
    tcase_add_test(tcase, help_knows_every_provider);
    tcase_add_test(tcase, help_knows_words_of_tables);
    tcase_add_test(tcase, help_suggests);
    tcase_add_loop_test(tcase, misused, 0, COUNT_OF(misuses));
    suite_add_tcase(suite, tcase);
    return suite;
}
