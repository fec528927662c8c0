/* pid - refuses a share of the calls in proportion to how much more joins the line than leaves it.
 *
 * Idea: once an `interval`, with `in` calls let in since the last time, `out` taken by a server, and `free` servers
 * now, e = (in - out - free) / out  (of no call taken: / servers),  share := gain e within [0, most] and until the next
 * time each attempt is refused with that probability. No line grows where e is 0 or less.
 *
 * Source: the rejector of Uber's Cinnamon: what joins and leaves its queue and its free slots in, a share out. P only:
 * no gain of it stands in a source that could be checked, and those who built it anew took others each. So the gain is
 * ours: 0.5. Who is refused is drawn here; there they are those of the lowest priority.
 *
 * `published`: once in 500 ms, as those who built it anew do. `slots`: once in 30 s, some 27 turns of a card.
 *
 * Known to fail: P alone has no memory, and `in` is counted behind it. Let a x the capacity ask for service: what is
 * refused in one interval is missing in the next, so the share swings for ever where gain a > 1, and else settles at
 * gain (a - 1) / (1 + gain a): with 0.5 less than half of what would have to be refused, 1 - 1 / a. The line still
 * grows, only slower, and one that has grown and stands is no error at all. In 500 ms a card takes one call or none, so
 * e is noise. At a metered pool nobody waits, and nobody is refused. A held attempt is drawn for once. */
#include "policies/policy.h"

struct pid_params {
    policy_time interval;
    double gain, most;
    policy_time retry_after;
};

struct pid_vars {
    uint64_t in, out; /* since the last time */
    double share, error;
};

struct pid_stats {
    uint64_t intervals, quiet, refused;
};

struct pid_call {
    uint32_t attempt; /* let through, until it ends */
    bool through;
};

static struct policy_answer pid_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct pid_params *params = self->params;
    const struct pid_vars *vars = self->vars;
    struct pid_stats *stats = self->stats;
    struct pid_call *memory = call->state;
    (void)view;
    if (memory->through && memory->attempt == call->attempt)
        return policy_admit();
    memory->attempt = call->attempt;
    memory->through = !(vars->share > 0 && self->host->uniform(self) < vars->share);
    if (memory->through)
        return policy_admit();
    stats->refused++;
    return policy_defer(params->retry_after > 0 ? params->retry_after : POLICY_NONE, "share");
}

static policy_time pid_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct pid_vars *vars = self->vars;
    (void)view;
    (void)call;
    vars->in++;
    return 0;
}

static struct policy_answer pid_start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct pid_vars *vars = self->vars;
    (void)view;
    (void)call;
    vars->out++;
    return policy_admit();
}

static policy_time pid_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                              const struct policy_outcome *outcome)
{
    struct pid_call *memory = call->state;
    (void)self;
    (void)view;
    (void)outcome;
    memory->through = false;
    return POLICY_NONE;
}

static policy_time pid_tick(struct policy *self, const struct policy_view *view)
{
    const struct pid_params *params = self->params;
    struct pid_vars *vars = self->vars;
    struct pid_stats *stats = self->stats;
    /* Where somebody waits, a server that is idle lacks memory for a context. */
    double free = view->waiting.calls == 0 && view->servers > view->busy ? (double)(view->servers - view->busy) : 0;
    double surplus = (double)vars->in - (double)vars->out - free;
    double share;
    stats->intervals++;
    stats->quiet += vars->in == 0 && vars->out == 0;
    vars->error = view->servers > 0 ? surplus / (double)(vars->out > 0 ? vars->out : view->servers) : 0;
    share = params->gain * vars->error;
    vars->share = share > params->most ? params->most : share > 0 ? share : 0;
    vars->in = vars->out = 0;
    return params->interval < INT64_MAX - view->now ? view->now + params->interval : POLICY_NONE;
}

static const struct option pid_options[] = {
    {.key = "interval",
     .type = OPTION_TIME,
     .offset = offsetof(struct pid_params, interval),
     .initial = "500 ms",
     .least = "1 ms",
     .most = "30 d",
     .live = true,
     .help = "how often the share is set anew"},
    {.key = "gain",
     .type = OPTION_REAL,
     .offset = offsetof(struct pid_params, gain),
     .initial = "0.5",
     .least = "0",
     .most = "1000",
     .live = true,
     .help = "of the error, what is refused"},
    {.key = "most",
     .type = OPTION_SHARE,
     .offset = offsetof(struct pid_params, most),
     .initial = "100%",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "at most this share is refused"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct pid_params, retry_after),
     .initial = "",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "what a refusal says; without it nothing"},
    {.key = NULL},
};

static const char *const pid_published[] = {"interval", "500 ms", "gain", "0.5", "most", "100%", NULL};
static const char *const pid_slots[] = {"interval", "30 s", NULL};
static const struct policy_preset pid_presets[] = {
    {.name = "published",
     .settings = pid_published,
     .help = "after the rejector of Uber's Cinnamon, for many calls a second"},
    {.name = "slots", .settings = pid_slots, .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge pid_gauges[] = {
    {.name = "share",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct pid_vars, share),
     .unit = "",
     .help = "of the attempts, what is refused"},
    {.name = "error",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct pid_vars, error),
     .unit = "",
     .help = "calls that joined the line beyond those that left it and free servers, by those that left"},
    {.name = "intervals",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct pid_stats, intervals),
     .unit = "",
     .help = "intervals so far"},
    {.name = "quiet",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct pid_stats, quiet),
     .unit = "",
     .help = "of these, what neither a call came nor a server took one in"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct pid_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "pid",
    .summary = "refuses a share of the calls in proportion to how much more joins the line than leaves it",
    .params = pid_options,
    .presets = pid_presets,
    .gauges = pid_gauges,
    .params_size = sizeof(struct pid_params),
    .vars_size = sizeof(struct pid_vars),
    .stats_size = sizeof(struct pid_stats),
    .call_size = sizeof(struct pid_call),
    .admit = pid_admit,
    .admitted = pid_admitted,
    .start = pid_start,
    .finish = pid_finish,
    .tick = pid_tick,
};
