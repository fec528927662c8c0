/* gcra - the generic cell rate algorithm: a call may come at most so much earlier than its turn.
 *
 * Idea: at a steady `rate` the calls would come one after the other, a unit each T = 1 / rate. Kept is one time only,
 * when the next is due (the theoretical arrival time); whoever is not earlier than that by more than tau = burst * T is
 * let in. It lets in the very calls that a token_bucket of the same rate and burst does that is not settled, whose
 * level is tau - (tat - now); there is no level to be refilled.
 *
 * Source: ITU-T I.371, ATM Forum TM 4.0 (virtual scheduling). For a call of n units, n > burst counted as burst:
 *   tat' = max(now, tat) + n * T; admit if now >= tat' - tau; then tat = max(now, tat) + n * T with the whole n.
 *
 * Parameters: meter, rate, burst, cached_weight, answer; those of token_bucket. The rate is m whole millionths a minute
 * and times are kept in whole m-th parts of a nanosecond, so nothing is rounded and nothing drifts.
 *
 * Known to fail: nothing is ever given back, so an estimate that is too high throttles for good, and retries pay again.
 * No line: small calls pass a large one that is held. */
#include "policies/meter.h"

enum { ANSWER_HOLD, ANSWER_DEFER };

struct gcra_params {
    int meter;
    double rate;
    int64_t burst;
    double cached_weight;
    int answer;
};

struct gcra_vars {
    parts tat;          /* in parts of 1 / per_minute ns since t = 0 */
    int64_t per_minute; /* millionths */
    int64_t burst;
    double ahead; /* tat - now when a call was last let in, in seconds */
};

struct gcra_stats {
    uint64_t held, deferred;
};

/* n * T: a unit's time is UNIT parts. Estimates are never missing. */
static parts time_of(const struct gcra_params *params, const struct policy_call *call)
{
    return (parts)meter_expects(params->meter, params->cached_weight, call) * MINUTE;
}

static parts tau(const struct gcra_vars *vars)
{
    return (parts)vars->burst * UNIT;
}

static parts due(const struct gcra_vars *vars, policy_time now)
{
    parts time = (parts)now * vars->per_minute;
    return vars->tat > time ? vars->tat : time;
}

static void renew(struct gcra_vars *vars, const struct gcra_params *params)
{
    vars->burst = params->burst;
    vars->per_minute = isinf(params->rate) ? AT_ONCE : amount_per_minute(params->rate);
}

static const char *gcra_check(const void *given)
{
    const struct gcra_params *params = given;
    if (params->meter != METER_INPUT && params->meter != METER_TOTAL && params->cached_weight != 1)
        return "cached_weight is about tokens that are sent: expected meter: input or total";
    return NULL;
}

static struct policy_room gcra_room(const void *given, const struct policy_view *names, const struct policy_call *call)
{
    const struct gcra_params *params = given;
    (void)names;
    if (isinf(params->rate))
        return (struct policy_room){0, 0};
    return (struct policy_room){(double)(time_of(params, call) / UNIT), (double)params->burst};
}

static void gcra_init(struct policy *self)
{
    renew(self->vars, self->params);
}

/* What could be taken at once stays the same, at most the new burst: tau - (tat - now). */
static void gcra_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct gcra_vars *vars = self->vars;
    parts ahead = due(vars, now) - (parts)now * vars->per_minute - tau(vars);
    (void)key;
    (void)by;
    if (vars->per_minute == AT_ONCE)
        ahead = -tau(vars);
    renew(vars, self->params);
    ahead += tau(vars);
    vars->tat = (parts)now * vars->per_minute + (ahead > 0 ? ahead : 0);
}

static struct policy_answer gcra_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct gcra_params *params = self->params;
    const struct gcra_vars *vars = self->vars;
    struct gcra_stats *stats = self->stats;
    parts need = time_of(params, call), early;
    policy_time after;
    if (vars->per_minute == AT_ONCE)
        return policy_admit();
    if (need > tau(vars))
        need = tau(vars);
    early = due(vars, view->now) + need - tau(vars) - (parts)view->now * vars->per_minute;
    if (early <= 0)
        return policy_admit();
    after = amount_after(early, vars->per_minute);
    if (params->answer == ANSWER_HOLD && !call->last) {
        stats->held++;
        return policy_hold(after, meter_names[params->meter]);
    }
    stats->deferred++;
    return policy_defer(after, meter_names[params->meter]);
}

static policy_time gcra_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct gcra_vars *vars = self->vars;
    vars->ahead = 0;
    if (vars->per_minute == AT_ONCE)
        return 0;
    vars->tat = due(vars, view->now) + time_of(self->params, call);
    vars->ahead = (double)(vars->tat - (parts)view->now * vars->per_minute) / (double)vars->per_minute / 1e9;
    return 0;
}

static const char *const gcra_answers[] = {[ANSWER_HOLD] = "hold", [ANSWER_DEFER] = "defer", NULL};

static const struct option gcra_options[] = {
    {.key = "meter",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct gcra_params, meter),
     .initial = "total",
     .choices = meter_names,
     .help = "what a call takes: one request, or the tokens it is expected to send, to be answered, or both"},
    {.key = "rate",
     .type = OPTION_RATE,
     .offset = offsetof(struct gcra_params, rate),
     .initial = "20k/s",
     .least = "1/h",
     .most = "inf",
     .live = true,
     .help = "units that are let in over time; 1 / T"},
    {.key = "burst",
     .type = OPTION_COUNT,
     .offset = offsetof(struct gcra_params, burst),
     .initial = "500k",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "units that may come at once; the tolerance tau is burst * T"},
    {.key = "cached_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct gcra_params, cached_weight),
     .initial = "1",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "what a cached token of the input counts"},
    {.key = "answer",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct gcra_params, answer),
     .initial = "hold",
     .choices = gcra_answers,
     .help = "what a call gets that is too early: held until it is not, or refused with that time as its retry-after"},
    {.key = NULL},
};

static const char *const gcra_requests[] = {"meter", "requests", "rate", "1.5/s", "burst", "30", NULL};
static const char *const gcra_slots[] = {"meter", "output", "rate", "312/s", "burst", "4248", NULL};
static const struct policy_preset gcra_presets[] = {
    {.name = "requests", .settings = gcra_requests, .help = "requests, as token_bucket's preset of that name"},
    {.name = "slots", .settings = gcra_slots, .help = "a card of 8 slots at 39 tokens/s, calls of 354 tokens"},
    {.name = NULL},
};

static const struct policy_gauge gcra_gauges[] = {
    {.name = "ahead",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct gcra_vars, ahead),
     .unit = "s",
     .help = "how far the theoretical arrival time was ahead of the clock when a call was last let in"},
    {.name = "held",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct gcra_stats, held),
     .unit = "answers",
     .help = "how often a call was told to wait"},
    {.name = "deferred",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct gcra_stats, deferred),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "gcra",
    .summary = "admits calls that are not earlier than their turn at a steady rate by more than a burst",
    .params = gcra_options,
    .presets = gcra_presets,
    .gauges = gcra_gauges,
    .params_size = sizeof(struct gcra_params),
    .vars_size = sizeof(struct gcra_vars),
    .stats_size = sizeof(struct gcra_stats),
    .check = gcra_check,
    .room = gcra_room,
    .init = gcra_init,
    .changed = gcra_changed,
    .admit = gcra_admit,
    .admitted = gcra_admitted,
};
