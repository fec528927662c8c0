/* A policy in small simulations, alone and beside a cap: the host asserts its identities in them, and the same digits
 * must come out of a second run and of threads. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "models/plan.h"
#include "models/trial.h"
#include "policies/registry.h"
#include "sim/cli/probe.h"
#include "sim/cli/session.h"
#include "sim/io/param.h"

#define REPLICATIONS 3
#define HORIZON (INT64_C(600) * SIM_SECOND) /* of both scenarios */

static const struct {
    const char *name, *text;
} scenarios[] = {
    {"a card past its knee, with timeouts",
     "study: {horizon: 600 s, warmup: 60 s, seed: 3}\n"
     "backends: {card: {kind: slots, servers: 4, throughput: {1: 56 tokens/s, 4: 180 tokens/s}}}\n"
     "agents:\n"
     "  coder:\n"
     "    population: 20\n"
     "    think: exponential(4 s)\n"
     "    output: lognormal(250 cv 1.1)\n"
     "    client: {backoff: exponential, base: 1 s, cap: 30 s, jitter: full, timeout: 40 s, attempts: 6,\n"
     "             hold_cap: 15 s}\n"},
    {"two backends, three classes, two tenants, runs that come and go",
     "study: {horizon: 600 s, warmup: 60 s, seed: 4}\n"
     "backends:\n"
     "  card: {kind: slots, servers: 4, rate: 40 tokens/s}\n"
     "  tool: {kind: slots, servers: 2, service: exponential(1 s)}\n"
     "agents:\n"
     "  coder: {population: 8, think: exponential(4 s), output: 250, backend: card, tenant: red, priority: 1}\n"
     "  visitor:\n"
     "    arrivals: poisson(0.2/s)\n"
     "    turns: uniform(1 8)\n"
     "    think: exponential(2 s)\n"
     "    output: lognormal(150 cv 1)\n"
     "    backend: card\n"
     "    tenant: blue\n"
     "    client: {attempts: 3, timeout: 60 s, hold_cap: 5 s}\n"
     "  builder: {population: 6, think: exponential(2 s), backend: tool, tenant: blue, priority: 2}\n"},
};

size_t probe_scenarios(void)
{
    return sizeof scenarios / sizeof *scenarios;
}

const char *probe_scenario_name(size_t scenario)
{
    return scenarios[scenario].name;
}

/* A fixed cap to stand beside the policy. */
static struct member cap_beside(struct arena *arena)
{
    struct member member = {.name = "cap_beside", .scope = SCOPE_GATE, .at = -1, .text = "cap: 10"};
    struct diag diag = {0};
    void *params;
    size_t i = 0;

    while (strcmp(policy_registry[i]->name, "fixed_cap") != 0)
        i++;
    member.ops = policy_registry[i];
    member.params = params = arena_zeroed(arena, 1, member.ops->params_size);
    param_set(param_find(member.ops->params, "cap"), "fixed_cap", params, "10", (struct place){0}, arena, &diag);
    diag_fini(&diag);
    return member;
}

static struct chain chain_of(const struct setting *setting, enum probe_chain chain, struct arena *arena)
{
    static const char *const places[] = {"", " in front of a cap", " behind a cap"};
    struct member *members = arena_zeroed(arena, 2, sizeof *members);
    const struct policy_ops *ops = setting->ops;
    size_t own = chain == PROBE_BEHIND;

    if (chain != PROBE_ALONE)
        members[1 - own] = cap_beside(arena);
    members[own] = (struct member){.ops = ops,
                                   .name = ops->name,
                                   .params = arena_zeroed(arena, 1, ops->params_size),
                                   .scope = ops->rank || ops->pick ? SCOPE_GATE : setting->scope,
                                   .at = -1,
                                   .text = setting->text};
    if (ops->params_size)
        memcpy(members[own].params, setting->params, ops->params_size);
    return (struct chain){.label = arena_format(arena, "%s%s", ops->name, places[chain]),
                          .members = members,
                          .count = chain == PROBE_ALONE ? 1 : 2};
}

/* --- running -------------------------------------------------------------------------------------------------------
 */

struct study_context {
    const struct scenario *scenario;
    pthread_mutex_t lock;
    char wrong[512];
    unsigned wrong_replication;
    sim_time quiet_from; /* the earliest last start of a service in any replication */
};

