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
#include "policies/limiter.h"

struct aimd_params {
    struct limiter_params limiter;
    double ratio;
    policy_time timeout;
};

struct aimd_vars {
    int64_t limit;
    double rtt; /* of the last answer, in seconds */
};

struct aimd_stats {
    uint64_t answers, late, drops, refused;
};

static void aimd_init(struct policy *self)
{
    const struct aimd_params *params = self->params;
    struct aimd_vars *vars = self->vars;
    vars->limit = limiter_within(params->limiter.initial, &params->limiter);
}

static void aimd_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct aimd_params *params = self->params;
    struct aimd_vars *vars = self->vars;
    (void)now;
    (void)key;
    (void)by;
    vars->limit = limiter_within(vars->limit, &params->limiter);
}

static struct policy_answer aimd_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct aimd_params *params = self->params;
    const struct aimd_vars *vars = self->vars;
    struct aimd_stats *stats = self->stats;
    (void)call;
    return limiter_admit(&params->limiter, view, (uint64_t)vars->limit, &stats->refused, "limit");
}

static policy_time aimd_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                               const struct policy_outcome *outcome)
{
    const struct aimd_params *params = self->params;
    struct aimd_vars *vars = self->vars;
    struct aimd_stats *stats = self->stats;
    struct limiter_sample sample;
    bool late;
    if (!limiter_end(view, call, outcome->end, &sample))
        return POLICY_NONE;
    late = !sample.drop && sample.rtt > params->timeout;
    if (!sample.drop) {
        vars->rtt = (double)sample.rtt / (double)POLICY_SECOND;
        stats->answers++;
        stats->late += late;
    }
    if (sample.drop || late) {
        stats->drops++;
        vars->limit = limiter_within((int64_t)((double)vars->limit * params->ratio), &params->limiter);
    } else if (sample.number >= limiter_half(vars->limit) && vars->limit < params->limiter.most) {
        vars->limit++;
    }
    return POLICY_NONE;
}

static const struct option aimd_options[] = {
    {LIMITER_COUNT(initial, "20"), .help = "the limit at the start, within least and most"},
    {LIMITER_COUNT(least, "20"), .live = true, .help = "the limit never falls below it"},
    {LIMITER_COUNT(most, "200"), .live = true, .help = "the limit never rises above it"},
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
    {LIMITER_RETRY_AFTER},
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
    {LIMITER_REFUSED(struct aimd_stats)},
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
    .call_size = sizeof(struct limiter_call),
    .check = limiter_check,
    .init = aimd_init,
    .changed = aimd_changed,
    .admit = aimd_admit,
    .admitted = limiter_admitted,
    .finish = aimd_finish,
};
