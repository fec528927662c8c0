/* The reference, out of the tables that the program itself reads. */
#include "sim/cli/reference.h"

#include <stdio.h>
#include <string.h>

#include "models/agent_presets.h"
#include "models/client_presets.h"
#include "models/discover.h"
#include "models/metrics.h"
#include "models/provider_presets.h"
#include "models/regress.h"
#include "models/tables.h"
#include "sim/cli/arguments.h"
#include "sim/cli/topics.h"
#include "sim/cli/trace_report.h"
#include "sim/io/param.h"

/* Text in Markdown, in a cell of a table too. What stands between backquotes is code, where only a bar can end a cell.
 */
static void print_text(const char *text)
{
    bool code = false;

    for (; *text; text++) {
        code = *text == '`' ? !code : code;
        if (*text == '|' || (!code && strchr("*<\\", *text)))
            putchar('\\');
        putchar(*text);
    }
}

static void print_code(const char *text)
{
    putchar('`');
    for (; *text; text++)
        printf("%s%c", *text == '|' ? "\\" : "", *text);
    putchar('`');
}

static void print_option(const struct option *option)
{
    struct arena arena = {0};

    printf("| `%s` | ", option->key);
    print_text(param_type_text(option, &arena));
    printf(" | ");
    if (!option->initial)
        printf("required");
    else if (option->initial[0])
        print_code(option->initial);
    printf(" | ");
    print_text(option->help);
    printf("%s |\n", option->live ? "; live" : "");
    arena_free(&arena);
}

static void print_options(const char *what, const struct option *table)
{
    if (!table || !table->key)
        return;
    printf("\n| %s | value | default | meaning |\n|---|---|---|---|\n", what);
    for (; table->key; table++)
        print_option(table);
}

static void print_command(const struct cli_command *command)
{
    printf("\n### weir %s\n\n`weir %s%s%s%s`\n\n", command->name, command->name, *command->operands ? " " : "",
           command->operands, command->options ? " [options]" : "");
    print_text(command->summary);
    if (command->details) {
        printf("\n\n");
        print_text(command->details);
    }
    printf("\n");
    if (command->options && command->options->name)
        printf("\n| option | meaning |\n|---|---|\n");
    for (const struct cli_option *option = command->options; option && option->name; option++) {
        struct arena arena = {0};

        printf("| ");
        if (option->letter)
            printf("`-%c`, ", option->letter);
        print_code(arena_format(&arena, "--%s%s%s", option->name, option->argument ? " " : "",
                                option->argument ? option->argument : ""));
        printf(" | ");
        print_text(option->help);
        printf(" |\n");
        arena_free(&arena);
    }
}

static void print_commands(void)
{
    printf(
        "\n## Commands\n\n"
        "Every command has `-h`, `--help`. Long options are never abbreviated. Exit status: 0 done, 1 the answer is\n"
        "no, 2 bad usage or input, 3 a fault of weir, 130 interrupted.\n");
    for (const struct cli_command *command = cli_commands; command->name; command++)
        print_command(command);
}

static const char *meaning_of(const char *key)
{
    for (const struct options_room *room = scenario_rooms; room->name; room++)
        if (strcmp(room->name, key) == 0)
            return room->help;
    for (const struct mapping_key *row = scenario_mappings; row->key; row++)
        if (strcmp(row->key, key) == 0)
            return row->help;
    return "";
}

static void print_mappings(const char *where, const char *const *keys)
{
    printf("\n| %s | meaning |\n|---|---|\n", where);
    for (; *keys; keys++) {
        printf("| `%s` | ", *keys);
        print_text(meaning_of(*keys));
        printf(" |\n");
    }
}

static void print_settings(const char *const *setting)
{
    for (; setting[0]; setting += 2) {
        print_code(setting[0]);
        putchar(' ');
        print_text(setting[1]);
        printf("%s", setting[2] ? ", " : "");
    }
}

static void print_agents(void)
{
    printf("\n| preset | for | sets | page | read |\n|---|---|---|---|---|\n");
    for (const struct agent_preset *preset = agent_presets; preset->name; preset++) {
        printf("| `%s` | ", preset->name);
        print_text(preset->help);
        printf(" | ");
        print_settings(preset->settings);
        printf(" | <%s> | %s |\n", preset->source, preset->read);
    }
}

static void print_clients(void)
{
    printf("\n| preset | for | sets | source |\n|---|---|---|---|\n");
    for (const struct client_preset *preset = client_presets; preset->name; preset++) {
        printf("| `%s` | ", preset->name);
        print_text(preset->help);
        printf(" | ");
        print_settings(preset->settings);
        printf(" | ");
        if (preset->source) {
            print_text(preset->source);
            printf(", %s", preset->date);
        }
        printf(" |\n");
    }
}

