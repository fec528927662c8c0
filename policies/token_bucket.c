/* token_bucket - lets a call in when a bucket holds what it needs, and refills the bucket at a steady rate.
 *
 * Idea: at most `burst` units (requests, tokens) at once and `rate` a second for good. A call takes what it is expected
 * to need and is corrected by its answer (`settle`), or takes with the answer what it took (`counts: after`, as
 * gateways do: let in while anything is left). A meter of what is in flight has no rate: each end gives back what its
 * call took. One that needs more than `burst` goes when the bucket is full, and leaves it below zero.
 *
 * Source: Turner 1986; meters, settling and defaults as in a published pacer for pools of coding agents. `slots` is a
 * card's capacity, 8 slots of 39 tokens/s, with the twelve calls of its knee at once.
 *
 * Formula: the level is a time, that of its refill, and exact: amounts are whole millionths and the rate m whole
 * millionths a minute, so a unit is 6e16 / m ns, and the level counts m-th parts of a nanosecond in whole numbers. No
 * question changes it, no sum drifts: `burst` calls of 1 fit at once at every rate, and 1 ns early is too early.
 *
 * Where nobody says what was taken the estimate stands: 429s, and what a server works on for nobody. What no server
 * took (shed, displaced, given up in line) is given back whole. Known to fail: it has no line, so small calls pass a
 * large one that is held, until its hold cap comes; `after` is overshot by all in flight; what it saves in line returns
 * as hold. */
#include <math.h>

#include "policies/policy.h"

__extension__ typedef __int128 parts;

#define MILLION INT64_C(1000000)
#define MINUTE (60 * POLICY_SECOND)
#define UNIT ((parts)MILLION * MINUTE)
#define AT_ONCE INT64_MAX /* a rate without end */

enum { REQUESTS, INPUT, OUTPUT, TOTAL, IN_FLIGHT, TOKENS_IN_FLIGHT };
enum { COUNTS_ESTIMATE, COUNTS_AFTER };
enum { ANSWER_HOLD, ANSWER_DEFER };

struct token_bucket_params {
    int meter;
    double rate;
    int64_t burst;
    double cached_weight;
    int counts;
    bool settle;
    int answer;
    policy_time poll;
};

struct token_bucket_vars {
    parts level;
    policy_time at;     /* of the level */
    int64_t per_minute; /* millionths since then, of `rate`; 0: the meter has none */
    int64_t burst;      /* since then */
    double shown;       /* the level in units */
};

struct token_bucket_stats {
    uint64_t held, deferred;
};

struct token_bucket_call {
    int64_t taken; /* millionths */
    bool inside;
};

static const char *const token_bucket_meters[] = {[REQUESTS] = "requests",
                                                  [INPUT] = "input",
                                                  [OUTPUT] = "output",
                                                  [TOTAL] = "total",
                                                  [IN_FLIGHT] = "in_flight",
                                                  [TOKENS_IN_FLIGHT] = "tokens_in_flight",
                                                  NULL};

static bool in_flight(const struct token_bucket_params *params)
{
    return params->meter == IN_FLIGHT || params->meter == TOKENS_IN_FLIGHT;
}

/* Millionths that the meter counts, or -1 where a count is missing. */
static int64_t metered(const struct token_bucket_params *params, double input, double cached, double output)
{
    double weighted = input - cached + cached * params->cached_weight, amount = weighted + output;
    if (params->meter == REQUESTS || params->meter == IN_FLIGHT)
        amount = 1;
    else if (params->meter == INPUT)
        amount = weighted;
    else if (params->meter == OUTPUT)
        amount = output;
    if (isnan(amount))
        return -1;
    return amount < 9e12 ? (int64_t)(amount * 1e6 + 0.5) : INT64_C(9000000000000000000);
}

static int64_t expected(const struct token_bucket_params *params, const struct policy_call *call)
{
    return metered(params, call->input_tokens, call->cached_tokens, call->output_tokens);
}

static parts full(const struct token_bucket_vars *vars)
{
    return (parts)vars->burst * UNIT;
}

/* Never above full. */
static void give(struct token_bucket_vars *vars, parts amount)
{
    vars->level += amount;
    if (vars->level > full(vars))
        vars->level = full(vars);
    vars->shown = vars->burst == INT64_MAX ? (double)INFINITY : (double)(vars->level / MINUTE) / 1e6;
}

static void refill(struct token_bucket_vars *vars, policy_time now)
{
    if (vars->per_minute == AT_ONCE)
        vars->level = full(vars);
    give(vars, (parts)vars->per_minute * (now - vars->at));
    vars->at = now;
}

