/* envoy_gradient - a limit on the number in the system that follows what a call takes when few are there.
 *
 * Idea: measure a call's time while hardly anybody is let in, then let in as many as leave it near that. A probe lets
 * in fewer than `least` at once until `requests` of those let in since it began were answered: minRTT is their
 * p-quantile, and the limit L of before the probe is back. From then on, each `update` that has answers sets, with
 * their p-quantile, g = (1 + buffer) minRTT / p-quantile within [0.5, 2],  L := floor(g L + sqrt(g L)) within [least,
 * most] The next probe begins interval (1 + U(0, jitter)) after the last ended, or when five updates in a row left L at
 * `least`. Answers to what was let in before the last probe began do not count. It begins with a probe and L = least.
 *
 * Source: the gradient controller of Envoy's adaptive concurrency filter (3 to 1000, 50 requests, p50, 25 %, 15 %; its
 * example's update and interval, 100 ms and 60 s, as there are no defaults: `published`). As there the time is that
 * from admission to the answer, wait in line included, and no other end of a call says anything. The p-quantile is the
 * ceil(p n)-th of n; of an update's answers the first 1,000 are looked at.
 *
 * `slots`: 8 to 100, as with 8 in flight nobody waits and no slot is idle; updates of 30 s, probes each half hour; p90,
 * since the median of turns is a short one, and 25 % of it less than a second.
 *
 * Known to fail: a probe takes requests / least services, whatever the load: 50 turns of 9 s by threes are 150 s, with
 * five of eight slots idle, and a minute later comes the next. Between them an update of 100 ms sees one answer, so L
 * jumps by how long that one turn was. It counts the whole gate, so a copy a gate is meant. */
#include <math.h>
#include <string.h>

#include "policies/limiter.h"

enum { SAMPLES = 1000, AT_LEAST = 5 };

struct envoy_gradient_params {
    struct limiter_params limiter;
    int64_t requests;
    double percentile, buffer, jitter;
    policy_time update, interval;
};

struct envoy_gradient_vars {
    int64_t limit, before; /* L, and what it was before the probe */
    uint64_t probing;      /* 0 or 1 */
    policy_time probe_began, probe_due, update_due;
    int64_t at_least; /* updates in a row that left L there */
    policy_time min_rtt_ns;
    double min_rtt, sample_rtt, gradient;
    int64_t count;
    policy_time samples[SAMPLES]; /* in order */
};

struct envoy_gradient_stats {
    uint64_t probes, updates, refused, refused_probing;
    double probe_time; /* s, of the probes that are over */
};

/* --- samples ----------------------------------------------------------------------------------------------------- */

static void keep(struct envoy_gradient_vars *vars, policy_time rtt)
{
    int64_t at = vars->count;
    if (at == SAMPLES)
        return;
    while (at > 0 && vars->samples[at - 1] > rtt)
        at--;
    memmove(&vars->samples[at + 1], &vars->samples[at], (size_t)(vars->count - at) * sizeof *vars->samples);
    vars->samples[at] = rtt;
    vars->count++;
}

static policy_time taken(struct envoy_gradient_vars *vars, const struct envoy_gradient_params *params)
{
    double rank = ceil(params->percentile * (double)vars->count - 1e-9); /* 0.07 of 100 are 7 */
    int64_t at = rank < 1 ? 0 : (int64_t)rank - 1;
    policy_time rtt = vars->samples[at < vars->count ? at : vars->count - 1];
    vars->count = 0;
    return rtt;
}

/* --- the limit --------------------------------------------------------------------------------------------------- */

static int64_t within(double limit, const struct envoy_gradient_params *params)
{
    if (limit >= (double)params->limiter.most)
        return params->limiter.most;
    return limit < (double)params->limiter.least ? params->limiter.least : (int64_t)limit;
}

static void probe(struct policy *self, policy_time now)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    struct envoy_gradient_stats *stats = self->stats;
    vars->probing = 1;
    vars->probe_began = now;
    vars->before = vars->limit;
    vars->limit = params->limiter.least;
    vars->at_least = 0;
    vars->count = 0;
    stats->probes++;
}

