/* aws_adaptive - the client rate limiter of the AWS SDKs' retry mode `adaptive`: CUBIC on a token bucket.
 *
 * Idea: nothing is limited until the first throttle (429, shed, displaced). From then on a call takes a token and is
 * held until there is one. The sending rate m is measured in half seconds: when one is over, with n answers in the t
 * seconds since the last that had any, m := 0.8 n / t + 0.2 m. With every answer the bucket's rate is set anew:
 *   throttle   w := min(m, rate) (the first time m), t0 := now, rate := beta w
 *   other      rate := scale (now - t0 - z)^3 + w, z = cube root of w (1 - beta) / scale, so beta w at t0, w at t0 + z
 * at most 2 m, then at least `floor`. The bucket holds one second's worth, and at least one token.
 *
 * Source: botocore, retries/adaptive.py, bucket.py and throttling.py (beta 0.7, scale 0.4, floor 0.5/s). As there,
 * every end of an attempt that was sent is an answer, errors and timeouts included, but not a call that was given up;
 * and measuring begins at a whole second.
 *
 * Parameters: beta, scale, floor. A limiter is a client's: made for a copy an agent.
 *
 * Known to fail: the floor is for fast services. Where a client's share of a quota is less than one call in two seconds
 * it never slows down enough; and where answers take seconds m lags behind by as long. The cubic grows in seconds
 * whatever the quota: 0.4 t^3 is 400 calls/s after ten, so between throttles only 2 m holds it back. */
#include "policies/policy.h"

#define HALF_SECOND (POLICY_SECOND / 2)
#define SMOOTHING 0.8
#define CEILING 2.0 /* times the measured rate */

struct aws_adaptive_params {
    double beta, scale, floor;
};

struct aws_adaptive_vars {
    bool begun, enabled;
    int64_t half_second, answers; /* in which m was measured last; answers since then */
    double measured;
    policy_time throttled;       /* t0 */
    double most_rate, zero;      /* w, z */
    double rate, tokens, holdup; /* of the bucket; holdup: tokens at most */
    policy_time filled;
    uint64_t held_by;
};

struct aws_adaptive_stats {
    uint64_t holds, throttles;
};

struct aws_adaptive_call {
    bool sent;
};

enum { HELD_BY_NOTHING, HELD_BY_TOKENS };

/* --- the sending rate and the cubic ------------------------------------------------------------------------------ */

static void measure(struct aws_adaptive_vars *vars, policy_time now)
{
    int64_t half_second = now / HALF_SECOND;
    vars->answers++;
    if (half_second <= vars->half_second)
        return;
    vars->measured = SMOOTHING * (double)vars->answers / ((double)(half_second - vars->half_second) / 2) +
                     (1 - SMOOTHING) * vars->measured;
    vars->half_second = half_second;
    vars->answers = 0;
}

static double cube_root(const struct policy *self, double x)
{
    return x > 0 ? self->host->exp(self->host->ln(x) / 3) : 0;
}

static double throttled(struct policy *self, policy_time now)
{
    const struct aws_adaptive_params *params = self->params;
    struct aws_adaptive_vars *vars = self->vars;
    vars->most_rate = vars->enabled && vars->rate < vars->measured ? vars->rate : vars->measured;
    vars->zero = cube_root(self, vars->most_rate * (1 - params->beta) / params->scale);
    vars->throttled = now;
    vars->enabled = true;
    return vars->most_rate * params->beta;
}

static double recovered(const struct policy *self, policy_time now)
{
    const struct aws_adaptive_params *params = self->params;
    const struct aws_adaptive_vars *vars = self->vars;
    double t = (double)(now - vars->throttled) / POLICY_SECOND - vars->zero;
    return params->scale * (t * t * t) + vars->most_rate;
}

/* --- the bucket -------------------------------------------------------------------------------------------------- */

/* Brings the bucket up to now; the first time everything begins. */
static void fill(struct aws_adaptive_vars *vars, policy_time now)
{
    if (!vars->begun) {
        vars->begun = true;
        vars->half_second = now / POLICY_SECOND * 2;
        vars->throttled = now;
    } else {
        vars->tokens += (double)(now - vars->filled) / POLICY_SECOND * vars->rate;
        vars->tokens = vars->tokens < vars->holdup ? vars->tokens : vars->holdup;
    }
    vars->filled = now;
}