/* The values in force from now on. */
static void renew(struct token_bucket_vars *vars, const struct token_bucket_params *params)
{
    double millionths = params->rate * 6e7;
    vars->burst = params->burst;
    if (in_flight(params))
        vars->per_minute = 0;
    else if (isinf(params->rate))
        vars->per_minute = AT_ONCE;
    else /* from 10^11 a second on all are the same */
        vars->per_minute = millionths < 6e18 ? (int64_t)(millionths + 0.5) : INT64_C(6000000000000000000);
}

/* What the level has to be. One part is the least that is more than nothing. */
static parts needed(const struct token_bucket_vars *vars, const struct token_bucket_params *params,
                    const struct policy_call *call)
{
    parts amount = (parts)expected(params, call) * MINUTE;
    if (params->counts == COUNTS_AFTER)
        return 1;
    return amount < full(vars) ? amount : full(vars);
}

/* Until the level has grown by so much, were nobody else to come. */
static policy_time until(const struct token_bucket_vars *vars, parts lack)
{
    parts wait;
    if (vars->per_minute == 0)
        return POLICY_NONE;
    wait = (lack + vars->per_minute - 1) / vars->per_minute;
    if (wait < POLICY_LEAST)
        return POLICY_LEAST;
    return wait < INT64_MAX ? (policy_time)wait : INT64_MAX;
}

static const char *token_bucket_check(const void *given)
{
    const struct token_bucket_params *params = given;
    bool tokens_sent = params->meter == INPUT || params->meter == TOTAL || params->meter == TOKENS_IN_FLIGHT;
    if (in_flight(params) && params->counts == COUNTS_AFTER)
        return "a meter of what is in flight counts from admission to the end: expected counts: estimate";
    if (!tokens_sent && params->cached_weight != 1)
        return "cached_weight is about tokens that are sent: expected meter: input, total or tokens_in_flight";
    return NULL;
}

static void token_bucket_init(struct policy *self)
{
    struct token_bucket_vars *vars = self->vars;
    renew(vars, self->params);
    give(vars, full(vars));
}

/* The level stays as it is; of a meter in flight, what is in flight stays. */
static void token_bucket_changed(struct policy *self, policy_time now, const char *key, enum policy_setter by)
{
    const struct token_bucket_params *params = self->params;
    struct token_bucket_vars *vars = self->vars;
    parts before = full(vars);
    (void)key;
    (void)by;
    refill(vars, now);
    renew(vars, params);
    give(vars, in_flight(params) ? full(vars) - before : 0);
}

static struct policy_answer token_bucket_admit(struct policy *self, const struct policy_view *view,
                                               struct policy_call *call)
{
    const struct token_bucket_params *params = self->params;
    struct token_bucket_vars *vars = self->vars;
    struct token_bucket_stats *stats = self->stats;
    parts need = needed(vars, params, call);
    policy_time after;
    refill(vars, view->now);
    if (vars->level >= need)
        return policy_admit();
    after = until(vars, need - vars->level);
    if (params->answer == ANSWER_HOLD && !call->last) {
        stats->held++;
        return policy_hold(after == POLICY_NONE ? params->poll : after, token_bucket_meters[params->meter]);
    }
    stats->deferred++;
    return policy_defer(after, token_bucket_meters[params->meter]);
}

static policy_time token_bucket_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct token_bucket_params *params = self->params;
    struct token_bucket_vars *vars = self->vars;
    struct token_bucket_call *memory = call->state;
    refill(vars, view->now);
    memory->inside = true;
    memory->taken = params->counts == COUNTS_AFTER ? 0 : expected(params, call);
    give(vars, -(parts)memory->taken * MINUTE);
    return 0;
}

static bool never_served(const struct policy_call *call, enum policy_end end)
{
    return call->started == POLICY_NONE &&
           (end == POLICY_SHED || end == POLICY_DISPLACED || end == POLICY_TIMEOUT || end == POLICY_ABANDONED);
}

static policy_time token_bucket_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                                       const struct policy_outcome *outcome)
{
    const struct token_bucket_params *params = self->params;
    struct token_bucket_vars *vars = self->vars;
    struct token_bucket_call *memory = call->state;
    int64_t real = memory->taken;
    if (!memory->inside)
        return POLICY_NONE;
    memory->inside = false;
    if (in_flight(params))
        real = 0;
    else if ((outcome->end == POLICY_DONE || outcome->end == POLICY_ERROR) &&
             (params->settle || params->counts == COUNTS_AFTER))
        real = metered(params, outcome->input_tokens, outcome->cached_tokens, outcome->output_tokens);
    else if (params->settle && never_served(call, outcome->end))
        real = 0;
    refill(vars, view->now);
    if (real >= 0)
        give(vars, ((parts)memory->taken - real) * MINUTE);
    return POLICY_NONE;
}

