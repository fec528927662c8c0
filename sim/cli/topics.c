/* Topics. Only the terms are written here; all else is printed from its own table. */
#include "sim/cli/topics.h"

#include <string.h>

#include "models/distribution.h"
#include "models/metrics.h"
#include "models/provider_presets.h"
#include "models/tables.h"
#include "sim/cli/commands.h"
#include "sim/cli/discover_report.h"
#include "sim/cli/topics_columns.h"
#include "sim/io/diag.h"
#include "sim/io/param.h"

static const struct {
    const char *word, *means;
} terms[] = {
    {"agent", "a client in the model: it thinks, makes a call, waits for the answer, and thinks again"},
    {"run", "an agent's task: a number of turns, or without end"},
    {"turn", "a step of a run; drawn once (tokens, think time), it stays itself through refusals and retries"},
    {"call", "the request that a turn makes"},
    {"attempt", "one try of a call at the gate"},
    {"class", "a kind of agent: an entry under `agents:`"},
    {"backend", "what serves calls: an entry under `backends:`"},
    {"pool", "a provider: meters that all its keys take from, those of strangers too"},
    {"meter", "what a pool counts, requests or tokens, and how much of it there is at a time: an entry of `meters:`"},
    {"edge", "of a pool: the most tokens that it lets in at one instant"},
    {"strain", "what tells a client that a rate is too much: a 429, or answers that take 1.2 times as long"},
    {"gate", "where policies answer for calls, one before each backend"},
    {"door", "where policies answer for whole runs, before they begin"},
    {"admit", "let in: the call waits for a server, or is served at once"},
    {"hold", "keep at the gate and ask again, unseen by the agent"},
    {"defer", "refuse, with or without a retry-after: the client backs off and tries again"},
    {"reject", "refuse for good: the turn has failed"},
    {"shed", "admitted, then turned away when a server took it"},
    {"displaced", "admitted, then turned away to make room"},
    {"knee", "the population at which the asymptotes cross: c (S + Z) / S for c servers, service S, think time Z"},
    {"half-width", "of a 95 % confidence interval: from the t distribution over independent replications"},
    {"replication", "one independent run of a design point, with its own random numbers"},
    {"warm-up", "the part at the start that is not measured; the window is (warm-up, horizon]"},
    {"wait", "time from the last admission to the start of service; 0 counts, refused attempts have none"},
    {"total_wait", "time from the first attempt to the start of the service that succeeded: holds, deferrals and "
                   "backoff are in it"},
    {"quantile", "the smallest value that at least this share of the sample does not exceed, waits of 0 included and "
                 "refusals excluded, averaged over replications"},
    {"p50", "the quantile of 50 %, the median"},
    {"p95", "the quantile of 95 %"},
    {"p99", "the quantile of 99 %"},
    {"policy", "what decides at the gate or the door; as a column, the label of an alternative under `policies:`: its "
               "own, or the policy's name with what differs from others of it, fixed_cap(cap=6)"},
    {"tenant", "who pays for a class of agents: a column where there are two or more"},
    {"factor", "what `sweep:` varies: a key column with the last word of its address, in CSV with all of it"},
    {"replications", "a key column of CSV: the independent replications behind each mean"},
    {"cv", "coefficient of variation: standard deviation / mean"},
    {"published", "numbers that somebody printed, in S.published.csv beside S.yaml; shown beside ours"},
    {"within", "beside published numbers: how far ours may be off before it counts as different; set in the file, from "
               "what the source leaves open"},
    {"live", "of a parameter or key: may be set while a run goes on, by `changes:` or by another policy"},
    {"chain", "policies in a row at one gate, LABEL: [a, b]: the first that does not admit wins"},
    {"copy",
     "of a policy: parameters and memory of its own; `scope` says for whom there is one, and those at a gate may "
     "have a block of memory in common"},
    {"gauge", "a number of a policy's inside that other policies can read, and a record (`record:`) shows over time"},
    {"ub", "a backoff: after the n-th refusal uniform on 0.1 s to min(2^n - 1, M) s, M once a client from 30 to 34 s"},
    {"jitter", "how a backoff m is spread: none m, equal m/2 to m, full 0 to m, 25 % m -+ 25 %, less 25 % 0.75 m to m"},
    {"paired", "differences between policies that met the same random agents, turn by turn: much sharper than two "
               "separate intervals"},
    {"\u00b1", "between a value and its half-width"},
    {"+-", "between a value and its half-width, where the locale is not UTF-8"},
    {"~", "in front of a value: its half-width is above 10 % of it; of a difference: 0 lies within the interval; "
          "~0 to X: of what is never negative the interval reaches 0"},
    {"metric", "a number that a table shows: `weir list metrics`"},
    {"ours", "beside published numbers: what this run found"},
    {"mark", "beside published numbers: same, unsure or DIFFERS"},
    {"same", "a mark: ours and its half-width are within what is allowed"},
    {"unsure", "a mark: the half-width is too large to tell same from DIFFERS; more replications would"},
    {"DIFFERS", "a mark: all of our interval is further from the published number than is allowed; the reason has the "
                "number in brackets, [?] where none is known"},
    {"law", "of --verify: the closed form or bound that predicts the metric"},
    {"theory", "of --verify: what the law predicts"},
    {"simulation", "of --verify: what this run found, with its half-width"},
    {"z", "of --verify: distance from theory in standard errors; among many, some beyond 2 are chance"},
    {"verdict", "of --verify: agrees or FAR, of a bound holds or BROKEN"},
    {"agrees", "a verdict: within what four standard errors are to a normal distribution, or within 0.01 %"},
    {"FAR", "a verdict: further from theory than chance explains"},
    {"holds", "a verdict: on the right side of the bound, up to the interval"},
    {"BROKEN", "a verdict: past a bound by more than its interval explains"},
    {"censored", "calls whose wait is not known, as it had not ended with the study: in no wait of the table"},
    {"d_", "in front of a metric: its paired difference to the policy of --against"},
    {"_hw", "behind a metric: its half-width"},
    {"inf",
     "of a parameter, or in a cell of a record or a log: without a limit; pictures leave it out, and an empty cell "
     "is what has no value"},
    {"design-point", "one policy at one combination of the swept factors"},
};

