/* SPDX-License-Identifier: MIT-0 */
/* skeleton - a policy to copy; keep what you need, throw away the rest.
 *
 * Idea: admit while fewer than `most` calls wait; ask the others to come back after `retry_after`. Unlike a cap on the
 * system it never refuses a call that a server is free for. This is where a policy of yours says what it does, where it
 * comes from, its formula, its parameters, and where it is known to fail (here: a slow server hides behind a short
 * line).
 *
 * Compile:  cc -shared -fPIC $(pkg-config --cflags weir) -o mine.so mine.c
 * Run:      weir run FILE --plugin ./mine.so         with `- skeleton: {most: 4}` under `policies:`
 * Rename:   `skeleton` everywhere, first of all in .name.
 *
 * Required is only what the host cannot do without: weir_policy with POLICY_HEADER, a name and a summary. Every
 * callback is "Not required": leave it out of the table at the bottom, and what its comment says is done instead.
 * policy.h has the whole contract. Times are int64_t nanoseconds. Keep no list and no global: all memory is the host's.
 */
#include "policies/policy.h"

/* What a scenario sets; described to the host, with default and range, by skeleton_options. */
struct skeleton_params {
    int64_t most;
    policy_time retry_after;
};

/* What the policy remembers. Zeroed by the host when a copy begins. */
struct skeleton_vars {
    int64_t inside; /* admitted calls that have not ended */
};

/* What it only counts. */
struct skeleton_stats {
    uint64_t refused;
};

/* Memory of one call, from its first attempt until it has ended for good; zeroed. There may be such a block for a run,
 * an agent, a class and a tenant too, and one, self->shared, that all copies at a gate have in common. */
struct skeleton_call {
    uint64_t refusals;
};

/* The parameters are read: each is in its range, but they may not go together. Returns NULL, or one line that says
 * what was expected. Not required: they go together. */
static const char *skeleton_check(const void *params)
{
    (void)params;
    return NULL;
}

/* A copy begins: at t = 0, or when its agent first comes by. Not required: its memory is zeroed. */
static void skeleton_init(struct policy *self)
{
    (void)self;
}

/* A parameter marked `live` was set, by the operator (`changes:`) or by another policy. Not required: params have
 * changed already; it is for a policy that derives something from them. */
static void skeleton_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    (void)self;
    (void)now;
    (void)key;
    (void)by;
}

/* A gauge is about to be read: those that change by time alone are brought up to date. Not required. */
static void skeleton_refresh(struct policy *self, policy_time now)
{
    (void)self;
    (void)now;
}

/* A run asks at the door. A later member may still refuse, so nothing is booked here. Not required: every run begins.
 */
static struct policy_answer skeleton_run_admit(struct policy *self, const struct policy_view *view,
                                               struct policy_run *run)
{
    (void)self;
    (void)view;
    (void)run;
    return policy_admit();
}

/* Every member admitted the run: book it here. Not required. */
static void skeleton_run_admitted(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)self;
    (void)view;
    (void)run;
}

/* Another member did not admit this run. Not required. */
static void skeleton_run_refused(struct policy *self, const struct policy_view *view, struct policy_run *run,
                                 const struct policy_answer *answer)
{
    (void)self;
    (void)view;
    (void)run;
    (void)answer;
}

/* A run that was admitted ended: told at the gate where it asked, and at each other one that its class's calls may come
 * to. Not required. */
static void skeleton_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    (void)self;
    (void)view;
    (void)run;
    (void)done;
}

/* An attempt is made, or a held one asks again: the heart of most policies. A later member of the chain may still
 * refuse, so nothing is booked here. Not required: every call is admitted. */
static struct policy_answer skeleton_admit(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    const struct skeleton_params *params = self->params;
    struct skeleton_stats *stats = self->stats;
    struct skeleton_call *memory = call->state;
    if (view->waiting.calls < (uint64_t)params->most || view->busy < view->servers) /* nobody waits at a metered pool */
        return policy_admit();
    memory->refusals++;
    stats->refused++;
    return policy_defer(params->retry_after, "line"); /* or policy_hold, policy_reject, policy_displace */
}

