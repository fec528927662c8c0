/* vegas - a limit on the number in the system, moved by how many of it seem to stand in line.
 *
 * Idea: the least time that a call ever took, rtt0, is what one takes when nobody waits. One that takes rtt says that
 * of a limit L about queue = ceil(L (1 - rtt0 / rtt)) wait. With n in the system when it was let in, itself included,
 * and g = max(1, floor(log10 L)), a sample moves L by the first of these that is true of it:
 *   a drop       L - g (shed, displaced, refused by the backend, timed out)
 *   2 n < L      L     (the limit was not in use)
 *   queue <= g   L + 6 g
 *   queue < 3 g  L + g
 *   queue > 6 g  L - g
 * and then within `least` and `most`. After u probe L samples, u drawn from [0.5, 1), the next one becomes rtt0 however
 * large. Such a sample, and a new least, move nothing else. Errors, and calls that were given up, are no samples.
 *
 * Source: VegasLimit of Netflix's concurrency-limits (20, 1 to 1000, 30: `published`). Its time is from the permit to
 * the end of the call; here from admission on, so the wait in line is in it. With a `window` a sample is what its
 * WindowedLimit makes of those of a window: the mean time, the largest n, a drop if there was one; fewer than `samples`
 * are thrown away. `slots`: 8 to 100 beginning with 12, windows of 30 s.
 *
 * Known to fail: it takes a long turn for a long line. With turns of 3 s and of 23 s rtt0 is a short one's, and nearly
 * every answer says that everybody waits: L sinks to 6 or 7, where queue is 6 g, and of 8 slots two stand idle. Windows
 * average that out. A refusal that comes at once is the least time, too. It counts the whole gate. */
#include "policies/limiter.h"

__extension__ typedef __int128 wide;

struct vegas_params {
    struct limiter_params limiter;
    int64_t probe;
    policy_time window;
    int64_t samples;
};

struct vegas_vars {
    int64_t limit, queue;
    bool known; /* rtt0 is */
    policy_time least_rtt;
    int64_t since_probe; /* samples */
    double jitter;       /* u; 0: not drawn yet */
    double rtt0, rtt;    /* for eyes, in seconds */
    struct limiter_window window;
};

struct vegas_stats {
    uint64_t updates, discarded, probes, refused;
};

static int64_t digits_behind_the_first(int64_t limit)
{
    int64_t count = 0;
    for (; limit >= 10; limit /= 10)
        count++;
    return count > 1 ? count : 1;
}

/* ceil(L (1 - rtt0 / rtt)), exactly. */
static int64_t queue_of(const struct vegas_vars *vars, policy_time rtt)
{
    if (rtt <= vars->least_rtt)
        return 0;
    return (int64_t)(((wide)vars->limit * (rtt - vars->least_rtt) + rtt - 1) / rtt);
}

static void move(struct vegas_vars *vars, const struct limiter_params *bounds, const struct limiter_sample *sample)
{
    int64_t g = digits_behind_the_first(vars->limit), by = 0;
    vars->queue = queue_of(vars, sample->rtt);
    if (sample->drop)
        by = -g;
    else if (sample->number < limiter_half(vars->limit))
        by = 0;
    else if (vars->queue <= g)
        by = 6 * g;
    else if (vars->queue < 3 * g)
        by = g;
    else if (vars->queue > 6 * g)
        by = -g;
    if (by > 0 && vars->limit > bounds->most - by)
        vars->limit = bounds->most;
    else
        vars->limit = limiter_within(vars->limit + by, bounds);
}

static void update(struct policy *self, const struct limiter_sample *sample)
{
    const struct vegas_params *params = self->params;
    struct vegas_vars *vars = self->vars;
    struct vegas_stats *stats = self->stats;
    bool probes;
    stats->updates++;
    vars->rtt = (double)sample->rtt / (double)POLICY_SECOND;
    if (vars->jitter <= 0)
        vars->jitter = 0.5 + self->host->uniform(self) / 2;
    vars->since_probe++;
    probes = vars->jitter * (double)params->probe * (double)vars->limit <= (double)vars->since_probe;
    if (probes || !vars->known || sample->rtt < vars->least_rtt) {
        vars->known = true;
        vars->least_rtt = sample->rtt;
        vars->rtt0 = vars->rtt;
        if (probes) {
            stats->probes++;
            vars->since_probe = 0;
            vars->jitter = 0;
        }
        return;
    }
    move(vars, &params->limiter, sample);
}