static void print_option(const struct option *option)
{
    struct arena arena = {0};
    char head[128];

    snprintf(head, sizeof head, "%s (%s)", option->key, param_type_text(option, &arena));
    printf("  %s\n      %s", head, option->help);
    if (!option->initial)
        printf("; required");
    else if (option->initial[0])
        printf("; default %s", option->initial);
    if (option->live)
        printf("; live");
    printf("\n");
    arena_free(&arena);
}

static void print_table(const struct option *table)
{
    for (; table && table->key; table++)
        print_option(table);
}

static void print_policy(const struct policy_ops *ops)
{
    printf("%s (policy): %s\n", ops->name, ops->summary);
    if (ops->params)
        printf("\nparameters:\n");
    print_table(ops->params);
    if (ops->presets)
        printf("\npresets:\n");
    for (const struct policy_preset *preset = ops->presets; preset && preset->name; preset++) {
        printf("  %-12s %s:", preset->name, preset->help);
        for (const char *const *setting = preset->settings; setting && *setting; setting += 2)
            printf(" %s %s%s", setting[0], setting[1], setting[2] ? "," : "\n");
    }
    if (ops->gauges)
        printf("\ngauges:\n");
    for (const struct policy_gauge *gauge = ops->gauges; gauge && gauge->name; gauge++)
        printf("  %-12s %s%s%s%s\n", gauge->name, gauge->help, gauge->unit && *gauge->unit ? " (" : "",
               gauge->unit ? gauge->unit : "", gauge->unit && *gauge->unit ? ")" : "");
    if (ops->columns)
        printf("\ncolumns of its decisions:\n");
    for (const struct policy_column *column = ops->columns; column && column->name; column++)
        printf("  %-12s %s%s%s%s\n", column->name, column->help, column->unit && *column->unit ? " (" : "",
               column->unit ? column->unit : "", column->unit && *column->unit ? ")" : "");
}

