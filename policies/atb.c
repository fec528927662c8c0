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
#include "policies/adaptive_bucket.h"

struct atb_vars {
    struct adaptive_bucket bucket;
    uint64_t held_by;
};

struct atb_stats {
    uint64_t holds, refusals;
};

enum { HELD_BY_NOTHING, HELD_BY_TOKENS };

static struct policy_answer atb_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct atb_vars *vars = self->vars;
    struct atb_stats *stats = self->stats;
    policy_time wait;
    (void)call;
    adaptive_fill(&vars->bucket, self->params, view->now);
    vars->held_by = HELD_BY_NOTHING;
    if (vars->bucket.level >= TOKEN)
        return policy_admit();
    vars->held_by = HELD_BY_TOKENS;
    stats->holds++;
    wait = adaptive_wait(&vars->bucket);
    return policy_hold(wait > POLICY_LEAST ? wait : POLICY_LEAST, "tokens");
}

static policy_time atb_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct atb_vars *vars = self->vars;
    (void)call;
    adaptive_fill(&vars->bucket, self->params, view->now);
    adaptive_take(&vars->bucket);
    return 0;
}

static policy_time atb_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                              const struct policy_outcome *outcome)
{
    const struct adaptive_params *params = self->params;
    struct atb_vars *vars = self->vars;
    struct atb_stats *stats = self->stats;
    struct adaptive_bucket *bucket = &vars->bucket;
    policy_time again = POLICY_NONE;

    (void)call;
    adaptive_fill(bucket, params, view->now);
    switch (outcome->end) {
    case POLICY_DONE:
        adaptive_raise(bucket, 12);
        break;
    case POLICY_OVERLOAD:
    case POLICY_SHED:
    case POLICY_DISPLACED:
        adaptive_set_rate(bucket, (bucket->hundredths + 1) / 2);
        bucket->level = 0;
        stats->refusals++;
        again = params->retries == RETRIES_OWN ? POLICY_LEAST : POLICY_NONE; /* then it is held for a token */
        break;
    default:
        break;
    }
    adaptive_show(bucket);
    return again;
}

static const struct option atb_options[] = {
    {ADAPTIVE_RETRIES},
    {ADAPTIVE_BUCKET},
    {ADAPTIVE_INITIAL_RATE},
    {.key = NULL},
};

static const char *const atb_published[] = {"bucket", "40", "initial_rate", "0.67/s", "scope", "agent", NULL};
static const struct policy_preset atb_presets[] = {
    {.name = "published", .settings = atb_published, .help = "ATB of arXiv:2510.04516, a bucket an agent"},
    {.name = NULL},
};

static const struct policy_gauge atb_gauges[] = {
    {ADAPTIVE_RATE(struct atb_vars)},
    {ADAPTIVE_TOKENS(struct atb_vars)},
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
    .params_size = sizeof(struct adaptive_params),
    .vars_size = sizeof(struct atb_vars),
    .stats_size = sizeof(struct atb_stats),
    .admit = atb_admit,
    .admitted = atb_admitted,
    .finish = atb_finish,
};
