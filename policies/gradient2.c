/* gradient2 - a limit on the number in the system, cut when calls take longer than they long have.
 *
 * Idea: a rising time means a line. Samples are taken in windows: one that is over after `window` and has `samples` of
 * them says how long they took in the mean, short, and how many were in the system at most, n. Fewer are thrown away.
 * `long` is the mean of the first 10 windows, then an exponential average over `long_window` of them. After a window
 *   n < L / 2   L stays (the limit was not in use)
 *   else        L := (1 - smoothing) L + smoothing (g L + queue), g = tolerance long / short within [0.5, 1]
 * and then within `least` and `most`. Where long > 2 short, long is cut to 0.95 of it, so that it follows a load that
 * went away. Calls are let in while fewer than floor(L) are there.
 *
 * Source: Gradient2Limit in a WindowedLimit of Netflix's concurrency-limits (20, 20 to 200, tolerance 1.5, smoothing
 * 0.2, queue 4, long_window 600; 1 s, 10 samples: `published`). Theirs takes drops (shed, displaced, refused by the
 * backend, timed out) as samples of the time they took, errors and calls given up as none. The time is from admission
 * on, as theirs is from the permit: the wait in line is in it. A window is closed by the first sample behind its end.
 *
 * `slots`: 8 to 100 beginning with 12, windows of 30 s (27 answers), long_window 60, tolerance 1, queue 1.
 *
 * Known to fail: fewer than `samples` answers in a window, and it never learns anything. Under a steady overload `long`
 * becomes `short`, g becomes 1 but for noise, and L grows by smoothing x queue a window until it binds nobody. A least
 * limit of 20 is above what the 20 agents of a card send. It counts the whole gate, so a copy a gate is meant. */
#include "policies/limiter.h"

#define WARMUP 10
#define LONG_CUT 0.95

struct gradient2_params {
    struct limiter_params limiter;
    double tolerance, smoothing;
    int64_t queue, long_window;
    policy_time window;
    int64_t samples;
};

struct gradient2_vars {
    double limit, gradient;
    double long_rtt, short_rtt; /* seconds */
    double long_sum;            /* while it warms up */
    int64_t long_count;
    struct limiter_window window;
};

struct gradient2_stats {
    uint64_t windows, updates, refused;
};

static double within(double limit, double least, double most)
{
    if (limit > most)
        limit = most;
    return limit < least ? least : limit;
}

static double limited(double limit, const struct gradient2_params *params)
{
    return within(limit, (double)params->limiter.least, (double)params->limiter.most);
}

static void average(struct gradient2_vars *vars, const struct gradient2_params *params, double rtt)
{
    double factor = 2 / ((double)params->long_window + 1);
    if (vars->long_count < WARMUP) {
        vars->long_count++;
        vars->long_sum += rtt;
        vars->long_rtt = vars->long_sum / (double)vars->long_count;
    } else {
        vars->long_rtt = vars->long_rtt * (1 - factor) + rtt * factor;
    }
}

static void update(struct gradient2_vars *vars, const struct gradient2_params *params, double rtt, uint64_t number)
{
    double before;
    vars->short_rtt = rtt;
    average(vars, params, rtt);
    before = vars->long_rtt;
    if (before > 2 * rtt)
        vars->long_rtt = LONG_CUT * before;
    if ((double)number < vars->limit / 2)
        return;
    vars->gradient = rtt > 0 ? within(params->tolerance * before / rtt, 0.5, 1) : 1;
    vars->limit = limited((1 - params->smoothing) * vars->limit +
                              params->smoothing * (vars->limit * vars->gradient + (double)params->queue),
                          params);
}

/* A sample joins its window, and closes it if that is over. */
static void take(struct policy *self, policy_time now, const struct limiter_sample *sample)
{
    const struct gradient2_params *params = self->params;
    struct gradient2_vars *vars = self->vars;
    struct gradient2_stats *stats = self->stats;
    struct limiter_window *window = &vars->window;
    if (!limiter_closes(window, sample, now, params->window))
        return;
    stats->windows++;
    if (window->count >= params->samples) {
        stats->updates++;
        update(vars, params, (double)window->sum / (double)window->count / (double)POLICY_SECOND, window->number);
    }
    limiter_clear(window);
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static void gradient2_init(struct policy *self)
{
    const struct gradient2_params *params = self->params;
    struct gradient2_vars *vars = self->vars;
    vars->limit = limited((double)params->limiter.initial, params);
    vars->gradient = 1;
}

static void gradient2_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct gradient2_vars *vars = self->vars;
    (void)now;
    (void)key;
    (void)by;
    vars->limit = limited(vars->limit, self->params);
}