static void print_providers(void)
{
    printf("\n| preset | for | sets | page | read |\n|---|---|---|---|---|\n");
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++) {
        printf("| `%s` | ", preset->name);
        print_text(preset->help);
        printf(" | ");
        for (const struct provider_setting *setting = preset->settings; setting->key; setting++) {
            print_code(setting->key);
            putchar(' ');
            print_text(setting->value);
            printf("%s", setting[1].key ? ", " : "");
        }
        printf(" | <%s> | %s |\n", preset->source, preset->read);
    }
}

static void print_scenario(void)
{
    printf("\n## The scenario file\n\nYAML. Everything but a bare count carries its unit.\n");
    print_mappings("key of the file", scenario_keys);
    for (const struct options_room *room = scenario_rooms; room->name; room++) {
        printf("\n### %s\n\n", room->name);
        print_text(room->help);
        printf("\n");
        print_options("key", room->table);
        if (room->table == slots_options)
            print_mappings("mapping", slots_others);
        if (room->table == class_options) {
            print_mappings("mapping", class_others);
            print_agents();
        }
        if (room->table == client_options)
            print_clients();
        if (room->table == provider_options) {
            print_mappings("mapping", provider_others);
            print_providers();
        }
        if (room->table == record_options)
            print_mappings("list", record_others);
        if (room->table == discover_options)
            print_mappings("list", discover_others);
        if (room->table == regress_options)
            print_mappings("mapping", regress_others);
    }
}

static void print_presets(const struct policy_preset *preset)
{
    if (!preset || !preset->name)
        return;
    printf("\n| preset | for | sets |\n|---|---|---|\n");
    for (; preset->name; preset++) {
        printf("| `%s` | ", preset->name);
        print_text(preset->help);
        printf(" | ");
        print_settings(preset->settings);
        printf(" |\n");
    }
}

static void print_gauges(const struct policy_gauge *gauge)
{
    if (!gauge || !gauge->name)
        return;
    printf("\n| gauge | unit | meaning |\n|---|---|---|\n");
    for (; gauge->name; gauge++) {
        printf("| `%s` | %s | ", gauge->name, gauge->unit ? gauge->unit : "");
        print_text(gauge->help);
        printf(" |\n");
    }
}

static void print_columns(const struct policy_column *column)
{
    if (!column || !column->name)
        return;
    printf("\n| column of its decisions | unit | meaning |\n|---|---|---|\n");
    for (; column->name; column++) {
        printf("| `%s` | %s | ", column->name, column->unit ? column->unit : "");
        print_text(column->help);
        for (size_t i = 0; column->words && column->words[i]; i++) {
            printf("%s", i == 0 ? ": " : ", ");
            print_text(column->words[i]);
        }
        printf(" |\n");
    }
}

static void print_policies(const struct policy_ops *const *policies)
{
    printf("\n## Policies\n\n"
           "The keys under [members](#members) come on top of these. A parameter that is live may be set while a run\n"
           "goes on, by [changes](#changes) or by another policy.\n");
    for (; *policies; policies++) {
        printf("\n### %s\n\n", (*policies)->name);
        print_text((*policies)->summary);
        printf("\n");
        print_options("parameter", (*policies)->params);
        print_presets((*policies)->presets);
        print_gauges((*policies)->gauges);
        print_columns((*policies)->columns);
    }
}

static void print_metrics(void)
{
    const char *comma = "";

    printf(
        "\n## Metrics\n\n"
        "Each is a column of the table; `NAME_hw` beside it is the half-width of its 95 %% confidence interval. The\n"
        "text table shows ");
    for (const struct metric *metric = metrics; metric->name; metric++) {
        if (metric->shown) {
            printf("%s`%s`", comma, metric->name);
            comma = ", ";
        }
    }
    printf("\nunless `--columns` asks for others. The tolerance is what a change must exceed to matter: a part of the\n"
           "value, and a number of its units.\n\n"
           "| metric | unit | better | tolerance | meaning |\n|---|---|---|---|---|\n");
    for (const struct metric *metric = metrics; metric->name; metric++) {
        printf("| `%s` | %s | %s | %g %%, %g | ", metric->name, metric->unit, metric->better, 100 * metric->relative,
               metric->absolute);
        print_text(metric->help);
        printf(" |\n");
    }
}

static void print_terms(void)
{
    const char *word, *means;

    printf("\n## Terms\n\n");
    for (size_t i = 0; (word = topics_term(i, &means)); i++) {
        printf("* **%s**: ", word);
        print_text(means);
        printf("\n");
    }
}

void reference_print(const struct policy_ops *const *policies)
{
    printf("<!-- `weir list reference` prints this page and `make docs` writes it anew. -->\n# Reference\n");
    print_commands();
    print_scenario();
    printf("\n## Distributions\n\n```\n");
    topics_distributions();
    printf("```\n\n## Traces\n\nFormats of recorded workloads, for `weir trace`.\n");
    trace_report_reference();
    print_policies(policies);
    print_metrics();
    print_terms();
}
