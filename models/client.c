/* Which layer of a client tries again after a failure, and how long it sleeps before (design notes: clients are apart
 * from policies). */
#include "models/client.h"

#include <math.h>

#include "models/agent.h"

/* --- quotas ------------------------------------------------------------------------------------------------------ */

/* An agent keeps what it has spent, so 0 is a full bucket. gRPC's tokens are counted in tenths (gRFC A6: a failure
 * takes 1 of 10, an answer gives 0.1, a retry needs more than 5); AWS's are those of botocore's standard mode. */
struct quota_rule {
    uint16_t room;            /* more is never spent */
    uint16_t failure, retry;  /* what each takes */
    uint16_t answer, retried; /* what an answer gives: to a call of one try, of several */
    uint16_t most;            /* a retry may bring what is spent up to here */
};

static const struct quota_rule quota_rules[] = {
    [QUOTA_NONE] = {.room = UINT16_MAX, .most = UINT16_MAX},
    [QUOTA_GRPC] = {.room = 100, .failure = 10, .retry = 0, .answer = 1, .retried = 1, .most = 49},
    [QUOTA_AWS] = {.room = 500, .failure = 0, .retry = 5, .answer = 1, .retried = 5, .most = 500},
};

static uint16_t quota_after(const struct quota_rule *rule, uint16_t spent, uint16_t taken)
{
    return (uint16_t)(spent + taken < rule->room ? spent + taken : rule->room);
}

/* Whether a layer may try again after one more failure. */
static bool layer_retries(const struct client_layer *layer, uint32_t failures, const struct quota_rule *rule,
                          uint16_t spent)
{
    return failures + INT64_C(1) < layer->attempts &&
           quota_after(rule, spent, rule->failure) + rule->retry <= rule->most;
}

/* --- pauses ------------------------------------------------------------------------------------------------------ */

/* m of the k-th refusal: base, base k or base 2^(k-1), at most the cap. In double: base and cap are below 2^62 ns. */
static double client_step(const struct client_layer *layer, uint32_t refusals)
{
    double step = (double)layer->base, cap = (double)layer->cap;

    switch (layer->backoff) {
    case BACKOFF_CONSTANT:
    case BACKOFF_UB:
        break;
    case BACKOFF_LINEAR:
        step *= refusals;
        break;
    case BACKOFF_EXPONENTIAL:
        for (uint32_t i = 1; i < refusals && step > 0 && step < cap; i++)
            step *= 2;
        break;
    }
    return step < cap ? step : cap;
}

enum { PATIENCE_LEAST = 30, PATIENCE_SPREAD = 4 }; /* of M, seconds */

/* arXiv:2510.04516, UB: U(0.1, min(2^n - 1, M)) s, M drawn once a client from U(30, 34) s. */
static double client_ub(struct world *world, struct agent *agent, uint32_t refusals, struct stream *stream)
{
    double most = 1;

    if (agent->patience == 0) {
        struct stream own = agent_stream(world, agent, PURPOSE_PATIENCE, 0, 0);

        agent->patience = PATIENCE_LEAST + PATIENCE_SPREAD * stream_uniform(&own);
    }
    for (uint32_t i = 0; i < refusals && most < 64; i++)
        most *= 2;
    most = most - 1 < agent->patience ? most - 1 : agent->patience;
    return (0.1 + (most - 0.1) * stream_uniform(stream)) * (double)SIM_SECOND;
}

static double client_jitter(const struct client_layer *layer, double step, struct stream *stream)
{
    double p = layer->jitter_share, u;

    if (layer->jitter == JITTER_NONE)
        return step;
    u = stream_uniform(stream);
    switch (layer->jitter) {
    case JITTER_EQUAL:
        return step * (0.5 + 0.5 * u);
    case JITTER_SHARE:
        return step * (1 - p + 2 * p * u);
    case JITTER_LESS:
        return step * (1 - p + p * u);
    default:
        return step * u;
    }
}

