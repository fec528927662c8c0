/* weir check: a scenario as it is understood, and what running it will take; or plug-ins tried without one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/describe.h"
#include "models/metrics.h"
#include "policies/registry.h"
#include "sim/cli/budgets.h"
#include "sim/cli/commands.h"
#include "sim/cli/estimate.h"
#include "sim/cli/idle.h"
#include "sim/cli/probe.h"
#include "sim/cli/session.h"
#include "sim/io/mem.h"

const struct cli_option cmd_check_options[] = {
    CLI_PLAN_OPTIONS,
    {.name = NULL},
};

/* At most so many design points are probed. */
#define PROBE_POINTS 16
#define PROBE_SECONDS 0.5 /* then no further one begins */

static void print_run_time(const struct session *session, FILE *out)
{
    const struct plan *plan = &session->plan;
    double *values = mem_zeroed(session->width, sizeof *values), sum = 0;
    size_t step = (plan->point_count + PROBE_POINTS - 1) / PROBE_POINTS, probes = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double begun = estimate_clock();
    double seconds;

    for (size_t i = 0; i < plan->point_count && !cli_stop && estimate_clock() - begun < PROBE_SECONDS; i += step) {
        sum += estimate_of(plan->points[i].scenario, values).seconds;
        probes++;
    }
    free(values);
    seconds = sum / (double)probes * (double)plan->point_count * (double)plan->points[0].scenario->study.replications /
              (double)(cores > 0 ? cores : 1);
    if (isnan(seconds) || cli_stop)
        return;
    if (seconds < 0.1)
        fprintf(out, "# expected run time here: less than 0.1 s\n");
    else
        fprintf(out, "# expected run time here: %s %.*f s on %ld core%s\n",
                plan->points[0].scenario->study.precision ? "at most" : "about", seconds < 10 ? 1 : 0, seconds, cores,
                cores == 1 ? "" : "s");
}

/* Each --plugin by itself. */
static int check_plugins(const struct cli_words *words)
{
    struct arena arena = {0};
    const struct policy_ops *const *policies = session_policies(words, &arena);
    size_t built_in = 0;
    unsigned found = 0;

    while (policy_registry[built_in])
        built_in++;
    for (size_t i = built_in; policies && policies[i] && !cli_stop; i++)
        found += probe_policy(policies[i], stdout);
    arena_free(&arena);
    return !policies ? EXIT_USAGE : cli_stop ? EXIT_INTERRUPTED : found > 0 ? EXIT_NO : EXIT_DONE;
}

static bool expects_scenario(const struct cli_words *words)
{
    for (size_t i = 0; i < words->given_count; i++) {
        if (strcmp(words->given[i].option->name, "plugin") == 0)
            continue;
        fprintf(stderr, "weir check: `--%s` is about a scenario: expected FILE\n", words->given[i].option->name);
        return true;
    }
    if (words->given_count == 0)
        fprintf(stderr, "weir check: expected FILE, or --plugin F.so to try a policy without a scenario\n");
    return words->given_count == 0;
}

int cmd_check(const struct cli_words *words)
{
    struct session session = {0};
    int status = EXIT_USAGE;

    if (words->count == 0) {
        if (!expects_scenario(words))
            return check_plugins(words);
        cli_usage(words->command, false, stderr);
        return EXIT_USAGE;
    }

    if (session_open_any(&session, words)) {
        describe_scenario(&session.plan, stdout);
        describe_sentences(&session.plan, stdout);
        idle_sentences(&session.plan, stdout);
        budgets_sentences(&session.plan, stdout);
        if (session.plan.points[0].scenario->class_count > 0)
            print_run_time(&session, stdout);
        else
            printf("# no study and no agents: something to probe by `weir discover`, nothing to run\n");
        status = EXIT_DONE;
    }
    session_close(&session);
    return status;
}
