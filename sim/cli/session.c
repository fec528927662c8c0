/* Reading a scenario and running its study. */
#include "sim/cli/session.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "policies/registry.h"
#include "sim/cli/call_log.h"
#include "sim/cli/plugin.h"
#include "sim/cli/record_file.h"
#include "sim/cli/record_logs.h"
#include "sim/io/quote.h"

atomic_int cli_stop;

/* Signals that come together (a terminal and `timeout` both send one) are one request; asked again later, there is no
 * further patience. */
#define PATIENCE_MS 1000

static int now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)((now.tv_sec * 1000 + now.tv_nsec / 1000000) & 0x3fffffff) + 1;
}

/* A policy that never returns is not told of the request: the program does not wait for it. */
#define GRACE_S 10

static void on_alarm(int signal)
{
    static const char stuck[] = "\nweir: asked to end and still busy: a callback of a policy may not return\n";

    (void)signal;
    if (write(STDERR_FILENO, stuck, sizeof stuck - 1) >= 0)
        fsync(STDERR_FILENO);
    _exit(EXIT_INTERRUPTED);
}

/* cli_stop holds when it was asked first. */
static void on_signal(int signal)
{
    static const char gone[] = "\nweir: interrupted twice: nothing is printed\n";
    int now = now_ms();

    (void)signal;
    if (!cli_stop) {
        cli_stop = now;
        alarm(GRACE_S);
    }
    if (now - cli_stop >= 0 && now - cli_stop < PATIENCE_MS)
        return;
    if (write(STDERR_FILENO, gone, sizeof gone - 1) >= 0)
        fsync(STDERR_FILENO);
    _exit(EXIT_INTERRUPTED);
}

