/* weir discover: probes a pool, prints each step, and seeds for the pacer. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "models/discover.h"
#include "sim/cli/commands.h"
#include "sim/cli/discover_report.h"
#include "sim/cli/format.h"
#include "sim/cli/output.h"
#include "sim/cli/session.h"

const struct cli_option cmd_discover_options[] = {
    {"backend", 0, "NAME", "the provider to probe; before discover.backend"},
    {"output", 'o', "SEEDS.yaml", "the seeds, a fragment of a scenario; else behind the table"},
    {"set", 0, "KEY=YAML", "change a value of the scenario; may be repeated"},
    CLI_PLUGIN_OPTION,
    CLI_FORMAT_OPTIONS,
    {.name = NULL},
};

static bool is_provider(const struct backend *backend)
{
    return backend->kind == BACKEND_PROVIDER;
}

/* The pools themselves, or where `keys` is set their aliases too. */
static const char *provider_list(const struct scenario *scenario, bool keys, struct arena *arena, size_t *count)
{
    const char *list = "";

    *count = 0;
    for (size_t i = 0; i < scenario->backend_count; i++)
        if (is_provider(&scenario->backends[i]) && (keys || scenario->backends[i].pool == i))
            list = arena_format(arena, "%s%s%s", list, (*count)++ ? ", " : "", scenario->backends[i].name);
    return list;
}

static bool backend_named(const struct scenario *scenario, const char *name, struct place place, size_t *at,
                          struct session *session, struct diag *diag)
{
    size_t count;
    const char *list = provider_list(scenario, true, &session->arena, &count);

    for (*at = 0; *at < scenario->backend_count; ++*at) {
        if (strcmp(scenario->backends[*at].name, name) != 0)
            continue;
        if (is_provider(&scenario->backends[*at]))
            return true;
        diag_error(diag, place, "%s is a card: expected a provider%s%s", name, count ? ", one of " : "", list);
        return false;
    }
    diag_error(diag, place, "there is no backend %s: expected %s%s", name,
               count ? "one of " : "a scenario with a provider", list);
    return false;
}

/* By --backend, else by the scenario, else the only pool. */
static bool choose(struct session *session, const struct cli_words *words, size_t *at, struct diag *diag)
{
    const struct scenario *scenario = session->plan.points[0].scenario;
    const struct discover_spec *spec = session->plan.discover;
    const char *asked = cli_value(words, "backend"), *list;
    struct place file = {.file = session->plan.path};
    size_t count;

    if (asked)
        return backend_named(scenario, asked, (struct place){.file = "--backend"}, at, session, diag);
    if (spec->backend[0])
        return backend_named(scenario, spec->backend, spec->backend_place, at, session, diag);
    list = provider_list(scenario, false, &session->arena, &count);
    if (count == 0)
        diag_error(diag, file, "there is no provider to probe: expected a backend like api: {kind: provider, ...}");
    else if (count > 1)
        diag_error(diag, file, "there are several providers: expected --backend NAME with one of %s", list);
    for (*at = 0; count == 1 && !(is_provider(&scenario->backends[*at]) && scenario->backends[*at].pool == *at);)
        ++*at;
    return count == 1;
}

static bool affordable(const struct session *session, size_t at, struct diag *diag)
{
    const struct discover_spec *spec = session->plan.discover;
    const struct backend *backend = &session->plan.points[0].scenario->backends[at];

    if (isinf(spec->spend_money) || backend->prices.given)
        return true;
    diag_error(diag, spec->spend_place,
               "discover: spend: a bare number is money, and %s has no prices: expected prices: {%s: {input: 3, ...}}, "
               "or tokens, such as 50M tokens",
               backend->name, backend->name);
    return false;
}

static bool prepare(struct session *session, const struct cli_words *words, size_t *at)
{
    struct diag diag = {0};
    bool good = choose(session, words, at, &diag) && affordable(session, *at, &diag);

    diag_print(&diag, stderr);
    diag_fini(&diag);
    return good;
}