static struct policy_answer gradient2_admit(struct policy *self, const struct policy_view *view,
                                            struct policy_call *call)
{
    const struct gradient2_params *params = self->params;
    const struct gradient2_vars *vars = self->vars;
    struct gradient2_stats *stats = self->stats;
    (void)call;
    return limiter_admit(&params->limiter, view, (uint64_t)vars->limit, &stats->refused, "limit");
}

static policy_time gradient2_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                    const struct policy_outcome *outcome)
{
    struct limiter_sample sample;
    if (limiter_end(view, call, outcome->end, &sample))
        take(self, view->now, &sample);
    return POLICY_NONE;
}

static const struct option gradient2_options[] = {
    {LIMITER_COUNT(initial, "20"), .help = "the limit at the start, within least and most"},
    {LIMITER_COUNT(least, "20"), .live = true, .help = "the limit never falls below it"},
    {LIMITER_COUNT(most, "200"), .live = true, .help = "the limit never rises above it"},
    {.key = "tolerance",
     .type = OPTION_REAL,
     .offset = offsetof(struct gradient2_params, tolerance),
     .initial = "1.5",
     .least = "1",
     .most = "1000",
     .live = true,
     .help = "calls may take so many times as long as they long have"},
    {.key = "smoothing",
     .type = OPTION_SHARE,
     .offset = offsetof(struct gradient2_params, smoothing),
     .initial = "0.2",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "weight of a new limit against the one before"},
    {.key = "queue",
     .type = OPTION_COUNT,
     .offset = offsetof(struct gradient2_params, queue),
     .initial = "4",
     .least = "0",
     .most = "1M",
     .measures = "calls",
     .live = true,
     .help = "what the limit may grow by while times stand still, before it is smoothed"},
    {.key = "long_window",
     .type = OPTION_COUNT,
     .offset = offsetof(struct gradient2_params, long_window),
     .initial = "600",
     .least = "1",
     .most = "1M",
     .live = true,
     .help = "windows that the average remembers"},
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct gradient2_params, window),
     .initial = "1 s",
     .least = "1 ms",
     .most = "30 d",
     .live = true,
     .help = "samples within it are taken as one"},
    {.key = "samples",
     .type = OPTION_COUNT,
     .offset = offsetof(struct gradient2_params, samples),
     .initial = "10",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "a window with fewer is thrown away"},
    {LIMITER_RETRY_AFTER},
    {.key = NULL},
};

static const char *const gradient2_published[] = {
    "initial", "20", "least",       "20",  "most",   "200", "tolerance", "1.5", "smoothing", "0.2",
    "queue",   "4",  "long_window", "600", "window", "1 s", "samples",   "10",  NULL};
static const char *const gradient2_slots[] = {"initial", "12", "least",       "8",  "most",   "100",  "tolerance", "1",
                                              "queue",   "1",  "long_window", "60", "window", "30 s", NULL};
static const struct policy_preset gradient2_presets[] = {
    {.name = "published",
     .settings = gradient2_published,
     .help = "Netflix's concurrency-limits, for calls of milliseconds"},
    {.name = "slots", .settings = gradient2_slots, .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge gradient2_gauges[] = {
    {.name = "limit",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct gradient2_vars, limit),
     .unit = "calls",
     .help = "most calls in the system, but for its fraction"},
    {.name = "gradient",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct gradient2_vars, gradient),
     .unit = "",
     .help = "by which the limit was multiplied last"},
    {.name = "long_rtt",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct gradient2_vars, long_rtt),
     .unit = "s",
     .help = "what calls long have taken, from admission to answer"},
    {.name = "short_rtt",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct gradient2_vars, short_rtt),
     .unit = "s",
     .help = "what those of the last full window took"},
    {.name = "windows",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct gradient2_stats, windows),
     .unit = "windows",
     .help = "windows that are over"},
    {.name = "updates",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct gradient2_stats, updates),
     .unit = "windows",
     .help = "of these, what had enough samples to be looked at"},
    {LIMITER_REFUSED(struct gradient2_stats)},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "gradient2",
    .summary = "admits below a limit that is cut when calls take longer than they long have",
    .params = gradient2_options,
    .presets = gradient2_presets,
    .gauges = gradient2_gauges,
    .params_size = sizeof(struct gradient2_params),
    .vars_size = sizeof(struct gradient2_vars),
    .stats_size = sizeof(struct gradient2_stats),
    .call_size = sizeof(struct limiter_call),
    .check = limiter_check,
    .init = gradient2_init,
    .changed = gradient2_changed,
    .admit = gradient2_admit,
    .admitted = limiter_admitted,
    .finish = gradient2_finish,
};
