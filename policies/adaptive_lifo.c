/* adaptive_lifo - first come, first served while the line is short, newest first while it is long; admits everything.
 *
 * Idea: in a short line order hardly matters and the oldest should go. Once a line is building those at its end would
 * be served when their clients have left, so it is turned round until it is short again. When a server is free,
 *   more than `switch_at` calls wait: it takes the newest, else the oldest;
 * but first, whatever the order, the oldest if it has waited for longer than `wait_most`, and sheds it.
 *
 * Source: adaptive LIFO in Maurer, "Fail at scale", ACM Queue 2015; the rule is that of HHVM's job queue, which is
 * named there: ThreadJobLIFOSwitchThreshold (the newest if so many are left behind it) and
 * ThreadJobMaxQueuingMilliSeconds. Both are off in HHVM unless set, and the article has no numbers; `switch_at: 8`, a
 * call for each slot of the card, is ours: a longer line takes more than a service to serve.
 *
 * Parameters: switch_at (0: the newest always; inf: never), wait_most. In an open system the mean wait stays that of
 * first come, first served.
 *
 * Known to fail: the calls at the bottom starve while the line is long, and are the first to go when it is short again,
 * when nobody waits for them; so give clients a timeout or a `wait_most`. At an even load above capacity it is lifo. */
#include "policies/policy.h"

struct adaptive_lifo_params {
    int64_t switch_at;
    policy_time wait_most;
};

struct adaptive_lifo_vars {
    uint64_t newest_first; /* 0 or 1 */
};

struct adaptive_lifo_stats {
    uint64_t turns, shed;
};

static bool too_old(const struct adaptive_lifo_params *params, const struct policy_call *call, policy_time now)
{
    return call && now - call->joined > params->wait_most;
}

/* All stand in one flow, by the time at which they joined. */
static uint32_t adaptive_lifo_flow(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self;
    (void)view;
    (void)call;
    return 0;
}

static uint32_t adaptive_lifo_pick(struct policy *self, const struct policy_view *view, const uint64_t *waiting_in_flow,
                                   bool *newest)
{
    const struct adaptive_lifo_params *params = self->params;
    struct adaptive_lifo_vars *vars = self->vars;
    struct adaptive_lifo_stats *stats = self->stats;
    uint64_t now = view->waiting.calls > (uint64_t)params->switch_at;
    (void)waiting_in_flow;
    stats->turns += now != vars->newest_first;
    vars->newest_first = now;
    *newest = now && !too_old(params, view->waiting.head, view->now);
    return 0;
}

static struct policy_answer adaptive_lifo_start(struct policy *self, const struct policy_view *view,
                                                struct policy_call *call)
{
    struct adaptive_lifo_stats *stats = self->stats;
    if (!too_old(self->params, call, view->now))
        return policy_admit();
    stats->shed++;
    return policy_defer(POLICY_NONE, "too old");
}

static const struct option adaptive_lifo_options[] = {
    {.key = "switch_at",
     .type = OPTION_COUNT,
     .offset = offsetof(struct adaptive_lifo_params, switch_at),
     .initial = "8",
     .least = "0",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "the newest is served first while more calls than this wait"},
    {.key = "wait_most",
     .type = OPTION_TIME,
     .offset = offsetof(struct adaptive_lifo_params, wait_most),
     .initial = "inf",
     .least = "1 ms",
     .most = "inf",
     .live = true,
     .help = "longest time in line: who has waited for longer is shed as soon as a server is free"},
    {.key = NULL},
};

static const struct policy_gauge adaptive_lifo_gauges[] = {
    {.name = "newest_first",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct adaptive_lifo_vars, newest_first),
     .unit = "",
     .help = "1 if the line was long when a call was last taken from it, else 0"},
    {.name = "turns",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct adaptive_lifo_stats, turns),
     .unit = "turns",
     .help = "how often the order has turned round so far"},
    {.name = "shed",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct adaptive_lifo_stats, shed),
     .unit = "calls",
     .help = "calls shed so far as they had waited for too long"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "adaptive_lifo",
    .summary = "admits every call and serves the newest first while many wait, else the oldest",
    .params = adaptive_lifo_options,
    .gauges = adaptive_lifo_gauges,
    .params_size = sizeof(struct adaptive_lifo_params),
    .vars_size = sizeof(struct adaptive_lifo_vars),
    .stats_size = sizeof(struct adaptive_lifo_stats),
    .flows = 1,
    .flow = adaptive_lifo_flow,
    .pick = adaptive_lifo_pick,
    .start = adaptive_lifo_start,
};
