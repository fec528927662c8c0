/* envoy_admission - refuses a share of the calls that grows as fewer of the last ones succeed than should.
 *
 * Idea: what mostly fails should not be sent. Of the calls that ended within the last `window`, n in number, s
 * succeeded. An attempt is refused at once with
 *   p = max(0, (n - s / threshold) / (n + 1))^(1 / aggression), at most `most`
 * and without a draw while n / window is below `least_rate`. So nothing is refused while a share `threshold` of the
 * calls succeeds. Unlike in sre_throttle what is refused here is not counted: p falls as soon as calls succeed again.
 *
 * Source: Envoy's admission control filter (30 s, 95 %, aggression 1, 80 %, no least rate: `published`). Successes are
 * answers; failures are calls that were refused by the backend (429), shed, displaced, failed or timed out; who gave up
 * is not counted. Envoy as it comes takes every status below 500 for a success, 429 too, and sees no timeouts: that
 * filter would never refuse anybody here. The window has 30 cells, of a second each: the running one and 29 before it.
 * An attempt that another member holds is drawn for once.
 *
 * `slots`: two minutes, some hundred turns of an eight-slot card.
 *
 * Known to fail: it looks at failures alone. A card on which everybody waits for minutes fails nobody, so nobody is
 * refused. With few calls in the window it is all or nothing: of 27 one may fail for nothing, the second counts. And at
 * `most` one in five is still sent to a backend that answers none. */
#include "policies/policy.h"

enum { CELLS = 30 };

struct envoy_admission_params {
    policy_time window;
    double threshold, aggression, most, least_rate;
    policy_time retry_after;
};

struct envoy_admission_vars {
    int64_t ended, succeeded; /* in the window */
    int64_t cell;             /* the running one */
    int64_t ended_in[CELLS], succeeded_in[CELLS];
    double probability;
};

struct envoy_admission_stats {
    uint64_t refused;
};

struct envoy_admission_call {
    uint32_t attempt; /* let through, until it ends */
    bool through, sent;
};

static int64_t advance(struct envoy_admission_vars *vars, const struct envoy_admission_params *params, policy_time now)
{
    int64_t cell = now / (params->window / CELLS);
    int64_t last = cell - vars->cell > CELLS ? vars->cell + CELLS : cell;
    for (int64_t i = vars->cell + 1; i <= last; i++) {
        vars->ended -= vars->ended_in[i % CELLS];
        vars->succeeded -= vars->succeeded_in[i % CELLS];
        vars->ended_in[i % CELLS] = vars->succeeded_in[i % CELLS] = 0;
    }
    return vars->cell = cell;
}

static double probability(struct policy *self)
{
    const struct envoy_admission_params *params = self->params;
    const struct envoy_admission_vars *vars = self->vars;
    double n = (double)vars->ended, p = (n - (double)vars->succeeded / params->threshold) / (n + 1);
    if (p <= 0 || n / ((double)params->window / (double)POLICY_SECOND) < params->least_rate)
        return 0;
    if (params->aggression > 1)
        p = self->host->exp(self->host->ln(p) / params->aggression);
    return p < params->most ? p : params->most;
}

static struct policy_answer envoy_admission_admit(struct policy *self, const struct policy_view *view,
                                                  struct policy_call *call)
{
    const struct envoy_admission_params *params = self->params;
    struct envoy_admission_vars *vars = self->vars;
    struct envoy_admission_stats *stats = self->stats;
    struct envoy_admission_call *memory = call->state;
    advance(vars, params, view->now);
    if (memory->through && memory->attempt == call->attempt)
        return policy_admit();
    vars->probability = probability(self);
    memory->attempt = call->attempt;
    memory->through = !(vars->probability > 0 && self->host->uniform(self) < vars->probability);
    if (memory->through)
        return policy_admit();
    stats->refused++;
    return policy_defer(params->retry_after > 0 ? params->retry_after : POLICY_NONE, "failures");
}