/* A sample joins its window, and closes it if that is over. */
static void take(struct policy *self, policy_time now, const struct limiter_sample *sample)
{
    const struct vegas_params *params = self->params;
    struct vegas_vars *vars = self->vars;
    struct vegas_stats *stats = self->stats;
    struct limiter_window *window = &vars->window;
    if (params->window == 0) {
        update(self, sample);
        return;
    }
    if (!limiter_closes(window, sample, now, params->window))
        return;
    if (window->count >= params->samples)
        update(self, &(struct limiter_sample){window->sum / window->count, window->number, window->drop});
    else
        stats->discarded++;
    limiter_clear(window);
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static void vegas_init(struct policy *self)
{
    const struct vegas_params *params = self->params;
    struct vegas_vars *vars = self->vars;
    vars->limit = limiter_within(params->limiter.initial, &params->limiter);
}

static void vegas_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct vegas_params *params = self->params;
    struct vegas_vars *vars = self->vars;
    (void)now;
    (void)key;
    (void)by;
    vars->limit = limiter_within(vars->limit, &params->limiter);
}

static struct policy_answer vegas_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct vegas_params *params = self->params;
    const struct vegas_vars *vars = self->vars;
    struct vegas_stats *stats = self->stats;
    (void)call;
    return limiter_admit(&params->limiter, view, (uint64_t)vars->limit, &stats->refused, "limit");
}

static policy_time vegas_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                const struct policy_outcome *outcome)
{
    struct limiter_sample sample;
    if (limiter_end(view, call, outcome->end, &sample))
        take(self, view->now, &sample);
    return POLICY_NONE;
}

static const struct option vegas_options[] = {
    {LIMITER_COUNT(initial, "20"), .help = "the limit at the start, within least and most"},
    {LIMITER_COUNT(least, "1"), .live = true, .help = "the limit never falls below it"},
    {LIMITER_COUNT(most, "1000"), .live = true, .help = "the limit never rises above it"},
    {.key = "probe",
     .type = OPTION_COUNT,
     .offset = offsetof(struct vegas_params, probe),
     .initial = "30",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "after at most so many times the limit samples the least time is taken anew"},
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct vegas_params, window),
     .initial = "0 s",
     .least = "0 s",
     .most = "30 d",
     .live = true,
     .help = "samples within it are taken as one; 0: each by itself"},
    {.key = "samples",
     .type = OPTION_COUNT,
     .offset = offsetof(struct vegas_params, samples),
     .initial = "10",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "a window with fewer is thrown away"},
    {LIMITER_RETRY_AFTER},
    {.key = NULL},
};

static const char *const vegas_published[] = {"initial", "20", "least",  "1",   "most", "1000",
                                              "probe",   "30", "window", "0 s", NULL};
static const char *const vegas_slots[] = {"initial", "12",   "least",   "8",  "most", "100",
                                          "window",  "30 s", "samples", "10", NULL};
static const struct policy_preset vegas_presets[] = {
    {.name = "published",
     .settings = vegas_published,
     .help = "Netflix's concurrency-limits, for calls of milliseconds"},
    {.name = "slots", .settings = vegas_slots, .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge vegas_gauges[] = {
    {.name = "limit",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct vegas_vars, limit),
     .unit = "calls",
     .help = "most calls in the system"},
    {.name = "queue",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct vegas_vars, queue),
     .unit = "calls",
     .help = "of the limit, how many the last sample said were waiting"},
    {.name = "rtt0",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct vegas_vars, rtt0),
     .unit = "s",
     .help = "what a call takes when nobody waits, as far as it knows"},
    {.name = "rtt",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct vegas_vars, rtt),
     .unit = "s",
     .help = "of the last sample, from admission to answer"},
    {.name = "updates",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct vegas_stats, updates),
     .unit = "samples",
     .help = "samples that it has looked at"},
    {.name = "discarded",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct vegas_stats, discarded),
     .unit = "windows",
     .help = "windows thrown away, for too few samples"},
    {.name = "probes",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct vegas_stats, probes),
     .unit = "times",
     .help = "how often the least time was taken anew"},
    {LIMITER_REFUSED(struct vegas_stats)},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "vegas",
    .summary = "admits below a limit that follows how many calls seem to wait, by the least time that one ever took",
    .params = vegas_options,
    .presets = vegas_presets,
    .gauges = vegas_gauges,
    .params_size = sizeof(struct vegas_params),
    .vars_size = sizeof(struct vegas_vars),
    .stats_size = sizeof(struct vegas_stats),
    .call_size = sizeof(struct limiter_call),
    .check = limiter_check,
    .init = vegas_init,
    .changed = vegas_changed,
    .admit = vegas_admit,
    .admitted = limiter_admitted,
    .finish = vegas_finish,
};
