/* window - so many answers in a while, then wait: a client that keeps to a limit by counting for itself.
 *
 * Idea: a client that has had `count` answers within the last `span` sends nothing until the oldest of them is `span`
 * old. With s the count-th latest answer, a call goes when now >= s + span; until then it is held, unseen by the agent.
 * Refusals are not counted: after one the client's own backoff decides.
 *
 * Source: window-based backoff (WB) of arXiv:2510.04516, there beside the backoff `ub`.
 *
 * Parameters: count, span. Preset `published`: 40 in 60 s, a copy an agent.
 *
 * Known to fail: it sees its own answers and nobody else's, so clients that share a quota may each fill a window, and
 * where all together exceed the quota it is their backoff that decides. It sends the first `count` as fast as it can,
 * and again a span later. What is in flight does not count yet, so where calls overlap (parts of a turn, one copy for
 * all agents) it lets in more than `count`. */
#include "policies/policy.h"

#define REMEMBERED 1000u /* answers, and so the largest `count` */

struct window_params {
    int64_t count;
    policy_time span;
};

struct window_vars {
    policy_time answers[REMEMBERED]; /* a ring, ascending: those of the numbers first to next - 1 are in the window */
    uint64_t first, next;
    uint64_t in_window, held_by;
};

struct window_stats {
    uint64_t holds;
};

enum { HELD_BY_NOTHING, HELD_BY_WINDOW };

static void forget(struct window_vars *vars, const struct window_params *params, policy_time now)
{
    while (vars->first < vars->next && vars->answers[vars->first % REMEMBERED] <= now - params->span)
        vars->first++;
    vars->in_window = vars->next - vars->first;
}

static struct policy_answer window_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct window_params *params = self->params;
    struct window_vars *vars = self->vars;
    struct window_stats *stats = self->stats;
    uint64_t count = (uint64_t)params->count;
    policy_time wait;
    (void)call;
    forget(vars, params, view->now);
    vars->held_by = HELD_BY_NOTHING;
    if (vars->in_window < count)
        return policy_admit();
    vars->held_by = HELD_BY_WINDOW;
    stats->holds++;
    wait = vars->answers[(vars->next - count) % REMEMBERED] + params->span - view->now;
    return policy_hold(wait > POLICY_LEAST ? wait : POLICY_LEAST, "window");
}

static policy_time window_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                 const struct policy_outcome *outcome)
{
    struct window_vars *vars = self->vars;
    (void)call;
    forget(vars, self->params, view->now);
    if (outcome->end != POLICY_DONE)
        return POLICY_NONE;
    if (vars->in_window == REMEMBERED)
        vars->first++;
    vars->answers[vars->next++ % REMEMBERED] = view->now;
    vars->in_window = vars->next - vars->first;
    return POLICY_NONE;
}

static const struct option window_options[] = {
    {.key = "count",
     .type = OPTION_COUNT,
     .offset = offsetof(struct window_params, count),
     .initial = "40",
     .least = "1",
     .most = "1000",
     .measures = "calls",
     .live = true,
     .help = "answers within the span after which it waits"},
    {.key = "span",
     .type = OPTION_TIME,
     .offset = offsetof(struct window_params, span),
     .initial = "60 s",
     .least = "1 ms",
     .most = "30 d",
     .help = "how long an answer counts"},
    {.key = NULL},
};

static const char *const window_published[] = {"count", "40", "span", "60 s", "scope", "agent", NULL};
static const struct policy_preset window_presets[] = {
    {.name = "published", .settings = window_published, .help = "WB of arXiv:2510.04516, a window an agent"},
    {.name = NULL},
};

static const struct policy_gauge window_gauges[] = {
    {.name = "in_window",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct window_vars, in_window),
     .unit = "calls",
     .help = "answers within the span, at the last event"},
    {.name = "held_by",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct window_vars, held_by),
     .unit = "",
     .help = "why the call that asked last was held: 0 it was not, 1 the window is full"},
    {.name = "holds",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct window_stats, holds),
     .unit = "",
     .help = "answers of hold so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "window",
    .summary = "holds calls once a number of answers came within a time, until the oldest of them has expired",
    .params = window_options,
    .presets = window_presets,
    .gauges = window_gauges,
    .params_size = sizeof(struct window_params),
    .vars_size = sizeof(struct window_vars),
    .stats_size = sizeof(struct window_stats),
    .admit = window_admit,
    .finish = window_finish,
};