static void probed(struct policy *self, policy_time now)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    struct envoy_gradient_stats *stats = self->stats;
    double wait = (double)params->interval;
    if (params->jitter > 0)
        wait *= 1 + params->jitter * self->host->uniform(self);
    vars->min_rtt_ns = taken(vars, params);
    vars->min_rtt = (double)vars->min_rtt_ns / (double)POLICY_SECOND;
    vars->limit = vars->before;
    vars->probing = 0;
    vars->probe_due = wait < (double)(INT64_MAX - now) ? now + (policy_time)wait : INT64_MAX;
    vars->update_due = params->update < INT64_MAX - now ? now + params->update : INT64_MAX;
    stats->probe_time += (double)(now - vars->probe_began) / (double)POLICY_SECOND;
}

static void update(struct policy *self)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    struct envoy_gradient_stats *stats = self->stats;
    policy_time rtt = taken(vars, params);
    double expected = (1 + params->buffer) * (double)vars->min_rtt_ns, limit = (double)vars->limit;
    double gradient = (double)rtt * 2 > expected ? expected / (double)rtt : 2;
    int64_t old = vars->limit;
    gradient = gradient > 0.5 ? gradient : 0.5;
    limit *= gradient;
    vars->sample_rtt = (double)rtt / (double)POLICY_SECOND;
    vars->gradient = gradient;
    vars->limit = within(limit + sqrt(limit), params);
    vars->at_least = old == params->limiter.least && vars->limit == params->limiter.least ? vars->at_least + 1 : 0;
    stats->updates++;
}

/* What the two timers would have done until now. An update without answers does nothing, so only the next one can
 * matter: answers come with calls, and a call comes here first. */
static void advance(struct policy *self, policy_time now)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    if (vars->probing)
        return;
    if (vars->count > 0 && vars->update_due <= now && vars->update_due <= vars->probe_due) {
        update(self);
        if (vars->at_least >= AT_LEAST)
            vars->probe_due = vars->update_due;
    }
    if (vars->probe_due <= now)
        probe(self, vars->probe_due);
    else if (vars->update_due <= now)
        vars->update_due += ((now - vars->update_due) / params->update + 1) * params->update;
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static void envoy_gradient_init(struct policy *self)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    vars->limit = params->limiter.least;
    vars->gradient = 1;
    probe(self, 0);
}

static void envoy_gradient_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    (void)now;
    (void)key;
    (void)by;
    vars->before = within((double)vars->before, params);
    vars->limit = vars->probing ? params->limiter.least : within((double)vars->limit, params);
}

static struct policy_answer envoy_gradient_admit(struct policy *self, const struct policy_view *view,
                                                 struct policy_call *call)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    struct envoy_gradient_stats *stats = self->stats;
    struct policy_answer answer;
    (void)call;
    advance(self, view->now);
    answer = limiter_admit(&params->limiter, view, (uint64_t)vars->limit, &stats->refused,
                           vars->probing ? "probe" : "limit");
    if (answer.action != POLICY_ADMIT)
        stats->refused_probing += vars->probing;
    return answer;
}

static policy_time envoy_gradient_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                         const struct policy_outcome *outcome)
{
    const struct envoy_gradient_params *params = self->params;
    struct envoy_gradient_vars *vars = self->vars;
    struct limiter_sample sample;
    bool says = limiter_end(view, call, outcome->end, &sample) && !sample.drop;
    advance(self, view->now);
    if (!says || view->now - sample.rtt < vars->probe_began)
        return POLICY_NONE;
    keep(vars, sample.rtt);
    if (vars->probing && vars->count >= params->requests)
        probed(self, view->now);
    return POLICY_NONE;
}

