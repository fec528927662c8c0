/* cost_bucket - a session's money, in tokens: the expected cost of a call is set aside, and settled when it is known.
 *
 * Idea: `burst` tokens to begin with, `rate` a second from then on. A call reserves its estimate when it is let in and
 * pays what it took when it ends, so a call that turns out dear is not stopped, but the next one is: the bucket admits
 * against an estimate. Input that is not cached, cached input and output count by a weight each, as prices do. An
 * estimate above `burst` goes when the bucket is full. Meant for `scope: agent`, a bucket a session.
 *
 * Source: published for agent sessions, 100,000 tokens refilled at 1,000/s. An agent that uses u tokens/s gets burst /
 * (u - rate) seconds of it, then one turn of n tokens each n / rate: at 7,500 tokens/s and 30,000 a turn some 15 s,
 * then a turn in 30 s. `slots` is an agent's fair share of a card at its knee: 8 slots of 39 tokens/s for 12 agents, 26
 * tokens/s each, and as many seconds of it at once as published, 100.
 *
 * A reservation comes back whole when nothing was used: shed, displaced, given up in line, refused by the backend. It
 * stays spent where something was and nobody says how much, as by what a server works on for nobody. The level is
 * exact: whole millionths of tokens, refilled by whole millionths a minute, kept times the ns of a minute.
 *
 * Known to fail: weights are not prices of today; a session that sleeps is full again after burst / rate, so many short
 * ones are not bounded together; held calls of one bucket have no line among them. */
#include <math.h>

#include "policies/policy.h"

__extension__ typedef __int128 parts;

#define MINUTE (60 * POLICY_SECOND)
#define UNIT ((parts)1000000 * MINUTE)
#define AT_ONCE INT64_MAX /* a rate without end */

enum { ANSWER_HOLD, ANSWER_DEFER };

struct cost_bucket_params {
    double rate;
    int64_t burst;
    double input_weight, cached_weight, output_weight;
    int answer;
};

struct cost_bucket_vars {
    parts level;
    parts set_aside;    /* millionths, of calls that have not ended */
    policy_time at;     /* of the level */
    int64_t per_minute; /* millionths since then */
    int64_t burst;      /* since then */
    double shown, reserved;
};

struct cost_bucket_stats {
    uint64_t held, deferred, overrun;
    double spent;
};

struct cost_bucket_call {
    int64_t reserved; /* millionths */
    bool inside;
};

/* In millionths, or -1 where a count is missing. */
static int64_t cost(const struct cost_bucket_params *params, double input, double cached, double output)
{
    double amount =
        (input - cached) * params->input_weight + cached * params->cached_weight + output * params->output_weight;
    if (isnan(amount))
        return -1;
    return amount < 9e12 ? (int64_t)(amount * 1e6 + 0.5) : INT64_C(9000000000000000000);
}

static int64_t estimate(const struct cost_bucket_params *params, const struct policy_call *call)
{
    return cost(params, call->input_tokens, call->cached_tokens, call->output_tokens);
}

static parts full(const struct cost_bucket_vars *vars)
{
    return (parts)vars->burst * UNIT;
}

/* Never above full. */
static void give(struct cost_bucket_vars *vars, parts amount)
{
    vars->level += amount;
    if (vars->level > full(vars))
        vars->level = full(vars);
    vars->shown = vars->burst == INT64_MAX ? (double)INFINITY : (double)(vars->level / MINUTE) / 1e6;
}

static void refill(struct cost_bucket_vars *vars, policy_time now)
{
    if (vars->per_minute == AT_ONCE)
        vars->level = full(vars);
    give(vars, (parts)vars->per_minute * (now - vars->at));
    vars->at = now;
}

static void set_aside(struct cost_bucket_vars *vars, int64_t amount)
{
    vars->set_aside += amount;
    vars->reserved = (double)vars->set_aside / 1e6;
}

static void renew(struct cost_bucket_vars *vars, const struct cost_bucket_params *params)
{
    double millionths = params->rate * 6e7;
    vars->burst = params->burst;
    if (isinf(params->rate))
        vars->per_minute = AT_ONCE;
    else /* from 10^11 a second on all are the same */
        vars->per_minute = millionths < 6e18 ? (int64_t)(millionths + 0.5) : INT64_C(6000000000000000000);
}

static const char *cost_bucket_check(const void *given)
{
    const struct cost_bucket_params *params = given;
    if (params->input_weight + params->cached_weight + params->output_weight == 0)
        return "all weights are 0, so that nothing costs anything: expected one above 0";
    return NULL;
}

static void cost_bucket_init(struct policy *self)
{
    struct cost_bucket_vars *vars = self->vars;
    renew(vars, self->params);
    give(vars, full(vars));
}

static void cost_bucket_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    struct cost_bucket_vars *vars = self->vars;
    (void)key;
    (void)by;
    refill(vars, now);
    renew(vars, self->params);
    give(vars, 0);
}

static struct policy_answer cost_bucket_admit(struct policy *self, const struct policy_view *view,
                                              struct policy_call *call)
{
    const struct cost_bucket_params *params = self->params;
    struct cost_bucket_vars *vars = self->vars;
    struct cost_bucket_stats *stats = self->stats;
    parts need = (parts)estimate(params, call) * MINUTE, wait;
    policy_time after;
    refill(vars, view->now);
    if (need > full(vars))
        need = full(vars);
    if (vars->level >= need)
        return policy_admit();
    wait = (need - vars->level + vars->per_minute - 1) / vars->per_minute;
    after = wait < POLICY_LEAST ? POLICY_LEAST : wait < INT64_MAX ? (policy_time)wait : INT64_MAX;
    if (params->answer == ANSWER_HOLD && !call->last) {
        stats->held++;
        return policy_hold(after, "cost");
    }
    stats->deferred++;
    return policy_defer(after, "cost");
}