double client_pause_mean(const struct client_layer *layer, uint32_t k)
{
    double step = client_step(layer, k) / 1e9, most = 1;

    if (layer->backoff == BACKOFF_UB) {
        for (uint32_t i = 0; i < k && most < 64; i++)
            most *= 2;
        most = fmin(most - 1, PATIENCE_LEAST + PATIENCE_SPREAD / 2.0);
        return (0.1 + fmax(0.1, most)) / 2;
    }
    switch (layer->jitter) {
    case JITTER_NONE:
    case JITTER_SHARE:
        return step;
    case JITTER_EQUAL:
        return 0.75 * step;
    case JITTER_LESS:
        return step * (1 - layer->jitter_share / 2);
    default:
        return step / 2;
    }
}

/* How long the layer sleeps after its k-th failure; the failures of the whole client address the random number. */
static sim_time client_sleep(struct world *world, struct agent *agent, const struct client_layer *layer,
                             const struct client_try *try, uint32_t k, policy_time retry_after)
{
    struct stream stream;
    double sleep;

    if (retry_after != POLICY_NONE && retry_after > layer->retry_after_most)
        retry_after = layer->retry_after_beyond == BEYOND_IGNORE ? POLICY_NONE : layer->retry_after_most;
    if (retry_after > SIM_LONGEST)
        retry_after = SIM_LONGEST;
    if (retry_after != POLICY_NONE && layer->retry_after == RETRY_AFTER_HONOUR)
        return retry_after;
    stream = agent_stream(world, agent, try->purpose, try->turn, try->failures);
    if (layer->backoff == BACKOFF_UB)
        sleep = client_ub(world, agent, k, &stream);
    else
        sleep = client_jitter(layer, client_step(layer, k), &stream);
    if (retry_after != POLICY_NONE && layer->retry_after == RETRY_AFTER_AT_LEAST && sleep < (double)retry_after)
        return retry_after;
    return sleep < (double)SIM_LONGEST ? (sim_time)(sleep + 0.5) : SIM_LONGEST;
}

/* A retry-after that the layer hears and will not wait for. */
static bool too_long(const struct client_layer *layer, policy_time retry_after)
{
    return layer->retry_after != RETRY_AFTER_IGNORE && layer->retry_after_beyond == BEYOND_GIVE_UP &&
           retry_after != POLICY_NONE && retry_after > layer->retry_after_most;
}

/* --- layers ------------------------------------------------------------------------------------------------------ */

/* The first layer past those that may try again what this layer tries. */
static uint32_t layers_end(const struct client *client, uint32_t layer)
{
    uint32_t calls = client_call_layers(client);

    return layer < calls ? calls : client->layer_count;
}

/* At the door nothing draws on a quota, as nothing is given back there. */
static const struct quota_rule *rule_of(const struct client_layer *layer, const struct client_try *try)
{
    return &quota_rules[try->purpose == PURPOSE_DOOR ? QUOTA_NONE : layer->quota];
}

uint32_t client_call_layers(const struct client *client)
{
    return client->layer_count - client->layers[client->layer_count - 1].restarts_run;
}

bool client_gives_up(const struct world *world, const struct agent *agent, const struct client_try *try, uint32_t layer)
{
    const struct client *client = &agent_spec(world, agent)->client;

    for (uint32_t end = layers_end(client, layer); layer < end; layer++)
        if (layer_retries(&client->layers[layer], try->of_layer[layer], rule_of(&client->layers[layer], try),
                          agent->quota_spent[layer]))
            return false;
    return true;
}