static const struct option envoy_gradient_options[] = {
    {LIMITER_COUNT(least, "3"), .live = true, .help = "the limit never falls below it, and in a probe it is the limit"},
    {LIMITER_COUNT(most, "1000"), .live = true, .help = "the limit never rises above it"},
    {.key = "requests",
     .type = OPTION_COUNT,
     .offset = offsetof(struct envoy_gradient_params, requests),
     .initial = "50",
     .least = "1",
     .most = "1000",
     .measures = "calls",
     .live = true,
     .help = "answers that a probe waits for"},
    {.key = "percentile",
     .type = OPTION_SHARE,
     .offset = offsetof(struct envoy_gradient_params, percentile),
     .initial = "50%",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "which of the times is looked at, in a probe and in an update"},
    {.key = "buffer",
     .type = OPTION_SHARE,
     .offset = offsetof(struct envoy_gradient_params, buffer),
     .initial = "25%",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "so much more than in a probe a call may take"},
    {.key = "jitter",
     .type = OPTION_SHARE,
     .offset = offsetof(struct envoy_gradient_params, jitter),
     .initial = "15%",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "by so much an interval is longer at most"},
    {.key = "update",
     .type = OPTION_TIME,
     .offset = offsetof(struct envoy_gradient_params, update),
     .initial = "100 ms",
     .least = "1 ms",
     .most = "inf",
     .live = true,
     .help = "how often the limit is set anew"},
    {.key = "interval",
     .type = OPTION_TIME,
     .offset = offsetof(struct envoy_gradient_params, interval),
     .initial = "60 s",
     .least = "1 ms",
     .most = "inf",
     .live = true,
     .help = "from the end of a probe to the next"},
    {LIMITER_RETRY_AFTER},
    {.key = NULL},
};

static const char *const envoy_gradient_published[] = {"least",      "3",      "most",     "1000", "requests", "50",
                                                       "percentile", "50%",    "buffer",   "25%",  "jitter",   "15%",
                                                       "update",     "100 ms", "interval", "60 s", NULL};
static const char *const envoy_gradient_slots[] = {"least",  "8",    "most",     "100",    "percentile", "90%",
                                                   "update", "30 s", "interval", "30 min", NULL};
static const struct policy_preset envoy_gradient_presets[] = {
    {.name = "published",
     .settings = envoy_gradient_published,
     .help = "Envoy's adaptive concurrency filter, for calls of milliseconds"},
    {.name = "slots", .settings = envoy_gradient_slots, .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge envoy_gradient_gauges[] = {
    {.name = "limit",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct envoy_gradient_vars, limit),
     .unit = "calls",
     .help = "most calls in the system, at the last event"},
    {.name = "probing",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct envoy_gradient_vars, probing),
     .unit = "",
     .help = "1 while a probe waits for its answers, else 0"},
    {.name = "min_rtt",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct envoy_gradient_vars, min_rtt),
     .unit = "s",
     .help = "what the last probe measured, from admission to answer"},
    {.name = "sample_rtt",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct envoy_gradient_vars, sample_rtt),
     .unit = "s",
     .help = "what the last update measured"},
    {.name = "gradient",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct envoy_gradient_vars, gradient),
     .unit = "",
     .help = "by which the last update multiplied the limit, but for the root"},
    {.name = "probes",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct envoy_gradient_stats, probes),
     .unit = "",
     .help = "probes so far, one under way included"},
    {.name = "probe_time",
     .type = POLICY_GAUGE_DOUBLE,
     .in_stats = true,
     .offset = offsetof(struct envoy_gradient_stats, probe_time),
     .unit = "s",
     .help = "time spent in probes that are over"},
    {.name = "updates",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct envoy_gradient_stats, updates),
     .unit = "",
     .help = "updates so far that had answers"},
    {LIMITER_REFUSED(struct envoy_gradient_stats)},
    {.name = "refused_probing",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct envoy_gradient_stats, refused_probing),
     .unit = "attempts",
     .help = "of these, in probes"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "envoy_gradient",
    .summary = "admits below a limit that follows how much longer calls take than when few are let in",
    .params = envoy_gradient_options,
    .presets = envoy_gradient_presets,
    .gauges = envoy_gradient_gauges,
    .params_size = sizeof(struct envoy_gradient_params),
    .vars_size = sizeof(struct envoy_gradient_vars),
    .stats_size = sizeof(struct envoy_gradient_stats),
    .call_size = sizeof(struct limiter_call),
    .check = limiter_check,
    .init = envoy_gradient_init,
    .changed = envoy_gradient_changed,
    .admit = envoy_gradient_admit,
    .admitted = limiter_admitted,
    .finish = envoy_gradient_finish,
};