static void print_mapping(const struct mapping_key *row)
{
    printf("  %s (%s)\n      %s\n", row->key, row->type, row->help);
}

static void print_mappings(const char *room)
{
    for (const struct mapping_key *row = scenario_mappings; row->key; row++)
        if (strcmp(row->room, room) == 0)
            print_mapping(row);
}

void topics_keys(void)
{
    printf("the file itself\n");
    print_mappings("");
    printf("\nsweep: addresses such as agents.coder.population, and\n");
    print_mappings("sweep");
    printf("\n");
    for (const struct options_room *room = scenario_rooms; room->name; room++) {
        printf("%s: %s\n", room->name, room->help);
        print_table(room->table);
        print_mappings(room->name);
        printf("\n");
    }
}

void topics_terms(void)
{
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        printf("%s: %s\n", terms[i].word, terms[i].means);
}

const char *topics_term(size_t index, const char **means)
{
    if (index >= sizeof terms / sizeof *terms)
        return NULL;
    *means = terms[index].means;
    return terms[index].word;
}

void topics_distributions(void)
{
    for (size_t i = 0; distribution_form(i); i++)
        printf("%s\n", distribution_form(i));
    printf(
        "Times carry their unit (4.5 s), tokens and turns may carry their noun. A number alone is constant; the first\n"
        "number is the mean; any form takes `most VALUE` as its last argument, which cuts larger values down to it.\n");
}

static bool explain_distribution(const char *word)
{
    for (size_t i = 0; distribution_name(i); i++) {
        if (strcmp(distribution_name(i), word) == 0) {
            printf("%s (distribution): %s\n", word, distribution_form(i));
            return true;
        }
    }
    return false;
}

/* Sections and keys of a scenario, and parameters of policies. */
static bool explain_key(const char *word, const struct policy_ops *const *policies)
{
    bool found = false;

    for (const struct options_room *room = scenario_rooms; room->name; room++) {
        const struct option *option = param_find(room->table, word);

        if (strcmp(room->name, word) == 0) {
            printf("%s (section of a scenario): %s\n", room->name, room->help);
            print_table(room->table);
            print_mappings(room->name);
            found = true;
        } else if (option) {
            printf("%s, under %s:\n", word, room->name);
            print_option(option);
            found = true;
        }
    }
    for (const struct mapping_key *row = scenario_mappings; row->key && !found; row++)
        if (strcmp(row->key, word) == 0) {
            printf("%s, %s%s:\n", word, row->room[0] ? "under " : "a key of the file", row->room);
            print_mapping(row);
            found = true;
        }
    for (size_t i = 0; policies[i]; i++) {
        const struct option *option = policies[i]->params ? param_find(policies[i]->params, word) : NULL;

        if (option) {
            printf("%s, a parameter of the policy %s:\n", word, policies[i]->name);
            print_option(option);
            found = true;
        }
    }
    return found;
}

static bool explain_preset(const char *word)
{
    const struct provider_preset *preset = provider_preset_named(word);

    if (!preset)
        return false;
    printf("%s (preset of a provider): %s\n  %s, %s\n", word, preset->help, preset->source, preset->read);
    for (const struct provider_setting *setting = preset->settings; setting->key; setting++)
        printf("  %s: %s\n", setting->key, setting->value);
    return true;
}

/* A metric by its name, or by that of its column of differences or half-widths. */
static bool is_metric(const char *name, const char *word)
{
    size_t length = strlen(name);

    word += strncmp(word, "d_", 2) == 0 ? 2 : 0;
    return strncmp(word, name, length) == 0 && (!word[length] || strcmp(word + length, "_hw") == 0);
}