static void note_start(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    sim_time *last = context;

    (void)gate;
    (void)service;
    *last = call->started;
}

static enum trial_outcome simulate(void *pointer, size_t point, unsigned replication, double *values)
{
    struct study_context *study = pointer;
    sim_time last = 0;
    char wrong[512] = "";
    struct trial_watch watch = {
        .stop = &cli_stop, .wrong = wrong, .wrong_size = sizeof wrong, .started = note_start, .context = &last};
    enum trial_end end = trial_simulate(study->scenario, replication, &watch, values);

    (void)point;
    pthread_mutex_lock(&study->lock);
    if (end == TRIAL_WRONG && (!study->wrong[0] || replication < study->wrong_replication)) {
        memcpy(study->wrong, wrong, sizeof wrong);
        study->wrong_replication = replication;
    }
    if (last < study->quiet_from)
        study->quiet_from = last;
    pthread_mutex_unlock(&study->lock);
    return end == TRIAL_ENDED ? TRIAL_DONE : end == TRIAL_INTERRUPTED ? TRIAL_STOPPED : TRIAL_FAILED;
}

static struct results study_run(struct study_context *study, unsigned threads)
{
    struct results results;
    struct experiment experiment = {.points = 1,
                                    .replications = REPLICATIONS,
                                    .width = trial_row_count(study->scenario) * METRIC_COUNT,
                                    .threads = threads,
                                    .trial = simulate,
                                    .context = study,
                                    .stop = &cli_stop};

    experiment_run(&experiment, &results);
    return results;
}

static bool same_digits(const struct results *one, const struct results *other)
{
    return memcmp(one->values[0], other->values[0], REPLICATIONS * one->width * sizeof **one->values) == 0;
}

static double goodput(const struct results *results)
{
    double sum = 0;

    for (unsigned i = 1; i <= REPLICATIONS; i++)
        sum += results_at(results, 0, i)[METRIC_GOODPUT];
    return sum;
}

/* What there is to say of three runs that should be alike, the last of them on two threads. */
static struct probe_run judged(const struct study_context *study, const struct results runs[3],
                               const struct setting *setting, struct arena *arena)
{
    const char *name = setting->ops->name;
    struct probe_run run = {NULL, NULL};

    if (study->wrong[0])
        run.finding = arena_text(arena, study->wrong);
    else if (!same_digits(&runs[0], &runs[1]))
        run.finding = arena_format(arena, "policy `%s`: a second run gives other digits", name);
    else if (!same_digits(&runs[0], &runs[2]))
        run.finding = arena_format(arena, "policy `%s`: two threads give other digits than one", name);
    else if (!setting->extreme && goodput(&runs[0]) == 0)
        run.finding = arena_format(arena, "policy `%s`: no turn was completed from 60 s to 600 s", name);
    else if (!setting->extreme && study->quiet_from < HORIZON - HORIZON / 4)
        run.note = arena_format(arena, "nobody was served from %.0f s to 600 s while servers were idle",
                                (double)study->quiet_from / SIM_SECOND);
    return run;
}

struct probe_run probe_simulate(const struct setting *setting, size_t scenario, enum probe_chain chain,
                                struct arena *arena)
{
    static const unsigned threads[] = {1, 1, 2};
    struct plan_request request = {.path = "probe", .text = scenarios[scenario].text, .policies = policy_registry};
    struct study_context study = {.lock = PTHREAD_MUTEX_INITIALIZER, .quiet_from = HORIZON};
    struct results runs[3] = {{0}};
    struct probe_run run = {NULL, NULL};
    struct scenario mine;
    struct diag diag = {0};
    struct plan plan;

    if (!plan_read(&request, &plan, &diag)) { /* our own text */
        diag_print(&diag, stderr);
        abort();
    }
    mine = *plan.points[0].scenario;
    mine.chain = chain_of(setting, chain, arena);
    study.scenario = &mine;
    for (int i = 0; i < 3 && !study.wrong[0]; i++)
        runs[i] = study_run(&study, threads[i]);
    if (!cli_stop)
        run = judged(&study, runs, setting, arena);
    for (int i = 0; i < 3; i++)
        results_fini(&runs[i]);
    pthread_mutex_destroy(&study.lock);
    plan_fini(&plan);
    diag_fini(&diag);
    return run;
}