struct client_verdict client_fails(struct world *world, struct agent *agent, struct client_try *try, uint32_t layer,
                                   policy_time retry_after)
{
    const struct client *client = &agent_spec(world, agent)->client;

    try->failures++;
    for (uint32_t below = 0; below < layer; below++)
        try->of_layer[below] = 0;
    for (uint32_t end = layers_end(client, layer); layer < end; layer++) {
        const struct client_layer *own = &client->layers[layer];
        const struct quota_rule *rule = rule_of(own, try);
        uint16_t *spent = &agent->quota_spent[layer];
        bool retries = layer_retries(own, try->of_layer[layer], rule, *spent) && !too_long(own, retry_after);

        *spent = quota_after(rule, *spent, rule->failure);
        if (retries) {
            *spent = quota_after(rule, *spent, rule->retry);
            try->of_layer[layer]++;
            return (struct client_verdict){
                .layer = layer, .sleep = client_sleep(world, agent, own, try, try->of_layer[layer], retry_after)};
        }
        try->of_layer[layer] = 0;
    }
    return (struct client_verdict){.gives_up = true};
}

void client_succeeds(struct world *world, struct agent *agent, const struct client_try *try)
{
    const struct client *client = &agent_spec(world, agent)->client;
    uint32_t layer = try->purpose == PURPOSE_RESTART ? client_call_layers(client) : 0;

    for (uint32_t end = layers_end(client, layer); layer < end; layer++) {
        const struct quota_rule *rule = rule_of(&client->layers[layer], try);
        uint16_t gift = try->of_layer[layer] > 0 ? rule->retried : rule->answer;
        uint16_t *spent = &agent->quota_spent[layer];

        *spent = (uint16_t)(*spent > gift ? *spent - gift : 0);
    }
}

/* --- bounds ------------------------------------------------------------------------------------------------------ */

/* From a full bucket, as no answer comes within a turn. */
static double tries_most(const struct client_layer *layer)
{
    const struct quota_rule *rule = &quota_rules[layer->quota];
    int taken = rule->failure + rule->retry;
    double tries = layer->attempts == INT64_MAX ? INFINITY : (double)layer->attempts;

    return taken > 0 && tries > rule->most / taken + 1 ? rule->most / taken + 1 : tries;
}

/* The longest pause after the k-th failure, in seconds. */
static double pause_most(const struct client_layer *layer, uint32_t k)
{
    double heard = layer->retry_after == RETRY_AFTER_IGNORE ? 0
                   : layer->retry_after_most >= SIM_LONGEST ? INFINITY
                                                            : sim_seconds(layer->retry_after_most);
    double pause = client_step(layer, k) / (double)SIM_SECOND;

    if (layer->backoff == BACKOFF_UB)
        pause = k < 6 ? (double)((1u << k) - 1) : PATIENCE_LEAST + PATIENCE_SPREAD;
    else if (layer->jitter == JITTER_SHARE)
        pause *= 1 + layer->jitter_share;
    return pause > heard ? pause : heard;
}

/* The longest pauses between so many tries. They never get shorter, so past the last that differs all are as long. */
static double pauses_most(const struct client_layer *layer, double tries)
{
    enum { DIFFERING = 100000 };
    double sum = 0, last = pause_most(layer, DIFFERING);
    uint32_t k = 1;

    if (isinf(tries))
        return INFINITY;
    for (; k < tries && k < DIFFERING; k++) {
        double pause = pause_most(layer, k);

        if (pause >= last)
            break;
        sum += pause;
    }
    return k < tries ? sum + (tries - k) * last : sum;
}

struct client_bounds client_bounds(const struct client *client)
{
    struct client_bounds bounds = {.attempts = 1, .seconds = INFINITY};

    for (uint32_t i = 0; i < client->layer_count; i++)
        bounds.tries[i] = tries_most(&client->layers[i]);
    for (uint32_t i = 0; i < client_call_layers(client); i++) {
        const struct client_layer *layer = &client->layers[i];
        double within = layer->timeout >= SIM_LONGEST ? INFINITY : sim_seconds(layer->timeout);
        double one = bounds.seconds < within ? bounds.seconds : within;

        bounds.attempts *= bounds.tries[i];
        bounds.seconds = bounds.tries[i] * one + pauses_most(layer, bounds.tries[i]);
    }
    return bounds;
}