static void set_rate(struct aws_adaptive_vars *vars, const struct aws_adaptive_params *params, double rate)
{
    vars->rate = rate > params->floor ? rate : params->floor;
    vars->holdup = rate > 1 ? rate : 1;
    vars->tokens = vars->tokens < vars->holdup ? vars->tokens : vars->holdup;
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static struct policy_answer aws_adaptive_admit(struct policy *self, const struct policy_view *view,
                                               struct policy_call *call)
{
    struct aws_adaptive_vars *vars = self->vars;
    struct aws_adaptive_stats *stats = self->stats;
    policy_time wait;
    (void)call;
    fill(vars, view->now);
    vars->held_by = HELD_BY_NOTHING;
    if (!vars->enabled || vars->tokens >= 1)
        return policy_admit();
    vars->held_by = HELD_BY_TOKENS;
    stats->holds++;
    /* A nanosecond over, so that no rounding leaves it short. */
    wait = (policy_time)((1 - vars->tokens) / vars->rate * POLICY_SECOND) + 2;
    return policy_hold(wait > POLICY_LEAST ? wait : POLICY_LEAST, "tokens");
}

static policy_time aws_adaptive_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct aws_adaptive_vars *vars = self->vars;
    struct aws_adaptive_call *memory = call->state;
    fill(vars, view->now);
    memory->sent = true;
    if (vars->enabled)
        vars->tokens = vars->tokens > 1 ? vars->tokens - 1 : 0;
    return 0;
}

static policy_time aws_adaptive_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                       const struct policy_outcome *outcome)
{
    struct aws_adaptive_vars *vars = self->vars;
    struct aws_adaptive_stats *stats = self->stats;
    struct aws_adaptive_call *memory = call->state;
    enum policy_end end = outcome->end;
    bool refused = end == POLICY_OVERLOAD || end == POLICY_SHED || end == POLICY_DISPLACED, sent = memory->sent;
    double rate;
    memory->sent = false;
    if (!sent || end == POLICY_ABANDONED)
        return POLICY_NONE;
    fill(vars, view->now);
    measure(vars, view->now);
    stats->throttles += refused;
    rate = refused ? throttled(self, view->now) : recovered(self, view->now);
    set_rate(vars, self->params, rate < CEILING * vars->measured ? rate : CEILING * vars->measured);
    return POLICY_NONE;
}

static const struct option aws_adaptive_options[] = {
    {.key = "beta",
     .type = OPTION_SHARE,
     .offset = offsetof(struct aws_adaptive_params, beta),
     .initial = "0.7",
     .help = "of the rate that was throttled, the share to go on with"},
    {.key = "scale",
     .type = OPTION_REAL,
     .offset = offsetof(struct aws_adaptive_params, scale),
     .initial = "0.4",
     .least = "0.001",
     .most = "1000",
     .help = "how fast the cubic grows"},
    {.key = "floor",
     .type = OPTION_RATE,
     .offset = offsetof(struct aws_adaptive_params, floor),
     .initial = "0.5/s",
     .least = "1/d",
     .most = "1000/s",
     .measures = "calls",
     .help = "the least rate of the bucket"},
    {.key = NULL},
};

static const struct policy_gauge aws_adaptive_gauges[] = {
    {.name = "rate",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct aws_adaptive_vars, rate),
     .unit = "calls/s",
     .help = "the rate at which tokens come; it binds from the first throttle on"},
    {.name = "measured",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct aws_adaptive_vars, measured),
     .unit = "calls/s",
     .help = "the sending rate, as answers tell it"},
    {.name = "tokens",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct aws_adaptive_vars, tokens),
     .unit = "calls",
     .help = "tokens in the bucket, at the last event"},
    {.name = "held_by",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct aws_adaptive_vars, held_by),
     .unit = "",
     .help = "why the call that asked last was held: 0 it was not, 1 no token"},
    {.name = "holds",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aws_adaptive_stats, holds),
     .unit = "",
     .help = "answers of hold so far"},
    {.name = "throttles",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aws_adaptive_stats, throttles),
     .unit = "calls",
     .help = "refusals by the backend so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "aws_adaptive",
    .summary = "holds calls, once one was refused, by a token bucket whose rate recovers along a cubic",
    .params = aws_adaptive_options,
    .gauges = aws_adaptive_gauges,
    .params_size = sizeof(struct aws_adaptive_params),
    .vars_size = sizeof(struct aws_adaptive_vars),
    .stats_size = sizeof(struct aws_adaptive_stats),
    .call_size = sizeof(struct aws_adaptive_call),
    .admit = aws_adaptive_admit,
    .admitted = aws_adaptive_admitted,
    .finish = aws_adaptive_finish,
};