/* Every member admitted: book it here. Returns how long this record lives if no `finish` comes; 0: for ever. Not
 * required. */
static policy_time skeleton_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct skeleton_vars *vars = self->vars;
    (void)view;
    (void)call;
    vars->inside++;
    return 0;
}

/* Another member did not admit this attempt. Not required. */
static void skeleton_refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                             const struct policy_answer *answer)
{
    (void)self;
    (void)view;
    (void)call;
    (void)answer;
}

/* A server takes the call; now - call->joined is how long it has waited. DEFER or REJECT sheds it, and the next one in
 * line is offered at once. Not required: it is served. */
static struct policy_answer skeleton_start(struct policy *self, const struct policy_view *view,
                                           struct policy_call *call)
{
    (void)self;
    (void)view;
    (void)call;
    return policy_admit();
}

/* The attempt ended while it was held, or after it was admitted (then it had joined a line). Settle here: the outcome
 * says why, and the real token counts. A time instead of POLICY_NONE takes a refused attempt back to the held line. Not
 * required. */
static policy_time skeleton_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                   const struct policy_outcome *outcome)
{
    struct skeleton_vars *vars = self->vars;
    (void)view;
    (void)outcome;
    if (call->joined != POLICY_NONE)
        vars->inside--;
    return POLICY_NONE;
}

/* It ended after its record had expired; see skeleton_admitted. Not required. */
static void skeleton_late(struct policy *self, const struct policy_view *view, struct policy_call *call,
                          const struct policy_outcome *outcome)
{
    (void)self;
    (void)view;
    (void)call;
    (void)outcome;
}

/* The policy's own wake-up, first when the copy begins. Returns the absolute time of the next one. Not required. */
static policy_time skeleton_tick(struct policy *self, const struct policy_view *view)
{
    (void)self;
    (void)view;
    return POLICY_NONE;
}

static const struct option skeleton_options[] = {
    {.key = "most",
     .type = OPTION_COUNT,
     .offset = offsetof(struct skeleton_params, most),
     .initial = "4",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "most calls that may wait"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct skeleton_params, retry_after),
     .initial = "30 s",
     .least = "1 ms",
     .most = "1 h",
     .live = true,
     .help = "when a refused call is asked to come back"},
    {.key = NULL},
};

/* Read by other policies through host->get. Not required. */
static const struct policy_gauge skeleton_gauges[] = {
    {.name = "inside",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct skeleton_vars, inside),
     .unit = "calls",
     .help = "admitted calls that have not ended"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct skeleton_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

/* Settings by name, `skeleton: {preset: patient}`. Not required. */
static const char *const skeleton_patient[] = {"most", "16", "retry_after", "2 min", NULL};
static const struct policy_preset skeleton_presets[] = {
    {.name = "patient", .settings = skeleton_patient, .help = "a long line and rare retries"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "skeleton",
    .summary = "admits while fewer than a number of calls wait",
    .params = skeleton_options,
    .presets = skeleton_presets,
    .gauges = skeleton_gauges,
    .params_size = sizeof(struct skeleton_params),
    .vars_size = sizeof(struct skeleton_vars),
    .stats_size = sizeof(struct skeleton_stats),
    .call_size = sizeof(struct skeleton_call),
    .check = skeleton_check,
    .init = skeleton_init,
    .changed = skeleton_changed,
    .refresh = skeleton_refresh,
    .run_admit = skeleton_run_admit,
    .run_admitted = skeleton_run_admitted,
    .run_refused = skeleton_run_refused,
    .run_finish = skeleton_run_finish,
    .admit = skeleton_admit,
    .admitted = skeleton_admitted,
    .refused = skeleton_refused,
    .start = skeleton_start,
    .finish = skeleton_finish,
    .late = skeleton_late,
    .tick = skeleton_tick,
    /* Left out, since this policy has nothing to share:
     *   .shared_size   of self->shared, for copies that tell one another something. Not required.
     * Left out, since only one member of a chain may order the line:
     *   .rank   the place of a call that joins the held or the waiting line. Not required: first come, first served.
     *   .flow, .flows, .pick   for an order that cannot be told when a call joins. Not required; not beside `rank`. */
};