static policy_time cost_bucket_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct cost_bucket_vars *vars = self->vars;
    struct cost_bucket_call *memory = call->state;
    refill(vars, view->now);
    memory->inside = true;
    memory->reserved = estimate(self->params, call);
    set_aside(vars, memory->reserved);
    give(vars, -(parts)memory->reserved * MINUTE);
    return 0;
}

static bool unused(const struct policy_call *call, enum policy_end end)
{
    return end == POLICY_SHED || end == POLICY_DISPLACED || end == POLICY_OVERLOAD ||
           ((end == POLICY_TIMEOUT || end == POLICY_ABANDONED) && call->started == POLICY_NONE);
}

static policy_time cost_bucket_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                      const struct policy_outcome *outcome)
{
    struct cost_bucket_vars *vars = self->vars;
    struct cost_bucket_stats *stats = self->stats;
    struct cost_bucket_call *memory = call->state;
    int64_t real = -1;
    if (!memory->inside)
        return POLICY_NONE;
    memory->inside = false;
    if (outcome->end == POLICY_DONE || outcome->end == POLICY_ERROR)
        real = cost(self->params, outcome->input_tokens, outcome->cached_tokens, outcome->output_tokens);
    else if (unused(call, outcome->end))
        real = 0;
    if (real < 0)
        real = memory->reserved;
    stats->overrun += real > memory->reserved;
    stats->spent += (double)real / 1e6;
    refill(vars, view->now);
    set_aside(vars, -memory->reserved);
    give(vars, ((parts)memory->reserved - real) * MINUTE);
    return POLICY_NONE;
}

static const char *const cost_bucket_answers[] = {[ANSWER_HOLD] = "hold", [ANSWER_DEFER] = "defer", NULL};

static const struct option cost_bucket_options[] = {
    {.key = "rate",
     .type = OPTION_RATE,
     .offset = offsetof(struct cost_bucket_params, rate),
     .initial = "1000 tokens/s",
     .least = "1 tokens/h",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "weighted tokens that flow in"},
    {.key = "burst",
     .type = OPTION_COUNT,
     .offset = offsetof(struct cost_bucket_params, burst),
     .initial = "100k",
     .least = "1",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "weighted tokens that the bucket holds; it is full at first"},
    {.key = "input_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct cost_bucket_params, input_weight),
     .initial = "1",
     .least = "0",
     .most = "1000",
     .live = true,
     .help = "what a token of input counts that is not cached"},
    {.key = "cached_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct cost_bucket_params, cached_weight),
     .initial = "1",
     .least = "0",
     .most = "1000",
     .live = true,
     .help = "what a token of cached input counts"},
    {.key = "output_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct cost_bucket_params, output_weight),
     .initial = "1",
     .least = "0",
     .most = "1000",
     .live = true,
     .help = "what a token of output counts"},
    {.key = "answer",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct cost_bucket_params, answer),
     .initial = "hold",
     .choices = cost_bucket_answers,
     .help = "what a call gets that does not fit: held until it would, or refused with that time as its retry-after"},
    {.key = NULL},
};

static const char *const cost_bucket_session[] = {"rate", "1000 tokens/s", "burst", "100k", "scope", "agent", NULL};
static const char *const cost_bucket_slots[] = {"rate", "26 tokens/s", "burst", "2600", "scope", "agent", NULL};
static const struct policy_preset cost_bucket_presets[] = {
    {.name = "session", .settings = cost_bucket_session, .help = "as published: a bucket for each agent"},
    {.name = "slots", .settings = cost_bucket_slots, .help = "a share for each of twelve agents of a card"},
    {.name = NULL},
};

static const struct policy_gauge cost_bucket_gauges[] = {
    {.name = "level",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct cost_bucket_vars, shown),
     .unit = "tokens",
     .help = "what the bucket held when a call last asked or ended; below 0: overdrawn"},
    {.name = "reserved",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct cost_bucket_vars, reserved),
     .unit = "tokens",
     .help = "set aside for calls that have not ended"},
    {.name = "spent",
     .type = POLICY_GAUGE_DOUBLE,
     .in_stats = true,
     .offset = offsetof(struct cost_bucket_stats, spent),
     .unit = "tokens",
     .help = "paid by calls that have ended"},
    {.name = "overrun",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct cost_bucket_stats, overrun),
     .unit = "calls",
     .help = "calls that took more than was set aside for them"},
    {.name = "held",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct cost_bucket_stats, held),
     .unit = "answers",
     .help = "how often a call was told to wait"},
    {.name = "deferred",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct cost_bucket_stats, deferred),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "cost_bucket",
    .summary = "sets a call's expected cost aside from a refilled budget, and settles what it took",
    .params = cost_bucket_options,
    .presets = cost_bucket_presets,
    .gauges = cost_bucket_gauges,
    .params_size = sizeof(struct cost_bucket_params),
    .vars_size = sizeof(struct cost_bucket_vars),
    .stats_size = sizeof(struct cost_bucket_stats),
    .call_size = sizeof(struct cost_bucket_call),
    .check = cost_bucket_check,
    .init = cost_bucket_init,
    .changed = cost_bucket_changed,
    .admit = cost_bucket_admit,
    .admitted = cost_bucket_admitted,
    .finish = cost_bucket_finish,
};