/* The rest of a sweep is not probed, and that is said. */
static void note_sweep(const struct session *session)
{
    const struct plan *plan = &session->plan;

    for (size_t i = 0; i < plan->factor_count; i++)
        if (plan->points[0].factors[i])
            fprintf(stderr, "weir: note: only the first point of the sweep is probed, %s = %s\n", plan->factor_names[i],
                    plan->points[0].factors[i]);
}

/* Nor is the timeline: a pool is probed as it begins. */
static void note_changes(const struct session *session, size_t at)
{
    const struct scenario *scenario = session->plan.points[0].scenario;
    size_t count = 0;

    for (size_t i = 0; i < scenario->change_count; i++) {
        const struct change *change = &scenario->changes[i];

        count += change->kind > CHANGE_POLICY && change->kind < CHANGE_POPULATION &&
                 scenario->backends[change->index].pool == scenario->backends[at].pool;
    }
    if (count > 0)
        fprintf(stderr, "weir: note: %s is probed as it begins: of `changes` %zu concern%s it, and none is made\n",
                scenario->backends[at].name, count, count == 1 ? "s" : "");
}

static bool write_seeds(const struct discover_report *report, const char *path)
{
    struct output output;

    if (!output_open(&output, path))
        return false;
    discover_report_seeds(report, output.file);
    return output_close(&output);
}

static bool print(const struct discover_report *report, enum format format, const char *path)
{
    discover_report_steps(report, format, stdout);
    if (path)
        return write_seeds(report, path);
    if (format == FORMAT_CSV) {
        fprintf(stderr, "weir: note: with --format csv the seeds are written by -o SEEDS.yaml only\n");
        return true;
    }
    printf(format == FORMAT_MARKDOWN ? "\n```yaml\n" : "\n");
    discover_report_seeds(report, stdout);
    if (format == FORMAT_MARKDOWN)
        printf("```\n");
    return true;
}

static int status_of(const struct discovery *discovery)
{
    if (discovery->end == DISCOVER_STOPPED)
        return EXIT_INTERRUPTED;
    if (discovery->end == DISCOVER_CAP)
        return EXIT_NO;
    return discovery->edge.bound || discovery->requests.bound || discovery->request_rate.bound ? EXIT_DONE : EXIT_NO;
}

/* A file of seeds that the scenario includes may be renewed. */
static bool spares_scenario(const struct session *session, const char *path)
{
    bool spared = !output_same(path, session->plan.path);

    for (size_t i = 0; i < session->plan.data_count && spared; i++)
        spared = !output_same(path, session->plan.data[i]);
    if (!spared)
        fprintf(stderr,
                "weir discover: `--output` would overwrite what the scenario is read from, `%s`: expected another "
                "file\n",
                path);
    return spared;
}

int cmd_discover(const struct cli_words *words)
{
    struct session session = {0};
    struct discovery discovery = {0};
    struct discover_report report = {.discovery = &discovery, .colour = format_colour(words, stdout)};
    const char *path = cli_value(words, "output");
    enum format format;
    size_t at;
    int status = EXIT_USAGE;

    if (format_read(words, &format) && session_open_pools(&session, words) && prepare(&session, words, &at) &&
        (!path || (spares_scenario(&session, path) && output_possible(path)))) {
        report.plan = &session.plan;
        report.backend = &session.plan.points[0].scenario->backends[at];
        note_sweep(&session);
        note_changes(&session, at);
        discover_run(session.plan.discover, session.plan.points[0].scenario, at, &cli_stop, &discovery);
        signal(SIGALRM, SIG_IGN); /* what follows is ours, and a slow disk may take its time */
        status = print(&report, format, path) ? status_of(&discovery) : EXIT_USAGE;
        if (!output_flush(stdout, "standard output"))
            status = EXIT_USAGE;
        discover_report_notes(&report, stderr);
        discovery_fini(&discovery);
    }
    session_close(&session);
    return status;
}