static const char *const token_bucket_counts[] = {[COUNTS_ESTIMATE] = "estimate", [COUNTS_AFTER] = "after", NULL};
static const char *const token_bucket_answers[] = {[ANSWER_HOLD] = "hold", [ANSWER_DEFER] = "defer", NULL};

static const struct option token_bucket_options[] = {
    {.key = "meter",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct token_bucket_params, meter),
     .initial = "total",
     .choices = token_bucket_meters,
     .help = "what is counted: requests, tokens sent, answered or both, or the calls or the tokens that are in flight"},
    {.key = "rate",
     .type = OPTION_RATE,
     .offset = offsetof(struct token_bucket_params, rate),
     .initial = "20k/s",
     .least = "1/h",
     .most = "inf",
     .live = true,
     .help = "units that flow in; a meter of what is in flight has none"},
    {.key = "burst",
     .type = OPTION_COUNT,
     .offset = offsetof(struct token_bucket_params, burst),
     .initial = "500k",
     .least = "1",
     .most = "inf",
     .live = true,
     .help = "units that the bucket holds: the most at once; it is full at first"},
    {.key = "cached_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct token_bucket_params, cached_weight),
     .initial = "1",
     .least = "0",
     .most = "1",
     .live = true,
     .help = "what a cached token of the input counts"},
    {.key = "counts",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct token_bucket_params, counts),
     .initial = "estimate",
     .choices = token_bucket_counts,
     .help = "when a call takes: as it is let in, by what it is expected to need, or after, by what it took"},
    {.key = "settle",
     .type = OPTION_FLAG,
     .offset = offsetof(struct token_bucket_params, settle),
     .initial = "true",
     .help = "whether an estimate is corrected with the answer"},
    {.key = "answer",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct token_bucket_params, answer),
     .initial = "hold",
     .choices = token_bucket_answers,
     .help = "what a call gets that does not fit: held until it would, or refused with that time as its retry-after"},
    {.key = "poll",
     .type = OPTION_TIME,
     .offset = offsetof(struct token_bucket_params, poll),
     .initial = "1 s",
     .least = "1 ms",
     .most = "1 h",
     .live = true,
     .help = "how often a held call asks a meter of what is in flight, where nobody can tell the time"},
    {.key = NULL},
};

static const char *const token_bucket_requests[] = {"meter", "requests", "rate", "1.5/s", "burst", "30", NULL};
static const char *const token_bucket_flight[] = {"meter", "tokens_in_flight", "burst", "1M", NULL};
static const char *const token_bucket_slots[] = {"meter", "output", "rate", "312/s", "burst", "4248", NULL};
static const struct policy_preset token_bucket_presets[] = {
    {.name = "requests", .settings = token_bucket_requests, .help = "the same pacer's bucket of requests"},
    {.name = "flight", .settings = token_bucket_flight, .help = "the same pacer's limit of tokens in flight"},
    {.name = "slots", .settings = token_bucket_slots, .help = "a card of 8 slots at 39 tokens/s, calls of 354 tokens"},
    {.name = NULL},
};

static const struct policy_gauge token_bucket_gauges[] = {
    {.name = "level",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct token_bucket_vars, shown),
     .unit = "units",
     .help = "what the bucket held when a call last asked or ended; below 0: overdrawn"},
    {.name = "held",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct token_bucket_stats, held),
     .unit = "answers",
     .help = "how often a call was told to wait"},
    {.name = "deferred",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct token_bucket_stats, deferred),
     .unit = "attempts",
     .help = "attempts refused so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "token_bucket",
    .summary = "admits while a bucket, refilled at a steady rate, holds what the call needs",
    .params = token_bucket_options,
    .presets = token_bucket_presets,
    .gauges = token_bucket_gauges,
    .params_size = sizeof(struct token_bucket_params),
    .vars_size = sizeof(struct token_bucket_vars),
    .stats_size = sizeof(struct token_bucket_stats),
    .call_size = sizeof(struct token_bucket_call),
    .check = token_bucket_check,
    .init = token_bucket_init,
    .changed = token_bucket_changed,
    .admit = token_bucket_admit,
    .admitted = token_bucket_admitted,
    .finish = token_bucket_finish,
};
