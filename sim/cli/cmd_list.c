/* weir list: what there is to name in a scenario or on a command line. */
#include <stdio.h>
#include <string.h>

#include "models/agent_presets.h"
#include "models/client_presets.h"
#include "models/metrics.h"
#include "models/provider_presets.h"
#include "sim/cli/commands.h"
#include "sim/cli/reference.h"
#include "sim/cli/session.h"
#include "sim/cli/topics.h"
#include "sim/cli/trace_report.h"
#include "sim/io/diag.h"

const struct cli_option cmd_list_options[] = {
    CLI_PLUGIN_OPTION,
    {.name = NULL},
};

static void list_policies(const struct policy_ops *const *policies)
{
    for (; *policies; policies++)
        printf("%-12s %s\n", (*policies)->name, (*policies)->summary);
}

static void list_metrics(const struct policy_ops *const *policies)
{
    (void)policies;
    for (const struct metric *metric = metrics; metric->name; metric++)
        printf("%-18s %-9s %s\n", metric->name, metric->unit, metric->help);
}

static void list_distributions(const struct policy_ops *const *policies)
{
    (void)policies;
    topics_distributions();
}

static void print_settings(const char *const *setting)
{
    for (; setting[0]; setting += 2)
        printf(" %s %s%s", setting[0], setting[1], setting[2] ? "," : "\n");
}

static void list_agents(const struct policy_ops *const *policies)
{
    (void)policies;
    for (const struct agent_preset *preset = agent_presets; preset->name; preset++) {
        printf("%s: %s\n ", preset->name, preset->help);
        print_settings(preset->settings);
        printf("  source: %s, %s\n", preset->source, preset->read);
    }
}

static void list_clients(const struct policy_ops *const *policies)
{
    (void)policies;
    for (const struct client_preset *preset = client_presets; preset->name; preset++) {
        printf("%s: %s\n ", preset->name, preset->help);
        print_settings(preset->settings);
        if (preset->source)
            printf("  source: %s (%s)\n", preset->source, preset->date);
    }
}

static void list_keys(const struct policy_ops *const *policies)
{
    (void)policies;
    topics_keys();
}

static void list_providers(const struct policy_ops *const *policies)
{
    struct arena arena = {0};

    (void)policies;
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++)
        printf("%-14s %s\n%-14s %s\n%-14s %s, %s\n", preset->name, provider_preset_meters(preset, &arena), "",
               preset->help, "", preset->source, preset->read);
    arena_free(&arena);
}

static void list_terms(const struct policy_ops *const *policies)
{
    (void)policies;
    topics_terms();
}

static void list_traces(const struct policy_ops *const *policies)
{
    (void)policies;
    trace_report_formats();
}

static const struct {
    const char *name, *what;
    void (*print)(const struct policy_ops *const *policies);
} lists[] = {
    {"policies", "admission policies, built in and of --plugin", list_policies},
    {"metrics", "columns of a table", list_metrics},
    {"distributions", "what a time or a count may be drawn from", list_distributions},
    {"agents", "presets of a class: measured agents, what they set and the page that it is from", list_agents},
    {"clients", "presets of `client:`, what they set and where the numbers are from", list_clients},
    {"keys", "keys of a scenario, by section", list_keys},
    {"providers", "presets of a provider: meters, and the page that they are from, with its day", list_providers},
    {"terms", "words that weir uses, explained", list_terms},
    {"traces", "formats of recorded workloads: columns, what they are, and their units", list_traces},
    {"reference", "all of these and the commands, as one page in Markdown", reference_print},
};

int cmd_list(const struct cli_words *words)
{
    const char *names[sizeof lists / sizeof *lists], *nearest;
    size_t count = sizeof lists / sizeof *lists;
    struct arena arena = {0};

    for (size_t i = 0; i < count; i++) {
        names[i] = lists[i].name;
        if (words->count == 1 && strcmp(words->operands[0], lists[i].name) == 0) {
            const struct policy_ops *const *policies = session_policies(words, &arena);

            if (policies)
                lists[i].print(policies);
            arena_free(&arena);
            return policies ? EXIT_DONE : EXIT_USAGE;
        }
    }
    if (words->count == 0) {
        for (size_t i = 0; i < count; i++)
            printf("weir list %-14s %s\n", lists[i].name, lists[i].what);
        return EXIT_DONE;
    }
    nearest = diag_nearest(words->operands[0], names, count);
    fprintf(stderr, "weir list: there is no list `%s`", words->operands[0]);
    cli_suggest(nearest, "`weir list` names them");
    return EXIT_USAGE;
}