static bool explain_metric(const char *word)
{
    for (const struct metric *metric = metrics; metric->name; metric++) {
        if (!is_metric(metric->name, word))
            continue;
        printf("%s (metric%s%s): %s\n", metric->name, *metric->unit ? ", " : "", metric->unit, metric->help);
        if (*metric->better)
            printf("  better: %s\n", metric->better);
        printf("  %s_hw is the half-width of its 95 %% confidence interval.\n", metric->name);
        return true;
    }
    return false;
}

static bool explain_bound(const char *word)
{
    const char *name, *unit, *help;

    for (size_t i = 0; (name = cmd_bounds_column(i, &unit, &help)); i++) {
        if (strcmp(name, word) == 0) {
            printf("%s (column of weir bounds, %s): %s\n", name, unit, help);
            return true;
        }
    }
    return false;
}

static bool explain_probe(const char *word)
{
    const char *name, *unit, *help;

    for (size_t i = 0; (name = discover_report_column(i, &unit, &help)); i++) {
        if (strcmp(name, word) == 0) {
            printf("%s (column of weir discover%s%s): %s\n", name, *unit ? ", " : "", unit, help);
            return true;
        }
    }
    return false;
}

/* The nearest of all words that are known. */
static const char *nearest_word(const char *word, const struct policy_ops *const *policies, struct arena *arena)
{
    const char *names[1024], *unit, *help;
    size_t count = 0;

    for (const struct cli_command *command = cli_commands; command->name; command++)
        names[count++] = command->name;
    for (size_t i = 0; policies[i] && count < 512; i++) {
        names[count++] = policies[i]->name;
        for (const struct option *option = policies[i]->params; option && option->key && count < 512; option++)
            names[count++] = option->key;
    }
    for (size_t i = 0; i < METRIC_COUNT; i++)
        names[count++] = metrics[i].name;
    for (size_t i = 0; distribution_form(i); i++) {
        const char *form = distribution_form(i);

        names[count++] = arena_text_of(arena, form, strcspn(form, "("));
    }
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        names[count++] = terms[i].word;
    for (size_t i = 0; (names[count] = cmd_bounds_column(i, &unit, &help)); i++)
        count++;
    for (const struct provider_preset *preset = provider_presets; preset->name; preset++)
        names[count++] = preset->name;
    for (const struct mapping_key *row = scenario_mappings; row->key; row++)
        names[count++] = row->key;
    for (const struct options_room *room = scenario_rooms; room->name; room++) {
        names[count++] = room->name;
        for (const struct option *option = room->table; option->key && count < 1022; option++)
            names[count++] = option->key;
    }
    count = topics_columns_names(names, count, sizeof names / sizeof *names, arena);
    return diag_nearest(word, names, count);
}

bool topics_explain(const char *word, const struct policy_ops *const *policies, struct arena *arena,
                    const char **nearest)
{
    bool found = false;

    for (const struct cli_command *command = cli_commands; command->name; command++) {
        if (strcmp(command->name, word) == 0) {
            cli_usage(command, true, stdout);
            found = true;
        }
    }
    for (size_t i = 0; policies[i]; i++) {
        if (strcmp(policies[i]->name, word) == 0) {
            print_policy(policies[i]);
            found = true;
        }
    }
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        if (strcmp(terms[i].word, word) == 0) {
            printf("%s: %s\n", word, terms[i].means);
            found = true;
        }
    }
    if (strcmp(word, "distributions") == 0) {
        topics_distributions();
        found = true;
    }
    found = explain_distribution(word) || found;
    found = explain_metric(word) || found;
    found = explain_bound(word) || found;
    found = explain_probe(word) || found;
    found = topics_columns_explain(word, policies) || found;
    found = explain_key(word, policies) || found;
    found = explain_preset(word) || found;
    *nearest = found ? NULL : nearest_word(word, policies, arena);
    return found;
}
