/* aimd - a limit on the number in the system: one more with an answer, a tenth less with a drop.
 *
 * Idea: additive increase, multiplicative decrease, as TCP does with its window. A call is let in while fewer than
 * `limit` wait or are served; the others are deferred. With the end of one that was let in as the n-th
 *   drop    limit := floor(ratio limit)
 *   answer  limit := limit + 1, if 2 n >= limit
 * and then within `least` and `most`. A drop is a call that was shed, displaced, refused by the backend or timed out,
 * and an answer that took more than `timeout`. Errors, and calls that were given up, say nothing.
 *
 * Source: AIMDLimit of Netflix's concurrency-limits (20 to begin with, 20 to 200, 0.9, 5 s: `published`). The time is
 * that from admission to the answer, as theirs is from the permit on: the wait in line is in it.
 *
 * `slots`, for 8 slots and turns of 9 s: 8 to 100 beginning with 12, the knee; an answer is late after 30 s. As a
 * decrease cancels the increases of a tenth of the limit, the limit L settles where one answer in 1 + L / 10 is late.
 *
 * Known to fail: `timeout` is a number that somebody has to know. Where turns take longer than it every answer is a
 * drop, the limit stays at `least`, and a least limit above what the clients can send binds nobody: 5 s and 20 on a
 * card of 8 slots. It takes a long turn for a long line, too. It counts the whole gate, so a copy a gate is meant. */
#include "policies/policy.h"

struct aimd_params {
    int64_t initial, least, most;
    double ratio;
    policy_time timeout, retry_after;
};

struct aimd_vars {
    int64_t limit;
    double rtt; /* of the last answer, in seconds */
};

struct aimd_stats {
    uint64_t answers, late, drops, refused;
};

struct aimd_call {
    bool inside;
    policy_time admitted;
    uint64_t number; /* in the system when it was let in, itself included */
};

static int64_t within(int64_t limit, const struct aimd_params *params)
{
    if (limit > params->most)
        limit = params->most;
    return limit < params->least ? params->least : limit;
}

static const char *aimd_check(const void *given)
{
    const struct aimd_params *params = given;
    if (params->least > params->most)
        return "no limit is left: expected least: of at most what most: says";
    return NULL;
}

static void aimd_init(struct policy *self)
{
    const struct aimd_params *params = self->params;
    struct aimd_vars *vars = self->vars;
    vars->limit = within(params->initial, params);
}

static void aimd_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct aimd_vars *vars = self->vars;
    (void)now;
    (void)key;
    (void)by;
    vars->limit = within(vars->limit, self->params);
}

static struct policy_answer aimd_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct aimd_params *params = self->params;
    const struct aimd_vars *vars = self->vars;
    struct aimd_stats *stats = self->stats;
    (void)call;
    if (view->waiting.calls + view->busy < (uint64_t)vars->limit)
        return policy_admit();
    stats->refused++;
    return policy_defer(params->retry_after > 0 ? params->retry_after : POLICY_NONE, "limit");
}

static policy_time aimd_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct aimd_call *memory = call->state;
    (void)self;
    *memory = (struct aimd_call){true, view->now, view->waiting.calls + view->busy + 1};
    return 0;
}

static policy_time aimd_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                               const struct policy_outcome *outcome)
{
    const struct aimd_params *params = self->params;
    struct aimd_vars *vars = self->vars;
    struct aimd_stats *stats = self->stats;
    struct aimd_call *memory = call->state;
    bool drop = true;
    if (!memory->inside)
        return POLICY_NONE;
    memory->inside = false;
    if (outcome->end == POLICY_ERROR || outcome->end == POLICY_ABANDONED)
        return POLICY_NONE;
    if (outcome->end == POLICY_DONE) {
        policy_time rtt = view->now - memory->admitted;
        vars->rtt = (double)rtt / (double)POLICY_SECOND;
        drop = rtt > params->timeout;
        stats->answers++;
        stats->late += drop;
    }
    if (drop) {
        stats->drops++;
        vars->limit = within((int64_t)((double)vars->limit * params->ratio), params);
    } else if (memory->number >= (uint64_t)(vars->limit / 2 + vars->limit % 2) && vars->limit < params->most) {
        vars->limit++;
    }
    return POLICY_NONE;
}

static const struct option aimd_options[] = {
    {.key = "initial",
     .type = OPTION_COUNT,
     .offset = offsetof(struct aimd_params, initial),
     .initial = "20",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .help = "the limit at the start, within least and most"},
    {.key = "least",
     .type = OPTION_COUNT,
     .offset = offsetof(struct aimd_params, least),
     .initial = "20",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "the limit never falls below it"},
    {.key = "most",
     .type = OPTION_COUNT,
     .offset = offsetof(struct aimd_params, most),
     .initial = "200",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "the limit never rises above it"},
    {.key = "ratio",
     .type = OPTION_SHARE,
     .offset = offsetof(struct aimd_params, ratio),
     .initial = "0.9",
     .least = "0.5",
     .most = "0.999",
     .live = true,
     .help = "what a drop leaves of the limit"},
    {.key = "timeout",
     .type = OPTION_TIME,
     .offset = offsetof(struct aimd_params, timeout),
     .initial = "5 s",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "an answer that takes longer from its admission on is a drop"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct aimd_params, retry_after),
     .initial = "",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "what a refusal says; without it nothing"},
    {.key = NULL},
};

static const char *const aimd_published[] = {"initial", "20",  "least",   "20",  "most", "200",
                                             "ratio",   "0.9", "timeout", "5 s", NULL};
static const char *const aimd_slots[] = {"initial", "12", "least", "8", "most", "100", "timeout", "30 s", NULL};
static const struct policy_preset aimd_presets[] = {
    {.name = "published",
     .settings = aimd_published,
     .help = "Netflix's concurrency-limits, for calls of milliseconds"},
    {.name = "slots", .settings = aimd_slots, .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge aimd_gauges[] = {
    {.name = "limit",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct aimd_vars, limit),
     .unit = "calls",
     .help = "most calls in the system"},
    {.name = "rtt",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct aimd_vars, rtt),
     .unit = "s",
     .help = "from admission to answer, of the last answer"},
    {.name = "answers",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aimd_stats, answers),
     .unit = "calls",
     .help = "answers so far"},
    {.name = "late",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aimd_stats, late),
     .unit = "calls",
     .help = "of these, what took longer than the timeout"},
    {.name = "drops",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aimd_stats, drops),
     .unit = "calls",
     .help = "decreases so far, late answers included"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aimd_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "aimd",
    .summary = "admits below a limit that rises by one with an answer and falls by a tenth with a drop",
    .params = aimd_options,
    .presets = aimd_presets,
    .gauges = aimd_gauges,
    .params_size = sizeof(struct aimd_params),
    .vars_size = sizeof(struct aimd_vars),
    .stats_size = sizeof(struct aimd_stats),
    .call_size = sizeof(struct aimd_call),
    .check = aimd_check,
    .init = aimd_init,
    .changed = aimd_changed,
    .admit = aimd_admit,
    .admitted = aimd_admitted,
    .finish = aimd_finish,
};
