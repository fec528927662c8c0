/* least_attained_service - who has been served least, of late, goes first; admits everything.
 *
 * Idea: nobody knows how much a program will ask for, but what it has had is known, and one that has had little is
 * probably short. So each flow has a score, the tokens of its calls that were served, input + 2 output, that halves
 * every `half_life`; the least score is served first, and who was never served before all.
 *
 * Formula: all scores halve alike, so log2(score) + time / half-life of a flow changes only when a call of its ends.
 * That number, in whole millionths, is its calls' rank, and comparing ranks is comparing scores at any moment.
 *
 * Source: least attained service, Kleinrock 1976 (foreground-background). Over whole programs, counting calls that have
 * ended: Autellix, Luo et al. 2025. The weights 1 and 2: VTC, Sheng et al. 2024. A decayed use with a half-life: the
 * fair-share schedulers of Unix; 60 s are ours, some calls of an agent.
 *
 * Parameters: by, half_life (inf: nothing is forgotten), input_weight, output_weight. What a server works on for nobody
 * counts as expected. A call's rank is fixed when it joins: exact where a flow has one call at a time, as an agent has;
 * of a tenant or class those in line keep the rank of before. At a metered pool nobody waits: it does nothing.
 *
 * Known to fail: a heavy flow starves while there are enough light ones; agents that restart under a new name are new
 * each time; a flow served after a long wait goes to the end however long it has waited. Where calls have no tokens
 * nobody is ever charged, and it is first come, first served. */
#include <math.h>

#include "policies/policy.h"

#define MILLION INT64_C(1000000)
#define LN2 0.693147180559945309
#define CALL_MOST 1e15 /* what one call counts at most */

enum { BY_AGENT, BY_TENANT, BY_CLASS };

struct las_params {
    int by;
    policy_time half_life;
    double input_weight, output_weight;
};

struct las_vars {
    double score; /* of the flow charged last */
};

struct las_flow {
    double score; /* at `at` */
    policy_time at;
    int64_t rank;
    bool served;
};

static struct las_flow *flow_of(const struct las_params *params, const struct policy_call *call)
{
    if (params->by == BY_CLASS)
        return call->class_state;
    return params->by == BY_TENANT ? call->tenant_state : call->agent_state;
}

/* Whole half-lives exactly, so that late in a long run no digit is lost. */
static int64_t half_lives(policy_time now, policy_time half_life)
{
    if (half_life == INT64_MAX)
        return 0;
    return now / half_life * MILLION + (int64_t)((double)(now % half_life) / (double)half_life * 1e6);
}

static void charge(struct policy *self, struct las_flow *flow, policy_time now, double tokens)
{
    const struct las_params *params = self->params;
    struct las_vars *vars = self->vars;
    int64_t rank;
    if (params->half_life != INT64_MAX)
        flow->score *= self->host->exp(-LN2 * (double)(now - flow->at) / (double)params->half_life);
    flow->score += tokens;
    flow->at = now;
    rank = (int64_t)(self->host->ln(flow->score) / LN2 * 1e6) + half_lives(now, params->half_life);
    /* More service never makes a rank smaller, be it by rounding: calls of one flow stay in order. */
    if (!flow->served || rank > flow->rank)
        flow->rank = rank;
    flow->served = true;
    vars->score = flow->score;
}

static int64_t las_rank(struct policy *self, const struct policy_view *view, struct policy_call *call, bool held)
{
    const struct las_flow *flow = flow_of(self->params, call);
    (void)view;
    if (held)
        return 0;
    return flow->served ? flow->rank : INT64_MIN;
}

static policy_time las_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                              const struct policy_outcome *outcome)
{
    const struct las_params *params = self->params;
    double input = isnan(outcome->input_tokens) ? call->input_tokens : outcome->input_tokens;
    double output = isnan(outcome->output_tokens) ? call->output_tokens : outcome->output_tokens;
    double tokens = params->input_weight * input + params->output_weight * output;
    if (call->started != POLICY_NONE && tokens > 0)
        charge(self, flow_of(params, call), view->now, tokens < CALL_MOST ? tokens : CALL_MOST);
    return POLICY_NONE;
}

static const char *const las_owners[] = {[BY_AGENT] = "agent", [BY_TENANT] = "tenant", [BY_CLASS] = "class", NULL};

static const struct option las_options[] = {
    {.key = "by",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct las_params, by),
     .initial = "agent",
     .choices = las_owners,
     .help = "who is a flow: each agent, tenant or class"},
    {.key = "half_life",
     .type = OPTION_TIME,
     .offset = offsetof(struct las_params, half_life),
     .initial = "60 s",
     .least = "1 s",
     .most = "inf",
     .help = "how long until service counts half"},
    {.key = "input_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct las_params, input_weight),
     .initial = "1",
     .least = "0",
     .most = "1000000",
     .live = true,
     .help = "what a token counts that was sent"},
    {.key = "output_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct las_params, output_weight),
     .initial = "2",
     .least = "0",
     .most = "1000000",
     .live = true,
     .help = "what a token counts that was answered"},
    {.key = NULL},
};

static const struct policy_gauge las_gauges[] = {
    {.name = "score",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct las_vars, score),
     .unit = "tokens",
     .help = "of the flow whose call ended last"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "least_attained_service",
    .summary = "admits every call and serves first whose calls were served least of late",
    .params = las_options,
    .gauges = las_gauges,
    .params_size = sizeof(struct las_params),
    .vars_size = sizeof(struct las_vars),
    .agent_size = sizeof(struct las_flow),
    .class_size = sizeof(struct las_flow),
    .tenant_size = sizeof(struct las_flow),
    .rank = las_rank,
    .finish = las_finish,
};