/* A reader that goes away and a limit on file sizes show as errors of writing, not as a death in between. */
void cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    struct sigaction late = {.sa_handler = on_alarm};

    sigemptyset(&action.sa_mask);
    sigemptyset(&ignore.sa_mask);
    sigemptyset(&late.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &late, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

static const struct session_more nothing_more = {.sets = NULL};

/* All --set in order, and -r as the last of them. */
static const char *const *session_sets(struct session *session, const struct cli_words *words,
                                       const struct session_more *more, size_t *count)
{
    const char *replications = cli_value(words, "replications");
    const char **given = cli_list(words, "set", false, count);
    const char **sets = arena_zeroed(&session->arena, *count + 1 + more->set_count, sizeof *sets);

    for (size_t i = 0; i < *count; i++)
        sets[i] = arena_text(&session->arena, given[i]);
    free(given);
    if (replications)
        sets[(*count)++] = arena_format(&session->arena, "study.replications=%s", replications);
    for (size_t i = 0; i < more->set_count; i++)
        sets[(*count)++] = more->sets[i];
    return sets;
}

const struct policy_ops *const *session_policies(const struct cli_words *words, struct arena *arena)
{
    struct diag diag = {0};
    size_t count;
    const char **plugins = cli_list(words, "plugin", false, &count);
    const struct policy_ops *const *policies = plugin_join(plugins, count, arena, &diag);

    diag_print(&diag, stderr);
    if (diag.errors > 0)
        policies = NULL;
    diag_fini(&diag);
    free(plugins);
    return policies;
}

static bool plays(const struct plan *plan, const struct policy_ops *ops)
{
    for (size_t i = 0; i < plan->point_count; i++) {
        const struct chain *chain = &plan->points[i].scenario->chain;

        for (size_t k = 0; k < chain->count; k++)
            if (chain->members[k].ops == ops)
                return true;
    }
    return false;
}

/* A plug-in that no alternative names would be missed in the table without a word. */
static void note_idle_plugins(const struct session *session, const struct cli_words *words)
{
    size_t built_in = 0;

    while (policy_registry[built_in])
        built_in++;
    for (size_t i = built_in; session->policies[i]; i++)
        if (!plays(&session->plan, session->policies[i]))
            fprintf(stderr,
                    "weir: note: no alternative of %s names the policy `%s`; to see it beside unbounded: --policy "
                    "unbounded,%s\n",
                    words->operands[0], session->policies[i]->name, session->policies[i]->name);
}

static bool open_plan(struct session *session, const struct cli_words *words, struct plan_request request,
                      const struct session_more *more)
{
    struct diag diag = {0};
    const char **only;
    long ignored;
    bool good;

    *session = (struct session){0};
    request.path = words->operands[0];
    request.load = plugin_load;
    if (!cli_count(words, "replications", 0, 1, 100000, &ignored))
        return false;
    request.sets = session_sets(session, words, more, &request.set_count);
    request.sweep = more->sweep;
    only = cli_list(words, "policy", true, &request.only_count);
    request.only = only;
    request.policies = session->policies = session_policies(words, &session->arena);
    good = request.policies && plan_read(&request, &session->plan, &diag);
    diag_print(&diag, stderr);
    diag_fini(&diag);
    free(only);
    if (good)
        note_idle_plugins(session, words);
    for (size_t i = 0; good && i < session->plan.point_count; i++) {
        size_t width = trial_row_count(session->plan.points[i].scenario) * METRIC_COUNT;

        if (width > session->width)
            session->width = width;
    }
    session->width += QUALITY_COUNT;
    return good;
}

bool session_open(struct session *session, const struct cli_words *words)
{
    return open_plan(session, words, (struct plan_request){0}, &nothing_more);
}

bool session_open_with(struct session *session, const struct cli_words *words, const struct session_more *more)
{
    return open_plan(session, words, (struct plan_request){0}, more);
}

bool session_open_pools(struct session *session, const struct cli_words *words)
{
    return open_plan(session, words, (struct plan_request){.pools_alone = true}, &nothing_more);
}

bool session_open_any(struct session *session, const struct cli_words *words)
{
    return open_plan(session, words, (struct plan_request){.pools_taken = true}, &nothing_more);
}

void session_point(const struct plan *plan, size_t point, bool named, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", plan->points[point].scenario->chain.label);

    for (size_t i = 0; i < plan->factor_count && used < size; i++) {
        if (!plan->points[point].factors[i])
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %s", named ? ", " : "",
                                 named ? plan->factor_names[i] : "", plan->points[point].factors[i]);
    }
}

void session_key_columns(const struct plan *plan, struct table *table)
{
    table_column(table, "policy", "", "", "the alternative under `policies:`", TABLE_KEY, true);
    for (size_t i = 0; i < plan->factor_count; i++)
        table_column(table, plan->factor_names[i], "", "", "a factor of the sweep", TABLE_KEY, true);
    table_column(table, "replication", "", "", "number of the replication, from 1", TABLE_KEY, true);
}

const char *session_keys(const struct plan *plan, size_t point, unsigned replication, struct arena *arena)
{
    const char *keys = quote_csv(plan->points[point].scenario->chain.label, arena);

    for (size_t i = 0; i < plan->factor_count; i++) {
        const char *factor = plan->points[point].factors[i];

        keys = arena_format(arena, "%s,%s", keys, factor ? quote_csv(factor, arena) : "");
    }
    return arena_format(arena, "%s,%u", keys, replication);
}

struct session_alarm *session_alarms(const struct session *session, size_t point, unsigned replication)
{
    const struct scenario *scenario = session->plan.points[0].scenario;

    return session->alarms + (point * (size_t)scenario->study.replications + replication - 1) * scenario->alert_count;
}

void session_close(struct session *session)
{
    for (size_t i = 0; session->sums && i < session->plan.point_count; i++)
        measure_fini(&session->sums[i].observed);
    free(session->sums);
    row_log_free(session->log);
    record_file_free(session->record);
    row_log_free(session->decisions);
    row_log_free(session->audit);
    row_log_free(session->alerts);
    free(session->alarms);
    results_fini(&session->results);
    plan_fini(&session->plan);
    arena_free(&session->arena);
}
