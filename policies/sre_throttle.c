/* sre_throttle - a client that refuses itself what its backend would probably refuse.
 *
 * Idea: refusals cost the backend too, so a client whose calls are refused should not even send some of them. Of an
 * attempt it counts a request, let through or not, and an accept if the backend did not refuse it (429, shed,
 * displaced); one in flight is accepted until it is refused. An attempt is refused at once, without a retry-after, with
 *   p = max(0, (requests - k accepts) / (requests + 1))
 * of the last `window` before it. What another member refuses is a request too; what it holds is drawn for and counted
 * once; what is taken back after it was sent is a new request.
 *
 * Source: Site Reliability Engineering, chapter 21 (adaptive throttling): k = 2, two minutes (`published`). There it is
 * a client's; of scope gate, the default, it is one at the pool, and counts what everybody sends. `slots` remembers ten
 * minutes, so that what one agent with turns of some ten seconds sends is more than a handful.
 *
 * Parameters: k, window, in 120 cells (of a second each): the running one and the 119 before it.
 *
 * In a steady state about k requests reach the backend for each that it accepts, so with k = 2 as many are refused as
 * served. Known to fail: where more than 1 - 1 / k of what is sent is refused however little that is, p climbs until
 * one request in requests + 1 is let through, and so a busy client is slow to see that bad times are over. It has no
 * notion of a rate: what it refuses comes back as its client's backoff says. */
#include "policies/policy.h"

enum { CELLS = 120 };

struct sre_throttle_params {
    double k;
    policy_time window;
};

struct sre_throttle_vars {
    int64_t requests, accepts; /* in the window */
    int64_t cell;              /* the running one */
    int64_t requests_in[CELLS], accepts_in[CELLS];
    double probability;
};

struct sre_throttle_stats {
    uint64_t refused;
};

struct sre_throttle_call {
    uint32_t attempt; /* let through, until it ends */
    bool through, sent;
    int64_t cell; /* that its accept is in, while it is sent */
};

static int64_t advance(struct sre_throttle_vars *vars, const struct sre_throttle_params *params, policy_time now)
{
    int64_t cell = now / (params->window / CELLS);
    int64_t last = cell - vars->cell > CELLS ? vars->cell + CELLS : cell;
    for (int64_t i = vars->cell + 1; i <= last; i++) {
        vars->requests -= vars->requests_in[i % CELLS];
        vars->accepts -= vars->accepts_in[i % CELLS];
        vars->requests_in[i % CELLS] = vars->accepts_in[i % CELLS] = 0;
    }
    return vars->cell = cell;
}

/* With an unlimited k and no accepts `surplus` is no number: nothing is refused then either. */
static double probability(const struct sre_throttle_vars *vars, const struct sre_throttle_params *params)
{
    double surplus = (double)vars->requests - params->k * (double)vars->accepts;
    return surplus > 0 ? surplus / ((double)vars->requests + 1) : 0;
}

static struct policy_answer sre_throttle_admit(struct policy *self, const struct policy_view *view,
                                               struct policy_call *call)
{
    struct sre_throttle_vars *vars = self->vars;
    struct sre_throttle_stats *stats = self->stats;
    struct sre_throttle_call *memory = call->state;
    int64_t cell = advance(vars, self->params, view->now);
    if (memory->through && memory->attempt == call->attempt)
        return policy_admit();
    vars->probability = probability(vars, self->params);
    vars->requests_in[cell % CELLS]++;
    vars->requests++;
    memory->attempt = call->attempt;
    memory->through = !(vars->probability > 0 && self->host->uniform(self) < vars->probability);
    if (memory->through)
        return policy_admit();
    stats->refused++;
    return policy_defer(POLICY_NONE, "throttle");
}

static policy_time sre_throttle_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct sre_throttle_vars *vars = self->vars;
    struct sre_throttle_call *memory = call->state;
    memory->cell = advance(vars, self->params, view->now);
    memory->sent = true;
    vars->accepts_in[memory->cell % CELLS]++;
    vars->accepts++;
    return 0;
}

static policy_time sre_throttle_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                       const struct policy_outcome *outcome)
{
    struct sre_throttle_vars *vars = self->vars;
    struct sre_throttle_call *memory = call->state;
    enum policy_end end = outcome->end;
    bool refused = end == POLICY_OVERLOAD || end == POLICY_SHED || end == POLICY_DISPLACED;
    int64_t cell = advance(vars, self->params, view->now);
    if (memory->sent && refused && cell - memory->cell < CELLS) {
        vars->accepts_in[memory->cell % CELLS]--;
        vars->accepts--;
    }
    memory->through = memory->sent = false;
    return POLICY_NONE;
}

static const struct option sre_throttle_options[] = {
    {.key = "k",
     .type = OPTION_REAL,
     .offset = offsetof(struct sre_throttle_params, k),
     .initial = "2",
     .least = "1",
     .live = true,
     .help = "requests sent for each that the backend accepts, at most"},
    {.key = "window",
     .type = OPTION_TIME,
     .offset = offsetof(struct sre_throttle_params, window),
     .initial = "2 min",
     .least = "1 s",
     .most = "30 d",
     .help = "how long requests and accepts count"},
    {.key = NULL},
};

static const char *const sre_throttle_published[] = {"k", "2", "window", "2 min", NULL};
static const char *const sre_throttle_slots[] = {"window", "10 min", NULL};
static const struct policy_preset sre_throttle_presets[] = {
    {.name = "published", .settings = sre_throttle_published, .help = "Site Reliability Engineering, chapter 21"},
    {.name = "slots", .settings = sre_throttle_slots, .help = "for slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge sre_throttle_gauges[] = {
    {.name = "requests",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct sre_throttle_vars, requests),
     .unit = "calls",
     .help = "attempts in the window, refused ones included, at the last event"},
    {.name = "accepts",
     .type = POLICY_GAUGE_INT64,
     .offset = offsetof(struct sre_throttle_vars, accepts),
     .unit = "calls",
     .help = "of these, what the backend has not refused"},
    {.name = "probability",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct sre_throttle_vars, probability),
     .unit = "",
     .help = "with which the last attempt was refused"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct sre_throttle_stats, refused),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "sre_throttle",
    .summary = "refuses a share of the calls that grows with what the backend refused of the last minutes'",
    .params = sre_throttle_options,
    .presets = sre_throttle_presets,
    .gauges = sre_throttle_gauges,
    .params_size = sizeof(struct sre_throttle_params),
    .vars_size = sizeof(struct sre_throttle_vars),
    .stats_size = sizeof(struct sre_throttle_stats),
    .call_size = sizeof(struct sre_throttle_call),
    .admit = sre_throttle_admit,
    .admitted = sre_throttle_admitted,
    .finish = sre_throttle_finish,
};
