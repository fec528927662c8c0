/* atb - adaptive token bucket: a client that learns its rate from its own answers and refusals.
 *
 * Idea: a call takes a token and is held until there is one, unseen by the agent. The bucket fills at a rate r; every
 * answer raises it, every refusal of the backend (429, shed, displaced) halves it and empties the bucket:
 *   answer    r := max(r + 0.01/s, 1.2 r)
 *   refusal   r := max(0.01/s, r / 2), tokens := 0
 * Rates are whole hundredths of a call a second, rounded half up; tokens are whole too, in units of 10^-11, so nothing
 * drifts. Errors, timeouts and other members' refusals change nothing. Begins with one token.
 *
 * Source: ATB of arXiv:2510.04516, whose clients send one call at a time and again as soon as there is a token: so a
 * refused call is taken back, and its client never hears of it.
 *
 * Parameters: bucket, initial_rate. Preset `published`: 40 tokens and 0.67/s (40 a minute), a copy an agent.
 *
 * Known to fail: r is not bounded above. While nobody refuses it grows by a fifth a call, far past what is sent, and
 * then takes as many refusals to come back as halvings (after 100 answers 26, to be below 1/s). At 0.01/s the next try
 * is 100 s away. One copy for several agents: a held call comes back when it was told, though r may have grown since.
 */
#include "policies/policy.h"

/* A bucket filled at 0.01/s gets one unit a nanosecond. */
#define TOKEN (100 * POLICY_SECOND)
/* Hundredths a second. Only so that products fit; a bucket is filled at once long before. */
#define RATE_MOST (INT64_C(1) << 50)

enum { RETRIES_OWN, RETRIES_CLIENT };
static const char *const retries_choices[] = {"own", "client", NULL};

struct atb_params {
    int64_t bucket;
    double initial_rate;
    int retries;
};

struct atb_vars {
    bool begun;
    policy_time filled;
    int64_t level;      /* in units of TOKEN */
    int64_t hundredths; /* of a call a second */
    double rate, tokens;
    uint64_t held_by;
};

struct atb_stats {
    uint64_t holds, refusals;
};

enum { HELD_BY_NOTHING, HELD_BY_TOKENS };

static void show(struct atb_vars *vars)
{
    vars->rate = (double)vars->hundredths / 100;
    vars->tokens = (double)vars->level / (double)TOKEN;
}

/* Brings the bucket up to now; the first time it begins. */
static void fill(struct atb_vars *vars, const struct atb_params *params, policy_time now)
{
    int64_t full = params->bucket * TOKEN, room = full - vars->level;
    if (!vars->begun) {
        vars->begun = true;
        vars->level = TOKEN;
        vars->hundredths = (int64_t)(params->initial_rate * 100 + 0.5);
    } else {
        policy_time passed = now - vars->filled;
        vars->level = passed > room / vars->hundredths ? full : vars->level + passed * vars->hundredths;
    }
    vars->filled = now;
    show(vars);
}

static int64_t raised(int64_t hundredths)
{
    int64_t fifth_more = (hundredths * 12 + 5) / 10;
    int64_t rate = fifth_more > hundredths ? fifth_more : hundredths + 1;
    return rate < RATE_MOST ? rate : RATE_MOST;
}

static struct policy_answer atb_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct atb_vars *vars = self->vars;
    struct atb_stats *stats = self->stats;
    policy_time wait;
    (void)call;
    fill(vars, self->params, view->now);
    vars->held_by = HELD_BY_NOTHING;
    if (vars->level >= TOKEN)
        return policy_admit();
    vars->held_by = HELD_BY_TOKENS;
    stats->holds++;
    wait = (TOKEN - vars->level + vars->hundredths - 1) / vars->hundredths;
    return policy_hold(wait > POLICY_LEAST ? wait : POLICY_LEAST, "tokens");
}

static policy_time atb_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct atb_vars *vars = self->vars;
    (void)call;
    fill(vars, self->params, view->now);
    vars->level = vars->level > TOKEN ? vars->level - TOKEN : 0;
    show(vars);
    return 0;
}

static policy_time atb_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                              const struct policy_outcome *outcome)
{
    const struct atb_params *params = self->params;
    struct atb_vars *vars = self->vars;
    struct atb_stats *stats = self->stats;
    policy_time again = POLICY_NONE;

    (void)call;
    fill(vars, params, view->now);
    switch (outcome->end) {
    case POLICY_DONE:
        vars->hundredths = raised(vars->hundredths);
        break;
    case POLICY_OVERLOAD:
    case POLICY_SHED:
    case POLICY_DISPLACED:
        vars->hundredths = (vars->hundredths + 1) / 2; /* half up, so never below a hundredth */
        vars->level = 0;
        stats->refusals++;
        again = params->retries == RETRIES_OWN ? POLICY_LEAST : POLICY_NONE; /* then it is held for a token */
        break;
    default:
        break;
    }
    show(vars);
    return again;
}

static const struct option atb_options[] = {
    {.key = "retries",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct atb_params, retries),
     .initial = "own",
     .choices = retries_choices,
     .help = "a call that was refused: own, taken back and sent again with the next token, unseen by its client; "
             "client, as the client decides"},
    {.key = "bucket",
     .type = OPTION_COUNT,
     .offset = offsetof(struct atb_params, bucket),
     .initial = "40",
     .least = "1",
     .most = "1M",
     .measures = "calls",
     .help = "most tokens, a call each"},
    {.key = "initial_rate",
     .type = OPTION_RATE,
     .offset = offsetof(struct atb_params, initial_rate),
     .initial = "0.67/s",
     .least = "0.01/s",
     .most = "1M/s",
     .measures = "calls",
     .help = "tokens a second at the start, rounded to hundredths"},
    {.key = NULL},
};

static const char *const atb_published[] = {"bucket", "40", "initial_rate", "0.67/s", "scope", "agent", NULL};
static const struct policy_preset atb_presets[] = {
    {.name = "published", .settings = atb_published, .help = "ATB of arXiv:2510.04516, a bucket an agent"},
    {.name = NULL},
};

static const struct policy_gauge atb_gauges[] = {
    {.name = "rate",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct atb_vars, rate),
     .unit = "calls/s",
     .help = "the rate at which tokens come"},
    {.name = "tokens",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct atb_vars, tokens),
     .unit = "calls",
     .help = "tokens in the bucket, at the last event"},
    {.name = "held_by",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct atb_vars, held_by),
     .unit = "",
     .help = "why the call that asked last was held: 0 it was not, 1 no token"},
    {.name = "holds",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct atb_stats, holds),
     .unit = "",
     .help = "answers of hold so far"},
    {.name = "refusals",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct atb_stats, refusals),
     .unit = "calls",
     .help = "refusals by the backend so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "atb",
    .summary = "holds calls by a token bucket whose rate rises with every answer and halves with every refusal",
    .params = atb_options,
    .presets = atb_presets,
    .gauges = atb_gauges,
    .params_size = sizeof(struct atb_params),
    .vars_size = sizeof(struct atb_vars),
    .stats_size = sizeof(struct atb_stats),
    .admit = atb_admit,
    .admitted = atb_admitted,
    .finish = atb_finish,
};