static policy_time envoy_admission_admitted(struct policy *self, const struct policy_view *view,
                                            struct policy_call *call)
{
    struct envoy_admission_call *memory = call->state;
    (void)self;
    (void)view;
    memory->sent = true;
    return 0;
}

static policy_time envoy_admission_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                          const struct policy_outcome *outcome)
{
    struct envoy_admission_vars *vars = self->vars;
    struct envoy_admission_call *memory = call->state;
    bool counts = memory->sent && outcome->end != POLICY_ABANDONED && outcome->end != POLICY_EXPIRED;
    int64_t cell = advance(vars, self->params, view->now) % CELLS;
    if (counts) {
        vars->ended_in[cell]++;
        vars->ended++;
        vars->succeeded_in[cell] += outcome->end == POLICY_DONE;
        vars->succeeded += outcome->end == POLICY_DONE;
    }
    memory->through = memory->sent = false;
    return POLICY_NONE;
}

static const struct option envoy_admission_options[] = {
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct envoy_admission_params, window),
     .initial = "30 s",
     .least = "1 s",
     .most = "30 d",
     .help = "how long what a call came to counts"},
    {.key = "threshold",
     .type = OPTION_SHARE,
     .offset = offsetof(struct envoy_admission_params, threshold),
     .initial = "95%",
     .least = "0.001",
     .most = "1",
     .live = true,
     .help = "the share of successes below which calls are refused"},
    {.key = "aggression",
     .type = OPTION_REAL,
     .offset = offsetof(struct envoy_admission_params, aggression),
     .initial = "1",
     .least = "1",
     .most = "1000",
     .live = true,
     .help = "the root that is taken of the share: the higher, the sooner many are refused"},
    {.key = "most",
     .type = OPTION_SHARE,
     .offset = offsetof(struct envoy_admission_params, most),
     .initial = "80%",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "at most this share is refused"},
    {.key = "least_rate",
     .type = OPTION_RATE,
     .offset = offsetof(struct envoy_admission_params, least_rate),
     .initial = "0/s",
     .least = "0/s",
     .measures = "calls",
     .live = true,
     .help = "while fewer calls end than this nobody is refused"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct envoy_admission_params, retry_after),
     .initial = "",
     .least = "1 ms",
     .most = "1 d",
     .live = true,
     .help = "what a refusal says; without it nothing"},
    {.key = NULL},
};

static const char *const envoy_admission_published[] = {"window", "30 s", "threshold",  "95%", "aggression", "1",
                                                        "most",   "80%",  "least_rate", "0/s", NULL};
static const char *const envoy_admission_slots[] = {"window", "2 min", NULL};
static const struct policy_preset envoy_admission_presets[] = {
    {.name = "published", .settings = envoy_admission_published, .help = "Envoy's admission control filter"},
    {.name = "slots",
     .settings = envoy_admission_slots,
     .help = "for eight slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge envoy_admission_gauges[] = {
    {.name = "ended",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct envoy_admission_vars, ended),
     .unit = "calls",
     .help = "calls in the window that came to something, at the last event"},
    {.name = "succeeded",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct envoy_admission_vars, succeeded),
     .unit = "calls",
     .help = "of these, answers"},
    {.name = "probability",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct envoy_admission_vars, probability),
     .unit = "",
     .help = "with which the last attempt was refused"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct envoy_admission_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "envoy_admission",
    .summary = "refuses a share of the calls that grows as fewer of the last ones succeed than should",
    .params = envoy_admission_options,
    .presets = envoy_admission_presets,
    .gauges = envoy_admission_gauges,
    .params_size = sizeof(struct envoy_admission_params),
    .vars_size = sizeof(struct envoy_admission_vars),
    .stats_size = sizeof(struct envoy_admission_stats),
    .call_size = sizeof(struct envoy_admission_call),
    .admit = envoy_admission_admit,
    .admitted = envoy_admission_admitted,
    .finish = envoy_admission_finish,
};
